//! Any text as a quantity: what reads, prints and reads back as the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_base::{BitRate, Bytes, Limit, Packets, Span};

fuzz_target!(|text: &str| {
    macro_rules! round_trip {
        ($($quantity:ty),*) => {$(
            if let Ok(value) = text.parse::<$quantity>() {
                assert_eq!(value.to_string().parse(), Ok(value));
            }
        )*};
    }
    round_trip!(Span, BitRate, Bytes, Packets, Limit);
});
