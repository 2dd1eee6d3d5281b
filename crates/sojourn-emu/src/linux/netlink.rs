//! Requests to the kernel's network configuration, for the namespace of the calling thread: one message, one answer.
//!
//! # Source
//! RFC 3549; Linux, include/uapi/linux/{netlink,rtnetlink,if_link,if_addr}.h.

use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// A socket of the namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
}

/// Metrics of a route, for the connections over it.
#[derive(Clone, Debug, Default)]
pub struct RouteMetrics {
    /// Congestion controller; the namespace's own if there is none.
    pub congestion_control: Option<String>,
    /// True if connections request ECN.
    pub ecn: bool,
}

/// Kind of a route (`RTN_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// Out of the device.
    Unicast,
    /// To this host.
    Local,
}

/// State of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Kind of its hardware (`ARPHRD_*`).
    pub kind: u16,
    pub(super) flags: u32,
    /// Bytes of its longest packet.
    pub mtu: u32,
    /// Number of the bridge or bond that it is part of; 0 if it is alone.
    pub master: u32,
}

impl Link {
    /// Returns true if the interface is up.
    pub fn is_up(self) -> bool {
        self.flags & libc::IFF_UP as u32 != 0
    }

    /// Returns true if the interface has a carrier.
    pub fn is_connected(self) -> bool {
        self.is_up() && self.flags & libc::IFF_RUNNING as u32 != 0
    }

    /// An answer of the kind `RTM_NEWLINK`: `struct nlmsghdr`, `struct ifinfomsg`, attributes; with the interface's number.
    fn read(answer: &[u8]) -> Option<(u32, Self)> {
        let two = |at: usize| Some(u16::from_ne_bytes(answer.get(at..at + 2)?.try_into().ok()?));
        let four = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
        if two(4)? != libc::RTM_NEWLINK {
            return None;
        }
        let mut link = Self { kind: two(HEADER + 2)?, flags: four(HEADER + 8)?, ..Self::default() };
        let mut at = HEADER + LINK_BODY;
        while let (Some(length), Some(kind)) = (two(at), two(at + 2)) {
            match kind {
                libc::IFLA_MTU => link.mtu = four(at + 4)?,
                libc::IFLA_MASTER => link.master = four(at + 4)?,
                _ => {}
            }
            at += usize::from(length.max(4)).next_multiple_of(4);
        }
        Some((four(HEADER + 4)?, link))
    }
}

/// `NLM_F_REQUEST` of linux/netlink.h.
const REQUEST: u16 = 1;
/// Bytes of `struct ifinfomsg`.
const LINK_BODY: usize = 16;
/// Longest description of an interface. chosen: statistics of a card with some hundred queues.
const LONGEST_LINK: usize = 64 << 10;

/// `NLM_F_REQUEST | NLM_F_ACK` of linux/netlink.h.
const ASK: u16 = 1 | 4;
/// `NLM_F_CREATE | NLM_F_REPLACE` of linux/netlink.h.
const REPLACE: u16 = 0x400 | 0x100;
/// `RTAX_CC_ALGO` of linux/rtnetlink.h.
const RTAX_CC_ALGO: u16 = 16;
/// `RTAX_FEATURES` of linux/rtnetlink.h.
const RTAX_FEATURES: u16 = 12;
/// `RTAX_FEATURE_ECN` of linux/rtnetlink.h.
const RTAX_FEATURE_ECN: u32 = 1;
/// `TC_H_ROOT` of linux/pkt_sched.h.
const TC_H_ROOT: u32 = u32::MAX;

impl Netlink {
    /// Opens a socket.
    ///
    /// # Errors Those of `socket`.
    pub fn open() -> io::Result<Self> {
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
        Ok(Self { socket })
    }

    /// Switches an interface on, with its MTU and the length of its ring where they are given.
    ///
    /// # Errors
    /// The kernel's answer, here and below.
    pub fn set_up(&self, index: u32, mtu: Option<u32>, queue: Option<u32>) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.link(index, libc::IFF_UP as u32, libc::IFF_UP as u32);
        if let Some(mtu) = mtu {
            message.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        if let Some(queue) = queue {
            message.attribute(libc::IFLA_TXQLEN, &queue.to_ne_bytes());
        }
        self.ask(message)
    }

