//! s2n-quic as a stack of Sojourn: real QUIC packets, sealed by TLS 1.3, under simulated time.
//!
//! What the application writes at once is a stream; they leave in order. An empty stream says that no further one comes.
//!
//! Source: s2n-quic 1.91. Deviations from its defaults: path MTU discovery is off, and packets have the size that it ends with on
//! Ethernet; windows of flow control and the buffer of a stream are 16 MiB, so that they limit nothing; TLS is rustls. Its clock has
//! steps of 1 us, and what is due within the next millisecond is done at once (`Timestamp::has_elapsed`).

mod pump;
#[path = "../../shared/random.rs"]
mod random;
#[path = "../../shared/tls.rs"]
mod tls;

use bytes::Bytes;
use pump::{Outbox, Pump, Taker};
use rustls::crypto::aws_lc_rs;
use s2n_quic::client::{Client, Connect, ConnectionAttempt};
use s2n_quic::connection::Connection;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint as Controller};
use s2n_quic::provider::event::events::{
    BbrState, BbrStateChanged, ConnectionClosed, PacingRateUpdated, PacketLost, RecoveryMetrics,
};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls::{Client as TlsClient, Server as TlsServer};
use s2n_quic::server::Server;
use s2n_quic::stream::{ReceiveStream, SendStream};
use sojourn_stack::{Endpoint, Options, Read, Stack, State, Then, export_stack};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Windows of flow control. chosen: 1 Gb/s times 130 ms.
const WINDOW: u32 = 1 << 24;

/// Streams at a time. chosen: more than pieces that an application writes within a round trip.
const STREAMS: u64 = 1024;

/// A word of ALPN, without which s2n-quic connects nothing.
const PROTOCOL: &[u8] = b"bulk";

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1024);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

struct S2nQuic;

impl Stack for S2nQuic {
    const HEADERS: u32 = 28;
    const CONTROLLERS: &'static CStr = c"cubic bbr";

    fn open(options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        random::seed(options.seed);
        let told = Arc::default();
        let opened = match options.controller.as_str() {
            "" | "cubic" => start(options, Cubic::default(), &told),
            "bbr" => start(options, Bbr::default(), &told),
            _ => return None,
        };
        let (pump, opening) = opened.expect("the configuration is complete");
        let news = Arc::new(News(AtomicBool::new(true)));
        Some(Box::new(End {
            from: if options.is_server { CLIENT } else { SERVER },
            pump,
            out: Outbox::new(),
            arrived: Vec::new(),
            now,
            opening,
            connection: None,
            waker: Arc::clone(&news).into(),
            news,
            told,
            sending: None,
            unfinished: VecDeque::new(),
            acknowledged: 0,
            is_closed: false,
            receiving: None,
            unread: Bytes::new(),
            read_of_stream: 0,
        }))
    }
}

export_stack!(S2nQuic);

type Started = Result<(Box<dyn Pump>, Opening), Box<dyn std::error::Error>>;

/// s2n-quic's defaults with a controller.
fn start(options: &Options, controller: impl Controller, told: &Arc<Mutex<Told>>) -> Started {
    let limits = Limits::new()
        .with_data_window(WINDOW.into())?
        .with_unidirectional_data_window(WINDOW.into())?
        .with_max_send_buffer_size(WINDOW)?
        .with_max_open_local_unidirectional_streams(STREAMS)?
        .with_max_open_remote_unidirectional_streams(STREAMS)?;
    let (taker, listener) = (Taker::default(), Listener(Arc::clone(told)));
    let opening = if options.is_server {
        let mut crypto = tls::server(aws_lc_rs::default_provider())?;
        crypto.alpn_protocols.push(PROTOCOL.to_vec());
        let server = Server::builder()
            .with_tls(TlsServer::from(crypto))?
            .with_io(taker.clone())?
            .with_limits(limits)?
            .with_congestion_controller(controller)?
            .with_event(listener)?
            .start()?;
        Opening::Server(server)
    } else {
        let mut crypto = tls::client(aws_lc_rs::default_provider())?;
        crypto.alpn_protocols.push(PROTOCOL.to_vec());
        let client = Client::builder()
            .with_tls(TlsClient::from(crypto))?
            .with_io(taker.clone())?
            .with_limits(limits)?
            .with_congestion_controller(controller)?
            .with_event(listener)?
            .start()?;
        let attempt = client.connect(Connect::new(SERVER).with_server_name("localhost"));
        Opening::Client { _client: client, attempt }
    };
    Ok((taker.take().ok_or("no endpoint was started")?, opening))
}

