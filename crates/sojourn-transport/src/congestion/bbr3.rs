//! BBR, version 3: as version 1, bounded by what losses have taught, in the long run and in the short.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.3 (phases), 5.4 and 5.5 (model), 5.6 (rate and window), with its constants.
//! Units: segments, seconds.
//! Deviations: marks are not answered (the draft leaves them out, the code of version 3 answers those of DCTCP); a
//! loss is judged when the next segment is delivered, by the latest delivery and not by the lost segment; samples in a
//! probe of the round trip are not marked as limited by the application; chance comes from the time of the first
//! acknowledgement.

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
    /// Parameters of BBRv3.
    #[derive(Copy)]
    pub struct Bbr3Config: "bbr3", "BBR, version 3 (draft-ietf-ccwg-bbr)" {
        /// part of what is in the network whose loss is too much
        loss_threshold: f64 = 0.02, origin("draft-ietf-ccwg-bbr BBR.LossThresh").most("1");
        /// what is left of a bound when losses are too many
        beta: f64 = 0.7, origin("draft-ietf-ccwg-bbr BBR.Beta").least("0.01").most("0.99");
        /// part of the bound that is left to others
        headroom: f64 = 0.15, origin("draft-ietf-ccwg-bbr BBR.Headroom").most("0.99");
        /// time between probes of the round trip
        probe_interval: Span = Span::from_s(5),
            origin("draft-ietf-ccwg-bbr BBR.ProbeRTTInterval").least("1 s").most("1000 s");
    }
}

impl ControllerKind for Bbr3Config {
    fn build(&self, stack: &StackConfig) -> AnyController {
        AnyController::other(Bbr3::new(*self, stack))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRoundTrip,
}

/// What acknowledgements say of a probe of the rate (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Refilling,
    Starting,
    Returning,
    Stopping,
}

/// Gains of rate and window (section 2.4 and table 5.1 of the draft).
const STARTUP_PACE: f64 = 2.77;
const DRAIN_PACE: f64 = 0.5;
const DOWN_PACE: f64 = 0.9;
const UP_PACE: f64 = 1.25;
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_WINDOW_GAIN: f64 = 0.5;
/// Loss events in a round before losses end startup (`BBR.StartupFullLossCnt`).
const STARTUP_LOSSES: u32 = 6;
/// How long a shortest round trip is believed (`BBR.MinRTTFilterLen`).
const ROUND_TRIP_WINDOW: Span = Span::from_s(10);
/// Wait between probes of the rate: 2 s, and up to another one by chance.
const LEAST_WAIT: Span = Span::from_s(2);
const CHANCE_OF_WAIT_MS: u64 = 1000;
/// Rounds between probes of the rate, at most, so that Reno flows of up to this many segments get their turn.
const RENO_ROUNDS: f64 = 63.0;
/// Doublings of the step of a probe, at most.
const DOUBLINGS: u32 = 30;

/// State of BBRv3.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, named as in the draft"
)]
pub(crate) struct Bbr3 {
    config: Bbr3Config,
    segment: f64,
    packet: f64,
    initial_window: f64,
    window: f64,
    pace: f64,
    phase: Phase,
    feedback: Feedback,
    rounds: Rounds,
    /// Best rate of this and of the last cycle.
    rates: [f64; 2],
    /// Latest rate and delivery of a round of losses.
    latest_rate: f64,
    latest_delivery: f64,
    loss_rounds: Rounds,
    lost_in_round: bool,
    loss_events: u32,
    /// Bounds learnt from losses.
    rate_short: f64,
    flight_short: f64,
    flight_long: f64,
    full: FullPipe,
    full_now: bool,
    is_full: bool,
    shortest: Span,
    shortest_at: Instant,
    probe_shortest: Span,
    probe_shortest_at: Instant,
    probe: RoundTripProbe,
    phase_since: Instant,
    wait: Span,
    rounds_since_probe: u32,
    up_rounds: u32,
    up_acked: f64,
    up_step: f64,
    samples_of_probe: bool,
    bursts: Bursts,
    repair: Repair,
    dice: Dice,
    began: bool,
    restarted: bool,
}

