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
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Limit, Meta, Packets};
use sojourn_keys::{Configured, Profile, Visitor, Word, Words, key};

/// When an arrival of `s` bytes is refused.
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

/// Parameters of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTailConfig {
    /// How much may wait.
    pub limit: Limit,
    /// When an arrival does not fit.
    pub admission: Admission,
    /// Make room by dropping the oldest packets instead of refusing the arrival.
    pub head_drop: bool,
}

impl DropTailConfig {
    /// White 2012 §3.1.2, "bufferbloat": 417 packets, one second at 5 Mb/s.
    pub const WHITE2012_BUFFERBLOAT: Self = Self::ns2_packets(417);
    /// White 2012 §3.1.2, "buffer control": 21 packets, 50 ms at 5 Mb/s.
    pub const WHITE2012_BUFFER_CONTROL: Self = Self::ns2_packets(21);
    /// White 2012 §3.1.2: the 32-packet transmit queue behind the rate-shaping queue.
    pub const WHITE2012_TRANSMIT: Self = Self::ns2_packets(32);
    /// White 2013 §3.2, "bufferbloat": 625,000 bytes.
    pub const WHITE2013_BUFFERBLOAT: Self = Self::bytes(625_000);
    /// White 2013 §3.2, "buffer control": 31,250 bytes.
    pub const WHITE2013_BUFFER_CONTROL: Self = Self::bytes(31_250);
    /// Akhtar 2013, tail drop: twice the bandwidth-delay product, 120 packets at 8 Mb/s and 90 ms.
    /// Other rates scale it (the slides give the rule, and 20 packets = B/6 at 8 Mb/s).
    pub const AKHTAR2013: Self = Self {
        limit: Limit::Packets(Packets(120)),
        admission: Admission::Fit,
        head_drop: false,
    };
    /// White 2019, service flow without AQM: 250 ms at the 50 Mb/s of the upstream (from the
    /// experiment scripts published with the docsis-ns3 model).
    pub const WHITE2019_CLASSIC_UPSTREAM: Self = Self::bytes(1_562_500);
    /// White 2019, service flow without AQM: 250 ms at the 200 Mb/s of the downstream.
    pub const WHITE2019_CLASSIC_DOWNSTREAM: Self = Self::bytes(6_250_000);
    /// Klatsky 2016: upstream buffer of 8 KB. chosen: KB read as 1024 bytes, as modem firmware does.
    pub const KLATSKY2016_8KB: Self = Self::bytes(8 * 1024);
    /// Klatsky 2016: upstream buffer of 48 KB.
    pub const KLATSKY2016_48KB: Self = Self::bytes(48 * 1024);
    /// Klatsky 2016: upstream buffer of 96 KB, the modem's default.
    pub const KLATSKY2016_96KB: Self = Self::bytes(96 * 1024);

    /// A tail-drop queue with a limit in bytes that is never exceeded.
    pub const fn bytes(limit: u64) -> Self {
        Self {
            limit: Limit::Bytes(Bytes(limit)),
            admission: Admission::Fit,
            head_drop: false,
        }
    }

    /// A tail-drop queue as ns-2 has it: `limit` in packets, one of which is never used.
    pub const fn ns2_packets(limit: u32) -> Self {
        Self {
            limit: Limit::Packets(Packets(limit)),
            admission: Admission::Ns2Packets,
            head_drop: false,
        }
    }
}

