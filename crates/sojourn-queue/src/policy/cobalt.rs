//! COBALT: a `CoDel` that leaves its episodes by the same steps as it enters them, and a BLUE for what does not answer.
//!
//! Source: ns-3 `cobalt-queue-disc.cc`, Linux `sch_cake` (`cobalt_should_drop`); Palmei and others, "Design and Evaluation
//! of COBALT Queue Discipline" (2019).
//! Units and ranges: delays in picoseconds; the BLUE likelihood is in 0..=1.
//! Deviations: the clock of BLUE starts with the first packet; a packet that BLUE drops is not marked before.

use crate::policy::codel::spacing;
use sojourn_base::{Instant, Span};
use sojourn_keys::{Or, Visitor, key};

/// Parameters of COBALT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltLaw {
    /// Acceptable standing delay.
    pub target: Span,
    /// How long the delay may stay above `target` before the first signal.
    pub interval: Span,
    /// Mark ECN-capable packets instead of dropping them; BLUE drops them all the same.
    pub ecn: bool,
    /// Also mark each ECN-capable packet whose delay is above this.
    pub ce_threshold: Option<Span>,
    /// What an overflow adds to the BLUE likelihood.
    pub increment: f64,
    /// What an empty queue takes off it.
    pub decrement: f64,
    /// Delay above which a packet counts as an overflow.
    pub blue_threshold: Span,
}

impl CobaltLaw {
    /// ns-3 and Linux: 5 ms in 100 ms, BLUE by 1/256 and 1/4096 from 400 ms on.
    pub const LINUX: Self = Self {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        ecn: false,
        ce_threshold: None,
        increment: 1.0 / 256.0,
        decrement: 1.0 / 4096.0,
        blue_threshold: Span::from_ms(400),
    };

    /// Shows the keys of the law.
    pub fn keys(&mut self, visitor: &mut dyn Visitor) {
        const LONGEST: &str = "600 s";
        let law = self;
        visitor.value(
            key("target", "acceptable standing delay", "Linux sch_cake")
                .least("1 us")
                .most(LONGEST),
            &mut law.target,
        );
        visitor.value(
            key(
                "interval",
                "how long the delay may stay above target before the first signal",
                "Linux sch_cake",
            )
            .least("1 us")
            .most(LONGEST),
            &mut law.interval,
        );
        visitor.value(
            key(
                "ecn",
                "mark ECN-capable packets instead of dropping them; BLUE drops them all the same",
                "ns-3: off",
            ),
            &mut law.ecn,
        );
        visitor.value(
            key(
                "ce_threshold",
                "also mark each ECN-capable packet whose delay is above this",
                "ns-3: off",
            )
            .least("1 us"),
            &mut Or {
                value: &mut law.ce_threshold,
                word: "off",
            },
        );
        visitor.value(
            key(
                "increment",
                "what an overflow adds to the likelihood of a BLUE drop, once per target",
                "Linux sch_cake: 1/256",
            )
            .least("0")
            .most("1"),
            &mut law.increment,
        );
        visitor.value(
            key(
                "decrement",
                "what an empty queue takes off that likelihood, once per target",
                "Linux sch_cake: 1/4096",
            )
            .least("0")
            .most("1"),
            &mut law.decrement,
        );
        visitor.value(
            key(
                "blue_threshold",
                "delay above which a packet counts as an overflow",
                "ns-3",
            )
            .least("1 us")
            .most(LONGEST),
            &mut law.blue_threshold,
        );
    }
}

/// What to do with the packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CobaltJudgement {
    /// Send it.
    Pass,
    /// Mark it and send it.
    Mark,
    /// Drop it: its delay stays above target.
    Drop,
    /// Drop it: BLUE does.
    Blue,
}

/// Decision state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cobalt {
    count: u32,
    dropping: bool,
    /// When the next signal is due, or the next step back.
    drop_next: Instant,
    blue: f64,
    /// When the BLUE likelihood last moved, or the first packet came.
    blue_at: Option<Instant>,
}

impl Cobalt {
    /// A packet arrives.
    pub fn on_arrival(&mut self, now: Instant) {
        self.blue_at.get_or_insert(now);
    }

