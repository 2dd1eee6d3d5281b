//! Many lines of packets in one slab, so that a shared limit, and dropping from either end of any
//! line, cost the same for one line and for a thousand. A line is a sub-flow.

use crate::store::waiting::Waiting;
use crate::{Backlog, Held};
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Packets, SubFlow};

/// No slot.
const NONE: u32 = u32::MAX;

/// Packets in numbered lines.
#[derive(Clone, Debug)]
pub struct Bins {
    lines: Vec<Line>,
    slots: Vec<Slot>,
    /// First slot without a packet; they are chained by `next`.
    free: u32,
    bytes: u64,
    packets: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    oldest: u32,
    newest: u32,
    packets: u32,
    bytes: u64,
}

/// Bytes of a line without packets.
pub(crate) const LINE_BYTES: usize = size_of::<Line>();

/// A packet's place, its parts side by side so that they are written and read without a copy of the
/// whole.
#[derive(Clone, Debug)]
struct Slot {
    /// `None` in a free slot.
    item: Option<PacketHandle>,
    meta: Meta,
    enqueued_at: Instant,
    /// The slot behind this one in its line.
    next: u32,
    /// The slot in front of this one.
    before: u32,
}

impl Bins {
    /// Empty lines. The slab grows to the largest backlog and is never shrunk.
    pub(crate) fn new(lines: u32) -> Self {
        let empty = Line { oldest: NONE, newest: NONE, packets: 0, bytes: 0 };
        Self { lines: alloc::vec![empty; lines as usize], slots: Vec::new(), free: NONE, bytes: 0, packets: 0 }
    }

    /// Number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Put a packet at the end of a line.
    #[inline]
    pub(crate) fn push(&mut self, line: usize, packet: Held) {
        let length = u64::from(packet.meta.length);
        let place = &mut self.lines[line];
        place.bytes += length;
        place.packets += 1;
        self.bytes += length;
        self.packets += 1;
        let before = place.newest;
        let slot = if self.free == NONE {
            let slot = u32::try_from(self.slots.len()).expect("2^32 packets do not fit into memory");
            self.slots.push(Slot {
                item: Some(packet.item),
                meta: packet.meta,
                enqueued_at: packet.enqueued_at,
                next: NONE,
                before,
            });
            slot
        } else {
            let slot = self.free;
            let reused = &mut self.slots[slot as usize];
            self.free = reused.next;
            reused.item = Some(packet.item);
            reused.meta = packet.meta;
            reused.enqueued_at = packet.enqueued_at;
            reused.next = NONE;
            reused.before = before;
            slot
        };
        place.newest = slot;
        if before == NONE {
            place.oldest = slot;
        } else {
            self.slots[before as usize].next = slot;
        }
    }

    /// Take the newest packet of a line.
    pub(crate) fn pop_newest(&mut self, line: usize) -> Option<Held> {
        let slot = self.lines[line].newest;
        let before = self.slots.get(slot as usize)?.before;
        self.lines[line].newest = before;
        if before == NONE {
            self.lines[line].oldest = NONE;
        } else {
            self.slots[before as usize].next = NONE;
        }
        self.release(line, slot)
    }

    /// Empty a slot that is no longer chained into `line`.
    #[inline]
    fn release(&mut self, line: usize, slot: u32) -> Option<Held> {
        let freed = &mut self.slots[slot as usize];
        freed.next = self.free;
        self.free = slot;
        let packet = Held {
            item: freed.item.take()?,
            meta: freed.meta,
            enqueued_at: freed.enqueued_at,
            sub_flow: SubFlow::number(line),
        };
        let length = u64::from(packet.meta.length);
        let line = &mut self.lines[line];
        line.bytes -= length;
        line.packets -= 1;
        self.bytes -= length;
        self.packets -= 1;
        Some(packet)
    }

    /// Packets in a line.
    #[inline]
    pub(crate) fn packets_in(&self, line: usize) -> u32 {
        self.lines[line].packets
    }
}

impl Waiting for Bins {
    #[inline]
    fn pop(&mut self, line: usize) -> Option<Held> {
        let slot = self.lines[line].oldest;
        let next = self.slots.get(slot as usize)?.next;
        self.lines[line].oldest = next;
        if next == NONE {
            self.lines[line].newest = NONE;
        } else {
            self.slots[next as usize].before = NONE;
        }
        self.release(line, slot)
    }

    #[inline]
    fn head(&self, line: usize) -> Option<(&Meta, Instant)> {
        let slot = self.slots.get(self.lines[line].oldest as usize)?;
        Some((&slot.meta, slot.enqueued_at))
    }

    #[inline]
    fn is_empty(&self, line: usize) -> bool {
        self.lines[line].oldest == NONE
    }

    #[inline]
    fn bytes_in(&self, line: usize) -> u64 {
        self.lines[line].bytes
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes(self.bytes), packets: Packets(self.packets) }
    }

    #[inline]
    fn has_one(&self, line: usize) -> bool {
        self.packets_in(line) <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(item: u32) -> Held {
        let meta = Meta { length: item % 1500 + 1, ..Meta::default() };
        Held::new(Instant::ZERO, meta, PacketHandle(item.into()))
    }

    proptest! {
        #[test]
        fn lines_behave_like_separate_deques(steps in prop::collection::vec((0..3_usize, 0..4_u8), 0..400)) {
            let mut bins = Bins::new(3);
            let mut model: [VecDeque<u32>; 3] = Default::default();
            for (item, (line, step)) in (0..).zip(steps) {
                match step {
                    0 | 1 => {
                        bins.push(line, packet(item));
                        model[line].push_back(item);
                    }
                    2 => {
                        let taken = bins.pop(line).map(|packet| packet.item);
                        prop_assert_eq!(taken, model[line].pop_front().map(|n| PacketHandle(n.into())));
                    }
                    _ => {
                        let taken = bins.pop_newest(line).map(|packet| packet.item);
                        prop_assert_eq!(taken, model[line].pop_back().map(|n| PacketHandle(n.into())));
                    }
                }
                let bytes = |line: &VecDeque<u32>| line.iter().map(|n| u64::from(n % 1500 + 1)).sum::<u64>();
                for (line, expected) in model.iter().enumerate() {
                    prop_assert_eq!(bins.is_empty(line), expected.is_empty());
                    prop_assert_eq!(bins.bytes_in(line), bytes(expected));
                    prop_assert_eq!(bins.packets_in(line) as usize, expected.len());
                }
                prop_assert_eq!(bins.backlog().bytes.0, model.iter().map(bytes).sum::<u64>());
            }
        }
    }

    #[test]
    fn freed_slots_are_used_again() {
        let mut bins = Bins::new(2);
        for round in 0..100 {
            bins.push(0, packet(round));
            bins.push(1, packet(round));
            let _ = (bins.pop(0), bins.pop_newest(1));
        }
        assert_eq!(bins.slots.len(), 2);
    }
}
