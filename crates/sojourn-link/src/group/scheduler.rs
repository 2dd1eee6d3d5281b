//! Grants of the CMTS in a MAP: reserved rates, then priorities, then the homes of one priority by an order of choice.
//!
//! A home is granted its requests, as far as its token buckets allow. Grants are whole minislots; the excess of
//! rounding is a debt of the buckets, so that rates hold exactly in the long run. A home that is bonded over several
//! channels gets each turn on the one with the most room. The two service flows of a home share its grant by weight.
//!
//! Source: chosen, since schedulers of CMTSs are not public: docs/models/service-group.md, "The scheduler".
//! Deviations: a reserved bucket has no debt beyond a minislot, so that what a home got beside its reserved rate while the
//! channel was free does not count against it later.

mod order;

use super::config::{GroupConfig, MemberConfig, Order, Share, SharingConfig};
use super::grid::Grid;
use crate::docsis31::scheduler::{CLASSIC, LOW_LATENCY, allocate};
use crate::shaper::RateShaper;
use crate::token_bucket::TokenBucket;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant};

/// Priorities of service flows.
pub(super) const PRIORITIES: usize = 8;

/// Grant of a service flow on one channel in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The home and its flow.
    pub(super) port: usize,
    pub(super) flow: usize,
    pub(super) channel: usize,
    /// First data minislot of the interval, and how many.
    pub(super) first: u64,
    pub(super) minislots: u64,
    /// Bytes that it carries, and those of them that were requested.
    pub(super) payload: u64,
    pub(super) requested: u64,
}

/// A service flow as the CMTS knows it.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Bytes requested and not granted.
    backlog: u64,
    /// Bytes of requests granted so far.
    granted: u64,
    /// As many as would have been granted so far if there were no other homes.
    alone: u64,
    /// Times at which requested bytes came within the buckets, and would have been granted without other homes:
    /// position in the stream of requested bytes, start of the interval.
    eligible: VecDeque<(u64, Instant)>,
}

/// A home as the CMTS knows it.
#[derive(Clone, Debug)]
struct Port {
    /// Bytes of a minislot of each channel, zero where it has no part.
    caps: Vec<u64>,
    priority: usize,
    weight: u64,
    buckets: RateShaper,
    reserved: Option<TokenBucket>,
    flows: [Flow; 2],
    deficit: u64,
    visited: bool,
    in_ring: bool,
    /// Bytes that it may still get in this MAP, and its grants on each channel.
    want: u64,
    given: Vec<u64>,
}

impl Port {
    fn backlog(&self) -> u64 {
        self.flows.iter().map(|flow| flow.backlog).sum()
    }

    /// Its first minislots of a channel in a MAP pay for the headers of its segments there.
    fn begin(&mut self, channel: usize, header: u64) {
        if self.given[channel] == 0 {
            let waiting = self.flows.iter().filter(|flow| flow.backlog > 0);
            self.want += header * waiting.count() as u64;
        }
    }

