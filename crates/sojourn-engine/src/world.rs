//! Everything but the applications: the network and the connections over it.

use crate::address::flow_hash;
use crate::arena::{Body, Packet};
use crate::connections::{Awaited, Connections, NewConnection, direction_from};
use crate::endpoint_call::{EndpointCall, surround};
use crate::event::Event;
use crate::network::Network;
use crate::ports::PortPool;
use sojourn_apps as apps;
use sojourn_apps::{ConnectionId, End};
use sojourn_base::native::Native;
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, RandomStream, ServiceQueue};
use sojourn_link::PacketId;
use sojourn_link::network::{Arrival, HopId};
use sojourn_queue::FlowFields;
use sojourn_record::{
    ConnectionOpened, ConnectionSample, ConnectionTotals, DelaySplit, FlowConnection, FlowRow, Recorder, SenderSeen,
    TrafficId,
};
use sojourn_transport::{CongestionState, SackBlocks, StackConfig, Timer};
use sojourn_transport::{Segment, library::LibraryStack};
use std::collections::VecDeque;
use std::sync::Arc;

/// State of one entry of the traffic list.
#[derive(Debug)]
pub(crate) struct TrafficState {
    pub(crate) stack: Arc<StackConfig>,
    /// The library in its place, and the seeds of its ends.
    pub(crate) library: Option<(Native<LibraryStack>, RandomStream)>,
    pub(crate) dscp: u8,
    /// Number of the host at the subscriber's end.
    pub(crate) host: u16,
    /// ECN field of datagrams.
    pub(crate) ecn: Ecn,
    /// Events that the application receives.
    pub(crate) interest: apps::Interest,
    /// Per server: first hops from the client and from the server.
    pub(crate) first_hops: Vec<[HopId; 2]>,
    /// Per server and end: number of the next datagram.
    pub(crate) next_datagram: Vec<[u32; 2]>,
    /// One stream per purpose of an application's draws.
    pub(crate) streams: [RandomStream; apps::Draw::ALL.len()],
    /// Per server: the client's ports.
    pub(crate) ports: Vec<PortPool>,
    /// Per server and end: hash of the datagrams that it sends.
    pub(crate) datagram_hashes: Vec<[u32; 2]>,
    /// Perturbation of this run's flow hashes.
    pub(crate) perturbation: u32,
    /// Per end: fields that identify a flow of its packets.
    pub(crate) fields: [FlowFields; 2],
    /// Address of the subscriber.
    pub(crate) client: u32,
    /// Addresses that queues see for all flows, if they go through a tunnel.
    pub(crate) tunnel: Option<[u32; 2]>,
}

/// An event of an application, on its way there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApplicationEvent {
    pub(crate) traffic: u16,
    pub(crate) event: apps::Event,
}

/// Network, connections, and what is on its way to the applications.
#[derive(Debug)]
pub(crate) struct World<R> {
    pub(crate) network: Network<R>,
    pub(crate) connections: Connections,
    pub(crate) traffic: Vec<TrafficState>,
    application_events: VecDeque<ApplicationEvent>,
    /// Events of endpoints during the current call.
    endpoint_events: VecDeque<(u32, u8, End, sojourn_transport::Event)>,
    /// Room for the bytes of a datagram that has arrived.
    datagram: Vec<u8>,
}

impl<R: Recorder> World<R> {
    pub(crate) fn new(network: Network<R>, traffic: Vec<TrafficState>) -> Self {
        Self {
            network,
            connections: Connections::default(),
            traffic,
            application_events: VecDeque::new(),
            endpoint_events: VecDeque::new(),
            datagram: Vec::new(),
        }
    }

    /// The next event of an application.
    pub(crate) fn take_application_event(&mut self) -> Option<ApplicationEvent> {
        self.application_events.pop_front()
    }

    /// A packet has reached the end of its route.
    pub(crate) fn on_arrival(&mut self, now: Instant, arrival: &Arrival) {
        let end = match arrival.direction {
            Direction::Upstream => End::Server,
            Direction::Downstream => End::Client,
        };
        let (packet, blocks) = self.network.receive(now, arrival);
        match packet.body {
            Body::Segment { slot, generation, ref header } if header.has_bytes() => {
                let segment = header.in_packet(&packet.meta, blocks);
                self.on_datagram(now, arrival.id, (slot, generation, end), &segment);
            }
            Body::Segment { slot, generation, ref header } => {
                let segment = header.in_packet(&packet.meta, blocks);
                self.with_end(now, slot, generation, end, |endpoint, call| {
                    endpoint.on_segment(now, &segment, call);
                });
            }
            Body::Datagram { tag, .. } => {
                if let Some(tag) = tag {
                    self.application_events.push_back(ApplicationEvent {
                        traffic: arrival.traffic.0,
                        event: apps::Event::Datagram(end, tag, packet.meta.ecn),
                    });
                }
            }
        }
    }

