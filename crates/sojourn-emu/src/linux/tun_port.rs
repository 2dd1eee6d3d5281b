//! A TUN device as an end of the link.

use super::unit;
use crate::port::{Port, PortCounters};
use crate::segment::Offload;
use nix::unistd::read;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// Reads and writes a device, and counts its losses.
#[derive(Debug)]
pub struct TunPort {
    device: OwnedFd,
    name: &'static str,
    /// `/proc/net/dev` of its namespace.
    counters: File,
    unit: Box<[u8]>,
    /// Kept between two looks at the counters.
    text: Box<[u8]>,
}

impl TunPort {
    /// An end of the link over a device of this name, with the counters of its namespace.
    pub fn new(device: OwnedFd, name: &'static str, counters: File) -> Self {
        Self {
            device,
            name,
            counters,
            unit: vec![0; unit::LONGEST].into_boxed_slice(),
            text: vec![0; 4096].into_boxed_slice(),
        }
    }
}

impl AsFd for TunPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Port for TunPort {
    fn read_batch(&mut self, most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize> {
        let mut count = 0;
        while count < most {
            let length = match read(&self.device, &mut self.unit) {
                Ok(length) => length,
                Err(nix::Error::EAGAIN | nix::Error::EINTR) => break,
                Err(error) => return Err(error.into()),
            };
            count += 1;
            unit::read(&self.unit[..length], receive);
        }
        Ok(count)
    }

    fn write(&mut self, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
        unit::write(&self.device, offload, parts)
    }

    fn counters(&mut self) -> PortCounters {
        let length = self.counters.read_at(&mut self.text, 0).unwrap_or(0);
        let text = std::str::from_utf8(&self.text[..length]).unwrap_or("");
        PortCounters { lost: dropped(text, self.name).unwrap_or(0), tagged: 0 }
    }
}

/// Returns the packets of a device in `/proc/net/dev` that its stack dropped before they were read (proc_pid_net(5)).
fn dropped(text: &str, device: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| {
        let (name, numbers) = line.trim_start().split_once(':')?;
        (name == device).then_some(numbers)
    })?;
    // Eight columns of what was received; then bytes, packets, errors, drops of what was sent.
    line.split_whitespace().nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drops_of_a_device_are_those_of_what_its_stack_sent() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
                    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
                    lo:       1       2    3    4    5     6          7         8        9      10   11   12   13    14      15         16\n  \
                    sub0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(dropped(text, "sub0"), Some(32));
        assert_eq!(dropped(text, "sub"), None);
    }
}
