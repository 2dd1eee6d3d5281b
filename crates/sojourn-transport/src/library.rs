//! One end of a connection of a real library, called as the transports of this crate are.
//!
//! What an application writes at once is a stream of the library; streams follow each other, and are read in their order.
//! The application's bytes are zeros. A library that breaks the rules is dead from then on, and its owner hears of it.
//!
//! Source: `sojourn-stack` for the rules. Deviations: bytes that the library has taken are not held back by
//! [`LibraryEndpoint::hold`]; `check` refuses applications that pause.

#[cfg(feature = "std")]
mod known;

#[cfg(feature = "std")]
pub use known::{Known, add_library, find_kernels, find_kernels_by, known_libraries};

use crate::common::armed::Armed;
use crate::common::role::Role;
use crate::congestion::ControllerState;
use crate::{
    CongestionSnapshot, CongestionState, ConnectionSnapshot, ConnectionStatistics, EndpointContext, Event, Flags,
    SackBlocks, Segment, StackConfig, Timer,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use sojourn_base::{BitRate, Ecn, Instant, Span};
use sojourn_stack::checked::{Checked, Fault};
use sojourn_stack::{Options, State, Then};

/// Bytes of an IP packet at most: that of Ethernet, and of the models.
const LARGEST_PACKET: usize = 1500;

/// Bytes that are offered to a library at once, or read. chosen: some ten packets.
const PIECE: usize = 16_384;

static ZEROS: [u8; PIECE] = [0; PIECE];

/// A library of others, and where its faults go.
pub trait Library: fmt::Debug + Send + Sync {
    /// Bytes of headers that the network adds to each datagram.
    fn headers(&self) -> u32;
    /// Opens an end; nothing if the library cannot.
    fn open(&self, options: &Options, now: u64) -> Option<Box<dyn sojourn_stack::Endpoint>>;
    /// An end broke a rule.
    fn on_fault(&self, fault: &Fault);
    /// The time that it passes by itself; nothing for a library that only answers calls.
    fn clock(&self) -> Option<&dyn Clock> {
        None
    }
}

/// Time that passes for real code beside the run: a run with such code goes no faster.
pub trait Clock {
    /// Lets that code run until `until`, in ns since the start of the run, and returns nothing. If ends have something to send
    /// or to tell before, returns that time: each end is then called by [`Endpoint::on_outside`](crate::Endpoint::on_outside).
    fn wait(&self, until: u64) -> Option<u64>;
}

/// A library with what a scenario says of it.
#[derive(Clone, Debug)]
pub struct LibraryStack {
    /// The library.
    pub library: Arc<dyn Library>,
    /// Its word for the controller; empty for its default.
    pub controller: String,
    /// True if packets may be ECN-capable.
    pub ecn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Opening,
    Established,
    Dead,
}

/// How far this end's closing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    /// The application will write no more.
    Wanted,
    /// The library knows it.
    Told,
}

/// One end of a connection of a library.
pub struct LibraryEndpoint {
    config: Arc<StackConfig>,
    role: Role,
    stack: LibraryStack,
    options: Options,
    end: Option<Checked>,
    phase: Phase,
    /// As the library told last.
    state: State,
    statistics: ConnectionStatistics,
    armed: Armed,
    numbers: u32,
    /// Bytes of the streams that are not written yet, the current one first; `u64::MAX` for one without end.
    unwritten: VecDeque<u64>,
    /// Number of the current stream.
    writing: u32,
    closing: Closing,
    /// Number of the peer's stream that is read.
    reading: u32,
    delivered: u64,
    acknowledged: u64,
    peer_closed: bool,
    is_closed: bool,
    buffer: Vec<u8>,
}

impl fmt::Debug for LibraryEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryEndpoint").field("role", &self.role).field("state", &self.state).finish_non_exhaustive()
    }
}

const fn nanoseconds(now: Instant) -> u64 {
    now.as_ps() / 1000
}

/// A time of a library; one that no run reaches is never.
fn instant(ns: u64) -> Instant {
    ns.checked_mul(1000).map_or(Instant::NEVER, Instant::from_ps)
}

impl LibraryEndpoint {
    pub(crate) fn new(role: Role, stack: &LibraryStack, seed: u64, config: &Arc<StackConfig>) -> Self {
        Self {
            config: Arc::clone(config),
            role,
            options: Options {
                is_server: matches!(role, Role::Server),
                seed,
                controller: stack.controller.clone(),
                ecn: stack.ecn,
            },
            stack: stack.clone(),
            end: None,
            phase: Phase::Idle,
            state: State::default(),
            statistics: ConnectionStatistics::default(),
            armed: Armed::NONE,
            numbers: 0,
            unwritten: VecDeque::new(),
            writing: 0,
            closing: Closing::No,
            reading: 0,
            delivered: 0,
            acknowledged: 0,
            peer_closed: false,
            is_closed: false,
            buffer: Vec::new(),
        }
    }

