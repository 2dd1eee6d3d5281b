//! Links, the packets in them, and the events that move them.
//!
//! A route is one direction between the subscriber and one server: the access link, and a wire of the
//! server's own. Upstream a packet passes the access link first. When it leaves there is then known for
//! good, and nothing else enters its wire, so its way over the wire is worked out at once. Downstream the
//! wires come first and meet at the access link, where each packet is an event.
//!
//! What is on its way to an event stands in a ring, with one pending event for the first packet, and an
//! access link has one pending wake-up: the calendar stays small at any rate.

use crate::arena::{Arena, Body, Itinerary, Packet, PacketId};
use crate::calendar::Calendar;
use crate::event::Event;
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, PerDirection, RandomStream, Seed};
use sojourn_link::{
    AnyLink, DelayParts, Draw, Link, LinkConfig, LinkContext, Passage, Stage, Wire, WireConfig,
};
use sojourn_queue::{QueueManager, Reason};
use sojourn_record::{
    Cause, Datagram, DelaySplit, Fate, LinkDrop, LinkId, LinkPassage, Recorder, SegmentArrival,
    TrafficId, Waiting,
};
use sojourn_scenario::AccessLink;
use sojourn_transport::SackBlocks;
use std::collections::VecDeque;

/// An access link, in one direction.
#[derive(Debug)]
struct Access {
    model: AnyLink<PacketId>,
    streams: [RandomStream; 3],
    /// Time of the pending wake-up event.
    wakeup_at: Instant,
    /// When the model wants to be called: not before the pending wake-up, and later if its plans have
    /// changed since.
    wanted_at: Instant,
    /// Last queue length that the recorder knows.
    waiting: Waiting,
}

impl Access {
    /// An idle link, whose random streams are called after its direction.
    fn new(direction: Direction, config: &LinkConfig, seed: Seed) -> Self {
        let name = direction.as_str();
        let stream = |purpose: &str| seed.stream(&format!("link/{name}/{purpose}"));
        Self {
            model: config.build(),
            streams: [
                stream("queue_manager"),
                stream("grant_size"),
                stream("grant_offset"),
            ],
            wakeup_at: Instant::NEVER,
            wanted_at: Instant::NEVER,
            waiting: Waiting::default(),
        }
    }
}

/// The line between the access network and one server, in one direction: fast enough never to need
/// management.
#[derive(Debug)]
struct Route {
    wire: Wire,
    direction: Direction,
    line: Line,
}

/// Packets on their way to an event.
#[derive(Debug)]
struct Line {
    /// In order of arrival.
    in_flight: VecDeque<(Instant, PacketId)>,
    /// Whether a delivery event for the first of them is pending (or being handled).
    delivery_pending: bool,
}

impl Line {
    fn new() -> Self {
        Self {
            in_flight: VecDeque::with_capacity(64),
            delivery_pending: false,
        }
    }

    /// A packet arrives at `at`, which `event` tells.
    #[inline]
    fn announce(
        &mut self,
        at: Instant,
        id: PacketId,
        event: Event,
        calendar: &mut Calendar<Event>,
    ) {
        debug_assert!(
            self.in_flight.back().is_none_or(|(last, _)| *last <= at),
            "a link delivers in order"
        );
        if !self.delivery_pending {
            self.delivery_pending = true;
            calendar.schedule(at, event);
        }
        self.in_flight.push_back((at, id));
    }

    /// The next packet that has arrived by `now`; without one, `event` tells when the next one does.
    #[inline]
    fn take(
        &mut self,
        now: Instant,
        event: Event,
        calendar: &mut Calendar<Event>,
    ) -> Option<PacketId> {
        match self.in_flight.front() {
            Some(&(at, id)) if at <= now => {
                self.in_flight.pop_front();
                return Some(id);
            }
            Some(&(at, _)) => calendar.schedule(at, event),
            None => self.delivery_pending = false,
        }
        None
    }
}

/// All links of a run.
#[derive(Debug)]
pub(crate) struct Network<R> {
    access: PerDirection<Box<Access>>,
    /// What the access link delivers downstream.
    access_line: Line,
    routes: Vec<Route>,
    packets: Arena,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) recorder: R,
    record_delays: bool,
    record_waiting: bool,
    packet_hops: u64,
}

impl<R: Recorder> Network<R> {
    pub(crate) fn new(recorder: R, access: &PerDirection<AccessLink>, seed: Seed) -> Self {
        let access = |direction| Box::new(Access::new(direction, &access[direction].link, seed));
        Self {
            access: PerDirection {
                upstream: access(Direction::Upstream),
                downstream: access(Direction::Downstream),
            },
            access_line: Line::new(),
            routes: Vec::new(),
            packets: Arena::default(),
            calendar: Calendar::new(),
            record_delays: recorder.wants_delays(),
            record_waiting: recorder.wants_waiting(),
            recorder,
            packet_hops: 0,
        }
    }

    /// Adds a route over `wire`.
    pub(crate) fn add_route(&mut self, wire: WireConfig, direction: Direction) -> u16 {
        self.routes.push(Route {
            wire: Wire::new(wire),
            direction,
            line: Line::new(),
        });
        u16::try_from(self.routes.len() - 1).expect("the scenario limits the number of servers")
    }

