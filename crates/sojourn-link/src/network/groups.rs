//! Service groups in a network: modems that have links' places, numbers and records, and one model for all of them.

use super::call::StationCall;
use super::call::{LinkCall, NetworkContext};
use super::route::{NetworkEvent, Over, PacketId, Schedule};
use super::{Around, ManagedLink, Network, number};
use crate::group::medium::Medium;
use crate::group::{DownstreamMemberConfig, Group, GroupConfig, KNOWN, MemberConfig, Members, SharedDownstream};
use crate::wifi::channel::{Channel, ChannelSpec};
use crate::{AnyLink, Draw, Framing, Link, LinkConfig, LinkContext, Transmit};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::WifiCounters;
use sojourn_base::{ChannelCounters, Direction, Instant, LinkId, Meta, ModemCounters, PacketHandle, Seed};
use sojourn_queue::{Backlog, QueueManager};

/// A modem of a service group.
#[derive(Clone, Copy, Debug)]
pub struct GroupModem<'a> {
    /// Its place.
    pub link: LinkId,
    /// With a [`MemberConfig`] or a [`DownstreamMemberConfig`].
    pub config: &'a LinkConfig,
    /// Its rules and its service flows beside the first.
    pub flows: &'a crate::FlowsConfig,
}

/// A port of a group: a modem, or one of the further service flows of a modem.
#[derive(Clone, Copy, Debug)]
struct Member {
    link: LinkId,
    /// Number of its service flow, and the draws of a further one so far.
    flow: usize,
    draws: [u64; Draw::ALL.len()],
}

impl Member {
    const fn new(link: LinkId, flow: usize) -> Self {
        Self { link, flow, draws: [0; Draw::ALL.len()] }
    }
}

/// A modem with rules, and the port of each of its service flows, with whether it is a pair.
#[derive(Debug)]
struct Sorted {
    rules: crate::service_flows::Rules,
    flows: Vec<(usize, bool)>,
}

/// A group in one direction, and its modems.
#[derive(Debug)]
pub(super) struct ManagedGroup {
    pub(super) model: Medium,
    /// In the order of their ports, further service flows behind all modems.
    members: Vec<Member>,
    sorted: Vec<Sorted>,
    wakeup_at: Instant,
    /// At the last time that was asked for.
    counters: ChannelCounters,
}

impl ManagedGroup {
    fn new(model: Medium, members: Vec<Member>) -> Self {
        Self { model, members, sorted: Vec::new(), wakeup_at: Instant::NEVER, counters: ChannelCounters::default() }
    }
}

/// Stands for the model of a link that is a modem of a group: its group is called instead.
#[derive(Debug)]
pub(super) struct Absent {
    /// Of the modem.
    keeps_order: bool,
}

impl Link for Absent {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER
    }

    fn backlog(&self) -> Backlog {
        Backlog::default()
    }

    fn keeps_order(&self) -> bool {
        self.keeps_order
    }
}

impl<'b> Transmit<dyn LinkContext + 'b> for Absent {
    fn on_arrival(&mut self, _: Instant, _: Meta, _: PacketHandle, _: &mut (dyn LinkContext + 'b)) {
        unreachable!("packets for a modem of a group go to the group");
    }

    fn on_wakeup(&mut self, _: Instant, _: &mut (dyn LinkContext + 'b)) {}
}

/// Context of the modems of a group during one call.
struct GroupCall<'a, C> {
    now: Instant,
    links: &'a mut [ManagedLink],
    members: &'a mut [Member],
    sorted: &'a [Sorted],
    around: &'a mut Around,
    context: &'a mut C,
    is_wifi: bool,
    /// Modems whose queues may have changed, if the context wants them.
    touched: Option<Vec<LinkId>>,
}

impl<C: NetworkContext> Members for GroupCall<'_, C> {
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        let Member { link, flow, draws } = &mut self.members[port];
        if let Some(touched) = &mut self.touched {
            touched.push(*link);
        }
        let port = &mut self.links[usize::from(link.0)].port;
        let mut call = LinkCall { now: self.now, port, around: self.around, context: self.context };
        if self.is_wifi {
            return act(&mut StationCall(call));
        }
        if KNOWN && *flow > 0 {
            return act(&mut crate::service_flows::modem::FlowCall { flow: *flow, draws, context: &mut call });
        }
        act(&mut call);
    }

    fn work(&mut self, units: u64) -> bool {
        self.context.work(units)
    }
}

impl<C: NetworkContext> GroupCall<'_, C> {
    /// The port of the service flow of the modem at `port` that a packet goes to.
    fn sort(&mut self, port: usize, meta: &mut Meta, item: PacketHandle) -> usize {
        let sorted = self.sorted.iter().find(|sorted| sorted.flows.first().is_some_and(|flow| flow.0 == port));
        let Some(Sorted { rules, flows }) = sorted else { return port };
        let mut flow = 0;
        self.at(port, &mut |context| flow = rules.sort(meta, item, |flow| flows[flow].1, context));
        flows[flow].0
    }
}

