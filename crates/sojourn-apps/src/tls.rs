//! TLS: the flights that a connection exchanges before its first request, below any application.
//!
//! | handshake | over TCP, after its own round trip | over QUIC |
//! |---|---|---|
//! | `tls1.2` | two round trips | refused: QUIC has TLS 1.3 |
//! | `tls1.3` | one round trip | none: the hellos ride in the first packets |
//! | `0-rtt` | none: the request follows the hello | the request leaves with the first packet |
//!
//! A flight is data of the connection, subject to windows, queues and losses. The application above sees only its own
//! bytes, and a connection that is established later.
//!
//! Source: RFC 5246 section 7.3 and RFC 5288 (1.2), RFC 8446 sections 2, 2.3 and appendix D.4 (1.3, early data), RFC 9001
//! sections 4.1 and 4.6 (QUIC). Sizes: RFC 8446 sections 4 and 5.2, with P-256 keys, ECDSA signatures, SHA-256 and AES-GCM-128.
//! Deviations: the 22 B of each record of application data and session tickets are left out. A server takes all early data. A client
//! that resumes over QUIC has a token (RFC 9000 section 8.1.3), so its server may answer at length.

use crate::connections::Connections;
use crate::{Application, ApplicationContext, ConnectionId, Draw, End, Event, Interest, Report};
use core::any::Any;
use sojourn_base::native::IN_TAB;
use sojourn_base::{Bytes, Direction, Instant};
use sojourn_keys::{Mismatch, choices, origin, parameters};
use std::collections::VecDeque;

parameters! {
    /// Sizes of a full handshake.
    #[derive(Copy, Eq)]
    pub struct Flights {
        /// bytes of the client's hello; over QUIC it fits into the first packet
        hello: Bytes = Bytes(517), origin("RFC 7685 §4: padded to 512 B; RFC 8446 §5.1: 5 B of a record").least("40 B").most("64 KiB");
        /// bytes of the server's certificates
        certificates: Bytes = Bytes(2_500),
            origin("chosen: two certificates, between 1.5 to 2 kB (ECDSA) and 3 to 5 kB (RSA)").least("0 B").most("64 KiB");
    }
}

choices! {
    /// How a connection is secured before its first request.
    #[derive(Copy, Eq)]
    pub enum Tls {
        /// not at all: as in the studies
        Off = "off",
        /// TLS 1.2: two round trips more than TCP
        Full12(flights: Flights = Flights::BASE) = "tls1.2",
        /// TLS 1.3: one round trip more than TCP, none more than QUIC
        Full13(flights: Flights = Flights::BASE) = "tls1.3",
        /// TLS 1.3 resumed, with the request as early data
        Resumed {
            /// bytes of the client's hello, its ticket included; over QUIC it fits into the first packet
            hello: Bytes = Bytes(517), origin("RFC 7685 §4: padded to 512 B; RFC 8446 §5.1: 5 B of a record").least("40 B").most("64 KiB");
        } = "0-rtt",
    }
}

/// RFC 5246 7.4: ServerHello 87 B, Certificate 18 B beside the certificates, ServerKeyExchange 154 B, ServerHelloDone 9 B.
const SERVER_HELLO_12: u64 = 268;
/// RFC 5246 7.4.7 and 7.4.9: ClientKeyExchange 75 B, ChangeCipherSpec 6 B, Finished 45 B.
const CLIENT_FINISHED_12: u64 = 126;
/// ChangeCipherSpec 6 B, Finished 45 B.
const SERVER_FINISHED_12: u64 = 51;
/// RFC 8446 4: ServerHello 127 B, ChangeCipherSpec 6 B, EncryptedExtensions 37 B, Certificate 40 B beside the certificates,
/// CertificateVerify 102 B, Finished 58 B.
const SERVER_HELLO_13: u64 = 370;
/// ChangeCipherSpec 6 B, Finished 58 B.
const CLIENT_FINISHED_13: u64 = 64;
/// RFC 8446 2.3: ServerHello with its key 133 B, ChangeCipherSpec 6 B, EncryptedExtensions 41 B, Finished 58 B.
const SERVER_HELLO_RESUMED: u64 = 238;
/// EndOfEarlyData 26 B, Finished 58 B.
const CLIENT_FINISHED_RESUMED: u64 = 84;
/// RFC 8446 D.4: a ChangeCipherSpec follows a hello with early data.
const CHANGE_CIPHER_SPEC: u64 = 6;
/// RFC 9001 4.1: as [`SERVER_HELLO_13`] without heads of records, with 55 B of transport parameters.
const SERVER_HELLO_QUIC: u64 = 360;
/// Bytes of it that fit into the server's first packet. RFC 9000 14.1: 1200 B less IP and UDP (28 B), an Initial and a
/// Handshake head with their frames and tags.
const FIRST_PACKET: u64 = 1_050;
/// A Handshake packet with a Finished of 36 B: head 29 B, frame 4 B, tag 16 B.
const CLIENT_FINISHED_QUIC: u64 = 85;

