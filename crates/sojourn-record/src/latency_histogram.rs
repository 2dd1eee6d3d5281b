//! Latency histograms as modems and CMTSs keep them: packets counted per bin of the operator's choice, and a maximum.
//!
//! Source: White 2019 §5.4 and Figure 14; DOCSIS 3.1 latency histogram reporting.
//! Units and ranges: 1 to 15 edges, rising; counts of 64 bits, where devices report 32.
//! Deviations: a delay on an edge falls into the bin above it, which the documents leave open; the default edges are
//! chosen.

use crate::accumulate::{DelayHistogram, HISTOGRAM_BYTES};
use sojourn_base::{ServiceQueue, Span, math};
use sojourn_keys::{origin, parameters, words};
use std::borrow::Cow;

words! {
    /// Delay that a latency histogram counts.
    pub enum HistogramValue {
        /// the queue manager's own estimate when it accepted the packet, as a modem has it
        Estimate = "estimate",
        /// the time that the packet waited in the managed queue
        Sojourn = "sojourn",
    }
}

parameters! {
    /// How a device shall count.
    #[derive(Eq)]
    pub struct LatencyHistogramConfig {
        /// delays between its bins, rising: one or a list of up to 15
        ///
        /// The first bin begins at zero, the last one has no end. The least one is the step of edges in configuration
        /// files.
        edges: Cow<'static, [Span]> = Cow::Borrowed(&EDGES),
            origin("chosen: fifteen from 0.25 ms to 1 s, steps of 1, 2 and 5 and more below 3 ms").least("10 us").one_or_many();
        /// the delay that is counted
        value: HistogramValue = HistogramValue::Estimate, origin("White 2019 §5.4");
        /// the device counts; a change begins a count, which is empty then, and ends it
        counting: bool = true, origin("White 2019 §5.4: a count is begun and ended by a MIB object"), if |it| !it.counting;
    }
}

/// chosen: sixteen bins, as many as there may be, closest around the 0.5 and 1 ms of the low-latency queue's ramp.
static EDGES: [Span; 15] = [
    Span::from_us(250),
    Span::from_us(500),
    Span::from_us(750),
    Span::from_us(1_000),
    Span::from_us(1_500),
    Span::from_ms(2),
    Span::from_ms(3),
    Span::from_ms(5),
    Span::from_ms(10),
    Span::from_ms(20),
    Span::from_ms(50),
    Span::from_ms(100),
    Span::from_ms(200),
    Span::from_ms(500),
    Span::from_s(1),
];

/// How a quantile is placed inside its bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// As if its packets lay evenly between the edges.
    Linear,
    /// As if their logarithms did; in the first bin, which begins at zero, linear.
    Logarithmic,
}

/// A bin and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBin {
    /// Least delay that falls into it.
    pub from: Span,
    /// From here on delays fall into the next one; `None` of the last.
    pub to: Option<Span>,
    /// Packets in it.
    pub packets: u64,
}

/// Packets counted per bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyHistogram {
    edges: Vec<Span>,
    counts: Vec<u64>,
    longest: Span,
    sum_ns: u128,
}

impl LatencyHistogram {
    /// An empty histogram with these edges.
    pub fn new(edges: &[Span]) -> Self {
        Self { edges: edges.to_vec(), counts: vec![0; edges.len() + 1], longest: Span::ZERO, sum_ns: 0 }
    }

