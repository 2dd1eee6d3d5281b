//! Packets of a capture through what may stand before a line: the DOCSIS dual queue with Queue Protection, a short buffer,
//! a policer.
//!
//! Source: RFC 9957 with its default values; RFC 9956 for the buffer of at most 10 ms and the two policers.
//! Deviations: the line takes the next packet when it is free; a modem waits for its grants, too. chosen: an upload keeps as
//! much in the classic queue as its manager aims at, 10 ms.

use super::envelope::UNITS;
use super::{FRAME_OVERHEAD, NQB};
use core::cmp::Reverse;
use sojourn_base::{
    BitRate, Bytes, Ecn, Instant, Meta, PacketHandle, RandomStream, Seed, ServiceQueue, Span, TimedPacket,
};
use sojourn_queue::manager::docsis_dual_queue::DocsisDualQueueConfig;
use sojourn_queue::{Held, ManagerConfig, QueueContext, QueueManager, Reason, Score, Shaper, Verdict};
use std::collections::BinaryHeap;

/// Hash of the flow that is judged. chosen: any; copies have others.
const OWN_FLOW: u32 = 0x5eed_0001;

/// Traffic beside the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// None.
    Alone,
    /// An upload that always has more, in the classic queue.
    Upload,
}

/// Results of packets behind Queue Protection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Packets of all copies.
    pub packets: u64,
    /// Those that were moved to the classic queue.
    pub sanctioned: u64,
    /// Those that were lost, in either queue.
    pub dropped: u64,
    /// Highest queuing score.
    pub score: Span,
    /// The delay that the packet with that score was expected to have.
    pub delay_at_score: Span,
    /// Longest wait of a packet that was not moved, its own time on the line included.
    pub longest: Span,
    /// Time of the first redirection.
    pub first_at: Option<Instant>,
}

impl Protected {
    /// Time of the first redirection, in seconds after the first packet.
    pub fn first_s(&self) -> Option<f64> {
        let at = self.first_at?.saturating_since(BEGIN);
        Some(at.as_secs_f64())
    }
}

/// Context of the queue.
struct Host {
    rate: BitRate,
    draws: RandomStream,
    found: Protected,
    /// Of the packet that is offered: it is one of the flow, and the delay that it would have.
    offered: (bool, Span),
    now: Instant,
}

impl QueueContext for Host {
    fn dropped(&mut self, packet: Held, _: Reason) {
        self.found.dropped += u64::from(packet.item != UPLOAD);
    }

    fn marked(&mut self, _: &Held, _: Reason) {}

    fn unit(&mut self) -> f64 {
        self.draws.unit()
    }

    fn shaper(&self) -> Shaper {
        Shaper::of(self.rate)
    }

    fn scored(&mut self, _: &Held, score: &Score) {
        let (is_own, delay) = self.offered;
        if !is_own {
            return;
        }
        if score.score > self.found.score {
            (self.found.score, self.found.delay_at_score) = (score.score, delay);
        }
        if score.sanctioned {
            self.found.sanctioned += 1;
            self.found.first_at.get_or_insert(self.now);
        }
    }
}

const OWN: PacketHandle = PacketHandle(0);
const UPLOAD: PacketHandle = PacketHandle(1);

/// A packet of an upload.
const UPLOAD_META: Meta = Meta {
    length: 1500 + FRAME_OVERHEAD,
    flow_hash: 1,
    mac_overhead: 0,
    host: 0,
    dscp: 0,
    ecn: Ecn::NotEct,
    pure_ack: false,
    queue: ServiceQueue::Classic,
};

struct Line {
    queue: Box<dyn QueueManager>,
    host: Host,
    busy_until: Option<Instant>,
    timer: Option<Instant>,
    /// Bytes that an upload keeps in the classic queue.
    upload: u64,
}

impl Line {
    fn new(rate: BitRate, company: Company) -> Self {
        let config = ManagerConfig::from(DocsisDualQueueConfig::DOCSIS31).at(rate);
        let queue = config.build();
        let timer = queue.next_timer();
        let least = u64::from(2 * UPLOAD_META.length);
        Self {
            queue,
            host: Host {
                rate,
                draws: Seed(1).stream("check-nqb"),
                found: Protected::default(),
                offered: (false, Span::ZERO),
                now: Instant::ZERO,
            },
            busy_until: None,
            timer,
            upload: match company {
                Company::Alone => 0,
                Company::Upload => rate.bytes_in(Span::from_ms(10)).0.max(least),
            },
        }
    }

    /// Time goes on: the line sends what was due before. Of packets that come at once it takes none until all have come, as a
    /// modem that has to ask for a grant.
    fn go_on(&mut self, until: Instant) {
        loop {
            let timer = self.timer.filter(|due| *due <= until);
            let free = self.busy_until.filter(|free| *free < until);
            match (timer, free) {
                (Some(due), free) if free.is_none_or(|free| due <= free) => {
                    self.host.now = due;
                    self.queue.on_timer(due, &mut self.host);
                    self.timer = self.queue.next_timer();
                }
                (_, Some(free)) => {
                    self.host.now = free;
                    self.serve();
                }
                _ => break,
            }
        }
        self.host.now = until;
    }

    /// The line is free.
    fn serve(&mut self) {
        let now = self.host.now;
        // A drop is what a sender answers to by sending later: one try each time that the line is free.
        while self.queue.backlog_of(ServiceQueue::Classic).bytes.0 < self.upload {
            self.host.offered = (false, Span::ZERO);
            let verdict = self.queue.enqueue(now, UPLOAD_META, UPLOAD, &mut self.host);
            if matches!(verdict, Verdict::Dropped(_)) {
                break;
            }
        }
        let sent = self.queue.dequeue(now, &mut self.host);
        self.busy_until = sent.map(|held| {
            let ends = now + time_of(self.host.rate, held.meta.length);
            if held.item == OWN && held.meta.queue == ServiceQueue::LowLatency {
                let waited = ends.saturating_since(held.enqueued_at);
                self.host.found.longest = self.host.found.longest.max(waited);
            }
            ends
        });
    }

