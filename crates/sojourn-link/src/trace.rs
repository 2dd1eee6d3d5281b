//! A link whose chances to send were measured or made: LTE, satellite, Wi-Fi.
//!
//! At each opportunity a number of bytes may leave. The manager is asked when there is room for its packet, which then
//! stands staged until its last byte has gone. Unused opportunities are lost, so a packet that comes to an idle link
//! waits for the next opportunity, and one that comes at the instant of an opportunity has missed it.
//!
//! Source: Mahimahi, `src/frontend/link_queue.cc` and `traces/README` (its rule and its files); with `light`, see that module.
//! Deviations: chosen: `share = "packets"`, where an opportunity is spent by one packet; a start at random, and a scale. The rate that a
//! manager and a limit in time go by is the mean over the trace.

mod light;
mod opportunities;

pub use self::opportunities::Opportunities;

use self::light::{Coming, Light, Trains};
use self::opportunities::EXAMPLE;
use crate::any::AnyLink;
use crate::config::keys;
use crate::kind::LinkKind;
use crate::problems::problem;
use crate::queue_call::{Drain, QueueCall, next_timer, run_timers};
use crate::{DelayParts, Draw, Link, LinkContext, Passage, Transmit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Packets, Span};
use sojourn_keys::{origin, parameters, words};
use sojourn_queue::{Backlog, ConfigProblem, Held, QueueManager};

words! {
    /// Unit of an opportunity.
    pub enum Share {
        /// small packets share it, and large ones take several
        Bytes = "bytes",
        /// one packet, whatever its length
        Packets = "packets",
    }
}

parameters! {
    /// A link whose chances to send come from a trace.
    pub struct TraceConfig: "trace", "a link whose chances to send were measured or made, for instance LTE, satellite or Wi-Fi" {
        /// when something may leave, in whole milliseconds; `+3` is three after the one before, `5*2` two at once. From a file of Mahimahi's form: `--set access.downstream.link.opportunities=@FILE`
        opportunities: Opportunities = Opportunities::NONE, origin("no default: it is the trace").required("\"5 5 8 12\"");
        /// bytes of one opportunity
        opportunity: Bytes = Bytes(1504), origin("Mahimahi link_queue.cc: the largest packet of its tunnel").least("1 B").most("1 MB");
        /// what an opportunity is for
        share: Share = Share::Bytes, origin("Mahimahi link_queue.cc");
        /// where in the trace the run begins; "random" draws one of the opportunities, the same for all runs of a seed
        start: Option<Span> = Some(Span::ZERO), origin("Mahimahi: at its beginning").or("random").most("20 days");
        /// whether the trace begins again after its last opportunity
        repeat: bool = true, origin("Mahimahi: it does");
        /// rate over that of the trace: 0.5 leaves out each second opportunity, 2 doubles each
        scale: f64 = 1.0, origin("chosen: as it was measured").least("0.001").most("1000");
        /// what was measured of light use, a train a line or before a `;`: when it was, what its first packet took, and when packets came after the first, all in whole milliseconds; "none" if only heavy use was. From a file of CellReplay's form: `--set access.downstream.link.light=@FILE`
        light: Trains = Trains::NONE, origin("chosen: Mahimahi's files have none");
        /// how long nothing has to come, beyond the base delay, before a packet begins another train
        train_gap: Span = Span::ZERO, origin("CellReplay cellular_queue.cc").most("60 s");
        delay: Span = Span::ZERO, keys::delay("chosen: no delay unless it is said");
    }
    profiles {
        /// traces of Mahimahi: 1504 B
        MAHIMAHI "mahimahi" {}
        /// traces of the Saturator, as the README of Mahimahi has them: 1500 B
        SATURATOR "saturator" { opportunity = Bytes(1500); }
    }
}

/// Share of opportunities that are kept, in billionths.
const BILLION: u128 = 1_000_000_000;

impl TraceConfig {
    /// The trace with all else as Mahimahi has it.
    pub fn of(opportunities: Opportunities) -> Self {
        Self { opportunities, ..Self::MAHIMAHI.clone() }
    }

