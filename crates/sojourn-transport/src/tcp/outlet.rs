//! Where a sender's segments go, and what they carry besides its own words.

use super::receiver::Receiver;
use crate::{ConnectionStatistics, StackConfig};

/// Where segments go, and what they carry besides the sender's own words.
pub(crate) struct Outlet<'a, C> {
    pub(crate) context: &'a mut C,
    pub(crate) receiver: &'a mut Receiver,
    pub(crate) config: &'a StackConfig,
    pub(crate) statistics: &'a mut ConnectionStatistics,
}
