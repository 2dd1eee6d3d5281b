//! What the CMTS grants in a MAP: reserved rates, then priorities, then deficit round robin among homes.
//!
//! A home wants what it has requested, as far as its token buckets allow. Grants are whole minislots; what rounding gives
//! too much is a debt of the buckets, so that rates hold exactly in the long run.
//!
//! Source: specification of service groups, sections 4.5 and 4.6. Schedulers of CMTSs are not public: the order is chosen.
//! Deviations: a reserved bucket has no debt beyond a minislot, so that what a home got beside its reserved rate while the
//! channel was free does not count against it later.

use super::config::{GroupConfig, MemberConfig, Share, SharingConfig};
use crate::shaper::RateShaper;
use crate::token_bucket::TokenBucket;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Span};

/// Bytes of the header of a segment, with continuous concatenation and fragmentation. Source: docsis-ns3 1.2, `UsSegHdrSize`.
pub(super) const SEGMENT_HEADER: u64 = 8;

/// Priorities of service flows.
const PRIORITIES: usize = 8;

/// What a home is granted in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The home.
    pub(super) port: usize,
    /// First data minislot of the interval, and how many.
    pub(super) first: u64,
    pub(super) minislots: u64,
    /// Bytes that it carries.
    pub(super) payload: u64,
    /// Those that were requested, and all that were granted of requests before.
    pub(super) requested: u64,
    pub(super) base: u64,
}

/// A home as the CMTS knows it.
#[derive(Clone, Debug)]
struct Port {
    /// Bytes of a minislot.
    cap: u64,
    /// What a minislot takes of the deficit.
    unit: u64,
    priority: usize,
    buckets: RateShaper,
    reserved: Option<TokenBucket>,
    /// Bytes requested and not granted.
    backlog: u64,
    /// Bytes of requests granted so far.
    granted: u64,
    deficit: u64,
    visited: bool,
    in_ring: bool,
    /// What it may still have in this MAP, and what it has.
    want: u64,
    given: u64,
    has_begun: bool,
    /// When what was requested came within the buckets: position in the stream of requested bytes, start of the interval.
    eligible: VecDeque<(u64, Instant)>,
}

