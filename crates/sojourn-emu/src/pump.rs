//! The loop that moves packets: out of the ports into the model, and out of the model when they are due.
//!
//! One pass: everything that is due happens in the model and is written; then at most [`READ_AT_MOST`] units are read from
//! each port, each stamped with the time after its read; then the loop waits for what is due next, or for the first byte.
//!
//! Nothing is written before it is due. The model never learns when it was called: what it has planned happens at its own
//! time, so the rate over any long time is exact and lateness does not add up. If two looks at the clock lie more than
//! [`STALL`] apart, the program was stopped or starved: then model time stands still, and packets keep their spacing.

use crate::capture::{Captures, Side};
use crate::classify::Classifier;
use crate::clock::Clock;
use crate::emulated::{Counted, Due, Emulated};
use crate::flows::{Flows, Newcomer};
use crate::frame::{Carries, Frame, Frames};
use crate::headers::{Packet, Transport};
use crate::plan::{ETHERNET_HEADER, FarEnd, Plan, Refusal};
use crate::port::{Ends, Port, PortCounters};
use crate::segment::join::{Group, Joiner};
use crate::segment::{Offload, cut};
use crate::snapshot::{DirectionView, Snapshot, Stall, Summary};
use crate::witness::Witness;
use sojourn_base::{
    Address, BitRate, Bytes, Direction, Ecn, Instant, LinkId, Meta, PerDirection, ServiceQueue,
    Span, TrafficId,
};
use sojourn_link::network::HopId;
use sojourn_link::path::{Agenda, Path};
use sojourn_link::{LinkCounters, Network, WireConfig};
use sojourn_record::{
    ColumnRecorder, ConnectionTotals, DelaySplit, FlowConnection, FlowRow, MacCounters,
    RecordedLink, Recorder, Records, Table,
};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};

/// Most units that are read from a port in one pass, so that deliveries do not wait behind a flood of arrivals
/// (specification of the emulator, section 5).
pub const READ_AT_MOST: usize = 64;

/// A program that has not looked at the clock for longer than this was stopped. chosen: longer than the 50 ms that the kernel
/// takes real-time threads off a core for.
pub const STALL: Span = Span::from_ms(100);

/// Above this sum of both rates, segments that are due together are written together from the start (specification of the
/// emulator, section 6.3).
const JOINED_ABOVE: BitRate = BitRate::from_mbps(300);

/// Least time between two passes while writes are joined (specification, section 6.3).
const JOINED_EVERY: Span = Span::from_us(50);

/// Share of a core that the loop may need, and for how many seconds it may need more (specification, section 8): the kernel
/// takes real-time threads off their core at 95 %, for 50 ms.
const MOST_BUSY: f64 = 0.8;
/// See [`MOST_BUSY`].
const BUSY_SECONDS: u32 = 2;

/// Between two snapshots, and so the longest wait: a longer one could not be told from a stall.
pub const LOOK_EVERY: Span = Span::from_ms(50);

/// The run ends if more writes than this fail in a second (specification of the emulator, section 13).
const MOST_FAILED_WRITES: u64 = 100;

/// Model time at which an emulation ends: days, before the 213 that an [`Instant`] counts are over.
const LONGEST: Span = Span::from_s(200 * 86_400);

/// Most rows of datagrams (specification of the emulator, section 12).
const MOST_DATAGRAMS: usize = 5_000_000;

/// Why an emulation could not go on.
#[derive(Debug)]
pub struct Failure {
    /// What it was doing.
    pub doing: &'static str,
    /// What the operating system said.
    pub source: io::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.source)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// What is left of an emulation that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The records of a run, for [`Records::tables`] and metrics.
    pub records: Records,
    /// The tables `emulation` and `emulation_lateness`.
    pub tables: Vec<Table>,
    /// Why captures are not whole, if they could not be written.
    pub capture_failed: Option<io::Error>,
    /// What is said of it.
    pub summary: Summary,
}

