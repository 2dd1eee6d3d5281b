//! Counters and histograms that need constant memory.

use histogram::{Histogram, Histogram32};
use sojourn_base::Span;

/// Counters of one traffic entry in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounters {
    /// Packets handed to their first link.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets forwarded by the access link.
    pub forwarded_packets: u64,
    /// Their bytes.
    pub forwarded_bytes: u64,
    /// Packets lost in a managed queue.
    pub dropped_queue: u64,
    /// Packets lost behind it.
    pub dropped_behind: u64,
    /// Packets marked by the access link.
    pub marked: u64,
    /// Packets that arrived with a congestion mark: those of connections when they have ended, and datagrams.
    pub marks_received: u64,
    /// Application bytes delivered in order.
    pub goodput_bytes: u64,
    /// Connections that ended.
    pub connections: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timer expiries.
    pub timeouts: u64,
    /// True if the timers of some connections are unobserved.
    pub hides_timeouts: bool,
    /// SYNs sent again.
    pub connect_retries: u64,
}

/// A histogram of delays with three significant digits, by default of 1 ns to 1000 s.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    /// In 32 bits: a histogram is larger than a near cache, and what is counted next is seldom there.
    counts: Histogram32,
    /// Counts up to the last carry; the compact counts would overflow.
    carried: Option<Box<Histogram>>,
    packets: u64,
    shortest: u64,
    longest: u64,
    sum_ns: u128,
}

/// Longest delay with a bin of its own. chosen: far above any buffer's.
const LONGEST: Span = Span::from_s(1000);

/// Bins per doubling of the delay, as a power of two: 1024, so that a bin is at most 0.1 % wide.
const BINS_PER_DOUBLING: u8 = 10;

/// Records exist twice for a moment: as they were counted, and as columns of tables.
pub const COUNTED_AND_TABLE: usize = 2;

/// Bytes of a histogram of delays up to 1000 s: two linear parts of 1024 bins, and as many for each further
/// doubling up to 2^40 ns.
pub const HISTOGRAM_BYTES: u64 = (40 - BINS_PER_DOUBLING as u64 + 1) * (1 << BINS_PER_DOUBLING) * 4;

/// Packets that one compact count can hold.
const CARRIED_AFTER: u64 = 1 << 31;

/// A bin that holds something.
struct Bin {
    start: u64,
    end: u64,
    count: u64,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self::up_to(LONGEST)
    }
}

