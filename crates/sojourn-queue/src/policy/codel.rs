//! CoDel decides, packet by packet at the head of a queue, whether to signal a standing queue.
//!
//! Source: RFC 8289 §5.5 and §5.6; for the versions of 2012 and 2013 the ns-2 code of K. Nichols
//! (`queue/codel.cc`, `queue/sfqcodel.cc`).
//! Deviations: `first_above` starts unset (ns-2 starts it at −1, which lets a run's very first packet
//! count as late); no 32-bit clock.

mod spelling;

use sojourn_base::{Instant, Span, math};
use sojourn_keys::{origin, parameters, words};

words! {
    /// Which published version of the control law.
    pub enum CodelVariant {
        /// first public ns-2 code, May 2012
        ///
        /// Resumes at `count − 1` within 16 intervals.
        Original2012 = "original2012",
        /// ns-2 code of February 2013
        ///
        /// That K. Nichols' site had by then, with a copyright of 2011 to 2012: resumes at `count − 2` within 8 intervals,
        /// and shortens the first wait of an episode that follows closely.
        Nichols2013 = "nichols2013",
        /// as inside SFQ-CoDel, March 2013
        ///
        /// Without the shortened first wait.
        Sfq2013 = "sfq2013",
        /// RFC 8289
        ///
        /// Resumes at the signals of the last episode within 16 intervals.
        Rfc8289 = "rfc8289",
        /// Linux `codel_impl.h`: that of RFC 8289, with one step of Newton's method for each new signal in place of a square root
        ///
        /// So the second wait of an episode is 0.5 intervals, not 0.71; the clock counts 1.024 µs.
        Linux = "linux",
    }
}

/// The backlog below which nothing is signalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodelFloor {
    /// The largest packet seen so far, 256 bytes to begin with (ns-2 `codel.cc`).
    #[default]
    LargestSeen,
    /// A fixed number of bytes, usually one full-size packet.
    Fixed(u32),
}

/// Longest target and interval. chosen: beyond ten minutes no run would ever see a signal.
const LONGEST_LAW: &str = "600 s";

parameters! {
    /// Parameters of CoDel's decisions.
    #[derive(Copy, Eq)]
    pub struct CodelLaw {
        /// acceptable standing delay
        target: Span = Span::from_ms(5), origin("RFC 8289 §5.3").least("1 us").most(LONGEST_LAW);
        /// how long the delay may stay above target before the first signal
        interval: Span = Span::from_ms(100), origin("RFC 8289 §5.3").least("1 us").most(LONGEST_LAW);
        /// which published version of the control law
        variant: CodelVariant = CodelVariant::Rfc8289, origin("RFC 8289 §5.5");
        /// backlog below which nothing is signalled
        floor: CodelFloor = CodelFloor::LargestSeen, origin("ns-2 codel.cc; RFC 8289 §5.4");
        /// mark ECN-capable packets instead of dropping them
        ecn: bool = false, origin("RFC 8289 §3.1");
        /// also mark each ECN-capable packet whose delay is above this
        ///
        /// RFC 8290 §5.2.7.
        ce_threshold: Option<Span> = None, origin("Linux: off").or("off").least("1 us");
        /// packets with ECT(1) or CE see only ce_threshold, all others only CoDel
        l4s: bool = false, origin("Linux: off");
    }
    profiles {
        /// RFC 8289 §4.3, §4.4 and §5.3: 5 ms in 100 ms.
        RFC8289 {}
        /// White 2012 §1.1: 5 ms in 100 ms. The paper does not name its revision; the second one `[inf]`: its
        /// author worked on the study, it bears that year, and the first one loses twice as many small packets
        /// beside five uploads as printed (Tables 3 and 5, C04 to C07).
        WHITE2012 { variant = CodelVariant::Nichols2013; }
        /// White 2013 §3.2: 10 ms in 150 ms, so that an idle request-grant loop stays below target
        /// (§2.1.1), the last code of ns-2.
        WHITE2013 from WHITE2012 { target = Span::from_ms(10); interval = Span::from_ms(150); }
        /// Akhtar 2013: 5 ms in 100 ms, "latest ns-2 code" of late 2013.
        AKHTAR2013 from WHITE2012 {}
    }
}

