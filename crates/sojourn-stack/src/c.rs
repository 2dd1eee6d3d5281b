//! The interface in C, version 1: names and layout are those of `sojourn_stack.h`, which a test compares.
//!
//! [`table`] makes the table of a [`Stack`], for libraries; [`Library`] calls a table, for programs that load them.
#![expect(unsafe_code, reason = "pointers of C are read; each block says what makes that right")]

use crate::{Endpoint, Options, Read, Stack, State, Then};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_void};
use core::ptr::NonNull;

/// Version of the interface.
pub const SJE_STACK_ABI: u32 = 1;

/// No time.
pub const SJE_NEVER: u64 = u64::MAX;

/// Options of a new end; see [`Options`].
#[repr(C)]
#[derive(Debug)]
pub struct sje_options {
    /// Bytes of this struct.
    pub size: u32,
    /// 1 for the end that waits.
    pub is_server: u8,
    /// 1 if packets may be ECN-capable.
    pub ecn: u8,
    /// Zero.
    pub pad: [u8; 2],
    /// Origin of all random numbers.
    pub seed: u64,
    /// Word of the controller, ended by a zero.
    pub controller: *const c_char,
}

/// One end now; see [`State`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct sje_state {
    /// Bytes of this struct.
    pub size: u32,
    /// Bits: 1 connected, 2 finished, 4 failed.
    pub flags: u32,
    /// Bytes that may be in flight.
    pub window: u64,
    /// Slow-start threshold in bytes.
    pub threshold: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round trip.
    pub smoothed_ns: u64,
    /// Rate of pacing.
    pub pacing_bps: u64,
    /// Packets found lost.
    pub lost: u64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// The controller's state.
    pub phase: [u8; 32],
}

const CONNECTED: u32 = 1;
const FINISHED: u32 = 2;
const FAILED: u32 = 4;

/// Calls of a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "see `Endpoint` for what they do")]
pub struct sje_stack {
    pub size: u32,
    pub abi: u32,
    pub headers: u32,
    pub pad: u32,
    pub controllers: *const c_char,
    pub open: Option<unsafe extern "C" fn(*const sje_options, u64) -> *mut c_void>,
    pub datagram: Option<unsafe extern "C" fn(*mut c_void, u64, *const u8, usize, u8)>,
    pub transmit: Option<unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut u8) -> usize>,
    pub timeout: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    pub write: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *const u8, usize, u8) -> usize>,
    pub read: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *mut u8, usize, *mut u8) -> usize>,
    pub close: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    pub state: Option<unsafe extern "C" fn(*const c_void, *mut sje_state)>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the pointer of the word list is to text that never changes.
unsafe impl Sync for sje_stack {}
// SAFETY: as above.
unsafe impl Send for sje_stack {}

/// Exports a [`Stack`] as `sje_stack_v1`.
#[macro_export]
macro_rules! export_stack {
    ($stack:ty) => {
        /// The table of this library.
        #[unsafe(no_mangle)]
        pub extern "C" fn sje_stack_v1() -> *const $crate::c::sje_stack {
            $crate::c::table::<$stack>()
        }
    };
}

/// The table of a library in Rust. A panic in one of its calls ends the process, with its message.
pub fn table<S: Stack>() -> &'static sje_stack {
    const {
        &sje_stack {
            size: size_u32::<sje_stack>(),
            abi: SJE_STACK_ABI,
            headers: S::HEADERS,
            pad: 0,
            controllers: S::CONTROLLERS.as_ptr(),
            open: Some(open::<S>),
            datagram: Some(datagram),
            transmit: Some(transmit),
            timeout: Some(timeout),
            write: Some(write),
            read: Some(read),
            close: Some(close),
            state: Some(state),
            destroy: Some(destroy),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "structs of some hundred bytes")]
const fn size_u32<T>() -> u32 {
    size_of::<T>() as u32
}

/// An end behind a thin pointer.
type Held = Box<dyn Endpoint>;

/// The end behind a pointer of the caller.
///
/// # Safety
/// The pointer is one that `open` returned, and no other reference to the end is in use.
unsafe fn held<'a>(state: *mut c_void) -> &'a mut Held {
    // SAFETY: as above.
    unsafe { &mut *state.cast::<Held>() }
}

unsafe extern "C" fn open<S: Stack>(options: *const sje_options, now: u64) -> *mut c_void {
    // SAFETY: the caller hands over options of this version, whose word ends with a zero.
    let (told, word) = unsafe { (&*options, CStr::from_ptr((*options).controller)) };
    let Ok(word) = word.to_str() else {
        return core::ptr::null_mut();
    };
    let options =
        Options { is_server: told.is_server != 0, seed: told.seed, controller: word.to_owned(), ecn: told.ecn != 0 };
    S::open(&options, now).map_or(core::ptr::null_mut(), |end| Box::into_raw(Box::new(end)).cast())
}

