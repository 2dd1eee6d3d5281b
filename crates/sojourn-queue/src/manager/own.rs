//! Managers from outside this crate: added when the program starts, called through a pointer.
//!
//! A manager is generic over the caller's packets, a pointer to one cannot be. An own manager therefore keeps
//! [`Ticket`]s, and what stands around it keeps the packets.
//!
//! Source: none needed. Deviations: none known.

use crate::config::{ConfigProblem, ManagerKind};
use crate::{
    Backlog, Held, ManagerConfig, ProactiveGrants, QueueContext, QueueManager, Reason, Score,
    Shaper, Verdict,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, Limit, Meta, Packets, ServiceQueue, Span};
use sojourn_keys::{Family, NameTaken, Own, Pointed, Takes};

/// Stands for a packet in an own manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u32);

/// Parameters of an own manager.
pub type OwnManager = Own<ManagerConfig>;

/// Makes a kind of manager known, before the first file that asks for it is read.
pub fn add_manager<C>() -> Result<(), NameTaken>
where
    C: ManagerKind,
    C::Queue<Ticket>: Send + 'static,
{
    super::KINDS.add_own::<C>()
}

/// What [`ManagerKind`] says, as far as a pointer can say it.
pub trait PointedManager: Pointed<ManagerConfig> {
    /// See [`ManagerKind::bytes`].
    fn bytes(&self) -> u64;
    /// See [`ManagerKind::limit_mut`].
    fn limit_mut(&mut self) -> Option<&mut Limit>;
    /// See [`ManagerKind::behind`].
    fn behind(&self) -> Option<(&'static str, &ManagerConfig)> {
        None
    }
    /// See [`ManagerKind::least_packets`].
    fn least_packets(&self) -> Packets;
    /// See [`ManagerKind::estimates_delay`].
    fn estimates_delay(&self) -> bool;
    /// See [`ManagerKind::has_service_queues`].
    fn has_service_queues(&self) -> bool;
    /// See [`ManagerKind::collect_problems`].
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>);
    /// See [`ManagerKind::build`].
    fn build(&self) -> Box<dyn QueueManager<Ticket> + Send>;
}

impl<C> PointedManager for C
where
    C: ManagerKind,
    C::Queue<Ticket>: Send + 'static,
{
    fn bytes(&self) -> u64 {
        ManagerKind::bytes(self)
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        ManagerKind::limit_mut(self)
    }

    fn least_packets(&self) -> Packets {
        ManagerKind::least_packets(self)
    }

    fn estimates_delay(&self) -> bool {
        ManagerKind::estimates_delay(self)
    }

    fn has_service_queues(&self) -> bool {
        ManagerKind::has_service_queues(self)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        ManagerKind::collect_problems(self, problems);
    }

    fn build(&self) -> Box<dyn QueueManager<Ticket> + Send> {
        Box::new(ManagerKind::build(self))
    }
}

impl Family for ManagerConfig {
    type Pointer = dyn PointedManager;

    fn own(own: OwnManager) -> Self {
        Self::Own(own)
    }

    fn own_mut(&mut self) -> Option<&mut OwnManager> {
        match self {
            Self::Own(own) => Some(own),
            _ => None,
        }
    }
}

impl<C> Takes<C> for ManagerConfig
where
    C: ManagerKind,
    C::Queue<Ticket>: Send + 'static,
{
    fn boxed(configuration: C) -> Box<dyn PointedManager> {
        Box::new(configuration)
    }
}

/// A running manager with these parameters, for packets of any type.
pub(crate) fn build<T: Send + 'static>(config: &OwnManager) -> Box<dyn QueueManager<T> + Send> {
    Box::new(OwnQueue {
        manager: config.build(),
        packets: Cloakroom::default(),
    })
}

/// An own manager with the packets that its tickets stand for.
struct OwnQueue<T> {
    manager: Box<dyn QueueManager<Ticket> + Send>,
    packets: Cloakroom<T>,
}

