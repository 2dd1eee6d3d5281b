//! Progressive download: whole videos, fetched as fast as they come and played while they do.
//!
//! Which videos are asked for, and when, is computed beforehand: there are a few schedules, the same for every seed and
//! every queue manager, and each run draws one of them and the moment at which it begins.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions" (sizes, pauses, 480p at 1.128 Mb/s), "Simulations -
//! Randomization" (six schedules, a start within half the mean pause), "PLT and PD QoE" (sustained playback).
//! Deviations: the schedules are not published; these are drawn from the published distributions. The first request of a
//! source comes after a uniform share of a pause (chosen: a source that has long been at work). A connection that is lost
//! is opened anew at once, and what is missing asked for.

use crate::connections::Connections;
use crate::keys::{LONGEST_PAUSE, REQUEST, START, START_JITTER};
use crate::{
    Application, ApplicationContext, ApplicationKind, ConnectionId, Distribution, DownloadSession, Draw, End, Event,
    Interest, Law, Sampler, Transfer, number,
};
use sojourn_base::{BitRate, Bytes, Direction, Instant, RandomStream, Seed, Span};
use sojourn_keys::{Mismatch, choices, origin, parameters};

choices! {
    /// How fast the server sends.
    #[derive(Copy)]
    pub enum ServerPacing {
        /// as fast as the connection lets it
        Off = "off",
        /// a burst, then a little faster than the video is played
        /// (as large video sites of the time did)
        Paced {
            /// media that are sent at once
            burst: Span = Span::from_s(40), origin("chosen: 40 s").most(LONGEST_PAUSE).unit("s");
            /// rate of the rest, as a multiple of the rate at which the video is played
            factor: f64 = 1.25, origin("chosen: 1.25").least("0.1").most("100");
        } = "paced",
    }
}

/// A paced server writes so often. chosen: blocks of some tens of kilobytes at the rates of videos.
const BLOCK: Span = Span::from_ms(500);

const SLIDES: &str = "Akhtar 2013, HAS and PD Traffic Modeling Assumptions";

parameters! {
    /// Parameters of [`Pd`]; start from a named profile and change what differs.
    #[derive(Copy)]
    pub struct PdConfig: "pd", "progressive downloads: whole videos that are played as they come" {
        /// number of independent sources of requests
        sources: u32 = 1, origin("chosen: one; Akhtar 2013, Traffic Loads: two to five").least("1").most("10000");
        /// size of a video
        size: Distribution<Bytes> = pareto(Bytes(38_000_000), 1.5), origin(SLIDES);
        /// time from request to request of a source, whether or not the video before it has come
        gap: Distribution<Span> = pareto(Span::from_s(350), 2.0), origin("Akhtar 2013, Traffic Loads");
        /// rate at which a video is played
        rate: BitRate = BitRate::from_kbps(1128), origin(SLIDES).least("1 kb/s").most("1 Gb/s").unit("Mb/s");
        /// playback begins at this buffer level
        resume: Span = Span::from_s(5), origin("chosen: 5 s").most(LONGEST_PAUSE).unit("s");
        /// how fast the server sends
        server_pacing: ServerPacing = ServerPacing::Off,
            origin("chosen: Akhtar 2013 does not say; as fast as the connection lets it");
        /// schedules that were computed beforehand; a run draws one of them
        schedules: u32 = 6, origin("Akhtar 2013, Simulations - Randomization").least("1").most("1000000");
        /// number that the schedules follow from; the seed of a run does not enter them
        library: u64 = 20_130_002, origin("chosen: any number");
        /// a schedule has no requests after this
        schedule_length: Option<Span> = None,
            origin("chosen: schedules outlast every run").or("endless").least("1 s").most(LONGEST_PAUSE);
        request: Bytes = Bytes(350), REQUEST;
        start: Span = Span::ZERO, START;
        // Half the mean pause ("Simulations - Randomization").
        start_jitter: Span = Span::from_s(175), START_JITTER;
    }
    profiles {
        /// Akhtar 2013: videos of 38 MB, played at 1.128 Mb/s, one every 350 s
        AKHTAR2013 "akhtar2013" {}
    }
}

const fn pareto<Q: Copy>(mean: Q, cv: f64) -> Distribution<Q> {
    Distribution::of(Law::Pareto { mean, cv })
}

impl ApplicationKind for PdConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Pd::new(self))
    }

    fn flows(&self) -> u64 {
        // A request comes whether or not the one before it is done. chosen: four of a source at a time.
        4 * u64::from(self.sources)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.sources) * SOURCE_BYTES
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)> {
        match self.schedule_length {
            Some(length) if self.start.saturating_add(length) < duration => vec![(
                "schedule_length",
                Mismatch::new(
                    format!("a schedule of {length} ends before the run ({duration})"),
                    format!("at least \"{duration}\", \"endless\", or a shorter run"),
                ),
            )],
            _ => Vec::new(),
        }
    }
}

