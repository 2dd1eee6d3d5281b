//! Everything but the applications: the network and the connections over it.

use crate::address::flow_hash;
use crate::arena::{Body, Header, Packet, PacketId};
use crate::connections::{Awaited, Connection, Connections, NewConnection, Timers};
use crate::event::Event;
use crate::network::{HopId, Network};
use crate::ports::PortPool;
use sojourn_apps as apps;
use sojourn_apps::{ConnectionId, End};
use sojourn_base::report::{Object, Page, Transfer};
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, RandomStream, ServiceQueue, Span};
use sojourn_record::{
    Cause, ConnectionSample, ConnectionTotals, DelaySplit, FlowConnection, FlowRow, Recorder,
    TrafficId,
};
use sojourn_transport::{Endpoint, SackBlocks, Segment, SendTimes, StackConfig, Timer};
use std::collections::VecDeque;
use std::sync::Arc;

/// What one entry of the traffic list needs at run time.
#[derive(Debug)]
pub(crate) struct TrafficState {
    pub(crate) stack: Arc<StackConfig>,
    pub(crate) dscp: u8,
    /// ECN field of datagrams.
    pub(crate) ecn: Ecn,
    /// What the application listens to.
    pub(crate) interest: apps::Interest,
    /// Per server: first hops from the client and from the server.
    pub(crate) first_hops: Vec<[HopId; 2]>,
    /// Per server and end: number of the next datagram.
    pub(crate) next_datagram: Vec<[u32; 2]>,
    /// One stream per purpose of an application's draws.
    pub(crate) streams: [RandomStream; 4],
    /// Per server: the client's ports.
    pub(crate) ports: Vec<PortPool>,
    /// Per server and end: hash of the datagrams that it sends.
    pub(crate) datagram_hashes: Vec<[u32; 2]>,
    /// What this run adds to the hashes of flows.
    pub(crate) perturbation: u32,
    /// Address of the subscriber.
    pub(crate) client: u32,
}

/// News for an application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub(crate) traffic: u16,
    pub(crate) event: apps::Event,
}

/// Network, connections, and what is on its way to the applications.
#[derive(Debug)]
pub(crate) struct World<R> {
    pub(crate) network: Network<R>,
    pub(crate) connections: Connections,
    pub(crate) traffic: Vec<TrafficState>,
    notices: VecDeque<Notice>,
    /// What endpoints said during the current call.
    endpoint_events: VecDeque<(u32, u8, End, sojourn_transport::Event)>,
}

impl<R: Recorder> World<R> {
    pub(crate) fn new(network: Network<R>, traffic: Vec<TrafficState>) -> Self {
        Self {
            network,
            connections: Connections::default(),
            traffic,
            notices: VecDeque::new(),
            endpoint_events: VecDeque::new(),
        }
    }

    /// The next piece of news for an application.
    pub(crate) fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// A packet has reached the end of its route.
    pub(crate) fn on_arrival(&mut self, now: Instant, id: PacketId) {
        let (packet, direction, traffic) = self.network.receive(now, id);
        let end = match direction {
            Direction::Upstream => End::Server,
            Direction::Downstream => End::Client,
        };
        match packet.body {
            Body::Segment {
                slot,
                generation,
                ref header,
            } => {
                let segment = header.in_packet(&packet.meta, self.network.blocks(id));
                self.with_end(now, slot, generation, end, |endpoint, host| {
                    endpoint.on_segment(now, &segment, host);
                });
            }
            Body::Datagram { tag, .. } => {
                if let Some(tag) = tag {
                    self.notices.push_back(Notice {
                        traffic: traffic.0,
                        event: apps::Event::Datagram(end, tag),
                    });
                }
            }
        }
    }

    /// A timer event of an endpoint is due.
    pub(crate) fn on_endpoint_timer(
        &mut self,
        now: Instant,
        event: Event,
        (slot, generation, end, timer): (u32, u8, End, Timer),
    ) {
        let calendar = &mut self.network.calendar;
        let due = self
            .connections
            .get(slot, generation)
            .is_some_and(|connection| {
                connection
                    .end(end)
                    .timers
                    .is_due(now, timer, event, calendar)
            });
        if due {
            self.with_end(now, slot, generation, end, |endpoint, host| {
                endpoint.on_timer(now, timer, host);
            });
        }
    }

