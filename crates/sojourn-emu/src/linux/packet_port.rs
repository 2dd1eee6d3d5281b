//! An Ethernet interface as an end of the link: frames as they are on the wire, superpackets among them.
//!
//! Source: Linux, packet(7) and include/uapi/linux/if_packet.h (`PACKET_VNET_HDR`, `PACKET_AUXDATA`); the header before each
//! frame is that of TUN devices.

use super::system::{self, Arrived};
use super::unit;
use crate::plan::ETHERNET_HEADER;
use crate::port::{Port, PortCounters};
use crate::segment::Offload;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes of frames that wait for us (specification of the emulator, section 7.4).
const RECEIVE_BUFFER: usize = 64 << 20;

/// Reads and writes an interface, and counts its losses.
#[derive(Debug)]
pub struct PacketPort {
    socket: OwnedFd,
    unit: Box<[u8]>,
    counted: PortCounters,
}

impl PacketPort {
    /// An end of the link over the interface of this number, in the network namespace of the calling thread.
    ///
    /// # Errors Those of the system; `EPERM` without the right to raw sockets.
    pub fn open(index: u32) -> io::Result<Self> {
        Ok(Self {
            socket: system::packet_socket(index, RECEIVE_BUFFER)?,
            unit: vec![0; unit::LONGEST + ETHERNET_HEADER].into_boxed_slice(),
            counted: PortCounters::default(),
        })
    }
}

impl AsFd for PacketPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Port for PacketPort {
    fn read_batch(&mut self, most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize> {
        let mut count = 0;
        while count < most {
            let Arrived { length, is_tagged } = match system::receive_frame(&self.socket, &mut self.unit) {
                Ok(arrived) => arrived,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EINTR) => break,
                    // A superpacket of a kind that the header cannot say: the kernel has thrown it away.
                    Some(libc::EINVAL) => {
                        count += 1;
                        self.counted.lost += 1;
                        continue;
                    }
                    _ => return Err(error),
                },
            };
            count += 1;
            if is_tagged {
                self.counted.tagged += 1;
                continue;
            }
            let whole = self.unit.get(..length);
            if !whole.is_some_and(|unit| unit::read(unit, receive)) {
                self.counted.lost += 1;
            }
        }
        Ok(count)
    }

    fn write(&mut self, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
        unit::write(&self.socket, offload, parts)
    }

    fn counters(&mut self) -> PortCounters {
        self.counted.lost += u64::from(system::packet_drops(&self.socket));
        self.counted
    }
}