/// An emulation between two ports.
#[derive(Debug)]
pub struct Pump<P> {
    ports: Ends<P>,
    intake: Intake,
    time: Time,
    next_look: Instant,
    next_second: Instant,
    /// What the ports had counted when they were asked last, and what processors had.
    counted: Ends<PortCounters>,
    busy: Option<Span>,
    stolen: Option<Span>,
    failed_writes: u64,
    /// What joins writes, once they are joined.
    joiner: Option<Joiner>,
    /// Seconds in a row in which the loop needed too much of its core.
    busy_seconds: u32,
    gave_priority_up: bool,
    /// What can be read, as far as the last wait has told.
    readable: PerDirection<bool>,
}

/// Model time, which stands still while the program does.
#[derive(Debug, Default)]
struct Time {
    /// Time of the clock at which model time began, moved by every stall; `None` before the first look.
    origin: Option<Instant>,
    last: Instant,
    last_pass: Instant,
    witness: Witness,
}

impl Time {
    /// Looks at the clock.
    fn look(&mut self, clock: &impl Clock) -> Instant {
        let now = clock.now();
        let Some(origin) = &mut self.origin else {
            self.origin = Some(now);
            (self.last, self.last_pass) = (now, now);
            return Instant::ZERO;
        };
        let gap = now.saturating_since(self.last);
        if gap > STALL {
            let at = Instant::ZERO + self.last.saturating_since(*origin);
            self.witness.stalls.push(Stall { at, gap });
            *origin = origin.saturating_add(gap);
        }
        self.last = self.last.max(now);
        Instant::ZERO + self.last.saturating_since(*origin)
    }

    /// Looks at the clock when a pass begins.
    fn begin_pass(&mut self, clock: &impl Clock) -> Instant {
        let before = self.last_pass;
        let now = self.look(clock);
        self.witness.on_gap(self.last.saturating_since(before));
        self.last_pass = self.last;
        now
    }

    /// Packets are written now; returns that time.
    fn on_written(&mut self, clock: &impl Clock, direction: Direction, packets: &[Due]) -> Instant {
        let now = self.look(clock);
        for packet in packets {
            self.witness.on_written(direction, packet.at, now);
        }
        now
    }

    /// The time of the clock at which model time is `at`.
    fn of_clock(&self, at: Instant) -> Instant {
        let origin = self.origin.unwrap_or(Instant::ZERO);
        at.saturating_add(origin.saturating_since(Instant::ZERO))
    }
}

/// The model, and what turns units into its packets.
#[derive(Debug)]
struct Intake {
    path: Path<Emulated>,
    classifier: Classifier,
    far: Vec<FarEnd>,
    /// First hops to and from each far address.
    routes: Vec<PerDirection<HopId>>,
    link_header: usize,
    overhead: u32,
    captures: Option<Captures>,
    /// Why they have ended, if they could not be written.
    capture_failed: Option<io::Error>,
}

