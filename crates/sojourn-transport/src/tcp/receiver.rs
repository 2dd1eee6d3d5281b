//! Received data, and times and contents of acknowledgements.
//!
//! Source: RFC 5681 section 4.2 (when to acknowledge), RFC 2018 section 4 (SACK blocks), RFC 2883
//! (duplicates), RFC 7323 section 4.3 (which time stamp to echo), RFC 3168
//! section 6.1.3, RFC 8257 section 3.2 and RFC 9768 section 3.2.2 (echo and count of marks); Linux for quick acknowledgements and for PSH
//! (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`);
//! ns-2.35 FullTcp for the heartbeat.
//! Deviations: a duplicate is reported by a flag instead of a block; the application reads at once,
//! so the window never closes. Marks of pure acknowledgements are not counted.

use super::receive_window::ReceiveWindow;
use crate::common::marks::FIRST_COUNT;
use crate::config::{AckPolicy, AckTimer, AckUnit, EcnMode, StackConfig};
use crate::{Flags, SackBlocks, Segment};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{Ecn, Instant, Span};

/// Response to the arrival of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Acknowledge now, in a packet of its own if the arrival was out of order.
    Now,
    /// Wait for company or for the timer.
    Later,
}

/// Receiving half of a connection.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the next acknowledgement")]
pub(crate) struct Receiver {
    policy: AckPolicy,
    segment_size: u32,
    /// Most blocks of an acknowledgement; none if the peer does not want any.
    most_blocks: u8,
    /// Next segment in order.
    next: u32,
    /// Bytes delivered in order.
    delivered: u64,
    /// Segments held out of order, and one above the highest of them.
    held: u32,
    highest: u32,
    /// Presence of segments out of order, and their lengths, by number modulo the ring's size.
    bits: Vec<u64>,
    lengths: Vec<u16>,
    mask: u32,
    /// Most recently changed blocks, newest first; each is maximal.
    blocks: [(u32, u32); 4],
    fin: Option<u32>,
    pending_segments: u32,
    pending_bytes: u32,
    /// The next acknowledgement is due at once and may not ride on data.
    urgent: bool,
    due: bool,
    duplicate: bool,
    deadline: Instant,
    echo: Instant,
    one_way_delay: u64,
    quick_left: u32,
    last_arrival: Instant,
    /// With the habit of acknowledging each segment that makes it grow.
    window: Option<Box<ReceiveWindow>>,
    /// ECN echo: until the peer confirms (RFC 3168 section 6.1.3), or for the last data segment (`DCTCP.CE`).
    /// With a count: whether the last data segment was marked.
    echo_congestion: bool,
    /// Marked segments that have arrived (`r.cep`), and those of them that no acknowledgement has reported.
    marks: u16,
    unreported: u8,
}

/// Marks since the last acknowledgement that are reported at once, with data waiting to be acknowledged (RFC 9768
/// section 3.2.2.5.1, `n`; there always are when one arrives).
const MARKS_AT_ONCE: u8 = 2;

/// Segments of a new ring. chosen: as the sender's.
const INITIAL_SLOTS: u32 = 64;

/// Bytes of new rings.
pub(crate) const INITIAL_BYTES: usize = INITIAL_SLOTS as usize * size_of::<u16>() + size_of::<u64>();

