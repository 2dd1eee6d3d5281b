//! The dual queue of Low Latency DOCSIS: one rate for a classic and a low-latency service flow.
//!
//! Classic packets see DOCSIS-PIE. Low-latency ones are marked on arrival, by a ramp over their own delay or by the
//! likelihood that the classic queue's state couples to them, whichever is more; Queue Protection hands packets of a
//! flow that fills the queue to the classic one. The link takes from either queue as its grants say, or asks for the
//! next packet and gets it by weight.
//!
//! Source: White 2019 §2.1 to §2.4 and appendix A; DOCSIS 3.1 MULPI annexes M, N, O, P; RFC 8034; RFC 9957; docsis-ns3
//! `dual-queue-coupled-aqm.cc` and `cmts-upstream-scheduler.cc`.
//! Deviations: packets are charged without their MAC header; another manager of the classic queue is a choice; the queue in bytes never exceeds its buffer, whatever the
//! virtual queue says; those of the policies.

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::classic_aqm::{ClassicAqm, Queues};
use crate::manager::classic_aqm::{CodelBeside, Pi2Beside, PieBeside};
use crate::manager::period::Period;
use crate::manager::{mark, refuse};
use crate::policy::classifier::LowLatencyClassifier;
use crate::policy::docsis_pie::{DocsisPie, DocsisPieLaw, UPDATE_INTERVAL};
use crate::policy::low_latency_delay::{DelayEstimate, DelayEstimateLaw, VirtualQueue, allowed_bytes, time_at};
use crate::policy::queue_protection::{QueueProtection, QueueProtectionLaw};
use crate::policy::ramp::{ImmediateAqmLaw, Ramp};
use crate::policy::recur::Recur;
use crate::store::room::Room;
use crate::store::two_queues::{Turns, TwoQueues};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, ServiceQueue, Span};
use sojourn_keys::{Key, Parameter as _, key};
use sojourn_keys::{Visitor, origin, parameters, words};

words! {
    /// How a link that asks for the next packet is given one; a link with grants for each queue asks for one of its own.
    pub enum DualScheduler {
        /// bytes in the ratio of the weights, by credit
        Weighted = "weighted",
        /// deficit round robin as in docsis-ns3, where a weight of 230 gives 47 %
        DocsisNs3 = "docsis-ns3",
    }
}

words! {
    /// AQM of the classic queue.
    pub enum ClassicManager {
        /// DOCSIS-PIE (RFC 8034)
        DocsisPie = "docsis-pie",
        /// PIE (RFC 8033)
        Pie = "pie",
        /// CoDel (RFC 8289), which couples nothing to the low-latency queue
        Codel = "codel",
        /// PI2 (RFC 9332)
        Pi2 = "pi2",
    }
}

/// Shown where it is not what modems have; the engine of browsers has no other.
fn show_classic_manager(manager: &mut ClassicManager, visitor: &mut dyn Visitor) {
    const KEY: Key = key(
        "classic_manager",
        "what signals the classic queue, with the target of target",
        "RFC 8034 and White 2019 §2.3: DOCSIS-PIE in modems; in a CMTS what its vendor likes",
    );
    let is_usual = *manager == ClassicManager::DocsisPie;
    if !IN_TAB && (!is_usual || visitor.has(KEY.name) || visitor.is_exhaustive()) {
        manager.show(KEY, visitor);
    }
}