impl Port {
    /// The first give of a MAP pays for the header.
    fn begin(&mut self, header: u64) {
        if !self.has_begun {
            self.has_begun = true;
            self.want += header;
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    ports: Vec<Port>,
    rings: [VecDeque<usize>; PRIORITIES],
    /// Homes with a backlog, in the order in which they got it.
    active: Vec<usize>,
    quantum: u64,
    header: u64,
    /// Homes that get something in this MAP, in the order of their first give.
    order: Vec<usize>,
}

impl Scheduler {
    pub(super) fn new(group: &GroupConfig, members: &[MemberConfig], interval: Span) -> Self {
        let sharing: &SharingConfig = &group.scheduler;
        let reference = group.minislot_bytes(None).max(1);
        let ports = members.iter().map(|member| {
            let cap = group.minislot_bytes(member.modulation);
            let reserved = member.reserved;
            Port {
                cap,
                unit: match sharing.share {
                    Share::Bytes => cap,
                    Share::Minislots => 1,
                },
                priority: usize::try_from(member.priority)
                    .unwrap_or(0)
                    .min(PRIORITIES - 1),
                buckets: RateShaper::new(&member.buckets(interval)),
                // chosen: two MAPs' worth, so that no token is lost between two.
                reserved: (reserved.as_bps() > 0).then(|| {
                    TokenBucket::new(reserved, reserved.bytes_in(interval * 2) + Bytes(cap))
                }),
                backlog: 0,
                granted: 0,
                deficit: 0,
                visited: false,
                in_ring: false,
                want: 0,
                given: 0,
                has_begun: false,
                eligible: VecDeque::new(),
            }
        });
        Self {
            ports: ports.collect(),
            rings: Default::default(),
            active: Vec::new(),
            quantum: match sharing.share {
                Share::Bytes => sharing.quantum.0,
                Share::Minislots => (sharing.quantum.0 / reference).max(1),
            },
            header: SEGMENT_HEADER,
            order: Vec::new(),
        }
    }

    /// Whether nobody waits for a grant.
    pub(super) const fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// The buckets of a home, as its queue manager sees them.
    pub(super) fn buckets(&self, port: usize) -> &RateShaper {
        &self.ports[port].buckets
    }

    /// Bytes of a minislot of a home.
    pub(super) fn cap(&self, port: usize) -> u64 {
        self.ports[port].cap
    }

    /// A request has arrived; returns the position of its end among all that were requested.
    pub(super) fn request(&mut self, port: usize, bytes: u64) -> u64 {
        let state = &mut self.ports[port];
        if state.backlog == 0 && bytes > 0 {
            self.active.push(port);
        }
        state.backlog += bytes;
        state.granted + state.backlog
    }

    /// Bytes that were granted and that no rate counts: MAC headers, and what carried nothing.
    pub(super) fn pay_back(&mut self, now: Instant, port: usize, bytes: u64) {
        let state = &mut self.ports[port];
        state.buckets.credit(now, state.buckets.price(Bytes(bytes)));
        if let Some(bucket) = &mut state.reserved {
            bucket.credit(now, bucket.price(Bytes(bytes)));
        }
    }

    /// The start of the first interval in which the byte before `position` was within the buckets. Positions never decrease.
    pub(super) fn eligible_at(&mut self, port: usize, position: u64) -> Option<Instant> {
        let log = &mut self.ports[port].eligible;
        while log.len() > 1 && log[0].0 < position {
            log.pop_front();
        }
        log.front().map(|entry| entry.1)
    }

    /// Divides `free` data minislots of the interval that starts at `starts_at`; `now` is when its MAP is heard.
    pub(super) fn allocate(
        &mut self,
        (now, starts_at): (Instant, Instant),
        free: u64,
        segments: &mut Vec<Segment>,
    ) {
        segments.clear();
        self.order.clear();
        let all = free;
        let mut free = free;
        self.want(now, starts_at);
        for priority in (0..PRIORITIES).rev() {
            self.give_reserved(now, priority, &mut free);
        }
        for priority in (0..PRIORITIES).rev() {
            self.give_in_turn(priority, &mut free);
        }
        debug_assert!(
            free == 0 || self.active.iter().all(|port| self.ports[*port].want == 0),
            "nobody waits while minislots are left"
        );
        let mut first = 0;
        for port in self.order.drain(..) {
            let state = &mut self.ports[port];
            let payload = (state.given * state.cap).saturating_sub(self.header);
            let requested = state.backlog.min(payload);
            segments.push(Segment {
                port,
                first,
                minislots: state.given,
                payload,
                requested,
                base: state.granted,
            });
            first += state.given;
            state.granted += requested;
            state.backlog -= requested;
            state
                .buckets
                .debit(now, state.buckets.price(Bytes(payload)));
            if let Some(bucket) = &mut state.reserved {
                let most = bucket.tokens(now) + Bytes(state.cap);
                bucket.debit(now, bucket.price(Bytes(payload).min(most)));
            }
        }
        debug_assert!(first <= all, "no minislot is given twice");
        let ports = &mut self.ports;
        self.active.retain(|port| ports[*port].backlog > 0);
    }

    /// What each home may have, and its place in the ring of its priority.
    fn want(&mut self, now: Instant, starts_at: Instant) {
        for &port in &self.active {
            let state = &mut self.ports[port];
            (state.given, state.has_begun) = (0, false);
            state.want = state.buckets.affordable(now, Bytes(state.backlog)).0;
            let position = state.granted + state.want;
            if state.want > 0 && state.eligible.back().is_none_or(|entry| entry.0 < position) {
                state.eligible.push_back((position, starts_at));
            }
            if state.want > 0 && !state.in_ring {
                state.in_ring = true;
                self.rings[state.priority].push_back(port);
            }
        }
        for ring in &mut self.rings {
            let ports = &mut self.ports;
            ring.retain(|port| {
                let state = &mut ports[*port];
                let stays = state.want > 0;
                if !stays {
                    (state.in_ring, state.visited, state.deficit) = (false, false, 0);
                }
                stays
            });
        }
    }

    fn give_reserved(&mut self, now: Instant, priority: usize, free: &mut u64) {
        for index in 0..self.active.len() {
            let port = self.active[index];
            let state = &mut self.ports[port];
            if state.priority != priority || state.want == 0 || *free == 0 {
                continue;
            }
            let Some(bucket) = &state.reserved else {
                continue;
            };
            let mut due = bucket.affordable(now, Bytes(state.want)).0;
            if due == 0 {
                continue;
            }
            due += self.header; // nothing is given to a home before this
            state.begin(self.header);
            let minislots = due.div_ceil(state.cap).min(*free);
            self.give(port, minislots, free);
        }
    }

    fn give_in_turn(&mut self, priority: usize, free: &mut u64) {
        while *free > 0 {
            let Some(&port) = self.rings[priority].front() else {
                return;
            };
            let state = &mut self.ports[port];
            if state.want > 0 {
                if !state.visited {
                    state.deficit += self.quantum;
                    state.visited = true;
                }
                state.begin(self.header);
                let turn = state.deficit / state.unit;
                let minislots = state.want.div_ceil(state.cap).min(*free).min(turn);
                state.deficit -= minislots * state.unit;
                self.give(port, minislots, free);
            }
            let state = &mut self.ports[port];
            let ring = &mut self.rings[priority];
            if state.want == 0 {
                ring.pop_front();
                (state.in_ring, state.visited, state.deficit) = (false, false, 0);
            } else if *free > 0 {
                ring.rotate_left(1);
                state.visited = false;
            }
        }
    }

    fn give(&mut self, port: usize, minislots: u64, free: &mut u64) {
        let state = &mut self.ports[port];
        if minislots == 0 {
            return;
        }
        if state.given == 0 {
            self.order.push(port);
        }
        state.given += minislots;
        *free -= minislots;
        state.want = state.want.saturating_sub(minislots * state.cap);
    }
}

#[cfg(test)]
mod tests;
