//! quinn-proto as a stack of Sojourn: real QUIC packets, sealed by TLS 1.3, under simulated time.
//!
//! What the application writes at once is a stream; they leave in order. An empty stream says that no further one comes.
//!
//! Source: quinn-proto 0.11. Deviations from its defaults: path MTU discovery is off, and packets have the size that it ends
//! with on Ethernet, 1452 B of UDP payload; windows of flow control are 16 MiB, so that they limit nothing.

#[path = "../../shared/random.rs"]
mod random;
#[path = "../../shared/tls.rs"]
mod tls;

use bytes::BytesMut;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, EndpointConfig, Event, ReadError, ServerConfig, Side, StreamEvent, StreamId, TransportConfig, VarInt,
};
use rustls::crypto::ring;
use sojourn_stack::{Endpoint, Options, Read, Stack, State, Then, export_stack};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of UDP payload: quinn's upper bound of path MTU discovery (`MtuDiscoveryConfig`).
const PAYLOAD: u16 = 1452;

/// Windows of flow control. chosen: 1 Gb/s times 130 ms.
const WINDOW: u32 = 1 << 24;

/// Streams at a time. chosen: more than pieces that an application writes within a round trip.
const STREAMS: u32 = 1024;

/// Timers that may follow each other at one time. chosen: quinn has eight.
const TIMERS: usize = 32;

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// quinn-proto.
#[derive(Debug)]
pub struct Quinn;

impl Stack for Quinn {
    const HEADERS: u32 = 28;
    const CONTROLLERS: &'static CStr = c"cubic reno bbr";

    fn open(options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        let controller: Arc<dyn ControllerFactory + Send + Sync> = match options.controller.as_str() {
            "" | "cubic" => Arc::new(CubicConfig::default()),
            "reno" => Arc::new(NewRenoConfig::default()),
            "bbr" => Arc::new(BbrConfig::default()),
            _ => return None,
        };
        Some(open(options, controller, now))
    }
}

export_stack!(Quinn);

/// Opens an end with a controller, whichever `options` names.
pub fn open(options: &Options, controller: Arc<dyn ControllerFactory + Send + Sync>, now: u64) -> Box<dyn Endpoint> {
    random::seed(options.seed);
    let transport = Arc::new(transport(controller));
    let mut config = EndpointConfig::default();
    config.cid_generator(|| Box::new(Numbers)).rng_seed(Some(seed_bytes(options.seed)));
    let config = Arc::new(config);
    let base = Instant::now();
    let at = base + Duration::from_nanos(now);
    let (endpoint, connection) = if options.is_server {
        let crypto = tls::server(ring::default_provider()).expect("the certificate is valid");
        let crypto = QuicServerConfig::try_from(crypto).expect("the ring has a cipher of QUIC");
        let mut server = ServerConfig::with_crypto(Arc::new(crypto));
        server.transport_config(transport);
        (quinn_proto::Endpoint::new(config, Some(Arc::new(server)), false, None), None)
    } else {
        let crypto = tls::client(ring::default_provider()).expect("the ring has TLS 1.3");
        let crypto = QuicClientConfig::try_from(crypto).expect("the ring has a cipher of QUIC");
        let mut client = ClientConfig::new(Arc::new(crypto));
        client.transport_config(transport);
        let mut endpoint = quinn_proto::Endpoint::new(config, None, false, None);
        let connection = endpoint.connect(at, client, SERVER, "localhost").expect("the configuration is complete");
        (endpoint, Some(connection))
    };
    Box::new(End {
        base,
        is_server: options.is_server,
        endpoint,
        connection,
        out: Vec::new(),
        is_connected: false,
        has_failed: false,
        sending: None,
        unfinished: VecDeque::new(),
        acknowledged: 0,
        is_closed: false,
        accepted: 0,
        read_of_stream: 0,
    })
}

/// quinn's defaults with a controller.
fn transport(controller: Arc<dyn ControllerFactory + Send + Sync>) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(controller)
        .mtu_discovery_config(None)
        .initial_mtu(PAYLOAD)
        .send_fairness(false)
        .max_concurrent_uni_streams(STREAMS.into())
        .send_window(WINDOW.into())
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW));
    transport
}

fn seed_bytes(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes
}

/// Connection IDs of 8 bytes, as quinn's own.
struct Numbers;

