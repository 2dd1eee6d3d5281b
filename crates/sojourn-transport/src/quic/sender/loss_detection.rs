//! Which outstanding packets are lost: by number, or by time; and what that means.
//!
//! Source: RFC 9002 sections 6.1 and 7.6, appendices A.10 (`DetectAndRemoveLostPackets`) and B.8.
//! Deviations: none known.

use super::{Fate, Sender};
use crate::config::StackConfig;
use crate::congestion::Cause;
use crate::quic::Outlet;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// `kPacketThreshold` (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u32 = 3;
/// `kTimeThreshold` is 9/8 (RFC 9002 section 6.1.2): one, and this part of it.
const TIME_THRESHOLD_PART: u64 = 8;
/// `kPersistentCongestionThreshold` and `kMinimumWindow` (RFC 9002 appendix B.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;
const MINIMUM_WINDOW: f64 = 2.0;

impl Sender {
    /// Numbers and times of the outstanding packets that are lost by now, in the order of sending; sets when to look
    /// again.
    fn take_lost(&mut self, now: Instant, config: &StackConfig) -> Vec<(u32, Instant)> {
        self.loss_at = Instant::NEVER;
        let mut lost = Vec::new();
        let Some(largest) = self.largest_acknowledged else {
            return lost;
        };
        let larger = self.round_trip.larger();
        let patience = (larger + larger / TIME_THRESHOLD_PART).max(config.timeout.granularity);
        for (number, packet) in (self.first..largest).zip(&self.packets) {
            if packet.fate != Fate::Outstanding {
                continue;
            }
            let lost_at = packet.sent_at.saturating_add(patience);
            if largest - number >= PACKET_THRESHOLD || lost_at <= now {
                lost.push((number, packet.sent_at));
            } else {
                self.loss_at = self.loss_at.min(lost_at);
            }
        }
        lost
    }

    /// Find what is lost, and answer it (RFC 9002 appendices A.10 and B.8).
    pub(in crate::quic) fn detect<C>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        let lost = self.take_lost(now, out.config);
        let Some(&(_, newest)) = lost.last() else {
            return;
        };
        for &(number, _) in &lost {
            let packet = &mut self.packets[(number - self.first) as usize];
            packet.fate = Fate::Lost;
            self.outstanding -= 1;
            self.in_flight -= u64::from(packet.bytes);
            let content = packet.content;
            if !self.is_acknowledged(&content) && !self.lost.contains(&content) {
                self.lost.push_back(content);
            }
        }
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_lost(u32::try_from(lost.len()).unwrap_or(u32::MAX));
        }
        self.forget_settled();
        let period = self.round_trip.timeout(out.config.timeout.granularity);
        let persistent = period.is_some_and(|period| {
            let period = period + out.config.acknowledge.delay;
            let first_sample_at = self.round_trip.first_sample_at();
            longest_run(&lost, first_sample_at) > period.saturating_mul(PERSISTENT_CONGESTION_THRESHOLD)
        });
        if persistent {
            self.begin_recovery(now, Cause::Timeout, out);
            self.control.window_mut().size = MINIMUM_WINDOW;
            self.recovery_since = None;
            self.set_recovering(now, false, out);
            self.round_trip.forget_minimum();
            out.statistics.timeouts += 1;
        } else if self.recovery_since.is_none_or(|since| newest > since) {
            self.begin_recovery(now, Cause::Loss, out);
            out.statistics.loss_reductions += 1;
            self.allowance = self.allowance.max(1);
        }
    }
}

/// The longest time between two lost packets with none but lost ones between them, both sent after the first
/// round-trip sample (RFC 9002 section 7.6.2).
fn longest_run(lost: &[(u32, Instant)], first_sample_at: Instant) -> Span {
    let (mut longest, mut begin) = (Span::ZERO, None::<(u32, Instant)>);
    let mut before = None;
    for &(number, sent_at) in lost.iter().filter(|(_, sent_at)| *sent_at > first_sample_at) {
        if before != number.checked_sub(1) || begin.is_none() {
            begin = Some((number, sent_at));
        }
        before = Some(number);
        longest = longest.max(begin.map_or(Span::ZERO, |(_, at)| sent_at.saturating_since(at)));
    }
    longest
}
