//! What is emulated.

use crate::classify::Entry;
use crate::frame::MOST_FRAME_BYTES;
use sojourn_base::{BitRate, Bytes, Direction, Limit, PerDirection, Seed, Span};
use sojourn_record::RecordConfig;
use sojourn_scenario::DirectedLink;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// One emulation, with every default filled in.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The access link.
    pub access: PerDirection<DirectedLink>,
    /// What lies behind it: one for each address of the far end, at least one. Packets of no known address belong to
    /// the first.
    pub far: Vec<FarEnd>,
    /// Longest IP packet.
    pub mtu: Bytes,
    /// What each packet is charged beyond its IP packet.
    pub overhead: Bytes,
    /// Of the draws of the link and its managers, and of the hashes of flows.
    pub seed: Seed,
    /// What is written down.
    pub record: RecordConfig,
    /// Entries that say which real packets are theirs; `tcp`, `udp` and `other` are added behind them.
    pub entries: Vec<Entry>,
    /// Bytes of the link-layer header before each IP packet: 0 between TUN devices, 14 between interfaces.
    pub link_header: usize,
}

/// What a plan asks for and nobody can give: a sentence, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Both rates together may not be more than this (specification of the emulator, section 10).
const MOST_RATE: BitRate = BitRate::from_mbps(2_000);

/// Frames that are always there. chosen: a window of 64 KiB for each of a hundred connections.
const LEAST_FRAMES: u64 = 4_096;

/// So many times the frames that full-size packets need are there, because most packets are shorter. chosen: a mean of
/// 375 B, that of a game or a call.
const ROOM_FOR_SHORT_ONES: u64 = 4;

impl Plan {
    /// Both rates together.
    pub fn rate(&self) -> BitRate {
        let bps =
            Direction::BOTH.map(|direction| self.access[direction].link.drain_rate().as_bps());
        BitRate::from_bps(bps[0].saturating_add(bps[1]))
    }

    /// Whether all this can be emulated: how many frames may be on their way at a time.
    ///
    /// # Errors
    /// Rates above 2 Gb/s in sum; packets that do not fit through a token bucket; more on its way than fits into the
    /// memory of frames.
    pub fn check(&self) -> Result<usize, Refusal> {
        if self.rate() > MOST_RATE {
            return Err(Refusal {
                message: format!(
                    "both rates together are {}, and more than {MOST_RATE} cannot be emulated",
                    self.rate()
                ),
                hint: "lower the rates of the access link".to_owned(),
            });
        }
        let longest = self.mtu + self.overhead;
        for direction in Direction::BOTH {
            let link = &self.access[direction];
            let charged = u32::try_from(longest.0).unwrap_or(u32::MAX);
            let charged = Bytes(link.framing.charged(charged).into());
            if let Some((key, depth)) = link.link.bucket()
                && charged > depth
            {
                let direction = direction.as_str();
                return Err(Refusal {
                    message: format!(
                        "packets of {} are charged {charged}, and never fit into access.{direction}.{key}, which holds {depth}",
                        self.mtu
                    ),
                    hint: "lower emulate.mtu, or make the bucket deeper".to_owned(),
                });
            }
        }
        let frame = self.mtu.0 + self.link_header as u64;
        let needed = Direction::BOTH.iter().fold(0_u64, |sum, direction| {
            sum.saturating_add(self.frames_on_their_way(*direction))
        });
        let most = MOST_FRAME_BYTES as u64 / frame;
        if needed > most {
            return Err(Refusal {
                message: format!(
                    "queues and round trips hold up to {needed} packets of {}, and there is room for {most}",
                    self.mtu
                ),
                hint: "lower queue limits, round-trip times or rates".to_owned(),
            });
        }
        let frames = needed.saturating_mul(ROOM_FOR_SHORT_ONES);
        let frames = frames.clamp(LEAST_FRAMES.min(most), most);
        Ok(usize::try_from(frames).unwrap_or(usize::MAX))
    }

    /// Full-size packets that wait or are on a wire at most: the queue's limit, and what the rate carries within the link's
    /// delay and the longest round trip.
    fn frames_on_their_way(&self, direction: Direction) -> u64 {
        let link = &self.access[direction];
        let rate = link.link.drain_rate();
        let in_queue = match link.link.queue.clone().at(rate).limit() {
            Some(Limit::Packets(packets)) => packets.0.into(),
            Some(Limit::Bytes(bytes)) => bytes.0 / self.mtu.0,
            Some(Limit::Time(_)) | None => 0,
        };
        let rtt = self.far.iter().map(|far| far.rtt).max();
        let on_wires = rate.bytes_in(link.propagation() + rtt.unwrap_or(Span::ZERO));
        in_queue + on_wires.0 / self.mtu.0 + 1
    }
}

/// One address of the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address.
    pub v6: Ipv6Addr,
    /// Base round trip to it, the propagation of the access link included.
    pub rtt: Span,
    /// Line between the access network and it.
    pub line_rate: BitRate,
}

impl FarEnd {
    /// Most of them (specification of the emulator, section 10).
    pub const MOST: usize = 16;

    /// Addresses of the far end with this number, from 0: 100.64.0.1 and fd73:6f6a::1; of further ones 100.64.0.3 and
    /// fd73:6f6a::3 and so on, because 2 is the inside.
    ///
    /// chosen: shared address space (RFC 6598), which no host has of its own, and a random unique local prefix (RFC 4193).
    pub const fn addresses(number: u8) -> (Ipv4Addr, Ipv6Addr) {
        let last = if number == 0 { 1 } else { number + 2 };
        Self::addresses_ending_in(last)
    }

    /// Propagation between the access link and this address, one way: half of what the access link, with `propagation`
    /// both ways, leaves of the round trip.
    pub fn wire_delay(&self, propagation: Span) -> Span {
        self.rtt.saturating_sub(propagation) / 2
    }

    /// Addresses of the inside.
    pub const INSIDE: (Ipv4Addr, Ipv6Addr) = Self::addresses_ending_in(2);

    const fn addresses_ending_in(last: u8) -> (Ipv4Addr, Ipv6Addr) {
        (
            Ipv4Addr::new(100, 64, 0, last),
            Ipv6Addr::new(0xfd73, 0x6f6a, 0, 0, 0, 0, 0, last as u16),
        )
    }
}
