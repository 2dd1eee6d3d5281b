//! Online games: small packets both ways between a player and a server, as regular as the game's clock.
//!
//! Source: White 2019 section 4.1 and Appendix B; the program docsis-ns3 (`helper/docsis-helper.cc`) for its own
//! parameters.
//! Deviations: sizes are rounded to the nearest byte; the program cuts fractions off, half a byte less on average.

use crate::constant_rate::{INTERVAL_MODE, IntervalMode, StreamConfig, Streams, interval, packet};
use crate::keys::{START, START_JITTER};
use crate::{Application, ApplicationContext, ApplicationKind, Distribution, Event, Interest, Law};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{origin, parameters};

const ORIGIN: &str = "White 2019 Appendix B";

parameters! {
    /// Parameters of [`Game`]; start from a named profile and change what differs. Each session has packets both ways.
    ///
    /// The printed standard deviation of 20 B downstream is probably a slip for 120 B, because the bounds of 32 and 832 B
    /// make sense for that only. The grid is how the authors' program reads "inter-arrival times".
    #[derive(Copy)]
    pub struct GameConfig: "online-game", "small packets both ways, as regular as the clock of a game" {
        /// number of sessions, each with a server of its own
        lanes: u32 = 1, origin("White 2019 §4.1: one; §4.5: up to 100").least("1").most("10000");
        /// length of a packet from the player
        up_packet: Distribution<Bytes> = Distribution::between(normal_bytes(110, 20), Bytes(32), Bytes(188)),
            packet(ORIGIN);
        /// time between packets from the player
        up_interval: Distribution<Span> = ticking(3), interval(ORIGIN);
        /// length of a packet to the player
        down_packet: Distribution<Bytes> = Distribution::between(normal_bytes(432, 20), Bytes(32), Bytes(832)),
            packet(ORIGIN);
        /// time between packets to the player
        down_interval: Distribution<Span> = ticking(5), interval(ORIGIN);
        interval_mode: IntervalMode = IntervalMode::JitterGrid, INTERVAL_MODE;
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
    profiles {
        /// White 2019 Appendix B, as printed
        WHITE2019 "white2019" {}
        /// what the authors' program runs: no jitter upstream, 120 B of deviation downstream
        /// (docsis-ns3; there is no greatest size)
        DOCSIS_NS3 "docsis-ns3" {
            up_packet = Distribution::at_least(normal_bytes(110, 20), Bytes(32));
            up_interval = Distribution::Constant(TICK);
            down_packet = Distribution::at_least(normal_bytes(432, 120), Bytes(32));
        }
    }
}

const TICK: Span = Span::from_ms(33);

const fn normal_bytes(mean: u64, sd: u64) -> Law<Bytes> {
    Law::Normal { mean: Bytes(mean), sd: Bytes(sd) }
}

const fn ticking(sd_ms: u64) -> Distribution<Span> {
    Distribution::of(Law::Normal { mean: TICK, sd: Span::from_ms(sd_ms) })
}

impl GameConfig {
    /// Returns the streams of player and server.
    fn streams(&self) -> (StreamConfig, StreamConfig) {
        let up = StreamConfig { packet: self.up_packet, interval: self.up_interval };
        let down = StreamConfig { packet: self.down_packet, interval: self.down_interval };
        (up, down)
    }
}

impl ApplicationKind for GameConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Game::new(self))
    }

    fn servers(&self) -> usize {
        self.lanes as usize
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        let (up, down) = self.streams();
        let (up, down) = (up.longest(), down.longest());
        Some(if up > down { ("up_packet", up) } else { ("down_packet", down) })
    }

    fn flows(&self) -> u64 {
        2 * u64::from(self.lanes)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// Sessions of a game.
#[derive(Clone, Debug)]
pub struct Game {
    lanes: u32,
    start: Span,
    start_jitter: Span,
    up: Streams,
    down: Streams,
}

impl Game {
    /// The sessions of `config`, at rest until [`Application::start`].
    pub fn new(config: &GameConfig) -> Self {
        let streams = |stream, direction| Streams::new(stream, direction, config.interval_mode, config.lanes);
        let (up, down) = config.streams();
        Self {
            lanes: config.lanes,
            start: config.start,
            start_jitter: config.start_jitter,
            up: streams(&up, Direction::Upstream),
            down: streams(&down, Direction::Downstream),
        }
    }

    /// The streams that a timer's token belongs to, and the session.
    fn of_token(&mut self, token: u32) -> (&mut Streams, usize) {
        let streams = if token.is_multiple_of(2) { &mut self.up } else { &mut self.down };
        (streams, (token / 2) as usize)
    }
}

impl Application for Game {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for token in 0..2 * self.lanes {
            let delay = crate::jittered(self.start, self.start_jitter, context);
            let (streams, session) = self.of_token(token);
            let at = streams.first(now + delay, session, context);
            context.arm(at, token);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        if let Event::Timer(token) = event {
            let (streams, session) = self.of_token(token);
            let next = streams.send(now, session, context);
            context.arm(next, token);
        }
    }

    fn bytes(&self) -> usize {
        0 // packets are forgotten when they leave
    }

    fn finish(&mut self, _now: Instant, _context: &mut dyn ApplicationContext) {}
}

#[cfg(test)]
mod tests;
