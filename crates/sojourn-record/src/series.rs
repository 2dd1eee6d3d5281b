//! Time series in bins, and the time-weighted length of a queue.
//!
//! A packet counts in the bin of its dequeue time. Queue length is the time-weighted mean.
//!
//! Source: White 2013 sections 3.8 and 4.4.

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
    pub(crate) late_packets: u64,
    pub(crate) sanctioned_packets: u64,
}

/// Per-bin sums of one service queue of one link, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServiceBin {
    pub(crate) offered: u64,
    pub(crate) served: u64,
    pub(crate) dropped: u64,
}

/// Bytes of one bin of all service queues of a link.
pub const SERVICE_BIN_BYTES: u64 = (size_of::<ServiceBin>() * sojourn_base::ServiceQueue::ALL.len()) as u64;

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
        Self { width_ns: width.as_ns().max(1), made: Vec::new(), last: 0, last_covers: Instant::ZERO..Instant::ZERO }
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
        self.made.iter().enumerate().map(|(index, bin)| (index as u64 * self.width_ns, bin))
    }
}

/// Follows the length of one queue through time.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueClock {
    since_ns: u64,
    waiting: Waiting,
    /// Time spent at each length in packets, in ns.
    occupancy_ns: Vec<u64>,
    /// End of the bin under way; 0 before the first one, and never without bins.
    bin_ends_ns: u64,
    /// Of the bin under way.
    sums: QueueSums,
}

/// Queue length within a bin, see [`LinkBin`].
#[derive(Clone, Debug, Default)]
struct QueueSums {
    byte_ns: u64,
    packet_ns: u64,
    staged_ns: u64,
    packets_max: u32,
}

impl QueueClock {
    /// The queue has `waiting` from `now` on; books the time at the earlier length.
    #[inline]
    pub(crate) fn change(&mut self, now: Instant, waiting: Waiting, bins: &mut Option<Bins<LinkBin>>) {
        let now_ns = now.as_ns();
        if now_ns >= self.bin_ends_ns {
            self.leave_bins(now_ns, bins);
        }
        self.book(now_ns);
        self.sums.packets_max = self.sums.packets_max.max(waiting.packets.0);
        self.waiting = waiting;
    }

    /// The run ends.
    pub(crate) fn finish(&mut self, end: Instant, bins: &mut Option<Bins<LinkBin>>) {
        self.change(end, Waiting::default(), bins);
        if let Some(bins) = bins {
            self.write_down(bins);
        }
    }

    /// Forgets the time spent at each length; bins keep theirs.
    pub(crate) fn forget(&mut self, now: Instant, bins: &mut Option<Bins<LinkBin>>) {
        self.change(now, self.waiting, bins);
        self.occupancy_ns.clear();
    }

    /// The queue was as it is until now, all of the time in the bin under way.
    #[inline]
    fn book(&mut self, now_ns: u64) {
        let span = now_ns - self.since_ns;
        self.since_ns = now_ns;
        let packets = self.waiting.packets.0;
        match self.occupancy_ns.get_mut(packets as usize) {
            Some(time) => *time += span,
            None => self.book_longest(span),
        }
        self.sums.byte_ns += self.waiting.bytes.0 * span;
        self.sums.packet_ns += u64::from(packets) * span;
        self.sums.staged_ns += u64::from(self.waiting.staged.0) * span;
    }

    /// The queue is longer than ever before.
    #[cold]
    fn book_longest(&mut self, span: u64) {
        let packets = self.waiting.packets.0 as usize;
        self.occupancy_ns.resize(packets + 1, 0);
        self.occupancy_ns[packets] = span;
    }

    /// Goes on to the bin of `now_ns`.
    #[cold]
    fn leave_bins(&mut self, now_ns: u64, bins: &mut Option<Bins<LinkBin>>) {
        let Some(bins) = bins else {
            self.bin_ends_ns = u64::MAX;
            return;
        };
        while now_ns >= self.bin_ends_ns {
            self.book(self.bin_ends_ns);
            self.write_down(bins);
            if now_ns > self.bin_ends_ns {
                self.sums.packets_max = self.waiting.packets.0;
            }
            self.bin_ends_ns += bins.width_ns();
        }
    }

