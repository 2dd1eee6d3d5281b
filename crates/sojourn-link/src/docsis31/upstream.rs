//! The DOCSIS 3.1 upstream: a modem with one service flow, or with a classic and a low-latency one, and its CMTS.
//!
//! The modem hears a MAP some time before its interval. A service flow without a grant in the MAP requests its backlog
//! in a random frame of the interval, which always succeeds; one that has a grant requests when the burst for the grant
//! is prepared, a frame ahead. Then, and only then, packets are taken from the queue manager, as many as the grant
//! carries; grants are counted in bytes, and may begin and end inside a packet.
//!
//! A manager with several queues is asked for a packet of the queue that the service flow serves; one with a single
//! queue serves the classic flow. The modem's events are handled when something reaches it or when a burst for a flow
//! that holds packets is to be prepared: an idle modem needs no wake-ups.
//!
//! Source: White 2019 §2 and §3; docsis-ns3 1.2 `model/cm-net-device.cc`, `model/cmts-upstream-scheduler.cc`.
//! Deviations: a single service flow has one queue whatever packets are marked with; rates count Ethernet frames exactly,
//! at the modem as at the scheduler; see also `scheduler`, [`super::timeline`] and [`super::proactive`].

mod member;

use super::config::{RequestSubtracts, Service, UpstreamConfig};
use super::scheduler::{CLASSIC, Grant, LOW_LATENCY, Outcome, Scheduler};
use super::timeline::Timeline;
use super::{Fragment, on_wire, staged, with_header};
use crate::docsis::map::MapDraws;
use crate::queue_call::{Drain, QueueCall, ServiceFlows, next_timer, run_timers};
use crate::token_bucket::TokenBucket;
use crate::{DelayParts, Draw, Link, LinkContext, LinkCounters, Passage, Transmit};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets, ServiceQueue, Span, WholeBytes, math};
use sojourn_queue::{Backlog, ProactiveGrants, QueueManager, Verdict};

/// Requests remembered to split delays. chosen: fifteen seconds of a queue that is never empty.
const REMEMBERED_REQUESTS: usize = 16_384;

/// No service flow has this number.
const NO_FLOW: usize = usize::MAX;

/// See the module. `M` is the queue manager.
#[derive(Clone, Debug)]
pub struct Upstream<M: ?Sized = dyn QueueManager> {
    manager: Box<M>,
    /// Time of the manager's timer; [`Instant::NEVER`] without one.
    timer: Instant,
    timeline: Timeline,
    service: Service,
    /// The flow that proactive grants are for, if there are any.
    favoured: usize,
    /// The flow that requests only where it is polled, and the one that has a grant for each packet; [`NO_FLOW`] without one.
    polled: usize,
    unsolicited: usize,
    subtracts: RequestSubtracts,
    /// From a frame that carries a packet's last byte to its leaving the CMTS, with what that needs to forward it.
    completion: Span,
    switching: Span,
    header: u16,
    /// Rates as queue managers see them.
    rates: (BitRate, BitRate),
    own_rates: [BitRate; 2],
    proactive: ProactiveGrants,
    flows: [Flow; 2],
    scheduler: Scheduler,
    request_frames: MapDraws,
    /// The modem's own bucket, of a single service flow.
    request_shaper: RequestShaper,
    next_map: u64,
    /// Actions to come, in order of time.
    agenda: VecDeque<(Instant, Action)>,
    /// Time of the next action, MAP or timer.
    due: Instant,
    wakeup: Instant,
    /// For which flows packets waited in the manager when that was looked at.
    waited: [bool; 2],
    grants: Vec<Grant>,
    /// Of each service flow.
    counters: [LinkCounters; 2],
}

/// A service flow as the modem knows it.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Bytes requested and not granted.
    requested: u64,
    /// Bytes of each grant that is known and not prepared.
    granted: VecDeque<u64>,
    /// Bytes prepared for each frame to come.
    committed: VecDeque<(Instant, u64)>,
    fragment: Option<Fragment>,
    /// Times of its requests, or of earlier chances to request, while packets waited.
    requests: VecDeque<Instant>,
}

