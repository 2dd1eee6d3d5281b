//! The request-grant loop: a request can be granted N MAP intervals after it has left.
//!
//! The requests of a MAP, piggybacked or not, can be granted a fixed number of MAPs later on; bytes beyond a grant stay
//! requested. White 2012 keeps a vector of two sums, `REQ(0)` at the CMTS and `REQ(1)` on its way; here is a list of
//! the requests on their way, so that any delay will do, and with the MAPs that neither request nor grant anything left
//! out.
//!
//! Source: White 2012 §2.2.2; White 2013 §3.1.
//! Deviations: none known. A property test compares with the vector, stepped at each MAP.

use crate::docsis::map::MapClock;
use alloc::collections::VecDeque;
use sojourn_base::{Bytes, Instant, Span};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct RequestGrant {
    clock: MapClock,
    /// MAPs from a request to its grant.
    delay: u64,
    /// Requested, and grantable at the next MAP: `REQ(0)`.
    grantable: Bytes,
    /// Requested, and grantable at a later MAP: its number and the bytes, in order. `REQ(1)`, if the delay is two MAPs.
    on_their_way: VecDeque<(u64, Bytes)>,
    /// To be requested at the next MAP.
    unrequested: Bytes,
    /// Everything ever requested or granted.
    requested: Bytes,
    granted: Bytes,
}

/// The next MAP that can grant something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grantable {
    /// Its place: 0 for the next MAP, 1 for the one after.
    pub(crate) ahead: u64,
    /// How much it can grant.
    pub(crate) bytes: Bytes,
}

impl RequestGrant {
    /// # Panics
    /// If `grant_delay` is zero: a MAP cannot grant what is requested in it.
    pub(crate) const fn new(map_interval: Span, grant_delay: u32) -> Self {
        assert!(grant_delay > 0, "a grant follows in a later MAP");
        Self {
            clock: MapClock::new(map_interval),
            delay: grant_delay as u64,
            grantable: Bytes::ZERO,
            on_their_way: VecDeque::new(),
            unrequested: Bytes::ZERO,
            requested: Bytes::ZERO,
            granted: Bytes::ZERO,
        }
    }

    /// The MAPs, of which the next has not been dealt with.
    pub(crate) const fn clock(&self) -> &MapClock {
        &self.clock
    }

    /// `bytes` more are queued: when their request leaves, which is the first MAP not before `now`.
    /// The caller has dealt with the grants up to `now`.
    pub(crate) fn on_queued(&mut self, now: Instant, bytes: Bytes) -> Instant {
        self.pass(now);
        if self.clock.has_just_started(now) {
            // Queued at the very start of a MAP: in time for its request.
            self.requested += bytes;
            self.travel(self.clock.number() - 1, bytes);
            now
        } else {
            self.request(bytes);
            self.clock.starts_at()
        }
    }

    /// The next MAP requests `bytes` more.
    pub(crate) fn request(&mut self, bytes: Bytes) {
        self.unrequested += bytes;
    }

    /// The next MAP that can grant something, if anything is requested.
    #[inline]
    pub(crate) fn next(&self) -> Option<Grantable> {
        let grantable = |ahead, bytes| Some(Grantable { ahead, bytes });
        if self.grantable > Bytes::ZERO {
            grantable(0, self.grantable)
        } else if let Some((number, bytes)) = self.on_their_way.front() {
            grantable(number - self.clock.number(), *bytes)
        } else if self.unrequested > Bytes::ZERO {
            grantable(self.delay, self.unrequested)
        } else {
            None
        }
    }

    /// Start of the next MAP that can grant something; [`Instant::NEVER`] if nothing is requested.
    pub(crate) fn next_grant(&self) -> Instant {
        self.next().map_or(Instant::NEVER, |grantable| self.clock.start_ahead(grantable.ahead))
    }

    /// The MAP at [`RequestGrant::next_grant`] begins: its number.
    pub(crate) fn on_map(&mut self) -> u64 {
        debug_assert!(self.next_grant() < Instant::NEVER, "nothing is queued");
        while self.grantable == Bytes::ZERO {
            self.step();
        }
        self.clock.number()
    }

    /// The MAP that [`RequestGrant::next`] names, and whose requests have left, grants at most `limit` bytes: how many
    /// it grants.
    pub(crate) fn grant(&mut self, limit: Bytes) -> Bytes {
        let bytes = if self.grantable > Bytes::ZERO {
            let bytes = limit.min(self.grantable);
            self.grantable -= bytes;
            bytes
        } else if let Some((_, waiting)) = self.on_their_way.front_mut() {
            let bytes = limit.min(*waiting);
            *waiting -= bytes;
            if *waiting == Bytes::ZERO {
                self.on_their_way.pop_front();
            }
            bytes
        } else {
            Bytes::ZERO
        };
        self.granted += bytes;
        bytes
    }

