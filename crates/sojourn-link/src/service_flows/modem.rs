//! A link with rules, and the service flows beside its own.
//!
//! Each service flow requests, is granted and sends as in [`Upstream`]. Members of the link's aggregate share its two
//! buckets: for each MAP the flows with a higher traffic priority come first; among equals none gets more than an even
//! share of the rest while another still has requests. A flow outside the aggregate has buckets of its own.
//!
//! Source: White 2019 §2.1; DOCS-IETF-QOS-MIB for priorities.
//! Deviations: MULPI leaves the order of members of an aggregate to vendors; the even share is ours. Grants of different
//! flows of a modem may overlap in time, as those of its neighbours may: the channel has room for all rates.

use super::config::{ServiceFlowConfig, is_pair};
use super::placed::decided;
use super::rules::Rules;
use crate::any::Pointed;
use crate::docsis31::config::UpstreamConfig;
use crate::docsis31::scheduler::aggregate::Aggregate;
use crate::docsis31::upstream::Upstream;
use crate::{Draw, Link, LinkContext, LinkCounters, Loss, Mark, Passage, Transmit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets};
use sojourn_queue::{Backlog, QueueManager};

/// A service flow, or a link of another kind.
#[derive(Debug)]
enum Member {
    Upstream(Box<Upstream>),
    Other(Box<Pointed>),
}

/// A service flow of a modem.
#[derive(Debug)]
pub(crate) struct Flow {
    member: Member,
    /// It shares the rate of the aggregate.
    shares: bool,
    /// Its own rate and burst, as a member of the aggregate.
    own: Option<(BitRate, Bytes)>,
    /// True if its manager has two queues, and receives decisions.
    is_pair: bool,
    priority: u32,
    /// Draws so far, by purpose; the first flow draws as it would alone.
    draws: [u64; Draw::ALL.len()],
}

impl Flow {
    const fn new(member: Member, is_pair: bool, shares: bool, priority: u32) -> Self {
        Self { is_pair, member, shares, own: None, priority, draws: [0; Draw::ALL.len()] }
    }

    /// A link of any kind.
    pub(crate) const fn any(link: Box<Pointed>, is_pair: bool) -> Self {
        Self::new(Member::Other(link), is_pair, false, 0)
    }

    /// The link's own service flow, or pair of them.
    pub(crate) fn first(upstream: Upstream, is_pair: bool) -> Self {
        Self::new(Member::Upstream(Box::new(upstream)), is_pair, true, 0)
    }

    /// A service flow beside it.
    pub(crate) fn beside(first: &UpstreamConfig, config: &ServiceFlowConfig, manager: Box<dyn QueueManager>) -> Self {
        let upstream = Upstream::new(&config.as_link(first), manager);
        let member = Member::Upstream(Box::new(upstream));
        let has_own = config.member && config.rate > BitRate::ZERO;
        Self {
            own: has_own.then_some((config.rate, config.burst)),
            ..Self::new(member, is_pair(&config.queue), config.member, config.traffic_priority)
        }
    }

    fn link(&self) -> &dyn Link {
        match &self.member {
            Member::Upstream(link) => &**link,
            Member::Other(link) => &**link,
        }
    }

    const fn upstream(&self) -> Option<&Upstream> {
        match &self.member {
            Member::Upstream(link) => Some(link),
            Member::Other(_) => None,
        }
    }