parameters! {
    /// Parameters of the dual queue: DOCSIS 3.1 MULPI annexes M to P, with the delay of a downstream queue.
    #[derive(Copy)]
    pub struct DocsisDualQueueConfig: "docsis-dual-queue", "Low Latency DOCSIS: DOCSIS-PIE beside a low-latency queue with coupled marks and Queue Protection" {
        // Of the classic service flow, in bytes or time.
        limit: Limit = Limit::Time(Span::from_ms(100)), LIMIT;
        /// when the classic queue is signalled
        classic: DocsisPieLaw = DocsisPieLaw::RFC8034;
        /// what signals it, at the target
        classic_manager: ClassicManager = ClassicManager::DocsisPie => show_classic_manager;
        /// how much may wait in the low-latency queue; "auto" is 10 ms at the full rate, at least 20 frames
        low_latency_limit: Option<Bytes> = None,
            origin("docsis-ns3; DOCSIS 3.1 MULPI C.2.2.7.11.4").or("auto").least("1500 B");
        /// what goes to the low-latency queue
        classifier: LowLatencyClassifier = LowLatencyClassifier::DOCSIS;
        /// packets of the low-latency queue are marked
        immediate_aqm: bool = true, origin("White 2019 §2.3");
        /// the ramp of their marks
        ramp: ImmediateAqmLaw = ImmediateAqmLaw::DOCSIS;
        /// low-latency marks per square root of the classic likelihood of a drop; 0 for none
        ///
        /// Coupling factor k.
        coupling: f64 = 2.0, origin("White 2019 §2.3; DOCSIS 3.1 MULPI annex M").least("0").most("25.4");
        /// where the delay of the low-latency queue comes from
        delay: DelayEstimateLaw = DelayEstimateLaw::WHITE2019;
        /// packets of flows that fill the low-latency queue go to the classic one
        queue_protection: bool = true, origin("White 2019 §2.4; RFC 9957");
        /// when they do
        protection: QueueProtectionLaw = QueueProtectionLaw::RFC9957;
        /// who is next on a link that has no grants for each queue
        scheduler: DualScheduler = DualScheduler::Weighted, origin("DOCSIS 3.1 MULPI annex N");
        /// share of the rate that the low-latency queue can take from the classic one, of 256
        weight: u32 = 230, origin("White 2019 §2.3; docsis-ns3").least("1").most("255");
    }
    profiles {
        /// DOCSIS 3.1: 10 ms and 1 ms, weight 230 of 256, a classic buffer of 100 ms
        DOCSIS31 "docsis31" {}
        /// the same, with the virtual queue of a modem
        DOCSIS31_UPSTREAM "docsis31-upstream" { delay.estimate = DelayEstimate::VirtualQueue; }
        /// White 2019: a classic buffer of 250 ms at 50 Mb/s
        ///
        /// From the experiment scripts of docsis-ns3.
        WHITE2019_UPSTREAM "white2019-upstream" { limit = Limit::Bytes(Bytes(1_562_500)); }
        /// White 2019: a classic buffer of 250 ms at 200 Mb/s
        WHITE2019_DOWNSTREAM "white2019-downstream" { limit = Limit::Bytes(Bytes(6_250_000)); }
    }
}

impl ManagerKind for DocsisDualQueueConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        match self.classic_manager {
            _ if IN_TAB => Box::new(DocsisDualQueue::new(*self)),
            ClassicManager::Pie => Box::new(DualQueue::<PieBeside>::new(*self)),
            ClassicManager::Codel => Box::new(DualQueue::<CodelBeside>::new(*self)),
            ClassicManager::Pi2 => Box::new(DualQueue::<Pi2Beside>::new(*self)),
            ClassicManager::DocsisPie => Box::new(DocsisDualQueue::new(*self)),
        }
    }

    fn bytes(&self) -> u64 {
        self.protection.bytes()
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn estimates_delay(&self) -> bool {
        true
    }

    fn has_service_queues(&self) -> bool {
        true
    }

    fn obeys_classifiers(&self) -> bool {
        true
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(FlowFields::Five)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.classic.collect_problems(self.limit, problems);
        if let Some(limit) = self.low_latency_limit
            && limit.0 <= u64::from(self.ramp.largest_frame)
        {
            problems.push(ConfigProblem {
                field: "low_latency_limit",
                message: alloc::format!(
                    "{limit} leave no room beside a largest_frame of {}",
                    Bytes(u64::from(self.ramp.largest_frame))
                ),
                hint: "\"auto\", or several frames",
            });
        }
    }
}

/// Values derived from the rates of the link.
#[derive(Clone, Copy, Debug)]
struct Rated {
    /// The rate of the aggregate service flow (AMSR); zero if not known.
    aggregate: BitRate,
    /// The most that the low-latency flow may have of it (MAX_RATE).
    rate: BitRate,
    ramp: Ramp,
    /// Buffer of the low-latency flow, in bytes.
    buffer: u64,
}

impl Rated {
    fn new(config: &DocsisDualQueueConfig, aggregate: BitRate, own: BitRate) -> Self {
        /// docsis-ns3: default target buffer of a low-latency service flow.
        const TARGET: Span = Span::from_ms(10);
        /// docsis-ns3: the least number of frames in it.
        const FRAMES: u64 = 20;
        let rate = smaller_set(aggregate, own);
        let frames = FRAMES * u64::from(config.ramp.largest_frame);
        let automatic = aggregate.bytes_in(TARGET).0.max(frames);
        Self {
            aggregate,
            rate,
            ramp: config.ramp.at(rate),
            buffer: config.low_latency_limit.map_or(automatic, |limit| limit.0),
        }
    }
}

