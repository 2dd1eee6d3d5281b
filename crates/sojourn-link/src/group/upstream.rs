//! A group at work: MAPs, opportunities and grants of all modems, in the order of time.
//!
//! At one instant timers of queue managers come first, then the MAP that is heard, opportunities, grants to be filled, and
//! last packets that arrive. MAPs that nobody waits for are skipped; what they would have said is the same for all.
//!
//! Source: specification of service groups, sections 3.2, 4.2 to 4.7 and 8.
//! Deviations: packets of one home are announced in the order of their arrival, those of several homes as their grants are
//! filled: each home has a line of its own.

use super::config::{GroupConfig, MemberConfig, RequestConfig};
use super::contention::{Contention, Tries, deferral};
use super::grid::Grid;
use super::modem::Modem;
use super::scheduler::{Scheduler, Segment};
use crate::{Draw, Link, LinkContext, Loss, Stage};
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{Bytes, ChannelCounters, Instant, Meta, ModemCounters, PacketHandle};
use sojourn_queue::{QueueManager, Reason};

/// What lies around the modems of a group, one by one.
pub trait Members {
    /// Calls `act` with what the modem at `port` may ask and tell.
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext));

    /// See [`LinkContext::work`].
    fn work(&mut self, units: u64) -> bool {
        let _ = units;
        true
    }
}

/// A modem is about to use an opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    frame: u64,
    opportunity: u32,
    port: usize,
}

/// A request on its way to the CMTS.
#[derive(Clone, Copy, Debug)]
struct Request {
    received_at: Instant,
    port: usize,
    bytes: u64,
    first: Instant,
    sent: Instant,
}

/// A grant that is known and not filled.
#[derive(Clone, Copy, Debug)]
struct Fill {
    at: Instant,
    map: u64,
    opportunities: u32,
    segment: Segment,
}

/// See the module.
#[derive(Debug)]
pub struct Group {
    grid: Grid,
    requests: RequestConfig,
    modems: Vec<Modem>,
    scheduler: Scheduler,
    /// The next MAP to be heard, and the opportunities of those before it, the oldest first.
    next_map: u64,
    known: VecDeque<u32>,
    uses: VecDeque<Use>,
    inbox: VecDeque<Request>,
    /// Modems that wait to hear whether a request was heard, with the MAP that tells.
    sent: VecDeque<(u64, usize)>,
    /// Modems whose opportunity no MAP has told of yet.
    undecided: Vec<usize>,
    fills: VecDeque<Fill>,
    /// Timers of managers whose queues are not empty; some may be outdated.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    segments: Vec<Segment>,
    counters: ChannelCounters,
    /// MAPs that are counted.
    counted: u64,
}

impl Group {
    /// Idle modems, in the order of their ports.
    ///
    /// # Panics
    /// If [`GroupConfig::problems`] would list something.
    pub fn new(config: &GroupConfig, homes: Vec<(MemberConfig, Box<dyn QueueManager>)>) -> Self {
        let grid = config.grid();
        let (members, managers): (Vec<_>, Vec<_>) = homes.into_iter().unzip();
        let loop_delay = grid.timeline.loop_delay();
        let modems = managers.into_iter();
        Self {
            scheduler: Scheduler::new(config, &members, grid.timeline.interval),
            modems: modems
                .map(|manager| Modem::new(manager, loop_delay))
                .collect(),
            requests: config.requests,
            grid,
            next_map: 0,
            known: VecDeque::new(),
            uses: VecDeque::new(),
            inbox: VecDeque::new(),
            sent: VecDeque::new(),
            undecided: Vec::new(),
            fills: VecDeque::new(),
            timers: BinaryHeap::new(),
            segments: Vec::new(),
            counters: ChannelCounters::default(),
            counted: 0,
        }
    }

    /// The modem at `port`, as a link.
    pub fn member(&self, port: usize) -> &dyn Link {
        &self.modems[port]
    }

