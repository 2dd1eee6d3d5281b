//! The sending half of a connection: what an acknowledgement changes, and what a timer does.
//!
//! Source: RFC 5681, RFC 6298 section 5 (timers), RFC 6582, RFC 6675 section 5, RFC 8985 section 7
//! (tail-loss probe), RFC 3168 section 6.1.2 (marks; as in Linux, the round trip of a reduction ends
//! with the acknowledgement of its confirmation). The order of steps is the same for all stacks;
//! what differs is asked of loss detection, recovery and the congestion controller.
//! With forward acknowledgement come the habits of ns-2.35 `tcp-linux.cc`: growth before the change of
//! state, a forgotten scoreboard after each episode, recovery out of the repair of a timeout, a timer
//! that every acknowledgement restarts.
//! Deviations: spurious timeouts are counted, not undone. A tail-loss probe that repaired a loss
//! reduces by the window, because the data outstanding at the tail say nothing about it.

use super::loss_detection::{Circumstances, DUPLICATE_THRESHOLD, Detector};
use super::recovery::{Progress, Recovery};
use super::rto::{backed_off, base_timeout};
use super::rtt::RoundTrip;
use super::scoreboard::{Covered, Scoreboard};
use super::stream::Stream;
use super::transmit::{Outlet, Pacer};
use crate::config::{
    EcnMode, GrowthGate, Handshake, LossDetection, RecoveryMode, ReductionBase, RoundTripSampling,
    StackConfig, WindowUnit,
};
use crate::congestion::{Ack, Congestion, CongestionControl};
use crate::{CongestionState, Event, Flags, Host, Segment};
use sojourn_base::{Instant, Span};

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
pub(crate) struct Sender {
    pub(super) board: Scoreboard,
    pub(super) control: CongestionControl,
    pub(super) detector: Detector,
    pub(super) recovery: Recovery,
    pub(super) stream: Stream,
    pub(super) round_trip: RoundTrip,
    pub(super) pacer: Pacer,
    pub(super) usage: Usage,
    pub(super) state: CongestionState,
    /// Recovery point: next new segment when the last episode began.
    recover: u32,
    pub(super) duplicates: u32,
    /// Timeout until there is a sample, and its limit.
    initial_timeout: Span,
    initial_maximum: Span,
    /// Expiries since the last valid sample, and since the last progress.
    backoff: u32,
    expiries: u32,
    pub(super) timeout_at: Instant,
    /// When the last timeout sent the first segment again.
    repeated_at: Instant,
    pub(super) probe_at: Instant,
    pub(super) probe: Option<Probe>,
    /// The segment being timed, without time stamps.
    pub(super) timed: Option<(u32, Instant)>,
    pub(super) last_sent_at: Option<Instant>,
    /// Bytes acknowledged in total.
    acknowledged: u64,
    /// Nothing may be sent before the handshake is over.
    pub(super) waiting: bool,
    /// End of the round trip in which the last mark was answered, and whether the peer knows.
    reduced_until: u32,
    pub(super) confirm_reduction: bool,
    state_since: Instant,
    given_up: bool,
}

/// Probe timeout without a round-trip sample (RFC 8985 section 7.2).
const PROBE_TIMEOUT_WITHOUT_SAMPLE: Span = Span::from_s(1);
/// Allowance for a delayed acknowledgement of a single segment (RFC 8985 section 7.2, `WCDelAckT`;
/// Linux uses its minimum timeout).
const WORST_DELAYED_ACK: Span = Span::from_ms(200);

impl Sender {
    pub(crate) fn new(config: &StackConfig) -> Self {
        Self::assemble(
            config,
            Scoreboard::new(config.maximum_segment_size),
            Detector::new(config.loss_detection),
            Stream::default(),
        )
    }

