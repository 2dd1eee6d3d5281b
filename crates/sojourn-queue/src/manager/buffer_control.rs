//! The limit that DOCSIS Buffer Control gives a service flow's queue.
//!
//! Source: White 2012 §1.2 and §3.1.2, White 2013 §3.2 (what the feature does); defaults of the
//! docsis-ns3 model, `cm-net-device.cc`.
//! Deviations: none known.

use sojourn_base::{BitRate, Bytes, Limit, Span};

/// Buffer keys of a service flow in a configuration file, and the flow's rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferControl {
    /// Smallest acceptable buffer.
    pub minimum: Option<Bytes>,
    /// Wanted buffer; without it the default below applies.
    pub target: Option<Bytes>,
    /// Largest acceptable buffer.
    pub maximum: Option<Bytes>,
    /// Step in which the device can set buffers; 0 and 1 mean any number of bytes.
    pub granularity: Bytes,
    /// Maximum sustained rate; zero if the flow has none.
    pub sustained: BitRate,
    /// Peak rate; zero if the flow has none.
    pub peak: BitRate,
    /// Sustained rate of the aggregate that the flow belongs to; zero if there is none.
    pub aggregate: BitRate,
}

impl BufferControl {
    /// Default buffer of a flow without a target: 100 ms (docsis-ns3 `cm-net-device.cc`).
    pub const DEFAULT_TIME: Span = Span::from_ms(100);

    /// The limit in bytes. It does not follow the rate that the flow actually gets, so the longest
    /// wait is `limit / actual rate` (White 2013 §4.1.1).
    pub fn limit(&self) -> Limit {
        let wanted = self.target.unwrap_or_else(|| self.default_rate().bytes_in(Self::DEFAULT_TIME));
        let rounded = match self.granularity.0 {
            0 | 1 => wanted.0,
            step => (wanted.0 + step / 2) / step * step,
        };
        let at_least = rounded.max(self.minimum.unwrap_or(Bytes::ZERO).0);
        Limit::Bytes(Bytes(at_least.min(self.maximum.unwrap_or(Bytes::MAX).0)))
    }

    /// The larger of the flow's rates, or the aggregate's if the flow has none.
    fn default_rate(&self) -> BitRate {
        match self.sustained.max(self.peak) {
            BitRate::ZERO => self.aggregate,
            rate => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_100_ms_at_the_larger_rate() {
        let control = BufferControl {
            sustained: BitRate::from_mbps(20),
            peak: BitRate::from_mbps(40),
            ..BufferControl::default()
        };
        // LL-7: 100 ms at 40 Mb/s.
        assert_eq!(control.limit(), Limit::Bytes(Bytes(500_000)));
        let without_rates = BufferControl { aggregate: BitRate::from_mbps(50), ..BufferControl::default() };
        assert_eq!(without_rates.limit(), Limit::Bytes(Bytes(625_000)));
    }

    #[test]
    fn a_target_is_rounded_and_kept_between_its_bounds() {
        let control =
            BufferControl { target: Some(Bytes(31_250)), granularity: Bytes(1_000), ..BufferControl::default() };
        assert_eq!(control.limit(), Limit::Bytes(Bytes(31_000)));
        let bounded = BufferControl { minimum: Some(Bytes(40_000)), ..control };
        assert_eq!(bounded.limit(), Limit::Bytes(Bytes(40_000)));
        let both = BufferControl { maximum: Some(Bytes(35_000)), ..bounded };
        assert_eq!(both.limit(), Limit::Bytes(Bytes(35_000)));
    }
}
