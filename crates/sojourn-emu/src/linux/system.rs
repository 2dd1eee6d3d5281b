//! The system calls that no safe wrapper covers: the one file of this crate with `unsafe`.
#![expect(
    unsafe_code,
    reason = "system calls without a safe wrapper in nix; each block says why it is sound"
)]

use nix::sys::signal::{SigAction, Signal, sigaction};
use nix::unistd::{ForkResult, fork};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Names a TUN device that is being opened, and says how it passes packets (`TUNSETIFF`).
pub(super) fn attach_tun(device: RawFd, name: &str, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: all bytes zero is a value of this C struct of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).expect("flags have 16 bits");
    // SAFETY: the kernel reads and writes one ifreq, which outlives the call.
    let result = unsafe { libc::ioctl(device, libc::TUNSETIFF, &raw mut request) };
    status(result)
}

/// Says which superpackets a TUN device hands over (`TUNSETOFFLOAD`).
pub(super) fn set_tun_offloads(device: RawFd, offloads: libc::c_uint) -> io::Result<()> {
    // SAFETY: the argument is a number; nothing is read or written through it.
    status(unsafe { libc::ioctl(device, libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)) })
}

/// Timers of this thread fire as exactly as the clock allows; normal ones are up to 50 µs late on purpose.
pub(super) fn exact_timers() {
    // SAFETY: changes a number of this thread. It cannot fail with a slack of 1 ns.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// Schedules this thread before all normal ones; what it starts is scheduled normally.
pub(super) fn schedule_first(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: 0 is the calling thread; the kernel reads one sched_param.
    status(unsafe {
        libc::sched_setscheduler(
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            &raw const parameters,
        )
    })
}

/// Schedules this thread as any other.
pub(super) fn schedule_normally() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: as in `schedule_first`; less priority is always allowed.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}

/// Whether a thread is scheduled before all normal ones, by its number.
pub(super) fn is_real_time(thread: i32) -> bool {
    // SAFETY: asks for a number by a number.
    let policy = unsafe { libc::sched_getscheduler(thread) };
    policy >= 0
        && [libc::SCHED_FIFO, libc::SCHED_RR].contains(&(policy & !libc::SCHED_RESET_ON_FORK))
}

/// Keeps what is mapped now in memory; returns whether the system allows it.
pub(super) fn lock_memory() -> bool {
    // SAFETY: pages stay in memory; no pointer is passed. Only what is mapped now: with `MCL_FUTURE` and a limit, a later
    // allocation would fail.
    unsafe { libc::mlockall(libc::MCL_CURRENT) == 0 }
}

/// Lets pages go to disk again.
pub(super) fn unlock_memory() {
    // SAFETY: no pointer is passed.
    unsafe { libc::munlockall() };
}

/// Runs `child` in a copy of this process, which ends with what it returns, and returns the copy's number.
///
/// The child has one thread. It may allocate: the C library's allocator is put in order after a fork. It must not take a
/// lock that another thread may have held.
pub(super) fn in_child(child: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: the child runs `child` alone and leaves by `_exit`: it returns to no frame of its parent, and runs no
    // handler that was registered for exit. What it may do is said above.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child.as_raw()),
        ForkResult::Child => {
            let status =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(101);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(status) }
        }
    }
}

/// What a signal does to this process from now on.
pub(super) fn set_handler(signal: Signal, action: &SigAction) {
    // SAFETY: the actions are those of the system, no code of ours runs in a handler. It fails for signals that cannot be
    // handled, which is what is wanted of them.
    let _ = unsafe { sigaction(signal, action) };
}

/// Lets a socket of IPv6 listen at addresses that are no interface's (`IPV6_TRANSPARENT`).
pub(super) fn accept_any_address6(socket: &OwnedFd) -> nix::Result<()> {
    let yes: libc::c_int = 1;
    // SAFETY: the kernel reads one int.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IPV6,
            libc::IPV6_TRANSPARENT,
            (&raw const yes).cast(),
            4,
        )
    };
    nix::errno::Errno::result(result).map(|_| ())
}

/// Takes over descriptors that a message brought.
pub(super) fn adopt(descriptors: &[RawFd]) -> Vec<OwnedFd> {
    descriptors
        .iter()
        // SAFETY: the kernel has just made each of them for this process, and nobody else knows it.
        .map(|descriptor| unsafe { OwnedFd::from_raw_fd(*descriptor) })
        .collect()
}

fn status(result: libc::c_int) -> io::Result<()> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
