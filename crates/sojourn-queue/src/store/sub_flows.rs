//! Hashed sub-flows under one limit, served by the ring; what does not fit costs the largest one.
//!
//! Source: White 2013 §2.2 and its footnote; ns-2 `queue/sfqcodel.cc`, March 2013.
//! Deviations: an arrival larger than a limit in bytes is refused without looking for victims, which
//! could not help it.

use crate::config::{ConfigProblem, LIMIT, quantum, require_room};
use crate::manager::refuse;
use crate::store::bins::{Bins, LINE_BYTES};
use crate::store::fields::{FlowFields, show_fields};
use crate::store::lines::{Lines, StoreConfig};
use crate::store::nichols_ring::{NicholsRing, PLACE_BYTES};
use crate::store::room::Room;
use crate::store::waiting::Waiting as _;
use crate::{Backlog, Held, QueueContext, Reason, Verdict};
use alloc::vec::Vec;
use core::fmt::Debug;
use sojourn_base::native::IN_TAB;
use sojourn_base::{Bytes, Limit, Meta};
use sojourn_keys::{Key, Parameter, Visitor, bytes, key, origin, parameters, words};

words! {
    /// Which end of the largest sub-flow gives up a packet.
    pub enum Victim {
        /// the newest packet
        Tail = "tail",
        /// the oldest packet
        Head = "head",
    }
}

words! {
    /// Meaning of "largest".
    pub enum FatMetric {
        /// most packets
        Packets = "packets",
        /// most bytes
        Bytes = "bytes",
    }
}

parameters! {
    /// Parameters of the sub-flows and their round.
    #[derive(Copy, Eq)]
    pub struct SfqConfig: "sfq", "flows hashed into sub-flows that take turns; no policy" {
        limit: Limit = Limit::Bytes(Bytes(625_000)), LIMIT;
        /// number of sub-flows that flows are hashed into
        // Source of the bound: ns-2 sfqcodel.cc.
        bins: u32 = 32, origin("White 2013 §3.2").least("1").most("1024");
        quantum: u32 = 300,
            quantum("what each sub-flow may send per round; \"0 B\" serves one packet each", "White 2013 §3.2") => bytes;
        /// which end of the largest sub-flow gives up a packet if an arrival does not fit
        victim: Victim = Victim::Tail, origin("ns-2 sfqcodel.cc");
        /// what the largest sub-flow has most of
        ///
        /// The paper does not say; chosen: packets, as the code of that month.
        fat_metric: FatMetric = FatMetric::Packets, origin("ns-2 sfqcodel.cc");
        /// packets marked CS1 (dscp = 8) share one sub-flow more, whatever their flow
        ///
        /// White 2013 §4.1.1 proposes it for BitTorrent.
        background: bool = false, origin("White 2013 §4.1.1: proposed, not used");
        /// that sub-flow is served only while no other has packets
        background_last: bool = false => background_last;
        /// fields of a header that make a flow
        fields: FlowFields = FlowFields::BASE => show_fields;
    }
    profiles {
        /// White 2013 §2.2, §3.2: 32 sub-flows, 300 B a round, 625,000 B
        WHITE2013 "white2013" {}
    }
}

/// No lesson has it, and the engine of browsers is small.
fn background_last(value: &mut bool, visitor: &mut dyn Visitor) {
    const KEY: Key = key(
        "background_last",
        "the sub-flow of packets marked CS1 is served only while no other has packets (with background = true)",
        "White 2013 §4.1.1: proposed, not used",
    );
    let is_said = *value || visitor.has(KEY.name) || visitor.is_exhaustive();
    if !IN_TAB && is_said {
        value.show(KEY, visitor);
    }
}

/// Class selector 1, background traffic (RFC 3662 §1; RFC 8622 replaces it by LE).
const CS1: u8 = 8;

impl StoreConfig for SfqConfig {
    type Lines = SubFlows;

