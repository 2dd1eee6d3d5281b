//! One line of packets, and its bytes.

use crate::store::waiting::Waiting;
use crate::{Backlog, Held};
use alloc::collections::VecDeque;
use sojourn_base::{Bytes, Instant, Meta, Packets};

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Held>,
    bytes: u64,
}

impl Fifo {
    /// An empty line. It grows to its largest backlog and is never shrunk.
    pub(crate) const fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }

    /// Put a packet at the end.
    #[inline]
    pub(crate) fn push(&mut self, packet: Held) {
        self.bytes += u64::from(packet.meta.length);
        self.packets.push_back(packet);
    }

    /// Take the oldest packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Held> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.meta.length);
        Some(packet)
    }

    /// The oldest packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Held> {
        self.packets.front()
    }

    /// Returns true if no packet waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes that wait.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the packets that wait.
    #[expect(clippy::cast_possible_truncation, reason = "2^32 packets do not fit into memory")]
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes(self.bytes), packets: Packets(self.packets.len() as u32) }
    }
}

impl Waiting for Fifo {
    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog()
    }

    #[inline]
    fn bytes_in(&self, _line: usize) -> u64 {
        self.bytes
    }

    #[inline]
    fn has_one(&self, _line: usize) -> bool {
        self.packets.len() <= 1
    }

    #[inline]
    fn is_empty(&self, _line: usize) -> bool {
        self.packets.is_empty()
    }

    #[inline]
    fn head(&self, _line: usize) -> Option<(&Meta, Instant)> {
        let packet = self.head()?;
        Some((&packet.meta, packet.enqueued_at))
    }

    #[inline]
    fn pop(&mut self, _line: usize) -> Option<Held> {
        self.pop()
    }
}
