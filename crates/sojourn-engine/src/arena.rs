//! Packets in flight: a slab with 32-bit handles and a free list, so that steady state allocates
//! nothing.

use sojourn_base::native::IN_TAB;
use sojourn_base::{Instant, Meta};
use sojourn_link::PacketId;
use sojourn_link::network::HopId;
use sojourn_record::{DelaySplit, SegmentSeen};
use sojourn_transport::{Flags, SackBlocks, Segment};

/// A packet in flight. One cache line: that of an arriving packet was last touched when it was sent.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Packet {
    /// Properties of the packet that queues and links may read.
    pub(crate) meta: Meta,
    /// Contents of the packet.
    pub(crate) body: Body,
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A TCP segment for one end of a connection.
    Segment {
        /// Slot of the connection.
        slot: u32,
        /// Generation of the slot when the segment was sent.
        generation: u8,
        /// Header of any segment.
        header: Header,
    },
    /// A datagram.
    Datagram {
        /// Flow within the traffic entry.
        flow: u32,
        /// Number within the flow.
        sequence: u32,
        /// Time of sending.
        sent_at: Instant,
        /// Tag of the application's event at its arrival; `None` for no event.
        tag: Option<u32>,
    },
}

/// The part of a segment that the packet around it does not know, and that every segment has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    sequence: u32,
    acknowledgement: u32,
    payload: u32,
    flags: Flags,
    /// Its SACK blocks are stored, too.
    has_blocks: bool,
    marks: u16,
    sent_at: Instant,
    echo: Instant,
    one_way_delay_ps: u64,
}

impl Header {
    /// Returns the stored part of `segment`: all but its SACK blocks.
    pub(crate) const fn of(segment: &Segment) -> Self {
        Self {
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            payload: segment.payload,
            flags: segment.flags,
            has_blocks: !segment.sack.is_empty(),
            marks: segment.marks,
            sent_at: segment.sent_at,
            echo: segment.echo,
            one_way_delay_ps: segment.one_way_delay_ps,
        }
    }

    /// Number of the segment.
    pub(crate) const fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Bytes of application data.
    pub(crate) const fn payload(&self) -> u32 {
        self.payload
    }

    /// Returns true if links cannot read it: a datagram to all but its ends.
    pub(crate) const fn is_encrypted(&self) -> bool {
        !IN_TAB && self.flags.has(Flags::ENCRYPTED)
    }

    /// Returns true if the bytes of a datagram of a library are stored, too.
    pub(crate) const fn has_bytes(&self) -> bool {
        !IN_TAB && self.flags.has(Flags::DATAGRAM)
    }

    /// Returns the time at which this copy was sent.
    pub(crate) const fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// Returns the segment as recorders of packets receive it; `sack` are its stored SACK blocks.
    pub(crate) fn seen(&self, connection: (u32, u8), sack: &SackBlocks) -> SegmentSeen {
        let of = |flag: Flags, bit: u8| if self.flags.has(flag) { bit } else { 0 };
        let mut blocks = ([(0, 0); 3], 0);
        if self.has_blocks {
            for (place, block) in blocks.0.iter_mut().zip(sack.as_slice()) {
                *place = *block;
            }
            blocks.1 = sack.len();
        }
        SegmentSeen {
            connection,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            payload: self.payload,
            flags: of(Flags::SYN, SegmentSeen::SYN)
                | of(Flags::FIN, SegmentSeen::FIN)
                | of(Flags::ACK, SegmentSeen::ACK)
                | of(Flags::ECE, SegmentSeen::ECE)
                | of(Flags::CWR, SegmentSeen::CWR),
            sack: blocks,
            stamps: (self.sent_at, self.echo),
        }
    }

    /// The whole segment again, `sack` being what was stored with its packet.
    pub(crate) const fn in_packet(&self, meta: &Meta, sack: &SackBlocks) -> Segment {
        Segment {
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            payload: self.payload,
            length: meta.length,
            sent_at: self.sent_at,
            echo: self.echo,
            one_way_delay_ps: self.one_way_delay_ps,
            flags: self.flags,
            ecn: meta.ecn,
            marks: self.marks,
            sack: if self.has_blocks { *sack } else { SackBlocks::NONE },
        }
    }
}

