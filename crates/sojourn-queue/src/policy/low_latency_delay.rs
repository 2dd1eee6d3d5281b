//! How long a packet will wait in the low-latency queue of an aggregate service flow: from what waits already,
//! or from a virtual queue that is drained at the full rate between grants too.
//!
//! Source: DOCSIS 3.1 MULPI annex O (`qdelayCoupledL`, `qdelayCoupledV`, alignment of the virtual queue);
//! docsis-ns3 `dual-queue-coupled-aqm.cc`.
//! Units and ranges: delays in picoseconds, averages in bytes.
//! Deviations: packets are charged without their MAC header; the smoothed queue is not cut to whole bytes.

use sojourn_base::{BitRate, Bytes, Instant, Span};
use sojourn_keys::{origin, parameters, words};

words! {
    /// Source of a low-latency delay.
    pub enum DelayEstimate {
        /// bytes that wait at the full rate (White 2019; DOCSIS downstream)
        ///
        /// The arrival included (`qdelayCoupledL`).
        Backlog = "backlog",
        /// a queue drained at the full rate between grants too (DOCSIS upstream, since 2022)
        ///
        /// `qdelayCoupledV`.
        VirtualQueue = "virtual-queue",
    }
}

parameters! {
    /// Parameters of the estimate.
    #[derive(Copy, Eq)]
    pub struct DelayEstimateLaw {
        /// what the delay of the low-latency queue is worked out from
        estimate as "delay_estimate": DelayEstimate = DelayEstimate::Backlog, origin("White 2019 §2.3");
        /// how often the virtual queue is compared with the real one
        ///
        /// `VQ_INTERVAL`.
        alignment as "virtual_queue_interval": Span = Span::from_us(500),
            origin("DOCSIS 3.1 MULPI annex O: half a MAP interval").least("10 us").most("1 s");
        /// the average of the real queue moves by 2 to minus this power of the distance
        ///
        /// `LG_VQ_EWMA_ALPHA`.
        average_exponent as "virtual_queue_exponent": u8 = 7, origin("DOCSIS 3.1 MULPI annex O").most("30");
    }
    profiles {
        /// White 2019: from what waits; the other values are those of DOCSIS 3.1 MULPI annex O.
        WHITE2019 {}
    }
}

/// Grants that a service flow gets without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProactiveGrants {
    /// Guaranteed grant rate; zero for none.
    pub rate: BitRate,
    /// Time from one such grant to the next.
    pub interval: Span,
}

/// A queue that is only counted: what arrives is added, and it drains all the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VirtualQueue {
    /// How long it would take to drain.
    length: Span,
    /// Time of that length.
    at: Instant,
    /// Smoothed bytes in the real queue.
    average: f64,
}

impl VirtualQueue {
    /// A packet arrives that takes `time` at the full rate; its delay, that time included.
    pub fn on_arrival(&mut self, now: Instant, time: Span) -> Span {
        self.drain(now);
        self.length += time;
        self.length
    }

    /// That packet has gone to another queue, or is lost.
    pub fn take_back(&mut self, time: Span) {
        self.length = self.length.saturating_sub(time);
    }

    /// `waiting` bytes are in the real queue, `allowed` of them because of the way grants come: what is more on
    /// average is the least that the virtual queue holds at `rate`.
    pub fn align(&mut self, law: &DelayEstimateLaw, now: Instant, waiting: u64, allowed: f64, rate: BitRate) {
        self.drain(now);
        let weight = 1.0 / f64::from(1_u32 << law.average_exponent);
        self.average += (waiting as f64 - self.average) * weight;
        let excess = self.average - allowed;
        if excess > 0.0 && rate > BitRate::ZERO {
            let seconds = excess * 8.0 / rate.as_bps() as f64;
            self.length = self.length.max(Span::from_secs_f64(seconds));
        }
    }

    fn drain(&mut self, now: Instant) {
        let passed = now.saturating_since(self.at);
        self.length = self.length.saturating_sub(passed);
        self.at = now;
    }
}

/// Bytes that may wait for no other reason than the way grants come: those of one request-grant loop at what is left
/// of `rate`, and those of one proactive grant (annex O, `calcAllowedAQ`).
pub fn allowed_bytes(rate: BitRate, loop_delay: Span, grants: ProactiveGrants) -> f64 {
    let guaranteed = grants.rate.min(rate).as_bps();
    let asked = (rate.as_bps() - guaranteed) as f64 * loop_delay.as_secs_f64();
    (asked + guaranteed as f64 * grants.interval.as_secs_f64()) / 8.0
}

/// Time that `bytes` take at `rate`; none if the rate is not known.
pub fn time_at(rate: BitRate, bytes: u64) -> Span {
    if rate == BitRate::ZERO { Span::ZERO } else { rate.time_for(Bytes(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_mbps(50);

    #[test]
    fn the_virtual_queue_drains_whether_or_not_the_real_one_does() {
        let mut queue = VirtualQueue::default();
        let time = time_at(RATE, 1018);
        for (at_us, ns) in [
            (1_000_000, 162_880),
            (1_001_000, 162_880),
            (1_001_001, 324_760),
            (1_200_000, 162_880),
            (1_200_002, 323_760),
        ] {
            let delay = queue.on_arrival(Instant::from_us(at_us), time);
            assert_eq!(delay, Span::from_ns(ns), "at {at_us} us");
        }
        queue.take_back(time);
        assert_eq!(queue.length, Span::from_ns(323_760 - 162_880));
    }

    #[test]
    fn a_real_queue_beyond_what_grants_explain_lifts_the_virtual_one() {
        // A loop of 2 ms at 45 Mb/s are 11,250 B, 1 ms of 5 Mb/s 625 B more.
        let grants = ProactiveGrants { rate: BitRate::from_mbps(5), interval: Span::from_ms(1) };
        let allowed = allowed_bytes(RATE, Span::from_ms(2), grants);
        assert!((allowed - 11_875.0).abs() < 1e-9);
        let law = DelayEstimateLaw { average_exponent: 0, ..DelayEstimateLaw::WHITE2019 };
        let mut queue = VirtualQueue::default();
        queue.align(&law, Instant::from_ms(1), 11_875, allowed, RATE);
        assert_eq!(queue.length, Span::ZERO);
        // 6250 B more take 1 ms.
        queue.align(&law, Instant::from_ms(2), 18_125, allowed, RATE);
        assert_eq!(queue.length, Span::from_ms(1));
        // The average moves slowly: of 12,800 B by 100 B per step.
        let mut queue = VirtualQueue::default();
        let law = DelayEstimateLaw::WHITE2019;
        queue.align(&law, Instant::from_ms(1), 12_800, 0.0, RATE);
        assert_eq!(queue.length, Span::from_us(16));
    }

    #[test]
    fn without_a_rate_nothing_takes_time() {
        assert_eq!(time_at(BitRate::ZERO, 1500), Span::ZERO);
        let mut queue = VirtualQueue::default();
        let law = DelayEstimateLaw::WHITE2019;
        queue.align(&law, Instant::from_ms(1), 12_800, 0.0, BitRate::ZERO);
        assert_eq!(queue.length, Span::ZERO);
    }
}
