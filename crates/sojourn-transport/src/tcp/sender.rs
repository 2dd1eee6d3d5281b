//! The sending half of a connection: its state.
//!
//! Source: RFC 5681, RFC 6298 section 5, RFC 6675 section 5.
//! Each departure of an implementation from the documents is a habit of the stack ([`crate::habits`]).
//! Deviations: those of the modules below.

mod acknowledgement;
mod emission;
mod episodes;
mod timers;
mod transmit;

use super::loss_detection::Detector;
use super::recovery::Recovery;
use super::rto::base_timeout;
use super::scoreboard::Scoreboard;
use super::superpacket::Leaving;
use crate::common::delivery_rate::DeliveryRate;
use crate::common::marks::Marks;
use crate::common::pacer::Pacer;
use crate::common::rtt::RoundTrip;
use crate::common::stream::Stream;
use crate::config::StackConfig;
use crate::congestion::{ControllerState, WindowControl};
use crate::{CongestionSnapshot, CongestionState};
use alloc::boxed::Box;
use sojourn_base::{BitRate, Instant, Span};

/// A tail-loss probe in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// It is answered when everything below is acknowledged.
    end: u32,
    /// It repeated a segment.
    pub(super) repeated: bool,
}

/// Use of the window in recent round trips (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The window held data back.
    pub(super) limited: bool,
    /// Largest flight since `until` was set.
    pub(super) largest: u32,
    until: u32,
}

/// State of a sender.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the connection")]
pub(crate) struct Sender {
    pub(super) board: Scoreboard,
    pub(super) control: WindowControl,
    pub(super) detector: Detector,
    pub(super) recovery: Recovery,
    pub(super) stream: Stream,
    pub(super) round_trip: RoundTrip,
    pub(super) pacer: Pacer,
    pub(super) usage: Usage,
    /// For controllers that have asked for it.
    pub(super) delivery_rate: Option<Box<DeliveryRate>>,
    pub(super) state: CongestionState,
    /// Recovery point: next new segment when the last episode began.
    recover: u32,
    pub(super) duplicates: u32,
    /// Retransmission timeout before back-off, and what limits it with back-off; until there is a sample, those of
    /// the handshake.
    base_timeout: Span,
    maximum_timeout: Span,
    /// Expiries since the last valid sample, and since the last progress.
    backoff: u32,
    expiries: u32,
    pub(super) timeout_at: Instant,
    /// Time at which the last timeout sent the first segment again.
    repeated_at: Instant,
    pub(super) probe_at: Instant,
    pub(super) probe: Option<Probe>,
    /// The segment being timed, without time stamps.
    pub(super) timed: Option<(u32, Instant)>,
    /// [`Instant::NEVER`] before anything was.
    pub(super) last_sent_at: Instant,
    /// Bytes acknowledged in total.
    acknowledged: u64,
    /// Superpackets, of a stack that has them.
    pub(super) leaving: Leaving,
    /// Nothing may be sent before the handshake is over.
    pub(super) waiting: bool,
    /// End of the round trip in which the last mark was answered, and whether the peer knows.
    reduced_until: u32,
    pub(super) confirm_reduction: bool,
    /// The peer's count of marks.
    marks: Marks,
    state_since: Instant,
    given_up: bool,
    /// True if plain cases may take shortcuts; tests compare with the full path.
    pub(super) takes_shortcuts: bool,
}

impl Sender {
    pub(crate) fn new(config: &StackConfig) -> Self {
        let control = WindowControl::new(config);
        let (base_timeout, maximum_timeout) = handshake_timeouts(config);
        Self {
            board: Scoreboard::new(config.maximum_segment_size),
            delivery_rate: rate_sampler(&control),
            control,
            detector: Detector::new(config.loss_detection),
            recovery: Recovery::new(config.recovery),
            stream: Stream::default(),
            round_trip: RoundTrip::default(),
            pacer: Pacer::default(),
            usage: Usage::default(),
            state: CongestionState::Open,
            recover: 0,
            duplicates: 0,
            base_timeout,
            maximum_timeout,
            backoff: 0,
            expiries: 0,
            timeout_at: Instant::NEVER,
            repeated_at: Instant::ZERO,
            probe_at: Instant::NEVER,
            probe: None,
            timed: None,
            last_sent_at: Instant::NEVER,
            acknowledged: 0,
            leaving: Leaving::SINGLE,
            waiting: true,
            reduced_until: 0,
            confirm_reduction: false,
            marks: Marks::default(),
            state_since: Instant::ZERO,
            given_up: false,
            takes_shortcuts: true,
        }
    }

