//! TCP Prague: a window that shrinks by as much as there were marks, and grows so that flows with short round trips
//! take no more than those at the edge of the Internet.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04 sections 2.3 and 2.4 (EWMA, reduction, additive increase,
//! round-trip independence); the Linux module of the L4S team, version 0.7, for the first mark and the round trips
//! before independence begins; RFC 9331 section 4.3 (requirements on L4S senders).
//! Deviations: segments are not made smaller below 1 Mb/s, rates are not dithered, classic queue managers are not
//! detected. Without a count of marks (AccECN) it is Reno.

use super::{Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, Requests, Window};
use sojourn_base::{Instant, Span};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of TCP Prague.
    #[derive(Copy)]
    pub struct PragueConfig: "prague", "TCP Prague (draft-briscoe-iccrg-prague-congestion-control)" {
        /// weight of a period in the estimate of marking
        gain: f64 = 1.0 / 16.0,
            origin("draft-briscoe-iccrg-prague-congestion-control §2.4.2").least("0.0001").most("1");
        /// the estimate before the first mark, which always halves the window
        initial_alpha: f64 = 0.0, origin("Linux tcp_prague").most("1");
        /// flows with a shorter round trip behave as with this one; zero: as with their own
        reference_round_trip: Span = Span::from_ms(25),
            origin("draft-briscoe-iccrg-prague-congestion-control §2.4.4").most("1 s");
        /// round trips after slow start before that begins
        transition: u32 = 4, origin("Linux tcp_prague").most("1000");
    }
    profiles {
        /// the L4S team's kernel of August 2020: no round-trip independence, first estimate of one
        LINUX_2020 "linux-2020" {
            initial_alpha = 1.0;
            reference_round_trip = Span::ZERO;
        }
    }
}

impl ControllerKind for PragueConfig {
    fn build(&self, connection: &Connection) -> AnyController {
        AnyController::other(Prague::new(*self, connection))
    }
}

/// State of TCP Prague.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prague {
    config: PragueConfig,
    /// The peer counts marks; otherwise this is Reno.
    counts: bool,
    /// Estimated part of segments that are marked.
    alpha: f64,
    /// Segments acknowledged, and those of them that were marked, in this period.
    acked: u64,
    marked: u64,
    /// The round trip ends when more than this is acknowledged.
    round_end: u32,
    period_began: Instant,
    /// Round trips since slow start.
    rounds: u32,
    smoothed: Span,
    saw_mark: bool,
    reduced_at: Option<Instant>,
}

impl Prague {
    fn new(config: PragueConfig, connection: &Connection) -> Self {
        Self {
            config,
            counts: connection.counts_marks,
            alpha: config.initial_alpha,
            acked: 0,
            marked: 0,
            round_end: 0,
            period_began: Instant::ZERO,
            rounds: 0,
            smoothed: Span::ZERO,
            saw_mark: false,
            reduced_at: None,
        }
    }

    /// Returns true if the round trip is stretched to the reference.
    fn is_stretched(&self) -> bool {
        self.counts && self.rounds >= self.config.transition && self.smoothed < self.config.reference_round_trip
    }

    /// The least time between two reductions, and between two updates of the estimate, beside a round trip.
    fn period(&self) -> Span {
        if self.is_stretched() { self.config.reference_round_trip } else { Span::ZERO }
    }

    /// Segments of growth per round trip.
    fn step(&self) -> f64 {
        if self.is_stretched() {
            let part = self.smoothed.as_secs_f64() / self.config.reference_round_trip.as_secs_f64();
            part * part
        } else {
            1.0
        }
    }
}

impl CongestionControl for Prague {
    fn requests(&self) -> Requests {
        Requests { fractions: true, growth_with_marks: self.counts, pacing: true, ..Requests::NONE }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.smoothed = ack.smoothed;
        self.acked += u64::from(ack.acked);
        self.marked += u64::from(ack.marks);
        self.saw_mark |= ack.marks > 0;
        if ack.first <= self.round_end {
            return;
        }
        self.round_end = ack.next;
        self.rounds = if self.in_slow_start(window) { 0 } else { self.rounds.saturating_add(1) };
        let over = ack.now.saturating_since(self.period_began) >= self.period();
        if !over || self.acked == 0 {
            return;
        }
        if self.saw_mark {
            let part = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha += self.config.gain * (part - self.alpha);
        }
        (self.acked, self.marked, self.period_began) = (0, 0, ack.now);
    }

    fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
        window.size += self.step() * f64::from(acked) / window.size;
    }

    fn reacts_to_mark(&self, now: Instant) -> bool {
        self.reduced_at.is_none_or(|at| now.saturating_since(at) >= self.period())
    }

    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        if event.cause != Cause::Mark || !self.counts {
            return event.base / 2.0;
        }
        let part = if self.reduced_at.is_none() { 0.5 } else { self.alpha / 2.0 };
        self.reduced_at = Some(event.now);
        window.size * (1.0 - part)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CONNECTION, ack_at, congestion};
    use super::*;

    fn prague() -> Prague {
        Prague::new(PragueConfig::BASE, &Connection { counts_marks: true, ..CONNECTION })
    }

    const WINDOW: Window = Window { size: 100.0, threshold: 50.0 };

    /// Round trips of `ms` with 16 segments each, of which `marked` are; returns the time after them.
    fn rounds(prague: &mut Prague, from: Instant, count: u32, ms: u64, marked: u32) -> Instant {
        let mut window = WINDOW;
        let mut now = from;
        for _ in 0..count {
            let end = prague.round_end;
            now += Span::from_ms(ms);
            let ack =
                Ack { marks: marked, smoothed: Span::from_ms(ms), first: end + 1, next: end + 16, ..ack_at(now, 16) };
            prague.on_ack(&ack, &mut window);
        }
        now
    }

    #[test]
    fn its_segments_are_spread_whatever_the_stack_does() {
        let requests = prague().requests();
        assert!(requests.pacing && requests.fractions && requests.growth_with_marks);
        assert!(
            !Prague::new(PragueConfig::BASE, &CONNECTION).requests().growth_with_marks,
            "without a peer that counts marks"
        );
    }

    #[test]
    fn the_estimate_moves_by_a_sixteenth_of_the_difference_per_round_trip_from_the_first_mark_on() {
        let mut prague = prague();
        prague.alpha = 1.0;
        let now = rounds(&mut prague, Instant::ZERO, 10, 30, 0);
        assert!((prague.alpha - 1.0).abs() < 1e-12, "no mark: {}", prague.alpha);
        let now = rounds(&mut prague, now, 1, 30, 8);
        assert!((prague.alpha - 0.968_75).abs() < 1e-12, "{}", prague.alpha);
        rounds(&mut prague, now, 2, 30, 0);
        // 0.96875 x (15/16)².
        assert!((prague.alpha - 0.851_440_429_687_5).abs() < 1e-12, "{}", prague.alpha);
    }

    #[test]
    fn below_the_reference_the_estimate_moves_once_per_reference() {
        let mut prague = prague();
        let now = rounds(&mut prague, Instant::ZERO, 4, 5, 0);
        (prague.period_began, prague.acked) = (now, 0);
        // Five round trips of 5 ms are one of 25 ms.
        rounds(&mut prague, now, 4, 5, 16);
        assert!(prague.alpha.abs() < 1e-12, "{}", prague.alpha);
        rounds(&mut prague, now + Span::from_ms(20), 1, 5, 16);
        assert!((prague.alpha - 0.0625).abs() < 1e-12, "{}", prague.alpha);
    }

    #[test]
    fn the_first_mark_halves_and_later_ones_reduce_by_half_the_estimate() {
        let mut prague = prague();
        rounds(&mut prague, Instant::ZERO, 5, 10, 0);
        let mark = congestion(100.0, Cause::Mark);
        assert!((prague.on_congestion(&mark, &WINDOW) - 50.0).abs() < 1e-12);
        prague.alpha = 0.1;
        assert!((prague.on_congestion(&mark, &WINDOW) - 95.0).abs() < 1e-12);
        let loss = congestion(100.0, Cause::Loss);
        assert!((prague.on_congestion(&loss, &WINDOW) - 50.0).abs() < 1e-12);
        // A mark within 25 ms of the last answer waits.
        assert!(!prague.reacts_to_mark(Instant::from_ms(24)));
        assert!(prague.reacts_to_mark(Instant::from_ms(25)));
    }

    #[test]
    fn growth_per_round_trip_is_the_square_of_its_part_of_the_reference() {
        for (ms, rounds_before, step) in [(5, 4, 0.04), (10, 4, 0.16), (25, 4, 1.0), (50, 4, 1.0), (5, 3, 1.0)] {
            let mut prague = prague();
            rounds(&mut prague, Instant::ZERO, rounds_before, ms, 0);
            let mut window = WINDOW;
            prague.on_congestion_avoidance(10, &ack_at(Instant::ZERO, 10), &mut window);
            let grown = (window.size - 100.0) * 10.0;
            assert!((grown - step).abs() < 1e-9, "{ms} ms: {grown}");
        }
    }

    #[test]
    fn without_a_count_of_marks_it_is_reno() {
        let mut prague = Prague::new(PragueConfig::BASE, &CONNECTION);
        rounds(&mut prague, Instant::ZERO, 10, 5, 0);
        let mut window = WINDOW;
        prague.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
        assert!((window.size - 100.01).abs() < 1e-9);
        let mark = congestion(100.0, Cause::Mark);
        for _ in 0..2 {
            assert!((prague.on_congestion(&mark, &WINDOW) - 50.0).abs() < 1e-12);
        }
        assert!(!prague.requests().growth_with_marks);
    }
}
