//! One connection of the inside, carried on by a connection of the host.

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, getsockopt, setsockopt, socket, sockopt,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;

/// Bytes that wait in the relay on their way in one direction. chosen: what one read of a fast connection brings.
const ROOM: usize = 256 * 1024;

/// Begins to connect from outside, as the caller's own program would.
pub(super) fn begin(to: SocketAddr) -> nix::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::TcpNoDelay, &true)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(socket)),
        Err(error) => Err(error),
    }
}

/// Returns true if a connection is established, once it is writable.
pub(super) fn is_connected(stream: &TcpStream) -> bool {
    getsockopt(stream, sockopt::SocketError) == Ok(0)
}

/// Bytes on their way from one connection to the other.
#[derive(Debug)]
struct Half {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    /// The sender has sent its last byte.
    is_over: bool,
    /// The receiver knows of the end.
    is_shut: bool,
}

impl Half {
    fn new() -> Self {
        Self { bytes: vec![0; ROOM].into_boxed_slice(), start: 0, end: 0, is_over: false, is_shut: false }
    }

    fn wants_input(&self) -> bool {
        !self.is_over && self.end < ROOM
    }

    fn wants_output(&self) -> bool {
        self.start < self.end
    }

    /// Moves what can be moved; false if a connection failed.
    fn pump(&mut self, mut from: &TcpStream, mut to: &TcpStream) -> bool {
        if self.wants_input() {
            match from.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.end += count,
                Err(error) if is_later(error.kind()) => {}
                Err(_) => return false,
            }
        }
        if self.wants_output() {
            match to.write(&self.bytes[self.start..self.end]) {
                Ok(count) => self.start += count,
                Err(error) if is_later(error.kind()) => {}
                Err(_) => return false,
            }
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.is_over && !self.is_shut {
                self.is_shut = true;
                let _ = to.shutdown(Shutdown::Write);
            }
        }
        true
    }
}

fn is_later(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A connection and what carries it on.
#[derive(Debug)]
pub(super) struct Relayed {
    /// That of the far end's kernel with the inside.
    pub near: TcpStream,
    /// That of the host.
    pub away: TcpStream,
    up: Half,
    down: Half,
}

impl Relayed {
    pub(super) fn new(near: TcpStream, away: TcpStream) -> Self {
        let _ = near.set_nonblocking(true);
        let _ = near.set_nodelay(true);
        Self { near, away, up: Half::new(), down: Half::new() }
    }

    /// Returns the events to poll for on either stream.
    pub(super) fn interests(&self) -> (PollFlags, PollFlags) {
        let flags = |input: &Half, output: &Half| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::POLLIN, input.wants_input());
            flags.set(PollFlags::POLLOUT, output.wants_output());
            flags
        };
        (flags(&self.up, &self.down), flags(&self.down, &self.up))
    }

    /// Moves what can be moved; false if it is over.
    pub(super) fn pump(&mut self) -> bool {
        let up = self.up.pump(&self.near, &self.away);
        let down = self.down.pump(&self.away, &self.near);
        if !(up && down) {
            // Resets both: the other end must learn of the failure, not take it for the end of the stream.
            for stream in [&self.near, &self.away] {
                let _ = setsockopt(stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
            }
            return false;
        }
        !(self.up.is_shut && self.down.is_shut)
    }
}
