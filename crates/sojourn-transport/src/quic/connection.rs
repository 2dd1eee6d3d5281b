//! One end of a QUIC connection: handshake, closing, and the two halves between.
//!
//! Source: RFC 9000 sections 7 (handshake), 8.1 (limit of a server's first data), 13 (packets), 14.1 (size of the first
//! ones); RFC 9001 section 4.6 (0-RTT); RFC 9002 section 6.2.2 (their timer).
//! Deviations: one round trip of one packet each way begins a connection. Data that a server has written by then, its
//! certificates, follow its packet, up to three times the client's bytes. Data of 0-RTT that come before the client's
//! first packet are lost. Keys, flow control, migration and CONNECTION_CLOSE frames are left out. Both ends are done
//! when the ends of both streams are acknowledged.

use super::Outlet;
use super::packet::Packet;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::common::armed::Armed;
use crate::common::role::Role;
use crate::config::StackConfig;
use crate::congestion::ControllerState;
use crate::{
    CongestionSnapshot, ConnectionSnapshot, ConnectionStatistics, EndpointContext, Event, Segment, SendTimes, Timer,
};
use alloc::sync::Arc;
use sojourn_base::{BitRate, Ecn, Instant};

/// A server sends at most this multiple of the received bytes until the client's address is validated (RFC 9000 8.1).
const AMPLIFICATION: u64 = 3;

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not opened, or listening.
    Idle,
    /// The first packet of this end is out.
    Opening,
    Established,
    /// Failed, given up or aborted: deaf and mute.
    Dead,
}

/// One end of a QUIC connection.
///
/// Data is one byte stream; stream boundaries are left to the application. [`Event::Delivered`] counts bytes in order,
/// [`Event::Early`] those that arrive before earlier ones.
#[derive(Clone, Debug)]
pub struct QuicEndpoint {
    config: Arc<StackConfig>,
    role: Role,
    phase: Phase,
    sender: Sender,
    receiver: Receiver,
    statistics: ConnectionStatistics,
    armed: Armed,
    peer_closed: bool,
    closed: bool,
}

impl QuicEndpoint {
    pub(crate) fn new(role: Role, config: &Arc<StackConfig>) -> Self {
        Self {
            config: Arc::clone(config),
            role,
            phase: Phase::Idle,
            sender: Sender::new(config),
            receiver: Receiver::new(config.acknowledge),
            statistics: ConnectionStatistics::default(),
            armed: Armed::NONE,
            peer_closed: false,
            closed: false,
        }
    }

    pub(crate) const fn role(&self) -> Role {
        self.role
    }

    const fn is_client(&self) -> bool {
        matches!(self.role, Role::Client)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.sender.bytes() + self.receiver.bytes()
    }

    pub(crate) fn config(&self) -> &StackConfig {
        &self.config
    }

