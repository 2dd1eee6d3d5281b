//! BBR, version 3: as version 1, bounded by what losses have taught, in the long run and in the short.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.3 (states), 5.4 and 5.5 (model), 5.6 (rate and window), with its constants.
//! Fields and functions have the names of the draft. `startup` (with drain), `probe_bw` and `probe_rtt` hold its states,
//! `path_model` what they share.
//! Units: segments, seconds.
//! Marks are answered as in Linux `tcp_bbr.c` of version 3, which the draft leaves out (`marks`), where the peer counts them.
//! Deviations: a
//! loss is judged when the next segment is delivered, by the latest delivery and not by the lost segment; samples in a
//! probe of the round trip count as limited by the application for the end of startup alone; chance comes from the time of the first
//! acknowledgement.

mod marks;
mod path_model;
mod probe_bw;
mod probe_rtt;
mod startup;

use self::marks::Marks;
use super::ControllerState;
use super::bbr_model::{
    AckAggregation, Dice, FullBw, MIN_PIPE_CWND, ProbeRtt, REQUESTS, Recovery, Rounds, delivery_rate, pacing_rate,
    pacing_rate_with_gain,
};
use super::{
    Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, RateSample, Requests, Window,
};
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
        /// marks that the peer counts are answered once the shortest round trip is no longer than this; zero: at any
        // Only where it is asked for, so that scenarios without it are printed as ever.
        marks_up_to: Span = MARKS_UP_TO, origin("Linux tcp_bbr.c, bbr_ecn_max_rtt_us").most("1 s"),
            if |it| it.marks_up_to != MARKS_UP_TO;
        /// rounds after which drain ends, whatever is in the network
        // As `marks_up_to`.
        drain_rounds: Option<u32> = None,
            origin("chosen: as long as it takes, as in Linux of version 3; the draft of August 2026 has 3").or("unlimited").least("1"),
            if |it| it.drain_rounds.is_some();
    }
}

impl ControllerKind for Bbr3Config {
    fn build(&self, connection: &Connection) -> AnyController {
        AnyController::other(Bbr3::new(*self, Version::THREE, connection))
    }
}

/// The default (Linux, `bbr_ecn_max_rtt_us`).
pub(super) const MARKS_UP_TO: Span = Span::from_ms(5);

/// Differences between versions that share model and states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) startup_pacing_gain: f64,
    pub(super) startup_cwnd_gain: f64,
    pub(super) drain_pacing_gain: f64,
    pub(super) probe_bw_down_pacing_gain: f64,
    pub(super) probe_bw_up_cwnd_gain: f64,
    /// Loss events in a round before losses end startup.
    pub(super) startup_full_loss_cnt: u32,
    pub(super) rules: Rules,
}

/// Rules that differ between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// Linux `tcp_bbr2.c`. A probe of the rate ends when a quarter more than the product is in the network, or at a
    /// bound that an earlier probe went beyond; after the latter the next follows at once. A least window is released
    /// at once, and no addition to it. Many losses or marks in startup bound the network to the product. Half of a
    /// round's marks are too many.
    Two,
    /// The draft. A probe ends when the rate has stopped growing. With Linux of version 3 the next one comes at once after marks
    /// without losses, by half of the bound, if `reprobes_after_marks`.
    Three { reprobes_after_marks: bool },
}

impl Version {
    /// Gains of rate and window (section 2.4 and table 5.1 of the draft), `BBR.StartupFullLossCnt`; Linux `bbr_ecn_reprobe_gain`.
    const THREE: Self = Self {
        startup_pacing_gain: 2.77,
        startup_cwnd_gain: 2.0,
        drain_pacing_gain: 0.5,
        probe_bw_down_pacing_gain: 0.9,
        probe_bw_up_cwnd_gain: 2.25,
        startup_full_loss_cnt: 6,
        rules: Rules::Three { reprobes_after_marks: true },
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// Its word in the draft (`BBR.state`).
    const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Drain => "Drain",
            Self::ProbeBwDown => "ProbeBW_DOWN",
            Self::ProbeBwCruise => "ProbeBW_CRUISE",
            Self::ProbeBwRefill => "ProbeBW_REFILL",
            Self::ProbeBwUp => "ProbeBW_UP",
            Self::ProbeRtt => "ProbeRTT",
        }
    }
}