impl<P: Port> Pump<P> {
    /// An idle emulation.
    ///
    /// # Errors
    /// What the plan asks for and nobody can give; see [`Plan::check`].
    pub fn new(plan: &Plan, ports: Ends<P>) -> Result<Self, Refusal> {
        let slots = plan.check()?;
        let classifier = Classifier::new(&plan.entries);
        let links = Direction::BOTH.map(|direction| {
            let link = &plan.access[direction];
            RecordedLink {
                name: direction.as_str().to_owned(),
                is_access: true,
                has_service_queues: link.link.queue.has_service_queues(),
                latency_histogram: link.latency_histogram.clone(),
            }
        });
        let names = classifier.names();
        let entries = names.len();
        let recorder = ColumnRecorder::over(plan.record, links.to_vec(), names)
            .with_most_datagrams(MOST_DATAGRAMS);
        let mut network = Network::new(true);
        let access = Direction::BOTH.map(|direction| {
            let link = &plan.access[direction];
            let config = (&link.link, &link.conditions[..], link.framing);
            network.add_link(direction.as_str(), direction, config, plan.seed)
        });
        let propagation = plan.access.upstream.propagation() + plan.access.downstream.propagation();
        let routes = plan.far.iter().map(|far| {
            let wire = WireConfig {
                rate: far.line_rate,
                delay: far.wire_delay(propagation),
            };
            let mut route = |direction: Direction| {
                let link = &access[direction as usize..][..1];
                network.add_route((TrafficId(0), 0), direction, link, wire)
            };
            PerDirection {
                upstream: route(Direction::Upstream),
                downstream: route(Direction::Downstream),
            }
        });
        let routes = routes.collect();
        let [.., a, b, c, d] = plan.seed.stream("flow_hash").bits().to_be_bytes();
        let longest = usize::try_from(plan.mtu.0).expect("an MTU is at most 9000 B");
        let context = Emulated {
            agenda: Agenda::default(),
            frames: Frames::new(slots, longest, plan.link_header),
            flows: Flows::new(entries, u32::from_be_bytes([a, b, c, d])),
            records_delays: recorder.wants_delays(),
            recorder,
            due: VecDeque::with_capacity(slots.min(1 << 16)),
            counted: PerDirection::default(),
            refused: 0,
        };
        Ok(Self {
            ports,
            intake: Intake {
                path: Path { network, context },
                classifier,
                far: plan.far.clone(),
                routes,
                link_header: plan.link_header,
                overhead: u32::try_from(plan.overhead.0).expect("an overhead is a few bytes"),
                captures: None,
                capture_failed: None,
            },
            time: Time::default(),
            next_look: Instant::ZERO + LOOK_EVERY,
            next_second: Instant::from_s(1),
            counted: Ends::default(),
            busy: None,
            stolen: None,
            failed_writes: 0,
            joiner: (plan.rate() > JOINED_ABOVE).then(|| Joiner::new(plan.link_header)),
            busy_seconds: 0,
            gave_priority_up: false,
            readable: PerDirection {
                upstream: true,
                downstream: true,
            },
        })
    }

    /// Keeps captures of what the model sees from now on.
    pub fn capture(&mut self, captures: Captures) {
        self.intake.captures = Some(captures);
    }

    /// Moves packets until the clock says that the emulation shall end. `watch` is called with a snapshot every
    /// [`LOOK_EVERY`], on this thread: it must not wait.
    ///
    /// # Errors
    /// If a device is gone or takes nothing any more, or the operating system cannot wait.
    pub fn run<C: Clock>(
        &mut self,
        clock: &mut C,
        watch: &mut dyn FnMut(&Snapshot),
    ) -> Result<(), Failure> {
        loop {
            let now = self.pass(clock)?;
            if now >= self.next_look {
                self.next_look = now + LOOK_EVERY;
                watch(&self.snapshot());
            }
            if now.saturating_since(Instant::ZERO) > LONGEST {
                return Ok(());
            }
            if self.joiner.is_some() {
                clock.rest(self.time.last_pass.saturating_add(JOINED_EVERY));
            }
            let until = self.intake.path.next_due().min(self.next_look);
            let wake = clock
                .wait(self.time.of_clock(until))
                .map_err(|source| Failure {
                    doing: "wait",
                    source,
                })?;
            self.readable = wake.readable;
            if wake.ended {
                return Ok(());
            }
        }
    }

    /// One pass; returns the model time at which it began.
    ///
    /// # Errors
    /// As [`Pump::run`].
    pub fn pass<C: Clock>(&mut self, clock: &mut C) -> Result<Instant, Failure> {
        let now = self.time.begin_pass(clock);
        self.intake.path.advance(now);
        self.write_due(clock)?;
        for direction in Direction::BOTH {
            if !self.readable[direction] {
                continue;
            }
            let (time, intake) = (&mut self.time, &mut self.intake);
            let read =
                self.ports
                    .source(direction)
                    .read_batch(READ_AT_MOST, &mut |offload, unit| {
                        let now = time.look(clock);
                        time.witness.hidden_losses += intake.take_in(now, direction, offload, unit);
                    });
            read.map_err(|source| Failure {
                doing: match direction {
                    Direction::Upstream => "read from the inside",
                    Direction::Downstream => "read from the far end",
                },
                source,
            })?;
        }
        self.write_due(clock)?;
        if now >= self.next_second {
            self.end_second(now, clock);
        }
        Ok(now)
    }

