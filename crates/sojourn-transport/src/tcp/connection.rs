//! One end of a TCP connection: opening and closing, and the two halves between.
//!
//! Source: RFC 9293 sections 3.5 and 3.6 (handshake, closing), RFC 6298 section 5 (SYN timer),
//! RFC 5681 section 3.1 (initial window after a lost SYN); ns-2.35 one-way agents, whose SYN is a data
//! packet.
//! Numbers: data segments count from 0 in each direction. A FIN carried by data shares the number of
//! its segment; a bare FIN takes the next number and has no length. SYN and SYN-ACK have no number,
//! except in the one-way handshakes, where the SYN is segment 0 without payload.
//! Deviations: no waiting after the end, no resets, no simultaneous open. An endpoint answers a
//! repeated FIN as long as it exists, so keep both until both have reported [`Event::Closed`].

use super::receiver::{self, Receiver};
use super::scoreboard;
use super::sender::Sender;
use crate::common::armed::Armed;
use crate::common::delivery_rate::DeliveryRate;
use crate::common::role::Role;
use crate::config::{Handshake, RoundTripSampling, StackConfig};
use crate::congestion::ControllerState;
use crate::tcp::Outlet;
use crate::{
    CongestionSnapshot, ConnectionSnapshot, ConnectionStatistics, EndpointContext, Event, Flags, SackBlocks, Segment,
    SendTimes, Timer,
};
use alloc::sync::Arc;
use sojourn_base::{BitRate, Ecn, Instant, Span};

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not opened, or listening.
    Idle,
    /// A SYN is out.
    Connecting,
    /// A SYN-ACK is out.
    Accepting,
    /// Data may flow; also after the end, to answer repetitions.
    Established,
    /// Failed, given up or aborted: deaf and mute.
    Dead,
}

/// SYN or SYN-ACK and its timer.
#[derive(Clone, Copy, Debug)]
struct Opening {
    attempts: u32,
    sent_at: Instant,
    deadline: Instant,
    wait: Span,
}

impl Opening {
    const NONE: Self = Self { attempts: 0, sent_at: Instant::ZERO, deadline: Instant::NEVER, wait: Span::ZERO };
}

/// One end of a TCP connection.
///
/// # Examples
///
/// ```
/// use sojourn_base::Instant;
/// use sojourn_transport::{
///     EndpointContext, Event, Flags, Segment, SendTimes, StackConfig, TcpEndpoint, Timer,
/// };
///
/// #[derive(Default)]
/// struct Wire(Vec<Segment>);
/// impl EndpointContext for Wire {
///     fn emit(&mut self, segment: &Segment, _: SendTimes) {
///         self.0.push(*segment);
///     }
///     fn arm(&mut self, _: Timer, _: Instant) {}
///     fn notify(&mut self, _: Event) {}
/// }
///
/// let mut wire = Wire::default();
/// let mut client = TcpEndpoint::client(&StackConfig::LINUX_CUBIC.into());
/// client.open(Instant::ZERO, &mut wire);
/// assert!(wire.0[0].flags.has(Flags::SYN) && wire.0[0].length == 60);
/// ```
#[derive(Clone, Debug)]
pub struct TcpEndpoint {
    /// Shared, so that the connections of one kind have it in a cache once.
    config: Arc<StackConfig>,
    role: Role,
    phase: Phase,
    opening: Opening,
    sender: Sender,
    receiver: Receiver,
    statistics: ConnectionStatistics,
    armed: Armed,
    peer_closed: bool,
    closed: bool,
}

/// Initial timeout after a lost SYN without a sample (RFC 6298 section 5.7).
const TIMEOUT_AFTER_SYN_LOSS: Span = Span::from_s(3);

impl TcpEndpoint {
    /// Bytes that the rings of a new one take.
    pub const INITIAL_BYTES: usize = scoreboard::INITIAL_BYTES + receiver::INITIAL_BYTES;

    /// Bytes that its rings take; they grow with its window.
    pub fn bytes(&self) -> usize {
        let rate = self.sender.delivery_rate.as_deref();
        self.sender.board.bytes() + self.receiver.bytes() + rate.map_or(0, DeliveryRate::bytes)
    }

