//! A link with rules, and the service flows beside its own.
//!
//! Each service flow sends as a link of its kind does. Members of an aggregate share its two buckets: for each MAP upstream,
//! and each symbol downstream, the flows with a higher traffic priority come first; among equals none gets more than an even
//! share of the rest while another still wants something. A flow outside the aggregates has buckets of its own.
//!
//! Source: White 2019 §2.1; DOCS-IETF-QOS-MIB for priorities.
//! Deviations: MULPI leaves the order of members of an aggregate to vendors; the even share is ours. What flows of different
//! aggregates send may overlap in time, as that of neighbours may: the channel has room for all rates.

use super::rules::Rules;
use crate::any::Pointed;
use crate::docsis31::aggregate::{Aggregate, Sharer};
use crate::{Draw, Link, LinkContext, LinkCounters, Loss, Mark, Passage, Transmit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets};
use sojourn_queue::Backlog;

/// A service flow whose time the modem has in hand, or a link with a time of its own.
#[derive(Debug)]
pub(crate) enum Member {
    Sharing(Box<dyn Sharer>),
    Other(Box<Pointed>),
}

/// A service flow of a modem.
#[derive(Debug)]
pub(crate) struct Flow {
    member: Member,
    /// Number of the aggregate whose rate it shares.
    shares: Option<usize>,
    /// Its own rate and burst, as a member of the aggregate.
    own: Option<(BitRate, Bytes)>,
    /// True if its manager has two queues, and receives decisions.
    is_pair: bool,
    priority: u32,
    /// Draws so far, by purpose; the first flow draws as it would alone.
    draws: [u64; Draw::ALL.len()],
}

impl Flow {
    /// `shares` is the number of its aggregate, and its own rate and burst in it.
    pub(crate) const fn new(
        member: Member,
        is_pair: bool,
        (shares, own): (Option<usize>, Option<(BitRate, Bytes)>),
        priority: u32,
    ) -> Self {
        Self { member, shares, own, is_pair, priority, draws: [0; Draw::ALL.len()] }
    }

    fn link(&self) -> &dyn Link {
        match &self.member {
            Member::Sharing(link) => &**link,
            Member::Other(link) => &**link,
        }
    }

    fn sharing(&self) -> Option<&dyn Sharer> {
        match &self.member {
            Member::Sharing(link) => Some(&**link),
            Member::Other(_) => None,
        }
    }

    const fn sharing_mut(&mut self) -> Option<&mut Box<dyn Sharer>> {
        match &mut self.member {
            Member::Sharing(link) => Some(link),
            Member::Other(_) => None,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Modem {
    rules: Rules,
    flows: Vec<Flow>,
    /// Buckets of each aggregate, if several flows share them.
    aggregates: Vec<Option<Aggregate>>,
    /// Room for the flows that are due at one time.
    order: Vec<(Reverse<u32>, u64, usize)>,
}

impl Modem {
    /// The first flow is the link's own.
    pub(crate) fn new(rules: Rules, mut flows: Vec<Flow>) -> Self {
        let number = flows.iter().filter_map(|flow| flow.shares).max().map_or(0, |most| most + 1);
        let mut aggregates = Vec::with_capacity(number);
        for number in 0..number {
            let members = flows.iter().filter(|flow| flow.shares == Some(number));
            let first = members.clone().find_map(Flow::sharing).filter(|_| members.count() > 1);
            let aggregate = first.map(Sharer::aggregate);
            if aggregate.is_some() {
                for flow in flows.iter_mut().filter(|flow| flow.shares == Some(number)) {
                    let own = flow.own;
                    if let Some(member) = flow.sharing_mut() {
                        member.becomes_member(own);
                    }
                }
            }
            aggregates.push(aggregate);
        }
        Self { rules, flows, aggregates, order: Vec::new() }
    }

    /// Everything of flows whose time goes on together, before `until`, and at it if `and_at`.
    fn advance(&mut self, until: Instant, and_at: bool, context: &mut (impl LinkContext + ?Sized)) {
        if self.flows.len() == 1 {
            return;
        }
        for flow in self.flows.iter_mut().filter_map(Flow::sharing_mut) {
            flow.skip_to(until);
        }
        loop {
            let due = self.flows.iter().filter_map(Flow::sharing);
            let at = due.map(Sharer::due).min().unwrap_or(Instant::NEVER);
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
            if let Some(link) = flow.sharing().filter(|link| link.due() <= at) {
                let wanted = if flow.shares.is_some() { link.wanted() } else { 0 };
                order.push((Reverse(flow.priority), wanted, place));
            }
        }
        // Smallest requests come first, so that an even share is never more than is left for each.
        order.sort_unstable();
        for (turn, (priority, _, place)) in order.iter().enumerate() {
            let shares = self.flows[*place].shares;
            let behind = order[turn..].iter();
            let rivals = behind.filter(|(other, wanted, rival)| {
                other == priority && *wanted > 0 && self.flows[*rival].shares == shares
            });
            let rivals = u64::try_from(rivals.count()).unwrap_or(1).max(1);
            let flow = &mut self.flows[*place];
            let lent = shares.and_then(|number| self.aggregates[number].as_mut());
            let Member::Sharing(link) = &mut flow.member else {
                continue;
            };
            let mut call = FlowCall { flow: *place, draws: &mut flow.draws, context: &mut *context };
            match lent {
                Some(aggregate) => link.on_loan(at, (aggregate, rivals), &mut call),
                None => link.on_wakeup(at, &mut call),
            }
        }
        self.order = order;
        for flow in &mut self.flows {
            let lent = flow.shares.and_then(|number| self.aggregates[number].as_ref());
            if let (Some(aggregate), Some(link)) = (lent, flow.sharing_mut()) {
                link.sees(aggregate);
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
            Member::Sharing(link) => action(&mut **link, &mut call),
            Member::Other(link) => action(&mut **link, &mut call),
        }
    }
}

impl<C: LinkContext + ?Sized> Transmit<C> for Modem {
    fn on_arrival(&mut self, now: Instant, mut meta: Meta, item: PacketHandle, context: &mut C) {
        self.advance(now, false, context);
        let flow = self.rules.sort(&mut meta, item, |flow| self.flows[flow].is_pair, context);
        self.with_flow(flow, context, |link, call| {
            link.on_arrival(now, meta, item, call);
        });
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, true, context);
        for place in 0..self.flows.len() {
            let is_own = self.flows.len() == 1 || self.flows[place].sharing().is_none();
            if is_own && self.flows[place].link().next_wakeup() <= now {
                self.with_flow(place, context, |link, call| link.on_wakeup(now, call));
            }
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
pub(crate) struct FlowCall<'a, C: ?Sized> {
    pub(crate) flow: usize,
    pub(crate) draws: &'a mut [u64; Draw::ALL.len()],
    pub(crate) context: &'a mut C,
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

    fn unit_at(&mut self, purpose: Draw, number: u64) -> f64 {
        self.context.unit_at(purpose, APART * self.flow as u64 + number)
    }
}

#[cfg(test)]
mod tests;
