//! State of a running emulation, and its summary at the end.

use sojourn_base::{Bytes, Instant, Packets, PerDirection, Span};

/// How late packets were written: time of the write less the time at which the model had them arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Packets.
    pub packets: u64,
    /// Median.
    pub p50: Span,
    /// The 99th percentile.
    pub p99: Span,
    /// The largest.
    pub most: Span,
}

/// State of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionView {
    /// Packets and IP bytes that came, since the start.
    pub entered: (Packets, Bytes),
    /// Packets and IP bytes that were delivered, since the start.
    pub delivered: (Packets, Bytes),
    /// Dropped by the model, since the start.
    pub dropped: u64,
    /// Marked by the model, since the start.
    pub marked: u64,
    /// Packets and bytes in the managed queue.
    pub backlog: (Packets, Bytes),
    /// Packets behind it.
    pub staged: Packets,
    /// Delay on the access link of the last packet that left it.
    pub delay: Span,
    /// Median and P99 of that within the last second, zero without packets.
    pub delay_p50: Span,
    /// See `delay_p50`.
    pub delay_p99: Span,
    /// Lateness within the last second.
    pub lateness: Lateness,
}

/// An emulation at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Model time.
    pub at: Instant,
    /// Each direction.
    pub directions: PerDirection<DirectionView>,
    /// Packets lost outside the model since the start.
    pub hidden_losses: u64,
    /// Stalls since the start.
    pub stalls: u32,
    /// Longest time between two passes of the loop within the last second.
    pub longest_gap: Span,
    /// True if segments that are due together are written as one.
    pub joins: bool,
    /// Share of a core that the loop used within the last second; `None` if unknown.
    pub busy: Option<f64>,
}

/// A gap between two passes in which model time stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Model time at which it stood still.
    pub at: Instant,
    /// For how long.
    pub gap: Span,
}

/// How far the numbers of an emulation can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Late by no more than what is promised; nothing lost outside the model.
    Good,
    /// Good enough to feel 10 ms, not to judge 1 ms.
    Fair,
    /// Late by more than that, or something was lost outside the model.
    Poor,
}

impl Grade {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

/// Summary of an emulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How far it can be trusted.
    pub grade: Grade,
    /// Model time that it took.
    pub duration: Span,
    /// How late packets were written.
    pub lateness: PerDirection<Lateness>,
    /// Packets lost outside the model.
    pub hidden_losses: u64,
    /// Of these, frames with a VLAN tag, which are not carried.
    pub tagged: u64,
    /// Times at which model time stood still.
    pub stalls: Vec<Stall>,
    /// True if segments that were due together were written as one.
    pub joined: bool,
    /// True if the loop needed so much of its core that it gave up real-time priority.
    pub gave_priority_up: bool,
}
