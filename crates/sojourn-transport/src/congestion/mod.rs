//! How fast to send: window, threshold, and the controllers that move them.
//!
//! Source: RFC 5681 section 3.1 (slow start, threshold), RFC 3465 (byte counting); the controllers
//! name theirs. Windows are in segments, fractions included; senders compare whole segments.
//! Deviations: a window never exceeds the receive window, so that flows limited by it do not inflate.

mod cubic_rfc9438;
mod cubic_v21;
mod hystart;
mod ledbat;
mod ledbat_ns2;
mod one_way_delay;
mod reno;

use crate::config::{ControllerConfig, SlowStart, StackConfig, WindowUnit};
use alloc::boxed::Box;
use cubic_rfc9438::Cubic;
use cubic_v21::CubicV21;
use hystart::HyStart;
use ledbat::Ledbat;
use ledbat_ns2::LedbatNs2;
use reno::Reno;
use sojourn_base::{Instant, Span, math};

/// Congestion window and slow-start threshold in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) size: f64,
    pub(crate) threshold: f64,
}

impl Window {
    /// Whole segments of the window.
    pub(crate) fn whole(&self) -> u32 {
        whole(self.size)
    }
}

/// What a controller learns from an acknowledgement.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one acknowledgement"
)]
pub(crate) struct Ack {
    pub(crate) now: Instant,
    /// Segments by which it may open the window: those newly acknowledged, by either means, each once
    /// (with ns-2 `TCP/Linux` all that it covers).
    pub(crate) acked: u32,
    /// Lowest unacknowledged segment now.
    pub(crate) first: u32,
    /// Next new segment.
    pub(crate) next: u32,
    /// Round-trip sample of this acknowledgement.
    pub(crate) round_trip: Option<Span>,
    /// Smoothed round-trip time.
    pub(crate) smoothed: Span,
    /// One-way delay of the segment that this acknowledgement answers.
    pub(crate) one_way_delay: Option<Span>,
    /// Segments outstanding before this acknowledgement.
    pub(crate) flight_before: u32,
    /// The window may change: new data are acknowledged, and the sender is not in recovery.
    pub(crate) may_change: bool,
    /// The window may grow: besides, it was used.
    pub(crate) may_grow: bool,
    /// Nothing is or was wrong.
    pub(crate) open: bool,
    /// A timeout is being repaired.
    pub(crate) after_timeout: bool,
}

/// A congestion event; the window is still what it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Congestion {
    /// What the reduction multiplies, in segments.
    pub(crate) base: f64,
    /// It was a retransmission timeout.
    pub(crate) timeout: bool,
}

/// The controllers. Those with a history of delays keep it elsewhere: it would make the congestion control of
/// every connection half as long again (296 bytes instead of 200), and hundreds of them shall fit into a cache.
#[derive(Clone, Debug)]
enum AnyController {
    Reno(Reno),
    Cubic(Cubic),
    CubicV21(CubicV21),
    Ledbat(Box<Ledbat>),
    LedbatNs2(Box<LedbatNs2>),
}

/// Window, slow start and controller of one sender.
#[derive(Clone, Debug)]
pub(crate) struct CongestionControl {
    window: Window,
    controller: AnyController,
    slow_start: SlowStart,
    hystart: Option<HyStart>,
    limit: f64,
    whole_thresholds: bool,
}

/// Smallest threshold after a reduction, segments (RFC 5681 equation 4).
const MINIMUM_THRESHOLD: f64 = 2.0;

