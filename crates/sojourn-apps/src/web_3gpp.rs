//! Web pages of random size: a main object, then its embedded objects one after the other over one connection that is
//! kept from page to page, or several at a time over connections of their own.
//!
//! Source: White 2019 section 4.1 and Appendix B, which cite the HTTP model of 3GPP2 C.R1002; the variables of ns-3
//! (`three-gpp-http-variables.cc`) and what the public program docsis-ns3 changes of them.
//! Deviations: the server hands over an object whole, not in segments of 536 or 1460 B; who loses a connection gives up the page
//! and begins with a new one after a second.

use crate::connections::Connections;
use crate::distribution::{Bounds, Inverse, Law, Outside};
use crate::keys::TLS;
use crate::keys::{LONGEST_PAUSE, START, START_JITTER};
use crate::pages::{Tokens, new_object, new_page};
use crate::tls::Tls;
use crate::{
    Application, ApplicationContext, ApplicationKind, ConnectionId, Distribution, Draw, End, Event, Interest, Object,
    Page, Sampler,
};
use sojourn_base::{Bytes, Direction, Instant, RandomStream, Seed, Span, math};
use sojourn_keys::Mismatch;
use sojourn_keys::{Key, origin, parameters, words};

words! {
    /// Treatment of a drawn number of embedded objects beyond its bound.
    pub enum CountMode {
        /// it is drawn anew, and fractions are cut off: 3.9 objects on average
        Ns3 = "ns3",
        /// it becomes the bound, and fractions are rounded: 5.6 objects on average
        ///
        /// As the formula of 3GPP2 has it. Chosen: rounded, so that the mean stays that of the formula (5.64).
        Clamped = "3gpp-clamped",
    }
}

const NS3: &str = "ns-3 (3GPP2)";

const fn object(from: &'static str) -> Key {
    origin(from).least("1 B").most("1 GB")
}

const fn pause(from: &'static str) -> Key {
    origin(from).most(LONGEST_PAUSE).unit("s")
}

