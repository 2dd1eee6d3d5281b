//! A group at work: MAPs and grants of all modems, in the order of time.
//!
//! At one instant timers of queue managers come first, then the MAP that is heard, opportunities, grants to be filled, and
//! last packets that arrive. MAPs that nobody waits for are skipped; what they would have said is the same for all. Grants
//! without request are worked out for modems that have something to send in them.
//!
//! Source: specification of service groups, sections 3.2, 4.2 to 4.7 and 8.
//! Deviations: packets of one home are announced in the order of their arrival, those of several homes as their grants are
//! filled: each home has a line of its own. A grant without request costs tokens for what is sent in it.

#[cfg(test)]
mod one_home;
#[cfg(test)]
mod oracle;
mod requests;

use super::channels::Form;
use super::config::{Contending, GroupConfig, MemberConfig, Placement, RequestConfig, RequestUnit};
use super::contention::Contention;
use super::layout::{Layout, Provision, Unasked};
use super::modem::{Burst, Modem};
use super::scheduler::{Scheduler, Segment};
use crate::docsis31::scheduler::{LOW_LATENCY, pick};
use crate::{Draw, Link, LinkContext};
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{Bytes, ChannelCounters, Instant, Meta, ModemCounters, PacketHandle};
use sojourn_queue::{ProactiveGrants, QueueManager};

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

/// A service flow is about to use an opportunity, in order of time, channel, number and home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    at: Instant,
    channel: usize,
    opportunity: u32,
    port: usize,
    flow: usize,
}

/// A request on its way to the CMTS.
#[derive(Clone, Copy, Debug)]
struct Request {
    received_at: Instant,
    port: usize,
    flow: usize,
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
    form: Form,
    layout: Layout,
    requests: RequestConfig,
    placement: Placement,
    modems: Vec<Modem>,
    homes: Vec<Provision>,
    scheduler: Scheduler,
    /// The next MAP to be heard, and the opportunities of each channel in those before it, the oldest first.
    next_map: u64,
    known: VecDeque<u32>,
    uses: VecDeque<Use>,
    inbox: VecDeque<Request>,
    /// Modems that wait to hear whether a request was heard, with the MAP that tells.
    sent: VecDeque<(u64, usize, usize)>,
    /// Flows whose opportunity no MAP has told of yet.
    undecided: Vec<(usize, usize)>,
    fills: VecDeque<Fill>,
    /// When low-latency flows that hold packets have their next grants without request.
    unasked: BinaryHeap<Reverse<(Instant, usize)>>,
    is_unasked: Vec<bool>,
    /// Timers of managers whose queues are not empty; some may be outdated.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    segments: Vec<Segment>,
    free: Vec<u64>,
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
        let (members, managers): (Vec<_>, Vec<_>) = homes.into_iter().unzip();
        let (layout, homes) = Layout::new(config, &members);
        let modems = managers.into_iter().zip(&members).zip(&homes);
        let modems = modems.map(|((manager, member), home)| {
            let guarantee = member.proactive.guarantee();
            let grants = home.unasked.zip(guarantee).map(|(unasked, guarantee)| {
                let frame = layout.grid.channels[home.first].frame;
                ProactiveGrants {
                    rate: guarantee.rate,
                    interval: frame * unasked.grants.period,
                }
            });
            let times = (layout.grid.loop_delay, grants.unwrap_or_default());
            Modem::new(manager, member, config.requests.unit, times)
        });
        Self {
            modems: modems.collect(),
            scheduler: Scheduler::new(config, &members, &layout.grid),
            is_unasked: alloc::vec![false; homes.len()],
            homes,
            form: config.form,
            layout,
            requests: RequestConfig {
                contention: match config.form {
                    Form::Pon => Contending::Ideal, // reports are never lost
                    Form::Docsis30 | Form::Docsis31 => config.requests.contention,
                },
                ..config.requests
            },
            placement: config.scheduler.placement,
            next_map: 0,
            known: VecDeque::new(),
            uses: VecDeque::new(),
            inbox: VecDeque::new(),
            sent: VecDeque::new(),
            undecided: Vec::new(),
            fills: VecDeque::new(),
            unasked: BinaryHeap::new(),
            timers: BinaryHeap::new(),
            segments: Vec::new(),
            free: Vec::new(),
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
        let maps = end.saturating_sub(self.counted);
        if maps == 0 {
            return;
        }
        self.counters.maps += maps;
        for channel in 0..self.layout.grid.channels.len() {
            self.counters.minislots += maps * self.layout.grid.channels[channel].minislots();
            if !self.layout.has_unasked() {
                self.counters.opportunities +=
                    maps * u64::from(self.idle_opportunities(0, channel));
                continue;
            }
            for map in self.counted..end {
                self.counters.granted += self.layout.unasked_in(map, channel);
                let idle = self.idle_opportunities(map, channel);
                self.counters.opportunities += u64::from(idle);
            }
        }
        self.counted = end;
    }

