//! Service groups in a network: modems that have links' places, numbers and records, and one model for all of them.

use super::call::{LinkCall, NetworkContext};
use super::route::{NetworkEvent, Over, PacketId, Schedule};
use super::{Around, ManagedLink, Network, number};
use crate::group::medium::Medium;
use crate::group::{DownstreamMemberConfig, Group, GroupConfig, KNOWN, MemberConfig, Members, SharedDownstream};
use crate::{AnyLink, Framing, Link, LinkConfig, LinkContext, Transmit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{ChannelCounters, Direction, Instant, LinkId, Meta, ModemCounters, PacketHandle, Seed};
use sojourn_queue::{Backlog, QueueManager};

/// A group in one direction, and its modems.
#[derive(Debug)]
pub(super) struct ManagedGroup {
    pub(super) model: Medium,
    /// Links of the modems, in the order of their ports.
    members: Vec<LinkId>,
    wakeup_at: Instant,
    /// At the last time that was asked for.
    counters: ChannelCounters,
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
    members: &'a [LinkId],
    around: &'a mut Around,
    context: &'a mut C,
    /// Modems whose queues may have changed, if the context wants them.
    touched: Option<Vec<LinkId>>,
}

impl<C: NetworkContext> Members for GroupCall<'_, C> {
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        let link = self.members[port];
        if let Some(touched) = &mut self.touched {
            touched.push(link);
        }
        act(&mut LinkCall {
            now: self.now,
            port: &mut self.links[usize::from(link.0)].port,
            around: self.around,
            context: self.context,
        });
    }

    fn work(&mut self, units: u64) -> bool {
        self.context.work(units)
    }
}

impl Network {
    /// Adds the place of a modem, whose random streams are called after `name`; [`Network::add_group`] makes it work.
    pub fn add_modem(&mut self, name: &str, direction: Direction, framing: Framing, seed: Seed) -> LinkId {
        let absent = AnyLink::other(Absent { keeps_order: true });
        self.add(name, direction, (absent, framing), seed)
    }

    /// Adds a service group in one direction with idle modems in these places, whose configurations have a [`MemberConfig`] or
    /// a [`DownstreamMemberConfig`].
    ///
    /// # Panics
    /// If a link is of another kind, or as [`Group::new`], [`SharedDownstream::new`] and [`LinkConfig::build_under`].
    pub fn add_group(&mut self, direction: Direction, config: &GroupConfig, modems: &[(LinkId, &LinkConfig)]) {
        if !KNOWN {
            return;
        }
        let model = match direction {
            Direction::Upstream => Medium::Upstream(Box::new(Group::new(config, members::<MemberConfig>(modems)))),
            Direction::Downstream => {
                let homes = members::<DownstreamMemberConfig>(modems);
                Medium::Downstream(Box::new(SharedDownstream::new(config, homes)))
            }
        };
        for (port, (link, _)) in modems.iter().enumerate() {
            let keeps_order = model.member(port).keeps_order();
            self.links[usize::from(link.0)].model = AnyLink::other(Absent { keeps_order });
        }
        self.groups.push(ManagedGroup {
            model,
            members: modems.iter().map(|modem| modem.0).collect(),
            wakeup_at: Instant::NEVER,
            counters: ChannelCounters::default(),
        });
    }

    /// Returns the carrier of packets that enter a link: the link itself, or the group of the modem.
    pub(super) fn over(&self, link: LinkId) -> Over {
        let modems = (0..).zip(&self.groups);
        let mut found = modems.filter_map(|(number, group)| {
            let port = group.members.iter().position(|member| *member == link)?;
            Some((number, port))
        });
        found.next().map_or(Over::Link(link), |(group, port)| Over::Group { group, port: number(port) })
    }

    /// The link of a modem.
    pub(super) fn member(&self, group: u16, port: u16) -> LinkId {
        self.groups[usize::from(group)].members[usize::from(port)]
    }

    /// Returns the counters of each group's CMTS in its direction when the run was settled last, and those of each
    /// modem.
    pub fn group_counters(
        &self,
    ) -> impl Iterator<Item = (Direction, ChannelCounters, impl Iterator<Item = (LinkId, ModemCounters)>)> {
        self.groups.iter().map(|group| {
            let of = |(port, link): (usize, &LinkId)| (*link, group.model.member_counters(port));
            let modems = group.members.iter().enumerate().map(of);
            (group.model.direction(), group.counters, modems)
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
            model.on_arrival(now, port.into(), meta, id.into(), call);
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
        if !KNOWN {
            return;
        }
        let state = &mut self.groups[usize::from(group)];
        let mut call = GroupCall {
            now,
            links: &mut self.links,
            members: &state.members,
            around: &mut self.around,
            context,
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
        let waiting = (model.backlog(), model.staged().packets);
        let known = &mut self.links[usize::from(link.0)].waiting;
        if *known != waiting {
            *known = waiting;
            context.waiting(now, link, waiting.0, waiting.1);
        }
    }
}

/// The service of each modem, with its queue.
fn members<C: Copy + 'static>(modems: &[(LinkId, &LinkConfig)]) -> Vec<(C, Box<dyn QueueManager>)> {
    let of = |(_, config): &(LinkId, &LinkConfig)| {
        let member: &C = config.link.get().expect("a modem of a group");
        let queue = config.queue.clone().at(config.drain_rate());
        (*member, queue.build())
    };
    modems.iter().map(of).collect()
}
