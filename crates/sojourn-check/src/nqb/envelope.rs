//! The sender's rule: in every interval T no more than R T and one packet of the largest size.
//!
//! All of it is exact: bytes and picoseconds in whole numbers. After each packet, a bucket that leaks at R holds the most bytes
//! beyond R T of all intervals that end there. So one pass finds the worst interval.
//!
//! Source: RFC 9956, section on senders (in the draft: at most 1 % of the path's capacity, one MTU at once).
//! Deviations: none known.

use sojourn_base::{BitRate, Span, TimedPacket};

/// Units of a bucket in a byte: a bit a second leaks or fills one of them in a picosecond.
pub(super) const UNITS: u128 = 8_000_000_000_000;

/// Bytes beyond a rate, at worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Most bytes of any interval beyond the rate, rounded up.
    pub most_bytes: u64,
    /// Start of the worst interval.
    pub from: Span,
    /// End of the worst interval.
    pub to: Span,
    /// Packets at which some interval ends that has more than the allowed bytes.
    pub beyond: u64,
}

impl Envelope {
    /// Returns true if no interval has more than one packet of the largest size beyond the rate.
    pub const fn holds(&self) -> bool {
        self.beyond == 0
    }
}

/// The worst interval of `packets`, which are in order, at `rate`; `allowed` bytes may come at once.
pub fn envelope(packets: &[TimedPacket], rate: BitRate, allowed: u32) -> Envelope {
    let mut found = Envelope::default();
    let (mut level, mut most, mut began, mut last) = (0_u128, 0, Span::ZERO, Span::ZERO);
    for packet in packets {
        let passed = packet.at.saturating_sub(last).as_ps();
        let leaked = u128::from(passed) * u128::from(rate.as_bps());
        if level <= leaked {
            (level, began) = (0, packet.at);
        } else {
            level -= leaked;
        }
        last = packet.at;
        level += u128::from(packet.length) * UNITS;
        found.beyond += u64::from(level > u128::from(allowed) * UNITS);
        if level > most {
            most = level;
            (found.from, found.to) = (began, packet.at);
        }
    }
    found.most_bytes = u64::try_from(most.div_ceil(UNITS)).unwrap_or(u64::MAX);
    found
}

/// The least rate at which the rule holds, to 1 b/s; `None` if it holds at no rate, because more than `allowed` bytes come
/// at once.
pub fn least_rate(packets: &[TimedPacket], allowed: u32) -> Option<BitRate> {
    let holds = |bps: u64| envelope(packets, BitRate::from_bps(bps), allowed).holds();
    let at_once = packets.chunk_by(|one, next| one.at == next.at);
    let sum = |group: &[TimedPacket]| -> u64 { group.iter().map(|packet| u64::from(packet.length)).sum() };
    if at_once.into_iter().any(|group| sum(group) > u64::from(allowed)) {
        return None;
    }
    if holds(0) {
        return Some(BitRate::ZERO);
    }
    let (mut low, mut high) = (0_u64, 1_u64);
    while !holds(high) {
        low = high;
        high = high.checked_mul(2)?;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(BitRate::from_bps(high))
}

/// Packets that come closer than a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Start of the burst.
    pub at: Span,
    /// How long it lasts.
    pub length: Span,
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

/// The bursts of `packets`: those that follow one another closer than `gap`.
pub fn bursts(packets: &[TimedPacket], gap: Span) -> Vec<Burst> {
    let groups = packets.chunk_by(|one, next| next.at.saturating_sub(one.at) < gap);
    let burst = |group: &[TimedPacket]| {
        let (first, last) = (group.first()?, group.last()?);
        Some(Burst {
            at: first.at,
            length: last.at.saturating_sub(first.at),
            bytes: group.iter().map(|packet| u64::from(packet.length)).sum(),
            packets: group.len() as u64,
        })
    };
    groups.filter_map(burst).collect()
}
