//! The model of the path: bandwidth, what losses have taught, and what may be in the network.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.5 (model) and 5.6.4 (window).
//! Deviations: those of the parent module.

use super::super::bbr_model::{MIN_PIPE_CWND, SEND_QUANTUM, bdp, cwnd_after};
use super::{Bbr3, Rules, State};
use crate::congestion::{Ack, RateSample};
use sojourn_base::Span;

impl Bbr3 {
    /// `BBR.max_bw`.
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    /// `BBR.bw`.
    pub(super) fn bw(&self) -> f64 {
        self.max_bw().min(self.bw_shortterm)
    }

    /// `BBRBDPMultiple`.
    pub(super) fn bdp_multiple(&self, gain: f64) -> f64 {
        if self.min_rtt == Span::MAX { self.initial_window } else { gain * bdp(self.bw(), self.min_rtt) }
    }

    /// `BBRInflight`: with room for what is released at once.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_room(self.bdp_multiple(gain))
    }

    /// `BBRQuantizationBudget`.
    fn with_room(&self, inflight: f64) -> f64 {
        let room = 3.0 * f64::from(SEND_QUANTUM);
        match self.version.rules {
            Rules::Two if self.state == State::ProbeBwUp => inflight.max(room) + 2.0,
            Rules::Two => inflight.max(room),
            Rules::Three { .. } => inflight + room,
        }
    }

    /// `BBRInflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.config.headroom * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    /// `IsInflightTooHigh`, by losses or marks.
    pub(super) fn is_inflight_too_high(&self, rate: &RateSample) -> bool {
        self.marks.too_many || self.are_losses_too_many(rate)
    }

    /// More was lost of a flight than may be.
    pub(super) fn are_losses_too_many(&self, rate: &RateSample) -> bool {
        f64::from(rate.lost) > f64::from(rate.in_flight_when_sent) * self.config.loss_threshold
    }

    /// `BBRAdaptLowerBoundsFromCongestion`.
    pub(super) fn adapt_lower_bounds_from_congestion(&mut self) {
        let probing = matches!(self.state, State::Startup | State::ProbeBwRefill | State::ProbeBwUp);
        if probing || !(self.loss_in_round || self.marks.in_round) {
            return;
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        let marked = if self.marks.in_round { self.marks.cut() * self.inflight_shortterm } else { f64::INFINITY };
        if self.loss_in_round {
            self.lower_bounds_after_losses();
        }
        self.inflight_shortterm = self.inflight_shortterm.min(marked);
    }

    /// `BBRLossLowerBounds`.
    fn lower_bounds_after_losses(&mut self) {
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw();
        }
        self.bw_shortterm = self.bw_latest.max(self.config.beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(self.config.beta * self.inflight_shortterm);
    }

    /// `BBRResetShortTermModel`.
    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// `BBRSetCwnd`.
    pub(super) fn set_cwnd(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked);
        let starts = self.rounds.round_start && ack.rate.is_some();
        let (window, settled) = self.recovery.modulate_cwnd(ack, ack.rate.as_ref(), starts, self.cwnd);
        self.cwnd = window;
        if !settled {
            let product = self.bdp_multiple(self.gains().1);
            let target = match self.version.rules {
                Rules::Two => self.with_room(product + self.extra_acked.room(self.bw())),
                Rules::Three { .. } => self.with_room(product) + self.extra_acked.room(self.bw()),
            };
            self.cwnd = cwnd_after(self.cwnd, acked, target, self.full_bw_reached);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// `BBRBoundCwndForModel`.
    fn bound_cwnd_for_model(&mut self) {
        let bound = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.inflight_longterm,
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.inflight_shortterm).max(MIN_PIPE_CWND);
        self.cwnd = self.cwnd.min(bound);
    }
}
