//! CAKE: tins by DSCP, in each flow queues with a COBALT, and shares by host.
//!
//! A tin's threshold is its share of the rate. A tin that sends less goes before all tins below it. When all send more, the tin
//! whose time comes first is served. Behind a shaper that pays afterwards (`rule = "deficit"`) this is `sch_cake`.
//!
//! Source: Linux `sch_cake` (`cake_enqueue`, `cake_dequeue`, `cake_advance_shaper`, `cake_set_rate`, `cake_drop`;
//! tables `diffserv3` and `diffserv4`); the COBALT of each queue is that of [`crate::policy::cobalt`].
//! Deviations: those of [`crate::policy::cobalt`] and [`crate::store::flow_lists`]. CAKE reckons with its own shaper,
//! this one with the link behind it. A share of a quantum is rounded down, where CAKE rounds at random. Hosts are those
//! of the home: far hosts are not distinguished. Memory counts charged bytes, without those of the kernel's buffers.
//! Mode `ingress`, `nat`, `ack-filter` and the splitting of offloaded segments are left out.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::cobalt::judge_head;
use crate::policy::cobalt::{Cobalt, CobaltAtLink, CobaltLaw};
use crate::store::flow_lists::{FlowLists, FlowListsConfig};
use crate::store::lines::{Lines, StoreConfig};
use crate::store::waiting::Waiting as _;
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Direction, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_keys::{origin, parameters, words};

words! {
    /// How DSCPs are sorted into tins.
    pub enum Tins {
        /// one tin for all
        BestEffort = "besteffort",
        /// best effort, bulk (a sixteenth of the rate) and what must not wait (a quarter)
        Diffserv3 = "diffserv3",
        /// best effort, bulk (a sixteenth), streams (half) and what must not wait (a quarter)
        Diffserv4 = "diffserv4",
    }
}

words! {
    /// Between whom a tin's rate is shared.
    pub enum Isolation {
        /// flows, of any host
        Flows = "flows",
        /// hosts of the home, and in each its flows
        Triple = "triple",
        /// hosts that send, and in each its flows: upstream those of the home
        DualSource = "dual-srchost",
        /// hosts that receive, and in each its flows: downstream those of the home
        DualDestination = "dual-dsthost",
    }
}

parameters! {
    /// Parameters of CAKE.
    #[derive(Copy)]
    pub struct CakeConfig: "cake", "CAKE: tins by DSCP, flow queues with a COBALT each, shares by host" {
        /// how DSCPs are sorted into tins
        tins: Tins = Tins::Diffserv3, origin("Linux sch_cake");
        /// between whom a tin's rate is shared
        hosts: Isolation = Isolation::Triple, origin("Linux sch_cake: triple-isolate");
        /// bytes that may wait in all tins together; if it is not said, what the link sends in 400 ms and at least 4 MiB
        memory: Option<Bytes> = None, origin("Linux sch_cake").or("auto").least("1600 B").most("4 GiB");
        /// when a queue is signalled
        law: CobaltLaw = CobaltLaw { ecn: true, ..CobaltLaw::LINUX };
    }
    profiles {
        /// one tin
        BEST_EFFORT "besteffort" { tins = Tins::BestEffort; }
        /// three tins
        DIFFSERV3 "diffserv3" {}
        /// four tins
        DIFFSERV4 "diffserv4" { tins = Tins::Diffserv4; }
    }
}

impl ManagerKind for CakeConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(CakeQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.tins.shares().len() as u64 * FLOWS.bytes_with(size_of::<Cobalt>())
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(FlowFields::Five)
    }

    fn problem_in(&self, direction: Direction) -> Option<ConfigProblem> {
        let (is_far, hint) = match direction {
            Direction::Upstream => {
                (self.hosts == Isolation::DualDestination, "dual-srchost: upstream the hosts of the home send")
            }
            Direction::Downstream => {
                (self.hosts == Isolation::DualSource, "dual-dsthost: downstream the hosts of the home receive")
            }
        };
        is_far.then(|| ConfigProblem {
            field: "hosts",
            message: alloc::format!(
                "a queue knows hosts of the home alone, and none of them is meant {}",
                direction.as_str()
            ),
            hint,
        })
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.law.collect_problems(problems);
    }
}

/// The queues of a tin: 1024 in sets of eight. They have no limit of their own: that is [`CakeConfig::memory`], of all tins.
const FLOWS: FlowListsConfig =
    FlowListsConfig { limit: Limit::Packets(Packets(u32::MAX)), ways: 8, memory: None, ..FlowListsConfig::BASE };

