//! The downstream of a service group: bonded channels as one server, at which homes take turns.
//!
//! Each home has a queue whose head is ready once both token buckets hold it. Whenever the server is free, homes of the
//! highest priority that are ready take turns of a quantum each, and a packet leaves its queue manager only then. A byte of a
//! home with poor modulation takes longer. A packet arrives with the symbol in which its last byte is sent, behind both
//! pipelines, the interleaver and the plant. Rates and turns count Ethernet frames, the server MAC headers too.
//!
//! A home's delay is split by comparison with a channel without neighbours: its own rate causes the wait that a packet
//! would have had alone on the channels, its neighbours the rest.
//!
//! Source: docs/models/service-group.md, "Downstream"; DOCSIS 3.1 downstream as in [`crate::docsis31::downstream`].
//! Deviations: in a passage, both waits are one; a packet is sent in symbols as they come, so that it may arrive up to a symbol
//! earlier than on the link of one modem, which fills whole symbols ahead. All modems are bonded over all channels.

use super::config::{DownstreamMemberConfig, GroupConfig, MAC_HEADER};
use super::members::{Members, Shared};
use super::scheduler::PRIORITIES;
use super::tier::Tier;
use super::timers::Timers;
use crate::config::Pull;
use crate::docsis31::channel::{plant_round_trip, thousandths};
use crate::docsis31::with_header;
use crate::rate_shaping_queue::{NextStage, RateShapingQueue};
use crate::shaper::RateShaper;
use crate::{DelayParts, Link, LinkContext, Passage};
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{Bytes, ChannelCounters, Instant, Meta, ModemCounters, PacketHandle, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

/// Picoseconds that a byte takes at one bit per second.
const BYTE: u64 = 8_000_000_000_000;

/// Place of a home in the order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It has no packets.
    Idle,
    /// Its head waits for tokens.
    Shaped,
    /// It is in the ring of its priority.
    Ready,
}

/// A home as the CMTS knows it.
#[derive(Debug)]
struct Home {
    queue: RateShapingQueue<dyn QueueManager>,
    priority: usize,
    quantum: i64,
    /// A byte takes as long as this many, over that many, at the modulation of the channels.
    stretch: (u64, u64),
    place: Place,
    deficit: i64,
    /// It has got its quantum for this turn.
    visited: bool,
    alone: Alone,
    counters: ModemCounters,
    tier: Tier,
}

/// Sending times of a home's packets if there were no other homes.
#[derive(Clone, Copy, Debug)]
struct Alone {
    shaper: RateShaper,
    free_at: Instant,
}

impl Alone {
    /// Returns the time at which the packet would be sent; sending takes `length`.
    fn send(&mut self, packet: &Held, length: Span) -> Instant {
        let price = self.shaper.price(Bytes(packet.meta.length.into()));
        let at = self.shaper.earliest(price).max(self.free_at);
        let at = at.max(packet.enqueued_at);
        self.shaper.debit(at, price);
        self.free_at = at + length;
        at
    }
}

impl Link for Home {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER // its group has its wake-ups
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.queue.manager().sub_flow(meta)
    }
}

/// Delays of a packet behind its queue.
#[derive(Clone, Copy, Debug)]
struct Line {
    symbol: Span,
    /// Both pipelines and the interleaver.
    pipeline: Span,
    plant: Span,
}

impl Line {
    /// The packet that leaves its queue at `now` has been sent by `sent_at`.
    fn passage(&self, packet: &Held, now: Instant, sent_at: Instant) -> Passage {
        let symbol = self.symbol.as_ps();
        let end = Instant::from_ps(sent_at.as_ps().div_ceil(symbol) * symbol);
        let delay = DelayParts {
            queue: now.saturating_since(packet.enqueued_at),
            serialisation: sent_at.saturating_since(now),
            framing: end.saturating_since(sent_at),
            pipeline: self.pipeline,
            wire: self.plant,
            ..DelayParts::default()
        };
        Passage::of(packet, now, end + self.pipeline + self.plant, delay)
    }
}