impl Network {
    /// Adds the place of a modem, whose random streams are called after `name`; [`Network::add_group`] makes it work.
    pub fn add_modem(&mut self, name: &str, direction: Direction, framing: Framing, seed: Seed) -> LinkId {
        let absent = AnyLink::other(Absent { keeps_order: true });
        self.add(name, direction, (absent, framing), seed)
    }

    /// Adds a service group in one direction with idle modems.
    ///
    /// # Panics
    /// If a link is of another kind, or as [`Group::new`], [`SharedDownstream::new`] and [`LinkConfig::build_under`].
    pub fn add_group(&mut self, direction: Direction, config: &GroupConfig, modems: &[GroupModem<'_>]) {
        if !KNOWN {
            return;
        }
        let mut ports: Vec<(Member, LinkConfig, bool)> =
            modems.iter().map(|modem| (Member::new(modem.link, 0), modem.config.clone(), false)).collect();
        let mut sorted = Vec::new();
        for (port, modem) in modems.iter().enumerate().filter(|(_, modem)| !modem.flows.is_empty()) {
            let mut flows = Vec::new();
            for (flow, (config, is_pair)) in modem.flows.as_modems(modem.config).into_iter().enumerate() {
                flows.push((if flow == 0 { port } else { ports.len() }, is_pair));
                if flow == 0 {
                    ports[port].2 = true;
                } else {
                    ports.push((Member::new(modem.link, flow), config, true));
                }
            }
            sorted.push(Sorted { rules: crate::service_flows::Rules::new(modem.flows), flows });
        }
        let model = match direction {
            Direction::Upstream => Medium::Upstream(Box::new(Group::new(config, built::<MemberConfig>(&ports)))),
            Direction::Downstream => {
                let homes = built::<DownstreamMemberConfig>(&ports);
                Medium::Downstream(Box::new(SharedDownstream::new(config, homes)))
            }
        };
        let members = ports.iter().map(|port| port.0).collect();
        self.share(ManagedGroup { sorted, ..ManagedGroup::new(model, members) });
    }

    /// Adds a Wi-Fi channel called `name`, whose ports are these links, in the order of `ports`.
    pub fn add_wifi(&mut self, name: &str, spec: &ChannelSpec<'_>, members: &[LinkId], seed: Seed) {
        let channel = Channel::new(spec, seed.stream(&format!("wifi/{name}")));
        let members = members.iter().map(|link| Member::new(*link, 0)).collect();
        self.share(ManagedGroup::new(Medium::Wifi(Box::new(channel)), members));
    }

    /// Returns true if a link is a direction of a Wi-Fi station.
    pub(super) fn is_station(&self, link: LinkId) -> bool {
        matches!(self.over(link), Over::Group { group, .. } if self.groups[usize::from(group)].model.direction().is_none())
    }

    /// From now on the links of its members are those of a group.
    fn share(&mut self, group: ManagedGroup) {
        for (port, member) in group.members.iter().enumerate() {
            // Of a modem with several service flows the last one says it, which is not alone.
            let keeps_order = member.flow == 0 && group.model.member(port).keeps_order();
            self.links[usize::from(member.link.0)].model = AnyLink::other(Absent { keeps_order });
        }
        self.groups.push(group);
    }

    /// Returns the counters of each direction of each Wi-Fi station.
    pub fn wifi_counters(&self) -> impl Iterator<Item = (LinkId, WifiCounters)> {
        let channels = self.groups.iter().filter_map(|group| match &group.model {
            Medium::Wifi(channel) => Some((channel, &group.members)),
            _ => None,
        });
        channels.flat_map(|(channel, members)| {
            members.iter().enumerate().map(|(port, member)| (member.link, channel.member_counters(port)))
        })
    }

    /// Returns the carrier of packets that enter a link: the link itself, or the group of the modem.
    pub(super) fn over(&self, link: LinkId) -> Over {
        let modems = (0..).zip(&self.groups);
        let mut found = modems.filter_map(|(number, group)| {
            let port = group.members.iter().position(|member| member.link == link)?;
            Some((number, port))
        });
        found.next().map_or(Over::Link(link), |(group, port)| Over::Group { group, port: number(port) })
    }

    /// The link of a modem.
    pub(super) fn member(&self, group: u16, port: u16) -> LinkId {
        self.groups[usize::from(group)].members[usize::from(port)].link
    }

    /// The models of the further service flows of a modem of a group.
    pub(super) fn further_flows(&self, link: LinkId) -> impl Iterator<Item = &dyn Link> {
        self.groups.iter().flat_map(move |group| {
            let members = group.members.iter().enumerate();
            let own = members.filter(move |(_, member)| member.link == link && member.flow > 0);
            own.map(|(port, _)| group.model.member(port))
        })
    }

    /// Returns the counters of each group's CMTS in its direction when the run was settled last, and those of each
    /// modem.
    pub fn group_counters(
        &self,
    ) -> impl Iterator<Item = (Direction, ChannelCounters, impl Iterator<Item = (LinkId, ModemCounters)>)> {
        self.groups.iter().filter_map(|group| {
            let modems = group.members.iter().enumerate().filter(|(_, member)| member.flow == 0);
            let modems = modems.map(|(port, member)| {
                let further = group.members.iter().enumerate();
                let further = further.filter(|(_, other)| other.link == member.link && other.flow > 0);
                let own = group.model.member_counters(port);
                let sum = further.fold(own, |sum, (port, _)| sum + group.model.member_counters(port));
                (member.link, sum)
            });
            Some((group.model.direction()?, group.counters, modems))
        })
    }

    pub(super) fn settle_groups(&mut self, end: Instant) {
        for group in self.groups.iter_mut().filter(|_| KNOWN) {
            group.counters = group.model.counters(end);
        }
    }

    /// A packet enters the queue of a modem.
    pub(super) fn enter_group<C: NetworkContext>(
        &mut self,
        now: Instant,
        (group, port): (u16, u16),
        id: PacketId,
        mut meta: Meta,
        context: &mut C,
    ) {
        let link = self.member(group, port);
        let framing = self.links[usize::from(link.0)].port.framing;
        meta.length = framing.charged(meta.length);
        self.call_group(now, group, context, |model, call| {
            let port = if !KNOWN || call.sorted.is_empty() {
                port.into()
            } else {
                call.sort(port.into(), &mut meta, id.into())
            };
            model.on_arrival(now, port, meta, id.into(), call);
        });
    }

    /// A wake-up event of a group is due.
    pub fn on_group_wakeup(&mut self, now: Instant, group: u16, context: &mut impl NetworkContext) {
        let state = &mut self.groups[usize::from(group)];
        if state.wakeup_at != now {
            return; // an earlier wake-up has been scheduled since
        }
        state.wakeup_at = Instant::NEVER;
        self.call_group(now, group, context, |model, call| {
            model.on_wakeup(now, call);
        });
    }

    fn call_group<C: NetworkContext>(
        &mut self,
        now: Instant,
        group: u16,
        context: &mut C,
        action: impl FnOnce(&mut Medium, &mut GroupCall<'_, C>),
    ) {
        let state = &mut self.groups[usize::from(group)];
        let mut call = GroupCall {
            now,
            links: &mut self.links,
            members: &mut state.members,
            sorted: &state.sorted,
            around: &mut self.around,
            context,
            is_wifi: matches!(state.model, Medium::Wifi(_)),
            touched: self.tells_waiting.then(Vec::new),
        };
        action(&mut state.model, &mut call);
        let touched = call.touched.unwrap_or_default();
        let next = state.model.next_wakeup();
        if next < state.wakeup_at {
            debug_assert!(next >= now, "a group wants to be woken in the past");
            state.wakeup_at = next;
            let event = NetworkEvent::GroupWakeup { group };
            context.calendar().schedule(next, event);
        }
        for link in touched {
            self.tell_waiting_of(now, link, context);
        }
    }

    /// Tells how long the queue of a modem is, if that has changed.
    fn tell_waiting_of(&mut self, now: Instant, link: LinkId, context: &mut impl NetworkContext) {
        let model = self.link(link);
        let mut waiting = (model.backlog(), model.staged().packets);
        for flow in self.further_flows(link) {
            let (backlog, staged) = (flow.backlog(), flow.staged().packets);
            waiting.0.bytes += backlog.bytes;
            waiting.0.packets.0 += backlog.packets.0;
            waiting.1.0 += staged.0;
        }
        let known = &mut self.links[usize::from(link.0)].waiting;
        if *known != waiting {
            *known = waiting;
            context.waiting(now, link, waiting.0, waiting.1);
        }
    }
}

/// The service of each port, with its queue, which may have to obey rules.
fn built<C: Copy + 'static>(ports: &[(Member, LinkConfig, bool)]) -> Vec<(C, Box<dyn QueueManager>)> {
    let of = |(_, config, obeys): &(Member, LinkConfig, bool)| {
        let member: &C = config.link.get().expect("a modem of a group");
        let queue = config.queue.clone().at(config.drain_rate());
        let manager = if *obeys { crate::service_flows::placed(&queue) } else { queue.build() };
        (*member, manager)
    };
    ports.iter().map(of).collect()
}
