//! Bytes that a rate and a burst allow in any window of time, whatever the link does in between.
//!
//! Source: DOCSIS MULPI annex C, maximum sustained traffic rate: at most `T · R + B` in any time `T`.

use sojourn_base::{BitRate, Bytes, Instant};

/// Departures from a link: time and bytes.
#[derive(Clone, Debug, Default)]
pub struct Departures(Vec<(u64, u64)>);

/// Bit in 10^12 of a byte: what a picosecond is worth at one bit per second.
const BYTE: i128 = 8_000_000_000_000;

impl Departures {
    /// `bytes` have left at `at`.
    pub fn add(&mut self, at: Instant, bytes: u64) {
        self.0.push((at.as_ps(), bytes));
    }

    /// Bytes that left from `from` on and before `until`.
    pub fn between(&self, from: Instant, until: Instant) -> u64 {
        let window = from.as_ps()..until.as_ps();
        let inside = self.0.iter().filter(|(at, _)| window.contains(at));
        inside.map(|(_, bytes)| bytes).sum()
    }

    /// The most by which a window's bytes are above what `rate` carries in it, in bytes; the burst that would be needed
    /// for all windows. Zero without departures.
    #[expect(clippy::cast_precision_loss, reason = "a number of bytes, to be compared with others")]
    pub fn burst_needed(&mut self, rate: BitRate) -> f64 {
        self.0.sort_unstable_by_key(|(at, _)| *at);
        let rate = i128::from(rate.as_bps());
        let (mut sent, mut lowest, mut most) = (0, i128::MAX, 0);
        for &(at, bytes) in &self.0 {
            let carried = rate * i128::from(at);
            lowest = lowest.min(sent - carried);
            sent += i128::from(bytes) * BYTE;
            most = most.max(sent - carried - lowest);
        }
        most as f64 / BYTE as f64
    }

    /// The highest ratio of what a window had to what `rate` and `burst` allow in it.
    pub fn worst_ratio(&mut self, rate: BitRate, burst: Bytes) -> f64 {
        // The ratio at which a window would just be allowed: more of rate and burst makes it smaller.
        let (mut low, mut high) = (0.0, 1.0);
        let fits = |departures: &mut Self, ratio: f64| {
            let scaled = rate.as_bps() as f64 * ratio;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive rate")]
            let scaled = BitRate::from_bps(scaled as u64);
            departures.burst_needed(scaled) <= burst.0 as f64 * ratio
        };
        while !fits(self, high) {
            low = high;
            high *= 2.0;
        }
        while high - low > 1e-5 {
            let ratio = f64::midpoint(low, high);
            if fits(self, ratio) {
                high = ratio;
            } else {
                low = ratio;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures(list: &[(u64, u64)]) -> Departures {
        Departures(list.iter().map(|(ms, bytes)| (ms * 1_000_000_000, *bytes)).collect())
    }

    #[test]
    fn the_worst_of_all_windows_is_found() {
        // 8 kb/s carry a byte in a millisecond.
        let rate = BitRate::from_kbps(8);
        let mut steady = departures(&[(0, 10), (10, 10), (20, 10)]);
        assert!((steady.burst_needed(rate) - 10.0).abs() < 1e-9);
        // From 30 to 35 ms: 25 B where 5 pass.
        let mut burst = departures(&[(0, 10), (30, 10), (35, 15), (60, 10)]);
        assert!((burst.burst_needed(rate) - 20.0).abs() < 1e-9);
        assert_eq!(burst.between(Instant::from_ms(30), Instant::from_ms(60)), 25);
        // 25 B where 5 + 10 are allowed; a lone packet of 15 B where 10 are.
        assert!((burst.worst_ratio(rate, Bytes(10)) - 25.0 / 15.0).abs() < 1e-4);
        assert!(Departures::default().burst_needed(rate) < 1e-9);
    }
}
