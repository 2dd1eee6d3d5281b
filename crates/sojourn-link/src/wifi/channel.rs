//! A channel at work: the devices on it, their queues, and the medium between them.
//!
//! A port is one direction of one station: from the access point to it, or back. Packets that reach a port wait in its device;
//! what the medium lets through leaves through the context of the port.
//!
//! Source: docs/models/wifi.md.
//! Deviations: a packet is handed up at the end of the exchange, after the answer to its aggregate.

mod device;

use self::device::{Aggregate, Device, Flow, Mpdu, Source};
use super::config::{DeviceConfig, Neighbour, RadioConfig};
use super::exchange::{BEST_EFFORT, CATEGORIES, Exchanges};

pub use super::exchange::category_of;
use super::medium::{Air, Contender, Frame, Medium, MediumCounters, Outcome};
use super::phy::Mode;
use super::rates::{RateControl, mixed};
use crate::group::timers::Timers;
use crate::group::{Members, Shared};
use crate::{DelayParts, Link, LinkContext, Loss, Passage, Stage};
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{
    BitRate, Bytes, Direction, Instant, Meta, PacketHandle, Packets, PerDirection, RandomStream, Span, WifiCounters,
};
use sojourn_queue::{Backlog, ManagerConfig, Reason};

/// A device, as it is built.
#[derive(Clone, Debug)]
pub struct DeviceSpec {
    /// Its queues.
    pub config: DeviceConfig,
    /// The manager of its queue, if it has one for all.
    pub queue: ManagerConfig,
}

/// One direction of a station, as it is built.
#[derive(Clone, Debug)]
pub struct PortSpec<'a> {
    /// Number of the station.
    pub station: usize,
    /// Upstream: from the station to the access point.
    pub direction: Direction,
    /// The manager of its queue, where queues are by station.
    pub queue: &'a ManagerConfig,
}

/// A channel, as it is built.
#[derive(Clone, Debug)]
pub struct ChannelSpec<'a> {
    /// The radio of all devices.
    pub radio: &'a RadioConfig,
    /// The access point.
    pub access_point: DeviceSpec,
    /// Its stations, with rate control of the frames from them and to them.
    pub stations: Vec<(DeviceSpec, PerDirection<RateControl>)>,
    /// Other homes.
    pub neighbours: Vec<Neighbour>,
    /// Pairs that do not hear each other: the access point is 0, stations follow.
    pub hidden: Vec<(usize, usize)>,
    /// Directions of stations that packets pass.
    pub ports: Vec<PortSpec<'a>>,
}

/// A port at work.
#[derive(Debug)]
struct Port {
    /// Number of its device, and of the device that it sends to.
    device: usize,
    receiver: usize,
    /// The port of the same station on the access point, whose turn its use of the air counts for.
    charged: Option<usize>,
    rates: RateControl,
    /// That of its last frames.
    mode: Mode,
    flows: [Option<Box<Flow>>; CATEGORIES],
    /// Airtime of its packets below the managed queues, estimated, by category.
    pending: [Span; CATEGORIES],
    below: Backlog,
    counters: WifiCounters,
    /// Aggregates so far: their numbers are the addresses of random draws.
    built: u64,
    queue: ManagerConfig,
    waiting: Backlog,
}

impl Link for Port {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER // its channel has its wake-ups
    }

    fn backlog(&self) -> Backlog {
        self.waiting
    }

    fn staged(&self) -> Backlog {
        self.below
    }
}

/// See the module.
#[derive(Debug)]
pub struct Channel {
    medium: Medium,
    inner: Inner,
}

/// All but the medium.
#[derive(Debug)]
struct Inner {
    devices: Vec<Device>,
    ports: Vec<Port>,
    exchanges: Exchanges,
    draws: Draws,
    /// Of receivers that wait for a missing frame, by flow.
    late: Timers,
    handed_up: Vec<(Instant, Arrived)>,
    /// Devices with traffic of their own.
    sources: Vec<usize>,
    /// Devices with room for more, beside the one whose exchange has ended.
    stirred: Vec<usize>,
}

/// A frame at its receiver.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    mpdu: Mpdu,
    began_at: Instant,
    air: Span,
}