impl Flow {
    /// Bytes that are prepared for frames from `now` on.
    fn committed(&mut self, now: Instant) -> u64 {
        while self.committed.front().is_some_and(|(at, _)| *at < now) {
            self.committed.pop_front();
        }
        self.committed.iter().map(|(_, bytes)| bytes).sum()
    }

    fn fragment_rest(&self) -> u64 {
        self.fragment.as_ref().map_or(0, Fragment::rest)
    }
}

/// An action of the modem at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Requests what is not requested, in a frame of its own.
    Request(usize),
    /// Prepares the burst for a grant of MAP `map`; its unused bytes are known at `known_at`.
    Prepare { grant: Grant, map: u64, known_at: Instant },
}

/// Limits requests of a flow that has rates of its own. Rates count Ethernet frames; requests count MAC headers too,
/// which are paid back when packets are taken.
#[derive(Clone, Copy, Debug)]
struct RequestShaper {
    sustained: Option<TokenBucket>,
    peak: BitRate,
    last: Instant,
    /// Bytes of the peak rate since then.
    allowed: WholeBytes,
    /// Bytes of headers taken since then.
    headers: u64,
}

impl RequestShaper {
    fn new(config: &UpstreamConfig) -> Self {
        let shaped = config.service == Service::Single && config.rate > BitRate::ZERO;
        Self {
            sustained: shaped.then(|| TokenBucket::new(config.rate, config.burst)),
            peak: config.peak,
            last: Instant::ZERO,
            allowed: WholeBytes::default(),
            headers: 0,
        }
    }

    /// As much of `bytes` as may be requested, which is paid for. The allowance of the peak rate does not accumulate,
    /// but for the part of a byte.
    fn admit(&mut self, now: Instant, bytes: u64) -> u64 {
        let Some(bucket) = &mut self.sustained else {
            return bytes;
        };
        let mut admitted = bucket.affordable(now, Bytes(bytes));
        if self.peak > BitRate::ZERO {
            let since = now.saturating_since(self.last);
            let allowed = self.allowed.pass(self.peak, since);
            admitted = admitted.min(allowed + Bytes(self.headers));
            self.headers = 0;
        }
        self.last = now;
        bucket.debit(now, bucket.price(admitted));
        admitted.0
    }

    /// A packet is taken; its `header` in bytes is paid back.
    fn pay_back(&mut self, now: Instant, header: u64) {
        if let Some(bucket) = &mut self.sustained {
            bucket.credit(now, bucket.price(Bytes(header)));
            self.headers += header;
        }
    }
}

impl<M: QueueManager + ?Sized> Upstream<M> {
    /// An idle modem.
    ///
    /// # Panics
    /// If [`crate::LinkConfig::problems`] would list something.
    pub fn new(config: &UpstreamConfig, manager: Box<M>) -> Self {
        let timeline = config.timeline();
        let favoured = match config.service {
            Service::Single => CLASSIC,
            Service::LowLatency => LOW_LATENCY,
        };
        Self {
            timer: next_timer(&*manager),
            manager,
            service: config.service,
            favoured,
            polled: if config.proactive.contends() { NO_FLOW } else { favoured },
            unsolicited: if config.proactive.is_unsolicited() { favoured } else { NO_FLOW },
            subtracts: config.request_subtracts,
            completion: timeline.completion() + config.switching,
            switching: config.switching,
            header: config.mac_header,
            rates: (config.rate, config.peak),
            own_rates: config.own_rates(),
            proactive: config.proactive_grants(&timeline),
            flows: [Flow::default(), Flow::default()],
            scheduler: Scheduler::new(config, timeline),
            request_frames: MapDraws::new(Draw::RequestFrame),
            request_shaper: RequestShaper::new(config),
            next_map: 0,
            agenda: VecDeque::new(),
            due: Instant::ZERO,
            wakeup: Instant::NEVER,
            waited: [false; 2],
            grants: Vec::new(),
            counters: [LinkCounters::default(); 2],
            timeline,
        }
    }

    /// The queue manager, for records.
    pub const fn manager(&self) -> &M {
        &self.manager
    }

