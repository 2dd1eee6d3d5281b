//! How modems ask: by contention, or in grants.
//!
//! Source: DOCSIS MULPI 3.1, 7.2, as recalled; docs/models/service-group.md, "To be heard". Deviations: none known.

use super::{Group, Members, Request, Use};
use crate::docsis31::scheduler::{LOW_LATENCY, pick};
use crate::group::channels::Form;
use crate::group::config::Contending;
use crate::group::contention::{Contention, Tries, deferral};
use crate::{Draw, LinkContext, Loss, Stage};
use sojourn_base::{Bytes, Instant};
use sojourn_queue::Reason;

/// Draws of the low-latency flow are others than those of the classic one.
const fn address(number: u64, flow: usize) -> u64 {
    number | (flow as u64) << 48
}

impl Group {
    /// Bytes that a flow has to ask for.
    fn need(&self, now: Instant, (port, flow): (usize, usize)) -> u64 {
        self.modems[port].need(flow, self.coming(now, (port, flow)))
    }

    /// Opportunities of each channel in interval `map`, if its MAP is known and the interval not over.
    fn opportunities_of(&self, map: u64) -> Option<&[u32]> {
        let channels = self.layout.grid.channels.len();
        let oldest = self.next_map - (self.known.len() / channels) as u64;
        let index = usize::try_from(map.checked_sub(oldest)?).ok()?;
        let (front, back) = self.known.as_slices();
        debug_assert!(back.is_empty(), "kept in one piece");
        front.get(index * channels..(index + 1) * channels)
    }

    /// A packet has come, or a request was answered: the flow contends if it must.
    pub(super) fn enter(&mut self, now: Instant, of: (usize, usize), context: &mut dyn LinkContext) {
        let (port, flow) = of;
        let state = &self.modems[port].flows[flow];
        if state.contention != Contention::Idle || self.need(now, of) == 0 {
            return;
        }
        let tries = Tries { exponent: 0, repeated: 0, since: now, first: None };
        if self.requests.contention == Contending::Ideal {
            self.ask_once(now, of, tries, context);
            return;
        }
        let is_pending = state.outstanding > 0 && !self.requests.contend_while_pending;
        if state.due > 0 || self.coming(now, of) > 0 || is_pending {
            return;
        }
        self.known.make_contiguous();
        let grid = &self.layout.grid;
        let bonded = self.homes[port].bonded;
        let known = self.opportunities_of(grid.interval_of(now));
        let opportunities = if let Some(counts) = known {
            grid.opportunities_of(bonded, counts)
        } else {
            let counts = alloc::vec![self.requests.minimum; grid.channels.len()];
            grid.opportunities_of(bonded, &counts)
        };
        let exponent = self.requests.first_exponent(grid.in_a_frame(opportunities));
        self.defer(now, of, Tries { exponent, ..tries }, context);
    }

    /// The flow draws how many opportunities it lets pass, of those that are still to come.
    pub(super) fn defer(
        &mut self,
        now: Instant,
        (port, flow): (usize, usize),
        tries: Tries,
        context: &mut dyn LinkContext,
    ) {
        self.known.make_contiguous();
        let current = self.layout.grid.interval_of(now);
        let number = self.modems[port].flows[flow].draw(current);
        let unit = context.unit_at(Draw::Backoff, address(number, flow));
        let mut left = deferral(unit, tries.exponent);
        let bonded = self.homes[port].bonded;
        let mut at = None;
        for map in current..self.next_map {
            let Some(counts) = self.opportunities_of(map) else {
                continue;
            };
            match self.layout.grid.opportunity((map, now), bonded, counts, left) {
                Ok(found) => {
                    at = Some(found);
                    break;
                }
                Err(passed) => left -= passed,
            }
        }
        self.register((port, flow), at);
        self.modems[port].flows[flow].contention = Contention::Deferring { at, left, tries };
    }

    /// Requests without loss: the next interval without a grant has a frame in which the flow requests.
    fn ask_once(&mut self, now: Instant, (port, flow): (usize, usize), tries: Tries, context: &mut dyn LinkContext) {
        let first = self.homes[port].first;
        let current = self.layout.grid.interval_of(now);
        let at = match self.homes[port].polls {
            // Frames and intervals of a passive optical network are the same.
            Some(polls) => Some(self.layout.grid.starts_at(polls.from(current + 1))),
            None => self.frame_to_ask(now, (port, flow), context),
        };
        let at = at.map(|at| (at, first, 0));
        self.register((port, flow), at);
        self.modems[port].flows[flow].contention = Contention::Deferring { at, left: 0, tries };
    }

