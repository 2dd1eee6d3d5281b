//! Links, the packets in them, and the events that move them.
//!
//! A route is one direction between a subscriber and one server: a list of hops, each over a link with a
//! queue, which routes share, or over a wire, which is the server's own. Upstream the wire is the last hop,
//! downstream the first.
//!
//! What a link has announced stands on its line and is an event when it arrives, because it then enters
//! another link. The wire behind a link is the exception: nothing else enters it, so a packet's way over it
//! is worked out when the link announces it, if the link announces in order of arrival. Each line has one pending event, for its first packet, and each
//! link one pending wake-up: the calendar stays small at any rate.

use crate::arena::{Arena, Body, Packet, PacketId};
use crate::calendar::Calendar;
use crate::event::Event;
use crate::hop::HopId;
use crate::work::{Interrupt, Work};
use sojourn_base::{
    Bytes, Direction, Ecn, Instant, Meta, PacketHandle, RandomStream, Seed, ServiceQueue, Span,
};
use sojourn_link::{
    AnyLink, DelayParts, Draw, Framing, Line, LinkConfig, LinkContext, LinkCounters, Loss, Mark,
    Passage, Stage, Wire, WireConfig,
};
use sojourn_queue::Score;
use sojourn_record::{
    COUNTED_AND_TABLE, Cause, Datagram, DelaySplit, Fate, LinkDrop, LinkId, LinkMark, LinkPassage,
    LinkScore, MacCounters, Recorder, SegmentArrival, TrafficId, Waiting,
};
use sojourn_transport::SackBlocks;

/// Where a packet is on its way, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Hop {
    over: Over,
    direction: Direction,
    traffic: TrafficId,
}

/// What carries a packet over a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
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
struct Hops(Vec<Hop>);

impl Hops {
    #[inline]
    fn at(&self, hop: HopId) -> &Hop {
        &self.0[hop.index()]
    }

    #[inline]
    fn of(&self, id: PacketId) -> &Hop {
        self.at(id.hop)
    }
}

/// A link with a queue, in one direction.
#[derive(Debug)]
struct ManagedLink {
    model: AnyLink,
    port: Port,
    /// Time of the pending wake-up event.
    wakeup_at: Instant,
    /// When the model wants to be called: not before the pending wake-up, and later if its plans have
    /// changed since.
    wanted_at: Instant,
    /// Last queue length that the recorder knows.
    waiting: Waiting,
}

/// What stands around the model of a link.
#[derive(Debug)]
struct Port {
    link: LinkId,
    direction: Direction,
    framing: Framing,
    /// One for each purpose.
    streams: [RandomStream; Draw::ALL.len()],
    /// What the link has announced, unless that is on a wire already.
    line: EventLine,
}

/// A wire, in one direction: fast enough never to need management.
#[derive(Debug)]
struct PrivateWire {
    wire: Wire,
    line: EventLine,
    /// Hops that a delivery ends: that over the link before, too, if there was no event between them.
    hops: u64,
}

/// Bytes of the two ways between a subscriber and a server, over `links` links in all.
pub(crate) const fn route_bytes(links: usize) -> usize {
    // A wire and an end each beside the links.
    2 * size_of::<PrivateWire>() + (links + 4) * size_of::<Hop>()
}

/// Packets on their way to an event.
#[derive(Debug)]
struct EventLine {
    line: Line<PacketId>,
    /// Time of the pending event (or of the one that is being handled).
    pending_at: Instant,
}