/// Packets by ticket.
#[derive(Debug)]
pub struct Cloakroom<T> {
    kept: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Cloakroom<T> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Cloakroom<T> {
    /// Takes a packet and gives a ticket for it.
    pub fn keep(&mut self, item: T) -> Ticket {
        if let Some(free) = self.free.pop() {
            self.kept[free as usize] = Some(item);
            return Ticket(free);
        }
        self.kept.push(Some(item));
        Ticket(u32::try_from(self.kept.len() - 1).expect("fewer packets than memory"))
    }

    /// Gives the packet back.
    ///
    /// # Panics
    /// If that has happened before.
    pub fn give_back(&mut self, Ticket(place): Ticket) -> T {
        self.free.push(place);
        self.kept[place as usize].take().expect(ONCE)
    }

    /// The packet behind a ticket.
    ///
    /// # Panics
    /// If it has been given back.
    pub fn look(&self, Ticket(place): Ticket) -> &T {
        self.kept[place as usize].as_ref().expect(ONCE)
    }
}

const ONCE: &str = "a model lets each packet go once";

impl<T> Held<T> {
    /// The same state of another item.
    fn with_item<U>(self, item: impl FnOnce(T) -> U) -> Held<U> {
        Held {
            item: item(self.item),
            meta: self.meta,
            enqueued_at: self.enqueued_at,
            marked: self.marked,
            sub_flow: self.sub_flow,
        }
    }
}

/// The context of an own manager: tickets on its side, packets on the other.
struct Counter<'a, T> {
    packets: &'a mut Cloakroom<T>,
    context: &'a mut dyn QueueContext<T>,
}

impl<T> Counter<'_, T> {
    /// A packet that stays with its ticket: it is shown, not given back.
    fn show(
        &mut self,
        packet: &Held<Ticket>,
        tell: impl FnOnce(&mut dyn QueueContext<T>, &Held<T>),
    ) {
        let Ticket(place) = packet.item;
        let kept = &mut self.packets.kept[place as usize];
        let shown = packet.with_item(|_| kept.take().expect(ONCE));
        tell(self.context, &shown);
        *kept = Some(shown.item);
    }
}

impl<T> QueueContext<Ticket> for Counter<'_, T> {
    fn dropped(&mut self, packet: Held<Ticket>, reason: Reason) {
        let packet = packet.with_item(|ticket| self.packets.give_back(ticket));
        self.context.dropped(packet, reason);
    }

    fn marked(&mut self, packet: &Held<Ticket>, reason: Reason) {
        self.show(packet, |context, shown| context.marked(shown, reason));
    }

    fn unit(&mut self) -> f64 {
        self.context.unit()
    }

    fn shaper(&self) -> Shaper {
        self.context.shaper()
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        self.context.staged(queue)
    }

    fn loop_delay(&self) -> Span {
        self.context.loop_delay()
    }

    fn loop_delay_of(&self, queue: ServiceQueue) -> Span {
        self.context.loop_delay_of(queue)
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        self.context.service_flow_rate(queue)
    }

    fn proactive_grants(&self) -> ProactiveGrants {
        self.context.proactive_grants()
    }

    fn scored(&mut self, packet: &Held<Ticket>, score: &Score) {
        self.show(packet, |context, shown| context.scored(shown, score));
    }

    fn estimated(&mut self, packet: &Held<Ticket>, delay: Span) {
        self.show(packet, |context, shown| context.estimated(shown, delay));
    }

    fn worked(&mut self, units: u64) {
        self.context.worked(units);
    }
}

impl<T> QueueManager<T> for OwnQueue<T> {
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
        let ticket = self.packets.keep(item);
        let packets = &mut self.packets;
        let mut counter = Counter { packets, context };
        self.manager.enqueue(now, meta, ticket, &mut counter)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        let packets = &mut self.packets;
        let mut counter = Counter { packets, context };
        let held = self.manager.dequeue(now, &mut counter)?;
        Some(held.with_item(|ticket| self.packets.give_back(ticket)))
    }

    fn dequeue_from(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
        let packets = &mut self.packets;
        let mut counter = Counter { packets, context };
        let held = self.manager.dequeue_from(now, queue, &mut counter)?;
        Some(held.with_item(|ticket| self.packets.give_back(ticket)))
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.manager.backlog_of(queue)
    }

    fn head_length(&self) -> Option<u32> {
        self.manager.head_length()
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.manager.next_timer()
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext<T>) {
        let packets = &mut self.packets;
        let mut counter = Counter { packets, context };
        self.manager.on_timer(now, &mut counter);
    }
}
