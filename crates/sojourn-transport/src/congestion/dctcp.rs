//! DCTCP: the window shrinks by as much as there were marks, not by half for any.
//!
//! Source: RFC 8257 section 3.3 (estimator and reduction), 3.4 (growth), 3.5 (losses), 4.2 (gain).
//! Deviations: windows and thresholds keep their fractions. Growth is that of Reno by acknowledged segments. Section 3.4
//! leaves open whether the window grows in the round trip of a reduction; Linux and ns-3 say no, the model behind
//! 2/p says yes, and the equilibrium differs by almost half: it is a parameter.

use super::{Ack, Cause, Congestion, CongestionControl, Requests, Window};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of DCTCP.
    #[derive(Copy)]
    pub struct DctcpConfig: "dctcp", "DCTCP (RFC 8257)" {
        /// weight of a round trip in the estimate of marking
        gain: f64 = 1.0 / 16.0, origin("RFC 8257 §4.2").least("0.0001").most("1");
        /// the estimate before the first round trip
        initial_alpha: f64 = 1.0, origin("RFC 8257 §4.2").most("1");
        /// the window grows in the round trip of a reduction, too
        ///
        /// And by marked acknowledgements.
        grows_while_reduced: bool = false, origin("RFC 8257 §3.4 leaves it open; off in Linux and ns-3");
    }
}

/// State of DCTCP.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    config: DctcpConfig,
    /// Estimated part of bytes that are marked.
    alpha: f64,
    /// Bytes acknowledged, and those of them that were marked, since the observation began.
    bytes_acked: u64,
    bytes_marked: u64,
    /// The observation ends when more than this is acknowledged.
    window_end: u32,
    /// End of the round trip of the last reduction.
    reduced_until: u32,
}

impl Dctcp {
    pub(super) fn new(config: DctcpConfig) -> Self {
        Self { config, alpha: config.initial_alpha, bytes_acked: 0, bytes_marked: 0, window_end: 0, reduced_until: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn requests(&self) -> Requests {
        Requests { fractions: true, growth_with_marks: self.config.grows_while_reduced, ..Requests::NONE }
    }

    /// RFC 8257 section 3.3, steps 1 to 8.
    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        let bytes = u64::from(ack.acked_bytes);
        self.bytes_acked += bytes;
        if ack.marked {
            self.bytes_marked += bytes;
        }
        if ack.first <= self.window_end || self.bytes_acked == 0 {
            return;
        }
        let part = self.bytes_marked as f64 / self.bytes_acked as f64;
        self.alpha = self.alpha * (1.0 - self.config.gain) + self.config.gain * part;
        self.window_end = ack.next;
        (self.bytes_acked, self.bytes_marked) = (0, 0);
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        if self.config.grows_while_reduced || ack.first >= self.reduced_until {
            window.size += f64::from(acked) / window.size;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        match event.cause {
            // Step 9.
            Cause::Mark => {
                self.reduced_until = event.next;
                window.size * (1.0 - self.alpha / 2.0)
            }
            Cause::Loss | Cause::Timeout => event.base / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion};
    use super::*;
    use sojourn_base::Instant;
    use std::vec::Vec;

    const WINDOW: Window = Window { size: 100.0, threshold: 50.0 };

    /// The estimates after round trips of 16 acknowledgements of which `marked` were marked.
    fn estimates(initial_alpha: f64, marked: &[u32]) -> Vec<f64> {
        let config = DctcpConfig { initial_alpha, ..DctcpConfig::BASE };
        let mut dctcp = Dctcp::new(config);
        let mut window = WINDOW;
        let mut first = 0;
        // An observation ends with the first segment above its end, and that one still belongs to it.
        dctcp.window_end = 15;
        let mut round = |marked: u32| {
            for number in 0..16 {
                first += 1;
                let ack = Ack { first, next: first + 15, marked: number < marked, ..ack_at(Instant::ZERO, 1) };
                dctcp.on_ack(&ack, &mut window);
            }
            dctcp.alpha
        };
        marked.iter().map(|&marked| round(marked)).collect()
    }

    #[test]
    fn the_estimate_follows_the_marks() {
        for (initial, marked, expected) in [
            (1.0, [0, 0, 0, 0], [0.9375, 0.878_906, 0.823_975, 0.772_476]),
            (0.0, [8, 0, 4, 16], [0.031_25, 0.029_296_88, 0.043_090_82, 0.102_897_64]),
        ] {
            let got = estimates(initial, &marked);
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() < 1e-6, "{got}, not {expected}");
            }
        }
    }

    #[test]
    fn a_tenth_of_marks_costs_a_twentieth_of_the_window() {
        let config = DctcpConfig { initial_alpha: 0.1, ..DctcpConfig::BASE };
        let mut dctcp = Dctcp::new(config);
        let reduced = dctcp.on_congestion(&congestion(100.0, Cause::Mark), &WINDOW);
        assert!((reduced - 95.0).abs() < 1e-12, "{reduced}");
        let halved = dctcp.on_congestion(&congestion(100.0, Cause::Loss), &WINDOW);
        assert!((halved - 50.0).abs() < 1e-12, "a loss is a loss: {halved}");
    }

    #[test]
    fn nothing_grows_in_the_round_trip_of_a_reduction_unless_it_is_asked_for() {
        for (grows_while_reduced, size) in [(false, 100.01), (true, 100.02)] {
            let config = DctcpConfig { grows_while_reduced, ..DctcpConfig::BASE };
            let mut dctcp = Dctcp::new(config);
            let mut window = WINDOW;
            let event = Congestion { next: 20, ..congestion(100.0, Cause::Mark) };
            dctcp.on_congestion(&event, &window);
            for first in [19, 20] {
                let ack = Ack { first, ..ack_at(Instant::ZERO, 1) };
                dctcp.on_congestion_avoidance(1, &ack, &mut window);
            }
            assert!((window.size - size).abs() < 1e-4, "{}", window.size);
        }
    }
}