    /// The first frame after `now` of an interval that is known and has no grant, in which the flow asks.
    fn frame_to_ask(
        &mut self,
        now: Instant,
        (port, flow): (usize, usize),
        context: &mut dyn LinkContext,
    ) -> Option<Instant> {
        let grid = &self.layout.grid;
        let first = self.homes[port].first;
        let state = &mut self.modems[port].flows[flow];
        for map in grid.interval_of(now)..self.next_map {
            if state.has_grant(map) {
                continue;
            }
            // The modem of White 2013 asks at the start of each interval, that of docsis-ns3 anywhere in it.
            let frame = match self.form {
                Form::Docsis30 | Form::Pon => 0,
                Form::Docsis31 => {
                    let number = 2 * map + u64::from(flow == LOW_LATENCY);
                    let unit = context.unit_at(Draw::RequestFrame, number);
                    pick(grid.channels[first].frames - 1, unit)
                }
            };
            let begins = grid.frame_at(map, first, frame);
            if begins > now {
                return Some(begins);
            }
        }
        None
    }

    fn register(&mut self, (port, flow): (usize, usize), at: Option<(Instant, usize, u32)>) {
        let Some((at, channel, opportunity)) = at else {
            let state = &mut self.modems[port].flows[flow];
            if !state.is_undecided {
                state.is_undecided = true;
                self.undecided.push((port, flow));
            }
            return;
        };
        let this = Use { at, channel, opportunity, port, flow };
        let place = self.uses.partition_point(|other| *other < this);
        if self.uses.get(place) != Some(&this) {
            self.uses.insert(place, this);
        }
    }

    /// Those who waited for the MAP of interval `map` learn whether their opportunity is in it.
    pub(super) fn decide(&mut self, map: u64, now: Instant, members: &mut impl Members) {
        if self.undecided.is_empty() {
            return;
        }
        self.known.make_contiguous();
        let mut undecided = core::mem::take(&mut self.undecided);
        for (port, flow) in undecided.drain(..) {
            self.modems[port].flows[flow].is_undecided = false;
            let Contention::Deferring { at: None, mut left, tries } = self.modems[port].flows[flow].contention else {
                continue;
            };
            if self.requests.contention == Contending::Ideal {
                members.at(port, &mut |context| {
                    self.ask_once(now, (port, flow), tries, context);
                });
                continue;
            }
            let bonded = self.homes[port].bonded;
            let counts = self.opportunities_of(map).unwrap_or_default();
            let found = self.layout.grid.opportunity((map, now), bonded, counts, left);
            let at = match found {
                Ok(found) => {
                    left = 0;
                    Some(found)
                }
                Err(passed) => {
                    left -= passed;
                    None
                }
            };
            self.modems[port].flows[flow].contention = Contention::Deferring { at, left, tries };
            self.register((port, flow), at);
        }
        // Those who are still undecided have been written down anew.
        if self.undecided.is_empty() {
            self.undecided = undecided;
        }
    }

    /// Resolves the opportunities of frames that begin now: a request alone in one is received.
    pub(super) fn on_opportunities(&mut self, now: Instant) {
        while let Some(first) = self.uses.front().copied().filter(|it| it.at <= now) {
            let here = (first.at, first.channel, first.opportunity);
            let mut alone = None;
            let mut users = 0;
            let mut last_port = None;
            while let Some(it) = self.uses.front().copied() {
                if (it.at, it.channel, it.opportunity) != here {
                    break;
                }
                self.uses.pop_front();
                let of = (it.port, it.flow);
                let is_ideal = self.requests.contention == Contending::Ideal;
                if last_port == Some(it.port) && !is_ideal && self.is_at(of, here) {
                    self.put_off(of);
                    continue;
                }
                if let Some(asked) = self.ask(now, of, here) {
                    users += 1;
                    last_port = Some(it.port);
                    alone = Some((of, asked));
                    if self.requests.contention == Contending::Ideal {
                        self.hear(now, of, asked);
                    } else {
                        // Told after all have asked, as a loss until then.
                        let told = self.layout.grid.acknowledged_by(now);
                        self.sent.push_back((told, it.port, it.flow));
                    }
                }
            }
            if self.requests.contention == Contending::Ideal {
                continue;
            }
            self.counters.used += u64::from(users > 0);
            self.counters.collided += u64::from(users > 1);
            if let (1, Some((of, bytes))) = (users, alone) {
                self.hear(now, of, bytes);
            }
        }
    }

    fn is_at(&self, (port, flow): (usize, usize), here: (Instant, usize, u32)) -> bool {
        let contention = self.modems[port].flows[flow].contention;
        matches!(contention, Contention::Deferring { at: Some(at), .. } if at == here)
    }