    /// Asks for what an interface is.
    pub fn link(&self, index: u32) -> io::Result<Link> {
        let mut message = Message::new(libc::RTM_GETLINK, 0);
        message.link(index, 0, 0);
        self.link_asked_by(message).map(|(_, link)| link)
    }

    /// The number of an interface in the namespace of this socket, wherever the calling thread is.
    pub fn index_of(&self, name: &str) -> io::Result<u32> {
        let mut message = Message::new(libc::RTM_GETLINK, 0);
        message.link(0, 0, 0);
        let name = [name.as_bytes(), &[0]].concat();
        message.attribute(libc::IFLA_IFNAME, &name);
        self.link_asked_by(message).map(|(index, _)| index)
    }

    fn link_asked_by(&self, message: Message) -> io::Result<(u32, Link)> {
        let mut bytes = message.finish();
        bytes[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &bytes, &kernel, MsgFlags::empty())?;
        let mut answer = vec![0_u8; LONGEST_LINK];
        let length = recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        match Link::read(&answer[..length]) {
            Some(link) => Ok(link),
            None => Err(match error_of(&answer[..length]) {
                Err(error) => error,
                Ok(()) => io::Error::from(io::ErrorKind::InvalidData),
            }),
        }
    }

    /// Gives an interface to the namespace of a descriptor.
    pub fn move_to(&self, index: u32, namespace: RawFd) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.link(index, 0, 0);
        message.attribute(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes());
        self.ask(message)
    }

    /// Gives an interface an address.
    pub fn add_address(&self, index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWADDR, REPLACE);
        let flags = u8::try_from(libc::IFA_F_NODAD).expect("of linux/if_addr.h, below 256");
        message.bytes.extend([family(address), prefix, flags, 0]);
        message.bytes.extend(index.to_ne_bytes());
        message.address(libc::IFA_LOCAL, address);
        message.address(libc::IFA_ADDRESS, address);
        self.ask(message)
    }

    /// Adds a route by way of an interface: to one prefix, or of everything of a family.
    pub fn add_route(
        &self,
        index: u32,
        (destination, prefix): (IpAddr, u8),
        kind: RouteKind,
        metrics: &RouteMetrics,
    ) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE, REPLACE);
        let (table, scope, route_type) = match kind {
            RouteKind::Unicast => (libc::RT_TABLE_MAIN, libc::RT_SCOPE_LINK, libc::RTN_UNICAST),
            // Asked after the main table, so that what has a route of its own goes that way.
            RouteKind::Local => (libc::RT_TABLE_DEFAULT, libc::RT_SCOPE_HOST, libc::RTN_LOCAL),
        };
        message.bytes.extend([family(destination), prefix, 0, 0, table, libc::RTPROT_STATIC, scope, route_type]);
        message.bytes.extend(0_u32.to_ne_bytes());
        if prefix > 0 {
            message.address(libc::RTA_DST, destination);
        }
        message.attribute(libc::RTA_OIF, &index.to_ne_bytes());
        if metrics.congestion_control.is_some() || metrics.ecn {
            message.nested(libc::RTA_METRICS, |message| {
                if metrics.ecn {
                    message.attribute(RTAX_FEATURES, &RTAX_FEATURE_ECN.to_ne_bytes());
                }
                if let Some(name) = &metrics.congestion_control {
                    let mut bytes = name.clone().into_bytes();
                    bytes.push(0);
                    message.attribute(RTAX_CC_ALGO, &bytes);
                }
            });
        }
        self.ask(message)
    }

    /// Replaces the queueing discipline of an interface by none.
    pub fn without_queue(&self, index: u32) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWQDISC, REPLACE);
        message.bytes.extend([0, 0, 0, 0]);
        message.bytes.extend(index.to_ne_bytes());
        message.bytes.extend(0_u32.to_ne_bytes()); // handle
        message.bytes.extend(TC_H_ROOT.to_ne_bytes()); // parent
        message.bytes.extend(0_u32.to_ne_bytes()); // info
        message.attribute(libc::TCA_KIND, b"noqueue\0");
        self.ask(message)
    }

    /// Sends a message and waits for its answer.
    fn ask(&self, message: Message) -> io::Result<()> {
        let bytes = message.finish();
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &bytes, &kernel, MsgFlags::empty())?;
        let mut answer = [0_u8; 4096];
        let length = recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        error_of(&answer[..length])
    }
}

