//! Web pages by statistics: a number of answers from each of seven hosts, over one connection to each that stays open.
//!
//! Source: Akhtar 2013, "Web Traffic Model", "Google Stats for Web Traffic", "Traffic Loads", "Simulations -
//! Randomization". The table stands in `data/akhtar2013-web-statistics.csv`.
//! Deviations: requests have 350 B and pauses a coefficient of variation of 2 (chosen: not printed; as of the downloads). All
//! pages of a user come from the same hosts. A page that begins before the last one is complete waits behind it, host by
//! host. In one answer over a multiplexed connection come the objects in order, not interleaved: the page is complete at the
//! same moment.

mod statistics;

use crate::connections::Connections;
use crate::keys::TLS;
use crate::keys::{LONGEST_PAUSE, REQUEST, START, START_JITTER};
use crate::number;
use crate::pages::{Tokens, new_object, new_page};
use crate::tls::Tls;
use crate::{
    Application, ApplicationContext, ApplicationKind, ConnectionId, Distribution, Draw, End, Event, Interest, Law,
    Object, Page, Sampler,
};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::Mismatch;
use sojourn_keys::{origin, parameters, words};
use statistics::{GETS_PER_HOST, KILOBYTES_PER_GET, KILOBYTES_PER_HOST, Statistic};
use std::collections::VecDeque;

words! {
    /// How the objects of a host are asked for.
    pub enum Requests {
        /// the next request to a host leaves when the answer to the last one is complete
        OneByOne = "one-by-one",
        /// one answer of each host, of the sizes of all answers of a host
        Pipelined = "pipelined",
        /// all requests to a host at once, the objects of one-by-one
        Multiplexed = "multiplexed",
    }
}

words! {
    /// How a uniform draw becomes a value of the table.
    pub enum Lookup {
        /// on the lines between the deciles, from zero on
        Interpolated = "interpolated",
        /// one of the ten columns
        Step = "step",
    }
}

const MODEL: &str = "Akhtar 2013, Web Traffic Model";
const TABLE: &str = "Akhtar 2013, Google Stats for Web Traffic";

parameters! {
    /// Parameters of [`WebAkhtar`]; start from a named profile and change what differs.
    #[derive(Copy)]
    pub struct WebAkhtarConfig: "web-akhtar", "people who load web pages by the statistics of Akhtar 2013" {
        /// number of people, each with a browser
        users: u32 = 1, origin("Akhtar 2013, Traffic Loads: one to three").least("1").most("10000");
        /// hosts of a page, each a server
        hosts: u32 = 7, origin(TABLE).least("1").most("100");
        /// how the objects of a host are asked for
        requests: Requests = Requests::OneByOne, origin(MODEL);
        /// how a uniform draw becomes a value of the table
        lookup: Lookup = Lookup::Interpolated, origin("chosen: the lines give the printed 650 kB");
        /// sizes of the table are multiplied by this
        growth: f64 = 2.0, origin(TABLE).least("0.01").most("1000");
        /// time from the start of a page to that of the next, of one user
        gap: Distribution<Span> = Distribution::of(Law::Pareto { mean: Span::from_ms(8500), cv: 2.0 }),
            origin("Akhtar 2013, Traffic Loads; chosen: a coefficient of variation of 2");
        /// pauses are scaled as if a page had this many bytes on average, so that the load is the same however pages are drawn
        page_bytes: Option<Bytes> = Some(Bytes(650_000)),
            origin("Akhtar 2013, Traffic Loads: 650 kB").or("as-drawn").least("1 B").most("1 GB");
        /// an idle connection is closed after this
        keep_alive: Span = Span::from_s(20), origin(MODEL).least("1 ms").most(LONGEST_PAUSE).unit("s");
        #[native()]
        tls: Tls = Tls::Off, TLS, if |it| it.tls != Tls::Off;
        request: Bytes = Bytes(350), REQUEST;
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::from_ms(4250), START_JITTER;
    }
    profiles {
        /// Akhtar 2013: a page of 650 kB from seven hosts every 8.5 s
        AKHTAR2013 "akhtar2013" {}
    }
}

