//! Web pages of random size: a main object, then its embedded objects one after the other over one connection that is
//! kept from page to page.
//!
//! Source: White 2019 section 4.1 and Appendix B, which cite the HTTP model of 3GPP2 C.R1002; the variables of ns-3
//! (`three-gpp-http-variables.cc`) and what the public program docsis-ns3 changes of them.
//! Deviations: one connection per user, not the four of HTTP/1.0 that 3GPP2 allows; the server hands over an object whole,
//! not in segments of 536 or 1460 B; who loses a connection opens another after a second and begins with a new page.

mod keys;

use crate::connections::Connections;
use crate::distribution::{Bounds, Inverse, Law, Outside};
use crate::{
    Application, ApplicationContext, ConnectionId, Distribution, Draw, End, Event, Interest,
    Object, Page, Sampler,
};
use sojourn_base::{Bytes, Instant, RandomStream, Seed, Span, math};

/// How the number of embedded objects is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountMode {
    /// Numbers at the bound or beyond are drawn anew, and lose their fraction, as in ns-3.
    Ns3,
    /// They become the bound, as the formula of 3GPP2 has it. Chosen: fractions are rounded, so that the mean stays that of
    /// the formula (5.64).
    Clamped,
}

/// Parameters of [`Web3gpp`]; start from a named profile and change what differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Web3gppConfig {
    /// Size of a request in application bytes.
    pub request: Bytes,
    /// Size of the main object.
    pub main: Distribution<Bytes>,
    /// Size of an embedded object.
    pub embedded: Distribution<Bytes>,
    /// The number of embedded objects is a Pareto draw in whole numbers, less the scale: its shape,
    pub count_shape: f64,
    /// its scale,
    pub count_scale: u32,
    /// its bound,
    pub count_most: u32,
    /// and what becomes of draws beyond.
    pub count_mode: CountMode,
    /// How long the server takes over a main object.
    pub main_delay: Distribution<Span>,
    /// How long it takes over an embedded one.
    pub embedded_delay: Distribution<Span>,
    /// How long the browser takes over the main object before it asks for more.
    pub parsing: Distribution<Span>,
    /// Pause from the end of a page to the start of the next.
    pub reading: Distribution<Span>,
    /// Number of people, each with a browser and a connection of their own to the one server.
    pub users: u32,
    /// When they start.
    pub start: Span,
    /// Each starts later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
}

/// Largest object. Source: the bound of ns-3; what a file says instead is its own.
const OBJECTS: (Bytes, Bytes) = (Bytes(1), Bytes(1_000_000_000));

/// Longest pause of a browser or a server. chosen: longer than any run.
const PAUSES: (Span, Span) = (Span::ZERO, Span::from_s(18_000_000));

/// Pause before a browser tries again after its connection was lost. chosen: as of bulk transfers.
const RETRY: Span = Span::from_s(1);

const fn log_normal(mean: u64, sd: u64, least: u64) -> Distribution<Bytes> {
    let law = Law::LogNormal {
        mean: Bytes(mean),
        sd: Bytes(sd),
    };
    Distribution::between(law, Bytes(least), Bytes(2_000_000))
}

const fn exponential(mean: Span) -> Distribution<Span> {
    Distribution::of(Law::Exponential { mean })
}

impl Web3gppConfig {
    /// The variables of ns-3, which are those of 3GPP2.
    pub const NS3: Self = Self {
        request: Bytes(328),
        main: log_normal(10_710, 25_032, 100),
        embedded: log_normal(7_758, 126_168, 50),
        count_shape: 1.1,
        count_scale: 2,
        count_most: 55,
        count_mode: CountMode::Ns3,
        main_delay: Distribution::Constant(Span::ZERO),
        embedded_delay: Distribution::Constant(Span::ZERO),
        parsing: exponential(Span::from_ms(130)),
        reading: exponential(Span::from_s(30)),
        users: 1,
        start: Span::from_s(1),
        start_jitter: Span::ZERO,
    };
    /// What docsis-ns3 changes: larger main objects and a reading time of 3 s.
    pub const WHITE2019: Self = Self {
        main: log_normal(102_400, 40_960, 100),
        reading: exponential(Span::from_s(3)),
        ..Self::NS3
    };

    /// What the number of embedded objects is drawn from.
    fn counts(&self) -> Inverse<f64> {
        let law = Law::ParetoOf {
            scale: f64::from(self.count_scale),
            shape: self.count_shape,
        };
        let bounds = Bounds {
            least: None,
            most: Some(f64::from(self.count_most)),
            outside: match self.count_mode {
                CountMode::Ns3 => Outside::Redraw,
                CountMode::Clamped => Outside::Clamp,
            },
        };
        Inverse::new(law, bounds, 0.0, f64::INFINITY)
    }

