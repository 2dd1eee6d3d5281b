//! BBR, version 1: send at the best rate that was delivered lately, keep twice what a shortest round trip holds.
//!
//! Source: Cardwell et al., "BBR: congestion-based congestion control", 2016; draft-cardwell-iccrg-bbr-congestion-control-00;
//! Linux `tcp_bbr.c` (phases, gains, filters, repair of losses).
//! Units: segments, seconds.
//! Deviations: policers are not sought (`lt_bw`); neither losses nor marks move the model, as there; chance comes from
//! the time of the first acknowledgement.

use super::bbr_model::{
    Bursts, Dice, FullPipe, LEAST_WINDOW, QUANTUM, REQUESTS, Repair, RoundTripProbe, Rounds,
    pace_after, pacing_rate, product, rate_of, round_trip_of, window_after,
};
use super::{
    Ack, AnyController, Cause, Congestion, CongestionControl, ControllerKind, RateSample, Requests,
    Window,
};
use crate::StackConfig;
use sojourn_base::{BitRate, Instant, Span};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of BBRv1.
    #[derive(Copy)]
    pub struct Bbr1Config: "bbr1", "BBR, version 1 (Linux tcp_bbr)" {
        /// multiple of the product of rate and round trip in the network
        window_gain: f64 = 2.0, origin("Linux bbr_cwnd_gain").least("1").most("10");
        /// how long a shortest round trip is believed
        round_trip_window: Span = Span::from_s(10), origin("Linux bbr_min_rtt_win_sec").least("1 s").most("1000 s");
    }
}

impl ControllerKind for Bbr1Config {
    fn build(&self, stack: &StackConfig) -> AnyController {
        AnyController::other(Bbr1::new(*self, stack))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    ProbeRate,
    ProbeRoundTrip,
}

/// 2/ln 2: the least gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// Gains of the rate, one shortest round trip each (Linux `bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds of the filter of rates (Linux `bbr_bw_rtts`).
const RATE_ROUNDS: usize = 10;

/// State of BBRv1.
#[derive(Clone, Debug)]
pub(crate) struct Bbr1 {
    config: Bbr1Config,
    segment: f64,
    packet: f64,
    initial_window: f64,
    window: f64,
    /// Segments per second; 0 before the first sample.
    pace: f64,
    phase: Phase,
    rounds: Rounds,
    /// Best rate of each of the last rounds.
    rates: [f64; RATE_ROUNDS],
    full: FullPipe,
    is_full: bool,
    shortest: Span,
    shortest_at: Instant,
    probe: RoundTripProbe,
    place: usize,
    place_since: Instant,
    bursts: Bursts,
    repair: Repair,
    dice: Dice,
    began: bool,
    restarted: bool,
}

impl Bbr1 {
    fn new(config: Bbr1Config, stack: &StackConfig) -> Self {
        Self {
            config,
            segment: f64::from(stack.maximum_segment_size),
            packet: f64::from(stack.maximum_segment_size + stack.wire.data_header),
            initial_window: f64::from(stack.initial_window),
            window: f64::from(stack.initial_window),
            pace: 0.0,
            phase: Phase::Startup,
            rounds: Rounds::default(),
            rates: [0.0; RATE_ROUNDS],
            full: FullPipe::default(),
            is_full: false,
            shortest: Span::MAX,
            shortest_at: Instant::ZERO,
            probe: RoundTripProbe::default(),
            place: 0,
            place_since: Instant::ZERO,
            bursts: Bursts::default(),
            repair: Repair::default(),
            dice: Dice::default(),
            began: false,
            restarted: false,
        }
    }

    fn best_rate(&self) -> f64 {
        self.rates.iter().fold(0.0, |best, &rate| best.max(rate))
    }