impl Bbr3 {
    fn new(config: Bbr3Config, stack: &StackConfig) -> Self {
        Self {
            config,
            segment: f64::from(stack.maximum_segment_size),
            packet: f64::from(stack.maximum_segment_size + stack.wire.data_header),
            initial_window: f64::from(stack.initial_window),
            window: f64::from(stack.initial_window),
            pace: 0.0,
            phase: Phase::Startup,
            feedback: Feedback::None,
            rounds: Rounds::default(),
            rates: [0.0; 2],
            latest_rate: 0.0,
            latest_delivery: 0.0,
            loss_rounds: Rounds::default(),
            lost_in_round: false,
            loss_events: 0,
            rate_short: f64::INFINITY,
            flight_short: f64::INFINITY,
            flight_long: f64::INFINITY,
            full: FullPipe::default(),
            full_now: false,
            is_full: false,
            shortest: Span::MAX,
            shortest_at: Instant::ZERO,
            probe_shortest: Span::MAX,
            probe_shortest_at: Instant::ZERO,
            probe: RoundTripProbe::default(),
            phase_since: Instant::ZERO,
            wait: LEAST_WAIT,
            rounds_since_probe: 0,
            up_rounds: 0,
            up_acked: 0.0,
            up_step: f64::INFINITY,
            samples_of_probe: false,
            bursts: Bursts::default(),
            repair: Repair::default(),
            dice: Dice::default(),
            began: false,
            restarted: false,
        }
    }

    fn best_rate(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// `BBR.bw`.
    fn rate(&self) -> f64 {
        self.best_rate().min(self.rate_short)
    }

    /// `BBRBDPMultiple`.
    fn multiple(&self, gain: f64) -> f64 {
        if self.shortest == Span::MAX {
            self.initial_window
        } else {
            gain * product(self.rate(), self.shortest)
        }
    }

    /// `BBRInflight`: with room for what is released at once.
    fn in_network(&self, gain: f64) -> f64 {
        self.multiple(gain) + 3.0 * f64::from(QUANTUM)
    }

    /// `BBRInflightWithHeadroom`.
    fn with_headroom(&self) -> f64 {
        if self.flight_long.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.config.headroom * self.flight_long).max(1.0);
        (self.flight_long - headroom).max(LEAST_WINDOW)
    }

    fn gains(&self) -> (f64, f64) {
        match self.phase {
            Phase::Startup => (STARTUP_PACE, WINDOW_GAIN),
            Phase::Drain => (DRAIN_PACE, WINDOW_GAIN),
            Phase::Down => (DOWN_PACE, WINDOW_GAIN),
            Phase::Cruise | Phase::Refill => (1.0, WINDOW_GAIN),
            Phase::Up => (UP_PACE, UP_WINDOW_GAIN),
            Phase::ProbeRoundTrip => (1.0, PROBE_WINDOW_GAIN),
        }
    }

    const fn probes_rate(&self) -> bool {
        matches!(
            self.phase,
            Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up
        )
    }

