//! The shortest round trip, and the state ProbeRTT, which keeps little in the network to measure it.
//!
//! Source: draft-ietf-ccwg-bbr section 5.3.4.
//! Deviations: those of the parent module.

use super::super::bbr_model::{MIN_PIPE_CWND, rtt_sample};
use super::{AckPhase, Bbr3, PROBE_RTT_CWND_GAIN, State};
use crate::congestion::{Ack, RateSample};
use sojourn_base::Span;

/// How long a shortest round trip is believed (`BBR.MinRTTFilterLen`).
const MIN_RTT_FILTER_LEN: Span = Span::from_s(10);

impl Bbr3 {
    /// `BBRUpdateMinRTT`; returns whether it is time to probe (`BBR.probe_rtt_expired`).
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) -> bool {
        let expired = self.began && ack.now.saturating_since(self.probe_rtt_min_stamp) > self.config.probe_interval;
        if let Some(sample) = rtt_sample(ack)
            && (sample < self.probe_rtt_min_delay || expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (sample, ack.now);
        }
        let old = ack.now.saturating_since(self.min_rtt_stamp) > MIN_RTT_FILTER_LEN;
        if self.probe_rtt_min_delay < self.min_rtt || old {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
        expired
    }

    /// `BBRCheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, expired: bool) {
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.recovery.save_cwnd(self.cwnd);
            self.probe_rtt.begin();
            self.ack_phase = AckPhase::ProbeStopping;
        }
        if self.state == State::ProbeRtt
            && let Some(rate) = &ack.rate
            && self.probe_rtt.on_ack(ack, self.probe_rtt_cwnd(), &mut self.rounds)
        {
            self.probe_rtt_min_stamp = ack.now;
            self.cwnd = self.cwnd.max(self.recovery.prior_cwnd());
            self.exit_probe_rtt(ack, rate);
        }
    }

    /// `BBRExitProbeRTT`.
    fn exit_probe_rtt(&mut self, ack: &Ack, rate: &RateSample) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(ack.now, rate);
            self.state = State::ProbeBwCruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// `BBRProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(PROBE_RTT_CWND_GAIN).max(MIN_PIPE_CWND)
    }
}
