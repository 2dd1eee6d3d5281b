//! A stack of smoltcp sends datagrams through the line.

use super::*;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Medium, RxToken};
use smoltcp::socket::udp;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

/// A device that keeps what is sent.
#[derive(Default)]
struct Wire(Vec<Vec<u8>>);

struct Keep<'a>(&'a mut Wire);

impl TxToken for Keep<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = vec![0; length];
        let filled = fill(&mut frame);
        self.0.0.push(frame);
        filled
    }
}

struct Never;

impl RxToken for Never {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&[])
    }
}

impl Device for Wire {
    type RxToken<'a> = Never;
    type TxToken<'a> = Keep<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Never, Keep<'_>)> {
        None
    }

    fn transmit(&mut self, _: Instant) -> Option<Keep<'_>> {
        Some(Keep(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.max_transmission_unit = 1500;
        capabilities.medium = Medium::Ip;
        capabilities
    }
}

/// Ten datagrams of 1000 B with their headers, sent at once through a line of 8 Mb/s: a millisecond each.
fn sent(manager: &str) -> (Vec<(i64, usize)>, u64) {
    let rate = BitRate::from_mbps(8);
    let config = ManagerConfig::from_line(manager, rate).expect("a line");
    let mut device = Shaped::new(Wire::default(), rate, &config);
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::ZERO);
    interface.update_ip_addrs(|addresses| {
        let _ = addresses.push(IpCidr::new(IpAddress::v4(10, 0, 0, 1), 24));
    });
    let buffer = || {
        udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 16], vec![0; 16_384])
    };
    let mut socket = udp::Socket::new(buffer(), buffer());
    socket.bind(5000).expect("a port");
    for _ in 0..10 {
        socket.send_slice(&[7; 972], (IpAddress::v4(10, 0, 0, 2), 6000)).expect("room");
    }
    let mut sockets = SocketSet::new(vec![]);
    sockets.add(socket);
    let (mut now, mut log) = (Instant::ZERO, Vec::new());
    interface.poll(now, &mut device, &mut sockets);
    loop {
        let before = device.device.0.len();
        device.serve(now);
        let more = device.device.0.len() - before;
        if more > 0 {
            log.push((now.total_micros(), more));
        }
        match device.next_due() {
            Some(due) if due.total_micros() < 20_000 => now = due,
            _ => return (log, device.dropped()),
        }
    }
}

#[test]
fn packets_leave_one_by_one_at_the_rate_of_the_line() {
    let (log, dropped) = sent("drop-tail limit=\"100 packets\"");
    let expected: Vec<(i64, usize)> = (0..10).map(|number| (1000 * number, 1)).collect();
    assert_eq!((log, dropped), (expected, 0));
}

#[test]
fn what_does_not_fit_is_dropped() {
    let (log, dropped) = sent("drop-tail limit=\"4 packets\"");
    assert_eq!((log.len(), dropped), (4, 6));
}

#[test]
fn updates_of_a_manager_are_due_between_packets() {
    let (log, _) = sent("pie update_interval=1500us");
    assert_eq!(log.len(), 10);
}

#[test]
fn a_mark_is_written_with_its_checksum() {
    let mut packet = vec![0; 20];
    packet[0] = 0x45;
    packet[1] = 2;
    packet[3] = 20;
    congestion_experienced(&mut packet);
    let header = smoltcp::wire::Ipv4Packet::new_checked(&packet[..]).expect("a header");
    assert_eq!((header.ecn(), header.verify_checksum()), (3, true));
    assert_eq!(meta_of(&packet).ecn, Ecn::Ce);
}