    /// An arrival did not fit.
    pub fn on_overflow(&mut self, law: &CobaltLaw, now: Instant) {
        self.raise_blue(law, now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// An opportunity found nothing.
    pub fn on_empty(&mut self, law: &CobaltLaw, now: Instant) {
        if self.blue > 0.0 && self.may_move_blue(law, now) {
            self.blue = (self.blue - law.decrement).max(0.0);
            self.blue_at = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step_back(law);
        }
    }

    /// The packet about to leave has waited `sojourn`; `can_mark` tells whether it can carry a mark.
    pub fn judge(
        &mut self,
        law: &CobaltLaw,
        now: Instant,
        sojourn: Span,
        can_mark: bool,
        draw: impl FnOnce() -> f64,
    ) -> CobaltJudgement {
        let mut due = self.count > 0 && now >= self.drop_next;
        let was_due = due;
        self.dropping = if sojourn > law.target {
            if !self.dropping {
                self.drop_next = now + spacing(law.interval, self.count.max(1));
            }
            self.count = self.count.max(1);
            true
        } else {
            false
        };
        let signals = was_due && self.dropping;
        if signals {
            self.count = self.count.saturating_add(1);
            self.drop_next += spacing(law.interval, self.count);
        } else {
            while due {
                self.step_back(law);
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        if sojourn > law.blue_threshold {
            self.raise_blue(law, now);
        }
        let marks = signals && law.ecn && can_mark;
        let judgement = if self.blue > 0.0 && draw() < self.blue {
            CobaltJudgement::Blue
        } else if marks {
            CobaltJudgement::Mark
        } else if signals {
            CobaltJudgement::Drop
        } else {
            CobaltJudgement::Pass
        };
        let drops = matches!(judgement, CobaltJudgement::Drop | CobaltJudgement::Blue);
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if now > self.drop_next && !drops {
            self.drop_next = now;
        }
        let late = law
            .ce_threshold
            .is_some_and(|threshold| sojourn > threshold);
        if judgement == CobaltJudgement::Pass && late && law.ecn && can_mark {
            CobaltJudgement::Mark
        } else {
            judgement
        }
    }

    /// The likelihood of a BLUE drop.
    pub const fn blue(&self) -> f64 {
        self.blue
    }

    /// Signals that set the pace.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Whether COBALT is at rest: nothing of an episode is left.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.count == 0 && self.blue <= 0.0 && now >= self.drop_next
    }

    fn step_back(&mut self, law: &CobaltLaw) {
        self.count -= 1;
        self.drop_next += spacing(law.interval, self.count);
    }

    fn raise_blue(&mut self, law: &CobaltLaw, now: Instant) {
        if self.may_move_blue(law, now) {
            self.blue = (self.blue + law.increment).min(1.0);
            self.blue_at = Some(now);
        }
    }

    fn may_move_blue(&self, law: &CobaltLaw, now: Instant) -> bool {
        self.blue_at
            .is_some_and(|last| now.saturating_since(last) > law.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: CobaltLaw = CobaltLaw::LINUX;

    fn close(ours: f64, theirs: f64) -> bool {
        (ours - theirs).abs() < 1e-15
    }

    #[test]
    fn co_1_and_co_2_blue_rises_with_overflows_and_falls_with_idle_time() {
        let mut cobalt = Cobalt::default();
        cobalt.on_arrival(Instant::ZERO);
        for (ms, blue) in [(0, 0.0), (6, 1.0), (8, 1.0), (12, 2.0)] {
            cobalt.on_overflow(&LAW, Instant::from_ms(ms));
            assert!(close(cobalt.blue(), blue / 256.0), "at {ms} ms");
        }
        cobalt.on_empty(&LAW, Instant::from_ms(20));
        assert!(close(cobalt.blue(), 2.0 / 256.0 - 1.0 / 4096.0));
    }

    #[test]
    fn a_standing_queue_is_signalled_one_interval_after_it_began() {
        let mut cobalt = Cobalt::default();
        let mut drops = std::vec![];
        for ms in 1..=400 {
            let now = Instant::from_ms(ms);
            let judgement = cobalt.judge(&LAW, now, Span::from_ms(20), false, || 1.0);
            if judgement == CobaltJudgement::Drop {
                drops.push(ms);
            }
        }
        // 1 + 100; then 100/√2, 100/√3 and so on after the time that each was due.
        assert_eq!(drops, [101, 172, 230, 280, 325, 365]);
    }

    #[test]
    fn below_target_the_pace_falls_step_by_step() {
        let mut cobalt = Cobalt::default();
        for ms in 1..=400 {
            let _ = cobalt.judge(&LAW, Instant::from_ms(ms), Span::from_ms(20), false, || 1.0);
        }
        assert_eq!(cobalt.count(), 7);
        let mut last = cobalt.count();
        for ms in 401..=1200 {
            let judgement =
                cobalt.judge(&LAW, Instant::from_ms(ms), Span::from_ms(1), false, || 1.0);
            assert_eq!(judgement, CobaltJudgement::Pass);
            assert!(cobalt.count() <= last && cobalt.count() + 1 >= last);
            last = cobalt.count();
        }
        assert_eq!(last, 0);
    }

    #[test]
    fn co_3_with_certainty_blue_drops_capable_packets_too() {
        let law = CobaltLaw { ecn: true, ..LAW };
        let mut cobalt = Cobalt {
            blue: 1.0,
            ..Cobalt::default()
        };
        for _ in 0..10 {
            let judgement = cobalt.judge(&law, Instant::from_ms(1), Span::ZERO, true, || 0.999);
            assert_eq!(judgement, CobaltJudgement::Blue);
        }
    }

    #[test]
    fn marks_take_the_place_of_drops_and_a_threshold_adds_some() {
        let law = CobaltLaw {
            ecn: true,
            ce_threshold: Some(Span::from_ms(1)),
            ..LAW
        };
        let mut cobalt = Cobalt::default();
        let mut judge = |us, can_mark| {
            cobalt.judge(
                &law,
                Instant::from_ms(1),
                Span::from_us(us),
                can_mark,
                || 1.0,
            )
        };
        assert_eq!(judge(1000, true), CobaltJudgement::Pass);
        assert_eq!(judge(1001, true), CobaltJudgement::Mark);
        assert_eq!(judge(1001, false), CobaltJudgement::Pass);
    }
}