impl EventLine {
    fn new() -> Self {
        Self {
            line: Line::default(),
            pending_at: Instant::NEVER,
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
        if at < self.pending_at {
            self.pending_at = at;
            calendar.schedule(at, event);
        }
        self.line.push(at, id);
    }

    /// The next packet that has arrived by `now`; without one, `event` tells when the next one does.
    #[inline]
    fn take(
        &mut self,
        now: Instant,
        event: Event,
        calendar: &mut Calendar<Event>,
    ) -> Option<PacketId> {
        if self.pending_at != now {
            return None; // an earlier event took over
        }
        let taken = self.line.take(now);
        if taken.is_none() {
            let next = self.line.next_due();
            self.pending_at = next;
            if next < Instant::NEVER {
                calendar.schedule(next, event);
            }
        }
        taken
    }
}

/// All links of a run.
#[derive(Debug)]
pub(crate) struct Network<R> {
    /// In the order of their numbers.
    links: Vec<ManagedLink>,
    pub(crate) paths: Paths<R>,
    record_waiting: bool,
    packet_hops: u64,
}

/// What lies around the links: routes, wires, packets, and the events that move them.
#[derive(Debug)]
pub(crate) struct Paths<R> {
    wires: Vec<PrivateWire>,
    hops: Hops,
    packets: Arena,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) recorder: R,
    record_delays: bool,
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

impl<R: Recorder> Network<R> {
    pub(crate) fn new(recorder: R, interrupt: Interrupt) -> Self {
        Self {
            links: Vec::new(),
            record_waiting: recorder.wants_waiting(),
            paths: Paths {
                wires: Vec::new(),
                hops: Hops::default(),
                packets: Arena::default(),
                calendar: Calendar::new(),
                record_delays: recorder.wants_delays(),
                recorder,
                work: Work::watched(interrupt),
            },
            packet_hops: 0,
        }
    }

    /// Adds an idle link, whose random streams are called after `name`.
    pub(crate) fn add_link(
        &mut self,
        name: &str,
        direction: Direction,
        (config, framing): (&LinkConfig, Framing),
        seed: Seed,
    ) -> LinkId {
        let stream = |purpose: Draw| seed.stream(&format!("link/{name}/{}", purpose.as_str()));
        let link = LinkId(number(self.links.len()));
        self.links.push(ManagedLink {
            model: config.build(),
            port: Port {
                link,
                direction,
                framing,
                streams: Draw::ALL.map(stream),
                line: EventLine::new(),
            },
            wakeup_at: Instant::NEVER,
            wanted_at: Instant::NEVER,
            waiting: Waiting::default(),
        });
        link
    }

    /// Adds a route over `links`, in the order in which its packets meet them, and over `wire` at the
    /// server's end. Its first hop is what [`Network::send`] wants to know.
    pub(crate) fn add_route(
        &mut self,
        traffic: TrafficId,
        direction: Direction,
        links: &[LinkId],
        wire: WireConfig,
    ) -> HopId {
        let paths = &mut self.paths;
        let first = HopId::new(number(paths.hops.0.len()));
        let last_link = links.last().map(|link| &self.links[usize::from(link.0)]);
        let follows_a_link = direction == Direction::Upstream
            && last_link.is_some_and(|link| link.model.keeps_order());
        paths.wires.push(PrivateWire {
            wire: Wire::new(wire),
            line: EventLine::new(),
            hops: if follows_a_link { 2 } else { 1 },
        });
        let wire = Over::Wire {
            wire: number(paths.wires.len() - 1),
            at_once: follows_a_link,
        };
        let links = links.iter().map(|link| Over::Link(*link));
        let hops: Vec<Over> = match direction {
            Direction::Upstream => links.chain([wire, Over::End]).collect(),
            Direction::Downstream => [wire].into_iter().chain(links).chain([Over::End]).collect(),
        };
        paths.hops.0.extend(hops.into_iter().map(|over| Hop {
            over,
            direction,
            traffic,
        }));
        first
    }

    /// Tells the recorder what the MACs have counted by `end`.
    pub(crate) fn record_macs(&mut self, end: Instant) {
        for number in 0..self.links.len() {
            let link = LinkId(self::number(number));
            self.call_link(end, link, |model, call| model.settle(end, call));
        }
        for (number, link) in (0..).zip(&self.links) {
            let recorder = &mut self.paths.recorder;
            if let Some(counters) = link.model.counters() {
                recorder.on_mac(LinkId(number), &mac_counters(&counters));
            }
            let flows = link.model.service_flow_counters();
            let queues = [ServiceQueue::Classic, ServiceQueue::LowLatency];
            for (queue, counters) in queues.into_iter().zip(flows.iter().flatten()) {
                recorder.on_service_flow(LinkId(number), queue, &mac_counters(counters));
            }
        }
    }

