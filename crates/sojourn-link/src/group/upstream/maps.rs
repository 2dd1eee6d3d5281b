//! MAPs: each is made of the requests that have come, and tells the modems what they were granted.
//!
//! Unused MAPs are skipped; they would be the same for all.
//!
//! Source: docs/models/service-group.md, "The grid" and "The scheduler". Deviations: none known.

use super::{Fill, Group, Members};
use crate::Draw;
use crate::docsis31::scheduler::pick;
use crate::group::config::{Contending, Placement};
use crate::group::contention::Contention;
use crate::group::scheduler::Segment;
use alloc::vec::Vec;
use sojourn_base::{Bytes, ChannelCounters, Instant};

impl Group {
    /// Returns true if no MAP is needed.
    pub(super) fn is_idle(&self) -> bool {
        self.scheduler.is_idle()
            && self.uses.is_empty()
            && self.inbox.is_empty()
            && self.sent.is_empty()
            && self.undecided.is_empty()
            && self.fills.is_empty()
    }

    /// Skips unused MAPs that all know by `now`.
    pub(super) fn skip_idle(&mut self, now: Instant) {
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
        let needed = self.next_map.saturating_sub(self.layout.grid.interval_of(now));
        let needed = needed * self.layout.grid.channels.len() as u64;
        while self.known.len() as u64 > needed {
            self.known.pop_front();
        }
    }

    /// Returns the counters of the CMTS in the MAPs that are heard by `now`.
    pub fn counters(&mut self, now: Instant) -> ChannelCounters {
        self.skip_idle(now);
        self.modems.iter_mut().for_each(|modem| modem.settle(now));
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
                self.counters.opportunities += maps * u64::from(self.idle_opportunities(0, channel));
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

    /// All modems hear the next MAP, which is made of the requests that had come when it was made.
    pub(super) fn on_map(&mut self, now: Instant, members: &mut impl Members) {
        let map = self.next_map;
        let starts_at = self.layout.grid.starts_at(map);
        while let Some(request) = self.inbox.front().copied() {
            if request.received_at > self.layout.grid.made_at(map) {
                break;
            }
            self.inbox.pop_front();
            let flow = (request.port, request.flow);
            let end = self.scheduler.request(flow, request.bytes);
            let interval = self.layout.grid.starts_at(self.layout.grid.acknowledged_by(request.sent));
            self.modems[request.port].flows[request.flow].heard(end, (request.first, request.sent), interval);
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
        self.scheduler.allocate((now, starts_at), &self.free, &mut segments);
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
        if matches!(flow.contention, Contention::Deferring { .. }) && self.requests.contention == Contending::Collisions
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
            let here = segments.iter_mut().filter(|segment| segment.channel == channel);
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
}
