//! The manager's view of the link that owns it.
//!
//! Source: the contract of [`sojourn_queue::QueueContext`].
//! Deviations: timers that fall due while a queue is empty are run, each at its own time, before the
//! next packet is offered; an empty queue therefore needs no wake-ups.

use crate::shaper::RateShaper;
use crate::token_bucket::TokenBucket;
use crate::{Draw, LinkContext, Loss, Mark, Stage};
use sojourn_base::{BitRate, Bytes, Instant, ServiceQueue, Span};
use sojourn_queue::{Held, ProactiveGrants, QueueContext, QueueManager, Reason, Score, Shaper};

/// How fast the queue can drain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drain<'a> {
    /// Always at the rate of its line.
    Line(BitRate),
    /// Token buckets.
    Buckets(&'a RateShaper),
    /// One or two service flows of DOCSIS 3.1.
    ServiceFlows(ServiceFlows<'a>),
}

/// The service flows behind a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServiceFlows<'a> {
    /// The bucket of the sustained rate, if there is one, and the time there, if it is not that of the call.
    pub(crate) bucket: Option<(&'a TokenBucket, Option<Instant>)>,
    /// The sustained rate and the peak rate, of both flows together.
    pub(crate) rates: (BitRate, BitRate),
    /// The sustained rates of the classic and of the low-latency flow alone; zero if there are none.
    pub(crate) own_rates: [BitRate; 2],
    /// Bytes of frames pulled for the low-latency flow, and not sent.
    pub(crate) low_latency_staged: Bytes,
    /// Grants of the low-latency flow without requests.
    pub(crate) proactive: ProactiveGrants,
}

/// The context of a managed queue during one call.
#[derive(Debug)]
pub(crate) struct QueueCall<'a, C: ?Sized> {
    /// Time of the call.
    pub(crate) now: Instant,
    /// How fast the queue can drain.
    pub(crate) drain: Drain<'a>,
    /// Bytes pulled from the queue and not sent; with two service flows those of the classic one.
    pub(crate) staged: Bytes,
    /// Mean time from request to grant.
    pub(crate) loop_delay: Span,
    /// Sink of drops and source of draws.
    pub(crate) context: &'a mut C,
}

impl<C: LinkContext + ?Sized> QueueContext for QueueCall<'_, C> {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        let loss = Loss { entered_at: packet.enqueued_at, stage: Stage::Queue, reason, sub_flow: packet.sub_flow };
        self.context.dropped(packet.item, &packet.meta, &loss);
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        let mark = Mark { entered_at: packet.enqueued_at, reason, sub_flow: packet.sub_flow };
        self.context.marked(packet.item, &packet.meta, &mark);
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
        match self.drain {
            Drain::Line(rate) => Shaper { tokens: Bytes::ZERO, sustained: rate, peak: BitRate::ZERO },
            Drain::Buckets(shaper) => shaper.view(self.now),
            Drain::ServiceFlows(flows) => Shaper {
                tokens: flows.bucket.map_or(Bytes::MAX, |(bucket, at)| bucket.tokens(at.unwrap_or(self.now))),
                sustained: flows.rates.0,
                peak: flows.rates.1,
            },
        }
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        match (queue, self.drain) {
            (ServiceQueue::LowLatency, Drain::ServiceFlows(flows)) => flows.low_latency_staged,
            _ => self.staged,
        }
    }

    fn loop_delay(&self) -> Span {
        self.loop_delay
    }

    fn loop_delay_of(&self, _queue: ServiceQueue) -> Span {
        self.loop_delay
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        match self.drain {
            Drain::ServiceFlows(flows) => flows.own_rates[usize::from(queue == ServiceQueue::LowLatency)],
            Drain::Line(_) | Drain::Buckets(_) => BitRate::ZERO,
        }
    }

    fn proactive_grants(&self) -> ProactiveGrants {
        match self.drain {
            Drain::ServiceFlows(flows) => flows.proactive,
            Drain::Line(_) | Drain::Buckets(_) => ProactiveGrants::default(),
        }
    }

    fn worked(&mut self, units: u64) {
        self.context.work(units);
    }
}

/// Returns the time of the manager's timer; [`Instant::NEVER`] without one, as in most managers.
#[inline]
pub(crate) fn next_timer<M: QueueManager + ?Sized>(manager: &M) -> Instant {
    manager.next_timer().unwrap_or(Instant::NEVER)
}

