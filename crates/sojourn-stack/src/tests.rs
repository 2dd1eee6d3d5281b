use crate::c::{Library, sje_options, sje_stack, sje_state, table};
use crate::checked::{Checked, MOST_AT_ONCE, MOST_IDLE_CALLS};
use crate::{Endpoint, Options, Read, Stack, State, Then};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::ffi::CStr;

/// An end that answers as its seed says.
#[derive(Debug)]
struct Echo {
    answer: usize,
    at: u64,
    options: Options,
    heard: Option<(u64, usize, u8)>,
}

impl Endpoint for Echo {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        self.heard = Some((now, bytes.len(), ecn));
    }

    fn transmit(&mut self, _now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        let (_, length, ecn) = self.heard?;
        buffer[0] = 7;
        Some((length + self.answer, ecn))
    }

    fn timeout(&mut self) -> Option<u64> {
        (self.at != u64::MAX).then_some(self.at)
    }

    fn write(&mut self, _now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        bytes.len() - usize::from(fin) - stream as usize + self.answer
    }

    fn read(&mut self, _now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        let then = [Then::More, Then::NextStream, Then::Closed][stream as usize];
        Read { bytes: buffer.len() + self.answer, then }
    }

    fn close(&mut self, now: u64) {
        self.at = now + 1;
    }

    fn state(&self) -> State {
        let mut phase = [0; 32];
        phase[..4].copy_from_slice(b"Echo");
        State {
            window: 1,
            threshold: 2,
            in_flight: 3,
            smoothed: 4,
            pacing_rate: 5,
            lost: 6,
            acknowledged: 7 + self.answer as u64,
            is_connected: self.options.ecn,
            is_finished: self.options.is_server,
            has_failed: true,
            phase,
        }
    }
}

struct Library1;

impl Stack for Library1 {
    const HEADERS: u32 = 28;
    const CONTROLLERS: &'static CStr = c"one two";

    fn open(options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        (options.controller != "three").then(|| -> Box<dyn Endpoint> {
            Box::new(Echo { answer: 0, at: now, options: options.clone(), heard: None })
        })
    }
}

fn options(controller: &str) -> Options {
    Options { is_server: false, seed: 1, controller: controller.to_string(), ecn: true }
}

#[expect(unsafe_code, reason = "a table of this crate is read")]
fn library(table: &sje_stack) -> Result<Library, String> {
    // SAFETY: a table that lives, with calls of this crate.
    unsafe { Library::read(table) }
}

#[test]
fn what_a_library_answers_comes_through_c_unchanged() {
    let library = library(table::<Library1>()).expect("a whole table");
    assert_eq!(library.headers(), 28);
    assert!(library.controllers().eq(["one", "two"]));
    assert!(library.open_end(&options("three"), 0).is_none());
    let mut end = library.open_end(&options("two"), 40).expect("an end");
    let mut own = Library1::open(&options("two"), 40).expect("an end");
    for end in [&mut end, &mut own] {
        let mut buffer = [0; 100];
        assert_eq!(end.transmit(50, &mut buffer), None);
        end.datagram(50, &[1, 2, 3], 2);
        assert_eq!(end.transmit(50, &mut buffer), Some((3, 2)));
        assert_eq!(buffer[0], 7);
        assert_eq!(end.timeout(), Some(40));
        assert_eq!(end.write(50, 1, &[0; 9], true), 7);
        let then = [Then::More, Then::NextStream, Then::Closed];
        assert!((0..).zip(then).all(|(stream, then)| end.read(50, stream, &mut buffer) == Read { bytes: 100, then }));
        end.close(60);
        assert_eq!(end.timeout(), Some(61));
    }
    assert_eq!(end.state(), own.state());
}

#[test]
fn structs_have_the_sizes_that_the_header_has() {
    // `tests/stacks/window.c` asserts the same ones of `sojourn_stack.h`.
    assert_eq!((size_of::<sje_options>(), size_of::<sje_state>(), size_of::<sje_stack>()), (24, 96, 96));
}

#[test]
fn a_table_of_another_version_or_with_a_hole_is_refused() {
    let whole = *table::<Library1>();
    let refusal = |table: sje_stack| library(&table).expect_err("a bad table");
    assert!(refusal(sje_stack { abi: 2, ..whole }).starts_with("version 2 of the interface"));
    assert!(refusal(sje_stack { size: 80, ..whole }).contains("in 80 bytes"));
    assert_eq!(refusal(sje_stack { close: None, ..whole }), "it has no close");
}

fn checked(answer: usize, at: u64, is_server: bool) -> Checked {
    let options = Options { is_server, ..options("one") };
    let end = Echo { answer, at, options: options.clone(), heard: Some((0, 10, 0)) };
    Checked::new(Box::new(end), &options)
}

#[test]
fn answers_beyond_the_rules_are_faults() {
    let mut buffer = [0; 100];
    let text = |fault: crate::checked::Fault| fault.to_string();
    let mut end = checked(91, 5, false);
    assert!(text(end.transmit(1, &mut buffer).expect_err("101 bytes")).contains("101 bytes; there was room for 100"));
    assert!(text(end.write(1, 0, &[0; 4], false).expect_err("too many")).contains("write took 95 bytes of 4"));
    assert!(text(end.read(1, 0, &mut buffer).expect_err("too many")).contains("read returned 191 bytes"));
    assert!(text(end.state().expect_err("nothing was written")).contains("98 acknowledged bytes; 0 were written"));
    assert_eq!(end.timeout(4), Ok(Some(5)));
    assert!(text(end.timeout(5).expect_err("not later")).contains("at 5 ns; the time was 5 ns already"));
}

#[test]
fn a_server_that_has_heard_nothing_must_not_send() {
    let mut buffer = [0; 100];
    let mut server = checked(0, 5, true);
    assert!(server.transmit(1, &mut buffer).expect_err("too early").0.contains("before one had arrived"));
    server.datagram(2, &[1], 0);
    assert_eq!(server.transmit(2, &mut buffer), Ok(Some((1, 0))));
}

#[test]
fn datagrams_at_one_time_and_calls_without_any_are_bounded() {
    let mut buffer = [0; 100];
    let mut end = checked(0, 5, false);
    for _ in 0..MOST_AT_ONCE {
        assert!(end.transmit(1, &mut buffer).is_ok());
    }
    assert!(end.transmit(2, &mut buffer).is_ok());
    assert!((0..MOST_AT_ONCE).any(|_| end.transmit(2, &mut buffer).is_err()));
    let mut idle = checked(0, u64::MAX - 1, false);
    assert!((0..MOST_IDLE_CALLS).all(|now| idle.timeout(now.into()).is_ok()));
    assert!(idle.timeout(0).is_err());
}
