//! Handling of each service flow of a modem with several; see [`crate::service_flows`].

use super::{RequestShaper, Upstream};
use crate::docsis31::scheduler::aggregate::Aggregate;
use crate::token_bucket::TokenBucket;
use sojourn_base::{BitRate, Bytes, Instant, WholeBytes};
use sojourn_queue::QueueManager;

impl<M: QueueManager + ?Sized> Upstream<M> {
    /// Its buckets, to be shared.
    pub(crate) const fn aggregate(&self) -> Aggregate {
        Aggregate::of(&self.scheduler)
    }

    /// It is one of several members of an aggregate: the modem shapes it only if it has a rate of its own, and a bucket
    /// for it.
    pub(crate) fn becomes_member(&mut self, own: Option<(BitRate, Bytes)>) {
        let own = own.map(|(rate, burst)| (rate, TokenBucket::new(rate, burst)));
        if let Some((rate, bucket)) = own {
            self.rates = (rate, BitRate::ZERO);
            self.scheduler.limit_classic(bucket);
        }
        self.request_shaper = RequestShaper {
            sustained: own.map(|(_, bucket)| bucket),
            peak: BitRate::ZERO,
            last: Instant::ZERO,
            allowed: WholeBytes::default(),
            headers: 0,
        };
    }

    /// Returns the time of the next event, including MAPs without grants.
    pub(crate) const fn due(&self) -> Instant {
        self.due
    }

    /// Skips unused MAPs before `until`.
    pub(crate) fn skip_to(&mut self, until: Instant) {
        let before = self.next_map;
        self.skip_idle_maps(until);
        if self.next_map != before {
            self.look_ahead();
        }
    }

    /// Bytes that it wants in the next MAP.
    pub(crate) fn wanted(&self) -> u64 {
        self.scheduler.wanted(self.next_map)
    }

    /// Runs with the buckets of the aggregate what is due at `at`, one of `rivals` that want some of its rate.
    pub(crate) fn on_loan(
        &mut self,
        at: Instant,
        (aggregate, rivals): (&mut Aggregate, u64),
        run: impl FnOnce(&mut Self),
    ) {
        if self.timeline.heard_at(self.next_map) > at {
            // Only MAPs cost tokens.
            return run(self);
        }
        let now = self.timeline.starts_at(self.next_map);
        let kept = aggregate.lend(&mut self.scheduler, rivals, now);
        run(self);
        aggregate.take_back(&self.scheduler, kept, now);
    }

    /// Its queue manager sees these buckets.
    pub(crate) const fn sees(&mut self, aggregate: &Aggregate) {
        aggregate.show(&mut self.scheduler);
    }
}
