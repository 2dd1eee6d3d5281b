//! The event queue: earliest time first, and in the order of scheduling among equals.
//!
//! Nearly all events of a run are deliveries and wake-ups a few milliseconds ahead; behind them wait the
//! timers of all connections, which hardly ever come due. So the nearest events stand in a short sorted
//! list, where a new event passes the few that are earlier and the next one is taken from the end. What
//! does not fit waits in an implicit 4-ary heap. Events are never cancelled; whoever scheduled one
//! recognises a stale event by comparing its time with the time it waits for.

use sojourn_base::Instant;

/// Children per node of the heap.
const ARITY: usize = 4;

/// Events in the sorted list at most. chosen: 4 KB stay in the first-level cache, and a world with 50
/// connections never needs the heap.
const NEAR: usize = 256;

/// An event that waits in the sorted list.
#[derive(Clone, Copy, Debug)]
struct Near<E> {
    at: Instant,
    event: E,
}

/// An event that waits in the heap.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Instant,
    /// Resolves ties: what is to happen later has the larger number.
    sequence: i64,
    event: E,
}

impl<E> Entry<E> {
    fn is_before(&self, other: &Self) -> bool {
        (self.at, self.sequence) < (other.at, other.sequence)
    }
}

/// Pending events of one run.
#[derive(Clone, Debug)]
pub(crate) struct Calendar<E> {
    /// The nearest events, the next one at the end; all of them happen before those in `far`.
    near: Vec<Near<E>>,
    far: Heap<E>,
    /// Time of the first event in `far`; [`Instant::NEVER`] without one.
    far_from: Instant,
    /// Sequence numbers of what joins the heap at its end and at its beginning.
    last: i64,
    first: i64,
    /// Time of the event that was taken last.
    now: Instant,
}

impl<E: Copy> Calendar<E> {
    pub(crate) fn new() -> Self {
        Self {
            near: Vec::with_capacity(NEAR),
            far: Heap {
                entries: Vec::new(),
            },
            far_from: Instant::NEVER,
            last: 0,
            first: 0,
            now: Instant::ZERO,
        }
    }

    /// `event` happens at `at`, after everything that was scheduled for the same instant earlier.
    ///
    /// # Panics
    /// If `at` is in the past: a clock that ran backwards would falsify what it passes again.
    #[inline(never)] // many places schedule, most of them rarely
    pub(crate) fn schedule(&mut self, at: Instant, event: E) {
        assert!(at >= self.now, "an event is scheduled in the past");
        // The capacity is `NEAR`; asked this way, the list is known not to grow here.
        if at >= self.far_from || self.near.len() == self.near.capacity() {
            self.schedule_far(at, event);
        } else {
            self.insert_near(at, event);
        }
    }

    #[inline]
    fn insert_near(&mut self, at: Instant, event: E) {
        let new = Near { at, event };
        self.near.push(new);
        // It comes after all that is not later, and is itself the last of its instant.
        if let [list @ .., place] = self.near.as_mut_slice() {
            let mut place = place;
            for earlier in list.iter_mut().rev() {
                if earlier.at > at {
                    break;
                }
                *place = *earlier;
                place = earlier;
            }
            *place = new;
        }
    }

    #[cold]
    fn schedule_far(&mut self, at: Instant, event: E) {
        if at < self.far_from {
            // The list is full: its later half makes room, the latest event first.
            for Near { at, event } in self.near.drain(..self.near.len() / 2) {
                self.first -= 1;
                self.far.push(Entry {
                    at,
                    sequence: self.first,
                    event,
                });
            }
            self.far_from = self.far.first_at();
        }
        if at < self.far_from {
            self.insert_near(at, event);
        } else {
            self.far.push(Entry {
                at,
                sequence: self.last,
                event,
            });
            self.last += 1;
        }
    }

