//! Which outstanding segments are lost.
//!
//! Source: RFC 5681 section 3.2 (three duplicates), RFC 6675 section 4 (`IsLost`), ns-2.35
//! `scoreboard1.cc` (forward acknowledgement, lost retransmissions), ns-2.35 FullTcp with SACK,
//! RFC 8985 sections 6.2 and 6.3 (RACK).
//! Deviations: RFC 6675 is applied in segments, where its byte rule adds nothing. ns-2 looks at a
//! SACK block that lies below others only as far as that block; here every look is complete.

use super::scoreboard::{Scoreboard, Sent};
use crate::CongestionState;
use crate::common::rtt::RoundTrip;
use crate::config::LossDetection;
use alloc::collections::VecDeque;
use sojourn_base::{Instant, Span};

/// The duplicates (or SACKed segments above) that make a loss (RFC 5681, RFC 6675 `DupThresh`).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;
/// Congestion recoveries for which a widened reordering window is kept (RFC 8985 section 6.2).
const PERSISTENCE: u32 = 16;
/// A retransmission is lost when the fifth one after it has arrived (ns-2.35 `scoreboard1.cc`: its
/// number plus the duplicate threshold plus 1 is below that of the last one answered).
const OVERTAKEN: u32 = DUPLICATE_THRESHOLD + 1;

/// A retransmission in flight, in the order of sending.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    number: u32,
    /// Place in the order of retransmissions, from 1.
    rank: u32,
    /// Next new segment when it was sent.
    next: u32,
    sent_at: Instant,
}

/// RACK's state: the segment that was sent last among those delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rack {
    sent_at: Instant,
    number: u32,
    round_trip: Span,
    valid: bool,
    /// One above the highest segment delivered.
    highest: u32,
    reordering_seen: bool,
    /// Quarters of the minimum round trip in the reordering window.
    multiplier: u64,
    persistence: u32,
    /// End of the round in which the multiplier was raised last.
    raised_until: u32,
    /// Every segment below has been judged; those sent once are SACKed, lost or repaired.
    judged_below: u32,
}

impl Rack {
    const NEW: Self = Self {
        sent_at: Instant::ZERO,
        number: 0,
        round_trip: Span::ZERO,
        valid: false,
        highest: 0,
        reordering_seen: false,
        multiplier: 1,
        persistence: 0,
        raised_until: 0,
        judged_below: 0,
    };
}

/// Loss detection of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    mode: LossDetection,
    retransmissions: VecDeque<Retransmission>,
    /// Retransmissions so far, and the rank of the last one answered; the rank that a SACK block of
    /// this acknowledgement has answered counts from the next one on.
    rank: u32,
    answered: u32,
    answered_by_block: Option<u32>,
    rack: Rack,
    deadline: Instant,
}

impl Detector {
    pub(crate) fn new(mode: LossDetection) -> Self {
        Self {
            mode,
            retransmissions: VecDeque::new(),
            rank: 0,
            answered: 0,
            answered_by_block: None,
            rack: Rack::NEW,
            deadline: Instant::NEVER,
        }
    }

    pub(crate) fn reset(&mut self, mode: LossDetection) {
        self.forget();
        (self.mode, self.rack, self.deadline) = (mode, Rack::NEW, Instant::NEVER);
    }

    /// Returns true if [`Self::on_delivered`] must be called.
    pub(crate) const fn follows_deliveries(&self) -> bool {
        matches!(self.mode, LossDetection::Rack)
    }

    /// Returns true if [`Self::on_answered`] must be called.
    pub(crate) fn follows_retransmissions(&self) -> bool {
        self.mode == LossDetection::ForwardAck && !self.retransmissions.is_empty()
    }

    /// A segment has reached the peer; `by_block`: a SACK block says so.
    pub(crate) fn on_answered(&mut self, number: u32, segment: &Sent, by_block: bool) {
        if segment.transmissions == 1 {
            return;
        }
        let sent_at = segment.sent_at;
        let from = self.retransmissions.partition_point(|entry| entry.sent_at < sent_at);
        let entry = self
            .retransmissions
            .range(from..)
            .take_while(|entry| entry.sent_at == sent_at)
            .find(|entry| entry.number == number);
        match entry {
            Some(entry) if by_block => self.answered_by_block = Some(entry.rank),
            Some(entry) => self.answered = self.answered.max(entry.rank),
            None => {}
        }
    }

