//! TCP of smoltcp as a stack of Sojourn: IPv4 packets of 1500 B under simulated time.
//!
//! Source: smoltcp 0.14. Deviations from its defaults: buffers of 4 MiB, so that they limit nothing. Its clock has steps of 1 us.
//! It tells neither its window nor its round trip, and has no ECN.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, RecvError, Socket, SocketBuffer, State as Phase};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use sojourn_stack::{Endpoint, Options, Read, Stack, State, Then, export_stack};
use std::collections::VecDeque;
use std::ffi::CStr;

/// Bytes of a buffer. chosen: 100 Mb/s times 300 ms.
const BUFFER: usize = 4 << 20;

const CLIENT: (Ipv4Address, u16) = (Ipv4Address::new(10, 0, 0, 1), 49152);
const SERVER: (Ipv4Address, u16) = (Ipv4Address::new(10, 0, 0, 2), 443);

struct Smoltcp;

impl Stack for Smoltcp {
    const HEADERS: u32 = 0;
    const CONTROLLERS: &'static CStr = c"cubic reno none";

    fn open(options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        let control = match options.controller.as_str() {
            "" | "cubic" => CongestionControl::Cubic,
            "reno" => CongestionControl::Reno,
            "none" => CongestionControl::None,
            _ => return None,
        };
        let mut wire = Wire::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = options.seed;
        let mut interface = Interface::new(config, &mut wire, instant(now));
        let own = if options.is_server { SERVER.0 } else { CLIENT.0 };
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(IpAddress::Ipv4(own), 24)).expect("room for one address");
        });
        let mut socket = Socket::new(SocketBuffer::new(vec![0; BUFFER]), SocketBuffer::new(vec![0; BUFFER]));
        socket.set_congestion_control(control);
        if options.is_server {
            socket.listen(SERVER.1).expect("a port");
        } else {
            socket.connect(interface.context(), SERVER, CLIENT.1).expect("an address and a port");
        }
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        Some(Box::new(End { wire, interface, sockets, handle, now, written: 0, was_connected: false, has_closed: false }))
    }
}

export_stack!(Smoltcp);

fn instant(now: u64) -> Instant {
    Instant::from_micros(i64::try_from(now / 1000).unwrap_or(i64::MAX))
}

/// Packets that have arrived, and those to send.
#[derive(Default)]
struct Wire {
    arrived: VecDeque<Vec<u8>>,
    to_send: VecDeque<Vec<u8>>,
}

impl Device for Wire {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Sent<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Sent(&mut self.to_send)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.to_send))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities
    }
}

struct Arrived(Vec<u8>);

impl phy::RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.0.push_back(packet);
        result
    }
}

struct End {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    /// Time of the last call.
    now: u64,
    written: u64,
    was_connected: bool,
    has_closed: bool,
}

impl End {
    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: u64) {
        self.now = now;
        self.interface.poll(instant(now), &mut self.wire, &mut self.sockets);
        self.was_connected |= self.socket().may_send();
    }
}

impl Endpoint for End {
    fn datagram(&mut self, now: u64, bytes: &[u8], _ecn: u8) {
        self.wire.arrived.push_back(bytes.to_vec());
        self.poll(now);
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        if self.wire.to_send.is_empty() {
            self.poll(now);
        }
        let packet = self.wire.to_send.pop_front()?;
        buffer.get_mut(..packet.len())?.copy_from_slice(&packet);
        Some((packet.len(), 0))
    }

    fn timeout(&mut self) -> Option<u64> {
        let due = self.interface.poll_at(instant(self.now), &self.sockets)?;
        let due = u64::try_from(due.total_micros()).unwrap_or(0);
        Some(due.max(self.now / 1000 + 1) * 1000)
    }

    fn write(&mut self, _now: u64, _stream: u32, bytes: &[u8], _fin: bool) -> usize {
        if !self.was_connected || !self.socket().can_send() {
            return 0;
        }
        let taken = self.socket().send_slice(bytes).unwrap_or(0);
        self.written += taken as u64;
        taken
    }

    fn read(&mut self, _now: u64, _stream: u32, buffer: &mut [u8]) -> Read {
        match self.socket().recv_slice(buffer) {
            Ok(bytes) => Read { bytes, then: Then::More },
            Err(RecvError::Finished) => Read { bytes: 0, then: Then::Closed },
            Err(RecvError::InvalidState) => Read::default(),
        }
    }

    fn close(&mut self, _now: u64) {
        self.has_closed = true;
        self.socket().close();
    }

    fn state(&self) -> State {
        let socket: &Socket<'_> = self.sockets.get(self.handle);
        let phase = socket.state();
        State {
            acknowledged: self.written - socket.send_queue() as u64,
            is_connected: self.was_connected,
            is_finished: self.has_closed && matches!(phase, Phase::FinWait2 | Phase::TimeWait | Phase::Closed),
            has_failed: phase == Phase::Closed && !self.has_closed,
            ..State::default()
        }
    }
}
