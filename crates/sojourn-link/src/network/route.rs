//! The way of packets: hops, wires, and what happens on them at an instant.

use alloc::vec::Vec;
use sojourn_base::{Direction, Instant, LinkId, PacketHandle, TrafficId};

/// A hop of a route; the one after it has the next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopId(u32);

impl HopId {
    /// The hop with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its place among all hops.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The hop after it.
    #[inline]
    const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Handle of a packet in flight, with what links ask of it: of thousands in flight few are in a cache, and
/// a link passes one on without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// The owner's number for it.
    pub index: u32,
    /// Place on its route.
    pub hop: HopId,
}

impl PacketId {
    /// The packet after this hop.
    #[inline]
    pub(super) const fn one_hop_on(self) -> Self {
        Self { hop: self.hop.next(), ..self }
    }
}

/// A packet as queues and links hold it.
impl From<PacketId> for PacketHandle {
    #[inline]
    fn from(id: PacketId) -> Self {
        Self(u64::from(id.index) << 32 | u64::from(id.hop.number()))
    }
}

impl From<PacketHandle> for PacketId {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the handle")]
    #[inline]
    fn from(PacketHandle(halves): PacketHandle) -> Self {
        Self { index: (halves >> 32) as u32, hop: HopId::new(halves as u32) }
    }
}

/// Place of a packet on its route, and its owner.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Carrier of the packet.
    pub over: Over,
    /// Direction of the packet.
    pub direction: Direction,
    /// Traffic entry of the route.
    pub traffic: TrafficId,
    /// To or from which of the entry's servers.
    pub server: u32,
}

/// Carrier of a packet over a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// A link with a queue.
    Link(LinkId),
    /// A modem of a group.
    Group {
        /// Number of the group.
        group: u16,
        /// Number of the modem in it.
        port: u16,
    },
    /// A wire.
    Wire {
        /// Its number.
        wire: u32,
        /// It follows a link that keeps order.
        at_once: bool,
    },
    /// Nothing: the route ends here.
    End,
}

/// All hops of all routes.
#[derive(Debug, Default)]
pub(super) struct Hops(pub(super) Vec<Hop>);

impl Hops {
    #[inline]
    pub(super) fn at(&self, hop: HopId) -> &Hop {
        &self.0[hop.index()]
    }

    #[inline]
    pub(super) fn of(&self, id: PacketId) -> &Hop {
        self.at(id.hop)
    }
}

/// A packet at the end of its route.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The packet.
    pub id: PacketId,
    /// Direction of the packet.
    pub direction: Direction,
    /// Traffic entry of the route.
    pub traffic: TrafficId,
}

/// An event of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkEvent {
    /// The first packet on a wire arrives.
    WireDelivery {
        /// Number of the wire.
        wire: u32,
    },
    /// The first packet that a link has announced arrives.
    LinkDelivery {
        /// The link.
        link: LinkId,
    },
    /// A link wants to be called.
    Wakeup {
        /// The link.
        link: LinkId,
    },
    /// A group wants to be called.
    GroupWakeup {
        /// Number of the group.
        group: u16,
    },
}

/// Calendar of a network's events: those of one instant happen in the order in which they were scheduled.
pub trait Schedule {
    /// `event` happens at `at`, which is not before the event that happens now.
    fn schedule(&mut self, at: Instant, event: NetworkEvent);
}