/// The smaller of two rates of which zero means "not set".
fn smaller_set(one: BitRate, other: BitRate) -> BitRate {
    match (one, other) {
        (BitRate::ZERO, set) | (set, BitRate::ZERO) => set,
        (one, other) => one.min(other),
    }
}

/// Seconds until `bytes` of the classic queue have left, if the low-latency queue goes on as in the last update interval,
/// in which it sent `low_latency_bits`: `rates` are those of the aggregate and of each service flow (zero if not set), and
/// `weight` of 256 is the most that the low-latency queue can take (MULPI annex O, `qdelayCoupledC`).
fn classic_delay(bytes: u64, low_latency_bits: u64, weight: u32, rates: FlowRates) -> f64 {
    if rates.aggregate == BitRate::ZERO {
        return 0.0;
    }
    let aggregate = rates.aggregate.as_bps() as f64;
    let up_to = |rate: f64, most: BitRate| match most.as_bps() {
        0 => rate,
        most => rate.min(most as f64),
    };
    let sent = low_latency_bits as f64 / UPDATE_INTERVAL.as_secs_f64();
    let share = up_to(f64::from(weight) / 256.0 * aggregate, rates.low_latency);
    let left = up_to(aggregate - sent.min(share), rates.classic);
    bytes as f64 * 8.0 / left
}

/// Rates of an aggregate service flow and of its two flows; zero if not set.
#[derive(Clone, Copy, Debug)]
struct FlowRates {
    aggregate: BitRate,
    low_latency: BitRate,
    classic: BitRate,
}

/// The dual queue with DOCSIS-PIE.
pub type DocsisDualQueue = DualQueue<DocsisPie>;

/// Both queues with all that guards them; `A` signals the classic one.
#[derive(Clone, Debug)]
pub struct DualQueue<A> {
    config: DocsisDualQueueConfig,
    queues: TwoQueues,
    pie: A,
    room: Room,
    /// Buffer of the classic flow, in bytes.
    buffer: u64,
    /// Likelihood of a low-latency mark for the sake of the classic queue.
    coupled: f64,
    recur: Recur,
    protection: QueueProtection,
    virtual_queue: VirtualQueue,
    rated: Rated,
    /// Rate of the low-latency flow alone, as last seen.
    own_rate: BitRate,
    /// Bits that have left the low-latency queue since the last update.
    low_latency_bits: u64,
    update: Period,
    alignment: Option<Period>,
}

impl DocsisDualQueue {
    /// The decision state of the classic queue, for records and tests.
    pub const fn pie(&self) -> &DocsisPie {
        &self.pie
    }
}

impl<A: ClassicAqm> DualQueue<A> {
    /// Empty queues.
    ///
    /// # Panics
    /// If the limit is not in bytes.
    pub fn new(config: DocsisDualQueueConfig) -> Self {
        let Limit::Bytes(Bytes(buffer)) = config.limit else {
            panic!("a service flow's buffer is in bytes, not {}", config.limit);
        };
        let turns = match config.scheduler {
            DualScheduler::Weighted => Turns::by_credit(config.weight, 256 - config.weight),
            DualScheduler::DocsisNs3 => Turns::by_deficit(config.weight),
        };
        let aligns = config.delay.estimate == DelayEstimate::VirtualQueue;
        Self {
            config,
            queues: TwoQueues::new(turns),
            pie: A::new(&config.classic),
            room: Room::new(config.limit),
            buffer,
            coupled: 0.0,
            recur: Recur::default(),
            protection: QueueProtection::new(config.protection),
            virtual_queue: VirtualQueue::default(),
            rated: Rated::new(&config, BitRate::ZERO, BitRate::ZERO),
            own_rate: BitRate::ZERO,
            low_latency_bits: 0,
            update: Period::new(UPDATE_INTERVAL),
            alignment: aligns.then(|| Period::new(config.delay.alignment)),
        }
    }

    /// Likelihood with which the classic queue's state marks low-latency packets.
    pub const fn coupled_likelihood(&self) -> f64 {
        self.coupled
    }

    /// The scores of Queue Protection.
    pub const fn protection(&self) -> &QueueProtection {
        &self.protection
    }

