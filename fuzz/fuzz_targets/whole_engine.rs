//! A random valid scenario, drawn by the first throws that the input gives, and sixteen runs of some thousand events or a
//! quarter of a second. It reads back from its print; every packet that was sent has arrived, was dropped or is in flight;
//! no time runs backwards; the parts of each delay sum to the whole; one run in sixteen is repeated and must not differ;
//! nothing panics.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sojourn_base::Span;
use sojourn_random_scenarios::{Generator, Trial, examine_trial};

/// chosen: several round trips, and a thousand runs in the time of some hundred.
const MOST: Span = Span::from_ms(250);

/// Runs of each scenario; each has a seed of its own. chosen: they take as long as drawing it.
const RUNS: u64 = 16;

static GENERATOR: LazyLock<Generator> = LazyLock::new(Generator::small);

fuzz_target!(|input: &[u8]| {
    let (number, throws) = input.split_first_chunk().map_or((0, input), |(first, rest)| (u32::from_le_bytes(*first), rest));
    let trial = Trial { number: RUNS * u64::from(number), throws, looks: 0, most: MOST, runs: RUNS };
    if let Err(failure) = examine_trial(&GENERATOR, trial) {
        panic!("{}\n{}", failure.what, failure.text);
    }
});
