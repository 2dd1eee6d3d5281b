//! Sources and destinations of packets: the two ends of the emulated link.

use crate::segment::Offload;
use sojourn_base::Direction;
use std::io::{self, IoSlice};

/// One end of the link: a TUN device, an interface, or a script.
///
/// A unit is the link-layer header, if the ends have one ([`crate::Plan::link_header`]), and the IP packet. The
/// kernel's offload request stands beside it, as [`Offload`].
pub trait Port {
    /// Reads at most `most` units that wait, and hands each to `receive` before it reads the next: the unit's time of
    /// arrival is taken there. A unit is a packet, or a superpacket of several segments. Returns how many there were,
    /// fewer than `most` if nothing waits any more; never blocks.
    ///
    /// # Errors
    /// If the device is gone.
    fn read_batch(&mut self, most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize>;

    /// Writes one unit, whose bytes are those of `parts` one after the other; never blocks.
    ///
    /// # Errors
    /// If the device did not take it: the unit is lost, outside the model. The pump counts it, and ends the run
    /// if there are more than a hundred in a second.
    fn write(&mut self, offload: Offload, parts: &[IoSlice<'_>]) -> io::Result<()>;

    /// Returns the device's counters since it was opened. Read once a second.
    fn counters(&mut self) -> PortCounters {
        PortCounters::default()
    }
}

/// Counters of a device since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets that were dropped before we could read them, for instance `tx_dropped` of a TUN device or the drops of
    /// `PACKET_STATISTICS`: losses that no model knows of.
    pub lost: u64,
    /// Frames that were left out because they have a VLAN tag, which the emulator does not carry; not among the lost.
    pub tagged: u64,
}

/// Something for each end of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends<T> {
    /// The subscriber's end: packets read there go upstream.
    pub inside: T,
    /// The servers' end: packets read there go downstream.
    pub far: T,
}

impl<T> Ends<T> {
    /// Returns the end that packets of `direction` come from.
    pub const fn source(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Upstream => &mut self.inside,
            Direction::Downstream => &mut self.far,
        }
    }

    /// Returns the end that packets of `direction` go to.
    pub const fn sink(&mut self, direction: Direction) -> &mut T {
        self.source(direction.reversed())
    }
}
