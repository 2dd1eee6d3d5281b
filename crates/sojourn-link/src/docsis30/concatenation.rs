//! Continuous concatenation and fragmentation: packets into grants.
//!
//! A grant is a budget of bytes, not of packets. Bytes leave in order; a grant may begin and end inside a packet, and a
//! packet arrives when its last byte does. Packets that have left the queue manager for the MAC can no longer be
//! dropped or overtaken.
//!
//! Source: White 2012 §2.2.2; White 2013 §3.1.
//! Deviations: the 2012 study sends whole packets on a link whose rate it stretches, so that they arrive at the same
//! times; we compute those times.

use crate::{DelayParts, LinkContext, Passage};
use alloc::collections::VecDeque;
use sojourn_base::{BitRate, Bytes, Instant, Packets, Span};
use sojourn_queue::{Backlog, Held};

/// Packets that have left the queue manager for the MAC, the first of them perhaps sent in part. `W` is what a modem
/// remembers of a packet's way so far.
#[derive(Clone, Debug)]
pub(crate) struct Staging<W> {
    packets: VecDeque<(Held, W)>,
    /// Bytes that are not sent.
    bytes: Bytes,
    /// How much of the first packet has been sent, and since when.
    sent: u64,
    started_at: Instant,
}

/// A grant while it is filled. `F` says when the byte before a place in the grant has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant<F> {
    bytes: Bytes,
    used: Bytes,
    /// Time at which the next byte begins to leave.
    at: Instant,
    left_by: F,
}

/// A packet whose last byte has been sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent<W> {
    pub(crate) packet: Held,
    pub(crate) way: W,
    /// Times at which its first byte began to leave, and its last had left.
    pub(crate) started_at: Instant,
    pub(crate) last_byte_at: Instant,
}

impl<W> Staging<W> {
    pub(crate) const fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: Bytes::ZERO, sent: 0, started_at: Instant::ZERO }
    }

    /// Append a packet.
    #[inline]
    pub(crate) fn push(&mut self, packet: Held, way: W) {
        self.bytes += Bytes(packet.meta.length.into());
        self.packets.push_back((packet, way));
    }

    /// Append a packet, and fill `grant` with it; returns it if that sends it to the end.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        packet: Held,
        way: W,
        grant: &mut Grant<impl Fn(Bytes) -> Instant>,
    ) -> Option<Sent<W>> {
        let length = Bytes(packet.meta.length.into());
        if !self.packets.is_empty() || length > grant.left() {
            self.push(packet, way);
            return self.send(grant);
        }
        let started_at = grant.at;
        grant.fill(length);
        Some(Sent { packet, way, started_at, last_byte_at: grant.at })
    }

    /// Bytes that are not sent.
    pub(crate) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Bytes that are not sent, and the packets they belong to.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: Packets(u32::try_from(self.packets.len()).expect("packets fit a modem")) }
    }

    /// How many packets are not sent to the end.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Fill `grant` up to the end of the next packet, which is returned, or as far as the grant goes.
    #[inline]
    pub(crate) fn send(&mut self, grant: &mut Grant<impl Fn(Bytes) -> Instant>) -> Option<Sent<W>> {
        let (head, _) = self.packets.front()?;
        let left = grant.left();
        if left == Bytes::ZERO {
            return None;
        }
        if self.sent == 0 {
            self.started_at = grant.at;
        }
        let rest = Bytes(u64::from(head.meta.length) - self.sent);
        if rest > left {
            self.sent += left.0;
            self.bytes -= left;
            grant.used = grant.bytes;
            return None;
        }
        self.sent = 0;
        self.bytes -= rest;
        grant.fill(rest);
        let (packet, way) = self.packets.pop_front().expect("the head is there");
        Some(Sent { packet, way, started_at: self.started_at, last_byte_at: grant.at })
    }
}

impl<F: Fn(Bytes) -> Instant> Grant<F> {
    /// A grant of `bytes` that begins at `starts_at`.
    pub(crate) const fn new(starts_at: Instant, bytes: Bytes, left_by: F) -> Self {
        Self { bytes, used: Bytes::ZERO, at: starts_at, left_by }
    }

    /// Returns the unused bytes.
    pub(crate) fn left(&self) -> Bytes {
        self.bytes - self.used
    }

    /// The next `bytes` leave, which it has room for.
    fn fill(&mut self, bytes: Bytes) {
        self.used += bytes;
        self.at = (self.left_by)(self.used);
    }

    /// The end of the used part.
    pub(crate) const fn used(&self) -> Bytes {
        self.used
    }
}