    /// Packets delivered by links so far.
    pub(crate) const fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Bytes that records and packets in flight take.
    pub(crate) fn bytes(&self) -> usize {
        COUNTED_AND_TABLE * self.paths.recorder.bytes() + self.paths.packets.bytes()
    }

    /// What was done within events: steps of links and applications, and packets that found no room among those before.
    #[inline]
    pub(crate) fn work(&self) -> u64 {
        self.paths.work.done() + self.paths.packets.most() as u64
    }

    /// Packets in queues and on wires.
    pub(crate) fn in_flight(&self) -> usize {
        self.paths.packets.in_flight()
    }

    /// A packet enters a route by its first hop, with the SACK blocks of its segment. `split` is the delay
    /// that it brings along, if delays are recorded.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `Arena::insert`")]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        first: HopId,
        packet: Packet,
        blocks: &SackBlocks,
        split: Option<DelaySplit>,
    ) {
        let meta = packet.meta;
        let paths = &mut self.paths;
        let hop = *paths.hops.at(first);
        let length = Bytes(u64::from(meta.length));
        paths.recorder.on_sent(hop.traffic, hop.direction, length);
        let id = paths.packets.insert(first, packet, blocks, split);
        self.enter(now, id, hop.over, meta);
    }

    /// A packet that has come to the hop of `id` enters what carries it over.
    #[inline]
    fn enter(&mut self, now: Instant, id: PacketId, over: Over, meta: Meta) {
        match over {
            Over::Link(link) => self.enter_link(now, link, id, meta),
            Over::Wire { wire, .. } => {
                self.paths.carry(wire, now, id, meta.length);
            }
            Over::End => unreachable!("a packet at its end is received"),
        }
    }

    /// A wake-up event of a link is due.
    pub(crate) fn on_wakeup(&mut self, now: Instant, link: LinkId) {
        let state = &mut self.links[usize::from(link.0)];
        if state.wakeup_at != now {
            return; // an earlier wake-up has been scheduled since
        }
        state.wakeup_at = Instant::NEVER;
        let is_wanted = state.wanted_at <= now;
        self.call_link(now, link, |model, call| {
            if is_wanted {
                model.wake(now, call)
            } else {
                model.next_wakeup()
            }
        });
    }

    /// A delivery event of a wire is due: returns a packet at the end of its route; the caller asks again
    /// until there is none. Others enter their next link.
    pub(crate) fn take_from_wire(&mut self, now: Instant, wire: u32) -> Option<Arrival> {
        loop {
            let state = &mut self.paths.wires[wire as usize];
            let event = Event::WireDelivery { wire };
            let id = state.line.take(now, event, &mut self.paths.calendar)?;
            self.packet_hops += state.hops;
            if let Some(arrived) = self.go_on(now, id) {
                return Some(arrived);
            }
        }
    }

    /// A delivery event of a link is due: as [`Network::take_from_wire`].
    pub(crate) fn take_from_link(&mut self, now: Instant, link: LinkId) -> Option<Arrival> {
        loop {
            let state = &mut self.links[usize::from(link.0)];
            let event = Event::LinkDelivery { link };
            let id = state.port.line.take(now, event, &mut self.paths.calendar)?;
            self.packet_hops += 1;
            if let Some(arrived) = self.go_on(now, id) {
                return Some(arrived);
            }
        }
    }

    /// A packet has made its hop: returns it if that was the last one.
    #[inline]
    fn go_on(&mut self, now: Instant, id: PacketId) -> Option<Arrival> {
        let id = id.one_hop_on();
        let hop = *self.paths.hops.of(id);
        if hop.over == Over::End {
            return Some(Arrival {
                id,
                direction: hop.direction,
                traffic: hop.traffic,
            });
        }
        let meta = self.paths.packets.get(id).meta;
        self.enter(now, id, hop.over, meta);
        None
    }

