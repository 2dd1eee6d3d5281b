//! TCP of the kernel as ends of simulated connections, in a guest whose clock stands while anything computes.
//!
//! Each connection has two hosts: network namespaces with a socket and a TUN device. The simulation reads the packets that a
//! host sends, carries them, and writes them to the device of the other host. Its time is the guest's: [`Kernel::wait`] sleeps
//! until the next simulated event unless a device or a socket has something before.
//!
//! Source: Linux, include/uapi/linux/tcp.h (`struct tcp_info`), Documentation/networking/tuntap.rst, epoll(7); RFC 791 section 3.1,
//! RFC 1624 (checksum of a header whose ECN field has changed). Deviations: hosts keep no metrics of earlier connections
//! (`tcp_no_metrics_save`), so that connections of one run do not know each other; devices cut no superpackets, so the kernel does.

use super::namespace::{self, Failed, named, number};
use super::netlink::{Netlink, RouteKind, RouteMetrics};
use super::tun::{self, Superpackets};
use super::{system, unit};
use crate::segment::Offload;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, SockaddrIn, accept4, bind, connect, listen, recv,
    send, setsockopt, shutdown, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::read;
use sojourn_stack::{Endpoint, Options, Read, State, Then};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Time zero of a run is a multiple of this of the guest's clock. chosen: longer than a guest takes to start a run, so that what
/// it does before has no part in it.
const BEGINS_AT_NS: u64 = 10_000_000_000;

/// Bytes of the longest packet: that of Ethernet, and of the models.
const MTU: u32 = 1500;

/// Places of a device's ring. chosen: a window of 24 MB that is sent at once, which is more than the kernel's buffers hold.
const RING: u32 = 16_384;

/// Port of servers. chosen: that of iperf3.
const SERVER_PORT: u16 = 5201;

/// First port of clients; each connection has the next.
const FIRST_CLIENT_PORT: u16 = 20_000;

/// Pairs of hosts that are made before time zero. chosen: connections of usual scenarios; a further one is made when it is needed,
/// and the guest's time that this takes passes within the run.
const PREPARED: usize = 4;

/// Name of a host's device.
const DEVICE: &str = "net0";

/// Something to read from the device; from the socket; room in the socket; something new in the connection's state.
const PACKETS: u8 = 1;
const BYTES: u8 = 2;
const ROOM: u8 = 4;
const NEWS: u8 = 8;

/// A namespace with its device.
#[derive(Debug)]
struct Host {
    namespace: File,
    device: OwnedFd,
    address: Ipv4Addr,
    peer: Ipv4Addr,
    /// Calls that need not wait: bits of `PACKETS`, `BYTES`, `ROOM` and `NEWS`.
    ready: AtomicU8,
    /// Connections that it has had.
    used: AtomicU32,
    is_taken: AtomicU8,
}

/// Enters namespaces in which this process may make others; before it has a second thread.
///
/// # Errors The step that failed.
pub fn enter() -> Result<(), Failed> {
    namespace::enter(nix::unistd::getuid().as_raw(), nix::unistd::getgid().as_raw())
}

/// The kernel of the guest, with the hosts of a run.
#[derive(Debug)]
pub struct Kernel {
    /// The namespace of the run itself.
    home: File,
    epoll: Epoll,
    /// Client and server of each connection, in turn.
    hosts: Mutex<Vec<Arc<Host>>>,
    /// The guest's time at time zero of the run.
    began: OnceLock<u64>,
    /// Ends are to be called that were not.
    is_pending: AtomicU8,
}

fn clock() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
    time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_nsec().cast_unsigned()
}

fn span(ns: u64) -> TimeSpec {
    // At most a minute, so that the number fits everywhere.
    let ns = ns.min(60_000_000_000).cast_signed();
    TimeSpec::new(ns / 1_000_000_000, ns % 1_000_000_000)
}