    /// The channel on which it has most room.
    fn channel(&self, free: &[u64]) -> Option<usize> {
        let mut best = None;
        for (channel, (free, cap)) in free.iter().zip(&self.caps).enumerate() {
            let room = free * cap;
            if room > best.map_or(0, |(room, _)| room) {
                best = Some((room, channel));
            }
        }
        best.map(|(_, channel)| channel)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    ports: Vec<Port>,
    rings: [VecDeque<usize>; PRIORITIES],
    /// Homes with a backlog, in the order in which they got it.
    active: Vec<usize>,
    /// Requests in the order of their arrival, for a CMTS that goes by it: home and bytes.
    arrived: VecDeque<(usize, u64)>,
    kind: Order,
    share: Share,
    quantum: u64,
    header: u64,
    /// Free data minislots of each channel in this MAP.
    free: Vec<u64>,
    /// Segments of this MAP, in the order of their first give: home, channel.
    order: Vec<(usize, usize)>,
    /// First minislot of each channel that is not written.
    next: Vec<u64>,
}

impl Scheduler {
    pub(super) fn new(group: &GroupConfig, members: &[MemberConfig], grid: &Grid) -> Self {
        let sharing: &SharingConfig = &group.scheduler;
        let reference = group.minislot_bytes(None).into_iter().max().unwrap_or(1);
        let ports = members.iter().map(|member| {
            let bonded = group.minislot_bytes(member.modulation).into_iter().zip(0..);
            let caps = bonded.map(|(cap, number)| if member.channels.has(number) { cap } else { 0 });
            let caps: Vec<u64> = caps.collect();
            let largest = caps.iter().copied().max().unwrap_or(0);
            let reserved = member.reserved;
            Port {
                priority: usize::try_from(member.priority).unwrap_or(0).min(PRIORITIES - 1),
                weight: u64::from(member.weight),
                buckets: RateShaper::new(&member.buckets(grid.interval)),
                // chosen: two MAPs' worth, so that no token is lost between two.
                reserved: (reserved.as_bps() > 0).then(|| {
                    let depth = reserved.bytes_in(grid.interval * 2) + Bytes(largest);
                    TokenBucket::new(reserved, depth)
                }),
                flows: [Flow::default(), Flow::default()],
                deficit: 0,
                visited: false,
                in_ring: false,
                want: 0,
                given: alloc::vec![0; caps.len()],
                caps,
            }
        });
        Self {
            ports: ports.collect(),
            rings: Default::default(),
            active: Vec::new(),
            arrived: VecDeque::new(),
            kind: sharing.order,
            share: sharing.share,
            quantum: match sharing.share {
                Share::Bytes => sharing.quantum.0,
                Share::Minislots => (sharing.quantum.0 / reference.max(1)).max(1),
            },
            header: group.segment_header(),
            free: Vec::new(),
            order: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Returns true if no home waits for a grant.
    pub(super) const fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// The buckets of a home, as its queue manager sees them.
    pub(super) fn buckets(&self, port: usize) -> &RateShaper {
        &self.ports[port].buckets
    }

    /// Bytes of a minislot of a home on a channel.
    pub(super) fn cap(&self, port: usize, channel: usize) -> u64 {
        self.ports[port].caps[channel]
    }

    /// Bytes of the header of a segment.
    pub(super) const fn header(&self) -> u64 {
        self.header
    }

    /// A request has arrived; returns the position of its end among all that the flow requested.
    pub(super) fn request(&mut self, (port, flow): (usize, usize), bytes: u64) -> u64 {
        let state = &mut self.ports[port];
        if state.backlog() == 0 && bytes > 0 {
            self.active.push(port);
        }
        if self.kind == Order::FirstCome {
            self.arrived.push_back((port, bytes));
        }
        let flow = &mut state.flows[flow];
        flow.backlog += bytes;
        flow.granted + flow.backlog
    }

    /// Grants `bytes` to the low-latency flow of a home in this MAP without a request; returns the requested bytes
    /// among them.
    pub(super) fn grant_unasked(&mut self, port: usize, bytes: u64) -> u64 {
        let state = &mut self.ports[port];
        let flow = &mut state.flows[LOW_LATENCY];
        let served = flow.backlog.min(bytes);
        flow.backlog -= served;
        flow.granted += served;
        if served > 0 && state.backlog() == 0 {
            self.active.retain(|active| *active != port);
        }
        served
    }

    /// A home has sent bytes in such a grant.
    pub(super) fn pay(&mut self, now: Instant, port: usize, bytes: u64) {
        let state = &mut self.ports[port];
        state.buckets.debit(now, state.buckets.price(Bytes(bytes)));
    }

    /// Bytes that were granted and that no rate counts: MAC headers, and what carried nothing.
    pub(super) fn pay_back(&mut self, now: Instant, port: usize, bytes: u64) {
        let state = &mut self.ports[port];
        state.buckets.credit(now, state.buckets.price(Bytes(bytes)));
        if let Some(bucket) = &mut state.reserved {
            bucket.credit(now, bucket.price(Bytes(bytes)));
        }
    }

    /// Forgets times of bytes that end before `position`; they are no longer read.
    pub(super) fn forget(&mut self, (port, flow): (usize, usize), position: u64) {
        let log = &mut self.ports[port].flows[flow].eligible;
        while log.len() > 1 && log[0].0 < position {
            log.pop_front();
        }
    }

    /// The start of the first interval in which the byte before `position` was within the buckets. Positions never decrease.
    pub(super) fn eligible_at(&mut self, of: (usize, usize), position: u64) -> Option<Instant> {
        self.forget(of, position);
        let (port, flow) = of;
        let log = &self.ports[port].flows[flow].eligible;
        log.front().map(|entry| entry.1)
    }

    /// Divides the `free` data minislots of each channel in the interval that starts at `starts_at`; `now` is when its MAP is
    /// heard.
    pub(super) fn allocate(&mut self, (now, starts_at): (Instant, Instant), free: &[u64], segments: &mut Vec<Segment>) {
        segments.clear();
        self.order.clear();
        self.free.clear();
        self.free.extend_from_slice(free);
        self.want(now, starts_at);
        for priority in (0..PRIORITIES).rev() {
            self.give_reserved(now, priority);
        }
        for priority in (0..PRIORITIES).rev() {
            match self.kind {
                Order::Deficit => self.give_in_turn(priority),
                Order::FirstCome => self.give_by_arrival(priority),
                Order::Proportional => self.give_in_proportion(priority),
            }
        }
        debug_assert!(
            self.active.iter().all(|port| {
                let port = &self.ports[*port];
                port.want == 0 || port.channel(&self.free).is_none()
            }),
            "no home waits while minislots are left"
        );
        self.write(now, segments);
        let ports = &mut self.ports;
        self.active.retain(|port| ports[*port].backlog() > 0);
    }

    /// Sets the limit of each home, and its place in the ring of its priority.
    fn want(&mut self, now: Instant, starts_at: Instant) {
        for &port in &self.active {
            let state = &mut self.ports[port];
            state.given.fill(0);
            state.want = state.buckets.affordable(now, Bytes(state.backlog())).0;
            if state.want == 0 {
                continue;
            }
            let room = self.free.iter().zip(&state.caps);
            let room: u64 = room.map(|(free, cap)| free * cap).sum();
            for flow in &mut state.flows {
                let alone = flow.alone.max(flow.granted);
                let position = flow.granted + flow.backlog.min(state.want);
                let position = position.min(alone + room);
                flow.alone = alone.max(position);
                let is_new = flow.eligible.back().is_none_or(|entry| entry.0 < position);
                if flow.backlog > 0 && is_new {
                    flow.eligible.push_back((position, starts_at));
                }
            }
            if !state.in_ring {
                state.in_ring = true;
                self.rings[state.priority].push_back(port);
            }
        }
        for ring in &mut self.rings {
            let ports = &mut self.ports;
            ring.retain(|port| {
                let state = &mut ports[*port];
                let stays = state.want > 0 && state.backlog() > 0;
                if !stays {
                    (state.in_ring, state.visited, state.deficit) = (false, false, 0);
                }
                stays
            });
        }
    }

    fn give_reserved(&mut self, now: Instant, priority: usize) {
        for index in 0..self.active.len() {
            let port = self.active[index];
            let state = &self.ports[port];
            if state.priority != priority || state.want == 0 {
                continue;
            }
            let Some(bucket) = &state.reserved else {
                continue;
            };
            let mut due = bucket.affordable(now, Bytes(state.want)).0;
            while due > 0 {
                let state = &mut self.ports[port];
                let Some(channel) = state.channel(&self.free) else {
                    break;
                };
                if state.given[channel] == 0 {
                    due += self.header;
                }
                state.begin(channel, self.header);
                let cap = state.caps[channel];
                let minislots = due.div_ceil(cap).min(self.free[channel]);
                due = due.saturating_sub(minislots * cap);
                self.give(port, channel, minislots);
            }
        }
    }

    fn give(&mut self, port: usize, channel: usize, minislots: u64) {
        if minislots == 0 {
            return;
        }
        let state = &mut self.ports[port];
        if state.given[channel] == 0 {
            self.order.push((port, channel));
        }
        state.given[channel] += minislots;
        self.free[channel] -= minislots;
        state.want = state.want.saturating_sub(minislots * state.caps[channel]);
    }

    /// Makes segments of what was given, and pays for them.
    fn write(&mut self, now: Instant, segments: &mut Vec<Segment>) {
        self.next.clear();
        self.next.resize(self.free.len(), 0);
        let header = self.header;
        for (port, channel) in self.order.drain(..) {
            let state = &mut self.ports[port];
            let (all, cap) = (state.given[channel], state.caps[channel]);
            let wants = [CLASSIC, LOW_LATENCY].map(|flow| match state.flows[flow].backlog {
                0 => 0,
                backlog => (backlog + header).div_ceil(cap),
            });
            let mut shares = match wants {
                [_, 0] => [all, 0],
                [0, _] => [0, all],
                wants => allocate(state.weight, all, wants, 0),
            };
            shares[CLASSIC] = all - shares[LOW_LATENCY]; // what rounding left
            let mut paid = 0;
            for flow in [LOW_LATENCY, CLASSIC] {
                let minislots = shares[flow];
                if minislots == 0 {
                    continue;
                }
                let payload = (minislots * cap).saturating_sub(header);
                let waiting = &mut state.flows[flow];
                let requested = waiting.backlog.min(payload);
                segments.push(Segment {
                    port,
                    flow,
                    channel,
                    first: self.next[channel],
                    minislots,
                    payload,
                    requested,
                });
                self.next[channel] += minislots;
                waiting.granted += requested;
                waiting.backlog -= requested;
                paid += payload;
            }
            let price = state.buckets.price(Bytes(paid));
            state.buckets.debit(now, price);
            if let Some(bucket) = &mut state.reserved {
                let most = bucket.tokens(now) + Bytes(cap);
                bucket.debit(now, bucket.price(Bytes(paid).min(most)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
