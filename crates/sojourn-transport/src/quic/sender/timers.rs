//! The timer of loss detection, and what a probe carries.
//!
//! Source: RFC 9002 section 6.2, appendices A.8 and A.9.
//! Deviations: none known.

use super::{Content, Fate, Sender};
use crate::EndpointContext;
use crate::config::StackConfig;
use crate::quic::Outlet;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// Probes of a timeout (RFC 9002 section 6.2.4: one or two).
const PROBES: u32 = 2;

impl Sender {
    /// Returns the probe timeout with its back-off (RFC 9002 section 6.2.1); during the handshake, acknowledgements are
    /// not delayed.
    pub(in crate::quic) fn probe_timeout(&self, config: &StackConfig) -> Span {
        let Some(period) = self.round_trip.timeout(config.timeout.granularity) else {
            return self.backed_off(config.connect.timeout, config);
        };
        let delay = if self.waiting { Span::ZERO } else { config.acknowledge.delay };
        self.backed_off(period + delay, config)
    }

    fn backed_off(&self, period: Span, config: &StackConfig) -> Span {
        period.saturating_mul(1 << self.expiries.min(40)).min(config.timeout.maximum)
    }

    /// Returns the expiry of the probe timeout (RFC 9002 appendix A.8).
    pub(in crate::quic) fn probe_at(&self, config: &StackConfig) -> Instant {
        if self.outstanding == 0 {
            Instant::NEVER
        } else {
            self.last_sent_at.saturating_add(self.probe_timeout(config))
        }
    }

    /// The one timer of loss detection (RFC 9002 appendix A.8).
    pub(in crate::quic) fn deadline(&self, config: &StackConfig) -> Instant {
        if self.given_up {
            Instant::NEVER
        } else if self.loss_at == Instant::NEVER {
            self.probe_at(config)
        } else {
            self.loss_at
        }
    }

    /// The timer of loss detection is due (RFC 9002 appendix A.9).
    pub(in crate::quic) fn on_timer<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        if now < self.deadline(out.config) {
            return;
        }
        if self.loss_at != Instant::NEVER {
            self.detect(now, out);
            self.transmit(now, out);
            return;
        }
        if self.expiries >= out.config.timeout.retries && !self.waiting {
            self.given_up = true;
            return;
        }
        self.expiries += 1;
        for probe in 0..PROBES {
            let Some((content, again)) = self.probe_content(now, probe, out.config) else {
                break;
            };
            if again {
                out.statistics.probe_retransmissions += u64::from(!content.handshake);
            }
            self.send(now, content, out);
        }
    }

    /// Returns the content of a probe: new data if there are any, else the data that have been outstanding longest, and
    /// if all of them have arrived, a PING frame; the second value is true if it goes again.
    fn probe_content(&mut self, now: Instant, probe: u32, config: &StackConfig) -> Option<(Content, bool)> {
        let within = self.outstanding < config.receive_window;
        if within && let Some(next) = self.take_next(now, config) {
            return Some(next);
        }
        let outstanding = self.packets.iter().filter(|packet| packet.fate == Fate::Outstanding);
        let waits = outstanding.map(|packet| packet.content).filter(|it| !self.is_acknowledged(it));
        let mut seen: Vec<Content> = Vec::new();
        for content in waits {
            if !seen.contains(&content) {
                seen.push(content);
            }
            if seen.len() > probe as usize {
                break;
            }
        }
        let ping = (probe == 0 && self.outstanding > 0).then(|| (Content::none(now), false));
        seen.get(probe as usize).map(|&content| (content, true)).or(ping)
    }
}
