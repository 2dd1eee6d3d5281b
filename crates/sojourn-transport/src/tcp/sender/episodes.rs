//! Episodes of congestion: when one begins, by how much the window shrinks, and when it is over.
//!
//! Source: RFC 5681, RFC 6582, RFC 6675 section 5, RFC 3168 section 6.1.2 (marks; as in Linux, the round trip
//! of a reduction ends with the acknowledgement of its confirmation); ns-2.35 `tcp-linux.cc` for stacks that forget
//! the scoreboard after each episode.
//! Deviations: none known.

use super::Sender;
use crate::config::{LossDetection, ReductionBase, StackConfig, WindowUnit};
use crate::congestion::{Cause, Congestion};
use crate::tcp::Outlet;
use crate::tcp::loss_detection::DUPLICATE_THRESHOLD;
use crate::tcp::recovery::Progress;
use crate::{CongestionState, EndpointContext};
use sojourn_base::Instant;

impl Sender {
    /// End recovery or the repair of a timeout, or go on after a partial acknowledgement.
    pub(super) fn leave_episode<C: EndpointContext>(&mut self, now: Instant, acked: u32, out: &mut Outlet<'_, C>) {
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
    fn end_episode<C>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        let after_timeout = self.state == CongestionState::Loss;
        if out.config.habits.forgets_scoreboard_after_episode {
            // Losses above the recovery point are found again, from the three blocks that the next
            // duplicate reports; what else had arrived above it is sent again.
            self.board.forget_marks();
            self.detector.forget();
        }
        self.recovery.end(&self.board, &mut self.control, after_timeout);
        self.detector.on_recovery_end();
        self.duplicates = 0;
        self.set_state(now, CongestionState::Open, out);
    }

    /// Returns true if a loss has been found that no episode covers yet.
    pub(super) fn should_recover(&mut self, config: &StackConfig) -> bool {
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
            LossDetection::Sack6675 => self.board.pending() > 0 || (enough && !self.board.is_retransmitted(first)),
            _ if config.habits.recovers_while_repairs_are_out => self.board.lost() > 0,
            _ => self.board.pending() > 0,
        }
    }

    #[cold]
    pub(super) fn enter_recovery<C: EndpointContext>(&mut self, now: Instant, delivered: u32, out: &mut Outlet<'_, C>) {
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
        self.reduce(now, base, out);
        self.recover = self.board.next();
        self.recovery.begin(&self.board, &mut self.control, delivered);
        self.set_state(now, CongestionState::Recovery, out);
        // A loss that detection finds only in recovery counts for this acknowledgement already.
        if out.config.loss_detection == LossDetection::FullTcpSack {
            self.detect(now);
        }
        let progress = Progress { delivered, safe: false };
        self.recovery.on_ack(progress, &self.board, &mut self.control);
        self.probe = None;
        self.probe_at = Instant::NEVER;
        self.pacer.release();
        if self.recovery.retransmits_at_once() {
            self.retransmit_first(now, out);
        }
        self.restart_timeout(now);
    }

    fn mark_first_lost(&mut self) {
        let first = self.board.first();
        if !self.board.is_lost(first) {
            self.board.mark_lost(first);
        }
    }

    /// Send the lowest lost segment again, whatever the window says.
    #[cold]
    pub(super) fn retransmit_first<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        if let Some(number) = self.board.next_lost() {
            self.retransmit(now, number, out);
        }
    }

    /// Lower the threshold for a detected loss.
    pub(super) fn reduce<C>(&mut self, now: Instant, base: f64, out: &mut Outlet<'_, C>) {
        self.control.on_congestion(&Congestion { now, cause: Cause::Loss, base, next: self.board.next() });
        out.statistics.loss_reductions += 1;
        self.confirm(out.config);
    }

    /// The next new segment confirms a reduction, whatever its reason (RFC 3168 section 6.1.2).
    const fn confirm(&mut self, config: &StackConfig) {
        self.confirm_reduction = !config.ecn.counts_marks();
    }

    pub(super) fn reduction_base(&self, config: &StackConfig) -> f64 {
        let window = self.control.window();
        let bytes = config.window_unit == WindowUnit::Bytes;
        let full = f64::from(config.maximum_segment_size);
        // Without SACK a timeout starts again from the first segment: only segments sent since then are outstanding.
        let flight = match (config.loss_detection.uses_sack(), bytes) {
            (false, _) => f64::from(self.board.pipe()),
            (true, false) => f64::from(self.board.flight()),
            (true, true) => f64::from(self.board.flight_bytes()) / full,
        };
        match config.reduction_base {
            ReductionBase::Minimum => f64::from(window.whole()).min(flight),
            ReductionBase::Window => window.size.min(f64::from(config.receive_window)),
            ReductionBase::Flight => {
                let limited = if config.limited_transmit { self.duplicates.min(DUPLICATE_THRESHOLD - 1) } else { 0 };
                flight - f64::from(limited)
            }
            ReductionBase::Pipe if bytes => f64::from(self.board.pipe_bytes()) / full,
            ReductionBase::Pipe => f64::from(self.board.pipe()),
        }
    }

    #[cold]
    pub(super) fn on_mark<C>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        // A mark on a segment sent before the reduction says nothing new; the first segment after it carries the
        // confirmation.
        let once = self.board.first() > self.reduced_until;
        if !once || self.state != CongestionState::Open {
            return;
        }
        if self.control.window().whole() <= 1 {
            // Nothing is left to reduce; without a confirmation the echo would last, and no window grows during it.
            self.confirm(out.config);
            return;
        }
        if !self.control.reacts_to_mark(now) {
            return;
        }
        let base = self.reduction_base(out.config);
        self.control.on_congestion(&Congestion { now, cause: Cause::Mark, base, next: self.board.next() });
        out.statistics.mark_reductions += 1;
        let window = self.control.window_mut();
        window.size = window.size.min(window.threshold);
        self.reduced_until = self.board.next();
        self.confirm(out.config);
    }

    pub(super) fn set_state<C>(&mut self, now: Instant, state: CongestionState, out: &mut Outlet<'_, C>) {
        let spent = now.saturating_since(self.state_since);
        *match self.state {
            CongestionState::Open | CongestionState::Disorder => &mut out.statistics.time_open,
            CongestionState::Recovery => &mut out.statistics.time_in_recovery,
            CongestionState::Loss => &mut out.statistics.time_in_loss,
        } += spent;
        (self.state, self.state_since) = (state, now);
    }
}