    /// Packets delivered by links so far.
    pub(crate) const fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Packets in queues and on wires.
    pub(crate) fn in_flight(&self) -> usize {
        self.packets.in_flight()
    }

    /// A packet enters the first link of its route, with the SACK blocks of its segment. `split` is the
    /// delay that it brings along, if delays are recorded.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `Arena::insert`")]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        (direction, itinerary): (Direction, Itinerary),
        packet: Packet,
        blocks: &SackBlocks,
        split: Option<DelaySplit>,
    ) {
        let meta = packet.meta;
        self.recorder.on_sent(
            TrafficId(itinerary.traffic),
            direction,
            Bytes(u64::from(meta.length)),
        );
        let id = self.packets.insert(itinerary, packet, blocks, split);
        match direction {
            Direction::Upstream => self.enter_access(now, direction, id, meta),
            Direction::Downstream => {
                let route = &mut self.routes[usize::from(itinerary.route)];
                let passage = route.carry(now, id, meta.length, &mut self.calendar);
                if self.record_delays {
                    add_delay(self.packets.split_mut(id), &passage.delay);
                }
            }
        }
    }

    /// A wake-up event of an access link is due.
    pub(crate) fn on_wakeup(&mut self, now: Instant, direction: Direction) {
        let access = &mut self.access[direction];
        if access.wakeup_at != now {
            return; // an earlier wake-up has been scheduled since
        }
        access.wakeup_at = Instant::NEVER;
        if access.wanted_at <= now {
            let (model, mut call) = self.split(now, direction);
            model.on_wakeup(now, &mut call);
        }
        self.after_call(now, direction);
    }

    /// A delivery event of a route's wire is due. Upstream it returns a packet at its server; the caller
    /// asks again until there is none. Downstream packets enter the access link.
    pub(crate) fn take_from_wire(&mut self, now: Instant, route: u16) -> Option<PacketId> {
        let event = Event::WireDelivery { route };
        loop {
            let slot = &mut self.routes[usize::from(route)];
            let id = slot.line.take(now, event, &mut self.calendar)?;
            match slot.direction {
                Direction::Upstream => {
                    self.packet_hops += 2; // that of the access link, too
                    return Some(id);
                }
                Direction::Downstream => {
                    self.packet_hops += 1;
                    let meta = self.packets.get(id).meta;
                    self.enter_access(now, Direction::Downstream, id, meta);
                }
            }
        }
    }

    /// A delivery event of the access link downstream is due: a packet at the subscriber's end. The
    /// caller asks again until there is none.
    pub(crate) fn take_from_access(&mut self, now: Instant) -> Option<PacketId> {
        let event = Event::AccessDelivery;
        let id = self.access_line.take(now, event, &mut self.calendar)?;
        self.packet_hops += 1;
        Some(id)
    }

    /// Tells the recorder what arrived, and takes it out of the network.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, direction: Direction, id: PacketId) -> Packet {
        self.record_arrival(now, direction, id);
        self.packets.remove(id)
    }

    /// SACK blocks of the segment in a packet that was received just now and has some.
    pub(crate) fn blocks(&self, id: PacketId) -> &SackBlocks {
        self.packets.blocks(id)
    }

    fn record_arrival(&mut self, now: Instant, direction: Direction, id: PacketId) {
        let packet = self.packets.get(id);
        let split = self.packets.split(id);
        let traffic = TrafficId(id.itinerary.traffic);
        match packet.body {
            Body::Segment { ref header, .. } => {
                if self.record_delays {
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
                        split: *split,
                    });
                }
            }
            Body::Datagram {
                flow,
                sequence,
                sent_at,
                ..
            } => {
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
                    split: *split,
                });
            }
        }
    }

    /// The sub-flow that the packets of a flow go to in the access link, if its manager has any.
    pub(crate) fn sub_flow(&self, direction: Direction, flow_hash: u32, dscp: u8) -> Option<u32> {
        let meta = Meta {
            flow_hash,
            dscp,
            ..Meta::default()
        };
        self.access[direction].model.manager().sub_flow(&meta)
    }

    /// Whether packets shall carry the split of their delay.
    pub(crate) const fn records_delays(&self) -> bool {
        self.record_delays
    }

    fn enter_access(&mut self, now: Instant, direction: Direction, id: PacketId, meta: Meta) {
        let (model, mut call) = self.split(now, direction);
        model.on_arrival(now, meta, id, &mut call);
        self.after_call(now, direction);
    }

    /// The model of an access link, and what it may do to the rest of the network during a call.
    fn split(
        &mut self,
        now: Instant,
        direction: Direction,
    ) -> (&mut AnyLink<PacketId>, LinkCall<'_, R>) {
        let access = &mut *self.access[direction];
        let call = LinkCall {
            now,
            direction,
            streams: &mut access.streams,
            line: &mut self.access_line,
            routes: &mut self.routes,
            packets: &mut self.packets,
            calendar: &mut self.calendar,
            recorder: &mut self.recorder,
            record_delays: self.record_delays,
        };
        (&mut access.model, call)
    }

    /// Schedules the wake-up that an access link wants, and follows its queue length.
    fn after_call(&mut self, now: Instant, direction: Direction) {
        let access = &mut *self.access[direction];
        let next = access.model.next_wakeup();
        access.wanted_at = next;
        if next < access.wakeup_at {
            debug_assert!(next >= now, "a link wants to be woken in the past");
            access.wakeup_at = next;
            self.calendar.schedule(next, Event::Wakeup { direction });
        }
        if self.record_waiting {
            self.record_queue_length(now, direction);
        }
    }

    /// Tells the recorder how long the queue is, if that has changed.
    #[inline(never)] // `after_call` is short without it
    fn record_queue_length(&mut self, now: Instant, direction: Direction) {
        let access = &mut *self.access[direction];
        let (backlog, staged) = (access.model.backlog(), access.model.staged());
        let waiting = Waiting {
            packets: backlog.packets,
            bytes: backlog.bytes,
            staged: staged.packets,
        };
        if waiting != access.waiting {
            access.waiting = waiting;
            self.recorder
                .on_waiting(now, access_link(direction), waiting);
        }
    }
}

