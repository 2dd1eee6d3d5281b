//! Drop-tail: packets leave in the order they came, and what does not fit is refused.
//!
//! Source: White 2012 §3.1.2 and White 2013 §3.2 (limits), Klatsky 2016 (modem buffers); admission
//! rules of the ns-3 FIFO queue, of ns-2 `drop-tail.cc`, and of ns-2 `pie.cc`.
//! Deviations: none known.

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::refuse;
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle, Packets};
use sojourn_keys::{Key, Visitor, Word, Words, origin, parameters};

/// Rule by which an arrival of `s` bytes is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// If it would take the queue above its limit (ns-3 FIFO).
    #[default]
    Fit,
    /// If it would take the queue *to* its limit in packets, so that one packet less than the limit
    /// is ever held (ns-2 `drop-tail.cc`).
    Ns2Packets,
    /// If it would take the queue to `limit × mean_packet` bytes, the limit being in packets (ns-2
    /// `drop-tail.cc` in byte mode).
    Ns2Bytes {
        /// Assumed mean packet length in bytes.
        mean_packet: u32,
    },
    /// If the limit in bytes is already reached; the last packet may overshoot it (ns-2 `pie.cc`).
    Threshold,
}

parameters! {
    /// Parameters of a drop-tail queue.
    #[derive(Copy, Eq)]
    pub struct DropTailConfig: "drop-tail", "first in, first out; what does not fit is refused" {
        limit: Limit = Limit::Bytes(Bytes::ZERO), LIMIT.required("\"1 s\"");
        /// when an arrival does not fit
        admission: Admission = Admission::Fit,
            origin("ns-3 FIFO queue; the profiles of White 2012 count as ns-2 does") => admission;
        /// make room by dropping the oldest packets instead of refusing the arrival
        head_drop: bool = false, origin("chosen: no study drops at the head");
    }
    profiles {
        /// White 2012 §3.1.2: 417 packets, one second at 5 Mb/s
        WHITE2012_BUFFERBLOAT "white2012-bufferbloat" {
            limit = Limit::Packets(Packets(417));
            admission = Admission::Ns2Packets;
        }
        /// White 2012 §3.1.2: 21 packets, 50 ms at 5 Mb/s
        WHITE2012_BUFFER_CONTROL "white2012-buffer-control" from WHITE2012_BUFFERBLOAT { limit = Limit::Packets(Packets(21)); }
        /// White 2013 §3.2: 625,000 B
        WHITE2013_BUFFERBLOAT "white2013-bufferbloat" { limit = Limit::Bytes(Bytes(625_000)); }
        /// White 2013 §3.2: 31,250 B
        WHITE2013_BUFFER_CONTROL "white2013-buffer-control" { limit = Limit::Bytes(Bytes(31_250)); }
        /// Akhtar 2013: twice the bandwidth-delay product, 120 packets
        ///
        /// At 8 Mb/s and 90 ms. Other rates scale it (the slides give the rule, and 20 packets = B/6 at 8 Mb/s).
        AKHTAR2013 "akhtar2013" { limit = Limit::Packets(Packets(120)); }
        /// White 2019, no AQM: 250 ms at 50 Mb/s
        ///
        /// From the experiment scripts published with the docsis-ns3 model.
        WHITE2019_CLASSIC_UPSTREAM "white2019-upstream" { limit = Limit::Bytes(Bytes(1_562_500)); }
        /// White 2019, no AQM: 250 ms at 200 Mb/s
        WHITE2019_CLASSIC_DOWNSTREAM "white2019-downstream" { limit = Limit::Bytes(Bytes(6_250_000)); }
        /// Klatsky 2016: 8 KB, read as 8192 B
        ///
        /// chosen: KB read as 1024 bytes, as modem firmware does.
        KLATSKY2016_8KB "klatsky2016-8kb" { limit = Limit::Bytes(Bytes(8 * 1024)); }
        /// Klatsky 2016: 48 KB, read as 49,152 B
        KLATSKY2016_48KB "klatsky2016-48kb" { limit = Limit::Bytes(Bytes(48 * 1024)); }
        /// Klatsky 2016: 96 KB, read as 98,304 B, the modem's default
        KLATSKY2016_96KB "klatsky2016-96kb" { limit = Limit::Bytes(Bytes(96 * 1024)); }
    }
}

impl DropTailConfig {
    /// White 2012 §3.1.2: the 32-packet transmit queue behind the rate-shaping queue.
    pub const WHITE2012_TRANSMIT: Self = Self::ns2_packets(32);

    /// A tail-drop queue with a limit in bytes that is never exceeded.
    pub const fn bytes(limit: u64) -> Self {
        Self { limit: Limit::Bytes(Bytes(limit)), admission: Admission::Fit, head_drop: false }
    }

    /// A tail-drop queue as ns-2 has it: `limit` in packets, one of which is never used.
    pub const fn ns2_packets(limit: u32) -> Self {
        Self { limit: Limit::Packets(Packets(limit)), admission: Admission::Ns2Packets, head_drop: false }
    }
}

