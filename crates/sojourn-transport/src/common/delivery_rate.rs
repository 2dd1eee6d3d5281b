//! How fast segments are delivered: a sample for each acknowledgement, for controllers that ask for it.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02, sections 3.1 to 3.4.
//! Deviations: a segment that carries no data delivers nothing and gives no sample.

use crate::congestion::RateSample;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Span};

/// Deliveries at the time of a segment's sending (`P.` of the draft).
#[derive(Clone, Copy, Debug)]
struct Mark {
    number: u32,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    application_limited: bool,
    in_flight: u32,
    lost: u32,
}

/// The newest segment that an acknowledgement has delivered (`rs.`).
#[derive(Clone, Copy, Debug)]
struct Newest {
    mark: Mark,
    sent_at: Instant,
    /// It was sent once, so its round trip is known.
    once: bool,
}

/// A segment that has reached the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) sent_at: Instant,
    /// Bytes of data.
    pub(crate) length: u16,
    /// It was sent once.
    pub(crate) once: bool,
}

/// Sampler of one sender (`C.`).
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Samples are limited by the application until this many bytes are delivered; 0 if they are not.
    limited_until: u64,
    /// Found lost in total, and when the last sample was taken.
    lost: u32,
    lost_before: u32,
    newest: Option<Newest>,
    /// Shortest round trip of such segments: without the wait of a delayed acknowledgement, which time stamps include.
    shortest: Span,
    /// By number modulo the ring's size.
    marks: Vec<Mark>,
}

/// Segments of a new ring. chosen: as the scoreboard's.
const INITIAL_SLOTS: usize = 64;

const NO_MARK: Mark = Mark {
    number: u32::MAX,
    delivered: 0,
    delivered_at: Instant::ZERO,
    first_sent_at: Instant::ZERO,
    application_limited: false,
    in_flight: 0,
    lost: 0,
};