    /// A segment has reached the peer (RFC 8985 section 6.2, steps 2 and 3).
    pub(crate) fn on_delivered(&mut self, now: Instant, number: u32, segment: &Sent, round_trip: &RoundTrip) {
        let rack = &mut self.rack;
        let elapsed = now.saturating_since(segment.sent_at);
        if segment.transmissions == 1 {
            if number + 1 < rack.highest {
                rack.reordering_seen = true;
            }
        } else if elapsed < round_trip.minimum() {
            // The original arrived, not the retransmission.
            return;
        }
        if !rack.valid || (segment.sent_at, number) > (rack.sent_at, rack.number) {
            (rack.sent_at, rack.number, rack.round_trip) = (segment.sent_at, number, elapsed);
            rack.valid = true;
        }
    }

    /// Everything from `first` up to `newest` has reached the peer in the order of sending, each segment sent once,
    /// `newest` at `sent_at`. It comes to the same as telling of each delivery and detecting, if [`Self::is_quiet`] said
    /// so before: those below were sent no later, those above no earlier.
    pub(crate) fn on_delivered_in_order(&mut self, now: Instant, first: u32, (newest, sent_at): (u32, Instant)) {
        if self.mode != LossDetection::Rack {
            return;
        }
        self.deadline = Instant::NEVER;
        let rack = &mut self.rack;
        rack.reordering_seen |= first + 1 < rack.highest;
        (rack.sent_at, rack.number, rack.valid) = (sent_at, newest, true);
        rack.round_trip = now.saturating_since(sent_at);
        rack.highest = rack.highest.max(newest + 1);
    }

    /// Returns true if no segment can be found lost as long as the peer gets everything in the order of sending;
    /// `number` is the oldest outstanding segment, sent once, at `sent_at`.
    pub(crate) fn is_quiet(&self, number: u32, sent_at: Instant) -> bool {
        self.mode != LossDetection::Rack
            || (self.retransmissions.is_empty() && (self.rack.sent_at, self.rack.number) < (sent_at, number))
    }

    /// All deliveries of an acknowledgement have been reported; `end` is one above the highest of them.
    pub(crate) fn end_of_deliveries(&mut self, end: u32) {
        self.rack.highest = self.rack.highest.max(end);
    }

    /// The peer reports a duplicate: widen the reordering window, once per round trip.
    pub(crate) fn on_duplicate_report(&mut self, board: &Scoreboard) {
        let rack = &mut self.rack;
        if board.first() >= rack.raised_until {
            rack.multiplier += 1;
            rack.persistence = PERSISTENCE;
            rack.raised_until = board.next();
        }
    }

    /// A recovery has ended.
    pub(crate) fn on_recovery_end(&mut self) {
        let rack = &mut self.rack;
        rack.persistence = rack.persistence.saturating_sub(1);
        if rack.persistence == 0 {
            rack.multiplier = 1;
        }
    }

    /// Segment `number` is sent again.
    pub(crate) fn on_retransmitted(&mut self, number: u32, board: &Scoreboard, now: Instant) {
        if matches!(self.mode, LossDetection::ForwardAck | LossDetection::Rack) {
            self.rank += 1;
            self.retransmissions.push_back(Retransmission {
                number,
                rank: self.rank,
                next: board.next(),
                sent_at: now,
            });
        }
    }

    /// The scoreboard has been forgotten.
    pub(crate) fn forget(&mut self) {
        self.retransmissions.clear();
        (self.rank, self.answered, self.answered_by_block) = (0, 0, None);
    }

    /// A timeout has marked everything lost.
    pub(crate) fn on_timeout(&mut self, board: &Scoreboard) {
        self.forget();
        self.rack.judged_below = board.next();
        self.deadline = Instant::NEVER;
    }

    /// Returns the time at which [`Self::detect`] must be called without an acknowledgement.
    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Mark what is lost by now; returns how many marks are new.
    pub(crate) fn detect(
        &mut self,
        (now, state): (Instant, CongestionState),
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
    ) -> u32 {
        match self.mode {
            // QUIC has endpoints of its own.
            LossDetection::ThreeDuplicates | LossDetection::Quic => 0,
            LossDetection::Sack6675 => board.third_highest_sacked().map_or(0, |third| board.mark_lost_below(third)),
            LossDetection::FullTcpSack if state != CongestionState::Recovery => 0,
            LossDetection::FullTcpSack => board.highest_sacked().map_or(0, |highest| board.mark_lost_below(highest)),
            LossDetection::ForwardAck => self.detect_forward(board),
            LossDetection::Rack => self.detect_by_time((now, state), board, round_trip),
        }
    }

