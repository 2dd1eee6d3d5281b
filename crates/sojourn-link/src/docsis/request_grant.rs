//! The request-grant loop of the 2012 modem: two MAP intervals (or one) between a request and its grant.
//!
//! Bytes queued since the last MAP are requested at the next one, piggybacked or not; a request can be
//! granted from two MAPs later on, and what a grant does not cover stays requested. The paper keeps a
//! vector of two sums, `REQ(0)` at the CMTS and `REQ(1)` on its way; here are the same sums, with the
//! MAPs that grant nothing left out. With a grant delay of one MAP there is no sum on its way.
//!
//! Source: White 2012 §2.2.2.
//! Deviations: none known. A property test compares with the vector, stepped at each MAP.

use super::map::MapClock;
use sojourn_base::{Bytes, Instant, Span};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestGrant {
    clock: MapClock,
    /// A request is granted at the next MAP already, not at the one after.
    at_next_map: bool,
    /// Requested, and grantable at the next MAP: `REQ(0)`.
    grantable: Bytes,
    /// Requested at the last MAP, grantable one MAP later: `REQ(1)`.
    arriving: Bytes,
    /// Queued since the last MAP.
    unrequested: Bytes,
    /// Everything ever requested or granted.
    requested: Bytes,
    granted: Bytes,
}

impl RequestGrant {
    /// # Panics
    /// If `grant_delay` is neither one nor two MAPs.
    pub(crate) const fn new(map_interval: Span, grant_delay: u32) -> Self {
        assert!(
            grant_delay == 1 || grant_delay == 2,
            "a grant follows one or two MAPs later"
        );
        Self {
            clock: MapClock::new(map_interval),
            at_next_map: grant_delay == 1,
            grantable: Bytes::ZERO,
            arriving: Bytes::ZERO,
            unrequested: Bytes::ZERO,
            requested: Bytes::ZERO,
            granted: Bytes::ZERO,
        }
    }

    /// `bytes` more are queued: when their request leaves, which is the first MAP not before `now`.
    /// The caller has dealt with the grants up to `now`.
    pub(crate) fn on_queued(&mut self, now: Instant, bytes: Bytes) -> Instant {
        self.pass(now);
        if self.clock.has_just_started(now) {
            // Queued at the very start of a MAP: in time for its request.
            if self.at_next_map {
                self.grantable += bytes;
            } else {
                self.arriving += bytes;
            }
            self.requested += bytes;
            now
        } else {
            self.unrequested += bytes;
            self.clock.starts_at()
        }
    }

    /// Start of the next MAP that can grant something; [`Instant::NEVER`] if nothing is queued.
    pub(crate) fn next_grant(&self) -> Instant {
        let ahead = if self.grantable > Bytes::ZERO {
            0
        } else if self.arriving > Bytes::ZERO {
            1
        } else if self.unrequested > Bytes::ZERO {
            2 - u64::from(self.at_next_map)
        } else {
            return Instant::NEVER;
        };
        self.clock.start_ahead(ahead)
    }

    /// The MAP at [`RequestGrant::next_grant`] begins: its number.
    pub(crate) fn on_map(&mut self) -> u64 {
        debug_assert!(self.next_grant() < Instant::NEVER, "nothing is queued");
        while self.grantable == Bytes::ZERO {
            self.step();
        }
        self.clock.number()
    }

    /// The MAP that has begun grants at most `limit` bytes: how many it grants.
    pub(crate) fn grant(&mut self, limit: Bytes) -> Bytes {
        let granted = limit.min(self.grantable);
        self.grantable -= granted;
        self.granted += granted;
        self.step();
        granted
    }

    /// The first MAP not before `now`, at which bytes queued now are requested. Deals with the MAPs
    /// in between.
    pub(crate) fn next_request(&mut self, now: Instant) -> Instant {
        self.pass(now);
        if self.clock.has_just_started(now) {
            now
        } else {
            self.clock.starts_at()
        }
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
        self.grantable + self.arriving
    }

    /// Deal with the MAPs up to `now`, which grant nothing.
    fn pass(&mut self, now: Instant) {
        while self.clock.starts_at() <= now {
            if self.arriving == Bytes::ZERO && self.unrequested == Bytes::ZERO {
                debug_assert_eq!(self.grantable, Bytes::ZERO, "a grant was missed");
                self.clock.pass(now);
                return;
            }
            debug_assert_eq!(self.grantable, Bytes::ZERO, "a grant was missed");
            self.step();
        }
    }

    /// The next MAP is over: requests move on by one place.
    fn step(&mut self) {
        if self.at_next_map {
            self.grantable += self.unrequested;
        } else {
            self.grantable += self.arriving;
            self.arriving = self.unrequested;
        }
        self.requested += self.unrequested;
        self.unrequested = Bytes::ZERO;
        self.clock.step();
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
            assert_eq!(loop_.next_grant(), grant + Span::from_ms(2));
            loop_.on_map();
            assert_eq!(loop_.grant(Bytes::MAX), Bytes(40));
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
            rows.push((at.as_ns() / 1_000_000, granted.0, loop_.grantable.0));
        }
        assert_eq!(
            rows,
            [
                (6, 1250, 3250),
                (8, 1250, 2000),
                (10, 1250, 750),
                (12, 750, 0)
            ]
        );
    }

    /// The paper's vector, stepped at each MAP.
    #[derive(Default)]
    struct Vector {
        requests: [u64; 2],
        queued: u64,
    }

    impl Vector {
        fn on_map(&mut self, limit: u64) -> u64 {
            let grant = limit.min(self.requests[0]);
            self.requests[0] = self.requests[1] + (self.requests[0] - grant);
            self.queued -= grant;
            self.requests[1] = self.queued - self.requests[0];
            grant
        }
    }

    proptest! {
        #[test]
        fn the_loop_equals_the_papers_vector_at_every_map(
            arrivals in prop::collection::vec((0u64..30_000, 1u64..3000), 1..60),
            limits in prop::collection::vec(100u64..4000, 1..20),
        ) {
            // W12-91: requested = granted + outstanding, always. Times in units of 100 µs, so that
            // many arrivals fall on the start of a MAP (every 20 units).
            let unit = Span::from_us(100);
            let mut arrivals: std::vec::Vec<_> =
                arrivals.into_iter().map(|(t, b)| (t % 2_000, b)).collect();
            arrivals.sort_unstable();
            let mut arrivals = arrivals.into_iter().peekable();
            let mut vector = Vector::default();
            let mut loop_ = RequestGrant::new(unit * 20, 2);
            for map in 0..4_000_u64 {
                let at = Instant::ZERO + unit * (20 * map);
                while let Some((t, bytes)) = arrivals.next_if(|(t, _)| *t < 20 * map) {
                    loop_.on_queued(Instant::ZERO + unit * t, Bytes(bytes));
                    vector.queued += bytes;
                }
                let limit = limits[usize::try_from(map).unwrap() % limits.len()];
                let grant = if loop_.next_grant() == at {
                    prop_assert_eq!(loop_.on_map(), map);
                    loop_.grant(Bytes(limit)).0
                } else {
                    0
                };
                // What is queued at the very start of a MAP is in time for its request.
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
