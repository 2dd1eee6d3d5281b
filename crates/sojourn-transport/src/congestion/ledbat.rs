//! LEDBAT: use what others leave, by steering the queueing delay of the forward path to a target.
//!
//! Source: RFC 6817 section 2.4.2 (pseudocode) and 2.5 (parameters).
//! Units: windows in segments.
//! Deviations: slow start at the beginning of a connection is on, as the document permits; it ends
//! at the first loss or at three quarters of the target.

use super::reno::half_of_threshold;
use super::{Ack, AnyController, Congestion, CongestionControl, Connection, ControllerKind, Window};
use sojourn_base::QueueingDelay;
use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of LEDBAT: the largest target and gain that the standard permits.
    #[derive(Copy)]
    pub struct LedbatConfig: "ledbat", "LEDBAT (RFC 6817)" {
        /// queueing delay that the flow steers to
        target: Span = Span::from_ms(100), origin("RFC 6817 §2.5").least("1 us").most("100 ms");
        /// segments of growth per round trip without queueing
        gain: f64 = 1.0, origin("RFC 6817 §2.5").least("0.000001").most("1");
    }
}

/// The history of delays stands apart: it would make the congestion control of every connection half as long again,
/// and hundreds of them shall fit into a cache.
impl ControllerKind for LedbatConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(Ledbat::new(*self))
    }
}

/// State of LEDBAT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledbat {
    config: LedbatConfig,
    delay: QueueingDelay,
    slow_start: bool,
}

/// Minutes of base history (`BASE_HISTORY`).
const BINS: usize = 10;
/// Acknowledgements in the current filter (`CURRENT_FILTER`).
const SAMPLES: usize = 4;
/// Segments beyond what is outstanding (`ALLOWED_INCREASE`).
const ALLOWED_INCREASE: f64 = 1.0;
/// `MIN_CWND`.
const MINIMUM_WINDOW: f64 = 2.0;
/// Part of the target at which slow start ends. chosen: that of LEDBAT++
/// (draft-irtf-iccrg-ledbat-plus-plus section 4.2).
const SLOW_START_PART: f64 = 0.75;

impl Ledbat {
    pub(crate) const fn new(config: LedbatConfig) -> Self {
        Self { config, delay: QueueingDelay::new(BINS, SAMPLES), slow_start: true }
    }

    fn part_of_target(&self) -> Option<f64> {
        let queueing = self.delay.get()?;
        Some(queueing.as_secs_f64() / self.config.target.as_secs_f64())
    }
}

impl CongestionControl for Ledbat {
    /// Follow the delay, and leave the first slow start if it has risen. LEDBAT bounds itself by what is outstanding,
    /// and shrinks whether the window was used or not.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(delay) = ack.one_way_delay {
            self.delay.sample(ack.now, delay);
            let part = self.part_of_target();
            if self.slow_start && part.is_some_and(|part| part > SLOW_START_PART) {
                self.slow_start = false;
                window.threshold = window.threshold.min(window.size);
            }
        }
        if ack.may_change && !ack.may_grow && !self.in_slow_start(window) {
            self.on_congestion_avoidance(ack.acked, ack, window);
        }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        let Some(part) = self.part_of_target() else {
            return;
        };
        let change = self.config.gain * (1.0 - part) * f64::from(acked) / window.size;
        let allowed = f64::from(ack.flight_before) + ALLOWED_INCREASE;
        window.size = (window.size + change).min(allowed).max(MINIMUM_WINDOW);
        // A window that yields does not come back by slow start.
        window.threshold = window.threshold.min(window.size);
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        self.slow_start = false;
        event.base / 2.0
    }

    fn recovery_floor(&self, window: &Window) -> f64 {
        half_of_threshold(window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::ack_at;
    use super::*;
    use sojourn_base::Instant;

    /// One acknowledgement with queueing delay `ms`, from window 10; the change of the window.
    fn change(ms: u64, flight_before: u32) -> f64 {
        let mut ledbat = Ledbat::new(LedbatConfig::BASE);
        ledbat.delay.sample(Instant::ZERO, Span::from_ms(30));
        for _ in 0..SAMPLES {
            ledbat.delay.sample(Instant::ZERO, Span::from_ms(30 + ms));
        }
        let mut window = Window { size: 10.0, threshold: 2.0 };
        let ack = Ack { flight_before, ..ack_at(Instant::ZERO, 1) };
        ledbat.on_congestion_avoidance(1, &ack, &mut window);
        window.size - 10.0
    }

    #[test]
    fn change_per_acknowledgement() {
        for (ms, expected) in [(0, 0.1), (25, 0.075), (50, 0.05), (100, 0.0), (150, -0.05), (300, -0.2)] {
            let got = change(ms, 10);
            assert!((got - expected).abs() < 1e-12, "{got} at {ms} ms");
        }
    }

    #[test]
    fn the_window_does_not_outgrow_what_is_outstanding() {
        assert!((change(0, 7) + 2.0).abs() < 1e-12, "7 outstanding allow 8");
    }

    #[test]
    fn a_window_that_yields_does_not_come_back_by_slow_start() {
        let mut ledbat = Ledbat::new(LedbatConfig::BASE);
        ledbat.delay.sample(Instant::ZERO, Span::from_ms(30));
        for _ in 0..SAMPLES {
            ledbat.delay.sample(Instant::ZERO, Span::from_ms(330));
        }
        let mut window = Window { size: 10.0, threshold: 10.0 };
        let ack = Ack { flight_before: 10, ..ack_at(Instant::ZERO, 1) };
        ledbat.on_congestion_avoidance(1, &ack, &mut window);
        assert!(window.size < 10.0 && window.threshold <= window.size);
    }

    #[test]
    fn slow_start_ends_at_three_quarters_of_the_target() {
        for (ms, ends) in [(75, false), (76, true)] {
            let mut ledbat = Ledbat::new(LedbatConfig::BASE);
            let mut window = Window { size: 10.0, threshold: f64::INFINITY };
            for sample in [0, ms, ms, ms, ms] {
                let ack = Ack { one_way_delay: Some(Span::from_ms(sample)), ..ack_at(Instant::ZERO, 1) };
                ledbat.on_ack(&ack, &mut window);
            }
            assert_eq!(window.threshold.is_finite(), ends, "{ms} ms");
        }
    }
}
