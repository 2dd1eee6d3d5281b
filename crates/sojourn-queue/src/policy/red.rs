//! RED: signals an average queue, with a likelihood that grows between two thresholds.
//!
//! Source: Floyd and Jacobson 1993; ns-2.35 `queue/red.cc`; Akhtar 2013, slide "RED configuration"; Floyd, Gummadi and
//! Shenker 2001 for the adaptive form.
//! Units and ranges: queues in packets or bytes, as the limit is; likelihoods in 0..=1.
//! Deviations: the arrival itself is dropped where ns-2 may drop another packet of the tail; an empty queue ages by the
//! whole packets that the link could have sent, as in ns-2.

use alloc::vec::Vec;
use sojourn_base::{Instant, Span, math};

/// Thresholds and the likelihood at the upper one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedCurve {
    /// Average below which nothing is signalled.
    pub minimum: f64,
    /// Average at which the likelihood is `most`.
    pub maximum: f64,
    /// Likelihood at the upper threshold.
    pub most: f64,
}

impl RedCurve {
    /// The likelihood at an average of at least `minimum`, before it is spread.
    pub fn likelihood(&self, average: f64, gentle: bool) -> f64 {
        let found = if average < self.maximum {
            let width = self.maximum - self.minimum;
            self.most * (average - self.minimum) / if width > 0.0 { width } else { 1.0 }
        } else if gentle {
            (1.0 - self.most) * average / self.maximum + 2.0 * self.most - 1.0
        } else {
            1.0
        };
        found.min(1.0)
    }
}

/// How signals follow from the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedLaw {
    /// Weight of a new length in the average.
    pub weight: f64,
    /// Beyond the upper threshold the likelihood rises to 1 at its double, instead of being 1 at once.
    pub gentle: bool,
    /// At least 1/p packets between two signals.
    pub wait: bool,
    /// A packet is signalled with a likelihood in the ratio of its length to this mean, in bytes; `None` for all alike.
    pub scale_by: Option<f64>,
    /// Packets that the link sends in a second.
    pub packets_per_second: f64,
    /// Above this likelihood capable packets are dropped instead of marked, and nothing is forced; `None`: they are marked up
    /// to the upper threshold.
    pub mark_limit: Option<f64>,
    /// The likelihood at the upper threshold follows the average.
    pub adaptive: bool,
}

/// Floyd 2001: time between two steps of the likelihood at the upper threshold.
const ADAPTATION: Span = Span::from_ms(500);

impl RedLaw {
    /// Spreads signals over the packets since the last one: `count` of them, or mean packets.
    pub fn spread(&self, likelihood: f64, count: f64, length: f64) -> f64 {
        let due = count * likelihood;
        let spread = if self.wait {
            if due < 1.0 {
                0.0
            } else if due < 2.0 {
                likelihood / (2.0 - due)
            } else {
                1.0
            }
        } else if due < 1.0 {
            likelihood / (1.0 - due)
        } else {
            1.0
        };
        match self.scale_by {
            Some(mean) if spread < 1.0 => (spread * length / mean).min(1.0),
            _ => spread.min(1.0),
        }
    }
}

/// Judgement on an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedSignal {
    /// Keep it.
    Keep,
    /// Mark it if it can be marked, otherwise drop it.
    Mark,
    /// Drop it.
    Drop,
    /// Drop it, because the average is above what can be signalled.
    Force,
}

/// RED's state for the packets of a class.
#[derive(Clone, Copy, Debug)]
struct ClassState {
    curve: RedCurve,
    /// Packets since the last signal.
    count: u64,
    count_bytes: u64,
    /// The average was above the lower threshold before.
    was_above: bool,
    /// Time of the last change of the likelihood at the upper threshold, or of the first packet.
    adapted_at: Option<Instant>,
}

impl ClassState {
    fn restart(&mut self) {
        (self.count, self.count_bytes) = (0, 0);
    }