impl ManagerKind for DropTailConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(DropTailQueue::new(*self))
    }

    fn retunes(&self) -> bool {
        true
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn least_packets(&self) -> Packets {
        match self.admission {
            Admission::Ns2Packets => Packets(2),
            _ => Packets(1),
        }
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        let in_packets = matches!(self.limit, Limit::Packets(_));
        let hint = match self.admission {
            Admission::Ns2Packets | Admission::Ns2Bytes { .. } if !in_packets => "a limit in packets",
            Admission::Threshold if in_packets => "a limit in bytes or in time",
            _ => return,
        };
        problems.push(ConfigProblem {
            field: "admission",
            message: alloc::format!("this rule does not read a limit of {}", self.limit),
            hint,
        });
    }
}

/// Mean packet that `ns2-bytes` assumes. Source: the full-size packet of White 2012 §3.1.2.
const MEAN_PACKET: u32 = 1500;

const ADMISSIONS: [Word<Admission>; 4] = [
    Word { name: "fit", value: Admission::Fit, about: "the queue never exceeds its limit" },
    Word {
        name: "ns2-packets",
        value: Admission::Ns2Packets,
        about: "as ns-2: a limit in packets, one of which is never used",
    },
    Word {
        name: "ns2-bytes",
        value: Admission::Ns2Bytes { mean_packet: MEAN_PACKET },
        about: "as ns-2 in byte mode: a limit in packets, counted as bytes of mean_packet each",
    },
    Word { name: "threshold", value: Admission::Threshold, about: "the last packet may overshoot a limit in bytes" },
];

fn admission(key: Key, admission: &mut Admission, visitor: &mut dyn Visitor) {
    // A word stands for the rule with any mean packet.
    let mut mean = MEAN_PACKET;
    if let Admission::Ns2Bytes { mean_packet } = admission {
        mean = *mean_packet;
        *mean_packet = MEAN_PACKET;
    }
    visitor.value(key, &mut Words { value: admission, words: &ADMISSIONS });
    if matches!(admission, Admission::Ns2Bytes { .. }) || visitor.is_exhaustive() {
        let mut size = Bytes(u64::from(mean));
        visitor.value(
            sojourn_keys::key(
                "mean_packet",
                "packet length that a limit in packets stands for (only with admission = \
                 \"ns2-bytes\")",
                "White 2012 §3.1.2: the full-size packet",
            )
            .least("1 B")
            .most("64 KiB"),
            &mut size,
        );
        mean = u32::try_from(size.0).unwrap_or(mean);
    }
    if let Admission::Ns2Bytes { mean_packet } = admission {
        *mean_packet = mean;
    }
}

/// A first-in, first-out queue with a limit.
#[derive(Clone, Debug)]
pub struct DropTailQueue {
    config: DropTailConfig,
    /// The admission rule as plain comparisons.
    room: Room,
    fifo: Fifo,
}

impl DropTailQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: DropTailConfig) -> Self {
        Self { config, room: config.room(), fifo: Fifo::new() }
    }

    fn fits(&self, length: u32) -> bool {
        // A queue that may overshoot accepts any packet for which one byte is left.
        let charged = match self.config.admission {
            Admission::Threshold => 1,
            _ => length,
        };
        self.room.fits(self.fifo.backlog(), charged)
    }

    #[cold]
    fn make_room(&mut self, length: u32, context: &mut dyn QueueContext) {
        while !self.fits(length) {
            let Some(victim) = self.fifo.pop() else {
                return;
            };
            context.dropped(victim, Reason::Overlimit);
        }
    }
}

impl DropTailConfig {
    /// The most that may wait before and after an arrival.
    fn room(&self) -> Room {
        match (self.admission, self.limit) {
            (Admission::Ns2Packets, Limit::Packets(Packets(limit))) => Room::of(u64::MAX, limit.saturating_sub(1)),
            (Admission::Ns2Bytes { mean_packet }, Limit::Packets(Packets(limit))) => {
                let bytes = u64::from(limit) * u64::from(mean_packet);
                Room::of(bytes.saturating_sub(1), u32::MAX)
            }
            (_, limit) => Room::new(limit),
        }
    }
}

impl QueueManager for DropTailQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        if !self.fits(meta.length) {
            if self.config.head_drop {
                self.make_room(meta.length, context);
            }
            if !self.fits(meta.length) {
                return refuse(Held::new(now, meta, item), Reason::Overlimit, context);
            }
        }
        self.fifo.push(Held::new(now, meta, item));
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, _now: Instant, _context: &mut dyn QueueContext) -> Option<Held> {
        self.fifo.pop()
    }

    #[inline(never)]
    fn pass(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Option<Held> {
        debug_assert!(self.fifo.head().is_none(), "something waits");
        let packet = Held::new(now, meta, item);
        if self.fits(meta.length) {
            return Some(packet);
        }
        let _ = refuse(packet, Reason::Overlimit, context);
        None
    }

    fn notices_idling(&self) -> bool {
        false
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<DropTailConfig>() else {
            return false;
        };
        (self.config, self.room) = (*to, to.room());
        true
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}
