//! Any text as a CM configuration, that of the docsis tool included, and as the tables of a CMTS. What reads is a file whose text reads as the same
//! octets; nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_provisioning::{Tables, text};

fuzz_target!(|text: &str| {
    let _ = Tables::read(text);
    if let Ok(file) = text::read(text) {
        let again = text::read(&text::write(&file)).expect("what was written reads back");
        assert_eq!(again.octets(), file.octets());
    }
});
