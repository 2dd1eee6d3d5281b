//! CUBIC as Linux 6 has it: integers, a clock of 1 kHz, and a counter of acknowledged segments per segment of growth.
//!
//! Its Reno estimate climbs by 8/15 of a segment per round trip without end, and the window follows a round trip later; RFC 9438 4.3
//! climbs by a whole one beyond the window of the last loss, and jumps to the estimate.
//!
//! Source: Linux 6.12 `tcp_cubic.c` (`bictcp_update`, `cubic_root`, `cubictcp_acked`, `cubictcp_recalc_ssthresh`) and `tcp_cong.c`
//! (`tcp_cong_avoid_ai`).
//! Units: windows in segments, time in jiffies of 1 ms and in ticks of 1/1024 s.
//! Deviations: a round trip is that of a time stamp, where Linux has that of the newest acknowledged segment; 64 s from its origin
//! the curve is flat, where Linux's leaves its 64 bits after 347 s; reductions are not undone.

use super::cubic_v21::{CUBE_OF_TICKS, REFRESH, SCALE, TICK_SHIFT, count_by_curve, count_by_reno, milliseconds};
use super::{Ack, Cause, Congestion, CongestionControl, Window};
use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of CUBIC in Linux 6 (`tcp_cubic.c`, version 2.3).
    #[derive(Copy, Eq)]
    pub struct CubicLinuxConfig: "cubic-linux", "CUBIC (Linux 6, tcp_cubic.c)" {
        /// multiplicative decrease in 1/1024
        beta: u32 = 717, origin("Linux 6.12 tcp_cubic.c").least("1").most("1023");
    }
}

/// State of CUBIC in Linux (`struct bictcp`).
#[derive(Clone, Copy, Debug)]
pub struct CubicLinux {
    config: CubicLinuxConfig,
    /// Acknowledged segments per segment of growth (`cnt`), and how many have passed (`snd_cwnd_cnt`).
    count: u32,
    passed: u32,
    /// Window at the last loss, reduced further by fast convergence; 0 before one, and after a timeout (`last_max_cwnd`).
    last_maximum: u32,
    /// Window and jiffy of the last computation (`last_cwnd`, `last_time`).
    computed: (u32, u64),
    epoch: Option<Epoch>,
    /// Smallest round trip in µs; 0 before the first sample (`delay_min`).
    minimum_delay: u64,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Start in jiffies (`epoch_start`).
    start: u64,
    /// Window at which the curve is flat (`bic_origin_point`).
    origin: u32,
    /// Ticks until it is reached (`bic_K`).
    k: u64,
    /// Acknowledged segments for the next of `reno` (`ack_cnt`).
    acks: u32,
    /// The window of a Reno flow in the same place (`tcp_cwnd`).
    reno: u32,
}

// The clock is that of the kernel that `sojourn linux build` makes, HZ = 1000: `milliseconds` and `REFRESH` (HZ/32) count its jiffies.

/// Acknowledged segments per segment of growth before the first loss, at most: 5 % per round trip.
const COUNT_BEFORE_LOSS: u32 = 20;
/// Acknowledged segments per segment of growth, at least: half a window per round trip.
const LEAST_COUNT: u32 = 2;
/// Round trips within this many jiffies of an epoch's start do not count (HZ).
const SETTLING: u64 = 1000;

impl CubicLinux {
    pub(crate) const fn new(config: CubicLinuxConfig) -> Self {
        Self { config, count: 0, passed: 0, last_maximum: 0, computed: (0, 0), epoch: None, minimum_delay: 0 }
    }

    /// `bictcp_update`.
    fn update(&mut self, now: u64, cwnd: u32, acked: u32) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acks += acked;
            epoch.start = epoch.start.min(now);
        }
        let (last_window, last_time) = self.computed;
        if last_window == cwnd && now - last_time <= REFRESH {
            return;
        }
        let is_same_jiffy = self.epoch.is_some() && now == last_time;
        let last_maximum = self.last_maximum;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            origin: last_maximum.max(cwnd),
            k: cubic_root(CUBE_OF_TICKS * u64::from(last_maximum.saturating_sub(cwnd))),
            acks: acked,
            reno: cwnd,
        });
        if !is_same_jiffy {
            self.computed = (cwnd, now);
            let t = ((now + self.minimum_delay.div_ceil(1000) - epoch.start) << TICK_SHIFT) / 1000;
            self.count = count_by_curve(epoch.origin, t, epoch.k, cwnd);
            if last_maximum == 0 {
                self.count = self.count.min(COUNT_BEFORE_LOSS);
            }
        }
        if let Some(fewer) = count_by_reno(&mut epoch.acks, &mut epoch.reno, cwnd, self.config.beta) {
            self.count = self.count.min(fewer);
        }
        self.count = self.count.max(LEAST_COUNT);
    }
}