    /// Opens a connection of `traffic` to `server`; the client starts to connect at once.
    pub(crate) fn open(&mut self, now: Instant, traffic: u16, server: usize) -> ConnectionId {
        let state = &mut self.traffic[usize::from(traffic)];
        let port = state.ports[server].take();
        let (perturbation, whose) = (state.perturbation, (state.client, traffic));
        let hash = |end| flow_hash(whose, server, port, end, true, perturbation);
        let (id, slot) = self.connections.open(&NewConnection {
            stack: &state.stack,
            traffic,
            place: (server, port),
            opened_at: now,
            dscp: state.dscp,
            interest: state.interest,
            first_hops: state.first_hops[server],
            flow_hashes: [hash(End::Client), hash(End::Server)],
        });
        let generation = self.connections.in_slot(slot).generation;
        self.with_end(now, slot, generation, End::Client, |endpoint, host| {
            endpoint.open(now, host);
        });
        id
    }

    /// Calls one end of an open connection and spreads what it says.
    pub(crate) fn call(
        &mut self,
        now: Instant,
        id: ConnectionId,
        end: End,
        action: impl FnOnce(&mut sojourn_transport::TcpEndpoint, &mut EndpointCall<'_, R>),
    ) {
        if let Some(slot) = self.connections.slot_of(id) {
            let generation = self.connections.in_slot(slot).generation;
            self.with_end(now, slot, generation, end, action);
        }
    }

    /// What the application awaits at one end of an open connection.
    fn awaited(&mut self, id: ConnectionId, end: End) -> Option<&mut Awaited> {
        let slot = self.connections.slot_of(id)?;
        Some(&mut self.connections.in_slot(slot).end(end).awaited)
    }

    /// Both ends of a connection are forgotten.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        if let Some(slot) = self.connections.slot_of(id) {
            self.abort(now, slot);
        }
    }

    /// Sends a datagram between the client and `server`.
    pub(crate) fn send_datagram(
        &mut self,
        now: Instant,
        traffic: u16,
        server: usize,
        direction: Direction,
        length: u32,
        tag: Option<u32>,
    ) {
        let state = &mut self.traffic[usize::from(traffic)];
        let from = match direction {
            Direction::Upstream => End::Client,
            Direction::Downstream => End::Server,
        };
        let next = &mut state.next_datagram[server][from as usize];
        let sequence = *next;
        *next += 1;
        let first = state.first_hops[server][from as usize];
        let packet = Packet {
            meta: Meta {
                length,
                flow_hash: state.datagram_hashes[server][from as usize],
                mac_overhead: 0,
                dscp: state.dscp,
                ecn: state.ecn,
                pure_ack: false,
                queue: ServiceQueue::Classic,
            },
            body: Body::Datagram {
                flow: server_number(server),
                sequence,
                sent_at: now,
                tag,
            },
        };
        let split = self.network.records_delays().then(DelaySplit::default);
        self.network
            .send(now, first, packet, &SackBlocks::NONE, split);
    }

    /// The next look at all connections, if the recorder wants any.
    pub(crate) fn schedule_sample(&mut self, now: Instant) {
        if let Some(interval) = self.network.recorder.sample_interval() {
            let at = now.saturating_add(interval);
            self.network.calendar.schedule(at, Event::Sample);
        }
    }

    /// Tells the recorder of every open connection and each end of it that has sent data.
    pub(crate) fn sample(&mut self, now: Instant) {
        for slot in self.connections.open_slots() {
            let connection = self.connections.in_slot(slot);
            for (end, from) in connection.ends.iter().zip([End::Client, End::Server]) {
                if end.endpoint.statistics().payload_bytes_sent == 0 {
                    continue;
                }
                let snapshot = end.endpoint.snapshot();
                self.network.recorder.on_sample(&ConnectionSample {
                    at: now,
                    traffic: TrafficId(connection.traffic),
                    server: server_number(connection.place.0),
                    direction: direction_from(from),
                    connection: connection.id.0,
                    window: snapshot.window,
                    threshold: snapshot.threshold.is_finite().then_some(snapshot.threshold),
                    round_trip: snapshot.smoothed_round_trip,
                    flight: snapshot.flight,
                    acknowledged: Bytes(snapshot.acknowledged),
                });
            }
        }
        self.schedule_sample(now);
    }

    /// Records the connections that are open when the run ends, and the flows of datagrams.
    pub(crate) fn finish(&mut self) {
        for slot in self.connections.open_slots() {
            self.record_connection(slot, None);
        }
        if self.network.recorder.wants_flows() {
            self.record_datagram_flows();
        }
    }

    fn with_end(
        &mut self,
        now: Instant,
        slot: u32,
        generation: u8,
        end: End,
        action: impl FnOnce(&mut sojourn_transport::TcpEndpoint, &mut EndpointCall<'_, R>),
    ) {
        let Some(connection) = self.connections.get(slot, generation) else {
            return; // the connection was given up while this was on its way
        };
        let (endpoint, mut host) = surround(
            (now, slot, end),
            connection,
            &mut self.network,
            &mut self.endpoint_events,
        );
        action(endpoint, &mut host);
        if !self.endpoint_events.is_empty() {
            self.spread_endpoint_events(now);
        }
    }

    /// Turns what endpoints said into news for applications, and ends connections.
    fn spread_endpoint_events(&mut self, now: Instant) {
        use sojourn_transport::Event as From;
        while let Some((slot, generation, end, event)) = self.endpoint_events.pop_front() {
            let Some(connection) = self.connections.get(slot, generation) else {
                continue;
            };
            let (id, traffic) = (connection.id, connection.traffic);
            let news = match event {
                From::Connected => apps::Event::Connected(id, end),
                From::Acknowledged(total) => apps::Event::Acknowledged(id, end, total),
                From::PeerClosed => apps::Event::PeerClosed(id, end),
                From::Delivered(total) => apps::Event::Delivered(id, end, total),
                From::Closed => {
                    connection.end(end).is_closed = true;
                    if !connection.ends.iter().all(|end| end.is_closed) {
                        continue;
                    }
                    self.end_connection(now, slot);
                    apps::Event::Closed(id)
                }
                From::ConnectFailed => {
                    self.abort(now, slot);
                    apps::Event::ConnectFailed(id)
                }
                From::Aborted => {
                    self.abort(now, slot);
                    apps::Event::Closed(id)
                }
            };
            self.notices.push_back(Notice {
                traffic,
                event: news,
            });
        }
    }

    /// Both ends forget the connection.
    fn abort(&mut self, now: Instant, slot: u32) {
        for end in [End::Client, End::Server] {
            let (endpoint, mut host) = surround(
                (now, slot, end),
                self.connections.in_slot(slot),
                &mut self.network,
                &mut self.endpoint_events,
            );
            endpoint.abort(now, &mut host);
        }
        self.end_connection(now, slot);
    }

    fn end_connection(&mut self, now: Instant, slot: u32) {
        self.record_connection(slot, Some(now));
        if self.connections.release(slot) {
            let connection = self.connections.in_slot(slot);
            let (server, port) = connection.place;
            self.traffic[usize::from(connection.traffic)].ports[server].give_back(port);
        }
    }

    fn record_connection(&mut self, slot: u32, ended_at: Option<Instant>) {
        let connection = self.connections.in_slot(slot);
        let mut totals = ConnectionTotals::default();
        for (end, comes) in connection
            .ends
            .iter()
            .zip([Direction::Downstream, Direction::Upstream])
        {
            let statistics = end.endpoint.statistics();
            totals.marks_received[comes] += statistics.marks_received;
            totals.retransmissions += statistics.retransmissions();
            totals.timeouts += statistics.timeouts;
            totals.connect_retries += statistics.syn_retransmissions;
        }
        let traffic = TrafficId(connection.traffic);
        self.network.recorder.on_connection(traffic, &totals);
        if self.network.recorder.wants_flows() {
            self.record_flows_of_connection(slot, ended_at);
        }
    }

    fn record_flows_of_connection(&mut self, slot: u32, ended_at: Option<Instant>) {
        let connection = self.connections.in_slot(slot);
        for (from, to) in [(End::Client, End::Server), (End::Server, End::Client)] {
            let (sender, receiver) = (
                &connection.ends[from as usize],
                &connection.ends[to as usize],
            );
            let direction = direction_from(from);
            let row = FlowRow {
                traffic: TrafficId(connection.traffic),
                server: server_number(connection.place.0),
                direction,
                sub_flow: self.network.sub_flow(
                    sender.first_hop,
                    sender.flow_hash,
                    connection.dscp,
                ),
                connection: Some(FlowConnection {
                    number: connection.id.0,
                    opened_at: connection.opened_at,
                    ended_at,
                    goodput: Bytes(receiver.delivered),
                    retransmissions: sender.endpoint.statistics().retransmissions(),
                    marks_received: receiver.endpoint.statistics().marks_received,
                }),
            };
            self.network.recorder.on_flow(&row);
        }
    }

    fn record_datagram_flows(&mut self) {
        for (traffic, state) in (0..).zip(&self.traffic) {
            for (server, (sent, hashes)) in state
                .next_datagram
                .iter()
                .zip(&state.datagram_hashes)
                .enumerate()
            {
                for from in [End::Client, End::Server] {
                    if sent[from as usize] == 0 {
                        continue;
                    }
                    let hash = hashes[from as usize];
                    let first = state.first_hops[server][from as usize];
                    let row = FlowRow {
                        traffic: TrafficId(traffic),
                        server: server_number(server),
                        direction: direction_from(from),
                        sub_flow: self.network.sub_flow(first, hash, state.dscp),
                        connection: None,
                    };
                    self.network.recorder.on_flow(&row);
                }
            }
        }
    }
}

