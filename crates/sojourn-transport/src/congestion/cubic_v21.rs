//! CUBIC as Linux 2.6.22 had it and ns-2.35 still has it: integers, a millisecond clock, and a
//! counter of acknowledgements per segment of growth.
//!
//! Source: behaviour of ns-2.35 `tcp/linux/src/tcp_cubic.c` (CUBIC v2.1); the curve is that of
//! Rhee and Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", 2005.
//! Units: windows in segments, time in ticks of 1/1024 s on a clock of 1 kHz. A delay is the truncated
//! time less the rounded echo, so it may come out 1 ms short.
//! Deviations: the cube root is exact instead of 0.2 % off.

use super::{Ack, Cause, Congestion, CongestionControl, Window, whole};
use sojourn_base::{Instant, math};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of CUBIC v2.1 (Linux 2.6.22.6, ns-2.35 `tcp_cubic.c`).
    #[derive(Copy, Eq)]
    pub struct CubicV21Config: "cubic-v21", "CUBIC v2.1 (Linux 2.6.22, ns-2.35)" {
        /// multiplicative decrease in 1/1024
        ///
        /// 819 in v2.1, 717 from v2.2 on.
        beta: u32 = 819, origin("ns-2.35 tcp_cubic.c").least("1").most("1023");
    }
}

/// State of CUBIC v2.1.
#[derive(Clone, Copy, Debug)]
pub struct CubicV21 {
    config: CubicV21Config,
    /// Acknowledgements per segment of growth, and how many have passed.
    count: u32,
    passed: u32,
    /// Window at the last loss, reduced further by fast convergence.
    last_maximum: u32,
    had_loss: bool,
    /// Window and time in ms of the last computation.
    computed: (u32, u64),
    epoch: Option<Epoch>,
    /// Smallest round-trip time in eighths of a ms; 0 before the first sample.
    minimum_delay: u64,
    /// Segments per acknowledgement in 1/16.
    delayed_ack: i32,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Start in ms.
    start: u64,
    /// Window at which the curve is flat.
    origin: u32,
    /// Ticks until it is reached.
    k: u64,
    acks: u32,
    /// The window of a Reno flow in the same place.
    reno: u32,
}

/// Scale of `beta` and of the curve.
pub(super) const SCALE: u32 = 1024;
/// 1024 C; `bic_scale` (41) times ten.
const CURVE: u64 = 410;
/// log2 of ticks per second.
pub(super) const TICK_SHIFT: u32 = 10;
/// Cube of the ticks in which the curve climbs one segment from or to its origin (`cube_factor`).
pub(super) const CUBE_OF_TICKS: u64 = (1 << (TICK_SHIFT + 3 * TICK_SHIFT)) / CURVE;
/// The growth is computed at most once in this many ms while the window stands still.
pub(super) const REFRESH: u64 = 31;
/// Segments per 100 ms that growth above the origin may reach (`max_increment`).
const MAXIMUM_INCREMENT: u64 = 16;
/// Acknowledgements per segment of growth before the first loss.
const COUNT_BEFORE_LOSS: u32 = 50;
/// Delay samples within this many ms of an epoch's start do not count.
const SETTLING: u64 = 1000;

impl CubicV21 {
    pub(crate) const fn new(config: CubicV21Config) -> Self {
        Self {
            config,
            count: 0,
            passed: 0,
            last_maximum: 0,
            had_loss: false,
            computed: (0, 0),
            epoch: None,
            minimum_delay: 0,
            delayed_ack: 2 << 4,
        }
    }

