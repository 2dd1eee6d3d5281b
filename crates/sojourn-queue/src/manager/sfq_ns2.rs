//! Stochastic fair queueing as ns-2 has always had it: a few buckets, packet by packet, with a limit
//! that tightens as the queue fills.
//!
//! Source: ns-2 `queue/sfq.cc`.
//! Deviations: the bucket hash starts from the packet's flow hash, where ns-2 adds source and
//! destination address; a bucket that becomes busy goes to the end of the round.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::refuse;
use crate::store::bins::{Bins, LINE_BYTES};
use crate::store::waiting::Waiting as _;
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use sojourn_base::{Instant, Meta, PacketHandle, Packets};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of the ns-2 queue.
    #[derive(Copy, Eq)]
    pub struct SfqNs2Config: "sfq-ns2", "stochastic fair queueing of ns-2" {
        /// packets in all buckets together
        limit: Packets = Packets(40), origin("ns-2 sfq.cc").least("1 packets");
        /// buckets that flows are hashed into
        buckets: u32 = 16, origin("ns-2 sfq.cc").least("1").most("65536");
    }
    profiles {
        /// ns-2 sfq.cc: 16 buckets, 40 packets
        NS2 "ns2" {}
    }
}

impl ManagerKind for SfqNs2Config {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(SfqNs2Queue::new(*self))
    }

    fn bytes(&self) -> u64 {
        u64::from(self.buckets) * (LINE_BYTES + size_of::<usize>()) as u64
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(FlowFields::Five)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        if self.buckets == 0 {
            problems.push(ConfigProblem {
                field: "buckets",
                message: alloc::string::String::from("no bucket to put a packet into"),
                hint: "16",
            });
        }
        crate::config::require_room(sojourn_base::Limit::Packets(self.limit), problems);
    }
}

/// Buckets served in turns, packet by packet.
#[derive(Clone, Debug)]
pub struct SfqNs2Queue {
    config: SfqNs2Config,
    bins: Bins,
    /// Buckets with packets, the next one to be served first.
    round: VecDeque<usize>,
}

impl SfqNs2Queue {
    /// An empty queue.
    pub fn new(config: SfqNs2Config) -> Self {
        let buckets = config.buckets.max(1);
        Self {
            config: SfqNs2Config { buckets, ..config },
            bins: Bins::new(buckets),
            round: VecDeque::with_capacity(buckets as usize),
        }
    }

    /// Returns true if ns-2 refuses an arrival for `bucket`.
    fn is_full(&self, bucket: usize) -> bool {
        let left = self.config.limit.saturating_sub(self.bins.backlog().packets).0;
        let used = self.bins.packets_in(bucket);
        let fair_share = self.config.limit.0 / self.config.buckets;
        used >= left / 2 || (left < self.config.buckets && used > fair_share) || left == 0
    }
}

/// ns-2's mixing of a flow's number into one of `buckets`.
pub fn ns2_bucket(flow: u32, buckets: u32) -> u32 {
    // ns-2 `queue/sfq.cc`: modulo 2^20 − 1.
    const MODULUS: i64 = (1 << 20) - 1;
    let k = i64::from(flow);
    let mixed = (k + (k >> 8) + !(k >> 4)).rem_euclid(MODULUS);
    u32::try_from(mixed).expect("below 2^20") % buckets
}

impl QueueManager for SfqNs2Queue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let bucket = ns2_bucket(meta.flow_hash, self.config.buckets) as usize;
        let packet = Held::new(now, meta, item);
        if self.is_full(bucket) {
            return refuse(packet.in_sub_flow(bucket), Reason::Overlimit, context);
        }
        if self.bins.is_empty(bucket) {
            self.round.push_back(bucket);
        }
        self.bins.push(bucket, packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, _now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        let bucket = self.round.pop_front()?;
        let packet = self.bins.pop(bucket);
        if !self.bins.is_empty(bucket) {
            self.round.push_back(bucket);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(ns2_bucket(meta.flow_hash, self.config.buckets))
    }
}