    /// Tells the recorder what arrived, and takes it out of the network; shows it with the SACK blocks of its segment
    /// if that has some.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, arrival: &Arrival) -> (&Packet, &SackBlocks) {
        self.paths.record_arrival(now, arrival);
        self.paths.packets.remove(arrival.id)
    }

    /// The sub-flow of a flow on the route that begins with `first`, in the first queue there whose manager
    /// has any.
    pub(crate) fn sub_flow(&self, first: HopId, flow_hash: u32, dscp: u8) -> Option<u32> {
        let meta = Meta {
            flow_hash,
            dscp,
            ..Meta::default()
        };
        self.paths.hops.0[first.index()..]
            .iter()
            .take_while(|hop| hop.over != Over::End)
            .find_map(|hop| match hop.over {
                Over::Link(link) => {
                    let model = &self.links[usize::from(link.0)].model;
                    model.sub_flow(&meta)
                }
                Over::Wire { .. } | Over::End => None,
            })
    }

    /// Whether packets shall carry the split of their delay.
    pub(crate) const fn records_delays(&self) -> bool {
        self.paths.record_delays
    }

    fn enter_link(&mut self, now: Instant, link: LinkId, id: PacketId, mut meta: Meta) {
        self.call_link(now, link, |model, call| {
            // The packet keeps its own length: what this link charges is no business of the next one.
            meta.length = call.port.framing.charged(meta.length);
            model.arrive(now, meta, id.into(), call)
        });
    }

    /// Calls a link, which says when it wants to be called next; then schedules that, and follows its queue length.
    #[inline]
    fn call_link(
        &mut self,
        now: Instant,
        link: LinkId,
        action: impl FnOnce(&mut AnyLink, &mut LinkCall<'_, R>) -> Instant,
    ) {
        let state = &mut self.links[usize::from(link.0)];
        let mut call = LinkCall {
            now,
            port: &mut state.port,
            paths: &mut self.paths,
        };
        let next = action(&mut state.model, &mut call);
        state.wanted_at = next;
        if next < state.wakeup_at {
            debug_assert!(next >= now, "a link wants to be woken in the past");
            state.wakeup_at = next;
            self.paths.calendar.schedule(next, Event::Wakeup { link });
        }
        if self.record_waiting {
            state.record_queue_length(now, link, &mut self.paths.recorder);
        }
    }
}

