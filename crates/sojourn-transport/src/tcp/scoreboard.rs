//! The sender's state of each outstanding segment: acknowledged selectively, lost, sent again.
//!
//! Source: RFC 6675 section 4 (scoreboard), section 2 (`pipe`); RFC 2018 (SACK).
//! A ring of one slot per segment and four bit arrays beside it. All questions are answered from
//! counters, and all updates touch 64 segments at a time, so that a window of ten thousand segments
//! costs an acknowledgement no more than a window of ten.
//! Deviations: reneging is not modelled, except that the whole scoreboard can be forgotten.

mod losses;
mod ring;

use crate::Flags;
use crate::common::delivery_rate::Delivered;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::Instant;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "the name on the wire is sent_at")]
pub(crate) struct Sent {
    /// Time of its latest copy.
    pub(crate) sent_at: Instant,
    /// Time of its first copy.
    pub(crate) first_sent_at: Instant,
    /// Time at which the application wrote its first byte.
    pub(crate) written_at: Instant,
    /// Low half of the stream offset of its first byte.
    pub(crate) offset: u32,
    /// Bytes of application data.
    pub(crate) length: u16,
    /// Copies sent, at most 255.
    pub(crate) transmissions: u8,
    /// SYN and FIN.
    pub(crate) flags: Flags,
}

impl Sent {
    const NONE: Self = Self {
        sent_at: Instant::ZERO,
        first_sent_at: Instant::ZERO,
        written_at: Instant::ZERO,
        offset: 0,
        length: 0,
        transmissions: 0,
        flags: Flags::NONE,
    };

    /// The segment as one that has reached the peer.
    pub(crate) const fn delivered(&self) -> Delivered {
        Delivered { sent_at: self.sent_at, length: self.length, once: self.transmissions == 1 }
    }
}

/// The marks of 64 neighbouring segments.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// Shorter than the maximum segment size.
    short: u64,
}

/// A number of segments and the bytes they fall short of full size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    segments: u32,
    deficit: u32,
}

impl Tally {
    const ZERO: Self = Self { segments: 0, deficit: 0 };

    fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.deficit += other.deficit;
    }

    fn subtract(&mut self, other: Self) {
        self.segments -= other.segments;
        self.deficit -= other.deficit;
    }

    const fn bytes(self, full: u32) -> u32 {
        self.segments * full - self.deficit
    }
}

/// Segments that a cumulative acknowledgement covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered {
    /// Segments, SACKed ones included.
    pub(crate) segments: u32,
    /// Their bytes.
    pub(crate) bytes: u32,
    /// Those of them that had been SACKed before.
    pub(crate) sacked_before: u32,
}

/// The scoreboard of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    slots: Vec<Sent>,
    marks: Vec<Marks>,
    mask: u32,
    full_size: u32,
    first: u32,
    next: u32,
    first_offset: u32,
    next_offset: u32,
    /// Everything outstanding from here on was sent once.
    repeated_below: u32,
    sacked: Tally,
    lost: Tally,
    retransmitted: Tally,
    /// Outstanding segments shorter than full size.
    short: u32,
    /// Lost segments whose retransmission is not outstanding.
    pending: u32,
    /// No lost segment without retransmission lies below.
    pending_hint: u32,
    /// Everything below that is not SACKed has been marked lost by [`Self::mark_lost_below`].
    lost_below: u32,
    /// The three highest SACKed segments plus one, highest first; 0 for none.
    highest: [u32; 3],
    /// SACK blocks of the last acknowledgement, empty ones included: their segments need no second look.
    known: [(u32, u32); 3],
}

/// Slots of a new ring. chosen: one word of marks; an initial window fits many times.
const INITIAL_SLOTS: u32 = 64;

/// Bytes of new rings.
pub(crate) const INITIAL_BYTES: usize = INITIAL_SLOTS as usize * size_of::<Sent>() + size_of::<Marks>();

impl Scoreboard {
    /// An empty scoreboard for segments of up to `full_size` bytes.
    pub(crate) fn new(full_size: u32) -> Self {
        Self {
            slots: vec![Sent::NONE; INITIAL_SLOTS as usize],
            marks: vec![Marks::default(); (INITIAL_SLOTS / 64) as usize],
            mask: INITIAL_SLOTS - 1,
            full_size,
            first: 0,
            next: 0,
            first_offset: 0,
            next_offset: 0,
            repeated_below: 0,
            sacked: Tally::ZERO,
            lost: Tally::ZERO,
            retransmitted: Tally::ZERO,
            short: 0,
            pending: 0,
            pending_hint: 0,
            lost_below: 0,
            highest: [0; 3],
            known: [(0, 0); 3],
        }
    }

