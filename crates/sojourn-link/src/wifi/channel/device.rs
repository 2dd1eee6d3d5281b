//! The queues of one device: what waits above its firmware, in it, and in the aggregates that are ready to be sent.
//!
//! Packets wait in one queue of the device, or in one for each station and category, in front of which the stations take
//! turns. From there they go to the firmware, which is as deep as its limit, and from the firmware into aggregates. Without
//! a firmware an aggregate takes its packets from the managed queue.
//!
//! Source: Linux net/mac80211/tx.c (queues by station and category), net/mac80211/sta_info.c (`ieee80211_sta_set_expected_throughput`,
//! airtime queue limits), drivers/net/wireless/ath/ath9k/xmit.c (two aggregates at a time); docs/models/wifi.md.
//! Deviations: the estimate of airtime below the queue is the packet's at the present rate, without preamble.

use super::{Arrived, DeviceSpec, Inner, Port, Work};
use crate::group::Members;
use crate::queue_call::{Drain, QueueCall, run_timers};
use crate::wifi::aggregate::{ReceiveOrder, SendWindow};
use crate::wifi::arbiter::{Arbiter, Turn};
use crate::wifi::config::{Depth, Neighbour, Queues, Scheduler, USUAL_LENGTH};
use crate::wifi::exchange::{BEST_EFFORT, CATEGORIES, Exchanges};
use crate::wifi::medium::Outcome;
use crate::wifi::phy::{Format, Mode};
use crate::wifi::rates::RateControl;
use crate::{LinkContext, Loss, Mark, Stage};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager, Reason, Score, Shaper};

/// A packet behind its managed queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Below {
    held: Held,
    dequeued_at: Instant,
    airtime: Span,
}

/// A frame of an aggregate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mpdu {
    pub(super) held: Held,
    /// Its place in the order of the receiver.
    pub(super) number: u64,
    /// Number of its frame: packets of an A-MSDU have one together.
    pub(super) sequence: u64,
    pub(super) airtime: Span,
    pub(super) dequeued_at: Instant,
    pub(super) built_at: Instant,
    /// [`Instant::NEVER`] before it is.
    pub(super) first_sent_at: Instant,
    pub(super) tries: u32,
}

/// How long a sender asks for an answer. Source: ns-3, `WifiMacQueue::MaxDelay`.
const LIFETIME: Span = Span::from_ms(500);

/// Frames that are sent together.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// `None` for a neighbour's.
    pub(super) port: Option<usize>,
    pub(super) mode: Mode,
    pub(super) mpdus: Vec<Mpdu>,
    /// Of each frame of the present try, whether noise hits it; empty if it hits none.
    pub(super) failed: Vec<bool>,
    pub(super) first: Span,
    pub(super) rest: Span,
    pub(super) began_at: Instant,
    /// It was not answered, and the next try asks only which of its frames have come.
    pub(super) asks: bool,
    /// Tries of the whole.
    pub(super) tries: u32,
}

/// A port's queues of one category.
#[derive(Debug)]
pub(super) struct Flow {
    /// `None` if the device has one queue for all.
    manager: Option<Box<dyn QueueManager>>,
    firmware: VecDeque<Below>,
    /// Frames that failed, in the order of their numbers.
    pub(super) again: VecDeque<Mpdu>,
    pub(super) window: SendWindow,
    /// Packets that have got numbers.
    numbered: u64,
    /// The receiver's.
    pub(super) order: ReceiveOrder<Arrived>,
}