impl Configured for DropTailConfig {
    const KIND: &'static str = "drop-tail";
    const ABOUT: &'static str = "first in, first out; what does not fit is refused";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2012-bufferbloat",
            about: "White 2012 §3.1.2: 417 packets, one second at 5 Mb/s",
            values: || Self::WHITE2012_BUFFERBLOAT,
        },
        Profile {
            name: "white2012-buffer-control",
            about: "White 2012 §3.1.2: 21 packets, 50 ms at 5 Mb/s",
            values: || Self::WHITE2012_BUFFER_CONTROL,
        },
        Profile {
            name: "white2013-bufferbloat",
            about: "White 2013 §3.2: 625,000 B",
            values: || Self::WHITE2013_BUFFERBLOAT,
        },
        Profile {
            name: "white2013-buffer-control",
            about: "White 2013 §3.2: 31,250 B",
            values: || Self::WHITE2013_BUFFER_CONTROL,
        },
        Profile {
            name: "akhtar2013",
            about: "Akhtar 2013: twice the bandwidth-delay product, 120 packets",
            values: || Self::AKHTAR2013,
        },
        Profile {
            name: "white2019-upstream",
            about: "White 2019, no AQM: 250 ms at 50 Mb/s",
            values: || Self::WHITE2019_CLASSIC_UPSTREAM,
        },
        Profile {
            name: "white2019-downstream",
            about: "White 2019, no AQM: 250 ms at 200 Mb/s",
            values: || Self::WHITE2019_CLASSIC_DOWNSTREAM,
        },
        Profile {
            name: "klatsky2016-8kb",
            about: "Klatsky 2016: 8 KB, read as 8192 B",
            values: || Self::KLATSKY2016_8KB,
        },
        Profile {
            name: "klatsky2016-48kb",
            about: "Klatsky 2016: 48 KB, read as 49,152 B",
            values: || Self::KLATSKY2016_48KB,
        },
        Profile {
            name: "klatsky2016-96kb",
            about: "Klatsky 2016: 96 KB, read as 98,304 B, the modem's default",
            values: || Self::KLATSKY2016_96KB,
        },
    ];

    fn base() -> Self {
        Self::bytes(0)
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(LIMIT.required("\"1 s\""), &mut self.limit);
        admission_keys(&mut self.admission, visitor);
        visitor.value(
            key(
                "head_drop",
                "make room by dropping the oldest packets instead of refusing the arrival",
                "chosen: no study drops at the head",
            ),
            &mut self.head_drop,
        );
    }
}

impl ManagerKind for DropTailConfig {
    type Queue<T> = DropTailQueue<T>;

    fn build<T: Send + 'static>(&self) -> Self::Queue<T> {
        DropTailQueue::new(*self)
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
            Admission::Ns2Packets | Admission::Ns2Bytes { .. } if !in_packets => {
                "a limit in packets"
            }
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
    Word {
        name: "fit",
        value: Admission::Fit,
        about: "the queue never exceeds its limit",
    },
    Word {
        name: "ns2-packets",
        value: Admission::Ns2Packets,
        about: "as ns-2: a limit in packets, one of which is never used",
    },
    Word {
        name: "ns2-bytes",
        value: Admission::Ns2Bytes {
            mean_packet: MEAN_PACKET,
        },
        about: "as ns-2 in byte mode: a limit in packets, counted as bytes of mean_packet each",
    },
    Word {
        name: "threshold",
        value: Admission::Threshold,
        about: "the last packet may overshoot a limit in bytes",
    },
];

fn admission_keys(admission: &mut Admission, visitor: &mut dyn Visitor) {
    // A word stands for the rule with any mean packet.
    let mut mean = MEAN_PACKET;
    if let Admission::Ns2Bytes { mean_packet } = admission {
        mean = *mean_packet;
        *mean_packet = MEAN_PACKET;
    }
    visitor.value(
        key(
            "admission",
            "when an arrival does not fit",
            "ns-3 FIFO queue; the profiles of White 2012 count as ns-2 does",
        ),
        &mut Words {
            value: admission,
            words: &ADMISSIONS,
        },
    );
    if matches!(admission, Admission::Ns2Bytes { .. }) || visitor.is_exhaustive() {
        let mut size = Bytes(u64::from(mean));
        visitor.value(
            key(
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
pub struct DropTailQueue<T> {
    config: DropTailConfig,
    /// The admission rule as plain comparisons.
    room: Room,
    fifo: Fifo<T>,
}

impl<T> DropTailQueue<T> {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: DropTailConfig) -> Self {
        Self {
            config,
            room: config.room(),
            fifo: Fifo::new(),
        }
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
    fn make_room(&mut self, length: u32, context: &mut dyn QueueContext<T>) {
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
            (Admission::Ns2Packets, Limit::Packets(Packets(limit))) => {
                Room::of(u64::MAX, limit.saturating_sub(1))
            }
            (Admission::Ns2Bytes { mean_packet }, Limit::Packets(Packets(limit))) => {
                let bytes = u64::from(limit) * u64::from(mean_packet);
                Room::of(bytes.saturating_sub(1), u32::MAX)
            }
            (_, limit) => Room::new(limit),
        }
    }
}

impl<T> QueueManager<T> for DropTailQueue<T> {
    #[inline(never)]
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
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
    fn dequeue(&mut self, _now: Instant, _context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        self.fifo.pop()
    }

    #[inline(never)]
    fn pass(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
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

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}
