//! One packet of a flow with its time: what a capture is reduced to.

use crate::header::Ecn;
use crate::time::Span;

/// A packet, and when it was sent after the first one of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedPacket {
    /// Time since the first packet of the flow.
    pub at: Span,
    /// Bytes of the IP packet.
    pub length: u32,
    /// DSCP, 0..=63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
}