unsafe extern "C" fn datagram(end: *mut c_void, now: u64, bytes: *const u8, length: usize, ecn: u8) {
    // SAFETY: the caller hands over an end, and `length` bytes that do not change during the call.
    unsafe { held(end).datagram(now, core::slice::from_raw_parts(bytes, length), ecn) }
}

unsafe extern "C" fn transmit(end: *mut c_void, now: u64, buffer: *mut u8, room: usize, ecn: *mut u8) -> usize {
    // SAFETY: the caller hands over an end, `room` bytes, and one for the ECN field.
    unsafe {
        held(end).transmit(now, core::slice::from_raw_parts_mut(buffer, room)).map_or(0, |(bytes, field)| {
            *ecn = field;
            bytes
        })
    }
}

unsafe extern "C" fn timeout(end: *mut c_void) -> u64 {
    // SAFETY: the caller hands over an end.
    unsafe { held(end).timeout().unwrap_or(SJE_NEVER) }
}

unsafe extern "C" fn write(end: *mut c_void, now: u64, stream: u32, bytes: *const u8, length: usize, fin: u8) -> usize {
    // SAFETY: as in `datagram`.
    unsafe { held(end).write(now, stream, core::slice::from_raw_parts(bytes, length), fin != 0) }
}

unsafe extern "C" fn read(
    end: *mut c_void,
    now: u64,
    stream: u32,
    buffer: *mut u8,
    room: usize,
    then: *mut u8,
) -> usize {
    // SAFETY: as in `transmit`.
    unsafe {
        let read = held(end).read(now, stream, core::slice::from_raw_parts_mut(buffer, room));
        *then = match read.then {
            Then::More => 0,
            Then::NextStream => 1,
            Then::Closed => 2,
        };
        read.bytes
    }
}

unsafe extern "C" fn close(end: *mut c_void, now: u64) {
    // SAFETY: the caller hands over an end.
    unsafe { held(end).close(now) }
}

unsafe extern "C" fn state(end: *const c_void, told: *mut sje_state) {
    // SAFETY: the caller hands over an end, and a struct of this version.
    let state = unsafe { (*end.cast::<Held>()).state() };
    let bit = |is_set, bit| if is_set { bit } else { 0 };
    let flags = bit(state.is_connected, CONNECTED) | bit(state.is_finished, FINISHED) | bit(state.has_failed, FAILED);
    // SAFETY: as above.
    unsafe {
        *told = sje_state {
            size: size_u32::<sje_state>(),
            flags,
            window: state.window,
            threshold: state.threshold,
            in_flight: state.in_flight,
            smoothed_ns: state.smoothed,
            pacing_bps: state.pacing_rate,
            lost: state.lost,
            acknowledged: state.acknowledged,
            phase: state.phase,
        };
    }
}

unsafe extern "C" fn destroy(end: *mut c_void) {
    // SAFETY: the caller hands over an end for the last time.
    drop(unsafe { Box::from_raw(end.cast::<Held>()) });
}

/// Declares the calls of a library, none of which is missing.
macro_rules! calls {
    ($($name:ident: $call:ty,)*) => {
        /// A library of others, through its table.
        #[derive(Clone, Copy, Debug)]
        pub struct Library {
            headers: u32,
            controllers: &'static str,
            $($name: $call,)*
        }

        impl Library {
            /// Reads the table of a library.
            ///
            /// # Errors
            /// A sentence if it has another version, or a call is missing.
            ///
            /// # Safety
            /// `table` is null, or points to a table that its library returned, and the library stays loaded.
            pub unsafe fn read(table: *const sje_stack) -> Result<Self, String> {
                // SAFETY: size and version stand at the start of every version.
                let Some((size, abi)) = (unsafe { table.as_ref() }).map(|table| (table.size, table.abi)) else {
                    return Err("sje_stack_v1 returned no table".into());
                };
                if abi != SJE_STACK_ABI || size < size_u32::<sje_stack>() {
                    return Err(format!(
                        "version {abi} of the interface in {size} bytes; this is version {SJE_STACK_ABI} with {}",
                        size_of::<sje_stack>()
                    ));
                }
                // SAFETY: it has the size of this version.
                let calls = unsafe { &*table };
                let controllers = if calls.controllers.is_null() {
                    ""
                } else {
                    // SAFETY: the text ends with a zero, and stays.
                    unsafe { CStr::from_ptr(calls.controllers) }.to_str().map_err(|_| "controllers is no text")?
                };
                Ok(Self {
                    headers: calls.headers,
                    controllers,
                    $($name: calls.$name.ok_or(concat!("it has no ", stringify!($name)))?,)*
                })
            }
        }
    };
}

