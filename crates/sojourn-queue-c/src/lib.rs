//! Queue managers behind a C interface, version 1.
//!
//! A handle holds a manager; the caller's packets stay with the caller, who gives each a number, its *item*. Times are in
//! ns and never go back. One handle is called by one thread at a time.
//!
//! | module | holds |
//! |---|---|
//! | `types` | what C sees, and how it stands for ours |
//! | `host` | the callbacks of C as a context of a manager |
//! | `handle` | a manager with one call at a time, and none after a panic |
//!
//! The functions are declared for C in `include/sojourn_queue.h`; a test compares.
//!
//! Source: `sojourn-queue` for what managers do. Deviations: none known.
#![expect(unsafe_code, reason = "pointers of C are read; each block says what makes that right")]
#![expect(non_camel_case_types, reason = "C sees these names")]

mod handle;
mod host;
mod types;

pub use handle::sjq_queue;
pub use types::{
    SJQ_ABI, SJQ_BUSY, SJQ_CONFIG, SJQ_CONTEXT, SJQ_DESTROYED, SJQ_FIELD, SJQ_KEPT, SJQ_NULL, SJQ_POISONED,
    SJQ_REFUSED, SJQ_TIME, sjq_context, sjq_meta, sjq_shaper,
};

use core::ffi::c_char;
use host::Host;
use sojourn_base::{BitRate, PacketHandle, ServiceQueue};
use sojourn_queue::{LineProblem, ManagerConfig, Verdict};
use types::{number_of, queue_of};

/// The interface of this library: `SJQ_ABI` of its header.
#[unsafe(no_mangle)]
pub extern "C" fn sjq_abi() -> u32 {
    SJQ_ABI
}

/// Makes an empty queue of a manager line, such as `codel target=5ms limit="84 packets"`, for a link of `rate_bps`, or
/// 0 if no limit is a time. An error of the line is written into `message`, ended by a zero and cut at `room` bytes.
///
/// # Safety
/// `config` points to `length` bytes, `out` to a pointer, and `message` to `room` bytes or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_new(
    config: *const c_char,
    length: usize,
    rate_bps: u64,
    out: *mut *mut sjq_queue,
    message: *mut c_char,
    room: usize,
) -> i32 {
    if config.is_null() || out.is_null() {
        return SJQ_NULL;
    }
    let bytes = if length == 0 {
        &[]
    } else {
        // SAFETY: the caller promises `length` bytes there, which do not change during this call.
        unsafe { core::slice::from_raw_parts(config.cast::<u8>(), length) }
    };
    let made = std::panic::catch_unwind(|| made_of(bytes, rate_bps));
    let told = match made {
        Ok(Ok(handle)) => {
            // SAFETY: the caller promises a pointer there.
            unsafe { out.write(Box::into_raw(Box::new(handle))) };
            return SJQ_KEPT;
        }
        Ok(Err(problem)) => problem,
        Err(_) => "the manager cannot be made".to_owned(),
    };
    if !message.is_null() && room > 0 {
        let mut end = told.len().min(room - 1);
        while !told.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the caller promises `room` bytes there; `end` and the zero are at most as many.
        unsafe {
            core::ptr::copy_nonoverlapping(told.as_ptr().cast::<c_char>(), message, end);
            message.add(end).write(0);
        }
    }
    SJQ_CONFIG
}

fn made_of(bytes: &[u8], rate_bps: u64) -> Result<sjq_queue, String> {
    /// chosen: 1 Tb/s; beyond it times of packets are below a picosecond a bit.
    const FASTEST: u64 = 1_000_000_000_000;
    if rate_bps > FASTEST {
        return Err(format!("{rate_bps} b/s are more than 1 Tb/s"));
    }
    let line = core::str::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())?;
    let config = ManagerConfig::from_line(line, BitRate::from_bps(rate_bps))
        .map_err(|problem: LineProblem| problem.to_string())?;
    Ok(sjq_queue::new(config.build()))
}