impl DelayHistogram {
    /// A histogram that tells apart delays up to `longest`, and counts longer ones as the longest that it
    /// does.
    #[cold] // made once, asked for with every delay
    pub fn up_to(longest: Span) -> Self {
        let doublings = longest.as_ns().max(2 << BINS_PER_DOUBLING).ilog2() + 1;
        let doublings = u8::try_from(doublings).expect("64 bits have 64 doublings");
        Self {
            counts: Histogram32::new(BINS_PER_DOUBLING, doublings)
                .expect("more doublings than bins in one, and at most 64"),
            carried: None,
            packets: 0,
            shortest: u64::MAX,
            longest: 0,
            sum_ns: 0,
        }
    }

    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Span) {
        self.record_all(core::iter::once(delay));
    }

    /// Counts delays, of which there are much fewer than fit into one count.
    #[inline]
    pub(crate) fn record_all(&mut self, delays: impl Iterator<Item = Span>) {
        let (mut packets, mut sum_ns) = (0, 0);
        let (mut shortest, mut longest) = (self.shortest, self.longest);
        for delay in delays {
            let ns = delay.as_ns();
            if self.counts.increment(ns).is_err() {
                self.count_as_longest();
            }
            packets += 1;
            shortest = shortest.min(ns);
            longest = longest.max(ns);
            sum_ns += u128::from(ns);
        }
        (self.shortest, self.longest) = (shortest, longest);
        self.sum_ns += sum_ns;
        let carried = self.packets / CARRIED_AFTER;
        self.packets += packets;
        if self.packets / CARRIED_AFTER != carried {
            self.carry();
        }
    }

    #[cold]
    fn count_as_longest(&mut self) {
        let last = self.counts.as_mut_slice().last_mut();
        *last.expect("a histogram has bins") += 1;
    }

    /// Makes room in the counts.
    #[cold]
    fn carry(&mut self) {
        self.carried = Some(Box::new(self.whole()));
        self.counts.reset();
    }

    /// Everything that was counted.
    fn whole(&self) -> Histogram {
        let config = self.counts.config();
        let mut whole =
            self.carried.as_ref().map_or_else(|| Histogram::with_config(&config), |carried| (**carried).clone());
        for (sum, count) in whole.as_mut_slice().iter_mut().zip(self.counts.as_slice()) {
            *sum += u64::from(*count);
        }
        whole
    }

    /// Number of delays.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Exact mean in ns; `None` without delays.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ns as f64 / self.packets as f64)
    }

    /// Exact minimum in ns; `None` without delays.
    pub fn min_ns(&self) -> Option<u64> {
        (self.packets > 0).then_some(self.shortest)
    }

    /// Exact maximum in ns; `None` without delays.
    pub fn max_ns(&self) -> Option<u64> {
        (self.packets > 0).then_some(self.longest)
    }

    /// The smallest delay with at least the fraction `p` of all delays at or below it, in ns, to three
    /// significant digits; `None` without delays.
    ///
    /// # Panics
    /// If `p` is no fraction.
    pub fn quantile_ns(&self, p: f64) -> Option<u64> {
        self.quantiles_ns([p]).map(|[one]| one)
    }

    /// Several quantiles as [`DelayHistogram::quantile_ns`] gives each, from one look at the bins.
    ///
    /// # Panics
    /// If one is no fraction, or less than the one before.
    pub fn quantiles_ns<const N: usize>(&self, fractions: [f64; N]) -> Option<[u64; N]> {
        let mut ends = [0; N];
        self.find_quantiles(&fractions, &mut ends).map(|()| ends)
    }

    /// The same for any number of them: one function, however many are asked for.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a count is no larger than the count"
    )]
    fn find_quantiles(&self, fractions: &[f64], ends: &mut [u64]) -> Option<()> {
        assert!(fractions.is_sorted() && fractions.iter().all(|p| (0.0..=1.0).contains(p)));
        if self.packets == 0 {
            return None;
        }
        let counts = self.counts.as_slice();
        let carried = self.carried.as_ref().map(|carried| carried.as_slice());
        let count = |bin: usize| u64::from(counts[bin]) + carried.map_or(0, |sums| sums[bin]);
        let mut bin = bin_of(self.shortest).min(counts.len() - 1);
        let mut reached = count(bin);
        for (end, p) in ends.iter_mut().zip(fractions) {
            let rank = (p * self.packets as f64).ceil() as u64;
            while reached < rank.min(self.packets) {
                bin += 1;
                reached += count(bin);
            }
            *end = last_of(bin).min(self.longest);
        }
        Some(())
    }

    /// Bins that hold something: largest delay of the bin in ns, and count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.filled().map(|bin| (bin.end.min(self.longest), bin.count))
    }

    /// The same bins by what stands for them without bias: the middle of the bin in ns, but neither less
    /// than the exact minimum nor more than the exact maximum; and count.
    pub fn middles(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.filled().map(|bin| {
            let middle = bin.start + (bin.end - bin.start).div_ceil(2);
            (middle.clamp(self.shortest, self.longest), bin.count)
        })
    }

    fn filled(&self) -> impl Iterator<Item = Bin> + '_ {
        let carried = self.carried.as_ref().map(|carried| carried.as_slice());
        let bins = self.counts.iter().enumerate().map(move |(place, bin)| Bin {
            start: bin.start(),
            end: bin.end(),
            count: bin.count() + carried.map_or(0, |carried| carried[place]),
        });
        bins.filter(|bin| bin.count > 0)
    }
}

/// Returns the bin of a delay in ns.
#[expect(clippy::cast_possible_truncation, reason = "there are some thousand bins")]
const fn bin_of(ns: u64) -> usize {
    let linear = 2 << BINS_PER_DOUBLING;
    if ns < linear {
        return ns as usize;
    }
    let shift = ns.ilog2() - BINS_PER_DOUBLING as u32;
    ((shift as usize) << BINS_PER_DOUBLING) + (ns >> shift) as usize
}