    fn detect_forward(&mut self, board: &mut Scoreboard) -> u32 {
        let answered = self.answered;
        self.answered = self.answered_by_block.take().unwrap_or(answered);
        let Some(highest) = board.highest_sacked() else {
            return 0;
        };
        let mut count = board.mark_lost_below(highest.saturating_sub(DUPLICATE_THRESHOLD));
        while let Some(front) = self.oldest_retransmission(board) {
            if front.next > highest && front.rank + OVERTAKEN >= answered {
                break;
            }
            count += u32::from(board.mark_lost(front.number));
            self.retransmissions.pop_front();
        }
        count
    }

    fn detect_by_time(
        &mut self,
        (now, state): (Instant, CongestionState),
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
    ) -> u32 {
        self.deadline = Instant::NEVER;
        if !self.rack.valid {
            return 0;
        }
        if board.is_plain() && self.retransmissions.is_empty() && self.is_ahead(board) {
            return 0;
        }
        let patience = self.rack.round_trip + self.reordering_window(state, board, round_trip);
        let latest = (self.rack.sent_at, self.rack.number);
        let mut count = 0;

        let mut from = self.rack.judged_below;
        while let Some(number) = board.next_untouched(from, board.next()) {
            let sent_at = board.segment(number).sent_at;
            if (sent_at, number) >= latest || !self.is_overdue(now, sent_at + patience) {
                from = number;
                break;
            }
            count += u32::from(board.mark_lost(number));
            from = number + 1;
        }
        self.rack.judged_below = from;

        while let Some(front) = self.oldest_retransmission(board) {
            let sent_at = front.sent_at;
            // Of two transmissions in one instant, a new segment numbered `next` or above was later.
            let earlier = sent_at < latest.0 || (sent_at == latest.0 && latest.1 >= front.next);
            if !earlier || !self.is_overdue(now, sent_at + patience) {
                break;
            }
            count += u32::from(board.mark_lost(front.number));
            self.retransmissions.pop_front();
        }
        count
    }

    /// Returns true if the oldest segment that was not judged yet was sent after the newest delivered one. Requires
    /// that no segment is SACKed.
    fn is_ahead(&self, board: &Scoreboard) -> bool {
        let oldest = self.rack.judged_below.max(board.first());
        oldest >= board.next() || (board.segment(oldest).sent_at, oldest) >= (self.rack.sent_at, self.rack.number)
    }

    fn is_overdue(&mut self, now: Instant, lost_at: Instant) -> bool {
        let overdue = now >= lost_at;
        if !overdue {
            self.deadline = self.deadline.min(lost_at);
        }
        overdue
    }

    /// RFC 8985 section 6.2, step 4.
    fn reordering_window(&self, state: CongestionState, board: &Scoreboard, round_trip: &RoundTrip) -> Span {
        let repairs = matches!(state, CongestionState::Recovery | CongestionState::Loss);
        let certain = repairs || board.sacked() >= DUPLICATE_THRESHOLD;
        if !self.rack.reordering_seen && certain {
            return Span::ZERO;
        }
        let quarter = round_trip.minimum() / 4;
        quarter.saturating_mul(self.rack.multiplier).min(round_trip.smoothed().unwrap_or(Span::MAX))
    }

