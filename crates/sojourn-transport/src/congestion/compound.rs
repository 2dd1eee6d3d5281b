//! Compound TCP: Reno's window, and beside it one that fills a path without a queue fast and goes when a queue builds up.
//!
//! Source: Tan, Song, Zhang and Sridharan 2006 (INFOCOM); draft-sridharan-tcpm-ctcp-02, which is the same by its constants.
//! White 2013 section 1.5 names it as the controller by delay that Windows has.
//! Units and ranges: windows in segments.
//! Deviations: the time of a round trip is the least sample in it, as in L. Andrew's module for Linux, so that delayed
//! acknowledgements are no queue; what the delay window gains comes at once, where that module spreads it over a round trip; the
//! threshold `gamma` stays as it is, where the draft may tune it to what Reno alone would queue.

use super::reno::half_of_threshold;
use super::{Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, Window};
use sojourn_base::{Span, math};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of Compound TCP.
    #[derive(Copy)]
    pub struct CompoundConfig: "compound", "Compound TCP: Reno's window and one that follows the delay" {
        /// factor of what a round trip without queue adds: alpha * window^k, less Reno's one segment
        alpha: f64 = 0.125, origin("Tan et al. 2006: 1/8").least("0").most("1");
        /// part of the window that a loss costs
        beta: f64 = 0.5, origin("Tan et al. 2006: 1/2").least("0.1").most("0.9");
        /// exponent of what a round trip without queue adds
        k: f64 = 0.75, origin("Tan et al. 2006: 3/4").least("0").most("1");
        /// segments of its own in queues from which on the delay window shrinks
        gamma: f64 = 30.0, origin("Tan et al. 2006: 30").least("1").most("10000");
        /// part of its segments in queues by which the delay window then shrinks
        zeta: f64 = 1.0, origin("L. Andrew's module for Linux: 1").least("0.01").most("10");
        /// segments of the window below which there is no delay window
        low_window: f64 = 38.0, origin("RFC 3649 §5, as in L. Andrew's module for Linux").least("0").most("10000");
    }
}

impl ControllerKind for CompoundConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(Compound::new(*self))
    }
}

/// State of Compound TCP. The window of the sender is the sum of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compound {
    config: CompoundConfig,
    /// The part of the window that follows the delay.
    delay_window: f64,
    /// Least round trip of all, and of this round.
    base: Option<Span>,
    least: Option<Span>,
    /// The round ends when more than this is acknowledged.
    round_end: u32,
}

impl Compound {
    pub(crate) const fn new(config: CompoundConfig) -> Self {
        Self { config, delay_window: 0.0, base: None, least: None, round_end: 0 }
    }

    /// Returns the change of the delay window by a round trip without loss; `window` is the whole window in segments.
    fn change(&self, window: f64, base: Span, round_trip: Span) -> f64 {
        let CompoundConfig { alpha, k, gamma, zeta, .. } = self.config;
        // (expected rate less actual rate) times the base: segments that wait in queues.
        let queued = window * (1.0 - base.as_secs_f64() / round_trip.as_secs_f64());
        if queued < gamma { (alpha * math::powf(window, k) - 1.0).max(0.0) } else { -zeta * queued }
    }
}

/// The less of both, of which one may not be there.
fn less(one: Option<Span>, other: Span) -> Span {
    one.map_or(other, |one| one.min(other))
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(round_trip) = ack.round_trip.filter(|it| !it.is_zero()) {
            self.base = Some(less(self.base, round_trip));
            self.least = Some(less(self.least, round_trip));
        }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        window.size += f64::from(acked) / window.size;
        if ack.first <= self.round_end {
            return;
        }
        self.round_end = ack.next;
        let Some((base, round_trip)) = self.base.zip(self.least.take()) else {
            return;
        };
        // A reduction of the window meanwhile has shrunk both parts.
        let before = self.delay_window.min(window.size);
        self.delay_window = if window.size < self.config.low_window {
            0.0
        } else {
            (before + self.change(window.size, base, round_trip)).max(0.0)
        };
        window.size = (window.size + self.delay_window - before).max(1.0);
        // A window that gives way does not come back by slow start.
        window.threshold = window.threshold.min(window.size);
    }

    /// The whole loses its part `beta`, Reno's window half; the delay window is what remains.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        let reno = (window.size - self.delay_window).max(0.0);
        let left = event.base * (1.0 - self.config.beta);
        self.delay_window = match event.cause {
            Cause::Timeout => 0.0,
            Cause::Loss | Cause::Mark => (left - reno / 2.0).max(0.0),
        };
        (self.least, self.round_end) = (None, event.next);
        left
    }

    fn recovery_floor(&self, window: &Window) -> f64 {
        half_of_threshold(window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion};
    use super::*;
    use sojourn_base::Instant;

    /// Window and delay window after a round of 100 ms without queue and one of `ms`, from windows of this size.
    fn after(ms: u64, size: f64, delay_window: f64) -> (f64, f64) {
        let mut compound =
            Compound { delay_window, base: Some(Span::from_ms(100)), ..Compound::new(CompoundConfig::BASE) };
        let mut window = Window { size, threshold: 2.0 };
        let ack = Ack { first: 1, next: 100, round_trip: Some(Span::from_ms(ms)), ..ack_at(Instant::ZERO, 1) };
        compound.on_ack(&ack, &mut window);
        // Reno's growth of this acknowledgement is taken off again.
        compound.on_congestion_avoidance(1, &ack, &mut window);
        (window.size - 1.0 / size, compound.delay_window)
    }

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 0.02, "{ours}, not {expected}");
    }

    #[test]
    fn a_path_without_queue_is_filled_fast() {
        // 100^0.75 / 8 = 3.953; less one segment 2.953. 1000^0.75 / 8 = 22.23.
        for (size, gain) in [(100.0, 2.953), (1000.0, 21.23), (39.0, 0.951)] {
            let (window, delay_window) = after(100, size, 0.0);
            close(window, size + gain);
            close(delay_window, gain);
        }
    }

    #[test]
    fn thirty_segments_in_queues_are_too_many() {
        // Round trips of 125 ms: 100 * (1 - 100/125) = 20 wait; of 150 ms: 33.3.
        close(after(125, 100.0, 40.0).1, 42.953);
        close(after(150, 100.0, 40.0).1, 6.667);
        close(after(150, 100.0, 40.0).0, 66.667);
        // Reno's window is never taken away.
        let (window, delay_window) = after(200, 100.0, 20.0);
        close(window, 80.0);
        close(delay_window, 0.0);
    }

    #[test]
    fn small_windows_are_renos() {
        let (window, delay_window) = after(100, 37.0, 5.0);
        close(window, 32.0);
        close(delay_window, 0.0);
    }

    #[test]
    fn a_loss_halves_both_and_a_timeout_ends_the_delay_window() {
        for (cause, left) in [(Cause::Loss, 20.0), (Cause::Timeout, 0.0)] {
            let mut compound = Compound { delay_window: 40.0, ..Compound::new(CompoundConfig::BASE) };
            let window = Window { size: 100.0, threshold: 2.0 };
            close(compound.on_congestion(&congestion(100.0, cause), &window), 50.0);
            close(compound.delay_window, left);
        }
    }
}
