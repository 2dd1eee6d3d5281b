//! A line that is never a bottleneck: serialisation and propagation, nothing to manage.
//!
//! Every packet's delivery is known when it arrives, so the line needs no wake-ups and no queue
//! manager; packets that catch up with each other wait in order.
//!
//! Source: White 2012 §2.3 (gigabit links to the servers, LAN).
//! Deviations: none known.

use crate::config::WireConfig;
use crate::{DelayParts, Link, LinkContext, Passage, Transmit};
use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle, Serializer, Span};
use sojourn_queue::{Backlog, SubFlow};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// `None` if serialisation takes no time.
    serializer: Option<Serializer>,
    delay: Span,
    busy_until: Instant,
}

impl Wire {
    /// An idle line.
    pub fn new(config: WireConfig) -> Self {
        Self {
            serializer: (config.rate > BitRate::ZERO).then(|| Serializer::new(config.rate)),
            delay: config.delay,
            busy_until: Instant::ZERO,
        }
    }

    /// A packet of `length` bytes reaches the line: how it gets to the other end. This is all that
    /// happens to it.
    #[inline]
    #[must_use]
    pub fn carry(&mut self, now: Instant, length: u32) -> Passage {
        let start = now.max(self.busy_until);
        let serialisation = match &mut self.serializer {
            None => Span::ZERO,
            Some(serializer) => {
                if self.busy_until < now {
                    serializer.on_idle();
                }
                serializer.send(Bytes(length.into()))
            }
        };
        self.busy_until = start + serialisation;
        let delay =
            DelayParts { queue: start.saturating_since(now), serialisation, wire: self.delay, ..DelayParts::default() };
        Passage {
            entered_at: now,
            dequeued_at: start,
            arrives_at: self.busy_until + self.delay,
            delay,
            sub_flow: SubFlow::NONE,
        }
    }
}

impl<C: LinkContext + ?Sized> Transmit<C> for Wire {
    #[inline]
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        let passage = self.carry(now, meta.length);
        context.deliver(item, &meta, &passage);
    }

    fn on_wakeup(&mut self, _now: Instant, _output: &mut C) {}
}

impl Link for Wire {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER
    }

    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_catch_up_wait_in_order() {
        // 1500 B at 1 Gb/s take 12 µs.
        let mut wire = Wire::new(WireConfig::gigabit(Span::from_ms(9)));
        let first = wire.carry(Instant::ZERO, 1500);
        assert_eq!(first.arrives_at, Instant::from_us(9012));
        let second = wire.carry(Instant::from_us(2), 1500);
        assert_eq!(second.delay.queue, Span::from_us(10));
        assert_eq!(second.arrives_at, Instant::from_us(9024));
        let third = wire.carry(Instant::from_us(30), 1500);
        assert_eq!(third.delay.queue, Span::ZERO);
        assert_eq!(third.arrives_at, Instant::from_us(9042));
    }

    #[test]
    fn without_a_rate_only_propagation_remains() {
        let mut wire = Wire::new(WireConfig { rate: BitRate::ZERO, delay: Span::from_ms(1) });
        for _ in 0..2 {
            assert_eq!(wire.carry(Instant::from_ms(5), 9000).arrives_at, Instant::from_ms(6));
        }
    }
}