    pub(crate) const fn statistics(&self) -> &ConnectionStatistics {
        &self.statistics
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn is_consistent(&self) -> bool {
        self.sender.is_consistent()
    }

    pub(crate) fn congestion(&self) -> CongestionSnapshot {
        let sender = &self.sender;
        let window = sender.control.window();
        CongestionSnapshot {
            window: window.size,
            threshold: window.threshold,
            pipe: sender.outstanding(),
            smoothed_round_trip: sender.round_trip.smoothed(),
            round_trip_variation: sender.round_trip.variation(),
            state: sender.state(),
        }
    }

    pub(crate) fn controller(&self) -> (ControllerState, Option<BitRate>) {
        let control = &self.sender.control;
        (control.state(), control.pacing_rate())
    }

    pub(crate) fn snapshot(&self) -> ConnectionSnapshot {
        let sender = &self.sender;
        let now = self.congestion();
        ConnectionSnapshot {
            window: now.window,
            threshold: now.threshold,
            smoothed_round_trip: now.smoothed_round_trip,
            round_trip_variation: now.round_trip_variation,
            timeout: sender.probe_timeout(&self.config),
            timeout_at: sender.probe_at(&self.config),
            pipe: now.pipe,
            flight: now.pipe,
            sacked: 0,
            lost: sender.waiting_again(),
            state: now.state,
            delivered: self.receiver.delivered(),
            acknowledged: sender.acknowledged(),
        }
    }

    fn with_sender<C: EndpointContext>(&mut self, context: &mut C, act: impl FnOnce(&mut Sender, &mut Outlet<'_, C>)) {
        let mut out =
            Outlet { context, receiver: &mut self.receiver, config: &self.config, statistics: &mut self.statistics };
        act(&mut self.sender, &mut out);
    }

    fn emit_acknowledgement(&mut self, now: Instant, context: &mut impl EndpointContext) {
        let wire = &self.config.wire;
        let length = wire.acknowledgement + wire.sack_base + wire.sack_block * self.receiver.reported();
        let mut packet = Packet::new(now, self.sender.next(), length, self.config.ecn.codepoint());
        packet.ack = Some(self.receiver.acknowledge(now));
        self.statistics.acknowledgements_sent += 1;
        self.statistics.wire_bytes_sent += u64::from(length);
        context.emit(&packet.into(), SendTimes::all_at(now));
    }

    /// Death, the end, acknowledgements that are due, and the timers.
    fn settle(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.sender.has_given_up() && self.phase != Phase::Dead {
            self.phase = Phase::Dead;
            context.notify(Event::Aborted);
        }
        if self.phase == Phase::Dead {
            self.armed.disarm(context);
            return;
        }
        if self.receiver.wants_acknowledgement() {
            self.emit_acknowledgement(now, context);
        }
        if !self.closed && self.peer_closed && self.sender.is_finished() {
            self.closed = true;
            context.notify(Event::Closed);
        }
        let main = self.sender.deadline(&self.config);
        let pacing = self.sender.paced_until(now, &self.config);
        // A deadline that follows from an old transmission may have passed when an acknowledgement, or the end of the wait
        // for a loss, brings it back: it is due now (RFC 9002 appendix A.8).
        self.armed.arm(Timer::Main, main.max(now), context);
        self.armed.arm(Timer::DelayedAck, self.receiver.deadline(), context);
        self.armed.arm(Timer::Pacing, pacing, context);
    }

    /// Returns true if the client's last attempt has timed out.
    fn has_tried_enough(&self, now: Instant) -> bool {
        self.phase == Phase::Opening
            && self.is_client()
            && now >= self.sender.deadline(&self.config)
            && self.config.connect.attempts.is_some_and(|most| self.sender.expiries + 1 >= most)
    }

    /// The peer is there, and knows that this end is.
    fn establish(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.phase = Phase::Established;
        self.sender.establish(now);
        context.notify(Event::Connected);
    }

    pub(crate) fn open(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.is_client() && self.phase == Phase::Idle {
            self.phase = Phase::Opening;
            self.with_sender(context, |sender, out| sender.send_handshake(now, out));
            self.settle(now, context);
        }
    }

    /// This end's data need not wait for the peer.
    pub(crate) fn send_early(&mut self) {
        if self.is_client() && self.phase == Phase::Opening {
            self.sender.send_early(None);
        }
    }

    pub(crate) fn write(&mut self, now: Instant, bytes: u64, context: &mut impl EndpointContext) {
        self.sender.stream.write(now, bytes);
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    pub(crate) fn hold(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.sender.stream.hold();
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    pub(crate) fn close(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.sender.stream.close();
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    pub(crate) fn abort(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.phase = Phase::Dead;
        self.settle(now, context);
    }

    pub(crate) fn on_segment(&mut self, now: Instant, segment: &Segment, context: &mut impl EndpointContext) {
        let packet = Packet::read(segment, self.receiver.delivered());
        self.statistics.packets_received += 1;
        self.statistics.wire_bytes_received += u64::from(packet.length);
        self.statistics.marks_received += u64::from(packet.ecn == Ecn::Ce);
        match self.phase {
            Phase::Dead => return,
            Phase::Idle if self.is_client() || !packet.crypto => return,
            _ => {}
        }
        // The server's first packet, or the client's first one after it.
        if self.phase == Phase::Opening && packet.crypto == self.is_client() {
            self.establish(now, context);
        }
        if packet.is_ack_eliciting() {
            self.take_packet(now, &packet, context);
        }
        if let Some(frame) = &packet.ack {
            self.with_sender(context, |sender, out| sender.on_ack(now, frame, out));
        }
        if self.phase == Phase::Idle {
            self.phase = Phase::Opening;
            self.with_sender(context, |sender, out| sender.send_handshake(now, out));
        }
        if self.phase == Phase::Opening && !self.is_client() && self.sender.stream.has_more() {
            self.sender.send_early(Some(AMPLIFICATION * self.statistics.wire_bytes_received));
            self.with_sender(context, |sender, out| sender.transmit(now, out));
        }
        self.settle(now, context);
    }

    fn take_packet(&mut self, now: Instant, packet: &Packet, context: &mut impl EndpointContext) {
        let before = self.receiver.delivered();
        let brought = self.receiver.on_packet(now, packet);
        self.statistics.duplicates_received += u64::from(brought.duplicate);
        if let Some((first, end)) = brought.early {
            context.notify(Event::Early(first, end));
        }
        let delivered = self.receiver.delivered();
        if delivered > before {
            context.notify(Event::Delivered(delivered));
        }
        if !self.peer_closed && self.receiver.is_finished() {
            self.peer_closed = true;
            context.notify(Event::PeerClosed);
        }
    }

    pub(crate) fn on_timer(&mut self, now: Instant, timer: Timer, context: &mut impl EndpointContext) {
        if self.phase == Phase::Dead {
            return;
        }
        self.armed.on_expired(timer);
        match timer {
            Timer::Main if self.has_tried_enough(now) => {
                self.phase = Phase::Dead;
                context.notify(Event::ConnectFailed);
            }
            Timer::Main => self.with_sender(context, |sender, out| sender.on_timer(now, out)),
            Timer::DelayedAck => self.receiver.on_timer(now),
            Timer::Pacing => self.with_sender(context, |sender, out| sender.transmit(now, out)),
        }
        self.settle(now, context);
    }
}