impl<W> Sent<W> {
    /// The time between the first byte and the last, split into framing and the packet's own bits.
    pub(crate) fn on_air(&self, channel: &mut Channel) -> (Span, Span) {
        let on_air = self.last_byte_at.saturating_since(self.started_at);
        // Differences of rounded times may be a picosecond short of the rounded time of the whole.
        let serialisation = channel.time_for(self.packet.meta.length).min(on_air);
        (on_air.saturating_sub(serialisation), serialisation)
    }

    /// Tells `context` that the packet arrives after its delay on the wire.
    pub(crate) fn deliver(
        self,
        dequeued_at: Instant,
        delay: DelayParts,
        wire: Span,
        context: &mut (impl LinkContext + ?Sized),
    ) {
        let arrives_at = self.last_byte_at + wire;
        let passage = Passage::of(&self.packet, dequeued_at, arrives_at, delay);
        context.deliver(self.packet.item, &self.packet.meta, &passage);
    }
}

/// The channel that grants are serialised on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    rate: BitRate,
    /// A length and its time on the channel: most packets are as long as the one before.
    known: (u32, Span),
}

impl Channel {
    pub(crate) const fn new(rate: BitRate) -> Self {
        Self { rate, known: (0, Span::ZERO) }
    }

    pub(crate) const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Time of a whole packet.
    #[inline]
    pub(crate) fn time_for(&mut self, length: u32) -> Span {
        if self.known.0 != length {
            self.known = (length, self.rate.time_for(Bytes(length.into())));
        }
        self.known.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::packet;
    use proptest::prelude::*;
    use sojourn_base::PacketHandle;
    use std::vec::Vec;

    const RATE: BitRate = BitRate::from_mbps(8); // 1 B takes 1 µs

    fn staged(lengths: &[u32]) -> Staging<()> {
        let mut staging = Staging::new();
        for (number, length) in lengths.iter().enumerate() {
            staging.push(Held::new(Instant::ZERO, packet(*length), PacketHandle(number as u64)), ());
        }
        staging
    }

    /// Sends one grant: number, first and last byte in µs of what is completed; what is left of the grant.
    fn send(staging: &mut Staging<()>, at_us: u64, bytes: u64) -> (Vec<[u64; 3]>, u64) {
        let start = Instant::from_us(at_us);
        let mut grant = Grant::new(start, Bytes(bytes), |used| start + RATE.time_for(used));
        let mut done = Vec::new();
        while let Some(sent) = staging.send(&mut grant) {
            let us = |at: Instant| at.as_ns() / 1000;
            done.push([sent.packet.item.0, us(sent.started_at), us(sent.last_byte_at)]);
        }
        (done, grant.left().0)
    }

    #[test]
    fn a_grant_ends_one_packet_carries_others_and_begins_the_next() {
        let mut staging = staged(&[1000, 100, 100, 1000]);
        assert_eq!(send(&mut staging, 0, 600), (std::vec![], 0));
        assert_eq!(staging.backlog(), Backlog { bytes: Bytes(1600), packets: Packets(4) });
        let rows = std::vec![[0, 0, 5_400], [1, 5_400, 5_500], [2, 5_500, 5_600]];
        assert_eq!(send(&mut staging, 5_000, 900), (rows, 0));
        // The last packet began at 5.6 ms; 700 B of the grant find nothing to carry.
        assert_eq!(send(&mut staging, 9_000, 1_400), (std::vec![[3, 5_600, 9_700]], 700));
        assert_eq!(staging.backlog(), Backlog::default());
    }

    #[test]
    fn a_grant_that_ends_with_a_packet_does_not_begin_the_next() {
        let mut staging = staged(&[500, 500]);
        assert_eq!(send(&mut staging, 0, 500), (std::vec![[0, 0, 500]], 0));
        assert_eq!(send(&mut staging, 2_000, 500), (std::vec![[1, 2_000, 2_500]], 0));
    }

    proptest! {
        #[test]
        fn packets_end_where_their_bytes_lie_in_the_stream_of_grants(
            lengths in prop::collection::vec(20..1523_u32, 1..30),
            grants in prop::collection::vec(1..4000_u64, 1..40),
        ) {
            // Literally: each byte leaves in the grant that covers its place in the stream.
            let mut leaves = Vec::new();
            for (number, bytes) in (0_u64..).zip(&grants) {
                leaves.extend((1..=*bytes).map(|place| 10_000 * number + place));
            }
            let mut expected = Vec::new();
            let mut end = 0;
            for (number, length) in (0_u64..).zip(&lengths) {
                let first = end;
                end += *length as usize;
                if end <= leaves.len() {
                    expected.push([number, leaves[first] - 1, leaves[end - 1]]);
                }
            }
            let mut staging = staged(&lengths);
            let mut done = Vec::new();
            for (number, bytes) in (0_u64..).zip(&grants) {
                done.extend(send(&mut staging, 10_000 * number, *bytes).0);
            }
            prop_assert_eq!(done, expected);
        }
    }
}
