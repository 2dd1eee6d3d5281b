//! The event queue: earliest time first, and in the order of scheduling among equals.
//!
//! Nearly all events of a run are deliveries and wake-ups a few milliseconds ahead; the timers of connections lie
//! further ahead and rarely come due. The nearest events stand in a short sorted list: a new event passes the few
//! earlier ones, and the next event is at the end. Once the list is full, later events go into a wheel of buckets, each
//! a millisecond wide: an event joins its bucket unsorted, and the next buckets are sorted when the list is empty, so
//! the cost of a timer does not grow with their number. Events beyond the wheel wait in an implicit 4-ary heap until
//! the wheel reaches them. Events are never cancelled; their receiver recognises a stale one by comparing its time with
//! the time it waits for.

use sojourn_base::Instant;

/// Children per node of the heap.
const ARITY: usize = 4;

/// Events in the sorted list at most, if they do not all fall into the present bucket. chosen: 4 KB stay in the
/// first-level cache, and a world with 50 connections never needs the wheel.
const NEAR: usize = 256;

/// Events that fill the sorted list again, or some more. chosen: a new event passes at most these, and the wheel
/// is seldom asked.
const REFILL: usize = 32;

/// A bucket is 2^30 ps wide. chosen: a household has a few events in a millisecond, a gigabit some hundred.
const WIDTH_BITS: u32 = 30;

/// Buckets of the wheel. chosen: 8.8 s, as long as nearly all timers of connections, the first ones of old stacks
/// (6 s) included.
const BUCKETS: usize = 8192;

/// Events of a bucket that are sorted one by one. chosen: as in the standard library.
const FEW: usize = 20;

/// No node.
const NONE: u32 = u32::MAX;

/// An event that waits in the sorted list.
#[derive(Clone, Copy, Debug)]
struct Near<E> {
    at: Instant,
    event: E,
}

/// An event that waits in a bucket of the wheel.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: Instant,
    event: E,
    /// The one that joined its bucket before, or the next free one.
    next: u32,
}

/// An event that waits in the heap.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Instant,
    /// Resolves ties: what is to happen later has the larger number.
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
    /// The nearest events, the next one at the end.
    near: Vec<Near<E>>,
    /// All events in `near` happen before, all others not before; where a bucket begins, or
    /// [`Instant::NEVER`] while the others are none.
    near_end: Instant,
    wheel: Wheel<E>,
    /// Events beyond the wheel.
    far: Heap<E>,
    /// Sequence number of what joins the heap next.
    joins: u64,
    /// Time of the event that was taken last.
    now: Instant,
}

impl<E: Copy> Calendar<E> {
    pub(crate) fn new() -> Self {
        Self {
            near: Vec::with_capacity(NEAR),
            near_end: Instant::NEVER,
            wheel: Wheel::new(),
            far: Heap { entries: Vec::new() },
            joins: 0,
            now: Instant::ZERO,
        }
    }

    /// Bytes of the pending events.
    pub(crate) const fn bytes(&self) -> usize {
        self.near.capacity() * size_of::<Near<E>>()
            + self.wheel.nodes.capacity() * size_of::<Node<E>>()
            + self.far.entries.capacity() * size_of::<Entry<E>>()
    }