    /// Returns the start of a run in the trace; its beginning if that is drawn.
    fn cursor(&self) -> Cursor {
        let mut cursor = Cursor {
            trace: self.opportunities.clone(),
            repeats: self.repeat,
            billionths: self.billionths(),
            start: Span::ZERO,
            round: 0,
            place: 0,
            next: Instant::NEVER,
        };
        cursor.begin(self.start.unwrap_or_default());
        cursor
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0.001 and 1000, by the bounds of the key"
    )]
    fn billionths(&self) -> u128 {
        (self.scale * 1e9 + 0.5) as u128
    }
}

impl LinkKind for TraceConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        AnyLink::other(Trace::new(self, manager))
    }

    fn drain_rate(&self) -> BitRate {
        let bits = u128::from(self.opportunities.total()) * u128::from(self.opportunity.0) * 8;
        let period_ms = u128::from(self.opportunities.period().as_ps() / MILLISECOND_PS);
        let rate = bits * self.billionths() * 1000 / BILLION / period_ms.max(1);
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    fn delay(&self) -> Span {
        self.delay
    }

    /// Of a start that is drawn, what the mean rate carries.
    fn offered(&self, span: Span) -> Option<Bytes> {
        self.start?;
        let mut cursor = self.cursor();
        let before = cursor.kept();
        cursor.pass(Instant::ZERO + span);
        let count = cursor.kept().saturating_sub(before);
        Some(Bytes(count.saturating_mul(self.opportunity.0)))
    }

    fn ends_after(&self) -> Option<Span> {
        let left = self.opportunities.period() - self.start.unwrap_or_default().min(self.opportunities.period());
        (!self.repeat).then_some(left)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        if self.opportunities == Opportunities::NONE {
            // A profile stands for all keys but the trace itself.
            problems.push(problem("opportunities", "is missing".into(), EXAMPLE));
        }
        if let Some(start) = self.start
            && start >= self.opportunities.period()
            && self.opportunities != Opportunities::NONE
        {
            problems.push(problem(
                "start",
                alloc::format!("{start} is not within the trace, which is {} long", self.opportunities.period()),
                "a time within the trace, or \"random\"",
            ));
        }
    }
}

const MILLISECOND_PS: u64 = 1_000_000_000;

/// Position of a run in a trace.
#[derive(Clone, Debug)]
struct Cursor {
    trace: Opportunities,
    repeats: bool,
    billionths: u128,
    /// Time of the trace when the run begins.
    start: Span,
    /// How often the trace has begun again.
    round: u64,
    /// The next instant; behind the last if nothing comes any more.
    place: usize,
    /// Time of that opportunity; [`Instant::NEVER`] if there is none.
    next: Instant,
}

impl Cursor {
    fn at(&self) -> Instant {
        let Some((at, _)) = self.trace.instants().get(self.place) else {
            return Instant::NEVER;
        };
        let base = self.round.saturating_mul(self.trace.period().as_ps());
        let at = base.saturating_add(u64::from(*at) * MILLISECOND_PS);
        Instant::from_ps(at.saturating_sub(self.start.as_ps()))
    }

    /// How many opportunities of the trace are kept before those at its place.
    fn kept(&self) -> u64 {
        self.kept_before(self.place)
    }

    fn kept_before(&self, place: usize) -> u64 {
        let rounds = u128::from(self.round) * u128::from(self.trace.total());
        let kept = (rounds + u128::from(self.trace.before(place))) * self.billionths / BILLION;
        u64::try_from(kept).unwrap_or(u64::MAX)
    }

    /// How many of those that are next are kept.
    fn count(&self) -> u64 {
        if self.billionths == BILLION {
            let trace = &self.trace;
            return u64::from(trace.before(self.place + 1) - trace.before(self.place));
        }
        self.kept_before(self.place + 1) - self.kept()
    }

    fn step(&mut self) {
        self.place += 1;
        if self.place == self.trace.instants().len() && self.repeats {
            (self.round, self.place) = (self.round + 1, 0);
        }
        self.next = self.at();
    }

    /// Goes to the first instant after `now`.
    fn pass(&mut self, now: Instant) {
        if self.next > now {
            return;
        }
        let into = now.as_ps().saturating_add(self.start.as_ps());
        let period = self.trace.period().as_ps();
        let (round, rest) = if self.repeats { (into / period, into % period) } else { (0, into) };
        self.round = round;
        let passed = |(at, _): &(u32, u32)| u64::from(*at) * MILLISECOND_PS <= rest;
        self.place = self.trace.instants().partition_point(passed);
        if self.place == self.trace.instants().len() && self.repeats {
            (self.round, self.place) = (self.round + 1, 0);
        }
        self.next = self.at();
    }