impl Receiver {
    /// Bytes that its rings take.
    pub(crate) fn bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>() + self.lengths.capacity() * size_of::<u16>()
    }

    pub(crate) fn new(config: &StackConfig) -> Self {
        let policy = config.acknowledge;
        Self {
            policy,
            segment_size: config.maximum_segment_size,
            most_blocks: config.sack_blocks(),
            next: 0,
            delivered: 0,
            held: 0,
            highest: 0,
            bits: vec![0; (INITIAL_SLOTS / 64) as usize],
            lengths: vec![0; INITIAL_SLOTS as usize],
            mask: INITIAL_SLOTS - 1,
            blocks: [(0, 0); 4],
            fin: None,
            pending_segments: 0,
            pending_bytes: 0,
            urgent: false,
            due: false,
            duplicate: false,
            deadline: Instant::NEVER,
            echo: Instant::NEVER,
            one_way_delay: 0,
            quick_left: policy.quick,
            last_arrival: Instant::ZERO,
            window: window(config),
            echo_congestion: false,
            marks: FIRST_COUNT,
            unreported: 0,
        }
    }

    /// Start again and keep the memory.
    pub(crate) fn reset(&mut self, config: &StackConfig) {
        let policy = config.acknowledge;
        let mut bits = core::mem::take(&mut self.bits);
        let lengths = core::mem::take(&mut self.lengths);
        bits.fill(0);
        *self = Self {
            bits,
            lengths,
            mask: self.mask,
            next: 0,
            delivered: 0,
            held: 0,
            highest: 0,
            policy,
            segment_size: config.maximum_segment_size,
            most_blocks: config.sack_blocks(),
            blocks: [(0, 0); 4],
            fin: None,
            pending_segments: 0,
            pending_bytes: 0,
            urgent: false,
            due: false,
            duplicate: false,
            deadline: Instant::NEVER,
            echo: Instant::NEVER,
            one_way_delay: 0,
            quick_left: policy.quick,
            last_arrival: Instant::ZERO,
            window: window(config),
            echo_congestion: false,
            marks: FIRST_COUNT,
            unreported: 0,
        };
    }

    /// A segment with data, a FIN, or a place in the sequence has arrived. `ecn`: the way of echoing congestion marks
    /// to the peer. `idle_limit` is the time after which the connection counts as idle, `round_trip` that of its sender, if it is
    /// known.
    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        now: Instant,
        segment: &Segment,
        ecn: EcnMode,
        idle_limit: impl FnOnce() -> Span,
        round_trip: impl FnOnce() -> Option<Span>,
    ) {
        let tells = ecn != EcnMode::Off && self.note_congestion(segment, ecn);
        if self.policy.quick > 0 {
            if now.saturating_since(self.last_arrival) > idle_limit() {
                self.quick_left = self.policy.quick;
            }
            self.last_arrival = now;
        }
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(segment.sequence);
        }
        if self.pending_segments == 0 {
            self.echo = segment.sent_at;
            self.one_way_delay = now.saturating_since(segment.sent_at).as_ps();
        }
        let response = self.place(segment);
        self.pending_segments += 1;
        self.pending_bytes += segment.payload;
        if let Some(window) = &mut self.window
            && segment.payload > 0
            && let Some(round_trip) = round_trip()
        {
            let delay = now.saturating_since(segment.sent_at).as_ps();
            self.quick_left |= u32::from(window.on_segment(now, self.delivered, round_trip, delay));
        }
        let quick = self.quick_left > 0;
        if quick {
            self.quick_left -= 1;
        }
        match response {
            Response::Now => (self.due, self.urgent) = (true, true),
            Response::Later
                if quick || tells || self.is_enough() || segment.flags.has_any(Flags::FIN.with(Flags::PSH)) =>
            {
                self.due = true;
            }
            Response::Later if self.deadline == Instant::NEVER => {
                self.deadline = match self.policy.timer {
                    AckTimer::OneShot => now + self.policy.delay,
                    AckTimer::Heartbeat => next_multiple(now, self.policy.delay),
                };
            }
            Response::Later => {}
        }
    }

    /// The delayed-acknowledgement timer may be due.
    pub(crate) fn on_timer(&mut self, now: Instant) {
        if now >= self.deadline {
            self.due = true;
        }
    }

    /// An acknowledgement is due now.
    pub(crate) const fn wants_acknowledgement(&self) -> bool {
        self.due
    }

    /// Fills in the cumulative acknowledgement of a segment with a place in the sequence. Urgent reports wait for an
    /// acknowledgement of their own.
    #[inline]
    pub(crate) fn stamp(&mut self, segment: &mut Segment) {
        segment.acknowledgement = self.next;
        segment.echo = self.echo;
        segment.one_way_delay_ps = self.one_way_delay;
        segment.marks = self.marks;
        segment.flags = segment.flags.with(Flags::ACK);
        if self.echo_congestion {
            segment.flags = segment.flags.with(Flags::ECE);
        }
        self.due &= self.urgent;
        (self.pending_segments, self.pending_bytes) = (0, 0);
        self.unreported = 0;
        self.deadline = Instant::NEVER;
    }

    /// Fill in everything that this end has to say about the peer's data.
    #[inline]
    pub(crate) fn stamp_acknowledgement(&mut self, segment: &mut Segment) {
        self.stamp(segment);
        if self.held > 0 && self.most_blocks > 0 {
            segment.sack = self.sack_blocks();
        }
        if self.duplicate {
            segment.flags = segment.flags.with(Flags::DSACK);
            self.duplicate = false;
        }
        (self.due, self.urgent) = (false, false);
    }

    /// Returns the time of the delayed acknowledgement.
    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Bytes delivered in order so far.
    pub(crate) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The peer's stream has ended and everything before has been delivered.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Next segment in order.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }

    /// Notes that something outside the data sequence (SYN) is about to be acknowledged.
    pub(crate) const fn note_echo(&mut self, now: Instant, sent_at: Instant) {
        self.echo = sent_at;
        self.one_way_delay = now.saturating_since(sent_at).as_ps();
    }

    /// Ask for an acknowledgement at once; data sent in the same moment may carry it.
    pub(crate) const fn acknowledge_soon(&mut self) {
        self.due = true;
    }

    /// Put the segment in its place; `Now` if it was out of order, a duplicate, or filled a gap.
    #[inline]
    fn place(&mut self, segment: &Segment) -> Response {
        let number = segment.sequence;
        if number == self.next {
            self.next += 1;
            self.delivered += u64::from(segment.payload);
            if self.held == 0 {
                return Response::Later;
            }
            self.take_in_order();
            return Response::Now;
        }
        self.hold(number, segment.payload);
        Response::Now
    }

    /// Keep a segment that is out of order, if it is not a duplicate.
    #[inline(never)] // most are in order
    fn hold(&mut self, number: u32, payload: u32) {
        if number < self.next || self.holds(number) {
            self.duplicate = true;
            return;
        }
        while number - self.next > self.mask {
            self.double();
        }
        let slot = (number & self.mask) as usize;
        self.bits[slot >> 6] |= 1 << (slot & 63);
        self.lengths[slot] = u16::try_from(payload).expect("segments are at most 65,535 bytes");
        self.held += 1;
        self.highest = self.highest.max(number + 1);

        let first = if self.holds_below(number) { self.start_of_run(number) } else { number };
        let end = if self.holds(number + 1) { self.end_of_run(number + 1) } else { number + 1 };
        self.note_block(first, end);
    }

    fn holds(&self, number: u32) -> bool {
        if number >= self.highest || number < self.next {
            return false;
        }
        let slot = (number & self.mask) as usize;
        self.bits[slot >> 6] >> (slot & 63) & 1 != 0
    }

    fn holds_below(&self, number: u32) -> bool {
        number.checked_sub(1).is_some_and(|below| self.holds(below))
    }

    /// First segment of the run that ends right below `number`; recent blocks answer at once.
    fn start_of_run(&self, number: u32) -> u32 {
        if let Some(block) = self.blocks.iter().find(|block| block.1 == number) {
            return block.0;
        }
        let mut first = number - 1;
        while self.holds_below(first) {
            let slot = ((first - 1) & self.mask) as usize;
            // Ones right below `first` within its word.
            let ones = (self.bits[slot >> 6] << (63 - (slot & 63))).leading_ones();
            first -= ones.min(first - self.next);
        }
        first
    }

    /// One above the last segment of the run that starts at `number`.
    fn end_of_run(&self, number: u32) -> u32 {
        if let Some(block) = self.blocks.iter().find(|block| block.0 == number) {
            return block.1;
        }
        let mut end = number + 1;
        while self.holds(end) {
            let slot = (end & self.mask) as usize;
            let ones = (self.bits[slot >> 6] >> (slot & 63)).trailing_ones();
            end += ones.min(self.highest - end);
        }
        end
    }

    /// The block `first..end` has changed: it becomes the newest, and those it contains disappear.
    fn note_block(&mut self, first: u32, end: u32) {
        let mut kept = [(0, 0); 4];
        kept[0] = (first, end);
        let mut count = 1;
        for &block in &self.blocks {
            let contained = block.0 >= first && block.1 <= end;
            if block.1 > self.next && !contained && count < kept.len() {
                kept[count] = block;
                count += 1;
            }
        }
        self.blocks = kept;
    }

    /// Deliver what has become contiguous.
    #[inline(never)] // most leave nothing behind them
    fn take_in_order(&mut self) {
        while self.holds(self.next) {
            let slot = (self.next & self.mask) as usize;
            self.bits[slot >> 6] &= !(1 << (slot & 63));
            self.delivered += u64::from(self.lengths[slot]);
            self.held -= 1;
            self.next += 1;
        }
        for block in &mut self.blocks {
            if block.1 <= self.next {
                *block = (0, 0);
            }
        }
    }

    fn sack_blocks(&self) -> SackBlocks {
        let mut sack = SackBlocks::NONE;
        let current = self.blocks.iter().filter(|block| block.1 > self.next);
        for block in current.take(usize::from(self.most_blocks)) {
            sack.push(block.0, block.1);
        }
        sack
    }

    const fn is_enough(&self) -> bool {
        match self.policy.unit {
            AckUnit::Segments => self.pending_segments >= self.policy.every,
            AckUnit::FullSegments => self.pending_bytes >= self.policy.every * self.segment_size,
        }
    }

    /// Returns true if earlier arrivals must be acknowledged before `segment`: it was marked and they were not, or the
    /// other way round (RFC 8257 section 3.2).
    pub(crate) fn reports_before(&self, segment: &Segment, ecn: EcnMode) -> bool {
        ecn.echoes_each() && self.pending_segments > 0 && self.echo_congestion != (segment.ecn == Ecn::Ce)
    }

    /// With marks in use; returns whether what the ECN field says is to be acknowledged at once.
    #[inline(never)] // many stacks do not use any
    fn note_congestion(&mut self, segment: &Segment, ecn: EcnMode) -> bool {
        if ecn.echoes_each() {
            self.echo_congestion = segment.ecn == Ecn::Ce;
            return false;
        }
        if ecn.counts_marks() {
            return self.count_mark(segment.ecn == Ecn::Ce);
        }
        if segment.flags.has(Flags::CWR) {
            self.echo_congestion = false;
        }
        if segment.ecn == Ecn::Ce {
            self.echo_congestion = true;
        }
        false
    }

    /// RFC 9768 section 3.2.2.5.1: the first mark after an unmarked segment is reported at once, and any `n`.
    #[inline(never)] // few stacks count
    fn count_mark(&mut self, marked: bool) -> bool {
        let changed = marked && !self.echo_congestion;
        self.echo_congestion = marked;
        if marked {
            self.marks = self.marks.wrapping_add(1);
            self.unreported = self.unreported.saturating_add(1);
        }
        changed || self.unreported >= MARKS_AT_ONCE
    }

    #[cold]
    fn double(&mut self) {
        let mask = self.mask * 2 + 1;
        let mut bits = vec![0_u64; (mask as usize + 1) / 64];
        let mut lengths = vec![0; mask as usize + 1];
        for number in self.next..self.highest {
            if self.holds(number) {
                let slot = (number & mask) as usize;
                bits[slot >> 6] |= 1 << (slot & 63);
                lengths[slot] = self.lengths[(number & self.mask) as usize];
            }
        }
        (self.bits, self.lengths, self.mask) = (bits, lengths, mask);
    }
}

