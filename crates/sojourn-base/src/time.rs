//! Points in simulated time and lengths of time, both in whole picoseconds.
//!
//! Picoseconds, because cyclic prefixes of DOCSIS 3.1 are multiples of 312.5 ns: an OFDM symbol can
//! last 20,937.5 ns. A `u64` of picoseconds covers 213 days. Records are written in nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// A point in simulated time: picoseconds since the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of simulated time in picoseconds, never negative.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Instant {
    /// Start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * PS_PER_NS)
    }

    /// The instant `us` microseconds after the start.
    pub const fn from_us(us: u64) -> Self {
        Self(us * PS_PER_US)
    }

    /// The instant `ms` milliseconds after the start.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * PS_PER_MS)
    }

    /// The instant `s` seconds after the start.
    pub const fn from_s(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the start, rounded down: the unit of records.
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }

    /// Seconds since the start, for statistics and pictures.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Time since `earlier`, or `None` if `earlier` lies in the future.
    pub const fn since(self, earlier: Self) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }

    /// Time since `earlier`, or zero if `earlier` lies in the future.
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self - other` in picoseconds with its sign, for control laws that look both ways.
    pub const fn signed_ps_since(self, other: Self) -> i64 {
        self.0.cast_signed().wrapping_sub(other.0.cast_signed())
    }

    /// This instant plus `span`, staying at [`Instant::NEVER`] instead of wrapping.
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length of time.
    pub const MAX: Self = Self(u64::MAX);

    /// A length of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A length of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * PS_PER_NS)
    }

    /// A length of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * PS_PER_US)
    }

    /// A length of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * PS_PER_MS)
    }

    /// A length of `s` seconds.
    pub const fn from_s(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// The length nearest to `seconds`, clamped to the range of the type; zero for a NaN.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by `as`")]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down.
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }

    /// Seconds, for statistics, control laws in seconds, and pictures.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Milliseconds, for statistics and pictures.
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / PS_PER_MS as f64
    }

    /// True for the zero length.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, clamped to the longest length.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This length `factor` times over, clamped to the longest length.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// Stays at [`Instant::NEVER`]: what would happen after 213 days does not happen, instead of long ago.
impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        self.saturating_add(span)
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = self.saturating_add(span);
    }
}

impl Sub<Span> for Instant {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0 - span.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { write!(f, "never") } else { write!(f, "@{}", Span(self.0)) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints the exact value in the largest unit that leaves at least one whole unit: `20 ms`, `1.6 us`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(PS_PER_S, "s"), (PS_PER_MS, "ms"), (PS_PER_US, "us"), (PS_PER_NS, "ns")];
        if self.0 == 0 {
            return write!(f, "0 s");
        }
        let (scale, unit) = UNITS.into_iter().find(|(scale, _)| self.0 >= *scale).unwrap_or((1, "ps"));
        crate::scaled::write_scaled(f, self.0, scale)?;
        write!(f, " {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn spans_print_exactly_in_a_readable_unit() {
        for (span, text) in [
            (Span::ZERO, "0 s"),
            (Span::from_ms(20), "20 ms"),
            (Span::from_s(600), "600 s"),
            (Span::from_ps(20_937_500), "20.9375 us"),
            (Span::from_ps(1_000_000_000_001), "1.000000000001 s"),
            (Span::from_ps(7), "7 ps"),
        ] {
            assert_eq!(format!("{span}"), text);
        }
    }

    #[test]
    fn time_that_is_over_does_not_begin_again() {
        // 213 days are 18,403,200 s; the type ends at 18,446,744.07 s.
        let late = Instant::from_s(18_000_000);
        assert_eq!(late + Span::from_s(446_744), Instant::from_s(18_446_744));
        assert_eq!(late + Span::from_s(446_745), Instant::NEVER);
        let mut clock = Instant::NEVER;
        clock += Span::from_ps(1);
        assert_eq!(clock, Instant::NEVER);
    }

    #[test]
    fn a_reversed_difference_is_never_silently_positive() {
        let (early, late) = (Instant::from_ms(1), Instant::from_ms(3));
        assert_eq!(late.since(early), Some(Span::from_ms(2)));
        assert_eq!(early.since(late), None);
        assert_eq!(early.saturating_since(late), Span::ZERO);
        assert_eq!(early.signed_ps_since(late), -2_000_000_000);
    }
}
