//! Players of a live stream, its encoder, and the server between them.
//!
//! The encoder was at work long before the run: part p of segment n is complete, in all runs and for all players, at the
//! same instant. The server sends what is complete when it is asked for a segment, and each further part when it is
//! complete. All times of media count from the beginning of the stream.
//!
//! Source: see [`crate::has_ll`]. Deviations: none further.

use super::HasLlConfig;
use crate::connections::Connections;
use crate::has::content::Sizes;
use crate::has::player::{Player, bytes_of};
use crate::has::rate::{Offer, SHORTEST};
use crate::{Application, ApplicationContext, Chunk, End, Event, Interest, LiveSecond, LiveSession, number};
use sojourn_base::{Instant, Span};
use std::collections::BTreeMap;

/// Players of a live stream, and their server.
#[derive(Clone, Debug)]
pub struct HasLl {
    config: HasLlConfig,
    stream: Stream,
    sessions: Vec<Session>,
    /// Live connections, and whose they are.
    connections: Connections<usize>,
}

/// The encoded stream: times and sizes.
#[derive(Clone, Debug)]
struct Stream {
    sizes: Sizes,
    segment: Span,
    part: Span,
    /// Parts of a segment.
    parts: u64,
    /// How much was encoded when the run began: whole segments.
    before: Span,
}

impl Stream {
    fn new(config: &HasLlConfig) -> Self {
        let (segment, reach) = (config.segment, config.target + config.segment);
        let segments = 1 + reach.as_ps() / segment.as_ps().max(1);
        Self {
            sizes: Sizes::new(&config.content, &config.ladder, segment),
            segment,
            part: config.part,
            parts: config.parts(),
            before: segment.saturating_mul(segments),
        }
    }

    /// Returns the live edge, as a time of the stream.
    fn live(&self, now: Instant) -> Span {
        now.saturating_since(Instant::ZERO).saturating_add(self.before)
    }

    /// Returns the start of a segment, as a time of the stream.
    fn start(&self, segment: u64) -> Span {
        self.segment.saturating_mul(segment)
    }

    /// Returns when part `part` of `segment` is complete; the start of the run, if it was earlier.
    fn complete_at(&self, segment: u64, part: u64) -> Instant {
        let end = self.start(segment) + self.part.saturating_mul(part + 1);
        Instant::ZERO.saturating_add(end.saturating_sub(self.before))
    }

    /// The segment that begins nearest to `media`.
    fn nearest(&self, media: Span) -> u64 {
        let half = self.segment / 2;
        media.saturating_add(half).as_ps() / self.segment.as_ps().max(1)
    }

    /// Bytes of a segment.
    fn bytes(&self, segment: u64, level: u32) -> u64 {
        let index = u32::try_from(segment).unwrap_or(u32::MAX);
        self.sizes.of(index, level as usize)
    }

    /// Bytes of the first `parts` parts of a segment: shares of the whole.
    fn bytes_of_parts(&self, segment: u64, level: u32, parts: u64) -> u64 {
        let all = u128::from(self.bytes(segment, level));
        let first = all * u128::from(parts) / u128::from(self.parts);
        u64::try_from(first).expect("not more than the whole")
    }
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Segment {
    chunk: Chunk,
    /// Its number in the stream.
    number: u64,
    /// Parts that the server has written, and that have come, over any connection.
    pushed: u64,
    came: u64,
    /// Of those that came, the ones that came over earlier connections.
    before: u64,
}

/// One player.
#[derive(Clone, Debug)]
struct Session {
    player: Player,
    throughput: Throughput,
    segment: Option<Segment>,
    /// Segments asked for.
    asked: u32,
    /// End of the media that have come; `None` before it is known where the player begins.
    edge: Option<Span>,
    skips: u32,
    skipped: Span,
    latencies: Latencies,
}

impl HasLl {
    /// Returns the bytes of the players of `config` and of their chunk sizes.
    pub(super) fn bytes(config: &HasLlConfig) -> u64 {
        bytes_of::<Session>(config.sessions, &config.ladder, &config.content)
    }

    /// The players of `config`, at rest until [`Application::start`].
    pub fn new(config: &HasLlConfig) -> Self {
        let session = Session {
            player: Player::new(config.resume, config.rule.into(), &config.ladder),
            throughput: Throughput::default(),
            segment: None,
            asked: 0,
            edge: None,
            skips: 0,
            skipped: Span::ZERO,
            latencies: Latencies::default(),
        };
        Self {
            stream: Stream::new(config),
            sessions: vec![session; config.sessions as usize],
            connections: Connections::default(),
            config: config.clone(),
        }
    }

