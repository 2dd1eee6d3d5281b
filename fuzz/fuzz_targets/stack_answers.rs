//! Any answers of a transport library, through the interface in C and its checks: each call ends, and what passes the checks is no
//! datagram beyond its buffer, no ECN field of more than two bits, no time that is past, no bytes beyond those offered or asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_stack::c::{Library, table};
use sojourn_stack::checked::{Checked, Fault};
use sojourn_stack::{Endpoint, Options, Read, Stack, State, Then};
use std::cell::RefCell;
use std::ffi::CStr;

thread_local! {
    /// Octets from which the library answers; zeros behind them.
    static ANSWERS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The next number: a small one, or one of all 64 bits.
fn number() -> u64 {
    ANSWERS.with_borrow_mut(|octets| match octets.pop() {
        None => 0,
        Some(255) => octets.drain(octets.len().saturating_sub(8)..).fold(0, |all, octet| all << 8 | u64::from(octet)),
        Some(small) => small.into(),
    })
}

struct Hostile;

impl Endpoint for Hostile {
    fn datagram(&mut self, _: u64, _: &[u8], _: u8) {}

    fn transmit(&mut self, _: u64, _: &mut [u8]) -> Option<(usize, u8)> {
        let bytes = number() as usize;
        (bytes > 0).then(|| (bytes, number() as u8))
    }

    fn timeout(&mut self) -> Option<u64> {
        Some(number()).filter(|at| *at > 0)
    }

    fn write(&mut self, _: u64, _: u32, _: &[u8], _: bool) -> usize {
        number() as usize
    }

    fn read(&mut self, _: u64, _: u32, _: &mut [u8]) -> Read {
        let then = [Then::More, Then::NextStream, Then::Closed][number() as usize % 3];
        Read { bytes: number() as usize, then }
    }

    fn close(&mut self, _: u64) {}

    fn state(&self) -> State {
        State { window: number(), in_flight: number(), acknowledged: number(), phase: [number() as u8; 32], ..State::default() }
    }
}

impl Stack for Hostile {
    const HEADERS: u32 = 28;
    const CONTROLLERS: &'static CStr = c"one two";

    fn open(_: &Options, _: u64) -> Option<Box<dyn Endpoint>> {
        (number() != 1).then(|| Box::new(Hostile) as Box<dyn Endpoint>)
    }
}

fn use_it(end: &mut Checked) -> Result<(), Fault> {
    let (mut now, mut offered) = (0_u64, 0_u64);
    let mut buffer = [0; 1472];
    while ANSWERS.with_borrow(|octets| !octets.is_empty()) {
        match number() % 6 {
            0 => end.datagram(now, &buffer[..number() as usize % 1473], 0),
            1 => {
                if let Some((bytes, ecn)) = end.transmit(now, &mut buffer)? {
                    assert!((1..=buffer.len()).contains(&bytes) && ecn <= 3);
                }
            }
            2 => {
                if let Some(at) = end.timeout(now)? {
                    assert!(at > now);
                    now = at;
                }
            }
            3 => {
                let taken = end.write(now, 0, &buffer[..900], number() % 2 == 0)?;
                assert!(taken <= 900);
                offered += 900;
            }
            4 => assert!(end.read(now, 0, &mut buffer)?.bytes <= buffer.len()),
            _ => assert!(end.state()?.acknowledged <= offered),
        }
    }
    Ok(())
}

fuzz_target!(|octets: &[u8]| {
    ANSWERS.set(octets.to_vec());
    // SAFETY: the table is that of this program, and stays.
    let library = unsafe { Library::read(table::<Hostile>()) }.expect("a table of this version");
    assert_eq!(library.controllers().count(), 2);
    let options = Options { is_server: number() % 2 == 0, seed: 1, controller: String::new(), ecn: true };
    if let Some(end) = library.open_end(&options, 0) {
        let _: Result<(), Fault> = use_it(&mut Checked::new(end, &options));
    }
});