    /// Floyd 2001: keeps the average in the middle of the thresholds.
    fn adapt(&mut self, now: Instant, average: f64) {
        const INCREASE: f64 = 0.01;
        const DECREASE: f64 = 0.9;
        const TOP: f64 = 0.5;
        let last = *self.adapted_at.get_or_insert(now);
        if now.saturating_since(last) < ADAPTATION {
            return;
        }
        let band = 0.4 * (self.curve.maximum - self.curve.minimum);
        if average < self.curve.minimum + band && self.curve.most > 0.0 {
            self.curve.most *= DECREASE;
        } else if average > self.curve.maximum - band && self.curve.most < TOP {
            self.curve.most += INCREASE.min(self.curve.most / 4.0);
        } else {
            return;
        }
        self.adapted_at = Some(now);
    }
}

/// State of one queue: one average, and a count for each class.
#[derive(Clone, Debug)]
pub struct Red {
    average: f64,
    classes: Vec<ClassState>,
    /// Time at which the link found the queue empty, if it is idle.
    idle_since: Option<Instant>,
}

impl Red {
    /// An empty queue with a curve for each class.
    pub fn new(curves: impl Iterator<Item = RedCurve>) -> Self {
        let class = |curve| ClassState { curve, count: 0, count_bytes: 0, was_above: false, adapted_at: None };
        Self { average: 0.0, classes: curves.map(class).collect(), idle_since: Some(Instant::ZERO) }
    }

    /// The rate of the link has changed: thresholds of each class; what adaptation has found stays.
    pub fn set_thresholds(&mut self, curves: impl Iterator<Item = RedCurve>) {
        for (class, curve) in self.classes.iter_mut().zip(curves) {
            class.curve = RedCurve { most: class.curve.most, ..curve };
        }
    }

    /// A packet of `length` bytes of a class finds `queue` packets or bytes waiting.
    pub fn on_arrival(
        &mut self,
        law: &RedLaw,
        now: Instant,
        class: usize,
        queue: f64,
        length: u32,
        draw: impl FnOnce() -> f64,
    ) -> RedSignal {
        self.age(law, now, queue);
        let average = self.average;
        let state = &mut self.classes[class];
        if law.adaptive {
            state.adapt(now, average);
        }
        state.count += 1;
        state.count_bytes += u64::from(length);
        let curve = state.curve;
        if average < curve.minimum || queue <= 1.0 {
            state.was_above = false;
            return RedSignal::Keep;
        }
        let ceiling = if law.gentle { 2.0 * curve.maximum } else { curve.maximum };
        if law.mark_limit.is_none() && average >= ceiling {
            state.restart();
            return RedSignal::Force;
        }
        if !state.was_above {
            state.was_above = true;
            (state.count, state.count_bytes) = (1, u64::from(length));
            return RedSignal::Keep;
        }
        let likelihood = curve.likelihood(average, law.gentle);
        let count = match law.scale_by {
            Some(mean) => math::floor(state.count_bytes as f64 / mean),
            None => state.count as f64,
        };
        let spread = law.spread(likelihood, count, f64::from(length));
        if draw() >= spread {
            return RedSignal::Keep;
        }
        state.restart();
        if law.mark_limit.is_none_or(|limit| likelihood < limit) { RedSignal::Mark } else { RedSignal::Drop }
    }

    /// An arrival of a class found no room.
    pub fn on_overflow(&mut self, class: usize) {
        self.classes[class].restart();
    }

    /// The link asked for a packet and there was none.
    pub fn on_empty(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
    }

    /// The average queue, in packets or bytes.
    pub const fn average(&self) -> f64 {
        self.average
    }

    /// The likelihood at the upper threshold of a class.
    pub fn most(&self, class: usize) -> f64 {
        self.classes[class].curve.most
    }

    fn age(&mut self, law: &RedLaw, now: Instant, queue: f64) {
        let missed = self
            .idle_since
            .take()
            .map_or(0, |since| whole(law.packets_per_second * now.saturating_since(since).as_secs_f64()));
        let kept = math::powi(1.0 - law.weight, missed.saturating_add(1));
        self.average = self.average * kept + law.weight * queue;
    }
}