    /// The grid of the channel.
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the packets that wait for a service flow in the queue manager.
    fn waiting(&self, flow: usize) -> Backlog {
        let all = self.manager.backlog();
        if self.service == Service::Single {
            return all;
        }
        let low_latency = self.manager.backlog_of(ServiceQueue::LowLatency);
        if flow == LOW_LATENCY {
            low_latency
        } else {
            Backlog { bytes: all.bytes - low_latency.bytes, packets: Packets(all.packets.0 - low_latency.packets.0) }
        }
    }

    /// For which flows packets wait in the manager. A single queue is that of either.
    fn waits(&self) -> [bool; 2] {
        let all = self.manager.backlog().packets;
        match self.service {
            Service::Single => [all.0 > 0; 2],
            Service::LowLatency => {
                let low_latency = self.manager.backlog_of(ServiceQueue::LowLatency).packets;
                [all > low_latency, low_latency.0 > 0]
            }
        }
    }

    /// Which flows hold packets, if `waits` says for which of them packets wait.
    fn holds(&self, waits: [bool; 2]) -> [bool; 2] {
        [CLASSIC, LOW_LATENCY].map(|flow| waits[flow] || self.flows[flow].fragment.is_some())
    }

    /// Handles everything due before `until`, in order of time; `and_at` includes that instant. At equal times: timers,
    /// then MAPs, then their consequences.
    fn advance(&mut self, until: Instant, and_at: bool, context: &mut (impl LinkContext + ?Sized)) {
        let is_past = |at: Instant| at < until || and_at && at == until;
        if !is_past(self.due) {
            return;
        }
        loop {
            self.skip_idle_maps(until);
            let action = self.agenda.front().map_or(Instant::NEVER, |(at, _)| *at);
            let map = self.timeline.heard_at(self.next_map);
            let at = map.min(action);
            if !is_past(at) || !context.work(1) {
                break;
            }
            self.run_timers(at, context);
            if map <= action {
                self.on_map(context);
            } else if let Some((at, action)) = self.agenda.pop_front() {
                match action {
                    Action::Request(flow) => self.request(at, flow),
                    Action::Prepare { grant, map, known_at } => {
                        if grant.flow != self.unsolicited {
                            self.request(at, grant.flow);
                        }
                        self.prepare(at, grant, map, known_at, context);
                    }
                }
            }
        }
        if is_past(self.timer) {
            self.run_timers(until, context);
        }
    }

    /// Skips MAPs of intervals that are over by `now`, if no packet waits.
    fn skip_idle_maps(&mut self, now: Instant) {
        if now < self.timeline.starts_at(self.next_map + 1) {
            return;
        }
        let is_grant = |action: &(Instant, Action)| matches!(action.1, Action::Prepare { .. });
        if self.scheduler.is_idle() && self.holds(self.waits()) == [false; 2] && !self.agenda.iter().any(is_grant) {
            self.next_map = now.as_ps() / self.timeline.interval.as_ps();
            self.agenda.clear();
        }
    }

    /// The modem hears the next MAP.
    fn on_map(&mut self, context: &mut (impl LinkContext + ?Sized)) {
        let map = self.next_map;
        self.next_map += 1;
        let mut grants = core::mem::take(&mut self.grants);
        grants.clear();
        if map >= self.timeline.first_map() {
            self.scheduler.make(map, &mut grants, context);
        }
        let flows = match self.service {
            Service::Single => 1,
            Service::LowLatency => 2,
        };
        for flow in 0..flows {
            let mut last = None;
            let mut granted = 0;
            for grant in grants.iter().filter(|grant| grant.flow == flow) {
                let bytes = grant.length * self.timeline.minislot_bytes;
                granted += bytes;
                self.flows[flow].granted.push_back(bytes);
                last = Some(grant.start + grant.length - 1);
            }
            let pipeline = &mut self.flows[flow];
            pipeline.requested = pipeline.requested.saturating_sub(granted);
            self.counters[flow].granted += Bytes(granted);
            let Some(last) = last else {
                self.contend(map, flow, context);
                continue;
            };
            let last_frame = last / self.timeline.minislots_per_frame;
            // A moment after its start.
            let known_at = self.timeline.frame_at(map, last_frame) + Span::from_ps(1);
            for grant in grants.iter().filter(|grant| grant.flow == flow) {
                let frame = grant.start / self.timeline.minislots_per_frame;
                // A modem that works further ahead than it hears of grants begins when it does.
                let at = self.timeline.prepared_at(self.timeline.frame_at(map, frame)).max(self.timeline.heard_at(map));
                let action = Action::Prepare { grant: *grant, map, known_at };
                self.plan(at, action);
            }
        }
        while let Some(at) = self.scheduler.polls.pop_front() {
            self.plan(at, Action::Request(self.favoured));
        }
        self.grants = grants;
    }