impl Kernel {
    /// The kernel that this process runs on, after [`enter`].
    ///
    /// # Errors The step that failed.
    pub fn new() -> Result<Self, Failed> {
        Ok(Self {
            home: File::open("/proc/thread-self/ns/net").map_err(named("namespaces"))?,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(number("poll"))?,
            hosts: Mutex::new(Vec::new()),
            began: OnceLock::new(),
            is_pending: AtomicU8::new(0),
        })
    }

    /// Time since the run began, in ns; the first call waits for the beginning.
    fn now(&self) -> u64 {
        let began = self.began.get_or_init(|| {
            system::exact_timers();
            let begins = clock().next_multiple_of(BEGINS_AT_NS);
            let _ = ppoll(&mut [], Some(span(begins - clock())), None);
            begins
        });
        clock().saturating_sub(*began)
    }

    /// Lets the kernel run until `until`; earlier, returns the time at which ends have something to send or to tell.
    pub fn wait(&self, until: u64) -> Option<u64> {
        let now = self.now();
        if until <= now {
            return None;
        }
        if self.is_pending.swap(0, Relaxed) == 0 {
            let mut polled = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
            if ppoll(&mut polled, Some(span(until - now)), None) == Ok(0) {
                return None;
            }
            self.collect();
        }
        let at = self.now();
        if at >= until {
            self.is_pending.store(1, Relaxed);
            return None;
        }
        Some(at)
    }

    /// Notes which hosts have something.
    fn collect(&self) {
        let mut events = [EpollEvent::empty(); 64];
        let count = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        for event in &events[..count] {
            let Some(host) = usize::try_from(event.data() / 2).ok().and_then(|number| hosts.get(number)) else {
                continue;
            };
            // A socket whose connection has failed tells that to the next call.
            host.ready.fetch_or(if event.data() % 2 == 0 { PACKETS } else { ROOM | BYTES | NEWS }, Relaxed);
        }
    }

    /// Opens an end.
    pub fn open(self: &Arc<Self>, options: &Options, _now: u64) -> Option<Box<dyn Endpoint>> {
        let mut end = End {
            kernel: Arc::clone(self),
            options: options.clone(),
            host: None,
            client_port: 0,
            listener: None,
            socket: None,
            written: 0,
            has_closed: false,
            has_failed: false,
            peer_ends: false,
            state: RefCell::new(State::default()),
            packet: vec![0; unit::LONGEST],
        };
        if !options.is_server {
            let (place, host) = self.host_of_client(options.ecn).ok()?;
            end.client_port = FIRST_CLIENT_PORT + u16::try_from(host.used.fetch_add(1, Relaxed) % 40_000).ok()?;
            end.host = Some((place, Arc::clone(&host)));
            end.connect(&host).ok()?;
        }
        Some(Box::new(end))
    }

