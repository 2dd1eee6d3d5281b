//! A rate-based controller from outside the crate: it requests rate samples and pacing, and sends at the delivered
//! rate. It tests BBR's needs of a sender, without BBR.

use crate::path::{End, Fate, Path, Shape};
use sojourn_base::{BitRate, Instant, Span};
use sojourn_keys::{Configured, Visitor};
use sojourn_transport::StackConfig;
use sojourn_transport::congestion::{
    Ack, AnyController, Congestion, CongestionControl, Connection, ControllerConfig, ControllerKind, Requests, Window,
};

#[derive(Clone, Copy, Debug, PartialEq)]
struct RateBased {
    best: u64,
    minimum: Span,
}

impl Configured for RateBased {
    const KIND: &'static str = "rate-based";
    const ABOUT: &'static str = "twice what was delivered in the shortest round trip";

    fn base() -> Self {
        Self { best: 0, minimum: Span::MAX }
    }

    fn keys(&mut self, _visitor: &mut dyn Visitor) {}
}

impl ControllerKind for RateBased {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(*self)
    }
}

impl CongestionControl for RateBased {
    fn requests(&self) -> Requests {
        Requests { rate_samples: true, pacing: true, ..Requests::NONE }
    }

    fn in_slow_start(&self, _window: &Window) -> bool {
        false
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(round_trip) = ack.round_trip {
            self.minimum = self.minimum.min(round_trip);
        }
        if let Some(sample) = ack.rate {
            self.best = self.best.max(sample.rate().as_bps());
            let in_flight = BitRate::from_bps(self.best).bytes_in(self.minimum).0 / 1448;
            window.size = (2 * in_flight).max(10) as f64;
        }
    }

    fn on_congestion_avoidance(&mut self, _acked: u32, _ack: &Ack, _window: &mut Window) {}

    fn on_congestion(&mut self, _event: &Congestion, window: &Window) -> f64 {
        window.threshold
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        (self.best > 0).then(|| BitRate::from_bps(2 * self.best))
    }
}

#[test]
fn a_rate_based_controller_finds_the_rate_of_the_path_and_keeps_to_two_of_its_products() {
    let stack = StackConfig { controller: ControllerConfig::from(RateBased::base()), ..StackConfig::LINUX_RENO };
    let mut path = Path::new(&stack, Shape::P1, Box::new(|_, _| Fate::Pass));
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::from_s(5));
    let before = path.server().snapshot().delivered;
    path.go_on(Instant::from_s(15));
    // 1448 B each ms for 10 s, and twice 101 ms of them in the network.
    let delivered = path.server().snapshot().delivered - before;
    assert!((14_470_000..=14_490_000).contains(&delivered), "{delivered}");
    let window = path.client().congestion().window;
    assert!((198.0..=206.0).contains(&window), "{window}");
    assert_eq!(path.client().statistics().retransmissions(), 0);
}

/// Reno that asks for a pace of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PacedReno {
    pace: Option<BitRate>,
}

impl Configured for PacedReno {
    const KIND: &'static str = "paced-reno";
    const ABOUT: &'static str = "a segment a round trip more, half at a loss, at a pace";

    fn base() -> Self {
        Self { pace: None }
    }

    fn keys(&mut self, _visitor: &mut dyn Visitor) {}
}

impl ControllerKind for PacedReno {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(*self)
    }
}

impl CongestionControl for PacedReno {
    fn requests(&self) -> Requests {
        Requests { pacing: self.pace.is_some(), ..Requests::NONE }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
        window.size += f64::from(acked) / window.size;
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        0.5 * event.base
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pace
    }
}

/// Bytes that arrive within 30 s at 12 Mb/s, and the window in the end, after an early loss that ends slow start.
fn paced(stack: &StackConfig, pace: Option<BitRate>) -> (u64, f64) {
    let stack = StackConfig { controller: ControllerConfig::from(PacedReno { pace }), ..*stack };
    let mut sent = 0;
    let judge = move |end, _: &sojourn_transport::Segment| {
        sent += u32::from(end == End::Client);
        if sent == 100 { Fate::Drop } else { Fate::Pass }
    };
    let mut path = Path::new(&stack, Shape::P1, Box::new(judge));
    (path.keep_rows, path.keep_events) = (false, false);
    path.run(u64::MAX, Instant::from_s(30));
    (path.server().snapshot().delivered, path.client().congestion().window)
}

#[test]
fn a_window_that_is_full_grows_however_its_segments_are_paced() {
    for stack in [StackConfig::LINUX_RENO, StackConfig::LINUX_6, StackConfig::QUIC, StackConfig::QUIC_CUBIC] {
        let is_quic = stack.loss_detection.is_quic();
        let (plain, grown) = paced(&stack, None);
        // Faster than the line by far: the pace holds nothing back for long.
        let (fast, window) = paced(&stack, Some(BitRate::from_mbps(1000)));
        assert!(fast * 100 > plain * 95, "{fast} of {plain}");
        assert!(window > 0.9 * grown, "{window} of {grown}");
        // A twelfth of the line: the window need not grow, and does not.
        let (slow, window) = paced(&stack, Some(BitRate::from_mbps(1)));
        assert!((3_300_000..3_760_000).contains(&slow), "{slow}");
        // RFC 9002 7.8: over QUIC waiting for the pacer is no limit by the application.
        assert!(window < 40.0 || is_quic, "{window}");
    }
}