impl DeliveryRate {
    pub(crate) fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent_at: Instant::ZERO,
            limited_until: 0,
            lost: 0,
            lost_before: 0,
            newest: None,
            shortest: Span::MAX,
            marks: vec![NO_MARK; INITIAL_SLOTS],
        }
    }

    /// Bytes that it takes, with its ring.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.marks.capacity() * size_of::<Mark>()
    }

    /// Segment `number` leaves, for the first time or again; `flight`: those outstanding from `first` on, and `pipe` in the
    /// network, this one included.
    pub(crate) fn on_sent(&mut self, now: Instant, number: u32, (first, flight, pipe): (u32, u32, u32)) {
        if flight == 1 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        while (number - first) as usize >= self.marks.len() {
            self.double();
        }
        let slot = self.slot(number);
        self.marks[slot] = Mark {
            number,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            application_limited: self.limited_until > 0,
            in_flight: pipe,
            lost: self.lost,
        };
    }

    /// Segment `number` has reached the peer.
    pub(crate) fn on_delivered(&mut self, now: Instant, number: u32, sent: Delivered) {
        let mark = self.marks[self.slot(number)];
        if mark.number != number || sent.length == 0 {
            return;
        }
        self.delivered += u64::from(sent.length);
        self.delivered_at = now;
        let key = |mark: &Mark, sent_at| (mark.delivered, sent_at, mark.number);
        let newer = self.newest.is_none_or(|newest| key(&mark, sent.sent_at) > key(&newest.mark, newest.sent_at));
        if newer {
            self.newest = Some(Newest { mark, sent_at: sent.sent_at, once: sent.once });
            self.first_sent_at = sent.sent_at;
        }
    }

    /// Counts segments found lost.
    pub(crate) const fn on_lost(&mut self, segments: u32) {
        self.lost = self.lost.wrapping_add(segments);
    }

    /// The sample of an acknowledgement whose deliveries have all been reported, with `in_flight` segments left in the
    /// network of `in_flight_before`; `window_limited`: the window held data back lately.
    pub(crate) fn sample(
        &mut self,
        (in_flight_before, in_flight): (u32, u32),
        until_departure: Span,
        window_limited: bool,
    ) -> Option<RateSample> {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let Newest { mark, sent_at, once } = self.newest.take()?;
        let round_trip = once.then(|| self.delivered_at.saturating_since(sent_at));
        self.shortest = self.shortest.min(round_trip.unwrap_or(Span::MAX));
        let send = sent_at.saturating_since(mark.first_sent_at);
        let acknowledge = self.delivered_at.saturating_since(mark.delivered_at);
        let interval = send.max(acknowledge);
        if interval.is_zero() || (self.shortest != Span::MAX && interval < self.shortest) {
            return None;
        }
        let lost_before = core::mem::replace(&mut self.lost_before, self.lost);
        Some(RateSample {
            delivered: Bytes(self.delivered - mark.delivered),
            interval,
            delivered_before: Bytes(mark.delivered),
            delivered_in_total: Bytes(self.delivered),
            application_limited: mark.application_limited,
            round_trip,
            in_flight,
            in_flight_when_sent: mark.in_flight,
            in_flight_before,
            until_departure,
            lost: self.lost.wrapping_sub(mark.lost),
            newly_lost: self.lost.wrapping_sub(lost_before),
            window_limited,
        })
    }

    /// The application has nothing more to send, and the window room.
    pub(crate) fn on_application_limited(&mut self, in_network: u32) {
        self.limited_until = (self.delivered + u64::from(in_network)).max(1);
    }

    const fn slot(&self, number: u32) -> usize {
        number as usize & (self.marks.len() - 1)
    }

    #[cold]
    fn double(&mut self) {
        let mut larger = vec![NO_MARK; self.marks.len() * 2];
        for mark in self.marks.iter().filter(|mark| mark.number != u32::MAX) {
            let slot = mark.number as usize & (larger.len() - 1);
            larger[slot] = *mark;
        }
        self.marks = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;
    use crate::tcp::scoreboard::{Scoreboard, Sent};

    fn place(board: &Scoreboard) -> (u32, u32, u32) {
        (board.first(), board.flight(), board.pipe())
    }

    fn send(rate: &mut DeliveryRate, board: &mut Scoreboard, ms: u64) -> u32 {
        let sent_at = Instant::from_ms(ms);
        let number = board.push(Sent {
            sent_at,
            first_sent_at: sent_at,
            written_at: sent_at,
            offset: 0,
            length: 1000,
            transmissions: 1,
            flags: Flags::NONE,
        });
        rate.on_sent(sent_at, number, place(board));
        number
    }

    /// Everything sent arrives.
    fn deliver(rate: &mut DeliveryRate, board: &mut Scoreboard, ms: u64) -> Option<RateSample> {
        for number in board.first()..board.next() {
            rate.on_delivered(Instant::from_ms(ms), number, board.segment(number).delivered());
        }
        board.acknowledge(board.next());
        rate.sample((0, 0), Span::ZERO, false)
    }

    #[test]
    fn a_sample_is_what_was_delivered_in_the_longer_of_both_times() {
        let (mut rate, mut board) = (DeliveryRate::new(), Scoreboard::new(1000));
        send(&mut rate, &mut board, 0);
        send(&mut rate, &mut board, 10);
        let sample = deliver(&mut rate, &mut board, 100).expect("a sample");
        assert_eq!(sample.delivered, Bytes(2000));
        assert_eq!(sample.interval, Span::from_ms(100));
        assert_eq!(sample.rate().as_bps(), 160_000);
        assert_eq!(rate.sample((0, 0), Span::ZERO, false), None, "nothing new");
        assert_eq!(sample.round_trip, Some(Span::from_ms(90)));
        // An acknowledgement 30 ms after the repetition, faster than a round trip can be, answers the first copy.
        let number = send(&mut rate, &mut board, 200);
        board.mark_lost(number);
        board.retransmit(number, Instant::from_ms(250));
        rate.on_sent(Instant::from_ms(250), number, place(&board));
        assert_eq!(deliver(&mut rate, &mut board, 280), None);
    }

    #[test]
    fn samples_are_limited_by_the_application_until_what_was_in_the_network_is_delivered() {
        let (mut rate, mut board) = (DeliveryRate::new(), Scoreboard::new(1000));
        send(&mut rate, &mut board, 0);
        rate.on_application_limited(1000);
        send(&mut rate, &mut board, 1);
        let limited = [100, 300, 500].map(|ms| {
            let sample = deliver(&mut rate, &mut board, ms).expect("a sample");
            send(&mut rate, &mut board, ms + 100);
            sample.application_limited
        });
        assert_eq!(limited, [true, false, false]);
        // 4000 bytes have arrived and 1000 are on their way: the limit is passed by the segment after those.
        rate.on_application_limited(1000);
        let limited = [700, 900].map(|ms| {
            deliver(&mut rate, &mut board, ms).expect("a sample");
            send(&mut rate, &mut board, ms + 100);
            rate.limited_until > 0
        });
        assert_eq!((limited, rate.delivered), ([true, false], 6000));
    }

    #[test]
    fn deliveries_and_losses_count_from_the_sending_of_the_newest_segment() {
        let (mut rate, mut board) = (DeliveryRate::new(), Scoreboard::new(1000));
        rate.on_lost(2);
        let samples = [0, 200].map(|ms| {
            send(&mut rate, &mut board, ms);
            rate.on_lost(3);
            deliver(&mut rate, &mut board, ms + 100).expect("an interval may be just a round trip")
        });
        let found = samples.map(|sample| (sample.delivered.0, sample.lost, sample.newly_lost));
        assert_eq!(found, [(1000, 3, 5), (1000, 3, 3)]);
        let number = send(&mut rate, &mut board, 400);
        let empty = Delivered { length: 0, ..board.segment(number).delivered() };
        rate.on_delivered(Instant::from_ms(500), number, empty);
        assert_eq!(rate.sample((0, 0), Span::ZERO, false), None, "without data");
    }

    #[test]
    fn the_ring_grows_with_what_is_outstanding() {
        let (mut rate, mut board) = (DeliveryRate::new(), Scoreboard::new(1000));
        for ms in 0..200 {
            send(&mut rate, &mut board, ms);
        }
        let sample = deliver(&mut rate, &mut board, 400).expect("a sample");
        assert_eq!(sample.delivered, Bytes(200_000));
        assert_eq!(sample.interval, Span::from_ms(400));
        send(&mut rate, &mut board, 500);
        assert_eq!(rate.bytes(), size_of::<DeliveryRate>() + 256 * size_of::<Mark>());
    }
}
