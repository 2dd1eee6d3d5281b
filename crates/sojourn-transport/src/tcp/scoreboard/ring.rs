//! The ring under the scoreboard: a slot for each segment and bit arrays beside it, 64 segments to a word.

use super::{Marks, Scoreboard, Sent, Tally, ones};
use alloc::vec;

impl Scoreboard {
    pub(super) const fn slot_of(&self, number: u32) -> usize {
        (number & self.mask) as usize
    }

    /// The word that holds `at`, the bits of `at..end` in it, and where the next word begins.
    pub(super) const fn word(&self, at: u32, end: u32) -> (usize, u64, u32) {
        let boundary = (at | 63) + 1;
        let after = if boundary < end { boundary } else { end };
        let bits = (u64::MAX >> (64 - (after - at))) << (at & 63);
        (self.slot_of(at) >> 6, bits, after)
    }

    #[inline]
    pub(super) fn weigh(&self, word: usize, bits: u64) -> Tally {
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
        Tally { segments: ones(bits), deficit }
    }

    pub(super) fn find(&self, from: u32, to: u32, wanted: impl Fn(&Marks) -> u64) -> Option<u32> {
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
    pub(super) fn double(&mut self) {
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