calls! {
    open: unsafe extern "C" fn(*const sje_options, u64) -> *mut c_void,
    datagram: unsafe extern "C" fn(*mut c_void, u64, *const u8, usize, u8),
    transmit: unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut u8) -> usize,
    timeout: unsafe extern "C" fn(*mut c_void) -> u64,
    write: unsafe extern "C" fn(*mut c_void, u64, u32, *const u8, usize, u8) -> usize,
    read: unsafe extern "C" fn(*mut c_void, u64, u32, *mut u8, usize, *mut u8) -> usize,
    close: unsafe extern "C" fn(*mut c_void, u64),
    state: unsafe extern "C" fn(*const c_void, *mut sje_state),
    destroy: unsafe extern "C" fn(*mut c_void),
}

impl Library {
    /// See [`Stack::HEADERS`].
    pub const fn headers(&self) -> u32 {
        self.headers
    }

    /// See [`Stack::CONTROLLERS`].
    pub fn controllers(&self) -> impl Iterator<Item = &'static str> {
        self.controllers.split_ascii_whitespace()
    }

    /// See [`Stack::open`].
    pub fn open_end(&self, options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        let word = alloc::ffi::CString::new(options.controller.as_str()).ok()?;
        let told = sje_options {
            size: size_u32::<sje_options>(),
            is_server: options.is_server.into(),
            ecn: options.ecn.into(),
            pad: [0; 2],
            seed: options.seed,
            controller: word.as_ptr(),
        };
        // SAFETY: the options live as long as the call; the library is loaded, by the promise of `read`.
        let end = NonNull::new(unsafe { (self.open)(&raw const told, now) })?;
        Some(Box::new(Opened { calls: *self, end }))
    }
}

/// An end of a library.
struct Opened {
    calls: Library,
    end: NonNull<c_void>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the end was returned by `open`, and this is its last call.
        unsafe { (self.calls.destroy)(self.end.as_ptr()) }
    }
}

impl Endpoint for Opened {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        // SAFETY: the end is alive, and so are the bytes during the call.
        unsafe { (self.calls.datagram)(self.end.as_ptr(), now, bytes.as_ptr(), bytes.len(), ecn) }
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        let mut ecn = 0;
        let room = buffer.len();
        // SAFETY: as above.
        let bytes = unsafe { (self.calls.transmit)(self.end.as_ptr(), now, buffer.as_mut_ptr(), room, &raw mut ecn) };
        (bytes > 0).then_some((bytes, ecn))
    }

    fn timeout(&mut self) -> Option<u64> {
        // SAFETY: the end is alive.
        let at = unsafe { (self.calls.timeout)(self.end.as_ptr()) };
        (at != SJE_NEVER).then_some(at)
    }

    fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        // SAFETY: as in `datagram`.
        unsafe { (self.calls.write)(self.end.as_ptr(), now, stream, bytes.as_ptr(), bytes.len(), fin.into()) }
    }

    fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        let mut then = 0;
        let (place, room) = (buffer.as_mut_ptr(), buffer.len());
        // SAFETY: as in `datagram`.
        let bytes = unsafe { (self.calls.read)(self.end.as_ptr(), now, stream, place, room, &raw mut then) };
        let then = match then {
            0 => Then::More,
            1 => Then::NextStream,
            _ => Then::Closed,
        };
        Read { bytes, then }
    }

    fn close(&mut self, now: u64) {
        // SAFETY: the end is alive.
        unsafe { (self.calls.close)(self.end.as_ptr(), now) }
    }

    fn state(&self) -> State {
        let mut told = sje_state { size: size_u32::<sje_state>(), ..sje_state::default() };
        // SAFETY: as in `datagram`.
        unsafe { (self.calls.state)(self.end.as_ptr(), &raw mut told) };
        State {
            window: told.window,
            threshold: told.threshold,
            in_flight: told.in_flight,
            smoothed: told.smoothed_ns,
            pacing_rate: told.pacing_bps,
            lost: told.lost,
            acknowledged: told.acknowledged,
            is_connected: told.flags & CONNECTED != 0,
            is_finished: told.flags & FINISHED != 0,
            has_failed: told.flags & FAILED != 0,
            phase: told.phase,
        }
    }
}
