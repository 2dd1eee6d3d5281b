//! Packets on the line: the queue, the serial line behind it, and the way back.

use crate::report::Report;
use core::cmp::Reverse;
use sojourn_base::random::RandomStream;
use sojourn_base::{BitRate, Ecn, Instant, Meta, PacketHandle, Seed, ServiceQueue};
use sojourn_queue::{Held, QueueContext, QueueManager, Reason};
use std::collections::BinaryHeap;

/// The end that a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum To {
    Client = 0,
    Server = 1,
}

/// A packet that will arrive; the earlier one is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: u64,
    number: u64,
    to: To,
    /// Place of its bytes.
    place: usize,
    ecn: u8,
}

pub(crate) struct Network {
    manager: Box<dyn QueueManager>,
    rate: BitRate,
    /// Half a round trip in ns.
    one_way: u64,
    /// The line is free from then on, in ns.
    free_at: u64,
    /// A packet is on the line.
    is_busy: bool,
    /// Arrivals, the next one first.
    arrivals: BinaryHeap<Reverse<Arrival>>,
    packets: Vec<Vec<u8>>,
    unused: Vec<usize>,
    sent: u64,
    call: Call,
    report: Report,
}

/// The context of the queue manager.
struct Call {
    random: RandomStream,
    dropped: Vec<usize>,
    marks: u64,
}

impl QueueContext for Call {
    fn dropped(&mut self, packet: Held, _: Reason) {
        self.dropped.push(place(packet.item));
    }

    fn marked(&mut self, _: &Held, _: Reason) {
        self.marks += 1;
    }

    fn unit(&mut self) -> f64 {
        self.random.unit()
    }
}

fn place(item: PacketHandle) -> usize {
    usize::try_from(item.0).unwrap_or(usize::MAX)
}

const fn at(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

impl Network {
    /// A line of a rate with half a round trip in ns each way, until a time in ns.
    pub(crate) fn new(manager: Box<dyn QueueManager>, (rate, one_way): (BitRate, u64), seed: u64, until: u64) -> Self {
        let random = Seed(seed).stream("queue");
        Self {
            manager,
            rate,
            one_way,
            free_at: 0,
            is_busy: false,
            arrivals: BinaryHeap::new(),
            packets: Vec::new(),
            unused: Vec::new(),
            sent: 0,
            call: Call { random, dropped: Vec::new(), marks: 0 },
            report: Report::new(until),
        }
    }

    /// A datagram leaves an end.
    pub(crate) fn send(&mut self, now: u64, to: To, bytes: &[u8], ecn: u8, headers: usize) {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.packets.push(Vec::new());
            self.packets.len() - 1
        });
        self.packets[place].clear();
        self.packets[place].extend_from_slice(bytes);
        if to == To::Client {
            self.announce(now + self.one_way, to, place, ecn);
            return;
        }
        let meta = Meta {
            length: u32::try_from(bytes.len() + headers).unwrap_or(u32::MAX),
            flow_hash: 0,
            mac_overhead: 0,
            host: 0,
            dscp: 0,
            ecn: Ecn::from_bits(ecn),
            pure_ack: false,
            queue: ServiceQueue::Classic,
        };
        // A refused packet has gone to the context.
        let _ = self.manager.enqueue(at(now), meta, PacketHandle(place as u64), &mut self.call);
        self.forget_dropped(now);
        self.serve(now);
    }

    fn announce(&mut self, at: u64, to: To, place: usize, ecn: u8) {
        self.sent += 1;
        self.arrivals.push(Reverse(Arrival { at, number: self.sent, to, place, ecn }));
    }

    /// Puts the next packet on the line, if that is free.
    fn serve(&mut self, now: u64) {
        if self.is_busy {
            return;
        }
        let next = self.manager.dequeue(at(now), &mut self.call);
        self.forget_dropped(now);
        if let Some(held) = next {
            let bits = u64::from(held.meta.length) * 8;
            let takes = u128::from(bits) * 1_000_000_000 / u128::from(self.rate.as_bps().max(1));
            self.free_at = now.saturating_add(u64::try_from(takes).unwrap_or(u64::MAX));
            self.is_busy = true;
            let waited = at(now).saturating_since(held.enqueued_at).as_ps() / 1000;
            self.report.waited(now, waited);
            self.announce(self.free_at + self.one_way, To::Server, place(held.item), held.meta.ecn.bits());
        }
    }

    fn forget_dropped(&mut self, now: u64) {
        for place in self.call.dropped.drain(..) {
            self.unused.push(place);
            self.report.dropped(now);
        }
    }

    pub(crate) fn next_due(&self) -> u64 {
        let arrival = self.arrivals.peek().map_or(u64::MAX, |next| next.0.at);
        if self.is_busy { arrival.min(self.free_at) } else { arrival }
    }

    /// Returns a packet that arrives by `now`; the caller asks until there is none.
    pub(crate) fn take(&mut self, now: u64) -> Option<(To, Vec<u8>, u8)> {
        if self.is_busy && self.free_at <= now {
            self.is_busy = false;
            self.serve(self.free_at);
        }
        if self.arrivals.peek()?.0.at > now {
            return None;
        }
        let Reverse(Arrival { to, place, ecn, .. }) = self.arrivals.pop()?;
        self.unused.push(place);
        Some((to, self.packets[place].clone(), ecn))
    }

    pub(crate) fn delivered(&mut self, now: u64, bytes: usize) {
        self.report.delivered(now, bytes as u64);
    }

    pub(crate) fn report(mut self) -> Report {
        self.report.marks = self.call.marks;
        self.report.finish();
        self.report
    }
}
