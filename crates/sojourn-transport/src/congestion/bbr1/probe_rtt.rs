//! The shortest round trip, and the state ProbeRTT, which keeps four segments in the network to measure it.
//!
//! Source: Linux `bbr_update_min_rtt`.
//! Deviations: those of the parent module.

use super::super::bbr_model::{MIN_PIPE_CWND, rtt_sample};
use super::{Bbr1, State};
use crate::congestion::Ack;

impl Bbr1 {
    /// Linux `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.began && ack.now.saturating_since(self.min_rtt_stamp) > self.config.round_trip_window;
        if let Some(sample) = rtt_sample(ack)
            && (sample <= self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_stamp) = (sample, ack.now);
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.recovery.save_cwnd(self.cwnd);
            self.probe_rtt.begin();
        }
        if self.state == State::ProbeRtt && self.probe_rtt.on_ack(ack, MIN_PIPE_CWND, &mut self.rounds) {
            self.min_rtt_stamp = ack.now;
            self.cwnd = self.cwnd.max(self.recovery.prior_cwnd());
            if self.full_bw_reached {
                self.start_probe_bw(ack.now);
            } else {
                self.state = State::Startup;
            }
        }
    }
}
