//! The far end of the link: its device, and beside it the relay.

use super::relay::is_relayed;
use super::tun_port::TunPort;
use super::unit;
use crate::plan::FarEnd;
use crate::port::{Port, PortCounters};
use crate::segment::Offload;
use nix::sys::socket::{MsgFlags, recv};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};

/// Gives the relay what is the Internet's, and the device the rest.
#[derive(Debug)]
pub struct FarPort {
    device: TunPort,
    relay: Option<OwnedFd>,
    far: Vec<FarEnd>,
    unit: Box<[u8]>,
}

impl FarPort {
    /// The far end over a device; `relay` is the socket to the relay, if there is an Internet.
    pub fn new(device: TunPort, relay: Option<OwnedFd>, far: Vec<FarEnd>) -> Self {
        Self { device, relay, far, unit: vec![0; unit::LONGEST].into_boxed_slice() }
    }
}

impl Port for FarPort {
    fn read_batch(&mut self, most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize> {
        let mut count = self.device.read_batch(most, receive)?;
        let Some(relay) = &self.relay else {
            return Ok(count);
        };
        while count < most {
            match recv(relay.as_raw_fd(), &mut self.unit, MsgFlags::MSG_DONTWAIT) {
                Ok(length) if length > 0 => {
                    count += 1;
                    unit::read(&self.unit[..length], receive);
                }
                _ => break,
            }
        }
        Ok(count)
    }

    fn write(&mut self, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let Some(relay) = &self.relay else {
            return self.device.write(offload, parts);
        };
        if !parts.first().is_some_and(|first| is_relayed(first, &self.far)) {
            return self.device.write(offload, parts);
        }
        unit::send(relay, offload, parts)
    }

    fn counters(&mut self) -> PortCounters {
        self.device.counters()
    }
}