/// Most of a video. chosen: a terabyte.
const MOST: Bytes = Bytes(1_000_000_000_000);

/// Shortest and longest pause. chosen: no two requests at once, and longer than any run.
const GAPS: (Span, Span) = (Span::from_ms(1), Span::from_s(18_000_000));

/// People who watch videos as they come.
#[derive(Clone, Debug)]
pub struct Pd {
    config: PdConfig,
    sources: Vec<Source>,
    /// End of the schedule.
    ends_at: Instant,
    downloads: Connections<Download>,
    /// Connections whose server has more to write when the timer of this place fires.
    paced: Vec<Option<ConnectionId>>,
}

/// Requests of one source: its part of the schedule.
#[derive(Clone, Debug)]
struct Source {
    sizes: RandomStream,
    gaps: RandomStream,
    next: u32,
}

/// Bytes of a source.
const SOURCE_BYTES: u64 = size_of::<Source>() as u64;

/// A video on its way.
#[derive(Clone, Copy, Debug)]
struct Download {
    session: DownloadSession,
    /// Bytes that came over connections that were lost.
    before: u64,
    received: u64,
    is_answered: bool,
    /// Bytes that the server has still to write over this connection.
    unwritten: u64,
}

impl Download {
    /// Takes `received` bytes, and decides if playback had to wait for them.
    fn advance(&mut self, now: Instant, received: u64, config: &PdConfig) {
        self.judge(now, config);
        self.received = received;
        let enough = config.rate.bytes_in(config.resume).0;
        if self.session.playback_at.is_none() && received >= enough.min(self.session.bytes) {
            self.session.playback_at = Some(now);
        }
    }

    /// The server writes this many bytes, or all that are left.
    fn write(&mut self, connection: ConnectionId, bytes: u64, context: &mut dyn ApplicationContext) {
        let bytes = bytes.min(self.unwritten);
        self.unwritten -= bytes;
        context.write(connection, End::Server, bytes);
    }

    /// Playback has come to the end of what is there before `now`.
    fn judge(&mut self, now: Instant, config: &PdConfig) {
        if let (Some(from), None) = (self.session.playback_at, self.session.underrun_at) {
            let dry_at = from.saturating_add(config.rate.time_for(Bytes(self.received)));
            if dry_at < now && self.received < self.session.bytes {
                self.session.underrun_at = Some(dry_at);
            }
        }
    }
}

impl Pd {
    /// The sources of `config`, at rest until [`Application::start`].
    pub fn new(config: &PdConfig) -> Self {
        Self {
            config: *config,
            sources: Vec::new(),
            ends_at: Instant::NEVER,
            downloads: Connections::default(),
            paced: Vec::new(),
        }
    }

    fn size(&mut self, source: usize) -> u64 {
        let sampler = self.config.size.sampler(Bytes(1), MOST);
        one(&sampler, &mut self.sources[source].sizes).0
    }

    fn gap(&mut self, source: usize) -> Span {
        let sampler = self.config.gap.sampler(GAPS.0, GAPS.1);
        one(&sampler, &mut self.sources[source].gaps)
    }

    /// The next video of a source.
    fn begin(&mut self, now: Instant, source: usize, context: &mut dyn ApplicationContext) {
        let bytes = self.size(source);
        let state = &mut self.sources[source];
        let session = DownloadSession {
            source: number(source),
            index: state.next,
            started_at: now,
            bytes,
            playback_at: None,
            ended_at: None,
            underrun_at: None,
        };
        state.next += 1;
        self.fetch(Download { session, before: 0, received: 0, is_answered: false, unwritten: bytes }, context);
        let next = now.saturating_add(self.gap(source));
        if next < self.ends_at {
            context.arm(next, number(source));
        }
    }

    fn fetch(&mut self, download: Download, context: &mut dyn ApplicationContext) {
        let connection = context.open(0);
        self.downloads.insert(connection, download);
    }

    /// The server has more of a request.
    fn on_request(&mut self, now: Instant, connection: ConnectionId, total: u64, context: &mut dyn ApplicationContext) {
        let request = self.config.request.0;
        if let Some(download) = self.downloads.get_mut(connection)
            && !download.is_answered
            && total >= request
        {
            download.is_answered = true;
            let at_once = match self.config.server_pacing {
                ServerPacing::Off => u64::MAX,
                ServerPacing::Paced { burst, .. } => self.config.rate.bytes_in(burst).0,
            };
            download.write(connection, at_once, context);
            if download.unwritten > 0 {
                let free = self.paced.iter().position(Option::is_none);
                let place = free.unwrap_or_else(|| {
                    self.paced.push(None);
                    self.paced.len() - 1
                });
                self.paced[place] = Some(connection);
                context.arm(now + BLOCK, self.config.sources + number(place));
            }
        }
    }

