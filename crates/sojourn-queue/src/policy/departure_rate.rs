//! Estimates how fast a queue drains from the time that a fixed amount takes to leave it.
//!
//! Source: RFC 8033 §5.2 with Appendix B; ns-2.36 `queue/pie.cc`; the first Linux `sch_pie`.
//! Units and ranges: bytes per second; 0 until the first measurement ends.
//! Deviations: RFC 8033 averages the time per threshold as if exactly the threshold had left; here it
//! is the time per byte that did leave.

use sojourn_base::{Bytes, Instant};
use sojourn_keys::{origin, parameters, words};

words! {
    /// How successive measurements are averaged.
    pub enum RateAverage {
        /// the rate (ns-2, Linux)
        Rate = "rate",
        /// the time per byte (RFC 8033)
        Time = "time",
    }
}

parameters! {
    /// Parameters of the estimate: RFC 8033 §5.2 and Appendix B.
    #[derive(Copy)]
    pub struct DepartureRateConfig {
        /// bytes per measurement, and the backlog it takes to start one
        threshold: Bytes = Bytes(16_384), origin("RFC 8033 §4.3").least("1 B").most("1 GB");
        /// what is averaged
        average: RateAverage = RateAverage::Time, origin("RFC 8033 §4.3");
        /// weight of the newest measurement
        ///
        /// In (0, 1]: ns-2 1/2, Linux 1/8, RFC 8033 1/4 at 16,384 bytes.
        weight: f64 = 0.25, origin("RFC 8033 appendix A").least("0.000001").most("1");
    }
    profiles {
        /// RFC 8033 §5.2 and Appendix B: 16,384 bytes, one quarter new.
        RFC8033 {}
        /// ns-2.36 `queue/pie.cc`: 10,000 bytes, half old and half new.
        NS2 { threshold = Bytes(10_000); average = RateAverage::Rate; weight = 0.5; }
        /// The first Linux `sch_pie`: 10,000 bytes, one eighth new.
        LINUX from NS2 { weight = 0.125; }
    }
}

/// The estimate and the measurement under way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepartureRate {
    bytes_per_second: f64,
    /// Start of the measurement and the bytes that have left since.
    measurement: Option<(Instant, u64)>,
}

impl DepartureRate {
    /// `length` bytes have left, and `backlog` bytes are left behind.
    pub fn on_departure(&mut self, config: &DepartureRateConfig, length: u32, backlog: u64, now: Instant) {
        if self.measurement.is_none() && backlog >= config.threshold.0 {
            self.measurement = Some((now, 0));
        }
        let Some((started, bytes)) = &mut self.measurement else {
            return;
        };
        // The packet that starts a measurement counts although no time has passed: the first estimate
        // of a busy period is one packet high, as in all three sources.
        *bytes += u64::from(length);
        if *bytes < config.threshold.0 {
            return;
        }
        let seconds = now.saturating_since(*started).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        let rate = *bytes as f64 / seconds;
        self.bytes_per_second = if self.bytes_per_second > 0.0 {
            let weight = config.weight;
            match config.average {
                RateAverage::Rate => (1.0 - weight) * self.bytes_per_second + weight * rate,
                RateAverage::Time => 1.0 / ((1.0 - weight) / self.bytes_per_second + weight / rate),
            }
        } else {
            rate
        };
        self.measurement = (backlog > config.threshold.0).then_some((now, 0));
    }

    /// Forget everything: the queue has been short for a while.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The estimate in bytes per second; 0 while there is none.
    pub const fn bytes_per_second(&self) -> f64 {
        self.bytes_per_second
    }

    /// Seconds that `backlog` bytes need to leave; 0 while there is no estimate.
    pub fn delay(&self, backlog: u64) -> f64 {
        if self.bytes_per_second > 0.0 { backlog as f64 / self.bytes_per_second } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Span;

    /// Lets packets of 1500 bytes leave a deep queue every 2.4 ms (5 Mb/s).
    fn after(packets: u64, config: &DepartureRateConfig) -> DepartureRate {
        let mut rate = DepartureRate::default();
        for packet in 0..packets {
            let now = Instant::ZERO + Span::from_us(2400) * packet;
            rate.on_departure(config, 1500, 1_000_000, now);
        }
        rate
    }

    #[test]
    fn one_measurement_at_5_mbps() {
        for (config, packets, bytes_per_second, delay) in [
            (DepartureRateConfig::RFC8033, 11, 687_500.0, 0.043_636_363_636),
            (DepartureRateConfig::NS2, 7, 729_166.666_666_7, 0.041_142_857_143),
        ] {
            assert!(after(packets - 1, &config).bytes_per_second() <= 0.0);
            let rate = after(packets, &config);
            let off = rate.bytes_per_second() - bytes_per_second;
            assert!(off.abs() < 1e-6, "{rate:?}");
            assert!((rate.delay(30_000) - delay).abs() < 1e-11);
        }
    }

    #[test]
    fn later_measurements_are_exact_and_averaged() {
        // The second one takes 7 gaps for 7 packets: 625,000 bytes per second.
        let of_rate = after(14, &DepartureRateConfig::NS2).bytes_per_second();
        assert!((of_rate - f64::midpoint(729_166.666_666_7, 625_000.0)).abs() < 1e-6);
        // 11 gaps for 11 packets; 3/4 of 1/687500 s and 1/4 of 1/625000 s.
        let of_time = after(22, &DepartureRateConfig::RFC8033).bytes_per_second();
        assert!((of_time - 1.0 / (0.75 / 687_500.0 + 0.25 / 625_000.0)).abs() < 1e-6);
    }

    #[test]
    fn a_measurement_without_time_stays_open() {
        let config = DepartureRateConfig::NS2;
        let mut rate = DepartureRate::default();
        for _ in 0..20 {
            rate.on_departure(&config, 1500, 1_000_000, Instant::ZERO);
        }
        assert!(rate.bytes_per_second() <= 0.0);
        rate.on_departure(&config, 1500, 1_000_000, Instant::from_ms(10));
        // 21 packets in 10 ms.
        assert!((rate.bytes_per_second() - 3_150_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_short_queue_is_not_measured() {
        let mut rate = DepartureRate::default();
        for ms in 0..100 {
            rate.on_departure(&DepartureRateConfig::NS2, 1500, 9_999, Instant::from_ms(ms));
        }
        assert!(rate.bytes_per_second() <= 0.0);
    }
}
