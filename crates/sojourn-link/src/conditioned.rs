//! A link under conditions: what happens to a packet behind it.
//!
//! Everything but the rate meets a packet where its last bit would arrive at the far end, by what holds at that instant, in
//! this order: a policer, loss, a second copy, delay, jitter and late packets, slots.
//!
//! Each draw is addressed by the packet: its flow, and its number among those of its flow that have reached the link.
//! The drops of a queue manager do not change the conditions of another flow, so managers are compared under the same
//! luck.
//!
//! Source: that of [`crate::conditions`].
//! Deviations: slots come even if no packet waits (netem begins the next gap when it has sent); loss behind the link is
//! reported when the packet leaves the queue, not when it would have arrived.

use crate::any::{AnyLink, Pointed};
use crate::conditions::config::{ConditionConfig, Effect};
use crate::conditions::timeline::{Rates, Timeline};
use crate::kind::LinkConfig;
use crate::token_bucket::TokenBucket;
use crate::{Draw, Link, LinkContext, LinkCounters, Loss, Mark, Passage, Stage, Transmit};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::any::Any;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, ServiceQueue, Span, dist};
use sojourn_queue::{Backlog, Reason};

impl LinkConfig {
    /// An idle link under `conditions`.
    ///
    /// # Panics
    /// As [`LinkConfig::build`], or if [`condition_problems`] lists something.
    pub fn build_under(&self, conditions: &[ConditionConfig]) -> AnyLink {
        let link = self.build();
        if conditions.is_empty() {
            return link;
        }
        link.at_rates_of(self.drain_rate(), conditions).under(conditions)
    }
}

impl AnyLink {
    /// The same link at a rate that `conditions` change, if it is of the kind whose rate they can.
    pub(crate) fn at_rates_of(mut self, rate: BitRate, conditions: &[ConditionConfig]) -> Self {
        if let Self::Serial(line) = &mut self {
            line.set_rates(Rates::of(rate, conditions));
        }
        self
    }

    /// The same link, and what happens behind it.
    pub(crate) fn under(self, conditions: &[ConditionConfig]) -> Self {
        let behind = Behind::of(conditions);
        if behind.is_idle() {
            return self;
        }
        Self::other(Conditioned { link: self.pointed(), behind })
    }
}

impl LinkConfig {
    /// Returns true if a running link with these parameters under `conditions` can change to `to`.
    pub fn may_become(&self, to: &Self, conditions: &[ConditionConfig]) -> bool {
        self == to || self.retune(&mut self.build_under(conditions), Instant::ZERO, to)
    }
}

/// Purpose of a packet's draws behind a link.
#[derive(Clone, Copy, Debug)]
enum Lot {
    Loss,
    Duplicate,
    Jitter,
    Reorder,
    /// The gap before a slot.
    Slot,
}

/// Standard deviations at which jitter is cut off (RFC 8868 4.5.2).
const BOUND: f64 = 3.0;

/// A policer as a file says it.
type PolicerConfig = (BitRate, Bytes);
/// Slots as a file says them: the shortest and the longest gap, and what fits into one.
type SlotConfig = (Span, Span, u32);

/// A link under conditions; see the module.
#[derive(Debug)]
pub struct Conditioned {
    link: Box<Pointed>,
    behind: Behind,
}

/// Everything behind the link.
#[derive(Debug)]
struct Behind {
    police: Timeline<PolicerConfig>,
    loss_every: Timeline<u32>,
    loss: Timeline<f64>,
    duplicate: Timeline<f64>,
    delay: Timeline<Span>,
    jitter: Timeline<(Span, bool)>,
    reorder: Timeline<(f64, Span)>,
    hold: Timeline<SlotConfig>,
    /// Packets of each flow that have reached the link.
    flows: BTreeMap<u32, u64>,
    /// Number of each packet in the link among those of its flow.
    numbers: BTreeMap<PacketHandle, u64>,
    /// Packets that have come out of the link.
    passed: u64,
    /// The bucket of the present policer, and since when it is there.
    policer: Option<(Instant, TokenBucket)>,
    slots: Option<Slots>,
    /// Arrival of the last packet of each service queue, apart from slots; none overtakes it.
    order: [Instant; ServiceQueue::ALL.len()],
    /// Release of the last packet that was held; none overtakes it.
    released: Instant,
}