    /// Returns a device's report: a count for each bin, one more than edges, and the longest delay, which ends the last
    /// bin.
    ///
    /// # Errors
    /// If edges do not rise, there are not as many counts as bins, or more packets than can be counted, or the longest delay
    /// lies outside of the last bin that has packets.
    pub fn reported(edges: Vec<Span>, counts: Vec<u64>, longest: Option<Span>) -> Result<Self, String> {
        if !edges.is_sorted_by(|a, b| a < b) || edges.first() == Some(&Span::ZERO) {
            return Err("edges do not rise from above zero".to_owned());
        }
        if counts.len() != edges.len() + 1 {
            return Err(format!("{} counts for {} bins", counts.len(), edges.len() + 1));
        }
        if counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count)).is_none() {
            return Err("there are more packets than can be counted".to_owned());
        }
        let histogram = Self { edges, counts, longest: longest.unwrap_or(Span::MAX), sum_ns: 0 };
        let filled = histogram.bins().filter(|bin| bin.packets > 0).last();
        if let (Some(last), Some(longest)) = (filled, longest)
            && (longest < last.from || last.to.is_some_and(|to| longest >= to))
        {
            return Err("the longest delay does not lie in the last bin that has packets".to_owned());
        }
        Ok(histogram)
    }

    /// Counts one delay.
    pub fn record(&mut self, delay: Span) {
        let bin = self.edges.partition_point(|edge| *edge <= delay);
        self.counts[bin] += 1;
        self.longest = self.longest.max(delay);
        self.sum_ns += u128::from(delay.as_ns());
    }

    /// Adds what another device, or another time, has counted in the same bins.
    ///
    /// # Panics
    /// If the edges differ.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.edges, other.edges, "bins of one kind");
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.longest = self.longest.max(other.longest);
        self.sum_ns += other.sum_ns;
    }

    /// All bins in rising order.
    pub fn bins(&self) -> impl Iterator<Item = LatencyBin> + '_ {
        (0..self.counts.len()).map(|bin| LatencyBin {
            from: self.from(bin),
            to: self.edges.get(bin).copied(),
            packets: self.counts[bin],
        })
    }

    /// Packets in all bins.
    pub fn packets(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The longest delay; zero without packets.
    pub const fn longest(&self) -> Span {
        self.longest
    }

    /// Mean in ns; `None` without packets.
    pub fn mean_ns(&self) -> Option<f64> {
        let packets = self.packets();
        (packets > 0).then(|| self.sum_ns as f64 / packets as f64)
    }

    /// The delay in ns that the share `p` of all packets does not exceed, as far as bins tell; `None` without packets.
    pub fn quantile_ns(&self, p: f64, interpolation: Interpolation) -> Option<f64> {
        let (bin, fraction) = self.find(p)?;
        let (low, high) = (self.from(bin).as_ns() as f64, self.end(bin).as_ns() as f64);
        Some(match interpolation {
            Interpolation::Logarithmic if low > 0.0 => low * math::powf(high / low, fraction),
            _ => low + fraction * (high - low),
        })
    }

    /// Least and largest delay that this quantile can be: the ends of its bin; `None` without packets.
    pub fn bracket(&self, p: f64) -> Option<(Span, Span)> {
        let (bin, _) = self.find(p)?;
        Some((self.from(bin), self.end(bin)))
    }

    /// The bin in which the share `p` is reached, and which part of its packets that takes.
    fn find(&self, p: f64) -> Option<(usize, f64)> {
        /// chosen: the share that quantiles of samples may miss, for the rounding of products.
        const SLACK: f64 = 1e-12;
        let packets = self.packets() as f64;
        let wanted = p.clamp(0.0, 1.0) * packets;
        let mut below = 0.0;
        for (bin, count) in self.counts.iter().enumerate() {
            let count = *count as f64;
            if count > 0.0 && below + count + SLACK * packets >= wanted {
                return Some((bin, ((wanted - below) / count).clamp(0.0, 1.0)));
            }
            below += count;
        }
        None
    }

    /// Returns the lower edge of a bin.
    fn from(&self, bin: usize) -> Span {
        bin.checked_sub(1).and_then(|before| self.edges.get(before)).copied().unwrap_or(Span::ZERO)
    }

    /// Returns the upper edge of a bin.
    fn end(&self, bin: usize) -> Span {
        let edge = self.edges.get(bin).copied();
        edge.map_or(self.longest, |edge| edge.min(self.longest))
    }
}

/// Delays of a queue as its device reports them, and the same delays to three digits.
#[derive(Clone, Debug)]
pub struct DeviceDelays {
    /// The device's report.
    pub bins: LatencyHistogram,
    /// The same delays to three digits.
    pub exact: DelayHistogram,
}

/// Bytes of a device's delays for all queues of a link: its report, and the same delays to three digits.
pub const DEVICE_HISTOGRAM_BYTES: u64 =
    ServiceQueue::ALL.len() as u64 * (HISTOGRAM_BYTES + size_of::<DeviceDelays>() as u64);