impl ConnectionIdGenerator for Numbers {
    fn generate_cid(&mut self) -> quinn_proto::ConnectionId {
        quinn_proto::ConnectionId::new(&random::next().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A stream that is not acknowledged.
struct Unfinished {
    id: StreamId,
    bytes: u64,
    is_acknowledged: bool,
}

struct End {
    /// Instant of time zero.
    base: Instant,
    is_server: bool,
    endpoint: quinn_proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    out: Vec<u8>,
    is_connected: bool,
    has_failed: bool,
    /// Number and ID of the stream that is written.
    sending: Option<(u32, StreamId)>,
    /// The streams of which not all is acknowledged, in order.
    unfinished: VecDeque<Unfinished>,
    /// Bytes of the streams before them.
    acknowledged: u64,
    is_closed: bool,
    /// Streams of the peer so far, and the bytes that were read of the one that is read.
    accepted: u32,
    read_of_stream: u64,
}

impl End {
    fn at(&self, now: u64) -> Instant {
        self.base + Duration::from_nanos(now)
    }

    /// Brings events of the connection to where they are needed.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::ConnectionLost { reason } => {
                    self.has_failed = !matches!(reason, ConnectionError::LocallyClosed);
                }
                Event::Stream(StreamEvent::Finished { id }) => {
                    if let Some(stream) = self.unfinished.iter_mut().find(|stream| stream.id == id) {
                        stream.is_acknowledged = true;
                    }
                    while self.unfinished.front().is_some_and(|stream| stream.is_acknowledged) {
                        self.acknowledged += self.unfinished.pop_front().map_or(0, |stream| stream.bytes);
                    }
                }
                _ => {}
            }
        }
        while connection.streams().accept(Dir::Uni).is_some() {
            self.accepted += 1;
        }
    }

    /// Ends the stream that is written.
    fn finish(&mut self) {
        if let (Some((_, id)), Some((_, connection))) = (self.sending, &mut self.connection) {
            // A stream that the peer has stopped needs no end.
            let _ = connection.send_stream(id).finish();
        }
    }

    /// Opens the stream of this number, which is none that was opened before.
    fn open_stream(&mut self, number: u32) -> Option<StreamId> {
        let (_, connection) = self.connection.as_mut().filter(|_| self.is_connected)?;
        let id = connection.streams().open(Dir::Uni)?;
        self.sending = Some((number, id));
        self.unfinished.push_back(Unfinished { id, bytes: 0, is_acknowledged: false });
        Some(id)
    }
}

impl Endpoint for End {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        let at = self.at(now);
        let from = if self.is_server { CLIENT } else { SERVER };
        self.out.clear();
        let event =
            self.endpoint.handle(at, from, None, EcnCodepoint::from_bits(ecn), BytesMut::from(bytes), &mut self.out);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.out.clear();
                match self.endpoint.accept(incoming, at, &mut self.out, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(_) => self.has_failed = true,
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle();
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        let at = self.at(now);
        for _ in 0..TIMERS {
            let (_, connection) = self.connection.as_mut()?;
            if connection.poll_timeout().is_some_and(|due| due <= at) {
                connection.handle_timeout(at);
                self.settle();
            }
            self.out.clear();
            let (_, connection) = self.connection.as_mut()?;
            if let Some(sent) = connection.poll_transmit(at, 1, &mut self.out) {
                self.settle();
                buffer.get_mut(..sent.size)?.copy_from_slice(&self.out[..sent.size]);
                return Some((sent.size, sent.ecn.map_or(0, |ecn| ecn as u8)));
            }
            if connection.poll_timeout().is_none_or(|due| due > at) {
                break;
            }
        }
        self.settle();
        None
    }

    fn timeout(&mut self) -> Option<u64> {
        let due = self.connection.as_mut()?.1.poll_timeout()?;
        let after = due.saturating_duration_since(self.base).as_nanos();
        Some(u64::try_from(after).unwrap_or(u64::MAX - 1))
    }

    fn write(&mut self, _now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        let id = match self.sending {
            Some((number, id)) if number == stream => Some(id),
            _ => self.open_stream(stream),
        };
        let (Some(id), Some((_, connection))) = (id, &mut self.connection) else {
            return 0;
        };
        let taken = connection.send_stream(id).write(bytes).unwrap_or(0);
        if let Some(last) = self.unfinished.back_mut() {
            last.bytes += taken as u64;
        }
        if fin && taken == bytes.len() {
            self.finish();
        }
        taken
    }

    fn read(&mut self, _now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        let mut read = Read::default();
        let Some((_, connection)) = self.connection.as_mut().filter(|_| stream < self.accepted) else {
            return read;
        };
        let peer = if self.is_server { Side::Client } else { Side::Server };
        let mut stream = connection.recv_stream(StreamId::new(peer, Dir::Uni, stream.into()));
        let Ok(mut chunks) = stream.read(true) else {
            return read;
        };
        while read.bytes < buffer.len() {
            match chunks.next(buffer.len() - read.bytes) {
                Ok(Some(chunk)) => {
                    let end = read.bytes + chunk.bytes.len();
                    buffer[read.bytes..end].copy_from_slice(&chunk.bytes);
                    read.bytes = end;
                }
                Ok(None) => {
                    let is_empty = self.read_of_stream + read.bytes as u64 == 0;
                    read.then = if is_empty { Then::Closed } else { Then::NextStream };
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(_)) => {
                    self.has_failed = true;
                    break;
                }
            }
        }
        // Credit of flow control leaves with the next packet.
        let _ = chunks.finalize();
        self.read_of_stream = if read.then == Then::More { self.read_of_stream + read.bytes as u64 } else { 0 };
        read
    }

    fn close(&mut self, _now: u64) {
        if !self.is_closed && self.open_stream(u32::MAX).is_some() {
            self.finish();
            self.is_closed = true;
        }
    }

    fn state(&self) -> State {
        let mut state = State {
            acknowledged: self.acknowledged,
            is_connected: self.is_connected,
            is_finished: self.is_closed && self.unfinished.is_empty(),
            has_failed: self.has_failed,
            ..State::default()
        };
        if let Some((_, connection)) = &self.connection {
            let metrics = connection.congestion_state().metrics();
            state.window = metrics.congestion_window;
            state.threshold = metrics.ssthresh.filter(|bytes| *bytes < u64::MAX).unwrap_or(0);
            state.pacing_rate = metrics.pacing_rate.unwrap_or(0);
            if self.is_connected {
                state.smoothed = u64::try_from(connection.rtt().as_nanos()).unwrap_or(u64::MAX);
                state.lost = connection.stats().path.lost_packets;
            }
        }
        state
    }
}
