//! A desk to test applications at: an ideal network with fixed round trips and scripted mishaps, which
//! keeps everything the application did.

use crate::{
    Application, ApplicationContext, Chunk, ConnectionId, DownloadSession, Draw, End, Event, Frame, LiveSecond,
    LiveSession, Object, Page, Report, StreamingSession, Transfer,
};
use sojourn_base::{BitRate, Bytes, Direction, Ecn, Instant, RandomStream, Seed, Span};
use std::collections::BTreeMap;

/// The network, the clock and the notebook.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) now: Instant,
    agenda: BTreeMap<(Instant, u64), Event>,
    events: u64,
    /// Round trip of each server; the last one also stands for all that follow.
    pub(crate) round_trips: Vec<Span>,
    /// Number of pieces in which what is written arrives, all at once if `pause` is zero.
    pub(crate) pieces: u64,
    /// Pause between pieces.
    pub(crate) pause: Span,
    /// Shapes the client's data, in pieces of 1500 B.
    pub(crate) shaper: Option<TokenBucket>,
    /// Number of connections that fail first.
    pub(crate) failures: u32,
    /// Number of connections that are reset as their first byte arrives at the client.
    pub(crate) resets: u32,
    /// Bottleneck of tagged datagrams in one direction.
    pub(crate) narrow: Option<NarrowLine>,
    /// ECN field of datagrams.
    pub(crate) ecn: Ecn,
    /// Connections have TLS inside.
    pub(crate) is_quic: bool,
    /// Number of tagged datagrams that are lost first.
    pub(crate) lost_datagrams: u32,
    connections: Vec<Connection>,
    random: RandomStream,
    pub(crate) draws: Vec<Draw>,
    /// Time and server of each connection request.
    pub(crate) opened: Vec<(Instant, usize)>,
    pub(crate) datagrams: Vec<(Instant, usize, Direction, u32)>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) pages: Vec<Page>,
    pub(crate) objects: Vec<Object>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) sessions: Vec<StreamingSession>,
    pub(crate) live_seconds: Vec<LiveSecond>,
    pub(crate) live_sessions: Vec<LiveSession>,
    pub(crate) downloads: Vec<DownloadSession>,
    /// Connections that were forgotten, and when.
    pub(crate) abandoned: Vec<(Instant, ConnectionId)>,
    pub(crate) held: Vec<(Instant, ConnectionId)>,
    /// Connections in use now and at most, per server.
    pub(crate) in_use: Vec<usize>,
    pub(crate) most_in_use: Vec<usize>,
}

#[derive(Debug, Default)]
struct Connection {
    server: usize,
    failed: bool,
    /// The application knows of the end.
    gone: bool,
    written: [u64; 2],
    arrives: [Instant; 2],
    closed: [bool; 2],
    /// Per end: what has to be delivered, and acknowledged, before the application wants to know.
    awaits_delivered: [u64; 2],
    awaits_acknowledged: [u64; 2],
}

/// A line with a queue without end, which marks what has waited.
#[derive(Debug)]
pub(crate) struct NarrowLine {
    pub(crate) direction: Direction,
    pub(crate) rate: BitRate,
    /// Datagrams that wait longer are marked.
    pub(crate) mark_above: Span,
    free_at: Instant,
}

impl NarrowLine {
    pub(crate) const fn new(direction: Direction, rate: BitRate, mark_above: Span) -> Self {
        Self { direction, rate, mark_above, free_at: Instant::ZERO }
    }

    fn send(&mut self, now: Instant, bytes: u64) -> Instant {
        self.free_at = self.free_at.max(now) + self.rate.time_for(Bytes(bytes));
        self.free_at
    }
}

/// A shaper with a sustained and a peak rate.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    sustained: BitRate,
    peak: BitRate,
    depth: f64,
    tokens: f64,
    free_at: Instant,
}

impl TokenBucket {
    pub(crate) fn new(sustained: BitRate, peak: BitRate, depth: Bytes) -> Self {
        let depth = depth.0 as f64;
        Self { sustained, peak, depth, tokens: depth, free_at: Instant::ZERO }
    }