impl Tls {
    /// The application over connections that are secured in this way.
    pub(crate) fn secure(self, application: impl Application + 'static) -> Box<dyn Application> {
        if IN_TAB || self == Self::Off {
            return Box::new(application);
        }
        let layer = Layer { tls: self, connections: Connections::default(), ready: VecDeque::new() };
        Box::new(Secured { application, layer })
    }

    /// The problem of this handshake over QUIC.
    pub fn problem_over_quic(&self) -> Option<Mismatch> {
        (!IN_TAB && matches!(self, Self::Full12(_))).then(|| {
            Mismatch::new(
                "QUIC has TLS 1.3 inside, and no TLS 1.2 (RFC 9001 §4.2)",
                "tls1.3, or 0-rtt for a visit that resumes",
            )
        })
    }

    /// Returns the bytes of each flight over TCP, the client's first.
    const fn flights(self) -> [u64; 4] {
        match self {
            Self::Off => [0; 4],
            Self::Full12(it) => {
                [it.hello.0, SERVER_HELLO_12 + it.certificates.0, CLIENT_FINISHED_12, SERVER_FINISHED_12]
            }
            Self::Full13(it) => [it.hello.0, SERVER_HELLO_13 + it.certificates.0, CLIENT_FINISHED_13, 0],
            Self::Resumed { hello } => [hello.0 + CHANGE_CIPHER_SPEC, SERVER_HELLO_RESUMED, CLIENT_FINISHED_RESUMED, 0],
        }
    }

    /// Returns the bytes of each flight over QUIC, beside the ends' first packets.
    const fn flights_over_quic(self) -> [u64; 4] {
        let more = match self {
            Self::Full12(it) | Self::Full13(it) => (SERVER_HELLO_QUIC + it.certificates.0).saturating_sub(FIRST_PACKET),
            Self::Off | Self::Resumed { .. } => 0,
        };
        [0, more, CLIENT_FINISHED_QUIC, 0]
    }
}

/// An application whose connections are secured.
#[derive(Debug)]
struct Secured<A> {
    application: A,
    layer: Layer,
}

/// The handshakes below an application.
#[derive(Debug)]
struct Layer {
    tls: Tls,
    connections: Connections<Handshake>,
    /// Connections that the application may use from now on, and has no event of yet.
    ready: VecDeque<ConnectionId>,
}

/// The handshake of one connection.
#[derive(Debug)]
struct Handshake {
    /// Bytes of the flights of client and server in turn.
    flights: [u64; 4],
    /// Flights that were said.
    said: usize,
    /// Flights after which the application may write.
    opens_after: usize,
    is_connected: bool,
    /// The application may write.
    is_open: bool,
    /// Ends: client, server.
    ends: [Stream; 2],
}

/// Data of one end: flights and bytes of the application.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Bytes of the application.
    written: u64,
    is_closed: bool,
    /// The bytes of the application before each flight, and those of the flight.
    flights: [(u64, u64); 2],
    count: usize,
    /// Bytes of both that have arrived.
    arrived: u64,
    /// Bytes of the application that the other end waits for.
    awaited: u64,
}

impl Stream {
    /// All flights so far have arrived.
    fn is_heard(&self) -> bool {
        let bytes: u64 = self.flights[..self.count].iter().map(|flight| flight.1).sum();
        self.count == 0 || self.arrived >= self.flights[self.count - 1].0 + bytes
    }

