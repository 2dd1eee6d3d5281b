//! The engine's services to links: the packets, the calendar, and the records.

use crate::arena::{Arena, Body};
use crate::calendar::Calendar;
use crate::event::Event;
use crate::work::Work;
use sojourn_base::FlowKey;
use sojourn_base::native::Native;
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, Packets, ServiceQueue, Span};
use sojourn_link::network::{Arrival, Place, Schedule};
use sojourn_link::{DelayParts, Loss, Mark, NetworkContext, NetworkEvent, PacketId, Passage, Stage};
use sojourn_queue::{Backlog, Score};
use sojourn_record::{
    Cause, Datagram, DelaySplit, Fate, JoinedPassage, LinkDrop, LinkId, LinkMark, LinkPassage, LinkScore, LostPacket,
    Moment, PacketBody, PacketSeen, Recorder, SegmentArrival, TrafficId, Waiting,
};

/// Owner of a packet: traffic entry, server, direction.
type Whose = (TrafficId, u32, Direction);

/// State around the network: packets, the events that move them, and the records.
#[derive(Debug)]
pub(crate) struct Paths<R> {
    pub(crate) packets: Arena,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) recorder: R,
    pub(crate) record_delays: bool,
    /// Work done within events.
    pub(crate) work: Work,
    /// Times at which packets entered the first of two links of one access, by their places.
    pub(crate) joining: Vec<Option<Instant>>,
    /// Addresses and ports, if a link has rules that may ask for them.
    pub(crate) flows: Option<Native<SeenFlows>>,
}

/// IP's number of the protocol under QUIC (RFC 768).
const UDP: u8 = 17;

/// Flows as links see them: addresses and ports of each.
pub(crate) struct SeenFlows {
    keys: Box<dyn Fn(u16, u32, Option<u32>, Direction) -> FlowKey + Send>,
    /// The client's port of the connection in each slot. Packets of an old connection that are in flight when the slot
    /// is reused count as the new one's.
    ports: Vec<u32>,
}

impl std::fmt::Debug for SeenFlows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeenFlows").finish_non_exhaustive()
    }
}

impl SeenFlows {
    pub(crate) fn of(scenario: &sojourn_scenario::Scenario) -> Self {
        Self { keys: Box::new(crate::address::seen_keys(scenario)), ports: Vec::new() }
    }

    /// A connection is in this slot from now on.
    pub(crate) fn opened(&mut self, slot: u32, port: u32) {
        let place = slot as usize;
        if self.ports.len() <= place {
            self.ports.resize(place + 1, 0);
        }
        self.ports[place] = port;
    }
}

impl<R: Recorder> Paths<R> {
    /// Tells the recorder that something happens to a packet.
    pub(crate) fn see(&mut self, now: Instant, id: PacketId, whose: Whose, moment: Moment) {
        let packet = self.packets.get(id);
        let (traffic, server, direction) = whose;
        let body = match packet.body {
            Body::Segment { slot, generation, ref header } if !header.is_encrypted() => {
                PacketBody::Segment(header.seen((slot, generation), self.packets.blocks(id)))
            }
            Body::Segment { .. } | Body::Datagram { .. } => PacketBody::Datagram,
        };
        self.recorder.on_packet(&PacketSeen {
            now,
            place: id.index,
            traffic,
            server,
            direction,
            length: packet.meta.length,
            dscp: packet.meta.dscp,
            ecn: packet.meta.ecn,
            body,
            moment,
        });
    }

    fn see_at(&mut self, now: Instant, id: PacketId, place: Place, moment: Moment) {
        let Place { direction, traffic, server, .. } = place;
        self.see(now, id, (traffic, server, direction), moment);
    }

    pub(crate) fn record_arrival(&mut self, now: Instant, arrival: &Arrival) {
        let Arrival { id, direction, traffic } = *arrival;
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
            Body::Datagram { flow, sequence, sent_at, .. } => {
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
        if self.record_delays { *self.packets.split(id) } else { DelaySplit::default() }
    }
}

impl Schedule for Calendar<Event> {
    #[inline]
    fn schedule(&mut self, at: Instant, event: NetworkEvent) {
        let event = match event {
            NetworkEvent::WireDelivery { wire } => Event::WireDelivery { wire },
            NetworkEvent::LinkDelivery { link } => Event::LinkDelivery { link },
            NetworkEvent::Wakeup { link } => Event::Wakeup { link },
            NetworkEvent::GroupWakeup { group } => Event::GroupWakeup { group },
        };
        self.schedule(at, event);
    }
}

impl<R: Recorder> NetworkContext for Paths<R> {
    type Calendar = Calendar<Event>;

    const TELLS_PACKETS: bool = R::WANTS_PACKETS;

    #[inline]
    fn calendar(&mut self) -> &mut Calendar<Event> {
        &mut self.calendar
    }

    #[inline]
    fn meta(&self, id: PacketId) -> Meta {
        self.packets.get(id).meta
    }

    #[inline]
    fn wants_delays(&self) -> bool {
        self.record_delays
    }

    #[inline]
    fn delayed(&mut self, id: PacketId, delay: &DelayParts) {
        let split = self.packets.split_mut(id);
        for (cause, span) in delay.parts() {
            split.add(cause, span);
        }
    }