impl CongestionControl {
    pub(crate) fn new(config: &StackConfig) -> Self {
        let limit = f64::from(config.receive_window);
        let threshold = match config.initial_threshold {
            crate::config::InitialThreshold::ReceiveWindow => limit,
            crate::config::InitialThreshold::Unlimited => f64::INFINITY,
        };
        let (controller, hystart) = match config.controller {
            ControllerConfig::Reno(avoidance) => {
                let reno = Reno::new(avoidance, config.maximum_segment_size);
                (AnyController::Reno(reno), false)
            }
            ControllerConfig::Cubic(cubic) => {
                (AnyController::Cubic(Cubic::new(cubic)), cubic.hystart)
            }
            ControllerConfig::CubicV21(cubic) => {
                (AnyController::CubicV21(CubicV21::new(cubic)), false)
            }
            ControllerConfig::Ledbat(ledbat) => {
                (AnyController::Ledbat(Box::new(Ledbat::new(ledbat))), false)
            }
            ControllerConfig::LedbatNs2(ledbat) => (
                AnyController::LedbatNs2(Box::new(LedbatNs2::new(ledbat))),
                false,
            ),
        };
        Self {
            window: Window {
                size: f64::from(config.initial_window),
                threshold,
            },
            controller,
            slow_start: config.slow_start,
            hystart: hystart.then(|| HyStart::new(config.pacing.is_some())),
            limit,
            whole_thresholds: config.window_unit == WindowUnit::Segments,
        }
    }

    pub(crate) const fn window(&self) -> &Window {
        &self.window
    }

    /// For recovery, restart and timeout, which set the window themselves.
    pub(crate) const fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        match self.controller {
            // Linux 2.6.22 grows by slow start up to and including the threshold.
            AnyController::CubicV21(_) => self.window.size <= self.window.threshold,
            AnyController::LedbatNs2(_) => false,
            _ => self.window.size < self.window.threshold,
        }
    }

    /// Anything of this acknowledgement that a controller measures, and growth if it is allowed.
    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        match &mut self.controller {
            AnyController::CubicV21(cubic) => cubic.measure(ack),
            AnyController::Ledbat(ledbat) => ledbat.measure(ack, &mut self.window),
            AnyController::LedbatNs2(ledbat) => ledbat.measure(ack),
            AnyController::Reno(_) | AnyController::Cubic(_) => {}
        }
        if let Some(hystart) = &mut self.hystart
            && hystart.on_ack(ack)
        {
            self.window.threshold = self.window.size;
            self.hystart = None;
        }
        if !ack.may_grow {
            // LEDBAT bounds itself by what is outstanding, and shrinks whether it is used or not.
            if let AnyController::Ledbat(ledbat) = &mut self.controller
                && ack.may_change
                && self.window.size >= self.window.threshold
            {
                ledbat.avoid(ack.acked, ack, &mut self.window);
            }
            return;
        }
        let left = if self.in_slow_start() {
            self.grow_by_slow_start(ack)
        } else {
            ack.acked
        };
        if left > 0 {
            match &mut self.controller {
                AnyController::Reno(reno) => reno.avoid(left, &mut self.window),
                AnyController::Cubic(cubic) => cubic.avoid(left, ack, &mut self.window),
                AnyController::CubicV21(cubic) => cubic.avoid(ack, &mut self.window),
                AnyController::Ledbat(ledbat) => ledbat.avoid(left, ack, &mut self.window),
                AnyController::LedbatNs2(ledbat) => ledbat.avoid(&mut self.window),
            }
        }
        self.window.size = self.window.size.min(self.limit);
    }

    /// Reduce the threshold; the sender decides how the window follows.
    pub(crate) fn on_congestion(&mut self, event: &Congestion) {
        self.hystart = None;
        let threshold = match &mut self.controller {
            AnyController::Reno(_) => event.base / 2.0,
            AnyController::Cubic(cubic) => cubic.reduce(event, &self.window),
            AnyController::CubicV21(cubic) => cubic.reduce(event, &self.window),
            AnyController::Ledbat(ledbat) => {
                ledbat.on_congestion();
                event.base / 2.0
            }
            AnyController::LedbatNs2(ledbat) => {
                ledbat.on_congestion();
                event.base / 2.0
            }
        };
        let threshold = if self.whole_thresholds {
            math::floor(threshold)
        } else {
            threshold
        };
        self.window.threshold = threshold.max(MINIMUM_THRESHOLD);
    }

    /// Sending resumes after `idle`.
    pub(crate) fn on_restart(&mut self, idle: Span) {
        if let AnyController::Cubic(cubic) = &mut self.controller {
            cubic.shift(idle);
        }
    }

    /// The window below which rate halving does not go.
    pub(crate) fn recovery_floor(&self) -> f64 {
        match self.controller {
            // Linux 2.6.22 `tcp_reno_min_cwnd`.
            AnyController::Reno(_) | AnyController::Ledbat(_) | AnyController::LedbatNs2(_) => {
                math::floor(self.window.threshold / 2.0).max(1.0)
            }
            _ => self.window.threshold,
        }
    }

    /// Grow; returns the segments that are left for congestion avoidance.
    fn grow_by_slow_start(&mut self, ack: &Ack) -> u32 {
        if let Some(hystart) = &self.hystart {
            self.window.size += hystart.growth(ack.acked);
            return 0;
        }
        match self.slow_start {
            SlowStart::PerAck => {
                self.window.size += 1.0;
                0
            }
            SlowStart::Bytes { limit } => {
                let limit = if ack.after_timeout { 1 } else { limit };
                self.window.size += f64::from(ack.acked.min(limit));
                0
            }
            SlowStart::Linux => {
                let before = self.window.size;
                self.window.size = (before + f64::from(ack.acked)).min(self.window.threshold);
                ack.acked
                    .saturating_sub(whole(math::ceil(self.window.size - before)))
            }
        }
    }
}

