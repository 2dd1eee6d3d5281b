//! HyStart++: leave slow start when the delay rises, before the buffer overflows.
//!
//! Source: RFC 9406 sections 4.2 (algorithm) and 4.3 (constants).
//! Deviations: none known. Used in the first slow start only, as section 4.3 recommends.

use super::Ack;
use sojourn_base::Span;

/// State of one slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStartPlusPlus {
    /// Segments of growth per acknowledgement, `L`.
    limit: u32,
    round_end: u32,
    last_minimum: Option<Span>,
    minimum: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Span,
    rounds: u32,
}

/// Samples that make a round's minimum credible.
const SAMPLES: u32 = 8;
/// Bounds of the rise that counts.
const MINIMUM_RISE: Span = Span::from_ms(4);
const MAXIMUM_RISE: Span = Span::from_ms(16);
/// A minimum may rise by this part of itself.
const RISE_DIVISOR: u64 = 8;
/// Conservative growth is slower by this factor.
const GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start.
const ROUNDS: u32 = 5;
/// `L` without pacing.
const UNPACED_LIMIT: u32 = 8;

impl HyStartPlusPlus {
    pub(crate) const fn new(paced: bool) -> Self {
        Self {
            limit: if paced { u32::MAX } else { UNPACED_LIMIT },
            round_end: 0,
            last_minimum: None,
            minimum: None,
            samples: 0,
            conservative: None,
        }
    }

    /// Follow rounds and delays; true if slow start is over.
    pub(crate) fn on_ack(&mut self, ack: &Ack) -> bool {
        if ack.first >= self.round_end {
            self.round_end = ack.next;
            self.last_minimum = self.minimum.take();
            self.samples = 0;
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds >= ROUNDS {
                    return true;
                }
            }
        }
        if let Some(sample) = ack.round_trip {
            self.minimum = Some(self.minimum.map_or(sample, |low| low.min(sample)));
            self.samples += 1;
        }
        if self.samples >= SAMPLES
            && let Some(current) = self.minimum
        {
            match self.conservative {
                Some(conservative) if current < conservative.baseline => self.conservative = None,
                None if self.last_minimum.is_some_and(|last| current >= last + rise_that_counts(last)) => {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
                _ => {}
            }
        }
        false
    }

    /// Growth for `acked` segments.
    pub(crate) fn growth(&self, acked: u32) -> f64 {
        let full = f64::from(acked.min(self.limit));
        if self.conservative.is_some() { full / GROWTH_DIVISOR } else { full }
    }
}

fn rise_that_counts(minimum: Span) -> Span {
    (minimum / RISE_DIVISOR).clamp(MINIMUM_RISE, MAXIMUM_RISE)
}

#[cfg(test)]
mod tests {
    use super::super::testing::ack_at;
    use super::*;
    use sojourn_base::Instant;

    /// One round of `count` samples of `ms`; the round ends with segment `end`.
    fn round(hystart: &mut HyStartPlusPlus, end: u32, ms: f64, count: u32) -> bool {
        (0..count).any(|_| {
            hystart.on_ack(&Ack {
                round_trip: Some(Span::from_secs_f64(ms / 1000.0)),
                first: end,
                next: end + 1,
                ..ack_at(Instant::ZERO, 1)
            }) | {
                // Further acknowledgements of the same round do not reach its end.
                hystart.round_end = end + 1;
                false
            }
        })
    }

    #[test]
    fn the_rise_that_counts_follows_the_round_trip() {
        for (last, rise) in [(100, 12_500), (20, 4_000), (200, 16_000)] {
            assert_eq!(rise_that_counts(Span::from_ms(last)), Span::from_us(rise));
        }
    }

    #[test]
    fn eight_samples_above_the_rise_start_the_conservative_phase() {
        for (last, at_least) in [(100.0, 112.5), (20.0, 24.0), (200.0, 216.0)] {
            for (delay, samples, conservative) in
                [(at_least, 8, true), (at_least, 7, false), (at_least - 0.001, 8, false)]
            {
                let mut hystart = HyStartPlusPlus::new(false);
                round(&mut hystart, 1, last, 8);
                round(&mut hystart, 2, delay, samples);
                assert_eq!(hystart.conservative.is_some(), conservative, "last {last}, now {delay}, {samples} samples");
            }
        }
    }

    #[test]
    fn growth_is_limited_and_a_quarter_of_it_in_the_conservative_phase() {
        let mut hystart = HyStartPlusPlus::new(false);
        assert!((hystart.growth(20) - 8.0).abs() < 1e-12);
        round(&mut hystart, 1, 20.0, 8);
        round(&mut hystart, 2, 30.0, 8);
        assert!((hystart.growth(1) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn five_conservative_rounds_end_slow_start_and_a_smaller_delay_resumes_it() {
        let mut hystart = HyStartPlusPlus::new(false);
        round(&mut hystart, 1, 20.0, 8);
        round(&mut hystart, 2, 30.0, 8);
        let ended = (3..20).position(|end| round(&mut hystart, end, 30.0, 8));
        // The round that saw the rise is the first of five.
        assert_eq!(ended, Some(4));

        let mut hystart = HyStartPlusPlus::new(false);
        round(&mut hystart, 1, 20.0, 8);
        round(&mut hystart, 2, 30.0, 8);
        round(&mut hystart, 3, 29.0, 8);
        assert!(hystart.conservative.is_none());
    }
}