    const fn upstream_mut(&mut self) -> Option<&mut Upstream> {
        match &mut self.member {
            Member::Upstream(link) => Some(link),
            Member::Other(_) => None,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Modem {
    rules: Rules,
    flows: Vec<Flow>,
    /// Buckets of the aggregate, if several flows share them.
    aggregate: Option<Aggregate>,
    /// Room for the flows that are due at one time.
    order: Vec<(Reverse<u32>, u64, usize)>,
}

impl Modem {
    /// The first flow is the link's own.
    pub(crate) fn new(rules: Rules, mut flows: Vec<Flow>) -> Self {
        let is_shared = flows.iter().filter(|flow| flow.shares).count() > 1;
        let first = flows.first().and_then(Flow::upstream);
        let aggregate = first.filter(|_| is_shared).map(Upstream::aggregate);
        if aggregate.is_some() {
            for flow in flows.iter_mut().filter(|flow| flow.shares) {
                let own = flow.own;
                if let Some(upstream) = flow.upstream_mut() {
                    upstream.becomes_member(own);
                }
            }
        }
        Self { rules, flows, aggregate, order: Vec::new() }
    }

    /// Everything of flows that share something, before `until`, and at it if `and_at`: time goes on for all of them
    /// together.
    fn advance(&mut self, until: Instant, and_at: bool, context: &mut (impl LinkContext + ?Sized)) {
        if self.flows.len() == 1 {
            return;
        }
        for flow in self.flows.iter_mut().filter_map(Flow::upstream_mut) {
            flow.skip_to(until);
        }
        loop {
            let due = self.flows.iter().filter_map(Flow::upstream);
            let at = due.map(Upstream::due).min().unwrap_or(Instant::NEVER);
            let is_past = at < until || and_at && at == until;
            if !is_past || !context.work(1) {
                return;
            }
            self.step(at, context);
        }
    }

    /// Handles the events at `at`.
    fn step(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let mut order = core::mem::take(&mut self.order);
        order.clear();
        for (place, flow) in self.flows.iter().enumerate() {
            if let Some(upstream) = flow.upstream().filter(|upstream| upstream.due() <= at) {
                let wanted = if flow.shares { upstream.wanted() } else { 0 };
                order.push((Reverse(flow.priority), wanted, place));
            }
        }
        // Smallest requests come first, so that an even share is never more than is left for each.
        order.sort_unstable();
        for (turn, (priority, _, place)) in order.iter().enumerate() {
            let behind = order[turn..].iter();
            let rivals = behind.filter(|(other, wanted, _)| other == priority && *wanted > 0);
            let rivals = u64::try_from(rivals.count()).unwrap_or(1).max(1);
            let flow = &mut self.flows[*place];
            let lent = self.aggregate.as_mut().filter(|_| flow.shares);
            let Member::Upstream(upstream) = &mut flow.member else {
                continue;
            };
            let mut call = FlowCall { flow: *place, draws: &mut flow.draws, context: &mut *context };
            match lent {
                Some(aggregate) => upstream.on_loan(at, (aggregate, rivals), |upstream| {
                    upstream.on_wakeup(at, &mut call);
                }),
                None => upstream.on_wakeup(at, &mut call),
            }
        }
        self.order = order;
        if let Some(aggregate) = &self.aggregate {
            for flow in self.flows.iter_mut().filter(|flow| flow.shares) {
                if let Some(upstream) = flow.upstream_mut() {
                    upstream.sees(aggregate);
                }
            }
        }
    }

    /// Calls one flow.
    fn with_flow<C: LinkContext + ?Sized>(
        &mut self,
        place: usize,
        context: &mut C,
        action: impl FnOnce(&mut dyn for<'a> Transmit<dyn LinkContext + 'a>, &mut dyn LinkContext),
    ) {
        let flow = &mut self.flows[place];
        let mut call = FlowCall { flow: place, draws: &mut flow.draws, context };
        match &mut flow.member {
            Member::Upstream(link) => action(&mut **link, &mut call),
            Member::Other(link) => action(&mut **link, &mut call),
        }
    }
}

impl<C: LinkContext + ?Sized> Transmit<C> for Modem {
    fn on_arrival(&mut self, now: Instant, mut meta: Meta, item: PacketHandle, context: &mut C) {
        self.advance(now, false, context);
        let key = context.flow(item);
        if let Some(dscp) = self.rules.marking(key.as_ref(), &meta) {
            meta.dscp = dscp;
            context.remark(item, dscp);
        }
        let target = self.rules.target(key.as_ref(), &meta);
        if self.flows[target.flow].is_pair {
            meta.queue = decided(target.queue);
        }
        self.with_flow(target.flow, context, |link, call| {
            link.on_arrival(now, meta, item, call);
        });
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, true, context);
        if self.flows.len() == 1 {
            self.with_flow(0, context, |link, call| link.on_wakeup(now, call));
        }
    }

    fn settle(&mut self, now: Instant, context: &mut C) {
        self.advance(now, false, context);
        for place in 0..self.flows.len() {
            self.with_flow(place, context, |link, call| link.settle(now, call));
        }
    }
}

impl Link for Modem {
    fn next_wakeup(&self) -> Instant {
        let wakeups = self.flows.iter().map(|flow| flow.link().next_wakeup());
        wakeups.min().unwrap_or(Instant::NEVER)
    }

    fn backlog(&self) -> Backlog {
        self.flows.iter().fold(Backlog::default(), |sum, flow| add(sum, flow.link().backlog()))
    }

    fn staged(&self) -> Backlog {
        self.flows.iter().fold(Backlog::default(), |sum, flow| add(sum, flow.link().staged()))
    }

    fn keeps_order(&self) -> bool {
        matches!(&self.flows[..], [flow] if flow.link().keeps_order())
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.flows.first()?.link().sub_flow(meta)
    }

    fn counters(&self) -> Option<LinkCounters> {
        let counters = self.flows.iter().map(|flow| flow.link().counters());
        counters.reduce(|sum, one| Some(sum? + one?))?
    }

    /// Of all classic flows together, and of all low-latency ones.
    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        self.flows.first()?.link().service_flow_counters()?;
        let mut sum = [LinkCounters::default(); 2];
        for flow in &self.flows {
            let own = flow.link().service_flow_counters();
            let whole = flow.link().counters().unwrap_or_default();
            let [classic, low_latency] = own.unwrap_or([whole, LinkCounters::default()]);
            sum = [sum[0] + classic, sum[1] + low_latency];
        }
        Some(sum)
    }
}

fn add(one: Backlog, other: Backlog) -> Backlog {
    Backlog { bytes: one.bytes + other.bytes, packets: Packets(one.packets.0 + other.packets.0) }
}

/// Draws of one flow before those of the next begin. chosen: more than a run makes.
const APART: u64 = 1 << 48;

/// The context of one service flow: draws of further flows have streams of their own.
struct FlowCall<'a, C: ?Sized> {
    flow: usize,
    draws: &'a mut [u64; Draw::ALL.len()],
    context: &'a mut C,
}

impl<C: LinkContext + ?Sized> LinkContext for FlowCall<'_, C> {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(self.context.as_dyn())
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        self.context.deliver(item, meta, passage);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.context.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.context.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        if self.flow == 0 {
            return self.context.unit(purpose);
        }
        let draw = &mut self.draws[purpose as usize];
        *draw += 1;
        let number = APART * self.flow as u64 + *draw;
        self.context.unit_at(purpose, number)
    }
}

#[cfg(test)]
mod tests;