    /// Goes to the first instant at or after a time of the trace, where the run begins.
    fn begin(&mut self, start: Span) {
        self.start = start;
        let before = |(at, _): &(u32, u32)| u64::from(*at) * MILLISECOND_PS < start.as_ps();
        self.place = self.trace.instants().partition_point(before);
        self.next = self.at();
    }
}

/// A packet that has left the manager and not the link.
#[derive(Clone, Copy, Debug)]
struct Staged {
    packet: Held,
    pulled_at: Instant,
    left: u64,
}

/// See the module. `M` is the queue manager.
#[derive(Clone, Debug)]
pub struct Trace<M: ?Sized = dyn QueueManager> {
    manager: Box<M>,
    cursor: Cursor,
    /// Draws where to begin before the first packet.
    begins_anywhere: bool,
    opportunity: u64,
    share: Share,
    rate: BitRate,
    delay: Span,
    staged: Option<Staged>,
    /// The last packet that found an idle link, while it waits.
    alone: Option<PacketHandle>,
    /// The manager was asked and had nothing, and nothing has come since.
    idle: bool,
    timer: Instant,
    light: Option<Light>,
}

impl<M: QueueManager + ?Sized> Trace<M> {
    /// An idle link.
    pub fn new(config: &TraceConfig, manager: Box<M>) -> Self {
        Self {
            timer: next_timer(&*manager),
            manager,
            cursor: config.cursor(),
            begins_anywhere: config.start.is_none(),
            opportunity: config.opportunity.0,
            share: config.share,
            rate: config.drain_rate(),
            delay: config.delay,
            staged: None,
            alone: None,
            idle: false,
            light: Light::of(&config.light, config.train_gap, config.opportunity.0),
        }
    }

