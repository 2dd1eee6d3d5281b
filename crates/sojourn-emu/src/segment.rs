//! What a kernel says beside a packet: which checksum is missing, and whether it stands for several segments.
//!
//! Source: Virtual I/O Device (VIRTIO) 1.2, 5.1.6 (`virtio_net_hdr`); `linux/virtio_net.h` for `VIRTIO_NET_HDR_GSO_UDP_L4`.
//! Deviations: without `num_buffers`, as TUN devices and packet sockets have it; words in the order of the machine (the
//! legacy interface, their default).

/// How a superpacket is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gso {
    /// It is one packet.
    #[default]
    None,
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP over either; each piece is a datagram.
    Udp,
}

/// What is left to do on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The transport checksum is not complete: its field holds the sum over the pseudo-header, and the sum from
    /// `checksum_start` to the end of the packet belongs at `checksum_start + checksum_offset`.
    pub needs_checksum: bool,
    /// The checksum has been verified.
    pub is_valid: bool,
    /// How it is cut.
    pub gso: Gso,
    /// A TCP superpacket whose first segment alone carries CWR.
    pub has_cwr: bool,
    /// Bytes of all headers.
    pub header_length: u16,
    /// Payload of each segment but the last.
    pub segment_size: u16,
    /// Where the checksum begins, counted from the first byte.
    pub checksum_start: u16,
    /// Where it belongs, counted from there.
    pub checksum_offset: u16,
}

impl Offload {
    /// Bytes of the header.
    pub const BYTES: usize = 10;

    const NEEDS_CHECKSUM: u8 = 1;
    const IS_VALID: u8 = 2;
    const TCP4: u8 = 1;
    const TCP6: u8 = 4;
    const UDP: u8 = 5;
    const ECN: u8 = 0x80;

    /// What the header of a packet says; `None` if it says what nobody has offered to understand.
    pub fn read(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [flags, kind, ref words @ ..] = bytes;
        let word = |at: usize| u16::from_ne_bytes([words[at], words[at + 1]]);
        let gso = match kind & !Self::ECN {
            0 => Gso::None,
            Self::TCP4 => Gso::Tcp4,
            Self::TCP6 => Gso::Tcp6,
            Self::UDP => Gso::Udp,
            _ => return None,
        };
        Some(Self {
            needs_checksum: flags & Self::NEEDS_CHECKSUM != 0,
            is_valid: flags & Self::IS_VALID != 0,
            gso,
            has_cwr: kind & Self::ECN != 0,
            header_length: word(0),
            segment_size: word(2),
            checksum_start: word(4),
            checksum_offset: word(6),
        })
    }

    /// The header that says this.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let flags =
            flag(self.needs_checksum, Self::NEEDS_CHECKSUM) | flag(self.is_valid, Self::IS_VALID);
        let kind = match self.gso {
            Gso::None => 0,
            Gso::Tcp4 => Self::TCP4,
            Gso::Tcp6 => Self::TCP6,
            Gso::Udp => Self::UDP,
        } | flag(self.has_cwr, Self::ECN);
        let mut bytes = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [
            self.header_length,
            self.segment_size,
            self.checksum_start,
            self.checksum_offset,
        ];
        for (place, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_from_its_bytes() {
        let offload = Offload {
            needs_checksum: true,
            is_valid: false,
            gso: Gso::Tcp6,
            has_cwr: true,
            header_length: 72,
            segment_size: 1428,
            checksum_start: 40,
            checksum_offset: 16,
        };
        let bytes = offload.to_bytes();
        assert_eq!(bytes[..2], [1, 0x84]);
        assert_eq!(Offload::read(bytes), Some(offload));
        assert_eq!(Offload::read([0; Offload::BYTES]), Some(Offload::default()));
    }

    #[test]
    fn a_way_of_cutting_that_was_not_offered_is_refused() {
        // 3 is fragmentation of UDP, which we never ask for.
        assert_eq!(Offload::read([0, 3, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
