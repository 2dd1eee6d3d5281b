//! Handling of each service flow of a modem with several; see [`crate::service_flows`].

use super::{RequestShaper, Upstream};
use crate::docsis31::aggregate::{Aggregate, Sharer};
use crate::token_bucket::TokenBucket;
use crate::{LinkContext, Transmit};
use sojourn_base::{BitRate, Bytes, Instant, WholeBytes};

impl Sharer for Upstream {
    fn aggregate(&self) -> Aggregate {
        let (sustained, peak) = self.scheduler.buckets();
        Aggregate::new(sustained, peak)
    }

    /// The modem shapes a member only if it has a rate of its own.
    fn becomes_member(&mut self, own: Option<(BitRate, Bytes)>) {
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

    fn due(&self) -> Instant {
        self.due
    }

    /// Skips unused MAPs.
    fn skip_to(&mut self, until: Instant) {
        let before = self.next_map;
        self.skip_idle_maps(until);
        if self.next_map != before {
            self.look_ahead();
        }
    }

    /// Bytes that it wants in the next MAP.
    fn wanted(&self) -> u64 {
        self.scheduler.wanted(self.next_map)
    }

    fn on_loan(&mut self, at: Instant, (aggregate, rivals): (&mut Aggregate, u64), context: &mut dyn LinkContext) {
        if self.timeline.heard_at(self.next_map) > at {
            // Only MAPs cost tokens.
            return self.on_wakeup(at, context);
        }
        let now = self.timeline.starts_at(self.next_map);
        let kept = self.scheduler.borrow(aggregate, rivals, now);
        self.on_wakeup(at, context);
        aggregate.take_back(self.scheduler.buckets(), kept, now);
    }

    fn sees(&mut self, aggregate: &Aggregate) {
        self.scheduler.see(aggregate);
    }
}
