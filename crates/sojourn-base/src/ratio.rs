//! Probabilities.

/// A number in 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// `value` if it is in 0..=1, otherwise (also for NaN) `None`.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The nearest probability to `value`; a NaN becomes 0.
    pub fn clamped(value: f64) -> Self {
        Self(if value > 0.0 { value.min(1.0) } else { 0.0 })
    }

    /// The value as a number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns true if an event of this probability happens for the uniform draw `unit` in [0, 1).
    pub fn happens(self, unit: f64) -> bool {
        unit < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_stay_between_zero_and_one() {
        assert_eq!(Probability::new(1.5), None);
        assert_eq!(Probability::new(f64::NAN), None);
        assert_eq!(Probability::clamped(f64::NAN), Probability::ZERO);
        assert_eq!(Probability::clamped(7.0), Probability::ONE);
        assert!(!Probability::ZERO.happens(0.0));
        assert!(Probability::ONE.happens(0.999_999));
    }
}