    /// A flow without a grant requests in a random frame of the interval.
    fn contend(&mut self, map: u64, flow: usize, context: &mut (impl LinkContext + ?Sized)) {
        if flow == self.polled {
            return;
        }
        let number = 2 * map + u64::from(flow == LOW_LATENCY);
        let frame = frame_of(self.timeline.frames, self.request_frames.draw(number, context));
        self.plan(self.timeline.frame_at(map, frame), Action::Request(flow));
    }

    fn plan(&mut self, at: Instant, action: Action) {
        let behind = self.agenda.iter().rev().take_while(|(other, _)| *other > at);
        let place = self.agenda.len() - behind.count();
        self.agenda.insert(place, (at, action));
    }

    /// Requests the flow's backlog, without bytes already requested or granted.
    fn request(&mut self, now: Instant, flow: usize) {
        let waiting = self.waiting(flow);
        let state = &mut self.flows[flow];
        let held = on_wire(waiting, u64::from(self.header)) + state.fragment_rest();
        let held = held + state.committed(now);
        let coming: u64 = match self.subtracts {
            RequestSubtracts::Next => state.granted.front().copied().unwrap_or(0),
            RequestSubtracts::All => state.granted.iter().sum(),
        };
        if waiting.packets.0 == 0 {
            state.requests.clear();
        } else {
            if state.requests.len() == REMEMBERED_REQUESTS {
                state.requests.pop_front();
            }
            state.requests.push_back(now);
        }
        let need = held.saturating_sub(state.requested + coming);
        if need == 0 {
            return;
        }
        let asked = self.request_shaper.admit(now, need);
        if asked > 0 {
            self.flows[flow].requested += asked;
            self.counters[flow].requested += Bytes(asked);
            self.scheduler.request(now + self.timeline.request, flow, asked);
        }
    }

    /// Fills the burst for a grant.
    fn prepare(
        &mut self,
        now: Instant,
        grant: Grant,
        map: u64,
        known_at: Instant,
        context: &mut (impl LinkContext + ?Sized),
    ) {
        let flow = grant.flow;
        self.flows[flow].granted.pop_front();
        if self.flows[flow].fragment.is_none() && self.waiting(flow).packets.0 == 0 {
            let unused = grant.length * self.timeline.minislot_bytes;
            self.counters[flow].unused_grant += Bytes(unused);
            let outcome = Outcome { unused, headers: 0 };
            self.scheduler.learn(known_at, flow, outcome);
            return;
        }
        let per_frame = self.timeline.minislots_per_frame;
        let (mut at, end) = (grant.start, grant.start + grant.length);
        let mut outcome = Outcome::default();
        let mut is_empty = false;
        while at < end {
            let frame = at / per_frame;
            let next = ((frame + 1) * per_frame).min(end);
            let room = (next - at) * self.timeline.minislot_bytes;
            at = next;
            let used = if is_empty {
                0
            } else {
                let frame_at = self.timeline.frame_at(map, frame);
                let (used, headers) = self.fill(now, flow, frame_at, room, context);
                outcome.headers += headers;
                used
            };
            is_empty = used < room || flow == self.unsolicited && self.flows[flow].fragment.is_none();
            outcome.unused += room - used;
        }
        self.counters[flow].unused_grant += Bytes(outcome.unused);
        if outcome != Outcome::default() {
            self.scheduler.learn(known_at, flow, outcome);
        }
    }