/// The packet about to leave, as CoDel needs to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Time it has spent in the queue.
    pub sojourn: Span,
    /// More than [`Floor`] waits behind it.
    pub above_floor: bool,
}

/// Judgement on the packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// Send it.
    Pass,
    /// Mark it and call [`Codel::on_marked`], or drop it and show the packet behind it to
    /// [`Codel::on_dropped`].
    Signal,
}

/// Decision state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codel {
    /// Time at which the delay will have been above target for long enough; `None` while it is below.
    first_above: Option<Instant>,
    /// Time of the next signal of this episode; between episodes, the time that it would have had.
    drop_next: Instant,
    /// Signals that set the pace.
    count: u32,
    /// `count` at the start of the episode (RFC 8289 and Linux only).
    last_count: u32,
    /// Linux's approximation of `1 / √count`, in parts of 65,536.
    reciprocal: u16,
    /// Inside an episode of signals.
    dropping: bool,
}

impl Codel {
    /// The first packet that a transmission opportunity finds.
    pub fn on_head(&mut self, law: &CodelLaw, head: Head, now: Instant) -> Judgement {
        let late = self.is_late(law, head, now);
        if !self.dropping {
            return if late { Judgement::Signal } else { Judgement::Pass };
        }
        self.dropping = late;
        self.judge_in_episode(now)
    }

