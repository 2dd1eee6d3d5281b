//! A modem of a group: its queue, what its service flows have asked for and were granted, and where the delay of packets
//! comes from.
//!
//! Source: specification of service groups, sections 4.1, 4.7 and 4.8. Deviations: in a passage, the wait by collisions is
//! part of the wait for a request, and the wait for capacity that went to neighbours part of the wait for a grant; the
//! counters of the modem keep them apart.

use super::config::{MAC_HEADER, MemberConfig, RequestUnit};
use super::contention::Contention;
use super::scheduler::Scheduler;
use crate::docsis31::call::Call;
use crate::docsis31::config::Service;
use crate::docsis31::scheduler::{CLASSIC, LOW_LATENCY};
use crate::docsis31::with_header;
use crate::queue_call::next_timer;
use crate::{DelayParts, Link, LinkContext, LinkCounters, Passage};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use sojourn_base::{
    BitRate, Bytes, Instant, Meta, ModemCounters, PacketHandle, Packets, ServiceQueue, Span,
};
use sojourn_queue::{Backlog, Held, ProactiveGrants, QueueManager, Verdict};

/// Bytes of a MAC header.
const HEADER: u64 = MAC_HEADER as u64;

/// A request as the modem's packets remember it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Position of its end among all requested bytes.
    end: u64,
    /// When it was made first, when it was heard, and the start of the interval that acknowledged it.
    first: Instant,
    sent: Instant,
    interval: Instant,
}

/// A packet that is sent in part.
#[derive(Clone, Debug)]
struct Fragment {
    packet: Held,
    dequeued_at: Instant,
    /// Bytes that are sent.
    sent: u64,
    /// When the first of them begins, what all of them take on the air, and where the last one is.
    started_at: Instant,
    on_air: Span,
    last: Option<Instant>,
    /// When everything so far has left the CMTS, and what of that is behind the air.
    arrives_at: Instant,
    behind: Span,
}

impl Fragment {
    /// Bytes that are not sent, with the MAC header.
    fn rest(&self) -> u64 {
        u64::from(self.packet.meta.length) + HEADER - self.sent
    }

    /// Those of the Ethernet frame, which queue managers count.
    fn frame_rest(&self) -> Bytes {
        Bytes(self.rest().min(self.packet.meta.length.into()))
    }
}

/// A grant that is filled now.
pub(super) struct Burst<'a> {
    pub(super) flow: usize,
    /// Bytes that it carries, and those that were requested.
    pub(super) payload: u64,
    pub(super) requested: u64,
    /// Start of its interval.
    pub(super) starts_at: Instant,
    /// Where a byte is: start and length of the frame or minislot that carries it.
    pub(super) place: &'a dyn Fn(u64) -> (Instant, Span),
    /// From the end of that to its leaving the CMTS.
    pub(super) behind: Span,
}

/// A service flow as the modem knows it.
#[derive(Debug)]
pub(super) struct Flow {
    fragment: Option<Fragment>,
    /// Bytes requested and not granted, as far as it knows; bytes of grants that are not filled.
    pub(super) outstanding: u64,
    pub(super) due: u64,
    pub(super) contention: Contention,
    /// It waits for a MAP that has its opportunity.
    pub(super) is_undecided: bool,
    /// The interval of the last draw, and how many there were in it.
    drawn: (u64, u64),
    asked: VecDeque<Asked>,
    /// Intervals with a grant, noted where requests cannot be lost.
    granted: VecDeque<u64>,
    /// Bytes of requests that were granted in the bursts so far.
    position: u64,
    /// When the last packet leaves the CMTS: they leave in order.
    arrived: Instant,
    /// Bytes requested, granted, and granted for nothing.
    pub(super) mac: LinkCounters,
}

impl Flow {
    fn new() -> Self {
        Self {
            fragment: None,
            outstanding: 0,
            due: 0,
            contention: Contention::Idle,
            is_undecided: false,
            drawn: (0, 0),
            asked: VecDeque::new(),
            granted: VecDeque::new(),
            position: 0,
            arrived: Instant::ZERO,
            mac: LinkCounters::default(),
        }
    }