/// Offers a packet: `SJQ_KEPT`, or `SJQ_REFUSED` after `dropped` was called for it.
///
/// # Safety
/// `queue` is of [`sjq_new`] and not freed; `meta` and `context` point to such structs, whose functions may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_enqueue(
    queue: *const sjq_queue,
    now_ns: u64,
    meta: *const sjq_meta,
    item: u64,
    context: *const sjq_context,
) -> i32 {
    if queue.is_null() || meta.is_null() {
        return SJQ_NULL;
    }
    // SAFETY: the caller promises a struct there.
    let Some(meta) = unsafe { meta.read() }.read() else {
        return SJQ_FIELD;
    };
    // SAFETY: the caller promises a context there.
    let mut host = match unsafe { Host::read(context) } {
        Ok(host) => host,
        Err(code) => return code,
    };
    // SAFETY: the caller promises a living handle.
    let handle = unsafe { &*queue };
    handle.call(Some(now_ns), &mut host, |manager, now, host| {
        let verdict = manager.enqueue(now, meta, PacketHandle(item), host);
        let placed = match verdict {
            Verdict::Accepted => -1,
            Verdict::Placed(queue) => i32::from(number_of(queue)),
            Verdict::Dropped(_) => return SJQ_REFUSED,
        };
        host.kept(item, placed);
        SJQ_KEPT
    })
}

/// Takes the next packet to send: 1 and its item, or 0 if nothing waits. `from` is the number of a queue, or -1 for any.
/// `sent` and `marked` may be null; `marked` becomes 1 if the packet carries CE.
///
/// # Safety
/// As [`sjq_enqueue`]; `item` points to a number, `sent` to a struct and `marked` to a byte, or they are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_dequeue(
    queue: *const sjq_queue,
    now_ns: u64,
    from: i32,
    context: *const sjq_context,
    item: *mut u64,
    sent: *mut sjq_meta,
    marked: *mut u8,
) -> i32 {
    if queue.is_null() || item.is_null() {
        return SJQ_NULL;
    }
    let from = match named(from) {
        Ok(from) => from,
        Err(code) => return code,
    };
    // SAFETY: the caller promises a context there.
    let mut host = match unsafe { Host::read(context) } {
        Ok(host) => host,
        Err(code) => return code,
    };
    // SAFETY: the caller promises a living handle.
    let handle = unsafe { &*queue };
    let mut next = None;
    let code = handle.call(Some(now_ns), &mut host, |manager, now, host| {
        next = match from {
            None => manager.dequeue(now, host),
            Some(queue) => manager.dequeue_from(now, queue, host),
        };
        i32::from(next.is_some())
    });
    if let (1, Some(held)) = (code, next) {
        let meta = sjq_meta::of(&held.meta);
        // SAFETY: the caller promises places for them; those that are null are left out.
        unsafe {
            item.write(held.item.0);
            if !sent.is_null() {
                sent.write(meta);
            }
            if !marked.is_null() {
                marked.write(u8::from(meta.ecn == 3));
            }
        }
    }
    code
}

/// A queue by its number; none for -1.
fn named(from: i32) -> Result<Option<ServiceQueue>, i32> {
    match u8::try_from(from) {
        Ok(number) => queue_of(number).map(Some).ok_or(SJQ_FIELD),
        Err(_) if from == -1 => Ok(None),
        Err(_) => Err(SJQ_FIELD),
    }
}

/// Returns the time of the next call of [`sjq_on_timer`]; `UINT64_MAX` if there is none, and for a queue that is busy
/// or poisoned.
///
/// # Safety
/// `queue` is of [`sjq_new`] and not freed, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_next_timer(queue: *const sjq_queue) -> u64 {
    // SAFETY: the caller promises a living handle or null.
    let handle = unsafe { queue.as_ref() };
    let next = handle.and_then(|handle| handle.look(|manager| manager.next_timer()));
    next.flatten().map_or(u64::MAX, sojourn_base::Instant::as_ns)
}

