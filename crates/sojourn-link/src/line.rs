//! Packets between two nodes: what a link has announced and its far end has not seen.
//!
//! A link says of each packet when it arrives. Until then the packet stands here, in order of arrival and,
//! among equals, of announcement. There is no calendar: whoever owns the line asks when the next one is due
//! and takes it then, be it an event loop or a program that waits for the time of day.
//!
//! Source: none needed. Deviations: none known.

use alloc::collections::VecDeque;
use sojourn_base::Instant;

/// Room for so many packets from the start. chosen: a gigabit over a few milliseconds grows it once or twice.
const ROOM: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub struct Line<T> {
    in_flight: VecDeque<(Instant, T)>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self {
            in_flight: VecDeque::with_capacity(ROOM),
        }
    }
}

impl<T> Line<T> {
    /// `item` arrives at `at`. A link with several queues may announce it after what arrives later.
    #[inline]
    pub fn push(&mut self, at: Instant, item: T) {
        if self.in_flight.back().is_some_and(|(last, _)| *last > at) {
            self.insert(at, item);
        } else {
            self.in_flight.push_back((at, item));
        }
    }

    #[cold]
    fn insert(&mut self, at: Instant, item: T) {
        let place = self.in_flight.partition_point(|(other, _)| *other <= at);
        self.in_flight.insert(place, (at, item));
    }

    /// When the next one arrives; [`Instant::NEVER`] without one.
    #[inline]
    pub fn next_due(&self) -> Instant {
        self.in_flight
            .front()
            .map_or(Instant::NEVER, |(first, _)| *first)
    }

    /// The next one that has arrived by `now`.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<T> {
        if self.in_flight.front().is_some_and(|(at, _)| *at <= now) {
            self.in_flight.pop_front().map(|(_, item)| item)
        } else {
            None
        }
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

    proptest! {
        /// A stable sort by time, whatever the order of announcement.
        #[test]
        fn arrivals_are_in_order_of_time_and_then_of_announcement(
            times in prop::collection::vec(0_u64..20, 0..60),
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