    fn update(&mut self, now: u64, cwnd: u32) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acks += 1;
        }
        if self.computed.0 == cwnd && now - self.computed.1 <= REFRESH {
            return;
        }
        self.computed = (cwnd, now);
        let last_maximum = self.last_maximum;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            origin: last_maximum.max(cwnd),
            k: ticks_to_origin(last_maximum.saturating_sub(cwnd)),
            acks: 1,
            reno: cwnd,
        });

        let t = ((now + self.minimum_delay / 8 - epoch.start) << TICK_SHIFT) / 1000;
        let mut count = count_by_curve(epoch.origin, t, epoch.k, cwnd);
        if let Some(slowest) = (u64::from(cwnd) * 8000).checked_div(10 * MAXIMUM_INCREMENT * self.minimum_delay)
            && t >= epoch.k
        {
            count = count.max(u32::try_from(slowest).unwrap_or(u32::MAX));
        }
        if !self.had_loss {
            count = COUNT_BEFORE_LOSS;
        }
        if let Some(fewer) = count_by_reno(&mut epoch.acks, &mut epoch.reno, cwnd, self.config.beta) {
            count = count.min(fewer);
        }
        let delayed_ack = u32::try_from(self.delayed_ack).unwrap_or(1).max(1);
        self.count = ((count << 4) / delayed_ack).max(1);
    }
}

impl CongestionControl for CubicV21 {
    /// Linux 2.6.22 grows by slow start up to and including the threshold.
    fn in_slow_start(&self, window: &Window) -> bool {
        window.size <= window.threshold
    }

    /// Delay and segments per acknowledgement, whether the window may grow or not.
    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        if ack.acked == 0 || !ack.open {
            return;
        }
        // The division by 16 truncates: once at 31/16, the estimate stays there for one segment per
        // acknowledgement.
        self.delayed_ack += i32::try_from(ack.acked).unwrap_or(i32::MAX / 2) - (self.delayed_ack >> 4);
        let settling = self.epoch.is_some_and(|epoch| milliseconds(ack.now) - epoch.start < SETTLING);
        if let Some(sample) = ack.round_trip
            && !settling
        {
            // The clock truncates, the echoed time stamp is rounded.
            let echo_us = (ack.now.as_ns() - sample.as_ns()) / 1000;
            let delay = milliseconds(ack.now).saturating_sub((echo_us + 500) / 1000);
            let delay = (8 * delay).max(1);
            if self.minimum_delay == 0 || delay < self.minimum_delay {
                self.minimum_delay = delay;
            }
        }
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, ack: &Ack, window: &mut Window) {
        self.update(milliseconds(ack.now), window.whole());
        if self.passed >= self.count {
            window.size += 1.0;
            self.passed = 0;
        } else {
            self.passed += 1;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        let (base, cwnd, beta) = (whole(event.base), window.whole(), self.config.beta);
        self.last_maximum = if cwnd < self.last_maximum { cwnd * (SCALE + beta) / (2 * SCALE) } else { cwnd };
        self.had_loss = true;
        self.epoch = None;
        self.passed = 0;
        if event.cause == Cause::Timeout {
            *self = Self::new(self.config);
        }
        f64::from(base * beta / SCALE)
    }
}

/// Acknowledgements per segment of growth towards the curve at `t`, in ticks of the epoch; the curve is flat at `k`, at `origin`.
pub(super) fn count_by_curve(origin: u32, t: u64, k: u64, cwnd: u32) -> u32 {
    // Beyond 2^16 ticks (64 s) the curve is off any window; the limit keeps 64 bits enough.
    let offset = t.abs_diff(k).min(1 << 16);
    let distance = (CURVE * offset * offset * offset) >> (TICK_SHIFT + 3 * TICK_SHIFT);
    let distance = i64::try_from(distance).unwrap_or(i64::MAX);
    let origin = i64::from(origin);
    let target = if t < k { origin - distance } else { origin + distance };
    match u32::try_from(target - i64::from(cwnd)) {
        Ok(above) if above > 0 => cwnd / above,
        _ => cwnd.saturating_mul(100),
    }
}

/// Lets `reno`, the window of a Reno flow in the same place, grow by what `acks` hold, and returns the acknowledgements per segment
/// of growth that lead to it within a round trip; `None` if it is not larger.
pub(super) fn count_by_reno(acks: &mut u32, reno: &mut u32, cwnd: u32, beta: u32) -> Option<u32> {
    let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta);
    let per_segment = (cwnd.saturating_mul(scale) >> 3).max(1);
    let grown = acks.saturating_sub(1) / per_segment;
    *acks -= grown * per_segment;
    *reno += grown;
    cwnd.checked_div(reno.saturating_sub(cwnd))
}

