//! Links, the packets in them, and the events that move them: what the simulator and the emulator share.
//!
//! A route is one direction between a subscriber and one server: a list of hops, each over a link with a
//! queue, which routes share, or over a wire, which is the server's own. Upstream the wire is the last hop,
//! downstream the first.
//!
//! An announced packet stands on its link's line and is an event when it arrives, because it then enters another link.
//! The wire behind a link is the exception: nothing else enters it, so a packet's way over it is worked out when the
//! link announces it, if the link announces in order of arrival. Each line has one pending event, for its first packet,
//! and each link one pending wake-up: the calendar stays small at any rate.
//!
//! The network keeps no packets, no records and no calendar: these are its owner's ([`NetworkContext`]), be it a loop of
//! events or a program that waits for the time of day.

mod call;
mod event_line;
mod groups;
mod route;

pub use self::call::{NetworkContext, Place, route_bytes};
pub use self::groups::GroupModem;
pub use self::route::{Arrival, Hop, HopId, NetworkEvent, Over, PacketId, Schedule};

use self::call::{LinkCall, Port, PrivateWire, carry};
use self::event_line::EventLine;
use self::groups::ManagedGroup;
use self::route::Hops;
use crate::conditions::ConditionConfig;
use crate::config::WireConfig;
use crate::{AnyLink, Draw, Framing, Link, LinkConfig, LinkCounters, Wire};
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{Direction, Instant, LinkId, Meta, Packets, Seed, ServiceQueue, TrafficId};
use sojourn_queue::Backlog;

/// A link with a queue, in one direction.
#[derive(Debug)]
struct ManagedLink {
    model: AnyLink,
    port: Port,
    /// Time of the pending wake-up event.
    wakeup_at: Instant,
    /// Time of the model's next call: not before the pending wake-up, and later if its plans have changed since.
    wanted_at: Instant,
    /// Last reported queue length.
    waiting: (Backlog, Packets),
}

/// Context of the links.
#[derive(Debug, Default)]
struct Around {
    wires: Vec<PrivateWire>,
    hops: Hops,
}

/// All links and wires of a run.
#[derive(Debug)]
pub struct Network {
    /// In the order of their numbers.
    links: Vec<ManagedLink>,
    groups: Vec<ManagedGroup>,
    around: Around,
    /// True if each change of a queue's length is reported.
    tells_waiting: bool,
    packet_hops: u64,
}

impl Network {
    /// Without links; `tells_waiting`: true if each change of a queue's length is reported.
    pub fn new(tells_waiting: bool) -> Self {
        Self { links: Vec::new(), groups: Vec::new(), around: Around::default(), tells_waiting, packet_hops: 0 }
    }

    /// Adds an idle link, whose random streams are called after `name`.
    ///
    /// # Panics
    /// As [`LinkConfig::build_under`].
    pub fn add_link(
        &mut self,
        name: &str,
        direction: Direction,
        (config, conditions, framing): (&LinkConfig, &[ConditionConfig], Framing),
        seed: Seed,
    ) -> LinkId {
        let model = config.build_under(conditions);
        self.add(name, direction, (model, framing), seed)
    }

    /// A link that was just added has rules, or further service flows.
    ///
    /// # Panics
    /// As [`LinkConfig::build_with`].
    pub fn add_flows(
        &mut self,
        link: LinkId,
        (config, conditions): (&LinkConfig, &[ConditionConfig]),
        flows: &crate::FlowsConfig,
    ) {
        self.links[usize::from(link.0)].model = config.build_with(flows, conditions);
    }

    fn add(&mut self, name: &str, direction: Direction, (model, framing): (AnyLink, Framing), seed: Seed) -> LinkId {
        let stream = |purpose: Draw| seed.stream(&format!("link/{name}/{}", purpose.as_str()));
        let link = LinkId(number(self.links.len()));
        self.links.push(ManagedLink {
            model,
            port: Port { link, direction, framing, streams: Draw::ALL.map(stream), line: EventLine::new() },
            wakeup_at: Instant::NEVER,
            wanted_at: Instant::NEVER,
            waiting: (Backlog::default(), Packets::ZERO),
        });
        link
    }