    /// The link may have another rate than at the last call.
    #[inline]
    fn look_at_rates(&mut self, context: &dyn QueueContext) {
        let aggregate = context.shaper().sustained;
        let own = context.service_flow_rate(ServiceQueue::LowLatency);
        if aggregate != self.rated.aggregate || own != self.own_rate {
            self.own_rate = own;
            self.rated = Rated::new(&self.config, aggregate, own);
        }
    }

    fn enqueue_classic(&mut self, packet: Held, context: &mut dyn QueueContext) -> Verdict {
        let length = packet.meta.length;
        let backlog = self.queues.backlog_of(ServiceQueue::Classic);
        if !self.room.fits(backlog, length) {
            self.pie.on_overflow();
            return refuse(packet, Reason::Overlimit, context);
        }
        let law = &self.config.classic;
        let draw = || context.unit();
        if self.pie.on_arrival(law, length, backlog.bytes.0, self.buffer, draw) {
            return refuse(packet, Reason::Early, context);
        }
        context.estimated(&packet, self.pie.delay());
        self.queues.push(packet);
        Verdict::Placed(ServiceQueue::Classic)
    }

    fn enqueue_low_latency(&mut self, mut packet: Held, context: &mut dyn QueueContext) -> Verdict {
        self.look_at_rates(context);
        let (now, length) = (packet.enqueued_at, packet.meta.length);
        let Rated { rate, ramp, buffer, .. } = self.rated;
        let time = time_at(rate, u64::from(length));
        let waiting = self.queues.bytes_in(ServiceQueue::LowLatency);
        let delay = match self.config.delay.estimate {
            DelayEstimate::Backlog => time_at(rate, waiting + u64::from(length)),
            DelayEstimate::VirtualQueue => self.virtual_queue.on_arrival(now, time),
        };
        let native = ramp.likelihood(delay);
        if self.config.immediate_aqm && self.recur.advance(native.max(self.coupled)) && packet.meta.ecn == Ecn::Ect1 {
            mark(&mut packet, Reason::Early, context);
        }
        if self.config.queue_protection {
            let flow = packet.meta.flow_hash;
            let score = self.protection.judge(now, flow, length, native, delay, ramp.most);
            context.scored(&packet, &score);
            if score.sanctioned {
                self.virtual_queue.take_back(time);
                packet.meta.queue = ServiceQueue::Classic;
                return self.enqueue_classic(packet, context);
            }
        }
        let left_free = buffer.saturating_sub(u64::from(self.config.ramp.largest_frame));
        let has_room = match self.config.delay.estimate {
            DelayEstimate::VirtualQueue if rate > BitRate::ZERO => delay < time_at(rate, left_free),
            _ => waiting < left_free,
        };
        if !has_room || waiting + u64::from(length) > buffer {
            self.virtual_queue.take_back(time);
            return refuse(packet, Reason::Overlimit, context);
        }
        context.estimated(&packet, delay);
        self.queues.push(packet);
        Verdict::Placed(ServiceQueue::LowLatency)
    }

    /// Updates the classic queue's AQM, and its coupling to the other one.
    fn on_update(&mut self, context: &dyn QueueContext) {
        let rates = FlowRates {
            aggregate: self.rated.aggregate,
            low_latency: self.own_rate,
            classic: context.service_flow_rate(ServiceQueue::Classic),
        };
        let bytes = self.queues.bytes_in(ServiceQueue::Classic);
        let delay = classic_delay(bytes, self.low_latency_bits, self.config.weight, rates);
        self.low_latency_bits = 0;
        self.pie.on_update(&self.config.classic, delay);
        self.coupled = self.pie.coupled(self.config.coupling);
    }

    fn on_alignment(&mut self, now: Instant, context: &dyn QueueContext) {
        let queue = ServiceQueue::LowLatency;
        let waiting = self.queues.bytes_in(queue) + context.staged(queue).0;
        let rate = self.rated.rate;
        let allowed = allowed_bytes(rate, context.loop_delay_of(queue), context.proactive_grants());
        self.virtual_queue.align(&self.config.delay, now, waiting, allowed, rate);
    }
}

