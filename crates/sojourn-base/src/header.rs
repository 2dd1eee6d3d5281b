//! What a queue, classifier or link knows of a packet.

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
    /// Whether the packet may carry a mark (or carries one).
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// The queue that a classifier chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServiceQueue {
    /// The queue of everything that is not marked otherwise.
    #[default]
    Classic,
    /// The low-latency queue of Low Latency DOCSIS.
    LowLatency,
    /// The fast path for pure acknowledgements.
    AckPriority,
}

/// What a queue manager may know of a packet; the packet itself stays with the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Bytes that the queue is charged.
    pub length: u32,
    /// 32-bit hash of the flow's addresses and ports.
    pub flow_hash: u32,
    /// Bytes the MAC adds on the wire, outside `length`.
    pub mac_overhead: u16,
    /// DSCP, 0..=63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// A TCP segment that only acknowledges.
    pub pure_ack: bool,
    /// Output of the classifier.
    pub queue: ServiceQueue,
}