    /// A datagram of a library has reached the end of its route.
    #[cold]
    fn on_datagram(&mut self, now: Instant, id: PacketId, (slot, generation, end): (u32, u8, End), segment: &Segment) {
        let mut bytes = std::mem::take(&mut self.datagram);
        self.network.paths.packets.swap_datagram(id, &mut bytes);
        self.with_end(now, slot, generation, end, |endpoint, call| {
            endpoint.on_datagram(now, segment, &bytes, call);
        });
        self.datagram = bytes;
    }

    /// Code beside the run has something for the ends of libraries.
    pub(crate) fn on_outside(&mut self, now: Instant) {
        self.network.paths.calendar.wait_until(now);
        for slot in self.connections.open_slots() {
            let connection = self.connections.in_slot(slot);
            let generation = connection.generation;
            if self.traffic[usize::from(connection.traffic)].library.is_some() {
                for end in [End::Client, End::Server] {
                    self.with_end(now, slot, generation, end, |endpoint, call| endpoint.on_outside(now, call));
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
        let calendar = &mut self.network.paths.calendar;
        let due = self
            .connections
            .get(slot, generation)
            .is_some_and(|connection| connection.end(end).attachment.timers.is_due(now, timer, event, calendar));
        if due {
            self.with_end(now, slot, generation, end, |endpoint, call| {
                endpoint.on_timer(now, timer, call);
            });
        }
    }

    /// Opens a connection of `traffic` to `server`; the client starts to connect at once.
    pub(crate) fn open(&mut self, now: Instant, traffic: u16, server: usize) -> ConnectionId {
        let state = &mut self.traffic[usize::from(traffic)];
        let port = state.ports[server].take();
        let (perturbation, whose) = (state.perturbation, (state.client, traffic));
        let fields = state.fields;
        let hash = |end: End| {
            let hashed = (fields[end as usize], perturbation);
            flow_hash(whose, server, port, end, true, hashed)
        };
        let (id, slot) = self.connections.open(&NewConnection {
            stack: &state.stack,
            library: state.library.as_mut().map(|(library, seeds)| (&*library, [seeds.bits(), seeds.bits()])),
            traffic,
            place: (server, port),
            opened_at: now,
            dscp: state.dscp,
            host: state.host,
            interest: state.interest,
            first_hops: state.first_hops[server],
            flow_hashes: state.tunnel.unwrap_or_else(|| [hash(End::Client), hash(End::Server)]),
        });
        if let Some(flows) = &mut self.network.paths.flows {
            flows.opened(slot, port);
        }
        let generation = self.connections.in_slot(slot).generation;
        let opened = ConnectionOpened {
            now,
            traffic: TrafficId(traffic),
            server: server_number(server),
            connection: (slot, generation),
            number: id.0,
            port,
        };
        self.network.paths.recorder.on_connection_opened(&opened);
        self.with_end(now, slot, generation, End::Client, |endpoint, call| {
            endpoint.open(now, call);
        });
        id
    }

    /// Calls one end of an open connection and distributes its events.
    pub(crate) fn call(
        &mut self,
        now: Instant,
        id: ConnectionId,
        end: End,
        action: impl FnOnce(&mut sojourn_transport::Endpoint, &mut EndpointCall<'_, R>),
    ) {
        if let Some(slot) = self.connections.slot_of(id) {
            let generation = self.connections.in_slot(slot).generation;
            self.with_end(now, slot, generation, end, action);
        }
    }

    /// Returns the delivery that the application awaits at one end of an open connection.
    pub(crate) fn awaited(&mut self, id: ConnectionId, end: End) -> Option<&mut Awaited> {
        let slot = self.connections.slot_of(id)?;
        Some(&mut self.connections.in_slot(slot).end(end).attachment.awaited)
    }

    /// Both ends of a connection are forgotten.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        if let Some(slot) = self.connections.slot_of(id) {
            self.abort(now, slot);
        }
    }

    /// Sends a datagram between the client and a server, with `marks` of its own or those of the traffic entry.
    pub(crate) fn send_datagram(
        &mut self,
        now: Instant,
        traffic: u16,
        (server, direction): (usize, Direction),
        length: u32,
        tag: Option<u32>,
        marks: Option<(u8, Ecn)>,
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
        let (dscp, ecn) = marks.unwrap_or((state.dscp, state.ecn));
        let packet = Packet {
            meta: Meta {
                length,
                flow_hash: state.datagram_hashes[server][from as usize],
                mac_overhead: 0,
                host: state.host,
                dscp,
                ecn,
                pure_ack: false,
                queue: ServiceQueue::Classic,
            },
            body: Body::Datagram { flow: server_number(server), sequence, sent_at: now, tag },
        };
        let split = self.network.records_delays().then(DelaySplit::default);
        self.network.send(now, first, packet, &SackBlocks::NONE, split);
    }

    /// The next look at all connections, if the recorder wants any.
    pub(crate) fn schedule_sample(&mut self, now: Instant) {
        if let Some(interval) = self.network.paths.recorder.sample_interval() {
            let at = now.saturating_add(interval);
            self.network.paths.calendar.schedule(at, Event::Sample);
        }
    }

    /// Tells the recorder of every open connection and each end of it that has sent data.
    pub(crate) fn sample(&mut self, now: Instant) {
        for slot in self.connections.open_slots() {
            if !self.network.paths.work.spend(1) {
                return;
            }
            let connection = self.connections.in_slot(slot);
            for (end, from) in connection.ends.iter().zip([End::Client, End::Server]) {
                if end.endpoint.statistics().payload_bytes_sent == 0 {
                    continue;
                }
                let snapshot = end.endpoint.snapshot();
                let (controller, _) = end.endpoint.controller();
                self.network.paths.recorder.on_sample(&ConnectionSample {
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
                    phase: controller.phase,
                    bandwidth: controller.bandwidth,
                    bound: controller.bound,
                });
            }
        }
        self.schedule_sample(now);
    }

    /// Bytes that records, packets in flight and connections take.
    pub(crate) fn bytes(&self) -> usize {
        self.network.bytes() + self.connections.bytes()
    }

    /// Records the connections that are open when the run ends, and the flows of datagrams.
    pub(crate) fn finish(&mut self) {
        for slot in self.connections.open_slots() {
            self.record_connection(slot, None);
        }
        if self.network.paths.recorder.wants_flows() {
            self.record_datagram_flows();
        }
    }

    fn with_end(
        &mut self,
        now: Instant,
        slot: u32,
        generation: u8,
        end: End,
        action: impl FnOnce(&mut sojourn_transport::Endpoint, &mut EndpointCall<'_, R>),
    ) {
        let Some(connection) = self.connections.get(slot, generation) else {
            return; // the connection was given up while this was on its way
        };
        let (endpoint, mut call) = surround(now, connection.end(end), &mut self.network, &mut self.endpoint_events);
        action(endpoint, &mut call);
        if R::WANTS_PACKETS {
            let seen = sender_seen(now, (slot, generation), end, endpoint);
            self.network.paths.recorder.on_sender(&seen);
        }
        if !self.endpoint_events.is_empty() {
            self.spread_endpoint_events(now);
        }
    }

    /// Turns what endpoints said into events of applications, and ends connections.
    fn spread_endpoint_events(&mut self, now: Instant) {
        use sojourn_transport::Event as From;
        while let Some((slot, generation, end, event)) = self.endpoint_events.pop_front() {
            let Some(connection) = self.connections.get(slot, generation) else {
                continue;
            };
            let (id, traffic) = (connection.id, connection.traffic);
            let event = match event {
                From::Connected => apps::Event::Connected(id, end),
                From::Acknowledged(total) => apps::Event::Acknowledged(id, end, total),
                From::PeerClosed => apps::Event::PeerClosed(id, end),
                From::Delivered(total) => apps::Event::Delivered(id, end, total),
                From::Early(first, below) => apps::Event::Early(id, end, first, below),
                From::Closed => {
                    connection.end(end).attachment.is_closed = true;
                    if !connection.ends.iter().all(|end| end.attachment.is_closed) {
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
            self.application_events.push_back(ApplicationEvent { traffic, event });
        }
    }

    /// Both ends forget the connection.
    fn abort(&mut self, now: Instant, slot: u32) {
        for end in [End::Client, End::Server] {
            let (endpoint, mut call) =
                surround(now, self.connections.in_slot(slot).end(end), &mut self.network, &mut self.endpoint_events);
            endpoint.abort(now, &mut call);
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

    /// Tells the recorder what has been counted so far, and that measuring begins.
    pub(crate) fn begin_measuring(&mut self, now: Instant) {
        for slot in self.connections.open_slots() {
            let (traffic, totals) = self.connection_totals(slot);
            let recorder = &mut self.network.paths.recorder;
            recorder.on_open_connection(traffic, &totals);
        }
        self.network.record_macs(now);
        self.network.paths.recorder.on_measure(now);
    }

    fn record_connection(&mut self, slot: u32, ended_at: Option<Instant>) {
        let (traffic, totals) = self.connection_totals(slot);
        self.network.paths.recorder.on_connection(traffic, &totals);
        if self.network.paths.recorder.wants_flows() {
            self.record_flows_of_connection(slot, ended_at);
        }
    }

    /// Returns the traffic entry of a connection, and the counters of both its ends.
    fn connection_totals(&mut self, slot: u32) -> (TrafficId, ConnectionTotals) {
        let connection = self.connections.in_slot(slot);
        let mut totals = ConnectionTotals::default();
        for (end, comes) in connection.ends.iter().zip([Direction::Downstream, Direction::Upstream]) {
            let statistics = end.endpoint.statistics();
            totals.marks_received[comes] += statistics.marks_received;
            totals.retransmissions += statistics.retransmissions();
            *totals.timeouts.get_or_insert(0) += statistics.timeouts;
            totals.connect_retries += statistics.syn_retransmissions;
        }
        (TrafficId(connection.traffic), totals)
    }

    fn record_flows_of_connection(&mut self, slot: u32, ended_at: Option<Instant>) {
        let connection = self.connections.in_slot(slot);
        for (from, to) in [(End::Client, End::Server), (End::Server, End::Client)] {
            let (sender, receiver) = (&connection.ends[from as usize], &connection.ends[to as usize]);
            let direction = direction_from(from);
            let row = FlowRow {
                traffic: TrafficId(connection.traffic),
                server: server_number(connection.place.0),
                direction,
                sub_flow: self.network.sub_flow(
                    sender.attachment.first_hop,
                    sender.attachment.flow_hash,
                    connection.dscp,
                ),
                flow_hash: sender.attachment.flow_hash,
                connection: Some(FlowConnection {
                    number: connection.id.0,
                    opened_at: connection.opened_at,
                    ended_at,
                    goodput: Bytes(receiver.attachment.delivered),
                    retransmissions: sender.endpoint.statistics().retransmissions(),
                    marks_received: receiver.endpoint.statistics().marks_received,
                }),
            };
            self.network.paths.recorder.on_flow(&row);
        }
    }

    fn record_datagram_flows(&mut self) {
        for (traffic, state) in (0..).zip(&self.traffic) {
            for (server, (sent, hashes)) in state.next_datagram.iter().zip(&state.datagram_hashes).enumerate() {
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
                        flow_hash: hash,
                        connection: None,
                    };
                    self.network.paths.recorder.on_flow(&row);
                }
            }
        }
    }
}

/// Returns the sender of one end, as recorders of packets receive it.
fn sender_seen(now: Instant, connection: (u32, u8), end: End, endpoint: &sojourn_transport::Endpoint) -> SenderSeen {
    let (snapshot, statistics) = (endpoint.snapshot(), endpoint.statistics());
    SenderSeen {
        now,
        connection,
        direction: direction_from(end),
        window: snapshot.window,
        threshold: snapshot.threshold,
        flight: snapshot.pipe,
        round_trip: snapshot.smoothed_round_trip.map(|smoothed| (smoothed, snapshot.round_trip_variation)),
        pacing_rate: endpoint.controller().1,
        least_round_trip: statistics.round_trip_extremes.map(|(least, _)| least),
        state: match snapshot.state {
            CongestionState::Open => "open",
            CongestionState::Disorder => "disorder",
            CongestionState::Recovery => "recovery",
            CongestionState::Loss => "loss",
        },
        reductions: [statistics.loss_reductions, statistics.mark_reductions, statistics.timeouts],
    }
}

/// Number of a server in packets and records.
fn server_number(server: usize) -> u32 {
    u32::try_from(server).expect("servers are numbered in 16 bits")
}