impl ApplicationKind for WebAkhtarConfig {
    fn build(&self) -> Box<dyn Application> {
        self.tls.secure(WebAkhtar::new(self))
    }

    fn servers(&self) -> usize {
        self.hosts as usize
    }

    fn flows(&self) -> u64 {
        u64::from(self.users).saturating_mul(u64::from(self.hosts))
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users).saturating_mul(u64::from(self.hosts)).saturating_mul(BYTES_OF_HOST)
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

impl WebAkhtarConfig {
    /// Bytes of a page on average.
    pub fn mean_page(&self) -> f64 {
        let mean = |statistic: &Statistic| statistic.mean(self.lookup);
        let host = match self.requests {
            Requests::Pipelined => mean(&KILOBYTES_PER_HOST),
            Requests::OneByOne | Requests::Multiplexed => mean(&GETS_PER_HOST) * mean(&KILOBYTES_PER_GET),
        };
        f64::from(self.hosts) * host * 1000.0 * self.growth
    }
}

/// People who load pages.
#[derive(Clone, Debug)]
pub struct WebAkhtar {
    config: WebAkhtarConfig,
    gaps: Sampler<Span>,
    /// Factor of pauses.
    stretch: f64,
    users: Vec<User>,
    connections: Connections<(usize, usize)>,
}

/// One user's browser.
#[derive(Clone, Debug)]
struct User {
    next_page: u32,
    hosts: Vec<Host>,
    /// Pages that are not complete, oldest first, and the objects they wait for.
    pages: VecDeque<(Page, u32)>,
}

/// State of one host.
#[derive(Clone, Debug, Default)]
struct Host {
    connection: Option<ConnectionId>,
    is_established: bool,
    /// Objects to come, oldest first; the first `asked` of them have been asked for.
    objects: VecDeque<Object>,
    asked: usize,
    /// Those of them that the server has answered.
    answered: usize,
    /// Bytes of requests and of answers, over this connection.
    requested: u64,
    answered_requests: u64,
    received: u64,
    idle_since: Option<Instant>,
}

/// Objects of a host, in memory. chosen: as many as the ring of a host has places after the mean page.
const OBJECTS: usize = 16;

/// Bytes of a host while a page is loaded.
const BYTES_OF_HOST: u64 = (size_of::<Host>() + OBJECTS * size_of::<Object>()) as u64;

impl WebAkhtar {
    /// The users of `config`, at rest until [`Application::start`].
    pub fn new(config: &WebAkhtarConfig) -> Self {
        let user = User { next_page: 0, hosts: vec![Host::default(); config.hosts as usize], pages: VecDeque::new() };
        Self {
            config: *config,
            gaps: config.gap.sampler(GAPS.0, GAPS.1),
            stretch: config.page_bytes.map_or(1.0, |bytes| config.mean_page() / bytes.0 as f64),
            users: vec![user; config.users as usize],
            connections: Connections::default(),
        }
    }

    /// The objects of a page, host by host.
    fn draw(&self, context: &mut dyn ApplicationContext) -> Vec<Vec<u64>> {
        let config = self.config;
        let size =
            |statistic: &Statistic, unit: f64| crate::whole(statistic.at(config.lookup, unit) * 1000.0 * config.growth);
        (0..config.hosts)
            .map(|_| match config.requests {
                Requests::Pipelined => vec![size(&KILOBYTES_PER_HOST, context.unit(Draw::Size))],
                Requests::OneByOne | Requests::Multiplexed => {
                    let gets = GETS_PER_HOST.at(config.lookup, context.unit(Draw::Size));
                    (0..crate::whole(gets)).map(|_| size(&KILOBYTES_PER_GET, context.unit(Draw::Size))).collect()
                }
            })
            .collect()
    }

