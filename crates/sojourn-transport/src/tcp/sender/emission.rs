//! Sends one segment, for the first time or again, and records it.
//!
//! Source: RFC 3168 section 6.1 (ECN fields); Linux for pacing.
//! Deviations: data carry cumulative acknowledgements but no SACK blocks; arrivals out of order are
//! reported at once in packets of their own.

use super::Sender;
use crate::common::pacer::pacing_interval;
use crate::config::EcnMode;
use crate::tcp::Outlet;
use crate::tcp::scoreboard::Sent;
use crate::{CongestionState, EndpointContext, Flags, SackBlocks, Segment, SendTimes};
use sojourn_base::{Ecn, Instant};

impl Sender {
    /// The SYN as a data segment without payload (ns-2 one-way agents).
    pub(crate) fn send_syn_as_data<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        let number = self.board.push(Sent {
            sent_at: now,
            first_sent_at: now,
            written_at: now,
            offset: 0,
            length: 0,
            transmissions: 1,
            flags: Flags::SYN,
        });
        self.emit(now, number, out);
        self.restart_timeout(now);
    }

    /// Send `number`, which is lost, again.
    pub(super) fn retransmit<C: EndpointContext>(&mut self, now: Instant, number: u32, out: &mut Outlet<'_, C>) {
        let is_syn = self.board.segment(number).flags.has(Flags::SYN);
        *match self.state {
            _ if is_syn => &mut out.statistics.syn_retransmissions,
            CongestionState::Loss => &mut out.statistics.timeout_retransmissions,
            _ => &mut out.statistics.fast_retransmissions,
        } += 1;
        self.repeat(now, number, out);
    }

    /// Send `number` again, for whatever reason.
    pub(super) fn repeat<C: EndpointContext>(&mut self, now: Instant, number: u32, out: &mut Outlet<'_, C>) {
        self.board.retransmit(number, now);
        self.detector.on_retransmitted(number, &self.board, now);
        // Karn: a timed segment is no longer unambiguous.
        self.timed = None;
        if number == self.board.first() {
            self.restart_timeout(now);
        }
        self.recovery.retransmitted_below = self.recovery.retransmitted_below.max(number + 1);
        self.emit(now, number, out);
    }

    /// Hand the latest copy of segment `number` to the network.
    pub(super) fn emit<C: EndpointContext>(&mut self, now: Instant, number: u32, out: &mut Outlet<'_, C>) {
        let config = out.config;
        let sent = self.board.segment(number);
        let payload = u32::from(sent.length);
        let first = sent.transmissions == 1;
        let times = SendTimes { written_at: sent.written_at, first_sent_at: sent.first_sent_at };
        let syn = sent.flags.has(Flags::SYN);
        let mut segment = Segment {
            sequence: number,
            acknowledgement: 0,
            payload,
            length: if syn { config.wire.syn } else { config.wire.data_header + payload },
            sent_at: now,
            echo: Instant::NEVER,
            one_way_delay_ps: 0,
            flags: sent.flags,
            ecn: Ecn::NotEct,
            marks: 0,
            sack: SackBlocks::NONE,
        };
        if config.ecn != EcnMode::Off {
            segment.ecn = config.ecn.codepoint_of_control();
            if first && payload > 0 {
                segment.ecn = config.ecn.codepoint();
                if core::mem::take(&mut self.confirm_reduction) {
                    segment.flags = segment.flags.with(Flags::CWR);
                }
            }
        }
        out.receiver.stamp(&mut segment);
        out.statistics.segments_sent += 1;
        out.statistics.payload_bytes_sent += u64::from(payload);
        out.statistics.wire_bytes_sent += u64::from(segment.length);
        self.last_sent_at = now;
        if let Some(rate) = &mut self.delivery_rate {
            let board = &self.board;
            rate.on_sent(now, number, (board.first(), board.flight(), board.pipe()));
        }
        if let Some(pacing) = self.control.pacing(config) {
            let place = (self.round_trip.smoothed(), self.board.pipe());
            let interval = pacing_interval(&self.control, place, segment.length, pacing, config);
            self.pacer.on_sent(now, interval, self.control.burst(pacing));
        }
        if self.state == CongestionState::Recovery {
            self.recovery.on_sent(self.board.pipe());
        }
        out.context.emit(&segment, times);
    }
}