    /// Start again and keep the memory.
    pub(crate) fn reset(&mut self, config: &StackConfig) {
        let mut board = core::mem::replace(&mut self.board, Scoreboard::empty(0));
        let mut detector =
            core::mem::replace(&mut self.detector, Detector::new(config.loss_detection));
        let mut stream = core::mem::take(&mut self.stream);
        board.reset(config.maximum_segment_size);
        detector.reset(config.loss_detection);
        stream.reset();
        *self = Self::assemble(config, board, detector, stream);
    }

    fn assemble(
        config: &StackConfig,
        board: Scoreboard,
        detector: Detector,
        stream: Stream,
    ) -> Self {
        Self {
            board,
            control: CongestionControl::new(config),
            detector,
            recovery: Recovery::new(config.recovery),
            stream,
            round_trip: RoundTrip::default(),
            pacer: Pacer::default(),
            usage: Usage::default(),
            state: CongestionState::Open,
            recover: 0,
            duplicates: 0,
            initial_timeout: config.connect.timeout,
            initial_maximum: config.connect.maximum_timeout.unwrap_or(Span::MAX),
            backoff: 0,
            expiries: 0,
            timeout_at: Instant::NEVER,
            repeated_at: Instant::ZERO,
            probe_at: Instant::NEVER,
            probe: None,
            timed: None,
            last_sent_at: None,
            acknowledged: 0,
            waiting: true,
            reduced_until: 0,
            confirm_reduction: false,
            state_since: Instant::ZERO,
            given_up: false,
        }
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
        self.initial_timeout = timeout;
    }

    /// A segment that acknowledges has arrived.
    pub(crate) fn on_ack<H: Host>(
        &mut self,
        now: Instant,
        segment: &Segment,
        out: &mut Outlet<'_, H>,
    ) {
        let before = self.board.first();
        let end = segment.acknowledgement;
        // ns-2 `TCP/Linux` differs in more than the rule for losses.
        let linux_of_ns2 = out.config.loss_detection == LossDetection::ForwardAck;
        let stale = linux_of_ns2 && end < before;
        if end > self.board.next() || self.board.flight() == 0 || stale {
            return;
        }
        let (pipe_before, flight_before) = (self.board.pipe(), self.board.flight());
        let newly_sacked = self.take_sack(now, segment);
        let covered = if end > before {
            self.take_cumulative(now, segment, out.config)
        } else {
            Covered::default()
        };
        let marked = segment.flags.has(Flags::ECE) && out.config.ecn != EcnMode::Off;
        if end < before && newly_sacked == 0 && !marked {
            return;
        }
        if self.detector.follows_deliveries() {
            let sacked = self.board.highest_sacked().map_or(0, |n| n + 1);
            self.detector
                .end_of_deliveries(self.board.first().max(sacked));
            if segment.flags.has(Flags::DSACK) {
                self.detector.on_duplicate_report(&self.board);
            }
        }
        let acked = covered.segments;
        let delivered = newly_sacked + acked - covered.sacked_before;
        let sample = self.sample_of(now, segment, delivered, out.config);
        if sample.is_some() {
            out.statistics.round_trip_extremes = self.round_trip.extremes();
        }
        if acked > 0 {
            self.on_progress(now, segment, sample.is_some(), out);
        } else if linux_of_ns2 {
            self.backoff = 0;
            self.restart_timeout(now, out.config);
        }
        self.count_duplicate(before, segment, newly_sacked, out.config);

        let was_recovering = self.state() == CongestionState::Recovery;
        let newly_lost = self.detect(now);
        // What had been SACKed earlier counts once, as in Linux: the acknowledgement that repairs a
        // timeout may cover hundreds of such segments.
        let grows_by = if linux_of_ns2 { acked } else { delivered };
        let mut news = Ack {
            now,
            acked: grows_by,
            first: self.board.first(),
            next: self.board.next(),
            round_trip: sample,
            smoothed: self.round_trip.smoothed().unwrap_or(self.initial_timeout),
            one_way_delay: (delivered > 0).then(|| Span::from_ps(segment.one_way_delay_ps)),
            flight_before,
            // Those of ns-2 `TCP/Linux`, whose window grows before the state changes.
            may_change: acked > 0 && !was_recovering,
            may_grow: false,
            open: self.state == CongestionState::Open,
            after_timeout: false,
        };
        if linux_of_ns2 {
            self.tell_controller(news, pipe_before, out.config);
        }
        let before_leaving = self.state;
        self.leave_episode(now, acked, out);
        let left = self.state != before_leaving;
        let entered = if linux_of_ns2 {
            !left && newly_lost > 0 && self.state != CongestionState::Recovery
        } else {
            self.should_recover(out.config)
        };
        if entered {
            self.enter_recovery(now, delivered, out);
        } else if self.state == CongestionState::Recovery {
            let progress = Progress {
                delivered,
                safe: acked > 0 && newly_lost == 0,
            };
            if delivered > 0 {
                self.recovery
                    .on_ack(progress, &self.board, &mut self.control);
            }
        }
        if marked {
            self.on_mark(out.config, out);
        }
        if !linux_of_ns2 {
            // ns-2 `TCP/Reno` opens the window also with the acknowledgement that ends recovery.
            let reopened = left
                && out.config.recovery == RecoveryMode::Reno
                && out.config.reduction_base == ReductionBase::Window;
            news.may_change = acked > 0 && (!was_recovering || reopened) && !entered && !marked;
            news.open = self.state == CongestionState::Open && !was_recovering;
            self.tell_controller(news, pipe_before, out.config);
        }
        debug_assert!(self.board.is_consistent(), "marks and counters disagree");
        self.transmit(now, out);
        self.arm_probe(now, out.config, acked > 0);
        if covered.bytes > 0 {
            self.acknowledged += u64::from(covered.bytes);
            out.host.notify(Event::Acknowledged(self.acknowledged));
        }
    }

