//! Effects of an acknowledgement.
//!
//! Source: RFC 5681, RFC 6298 section 5, RFC 6675 section 5. The order of steps is the same for all stacks;
//! what differs is asked of loss detection, recovery and the congestion controller.
//! Deviations: spurious timeouts are counted, not undone. A tail-loss probe that repaired a loss reduces by the
//! window, because the data outstanding at the tail say nothing about it.

use super::Sender;
use crate::config::{EcnMode, GrowthGate, RoundTripSampling, StackConfig};
use crate::congestion::{Ack, RateSample};
use crate::tcp::Outlet;
use crate::tcp::recovery::Progress;
use crate::tcp::scoreboard::Covered;
use crate::{CongestionState, EndpointContext, Event, Flags, Segment};
use sojourn_base::{Instant, Span};

impl Sender {
    /// A segment that acknowledges has arrived, and something is outstanding.
    #[inline]
    pub(crate) fn on_ack<C: EndpointContext>(&mut self, now: Instant, segment: &Segment, out: &mut Outlet<'_, C>) {
        if self.is_plain(segment, out.config) {
            self.on_plain_ack(now, segment, out);
        } else {
            self.on_any_ack(now, segment, out);
        }
    }

    /// Returns true if an acknowledgement only says that everything below has arrived in the order of sending, and only
    /// timers and the window depend on it.
    #[inline]
    fn is_plain(&self, segment: &Segment, config: &StackConfig) -> bool {
        let (first, end) = (self.board.first(), segment.acknowledgement);
        end > first
            && end <= self.board.next()
            && self.takes_shortcuts
            && segment.sack.is_empty()
            && !segment.flags.has(Flags::ECE)
            && !segment.flags.has(Flags::DSACK)
            && !config.ecn.counts_marks()
            && self.state == CongestionState::Open
            && self.expiries == 0
            && self.probe.is_none()
            && self.delivery_rate.is_none()
            && self.board.is_plain()
            && self.detector.is_quiet(first, self.board.segment(first).sent_at)
    }

    /// [`Self::on_any_ack`], for one that is plain.
    fn on_plain_ack<C: EndpointContext>(&mut self, now: Instant, segment: &Segment, out: &mut Outlet<'_, C>) {
        let config = out.config;
        let (first, newest) = (self.board.first(), segment.acknowledgement - 1);
        let flight_before = self.board.flight();
        let sent_at = self.board.segment(newest).sent_at;
        self.detector.on_delivered_in_order(now, first, (newest, sent_at));
        if config.sampling == RoundTripSampling::NewestAcknowledged {
            self.timed = Some((newest, sent_at));
        }
        let covered = self.board.acknowledge(newest + 1);
        let sample = self.sample_of(now, segment, covered.segments, config);
        if let Some(sample) = sample {
            out.statistics.note_round_trip(sample);
            self.backoff = 0;
        }
        if self.board.flight() == 0 {
            self.timeout_at = Instant::NEVER;
        } else {
            self.restart_timeout(now);
        }
        self.duplicates = 0;
        let mut news = Ack {
            now,
            acked: covered.segments,
            acked_bytes: covered.bytes,
            marked: false,
            marks: 0,
            rate: None,
            first: newest + 1,
            next: self.board.next(),
            round_trip: sample,
            smoothed: self.round_trip.smoothed().unwrap_or(self.base_timeout),
            one_way_delay: Some(Span::from_ps(segment.one_way_delay_ps)),
            flight_before,
            may_change: true,
            may_grow: false,
            open: true,
            after_timeout: false,
        };
        self.tell_controller(&mut news, flight_before, config);
        self.send_what_may_be_sent(now, out);
        self.arm_probe(now, config, true);
        self.report_acknowledged(covered.bytes, out);
    }

    fn report_acknowledged<C: EndpointContext>(&mut self, bytes: u32, out: &mut Outlet<'_, C>) {
        if bytes > 0 {
            self.acknowledged += u64::from(bytes);
            out.context.notify(Event::Acknowledged(self.acknowledged));
        }
    }