/// Random draws by number: whatever else is drawn, these stay.
#[derive(Debug)]
struct Draws {
    seed: u64,
}

impl Draws {
    /// Returns a uniform draw in 0 to `most` for the `number`-th use of `whose`, of `lot` purposes.
    fn up_to(&self, (lot, whose, number): (u64, u64, u64), most: u64) -> u64 {
        let wide = u128::from(self.bits(lot, whose, number)) * (u128::from(most) + 1);
        u64::try_from(wide >> 64).unwrap_or(most)
    }

    /// Returns draws in [0, 1) that belong to the `number`-th use of `whose`, of `lot` purposes.
    fn of(&self, (lot, whose, number): (u64, u64, u64)) -> impl FnMut() -> f64 {
        let own = Self { seed: self.bits(lot, whose, number) };
        let mut drawn = 0;
        move || {
            drawn += 1;
            (own.bits(0, 0, drawn) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
        }
    }

    /// The output function of `SplitMix64` over an address.
    fn bits(&self, lot: u64, whose: u64, number: u64) -> u64 {
        let address = (lot << 32 | whose).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed(mixed(self.seed ^ address, u64::MAX), number)
    }
}

/// Purposes of draws.
const BACKOFF: u64 = 0;
const ERRORS: u64 = 1;
const ARRIVALS: u64 = 2;
const RATES: u64 = 3;
const WALKS: u64 = 4;

impl Channel {
    /// An idle channel: the access point with `stations`, and `ports` between them. Random draws are those of `stream`.
    pub fn new(spec: &ChannelSpec<'_>, mut stream: RandomStream) -> Self {
        let ChannelSpec { radio, access_point, stations, neighbours, hidden, ports } = spec;
        let exchanges = Exchanges::new(radio);
        let draws = Draws { seed: stream.bits() };
        let mut all = Vec::new();
        let downstream = |station: usize| {
            let is_it = |port: &PortSpec<'_>| port.station == station && port.direction == Direction::Downstream;
            ports.iter().position(is_it)
        };
        for spec in ports {
            let is_down = spec.direction == Direction::Downstream;
            let rates = &stations[spec.station].1[spec.direction];
            let mode = rates.clone().select(Instant::ZERO, &mut || 0.5);
            let sender = if spec.direction == Direction::Downstream { access_point } else { &stations[spec.station].0 };
            let of_sender = if spec.direction == Direction::Downstream { stations.len() as u64 } else { 1 };
            let (device, receiver) = if is_down { (0, 1 + spec.station) } else { (1 + spec.station, 0) };
            all.push(Port {
                device,
                receiver,
                charged: downstream(spec.station),
                mode,
                rates: {
                    let mut rates = rates.clone();
                    rates.seed(draws.bits(WALKS, spec.station as u64, 0));
                    rates
                },
                flows: Default::default(),
                pending: [Span::ZERO; CATEGORIES],
                below: Backlog::default(),
                counters: WifiCounters::default(),
                built: 0,
                queue: sender.config.queue_of(spec.queue, exchanges.capacity(mode, 64), of_sender),
                waiting: Backlog::default(),
            });
        }
        // A queue for all is limited in time at the rate of the fastest.
        let fastest = all.iter().map(|port| exchanges.capacity(port.mode, 64)).max().unwrap_or(BitRate::from_mbps(1));
        let device = |spec, ports, source| Device::new(spec, ports, source, fastest);
        let mut devices = alloc::vec![device(access_point, all.len(), None)];
        devices.extend(stations.iter().map(|(spec, _)| device(spec, all.len(), None)));
        for neighbour in neighbours {
            for _ in 0..neighbour.stations {
                devices.push(device(access_point, 0, Some(Source::new(neighbour, &exchanges))));
            }
        }
        let sources = (0..devices.len()).filter(|device| devices[*device].source.is_some()).collect();
        let mut contenders = Vec::new();
        for device in 0..devices.len() {
            contenders.extend(exchanges.categories(device == 0).map(|category| (device, category)));
        }
        let mut channel = Self {
            medium: Medium::new(exchanges.timing(), &contenders, hidden),
            inner: Inner {
                devices,
                late: Timers::new(all.len() * CATEGORIES),
                ports: all,
                exchanges,
                draws,
                sources,
                handed_up: Vec::new(),
                stirred: Vec::new(),
            },
        };
        for device in 0..channel.inner.devices.len() {
            channel.inner.next_arrival(device);
        }
        channel
    }

