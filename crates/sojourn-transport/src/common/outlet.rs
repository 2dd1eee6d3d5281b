//! The surroundings of a sender during one call.

use crate::{ConnectionStatistics, StackConfig};

/// Destination of a sender's segments, and the parts of its connection that it needs besides its own.
pub(crate) struct Outlet<'a, C, R> {
    pub(crate) context: &'a mut C,
    pub(crate) receiver: &'a mut R,
    pub(crate) config: &'a StackConfig,
    pub(crate) statistics: &'a mut ConnectionStatistics,
}