impl CongestionControl for CubicLinux {
    /// `cubictcp_acked`.
    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        let is_settling = self.epoch.is_some_and(|epoch| milliseconds(ack.now).saturating_sub(epoch.start) < SETTLING);
        if let Some(sample) = ack.round_trip
            && !is_settling
        {
            let delay = (sample.as_ns() / 1000).max(1);
            if self.minimum_delay == 0 || delay < self.minimum_delay {
                self.minimum_delay = delay;
            }
        }
    }

    /// `tcp_cong_avoid_ai`, after [`Self::update`].
    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        self.update(milliseconds(ack.now), window.whole(), acked);
        if self.passed >= self.count {
            self.passed = 0;
            window.size += 1.0;
        }
        self.passed += acked;
        window.size += f64::from(self.passed / self.count);
        self.passed %= self.count;
    }

    /// `cubictcp_recalc_ssthresh`: from the window, whatever is outstanding; a timeout forgets the path.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        let (cwnd, beta) = (window.whole(), self.config.beta);
        if event.cause == Cause::Timeout {
            *self = Self::new(self.config);
        } else {
            let converges = cwnd < self.last_maximum;
            self.last_maximum = if converges { scaled(cwnd, SCALE + beta, 2 * SCALE) } else { cwnd };
            self.epoch = None;
            self.passed = 0;
        }
        f64::from(scaled(cwnd, beta, SCALE))
    }

    /// Time without data does not count (`CA_EVENT_TX_START`).
    fn on_restart(&mut self, idle: Span, _window: &mut Window) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle.as_ns() / 1_000_000;
        }
    }
}

/// `window` times a fraction, rounded down.
fn scaled(window: u32, part: u32, whole: u32) -> u32 {
    u32::try_from(u64::from(window) * u64::from(part) / u64::from(whole)).unwrap_or(u32::MAX)
}

