//! Types for C: structs, numbers of results, and their conversions.

use core::ffi::c_void;
use sojourn_base::{Ecn, Meta, Reason, ServiceQueue};

/// Version of the interface.
pub const SJQ_ABI: u32 = 1;

/// The packet waits.
pub const SJQ_KEPT: i32 = 0;
/// The packet was refused; `dropped` was called for it before the call returned.
pub const SJQ_REFUSED: i32 = 1;
/// A pointer is null that must not be.
pub const SJQ_NULL: i32 = -1;
/// A field has a value that there is none of.
pub const SJQ_FIELD: i32 = -2;
/// Time went back, is later than 18 446 744 s, or no timer is due then.
pub const SJQ_TIME: i32 = -3;
/// A callback has called the handle that calls it.
pub const SJQ_BUSY: i32 = -4;
/// The handle is of no use any more: a call has panicked, or got no random number that it needed.
pub const SJQ_POISONED: i32 = -5;
/// The manager line is wrong; the message says how.
pub const SJQ_CONFIG: i32 = -6;
/// The context is too small, or has no `dropped`.
pub const SJQ_CONTEXT: i32 = -7;

/// Reason of a packet that waited when its queue was freed.
pub const SJQ_DESTROYED: u8 = 255;

/// Properties of a packet that a queue may read: 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sjq_meta {
    /// Bytes that the queue is charged, at least 1.
    pub length: u32,
    /// Hash of addresses and ports.
    pub flow_hash: u32,
    /// Bytes that the MAC adds on the wire, outside length.
    pub mac_overhead: u16,
    /// 0 to 63.
    pub dscp: u8,
    /// As on the wire: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// 1 for a TCP segment that only acknowledges.
    pub pure_ack: u8,
    /// 0 classic, 1 low latency, 2 fast lane of acknowledgements; 0 if the manager classifies.
    pub queue: u8,
    /// Number of the host at the subscriber's end, for managers that share by host.
    pub host: u16,
}

/// The shaper that drains a queue; zero rates mean "not set".
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sjq_shaper {
    /// Tokens of the sustained-rate bucket, in bytes.
    pub tokens: u64,
    /// Maximum sustained rate.
    pub sustained_bps: u64,
    /// Peak rate.
    pub peak_bps: u64,
}

/// Functions of the host for the queue during a call. All but size, user and dropped may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct sjq_context {
    /// Of this struct, as the caller knows it; what is beyond has defaults.
    pub size: u32,
    /// Handed back as the first argument.
    pub user: *mut c_void,
    /// An item leaves without being sent.
    pub dropped: Option<unsafe extern "C" fn(user: *mut c_void, item: u64, meta: *const sjq_meta, reason: u8)>,
    /// An item was marked: write CE into its packet.
    pub marked: Option<unsafe extern "C" fn(user: *mut c_void, item: u64, meta: *const sjq_meta, reason: u8)>,
    /// A random number, at least 0 and below 1; for managers that draw.
    pub unit: Option<unsafe extern "C" fn(user: *mut c_void) -> f64>,
    /// Bytes taken from a queue and not sent yet (0).
    pub staged: Option<unsafe extern "C" fn(user: *mut c_void, queue: u8) -> u64>,
    /// Estimate of the request-grant loop that serves a queue (0).
    pub loop_delay_ns: Option<unsafe extern "C" fn(user: *mut c_void, queue: u8) -> u64>,
    /// Fills in the shaper (zeros).
    pub shaper: Option<unsafe extern "C" fn(user: *mut c_void, shaper: *mut sjq_shaper)>,
    /// Rate of the service flow behind a queue alone (0).
    pub rate_bps: Option<unsafe extern "C" fn(user: *mut c_void, queue: u8) -> u64>,
    /// An arrival is kept: in this queue, or -1 if the manager has one; sanctioned is 1 if Queue Protection put it there.
    pub kept: Option<unsafe extern "C" fn(user: *mut c_void, item: u64, queue: i32, sanctioned: u8)>,
}

/// Number of a queue.
pub(crate) fn number_of(queue: ServiceQueue) -> u8 {
    ServiceQueue::ALL.iter().zip(0..).find_map(|(one, number)| (*one == queue).then_some(number)).unwrap_or_default()
}

/// The queue of that number.
pub(crate) fn queue_of(number: u8) -> Option<ServiceQueue> {
    ServiceQueue::ALL.get(usize::from(number)).copied()
}

/// Number of a reason.
pub(crate) fn reason_of(reason: Reason) -> u8 {
    Reason::ALL.iter().zip(0..).find_map(|(one, number)| (*one == reason).then_some(number)).unwrap_or(SJQ_DESTROYED)
}

impl sjq_meta {
    pub(crate) fn of(meta: &Meta) -> Self {
        Self {
            length: meta.length,
            flow_hash: meta.flow_hash,
            mac_overhead: meta.mac_overhead,
            dscp: meta.dscp,
            ecn: meta.ecn.bits(),
            pure_ack: u8::from(meta.pure_ack),
            queue: number_of(meta.queue),
            host: meta.host,
        }
    }

    /// Returns the properties, if each field has a valid value.
    pub(crate) fn read(&self) -> Option<Meta> {
        let is_good = self.length > 0 && self.dscp < 64 && self.ecn < 4 && self.pure_ack < 2;
        is_good.then_some(())?;
        Some(Meta {
            length: self.length,
            flow_hash: self.flow_hash,
            mac_overhead: self.mac_overhead,
            host: self.host,
            dscp: self.dscp,
            ecn: Ecn::from_bits(self.ecn),
            pure_ack: self.pure_ack == 1,
            queue: queue_of(self.queue)?,
        })
    }
}
