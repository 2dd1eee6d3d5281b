//! Chooses the next packet, by window, peer and pacer.
//!
//! Source: RFC 9002 section 7, appendices A.5 and B.4.
//! Deviations: none known.

use super::{Content, Fate, Sender, SentPacket};
use crate::common::pacer::pacing_interval;
use crate::common::restart::restart;
use crate::config::StackConfig;
use crate::quic::Outlet;
use crate::quic::packet::{Packet, StreamFrame};
use crate::{EndpointContext, SendTimes};
use sojourn_base::Instant;

impl Sender {
    /// Takes what leaves next: what was lost, then new data; whether it goes again.
    pub(super) fn take_next(&mut self, now: Instant, config: &StackConfig) -> Option<(Content, bool)> {
        self.drop_needless();
        if let Some(content) = self.lost.pop_front() {
            return Some((content, true));
        }
        if self.waiting {
            return None;
        }
        let piece = self.stream.peek(now, config.maximum_segment_size)?;
        self.stream.take(&piece, self.next());
        let content = Content {
            offset: piece.offset,
            length: u16::try_from(piece.length).expect("a packet is at most 65,535 bytes"),
            last: piece.last,
            handshake: false,
            written_at: piece.written_at,
            first_sent_at: now,
        };
        Some((content, false))
    }

    /// Drops lost contents that have arrived all the same.
    fn drop_needless(&mut self) {
        while self.lost.front().is_some_and(|content| self.is_acknowledged(content)) {
            self.lost.pop_front();
        }
    }

    /// Bytes of what leaves next, if anything waits.
    fn next_length(&self, now: Instant, config: &StackConfig) -> Option<u32> {
        let again = self.lost.front().map(|content| u32::from(content.length));
        let length = again.or_else(|| {
            let piece = self.stream.peek(now, config.maximum_segment_size)?;
            (!self.waiting).then_some(piece.length)
        })?;
        Some(config.wire.data_header + length)
    }

    fn has_room(&self, length: u32, config: &StackConfig) -> bool {
        let full = config.maximum_segment_size + config.wire.data_header;
        let window = self.control.window().size * f64::from(full);
        // A thousandth of a byte makes up for the rounding of packets to bytes and back.
        self.outstanding == 0 || (self.in_flight + u64::from(length)) as f64 <= window + 0.001
    }

    /// Send what may be sent (RFC 9002 section 7).
    pub(in crate::quic) fn transmit<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        let config = out.config;
        if self.outstanding == 0 && !self.waiting && self.stream.has_more() {
            self.restart_after_idle(now, config);
        }
        self.limited = false;
        loop {
            self.drop_needless();
            let Some(length) = self.next_length(now, config) else {
                break;
            };
            if self.outstanding >= config.receive_window {
                break;
            }
            let sent = out.statistics.wire_bytes_sent;
            if self.most.is_some_and(|most| sent + u64::from(length) > most) {
                break;
            }
            if self.allowance > 0 {
                self.allowance -= 1;
            } else if !self.has_room(length, config) || self.held_until(now, config).is_some() {
                self.limited = true;
                break;
            }
            let Some((content, again)) = self.take_next(now, config) else {
                break;
            };
            if again {
                out.statistics.fast_retransmissions += u64::from(!content.handshake);
            }
            self.send(now, content, out);
        }
        self.allowance = 0;
        if self.first >= self.largest.1 || self.outstanding > self.largest.0 {
            self.largest = (self.outstanding, self.next());
        }
        if !self.limited
            && let Some(rate) = &mut self.delivery_rate
        {
            rate.on_application_limited(u32::try_from(self.in_flight).unwrap_or(u32::MAX));
        }
    }

    fn held_until(&mut self, now: Instant, config: &StackConfig) -> Option<Instant> {
        let pacing = self.control.pacing(config)?;
        self.round_trip.smoothed()?;
        self.pacer.held_until(now, pacing, &self.control)
    }

    /// Returns the time at which the pacer releases the next packet; [`Instant::NEVER`] if none waits for it.
    pub(in crate::quic) fn paced_until(&mut self, now: Instant, config: &StackConfig) -> Instant {
        let ready = self.next_length(now, config).is_some_and(|length| self.has_room(length, config));
        if !ready || self.outstanding >= config.receive_window {
            return Instant::NEVER;
        }
        self.held_until(now, config).unwrap_or(Instant::NEVER)
    }

    fn restart_after_idle(&mut self, now: Instant, config: &StackConfig) {
        if self.last_sent_at == Instant::NEVER {
            return;
        }
        let idle = now.saturating_since(self.last_sent_at);
        let timeout = self.probe_timeout(config);
        if idle > timeout {
            let window = self.control.window_mut();
            restart(config.idle_restart, config.initial_window, idle, timeout, window);
            self.control.on_restart(idle);
        }
    }

    /// Send the handshake packet of this end.
    pub(in crate::quic) fn send_handshake<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        let handshake = true;
        self.send(now, Content { handshake, ..Content::none(now) }, out);
    }

    /// Put `content` into a packet of its own number (RFC 9002 appendices A.5 and B.4).
    pub(super) fn send<C: EndpointContext>(&mut self, now: Instant, content: Content, out: &mut Outlet<'_, C>) {
        let config = out.config;
        let number = self.next();
        let length = if content.handshake {
            out.statistics.syn_retransmissions += u64::from(number > 0);
            config.wire.syn
        } else {
            config.wire.data_header + u32::from(content.length)
        };
        let stream = StreamFrame { offset: content.offset, length: content.length.into(), fin: content.last };
        let mut packet =
            Packet { crypto: content.handshake, stream, ..Packet::new(now, number, length, config.ecn.codepoint()) };
        if out.receiver.has_news() && !content.is_ping() {
            // An ACK frame rides along where it fits.
            let more = config.wire.sack_base + config.wire.sack_block * out.receiver.reported();
            let full = config.maximum_segment_size + config.wire.data_header;
            if content.handshake || length + more <= full {
                packet.length += if content.handshake { 0 } else { more };
                packet.ack = Some(out.receiver.acknowledge(now));
            }
        }
        self.packets.push_back(SentPacket { content, sent_at: now, bytes: packet.length, fate: Fate::Outstanding });
        self.outstanding += 1;
        self.in_flight += u64::from(packet.length);
        self.last_sent_at = now;
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_sent(now, number, (self.first, self.outstanding, self.outstanding));
        }
        if let Some(pacing) = self.control.pacing(config) {
            let place = (self.round_trip.smoothed(), self.outstanding);
            let interval = pacing_interval(&self.control, place, packet.length, pacing, config);
            self.pacer.on_sent(now, interval, self.control.burst(pacing));
        }
        out.statistics.segments_sent += 1;
        out.statistics.payload_bytes_sent += u64::from(content.length);
        out.statistics.wire_bytes_sent += u64::from(packet.length);
        let times = SendTimes { written_at: content.written_at, first_sent_at: content.first_sent_at };
        out.context.emit(&packet.into(), times);
    }
}