/// The one queue of a device.
#[derive(Debug)]
struct SharedQueue {
    manager: Box<dyn QueueManager>,
    /// Port and category of each packet that waits.
    whose: BTreeMap<u64, (usize, usize)>,
    /// Drops and marks of the manager that its ports have not yet counted.
    signals: Vec<(Held, Reason, bool)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Device {
    shared: Option<SharedQueue>,
    depth: Depth,
    /// Aggregates that are ready before the medium is won.
    ahead: usize,
    /// Frames of an aggregate at most, its bytes and its duration.
    frames: usize,
    bytes: u64,
    longest: Span,
    /// Bytes of an A-MSDU at most; zero if there are none.
    amsdu: u64,
    asks: bool,
    /// Of stations in front of the firmware, and behind it.
    above: [Arbiter; CATEGORIES],
    behind: [Arbiter; CATEGORIES],
    pub(super) hardware: [VecDeque<Aggregate>; CATEGORIES],
    /// Packets below the managed queues, and their airtime.
    pub(super) below: [u64; CATEGORIES],
    pub(super) pending: Span,
    /// Backoffs drawn so far.
    pub(super) backoffs: [u64; CATEGORIES],
    pub(super) source: Option<Source>,
}

/// Traffic of a neighbour.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) interval: Span,
    pub(super) next_at: Instant,
    pub(super) arrived: u64,
    pub(super) queued: u64,
    mode: Mode,
    frames: usize,
    /// The exchange of each number of its frames.
    exchanges: Vec<(Span, Span)>,
}

impl Source {
    /// Packets that its queue holds. Source: Linux' default `txqueuelen`.
    pub(super) const MOST: u64 = 1000;
    /// Bytes of a packet. chosen: a full one of Ethernet.
    const LENGTH: u32 = 1500;

    pub(super) fn new(neighbour: &Neighbour, exchanges: &Exchanges) -> Self {
        let frames = exchanges.usual_frames(neighbour.mode, BEST_EFFORT, usize::MAX);
        let own = neighbour.load.as_bps() / u64::from(neighbour.stations).max(1);
        let bits = u128::from(Self::LENGTH) * 8 * 1_000_000_000_000;
        let interval = bits.checked_div(own.into()).and_then(|ps| u64::try_from(ps).ok());
        Self {
            interval: interval.map_or(Span::MAX / 4, Span::from_ps),
            next_at: Instant::ZERO,
            arrived: 0,
            queued: 0,
            mode: neighbour.mode,
            frames,
            exchanges: (1..=frames)
                .map(|count| exchanges.of(neighbour.mode, count, exchanges.psdu(count, Self::LENGTH)))
                .collect(),
        }
    }

    pub(super) fn aggregate(&mut self, now: Instant) -> Option<Aggregate> {
        let count = usize::try_from(self.queued).unwrap_or(self.frames).min(self.frames);
        let (first, rest) = *self.exchanges.get(count.checked_sub(1)?)?;
        self.queued -= count as u64;
        Some(Aggregate {
            port: None,
            mode: self.mode,
            mpdus: Vec::new(),
            failed: Vec::new(),
            first,
            rest,
            began_at: now,
            asks: false,
            tries: 0,
        })
    }
}

impl Device {
    pub(super) fn new(spec: &DeviceSpec, ports: usize, source: Option<Source>, fastest: BitRate) -> Self {
        let config = &spec.config;
        let quantum = match config.scheduler {
            Scheduler::Airtime => Some(config.quantum),
            Scheduler::RoundRobin => None,
        };
        let ring = |quantum| core::array::from_fn(|_| Arbiter::new(ports, quantum));
        let is_shared = source.is_none() && config.queues == Queues::Device;
        Self {
            shared: is_shared.then(|| SharedQueue {
                manager: spec.queue.clone().at(fastest).build(),
                whose: BTreeMap::new(),
                signals: Vec::new(),
            }),
            depth: config.depth(),
            ahead: config.ahead as usize,
            frames: config.frames as usize,
            bytes: config.aggregate.map_or(u64::MAX, |most| most.0),
            longest: config.longest,
            amsdu: config.amsdu.map_or(0, |most| most.0),
            asks: config.asks,
            above: ring(quantum),
            behind: ring(None),
            hardware: Default::default(),
            below: [0; CATEGORIES],
            pending: Span::ZERO,
            backoffs: [0; CATEGORIES],
            source,
        }
    }

    /// Returns when its own traffic wants the medium.
    pub(super) fn next_source(&self) -> Instant {
        match &self.source {
            Some(source) if source.queued == 0 && self.hardware[BEST_EFFORT].is_empty() => source.next_at,
            _ => Instant::NEVER,
        }
    }

    /// Returns true if packets of the category wait in a firmware of their own.
    const fn has_firmware(&self) -> bool {
        self.shared.is_some() || !matches!(self.depth, Depth::None)
    }