    /// Any acknowledgement, whatever it says.
    #[inline(never)] // most are plain
    fn on_any_ack<C: EndpointContext>(&mut self, now: Instant, segment: &Segment, out: &mut Outlet<'_, C>) {
        let before = self.board.first();
        let end = segment.acknowledgement;
        let habits = &out.config.habits;
        let stale = end < before && habits.ignores_old_acknowledgements;
        if end > self.board.next() || stale {
            return;
        }
        let (pipe_before, flight_before) = (self.board.pipe(), self.board.flight());
        let (newly_sacked, sacked_sent_at) = self.take_sack(now, segment);
        let covered = if end > before { self.take_cumulative(now, segment, out.config) } else { Covered::default() };
        let acked = covered.segments;
        let delivered = newly_sacked + acked - covered.sacked_before;
        let (marked, marks) = self.marks_of(segment, delivered, out.config);
        if end < before && newly_sacked == 0 && !marked {
            return;
        }
        self.end_deliveries(segment);
        let sample = self.sample_of(now, segment, delivered, out.config);
        if let Some(sample) = sample {
            out.statistics.note_round_trip(sample);
        }
        if acked > 0 {
            self.on_progress(now, segment, sample.is_some(), out);
        } else if habits.duplicates_restart_timeout {
            self.backoff = 0;
            self.restart_timeout(now);
        }
        self.count_duplicate(before, segment, newly_sacked, out.config);

        let was_recovering = self.state() == CongestionState::Recovery;
        let newly_lost = self.detect(now);
        if acked == 0
            && habits.old_data_restart_timeout
            && sacked_sent_at < self.board.segment(before).sent_at
            && self.detector.deadline() == Instant::NEVER
        {
            // Linux, `tcp_clean_rtx_queue`; `tcp_identify_packet_loss`: unless RACK has set its timer.
            self.restart_timeout(now);
        }
        // Segments SACKed earlier count once, as in Linux: the acknowledgement that repairs a timeout may cover
        // hundreds of such segments.
        let grows_by = if habits.grows_by_all_covered { acked } else { delivered };
        let mut news = Ack {
            now,
            acked: grows_by,
            acked_bytes: covered.bytes,
            marked,
            marks,
            rate: None,
            first: self.board.first(),
            next: self.board.next(),
            round_trip: sample,
            smoothed: self.round_trip.smoothed().unwrap_or(self.base_timeout),
            one_way_delay: (delivered > 0).then(|| Span::from_ps(segment.one_way_delay_ps)),
            flight_before,
            // Those that count before the state changes.
            may_change: acked > 0 && !was_recovering,
            may_grow: false,
            open: self.state == CongestionState::Open,
            after_timeout: false,
        };
        if self.delivery_rate.is_some() {
            news.rate = self.rate_sample(now, pipe_before);
        }
        if habits.grows_before_state_changes {
            self.tell_controller(&mut news, pipe_before, out.config);
        }
        let before_leaving = self.state;
        self.leave_episode(now, acked, out);
        let left = self.state != before_leaving;
        let entered = if habits.recovers_during_timeout_repair {
            !left && newly_lost > 0 && self.state != CongestionState::Recovery
        } else {
            self.should_recover(out.config)
        };
        if entered {
            self.enter_recovery(now, delivered, out);
        } else if self.state == CongestionState::Recovery {
            let progress = Progress { delivered, safe: acked > 0 && newly_lost == 0 };
            if delivered > 0 {
                self.recovery.on_ack(progress, &self.board, &mut self.control);
            }
        }
        if !habits.grows_before_state_changes {
            let reopened = left && habits.grows_when_recovery_ends;
            let quiet = !marked || self.control.grows_with_marks();
            news.may_change = acked > 0 && (!was_recovering || reopened) && !entered && quiet;
            news.open = self.state == CongestionState::Open && !was_recovering;
            self.tell_controller(&mut news, pipe_before, out.config);
        }
        if marked {
            out.statistics.echoes_received += 1;
            self.on_mark(now, out);
        }
        debug_assert!(self.board.is_consistent(), "marks and counters disagree");
        let sent_new = self.send_what_may_be_sent(now, out);
        self.arm_probe(now, out.config, acked > 0 || sent_new);
        self.report_acknowledged(covered.bytes, out);
    }

    /// Returns true if an acknowledgement echoes a mark, and its number of marked segments.
    #[inline]
    fn marks_of(&mut self, segment: &Segment, delivered: u32, config: &StackConfig) -> (bool, u32) {
        match config.ecn {
            EcnMode::Off => (false, 0),
            EcnMode::Accurate | EcnMode::AccurateL4s => {
                let exact = config.accecn_option;
                let marks = self.marks.take_report(segment.marks, delivered, exact);
                (marks > 0, marks)
            }
            _ => (segment.flags.has(Flags::ECE), 0),
        }
    }