/// Phase of the acknowledgements of a probe of the rate (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Gains of rate and window that all versions share (section 2.4 and table 5.1 of the draft).
const PROBE_BW_UP_PACING_GAIN: f64 = 1.25;
const DEFAULT_CWND_GAIN: f64 = 2.0;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// Wait between probes of the rate at least (`BBRPickProbeWait`).
const LEAST_WAIT: Span = Span::from_s(2);

/// State of BBRv3.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, named as in the draft")]
pub(crate) struct Bbr3 {
    config: Bbr3Config,
    version: Version,
    marks: Marks,
    segment: f64,
    packet: f64,
    initial_window: f64,
    cwnd: f64,
    pacing_rate: f64,
    state: State,
    ack_phase: AckPhase,
    rounds: Rounds,
    /// Best rate of this and of the last cycle.
    max_bw_filter: [f64; 2],
    /// Latest rate and delivery of a round of losses.
    bw_latest: f64,
    inflight_latest: f64,
    loss_round: Rounds,
    loss_in_round: bool,
    loss_in_cycle: bool,
    loss_events_in_round: u32,
    /// Bounds learnt from losses.
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    full_bw: FullBw,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u32,
    min_rtt: Span,
    min_rtt_stamp: Instant,
    probe_rtt_min_delay: Span,
    probe_rtt_min_stamp: Instant,
    probe_rtt: ProbeRtt,
    cycle_stamp: Instant,
    bw_probe_wait: Span,
    rounds_since_bw_probe: u32,
    bw_probe_up_rounds: u32,
    bw_probe_up_acks: f64,
    probe_up_cnt: f64,
    bw_probe_samples: bool,
    /// The last probe of the rate went beyond what losses or marks allow (`prev_probe_too_high`).
    last_probe_too_high: bool,
    /// This one stopped at the bound which that has left (`stopped_risky_probe`).
    stopped_at_the_bound: bool,
    extra_acked: AckAggregation,
    recovery: Recovery,
    dice: Dice,
    began: bool,
    idle_restart: bool,
}

impl Bbr3 {
    pub(super) fn new(config: Bbr3Config, version: Version, connection: &Connection) -> Self {
        Self {
            config,
            version,
            marks: Marks::new(connection.counts_marks),
            segment: f64::from(connection.maximum_segment_size),
            packet: f64::from(connection.maximum_segment_size + connection.data_header),
            initial_window: f64::from(connection.initial_window),
            cwnd: f64::from(connection.initial_window),
            pacing_rate: 0.0,
            state: State::Startup,
            ack_phase: AckPhase::Init,
            rounds: Rounds::default(),
            max_bw_filter: [0.0; 2],
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round: Rounds::default(),
            loss_in_round: false,
            loss_in_cycle: false,
            loss_events_in_round: 0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            full_bw: FullBw::default(),
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            min_rtt: Span::MAX,
            min_rtt_stamp: Instant::ZERO,
            probe_rtt_min_delay: Span::MAX,
            probe_rtt_min_stamp: Instant::ZERO,
            probe_rtt: ProbeRtt::default(),
            cycle_stamp: Instant::ZERO,
            bw_probe_wait: LEAST_WAIT,
            rounds_since_bw_probe: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acks: 0.0,
            probe_up_cnt: f64::INFINITY,
            bw_probe_samples: false,
            last_probe_too_high: false,
            stopped_at_the_bound: false,
            extra_acked: AckAggregation::default(),
            recovery: Recovery::default(),
            dice: Dice::default(),
            began: false,
            idle_restart: false,
        }
    }

