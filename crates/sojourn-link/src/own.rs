//! Links from outside this crate: added when the program starts, called through a pointer.
//!
//! As with own queue managers, the link keeps tickets and what stands around it keeps the packets.
//!
//! Source: none needed. Deviations: none known.

use crate::{
    Draw, Framing, Link, LinkConfig, LinkContext, LinkCounters, LinkKind, Loss, Mark, Passage,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use sojourn_base::{BitRate, Bytes, Instant, Meta, Span};
use sojourn_keys::{Family, NameTaken, Own, Pointed, Takes};
use sojourn_queue::{AnyManager, Backlog, Cloakroom, ConfigProblem, ManagerConfig, Score, Ticket};

/// Parameters of an own link.
pub type OwnConfiguration = Own<LinkConfig>;

/// Makes a kind of link known, before the first file that asks for it is read.
pub fn add_link<C>() -> Result<(), NameTaken>
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    crate::KINDS.add_own::<C>()
}

/// What [`LinkKind`] says, as far as a pointer can say it.
pub trait PointedLink: Pointed<LinkConfig> {
    /// See [`LinkKind::drain_rate`].
    fn drain_rate(&self) -> BitRate;
    /// See [`LinkKind::delay`].
    fn delay(&self) -> Span;
    /// See [`LinkKind::burst`].
    fn burst(&self) -> Bytes;
    /// See [`LinkKind::bucket`].
    fn bucket(&self) -> Option<(&'static str, Bytes)>;
    /// See [`LinkKind::framing`].
    fn framing(&self) -> Framing;
    /// See [`LinkKind::collect_problems`].
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>);
    /// See [`LinkKind::build`].
    fn build(&self, manager: AnyManager<Ticket>) -> Box<dyn Running>;
}

impl<C> PointedLink for C
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    fn drain_rate(&self) -> BitRate {
        LinkKind::drain_rate(self)
    }

    fn delay(&self) -> Span {
        LinkKind::delay(self)
    }

    fn burst(&self) -> Bytes {
        LinkKind::burst(self)
    }

    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        LinkKind::bucket(self)
    }

    fn framing(&self) -> Framing {
        LinkKind::framing(self)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        LinkKind::collect_problems(self, problems);
    }

    fn build(&self, manager: AnyManager<Ticket>) -> Box<dyn Running> {
        Box::new(LinkKind::build(self, manager))
    }
}

impl Family for LinkConfig {
    type Pointer = dyn PointedLink;

    /// The link, with a queue that has no limit yet.
    fn own(link: OwnConfiguration) -> Self {
        Self::Own {
            link,
            queue: crate::blank_queue(),
        }
    }

    fn own_mut(&mut self) -> Option<&mut OwnConfiguration> {
        match self {
            Self::Own { link, .. } => Some(link),
            _ => None,
        }
    }
}

impl<C> Takes<C> for LinkConfig
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    fn boxed(configuration: C) -> Box<dyn PointedLink> {
        Box::new(configuration)
    }
}

/// An own link with the packets that its tickets stand for.
pub struct OwnLink<T> {
    link: Box<dyn Running>,
    packets: Cloakroom<T>,
}

impl<T> OwnLink<T> {
    pub(crate) fn new(config: &OwnConfiguration, queue: &ManagerConfig) -> Self {
        Self {
            link: config.build(queue.build()),
            packets: Cloakroom::default(),
        }
    }
}

impl<T> fmt::Debug for OwnLink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnLink")
            .field(&self.link.backlog())
            .finish()
    }
}

/// [`Link`] with its context behind a pointer.
pub trait Running: Send {
    /// See [`Link::on_arrival`].
    fn on_arrival(
        &mut self,
        now: Instant,
        meta: Meta,
        item: Ticket,
        context: &mut dyn LinkContext<Ticket>,
    );
    /// See [`Link::next_wakeup`].
    fn next_wakeup(&self) -> Instant;
    /// See [`Link::on_wakeup`].
    fn on_wakeup(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>);
    /// See [`Link::settle`].
    fn settle(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>);
    /// See [`Link::backlog`].
    fn backlog(&self) -> Backlog;
    /// See [`Link::staged`].
    fn staged(&self) -> Backlog;
    /// See [`Link::keeps_order`].
    fn keeps_order(&self) -> bool;
    /// See [`Link::sub_flow`].
    fn sub_flow(&self, meta: &Meta) -> Option<u32>;
    /// See [`Link::counters`].
    fn counters(&self) -> Option<LinkCounters>;
    /// See [`Link::service_flow_counters`].
    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]>;
}