    fn gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => HIGH_GAIN,
            Phase::Drain => 1.0 / HIGH_GAIN,
            Phase::ProbeRate => CYCLE[self.place],
            Phase::ProbeRoundTrip => 1.0,
        }
    }

    /// Segments in the network at `gain` times the product.
    fn in_network(&self, gain: f64) -> f64 {
        if self.shortest == Span::MAX {
            return self.initial_window;
        }
        gain * product(self.best_rate(), self.shortest) + 3.0 * f64::from(QUANTUM)
    }

    fn on_sample(&mut self, ack: &Ack, rate: &RateSample) {
        self.rounds.on_sample(rate);
        let slot = self.rounds.count as usize % RATE_ROUNDS;
        if self.rounds.starts {
            self.rates[slot] = 0.0;
        }
        let sample = rate_of(rate, self.segment);
        if !rate.application_limited || sample >= self.best_rate() {
            self.rates[slot] = self.rates[slot].max(sample);
        }
        self.bursts
            .on_ack(ack, self.best_rate(), self.rounds.starts, self.window);
        self.move_in_cycle(ack.now, rate);
        if self.rounds.starts && !self.is_full && !rate.application_limited {
            self.is_full = self.full.on_round(self.best_rate());
        }
        if self.phase == Phase::Startup && self.is_full {
            self.phase = Phase::Drain;
        }
        if self.phase == Phase::Drain && f64::from(rate.in_flight) <= self.in_network(1.0) {
            self.probe_rate(ack.now);
        }
    }

    fn probe_rate(&mut self, now: Instant) {
        self.phase = Phase::ProbeRate;
        // Any place but the one that drains.
        self.place = (9 - usize::try_from(self.dice.roll(7)).unwrap_or(0)) % CYCLE.len();
        self.place_since = now;
    }

    /// Linux `bbr_is_next_cycle_phase`.
    fn move_in_cycle(&mut self, now: Instant, rate: &RateSample) {
        if self.phase != Phase::ProbeRate {
            return;
        }
        let long = now.saturating_since(self.place_since) > self.shortest;
        let gain = CYCLE[self.place];
        let pipe = f64::from(rate.in_flight);
        let over = if gain > 1.0 {
            long && (rate.newly_lost > 0 || pipe >= self.in_network(gain))
        } else if gain < 1.0 {
            long || pipe <= self.in_network(1.0)
        } else {
            long
        };
        if over {
            self.place = (self.place + 1) % CYCLE.len();
            self.place_since = now;
        }
    }

    /// Linux `bbr_update_min_rtt`.
    fn follow_round_trip(&mut self, ack: &Ack) {
        let expired = self.began
            && ack.now.saturating_since(self.shortest_at) > self.config.round_trip_window;
        if let Some(sample) = round_trip_of(ack)
            && (sample <= self.shortest || expired)
        {
            (self.shortest, self.shortest_at) = (sample, ack.now);
        }
        if expired && !self.restarted && self.phase != Phase::ProbeRoundTrip {
            self.phase = Phase::ProbeRoundTrip;
            self.repair.save(self.window);
            self.probe.begin();
        }
        if self.phase == Phase::ProbeRoundTrip
            && self.probe.on_ack(ack, LEAST_WINDOW, &mut self.rounds)
        {
            self.shortest_at = ack.now;
            self.window = self.window.max(self.repair.saved());
            if self.is_full {
                self.probe_rate(ack.now);
            } else {
                self.phase = Phase::Startup;
            }
        }
    }

    /// Linux `bbr_set_cwnd`.
    fn set_window(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked);
        let starts = self.rounds.starts && ack.rate.is_some();
        let (window, settled) = self
            .repair
            .modulate(ack, ack.rate.as_ref(), starts, self.window);
        self.window = window;
        if !settled {
            let gain = match self.phase {
                Phase::Startup | Phase::Drain => HIGH_GAIN,
                Phase::ProbeRate => self.config.window_gain,
                Phase::ProbeRoundTrip => 1.0,
            };
            let mut target = self.in_network(gain);
            if self.is_full {
                target += self.bursts.room(self.best_rate());
            }
            self.window = window_after(self.window, acked, target, self.is_full);
        }
        if self.phase == Phase::ProbeRoundTrip {
            self.window = self.window.min(LEAST_WINDOW);
        }
    }
}

impl CongestionControl for Bbr1 {
    fn requests(&self) -> Requests {
        REQUESTS
    }

    fn in_slow_start(&self, _window: &Window) -> bool {
        false
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !self.began {
            self.dice = Dice::new(ack.now);
            self.shortest_at = ack.now;
            self.window = window.size;
        }
        if let Some(rate) = &ack.rate {
            self.on_sample(ack, rate);
        }
        self.follow_round_trip(ack);
        self.began = true;
        self.restarted = false;
        self.pace = pace_after(self.pace, self.gain(), self.best_rate(), self.is_full);
        self.set_window(ack);
        window.size = self.window;
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, _window: &mut Window) {}

