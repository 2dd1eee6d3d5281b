//! One run: builds the world of a scenario and turns the crank until its time is over.

use crate::address::{client_address, flow_hash, tunnel_hash};
use crate::application_call::ApplicationCall;
use crate::changes::{self, Command, Due, Pausable};
use crate::event::Event;
use crate::network::Network;
use crate::ports::PortPool;
use crate::work::Interrupt;
use crate::world::{TrafficState, World};
use sojourn_apps::{Application, Draw, End, Interest, ProbeConfig};
use sojourn_base::{Direction, Instant, Seed, Span};
use sojourn_link::WireConfig;
use sojourn_link::network::{GroupModem, HopId};
use sojourn_queue::FlowFields;
use sojourn_record::{ColumnRecorder, LinkId, RecordConfig, RecordedLink, Recorder, TrafficId};
use sojourn_scenario::{Change, PlacedTraffic, Scenario};
use sojourn_transport::StackConfig;
use sojourn_transport::library::Library;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Events, and steps within them, between two looks at the cancellation flag: well under a millisecond.
const STEPS_PER_LOOK: u64 = 4096;

/// Looks between two weighings of what a run keeps. chosen: some tens of thousands of steps add a few megabytes,
/// and the recorder's parts are too many to be added up more often.
const LOOKS_PER_WEIGHING: u64 = 16;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time that it has reached.
    pub now: Instant,
    /// Bytes that records, packets and connections took when they were weighed last; records twice, as they will be
    /// for a moment, counted and as columns of tables.
    pub bytes: usize,
}

/// Costs of a run, apart from time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStatistics {
    /// Events handled.
    pub events: u64,
    /// Packets delivered by links: one packet over two links counts twice.
    pub packet_hops: u64,
    /// Packets still in queues and on wires when the run ended.
    pub in_flight: usize,
}

/// A finished run.
#[derive(Debug)]
pub struct Outcome<R> {
    /// The recorder at the end of the run.
    pub recorder: R,
    /// Costs of the run.
    pub statistics: RunStatistics,
}

/// The run was cancelled before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl core::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the run was cancelled")
    }
}

impl core::error::Error for Cancelled {}

/// A recorder for the links and the traffic entries of `scenario`.
pub fn column_recorder(scenario: &Scenario, config: RecordConfig) -> ColumnRecorder {
    let topology = scenario.topology();
    let is_probe = |placed: &PlacedTraffic<'_>| placed.entry.application.get::<ProbeConfig>().is_some();
    let samplers = topology.traffic.iter().map(is_probe).collect();
    let connects = |placed: &PlacedTraffic<'_>| placed.entry.application.datagrams().is_none();
    let connecting: Vec<bool> = topology.traffic.iter().map(connects).collect();
    let joins = topology.traffic.iter().map(|placed| placed.passes_station(&topology));
    let joins: Vec<bool> = joins.collect();
    let links = topology.links.into_iter().map(|link| RecordedLink {
        name: link.subject,
        is_access: link.is_access,
        has_service_queues: link.config.link.queue.has_service_queues(),
        latency_histogram: link.config.latency_histogram.clone(),
    });
    let traffic = topology.traffic.into_iter().map(|placed| placed.subject);
    ColumnRecorder::over(config, links.collect(), traffic.collect())
        .joining(joins)
        .with_samples_of(samplers)
        .following_one_packet_of(&connecting)
}