    /// The opportunity found nothing.
    pub fn on_empty(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// The judged packet was dropped; `next` is the one behind it, if any.
    pub fn on_dropped(&mut self, law: &CodelLaw, next: Option<Head>, now: Instant) -> Judgement {
        let counts_survivors = matches!(law.variant, CodelVariant::Nichols2013 | CodelVariant::Sfq2013);
        if self.dropping && !counts_survivors {
            self.count_signal();
        }
        let late = if let Some(head) = next {
            self.is_late(law, head, now)
        } else {
            self.first_above = None;
            false
        };
        if !self.dropping {
            self.enter(law, now);
            return Judgement::Pass;
        }
        self.dropping = late;
        if late {
            if counts_survivors {
                self.count = self.count.saturating_add(1);
            }
            self.drop_next += self.spacing(law);
        }
        self.judge_in_episode(now)
    }

    /// The judged packet was marked and is sent.
    pub fn on_marked(&mut self, law: &CodelLaw, now: Instant) {
        if self.dropping {
            self.count_signal();
            self.drop_next += self.spacing(law);
        } else {
            self.enter(law, now);
        }
    }

    /// The queue paid for an overflow with a number of packets: Linux `fq_codel_drop` counts them as signals.
    pub fn on_paid(&mut self, law: &CodelLaw, packets: u32) {
        if law.variant == CodelVariant::Linux {
            self.count = self.count.saturating_add(packets);
        }
    }

    /// End the episode: the queue has left the scheduler's round (SFQ-CoDel).
    pub fn leave(&mut self) {
        self.dropping = false;
    }

    /// Returns true during an episode of signals.
    pub const fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Signals that set the pace of this episode, or of the last one.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the time of the next signal.
    pub const fn next_signal(&self) -> Instant {
        self.drop_next
    }

    fn judge_in_episode(&self, now: Instant) -> Judgement {
        if self.dropping && now >= self.drop_next { Judgement::Signal } else { Judgement::Pass }
    }

    /// Returns true if delay has been above target, and the backlog above the floor, for long enough.
    fn is_late(&mut self, law: &CodelLaw, head: Head, now: Instant) -> bool {
        let is_short = if law.variant == CodelVariant::Linux {
            let came = Instant::from_ns(now.as_ns().saturating_sub(head.sojourn.as_ns()));
            ticks(now) - ticks(came) < law.target.as_ns() >> TICK_LOG
        } else {
            head.sojourn < law.target
        };
        if is_short || !head.above_floor {
            self.first_above = None;
            return false;
        }
        if let Some(due) = self.first_above {
            return if law.variant == CodelVariant::Linux { ticks(now) > ticks(due) } else { now >= due };
        }
        let resumes =
            law.variant == CodelVariant::Nichols2013 && self.count > 1 && self.last_signal_is_within(8, law, now);
        let wait = match law.variant {
            CodelVariant::Linux => Span::from_ns(law.interval.as_ns() >> TICK_LOG << TICK_LOG),
            _ if resumes => spacing(law.interval, self.count),
            _ => law.interval,
        };
        self.first_above = Some(now + wait);
        false
    }

    /// Start an episode, resuming near the pace of the last one if that was recent.
    fn enter(&mut self, law: &CodelLaw, now: Instant) {
        self.count = self.resumed_count(law, now);
        if self.count > 1 {
            self.step();
        } else {
            self.reciprocal = u16::MAX;
        }
        self.last_count = self.count;
        let start = if law.variant == CodelVariant::Linux { Instant::from_ns(ticks(now) << TICK_LOG) } else { now };
        self.drop_next = start + self.spacing(law);
        self.dropping = true;
    }

    fn count_signal(&mut self) {
        self.count = self.count.saturating_add(1);
        self.step();
    }

    /// Linux `codel_Newton_step`, which is right if it is repeated.
    fn step(&mut self) {
        let inverse = u64::from(self.reciprocal) << 16;
        let square = (inverse * inverse) >> 32;
        let value = (3_u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        self.reciprocal = (value.wrapping_mul(inverse) >> 47) as u16;
    }

    /// Time from a signal to the next one.
    fn spacing(&self, law: &CodelLaw) -> Span {
        if law.variant != CodelVariant::Linux {
            return spacing(law.interval, self.count);
        }
        let ticks = law.interval.as_ns() >> TICK_LOG;
        Span::from_ns(((ticks * u64::from(self.reciprocal)) >> 16) << TICK_LOG)
    }

    fn resumed_count(&self, law: &CodelLaw, now: Instant) -> u32 {
        let (earned, at_least, memory) = match law.variant {
            CodelVariant::Original2012 => (self.count.saturating_sub(1), 1, 16),
            CodelVariant::Nichols2013 | CodelVariant::Sfq2013 => (self.count.saturating_sub(2), 1, 8),
            CodelVariant::Rfc8289 | CodelVariant::Linux => (self.count.saturating_sub(self.last_count), 2, 16),
        };
        if earned < at_least || !self.last_signal_is_within(memory, law, now) {
            1
        } else if law.variant == CodelVariant::Nichols2013 && earned > 126 {
            shrunk(self.count)
        } else {
            earned
        }
    }

    /// Returns true if `now` is less than `intervals` intervals after the due time of the last signal that was not
    /// given (it may also be before it).
    fn last_signal_is_within(&self, intervals: u64, law: &CodelLaw, now: Instant) -> bool {
        now.saturating_since(self.drop_next) < law.interval.saturating_mul(intervals)
    }
}

/// The backlog below which nothing is signalled, and the largest packet seen if it follows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    bytes: u32,
    follows_largest: bool,
}

impl Floor {
    /// A floor as `config` wants it.
    pub const fn new(config: CodelFloor) -> Self {
        match config {
            // ns-2 `codel.cc`: 256 bytes until a larger packet is seen.
            CodelFloor::LargestSeen => Self { bytes: 256, follows_largest: true },
            CodelFloor::Fixed(bytes) => Self { bytes, follows_largest: false },
        }
    }

    /// A packet of `length` leaves `backlog` bytes behind: whether that is more than the floor.
    pub fn on_leaving(&mut self, length: u32, backlog: u64) -> bool {
        if self.follows_largest && length > self.bytes {
            self.bytes = length;
        }
        backlog > u64::from(self.bytes)
    }
}

/// Logarithm of the nanoseconds in a tick of CoDel's clock. Source: Linux `codel.h`, `CODEL_SHIFT`.
const TICK_LOG: u32 = 10;

const fn ticks(at: Instant) -> u64 {
    at.as_ns() >> TICK_LOG
}

/// `interval / √count` to the nearest picosecond.
///
/// Floating point, because `√` is correctly rounded everywhere and the published vectors use it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the interval")]
pub(crate) fn spacing(interval: Span, count: u32) -> Span {
    let exact = interval.as_ps() as f64 / math::sqrt(f64::from(count.max(1)));
    Span::from_ps((exact + 0.5) as u64)
}

/// ns-2 `codel.cc` of February 2013: long episodes resume at 0.9844 of their count, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the count")]
fn shrunk(count: u32) -> u32 {
    (0.9844 * f64::from(count)) as u32
}

#[cfg(test)]
mod tests;