    fn begin_page(&mut self, now: Instant, user: usize, context: &mut dyn ApplicationContext) {
        let sizes = self.draw(context);
        let state = &mut self.users[user];
        let page = new_page(now, number(user), state.next_page);
        state.next_page += 1;
        let objects = sizes.iter().map(Vec::len).sum();
        // So that a budget of memory is looked at in time.
        if !context.work(objects as u64) {
            return;
        }
        state.pages.push_back((page, number(objects)));
        for (host, sizes) in sizes.into_iter().enumerate() {
            let known = &mut state.hosts[host].objects;
            for (index, bytes) in sizes.into_iter().enumerate() {
                known.push_back(new_object(now, &page, (number(host), number(index)), bytes));
            }
        }
        for host in 0..self.config.hosts as usize {
            self.ask(now, user, host, context);
        }
        let gap = self.gaps.draw_number(Draw::Gap, context) * self.stretch;
        context.arm(now.saturating_add(Span::from_secs_f64(gap)), self.tokens().of(user, 0));
    }

    /// Ask a host for what may be asked for now.
    fn ask(&mut self, now: Instant, user: usize, host: usize, context: &mut dyn ApplicationContext) {
        let most = match self.config.requests {
            Requests::OneByOne | Requests::Pipelined => 1,
            Requests::Multiplexed => usize::MAX,
        };
        let state = &mut self.users[user].hosts[host];
        let wanted = state.objects.len().min(most);
        if wanted == 0 || (state.asked >= wanted && state.is_established) {
            return;
        }
        state.idle_since = None;
        let Some(connection) = state.connection else {
            let connection = context.open(host);
            state.connection = Some(connection);
            state.is_established = false;
            (state.requested, state.answered_requests, state.received) = (0, 0, 0);
            for object in state.objects.iter_mut().take(wanted) {
                object.started_at = now;
            }
            self.connections.insert(connection, (user, host));
            return;
        };
        if !state.is_established {
            return;
        }
        for object in state.objects.iter_mut().take(wanted).skip(state.asked) {
            // The first ones of a connection began with it.
            if state.requested > 0 {
                object.started_at = now;
            }
        }
        let requests = (wanted - state.asked) as u64;
        state.asked = wanted;
        state.requested += requests * self.config.request.0;
        context.write(connection, End::Client, requests * self.config.request.0);
    }

    /// A host has more requests.
    fn on_request(
        &mut self,
        connection: ConnectionId,
        (user, host): (usize, usize),
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        let request = self.config.request.0;
        let state = &mut self.users[user].hosts[host];
        let mut bytes = 0;
        while state.answered < state.asked && state.answered_requests + request <= total {
            state.answered_requests += request;
            bytes += state.objects[state.answered].bytes;
            state.answered += 1;
        }
        if bytes > 0 {
            context.write(connection, End::Server, bytes);
        }
    }

    /// A browser has more of an answer.
    fn on_answer(
        &mut self,
        now: Instant,
        (user, host): (usize, usize),
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        loop {
            let state = &mut self.users[user].hosts[host];
            if total <= state.received {
                break;
            }
            let Some(object) = state.objects.front_mut() else {
                break;
            };
            object.first_byte_at.get_or_insert(now);
            if total < state.received + object.bytes {
                break;
            }
            state.received += object.bytes;
            let object = Object { ended_at: Some(now), ..*object };
            state.objects.pop_front();
            state.asked -= 1;
            state.answered -= 1;
            context.record(&object);
            self.on_object(now, user, &object, context);
        }
        let state = &mut self.users[user].hosts[host];
        if state.objects.is_empty() {
            if state.idle_since.is_none() {
                state.idle_since = Some(now);
                let token = self.tokens().of(user, 1 + host);
                context.arm(now.saturating_add(self.config.keep_alive), token);
            }
        } else {
            self.ask(now, user, host, context);
        }
    }