/// Runs `scenario` with `seed` into `recorder`. The same scenario and seed give the same records,
/// whatever else happens; `is_cancelled` is asked every few thousand events.
///
/// # Errors
/// [`Cancelled`] if `is_cancelled` said so; nothing of the run is kept.
pub fn run<R: Recorder>(
    scenario: &Scenario,
    seed: Seed,
    recorder: R,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Outcome<R>, Cancelled> {
    let interrupt = Interrupt::default();
    run_watched(scenario, seed, recorder, &interrupt, &|_| is_cancelled())
}

/// As [`run`], with progress: `is_cancelled` receives the time that the run has reached and the memory that it takes.
/// It is called between events only; `interrupt` is also checked within a long event.
///
/// # Errors
/// [`Cancelled`] if `is_cancelled` said so, or `interrupt` was set; nothing of the run is kept.
pub fn run_watched<R: Recorder>(
    scenario: &Scenario,
    seed: Seed,
    recorder: R,
    interrupt: &Interrupt,
    is_cancelled: &dyn Fn(Progress) -> bool,
) -> Result<Outcome<R>, Cancelled> {
    let mut simulation = Simulation::open(scenario, seed, recorder, interrupt)?;
    let (mut bytes, mut looks, mut looked_at) = (0, 0, 0);
    while simulation.advance(Instant::NEVER, STEPS_PER_LOOK) != Reached::End {
        let steps = simulation.steps();
        looks += (steps - looked_at) / STEPS_PER_LOOK;
        looked_at = steps;
        if looks >= LOOKS_PER_WEIGHING {
            looks = 0;
            bytes = simulation.bytes();
        }
        let now = simulation.now;
        if interrupt.is_set() || is_cancelled(Progress { now, bytes }) {
            return Err(Cancelled);
        }
    }
    Ok(simulation.finish())
}

/// Why [`Simulation::advance`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// All events before the time that was asked for are handled.
    Until,
    /// The number of steps was reached, or the run was interrupted; the time may be any earlier one.
    Steps,
    /// All events before the end of the scenario are handled.
    End,
}

/// A run that advances on request, and can be read in between. Its results equal those of [`run`], however its time is
/// divided.
#[derive(Debug)]
pub struct Simulation<R> {
    world: World<R>,
    applications: Vec<Box<dyn Application>>,
    now: Instant,
    /// End of the warm-up, if it is still to come.
    warm_up_ends: Option<Instant>,
    /// Remaining changes of the scenario.
    changes: VecDeque<Due>,
    end: Instant,
    events: u64,
    /// A library whose code has a clock of its own.
    outside: Option<Arc<dyn Library>>,
}

