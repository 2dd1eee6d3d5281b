//! A sensor: at regular intervals a burst of datagrams, back to back.
//!
//! Source: none; an example. Deviations: none known.

use sojourn_apps::keys::LONGEST_PAUSE;
use sojourn_apps::{Application, ApplicationContext, ApplicationKind, Event};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Configured, Visitor, key};

/// Parameters of the sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorConfig {
    /// Time from burst to burst.
    pub interval: Span,
    /// Datagrams of a burst.
    pub burst: u32,
    /// Length of a datagram.
    pub packet: Bytes,
}

impl Configured for SensorConfig {
    const KIND: &'static str = "sensor";
    const ABOUT: &'static str = "bursts of datagrams at regular intervals";

    fn base() -> Self {
        Self {
            interval: Span::from_s(1),
            burst: 10,
            packet: Bytes(200),
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("interval", "time from burst to burst", "chosen: a second")
                .least("1 ms")
                .most(LONGEST_PAUSE),
            &mut self.interval,
        );
        visitor.value(
            key("burst", "datagrams of a burst", "chosen: ten")
                .least("1")
                .most("1000"),
            &mut self.burst,
        );
        visitor.value(
            key("packet", "length of a datagram", "chosen: small")
                .least("20 B")
                .most("1500 B"),
            &mut self.packet,
        );
    }
}

impl ApplicationKind for SensorConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Sensor(*self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.packet))
    }
}

/// The running sensor.
#[derive(Clone, Debug)]
pub struct Sensor(SensorConfig);

impl Application for Sensor {
    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        context.arm(now, 0);
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        if let Event::Timer(token) = event {
            let length = u32::try_from(self.0.packet.0).expect("within the bounds of its key");
            for _ in 0..self.0.burst {
                context.send_datagram(0, Direction::Upstream, length);
            }
            context.arm(now + self.0.interval, token);
        }
    }

    fn finish(&mut self, _now: Instant, _context: &mut dyn ApplicationContext) {}
}
