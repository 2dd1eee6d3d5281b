//! Units as devices, packet sockets and the relay take them: a packet, or a superpacket, behind the header that tells which.
//!
//! Source: include/uapi/linux/virtio_net.h, see [`Offload`].

use crate::segment::Offload;
use crate::segment::join::MOST_JOINED;
use nix::sys::socket::{MsgFlags, sendmsg};
use nix::sys::uio::writev;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes of the longest unit: an IP packet of 16 bits' length with the header before it, and one more.
pub(super) const LONGEST: usize = Offload::BYTES + 65_535 + 1;

/// Most parts of a unit: its header, and those of a joined packet, which are its headers and one of each segment.
const MOST_PARTS: usize = 1 + 1 + MOST_JOINED;

/// Hands the parts of a unit to `write`, its header before them.
fn with_header<T>(offload: Offload, parts: &[IoSlice<'_>], write: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
    let header = offload.to_bytes();
    let mut all = [IoSlice::new(&[]); MOST_PARTS];
    all[0] = IoSlice::new(&header);
    all[1..=parts.len()].copy_from_slice(parts);
    write(&all[..=parts.len()])
}

/// Writes a unit, its header before its parts.
pub(super) fn write(to: impl AsFd, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
    with_header(offload, parts, |all| {
        loop {
            match writev(&to, all) {
                Ok(_) => return Ok(()),
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    })
}

/// Sends a unit as a datagram, its header before its parts; never blocks.
pub(super) fn send(to: &OwnedFd, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    with_header(offload, parts, |all| sendmsg::<()>(to.as_raw_fd(), all, &[], flags, None))?;
    Ok(())
}

/// Hands a unit that was read to `receive`; whether it could be read.
///
/// A superpacket of a kind that was not offered is not handed over: the kernel cuts it first.
pub(super) fn read(unit: &[u8], receive: &mut dyn FnMut(Offload, &[u8])) -> bool {
    let Some((header, packet)) = unit.split_first_chunk() else {
        return false;
    };
    let Some(offload) = Offload::read(*header) else {
        return false;
    };
    receive(offload, packet);
    true
}