    fn on_sample(&mut self, ack: &Ack, rate: &RateSample) {
        let sample = rate_of(rate, self.segment);
        let delivered = rate.delivered.0 as f64 / self.segment;
        // BBRUpdateLatestDeliverySignals.
        self.loss_rounds.on_sample(rate);
        self.latest_rate = self.latest_rate.max(sample);
        self.latest_delivery = self.latest_delivery.max(delivered);
        // BBRUpdateCongestionSignals.
        self.rounds.on_sample(rate);
        if self.rounds.starts {
            self.rounds_since_probe += 1;
        }
        if sample >= self.best_rate() || !rate.application_limited {
            self.rates[0] = self.rates[0].max(sample);
        }
        if rate.newly_lost > 0 {
            self.lost_in_round = true;
            self.loss_events += 1;
        }
        let loss_events = self.loss_events;
        if self.loss_rounds.starts {
            self.lower_bounds();
            self.lost_in_round = false;
            self.loss_events = 0;
        }
        self.bursts
            .on_ack(ack, self.rate(), self.rounds.starts, self.window);
        self.leave_startup(rate, sample, loss_events);
        if self.phase == Phase::Drain && f64::from(rate.in_flight) <= self.in_network(1.0) {
            self.go_down(ack.now, rate);
        }
        if self.is_full {
            self.adapt_long_bound(ack, rate, sample);
            self.move_in_cycle(ack, rate, sample);
        }
        // BBRAdvanceLatestDeliverySignals.
        if self.loss_rounds.starts {
            (self.latest_rate, self.latest_delivery) = (sample, delivered);
        }
    }

