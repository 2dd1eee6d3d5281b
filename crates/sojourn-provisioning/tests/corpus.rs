//! The corpus of configuration files, byte for byte: made by the public encoder `docsis`, by us, and damaged.
//!
//! `SOJOURN_WRITE_CORPUS=1` writes the files that stand for our own texts.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_provisioning::{Digest, File, Format, Secret, check_integrity, diff, examine, seal, text};

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

fn secret() -> Secret {
    Secret::new(b"SOJOURN")
}

fn read(octets: &[u8]) -> File {
    File::read(octets, Format::Docsis31)
}

/// The octets that a text stands for, sealed.
fn sealed(path: &Path) -> Vec<u8> {
    let text = fs::read_to_string(path).unwrap();
    let mut file = text::read(&text).unwrap_or_else(|issues| panic!("{}: {issues:?}", path.display()));
    seal(&mut file, Some(&secret())).unwrap();
    file.octets().unwrap()
}

#[test]
fn all_files_come_back_byte_for_byte_and_so_do_they_through_text() {
    let mut count = 0;
    for folder in ["encoder", "own", "damaged"] {
        for path in files(folder, "cm") {
            let octets = fs::read(&path).unwrap();
            let file = read(&octets);
            assert_eq!(file.octets().unwrap(), octets, "{}", path.display());
            let text = text::write(&file);
            let again = text::read(&text).unwrap_or_else(|issues| panic!("{text}\n{issues:?}"));
            assert_eq!(again.octets().unwrap(), octets, "{}\n{text}", path.display());
            count += 1;
        }
    }
    assert!(count >= 30, "{count} files");
}

#[test]
fn we_encode_each_text_as_the_public_encoder_does() {
    let texts = files("encoder", "toml");
    assert!(texts.len() >= 10);
    for path in texts {
        let theirs = fs::read(path.with_extension("cm")).unwrap();
        let ours = sealed(&path);
        assert_eq!(diff(&read(&theirs), &read(&ours)), [], "{}", path.display());
        assert_eq!(ours, theirs, "{}", path.display());
    }
}

#[test]
fn our_own_texts_stand_for_their_files() {
    for path in files("own", "toml") {
        let octets = sealed(&path);
        if std::env::var_os("SOJOURN_WRITE_CORPUS").is_some() {
            fs::write(path.with_extension("cm"), &octets).unwrap();
        }
        assert_eq!(fs::read(path.with_extension("cm")).unwrap(), octets, "{}", path.display());
    }
}

#[test]
fn digests_are_right_and_nothing_is_an_error_in_whole_files() {
    for path in files("encoder", "cm").into_iter().chain(files("own", "cm")) {
        let file = read(&fs::read(&path).unwrap());
        let integrity = check_integrity(&file, Some(&secret()));
        assert_eq!((integrity.cm_mic, integrity.cmts_mic), (Digest::Good, Digest::Good), "{}", path.display());
        // The symbol table of the encoder has no sub-TLV 36 in aggregates, so references go by 1.
        let errors: Vec<_> = examine(&file, Some(&secret()), false)
            .issues
            .into_iter()
            .filter(sojourn_provisioning::Issue::is_error)
            .collect();
        assert_eq!(errors, [], "{}", path.display());
    }
}

#[test]
fn a_damaged_file_has_the_issue_that_it_is_named_after() {
    for path in files("damaged", "cm") {
        let code = path.file_stem().unwrap().to_str().unwrap();
        let examination = examine(&read(&fs::read(&path).unwrap()), Some(&secret()), false);
        let codes: Vec<_> = examination.issues.iter().map(|issue| issue.code).collect();
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
}

#[test]
fn what_fuzzing_found_comes_back_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/cm_configuration");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let octets = fs::read(entry.unwrap().path()).unwrap();
        for format in [Format::Docsis31, Format::Docsis40] {
            let file = File::read(&octets, format);
            assert_eq!(file.octets().unwrap(), octets);
            let again = text::read(&text::write(&file)).unwrap();
            assert_eq!(again.octets().unwrap(), octets);
        }
        count += 1;
    }
    assert!(count >= 100, "{count} files");
}