/// A connection that does not exist yet, and what keeps its endpoint open.
enum Opening {
    Client { _client: Client, attempt: ConnectionAttempt },
    Server(Server),
}

/// True if s2n-quic has called its application.
struct News(AtomicBool);

impl Wake for News {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// State of the connection, as s2n-quic tells it.
#[derive(Default)]
struct Told {
    state: State,
    smoothed: u64,
}

struct Listener(Arc<Mutex<Told>>);

impl Listener {
    fn tell(&self, tell: impl FnOnce(&mut Told)) {
        if let Ok(mut told) = self.0.lock() {
            tell(&mut told);
        }
    }
}

impl Subscriber for Listener {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_recovery_metrics(&mut self, (): &mut (), _: &ConnectionMeta, event: &RecoveryMetrics) {
        self.tell(|told| {
            told.state.window = event.congestion_window.into();
            told.state.in_flight = event.bytes_in_flight.into();
            told.smoothed = u64::try_from(event.smoothed_rtt.as_nanos()).unwrap_or(u64::MAX);
        });
    }

    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, _: &PacketLost) {
        self.tell(|told| told.state.lost += 1);
    }

    fn on_pacing_rate_updated(&mut self, (): &mut (), _: &ConnectionMeta, event: &PacingRateUpdated) {
        self.tell(|told| told.state.pacing_rate = event.bytes_per_second.saturating_mul(8));
    }

    fn on_bbr_state_changed(&mut self, (): &mut (), _: &ConnectionMeta, event: &BbrStateChanged) {
        let word: &[u8] = match event.state {
            BbrState::Startup { .. } => b"Startup",
            BbrState::Drain { .. } => b"Drain",
            BbrState::ProbeBwDown { .. } => b"ProbeBW_DOWN",
            BbrState::ProbeBwCruise { .. } => b"ProbeBW_CRUISE",
            BbrState::ProbeBwRefill { .. } => b"ProbeBW_REFILL",
            BbrState::ProbeBwUp { .. } => b"ProbeBW_UP",
            BbrState::ProbeRtt { .. } => b"ProbeRTT",
            _ => b"",
        };
        self.tell(|told| {
            told.state.phase = [0; 32];
            told.state.phase[..word.len()].copy_from_slice(word);
        });
    }

    fn on_connection_closed(&mut self, (): &mut (), _: &ConnectionMeta, _: &ConnectionClosed) {
        // Its application never closes the connection: streams end.
        self.tell(|told| told.state.has_failed = true);
    }
}

struct End {
    from: SocketAddr,
    pump: Box<dyn Pump>,
    out: Outbox,
    /// The datagram that arrives, which is opened in its place.
    arrived: Vec<u8>,
    /// Time of the last call.
    now: u64,
    opening: Opening,
    connection: Option<Connection>,
    waker: Waker,
    news: Arc<News>,
    told: Arc<Mutex<Told>>,
    /// The stream that is written, its number, and its bytes so far.
    sending: Option<(u32, SendStream, u64)>,
    /// Streams that have ended and are not acknowledged, with their bytes, in order.
    unfinished: VecDeque<(SendStream, u64)>,
    /// Bytes of the streams before them.
    acknowledged: u64,
    is_closed: bool,
    /// The peer's stream that is read, and its number.
    receiving: Option<(u32, ReceiveStream)>,
    /// Bytes that have left the stream and not reached the application.
    unread: Bytes,
    read_of_stream: u64,
}

impl End {
    /// Looks at what s2n-quic has for its application.
    fn settle(&mut self) {
        if !self.news.0.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut context = Context::from_waker(&self.waker);
        if self.connection.is_none() {
            self.connection = match &mut self.opening {
                Opening::Client { attempt, .. } => match Pin::new(attempt).poll(&mut context) {
                    Poll::Ready(Ok(connection)) => Some(connection),
                    _ => None,
                },
                Opening::Server(server) => match server.poll_accept(&mut context) {
                    Poll::Ready(connection) => connection,
                    Poll::Pending => None,
                },
            };
        }
        while let Some((stream, bytes)) = self.unfinished.front_mut() {
            let Poll::Ready(Ok(())) = stream.poll_close(&mut context) else {
                break;
            };
            self.acknowledged += *bytes;
            self.unfinished.pop_front();
        }
    }

