//! Bit rates, and serialisation that never drifts.

use crate::{Bytes, Span};
use core::fmt;

const PS_PER_S: u64 = 1_000_000_000_000;
/// Picoseconds × bits per byte: the cost of one byte at 1 bit/s.
const BYTE_COST: u64 = 8 * PS_PER_S;

/// A rate in bit/s. Zero means "no rate"; where a configuration reads zero as "unlimited" it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// Nothing passes.
    pub const ZERO: Self = Self(0);

    /// A rate of `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `kbps` kb/s (1000 bit/s).
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1_000)
    }

    /// A rate of `mbps` Mb/s (10^6 bit/s).
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time to send `bytes`, rounded up to a whole picosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn time_for(self, bytes: Bytes) -> Span {
        Span::from_ps(self.time_and_excess(bytes, 0).0)
    }

    /// Bytes that pass in `span`, rounded down.
    #[expect(clippy::cast_possible_truncation, reason = "2^64 bytes take longer than any run")]
    pub const fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.as_ps() as u128 / BYTE_COST as u128) as u64)
    }

    /// Time for `bytes` when `excess/rate` ps of an earlier rounding are already paid: the time in
    /// picoseconds rounded up, and the excess of this rounding in units of `1/rate` ps.
    #[expect(clippy::cast_possible_truncation, reason = "2^64 ps are 213 days")]
    const fn time_and_excess(self, bytes: Bytes, excess: u64) -> (u64, u64) {
        assert!(self.0 > 0, "a rate of zero never sends anything");
        // A packet fits easily into 64 bits (2.3 MB do), which makes the division cheap.
        if let Some(cost) = bytes.0.checked_mul(BYTE_COST) {
            let cost = cost.saturating_sub(excess);
            let ps = cost.div_ceil(self.0);
            (ps, ps * self.0 - cost)
        } else {
            let rate = self.0 as u128;
            let cost = bytes.0 as u128 * BYTE_COST as u128 - excess as u128;
            let ps = cost.div_ceil(rate);
            (ps as u64, (ps * rate - cost) as u64)
        }
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1_000_000_000, "Gb/s"), (1_000_000, "Mb/s"), (1_000, "kb/s")];
        let (scale, unit) = UNITS.into_iter().find(|(scale, _)| self.0 >= *scale).unwrap_or((1, "b/s"));
        crate::scaled::write_scaled(f, self.0, scale)?;
        write!(f, " {unit}")
    }
}

/// Sends packets at a constant rate and carries the rounding of each into the next, so that the end
/// of packet n is within one picosecond of its exact time for every n of a busy period.
#[derive(Clone, Copy, Debug)]
pub struct Serializer {
    rate: BitRate,
    /// The last packet that met no excess, its time, and the excess it left: most packets are as long
    /// as the one before, and most rates leave no excess.
    last: (Bytes, Span, u64),
    /// Excess of the last rounding up, in units of `1/rate` ps.
    excess: u64,
}

impl Serializer {
    /// A serializer at `rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn new(rate: BitRate) -> Self {
        assert!(rate.as_bps() > 0, "a rate of zero never sends anything");
        Self { rate, last: (Bytes::ZERO, Span::ZERO, 0), excess: 0 }
    }

    /// The rate.
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Time to send `bytes` right after what was sent before.
    #[inline]
    pub const fn send(&mut self, bytes: Bytes) -> Span {
        if self.excess == 0 && bytes.0 == self.last.0.0 {
            self.excess = self.last.2;
            return self.last.1;
        }
        let (ps, excess) = self.rate.time_and_excess(bytes, self.excess);
        let span = Span::from_ps(ps);
        if self.excess == 0 {
            self.last = (bytes, span, excess);
        }
        self.excess = excess;
        span
    }

    /// Forget the carried rounding: the line was idle, the next packet starts on a whole picosecond.
    pub const fn on_idle(&mut self) {
        self.excess = 0;
    }
}

/// Whole bytes that rates give in one span after the other: what is less than a byte is carried into the next span, so
/// that the sum over any number of spans is exact to a byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeBytes {
    /// Bits times 10^-12, less than a byte of them.
    rest: u64,
}

impl WholeBytes {
    /// Bytes that pass at `rate` in the next span.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^64 bytes take longer than any run, and a remainder is below a byte"
    )]
    pub const fn pass(&mut self, rate: BitRate, span: Span) -> Bytes {
        if let Some(bits) = rate.0.checked_mul(span.as_ps())
            && let Some(bits) = bits.checked_add(self.rest)
        {
            self.rest = bits % BYTE_COST;
            return Bytes(bits / BYTE_COST);
        }
        let bits = rate.0 as u128 * span.as_ps() as u128 + self.rest as u128;
        self.rest = (bits % BYTE_COST as u128) as u64;
        Bytes((bits / BYTE_COST as u128) as u64)
    }

    /// Returns true if no part of a byte is carried over.
    pub const fn is_even(&self) -> bool {
        self.rest == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_times_worked_out_by_hand() {
        assert_eq!(BitRate::from_mbps(5).time_for(Bytes(1500)), Span::from_us(2400));
        assert_eq!(BitRate::from_mbps(12).time_for(Bytes(1500)), Span::from_ms(1));
        // 1 byte at 3 bit/s: 8/3 s = 2.666…7 s, rounded up.
        assert_eq!(BitRate::from_bps(3).time_for(Bytes(1)), Span::from_ps(2_666_666_666_667));
    }

    #[test]
    fn an_hour_of_packets_ends_at_the_exact_time() {
        let mut line = Serializer::new(BitRate::from_bps(98_304_000));
        let total: u64 = (0..29_491_200).map(|_| line.send(Bytes(1500)).as_ps()).sum();
        assert_eq!(total, 3_600 * PS_PER_S);
    }

    #[test]
    fn bytes_of_many_spans_are_those_of_the_whole_time() {
        // 0.3 Mb/s in 22.5 us are 0.84375 B; in 10^5 of them 84,375 B. 10 Gb/s in 2 s need more than 64 bits.
        for (bps, ps, expected) in [
            (300_000, 22_500_000, 84_375),
            (1_000_000, 22_500_000, 281_250),
            (200_000, 945_000_000, 2_362_500),
            (10_000_000_000, 2_000_000_000_001, 250_000_000_000_125),
        ] {
            let (mut bytes, mut sum) = (WholeBytes::default(), 0);
            for _ in 0..100_000 {
                sum += bytes.pass(BitRate::from_bps(bps), Span::from_ps(ps)).0;
            }
            assert_eq!(sum, expected, "{bps} b/s");
            assert!(bytes.is_even());
        }
        // Rates may change in between: 1.25 + 0.75 B.
        let mut bytes = WholeBytes::default();
        let second = |mbps| (BitRate::from_mbps(mbps), Span::from_us(1));
        let (rate, span) = second(10);
        assert_eq!(bytes.pass(rate, span), Bytes(1));
        let (rate, span) = second(6);
        assert_eq!(bytes.pass(rate, span), Bytes(1));
    }

    #[test]
    fn bytes_in_and_time_for_are_inverse() {
        let rate = BitRate::from_bps(1_234_567);
        for bytes in [0, 1, 40, 1500, 10_000_000, 5_000_000_000] {
            assert_eq!(rate.bytes_in(rate.time_for(Bytes(bytes))), Bytes(bytes));
        }
    }
}
