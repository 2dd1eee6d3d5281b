//! Packets in flight: a slab with 32-bit handles and a free list, so that steady state allocates
//! nothing.

use sojourn_base::{Direction, Instant, Meta};
use sojourn_record::DelaySplit;
use sojourn_transport::Segment;

/// Handle of a packet in flight, with what links ask of it: of thousands in flight few are in a cache, and
/// a link passes one on without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketId {
    index: u32,
    /// Its way.
    pub(crate) itinerary: Itinerary,
}

/// Whose packet, and which way it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Itinerary {
    /// Entry of the traffic list.
    pub(crate) traffic: u16,
    /// Number of its route.
    pub(crate) route: u16,
}

/// What is stored of a packet until it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Which way it goes: upstream to a server's end, downstream to the client's.
    pub(crate) direction: Direction,
    /// What queues and links may know of it.
    pub(crate) meta: Meta,
    /// What it carries.
    pub(crate) body: Body,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A TCP segment for one end of a connection.
    Segment {
        /// Slot of the connection.
        slot: u32,
        /// Generation of the slot when the segment was sent.
        generation: u8,
        /// The segment.
        segment: Segment,
    },
    /// A datagram.
    Datagram {
        /// Flow within the traffic entry.
        flow: u32,
        /// Number within the flow.
        sequence: u32,
        /// IP bytes.
        length: u32,
        /// When it was sent.
        sent_at: Instant,
        /// What the application wants to be told when it arrives.
        tag: Option<u32>,
    },
}

/// All packets in flight.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    packets: Vec<Packet>,
    /// The delay of each packet so far; of packets whose delay is not recorded, nothing that counts.
    splits: Vec<DelaySplit>,
    free: Vec<u32>,
}

impl Arena {
    /// Stores a packet, and its delay so far if that is recorded.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a packet is two cache lines: it is put together where it stays"
    )]
    pub(crate) fn insert(
        &mut self,
        itinerary: Itinerary,
        packet: Packet,
        split: Option<DelaySplit>,
    ) -> PacketId {
        let index = if let Some(index) = self.free.pop() {
            self.packets[index as usize] = packet;
            index
        } else {
            self.packets.push(packet);
            self.splits.push(DelaySplit::default());
            u32::try_from(self.packets.len() - 1).expect("fewer than 2^32 in flight")
        };
        if let Some(split) = split {
            self.splits[index as usize] = split;
        }
        PacketId { index, itinerary }
    }

    /// Ends a packet's life and hands it out.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        self.free(id);
        self.packets[id.index as usize]
    }

    /// Ends a packet's life.
    #[inline]
    pub(crate) fn free(&mut self, id: PacketId) {
        self.free.push(id.index);
    }

    /// Delay of a packet so far.
    pub(crate) fn split(&self, id: PacketId) -> &DelaySplit {
        &self.splits[id.index as usize]
    }

    pub(crate) fn split_mut(&mut self, id: PacketId) -> &mut DelaySplit {
        &mut self.splits[id.index as usize]
    }

    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id.index as usize]
    }

    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index as usize]
    }

    /// Packets in flight now.
    pub(crate) fn in_flight(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
