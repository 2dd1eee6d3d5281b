//! An end whose answers are checked: a library that breaks the rules is a [`Fault`], and ends nothing else.

use crate::{Endpoint, Options, Read, State};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// Datagrams of one end at one instant. chosen: 24 MB in full packets; a window that is sent at once has some hundred.
pub const MOST_AT_ONCE: u32 = 16_384;

/// Calls in a row for a time that a library asked for, without a datagram. chosen: timers of a connection that rests are some
/// milliseconds apart, and back off.
pub const MOST_IDLE_CALLS: u32 = 100_000;

/// The rule that a library broke, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Fault {}

/// One end with its checks.
pub struct Checked {
    inner: Box<dyn Endpoint>,
    /// A server that has received nothing must not send.
    may_send: bool,
    /// Time of the last datagram, and how many were sent then.
    burst: (u64, u32),
    /// Calls of [`Self::transmit`] since the last datagram.
    idle_calls: u32,
    written: u64,
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked")
            .field("state", &self.inner.state())
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl Checked {
    /// An end that was opened with `options`.
    pub fn new(inner: Box<dyn Endpoint>, options: &Options) -> Self {
        Self { inner, may_send: !options.is_server, burst: (0, 0), idle_calls: 0, written: 0 }
    }

    /// See [`Endpoint::datagram`].
    pub fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        self.may_send = true;
        self.idle_calls = 0;
        self.inner.datagram(now, bytes, ecn);
    }

    /// See [`Endpoint::transmit`].
    ///
    /// # Errors
    /// A datagram that does not fit, has no ECN field, comes before the server has heard of a client, or is one too many.
    pub fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Result<Option<(usize, u8)>, Fault> {
        let room = buffer.len();
        let Some((bytes, ecn)) = self.inner.transmit(now, buffer) else {
            return Ok(None);
        };
        if bytes == 0 || bytes > room {
            return Err(Fault(format!("transmit returned a datagram of {bytes} bytes; there was room for {room}")));
        }
        if ecn > 3 {
            return Err(Fault(format!("transmit returned the ECN field {ecn}, which is none of 0 to 3")));
        }
        if !self.may_send {
            return Err(Fault("the server sent a datagram before one had arrived".into()));
        }
        self.idle_calls = 0;
        self.burst = if self.burst.0 == now { (now, self.burst.1 + 1) } else { (now, 1) };
        if self.burst.1 > MOST_AT_ONCE {
            return Err(Fault(format!("it sent more than {MOST_AT_ONCE} datagrams at one time, {now} ns")));
        }
        Ok(Some((bytes, ecn)))
    }

    /// See [`Endpoint::timeout`]; `now` is the time of the call before, which had no datagram.
    ///
    /// # Errors
    /// A time that is past, or one more after many at which nothing happened.
    pub fn timeout(&mut self, now: u64) -> Result<Option<u64>, Fault> {
        let Some(at) = self.inner.timeout() else {
            return Ok(None);
        };
        if at <= now {
            return Err(Fault(format!("it asked to be called at {at} ns; the time was {now} ns already")));
        }
        self.idle_calls += 1;
        if self.idle_calls > MOST_IDLE_CALLS {
            return Err(Fault(format!("it asked to be called {MOST_IDLE_CALLS} times, and sent nothing")));
        }
        Ok(Some(at))
    }

    /// See [`Endpoint::write`].
    ///
    /// # Errors
    /// More bytes than were offered.
    pub fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> Result<usize, Fault> {
        let taken = self.inner.write(now, stream, bytes, fin);
        if taken > bytes.len() {
            return Err(Fault(format!("write took {taken} bytes of {}", bytes.len())));
        }
        self.written += taken as u64;
        Ok(taken)
    }

    /// See [`Endpoint::read`].
    ///
    /// # Errors
    /// More bytes than there was room for.
    pub fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Result<Read, Fault> {
        let room = buffer.len();
        let read = self.inner.read(now, stream, buffer);
        if read.bytes > room {
            return Err(Fault(format!("read returned {} bytes; there was room for {room}", read.bytes)));
        }
        Ok(read)
    }

    /// See [`Endpoint::close`].
    pub fn close(&mut self, now: u64) {
        self.inner.close(now);
    }

    /// See [`Endpoint::state`].
    ///
    /// # Errors
    /// More acknowledged bytes than were written.
    pub fn state(&self) -> Result<State, Fault> {
        let state = self.inner.state();
        if state.acknowledged > self.written {
            let State { acknowledged, .. } = state;
            return Err(Fault(format!("state told {acknowledged} acknowledged bytes; {} were written", self.written)));
        }
        Ok(state)
    }
}