impl<R: Recorder> Paths<R> {
    fn record_arrival(&mut self, now: Instant, arrival: &Arrival) {
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
    fn recorded_split(&self, id: PacketId) -> DelaySplit {
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
    fn carry(&mut self, wire: u32, now: Instant, id: PacketId, length: u32) {
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

impl ManagedLink {
    /// Tells the recorder how long the queue is, if that has changed.
    #[inline(never)] // a call is short without it
    fn record_queue_length<R: Recorder>(&mut self, now: Instant, link: LinkId, recorder: &mut R) {
        let (backlog, staged) = (self.model.backlog(), self.model.staged());
        let waiting = Waiting {
            packets: backlog.packets,
            bytes: backlog.bytes,
            staged: staged.packets,
        };
        if waiting != self.waiting {
            self.waiting = waiting;
            recorder.on_waiting(now, link, waiting);
        }
    }
}

fn mac_counters(counters: &LinkCounters) -> MacCounters {
    MacCounters {
        requested: counters.requested,
        granted: counters.granted,
        unused: counters.unused_grant,
    }
}

fn add_delay(split: &mut DelaySplit, delay: &DelayParts) {
    for (cause, span) in [
        (Cause::Queue, delay.queue),
        (Cause::RequestWait, delay.request_wait),
        (Cause::GrantWait, delay.grant_wait),
        (Cause::Framing, delay.framing),
        (Cause::Pipeline, delay.pipeline),
        (Cause::Serialisation, delay.serialisation),
        (Cause::Wire, delay.wire),
    ] {
        split.add(cause, span);
    }
}

/// Number of a thing among others of its kind.
fn number<N: TryFrom<usize>>(index: usize) -> N {
    N::try_from(index)
        .ok()
        .expect("the scenario limits links and servers")
}

/// The context of a link during one call.
struct LinkCall<'a, R> {
    now: Instant,
    port: &'a mut Port,
    paths: &'a mut Paths<R>,
}

impl<R: Recorder> LinkContext for LinkCall<'_, R> {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a passage that nobody records need not be put together"
    )]
    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let id = PacketId::from(item);
        let paths = &mut *self.paths;
        if passage.marked {
            paths.packets.get_mut(id).meta.ecn = Ecn::Ce;
        }
        let at = passage.arrives_at;
        let length = match self.port.framing {
            Framing::Ip => meta.length,
            _ => paths.packets.get(id).meta.length,
        };
        if paths.record_delays {
            add_delay(paths.packets.split_mut(id), &passage.delay);
        }
        let behind = id.one_hop_on();
        let Hop { over, traffic, .. } = *paths.hops.of(behind);
        match over {
            Over::Wire {
                wire,
                at_once: true,
            } => paths.carry(wire, at, behind, length),
            Over::Link(_) | Over::Wire { .. } | Over::End => {
                let event = Event::LinkDelivery {
                    link: self.port.link,
                };
                self.port.line.announce(at, id, event, &mut paths.calendar);
            }
        }
        paths.recorder.on_passage(
            self.port.direction,
            &LinkPassage {
                link: self.port.link,
                traffic,
                length: Bytes(u64::from(length)),
                charged: Bytes(u64::from(meta.length)),
                entered_at: passage.entered_at,
                dequeued_at: passage.dequeued_at,
                arrives_at: passage.arrives_at,
                queue: meta.queue,
                sub_flow: passage.sub_flow.get(),
                marked: passage.marked,
            },
        );
    }

    #[cold]
    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.paths.recorder.on_mark(&LinkMark {
            at: self.now,
            link: self.port.link,
            traffic: self.paths.hops.of(item.into()).traffic,
            direction: self.port.direction,
            length: Bytes(u64::from(meta.length)),
            reason: mark.reason,
            queue: meta.queue,
            sub_flow: mark.sub_flow.get(),
        });
    }

    fn scored(&mut self, item: PacketHandle, meta: &Meta, score: &Score) {
        self.paths.recorder.on_score(&LinkScore {
            at: self.now,
            link: self.port.link,
            traffic: self.paths.hops.of(item.into()).traffic,
            direction: self.port.direction,
            flow_hash: meta.flow_hash,
            length: Bytes(u64::from(meta.length)),
            score: score.score,
            late: score.late,
            sanctioned: score.sanctioned,
        });
    }

    fn estimated(&mut self, meta: &Meta, delay: Span) {
        let link = self.port.link;
        self.paths.recorder.on_estimate(link, meta.queue, delay);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        let (paths, direction) = (&mut *self.paths, self.port.direction);
        let id = PacketId::from(item);
        let packet = paths.packets.get(id);
        let traffic = paths.hops.of(id).traffic;
        let behind_queue = loss.stage == Stage::TransmitQueue;
        paths.recorder.on_drop(&LinkDrop {
            at: self.now,
            link: self.port.link,
            traffic,
            direction,
            length: Bytes(u64::from(meta.length)),
            behind_queue,
            reason: loss.reason,
            queue: meta.queue,
            sub_flow: loss.sub_flow.get(),
        });
        if let Body::Datagram {
            flow,
            sequence,
            sent_at,
            ..
        } = packet.body
        {
            paths.recorder.on_datagram(&Datagram {
                traffic,
                flow,
                sequence,
                direction,
                length: Bytes(u64::from(packet.meta.length)),
                sent_at,
                fate: if behind_queue {
                    Fate::LostBehindQueue
                } else {
                    Fate::LostInQueue
                },
                marked: false,
                lost_for: Some(loss.reason),
                split: paths.recorded_split(id),
            });
        }
        paths.packets.free(id);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.port.streams[purpose as usize].unit()
    }

    fn wants_delay(&self) -> bool {
        self.paths.record_delays
    }

    #[inline]
    fn work(&mut self, units: u64) -> bool {
        self.paths.work.spend(units)
    }
}
