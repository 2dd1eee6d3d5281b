//! A sensor: at regular intervals a burst of datagrams, back to back.
//!
//! Source: none; an example. Deviations: none known.

use sojourn_apps::keys::LONGEST_PAUSE;
use sojourn_apps::{Application, ApplicationContext, ApplicationKind, Event};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of the sensor.
    #[derive(Copy, Eq)]
    pub struct SensorConfig: "sensor", "bursts of datagrams at regular intervals" {
        /// time from burst to burst
        interval: Span = Span::from_s(1), origin("chosen: a second").least("1 ms").most(LONGEST_PAUSE);
        /// datagrams of a burst
        burst: u32 = 10, origin("chosen: ten").least("1").most("1000");
        /// length of a datagram
        packet: Bytes = Bytes(200), origin("chosen: small").least("20 B").most("1500 B");
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

    fn bytes(&self) -> usize {
        0 // it keeps nothing
    }

    fn finish(&mut self, _now: Instant, _context: &mut dyn ApplicationContext) {}
}
