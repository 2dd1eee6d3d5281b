//! The rate that the encoder is asked for.
//!
//! Source: RFC 8298 section 4.1.3, its pseudocode to the letter.
//! Units: bits per second, of RTP packets.
//! Deviations: the list of media rates is filled with each interval of 200 ms, 51 of which are more than the 10 s of the
//! document. The authors' program measures a change outside fast increase from the present target; the document does not.

use std::collections::VecDeque;

use sojourn_base::{Instant, Span};

/// `RATE_ADJUST_INTERVAL` (RFC 8298 section 4.1.1.1); throughput is measured as often (section 4.1.3).
const INTERVAL: Span = Span::from_ms(200);
/// `BETA_R`, as above.
const BETA_LOSS: f64 = 0.9;
/// `BETA_ECN`, as above.
const BETA_MARK: f64 = 0.9;
/// `PRE_CONGESTION_GUARD`, as above.
const GUARD: f64 = 0.1;
/// `TX_QUEUE_SIZE_FACTOR`, as above.
const QUEUE_FACTOR: f64 = 1.0;
/// `RTP_QDELAY_TH`, as above, in s.
const QUEUE_DELAY: f64 = 0.02;
/// `TARGET_RATE_SCALE_RTP_QDELAY`, as above.
const QUEUE_SCALE: f64 = 0.95;
/// Media rates that the median is of.
const MEDIA_RATES: usize = 51;

/// Rates of an encoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaRates {
    /// `TARGET_BITRATE_MIN`.
    pub(crate) least: f64,
    /// `TARGET_BITRATE_MAX`.
    pub(crate) most: f64,
    /// `RAMP_UP_SPEED`, in b/s per second.
    pub(crate) ramp_up: f64,
}

/// The target rate, and its inputs.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    pub(super) limits: MediaRates,
    pub(super) target: f64,
    /// `target_bitrate_last_max`.
    last_most: f64,
    adjusted_at: Instant,
    measured_at: Instant,
    /// Bits since then: sent, acknowledged, from the encoder.
    bits: [f64; 3],
    /// These rates in the last interval.
    measured: [f64; 3],
    media: VecDeque<f64>,
}

const SENT: usize = 0;
const ACKNOWLEDGED: usize = 1;
const MEDIA: usize = 2;

impl Rates {
    pub(super) fn new(limits: MediaRates) -> Self {
        Self {
            limits,
            target: limits.least,
            last_most: 1.0,
            adjusted_at: Instant::ZERO,
            measured_at: Instant::ZERO,
            bits: [0.0; 3],
            measured: [0.0; 3],
            media: VecDeque::with_capacity(MEDIA_RATES),
        }
    }