/// The direction of what an end sends.
const fn direction_from(end: End) -> Direction {
    match end {
        End::Client => Direction::Upstream,
        End::Server => Direction::Downstream,
    }
}

/// Number of a server in packets and records.
fn server_number(server: usize) -> u32 {
    u32::try_from(server).expect("servers are numbered in 16 bits")
}

/// The context of an endpoint during one call.
#[derive(Debug)]
pub(crate) struct EndpointCall<'a, R> {
    now: Instant,
    slot: u32,
    generation: u8,
    end: End,
    traffic: u16,
    dscp: u8,
    first_hop: HopId,
    flow_hash: u32,
    /// From which totals on the application listens.
    awaited: Awaited,
    /// Bytes delivered in order so far.
    delivered: &'a mut u64,
    timers: &'a mut Timers,
    network: &'a mut Network<R>,
    events: &'a mut VecDeque<(u32, u8, End, sojourn_transport::Event)>,
}

/// One end of the connection in `slot`, and what surrounds it.
fn surround<'a, R>(
    (now, slot, end): (Instant, u32, End),
    connection: &'a mut Connection,
    network: &'a mut Network<R>,
    events: &'a mut VecDeque<(u32, u8, End, sojourn_transport::Event)>,
) -> (&'a mut sojourn_transport::TcpEndpoint, EndpointCall<'a, R>) {
    let (generation, traffic) = (connection.generation, connection.traffic);
    let dscp = connection.dscp;
    let state = connection.end(end);
    let host = EndpointCall {
        now,
        slot,
        generation,
        end,
        traffic,
        dscp,
        first_hop: state.first_hop,
        flow_hash: state.flow_hash,
        awaited: state.awaited,
        delivered: &mut state.delivered,
        timers: &mut state.timers,
        network,
        events,
    };
    (&mut state.endpoint, host)
}