parameters! {
    /// Parameters of [`Web3gpp`]; start from a named profile and change what differs. All users share one server.
    #[derive(Copy)]
    pub struct Web3gppConfig: "web-3gpp", "pages of random size, object after object over one connection" {
        /// size of a request
        request: Bytes = Bytes(328), origin(NS3).least("1 B").most("1 MB");
        /// size of the main object
        main: Distribution<Bytes> = log_normal(102_400, 40_960, 100), object("docsis-ns3");
        /// size of an embedded object
        embedded: Distribution<Bytes> = log_normal(7_758, 126_168, 50), object(NS3);
        /// the number of embedded objects is a Pareto draw in whole numbers, less its scale: its exponent
        count_shape: f64 = 1.1, origin(NS3).least("0.1").most("100");
        /// the least value of this draw
        count_scale: u32 = 2, origin(NS3).least("1").most("10000");
        /// the bound of this draw
        count_most: u32 = 55, origin(NS3).least("1").most("10000");
        /// treatment of a drawn number beyond its bound
        count_mode: CountMode = CountMode::Ns3, origin("ns-3");
        /// how long the server takes over a main object
        main_delay: Distribution<Span> = Distribution::Constant(Span::ZERO), pause(NS3);
        /// how long the server takes over an embedded object
        embedded_delay: Distribution<Span> = Distribution::Constant(Span::ZERO), pause(NS3);
        /// how long the browser takes over the main object before it asks for more
        parsing: Distribution<Span> = exponential(Span::from_ms(130)), pause(NS3);
        /// pause from the end of a page to the start of the next
        reading: Distribution<Span> = exponential(Span::from_s(3)), pause("docsis-ns3");
        /// 1: one connection is kept from page to page; more: connections at a time, each for one object
        ///
        /// One is kept as by HTTP/1.1. Of several each brings one object, and the server closes it (HTTP/1.0).
        parallel: u32 = 1, origin("ns-3: 1; 3GPP2 allows 4 (HTTP/1.0)").least("1").most("64");
        #[native()]
        tls: Tls = Tls::Off, TLS, if |it| it.tls != Tls::Off;
        /// number of people, each with a browser of their own
        users: u32 = 1, origin("White 2019 §4.1: one or five").least("1").most("10000");
        start: Span = Span::from_s(1), START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
    profiles {
        /// White 2019 as docsis-ns3 runs it: main objects of 100 kB, 3 s of reading
        WHITE2019 "white2019" {}
        /// the variables of ns-3: main objects of 10.7 kB, 30 s of reading
        ///
        /// Which are those of 3GPP2.
        NS3 "ns3" {
            main = log_normal(10_710, 25_032, 100);
            reading = exponential(Span::from_s(30));
        }
    }
}

impl ApplicationKind for Web3gppConfig {
    fn build(&self) -> Box<dyn Application> {
        self.tls.secure(Web3gpp::new(self))
    }

    fn flows(&self) -> u64 {
        u64::from(self.users) * u64::from(self.parallel)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users) * (USER_BYTES + u64::from(self.parallel) * FETCH_BYTES)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problem_over_quic(&self) -> Option<(&'static str, Mismatch)> {
        self.tls.problem_over_quic().map(|problem| ("tls", problem))
    }
}

/// Largest object. Source: the bound of ns-3; what a file says instead is its own.
const OBJECTS: (Bytes, Bytes) = (Bytes(1), Bytes(1_000_000_000));

/// Longest pause of a browser or a server. chosen: longer than any run.
const PAUSES: (Span, Span) = (Span::ZERO, Span::from_s(18_000_000));

/// Pause before a browser tries again after a connection was lost. chosen: as of bulk transfers.
const RETRY: Span = Span::from_s(1);

const fn log_normal(mean: u64, sd: u64, least: u64) -> Distribution<Bytes> {
    let law = Law::LogNormal { mean: Bytes(mean), sd: Bytes(sd) };
    Distribution::between(law, Bytes(least), Bytes(2_000_000))
}

const fn exponential(mean: Span) -> Distribution<Span> {
    Distribution::of(Law::Exponential { mean })
}

impl Web3gppConfig {
    /// Returns the distribution of the number of embedded objects.
    fn counts(&self) -> Inverse<f64> {
        let law = Law::ParetoOf { scale: f64::from(self.count_scale), shape: self.count_shape };
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

/// Samplers of the drawn quantities.
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
    /// The user that each open connection belongs to, and which of theirs it is.
    connections: Connections<(usize, usize)>,
}

/// One user's browser, and what the server does for it.
#[derive(Clone, Debug)]
struct User {
    doing: Doing,
    /// Time of its timer; other timers are obsolete.
    due: Instant,
    /// The page in progress or, in a pause, the last one.
    page: Page,
    /// Embedded objects to come.
    left: u32,
    /// Objects of the page that were asked for.
    asked: u32,
    /// Objects in progress on its connections.
    fetches: Vec<Fetch>,
    /// Draws of this user, independent of the other users.
    sizes: RandomStream,
    pauses: RandomStream,
    counts: RandomStream,
}

/// Bytes of a user, and of each of their connections.
const USER_BYTES: u64 = size_of::<User>() as u64;
const FETCH_BYTES: u64 = size_of::<Fetch>() as u64;

/// A connection of a browser, and the object that comes over it.
#[derive(Clone, Debug)]
struct Fetch {
    connection: Option<ConnectionId>,
    stage: Stage,
    /// Time of its timer.
    due: Instant,
    object: Object,
    /// How long the server takes over the object.
    delay: Span,
    /// Bytes that the server, and the browser, have received when the request, and the object, is complete.
    requested: u64,
    responded: u64,
}

/// Next step of a user, at its timer or a network event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Nothing: it begins when its timer is due.
    Nothing,
    /// It awaits the connection that it keeps.
    Connecting,
    /// Objects are on their way.
    Fetching,
    /// It parses the main object.
    Parsing,
    /// The user reads.
    Reading,
}

/// Next step of a connection, at its timer or a network event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has no object to bring.
    Idle,
    /// It is opened for its object.
    Opening,
    /// Its request is on its way.
    Asking,
    /// The server thinks.
    Serving,
    /// The object is on its way.
    Loading,
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

    /// Returns true if a connection is kept from object to object.
    const fn keeps_connections(&self) -> bool {
        self.config.parallel == 1
    }

    /// Timers of a user: the first is their own, the others are of their connections.
    const fn tokens(&self) -> Tokens {
        Tokens { kinds: self.config.parallel as usize + 1 }
    }

    /// A timer of `user`, in place of the one before.
    fn wait(&mut self, user: usize, until: Instant, context: &mut dyn ApplicationContext) {
        self.users[user].due = until;
        context.arm(until, self.tokens().of(user, 0));
    }

    fn connect(&mut self, user: usize, place: usize, context: &mut dyn ApplicationContext) {
        let connection = context.open(0);
        let fetch = &mut self.users[user].fetches[place];
        fetch.connection = Some(connection);
        (fetch.requested, fetch.responded) = (0, 0);
        self.connections.insert(connection, (user, place));
    }

    /// The first page, or the first after a connection was lost.
    fn begin(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        if self.keeps_connections() {
            self.users[user].doing = Doing::Connecting;
            self.connect(user, 0, context);
        } else {
            self.begin_page(now, user, context);
        }
    }

    /// The next page: ask for its main object.
    fn begin_page(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.users[user];
        state.page = new_page(now, state.page.user, state.page.index);
        state.left = self.config.count(&self.samplers.counts, state.counts.unit());
        state.asked = 0;
        self.ask(now, user, 0, context);
    }

    /// Ask for the next object, the main one first.
    fn ask(&mut self, now: Instant, user: usize, place: usize, context: &mut dyn ApplicationContext) {
        let keeps_connections = self.keeps_connections();
        let state = &mut self.users[user];
        let index = state.asked;
        let (sizes, delays) = if index == 0 {
            (&self.samplers.main, &self.samplers.main_delay)
        } else {
            (&self.samplers.embedded, &self.samplers.embedded_delay)
        };
        let object = new_object(now, &state.page, (0, index), sizes.draw_from(&mut state.sizes).0);
        let delay = delays.draw_from(&mut state.pauses);
        state.asked += 1;
        state.doing = Doing::Fetching;
        let fetch = &mut state.fetches[place];
        (fetch.object, fetch.delay) = (object, delay);
        if keeps_connections {
            self.request(user, place, context);
        } else {
            fetch.stage = Stage::Opening;
            self.connect(user, place, context);
        }
    }

    /// Send the request over the open connection.
    fn request(&mut self, user: usize, place: usize, context: &mut dyn ApplicationContext) {
        let request = self.config.request.0;
        let fetch = &mut self.users[user].fetches[place];
        fetch.stage = Stage::Asking;
        fetch.requested += request;
        if let Some(connection) = fetch.connection {
            context.await_delivered(connection, End::Server, fetch.requested);
            context.write(connection, End::Client, request);
        }
    }

    /// The server has the request.
    fn on_request(&mut self, now: Instant, user: usize, place: usize, context: &mut dyn ApplicationContext) {
        let fetch = &mut self.users[user].fetches[place];
        fetch.stage = Stage::Serving;
        if fetch.delay.is_zero() {
            self.answer(user, place, context);
        } else {
            fetch.due = now + fetch.delay;
            let due = fetch.due;
            context.arm(due, self.tokens().of(user, 1 + place));
        }
    }

    fn answer(&mut self, user: usize, place: usize, context: &mut dyn ApplicationContext) {
        let closes = !self.keeps_connections();
        let fetch = &mut self.users[user].fetches[place];
        fetch.stage = Stage::Loading;
        fetch.responded += fetch.object.bytes;
        if let Some(connection) = fetch.connection {
            context.await_delivered(connection, End::Client, 0);
            context.write(connection, End::Server, fetch.object.bytes);
            if closes {
                context.close(connection, End::Server);
            }
        }
    }

    /// The browser has more of an object.
    fn on_response(
        &mut self,
        now: Instant,
        (user, place): (usize, usize),
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        let keeps_connections = self.keeps_connections();
        let state = &mut self.users[user];
        let fetch = &mut state.fetches[place];
        fetch.object.first_byte_at.get_or_insert(now);
        if total < fetch.responded {
            if let Some(connection) = fetch.connection {
                context.await_delivered(connection, End::Client, fetch.responded);
            }
            return;
        }
        fetch.object.ended_at = Some(now);
        fetch.stage = Stage::Idle;
        context.record(&fetch.object);
        if !keeps_connections && let Some(connection) = fetch.connection.take() {
            self.connections.remove(connection);
            context.close(connection, End::Client);
        }
        let is_main = fetch.object.index == 0;
        state.page.objects += 1;
        state.page.bytes += fetch.object.bytes;
        if is_main {
            state.page.index_loaded_at = Some(now);
            state.doing = Doing::Parsing;
            let parsing = self.samplers.parsing.draw_from(&mut state.pauses);
            self.wait(user, now + parsing, context);
        } else {
            self.go_on(now, user, context);
        }
    }

    /// The next embedded objects, or the end of the page.
    fn go_on(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        for place in 0..self.users[user].fetches.len() {
            let state = &mut self.users[user];
            if state.left > 0 && state.fetches[place].stage == Stage::Idle {
                state.left -= 1;
                self.ask(now, user, place, context);
            }
        }
        let state = &mut self.users[user];
        if state.fetches.iter().any(|fetch| fetch.stage != Stage::Idle) {
            return;
        }
        state.page.ended_at = Some(now);
        context.record(&state.page);
        state.page.index += 1;
        state.doing = Doing::Reading;
        let reading = self.samplers.reading.draw_from(&mut state.pauses);
        self.wait(user, now + reading, context);
    }

    fn on_timer(&mut self, now: Instant, token: u32, context: &mut dyn ApplicationContext) {
        let (user, timer) = self.tokens().split(token);
        let state = &mut self.users[user];
        if let Some(place) = timer.checked_sub(1) {
            let fetch = &state.fetches[place];
            // Late after a pause.
            if fetch.due <= now && fetch.stage == Stage::Serving {
                self.answer(user, place, context);
            }
            return;
        }
        if now < state.due {
            return;
        }
        state.due = Instant::NEVER;
        match state.doing {
            Doing::Nothing => self.begin(now, user, context),
            Doing::Parsing => self.go_on(now, user, context),
            Doing::Reading => self.begin_page(now, user, context),
            Doing::Connecting | Doing::Fetching => {}
        }
    }

    /// The connection is gone, and with it the page.
    fn on_lost(&mut self, now: Instant, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        let Some((user, lost)) = self.connections.remove(connection) else {
            return;
        };
        self.record_unfinished(user, context);
        for (place, fetch) in self.users[user].fetches.iter_mut().enumerate() {
            fetch.stage = Stage::Idle;
            if let Some(connection) = fetch.connection.take()
                && place != lost
            {
                self.connections.remove(connection);
                context.abandon(connection);
            }
        }
        self.users[user].doing = Doing::Nothing;
        self.wait(user, now + RETRY, context);
    }

    /// Records the page and the objects that `user` waits for, if any.
    fn record_unfinished(&mut self, user: usize, context: &mut dyn ApplicationContext) {
        let state = &mut self.users[user];
        for fetch in &state.fetches {
            if fetch.stage != Stage::Idle {
                context.record(&fetch.object);
            }
        }
        if matches!(state.doing, Doing::Fetching | Doing::Parsing) {
            context.record(&state.page);
            state.page.index += 1;
        }
    }
}

