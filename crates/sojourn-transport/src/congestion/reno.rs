//! Reno: one segment more per round trip, half the window at a loss.
//!
//! Source: RFC 5681 section 3.1; RFC 3465 (byte counting); ns-3 `tcp-congestion-ops.cc` for growth in
//! whole bytes; ns-2.35 `tcp/linux/src/tcp_cong.c` (Linux 2.6.22, `sysctl_tcp_abc` 1) for whole segments.
//! Deviations: byte counting in fractions adds n/cwnd at once instead of one segment per full window.

use super::{Ack, Congestion, CongestionControl, Window, whole};
use sojourn_base::{Span, math};
use sojourn_keys::{origin, parameters, words};

parameters! {
    /// Parameters of Reno.
    #[derive(Copy, Eq)]
    pub struct RenoConfig: "reno", "additive increase, halving (RFC 5681)" {
        /// growth in congestion avoidance; in stacks of ns-2's TCP/Linux the default is "whole-segments"
        avoidance: Avoidance = Avoidance::Bytes, origin("by the stack's name");
    }
}

words! {
    /// How Reno grows in congestion avoidance.
    pub enum Avoidance {
        /// 1/window for each acknowledgement
        ///
        /// Whatever it covers.
        PerAck = "per-ack",
        /// one segment for each window of acknowledged segments
        Bytes = "bytes",
        /// as ns-3: whole bytes for each acknowledgement
        ///
        /// max(1, MSS²/cwnd).
        WholeBytes = "whole-bytes",
        /// as Linux 2.6.22 and ns-2 TCP/Linux: one segment when a window of segments is acknowledged
        ///
        /// And slow start goes on at the threshold.
        WholeSegments = "whole-segments",
    }
}

/// A Reno sender.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    avoidance: Avoidance,
    segment_size: u32,
    /// Segments acknowledged since the window grew or shrank (`bytes_acked`).
    acknowledged: u32,
}

impl Reno {
    pub(crate) const fn new(avoidance: Avoidance, segment_size: u32) -> Self {
        Self { avoidance, segment_size, acknowledged: 0 }
    }

    fn grow(&mut self, acked: u32, window: &mut Window) {
        match self.avoidance {
            Avoidance::PerAck => window.size += 1.0 / window.size,
            Avoidance::Bytes => window.size += f64::from(acked) / window.size,
            Avoidance::WholeBytes => {
                let full = f64::from(self.segment_size);
                // The window in bytes is whole; the addition undoes the rounding of the division.
                let bytes = whole(window.size * full + 0.5);
                let size = u64::from(self.segment_size);
                let step = (size * size / u64::from(bytes.max(1))).max(1);
                window.size = (f64::from(bytes) + step as f64) / full;
            }
            Avoidance::WholeSegments => {
                if self.acknowledged >= window.whole() {
                    self.acknowledged -= window.whole();
                    window.size += 1.0;
                }
            }
        }
    }
}

impl CongestionControl for Reno {
    fn in_slow_start(&self, window: &Window) -> bool {
        match self.avoidance {
            Avoidance::WholeSegments => window.size <= window.threshold,
            _ => window.size < window.threshold,
        }
    }

    /// Counts in recovery, too, and while the window is not used.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.acknowledged = self.acknowledged.saturating_add(ack.acked);
        if ack.may_grow && self.in_slow_start(window) {
            self.acknowledged = 0;
        }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
        self.grow(acked, window);
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        self.acknowledged = 0;
        event.base / 2.0
    }

    fn on_restart(&mut self, _idle: Span, _window: &mut Window) {
        self.acknowledged = 0;
    }

    fn recovery_floor(&self, window: &Window) -> f64 {
        half_of_threshold(window)
    }
}

/// Linux 2.6.22 `tcp_reno_min_cwnd`, which the controllers of that time share.
pub(super) fn half_of_threshold(window: &Window) -> f64 {
    math::floor(window.threshold / 2.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(avoidance: Avoidance, acked: u32, size: f64) -> f64 {
        let mut window = Window { size, threshold: 2.0 };
        Reno::new(avoidance, 1448).grow(acked, &mut window);
        window.size
    }

    #[test]
    fn growth_by_acknowledgement_by_bytes_and_by_whole_bytes() {
        assert!((after(Avoidance::PerAck, 2, 10.0) - 10.1).abs() < 1e-12);
        assert!((after(Avoidance::Bytes, 2, 10.0) - 10.2).abs() < 1e-12);
        // 1448² / 14480 = 144.8, truncated to 144 bytes.
        let bytes = after(Avoidance::WholeBytes, 2, 10.0) * 1448.0;
        assert!((bytes - 14_624.0).abs() < 1e-6, "{bytes}");
    }

    #[test]
    fn growth_in_bytes_never_stops() {
        // 1448² / (2000 x 1448) is below one byte.
        let bytes = after(Avoidance::WholeBytes, 1, 2000.0) * 1448.0;
        assert!((bytes - 2_896_001.0).abs() < 1e-3, "{bytes}");
    }
}
