//! The window of one sender, with slow start, the controller, and what bounds both.
//!
//! Source: RFC 5681 section 3.1, RFC 3465 (byte counting), Linux (slow start up to the threshold).
//! Deviations: see [`crate::congestion`].

use super::slow_start::Exit;
use super::{Ack, AnyController, Congestion, Connection, ControllerState, Requests, Window, whole};
use crate::config::{InitialThreshold, Pace, Pacing, SlowStart, StackConfig, WindowUnit};
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Instant, Span, math};

/// Window, slow start and controller of one sender.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a wish of the stack or the controller, independent of the others"
)]
pub(crate) struct WindowControl {
    window: Window,
    controller: AnyController,
    slow_start: SlowStart,
    exit: Exit,
    /// The receive window.
    limit: f64,
    whole_thresholds: bool,
    growth_with_marks: bool,
    own_window: bool,
    /// The stack or the controller wants segments spread.
    paces: bool,
}

/// Smallest threshold after a reduction, segments (RFC 5681 equation 4).
const MINIMUM_THRESHOLD: f64 = 2.0;

impl WindowControl {
    pub(crate) fn new(config: &StackConfig) -> Self {
        let limit = f64::from(config.receive_window);
        let threshold = match config.initial_threshold {
            InitialThreshold::ReceiveWindow => limit,
            InitialThreshold::Unlimited => f64::INFINITY,
            InitialThreshold::Of(size) => size.0 as f64 / f64::from(config.maximum_segment_size),
        };
        let paced = matches!(config.pacing, Pacing::On(_));
        let controller = config.controller.build(&Connection {
            maximum_segment_size: config.maximum_segment_size,
            data_header: config.wire.data_header,
            initial_window: config.initial_window,
            counts_marks: config.ecn.counts_marks(),
        });
        let Requests { fractions, growth_with_marks, rate_samples: _, pacing, own_window } = controller.requests();
        Self {
            window: Window { size: f64::from(config.initial_window), threshold },
            controller,
            slow_start: config.slow_start,
            exit: Exit::new(config.slow_start_exit, paced, config.superpackets),
            limit,
            whole_thresholds: config.window_unit == WindowUnit::Segments && !fractions,
            growth_with_marks,
            own_window,
            paces: pacing || paced,
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
        self.controller.in_slow_start(&self.window)
    }

    /// Returns true if the controller needs samples of the delivery rate.
    pub(crate) fn wants_rate_samples(&self) -> bool {
        self.controller.requests().rate_samples
    }

    /// Returns true if an acknowledgement that echoes a mark may open the window.
    pub(crate) const fn grows_with_marks(&self) -> bool {
        self.growth_with_marks
    }

    /// Anything of this acknowledgement that a controller measures, and growth if it is allowed.
    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        self.controller.on_ack(ack, &mut self.window);
        if self.exit.on_ack(ack, &self.window) {
            self.window.threshold = self.window.size;
            self.exit = Exit::Off;
        }
        if !ack.may_grow {
            return;
        }
        let unmarked = ack.acked.saturating_sub(ack.marks);
        let left = if self.in_slow_start() { self.grow_by_slow_start(unmarked, ack) } else { unmarked };
        if left > 0 {
            self.controller.on_congestion_avoidance(left, ack, &mut self.window);
        }
        self.window.size = self.window.size.min(self.limit);
    }

    /// Returns true if a mark requires a reduction now.
    pub(crate) fn reacts_to_mark(&self, now: Instant) -> bool {
        self.controller.reacts_to_mark(now)
    }

    /// Reduce the threshold; the sender decides how the window follows.
    pub(crate) fn on_congestion(&mut self, event: &Congestion) {
        self.exit = Exit::Off;
        let threshold = self.controller.on_congestion(event, &self.window);
        let threshold = if self.whole_thresholds { math::floor(threshold) } else { threshold };
        self.window.threshold = threshold.max(MINIMUM_THRESHOLD);
    }

    /// Sending resumes after `idle`.
    pub(crate) fn on_restart(&mut self, idle: Span) {
        self.controller.on_restart(idle, &mut self.window);
    }

    /// The window below which rate halving does not go.
    pub(crate) fn recovery_floor(&self) -> f64 {
        self.controller.recovery_floor(&self.window)
    }

