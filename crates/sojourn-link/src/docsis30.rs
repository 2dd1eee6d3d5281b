//! DOCSIS 3.0 upstreams: requests, grants, and two modems built from them.
//!
//! | module | content |
//! |---|---|
//! | [`channel`] | rate of a bonded SC-QAM upstream |
//! | `request_grant` | the loop between request and grant, a whole number of MAPs long |
//! | `concatenation` | packets into grants: concatenation and fragmentation |
//! | `transmit_queue` | what the shaper has let through and the MAC has not |
//! | [`cascade`] | the modem of White 2012: a shaped queue, then a transmit queue |
//! | [`single_queue`] | the modem of White 2013: one queue for both |

pub mod cascade;
pub mod channel;
mod concatenation;
mod request_grant;
pub mod single_queue;
mod transmit_queue;