/// All packets in flight.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    packets: Vec<Packet>,
    /// The SACK blocks of those that have some: few do.
    blocks: Vec<SackBlocks>,
    /// The delay of each packet so far; of packets whose delay is not recorded, nothing that counts.
    splits: Vec<DelaySplit>,
    free: Vec<u32>,
    /// Bytes of datagrams of libraries, at the places of their packets; empty in a run without any.
    datagrams: Vec<Vec<u8>>,
}

impl Arena {
    /// Stores the bytes of the packet that is inserted next, in the room of an earlier one.
    pub(crate) fn put_datagram(&mut self, bytes: &[u8]) {
        let next = self.free.last().map_or(self.packets.len(), |index| *index as usize);
        if self.datagrams.len() <= next {
            self.datagrams.resize(next + 1, Vec::new());
        }
        let room = &mut self.datagrams[next];
        room.clear();
        room.extend_from_slice(bytes);
    }

    /// Exchanges the bytes of a packet with `other`.
    pub(crate) fn swap_datagram(&mut self, id: PacketId, other: &mut Vec<u8>) {
        if let Some(own) = self.datagrams.get_mut(id.index as usize) {
            core::mem::swap(own, other);
        }
    }

    /// Stores a packet, the SACK blocks of its segment, and its delay so far if that is recorded.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a packet is put together where it stays")]
    pub(crate) fn insert(
        &mut self,
        hop: HopId,
        packet: Packet,
        blocks: &SackBlocks,
        split: Option<DelaySplit>,
    ) -> PacketId {
        let index = if let Some(index) = self.free.pop() {
            self.packets[index as usize] = packet;
            index
        } else {
            self.packets.push(packet);
            self.blocks.push(SackBlocks::NONE);
            self.splits.push(DelaySplit::default());
            u32::try_from(self.packets.len() - 1).expect("fewer than 2^32 in flight")
        };
        if !blocks.is_empty() {
            self.blocks[index as usize] = *blocks;
        }
        if let Some(split) = split {
            self.splits[index as usize] = split;
        }
        PacketId { index, hop }
    }

    /// A second packet like `id`, at the same hop and with the same delay so far. Of a datagram, applications hear of the
    /// first only: they know its number.
    pub(crate) fn copy(&mut self, id: PacketId) -> PacketId {
        let index = id.index as usize;
        let (mut packet, blocks, split) = (self.packets[index], self.blocks[index], self.splits[index]);
        if let Body::Datagram { tag, .. } = &mut packet.body {
            *tag = None;
        }
        if let Body::Segment { header, .. } = &packet.body
            && header.has_bytes()
        {
            let bytes = self.datagrams[index].clone();
            self.put_datagram(&bytes);
        }
        self.insert(id.hop, packet, &blocks, Some(split))
    }

    /// The SACK blocks of a packet's segment; of one that has none, nothing that counts.
    pub(crate) fn blocks(&self, id: PacketId) -> &SackBlocks {
        &self.blocks[id.index as usize]
    }

    /// Ends a packet's life; shows it, with the blocks of its segment if that has some, until the next one takes its
    /// place.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> (&Packet, &SackBlocks) {
        self.free(id);
        let index = id.index as usize;
        (&self.packets[index], &self.blocks[index])
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

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<Packet>() + size_of::<SackBlocks>() + size_of::<DelaySplit>();
        let own = self.packets.capacity() * each + self.free.capacity() * size_of::<u32>();
        own + self.datagrams.iter().map(|bytes| size_of::<Vec<u8>>() + bytes.capacity()).sum::<usize>()
    }

    /// Most packets in flight at a time so far.
    #[inline]
    pub(crate) const fn most(&self) -> usize {
        self.packets.len()
    }

    /// Packets in flight now.
    pub(crate) fn in_flight(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_packet_fits_into_a_line_of_a_cache() {
        assert_eq!(size_of::<super::Packet>(), 64);
    }
}
