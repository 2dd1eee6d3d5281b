//! Online games: small packets both ways between a player and a server, as regular as the game's clock.
//!
//! Source: White 2019 section 4.1 and Appendix B; the program docsis-ns3 (`helper/docsis-helper.cc`) for what it runs
//! instead.
//! Deviations: sizes are rounded to the nearest byte; the program cuts fractions off, half a byte less on average.

use crate::constant_rate::{
    INTERVAL_MODES, IntervalMode, StreamConfig, Streams, interval_key, packet_key,
};
use crate::keys::start_keys;
use crate::{Application, ApplicationContext, ApplicationKind, Distribution, Event, Interest, Law};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Configured, Profile, Visitor, Words, key};

/// Parameters of [`Game`]; start from a named profile and change what differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameConfig {
    /// Number of sessions; each has packets both ways, and session n is with server n.
    pub lanes: u32,
    /// What the player sends.
    pub up: StreamConfig,
    /// What the server sends.
    pub down: StreamConfig,
    /// What an interval that is drawn says about the times of packets.
    pub interval_mode: IntervalMode,
    /// When the sessions start.
    pub start: Span,
    /// Each direction of each session starts later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
}

const TICK: Span = Span::from_ms(33);

const fn normal_bytes(mean: u64, sd: u64) -> Law<Bytes> {
    Law::Normal {
        mean: Bytes(mean),
        sd: Bytes(sd),
    }
}

const fn ticking(sd_ms: u64) -> Distribution<Span> {
    Distribution::of(Law::Normal {
        mean: TICK,
        sd: Span::from_ms(sd_ms),
    })
}

impl GameConfig {
    /// As printed: 110 B up and 432 B down each 33 ms (White 2019 Appendix B). The printed standard deviation of 20 B
    /// downstream is probably a slip for 120 B, because the bounds of 32 and 832 B make sense for that only. The grid is
    /// how the authors' program reads "inter-arrival times".
    pub const WHITE2019: Self = Self {
        lanes: 1,
        up: StreamConfig {
            packet: Distribution::between(normal_bytes(110, 20), Bytes(32), Bytes(188)),
            interval: ticking(3),
        },
        down: StreamConfig {
            packet: Distribution::between(normal_bytes(432, 20), Bytes(32), Bytes(832)),
            interval: ticking(5),
        },
        interval_mode: IntervalMode::JitterGrid,
        start: Span::ZERO,
        start_jitter: Span::ZERO,
    };
    /// As the authors' public program (docsis-ns3) runs it: no jitter upstream, 120 B downstream, no greatest size.
    pub const DOCSIS_NS3: Self = Self {
        up: StreamConfig {
            packet: Distribution::at_least(normal_bytes(110, 20), Bytes(32)),
            interval: Distribution::Constant(TICK),
        },
        down: StreamConfig {
            packet: Distribution::at_least(normal_bytes(432, 120), Bytes(32)),
            interval: ticking(5),
        },
        ..Self::WHITE2019
    };
}

impl Configured for GameConfig {
    const KIND: &'static str = "online-game";
    const ABOUT: &'static str = "small packets both ways, as regular as the clock of a game";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2019",
            about: "White 2019 Appendix B, as printed",
            values: || Self::WHITE2019,
        },
        Profile {
            name: "docsis-ns3",
            about: "what the authors' program runs: no jitter upstream, 120 B of deviation downstream",
            values: || Self::DOCSIS_NS3,
        },
    ];

    fn base() -> Self {
        Self::WHITE2019
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        const ORIGIN: &str = "White 2019 Appendix B";
        visitor.value(
            key(
                "lanes",
                "number of sessions, each with a server of its own",
                "White 2019 §4.1: one; §4.5: up to 100",
            )
            .least("1")
            .most("10000"),
            &mut self.lanes,
        );
        visitor.value(
            packet_key("up_packet", "length of a packet from the player", ORIGIN),
            &mut self.up.packet,
        );
        visitor.value(
            interval_key(
                "up_interval",
                "time between packets from the player",
                ORIGIN,
            ),
            &mut self.up.interval,
        );
        visitor.value(
            packet_key("down_packet", "length of a packet to the player", ORIGIN),
            &mut self.down.packet,
        );
        visitor.value(
            interval_key(
                "down_interval",
                "time between packets to the player",
                ORIGIN,
            ),
            &mut self.down.interval,
        );
        visitor.value(
            key(
                "interval_mode",
                "what a drawn interval says about the times of packets",
                "docsis-ns3: a grid",
            ),
            &mut Words {
                value: &mut self.interval_mode,
                words: &INTERVAL_MODES,
            },
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

impl ApplicationKind for GameConfig {
    type Application = Game;

    fn build(&self) -> Game {
        Game::new(self)
    }

    fn servers(&self) -> usize {
        self.lanes as usize
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        let (up, down) = (self.up.longest(), self.down.longest());
        Some(if up > down {
            ("up_packet", up)
        } else {
            ("down_packet", down)
        })
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
        let streams =
            |stream, direction| Streams::new(stream, direction, config.interval_mode, config.lanes);
        Self {
            lanes: config.lanes,
            start: config.start,
            start_jitter: config.start_jitter,
            up: streams(&config.up, Direction::Upstream),
            down: streams(&config.down, Direction::Downstream),
        }
    }

    /// The streams that a timer's token belongs to, and the session.
    fn of_token(&mut self, token: u32) -> (&mut Streams, usize) {
        let streams = if token.is_multiple_of(2) {
            &mut self.up
        } else {
            &mut self.down
        };
        (streams, (token / 2) as usize)
    }
}

impl Application for Game {
    fn interest(&self) -> Interest {
        Interest {
            delivered: false,
            acknowledged: false,
        }
    }

    fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        for token in 0..2 * self.lanes {
            let delay = crate::jittered(self.start, self.start_jitter, context);
            let (streams, session) = self.of_token(token);
            let at = streams.first(now + delay, session, context);
            context.arm(at, token);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
        if let Event::Timer(token) = event {
            let (streams, session) = self.of_token(token);
            let next = streams.send(now, session, context);
            context.arm(next, token);
        }
    }

    fn finish(&mut self, _now: Instant, _context: &mut impl ApplicationContext) {}
}

#[cfg(test)]
mod tests;