    fn on_object(&mut self, now: Instant, user: usize, object: &Object, context: &mut dyn ApplicationContext) {
        let pages = &mut self.users[user].pages;
        let Some(at) = pages.iter().position(|(page, _)| page.index == object.page) else {
            return;
        };
        let (page, wanted) = &mut pages[at];
        page.objects += 1;
        page.bytes += object.bytes;
        if page.objects == *wanted {
            page.ended_at = Some(now);
            context.record(&*page);
            pages.remove(at);
        }
    }

    /// Nothing was asked for in a while.
    fn on_idle(&mut self, now: Instant, user: usize, host: usize, context: &mut dyn ApplicationContext) {
        let keep = self.config.keep_alive;
        let state = &mut self.users[user].hosts[host];
        let is_over = |since: Instant| now >= since.saturating_add(keep);
        if state.idle_since.is_some_and(is_over)
            && let Some(connection) = state.connection.take()
        {
            state.idle_since = None;
            self.connections.remove(connection);
            context.close(connection, End::Client);
        }
    }

    /// The connection is gone: what was asked for over it is asked for again.
    fn on_lost(&mut self, now: Instant, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        let Some((user, host)) = self.connections.remove(connection) else {
            return;
        };
        let state = &mut self.users[user].hosts[host];
        let began: Vec<Instant> = state.objects.iter().map(|object| object.started_at).collect();
        (state.connection, state.asked, state.answered) = (None, 0, 0);
        (state.is_established, state.idle_since) = (false, None);
        self.ask(now, user, host, context);
        // They keep the time of the first attempt.
        let state = &mut self.users[user].hosts[host];
        for (object, began) in state.objects.iter_mut().zip(began) {
            (object.started_at, object.first_byte_at) = (began, None);
        }
    }

    /// Timers carry the user and a kind: 0 for the next page, 1 + n for the idle connection to host n.
    const fn tokens(&self) -> Tokens {
        Tokens { kinds: 1 + self.config.hosts as usize }
    }
}

/// Shortest and longest pause between pages. chosen: no two at once, and longer than any run.
const GAPS: (Span, Span) = (Span::from_ms(1), Span::from_s(18_000_000));

impl Application for WebAkhtar {
    /// Objects are complete when they have been delivered.
    fn interest(&self) -> Interest {
        Interest { delivered: true, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for user in 0..self.users.len() {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            context.arm(now.saturating_add(delay), self.tokens().of(user, 0));
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(token) => match self.tokens().split(token) {
                (user, 0) => self.begin_page(now, user, context),
                (user, kind) => self.on_idle(now, user, kind - 1, context),
            },
            Event::Connected(connection, End::Client) => {
                if let Some(&mut (user, host)) = self.connections.get_mut(connection) {
                    self.users[user].hosts[host].is_established = true;
                    self.ask(now, user, host, context);
                }
            }
            Event::Delivered(connection, end, total) => {
                if let Some(&mut place) = self.connections.get_mut(connection) {
                    match end {
                        End::Server => self.on_request(connection, place, total, context),
                        End::Client => self.on_answer(now, place, total, context),
                    }
                }
            }
            Event::PeerClosed(connection, End::Server) => context.close(connection, End::Server),
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(now, connection, context);
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        let of_user = |user: &User| {
            let objects = user.hosts.iter().map(|host| crate::ring_bytes(&host.objects));
            crate::ring_bytes(&user.pages) + objects.sum::<usize>()
        };
        self.users.iter().map(of_user).sum::<usize>() + self.connections.bytes()
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for user in &self.users {
            for host in &user.hosts {
                for object in host.objects.iter().take(host.asked) {
                    context.record(object);
                }
            }
            for (page, _) in &user.pages {
                context.record(page);
            }
        }
    }
}

#[cfg(test)]
mod tests;