    /// Returns true if its firmware takes another packet of `port`.
    fn has_room(&self, port: &Port, category: usize) -> bool {
        match self.depth {
            // One aggregate is collected while others are sent.
            Depth::None => self.below[category] < (self.frames * (self.ahead + 1)) as u64,
            Depth::Packets(most) => self.below[category] < most,
            // `ieee80211_txq_airtime_check`: limits of a station and category, threshold of the device.
            Depth::Airtime { low, high, all } => {
                port.pending[category] < low || port.pending[category] < high && self.pending < all
            }
        }
    }
}

/// The queue context of a queue that ports share.
struct SharedCall<'a, C: ?Sized> {
    signals: &'a mut Vec<(Held, Reason, bool)>,
    /// Rate of the port of the call.
    rate: BitRate,
    context: &'a mut C,
}

impl<C: LinkContext + ?Sized> QueueContext for SharedCall<'_, C> {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        self.signals.push((packet, reason, true));
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        self.signals.push((*packet, reason, false));
    }

    fn scored(&mut self, packet: &Held, score: &Score) {
        self.context.scored(packet.item, &packet.meta, score);
    }

    fn estimated(&mut self, packet: &Held, delay: Span) {
        self.context.estimated(&packet.meta, delay);
    }

    fn shaper(&self) -> Shaper {
        Shaper { tokens: Bytes::ZERO, sustained: self.rate, peak: BitRate::ZERO }
    }

    fn unit(&mut self) -> f64 {
        self.context.unit(crate::Draw::QueueManager)
    }

    fn worked(&mut self, units: u64) {
        self.context.work(units);
    }
}

impl SharedQueue {
    /// Calls the manager at `now`, its timers first, each at its own time.
    fn call<T>(
        &mut self,
        now: Instant,
        rate: BitRate,
        context: &mut dyn LinkContext,
        act: impl FnOnce(&mut dyn QueueManager, &mut dyn QueueContext) -> T,
    ) -> T {
        let manager = &mut *self.manager;
        let mut signals = SharedCall { signals: &mut self.signals, rate, context };
        while let Some(due) = manager.next_timer().filter(|due| *due <= now) {
            if !signals.context.work(1) {
                break;
            }
            manager.on_timer(due, &mut signals);
        }
        act(manager, &mut signals)
    }
}

/// Calls a manager at `now`, its timers first.
fn call<T>(
    manager: &mut dyn QueueManager,
    now: Instant,
    rate: BitRate,
    context: &mut dyn LinkContext,
    act: impl FnOnce(&mut dyn QueueManager, &mut QueueCall<'_, dyn LinkContext + '_>) -> T,
) -> T {
    let mut call = QueueCall { now, drain: Drain::Line(rate), staged: Bytes::ZERO, loop_delay: Span::ZERO, context };
    if manager.next_timer().is_some_and(|timer| timer <= now) {
        run_timers(manager, now, &mut call);
    }
    act(manager, &mut call)
}