    fn open(&mut self, session: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.sessions[session];
        state.throughput.mark = None;
        if let Some(segment) = &mut state.segment {
            segment.pushed = segment.came;
            segment.before = segment.came;
        }
        let connection = state.player.pipe.open(context);
        self.connections.insert(connection, session);
    }

    /// Ask for the segment in progress, or for the next one.
    fn ask(&mut self, now: Instant, session: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.sessions[session];
        state.player.playback.advance(now);
        if state.segment.is_none() {
            let live = self.stream.live(now);
            let near = self.stream.nearest(live.saturating_sub(self.config.target));
            let next = match state.edge {
                None => near,
                Some(edge) => {
                    let next = edge.as_ps() / self.config.segment.as_ps().max(1);
                    let playing = edge.saturating_sub(state.player.playback.buffer());
                    let behind = live.saturating_sub(playing);
                    if near > next && self.config.skip_from.is_some_and(|limit| behind > limit) {
                        state.skips += 1;
                        state.skipped += self.stream.start(near).saturating_sub(playing);
                        state.player.playback.discard();
                        near
                    } else {
                        next
                    }
                }
            };
            state.edge = Some(self.stream.start(next));
            // The size of a segment that is not encoded yet is unknown: the nominal size stands for it.
            let nominal = |level: usize| self.config.ladder[level].bytes_in(self.config.segment).0;
            let choice = state.player.chooser.choose(&Offer {
                ladder: &self.config.ladder,
                chunk: self.config.segment,
                buffer: state.player.playback.buffer(),
                bytes: &nominal,
            });
            let bytes = self.stream.bytes(next, number(choice.level));
            let (place, ladder) = ((session, state.asked), &self.config.ladder);
            state.segment = Some(Segment {
                chunk: state.player.asks(now, place, &choice, ladder, bytes),
                number: next,
                pushed: 0,
                came: 0,
                before: 0,
            });
            state.asked += 1;
        }
        state.player.pipe.ask(self.config.request, context);
    }

    /// The server has more of a request.
    fn on_request(&mut self, now: Instant, session: usize, total: u64, context: &mut dyn ApplicationContext) {
        if self.sessions[session].player.pipe.is_asked(total) {
            self.await_media(session, context);
            self.push(now, session, context);
            self.come_back(session, context);
        }
    }

    /// The next part is encoded: the server sends it, and comes back for the one after it. Timers of an answer that was
    /// cut off find nothing to do.
    fn on_part(&mut self, now: Instant, session: usize, context: &mut dyn ApplicationContext) {
        if self.sessions[session].player.pipe.is_answered() && self.push(now, session, context) {
            self.come_back(session, context);
        }
    }

    /// The server waits for the next part of the segment.
    fn come_back(&self, session: usize, context: &mut dyn ApplicationContext) {
        if let Some(segment) = &self.sessions[session].segment
            && segment.pushed < self.stream.parts
        {
            let at = self.stream.complete_at(segment.number, segment.pushed);
            context.arm(at, token(session, Due::Part));
        }
    }

    /// The server sends what is complete of the segment; false if that is nothing new.
    fn push(&mut self, now: Instant, session: usize, context: &mut dyn ApplicationContext) -> bool {
        let stream = &self.stream;
        let state = &mut self.sessions[session];
        let (Some(connection), Some(segment)) = (state.player.pipe.connection, &mut state.segment) else {
            return false;
        };
        let first = segment.pushed;
        while segment.pushed < stream.parts && stream.complete_at(segment.number, segment.pushed) <= now {
            segment.pushed += 1;
        }
        let bytes = |parts| stream.bytes_of_parts(segment.number, segment.chunk.level, parts);
        let more = bytes(segment.pushed) - bytes(first);
        if more > 0 {
            context.write(connection, End::Server, more);
        }
        // A part of a very low rate may have no byte of its own.
        segment.pushed > first
    }

    /// Wants to know of the first byte of a part, for the throughput, and of its last.
    fn await_media(&self, session: usize, context: &mut dyn ApplicationContext) {
        let state = &self.sessions[session];
        if let (Some(connection), Some(segment)) = (state.player.pipe.connection, &state.segment) {
            let total = if state.throughput.mark.is_some() {
                state.player.pipe.received + self.span_bytes(segment, segment.came + 1)
            } else {
                state.player.pipe.received + self.span_bytes(segment, segment.came) + 1
            };
            context.await_delivered(connection, End::Client, total);
        }
    }

