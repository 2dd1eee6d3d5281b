//! The DOCSIS 3.1 downstream: a CMTS that shapes a managed queue onto the symbols of an OFDM channel.
//!
//! At the start of each symbol as many bytes are scheduled as both token buckets hold and the symbol has room for, and
//! packets are taken from the queue manager only then. They leave later by the symbols that the CMTS works ahead. A
//! symbol may begin and end inside a packet. A manager with two queues decides itself whose turn it is. Rates count
//! Ethernet frames; MAC headers take room in symbols.
//!
//! Symbols are worked out when something reaches the link, or when tokens suffice for the rest of a packet.
//!
//! Source: White 2019 §2; docsis-ns3 1.2 `model/cmts-net-device.cc`; RFC 4323 `docsIetfQosParamSetMaxTrafficRate` (a rate
//! counts frames from behind the MAC header to the end of the CRC).
//! Deviations: levels of buckets are exact and are debited when bytes are scheduled; the bucket of the peak rate is
//! deep enough for a symbol at that rate; what others leave is counted per symbol. docsis-ns3 truncates, debits later,
//! charges MAC headers, caps every rate at one frame per symbol, and takes bytes per second for bytes per symbol.

mod member;

use super::Fragment;
use super::config::DownstreamConfig;
use super::with_header;
use crate::docsis::congestion::GrantLimit;
use crate::queue_call::{Drain, QueueCall, ServiceFlows, next_timer, run_timers};
use crate::token_bucket::TokenBucket;
use crate::{DelayParts, Link, LinkContext, Passage, Transmit};
use alloc::boxed::Box;
use core::any::Any;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_queue::{Backlog, ProactiveGrants, QueueManager};

/// See the module. `M` is the queue manager.
#[derive(Clone, Debug)]
pub struct Downstream<M: ?Sized = dyn QueueManager> {
    manager: Box<M>,
    /// Time of the manager's timer; [`Instant::NEVER`] without one.
    timer: Instant,
    symbol: Span,
    /// Bytes that a symbol carries.
    capacity: u64,
    header: u16,
    sustained: Option<TokenBucket>,
    peak: Option<TokenBucket>,
    rates: (BitRate, BitRate),
    limit: GrantLimit,
    /// Both pipelines and the interleaver.
    pipeline: Span,
    plant: Span,
    /// Time in which the modem forwards a packet, and all times behind the start of the symbol.
    switching: Span,
    behind: Span,
    fragment: Option<Fragment>,
    /// Its part in an aggregate of several service flows.
    share: Option<Share>,
    /// Number of the next symbol to be worked out.
    next: u64,
    wakeup: Instant,
}

/// The part of a service flow in an aggregate, in the symbol at hand.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// Bytes of the symbol that other members have filled, and those that it fills itself.
    taken: u64,
    filled: u64,
    /// Members that want what is left, itself among them.
    rivals: u64,
    /// The bucket of its own rate.
    own: Option<TokenBucket>,
}

impl<M: QueueManager + ?Sized> Downstream<M> {
    /// An idle link with full buckets.
    ///
    /// # Panics
    /// If [`crate::LinkConfig::problems`] would list something.
    pub fn new(config: &DownstreamConfig, manager: Box<M>) -> Self {
        let symbol = config.channel.symbols.length();
        let bucket = |rate: BitRate, depth: Bytes| (rate > BitRate::ZERO).then(|| TokenBucket::new(rate, depth));
        let peak_depth = config.peak.bytes_in(symbol).max(config.peak_burst);
        Self {
            timer: next_timer(&*manager),
            manager,
            symbol,
            capacity: config.symbol_bytes(),
            header: config.mac_header,
            sustained: bucket(config.rate, config.burst),
            peak: bucket(config.peak, peak_depth),
            rates: (config.rate, config.peak),
            limit: GrantLimit::new(config.congestion.clone(), symbol, config.capacity()),
            pipeline: config.channel.symbols.processing().saturating_sub(symbol),
            plant: config.plant(),
            switching: config.switching,
            behind: symbol
                + config.channel.symbols.processing().saturating_sub(symbol)
                + config.plant()
                + config.switching,
            fragment: None,
            share: None,
            next: 0,
            wakeup: Instant::NEVER,
        }
    }

    /// The queue manager, for records.
    pub const fn manager(&self) -> &M {
        &self.manager
    }

    fn starts_at(&self, symbol: u64) -> Instant {
        Instant::ZERO + self.symbol * symbol
    }

    /// The first symbol that starts at or after `at`.
    fn symbol_from(&self, at: Instant) -> u64 {
        at.as_ps().div_ceil(self.symbol.as_ps())
    }

    fn is_idle(&self) -> bool {
        self.fragment.is_none() && self.manager.backlog().packets.0 == 0
    }

    /// Every symbol before `until`; and the one that starts then, if `and_at`.
    fn advance(&mut self, until: Instant, and_at: bool, context: &mut (impl LinkContext + ?Sized)) {
        let end = self.symbol_from(until);
        let end = end + u64::from(and_at && self.starts_at(end) == until);
        while self.next < end && !self.is_idle() && context.work(1) {
            let at = self.starts_at(self.next);
            self.run_timers(at, context);
            self.fill(at, context);
            self.next += 1;
        }
        self.next = self.next.max(end);
        self.run_timers(until, context);
    }