/// Does the update that was due at [`sjq_next_timer`], which is not after `now_ns`: 1 if another one is due by then, else
/// 0. `SJQ_TIME` if none is due, or time went back.
///
/// # Safety
/// As [`sjq_enqueue`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_on_timer(queue: *const sjq_queue, now_ns: u64, context: *const sjq_context) -> i32 {
    if queue.is_null() {
        return SJQ_NULL;
    }
    // SAFETY: the caller promises a context there.
    let mut host = match unsafe { Host::read(context) } {
        Ok(host) => host,
        Err(code) => return code,
    };
    // SAFETY: the caller promises a living handle.
    let handle = unsafe { &*queue };
    let is_due = |at: sojourn_base::Instant| at.as_ns() <= now_ns;
    let Some(due) = handle.look(|manager| manager.next_timer()) else {
        return handle.trouble();
    };
    let Some(due) = due.filter(|due| is_due(*due)) else {
        return SJQ_TIME;
    };
    handle.call(Some(now_ns), &mut host, |manager, _, host| {
        manager.on_timer(due, host);
        i32::from(manager.next_timer().is_some_and(is_due))
    })
}

/// Length of the packet that a dequeue would look at first; -1 if nothing waits or the manager cannot tell.
///
/// # Safety
/// As [`sjq_next_timer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_head_length(queue: *const sjq_queue) -> i64 {
    // SAFETY: the caller promises a living handle or null.
    let handle = unsafe { queue.as_ref() };
    let length = handle.and_then(|handle| handle.look(|manager| manager.head_length()));
    length.flatten().map_or(-1, i64::from)
}

/// Writes the packets and bytes that wait in a queue, or in all for -1; zeros if there is none. Either pointer may be
/// null.
///
/// # Safety
/// As [`sjq_next_timer`]; `bytes` and `packets` point to numbers or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_backlog(queue: *const sjq_queue, of: i32, bytes: *mut u64, packets: *mut u64) {
    // SAFETY: the caller promises a living handle or null.
    let handle = unsafe { queue.as_ref() };
    let waiting = handle.zip(named(of).ok()).and_then(|(handle, of)| {
        handle.look(|manager| of.map_or_else(|| manager.backlog(), |of| manager.backlog_of(of)))
    });
    let waiting = waiting.unwrap_or_default();
    // SAFETY: the caller promises places for them; those that are null are left out.
    unsafe {
        if !bytes.is_null() {
            bytes.write(waiting.bytes.0);
        }
        if !packets.is_null() {
            packets.write(waiting.packets.0.into());
        }
    }
}

/// Makes [`sjq_free`] report the packets that wait then to `dropped` of this context, which is copied; null for no
/// report.
///
/// # Safety
/// As [`sjq_enqueue`]; its functions may be called until the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_set_context(queue: *const sjq_queue, context: *const sjq_context) -> i32 {
    if queue.is_null() {
        return SJQ_NULL;
    }
    // SAFETY: the caller promises a living handle.
    let handle = unsafe { &*queue };
    if context.is_null() {
        return handle.remember(None);
    }
    // SAFETY: the caller promises a context there.
    match unsafe { Host::read(context) } {
        Ok(host) => handle.remember(Some(host)),
        Err(code) => code,
    }
}

/// Frees a queue; what waits goes to `dropped` of [`sjq_set_context`] with reason `SJQ_DESTROYED`, unless the queue is poisoned.
/// Null is left alone, and so is a queue that a callback of its own wants to free.
///
/// # Safety
/// `queue` is of [`sjq_new`] and not freed, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sjq_free(queue: *mut sjq_queue) {
    // SAFETY: the caller promises a living handle or null.
    let Some(handle) = (unsafe { queue.as_ref() }) else {
        return;
    };
    if !handle.empty() {
        return;
    }
    // SAFETY: it is of `Box::into_raw` in `sjq_new`, and no call of it is under way.
    drop(unsafe { Box::from_raw(queue) });
}

#[cfg(test)]
mod tests;