impl<M: Members> Work<'_, M> {
    /// A packet enters the queue of its device.
    pub(super) fn enqueue(&mut self, now: Instant, whose: (usize, usize), meta: Meta, item: PacketHandle) {
        let (port, category) = whose;
        let inner = &mut *self.inner;
        let state = &mut inner.ports[port];
        let device = &mut inner.devices[state.device];
        let is_shared = device.shared.is_some();
        let rate = state.mode.rate();
        let flow = state.flows[category].get_or_insert_with(|| {
            let manager = (!is_shared).then(|| state.queue.build());
            Box::new(Flow {
                manager,
                firmware: VecDeque::new(),
                again: VecDeque::new(),
                window: SendWindow::default(),
                numbered: 0,
                order: ReceiveOrder::default(),
            })
        });
        if let Some(shared) = &mut device.shared {
            shared.whose.insert(item.0, whose);
            self.members.at(port, &mut |context| {
                let _ = shared.call(now, rate, context, |manager, call| manager.enqueue(now, meta, item, call));
            });
            state.waiting.packets += Packets(1);
            state.waiting.bytes += Bytes(meta.length.into());
            let device = state.device;
            self.tell(device);
        } else {
            let manager = flow.manager.as_deref_mut().expect("queues are by station");
            self.members.at(port, &mut |context| {
                call(manager, now, rate, context, |manager, call| {
                    let _ = manager.enqueue(now, meta, item, call);
                });
            });
            state.count_waiting();
            device.above[category].list(port);
        }
    }

    /// Tells the ports what the queue that they share has done to their packets.
    fn tell(&mut self, device: usize) {
        let Some(shared) = &mut self.inner.devices[device].shared else { return };
        if shared.signals.is_empty() {
            return;
        }
        for (held, reason, is_loss) in core::mem::take(&mut shared.signals) {
            let whose =
                if is_loss { shared.whose.remove(&held.item.0) } else { shared.whose.get(&held.item.0).copied() };
            let Some((port, _)) = whose else { continue };
            if is_loss {
                let waiting = &mut self.inner.ports[port].waiting;
                waiting.packets = Packets(waiting.packets.0.saturating_sub(1));
                waiting.bytes = Bytes(waiting.bytes.0.saturating_sub(held.meta.length.into()));
            }
            let (entered_at, sub_flow) = (held.enqueued_at, held.sub_flow);
            self.members.at(port, &mut |context| {
                if is_loss {
                    let loss = Loss { entered_at, stage: Stage::Queue, reason, sub_flow };
                    context.dropped(held.item, &held.meta, &loss);
                } else {
                    context.marked(held.item, &held.meta, &Mark { entered_at, reason, sub_flow });
                }
            });
        }
    }

    /// Fills firmware and hardware of a device.
    pub(super) fn fill(&mut self, now: Instant, device: usize, category: usize) {
        if self.inner.devices[device].source.is_none() && self.inner.devices[device].has_firmware() {
            self.fill_firmware(now, device, category);
        }
        while self.inner.devices[device].hardware[category].len() < self.inner.devices[device].ahead {
            let Some(aggregate) = self.build(now, device, category) else { return };
            self.inner.devices[device].hardware[category].push_back(aggregate);
        }
    }

    /// Moves packets from the managed queues into the firmware while it has room.
    fn fill_firmware(&mut self, now: Instant, device: usize, category: usize) {
        loop {
            let inner = &mut *self.inner;
            let state = &mut inner.devices[device];
            if state.shared.is_some() {
                if !self.pull_shared(now, device) {
                    return;
                }
                continue;
            }
            let ports = &inner.ports;
            let mut above = core::mem::replace(&mut state.above[category], Arbiter::new(0, None));
            let port = above.next(|port| {
                if ports[port].is_waiting(category) {
                    if state.has_room(&ports[port], category) { Turn::Ready } else { Turn::HeldBack }
                } else {
                    Turn::Empty
                }
            });
            state.above[category] = above;
            let Some(port) = port else { return };
            if let Some(below) = self.pull(now, port, category) {
                self.take_below(port, category, below);
            }
        }
    }

    /// Takes a packet from the queue that all stations share. Returns false if there is none, or no room.
    fn pull_shared(&mut self, now: Instant, device: usize) -> bool {
        let inner = &mut *self.inner;
        let state = &mut inner.devices[device];
        let below: u64 = state.below.iter().sum();
        let has_room = match state.depth {
            Depth::None => below < (state.frames * (state.ahead + 1)) as u64,
            Depth::Packets(most) => below < most,
            Depth::Airtime { all, .. } => state.pending < all,
        };
        let Some(shared) = state.shared.as_mut().filter(|_| has_room) else { return false };
        let Some(&(first, _)) = shared.whose.values().next() else { return false };
        let rate = inner.ports[first].mode.rate();
        let mut pulled = None;
        self.members.at(first, &mut |context| {
            pulled = shared.call(now, rate, context, |manager, call| manager.dequeue(now, call));
        });
        self.tell(device);
        let Some(held) = pulled else { return false };
        let inner = &mut *self.inner;
        let shared = inner.devices[device].shared.as_mut().expect("it has one");
        let (port, category) = shared.whose.remove(&held.item.0).expect("it waited");
        let state = &mut inner.ports[port];
        state.waiting.packets = Packets(state.waiting.packets.0 - 1);
        state.waiting.bytes = Bytes(state.waiting.bytes.0 - u64::from(held.meta.length));
        let airtime = inner.exchanges.estimate(state.mode, held.meta.length);
        self.take_below(port, category, Below { held, dequeued_at: now, airtime });
        true
    }

    /// A packet is in the firmware.
    fn take_below(&mut self, port: usize, category: usize, below: Below) {
        self.count_below(port, category, &below);
        let state = &mut self.inner.ports[port];
        state.flows[category].as_mut().expect("it has a packet").firmware.push_back(below);
        self.inner.devices[state.device].behind[category].list(port);
    }

    fn count_below(&mut self, port: usize, category: usize, below: &Below) {
        let state = &mut self.inner.ports[port];
        state.pending[category] += below.airtime;
        state.below.packets += Packets(1);
        state.below.bytes += Bytes(below.held.meta.length.into());
        let device = &mut self.inner.devices[state.device];
        device.below[category] += 1;
        device.pending += below.airtime;
    }

    /// Takes a packet from the managed queue of a port.
    fn pull(&mut self, now: Instant, port: usize, category: usize) -> Option<Below> {
        let inner = &mut *self.inner;
        let state = &mut inner.ports[port];
        let (mode, rate) = (state.mode, state.mode.rate());
        let manager = state.flows[category].as_mut()?.manager.as_deref_mut()?;
        let mut pulled = None;
        self.members.at(port, &mut |context| {
            pulled = call(manager, now, rate, context, |manager, call| manager.dequeue(now, call));
        });
        state.count_waiting();
        let held = pulled?;
        Some(Below { held, dequeued_at: now, airtime: inner.exchanges.estimate(mode, held.meta.length) })
    }

    /// Returns the port of a device whose turn it is to fill an aggregate.
    pub(super) fn next_port(&mut self, device: usize, category: usize) -> Option<usize> {
        let inner = &mut *self.inner;
        let state = &mut inner.devices[device];
        let has_firmware = state.has_firmware();
        let (ports, exchanges) = (&inner.ports, &inner.exchanges);
        let ring = if has_firmware { &mut state.behind[category] } else { &mut state.above[category] };
        ring.next(|port| ports[port].turn(category, has_firmware, exchanges))
    }

    /// Builds an aggregate of what waits for a port. `None` if the manager has dropped all of it.
    pub(super) fn aggregate(&mut self, now: Instant, port: usize, category: usize) -> Option<Aggregate> {
        let number = self.inner.ports[port].device;
        let has_firmware = self.inner.devices[number].has_firmware();
        let mode = self.inner.select(now, port);
        let most = self.inner.exchanges.room(mode, (category, number == 0), self.inner.devices[number].longest);
        let frames = self.inner.devices[number].frames.min(self.inner.exchanges.most_frames(mode));
        let most = most.min(self.inner.devices[number].bytes);
        // 802.11-2020, 9.4.2.55: a capability of HT stations.
        let amsdu = if mode.format >= Format::Ht { self.inner.devices[number].amsdu } else { 0 };
        let window = self.inner.exchanges.window(mode);
        let (mut mpdus, mut bytes) = (Vec::<Mpdu>::new(), 0);
        // Frames so far; packets and bytes of the last one.
        let (mut count, mut parts, mut last) = (0, 0, 0);
        loop {
            let inner = &mut *self.inner;
            let flow = inner.ports[port].flows[category].as_mut().expect("it has packets");
            let before = mpdus.last().filter(|mpdu| mpdu.tries == 0);
            let mut joins = parts > 0 && last < amsdu && before.is_some();
            let next = if let Some(mpdu) = flow.again.front() {
                joins = mpdus.last().is_some_and(|before| before.sequence == mpdu.sequence);
                Some(mpdu.held.meta.length)
            } else if !joins && !flow.window.is_open(window) {
                None
            } else if has_firmware {
                flow.firmware.front().map(|below| below.held.meta.length)
            } else {
                let manager = flow.manager.as_deref();
                let waits = manager.filter(|manager| manager.backlog().packets.0 > 0);
                waits.map(|manager| manager.head_length().unwrap_or(USUAL_LENGTH))
            };
            let Some(length) = next else { break };
            if flow.again.is_empty() && joins && last + Exchanges::joined(length, parts + 1) > amsdu {
                joins = false;
                if !flow.window.is_open(window) {
                    break;
                }
            }
            let adds = if joins { Exchanges::joined(length, parts + 1) } else { inner.exchanges.charged(length) };
            if !mpdus.is_empty() && (!joins && count >= frames || bytes + adds > most) {
                break;
            }
            let mpdu = if let Some(mpdu) = flow.again.pop_front() {
                mpdu
            } else {
                let below = if has_firmware {
                    flow.firmware.pop_front()
                } else {
                    let below = self.pull(now, port, category);
                    if let Some(below) = &below {
                        self.count_below(port, category, below);
                    }
                    below
                };
                let Some(Below { held, dequeued_at, airtime }) = below else { continue };
                let flow = self.inner.ports[port].flows[category].as_mut().expect("it has packets");
                let sequence = match mpdus.last() {
                    Some(before) if joins => before.sequence,
                    _ => flow.window.take(),
                };
                let number = flow.numbered;
                flow.numbered += 1;
                let first_sent_at = Instant::NEVER;
                Mpdu { held, number, sequence, airtime, dequeued_at, built_at: now, first_sent_at, tries: 0 }
            };
            let length = mpdu.held.meta.length;
            if joins {
                parts += 1;
                last += Exchanges::joined(length, parts);
                bytes += Exchanges::joined(length, parts);
            } else {
                (count, parts, last) = (count + 1, 1, self.inner.exchanges.charged(length));
                bytes += last;
            }
            mpdus.push(mpdu);
        }
        if mpdus.is_empty() {
            return None;
        }
        if let [alone] = mpdus.as_slice() {
            bytes = self.inner.exchanges.psdu(1, alone.held.meta.length);
        }
        let (first, rest) = self.inner.exchanges.of(mode, count, bytes);
        Some(Aggregate {
            port: Some(port),
            mode,
            mpdus,
            failed: Vec::new(),
            first,
            rest,
            began_at: now,
            asks: false,
            tries: 0,
        })
    }

    /// Returns true if a device has something to send, or may have.
    pub(super) fn has_more(&self, device: usize, category: usize) -> bool {
        let state = &self.inner.devices[device];
        !state.hardware[category].is_empty()
            || state.source.as_ref().is_some_and(|source| category == BEST_EFFORT && source.queued > 0)
            || state.ahead == 0 && self.may_build(state, category)
    }

    /// Returns true if a device that builds nothing ahead has packets for an aggregate.
    fn may_build(&self, state: &Device, category: usize) -> bool {
        let Inner { ports, exchanges, .. } = &*self.inner;
        let has_firmware = state.has_firmware();
        let ring = if has_firmware { &state.behind[category] } else { &state.above[category] };
        ring.listed().any(|port| ports[port].turn(category, has_firmware, exchanges) == Turn::Ready)
    }

    /// The first aggregate of a device has been on the air.
    pub(super) fn end_exchange(&mut self, now: Instant, device: usize, category: usize, outcome: Outcome) {
        let inner = &mut *self.inner;
        let may_ask = inner.devices[device].asks;
        let hardware = &mut inner.devices[device].hardware[category];
        let aggregate = hardware.front_mut().expect("it was on the air");
        aggregate.tries += 1;
        let used = now.saturating_since(aggregate.began_at);
        let is_late = aggregate.mpdus.first().is_some_and(|mpdu| now.saturating_since(mpdu.built_at) > LIFETIME);
        let is_spent = aggregate.tries >= inner.exchanges.most_tries && !aggregate.asks;
        let is_over = outcome == Outcome::Answered || is_spent || is_late && aggregate.asks;
        let Some(port) = aggregate.port else {
            if is_over {
                hardware.pop_front();
            }
            return;
        };
        let counters = &mut inner.ports[port].counters;
        counters.airtime += used;
        match outcome {
            Outcome::Answered => counters.frames += aggregate.mpdus.len() as u64,
            Outcome::Collided => counters.collided += 1,
            Outcome::Unanswered | Outcome::Internal => counters.unanswered += 1,
        }
        if !is_over {
            if may_ask && aggregate.mpdus.len() > 1 {
                aggregate.asks = true;
                (aggregate.first, aggregate.rest) = inner.exchanges.request(aggregate.mode);
            }
            return;
        }
        let mut aggregate = hardware.pop_front().expect("it is there");
        if let Some(charged) = inner.ports[port].charged {
            inner.devices[0].above[category].charge(charged, used);
        }
        if outcome != Outcome::Answered {
            aggregate.give_up(inner.exchanges.most_tries);
        } else if aggregate.asks {
            aggregate.failed = alloc::vec![true; aggregate.mpdus.len()];
        }
        aggregate.report(&mut inner.ports[port].rates);
        self.settle_frames(now, port, category, aggregate);
        let inner = &mut *self.inner;
        if inner.ports[port].flows[category].as_ref().is_some_and(|flow| !flow.again.is_empty()) {
            let state = &mut inner.devices[device];
            let has_firmware = state.has_firmware();
            (if has_firmware { &mut state.behind } else { &mut state.above })[category].list(port);
        }
    }
}

