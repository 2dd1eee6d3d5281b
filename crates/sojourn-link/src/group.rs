//! A service group: the modems of many homes on the channels that they share, their contention for them, and the schedulers of
//! the CMTS.
//!
//! Each home keeps its queue, its rate and its records; what they share is one grid of minislots. A MAP divides the
//! minislots of its interval among the requests that have arrived, and leaves the others as opportunities to request. Two
//! modems that choose the same opportunity lose both requests, and learn of it from a later MAP. A modem with a grant
//! asks for more in it, without contention. Downstream the CMTS knows what waits for whom, and homes take turns.
//!
//! | module | content |
//! |---|---|
//! | [`channels`] | which channels there are, and which of them a modem is bonded over |
//! | [`config`] | parameters of the channel that all share, and of one home's service, with their keys |
//! | [`grid`] | where in an interval opportunities and data lie |
//! | `fits` | what channels carry and homes are promised, and everything that is wrong |
//! | `layout` | what lies where, grants without request among it |
//! | `contention` | a modem's backoff |
//! | `scheduler` | what the CMTS grants in a MAP |
//! | `modem` | queue, fragment, what is asked for and what is granted, and where delay comes from |
//! | `members` | the surroundings of each modem |
//! | [`upstream`] | the group at work |
//! | [`downstream`] | the other direction |
//! | `medium` | either direction |
//! | `tier` | in how many seconds a home gets what it pays for |
//! | `timers` | when queue managers of homes want their timers run |
//! | `alone` | a group of one home, as a link |
//!
//! Source: docs/models/service-group.md. Window, doubling, 16 retries then discard and "a grant ends contention" are the
//! standard's as recalled (DOCSIS MULPI 3.1, 7.2 `[R]`); times of the channel are those of docsis-ns3 1.2, see
//! [`crate::docsis31::timeline`].
//! Deviations: no polls; grants without request are those of a low-latency flow.

pub(crate) mod alone;
pub mod channels;
pub mod config;
mod contention;
pub mod downstream;
mod fits;
pub mod grid;
mod layout;
pub(crate) mod medium;
mod members;
mod modem;
mod scheduler;
mod tier;
mod timers;
pub mod upstream;

/// Whether files may have groups. The engine of a browser tab has none: they would make it larger by a thirtieth, and the
/// pages that load it are about one home.
pub const KNOWN: bool = cfg!(not(target_family = "wasm"));

pub use config::{BondedConfig, DownstreamMemberConfig, GroupConfig, MemberConfig};
pub use downstream::SharedDownstream;
pub use members::Members;
pub use upstream::Group;