/// The slots of one condition.
#[derive(Clone, Copy, Debug)]
struct Slots {
    since: Instant,
    /// The present or next one.
    next: Instant,
    /// Packets that fit into it.
    room: u32,
    /// Gaps drawn so far.
    gaps: u64,
}

impl Behind {
    fn of(conditions: &[ConditionConfig]) -> Self {
        Self {
            police: Timeline::of(conditions, Effect::Police, |it| Some((it.police?, it.police_burst))),
            loss_every: Timeline::of(conditions, Effect::LossEvery, |it| it.loss_every),
            loss: Timeline::of(conditions, Effect::Loss, |it| it.loss),
            duplicate: Timeline::of(conditions, Effect::Duplicate, |it| it.duplicate),
            delay: Timeline::of(conditions, Effect::Delay, |it| it.delay),
            jitter: Timeline::of(conditions, Effect::Jitter, |it| Some((it.jitter?, it.overtake))),
            reorder: Timeline::of(conditions, Effect::Reorder, |it| Some((it.reorder?, it.reorder_by))),
            hold: Timeline::of(conditions, Effect::Hold, |it| {
                let (first, last) = (*it.hold.first()?, *it.hold.last()?);
                Some((first, last, it.hold_packets.unwrap_or(u32::MAX)))
            }),
            flows: BTreeMap::new(),
            numbers: BTreeMap::new(),
            passed: 0,
            policer: None,
            slots: None,
            order: [Instant::ZERO; ServiceQueue::ALL.len()],
            released: Instant::ZERO,
        }
    }

    const fn is_idle(&self) -> bool {
        self.police.is_empty()
            && self.loss_every.is_empty()
            && self.loss.is_empty()
            && self.duplicate.is_empty()
            && self.delay.is_empty()
            && self.jitter.is_empty()
            && self.reorder.is_empty()
            && self.hold.is_empty()
    }

    /// A packet reaches the link, which numbers it.
    fn on_arrival(&mut self, meta: &Meta, item: PacketHandle) {
        let count = self.flows.entry(meta.flow_hash).or_default();
        self.numbers.insert(item, *count);
        *count += 1;
    }

    /// Why the packet that arrives at `at` is lost, if it is.
    fn loses(&mut self, at: Instant, meta: &Meta, luck: &mut impl FnMut(Lot) -> f64) -> Option<Reason> {
        self.passed += 1;
        if let Some((since, (rate, depth))) = self.police.at(at) {
            let bucket = match &mut self.policer {
                Some((begun, bucket)) if *begun == since => bucket,
                other => &mut other.insert((since, TokenBucket::new(*rate, *depth))).1,
            };
            let price = bucket.price(Bytes(meta.length.into()));
            // The longest packet would pass a full bucket that is shallower than it is.
            if bucket.earliest(price) > at || u64::from(meta.length) > depth.0 {
                return Some(Reason::Policed);
            }
            bucket.debit(at, price);
        }
        let counted = self.loss_every.at(at);
        let drawn = self.loss.at(at).map(|(_, share)| *share);
        let is_lost = counted.is_some_and(|(_, every)| self.passed.is_multiple_of((*every).into()))
            || drawn.is_some_and(|share| luck(Lot::Loss) < share);
        is_lost.then_some(Reason::Disturbed)
    }

    /// How long the packet that arrives at `at` takes longer, apart from slots, and when that is.
    fn delays(&mut self, at: Instant, meta: &Meta, luck: &mut impl FnMut(Lot) -> f64) -> Instant {
        let mut late = self.delay.at(at).map_or(Span::ZERO, |(_, delay)| *delay);
        let mut may_overtake = false;
        if let Some((_, (deviation, overtake))) = self.jitter.at(at) {
            let (least, most) = (dist::normal_share_below(-BOUND), dist::normal_share_below(BOUND));
            let z = dist::normal_quantile(dist::uniform(luck(Lot::Jitter), least, most));
            late += Span::from_secs_f64(deviation.as_secs_f64() * (BOUND + z).max(0.0));
            may_overtake = *overtake;
        }
        let mut leaves = at.saturating_add(late);
        if let Some((_, (share, by))) = self.reorder.at(at)
            && luck(Lot::Reorder) < *share
        {
            return leaves.saturating_add(*by);
        }
        let before = &mut self.order[meta.queue as usize];
        if !may_overtake {
            leaves = leaves.max(*before);
            *before = leaves;
        }
        leaves
    }

