//! A low-latency and a classic queue on one link, and whose turn it is.
//!
//! Source: RFC 9332 §2.5.1.2 and appendix A.1 (time-shifted first in, first out); Linux `sch_dualpi2` (weighted round robin
//! by credit); docsis-ns3 `dual-queue-coupled-aqm.cc` (deficit round robin).
//! Deviations: deficits are forgotten while only one queue waits.

use crate::store::fifo::Fifo;
use crate::{Backlog, Held};
use sojourn_base::{Instant, ServiceQueue, Span};

/// Linux `sch_dualpi2`: the packet that the credit starts with. chosen: 1500 bytes, an Ethernet frame's payload.
const FULL_SIZE: i64 = 1500;

/// Queue whose turn it is when both wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turns {
    /// In the long run the queues send bytes in the ratio of the weights.
    Credit {
        low_latency: i64,
        classic: i64,
        /// Of the classic queue: above zero it is its turn.
        credit: i64,
    },
    /// Each round adds its quantum to a queue's deficit.
    Deficit {
        low_latency: Deficit,
        classic: Deficit,
        /// It is the classic queue's part of the round.
        classic_part: bool,
    },
    /// The packet that has waited longest, as if those of the low-latency queue had come earlier by this span.
    TimeShifted(Span),
}

/// Bytes that a queue may still send in this round, and those that the next one adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deficit {
    quantum: i64,
    left: i64,
}

impl Deficit {
    const fn new(quantum: i64) -> Self {
        Self { quantum, left: 0 }
    }
}

impl Turns {
    /// Weighted by credit; not both weights are zero.
    pub(crate) const fn by_credit(low_latency: u32, classic: u32) -> Self {
        let (low_latency, classic) = (low_latency as i64, classic as i64);
        Self::Credit { low_latency, classic, credit: FULL_SIZE * (classic - low_latency) }
    }

    /// Rounds of a full-size packet for the classic queue, and of its `weight`th of 256 for the other.
    pub(crate) const fn by_deficit(weight: u32) -> Self {
        Self::Deficit {
            low_latency: Deficit::new(FULL_SIZE * weight as i64 / 256),
            classic: Deficit::new(FULL_SIZE),
            classic_part: false,
        }
    }

    /// The queue whose turn it is while both wait: heads of these lengths that have waited so long.
    fn of_both(&mut self, low_latency: Head, classic: Head) -> ServiceQueue {
        let is_low_latency = match self {
            Self::Credit { credit, .. } => *credit <= 0,
            Self::TimeShifted(shift) => low_latency.waited.saturating_add(*shift) >= classic.waited,
            Self::Deficit { low_latency: of_low_latency, classic: of_classic, classic_part } => loop {
                if !*classic_part && low_latency.length <= of_low_latency.left {
                    break true;
                }
                *classic_part = true;
                if classic.length <= of_classic.left {
                    break false;
                }
                *classic_part = false;
                of_low_latency.left += of_low_latency.quantum;
                of_classic.left += of_classic.quantum;
            },
        };
        if is_low_latency { ServiceQueue::LowLatency } else { ServiceQueue::Classic }
    }

    /// `length` bytes of `queue` are sent; whether packets wait in the other one.
    fn on_sent(&mut self, queue: ServiceQueue, length: u32, other_waits: bool) {
        let length = i64::from(length);
        let is_low_latency = queue == ServiceQueue::LowLatency;
        match self {
            Self::Credit { low_latency, classic, credit } => {
                if other_waits {
                    *credit += if is_low_latency { *classic * length } else { -*low_latency * length };
                }
            }
            Self::Deficit { low_latency, classic, .. } => {
                let sent = if is_low_latency { low_latency } else { classic };
                sent.left = if other_waits { sent.left - length } else { 0 };
            }
            Self::TimeShifted(_) => {}
        }
    }

    /// Nothing waits.
    fn reset(&mut self) {
        match self {
            Self::Credit { low_latency, classic, credit } => *credit = FULL_SIZE * (*classic - *low_latency),
            Self::Deficit { low_latency, classic, classic_part } => {
                (low_latency.left, classic.left) = (0, 0);
                *classic_part = false;
            }
            Self::TimeShifted(_) => {}
        }
    }
}

