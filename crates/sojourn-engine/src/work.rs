//! How much a run has done since somebody looked whether it shall go on.
//!
//! Events are counted, and what takes long within one: a queue manager's updates of a long pause, draws of grants that
//! nobody used, objects of a page. So a run ends soon after it was told to, whatever it computes.

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

    /// Whether it shall.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Steps between two looks: each takes some nanoseconds to a microsecond, all together well below 0.2 s.
const UNITS_PER_LOOK: u64 = 4096;

/// What was done, in steps.
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
            // So that the loop of events looks as soon as this one is over, and everybody else who asks.
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
    fn whoever_works_on_after_an_interrupt_is_told_within_so_many_steps() {
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
