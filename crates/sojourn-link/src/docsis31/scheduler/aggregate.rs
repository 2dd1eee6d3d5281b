//! The buckets of an aggregate of several service flows, each of which has a scheduler: they are lent to one after the
//! other.
//!
//! Source: White 2019 §2.1 (the CMTS enforces the rate of the aggregate, whichever flows it has).
//! Deviations: none known beyond those of [`super`].

use super::Scheduler;
use crate::token_bucket::TokenBucket;
use sojourn_base::{BitRate, Bytes, Instant};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregate {
    sustained: Option<TokenBucket>,
    peak: Option<TokenBucket>,
}

impl Aggregate {
    /// The buckets that a scheduler has.
    pub(in crate::docsis31) const fn of(scheduler: &Scheduler) -> Self {
        Self { sustained: scheduler.sustained, peak: scheduler.peak }
    }

    /// Hands the buckets to a scheduler for the MAP whose interval starts at `now`, but for what is kept for others: with
    /// `rivals` who want something, itself among them, it gets an even share. Returns what is kept.
    pub(in crate::docsis31) fn lend(&self, to: &mut Scheduler, rivals: u64, now: Instant) -> Bytes {
        (to.sustained, to.peak, to.rate) = (self.sustained, self.peak, BitRate::ZERO);
        let tokens = to.tokens_for_map(now).unwrap_or(0);
        let kept = Bytes(tokens - tokens.div_ceil(rivals.max(1)));
        if kept > Bytes::ZERO {
            for bucket in [&mut to.sustained, &mut to.peak].into_iter().flatten() {
                bucket.debit(now, bucket.price(kept));
            }
        }
        kept
    }

    /// Takes the buckets back as the scheduler has left them.
    pub(in crate::docsis31) fn take_back(&mut self, from: &Scheduler, kept: Bytes, now: Instant) {
        *self = Self::of(from);
        if kept > Bytes::ZERO {
            for bucket in [&mut self.sustained, &mut self.peak].into_iter().flatten() {
                bucket.credit(now, bucket.price(kept));
            }
        }
    }

    /// Shows the buckets to queue managers behind the scheduler.
    pub(in crate::docsis31) const fn show(&self, to: &mut Scheduler) {
        to.sustained = self.sustained;
        to.peak = self.peak;
    }
}

impl Scheduler {
    /// Bytes that its flows want in MAP `map`.
    pub(in crate::docsis31) fn wanted(&self, map: u64) -> u64 {
        let made_at = self.timeline.made_at(map);
        let arrived = self.requests.iter().filter(|(at, ..)| *at <= made_at);
        let arrived: u64 = arrived.map(|(_, _, bytes)| bytes).sum();
        self.backlog.iter().sum::<u64>() + arrived
    }

    /// Its only flow has this bucket of its own.
    pub(in crate::docsis31) const fn limit_classic(&mut self, own: TokenBucket) {
        self.own[self.only] = Some(own);
    }
}