    fn tell_controller(&mut self, mut news: Ack, pipe_before: u32, config: &StackConfig) {
        news.may_grow = news.may_change && self.gate_is_open(pipe_before, config.growth_gate);
        news.next = self.board.next();
        news.after_timeout = self.state == CongestionState::Loss;
        self.control.on_ack(&news);
    }

    /// Whichever timer of this sender is due.
    pub(crate) fn on_timer<H: Host>(&mut self, now: Instant, out: &mut Outlet<'_, H>) {
        if now >= self.detector.deadline() {
            let newly_lost = self.detect(now);
            if self.should_recover(out.config) {
                self.enter_recovery(now, 0, out);
            } else if self.state == CongestionState::Recovery && newly_lost > 0 {
                // As in Linux, the timer permits one segment: no acknowledgement may come any more.
                let progress = Progress {
                    delivered: 0,
                    safe: true,
                };
                self.recovery
                    .on_ack(progress, &self.board, &mut self.control);
            }
            self.transmit(now, out);
        }
        if now >= self.probe_at {
            self.send_probe(now, out);
        }
        if now >= self.timeout_at {
            self.on_timeout(now, out);
        }
    }

    /// The earliest of the sender's timers.
    pub(crate) fn deadline(&self) -> Instant {
        self.timeout_at
            .min(self.probe_at)
            .min(self.detector.deadline())
    }

    /// The retransmission timeout without and with back-off.
    pub(crate) fn timeout(&self, config: &StackConfig) -> (Span, Span) {
        let base = base_timeout(&config.timeout, &self.round_trip, self.initial_timeout);
        let maximum = if self.round_trip.smoothed().is_some() {
            config.timeout.maximum
        } else {
            self.initial_maximum
        };
        (base.min(maximum), backed_off(base, self.backoff, maximum))
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
        self.stream
            .fin()
            .is_some_and(|number| number < self.board.first())
    }

    /// The connection was given up after too many timeouts.
    pub(crate) const fn has_given_up(&self) -> bool {
        self.given_up
    }