impl<R: Recorder> Simulation<R> {
    /// Builds the world of `scenario` and starts its applications.
    ///
    /// # Errors
    /// [`Cancelled`] if `interrupt` was set meanwhile.
    pub fn open(scenario: &Scenario, seed: Seed, recorder: R, interrupt: &Interrupt) -> Result<Self, Cancelled> {
        // Each part of the set-up is bounded, and there may be thousands.
        let go_on = || {
            if interrupt.is_set() { Err(Cancelled) } else { Ok(()) }
        };
        let mut network = Network::new(recorder, interrupt.clone());
        let topology = scenario.topology();
        let links: Vec<LinkId> = topology
            .links
            .iter()
            .map(|link| {
                go_on()?;
                if link.is_modem || link.station.is_some() {
                    let framing = link.config.framing;
                    return Ok(network.add_modem(&link.subject, link.direction, framing, seed));
                }
                let config = (&link.config.link, &link.config.conditions[..], link.config.framing);
                let number = network.add_link(&link.subject, link.direction, config, seed);
                network.add_flows(number, link.config, scenario);
                Ok(number)
            })
            .collect::<Result<_, _>>()?;
        for direction in Direction::BOTH {
            let modems = topology.links.iter().zip(&links);
            let modems: Vec<GroupModem<'_>> = modems
                .filter(|(link, _)| link.is_modem && link.direction == direction)
                .map(|(link, id)| GroupModem { link: *id, config: &link.config.link, flows: &link.config.flows })
                .collect();
            if !modems.is_empty() {
                network.add_group(direction, scenario, &modems);
            }
        }
        crate::wifi::add_channels(scenario, &topology, &links, seed, &mut network);
        // Others are called without a detour.
        let may_pause = |placed: &PlacedTraffic<'_>| placed.entry.paused || scenario.changes.iter().any(Change::pauses);
        let applications: Vec<Box<dyn Application>> = topology
            .traffic
            .iter()
            .map(|placed| {
                go_on()?;
                let application = placed.entry.application.build();
                if !may_pause(placed) {
                    return Ok(application);
                }
                let pausable: Box<dyn Application> =
                    Box::new(Pausable { application, is_paused: placed.entry.paused, waiting: Vec::new() });
                Ok(pausable)
            })
            .collect::<Result<_, _>>()?;
        let interests = applications.iter().map(|application| application.interest());
        let fields = Direction::BOTH.map(|direction| topology.flow_fields(direction));
        // Each name of a home is a host, and so are its entries without one.
        let mut hosts = BTreeMap::new();
        let traffic = (0..)
            .zip(topology.traffic.iter().zip(interests))
            .map(|(number, (placed, interest))| {
                let next = u16::try_from(hosts.len()).unwrap_or(u16::MAX);
                let place = Place {
                    number,
                    host: *hosts.entry((placed.home, placed.entry.host.as_deref())).or_insert(next),
                    placed,
                    propagation: topology.propagation(placed),
                    fields,
                    path: Direction::BOTH.map(|direction| {
                        let path = &placed.path[direction];
                        path.iter().map(|link| links[*link]).collect()
                    }),
                };
                go_on()?;
                Ok(TrafficState::build(&place, interest, seed, &mut network))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let outside = {
            let mut libraries = traffic.iter().filter_map(|state| Some(&state.library.as_ref()?.0.library));
            libraries.find(|library| library.clock().is_some()).cloned()
        };
        let mut simulation = Self {
            world: World::new(network, traffic),
            outside,
            applications,
            now: Instant::ZERO,
            warm_up_ends: (Span::ZERO < scenario.measured_from && scenario.measured_from < scenario.duration)
                .then(|| Instant::ZERO.saturating_add(scenario.measured_from)),
            changes: changes::due(scenario, &links),
            end: Instant::ZERO.saturating_add(scenario.duration),
            events: 0,
        };
        simulation.start()?;
        Ok(simulation)
    }

    /// Handles the events before `until` and before the end of the scenario, but comes back after `steps`: events,
    /// and what takes long within one. The count of steps is the same on every machine.
    pub fn advance(&mut self, until: Instant, steps: u64) -> Reached {
        let until = until.min(self.end);
        let mut events = self.events;
        let limit = self.steps().saturating_add(steps);
        let mut bound = self.next_stop().min(until);
        let reached = loop {
            if self.outside.is_some() && self.let_outside_run(bound) {
                events += 1;
                continue;
            }
            let Some((now, event)) = self.world.network.paths.calendar.pop_before(bound) else {
                if bound < until {
                    self.stop_at(bound);
                    bound = self.next_stop().min(until);
                    continue;
                }
                self.world.network.paths.calendar.wait_until(until);
                self.now = self.now.max(until);
                break if until == self.end { Reached::End } else { Reached::Until };
            };
            events += 1;
            self.world.network.paths.recorder.on_clock(now);
            self.handle(now, event);
            self.tell_applications(now);
            if events + self.world.network.work() >= limit {
                self.now = now;
                break Reached::Steps;
            }
        };
        self.events = events;
        reached
    }

    /// Lets the code beside the run go on until the next event before `bound`, and returns whether it had something earlier.
    #[cold]
    fn let_outside_run(&mut self, bound: Instant) -> bool {
        let next = self.world.network.paths.calendar.next_before(bound);
        let clock = self.outside.as_ref().and_then(|library| library.clock());
        let Some(at) = clock.and_then(|clock| clock.wait(next.as_ps() / 1000)) else {
            return false;
        };
        let now = Instant::from_ps(at.saturating_mul(1000)).min(next).max(self.world.network.paths.calendar.now());
        self.world.network.paths.recorder.on_clock(now);
        self.world.on_outside(now);
        self.tell_applications(now);
        true
    }

    /// Returns the time of the next change or of the end of the warm-up; it precedes the events of that time.
    fn next_stop(&self) -> Instant {
        let change = self.changes.front().map_or(Instant::NEVER, |due| due.at);
        self.warm_up_ends.map_or(change, |at| at.min(change))
    }

    #[cold]
    fn stop_at(&mut self, now: Instant) {
        if let Some(from) = self.warm_up_ends.take_if(|at| *at == now) {
            self.world.begin_measuring(from);
        }
        if let Some(due) = self.changes.pop_front_if(|due| due.at == now) {
            self.world.network.paths.calendar.wait_until(now);
            self.world.network.paths.recorder.on_clock(now);
            for command in due.commands {
                self.change(now, command);
            }
            self.tell_applications(now);
        }
    }

    fn change(&mut self, now: Instant, command: Command) {
        match command {
            Command::Link(link, from, to) => {
                self.world.network.retune_link(now, link, (&from, &to));
            }
            Command::Count(link, counting) => self.world.network.paths.recorder.on_counting(link, counting),
            Command::Application(index, to) => {
                self.with_application(now, index, |application, call| {
                    application.retune(now, to.as_any(), call);
                });
            }
            Command::Pause(index, is_paused) => {
                self.with_application(now, index, |application, call| {
                    application.pause(now, is_paused, call);
                });
            }
        }
    }

    /// The time that it has reached.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Returns the end of the scenario.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Steps so far: events, and what takes long within one.
    pub fn steps(&self) -> u64 {
        self.events + self.world.network.work()
    }

    /// Bytes that records, packets in flight, connections and what applications keep take.
    pub fn bytes(&self) -> usize {
        self.world.bytes() + self.applications.iter().map(|application| application.bytes()).sum::<usize>()
    }

    /// Returns the recorder, with the records so far.
    pub fn recorder(&self) -> &R {
        &self.world.network.paths.recorder
    }

    /// As [`Self::recorder`], for a recorder that hands records over. The kinds of records that it wants must not
    /// change.
    pub fn recorder_mut(&mut self) -> &mut R {
        &mut self.world.network.paths.recorder
    }

    /// Ends the run at the time that it has reached.
    pub fn finish(mut self) -> Outcome<R> {
        let now = self.now;
        for index in 0..self.applications.len() {
            self.with_application(now, index, |application, call| {
                application.finish(now, call);
            });
        }
        self.world.finish();
        self.world.network.record_macs(now);
        self.world.network.paths.recorder.on_end(now);
        let network = self.world.network;
        let statistics =
            RunStatistics { events: self.events, packet_hops: network.packet_hops(), in_flight: network.in_flight() };
        Outcome { recorder: network.paths.recorder, statistics }
    }

    fn start(&mut self) -> Result<(), Cancelled> {
        for index in 0..self.applications.len() {
            self.with_application(Instant::ZERO, index, |application, call| {
                application.start(Instant::ZERO, call);
            });
            if self.world.network.paths.work.is_interrupted() {
                return Err(Cancelled);
            }
        }
        self.tell_applications(Instant::ZERO);
        self.world.schedule_sample(Instant::ZERO);
        Ok(())
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::WireDelivery { wire } => {
                while let Some(arrival) = self.world.network.take_from_wire(now, wire) {
                    self.world.on_arrival(now, &arrival);
                }
            }
            Event::LinkDelivery { link } => {
                while let Some(arrival) = self.world.network.take_from_link(now, link) {
                    self.world.on_arrival(now, &arrival);
                }
            }
            Event::Wakeup { link } => self.world.network.on_wakeup(now, link),
            Event::GroupWakeup { group } => self.world.network.on_group_wakeup(now, group),
            Event::EndpointTimer { end, timer, generation, slot } => {
                let end = if end { End::Server } else { End::Client };
                self.world.on_endpoint_timer(now, event, (slot, generation, end, timer));
            }
            Event::Sample => self.world.sample(now),
            Event::ApplicationTimer { traffic, token } => {
                self.with_application(now, usize::from(traffic), |application, call| {
                    application.on_event(now, sojourn_apps::Event::Timer(token), call);
                });
            }
        }
    }

    /// Brings to the applications what has happened, and what happens because of that.
    fn tell_applications(&mut self, now: Instant) {
        while let Some(event) = self.world.take_application_event() {
            self.with_application(now, usize::from(event.traffic), |application, call| {
                application.on_event(now, event.event, call);
            });
        }
    }

    fn with_application(
        &mut self,
        now: Instant,
        index: usize,
        action: impl FnOnce(&mut dyn Application, &mut ApplicationCall<'_, R>),
    ) {
        let traffic = u16::try_from(index).expect("the scenario limits the traffic list");
        let mut call = ApplicationCall { now, traffic, world: &mut self.world };
        action(&mut *self.applications[index], &mut call);
    }
}

/// A traffic entry with its place in the network.
struct Place<'a> {
    number: u16,
    host: u16,
    placed: &'a PlacedTraffic<'a>,
    /// Of the links on its path, both ways.
    propagation: Span,
    /// Fields that identify a flow in each direction; clients send upstream.
    fields: [FlowFields; 2],
    /// In each direction.
    path: [Vec<LinkId>; 2],
}

impl TrafficState {
    /// Adds the routes to the servers of an entry to the network, and the streams of its draws.
    ///
    /// The far side of the last link is one node (White 2012, Figure 1): each server hangs on it with a
    /// wire of its own in each direction.
    fn build<R: Recorder>(place: &Place<'_>, interest: Interest, seed: Seed, network: &mut Network<R>) -> Self {
        let (number, entry) = (place.number, place.placed.entry);
        let first_hops: Vec<[HopId; 2]> = (0..)
            .zip(&entry.servers)
            .map(|(of_entry, server)| {
                let wire = WireConfig { rate: server.line_rate, delay: server.wire_delay(place.propagation) };
                Direction::BOTH.map(|direction| {
                    let path = &place.path[direction as usize];
                    network.add_route((TrafficId(number), of_entry), direction, path, wire)
                })
            })
            .collect();
        let subject = &place.placed.subject;
        let stream = |purpose: Draw| seed.stream(&format!("traffic/{subject}/{}", purpose.as_str()));
        let [.., a, b, c, d] = seed.stream("flow_hash").bits().to_be_bytes();
        let perturbation = u32::from_be_bytes([a, b, c, d]);
        let servers = first_hops.len();
        let client = client_address(place.placed.home);
        let tunnel = entry
            .tunnel
            .as_ref()
            .map(|name| [End::Client, End::Server].map(|end| tunnel_hash(client, name, end, perturbation)));
        Self {
            stack: entry.stack.as_ref().map_or(StackConfig::LINUX_CUBIC, |stack| stack.config).into(),
            library: entry.stack.as_ref().and_then(|stack| stack.library.as_ref()).map(|library| {
                let library = library.build().expect("a process loads libraries before it runs them");
                (library, seed.stream(&format!("traffic/{subject}/library")))
            }),
            dscp: entry.dscp,
            host: place.host,
            ecn: entry.ecn,
            interest,
            next_datagram: vec![[0; 2]; servers],
            first_hops,
            streams: Draw::ALL.map(stream),
            ports: vec![PortPool::new(entry.ports); servers],
            tunnel,
            datagram_hashes: (0..servers)
                .map(|server| {
                    tunnel.unwrap_or([End::Client, End::Server].map(|end| {
                        let hashed = (place.fields[end as usize], perturbation);
                        flow_hash((client, number), server, 0, end, false, hashed)
                    }))
                })
                .collect(),
            perturbation,
            fields: place.fields,
            client,
        }
    }
}
