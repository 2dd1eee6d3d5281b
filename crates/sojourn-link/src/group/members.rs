//! The surroundings of the modems of a group.

use crate::LinkContext;

/// The surroundings of each modem of a group.
pub trait Members {
    /// Calls `act` with what the modem at `port` may ask and tell.
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext));

    /// See [`LinkContext::work`].
    fn work(&mut self, units: u64) -> bool {
        let _ = units;
        true
    }
}
