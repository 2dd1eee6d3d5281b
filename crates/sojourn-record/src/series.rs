//! Time series in bins, and the time-weighted length of a queue.
//!
//! Source: metrics specification 6.4 (bin of a packet = its dequeue time; queue length = time-weighted
//! mean), which follows White 2013 sections 3.8 and 4.4.

use crate::Waiting;
use core::ops::Range;
use sojourn_base::{Instant, Span};

/// Per-bin sums of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkBin {
    pub(crate) forwarded_bytes: u64,
    pub(crate) forwarded_packets: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) marked_packets: u64,
    pub(crate) sojourn_ns: u64,
    pub(crate) sojourn_max_ns: u64,
    /// Integral of bytes over time, in byte ns.
    pub(crate) byte_ns: u64,
    /// Integral of packets over time, in packet ns.
    pub(crate) packet_ns: u64,
    pub(crate) staged_ns: u64,
    pub(crate) packets_max: u32,
}

/// Per-bin sums of one traffic entry on one link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TrafficBin {
    pub(crate) forwarded_bytes: u64,
    pub(crate) forwarded_packets: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) marked_packets: u64,
}

/// Per-bin sums of one service queue of one link, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServiceBin {
    pub(crate) offered: u64,
    pub(crate) served: u64,
    pub(crate) dropped: u64,
}

/// Bytes of one bin of all service queues of a link.
pub const SERVICE_BIN_BYTES: u64 =
    (size_of::<ServiceBin>() * sojourn_base::ServiceQueue::ALL.len()) as u64;

/// Bytes of one bin of a link.
pub const LINK_BIN_BYTES: u64 = size_of::<LinkBin>() as u64;

/// Bytes of one bin of a traffic entry on one link.
pub const TRAFFIC_BIN_BYTES: u64 = size_of::<TrafficBin>() as u64;

/// Bins of equal width from the start of the run, made as they are needed.
#[derive(Clone, Debug)]
pub(crate) struct Bins<B> {
    width_ns: u64,
    made: Vec<B>,
    /// The bin that was asked for last, which exists, and the time it covers: nearly always the one
    /// that is asked for next.
    last: usize,
    last_covers: Range<Instant>,
}

impl<B: Default + Clone> Bins<B> {
    pub(crate) fn new(width: Span) -> Self {
        Self {
            width_ns: width.as_ns().max(1),
            made: Vec::new(),
            last: 0,
            last_covers: Instant::ZERO..Instant::ZERO,
        }
    }

    pub(crate) const fn width_ns(&self) -> u64 {
        self.width_ns
    }

    #[inline]
    pub(crate) fn at(&mut self, now: Instant) -> &mut B {
        if !self.last_covers.contains(&now) {
            self.find(now);
        }
        &mut self.made[self.last]
    }

    /// Whether both times are in the bin that was asked for last.
    fn last_covers(&self, from: Instant, to: Instant) -> bool {
        self.last_covers.start <= from && to < self.last_covers.end
    }

    #[cold]
    fn find(&mut self, now: Instant) {
        let index = now.as_ns() / self.width_ns;
        let start = Instant::from_ns(index * self.width_ns);
        self.last_covers = start..start.saturating_add(Span::from_ns(self.width_ns));
        self.last = usize::try_from(index).expect("a bin per 64-bit address");
        if self.last >= self.made.len() {
            self.made.resize(self.last + 1, B::default());
        }
    }

    /// Bytes that the bins take.
    pub(crate) fn bytes(&self) -> usize {
        self.made.capacity() * size_of::<B>()
    }

    /// Makes all bins that begin before `end` and none else; what was counted later is dropped with
    /// them (a packet may be announced to leave after the end of the run).
    pub(crate) fn finish(&mut self, end: Instant) {
        let bins = usize::try_from(end.as_ns().div_ceil(self.width_ns)).expect("as in `at`");
        self.made.resize(bins, B::default());
        self.last_covers = Instant::ZERO..Instant::ZERO;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &B)> {
        self.made
            .iter()
            .enumerate()
            .map(|(index, bin)| (index as u64 * self.width_ns, bin))
    }
}

/// Follows the length of one queue through time.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueClock {
    since: Instant,
    waiting: Waiting,
    /// Time spent at each length in packets, in ns.
    occupancy_ns: Vec<u64>,
}

impl QueueClock {
    /// The queue has `waiting` from `now` on; books the time at the earlier length.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        waiting: Waiting,
        bins: Option<&mut Bins<LinkBin>>,
    ) {
        let packets = self.waiting.packets.0 as usize;
        if packets >= self.occupancy_ns.len() {
            self.occupancy_ns.resize(packets + 1, 0);
        }
        self.occupancy_ns[packets] += now.as_ns() - self.since.as_ns();
        if let Some(bins) = bins {
            self.fill_bins(now, bins);
            let bin = bins.at(now);
            bin.packets_max = bin.packets_max.max(waiting.packets.0);
        }
        self.since = now;
        self.waiting = waiting;
    }

    fn fill_bins(&self, now: Instant, bins: &mut Bins<LinkBin>) {
        let (mut from, now_ns) = (self.since.as_ns(), now.as_ns());
        if bins.last_covers(self.since, now) {
            if from < now_ns {
                self.fill_bin(now_ns - from, bins.at(now));
            }
            return;
        }
        let width = bins.width_ns();
        while from < now_ns {
            let to = now_ns.min((from / width + 1) * width);
            self.fill_bin(to - from, bins.at(Instant::from_ns(from)));
            from = to;
        }
    }

    /// The queue was as it is for `span` nanoseconds of `bin`.
    fn fill_bin(&self, span: u64, bin: &mut LinkBin) {
        bin.byte_ns += self.waiting.bytes.0 * span;
        bin.packet_ns += u64::from(self.waiting.packets.0) * span;
        bin.staged_ns += u64::from(self.waiting.staged.0) * span;
        bin.packets_max = bin.packets_max.max(self.waiting.packets.0);
    }

    /// Time spent at each length in packets.
    pub(crate) fn occupancy_ns(&self) -> &[u64] {
        &self.occupancy_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Bytes, Packets};

    #[test]
    fn queue_length_is_weighted_by_time_across_bins() {
        let mut bins = Bins::new(Span::from_ms(100));
        let mut clock = QueueClock::default();
        let waiting = |packets| Waiting {
            packets: Packets(packets),
            bytes: Bytes(0),
            ..Waiting::default()
        };
        clock.change(Instant::from_ms(50), waiting(4), Some(&mut bins));
        clock.change(Instant::from_ms(250), waiting(1), Some(&mut bins));
        clock.change(Instant::from_ms(300), waiting(0), Some(&mut bins));
        bins.finish(Instant::from_ms(300));
        let means: Vec<f64> = bins
            .iter()
            .map(|(_, bin)| bin.packet_ns as f64 / 1e8)
            .collect();
        assert_eq!(means, [2.0, 4.0, 2.5]);
        let highest: Vec<u32> = bins.iter().map(|(_, bin)| bin.packets_max).collect();
        assert_eq!(highest, [4, 4, 4]);
        assert_eq!(
            clock.occupancy_ns(),
            [50_000_000, 50_000_000, 0, 0, 200_000_000]
        );
    }
}
