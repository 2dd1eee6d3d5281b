//! The system calls that no safe wrapper covers: the one file of this crate with `unsafe`.
#![expect(unsafe_code, reason = "system calls without a safe wrapper in nix; each block says why it is sound")]

use nix::sys::signal::{SigAction, Signal, sigaction};
use nix::unistd::{ForkResult, fork};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The request about an interface of this name, with zeros for the rest.
fn request_for(name: &str) -> libc::ifreq {
    // SAFETY: all bytes zero is a value of this C struct of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *to = libc::c_char::from_ne_bytes([from]); // signed on x86-64, unsigned on aarch64
    }
    request
}

/// Names a TUN device that is being opened, and says how it passes packets (`TUNSETIFF`).
pub(super) fn attach_tun(device: RawFd, name: &str, flags: libc::c_int) -> io::Result<()> {
    let mut request = request_for(name);
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

/// Schedules this thread before all normal ones; its children are scheduled normally.
pub(super) fn schedule_first(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread; the kernel reads one sched_param.
    status(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) })
}

/// Schedules this thread as any other.
pub(super) fn schedule_normally() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: as in `schedule_first`; less priority is always allowed.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}

/// Returns true if a thread has real-time priority.
pub(super) fn is_real_time(thread: i32) -> bool {
    // SAFETY: asks for a number by a number.
    let policy = unsafe { libc::sched_getscheduler(thread) };
    policy >= 0 && [libc::SCHED_FIFO, libc::SCHED_RR].contains(&(policy & !libc::SCHED_RESET_ON_FORK))
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

/// Runs `child` in a copy of this process, which exits with its result, and returns the copy's process number.
///
/// The child has one thread. It may allocate: the C library's allocator is put in order after a fork. It must not take a
/// lock that another thread may have held.
pub(super) fn in_child(child: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: the child runs `child` alone and leaves by `_exit`: it returns to no frame of its parent, and runs no
    // handler that was registered for exit. It must be async-signal-safe (see above).
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child.as_raw()),
        ForkResult::Child => {
            let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(101);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(status) }
        }
    }
}

/// Sets the action of a signal in this process.
pub(super) fn set_handler(signal: Signal, action: &SigAction) {
    // SAFETY: the actions are those of the system, no handler runs code of this program. It fails for signals that
    // cannot be handled, which is what is wanted of them.
    let _ = unsafe { sigaction(signal, action) };
}

/// Lets a socket of IPv6 listen at addresses that are no interface's (`IPV6_TRANSPARENT`).
pub(super) fn accept_any_address6(socket: &OwnedFd) -> nix::Result<()> {
    let yes: libc::c_int = 1;
    // SAFETY: the kernel reads one int.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IPV6, libc::IPV6_TRANSPARENT, (&raw const yes).cast(), 4)
    };
    nix::errno::Errno::result(result).map(|_| ())
}

/// Takes over descriptors that a message brought.
pub(super) fn adopt(descriptors: &[RawFd]) -> Vec<OwnedFd> {
    descriptors
        .iter()
        // SAFETY: the kernel has just made each of them for this process, and no other code owns it.
        .map(|descriptor| unsafe { OwnedFd::from_raw_fd(*descriptor) })
        .collect()
}

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h.
const CAPABILITIES_OF_64_BITS: u32 = 0x2008_0522;

/// Drops all capabilities of this process and of programs that it executes: user 0 keeps the rights of the owner of its files.
pub(super) fn drop_capabilities() -> io::Result<()> {
    for number in 0..libc::c_ulong::from(u64::BITS) {
        // SAFETY: the arguments are numbers. A capability that the kernel does not know is `EINVAL`, and ends the list.
        match status(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) }) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
            other => other?,
        }
    }
    let header = [CAPABILITIES_OF_64_BITS, 0];
    let none = [0_u32; 6];
    // SAFETY: the kernel reads a header of two words, of this thread, and two sets of three; both outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A socket for all frames of an interface, bound to it: with the header of superpackets before each, without the
