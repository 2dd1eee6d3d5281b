//! Datagrams: one socket of the host for each flow, the traffic class carried both ways.

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// One flow.
#[derive(Debug)]
pub(super) struct Flow {
    /// The socket that stands for it outside.
    pub socket: UdpSocket,
    /// Sender inside.
    pub from: SocketAddr,
    /// To whom, as it was sent: answers come from there.
    pub to: SocketAddr,
    /// Time of its last datagram, in s of the relay.
    pub used_at: u64,
}

impl Flow {
    /// A flow to `peer` outside, which is `to` for the inside.
    pub(super) fn open(from: SocketAddr, to: SocketAddr, peer: SocketAddr, now: u64) -> std::io::Result<Self> {
        let socket = if peer.is_ipv4() {
            UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?
        } else {
            UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?
        };
        socket.connect(peer)?;
        socket.set_nonblocking(true)?;
        if peer.is_ipv4() {
            setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        } else {
            setsockopt(&socket, sockopt::Ipv6RecvTClass, &true)?;
        }
        Ok(Self { socket, from, to, used_at: now })
    }

    /// Sends a datagram outside; one that the host does not take is lost, as datagrams are.
    pub(super) fn send(&mut self, payload: &[u8], class: u8, now: u64) {
        self.used_at = now;
        let parts = [IoSlice::new(payload)];
        let wide = i32::from(class);
        let control = if self.socket.local_addr().is_ok_and(|here| here.is_ipv4()) {
            [ControlMessage::Ipv4Tos(&class)]
        } else {
            [ControlMessage::Ipv6TClass(&wide)]
        };
        let flags = MsgFlags::MSG_DONTWAIT;
        let _ = sendmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &parts, &control, flags, None);
    }

    /// Takes one datagram that has come, with its traffic class.
    pub(super) fn receive<'a>(&mut self, room: &'a mut [u8], now: u64) -> Option<(&'a [u8], u8)> {
        let mut space = nix::cmsg_space!([libc::c_int; 2]);
        let (length, class) = {
            let mut parts = [IoSliceMut::new(room)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let socket = self.socket.as_raw_fd();
            let message = recvmsg::<SockaddrStorage>(socket, &mut parts, Some(&mut space), flags).ok()?;
            let class = message.cmsgs().ok().and_then(|mut all| {
                all.find_map(|control| match control {
                    ControlMessageOwned::Ipv4Tos(class) => Some(class),
                    ControlMessageOwned::Ipv6TClass(class) => u8::try_from(class).ok(),
                    _ => None,
                })
            });
            (message.bytes, class.unwrap_or(0))
        };
        self.used_at = now;
        Some((&room[..length], class))
    }
}