/// The oldest packet of a queue, as far as its turn depends on it.
#[derive(Clone, Copy, Debug)]
struct Head {
    length: i64,
    waited: Span,
}

/// Both queues.
#[derive(Clone, Debug)]
pub(crate) struct TwoQueues {
    low_latency: Fifo,
    classic: Fifo,
    turns: Turns,
}

impl TwoQueues {
    /// Nothing waits.
    pub(crate) const fn new(turns: Turns) -> Self {
        Self { low_latency: Fifo::new(), classic: Fifo::new(), turns }
    }

    /// Puts a packet at the end of the queue that its meta names.
    #[inline]
    pub(crate) fn push(&mut self, packet: Held) {
        self.queue_mut(packet.meta.queue).push(packet);
    }

    /// The queue whose turn it is, if anything waits.
    #[inline]
    pub(crate) fn turn(&mut self, now: Instant) -> Option<ServiceQueue> {
        let head = |queue: &Fifo| {
            let packet = queue.head()?;
            Some(Head { length: i64::from(packet.meta.length), waited: now.saturating_since(packet.enqueued_at) })
        };
        match (head(&self.low_latency), head(&self.classic)) {
            (Some(low_latency), Some(classic)) => Some(self.turns.of_both(low_latency, classic)),
            (Some(_), None) => Some(ServiceQueue::LowLatency),
            (None, Some(_)) => Some(ServiceQueue::Classic),
            (None, None) => {
                self.turns.reset();
                None
            }
        }
    }

    /// Takes the oldest packet of a queue. If it is sent, [`TwoQueues::on_sent`] wants to know.
    #[inline]
    pub(crate) fn pop(&mut self, queue: ServiceQueue) -> Option<Held> {
        match queue {
            ServiceQueue::LowLatency => self.low_latency.pop(),
            ServiceQueue::Classic => self.classic.pop(),
            ServiceQueue::AckPriority => None,
        }
    }

