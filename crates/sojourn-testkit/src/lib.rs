//! Shared parts of the tests of several crates.
//!
//! | module | content |
//! |---|---|
//! | [`context`] | a context for queue managers with scripted draws and a log |
//! | [`departures`] | what a rate and a burst allow in any window of time |
//! | [`operations`] | random operation lists for queue managers, and the run that logs their effect |
//! | [`oracle`] | slow, literal versions of published algorithms, written from their step lists alone |
//!
//! Nothing here is used by the simulator itself.
#![forbid(unsafe_code)]

pub mod context;
pub mod departures;
pub mod operations;
pub mod oracle;