    /// `BBRAdaptLowerBoundsFromCongestion`.
    fn lower_bounds(&mut self) {
        let probing = matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up);
        if probing || !self.lost_in_round {
            return;
        }
        if self.rate_short.is_infinite() {
            self.rate_short = self.best_rate();
        }
        if self.flight_short.is_infinite() {
            self.flight_short = self.window;
        }
        self.rate_short = self.latest_rate.max(self.config.beta * self.rate_short);
        self.flight_short = self
            .latest_delivery
            .max(self.config.beta * self.flight_short);
    }

    fn forget_lower_bounds(&mut self) {
        (self.rate_short, self.flight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// `BBRCheckFullBWReached`, `BBRCheckStartupHighLoss`, `BBRCheckStartupDone`.
    fn leave_startup(&mut self, rate: &RateSample, sample: f64, loss_events: u32) {
        if !self.full_now && !rate.application_limited {
            self.full_now = if sample >= self.full.wanted() {
                self.full.restart(sample);
                false
            } else {
                self.rounds.starts && self.full.on_round(sample)
            };
            self.is_full |= self.full_now;
        }
        if self.phase != Phase::Startup {
            return;
        }
        if self.loss_rounds.starts && loss_events >= STARTUP_LOSSES && self.loses_too_much(rate) {
            self.is_full = true;
            self.flight_long = self.multiple(1.0).max(self.latest_delivery);
        }
        if self.is_full {
            self.phase = Phase::Drain;
        }
    }

    fn loses_too_much(&self, rate: &RateSample) -> bool {
        f64::from(rate.lost) > f64::from(rate.in_flight_when_sent) * self.config.loss_threshold
    }

    /// `BBRAdaptLongTermModel`.
    fn adapt_long_bound(&mut self, ack: &Ack, rate: &RateSample, sample: f64) {
        if self.rounds.starts {
            match self.feedback {
                Feedback::Starting => self.feedback = Feedback::Returning,
                Feedback::Stopping => {
                    self.feedback = Feedback::None;
                    self.samples_of_probe = false;
                    if self.probes_rate() && !rate.application_limited {
                        self.rates = [0.0, self.rates[0]];
                        self.rates[0] = self.rates[0].max(sample);
                    }
                }
                _ => {}
            }
        }
        let sent = f64::from(rate.in_flight_when_sent);
        if self.loses_too_much(rate) {
            if self.samples_of_probe {
                self.samples_of_probe = false;
                if !rate.application_limited {
                    let target = self.multiple(1.0).min(self.window);
                    self.flight_long = sent.max(self.config.beta * target);
                }
                if self.phase == Phase::Up {
                    self.go_down(ack.now, rate);
                }
            }
            return;
        }
        if self.flight_long.is_infinite() {
            return;
        }
        self.flight_long = self.flight_long.max(sent);
        if self.phase == Phase::Up {
            self.raise_long_bound(ack, rate);
        }
    }

    /// `BBRProbeInflightLongtermUpward`.
    fn raise_long_bound(&mut self, ack: &Ack, rate: &RateSample) {
        if !rate.window_limited || self.window < self.flight_long {
            return;
        }
        self.up_acked += f64::from(ack.acked);
        while self.up_acked >= self.up_step {
            self.up_acked -= self.up_step;
            self.flight_long += 1.0;
        }
        if self.rounds.starts {
            self.steepen();
        }
    }

    /// `BBRRaiseInflightLongtermSlope`.
    fn steepen(&mut self) {
        let growth = f64::from(1_u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(DOUBLINGS);
        self.up_step = (self.window / growth).max(1.0);
    }

    /// `BBRUpdateProbeBWCyclePhase`.
    fn move_in_cycle(&mut self, ack: &Ack, rate: &RateSample, sample: f64) {
        let pipe = f64::from(rate.in_flight);
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(ack.now) => self.refill(rate),
            Phase::Down if pipe <= self.with_headroom().min(self.in_network(1.0)) => {
                self.phase = Phase::Cruise;
            }
            Phase::Refill if self.rounds.starts => {
                self.samples_of_probe = true;
                self.phase = Phase::Up;
                self.feedback = Feedback::Starting;
                self.rounds.restart(rate);
                self.full_now = false;
                self.full.restart(sample);
                self.phase_since = ack.now;
                self.steepen();
            }
            Phase::Up => {
                if rate.window_limited && self.window >= self.flight_long {
                    self.full_now = false;
                    self.full.restart(sample);
                } else if self.full_now {
                    self.go_down(ack.now, rate);
                }
            }
            _ => {}
        }
    }

    /// `BBRStartProbeBW_DOWN`.
    fn go_down(&mut self, now: Instant, rate: &RateSample) {
        self.lost_in_round = false;
        (self.latest_rate, self.latest_delivery) = (0.0, 0.0);
        self.up_step = f64::INFINITY;
        self.rounds_since_probe = u32::from(self.dice.roll(2) == 1);
        self.wait = LEAST_WAIT + Span::from_ms(self.dice.roll(CHANCE_OF_WAIT_MS));
        self.phase_since = now;
        self.feedback = Feedback::Stopping;
        self.rounds.restart(rate);
        self.phase = Phase::Down;
    }

    /// `BBRStartProbeBW_REFILL`.
    fn refill(&mut self, rate: &RateSample) {
        self.forget_lower_bounds();
        (self.up_rounds, self.up_acked) = (0, 0.0);
        self.feedback = Feedback::Refilling;
        self.rounds.restart(rate);
        self.phase = Phase::Refill;
    }

    /// `BBRIsTimeToProbeBW`.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno = self.multiple(1.0).min(self.window).min(RENO_ROUNDS);
        now.saturating_since(self.phase_since) > self.wait
            || f64::from(self.rounds_since_probe) >= reno
    }

    /// `BBRUpdateMinRTT`, `BBRCheckProbeRTT`.
    fn follow_round_trip(&mut self, ack: &Ack) {
        let expired = self.began
            && ack.now.saturating_since(self.probe_shortest_at) > self.config.probe_interval;
        if let Some(sample) = round_trip_of(ack)
            && (sample < self.probe_shortest || expired)
        {
            (self.probe_shortest, self.probe_shortest_at) = (sample, ack.now);
        }
        let old = ack.now.saturating_since(self.shortest_at) > ROUND_TRIP_WINDOW;
        if self.probe_shortest < self.shortest || old {
            (self.shortest, self.shortest_at) = (self.probe_shortest, self.probe_shortest_at);
        }
        if expired && !self.restarted && self.phase != Phase::ProbeRoundTrip {
            self.phase = Phase::ProbeRoundTrip;
            self.repair.save(self.window);
            self.probe.begin();
            self.feedback = Feedback::Stopping;
        }
        if self.phase == Phase::ProbeRoundTrip
            && let Some(rate) = &ack.rate
            && self
                .probe
                .on_ack(ack, self.probe_window(), &mut self.rounds)
        {
            self.probe_shortest_at = ack.now;
            self.window = self.window.max(self.repair.saved());
            self.forget_lower_bounds();
            if self.is_full {
                self.go_down(ack.now, rate);
                self.phase = Phase::Cruise;
            } else {
                self.phase = Phase::Startup;
            }
        }
    }

    fn probe_window(&self) -> f64 {
        self.multiple(PROBE_WINDOW_GAIN).max(LEAST_WINDOW)
    }

    /// `BBRSetCwnd`.
    fn set_window(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked);
        let starts = self.rounds.starts && ack.rate.is_some();
        let (window, settled) = self
            .repair
            .modulate(ack, ack.rate.as_ref(), starts, self.window);
        self.window = window;
        if !settled {
            let target = self.in_network(self.gains().1) + self.bursts.room(self.rate());
            self.window = window_after(self.window, acked, target, self.is_full);
        }
        if self.phase == Phase::ProbeRoundTrip {
            self.window = self.window.min(self.probe_window());
        }
        // BBRBoundCwndForModel.
        let bound = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.flight_long,
            Phase::Cruise | Phase::ProbeRoundTrip => self.with_headroom(),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.flight_short).max(LEAST_WINDOW);
        self.window = self.window.min(bound);
    }
}

