//! What a queue manager sees of a link with one or two service flows.
//!
//! Source: the contract of [`sojourn_queue::QueueContext`]. Deviations: none known.

use crate::queue_call::{next_timer, tell_drop, tell_mark};
use crate::token_bucket::TokenBucket;
use crate::{Draw, LinkContext};
use sojourn_base::{BitRate, Bytes, Instant, ServiceQueue, Span};
use sojourn_queue::{Held, ProactiveGrants, QueueContext, QueueManager, Reason, Score, Shaper};

/// The context of a managed queue during one call.
#[derive(Debug)]
pub(crate) struct Call<'a, C: ?Sized> {
    /// The bucket of the sustained rate, if there is one, and the time there.
    pub(crate) bucket: (Option<&'a TokenBucket>, Instant),
    /// The sustained rate and the peak rate, of both flows together.
    pub(crate) rates: (BitRate, BitRate),
    /// The sustained rates of the classic and of the low-latency flow alone; zero if there are none.
    pub(crate) own_rates: [BitRate; 2],
    /// Bytes of frames pulled for the classic and for the low-latency flow, and not sent.
    pub(crate) staged: [Bytes; 2],
    /// Time from request to grant, which is that of the MAPs: the same for both flows.
    pub(crate) loop_delay: Span,
    /// Grants of the low-latency flow without requests.
    pub(crate) proactive: ProactiveGrants,
    /// Where drops go and draws come from.
    pub(crate) context: &'a mut C,
}

impl<C: LinkContext + ?Sized> QueueContext for Call<'_, C> {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        tell_drop(self.context, packet, reason);
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        tell_mark(self.context, packet, reason);
    }

    fn scored(&mut self, packet: &Held, score: &Score) {
        self.context.scored(packet.item, &packet.meta, score);
    }

    fn estimated(&mut self, packet: &Held, delay: Span) {
        self.context.estimated(&packet.meta, delay);
    }

    fn unit(&mut self) -> f64 {
        self.context.unit(Draw::QueueManager)
    }

    fn shaper(&self) -> Shaper {
        let (bucket, now) = self.bucket;
        Shaper {
            tokens: bucket.map_or(Bytes::MAX, |bucket| bucket.tokens(now)),
            sustained: self.rates.0,
            peak: self.rates.1,
        }
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        self.staged[usize::from(queue == ServiceQueue::LowLatency)]
    }

    fn loop_delay(&self) -> Span {
        self.loop_delay
    }

    fn loop_delay_of(&self, _: ServiceQueue) -> Span {
        self.loop_delay
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        self.own_rates[usize::from(queue == ServiceQueue::LowLatency)]
    }

    fn proactive_grants(&self) -> ProactiveGrants {
        self.proactive
    }

    fn worked(&mut self, units: u64) {
        self.context.work(units);
    }
}

/// Runs the manager's timers that are due by `until`, each at its own time; when it wants the next run.
#[cold]
pub(crate) fn run_timers<M: QueueManager + ?Sized, C: LinkContext + ?Sized>(
    manager: &mut M,
    until: Instant,
    call: &mut Call<'_, C>,
) -> Instant {
    let mut due = next_timer(manager);
    while due <= until {
        if !call.context.work(1) {
            return Instant::NEVER;
        }
        manager.on_timer(due, call);
        due = next_timer(manager);
    }
    due
}