    /// How many of the first `total` bytes are the application's.
    fn of_application(&self, total: u64) -> u64 {
        self.flights[..self.count]
            .iter()
            .fold(total, |inner, (before, bytes)| inner - inner.saturating_sub(*before).min(*bytes))
    }

    /// How many bytes there are when `inner` of them are the application's.
    fn in_total(&self, inner: u64) -> u64 {
        let passed = self.flights[..self.count].iter().filter(|(before, _)| *before < inner);
        inner.saturating_add(passed.map(|flight| flight.1).sum())
    }
}

impl Handshake {
    fn new(tls: Tls, is_quic: bool) -> Self {
        let flights = if is_quic { tls.flights_over_quic() } else { tls.flights() };
        let opens_after = match tls {
            Tls::Off => 0,
            Tls::Full12(_) => 4,
            Tls::Full13(_) => 3,
            Tls::Resumed { .. } => 1,
        };
        Self { flights, said: 0, opens_after, is_connected: false, is_open: false, ends: [Stream::default(); 2] }
    }

    /// The end that says a flight.
    const fn speaker(flight: usize) -> End {
        if flight.is_multiple_of(2) { End::Client } else { End::Server }
    }

    fn say(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        let (end, bytes) = (Self::speaker(self.said), self.flights[self.said]);
        self.said += 1;
        let stream = &mut self.ends[end as usize];
        if bytes > 0 && !stream.is_closed {
            stream.flights[stream.count] = (stream.written, bytes);
            stream.count += 1;
            context.write(connection, end, bytes);
        }
    }

    /// Says what answers the flights that have arrived.
    fn go_on(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        while self.is_connected
            && self.said < self.flights.len()
            && (self.said == 0 || self.ends[Self::speaker(self.said - 1) as usize].is_heard())
        {
            self.say(connection, context);
        }
    }

    /// Returns true if the application may write from now on.
    fn opens(&mut self) -> bool {
        let was_open = self.is_open;
        self.is_open |= self.said >= self.opens_after && self.ends[End::Server as usize].is_heard();
        self.is_open && !was_open
    }

    /// Nothing is left to say, and the client has heard all of it.
    fn is_over(&self) -> bool {
        self.said == self.flights.len() && self.ends[End::Server as usize].is_heard()
    }
}

impl Layer {
    fn opened(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        let is_quic = context.is_quic();
        let mut handshake = Handshake::new(self.tls, is_quic);
        if is_quic {
            // The hello rides in the first packet of the client, and what answers it leaves when that arrives.
            handshake.say(connection, context);
            handshake.say(connection, context);
            if matches!(self.tls, Tls::Resumed { .. }) {
                context.send_early(connection);
                handshake.is_open = true;
                self.ready.push_back(connection);
            }
        }
        self.connections.insert(connection, handshake);
    }

    /// An event of the connections below: the application's view of it, if it has one.
    fn on_event(&mut self, event: Event, context: &mut dyn ApplicationContext) -> Option<Event> {
        let connection = match event {
            Event::Connected(connection, End::Client) => connection,
            Event::Delivered(connection, end, total) => {
                let stream = &mut self.connections.get_mut(connection)?.ends[other(end)];
                stream.arrived = total;
                connection
            }
            Event::Early(connection, end, first, below) => {
                let stream = &self.connections.get_mut(connection)?.ends[other(end)];
                let (first, below) = (stream.of_application(first), stream.of_application(below));
                return (below > first).then_some(Event::Early(connection, end, first, below));
            }
            Event::Acknowledged(connection, end, total) => {
                let inner = self.connections.get_mut(connection)?.ends[end as usize].of_application(total);
                return (inner > 0).then_some(Event::Acknowledged(connection, end, inner));
            }
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.connections.remove(connection);
                return Some(event);
            }
            Event::Connected(_, End::Server) | Event::Timer(_) | Event::PeerClosed(..) | Event::Datagram(..) => {
                return Some(event);
            }
        };
        let handshake = self.connections.get_mut(connection)?;
        let was_over = handshake.is_over();
        handshake.is_connected |= matches!(event, Event::Connected(..));
        handshake.go_on(connection, context);
        if handshake.opens() {
            self.ready.push_back(connection);
        }
        if handshake.is_over() && !was_over {
            for end in [End::Client, End::Server] {
                let stream = &handshake.ends[other(end)];
                context.await_delivered(connection, end, stream.in_total(stream.awaited));
            }
        }
        let Event::Delivered(_, end, total) = event else {
            return None;
        };
        let stream = &handshake.ends[other(end)];
        let inner = stream.of_application(total);
        (inner > 0 && inner >= stream.awaited).then_some(Event::Delivered(connection, end, inner))
    }
}