    /// Writes what is due.
    fn write_due(&mut self, clock: &impl Clock) -> Result<(), Failure> {
        while let Some(due) = self.intake.path.context.due.pop_front() {
            self.capture_left(due);
            let Some(mut joiner) = self.joiner.take() else {
                let context = &self.intake.path.context;
                let frame = context.frames.get(due.slot);
                let bytes = IoSlice::new(context.frames.bytes(due.slot));
                let (direction, offload) = (frame.direction, frame.offload);
                let now = self.time.on_written(clock, direction, &[due]);
                debug_assert!(due.at <= now, "nothing is written early");
                let written = self.ports.sink(direction).write(offload, &[bytes]);
                self.after_write(direction, &[due], written)?;
                continue;
            };
            let mut done = Ok(());
            while let Some(group) = joiner.offer(&self.intake.path.context.frames, due) {
                done = done.and(self.write_group(clock, &mut joiner, group));
            }
            self.joiner = Some(joiner);
            done?;
        }
        if let Some(mut joiner) = self.joiner.take() {
            let mut done = Ok(());
            while let Some(group) = joiner.next() {
                done = done.and(self.write_group(clock, &mut joiner, group));
            }
            self.joiner = Some(joiner);
            done?;
        }
        let refused = core::mem::take(&mut self.intake.path.context.refused);
        self.time.witness.hidden_losses += refused;
        Ok(())
    }

    fn capture_left(&mut self, due: Due) {
        if let Some(captures) = &mut self.intake.captures {
            let frames = &self.intake.path.context.frames;
            let frame = frames.get(due.slot);
            let packet = (frame.offload, frames.bytes(due.slot));
            let written = captures.write(frame.direction, Side::Left, due.at, packet);
            self.intake.capture_failed = self.intake.capture_failed.take().or(written.err());
        }
    }

    /// Writes segments that are due together.
    fn write_group(
        &mut self,
        clock: &impl Clock,
        joiner: &mut Joiner,
        group: Group,
    ) -> Result<(), Failure> {
        let frames = &self.intake.path.context.frames;
        let direction = frames.get(group.members[0].slot).direction;
        self.time.on_written(clock, direction, &group.members);
        let sink = self.ports.sink(direction);
        let written = joiner.write(frames, &group, |offload, parts| sink.write(offload, parts));
        let done = self.after_write(direction, &group.members, written);
        joiner.give_back(group);
        done
    }

    /// A unit of these packets was written, or not.
    fn after_write(
        &mut self,
        direction: Direction,
        members: &[Due],
        written: io::Result<()>,
    ) -> Result<(), Failure> {
        for member in members {
            self.intake.path.context.frames.free(member.slot);
        }
        let Err(source) = written else {
            return Ok(());
        };
        self.time.witness.hidden_losses += members.len() as u64;
        self.failed_writes += 1;
        if self.failed_writes > MOST_FAILED_WRITES {
            return Err(Failure {
                doing: match direction {
                    Direction::Upstream => "write to the far end",
                    Direction::Downstream => "write to the inside",
                },
                source,
            });
        }
        Ok(())
    }

