//! Joined writes: consecutive segments of a flow that are due together, written as the one superpacket that the generic
//! receive offload of a kernel would have made of them.
//!
//! Source: Linux, `net/ipv4/tcp_offload.c`, `tcp_gro_receive`, and RFC 9293 for the fields: what is joined has the same
//! headers but for length, identification and checksums, follows byte by byte, and is as long as the first but for the last.
//! Deviations: only segments whose checksum is not complete, as the stack of a TUN device sends them: a complete one would be
//! taken for right unverified. A joined packet that asks for a push ends its group, as in the kernel.

use super::{TCP_CHECKSUM, half, pseudo_header_sum, write_lengths};
use crate::emulated::Due;
use crate::frame::{Carries, Frames};
use crate::headers::{Packet, TcpFlags, Transport};
use crate::segment::{Gso, LONGEST_HEADERS, Offload};
use sojourn_base::Address;
use std::io::IoSlice;

/// Most segments of a group. chosen: 65,535 B in segments of 1000 B.
pub(crate) const MOST_JOINED: usize = 64;

/// Groups at a time; with one more, the first is written. chosen: flows that are due within one pass of 50 µs, at 1 Gb/s four
/// packets of full size.
const MOST_GROUPS: usize = 16;

/// Longest IP packet, by the 16 bits of its length.
const LONGEST: usize = 65_535;

/// Segments of one flow that are written together.
#[derive(Debug)]
pub(crate) struct Group {
    flow: u32,
    /// Behind its last byte; `None` if nothing may follow.
    next: Option<u32>,
    /// Payload of its first segment.
    size: usize,
    /// Bytes of the joined IP packet.
    length: usize,
    pub(crate) members: Vec<Due>,
}

/// Groups that wait for the end of a pass, in the order of their first segments.
#[derive(Debug)]
pub(crate) struct Joiner {
    link_header: usize,
    groups: Vec<Group>,
    spare: Vec<Group>,
}

impl Joiner {
    pub(crate) fn new(link_header: usize) -> Self {
        let group = || Group { flow: 0, next: None, size: 0, length: 0, members: Vec::with_capacity(MOST_JOINED) };
        Self {
            link_header,
            groups: Vec::with_capacity(MOST_GROUPS),
            spare: std::iter::repeat_with(group).take(MOST_GROUPS).collect(),
        }
    }

    /// Takes a packet that is due. Returns a group that has to be written before it may be offered again: the one of its flow
    /// that it does not continue, or the first one if there are too many.
    pub(crate) fn offer(&mut self, frames: &Frames, due: Due) -> Option<Group> {
        let frame = frames.get(due.slot);
        let flow = match frame.carries {
            Carries::Segment { flow: Some(flow), .. } => flow,
            // Of no flow that is followed: each is a group of its own, of a number that no flow has.
            Carries::Segment { .. } | Carries::Datagram { .. } => u32::MAX,
        };
        let joinable = Joinable::read(frames, due.slot, self.link_header);
        if let Some(at) = self.groups.iter().position(|group| group.flow == flow) {
            let group = &mut self.groups[at];
            if let Some(joinable) = &joinable
                && group.continues(frames, self.link_header, joinable)
            {
                group.take(joinable, due);
                return None;
            }
            return Some(self.groups.remove(at));
        }
        let Some(mut group) = self.spare.pop() else {
            return Some(self.groups.remove(0));
        };
        (group.flow, group.next, group.size, group.length) = (flow, None, 0, 0);
        match &joinable {
            Some(joinable) => {
                (group.size, group.length) = (joinable.payload(), joinable.payload_at());
                group.take(joinable, due);
            }
            None => group.members.push(due),
        }
        self.groups.push(group);
        None
    }

    /// The first group that waits.
    pub(crate) fn next(&mut self) -> Option<Group> {
        (!self.groups.is_empty()).then(|| self.groups.remove(0))
    }

    /// Room for another one.
    pub(crate) fn give_back(&mut self, mut group: Group) {
        group.members.clear();
        self.spare.push(group);
    }