fn add_delay(split: &mut DelaySplit, delay: &DelayParts) {
    for (cause, span) in [
        (Cause::Queue, delay.queue),
        (Cause::RequestWait, delay.request_wait),
        (Cause::GrantWait, delay.grant_wait),
        (Cause::Framing, delay.framing),
        (Cause::Serialisation, delay.serialisation),
        (Cause::Wire, delay.wire),
    ] {
        split.add(cause, span);
    }
}

impl Route {
    /// A packet of so many bytes enters the wire.
    #[inline]
    fn carry(
        &mut self,
        now: Instant,
        id: PacketId,
        length: u32,
        calendar: &mut Calendar<Event>,
    ) -> Passage {
        let passage = self.wire.carry(now, length);
        let event = Event::WireDelivery {
            route: id.itinerary.route,
        };
        self.line.announce(passage.arrives_at, id, event, calendar);
        passage
    }
}

/// Number of an access link in the records.
const fn access_link(direction: Direction) -> LinkId {
    LinkId(direction as u16)
}

/// The context of an access link during one call.
struct LinkCall<'a, R> {
    now: Instant,
    direction: Direction,
    streams: &'a mut [RandomStream; 3],
    /// What is delivered downstream.
    line: &'a mut Line,
    /// Where it goes upstream.
    routes: &'a mut [Route],
    packets: &'a mut Arena,
    calendar: &'a mut Calendar<Event>,
    recorder: &'a mut R,
    record_delays: bool,
}

impl<R: Recorder> LinkContext<PacketId> for LinkCall<'_, R> {
    fn deliver(&mut self, item: PacketId, meta: &Meta, passage: &Passage) {
        if passage.marked {
            self.packets.get_mut(item).meta.ecn = Ecn::Ce;
        }
        let Itinerary { route, traffic } = item.itinerary;
        let at = passage.arrives_at;
        if self.record_delays {
            add_delay(self.packets.split_mut(item), &passage.delay);
        }
        match self.direction {
            Direction::Upstream => {
                let onward =
                    self.routes[usize::from(route)].carry(at, item, meta.length, self.calendar);
                if self.record_delays {
                    add_delay(self.packets.split_mut(item), &onward.delay);
                }
            }
            Direction::Downstream => {
                self.line
                    .announce(at, item, Event::AccessDelivery, self.calendar);
            }
        }
        self.recorder.on_passage(
            self.direction,
            &LinkPassage {
                link: access_link(self.direction),
                traffic: TrafficId(traffic),
                length: Bytes(u64::from(meta.length)),
                entered_at: passage.entered_at,
                dequeued_at: passage.dequeued_at,
                arrives_at: passage.arrives_at,
            },
        );
    }

    fn dropped(
        &mut self,
        item: PacketId,
        meta: &Meta,
        _entered_at: Instant,
        stage: Stage,
        _reason: Reason,
    ) {
        let packet = self.packets.get(item);
        let traffic = TrafficId(item.itinerary.traffic);
        let behind_queue = stage == Stage::TransmitQueue;
        self.recorder.on_drop(&LinkDrop {
            at: self.now,
            link: access_link(self.direction),
            traffic,
            direction: self.direction,
            length: Bytes(u64::from(meta.length)),
            behind_queue,
        });
        if let Body::Datagram {
            flow,
            sequence,
            sent_at,
            ..
        } = packet.body
        {
            self.recorder.on_datagram(&Datagram {
                traffic,
                flow,
                sequence,
                direction: self.direction,
                length: Bytes(u64::from(packet.meta.length)),
                sent_at,
                fate: if behind_queue {
                    Fate::LostBehindQueue
                } else {
                    Fate::LostInQueue
                },
                split: *self.packets.split(item),
            });
        }
        self.packets.free(item);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.streams[purpose as usize].unit()
    }

    fn wants_delay(&self) -> bool {
        self.record_delays
    }
}