    /// Opens the stream of this number, which is none that was opened before.
    fn open_stream(&mut self, number: u32) -> bool {
        let mut context = Context::from_waker(&self.waker);
        let opened = self.connection.as_mut().map(|connection| connection.poll_open_send_stream(&mut context));
        let Some(Poll::Ready(Ok(stream))) = opened else {
            return false;
        };
        self.sending = Some((number, stream, 0));
        true
    }

    /// Ends the stream that is written.
    fn finish(&mut self) {
        if let Some((_, mut stream, bytes)) = self.sending.take() {
            // A stream that the peer has stopped needs no end.
            let _ = stream.finish();
            self.unfinished.push_back((stream, bytes));
            self.news.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Endpoint for End {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        self.now = now;
        self.arrived.clear();
        self.arrived.extend_from_slice(bytes);
        self.pump.receive(now, self.from.into(), &mut self.arrived, ecn);
        self.settle();
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        self.now = now;
        if self.out.is_empty() {
            // An attempt to connect is handed over when it is polled.
            self.settle();
            self.pump.transmit(now, &mut self.out);
            self.settle();
        }
        let (bytes, ecn) = self.out.next()?;
        buffer.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some((bytes.len(), ecn))
    }

    fn timeout(&mut self) -> Option<u64> {
        // What was due is done; a time that is past would be one of the last us.
        self.pump.timeout().map(|due| due.max(self.now + 1))
    }

    fn write(&mut self, _now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        if self.sending.as_ref().is_none_or(|(number, ..)| *number != stream) && !self.open_stream(stream) {
            return 0;
        }
        let Some((_, stream, sent)) = &mut self.sending else {
            return 0;
        };
        let Poll::Ready(Ok(room)) = stream.poll_send_ready(&mut Context::from_waker(&self.waker)) else {
            return 0;
        };
        let taken = room.min(bytes.len());
        if stream.send_data(Bytes::copy_from_slice(&bytes[..taken])).is_err() {
            return 0;
        }
        *sent += taken as u64;
        if fin && taken == bytes.len() {
            self.finish();
        }
        taken
    }

    fn read(&mut self, _now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        let mut read = Read::default();
        let mut context = Context::from_waker(&self.waker);
        let Some(connection) = &mut self.connection else {
            return read;
        };
        if self.receiving.as_ref().is_none_or(|(number, _)| *number != stream) {
            let Poll::Ready(Ok(Some(next))) = connection.poll_accept_receive_stream(&mut context) else {
                return read;
            };
            self.receiving = Some((stream, next));
        }
        let Some((_, receiving)) = &mut self.receiving else {
            return read;
        };
        while read.bytes < buffer.len() {
            if self.unread.is_empty() {
                match receiving.poll_receive(&mut context) {
                    Poll::Ready(Ok(Some(chunk))) => self.unread = chunk,
                    Poll::Ready(Ok(None)) => {
                        let is_empty = self.read_of_stream + read.bytes as u64 == 0;
                        read.then = if is_empty { Then::Closed } else { Then::NextStream };
                        break;
                    }
                    Poll::Ready(Err(_)) | Poll::Pending => break,
                }
            }
            let part = self.unread.split_to(self.unread.len().min(buffer.len() - read.bytes));
            buffer[read.bytes..read.bytes + part.len()].copy_from_slice(&part);
            read.bytes += part.len();
        }
        self.read_of_stream = if read.then == Then::More { self.read_of_stream + read.bytes as u64 } else { 0 };
        read
    }

    fn close(&mut self, _now: u64) {
        if !self.is_closed && self.open_stream(u32::MAX) {
            self.finish();
            self.is_closed = true;
        }
    }

    fn state(&self) -> State {
        let is_connected = self.connection.is_some();
        let told = self.told.lock().map_or_else(
            |_| State::default(),
            |told| State { smoothed: if is_connected { told.smoothed } else { 0 }, ..told.state },
        );
        State {
            acknowledged: self.acknowledged,
            is_connected,
            is_finished: self.is_closed && self.unfinished.is_empty(),
            ..told
        }
    }
}
