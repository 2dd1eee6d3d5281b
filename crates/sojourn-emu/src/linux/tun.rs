//! A TUN device: what the stack of one network namespace sends and receives as IP packets.
//!
//! # Source
//! Linux, Documentation/networking/tuntap.rst and include/uapi/linux/if_tun.h; the header before each packet is that of
//! virtio (Virtual I/O Device 1.2, 5.1.6).

use super::system;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Path of the TUN clone device.
pub const DEVICE: &str = "/dev/net/tun";

/// Superpackets of TCP that the stack may hand over: partial sums, both families, marked ones (if_tun.h, `TUN_F_*`).
const TCP_OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;

/// Superpackets of UDP, from Linux 6.2 on.
const UDP_OFFLOADS: libc::c_uint = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// Which superpackets a device hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Superpackets {
    /// None: each packet takes a place of the device's ring.
    Off,
    /// Of TCP.
    Tcp,
    /// Of TCP and UDP.
    TcpAndUdp,
}

impl Superpackets {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Tcp => "tcp",
            Self::TcpAndUdp => "tcp+udp",
        }
    }

    /// Returns the meaning of the word; unknown words are `Off`.
    pub(super) fn of(word: Option<&str>) -> Self {
        [Self::Tcp, Self::TcpAndUdp].into_iter().find(|kind| Some(kind.as_str()) == word).unwrap_or(Self::Off)
    }
}

/// Opens a device of this name in the network namespace of the calling thread.
///
/// # Errors Those of `open` or an ioctl of the device.
pub fn open(name: &str, wanted: Superpackets) -> io::Result<(OwnedFd, Superpackets)> {
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(DEVICE)?;
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    system::attach_tun(file.as_raw_fd(), name, flags)?;
    let offload = switch_on(&file, wanted)?;
    Ok((file.into(), offload))
}

/// Asks for superpackets of UDP too, and for less where the kernel is older.
fn switch_on(file: &File, wanted: Superpackets) -> io::Result<Superpackets> {
    let device = file.as_raw_fd();
    if wanted == Superpackets::TcpAndUdp && system::set_tun_offloads(device, TCP_OFFLOADS | UDP_OFFLOADS).is_ok() {
        return Ok(Superpackets::TcpAndUdp);
    }
    if wanted == Superpackets::Off {
        system::set_tun_offloads(device, 0)?;
        return Ok(Superpackets::Off);
    }
    system::set_tun_offloads(device, TCP_OFFLOADS)?;
    Ok(Superpackets::Tcp)
}