impl<L: Link<Ticket> + Send> Running for L {
    fn on_arrival(
        &mut self,
        now: Instant,
        meta: Meta,
        item: Ticket,
        context: &mut dyn LinkContext<Ticket>,
    ) {
        Link::on_arrival(self, now, meta, item, &mut PointedContext(context));
    }

    fn next_wakeup(&self) -> Instant {
        Link::next_wakeup(self)
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>) {
        Link::on_wakeup(self, now, &mut PointedContext(context));
    }

    fn settle(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>) {
        Link::settle(self, now, &mut PointedContext(context));
    }

    fn backlog(&self) -> Backlog {
        Link::backlog(self)
    }

    fn staged(&self) -> Backlog {
        Link::staged(self)
    }

    fn keeps_order(&self) -> bool {
        Link::keeps_order(self)
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Link::sub_flow(self, meta)
    }

    fn counters(&self) -> Option<LinkCounters> {
        Link::counters(self)
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        Link::service_flow_counters(self)
    }
}

/// A context behind a pointer.
struct PointedContext<'a>(&'a mut dyn LinkContext<Ticket>);

impl LinkContext<Ticket> for PointedContext<'_> {
    fn deliver(&mut self, item: Ticket, meta: &Meta, passage: &Passage) {
        self.0.deliver(item, meta, passage);
    }

    fn dropped(&mut self, item: Ticket, meta: &Meta, loss: &Loss) {
        self.0.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: &Ticket, meta: &Meta, mark: &Mark) {
        self.0.marked(item, meta, mark);
    }

    fn scored(&mut self, item: &Ticket, meta: &Meta, score: &Score) {
        self.0.scored(item, meta, score);
    }

    fn estimated(&mut self, meta: &Meta, delay: Span) {
        self.0.estimated(meta, delay);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.0.unit(purpose)
    }

    fn wants_delay(&self) -> bool {
        self.0.wants_delay()
    }

    fn work(&mut self, units: u64) -> bool {
        self.0.work(units)
    }
}

/// The context of an own link: tickets on its side, packets on the other.
struct Counter<'a, T, C> {
    packets: &'a mut Cloakroom<T>,
    context: &'a mut C,
}

impl<T, C: LinkContext<T>> LinkContext<Ticket> for Counter<'_, T, C> {
    fn deliver(&mut self, item: Ticket, meta: &Meta, passage: &Passage) {
        self.context
            .deliver(self.packets.give_back(item), meta, passage);
    }

    fn dropped(&mut self, item: Ticket, meta: &Meta, loss: &Loss) {
        self.context
            .dropped(self.packets.give_back(item), meta, loss);
    }

    fn marked(&mut self, item: &Ticket, meta: &Meta, mark: &Mark) {
        self.context.marked(self.packets.look(*item), meta, mark);
    }

    fn scored(&mut self, item: &Ticket, meta: &Meta, score: &Score) {
        self.context.scored(self.packets.look(*item), meta, score);
    }

    fn estimated(&mut self, meta: &Meta, delay: Span) {
        self.context.estimated(meta, delay);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.context.unit(purpose)
    }

    fn wants_delay(&self) -> bool {
        self.context.wants_delay()
    }

    fn work(&mut self, units: u64) -> bool {
        self.context.work(units)
    }
}

impl<T> Link<T> for OwnLink<T> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: T, context: &mut impl LinkContext<T>) {
        let ticket = self.packets.keep(item);
        let packets = &mut self.packets;
        self.link
            .on_arrival(now, meta, ticket, &mut Counter { packets, context });
    }

    fn next_wakeup(&self) -> Instant {
        self.link.next_wakeup()
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        let packets = &mut self.packets;
        self.link.on_wakeup(now, &mut Counter { packets, context });
    }

    fn settle(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        let packets = &mut self.packets;
        self.link.settle(now, &mut Counter { packets, context });
    }

    fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    fn staged(&self) -> Backlog {
        self.link.staged()
    }

    fn keeps_order(&self) -> bool {
        self.link.keeps_order()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.link.sub_flow(meta)
    }

    fn counters(&self) -> Option<LinkCounters> {
        self.link.counters()
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        self.link.service_flow_counters()
    }
}
