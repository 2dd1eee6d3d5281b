//! Judges a queue manager from outside: what every manager must keep, and the laws of the document that it follows.
//!
//! A manager's internal state is not read: it receives packets, is asked for them, and gets draws that the law names,
//! so a plugin is judged like a built-in one. A probability is found by repeating the same calls with other draws at
//! one arrival.
//!
//! | module | holds |
//! |---|---|
//! | `row` | a row, its subject, and its verdict |
//! | `bench` | a manager with a line behind it, and a log of its events |
//! | `contract` | rows X1 to X8: conservation, order, marks, limits, the same bits again |
//! | [`golden`] | golden traces: load of a manager, and its actions |
//! | `laws` | rows by document: CoDel, PIE, DOCSIS-PIE, flow queueing, `DualPI2`, Queue Protection, RED |
//! | [`nqb`] | checks if packets of a capture may be marked as building no queue, and a modem's treatment of them |
//!
//! Source: RFC 8033, 8034, 8289, 8290, 9332, 9957; the contract of `sojourn-queue`. Deviations: none known.
#![forbid(unsafe_code)]

mod bench;
mod contract;
pub mod golden;
mod laws;
pub mod nqb;
mod row;

pub use contract::packets_held;
pub use row::{Cost, Finding, RATE, Row, Subject, Verdict};

use sojourn_queue::ManagerConfig;

/// Judges a manager of these parameters on a line of `rate`, by all rows that a manager of kind `like` must keep.
pub fn judge(config: &ManagerConfig, like: &str) -> Vec<(Row, Finding)> {
    let config = config.clone().at(RATE);
    let make = || config.build();
    let subject = Subject {
        like,
        make: &make,
        limit: config.limit(),
        has_service_queues: config.has_service_queues(),
        choose_draws: None,
        has_failed: &|| false,
        cost: None,
    };
    rows(like).into_iter().map(|row| (row, row.judge(&subject))).collect()
}

/// The rows that a manager of this kind must keep: those of every manager, and those of its document.
pub fn rows(like: &str) -> Vec<Row> {
    let mut rows = contract::ROWS.to_vec();
    rows.extend((!like.is_empty()).then_some(contract::CALM));
    rows.extend(laws::of(like));
    rows
}

/// Kinds whose documents have laws here.
pub const LAWFUL: [&str; 13] = laws::KINDS;