    /// Makes a pair of hosts, which takes the guest some time.
    fn add_pair(&self, hosts: &mut Vec<Arc<Host>>) -> Result<(), Failed> {
        let place = hosts.len();
        let pair = u16::try_from(place / 2).map_err(|_| ("hosts", libc::EMFILE))?;
        let [high, low] = pair.to_be_bytes();
        let [client, server] = [1, 2].map(|side| Ipv4Addr::new(10, high, low, side));
        for (side, (address, peer)) in [(client, server), (server, client)].into_iter().enumerate() {
            let host = self.make_host(address, peer)?;
            let event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 2 * (place + side) as u64);
            self.epoll.add(&host.device, event).map_err(number("poll"))?;
            hosts.push(Arc::new(host));
        }
        Ok(())
    }

    /// Returns a pair of hosts without a connection, by the number and the host of the client.
    fn host_of_client(&self, ecn: bool) -> Result<(usize, Arc<Host>), Failed> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        while self.began.get().is_none() && hosts.len() < 2 * PREPARED {
            self.add_pair(&mut hosts)?;
        }
        let is_free = |host: &Arc<Host>| host.is_taken.load(Relaxed) == 0;
        let free = hosts.chunks(2).position(|pair| pair.iter().all(is_free));
        let place = 2 * free.unwrap_or(hosts.len() / 2);
        if free.is_none() {
            self.add_pair(&mut hosts)?;
        }
        let host = Arc::clone(&hosts[place]);
        drop(hosts);
        host.is_taken.store(1, Relaxed);
        // 2 is the kernel's own default: agree to ECN, ask for none.
        let asks = if ecn { "1" } else { "2" };
        self.within(&host, || fs::write("/proc/sys/net/ipv4/tcp_ecn", asks).map_err(named("ecn")))?;
        self.now();
        Ok((place, host))
    }

    fn host_of_server(&self, address: Ipv4Addr) -> Option<(usize, Arc<Host>)> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let place = hosts.iter().position(|host| host.address == address)?;
        let host = Arc::clone(&hosts[place]);
        drop(hosts);
        host.is_taken.store(1, Relaxed);
        Some((place, host))
    }

    /// A namespace with a device that leads to `peer`.
    fn make_host(&self, address: Ipv4Addr, peer: Ipv4Addr) -> Result<Host, Failed> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
        let made = Self::furnish(address, peer);
        setns(&self.home, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
        made
    }

    /// Makes the namespace that the thread is in a host.
    fn furnish(address: Ipv4Addr, peer: Ipv4Addr) -> Result<Host, Failed> {
        let namespace = File::open("/proc/thread-self/ns/net").map_err(named("namespaces"))?;
        let (device, _) = tun::open(DEVICE, Superpackets::Off).map_err(named("tun"))?;
        // No router solicitations: the device carries the connection's packets alone.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6"), "1");
        fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1").map_err(named("metrics"))?;
        let netlink = Netlink::open().map_err(named("netlink"))?;
        let index = if_nametoindex(DEVICE).map_err(number("device"))?;
        netlink.set_up(index, Some(MTU), Some(RING)).map_err(named("device"))?;
        netlink.without_queue(index).map_err(named("queue"))?;
        netlink.add_address(index, IpAddr::V4(address), 32).map_err(named("addresses"))?;
        let metrics = RouteMetrics::default();
        netlink.add_route(index, (peer.into(), 32), RouteKind::Unicast, &metrics).map_err(named("routes"))?;
        let (ready, used, is_taken) = (AtomicU8::new(0), AtomicU32::new(0), AtomicU8::new(0));
        Ok(Host { namespace, device, address, peer, ready, used, is_taken })
    }

    /// Does `work` in the namespace of a host.
    fn within<T>(&self, host: &Host, work: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
        setns(&host.namespace, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
        let done = work();
        setns(&self.home, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
        done
    }

    /// A socket of a host with a controller, bound to a port.
    fn socket(&self, host: &Host, controller: &str, port: u16) -> Result<OwnedFd, Failed> {
        self.within(host, || {
            let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
            let made = socket(AddressFamily::Inet, SockType::Stream, flags, None).map_err(number("socket"))?;
            setsockopt(&made, sockopt::ReuseAddr, &true).map_err(number("socket"))?;
            if !controller.is_empty() {
                let name = OsString::from(controller);
                setsockopt(&made, sockopt::TcpCongestion, &name).map_err(number("congestion control"))?;
            }
            let address = SockaddrIn::from(std::net::SocketAddrV4::new(host.address, port));
            bind(made.as_raw_fd(), &address).map_err(number("socket"))?;
            Ok(made)
        })
    }

    /// [`Self::wait`] looks for room in a socket, and for its failure. Bytes come with packets only, which the run has written.
    fn watch(&self, socket: &OwnedFd, place: usize) -> Result<(), Failed> {
        let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        self.epoll.add(socket, EpollEvent::new(flags, 2 * place as u64 + 1)).map_err(number("poll"))
    }
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    kernel: Arc<Kernel>,
    options: Options,
    /// The host and its number; a server's is known from the first packet on.
    host: Option<(usize, Arc<Host>)>,
    client_port: u16,
    listener: Option<OwnedFd>,
    socket: Option<OwnedFd>,
    written: u64,
    has_closed: bool,
    has_failed: bool,
    /// A packet had a FIN.
    peer_ends: bool,
    state: RefCell<State>,
    packet: Vec<u8>,
}

impl End {
    fn connect(&mut self, host: &Host) -> Result<(), Failed> {
        // What an earlier connection has left.
        while read(&host.device, &mut self.packet).is_ok() {}
        let made = self.kernel.socket(host, &self.options.controller, self.client_port)?;
        let place = self.host.as_ref().map_or(0, |(place, _)| *place);
        self.kernel.watch(&made, place)?;
        let server = SockaddrIn::from(std::net::SocketAddrV4::new(host.peer, SERVER_PORT));
        match connect(made.as_raw_fd(), &server) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(error) => return Err(("connect", error as i32)),
        }
        host.ready.store(PACKETS, Relaxed);
        self.socket = Some(made);
        Ok(())
    }

    /// A server learns from the first packet which host it is on, and listens there.
    fn attend(&mut self, packet: &[u8]) -> Option<()> {
        let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
        let (place, host) = self.kernel.host_of_server(Ipv4Addr::from(address))?;
        while read(&host.device, &mut self.packet).is_ok() {}
        self.client_port = ports(packet)?.0;
        let listener = self.kernel.socket(&host, &self.options.controller, SERVER_PORT).ok()?;
        listen(&listener, Backlog::new(1).ok()?).ok()?;
        host.ready.store(0, Relaxed);
        (self.listener, self.host) = (Some(listener), Some((place, host)));
        Some(())
    }

    fn accept(&mut self) {
        let (Some(listener), Some((place, _))) = (&self.listener, &self.host) else {
            return;
        };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        if let Ok(descriptor) = accept4(listener.as_raw_fd(), flags)
            && let Some(socket) = system::adopt(&[descriptor]).pop()
        {
            self.has_failed |= self.kernel.watch(&socket, *place).is_err();
            self.socket = Some(socket);
        }
    }

    fn ready(&self) -> Option<&AtomicU8> {
        self.host.as_ref().map(|(_, host)| &host.ready)
    }

    fn is_ready(&self, what: u8) -> bool {
        self.ready().is_some_and(|ready| ready.load(Relaxed) & what != 0)
    }

    fn note(&self, what: u8) {
        if let Some(ready) = self.ready() {
            ready.fetch_or(what | NEWS, Relaxed);
        }
    }

    fn forget(&self, what: u8) {
        if let Some(ready) = self.ready() {
            ready.fetch_and(!what, Relaxed);
        }
    }

    /// Returns true if a packet that the host sends is of this connection.
    fn is_own(&self, packet: &[u8]) -> bool {
        let Some((source, destination)) = ports(packet) else {
            return false;
        };
        if self.options.is_server { destination == self.client_port } else { source == self.client_port }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some((_, host)) = &self.host {
            host.is_taken.store(0, Relaxed);
        }
    }
}

