//! A network without a calendar of its own: links and what lies behind them, for a program that waits for the time of day.
//!
//! Like the simulator's event loop, driven by the caller: a call handles everything due by then in the order of model
//! time; late calls give the same result.

use crate::network::{Arrival, HopId, Network, NetworkContext, NetworkEvent, PacketId, Schedule};
use alloc::vec::Vec;
use sojourn_base::{Instant, Meta};

/// Events to come, the next at the end. There are few: one event for each line, and a wake-up for each link.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    events: Vec<(Instant, NetworkEvent)>,
}

impl Agenda {
    /// Returns the time of the next event; [`Instant::NEVER`] without one.
    #[inline]
    pub fn next_due(&self) -> Instant {
        self.events.last().map_or(Instant::NEVER, |(at, _)| *at)
    }
}

impl Schedule for Agenda {
    fn schedule(&mut self, at: Instant, event: NetworkEvent) {
        let later = self.events.partition_point(|(other, _)| *other > at);
        self.events.insert(later, (at, event));
    }
}

/// The owner of a path.
pub trait PathContext: NetworkContext<Calendar = Agenda> {
    /// A packet has come to the end of its way, at `due`.
    fn arrived(&mut self, due: Instant, arrival: &Arrival);
}

/// See the module.
#[derive(Debug)]
pub struct Path<C> {
    /// Links and wires.
    pub network: Network,
    /// Its owner, which has the packets.
    pub context: C,
}

impl<C: PathContext> Path<C> {
    /// Returns the time of the next event: a wake-up of a link, an entry into the next link, an arrival.
    /// [`Instant::NEVER`] if nothing is in flight.
    #[inline]
    pub fn next_due(&mut self) -> Instant {
        self.context.calendar().next_due()
    }

    /// Everything that is due by `now`, in the order of its own time.
    pub fn advance(&mut self, now: Instant) {
        while self.next_due() <= now && self.step() {}
    }

    /// A packet, the owner's number `index`, enters the route that begins with `first`. `now` is not before that of any
    /// earlier call. Events due before that happen first; those due at the same instant happen later.
    pub fn enter(&mut self, now: Instant, index: u32, first: HopId, meta: Meta) {
        while self.next_due() < now && self.step() {}
        let id = PacketId { index, hop: first };
        self.network.enter(now, id, meta, &mut self.context);
    }

    /// The next event, whenever it is due; whether there was one.
    fn step(&mut self) -> bool {
        let Some((due, event)) = self.context.calendar().events.pop() else {
            return false;
        };
        let Self { network, context } = self;
        match event {
            NetworkEvent::WireDelivery { wire } => {
                while let Some(arrival) = network.take_from_wire(due, wire, context) {
                    context.arrived(due, &arrival);
                }
            }
            NetworkEvent::LinkDelivery { link } => {
                while let Some(arrival) = network.take_from_link(due, link, context) {
                    context.arrived(due, &arrival);
                }
            }
            NetworkEvent::Wakeup { link } => network.on_wakeup(due, link, context),
            NetworkEvent::GroupWakeup { group } => network.on_group_wakeup(due, group, context),
        }
        true
    }
}
