//! Probes: small questions at a regular interval, and how long their answers take.
//!
//! Over datagrams, each question is an echo, as of irtt and `ping`. Over connections, each tick opens a new
//! connection, asks once over it and closes it (foreign probes), and asks once more over a connection that is
//! kept (self probes).
//!
//! Source: Flent's `tests/*` (a question every 200 ms over the whole test); draft-ietf-ippm-responsiveness,
//! section 4.3 (foreign and self probes).
//! Deviations: the kept connection bears no load of its own, where the draft asks over connections that do: behind a
//! single queue both wait alike, behind one queue per flow a connection with a load waits longer. There is no TLS.

use crate::connections::Connections;
use crate::keys::{LONGEST_PAUSE, START, START_JITTER};
use crate::{Application, ApplicationContext, ApplicationKind, ConnectionId, End, Event, Interest, Transfer};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{origin, parameters, words};
use std::collections::BTreeMap;

words! {
    /// Protocol of a probe's questions.
    pub enum ProbeOver {
        /// echoed datagrams, as of irtt and ping
        Datagrams = "datagrams",
        /// a new connection for each question, and one that is kept
        Connections = "connections",
    }
}

parameters! {
    /// Parameters of [`Probe`]; start from a named profile and change what differs.
    #[derive(Copy, Eq)]
    pub struct ProbeConfig: "probe", "small questions at a regular interval, and how long their answers take" {
        /// protocol of the questions
        over: ProbeOver = ProbeOver::Datagrams, origin("Flent: datagrams");
        /// length of an echoed datagram
        packet: Bytes = Bytes(64), origin("chosen: irtt's, 64 B").least("28 B").most("64 KiB");
        /// application bytes of a question over connections, and of its answer
        request: Bytes = Bytes(300), origin("chosen: the headers of an HTTP request").least("1 B").most("1 MB");
        /// time from question to question
        interval: Span = Span::from_ms(200), origin("Flent STEP_SIZE: 200 ms").least("1 ms").most("1 h");
        start: Span = Span::ZERO, START;
        // The phase is drawn from one interval, because Flent does not align it.
        start_jitter: Span = Span::from_ms(200), START_JITTER;
        /// start of the load that it watches; idle before
        loaded_from: Span = Span::from_s(5), origin("Flent DELAY: 5 s").most(LONGEST_PAUSE).unit("s");
        /// end of that load
        loaded_until: Option<Span> = None, origin("chosen: with the run").or("never").most(LONGEST_PAUSE);
    }
    profiles {
        /// Flent's pings: 64 B every 200 ms, the load from 5 s on
        FLENT "flent" {}
        /// draft-ietf-ippm-responsiveness: foreign and self probes every 100 ms
        /// (which allows at most 100 a second and 5 % of the capacity; chosen: ten, below that share from 1 Mb/s on)
        RESPONSIVENESS "responsiveness" {
            over = ProbeOver::Connections;
            interval = Span::from_ms(100);
            start_jitter = Span::from_ms(100);
        }
    }
}