    /// A paced server writes its next block; a place whose connection is gone, or done, is free again.
    fn on_block(&mut self, now: Instant, place: usize, context: &mut dyn ApplicationContext) {
        let ServerPacing::Paced { factor, .. } = self.config.server_pacing else {
            return;
        };
        let block = self.config.rate.bytes_in(BLOCK).0 as f64 * factor;
        let block = crate::whole(block);
        if let Some(connection) = self.paced[place]
            && let Some(download) = self.downloads.get_mut(connection)
        {
            download.write(connection, block, context);
            if download.unwritten > 0 {
                context.arm(now + BLOCK, self.config.sources + number(place));
                return;
            }
        }
        self.paced[place] = None;
    }

    /// A player has more of its video.
    fn on_media(&mut self, now: Instant, connection: ConnectionId, total: u64, context: &mut dyn ApplicationContext) {
        let Some(download) = self.downloads.get_mut(connection) else {
            return;
        };
        download.advance(now, download.before + total, &self.config);
        let session = download.session;
        if download.received >= session.bytes {
            self.downloads.remove(connection);
            context.close(connection, End::Client);
            Self::record(DownloadSession { ended_at: Some(now), ..session }, context);
        } else if session.underrun_at.is_some() {
            // The rest of the session is now known.
            let rest = session.bytes - download.before;
            context.await_delivered(connection, End::Client, rest);
        }
    }

    fn record(session: DownloadSession, context: &mut dyn ApplicationContext) {
        context.record(&session);
        context.record(&Transfer {
            lane: session.source,
            index: session.index,
            started_at: session.started_at,
            ended_at: session.ended_at,
            bytes: session.bytes,
        });
    }
}

/// The next one of a schedule, which is no draw of a run.
fn one<Q: crate::Measured>(sampler: &Sampler<Q>, stream: &mut RandomStream) -> Q {
    match sampler {
        Sampler::Constant(value) => *value,
        Sampler::Random(inverse) => Q::of_number(inverse.at(stream.unit())),
    }
}

impl Application for Pd {
    /// Playback is judged by what has been delivered.
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
        let from = now.saturating_add(delay);
        let schedule = chosen(context.unit(Draw::Choice), self.config.schedules);
        if let Some(length) = self.config.schedule_length {
            self.ends_at = from.saturating_add(length);
        }
        let library = Seed(self.config.library);
        for source in 0..self.config.sources {
            let stream = |what: &str| library.stream(&format!("schedule/{schedule}/{source}/{what}"));
            self.sources.push(Source { sizes: stream("size"), gaps: stream("gap"), next: 0 });
            let share = stream("phase").unit();
            let first = self.gap(source as usize).as_secs_f64() * share;
            context.arm(from.saturating_add(Span::from_secs_f64(first)), source);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(source) if source < self.config.sources => {
                self.begin(now, source as usize, context);
            }
            Event::Timer(token) => {
                self.on_block(now, (token - self.config.sources) as usize, context);
            }
            Event::Connected(connection, End::Client) => {
                context.write(connection, End::Client, self.config.request.0);
            }
            Event::Delivered(connection, End::Server, total) => {
                self.on_request(now, connection, total, context);
            }
            Event::Delivered(connection, End::Client, total) => {
                self.on_media(now, connection, total, context);
            }
            Event::PeerClosed(connection, End::Server) => context.close(connection, End::Server),
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                if let Some(download) = self.downloads.remove(connection) {
                    self.fetch(
                        Download {
                            before: download.received,
                            is_answered: false,
                            unwritten: download.session.bytes - download.received,
                            ..download
                        },
                        context,
                    );
                }
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.downloads.bytes() + self.paced.capacity() * size_of::<Option<ConnectionId>>()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let config = self.config;
        let mut unfinished: Vec<Download> = self.downloads.values().copied().collect();
        for download in &mut unfinished {
            download.judge(now, &config);
            Self::record(download.session, context);
        }
    }
}

/// Number of a schedule for a uniform draw.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by `as`; the draw is below one")]
fn chosen(unit: f64, schedules: u32) -> u32 {
    ((unit * f64::from(schedules)) as u32).min(schedules.saturating_sub(1))
}

#[cfg(test)]
mod tests;