    /// Bytes of a segment over the present connection, up to part `parts`.
    fn span_bytes(&self, segment: &Segment, parts: u64) -> u64 {
        let bytes = |parts| self.stream.bytes_of_parts(segment.number, segment.chunk.level, parts);
        bytes(parts) - bytes(segment.before)
    }

    /// A player has more of a segment.
    fn on_media(&mut self, now: Instant, session: usize, total: u64, context: &mut dyn ApplicationContext) {
        let Some(mut segment) = self.sessions[session].segment else {
            return;
        };
        let received = self.sessions[session].player.pipe.received;
        let came = segment.came;
        while segment.came < self.stream.parts && total >= received + self.span_bytes(&segment, segment.came + 1) {
            segment.came += 1;
        }
        let known = received + self.span_bytes(&segment, came);
        let boundary = received + self.span_bytes(&segment, segment.came);
        let state = &mut self.sessions[session];
        state.throughput.on_delivered(now, total, known, boundary);
        if segment.came > came {
            let media = self.config.part.saturating_mul(segment.came - came);
            state.player.playback.advance(now);
            state.player.playback.add(media);
            state.edge = state.edge.map(|edge| edge + media);
        }
        state.segment = Some(segment);
        if segment.came == self.stream.parts {
            state.segment = None;
            state.player.pipe.received = boundary;
            state.player.has(now, &segment.chunk, context);
        }
        if segment.came > came {
            self.steer(session);
        }
        if self.sessions[session].segment.is_none() {
            self.ask(now, session, context);
        } else {
            self.await_media(session, context);
        }
    }

    /// Play faster, slower or as media are taken; the buffer is known.
    fn steer(&mut self, session: usize) {
        let (target, tolerance) = (self.config.target, self.config.tolerance);
        let playback = &mut self.sessions[session].player.playback;
        let (buffer, speed) = (playback.buffer(), playback.speed());
        let fast = buffer > target.saturating_add(tolerance) || (speed > STEADY && buffer > target);
        let slow = buffer < target.saturating_sub(tolerance) || (speed < STEADY && buffer < target);
        let change = if self.config.catch_up > 0.0 { crate::whole(self.config.catch_up * STEADY as f64) } else { 0 };
        playback.set_speed(match (fast, slow) {
            (true, _) => STEADY + change,
            (_, true) => STEADY.saturating_sub(change),
            _ => STEADY,
        });
    }

    /// A second is over: how far behind is the picture, and what does the network carry?
    fn on_second(&mut self, now: Instant, session: usize, context: &mut dyn ApplicationContext) {
        let live = self.stream.live(now);
        let state = &mut self.sessions[session];
        state.player.playback.advance(now);
        if let (Some(_), Some(edge)) = (state.player.playback.first_picture_at, state.edge) {
            let buffer = state.player.playback.buffer();
            let latency = live.saturating_sub(edge.saturating_sub(buffer));
            state.latencies.add(latency);
            let speed = if state.player.playback.is_playing() { state.player.playback.speed() } else { 0 };
            context.record(&LiveSecond {
                session: number(session),
                at: now,
                latency,
                buffer,
                speed: speed as f64 / STEADY as f64,
                level: state.player.levels.last(),
            });
        }
        self.steer(session);
        context.arm(now + Span::from_s(1), token(session, Due::Second));
    }

    fn live_session(&self, session: usize) -> LiveSession {
        let state = &self.sessions[session];
        LiveSession {
            session: number(session),
            latency_mean: state.latencies.mean(),
            latency_p95: state.latencies.quantile(0.95),
            latency_max: state.latencies.most,
            fast: state.player.playback.fast,
            slow: state.player.playback.slow,
            skips: state.skips,
            skipped: state.skipped,
        }
    }
}

/// Speed of media that are played as they were taken, per mille.
const STEADY: u64 = 1000;

/// Measures the network's throughput while parts are in flight: between two parts the line is idle because nothing is
/// encoded, not because it is slow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throughput {
    /// Since when a part has been coming, and the bytes that there were then.
    mark: Option<(Instant, u64)>,
    busy: Span,
    bytes: u64,
    /// Bytes that came at once, so that nothing was seen of their speed.
    at_once: u64,
}