    /// Returns the departure time of a packet of `bytes` that waits since `now`.
    fn send(&mut self, now: Instant, bytes: u64) -> Instant {
        let per_second = self.sustained.as_bps() as f64 / 8.0;
        let start = now.max(self.free_at);
        let idle = start.saturating_since(self.free_at).as_secs_f64();
        self.tokens = (self.tokens + idle * per_second).min(self.depth);
        let wait = ((bytes as f64 - self.tokens) / per_second).max(0.0);
        let sending = self.peak.time_for(Bytes(bytes));
        let busy = wait + sending.as_secs_f64();
        self.tokens = (self.tokens + busy * per_second - bytes as f64).min(self.depth);
        self.free_at = start + Span::from_secs_f64(wait) + sending;
        self.free_at
    }
}

impl Desk {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            now: Instant::ZERO,
            agenda: BTreeMap::new(),
            events: 0,
            round_trips: vec![Span::from_ms(20)],
            pieces: 1,
            pause: Span::ZERO,
            shaper: None,
            failures: 0,
            resets: 0,
            narrow: None,
            ecn: Ecn::NotEct,
            is_quic: false,
            lost_datagrams: 0,
            connections: Vec::new(),
            random: Seed(seed).stream("desk"),
            draws: Vec::new(),
            opened: Vec::new(),
            datagrams: Vec::new(),
            transfers: Vec::new(),
            pages: Vec::new(),
            objects: Vec::new(),
            chunks: Vec::new(),
            frames: Vec::new(),
            sessions: Vec::new(),
            live_seconds: Vec::new(),
            live_sessions: Vec::new(),
            downloads: Vec::new(),
            abandoned: Vec::new(),
            held: Vec::new(),
            in_use: vec![0; 8],
            most_in_use: vec![0; 8],
        }
    }

    /// Which ends of a connection the application has closed: client, server.
    pub(crate) fn closed_ends(&self, connection: ConnectionId) -> [bool; 2] {
        self.connections[connection.0 as usize].closed
    }

    /// Bytes that each end has written: client, server.
    pub(crate) fn written(&self, connection: ConnectionId) -> [u64; 2] {
        self.connections[connection.0 as usize].written
    }

    /// Everything that happens up to `end` and that the application listens to, then the end of the run.
    pub(crate) fn run(&mut self, application: &mut (impl Application + ?Sized), end: Instant) {
        application.start(self.now, self);
        while let Some(entry) = self.agenda.first_entry()
            && entry.key().0 <= end
        {
            let ((now, _), event) = entry.remove_entry();
            self.now = now;
            if let Event::Closed(id) | Event::ConnectFailed(id) = event {
                self.connections[id.0 as usize].gone = true;
            }
            if let Event::Closed(id) | Event::ConnectFailed(id) = event
                && !self.connections[id.0 as usize].closed[0]
            {
                self.in_use[self.connections[id.0 as usize].server] -= 1;
            }
            let is_wanted = match event {
                Event::Delivered(id, at, total) => {
                    let awaited = self.connections[id.0 as usize].awaits_delivered;
                    application.interest().delivered && total >= awaited[at as usize]
                }
                Event::Acknowledged(id, at, total) => {
                    let awaited = self.connections[id.0 as usize].awaits_acknowledged;
                    application.interest().acknowledged && total >= awaited[at as usize]
                }
                _ => true,
            };
            if is_wanted {
                application.on_event(now, event, self);
            }
        }
        self.now = end;
        application.finish(end, self);
    }

    fn later(&mut self, at: Instant, event: Event) {
        self.events += 1;
        self.agenda.insert((at, self.events), event);
    }

    fn round_trip(&self, server: usize) -> Span {
        self.round_trips[server.min(self.round_trips.len() - 1)]
    }
}

impl ApplicationContext for Desk {
    fn inner(&mut self) -> Option<&mut (dyn ApplicationContext + '_)> {
        None
    }

    fn open(&mut self, server: usize) -> ConnectionId {
        let id = ConnectionId(u32::try_from(self.connections.len()).unwrap());
        self.opened.push((self.now, server));
        self.in_use[server] += 1;
        self.most_in_use[server] = self.most_in_use[server].max(self.in_use[server]);
        let round_trip = self.round_trip(server);
        let failed = self.failures > 0;
        if failed {
            self.failures -= 1;
            self.later(self.now + Span::from_s(75), Event::ConnectFailed(id));
        } else {
            self.later(self.now + round_trip, Event::Connected(id, End::Client));
            self.later(self.now + round_trip * 3 / 2, Event::Connected(id, End::Server));
        }
        self.connections.push(Connection { server, failed, ..Connection::default() });
        id
    }