    /// The number of embedded objects for a uniform number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and the bound, which has 32 bits"
    )]
    fn count(&self, counts: &Inverse<f64>, unit: f64) -> u32 {
        let drawn = counts.at(unit);
        let whole = match self.count_mode {
            CountMode::Ns3 => math::floor(drawn),
            CountMode::Clamped => math::floor(drawn + 0.5),
        };
        (whole as u32).saturating_sub(self.count_scale)
    }
}

/// What is drawn from, as it is needed.
#[derive(Clone, Debug)]
struct Samplers {
    main: Sampler<Bytes>,
    embedded: Sampler<Bytes>,
    counts: Inverse<f64>,
    main_delay: Sampler<Span>,
    embedded_delay: Sampler<Span>,
    parsing: Sampler<Span>,
    reading: Sampler<Span>,
}

/// People with their browsers, and their server.
#[derive(Clone, Debug)]
pub struct Web3gpp {
    config: Web3gppConfig,
    samplers: Box<Samplers>,
    users: Vec<User>,
    /// The user that each open connection belongs to.
    connections: Connections<usize>,
}

/// One user's browser, and what the server does for it.
#[derive(Clone, Debug)]
struct User {
    doing: Doing,
    connection: Option<ConnectionId>,
    /// When its timer is due; other timers are history.
    due: Instant,
    /// The page in progress or, in a pause, the last one.
    page: Page,
    /// The object in progress.
    object: Object,
    /// Embedded objects to come.
    left: u32,
    /// Bytes that the server, and the browser, have received when the request, and the object, is complete.
    requested: u64,
    responded: u64,
    /// What this user draws, whatever becomes of the others.
    sizes: RandomStream,
    pauses: RandomStream,
    counts: RandomStream,
}

/// Bytes of a user.
const USER_BYTES: u64 = size_of::<User>() as u64;

/// What the timer or the network will bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Nothing: it has no connection, and asks for one when its timer is due.
    Nothing,
    /// It awaits its connection.
    Connecting,
    /// Its request is on its way.
    Asking,
    /// The server thinks.
    Serving,
    /// The object is on its way.
    Loading,
    /// It parses the main object.
    Parsing,
    /// The user reads.
    Reading,
}

impl Web3gpp {
    /// The users of `config`, at rest until [`Application::start`].
    pub fn new(config: &Web3gppConfig) -> Self {
        let pause = |distribution: &Distribution<Span>| distribution.sampler(PAUSES.0, PAUSES.1);
        Self {
            config: *config,
            samplers: Box::new(Samplers {
                main: config.main.sampler(OBJECTS.0, OBJECTS.1),
                embedded: config.embedded.sampler(OBJECTS.0, OBJECTS.1),
                counts: config.counts(),
                main_delay: pause(&config.main_delay),
                embedded_delay: pause(&config.embedded_delay),
                parsing: pause(&config.parsing),
                reading: pause(&config.reading),
            }),
            users: Vec::new(),
            connections: Connections::default(),
        }
    }

    /// A timer of `user`, in place of the one before.
    fn wait(&mut self, user: usize, until: Instant, context: &mut impl ApplicationContext) {
        self.users[user].due = until;
        context.arm(until, number(user));
    }

    fn connect(&mut self, user: usize, context: &mut impl ApplicationContext) {
        let connection = context.open(0);
        let state = &mut self.users[user];
        state.doing = Doing::Connecting;
        state.connection = Some(connection);
        (state.requested, state.responded) = (0, 0);
        self.connections.insert(connection, user);
    }

    /// The next page: ask for its main object.
    fn begin_page(&mut self, now: Instant, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        state.page = Page {
            started_at: now,
            index_loaded_at: None,
            ended_at: None,
            objects: 0,
            bytes: 0,
            ..state.page
        };
        state.left = self
            .config
            .count(&self.samplers.counts, state.counts.unit());
        self.ask(now, user, context);
    }

    /// Ask for the next object, the main one first.
    fn ask(&mut self, now: Instant, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        let index = state.page.objects;
        let sizes = if index == 0 {
            &self.samplers.main
        } else {
            &self.samplers.embedded
        };
        state.object = Object {
            user: state.page.user,
            page: state.page.index,
            server: 0,
            index,
            started_at: now,
            first_byte_at: None,
            ended_at: None,
            bytes: sizes.draw_from(&mut state.sizes).0,
        };
        state.doing = Doing::Asking;
        let request = self.config.request.0;
        state.requested += request;
        let requested = state.requested;
        if let Some(connection) = state.connection {
            context.await_delivered(connection, End::Server, requested);
            context.write(connection, End::Client, request);
        }
    }

    /// The server has the request.
    fn on_request(&mut self, now: Instant, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        let delays = if state.object.index == 0 {
            &self.samplers.main_delay
        } else {
            &self.samplers.embedded_delay
        };
        let delay = delays.draw_from(&mut state.pauses);
        state.doing = Doing::Serving;
        if delay.is_zero() {
            self.answer(user, context);
        } else {
            self.wait(user, now + delay, context);
        }
    }

