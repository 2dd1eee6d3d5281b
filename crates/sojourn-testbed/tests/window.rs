//! A transport of one page: a fixed window over a line whose results are worked out by hand, and its mutants.

use core::time::Duration;
use sojourn_testbed::{Endpoint, Line, Read, State, Testbed};

const PAYLOAD: u64 = 1000;
const AHEAD: u64 = 1 << 20;

/// Sends `packets` ahead of the last acknowledgement; the other end acknowledges each packet.
#[derive(Debug, Default)]
struct Window {
    packets: u64,
    written: u64,
    next: u64,
    acknowledged: u64,
    arrived: u64,
    read: u64,
    owes: u64,
    past: Option<u64>,
    /// Looks at no acknowledgement.
    is_deaf: bool,
}

impl Endpoint for Window {
    fn datagram(&mut self, _now: u64, bytes: &[u8], _ecn: u8) {
        if bytes.len() == 8 {
            self.acknowledged += if self.is_deaf { 0 } else { PAYLOAD };
        } else {
            self.arrived += bytes.len() as u64;
            self.owes += 1;
        }
    }

    fn transmit(&mut self, _now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        if self.owes > 0 {
            self.owes -= 1;
            buffer[..8].fill(0);
            return Some((8, 0));
        }
        let may = self.next + PAYLOAD <= self.written && self.next - self.acknowledged < self.packets * PAYLOAD;
        may.then(|| {
            self.next += PAYLOAD;
            buffer[..1000].fill(0);
            (1000, 2)
        })
    }

    fn timeout(&mut self) -> Option<u64> {
        self.past
    }

    fn write(&mut self, _now: u64, _stream: u32, bytes: &[u8], _fin: bool) -> usize {
        let room = usize::try_from(self.acknowledged + AHEAD - self.written).unwrap_or(usize::MAX);
        let taken = bytes.len().min(room);
        self.written += taken as u64;
        taken
    }

    fn read(&mut self, _now: u64, _stream: u32, buffer: &mut [u8]) -> Read {
        let bytes = usize::try_from(self.arrived - self.read).unwrap_or(usize::MAX).min(buffer.len());
        self.read += bytes as u64;
        Read { bytes, ..Read::default() }
    }

    fn close(&mut self, _now: u64) {}

    fn state(&self) -> State {
        State { acknowledged: self.acknowledged, ..State::default() }
    }
}

fn of(packets: u64) -> Window {
    Window { packets, ..Window::default() }
}

fn bed() -> Testbed {
    Testbed::new(Line::new("8.224 Mb/s", "20 ms"))
}

/// Returns the panic of a run.
fn failure(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let caught = std::panic::catch_unwind(run).expect_err("the run fails");
    caught.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_window_fills_the_line_or_the_round_trip() {
    // A packet of 1,028 B takes 1 ms. 30 of them are 10 more than the round trip holds, one of which is sent: 9 ms.
    let report = bed().run(of(30), of(0), Duration::from_secs(10));
    report.expect_goodput("7.9 Mb/s").expect_queue("9.1 ms");
    assert_eq!(report.queue(0.5).as_ps() / 1_000_000, 9000);
    // Ten of them arrive in each round trip of 21 ms.
    let report = bed().run(of(10), of(0), Duration::from_secs(10));
    let expected = 10.0 * 8000.0 / 0.021;
    assert!((report.goodput().as_bps() as f64 / expected - 1.0).abs() < 0.01);
    assert_eq!(report.queue(0.2).as_ps(), 0);
}

#[test]
fn the_same_run_has_the_same_report() {
    let run = || format!("{:?}", bed().run(of(30), of(0), Duration::from_secs(3)));
    assert_eq!(run(), run());
}

#[test]
fn a_broken_window_fails_with_the_picture_of_its_queue() {
    let told = failure(|| {
        bed().run(of(120), of(0), Duration::from_secs(10)).expect_queue("50 ms");
    });
    assert!(told.starts_with("the queue has a P99 of 99 ms, at most 50 ms expected\n"), "{told}");
    // The first 120 packets wait for each other; later ones for 99.
    assert!(told.contains("   119.0 ms |#  "), "{told}");
    assert!(told.contains(&"#".repeat(64)), "{told}");
    let told = failure(|| {
        bed().run(of(1), of(0), Duration::from_secs(10)).expect_goodput("7 Mb/s");
    });
    assert!(told.starts_with("goodput of 3"), "{told}");
}

#[test]
fn an_end_that_breaks_a_rule_fails() {
    let told = failure(|| {
        let client = Window { past: Some(0), ..of(30) };
        let _ = bed().run(client, of(0), Duration::from_secs(10));
    });
    assert!(told.starts_with("it asked to be called at 0 ns; the time was 0 ns already\n"), "{told}");
}

#[test]
fn an_end_that_stands_still_fails() {
    // 400 packets at once into a queue of 250, one of which is sent; no acknowledgement makes room for more.
    let told = failure(|| {
        let client = Window { is_deaf: true, ..of(400) };
        let _ = bed().run(client, of(0), Duration::from_secs(10));
    });
    assert!(told.starts_with("nothing was delivered in the second half\n"), "{told}");
    assert!(told.contains("drops +x-"), "{told}");
    assert!(told.contains(" 149 drops, 0 marks"), "{told}");
}

#[test]
fn a_queue_manager_that_marks_is_seen() {
    let line = Line::new("8.224 Mb/s", "20 ms").queue("codel ecn=true");
    let report = Testbed::new(line).run(of(120), of(0), Duration::from_secs(10));
    assert!(report.marks > 0);
    assert_eq!(report.drops, 0);
}
