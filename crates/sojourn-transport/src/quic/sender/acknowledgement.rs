//! Effects of an acknowledgement.
//!
//! Source: RFC 9002 sections 5.1, 7.3 and 7.8, appendices A.7 and B.5.
//! Deviations: none known.

use super::{Content, Fate, Sender};
use crate::common::delivery_rate::Delivered;
use crate::config::{EcnMode, GrowthGate};
use crate::congestion::{Ack, RateSample};
use crate::quic::Outlet;
use crate::quic::packet::AckFrame;
use crate::{EndpointContext, Event};
use sojourn_base::Instant;

/// Newly acknowledged packets.
#[derive(Clone, Copy, Debug, Default)]
struct Newly {
    packets: u32,
    bytes: u32,
    /// Those that may open the window: sent after the recovery period began.
    counted: u32,
}

impl Sender {
    /// An ACK frame has arrived (RFC 9002 appendix A.7).
    pub(in crate::quic) fn on_ack<C: EndpointContext>(
        &mut self,
        now: Instant,
        frame: &AckFrame,
        out: &mut Outlet<'_, C>,
    ) {
        let Some(end) = frame.ranges.as_slice().iter().map(|range| range.1).max() else {
            return;
        };
        if end == 0 || end > self.next() {
            return;
        }
        let flight_before = self.outstanding;
        let (newly, largest) = self.take_ranges(now, frame, end - 1);
        if newly.packets == 0 {
            return;
        }
        if newly.counted > 0 {
            self.set_recovering(now, false, out);
        }
        let sample = largest.map(|sent_at| {
            let sample = now.saturating_since(sent_at);
            self.round_trip.sample(now, sample, frame.delay.min(out.config.acknowledge.delay));
            out.statistics.note_round_trip(sample);
            sample
        });
        let marks = if out.config.ecn == EcnMode::Off {
            0
        } else {
            self.marks.take_report(frame.ce_count, newly.packets, true)
        };
        if marks > 0 {
            out.statistics.echoes_received += 1;
            self.on_marks(now, largest.unwrap_or(now), out);
        }
        self.detect(now, out);
        let quiet = marks == 0 || self.control.grows_with_marks();
        let counted = if self.recovery_since == Some(now) { 0 } else { newly.counted };
        let may_change = counted > 0 && quiet;
        let news = Ack {
            now,
            acked: counted,
            acked_bytes: newly.bytes,
            marked: marks > 0,
            marks,
            first: self.first,
            next: self.next(),
            rate: self.rate_sample(now, flight_before),
            round_trip: sample,
            smoothed: self.round_trip.smoothed().unwrap_or(out.config.connect.timeout),
            one_way_delay: Some(frame.one_way_delay),
            flight_before,
            may_change,
            may_grow: may_change && self.gate_is_open(out.config.growth_gate),
            open: !self.recovering,
            after_timeout: false,
        };
        self.control.on_ack(&news);
        self.expiries = 0;
        self.tell_acknowledged(out);
        self.transmit(now, out);
    }

    /// Takes what the ranges acknowledge; returns when the largest was sent if that is newly acknowledged.
    fn take_ranges(&mut self, now: Instant, frame: &AckFrame, largest: u32) -> (Newly, Option<Instant>) {
        let mut newly = Newly::default();
        let mut newest = None;
        self.largest_acknowledged = self.largest_acknowledged.max(Some(largest));
        for &(first, end) in frame.ranges.as_slice() {
            for number in first.max(self.first)..end {
                let packet = &mut self.packets[(number - self.first) as usize];
                if packet.fate != Fate::Outstanding {
                    continue;
                }
                packet.fate = Fate::Acknowledged;
                let (content, sent_at, bytes) = (packet.content, packet.sent_at, packet.bytes);
                self.take_content(&content);
                self.outstanding -= 1;
                self.in_flight -= u64::from(bytes);
                newly.packets += 1;
                newly.bytes += u32::from(content.length);
                newly.counted += u32::from(self.recovery_since.is_none_or(|since| sent_at > since));
                if number == largest {
                    newest = Some(sent_at);
                }
                if let Some(rate) = &mut self.delivery_rate {
                    rate.on_delivered(now, number, Delivered { sent_at, length: content.length, once: true });
                }
            }
        }
        self.forget_settled();
        (newly, newest)
    }

    fn take_content(&mut self, content: &Content) {
        self.acknowledged.insert(content.offset, content.end());
        self.handshake_done |= content.handshake;
        self.end_acknowledged |= content.last;
    }

    pub(super) fn is_acknowledged(&self, content: &Content) -> bool {
        self.acknowledged.contains(content.offset, content.end())
            && (!content.handshake || self.handshake_done)
            && (!content.last || self.end_acknowledged)
    }

    pub(super) fn forget_settled(&mut self) {
        while self.packets.front().is_some_and(|packet| packet.fate != Fate::Outstanding) {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Returns true if the window is used as far as the stack requires before it grows (RFC 9002 section 7.8).
    fn gate_is_open(&self, gate: GrowthGate) -> bool {
        match gate {
            GrowthGate::None => true,
            GrowthGate::Linux if self.control.in_slow_start() => {
                self.control.window().size < 2.0 * f64::from(self.largest.0)
            }
            GrowthGate::Strict | GrowthGate::Near | GrowthGate::Linux => self.limited,
        }
    }

    fn tell_acknowledged<C: EndpointContext>(&mut self, out: &mut Outlet<'_, C>) {
        let acknowledged = self.acknowledged();
        if acknowledged > self.told {
            self.told = acknowledged;
            out.context.notify(Event::Acknowledged(acknowledged));
        }
    }

    fn rate_sample(&mut self, now: Instant, flight_before: u32) -> Option<RateSample> {
        let flight = (flight_before, self.outstanding);
        let until_departure = self.pacer.next_at().saturating_since(now);
        self.delivery_rate.as_mut()?.sample(flight, until_departure, self.limited)
    }
}
