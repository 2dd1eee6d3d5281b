//! Every queue manager behind one type, so that a link calls them without a virtual call.
//!
//! `enqueue` and `dequeue` of the managers are `inline(never)`: in one function for all, each would save the
//! registers that the largest needs, and the two managers of a run would lie scattered among the others.
//!
//! Source: none needed. Deviations: none known.

use crate::{
    AckPriorityQueue, Backlog, CodelQueue, DocsisPieQueue, DropTailQueue, FqCodelQueue, FqPieQueue,
    Held, ManagerConfig, PieQueue, QueueContext, QueueManager, SfqCodelQueue, SfqNs2Queue,
    SfqPieQueue, SfqQueue, Verdict,
};
use alloc::boxed::Box;
use core::fmt;
use sojourn_base::{Instant, Meta};

/// One of the known managers, or somebody's own.
pub enum AnyManager<T> {
    /// See [`DropTailQueue`].
    DropTail(DropTailQueue<T>),
    /// See [`CodelQueue`].
    Codel(CodelQueue<T>),
    /// See [`SfqQueue`].
    Sfq(SfqQueue<T>),
    /// See [`SfqNs2Queue`].
    SfqNs2(SfqNs2Queue<T>),
    /// See [`SfqCodelQueue`].
    SfqCodel(SfqCodelQueue<T>),
    /// See [`FqCodelQueue`].
    FqCodel(FqCodelQueue<T>),
    /// See [`PieQueue`].
    Pie(PieQueue<T>),
    /// See [`SfqPieQueue`].
    SfqPie(SfqPieQueue<T>),
    /// See [`FqPieQueue`].
    FqPie(FqPieQueue<T>),
    /// See [`DocsisPieQueue`].
    DocsisPie(DocsisPieQueue<T>),
    /// See [`AckPriorityQueue`].
    AckPriority(Box<AckPriorityQueue<T, Self>>),
    /// A manager from outside this crate.
    Boxed(Box<dyn QueueManager<T> + Send>),
}

impl ManagerConfig {
    /// A running manager with these parameters. Its timers, if it has any, count from the start of
    /// the run.
    ///
    /// # Panics
    /// If a limit is still a time; see [`ManagerConfig::at`].
    pub fn build<T>(&self) -> AnyManager<T> {
        match self {
            Self::DropTail(config) => AnyManager::DropTail(DropTailQueue::new(*config)),
            Self::Codel(config) => AnyManager::Codel(CodelQueue::new(*config)),
            Self::Sfq(config) => AnyManager::Sfq(SfqQueue::new(*config)),
            Self::SfqNs2(config) => AnyManager::SfqNs2(SfqNs2Queue::new(*config)),
            Self::SfqCodel(config) => AnyManager::SfqCodel(SfqCodelQueue::new(*config)),
            Self::FqCodel(config) => AnyManager::FqCodel(FqCodelQueue::new(*config)),
            Self::Pie(config) => AnyManager::Pie(PieQueue::new(*config)),
            Self::SfqPie(config) => AnyManager::SfqPie(SfqPieQueue::new(*config)),
            Self::FqPie(config) => AnyManager::FqPie(FqPieQueue::new(*config)),
            Self::DocsisPie(config) => AnyManager::DocsisPie(DocsisPieQueue::new(*config)),
            Self::AckPriority(config, inner) => {
                let queue = AckPriorityQueue::new(*config, inner.build());
                AnyManager::AckPriority(Box::new(queue))
            }
        }
    }
}

macro_rules! each {
    ($self:expr, $manager:ident => $call:expr) => {
        match $self {
            AnyManager::DropTail($manager) => $call,
            AnyManager::Codel($manager) => $call,
            AnyManager::Sfq($manager) => $call,
            AnyManager::SfqNs2($manager) => $call,
            AnyManager::SfqCodel($manager) => $call,
            AnyManager::FqCodel($manager) => $call,
            AnyManager::Pie($manager) => $call,
            AnyManager::SfqPie($manager) => $call,
            AnyManager::FqPie($manager) => $call,
            AnyManager::DocsisPie($manager) => $call,
            AnyManager::AckPriority($manager) => $call,
            AnyManager::Boxed($manager) => $call,
        }
    };
}

impl<T> QueueManager<T> for AnyManager<T> {
    #[inline]
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
        each!(self, manager => manager.enqueue(now, meta, item, context))
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        each!(self, manager => manager.dequeue(now, context))
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        each!(self, manager => manager.head_length())
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each!(self, manager => manager.backlog())
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        each!(self, manager => manager.sub_flow(meta))
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        each!(self, manager => manager.next_timer())
    }

    #[inline]
    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext<T>) {
        each!(self, manager => manager.on_timer(now, context));
    }
}

impl<T> fmt::Debug for AnyManager<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::DropTail(_) => "DropTail",
            Self::Codel(_) => "Codel",
            Self::Sfq(_) => "Sfq",
            Self::SfqNs2(_) => "SfqNs2",
            Self::SfqCodel(_) => "SfqCodel",
            Self::FqCodel(_) => "FqCodel",
            Self::Pie(_) => "Pie",
            Self::SfqPie(_) => "SfqPie",
            Self::FqPie(_) => "FqPie",
            Self::DocsisPie(_) => "DocsisPie",
            Self::AckPriority(_) => "AckPriority",
            Self::Boxed(_) => "Boxed",
        };
        f.debug_tuple(name).field(&self.backlog()).finish()
    }
}