    /// The end that opens the connection.
    pub fn client(config: &Arc<StackConfig>) -> Self {
        Self::new(Role::Client, config)
    }

    /// The end that waits for it.
    pub fn server(config: &Arc<StackConfig>) -> Self {
        Self::new(Role::Server, config)
    }

    pub(crate) fn new(role: Role, config: &Arc<StackConfig>) -> Self {
        Self {
            config: Arc::clone(config),
            role,
            phase: Phase::Idle,
            opening: Opening::NONE,
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            statistics: ConnectionStatistics::default(),
            armed: Armed::NONE,
            peer_closed: false,
            closed: false,
        }
    }

    /// Become a new connection of the same role with `config`, reusing the memory of this one. The
    /// caller forgets this endpoint's timers.
    pub fn reset(&mut self, config: &Arc<StackConfig>) {
        self.sender.reset(config);
        self.receiver.reset(config);
        self.config = Arc::clone(config);
        self.phase = Phase::Idle;
        self.opening = Opening::NONE;
        self.statistics = ConnectionStatistics::default();
        self.armed = Armed::NONE;
        (self.peer_closed, self.closed) = (false, false);
    }

    /// Do nothing the short way, which is taken where nothing unusual is under way and has to come to the same: for
    /// tests, which compare both.
    pub const fn take_no_shortcuts(&mut self) {
        self.sender.take_no_shortcuts();
    }

    /// Role of this end.
    pub(crate) const fn role(&self) -> Role {
        self.role
    }

    /// Parameters.
    pub fn config(&self) -> &StackConfig {
        &self.config
    }

    /// Counters so far.
    pub const fn statistics(&self) -> &ConnectionStatistics {
        &self.statistics
    }

    /// Returns true if both sides are closed and acknowledged.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Window and round trip of the sender at this moment; costs a few loads, for recorders.
    pub fn congestion(&self) -> CongestionSnapshot {
        self.sender.congestion()
    }

    /// Returns the controller's state, and its sending rate, if it has one; for recorders.
    pub fn controller(&self) -> (ControllerState, Option<BitRate>) {
        self.sender.controller()
    }

    /// This end at this moment.
    pub fn snapshot(&self) -> ConnectionSnapshot {
        let sender = &self.sender;
        let CongestionSnapshot { window, threshold, pipe, smoothed_round_trip, round_trip_variation, state } =
            sender.congestion();
        ConnectionSnapshot {
            window,
            threshold,
            smoothed_round_trip,
            round_trip_variation,
            timeout: sender.timeout(),
            timeout_at: sender.timeout_at,
            pipe,
            flight: sender.board.flight(),
            sacked: sender.board.sacked(),
            lost: sender.board.pending(),
            state,
            delivered: self.receiver.delivered(),
            acknowledged: sender.acknowledged(),
        }
    }

    /// Returns true if all counters of the scoreboard agree with a recount, and no segment is both SACKed and lost: an
    /// invariant, for tests.
    pub fn is_consistent(&self) -> bool {
        self.sender.board.is_consistent()
    }