    /// One direction of a station, as a link.
    pub fn member(&self, port: usize) -> &dyn Link {
        &self.inner.ports[port]
    }

    /// Returns the counters of one direction of a station.
    pub fn member_counters(&self, port: usize) -> WifiCounters {
        self.inner.ports[port].counters
    }

    /// Returns the use of the medium.
    pub const fn medium_counters(&self) -> MediumCounters {
        self.medium.counters()
    }

    /// A packet enters the queue of `port`.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        port: usize,
        meta: Meta,
        item: PacketHandle,
        members: &mut impl Members,
    ) {
        self.on_wakeup(now, members);
        let category = self.inner.exchanges.category(meta.dscp);
        let mut work = Work { inner: &mut self.inner, members };
        let device = work.inner.ports[port].device;
        work.enqueue(now, (port, category), meta, item);
        work.fill(now, device, category);
        if work.has_more(device, category) {
            self.medium.want(now, device * CATEGORIES + category, &mut work);
        }
        self.medium.advance(now, &mut work);
        self.settle(now, members);
    }

    /// Devices with room get what waits for it, until none has any.
    fn settle(&mut self, now: Instant, members: &mut impl Members) {
        let mut work = Work { inner: &mut self.inner, members };
        while let Some(device) = work.inner.stirred.pop() {
            for category in 0..CATEGORIES {
                work.fill(now, device, category);
                if work.has_more(device, category) {
                    self.medium.want(now, device * CATEGORIES + category, &mut work);
                }
            }
            self.medium.advance(now, &mut work);
        }
    }
}

impl Shared for Channel {
    fn next_wakeup(&self) -> Instant {
        let sources = self.inner.sources.iter().map(|device| self.inner.devices[*device].next_source());
        sources.fold(self.medium.next().min(self.inner.late.next()), Instant::min)
    }

    fn on_due(&mut self, now: Instant, members: &mut impl Members) {
        let mut work = Work { inner: &mut self.inner, members };
        for place in 0..work.inner.sources.len() {
            let device = work.inner.sources[place];
            if work.inner.devices[device].next_source() <= now {
                work.inner.arrive(now, device);
                self.medium.want(now, device * CATEGORIES + BEST_EFFORT, &mut work);
            }
        }
        while let Some(flow) = work.inner.late.take(now) {
            work.hand_up(now, flow / CATEGORIES, flow % CATEGORIES);
        }
        self.medium.advance(now, &mut work);
        self.settle(now, members);
    }
}

/// The category of voice.
pub const VOICE: usize = 0;

/// The category of video.
pub const VIDEO: usize = 1;

/// The channel during one call.
struct Work<'a, M> {
    inner: &'a mut Inner,
    members: &'a mut M,
}

impl Inner {
    /// The mode of the next aggregate of a port.
    fn select(&mut self, now: Instant, port: usize) -> Mode {
        let state = &mut self.ports[port];
        state.built += 1;
        let mut random = self.draws.of((RATES, port as u64, state.built));
        state.mode = state.rates.select(now, &mut random);
        state.mode
    }

    /// The next packet of a neighbour.
    fn next_arrival(&mut self, device: usize) {
        if let Some(source) = &mut self.devices[device].source {
            let gap = source.interval.as_ps();
            let drawn = self.draws.up_to((ARRIVALS, device as u64, source.arrived), 2 * gap);
            source.next_at += Span::from_ps(drawn);
            source.arrived += 1;
        }
    }

    /// Packets of a neighbour that have come by `now`.
    fn arrive(&mut self, now: Instant, device: usize) {
        while let Some(source) = &mut self.devices[device].source
            && source.next_at <= now
        {
            source.queued = (source.queued + 1).min(Source::MOST);
            self.next_arrival(device);
        }
    }
}