/// The whole part; the largest whole number for anything larger.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and is not below zero")]
fn whole(x: f64) -> u32 {
    x as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: RedCurve = RedCurve { minimum: 20.0, maximum: 120.0, most: 0.04 };

    const LAW: RedLaw = RedLaw {
        weight: 0.006,
        gentle: false,
        wait: true,
        scale_by: None,
        packets_per_second: 666.666_666_666_666_7,
        mark_limit: None,
        adaptive: false,
    };

    fn close(ours: f64, theirs: f64) -> bool {
        (ours - theirs).abs() < 1e-12
    }

    #[test]
    fn the_average_follows_what_arrivals_find() {
        let law = RedLaw { weight: 0.25, ..LAW };
        let mut red = Red::new([CURVE].into_iter());
        for (found, average) in
            (0_u8..).zip([0.0, 0.25, 0.6875, 1.265_625, 1.949_218_75, 2.711_914_062_5, 3.533_935_546_875])
        {
            let signal = red.on_arrival(&law, Instant::ZERO, 0, f64::from(found), 1500, || 0.0);
            assert_eq!(signal, RedSignal::Keep);
            assert!(close(red.average(), average), "{found}");
        }
    }

    /// Arrivals that find 0 to 6 packets, with one draw each for those that draw.
    fn red_2(wait: bool, draws: &[f64]) -> (Vec<RedSignal>, usize) {
        let law = RedLaw { weight: 0.25, wait, ..LAW };
        let curve = RedCurve { minimum: 1.0, maximum: 5.0, most: 0.5 };
        let mut red = Red::new([curve].into_iter());
        let mut drawn = 0;
        let signals = (0..=5).map(|found| {
            red.on_arrival(&law, Instant::ZERO, 0, f64::from(found), 1500, || {
                drawn += 1;
                draws[drawn - 1]
            })
        });
        let signals = signals.collect();
        (signals, drawn)
    }

    #[test]
    fn the_first_packet_above_the_threshold_is_spared_and_later_ones_draw() {
        use RedSignal::{Keep, Mark};
        let first_four = [Keep; 4];
        // Arrival 5: 0.15556978; arrival 6 after that was kept: 0.59768156.
        for (draws, fifth, sixth) in
            [([0.15, 0.99], Mark, Keep), ([0.16, 0.597], Keep, Mark), ([0.16, 0.598], Keep, Keep)]
        {
            let (signals, drawn) = red_2(false, &draws);
            assert_eq!(signals[..4], first_four);
            assert_eq!(signals[4..], [fifth, sixth], "{draws:?}");
            assert_eq!(drawn, 2);
        }
        // With wait both have 0.
        let (signals, _) = red_2(true, &[0.0, 0.0]);
        assert_eq!(signals, [Keep; 6]);
    }

    #[test]
    fn signals_are_spread_over_the_packets_between_them() {
        let plain = RedLaw { wait: false, ..LAW };
        for (law, count, spread) in [
            (plain, 1.0, 0.02 / 0.98),
            (plain, 10.0, 0.025),
            (plain, 25.0, 0.04),
            (plain, 49.0, 1.0),
            (LAW, 49.0, 0.0),
            (LAW, 50.0, 0.02),
            (LAW, 75.0, 0.04),
            (LAW, 99.0, 1.0),
            (LAW, 100.0, 1.0),
        ] {
            assert!(close(law.spread(0.02, count, 1500.0), spread), "{count}");
        }
    }

    #[test]
    fn gentle_reaches_certainty_at_twice_the_upper_threshold() {
        assert!(close(CURVE.likelihood(180.0, true), 0.52));
        assert!(close(CURVE.likelihood(240.0, true), 1.0));
        assert!(close(CURVE.likelihood(120.0, false), 1.0));
        for gentle in [true, false] {
            assert!(CURVE.likelihood(119.999_999, gentle) < 0.04);
        }
    }

    #[test]
    fn an_idle_queue_ages_by_what_the_link_could_have_sent() {
        let mut red = Red::new([CURVE].into_iter());
        red.average = 40.0;
        red.idle_since = None;
        red.on_empty(Instant::from_s(5));
        // Asking again changes nothing.
        red.on_empty(Instant::from_ms(5500));
        // 1333 packets in two seconds, and the arrival: 40 × 0.994^1334.
        let _ = red.on_arrival(&LAW, Instant::from_s(7), 0, 0.0, 1500, || 0.0);
        assert!((red.average() - 0.013_046_582_9).abs() < 1e-9, "{}", red.average());
    }

    #[test]
    fn small_packets_are_signalled_less() {
        let law = RedLaw { scale_by: Some(1500.0), wait: false, ..LAW };
        assert!(close(law.spread(0.03, 0.0, 40.0), 0.0008));
    }

    #[test]
    fn classes_have_curves_of_their_own_over_one_average() {
        let other = RedCurve { minimum: 10.0, maximum: 60.0, most: 0.1 };
        assert!(close(CURVE.likelihood(70.0, true), 0.02));
        assert!(close(other.likelihood(70.0, true), 0.25));
        assert!(close(other.likelihood(70.0, false), 1.0));
        let mut red = Red::new([CURVE, other].into_iter());
        red.average = 70.0;
        let law = RedLaw { weight: 0.0, ..LAW };
        let mut arrive = |class| red.on_arrival(&law, Instant::ZERO, class, 70.0, 1500, || 0.0);
        assert_eq!([arrive(0), arrive(1)], [RedSignal::Keep, RedSignal::Force]);
    }

    #[test]
    fn the_adaptive_form_moves_its_likelihood_once_in_half_a_second() {
        let law = RedLaw { adaptive: true, weight: 0.0, ..LAW };
        let mut red = Red::new([CURVE].into_iter());
        let mut at = |ms, average| {
            red.average = average;
            let _ = red.on_arrival(&law, Instant::from_ms(ms), 0, 50.0, 1500, || 1.0);
            red.most(0)
        };
        // Above 80 it rises by the smaller of 0.01 and a quarter, below 60 it falls by a tenth, between it stays.
        assert!(close(at(100, 100.0), 0.04));
        assert!(close(at(600, 100.0), 0.05));
        assert!(close(at(1000, 100.0), 0.05));
        assert!(close(at(1100, 100.0), 0.06));
        assert!(close(at(1600, 70.0), 0.06));
        assert!(close(at(1700, 30.0), 0.054));
    }

    /// Floyd, Gummadi and Shenker 2001, section 3: the target reaches from 0.4 to 0.6 between the thresholds, both ends included;
    /// steps up are the smaller of 0.01 and a quarter, and none leaves 0.5.
    #[test]
    fn the_adaptive_form_rests_on_both_ends_of_its_target_and_at_its_top() {
        let law = RedLaw { adaptive: true, weight: 0.0, ..LAW };
        for (most, average, then) in [
            (0.04, 59.0, 0.036),
            (0.04, 60.0, 0.04),
            (0.04, 80.0, 0.04),
            (0.04, 81.0, 0.05),
            (0.02, 81.0, 0.025),
            (0.49, 81.0, 0.5),
            (0.5, 81.0, 0.5),
            (0.0, 59.0, 0.0),
        ] {
            let mut red = standing(RedCurve { most, ..CURVE }, average);
            for ms in [0, 500] {
                let _ = red.on_arrival(&law, Instant::from_ms(ms), 0, 50.0, 1500, || 1.0);
            }
            assert!(close(red.most(0), then), "{most} at {average}: {}", red.most(0));
        }
    }

    /// A queue with this average, which a law without weight leaves as it is.
    fn standing(curve: RedCurve, average: f64) -> Red {
        Red { average, idle_since: None, ..Red::new([curve].into_iter()) }
    }

    const STEADY: RedLaw = RedLaw { weight: 0.0, wait: false, ..LAW };

    fn arrive(red: &mut Red, law: &RedLaw, length: u32, draw: f64) -> RedSignal {
        red.on_arrival(law, Instant::ZERO, 0, 50.0, length, || draw)
    }

    /// ns-2.35 `red.cc`, `enque`: `qavg >= th_min && qlen > 1`.
    #[test]
    fn the_lower_threshold_counts_and_a_packet_alone_does_not() {
        for (average, queue, draws) in [(20.0, 2.0, true), (19.9, 2.0, false), (20.0, 1.0, false), (110.0, 1.0, false)]
        {
            let (mut red, mut drawn) = (standing(CURVE, average), false);
            for _ in 0..2 {
                let _ = red.on_arrival(&STEADY, Instant::ZERO, 0, queue, 1500, || {
                    drawn = true;
                    1.0
                });
            }
            assert_eq!(drawn, draws, "{average} {queue}");
        }
    }

    /// ns-2.35 `red.cc`, `enque`: everything is dropped from `th_max` on, with `gentle` from its double on.
    #[test]
    fn drops_are_forced_from_the_upper_threshold_or_its_double_on() {
        let gentle = RedLaw { gentle: true, ..STEADY };
        let marking = RedLaw { mark_limit: Some(0.1), ..STEADY };
        for (law, average, forced) in [
            (&STEADY, 119.9, false),
            (&STEADY, 120.0, true),
            (&gentle, 239.9, false),
            (&gentle, 240.0, true),
            (&marking, 240.0, false),
        ] {
            // The first above the lower threshold is spared.
            let expected = if forced { RedSignal::Force } else { RedSignal::Keep };
            assert_eq!(arrive(&mut standing(CURVE, average), law, 1500, 0.0), expected, "{average}");
        }
    }

    /// At an average of 70 the likelihood is 0.02: 0.020408 for the first packet since a signal, 0.020833 for the second, 0.021277
    /// for the third.
    #[test]
    fn signals_overflows_and_forced_drops_begin_the_count_anew() {
        let spared = || {
            let mut red = standing(CURVE, 70.0);
            assert_eq!(arrive(&mut red, &STEADY, 1500, 0.0), RedSignal::Keep);
            red
        };
        assert_eq!(arrive(&mut spared(), &STEADY, 1500, 0.0208), RedSignal::Mark);
        assert_eq!(arrive(&mut spared(), &STEADY, 1500, 0.0209), RedSignal::Keep);
        let mut signalled = spared();
        assert_eq!(arrive(&mut signalled, &STEADY, 1500, 0.0), RedSignal::Mark);
        let mut overflowed = spared();
        overflowed.on_overflow(0);
        let mut forced = spared();
        forced.average = 120.0;
        assert_eq!(arrive(&mut forced, &STEADY, 1500, 1.0), RedSignal::Force);
        forced.average = 70.0;
        for red in [&mut signalled, &mut overflowed, &mut forced] {
            assert_eq!(arrive(red, &STEADY, 1500, 0.0205), RedSignal::Keep);
            assert_eq!(arrive(red, &STEADY, 1500, 0.0208), RedSignal::Mark);
        }
    }

    /// ns-2.35 `red.cc`, `modify_p`: with `queue_in_bytes_` the count is that of whole mean packets, and what is certain is so for
    /// small packets, too.
    #[test]
    fn a_queue_in_bytes_counts_whole_mean_packets() {
        let law = RedLaw { scale_by: Some(1000.0), ..STEADY };
        // 1500 and 1000 B are two whole packets of 1000 B, and 1000 B after a signal one.
        for (draw, signal) in [(0.0208, RedSignal::Mark), (0.0209, RedSignal::Keep)] {
            let mut red = standing(CURVE, 70.0);
            assert_eq!(arrive(&mut red, &law, 1500, 0.0), RedSignal::Keep);
            assert_eq!(arrive(&mut red, &law, 1000, draw), signal);
            if signal == RedSignal::Mark {
                assert_eq!(arrive(&mut red, &law, 1000, 0.0205), RedSignal::Keep);
            }
        }
        assert!(close(law.spread(0.5, 2.0, 40.0), 1.0));
    }

    /// ns-2.35 `red.cc`, `drop_early`: packets are marked while the likelihood is below `mark_p`.
    #[test]
    fn from_its_limit_on_a_likelihood_drops_what_could_be_marked() {
        for (mark_limit, average, signal) in [
            (None, 70.0, RedSignal::Mark),
            (Some(0.021), 70.0, RedSignal::Mark),
            (Some(0.02), 70.0, RedSignal::Drop),
            (Some(0.019), 70.0, RedSignal::Drop),
            (Some(0.02), 120.0, RedSignal::Drop),
        ] {
            let law = RedLaw { mark_limit, ..STEADY };
            let mut red = standing(CURVE, average);
            let _ = arrive(&mut red, &law, 1500, 0.0);
            assert_eq!(arrive(&mut red, &law, 1500, 0.0), signal, "{mark_limit:?} {average}");
        }
    }

    #[test]
    fn a_new_rate_moves_thresholds_and_leaves_what_adaptation_found() {
        let mut red = standing(CURVE, 70.0);
        red.set_thresholds([RedCurve { minimum: 10.0, maximum: 60.0, most: 0.1 }].into_iter());
        assert!(close(red.most(0), 0.04));
        assert_eq!(arrive(&mut red, &STEADY, 1500, 1.0), RedSignal::Force);
    }
}
