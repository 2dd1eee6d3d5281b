//! CoDel decides, packet by packet at the head of a queue, whether to signal a standing queue.
//!
//! Source: RFC 8289 §5.5 and §5.6; for the versions of 2012 and 2013 the ns-2 code of K. Nichols
//! (`queue/codel.cc`, `queue/sfqcodel.cc`).
//! Deviations: `first_above` starts unset (ns-2 starts it at −1, which lets a run's very first packet
//! count as late); no Newton iteration for the square root, no 32-bit clock.

mod keys;

use sojourn_base::{Instant, Span, math};

/// Which published version of the control law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodelVariant {
    /// First public ns-2 code, May 2012: resumes at `count − 1` within 16 intervals.
    Original2012,
    /// ns-2 code that K. Nichols' site had by February 2013, with a copyright of 2011 to 2012: resumes at
    /// `count − 2` within 8 intervals, and shortens the first wait of an episode that follows closely.
    Nichols2013,
    /// The same as used inside SFQ-CoDel, March 2013: without the shortened first wait.
    Sfq2013,
    /// RFC 8289 (and Linux): resumes at the signals of the last episode within 16 intervals.
    #[default]
    Rfc8289,
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

/// Parameters of CoDel's decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelLaw {
    /// Acceptable standing delay.
    pub target: Span,
    /// How long the delay may stay above `target` before the first signal.
    pub interval: Span,
    /// Which published version.
    pub variant: CodelVariant,
    /// Backlog below which nothing is signalled.
    pub floor: CodelFloor,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Also mark each ECN-capable packet whose delay is above this (RFC 8290 §5.2.7).
    pub ce_threshold: Option<Span>,
    /// Packets with ECT(1) or CE see only `ce_threshold`, all others only CoDel.
    pub l4s: bool,
}

impl CodelLaw {
    /// RFC 8289 §4.3, §4.4 and §5.3: 5 ms in 100 ms.
    pub const RFC8289: Self = Self {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        variant: CodelVariant::Rfc8289,
        floor: CodelFloor::LargestSeen,
        ecn: false,
        ce_threshold: None,
        l4s: false,
    };
    /// White 2012 §1.1: 5 ms in 100 ms. The paper does not name its revision; the second one `[inf]`: its
    /// author worked on the study, it bears that year, and the first one loses twice as many small packets
    /// beside five uploads as printed (Tables 3 and 5, C04 to C07).
    pub const WHITE2012: Self = Self {
        variant: CodelVariant::Nichols2013,
        ..Self::RFC8289
    };
    /// White 2013 §3.2: 10 ms in 150 ms, so that an idle request-grant loop stays below target
    /// (§2.1.1), the last code of ns-2.
    pub const WHITE2013: Self = Self {
        target: Span::from_ms(10),
        interval: Span::from_ms(150),
        variant: CodelVariant::Nichols2013,
        ..Self::RFC8289
    };
    /// Akhtar 2013: 5 ms in 100 ms, "latest ns-2 code" of late 2013.
    pub const AKHTAR2013: Self = Self {
        variant: CodelVariant::Nichols2013,
        ..Self::RFC8289
    };
}

/// The packet about to leave, as CoDel needs to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Time it has spent in the queue.
    pub sojourn: Span,
    /// More than [`Floor`] waits behind it.
    pub above_floor: bool,
}

/// What to do with the packet about to leave.
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
    /// When the delay will have been above target for long enough; `None` while it is below.
    first_above: Option<Instant>,
    /// When the next signal of this episode is due; between episodes, when it would have been.
    drop_next: Instant,
    /// Signals that set the pace.
    count: u32,
    /// `count` at the start of the episode (RFC 8289 only).
    last_count: u32,
    /// Inside an episode of signals.
    dropping: bool,
}