/// See the module.
#[derive(Debug)]
pub struct SharedDownstream {
    homes: Vec<Home>,
    line: Line,
    /// Bits per second.
    rate: u64,
    /// Homes whose heads wait for tokens, by when they have them.
    shaped: BinaryHeap<Reverse<(Instant, usize)>>,
    rings: [VecDeque<usize>; PRIORITIES],
    timers: Timers,
    free_at: Instant,
    /// Remainder of `free_at`'s rounding, in units of 1/rate picoseconds.
    carry: u64,
    busy: Span,
}

impl SharedDownstream {
    /// Idle channels with full buckets, homes in the order of their ports.
    ///
    /// # Panics
    /// If [`GroupConfig::problems`] would list something.
    pub fn new(config: &GroupConfig, homes: Vec<(DownstreamMemberConfig, Box<dyn QueueManager>)>) -> Self {
        let channels = &config.bonded;
        let usual = thousandths(channels.efficiency);
        let homes = homes.into_iter().map(|(member, manager)| Home {
            queue: RateShapingQueue::new(&member.shaper, Pull::WithTokens, manager),
            priority: member.priority as usize,
            quantum: i64::try_from(channels.quantum.0).unwrap_or(i64::MAX) * i64::from(member.weight),
            stretch: (usual, member.modulation.map_or(usual, thousandths)),
            place: Place::Idle,
            deficit: 0,
            visited: false,
            alone: Alone { shaper: RateShaper::new(&member.shaper), free_at: Instant::ZERO },
            counters: ModemCounters::default(),
            tier: Tier::new(member.shaper.sustained),
        });
        let homes: Vec<Home> = homes.collect();
        let symbols = &config.downstream;
        Self {
            timers: Timers::new(homes.len()),
            homes,
            line: Line {
                symbol: symbols.length(),
                pipeline: symbols.processing().saturating_sub(symbols.length()),
                plant: plant_round_trip(config.plant_km) / 2,
            },
            rate: channels.rate.as_bps(),
            shaped: BinaryHeap::new(),
            rings: Default::default(),
            free_at: Instant::ZERO,
            carry: 0,
            busy: Span::ZERO,
        }
    }

    /// The home at `port`, as a link.
    pub fn member(&self, port: usize) -> &dyn Link {
        &self.homes[port]
    }

    /// Returns the counters of the home at `port`.
    pub fn member_counters(&self, port: usize) -> ModemCounters {
        self.homes[port].counters
    }

    /// How long the channels have been busy by `now`: picoseconds stand for minislots.
    pub fn counters(&mut self, now: Instant) -> ChannelCounters {
        for home in &mut self.homes {
            home.tier.settle(now, &mut home.counters);
        }
        let to_come = self.free_at.saturating_since(now);
        ChannelCounters {
            minislots: now.as_ps(),
            granted: self.busy.saturating_sub(to_come).as_ps(),
            ..ChannelCounters::default()
        }
    }

