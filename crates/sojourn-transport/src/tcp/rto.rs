//! The retransmission timeout and its back-off.
//!
//! Source: RFC 6298 sections 2 and 5; Linux `tcp_rto_min` for the second formula; ns-2.35
//! `rfc2988_` for the order of clamping and back-off.
//! Deviations: none known. The minimum applies before back-off, the maximum after it.

use crate::common::rtt::RoundTrip;
use crate::config::{TimeoutFormula, TimeoutPolicy};
use sojourn_base::Span;

/// The timeout before back-off, once there is a sample.
pub(crate) fn base_timeout(policy: &TimeoutPolicy, round_trip: &RoundTrip) -> Span {
    let smoothed = round_trip.smoothed().unwrap_or(Span::ZERO);
    let variations = round_trip.four_variations();
    match policy.formula {
        TimeoutFormula::Rfc6298 => (smoothed + variations.max(policy.granularity)).max(policy.minimum),
        TimeoutFormula::Linux => smoothed + variations.max(policy.minimum),
    }
}

/// `base` after `expiries` timeouts in a row: doubled for each, at most `maximum`.
#[inline]
pub(crate) fn backed_off(base: Span, expiries: u32, maximum: Span) -> Span {
    // 2^40 times any base is beyond any maximum.
    base.saturating_mul(1 << expiries.min(40)).min(maximum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackConfig;
    use sojourn_base::Instant;
    use std::vec::Vec;

    const SAMPLES: [u64; 6] = [100, 120, 90, 200, 100, 100];

    fn timeouts(policy: &TimeoutPolicy) -> Vec<f64> {
        let mut round_trip = RoundTrip::default();
        SAMPLES
            .iter()
            .map(|&sample| {
                round_trip.sample(Instant::ZERO, Span::from_ms(sample), false);
                base_timeout(policy, &round_trip).as_ms_f64()
            })
            .collect()
    }

    fn assert_close(got: &[f64], expected: [f64; 6]) {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-4, "{got}, not {expected}");
        }
    }

    #[test]
    fn timeouts_follow_the_samples() {
        assert_close(
            &timeouts(&StackConfig::NS2_BSD_SACK.timeout),
            [300.0, 272.5, 240.9375, 317.3828, 278.0225, 246.6290],
        );
        assert_close(
            &timeouts(&StackConfig::LINUX_RENO.timeout),
            [300.0, 302.5, 300.9375, 317.3828, 311.6553, 310.1984],
        );
        assert_close(&timeouts(&StackConfig::NS3_2019.timeout), [1000.0; 6]);
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum() {
        let series: Vec<u64> = (0..10)
            .map(|expiries| backed_off(Span::from_ms(200), expiries, Span::from_s(60)).as_ps() / 1_000_000_000)
            .collect();
        assert_eq!(series, [200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000]);
    }
}