    pub(super) const fn target(&self) -> f64 {
        self.target
    }

    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.bits[SENT] += bytes as f64 * 8.0;
    }

    pub(super) fn on_acknowledged(&mut self, bytes: u64) {
        self.bits[ACKNOWLEDGED] += bytes as f64 * 8.0;
    }

    pub(super) fn on_media(&mut self, bytes: u64) {
        self.bits[MEDIA] += bytes as f64 * 8.0;
    }

    pub(super) fn on_loss(&mut self, now: Instant) {
        self.reduce(now, BETA_LOSS);
    }

    pub(super) fn on_mark(&mut self, now: Instant) {
        self.reduce(now, BETA_MARK);
    }

    /// No more than this can leave.
    pub(super) const fn bound(&mut self, limit: f64) {
        self.target = self.target.min(limit).max(self.limits.least);
    }

    fn reduce(&mut self, now: Instant, factor: f64) {
        self.last_most = self.target;
        self.target = (self.target * factor).max(self.limits.least);
        self.adjusted_at = now;
    }

    /// Follows the network, if it is time to: with the trend of the delay, also as it is remembered, and bits in the
    /// sender's queue.
    pub(super) fn adjust(&mut self, now: Instant, is_fast: bool, (trend, remembered): (f64, f64), queued: f64) {
        self.measure(now);
        if now.saturating_since(self.adjusted_at) < INTERVAL {
            return;
        }
        self.adjusted_at = now;
        let interval = INTERVAL.as_secs_f64();
        let current = self.measured[SENT].max(self.measured[ACKNOWLEDGED]);
        let ramp_up = self.limits.ramp_up.min(self.target / 2.0) * interval;
        let distance = (self.target - self.last_most) / self.last_most * 4.0;
        let scale = (distance * distance).clamp(0.2, 1.0);
        if is_fast {
            self.target += ramp_up * scale;
        } else {
            let mut change = current * (1.0 - GUARD * trend) - QUEUE_FACTOR * queued;
            if change > 0.0 {
                change = (change * scale).min(ramp_up);
            }
            self.target += change;
            // Without a rate the queue's delay is not known; an empty queue has none.
            if queued > QUEUE_DELAY * current {
                self.target *= QUEUE_SCALE;
            }
        }
        let limit = current.max(self.measured[MEDIA]).max(self.median()) * (2.0 - remembered);
        self.target = self.target.min(limit);
        self.target = self.target.max(self.limits.least).min(self.limits.most);
    }

    fn measure(&mut self, now: Instant) {
        let passed = now.saturating_since(self.measured_at);
        if passed < INTERVAL {
            return;
        }
        let seconds = passed.as_secs_f64();
        self.measured = self.bits.map(|bits| bits / seconds);
        self.bits = [0.0; 3];
        self.measured_at = now;
        if self.media.len() == MEDIA_RATES {
            self.media.pop_front();
        }
        self.media.push_back(self.measured[MEDIA]);
    }

    fn median(&self) -> f64 {
        let mut sorted = [0.0; MEDIA_RATES];
        let sorted = &mut sorted[..self.media.len()];
        for (place, rate) in sorted.iter_mut().zip(&self.media) {
            *place = *rate;
        }
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: MediaRates = MediaRates { least: 1e5, most: 2e6, ramp_up: 2e5 };

    /// A stream that has sent 1 Mb/s for a second, and is asked for as much.
    fn at_a_megabit() -> Rates {
        let mut rates = Rates::new(LIMITS);
        rates.target = 1e6;
        for part in 1..=5 {
            rates.on_sent(25_000);
            rates.on_acknowledged(25_000);
            rates.on_media(25_000);
            rates.measure(Instant::from_ms(200 * part));
        }
        rates.adjusted_at = Instant::from_ms(1_000);
        rates
    }

    /// The target an interval later.
    fn adjusted(mut rates: Rates, is_fast: bool, trend: f64, queued: f64) -> f64 {
        rates.on_sent(25_000);
        rates.on_media(25_000);
        rates.adjust(Instant::from_ms(1_200), is_fast, (trend, trend), queued);
        rates.target()
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
    }

    #[test]
    fn it_begins_with_the_least_and_grows_no_faster_than_half_of_itself_in_a_second() {
        let mut rates = Rates::new(LIMITS);
        near(rates.target(), 1e5);
        // Twice the media rate is the limit: 200 kb/s.
        rates.on_media(2_500);
        rates.adjust(Instant::from_ms(200), true, (0.0, 0.0), 0.0);
        near(rates.target(), 1e5 + 5e4 * 0.2);
        // Nothing more from the encoder: once the median knows, the target cannot run away.
        rates.adjust(Instant::from_ms(400), true, (0.0, 0.0), 0.0);
        near(rates.target(), 1.1e5 * 1.1);
        rates.adjust(Instant::from_ms(600), true, (0.0, 0.0), 0.0);
        near(rates.target(), 1e5);
    }

    #[test]
    fn fast_increase_adds_the_ramp_up_speed() {
        near(adjusted(at_a_megabit(), true, 0.0, 0.0), 1e6 + 2e5 * 0.2);
    }

    #[test]
    fn near_the_last_maximum_it_grows_slower() {
        let mut rates = at_a_megabit();
        rates.last_most = 1.1e6;
        // 4 · 0.1/1.1, squared, is 0.13: the least, 0.2, counts.
        near(adjusted(rates.clone(), true, 0.0, 0.0), 1e6 + 4e4 * 0.2);
        rates.last_most = 0.85e6;
        // 4 · 0.15/0.85, squared.
        let scale = (0.6 / 0.85) * (0.6 / 0.85);
        near(adjusted(rates, true, 0.0, 0.0), 1e6 + 4e4 * scale);
    }

    #[test]
    fn outside_fast_increase_the_sender_queue_decides() {
        // Room: the change is the whole rate, and bounded by the ramp-up speed.
        near(adjusted(at_a_megabit(), false, 0.5, 0.0), 1e6 + 4e4);
        // 20 ms of 1 Mb/s are 20,000 bits; more costs 5 %.
        near(adjusted(at_a_megabit(), false, 0.0, 20_000.0), 1e6 + 4e4);
        near(adjusted(at_a_megabit(), false, 0.0, 20_001.0), (1e6 + 4e4) * 0.95);
        // A queue of 1.1 s takes its bits off: 1e6 · 0.95 - 1.1e6 at a trend of 0.5.
        near(adjusted(at_a_megabit(), false, 0.5, 1.1e6), (1e6 + 0.95e6 - 1.1e6) * 0.95);
    }

    #[test]
    fn losses_and_marks_take_a_tenth_and_the_next_interval_begins() {
        for reduce in [Rates::on_loss, Rates::on_mark] {
            let mut rates = at_a_megabit();
            reduce(&mut rates, Instant::from_ms(1_100));
            near(rates.target(), 9e5);
            near(rates.last_most, 1e6);
            near(adjusted(rates, true, 0.0, 0.0), 9e5);
        }
        let mut least = Rates::new(LIMITS);
        least.on_loss(Instant::ZERO);
        near(least.target(), 1e5);
    }

    #[test]
    fn congestion_that_is_remembered_bounds_the_target_by_what_is_sent() {
        let mut rates = at_a_megabit();
        rates.target = 1.9e6;
        near(adjusted(rates.clone(), true, 0.0, 0.0), 1.9e6 + 4e4);
        near(adjusted(rates, true, 0.8, 0.0), 1.2e6);
    }
}