    /// The first MAP not before `now`, at which bytes queued now are requested. Deals with the MAPs
    /// in between.
    pub(crate) fn next_request(&mut self, now: Instant) -> Instant {
        self.pass(now);
        if self.clock.has_just_started(now) { now } else { self.clock.starts_at() }
    }

    /// Everything ever requested.
    pub(crate) const fn requested(&self) -> Bytes {
        self.requested
    }

    /// Everything ever granted.
    pub(crate) const fn granted(&self) -> Bytes {
        self.granted
    }

    /// Requested and not granted.
    #[cfg(test)]
    pub(crate) fn outstanding(&self) -> Bytes {
        let on_their_way = self.on_their_way.iter().map(|(_, bytes)| bytes.0).sum();
        self.grantable + Bytes(on_their_way)
    }

    /// Deal with the MAPs up to `now`, which grant nothing.
    pub(crate) fn pass(&mut self, now: Instant) {
        while self.clock.starts_at() <= now {
            debug_assert_eq!(self.grantable, Bytes::ZERO, "a grant was missed");
            if self.on_their_way.is_empty() && self.unrequested == Bytes::ZERO {
                self.clock.pass(now);
                return;
            }
            self.step();
        }
    }

    /// The next MAP is over: its request is on its way, and those that arrive can be granted.
    pub(crate) fn step(&mut self) {
        let number = self.clock.number();
        self.clock.step();
        if self.unrequested > Bytes::ZERO {
            let bytes = core::mem::take(&mut self.unrequested);
            self.requested += bytes;
            self.travel(number, bytes);
        }
        if let Some((at, bytes)) = self.on_their_way.front()
            && *at == self.clock.number()
        {
            self.grantable += *bytes;
            self.on_their_way.pop_front();
        }
    }