/// Returns the result of an answer: an error message whose number is 0 means success.
fn error_of(answer: &[u8]) -> io::Result<()> {
    let number = |at: usize| -> Option<[u8; 4]> { answer.get(at..at + 4)?.try_into().ok() };
    let kind = answer.get(4..6).map(|two| u16::from_ne_bytes([two[0], two[1]]));
    match (kind.map(i32::from), number(HEADER)) {
        (Some(libc::NLMSG_ERROR), Some(code)) => match i32::from_ne_bytes(code) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(-code)),
        },
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// `AF_INET` or `AF_INET6` of linux/socket.h.
const fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 2,
        IpAddr::V6(_) => 10,
    }
}

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;

/// A message that is being put together: header, body, attributes.
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; 4]; // length, when it is known
        bytes.extend(kind.to_ne_bytes());
        bytes.extend((flags | ASK).to_ne_bytes());
        bytes.extend([0; 8]); // sequence, port
        Self { bytes }
    }

    /// The body of a message about a link: `struct ifinfomsg`.
    fn link(&mut self, index: u32, flags: u32, change: u32) {
        self.bytes.extend([0, 0, 0, 0]);
        self.bytes.extend(index.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.bytes.extend(change.to_ne_bytes());
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |message| message.bytes.extend(value));
    }

    fn address(&mut self, kind: u16, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.attribute(kind, &address.octets()),
            IpAddr::V6(address) => self.attribute(kind, &address.octets()),
        }
    }

    /// An attribute whose value `fill` writes.
    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend(kind.to_ne_bytes());
        fill(self);
        let length = u16::try_from(self.bytes.len() - start).expect("attributes are short");
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len()).expect("messages are short");
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_attribute_counts_its_header_and_is_padded_to_four_bytes() {
        let mut message = Message::new(libc::RTM_NEWROUTE, 0);
        message.nested(8, |message| message.attribute(16, b"reno\0"));
        let bytes = message.finish();
        // Outer: 4 + inner 9, padded to 12 = 16; with the header of the message 32.
        assert_eq!(bytes[..4], 32_u32.to_ne_bytes());
        assert_eq!(bytes[HEADER..HEADER + 4], [16, 0, 8, 0]);
        assert_eq!(bytes[HEADER + 4..], *b"\x09\0\x10\0reno\0\0\0\0");
    }

    #[test]
    fn a_link_is_read_with_what_stands_among_its_attributes() {
        let mut answer = Message::new(libc::RTM_NEWLINK, 0);
        // Family, padding, kind; number; flags; change.
        answer.bytes.extend([0, 0]);
        answer.bytes.extend(libc::ARPHRD_ETHER.to_ne_bytes());
        answer.bytes.extend(9_u32.to_ne_bytes());
        let flags = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        answer.bytes.extend(flags.to_ne_bytes());
        answer.bytes.extend([0; 4]);
        answer.attribute(libc::IFLA_IFNAME, b"eth1\0");
        answer.attribute(libc::IFLA_MTU, &1400_u32.to_ne_bytes());
        answer.attribute(libc::IFLA_MASTER, &4_u32.to_ne_bytes());
        let bytes = answer.finish();
        let (index, link) = Link::read(&bytes).unwrap();
        assert_eq!((index, link.kind), (9, libc::ARPHRD_ETHER));
        assert_eq!((link.mtu, link.master), (1400, 4));
        assert!(link.is_up() && link.is_connected());
        for end in 0..bytes.len() {
            let _ = Link::read(&bytes[..end]);
        }
    }

    #[test]
    fn an_answer_with_a_number_is_the_error_of_that_number() {
        let mut answer = [0_u8; 20];
        answer[4] = 2; // NLMSG_ERROR
        assert!(error_of(&answer).is_ok());
        answer[16..].copy_from_slice(&(-libc::EPERM).to_ne_bytes());
        assert_eq!(error_of(&answer).unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert!(error_of(&answer[..10]).is_err());
    }
}