/// The histograms of one device.
#[derive(Debug)]
pub(crate) struct DeviceHistograms {
    config: LatencyHistogramConfig,
    of_queue: [Option<DeviceDelays>; ServiceQueue::ALL.len()],
}

impl DeviceHistograms {
    /// Empty ones.
    pub(crate) fn boxed(config: LatencyHistogramConfig) -> Box<Self> {
        Box::new(Self { config, of_queue: [const { None }; ServiceQueue::ALL.len()] })
    }

    /// Counts a delay, if delays of this kind are counted.
    pub(crate) fn count(&mut self, value: HistogramValue, queue: ServiceQueue, delay: Span) {
        if self.config.value == value && self.config.counting {
            let delays = self.of_queue[queue as usize].get_or_insert_with(|| DeviceDelays {
                bins: LatencyHistogram::new(&self.config.edges),
                exact: DelayHistogram::default(),
            });
            delays.bins.record(delay);
            delays.exact.record(delay);
        }
    }

    /// A count ends, or an empty one begins.
    pub(crate) fn set_counting(&mut self, counting: bool) {
        if counting && !self.config.counting {
            self.clear();
        }
        self.config.counting = counting;
    }

    /// Forgets what was counted.
    pub(crate) fn clear(&mut self) {
        self.of_queue = [const { None }; ServiceQueue::ALL.len()];
    }