impl<M: Members> Work<'_, M> {
    /// Builds the next aggregate of a device and category, if there is one.
    fn build(&mut self, now: Instant, device: usize, category: usize) -> Option<Aggregate> {
        if self.inner.devices[device].source.is_some() {
            self.inner.arrive(now, device);
            let source = self.inner.devices[device].source.as_mut()?;
            return source.aggregate(now);
        }
        loop {
            let port = self.next_port(device, category)?;
            // Its manager may have dropped all of it.
            if let Some(aggregate) = self.aggregate(now, port, category) {
                return Some(aggregate);
            }
        }
    }

    /// An exchange has ended: each frame of the aggregate came or did not.
    fn settle_frames(&mut self, now: Instant, port: usize, category: usize, aggregate: Aggregate) {
        let Aggregate { mpdus, failed, began_at, mode, .. } = aggregate;
        for (place, mut mpdu) in mpdus.into_iter().enumerate() {
            mpdu.tries += 1;
            let inner = &mut *self.inner;
            let state = &mut inner.ports[port];
            let flow = state.flows[category].as_mut().expect("it has sent");
            if failed.get(place) == Some(&true) {
                state.counters.failed += 1;
                if mpdu.tries < inner.exchanges.most_tries {
                    let place = flow.again.partition_point(|other| other.number < mpdu.number);
                    flow.again.insert(place, mpdu);
                } else {
                    flow.order.give_up(mpdu.number);
                    self.leave(port, category, &mpdu);
                    self.lose(port, &mpdu);
                }
                continue;
            }
            let air = inner.exchanges.alone(mode, mpdu.held.meta.length).min(now.saturating_since(began_at));
            if let Some(late) = flow.order.receive(now, mpdu.number, Arrived { mpdu, began_at, air }) {
                self.lose(port, &late.mpdu);
            }
            self.leave(port, category, &mpdu);
        }
        self.hand_up(now, port, category);
    }

    /// A frame is no longer its sender's.
    fn leave(&mut self, port: usize, category: usize, mpdu: &Mpdu) {
        let state = &mut self.inner.ports[port];
        state.flows[category].as_mut().expect("it has sent").window.settle(mpdu.sequence);
        state.pending[category] = state.pending[category].saturating_sub(mpdu.airtime);
        state.below.packets = Packets(state.below.packets.0 - 1);
        state.below.bytes = Bytes(state.below.bytes.0 - u64::from(mpdu.held.meta.length));
        let device = &mut self.inner.devices[state.device];
        device.below[category] -= 1;
        device.pending = device.pending.saturating_sub(mpdu.airtime);
    }

    /// The packet of a frame is lost.
    fn lose(&mut self, port: usize, mpdu: &Mpdu) {
        self.inner.ports[port].counters.given_up += 1;
        let held = &mpdu.held;
        let (entered_at, sub_flow) = (held.enqueued_at, held.sub_flow);
        let loss = Loss { entered_at, stage: Stage::Line, reason: Reason::Unheard, sub_flow };
        self.members.at(port, &mut |context| context.dropped(held.item, &held.meta, &loss));
    }

    /// The receiver hands up what is in order.
    fn hand_up(&mut self, now: Instant, port: usize, category: usize) {
        let inner = &mut *self.inner;
        let state = &mut inner.ports[port];
        let Some(flow) = state.flows[category].as_mut() else { return };
        flow.order.release(now, &mut inner.handed_up);
        inner.late.follow(port * CATEGORIES + category, flow.order.deadline());
        if inner.handed_up.is_empty() {
            return;
        }
        let (counters, handed_up) = (&mut state.counters, &mut inner.handed_up);
        self.members.at(port, &mut |context| {
            for (came_at, arrived) in handed_up.drain(..) {
                deliver(now, came_at, &arrived, counters, context);
            }
        });
    }
}