/// Runs the manager's timers that are due by `until`, each at its own time; when it wants the next run.
#[cold]
pub(crate) fn run_timers<M: QueueManager + ?Sized, C: LinkContext + ?Sized>(
    manager: &mut M,
    until: Instant,
    call: &mut QueueCall<'_, C>,
) -> Instant {
    let mut due = next_timer(manager);
    while due <= until {
        if !call.context.work(1) {
            return Instant::NEVER;
        }
        call.now = due;
        manager.on_timer(due, call);
        due = next_timer(manager);
    }
    call.now = until;
    due
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Call, Collector, Diary, drive, packet};
    use crate::{
        Cascade, CascadeConfig, Pull, Rule, Serial, SerialConfig, Shaped, ShapedConfig, ShaperConfig, SingleQueue,
        SingleQueueConfig, Transmit,
    };
    use alloc::boxed::Box;
    use sojourn_base::{BitRate, PacketHandle};
    use std::vec::Vec;

    /// A shaper of 1 Mb/s with next to no burst: 1500 B take 12 ms.
    const SLOW: ShaperConfig = ShaperConfig {
        sustained: BitRate::from_mbps(1),
        burst: Bytes(1522),
        peak: BitRate::ZERO,
        peak_burst: Bytes::ZERO,
    };

    fn diary() -> Diary {
        Diary::with_timer(Span::from_us(700))
    }

    /// Offers ten packets at once, then one more 100 ms later, without or with the wake-ups in between;
    /// returns what the manager was asked, and when.
    fn calls<L: Transmit<Collector>>(mut link: L, late: bool, manager: fn(&L) -> &Diary) -> Vec<(Call, Instant)> {
        let mut context = Collector::default();
        let last = Instant::from_ms(100);
        let first = [(Instant::from_us(500), 1500); 10];
        if late {
            for (number, (at, length)) in (0..).zip(first) {
                link.on_arrival(at, packet(length), PacketHandle(number), &mut context);
            }
            link.on_arrival(last, packet(1500), PacketHandle(10), &mut context);
        } else {
            drive(&mut link, first.into_iter().chain([(last, 1500)]), last, &mut context);
        }
        manager(&link).calls.clone()
    }

    fn check<L: Transmit<Collector>>(link: impl Fn() -> L, manager: fn(&L) -> &Diary) {
        let punctual = calls(link(), false, manager);
        assert_eq!(calls(link(), true, manager), punctual);
        assert!(punctual.is_sorted_by_key(|(_, at)| *at), "{punctual:?}");
        let timers: Vec<_> = punctual.iter().filter(|c| c.0 == Call::Timer).collect();
        assert_eq!(timers.len(), 142, "0.7 to 99.4 ms");
    }

    #[test]
    fn a_run_that_is_given_up_catches_up_with_nothing() {
        let delay = Span::ZERO;
        let config = SerialConfig::plain(BitRate::from_mbps(1), delay);
        let timers = |work| {
            let mut link = Serial::new(config, Box::new(Diary::with_timer(Span::from_us(1))));
            let mut context = Collector::default();
            context.work = work;
            link.on_arrival(Instant::from_s(1), packet(1500), PacketHandle(0), &mut context);
            let calls = &link.manager().calls;
            calls.iter().filter(|call| call.0 == Call::Timer).count()
        };
        assert_eq!(timers(u64::MAX), 1_000_000);
        assert_eq!(timers(500), 500);
    }

    #[test]
    fn managers_see_all_calls_in_order_of_time_even_if_the_link_is_called_late() {
        check(
            || {
                let rate = BitRate::from_mbps(1);
                let delay = Span::ZERO;
                Serial::new(SerialConfig::plain(rate, delay), Box::new(diary()))
            },
            |link| link.manager(),
        );
        check(
            || {
                let config =
                    ShapedConfig { shaper: SLOW, rule: Rule::Bucket, pull: Pull::WithTokens, delay: Span::ZERO };
                Shaped::new(config, Box::new(diary()))
            },
            |link| link.manager(),
        );
        check(
            || {
                let config = CascadeConfig { shaper: SLOW, ..CascadeConfig::WHITE2012 };
                Cascade::new(&config, Box::new(diary()))
            },
            |link| link.manager(),
        );
        check(
            || {
                let config = SingleQueueConfig { shaper: SLOW, ..SingleQueueConfig::WHITE2013 };
                SingleQueue::new(&config, Box::new(diary()))
            },
            |link| link.manager(),
        );
    }
}
