//! Parts that TCP and QUIC share.
//!
//! | file | mechanism |
//! |---|---|
//! | `armed` | deadlines that the caller knows |
//! | `delivery_rate` | how fast segments are delivered, for controllers that ask |
//! | `marks` | how many were marked, from a count that comes back |
//! | `outlet` | the surroundings of a sender during one call |
//! | `pacer` | when the next segment may leave |
//! | `restart` | the window of an idle sender |
//! | `role` | which end opens the connection |
//! | `rtt` | round-trip estimator |
//! | `stream` | data written by the application |

pub(crate) mod armed;
pub(crate) mod delivery_rate;
pub(crate) mod marks;
pub(crate) mod outlet;
pub(crate) mod pacer;
pub(crate) mod restart;
pub(crate) mod role;
pub(crate) mod rtt;
pub(crate) mod stream;
