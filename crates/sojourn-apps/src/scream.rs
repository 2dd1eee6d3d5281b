//! SCReAM: the congestion controller of video that must arrive while it is new.
//!
//! A window limits what is in flight, packets that it does not let out wait in the sender's queue, and the encoder's rate
//! follows what leaves that queue.
//!
//! Source: RFC 8298 section 4.1: network congestion control (4.1.2) here, with the queueing delay in [`delay`] and the
//! packets in flight in [`flight`]; media rate control (4.1.3) in [`rate`]. Names of its pseudocode are spelled out.
//! Units: bytes of RTP packets, seconds, bits per second.
//! Deviations: RFC 8298 leaves marks of L4S to a later document. A sender of ECT(1) here takes half of the marked share off
//! its window, as DCTCP does (RFC 8257 section 3.3), and a mark does not change its media rate, but a window in a round trip,
//! over 1.2 or more, bounds it, and a frame counts as queued from the next one on: so has that later document all three
//! (draft-ietf-ccwg-rfc8298bis-screamv2). Chosen, where the document is silent: what is in flight
//! counts as lost after [`SILENCE`] without feedback; a loss weighs 1 % in the rate of loss events, as in the authors'
//! program; fast increase resumes 5 s after the last congestion event at the earliest.

mod delay;
mod feedback;
mod flight;
mod rate;

use sojourn_base::{Bytes, Instant, Span};

use delay::Delay;
pub(crate) use feedback::{Received, Reporter};
use flight::Flight;
pub(crate) use rate::MediaRates;
use rate::Rates;

/// `MIN_CWND` (RFC 8298 section 4.1.1.1).
const LEAST_WINDOW: f64 = 3_000.0;
/// `MAX_BYTES_IN_FLIGHT_HEAD_ROOM`, as above.
const HEAD_ROOM: f64 = 1.1;
/// `GAIN`, as above.
const GAIN: f64 = 1.0;
/// `BETA_LOSS`, as above.
const BETA_LOSS: f64 = 0.8;
/// `BETA_ECN`, as above.
const BETA_MARK: f64 = 0.9;
/// `QDELAY_TREND_TH` and `QDELAY_TREND_LO`, as above.
const TREND_LIMIT: f64 = 0.2;
/// `T_RESUME_FAST_INCREASE`, as above.
const CALM: Span = Span::from_s(5);
/// `RATE_PACE_MIN`, as above, in b/s.
const LEAST_PACE: f64 = 50_000.0;
/// The share of marks is an average with this weight of the last round trip (RFC 8257 section 3.3).
const MARKS_GAIN: f64 = 1.0 / 16.0;
/// A sender of L4S leaves so much of its window to frames that are larger than others, and up to so much more
/// (draft-ietf-ccwg-rfc8298bis-screamv2, media rate control).
const MARGINS: (f64, f64) = (1.2, 0.5);
/// `RATE_ADJUST_GAIN` of that document: what a wait of a frame in the sender's queue adds.
const MARGIN_GAIN: f64 = 1.0 / 16.0;
/// chosen: two and a half of the longest intervals between reports (RFC 8298 section 4.2.2). No report for so long, and what
/// is in flight is lost.
const SILENCE: Span = Span::from_s(1);

/// How far a packet or a report lies behind the oldest that is remembered.
fn place(distance: u64) -> usize {
    usize::try_from(distance).expect("packets of seconds fit into memory")
}

/// The controller of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Scream {
    /// `MSS`: the longest RTP packet.
    segment: f64,
    /// Marks are answered in proportion.
    is_scalable: bool,
    window: f64,
    is_fast: bool,
    flight: Flight,
    delay: Delay,
    rates: Rates,
    smoothed_round_trip: Option<f64>,
    /// The next round trip begins, for what is counted once in each.
    round_ends: Instant,
    lost_in_round: bool,
    /// Packets of this round trip that were acknowledged, and marked ones among them.
    delivered: u64,
    marked: u64,
    marked_share: f64,
    /// `rate_adjust_factor`: what the rate of L4S leaves out because frames wait in the sender's queue.
    margin: f64,
    /// The last event that congestion caused; the next one is a round trip later.
    reacted_at: Option<Instant>,
    /// The trend of the delay is low since then.
    calm_since: Option<Instant>,
    heard_at: Instant,
}

