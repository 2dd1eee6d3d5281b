//! CUBIC: the window as a cubic function of the time since the last loss.
//!
//! Source: RFC 9438: 4.1 to 4.5 (growth), 4.6 (decrease), 4.7 (fast convergence), 4.8 (timeout);
//! Linux since 4.2 for the epoch of an idle flow, and for the growth before the first loss.
//! Units: time in seconds, windows in segments.
//! Deviations: reductions are not undone after a spurious loss (4.9).

use super::{Ack, Cause, Congestion, CongestionControl, Window};
use sojourn_base::{Instant, Span, math};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of CUBIC (RFC 9438).
    #[derive(Copy)]
    pub struct CubicConfig: "cubic", "CUBIC (RFC 9438)" {
        /// multiplicative decrease factor
        beta: f64 = 0.7, origin("RFC 9438 §4.6").least("0.01").most("0.99");
        /// scaling constant in segments/s³
        scale: f64 = 0.4, origin("RFC 9438 §5.1").least("0.000001").most("1000");
        /// never slower than Reno (RFC 9438 §4.3)
        reno_friendly: bool = true, origin("by the stack's name");
        /// release bandwidth to newer flows (RFC 9438 §4.7)
        fast_convergence: bool = true, origin("by the stack's name");
        /// until the first loss, the window grows by at least one segment for this number of acknowledged ones (Linux)
        ///
        /// Linux has 20 (`bictcp_update`): 5 % per round trip while the path's capacity is unknown, where the curve of
        /// RFC 9438 is flat for seconds.
        count_before_loss: Option<u32> = None, origin("RFC 9438 §4.2").or("curve").least("2").most("100000");
    }
}

/// The epoch that begins with the first growth after a reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// Seconds until the curve is back at `w_max`.
    k: f64,
    /// The window of a Reno flow in the same place.
    w_est: f64,
    /// No loss has shown yet what the path holds, or a timeout has come since.
    is_first: bool,
}

/// State of CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    config: CubicConfig,
    /// Zero before the first epoch of a path, and of one after a timeout.
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

impl Cubic {
    pub(crate) const fn new(config: CubicConfig) -> Self {
        Self { config, w_max: 0.0, cwnd_prior: 0.0, epoch: None }
    }

    fn begin(&mut self, now: Instant, cwnd: f64) -> Epoch {
        let is_first = self.w_max <= 0.0;
        let k = if self.w_max > cwnd {
            math::cbrt((self.w_max - cwnd) / self.config.scale)
        } else {
            self.w_max = cwnd;
            0.0
        };
        Epoch { start: now, k, w_est: cwnd, is_first }
    }

    fn curve(&self, t: f64, k: f64) -> f64 {
        let x = t - k;
        self.config.scale * x * x * x + self.w_max
    }
}

