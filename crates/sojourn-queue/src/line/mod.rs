//! A queue manager in one line of text: its kind, and the keys that differ from its defaults.
//!
//! ```
//! use sojourn_base::BitRate;
//! use sojourn_queue::ManagerConfig;
//!
//! let config = ManagerConfig::from_line("codel target=10ms limit=\"84 packets\"", BitRate::ZERO)?;
//! assert_eq!(config.kind(), "codel");
//! assert_eq!(ManagerConfig::from_line(&config.to_line(), BitRate::ZERO)?, config);
//! # Ok::<(), sojourn_queue::LineProblem>(())
//! ```
//!
//! Keys and values are those of scenario files. A text with spaces stands in quotes, a list in brackets without spaces
//! (`dscp=[45,46]`). A key inside a manager behind another has both names: `ack-priority manager=pie
//! manager.reference=20ms`; of entries in a list, the entry's number: `red classes.0.dscp=[10]`.
//!
//! | module | holds |
//! |---|---|
//! | `words` | a line as a kind and a table of keys |
//! | `read` | that table as parameters |
//! | `print` | parameters as a line |
//!
//! Source: none; the spelling is the project's own. Deviations: none known.

mod print;
mod read;
mod words;

use crate::config::ManagerConfig;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use sojourn_base::{BitRate, Limit};
use sojourn_keys::value::Mismatch;

/// Longest line. chosen: the longest that is printed, that of the DOCSIS dual queue, has some 700 bytes.
pub const LONGEST_LINE: usize = 8192;

/// Most bytes of sub-queues and buckets before a packet waits. chosen: a million of them.
const MOST_BYTES: u64 = 256 << 20;

/// An error of a manager line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The key, with dots; empty for the line itself.
    pub key: String,
    /// The error.
    pub message: String,
    /// The remedy; may be empty.
    pub hint: String,
}

impl LineProblem {
    fn new(key: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into(), hint: hint.into() }
    }

    fn of(key: &str, mismatch: Mismatch) -> Self {
        Self::new(key, mismatch.message, mismatch.hint)
    }
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if self.hint.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.hint)
    }
}

impl core::error::Error for LineProblem {}

impl ManagerConfig {
    /// Reads a manager line. Limits in time become the bytes that `rate` sends in it, so a manager can be built from what
    /// is returned; a rate of zero stands for none, and a limit in time is refused then.
    ///
    /// # Errors
    /// The first thing that is wrong with the line.
    pub fn from_line(line: &str, rate: BitRate) -> Result<Self, LineProblem> {
        if line.len() > LONGEST_LINE || line.chars().any(char::is_control) {
            return Err(LineProblem::new(
                "",
                "the line is too long or contains control characters",
                format!("one line of at most {LONGEST_LINE} bytes"),
            ));
        }
        let (kind, table) = words::split(line)?;
        read::parameters(kind, &table)?.ready(rate)
    }

    /// The same parameters, if a manager can be built from them on a link of `rate`.
    fn ready(self, rate: BitRate) -> Result<Self, LineProblem> {
        let has_rate = rate > BitRate::ZERO;
        if let Some(Limit::Time(span)) = self.limit()
            && !has_rate
        {
            return Err(LineProblem::new(
                "limit",
                format!("{span} are a number of bytes only at a rate, and none is known"),
                "a limit in bytes or packets, or a rate",
            ));
        }
        let problems = self.problems_on(has_rate.then_some(rate));
        if let Some((key, mismatch)) = problems.into_iter().next() {
            return Err(LineProblem::of(&key, mismatch));
        }
        if self.bytes() > MOST_BYTES {
            return Err(LineProblem::new(
                "",
                format!("{} bytes before a packet waits", self.bytes()),
                "fewer queues or buckets",
            ));
        }
        Ok(self.at(rate))
    }

    /// The manager line of these parameters, with every key.
    pub fn to_line(&self) -> String {
        print::line(self)
    }
}

/// A key below a path.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests;
