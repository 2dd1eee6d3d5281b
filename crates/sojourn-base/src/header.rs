//! Properties of a packet that queues, classifiers and links read.

/// Stands for a packet in queues and links: they hand it back with the packet's fate, and never look inside. The
/// simulator stores the packet's place in its memory, an emulator for instance an index of its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketHandle(pub u64);

/// Number of a link, in one direction. A lone subscriber's access link is 0 upstream and 1 downstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u16);

/// Number of an entry in the scenario's traffic list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrafficId(pub u16);

/// The two-bit ECN field of RFC 3168.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, L4S (RFC 9331).
    Ect1,
    /// ECN-capable, classic.
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// The two bits on the wire (RFC 3168 section 5).
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0,
            Self::Ect1 => 1,
            Self::Ect0 => 2,
            Self::Ce => 3,
        }
    }

    /// Returns the ECN field in the last two bits of a traffic class.
    pub const fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns true if the packet may carry a mark (or carries one).
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// The queue that a classifier chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceQueue {
    /// The queue of everything that is not marked otherwise.
    #[default]
    Classic,
    /// The low-latency queue of Low Latency DOCSIS.
    LowLatency,
    /// The fast path for pure acknowledgements.
    AckPriority,
}

impl ServiceQueue {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Classic, Self::LowLatency, Self::AckPriority];

    /// The word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::LowLatency => "low_latency",
            Self::AckPriority => "ack_priority",
        }
    }
}

/// The sub-flow of a queue that a packet is hashed into, if the queue has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubFlow(u32);

impl SubFlow {
    /// The queue has no sub-flows.
    pub const NONE: Self = Self(u32::MAX);

    /// The sub-flow with this number, counted from 0.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 sub-flows fit into memory")]
    #[inline]
    pub const fn number(number: usize) -> Self {
        Self(number as u32)
    }

    /// Its number.
    pub const fn get(self) -> Option<u32> {
        match self {
            Self::NONE => None,
            Self(number) => Some(number),
        }
    }
}

/// Why a packet was dropped or marked; a column of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The arrival does not fit.
    Overlimit,
    /// Victim of another packet's arrival: its flow was the largest.
    FatFlow,
    /// Random or derandomised early signal at the tail.
    Early,
    /// Average above a hard threshold.
    Forced,
    /// Head of a queue whose delay stayed above target (CoDel family).
    Target,
    /// Dropped in place of a mark.
    Overload,
    /// Random drop of a flow that does not answer (BLUE).
    Blue,
    /// Lost on the line behind the queue, by a condition.
    Disturbed,
    /// More than a policer behind the queue lets through.
    Policed,
    /// No request for it was heard, as often as the modem tried.
    Unheard,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Overlimit,
        Self::FatFlow,
        Self::Early,
        Self::Forced,
        Self::Target,
        Self::Overload,
        Self::Blue,
        Self::Disturbed,
        Self::Policed,
        Self::Unheard,
    ];

    /// The word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overlimit => "overlimit",
            Self::FatFlow => "fat_flow",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Target => "target",
            Self::Overload => "overload",
            Self::Blue => "blue",
            Self::Disturbed => "disturbed",
            Self::Policed => "policed",
            Self::Unheard => "unheard",
        }
    }
}

/// Properties of a packet that a queue manager may read; the packet itself stays with the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Bytes that the queue is charged.
    pub length: u32,
    /// 32-bit hash of the flow's addresses and ports.
    pub flow_hash: u32,
    /// Bytes the MAC adds on the wire, outside `length`.
    pub mac_overhead: u16,
    /// Number of the host at the subscriber's end.
    pub host: u16,
    /// DSCP, 0..=63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// A TCP segment that only acknowledges.
    pub pure_ack: bool,
    /// Output of the classifier.
    pub queue: ServiceQueue,
}