    /// Adds a route to or from one of an entry's servers over `links`, in the order in which its packets meet them, and over `wire` at the
    /// server's end. Its first hop is what [`Network::enter`] wants to know.
    pub fn add_route(
        &mut self,
        (traffic, server): (TrafficId, u32),
        direction: Direction,
        links: &[LinkId],
        wire: WireConfig,
    ) -> HopId {
        let first = HopId::new(number(self.around.hops.0.len()));
        let last_link = links.last().map(|link| &self.links[usize::from(link.0)]);
        // Behind a Wi-Fi station the second link has to know that it is the last one.
        let is_joined = links.first().is_some_and(|link| self.is_station(*link));
        let follows_a_link =
            direction == Direction::Upstream && !is_joined && last_link.is_some_and(|link| link.model.keeps_order());
        self.around.wires.push(PrivateWire {
            wire: Wire::new(wire),
            line: EventLine::new(),
            hops: if follows_a_link { 2 } else { 1 },
        });
        let wire = Over::Wire { wire: number(self.around.wires.len() - 1), at_once: follows_a_link };
        let links = links.iter().map(|link| self.over(*link));
        let hops: Vec<Over> = match direction {
            Direction::Upstream => links.chain([wire, Over::End]).collect(),
            Direction::Downstream => [wire].into_iter().chain(links).chain([Over::End]).collect(),
        };
        self.around.hops.0.extend(hops.into_iter().map(|over| Hop { over, direction, traffic, server }));
        first
    }

    /// The run ends: links bring their counters up to `end`.
    pub fn settle(&mut self, end: Instant, context: &mut impl NetworkContext) {
        for number in 0..self.links.len() {
            let link = LinkId(self::number(number));
            if self.over(link) != Over::Link(link) {
                continue;
            }
            self.call_link(end, link, context, |model, call| model.settle(end, call));
        }
        self.settle_groups(end);
    }

    /// Returns the counters of each link's MAC, and those of each of its service flows.
    pub fn counters(&self) -> impl Iterator<Item = (LinkId, Option<LinkCounters>, Vec<(ServiceQueue, LinkCounters)>)> {
        (0..self.links.len()).map(|number| {
            let number = self::number(number);
            let link = self.link(LinkId(number));
            let mut flows = link.service_flow_counters();
            let mut counters = link.counters();
            for further in self.further_flows(LinkId(number)) {
                let all = further.counters().unwrap_or_default();
                counters = counters.map(|sum| sum + all);
                let [classic, low_latency] = further.service_flow_counters().unwrap_or([all, LinkCounters::default()]);
                flows = flows.map(|sum| [sum[0] + classic, sum[1] + low_latency]);
            }
            let queues = [ServiceQueue::Classic, ServiceQueue::LowLatency];
            let flows = queues.into_iter().zip(flows.into_iter().flatten());
            (LinkId(number), counters, flows.collect())
        })
    }

    /// The link with this number.
    pub fn link(&self, link: LinkId) -> &dyn Link {
        match self.over(link) {
            Over::Group { group, port } => {
                let group = &self.groups[usize::from(group)];
                group.model.member(port.into())
            }
            _ => &*self.links[usize::from(link.0)].model,
        }
    }

    /// Packets delivered by links so far.
    pub const fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// The hop with this number.
    #[inline]
    pub fn hop(&self, hop: HopId) -> &Hop {
        self.around.hops.at(hop)
    }

    /// A packet that has come to the hop of `id` enters what carries it over. `meta` is what queues may know of it.
    ///
    /// # Panics
    /// If its way has ended.
    #[inline]
    pub fn enter(&mut self, now: Instant, id: PacketId, meta: Meta, context: &mut impl NetworkContext) {
        let over = self.around.hops.of(id).over;
        self.enter_over(now, id, over, meta, context);
    }

    #[inline]
    fn enter_over(&mut self, now: Instant, id: PacketId, over: Over, meta: Meta, context: &mut impl NetworkContext) {
        match over {
            Over::Link(link) => {
                self.tell_entered(now, || link, id, context);
                self.enter_link(now, link, id, meta, context);
            }
            Over::Group { group, port } => {
                self.tell_entered(now, || self.member(group, port), id, context);
                self.enter_group(now, (group, port), id, meta, context);
            }
            Over::Wire { wire, .. } => {
                carry(&mut self.around.wires, wire, now, id, meta.length, context);
            }
            Over::End => unreachable!("a packet at its end is received"),
        }
    }

    #[inline]
    fn tell_entered<C: NetworkContext>(
        &self,
        now: Instant,
        link: impl FnOnce() -> LinkId,
        id: PacketId,
        context: &mut C,
    ) {
        if !C::TELLS_PACKETS {
            return;
        }
        let Hop { direction, traffic, server, .. } = *self.around.hops.of(id);
        let place = Place { link: link(), direction, traffic, server };
        context.entered(now, id, place);
    }

    /// A wake-up event of a link is due.
    pub fn on_wakeup(&mut self, now: Instant, link: LinkId, context: &mut impl NetworkContext) {
        let state = &mut self.links[usize::from(link.0)];
        if state.wakeup_at != now {
            return; // an earlier wake-up has been scheduled since
        }
        state.wakeup_at = Instant::NEVER;
        let is_wanted = state.wanted_at <= now;
        self.call_link(
            now,
            link,
            context,
            |model, call| {
                if is_wanted { model.wake(now, call) } else { model.next_wakeup() }
            },
        );
    }

