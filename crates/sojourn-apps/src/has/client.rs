//! Players and the server that they fetch their chunks from.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions". Deviations: a connection that is lost is opened
//! anew at once and its chunk asked for again, whole; the chunk keeps the time of its first request.

use super::HasConfig;
use super::content::Sizes;
use super::player::{Player, bytes_of};
use super::rate::{Choice, Offer, SHORTEST};
use crate::connections::Connections;
use crate::{Application, ApplicationContext, Chunk, ConnectionId, End, Event, Interest, number};
use sojourn_base::Instant;

/// Players of adaptive streams, and their server.
#[derive(Clone, Debug)]
pub struct Has {
    config: HasConfig,
    sizes: Sizes,
    sessions: Vec<Session>,
    /// Live connections, and whose they are.
    connections: Connections<usize>,
}

/// One player.
#[derive(Clone, Debug)]
struct Session {
    player: Player,
    /// The chunk in progress or, in a pause, the next one.
    index: u32,
    choice: Option<Choice>,
    chunk: Option<Chunk>,
}

impl Has {
    /// Returns the bytes of the players of `config` and of their chunk sizes.
    pub(super) fn bytes(config: &HasConfig) -> u64 {
        bytes_of::<Session>(config.sessions, &config.ladder, &config.content)
    }

    /// The players of `config`, at rest until [`Application::start`].
    pub fn new(config: &HasConfig) -> Self {
        let session = Session {
            player: Player::new(config.resume, config.rule, &config.ladder),
            index: 0,
            choice: None,
            chunk: None,
        };
        Self {
            sizes: Sizes::new(&config.content, &config.ladder, config.chunk),
            sessions: vec![session; config.sessions as usize],
            connections: Connections::default(),
            config: config.clone(),
        }
    }

    fn open(&mut self, session: usize, context: &mut dyn ApplicationContext) {
        let connection = self.sessions[session].player.pipe.open(context);
        self.connections.insert(connection, session);
    }

    /// Choose the level of the next chunk.
    fn choose(&mut self, session: usize) {
        let state = &mut self.sessions[session];
        let (sizes, index) = (&self.sizes, state.index);
        state.choice = Some(state.player.chooser.choose(&Offer {
            ladder: &self.config.ladder,
            chunk: self.config.chunk,
            buffer: state.player.playback.buffer(),
            bytes: &|level| sizes.of(index, level),
        }));
    }

    /// Ask for the chunk whose level was chosen.
    fn ask(&mut self, now: Instant, session: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.sessions[session];
        state.player.playback.advance(now);
        if let (None, Some(choice)) = (state.chunk, state.choice.take()) {
            let bytes = self.sizes.of(state.index, choice.level);
            let place = (session, state.index);
            let ladder = &self.config.ladder;
            state.chunk = Some(state.player.asks(now, place, &choice, ladder, bytes));
        }
        state.player.pipe.ask(self.config.request, context);
    }

    /// The server has more of a request.
    fn on_request(
        &mut self,
        session: usize,
        connection: ConnectionId,
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        let state = &mut self.sessions[session];
        let Some(chunk) = &state.chunk else {
            return;
        };
        if state.player.pipe.is_asked(total) {
            let all = state.player.pipe.received + chunk.bytes;
            context.await_delivered(connection, End::Client, all);
            context.write(connection, End::Server, chunk.bytes);
        }
    }

    /// A player has more of a chunk.
    fn on_media(&mut self, now: Instant, session: usize, total: u64, context: &mut dyn ApplicationContext) {
        let state = &mut self.sessions[session];
        let Some(chunk) = state.chunk.take_if(|chunk| total >= state.player.pipe.received + chunk.bytes) else {
            return;
        };
        state.player.pipe.received += chunk.bytes;
        state.player.playback.advance(now);
        state.player.playback.add(self.config.chunk);
        let took = now.saturating_since(chunk.requested_at).as_secs_f64();
        state.player.chooser.on_sample(chunk.bytes as f64 * 8.0 / took.max(SHORTEST));
        state.player.has(now, &chunk, context);
        state.index += 1;
        let buffer = state.player.playback.buffer();
        self.choose(session);
        if buffer > self.config.asks_at() {
            let pause = buffer.saturating_sub(self.config.asks_at());
            context.arm(now + pause, number(session));
        } else {
            self.ask(now, session, context);
        }
    }
}

impl Application for Has {
    /// Chunks are complete when they have been delivered.
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for session in 0..self.config.sessions {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let later = self.config.stagger.saturating_mul(u64::from(session));
            context.arm(now.saturating_add(delay.saturating_add(later)), session);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(session) => {
                let session = session as usize;
                if self.sessions[session].player.started_at.is_none() {
                    self.sessions[session].player.started_at = Some(now);
                    self.choose(session);
                    self.open(session, context);
                } else if self.sessions[session].chunk.is_none() {
                    self.ask(now, session, context);
                }
            }
            Event::Connected(connection, End::Client) => {
                if let Some(&mut session) = self.connections.get_mut(connection) {
                    let state = &mut self.sessions[session];
                    state.player.pipe.is_established = true;
                    state.player.playback.advance(now);
                    // A player that waits for room in its buffer goes on waiting.
                    let is_due = state.player.playback.buffer() <= self.config.asks_at();
                    if state.chunk.is_some() || is_due {
                        self.ask(now, session, context);
                    }
                }
            }
            Event::Delivered(connection, end, total) => {
                if let Some(&mut session) = self.connections.get_mut(connection) {
                    match end {
                        End::Server => self.on_request(session, connection, total, context),
                        End::Client => self.on_media(now, session, total, context),
                    }
                }
            }
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                if let Some(session) = self.connections.remove(connection) {
                    self.open(session, context);
                }
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.connections.bytes()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for session in 0..self.sessions.len() {
            let state = &mut self.sessions[session];
            let (ladder, unfinished) = (&self.config.ladder, state.chunk.as_ref());
            state.player.finish(now, session, ladder, unfinished, context);
        }
    }
}
