//! Spreads events of a given likelihood evenly, without a draw: likelihoods add up, and each time the sum has
//! passed one an event is due.
//!
//! Source: RFC 9332 appendix A.1 (`recur`); DOCSIS 3.1 MULPI annex M.
//! Deviations: none known.

/// Sum of likelihoods since the last event, in 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recur(f64);

impl Recur {
    /// Another packet, with this likelihood (in 0..=1) of an event; whether the event is due.
    pub fn advance(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let due = self.0 > 1.0;
        if due {
            self.0 -= 1.0;
        }
        due
    }

    /// Returns the sum, for records and tests.
    pub const fn accumulated(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_quarter_is_due_at_every_fourth_call_from_the_fifth_on() {
        let mut recur = Recur::default();
        let due: Vec<u32> = (1..=17).filter(|_| recur.advance(0.25)).collect();
        assert_eq!(due, [5, 9, 13, 17]);
    }
}