    /// Fills `room` bytes of a frame with what the flow has; returns how many it used, and how many headers' bytes
    /// belong to packets that began in them.
    fn fill(
        &mut self,
        now: Instant,
        flow: usize,
        frame_at: Instant,
        room: u64,
        context: &mut (impl LinkContext + ?Sized),
    ) -> (u64, u64) {
        let (mut used, mut headers) = (0, 0);
        while used < room {
            let is_next = self.flows[flow].fragment.is_none();
            if is_next {
                self.pull(now, flow, context);
            }
            // It stays where it is until its last byte is sent.
            let Some(fragment) = &mut self.flows[flow].fragment else {
                break;
            };
            if is_next {
                headers += u64::from(self.header);
            }
            used += fragment.send(room - used);
            if fragment.rest() == 0
                && let Some(done) = self.flows[flow].fragment.take()
            {
                self.deliver(flow, &done, frame_at, context);
                if flow == self.unsolicited {
                    break;
                }
            }
        }
        if used > 0 {
            self.flows[flow].committed.push_back((frame_at, used));
            if flow == self.favoured {
                self.scheduler.on_use(frame_at);
            }
        }
        if headers > 0 {
            self.request_shaper.pay_back(now, headers);
        }
        (used, headers)
    }

    /// Takes what the flow goes on with from the manager.
    fn pull(&mut self, now: Instant, flow: usize, context: &mut (impl LinkContext + ?Sized)) {
        if self.waiting(flow).packets.0 == 0 {
            return;
        }
        let service = self.service;
        let header = u64::from(self.header);
        let (manager, mut call) = self.split(now, context);
        let packet = match service {
            Service::Single => manager.dequeue(now, &mut call),
            Service::LowLatency => {
                let queue = if flow == LOW_LATENCY {
                    ServiceQueue::LowLatency
                } else if manager.backlog_of(ServiceQueue::AckPriority).packets.0 > 0 {
                    ServiceQueue::AckPriority
                } else {
                    ServiceQueue::Classic
                };
                manager.dequeue_from(now, queue, &mut call)
            }
        };
        self.flows[flow].fragment = packet.map(|packet| Fragment::new(packet, header, now));
    }

    /// The packet's last byte leaves in the frame that starts at `frame_at`.
    fn deliver(&mut self, flow: usize, done: &Fragment, frame_at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let delay = if context.wants_delay() { self.split_delay(flow, done, frame_at) } else { DelayParts::default() };
        let packet = done.packet;
        let passage = Passage {
            entered_at: packet.enqueued_at,
            dequeued_at: done.dequeued_at,
            arrives_at: frame_at + self.completion,
            delay,
            sub_flow: packet.sub_flow,
        };
        context.deliver(packet.item, &packet.meta, &passage);
    }

    /// Splits a packet's delay. It waits for the first opportunity to request; then for the end of the interval that
    /// this request is for, at most; what is beyond is its wait for packets ahead and for tokens. A packet that leaves
    /// without a request of its own waited for the grant.
    fn split_delay(&self, flow: usize, done: &Fragment, frame_at: Instant) -> DelayParts {
        let (entered, left) = (done.packet.enqueued_at, done.dequeued_at);
        let requests = &self.flows[flow].requests;
        let first = requests.partition_point(|at| *at < entered);
        let requested = requests.get(first).copied().filter(|at| *at < left);
        let (asked, granted) = match requested {
            None => (entered, left),
            Some(asked) => {
                let map = self.timeline.map_for_request(asked);
                let end = self.timeline.starts_at(map + 1);
                (asked, self.timeline.prepared_at(end).clamp(asked, left))
            }
        };
        // The first frames of a run begin sooner than a burst takes to prepare.
        let ahead = frame_at.saturating_since(left);
        let prepared = ahead.min(self.timeline.preparation);
        DelayParts {
            request_wait: asked.saturating_since(entered),
            grant_wait: granted.saturating_since(asked),
            queue: left.saturating_since(granted),
            framing: ahead - prepared,
            pipeline: prepared + self.timeline.decoding,
            serialisation: self.timeline.frame,
            wire: self.timeline.plant,
            switching: self.switching,
            hold: Span::ZERO,
        }
    }