impl Scream {
    /// Bytes of the packets in flight that it keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.flight.kept()
    }

    /// A controller before its first packet.
    pub(crate) fn new(rates: MediaRates, segment: Bytes, competes: bool, is_scalable: bool) -> Self {
        Self {
            segment: segment.0 as f64,
            is_scalable,
            window: LEAST_WINDOW,
            is_fast: true,
            flight: Flight::default(),
            delay: Delay::new(competes),
            rates: Rates::new(rates),
            smoothed_round_trip: None,
            round_ends: Instant::ZERO,
            lost_in_round: false,
            delivered: 0,
            marked: 0,
            marked_share: 0.0,
            margin: 0.0,
            reacted_at: None,
            calm_since: None,
            heard_at: Instant::ZERO,
        }
    }

    /// Returns the target of the encoder, in b/s with RTP headers.
    pub(crate) const fn target(&self) -> f64 {
        self.rates.target()
    }

    /// Takes a new frame; `queued` bytes wait in the sender's queue with it, the oldest for this number of `frames`.
    pub(crate) fn on_frame(&mut self, now: Instant, bytes: u64, (queued, frames): (u64, f64)) {
        self.margin = (self.margin + MARGIN_GAIN * (frames - 0.25)).clamp(0.0, MARGINS.1);
        if self.flight.bytes() == 0 {
            self.heard_at = now; // nothing in flight: no report is due
        } else if now.saturating_since(self.heard_at) > SILENCE {
            self.on_silence(now);
        }
        self.rates.on_media(bytes);
        let (trend, remembered) = (self.delay.trend(), self.delay.remembered_trend());
        // The queue of L4S is what waited before (rfc8298bis, media rate control: how long the oldest packet has been in it).
        // A new frame is 33 ms of the rate, and would always be one.
        let queued = if self.is_scalable { queued.saturating_sub(bytes) } else { queued };
        self.rates.adjust(now, self.is_fast, (trend, remembered), queued as f64 * 8.0);
    }

    /// Returns true if a packet of `bytes` may leave (section 4.1.2.5: the send window).
    pub(crate) fn may_send(&self, bytes: u64) -> bool {
        let slack = if self.delay.is_below_target() { self.segment } else { 0.0 };
        bytes as f64 <= self.window + slack - self.flight.bytes() as f64
    }

    /// A packet leaves: its number, and how long the next one has to wait (section 4.1.2.6).
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) -> (u64, Span) {
        self.rates.on_sent(bytes);
        let number = self.flight.send(now, bytes);
        let wait = self
            .smoothed_round_trip
            .map_or(0.0, |round_trip| bytes as f64 * 8.0 / (self.window * 8.0 / round_trip).max(LEAST_PACE));
        (number, Span::from_secs_f64(wait))
    }

    /// Takes a report: its first packet, the state of each packet from there on, and its send time.
    pub(crate) fn on_report(&mut self, now: Instant, first: u64, packets: impl Iterator<Item = Option<Received>>) {
        let in_flight = self.flight.bytes();
        let news = self.flight.acknowledge(now, first, packets);
        let Some(highest) = news.highest else {
            return;
        };
        self.heard_at = now;
        self.rates.on_acknowledged(news.received_bytes);
        let round_trip = now.saturating_since(highest.sent_at).as_secs_f64();
        // RFC 6298 section 2: an eighth of each sample.
        let smoothed = self.smoothed_round_trip.map_or(round_trip, |smoothed| smoothed + (round_trip - smoothed) / 8.0);
        self.smoothed_round_trip = Some(smoothed);
        if let Some(arrived_at) = highest.arrived_at {
            let delay = arrived_at.saturating_since(highest.sent_at);
            self.delay.sample(now, delay);
        }
        self.delivered += news.received;
        self.marked += news.marked;
        self.lost_in_round |= news.is_loss;
        if now >= self.round_ends {
            self.end_round();
            self.round_ends = now + Span::from_secs_f64(smoothed);
        }
        let may_react = self.reacted_at.is_none_or(|at| now.saturating_since(at).as_secs_f64() > smoothed);
        if news.is_loss && may_react {
            self.on_congestion(now, BETA_LOSS);
            self.rates.on_loss(now);
        } else if news.marked > 0 && may_react {
            if self.is_scalable {
                self.on_congestion(now, 1.0 - self.marked_share / 2.0);
            } else {
                self.on_congestion(now, BETA_MARK);
                self.rates.on_mark(now);
            }
        } else {
            self.grow(in_flight as f64, news.advanced as f64);
            self.resume(now);
        }
        if self.is_scalable {
            self.rates.bound(self.window * 8.0 / smoothed / (MARGINS.0 + self.margin));
        }
    }

    /// Once in a round trip: the share of marks, and of round trips with a loss.
    fn end_round(&mut self) {
        self.delay.on_round(self.lost_in_round);
        self.lost_in_round = false;
        if self.delivered > 0 {
            let share = self.marked as f64 / self.delivered as f64;
            self.marked_share += MARKS_GAIN * (share - self.marked_share);
        }
        (self.delivered, self.marked) = (0, 0);
    }

    /// Section 4.1.2.2, a congestion event.
    fn on_congestion(&mut self, now: Instant, factor: f64) {
        self.is_fast = false;
        self.calm_since = None;
        self.reacted_at = Some(now);
        self.window = (self.window * factor).max(LEAST_WINDOW);
    }

    /// Section 4.1.2.2, an acknowledgement without such an event.
    fn grow(&mut self, in_flight: f64, acknowledged: f64) {
        if self.is_fast {
            if self.delay.trend() < TREND_LIMIT {
                if in_flight * 1.5 + acknowledged > self.window {
                    self.window += acknowledged;
                }
                return;
            }
            self.is_fast = false;
        }
        let off_target = self.delay.off_target();
        if off_target <= 0.0 || in_flight * 1.25 + acknowledged > self.window {
            self.window += GAIN * off_target * acknowledged * self.segment / self.window;
        }
        let most = self.flight.most() as f64 * HEAD_ROOM;
        self.window = self.window.min(most).max(LEAST_WINDOW);
    }

    /// Section 4.1.2.7.
    fn resume(&mut self, now: Instant) {
        if self.delay.trend() >= TREND_LIMIT {
            self.calm_since = None;
            return;
        }
        let since = *self.calm_since.get_or_insert(now);
        self.is_fast |= now.saturating_since(since) >= CALM;
    }

    fn on_silence(&mut self, now: Instant) {
        self.heard_at = now;
        self.flight.forget();
        self.on_congestion(now, 0.0);
        self.rates.on_loss(now);
        self.lost_in_round = true;
    }
}

#[cfg(test)]
mod tests;
