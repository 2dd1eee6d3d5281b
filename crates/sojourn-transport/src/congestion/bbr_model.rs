//! Model shared by both versions of BBR, in the names of the draft: rounds, a full pipe, bursts of acknowledgements,
//! probes of the round trip, the pace, and the window while losses are repaired.
//!
//! Source: draft-ietf-ccwg-bbr sections 5.5 (model) and 5.6.4 (window); Linux `tcp_bbr.c`.
//! Units: segments, seconds.
//! Deviations: the window's allowance for bursts of acknowledgements is the largest of the last ten rounds, in two
//! windows of five, as in Linux.

use super::{Ack, Cause, RateSample, Requests};
use sojourn_base::{BitRate, Instant, Span};

/// BBR's requests to its sender.
pub(super) const REQUESTS: Requests =
    Requests { fractions: true, growth_with_marks: true, rate_samples: true, pacing: true, own_window: true };

/// Segments released at once, for which the window makes room three times (Linux: two above 1.2 Mb/s).
pub(super) const SEND_QUANTUM: u32 = 2;
/// Fewest segments in the network (draft, `BBR.MinPipeCwnd`).
pub(super) const MIN_PIPE_CWND: f64 = 4.0;
/// A pipe is full when the rate grows by less than this in three rounds (draft, 5.3.1.2).
pub(super) const FULL_BW_GROWTH: f64 = 1.25;
pub(super) const FULL_BW_ROUNDS: u32 = 3;
/// Part of the estimated rate that is used, so that a queue can drain (draft, `BBR.PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.99;
/// A probe of the round trip lasts so long and a round at least (Linux `bbr_probe_rtt_mode_ms`; draft,
/// `BBR.ProbeRTTDuration`).
const PROBE_RTT_DURATION: Span = Span::from_ms(200);
/// Bursts of acknowledgements are allowed for up to this many seconds at the estimated rate (Linux
/// `bbr_extra_acked_max_us`).
const EXTRA_ACKED_MAX_S: f64 = 0.1;
/// Rounds of one window of the filter of bursts (Linux `bbr_extra_acked_win_rtts`).
const EXTRA_ACKED_ROUNDS: u32 = 5;

/// Rounds of packet-timed round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    next_round_delivered: u64,
    /// Rounds so far.
    pub(super) round_count: u32,
    /// This acknowledgement began one.
    pub(super) round_start: bool,
}

impl Rounds {
    pub(super) fn on_sample(&mut self, rate: &RateSample) {
        self.round_start = rate.delivered_before.0 >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = rate.delivered_in_total.0;
            self.round_count += 1;
        }
    }

    /// Begin a round now.
    pub(super) const fn restart(&mut self, rate: &RateSample) {
        self.next_round_delivered = rate.delivered_in_total.0;
    }
}

/// Detects that the rate has stopped growing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBw {
    full_bw: f64,
    full_bw_count: u32,
}

impl FullBw {
    /// Count from `rate` on.
    pub(super) const fn reset(&mut self, rate: f64) {
        (self.full_bw, self.full_bw_count) = (rate, 0);
    }

    /// The rate that would be a quarter more.
    pub(super) const fn wanted(&self) -> f64 {
        self.full_bw * FULL_BW_GROWTH
    }

    /// A round has brought `rate`; true if none of three was a quarter better than the best before.
    pub(super) fn on_round(&mut self, rate: f64) -> bool {
        if rate >= self.wanted() {
            self.reset(rate);
            return false;
        }
        self.full_bw_count += 1;
        self.full_bw_count >= FULL_BW_ROUNDS
    }
}

/// A probe of the round trip: few segments in the network for a while, and for a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    done_stamp: Option<Instant>,
    round_done: bool,
}

impl ProbeRtt {
    /// It begins, and waits for the network to empty.
    pub(super) const fn begin(&mut self) {
        self.done_stamp = None;
    }

    /// An acknowledgement during the probe; true if the probe is over. Its time runs from when no more than `few` segments
    /// are in the network.
    pub(super) fn on_ack(&mut self, ack: &Ack, few: f64, rounds: &mut Rounds) -> bool {
        match (self.done_stamp, &ack.rate) {
            (None, Some(rate)) if f64::from(rate.in_flight) <= few => {
                self.done_stamp = Some(ack.now + PROBE_RTT_DURATION);
                self.round_done = false;
                rounds.restart(rate);
                false
            }
            (Some(end), _) => {
                self.round_done |= rounds.round_start;
                self.round_done && ack.now > end
            }
            _ => false,
        }
    }
}

/// How many segments arrive in bursts beyond the estimated rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckAggregation {
    interval_start: Instant,
    delivered: f64,
    filter: [f64; 2],
    rounds: u32,
}

