//! Latency histograms as modems and CMTSs count them, and what they let one say about quantiles.
//!
//! Source: White 2019 §5.4: bins chosen by the operator, packets counted per bin, and a maximum.
//! Deviations: an edge is taken as 0.01 ms and belongs to the bin above it (both unconfirmed); between edges a
//! quantile is interpolated, between the last edge and the maximum too.

use serde::Serialize;

/// Milliseconds of one step of an edge. Unconfirmed; field reports with edges of 0.05 to 200 ms agree.
const STEP_MS: f64 = 0.01;

/// Counts of packets by delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Edges between bins, in steps of 0.01 ms, rising.
    pub edges: Vec<u16>,
    /// Packets in each bin; one more than edges.
    pub counts: Vec<u64>,
    /// The greatest delay, in milliseconds.
    pub max_ms: f64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new(edges: &[u16]) -> Self {
        Self {
            edges: edges.to_vec(),
            counts: vec![0; edges.len() + 1],
            max_ms: 0.0,
        }
    }

    /// Counts a packet with this delay in milliseconds.
    pub fn record(&mut self, delay_ms: f64) {
        let bin = self
            .edges
            .partition_point(|edge| f64::from(*edge) * STEP_MS <= delay_ms);
        self.counts[bin] += 1;
        self.max_ms = self.max_ms.max(delay_ms);
    }
}

/// The delay in milliseconds that a share `p` of all packets does not exceed, as far as bins tell; `None` of no
/// packets.
///
/// # Panics
/// If there are not as many counts as bins.
pub fn quantile(histogram: &Histogram, p: f64) -> Option<f64> {
    assert_eq!(
        histogram.counts.len(),
        histogram.edges.len() + 1,
        "one more bin than edges"
    );
    let total: u64 = histogram.counts.iter().sum();
    let wanted = p.clamp(0.0, 1.0) * total as f64;
    let mut below = 0.0;
    for (bin, count) in histogram
        .counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
    {
        let count = *count as f64;
        if below + count >= wanted {
            let edge = |at: usize| {
                histogram
                    .edges
                    .get(at)
                    .map(|edge| f64::from(*edge) * STEP_MS)
            };
            let low = bin.checked_sub(1).and_then(edge).unwrap_or(0.0);
            let high = edge(bin)
                .unwrap_or(histogram.max_ms)
                .min(histogram.max_ms)
                .max(low);
            return Some(low + (high - low) * ((wanted - below) / count));
        }
        below += count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_the_bin_above_it() {
        let mut histogram = Histogram::new(&[5, 10]);
        for delay in [0.04, 0.05, 0.09, 0.10, 3.0] {
            histogram.record(delay);
        }
        assert_eq!(histogram.counts, [1, 2, 2]);
        assert!((histogram.max_ms - 3.0).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_interpolated_in_their_bin_and_end_at_the_maximum() {
        let histogram = Histogram {
            edges: vec![100, 200],
            counts: vec![50, 40, 10],
            max_ms: 12.0,
        };
        let close = |p: f64, ms: f64| {
            let found = quantile(&histogram, p).unwrap();
            assert!((found - ms).abs() < 1e-9, "{p}: {found} ms");
        };
        close(0.25, 0.5);
        close(0.5, 1.0);
        close(0.7, 1.5);
        close(0.95, 7.0);
        close(1.0, 12.0);
        assert_eq!(quantile(&Histogram::new(&[5]), 0.5), None);
    }
}
