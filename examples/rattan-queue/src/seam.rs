//! The interface of rattan to a queue of its bandwidth cells, as on its main branch: a packet comes without a time, and
//! is asked for at a time. A stand-in for the traits of rattan-core.

use std::time::Duration;

/// A packet of an emulator.
pub trait Packet {
    /// Bytes from the IP header on.
    fn l3_length(&self) -> usize;
    /// Returns its arrival at the cell, since the emulator began.
    fn timestamp(&self) -> Duration;
    /// Its first bytes, from the IP header on.
    fn header(&mut self) -> &mut [u8];
}

/// A queue of a bandwidth cell.
pub trait PacketQueue<P: Packet> {
    /// A packet has come.
    fn enqueue(&mut self, packet: P);
    /// The line is free at this time.
    fn dequeue_at(&mut self, timestamp: Duration) -> Option<P>;
    /// Returns true if no packet waits.
    fn is_empty(&self) -> bool;
    /// Returns true if no packet can wait.
    fn is_zero_buffer(&self) -> bool {
        false
    }
    /// Returns the bytes of a packet beyond those from the IP header on: 0, or 14 for Ethernet.
    fn get_extra_length(&self) -> usize {
        0
    }
}
