//! The sender's timers: retransmission timeout, tail-loss probe, and the deadline of loss detection.
//!
//! Source: RFC 6298 section 5, RFC 8985 section 7 (tail-loss probe).
//! Deviations: none known.

use super::{Probe, Sender};
use crate::config::{Handshake, StackConfig};
use crate::congestion::{Cause, Congestion};
use crate::tcp::Outlet;
use crate::tcp::recovery::{Progress, Recovery};
use crate::tcp::rto::backed_off;
use crate::{CongestionState, EndpointContext};
use sojourn_base::{Instant, Span};

/// Probe timeout without a round-trip sample (RFC 8985 section 7.2).
const PROBE_TIMEOUT_WITHOUT_SAMPLE: Span = Span::from_s(1);
/// Allowance for a delayed acknowledgement of a single segment (RFC 8985 section 7.2, `WCDelAckT`;
/// Linux uses its minimum timeout).
const WORST_DELAYED_ACK: Span = Span::from_ms(200);

impl Sender {
    /// Whichever timer of this sender is due.
    pub(crate) fn on_timer<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        if now >= self.detector.deadline() {
            let newly_lost = self.detect(now);
            if self.should_recover(out.config) {
                self.enter_recovery(now, 0, out);
            } else if self.state == CongestionState::Recovery && newly_lost > 0 {
                // As in Linux, the timer permits one segment: no acknowledgement may come any more.
                let progress = Progress { delivered: 0, safe: true };
                self.recovery.on_ack(progress, &self.board, &mut self.control);
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
        self.timeout_at.min(self.probe_at).min(self.detector.deadline())
    }

    /// The retransmission timeout.
    pub(crate) fn timeout(&self) -> Span {
        backed_off(self.base_timeout, self.backoff, self.maximum_timeout)
    }

    /// Returns the timeout without back-off.
    pub(crate) fn timeout_without_backoff(&self) -> Span {
        self.base_timeout.min(self.maximum_timeout)
    }

    pub(in crate::tcp) fn restart_timeout(&mut self, now: Instant) {
        self.timeout_at = now.saturating_add(self.timeout());
    }

    /// Arm the tail-loss probe after new data or progress, if it applies (RFC 8985 section 7.2).
    pub(in crate::tcp) fn arm_probe(&mut self, now: Instant, config: &StackConfig, reason: bool) {
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
            let mut wait =
                self.round_trip.smoothed().map_or(PROBE_TIMEOUT_WITHOUT_SAMPLE, |smoothed| smoothed.saturating_mul(2));
            if self.board.flight() == 1 {
                wait += WORST_DELAYED_ACK;
            }
            self.probe_at = now.saturating_add(wait).min(self.timeout_at);
        }
    }

    #[cold]
    fn send_probe<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
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
        self.probe = Some(Probe { end: self.board.next(), repeated });
        self.restart_timeout(now);
    }

    #[cold]
    fn on_timeout<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        if self.board.flight() == 0 {
            self.timeout_at = Instant::NEVER;
            return;
        }
        out.statistics.timeouts += 1;
        let connecting = out.config.connect.handshake != Handshake::ThreeWay && self.board.first() == 0;
        if self.expiries >= out.config.timeout.retries && !connecting {
            self.given_up = true;
            self.timeout_at = Instant::NEVER;
            return;
        }
        let repeat = self.state == CongestionState::Loss && self.expiries > 0;
        if !repeat || out.config.habits.every_expiry_reduces {
            let base = self.reduction_base(out.config);
            self.control.on_congestion(&Congestion { now, cause: Cause::Timeout, base, next: self.board.next() });
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
        self.restart_timeout(now);
    }
}