    /// Bytes that have room in the symbol of `at`, and tokens for Ethernet frames.
    fn allowance(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) -> (u64, u64) {
        let mut tokens = u64::MAX;
        for bucket in [&self.sustained, &self.peak].into_iter().flatten() {
            tokens = tokens.min(bucket.tokens(at).0);
        }
        let mut room = self.capacity;
        if tokens > 0 && !self.limit.is_unlimited() {
            room = room.min(self.limit.at(self.next, at, context).0);
        }
        if let Some(share) = &self.share {
            room = room.saturating_sub(share.taken).div_ceil(share.rivals.max(1));
            tokens = tokens.min(share.own.as_ref().map_or(u64::MAX, |own| own.tokens(at).0));
        }
        // A header costs nothing, so that what has room is enough for it.
        (room, tokens.min(room))
    }

    /// Schedules the symbol of `at`.
    fn fill(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let (room, tokens) = self.allowance(at, context);
        let (mut used, mut cost) = (0, 0);
        while used < room && cost < tokens {
            if self.fragment.is_none() {
                self.pull(at, context);
            }
            // It stays where it is until its last byte is scheduled.
            let Some(fragment) = &mut self.fragment else {
                break;
            };
            let (bytes, tokens) = fragment.send_for(room - used, tokens - cost);
            used += bytes;
            cost += tokens;
            if fragment.rest() == 0
                && let Some(done) = self.fragment.take()
            {
                self.deliver(&done, at, context);
            }
        }
        if cost == 0 {
            return;
        }
        for bucket in [&mut self.sustained, &mut self.peak].into_iter().flatten() {
            bucket.debit(at, bucket.price(Bytes(cost)));
        }
        if let Some(share) = &mut self.share {
            share.filled = used;
            if let Some(own) = &mut share.own {
                own.debit(at, own.price(Bytes(cost)));
            }
        }
    }

    fn pull(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let header = u64::from(self.header);
        let (manager, mut call) = self.split(now, context);
        let packet = manager.dequeue(now, &mut call);
        self.fragment = packet.map(|packet| Fragment::new(packet, header, now));
    }

    /// The packet's last byte is scheduled at `at`.
    fn deliver(&self, done: &Fragment, at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let (entered, left) = (done.packet.enqueued_at, done.dequeued_at);
        let delay = if context.wants_delay() {
            // For the symbol in which it could have left if it had been alone.
            let first = self.starts_at(self.symbol_from(entered)).min(left);
            DelayParts {
                queue: left.saturating_since(first),
                framing: first.saturating_since(entered) + at.saturating_since(left),
                pipeline: self.pipeline,
                serialisation: self.symbol,
                wire: self.plant,
                switching: self.switching,
                ..DelayParts::default()
            }
        } else {
            DelayParts::default()
        };
        let packet = done.packet;
        let passage = Passage {
            entered_at: entered,
            dequeued_at: left,
            arrives_at: at + self.behind,
            delay,
            sub_flow: packet.sub_flow,
        };
        context.deliver(packet.item, &packet.meta, &passage);
    }

    fn run_timers(&mut self, until: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if self.timer <= until {
            let (manager, mut call) = self.split(until, context);
            self.timer = run_timers(manager, until, &mut call);
        }
    }

    fn split<'a, C: ?Sized>(&'a mut self, now: Instant, context: &'a mut C) -> (&'a mut M, QueueCall<'a, C>) {
        let rest = self.fragment.as_ref().map_or(Bytes::ZERO, Fragment::frame_rest);
        let is_low_latency = self.fragment.as_ref().is_some_and(|f| f.packet.meta.queue == ServiceQueue::LowLatency);
        let (classic, low_latency) = if is_low_latency { (Bytes::ZERO, rest) } else { (rest, Bytes::ZERO) };
        let flows = ServiceFlows {
            bucket: self.sustained.as_ref().map(|bucket| (bucket, Some(now))),
            rates: self.rates,
            own_rates: [BitRate::ZERO; 2],
            low_latency_staged: low_latency,
            proactive: ProactiveGrants::default(),
        };
        let drain = Drain::ServiceFlows(flows);
        (&mut self.manager, QueueCall { now, drain, staged: classic, loop_delay: Span::ZERO, context })
    }

    /// The next symbol in which a packet can be taken or completed, unless others take its room.
    fn look_ahead(&mut self) {
        let waits = self.manager.backlog().packets.0 > 0;
        if !waits && self.fragment.is_none() {
            self.wakeup = Instant::NEVER;
            return;
        }
        let rest = self.fragment.as_ref().map_or(1, |f| f.frame_rest().0);
        let mut from = self.starts_at(self.next);
        for bucket in [&self.sustained, &self.peak].into_iter().flatten() {
            from = from.max(bucket.earliest(bucket.price(Bytes(rest))));
        }
        self.wakeup = self.starts_at(self.symbol_from(from));
        if waits {
            self.wakeup = self.wakeup.min(self.timer);
        }
    }
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for Downstream<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        // A packet that comes in the moment in which a symbol is filled may still go with it.
        self.advance(now, false, context);
        let meta = with_header(meta, self.header);
        let (manager, mut call) = self.split(now, context);
        let _ = manager.enqueue(now, meta, item, &mut call);
        self.look_ahead();
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, true, context);
        self.look_ahead();
    }
}

impl<M: QueueManager + ?Sized> Link for Downstream<M> {
    fn next_wakeup(&self) -> Instant {
        self.wakeup
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.manager.retune(to)
    }

    fn staged(&self) -> Backlog {
        self.fragment
            .as_ref()
            .map_or_else(Backlog::default, |rest| Backlog { bytes: rest.frame_rest(), packets: Packets(1) })
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