/// Index of the stream that arrives at `end`.
const fn other(end: End) -> usize {
    1 - end as usize
}

impl<A: Application> Secured<A> {
    fn call(
        &mut self,
        now: Instant,
        context: &mut dyn ApplicationContext,
        act: impl FnOnce(&mut A, &mut dyn ApplicationContext),
    ) {
        act(&mut self.application, &mut Above { layer: &mut self.layer, context });
        while let Some(connection) = self.layer.ready.pop_front() {
            let event = Event::Connected(connection, End::Client);
            self.application.on_event(now, event, &mut Above { layer: &mut self.layer, context });
        }
    }
}

impl<A: Application> Application for Secured<A> {
    fn interest(&self) -> Interest {
        Interest { delivered: true, ..self.application.interest() }
    }

    fn bytes(&self) -> usize {
        self.application.bytes() + self.layer.connections.bytes()
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.call(now, context, |application, above| application.start(now, above));
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        let event = self.layer.on_event(event, context);
        self.call(now, context, |application, above| {
            if let Some(event) = event {
                application.on_event(now, event, above);
            }
        });
    }

    fn retune(&mut self, now: Instant, to: &dyn Any, context: &mut dyn ApplicationContext) {
        self.call(now, context, |application, above| application.retune(now, to, above));
    }

    fn pause(&mut self, now: Instant, is_paused: bool, context: &mut dyn ApplicationContext) {
        self.call(now, context, |application, above| application.pause(now, is_paused, above));
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.application.finish(now, &mut Above { layer: &mut self.layer, context });
    }
}

/// The context of an application whose connections are secured.
struct Above<'a> {
    layer: &'a mut Layer,
    context: &'a mut dyn ApplicationContext,
}

impl ApplicationContext for Above<'_> {
    fn inner(&mut self) -> Option<&mut (dyn ApplicationContext + '_)> {
        Some(self.context)
    }

    fn open(&mut self, server: usize) -> ConnectionId {
        let connection = self.context.open(server);
        self.layer.opened(connection, self.context);
        connection
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        if let Some(handshake) = self.layer.connections.get_mut(connection) {
            let stream = &mut handshake.ends[end as usize];
            stream.written = stream.written.saturating_add(bytes);
        }
        self.context.write(connection, end, bytes);
    }

    fn close(&mut self, connection: ConnectionId, end: End) {
        if let Some(handshake) = self.layer.connections.get_mut(connection) {
            handshake.ends[end as usize].is_closed = true;
        }
        self.context.close(connection, end);
    }

    fn hold(&mut self, connection: ConnectionId, end: End) {
        self.context.hold(connection, end);
    }

    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(handshake) = self.layer.connections.get_mut(connection) {
            let stream = &mut handshake.ends[other(end)];
            stream.awaited = total;
            // Until the handshake is over, each arrival may be a part of it.
            if handshake.is_over() {
                self.context.await_delivered(connection, end, handshake.ends[other(end)].in_total(total));
            }
        }
    }

    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(handshake) = self.layer.connections.get_mut(connection) {
            self.context.await_acknowledged(connection, end, handshake.ends[end as usize].in_total(total));
        }
    }

    fn abandon(&mut self, connection: ConnectionId) {
        self.layer.connections.remove(connection);
        self.context.abandon(connection);
    }

    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32) {
        self.context.send_datagram(server, direction, length);
    }

    fn arm(&mut self, at: Instant, token: u32) {
        self.context.arm(at, token);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.context.unit(purpose)
    }

    fn report(&mut self, report: Report<'_>) {
        self.context.report(report);
    }
}

#[cfg(test)]
mod tests;