/// host's own frames, in promiscuous mode as long as it is open. Written frames go to the driver at once: no queue of
/// the host holds them.
pub(super) fn packet_socket(interface: u32, buffer: usize) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: asks for a descriptor. Protocol 0: nothing arrives before it is bound.
    let socket = unsafe { libc::socket(libc::AF_PACKET, flags, 0) };
    status(socket)?;
    // SAFETY: the kernel has just made it, and no other code owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let packet = libc::SOL_PACKET;
    for option in [libc::PACKET_VNET_HDR, libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING, libc::PACKET_QDISC_BYPASS]
    {
        set_option(&socket, packet, option, &1_i32)?;
    }
    let bytes = libc::c_int::try_from(buffer).expect("a buffer has fewer than 2 GB");
    // Without the right to more than the system's limit there is as much as that allows.
    if set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes).is_err() {
        set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes)?;
    }
    let index = libc::c_int::try_from(interface).expect("numbers of interfaces are small");
    let membership = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: short(libc::PACKET_MR_PROMISC),
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(&socket, packet, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
    // SAFETY: all bytes zero is a value of this C struct of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = short(libc::AF_PACKET);
    address.sll_protocol = short(libc::ETH_P_ALL).to_be();
    address.sll_ifindex = index;
    // SAFETY: the kernel reads one sockaddr_ll of the given length.
    status(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length_of::<libc::sockaddr_ll>()) })?;
    Ok(socket)
}

/// Reads what the kernel tells of a connection (`TCP_INFO`, `struct tcp_info` of linux/tcp.h): as many bytes as it knows.
pub(super) fn tcp_info(socket: &OwnedFd, info: &mut [u8; 256]) -> io::Result<()> {
    let mut length = length_of::<[u8; 256]>();
    // SAFETY: the kernel writes as many bytes as the given length at most, which are those of `info`.
    status(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    })
}

/// The length of a T, as the system calls of sockets take it.
fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("these structs are short")
}

/// A constant of the C headers in the width of its field.
fn short(constant: libc::c_int) -> libc::c_ushort {
    libc::c_ushort::try_from(constant).expect("of linux/if_packet.h and if_ether.h, below 65536")
}

fn set_option<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads one T, of the given length.
    status(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const *value).cast(), length_of::<T>()) })
}

/// A frame that a packet socket has received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// Bytes of it with the header of superpackets; more than there was room for if it was cut off.
    pub(super) length: usize,
    /// True if it has a VLAN tag, which the kernel has removed from the bytes.
    pub(super) is_tagged: bool,
}

/// Receives a frame from a packet socket.
pub(super) fn receive_frame(socket: &OwnedFd, unit: &mut [u8]) -> io::Result<Arrived> {
    let mut part = libc::iovec { iov_base: unit.as_mut_ptr().cast(), iov_len: unit.len() };
    // Room for one control message, aligned as its header wants it.
    let mut control = [0_u64; 16];
    // SAFETY: all bytes zero is a value of this C struct of numbers and null pointers.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: all that the message points to outlives the call; the kernel writes within the lengths that it tells.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has filled the message, and its length of control says how far.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    let mut is_tagged = false;
    // SAFETY: not null, so it points into `control`, which is as long as a header at least.
    if let Some(header) = unsafe { first.as_ref() }
        && (header.cmsg_level, header.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA)
    {
        // SAFETY: a message of this kind holds one tpacket_auxdata; read unaligned.
        let told: libc::tpacket_auxdata =
            unsafe { libc::CMSG_DATA(first).cast::<libc::tpacket_auxdata>().read_unaligned() };
        is_tagged = told.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
    }
    Ok(Arrived { length, is_tagged })
}

/// Frames that a packet socket had no room for since it was asked last.
pub(super) fn packet_drops(socket: &OwnedFd) -> u32 {
    let mut told = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = length_of::<libc::tpacket_stats>();
    // SAFETY: the kernel writes one tpacket_stats at most, by the given length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut told).cast(),
            &raw mut length,
        )
    };
    if result == 0 { told.tp_drops } else { 0 }
}

/// `SIOCETHTOOL` of linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// `ETHTOOL_GFLAGS` and `ETH_FLAG_LRO` of linux/ethtool.h.
const ETHTOOL_GFLAGS: u32 = 0x25;
/// See [`ETHTOOL_GFLAGS`].
const ETH_FLAG_LRO: u32 = 1 << 15;

/// Returns true if an interface joins received packets in its hardware (large receive offload); false if unknown.
pub(super) fn joins_received(name: &str) -> bool {
    // SAFETY: asks for a descriptor.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket == -1 {
        return false;
    }
    // SAFETY: the kernel has just made it, and no other code owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let mut asked = [ETHTOOL_GFLAGS, 0]; // struct ethtool_value
    let mut request = request_for(name);
    request.ifr_ifru.ifru_data = asked.as_mut_ptr().cast();
    // SAFETY: the kernel reads one ifreq, and reads and writes the two words that it points to; both outlive the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    result == 0 && asked[1] & ETH_FLAG_LRO != 0
}

fn status(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