    /// Returns the release of a packet that could leave at `at`.
    fn hold(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) -> Instant {
        let at = at.max(self.released);
        let Some((since, &(least, most, packets))) = self.hold.at(at) else {
            return at;
        };
        let mut slots = match self.slots {
            Some(slots) if slots.since == since => slots,
            _ => Slots { since, next: since, room: 0, gaps: 0 },
        };
        if least == most && slots.next < at {
            // All but the last gap at once.
            let whole = (at.saturating_since(slots.next).as_ps() - 1) / least.as_ps();
            slots.next = slots.next.saturating_add(least.saturating_mul(whole));
        }
        while (slots.next < at || slots.room == 0) && context.work(1) {
            let gap = if least == most {
                least
            } else {
                let unit = context.luck(0, slots.gaps, Lot::Slot as u32);
                least + Span::from_secs_f64((most - least).as_secs_f64() * unit)
            };
            slots.gaps += 1;
            slots.next = slots.next.saturating_add(gap);
            slots.room = packets;
        }
        slots.room = slots.room.saturating_sub(1);
        self.slots = Some(slots);
        self.released = slots.next;
        slots.next
    }
}

/// The context of the link inside.
struct BehindCall<'a, C: ?Sized> {
    behind: &'a mut Behind,
    context: &'a mut C,
}

impl<C: LinkContext + ?Sized> BehindCall<'_, C> {
    /// One copy of a packet goes on.
    fn pass_on(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage, leaves: Instant) {
        let released = self.behind.hold(leaves, self.context);
        let mut passage = *passage;
        passage.delay.wire += leaves.saturating_since(passage.arrives_at);
        passage.delay.hold += released.saturating_since(leaves);
        passage.arrives_at = released;
        self.context.deliver(item, meta, &passage);
    }
}

impl<C: LinkContext + ?Sized> LinkContext for BehindCall<'_, C> {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(self.context.as_dyn())
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let number = self.behind.numbers.remove(&item).unwrap_or_default();
        let (behind, context) = (&mut *self.behind, &mut *self.context);
        let mut luck = |lot: Lot| context.luck(meta.flow_hash, number, lot as u32);
        let at = passage.arrives_at;
        if let Some(reason) = behind.loses(at, meta, &mut luck) {
            let loss = Loss { entered_at: passage.entered_at, stage: Stage::Line, reason, sub_flow: passage.sub_flow };
            context.dropped(item, meta, &loss);
            return;
        }
        let share = behind.duplicate.at(at).map(|(_, share)| *share);
        let is_twice = share.is_some_and(|share| luck(Lot::Duplicate) < share);
        let leaves = behind.delays(at, meta, &mut luck);
        let copy = if is_twice { context.copy(item) } else { None };
        self.pass_on(item, meta, passage, leaves);
        if let Some(copy) = copy {
            self.pass_on(copy, meta, passage, leaves);
        }
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.behind.numbers.remove(&item);
        self.context.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.context.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.context.unit(purpose)
    }
}

impl<C: LinkContext + ?Sized> Transmit<C> for Conditioned {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        self.behind.on_arrival(&meta, item);
        let mut call = BehindCall { behind: &mut self.behind, context };
        self.link.on_arrival(now, meta, item, &mut call);
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        let mut call = BehindCall { behind: &mut self.behind, context };
        self.link.on_wakeup(now, &mut call);
    }

    fn settle(&mut self, now: Instant, context: &mut C) {
        let mut call = BehindCall { behind: &mut self.behind, context };
        self.link.settle(now, &mut call);
    }
}

impl Link for Conditioned {
    fn next_wakeup(&self) -> Instant {
        self.link.next_wakeup()
    }

    fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    fn retune(&mut self, now: Instant, from: &dyn Any, to: &dyn Any) -> bool {
        self.link.retune(now, from, to)
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.link.retune_queue(to)
    }

    fn staged(&self) -> Backlog {
        self.link.staged()
    }

    fn keeps_order(&self) -> bool {
        self.link.keeps_order()
            && self.behind.reorder.is_empty()
            && !self.behind.jitter.values().any(|(_, overtake)| *overtake)
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.link.sub_flow(meta)
    }

    fn counters(&self) -> Option<LinkCounters> {
        self.link.counters()
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        self.link.service_flow_counters()
    }
}

#[cfg(test)]
mod tests;