    /// `event` happens at `at`, after everything that was scheduled for the same instant earlier.
    ///
    /// # Panics If `at` is in the past: the clock never runs backwards.
    #[inline(never)] // many places schedule, most of them rarely
    pub(crate) fn schedule(&mut self, at: Instant, event: E) {
        assert!(at >= self.now, "an event is scheduled in the past");
        if at >= self.near_end {
            self.schedule_later(at, event);
        } else if self.near.len() < self.near.capacity() {
            // Asked this way, the list is known not to grow here.
            self.insert_near(at, event);
        } else {
            self.schedule_crowded(at, event);
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

    /// Not among the nearest.
    #[inline(never)] // small worlds have nothing there
    fn schedule_later(&mut self, at: Instant, event: E) {
        if self.wheel.reaches(bucket_of(at)) {
            self.wheel.push(at, event);
        } else {
            self.schedule_far(at, event);
        }
    }

    #[cold]
    fn schedule_far(&mut self, at: Instant, event: E) {
        self.far.push(Entry { at, sequence: self.joins, event });
        self.joins += 1;
    }

    /// Among the nearest as far as there is room for them.
    #[cold]
    fn schedule_crowded(&mut self, at: Instant, event: E) {
        self.make_room();
        if at >= self.near_end {
            self.schedule_later(at, event);
        } else {
            self.insert_near(at, event);
        }
    }

    /// The sorted list is full: its later half goes to the wheel, or the list grows if all of it belongs to the
    /// present bucket.
    fn make_room(&mut self) {
        let present = bucket_of(self.now);
        let middle = bucket_of(self.near[self.near.len() / 2].at);
        let from = beginning_of(middle.max(present + 1));
        let later = self.near.partition_point(|event| event.at >= from);
        if later == 0 {
            self.near.reserve(self.near.len());
            return;
        }
        self.turn_to(present);
        self.near_end = from;
        // In the order of time, and of scheduling among equals.
        let later: Vec<Near<E>> = self.near.drain(..later).rev().collect();
        for Near { at, event } in later {
            self.schedule_later(at, event);
        }
    }

    /// The time of the next event, or `until` if that is earlier.
    pub(crate) fn next_before(&mut self, until: Instant) -> Instant {
        if self.near.is_empty() {
            self.refill(until);
        }
        self.near.last().map_or(until, |next| next.at.min(until))
    }

    /// The next event and its time, if that is before `until`; what is later stays where it is.
    #[inline]
    pub(crate) fn pop_before(&mut self, until: Instant) -> Option<(Instant, E)> {
        if self.near.is_empty() {
            self.refill(until);
        }
        let Near { at, event } = *self.near.last()?;
        if at >= until {
            return None;
        }
        self.near.pop();
        self.now = at;
        Some((at, event))
    }

    /// The time that it has reached.
    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// All events before `at` were taken: what is scheduled from now on is not before it.
    pub(crate) fn wait_until(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    /// Sorts the next filled buckets into the list, which is empty. Takes none if the first begins at `until` or later:
    /// the clock may stop at `until`; later inserts may precede this bucket.
    #[inline(never)] // small worlds have nothing there
    fn refill(&mut self, until: Instant) {
        let first = match (self.wheel.first_held(), self.far.first_at()) {
            (Some(bucket), _) => bucket,
            (None, Some(at)) => bucket_of(at),
            (None, None) => return,
        };
        if beginning_of(first) >= until {
            return;
        }
        // Not to a later one: what is scheduled next may be earlier than the others.
        self.turn_to(first);
        while self.near.len() < REFILL
            && let Some(bucket) = self.wheel.first_held()
        {
            self.wheel.take(bucket, &mut self.near);
            self.near_end = beginning_of(bucket + 1);
        }
        self.near.reverse();
    }

    /// Moves the start of the wheel to `bucket`, and takes the events from the heap that it then reaches.
    fn turn_to(&mut self, bucket: u64) {
        self.wheel.begin = bucket;
        while let Some(at) = self.far.first_at()
            && self.wheel.reaches(bucket_of(at))
            && let Some(Entry { at, event, .. }) = self.far.pop()
        {
            self.wheel.push(at, event);
        }
    }
}

/// Number of the bucket for `at`, counted from the start of the run.
const fn bucket_of(at: Instant) -> u64 {
    at.as_ps() >> WIDTH_BITS
}

/// Returns the start of the bucket of this number; [`Instant::NEVER`] after the last one.
const fn beginning_of(bucket: u64) -> Instant {
    if bucket > u64::MAX >> WIDTH_BITS { Instant::NEVER } else { Instant::from_ps(bucket << WIDTH_BITS) }
}

/// Events of the next second, in buckets that are not sorted.
#[derive(Clone, Debug)]
struct Wheel<E> {
    /// Number of the first bucket; there are [`BUCKETS`].
    begin: u64,
    /// Of each bucket, the event that joined it last.
    newest: Vec<u32>,
    /// One bit for each bucket: it holds something.
    held: [u64; BUCKETS / 64],
    nodes: Vec<Node<E>>,
    /// The first free node.
    free: u32,
}

impl<E: Copy> Wheel<E> {
    fn new() -> Self {
        Self { begin: 0, newest: vec![NONE; BUCKETS], held: [0; BUCKETS / 64], nodes: Vec::new(), free: NONE }
    }

    /// Returns true if the wheel has a bucket of this number, which must not be past.
    const fn reaches(&self, bucket: u64) -> bool {
        bucket - self.begin < BUCKETS as u64
    }

    /// An event joins its bucket, which must be there.
    #[inline]
    fn push(&mut self, at: Instant, event: E) {
        let place = place_of(bucket_of(at));
        let next = self.newest[place];
        let node = Node { at, event, next };
        self.newest[place] = match self.nodes.get_mut(self.free as usize) {
            Some(free) => core::mem::replace(&mut self.free, core::mem::replace(free, node).next),
            None => self.add_node(node),
        };
        self.held[place / 64] |= 1 << (place % 64);
    }

    #[cold]
    fn add_node(&mut self, node: Node<E>) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 events are pending")
    }

    /// Number of the first bucket that holds something.
    fn first_held(&self) -> Option<u64> {
        let begin = place_of(self.begin);
        let mut word = begin / 64;
        let mut held = self.held[word] & (u64::MAX << (begin % 64));
        // The word in which the wheel begins is looked at twice, as the wheel ends there, too.
        for _ in 0..self.held.len() {
            if held != 0 {
                break;
            }
            word = (word + 1) % self.held.len();
            held = self.held[word];
        }
        let place = word * 64 + held.trailing_zeros() as usize;
        (held != 0).then(|| self.begin + (place.wrapping_sub(begin) % BUCKETS) as u64)
    }

    /// Appends the events of a bucket to `sorted`, the earliest first.
    fn take(&mut self, bucket: u64, sorted: &mut Vec<Near<E>>) {
        let place = place_of(bucket);
        let newest = core::mem::replace(&mut self.newest[place], NONE);
        self.held[place / 64] &= !(1 << (place % 64));
        let before = sorted.len();
        let (mut next, mut oldest) = (newest, NONE);
        while let Some(node) = self.nodes.get(next as usize) {
            let (at, event) = (node.at, node.event);
            sorted.push(Near { at, event });
            oldest = next;
            next = node.next;
        }
        if let Some(oldest) = self.nodes.get_mut(oldest as usize) {
            oldest.next = self.free;
            self.free = newest;
        }
        let taken = &mut sorted[before..];
        taken.reverse();
        if taken.len() > FEW {
            taken.sort_by_key(|event| event.at);
        } else {
            sort_few(taken);
        }
    }
}

/// Earliest first, and as they stand among equals.
fn sort_few<E: Copy>(events: &mut [Near<E>]) {
    for end in 1..events.len() {
        let new = events[end];
        let mut place = end;
        while place > 0 && events[place - 1].at > new.at {
            events[place] = events[place - 1];
            place -= 1;
        }
        events[place] = new;
    }
}

/// Returns the place in the wheel of the bucket of this number.
#[expect(clippy::cast_possible_truncation, reason = "the remainder is small")]
const fn place_of(bucket: u64) -> usize {
    (bucket % BUCKETS as u64) as usize
}

/// An implicit 4-ary heap: half as deep as a binary one.
#[derive(Clone, Debug)]
struct Heap<E> {
    entries: Vec<Entry<E>>,
}

impl<E: Copy> Heap<E> {
    fn first_at(&self) -> Option<Instant> {
        self.entries.first().map(|first| first.at)
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

    /// The next event, whenever it is; none at [`Instant::NEVER`].
    fn pop<E: Copy>(calendar: &mut Calendar<E>) -> Option<(Instant, E)> {
        calendar.pop_before(Instant::NEVER)
    }

    #[test]
    fn events_at_one_instant_happen_in_the_order_of_scheduling() {
        let mut calendar = Calendar::new();
        for event in 0..10 {
            calendar.schedule(Instant::from_ms(if event % 2 == 0 { 5 } else { 3 }), event);
        }
        let order: Vec<i32> = core::iter::from_fn(|| pop(&mut calendar)).map(|(_, e)| e).collect();
        assert_eq!(order, [1, 3, 5, 7, 9, 0, 2, 4, 6, 8]);
    }

    #[test]
    #[should_panic(expected = "scheduled in the past")]
    fn nothing_is_scheduled_in_the_past() {
        let mut calendar = Calendar::new();
        calendar.schedule(Instant::from_ms(5), ());
        pop(&mut calendar);
        calendar.schedule(Instant::from_ms(4), ());
    }

    proptest! {
        /// Against the standard library's heap, with pushes between pops as in a run, and enough that the sorted
        /// list overflows; in steps of picoseconds, which stay in one bucket, up to some that leave the wheel.
        #[test]
        fn the_calendar_agrees_with_a_binary_heap(
            steps in prop::collection::vec((0_u64..50, 0..3, 0_u64..100), 1..600),
            crowd in 0_u64..1500,
            spread in 1_u64..3000,
            unit_bits in 0_u32..37,
        ) {
            let mut calendar = Calendar::new();
            let mut oracle = BinaryHeap::new();
            let mut now = 0;
            for number in 0..crowd {
                let at = (number * 7919 % spread) << unit_bits;
                calendar.schedule(Instant::from_ps(at), number);
                oracle.push(Reverse((at, number)));
            }
            for (number, (delay, pops, stop)) in (crowd..).zip(steps) {
                // Some leave the unit: a timer among packets.
                let delay = if number % 5 == 0 { delay << 38 } else { delay << unit_bits };
                calendar.schedule(Instant::from_ps(now + delay), number);
                oracle.push(Reverse((now + delay, number)));
                for _ in 0..pops {
                    let ours = pop(&mut calendar).map(|(at, event)| (at.as_ps(), event));
                    prop_assert_eq!(ours, oracle.pop().map(|Reverse(entry)| entry));
                    now = ours.map_or(now, |(at, _)| at);
                }
                // Sometimes the clock stops on the way to the next event.
                if stop < 50 {
                    let until = now + (stop << unit_bits);
                    let ours = calendar.pop_before(Instant::from_ps(until));
                    let ours = ours.map(|(at, event)| (at.as_ps(), event));
                    let due = oracle.peek().is_some_and(|Reverse((at, _))| *at < until);
                    let theirs = if due { oracle.pop() } else { None };
                    prop_assert_eq!(ours, theirs.map(|Reverse(entry)| entry));
                    now = ours.map_or(until, |(at, _)| at);
                    calendar.wait_until(Instant::from_ps(now));
                }
            }
            while let Some((at, event)) = pop(&mut calendar) {
                prop_assert_eq!(Some(Reverse((at.as_ps(), event))), oracle.pop());
            }
            prop_assert!(oracle.is_empty());
        }
    }

    #[test]
    fn what_never_happens_is_not_taken() {
        let mut calendar = Calendar::new();
        calendar.schedule(Instant::NEVER, 0);
        for event in 1..=1000 {
            calendar.schedule(Instant::from_ms(event), event);
        }
        let order: Vec<u64> = core::iter::from_fn(|| pop(&mut calendar)).map(|(_, event)| event).collect();
        assert!(order.into_iter().eq(1..=1000));
    }
}