    fn run_timers(&mut self, until: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if self.timer <= until {
            let (manager, mut call) = self.split(until, context);
            self.timer = run_timers(manager, until, &mut call);
        }
    }

    fn split<'a, C: ?Sized>(&'a mut self, now: Instant, context: &'a mut C) -> (&'a mut M, QueueCall<'a, C>) {
        let own = self.request_shaper.sustained.as_ref();
        let (bucket, at) = own.map_or_else(|| self.scheduler.bucket(now), |own| (Some(own), now));
        let staged = |flow: &Flow| flow.fragment.as_ref().map_or(Bytes::ZERO, Fragment::frame_rest);
        let flows = ServiceFlows {
            bucket: bucket.map(|bucket| (bucket, Some(at))),
            rates: self.rates,
            own_rates: self.own_rates,
            low_latency_staged: staged(&self.flows[LOW_LATENCY]),
            proactive: self.proactive,
        };
        let call = QueueCall {
            now,
            drain: Drain::ServiceFlows(flows),
            staged: staged(&self.flows[CLASSIC]),
            loop_delay: self.timeline.loop_delay(),
            context,
        };
        (&mut self.manager, call)
    }

    /// Sets the time of the next event, and of the next wake-up.
    fn look_ahead(&mut self) {
        let map = self.timeline.heard_at(self.next_map);
        let action = self.agenda.front().map_or(Instant::NEVER, |(at, _)| *at);
        self.due = map.min(action).min(self.timer);
        self.waited = self.waits();
        let holds = self.holds(self.waited);
        if holds == [false; 2] {
            self.wakeup = Instant::NEVER;
            return;
        }
        let wanted = |(at, action): &(Instant, Action)| match action {
            Action::Prepare { grant, .. } if holds[grant.flow] => Some(*at),
            _ => None,
        };
        let burst = self.agenda.iter().find_map(wanted);
        self.wakeup = map.min(burst.unwrap_or(Instant::NEVER));
        // A timer matters only if something waits.
        if self.waited != [false; 2] {
            self.wakeup = self.wakeup.min(self.timer);
        }
    }
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for Upstream<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        let is_due = self.due <= now;
        if is_due {
            // A packet that arrives while the burst is built may join it.
            self.advance(now, false, context);
            self.run_timers(now, context);
        }
        let meta = with_header(meta, self.header);
        let (manager, mut call) = self.split(now, context);
        let is_behind_others = match manager.enqueue(now, meta, item, &mut call) {
            Verdict::Placed(queue) => self.waited[usize::from(queue == ServiceQueue::LowLatency)],
            Verdict::Accepted => self.waited == [true; 2],
            Verdict::Dropped(_) => true,
        };
        // Behind others it changes no plan.
        if is_due || !is_behind_others {
            self.look_ahead();
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, true, context);
        self.look_ahead();
    }

    fn settle(&mut self, now: Instant, context: &mut C) {
        self.advance(now, false, context);
        self.look_ahead();
    }
}

impl<M: QueueManager + ?Sized> Link for Upstream<M> {
    fn next_wakeup(&self) -> Instant {
        self.wakeup
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.manager.retune(to)
    }

    fn staged(&self) -> Backlog {
        let fragments = self.flows.iter().filter_map(|flow| flow.fragment.as_ref());
        staged(fragments.map(Fragment::frame_rest))
    }

    fn keeps_order(&self) -> bool {
        self.service == Service::Single
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }

    fn counters(&self) -> Option<LinkCounters> {
        let [classic, low_latency] = self.counters;
        Some(classic + low_latency)
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        (self.service == Service::LowLatency).then_some(self.counters)
    }
}

/// The frame of `frames` that a draw picks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and at most some thousand")]
fn frame_of(frames: u64, unit: f64) -> u64 {
    math::floor(frames as f64 * unit) as u64
}

#[cfg(test)]
mod tests;