/// The whole part of a window that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` clamps, and windows are never negative"
)]
pub(crate) const fn whole(segments: f64) -> u32 {
    segments as u32
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// An acknowledgement of `acked` segments that may grow the window.
    pub(crate) fn ack_at(now: Instant, acked: u32) -> Ack {
        Ack {
            now,
            acked,
            first: 0,
            next: 0,
            round_trip: None,
            smoothed: Span::from_ms(100),
            one_way_delay: None,
            flight_before: acked,
            may_change: true,
            may_grow: true,
            open: true,
            after_timeout: false,
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::testing::ack_at;
    use super::*;
    use crate::stacks::{LINUX_RENO, NS2_BSD_SACK, NS2_RENO};

    #[test]
    fn linux_slow_start_stops_at_the_threshold_and_counts_the_rest_in_avoidance() {
        let mut control = CongestionControl::new(&LINUX_RENO);
        *control.window_mut() = Window {
            size: 18.0,
            threshold: 20.0,
        };
        control.on_ack(&ack_at(Instant::ZERO, 6));
        // Two segments reach the threshold, four are left: 20 + 4/20.
        assert_eq!(control.window().size, 20.2);
    }

    #[test]
    fn byte_counting_is_limited_and_cautious_after_a_timeout() {
        let config = StackConfig {
            slow_start: SlowStart::Bytes { limit: 2 },
            ..LINUX_RENO
        };
        let mut control = CongestionControl::new(&config);
        control.on_ack(&ack_at(Instant::ZERO, 5));
        assert_eq!(control.window().size, 12.0);
        control.on_ack(&Ack {
            after_timeout: true,
            ..ack_at(Instant::ZERO, 5)
        });
        assert_eq!(control.window().size, 13.0);
    }

    #[test]
    fn thresholds_are_whole_segments_unless_the_window_counts_bytes() {
        let event = Congestion {
            base: 7.0,
            timeout: false,
        };
        for (config, expected) in [(NS2_RENO, 3.0), (NS2_BSD_SACK, 3.5)] {
            let mut control = CongestionControl::new(&config);
            control.on_congestion(&event);
            assert_eq!(control.window().threshold, expected);
        }
        let mut control = CongestionControl::new(&NS2_BSD_SACK);
        control.on_congestion(&Congestion { base: 1.0, ..event });
        assert_eq!(control.window().threshold, 2.0, "never below two segments");
    }

    #[test]
    fn the_window_stops_at_the_receive_window() {
        let mut control = CongestionControl::new(&StackConfig {
            receive_window: 5,
            ..NS2_RENO
        });
        for _ in 0..10 {
            control.on_ack(&ack_at(Instant::ZERO, 1));
        }
        assert_eq!(control.window().size, 5.0);
    }
}
