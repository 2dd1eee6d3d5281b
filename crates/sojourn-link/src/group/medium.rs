//! Media that several links share: a service group in one direction, or a Wi-Fi channel.

use super::KNOWN;
use super::downstream::SharedDownstream;
use super::members::{Members, Shared};
use super::upstream::Group;
use crate::Link;
use crate::wifi::channel::Channel;
use alloc::boxed::Box;
use sojourn_base::{ChannelCounters, Direction, Instant, Meta, ModemCounters, PacketHandle};

/// The channels of a group in one direction with its modems, or a Wi-Fi channel with its stations.
#[derive(Debug)]
pub(crate) enum Medium {
    Upstream(Box<Group>),
    Downstream(Box<SharedDownstream>),
    /// A Wi-Fi channel, whose ports are directions of stations.
    Wifi(Box<Channel>),
}

/// Calls whichever it is.
macro_rules! either {
    ($self:expr, $medium:ident => $call:expr) => {
        match $self {
            Self::Upstream($medium) if KNOWN => $call,
            Self::Downstream($medium) if KNOWN => $call,
            Self::Wifi($medium) => $call,
            _ => unreachable!("files have no groups"),
        }
    };
}

impl Medium {
    /// Returns the direction of a service group's channels.
    pub(crate) const fn direction(&self) -> Option<Direction> {
        match self {
            Self::Upstream(_) => Some(Direction::Upstream),
            Self::Downstream(_) => Some(Direction::Downstream),
            Self::Wifi(_) => None,
        }
    }

    /// The modem at `port`, as a link.
    pub(crate) fn member(&self, port: usize) -> &dyn Link {
        either!(self, medium => medium.member(port))
    }

    /// Returns the counters of the modem at `port`.
    pub(crate) fn member_counters(&self, port: usize) -> ModemCounters {
        match self {
            Self::Upstream(medium) if KNOWN => medium.member_counters(port),
            Self::Downstream(medium) if KNOWN => medium.member_counters(port),
            _ => ModemCounters::default(),
        }
    }

    /// Returns the counters of the CMTS by `now`.
    pub(crate) fn counters(&mut self, now: Instant) -> ChannelCounters {
        match self {
            Self::Upstream(medium) if KNOWN => medium.counters(now),
            Self::Downstream(medium) if KNOWN => medium.counters(now),
            _ => ChannelCounters::default(),
        }
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
