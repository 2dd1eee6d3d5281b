//! Makes the loop punctual: real-time priority, exact timers, locked memory.
//!
//! # Source
//! sched(7), prctl(2), mlockall(2).

use super::system;
use std::fmt;

/// Priority of the loop among real-time threads. chosen: above nothing that a desktop runs, below the kernel's own (50).
const LOOP_PRIORITY: i32 = 10;

/// How the kernel schedules the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Before every normal thread.
    RealTime,
    /// Among all others.
    Normal,
}

impl fmt::Display for Priority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RealTime => "real-time",
            Self::Normal => "normal",
        })
    }
}

/// Makes the calling thread as punctual as the system allows; threads and processes that it starts are normal ones.
pub fn raise(wanted: bool) -> Priority {
    system::exact_timers();
    // Without the right to it, pages may be fetched from disk; a machine that has memory left does not.
    let _ = system::lock_memory();
    if wanted && system::schedule_first(LOOP_PRIORITY).is_ok() { Priority::RealTime } else { Priority::Normal }
}

/// Gives real-time priority up, and memory free.
pub fn lower() {
    system::unlock_memory();
    be_normal();
}

/// Gives real-time priority up.
pub(super) fn be_normal() {
    system::schedule_normally();
}

/// How the kernel schedules a thread of this process now, by its number.
pub fn of_thread(thread: i32) -> Priority {
    if system::is_real_time(thread) { Priority::RealTime } else { Priority::Normal }
}
