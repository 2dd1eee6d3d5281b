//! The rate shaper of a DOCSIS service flow: two token buckets that are debited together.
//!
//! Any interval T then carries at most R·T + B bits by the sustained bucket and at most P·T + K by the
//! peak bucket. A rate of zero leaves its bucket out.
//!
//! Source: White 2012 §2.2.1 and §3.1.1.
//! Deviations: those of [`crate::token_bucket`].

use crate::config::ShaperConfig;
use crate::token_bucket::{Price, TokenBucket};
use sojourn_base::{BitRate, Bytes, Instant};
use sojourn_queue::Shaper;

/// Price of a packet in both buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaperPrice {
    sustained: Price,
    peak: Price,
}

/// Two token buckets, each optional.
#[derive(Clone, Copy, Debug)]
pub struct RateShaper {
    sustained: Option<TokenBucket>,
    peak: Option<TokenBucket>,
    sustained_rate: BitRate,
    peak_rate: BitRate,
}

impl RateShaper {
    /// Full buckets.
    pub fn new(config: &ShaperConfig) -> Self {
        let bucket = |rate, depth| (rate > BitRate::ZERO).then(|| TokenBucket::new(rate, depth));
        Self {
            sustained: bucket(config.sustained, config.burst),
            peak: bucket(config.peak, config.peak_burst),
            sustained_rate: config.sustained,
            peak_rate: config.peak,
        }
    }

    /// Buckets of another configuration that hold what these do at `now`, as far as it fits; one that was not there is full.
    pub(crate) fn retuned(&self, now: Instant, config: &ShaperConfig) -> Self {
        let mut buckets = Self::new(config);
        for (bucket, before) in [(&mut buckets.sustained, &self.sustained), (&mut buckets.peak, &self.peak)] {
            if let (Some(bucket), Some(before)) = (bucket, before) {
                bucket.take_over(now, before);
            }
        }
        buckets
    }

    /// Returns the price of `bytes`.
    #[must_use]
    pub fn price(&self, bytes: Bytes) -> ShaperPrice {
        let price = |bucket: &Option<TokenBucket>| bucket.as_ref().map_or_else(Price::default, |b| b.price(bytes));
        ShaperPrice { sustained: price(&self.sustained), peak: price(&self.peak) }
    }

    /// The first instant at which both buckets hold `price`; may lie in the past.
    #[must_use]
    pub fn earliest(&self, price: ShaperPrice) -> Instant {
        let due = |bucket: &Option<TokenBucket>, price| bucket.as_ref().map_or(Instant::ZERO, |b| b.earliest(price));
        due(&self.sustained, price.sustained).max(due(&self.peak, price.peak))
    }

    /// Returns true if a packet is paid for after it has left, so that its length need not be known before: the bucket
    /// of the sustained rate has no depth.
    #[must_use]
    pub fn pays_afterwards(&self) -> bool {
        self.sustained.as_ref().is_some_and(|bucket| bucket.depth() == Bytes::ZERO)
    }

    /// Take `price` out of both buckets.
    pub fn debit(&mut self, now: Instant, price: ShaperPrice) {
        if let Some(bucket) = &mut self.sustained {
            bucket.debit(now, price.sustained);
        }
        if let Some(bucket) = &mut self.peak {
            bucket.debit(now, price.peak);
        }
    }

    /// Put `price` back into both buckets, up to their depths.
    pub fn credit(&mut self, now: Instant, price: ShaperPrice) {
        if let Some(bucket) = &mut self.sustained {
            bucket.credit(now, price.sustained);
        }
        if let Some(bucket) = &mut self.peak {
            bucket.credit(now, price.peak);
        }
    }

    /// As much of `need` as both buckets hold at `now`, in whole bytes.
    #[must_use]
    pub fn affordable(&self, now: Instant, need: Bytes) -> Bytes {
        let limit = |bucket: &Option<TokenBucket>, need| bucket.as_ref().map_or(need, |b| b.affordable(now, need));
        limit(&self.peak, limit(&self.sustained, need))
    }

    /// Tokens of the sustained-rate bucket at `now`; [`Bytes::MAX`] if there is none.
    #[must_use]
    pub fn tokens(&self, now: Instant) -> Bytes {
        self.sustained.as_ref().map_or(Bytes::MAX, |b| b.tokens(now))
    }

    /// The bucket of the sustained rate, if there is one.
    pub(crate) const fn sustained(&self) -> Option<&TokenBucket> {
        self.sustained.as_ref()
    }

    /// The sustained and the peak rate.
    pub(crate) const fn rates(&self) -> (BitRate, BitRate) {
        (self.sustained_rate, self.peak_rate)
    }

    /// The state as queue managers see it.
    #[must_use]
    pub fn view(&self, now: Instant) -> Shaper {
        Shaper { tokens: self.tokens(now), sustained: self.sustained_rate, peak: self.peak_rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_is_spent_at_the_peak_rate_in_five_and_a_third_seconds() {
        // A3 and W12-26: 10 MB × 8 / (20 - 5) Mb/s = 5.333 s carrying 13.33 MB, then 5 Mb/s.
        let mut shaper = RateShaper::new(&ShaperConfig::WHITE2012_UPSTREAM);
        let price = shaper.price(Bytes(1500));
        let (mut now, mut sent) = (Instant::ZERO, 0);
        let mut slow_since = None;
        while now < Instant::from_s(10) {
            let due = shaper.earliest(price).max(now);
            if slow_since.is_none() && due.since(now).unwrap().as_ps() > 700_000_000 {
                slow_since = Some((now, sent));
            }
            now = due;
            shaper.debit(now, price);
            sent += 1500;
        }
        let (slow_at, burst) = slow_since.unwrap();
        // One packet more or less than the fluid value.
        assert!((slow_at.as_secs_f64() - 16.0 / 3.0).abs() < 0.0012, "{slow_at:?}");
        assert!(u64::abs_diff(burst, 13_333_333) <= 3000, "{burst}");
        // The rest at 5 Mb/s: 625 kB/s.
        let rest = (10.0 - 16.0 / 3.0) * 625_000.0;
        assert!(((sent - burst) as f64 - rest).abs() < 3000.0);
    }

    #[test]
    fn without_rates_nothing_waits() {
        let mut shaper = RateShaper::new(&ShaperConfig {
            sustained: BitRate::ZERO,
            burst: Bytes::ZERO,
            peak: BitRate::ZERO,
            peak_burst: Bytes::ZERO,
        });
        let price = shaper.price(Bytes(1_000_000));
        shaper.debit(Instant::ZERO, price);
        assert_eq!(shaper.earliest(price), Instant::ZERO);
        assert_eq!(shaper.affordable(Instant::ZERO, Bytes(77)), Bytes(77));
    }

    #[test]
    fn a_request_is_limited_by_the_emptier_bucket() {
        let mut shaper = RateShaper::new(&ShaperConfig::WHITE2012_UPSTREAM);
        assert_eq!(shaper.affordable(Instant::ZERO, Bytes(9000)), Bytes(1522));
        shaper.debit(Instant::ZERO, shaper.price(Bytes(1522)));
        // 2 ms at 20 Mb/s and at 5 Mb/s: 5000 B, but the bucket holds 1522.
        let later = Instant::from_ms(2);
        assert_eq!(shaper.affordable(later, Bytes(9000)), Bytes(1522));
        assert_eq!(shaper.tokens(later), Bytes(10_000_000 - 1522 + 1250));
    }
}
