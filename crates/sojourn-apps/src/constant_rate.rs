//! Constant-rate streams: a packet of fixed size at fixed intervals, whatever becomes of it.
//!
//! One model covers the voice call, the game stream that the 2013 study reads from the same packets,
//! and unresponsive constant-bit-rate traffic.
//!
//! Source: White 2012 3.2.2 (voice) and 3.2.1 scenario 4 (constant bit rate), White 2013 3.6 and 3.7.
//! Deviations: none known.

use crate::keys::{direction_key, start_keys};
use crate::{Application, ApplicationConfig, ApplicationContext, ApplicationKind, Event, Interest};
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Configured, Kind, Profile, Visitor, key};

/// Parameters of [`ConstantRate`]; start from a named profile and change what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantRateConfig {
    /// Which way the packets go.
    pub direction: Direction,
    /// Length of a packet as the network counts it, at most 4 GB.
    pub packet: Bytes,
    /// Time from packet to packet, longer than zero.
    pub interval: Span,
    /// Number of streams; stream n talks to server n.
    pub lanes: u32,
    /// When the streams start.
    pub start: Span,
    /// Each stream starts later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
    /// Whether a telephone call's score makes sense for it.
    pub is_call: bool,
}

impl ConstantRateConfig {
    /// One direction of a G.711 call: 218 B every 20 ms, 87.2 kb/s (White 2012 3.2.2; White 2013 3.6).
    /// The packet is 160 B of voice under 12 B RTP, 8 B UDP, 20 B IP and 18 B Ethernet.
    pub const VOICE: Self = Self {
        direction: Direction::Upstream,
        packet: Bytes(218),
        interval: Span::from_ms(20),
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
        packet: Bytes(1000),
        interval: Span::from_ms(8),
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
            key(
                "packet",
                "length of a packet as the access link counts it",
                "White 2012 §3.2.2; chosen for 1 Mb/s: 1000 B",
            )
            .least("20 B")
            .most("64 KiB"),
            &mut self.packet,
        );
        visitor.value(
            key(
                "interval",
                "time from packet to packet",
                "White 2012 §3.2.2",
            )
            .least("1 us")
            .most("1 h"),
            &mut self.interval,
        );
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
        Some(("packet", self.packet))
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
    length: u32,
}

impl ConstantRate {
    /// The streams of `config`, at rest until [`Application::start`].
    ///
    /// # Panics
    /// If the interval is zero or the packet is longer than 4 GB.
    pub fn new(config: &ConstantRateConfig) -> Self {
        assert!(
            !config.interval.is_zero(),
            "an interval of zero never ends sending"
        );
        let length = u32::try_from(config.packet.0).expect("a packet is shorter than 4 GB");
        Self {
            config: *config,
            length,
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
            context.arm(now + delay, lane);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
        if let Event::Timer(lane) = event {
            context.send_datagram(lane as usize, self.config.direction, self.length);
            context.arm(now + self.config.interval, lane);
        }
    }

    fn finish(&mut self, _now: Instant, _context: &mut impl ApplicationContext) {}
}

#[cfg(test)]
mod tests;
