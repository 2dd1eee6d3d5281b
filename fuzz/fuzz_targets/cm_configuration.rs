//! Any octets as a CM configuration file. All come back, also through text; a sealed file has right digests; a
//! service that comes of it has a file that stands for the same service; nothing panics.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sojourn_provisioning::{
    Choices, Digest, File, Format, Secret, Style, Tables, check_integrity, diff, examine, expand, from_service, list,
    seal, text,
};

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    Tables::read(include_str!("../../crates/sojourn-provisioning/tests/tables.toml")).expect("valid tables")
});

fuzz_target!(|octets: &[u8]| {
    let secret = Secret::new(b"SOJOURN");
    let format = if octets.len() % 2 == 0 { Format::Docsis31 } else { Format::Docsis40 };
    let mut file = File::read(octets, format);
    assert_eq!(file.octets().expect("what was read fits"), octets);
    let examination = examine(&file, Some(&secret), false);
    assert!(examination.issues.len() <= 501);
    // What writes text takes ten times as long as the rest: one input in sixteen goes through it.
    if octets.len() % 16 == 7 {
        let again = text::read(&text::write(&file)).expect("what was written reads back");
        assert_eq!(again.octets().expect("what was read fits"), octets);
        assert_eq!(diff(&file, &file), []);
        let _ = list(&file);
    }
    let choices = Choices { allow_bad_mic: true, ..Choices::default() };
    let expansion = expand(&file, &TABLES, Some(&secret), choices);
    if let Some(service) = expansion.service {
        let _ = (service.upstream.summary(), service.downstream.summary());
        for style in Style::ALL {
            let Ok(file) = from_service(&service, style) else { continue };
            let again = expand(&file, &TABLES, None, Choices::default()).service.expect("what was written expands");
            assert!(again.simulates_as(&service), "{style}");
        }
    }
    if !file.is_mta() && seal(&mut file, Some(&secret)).is_ok() {
        let integrity = check_integrity(&file, Some(&secret));
        assert_eq!((integrity.cm_mic, integrity.cmts_mic), (Digest::Good, Digest::Good));
    }
});
