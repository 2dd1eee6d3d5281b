//! A manager that is never called twice at a time, nor after a panic.

use crate::host::Host;
use crate::{SJQ_BUSY, SJQ_DESTROYED, SJQ_POISONED, SJQ_TIME};
use core::cell::{Cell, RefCell};
use sojourn_base::Instant;
use sojourn_queue::QueueManager;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Last time in ns: picoseconds have 64 bits.
const LAST: u64 = u64::MAX / 1000;

/// A queue. Its callbacks may hold a pointer to it, so it is only ever borrowed shared.
#[derive(Debug)]
pub struct sjq_queue {
    manager: RefCell<Box<dyn QueueManager>>,
    now: Cell<u64>,
    is_poisoned: Cell<bool>,
    at_end: Cell<Option<Host>>,
}

impl sjq_queue {
    pub(crate) fn new(manager: Box<dyn QueueManager>) -> Self {
        Self {
            manager: RefCell::new(manager),
            now: Cell::new(0),
            is_poisoned: Cell::new(false),
            at_end: Cell::new(None),
        }
    }

    /// Why nothing can be asked: it is busy, or poisoned.
    pub(crate) fn trouble(&self) -> i32 {
        if self.is_poisoned.get() { SJQ_POISONED } else { SJQ_BUSY }
    }

    /// Calls the manager at a time, or without one at that of the call before. Time does not go back. A panic poisons the handle.
    pub(crate) fn call(
        &self,
        now_ns: Option<u64>,
        host: &mut Host,
        work: impl FnOnce(&mut dyn QueueManager, Instant, &mut Host) -> i32,
    ) -> i32 {
        if self.is_poisoned.get() {
            return SJQ_POISONED;
        }
        let Ok(mut manager) = self.manager.try_borrow_mut() else {
            return SJQ_BUSY;
        };
        let now_ns = now_ns.unwrap_or(self.now.get());
        if now_ns < self.now.get() || now_ns > LAST {
            return SJQ_TIME;
        }
        self.now.set(now_ns);
        let now = Instant::from_ns(now_ns);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut **manager, now, host)));
        match done {
            Ok(code) if !host.failed => code,
            _ => {
                self.is_poisoned.set(true);
                SJQ_POISONED
            }
        }
    }

    /// Reads the manager, unless it is being called or is poisoned.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&dyn QueueManager) -> T) -> Option<T> {
        if self.is_poisoned.get() {
            return None;
        }
        let manager = self.manager.try_borrow().ok()?;
        let seen = catch_unwind(AssertUnwindSafe(|| look(&**manager)));
        self.is_poisoned.set(seen.is_err());
        seen.ok()
    }

    /// Keeps the context that receives the remaining packets at the end.
    pub(crate) fn remember(&self, host: Option<Host>) -> i32 {
        if self.is_poisoned.get() || self.manager.try_borrow_mut().is_err() {
            return self.trouble();
        }
        self.at_end.set(host);
        0
    }

    /// Tells what still waits; `false` if a call is under way.
    pub(crate) fn empty(&self) -> bool {
        if self.manager.try_borrow_mut().is_err() {
            return false;
        }
        let Some(mut host) = self.at_end.take() else {
            return true;
        };
        host.destroys = true;
        let waiting = self.look(|manager| manager.backlog().packets.0);
        for _ in 0..waiting.unwrap_or_default() {
            let code = self.call(None, &mut host, |manager, now, host| {
                let next = manager.dequeue(now, host);
                if let Some(held) = &next {
                    host.destroyed(held, SJQ_DESTROYED);
                }
                i32::from(next.is_some())
            });
            if code != 1 {
                break;
            }
        }
        true
    }
}
