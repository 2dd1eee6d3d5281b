//! Links, the packets in them, and the events that move them.
//!
//! Each link keeps the packets that it has announced in a ring and has one pending delivery event for
//! the first of them and one pending wake-up, so the calendar stays small at any rate.

use crate::arena::{Arena, Body, Packet, PacketId};
use crate::calendar::Calendar;
use crate::event::Event;
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, RandomStream, Seed};
use sojourn_link::{AnyLink, DelayParts, Draw, Link, LinkOutput, Passage, Stage, Wire};
use sojourn_queue::Reason;
use sojourn_record::{
    Cause, Datagram, DelaySplit, Fate, LinkDrop, LinkId, LinkPassage, Recorder, SegmentArrival,
    TrafficId, Waiting,
};
use std::collections::VecDeque;

/// A link model: the managed access link, or a wire that only delays.
#[derive(Debug)]
pub(crate) enum Model {
    /// A link with a queue manager; its passages and queue lengths are recorded.
    Access(Box<AnyLink<PacketId>>),
    /// A line that is fast enough never to need management.
    Wire(Wire),
}

/// A link and what is on its way through it.
#[derive(Debug)]
struct LinkSlot {
    model: Model,
    direction: Direction,
    streams: [RandomStream; 3],
    line: Line,
    /// Time of the pending wake-up event.
    wakeup_at: Instant,
    /// When the model wants to be called: not before the pending wake-up, and later if its plans have
    /// changed since.
    wanted_at: Instant,
    /// Last queue length that the recorder knows.
    waiting: Waiting,
}

/// Packets between leaving a link's queue and arriving.
#[derive(Debug)]
struct Line {
    /// In order of arrival.
    in_flight: VecDeque<(Instant, PacketId)>,
    /// Whether a delivery event for the first of them is pending (or being handled).
    delivery_pending: bool,
}

impl Line {
    /// A packet of `link` arrives at `at`.
    fn announce(&mut self, at: Instant, id: PacketId, link: u16, calendar: &mut Calendar<Event>) {
        debug_assert!(
            self.in_flight.back().is_none_or(|(last, _)| *last <= at),
            "a link delivers in order"
        );
        if !self.delivery_pending {
            self.delivery_pending = true;
            calendar.schedule(at, Event::Delivery { link });
        }
        self.in_flight.push_back((at, id));
    }
}

/// Sequence of links from a source to a destination.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    links: Vec<u16>,
    direction: Direction,
}

/// All links of a run.
#[derive(Debug)]
pub(crate) struct Network<R> {
    links: Vec<LinkSlot>,
    routes: Vec<Route>,
    packets: Arena,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) recorder: R,
    record_delays: bool,
    record_waiting: bool,
    packet_hops: u64,
}

impl<R: Recorder> Network<R> {
    pub(crate) fn new(recorder: R) -> Self {
        Self {
            links: Vec::new(),
            routes: Vec::new(),
            packets: Arena::default(),
            calendar: Calendar::new(),
            record_delays: recorder.wants_delays(),
            record_waiting: recorder.wants_waiting(),
            recorder,
            packet_hops: 0,
        }
    }

    /// Adds a link whose random streams are called after `name`.
    pub(crate) fn add_link(
        &mut self,
        name: &str,
        model: Model,
        direction: Direction,
        seed: Seed,
    ) -> u16 {
        let stream = |purpose: &str| seed.stream(&format!("link/{name}/{purpose}"));
        self.links.push(LinkSlot {
            model,
            direction,
            streams: [
                stream("queue_manager"),
                stream("grant_size"),
                stream("grant_offset"),
            ],
            line: Line {
                in_flight: VecDeque::with_capacity(64),
                delivery_pending: false,
            },
            wakeup_at: Instant::NEVER,
            wanted_at: Instant::NEVER,
            waiting: Waiting::default(),
        });
        u16::try_from(self.links.len() - 1).expect("the scenario limits the number of servers")
    }