    fn offer(&mut self, packet: &TimedPacket, flow: u32) {
        let length = packet.length + FRAME_OVERHEAD;
        let waiting = self.queue.backlog_of(ServiceQueue::LowLatency).bytes;
        let delay = self.host.rate.time_for(waiting + Bytes(length.into()));
        self.host.offered = (true, delay);
        self.host.found.packets += 1;
        let meta = Meta {
            length,
            flow_hash: flow,
            // Marked as it would be, whatever the capture says.
            dscp: NQB,
            ecn: Ecn::NotEct,
            ..Meta::default()
        };
        // The queue reports the packet's fate to the host.
        let _ = self.queue.enqueue(self.host.now, meta, OWN, &mut self.host);
        let now = self.host.now;
        self.busy_until.get_or_insert(now);
    }
}

fn time_of(rate: BitRate, length: u32) -> Span {
    rate.time_for(Bytes(length.into()))
}

/// Start of a replay: after the queue's first timers. chosen.
const BEGIN: Instant = Instant::from_ms(100);

/// The packets through the dual queue of DOCSIS 3.1, of a service of `rate`.
///
/// # Panics
/// If the rate is zero.
pub fn protected(packets: &[TimedPacket], rate: BitRate, company: Company) -> Protected {
    copies(packets, rate, company, 1, false)
}

/// The same with `count` flows that are alike, each with a hash of its own, `packets` after one another: the n-th is
/// shifted by n times the golden section of a second, so that they do not keep in step. `stops_at_first`: when a packet is moved or
/// lost, nothing more is asked.
fn copies(packets: &[TimedPacket], rate: BitRate, company: Company, count: u32, stops_at_first: bool) -> Protected {
    let mut line = Line::new(rate, company);
    if company == Company::Upload {
        line.serve();
    }
    let shift = |copy: u32| Span::from_ns(618_033_989 * u64::from(copy) % 1_000_000_000);
    let due = |copy: u32, place: usize| {
        let packet = packets.get(place)?;
        Some(Reverse((BEGIN + shift(copy) + packet.at, copy, place)))
    };
    let mut next: BinaryHeap<_> = (0..count).filter_map(|copy| due(copy, 0)).collect();
    while let Some(Reverse((at, copy, place))) = next.pop() {
        line.go_on(at);
        line.offer(&packets[place], OWN_FLOW.wrapping_add(copy.wrapping_mul(0x9e37_79b1)));
        if stops_at_first && line.host.found.sanctioned + line.host.found.dropped > 0 {
            return line.host.found;
        }
        next.extend(due(copy, place + 1));
    }
    let now = line.host.now;
    line.upload = 0;
    line.go_on(now + Span::from_s(1));
    line.host.found
}

/// How many flows like this one the queue takes without moving or losing a packet of one; up to `most`.
///
/// # Panics
/// As [`protected`].
pub fn with_copies(packets: &[TimedPacket], rate: BitRate, company: Company, most: u32) -> u32 {
    let fits = |count: u32| {
        let found = copies(packets, rate, company, count, true);
        found.sanctioned + found.dropped == 0
    };
    let (mut low, mut high) = (0, 1);
    while high <= most && fits(high) {
        low = high;
        high *= 2;
    }
    high = high.min(most + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The greatest number of packets of `length` bytes, `spacing` apart, of which none is moved on an idle line; up to `most`.
///
/// # Panics
/// As [`protected`].
pub fn largest_burst(length: u32, spacing: Span, rate: BitRate, most: u32) -> u32 {
    let mut line = Line::new(rate, Company::Alone);
    let mut at = BEGIN;
    for number in 0..most {
        line.go_on(at);
        line.offer(&TimedPacket { at: Span::ZERO, length, dscp: NQB, ecn: Ecn::NotEct }, OWN_FLOW);
        if line.host.found.sanctioned > 0 {
            return number;
        }
        at = at.saturating_add(spacing);
    }
    most
}

/// Packets that overflow a buffer of `buffer` before a line of `rate`.
pub fn overflow(packets: &[TimedPacket], rate: BitRate, buffer: Span) -> u64 {
    // The line's queue as time: it falls as time goes on.
    let (mut busy_until, mut dropped) = (Span::ZERO, 0);
    for packet in packets {
        let waits = busy_until.saturating_sub(packet.at);
        let takes = time_of(rate, packet.length + FRAME_OVERHEAD);
        if waits + takes > buffer && waits > Span::ZERO {
            dropped += 1;
        } else {
            busy_until = busy_until.max(packet.at) + takes;
        }
    }
    dropped
}

/// Packets beyond a policer: a bucket of `bucket` IP bytes that fills at `rate`.
pub fn policed(packets: &[TimedPacket], rate: BitRate, bucket: u64) -> u64 {
    let full = u128::from(bucket) * UNITS;
    let (mut tokens, mut last, mut beyond) = (full, Span::ZERO, 0);
    for packet in packets {
        let passed = u128::from(packet.at.saturating_sub(last).as_ps());
        tokens = full.min(tokens + passed * u128::from(rate.as_bps()));
        last = packet.at;
        match tokens.checked_sub(u128::from(packet.length) * UNITS) {
            Some(left) => tokens = left,
            None => beyond += 1,
        }
    }
    beyond
}
