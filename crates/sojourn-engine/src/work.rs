//! Work of a run since its last check for an interrupt.
//!
//! Events are counted, and long work within one: a queue manager's updates of a long pause, draws of unused grants,
//! objects of a page. So a run ends soon after an interrupt, whatever it computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a run from any thread that it shall end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The run shall end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the run shall end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Steps between two looks: each takes some nanoseconds to a microsecond, all together well below 0.2 s.
const UNITS_PER_LOOK: u64 = 4096;

/// Work done, in steps.
#[derive(Debug, Default)]
pub(crate) struct Work {
    done: u64,
    look_at: u64,
    interrupt: Interrupt,
}

impl Work {
    pub(crate) fn watched(interrupt: Interrupt) -> Self {
        Self { done: 0, look_at: UNITS_PER_LOOK, interrupt }
    }

    /// Steps so far, apart from events.
    #[inline]
    pub(crate) const fn done(&self) -> u64 {
        self.done
    }

    /// Counts some steps; whether to go on.
    #[inline]
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.done = self.done.saturating_add(units);
        self.done < self.look_at || self.look()
    }

    /// The run shall end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_set()
    }

    #[cold]
    fn look(&mut self) -> bool {
        if self.interrupt.is_set() {
            // Makes the event loop and all pollers check the interrupt next.
            self.done = u64::MAX / 2;
            return false;
        }
        self.look_at = self.done.saturating_add(UNITS_PER_LOOK);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_stops_work_within_4096_steps() {
        let interrupt = Interrupt::default();
        let mut work = Work::watched(interrupt.clone());
        assert!((0..100_000).all(|_| work.spend(1)));
        interrupt.set();
        let steps = (0..10_000).take_while(|_| work.spend(1)).count();
        assert!(steps < 4096, "{steps}");
        assert!(!work.spend(1), "and from then on");
        assert!(work.done() > 1 << 60, "the loop of events looks next");
    }
}