    /// Start again and keep the memory; field by field, since many connections are short.
    pub(crate) fn reset(&mut self, config: &StackConfig) {
        let Self {
            board,
            control,
            detector,
            recovery,
            stream,
            round_trip,
            pacer,
            usage,
            delivery_rate,
            state,
            recover,
            duplicates,
            base_timeout,
            maximum_timeout,
            backoff,
            expiries,
            timeout_at,
            repeated_at,
            probe_at,
            probe,
            timed,
            last_sent_at,
            acknowledged,
            leaving,
            waiting,
            reduced_until,
            confirm_reduction,
            marks,
            state_since,
            given_up,
            takes_shortcuts,
        } = self;
        board.reset(config.maximum_segment_size);
        detector.reset(config.loss_detection);
        stream.reset();
        *control = WindowControl::new(config);
        *delivery_rate = rate_sampler(control);
        *recovery = Recovery::new(config.recovery);
        *round_trip = RoundTrip::default();
        *pacer = Pacer::default();
        *usage = Usage::default();
        *state = CongestionState::Open;
        (*recover, *duplicates, *backoff, *expiries) = (0, 0, 0, 0);
        (*base_timeout, *maximum_timeout) = handshake_timeouts(config);
        (*timeout_at, *probe_at) = (Instant::NEVER, Instant::NEVER);
        (*repeated_at, *last_sent_at) = (Instant::ZERO, Instant::NEVER);
        (*probe, *timed) = (None, None);
        (*acknowledged, *leaving) = (0, Leaving::SINGLE);
        *waiting = true;
        (*reduced_until, *confirm_reduction) = (0, false);
        *marks = Marks::default();
        *state_since = Instant::ZERO;
        *given_up = false;
        *takes_shortcuts = true;
    }

    /// The handshake is over. `sample`: round trip of the handshake, if it may be used.
    pub(crate) fn establish(&mut self, now: Instant, sample: Option<Span>, config: &StackConfig) {
        self.waiting = false;
        self.state_since = now;
        if let Some(sample) = sample {
            self.sample(now, sample, config);
        }
    }

    /// SYNs were lost: start from one segment.
    pub(crate) fn start_from_one_segment(&mut self) {
        self.control.window_mut().size = 1.0;
    }

    /// Use `timeout` until there is a sample (RFC 6298 section 5.7).
    pub(crate) fn set_initial_timeout(&mut self, timeout: Span) {
        if self.round_trip.smoothed().is_none() {
            self.base_timeout = timeout;
        }
    }

    /// Do nothing the short way from now on.
    pub(crate) const fn take_no_shortcuts(&mut self) {
        self.takes_shortcuts = false;
    }

    /// Returns true if segments are outstanding.
    pub(crate) const fn has_outstanding(&self) -> bool {
        self.board.flight() > 0
    }

    /// Window and round trip at this moment.
    pub(crate) fn congestion(&self) -> CongestionSnapshot {
        let window = self.control.window();
        CongestionSnapshot {
            window: window.size,
            threshold: window.threshold,
            pipe: self.board.pipe(),
            smoothed_round_trip: self.round_trip.smoothed(),
            round_trip_variation: self.round_trip.variation(),
            state: self.state(),
        }
    }

    /// Returns the controller's state, and its sending rate.
    pub(crate) fn controller(&self) -> (ControllerState, Option<BitRate>) {
        (self.control.state(), self.control.pacing_rate())
    }

    /// The congestion state, disorder included.
    pub(crate) fn state(&self) -> CongestionState {
        if self.state == CongestionState::Open && (self.duplicates > 0 || self.board.sacked() > 0) {
            CongestionState::Disorder
        } else {
            self.state
        }
    }

    /// Bytes acknowledged so far.
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The FIN has been acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.stream.fin().is_some_and(|number| number < self.board.first())
    }

    /// The connection was given up after too many timeouts.
    pub(crate) const fn has_given_up(&self) -> bool {
        self.given_up
    }

    fn sample(&mut self, now: Instant, sample: Span, config: &StackConfig) {
        let gentle = config.timeout.gentle_on_falling_samples;
        self.round_trip.sample(now, sample, gentle);
        self.base_timeout = base_timeout(&config.timeout, &self.round_trip);
        self.maximum_timeout = config.timeout.maximum;
    }

    /// The send loop has ended; `limited`: the window held data back.
    pub(super) fn note_usage(&mut self, limited: bool) {
        let flight = self.board.flight();
        let usage = &mut self.usage;
        let stale = self.board.first() >= usage.until;
        if stale || limited || (!usage.limited && flight > usage.largest) {
            *usage = Usage { limited, largest: flight, until: self.board.next() };
        }
    }
}

/// Timeout until there is a sample, and its limit.
fn handshake_timeouts(config: &StackConfig) -> (Span, Span) {
    let policy = &config.connect;
    (policy.timeout, policy.maximum_timeout.unwrap_or(Span::MAX))
}

/// Returns a sampler of the delivery rate, if the controller requests it.
fn rate_sampler(control: &WindowControl) -> Option<Box<DeliveryRate>> {
    let wanted = control.wants_rate_samples();
    wanted.then(|| Box::new(DeliveryRate::new()))
}