    /// What was counted of the modem at `port`.
    pub fn member_counters(&self, port: usize) -> ModemCounters {
        self.modems[port].counters
    }

    /// What the CMTS has counted in the MAPs that are heard by `now`.
    pub fn counters(&mut self, now: Instant) -> ChannelCounters {
        self.skip_idle(now);
        self.counters
    }

    /// MAPs before `end` that were skipped count as idle.
    fn count_idle(&mut self, end: u64) {
        let idle = u64::from(self.idle_opportunities());
        let maps = end.saturating_sub(self.counted);
        self.counters.maps += maps;
        self.counters.minislots += maps * self.grid.timeline.minislots();
        self.counters.opportunities += maps * idle;
        self.counted += maps;
    }

    fn range(&self) -> (u32, u32) {
        (self.requests.minimum, self.requests.fill)
    }

    fn idle_opportunities(&self) -> u32 {
        self.grid.opportunities(self.range(), 0)
    }

    /// Nobody waits for a MAP.
    fn is_idle(&self) -> bool {
        self.scheduler.is_idle()
            && self.uses.is_empty()
            && self.inbox.is_empty()
            && self.sent.is_empty()
            && self.undecided.is_empty()
            && self.fills.is_empty()
    }

    /// When the group wants to be called next; [`Instant::NEVER`] if nothing is pending.
    pub fn next_wakeup(&self) -> Instant {
        let timer = self.timers.peek().map_or(Instant::NEVER, |first| first.0.0);
        let map = if self.is_idle() {
            Instant::NEVER
        } else {
            self.grid.timeline.heard_at(self.next_map)
        };
        timer.min(map).min(self.next_use()).min(self.next_fill())
    }

    fn next_use(&self) -> Instant {
        let next = self.uses.front();
        next.map_or(Instant::NEVER, |first| self.grid.frame_at(first.frame))
    }

    fn next_fill(&self) -> Instant {
        self.fills.front().map_or(Instant::NEVER, |first| first.at)
    }

