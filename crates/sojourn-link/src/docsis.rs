//! Common parts of the upstreams of DOCSIS 3.0 and 3.1.
//!
//! | module | content |
//! |---|---|
//! | [`congestion`] | how many bytes a MAP can grant while others use the channel |
//! | `map` | the clock of MAP intervals, and random draws that belong to a MAP |

pub mod congestion;
pub(crate) mod map;