    /// No rate is given up; what is in the network is conserved for a round.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        if event.cause != Cause::Mark {
            self.repair.begin(event.cause, self.window);
        }
        if event.cause == Cause::Timeout {
            self.window = 1.0;
            self.full = FullPipe::default();
        }
        window.size
    }

    fn on_restart(&mut self, _idle: Span, _window: &mut Window) {
        self.restarted = true;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pacing_rate(self.pace, self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bbr_model::testing::bytes_in_a_round;
    use super::super::testing::ack_at;
    use super::*;
    use sojourn_base::Bytes;

    /// Acknowledgements of a path of `rate` segments per second and 40 ms, one per `1/rate`.
    struct Path {
        bbr: Bbr1,
        window: Window,
        now: Instant,
        delivered: u64,
    }

    impl Path {
        fn new() -> Self {
            let bbr = Bbr1::new(Bbr1Config::BASE, &StackConfig::BBR1);
            Self {
                bbr,
                window: Window {
                    size: 10.0,
                    threshold: f64::INFINITY,
                },
                now: Instant::from_s(1),
                delivered: 0,
            }
        }

        /// One round of ten acknowledgements in which segments arrive at `rate` with `pipe` in the network.
        fn round(&mut self, rate: f64, pipe: u32) {
            let before = self.delivered;
            for _ in 0..10 {
                self.now += Span::from_ms(4);
                self.delivered += 1448;
                let ack = Ack {
                    round_trip: Some(Span::from_ms(40)),
                    rate: Some(RateSample {
                        delivered: bytes_in_a_round(rate),
                        interval: Span::from_ms(40),
                        delivered_before: Bytes(before),
                        delivered_in_total: Bytes(self.delivered),
                        application_limited: false,
                        round_trip: Some(Span::from_ms(40)),
                        in_flight: pipe,
                        in_flight_when_sent: pipe,
                        lost: 0,
                        newly_lost: 0,
                        window_limited: false,
                    }),
                    ..ack_at(self.now, 1)
                };
                self.bbr.on_ack(&ack, &mut self.window);
            }
        }
    }

    #[test]
    fn startup_ends_after_three_rounds_without_a_quarter_more_and_drain_with_the_queue() {
        let mut path = Path::new();
        for rate in [250.0, 500.0, 1000.0] {
            path.round(rate, 40);
        }
        assert_eq!(path.bbr.phase, Phase::Startup);
        // 2.885 x 0.99 times the rate.
        assert!((path.bbr.pace - 2856.15).abs() < 0.01, "{}", path.bbr.pace);
        for _ in 0..3 {
            path.round(1200.0, 120);
        }
        assert_eq!(path.bbr.phase, Phase::Drain);
        assert!(path.bbr.pace < 1200.0 / 2.8);
        // The product is 48 segments, and three quanta of two.
        path.round(1200.0, 54);
        assert_eq!(path.bbr.phase, Phase::ProbeRate);
        assert!(CYCLE[path.bbr.place] >= 0.75);
    }

    #[test]
    fn ten_seconds_without_a_shorter_round_trip_are_followed_by_four_segments_for_a_fifth_of_a_second()
     {
        let mut path = Path::new();
        for _ in 0..6 {
            path.round(1000.0, 20);
        }
        assert_eq!(path.bbr.phase, Phase::ProbeRate);
        path.bbr.shortest = Span::from_ms(39);
        path.now += Span::from_s(10);
        path.round(1000.0, 20);
        assert_eq!(path.bbr.phase, Phase::ProbeRoundTrip);
        assert!((path.window.size - 4.0).abs() < 1e-12);
        let began = path.now;
        while path.bbr.phase == Phase::ProbeRoundTrip {
            path.round(100.0, 4);
        }
        let lasted = path.now.saturating_since(began);
        assert!(
            lasted >= Span::from_ms(200) && lasted < Span::from_ms(300),
            "{lasted:?}"
        );
        assert!(path.window.size > 20.0, "{}", path.window.size);
    }

    #[test]
    fn a_loss_conserves_packets_for_a_round_and_then_the_window_is_back() {
        let mut path = Path::new();
        for _ in 0..8 {
            path.round(1000.0, 40);
        }
        let before = path.window.size;
        let event = super::super::testing::congestion(40.0, Cause::Loss);
        path.bbr.on_congestion(&event, &path.window);
        path.round(1000.0, 30);
        assert!(path.window.size <= before);
        for _ in 0..4 {
            path.round(1000.0, 40);
        }
        assert!((path.window.size - before).abs() < 12.0);
        assert!(path.bbr.best_rate() >= 999.0, "the rate stands");
    }
}
