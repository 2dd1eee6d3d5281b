//! The shared medium of a group in one direction.

use super::downstream::SharedDownstream;
use super::members::Members;
use super::upstream::Group;
use crate::Link;
use alloc::boxed::Box;
use sojourn_base::{ChannelCounters, Direction, Instant, Meta, ModemCounters, PacketHandle};

/// The channels of a group in one direction, with its modems.
#[derive(Debug)]
pub(crate) enum Medium {
    Upstream(Box<Group>),
    Downstream(Box<SharedDownstream>),
}

/// Calls whichever it is.
macro_rules! either {
    ($self:expr, $medium:ident => $call:expr) => {
        match $self {
            Self::Upstream($medium) => $call,
            Self::Downstream($medium) => $call,
        }
    };
}

impl Medium {
    pub(crate) const fn direction(&self) -> Direction {
        match self {
            Self::Upstream(_) => Direction::Upstream,
            Self::Downstream(_) => Direction::Downstream,
        }
    }

    /// The modem at `port`, as a link.
    pub(crate) fn member(&self, port: usize) -> &dyn Link {
        either!(self, medium => medium.member(port))
    }

    /// Returns the counters of the modem at `port`.
    pub(crate) fn member_counters(&self, port: usize) -> ModemCounters {
        either!(self, medium => medium.member_counters(port))
    }

    /// Returns the counters of the CMTS by `now`.
    pub(crate) fn counters(&mut self, now: Instant) -> ChannelCounters {
        either!(self, medium => medium.counters(now))
    }

    /// Returns the time of its next call; [`Instant::NEVER`] if nothing is pending.
    pub(crate) fn next_wakeup(&self) -> Instant {
        either!(self, medium => medium.next_wakeup())
    }

    /// A packet enters the queue of the modem at `port`.
    pub(crate) fn on_arrival(
        &mut self,
        now: Instant,
        port: usize,
        meta: Meta,
        item: PacketHandle,
        members: &mut impl Members,
    ) {
        either!(self, medium => medium.on_arrival(now, port, meta, item, members));
    }

    /// Everything that is due by `now`.
    pub(crate) fn on_wakeup(&mut self, now: Instant, members: &mut impl Members) {
        either!(self, medium => medium.on_wakeup(now, members));
    }
}
