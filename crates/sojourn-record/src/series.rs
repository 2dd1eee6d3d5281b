//! Time series in bins, and the time-weighted length of a queue.
//!
//! Source: metrics specification 6.4 (bin of a packet = its dequeue time; queue length = time-weighted
//! mean), which follows White 2013 sections 3.8 and 4.4.

use crate::Waiting;
use sojourn_base::{Instant, Span};

/// Per-bin sums of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkBin {
    pub(crate) forwarded_bytes: u64,
    pub(crate) forwarded_packets: u64,
    pub(crate) dropped_packets: u64,
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
}

/// Bins of equal width from the start of the run, made as they are needed.
#[derive(Clone, Debug)]
pub(crate) struct Bins<B> {
    width_ns: u64,
    bins: Vec<B>,
}

impl<B: Default + Clone> Bins<B> {
    pub(crate) fn new(width: Span) -> Self {
        Self {
            width_ns: width.as_ns().max(1),
            bins: Vec::new(),
        }
    }

    pub(crate) const fn width_ns(&self) -> u64 {
        self.width_ns
    }

    pub(crate) fn at(&mut self, now: Instant) -> &mut B {
        let index = usize::try_from(now.as_ns() / self.width_ns).expect("a bin per 64-bit address");
        self.at_index(index)
    }

    fn at_index(&mut self, index: usize) -> &mut B {
        if index >= self.bins.len() {
            self.bins.resize(index + 1, B::default());
        }
        &mut self.bins[index]
    }

    /// Makes all bins that begin before `end` and none else; what was counted later is dropped with
    /// them (a packet may be announced to leave after the end of the run).
    pub(crate) fn finish(&mut self, end: Instant) {
        let bins = usize::try_from(end.as_ns().div_ceil(self.width_ns)).expect("as in `at`");
        self.bins.resize(bins, B::default());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &B)> {
        self.bins
            .iter()
            .enumerate()
            .map(|(index, bin)| (index as u64 * self.width_ns, bin))
    }
}

/// Follows the length of one queue through time.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueClock {
    since_ns: u64,
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
        let now_ns = now.as_ns();
        let packets = self.waiting.packets.0 as usize;
        if packets >= self.occupancy_ns.len() {
            self.occupancy_ns.resize(packets + 1, 0);
        }
        self.occupancy_ns[packets] += now_ns - self.since_ns;
        if let Some(bins) = bins {
            self.fill_bins(now_ns, bins);
            let bin = bins.at(now);
            bin.packets_max = bin.packets_max.max(waiting.packets.0);
        }
        self.since_ns = now_ns;
        self.waiting = waiting;
    }

    fn fill_bins(&self, now_ns: u64, bins: &mut Bins<LinkBin>) {
        let width = bins.width_ns();
        let mut from = self.since_ns;
        while from < now_ns {
            let to = now_ns.min((from / width + 1) * width);
            let bin = bins.at(Instant::from_ns(from));
            let span = to - from;
            bin.byte_ns += self.waiting.bytes.0 * span;
            bin.packet_ns += u64::from(self.waiting.packets.0) * span;
            bin.staged_ns += u64::from(self.waiting.staged.0) * span;
            bin.packets_max = bin.packets_max.max(self.waiting.packets.0);
            from = to;
        }
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
