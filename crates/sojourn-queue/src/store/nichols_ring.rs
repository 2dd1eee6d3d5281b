//! The round of sub-flows in K. Nichols' SFQ-CoDel: who is served next, and by how much.
//!
//! Bins with packets stand in a ring. A bin that becomes busy is put before those that have been
//! served since they did, but behind other new ones. An emptied bin keeps its place until the pointer
//! reaches it: served packet by packet, the pointer has just moved on, and the flow cannot become new
//! again for one lap; served by bytes, the pointer still stands there, and the next opportunity frees
//! the bin (so a sparse flow is new with each packet).
//!
//! One bin may be the last: it is served only while no other has packets (White 2013 4.1.1: "perhaps one that is treated as
//! lower priority").
//!
//! Source: ns-2 `queue/sfqcodel.cc`, March 2013. Deviations: none known.

use crate::store::bins::Bins;
use crate::store::waiting::Waiting as _;
use alloc::vec::Vec;
use sojourn_base::native::IN_TAB;

/// No bin.
const NONE: u32 = u32::MAX;

/// The ring, its pointer, and every bin's deficit.
#[derive(Clone, Debug)]
pub(crate) struct NicholsRing {
    places: Vec<Place>,
    current: u32,
    /// Bytes added per round; zero serves packet by packet.
    quantum: i64,
    /// The bin that gives way to all others.
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Bytes the bin may still send in this round; negative after a packet larger than that.
    deficit: i64,
    next: u32,
    before: u32,
    /// Busy, and not served since it became so.
    fresh: bool,
    scheduled: bool,
}

/// Bytes of a bin's place.
pub(crate) const PLACE_BYTES: usize = size_of::<Place>();

impl NicholsRing {
    /// An empty ring of `bins` bins, of which one may give way to all others.
    pub(crate) fn new(bins: u32, quantum: u32, last: Option<u32>) -> Self {
        let place = Place { deficit: 0, next: NONE, before: NONE, fresh: false, scheduled: false };
        Self {
            places: alloc::vec![place; bins as usize],
            current: NONE,
            quantum: i64::from(quantum),
            last: last.unwrap_or(NONE),
        }
    }

    /// Sets the bytes that a bin may send in each round.
    pub(crate) fn set_quantum(&mut self, quantum: u32) {
        self.quantum = i64::from(quantum);
    }

    /// A packet was put into `bin`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^32 bins")]
    pub(crate) fn on_arrival(&mut self, bin: usize) {
        if !self.places[bin].scheduled {
            self.schedule(bin as u32);
        }
    }

    /// Returns true if `bin` has a place in the ring.
    pub(crate) fn is_scheduled(&self, bin: usize) -> bool {
        self.places[bin].scheduled
    }

    /// Returns the bin to serve now. Empty bins under the pointer lose their place and are passed to `retire`.
    #[inline]
    pub(crate) fn ready(&mut self, bins: &Bins, mut retire: impl FnMut(usize)) -> Option<usize> {
        if self.current == NONE {
            return None;
        }
        while bins.is_empty(self.current as usize) {
            let emptied = self.current;
            retire(emptied as usize);
            self.unschedule(emptied);
            if self.current == NONE {
                return None;
            }
        }
        // No lesson has such a bin, and the engine of browsers is small.
        let waiting = if IN_TAB || self.last == NONE { NONE } else { self.waiting(bins) };
        if self.current == waiting {
            self.current = self.next_busy(bins, waiting, waiting);
        }
        if self.quantum > 0 {
            let mut bin = self.current;
            while self.places[bin as usize].deficit <= 0 {
                self.places[bin as usize].deficit += self.quantum;
                bin = self.next_busy(bins, bin, waiting);
            }
            self.current = bin;
        }
        self.places[self.current as usize].fresh = false;
        Some(self.current as usize)
    }

    /// The next bin with packets behind this one, but `waiting`.
    #[inline]
    fn next_busy(&self, bins: &Bins, bin: u32, waiting: u32) -> u32 {
        let mut next = self.places[bin as usize].next;
        while bins.is_empty(next as usize) || next == waiting {
            next = self.places[next as usize].next;
        }
        next
    }

    /// The last bin, if it has to wait for another one that has packets.
    fn waiting(&self, bins: &Bins) -> u32 {
        let last = &self.places[self.last as usize];
        let mut bin = if last.scheduled { last.next } else { self.last };
        while bin != self.last {
            if !bins.is_empty(bin as usize) {
                return self.last;
            }
            bin = self.places[bin as usize].next;
        }
        NONE
    }

    /// `length` bytes of the bin that was ready are sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, length: u32) {
        let place = &mut self.places[self.current as usize];
        if self.quantum > 0 {
            place.deficit -= i64::from(length);
        } else {
            self.current = place.next;
        }
    }

    fn schedule(&mut self, bin: u32) {
        let current = self.current;
        if current == NONE {
            self.set(bin, bin, bin);
            self.current = bin;
            return;
        }
        let mut place = current;
        while self.places[place as usize].fresh {
            let next = self.places[place as usize].next;
            if next == current {
                break;
            }
            place = next;
        }
        if self.places[place as usize].next == current {
            self.set(bin, place, current);
        } else {
            let before = self.places[place as usize].before;
            self.set(bin, before, place);
            if place == current {
                self.current = bin;
            }
        }
    }

    /// Chain `bin` in between two others, as new.
    fn set(&mut self, bin: u32, before: u32, next: u32) {
        self.places[bin as usize] = Place { deficit: self.quantum, next, before, fresh: true, scheduled: true };
        self.places[before as usize].next = bin;
        self.places[next as usize].before = bin;
    }

    /// Take the bin under the pointer out; the next one is current.
    fn unschedule(&mut self, bin: u32) {
        let Place { next, before, .. } = self.places[bin as usize];
        self.places[bin as usize].scheduled = false;
        if next == bin {
            self.current = NONE;
            return;
        }
        self.places[before as usize].next = next;
        self.places[next as usize].before = before;
        self.current = next;
    }
}