    /// How to spread segments: as the stack says, or if it says nothing, as the controller needs it.
    pub(crate) const fn pacing<'a>(&self, config: &'a StackConfig) -> Option<&'a Pace> {
        match &config.pacing {
            _ if !self.paces => None,
            Pacing::Off => Some(&Pace::BY_CONTROLLER),
            Pacing::On(pace) => Some(pace),
        }
    }

    /// Returns true if segments are paced.
    pub(crate) const fn paces(&self) -> bool {
        self.paces
    }

    /// The rate at which the controller wants to send.
    pub(crate) fn pacing_rate(&self) -> Option<BitRate> {
        self.controller.pacing_rate()
    }

    /// Segments that leave at once.
    pub(crate) fn burst(&self, pacing: &Pace) -> u32 {
        pacing.quantum.max(self.controller.burst())
    }

    /// Returns true if the window, too, limits paced data: it is full (Linux `tcp_write_xmit`: `is_cwnd_limited` if
    /// `tcp_packets_in_flight` reaches it, paced or not), or the pace follows from it (RFC 9002 7.8).
    /// Deviation: not for BBR, whose growth needs no full window; only its bound after losses depends on it, and grows
    /// later (docs/models/bbr.md).
    pub(crate) fn limits_what_is_paced(&self, has_room: bool) -> bool {
        (!has_room && !self.own_window) || self.pacing_rate().is_none()
    }

    /// Returns the controller's state; empty in a browser's tab.
    pub(crate) fn state(&self) -> ControllerState {
        if IN_TAB { ControllerState::default() } else { self.controller.state() }
    }

    /// Grow; returns the segments that are left for congestion avoidance.
    fn grow_by_slow_start(&mut self, acked: u32, ack: &Ack) -> u32 {
        if let Some(segments) = self.exit.growth(acked) {
            self.window.size += segments;
            return 0;
        }
        match self.slow_start {
            SlowStart::PerAck => {
                self.window.size += 1.0;
                0
            }
            SlowStart::Bytes { limit } => {
                let limit = if ack.after_timeout { 1 } else { limit };
                self.window.size += f64::from(acked.min(limit));
                0
            }
            SlowStart::Linux => {
                let before = self.window.size;
                self.window.size = (before + f64::from(acked)).min(self.window.threshold);
                acked.saturating_sub(whole(math::ceil(self.window.size - before)))
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::super::Cause;
    use super::super::testing::{ack_at, congestion};
    use super::*;
    use crate::StackConfig;

    #[test]
    fn linux_slow_start_stops_at_the_threshold_and_counts_the_rest_in_avoidance() {
        let mut control = WindowControl::new(&StackConfig::LINUX_RENO);
        *control.window_mut() = Window { size: 18.0, threshold: 20.0 };
        control.on_ack(&ack_at(Instant::ZERO, 6));
        // Two segments reach the threshold, four are left: 20 + 4/20.
        assert_eq!(control.window().size, 20.2);
    }

    #[test]
    fn byte_counting_is_limited_and_cautious_after_a_timeout() {
        let config = StackConfig { slow_start: SlowStart::Bytes { limit: 2 }, ..StackConfig::LINUX_RENO };
        let mut control = WindowControl::new(&config);
        control.on_ack(&ack_at(Instant::ZERO, 5));
        assert_eq!(control.window().size, 12.0);
        control.on_ack(&Ack { after_timeout: true, ..ack_at(Instant::ZERO, 5) });
        assert_eq!(control.window().size, 13.0);
    }

    #[test]
    fn thresholds_are_whole_segments_unless_the_window_counts_bytes() {
        let event = congestion(7.0, Cause::Loss);
        for (config, expected) in [(StackConfig::NS2_RENO, 3.0), (StackConfig::NS2_BSD_SACK, 3.5)] {
            let mut control = WindowControl::new(&config);
            control.on_congestion(&event);
            assert_eq!(control.window().threshold, expected);
        }
        let mut control = WindowControl::new(&StackConfig::NS2_BSD_SACK);
        control.on_congestion(&Congestion { base: 1.0, ..event });
        assert_eq!(control.window().threshold, 2.0, "never below two segments");
    }

    #[test]
    fn the_window_stops_at_the_receive_window() {
        let mut control = WindowControl::new(&StackConfig { receive_window: 5, ..StackConfig::NS2_RENO });
        for _ in 0..10 {
            control.on_ack(&ack_at(Instant::ZERO, 1));
        }
        assert_eq!(control.window().size, 5.0);
    }

    #[test]
    fn the_control_of_a_connection_stays_small() {
        // Hundreds of connections shall fit into a cache; controllers with much state are boxed.
        assert!(size_of::<WindowControl>() <= 200, "{}", size_of::<WindowControl>());
    }
}
