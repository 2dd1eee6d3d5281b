//! Links from outside this crate: added when the program starts, called through a pointer.
//!
//! As with own queue managers, the link keeps tickets and what stands around it keeps the packets.
//!
//! Source: none needed. Deviations: none known.

use crate::{Draw, Link, LinkConfig, LinkContext, LinkCounters, LinkKind, Loss, Mark, Passage};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use sojourn_base::{BitRate, Bytes, Instant, Meta, Span};
use sojourn_keys::{AnyKind, KindInfo, KindOf, NameTaken, Visitor};
use sojourn_queue::{AnyManager, Backlog, Cloakroom, ConfigProblem, ManagerConfig, Ticket};

/// Makes a kind of link known, before the first file that asks for it is read.
pub fn add_link<C>() -> Result<(), NameTaken>
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    crate::KINDS.add(&OwnKind::<C>(KindOf::KIND))
}

#[derive(Debug)]
struct OwnKind<C>(KindOf<C>);

impl<C> AnyKind<LinkConfig> for OwnKind<C>
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    fn info(&self) -> KindInfo {
        KindOf::<C>::describe()
    }

    fn values(&self, profile: Option<&str>) -> LinkConfig {
        LinkConfig::Own {
            link: OwnConfiguration(Box::new(KindOf::<C>::configuration(profile))),
            queue: crate::blank_queue(),
        }
    }

    fn keys(&self, value: &mut LinkConfig, visitor: &mut dyn Visitor) {
        if let LinkConfig::Own { link, .. } = value
            && let Some(config) = link.0.as_any_mut().downcast_mut::<C>()
        {
            config.keys(visitor);
        }
    }
}

/// Parameters of an own link.
#[derive(Debug)]
pub struct OwnConfiguration(Box<dyn Parameters>);

/// What [`LinkKind`] says, as far as a pointer can say it.
trait Parameters: fmt::Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn duplicate(&self) -> Box<dyn Parameters>;
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn drain_rate(&self) -> BitRate;
    fn delay(&self) -> Span;
    fn burst(&self) -> Bytes;
    fn bucket(&self) -> Option<(&'static str, Bytes)>;
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>);
    fn build(&self, manager: AnyManager<Ticket>) -> Box<dyn Running>;
}

impl<C> Parameters for C
where
    C: LinkKind,
    C::Link<Ticket>: Send + 'static,
{
    fn kind(&self) -> &'static str {
        C::KIND
    }

    fn duplicate(&self) -> Box<dyn Parameters> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<C>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

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

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        LinkKind::collect_problems(self, problems);
    }

    fn build(&self, manager: AnyManager<Ticket>) -> Box<dyn Running> {
        Box::new(LinkKind::build(self, manager))
    }
}

impl Clone for OwnConfiguration {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl PartialEq for OwnConfiguration {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

impl OwnConfiguration {
    pub(crate) fn kind(&self) -> &'static str {
        self.0.kind()
    }

    pub(crate) fn drain_rate(&self) -> BitRate {
        self.0.drain_rate()
    }

    pub(crate) fn delay(&self) -> Span {
        self.0.delay()
    }

    pub(crate) fn burst(&self) -> Bytes {
        self.0.burst()
    }

    pub(crate) fn bucket(&self) -> Option<(&'static str, Bytes)> {
        self.0.bucket()
    }

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.0.collect_problems(problems);
    }

    pub(crate) fn build<T>(&self, queue: &ManagerConfig) -> OwnLink<T> {
        OwnLink {
            link: self.0.build(queue.build()),
            packets: Cloakroom::default(),
        }
    }
}

/// An own link with the packets that its tickets stand for.
pub struct OwnLink<T> {
    link: Box<dyn Running>,
    packets: Cloakroom<T>,
}

impl<T> fmt::Debug for OwnLink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnLink")
            .field(&self.link.backlog())
            .finish()
    }
}

/// [`Link`] with its context behind a pointer.
trait Running: Send {
    fn on_arrival(
        &mut self,
        now: Instant,
        meta: Meta,
        item: Ticket,
        context: &mut dyn LinkContext<Ticket>,
    );
    fn next_wakeup(&self) -> Instant;
    fn on_wakeup(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>);
    fn backlog(&self) -> Backlog;
    fn staged(&self) -> Backlog;
    fn keeps_order(&self) -> bool;
    fn sub_flow(&self, meta: &Meta) -> Option<u32>;
    fn counters(&self) -> Option<LinkCounters>;
}

impl<L: Link<Ticket> + Send> Running for L {
    fn on_arrival(
        &mut self,
        now: Instant,
        meta: Meta,
        item: Ticket,
        context: &mut dyn LinkContext<Ticket>,
    ) {
        Link::on_arrival(self, now, meta, item, &mut Pointed(context));
    }

    fn next_wakeup(&self) -> Instant {
        Link::next_wakeup(self)
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut dyn LinkContext<Ticket>) {
        Link::on_wakeup(self, now, &mut Pointed(context));
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
}

/// A context behind a pointer.
struct Pointed<'a>(&'a mut dyn LinkContext<Ticket>);

impl LinkContext<Ticket> for Pointed<'_> {
    fn deliver(&mut self, item: Ticket, meta: &Meta, passage: &Passage) {
        self.0.deliver(item, meta, passage);
    }

    fn dropped(&mut self, item: Ticket, meta: &Meta, loss: &Loss) {
        self.0.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: &Ticket, meta: &Meta, mark: &Mark) {
        self.0.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.0.unit(purpose)
    }

    fn wants_delay(&self) -> bool {
        self.0.wants_delay()
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

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.context.unit(purpose)
    }

    fn wants_delay(&self) -> bool {
        self.context.wants_delay()
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
}
