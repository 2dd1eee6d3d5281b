//! The states of ProbeBW: down, cruise, refill, up; and the bound that losses in a probe teach.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.3.3 (states) and 5.5.10 (long-term bound).
//! Deviations: those of the parent module.

use super::{AckPhase, Bbr3, LEAST_WAIT, PROBE_BW_UP_PACING_GAIN, Rules, State};
use crate::congestion::{Ack, RateSample};
use sojourn_base::{Instant, Span};

/// Chance adds up to this to [`LEAST_WAIT`] (`BBRPickProbeWait`).
const CHANCE_OF_WAIT_MS: u64 = 1000;
/// Rounds between probes of the rate, at most, so that Reno flows of up to this many segments get their turn
/// (`BBRIsRenoCoexistenceProbeTime`).
const RENO_ROUNDS: f64 = 63.0;
/// Doublings of the step of a probe, at most.
const DOUBLINGS: u32 = 30;

impl Bbr3 {
    /// `BBRAdaptLongTermModel`; returns whether that has decided on the next state (version 2).
    pub(super) fn adapt_long_term_model(&mut self, ack: &Ack, rate: &RateSample, sample: f64) -> bool {
        if self.rounds.round_start {
            match self.ack_phase {
                AckPhase::ProbeStarting => self.ack_phase = AckPhase::ProbeFeedback,
                AckPhase::ProbeStopping => {
                    self.ack_phase = AckPhase::Init;
                    self.bw_probe_samples = false;
                    if self.is_in_a_probe_bw_state() && !rate.application_limited {
                        self.max_bw_filter = [0.0, self.max_bw_filter[0]];
                        self.max_bw_filter[0] = self.max_bw_filter[0].max(sample);
                    }
                    if self.is_in_a_probe_bw_state() && self.stopped_at_the_bound && !self.last_probe_too_high {
                        self.start_probe_bw_refill(rate, 0);
                        return true;
                    }
                }
                _ => {}
            }
        }
        let sent = f64::from(rate.in_flight_when_sent);
        if self.is_inflight_too_high(rate) {
            if self.bw_probe_samples {
                self.bw_probe_samples = false;
                self.last_probe_too_high = true;
                if !rate.application_limited {
                    let target = self.bdp_multiple(1.0).min(self.cwnd);
                    self.inflight_longterm = sent.max(self.config.beta * target);
                }
                if self.state == State::ProbeBwUp {
                    self.start_probe_bw_down(ack.now, rate);
                }
            }
        } else if self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(sent);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward(ack, rate);
            }
        }
        false
    }

    /// `BBRProbeInflightLongtermUpward`.
    fn probe_inflight_longterm_upward(&mut self, ack: &Ack, rate: &RateSample) {
        if !rate.window_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acks += f64::from(ack.acked);
        while self.bw_probe_up_acks >= self.probe_up_cnt {
            self.bw_probe_up_acks -= self.probe_up_cnt;
            self.inflight_longterm += 1.0;
        }
        if self.rounds.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `BBRRaiseInflightLongtermSlope`.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(DOUBLINGS);
        self.probe_up_cnt = (self.cwnd / growth).max(1.0);
    }

    /// `BBRUpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, ack: &Ack, rate: &RateSample, sample: f64) {
        let pipe = f64::from(rate.in_flight);
        match self.state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe_anew(ack) => {
                self.start_probe_bw_refill(rate, self.rounds_of_half_the_bound());
            }
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe_bw(ack.now) => {
                self.start_probe_bw_refill(rate, 0);
            }
            State::ProbeBwDown if pipe <= self.inflight_with_headroom().min(self.inflight(1.0)) => {
                self.state = State::ProbeBwCruise;
            }
            State::ProbeBwRefill if self.rounds.round_start => {
                self.start_probe_bw_up(ack, rate, sample);
            }
            State::ProbeBwUp if self.version.rules == Rules::Two => {
                let lasted = ack.now.saturating_since(self.cycle_stamp);
                let at_the_bound = self.last_probe_too_high && pipe >= self.inflight_longterm;
                let queues = lasted > self.min_rtt && pipe >= self.inflight(PROBE_BW_UP_PACING_GAIN);
                if at_the_bound || queues {
                    self.stopped_at_the_bound |= at_the_bound;
                    self.last_probe_too_high = false;
                    self.start_probe_bw_down(ack.now, rate);
                }
            }
            State::ProbeBwUp => {
                if rate.window_limited && self.cwnd >= self.inflight_longterm {
                    self.full_bw_now = false;
                    self.full_bw.reset(sample);
                } else if self.full_bw_now {
                    self.start_probe_bw_down(ack.now, rate);
                }
            }
            _ => {}
        }
    }

    /// `BBRStartProbeBW_DOWN`.
    pub(super) fn start_probe_bw_down(&mut self, now: Instant, rate: &RateSample) {
        self.reset_congestion_signals();
        self.probe_up_cnt = f64::INFINITY;
        self.rounds_since_bw_probe = u32::from(self.dice.roll(2) == 1);
        self.bw_probe_wait = LEAST_WAIT + Span::from_ms(self.dice.roll(CHANCE_OF_WAIT_MS));
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(rate);
        self.state = State::ProbeBwDown;
    }

    /// `BBRResetCongestionSignals`.
    pub(super) const fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.loss_in_cycle) = (false, false);
        (self.marks.in_round, self.marks.in_cycle) = (false, false);
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// `BBRStartProbeBW_REFILL`; the first step of the probe is two to the power of `rounds`.
    fn start_probe_bw_refill(&mut self, rate: &RateSample, rounds: u32) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acks) = (rounds, 0.0);
        self.stopped_at_the_bound = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(rate);
        self.state = State::ProbeBwRefill;
    }

    /// `BBRStartProbeBW_UP`.
    fn start_probe_bw_up(&mut self, ack: &Ack, rate: &RateSample, sample: f64) {
        self.bw_probe_samples = true;
        self.state = State::ProbeBwUp;
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(rate);
        self.full_bw_now = false;
        self.full_bw.reset(sample);
        self.cycle_stamp = ack.now;
        self.raise_inflight_longterm_slope();
    }

    /// There were marks and no losses in this cycle: who made them may be gone (Linux `bbr_check_time_to_probe_bw`).
    fn is_time_to_probe_anew(&self, ack: &Ack) -> bool {
        let at_once = Rules::Three { reprobes_after_marks: true };
        self.version.rules == at_once && self.marks.in_cycle && !self.loss_in_cycle && ack.open
    }

    /// The power of two that is half of the bound at most.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` clamps, and bounds are positive")]
    fn rounds_of_half_the_bound(&self) -> u32 {
        let half = (self.inflight_longterm / 2.0).max(1.0) as u32;
        half.ilog2().min(DOUBLINGS)
    }

    /// `BBRIsTimeToProbeBW`.
    fn is_time_to_probe_bw(&self, now: Instant) -> bool {
        let reno = self.bdp_multiple(1.0).min(self.cwnd).min(RENO_ROUNDS);
        now.saturating_since(self.cycle_stamp) > self.bw_probe_wait || f64::from(self.rounds_since_bw_probe) >= reno
    }
}
