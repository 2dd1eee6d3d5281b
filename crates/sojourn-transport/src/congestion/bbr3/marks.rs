//! Responses to marks: the estimate of marking, a round with too many of them, and the cut of data in flight.
//!
//! Source: Linux `tcp_bbr.c` of version 3 (`bbr_update_ecn_alpha`, `bbr_check_ecn_too_high_in_startup`,
//! `bbr_is_inflight_too_high`, `bbr_ecn_cut`), whose version 2 has the same; the draft leaves marks out.
//! Units: parts of the segments delivered.
//! Deviations: too many marks are judged by the round that ended and not by each sample, as in s2n-quic; the share counts
//! segments that acknowledgements name, as AccECN does; no fixed point.

use super::Rules;
use crate::congestion::Ack;
use sojourn_base::Span;

/// Weight of a round in the estimate (`bbr_ecn_alpha_gain`).
const ALPHA_GAIN: f64 = 1.0 / 16.0;
/// The part of the estimate by which the network is relieved (`bbr_ecn_factor`).
const FACTOR: f64 = 1.0 / 3.0;
/// More of a round than this is too much (`bbr_ecn_thresh`).
const THRESHOLD: f64 = 0.5;
/// Rounds with as many before they end startup (`bbr_full_ecn_cnt`).
const STARTUP_ROUNDS: u32 = 2;

/// Marks of a connection whose peer counts them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, named as in Linux")]
pub(super) struct Marks {
    /// The peer counts them.
    counts: bool,
    /// And the shortest round trip has been short enough once.
    eligible: bool,
    /// Estimated part that is marked (`ecn_alpha`).
    alpha: f64,
    delivered: u32,
    marked: u32,
    /// Some were marked in this round of losses (`ecn_in_round`).
    pub(super) in_round: bool,
    /// And in this cycle of probes (`ecn_in_cycle`).
    pub(super) in_cycle: bool,
    /// More than half of the round that ended; in version 2 half of it.
    pub(super) too_many: bool,
    startup_rounds: u32,
}

impl Marks {
    pub(super) const fn new(counts: bool) -> Self {
        Self {
            counts,
            eligible: false,
            // `bbr_ecn_alpha_init`
            alpha: 1.0,
            delivered: 0,
            marked: 0,
            in_round: false,
            in_cycle: false,
            too_many: false,
            startup_rounds: 0,
        }
    }

    /// An acknowledgement; the round ends with it if `round_start`. Marks are answered once the shortest round trip is no longer
    /// than `longest`, at any with zero.
    pub(super) fn on_ack(&mut self, ack: &Ack, round_start: bool, min_rtt: Span, longest: Span, rules: Rules) {
        if !self.counts {
            return;
        }
        self.delivered += ack.acked;
        self.marked += ack.marks;
        self.in_round |= self.eligible && ack.marks > 0;
        self.in_cycle |= self.eligible && ack.marks > 0;
        if !round_start || self.delivered == 0 {
            return;
        }
        self.eligible |= longest.is_zero() || min_rtt <= longest;
        let part = (f64::from(self.marked) / f64::from(self.delivered)).min(1.0);
        self.alpha += ALPHA_GAIN * (part - self.alpha);
        let half = self.eligible && part >= THRESHOLD;
        self.too_many = half && (part > THRESHOLD || rules == Rules::Two);
        self.startup_rounds = if half { self.startup_rounds + 1 } else { 0 };
        (self.delivered, self.marked) = (0, 0);
    }

    /// Returns true if marks end startup.
    pub(super) const fn end_startup(&self) -> bool {
        self.startup_rounds >= STARTUP_ROUNDS
    }

    /// Returns the factor on data in flight after a round with marks (`bbr_ecn_cut`).
    pub(super) fn cut(&self) -> f64 {
        1.0 - FACTOR * self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::ack_at;
    use super::*;
    use sojourn_base::Instant;

    const NEAR: Span = Span::from_ms(4);
    const UP_TO: Span = Span::from_ms(5);

    /// A round of ten segments of which `marks` were marked.
    fn round(marks: &mut Marks, marked: u32, min_rtt: Span, longest: Span) {
        let ack = Ack { marks: marked, ..ack_at(Instant::ZERO, 10) };
        let rules = Rules::Three { reprobes_after_marks: true };
        marks.on_ack(&ack, true, min_rtt, longest, rules);
    }

    #[test]
    fn the_estimate_begins_with_one_and_follows_a_sixteenth_of_each_round() {
        let mut marks = Marks::new(true);
        // 1 - 1/16; then 0.9375 * 15/16 + 0.5/16, of which a third is cut.
        for (marked, alpha, cut) in [(10, 1.0, 0.666_666_7), (0, 0.9375, 0.6875), (5, 0.910_156_25, 0.696_614_6)] {
            round(&mut marks, marked, NEAR, UP_TO);
            assert!((marks.alpha - alpha).abs() < 1e-9, "{}", marks.alpha);
            assert!((marks.cut() - cut).abs() < 1e-7, "{}", marks.cut());
        }
    }

    #[test]
    fn more_than_half_of_a_round_is_too_many_and_half_in_two_rounds_ends_startup() {
        let mut marks = Marks::new(true);
        for (marked, too_many, ends) in [(5, false, false), (6, true, true), (4, false, false), (10, true, false)] {
            round(&mut marks, marked, NEAR, UP_TO);
            assert_eq!((marks.too_many, marks.end_startup()), (too_many, ends));
        }
    }

    #[test]
    fn marks_are_answered_on_short_paths_or_wherever_it_is_asked_for() {
        let far = Span::from_ms(20);
        for (counts, longest, answered) in [(true, UP_TO, false), (true, Span::ZERO, true), (false, Span::ZERO, false)]
        {
            let mut marks = Marks::new(counts);
            round(&mut marks, 10, far, longest);
            round(&mut marks, 10, far, longest);
            assert_eq!((marks.in_round, marks.too_many, marks.end_startup()), (answered, answered, answered));
        }
    }
}
