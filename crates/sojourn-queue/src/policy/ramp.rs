//! The marking ramp of a low-latency queue: nothing below one delay, everything from another on, a line
//! between them. On slow links both move up, because two packets alone take longer than the lower one.
//!
//! Source: RFC 9332 appendix A.1 (`laqm`); White 2019 §2.3 and DOCSIS 3.1 MULPI annex M (Immediate AQM: MAXTH,
//! RANGE, FLOOR), as in docsis-ns3 `dual-queue-coupled-aqm.cc`.
//! Units and ranges: delays in picoseconds; likelihoods in 0..=1.
//! Deviations: FLOOR in picoseconds; the documents count nanoseconds.

use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{bytes, origin, parameters};

/// A ramp of likelihood over delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    /// Up to here nothing is marked (MINTH).
    pub least: Span,
    /// From here on everything is (MAXTH).
    pub most: Span,
}

impl Ramp {
    /// The likelihood of a mark at this delay.
    pub fn likelihood(&self, delay: Span) -> f64 {
        if delay >= self.most {
            1.0
        } else if delay > self.least {
            (delay - self.least).as_ps() as f64 / (self.most - self.least).as_ps() as f64
        } else {
            0.0
        }
    }
}

parameters! {
    /// Parameters of the Immediate AQM of DOCSIS.
    #[derive(Copy, Eq)]
    pub struct ImmediateAqmLaw {
        /// delay from which every packet of the low-latency queue is marked, on a fast link
        ///
        /// MAXTH.
        maximum as "maximum_threshold": Span = Span::from_ms(1), origin("White 2019 §2.3").least("1 us").most("65535 us");
        /// the ramp of marks is 2 to this power nanoseconds wide
        ///
        /// `LG_RANGE`.
        range_exponent: u8 = 19, origin("DOCSIS 3.1 MULPI annex M").most("25");
        /// two frames of this size never cause a mark of their own on a slow link
        ///
        /// The largest frame (`MAX_FRAME_SIZE`).
        largest_frame: u32 = 2000, origin("DOCSIS 3.1 MULPI annex M").least("64 B").most("64 KiB") => bytes;
    }
    profiles {
        /// White 2019 §2.3, DOCSIS 3.1 MULPI annex M: marks from 0.475 ms, all from 1 ms.
        DOCSIS {}
    }
}

/// DOCSIS 3.1 MULPI annex M: thresholds have 16 bits of microseconds.
const LARGEST_THRESHOLD: Span = Span::from_us(65_535);

impl ImmediateAqmLaw {
    /// The ramp on a link of this rate; zero if the rate is not known.
    pub fn at(&self, rate: BitRate) -> Ramp {
        let range = Span::from_ns(1 << self.range_exponent);
        let floor = if rate == BitRate::ZERO {
            Span::ZERO
        } else {
            let two_frames = Bytes(2 * u64::from(self.largest_frame));
            rate.time_for(two_frames).min(LARGEST_THRESHOLD)
        };
        let least = self.maximum.saturating_sub(range).max(floor);
        Ramp { least, most: (least + range).min(LARGEST_THRESHOLD) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Span = Span::from_us;

    #[test]
    fn thresholds_rise_on_slow_links() {
        for (mbps, least_ns, most_ns) in [
            (5, 6_400_000, 6_924_288),
            (10, 3_200_000, 3_724_288),
            (20, 1_600_000, 2_124_288),
            (50, 640_000, 1_164_288),
            (68, 475_712, 1_000_000),
            (200, 475_712, 1_000_000),
        ] {
            let ramp = ImmediateAqmLaw::DOCSIS.at(BitRate::from_mbps(mbps));
            assert_eq!(ramp.least, Span::from_ns(least_ns), "{mbps} Mb/s");
            assert_eq!(ramp.most, Span::from_ns(most_ns), "{mbps} Mb/s");
        }
    }

    #[test]
    fn thresholds_stay_within_16_bits_of_microseconds_and_need_no_rate() {
        let slow = ImmediateAqmLaw::DOCSIS.at(BitRate::from_kbps(100));
        assert_eq!((slow.least, slow.most), (US(65_535), US(65_535)));
        assert!((slow.likelihood(US(65_535)) - 1.0).abs() < 1e-15);
        assert!(slow.likelihood(US(65_534)) < 1e-15);
        let unknown = ImmediateAqmLaw::DOCSIS.at(BitRate::ZERO);
        assert_eq!(unknown.least, Span::from_ns(475_712));
    }

    #[test]
    fn marks_begin_at_0_475_ms_and_cover_all_from_1_ms() {
        // Claim W19-14.
        let ramp = ImmediateAqmLaw::DOCSIS.at(BitRate::from_mbps(200));
        for (ns, likelihood) in [(475_712, 0.0), (737_856, 0.5), (1_000_000, 1.0)] {
            assert!((ramp.likelihood(Span::from_ns(ns)) - likelihood).abs() < 1e-12);
        }
    }

    #[test]
    fn the_ramp_of_rfc_9332() {
        let ramp = Ramp { least: US(800), most: US(1200) };
        for (us, likelihood) in [(800, 0.0), (900, 0.25), (1000, 0.5), (1200, 1.0)] {
            assert!((ramp.likelihood(US(us)) - likelihood).abs() < 1e-12);
        }
    }
}
