//! Packets that were sent, and what their sender knows of them.
//!
//! Source: RFC 8298 sections 4.1.2 (bytes in flight, bytes newly acknowledged) and 4.1.2.4 (lost packets, with a window of
//! time for those that others overtake).
//! Deviations: a packet that was given up is remembered for [`REMEMBERED`], at most, so that the window can learn from it.

use std::collections::VecDeque;

use sojourn_base::{Instant, Span};

use super::{Received, place};

/// chosen: a packet that is overtaken for longer is lost for good.
const REMEMBERED: Span = Span::from_s(2);
/// chosen: two seconds of 45 Mb/s; of faster streams, that is for less.
const MOST_REMEMBERED: u64 = 10_000;
/// `max_bytes_in_flight` is that of the last 5 s (RFC 8298 section 4.1.2.2), kept by the second.
const SECONDS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Flying,
    /// A later one is there, this one is not.
    Missing(Instant),
    Lost(Instant),
    Received,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent_at: Instant,
    bytes: u64,
    state: State,
}

/// The packets of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    /// Packets from number `first` on.
    packets: VecDeque<Packet>,
    first: u64,
    /// Numbers of those that are missing and not lost yet.
    missing: VecDeque<u64>,
    /// The number behind the highest that was acknowledged.
    acknowledged: u64,
    bytes: u64,
    reordering: Span,
    /// The most bytes in flight in each of the last seconds.
    most: [u64; SECONDS],
    second: u64,
}

/// The newest packet that a report says has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Highest {
    pub(super) sent_at: Instant,
    pub(super) arrived_at: Option<Instant>,
}

/// New facts of a report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) highest: Option<Highest>,
    /// Bytes by which the highest acknowledged packet moved on, with those of packets that are missing.
    pub(super) advanced: u64,
    /// Packets and bytes that arrived, and how many of them were marked.
    pub(super) received: u64,
    pub(super) received_bytes: u64,
    pub(super) marked: u64,
    /// A packet was found to be lost.
    pub(super) is_loss: bool,
}

impl Flight {
    /// Bytes that its packets take in memory.
    pub(super) fn kept(&self) -> usize {
        crate::ring_bytes(&self.packets) + crate::ring_bytes(&self.missing)
    }

    /// Bytes sent and not acknowledged.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most of the last seconds.
    pub(super) fn most(&self) -> u64 {
        self.most.iter().copied().max().unwrap_or(0)
    }

    /// Sends the next packet: its number.
    pub(super) fn send(&mut self, now: Instant, bytes: u64) -> u64 {
        self.packets.push_back(Packet { sent_at: now, bytes, state: State::Flying });
        self.bytes += bytes;
        let second = now.as_ns() / 1_000_000_000;
        for gone in self.second..second.min(self.second + SECONDS as u64) {
            self.most[place(gone + 1) % SECONDS] = 0;
        }
        self.second = second;
        let most = &mut self.most[place(second) % SECONDS];
        *most = (*most).max(self.bytes);
        self.first + self.packets.len() as u64 - 1
    }