/// Cube root of `a`: a table for its six highest bits, and one step of Newton's (`cubic_root`); 0.2 % off on average.
#[expect(clippy::cast_possible_truncation, reason = "below 64")]
fn cubic_root(a: u64) -> u64 {
    /// 64 cube roots of `x`, less ten.
    const ROOTS: [u8; 64] = [
        0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176,
        179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224,
        225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
    ];
    let root = |six_bits: u64| u64::from(ROOTS[six_bits as usize]);
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (root(a) + 35) >> 6;
    }
    let thirds = ((bits * 84) >> 8) - 1;
    let x = ((root(a >> (3 * thirds)) + 10) << thirds) >> 6;
    // A third is 341/1024.
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion};
    use super::*;
    use sojourn_base::{Instant, math};

    fn acknowledge(cubic: &mut CubicLinux, window: &mut Window, ms: u64, acked: u32) {
        cubic.on_congestion_avoidance(acked, &ack_at(Instant::from_ms(ms), acked), window);
    }

    fn lose(cubic: &mut CubicLinux, window: &mut Window, cause: Cause) {
        window.size = cubic.on_congestion(&congestion(window.size, cause), window);
    }

    fn reduced_from(sizes: &[u32]) -> (CubicLinux, Window) {
        let mut cubic = CubicLinux::new(CubicLinuxConfig::BASE);
        let mut window = Window { size: 0.0, threshold: 2.0 };
        for &size in sizes {
            window.size = f64::from(size);
            lose(&mut cubic, &mut window, Cause::Loss);
        }
        (cubic, window)
    }

    #[test]
    fn roots_by_the_table_and_one_step() {
        // Below 64: (v[a] + 35) / 64.
        assert_eq!([0, 1, 5, 63].map(cubic_root), [0, 1, 2, 4]);
        // 30 segments of 2,681,735,677 each: 37 bits, so v[a >> 33] = v[9] = 129; 139 x 2^11 / 64 = 4448;
        // (2 x 4448 + a / (4448 x 4447)) x 341 / 1024 = (8896 + 4067) x 341 / 1024 = 4316, where 4317 is exact.
        assert_eq!(CUBE_OF_TICKS, 2_681_735_677);
        assert_eq!(cubic_root(30 * CUBE_OF_TICKS), 4316);
        for a in (1..4000).map(|n| n * n * 100_003) {
            let (root, exact) = (cubic_root(a) as f64, math::cbrt(a as f64));
            assert!((root / exact - 1.0).abs() < 0.01 + 1.0 / exact, "{a}: {root} for {exact}");
        }
    }

    #[test]
    fn a_loss_leaves_717_of_1024_and_a_second_one_below_it_releases_bandwidth() {
        let (cubic, window) = reduced_from(&[100]);
        // 71,700 / 1024 = 70.02.
        assert_eq!((window.whole(), cubic.last_maximum), (70, 100));
        let (cubic, window) = reduced_from(&[100, 80]);
        // 80 x 1741 / 2048 = 68.01; 57,360 / 1024 = 56.02.
        assert_eq!((window.whole(), cubic.last_maximum), (56, 68));
    }

    #[test]
    fn after_a_loss_the_curve_decides() {
        let (mut cubic, mut window) = reduced_from(&[100]);
        cubic
            .on_ack(&Ack { round_trip: Some(Span::from_us(29_500)), ..ack_at(Instant::from_ms(4000), 1) }, &mut window);
        acknowledge(&mut cubic, &mut window, 5000, 1);
        assert_eq!(cubic.epoch.map(|epoch| (epoch.k, epoch.origin)), Some((4316, 100)));
        // 30 jiffies ahead: 30 x 1024 / 1000 = 30 ticks; 410 x 4286³ / 2^40 = 29, so 71, one above the window.
        assert_eq!(cubic.count, 70);
        // A second later: 1030 jiffies, 1054 ticks, 410 x 3262³ / 2^40 = 12, so 88, 18 above it; 70 / 18 = 3.
        acknowledge(&mut cubic, &mut window, 6000, 1);
        assert_eq!(cubic.count, 3);
    }

    #[test]
    fn the_reno_estimate_climbs_by_eight_fifteenths_and_the_window_follows_a_round_trip_later() {
        // On its plateau of 100 segments, ten of them acknowledged each 10 ms. 8 x 1741 / 3 / 307 = 15: the estimate grows with each
        // 187 acknowledged segments, 15/8 of the window.
        let (mut cubic, mut window) = reduced_from(&[100]);
        window.size = 100.0;
        let sizes: std::vec::Vec<u32> = (0..100)
            .map(|n| {
                acknowledge(&mut cubic, &mut window, 5000 + 10 * n, 10);
                window.whole()
            })
            .collect();
        // More than 187 are acknowledged with the nineteenth, at 180 ms; the estimate is looked at each 40 ms, the first multiple of 10 ms
        // beyond HZ/32. At 200 ms the count falls from 10,000 to 100 / (101 - 100), and 200 have passed.
        assert_eq!(sizes[19..22], [100, 101, 101]);
        // 187 + 189 + 191 + 193 + 195 = 955 of 1000.
        assert_eq!(sizes.last(), Some(&105));
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_a_twentieth_and_after_a_timeout_again() {
        let (mut cubic, mut window) =
            (CubicLinux::new(CubicLinuxConfig::BASE), Window { size: 100.0, threshold: 100.0 });
        acknowledge(&mut cubic, &mut window, 1000, 40);
        assert_eq!((window.whole(), cubic.count), (102, 20));
        lose(&mut cubic, &mut window, Cause::Loss);
        acknowledge(&mut cubic, &mut window, 2000, 40);
        assert_eq!(window.whole(), 71, "30 above the window of 71: count 71");
        lose(&mut cubic, &mut window, Cause::Timeout);
        acknowledge(&mut cubic, &mut window, 3000, 40);
        assert_eq!((window.whole(), cubic.count, cubic.minimum_delay), (51, 20, 0));
    }

    #[test]
    fn idle_time_does_not_lift_the_curve() {
        let (mut cubic, mut window) = reduced_from(&[100]);
        acknowledge(&mut cubic, &mut window, 5000, 1);
        let mut idle = (cubic, window);
        idle.0.on_restart(Span::from_s(30), &mut idle.1);
        acknowledge(&mut idle.0, &mut idle.1, 36_000, 1);
        acknowledge(&mut cubic, &mut window, 6000, 1);
        assert_eq!((idle.0.count, idle.1), (cubic.count, window));
    }

    /// The functions of Linux 6.12 themselves, compiled on their own with HZ = 1000: the window at each 10,000th of 200,000 steps.
    #[test]
    fn long_runs_end_as_in_the_functions_of_linux() {
        const WINDOWS: [u32; 20] =
            [121, 149, 491, 184, 265, 516, 849, 4621, 73, 110, 146, 115, 170, 153, 1693, 60, 209, 170, 163, 204];
        let (mut cubic, mut window) = (CubicLinux::new(CubicLinuxConfig::BASE), Window { size: 10.0, threshold: 2.0 });
        let mut seed = 1_u32;
        for step in 1..=200_000_u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw = seed >> 16;
            let ms = 1000 + u64::from(step * 3 / 2);
            let sample = Some(Span::from_us(u64::from(30_000 + draw % 5000)));
            cubic.on_ack(&Ack { round_trip: sample, ..ack_at(Instant::from_ms(ms), 1) }, &mut window);
            if draw % 3001 == 7 {
                lose(&mut cubic, &mut window, Cause::Loss);
            } else if draw % 30_011 == 11 {
                lose(&mut cubic, &mut window, Cause::Timeout);
                window.size = 20.0;
            } else {
                acknowledge(&mut cubic, &mut window, ms, 1 + draw % 3);
            }
            if step % 10_000 == 0 {
                assert_eq!(window.whole(), WINDOWS[step as usize / 10_000 - 1], "step {step}");
            }
        }
    }
}
