//! Any octets as a CM configuration file, and any text. All octets come back, also through text; a sealed file
//! has right digests; nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_provisioning::{Digest, File, Format, Secret, check_integrity, diff, examine, seal, text};

fuzz_target!(|octets: &[u8]| {
    let secret = Secret::new(b"SOJOURN");
    let format = if octets.len() % 2 == 0 { Format::Docsis31 } else { Format::Docsis40 };
    let mut file = File::read(octets, format);
    assert_eq!(file.octets().expect("what was read fits"), octets);
    let examination = examine(&file, Some(&secret), false);
    assert!(examination.issues.len() <= 501);
    let again = text::read(&text::write(&file)).expect("what was written reads back");
    assert_eq!(again.octets().expect("what was read fits"), octets);
    assert_eq!(diff(&file, &file), []);
    if !file.is_mta() && seal(&mut file, Some(&secret)).is_ok() {
        let integrity = check_integrity(&file, Some(&secret));
        assert_eq!((integrity.cm_mic, integrity.cmts_mic), (Digest::Good, Digest::Good));
    }
    if let Ok(text) = core::str::from_utf8(octets) {
        let _ = text::read(text);
    }
});
