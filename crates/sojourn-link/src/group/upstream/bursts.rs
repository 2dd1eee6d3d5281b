//! Grants are filled: those that were asked for, and those without request.
//!
//! Grants without request are worked out for modems that have something to send in them.
//!
//! Source: docs/models/service-group.md, "A grant is filled". Deviations: a grant without request costs tokens for what is
//! sent in it.

use super::{Group, Members};
use crate::docsis31::scheduler::LOW_LATENCY;
use crate::group::config::RequestUnit;
use crate::group::layout::Unasked;
use crate::group::modem::Burst;
use core::cmp::Reverse;
use sojourn_base::{Bytes, Instant};

impl Group {
    /// Prepares a burst: requests the unrequested bytes, and takes the burst's bytes from the queue.
    pub(super) fn on_fill(&mut self, now: Instant, members: &mut impl Members) {
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
            modem.note(now, used.saturating_sub(headers));
        });
        if self.requests.unit == RequestUnit::Packet {
            self.piggyback(now, (port, flow));
        }
        self.follow_timer(port);
    }

    /// Takes unrequested grants of interval `map` off the flows' requests.
    pub(super) fn grant_unasked(&mut self, map: u64) {
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
    pub(super) fn coming(&self, now: Instant, (port, flow): (usize, usize)) -> u64 {
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
    pub(super) fn expect_unasked(&mut self, now: Instant, port: usize) {
        if self.is_unasked[port] || self.modems[port].held(LOW_LATENCY) == 0 {
            return;
        }
        if let Some((at, ..)) = self.unasked_after(now, port) {
            self.is_unasked[port] = true;
            self.unasked.push(Reverse((at, port)));
        }
    }

    /// Such a grant is filled.
    pub(super) fn on_unasked(&mut self, now: Instant, members: &mut impl Members) {
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
            modem.note(now, used.saturating_sub(headers));
        });
        self.follow_timer(port);
        self.expect_unasked(now, port);
    }
}