impl<R> EndpointCall<'_, R> {
    /// The direction of what this end sends.
    const fn sends(&self) -> Direction {
        direction_from(self.end)
    }
}

impl<R: Recorder> sojourn_transport::EndpointContext for EndpointCall<'_, R> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `Arena::insert`")]
    fn emit(&mut self, segment: &Segment, times: SendTimes) {
        let split = self.network.records_delays().then(|| {
            let mut split = DelaySplit::default();
            split.add(
                Cause::Sender,
                elapsed(times.first_sent_at, times.written_at),
            );
            split.add(Cause::Recovery, elapsed(self.now, times.first_sent_at));
            split
        });
        let packet = Packet {
            meta: Meta {
                length: segment.length,
                flow_hash: self.flow_hash,
                mac_overhead: 0,
                dscp: self.dscp,
                ecn: segment.ecn,
                pure_ack: segment.is_pure_ack(),
                queue: ServiceQueue::Classic,
            },
            body: Body::Segment {
                slot: self.slot,
                generation: self.generation,
                header: Header::of(segment),
            },
        };
        self.network
            .send(self.now, self.first_hop, packet, &segment.sack, split);
    }

    fn arm(&mut self, timer: Timer, at: Instant) {
        let event = Event::EndpointTimer {
            end: self.end == End::Server,
            timer,
            generation: self.generation,
            slot: self.slot,
        };
        self.timers
            .arm(timer, at, event, &mut self.network.calendar);
    }

    fn notify(&mut self, event: sojourn_transport::Event) {
        let is_wanted = match event {
            sojourn_transport::Event::Delivered(total) => {
                let bytes = Bytes(total - *self.delivered);
                *self.delivered = total;
                let direction = self.sends().reversed();
                self.network
                    .recorder
                    .on_goodput(TrafficId(self.traffic), direction, bytes);
                total >= self.awaited.delivered
            }
            sojourn_transport::Event::Acknowledged(total) => total >= self.awaited.acknowledged,
            _ => true,
        };
        if !is_wanted {
            return;
        }
        self.events
            .push_back((self.slot, self.generation, self.end, event));
    }
}