/// Source: `cake_reconfigure`.
const LEAST_MEMORY: Bytes = Bytes(4 << 20);

/// Source: `cake_reconfigure`: four times the interval.
const MEMORY_TIME: Span = Span::from_ms(400);

/// Bytes of a turn of the tin with the whole rate, where there is no rate to reckon with. Source: `cake_config_diffserv4`.
const TIN_QUANTUM: i64 = 1024;

impl Tins {
    /// Returns the threshold of each tin: the divisor of the rate.
    const fn shares(self) -> &'static [u64] {
        match self {
            Self::BestEffort => &[1],
            Self::Diffserv3 => &[1, 16, 4],
            Self::Diffserv4 => &[1, 16, 2, 4],
        }
    }

    /// The tin of a DSCP.
    const fn of(self, dscp: u8) -> usize {
        match self {
            Self::BestEffort => 0,
            Self::Diffserv3 => match dscp {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Self::Diffserv4 => match dscp {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
        }
    }
}

/// Bytes of a flow's turn. Source: `cake_set_rate`.
fn quantum(rate: BitRate) -> u32 {
    if rate == BitRate::ZERO {
        return 1514;
    }
    let bytes = (rate.as_bps() / 8) >> 12;
    u32::try_from(bytes).unwrap_or(u32::MAX).clamp(300, 1514)
}

/// A tin.
#[derive(Clone, Debug)]
struct Tin {
    flows: FlowLists,
    cobalts: Vec<Cobalt>,
    at: CobaltAtLink,
    /// Its part of the rate.
    rate: BitRate,
    /// Time of its next packet within its threshold.
    next: Instant,
    /// Bytes that it may send before the next tin, without a rate.
    deficit: i64,
}

impl Tin {
    /// Source: `cake_advance_shaper`.
    fn on_sent(&mut self, now: Instant, length: u32) {
        if self.rate == BitRate::ZERO {
            self.deficit -= i64::from(length);
            return;
        }
        let took = self.rate.time_for(Bytes(length.into()));
        if self.next < now {
            self.next += took;
        } else if self.next < now + took {
            self.next = now + took;
        }
    }

    fn waits(&self) -> bool {
        self.flows.bins.backlog().packets > Packets(0)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct CakeQueue {
    config: CakeConfig,
    tins: Vec<Tin>,
    /// The rate that the tins were fitted to.
    rate: Option<BitRate>,
    memory: Bytes,
    backlog: Backlog,
    /// Tin whose turn it is, without a rate.
    turn: usize,
}

impl CakeQueue {
    /// An empty queue.
    pub fn new(config: CakeConfig) -> Self {
        let tin = || {
            let mut flows = FlowLists::new(&FLOWS);
            flows.forget_at_once();
            if config.hosts != Isolation::Flows {
                flows.share_by_host();
            }
            Tin {
                cobalts: alloc::vec![Cobalt::default(); flows.bins.lines()],
                flows,
                at: CobaltAtLink::new(config.law),
                rate: BitRate::ZERO,
                next: Instant::ZERO,
                deficit: 0,
            }
        };
        Self {
            tins: config.tins.shares().iter().map(|_| tin()).collect(),
            rate: None,
            memory: config.memory.unwrap_or(LEAST_MEMORY),
            backlog: Backlog::default(),
            turn: 0,
            config,
        }
    }

    /// Fits thresholds, quanta and memory to the link, if it has another rate than before.
    #[inline]
    fn look(&mut self, context: &dyn QueueContext) {
        let rate = context.shaper().rate();
        if self.rate != Some(rate) {
            self.fit(rate);
        }
        let request_grant = context.loop_delay();
        for tin in &mut self.tins {
            tin.at.look_at(tin.rate, request_grant);
        }
    }

    #[cold]
    fn fit(&mut self, rate: BitRate) {
        self.rate = Some(rate);
        for (tin, share) in self.tins.iter_mut().zip(self.config.tins.shares()) {
            tin.rate = BitRate::from_bps(rate.as_bps() / share);
            tin.flows.set_quantum(quantum(tin.rate));
        }
        self.memory = self.config.memory.unwrap_or_else(|| rate.bytes_in(MEMORY_TIME).max(LEAST_MEMORY));
    }

    /// The tin that is served now: one with queues in its lists, though all may have run empty, as in the kernel.
    fn choose(&mut self, now: Instant) -> Option<usize> {
        if self.rate.is_none_or(|rate| rate == BitRate::ZERO) {
            return self.choose_by_turn();
        }
        // The last one within its threshold, else the first to be there.
        let mut best: Option<(usize, Instant)> = None;
        for (number, tin) in self.tins.iter().enumerate() {
            if tin.flows.has_turns() && (tin.next <= now || best.is_none_or(|(_, next)| tin.next <= next)) {
                best = Some((number, tin.next));
            }
        }
        best.map(|(number, _)| number)
    }

    fn choose_by_turn(&mut self) -> Option<usize> {
        if !self.tins.iter().any(|tin| tin.flows.has_turns()) {
            return None;
        }
        let shares = self.config.tins.shares();
        loop {
            let tin = &mut self.tins[self.turn];
            if tin.flows.has_turns() && tin.deficit >= 0 {
                return Some(self.turn);
            }
            if tin.deficit <= 0 {
                tin.deficit += (TIN_QUANTUM / i64::try_from(shares[self.turn]).unwrap_or(1)).max(1);
            }
            self.turn = (self.turn + 1) % self.tins.len();
        }
    }

    /// Drops from the head of the longest queue of all tins until the rest fits.
    #[cold]
    fn make_room(&mut self, now: Instant, context: &mut dyn QueueContext) {
        while self.backlog.bytes > self.memory {
            let Some((tin, queue, _)) = self
                .tins
                .iter()
                .enumerate()
                .map(|(number, tin)| {
                    let queue = tin.flows.fattest();
                    (number, queue, tin.flows.bins.bytes_in(queue))
                })
                .max_by_key(|(_, _, bytes)| *bytes)
            else {
                return;
            };
            context.worked(self.tins.len() as u64 * u64::from(FLOWS.queues) / 8);
            let number = tin * FLOWS.queues as usize + queue;
            let tin = &mut self.tins[tin];
            let Some(victim) = tin.flows.bins.pop(queue) else {
                return;
            };
            let victim = victim.in_sub_flow(number);
            tin.cobalts[queue].on_overflow(tin.at.law(), now);
            self.backlog.bytes -= Bytes(victim.meta.length.into());
            self.backlog.packets -= Packets(1);
            context.dropped(victim, Reason::FatFlow);
        }
    }

    /// A packet of the tin, judged; nothing if its queues turn out to be empty.
    fn serve(&mut self, number: usize, is_first: bool, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        let tin = &mut self.tins[number];
        if is_first && let Some(queue) = tin.flows.decaying() {
            let cobalt = &mut tin.cobalts[queue];
            cobalt.on_empty(tin.at.law(), now);
            tin.flows.on_decayed(queue, cobalt.is_at_rest(now));
        }
        loop {
            let queue = tin.flows.ready(|_| ())?;
            let cobalt = &mut tin.cobalts[queue];
            let Some(packet) = tin.flows.bins.pop(queue) else {
                cobalt.on_empty(tin.at.law(), now);
                tin.flows.on_empty(queue);
                if !cobalt.is_at_rest(now) {
                    tin.flows.let_decay(queue);
                }
                continue;
            };
            let packet = packet.in_sub_flow(number * FLOWS.queues as usize + queue);
            self.backlog.bytes -= Bytes(packet.meta.length.into());
            self.backlog.packets -= Packets(1);
            let is_last = tin.flows.bins.is_empty(queue);
            let Some(packet) = judge_head(cobalt, &tin.at, now, packet, is_last, context) else {
                continue;
            };
            tin.flows.on_sent(queue, packet.meta.length);
            tin.on_sent(now, packet.meta.length);
            return Some(packet);
        }
    }
}

impl QueueManager for CakeQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        self.look(context);
        let tin = &mut self.tins[self.config.tins.of(meta.dscp)];
        if !tin.waits() {
            tin.next = tin.next.max(now);
        }
        let queue = tin.flows.line_of(&meta);
        tin.cobalts[queue].on_arrival(now);
        let _ = tin.flows.enqueue(queue, Held::new(now, meta, item), context);
        self.backlog.bytes += Bytes(meta.length.into());
        self.backlog.packets += Packets(1);
        if self.backlog.bytes > self.memory {
            self.make_room(now, context);
            // Victims leave from the head, so the arrival is gone only if all in front of it are.
            let tin = &self.tins[self.config.tins.of(meta.dscp)];
            if tin.flows.bins.is_empty(queue) {
                return Verdict::Dropped(Reason::FatFlow);
            }
        }
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.look(context);
        let mut is_first = true;
        while self.backlog.packets > Packets(0)
            && let Some(tin) = self.choose(now)
        {
            if let Some(packet) = self.serve(tin, is_first, now, context) {
                return Some(packet);
            }
            is_first = false;
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

#[cfg(test)]
mod tests;
