//! Handling of each service flow of a CMTS with several to one modem; see [`crate::service_flows`].

use super::{Downstream, Share};
use crate::docsis31::aggregate::{Aggregate, Sharer};
use crate::token_bucket::TokenBucket;
use crate::{LinkContext, Transmit};
use sojourn_base::{BitRate, Bytes, Instant};

impl Sharer for Downstream {
    fn aggregate(&self) -> Aggregate {
        Aggregate::new(self.sustained, self.peak)
    }

    fn becomes_member(&mut self, own: Option<(BitRate, Bytes)>) {
        if let Some((rate, _)) = own {
            self.rates = (rate, BitRate::ZERO);
        }
        let own = own.map(|(rate, burst)| TokenBucket::new(rate, burst));
        self.share = Some(Share { own, ..Share::default() });
    }

    /// The next symbol while it holds a packet: tokens too few for the packet of another member may do for its own.
    fn due(&self) -> Instant {
        if self.is_idle() { Instant::NEVER } else { self.starts_at(self.next) }
    }

    fn skip_to(&mut self, _until: Instant) {}

    fn wanted(&self) -> u64 {
        self.manager.backlog().bytes.0 + self.fragment.as_ref().map_or(0, |fragment| fragment.frame_rest().0)
    }

    fn on_loan(&mut self, at: Instant, (aggregate, rivals): (&mut Aggregate, u64), context: &mut dyn LinkContext) {
        if aggregate.filled.0 != at {
            aggregate.filled = (at, 0);
        }
        (self.sustained, self.peak) = (aggregate.sustained, aggregate.peak);
        let buckets = [&self.sustained, &self.peak].into_iter().flatten();
        let tokens = buckets.map(|bucket| bucket.tokens(at).0).min().unwrap_or(0);
        let kept = Aggregate::keep([&mut self.sustained, &mut self.peak], tokens, rivals, at);
        if let Some(share) = &mut self.share {
            (share.taken, share.filled, share.rivals) = (aggregate.filled.1, 0, rivals);
        }
        self.on_wakeup(at, context);
        aggregate.filled.1 += self.share.map_or(0, |share| share.filled);
        aggregate.take_back((self.sustained, self.peak), kept, at);
    }

    fn sees(&mut self, aggregate: &Aggregate) {
        (self.sustained, self.peak) = (aggregate.sustained, aggregate.peak);
        self.look_ahead();
    }
}
