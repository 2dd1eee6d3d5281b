//! The state ProbeBW: eight gains in turn, a shortest round trip each.
//!
//! Source: Linux `tcp_bbr.c`.
//! Deviations: those of the parent module.

use super::{Bbr1, PACING_GAIN_CYCLE, State};
use crate::congestion::RateSample;
use sojourn_base::Instant;

impl Bbr1 {
    pub(super) fn start_probe_bw(&mut self, now: Instant) {
        self.state = State::ProbeBw;
        // Any place but the one that drains.
        self.cycle_index = (9 - usize::try_from(self.dice.roll(7)).unwrap_or(0)) % PACING_GAIN_CYCLE.len();
        self.cycle_stamp = now;
    }

    /// Linux `bbr_is_next_cycle_phase`.
    pub(super) fn update_cycle_phase(&mut self, now: Instant, rate: &RateSample) {
        if self.state != State::ProbeBw {
            return;
        }
        let long = now.saturating_since(self.cycle_stamp) > self.min_rtt;
        let gain = PACING_GAIN_CYCLE[self.cycle_index];
        let pipe = self.at_departure(rate.in_flight_before, rate);
        let over = if gain > 1.0 {
            long && (rate.newly_lost > 0 || pipe >= self.inflight(gain))
        } else if gain < 1.0 {
            long || pipe <= self.inflight(1.0)
        } else {
            long
        };
        if over {
            self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
            self.cycle_stamp = now;
        }
    }
}
