//! The queueing delay that a sender sees, where it goes, and what is too much.
//!
//! Source: RFC 8298 sections 4.1.2 (`update_variables`) and 4.1.2.3 (competing flows). RFC 6817 section 2.4.2: delay
//! above the least of ten minutes.
//! Deviations: the lists of the target are filled every 50 ms, too, as in the authors' program; the document does so
//! for those of the trend only. Without variation the coefficient of prediction is 0, not 0/0.

use sojourn_base::{Instant, QueueingDelay, Span};

/// `QDELAY_TARGET_LO` and `QDELAY_TARGET_HI` (RFC 8298 section 4.1.1.1), in s.
const TARGETS: (f64, f64) = (0.1, 0.4);
/// `QDELAY_WEIGHT`, as above.
const WEIGHT: f64 = 0.1;
/// Time between samples of lists (section 4.1.2).
const INTERVAL: Span = Span::from_ms(50);
/// Samples of the trend (section 4.1.1.2), of the variance and of the average of the target (section 4.1.2.3).
const TREND: usize = 20;
const VARIANCE: usize = 200;
const AVERAGE: usize = 50;
/// More losses in round trips than this come from others (section 4.1.2.3).
const LOSSES: f64 = 0.002;
/// A variance above this is a change of the network, as above.
const STEADY: f64 = 0.2;
/// chosen, as in the authors' program: what a round trip counts in the rate of loss events.
const ROUND_WEIGHT: f64 = 0.01;

/// Estimates of a sender from one-way delays.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    /// True if the target rises in competition with flows that fill queues.
    competes: bool,
    above_base: QueueingDelay,
    queueing: f64,
    target: f64,
    average: f64,
    fractions: Recent<TREND>,
    normalised: Recent<VARIANCE>,
    trend: f64,
    remembered: f64,
    loss_rate: f64,
    sampled_at: Option<Instant>,
}

impl Delay {
    pub(super) const fn new(competes: bool) -> Self {
        Self {
            competes,
            // Ten minutes; no smoothing (section 4.1.2).
            above_base: QueueingDelay::new(10, 1),
            queueing: 0.0,
            target: TARGETS.0,
            average: 0.0,
            fractions: Recent::new(),
            normalised: Recent::new(),
            trend: 0.0,
            remembered: 0.0,
            loss_rate: 0.0,
            sampled_at: None,
        }
    }

    /// A packet took so long, as an acknowledgement tells.
    pub(super) fn sample(&mut self, now: Instant, delay: Span) {
        self.above_base.sample(now, delay);
        self.queueing = self.above_base.get().map_or(0.0, Span::as_secs_f64);
        let mut at = self.sampled_at.map_or(now, |at| at + INTERVAL);
        // Samples older than all others do not count.
        for _ in 0..VARIANCE {
            if at > now {
                return;
            }
            self.update();
            self.sampled_at = Some(at);
            at += INTERVAL;
        }
        self.sampled_at = Some(now);
    }

    /// `update_variables`, and then the target.
    fn update(&mut self) {
        let fraction = self.queueing / self.target;
        self.average += WEIGHT * (fraction - self.average);
        self.fractions.push(fraction);
        let coefficient = self.fractions.prediction();
        self.trend = (coefficient * self.average).clamp(0.0, 1.0);
        self.remembered = (0.99 * self.remembered).max(self.trend);
        self.normalised.push(self.queueing / TARGETS.0);
        if self.competes {
            self.adjust_target();
        }
    }

    fn adjust_target(&mut self) {
        let variance = self.normalised.variance();
        let wanted = (self.normalised.average(AVERAGE) + variance.sqrt()) * TARGETS.0;
        self.target = if self.loss_rate > LOSSES {
            1.5 * wanted
        } else if variance < STEADY {
            wanted
        } else if wanted < TARGETS.0 {
            (self.target * 0.5).max(wanted)
        } else {
            self.target * 0.9
        }
        .clamp(TARGETS.0, TARGETS.1);
    }

    /// A round trip is over, with or without a loss.
    pub(super) fn on_round(&mut self, is_loss: bool) {
        let event = if is_loss { 1.0 } else { 0.0 };
        self.loss_rate += ROUND_WEIGHT * (event - self.loss_rate);
    }

    pub(super) const fn trend(&self) -> f64 {
        self.trend
    }

    pub(super) const fn remembered_trend(&self) -> f64 {
        self.remembered
    }

    pub(super) fn is_below_target(&self) -> bool {
        self.queueing <= self.target
    }

    /// How far the delay is from its target, in targets; negative above it.
    pub(super) fn off_target(&self) -> f64 {
        (self.target - self.queueing) / self.target
    }
}

/// The last samples, zeros at first.
#[derive(Clone, Debug)]
struct Recent<const N: usize> {
    samples: [f64; N],
    next: usize,
}

impl<const N: usize> Recent<N> {
    const fn new() -> Self {
        Self { samples: [0.0; N], next: 0 }
    }