/// Returns the receive window, if it decides what is acknowledged at once.
fn window(config: &StackConfig) -> Option<Box<ReceiveWindow>> {
    let counts = config.habits.acknowledges_what_opens_the_window;
    counts.then(|| Box::new(ReceiveWindow::new(config.maximum_segment_size)))
}

/// The first multiple of `interval` after `now`.
fn next_multiple(now: Instant, interval: Span) -> Instant {
    let interval = interval.as_ps();
    Instant::from_ps((now.as_ps() / interval + 1) * interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackConfig;
    use std::vec::Vec;

    fn data(sequence: u32, payload: u32) -> Segment {
        Segment {
            sequence,
            acknowledgement: 0,
            payload,
            length: payload + 40,
            sent_at: Instant::ZERO,
            echo: Instant::NEVER,
            one_way_delay_ps: 0,
            flags: Flags::ACK,
            ecn: Ecn::NotEct,
            marks: 0,
            sack: SackBlocks::NONE,
        }
    }

    fn receiver(policy: AckPolicy) -> Receiver {
        Receiver::new(&StackConfig { acknowledge: policy, ..StackConfig::NS2_LINUX_CUBIC })
    }

    fn arrive(receiver: &mut Receiver, now: Instant, sequence: u32) {
        receiver.on_segment(now, &data(sequence, 1460), EcnMode::Off, || Span::from_s(1), || None);
    }

    fn acknowledge(receiver: &mut Receiver) -> (u32, Vec<(u32, u32)>) {
        assert!(receiver.wants_acknowledgement());
        let mut ack = data(0, 0);
        receiver.stamp_acknowledgement(&mut ack);
        (ack.acknowledgement, ack.sack.as_slice().to_vec())
    }

    #[test]
    fn sack_generation() {
        let mut receiver = receiver(StackConfig::NS2_LINUX_CUBIC.acknowledge);
        for (sequence, next, blocks) in [
            (0, 1, Vec::new()),
            (2, 1, std::vec![(2, 3)]),
            (4, 1, std::vec![(4, 5), (2, 3)]),
            (6, 1, std::vec![(6, 7), (4, 5), (2, 3)]),
            (5, 1, std::vec![(4, 7), (2, 3)]),
            (1, 3, std::vec![(4, 7)]),
        ] {
            arrive(&mut receiver, Instant::ZERO, sequence);
            assert_eq!(acknowledge(&mut receiver), (next, blocks), "after {sequence}");
        }
        assert_eq!(receiver.delivered(), 3 * 1460);
    }

    #[test]
    fn a_short_segment_waits_for_the_heartbeat_and_full_ones_do_not() {
        // Heartbeat of 0.1 s.
        let mut receiver = receiver(StackConfig::AKHTAR2013.acknowledge);
        let at = Instant::from_ms(237);
        receiver.on_segment(at, &data(0, 500), EcnMode::Off, || Span::from_s(1), || None);
        assert!(!receiver.wants_acknowledgement());
        assert_eq!(receiver.deadline(), Instant::from_ms(300));
        receiver.on_timer(Instant::from_ms(300));
        assert_eq!(acknowledge(&mut receiver).0, 1);
        assert_eq!(receiver.deadline(), Instant::NEVER);
        for sequence in [1, 2] {
            arrive(&mut receiver, at, sequence);
            assert_eq!(acknowledge(&mut receiver).0, sequence + 1);
        }
    }

    #[test]
    fn every_second_segment_is_acknowledged_after_the_quick_ones() {
        let mut receiver = receiver(StackConfig::LINUX_RENO.acknowledge);
        let mut acknowledged = Vec::new();
        for sequence in 0..20 {
            arrive(&mut receiver, Instant::from_ms(u64::from(sequence)), sequence);
            if receiver.wants_acknowledgement() {
                acknowledged.push(acknowledge(&mut receiver).0);
            }
        }
        let expected: Vec<u32> = (1..=16).chain([18, 20]).collect();
        assert_eq!(acknowledged, expected);
        // After more than the idle limit the next segments are quick again.
        arrive(&mut receiver, Instant::from_s(3), 20);
        assert!(receiver.wants_acknowledgement());
    }

    #[test]
    fn a_delayed_acknowledgement_echoes_the_first_pending_segment() {
        let mut receiver = receiver(AckPolicy { quick: 0, ..StackConfig::LINUX_RENO.acknowledge });
        for (sequence, sent) in [(0, 10), (1, 11)] {
            let segment = Segment { sent_at: Instant::from_ms(sent), ..data(sequence, 1460) };
            receiver.on_segment(Instant::from_ms(60), &segment, EcnMode::Off, || Span::from_s(1), || None);
        }
        let mut ack = data(0, 0);
        receiver.stamp_acknowledgement(&mut ack);
        assert_eq!(ack.echo, Instant::from_ms(10));
        assert_eq!(ack.one_way_delay_ps, 50_000_000_000);
    }

    #[test]
    fn a_duplicate_is_reported_at_once() {
        let mut receiver = receiver(StackConfig::LINUX_RENO.acknowledge);
        arrive(&mut receiver, Instant::ZERO, 0);
        acknowledge(&mut receiver);
        arrive(&mut receiver, Instant::ZERO, 0);
        let mut ack = data(0, 0);
        receiver.stamp_acknowledgement(&mut ack);
        assert!(ack.flags.has(Flags::DSACK));
        assert_eq!(receiver.delivered(), 1460);
    }

    #[test]
    fn data_do_not_replace_an_acknowledgement_that_reports_a_hole() {
        let mut receiver = receiver(StackConfig::LINUX_RENO.acknowledge);
        arrive(&mut receiver, Instant::ZERO, 1);
        receiver.stamp(&mut data(0, 1000));
        assert_eq!(acknowledge(&mut receiver), (0, std::vec![(1, 2)]));
    }

    #[test]
    fn runs_join_across_words_and_growth_of_the_ring() {
        let mut receiver = receiver(StackConfig::NS2_LINUX_CUBIC.acknowledge);
        for sequence in (10..200).step_by(2).chain((11..200).step_by(2)) {
            arrive(&mut receiver, Instant::ZERO, sequence);
        }
        assert_eq!(acknowledge(&mut receiver), (0, std::vec![(10, 200)]));
        for sequence in 0..10 {
            arrive(&mut receiver, Instant::ZERO, sequence);
        }
        assert_eq!(acknowledge(&mut receiver), (200, Vec::new()));
        assert_eq!(receiver.delivered(), 200 * 1460);
    }

    #[test]
    fn the_stream_ends_when_everything_before_the_fin_is_there() {
        let mut receiver = receiver(StackConfig::NS2_LINUX_CUBIC.acknowledge);
        let fin = Segment { flags: Flags::ACK.with(Flags::FIN), ..data(1, 0) };
        receiver.on_segment(Instant::ZERO, &fin, EcnMode::Off, || Span::from_s(1), || None);
        assert!(!receiver.is_finished());
        arrive(&mut receiver, Instant::ZERO, 0);
        assert!(receiver.is_finished());
        assert_eq!(acknowledge(&mut receiver).0, 2);
    }
}