    /// A second of model time is over.
    fn end_second(&mut self, now: Instant, clock: &mut impl Clock) {
        self.count_lost();
        let second = now.saturating_since(self.next_second) + Span::from_s(1);
        let share = |before: &mut Option<Span>, after: Option<Span>| {
            let before = core::mem::replace(before, after);
            Some(after?.saturating_sub(before?).as_secs_f64() / second.as_secs_f64())
        };
        let busy = share(&mut self.busy, clock.busy());
        self.guard(busy, clock);
        let stolen = share(&mut self.stolen, clock.stolen());
        self.time.witness.end_second(now, busy, stolen);
        for direction in Direction::BOTH {
            let counted = &mut self.intake.path.context.counted[direction];
            let delays = &mut counted.delays;
            counted.last_second = (delays.quantile(0.5), delays.quantile(0.99));
            delays.clear();
        }
        self.failed_writes = 0;
        self.next_second = now + Span::from_s(1);
    }

    /// A loop that needs too much of its core joins writes; one that still does gives up its priority.
    fn guard(&mut self, busy: Option<f64>, clock: &mut impl Clock) {
        if busy.is_none_or(|busy| busy <= MOST_BUSY) {
            self.busy_seconds = 0;
            return;
        }
        self.busy_seconds += 1;
        if self.busy_seconds < BUSY_SECONDS {
            return;
        }
        self.busy_seconds = 0;
        if self.joiner.is_none() {
            self.joiner = Some(Joiner::new(self.intake.link_header));
        } else if !self.gave_priority_up {
            self.gave_priority_up = true;
            clock.give_priority_up();
        }
    }

    /// Asks the devices what they have dropped.
    fn count_lost(&mut self) {
        for direction in Direction::BOTH {
            let now = self.ports.source(direction).counters();
            let before = core::mem::replace(self.counted.source(direction), now);
            let tagged = now.tagged.saturating_sub(before.tagged);
            self.time.witness.hidden_losses += now.lost.saturating_sub(before.lost) + tagged;
            self.time.witness.tagged += tagged;
        }
    }

    /// What is seen now.
    pub fn snapshot(&self) -> Snapshot {
        let witness = &self.time.witness;
        let last = witness.seconds.last().copied().unwrap_or_default();
        let origin = self.time.origin.unwrap_or(self.time.last);
        let view = |direction: Direction| {
            let link = self.intake.path.network.link(LinkId(direction as u16));
            let counted: &Counted = &self.intake.path.context.counted[direction];
            DirectionView {
                entered: counted.entered,
                delivered: counted.delivered,
                dropped: counted.dropped,
                marked: counted.marked,
                backlog: (link.backlog().packets, link.backlog().bytes),
                staged: link.staged().packets,
                delay: counted.delay,
                delay_p50: counted.last_second.0,
                delay_p99: counted.last_second.1,
                lateness: last.lateness[direction],
            }
        };
        Snapshot {
            at: Instant::ZERO + self.time.last.saturating_since(origin),
            directions: PerDirection {
                upstream: view(Direction::Upstream),
                downstream: view(Direction::Downstream),
            },
            hidden_losses: witness.hidden_losses,
            stalls: u32::try_from(witness.stalls.len()).unwrap_or(u32::MAX),
            longest_gap: last.longest_gap,
            joins: self.joiner.is_some(),
            busy: witness.seconds.last().and_then(|second| second.busy),
        }
    }

    /// The emulation has ended: its records. Packets still on their way are neither delivered nor lost, as at the end of a
    /// simulation.
    pub fn finish(mut self) -> Finished {
        self.count_lost();
        let end = self.snapshot().at;
        let Intake { path, routes, .. } = &mut self.intake;
        path.advance(end);
        let Path { network, context } = path;
        network.settle(end, context);
        for (link, counters, flows) in network.counters() {
            if let Some(counters) = counters {
                context.recorder.on_mac(link, &mac_counters(&counters));
            }
            for (queue, counters) in flows {
                let counters = mac_counters(&counters);
                context.recorder.on_service_flow(link, queue, &counters);
            }
        }
        record_connections(context, network, routes);
        context.recorder.on_end(end);
        let witness = self.time.witness;
        let summary = Summary {
            grade: witness.grade(self.joiner.is_some()),
            duration: end.saturating_since(Instant::ZERO),
            lateness: witness.summary(),
            hidden_losses: witness.hidden_losses,
            tagged: witness.tagged,
            stalls: witness.stalls.clone(),
            joined: self.joiner.is_some(),
            gave_priority_up: self.gave_priority_up,
        };
        let captured = self.intake.captures.map_or(Ok(()), Captures::finish);
        Finished {
            capture_failed: self.intake.capture_failed.or(captured.err()),
            tables: witness.tables(),
            records: self.intake.path.context.recorder.into_records(),
            summary,
        }
    }
}

