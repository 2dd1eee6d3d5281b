//! What an application may ask and tell during one call.

use crate::event::Event;
use crate::world::World;
use sojourn_apps as apps;
use sojourn_apps::{ConnectionId, End};
use sojourn_base::report::{
    Chunk, DownloadSession, Frame, LiveSecond, LiveSession, Object, Page, StreamingSession,
    Transfer,
};
use sojourn_base::{Direction, Instant};
use sojourn_record::{Recorder, TrafficId};
use sojourn_transport::Endpoint as _;

/// The context of an application during one call.
#[derive(Debug)]
pub(crate) struct ApplicationCall<'a, R> {
    pub(crate) now: Instant,
    pub(crate) traffic: u16,
    pub(crate) world: &'a mut World<R>,
}

impl<R: Recorder> apps::ApplicationContext for ApplicationCall<'_, R> {
    fn open(&mut self, server: usize) -> ConnectionId {
        self.world.open(self.now, self.traffic, server)
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        let now = self.now;
        self.world.call(now, connection, end, |endpoint, call| {
            endpoint.write(now, bytes, call);
        });
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
        self.world
            .send_datagram(self.now, self.traffic, server, direction, length, None);
    }

    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        self.world
            .send_datagram(self.now, self.traffic, server, direction, length, Some(tag));
    }

    fn arm(&mut self, at: Instant, token: u32) {
        let event = Event::ApplicationTimer {
            traffic: self.traffic,
            token,
        };
        self.world.network.paths.calendar.schedule(at, event);
    }

    fn work(&mut self, units: u64) -> bool {
        self.world.network.paths.work.spend(units)
    }

    fn unit(&mut self, purpose: apps::Draw) -> f64 {
        self.world.traffic[usize::from(self.traffic)].streams[purpose as usize].unit()
    }

    fn record_transfer(&mut self, transfer: &Transfer) {
        let traffic = TrafficId(self.traffic);
        self.world
            .network
            .paths
            .recorder
            .on_transfer(traffic, transfer);
    }

    fn record_page(&mut self, page: &Page) {
        let traffic = TrafficId(self.traffic);
        self.world.network.paths.recorder.on_page(traffic, page);
    }

    fn record_object(&mut self, object: &Object) {
        let traffic = TrafficId(self.traffic);
        self.world.network.paths.recorder.on_object(traffic, object);
    }

    fn record_chunk(&mut self, chunk: &Chunk) {
        let traffic = TrafficId(self.traffic);
        self.world.network.paths.recorder.on_chunk(traffic, chunk);
    }

    fn record_frame(&mut self, frame: &Frame) {
        let traffic = TrafficId(self.traffic);
        self.world.network.paths.recorder.on_frame(traffic, frame);
    }

    fn record_streaming_session(&mut self, session: &StreamingSession) {
        let traffic = TrafficId(self.traffic);
        self.world
            .network
            .paths
            .recorder
            .on_streaming_session(traffic, session);
    }

    fn record_live_second(&mut self, second: &LiveSecond) {
        let traffic = TrafficId(self.traffic);
        self.world
            .network
            .paths
            .recorder
            .on_live_second(traffic, second);
    }

    fn record_live_session(&mut self, session: &LiveSession) {
        let traffic = TrafficId(self.traffic);
        self.world
            .network
            .paths
            .recorder
            .on_live_session(traffic, session);
    }

    fn record_download_session(&mut self, session: &DownloadSession) {
        let traffic = TrafficId(self.traffic);
        self.world
            .network
            .paths
            .recorder
            .on_download_session(traffic, session);
    }
}