impl CongestionControl for Bbr3 {
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
            self.probe_shortest_at = ack.now;
            self.window = window.size;
        }
        if let Some(rate) = &ack.rate {
            self.on_sample(ack, rate);
        }
        self.follow_round_trip(ack);
        self.began = true;
        self.restarted = false;
        self.pace = pace_after(self.pace, self.gains().0, self.rate(), self.is_full);
        self.set_window(ack);
        window.size = self.window;
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, _window: &mut Window) {}

    /// What losses teach comes with the deliveries after them; here packets are conserved for a round.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        if event.cause != Cause::Mark {
            self.repair.begin(event.cause, self.window);
        }
        if event.cause == Cause::Timeout {
            self.window = 1.0;
            self.full = FullPipe::default();
            if !self.probes_rate() {
                return window.size;
            }
            self.flight_short = self.flight_short.min(window.size.max(LEAST_WINDOW));
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

    /// Acknowledgements of a path of 40 ms, ten in each round.
    struct Path {
        bbr: Bbr3,
        window: Window,
        now: Instant,
        delivered: u64,
    }

    impl Path {
        fn new() -> Self {
            let bbr = Bbr3::new(Bbr3Config::BASE, &StackConfig::BBR3);
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

        /// One round at `rate` segments per second with `pipe` of them in the network, of which `lost` were lost since
        /// they were sent, one found with each of the first acknowledgements.
        fn round(&mut self, rate: f64, pipe: u32, lost: u32) {
            let before = self.delivered;
            for number in 0..10 {
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
                        lost,
                        newly_lost: u32::from(number < lost),
                        window_limited: true,
                    }),
                    ..ack_at(self.now, 1)
                };
                self.bbr.on_ack(&ack, &mut self.window);
            }
        }

        /// Through startup and drain.
        fn full() -> Self {
            let mut path = Self::new();
            for _ in 0..5 {
                path.round(1000.0, 90, 0);
            }
            assert_eq!(path.bbr.phase, Phase::Drain);
            path.round(1000.0, 40, 0);
            assert!(path.bbr.probes_rate());
            path
        }

        fn until(&mut self, phase: Phase) {
            for _ in 0..200 {
                if self.bbr.phase == phase {
                    return;
                }
                self.round(1000.0, 40, 0);
            }
            panic!("{phase:?} never came: {:?}", self.bbr.phase);
        }
    }

    #[test]
    fn startup_sends_at_277_hundredths_and_ends_when_the_rate_stops_growing() {
        let mut path = Path::new();
        path.round(1000.0, 40, 0);
        assert!((path.bbr.pace - 0.99 * 2770.0).abs() < 0.01);
        path.round(2000.0, 80, 0);
        path.round(2000.0, 80, 0);
        path.round(2000.0, 80, 0);
        assert_eq!(path.bbr.phase, Phase::Startup);
        path.round(2000.0, 100, 0);
        assert_eq!(path.bbr.phase, Phase::Drain);
        assert!((path.bbr.pace - 0.99 * 0.5 * 2000.0).abs() < 0.01);
    }

    #[test]
    fn six_losses_in_a_round_end_startup_and_bound_what_is_in_the_network() {
        let mut path = Path::new();
        path.round(1000.0, 40, 0);
        path.round(2000.0, 80, 6);
        path.round(4000.0, 80, 6);
        assert_ne!(path.bbr.phase, Phase::Startup);
        assert!(path.bbr.flight_long.is_finite());
    }

    #[test]
    fn a_cycle_goes_down_cruises_refills_and_probes_upward() {
        let mut path = Path::full();
        path.until(Phase::Cruise);
        let since = path.bbr.phase_since;
        path.until(Phase::Refill);
        // 40 segments in the network: a Reno flow of that size has its turn after 40 rounds of 40 ms.
        let waited = path.now.saturating_since(since);
        assert!(
            (Span::from_ms(1400)..=Span::from_ms(1800)).contains(&waited),
            "{waited:?}"
        );
        path.until(Phase::Up);
        assert!((path.bbr.pace - 0.99 * 1250.0).abs() < 0.5);
        // A queue is left by the probe: 50 in the network are more than the product and three quanta.
        for _ in 0..5 {
            path.round(1000.0, 50, 0);
        }
        assert_eq!(path.bbr.phase, Phase::Down);
        assert!((path.bbr.pace - 0.99 * 900.0).abs() < 0.5);
    }

    #[test]
    fn a_loss_of_more_than_two_per_cent_in_a_probe_bounds_what_is_in_the_network() {
        let mut path = Path::full();
        path.until(Phase::Up);
        path.round(1000.0, 50, 1);
        assert!(path.bbr.flight_long.is_infinite(), "1 of 50 is 2 %");
        path.round(1000.0, 50, 2);
        assert_eq!(path.bbr.phase, Phase::Down);
        assert!((path.bbr.flight_long - 50.0).abs() < 1e-9);
        // Cruising leaves 15 % of it.
        assert!((path.bbr.with_headroom() - 42.5).abs() < 1e-9);
    }

    #[test]
    fn losses_while_cruising_lower_the_rate_by_seven_tenths_at_most_until_the_next_probe() {
        let mut path = Path::full();
        path.until(Phase::Cruise);
        path.round(500.0, 40, 1);
        path.round(500.0, 40, 1);
        path.round(500.0, 40, 0);
        assert!(
            path.bbr.rate_short >= 500.0 && path.bbr.rate_short <= 1000.0,
            "{}",
            path.bbr.rate_short
        );
        path.until(Phase::Refill);
        assert!(path.bbr.rate_short.is_infinite());
    }

    #[test]
    fn half_of_the_product_for_a_fifth_of_a_second_each_five_seconds() {
        let mut path = Path::full();
        path.until(Phase::ProbeRoundTrip);
        assert!(
            path.window.size <= path.bbr.probe_window(),
            "{}",
            path.window.size
        );
        assert!((path.bbr.probe_window() - 20.0).abs() < 1e-6);
        let began = path.now;
        while path.bbr.phase == Phase::ProbeRoundTrip {
            path.round(500.0, 20, 0);
        }
        let lasted = path.now.saturating_since(began);
        assert!(
            lasted >= Span::from_ms(200) && lasted < Span::from_ms(320),
            "{lasted:?}"
        );
    }
}
