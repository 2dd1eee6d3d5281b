//! A grant is filled with packets, and the delay of each that is complete is split by cause.
//!
//! Source: docs/models/service-group.md, "A grant is filled" and "Where the delay comes from". Deviations: those of [`super`].

use super::{HEADER, Modem};
use crate::group::config::RequestUnit;
use crate::group::scheduler::Scheduler;
use crate::{DelayParts, LinkContext, Passage};
use sojourn_base::{Bytes, Instant, Span};
use sojourn_queue::Held;

/// A packet that is sent in part.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    packet: Held,
    dequeued_at: Instant,
    /// Bytes that are sent.
    sent: u64,
    /// Start of the first of them, length of all on the air, and place of the last.
    started_at: Instant,
    on_air: Span,
    last: Option<Instant>,
    /// Time at which all so far have left the CMTS, and the part of it behind the air.
    arrives_at: Instant,
    behind: Span,
}

impl Fragment {
    /// Bytes that are not sent, with the MAC header.
    pub(super) fn rest(&self) -> u64 {
        u64::from(self.packet.meta.length) + HEADER - self.sent
    }

    /// Those of the Ethernet frame, which queue managers count.
    pub(super) fn frame_rest(&self) -> Bytes {
        Bytes(self.rest().min(self.packet.meta.length.into()))
    }
}

/// A grant that is filled now.
pub(in crate::group) struct Burst<'a> {
    pub(in crate::group) flow: usize,
    /// Bytes that it carries, and those that were requested.
    pub(in crate::group) payload: u64,
    pub(in crate::group) requested: u64,
    /// Start of its interval.
    pub(in crate::group) starts_at: Instant,
    /// Returns the place of a byte: start and length of the frame or minislot that carries it.
    pub(in crate::group) place: &'a dyn Fn(u64) -> (Instant, Span),
    /// From the end of that to its leaving the CMTS.
    pub(in crate::group) behind: Span,
}

impl Modem {
    /// Fills a grant; returns how many bytes it carries, and those of MAC headers among them.
    pub(in crate::group) fn fill(
        &mut self,
        now: Instant,
        burst: &Burst<'_>,
        scheduler: &mut Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) -> (u64, u64) {
        let flow = burst.flow;
        let base = self.flows[flow].begin_burst(burst.requested);
        scheduler.forget((port, flow), base + 1);
        let (mut used, mut headers) = (0, 0);
        while used < burst.payload {
            let mut fragment = match self.flows[flow].fragment.take() {
                Some(fragment) => fragment,
                None => match self.take((now, flow), scheduler, port, context) {
                    None => break,
                    Some(packet) => Fragment {
                        packet,
                        dequeued_at: now,
                        sent: 0,
                        started_at: (burst.place)(used).0,
                        on_air: Span::ZERO,
                        last: None,
                        arrives_at: Instant::ZERO,
                        behind: Span::ZERO,
                    },
                },
            };
            let bytes = fragment.rest().min(burst.payload - used);
            let (from, length) = (burst.place)(used);
            let (to, _) = (burst.place)(used + bytes.max(1) - 1);
            let more = to.saturating_since(from);
            fragment.on_air += more;
            if fragment.last != Some(from) {
                fragment.on_air += length;
            }
            fragment.last = Some(to);
            if to + length + burst.behind > fragment.arrives_at {
                fragment.arrives_at = to + length + burst.behind;
                fragment.behind = burst.behind;
            }
            fragment.sent += bytes;
            used += bytes;
            if fragment.rest() > 0 {
                self.flows[flow].fragment = Some(fragment);
                break;
            }
            headers += HEADER;
            let position = base + used.min(burst.requested);
            let at = (burst.starts_at, position, port);
            self.deliver(&fragment, flow, at, scheduler, context);
            if self.unit == RequestUnit::Packet {
                break; // the next one has a grant of its own
            }
        }
        (used, headers)
    }

    /// A packet is complete in a grant of the interval that starts at `starts_at`.
    fn deliver(
        &mut self,
        fragment: &Fragment,
        flow: usize,
        (starts_at, position, port): (Instant, u64, usize),
        scheduler: &mut Scheduler,
        context: &mut dyn LinkContext,
    ) {
        let state = &mut self.flows[flow];
        // Not before the packet in front of it.
        let arrives_at = fragment.arrives_at.max(state.arrived);
        state.arrived = arrives_at;
        let entry = fragment.packet.enqueued_at;
        let asked = state.asked_for(position);
        let asked = asked.map_or([entry; 3], |asked| [asked.first, asked.sent, asked.interval]);
        let eligible = scheduler.eligible_at((port, flow), position).unwrap_or(starts_at);
        // Each moment is not before the one in front of it, and not behind the first byte's frame.
        let mut before = entry;
        let mut wait = |until: Instant| {
            let until = until.min(fragment.started_at).max(before);
            let span = until.saturating_since(before);
            before = until;
            span
        };
        let request = wait(asked[0]);
        let contention = wait(asked[1]);
        let grant = wait(asked[2]);
        let own_rate = wait(eligible);
        let neighbours = wait(starts_at);
        let wire = fragment.behind;
        let whole = arrives_at.saturating_since(before) - wire;
        let framing = whole.saturating_sub(fragment.on_air);
        let delay = DelayParts {
            queue: own_rate,
            request_wait: request + contention,
            grant_wait: grant + neighbours,
            framing,
            serialisation: whole.saturating_sub(framing),
            wire,
            ..DelayParts::default()
        };
        let counters = &mut self.counters;
        counters.packets += 1;
        counters.own_rate += own_rate;
        counters.contention += contention;
        counters.neighbours += neighbours;
        counters.request_loop += request + grant;
        counters.line += whole + wire;
        let packet = &fragment.packet;
        let passage = Passage::of(packet, fragment.dequeued_at, arrives_at, delay);
        context.deliver(packet.item, &packet.meta, &passage);
    }
}
