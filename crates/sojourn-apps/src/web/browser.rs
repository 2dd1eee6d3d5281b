//! Browsers and the servers they talk to: page after page, object after object.
//!
//! A page begins with the index object from server 0. When that is complete, all servers are asked at
//! once, with at most six connections each; each connection fetches one object, and the next object of
//! the same server takes a new one. The page ends with the last byte of the last object.
//!
//! Source: White 2012 3.2.3; White 2013 1.1 (a connection per object, which the browser closes), 3.6 (name look-ups).
//! Deviations: the first connections go out in turn over the servers (their order is not printed); closing
//! is never waited for; a connection that fails is opened
//! anew at once.

mod kept;

use super::page::PageContents;
use super::{Closing, NameLookup, WebConfig};
use crate::connections::Connections;
use crate::number;
use crate::pages::{Tokens, new_object, new_page};
use crate::{Application, ApplicationContext, ConnectionId, End, Event, Interest, Object, Page};
use sojourn_base::native::IN_TAB;
use sojourn_base::{Direction, Instant};
use std::collections::VecDeque;

/// Users with their browsers, and the servers.
#[derive(Clone, Debug)]
pub struct Web {
    config: WebConfig,
    users: Vec<User>,
    /// Connections that carry an unfinished object.
    fetches: Connections<Fetch>,
    /// Connections that stay, with their objects.
    kept: Connections<kept::Kept>,
    /// Connections that are no longer needed, and the times at which they are forgotten, in that order.
    lingering: VecDeque<(Instant, ConnectionId)>,
}

/// One user's browser.
#[derive(Clone, Debug)]
struct User {
    contents: PageContents,
    servers: Vec<ServerState>,
    /// The page in progress or, in a pause, the next one.
    page: Page,
    loading: bool,
}

/// State of one server during a page.
#[derive(Clone, Copy, Debug, Default)]
struct ServerState {
    name: Name,
    /// The object to ask for next.
    next: usize,
}

/// State of a server's name resolution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Name {
    #[default]
    Unknown,
    /// The query of this time is unanswered.
    AskedAt(Instant),
    Known,
}

/// An object on its way.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    object: Object,
    answered: bool,
}

impl WebConfig {
    /// Returns true if a connection carries more than one object.
    const fn keeps_connections(&self) -> bool {
        !IN_TAB && !matches!(self.protocol, super::Protocol::PerObject)
    }

    /// Bytes of a user.
    pub(super) fn bytes_of_user(&self) -> u64 {
        let servers = self.page.servers() * size_of::<ServerState>();
        let user = (size_of::<User>() + servers) as u64 + self.page.bytes();
        if self.keeps_connections() {
            let objects = self.page.bytes() / size_of::<u64>() as u64;
            return user + objects * kept::EXCHANGE_BYTES;
        }
        user
    }
}

impl Web {
    /// The users of `config`, at rest until [`Application::start`].
    pub fn new(config: &WebConfig) -> Self {
        let user = |user| User {
            contents: PageContents::new(&config.page),
            servers: vec![ServerState::default(); config.page.servers()],
            page: new_page(Instant::ZERO, user, 0),
            loading: false,
        };
        Self {
            config: *config,
            users: (0..config.users).map(user).collect(),
            fetches: Connections::default(),
            kept: Connections::default(),
            lingering: VecDeque::new(),
        }
    }

    fn begin_page(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.users[user];
        state.contents.draw(&self.config.page, context);
        state.page = new_page(now, state.page.user, state.page.index);
        state.loading = true;
        state.servers.fill(ServerState::default());
        self.approach(now, user, 0, context);
    }

    /// Use `server`, after looking up its name if need be.
    fn approach(&mut self, now: Instant, user: usize, server: usize, context: &mut dyn ApplicationContext) {
        if self.config.name_lookup == NameLookup::Off {
            self.users[user].servers[server].name = Name::Known;
        }
        match self.users[user].servers[server].name {
            Name::Unknown => self.ask(now, user, server, context),
            Name::AskedAt(_) => {}
            Name::Known if self.users[user].page.index_loaded_at.is_some() => {
                self.fetch_next(now, user, server, context);
            }
            Name::Known => self.fetch_index(now, user, context),
        }
    }