impl CongestionControl for Cubic {
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        let cwnd = window.size;
        self.cwnd_prior = cwnd;
        self.w_max = if event.cause == Cause::Timeout {
            // The next epoch begins on its own plateau.
            0.0
        } else if self.config.fast_convergence && cwnd < self.w_max {
            cwnd * f64::midpoint(1.0, self.config.beta)
        } else {
            cwnd
        };
        self.epoch = None;
        self.config.beta * event.base
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        let cwnd = window.size;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(ack.now, cwnd));
        let t = ack.now.saturating_since(epoch.start).as_secs_f64();
        let target = self.curve(t + ack.smoothed.as_secs_f64(), epoch.k).clamp(cwnd, 1.5 * cwnd);
        let acked = f64::from(acked);
        let alpha =
            if epoch.w_est < self.cwnd_prior { 3.0 * (1.0 - self.config.beta) / (1.0 + self.config.beta) } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        if self.config.reno_friendly && self.curve(t, epoch.k) < epoch.w_est {
            window.size = cwnd.max(epoch.w_est);
        } else {
            window.size = cwnd + acked * (target - cwnd) / cwnd;
        }
        if let Some(count) = self.config.count_before_loss
            && epoch.is_first
        {
            window.size = window.size.max(cwnd + acked / f64::from(count));
        }
        self.epoch = Some(epoch);
    }

    /// Time without data does not count.
    fn on_restart(&mut self, idle: Span, _window: &mut Window) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start.saturating_add(idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion};
    use super::*;

    fn reduced_from(w_max: f64) -> (Cubic, Window) {
        let mut cubic = Cubic::new(CubicConfig::BASE);
        let mut window = Window { size: w_max, threshold: 2.0 };
        let event = congestion(w_max, Cause::Loss);
        window.threshold = cubic.on_congestion(&event, &window);
        window.size = window.threshold;
        (cubic, window)
    }

    #[test]
    fn the_curve_after_a_loss_at_100() {
        let (mut cubic, window) = reduced_from(100.0);
        assert!((window.size - 70.0).abs() < 1e-9);
        let epoch = cubic.begin(Instant::ZERO, window.size);
        assert!((epoch.k - 4.2172).abs() < 1e-4, "K = {}", epoch.k);
        for (t, expected) in [
            (0.0, 70.0),
            (0.1, 72.084),
            (0.5, 79.456),
            (1.0, 86.681),
            (2.0, 95.640),
            (3.0, 99.279),
            (epoch.k, 100.0),
            (5.0, 100.192),
            (6.0, 102.267),
            (8.0, 121.653),
        ] {
            let got = cubic.curve(t, epoch.k);
            assert!((got - expected).abs() < 1e-3, "W({t}) = {got}");
        }
    }

    #[test]
    fn a_second_loss_below_the_first_releases_bandwidth() {
        let (mut cubic, mut window) = reduced_from(100.0);
        window.size = 80.0;
        let event = congestion(80.0, Cause::Loss);
        cubic.on_congestion(&event, &window);
        assert!((cubic.w_max - 68.0).abs() < 1e-9, "{}", cubic.w_max);
    }

    #[test]
    fn after_a_timeout_the_next_epoch_starts_on_its_plateau() {
        let (mut cubic, mut window) = reduced_from(100.0);
        let event = congestion(90.0, Cause::Timeout);
        cubic.on_congestion(&event, &window);
        window.size = 45.0;
        let epoch = cubic.begin(Instant::ZERO, window.size);
        assert!(epoch.k.abs() < 1e-12 && (cubic.w_max - 45.0).abs() < 1e-12);
    }

    #[test]
    fn idle_time_does_not_lift_the_curve() {
        let (mut cubic, mut window) = reduced_from(100.0);
        cubic.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
        let mut idle = (cubic, window);
        idle.0.on_restart(Span::from_s(30), &mut idle.1);
        idle.0.on_congestion_avoidance(1, &ack_at(Instant::from_s(31), 1), &mut idle.1);
        cubic.on_congestion_avoidance(1, &ack_at(Instant::from_s(1), 1), &mut window);
        assert!((idle.1.size - window.size).abs() < 1e-12);
    }

    #[test]
    fn before_the_first_loss_linux_grows_by_a_twentieth_of_what_is_acknowledged() {
        let linux = CubicConfig { count_before_loss: Some(20), ..CubicConfig::BASE };
        let grown = |config: CubicConfig, before: &[Cause]| {
            let mut cubic = Cubic::new(config);
            let mut window = Window { size: 100.0, threshold: 100.0 };
            for cause in before {
                cubic.on_congestion(&congestion(100.0, *cause), &window);
            }
            cubic.on_congestion_avoidance(40, &ack_at(Instant::ZERO, 40), &mut window);
            window.size - 100.0
        };
        // 40 of 20 each; RFC 9438 on its plateau: 40/100 of 0.4 x 0.04³ by the curve, of 1/100 by Reno.
        assert!((grown(linux, &[]) - 2.0).abs() < 1e-9);
        assert!(grown(CubicConfig::BASE, &[]) < 0.5);
        assert!(grown(linux, &[Cause::Loss]) < 0.5);
        // After a timeout nothing is known again (Linux `bictcp_reset`).
        assert!((grown(linux, &[Cause::Loss, Cause::Timeout]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn growth_per_round_trip_is_at_most_half_a_window() {
        let (mut cubic, mut window) = reduced_from(100.0);
        cubic.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
        let before = window.size;
        // A minute later the curve is far above: W(60) = 0.4 x 55.8³ + 100 segments.
        cubic.on_congestion_avoidance(1, &ack_at(Instant::from_s(60), 1), &mut window);
        assert!((window.size - before - 0.5).abs() < 1e-9);
    }
}
