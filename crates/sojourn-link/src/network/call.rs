//! Contexts between a link and its network.

use super::Around;
use super::event_line::EventLine;
use super::route::{Hop, NetworkEvent, Over, PacketId, Schedule};
use crate::{DelayParts, Draw, Framing, LinkContext, Loss, Mark, Passage, Wire};
use sojourn_base::FlowKey;
use sojourn_base::{
    Direction, Instant, LinkId, Meta, PacketHandle, Packets, RandomStream, ServiceQueue, Span, TrafficId,
};
use sojourn_queue::{Backlog, Score};

/// A link's model with its surroundings.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) link: LinkId,
    pub(super) direction: Direction,
    pub(super) framing: Framing,
    /// One for each purpose.
    pub(super) streams: [RandomStream; Draw::ALL.len()],
    /// Announced packets, unless they are on a wire already.
    pub(super) line: EventLine,
}

/// A wire, in one direction: fast enough never to need management.
#[derive(Debug)]
pub(super) struct PrivateWire {
    pub(super) wire: Wire,
    pub(super) line: EventLine,
    /// Hops that a delivery ends: that over the link before, too, if there was no event between them.
    pub(super) hops: u64,
}

/// Bytes of the two ways between a subscriber and a server, over `links` links in all.
pub const fn route_bytes(links: usize) -> usize {
    // A wire and an end each beside the links.
    2 * size_of::<PrivateWire>() + (links + 4) * size_of::<Hop>()
}

/// Place of a packet's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The link.
    pub link: LinkId,
    /// Its direction.
    pub direction: Direction,
    /// Traffic entry of the packet's route.
    pub traffic: TrafficId,
    /// To or from which of the entry's servers.
    pub server: u32,
}

/// The owner of a network: it keeps the packets, writes down what happens to them, and has the calendar.
pub trait NetworkContext {
    /// Calendar of events.
    type Calendar: Schedule;

    /// True if [`NetworkContext::entered`] shall be called.
    const TELLS_PACKETS: bool = false;

    /// Returns the calendar of events.
    fn calendar(&mut self) -> &mut Self::Calendar;

    /// Returns the properties of a packet that queues read, with its length as an IP packet.
    fn meta(&self, id: PacketId) -> Meta;

    /// Returns true if [`NetworkContext::delayed`] shall be called.
    fn wants_delays(&self) -> bool;

    /// A packet takes so long for the next hop.
    fn delayed(&mut self, id: PacketId, delay: &DelayParts);

    /// A packet reaches a link; called if [`NetworkContext::TELLS_PACKETS`].
    fn entered(&mut self, now: Instant, id: PacketId, place: Place) {
        let _ = (now, id, place);
    }

    /// A packet of `length` IP bytes leaves a link; `meta.length` are the charged bytes.
    fn passed(&mut self, id: PacketId, place: Place, length: u32, meta: &Meta, passage: &Passage);

    /// A packet passes its first link, and the delay of the next one belongs to the same access: a Wi-Fi station in front of a
    /// line, or the line in front of it. It has entered the first one then.
    fn joins(&mut self, id: PacketId, entered_at: Instant) {
        let _ = (id, entered_at);
    }

    /// Takes a packet that has joined, and arrives behind the second link then. By default nothing more happens.
    fn joined(&mut self, id: PacketId, place: Place, arrives_at: Instant) {
        let _ = (id, place, arrives_at);
    }

    /// A packet is marked: its owner rewrites its header, and what [`NetworkContext::meta`] tells of it.
    fn marked(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, mark: &Mark);

    /// A packet is lost; it is not reported again.
    fn dropped(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, loss: &Loss);

    /// Queue Protection has judged a packet.
    fn scored(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, score: &Score);

    /// A queue manager has accepted a packet and expects that it will wait so long.
    fn estimated(&mut self, link: LinkId, queue: ServiceQueue, delay: Span);

    /// The queue of a link has changed; called if [`super::Network::new`] was asked to.
    fn waiting(&mut self, now: Instant, link: LinkId, backlog: Backlog, staged: Packets);

    /// A second packet like this one, at the same hop; `None` if there is no room for it.
    fn copy(&mut self, id: PacketId, place: Place) -> Option<PacketId>;

    /// Addresses and ports of a packet, as it travels; `None` where they are not known.
    fn flow(&self, id: PacketId, place: Place) -> Option<FlowKey> {
        let _ = (id, place);
        None
    }

    /// A packet has another code point from now on: its owner rewrites its header, and what [`NetworkContext::meta`]
    /// tells of it.
    fn remarked(&mut self, id: PacketId, dscp: u8) {
        let _ = (id, dscp);
    }

    /// See [`LinkContext::work`].
    fn work(&mut self, units: u64) -> bool {
        let _ = units;
        true
    }
}