    fn answer(&mut self, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        state.doing = Doing::Loading;
        state.responded += state.object.bytes;
        if let Some(connection) = state.connection {
            context.await_delivered(connection, End::Client, 0);
            context.write(connection, End::Server, state.object.bytes);
        }
    }

    /// The browser has more of an object.
    fn on_response(
        &mut self,
        now: Instant,
        user: usize,
        total: u64,
        context: &mut impl ApplicationContext,
    ) {
        let state = &mut self.users[user];
        state.object.first_byte_at.get_or_insert(now);
        if total < state.responded {
            let responded = state.responded;
            if let Some(connection) = state.connection {
                context.await_delivered(connection, End::Client, responded);
            }
            return;
        }
        state.object.ended_at = Some(now);
        context.record_object(&state.object);
        let is_main = state.object.index == 0;
        state.page.objects += 1;
        state.page.bytes += state.object.bytes;
        if is_main {
            state.page.index_loaded_at = Some(now);
            state.doing = Doing::Parsing;
            let parsing = self.samplers.parsing.draw_from(&mut state.pauses);
            self.wait(user, now + parsing, context);
        } else {
            self.go_on(now, user, context);
        }
    }

    /// The next embedded object, or the end of the page.
    fn go_on(&mut self, now: Instant, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        if state.left > 0 {
            state.left -= 1;
            self.ask(now, user, context);
            return;
        }
        state.page.ended_at = Some(now);
        context.record_page(&state.page);
        state.page.index += 1;
        state.doing = Doing::Reading;
        let reading = self.samplers.reading.draw_from(&mut state.pauses);
        self.wait(user, now + reading, context);
    }

    fn on_timer(&mut self, now: Instant, user: usize, context: &mut impl ApplicationContext) {
        if self.users[user].due != now {
            return;
        }
        match self.users[user].doing {
            Doing::Nothing => self.connect(user, context),
            Doing::Serving => self.answer(user, context),
            Doing::Parsing => self.go_on(now, user, context),
            Doing::Reading => self.begin_page(now, user, context),
            Doing::Connecting | Doing::Asking | Doing::Loading => {}
        }
    }

    /// The connection is gone.
    fn on_lost(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        context: &mut impl ApplicationContext,
    ) {
        let Some(user) = self.connections.remove(connection) else {
            return;
        };
        self.record_unfinished(user, context);
        let state = &mut self.users[user];
        state.connection = None;
        state.doing = Doing::Nothing;
        self.wait(user, now + RETRY, context);
    }

    /// Records the page and the object that `user` waits for, if any.
    fn record_unfinished(&mut self, user: usize, context: &mut impl ApplicationContext) {
        let state = &mut self.users[user];
        let is_object = matches!(state.doing, Doing::Asking | Doing::Serving | Doing::Loading);
        if is_object {
            context.record_object(&state.object);
        }
        if is_object || state.doing == Doing::Parsing {
            context.record_page(&state.page);
            state.page.index += 1;
        }
    }
}

impl Application for Web3gpp {
    fn interest(&self) -> Interest {
        Interest {
            delivered: true,
            acknowledged: false,
        }
    }

    fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        for user in 0..self.config.users {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let own = Seed(context.unit(Draw::Choice).to_bits());
            self.users.push(User {
                doing: Doing::Nothing,
                connection: None,
                due: now,
                page: Page {
                    user,
                    index: 0,
                    started_at: now,
                    index_loaded_at: None,
                    ended_at: None,
                    objects: 0,
                    bytes: 0,
                },
                object: Object {
                    user,
                    page: 0,
                    server: 0,
                    index: 0,
                    started_at: now,
                    first_byte_at: None,
                    ended_at: None,
                    bytes: 0,
                },
                left: 0,
                requested: 0,
                responded: 0,
                sizes: own.stream("user/size"),
                pauses: own.stream("user/gap"),
                counts: own.stream("user/choice"),
            });
            self.wait(user as usize, now + delay, context);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
        match event {
            Event::Timer(user) => self.on_timer(now, user as usize, context),
            Event::Connected(connection, End::Client) => {
                if let Some(&mut user) = self.connections.get_mut(connection) {
                    self.begin_page(now, user, context);
                }
            }
            Event::Delivered(connection, end, total) => {
                let Some(&mut user) = self.connections.get_mut(connection) else {
                    return;
                };
                let state = &self.users[user];
                match (end, state.doing) {
                    (End::Server, Doing::Asking) if total >= state.requested => {
                        self.on_request(now, user, context);
                    }
                    (End::Client, Doing::Loading) => self.on_response(now, user, total, context),
                    _ => {}
                }
            }
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(now, connection, context);
            }
            _ => {}
        }
    }

    fn finish(&mut self, _now: Instant, context: &mut impl ApplicationContext) {
        for user in 0..self.users.len() {
            self.record_unfinished(user, context);
        }
    }
}

/// Users are numbered in 32 bits.
fn number(user: usize) -> u32 {
    u32::try_from(user).expect("the number of users fits into 32 bits")
}

#[cfg(test)]
mod tests;