impl<A: ClassicAqm> QueueManager for DualQueue<A> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = self.config.classifier.queue_of(&meta);
        let packet = Held::new(now, Meta { queue, ..meta }, item);
        if queue == ServiceQueue::LowLatency {
            self.enqueue_low_latency(packet, context)
        } else {
            self.enqueue_classic(packet, context)
        }
    }

    fn enqueue_to(
        &mut self,
        queue: ServiceQueue,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        context: &mut dyn QueueContext,
    ) -> Verdict {
        let packet = Held::new(now, Meta { queue, ..meta }, item);
        if queue == ServiceQueue::LowLatency {
            self.enqueue_low_latency(packet, context)
        } else {
            self.enqueue_classic(packet, context)
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        loop {
            let queue = self.queues.turn(now)?;
            if let Some(packet) = self.dequeue_from(now, queue, context) {
                self.queues.on_sent(queue, packet.meta.length);
                return Some(packet);
            }
            if !A::AT_HEAD {
                return None;
            }
        }
    }

    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
        if queue == ServiceQueue::Classic {
            return self.pie.take(&mut Queues(&mut self.queues), now, context);
        }
        let packet = self.queues.pop(queue)?;
        self.low_latency_bits += 8 * u64::from(packet.meta.length);
        Some(packet)
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.queues.backlog_of(queue)
    }

    fn head_length(&self) -> Option<u32> {
        self.queues.head_length()
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        let update = self.update.next();
        Some(self.alignment.map_or(update, |alignment| alignment.next().min(update)))
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        self.look_at_rates(context);
        if self.update.is_due(now) {
            self.on_update(context);
        }
        if let Some(alignment) = &mut self.alignment
            && alignment.is_due(now)
        {
            self.on_alignment(now, context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::classic_aqm::coupled;

    const MBPS: fn(u64) -> BitRate = BitRate::from_mbps;

    fn rates(low_latency: u64, classic: u64) -> FlowRates {
        FlowRates { aggregate: MBPS(50), low_latency: MBPS(low_latency), classic: MBPS(classic) }
    }

    #[test]
    fn the_classic_delay_is_that_at_what_the_low_latency_queue_leaves() {
        for (bits, ms) in [
            (0, 10.0),
            // 10 Mb/s for 16 ms; 40 are left.
            (160_000, 12.5),
            // 60 Mb/s are cut to 230/256 of 50, which leaves 5.078125.
            (960_000, 98.461_538_461_538_46),
        ] {
            let delay = classic_delay(62_500, bits, 230, rates(0, 0));
            assert!((delay * 1000.0 - ms).abs() < 1e-9, "{delay}");
        }
        // The flows' own rates: 4 of 10 Mb/s are left for the low-latency one, the classic one has 25.
        assert!((classic_delay(62_500, 160_000, 230, rates(4, 0)) - 0.5 / 46.0).abs() < 1e-12);
        assert!((classic_delay(62_500, 160_000, 230, rates(0, 25)) - 0.02).abs() < 1e-12);
        let unknown = FlowRates { aggregate: BitRate::ZERO, ..rates(4, 4) };
        assert!(classic_delay(62_500, 160_000, 230, unknown) < 1e-15);
    }

    #[test]
    fn marks_follow_the_square_root_of_the_drops() {
        // Claim W19-48.
        for (probability, likelihood) in
            [(0.0001, 0.02), (0.0025, 0.1), (0.01, 0.2), (0.04, 0.4), (0.25, 1.0), (1.0, 1.0), (13.6, 1.0)]
        {
            assert!((coupled(2.0, probability) - likelihood).abs() < 1e-12);
        }
        assert!(coupled(0.0, 13.6) < 1e-15);
    }

    #[test]
    fn buffers_follow_the_rate() {
        let config = DocsisDualQueueConfig::DOCSIS31;
        let buffer = |aggregate, own| Rated::new(&config, aggregate, own).buffer;
        assert_eq!(buffer(MBPS(50), BitRate::ZERO), 62_500);
        assert_eq!(buffer(BitRate::from_kbps(1), BitRate::ZERO), 40_000);
        assert_eq!(config.limit.at(MBPS(50)), Limit::Bytes(Bytes(625_000)));
        // The larger of the flow's rates, as a link with both passes it on.
        assert_eq!(config.limit.at(MBPS(40)), Limit::Bytes(Bytes(500_000)));
        // The ramp follows the smaller rate, the buffer that of the aggregate.
        let rated = Rated::new(&config, MBPS(200), MBPS(20));
        assert_eq!(rated.ramp.least, Span::from_us(1600));
        assert_eq!(rated.buffer, 250_000);
    }
}