    pub(super) fn restart_timeout(&mut self, now: Instant, config: &StackConfig) {
        self.timeout_at = now.saturating_add(self.timeout(config).1);
    }

    /// Arm the tail-loss probe after new data or progress, if it applies (RFC 8985 section 7.2).
    pub(super) fn arm_probe(&mut self, now: Instant, config: &StackConfig, reason: bool) {
        if !config.tail_loss_probe {
            return;
        }
        let applies = self.state == CongestionState::Open
            && self.board.sacked() == 0
            && self.probe.is_none()
            && self.board.flight() > 0;
        if !applies {
            self.probe_at = Instant::NEVER;
        } else if reason {
            let mut wait = self
                .round_trip
                .smoothed()
                .map_or(PROBE_TIMEOUT_WITHOUT_SAMPLE, |smoothed| {
                    smoothed.saturating_mul(2)
                });
            if self.board.flight() == 1 {
                wait += WORST_DELAYED_ACK;
            }
            self.probe_at = now.saturating_add(wait).min(self.timeout_at);
        }
    }

    fn take_sack(&mut self, now: Instant, segment: &Segment) -> u32 {
        if segment.sack.is_empty() {
            return 0;
        }
        let Self {
            board,
            detector,
            round_trip,
            ..
        } = self;
        let follows = detector.follows_deliveries();
        let ranks = detector.follows_retransmissions();
        let mut count = 0;
        for &(first, end) in segment.sack.as_slice() {
            count += board.sack(first, end, |number, sent| {
                if follows {
                    detector.on_delivered(now, number, sent, round_trip);
                } else if ranks {
                    detector.on_answered(number, sent, true);
                }
            });
        }
        board.remember_blocks(segment.sack.as_slice());
        count
    }

    fn take_cumulative(
        &mut self,
        now: Instant,
        segment: &Segment,
        config: &StackConfig,
    ) -> Covered {
        let end = segment.acknowledgement;
        let Self {
            board,
            detector,
            round_trip,
            ..
        } = self;
        if detector.follows_deliveries() {
            board.for_each_undelivered(end, |number, sent| {
                detector.on_delivered(now, number, sent, round_trip);
            });
        } else if detector.follows_retransmissions() {
            board.for_each_undelivered(end, |number, sent| {
                detector.on_answered(number, sent, false);
            });
        }
        if config.sampling == RoundTripSampling::NewestAcknowledged {
            let newest = board.segment(end - 1);
            self.timed = (newest.transmissions == 1).then_some((end - 1, newest.sent_at));
        }
        self.board.acknowledge(end)
    }

    fn sample_of(
        &mut self,
        now: Instant,
        segment: &Segment,
        delivered: u32,
        config: &StackConfig,
    ) -> Option<Span> {
        let sample = if config.sampling == RoundTripSampling::Timestamps {
            // ns-2 `TCP/Linux` samples also from duplicates that say nothing new.
            let counts = delivered > 0 || config.loss_detection == LossDetection::ForwardAck;
            (counts && segment.echo != Instant::NEVER).then(|| now.saturating_since(segment.echo))
        } else {
            let (number, sent_at) = self.timed?;
            (number < self.board.first()).then(|| {
                self.timed = None;
                now.saturating_since(sent_at)
            })
        };
        if let Some(sample) = sample {
            self.sample(now, sample, config);
        }
        sample
    }

    fn sample(&mut self, now: Instant, sample: Span, config: &StackConfig) {
        let gentle = config.timeout.gentle_on_falling_samples;
        self.round_trip.sample(now, sample, gentle);
    }