impl Aggregate {
    /// Frames of it that are on the air between these times are lost. Returns true if others are left: a frame alone, and an
    /// RTS, has none.
    pub(super) fn overlap(&mut self, exchanges: &Exchanges, from: Instant, until: Instant) -> bool {
        let bytes = self.mpdus.iter().map(|mpdu| exchanges.charged(mpdu.held.meta.length));
        if self.asks || self.mpdus.len() < 2 || exchanges.asks_first(bytes.sum()) {
            return false;
        }
        self.failed.resize(self.mpdus.len(), false);
        let mut ends = self.began_at + self.first;
        let mut place = self.mpdus.len();
        for frame in self.mpdus.chunk_by(|one, next| one.sequence == next.sequence).rev() {
            let airtimes = frame.iter().map(|mpdu| exchanges.estimate(self.mode, mpdu.held.meta.length));
            let begins = airtimes.fold(ends, |begins, airtime| begins - airtime);
            if begins < until && ends > from {
                self.failed[place - frame.len()..place].fill(true);
            }
            (ends, place) = (begins, place - frame.len());
        }
        self.failed.contains(&false)
    }

    /// Tells rate control what has become of it.
    fn report(&self, rates: &mut RateControl) {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let failed = self.failed.iter().filter(|failed| **failed).count();
        rates.report(self.mode, count(self.mpdus.len()), count(self.mpdus.len() - failed));
    }