    /// The oldest retransmission that is still outstanding; older entries are dropped.
    fn oldest_retransmission(&mut self, board: &Scoreboard) -> Option<Retransmission> {
        while let Some(&front) = self.retransmissions.front() {
            let outstanding = front.number >= board.first()
                && board.is_retransmitted(front.number)
                && board.segment(front.number).sent_at == front.sent_at;
            if outstanding {
                return Some(front);
            }
            self.retransmissions.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    /// Three segments, sent at 0, 10 and 20 ms, and the first again at 15 ms; the least round trip is 20 ms.
    fn repeated() -> (Scoreboard, Detector, RoundTrip) {
        let mut board = sent(&[0, 10, 20]);
        let mut detector = Detector::new(LossDetection::Rack);
        let mut round_trip = RoundTrip::default();
        round_trip.sample(Instant::ZERO, Span::from_ms(20), false);
        board.mark_lost(0);
        board.retransmit(0, Instant::from_ms(15));
        detector.on_retransmitted(0, &board, Instant::from_ms(15));
        (board, detector, round_trip)
    }

    /// RFC 8985 section 6.2, step 2: what is acknowledged in less than the least round trip was not the repetition; in just
    /// that time it was.
    #[test]
    fn a_repetition_counts_from_the_least_round_trip_on() {
        for (round_trip_us, counts) in [(19_999, false), (20_000, true)] {
            let (board, mut detector, round_trip) = repeated();
            let now = Instant::from_us(15_000 + round_trip_us);
            detector.on_delivered(now, 0, board.segment(0), &round_trip);
            assert_eq!(detector.rack.valid, counts, "{round_trip_us} us");
        }
    }

    #[test]
    fn a_repetition_that_arrives_may_have_overtaken_what_was_sent_before_it() {
        let (mut board, mut detector, round_trip) = repeated();
        let now = Instant::from_ms(45);
        detector.on_delivered(now, 0, board.segment(0), &round_trip);
        board.acknowledge(1);
        assert!(board.is_plain());
        let quiet = |detector: &Detector, number| detector.is_quiet(number, board.segment(number).sent_at);
        assert!(!quiet(&detector, 2), "the repetition is not forgotten yet");
        let mut later = board.clone();
        let found = detector.detect((now, CongestionState::Open), &mut later, &round_trip);
        assert_eq!((found, later.is_lost(1)), (1, true));
        assert!(!quiet(&detector, 1), "sent before the repetition");
        assert!(quiet(&detector, 2), "sent after it");
    }

    /// Segments that were sent once each, at these times in ms.
    fn sent(times: &[u64]) -> Scoreboard {
        let mut board = Scoreboard::new(1000);
        for ms in times {
            send(&mut board, *ms);
        }
        board
    }

    fn send(board: &mut Scoreboard, ms: u64) {
        let sent_at = Instant::from_ms(ms);
        board.push(Sent {
            sent_at,
            first_sent_at: sent_at,
            written_at: sent_at,
            offset: 1000 * board.next(),
            length: 1000,
            transmissions: 1,
            flags: Flags::NONE,
        });
    }

    /// RFC 8985 section 6.2, step 5: a repetition is lost if what was sent after it has arrived; of two segments of one instant the
    /// new one is later if the repetition was sent before it.
    #[test]
    fn a_repetition_is_lost_if_what_was_sent_after_it_has_arrived() {
        for (is_first, new_ms, lost) in [(true, 20, 1), (false, 20, 0), (true, 30, 1)] {
            let (mut board, mut detector) = (sent(&[0, 10]), Detector::new(LossDetection::Rack));
            let now = Instant::from_ms(20);
            if !is_first {
                send(&mut board, new_ms);
            }
            board.mark_lost(0);
            board.retransmit(0, now);
            detector.on_retransmitted(0, &board, now);
            if is_first {
                send(&mut board, new_ms);
            }
            detector.on_delivered(Instant::from_ms(100), 2, board.segment(2), &RoundTrip::default());
            board.sack(2, 3, |_, _| ());
            let later = (Instant::from_ms(200), CongestionState::Recovery);
            let found = detector.detect(later, &mut board, &RoundTrip::default());
            assert_eq!((found, board.is_retransmitted(0)), (1 + lost, lost == 0));
        }
    }

    #[test]
    fn deliveries_in_order_come_to_the_same_at_once_as_one_by_one() {
        // Without a segment above the first delivered before, with the first itself, with the second.
        for (times, highest) in [(&[0, 10, 20][..], 0), (&[0], 1), (&[5, 5, 5], 2)] {
            let board = sent(times);
            let now = Instant::from_ms(45);
            let mut one_by_one = Detector::new(LossDetection::Rack);
            one_by_one.end_of_deliveries(highest);
            for number in 0..board.next() {
                one_by_one.on_delivered(now, number, board.segment(number), &RoundTrip::default());
            }
            one_by_one.end_of_deliveries(board.next());
            let newest = board.next() - 1;
            let mut at_once = Detector::new(LossDetection::Rack);
            at_once.end_of_deliveries(highest);
            at_once.on_delivered_in_order(now, 0, (newest, board.segment(newest).sent_at));
            assert!(at_once.rack.valid, "{times:?}");
            assert_eq!(at_once.rack, one_by_one.rack, "{times:?}");
        }
    }

    /// RFC 8985 section 6.2, step 4: a duplicate report widens the window by a quarter, once per round trip; sixteen recoveries
    /// without another take that back.
    #[test]
    fn duplicate_reports_widen_the_window_once_per_round_trip() {
        let mut board = sent(&[0, 0, 0]);
        let mut detector = Detector::new(LossDetection::Rack);
        for _ in 0..2 {
            detector.on_duplicate_report(&board);
            assert_eq!(detector.rack.multiplier, 2);
        }
        board.acknowledge(3);
        detector.on_duplicate_report(&board);
        assert_eq!(detector.rack.multiplier, 3);
        for left in (0..16).rev() {
            detector.on_recovery_end();
            assert_eq!(detector.rack.multiplier, if left == 0 { 1 } else { 3 });
        }
    }

    #[test]
    fn a_timeout_forgets_repetitions_and_judges_what_is_sent_from_then_on() {
        let (board, mut detector, _) = repeated();
        detector.on_timeout(&board);
        assert!(detector.retransmissions.is_empty());
        assert_eq!((detector.rank, detector.rack.judged_below, detector.deadline()), (0, 3, Instant::NEVER));
    }

    /// Five segments sent at 0, all lost and sent again: 0 and 1 at 10 ms, 2 at 20 ms, 0 once more at 30 ms.
    fn repeated_thrice() -> (Scoreboard, Detector) {
        let (mut board, mut detector) = (sent(&[0; 5]), Detector::new(LossDetection::ForwardAck));
        for (number, ms) in [(0, 10), (1, 10), (2, 20), (0, 30)] {
            board.mark_lost(number);
            board.retransmit(number, Instant::from_ms(ms));
            detector.on_retransmitted(number, &board, Instant::from_ms(ms));
        }
        (board, detector)
    }

    /// ns-2.35 `scoreboard1.cc`: an answer is that of the last repetition of its segment; blocks count from the next
    /// acknowledgement on, and an older answer takes nothing back.
    #[test]
    fn an_answer_is_that_of_the_repetition_of_its_time_and_number() {
        for (number, rank) in [(0, 4), (1, 2), (2, 3), (3, 0)] {
            let (board, mut detector) = repeated_thrice();
            assert!(detector.follows_retransmissions());
            detector.on_answered(number, board.segment(number), false);
            assert_eq!((detector.answered, detector.answered_by_block), (rank, None), "{number}");
            let (board, mut detector) = repeated_thrice();
            detector.on_answered(number, board.segment(number), true);
            assert_eq!((detector.answered, detector.answered_by_block.unwrap_or(0)), (0, rank), "{number}");
        }
        let (board, mut detector) = repeated_thrice();
        assert_eq!(detector.oldest_retransmission(&board).map(|oldest| oldest.number), Some(1));
        for number in [2, 1] {
            detector.on_answered(number, board.segment(number), false);
        }
        assert_eq!(detector.answered, 3);
    }

    /// RFC 8985 section 6.2, step 5: patience lasts for the round trip of the newest delivery, 30 ms, and the window, here
    /// half of 20 ms.
    #[test]
    fn a_segment_sent_before_the_newest_delivery_is_lost_when_patience_ends() {
        let (board, detector, round_trip) = repeated();
        let by_block = (sent(&[0, 5]), Detector::new(LossDetection::Rack));
        for ((mut board, mut detector), newest, times, judged) in
            [((board, detector), 0, [45, 50], 2), (by_block, 1, [35, 40], 1)]
        {
            detector.rack.multiplier = 2;
            detector.on_delivered(Instant::from_ms(times[0]), newest, board.segment(newest), &round_trip);
            if newest == 0 {
                board.acknowledge(1);
            } else {
                board.sack(1, 2, |_, _| ());
            }
            let ends = Instant::from_ms(times[1]);
            for (ms, found, deadline) in [(times[0], 0, ends), (times[1], 1, Instant::NEVER)] {
                let now = (Instant::from_ms(ms), CongestionState::Open);
                let detected = detector.detect(now, &mut board, &round_trip);
                assert_eq!((detected, detector.deadline()), (found, deadline), "{newest} at {ms} ms");
            }
            assert_eq!(detector.rack.judged_below, judged);
        }
    }

    /// RFC 8985 section 6.2, step 4: a quarter of the least round trip, 20 ms, or nothing while no reordering was seen and three
    /// segments are SACKed or a loss is repaired.
    #[test]
    fn the_reordering_window_is_closed_by_certain_losses_until_reordering_is_seen() {
        let (_, mut detector, round_trip) = repeated();
        for (state, sacked, seen, ms) in [
            (CongestionState::Open, 2, false, 5),
            (CongestionState::Open, 3, false, 0),
            (CongestionState::Recovery, 0, false, 0),
            (CongestionState::Loss, 0, false, 0),
            (CongestionState::Open, 2, true, 5),
            (CongestionState::Recovery, 3, true, 5),
        ] {
            let mut board = sent(&[0; 5]);
            board.sack(1, 1 + sacked, |_, _| ());
            detector.rack.reordering_seen = seen;
            let window = detector.reordering_window(state, &board, &round_trip);
            assert_eq!(window, Span::from_ms(ms), "{state:?} {sacked} {seen}");
        }
    }

    /// RFC 8985 section 6.2, step 3: a segment sent once is delivered below the highest one.
    #[test]
    fn a_delivery_below_the_highest_is_reordering() {
        for (number, seen) in [(3, true), (4, false)] {
            let (board, mut detector) = (sent(&[0; 6]), Detector::new(LossDetection::Rack));
            detector.end_of_deliveries(5);
            detector.on_delivered(Instant::from_ms(9), number, board.segment(number), &RoundTrip::default());
            assert_eq!(detector.rack.reordering_seen, seen, "{number}");
        }
    }

    /// RFC 6675 section 4: below the third highest SACKed segment; ns-2.35 FullTcp: below the highest, in recovery.
    #[test]
    fn blocks_show_losses_below_the_third_highest_or_the_highest_segment() {
        for (mode, state, lost) in [
            (LossDetection::Sack6675, CongestionState::Open, 1),
            (LossDetection::FullTcpSack, CongestionState::Open, 0),
            (LossDetection::FullTcpSack, CongestionState::Recovery, 3),
        ] {
            let mut board = sent(&[0; 6]);
            for number in [1, 3, 5] {
                board.sack(number, number + 1, |_, _| ());
            }
            let found = Detector::new(mode).detect((Instant::ZERO, state), &mut board, &RoundTrip::default());
            assert_eq!(found, lost, "{mode:?} {state:?}");
        }
    }

    /// ns-2.35 `scoreboard1.cc`: all but three segments below the highest SACKed one are lost; a repetition is lost if a segment
    /// that was new after it is SACKed, or if the fifth repetition after it is answered.
    #[test]
    fn forward_acknowledgement_goes_by_the_highest_block_and_by_answers_to_later_repetitions() {
        for (answered, highest, lost) in [(None, 9, 0), (Some(4), 9, 0), (Some(5), 9, 1), (None, 10, 7)] {
            let (mut board, mut detector) = (sent(&[0; 10]), Detector::new(LossDetection::ForwardAck));
            let detect = |detector: &mut Detector, board: &mut Scoreboard| {
                detector.detect((Instant::ZERO, CongestionState::Recovery), board, &RoundTrip::default())
            };
            board.sack(9, 10, |_, _| ());
            assert_eq!(detect(&mut detector, &mut board), 6);
            for number in 0..6 {
                let now = Instant::from_ms(10 + u64::from(number));
                board.retransmit(number, now);
                detector.on_retransmitted(number, &board, now);
            }
            send(&mut board, 20);
            board.sack(highest, highest + 1, |_, _| ());
            if let Some(number) = answered {
                detector.on_answered(number, board.segment(number), false);
                board.sack(number, number + 1, |_, _| ());
            }
            assert_eq!(detect(&mut detector, &mut board), lost, "{answered:?} {highest}");
        }
    }

    #[test]
    fn each_method_asks_for_the_reports_that_it_uses() {
        for (mode, deliveries, retransmissions) in [
            (LossDetection::ForwardAck, false, true),
            (LossDetection::Rack, true, false),
            (LossDetection::Sack6675, false, false),
        ] {
            let (mut board, mut detector) = (sent(&[0]), Detector::new(mode));
            assert!(!detector.follows_retransmissions(), "{mode:?}");
            board.mark_lost(0);
            board.retransmit(0, Instant::from_ms(10));
            detector.on_retransmitted(0, &board, Instant::from_ms(10));
            assert_eq!(
                (detector.follows_deliveries(), detector.follows_retransmissions()),
                (deliveries, retransmissions)
            );
            detector.reset(mode);
            assert!(!detector.follows_retransmissions(), "{mode:?}");
        }
    }
}