    /// New data are acknowledged: timers, back-off, probe.
    fn on_progress<H>(
        &mut self,
        now: Instant,
        segment: &Segment,
        sampled: bool,
        out: &mut Outlet<'_, H>,
    ) {
        if sampled {
            self.backoff = 0;
        }
        if self.expiries > 0 {
            let stamped = out.config.sampling == RoundTripSampling::Timestamps;
            if stamped && segment.echo < self.repeated_at {
                out.statistics.spurious_timeouts += 1;
            }
            self.expiries = 0;
        }
        if self.board.flight() == 0 {
            self.timeout_at = Instant::NEVER;
        } else {
            self.restart_timeout(now, out.config);
        }
        if let Some(probe) = self.probe
            && self.board.first() >= probe.end
        {
            self.probe = None;
            let repaired = probe.repeated && !segment.flags.has(Flags::DSACK);
            if repaired && self.state == CongestionState::Open {
                let base = f64::from(self.control.window().whole());
                self.reduce(base, out);
                let threshold = self.control.window().threshold;
                self.control.window_mut().size = threshold;
            }
        }
    }

    fn count_duplicate(
        &mut self,
        before: u32,
        segment: &Segment,
        newly_sacked: u32,
        config: &StackConfig,
    ) {
        if segment.acknowledgement > before {
            self.duplicates = 0;
        } else if segment.is_pure_ack()
            && segment.acknowledgement == before
            && (newly_sacked > 0 || !config.loss_detection.uses_sack())
        {
            self.duplicates += 1;
            if self.state == CongestionState::Recovery {
                self.recovery.on_duplicate();
            }
        }
    }

    fn detect(&mut self, now: Instant) -> u32 {
        let at = Circumstances {
            now,
            recovery: self.state == CongestionState::Recovery,
            loss: self.state == CongestionState::Loss,
        };
        self.detector.detect(at, &mut self.board, &self.round_trip)
    }

    /// End recovery or the repair of a timeout, or go on after a partial acknowledgement.
    fn leave_episode<H: Host>(&mut self, now: Instant, acked: u32, out: &mut Outlet<'_, H>) {
        if acked == 0 {
            return;
        }
        let complete = self.board.first() >= self.recover;
        match self.state {
            CongestionState::Recovery | CongestionState::Loss if complete => {
                self.end_episode(now, out);
            }
            CongestionState::Recovery => {
                if !self.recovery.on_partial(acked) {
                    self.end_episode(now, out);
                } else if self.recovery.retransmits_on_partial() {
                    self.board.mark_lost(self.board.first());
                    self.retransmit_first(now, out);
                }
            }
            _ => {}
        }
    }

    #[cold]
    fn end_episode<H>(&mut self, now: Instant, out: &mut Outlet<'_, H>) {
        let after_timeout = self.state == CongestionState::Loss;
        if out.config.loss_detection == LossDetection::ForwardAck {
            // Losses above the recovery point are found again, from the three blocks that the next
            // duplicate reports; what else had arrived above it is sent again.
            self.board.forget_marks();
            self.detector.forget();
        }
        self.recovery
            .end(&self.board, &mut self.control, after_timeout);
        self.detector.on_recovery_end();
        self.duplicates = 0;
        self.set_state(now, CongestionState::Open, out);
    }

    /// Whether a loss has been found that no episode covers yet.
    fn should_recover(&mut self, config: &StackConfig) -> bool {
        if self.state != CongestionState::Open || self.board.flight() == 0 {
            return false;
        }
        let first = self.board.first();
        let enough = self.duplicates >= DUPLICATE_THRESHOLD;
        match config.loss_detection {
            LossDetection::ThreeDuplicates => {
                // RFC 6582 section 3.2 step 2: the acknowledgement covers more than was outstanding.
                let covers_more = first > self.recover || self.recover == 0;
                self.duplicates == DUPLICATE_THRESHOLD && covers_more
            }
            LossDetection::FullTcpSack => self.duplicates == DUPLICATE_THRESHOLD,
            LossDetection::Sack6675 => {
                self.board.pending() > 0 || (enough && !self.board.is_retransmitted(first))
            }
            LossDetection::ForwardAck | LossDetection::Rack => self.board.pending() > 0,
        }
    }

