//! Throughput: what a link carried over time, how well it was used, and how fairly it was shared.
//!
//! Source: White 2012 3.1.1 with Tables 7 and 8 (byte budget); White 2013 3.8 and 4.4 (series of
//! 100 ms, ramps); Jain, Chiu and Hawe 1984 (fairness index); Bertsekas and Gallager, Data Networks,
//! 6.5.2 (max-min shares).
//! Units and ranges: times in nanoseconds, rates in bit/s, sizes in bytes on the wire.
//! Deviations: none known.

use sojourn_base::{BitRate, Bytes, Span};

/// Width of a bin of the published series: 100 ms (White 2013 3.8).
pub const SERIES_BIN: u64 = 100_000_000;

/// A packet that left a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Time of its departure.
    pub at: u64,
    /// Its length.
    pub bytes: u32,
    /// How long it had waited.
    pub sojourn: u64,
}

/// Packets that left during one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of the waiting times.
    pub sojourn_sum: u64,
    /// Longest waiting time.
    pub sojourn_max: u64,
}

impl Bin {
    /// Rate over a bin of `width`.
    pub fn bits_per_second(&self, width: u64) -> f64 {
        self.bytes as f64 * 8e9 / width as f64
    }

    /// Mean waiting time; `None` if nothing left.
    pub fn mean_sojourn(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sojourn_sum as f64 / self.packets as f64)
    }
}

/// Departures in bins of `width` from time 0 to the bin of the last departure, which need not be in
/// order. A departure on a border belongs to the later bin.
///
/// # Panics
/// If the width is zero.
pub fn series(departures: &[Departure], width: u64) -> Vec<Bin> {
    let mut bins = Vec::new();
    for departure in departures {
        let index = usize::try_from(departure.at / width).expect("bins fit into memory");
        if index >= bins.len() {
            bins.resize(index + 1, Bin::default());
        }
        let bin = &mut bins[index];
        bin.packets += 1;
        bin.bytes += u64::from(departure.bytes);
        bin.sojourn_sum += departure.sojourn;
        bin.sojourn_max = bin.sojourn_max.max(departure.sojourn);
    }
    bins
}

/// How a transfer gets going.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Start of the first bin with at least 95 % of the rate of the busiest bin.
    pub peak_reached_at: u64,
    /// Lowest rate of a bin after that one and up to 10 s; `None` if there is no such bin.
    pub lowest_after_peak: Option<f64>,
    /// Bytes of all bins that end by 6 s.
    pub bytes_by_6_s: u64,
}

/// The ramp of a series in bins of `width`; `None` if nothing left at all. The limits of 6 s and 10 s
/// are chosen: the first is before and the second after a 10 MB burst at 20 Mb/s is used up.
pub fn ramp(bins: &[Bin], width: u64) -> Option<Ramp> {
    let peak = bins.iter().map(|bin| bin.bytes).max().filter(|&most| most > 0)?;
    let first = bins.iter().position(|bin| bin.bytes * 20 >= peak * 19)?;
    let until = |seconds: u64| {
        let count = usize::try_from(seconds * 1_000_000_000 / width).expect("bins fit into memory");
        count.min(bins.len())
    };
    let after = bins.get(first + 1..until(10)).unwrap_or_default();
    let lowest = after.iter().min_by_key(|bin| bin.bytes);
    Some(Ramp {
        peak_reached_at: first as u64 * width,
        lowest_after_peak: lowest.map(|bin| bin.bits_per_second(width)),
        bytes_by_6_s: bins[..until(6)].iter().map(|bin| bin.bytes).sum(),
    })
}

/// Share of a capacity that was used: bits forwarded over bits that could have been. `None` without capacity.
///
/// Packets count whole when they are taken from the queue, so in a run of a few packets the one that is still being sent
/// at its end can bring it above one. In longer runs a value above one says that a link exceeds its rate.
pub fn utilisation(forwarded: Bytes, capacity: Bytes) -> Option<f64> {
    crate::loss::share(forwarded.0, capacity.0)
}

/// The most that a shaper of rate `sustained` with a bucket of `burst` lets through in `duration`.
pub fn byte_budget(sustained: BitRate, burst: Bytes, duration: Span) -> Bytes {
    sustained.bytes_in(duration) + burst
}

/// Fairness index of rates: one if all are equal, 1/n if one has everything; `None` without a rate above
/// zero.
pub fn jain_index(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Max-min fair shares of `capacity`: who demands less than an equal share gets it, and the others share
/// the rest alike.
pub fn max_min_shares(demands: &[f64], capacity: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by(|&a, &b| demands[a].total_cmp(&demands[b]));
    let mut shares = vec![0.0; demands.len()];
    let mut left = capacity;
    for (served, &index) in order.iter().enumerate() {
        shares[index] = demands[index].min(left / (demands.len() - served) as f64);
        left -= shares[index];
    }
    shares
}

/// Each rate over its max-min fair share of `capacity`, given what each flow demands; a flow that
/// demands nothing has the ratio one.
pub fn max_min_ratios(rates: &[f64], demands: &[f64], capacity: f64) -> Vec<f64> {
    let shares = max_min_shares(demands, capacity);
    let pairs = rates.iter().zip(shares);
    pairs.map(|(rate, share)| if share > 0.0 { rate / share } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests;
