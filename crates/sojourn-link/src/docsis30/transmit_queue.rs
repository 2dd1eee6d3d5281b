//! The transmit queue of the 2012 modem: packets that the shaper has let through and the MAC has not.
//!
//! A packet holds its place in the queue until its last byte is granted.
//!
//! Source: White 2012 §2.2.2 and §2.2.3.
//! Deviations: those of `concatenation`.

use super::concatenation::{Channel, Grant, Sent, Staging};
use crate::{DelayParts, LinkContext, Loss, Stage};
use sojourn_base::{BitRate, Bytes, Instant, Packets, Span};
use sojourn_queue::{Backlog, Held, Reason};

/// A packet's way so far.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Arrival from the rate-shaping queue.
    queued_at: Instant,
    /// Time of its request.
    requested_at: Instant,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct TransmitQueue {
    waiting: Staging<Way>,
    capacity: Packets,
    channel: Channel,
    delay: Span,
}

impl TransmitQueue {
    pub(crate) const fn new(capacity: Packets, channel_rate: BitRate, delay: Span) -> Self {
        Self { waiting: Staging::new(), capacity, channel: Channel::new(channel_rate), delay }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() as u64 >= u64::from(self.capacity.0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.len() == 0
    }

    /// Bytes that are not granted.
    pub(crate) const fn bytes(&self) -> Bytes {
        self.waiting.bytes()
    }

    /// Bytes that are not granted, and the packets they belong to.
    pub(crate) fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    /// A packet that does not fit.
    #[cold]
    pub(crate) fn refuse(packet: Held, context: &mut (impl LinkContext + ?Sized)) {
        let loss = Loss {
            entered_at: packet.enqueued_at,
            stage: Stage::TransmitQueue,
            reason: Reason::Overlimit,
            sub_flow: packet.sub_flow,
        };
        context.dropped(packet.item, &packet.meta, &loss);
    }

    /// Append a packet that came at `now`, and whose bytes are requested at `requested_at`.
    #[inline]
    pub(crate) fn push(&mut self, now: Instant, requested_at: Instant, packet: Held) {
        let way = Way { queued_at: now, requested_at };
        self.waiting.push(packet, way);
    }

    /// Send `grant` bytes from `start` on; the grant never exceeds what waits.
    pub(crate) fn send(&mut self, start: Instant, grant: Bytes, context: &mut (impl LinkContext + ?Sized)) {
        debug_assert!(grant <= self.waiting.bytes(), "a grant without bytes");
        let rate = self.channel.rate();
        let mut grant = Grant::new(start, grant, |used| start + rate.time_for(used));
        while let Some(sent) = self.waiting.send(&mut grant) {
            self.deliver(sent, context);
        }
    }

    fn deliver(&mut self, sent: Sent<Way>, context: &mut (impl LinkContext + ?Sized)) {
        let delay = if context.wants_delay() { self.split_delay(&sent) } else { DelayParts::default() };
        let queued_at = sent.way.queued_at;
        sent.deliver(queued_at, delay, self.delay, context);
    }

    fn split_delay(&mut self, sent: &Sent<Way>) -> DelayParts {
        let (framing, serialisation) = sent.on_air(&mut self.channel);
        let way = sent.way;
        DelayParts {
            queue: way.queued_at.saturating_since(sent.packet.enqueued_at),
            request_wait: way.requested_at.saturating_since(way.queued_at),
            grant_wait: sent.started_at.saturating_since(way.requested_at),
            framing,
            serialisation,
            pipeline: Span::ZERO,
            wire: self.delay,
            switching: Span::ZERO,
            hold: Span::ZERO,
        }
    }
}
