//! One picture on its way: encoder, queue of RTP packets, receiver.

use std::collections::VecDeque;

use sojourn_base::{Bytes, Direction, Ecn, Instant, Span};

use super::AdaptiveVideoConfig;
use crate::frames::{HEADERS, OpenFrames};
use crate::scream::{Reporter, Scream};
use crate::{ApplicationContext, Draw, End, Sampler};

/// Headers of IP and UDP; the rest of a packet is RTP's.
const BELOW_RTP: u64 = 28;
/// RTP's own header.
const RTP_HEADER: u64 = HEADERS.0 - BELOW_RTP;
/// A tag with this bit is the number of a report, without it that of a packet.
const IS_REPORT: u32 = 1 << 31;

/// A frame in the sender's queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    number: u32,
    captured_at: Instant,
    /// Bytes that have not left, without headers.
    bytes: u64,
}

/// A packet on its way, as its receiver reads it.
#[derive(Clone, Copy, Debug)]
struct Packet {
    frame: u32,
    bytes: u64,
}

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The pacer lets the next packet out.
    Packet,
    /// The receiver reports.
    Report,
}

/// The picture of one direction.
#[derive(Debug)]
pub(super) struct Stream {
    direction: Direction,
    sizes: Sampler<Bytes>,
    most_rate: f64,
    /// Bytes of a frame in a full packet.
    payload: u64,
    deadline: Span,
    /// Time from frame to frame.
    interval: Span,
    queue: VecDeque<Queued>,
    scream: Scream,
    paced_until: Instant,
    is_paced: bool,
    /// Packets from number `first` on.
    packets: VecDeque<Packet>,
    first: u64,
    reporter: Reporter,
    report_at: Instant,
    /// Its timer is set.
    is_reporting: bool,
    frames: OpenFrames,
}

impl Stream {
    /// A picture at rest.
    pub(super) fn new(config: &AdaptiveVideoConfig, way: Direction, is_scalable: bool) -> Self {
        let frames = config.frames();
        let segment = Bytes(config.packet.0.saturating_sub(BELOW_RTP));
        Self {
            direction: way,
            sizes: frames.sizes(),
            most_rate: config.rates().most,
            payload: frames.payload(),
            deadline: config.deadline,
            interval: frames.interval(),
            queue: VecDeque::new(),
            scream: Scream::new(config.rates(), segment, config.competes, is_scalable),
            paced_until: Instant::ZERO,
            is_paced: false,
            packets: VecDeque::new(),
            first: 0,
            reporter: Reporter::default(),
            report_at: Instant::ZERO,
            is_reporting: false,
            frames: OpenFrames::new(way, config.deadline),
        }
    }

    /// Bytes of its frames, packets and reports.
    pub(super) fn bytes(&self) -> usize {
        let own = crate::ring_bytes(&self.queue) + crate::ring_bytes(&self.packets);
        own + self.frames.bytes() + self.reporter.bytes() + self.scream.bytes()
    }

    /// Returns true if a datagram that arrives at `end` belongs to this picture.
    pub(super) fn is_for(&self, end: End, tag: u32) -> bool {
        let is_report = tag & IS_REPORT != 0;
        (end == receiver_of(self.direction)) != is_report
    }

