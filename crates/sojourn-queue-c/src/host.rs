//! The callbacks of C as a context of a manager.

use crate::types::{number_of, reason_of, sjq_context, sjq_meta, sjq_shaper};
use crate::{SJQ_CONTEXT, SJQ_DESTROYED, SJQ_NULL};
use core::mem::offset_of;
use sojourn_base::{BitRate, Bytes, ServiceQueue, Span};
use sojourn_queue::{Held, QueueContext, Reason, Score, Shaper};

/// A context, whose functions the caller lets us call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    context: sjq_context,
    /// A random number was needed and there was none.
    pub(crate) failed: bool,
    sanctioned: bool,
    /// The queue is freed: whatever leaves it is destroyed.
    pub(crate) destroys: bool,
}

impl Host {
    /// Copies as much of a context as the caller knows.
    ///
    /// # Safety
    /// `context` is null or points to as many bytes as its `size` says, which are a context of this interface.
    pub(crate) unsafe fn read(context: *const sjq_context) -> Result<Self, i32> {
        if context.is_null() {
            return Err(SJQ_NULL);
        }
        // SAFETY: the caller promises a context there, which begins with its size.
        let size = unsafe { (&raw const (*context).size).read() };
        let known = usize::try_from(size).unwrap_or(usize::MAX);
        if known < offset_of!(sjq_context, marked) {
            return Err(SJQ_CONTEXT);
        }
        let mut copy = sjq_context::default();
        // SAFETY: both have at least this many bytes, and any bytes that C writes into such fields are values of them.
        unsafe {
            core::ptr::copy_nonoverlapping(
                context.cast::<u8>(),
                (&raw mut copy).cast::<u8>(),
                known.min(size_of::<sjq_context>()),
            );
        }
        if copy.dropped.is_none() {
            return Err(SJQ_CONTEXT);
        }
        Ok(Self { context: copy, failed: false, sanctioned: false, destroys: false })
    }

    /// Tells where an arrival was put.
    pub(crate) fn kept(&self, item: u64, queue: i32) {
        if let Some(kept) = self.context.kept {
            // SAFETY: the context's functions may be called during this call.
            unsafe { kept(self.context.user, item, queue, u8::from(self.sanctioned)) };
        }
    }

    fn number(&self, ask: Option<unsafe extern "C" fn(*mut core::ffi::c_void, u8) -> u64>, queue: ServiceQueue) -> u64 {
        // SAFETY: the context's functions may be called during this call.
        ask.map_or(0, |ask| unsafe { ask(self.context.user, number_of(queue)) })
    }
}

impl QueueContext for Host {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        let reason = if self.destroys { SJQ_DESTROYED } else { reason_of(reason) };
        self.destroyed(&packet, reason);
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        if let Some(marked) = self.context.marked.filter(|_| !self.destroys) {
            let meta = sjq_meta::of(&packet.meta);
            // SAFETY: the context's functions may be called during this call; `meta` lives as long.
            unsafe {
                marked(self.context.user, packet.item.0, &raw const meta, reason_of(reason));
            };
        }
    }

    fn unit(&mut self) -> f64 {
        /// chosen: of no effect, because the handle is poisoned or freed.
        const NONE: f64 = 0.5;
        if self.destroys {
            return NONE;
        }
        let unit = self.context.unit.map(|unit| {
            // SAFETY: the context's functions may be called during this call.
            unsafe { unit(self.context.user) }
        });
        let good = unit.filter(|unit| (0.0..1.0).contains(unit));
        self.failed |= good.is_none();
        good.unwrap_or(NONE)
    }

    fn shaper(&self) -> Shaper {
        let mut told = sjq_shaper::default();
        if let Some(shaper) = self.context.shaper {
            // SAFETY: the context's functions may be called during this call; `told` outlives it.
            unsafe { shaper(self.context.user, &raw mut told) };
        }
        Shaper {
            tokens: Bytes(told.tokens),
            sustained: BitRate::from_bps(told.sustained_bps),
            peak: BitRate::from_bps(told.peak_bps),
        }
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        Bytes(self.number(self.context.staged, queue))
    }

    fn loop_delay(&self) -> Span {
        self.loop_delay_of(ServiceQueue::Classic)
    }

    fn loop_delay_of(&self, queue: ServiceQueue) -> Span {
        /// The longest that has 64 bits of picoseconds.
        const LONGEST: u64 = u64::MAX / 1000;
        let delay = self.number(self.context.loop_delay_ns, queue);
        Span::from_ns(delay.min(LONGEST))
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        BitRate::from_bps(self.number(self.context.rate_bps, queue))
    }

    fn scored(&mut self, _: &Held, score: &Score) {
        self.sanctioned |= score.sanctioned;
    }
}

impl Host {
    /// Tells that an item has left without being sent.
    pub(crate) fn destroyed(&self, packet: &Held, reason: u8) {
        if let Some(dropped) = self.context.dropped {
            let meta = sjq_meta::of(&packet.meta);
            // SAFETY: the context's functions may be called during this call; `meta` lives as long.
            unsafe { dropped(self.context.user, packet.item.0, &raw const meta, reason) };
        }
    }
}