/// Source and destination port of an IPv4 packet of TCP.
fn ports(packet: &[u8]) -> Option<(u16, u16)> {
    const TCP: u8 = 6;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != TCP {
        return None;
    }
    let header = usize::from(packet[0] & 15) * 4;
    let port = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    Some((port(header)?, port(header + 2)?))
}

/// Returns true if an IPv4 packet of TCP has a FIN.
fn has_fin(packet: &[u8]) -> bool {
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    packet.get(header + 13).is_some_and(|flags| flags & 1 != 0)
}

/// Sets the ECN field of an IPv4 packet, with its checksum (RFC 1624, equation 3).
fn set_ecn(packet: &mut [u8], ecn: u8) {
    if packet.len() < 12 || packet[1] & 3 == ecn {
        return;
    }
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] = packet[1] & !3 | ecn;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    let sum = u16::from_be_bytes([packet[10], packet[11]]);
    let mut total = u32::from(!sum) + u32::from(!old) + u32::from(new);
    total = (total & 0xffff) + (total >> 16);
    total = (total & 0xffff) + (total >> 16);
    let sum = !u16::try_from(total).expect("carries were added");
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

impl Endpoint for End {
    fn datagram(&mut self, _now: u64, bytes: &[u8], ecn: u8) {
        if self.host.is_none() && self.attend(bytes).is_none() {
            self.has_failed = true;
            return;
        }
        let Some((_, host)) = &self.host else {
            return;
        };
        self.packet[..bytes.len()].copy_from_slice(bytes);
        set_ecn(&mut self.packet[..bytes.len()], ecn);
        // A host without room in its ring loses the packet, as a full interface does.
        let _ = unit::write(&host.device, Offload::default(), &[IoSlice::new(&self.packet[..bytes.len()])]);
        self.peer_ends |= has_fin(bytes);
        self.note(PACKETS | BYTES);
        if self.options.is_server && self.socket.is_none() {
            self.accept();
        }
    }

