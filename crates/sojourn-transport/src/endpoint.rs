//! One end of a connection, over whichever transport its stack says.

use crate::common::role::Role;
use crate::config::StackConfig;
use crate::congestion::ControllerState;
use crate::library::{LibraryEndpoint, LibraryStack};
use crate::quic::QuicEndpoint;
use crate::{
    CongestionSnapshot, ConnectionSnapshot, ConnectionStatistics, EndpointContext, Segment, TcpEndpoint, Timer,
};
use alloc::boxed::Box;
use alloc::sync::Arc;
use sojourn_base::native::{Native, native};
use sojourn_base::{BitRate, Instant};

/// One end of a connection: TCP, or QUIC if the stack's [`LossDetection`](crate::config::LossDetection) is that of RFC 9002.
///
/// The calls are those of [`TcpEndpoint`], which says what they do.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are TCP, and no pointer is followed to them")]
pub enum Endpoint {
    /// TCP.
    Tcp(TcpEndpoint),
    /// QUIC.
    Quic(Native<Box<QuicEndpoint>>),
    /// A library of others.
    Library(Native<Box<LibraryEndpoint>>),
}

/// The same call of either.
macro_rules! either {
    ($self:expr, $endpoint:ident => $call:expr) => {
        match $self {
            Endpoint::Tcp($endpoint) => $call,
            Endpoint::Quic($endpoint) => $call,
            Endpoint::Library($endpoint) => $call,
        }
    };
}

impl Endpoint {
    /// Bytes that a new one takes beside itself.
    pub const INITIAL_BYTES: usize = TcpEndpoint::INITIAL_BYTES;

    /// The end that opens the connection.
    pub fn client(config: &Arc<StackConfig>) -> Self {
        Self::new(Role::Client, config)
    }

    /// The end that waits for it.
    pub fn server(config: &Arc<StackConfig>) -> Self {
        Self::new(Role::Server, config)
    }

    /// Both ends of a connection of a library, the client's first, with a seed each. `config` tells queues and records the sizes
    /// of packets.
    pub fn of_library(stack: &LibraryStack, seeds: [u64; 2], config: &Arc<StackConfig>) -> [Self; 2] {
        let end = |role, seed| {
            let end = native(|| Box::new(LibraryEndpoint::new(role, stack, seed, config)));
            end.map_or_else(|| Self::new(role, config), Self::Library)
        };
        [end(Role::Client, seeds[0]), end(Role::Server, seeds[1])]
    }

    fn new(role: Role, config: &Arc<StackConfig>) -> Self {
        if config.loss_detection.is_quic()
            && let Some(endpoint) = native(|| Box::new(QuicEndpoint::new(role, config)))
        {
            return Self::Quic(endpoint);
        }
        Self::Tcp(TcpEndpoint::new(role, config))
    }

    /// Become a new connection of the same role with `config`, reusing the memory of this one where that is possible. The
    /// caller forgets this endpoint's timers.
    pub fn reset(&mut self, config: &Arc<StackConfig>) {
        match self {
            Self::Tcp(endpoint) if !config.loss_detection.is_quic() => endpoint.reset(config),
            Self::Tcp(endpoint) => *self = Self::new(endpoint.role(), config),
            Self::Quic(endpoint) => *self = Self::new(endpoint.role(), config),
            Self::Library(endpoint) => *self = Self::new(endpoint.role(), config),
        }
    }

    /// See [`TcpEndpoint::bytes`].
    pub fn bytes(&self) -> usize {
        either!(self, endpoint => endpoint.bytes())
    }

    /// Parameters.
    pub fn config(&self) -> &StackConfig {
        either!(self, endpoint => endpoint.config())
    }

    /// Counters so far.
    pub fn statistics(&self) -> &ConnectionStatistics {
        either!(self, endpoint => endpoint.statistics())
    }

    /// Returns true if both sides are closed and acknowledged.
    pub fn is_closed(&self) -> bool {
        either!(self, endpoint => endpoint.is_closed())
    }

    /// See [`TcpEndpoint::congestion`].
    pub fn congestion(&self) -> CongestionSnapshot {
        either!(self, endpoint => endpoint.congestion())
    }

    /// See [`TcpEndpoint::controller`].
    pub fn controller(&self) -> (ControllerState, Option<BitRate>) {
        either!(self, endpoint => endpoint.controller())
    }

    /// This end at this moment.
    pub fn snapshot(&self) -> ConnectionSnapshot {
        either!(self, endpoint => endpoint.snapshot())
    }

    /// See [`TcpEndpoint::is_consistent`].
    pub fn is_consistent(&self) -> bool {
        either!(self, endpoint => endpoint.is_consistent())
    }

    /// See [`TcpEndpoint::take_no_shortcuts`]; QUIC has none.
    pub const fn take_no_shortcuts(&mut self) {
        if let Self::Tcp(endpoint) = self {
            endpoint.take_no_shortcuts();
        }
    }

    /// Start connecting (client only).
    pub fn open(&mut self, now: Instant, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.open(now, context));
    }

    /// The client's data leaves before the connection is established: 0-RTT of QUIC; TCP has none.
    pub fn send_early(&mut self) {
        if let Self::Quic(endpoint) = self {
            endpoint.send_early();
        }
    }

    /// The application has `bytes` more to send; `u64::MAX` means without end.
    pub fn write(&mut self, now: Instant, bytes: u64, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.write(now, bytes, context));
    }

    /// The application holds back data without end that have not left yet, until it writes again.
    pub fn hold(&mut self, now: Instant, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.hold(now, context));
    }

    /// The application will write no more.
    pub fn close(&mut self, now: Instant, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.close(now, context));
    }

    /// Drop all state without telling the peer.
    pub fn abort(&mut self, now: Instant, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.abort(now, context));
    }

    /// A segment arrives, with the ECN field as the path has left it.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, context: &mut impl EndpointContext) {
        match self {
            Self::Tcp(endpoint) => endpoint.on_segment(now, segment, context),
            Self::Quic(endpoint) => endpoint.on_segment(now, segment, context),
            Self::Library(_) => {}
        }
    }

    /// A datagram of a library arrives: `segment`, which stands for it, and its bytes. No other transport has any.
    pub fn on_datagram(&mut self, now: Instant, segment: &Segment, bytes: &[u8], context: &mut impl EndpointContext) {
        if let Self::Library(endpoint) = self {
            endpoint.on_datagram(now, segment, bytes, context);
        }
    }

    /// Code beside the run, which has a clock of its own, has something to send or to tell; see `library::Clock`.
    pub fn on_outside(&mut self, now: Instant, context: &mut impl EndpointContext) {
        if let Self::Library(endpoint) = self {
            endpoint.on_outside(now, context);
        }
    }

    /// A timer may be due.
    pub fn on_timer(&mut self, now: Instant, timer: Timer, context: &mut impl EndpointContext) {
        either!(self, endpoint => endpoint.on_timer(now, timer, context));
    }
}
