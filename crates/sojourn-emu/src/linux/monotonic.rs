//! The clock of the system, and the wait for packets.

use crate::clock::{Clock, Wake};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use sojourn_base::{Instant, PerDirection, Span};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;

/// `CLOCK_MONOTONIC` since this was made, with what may end a wait.
#[derive(Debug)]
pub struct Monotonic<'a> {
    began: TimeSpec,
    /// First the sources of upstream packets, then those of downstream ones, then what ends the emulation.
    polled: Vec<PollFd<'a>>,
    sources: PerDirection<usize>,
    ends_at: Instant,
    spin: Span,
    slept_at: Instant,
    /// `/proc/stat`, for the stolen time.
    statistics: Option<File>,
}

impl<'a> Monotonic<'a> {
    /// A clock that starts now. A readable descriptor of `enders` ends the emulation, and so does the time `lasts`. The
    /// last `spin` of each wait polls the clock.
    pub fn new(
        sources: &PerDirection<Vec<BorrowedFd<'a>>>,
        enders: &[BorrowedFd<'a>],
        lasts: Option<Span>,
        spin: Span,
    ) -> Self {
        let all = sources.upstream.iter().chain(&sources.downstream);
        Self {
            began: time(),
            polled: all.chain(enders).map(|descriptor| PollFd::new(*descriptor, PollFlags::POLLIN)).collect(),
            sources: PerDirection { upstream: sources.upstream.len(), downstream: sources.downstream.len() },
            ends_at: lasts.map_or(Instant::NEVER, |span| Instant::ZERO.saturating_add(span)),
            spin,
            slept_at: Instant::ZERO,
            statistics: File::open("/proc/stat").ok(),
        }
    }
}

impl Monotonic<'_> {
    /// Sleeps for a moment if this thread has not done so for long: the kernel ends a real-time thread that RealtimeKit has
    /// made and that never sleeps (`RLIMIT_RTTIME`).
    fn breathe(&mut self) {
        let now = self.now();
        if now.saturating_since(self.slept_at) > LONGEST_WAKE {
            self.rest(now.saturating_add(Span::from_us(1)));
        }
    }
}

/// Longest time without sleep. chosen: a quarter of the 200 ms that RealtimeKit allows.
const LONGEST_WAKE: Span = Span::from_ms(50);

/// A wait of this length. chosen: at most a minute, so that the number fits everywhere.
fn timeout(wait: Span) -> TimeSpec {
    let nanos = wait.min(Span::from_s(60)).as_ns().cast_signed();
    TimeSpec::new(nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Length of a tick of `/proc/stat`: `USER_HZ`, the same on every Linux of 64 bits (proc_stat(5), times(2)).
const TICK: Span = Span::from_ms(10);

/// Time that other machines took, in the first line of `/proc/stat`: its eighth number (proc_stat(5)).
fn stolen(text: &str) -> Option<Span> {
    let ticks: u64 = text.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    Some(TICK.saturating_mul(ticks))
}

fn time() -> TimeSpec {
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock")
}

/// Whole seconds of the clock, for what is merely old.
pub(super) fn seconds() -> u64 {
    time().tv_sec().cast_unsigned()
}

impl Clock for Monotonic<'_> {
    fn now(&self) -> Instant {
        let passed = time() - self.began;
        let seconds = Span::from_s(passed.tv_sec().cast_unsigned());
        Instant::ZERO.saturating_add(seconds.saturating_add(Span::from_ns(passed.tv_nsec().cast_unsigned())))
    }

    fn rest(&mut self, until: Instant) {
        let left = until.saturating_since(self.now());
        if left > Span::ZERO {
            // Signals are blocked in this thread: it sleeps to the end.
            let _ = ppoll(&mut [], Some(timeout(left)), None);
            self.slept_at = self.now();
        }
    }

    fn give_priority_up(&mut self) {
        super::priority::be_normal();
    }

    fn busy(&mut self) -> Option<Span> {
        let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
        let seconds = Span::from_s(time.tv_sec().cast_unsigned());
        Some(seconds.saturating_add(Span::from_ns(time.tv_nsec().cast_unsigned())))
    }

    fn stolen(&mut self) -> Option<Span> {
        let mut text = [0; 256];
        let length = self.statistics.as_ref()?.read_at(&mut text, 0).ok()?;
        stolen(&String::from_utf8_lossy(&text[..length]))
    }

    fn wait(&mut self, until: Instant) -> io::Result<Wake> {
        let until = until.min(self.ends_at);
        loop {
            let left = until.saturating_since(self.now());
            let timeout = timeout(left.saturating_sub(self.spin));
            match ppoll(&mut self.polled, Some(timeout), None) {
                Ok(0) if left > Span::ZERO && self.now() < until => {} // spins, or a minute is over
                Ok(count) => {
                    if count == 0 && left > self.spin {
                        self.slept_at = self.now();
                    }
                    break;
                }
                Err(Errno::EINTR) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.breathe();
        let (up, rest) = self.polled.split_at(self.sources.upstream);
        let (down, enders) = rest.split_at(self.sources.downstream);
        let any = |polled: &[PollFd<'_>]| polled.iter().any(|one| one.any() == Some(true));
        Ok(Wake {
            readable: PerDirection { upstream: any(up), downstream: any(down) },
            ended: any(enders) || self.now() >= self.ends_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_wait_lasts_until_its_time_and_no_less() {
        for spin in [Span::ZERO, Span::from_us(60)] {
            let sources = PerDirection { upstream: vec![], downstream: vec![] };
            let mut clock = Monotonic::new(&sources, &[], None, spin);
            let until = clock.now().saturating_add(Span::from_ms(3));
            assert_eq!(clock.wait(until).unwrap(), Wake::default());
            assert!(clock.now() >= until);
        }
    }

    #[test]
    fn what_can_be_read_ends_a_wait_and_is_named() {
        let (read, write) = nix::unistd::pipe().unwrap();
        let (quiet, _kept) = nix::unistd::pipe().unwrap();
        nix::unistd::write(&write, b"x").unwrap();
        let sources = PerDirection { upstream: vec![quiet.as_fd()], downstream: vec![quiet.as_fd(), read.as_fd()] };
        let mut clock = Monotonic::new(&sources, &[quiet.as_fd()], None, Span::ZERO);
        let wake = clock.wait(Instant::NEVER).unwrap();
        assert!(!wake.readable.upstream && wake.readable.downstream && !wake.ended);
    }

    #[test]
    fn what_others_took_is_the_eighth_number() {
        let text = "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!(stolen(text), Some(Span::from_ms(2500)));
        assert_eq!(stolen("cpu  1 2"), None);
    }

    #[test]
    fn the_emulation_ends_after_its_time() {
        let sources = PerDirection { upstream: vec![], downstream: vec![] };
        let lasts = Some(Span::from_ms(2));
        let mut clock = Monotonic::new(&sources, &[], lasts, Span::ZERO);
        assert!(clock.wait(Instant::NEVER).unwrap().ended);
        assert!(clock.now() >= Instant::ZERO.saturating_add(Span::from_ms(2)));
    }
}
