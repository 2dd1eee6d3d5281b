//! The sample files of the public encoder `docsis`, where they are at hand: `SOJOURN_DOCSIS_SAMPLES` names their
//! folder. They are not part of this repository.
#![expect(clippy::print_stdout, reason = "the counts are what the test is run for")]

use std::fs;
use std::path::Path;

use sojourn_provisioning::{Digest, File, Format, Secret, check_integrity, text};

#[test]
fn samples_come_back_and_their_digests_are_right() {
    let Ok(folder) = std::env::var("SOJOURN_DOCSIS_SAMPLES") else {
        return;
    };
    let secret = Secret::new(b"DOCSIS\n");
    let (mut files, mut good) = (0, 0);
    for entry in fs::read_dir(Path::new(&folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "cm") {
            continue;
        }
        let octets = fs::read(&path).unwrap();
        let file = File::read(&octets, Format::Docsis31);
        assert_eq!(file.octets().unwrap(), octets, "{}", path.display());
        let text = text::write(&file);
        let again = text::read(&text).unwrap_or_else(|issues| panic!("{}: {issues:?}", path.display()));
        assert_eq!(again.octets().unwrap(), octets, "{}", path.display());
        files += 1;
        let integrity = check_integrity(&file, Some(&secret));
        let is_good = integrity.cm_mic == Digest::Good && integrity.cmts_mic == Digest::Good;
        good += usize::from(is_good);
        if !is_good {
            println!("{}: {integrity:?}", path.display());
        }
    }
    println!("{files} files, both digests right in {good}");
    // One is of a telephone adapter, one has a CMTS MIC over other octets than it says.
    assert!(files > 0 && good + 2 >= files, "{good} of {files}");
}