    fn transmit(&mut self, _now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        while self.is_ready(PACKETS) {
            let (_, host) = self.host.as_ref()?;
            let Ok(length) = read(&host.device, &mut self.packet) else {
                self.forget(PACKETS);
                return None;
            };
            let packet = self.packet.get(Offload::BYTES..length)?;
            if self.is_own(packet) && packet.len() <= buffer.len() {
                buffer[..packet.len()].copy_from_slice(packet);
                self.note(0);
                return Some((packet.len(), packet[1] & 3));
            }
        }
        None
    }

    fn timeout(&mut self) -> Option<u64> {
        None // the kernel has timers of its own
    }

    fn write(&mut self, _now: u64, _stream: u32, bytes: &[u8], _fin: bool) -> usize {
        let (Some(socket), true) = (&self.socket, self.is_ready(ROOM)) else {
            return 0;
        };
        match send(socket.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
            Ok(taken) => {
                self.written += taken as u64;
                self.note(PACKETS);
                taken
            }
            Err(error) => {
                self.forget(ROOM);
                self.has_failed |= error != Errno::EAGAIN;
                0
            }
        }
    }

    fn read(&mut self, _now: u64, _stream: u32, buffer: &mut [u8]) -> Read {
        let (Some(socket), true) = (&self.socket, self.is_ready(BYTES)) else {
            return Read::default();
        };
        match recv(socket.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Read { bytes: 0, then: Then::Closed },
            Ok(bytes) => {
                self.note(PACKETS); // the window has opened
                if bytes < buffer.len() && !self.peer_ends {
                    self.forget(BYTES);
                }
                Read { bytes, then: Then::More }
            }
            Err(error) => {
                self.forget(BYTES);
                let waits = [Errno::EAGAIN, Errno::ENOTCONN].contains(&error);
                self.has_failed |= !waits;
                Read::default()
            }
        }
    }

    fn close(&mut self, _now: u64) {
        self.has_closed = true;
        if let Some(socket) = &self.socket {
            let _ = shutdown(socket.as_raw_fd(), Shutdown::Write);
        }
        self.note(PACKETS);
    }

    fn state(&self) -> State {
        // A receiver has nothing to tell.
        let known = self.state.borrow().is_connected && self.written == 0 && !self.has_closed;
        if let (Some(socket), true, false) = (&self.socket, self.is_ready(NEWS), known) {
            self.forget(NEWS);
            let mut info = [0; 256];
            if system::tcp_info(socket, &mut info).is_ok() {
                *self.state.borrow_mut() = self.read_state(&Info(&info));
            }
        }
        State { has_failed: self.has_failed || self.state.borrow().has_failed, ..*self.state.borrow() }
    }
}