    pub(crate) const fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.buffer.capacity()
    }

    pub(crate) fn config(&self) -> &StackConfig {
        &self.config
    }

    pub(crate) const fn statistics(&self) -> &ConnectionStatistics {
        &self.statistics
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(crate) const fn is_consistent(&self) -> bool {
        self.acknowledged <= self.statistics.payload_bytes_sent
    }

    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.config.maximum_segment_size)
    }

    pub(crate) fn congestion(&self) -> CongestionSnapshot {
        let state = &self.state;
        CongestionSnapshot {
            window: self.segments(state.window),
            threshold: if state.threshold == 0 { f64::INFINITY } else { self.segments(state.threshold) },
            pipe: u32::try_from(state.in_flight / u64::from(self.config.maximum_segment_size)).unwrap_or(u32::MAX),
            smoothed_round_trip: (state.smoothed > 0).then(|| Span::from_ns(state.smoothed)),
            round_trip_variation: Span::ZERO,
            state: CongestionState::Open,
        }
    }

    pub(crate) fn controller(&self) -> (ControllerState, Option<BitRate>) {
        let rate = self.state.pacing_rate;
        (ControllerState::default(), (rate > 0).then(|| BitRate::from_bps(rate)))
    }

    pub(crate) fn snapshot(&self) -> ConnectionSnapshot {
        let now = self.congestion();
        ConnectionSnapshot {
            window: now.window,
            threshold: now.threshold,
            smoothed_round_trip: now.smoothed_round_trip,
            round_trip_variation: now.round_trip_variation,
            timeout: Span::ZERO,
            timeout_at: self.armed.of(Timer::Main),
            pipe: now.pipe,
            flight: now.pipe,
            sacked: 0,
            lost: 0,
            state: now.state,
            delivered: self.delivered,
            acknowledged: self.acknowledged,
        }
    }

    pub(crate) fn open(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.phase == Phase::Idle {
            self.start(now, context);
            self.advance(now, context);
        }
    }

    fn start(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.phase = Phase::Opening;
        self.buffer = vec![0; PIECE];
        match self.stack.library.open(&self.options, nanoseconds(now)) {
            Some(end) => self.end = Some(Checked::new(end, &self.options)),
            None => self.fail(&Fault("open returned nothing".to_string()), context),
        }
    }

    pub(crate) fn write(&mut self, now: Instant, bytes: u64, context: &mut impl EndpointContext) {
        if bytes > 0 {
            self.unwritten.push_back(bytes);
        }
        self.advance(now, context);
    }

    pub(crate) fn hold(&mut self, _now: Instant, _context: &mut impl EndpointContext) {
        if self.unwritten.back() == Some(&u64::MAX) {
            self.unwritten.pop_back();
        }
    }

    pub(crate) fn close(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if self.closing == Closing::No {
            self.closing = Closing::Wanted;
        }
        self.advance(now, context);
    }

    pub(crate) fn abort(&mut self, _now: Instant, context: &mut impl EndpointContext) {
        self.phase = Phase::Dead;
        self.end = None;
        self.armed.disarm(context);
    }

    pub(crate) fn on_datagram(
        &mut self,
        now: Instant,
        segment: &Segment,
        bytes: &[u8],
        context: &mut impl EndpointContext,
    ) {
        self.statistics.packets_received += 1;
        self.statistics.wire_bytes_received += u64::from(segment.length);
        self.statistics.marks_received += u64::from(segment.ecn == Ecn::Ce);
        if self.phase == Phase::Idle {
            self.start(now, context);
        }
        if let Some(end) = &mut self.end {
            end.datagram(nanoseconds(now), bytes, segment.ecn.bits());
            self.advance(now, context);
        }
    }

    pub(crate) fn on_timer(&mut self, now: Instant, timer: Timer, context: &mut impl EndpointContext) {
        self.armed.on_expired(timer);
        self.advance(now, context);
    }

    /// Code beside the run has something to send or to tell; perhaps this end.
    pub(crate) fn on_outside(&mut self, now: Instant, context: &mut impl EndpointContext) {
        self.advance(now, context);
    }

    fn fail(&mut self, fault: &Fault, context: &mut impl EndpointContext) {
        self.stack.library.on_fault(fault);
        self.abort(Instant::ZERO, context);
        context.notify(Event::Aborted);
    }

    /// Does all that can be done now.
    fn advance(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if let Some(mut end) = self.end.take() {
            match self.exchange(now, &mut end, context) {
                Ok(true) => self.end = Some(end),
                Ok(false) => self.armed.disarm(context),
                Err(fault) => self.fail(&fault, context),
            }
        }
    }

    /// Reads, writes and sends; returns false if the connection is over.
    fn exchange(&mut self, now: Instant, end: &mut Checked, context: &mut impl EndpointContext) -> Result<bool, Fault> {
        let at = nanoseconds(now);
        self.read_all(at, end, context)?;
        self.write_all(at, end)?;
        let mut packet = [0; LARGEST_PACKET];
        let headers = self.stack.library.headers() as usize;
        let room = LARGEST_PACKET.saturating_sub(headers);
        while let Some((bytes, ecn)) = end.transmit(at, &mut packet[..room])? {
            self.send(now, &packet[..bytes], ecn, context);
        }
        let due = end.timeout(at)?.map_or(Instant::NEVER, instant);
        self.armed.arm(Timer::Main, due, context);
        self.look(end, context)
    }

    fn read_all(&mut self, at: u64, end: &mut Checked, context: &mut impl EndpointContext) -> Result<(), Fault> {
        let (before, was_closed) = (self.delivered, self.peer_closed);
        while !self.peer_closed {
            let read = end.read(at, self.reading, &mut self.buffer)?;
            self.delivered += read.bytes as u64;
            match read.then {
                Then::More if read.bytes == 0 => break,
                Then::More => {}
                Then::NextStream => self.reading += 1,
                Then::Closed => self.peer_closed = true,
            }
        }
        if self.delivered > before {
            context.notify(Event::Delivered(self.delivered));
        }
        if self.peer_closed && !was_closed {
            context.notify(Event::PeerClosed);
        }
        Ok(())
    }

    fn write_all(&mut self, at: u64, end: &mut Checked) -> Result<(), Fault> {
        while let Some(left) = self.unwritten.front_mut() {
            let offered = usize::try_from(*left).map_or(PIECE, |left| left.min(PIECE));
            let fin = *left == offered as u64;
            let taken = end.write(at, self.writing, &ZEROS[..offered], fin)?;
            self.statistics.payload_bytes_sent += taken as u64;
            if *left < u64::MAX {
                *left -= taken as u64;
            }
            if taken < offered {
                return Ok(());
            }
            if fin {
                self.unwritten.pop_front();
                self.writing += 1;
            }
        }
        if self.closing == Closing::Wanted && self.phase == Phase::Established {
            self.closing = Closing::Told;
            end.close(at);
        }
        Ok(())
    }

    fn send(&mut self, now: Instant, bytes: &[u8], ecn: u8, context: &mut impl EndpointContext) {
        let headers = self.stack.library.headers();
        let (payload, flags) = if headers == 0 { seen(bytes) } else { (0, Flags::ENCRYPTED) };
        let segment = Segment {
            sequence: self.numbers,
            acknowledgement: 0,
            payload,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(headers),
            sent_at: now,
            echo: Instant::NEVER,
            one_way_delay_ps: 0,
            flags: flags.with(Flags::DATAGRAM),
            ecn: if self.stack.ecn { Ecn::from_bits(ecn) } else { Ecn::NotEct },
            marks: 0,
            sack: SackBlocks::NONE,
        };
        self.numbers = self.numbers.wrapping_add(1);
        self.statistics.segments_sent += 1;
        self.statistics.wire_bytes_sent += u64::from(segment.length);
        context.emit_datagram(&segment, bytes);
    }

    /// Looks at what the library says of itself; returns false if the connection is over.
    fn look(&mut self, end: &Checked, context: &mut impl EndpointContext) -> Result<bool, Fault> {
        let state = end.state()?;
        self.state = state;
        self.statistics.fast_retransmissions = state.lost;
        if state.smoothed > 0 {
            self.statistics.note_round_trip(Span::from_ns(state.smoothed));
        }
        if state.is_connected && self.phase == Phase::Opening {
            self.phase = Phase::Established;
            context.notify(Event::Connected);
        }
        if state.acknowledged > self.acknowledged {
            self.acknowledged = state.acknowledged;
            context.notify(Event::Acknowledged(state.acknowledged));
        }
        if state.has_failed {
            let was_open = self.phase == Phase::Established;
            self.phase = Phase::Dead;
            context.notify(if was_open { Event::Aborted } else { Event::ConnectFailed });
            return Ok(false);
        }
        if self.closing == Closing::Told && self.peer_closed && state.is_finished && !self.is_closed {
            self.is_closed = true;
            context.notify(Event::Closed);
        }
        Ok(true)
    }
}

/// Returns payload and flags of an IPv4 packet of TCP, as queues see them (RFC 791 section 3.1, RFC 9293 section 3.1).
fn seen(packet: &[u8]) -> (u32, Flags) {
    const TCP: u8 = 6;
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    let (Some(TCP), Some(segment)) = (packet.get(9).copied(), packet.get(header..)) else {
        return (0, Flags::NONE);
    };
    let (Some(offset), Some(bits)) = (segment.get(12), segment.get(13)) else {
        return (0, Flags::NONE);
    };
    let payload = segment.len().saturating_sub(usize::from(offset >> 4) * 4);
    let pairs = [(1, Flags::FIN), (2, Flags::SYN), (16, Flags::ACK), (64, Flags::ECE), (128, Flags::CWR)];
    let set = pairs.into_iter().filter(|(bit, _)| bits & bit != 0);
    let flags = set.fold(Flags::NONE, |flags, (_, flag)| flags.with(flag));
    (u32::try_from(payload).unwrap_or(0), flags)
}