/// The longest delay in ns that a bin holds.
const fn last_of(bin: usize) -> u64 {
    let linear = 2 << BINS_PER_DOUBLING;
    if bin < linear {
        return bin as u64;
    }
    let shift = (bin >> BINS_PER_DOUBLING) - 1;
    let first = bin - (shift << BINS_PER_DOUBLING);
    ((first as u64 + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_the_histogram() {
        let histogram = DelayHistogram::default();
        for (place, bin) in histogram.counts.iter().enumerate() {
            assert_eq!((bin_of(bin.start()), bin_of(bin.end())), (place, place));
            assert_eq!(last_of(place), bin.end());
        }
    }

    #[test]
    fn quantiles_are_those_that_the_histogram_finds() {
        let mut histogram = DelayHistogram::default();
        for step in 1..=4000_u64 {
            histogram.record(Span::from_ns(step * step * 977 % 400_000_009));
        }
        for p in (0..=1000).map(|n| f64::from(n) / 1000.0) {
            let theirs = histogram.counts.quantile_bucket(p).unwrap().unwrap().end();
            assert_eq!(histogram.quantile_ns(p), Some(theirs.min(histogram.longest)), "{p}");
        }
    }

    #[test]
    fn quantiles_are_right_to_three_digits_and_extremes_exact() {
        let mut histogram = DelayHistogram::default();
        for ms in 1..=1000 {
            histogram.record(Span::from_ms(ms));
        }
        assert_eq!(histogram.min_ns(), Some(1_000_000));
        assert_eq!(histogram.max_ns(), Some(1_000_000_000));
        assert_eq!(histogram.mean_ns(), Some(500_500_000.0));
        let median = histogram.quantile_ns(0.5).unwrap() as f64;
        assert!((median / 500e6 - 1.0).abs() < 1e-3, "{median}");
        assert_eq!(histogram.bins().map(|(_, count)| count).sum::<u64>(), 1000);
    }

    #[test]
    fn the_middle_of_a_bin_is_within_a_two_thousandth_and_within_the_extremes() {
        let mut histogram = DelayHistogram::default();
        // One delay per bin: from 1024 on, a bin is at most a 1024th of its values wide.
        let delays: Vec<u64> = (0..400).map(|i| 1_000_003 * (i + 1)).collect();
        for ns in &delays {
            histogram.record(Span::from_ns(*ns));
        }
        let middles: Vec<(u64, u64)> = histogram.middles().collect();
        assert_eq!(middles.len(), delays.len());
        for ((middle, count), delay) in middles.iter().zip(&delays) {
            assert_eq!(*count, 1);
            let error = *middle as f64 / *delay as f64 - 1.0;
            assert!(error.abs() <= 1.0 / 2048.0, "{delay}: {middle}");
        }
        let mut one = DelayHistogram::default();
        one.record(Span::from_ns(123_456_789));
        assert_eq!(one.middles().collect::<Vec<_>>(), [(123_456_789, 1)]);
        assert_eq!(DelayHistogram::default().middles().count(), 0);
        assert_eq!(DelayHistogram::default().min_ns(), None);
    }

    #[test]
    fn what_was_carried_counts_like_the_rest() {
        let delays = [1, 700, 5_000, 5_000, 1_000_000, 77];
        let mut carried = DelayHistogram::default();
        let mut plain = DelayHistogram::default();
        for ns in delays {
            carried.record(Span::from_ns(ns));
            carried.carry();
            plain.record(Span::from_ns(ns));
        }
        carried.record(Span::from_ns(5_000));
        plain.record(Span::from_ns(5_000));
        assert!(carried.bins().eq(plain.bins()));
        assert!(carried.middles().eq(plain.middles()));
        for p in [0.0, 0.3, 0.5, 0.9, 1.0] {
            assert_eq!(carried.quantile_ns(p), plain.quantile_ns(p), "{p}");
        }
        let several = [0.0, 0.5, 0.9];
        let each = several.map(|p| plain.quantile_ns(p).unwrap());
        assert_eq!(plain.quantiles_ns(several), Some(each));
        assert_eq!(carried.quantiles_ns(several), Some(each));
        assert_eq!(DelayHistogram::default().quantiles_ns(several), None);
        assert_eq!(carried.counts.as_slice().iter().sum::<u32>(), 1);
    }

    #[test]
    fn a_delay_beyond_what_is_told_apart_counts_as_the_longest() {
        let mut histogram = DelayHistogram::up_to(Span::from_ns(5000));
        for ns in [100, 8191, 9000, 20_000] {
            histogram.record(Span::from_ns(ns));
        }
        let bins: Vec<(u64, u64)> = histogram.bins().collect();
        assert_eq!(bins, [(100, 1), (8191, 3)], "2^13 is the power of two above");
        assert_eq!(histogram.packets(), 4);
        assert_eq!(histogram.max_ns(), Some(20_000));
        assert_eq!(histogram.quantile_ns(0.25), Some(100));
        assert_eq!(histogram.quantile_ns(1.0), Some(8191));
    }
}