    /// Of two flows of one modem in one opportunity, the later one takes the next.
    fn put_off(&mut self, (port, flow): (usize, usize)) {
        let Contention::Deferring { at: Some((at, channel, opportunity)), tries, .. } =
            self.modems[port].flows[flow].contention
        else {
            return;
        };
        self.known.make_contiguous();
        let bonded = self.homes[port].bonded;
        // From the start of the interval, the next one behind this.
        let map = self.layout.grid.interval_of(at);
        let start = self.layout.grid.starts_at(map);
        let before = Instant::from_ps(start.as_ps().saturating_sub(1));
        let mut found = None;
        if let Some(counts) = self.opportunities_of(map) {
            let all = self.layout.grid.opportunities_of(bonded, counts);
            let mut is_behind = false;
            for number in 0..all {
                let place = self.layout.grid.opportunity((map, before), bonded, counts, number);
                if is_behind {
                    found = place.ok();
                    break;
                }
                is_behind = place == Ok((at, channel, opportunity));
            }
        }
        let contention = Contention::Deferring { at: found, left: 0, tries };
        self.modems[port].flows[flow].contention = contention;
        self.register((port, flow), found);
    }

    /// The flow requests at its opportunity, if it still wants to; returns for how many bytes.
    fn ask(&mut self, now: Instant, (port, flow): (usize, usize), here: (Instant, usize, u32)) -> Option<u64> {
        let asked = self.need(now, (port, flow));
        let modem = &mut self.modems[port];
        let state = &mut modem.flows[flow];
        let Contention::Deferring { at, mut tries, .. } = state.contention else {
            return None;
        };
        if at != Some(here) {
            return None;
        }
        if asked == 0 {
            state.contention = Contention::Idle;
            return None;
        }
        tries.first = tries.first.or(Some(now));
        state.outstanding += asked;
        state.mac.requested += Bytes(asked);
        modem.counters.attempts += 1;
        modem.counters.collided += 1;
        state.contention = Contention::Sent { map: self.layout.grid.acknowledged_by(now), lost: true, asked, tries };
        Some(asked)
    }

    /// The request of a flow that was alone arrives.
    fn hear(&mut self, now: Instant, (port, flow): (usize, usize), bytes: u64) {
        let received_at = now + self.layout.grid.request;
        let modem = &mut self.modems[port];
        let mut first = now;
        if let Contention::Sent { lost, tries, .. } = &mut modem.flows[flow].contention {
            *lost = false;
            first = tries.first.unwrap_or(now);
            modem.counters.collided -= 1;
            modem.counters.heard += 1;
            modem.counters.request_delay += received_at.saturating_since(tries.since);
        }
        if self.requests.contention == Contending::Ideal {
            modem.flows[flow].contention = Contention::Idle;
        }
        self.inbox.push_back(Request { received_at, port, flow, bytes, first, sent: now });
    }

    /// Requests the flow's unrequested bytes in a grant.
    pub(super) fn piggyback(&mut self, now: Instant, (port, flow): (usize, usize)) {
        let bytes = self.need(now, (port, flow));
        if bytes == 0 {
            return;
        }
        let state = &mut self.modems[port].flows[flow];
        state.outstanding += bytes;
        state.mac.requested += Bytes(bytes);
        self.inbox.push_back(Request {
            received_at: now + self.layout.grid.request,
            port,
            flow,
            bytes,
            first: now,
            sent: now,
        });
    }

    /// A MAP tells a flow whether its request was heard.
    pub(super) fn on_answer(&mut self, now: Instant, of: (usize, usize), context: &mut dyn LinkContext) {
        let (port, flow) = of;
        let state = &mut self.modems[port].flows[flow];
        let Contention::Sent { lost, asked, tries, .. } = state.contention else {
            return;
        };
        state.contention = Contention::Idle;
        if !lost {
            self.enter(now, of, context);
            return;
        }
        state.outstanding = state.outstanding.saturating_sub(asked);
        if self.need(now, of) == 0 || self.modems[port].flows[flow].due > 0 {
            return; // its bytes are requested, or a grant will request
        }
        if tries.repeated == self.requests.retries {
            let modem = &mut self.modems[port];
            if let Some(packet) = modem.take((now, flow), &self.scheduler, port, context) {
                modem.counters.given_up += 1;
                modem.note(now, 0);
                let loss = Loss {
                    entered_at: packet.enqueued_at,
                    stage: Stage::TransmitQueue,
                    reason: Reason::Unheard,
                    sub_flow: packet.sub_flow,
                };
                context.dropped(packet.item, &packet.meta, &loss);
            }
            self.enter(now, of, context);
            return;
        }
        let tries =
            Tries { exponent: (tries.exponent + 1).min(self.requests.end), repeated: tries.repeated + 1, ..tries };
        self.defer(now, of, tries, context);
    }
}
