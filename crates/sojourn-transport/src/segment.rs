//! Segments between two endpoints.

use sojourn_base::{Ecn, Instant};

/// Control bits of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// Opens a connection.
    pub const SYN: Self = Self(1);
    /// The sender has no more data after this segment.
    pub const FIN: Self = Self(2);
    /// `acknowledgement` is valid.
    pub const ACK: Self = Self(4);
    /// ECN echo.
    pub const ECE: Self = Self(8);
    /// Congestion window reduced.
    pub const CWR: Self = Self(16);
    /// Reports a duplicate (RFC 2883), on an acknowledgement without data.
    pub const DSACK: Self = Self(32);
    /// Last segment of a superpacket, which is acknowledged at once. On segments with data; the bit is [`Self::DSACK`] on
    /// acknowledgements without.
    pub const PSH: Self = Self(32);
    /// Opaque to the path (QUIC).
    pub const ENCRYPTED: Self = Self(64);
    /// Stands for a datagram of a library, whose bytes travel beside it.
    pub const DATAGRAM: Self = Self(128);

    /// Both sets of bits.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if a bit of `other` is set.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Up to three SACK blocks `[first, last + 1)` of segment numbers, the newest first (RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    count: u8,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); 3], count: 0 };

    /// Append a block if there is room.
    pub fn push(&mut self, first: u32, end: u32) {
        if usize::from(self.count) < self.blocks.len() {
            self.blocks[usize::from(self.count)] = (first, end);
            self.count += 1;
        }
    }

    /// The blocks, newest first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// The blocks, newest first, and empty ones at the end.
    pub(crate) const fn places(&self) -> [(u32, u32); 3] {
        self.blocks
    }

    /// Number of blocks.
    pub const fn len(&self) -> u8 {
        self.count
    }

    /// True without any block.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Times of writing and first sending of a segment's data: its sender's share of the delay. Not on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendTimes {
    /// Time at which the application wrote the first byte (for a source without end: of its first sending).
    pub written_at: Instant,
    /// Time of the segment's first sending.
    pub first_sent_at: Instant,
}

impl SendTimes {
    /// Those of a segment that is sent as soon as there is a reason to.
    pub const fn all_at(now: Instant) -> Self {
        Self { written_at: now, first_sent_at: now }
    }
}

/// A TCP segment, or a QUIC packet in its place (see [`crate::Endpoint`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment in its direction, 0 for the first data segment; see the crate's pages for
    /// SYN and FIN.
    pub sequence: u32,
    /// Next segment number expected from the peer.
    pub acknowledgement: u32,
    /// Bytes of application data.
    pub payload: u32,
    /// Bytes of the IP packet.
    pub length: u32,
    /// Time of this copy's sending (the time stamp option).
    pub sent_at: Instant,
    /// `sent_at` of the segment that this one acknowledges; [`Instant::NEVER`] without one.
    pub echo: Instant,
    /// One-way delay of the acknowledged segment as its receiver saw it, in picoseconds (LEDBAT).
    pub one_way_delay_ps: u64,
    /// Control bits.
    pub flags: Flags,
    /// ECN field of its IP packet: that of the sender where it is emitted, and that of the path where it arrives.
    pub ecn: Ecn,
    /// Marked segments that have arrived, modulo 2^16; starts at 5 (AccECN, RFC 9768 section 3.2.2).
    pub marks: u16,
    /// Selective acknowledgement.
    pub sack: SackBlocks,
}

impl Segment {
    /// It stands in the sequence: data, SYN or FIN.
    pub(crate) const fn has_place(&self) -> bool {
        self.payload > 0 || self.flags.has(Flags::FIN) || self.flags.has(Flags::SYN)
    }

    /// Returns true for an acknowledgement that reports a duplicate.
    pub(crate) const fn reports_duplicate(&self) -> bool {
        self.payload == 0 && self.flags.has(Flags::DSACK)
    }

    /// Returns true for a segment that only acknowledges, as far as the path can see.
    pub const fn is_pure_ack(&self) -> bool {
        const BITS: u8 = Flags::ACK.0 | Flags::FIN.0 | Flags::SYN.0 | Flags::ENCRYPTED.0;
        self.flags.0 & BITS == Flags::ACK.0 && self.payload == 0
    }
}