fn elapsed(later: Instant, earlier: Instant) -> Span {
    later
        .since(earlier)
        .expect("a segment is written before it is sent, and sent before it is repeated")
}

/// What surrounds an application during a call.
#[derive(Debug)]
pub(crate) struct ApplicationHost<'a, R> {
    pub(crate) now: Instant,
    pub(crate) traffic: u16,
    pub(crate) world: &'a mut World<R>,
}

impl<R: Recorder> apps::Host for ApplicationHost<'_, R> {
    fn open(&mut self, server: usize) -> ConnectionId {
        self.world.open(self.now, self.traffic, server)
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, host| {
            endpoint.write(now, bytes, host);
        });
    }

    fn close(&mut self, connection: ConnectionId, end: End) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, host| {
            endpoint.close(now, host);
        });
    }

    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(awaited) = self.world.awaited(connection, end) {
            awaited.delivered = total;
        }
    }

    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(awaited) = self.world.awaited(connection, end) {
            awaited.acknowledged = total;
        }
    }

    fn abandon(&mut self, connection: ConnectionId) {
        self.world.abandon(self.now, connection);
    }

    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32) {
        self.world
            .send_datagram(self.now, self.traffic, server, direction, length, None);
    }

    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        self.world
            .send_datagram(self.now, self.traffic, server, direction, length, Some(tag));
    }

    fn arm(&mut self, at: Instant, token: u32) {
        let event = Event::ApplicationTimer {
            traffic: self.traffic,
            token,
        };
        self.world.network.calendar.schedule(at, event);
    }

    fn unit(&mut self, purpose: apps::Draw) -> f64 {
        self.world.traffic[usize::from(self.traffic)].streams[purpose as usize].unit()
    }

    fn record_transfer(&mut self, transfer: &Transfer) {
        let traffic = TrafficId(self.traffic);
        self.world.network.recorder.on_transfer(traffic, transfer);
    }

    fn record_page(&mut self, page: &Page) {
        let traffic = TrafficId(self.traffic);
        self.world.network.recorder.on_page(traffic, page);
    }

    fn record_object(&mut self, object: &Object) {
        let traffic = TrafficId(self.traffic);
        self.world.network.recorder.on_object(traffic, object);
    }
}
