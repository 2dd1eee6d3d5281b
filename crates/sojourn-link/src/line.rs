//! Packets between two nodes: what a link has announced and its far end has not seen.
//!
//! A link announces the arrival time of each packet. Until then the packet stands here, in order of arrival and, among
//! equals, of announcement. There is no calendar: the owner of the line asks for the next arrival time and takes the
//! packet then, be it an event loop or a program that waits for the time of day.

use alloc::vec::Vec;
use sojourn_base::Instant;

/// Room for this many packets from the start. chosen: a gigabit over a few milliseconds doubles it once or twice.
const ROOM: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub struct Line<T> {
    /// A ring of a power of two places, or none before the first packet.
    ring: Vec<(Instant, T)>,
    /// Packets ever taken, and ever announced: their places in the ring are these numbers modulo its size.
    taken: usize,
    announced: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { ring: Vec::new(), taken: 0, announced: 0 }
    }
}

impl<T: Copy> Line<T> {
    /// `item` arrives at `at`. A link with several queues may announce it after what arrives later.
    #[inline]
    pub fn push(&mut self, at: Instant, item: T) {
        if self.announced - self.taken == self.ring.len() {
            self.grow((at, item));
        }
        let place = self.place(self.announced);
        self.ring[place] = (at, item);
        self.announced += 1;
        if self.announced - self.taken > 1 && self.ring[self.place(self.announced - 2)].0 > at {
            self.move_forward();
        }
    }

    const fn place(&self, number: usize) -> usize {
        number & self.ring.len().wrapping_sub(1)
    }

    /// Twice the room; `filler` stands where nothing is.
    #[cold]
    fn grow(&mut self, filler: (Instant, T)) {
        let room = (2 * self.ring.len()).max(ROOM);
        let mut ring = Vec::with_capacity(room);
        ring.extend((self.taken..self.announced).map(|number| self.ring[self.place(number)]));
        (self.taken, self.announced) = (0, ring.len());
        ring.resize(room, filler);
        self.ring = ring;
    }

    /// The newest one passes those that arrive later.
    #[cold]
    fn move_forward(&mut self) {
        let mut number = self.announced - 1;
        while number > self.taken {
            let (before, place) = (self.place(number - 1), self.place(number));
            if self.ring[before].0 <= self.ring[place].0 {
                break;
            }
            self.ring.swap(before, place);
            number -= 1;
        }
    }

    /// Returns the next arrival; [`Instant::NEVER`] without one.
    #[inline]
    pub fn next_due(&self) -> Instant {
        if self.taken == self.announced { Instant::NEVER } else { self.ring[self.place(self.taken)].0 }
    }

    /// The next one that has arrived by `now`.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<T> {
        if self.taken == self.announced {
            return None;
        }
        let (at, item) = self.ring[self.place(self.taken)];
        (at <= now).then(|| {
            self.taken += 1;
            item
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_packet_is_taken_when_it_has_arrived_and_not_before() {
        let mut line = Line::default();
        assert_eq!(line.next_due(), Instant::NEVER);
        line.push(Instant::from_ms(2), 'a');
        assert_eq!(line.next_due(), Instant::from_ms(2));
        assert_eq!(line.take(Instant::from_us(1_999)), None);
        assert_eq!(line.take(Instant::from_ms(2)), Some('a'));
        assert_eq!(line.take(Instant::NEVER), None);
    }

    #[test]
    fn a_line_grows_while_its_ring_has_turned() {
        let mut line = Line::default();
        for number in 0..1000_u64 {
            line.push(Instant::from_ms(number), number);
            if number % 3 == 0 {
                assert_eq!(line.take(Instant::NEVER), Some(number / 3));
            }
        }
        let rest: Vec<u64> = core::iter::from_fn(|| line.take(Instant::NEVER)).collect();
        assert!(rest.into_iter().eq(334..1000));
    }

    proptest! {
        /// A stable sort by time, whatever the order of announcement.
        #[test]
        fn arrivals_are_in_order_of_time_and_then_of_announcement(
            times in prop::collection::vec(0_u64..20, 0..200),
        ) {
            let mut line = Line::default();
            for (number, at) in times.iter().enumerate() {
                line.push(Instant::from_ms(*at), number);
            }
            let mut sorted: Vec<usize> = (0..times.len()).collect();
            sorted.sort_by_key(|number| times[*number]);
            let taken: Vec<usize> = core::iter::from_fn(|| line.take(line.next_due())).collect();
            prop_assert_eq!(taken, sorted);
        }
    }
}