impl AckAggregation {
    /// `rate`: estimated segments per second.
    pub(super) fn on_ack(&mut self, ack: &Ack, rate: f64, round_starts: bool, window: f64) {
        if round_starts {
            self.rounds += 1;
            if self.rounds >= EXTRA_ACKED_ROUNDS {
                self.rounds = 0;
                self.filter = [0.0, self.filter[0]];
            }
        }
        let mut expected = rate * ack.now.saturating_since(self.interval_start).as_secs_f64();
        if self.delivered <= expected {
            (self.delivered, self.interval_start, expected) = (0.0, ack.now, 0.0);
        }
        self.delivered += f64::from(ack.acked);
        let extra = (self.delivered - expected).min(window);
        self.filter[0] = self.filter[0].max(extra);
    }

    /// Room for them, once the pipe is full.
    pub(super) fn room(&self, rate: f64) -> f64 {
        self.filter[0].max(self.filter[1]).min(rate * EXTRA_ACKED_MAX_S)
    }
}

/// The window while losses are repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    prior_cwnd: f64,
    begins: bool,
    packet_conservation: bool,
    active: bool,
}

impl Recovery {
    /// A loss or timeout is found; `window` is its size before.
    pub(super) fn enter(&mut self, cause: Cause, window: f64) {
        if !self.active {
            self.prior_cwnd = window;
        }
        self.active = true;
        self.begins = cause == Cause::Loss;
        self.packet_conservation = self.begins;
    }

    /// Returns the window after an acknowledgement of `acked` segments, with `pipe` in the network; the second value is
    /// true if the window must not exceed it.
    pub(super) fn modulate_cwnd(
        &mut self,
        ack: &Ack,
        rate: Option<&RateSample>,
        round_starts: bool,
        window: f64,
    ) -> (f64, bool) {
        let acked = f64::from(ack.acked);
        let lost = rate.map_or(0, |rate| rate.newly_lost);
        let pipe = rate.map(|rate| f64::from(rate.in_flight));
        let mut window = (window - f64::from(lost)).max(1.0);
        if self.active && ack.open {
            self.active = false;
            self.packet_conservation = false;
            window = window.max(self.prior_cwnd);
        }
        if core::mem::take(&mut self.begins) {
            if let Some(pipe) = pipe {
                window = pipe + acked.max(1.0);
            }
        } else if self.packet_conservation && round_starts {
            self.packet_conservation = false;
        }
        if self.packet_conservation
            && let Some(pipe) = pipe
        {
            return (window.max(pipe + acked), true);
        }
        (window, self.packet_conservation)
    }

    /// Keep `window` for the end of a probe.
    pub(super) fn save_cwnd(&mut self, window: f64) {
        self.prior_cwnd = if self.active { self.prior_cwnd.max(window) } else { window };
    }

    /// Returns the saved window.
    pub(super) const fn prior_cwnd(&self) -> f64 {
        self.prior_cwnd
    }
}

/// A small generator of chance, seeded by the time of the first acknowledgement, so that flows differ and runs repeat.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(now: Instant) -> Self {
        // Weyl's increment of splitmix64; never zero.
        Self(now.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`.
    pub(super) const fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Segments of a sample by time.
pub(super) fn delivery_rate(rate: &RateSample, segment: f64) -> f64 {
    rate.delivered.0 as f64 / segment / rate.interval.as_secs_f64()
}

/// The pace in segments per second, `gain` times the estimated `rate`, after `pacing_rate`: until the pipe is full it only grows.
pub(super) fn pacing_rate_with_gain(pacing_rate: f64, gain: f64, rate: f64, full_bw_reached: bool) -> f64 {
    let wanted = PACING_MARGIN * gain * rate;
    if wanted > 0.0 && (full_bw_reached || wanted > pacing_rate) { wanted } else { pacing_rate }
}

/// `cwnd` after `acked` segments, on the way to `target`: until the pipe is full it never shrinks to it.
pub(super) fn cwnd_after(cwnd: f64, acked: f64, target: f64, full_bw_reached: bool) -> f64 {
    let grown = if full_bw_reached {
        (cwnd + acked).min(target)
    } else if cwnd < target {
        cwnd + acked
    } else {
        cwnd
    };
    grown.max(MIN_PIPE_CWND)
}

/// Bits per second of packets of `packet` bytes; `None` before there is a pace.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` clamps, and rates are never negative"
)]
pub(super) fn pacing_rate(pace: f64, packet: f64) -> Option<BitRate> {
    (pace > 0.0).then(|| BitRate::from_bps(((8.0 * pace * packet) as u64).max(1)))
}

/// The round trip of what an acknowledgement says: that of its newest segment, or what its time stamp says.
pub(super) fn rtt_sample(ack: &Ack) -> Option<Span> {
    let newest = ack.rate.as_ref().and_then(|rate| rate.round_trip);
    newest.or(ack.round_trip)
}

/// Segments that `rate` brings in `time`.
pub(super) fn bdp(rate: f64, time: Span) -> f64 {
    rate * time.as_secs_f64()
}

#[cfg(test)]
pub(super) mod testing {
    use sojourn_base::Bytes;

    /// Returns the segments that a path of `rate` segments per second delivers in a round of 40 ms.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates of the tests are small and not negative"
    )]
    pub(crate) fn bytes_in_a_round(rate: f64) -> Bytes {
        Bytes((rate * 0.04 * 1448.0) as u64)
    }
}
