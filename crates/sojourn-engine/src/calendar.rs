//! The event queue: earliest time first, and in the order of scheduling among equals.
//!
//! An implicit 4-ary heap: half as deep as a binary one, and the four children of a node share a
//! cache line or two. Events are never cancelled; whoever scheduled one recognises a stale event by
//! comparing its time with the time it waits for.

use sojourn_base::Instant;

/// Children per node.
const ARITY: usize = 4;

/// An event in the heap.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Instant,
    /// Scheduling order, which resolves ties.
    sequence: u64,
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
    heap: Vec<Entry<E>>,
    scheduled: u64,
}

impl<E: Copy> Calendar<E> {
    pub(crate) fn new() -> Self {
        Self {
            heap: Vec::with_capacity(256),
            scheduled: 0,
        }
    }

    /// `event` happens at `at`, after everything that was scheduled for the same instant earlier.
    pub(crate) fn schedule(&mut self, at: Instant, event: E) {
        let entry = Entry {
            at,
            sequence: self.scheduled,
            event,
        };
        self.scheduled += 1;
        self.heap.push(entry);
        let mut child = self.heap.len() - 1;
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if !entry.is_before(&self.heap[parent]) {
                break;
            }
            self.heap[child] = self.heap[parent];
            child = parent;
        }
        self.heap[child] = entry;
    }

    /// The next event and its time.
    pub(crate) fn pop(&mut self) -> Option<(Instant, E)> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first().copied() else {
            return Some((last.at, last.event));
        };
        let mut hole = 0;
        loop {
            let children = hole * ARITY + 1;
            if children >= self.heap.len() {
                break;
            }
            let end = (children + ARITY).min(self.heap.len());
            let mut least = children;
            for child in children + 1..end {
                if self.heap[child].is_before(&self.heap[least]) {
                    least = child;
                }
            }
            if last.is_before(&self.heap[least]) {
                break;
            }
            self.heap[hole] = self.heap[least];
            hole = least;
        }
        self.heap[hole] = last;
        Some((first.at, first.event))
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

    proptest! {
        /// Against the standard library's heap, with pushes between pops as in a run.
        #[test]
        fn the_heap_agrees_with_a_binary_heap(steps in prop::collection::vec((0_u64..50, 0..3), 1..400)) {
            let mut calendar = Calendar::new();
            let mut oracle = BinaryHeap::new();
            let mut now = 0;
            for (number, (delay, pops)) in (0_u64..).zip(steps) {
                calendar.schedule(Instant::from_ps(now + delay), number);
                oracle.push(Reverse((now + delay, number)));
                for _ in 0..pops {
                    let ours = calendar.pop().map(|(at, event)| (at.as_ps(), event));
                    prop_assert_eq!(ours, oracle.pop().map(|Reverse(entry)| entry));
                    now = ours.map_or(now, |(at, _)| at);
                }
            }
        }
    }
}
