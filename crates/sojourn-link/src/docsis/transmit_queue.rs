//! The transmit queue of the 2012 modem: packets that the shaper has let through and the MAC has not.
//!
//! A grant is a budget of bytes. Bytes leave in order, a grant may begin and end inside a packet
//! (continuous concatenation and fragmentation), and a packet arrives when its last byte does. A packet
//! holds its place in the queue until its last byte is granted.
//!
//! Source: White 2012 §2.2.2 and §2.2.3.
//! Deviations: the paper sends whole packets on a link whose rate it stretches, so that they arrive at
//! the same times; we compute those times.

use crate::{DelayParts, LinkContext, Loss, Passage, Stage};
use alloc::collections::VecDeque;
use sojourn_base::{BitRate, Bytes, Instant, Packets, Span};
use sojourn_queue::{Backlog, Held, Reason};

/// A packet and its way so far.
#[derive(Clone, Debug)]
struct Waiting<T> {
    packet: Held<T>,
    /// When it came from the rate-shaping queue.
    queued_at: Instant,
    /// When its request leaves.
    requested_at: Instant,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct TransmitQueue<T> {
    waiting: VecDeque<Waiting<T>>,
    capacity: Packets,
    channel_rate: BitRate,
    delay: Span,
    /// A length and its time on the channel: most packets are as long as the one before.
    on_air: (u32, Span),
    /// Bytes that are not granted.
    bytes: Bytes,
    /// How much of the head has been sent, and since when.
    sent: u64,
    started_at: Instant,
}

impl<T> TransmitQueue<T> {
    pub(crate) const fn new(capacity: Packets, channel_rate: BitRate, delay: Span) -> Self {
        Self {
            waiting: VecDeque::new(),
            capacity,
            channel_rate,
            delay,
            on_air: (0, Span::ZERO),
            bytes: Bytes::ZERO,
            sent: 0,
            started_at: Instant::ZERO,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() as u64 >= u64::from(self.capacity.0)
    }

    /// Bytes that are not granted, and the packets they belong to.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            bytes: self.bytes,
            packets: Packets(u32::try_from(self.waiting.len()).expect("at most the capacity")),
        }
    }

    /// A packet that does not fit.
    pub(crate) fn refuse(packet: Held<T>, context: &mut impl LinkContext<T>) {
        let loss = Loss {
            entered_at: packet.enqueued_at,
            stage: Stage::TransmitQueue,
            reason: Reason::Overlimit,
            sub_flow: packet.sub_flow,
        };
        context.dropped(packet.item, &packet.meta, &loss);
    }

    /// Append a packet that came at `now`, and whose bytes are requested at `requested_at`.
    pub(crate) fn push(&mut self, now: Instant, requested_at: Instant, packet: Held<T>) {
        self.bytes += Bytes(packet.meta.length.into());
        self.waiting.push_back(Waiting {
            packet,
            queued_at: now,
            requested_at,
        });
    }

    /// Send `grant` bytes from `start` on; the grant never exceeds what waits.
    pub(crate) fn send(&mut self, start: Instant, grant: Bytes, context: &mut impl LinkContext<T>) {
        debug_assert!(grant <= self.bytes, "a grant without bytes");
        self.bytes -= grant;
        let mut offset = 0;
        let mut at = start;
        while offset < grant.0 {
            let head = self.waiting.front().expect("granted bytes are queued");
            if self.sent == 0 {
                self.started_at = at;
            }
            let rest = u64::from(head.packet.meta.length) - self.sent;
            let left = grant.0 - offset;
            if rest > left {
                self.sent += left;
                return;
            }
            offset += rest;
            at = start + self.channel_rate.time_for(Bytes(offset));
            self.sent = 0;
            let done = self.waiting.pop_front().expect("the head is there");
            self.deliver(done, at, context);
        }
    }

    fn deliver(
        &mut self,
        done: Waiting<T>,
        last_byte_at: Instant,
        context: &mut impl LinkContext<T>,
    ) {
        let packet = done.packet;
        let on_air = last_byte_at.saturating_since(self.started_at);
        // Differences of rounded times may be a picosecond short of the rounded time of the whole.
        if self.on_air.0 != packet.meta.length {
            let length = packet.meta.length;
            self.on_air = (length, self.channel_rate.time_for(Bytes(length.into())));
        }
        let serialisation = self.on_air.1.min(on_air);
        let delay = DelayParts {
            queue: done.queued_at.saturating_since(packet.enqueued_at),
            request_wait: done.requested_at.saturating_since(done.queued_at),
            grant_wait: self.started_at.saturating_since(done.requested_at),
            framing: on_air.saturating_sub(serialisation),
            serialisation,
            wire: self.delay,
        };
        let passage = Passage {
            entered_at: packet.enqueued_at,
            dequeued_at: done.queued_at,
            arrives_at: last_byte_at + self.delay,
            delay,
            marked: packet.marked,
            sub_flow: packet.sub_flow,
        };
        context.deliver(packet.item, &packet.meta, &passage);
    }
}