    fn entered(&mut self, now: Instant, id: PacketId, place: Place) {
        self.see_at(now, id, place, Moment::Entered(place.link));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a passage that is not recorded need not be built")]
    fn passed(&mut self, id: PacketId, place: Place, length: u32, meta: &Meta, passage: &Passage) {
        if R::WANTS_PACKETS {
            let moment = Moment::Left(place.link, passage.arrives_at);
            self.see_at(passage.dequeued_at, id, place, moment);
        }
        self.recorder.on_passage(
            place.direction,
            &LinkPassage {
                link: place.link,
                traffic: place.traffic,
                server: place.server,
                length: Bytes(u64::from(length)),
                charged: Bytes(u64::from(meta.length)),
                entered_at: passage.entered_at,
                dequeued_at: passage.dequeued_at,
                arrives_at: passage.arrives_at,
                queue: meta.queue,
                sub_flow: passage.sub_flow.get(),
            },
        );
    }

    #[cold]
    fn joins(&mut self, id: PacketId, entered_at: Instant) {
        let place = id.index as usize;
        if self.joining.len() <= place {
            self.joining.resize(place + 1, None);
        }
        self.joining[place] = Some(entered_at);
    }

    #[cold]
    fn joined(&mut self, id: PacketId, place: Place, arrives_at: Instant) {
        let entered_at = self.joining.get_mut(id.index as usize).and_then(Option::take);
        if let Some(entered_at) = entered_at {
            let Place { traffic, server, direction, .. } = place;
            self.recorder.on_joined(direction, &JoinedPassage { traffic, server, entered_at, arrives_at });
        }
    }

    fn marked(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, mark: &Mark) {
        self.packets.get_mut(id).meta.ecn = Ecn::Ce;
        if R::WANTS_PACKETS {
            self.see_at(now, id, place, Moment::Marked(place.link, mark.reason));
        }
        self.recorder.on_mark(&LinkMark {
            at: now,
            link: place.link,
            traffic: place.traffic,
            direction: place.direction,
            length: Bytes(u64::from(meta.length)),
            reason: mark.reason,
            queue: meta.queue,
            sub_flow: mark.sub_flow.get(),
        });
    }

    fn dropped(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, loss: &Loss) {
        let Place { direction, traffic, .. } = place;
        if R::WANTS_PACKETS {
            let moment = Moment::Dropped(place.link, loss.reason, meta.queue);
            self.see_at(now, id, place, moment);
        }
        let packet = self.packets.get(id);
        let behind_queue = loss.stage != Stage::Queue;
        self.recorder.on_drop(&LinkDrop {
            at: now,
            link: place.link,
            traffic,
            direction,
            length: Bytes(u64::from(meta.length)),
            behind_queue,
            reason: loss.reason,
            queue: meta.queue,
            sub_flow: loss.sub_flow.get(),
        });
        let (connection, sequence, data) = match packet.body {
            Body::Segment { slot, generation, ref header } => {
                (Some((slot, generation)), header.sequence(), header.payload())
            }
            Body::Datagram { sequence, .. } => (None, sequence, packet.meta.length),
        };
        self.recorder.on_lost_packet(&LostPacket {
            at: now,
            link: place.link,
            traffic,
            server: place.server,
            direction,
            connection,
            sequence,
            data,
            reason: loss.reason,
        });
        if let Body::Datagram { flow, sequence, sent_at, .. } = packet.body {
            self.recorder.on_datagram(&Datagram {
                traffic,
                flow,
                sequence,
                direction,
                length: Bytes(u64::from(packet.meta.length)),
                sent_at,
                fate: match loss.stage {
                    Stage::Queue => Fate::LostInQueue,
                    Stage::TransmitQueue => Fate::LostBehindQueue,
                    Stage::Line => Fate::LostOnLine,
                },
                marked: false,
                lost_for: Some(loss.reason),
                split: self.recorded_split(id),
            });
        }
        self.packets.free(id);
    }

    fn scored(&mut self, now: Instant, _id: PacketId, place: Place, meta: &Meta, score: &Score) {
        self.recorder.on_score(&LinkScore {
            at: now,
            link: place.link,
            traffic: place.traffic,
            direction: place.direction,
            flow_hash: meta.flow_hash,
            length: Bytes(u64::from(meta.length)),
            score: score.score,
            late: score.late,
            sanctioned: score.sanctioned,
        });
    }

    fn estimated(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {
        self.recorder.on_estimate(link, queue, delay);
    }

    fn waiting(&mut self, now: Instant, link: LinkId, backlog: Backlog, staged: Packets) {
        let waiting = Waiting { packets: backlog.packets, bytes: backlog.bytes, staged };
        self.recorder.on_waiting(now, link, waiting);
    }

    fn copy(&mut self, id: PacketId, place: Place) -> Option<PacketId> {
        let length = Bytes(u64::from(self.packets.get(id).meta.length));
        self.recorder.on_sent(place.traffic, place.direction, length);
        Some(self.packets.copy(id))
    }

    fn flow(&self, id: PacketId, place: Place) -> Option<FlowKey> {
        let flows = self.flows.as_ref()?;
        let (port, is_quic) = match self.packets.get(id).body {
            Body::Segment { slot, ref header, .. } => (Some(*flows.ports.get(slot as usize)?), header.is_encrypted()),
            Body::Datagram { .. } => (None, false),
        };
        let mut key = (flows.keys)(place.traffic.0, place.server, port, place.direction);
        if is_quic {
            key.protocol = UDP;
        }
        Some(key)
    }

    fn remarked(&mut self, id: PacketId, dscp: u8) {
        self.packets.get_mut(id).meta.dscp = dscp;
    }

    #[inline]
    fn work(&mut self, units: u64) -> bool {
        self.work.spend(units)
    }
}