    fn ask(&mut self, now: Instant, user: usize, server: usize, context: &mut dyn ApplicationContext) {
        if let NameLookup::Datagram { query, timeout, .. } = self.config.name_lookup {
            self.users[user].servers[server].name = Name::AskedAt(now);
            let tag = self.tokens().of(user, 1 + server);
            context.send_tagged_datagram(self.resolver(), Direction::Upstream, query, tag);
            context.arm(now + timeout, tag);
        }
    }

    /// The time to wait for an answer may be over; timers of answered queries are history.
    fn on_lookup_timer(&mut self, now: Instant, user: usize, server: usize, context: &mut dyn ApplicationContext) {
        if let (NameLookup::Datagram { timeout, .. }, Name::AskedAt(at)) =
            (self.config.name_lookup, self.users[user].servers[server].name)
            && now >= at + timeout
        {
            self.ask(now, user, server, context);
        }
    }

    fn on_datagram(&mut self, now: Instant, end: End, tag: u32, context: &mut dyn ApplicationContext) {
        let NameLookup::Datagram { answer, .. } = self.config.name_lookup else {
            return;
        };
        if end == End::Server {
            context.send_tagged_datagram(self.resolver(), Direction::Downstream, answer, tag);
            return;
        }
        let (user, kind) = self.tokens().split(tag);
        let Some(server) = kind.checked_sub(1) else {
            return;
        };
        let state = &mut self.users[user].servers[server];
        if let Name::AskedAt(_) = state.name {
            state.name = Name::Known;
            if self.users[user].page.index_loaded_at.is_none() {
                self.fetch_index(now, user, context);
            } else {
                for _ in 0..self.config.connections_per_server {
                    self.fetch_next(now, user, server, context);
                }
            }
        }
    }

    fn fetch_index(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        let bytes = self.config.index.0.max(1);
        self.fetch(new_object(now, &self.users[user].page, (0, 0), bytes), context);
    }

    /// Ask `server` for its next object, if it has one more; for all of them, if they share a connection.
    fn fetch_next(&mut self, now: Instant, user: usize, server: usize, context: &mut dyn ApplicationContext) {
        while self.fetch_one_more(now, user, server, context) {
            if !self.asks_for_all() {
                break;
            }
        }
    }

    /// Ask `server` for its next object; whether it has one more.
    fn fetch_one_more(
        &mut self,
        now: Instant,
        user: usize,
        server: usize,
        context: &mut dyn ApplicationContext,
    ) -> bool {
        let state = &mut self.users[user];
        let next = state.servers[server].next;
        let Some(bytes) = state.contents.size(server, next) else {
            return false;
        };
        state.servers[server].next += 1;
        let object = new_object(now, &state.page, (number(server), number(next + 1)), bytes);
        self.fetch(object, context);
        true
    }

    fn fetch(&mut self, object: Object, context: &mut dyn ApplicationContext) {
        if self.config.keeps_connections() {
            self.exchange(object, context);
            return;
        }
        let connection = context.open(object.server as usize);
        context.await_delivered(connection, End::Server, self.config.request.0);
        let answered = false;
        self.fetches.insert(connection, Fetch { object, answered });
    }

    /// A server has more of a request; it answers when it has all of it.
    fn on_request(&mut self, connection: ConnectionId, total: u64, context: &mut dyn ApplicationContext) {
        let request = self.config.request.0;
        if let Some(fetch) = self.fetches.get_mut(connection)
            && !fetch.answered
            && total >= request
        {
            fetch.answered = true;
            context.write(connection, End::Server, fetch.object.bytes);
            if let Closing::Server { .. } = self.config.closing {
                context.close(connection, End::Server);
            }
        }
    }