    /// Those of queues of which something was counted.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (ServiceQueue, &DeviceDelays)> {
        let queues = ServiceQueue::ALL.into_iter().zip(&self.of_queue);
        queues.filter_map(|(queue, delays)| Some((queue, delays.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Interpolation::{Linear, Logarithmic};
    use proptest::prelude::*;

    fn with(counts: [u64; 6], longest_ms: u64) -> LatencyHistogram {
        LatencyHistogram {
            edges: [1, 2, 5, 10, 20].map(Span::from_ms).to_vec(),
            counts: counts.to_vec(),
            longest: Span::from_ms(longest_ms),
            sum_ns: 0,
        }
    }

    fn ms(histogram: &LatencyHistogram, p: f64, interpolation: Interpolation) -> f64 {
        let found = histogram.quantile_ns(p, interpolation);
        found.expect("it has packets") / 1e6
    }

    #[test]
    fn quantiles_are_linear_in_their_bin_and_end_at_the_maximum() {
        let histogram = with([500, 300, 150, 40, 8, 2], 37);
        for (p, expected) in [(0.25, 0.5), (0.5, 1.0), (0.9, 4.0), (0.99, 10.0), (0.999, 28.5), (1.0, 37.0)] {
            let found = ms(&histogram, p, Linear);
            assert!((found - expected).abs() < 1e-9, "{p}: {found} ms");
        }
    }

    #[test]
    fn quantiles_are_logarithmic_in_their_bin_if_wanted() {
        let histogram = with([500, 300, 150, 40, 8, 2], 37);
        let found = ms(&histogram, 0.9, Logarithmic);
        assert!((found - 3.684_031).abs() < 5e-7, "{found}");
        // The first bin begins at zero, of which there is no logarithm.
        assert!((ms(&histogram, 0.25, Logarithmic) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_delay_on_an_edge_falls_into_the_bin_above_it() {
        let mut histogram = with([0; 6], 0);
        histogram.record(Span::from_us(5_000));
        histogram.record(Span::from_us(4_999));
        let counts: Vec<u64> = histogram.bins().map(|bin| bin.packets).collect();
        assert_eq!(counts, [0, 0, 1, 1, 0, 0]);
        assert_eq!(histogram.longest(), Span::from_ms(5));
        assert_eq!(histogram.mean_ns(), Some(4_999_500.0));
    }

    #[test]
    fn a_bin_ends_at_the_longest_delay() {
        let histogram = with([0, 0, 0, 4, 0, 0], 7);
        assert!((ms(&histogram, 0.5, Linear) - 6.0).abs() < 1e-9);
        let bracket = histogram.bracket(0.5);
        assert_eq!(bracket, Some((Span::from_ms(5), Span::from_ms(7))));
        assert_eq!(with([0; 6], 0).quantile_ns(0.5, Linear), None);
    }

    #[test]
    fn a_histogram_merged_with_itself_has_the_same_quantiles() {
        let one = with([500, 300, 150, 40, 8, 2], 37);
        let mut both = one.clone();
        both.merge(&one);
        assert_eq!(both.packets(), 2 * one.packets());
        for p in [0.0, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0] {
            assert!((ms(&one, p, Linear) - ms(&both, p, Linear)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_report_is_read_as_it_was_counted_and_refused_if_it_cannot_be_one() {
        let edges: Vec<Span> = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000].map(Span::from_us).to_vec();
        let counts = vec![120, 300, 340, 160, 50, 22, 6, 2];
        let read = |edges: &[Span], counts: &[u64], longest_ms| {
            LatencyHistogram::reported(edges.to_vec(), counts.to_vec(), Some(Span::from_ms(longest_ms)))
        };
        let report = read(&edges, &counts, 40).expect("a report");
        for (p, linear, logarithmic) in [
            (0.5, 1.2353, 1.1771),
            (0.9, 3.75, 3.6680),
            (0.95, 6.4, 6.0629),
            (0.99, 15.2727, 15.0229),
            (0.999, 36.0, 35.7771),
        ] {
            assert!((ms(&report, p, Linear) - linear).abs() < 5e-5);
            assert!((ms(&report, p, Logarithmic) - logarithmic).abs() < 5e-5);
        }
        let turned: Vec<Span> = edges.iter().rev().copied().collect();
        for (refused, why) in [
            (read(&turned, &counts, 40), "do not rise"),
            (read(&edges[1..], &counts, 40), "8 counts for 7 bins"),
            (read(&edges, &counts, 31), "the longest delay"),
            (read(&edges[..1], &[u64::MAX, 1], 40), "more packets"),
        ] {
            assert!(refused.expect_err("no report").contains(why));
        }
    }

    #[test]
    fn the_default_bins_are_as_many_as_there_may_be_and_in_order() {
        let edges = LatencyHistogramConfig::BASE.edges;
        assert_eq!(edges.len() + 1, 16);
        assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
    }

    proptest! {
        // Claim W19-44.
        #[test]
        fn an_estimate_is_inside_the_bin_that_holds_the_quantile(
            mut delays in prop::collection::vec(0..3_000_000_000_u64, 1..400),
            shares in prop::collection::vec(0.0..=1.0, 1..20),
        ) {
            let mut histogram = LatencyHistogram::new(&LatencyHistogramConfig::BASE.edges);
            for ns in &delays {
                histogram.record(Span::from_ns(*ns));
            }
            delays.sort_unstable();
            let mut before = 0.0;
            let mut shares = shares;
            shares.sort_by(f64::total_cmp);
            for p in shares {
                let wanted = (p - 1e-12) * delays.len() as f64;
                let reached = delays.iter().zip(1..).find(|(_, rank)| f64::from(*rank) >= wanted);
                let exact = Span::from_ns(*reached.expect("a share of them").0);
                let (low, high) = histogram.bracket(p).expect("it has packets");
                prop_assert!(low <= exact && exact <= high, "{low} <= {exact} <= {high}");
                for interpolation in [Linear, Logarithmic] {
                    let estimate = histogram.quantile_ns(p, interpolation).expect("it has packets");
                    prop_assert!(low.as_ns() as f64 <= estimate + 1e-3);
                    prop_assert!(estimate <= high.as_ns() as f64 + 1e-3);
                }
                let estimate = histogram.quantile_ns(p, Linear).expect("it has packets");
                prop_assert!(before <= estimate);
                before = estimate;
            }
        }

        #[test]
        fn it_does_not_matter_who_counted_what(
            delays in prop::collection::vec((0..2_000_000_000_u64, any::<bool>()), 0..100),
        ) {
            let edges = LatencyHistogramConfig::BASE.edges;
            let [mut whole, mut one, mut other] = [(); 3].map(|()| LatencyHistogram::new(&edges));
            for (ns, is_first) in delays {
                let delay = Span::from_ns(ns);
                whole.record(delay);
                if is_first { one.record(delay) } else { other.record(delay) }
            }
            let mut turned = other.clone();
            turned.merge(&one);
            one.merge(&other);
            prop_assert_eq!(&one, &whole);
            prop_assert_eq!(&turned, &whole);
        }
    }
}