impl Codel {
    /// The first packet that a transmission opportunity finds.
    pub fn on_head(&mut self, law: &CodelLaw, head: Head, now: Instant) -> Judgement {
        let late = self.is_late(law, head, now);
        if !self.dropping {
            return if late {
                Judgement::Signal
            } else {
                Judgement::Pass
            };
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
        let counts_survivors = matches!(
            law.variant,
            CodelVariant::Nichols2013 | CodelVariant::Sfq2013
        );
        if self.dropping && !counts_survivors {
            self.count = self.count.saturating_add(1);
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
            self.drop_next += spacing(law.interval, self.count);
        }
        self.judge_in_episode(now)
    }

    /// The judged packet was marked and is sent.
    pub fn on_marked(&mut self, law: &CodelLaw, now: Instant) {
        if self.dropping {
            self.count = self.count.saturating_add(1);
            self.drop_next += spacing(law.interval, self.count);
        } else {
            self.enter(law, now);
        }
    }

    /// End the episode: the queue has left the scheduler's round (SFQ-CoDel).
    pub fn leave(&mut self) {
        self.dropping = false;
    }

    /// Whether an episode of signals is under way.
    pub const fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Signals that set the pace of this episode, or of the last one.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// When the next signal is due.
    pub const fn next_signal(&self) -> Instant {
        self.drop_next
    }

    fn judge_in_episode(&self, now: Instant) -> Judgement {
        if self.dropping && now >= self.drop_next {
            Judgement::Signal
        } else {
            Judgement::Pass
        }
    }

    /// Whether delay has been above target, and the backlog above the floor, for long enough.
    fn is_late(&mut self, law: &CodelLaw, head: Head, now: Instant) -> bool {
        if head.sojourn < law.target || !head.above_floor {
            self.first_above = None;
            return false;
        }
        if let Some(due) = self.first_above {
            return now >= due;
        }
        let resumes = law.variant == CodelVariant::Nichols2013
            && self.count > 1
            && self.last_signal_is_within(8, law, now);
        let wait = if resumes {
            spacing(law.interval, self.count)
        } else {
            law.interval
        };
        self.first_above = Some(now + wait);
        false
    }

    /// Start an episode, resuming near the pace of the last one if that was recent.
    fn enter(&mut self, law: &CodelLaw, now: Instant) {
        self.count = self.resumed_count(law, now);
        self.last_count = self.count;
        self.drop_next = now + spacing(law.interval, self.count);
        self.dropping = true;
    }

    fn resumed_count(&self, law: &CodelLaw, now: Instant) -> u32 {
        let (earned, at_least, memory) = match law.variant {
            CodelVariant::Original2012 => (self.count.saturating_sub(1), 1, 16),
            CodelVariant::Nichols2013 | CodelVariant::Sfq2013 => {
                (self.count.saturating_sub(2), 1, 8)
            }
            CodelVariant::Rfc8289 => (self.count.saturating_sub(self.last_count), 2, 16),
        };
        if earned < at_least || !self.last_signal_is_within(memory, law, now) {
            1
        } else if law.variant == CodelVariant::Nichols2013 && earned > 126 {
            shrunk(self.count)
        } else {
            earned
        }
    }

    /// Whether `now` is less than `intervals` intervals after the due time of the last signal that
    /// was not given (it may also be before it).
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
            CodelFloor::LargestSeen => Self {
                bytes: 256,
                follows_largest: true,
            },
            CodelFloor::Fixed(bytes) => Self {
                bytes,
                follows_largest: false,
            },
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

/// `interval / √count` to the nearest picosecond.
///
/// Floating point, because `√` is correctly rounded everywhere and the published vectors use it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the interval"
)]
pub(crate) fn spacing(interval: Span, count: u32) -> Span {
    let exact = interval.as_ps() as f64 / math::sqrt(f64::from(count.max(1)));
    Span::from_ps((exact + 0.5) as u64)
}

/// ns-2 `codel.cc` of February 2013: long episodes resume at 0.9844 of their count, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the count"
)]
fn shrunk(count: u32) -> u32 {
    (0.9844 * f64::from(count)) as u32
}

#[cfg(test)]
mod tests;
