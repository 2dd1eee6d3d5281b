//! Delays: rounding as printed, variation and jitter.
//!
//! Source: White 2013 4.1.1 (rounding up to whole milliseconds); RFC 5481 4.1 and 4.2 (variation from
//! packet to packet and above the minimum); RFC 3550 6.4.1 (jitter).
//! Units and ranges: delays in nanoseconds. A lost packet has no delay: it is `None` where packets are
//! listed in the order of sending, and absent elsewhere.
//! Deviations: RFC 3550 updates its jitter in units of the media clock; here it is exact.

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// A delay in whole milliseconds, rounded up: only for views that repeat White 2013.
pub const fn ceil_ms(delay: u64) -> u64 {
    delay.div_ceil(MILLISECOND)
}

/// Returns the excess of each delay over the shortest one (packet delay variation).
pub fn delay_variation(delays: &[u64]) -> Vec<u64> {
    let shortest = delays.iter().copied().min().unwrap_or(0);
    delays.iter().map(|delay| delay - shortest).collect()
}

/// Each delay minus that of the packet received before it, packets in the order of sending
/// (inter-packet delay variation).
pub fn inter_packet_variation(delays: &[Option<u64>]) -> Vec<i64> {
    let received: Vec<u64> = delays.iter().copied().flatten().collect();
    let pairs = received.windows(2);
    pairs.map(|pair| pair[1].cast_signed() - pair[0].cast_signed()).collect()
}

/// Mean of the absolute inter-packet variation; `None` with fewer than two packets.
pub fn mean_absolute_variation(delays: &[Option<u64>]) -> Option<f64> {
    let variation = inter_packet_variation(delays);
    if variation.is_empty() {
        return None;
    }
    let sum: u64 = variation.iter().map(|step| step.unsigned_abs()).sum();
    Some(sum as f64 / variation.len() as f64)
}

/// Interarrival jitter after the last packet: a running mean of the absolute inter-packet variation with
/// gain 1/16, from zero.
pub fn interarrival_jitter(delays: &[Option<u64>]) -> f64 {
    let variation = inter_packet_variation(delays);
    variation.iter().fold(0.0, |jitter, step| jitter + (step.unsigned_abs() as f64 - jitter) / 16.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::inverted_cdf;

    /// Delays of the worked example: 10.2 10.0 12.5 40.0 11.1 10.0 95.3 10.4 ms.
    const DELAYS: [u64; 8] =
        [10_200_000, 10_000_000, 12_500_000, 40_000_000, 11_100_000, 10_000_000, 95_300_000, 10_400_000];

    #[test]
    fn milliseconds_are_rounded_up() {
        for (delay, milliseconds) in [(0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (5_432_100, 6)] {
            assert_eq!(ceil_ms(delay), milliseconds, "{delay}");
        }
        // 2 2 2 2 3 3 4 6 9 21: mean 5.4.
        let ten = [12, 14, 15, 19, 23, 28, 36, 51, 84, 207].map(|tenths| ceil_ms(tenths * 100_000));
        assert_eq!(ten.iter().sum::<u64>(), 54);
    }

    #[test]
    fn variation_is_measured_from_the_shortest_delay() {
        let mut variation = delay_variation(&DELAYS);
        let tenths: Vec<u64> = variation.iter().map(|ns| ns / 100_000).collect();
        assert_eq!(tenths, [2, 0, 25, 300, 11, 0, 853, 4]);
        variation.sort_unstable();
        assert_eq!(inverted_cdf(&variation, 0.5), Some(400_000));
        assert_eq!(inverted_cdf(&variation, 0.9), Some(85_300_000));
        assert!(delay_variation(&[]).is_empty());
    }

    #[test]
    fn jitter_follows_the_steps_from_packet_to_packet() {
        let delays = DELAYS.map(Some);
        // Steps 0.2 2.5 27.5 28.9 1.1 85.3 84.9: sum 230.4, over 7.
        let mean = mean_absolute_variation(&delays).expect("eight packets");
        assert!((mean / 1e6 - 32.9143).abs() < 5e-5, "{mean}");
        let jitter = interarrival_jitter(&delays);
        assert!((jitter / 1e6 - 13.3024).abs() < 5e-5, "{jitter}");
        assert_eq!(mean_absolute_variation(&delays[..1]), None);
    }

    #[test]
    fn lost_packets_are_skipped() {
        assert_eq!(inter_packet_variation(&[Some(5), None, Some(3), None, None, Some(9)]), [-2, 6]);
    }
}
