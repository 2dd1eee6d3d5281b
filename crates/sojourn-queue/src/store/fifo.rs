//! One line of packets, and what it holds in bytes.
//!
//! Source: none needed. Deviations: none known.

use crate::{Backlog, Held};
use alloc::collections::VecDeque;
use sojourn_base::{Bytes, Packets};

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    packets: VecDeque<Held<T>>,
    bytes: u64,
}

impl<T> Fifo<T> {
    /// An empty line. It grows to its largest backlog and is never shrunk.
    pub(crate) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Put a packet at the end.
    #[inline]
    pub(crate) fn push(&mut self, packet: Held<T>) {
        self.bytes += u64::from(packet.meta.length);
        self.packets.push_back(packet);
    }

    /// Take the oldest packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Held<T>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.meta.length);
        Some(packet)
    }

    /// The oldest packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Held<T>> {
        self.packets.front()
    }

    /// Puts `packet` at a place that [`Fifo::newest`] gave, and gives back the one that was there.
    pub(crate) fn replace(&mut self, place: usize, packet: Held<T>) -> Held<T> {
        self.bytes += u64::from(packet.meta.length);
        let replaced = core::mem::replace(&mut self.packets[place], packet);
        self.bytes -= u64::from(replaced.meta.length);
        replaced
    }

    /// The place of the newest packet that `wanted` is true for.
    pub(crate) fn newest(&self, wanted: impl FnMut(&Held<T>) -> bool) -> Option<usize> {
        self.packets.iter().rposition(wanted)
    }

    /// The packet at a place that [`Fifo::newest`] gave.
    pub(crate) fn at(&self, place: usize) -> &Held<T> {
        &self.packets[place]
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes that wait.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What waits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 packets do not fit into memory"
    )]
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            bytes: Bytes(self.bytes),
            packets: Packets(self.packets.len() as u32),
        }
    }
}