    /// Adds up what is known of the bin under way.
    fn write_down(&mut self, bins: &mut Bins<LinkBin>) {
        let sums = core::mem::take(&mut self.sums);
        if let Some(start_ns) = self.bin_ends_ns.checked_sub(bins.width_ns()) {
            let bin = bins.at(Instant::from_ns(start_ns));
            bin.byte_ns += sums.byte_ns;
            bin.packet_ns += sums.packet_ns;
            bin.staged_ns += sums.staged_ns;
            bin.packets_max = bin.packets_max.max(sums.packets_max);
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
    use proptest::prelude::*;
    use sojourn_base::{Bytes, Packets};

    #[test]
    fn queue_length_is_weighted_by_time_across_bins() {
        let mut bins = Some(Bins::new(Span::from_ms(100)));
        let mut clock = QueueClock::default();
        let waiting = |packets| Waiting { packets: Packets(packets), bytes: Bytes(0), ..Waiting::default() };
        clock.change(Instant::from_ms(50), waiting(4), &mut bins);
        clock.change(Instant::from_ms(250), waiting(1), &mut bins);
        clock.finish(Instant::from_ms(300), &mut bins);
        let mut bins = bins.expect("as above");
        bins.finish(Instant::from_ms(300));
        let means: Vec<f64> = bins.iter().map(|(_, bin)| bin.packet_ns as f64 / 1e8).collect();
        assert_eq!(means, [2.0, 4.0, 2.5]);
        let highest: Vec<u32> = bins.iter().map(|(_, bin)| bin.packets_max).collect();
        assert_eq!(highest, [4, 4, 4]);
        assert_eq!(clock.occupancy_ns(), [50_000_000, 50_000_000, 0, 0, 200_000_000]);
    }

    /// Moments in ns, some of them on the edge of a bin or together, and the lengths from then on.
    fn changes() -> impl Strategy<Value = Vec<(u64, Waiting)>> {
        let step = prop_oneof![Just(0), 1..40_u64, Just(100), 90..450_u64];
        let waiting = (0..9_u32, 0..5_u32).prop_map(|(packets, staged)| Waiting {
            packets: Packets(packets),
            bytes: Bytes(u64::from(packets) * 1500),
            staged: Packets(staged),
        });
        proptest::collection::vec((step, waiting), 0..40).prop_map(|steps| {
            let mut at = 0;
            let timed = steps.into_iter().map(|(step, waiting)| {
                at += step;
                (at, waiting)
            });
            timed.collect()
        })
    }

    proptest! {
        /// Against a look at every nanosecond, and at every change for the longest length.
        #[test]
        fn sums_are_those_of_every_nanosecond(changes in changes(), rest in 0..300_u64) {
            let width = 100;
            let end = changes.last().map_or(0, |(at, _)| *at) + rest;
            let mut bins = Some(Bins::new(Span::from_ns(width)));
            let mut clock = QueueClock::default();
            for (at, waiting) in &changes {
                clock.change(Instant::from_ns(*at), *waiting, &mut bins);
            }
            clock.finish(Instant::from_ns(end), &mut bins);
            let mut bins = bins.expect("as above");
            bins.finish(Instant::from_ns(end));
            let mut expected = vec![[0_u64; 4]; usize::try_from(end.div_ceil(width)).unwrap()];
            let mut occupancy = [0_u64; 9];
            for ns in 0..end {
                let known = changes.iter().rev().find(|(at, _)| *at <= ns);
                let waiting = known.map_or_else(Waiting::default, |(_, waiting)| *waiting);
                let packets = u64::from(waiting.packets.0);
                let bin = &mut expected[usize::try_from(ns / width).unwrap()];
                bin[0] += waiting.bytes.0;
                bin[1] += packets;
                bin[2] += u64::from(waiting.staged.0);
                bin[3] = bin[3].max(packets);
                occupancy[waiting.packets.0 as usize] += 1;
            }
            // A change at the last moment counts if that moment cuts a bin.
            for (at, waiting) in &changes {
                if let Some(bin) = expected.get_mut(usize::try_from(at / width).unwrap()) {
                    bin[3] = bin[3].max(u64::from(waiting.packets.0));
                }
            }
            let found: Vec<[u64; 4]> = bins
                .iter()
                .map(|(_, bin)| [bin.byte_ns, bin.packet_ns, bin.staged_ns, bin.packets_max.into()])
                .collect();
            prop_assert_eq!(found, expected);
            let mut booked = clock.occupancy_ns().to_vec();
            booked.resize(9, 0);
            prop_assert_eq!(booked, occupancy);
        }
    }
}