impl Intake {
    /// A unit has come: its packets enter the model, all at the same time. Returns how many found no room.
    fn take_in(
        &mut self,
        now: Instant,
        direction: Direction,
        offload: Offload,
        unit: &[u8],
    ) -> u64 {
        let mut refused = 0;
        cut(
            unit,
            offload,
            self.link_header,
            |offload, headers, payload| {
                refused += u64::from(
                    self.enter(now, direction, offload, [headers, payload])
                        .is_none(),
                );
            },
        );
        refused
    }

    /// A packet enters; `None` if there is no room for it.
    fn enter(
        &mut self,
        now: Instant,
        direction: Direction,
        offload: Offload,
        parts: [&[u8]; 2],
    ) -> Option<()> {
        let length = parts[0].len() + parts[1].len();
        let frame = Frame {
            meta: Meta::default(),
            offload,
            length,
            direction,
            traffic: TrafficId(0),
            entered_at: now,
            carries: Carries::Segment {
                payload: 0,
                flow: None,
            },
            split: DelaySplit::default(),
        };
        let context = &mut self.path.context;
        let slot = context.frames.insert(frame, parts)?;
        let bytes = context.frames.bytes(slot);
        if let Some(captures) = &mut self.captures {
            let written = captures.write(direction, Side::Entered, now, (offload, bytes));
            self.capture_failed = self.capture_failed.take().or(written.err());
        }
        let packet = ip_of(bytes, self.link_header).and_then(Packet::read);
        let far = packet
            .as_ref()
            .map_or(0, |packet| self.far_of(packet, direction));
        let traffic = self.classifier.traffic_of(packet.as_ref(), far);
        let context = &mut self.path.context;
        let meta = match &packet {
            Some(packet) => Meta {
                length: u32::try_from(packet.length).expect("16 bits and a header") + self.overhead,
                flow_hash: context.flows.hash(&packet.flow),
                mac_overhead: 0,
                dscp: packet.dscp,
                ecn: packet.ecn,
                pure_ack: packet.is_pure_ack(),
                host: 0,
                queue: ServiceQueue::Classic,
            },
            None => Meta {
                length: u32::try_from(length.saturating_sub(self.link_header)).ok()?
                    + self.overhead,
                ecn: Ecn::NotEct,
                ..Meta::default()
            },
        };
        let newcomer = Newcomer {
            now,
            direction,
            traffic,
            far,
        };
        let carries = self.carries(packet.as_ref(), &meta, newcomer);
        let context = &mut self.path.context;
        let frame = context.frames.get_mut(slot);
        (frame.meta, frame.traffic, frame.carries) = (meta, traffic, carries);
        context.on_entered(traffic, direction, meta.length);
        let first = self.routes[far][direction];
        self.path.enter(now, slot, first, meta);
        Some(())
    }

    /// The far address of a packet: that it goes to, or comes from.
    fn far_of(&self, packet: &Packet, direction: Direction) -> usize {
        let address = match direction {
            Direction::Upstream => packet.flow.destination,
            Direction::Downstream => packet.flow.source,
        };
        let is_it = |far: &FarEnd| match address {
            Address::V4(word) => word == far.v4.to_bits(),
            Address::V6(bits) => bits == far.v6.to_bits(),
        };
        self.far.iter().position(is_it).unwrap_or(0)
    }

