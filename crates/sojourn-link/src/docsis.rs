//! DOCSIS 3.0 upstreams: MAPs, requests, grants, and two modems built from them.
//!
//! | module | content |
//! |---|---|
//! | [`channel`] | rate of a bonded SC-QAM upstream |
//! | [`congestion`] | how many bytes a MAP can grant while others use the channel |

pub mod channel;
pub mod congestion;