    /// Adds a route over `links`.
    pub(crate) fn add_route(&mut self, links: Vec<u16>, direction: Direction) -> u16 {
        self.routes.push(Route { links, direction });
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

    /// A packet enters the first link of its route. `split` is the delay that it brings along, if
    /// delays are recorded.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, packet: Packet, split: Option<DelaySplit>) {
        let route = &self.routes[usize::from(packet.route)];
        let (first, direction) = (route.links[0], route.direction);
        let length = Bytes(u64::from(packet.meta.length));
        self.recorder
            .on_sent(TrafficId(packet.traffic), direction, length);
        let id = self.packets.insert(packet, split);
        self.enter(now, first, id);
    }

    /// A wake-up event of a link is due.
    pub(crate) fn on_wakeup(&mut self, now: Instant, link: u16) {
        let slot = &mut self.links[usize::from(link)];
        if slot.wakeup_at != now {
            return; // an earlier wake-up has been scheduled since
        }
        slot.wakeup_at = Instant::NEVER;
        if let Model::Access(model) = &mut slot.model
            && slot.wanted_at <= now
        {
            let mut output = Output {
                now,
                link,
                direction: slot.direction,
                streams: &mut slot.streams,
                line: &mut slot.line,
                packets: &mut self.packets,
                calendar: &mut self.calendar,
                recorder: &mut self.recorder,
                record_delays: self.record_delays,
            };
            model.on_wakeup(now, &mut output);
        }
        self.after_call(now, link);
    }

    /// A delivery event of a link is due: the packet leaves the network or enters its next link.
    /// Returns a packet at the end of its route; the caller asks again until there is none.
    pub(crate) fn take_delivery(&mut self, now: Instant, link: u16) -> Option<PacketId> {
        loop {
            let slot = &mut self.links[usize::from(link)];
            match slot.line.in_flight.front() {
                Some(&(at, id)) if at <= now => {
                    slot.line.in_flight.pop_front();
                    self.packet_hops += 1;
                    let packet = self.packets.get_mut(id);
                    packet.hop += 1;
                    let route = &self.routes[usize::from(packet.route)];
                    if let Some(&next) = route.links.get(usize::from(packet.hop)) {
                        self.enter(now, next, id);
                    } else {
                        return Some(id);
                    }
                }
                Some(&(at, _)) => {
                    self.calendar.schedule(at, Event::Delivery { link });
                    return None;
                }
                None => {
                    slot.line.delivery_pending = false;
                    return None;
                }
            }
        }
    }

