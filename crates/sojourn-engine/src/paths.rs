//! What lies around the links: routes, wires, and the packets on them.

use crate::arena::{Arena, Body, PacketId};
use crate::calendar::Calendar;
use crate::event::Event;
use crate::event_line::EventLine;
use crate::hop::HopId;
use crate::work::Work;
use sojourn_base::{Bytes, Direction, Ecn, Instant};
use sojourn_link::{DelayParts, Wire};
use sojourn_record::{
    Cause, Datagram, DelaySplit, Fate, LinkId, Recorder, SegmentArrival, TrafficId,
};

/// Where a packet is on its way, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) over: Over,
    pub(crate) direction: Direction,
    pub(crate) traffic: TrafficId,
}

/// What carries a packet over a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// A link with a queue.
    Link(LinkId),
    /// A wire.
    Wire {
        /// Its number.
        wire: u32,
        /// It follows a link that keeps order.
        at_once: bool,
    },
    /// Nothing: the route ends here.
    End,
}

/// All hops of all routes.
#[derive(Debug, Default)]
pub(crate) struct Hops(pub(crate) Vec<Hop>);

impl Hops {
    #[inline]
    pub(crate) fn at(&self, hop: HopId) -> &Hop {
        &self.0[hop.index()]
    }

    #[inline]
    pub(crate) fn of(&self, id: PacketId) -> &Hop {
        self.at(id.hop)
    }
}

/// A wire, in one direction: fast enough never to need management.
#[derive(Debug)]
pub(crate) struct PrivateWire {
    pub(crate) wire: Wire,
    pub(crate) line: EventLine,
    /// Hops that a delivery ends: that over the link before, too, if there was no event between them.
    pub(crate) hops: u64,
}

/// Bytes of the two ways between a subscriber and a server, over `links` links in all.
pub(crate) const fn route_bytes(links: usize) -> usize {
    // A wire and an end each beside the links.
    2 * size_of::<PrivateWire>() + (links + 4) * size_of::<Hop>()
}

/// What lies around the links: routes, wires, packets, and the events that move them.
#[derive(Debug)]
pub(crate) struct Paths<R> {
    pub(crate) wires: Vec<PrivateWire>,
    pub(crate) hops: Hops,
    pub(crate) packets: Arena,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) recorder: R,
    pub(crate) record_delays: bool,
    /// What was done within events.
    pub(crate) work: Work,
}

/// A packet at the end of its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) id: PacketId,
    pub(crate) direction: Direction,
    pub(crate) traffic: TrafficId,
}

impl<R: Recorder> Paths<R> {
    pub(crate) fn record_arrival(&mut self, now: Instant, arrival: &Arrival) {
        let Arrival {
            id,
            direction,
            traffic,
        } = *arrival;
        let packet = self.packets.get(id);
        match packet.body {
            Body::Segment { ref header, .. } => {
                if self.record_delays {
                    let split = self.packets.split(id);
                    let at_sender = split.get(Cause::Sender) + split.get(Cause::Recovery);
                    debug_assert_eq!(
                        split.total(),
                        at_sender + now.saturating_since(header.sent_at()),
                        "the parts of a segment's delay sum to the whole"
                    );
                    self.recorder.on_segment(&SegmentArrival {
                        traffic,
                        direction,
                        payload: Bytes(u64::from(header.payload())),
                        split,
                    });
                }
            }
            Body::Datagram {
                flow,
                sequence,
                sent_at,
                ..
            } => {
                let split = self.recorded_split(id);
                debug_assert!(
                    !self.record_delays || split.total() == now.saturating_since(sent_at),
                    "the parts of a datagram's delay sum to the whole"
                );
                self.recorder.on_datagram(&Datagram {
                    traffic,
                    flow,
                    sequence,
                    direction,
                    length: Bytes(u64::from(packet.meta.length)),
                    sent_at,
                    fate: Fate::Arrived(now),
                    marked: packet.meta.ecn == Ecn::Ce,
                    lost_for: None,
                    split,
                });
            }
        }
    }

    /// The delay of a packet so far, if delays are recorded; if not, its place is in no near cache.
    #[inline]
    pub(crate) fn recorded_split(&self, id: PacketId) -> DelaySplit {
        if self.record_delays {
            *self.packets.split(id)
        } else {
            DelaySplit::default()
        }
    }

    /// A packet enters a wire, with its length in bytes.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "most callers have no use for the delay"
    )]
    pub(crate) fn carry(&mut self, wire: u32, now: Instant, id: PacketId, length: u32) {
        let state = &mut self.wires[wire as usize];
        let passage = state.wire.carry(now, length);
        let event = Event::WireDelivery { wire };
        state
            .line
            .announce(passage.arrives_at, id, event, &mut self.calendar);
        if self.record_delays {
            add_delay(self.packets.split_mut(id), &passage.delay);
        }
    }
}

pub(crate) fn add_delay(split: &mut DelaySplit, delay: &DelayParts) {
    for (cause, span) in delay.parts() {
        split.add(cause, span);
    }
}