    /// The next event and its time.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Instant, E)> {
        if self.near.is_empty() {
            self.refill();
        }
        let Near { at, event } = self.near.pop()?;
        self.now = at;
        Some((at, event))
    }

    #[cold]
    fn refill(&mut self) {
        while self.near.len() < NEAR / 2
            && let Some(Entry { at, event, .. }) = self.far.pop()
        {
            self.near.push(Near { at, event });
        }
        self.near.reverse();
        self.far_from = self.far.first_at();
    }
}

/// An implicit 4-ary heap: half as deep as a binary one.
#[derive(Clone, Debug)]
struct Heap<E> {
    entries: Vec<Entry<E>>,
}

impl<E: Copy> Heap<E> {
    fn first_at(&self) -> Instant {
        self.entries
            .first()
            .map_or(Instant::NEVER, |first| first.at)
    }

    fn push(&mut self, entry: Entry<E>) {
        self.entries.push(entry);
        let mut child = self.entries.len() - 1;
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if !entry.is_before(&self.entries[parent]) {
                break;
            }
            self.entries[child] = self.entries[parent];
            child = parent;
        }
        self.entries[child] = entry;
    }

    fn pop(&mut self) -> Option<Entry<E>> {
        let last = self.entries.pop()?;
        let Some(first) = self.entries.first().copied() else {
            return Some(last);
        };
        let mut hole = 0;
        loop {
            let children = hole * ARITY + 1;
            if children >= self.entries.len() {
                break;
            }
            let end = (children + ARITY).min(self.entries.len());
            let mut least = children;
            for child in children + 1..end {
                if self.entries[child].is_before(&self.entries[least]) {
                    least = child;
                }
            }
            if last.is_before(&self.entries[least]) {
                break;
            }
            self.entries[hole] = self.entries[least];
            hole = least;
        }
        self.entries[hole] = last;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn events_at_one_instant_happen_in_the_order_of_scheduling() {
        let mut calendar = Calendar::new();
        for event in 0..10 {
            calendar.schedule(Instant::from_ms(if event % 2 == 0 { 5 } else { 3 }), event);
        }
        let order: Vec<i32> = core::iter::from_fn(|| calendar.pop())
            .map(|(_, e)| e)
            .collect();
        assert_eq!(order, [1, 3, 5, 7, 9, 0, 2, 4, 6, 8]);
    }

    #[test]
    #[should_panic(expected = "scheduled in the past")]
    fn nothing_is_scheduled_in_the_past() {
        let mut calendar = Calendar::new();
        calendar.schedule(Instant::from_ms(5), ());
        calendar.pop();
        calendar.schedule(Instant::from_ms(4), ());
    }

    proptest! {
        /// Against the standard library's heap, with pushes between pops as in a run, and so many that
        /// the sorted list overflows and is filled again.
        #[test]
        fn the_calendar_agrees_with_a_binary_heap(
            steps in prop::collection::vec((0_u64..50, 0..3), 1..400),
            crowd in 0_u64..1500,
            spread in 1_u64..3000,
        ) {
            let mut calendar = Calendar::new();
            let mut oracle = BinaryHeap::new();
            let mut now = 0;
            for number in 0..crowd {
                let at = number * 7919 % spread;
                calendar.schedule(Instant::from_ps(at), number);
                oracle.push(Reverse((at, number)));
            }
            for (number, (delay, pops)) in (crowd..).zip(steps) {
                calendar.schedule(Instant::from_ps(now + delay), number);
                oracle.push(Reverse((now + delay, number)));
                for _ in 0..pops {
                    let ours = calendar.pop().map(|(at, event)| (at.as_ps(), event));
                    prop_assert_eq!(ours, oracle.pop().map(|Reverse(entry)| entry));
                    now = ours.map_or(now, |(at, _)| at);
                }
            }
            while let Some((at, event)) = calendar.pop() {
                prop_assert_eq!(Some(Reverse((at.as_ps(), event))), oracle.pop());
            }
            prop_assert!(oracle.is_empty());
        }
    }
}
