//! Every link behind one type, so that an engine calls them without a virtual call.
//!
//! Source: none needed. Deviations: none known.

use crate::config::LinkConfig;
use crate::docsis::cascade::Cascade;
use crate::docsis::single_queue::SingleQueue;
use crate::serial::Serial;
use crate::shaped::Shaped;
use crate::{Link, LinkContext, LinkCounters};
use sojourn_base::{Instant, Meta};
use sojourn_queue::{AnyManager, Backlog};

/// One of the links that [`LinkConfig`] can describe, with any queue manager.
#[derive(Debug)]
pub enum AnyLink<T> {
    /// See [`Serial`].
    Serial(Serial<AnyManager<T>>),
    /// See [`Shaped`].
    Shaped(Shaped<T, AnyManager<T>>),
    /// See [`Cascade`].
    Docsis30Cascade(Cascade<T, AnyManager<T>>),
    /// See [`SingleQueue`].
    Docsis30Single(SingleQueue<T, AnyManager<T>>),
}

impl LinkConfig {
    /// An idle link with these parameters. Limits in time become bytes at [`LinkConfig::drain_rate`].
    ///
    /// # Panics
    /// If [`LinkConfig::problems`] or the manager's problems list something.
    pub fn build<T: Send + 'static>(&self) -> AnyLink<T> {
        let manager = self.queue().clone().at(self.drain_rate()).build();
        match self {
            Self::Serial { link, .. } => AnyLink::Serial(Serial::new(*link, manager)),
            Self::Shaped { link, .. } => AnyLink::Shaped(Shaped::new(*link, manager)),
            Self::Docsis30Cascade { link, .. } => {
                AnyLink::Docsis30Cascade(Cascade::new(link, manager))
            }
            Self::Docsis30Single { link, .. } => {
                AnyLink::Docsis30Single(SingleQueue::new(link, manager))
            }
        }
    }
}

macro_rules! each {
    ($self:expr, $link:ident => $call:expr) => {
        match $self {
            AnyLink::Serial($link) => $call,
            AnyLink::Shaped($link) => $call,
            AnyLink::Docsis30Cascade($link) => $call,
            AnyLink::Docsis30Single($link) => $call,
        }
    };
}

impl<T> AnyLink<T> {
    /// The queue manager, for records.
    pub const fn manager(&self) -> &AnyManager<T> {
        match self {
            Self::Serial(link) => link.manager(),
            Self::Shaped(link) => link.manager(),
            Self::Docsis30Cascade(link) => link.manager(),
            Self::Docsis30Single(link) => link.manager(),
        }
    }
}

impl<T> Link<T> for AnyLink<T> {
    #[inline]
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: T, context: &mut impl LinkContext<T>) {
        each!(self, link => link.on_arrival(now, meta, item, context));
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        each!(self, link => Link::<T>::next_wakeup(link))
    }

    #[inline]
    fn on_wakeup(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        each!(self, link => link.on_wakeup(now, context));
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each!(self, link => Link::<T>::backlog(link))
    }

    #[inline]
    fn staged(&self) -> Backlog {
        each!(self, link => Link::<T>::staged(link))
    }

    fn keeps_order(&self) -> bool {
        each!(self, link => Link::<T>::keeps_order(link))
    }

    fn counters(&self) -> Option<LinkCounters> {
        each!(self, link => Link::<T>::counters(link))
    }
}