    /// All that an acknowledgement has delivered is known.
    #[inline]
    fn end_deliveries(&mut self, segment: &Segment) {
        if self.detector.follows_deliveries() {
            let sacked = self.board.highest_sacked().map_or(0, |n| n + 1);
            self.detector.end_of_deliveries(self.board.first().max(sacked));
            if segment.reports_duplicate() {
                self.detector.on_duplicate_report(&self.board);
            }
        }
    }

    fn rate_sample(&mut self, now: Instant, pipe_before: u32) -> Option<RateSample> {
        let (pipe, limited) = (self.board.pipe(), self.usage.limited);
        let until_departure = self.pacer.next_at().saturating_since(now);
        self.delivery_rate.as_mut()?.sample((pipe_before, pipe), until_departure, limited)
    }

    fn tell_controller(&mut self, news: &mut Ack, pipe_before: u32, config: &StackConfig) {
        news.may_grow = news.may_change && self.gate_is_open(pipe_before, config.growth_gate);
        news.next = self.board.next();
        news.after_timeout = self.state == CongestionState::Loss;
        self.control.on_ack(news);
    }

    /// Returns the number of newly SACKed segments, and when the first of them left that was sent once
    /// ([`Instant::NEVER`] if there is none).
    fn take_sack(&mut self, now: Instant, segment: &Segment) -> (u32, Instant) {
        let mut sent_at = Instant::NEVER;
        if segment.sack.is_empty() {
            return (0, sent_at);
        }
        let Self { board, detector, round_trip, delivery_rate, .. } = self;
        let follows = detector.follows_deliveries();
        let ranks = detector.follows_retransmissions();
        let mut count = 0;
        for &(first, end) in segment.sack.as_slice() {
            count += board.sack(first, end, |number, sent| {
                if sent.transmissions == 1 && sent.sent_at < sent_at {
                    sent_at = sent.sent_at;
                }
                if let Some(rate) = delivery_rate {
                    rate.on_delivered(now, number, sent.delivered());
                }
                if follows {
                    detector.on_delivered(now, number, sent, round_trip);
                } else if ranks {
                    detector.on_answered(number, sent, true);
                }
            });
        }
        board.remember_blocks(segment.sack.places());
        (count, sent_at)
    }

    fn take_cumulative(&mut self, now: Instant, segment: &Segment, config: &StackConfig) -> Covered {
        let end = segment.acknowledgement;
        let Self { board, detector, round_trip, delivery_rate, .. } = self;
        if let Some(rate) = delivery_rate {
            board.for_each_undelivered(end, |number, sent| {
                rate.on_delivered(now, number, sent.delivered());
            });
        }
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

    fn sample_of(&mut self, now: Instant, segment: &Segment, delivered: u32, config: &StackConfig) -> Option<Span> {
        let sample = if config.sampling == RoundTripSampling::Timestamps {
            let counts = delivered > 0 || config.habits.samples_duplicates;
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

    /// New data are acknowledged: timers, back-off, probe.
    fn on_progress<C>(&mut self, now: Instant, segment: &Segment, sampled: bool, out: &mut Outlet<'_, C>) {
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
            self.restart_timeout(now);
        }
        if let Some(probe) = self.probe
            && self.board.first() >= probe.end
        {
            self.probe = None;
            let repaired = probe.repeated && !segment.reports_duplicate();
            if repaired && self.state == CongestionState::Open {
                let base = f64::from(self.control.window().whole());
                self.reduce(now, base, out);
                let threshold = self.control.window().threshold;
                self.control.window_mut().size = threshold;
            }
        }
    }

    fn count_duplicate(&mut self, before: u32, segment: &Segment, newly_sacked: u32, config: &StackConfig) {
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

    pub(super) fn detect(&mut self, now: Instant) -> u32 {
        let newly_lost = self.detector.detect((now, self.state), &mut self.board, &self.round_trip);
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_lost(newly_lost);
        }
        newly_lost
    }

    fn gate_is_open(&self, pipe_before: u32, gate: GrowthGate) -> bool {
        let window = self.control.window();
        match gate {
            GrowthGate::None => true,
            GrowthGate::Strict => pipe_before >= window.whole(),
            GrowthGate::Near => pipe_before + 1 >= window.whole(),
            GrowthGate::Linux if self.control.in_slow_start() => window.size < 2.0 * f64::from(self.usage.largest),
            GrowthGate::Linux => self.usage.limited,
        }
    }
}
