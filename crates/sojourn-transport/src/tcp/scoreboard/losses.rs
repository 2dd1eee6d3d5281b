//! Losses in the scoreboard: marking them, sending them again, and finding the next segment to send.
//!
//! Source: RFC 6675 sections 4 and 5.
//! Deviations: those of the parent module.

use super::{Scoreboard, Tally, ones};
use sojourn_base::Instant;

impl Scoreboard {
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
        self.find(from.max(self.first), to.min(self.next), |marks| !(marks.sacked | marks.lost | marks.retransmitted))
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

    /// Returns true if the retransmission of `number` is outstanding.
    pub(crate) fn is_retransmitted(&self, number: u32) -> bool {
        let slot = self.slot_of(number);
        self.marks[slot >> 6].retransmitted >> (slot & 63) & 1 != 0
    }

    /// Returns true if `number` is marked lost.
    pub(crate) fn is_lost(&self, number: u32) -> bool {
        let slot = self.slot_of(number);
        self.marks[slot >> 6].lost >> (slot & 63) & 1 != 0
    }

    /// Returns the number of lost segments that are not acknowledged, sent again or not (Linux `lost_out`).
    pub(crate) const fn lost(&self) -> u32 {
        self.lost.segments
    }

    /// Lost segments whose retransmission is not outstanding.
    #[inline]
    pub(crate) const fn pending(&self) -> u32 {
        self.pending
    }

    /// Everything below that is not SACKed has been marked lost.
    pub(crate) const fn lost_below(&self) -> u32 {
        self.lost_below
    }
}
