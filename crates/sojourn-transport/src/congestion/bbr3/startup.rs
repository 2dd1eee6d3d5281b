//! The states Startup and Drain: the rate grows until the pipe is full or losses or marks are too many, then the queue
//! drains.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.3.1 and 5.3.2.
//! Deviations: those of the parent module.

use super::{Bbr3, Rules, State};
use crate::congestion::{Ack, RateSample};

impl Bbr3 {
    /// `CheckFullBWReached`; a probe of the round trip limits the rate as an application does (`MarkConnectionAppLimited`).
    pub(super) fn check_full_bw_reached(&mut self, rate: &RateSample, sample: f64) {
        if self.full_bw_now || rate.application_limited || self.state == State::ProbeRtt {
            return;
        }
        self.full_bw_now = if sample >= self.full_bw.wanted() {
            self.full_bw.reset(sample);
            false
        } else {
            self.rounds.round_start && self.full_bw.on_round(sample)
        };
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `BBRCheckStartupHighLoss`, `BBRCheckStartupDone`; two rounds with many marks do the same as many losses.
    pub(super) fn check_startup_done(&mut self, rate: &RateSample, loss_events: u32) {
        if self.state != State::Startup {
            return;
        }
        let lossy = self.loss_round.round_start
            && loss_events >= self.version.startup_full_loss_cnt
            && self.are_losses_too_many(rate);
        if lossy || self.marks.end_startup() {
            self.full_bw_reached = true;
            self.inflight_longterm = match self.version.rules {
                Rules::Two => self.inflight(1.0),
                Rules::Three { .. } => self.bdp_multiple(1.0).max(self.inflight_latest),
            };
        }
        if self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.round_count;
            if self.version.rules == Rules::Two {
                self.reset_congestion_signals();
            }
        }
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, ack: &Ack, rate: &RateSample) {
        if self.state != State::Drain {
            return;
        }
        let drained = f64::from(rate.in_flight) <= self.inflight(1.0);
        let rounds = self.rounds.round_count - self.drain_start_round;
        let long = self.config.drain_rounds.is_some_and(|most| rounds > most);
        if drained || long {
            self.start_probe_bw_down(ack.now, rate);
        }
    }
}