    /// A packet reaches the modem at `port`.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        port: usize,
        meta: Meta,
        item: PacketHandle,
        members: &mut impl Members,
    ) {
        self.on_wakeup(now, members);
        self.skip_idle(now);
        let (modem, scheduler) = (&mut self.modems[port], &self.scheduler);
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            modem.enqueue(now, (meta, item), scheduler, port, context);
        });
        self.follow_timer(port);
        members.at(port, &mut |context| self.enter(now, port, context));
    }

    /// Everything that is due by `now`.
    pub fn on_wakeup(&mut self, now: Instant, members: &mut impl Members) {
        loop {
            let at = self.next_wakeup();
            if at > now || !members.work(1) {
                return;
            }
            self.run_timers(at, members);
            if !self.is_idle() && self.grid.timeline.heard_at(self.next_map) <= at {
                self.on_map(at, members);
            }
            if self.next_use() <= at {
                self.on_opportunities(at);
            }
            while self.next_fill() <= at {
                self.on_fill(at, members);
            }
        }
    }

    /// MAPs that nobody has waited for are known to all by `now`.
    fn skip_idle(&mut self, now: Instant) {
        if !self.is_idle() {
            return;
        }
        let next = self.grid.first_unheard(now);
        if next > self.next_map {
            self.count_idle(next);
            let idle = self.idle_opportunities();
            let oldest = self.grid.interval_of(now);
            let kept = next.saturating_sub(oldest.max(self.next_map));
            self.known.extend((0..kept).map(|_| idle));
            self.next_map = next;
        }
        self.forget(now);
    }

    /// Intervals that are over need not be known.
    fn forget(&mut self, now: Instant) {
        let needed = self.next_map.saturating_sub(self.grid.interval_of(now));
        while self.known.len() as u64 > needed {
            self.known.pop_front();
        }
    }

    /// Opportunities of interval `map`, if its MAP is known and the interval not over.
    fn opportunities_of(&self, map: u64) -> Option<u32> {
        let oldest = self.next_map - self.known.len() as u64;
        let index = usize::try_from(map.checked_sub(oldest)?).ok()?;
        self.known.get(index).copied()
    }

    fn follow_timer(&mut self, port: usize) {
        let modem = &mut self.modems[port];
        if modem.timer < modem.followed && modem.has_packets() {
            modem.followed = modem.timer;
            self.timers.push(Reverse((modem.timer, port)));
        }
    }

    fn run_timers(&mut self, now: Instant, members: &mut impl Members) {
        while let Some(&Reverse((at, port))) = self.timers.peek() {
            if at > now {
                return;
            }
            self.timers.pop();
            let (modem, scheduler) = (&mut self.modems[port], &self.scheduler);
            modem.followed = Instant::NEVER;
            if modem.has_packets() {
                members.at(port, &mut |context| {
                    modem.run_timers(now, scheduler, port, context);
                });
                self.follow_timer(port);
            }
        }
    }

    /// All modems hear the next MAP, which is made of the requests that had come when it was made.
    fn on_map(&mut self, now: Instant, members: &mut impl Members) {
        let map = self.next_map;
        let timeline = self.grid.timeline;
        let starts_at = timeline.starts_at(map);
        while let Some(request) = self.inbox.front().copied() {
            if request.received_at > timeline.made_at(map) {
                break;
            }
            self.inbox.pop_front();
            let end = self.scheduler.request(request.port, request.bytes);
            let interval = timeline.starts_at(self.grid.acknowledged_by(request.sent));
            self.modems[request.port].heard(end, (request.first, request.sent), interval);
        }
        let free = self.grid.data(self.requests.minimum);
        let mut segments = core::mem::take(&mut self.segments);
        self.scheduler
            .allocate((now, starts_at), free, &mut segments);
        let granted: u64 = segments.iter().map(|segment| segment.minislots).sum();
        let opportunities = self.grid.opportunities(self.range(), granted);
        self.count_map(map, granted, (free, opportunities));
        self.known.push_back(opportunities);
        self.next_map += 1;
        self.forget(now);
        self.decide(map, opportunities);
        for segment in &segments {
            let frame = self.grid.frame_of_data(opportunities, segment.first);
            let begins = timeline.frame_at(map, frame);
            let fill = Fill {
                at: timeline.prepared_at(begins).max(now),
                map,
                opportunities,
                segment: *segment,
            };
            self.fills.push_back(fill);
            let modem = &mut self.modems[segment.port];
            modem.outstanding = modem.outstanding.saturating_sub(segment.payload);
            modem.due += segment.payload;
            modem.mac.granted += Bytes(segment.payload);
            if matches!(modem.contention, Contention::Deferring { .. }) {
                modem.contention = Contention::Idle;
            }
        }
        self.segments = segments;
        while let Some(&(told, port)) = self.sent.front() {
            if told > map {
                break;
            }
            self.sent.pop_front();
            members.at(port, &mut |context| self.on_answer(now, port, context));
        }
    }

    fn count_map(&mut self, map: u64, granted: u64, (free, opportunities): (u64, u32)) {
        self.count_idle(map);
        self.counted = map + 1;
        self.counters.maps += 1;
        self.counters.full_maps += u64::from(granted >= free);
        self.counters.minislots += self.grid.timeline.minislots();
        self.counters.granted += granted;
        self.counters.opportunities += u64::from(opportunities);
    }

    /// A packet has come, or a request was answered: the modem contends if it must.
    fn enter(&mut self, now: Instant, port: usize, context: &mut dyn LinkContext) {
        let modem = &self.modems[port];
        if modem.contention != Contention::Idle
            || modem.due > 0
            || modem.outstanding > 0 && !self.requests.contend_while_pending
            || modem.need() == 0
        {
            return;
        }
        let map = self.grid.interval_of(now);
        let opportunities = self.opportunities_of(map).unwrap_or(self.requests.minimum);
        let frames = self.grid.timeline.frames;
        let tries = Tries {
            exponent: self.requests.first_exponent(opportunities, frames),
            repeated: 0,
            since: now,
            first: None,
        };
        self.defer(now, port, tries, context);
    }

    /// The modem draws how many opportunities it lets pass, of those that are still to come.
    fn defer(&mut self, now: Instant, port: usize, tries: Tries, context: &mut dyn LinkContext) {
        let map = self.grid.interval_of(now);
        let number = self.modems[port].draw(map);
        let mut left = deferral(context.unit_at(Draw::Backoff, number), tries.exponent);
        let frames = self.grid.timeline.frames;
        // The frame that begins now is too late.
        let frame = now.as_ps() / self.grid.timeline.frame.as_ps() + 1 - map * frames;
        let mut at = None;
        for map in map..self.next_map {
            let Some(count) = self.opportunities_of(map) else {
                continue;
            };
            let begun = if map == self.grid.interval_of(now) {
                (frame * u64::from(count))
                    .div_ceil(frames)
                    .min(u64::from(count))
            } else {
                0
            };
            let rest = u64::from(count) - begun;
            if left < rest {
                at = Some(self.place(map, count, begun + left));
                break;
            }
            left -= rest;
        }
        self.register(port, at);
        self.modems[port].contention = Contention::Deferring { at, left, tries };
    }

    fn place(&self, map: u64, count: u32, number: u64) -> (u64, u32) {
        let number = u32::try_from(number).expect("opportunities are numbered in 32 bits");
        let frame = self.grid.frame_of_opportunity(count, number);
        (map * self.grid.timeline.frames + frame, number)
    }

    fn register(&mut self, port: usize, at: Option<(u64, u32)>) {
        let Some((frame, opportunity)) = at else {
            let modem = &mut self.modems[port];
            if !modem.is_undecided {
                modem.is_undecided = true;
                self.undecided.push(port);
            }
            return;
        };
        let this = Use {
            frame,
            opportunity,
            port,
        };
        let place = self.uses.partition_point(|other| *other < this);
        if self.uses.get(place) != Some(&this) {
            self.uses.insert(place, this);
        }
    }

    /// Those who waited for this MAP learn whether their opportunity is in it.
    fn decide(&mut self, map: u64, count: u32) {
        let mut undecided = core::mem::take(&mut self.undecided);
        undecided.retain(|&port| {
            self.modems[port].is_undecided = false;
            let Contention::Deferring {
                at: None,
                left,
                tries,
            } = self.modems[port].contention
            else {
                return false;
            };
            let (at, left) = if left < u64::from(count) {
                (Some(self.place(map, count, left)), 0)
            } else {
                (None, left - u64::from(count))
            };
            self.modems[port].contention = Contention::Deferring { at, left, tries };
            if at.is_some() {
                self.register(port, at);
            }
            self.modems[port].is_undecided = at.is_none();
            at.is_none()
        });
        self.undecided = undecided;
    }

    /// The opportunities of a frame that begins: whoever is alone in one is heard.
    fn on_opportunities(&mut self, now: Instant) {
        let frame = self.uses.front().map_or(0, |first| first.frame);
        while let Some(first) = self.uses.front().copied().filter(|it| it.frame == frame) {
            let at = Some((frame, first.opportunity));
            let mut alone = None;
            let mut users = 0;
            while let Some(it) = self.uses.front().copied() {
                if (it.frame, it.opportunity) != (frame, first.opportunity) {
                    break;
                }
                self.uses.pop_front();
                if let Some(asked) = self.ask(now, it.port, at) {
                    users += 1;
                    alone = Some((it.port, asked));
                    // Told after all have asked, as a loss until then.
                    self.sent
                        .push_back((self.grid.acknowledged_by(now), it.port));
                }
            }
            self.counters.used += u64::from(users > 0);
            self.counters.collided += u64::from(users > 1);
            if let (1, Some((port, bytes))) = (users, alone) {
                self.hear(now, port, bytes);
            }
        }
    }

    /// The modem requests at its opportunity, if it still wants to; returns for how many bytes.
    fn ask(&mut self, now: Instant, port: usize, here: Option<(u64, u32)>) -> Option<u64> {
        let modem = &mut self.modems[port];
        let Contention::Deferring { at, mut tries, .. } = modem.contention else {
            return None;
        };
        if at != here {
            return None;
        }
        let asked = modem.need();
        if asked == 0 {
            modem.contention = Contention::Idle;
            return None;
        }
        tries.first = tries.first.or(Some(now));
        modem.outstanding += asked;
        modem.counters.attempts += 1;
        modem.counters.collided += 1;
        modem.mac.requested += Bytes(asked);
        modem.contention = Contention::Sent {
            map: self.grid.acknowledged_by(now),
            lost: true,
            asked,
            tries,
        };
        Some(asked)
    }

    /// The request of a modem that was alone arrives.
    fn hear(&mut self, now: Instant, port: usize, bytes: u64) {
        let received_at = now + self.grid.timeline.request;
        let modem = &mut self.modems[port];
        let mut first = now;
        if let Contention::Sent { lost, tries, .. } = &mut modem.contention {
            *lost = false;
            first = tries.first.unwrap_or(now);
            modem.counters.collided -= 1;
            modem.counters.heard += 1;
            modem.counters.request_delay += received_at.saturating_since(tries.since);
        }
        self.inbox.push_back(Request {
            received_at,
            port,
            bytes,
            first,
            sent: now,
        });
    }

    /// A MAP tells a modem whether its request was heard.
    fn on_answer(&mut self, now: Instant, port: usize, context: &mut dyn LinkContext) {
        let modem = &mut self.modems[port];
        let Contention::Sent {
            lost, asked, tries, ..
        } = modem.contention
        else {
            return;
        };
        modem.contention = Contention::Idle;
        if !lost {
            self.enter(now, port, context);
            return;
        }
        modem.outstanding = modem.outstanding.saturating_sub(asked);
        if modem.need() == 0 || modem.due > 0 {
            return; // what it holds is asked for, or a grant will ask
        }
        if tries.repeated == self.requests.retries {
            if let Some(packet) = modem.take(now, &self.scheduler, port, context) {
                modem.counters.given_up += 1;
                let loss = Loss {
                    entered_at: packet.enqueued_at,
                    stage: Stage::TransmitQueue,
                    reason: Reason::Unheard,
                    sub_flow: packet.sub_flow,
                };
                context.dropped(packet.item, &packet.meta, &loss);
            }
            self.enter(now, port, context);
            return;
        }
        let tries = Tries {
            exponent: (tries.exponent + 1).min(self.requests.end),
            repeated: tries.repeated + 1,
            ..tries
        };
        self.defer(now, port, tries, context);
    }

    /// A burst is prepared: it asks for what is not asked for, and takes what it carries from the queue.
    fn on_fill(&mut self, now: Instant, members: &mut impl Members) {
        let Some(fill) = self.fills.pop_front() else {
            return;
        };
        let port = fill.segment.port;
        let modem = &mut self.modems[port];
        let bytes = modem.need();
        if bytes > 0 {
            modem.outstanding += bytes;
            modem.mac.requested += Bytes(bytes);
            self.inbox.push_back(Request {
                received_at: now + self.grid.timeline.request,
                port,
                bytes,
                first: now,
                sent: now,
            });
        }
        let (scheduler, grid) = (&mut self.scheduler, &self.grid);
        let grant = (&fill.segment, fill.map, fill.opportunities);
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            modem.fill(now, grant, grid, scheduler, context);
        });
        self.follow_timer(port);
    }
}

#[cfg(test)]
mod tests;
