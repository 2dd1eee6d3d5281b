//! MAP intervals: the clock of a DOCSIS upstream.
//!
//! MAP number k starts at k·M and covers the interval up to the next. A modem that has nothing to send
//! does not follow the clock; it looks up where the clock stands when a packet arrives.
//!
//! Source: White 2012 §2.2.2; White 2013 §3.1.
//! Deviations: none known.

use crate::{Draw, LinkContext};
use sojourn_base::{Instant, Span};

/// The next MAP that has not been dealt with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapClock {
    interval: Span,
    number: u64,
    starts_at: Instant,
}

impl MapClock {
    /// # Panics
    /// If the interval is zero.
    pub(crate) const fn new(interval: Span) -> Self {
        assert!(!interval.is_zero(), "a MAP interval takes time");
        Self { interval, number: 0, starts_at: Instant::ZERO }
    }

    /// Number of the next MAP.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Start of the next MAP.
    pub(crate) const fn starts_at(&self) -> Instant {
        self.starts_at
    }

    /// Length of a MAP interval.
    pub(crate) const fn interval(&self) -> Span {
        self.interval
    }

    /// Start of the MAP `ahead` places after the next one.
    pub(crate) fn start_ahead(&self, ahead: u64) -> Instant {
        self.starts_at + self.interval * ahead
    }

    /// Returns true if the last handled MAP starts exactly at `now`.
    pub(crate) fn has_just_started(&self, now: Instant) -> bool {
        self.number > 0 && now + self.interval == self.starts_at
    }

    /// The next MAP has been dealt with.
    pub(crate) fn step(&mut self) {
        self.number += 1;
        self.starts_at += self.interval;
    }

    /// Deal with every MAP up to `now` at once: the next MAP is the first one after `now`.
    pub(crate) fn pass(&mut self, now: Instant) {
        if self.starts_at <= now {
            self.number = now.as_ps() / self.interval.as_ps() + 1;
            self.starts_at = Instant::from_ps(self.number * self.interval.as_ps());
        }
    }
}

/// A random stream with one draw per MAP, whether or not the MAP uses it, so that two queue managers meet the same
/// channel in the same MAP (common random numbers). Draws of unused MAPs are skipped when a later one is used; an
/// unused MAP costs a draw but no wake-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapDraws {
    purpose: Draw,
    next: u64,
}

impl MapDraws {
    pub(crate) const fn new(purpose: Draw) -> Self {
        Self { purpose, next: 0 }
    }

    /// The draw of MAP `number`; numbers never decrease, and none is asked for twice.
    pub(crate) fn draw(&mut self, number: u64, context: &mut (impl LinkContext + ?Sized)) -> f64 {
        debug_assert!(number >= self.next, "the draw of MAP {number} is gone");
        while self.next < number && context.work(1) {
            let _ = context.unit(self.purpose);
            self.next += 1;
        }
        self.next += 1;
        context.unit(self.purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Collector;

    #[test]
    fn the_clock_stands_after_the_maps_that_have_passed() {
        let mut clock = MapClock::new(Span::from_ms(2));
        clock.pass(Instant::ZERO);
        assert_eq!((clock.number(), clock.starts_at()), (1, Instant::from_ms(2)));
        assert!(clock.has_just_started(Instant::ZERO));
        clock.pass(Instant::from_us(3_999));
        assert_eq!((clock.number(), clock.starts_at()), (2, Instant::from_ms(4)));
        clock.pass(Instant::from_s(3600));
        assert_eq!(clock.number(), 1_800_001);
        assert_eq!(clock.start_ahead(2), Instant::from_ms(3_600_006));
    }

    #[test]
    fn a_map_gets_the_same_draw_whichever_maps_were_used_before() {
        let used = |maps: &[u64]| {
            let mut context = Collector::default();
            let mut draws = MapDraws::new(Draw::GrantOffset);
            maps.iter().map(|map| draws.draw(*map, &mut context)).last()
        };
        assert_eq!(used(&[0, 1, 2, 3, 4, 5]), used(&[5]));
        assert_ne!(used(&[4]), used(&[5]));
    }
}