    fn gains(&self) -> (f64, f64) {
        let version = &self.version;
        match self.state {
            State::Startup => (version.startup_pacing_gain, version.startup_cwnd_gain),
            State::Drain => (version.drain_pacing_gain, version.startup_cwnd_gain),
            State::ProbeBwDown => (version.probe_bw_down_pacing_gain, DEFAULT_CWND_GAIN),
            State::ProbeBwCruise | State::ProbeBwRefill => (1.0, DEFAULT_CWND_GAIN),
            State::ProbeBwUp => (PROBE_BW_UP_PACING_GAIN, version.probe_bw_up_cwnd_gain),
            State::ProbeRtt => (1.0, PROBE_RTT_CWND_GAIN),
        }
    }

    const fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(self.state, State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// `BBRUpdateModelAndState`, up to the round trip.
    fn update_model_and_state(&mut self, ack: &Ack, rate: &RateSample) {
        let sample = delivery_rate(rate, self.segment);
        let delivered = rate.delivered.0 as f64 / self.segment;
        // BBRUpdateLatestDeliverySignals.
        self.loss_round.on_sample(rate);
        self.bw_latest = self.bw_latest.max(sample);
        self.inflight_latest = self.inflight_latest.max(delivered);
        // BBRUpdateCongestionSignals.
        self.rounds.on_sample(rate);
        if self.rounds.round_start {
            self.rounds_since_bw_probe += 1;
        }
        if sample >= self.max_bw() || !rate.application_limited {
            self.max_bw_filter[0] = self.max_bw_filter[0].max(sample);
        }
        if rate.newly_lost > 0 {
            (self.loss_in_round, self.loss_in_cycle) = (true, true);
            self.loss_events_in_round += 1;
        }
        self.marks.on_ack(ack, self.rounds.round_start, self.min_rtt, self.config.marks_up_to, self.version.rules);
        let loss_events = self.loss_events_in_round;
        if self.loss_round.round_start {
            self.adapt_lower_bounds_from_congestion();
            (self.loss_in_round, self.marks.in_round) = (false, false);
            self.loss_events_in_round = 0;
        }
        self.extra_acked.on_ack(ack, self.bw(), self.rounds.round_start, self.cwnd);
        self.check_full_bw_reached(rate, sample);
        self.check_startup_done(rate, loss_events);
        self.check_drain_done(ack, rate);
        if self.full_bw_reached && !self.adapt_long_term_model(ack, rate, sample) {
            self.update_probe_bw_cycle_phase(ack, rate, sample);
        }
        // BBRAdvanceLatestDeliverySignals.
        if self.loss_round.round_start {
            (self.bw_latest, self.inflight_latest) = (sample, delivered);
        }
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
            self.min_rtt_stamp = ack.now;
            self.probe_rtt_min_stamp = ack.now;
            self.cwnd = window.size;
        }
        if let Some(rate) = &ack.rate {
            self.update_model_and_state(ack, rate);
        }
        let expired = self.update_min_rtt(ack);
        self.check_probe_rtt(ack, expired);
        self.began = true;
        self.idle_restart = false;
        self.pacing_rate = pacing_rate_with_gain(self.pacing_rate, self.gains().0, self.bw(), self.full_bw_reached);
        self.set_cwnd(ack);
        window.size = self.cwnd;
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, _window: &mut Window) {}

    /// Losses are judged with the deliveries after them; here packets are conserved for a round.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        if event.cause != Cause::Mark {
            self.recovery.enter(event.cause, self.cwnd);
        }
        if event.cause == Cause::Timeout {
            self.cwnd = 1.0;
            self.full_bw = FullBw::default();
            if !self.is_in_a_probe_bw_state() {
                return window.size;
            }
            self.inflight_shortterm = self.inflight_shortterm.min(window.size.max(MIN_PIPE_CWND));
        }
        window.size
    }

    fn on_restart(&mut self, _idle: Span, _window: &mut Window) {
        self.idle_restart = true;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pacing_rate(self.pacing_rate, self.packet)
    }

    fn state(&self) -> ControllerState {
        ControllerState {
            phase: Some(self.state.as_str()),
            bandwidth: pacing_rate(self.max_bw(), self.packet),
            bound: self.inflight_longterm.is_finite().then_some(self.inflight_longterm),
        }
    }
}

#[cfg(test)]
mod tests;