impl Throughput {
    /// Counts delivered bytes; the last complete part ended at `known` and ends at `boundary` now.
    pub(super) fn on_delivered(&mut self, now: Instant, total: u64, known: u64, boundary: u64) {
        match self.mark {
            Some((from, before)) => {
                self.busy += now.saturating_since(from);
                self.bytes += total.saturating_sub(before);
            }
            None => self.at_once += total.saturating_sub(known),
        }
        // With bytes of a further part it goes on; if not, with the first byte of one.
        self.mark = (total > boundary).then_some((now, total));
    }

    /// b/s since the last call; `None` if nothing came.
    pub(super) fn take(&mut self) -> Option<f64> {
        let bytes = if self.busy.is_zero() { self.at_once } else { self.bytes };
        let busy = self.busy.as_secs_f64().max(SHORTEST);
        *self = Self { mark: self.mark, ..Self::default() };
        (bytes > 0).then(|| bytes as f64 * 8.0 / busy)
    }
}

/// Live latencies, one a second, in bins: a run may be long.
#[derive(Clone, Debug, Default)]
struct Latencies {
    seconds: u64,
    sum: Span,
    most: Option<Span>,
    /// Seconds by the number of the bin.
    bins: BTreeMap<u64, u64>,
}

/// Width of the bins of latencies. chosen: below what a viewer or a player's rule can tell.
const BIN: Span = Span::from_ms(10);

impl Latencies {
    fn add(&mut self, latency: Span) {
        self.seconds += 1;
        self.sum += latency;
        self.most = self.most.max(Some(latency));
        *self.bins.entry(latency.as_ps() / BIN.as_ps()).or_default() += 1;
    }

    fn mean(&self) -> Option<Span> {
        (self.seconds > 0).then(|| self.sum / self.seconds)
    }

    /// The least end of a bin that has this share of the seconds below it.
    fn quantile(&self, share: f64) -> Option<Span> {
        let wanted = share * self.seconds as f64;
        let mut below = 0;
        for (bin, seconds) in &self.bins {
            below += seconds;
            if below as f64 >= wanted {
                return Some(BIN.saturating_mul(bin + 1));
            }
        }
        None
    }
}

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Join, and then each second.
    Second,
    /// The next part is encoded.
    Part,
    /// The throughput of a window is known.
    Window,
}

const DUE: [Due; 3] = [Due::Second, Due::Part, Due::Window];

/// Returns the token of a timer: player and purpose.
fn token(session: usize, due: Due) -> u32 {
    number(session * DUE.len() + due as usize)
}

impl Application for HasLl {
    /// Parts are there when they have been delivered.
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for session in 0..self.config.sessions {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let later = self.config.stagger.saturating_mul(u64::from(session));
            let at = now.saturating_add(delay.saturating_add(later));
            context.arm(at, token(session as usize, Due::Second));
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(due) => {
                let session = due as usize / DUE.len();
                match DUE[due as usize % DUE.len()] {
                    Due::Second if self.sessions[session].player.started_at.is_none() => {
                        self.sessions[session].player.started_at = Some(now);
                        self.open(session, context);
                        context.arm(now + Span::from_s(1), token(session, Due::Second));
                        context.arm(now + self.config.window, token(session, Due::Window));
                    }
                    Due::Second => self.on_second(now, session, context),
                    Due::Part => self.on_part(now, session, context),
                    Due::Window => {
                        let state = &mut self.sessions[session];
                        if let Some(throughput) = state.throughput.take() {
                            state.player.chooser.on_sample(throughput);
                        }
                        context.arm(now + self.config.window, token(session, Due::Window));
                    }
                }
            }
            Event::Connected(connection, End::Client) => {
                if let Some(&mut session) = self.connections.get_mut(connection) {
                    self.sessions[session].player.pipe.is_established = true;
                    self.ask(now, session, context);
                }
            }
            Event::Delivered(connection, end, total) => {
                if let Some(&mut session) = self.connections.get_mut(connection) {
                    match end {
                        End::Server => self.on_request(now, session, total, context),
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
        let latencies = self.sessions.iter().map(|session| session.latencies.bins.len());
        latencies.sum::<usize>() * size_of::<(u64, u64)>() + self.connections.bytes()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for session in 0..self.sessions.len() {
            let state = &mut self.sessions[session];
            let unfinished = state.segment.as_ref().map(|segment| &segment.chunk);
            let ladder = &self.config.ladder;
            if state.player.finish(now, session, ladder, unfinished, context) {
                context.record(&self.live_session(session));
            }
        }
    }
}
