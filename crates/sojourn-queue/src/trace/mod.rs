//! Golden traces: inputs and outputs of a queue manager, as text that any implementation can replay.
//!
//! A trace has a header, inputs (`>`) and the outputs of each (`<`). A test bench in any language feeds the inputs to
//! its own queue manager and compares. The format stands in `docs/reference/golden-traces.md`; files end with `.sjt`.
//!
//! ```
//! use sojourn_queue::trace::Trace;
//!
//! let text = "\
//! sojourn-trace 1
//! = manager drop-tail limit=\"2 packets\"
//! < n -
//! > a 0 1 1500 0 0 0 - 0
//! < e 1
//! > o 1000000
//! < s 1
//! < q 0 0
//! ";
//! let trace = Trace::read(text)?;
//! let done = trace.replay()?;
//! assert_eq!(trace.difference(&done), None);
//! assert_eq!(trace.to_string(), text);
//! # Ok::<(), sojourn_queue::trace::TraceProblem>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `read`, `write` | text to records and back |
//! | `play` | one input into one manager, and what comes of it |
//! | `record` | a manager that is called by hand, and the trace of it |
//! | `replay` | a trace into a manager, its own or another |
//! | `compare` | what was done compared with what the trace says: to the letter, by law, with slack |
//!
//! Source: none; the format is the project's own. Deviations: none known.

mod compare;
mod play;
mod read;
mod record;
mod replay;
mod write;

pub use compare::Difference;
pub use read::{LARGEST_TRACE, TraceProblem};
pub use record::Recorder;
pub use replay::{Done, Replay};

use crate::{Backlog, Reason};
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Meta, ServiceQueue};

/// The first line of a trace.
pub const FIRST_LINE: &str = "sojourn-trace 1";

/// Number of calls between two lines of backlog. Source: version 1 of the format.
const BACKLOG_EVERY: u64 = 64;

/// Header of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The manager, as a manager line; see [`crate::line`].
    pub manager: String,
    /// The document with its section; empty if there is none.
    pub rfc: String,
    /// The rate of the link, if the manager knows one; limits in time are of this rate.
    pub rate: Option<BitRate>,
    /// Program that made it, with its version; empty if unknown.
    pub made_by: String,
    /// True if draws of the manager were recorded.
    pub draws: bool,
}

/// Something that the surroundings of a queue answer when the manager asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Tokens of the shaper, in bytes.
    Tokens,
    /// Sustained rate of the shaper, in b/s.
    Sustained,
    /// Peak rate of the shaper, in b/s.
    Peak,
    /// Estimate of the request-grant loop, in ns.
    Loop,
    /// The same of the loop that serves a queue, in ns.
    LoopOf(ServiceQueue),
    /// Bytes taken from a queue and not sent yet.
    Staged(ServiceQueue),
    /// Rate of the service flow behind a queue alone, in b/s.
    RateOf(ServiceQueue),
    /// Rate of grants that come unasked, in b/s.
    GrantRate,
    /// Time from one such grant to the next, in ns.
    GrantInterval,
}

impl Fact {
    /// All of them with their words.
    const ALL: [(Self, &'static str); 15] = {
        use ServiceQueue::{AckPriority, Classic, LowLatency};
        [
            (Self::Tokens, "tokens"),
            (Self::Sustained, "sustained"),
            (Self::Peak, "peak"),
            (Self::Loop, "loop"),
            (Self::LoopOf(Classic), "loop_c"),
            (Self::LoopOf(LowLatency), "loop_l"),
            (Self::LoopOf(AckPriority), "loop_a"),
            (Self::Staged(Classic), "staged_c"),
            (Self::Staged(LowLatency), "staged_l"),
            (Self::Staged(AckPriority), "staged_a"),
            (Self::RateOf(Classic), "rate_c"),
            (Self::RateOf(LowLatency), "rate_l"),
            (Self::RateOf(AckPriority), "rate_a"),
            (Self::GrantRate, "grant_rate"),
            (Self::GrantInterval, "grant_interval"),
        ]
    };

    fn place(self) -> usize {
        let found = Self::ALL.iter().position(|(fact, _)| *fact == self);
        found.unwrap_or_default()
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self.place()].1
    }
}

/// A call of a manager, or an answer to it. Times are in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A packet is offered.
    Arrival {
        /// Time of the call.
        at: u64,
        /// Its number.
        item: u64,
        /// Properties of the packet.
        meta: Meta,
    },
    /// One packet may be sent.
    Opportunity {
        /// Time of the call.
        at: u64,
        /// Of this queue only, if one is named.
        queue: Option<ServiceQueue>,
    },
    /// The manager's timer is due.
    Timer {
        /// Time of the call.
        at: u64,
    },
    /// From now on the surroundings answer this.
    Told {
        /// Time of the call.
        at: u64,
        /// The question.
        fact: Fact,
        /// The answer, in bytes, b/s or ns.
        value: u64,
    },
    /// The next number that the manager draws, in [0, 1).
    Draw(f64),
}

/// An output of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The packet that arrived waits.
    Kept {
        /// Its number.
        item: u64,
        /// The queue, if the manager has several.
        queue: Option<ServiceQueue>,
        /// Queue Protection has put it there.
        sanctioned: bool,
    },
    /// A packet was dropped.
    Dropped {
        /// Its number.
        item: u64,
        /// Why.
        reason: Reason,
    },
    /// A packet was marked.
    Marked {
        /// Its number.
        item: u64,
        /// Why.
        reason: Reason,
    },
    /// This packet is sent; `None`: nothing is.
    Sent(Option<u64>),
    /// Time of the next timer, if there is one.
    NextTimer(Option<u64>),
    /// Packets that wait in all queues, and in the low-latency one if there are several.
    Waiting(Backlog, Option<Backlog>),
}

/// A line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// An input.
    Input(Input),
    /// An output of the input before.
    Output(Output),
}

/// A trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its header.
    pub header: Header,
    /// All inputs with their outputs, in order.
    pub records: Vec<Record>,
    /// The line of each record in the text, from 1; empty for a trace that was recorded.
    lines: Vec<u32>,
}

impl Trace {
    /// The line of a record.
    fn line(&self, place: usize) -> u32 {
        self.lines.get(place).copied().unwrap_or_default()
    }
}

/// The letter of a queue.
const fn letter(queue: ServiceQueue) -> char {
    match queue {
        ServiceQueue::Classic => 'c',
        ServiceQueue::LowLatency => 'l',
        ServiceQueue::AckPriority => 'a',
    }
}

#[cfg(test)]
mod tests;