    /// A packet for the home at `port` reaches the CMTS.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        port: usize,
        meta: Meta,
        item: PacketHandle,
        members: &mut impl Members,
    ) {
        self.on_wakeup(now, members);
        let queue = &mut self.homes[port].queue;
        let meta = with_header(meta, MAC_HEADER);
        members.at(port, &mut |context| {
            queue.run_timers(now, NextStage::default(), context);
            queue.offer(now, meta, item, NextStage::default(), context);
        });
        self.homes[port].note(now, 0);
        self.wait(now, port);
        self.follow_timer(port);
        self.serve(now, members);
    }

    /// A home that has got its first packet waits until that has its tokens.
    fn wait(&mut self, now: Instant, port: usize) {
        let home = &mut self.homes[port];
        if home.place == Place::Idle && home.queue.due() < Instant::NEVER {
            home.place = Place::Shaped;
            self.shaped.push(Reverse((home.queue.due().max(now), port)));
        }
    }

    /// The server sends while it is free and a home is ready.
    fn serve(&mut self, now: Instant, members: &mut impl Members) {
        while self.free_at <= now {
            while let Some(&Reverse((at, port))) = self.shaped.peek()
                && at <= now
            {
                self.shaped.pop();
                let home = &mut self.homes[port];
                home.place = Place::Ready;
                self.rings[home.priority].push_back(port);
            }
            let ring = self.rings.iter_mut().rev().find(|ring| !ring.is_empty());
            let Some(&port) = ring.and_then(|ring| ring.front()) else {
                return;
            };
            if !members.work(1) {
                return;
            }
            self.turn(now, port, members);
        }
    }

    /// The home at the front of its ring sends a packet, if it may.
    fn turn(&mut self, now: Instant, port: usize, members: &mut impl Members) {
        let home = &mut self.homes[port];
        if !home.visited {
            home.visited = true;
            home.deficit += home.quantum;
        }
        if home.deficit > 0 {
            let mut sent = None;
            let (line, rate, free_at, carry) = (self.line, self.rate, self.free_at, self.carry);
            members.at(port, &mut |context| {
                home.queue.run_timers(now, NextStage::default(), context);
                let packet = home.queue.release(now, now, NextStage::default(), context);
                sent = packet.map(|packet| {
                    let carry = if free_at < now { 0 } else { carry };
                    home.send(now, &packet, (rate, carry), line, context)
                });
            });
            if let Some((length, carry)) = sent {
                self.free_at = now + length;
                self.carry = carry;
                self.busy += length;
            }
        }
        self.go_on(now, port);
        self.follow_timer(port);
    }

    /// Updates the place of the home that was served last.
    fn go_on(&mut self, now: Instant, port: usize) {
        let home = &mut self.homes[port];
        let ring = &mut self.rings[home.priority];
        let due = home.queue.due();
        if due <= now {
            if home.deficit <= 0 {
                home.visited = false;
                ring.rotate_left(1);
            }
            return;
        }
        ring.pop_front();
        home.visited = false;
        home.deficit = 0;
        home.place = Place::Idle;
        self.wait(now, port);
    }

    fn follow_timer(&mut self, port: usize) {
        self.timers.follow(port, self.homes[port].queue.timer());
    }

    fn run_timers(&mut self, now: Instant, members: &mut impl Members) {
        while let Some(port) = self.timers.take(now) {
            let home = &mut self.homes[port];
            if home.queue.timer() < Instant::NEVER {
                members.at(port, &mut |context| {
                    home.queue.run_timers(now, NextStage::default(), context);
                });
                self.follow_timer(port);
            }
        }
    }
}

impl Shared for SharedDownstream {
    fn next_wakeup(&self) -> Instant {
        let ready = if self.rings.iter().any(|ring| !ring.is_empty()) {
            self.free_at
        } else {
            let first = self.shaped.peek();
            first.map_or(Instant::NEVER, |first| first.0.0.max(self.free_at))
        };
        ready.min(self.timers.next())
    }

    fn on_due(&mut self, now: Instant, members: &mut impl Members) {
        self.run_timers(now, members);
        self.serve(now, members);
    }
}

impl Home {
    /// Notes that it has sent `sent` bytes, or that its backlog has changed otherwise.
    fn note(&mut self, now: Instant, sent: u64) {
        let holds = self.queue.backlog().packets.0 > 0;
        self.tier.turn(now, (sent, holds), &mut self.counters);
    }

    /// A packet is sent from `now` on; returns how long that takes, and what is carried to the next one.
    fn send(
        &mut self,
        now: Instant,
        packet: &Held,
        (rate, carry): (u64, u64),
        line: Line,
        context: &mut dyn LinkContext,
    ) -> (Span, u64) {
        self.deficit -= i64::from(packet.meta.length);
        self.note(now, packet.meta.length.into());
        let bytes = u64::from(packet.meta.length) + u64::from(MAC_HEADER);
        let bytes = (bytes * self.stretch.0).div_ceil(self.stretch.1);
        let units = bytes * BYTE + carry;
        let length = Span::from_ps(units / rate);
        let carry = units % rate;
        let sent_at = now + length + Span::from_ps(u64::from(carry > 0));
        let passage = line.passage(packet, now, sent_at);
        let alone = self.alone.send(packet, length).min(now);
        let counters = &mut self.counters;
        counters.packets += 1;
        counters.own_rate += alone.saturating_since(packet.enqueued_at);
        counters.neighbours += now.saturating_since(alone);
        counters.line += passage.arrives_at.saturating_since(now);
        context.deliver(packet.item, &packet.meta, &passage);
        (length, carry)
    }
}

#[cfg(test)]
mod tests;