    /// A packet of `length` bytes that [`TwoQueues::turn`] chose is sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, queue: ServiceQueue, length: u32) {
        let other_waits = match queue {
            ServiceQueue::LowLatency => !self.classic.is_empty(),
            _ => !self.low_latency.is_empty(),
        };
        self.turns.on_sent(queue, length, other_waits);
    }

    /// The oldest packet of a queue.
    pub(crate) fn head(&self, queue: ServiceQueue) -> Option<&Held> {
        self.queue(queue)?.head()
    }

    /// Length of the packet whose turn is next, if that does not depend on when it is.
    pub(crate) fn head_length(&self) -> Option<u32> {
        let length = |queue: &Fifo| queue.head().map(|packet| packet.meta.length);
        match (self.turns, length(&self.low_latency), length(&self.classic)) {
            (_, low_latency, None) => low_latency,
            (_, None, classic) => classic,
            (Turns::TimeShifted(_), Some(_), Some(_)) => None,
            (mut turns, Some(low_latency), Some(classic)) => {
                let head = |length| Head { length: i64::from(length), waited: Span::ZERO };
                match turns.of_both(head(low_latency), head(classic)) {
                    ServiceQueue::LowLatency => Some(low_latency),
                    _ => Some(classic),
                }
            }
        }
    }

    /// Bytes in a queue.
    pub(crate) fn bytes_in(&self, queue: ServiceQueue) -> u64 {
        self.queue(queue).map_or(0, Fifo::bytes)
    }

    /// Returns the packets that wait in a queue.
    pub(crate) fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.queue(queue).map(Fifo::backlog).unwrap_or_default()
    }

    /// Returns the packets that wait in both.
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        let (low_latency, classic) = (self.low_latency.backlog(), self.classic.backlog());
        Backlog { bytes: low_latency.bytes + classic.bytes, packets: low_latency.packets + classic.packets }
    }

    const fn queue(&self, queue: ServiceQueue) -> Option<&Fifo> {
        match queue {
            ServiceQueue::LowLatency => Some(&self.low_latency),
            ServiceQueue::Classic => Some(&self.classic),
            ServiceQueue::AckPriority => None,
        }
    }

    const fn queue_mut(&mut self, queue: ServiceQueue) -> &mut Fifo {
        match queue {
            ServiceQueue::LowLatency => &mut self.low_latency,
            ServiceQueue::Classic | ServiceQueue::AckPriority => &mut self.classic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Meta;
    use sojourn_base::PacketHandle;
    use std::string::String;

    fn packet(queue: ServiceQueue, length: u32) -> Held {
        let meta = Meta { length, queue, ..Meta::default() };
        Held::new(Instant::ZERO, meta, PacketHandle::default())
    }

    /// The order in which two queues that always wait are served: `L` and `C`.
    fn order(turns: Turns, packets: usize, length: u32) -> String {
        let mut queues = TwoQueues::new(turns);
        for queue in [ServiceQueue::LowLatency, ServiceQueue::Classic] {
            for _ in 0..=packets {
                queues.push(packet(queue, length));
            }
        }
        (0..packets)
            .map(|_| {
                let announced = queues.head_length();
                let turn = queues.turn(Instant::ZERO).expect("both wait");
                let sent = queues.pop(turn).expect("it waits");
                assert_eq!(announced, Some(sent.meta.length));
                queues.on_sent(turn, sent.meta.length);
                if turn == ServiceQueue::LowLatency { 'L' } else { 'C' }
            })
            .collect()
    }

    #[test]
    fn credit_serves_in_the_ratio_of_the_weights() {
        let nine = "LLLLLLLLLC";
        assert_eq!(order(Turns::by_credit(90, 10), 30, 1500), nine.repeat(3));
        let docsis = order(Turns::by_credit(230, 26), 39, 1500);
        assert_eq!(docsis, ["LLLLLLLLC", nine, nine, nine].concat());
        let long = order(Turns::by_credit(230, 26), 2560, 1500);
        let low_latency = long.chars().filter(|turn| *turn == 'L').count();
        assert!(low_latency.abs_diff(2300) <= 1, "{low_latency}");
    }

    #[test]
    fn docsis_ns3_gives_the_low_latency_queue_less_than_half() {
        // Quanta of 1500·230/256 = 1347 B and 1500 B: 47.3 % of the bytes.
        let order = order(Turns::by_deficit(230), 2847, 100);
        let low_latency = order.chars().filter(|turn| *turn == 'L').count();
        assert!(low_latency.abs_diff(1347) <= 15, "{low_latency}");
    }

    #[test]
    fn a_lone_queue_is_served_and_gains_no_credit() {
        for turns in [Turns::by_credit(230, 26), Turns::by_deficit(230)] {
            let mut queues = TwoQueues::new(turns);
            for _ in 0..20 {
                queues.push(packet(ServiceQueue::Classic, 1500));
                let turn = queues.turn(Instant::ZERO);
                assert_eq!(turn, Some(ServiceQueue::Classic));
                let _ = queues.pop(ServiceQueue::Classic);
                queues.on_sent(ServiceQueue::Classic, 1500);
            }
            queues.push(packet(ServiceQueue::Classic, 1500));
            queues.push(packet(ServiceQueue::LowLatency, 1500));
            let turn = queues.turn(Instant::ZERO);
            let first = if matches!(turns, Turns::Deficit { .. }) {
                // 1347 B do not cover the first packet, 1500 B do.
                ServiceQueue::Classic
            } else {
                ServiceQueue::LowLatency
            };
            assert_eq!(turn, Some(first));
        }
    }

    #[test]
    fn with_a_time_shift_the_older_packet_goes_first() {
        let mut queues = TwoQueues::new(Turns::TimeShifted(Span::from_ms(50)));
        queues.push(packet(ServiceQueue::Classic, 1500));
        let arrives = |ms| Held { enqueued_at: Instant::from_ms(ms), ..packet(ServiceQueue::LowLatency, 100) };
        queues.push(arrives(50));
        assert_eq!(queues.turn(Instant::from_ms(60)), Some(ServiceQueue::LowLatency));
        let _ = queues.pop(ServiceQueue::LowLatency);
        queues.push(arrives(51));
        assert_eq!(queues.turn(Instant::from_ms(60)), Some(ServiceQueue::Classic));
        assert_eq!(queues.head_length(), None);
    }
}