/// A packet leaves the channel, its delay split by cause.
fn deliver(
    now: Instant,
    came_at: Instant,
    arrived: &Arrived,
    counters: &mut WifiCounters,
    context: &mut dyn LinkContext,
) {
    let Arrived { mpdu, began_at, air } = arrived;
    let held = &mpdu.held;
    let queue = mpdu.dequeued_at.saturating_since(held.enqueued_at);
    let firmware = mpdu.built_at.saturating_since(mpdu.dequeued_at);
    let contention = mpdu.first_sent_at.saturating_since(mpdu.built_at);
    let retries = began_at.saturating_since(mpdu.first_sent_at);
    let aggregation = came_at.saturating_since(*began_at).saturating_sub(*air);
    let reordering = now.saturating_since(came_at);
    counters.packets += 1;
    counters.queue += queue;
    counters.firmware += firmware;
    counters.contention += contention;
    counters.retries += retries;
    counters.aggregation += aggregation;
    counters.reordering += reordering;
    counters.air += *air;
    let delay = DelayParts {
        queue,
        pipeline: firmware + retries + reordering,
        hold: contention,
        framing: aggregation,
        serialisation: *air,
        ..DelayParts::default()
    };
    let passage = Passage::of(held, mpdu.dequeued_at, now, delay);
    context.deliver(held.item, &held.meta, &passage);
}

impl<M: Members> Air for Work<'_, M> {
    fn backoff(&mut self, contender: Contender, window: u32) -> u32 {
        let sent = &mut self.inner.devices[contender / CATEGORIES].backoffs[contender % CATEGORIES];
        *sent += 1;
        let drawn = self.inner.draws.up_to((BACKOFF, contender as u64, *sent), window.into());
        u32::try_from(drawn).unwrap_or(window)
    }

    fn frame(&mut self, now: Instant, contender: Contender, left: Option<Span>) -> Option<Frame> {
        let (device, category) = (contender / CATEGORIES, contender % CATEGORIES);
        if self.inner.devices[device].hardware[category].is_empty() {
            let aggregate = self.build(now, device, category)?;
            self.inner.devices[device].hardware[category].push_back(aggregate);
        }
        let inner = &mut *self.inner;
        // It is in the neighbour's own home: none of these devices.
        let neighbours_receiver = inner.devices.len();
        let aggregate = inner.devices[device].hardware[category].front_mut()?;
        if left.is_some_and(|left| aggregate.first + aggregate.rest > left) {
            return None;
        }
        aggregate.began_at = now;
        for mpdu in aggregate.mpdus.iter_mut().filter(|mpdu| mpdu.tries == 0 && mpdu.first_sent_at == Instant::NEVER) {
            mpdu.first_sent_at = now;
        }
        let mut receiver = neighbours_receiver;
        if let Some(port) = aggregate.port {
            let state = &mut inner.ports[port];
            receiver = state.receiver;
            state.counters.exchanges += 1;
            aggregate.failed.clear();
            if !aggregate.asks && !matches!(state.rates, RateControl::Fixed(_)) {
                let mut random = inner.draws.of((ERRORS, port as u64, state.built << 8 | u64::from(aggregate.tries)));
                for frame in aggregate.mpdus.chunk_by(|one, next| one.sequence == next.sequence) {
                    let bytes = Bytes(frame.iter().map(|mpdu| u64::from(mpdu.held.meta.length)).sum());
                    let loss = state.rates.loss(now, aggregate.mode, bytes);
                    let failed = random() < loss.get();
                    aggregate.failed.extend(frame.iter().map(|_| failed));
                }
            }
        }
        let answered = aggregate.failed.is_empty() || aggregate.failed.contains(&false);
        Some(Frame { first: aggregate.first, rest: aggregate.rest, receiver, answered })
    }

    fn overlapped(&mut self, contender: Contender, from: Instant, until: Instant) -> bool {
        let inner = &mut *self.inner;
        let hardware = &mut inner.devices[contender / CATEGORIES].hardware[contender % CATEGORIES];
        hardware.front_mut().is_some_and(|aggregate| aggregate.overlap(&inner.exchanges, from, until))
    }

    fn ended(&mut self, now: Instant, contender: Contender, outcome: Outcome, _tries: u32) -> bool {
        let (device, category) = (contender / CATEGORIES, contender % CATEGORIES);
        if outcome != Outcome::Internal {
            self.end_exchange(now, device, category, outcome);
            self.fill(now, device, category);
            self.inner.stirred.push(device);
        }
        self.has_more(device, category)
    }
}

#[cfg(test)]
mod tests;