/// `struct tcp_info` of linux/tcp.h, by the places of its fields: `tcpi_state` 0, `tcpi_ca_state` 1, `tcpi_snd_mss` 16,
/// `tcpi_unacked` 24, `tcpi_sacked` 28, `tcpi_lost` 32, `tcpi_retrans` 36, `tcpi_rtt` 68, `tcpi_snd_ssthresh` 76, `tcpi_snd_cwnd` 80,
/// `tcpi_total_retrans` 100, `tcpi_pacing_rate` 104 and `tcpi_bytes_acked` 120.
struct Info<'a>(&'a [u8; 256]);

impl Info<'_> {
    fn four(&self, at: usize) -> u64 {
        let bytes = self.0[at..at + 4].try_into().expect("four bytes");
        u64::from(u32::from_ne_bytes(bytes))
    }

    fn eight(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }
}

/// States of a connection (`TCP_ESTABLISHED` and others of net/tcp_states.h).
const SYN_SENT: u8 = 2;
const SYN_RECEIVED: u8 = 3;
const FIN_WAIT_2: u8 = 5;
const TIME_WAIT: u8 = 6;
const CLOSED: u8 = 7;

/// `TCP_INFINITE_SSTHRESH` of net/tcp.h.
const NO_THRESHOLD: u64 = 0x7fff_ffff;

impl End {
    fn read_state(&self, info: &Info<'_>) -> State {
        let phase = info.0[0];
        let segment = info.four(16);
        let (threshold, window) = (info.four(76), info.four(80));
        let flight = (info.four(24) + info.four(36)).saturating_sub(info.four(28) + info.four(32));
        // The kernel counts the client's SYN, too, and the end of what was sent.
        let acknowledged = info.eight(120).saturating_sub(u64::from(!self.options.is_server));
        let was_connected = self.state.borrow().is_connected;
        let mut state = State {
            window: window * segment,
            threshold: if threshold == NO_THRESHOLD { 0 } else { threshold * segment },
            in_flight: flight * segment,
            smoothed: info.four(68) * 1000,
            pacing_rate: info.eight(104).saturating_mul(8),
            lost: info.four(100),
            acknowledged: acknowledged.min(self.written),
            is_connected: was_connected || ![SYN_SENT, SYN_RECEIVED, CLOSED].contains(&phase),
            is_finished: self.has_closed && [FIN_WAIT_2, TIME_WAIT, CLOSED].contains(&phase),
            has_failed: phase == CLOSED && !self.has_closed,
            phase: [0; 32],
        };
        let word = ["open", "disorder", "cwr", "recovery", "loss"].get(usize::from(info.0[1])).unwrap_or(&"");
        state.phase[..word.len()].copy_from_slice(word.as_bytes());
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sum of a header over 16 bits, which is all ones if its checksum is right (RFC 1071).
    fn sum(header: &[u8]) -> u32 {
        let words = header.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
        let mut total: u32 = words.sum();
        while total >> 16 > 0 {
            total = (total & 0xffff) + (total >> 16);
        }
        total
    }

    proptest! {
        #[test]
        fn a_header_whose_ecn_field_has_changed_has_a_right_checksum(mut header: [u8; 20], ecn in 0_u8..4) {
            header[10..12].fill(0);
            let right = !u16::try_from(sum(&header)).expect("16 bits");
            header[10..12].copy_from_slice(&right.to_be_bytes());
            set_ecn(&mut header, ecn);
            prop_assert_eq!(header[1] & 3, ecn);
            prop_assert_eq!(sum(&header), 0xffff);
        }
    }

    #[test]
    fn ports_are_those_of_tcp_over_ipv4() {
        let mut packet = [0_u8; 40];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[20..24].copy_from_slice(&[0x4e, 0x20, 0x14, 0x51]);
        assert_eq!(ports(&packet), Some((20_000, 5201)));
        packet[9] = 17;
        assert_eq!(ports(&packet), None);
        for end in 0..packet.len() {
            let _ = ports(&packet[..end]);
        }
    }
}