    /// A browser has more of an object.
    fn on_response(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        let Some(fetch) = self.fetches.get_mut(connection) else {
            return;
        };
        fetch.object.first_byte_at.get_or_insert(now);
        if total < fetch.object.bytes {
            context.await_delivered(connection, End::Client, fetch.object.bytes);
            return;
        }
        fetch.object.ended_at = Some(now);
        let object = fetch.object;
        self.fetches.remove(connection);
        match self.config.closing {
            Closing::Browser => context.close(connection, End::Client),
            Closing::Server { forget_after } => {
                if self.lingering.is_empty() {
                    context.arm(now + forget_after, FORGET);
                }
                self.lingering.push_back((now + forget_after, connection));
            }
        }
        context.record(&object);
        self.on_object(now, &object, context);
    }

    /// An object is complete: go on with its page.
    fn on_object(&mut self, now: Instant, object: &Object, context: &mut dyn ApplicationContext) {
        let user = object.user as usize;
        let state = &mut self.users[user];
        state.page.objects += 1;
        state.page.bytes += object.bytes;
        if object.index == 0 {
            state.page.index_loaded_at = Some(now);
            for _ in 0..self.config.connections_per_server {
                for server in 0..self.config.page.servers() {
                    self.approach(now, user, server, context);
                }
            }
        } else {
            self.fetch_next(now, user, object.server as usize, context);
        }
        let state = &mut self.users[user];
        if state.page.objects as usize == 1 + state.contents.objects() {
            state.page.ended_at = Some(now);
            context.record(&state.page);
            state.page.index += 1;
            state.loading = false;
            context.arm(now + self.config.think, self.tokens().of(user, 0));
            self.close_kept(object.user, context);
        }
    }

    /// The connection is gone before its object was complete: take another one.
    fn on_lost(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        self.on_kept_lost(connection, context);
        if let Some(fetch) = self.fetches.remove(connection) {
            let first_byte_at = None;
            self.fetch(Object { first_byte_at, ..fetch.object }, context);
        }
    }

    /// Forget the connections whose time is over.
    fn forget(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        while let Some(&(at, connection)) = self.lingering.front() {
            if at > now {
                context.arm(at, FORGET);
                break;
            }
            self.lingering.pop_front();
            context.abandon(connection);
        }
    }

    fn resolver(&self) -> usize {
        self.config.page.servers()
    }

    /// Timers and datagrams carry the user and a kind: 0 for the next page, 1 + n for the name of server n.
    fn tokens(&self) -> Tokens {
        Tokens { kinds: 1 + self.config.page.servers() }
    }
}

impl Application for Web {
    /// Objects are complete when they have been delivered.
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for user in 0..self.users.len() {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            context.arm(now + delay, self.tokens().of(user, 0));
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        if self.is_for_kept(now, event, context) {
            return;
        }
        match event {
            Event::Delivered(connection, End::Client, total) => {
                self.on_response(now, connection, total, context);
            }
            Event::Delivered(connection, End::Server, total) => {
                self.on_request(connection, total, context);
            }
            Event::Connected(connection, End::Client) => {
                context.write(connection, End::Client, self.config.request.0);
            }
            Event::PeerClosed(connection, End::Server) => context.close(connection, End::Server),
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(connection, context);
            }
            Event::Timer(FORGET) => self.forget(now, context),
            Event::Timer(token) => match self.tokens().split(token) {
                (user, 0) => self.begin_page(now, user, context),
                (user, kind) => self.on_lookup_timer(now, user, kind - 1, context),
            },
            Event::Datagram(end, tag, _) => self.on_datagram(now, end, tag, context),
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        let kept = self.kept.bytes() + self.kept.values().map(kept::Kept::bytes).sum::<usize>();
        self.fetches.bytes() + crate::ring_bytes(&self.lingering) + kept
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for fetch in self.fetches.values() {
            context.record(&fetch.object);
        }
        for object in self.kept.values().flat_map(kept::Kept::unfinished) {
            context.record(object);
        }
        for user in self.users.iter().filter(|user| user.loading) {
            context.record(&user.page);
        }
    }
}

/// Token of the timer that forgets connections: no user has it.
const FORGET: u32 = u32::MAX;

#[cfg(test)]
mod tests;