    #[cold]
    fn enter_recovery<H: Host>(&mut self, now: Instant, delivered: u32, out: &mut Outlet<'_, H>) {
        let by_duplicates = matches!(
            out.config.loss_detection,
            LossDetection::ThreeDuplicates | LossDetection::FullTcpSack | LossDetection::Sack6675
        );
        let base = if out.config.reduction_base == ReductionBase::Pipe {
            if by_duplicates {
                self.mark_first_lost();
            }
            self.reduction_base(out.config)
        } else {
            let base = self.reduction_base(out.config);
            if by_duplicates {
                self.mark_first_lost();
            }
            base
        };
        self.reduce(base, out);
        self.recover = self.board.next();
        self.recovery
            .begin(&self.board, &mut self.control, delivered);
        self.set_state(now, CongestionState::Recovery, out);
        // What detection knows only in recovery counts for this acknowledgement already.
        if out.config.loss_detection == LossDetection::FullTcpSack {
            self.detect(now);
        }
        let progress = Progress {
            delivered,
            safe: false,
        };
        self.recovery
            .on_ack(progress, &self.board, &mut self.control);
        self.probe = None;
        self.probe_at = Instant::NEVER;
        self.pacer.release();
        if out.config.recovery != RecoveryMode::RateHalving {
            self.retransmit_first(now, out);
        }
        self.restart_timeout(now, out.config);
    }

    fn mark_first_lost(&mut self) {
        let first = self.board.first();
        if !self.board.is_lost(first) {
            self.board.mark_lost(first);
        }
    }

    /// Send the lowest lost segment again, whatever the window says.
    #[cold]
    fn retransmit_first<H: Host>(&mut self, now: Instant, out: &mut Outlet<'_, H>) {
        if let Some(number) = self.board.next_lost() {
            self.retransmit(now, number, out);
        }
    }

    /// Lower the threshold for a detected loss.
    fn reduce<H>(&mut self, base: f64, out: &mut Outlet<'_, H>) {
        self.control.on_congestion(&Congestion {
            base,
            timeout: false,
        });
        out.statistics.loss_reductions += 1;
    }

    fn reduction_base(&self, config: &StackConfig) -> f64 {
        let window = self.control.window();
        let bytes = config.window_unit == WindowUnit::Bytes;
        let full = f64::from(config.maximum_segment_size);
        // Without SACK a timeout starts again from the first segment: what it sends is outstanding.
        let flight = match (config.loss_detection.uses_sack(), bytes) {
            (false, _) => f64::from(self.board.pipe()),
            (true, false) => f64::from(self.board.flight()),
            (true, true) => f64::from(self.board.flight_bytes()) / full,
        };
        match config.reduction_base {
            ReductionBase::Minimum => f64::from(window.whole()).min(flight),
            ReductionBase::Window => window.size.min(f64::from(config.receive_window)),
            ReductionBase::Flight => {
                let limited = if config.limited_transmit {
                    self.duplicates.min(DUPLICATE_THRESHOLD - 1)
                } else {
                    0
                };
                flight - f64::from(limited)
            }
            ReductionBase::Pipe if bytes => f64::from(self.board.pipe_bytes()) / full,
            ReductionBase::Pipe => f64::from(self.board.pipe()),
        }
    }

    fn gate_is_open(&self, pipe_before: u32, gate: GrowthGate) -> bool {
        let window = self.control.window();
        match gate {
            GrowthGate::None => true,
            GrowthGate::Strict => pipe_before >= window.whole(),
            GrowthGate::Near => pipe_before + 1 >= window.whole(),
            GrowthGate::Linux if self.control.in_slow_start() => {
                window.size < 2.0 * f64::from(self.usage.largest)
            }
            GrowthGate::Linux => self.usage.limited,
        }
    }