    /// A report says of the packets from `first` on whether they have arrived.
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        first: u64,
        packets: impl Iterator<Item = Option<Received>>,
    ) -> News {
        let mut news = News::default();
        let before = self.acknowledged;
        for (number, received) in (first..).zip(packets) {
            let packet = number.checked_sub(self.first).and_then(|distance| self.packets.get_mut(place(distance)));
            let (Some(received), Some(packet)) = (received, packet) else {
                continue;
            };
            match packet.state {
                State::Received => continue,
                State::Missing(since) | State::Lost(since) => {
                    self.reordering = self.reordering.max(now.saturating_since(since));
                }
                State::Flying => {}
            }
            packet.state = State::Received;
            news.received += 1;
            news.received_bytes += packet.bytes;
            news.marked += u64::from(received.is_marked);
            if number >= self.acknowledged {
                self.acknowledged = number + 1;
                news.highest = Some(Highest { sent_at: packet.sent_at, arrived_at: received.arrived_at });
            }
        }
        let passed = place(self.acknowledged - self.first);
        let new = self.packets.range(place(before - self.first)..passed);
        news.advanced = new.map(|packet| packet.bytes).sum();
        self.bytes -= news.advanced;
        for number in before..self.acknowledged {
            let packet = &mut self.packets[place(number - self.first)];
            if packet.state == State::Flying {
                packet.state = State::Missing(now);
                self.missing.push_back(number);
            }
        }
        let Self { packets, first, missing, reordering, .. } = self;
        missing.retain(|number| {
            let packet = &mut packets[place(number - *first)];
            let State::Missing(since) = packet.state else {
                return false; // it came after all
            };
            let is_lost = now.saturating_since(since) >= *reordering;
            if is_lost {
                packet.state = State::Lost(since);
                news.is_loss = true;
            }
            !is_lost
        });
        self.clean(now);
        news
    }

    /// All that is in flight is lost.
    pub(super) fn forget(&mut self) {
        self.first += self.packets.len() as u64;
        self.acknowledged = self.first;
        self.packets.clear();
        self.missing.clear();
        self.bytes = 0;
    }

    fn clean(&mut self, now: Instant) {
        while let Some(packet) = self.packets.front() {
            match packet.state {
                State::Received => {}
                State::Lost(since)
                    if now.saturating_since(since) > REMEMBERED || self.acknowledged - self.first > MOST_REMEMBERED => {
                }
                _ => return,
            }
            self.packets.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<Received> = Some(Received { arrived_at: None, is_marked: false });

    fn sent(count: u64) -> Flight {
        let mut flight = Flight::default();
        for number in 0..count {
            assert_eq!(flight.send(Instant::from_ms(number), 100 + number), number);
        }
        flight
    }

    #[test]
    fn what_is_in_flight_lies_above_the_highest_that_was_acknowledged() {
        // The document's example: SN-5 is the highest, and SN-3 may be lost: five packets are in flight.
        let mut flight = sent(10);
        let news = flight.acknowledge(Instant::from_ms(50), 0, [HERE; 5].into_iter());
        assert_eq!(flight.bytes(), 105 + 106 + 107 + 108 + 109);
        assert_eq!(news.advanced, 100 + 101 + 102 + 103 + 104);
        let highest = news.highest.expect("five are there");
        assert_eq!(highest.sent_at, Instant::from_ms(4));
        // N+3 with N+2 missing: its bytes count as acknowledged, not as received.
        let news = flight.acknowledge(Instant::from_ms(60), 5, [HERE, None, HERE].into_iter());
        assert_eq!((news.advanced, news.received_bytes), (105 + 106 + 107, 105 + 107));
        assert!(news.is_loss);
        assert_eq!(flight.bytes(), 108 + 109);
    }

    #[test]
    fn a_loss_is_told_once_and_a_report_that_repeats_says_nothing() {
        let mut flight = sent(4);
        let report = [HERE, None, HERE];
        assert!(flight.acknowledge(Instant::from_ms(20), 0, report.into_iter()).is_loss);
        let again = flight.acknowledge(Instant::from_ms(25), 0, report.into_iter());
        assert!(!again.is_loss && again.highest.is_none() && again.received == 0);
    }

    #[test]
    fn a_packet_that_was_overtaken_opens_the_window_for_the_next_one() {
        let mut flight = sent(6);
        let first = flight.acknowledge(Instant::from_ms(20), 0, [HERE, None, HERE].into_iter());
        assert!(first.is_loss);
        let late = flight.acknowledge(Instant::from_ms(27), 0, [HERE; 3].into_iter());
        assert!(!late.is_loss && late.received == 1 && late.advanced == 0);
        // 7 ms from now on.
        let next = |flight: &mut Flight, ms| {
            let report = [None, HERE].into_iter();
            flight.acknowledge(Instant::from_ms(ms), 3, report).is_loss
        };
        assert!(!next(&mut flight, 40));
        assert!(!next(&mut flight, 46));
        assert!(next(&mut flight, 47));
    }

    #[test]
    fn the_most_in_flight_is_that_of_five_seconds() {
        let mut flight = sent(10);
        assert_eq!(flight.most(), 1_045);
        flight.acknowledge(Instant::from_ms(50), 0, [HERE; 10].into_iter());
        flight.send(Instant::from_ms(4_900), 1);
        assert_eq!(flight.most(), 1_045);
        flight.send(Instant::from_ms(5_100), 1);
        assert_eq!(flight.most(), 2);
        flight.send(Instant::from_s(100), 1);
        assert_eq!(flight.most(), 3);
    }
}
