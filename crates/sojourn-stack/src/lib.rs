//! Transports without a socket, under a clock that their caller owns.
//!
//! An [`Endpoint`] is one end of a connection of a real library. Times are nanoseconds since the start of the run; they come
//! with each call and never go back. Datagrams are bytes; the network of the caller delays, marks and drops them.
//!
//! | module | content |
//! |---|---|
//! | this | the trait of an end, and of a library that opens ends |
//! | [`checked`] | an end whose answers are checked |
//! | [`c`] | the same interface in C, which `sojourn_stack.h` declares: version 1 |
//!
//! Source: none; see `docs/decisions/0013-libraries-as-stacks.md`. Deviations: none known.
#![no_std]

extern crate alloc;

pub mod c;
pub mod checked;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::string::String;
use core::ffi::CStr;

/// Options of a new end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// True for the end that waits for the connection.
    pub is_server: bool,
    /// Origin of all random numbers of this end.
    pub seed: u64,
    /// Congestion controller by the library's word; empty for its default.
    pub controller: String,
    /// True if packets may be ECN-capable.
    pub ecn: bool,
}

/// Answer of [`Endpoint::read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Bytes that were read.
    pub bytes: usize,
    /// Bytes after them.
    pub then: Then,
}

/// Continuation after the bytes that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// More of the same stream, perhaps later.
    #[default]
    More,
    /// The next stream.
    NextStream,
    /// The peer has closed: there is no further stream.
    Closed,
}

/// One end at one moment. Zero stands for a quantity that the library does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Bytes that may be in flight.
    pub window: u64,
    /// Slow-start threshold in bytes.
    pub threshold: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round trip in ns.
    pub smoothed: u64,
    /// Rate of pacing in b/s.
    pub pacing_rate: u64,
    /// Packets that the sender has found lost.
    pub lost: u64,
    /// Bytes of the application that the peer has acknowledged; a library may count whole streams only.
    pub acknowledged: u64,
    /// The connection is established.
    pub is_connected: bool,
    /// This end has closed, and the peer has acknowledged all of it.
    pub is_finished: bool,
    /// The connection failed.
    pub has_failed: bool,
    /// The controller's state in a word of ASCII; zeros at its end.
    pub phase: [u8; 32],
}

/// One end of a connection.
pub trait Endpoint {
    /// A datagram arrives, with its ECN field as on the wire (0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE).
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8);
    /// Writes the next datagram to send now into `buffer`; returns its bytes and its ECN field. The caller asks until there
    /// is none. What is due by `now` is done in this call.
    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)>;
    /// Returns the time at which [`Self::transmit`] must be called even if no datagram arrives. After a call at `now` that had no
    /// datagram it is later than `now`.
    fn timeout(&mut self) -> Option<u64>;
    /// Offers bytes of a stream, and with `fin` its end; returns the number of bytes that were taken. The end is taken with
    /// the last byte. Streams count from 0 and follow each other; a library with one stream ignores number and end.
    fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize;
    /// Reads bytes of a stream of the peer, in order.
    fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Read;
    /// No further stream will be written.
    fn close(&mut self, now: u64);
    /// This end now.
    fn state(&self) -> State;
}

impl<E: Endpoint + ?Sized> Endpoint for Box<E> {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        (**self).datagram(now, bytes, ecn);
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        (**self).transmit(now, buffer)
    }

    fn timeout(&mut self) -> Option<u64> {
        (**self).timeout()
    }

    fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        (**self).write(now, stream, bytes, fin)
    }

    fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        (**self).read(now, stream, buffer)
    }

    fn close(&mut self, now: u64) {
        (**self).close(now);
    }

    fn state(&self) -> State {
        (**self).state()
    }
}

/// A library that opens ends.
pub trait Stack {
    /// Bytes of headers that the network adds to each datagram: 28 for UDP over IPv4, 0 if datagrams are IP packets.
    const HEADERS: u32;
    /// Words of its congestion controllers, by spaces; the first is the default.
    const CONTROLLERS: &'static CStr;
    /// Opens an end; the client begins to connect. Returns nothing if it knows no such controller.
    fn open(options: &Options, now: u64) -> Option<Box<dyn Endpoint>>;
}