impl Fetch {
    fn idle(now: Instant, user: u32) -> Self {
        Self {
            connection: None,
            stage: Stage::Idle,
            due: now,
            object: new_object(now, &new_page(now, user, 0), (0, 0), 0),
            delay: Span::ZERO,
            requested: 0,
            responded: 0,
        }
    }
}

impl Application for Web3gpp {
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for user in 0..self.config.users {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let own = Seed(context.unit(Draw::Choice).to_bits());
            self.users.push(User {
                doing: Doing::Nothing,
                due: now,
                page: new_page(now, user, 0),
                left: 0,
                asked: 0,
                fetches: vec![Fetch::idle(now, user); self.config.parallel as usize],
                sizes: own.stream("user/size"),
                pauses: own.stream("user/gap"),
                counts: own.stream("user/choice"),
            });
            self.wait(user as usize, now + delay, context);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(token) => self.on_timer(now, token, context),
            Event::Connected(connection, End::Client) => {
                let Some(&mut (user, place)) = self.connections.get_mut(connection) else {
                    return;
                };
                if self.users[user].doing == Doing::Connecting {
                    self.begin_page(now, user, context);
                } else if self.users[user].fetches[place].stage == Stage::Opening {
                    self.request(user, place, context);
                }
            }
            Event::Delivered(connection, end, total) => {
                let Some(&mut (user, place)) = self.connections.get_mut(connection) else {
                    return;
                };
                let fetch = &self.users[user].fetches[place];
                match (end, fetch.stage) {
                    (End::Server, Stage::Asking) if total >= fetch.requested => {
                        self.on_request(now, user, place, context);
                    }
                    (End::Client, Stage::Loading) => {
                        self.on_response(now, (user, place), total, context);
                    }
                    _ => {}
                }
            }
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(now, connection, context);
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.connections.bytes()
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for user in 0..self.users.len() {
            self.record_unfinished(user, context);
        }
    }
}

#[cfg(test)]
mod tests;