    /// A link goes on as `to`, in place of `from`, from `now` on; see [`Link::retune`].
    ///
    /// # Panics
    /// If they differ in what is fixed while a link works: [`LinkConfig::may_become`].
    pub fn retune_link(
        &mut self,
        now: Instant,
        link: LinkId,
        (from, to): (&LinkConfig, &LinkConfig),
        context: &mut impl NetworkContext,
    ) {
        let before = Instant::from_ps(now.as_ps().saturating_sub(1));
        self.call_link(now, link, context, |model, call| {
            model.wake(before, call);
            assert!(from.retune(model, now, to), "what is fixed has changed");
            model.next_wakeup()
        });
    }

    /// A delivery event of a wire is due: returns a packet at the end of its route; the caller asks again
    /// until there is none. Others enter their next link.
    pub fn take_from_wire(&mut self, now: Instant, wire: u32, context: &mut impl NetworkContext) -> Option<Arrival> {
        loop {
            let state = &mut self.around.wires[wire as usize];
            let event = NetworkEvent::WireDelivery { wire };
            let id = state.line.take(now, event, context.calendar())?;
            self.packet_hops += state.hops;
            if let Some(arrived) = self.go_on(now, id, context) {
                return Some(arrived);
            }
        }
    }

    /// A delivery event of a link is due: as [`Network::take_from_wire`].
    pub fn take_from_link(&mut self, now: Instant, link: LinkId, context: &mut impl NetworkContext) -> Option<Arrival> {
        loop {
            let state = &mut self.links[usize::from(link.0)];
            let event = NetworkEvent::LinkDelivery { link };
            let id = state.port.line.take(now, event, context.calendar())?;
            self.packet_hops += 1;
            if let Some(arrived) = self.go_on(now, id, context) {
                return Some(arrived);
            }
        }
    }

    /// A packet has made its hop: returns it if that was the last one.
    #[inline]
    fn go_on(&mut self, now: Instant, id: PacketId, context: &mut impl NetworkContext) -> Option<Arrival> {
        let id = id.one_hop_on();
        let hop = *self.around.hops.of(id);
        if hop.over == Over::End {
            return Some(Arrival { id, direction: hop.direction, traffic: hop.traffic });
        }
        let meta = context.meta(id);
        self.enter_over(now, id, hop.over, meta, context);
        None
    }

    /// The sub-flow of a flow on the route that begins with `first`, in the first queue there whose manager
    /// has any.
    pub fn sub_flow(&self, first: HopId, flow_hash: u32, dscp: u8) -> Option<u32> {
        let meta = Meta { flow_hash, dscp, ..Meta::default() };
        self.around.hops.0[first.index()..].iter().take_while(|hop| hop.over != Over::End).find_map(|hop| {
            match hop.over {
                Over::Link(link) => self.link(link).sub_flow(&meta),
                Over::Group { group, port } => {
                    let group = &self.groups[usize::from(group)];
                    group.model.member(port.into()).sub_flow(&meta)
                }
                Over::Wire { .. } | Over::End => None,
            }
        })
    }

    fn enter_link<C: NetworkContext>(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PacketId,
        mut meta: Meta,
        context: &mut C,
    ) {
        self.call_link(now, link, context, |model, call| {
            // The packet keeps its own length: what this link charges is no business of the next one.
            meta.length = call.port.framing.charged(meta.length);
            model.arrive(now, meta, id.into(), call)
        });
    }

    /// Calls a link, which says when it wants to be called next; then schedules that, and follows its queue length.
    #[inline]
    fn call_link<C: NetworkContext>(
        &mut self,
        now: Instant,
        link: LinkId,
        context: &mut C,
        action: impl FnOnce(&mut AnyLink, &mut LinkCall<'_, C>) -> Instant,
    ) {
        let state = &mut self.links[usize::from(link.0)];
        let mut call = LinkCall { now, port: &mut state.port, around: &mut self.around, context };
        let next = action(&mut state.model, &mut call);
        state.wanted_at = next;
        if next < state.wakeup_at {
            debug_assert!(next >= now, "a link wants to be woken in the past");
            state.wakeup_at = next;
            let event = NetworkEvent::Wakeup { link };
            context.calendar().schedule(next, event);
        }
        if self.tells_waiting {
            state.tell_waiting(now, link, context);
        }
    }
}

impl ManagedLink {
    /// Tells how long the queue is, if that has changed.
    #[inline(never)] // a call is short without it
    fn tell_waiting(&mut self, now: Instant, link: LinkId, context: &mut impl NetworkContext) {
        let (backlog, staged) = (self.model.backlog(), self.model.staged().packets);
        if (backlog, staged) != self.waiting {
            self.waiting = (backlog, staged);
            context.waiting(now, link, backlog, staged);
        }
    }
}

/// Number of a thing among others of its kind.
fn number<N: TryFrom<usize>>(index: usize) -> N {
    N::try_from(index).ok().expect("the scenario limits links and servers")
}