    fn with_sender<C: EndpointContext, R>(
        &mut self,
        context: &mut C,
        act: impl FnOnce(&mut Sender, &mut Outlet<'_, C>) -> R,
    ) -> R {
        let mut outlet =
            Outlet { context, receiver: &mut self.receiver, config: &self.config, statistics: &mut self.statistics };
        act(&mut self.sender, &mut outlet)
    }

    fn send_opening(&mut self, now: Instant, context: &mut impl EndpointContext) {
        let policy = &self.config.connect;
        self.opening.attempts += 1;
        if self.opening.attempts > 1 {
            self.statistics.syn_retransmissions += 1;
            self.opening.wait = self.opening.wait.saturating_mul(2);
        } else {
            self.opening.wait = policy.timeout;
        }
        if let Some(maximum) = policy.maximum_timeout {
            self.opening.wait = self.opening.wait.min(maximum);
        }
        self.opening.deadline = now.saturating_add(self.opening.wait);
        self.opening.sent_at = now;
        self.emit_opening(now, context);
    }

    /// SYN of the client, SYN-ACK of the server.
    fn emit_opening(&mut self, now: Instant, context: &mut impl EndpointContext) {
        let mut segment = bare_segment(now, Flags::SYN, self.config.wire.syn);
        segment.ecn = self.config.ecn.codepoint_of_control();
        if self.role == Role::Server {
            self.receiver.stamp(&mut segment);
        }
        self.statistics.wire_bytes_sent += u64::from(segment.length);
        context.emit(&segment, SendTimes::all_at(segment.sent_at));
    }

    fn emit_acknowledgement(&mut self, now: Instant, context: &mut impl EndpointContext) {
        let wire = self.config.wire;
        let mut segment = bare_segment(now, Flags::ACK, wire.acknowledgement);
        segment.sequence = self.sender.board.next();
        segment.ecn = self.config.ecn.codepoint_of_control();
        self.receiver.stamp_acknowledgement(&mut segment);
        let blocks = u32::from(segment.sack.len());
        if blocks > 0 {
            segment.length += wire.sack_base + wire.sack_block * blocks;
        }
        self.statistics.acknowledgements_sent += 1;
        self.statistics.wire_bytes_sent += u64::from(segment.length);
        context.emit(&segment, SendTimes::all_at(segment.sent_at));
    }

    /// The handshake is over.
    fn establish(&mut self, now: Instant, echo: Instant, context: &mut impl EndpointContext) {
        let repeated = self.opening.attempts > 1;
        let stamped = self.config.sampling == RoundTripSampling::Timestamps;
        let sample = if stamped {
            (echo != Instant::NEVER).then(|| now.saturating_since(echo))
        } else {
            (!repeated).then(|| now.saturating_since(self.opening.sent_at))
        };
        if repeated && sample.is_none() && self.config.connect.timeout < TIMEOUT_AFTER_SYN_LOSS {
            self.sender.set_initial_timeout(TIMEOUT_AFTER_SYN_LOSS);
        }
        self.sender.establish(now, sample, &self.config);
        if let Some(sample) = sample {
            self.statistics.note_round_trip(sample);
        }
        self.cut_initial_window(self.opening.attempts.saturating_sub(1));
        self.opening.deadline = Instant::NEVER;
        self.phase = Phase::Established;
        context.notify(Event::Connected);
    }

    fn cut_initial_window(&mut self, losses: u32) {
        let limit = self.config.connect.single_segment_after;
        if limit.is_some_and(|limit| losses >= limit) {
            self.sender.start_from_one_segment();
        }
    }

    /// Handshake segments; true if the segment needs no further attention. Nothing happens here to an
    /// established connection, unless a SYN comes again.
    #[cold]
    fn on_handshake(&mut self, now: Instant, segment: &Segment, context: &mut impl EndpointContext) -> bool {
        let syn = segment.flags.has(Flags::SYN);
        let one_way = self.config.connect.handshake != Handshake::ThreeWay;
        match (self.role, self.phase) {
            (_, Phase::Dead) | (Role::Client, Phase::Idle) => true,
            (Role::Server, Phase::Idle) if one_way => {
                self.phase = Phase::Established;
                self.sender.establish(now, None, &self.config);
                context.notify(Event::Connected);
                false
            }
            (Role::Server, Phase::Idle) => {
                if syn {
                    self.phase = Phase::Accepting;
                    self.receiver.note_echo(now, segment.sent_at);
                    self.send_opening(now, context);
                }
                true
            }
            (Role::Server, Phase::Accepting | Phase::Established) if syn && !one_way => {
                self.receiver.note_echo(now, segment.sent_at);
                self.statistics.syn_retransmissions += 1;
                self.opening.attempts += u32::from(self.phase == Phase::Accepting);
                self.emit_opening(now, context);
                true
            }
            (Role::Server, Phase::Accepting) => {
                if segment.flags.has(Flags::ACK) {
                    self.establish(now, segment.echo, context);
                }
                !segment.flags.has(Flags::ACK)
            }
            (Role::Client, Phase::Connecting) if !one_way => {
                if syn && segment.flags.has(Flags::ACK) {
                    self.receiver.note_echo(now, segment.sent_at);
                    self.establish(now, segment.echo, context);
                    self.receiver.acknowledge_soon();
                    if self.config.connect.separate_acknowledgement {
                        self.emit_acknowledgement(now, context);
                    }
                    self.with_sender(context, |sender, out| sender.transmit(now, out));
                    if self.receiver.wants_acknowledgement() {
                        self.emit_acknowledgement(now, context);
                    }
                }
                true
            }
            (Role::Client, Phase::Established) if syn => {
                // The SYN-ACK again: our acknowledgement was lost.
                self.emit_acknowledgement(now, context);
                true
            }
            _ => false,
        }
    }

    /// The acknowledgement of the SYN that is data lets the rest go.
    #[cold]
    fn on_syn_acknowledged(&mut self, now: Instant, context: &mut impl EndpointContext) {
        let initial = f64::from(self.config.initial_window);
        self.sender.control.window_mut().size = initial;
        let losses = u32::try_from(self.statistics.syn_retransmissions).unwrap_or(u32::MAX);
        self.cut_initial_window(losses);
        self.sender.establish(now, None, &self.config);
        self.phase = Phase::Established;
        context.notify(Event::Connected);
        self.with_sender(context, |sender, out| sender.transmit(now, out));
    }

    fn take_data(&mut self, now: Instant, segment: &Segment, context: &mut impl EndpointContext) {
        if segment.sequence < self.receiver.next() {
            self.statistics.duplicates_received += 1;
        }
        let ecn = self.config.ecn;
        if self.receiver.reports_before(segment, ecn) {
            self.emit_acknowledgement(now, context);
        }
        let before = self.receiver.delivered();
        let sender = &self.sender;
        let idle_limit = || sender.timeout_without_backoff();
        self.receiver.on_segment(now, segment, ecn, idle_limit, || sender.round_trip.smoothed());
        let delivered = self.receiver.delivered();
        if delivered > before {
            context.notify(Event::Delivered(delivered));
        }
        if !self.peer_closed && self.receiver.is_finished() {
            self.peer_closed = true;
            context.notify(Event::PeerClosed);
        }
    }

    /// End of every call.
    #[inline(never)] // what arrives settles on its own
    fn settle(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.settle_here(now, context);
    }

    /// Death, the end, and the timers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for arrivals, once for all else")]
    fn settle_here(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.sender.has_given_up() && self.phase != Phase::Dead {
            self.give_up(context);
        }
        if !self.closed && self.peer_closed && self.sender.is_finished() {
            self.finish(context);
        }
        if self.phase == Phase::Dead {
            self.armed.disarm(context);
            return;
        }
        let main = self.opening.deadline.min(self.sender.deadline());
        self.armed.arm(Timer::Main, main, context);
        self.armed.arm(Timer::DelayedAck, self.receiver.deadline(), context);
        if self.sender.control.paces() {
            self.settle_pacing(now, context);
        }
    }

    #[inline(never)] // few stacks pace, and all settle
    fn settle_pacing(&mut self, now: Instant, context: &mut impl EndpointContext) {
        // A timer that is due at this instant is not taken back: what waits for it has not been sent yet.
        let pacing = match self.sender.paced_until(now, &self.config) {
            at if at == now && self.armed.of(Timer::Pacing) != now => Instant::NEVER,
            at => at,
        };
        self.armed.arm(Timer::Pacing, pacing, context);
    }

    #[cold]
    fn give_up(&mut self, context: &mut impl EndpointContext) {
        self.phase = Phase::Dead;
        context.notify(Event::Aborted);
    }

    #[cold]
    fn finish(&mut self, context: &mut impl EndpointContext) {
        self.closed = true;
        context.notify(Event::Closed);
    }

    #[cold]
    fn on_opening_timer(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if now < self.opening.deadline {
            return;
        }
        let limit = self.config.connect.attempts;
        if limit.is_some_and(|limit| self.opening.attempts >= limit) {
            self.opening.deadline = Instant::NEVER;
            self.phase = Phase::Dead;
            context.notify(Event::ConnectFailed);
        } else {
            self.send_opening(now, context);
        }
    }
}

/// Calls of its owner.
impl TcpEndpoint {
    /// Start connecting (client only).
    pub fn open(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.role != Role::Client || self.phase != Phase::Idle {
            return;
        }
        match self.config.connect.handshake {
            Handshake::ThreeWay => {
                self.phase = Phase::Connecting;
                self.send_opening(now, context);
            }
            Handshake::SynAsData => {
                self.phase = Phase::Connecting;
                self.with_sender(context, |sender, out| sender.send_syn_as_data(now, out));
            }
            Handshake::SynInFirstWindow => {
                self.phase = Phase::Established;
                self.sender.establish(now, None, &self.config);
                self.with_sender(context, |sender, out| sender.send_syn_as_data(now, out));
                context.notify(Event::Connected);
                self.with_sender(context, |sender, out| sender.transmit(now, out));
            }
        }
        self.settle(now, context);
    }

