//! Sink of a sender's segments, and the receiver's fields in them.

use super::receiver::Receiver;
use crate::{ConnectionStatistics, StackConfig};

/// Sink of segments, and the receiver's fields in them.
pub(crate) struct Outlet<'a, C> {
    pub(crate) context: &'a mut C,
    pub(crate) receiver: &'a mut Receiver,
    pub(crate) config: &'a StackConfig,
    pub(crate) statistics: &'a mut ConnectionStatistics,
}