    fn is_quic(&mut self) -> bool {
        self.is_quic
    }

    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        self.connections[connection.0 as usize].awaits_delivered[end as usize] = total;
    }

    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        self.connections[connection.0 as usize].awaits_acknowledged[end as usize] = total;
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        let index = connection.0 as usize;
        let (side, peer) = sides(end);
        assert!(!self.connections[index].gone, "written to a connection that is gone");
        assert!(!self.connections[index].closed[side], "written after closing");
        let half = self.round_trip(self.connections[index].server) / 2;
        // A server that does not know yet that the connection failed writes in vain.
        if bytes == u64::MAX || self.connections[index].failed {
            return;
        }
        if end == End::Server && self.resets > 0 {
            self.resets -= 1;
            self.connections[index].failed = true;
            self.later(self.now + half, Event::Closed(connection));
            return;
        }
        let pieces = if self.shaper.is_some() { bytes.div_ceil(1500) } else { self.pieces.clamp(1, bytes) };
        let before = self.connections[index].written[side];
        for piece in 1..=pieces {
            let total = before + u64::try_from(u128::from(bytes) * u128::from(piece) / u128::from(pieces)).unwrap();
            let departure = match (&mut self.shaper, end) {
                (Some(shaper), End::Client) => shaper.send(self.now, 1500),
                _ => self.now + self.pause * (piece - 1),
            };
            let arrival = (departure + half).max(self.connections[index].arrives[side]);
            self.connections[index].arrives[side] = arrival;
            self.later(arrival, Event::Delivered(connection, peer, total));
            self.later(arrival + half, Event::Acknowledged(connection, end, total));
        }
        self.connections[index].written[side] = before + bytes;
    }

    fn hold(&mut self, connection: ConnectionId, _end: End) {
        self.held.push((self.now, connection));
    }

    fn close(&mut self, connection: ConnectionId, end: End) {
        let index = connection.0 as usize;
        let (side, peer) = sides(end);
        if self.connections[index].failed || self.connections[index].closed[side] {
            return;
        }
        self.connections[index].closed[side] = true;
        if end == End::Client {
            // The client may open the next connection while the old one says goodbye.
            self.in_use[self.connections[index].server] -= 1;
        }
        let half = self.round_trip(self.connections[index].server) / 2;
        let at = (self.now + half).max(self.connections[index].arrives[side]);
        self.later(at, Event::PeerClosed(connection, peer));
        if self.connections[index].closed == [true, true] {
            self.later(at, Event::Closed(connection));
        }
    }

    fn abandon(&mut self, connection: ConnectionId) {
        self.abandoned.push((self.now, connection));
    }

    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32) {
        self.datagrams.push((self.now, server, direction, length));
    }

    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        self.send_datagram(server, direction, length);
        if self.lost_datagrams > 0 {
            self.lost_datagrams -= 1;
            return;
        }
        let end = match direction {
            Direction::Upstream => End::Server,
            Direction::Downstream => End::Client,
        };
        let half = self.round_trip(server) / 2;
        let at = match &mut self.narrow {
            Some(line) if line.direction == direction => line.send(self.now, u64::from(length)),
            _ => self.now,
        };
        let ecn = match &self.narrow {
            Some(line) if line.direction == direction && at > self.now + line.mark_above => Ecn::Ce,
            _ => self.ecn,
        };
        self.later(at + half, Event::Datagram(end, tag, ecn));
    }

    fn ecn(&mut self) -> Ecn {
        self.ecn
    }

    fn arm(&mut self, at: Instant, token: u32) {
        assert!(at >= self.now, "a timer in the past");
        self.later(at, Event::Timer(token));
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.draws.push(purpose);
        self.random.unit()
    }

    fn report(&mut self, report: Report<'_>) {
        match report {
            Report::Transfer(transfer) => self.transfers.push(*transfer),
            Report::Page(page) => self.pages.push(*page),
            Report::Object(object) => self.objects.push(*object),
            Report::Chunk(chunk) => self.chunks.push(*chunk),
            Report::Frame(frame) => self.frames.push(*frame),
            Report::StreamingSession(session) => self.sessions.push(*session),
            Report::LiveSecond(second) => self.live_seconds.push(*second),
            Report::LiveSession(session) => self.live_sessions.push(*session),
            Report::DownloadSession(session) => self.downloads.push(*session),
            Report::PlayedCall(_) => {}
        }
    }
}

/// Index of `end`, and its peer.
fn sides(end: End) -> (usize, End) {
    match end {
        End::Client => (0, End::Server),
        End::Server => (1, End::Client),
    }
}
