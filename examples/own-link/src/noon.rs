//! A line of constant rate that halves at noon. Runs begin at midnight.
//!
//! Source: none; an example. Deviations: none known.

use sojourn_base::{BitRate, Instant, Meta, PacketHandle, Span};
use sojourn_keys::{origin, parameters};
use sojourn_link::config::keys::{RATE, delay};
use sojourn_link::{AnyLink, Link, LinkContext, LinkKind, Serial, SerialConfig, Transmit};
use sojourn_queue::{Backlog, QueueManager};

parameters! {
    /// Parameters of the line.
    #[derive(Copy, Eq)]
    pub struct NoonConfig: "noon", "a line of constant rate that halves at noon" {
        rate: BitRate = BitRate::ZERO, RATE;
        /// when the rate halves
        noon: Span = Span::from_s(12 * 3600), origin("chosen: a run begins at midnight");
        delay: Span = Span::ZERO, delay("chosen: no delay unless it is said");
    }
}

impl LinkKind for NoonConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        let line = SerialConfig::plain(self.rate, self.delay);
        AnyLink::other(Noon {
            line: Serial::new(line, manager),
            strikes_at: Instant::ZERO + self.noon,
            afterwards: Some(BitRate::from_bps((self.rate.as_bps() / 2).max(1))),
        })
    }

    fn drain_rate(&self) -> BitRate {
        self.rate
    }

    fn delay(&self) -> Span {
        self.delay
    }
}

/// The running line.
#[derive(Debug)]
pub struct Noon {
    line: Serial,
    strikes_at: Instant,
    /// The rate after noon, until that has come.
    afterwards: Option<BitRate>,
}

impl Noon {
    fn strike(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if now >= self.strikes_at
            && let Some(rate) = self.afterwards.take()
        {
            self.line.on_wakeup(self.strikes_at, context);
            self.line.set_rate(rate);
        }
    }
}

impl Link for Noon {
    fn next_wakeup(&self) -> Instant {
        self.line.next_wakeup()
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.line.sub_flow(meta)
    }
}

impl<C: LinkContext + ?Sized> Transmit<C> for Noon {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        self.strike(now, context);
        self.line.on_arrival(now, meta, item, context);
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.strike(now, context);
        self.line.on_wakeup(now, context);
    }
}
