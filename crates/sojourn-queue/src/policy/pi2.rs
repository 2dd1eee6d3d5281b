//! The base likelihood of a dual queue: a proportional-integral controller without gain tables, because what classic
//! packets see is its square.
//!
//! Source: RFC 9332 §2.4 and appendix A.1 (`dualpi2_update`); Linux `sch_dualpi2`.
//! Units and ranges: delays in seconds; the base likelihood is in 0..=1.
//! Deviations: none known.

use crate::policy::pie::law;
use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

const LARGEST_GAIN: &str = "1000";

parameters! {
    /// Parameters of the controller: RFC 9332 appendix A.1, for round trips of up to 100 ms.
    #[derive(Copy)]
    pub struct Pi2Law {
        /// wanted delay of the classic queue
        target: Span = Span::from_ms(15), law("RFC 9332 appendix A.1");
        /// time between updates of the base likelihood
        update_interval: Span = Span::from_ms(15), law("RFC 9332 appendix A.1");
        /// gain of the delay's distance from the target, in 1/s
        alpha: f64 = 0.15,
            origin("RFC 9332 appendix A.1: 0.1·update_interval/(100 ms)²").least("0").most(LARGEST_GAIN);
        /// gain of the delay's change since the last update, in 1/s
        beta: f64 = 3.0, origin("RFC 9332 appendix A.1: 0.3/(100 ms)").least("0").most(LARGEST_GAIN);
    }
    profiles {
        /// RFC 9332 appendix A.1: 15 ms, every 15 ms.
        RFC9332 {}
        /// Linux `sch_dualpi2`: every 16 ms, gains of 41/256 and 819/256.
        LINUX { update_interval = Span::from_ms(16); alpha = 0.160_156_25; beta = 3.199_218_75; }
    }
}

/// State of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pi2 {
    base: f64,
    /// Delay at the last update, in seconds.
    old_delay: f64,
}

impl Pi2 {
    /// An update is due. The delay is in seconds.
    pub fn on_update(&mut self, law: &Pi2Law, delay: f64) {
        let step = law.alpha * (delay - law.target.as_secs_f64()) + law.beta * (delay - self.old_delay);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.old_delay = delay;
    }

    /// The base likelihood p': classic packets are signalled with its square, low-latency ones with a multiple of it.
    pub const fn base(&self) -> f64 {
        self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_base_likelihood_over_six_updates() {
        let law = Pi2Law { alpha: 0.16, beta: 3.2, ..Pi2Law::RFC9332 };
        let mut pi = Pi2::default();
        for (ms, base) in [(15.0, 0.048), (30.0, 0.0984), (30.0, 0.1008), (20.0, 0.0696), (10.0, 0.0368), (0.0, 0.0024)]
        {
            pi.on_update(&law, ms / 1000.0);
            assert!((pi.base() - base).abs() < 1e-12, "{} at {ms} ms", pi.base());
        }
    }

    #[test]
    fn gains_follow_from_the_longest_round_trip() {
        let rtt = 0.1;
        let law = Pi2Law::RFC9332;
        let alpha = 0.1 * law.update_interval.as_secs_f64() / (rtt * rtt);
        assert!((law.alpha - alpha).abs() < 1e-12);
        assert!((law.beta - 0.3 / rtt).abs() < 1e-12);
        assert!((Pi2Law::LINUX.alpha - 41.0 / 256.0).abs() < 1e-15);
        assert!((Pi2Law::LINUX.beta - 819.0 / 256.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn the_base_likelihood_stays_in_its_range(
            delays in prop::collection::vec(0.0..10.0_f64, 0..200),
            alpha in 0.0..1000.0_f64,
            beta in 0.0..1000.0_f64,
        ) {
            let law = Pi2Law { alpha, beta, ..Pi2Law::RFC9332 };
            let mut pi = Pi2::default();
            for delay in delays {
                pi.on_update(&law, delay);
                prop_assert!((0.0..=1.0).contains(&pi.base()));
            }
        }
    }
}
