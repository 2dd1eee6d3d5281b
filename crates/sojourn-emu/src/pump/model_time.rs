//! Model time: the clock's, but it stands still while the program does.

use crate::clock::Clock;
use crate::emulated::Due;
use crate::snapshot::Stall;
use crate::witness::Witness;
use sojourn_base::{Direction, Instant, Span};

/// A program that has not looked at the clock for longer than this was stopped. chosen: longer than the 50 ms that the kernel
/// takes real-time threads off a core for.
pub const STALL: Span = Span::from_ms(100);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ModelTime {
    /// Time of the clock at which model time began, moved by every stall; `None` before the first look.
    pub(super) origin: Option<Instant>,
    pub(super) last: Instant,
    pub(super) last_pass: Instant,
    pub(super) witness: Witness,
}

impl ModelTime {
    /// Looks at the clock.
    pub(super) fn look(&mut self, clock: &impl Clock) -> Instant {
        let now = clock.now();
        let Some(origin) = &mut self.origin else {
            self.origin = Some(now);
            (self.last, self.last_pass) = (now, now);
            return Instant::ZERO;
        };
        let gap = now.saturating_since(self.last);
        if gap > STALL {
            let at = Instant::ZERO + self.last.saturating_since(*origin);
            self.witness.stalls.push(Stall { at, gap });
            *origin = origin.saturating_add(gap);
        }
        self.last = self.last.max(now);
        Instant::ZERO + self.last.saturating_since(*origin)
    }

    /// Looks at the clock when a pass begins.
    pub(super) fn begin_pass(&mut self, clock: &impl Clock) -> Instant {
        let before = self.last_pass;
        let now = self.look(clock);
        self.witness.on_gap(self.last.saturating_since(before));
        self.last_pass = self.last;
        now
    }

    /// Packets are written now; returns that time.
    pub(super) fn on_written(&mut self, clock: &impl Clock, direction: Direction, packets: &[Due]) -> Instant {
        let now = self.look(clock);
        for packet in packets {
            self.witness.on_written(direction, packet.at, now);
        }
        now
    }

    /// The time of the clock at which model time is `at`.
    pub(super) fn of_clock(&self, at: Instant) -> Instant {
        let origin = self.origin.unwrap_or(Instant::ZERO);
        at.saturating_add(origin.saturating_since(Instant::ZERO))
    }
}