    /// The address of the next draw in interval `map`.
    pub(super) const fn draw(&mut self, map: u64) -> u64 {
        let number = if self.drawn.0 == map { self.drawn.1 } else { 0 };
        self.drawn = (map, number + 1);
        16 * map + number
    }

    /// So many requested bytes were granted without a burst for them.
    pub(super) const fn skip(&mut self, bytes: u64) {
        self.position += bytes;
    }

    /// The MAP of interval `map` has a grant for it.
    pub(super) fn note_grant(&mut self, map: u64) {
        if self.granted.back() != Some(&map) {
            self.granted.push_back(map);
        }
    }

    /// Whether the MAP of interval `map` has a grant for it; intervals before are over.
    pub(super) fn has_grant(&mut self, map: u64) -> bool {
        while self.granted.front().is_some_and(|first| *first < map) {
            self.granted.pop_front();
        }
        self.granted.contains(&map)
    }

    /// A request was heard that ends at `end` among all requested bytes.
    pub(super) fn heard(&mut self, end: u64, (first, sent): (Instant, Instant), interval: Instant) {
        self.asked.push_back(Asked {
            end,
            first,
            sent,
            interval,
        });
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Modem {
    manager: Box<dyn QueueManager>,
    /// When the manager wants a timer run; [`Instant::NEVER`] if it has no timer.
    pub(super) timer: Instant,
    /// For when its group has written that down.
    pub(super) followed: Instant,
    service: Service,
    unit: RequestUnit,
    pub(super) flows: [Flow; 2],
    loop_delay: Span,
    proactive: ProactiveGrants,
    pub(super) counters: ModemCounters,
}

impl Modem {
    pub(super) fn new(
        manager: Box<dyn QueueManager>,
        member: &MemberConfig,
        unit: RequestUnit,
        (loop_delay, proactive): (Span, ProactiveGrants),
    ) -> Self {
        Self {
            timer: next_timer(&*manager),
            followed: Instant::NEVER,
            manager,
            service: member.service,
            unit,
            flows: [Flow::new(), Flow::new()],
            loop_delay,
            proactive,
            counters: ModemCounters::default(),
        }
    }

    /// What waits for a service flow in the queue manager.
    fn waiting(&self, flow: usize) -> Backlog {
        let all = self.manager.backlog();
        if self.service == Service::Single {
            return if flow == CLASSIC {
                all
            } else {
                Backlog::default()
            };
        }
        let low_latency = self.manager.backlog_of(ServiceQueue::LowLatency);
        if flow == LOW_LATENCY {
            low_latency
        } else {
            Backlog {
                bytes: all.bytes - low_latency.bytes,
                packets: Packets(all.packets.0 - low_latency.packets.0),
            }
        }
    }

    /// Bytes that a flow holds.
    pub(super) fn held(&self, flow: usize) -> u64 {
        let waiting = self.waiting(flow);
        let staged = self.flows[flow].fragment.as_ref();
        waiting.bytes.0 + u64::from(waiting.packets.0) * HEADER + staged.map_or(0, Fragment::rest)
    }

    /// Bytes that a flow holds and has not asked for, `coming` being those of grants that it need not ask for.
    pub(super) fn need(&self, flow: usize, coming: u64) -> u64 {
        let state = &self.flows[flow];
        let known = state.outstanding + state.due + coming;
        match self.unit {
            RequestUnit::Queue => self.held(flow).saturating_sub(known),
            RequestUnit::Packet if known > 0 => 0,
            RequestUnit::Packet => match (&state.fragment, self.manager.head_length()) {
                (Some(fragment), _) => fragment.rest(),
                (None, Some(length)) => u64::from(length) + HEADER,
                (None, None) => self.held(flow),
            },
        }
    }

    /// Whether a packet waits for its manager's decision.
    pub(super) fn has_packets(&self) -> bool {
        self.manager.backlog().packets.0 > 0
    }

    /// Calls its queue manager.
    fn call<T>(
        &mut self,
        now: Instant,
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
        action: impl FnOnce(&mut dyn QueueManager, &mut Call<'_, dyn LinkContext + '_>) -> T,
    ) -> T {
        let staged = |flow: usize| {
            let fragment = self.flows[flow].fragment.as_ref();
            fragment.map_or(Bytes::ZERO, Fragment::frame_rest)
        };
        let buckets = scheduler.buckets(port);
        let mut call = Call {
            bucket: (buckets.sustained(), now),
            rates: buckets.rates(),
            own_rates: [BitRate::ZERO; 2],
            staged: [staged(CLASSIC), staged(LOW_LATENCY)],
            loop_delay: self.loop_delay,
            proactive: self.proactive,
            context,
        };
        action(&mut *self.manager, &mut call)
    }

    /// Runs the manager's timers that are due.
    pub(super) fn run_timers(
        &mut self,
        now: Instant,
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) {
        if self.timer > now {
            return;
        }
        self.timer = self.call(now, scheduler, port, context, |manager, call| {
            let mut due = next_timer(manager);
            while due <= now {
                if !call.context.work(1) {
                    return Instant::NEVER;
                }
                call.bucket.1 = due;
                manager.on_timer(due, call);
                due = next_timer(manager);
            }
            due
        });
    }

    /// A packet comes: of which flow, unless it was dropped.
    pub(super) fn enqueue(
        &mut self,
        now: Instant,
        (meta, item): (Meta, PacketHandle),
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) -> Option<usize> {
        let meta = with_header(meta, MAC_HEADER);
        let verdict = self.call(now, scheduler, port, context, |manager, call| {
            manager.enqueue(now, meta, item, call)
        });
        match (verdict, self.service) {
            (Verdict::Dropped(_), _) => None,
            (Verdict::Placed(ServiceQueue::LowLatency), Service::LowLatency) => Some(LOW_LATENCY),
            _ => Some(CLASSIC),
        }
    }

    /// Takes the packet at the head of a flow out, if there is one.
    pub(super) fn take(
        &mut self,
        (now, flow): (Instant, usize),
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) -> Option<Held> {
        let service = self.service;
        if service == Service::LowLatency && self.waiting(flow).packets.0 == 0 {
            return None;
        }
        self.call(now, scheduler, port, context, |manager, call| {
            if service == Service::Single {
                return manager.dequeue(now, call);
            }
            let queue = if flow == LOW_LATENCY {
                ServiceQueue::LowLatency
            } else if manager.backlog_of(ServiceQueue::AckPriority).packets.0 > 0 {
                ServiceQueue::AckPriority
            } else {
                ServiceQueue::Classic
            };
            manager.dequeue_from(now, queue, call)
        })
    }

    /// Fills a grant; returns how many bytes it carries, and those of MAC headers among them.
    pub(super) fn fill(
        &mut self,
        now: Instant,
        burst: &Burst<'_>,
        scheduler: &mut Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) -> (u64, u64) {
        let flow = burst.flow;
        let base = self.flows[flow].position;
        self.flows[flow].position += burst.requested;
        let asked = &mut self.flows[flow].asked;
        while asked.len() > 1 && asked[0].end <= base {
            asked.pop_front();
        }
        let _ = scheduler.eligible_at((port, flow), base + 1); // forgets what is over
        let (mut used, mut headers) = (0, 0);
        while used < burst.payload {
            let mut fragment = match self.flows[flow].fragment.take() {
                Some(fragment) => fragment,
                None => match self.take((now, flow), scheduler, port, context) {
                    None => break,
                    Some(packet) => Fragment {
                        packet,
                        dequeued_at: now,
                        sent: 0,
                        started_at: (burst.place)(used).0,
                        on_air: Span::ZERO,
                        last: None,
                        arrives_at: Instant::ZERO,
                        behind: Span::ZERO,
                    },
                },
            };
            let bytes = fragment.rest().min(burst.payload - used);
            let (from, length) = (burst.place)(used);
            let (to, _) = (burst.place)(used + bytes.max(1) - 1);
            let more = to.saturating_since(from);
            fragment.on_air += more;
            if fragment.last != Some(from) {
                fragment.on_air += length;
            }
            fragment.last = Some(to);
            if to + length + burst.behind > fragment.arrives_at {
                fragment.arrives_at = to + length + burst.behind;
                fragment.behind = burst.behind;
            }
            fragment.sent += bytes;
            used += bytes;
            if fragment.rest() > 0 {
                self.flows[flow].fragment = Some(fragment);
                break;
            }
            headers += HEADER;
            let position = base + used.min(burst.requested);
            let at = (burst.starts_at, position, port);
            self.deliver(&fragment, flow, at, scheduler, context);
            if self.unit == RequestUnit::Packet {
                break; // the next one has a grant of its own
            }
        }
        (used, headers)
    }

    /// A packet is complete in a grant of the interval that starts at `starts_at`.
    fn deliver(
        &mut self,
        fragment: &Fragment,
        flow: usize,
        (starts_at, position, port): (Instant, u64, usize),
        scheduler: &mut Scheduler,
        context: &mut dyn LinkContext,
    ) {
        let state = &mut self.flows[flow];
        while state.asked.len() > 1 && state.asked[0].end < position {
            state.asked.pop_front();
        }
        // Not before the packet in front of it.
        let arrives_at = fragment.arrives_at.max(state.arrived);
        state.arrived = arrives_at;
        let entry = fragment.packet.enqueued_at;
        let asked = state.asked.front().copied();
        let asked = asked.map_or([entry; 3], |asked| {
            [asked.first, asked.sent, asked.interval]
        });
        let eligible = scheduler
            .eligible_at((port, flow), position)
            .unwrap_or(starts_at);
        // Each moment is not before the one in front of it, and not behind the first byte's frame.
        let mut before = entry;
        let mut wait = |until: Instant| {
            let until = until.min(fragment.started_at).max(before);
            let span = until.saturating_since(before);
            before = until;
            span
        };
        let request = wait(asked[0]);
        let contention = wait(asked[1]);
        let grant = wait(asked[2]);
        let own_rate = wait(eligible);
        let neighbours = wait(starts_at);
        let wire = fragment.behind;
        let whole = arrives_at.saturating_since(before) - wire;
        let framing = whole.saturating_sub(fragment.on_air);
        let delay = DelayParts {
            queue: own_rate,
            request_wait: request + contention,
            grant_wait: grant + neighbours,
            framing,
            serialisation: whole.saturating_sub(framing),
            wire,
            ..DelayParts::default()
        };
        let counters = &mut self.counters;
        counters.packets += 1;
        counters.own_rate += own_rate;
        counters.contention += contention;
        counters.neighbours += neighbours;
        counters.request_loop += request + grant;
        counters.line += whole + wire;
        let packet = &fragment.packet;
        let passage = Passage::of(packet, fragment.dequeued_at, arrives_at, delay);
        context.deliver(packet.item, &packet.meta, &passage);
    }
}

/// What can be asked of a modem; its group has its wake-ups.
impl Link for Modem {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn staged(&self) -> Backlog {
        let rests = self.flows.iter().filter_map(|flow| flow.fragment.as_ref());
        rests.fold(Backlog::default(), |sum, rest| Backlog {
            bytes: sum.bytes + rest.frame_rest(),
            packets: Packets(sum.packets.0 + 1),
        })
    }

    fn keeps_order(&self) -> bool {
        self.service == Service::Single
    }

    fn counters(&self) -> Option<LinkCounters> {
        let [classic, low_latency] = [0, 1].map(|flow: usize| self.flows[flow].mac);
        Some(classic + low_latency)
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        (self.service == Service::LowLatency)
            .then(|| [0, 1].map(|flow: usize| self.flows[flow].mac))
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }
}
