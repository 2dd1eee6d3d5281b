//! The buckets of an aggregate of several service flows, which are lent to one after the other.
//!
//! Source: White 2019 §2.1 (the CMTS enforces the rate of the aggregate, whichever flows it has).
//! Deviations: none known beyond those of [`super::scheduler`] and [`super::downstream`].

use crate::token_bucket::TokenBucket;
use crate::{LinkContext, Transmit};
use sojourn_base::{BitRate, Bytes, Instant};

/// A service flow that shares the buckets of an aggregate with others.
pub(crate) trait Sharer: for<'a> Transmit<dyn LinkContext + 'a> {
    /// Returns the time of the next event, including those without effect.
    fn due(&self) -> Instant;

    /// Skips what is unused before `until`.
    fn skip_to(&mut self, until: Instant);

    /// Bytes that it wants next.
    fn wanted(&self) -> u64;

    /// Its buckets, to be shared.
    fn aggregate(&self) -> Aggregate;

    /// It is one of several members of an aggregate: only its own rate, if it has one, and a bucket for it stay its own.
    fn becomes_member(&mut self, own: Option<(BitRate, Bytes)>);

    /// Runs with the buckets of the aggregate what is due at `at`, one of `rivals` that want some of its rate.
    fn on_loan(&mut self, at: Instant, lent: (&mut Aggregate, u64), context: &mut dyn LinkContext);

    /// Its queue manager sees these buckets.
    fn sees(&mut self, aggregate: &Aggregate);
}

sojourn_base::shown!(dyn Sharer);

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregate {
    pub(super) sustained: Option<TokenBucket>,
    pub(super) peak: Option<TokenBucket>,
    /// A symbol's start, and the bytes of it that members have filled; downstream.
    pub(super) filled: (Instant, u64),
}

impl Aggregate {
    /// With these buckets, of the sustained and of the peak rate.
    pub(super) const fn new(sustained: Option<TokenBucket>, peak: Option<TokenBucket>) -> Self {
        Self { sustained, peak, filled: (Instant::ZERO, 0) }
    }

    /// Leaves an even share of `tokens` in `buckets`, which are lent to one of `rivals`; returns what is kept for the others.
    pub(super) fn keep(buckets: [&mut Option<TokenBucket>; 2], tokens: u64, rivals: u64, now: Instant) -> Bytes {
        let kept = Bytes(tokens - tokens.div_ceil(rivals.max(1)));
        if kept > Bytes::ZERO {
            for bucket in buckets.into_iter().flatten() {
                bucket.debit(now, bucket.price(kept));
            }
        }
        kept
    }

    /// Takes the buckets back as they were left.
    pub(super) fn take_back(&mut self, buckets: (Option<TokenBucket>, Option<TokenBucket>), kept: Bytes, now: Instant) {
        (self.sustained, self.peak) = buckets;
        if kept > Bytes::ZERO {
            for bucket in [&mut self.sustained, &mut self.peak].into_iter().flatten() {
                bucket.credit(now, bucket.price(kept));
            }
        }
    }
}