    fn lines(&self) -> SubFlows {
        SubFlows::new(self)
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn bytes_with(&self, state: usize) -> u64 {
        let each = LINE_BYTES + PLACE_BYTES + state;
        (u64::from(self.bins) + u64::from(self.background)) * each as u64
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(self.fields)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        // ns-2 `sfqcodel.cc`: at most 1024.
        if !(1..=1024).contains(&self.bins) {
            problems.push(ConfigProblem {
                field: "bins",
                message: alloc::format!("{} sub-flows", self.bins),
                hint: "between 1 and 1024",
            });
        }
        if self.background_last && !self.background {
            problems.push(ConfigProblem {
                field: "background_last",
                message: alloc::string::String::from("there is no sub-flow of packets marked CS1"),
                hint: "background = true",
            });
        }
    }
}

/// The packets of all sub-flows, and whose turn it is.
#[derive(Clone, Debug)]
pub struct SubFlows {
    bins: Bins,
    ring: NicholsRing,
    room: Room,
    victim: Victim,
    fat_metric: FatMetric,
    /// Place at which the last search for the largest sub-flow ended.
    last_fat: usize,
    /// Number of bins that flows are hashed into.
    count: u32,
    /// One bin more is for background traffic.
    background: bool,
    /// Parameters that are fixed in a run, beside it.
    fixed: (FlowFields, bool),
}

impl SubFlows {
    /// No packets.
    fn new(config: &SfqConfig) -> Self {
        let count = config.bins.max(1);
        let bins = count + u32::from(config.background);
        let last = (config.background && config.background_last).then_some(count);
        Self {
            bins: Bins::new(bins),
            ring: NicholsRing::new(bins, config.quantum, last),
            room: Room::new(config.limit),
            victim: config.victim,
            fat_metric: config.fat_metric,
            last_fat: 0,
            count,
            background: config.background,
            fixed: (config.fields, config.background_last),
        }
    }

    /// The sub-flow of a packet: that of background traffic is the last one.
    #[inline]
    const fn number_of(&self, meta: &Meta) -> u32 {
        if self.background && meta.dscp == CS1 {
            return self.count;
        }
        // In 32 bits, because a 64-bit division takes twice as long.
        meta.flow_hash % self.count
    }

    #[cold]
    fn make_room(&mut self, length: u32, context: &mut dyn QueueContext) {
        while !self.room.fits(self.bins.backlog(), length) {
            let fat = self.fattest();
            let victim = match self.victim {
                Victim::Tail => self.bins.pop_newest(fat),
                Victim::Head => self.bins.pop(fat),
            };
            match victim {
                Some(victim) => context.dropped(victim, Reason::FatFlow),
                None => return,
            }
        }
    }

    /// The largest sub-flow; among equals the last one, and the one of the last search only if no
    /// other is as large.
    fn fattest(&mut self) -> usize {
        let size = |bin: usize| match self.fat_metric {
            FatMetric::Packets => u64::from(self.bins.packets_in(bin)),
            FatMetric::Bytes => self.bins.bytes_in(bin),
        };
        let mut fattest = self.last_fat;
        for bin in 0..self.bins.lines() {
            if bin != self.last_fat && self.ring.is_scheduled(bin) && size(bin) >= size(fattest) {
                fattest = bin;
            }
        }
        self.last_fat = fattest;
        fattest
    }
}

impl Lines for SubFlows {
    type Config = SfqConfig;
    type Packets = Bins;
    type Each<T: Clone + Debug + Send + 'static> = Vec<T>;

    #[inline]
    fn packets(&self) -> &Bins {
        &self.bins
    }

    #[inline]
    fn packets_mut(&mut self) -> &mut Bins {
        &mut self.bins
    }

    fn each<T: Clone + Debug + Send + 'static>(&self, one: T, is_shared: bool) -> Vec<T> {
        alloc::vec![one; if is_shared { 1 } else { self.bins.lines() }]
    }

    fn retune(&mut self, to: &SfqConfig) -> bool {
        (self.room, self.victim, self.fat_metric) = (Room::new(to.limit), to.victim, to.fat_metric);
        self.ring.set_quantum(to.quantum);
        (self.count, self.background) == (to.bins.max(1), to.background)
            && self.fixed == (to.fields, to.background_last)
    }

    #[inline]
    fn line_of(&mut self, meta: &Meta) -> usize {
        self.number_of(meta) as usize
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(self.number_of(meta))
    }

    /// Accept an arrival, at the cost of other packets if it does not fit.
    #[inline]
    fn enqueue(&mut self, bin: usize, packet: Held, context: &mut dyn QueueContext) -> Verdict {
        let length = packet.meta.length;
        if !self.room.fits(self.bins.backlog(), length) {
            if !self.room.fits(Backlog::default(), length) {
                return refuse(packet, Reason::Overlimit, context);
            }
            self.make_room(length, context);
        }
        self.bins.push(bin, packet);
        self.ring.on_arrival(bin);
        Verdict::Accepted
    }

    #[inline]
    fn ready(&mut self, retire: impl FnMut(usize)) -> Option<usize> {
        self.ring.ready(&self.bins, retire)
    }

    #[inline]
    fn on_sent(&mut self, _bin: usize, length: u32) {
        self.ring.on_sent(length);
    }
}