    /// A frame is captured: when the pacer wakes.
    pub(super) fn capture(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> Option<Instant> {
        self.frames.give_up(now, context);
        // RTP headers are a part of the target (RFC 8298 section 5).
        let share = self.payload as f64 / (self.payload + RTP_HEADER) as f64;
        let full = self.sizes.draw(Draw::Size, context).0 as f64;
        let bytes = crate::whole(full * self.scream.target() / self.most_rate * share);
        let packets = bytes.div_ceil(self.payload);
        self.queue.push_back(Queued { number: self.frames.next(), captured_at: now, bytes });
        self.frames.add(now, bytes, packets);
        self.drop_overdue(now);
        let queued: u64 = self.queue.iter().map(|frame| self.with_headers(frame.bytes)).sum();
        let waited = self.queue.front().map_or(Span::ZERO, |frame| now.saturating_since(frame.captured_at));
        let frames = waited.as_secs_f64() / self.interval.as_secs_f64();
        self.scream.on_frame(now, self.with_headers(bytes), (queued, frames));
        self.send(now, context)
    }

    /// The pacer wakes: when it does again.
    pub(super) fn on_pace(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> Option<Instant> {
        self.is_paced = false;
        self.send(now, context)
    }

    /// Sends what window and pacer let out: when the pacer wakes, unless it is going to.
    fn send(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> Option<Instant> {
        if self.is_paced {
            return None;
        }
        self.drop_overdue(now);
        while let Some(frame) = self.queue.front_mut() {
            let payload = frame.bytes.min(self.payload);
            let bytes = payload + RTP_HEADER;
            if !self.scream.may_send(bytes) {
                return None; // until the next report
            }
            if self.paced_until > now {
                self.is_paced = true;
                return Some(self.paced_until);
            }
            frame.bytes -= payload;
            self.packets.push_back(Packet { frame: frame.number, bytes });
            if frame.bytes == 0 {
                self.queue.pop_front();
            }
            let (number, wait) = self.scream.on_sent(now, bytes);
            self.paced_until = now + wait;
            let tag = tag_of(number);
            let length = u32::try_from(bytes + BELOW_RTP).unwrap_or(u32::MAX);
            context.send_tagged_datagram(0, self.direction, length, tag);
        }
        None
    }

    /// A frame that would be late anyway is not sent.
    fn drop_overdue(&mut self, now: Instant) {
        while let Some(frame) = self.queue.front()
            && now.saturating_since(frame.captured_at) > self.deadline
        {
            self.queue.pop_front();
        }
    }

    fn with_headers(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(self.payload) * RTP_HEADER
    }

    /// A packet or a report has arrived: a timer to set.
    pub(super) fn on_datagram(
        &mut self,
        now: Instant,
        (end, tag): (End, u32),
        ecn: Ecn,
        context: &mut dyn ApplicationContext,
    ) -> Option<(Instant, Timer)> {
        if end == receiver_of(self.direction) {
            let at = self.on_packet(now, tag, ecn, context)?;
            return Some((at, Timer::Report));
        }
        let number = whole_number(self.reporter.first_report(), tag & !IS_REPORT);
        if let Some((first, packets)) = self.reporter.deliver(number) {
            self.scream.on_report(now, first, packets);
        }
        while self.packets.front().is_some_and(|packet| packet.frame < self.frames.first()) {
            self.packets.pop_front();
            self.first += 1;
        }
        let at = self.send(now, context)?;
        Some((at, Timer::Packet))
    }

    fn on_packet(&mut self, now: Instant, tag: u32, ecn: Ecn, context: &mut dyn ApplicationContext) -> Option<Instant> {
        let number = whole_number(self.first, tag);
        let place = number.checked_sub(self.first)?;
        let packet = *self.packets.get(usize::try_from(place).ok()?)?;
        self.frames.on_packet(now, packet.frame, context);
        let is_due = self.reporter.on_packet(now, number, packet.bytes, ecn);
        if is_due || now >= self.report_at {
            self.report(now, context);
        }
        if self.is_reporting {
            return None;
        }
        self.is_reporting = true;
        Some(self.report_at)
    }

    /// The receiver's timer: when it is due again.
    pub(super) fn on_report_timer(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> Option<Instant> {
        if now >= self.report_at && !self.report(now, context) {
            // Nothing has arrived: the next packet sets it again.
            self.is_reporting = false;
            return None;
        }
        Some(self.report_at)
    }

    /// Sends a report, if there is one to send; returns true if it did.
    fn report(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> bool {
        let interval = self.reporter.interval(now);
        let Some((number, length)) = self.reporter.report(now) else {
            return false;
        };
        self.report_at = now + interval;
        let tag = tag_of(number) | IS_REPORT;
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        context.send_tagged_datagram(0, self.direction.reversed(), length, tag);
        true
    }

    /// The run ends.
    pub(super) fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.frames.finish(now, context);
    }
}

/// Returns the end at which a packet of this direction arrives.
const fn receiver_of(direction: Direction) -> End {
    match direction {
        Direction::Upstream => End::Server,
        Direction::Downstream => End::Client,
    }
}

/// Returns the bits of a number that a tag carries.
#[expect(clippy::cast_possible_truncation, reason = "31 bits are kept")]
const fn tag_of(number: u64) -> u32 {
    number as u32 & (IS_REPORT - 1)
}

/// The number from `first` on whose low bits a tag has.
fn whole_number(first: u64, tag: u32) -> u64 {
    let mask = u64::from(IS_REPORT - 1);
    first + (u64::from(tag).wrapping_sub(first) & mask)
}
