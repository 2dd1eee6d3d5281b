//! Constant-rate streams: packets at intervals, whatever becomes of them; mostly of one size at one interval.
//!
//! One model covers the voice call, the game stream that the 2013 study reads from the same packets,
//! and unresponsive constant-bit-rate traffic.
//!
//! Source: White 2012 3.2.2 (voice) and 3.2.1 scenario 4 (constant bit rate), White 2013 3.6 and 3.7.
//! Deviations: none known.

mod streams;

pub(crate) use streams::{INTERVAL_MODES, Streams};
pub use streams::{INTERVALS, IntervalMode, PACKETS, StreamConfig};

use crate::keys::{direction_key, start_keys};
use crate::{
    Application, ApplicationConfig, ApplicationContext, ApplicationKind, Distribution, Event,
    Interest,
};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Configured, Key, Kind, Profile, Visitor, Words, key};

/// Parameters of [`ConstantRate`]; start from a named profile and change what differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantRateConfig {
    /// Which way the packets go.
    pub direction: Direction,
    /// Length and interval of the packets.
    pub stream: StreamConfig,
    /// What an interval that is drawn says about the times of packets.
    pub interval_mode: IntervalMode,
    /// Number of streams; stream n talks to server n.
    pub lanes: u32,
    /// When the streams start.
    pub start: Span,
    /// Each stream starts later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
    /// Whether a telephone call's score makes sense for it.
    pub is_call: bool,
}

/// So many bytes at an interval of so many milliseconds.
const fn fixed(bytes: u64, ms: u64) -> StreamConfig {
    StreamConfig {
        packet: Distribution::Constant(Bytes(bytes)),
        interval: Distribution::Constant(Span::from_ms(ms)),
    }
}

/// The key of a packet's length.
pub(crate) const fn packet_key(
    name: &'static str,
    about: &'static str,
    origin: &'static str,
) -> Key {
    key(name, about, origin).least("20 B").most("64 KiB")
}

/// The key of the time between packets.
pub(crate) const fn interval_key(
    name: &'static str,
    about: &'static str,
    origin: &'static str,
) -> Key {
    key(name, about, origin).least("1 us").most("1 h")
}

impl ConstantRateConfig {
    /// One direction of a G.711 call: 218 B every 20 ms, 87.2 kb/s (White 2012 3.2.2; White 2013 3.6).
    /// The packet is 160 B of voice under 12 B RTP, 8 B UDP, 20 B IP and 18 B Ethernet.
    pub const VOICE: Self = Self {
        direction: Direction::Upstream,
        stream: fixed(218, 20),
        interval_mode: IntervalMode::JitterGrid,
        lanes: 1,
        start: Span::ZERO,
        start_jitter: Span::ZERO,
        is_call: true,
    };
    /// One direction of a game, which White 2013 3.6 reads from the packets of the call.
    pub const GAME: Self = Self {
        is_call: false,
        ..Self::VOICE
    };
    /// 1 Mb/s without congestion control (White 2012 3.2.1, scenario 4; White 2013 3.7). Chosen: 1000 B,
    /// because the packet size is not printed and this gives a whole number of packets a second; the
    /// start is drawn from one interval, because the source gives no phase relative to the call.
    pub const ONE_MEGABIT: Self = Self {
        stream: fixed(1000, 8),
        start_jitter: Span::from_ms(8),
        is_call: false,
        ..Self::VOICE
    };
}

impl Configured for ConstantRateConfig {
    const KIND: &'static str = "constant-rate";
    const ABOUT: &'static str = "datagrams of one size at one interval";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "voice",
            about: "White 2012 §3.2.2: G.711, 218 B every 20 ms",
            values: || Self::VOICE,
        },
        Profile {
            name: "one-megabit",
            about: "White 2012 §3.2.1: 1 Mb/s; 1000 B every 8 ms",
            values: || Self::ONE_MEGABIT,
        },
    ];

    fn base() -> Self {
        Self::ONE_MEGABIT
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        direction_key(&mut self.direction, visitor);
        visitor.value(
            packet_key(
                "packet",
                "length of a packet as the access link counts it",
                "White 2012 §3.2.2; chosen for 1 Mb/s: 1000 B",
            ),
            &mut self.stream.packet,
        );
        visitor.value(
            interval_key(
                "interval",
                "time from packet to packet",
                "White 2012 §3.2.2",
            ),
            &mut self.stream.interval,
        );
        // It says nothing of constant intervals; what was said of them all the same is printed.
        let matters = matches!(self.stream.interval, Distribution::Random(..))
            || self.interval_mode != Self::ONE_MEGABIT.interval_mode;
        if matters || visitor.has("interval_mode") || visitor.is_exhaustive() {
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
        }
        visitor.value(
            key(
                "lanes",
                "number of streams, each to a server of its own",
                "White 2012 §3.3: one",
            )
            .least("1")
            .most("10000"),
            &mut self.lanes,
        );
        visitor.value(
            key(
                "is_call",
                "whether a call's score makes sense for it",
                "White 2012 §3.2.2: for voice; White 2013 §4.1 gives none for games",
            ),
            &mut self.is_call,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

impl ApplicationKind for ConstantRateConfig {
    type Application = ConstantRate;

    fn build(&self) -> ConstantRate {
        ConstantRate::new(self)
    }

    fn servers(&self) -> usize {
        self.lanes as usize
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.stream.longest()))
    }

    fn flows(&self) -> u64 {
        u64::from(self.lanes)
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// The call has a word of its own.
pub(crate) const VOICE: Kind<ApplicationConfig> = Kind {
    name: "voice",
    about: "one direction of a telephone call: constant-rate with the values of G.711",
    base: || ApplicationConfig::ConstantRate(ConstantRateConfig::VOICE),
    profiles: &[],
    keys: |application, visitor| {
        if let ApplicationConfig::ConstantRate(config) = application {
            config.keys(visitor);
        }
    },
};

/// And so has the game.
pub(crate) const GAME: Kind<ApplicationConfig> = Kind {
    name: "game",
    about: "one direction of a game: constant-rate with the packets of a call (White 2013 §3.6)",
    base: || ApplicationConfig::ConstantRate(ConstantRateConfig::GAME),
    profiles: &[],
    keys: |application, visitor| {
        if let ApplicationConfig::ConstantRate(config) = application {
            config.keys(visitor);
        }
    },
};

/// Constant-rate streams.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    config: ConstantRateConfig,
    streams: Streams,
}

impl ConstantRate {
    /// The streams of `config`, at rest until [`Application::start`].
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(config: &ConstantRateConfig) -> Self {
        assert!(
            config.stream.interval != Distribution::Constant(Span::ZERO),
            "an interval of zero never ends sending"
        );
        let streams = Streams::new(
            &config.stream,
            config.direction,
            config.interval_mode,
            config.lanes,
        );
        Self {
            config: *config,
            streams,
        }
    }
}

impl Application for ConstantRate {
    fn interest(&self) -> Interest {
        Interest {
            delivered: false,
            acknowledged: false,
        }
    }

    fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        for lane in 0..self.config.lanes {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let at = self.streams.first(now + delay, lane as usize, context);
            context.arm(at, lane);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
        if let Event::Timer(lane) = event {
            let next = self.streams.send(now, lane as usize, context);
            context.arm(next, lane);
        }
    }

    fn finish(&mut self, _now: Instant, _context: &mut impl ApplicationContext) {}
}

#[cfg(test)]
mod tests;