    fn range(&self) -> (u32, u32) {
        (self.requests.minimum, self.requests.fill)
    }

    fn idle_opportunities(&self, map: u64, channel: usize) -> u32 {
        let fixed = self.layout.unasked_in(map, channel);
        self.layout.grid.channels[channel].opportunities(self.range(), fixed)
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
            self.layout.grid.heard_at(self.next_map)
        };
        let fill = self.next_fill().min(self.next_unasked());
        timer.min(map).min(self.next_use()).min(fill)
    }

    fn next_use(&self) -> Instant {
        self.uses.front().map_or(Instant::NEVER, |first| first.at)
    }

    fn next_fill(&self) -> Instant {
        self.fills.front().map_or(Instant::NEVER, |first| first.at)
    }

    fn next_unasked(&self) -> Instant {
        let first = self.unasked.peek();
        first.map_or(Instant::NEVER, |first| first.0.0)
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
        let mut placed = None;
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            placed = modem.enqueue(now, (meta, item), scheduler, port, context);
        });
        self.follow_timer(port);
        if let Some(flow) = placed {
            self.expect_unasked(now, port);
            members.at(port, &mut |context| self.enter(now, (port, flow), context));
        }
    }

    /// Everything that is due by `now`.
    pub fn on_wakeup(&mut self, now: Instant, members: &mut impl Members) {
        loop {
            let at = self.next_wakeup();
            if at > now || !members.work(1) {
                return;
            }
            self.run_timers(at, members);
            if !self.is_idle() && self.layout.grid.heard_at(self.next_map) <= at {
                self.on_map(at, members);
            }
            if self.next_use() <= at {
                self.on_opportunities(at);
            }
            while self.next_fill() <= at {
                self.on_fill(at, members);
            }
            while self.next_unasked() <= at {
                self.on_unasked(at, members);
            }
        }
    }

    /// MAPs that nobody has waited for are known to all by `now`.
    fn skip_idle(&mut self, now: Instant) {
        if !self.is_idle() {
            return;
        }
        let next = self.layout.grid.first_unheard(now);
        if next > self.next_map {
            self.count_idle(next);
            let oldest = self.layout.grid.interval_of(now);
            for map in oldest.max(self.next_map)..next {
                for channel in 0..self.layout.grid.channels.len() {
                    self.known.push_back(self.idle_opportunities(map, channel));
                }
            }
            self.next_map = next;
        }
        self.forget(now);
    }

    /// Intervals that are over need not be known.
    fn forget(&mut self, now: Instant) {
        let needed = self
            .next_map
            .saturating_sub(self.layout.grid.interval_of(now));
        let needed = needed * self.layout.grid.channels.len() as u64;
        while self.known.len() as u64 > needed {
            self.known.pop_front();
        }
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
        let starts_at = self.layout.grid.starts_at(map);
        while let Some(request) = self.inbox.front().copied() {
            if request.received_at > self.layout.grid.made_at(map) {
                break;
            }
            self.inbox.pop_front();
            let flow = (request.port, request.flow);
            let end = self.scheduler.request(flow, request.bytes);
            let interval = self
                .layout
                .grid
                .starts_at(self.layout.grid.acknowledged_by(request.sent));
            self.modems[request.port].flows[request.flow].heard(
                end,
                (request.first, request.sent),
                interval,
            );
        }
        self.grant_unasked(map);
        self.count_idle(map);
        self.counted = map + 1;
        self.free.clear();
        for channel in 0..self.layout.grid.channels.len() {
            let fixed = self.layout.unasked_in(map, channel);
            let data = self.layout.grid.channels[channel].data(self.requests.minimum);
            self.free.push(data.saturating_sub(fixed));
        }
        let mut segments = core::mem::take(&mut self.segments);
        self.scheduler
            .allocate((now, starts_at), &self.free, &mut segments);
        self.count_map(map, &segments);
        self.next_map += 1;
        self.forget(now);
        self.place_at_random(map, &mut segments, members);
        let before = self.known.len() - self.free.len();
        for segment in &segments {
            let opportunities = self.known[before + segment.channel];
            self.expect(now, map, opportunities, segment);
        }
        self.order_fills(segments.len());
        self.segments = segments;
        self.decide(map, now, members);
        while let Some(&(told, port, flow)) = self.sent.front() {
            if told > map {
                break;
            }
            self.sent.pop_front();
            members.at(port, &mut |context| {
                self.on_answer(now, (port, flow), context);
            });
        }
    }

    /// A grant is known: when it is filled, and what that changes for its modem.
    fn expect(&mut self, now: Instant, map: u64, opportunities: u32, segment: &Segment) {
        let channel = (map, segment.channel);
        let (at, place) = self.layout.place(channel, opportunities, segment.first);
        let begins = self.layout.grid.channels[segment.channel].begins_at(at, place);
        self.fills.push_back(Fill {
            at: self.layout.grid.filled_at(begins).max(now),
            map,
            opportunities,
            segment: *segment,
        });
        let flow = &mut self.modems[segment.port].flows[segment.flow];
        flow.outstanding = flow.outstanding.saturating_sub(segment.payload);
        flow.due += segment.payload;
        flow.mac.granted += Bytes(segment.payload);
        if matches!(flow.contention, Contention::Deferring { .. })
            && self.requests.contention == Contending::Collisions
        {
            flow.contention = Contention::Idle;
        }
        if self.requests.contention == Contending::Ideal {
            flow.note_grant(map);
        }
    }

    /// The last `count` grants are filled in order of time and channel.
    fn order_fills(&mut self, count: usize) {
        if self.layout.grid.channels.len() > 1 {
            let from = self.fills.len() - count;
            let fills = self.fills.make_contiguous();
            fills[from..].sort_by_key(|fill| (fill.at, fill.segment.channel, fill.segment.first));
        }
    }

    /// The grants of the only modem that has some lie at a random place of their channel.
    fn place_at_random(&mut self, map: u64, segments: &mut [Segment], members: &mut impl Members) {
        let Some(port) = segments.first().map(|segment| segment.port) else {
            return;
        };
        let is_alone = segments.iter().all(|segment| segment.port == port);
        if self.placement != Placement::Random || !is_alone {
            return;
        }
        let mut unit = 0.0;
        members.at(port, &mut |context| {
            unit = context.unit_at(Draw::GrantOffset, map);
        });
        for channel in 0..self.layout.grid.channels.len() {
            let here = segments
                .iter_mut()
                .filter(|segment| segment.channel == channel);
            let here: Vec<&mut Segment> = here.collect();
            let taken: u64 = here.iter().map(|segment| segment.minislots).sum();
            let offset = pick(self.free[channel].saturating_sub(taken), unit);
            for segment in here {
                segment.first += offset;
            }
        }
    }

    fn count_map(&mut self, map: u64, segments: &[Segment]) {
        self.counters.maps += 1;
        let mut is_full = true;
        for channel in 0..self.layout.grid.channels.len() {
            let here = segments.iter().filter(|segment| segment.channel == channel);
            let granted: u64 = here.map(|segment| segment.minislots).sum();
            let fixed = self.layout.unasked_in(map, channel);
            let grid = &self.layout.grid.channels[channel];
            let opportunities = grid.opportunities(self.range(), granted + fixed);
            is_full &= granted >= self.free[channel];
            self.counters.minislots += grid.minislots();
            self.counters.granted += granted + fixed;
            self.counters.opportunities += u64::from(opportunities);
            self.known.push_back(opportunities);
        }
        self.counters.full_maps += u64::from(is_full);
    }

    /// What flows get in interval `map` without having asked for it takes from what they have asked for.
    fn grant_unasked(&mut self, map: u64) {
        if !self.layout.has_unasked() {
            return;
        }
        for port in 0..self.homes.len() {
            let home = &self.homes[port];
            let Some(unasked) = home.unasked else {
                continue;
            };
            let frames = self.layout.grid.channels[home.first].frames;
            let count = unasked.before((map + 1) * frames) - unasked.before(map * frames);
            let bytes = count * unasked.payload;
            let served = self.scheduler.grant_unasked(port, bytes);
            let flow = &mut self.modems[port].flows[LOW_LATENCY];
            flow.outstanding = flow.outstanding.saturating_sub(bytes);
            flow.skip(served);
        }
    }

    /// The next grant without request of a home that is filled after `now`: when, and its frame.
    fn unasked_after(&self, now: Instant, port: usize) -> Option<(Instant, u64, Unasked)> {
        let home = &self.homes[port];
        let unasked = home.unasked?;
        let grid = &self.layout.grid;
        let frame = grid.channels[home.first].frame;
        let begun = (now + grid.preparation).as_ps() / frame.as_ps();
        let number = unasked.from(begun + 1);
        let at = grid.filled_at(Instant::ZERO + frame * number);
        Some((at, number, unasked))
    }

    /// Bytes of grants without request that a flow knows of and that are to come.
    fn coming(&self, now: Instant, (port, flow): (usize, usize)) -> u64 {
        if flow != LOW_LATENCY {
            return 0;
        }
        let Some((_, next, unasked)) = self.unasked_after(now, port) else {
            return 0;
        };
        let frames = self.layout.grid.channels[self.homes[port].first].frames;
        let known = unasked.before(self.next_map * frames);
        known.saturating_sub(unasked.before(next)) * unasked.payload
    }

    /// A low-latency flow that holds packets uses its next grant without request.
    fn expect_unasked(&mut self, now: Instant, port: usize) {
        if self.is_unasked[port] || self.modems[port].held(LOW_LATENCY) == 0 {
            return;
        }
        if let Some((at, ..)) = self.unasked_after(now, port) {
            self.is_unasked[port] = true;
            self.unasked.push(Reverse((at, port)));
        }
    }

    /// Such a grant is filled.
    fn on_unasked(&mut self, now: Instant, members: &mut impl Members) {
        let Some(Reverse((_, port))) = self.unasked.pop() else {
            return;
        };
        self.is_unasked[port] = false;
        let home = self.homes[port];
        let Some(Unasked { payload, .. }) = home.unasked else {
            return;
        };
        self.piggyback(now, (port, LOW_LATENCY));
        let grid = &self.layout.grid;
        let channel = &grid.channels[home.first];
        let frame = (now + grid.preparation).as_ps() / channel.frame.as_ps();
        let frame_at = Instant::ZERO + channel.frame * frame;
        let header = self.scheduler.header();
        let cap = self.scheduler.cap(port, home.first).max(1);
        let length = channel.on_air();
        let place = |byte: u64| {
            let complete_at = channel.complete_at(frame_at, (header + byte) / cap);
            (complete_at - length, length)
        };
        let burst = Burst {
            flow: LOW_LATENCY,
            payload,
            requested: 0,
            starts_at: grid.starts_at(grid.interval_of(frame_at)),
            place: &place,
            behind: channel.behind,
        };
        let (modem, scheduler) = (&mut self.modems[port], &mut self.scheduler);
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            let (used, headers) = modem.fill(now, &burst, scheduler, port, context);
            scheduler.pay(now, port, used.saturating_sub(headers));
            let mac = &mut modem.flows[LOW_LATENCY].mac;
            mac.granted += Bytes(payload);
            mac.unused_grant += Bytes(payload - used);
        });
        self.follow_timer(port);
        self.expect_unasked(now, port);
    }

    /// A burst is prepared: it asks for what is not asked for, and takes what it carries from the queue.
    fn on_fill(&mut self, now: Instant, members: &mut impl Members) {
        let Some(fill) = self.fills.pop_front() else {
            return;
        };
        let segment = fill.segment;
        let (port, flow) = (segment.port, segment.flow);
        if self.requests.unit == RequestUnit::Queue {
            self.piggyback(now, (port, flow));
        }
        let state = &mut self.modems[port].flows[flow];
        state.due = state.due.saturating_sub(segment.payload);
        let header = self.scheduler.header();
        let cap = self.scheduler.cap(port, segment.channel).max(1);
        let layout = &self.layout;
        let channel = &layout.grid.channels[segment.channel];
        let length = channel.on_air();
        let place = |byte: u64| {
            let minislot = segment.first + (header + byte) / cap;
            let of = (fill.map, segment.channel);
            let (frame_at, place) = layout.place(of, fill.opportunities, minislot);
            (channel.complete_at(frame_at, place) - length, length)
        };
        let burst = Burst {
            flow,
            payload: segment.payload,
            requested: segment.requested,
            starts_at: layout.grid.starts_at(fill.map),
            place: &place,
            behind: channel.behind,
        };
        let (modem, scheduler) = (&mut self.modems[port], &mut self.scheduler);
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            let (used, headers) = modem.fill(now, &burst, scheduler, port, context);
            scheduler.pay_back(now, port, segment.payload - used + headers);
            modem.flows[flow].mac.unused_grant += Bytes(segment.payload - used);
        });
        if self.requests.unit == RequestUnit::Packet {
            self.piggyback(now, (port, flow));
        }
        self.follow_timer(port);
    }
}

#[cfg(test)]
mod tests;
