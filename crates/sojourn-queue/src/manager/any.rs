//! Every queue manager behind one type, so that a link calls them without a virtual call.
//!
//! Source: none needed. Deviations: none known.

use crate::config::ManagerConfig;
use crate::manager::codel::CodelQueue;
use crate::manager::drop_tail::DropTailQueue;
use crate::{Backlog, Environment, Held, QueueManager, Verdict};
use alloc::boxed::Box;
use core::fmt;
use sojourn_base::{Instant, Meta};

/// One of the known managers, or somebody's own.
pub enum AnyManager<T> {
    /// See [`DropTailQueue`].
    DropTail(DropTailQueue<T>),
    /// See [`CodelQueue`].
    Codel(CodelQueue<T>),
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
        }
    }
}

macro_rules! each {
    ($self:expr, $manager:ident => $call:expr) => {
        match $self {
            AnyManager::DropTail($manager) => $call,
            AnyManager::Codel($manager) => $call,
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
        environment: &mut dyn Environment<T>,
    ) -> Verdict {
        each!(self, manager => manager.enqueue(now, meta, item, environment))
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, environment: &mut dyn Environment<T>) -> Option<Held<T>> {
        each!(self, manager => manager.dequeue(now, environment))
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        each!(self, manager => manager.head_length())
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each!(self, manager => manager.backlog())
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        each!(self, manager => manager.next_timer())
    }

    #[inline]
    fn on_timer(&mut self, now: Instant, environment: &mut dyn Environment<T>) {
        each!(self, manager => manager.on_timer(now, environment));
    }
}

impl<T> fmt::Debug for AnyManager<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::DropTail(_) => "DropTail",
            Self::Codel(_) => "Codel",
            Self::Boxed(_) => "Boxed",
        };
        f.debug_tuple(name).field(&self.backlog()).finish()
    }
}
