//! What the sender knows about each outstanding segment: acknowledged selectively, lost, sent again.
//!
//! Source: RFC 6675 section 4 (scoreboard), section 2 (`pipe`); RFC 2018 (SACK).
//! A ring of one slot per segment and four bit arrays beside it. All questions are answered from
//! counters, and all updates touch 64 segments at a time, so that a window of ten thousand segments
//! costs an acknowledgement no more than a window of ten.
//! Deviations: reneging is not modelled, except that the whole scoreboard can be forgotten.

use crate::Flags;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::Instant;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "the name on the wire is sent_at")]
pub(crate) struct Sent {
    /// When its latest copy was sent.
    pub(crate) sent_at: Instant,
    /// When its first copy was sent.
    pub(crate) first_sent_at: Instant,
    /// When the application wrote its first byte.
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
    const ZERO: Self = Self {
        segments: 0,
        deficit: 0,
    };

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

/// What a cumulative acknowledgement covered.
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
pub(crate) const INITIAL_BYTES: usize =
    INITIAL_SLOTS as usize * size_of::<Sent>() + size_of::<Marks>();

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
        let mut covered = Covered {
            segments,
            bytes,
            sacked_before: 0,
        };
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
        let overlap = self
            .known
            .iter()
            .copied()
            .find(|&(known_first, known_end)| known_first < end && first < known_end);
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

    /// Mark everything below `limit` lost that is not SACKed; returns how many marks are new.
    pub(crate) fn mark_lost_below(&mut self, limit: u32) -> u32 {
        let mut at = self.lost_below.max(self.first);
        let mut count = 0;
        while at < limit {
            let (word, bits, after) = self.word(at, limit);
            let marks = self.marks[word];
            let new = bits & !marks.sacked & !marks.lost;
            if new != 0 {
                let tally = self.weigh(word, new);
                self.lost.add(tally);
                let pending = new & !marks.retransmitted;
                if pending != 0 {
                    self.pending += ones(pending);
                    let lowest = (at & !63) + pending.trailing_zeros();
                    self.pending_hint = self.pending_hint.min(lowest);
                }
                self.marks[word].lost |= new;
                count += tally.segments;
            }
            at = after;
        }
        self.lost_below = self.lost_below.max(limit);
        count
    }

    /// Mark one outstanding segment lost; if it had been retransmitted, the retransmission is lost.
    /// Returns false if it is already marked and waits, or if the peer has it.
    pub(crate) fn mark_lost(&mut self, number: u32) -> bool {
        let (slot, bit) = (self.slot_of(number), 1_u64 << (self.slot_of(number) & 63));
        let marks = self.marks[slot >> 6];
        if marks.sacked & bit != 0 || marks.lost & !marks.retransmitted & bit != 0 {
            return false;
        }
        let tally = self.weigh(slot >> 6, bit);
        if marks.lost & bit == 0 {
            self.lost.add(tally);
        }
        if marks.retransmitted & bit != 0 {
            self.retransmitted.subtract(tally);
        }
        let marks = &mut self.marks[slot >> 6];
        marks.lost |= bit;
        marks.retransmitted &= !bit;
        self.pending += 1;
        self.pending_hint = self.pending_hint.min(number);
        true
    }

    /// A timeout: everything that is not SACKed is lost, retransmissions included.
    pub(crate) fn mark_all_lost(&mut self) {
        let mut at = self.first;
        (self.lost, self.retransmitted) = (Tally::ZERO, Tally::ZERO);
        while at < self.next {
            let (word, bits, after) = self.word(at, self.next);
            let new = bits & !self.marks[word].sacked;
            let tally = self.weigh(word, new);
            self.lost.add(tally);
            let marks = &mut self.marks[word];
            marks.lost = (marks.lost & !bits) | new;
            marks.retransmitted &= !bits;
            at = after;
        }
        self.pending = self.lost.segments;
        self.pending_hint = self.first;
        self.lost_below = self.next;
    }

    /// Forget all SACK information.
    pub(crate) fn forget_sacks(&mut self) {
        for marks in &mut self.marks {
            marks.sacked = 0;
        }
        self.sacked = Tally::ZERO;
        self.highest = [0; 3];
        self.known = [(0, 0); 3];
    }