    /// The application has `bytes` more to send; `u64::MAX` means without end.
    pub fn write(&mut self, now: Instant, bytes: u64, context: &mut impl EndpointContext) {
        self.sender.stream.write(now, bytes);
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    /// The application holds back data without end that have not left yet, until it writes again.
    pub fn hold(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.sender.stream.hold();
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    /// The application will write no more.
    pub fn close(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.sender.stream.close();
        self.with_sender(context, |sender, out| sender.transmit(now, out));
        self.settle(now, context);
    }

    /// Drop all state without telling the peer.
    pub fn abort(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.phase = Phase::Dead;
        self.settle(now, context);
    }

    /// A segment arrives, with the ECN field as the path has left it.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, context: &mut impl EndpointContext) {
        self.statistics.packets_received += 1;
        self.statistics.wire_bytes_received += u64::from(segment.length);
        self.statistics.marks_received += u64::from(segment.ecn == Ecn::Ce);
        let opening = self.phase != Phase::Established || segment.flags.has(Flags::SYN);
        if opening && self.on_handshake(now, segment, context) {
            self.settle(now, context);
            return;
        }
        if segment.has_place() {
            self.take_data(now, segment, context);
        }
        if segment.flags.has(Flags::ACK) && self.sender.has_outstanding() {
            self.with_sender(context, |sender, out| sender.on_ack(now, segment, out));
            if self.phase == Phase::Connecting && self.sender.board.first() > 0 {
                self.on_syn_acknowledged(now, context);
            }
        }
        if self.receiver.wants_acknowledgement() {
            self.emit_acknowledgement(now, context);
        }
        self.settle_here(now, context);
    }

    /// A timer may be due.
    pub fn on_timer(&mut self, now: Instant, timer: Timer, context: &mut impl EndpointContext) {
        if self.phase == Phase::Dead {
            return;
        }
        match timer {
            Timer::Main => {
                self.on_opening_timer(now, context);
                self.with_sender(context, |sender, out| sender.on_timer(now, out));
            }
            Timer::DelayedAck => {
                self.receiver.on_timer(now);
                if self.receiver.wants_acknowledgement() {
                    self.emit_acknowledgement(now, context);
                }
            }
            Timer::Pacing => self.with_sender(context, |sender, out| sender.transmit(now, out)),
        }
        self.settle(now, context);
    }
}

/// A segment without a place in the sequence.
const fn bare_segment(now: Instant, flags: Flags, length: u32) -> Segment {
    Segment {
        sequence: 0,
        acknowledgement: 0,
        payload: 0,
        length,
        sent_at: now,
        echo: Instant::NEVER,
        one_way_delay_ps: 0,
        flags,
        ecn: Ecn::NotEct,
        marks: 0,
        sack: SackBlocks::NONE,
    }
}