    fn split<'a, C: ?Sized>(&'a mut self, now: Instant, context: &'a mut C) -> (&'a mut M, QueueCall<'a, C>) {
        let call = QueueCall {
            now,
            drain: Drain::Line(self.rate),
            staged: Bytes(self.staged.map_or(0, |staged| staged.left)),
            loop_delay: Span::ZERO,
            context,
        };
        (&mut self.manager, call)
    }

    fn holds_packets(&self) -> bool {
        self.staged.is_some() || self.manager.backlog().packets.0 > 0
    }

    fn run_timers(&mut self, until: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if self.timer <= until {
            let (manager, mut call) = self.split(until, context);
            self.timer = run_timers(manager, until, &mut call);
        }
    }

    /// Everything that is due by `now`.
    fn advance(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if core::mem::take(&mut self.begins_anywhere) {
            self.begin_anywhere(context);
        }
        while let Some(light) = &mut self.light
            && light.next() <= now
            && let Some(coming) = light.pop()
        {
            self.spend_until(coming.at, context);
            self.take(&coming, context);
        }
        self.spend_until(now, context);
    }

    /// The opportunities and timers that are due by `now`.
    fn spend_until(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        loop {
            let at = self.cursor.next;
            if at > now || !context.work(1) {
                break;
            }
            // A manager that has nothing is asked once, and then only after something has come.
            if self.idle || !(self.holds_packets() || self.manager.notices_idling()) {
                self.cursor.pass(now);
                break;
            }
            self.run_timers(at, context);
            self.spend(at, context);
            self.cursor.step();
        }
        self.run_timers(now, context);
    }

    /// A packet of light use is there: it goes on, or waits for opportunities behind those that wait.
    fn take(&mut self, coming: &Coming, context: &mut (impl LinkContext + ?Sized)) {
        if coming.is_light && !self.holds_packets() {
            let packet = Held::new(coming.entered_at, coming.meta, coming.item);
            let after = coming.at.saturating_since(coming.entered_at);
            let delay =
                DelayParts { grant_wait: after - coming.base, wire: coming.base + self.delay, ..DelayParts::default() };
            let passage = Passage::of(&packet, coming.entered_at, coming.at + self.delay, delay);
            context.deliver(coming.item, &coming.meta, &passage);
            return;
        }
        if let Some(light) = &mut self.light {
            light.waits(coming);
        }
        self.wait(coming.at, coming.meta, coming.item, context);
    }

    /// A packet waits for opportunities.
    fn wait(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut (impl LinkContext + ?Sized)) {
        if !self.holds_packets() {
            self.alone = Some(item);
        }
        let (manager, mut call) = self.split(now, context);
        if manager.enqueue(now, meta, item, &mut call).is_accepted() {
            self.idle = false;
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of opportunities")]
    fn begin_anywhere(&mut self, context: &mut (impl LinkContext + ?Sized)) {
        let trace = &self.cursor.trace;
        let number = (context.unit(Draw::TraceStart) * f64::from(trace.total())) as u32;
        let place = trace.instants().partition_point(|(_, total)| *total <= number);
        let at = trace.instants().get(place).map_or(0, |(at, _)| *at);
        // A start at the last instant begins with the next round.
        let start = Span::from_ms(u64::from(at));
        self.cursor.begin(if start < trace.period() { start } else { Span::ZERO });
    }

    /// The opportunities of one instant.
    fn spend(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let count = self.cursor.count();
        match self.share {
            Share::Bytes => {
                self.send(count.saturating_mul(self.opportunity), at, context);
            }
            Share::Packets => {
                for _ in 0..count {
                    if !self.send(self.opportunity, at, context) {
                        break;
                    }
                }
            }
        }
    }

    /// Sends up to `room` bytes; whether there was anything to send.
    fn send(&mut self, mut room: u64, at: Instant, context: &mut (impl LinkContext + ?Sized)) -> bool {
        while room > 0 {
            if self.staged.is_none() && !self.pull(at, context) {
                return false;
            }
            let Some(staged) = &mut self.staged else {
                return false;
            };
            let sent = room.min(staged.left);
            staged.left -= sent;
            room -= sent;
            if staged.left > 0 {
                break;
            }
            self.deliver(at, context);
            if self.share == Share::Packets {
                break;
            }
        }
        true
    }

    /// Takes the next packet from the manager, which judges it now; whether it had one.
    fn pull(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) -> bool {
        let (manager, mut call) = self.split(at, context);
        let Some(packet) = manager.dequeue(at, &mut call) else {
            self.idle = true;
            return false;
        };
        self.staged = Some(Staged { packet, pulled_at: at, left: u64::from(packet.meta.length).max(1) });
        true
    }

    fn deliver(&mut self, at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let Some(staged) = self.staged.take() else {
            return;
        };
        let mut packet = staged.packet;
        let waited = staged.pulled_at.saturating_since(packet.enqueued_at);
        // Before it waited, it was on its way.
        let came = self.light.as_mut().and_then(|light| light.came(packet.item));
        let before = came.map_or(Span::ZERO, |came| packet.enqueued_at.saturating_since(came));
        packet.enqueued_at = came.unwrap_or(packet.enqueued_at);
        let (queue, grant_wait) = if self.alone == Some(packet.item) {
            self.alone = None;
            (Span::ZERO, waited)
        } else {
            (waited, Span::ZERO)
        };
        let delay = DelayParts {
            queue,
            grant_wait,
            serialisation: at.saturating_since(staged.pulled_at),
            wire: before + self.delay,
            ..DelayParts::default()
        };
        let left_at = packet.enqueued_at + waited;
        let passage = Passage::of(&packet, left_at, at + self.delay, delay);
        context.deliver(packet.item, &packet.meta, &passage);
    }
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for Trace<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        self.advance(now, context);
        match &mut self.light {
            Some(light) => light.arrive(now, self.cursor.start, meta, item),
            None => self.wait(now, meta, item, context),
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, context);
    }
}

impl<M: QueueManager + ?Sized> Link for Trace<M> {
    fn next_wakeup(&self) -> Instant {
        let coming = self.light.as_ref().map_or(Instant::NEVER, Light::next);
        if self.holds_packets() { self.cursor.next.min(self.timer).min(coming) } else { coming }
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.manager.retune(to)
    }

    fn staged(&self) -> Backlog {
        let coming = self.light.as_ref().map_or_else(Backlog::default, Light::backlog);
        self.staged.map_or(coming, |staged| Backlog {
            bytes: coming.bytes + Bytes(u64::from(staged.packet.meta.length)),
            packets: coming.packets + Packets(1),
        })
    }

    fn keeps_order(&self) -> bool {
        self.light.is_none()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