    /// Forget every mark: what is outstanding counts as sent once and in the network.
    pub(crate) fn forget_marks(&mut self) {
        self.forget_sacks();
        for marks in &mut self.marks {
            (marks.lost, marks.retransmitted) = (0, 0);
        }
        (self.lost, self.retransmitted) = (Tally::ZERO, Tally::ZERO);
        (self.pending, self.pending_hint) = (0, self.next);
        self.lost_below = self.first;
    }

    /// The lowest lost segment whose retransmission is not outstanding.
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.pending == 0 {
            self.pending_hint = self.next;
            return None;
        }
        let from = self.pending_hint.max(self.first);
        let found = self.find(from, self.next, |marks| marks.lost & !marks.retransmitted);
        debug_assert!(found.is_some(), "pending segments lie above the hint");
        self.pending_hint = found.unwrap_or(self.next);
        found
    }

    /// The lowest segment in `from..to` that was sent once and is neither SACKed nor lost.
    pub(crate) fn next_untouched(&self, from: u32, to: u32) -> Option<u32> {
        self.find(from.max(self.first), to.min(self.next), |marks| {
            !(marks.sacked | marks.lost | marks.retransmitted)
        })
    }

    /// The highest segment that is not SACKed.
    pub(crate) fn highest_unsacked(&self) -> Option<u32> {
        let mut end = self.next;
        while end > self.first {
            let start = ((end - 1) & !63).max(self.first);
            let (word, bits, _) = self.word(start, end);
            let open = bits & !self.marks[word].sacked;
            if open != 0 {
                return Some((start & !63) + 63 - open.leading_zeros());
            }
            end = start;
        }
        None
    }

    /// A copy of segment `number` is sent again.
    pub(crate) fn retransmit(&mut self, number: u32, now: Instant) {
        let index = self.slot_of(number);
        let (word, bit) = (index >> 6, 1_u64 << (index & 63));
        let slot = &mut self.slots[index];
        slot.sent_at = now;
        slot.transmissions = slot.transmissions.saturating_add(1);
        self.repeated_below = self.repeated_below.max(number + 1);
        if self.marks[word].retransmitted & bit == 0 {
            let tally = self.weigh(word, bit);
            self.retransmitted.add(tally);
            self.marks[word].retransmitted |= bit;
            if self.marks[word].lost & bit != 0 {
                self.pending -= 1;
            }
        }
    }

    /// The slot of an outstanding segment.
    pub(crate) fn segment(&self, number: u32) -> &Sent {
        &self.slots[self.slot_of(number)]
    }

    /// Whether the retransmission of `number` is outstanding.
    pub(crate) fn is_retransmitted(&self, number: u32) -> bool {
        let slot = self.slot_of(number);
        self.marks[slot >> 6].retransmitted >> (slot & 63) & 1 != 0
    }

    /// Whether `number` is marked lost.
    pub(crate) fn is_lost(&self, number: u32) -> bool {
        let slot = self.slot_of(number);
        self.marks[slot >> 6].lost >> (slot & 63) & 1 != 0
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

    /// Whether nothing outstanding is SACKed, lost, or was sent more than once.
    pub(crate) const fn is_plain(&self) -> bool {
        self.sacked.segments | self.lost.segments == 0 && self.first >= self.repeated_below
    }

    /// Number of SACKed segments.
    pub(crate) const fn sacked(&self) -> u32 {
        self.sacked.segments
    }

    /// Lost segments whose retransmission is not outstanding.
    pub(crate) const fn pending(&self) -> u32 {
        self.pending
    }

    /// The highest SACKed segment above `first`.
    pub(crate) fn highest_sacked(&self) -> Option<u32> {
        self.highest[0].checked_sub(1).filter(|&n| n >= self.first)
    }

    /// The third highest SACKed segment above `first`.
    pub(crate) fn third_highest_sacked(&self) -> Option<u32> {
        self.highest[2].checked_sub(1).filter(|&n| n >= self.first)
    }

    /// Everything below that is not SACKed has been marked lost.
    pub(crate) const fn lost_below(&self) -> u32 {
        self.lost_below
    }

    /// Whether all counters agree with the marks, and no segment is both SACKed and lost.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut counts = [Tally::ZERO; 3];
        let (mut pending, mut short, mut at) = (0, 0, self.first);
        while at < self.next {
            let (word, bits, after) = self.word(at, self.next);
            let marks = self.marks[word];
            if marks.sacked & (marks.lost | marks.retransmitted) & bits != 0 {
                return false;
            }
            for (count, marked) in
                counts
                    .iter_mut()
                    .zip([marks.sacked, marks.lost, marks.retransmitted])
            {
                count.add(self.weigh(word, marked & bits));
            }
            pending += (marks.lost & !marks.retransmitted & bits).count_ones();
            short += (marks.short & bits).count_ones();
            at = after;
        }
        counts == [self.sacked, self.lost, self.retransmitted]
            && pending == self.pending
            && short == self.short
            && self.flight() + self.retransmitted.segments
                >= self.sacked.segments + self.lost.segments
    }

    const fn has_marks(&self) -> bool {
        self.sacked.segments | self.lost.segments | self.retransmitted.segments | self.short != 0
    }

    fn offset_of(&self, number: u32) -> u32 {
        if number == self.next {
            self.next_offset
        } else {
            self.slots[self.slot_of(number)].offset
        }
    }

    const fn slot_of(&self, number: u32) -> usize {
        (number & self.mask) as usize
    }

    /// The word that holds `at`, the bits of `at..end` in it, and where the next word begins.
    const fn word(&self, at: u32, end: u32) -> (usize, u64, u32) {
        let boundary = (at | 63) + 1;
        let after = if boundary < end { boundary } else { end };
        let bits = (u64::MAX >> (64 - (after - at))) << (at & 63);
        (self.slot_of(at) >> 6, bits, after)
    }

    #[inline]
    fn weigh(&self, word: usize, bits: u64) -> Tally {
        if bits == 0 {
            return Tally::ZERO;
        }
        let mut short = bits & self.marks[word].short;
        let mut deficit = 0;
        while short != 0 {
            let slot = (word << 6) + short.trailing_zeros() as usize;
            deficit += self.full_size - u32::from(self.slots[slot].length);
            short &= short - 1;
        }
        Tally {
            segments: ones(bits),
            deficit,
        }
    }

    fn find(&self, from: u32, to: u32, wanted: impl Fn(&Marks) -> u64) -> Option<u32> {
        let mut at = from;
        while at < to {
            let (word, bits, after) = self.word(at, to);
            let hits = wanted(&self.marks[word]) & bits;
            if hits != 0 {
                return Some((at & !63) + hits.trailing_zeros());
            }
            at = after;
        }
        None
    }

    #[cold]
    fn double(&mut self) {
        let mask = self.mask * 2 + 1;
        let mut slots = vec![Sent::NONE; mask as usize + 1];
        let mut marks = vec![Marks::default(); (mask as usize + 1) / 64];
        let mut at = self.first;
        while at < self.next {
            let (word, bits, after) = self.word(at, self.next);
            let old = self.marks[word];
            let new = &mut marks[(at & mask) as usize >> 6];
            new.sacked |= old.sacked & bits;
            new.lost |= old.lost & bits;
            new.retransmitted |= old.retransmitted & bits;
            new.short |= old.short & bits;
            for number in at..after {
                slots[(number & mask) as usize] = self.slots[self.slot_of(number)];
            }
            at = after;
        }
        (self.slots, self.marks, self.mask) = (slots, marks, mask);
    }
}

