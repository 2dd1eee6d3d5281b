//! BBR, version 1: send at the best rate that was delivered lately, keep twice what a shortest round trip holds.
//!
//! Source: Linux 6.12 `tcp_bbr.c` (phases, gains, filters, repair of losses); Cardwell et al., "BBR: congestion-based congestion
//! control", 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, of which the kernel is an edition.
//! Units: segments, seconds.
//! Deviations: policers are not sought (`lt_bw`); neither losses nor marks move the model, as there; chance comes from
//! the time of the first acknowledgement.

mod probe_bw;
mod probe_rtt;

use super::ControllerState;
use super::bbr_model::{
    AckAggregation, Dice, FullBw, MIN_PIPE_CWND, ProbeRtt, REQUESTS, Recovery, Rounds, SEND_QUANTUM, bdp, cwnd_after,
    delivery_rate, pacing_rate, pacing_rate_with_gain,
};
use super::{
    Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, RateSample, Requests, Window,
    whole,
};
use core::ops::Range;
use sojourn_base::{BitRate, Instant, Span, math};
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
    fn build(&self, connection: &Connection) -> AnyController {
        AnyController::other(Bbr1::new(*self, connection))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// 2/ln 2: the least gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// Gains of the rate, one shortest round trip each (Linux `bbr_pacing_gain`).
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// A burst has two segments from this pace on, in b/s (Linux `bbr_min_tso_rate`).
const MIN_TSO_RATE_BPS: f64 = 1_200_000.0;
/// Most segments of a burst (Linux `bbr_tso_segs_goal`).
const MAX_BURST: f64 = 127.0;
/// Most bytes of a burst: 65,536 less 1 and the headers of all layers, 320 B in Debian's configuration (Linux `MAX_TCP_HEADER`,
/// `sk_gso_max_size`).
const MAX_BURST_BYTES: f64 = 65_215.0;
/// Rounds of the filter of rates (Linux `bbr_bw_rtts`).
const MAX_BW_FILTER_LEN: usize = 10;

/// State of BBRv1.
#[derive(Clone, Debug)]
pub(crate) struct Bbr1 {
    config: Bbr1Config,
    segment: f64,
    packet: f64,
    initial_window: f64,
    cwnd: f64,
    /// Segments per second; 0 before the first sample.
    pacing_rate: f64,
    state: State,
    rounds: Rounds,
    /// Best rate of each of the rounds up to the last one that has brought a sample, `max_bw_round`.
    max_bw_filter: [f64; MAX_BW_FILTER_LEN],
    max_bw_round: usize,
    /// Bytes delivered when those segments were sent whose samples a probe of the round trip limits (Linux `tp->app_limited`).
    limited: Range<u64>,
    full_bw: FullBw,
    full_bw_reached: bool,
    min_rtt: Span,
    min_rtt_stamp: Instant,
    probe_rtt: ProbeRtt,
    cycle_index: usize,
    cycle_stamp: Instant,
    extra_acked: AckAggregation,
    recovery: Recovery,
    dice: Dice,
    began: bool,
    idle_restart: bool,
}

impl Bbr1 {
    fn new(config: Bbr1Config, connection: &Connection) -> Self {
        Self {
            config,
            segment: f64::from(connection.maximum_segment_size),
            packet: f64::from(connection.maximum_segment_size + connection.data_header),
            initial_window: f64::from(connection.initial_window),
            cwnd: f64::from(connection.initial_window),
            pacing_rate: 0.0,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw_filter: [0.0; MAX_BW_FILTER_LEN],
            max_bw_round: 0,
            limited: 0..0,
            full_bw: FullBw::default(),
            full_bw_reached: false,
            min_rtt: Span::MAX,
            min_rtt_stamp: Instant::ZERO,
            probe_rtt: ProbeRtt::default(),
            cycle_index: 0,
            cycle_stamp: Instant::ZERO,
            extra_acked: AckAggregation::default(),
            recovery: Recovery::default(),
            dice: Dice::default(),
            began: false,
            idle_restart: false,
        }
    }

    fn max_bw(&self) -> f64 {
        self.max_bw_filter.iter().fold(0.0, |best, &rate| best.max(rate))
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw => PACING_GAIN_CYCLE[self.cycle_index],
            State::ProbeRtt => 1.0,
        }
    }

    /// `gain` times the product of rate and round trip (Linux `bbr_bdp`).
    fn product(&self, gain: f64) -> f64 {
        if self.min_rtt == Span::MAX {
            return self.initial_window;
        }
        math::ceil(gain * bdp(self.max_bw(), self.min_rtt))
    }

    /// `segments`, and room for three bursts (Linux `bbr_quantization_budget`).
    fn with_bursts(&self, segments: f64) -> f64 {
        let probe = if self.state == State::ProbeBw && self.cycle_index == 0 { 2.0 } else { 0.0 };
        let target = segments + 3.0 * self.segments_of_burst();
        2.0 * math::ceil(target / 2.0) + probe
    }

    /// Segments of a burst: those of a millisecond, at most 64 kB, and two above 1.2 Mb/s (Linux `bbr_tso_segs_goal`).
    fn segments_of_burst(&self) -> f64 {
        let least =
            if self.pacing_rate * self.segment * 8.0 < MIN_TSO_RATE_BPS { 1.0 } else { f64::from(SEND_QUANTUM) };
        math::floor((self.pacing_rate / 1024.0).min(MAX_BURST_BYTES / self.segment)).clamp(least, MAX_BURST)
    }

    /// Segments in the network at `gain` times the product (Linux `bbr_inflight`).
    fn inflight(&self, gain: f64) -> f64 {
        self.with_bursts(self.product(gain))
    }

    /// Of `in_flight` segments those that are left when the next burst departs, with that burst where more are wanted (Linux
    /// `bbr_packets_in_net_at_edt`).
    fn at_departure(&self, in_flight: u32, rate: &RateSample) -> f64 {
        let burst = if self.pacing_gain() > 1.0 { self.segments_of_burst() } else { 0.0 };
        let delivered = math::floor(self.max_bw() * rate.until_departure.as_secs_f64());
        (f64::from(in_flight) + burst - delivered).max(0.0)
    }

    fn on_sample(&mut self, ack: &Ack, rate: &RateSample) {
        self.rounds.on_sample(rate);
        let sample = delivery_rate(rate, self.segment);
        let is_limited = rate.application_limited || self.limited.contains(&rate.delivered_before.0);
        if !is_limited || sample >= self.max_bw() {
            self.update_max_bw(sample);
        }
        self.extra_acked.on_ack(ack, self.max_bw(), self.rounds.round_start, self.cwnd);
        self.update_cycle_phase(ack.now, rate);
        if self.rounds.round_start && !self.full_bw_reached && !is_limited {
            self.full_bw_reached = self.full_bw.on_round(self.max_bw());
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.at_departure(rate.in_flight, rate) <= self.inflight(1.0) {
            self.start_probe_bw(ack.now);
        }
    }

    /// Rates expire only when a sample is taken, whatever rounds have passed (Linux `bbr_update_bw`).
    fn update_max_bw(&mut self, sample: f64) {
        let round = self.rounds.round_count as usize;
        for passed in (self.max_bw_round + 1..=round).take(MAX_BW_FILTER_LEN) {
            self.max_bw_filter[passed % MAX_BW_FILTER_LEN] = 0.0;
        }
        self.max_bw_round = round;
        let best = &mut self.max_bw_filter[round % MAX_BW_FILTER_LEN];
        *best = best.max(sample);
    }

    /// Linux `bbr_set_cwnd`.
    fn set_cwnd(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked);
        let starts = self.rounds.round_start && ack.rate.is_some();
        let (window, settled) = self.recovery.modulate_cwnd(ack, ack.rate.as_ref(), starts, self.cwnd);
        self.cwnd = window;
        if !settled {
            let gain = match self.state {
                State::Startup | State::Drain => HIGH_GAIN,
                State::ProbeBw => self.config.window_gain,
                State::ProbeRtt => 1.0,
            };
            let room = if self.full_bw_reached { math::floor(self.extra_acked.room(self.max_bw())) } else { 0.0 };
            let target = self.with_bursts(self.product(gain) + room);
            self.cwnd = cwnd_after(self.cwnd, acked, target, self.full_bw_reached);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
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
            self.min_rtt_stamp = ack.now;
            self.cwnd = window.size;
        }
        if let Some(rate) = &ack.rate {
            self.on_sample(ack, rate);
        }
        self.update_min_rtt(ack);
        self.began = true;
        self.idle_restart = false;
        self.pacing_rate =
            pacing_rate_with_gain(self.pacing_rate, self.pacing_gain(), self.max_bw(), self.full_bw_reached);
        self.set_cwnd(ack);
        window.size = self.cwnd;
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, _window: &mut Window) {}

    /// No rate is given up; what is in the network is conserved for a round.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        if event.cause != Cause::Mark {
            self.recovery.enter(event.cause, self.cwnd);
        }
        if event.cause == Cause::Timeout {
            self.cwnd = 1.0;
            self.full_bw = FullBw::default();
        }
        window.size
    }

    fn on_restart(&mut self, _idle: Span, _window: &mut Window) {
        self.idle_restart = true;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pacing_rate(self.pacing_rate, self.packet)
    }

    fn burst(&self) -> u32 {
        whole(self.segments_of_burst())
    }

    fn state(&self) -> ControllerState {
        ControllerState {
            // As version 3 has them in the draft.
            phase: Some(match self.state {
                State::Startup => "Startup",
                State::Drain => "Drain",
                State::ProbeBw => "ProbeBW",
                State::ProbeRtt => "ProbeRTT",
            }),
            bandwidth: pacing_rate(self.max_bw(), self.packet),
            bound: None,
        }
    }
}

#[cfg(test)]
mod tests;