    /// What a packet carries, and what its flow counts of it.
    fn carries(&mut self, packet: Option<&Packet>, meta: &Meta, newcomer: Newcomer) -> Carries {
        let context = &mut self.path.context;
        let Some(packet) = packet else {
            return Carries::Datagram {
                flow: 0,
                sequence: 0,
            };
        };
        let flow = context.flows.of(packet, meta.flow_hash, newcomer);
        let mut sequence = 0;
        let mut number = 0;
        if let Some(flow) = flow {
            let seen = &mut context.flows.seen[flow as usize];
            (sequence, number) = (seen.packets, seen.number);
            seen.packets = seen.packets.wrapping_add(1);
            seen.bytes += Bytes(meta.length.into());
        }
        let Transport::Tcp(header) = packet.transport else {
            return Carries::Datagram {
                flow: number,
                sequence,
            };
        };
        if let Some(flow) = flow
            && let Some((traffic, bytes)) = context.flows.on_segment(flow, newcomer.now, &header)
            && bytes > 0
        {
            let direction = newcomer.direction.reversed();
            context
                .recorder
                .on_goodput(traffic, direction, Bytes(bytes));
        }
        Carries::Segment {
            payload: header.payload,
            flow,
        }
    }
}

/// The IP packet in a frame, if it holds one: behind an Ethernet header, by its type (IEEE 802.3, RFC 894, RFC 2464).
fn ip_of(frame: &[u8], link_header: usize) -> Option<&[u8]> {
    if link_header == ETHERNET_HEADER {
        let is_ip = matches!(frame.get(12..14)?, [0x08, 0x00] | [0x86, 0xdd]);
        return is_ip.then(|| &frame[ETHERNET_HEADER..]);
    }
    frame.get(link_header..)
}

/// Tells the recorder of all connections and flows.
fn record_connections(context: &mut Emulated, network: &Network, routes: &[PerDirection<HopId>]) {
    let Emulated {
        flows, recorder, ..
    } = context;
    let mut marks = vec![PerDirection::<u64>::default(); flows.connections.len()];
    for flow in &flows.seen {
        if let Some(connection) = flow.connection {
            marks[connection as usize][flow.direction] += flow.marks;
        }
    }
    for (connection, marks_received) in flows.connections.iter().zip(&marks) {
        let seen = &connection.seen;
        let repeated = Direction::BOTH.map(|direction| seen.retransmissions(direction));
        let totals = ConnectionTotals {
            retransmissions: repeated.iter().sum(),
            timeouts: None,
            connect_retries: seen.syn_retries(),
            marks_received: *marks_received,
        };
        recorder.on_connection(connection.traffic, &totals);
    }
    if !recorder.wants_flows() {
        return;
    }
    for flow in &flows.seen {
        let first = routes[flow.far][flow.direction];
        recorder.on_flow(&FlowRow {
            traffic: flow.traffic,
            server: flow
                .connection
                .map_or(flow.number, |_| far_number(flow.far)),
            direction: flow.direction,
            sub_flow: network.sub_flow(first, flow.hash, flow.dscp),
            flow_hash: flow.hash,
            connection: flow.connection.map(|number| {
                let connection = &flows.connections[number as usize];
                FlowConnection {
                    number,
                    opened_at: connection.opened_at,
                    ended_at: connection.ended_at,
                    goodput: Bytes(connection.seen.goodput(flow.direction)),
                    retransmissions: connection.seen.retransmissions(flow.direction),
                    marks_received: flow.marks,
                }
            }),
        });
    }
}

fn far_number(far: usize) -> u32 {
    u32::try_from(far).expect("there are at most sixteen far addresses")
}

fn mac_counters(counters: &LinkCounters) -> MacCounters {
    MacCounters {
        requested: counters.requested,
        granted: counters.granted,
        unused: counters.unused_grant,
    }
}

#[cfg(test)]
mod tests;