/// How many bits are set. Mostly none is or one, and counting any number takes a dozen steps.
#[inline]
const fn ones(bits: u64) -> u32 {
    if bits & bits.wrapping_sub(1) == 0 {
        (bits != 0) as u32
    } else {
        bits.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const FULL: u32 = 1000;

    fn sent(offset: u32, length: u16) -> Sent {
        Sent {
            offset,
            length,
            transmissions: 1,
            ..Sent::NONE
        }
    }

    /// `count` full segments in flight, the first numbered 0.
    fn board(count: u32) -> Scoreboard {
        let mut board = Scoreboard::new(FULL);
        for number in 0..count {
            board.push(sent(number * FULL, 1000));
        }
        board
    }

    fn sack(board: &mut Scoreboard, first: u32, end: u32) -> Vec<u32> {
        let mut new = Vec::new();
        let count = board.sack(first, end, |number, _| new.push(number));
        assert_eq!(count as usize, new.len());
        assert!(board.is_consistent());
        new
    }

    #[test]
    fn pipe_follows_the_marks() {
        let mut board = board(10);
        assert_eq!(board.pipe(), 10);
        assert_eq!(sack(&mut board, 3, 7), [3, 4, 5, 6]);
        assert_eq!(board.pipe(), 6);
        assert_eq!(board.mark_lost_below(4), 3);
        assert_eq!(board.pipe(), 3);
        board.retransmit(0, Instant::ZERO);
        assert_eq!((board.pipe(), board.next_lost()), (4, Some(1)));
        // The retransmission is acknowledged together with nothing else.
        let covered = board.acknowledge(1);
        assert_eq!((covered.segments, covered.sacked_before), (1, 0));
        assert_eq!(board.pipe(), 3);
        assert!(board.is_consistent());
    }

    #[test]
    fn bytes_of_short_segments_are_exact() {
        let mut board = board(2);
        board.push(sent(2000, 180));
        board.push(sent(2180, 0));
        assert_eq!((board.flight_bytes(), board.pipe_bytes()), (2180, 2180));
        sack(&mut board, 2, 3);
        assert_eq!(board.pipe_bytes(), 2000);
        board.mark_lost_below(2);
        assert_eq!(board.pipe_bytes(), 0);
        board.retransmit(0, Instant::ZERO);
        assert_eq!(board.pipe_bytes(), 1000);
        assert_eq!(board.acknowledge(3).bytes, 2180);
        assert_eq!((board.pipe_bytes(), board.pipe()), (0, 1));
        assert!(board.is_consistent());
    }

    #[test]
    fn a_block_reported_again_costs_only_its_new_part() {
        let mut board = board(200);
        sack(&mut board, 5, 150);
        board.remember_blocks([(5, 150), (0, 0), (0, 0)]);
        assert_eq!(sack(&mut board, 4, 152), [4, 150, 151]);
    }

    #[test]
    fn a_lost_retransmission_is_pending_again() {
        let mut board = board(5);
        assert!(board.mark_lost(1));
        assert!(!board.mark_lost(1), "it already waits");
        board.retransmit(1, Instant::from_ms(1));
        assert_eq!((board.next_lost(), board.pipe()), (None, 5));
        assert!(board.mark_lost(1));
        assert_eq!((board.next_lost(), board.pipe()), (Some(1), 4));
        assert!(board.is_consistent());
    }

    #[test]
    fn the_three_highest_sacked_segments_are_known_in_any_order_of_arrival() {
        let mut board = board(20);
        for number in [9, 4, 12, 7] {
            sack(&mut board, number, number + 1);
        }
        assert_eq!(board.highest_sacked(), Some(12));
        assert_eq!(board.third_highest_sacked(), Some(7));
        board.acknowledge(8);
        assert_eq!(board.third_highest_sacked(), None, "only two are left");
    }

    #[test]
    fn a_timeout_loses_everything_but_what_the_peer_has() {
        let mut board = board(130);
        sack(&mut board, 70, 128);
        board.mark_lost_below(3);
        board.retransmit(0, Instant::ZERO);
        board.mark_all_lost();
        assert_eq!((board.pipe(), board.pending()), (0, 72));
        board.forget_sacks();
        board.mark_all_lost();
        assert_eq!(board.pending(), 130);
        assert!(board.is_consistent());
    }

    #[test]
    fn the_ring_grows_across_its_seam_and_keeps_its_marks() {
        let mut board = board(40);
        board.acknowledge(40);
        for number in 40..100 {
            board.push(sent(number * FULL, 1000));
        }
        sack(&mut board, 60, 70);
        for number in 100..300 {
            board.push(sent(number * FULL, 1000));
        }
        assert!(board.is_consistent());
        assert_eq!((board.flight(), board.sacked()), (260, 10));
        assert_eq!(board.segment(299).offset, 299_000);
        assert_eq!(board.highest_unsacked(), Some(299));
        assert_eq!(board.next_untouched(60, 300), Some(70));
    }
}