    /// Bytes that its rings take.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Sent>() + self.marks.capacity() * size_of::<Marks>()
    }

    /// Forget everything but the memory.
    pub(crate) fn reset(&mut self, full_size: u32) {
        let Self {
            slots: _,
            marks,
            mask: _,
            full_size: size,
            first,
            next,
            first_offset,
            next_offset,
            repeated_below,
            sacked,
            lost,
            retransmitted,
            short,
            pending,
            pending_hint,
            lost_below,
            highest,
            known,
        } = self;
        marks.fill(Marks::default());
        *size = full_size;
        (*first, *next, *first_offset, *next_offset) = (0, 0, 0, 0);
        (*sacked, *lost, *retransmitted) = (Tally::ZERO, Tally::ZERO, Tally::ZERO);
        (*short, *pending, *pending_hint) = (0, 0, 0);
        (*lost_below, *repeated_below) = (0, 0);
        (*highest, *known) = ([0; 3], [(0, 0); 3]);
    }

    /// A new segment is sent; returns its number.
    #[inline]
    pub(crate) fn push(&mut self, segment: Sent) -> u32 {
        if self.next - self.first > self.mask {
            self.double();
        }
        let number = self.next;
        let slot = self.slot_of(number);
        self.slots[slot] = segment;
        if u32::from(segment.length) < self.full_size {
            self.marks[slot >> 6].short |= 1 << (slot & 63);
            self.short += 1;
        }
        self.next = number + 1;
        self.next_offset = segment.offset.wrapping_add(u32::from(segment.length));
        number
    }

    /// The peer has everything below `end`.
    #[inline]
    pub(crate) fn acknowledge(&mut self, end: u32) -> Covered {
        debug_assert!(self.first <= end && end <= self.next);
        let segments = end - self.first;
        let offset = self.offset_of(end);
        let bytes = offset.wrapping_sub(self.first_offset);
        let mut covered = Covered { segments, bytes, sacked_before: 0 };
        if self.has_marks() {
            covered.sacked_before = self.clear_marks_below(end);
        }
        (self.first, self.first_offset) = (end, offset);
        covered
    }

    /// Takes the marks of everything below `end` away; returns how many segments were SACKed.
    fn clear_marks_below(&mut self, end: u32) -> u32 {
        let mut sacked_before = 0;
        let mut at = self.first;
        while at < end {
            let (word, bits, after) = self.word(at, end);
            let marks = self.marks[word];
            let sacked = self.weigh(word, marks.sacked & bits);
            let lost = self.weigh(word, marks.lost & bits);
            let retransmitted = self.weigh(word, marks.retransmitted & bits);
            sacked_before += sacked.segments;
            self.sacked.subtract(sacked);
            self.lost.subtract(lost);
            self.retransmitted.subtract(retransmitted);
            self.pending -= ones(marks.lost & !marks.retransmitted & bits);
            self.short -= ones(marks.short & bits);
            self.marks[word] = Marks {
                sacked: marks.sacked & !bits,
                lost: marks.lost & !bits,
                retransmitted: marks.retransmitted & !bits,
                short: marks.short & !bits,
            };
            at = after;
        }
        sacked_before
    }

    /// The peer has the segments of a SACK block. Calls `newly` for each that it did not report
    /// before, in ascending order, and returns how many those are.
    pub(crate) fn sack(&mut self, first: u32, end: u32, mut newly: impl FnMut(u32, &Sent)) -> u32 {
        let (first, end) = (first.max(self.first), end.min(self.next));
        let overlap =
            self.known.iter().copied().find(|&(known_first, known_end)| known_first < end && first < known_end);
        match overlap {
            None => self.sack_range(first, end, &mut newly),
            Some((known_first, known_end)) => {
                let mut count = 0;
                if first < known_first {
                    count += self.sack_range(first, end.min(known_first), &mut newly);
                }
                if known_end < end {
                    count += self.sack_range(first.max(known_end), end, &mut newly);
                }
                count
            }
        }
    }

    /// Remember the blocks of this acknowledgement.
    pub(crate) const fn remember_blocks(&mut self, blocks: [(u32, u32); 3]) {
        self.known = blocks;
    }

    fn sack_range(&mut self, first: u32, end: u32, newly: &mut impl FnMut(u32, &Sent)) -> u32 {
        let mut count = 0;
        let mut at = first;
        while at < end {
            let (word, bits, after) = self.word(at, end);
            let marks = self.marks[word];
            let new = bits & !marks.sacked;
            if new != 0 {
                let (lost, retransmitted) = (marks.lost & new, marks.retransmitted & new);
                let tallies = [new, lost, retransmitted].map(|bits| self.weigh(word, bits));
                self.sacked.add(tallies[0]);
                self.lost.subtract(tallies[1]);
                self.retransmitted.subtract(tallies[2]);
                self.pending -= ones(lost & !retransmitted);
                let base = at & !63;
                let mut left = new;
                while left != 0 {
                    let number = base + left.trailing_zeros();
                    newly(number, &self.slots[self.slot_of(number)]);
                    self.note_highest(number);
                    left &= left - 1;
                }
                let marks = &mut self.marks[word];
                marks.sacked |= new;
                marks.lost &= !new;
                marks.retransmitted &= !new;
                count += tallies[0].segments;
            }
            at = after;
        }
        count
    }

    fn note_highest(&mut self, number: u32) {
        let mut value = number + 1;
        for place in &mut self.highest {
            if value > *place {
                core::mem::swap(place, &mut value);
            }
        }
    }

    /// Call `visit` for each segment below `end` that is outstanding and not SACKed, in ascending
    /// order: those that a cumulative acknowledgement of `end` delivers.
    pub(crate) fn for_each_undelivered(&self, end: u32, mut visit: impl FnMut(u32, &Sent)) {
        let mut at = self.first;
        while at < end {
            let (word, bits, after) = self.word(at, end);
            let mut left = bits & !self.marks[word].sacked;
            let base = at & !63;
            while left != 0 {
                let number = base + left.trailing_zeros();
                visit(number, &self.slots[self.slot_of(number)]);
                left &= left - 1;
            }
            at = after;
        }
    }

    /// The slot of an outstanding segment.
    pub(crate) fn segment(&self, number: u32) -> &Sent {
        &self.slots[self.slot_of(number)]
    }

    /// Gives further flags to a segment.
    pub(crate) fn add_flags(&mut self, number: u32, flags: Flags) {
        let slot = self.slot_of(number);
        self.slots[slot].flags = self.slots[slot].flags.with(flags);
    }

    /// Lowest unacknowledged segment.
    pub(crate) const fn first(&self) -> u32 {
        self.first
    }

    /// Next new segment.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }

    /// Outstanding segments, SACKed ones included.
    pub(crate) const fn flight(&self) -> u32 {
        self.next - self.first
    }

    /// Segments that are probably in the network.
    pub(crate) const fn pipe(&self) -> u32 {
        self.flight() + self.retransmitted.segments - self.sacked.segments - self.lost.segments
    }

    /// Bytes that are probably in the network.
    pub(crate) const fn pipe_bytes(&self) -> u32 {
        self.flight_bytes() + self.retransmitted.bytes(self.full_size)
            - self.sacked.bytes(self.full_size)
            - self.lost.bytes(self.full_size)
    }

    /// Outstanding bytes, SACKed ones included.
    pub(crate) const fn flight_bytes(&self) -> u32 {
        self.next_offset.wrapping_sub(self.first_offset)
    }

    /// Returns true if no outstanding segment is SACKed, lost, or was sent more than once.
    pub(crate) const fn is_plain(&self) -> bool {
        self.sacked.segments | self.lost.segments == 0 && self.first >= self.repeated_below
    }

    /// Number of SACKed segments.
    pub(crate) const fn sacked(&self) -> u32 {
        self.sacked.segments
    }

    /// The highest SACKed segment above `first`.
    pub(crate) fn highest_sacked(&self) -> Option<u32> {
        self.highest[0].checked_sub(1).filter(|&n| n >= self.first)
    }

    /// The third highest SACKed segment above `first`.
    pub(crate) fn third_highest_sacked(&self) -> Option<u32> {
        self.highest[2].checked_sub(1).filter(|&n| n >= self.first)
    }

    /// Returns true if all counters agree with the marks, and no segment is both SACKed and lost.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut counts = [Tally::ZERO; 3];
        let (mut pending, mut short, mut at) = (0, 0, self.first);
        while at < self.next {
            let (word, bits, after) = self.word(at, self.next);
            let marks = self.marks[word];
            if marks.sacked & (marks.lost | marks.retransmitted) & bits != 0 {
                return false;
            }
            for (count, marked) in counts.iter_mut().zip([marks.sacked, marks.lost, marks.retransmitted]) {
                count.add(self.weigh(word, marked & bits));
            }
            pending += (marks.lost & !marks.retransmitted & bits).count_ones();
            short += (marks.short & bits).count_ones();
            at = after;
        }
        counts == [self.sacked, self.lost, self.retransmitted]
            && pending == self.pending
            && short == self.short
            && self.flight() + self.retransmitted.segments >= self.sacked.segments + self.lost.segments
    }

    const fn has_marks(&self) -> bool {
        self.sacked.segments | self.lost.segments | self.retransmitted.segments | self.short != 0
    }

    fn offset_of(&self, number: u32) -> u32 {
        if number == self.next { self.next_offset } else { self.slots[self.slot_of(number)].offset }
    }
}

/// How many bits are set. Mostly none is or one, and counting any number takes a dozen steps.
#[inline]
const fn ones(bits: u64) -> u32 {
    if bits & bits.wrapping_sub(1) == 0 { (bits != 0) as u32 } else { bits.count_ones() }
}

#[cfg(test)]
mod tests;