/// The context of a link during one call.
pub(super) struct LinkCall<'a, C> {
    pub(super) now: Instant,
    pub(super) port: &'a mut Port,
    pub(super) around: &'a mut Around,
    pub(super) context: &'a mut C,
}

impl<C: NetworkContext> LinkCall<'_, C> {
    /// A packet is on the line of the link.
    #[inline]
    fn announce(&mut self, at: Instant, id: PacketId) {
        let event = NetworkEvent::LinkDelivery { link: self.port.link };
        self.port.line.announce(at, id, event, self.context.calendar());
    }
}

impl<C> LinkCall<'_, C> {
    fn place(&self, id: PacketId) -> Place {
        let hop = self.around.hops.of(id);
        Place { link: self.port.link, direction: self.port.direction, traffic: hop.traffic, server: hop.server }
    }
}

impl<C: NetworkContext> LinkContext for LinkCall<'_, C> {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a passage that is not recorded need not be built")]
    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let id = PacketId::from(item);
        let at = passage.arrives_at;
        let length = match self.port.framing {
            Framing::Ip => meta.length,
            _ => self.context.meta(id).length,
        };
        if self.context.wants_delays() {
            self.context.delayed(id, &passage.delay);
        }
        let behind = id.one_hop_on();
        let Hop { over, traffic, server, .. } = *self.around.hops.of(behind);
        match over {
            Over::Wire { wire, at_once: true } => carry(&mut self.around.wires, wire, at, behind, length, self.context),
            Over::Link(_) | Over::End => self.announce(at, id),
            Over::Group { .. } => {
                self.announce(at, id);
                self.context.joins(id, passage.entered_at);
            }
            Over::Wire { at_once: false, .. } => {
                self.announce(at, id);
                let place = Place { link: self.port.link, direction: self.port.direction, traffic, server };
                self.context.joined(id, place, at);
            }
        }
        let place = Place { link: self.port.link, direction: self.port.direction, traffic, server };
        self.context.passed(id, place, length, meta, passage);
    }

    #[cold]
    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        let place = self.place(item.into());
        self.context.marked(self.now, item.into(), place, meta, mark);
    }

    fn scored(&mut self, item: PacketHandle, meta: &Meta, score: &Score) {
        let place = self.place(item.into());
        self.context.scored(self.now, item.into(), place, meta, score);
    }

    fn estimated(&mut self, meta: &Meta, delay: Span) {
        let link = self.port.link;
        self.context.estimated(link, meta.queue, delay);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        let place = self.place(item.into());
        self.context.dropped(self.now, item.into(), place, meta, loss);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.port.streams[purpose as usize].unit()
    }

    fn unit_at(&mut self, purpose: Draw, number: u64) -> f64 {
        self.port.streams[purpose as usize].unit_at((0, number))
    }

    fn luck(&mut self, flow: u32, number: u64, lot: u32) -> f64 {
        let stream = u64::from(lot) << 32 | u64::from(flow);
        self.port.streams[Draw::Conditions as usize].unit_at((stream, number))
    }

    fn copy(&mut self, item: PacketHandle) -> Option<PacketHandle> {
        let place = self.place(item.into());
        let copy = self.context.copy(item.into(), place)?;
        Some(copy.into())
    }

    fn flow(&mut self, item: PacketHandle) -> Option<FlowKey> {
        let id = PacketId::from(item);
        self.context.flow(id, self.place(id))
    }

    fn remark(&mut self, item: PacketHandle, dscp: u8) {
        self.context.remarked(item.into(), dscp);
    }

    fn wants_delay(&mut self) -> bool {
        self.context.wants_delays()
    }

    #[inline]
    fn work(&mut self, units: u64) -> bool {
        self.context.work(units)
    }
}

/// The context of a Wi-Fi station, whose delay belongs to that of the access link behind it.
pub(super) struct StationCall<'a, C>(pub(super) LinkCall<'a, C>);

impl<C: NetworkContext> LinkContext for StationCall<'_, C> {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(&mut self.0)
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let id = PacketId::from(item);
        let place = self.0.place(id);
        self.0.deliver(item, meta, passage);
        match place.direction {
            Direction::Upstream => self.0.context.joins(id, passage.entered_at),
            Direction::Downstream => self.0.context.joined(id, place, passage.arrives_at),
        }
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.0.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.0.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.0.unit(purpose)
    }
}

/// A packet enters a wire, with its length in bytes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most callers have no use for the delay")]
pub(super) fn carry(
    wires: &mut [PrivateWire],
    wire: u32,
    now: Instant,
    id: PacketId,
    length: u32,
    context: &mut impl NetworkContext,
) {
    let state = &mut wires[wire as usize];
    let passage = state.wire.carry(now, length);
    let event = NetworkEvent::WireDelivery { wire };
    state.line.announce(passage.arrives_at, id, event, context.calendar());
    if context.wants_delays() {
        context.delayed(id, &passage.delay);
    }
}
