//! Seconds in which a home with data gets its paid rate.
//!
//! A second counts if the home held packets for nine tenths of it, and it has its tier if four fifths of the rate were sent in it.
//!
//! Source: four fifths are the bar of FCC DA 18-710, II.B (80 % of tests at 80 % of the speed). chosen: a second is what a speed test
//! shows, and a sender that keeps up empties its queue for some milliseconds at a time.
//! Deviations: none known.

use sojourn_base::{BitRate, Instant, ModemCounters, Span};

const SECOND: Span = Span::from_s(1);
const BUSY: Span = Span::from_ms(900);

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tier {
    /// Bytes of a second with the tier; none if nothing limits the home.
    enough: u64,
    second: u64,
    sent: u64,
    busy: Span,
    /// It holds packets from here on.
    since: Option<Instant>,
}

impl Tier {
    /// An idle home of this sustained rate.
    pub(super) fn new(rate: BitRate) -> Self {
        Self { enough: rate.bytes_in(SECOND).0 * 4 / 5, second: 0, sent: 0, busy: Span::ZERO, since: None }
    }

    /// The home has sent `sent` bytes at `now`, and holds packets or none from here on.
    pub(super) fn turn(&mut self, now: Instant, (sent, holds): (u64, bool), counters: &mut ModemCounters) {
        if self.enough == 0 {
            return;
        }
        self.settle(now, counters);
        self.sent += sent;
        if let Some(since) = self.since {
            self.busy += now.saturating_since(since);
        }
        self.since = holds.then_some(now);
    }

    /// Counts the seconds that are over by `now`.
    pub(super) fn settle(&mut self, now: Instant, counters: &mut ModemCounters) {
        let current = now.as_ps() / SECOND.as_ps();
        while self.second < current {
            let Some(since) = self.since else {
                self.end(counters);
                self.second = current; // nothing was held in those between
                return;
            };
            let end = Instant::ZERO + SECOND * (self.second + 1);
            self.busy += end.saturating_since(since);
            self.since = Some(end);
            self.end(counters);
            self.second += 1;
        }
    }

    fn end(&mut self, counters: &mut ModemCounters) {
        let is_counted = self.busy >= BUSY;
        counters.busy_seconds += u64::from(is_counted);
        counters.tier_seconds += u64::from(is_counted && self.sent >= self.enough);
        (self.sent, self.busy) = (0, Span::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_the_tier_if_four_fifths_of_it_were_sent_while_the_home_held_packets() {
        // 8 Mb/s: 800,000 B a second are enough.
        let mut tier = Tier::new(BitRate::from_mbps(8));
        let mut counters = ModemCounters::default();
        let mut at = |ms: u64, sent: u64, holds: bool| {
            tier.turn(Instant::from_ms(ms), (sent, holds), &mut counters);
            (counters.busy_seconds, counters.tier_seconds)
        };
        // Held from 0.05 to 0.96 s: 910 ms, with enough.
        at(50, 0, true);
        assert_eq!(at(960, 800_000, false), (0, 0));
        // From 1.2 s on held for ever: 800 ms of that second do not count; then 799,999 B, then enough, then nothing for two.
        assert_eq!(at(1_200, 0, true), (1, 1));
        assert_eq!(at(2_500, 799_999, true), (1, 1));
        assert_eq!(at(3_000, 0, true), (2, 1));
        at(3_999, 900_000, true);
        assert_eq!(at(6_000, 0, false), (5, 2));
        // Idle for a long time.
        assert_eq!(at(60_000, 0, true), (5, 2));
        // Nothing limits it: no second counts.
        let mut free = Tier::new(BitRate::ZERO);
        let mut none = ModemCounters::default();
        free.turn(Instant::ZERO, (0, true), &mut none);
        free.settle(Instant::from_s(10), &mut none);
        assert_eq!(none, ModemCounters::default());
    }
}