    /// The send loop has ended; `limited`: the window held data back.
    pub(super) fn note_usage(&mut self, limited: bool) {
        let flight = self.board.flight();
        let usage = &mut self.usage;
        let stale = self.board.first() >= usage.until;
        if stale || limited || (!usage.limited && flight > usage.largest) {
            *usage = Usage {
                limited,
                largest: flight,
                until: self.board.next(),
            };
        }
    }

    #[cold]
    fn on_mark<H>(&mut self, config: &StackConfig, out: &mut Outlet<'_, H>) {
        // The first segment above carries the confirmation; its acknowledgement echoes no old mark.
        let once = self.board.first() > self.reduced_until;
        if !once || self.state != CongestionState::Open || self.control.window().whole() <= 1 {
            return;
        }
        let base = self.reduction_base(config);
        self.control.on_congestion(&Congestion {
            base,
            timeout: false,
        });
        out.statistics.mark_reductions += 1;
        let window = self.control.window_mut();
        window.size = window.size.min(window.threshold);
        self.reduced_until = self.board.next();
        self.confirm_reduction = true;
    }

    #[cold]
    fn send_probe<H: Host>(&mut self, now: Instant, out: &mut Outlet<'_, H>) {
        self.probe_at = Instant::NEVER;
        if self.state != CongestionState::Open || self.board.flight() == 0 {
            return;
        }
        let repeated = !self.send_new(now, out);
        if repeated {
            let number = self.board.next() - 1;
            out.statistics.probe_retransmissions += 1;
            self.repeat(now, number, out);
        }
        self.probe = Some(Probe {
            end: self.board.next(),
            repeated,
        });
        self.restart_timeout(now, out.config);
    }

    #[cold]
    fn on_timeout<H: Host>(&mut self, now: Instant, out: &mut Outlet<'_, H>) {
        if self.board.flight() == 0 {
            self.timeout_at = Instant::NEVER;
            return;
        }
        out.statistics.timeouts += 1;
        let connecting =
            out.config.connect.handshake != Handshake::ThreeWay && self.board.first() == 0;
        if self.expiries >= out.config.timeout.retries && !connecting {
            self.given_up = true;
            self.timeout_at = Instant::NEVER;
            return;
        }
        // In ns-2 each expiry reduces from the window, which after the first one is a single segment.
        let repeat = self.state == CongestionState::Loss && self.expiries > 0;
        if !repeat || out.config.reduction_base == ReductionBase::Window {
            let base = self.reduction_base(out.config);
            self.control.on_congestion(&Congestion {
                base,
                timeout: true,
            });
        }
        self.control.window_mut().size = 1.0;
        self.expiries += 1;
        self.backoff += 1;
        self.recover = self.board.next();
        self.duplicates = 0;
        self.recovery = Recovery::new(out.config.recovery);
        if out.config.timeout.clears_scoreboard {
            self.board.forget_sacks();
        }
        self.board.mark_all_lost();
        self.detector.on_timeout(&self.board);
        self.probe = None;
        self.probe_at = Instant::NEVER;
        self.timed = None;
        self.pacer.release();
        self.set_state(now, CongestionState::Loss, out);
        self.repeated_at = now;
        if self.waiting {
            // Only the SYN that is data is outstanding.
            self.retransmit_first(now, out);
        } else {
            self.transmit(now, out);
        }
        self.restart_timeout(now, out.config);
    }

    fn set_state<H>(&mut self, now: Instant, state: CongestionState, out: &mut Outlet<'_, H>) {
        let spent = now.saturating_since(self.state_since);
        *match self.state {
            CongestionState::Open | CongestionState::Disorder => &mut out.statistics.time_open,
            CongestionState::Recovery => &mut out.statistics.time_in_recovery,
            CongestionState::Loss => &mut out.statistics.time_in_loss,
        } += spent;
        (self.state, self.state_since) = (state, now);
    }
}