/// Ticks for which the curve climbs `distance` segments to its origin.
fn ticks_to_origin(distance: u32) -> u64 {
    u64::from(whole(math::cbrt((CUBE_OF_TICKS * u64::from(distance)) as f64)))
}

pub(super) const fn milliseconds(now: Instant) -> u64 {
    now.as_ns() / 1_000_000
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole segments are exact")]
mod tests {
    use super::super::testing::{ack_at, congestion};
    use super::*;
    use sojourn_base::Span;

    fn lost_at(beta: u32, losses: &[u32]) -> (CubicV21, f64) {
        let mut cubic = CubicV21::new(CubicV21Config { beta });
        let mut threshold = 0.0;
        for &loss in losses {
            let window = Window { size: f64::from(loss), threshold: 2.0 };
            let event = congestion(window.size, Cause::Loss);
            threshold = cubic.on_congestion(&event, &window);
        }
        (cubic, threshold)
    }

    #[test]
    fn threshold_and_origin_in_integers() {
        for (beta, threshold, second) in [(819, 79.0, 71), (717, 70.0, 68)] {
            assert_eq!(lost_at(beta, &[100]).1, threshold);
            assert_eq!(lost_at(beta, &[100, 80]).0.last_maximum, second);
        }
    }

    #[test]
    fn time_to_the_origin() {
        // From 79 to 100 segments in 3.743 s.
        let seconds = ticks_to_origin(21) as f64 / 1024.0;
        assert!((seconds - 3.743).abs() < 1e-3, "{seconds}");
    }

    #[test]
    fn the_window_follows_the_curve_back_to_its_origin() {
        let (mut cubic, threshold) = lost_at(819, &[100]);
        let mut window = Window { size: threshold, threshold };
        // 100 ms per round trip: one acknowledgement per segment of the window.
        let mut reached = None;
        for round in 0..80_u64 {
            let per_round = u64::from(window.whole());
            for k in 0..per_round {
                let now = Instant::from_us(1_000_000 + round * 100_000 + k * 100_000 / per_round);
                let ack = Ack { round_trip: Some(Span::from_ms(100)), ..ack_at(now, 1) };
                cubic.on_ack(&ack, &mut window);
                cubic.on_congestion_avoidance(1, &ack, &mut window);
            }
            if reached.is_none() && window.size >= 99.0 {
                reached = Some(round);
            }
        }
        // The curve, rounded towards its origin and looked at one round trip ahead, says 99 from
        // K - (2/0.4004)^(1/3) - 0.1 = 3.743 - 1.709 - 0.1 = 1.934 s on.
        assert_eq!(reached, Some(19));
        // After 8 s the curve is 0.4004 x (8.1 - 3.743)³ = 33 segments above the origin.
        assert!((131..=133).contains(&window.whole()), "{window:?}");
    }

    #[test]
    fn before_the_first_loss_growth_takes_fifty_counted_acknowledgements() {
        let mut cubic = CubicV21::new(CubicV21Config { beta: 819 });
        let mut window = Window { size: 100.0, threshold: 50.0 };
        for _ in 0..10 {
            cubic.on_ack(&ack_at(Instant::ZERO, 1), &mut window);
        }
        assert_eq!(cubic.delayed_ack, 31);
        cubic.update(5000, window.whole());
        assert_eq!(cubic.count, 50 * 16 / 31);
    }

    #[test]
    fn a_timeout_forgets_everything() {
        let (mut cubic, _) = lost_at(819, &[100]);
        let window = Window { size: 79.0, threshold: 79.0 };
        let event = congestion(79.0, Cause::Timeout);
        assert_eq!(cubic.on_congestion(&event, &window), 63.0);
        assert_eq!((cubic.last_maximum, cubic.had_loss), (0, false));
    }
}