    /// MAP `number`, the last that was dealt with, has requested `bytes`.
    fn travel(&mut self, number: u64, bytes: Bytes) {
        if self.delay == 1 {
            self.grantable += bytes;
            return;
        }
        let arrives = number + self.delay;
        match self.on_their_way.back_mut() {
            Some((at, sum)) if *at == arrives => *sum += bytes,
            _ => self.on_their_way.push_back((arrives, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lone_request_is_granted_two_maps_after_it_leaves() {
        // A1: queued in (2(k-1), 2k] ms, requested at 2k, granted at 2k + 4.
        for (us, requested_ms) in [(1, 2), (500, 2), (2000, 2), (2001, 4), (3999, 4), (0, 0)] {
            let mut loop_ = RequestGrant::new(Span::from_ms(2), 2);
            let leaves = loop_.on_queued(Instant::from_us(us), Bytes(100));
            assert_eq!(leaves, Instant::from_ms(requested_ms), "queued at {us} us");
            let grant = Instant::from_ms(requested_ms + 4);
            assert_eq!(loop_.next_grant(), grant, "queued at {us} us");
            assert_eq!(loop_.on_map(), requested_ms / 2 + 2);
            assert_eq!(loop_.grant(Bytes::MAX), Bytes(100));
            loop_.step();
            assert_eq!(loop_.next_grant(), Instant::NEVER);
        }
    }

    #[test]
    fn with_a_delay_of_one_map_the_loop_takes_two_to_four_milliseconds() {
        for (us, requested_ms) in [(1, 2), (500, 2), (2000, 2), (2001, 4), (3999, 4), (0, 0)] {
            let mut loop_ = RequestGrant::new(Span::from_ms(2), 1);
            let leaves = loop_.on_queued(Instant::from_us(us), Bytes(100));
            assert_eq!(leaves, Instant::from_ms(requested_ms), "queued at {us} us");
            let grant = Instant::from_ms(requested_ms + 2);
            assert_eq!(loop_.next_grant(), grant, "queued at {us} us");
            assert_eq!(loop_.on_map(), requested_ms / 2 + 1);
            assert_eq!(loop_.grant(Bytes(60)), Bytes(60));
            loop_.step();
            assert_eq!(loop_.next_grant(), grant + Span::from_ms(2));
            loop_.on_map();
            assert_eq!(loop_.grant(Bytes::MAX), Bytes(40));
            loop_.step();
            assert_eq!(loop_.next_grant(), Instant::NEVER);
        }
    }

    #[test]
    fn ungranted_bytes_stay_requested() {
        // A2: three 1500 B packets at 0.5 ms, 1250 B per MAP.
        let mut loop_ = RequestGrant::new(Span::from_ms(2), 2);
        loop_.on_queued(Instant::from_us(500), Bytes(4500));
        let mut rows = std::vec::Vec::new();
        while loop_.next_grant() < Instant::NEVER {
            let at = loop_.next_grant();
            loop_.on_map();
            let granted = loop_.grant(Bytes(1250));
            loop_.step();
            rows.push((at.as_ns() / 1_000_000, granted.0, loop_.grantable.0));
        }
        assert_eq!(rows, [(6, 1250, 3250), (8, 1250, 2000), (10, 1250, 750), (12, 750, 0)]);
    }

    #[test]
    fn a_long_loop_has_many_requests_on_their_way() {
        // Six MAPs of 2 ms; packets at 0.5, 2.5 and 4.5 ms are requested at 2, 4 and 6 ms.
        let mut loop_ = RequestGrant::new(Span::from_ms(2), 6);
        for (us, bytes) in [(500, 100), (2_500, 200), (4_500, 300)] {
            loop_.on_queued(Instant::from_us(us), Bytes(bytes));
        }
        let mut rows = std::vec::Vec::new();
        while loop_.next_grant() < Instant::NEVER {
            let at = loop_.next_grant();
            loop_.on_map();
            let granted = loop_.grant(Bytes(250));
            loop_.step();
            rows.push((at.as_ns() / 1_000_000, granted.0, loop_.outstanding().0));
        }
        assert_eq!(rows, [(14, 100, 500), (16, 200, 300), (18, 250, 50), (20, 50, 0)]);
    }

    /// The paper's vector, as long as the loop, stepped at each MAP.
    struct Vector {
        requests: std::vec::Vec<u64>,
        queued: u64,
    }

    impl Vector {
        fn on_map(&mut self, limit: u64) -> u64 {
            let grant = limit.min(self.requests[0]);
            self.requests[0] -= grant;
            self.queued -= grant;
            let unrequested = self.queued - self.requests.iter().sum::<u64>();
            self.requests.push(unrequested);
            let arrived = self.requests.remove(0);
            self.requests[0] += arrived;
            grant
        }
    }

    proptest! {
        #[test]
        fn the_loop_equals_the_papers_vector_at_every_map(
            arrivals in prop::collection::vec((0u64..30_000, 1u64..3000), 1..60),
            limits in prop::collection::vec(100u64..4000, 1..20),
            delay in 1..8_u32,
        ) {
            // W12-91: requested = granted + outstanding, always. Times in units of 100 µs, so that
            // many arrivals fall on the start of a MAP (every 20 units).
            let unit = Span::from_us(100);
            let mut arrivals: std::vec::Vec<_> =
                arrivals.into_iter().map(|(t, b)| (t % 2_000, b)).collect();
            arrivals.sort_unstable();
            let mut arrivals = arrivals.into_iter().peekable();
            let mut vector = Vector {
                requests: std::vec![0; delay as usize],
                queued: 0,
            };
            let mut loop_ = RequestGrant::new(unit * 20, delay);
            for map in 0..4_000_u64 {
                let at = Instant::ZERO + unit * (20 * map);
                while let Some((t, bytes)) = arrivals.next_if(|(t, _)| *t < 20 * map) {
                    loop_.on_queued(Instant::ZERO + unit * t, Bytes(bytes));
                    vector.queued += bytes;
                }
                let limit = limits[usize::try_from(map).unwrap() % limits.len()];
                let grant = if loop_.next_grant() == at {
                    prop_assert_eq!(loop_.on_map(), map);
                    let grant = loop_.grant(Bytes(limit)).0;
                    loop_.step();
                    grant
                } else {
                    0
                };
                // A packet queued at the very start of a MAP is in time for its request.
                while let Some((t, bytes)) = arrivals.next_if(|(t, _)| *t == 20 * map) {
                    loop_.on_queued(Instant::ZERO + unit * t, Bytes(bytes));
                    vector.queued += bytes;
                }
                prop_assert_eq!(grant, vector.on_map(limit));
                prop_assert!(loop_.next_grant() > at);
                prop_assert_eq!(loop_.requested(), loop_.granted() + loop_.outstanding());
            }
            prop_assert_eq!(vector.queued, 0);
        }
    }
}