    /// Tells the recorder what arrived, and takes it out of the network.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, id: PacketId) -> Packet {
        self.record_arrival(now, id);
        self.packets.remove(id)
    }

    fn record_arrival(&mut self, now: Instant, id: PacketId) {
        let packet = self.packets.get(id);
        let split = self.packets.split(id);
        let direction = self.routes[usize::from(packet.route)].direction;
        let traffic = TrafficId(packet.traffic);
        match packet.body {
            Body::Segment { ref segment, .. } => {
                if self.record_delays {
                    debug_assert_eq!(
                        split.total(),
                        now.saturating_since(segment.journey.written_at),
                        "the parts of a segment's delay sum to the whole"
                    );
                    self.recorder.on_segment(&SegmentArrival {
                        traffic,
                        direction,
                        payload: Bytes(u64::from(segment.payload)),
                        split: *split,
                    });
                }
            }
            Body::Datagram {
                flow,
                sequence,
                length,
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
                    length: Bytes(u64::from(length)),
                    sent_at,
                    fate: Fate::Arrived(now),
                    split: *split,
                });
            }
        }
    }

    /// Whether packets shall carry the split of their delay.
    pub(crate) const fn records_delays(&self) -> bool {
        self.record_delays
    }

    #[inline]
    fn enter(&mut self, now: Instant, link: u16, id: PacketId) {
        let slot = &mut self.links[usize::from(link)];
        if let Model::Wire(wire) = &mut slot.model {
            let passage = wire.carry(now, self.packets.get(id).meta.length);
            slot.line
                .announce(passage.arrives_at, id, link, &mut self.calendar);
            if self.record_delays {
                add_delay(self.packets.split_mut(id), &passage.delay);
            }
        } else {
            self.enter_access_link(now, link, id);
        }
    }

    fn enter_access_link(&mut self, now: Instant, link: u16, id: PacketId) {
        let slot = &mut self.links[usize::from(link)];
        let Model::Access(model) = &mut slot.model else {
            return;
        };
        let meta = self.packets.get(id).meta;
        let mut output = Output {
            now,
            link,
            direction: slot.direction,
            streams: &mut slot.streams,
            line: &mut slot.line,
            packets: &mut self.packets,
            calendar: &mut self.calendar,
            recorder: &mut self.recorder,
            record_delays: self.record_delays,
        };
        model.on_arrival(now, meta, id, &mut output);
        self.after_call(now, link);
    }

    /// Schedules the wake-up that an access link wants, and follows its queue length.
    fn after_call(&mut self, now: Instant, link: u16) {
        let slot = &mut self.links[usize::from(link)];
        let Model::Access(model) = &slot.model else {
            return;
        };
        let next = model.next_wakeup();
        slot.wanted_at = next;
        if next < slot.wakeup_at {
            debug_assert!(next >= now, "a link wants to be woken in the past");
            slot.wakeup_at = next;
            self.calendar.schedule(next, Event::Wakeup { link });
        }
        if self.record_waiting {
            let (backlog, staged) = (model.backlog(), model.staged());
            let waiting = Waiting {
                packets: backlog.packets,
                bytes: backlog.bytes,
                staged: staged.packets,
            };
            if waiting != slot.waiting {
                slot.waiting = waiting;
                self.recorder.on_waiting(now, LinkId(link), waiting);
            }
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

/// What an access link may do to the rest of the network during a call.
struct Output<'a, R> {
    now: Instant,
    link: u16,
    direction: Direction,
    streams: &'a mut [RandomStream; 3],
    line: &'a mut Line,
    packets: &'a mut Arena,
    calendar: &'a mut Calendar<Event>,
    recorder: &'a mut R,
    record_delays: bool,
}

impl<R: Recorder> LinkOutput<PacketId> for Output<'_, R> {
    fn deliver(&mut self, item: PacketId, _meta: &Meta, passage: &Passage) {
        self.line
            .announce(passage.arrives_at, item, self.link, self.calendar);
        if self.record_delays {
            add_delay(self.packets.split_mut(item), &passage.delay);
        }
        let packet = self.packets.get_mut(item);
        if passage.marked {
            packet.meta.ecn = Ecn::Ce;
        }
        self.recorder.on_passage(
            self.direction,
            &LinkPassage {
                link: LinkId(self.link),
                traffic: TrafficId(packet.traffic),
                length: Bytes(u64::from(packet.meta.length)),
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
        let split = *self.packets.split(item);
        let packet = self.packets.remove(item);
        let traffic = TrafficId(packet.traffic);
        let behind_queue = stage == Stage::TransmitQueue;
        self.recorder.on_drop(&LinkDrop {
            at: self.now,
            link: LinkId(self.link),
            traffic,
            direction: self.direction,
            length: Bytes(u64::from(meta.length)),
            behind_queue,
        });
        if let Body::Datagram {
            flow,
            sequence,
            length,
            sent_at,
            ..
        } = packet.body
        {
            self.recorder.on_datagram(&Datagram {
                traffic,
                flow,
                sequence,
                direction: self.direction,
                length: Bytes(u64::from(length)),
                sent_at,
                fate: if behind_queue {
                    Fate::LostBehindQueue
                } else {
                    Fate::LostInQueue
                },
                split,
            });
        }
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.streams[purpose as usize].unit()
    }
}
