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
//! | [`channels`] | channels, and the modem's bonding over them |
//! | [`config`] | parameters of the channel that all share, and of one home's service, with their keys |
//! | [`grid`] | places of opportunities and data in an interval |
//! | `fits` | check of the channels' capacity against the homes' rates |
//! | `layout` | layout of the channels, including grants without request |
//! | `contention` | a modem's backoff |
//! | `scheduler` | grants of the CMTS in a MAP |
//! | `modem` | queue, fragment, requests, grants, and delay by cause |
//! | `members` | the surroundings of each modem, and one wake-up for all |
//! | [`upstream`] | the group at work |
//! | [`downstream`] | the other direction |
//! | `medium` | either direction |
//! | `tier` | seconds in which a home gets its paid rate |
//! | `timers` | timers of the homes' queue managers |
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
pub(crate) mod timers;
pub mod upstream;

/// True if files may have groups. The engine of a browser tab has none: they would make it larger by a thirtieth, and
/// its pages have one home.
pub const KNOWN: bool = !sojourn_base::native::IN_TAB;

pub use config::{BondedConfig, DownstreamMemberConfig, GroupConfig, MemberConfig};
pub use downstream::SharedDownstream;
pub use members::{Members, Shared};
pub use upstream::Group;
