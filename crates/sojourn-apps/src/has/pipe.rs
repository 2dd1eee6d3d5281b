//! The one connection of a player: what was asked for over it, and what came.
//!
//! Source: Akhtar 2013, "TCP Modeling" (one connection that stays). Deviations: none known.

use crate::{ApplicationContext, ConnectionId, End};
use sojourn_base::Bytes;

/// A connection with server 0 that carries one answer at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe {
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) is_established: bool,
    /// Bytes of requests written so far.
    requests: u64,
    /// Bytes of media before the present answer.
    pub(crate) received: u64,
    /// The request is with the server.
    is_answered: bool,
}

impl Pipe {
    /// A new connection, in place of the one that there was.
    pub(crate) fn open(&mut self, context: &mut dyn ApplicationContext) -> ConnectionId {
        let connection = context.open(0);
        *self = Self { connection: Some(connection), ..Self::default() };
        connection
    }

    /// The player asks; not before the connection stands.
    pub(crate) fn ask(&mut self, request: Bytes, context: &mut dyn ApplicationContext) {
        let (Some(connection), true) = (self.connection, self.is_established) else {
            return;
        };
        self.requests += request.0;
        self.is_answered = false;
        context.await_delivered(connection, End::Server, self.requests);
        context.write(connection, End::Client, request.0);
    }

    /// Returns true if the server has the last request.
    pub(crate) const fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Returns true, once for each request, if the server has received all of the last one; `total`: bytes of requests
    /// so far.
    pub(crate) const fn is_asked(&mut self, total: u64) -> bool {
        let is_new = !self.is_answered && total >= self.requests;
        self.is_answered |= is_new;
        is_new
    }
}
