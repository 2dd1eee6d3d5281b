//! Players and the server that they fetch their chunks from.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions". Deviations: a connection that is lost is opened
//! anew at once and its chunk asked for again, whole; the chunk keeps the time of its first request.

use super::HasConfig;
use super::content::Sizes;
use super::levels::Levels;
use super::pipe::Pipe;
use super::playback::Playback;
use super::rate::{Choice, Chooser, Offer, SHORTEST};
use crate::connections::Connections;
use crate::{Application, ApplicationContext, Chunk, ConnectionId, End, Event, Interest};
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
    playback: Playback,
    chooser: Chooser,
    pipe: Pipe,
    levels: Levels,
    started_at: Option<Instant>,
    /// The chunk in progress or, in a pause, the next one.
    index: u32,
    choice: Option<Choice>,
    chunk: Option<Chunk>,
}

impl Has {
    /// Bytes of the players of `config`, and of the sizes of what they play.
    pub(super) fn bytes(config: &HasConfig) -> u64 {
        let levels = config.ladder.len() as u64;
        let session = size_of::<Session>() as u64 + levels * size_of::<u32>() as u64;
        let sizes = Sizes::bytes(&config.content, levels);
        u64::from(config.sessions) * session + sizes
    }

    /// The players of `config`, at rest until [`Application::start`].
    pub fn new(config: &HasConfig) -> Self {
        let session = Session {
            playback: Playback::new(config.resume),
            chooser: Chooser::new(config.rule),
            pipe: Pipe::default(),
            levels: Levels::new(&config.ladder),
            started_at: None,
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

    fn open(&mut self, session: usize, context: &mut impl ApplicationContext) {
        let connection = self.sessions[session].pipe.open(context);
        self.connections.insert(connection, session);
    }

    /// Choose the level of the next chunk.
    fn choose(&mut self, session: usize) {
        let state = &mut self.sessions[session];
        let (sizes, index) = (&self.sizes, state.index);
        state.choice = Some(state.chooser.choose(&Offer {
            ladder: &self.config.ladder,
            chunk: self.config.chunk,
            buffer: state.playback.buffer(),
            bytes: &|level| sizes.of(index, level),
        }));
    }

    /// Ask for the chunk whose level was chosen.
    fn ask(&mut self, now: Instant, session: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.sessions[session];
        state.playback.advance(now);
        if let (None, Some(choice)) = (state.chunk, state.choice.take()) {
            state.chunk = Some(Chunk {
                session: number(session),
                index: state.index,
                level: number(choice.level),
                nominal: self.config.ladder[choice.level],
                bytes: self.sizes.of(state.index, choice.level),
                requested_at: now,
                ended_at: None,
                buffer_before: state.playback.buffer(),
                buffer_after: None,
                estimate: choice.estimate,
                reason: choice.reason,
            });
        }
        state.pipe.ask(self.config.request, context);
    }

    /// The server has more of a request.
    fn on_request(
        &mut self,
        session: usize,
        connection: ConnectionId,
        total: u64,
        context: &mut impl ApplicationContext,
    ) {
        let state = &mut self.sessions[session];
        let Some(chunk) = &state.chunk else {
            return;
        };
        if state.pipe.is_asked(total) {
            let all = state.pipe.received + chunk.bytes;
            context.await_delivered(connection, End::Client, all);
            context.write(connection, End::Server, chunk.bytes);
        }
    }

    /// A player has more of a chunk.
    fn on_media(
        &mut self,
        now: Instant,
        session: usize,
        total: u64,
        context: &mut impl ApplicationContext,
    ) {
        let state = &mut self.sessions[session];
        let Some(chunk) = state
            .chunk
            .take_if(|chunk| total >= state.pipe.received + chunk.bytes)
        else {
            return;
        };
        state.pipe.received += chunk.bytes;
        state.playback.advance(now);
        state.playback.add(self.config.chunk);
        let took = now.saturating_since(chunk.requested_at).as_secs_f64();
        state
            .chooser
            .on_sample(chunk.bytes as f64 * 8.0 / took.max(SHORTEST));
        state.levels.add(chunk.level);
        state.index += 1;
        let buffer = state.playback.buffer();
        context.record_chunk(&Chunk {
            ended_at: Some(now),
            buffer_after: Some(buffer),
            ..chunk
        });
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
        Interest {
            delivered: true,
            acknowledged: false,
        }
    }

    fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        for session in 0..self.config.sessions {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let later = self.config.stagger.saturating_mul(u64::from(session));
            context.arm(now.saturating_add(delay.saturating_add(later)), session);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
        match event {
            Event::Timer(session) => {
                let session = session as usize;
                if self.sessions[session].started_at.is_none() {
                    self.sessions[session].started_at = Some(now);
                    self.choose(session);
                    self.open(session, context);
                } else if self.sessions[session].chunk.is_none() {
                    self.ask(now, session, context);
                }
            }
            Event::Connected(connection, End::Client) => {
                if let Some(&mut session) = self.connections.get_mut(connection) {
                    let state = &mut self.sessions[session];
                    state.pipe.is_established = true;
                    state.playback.advance(now);
                    // A player that waits for room in its buffer goes on waiting.
                    let is_due = state.playback.buffer() <= self.config.asks_at();
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

    fn finish(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        for session in 0..self.sessions.len() {
            let state = &mut self.sessions[session];
            let Some(started_at) = state.started_at else {
                continue;
            };
            state.playback.advance(now);
            if let Some(chunk) = &state.chunk {
                context.record_chunk(chunk);
            }
            let (levels, playback) = (&state.levels, &state.playback);
            let summary =
                levels.summary(number(session), started_at, playback, &self.config.ladder);
            context.record_streaming_session(&summary);
        }
    }
}

/// Sessions, chunks and levels are counted in 32 bits.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("counts of sessions and levels are small")
}