    /// Hands what a group is as a packet to `write`: what is left to do on it, and its parts.
    pub(crate) fn write<T>(
        &self,
        frames: &Frames,
        group: &Group,
        write: impl FnOnce(Offload, &[IoSlice<'_>]) -> T,
    ) -> T {
        let (first, last) = (group.members[0].slot, group.members[group.members.len() - 1].slot);
        let bytes = frames.bytes(first);
        let offload = frames.get(first).offload;
        let header = self.link_header;
        let read = bytes.get(header..).and_then(Packet::read);
        let (Some(packet), true) = (read, group.members.len() > 1) else {
            return write(offload, &[IoSlice::new(bytes)]);
        };
        let Transport::Tcp(tcp) = packet.transport else {
            return write(offload, &[IoSlice::new(bytes)]);
        };
        let payload_at = header + tcp.payload_at;
        let mut scratch = [0; LONGEST_HEADERS];
        let headers = &mut scratch[..payload_at];
        headers.copy_from_slice(&bytes[..payload_at]);
        let ip = &mut headers[header..];
        write_lengths(ip, &packet, group.length - ip.len(), 0);
        let transport = group.length - packet.transport_at;
        let sum = pseudo_header_sum(&packet, transport).to_be_bytes();
        let tcp_header = &mut ip[packet.transport_at..];
        let at = usize::from(TCP_CHECKSUM);
        tcp_header[at..at + 2].copy_from_slice(&sum);
        // Both are as long: the last one's flags stand where the first one's do.
        tcp_header[13] |= frames.bytes(last)[header + packet.transport_at + 13];
        let mut parts = [IoSlice::new(&[]); MOST_JOINED + 1];
        parts[0] = IoSlice::new(headers);
        for (part, member) in parts[1..].iter_mut().zip(&group.members) {
            let frame = frames.bytes(member.slot);
            let end = header + ip_length(&frame[header..]);
            *part = IoSlice::new(&frame[payload_at..end]);
        }
        let offload = Offload {
            gso: match packet.flow.source {
                Address::V4(_) => Gso::Tcp4,
                Address::V6(_) => Gso::Tcp6,
            },
            header_length: half(payload_at),
            segment_size: half(group.size),
            ..offload
        };
        write(offload, &parts[..=group.members.len()])
    }
}

/// Bytes of an IP packet by its own header; what follows is padding.
fn ip_length(packet: &[u8]) -> usize {
    let word = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    if packet[0] >> 4 == 4 { word(2) } else { 40 + word(4) }
}

/// A segment that may be part of a group.
struct Joinable {
    packet: Packet,
    slot: u32,
}

impl Joinable {
    fn read(frames: &Frames, slot: u32, link_header: usize) -> Option<Self> {
        let offload = frames.get(slot).offload;
        let bytes = frames.bytes(slot).get(link_header..)?;
        let packet = Packet::read(bytes)?;
        let Transport::Tcp(tcp) = packet.transport else {
            return None;
        };
        let allowed = TcpFlags::ACK.and(TcpFlags::PSH);
        let is_plain = tcp.flags.any(TcpFlags::ACK) && tcp.flags.without(allowed) == TcpFlags(0);
        let start = usize::from(offload.checksum_start);
        let is_partial = offload.needs_checksum
            && offload.gso == Gso::None
            && start == link_header + packet.transport_at
            && offload.checksum_offset == TCP_CHECKSUM;
        let fits = link_header + tcp.payload_at <= LONGEST_HEADERS;
        (is_plain && is_partial && fits && tcp.payload > 0).then_some(Self { packet, slot })
    }

    fn tcp(&self) -> (u32, usize, TcpFlags) {
        match self.packet.transport {
            Transport::Tcp(tcp) => (tcp.sequence, tcp.payload, tcp.flags),
            _ => (0, 0, TcpFlags(0)),
        }
    }

    fn payload(&self) -> usize {
        self.tcp().1
    }

    fn payload_at(&self) -> usize {
        self.packet.length - self.payload()
    }
}

impl Group {
    /// Returns true if a segment is the next of this group.
    fn continues(&self, frames: &Frames, link_header: usize, joinable: &Joinable) -> bool {
        let (sequence, payload, _) = joinable.tcp();
        let fits = payload <= self.size && self.length + payload <= LONGEST && self.members.len() < MOST_JOINED;
        if self.next != Some(sequence) || !fits {
            return false;
        }
        let number = self.members.len();
        let first = &frames.bytes(self.members[0].slot)[link_header..];
        let other = &frames.bytes(joinable.slot)[link_header..];
        let end = joinable.payload_at();
        if first.len() < end {
            return false;
        }
        let transport = joinable.packet.transport_at;
        let same = |from: usize, to: usize| first[from..to] == other[from..to];
        let same_ip = match joinable.packet.flow.source {
            Address::V4(_) => {
                let identification = |ip: &[u8]| u16::from_be_bytes([ip[4], ip[5]]);
                let is_counted = identification(other) == identification(first).wrapping_add(half(number));
                let is_fixed = other[6] & 0x40 != 0 && same(4, 6);
                // Neither more fragments nor an offset.
                let is_whole = other[6..8] == [0x40, 0] || other[6..8] == [0, 0];
                (is_counted || is_fixed) && is_whole && same(0, 2) && same(6, 10) && same(12, transport)
            }
            Address::V6(_) => same(0, 4) && same(6, transport),
        };
        // Ports; acknowledgement and length of the header; window; urgent pointer and options.
        same_ip
            && same(transport, transport + 4)
            && same(transport + 8, transport + 13)
            && same(transport + 14, transport + 16)
            && same(transport + 18, end)
    }

    fn take(&mut self, joinable: &Joinable, due: Due) {
        let (sequence, payload, flags) = joinable.tcp();
        self.members.push(due);
        self.length += payload;
        let next = sequence.wrapping_add(u32::try_from(payload).unwrap_or(u32::MAX));
        let is_last = payload < self.size || flags.any(TcpFlags::PSH);
        self.next = (!is_last).then_some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::segment::cut;
    use proptest::prelude::*;
    use sojourn_base::{Direction, Instant, Meta, TrafficId};
    use sojourn_record::DelaySplit;

    /// A superpacket of TCP as a stack hands it over, with a timestamp option, and its offload request.
    fn superpacket(is_v4: bool, payload: usize, size: u16) -> (Offload, Vec<u8>) {
        let mut packet = if is_v4 {
            let mut ip = vec![0x45, 2, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0];
            ip.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            ip
        } else {
            let mut ip = vec![0x60, 0x20, 0, 0, 0, 0, 6, 64];
            ip.extend([0xfd; 16]);
            ip.extend([0xfe; 16]);
            ip
        };
        let at = packet.len();
        packet.extend([0x30, 0x39, 0x13, 0x88, 0xff, 0xff, 0xf0, 0, 0, 0, 0, 9]);
        packet.extend([0x80, 0x10, 1, 0, 0, 0, 0, 0]);
        packet.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
        packet.extend((0..payload).map(|byte| u8::try_from(byte % 251).unwrap()));
        let length = half(packet.len());
        if is_v4 {
            packet[2..4].copy_from_slice(&length.to_be_bytes());
        } else {
            packet[4..6].copy_from_slice(&(length - 40).to_be_bytes());
        }
        let read = Packet::read(&packet).unwrap();
        write_lengths(&mut packet[..at], &Packet { transport_at: at, ..read }, usize::from(length) - at, 0);
        let sum = pseudo_header_sum(&read, usize::from(length) - at);
        packet[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        let offload = Offload {
            needs_checksum: true,
            gso: if is_v4 { Gso::Tcp4 } else { Gso::Tcp6 },
            header_length: half(at + 32),
            segment_size: size,
            checksum_start: half(at),
            checksum_offset: TCP_CHECKSUM,
            ..Offload::default()
        };
        (offload, packet)
    }

    fn insert(frames: &mut Frames, offload: Offload, parts: [&[u8]; 2], flow: u32) -> Due {
        let frame = Frame {
            meta: Meta::default(),
            offload,
            length: 0,
            direction: Direction::Upstream,
            traffic: TrafficId(0),
            entered_at: Instant::ZERO,
            carries: Carries::Segment { payload: parts[1].len(), flow: Some(flow) },
            split: DelaySplit::default(),
        };
        let slot = frames.insert(frame, parts).unwrap();
        Due { at: Instant::ZERO, slot }
    }

    /// Pieces of a superpacket in frames, each changed by `change`.
    fn pieces(
        (offload, unit): &(Offload, Vec<u8>),
        mut change: impl FnMut(usize, &mut Offload, &mut Vec<u8>),
    ) -> (Frames, Vec<Due>) {
        let mut frames = Frames::new(100, 9_100, 0);
        let mut due = Vec::new();
        cut(unit, *offload, 0, |mut offload, headers, payload| {
            let mut piece = [headers, payload].concat();
            change(due.len(), &mut offload, &mut piece);
            due.push(insert(&mut frames, offload, [&piece, &[]], 7));
        });
        (frames, due)
    }

    /// Returns the units written for packets that are offered in this order.
    fn written(frames: &Frames, due: &[Due]) -> Vec<(Offload, Vec<u8>)> {
        let mut joiner = Joiner::new(0);
        let mut all = Vec::new();
        let mut write = |joiner: &mut Joiner, group: Group| {
            let unit = joiner.write(frames, &group, |offload, parts| {
                let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
                (offload, bytes)
            });
            all.push(unit);
            joiner.give_back(group);
        };
        for due in due {
            while let Some(group) = joiner.offer(frames, *due) {
                write(&mut joiner, group);
            }
        }
        while let Some(group) = joiner.next() {
            write(&mut joiner, group);
        }
        all
    }

    proptest! {
        /// The whole of a superpacket is its pieces again, of either family.
        #[test]
        fn what_was_cut_is_joined_to_the_same_bytes(
            is_v4 in any::<bool>(),
            size in 100_u16..1_448,
            count in 2_usize..40,
            rest in 1_usize..100,
        ) {
            let whole = superpacket(is_v4, usize::from(size) * (count - 1) + rest, size);
            let (frames, due) = pieces(&whole, |_, _, _| {});
            prop_assert_eq!(due.len(), count);
            prop_assert_eq!(written(&frames, &due), vec![whole]);
        }
    }

    /// Three segments of 1000 B with the second one changed: the group ends before it, and no group is left that the kernel
    /// would not have made.
    #[test]
    fn what_differs_in_a_header_is_not_joined() {
        type Change = fn(&mut Offload, &mut Vec<u8>);
        let changes: [(&str, Change); 9] = [
            ("congestion mark", |_, packet| packet[1] |= 3),
            ("hops", |_, packet| packet[8] -= 1),
            ("acknowledgement", |_, packet| packet[31] += 1),
            ("window", |_, packet| packet[34] += 1),
            ("timestamp", |_, packet| packet[47] += 1),
            ("sequence", |_, packet| packet[27] ^= 1),
            ("end of data", |_, packet| packet[33] |= TcpFlags::FIN.0),
            ("window reduced", |_, packet| packet[33] |= TcpFlags::CWR.0),
            ("complete checksum", |offload, _| {
                offload.needs_checksum = false;
            }),
        ];
        let whole = superpacket(true, 3_000, 1_000);
        for (what, change) in changes {
            let (frames, due) = pieces(&whole, |number, offload, packet| {
                if number == 1 {
                    change(offload, packet);
                }
            });
            let units = written(&frames, &due);
            assert_eq!(units.len(), 3, "{what}");
            assert!(units.iter().all(|(offload, _)| offload.gso == Gso::None), "{what}");
        }
    }

    #[test]
    fn nothing_follows_a_push_or_a_shorter_segment() {
        let whole = superpacket(true, 3_000, 1_000);
        let (frames, due) = pieces(&whole, |number, _, packet| {
            if number == 1 {
                packet[33] |= TcpFlags::PSH.0;
            }
        });
        let units = written(&frames, &due);
        let lengths: Vec<usize> = units.iter().map(|(_, unit)| unit.len()).collect();
        assert_eq!(lengths, [2_052, 1_052]);
        assert_eq!(units[0].1[33], 0x18, "the push of the last stays");
    }

    #[test]
    fn flows_that_interleave_are_joined_each_for_itself() {
        let whole = superpacket(true, 4_000, 1_000);
        let mut frames = Frames::new(100, 1_100, 0);
        let mut due: Vec<[Due; 2]> = Vec::new();
        cut(&whole.1, whole.0, 0, |offload, headers, payload| {
            let mut other = headers.to_vec();
            other[21] ^= 1; // its port
            let first = insert(&mut frames, offload, [headers, payload], 7);
            due.push([first, insert(&mut frames, offload, [&other, payload], 8)]);
        });
        let units = written(&frames, &due.concat());
        let lengths: Vec<usize> = units.iter().map(|(_, unit)| unit.len()).collect();
        assert_eq!(lengths, [4_052, 4_052]);
    }
}