impl ApplicationKind for ProbeConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Probe::new(self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        (self.over == ProbeOver::Datagrams).then_some(("packet", self.packet))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// The samples that a probe takes are transfers; their lane says of what.
impl ProbeConfig {
    /// From sending a datagram to its echo, or from asking for a connection to having it.
    pub const ROUND_TRIP: u32 = 0;
    /// From a question to its answer over a new connection.
    pub const FOREIGN: u32 = 1;
    /// The same over the kept connection.
    pub const OWN: u32 = 2;
}

/// A running probe.
#[derive(Clone, Debug)]
pub struct Probe {
    config: ProbeConfig,
    /// Send times of unanswered questions, by kind and number.
    waiting: BTreeMap<(u32, u32), Instant>,
    /// Number of the next question.
    next: u32,
    /// Connections of foreign questions, and their numbers.
    foreign: Connections<u32>,
    kept: Kept,
}

/// The connection that is kept.
#[derive(Clone, Debug, Default)]
struct Kept {
    connection: Option<ConnectionId>,
    is_established: bool,
    /// Answers written and answers that have come back, in whole answers.
    answered: u32,
    arrived: u32,
    /// Number of the first question over it.
    first: u32,
}

impl Probe {
    /// The probe of `config`, at rest until [`Application::start`].
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(config: &ProbeConfig) -> Self {
        assert!(!config.interval.is_zero(), "an interval of zero never ends asking");
        Self {
            config: *config,
            waiting: BTreeMap::new(),
            next: 0,
            foreign: Connections::default(),
            kept: Kept::default(),
        }
    }

    fn length(&self) -> u32 {
        u32::try_from(self.config.packet.0).unwrap_or(u32::MAX)
    }

    fn ask(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let number = self.next;
        self.next += 1;
        self.waiting.insert((ProbeConfig::ROUND_TRIP, number), now);
        match self.config.over {
            ProbeOver::Datagrams => {
                context.send_tagged_datagram(0, Direction::Upstream, self.length(), number);
            }
            ProbeOver::Connections => {
                let connection = context.open(0);
                self.foreign.insert(connection, number);
                self.ask_over_kept(now, number, context);
            }
        }
    }

    /// One question more over the kept connection, which the first one opens.
    fn ask_over_kept(&mut self, now: Instant, number: u32, context: &mut dyn ApplicationContext) {
        let Some(connection) = self.kept.connection else {
            self.kept = Kept { connection: Some(context.open(0)), first: number + 1, ..Kept::default() };
            return;
        };
        if !self.kept.is_established {
            self.kept.first = number + 1;
            return;
        }
        self.waiting.insert((ProbeConfig::OWN, number), now);
        context.write(connection, End::Client, self.config.request.0);
    }

    fn on_answer(&mut self, now: Instant, lane: u32, number: u32, context: &mut dyn ApplicationContext) {
        if let Some(started_at) = self.waiting.remove(&(lane, number)) {
            self.record(lane, number, started_at, Some(now), context);
        }
    }

    fn record(
        &self,
        lane: u32,
        index: u32,
        started_at: Instant,
        ended_at: Option<Instant>,
        context: &mut dyn ApplicationContext,
    ) {
        let bytes = match self.config.over {
            ProbeOver::Datagrams => self.config.packet.0,
            ProbeOver::Connections => self.config.request.0,
        };
        context.record(&Transfer { lane, index, started_at, ended_at, bytes });
    }

    fn on_connected(&mut self, now: Instant, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        if self.kept.connection == Some(connection) {
            self.kept.is_established = true;
        } else if let Some(&mut number) = self.foreign.get_mut(connection) {
            self.on_answer(now, ProbeConfig::ROUND_TRIP, number, context);
            self.waiting.insert((ProbeConfig::FOREIGN, number), now);
            context.await_delivered(connection, End::Server, self.config.request.0);
            context.await_delivered(connection, End::Client, self.config.request.0);
            context.write(connection, End::Client, self.config.request.0);
        }
    }

    fn on_delivered(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        end: End,
        total: u64,
        context: &mut dyn ApplicationContext,
    ) {
        let size = self.config.request.0;
        if self.kept.connection == Some(connection) {
            let whole = u32::try_from(total / size).unwrap_or(u32::MAX);
            match end {
                End::Server => {
                    while self.kept.answered < whole {
                        self.kept.answered += 1;
                        context.write(connection, End::Server, size);
                    }
                }
                End::Client => {
                    while self.kept.arrived < whole {
                        let number = self.kept.first + self.kept.arrived;
                        self.kept.arrived += 1;
                        self.on_answer(now, ProbeConfig::OWN, number, context);
                    }
                }
            }
            return;
        }
        let Some(&mut number) = self.foreign.get_mut(connection) else {
            return;
        };
        if total < size {
            return;
        }
        match end {
            End::Server => {
                context.write(connection, End::Server, size);
                context.close(connection, End::Server);
            }
            End::Client => {
                self.on_answer(now, ProbeConfig::FOREIGN, number, context);
                context.close(connection, End::Client);
            }
        }
    }

    fn on_lost(&mut self, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        if self.kept.connection == Some(connection) {
            self.kept = Kept::default();
        } else if let Some(number) = self.foreign.remove(connection) {
            for lane in [ProbeConfig::ROUND_TRIP, ProbeConfig::FOREIGN] {
                if let Some(started_at) = self.waiting.remove(&(lane, number)) {
                    self.record(lane, number, started_at, None, context);
                }
            }
        }
    }
}

impl Application for Probe {
    fn interest(&self) -> Interest {
        Interest { delivered: self.config.over == ProbeOver::Connections, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
        context.arm(now + delay, 0);
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(_) => {
                self.ask(now, context);
                context.arm(now + self.config.interval, 0);
            }
            Event::Datagram(End::Server, tag, _) => {
                context.send_tagged_datagram(0, Direction::Downstream, self.length(), tag);
            }
            Event::Datagram(End::Client, tag, _) => {
                self.on_answer(now, ProbeConfig::ROUND_TRIP, tag, context);
            }
            Event::Connected(connection, End::Client) => {
                self.on_connected(now, connection, context);
            }
            Event::Delivered(connection, end, total) => {
                self.on_delivered(now, connection, end, total, context);
            }
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(connection, context);
            }
            Event::Connected(..) | Event::Acknowledged(..) | Event::PeerClosed(..) | Event::Early(..) => {}
        }
    }

    fn bytes(&self) -> usize {
        self.waiting.len() * size_of::<((u32, u32), Instant)>() + self.foreign.bytes()
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for ((lane, number), started_at) in core::mem::take(&mut self.waiting) {
            self.record(lane, number, started_at, None, context);
        }
    }
}

#[cfg(test)]
mod tests;
