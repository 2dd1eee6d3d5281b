//! A modem of a group: its queue and its service flows.
//!
//! | module | content |
//! |---|---|
//! | `flow` | what a service flow has asked for and was granted |
//! | `burst` | a grant is filled, and the delay of its packets is split by cause |
//!
//! Source: docs/models/service-group.md, "A grant is filled" and "Where the delay comes from". Deviations: in a passage, the wait by collisions is
//! part of the wait for a request, and the wait for capacity that went to neighbours part of the wait for a grant; the
//! counters of the modem keep them apart.

mod burst;
mod flow;

use super::config::{MAC_HEADER, MemberConfig, RequestUnit};
use super::scheduler::Scheduler;
use super::tier::Tier;
use crate::docsis31::config::Service;
use crate::docsis31::scheduler::{CLASSIC, LOW_LATENCY};
use crate::docsis31::{staged, with_header};
use crate::queue_call::{Drain, QueueCall, ServiceFlows, next_timer, run_timers};
use crate::{Link, LinkContext, LinkCounters};
use alloc::boxed::Box;
use sojourn_base::{BitRate, Bytes, Instant, Meta, ModemCounters, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_queue::{Backlog, Held, ProactiveGrants, QueueManager, Verdict};

use burst::Fragment;

pub(super) use burst::Burst;
pub(super) use flow::Flow;

/// Bytes of a MAC header.
const HEADER: u64 = MAC_HEADER as u64;

/// See the module.
#[derive(Debug)]
pub(super) struct Modem {
    manager: Box<dyn QueueManager>,
    /// Time of the manager's timer; [`Instant::NEVER`] without one.
    pub(super) timer: Instant,
    service: Service,
    unit: RequestUnit,
    pub(super) flows: [Flow; 2],
    loop_delay: Span,
    proactive: ProactiveGrants,
    pub(super) counters: ModemCounters,
    tier: Tier,
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
            manager,
            service: member.service,
            unit,
            flows: [Flow::new(), Flow::new()],
            loop_delay,
            proactive,
            counters: ModemCounters::default(),
            tier: Tier::new(member.shaper.sustained),
        }
    }

    /// Notes that it has sent `sent` bytes of packets, or that its backlog has changed otherwise.
    pub(super) fn note(&mut self, now: Instant, sent: u64) {
        let holds = self.has_packets() || self.flows.iter().any(|flow| flow.fragment.is_some());
        self.tier.turn(now, (sent, holds), &mut self.counters);
    }

    /// Counts up to `now`.
    pub(super) fn settle(&mut self, now: Instant) {
        self.tier.settle(now, &mut self.counters);
    }

    /// Returns the packets that wait for a service flow in the queue manager.
    fn waiting(&self, flow: usize) -> Backlog {
        let all = self.manager.backlog();
        if self.service == Service::Single {
            return if flow == CLASSIC { all } else { Backlog::default() };
        }
        let low_latency = self.manager.backlog_of(ServiceQueue::LowLatency);
        if flow == LOW_LATENCY {
            low_latency
        } else {
            Backlog { bytes: all.bytes - low_latency.bytes, packets: Packets(all.packets.0 - low_latency.packets.0) }
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

    /// Returns true if a packet waits in its manager.
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
        action: impl FnOnce(&mut dyn QueueManager, &mut QueueCall<'_, dyn LinkContext + '_>) -> T,
    ) -> T {
        let staged = |flow: usize| {
            let fragment = self.flows[flow].fragment.as_ref();
            fragment.map_or(Bytes::ZERO, Fragment::frame_rest)
        };
        let buckets = scheduler.buckets(port);
        let flows = ServiceFlows {
            bucket: buckets.sustained().map(|bucket| (bucket, None)),
            rates: buckets.rates(),
            own_rates: [BitRate::ZERO; 2],
            low_latency_staged: staged(LOW_LATENCY),
            proactive: self.proactive,
        };
        let drain = Drain::ServiceFlows(flows);
        let mut call = QueueCall { now, drain, staged: staged(CLASSIC), loop_delay: self.loop_delay, context };
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
        self.timer = self.call(now, scheduler, port, context, |manager, call| run_timers(manager, now, call));
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
        let verdict = self.call(now, scheduler, port, context, |manager, call| manager.enqueue(now, meta, item, call));
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
}

/// A modem as a link; its group has its wake-ups.
impl Link for Modem {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn staged(&self) -> Backlog {
        let fragments = self.flows.iter().filter_map(|flow| flow.fragment.as_ref());
        staged(fragments.map(Fragment::frame_rest))
    }

    fn keeps_order(&self) -> bool {
        self.service == Service::Single
    }

    fn counters(&self) -> Option<LinkCounters> {
        let [classic, low_latency] = [0, 1].map(|flow: usize| self.flows[flow].mac);
        Some(classic + low_latency)
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        (self.service == Service::LowLatency).then(|| [0, 1].map(|flow: usize| self.flows[flow].mac))
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }
}