    fn push(&mut self, sample: f64) {
        self.samples[self.next] = sample;
        self.next = (self.next + 1) % N;
    }

    /// From the newest to the oldest.
    fn newest(&self) -> impl Iterator<Item = f64> + '_ {
        (1..=N).map(|back| self.samples[(self.next + N - back) % N])
    }

    fn average(&self, count: usize) -> f64 {
        self.newest().take(count).sum::<f64>() / count as f64
    }

    fn variance(&self) -> f64 {
        let average = self.average(N);
        let squares = self.newest().map(|sample| (sample - average) * (sample - average));
        squares.sum::<f64>() / N as f64
    }

    /// Autocorrelation at lag 1 over that at lag 0, without the mean; 0 where nothing varies.
    fn prediction(&self) -> f64 {
        let average = self.average(N);
        let mut previous = None;
        let (mut lag0, mut lag1) = (0.0, 0.0);
        for sample in self.newest().map(|sample| sample - average) {
            lag0 += sample * sample;
            lag1 += previous.unwrap_or(0.0) * sample;
            previous = Some(sample);
        }
        if lag0 > 0.0 { lag1 / lag0 } else { 0.0 }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "clamped and untouched values are exact")]
mod tests {
    use super::*;

    /// After a base of 20 ms, samples 50 ms apart.
    fn after(competes: bool, queueing_ms: impl IntoIterator<Item = u64>) -> Delay {
        let mut delay = Delay::new(competes);
        delay.sample(Instant::ZERO, Span::from_ms(20));
        for (number, ms) in (1..).zip(queueing_ms) {
            delay.sample(Instant::from_ms(50 * number), Span::from_ms(20 + ms));
        }
        delay
    }

    #[test]
    fn the_trend_of_one_step_is_worked_out_by_hand() {
        // Nineteen zeros and a fraction of 0.5: the mean is 0.025. Lag 0: 0.475² + 19 · 0.025² = 0.2375; lag 1:
        // 18 · 0.025² - 0.475 · 0.025 = -0.000625. A falling coefficient is no trend.
        let delay = after(false, [50]);
        assert!((delay.fractions.prediction() + 0.000_625 / 0.2375).abs() < 1e-12);
        assert_eq!(delay.trend(), 0.0);
        assert!((delay.average - 0.05).abs() < 1e-12);
        // A second one: mean 0.05; lag 0: 2 · 0.45² + 18 · 0.05² = 0.45; lag 1: 0.45² - 0.45 · 0.05 + 17 · 0.05² = 0.2225.
        // The average is 0.9 · 0.05 + 0.05 = 0.095.
        let delay = after(false, [50, 50]);
        assert!((delay.trend() - 0.2225 / 0.45 * 0.095).abs() < 1e-12);
        assert_eq!(delay.remembered_trend(), delay.trend());
        let calm = after(false, [50, 50, 0]);
        assert!((calm.remembered_trend() - calm.trend().max(0.99 * delay.trend())).abs() < 1e-12);
    }

    #[test]
    fn a_delay_that_grows_is_seen_before_the_target_is_reached() {
        // 5 ms more every 50 ms: at 60 ms of 100 the trend passes 0.2.
        let delay = after(false, (1..=12).map(|step| step * 5));
        assert!(delay.trend() > 0.2, "{}", delay.trend());
        assert!(delay.is_below_target());
        assert!((delay.off_target() - 0.4).abs() < 1e-9);
    }

    #[test]
    fn a_queue_that_others_fill_raises_the_target_and_a_lone_flow_lowers_it() {
        // 10 s of 200 ms: the variance is 0, the average 2 targets.
        let delay = after(true, [200; 260]);
        assert!((delay.target - 0.2).abs() < 1e-9, "{}", delay.target);
        let unmoved = after(false, [200; 260]);
        assert_eq!(unmoved.target, TARGETS.0);
        // With losses half as much again; no more than 400 ms.
        let mut lossy = after(true, [200; 260]);
        lossy.on_round(true);
        assert!((lossy.loss_rate - 0.01).abs() < 1e-12);
        lossy.update();
        assert!((lossy.target - 0.3).abs() < 1e-9, "{}", lossy.target);
        let deep = after(true, [900; 260]);
        assert_eq!(deep.target, TARGETS.1);
        // A step from 0: 40 of 200 samples at 2 targets have a variance of 0.64, so the target shrinks to its least.
        let changed = after(true, [200; 40]);
        assert_eq!(changed.target, TARGETS.0);
    }

    #[test]
    fn sparse_reports_count_for_the_time_between_them() {
        let mut delay = Delay::new(false);
        delay.sample(Instant::ZERO, Span::from_ms(20));
        delay.sample(Instant::from_ms(400), Span::from_ms(70));
        assert_eq!(delay.fractions.samples.iter().filter(|one| **one > 0.0).count(), 8);
        delay.sample(Instant::from_s(3_600), Span::from_ms(20));
        assert_eq!(delay.sampled_at, Some(Instant::from_s(3_600)));
    }
}
