//! Context of an application's call.

use crate::event::Event;
use crate::world::World;
use sojourn_apps as apps;
use sojourn_apps::{ConnectionId, End};
use sojourn_base::report::Report;
use sojourn_base::{Direction, Ecn, Instant};
use sojourn_record::{Recorder, TrafficId};

/// The context of an application during one call.
#[derive(Debug)]
pub(crate) struct ApplicationCall<'a, R> {
    pub(crate) now: Instant,
    pub(crate) traffic: u16,
    pub(crate) world: &'a mut World<R>,
}

impl<R: Recorder> apps::ApplicationContext for ApplicationCall<'_, R> {
    fn inner(&mut self) -> Option<&mut (dyn apps::ApplicationContext + '_)> {
        None
    }

    fn open(&mut self, server: usize) -> ConnectionId {
        self.world.open(self.now, self.traffic, server)
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, call| {
            endpoint.write(now, bytes, call);
        });
    }

    fn hold(&mut self, connection: ConnectionId, end: End) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, call| {
            endpoint.hold(now, call);
        });
    }

    fn is_quic(&mut self) -> bool {
        self.world.traffic[usize::from(self.traffic)].stack.loss_detection.is_quic()
    }

    fn send_early(&mut self, connection: ConnectionId) {
        self.world.call(self.now, connection, End::Client, |endpoint, _| endpoint.send_early());
    }

    fn close(&mut self, connection: ConnectionId, end: End) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, call| {
            endpoint.close(now, call);
        });
    }

    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(awaited) = self.world.awaited(connection, end) {
            awaited.delivered = total;
        }
    }

    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(awaited) = self.world.awaited(connection, end) {
            awaited.acknowledged = total;
        }
    }

    fn abandon(&mut self, connection: ConnectionId) {
        self.world.abandon(self.now, connection);
    }

    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32) {
        self.world.send_datagram(self.now, self.traffic, (server, direction), length, None, None);
    }

    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        self.world.send_datagram(self.now, self.traffic, (server, direction), length, Some(tag), None);
    }

    fn send_marked_datagram(&mut self, server: usize, direction: Direction, length: u32, marks: (u8, Ecn)) {
        let to = (server, direction);
        self.world.send_datagram(self.now, self.traffic, to, length, None, Some(marks));
    }

    fn ecn(&mut self) -> Ecn {
        self.world.traffic[usize::from(self.traffic)].ecn
    }

    fn arm(&mut self, at: Instant, token: u32) {
        let event = Event::ApplicationTimer { traffic: self.traffic, token };
        self.world.network.paths.calendar.schedule(at, event);
    }

    fn work(&mut self, units: u64) -> bool {
        self.world.network.paths.work.spend(units)
    }

    fn unit(&mut self, purpose: apps::Draw) -> f64 {
        self.world.traffic[usize::from(self.traffic)].streams[purpose as usize].unit()
    }

    fn report(&mut self, report: Report<'_>) {
        let traffic = TrafficId(self.traffic);
        self.world.network.paths.recorder.on_report(traffic, report);
    }
}