    /// All of its frames have been tried often enough.
    fn give_up(&mut self, most: u32) {
        self.failed = alloc::vec![true; self.mpdus.len()];
        for mpdu in &mut self.mpdus {
            mpdu.tries = most;
        }
    }
}

impl Port {
    /// State of the port when its turn to fill an aggregate comes.
    fn turn(&self, category: usize, has_firmware: bool, exchanges: &Exchanges) -> Turn {
        let Some(flow) = self.flows[category].as_ref() else { return Turn::Empty };
        let waits = if has_firmware { !flow.firmware.is_empty() } else { self.is_waiting(category) };
        match (flow.again.is_empty(), waits) {
            (true, false) => Turn::Empty,
            (true, true) if !flow.window.is_open(exchanges.window(self.mode)) => Turn::HeldBack,
            _ => Turn::Ready,
        }
    }

    /// Returns true if packets of the category wait in its managed queue.
    fn is_waiting(&self, category: usize) -> bool {
        let manager = self.flows[category].as_ref().and_then(|flow| flow.manager.as_ref());
        manager.is_some_and(|manager| manager.backlog().packets.0 > 0)
    }

    fn count_waiting(&mut self) {
        let managers = self.flows.iter().flatten().filter_map(|flow| flow.manager.as_ref());
        let add =
            |sum: Backlog, one: Backlog| Backlog { bytes: sum.bytes + one.bytes, packets: sum.packets + one.packets };
        self.waiting = managers.map(|manager| manager.backlog()).fold(Backlog::default(), add);
    }
}
