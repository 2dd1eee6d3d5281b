//! A group of one home, as a link: what a scenario without neighbours has.

use super::medium::Medium;
use super::members::Members;
use crate::{Link, LinkContext, LinkCounters, Transmit};
use sojourn_base::{Instant, Meta, PacketHandle};
use sojourn_queue::Backlog;

/// See the module.
#[derive(Debug)]
pub(crate) struct Alone(pub(crate) Medium);

/// The surroundings of the only modem.
struct Only<'a, 'b>(&'a mut (dyn LinkContext + 'b));

impl Members for Only<'_, '_> {
    fn at(&mut self, _port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        act(self.0);
    }

    fn work(&mut self, units: u64) -> bool {
        self.0.work(units)
    }
}

impl<'b> Transmit<dyn LinkContext + 'b> for Alone {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut (dyn LinkContext + 'b)) {
        self.0.on_arrival(now, 0, meta, item, &mut Only(context));
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut (dyn LinkContext + 'b)) {
        self.0.on_wakeup(now, &mut Only(context));
    }
}

impl Link for Alone {
    fn next_wakeup(&self) -> Instant {
        self.0.next_wakeup()
    }

    fn backlog(&self) -> Backlog {
        self.0.member(0).backlog()
    }

    fn staged(&self) -> Backlog {
        self.0.member(0).staged()
    }

    fn keeps_order(&self) -> bool {
        self.0.member(0).keeps_order()
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        self.0.member(0).service_flow_counters()
    }

    fn counters(&self) -> Option<LinkCounters> {
        self.0.member(0).counters()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.0.member(0).sub_flow(meta)
    }
}
