//! LEDBAT as White 2013 ran it: the draft-00 module for ns-2 and Linux by Rossi and others, in whole
//! milliseconds and whole segments.
//!
//! Source: White 2013 3.6 names the module; behaviour after draft-ietf-ledbat-congestion-00 and
//! Rossi, Testa, Valenti, Muscariello, "LEDBAT: the new BitTorrent congestion control protocol",
//! 2010.
//! Deviations: none known. There is no slow start, also not after a timeout, and no bound by what is
//! outstanding; the window changes only if it was full.

use super::reno::half_of_threshold;
use super::{Ack, AnyController, Congestion, CongestionControl, Connection, ControllerKind, Window};
use sojourn_base::QueueingDelay;
use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of the draft-00 LEDBAT module.
    #[derive(Copy, Eq)]
    pub struct LedbatNs2Config: "ledbat-ns2", "LEDBAT as in the draft-00 module for ns-2" {
        /// queueing delay that the flow steers to, in whole milliseconds
        target: Span = Span::from_ms(100), origin("White 2013 §4.1.1: on the order of 100 ms").least("1 ms").most("10 s");
    }
}

/// Stands apart as [`super::ledbat::Ledbat`] does.
impl ControllerKind for LedbatNs2Config {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(LedbatNs2::new(*self))
    }
}

/// State of the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LedbatNs2 {
    /// Target in ms.
    target: i64,
    delay: QueueingDelay,
    /// Milliseconds below target collected since the window changed.
    collected: i64,
}

/// One-minute bins in effect: the parameter is 6, and the current minute displaces one.
const BINS: usize = 5;
/// Samples in effect: the parameter is 3.
const SAMPLES: usize = 2;

impl LedbatNs2 {
    pub(crate) const fn new(config: LedbatNs2Config) -> Self {
        Self { target: milliseconds(config.target), delay: QueueingDelay::new(BINS, SAMPLES), collected: 0 }
    }
}

impl CongestionControl for LedbatNs2 {
    fn in_slow_start(&self, _window: &Window) -> bool {
        false
    }

    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(delay) = ack.one_way_delay {
            let whole = Span::from_ms(delay.as_ns() / 1_000_000);
            self.delay.sample(ack.now, whole);
        }
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, window: &mut Window) {
        let Some(queueing) = self.delay.get() else {
            return;
        };
        let offset = (self.target - milliseconds(queueing)).min(self.target);
        let segments = i64::from(window.whole());
        self.collected += offset;
        if self.collected >= segments * self.target {
            window.size += 1.0;
            self.collected = 0;
        } else if self.collected < 0 {
            if segments > 1 {
                window.size -= 1.0;
                self.collected = (segments - 2) * self.target;
            } else {
                self.collected = 0;
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        self.collected = 0;
        event.base / 2.0
    }

    fn recovery_floor(&self, window: &Window) -> f64 {
        half_of_threshold(window)
    }
}

const fn milliseconds(span: Span) -> i64 {
    (span.as_ns() / 1_000_000).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::super::testing::ack_at;
    use super::*;
    use sojourn_base::Instant;

    fn with_queueing(ms: u64) -> LedbatNs2 {
        let mut ledbat = LedbatNs2::new(LedbatNs2Config { target: Span::from_ms(100) });
        for sample in [30, 30 + ms, 30 + ms] {
            ledbat.delay.sample(Instant::ZERO, Span::from_ms(sample));
        }
        ledbat
    }

    #[test]
    fn growth_in_whole_segments() {
        let mut ledbat = with_queueing(0);
        let mut window = Window { size: 10.0, threshold: 2.0 };
        let mut changes = std::vec::Vec::new();
        for ack in 1..=21 {
            let before = window.size;
            ledbat.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
            if window.size > before {
                changes.push((ack, window.size));
            }
        }
        // 11 after 10 acknowledgements, 12 after 11 more.
        assert_eq!(changes, [(10, 11.0), (21, 12.0)]);
    }

    #[test]
    fn decrease() {
        let mut ledbat = with_queueing(150);
        ledbat.collected = 30;
        let mut window = Window { size: 10.0, threshold: 2.0 };
        ledbat.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
        assert_eq!((window.size, ledbat.collected), (9.0, 800));
    }

    #[test]
    fn one_segment_remains() {
        let mut ledbat = with_queueing(400);
        let mut window = Window { size: 1.0, threshold: 2.0 };
        ledbat.on_congestion_avoidance(1, &ack_at(Instant::ZERO, 1), &mut window);
        assert_eq!((window.size, ledbat.collected), (1.0, 0));
    }
}
