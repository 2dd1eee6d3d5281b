//! Connections that are kept until a page is complete: object after object, or all objects at once.
//!
//! Requests go out one after the other and are answered whole in the order in which they arrive. An object in order is
//! complete once all before it are; one out of order (QUIC), once it is there.
//!
//! Source: RFC 9112 section 9.3 (HTTP/1.1: kept connections), RFC 9113 section 5 (HTTP/2), RFC 9114 section 6.1 and RFC
//! 9000 section 2.2 (HTTP/3: a stream waits for its own data only), RFC 9218 section 10 (responses that are not
//! incremental are sent one after the other).
//! Deviations: heads of frames and compressed headers are part of the sizes; a request is never pipelined in HTTP/1.1.

use super::Web;
use crate::web::Protocol;
use crate::{ApplicationContext, ConnectionId, End, Event, Object};
use sojourn_base::Instant;

/// Which bytes of one direction have arrived.
#[derive(Clone, Debug, Default)]
struct Arrived {
    in_order: u64,
    /// Beyond a hole.
    early: Vec<(u64, u64)>,
}

impl Arrived {
    /// `first..below` have arrived, or, from 0 on, everything below.
    fn add(&mut self, (first, below): (u64, u64)) {
        if first > 0 {
            self.early.push((first, below));
        } else {
            self.in_order = below;
            self.early.retain(|range| range.1 > below);
        }
    }

    /// How many of `first..below` are there.
    fn of(&self, (first, below): (u64, u64)) -> u64 {
        let in_order = self.in_order.clamp(first, below);
        let early = self.early.iter().map(|range| range.1.min(below).saturating_sub(range.0.max(in_order)));
        in_order - first + early.sum::<u64>()
    }
}

/// An object that is asked for.
#[derive(Clone, Debug)]
struct Exchange {
    object: Object,
    /// Range of its bytes in the server's data, once the server answers.
    response: Option<(u64, u64)>,
}

/// A connection of a browser to a server.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    user: u32,
    server: u32,
    is_connected: bool,
    /// In the order of their requests.
    exchanges: Vec<Exchange>,
    /// Exchanges before this one are complete.
    complete_below: usize,
    requests: Arrived,
    responses: Arrived,
    /// Bytes that the server has written.
    written: u64,
}

impl Kept {
    /// Bytes of its objects, and of what arrived beyond holes.
    pub(super) const fn bytes(&self) -> usize {
        let early = self.requests.early.capacity() + self.responses.early.capacity();
        self.exchanges.capacity() * size_of::<Exchange>() + early * size_of::<(u64, u64)>()
    }

    fn is_idle(&self) -> bool {
        self.complete_below == self.exchanges.len()
    }

    /// Objects that are not complete.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Object> {
        let objects = self.exchanges.iter().map(|exchange| &exchange.object);
        objects.filter(|object| object.ended_at.is_none())
    }
}

/// Bytes of an object that is asked for.
pub(super) const EXCHANGE_BYTES: u64 = size_of::<Exchange>() as u64;

impl Web {
    /// Returns true if all objects of a server are requested at once.
    pub(super) fn asks_for_all(&self) -> bool {
        self.config.keeps_connections() && self.config.protocol == Protocol::Multiplexed
    }

    /// Ask for `object` on a connection that is there for it, or on a new one.
    pub(super) fn exchange(&mut self, object: Object, context: &mut dyn ApplicationContext) {
        let shared = self.asks_for_all();
        let place = (object.user, object.server);
        let known =
            self.kept.iter_mut().find(|(_, kept)| (kept.user, kept.server) == place && (shared || kept.is_idle()));
        let exchange = Exchange { object, response: None };
        if let Some((connection, kept)) = known {
            kept.exchanges.push(exchange);
            if kept.is_connected {
                context.write(connection, End::Client, self.config.request.0);
            }
            return;
        }
        let connection = context.open(object.server as usize);
        let kept = Kept {
            user: object.user,
            server: object.server,
            is_connected: false,
            exchanges: vec![exchange],
            complete_below: 0,
            requests: Arrived::default(),
            responses: Arrived::default(),
            written: 0,
        };
        self.kept.insert(connection, kept);
    }

    /// An event of a kept connection; whether it is one.
    pub(super) fn is_for_kept(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) -> bool {
        match event {
            _ if !self.config.keeps_connections() => false,
            Event::Delivered(connection, end, total) => {
                self.on_kept_arrival(now, (connection, end), (0, total), context)
            }
            Event::Early(connection, end, first, below) => {
                self.on_kept_arrival(now, (connection, end), (first, below), context)
            }
            Event::Connected(connection, End::Client) => self.on_kept_connected(connection, context),
            _ => false,
        }
    }

    /// A kept connection is there; whether it is one.
    fn on_kept_connected(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) -> bool {
        let Some(kept) = self.kept.get_mut(connection) else {
            return false;
        };
        kept.is_connected = true;
        let requests = self.config.request.0 * kept.exchanges.len() as u64;
        context.write(connection, End::Client, requests);
        true
    }

    /// Bytes have arrived at one end of a connection; whether it is kept.
    fn on_kept_arrival(
        &mut self,
        now: Instant,
        (connection, end): (ConnectionId, End),
        bytes: (u64, u64),
        context: &mut dyn ApplicationContext,
    ) -> bool {
        let Some(kept) = self.kept.get_mut(connection) else {
            return false;
        };
        if end == End::Server {
            kept.requests.add(bytes);
            let request = self.config.request.0;
            for (at, exchange) in (0..).zip(&mut kept.exchanges) {
                let place = (at * request, (at + 1) * request);
                if exchange.response.is_none() && kept.requests.of(place) == request {
                    let size = exchange.object.bytes;
                    exchange.response = Some((kept.written, kept.written + size));
                    kept.written += size;
                    context.write(connection, End::Server, size);
                }
            }
            return true;
        }
        kept.responses.add(bytes);
        let mut complete = Vec::new();
        for exchange in &mut kept.exchanges[kept.complete_below..] {
            let (Some(place), None) = (exchange.response, exchange.object.ended_at) else {
                continue;
            };
            let there = kept.responses.of(place);
            if there > 0 {
                exchange.object.first_byte_at.get_or_insert(now);
            }
            if there == exchange.object.bytes {
                exchange.object.ended_at = Some(now);
                complete.push(exchange.object);
            }
        }
        let ended = |exchange: &&Exchange| exchange.object.ended_at.is_some();
        kept.complete_below += kept.exchanges[kept.complete_below..].iter().take_while(ended).count();
        for object in complete {
            context.record(&object);
            self.on_object(now, &object, context);
        }
        true
    }

    /// A page is complete: its connections are not needed any more.
    pub(super) fn close_kept(&mut self, user: u32, context: &mut dyn ApplicationContext) {
        if !self.config.keeps_connections() {
            return;
        }
        for connection in self.kept.remove_where(|kept| kept.user == user) {
            context.close(connection, End::Client);
        }
    }

    /// A kept connection is gone before its objects were complete: others bring them.
    pub(super) fn on_kept_lost(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        if !self.config.keeps_connections() {
            return;
        }
        let lost = self.kept.remove(connection);
        for object in lost.iter().flat_map(Kept::unfinished) {
            let first_byte_at = None;
            self.exchange(Object { first_byte_at, ..*object }, context);
        }
    }
}
