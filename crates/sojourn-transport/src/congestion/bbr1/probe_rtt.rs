//! The shortest round trip, and the state ProbeRTT, which keeps four segments in the network to measure it.
//!
//! Source: Linux 6.12 `bbr_update_min_rtt`. draft-cardwell-iccrg-bbr-congestion-control-00 differs: a sample equal to the shortest round
//! trip renews it, and so puts the probe off.
//! Deviations: those of the parent module.

use super::super::bbr_model::{MIN_PIPE_CWND, rtt_sample};
use super::{Bbr1, State};
use crate::congestion::{Ack, RateSample, whole};

impl Bbr1 {
    /// Linux `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.began && ack.now.saturating_since(self.min_rtt_stamp) > self.config.round_trip_window;
        if let Some(sample) = rtt_sample(ack)
            && (sample < self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_stamp) = (sample, ack.now);
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.recovery.save_cwnd(self.cwnd);
            self.probe_rtt.begin();
        }
        if self.state == State::ProbeRtt
            && let Some(rate) = &ack.rate
        {
            self.limit_samples(rate);
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

    /// Samples of what is sent during the probe say nothing of the path, as if the application limited them; nor do those of what is sent
    /// until all in the network now is delivered.
    fn limit_samples(&mut self, rate: &RateSample) {
        let delivered = rate.delivered_in_total.0;
        let start = if self.limited.contains(&delivered) { self.limited.start } else { delivered };
        let in_flight = u64::from(rate.in_flight) * u64::from(whole(self.segment));
        self.limited = start..delivered + in_flight + 1;
    }
}
