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

use crate::arena::{Arena, Packet, PacketId};
use crate::calendar::Calendar;
use crate::event::Event;
use crate::event_line::EventLine;
use crate::hop::HopId;
use crate::link_call::{LinkCall, Port};
use crate::paths::{Arrival, Hop, Hops, Over, Paths, PrivateWire};
use crate::work::{Interrupt, Work};
use sojourn_base::{Bytes, Direction, Instant, Meta, Seed, ServiceQueue};
use sojourn_link::{
    AnyLink, ConditionConfig, Draw, Framing, LinkConfig, LinkCounters, Wire, WireConfig,
};
use sojourn_record::{
    COUNTED_AND_TABLE, DelaySplit, LinkId, MacCounters, Recorder, TrafficId, Waiting,
};
use sojourn_transport::SackBlocks;

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

/// All links of a run.
#[derive(Debug)]
pub(crate) struct Network<R> {
    /// In the order of their numbers.
    links: Vec<ManagedLink>,
    pub(crate) paths: Paths<R>,
    record_waiting: bool,
    packet_hops: u64,
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
        (config, conditions, framing): (&LinkConfig, &[ConditionConfig], Framing),
        seed: Seed,
    ) -> LinkId {
        let stream = |purpose: Draw| seed.stream(&format!("link/{name}/{}", purpose.as_str()));
        let link = LinkId(number(self.links.len()));
        self.links.push(ManagedLink {
            model: config.build_under(conditions),
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

/// Number of a thing among others of its kind.
fn number<N: TryFrom<usize>>(index: usize) -> N {
    N::try_from(index)
        .ok()
        .expect("the scenario limits links and servers")
}
