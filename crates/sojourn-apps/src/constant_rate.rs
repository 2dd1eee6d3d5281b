//! Constant-rate streams: packets at intervals, independent of their fate; mostly of one size at one interval.
//!
//! One model covers the voice call, the game stream that the 2013 study reads from the same packets,
//! and unresponsive constant-bit-rate traffic.
//!
//! A listener whose buffer follows the delay may play a call, beside the fixed rule of its score.
//!
//! Source: White 2012 3.2.2 (voice) and 3.2.1 scenario 4 (constant bit rate), White 2013 3.6 and 3.7.
//! Deviations: none known.

mod playout;
mod streams;

pub(crate) use streams::Streams;
pub use streams::{INTERVALS, IntervalMode, PACKETS, StreamConfig};

use playout::Listener;

use crate::keys::{DIRECTION, LONGEST_PAUSE, START, START_JITTER};
use crate::{Application, ApplicationConfig, ApplicationContext, ApplicationKind, Distribution, Event, Interest};
use sojourn_base::native::IN_TAB;
use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Key, Kind, Mismatch, Parameter, Visitor, key, origin, parameters, words};

/// Key of a packet's length.
pub(crate) const fn packet(from: &'static str) -> Key {
    origin(from).least("20 B").most("64 KiB")
}

/// Key of the time between packets.
pub(crate) const fn interval(from: &'static str) -> Key {
    origin(from).least("1 us").most("1 h")
}

/// How a drawn interval sets packet times.
pub(crate) const INTERVAL_MODE: Key =
    key("interval_mode", "how a drawn interval sets packet times", "docsis-ns3: a grid");

parameters! {
    /// Parameters of [`ConstantRate`]; start from a named profile and change what differs.
    ///
    /// The defaults are 1 Mb/s without congestion control (White 2012 3.2.1, scenario 4; White 2013 3.7). Chosen: 1000 B,
    /// because the packet size is not printed and this gives a whole number of packets a second; the start is drawn from
    /// one interval, because the source gives no phase relative to the call.
    #[derive(Copy)]
    pub struct ConstantRateConfig: "constant-rate", "datagrams of one size at one interval" {
        direction: Direction = Direction::Upstream, DIRECTION;
        /// length of a packet as the access link counts it
        packet: Distribution<Bytes> = Distribution::Constant(Bytes(1000)),
            packet("White 2012 §3.2.2; chosen for 1 Mb/s: 1000 B");
        /// time from packet to packet
        /// (longer than zero)
        interval: Distribution<Span> = Distribution::Constant(Span::from_ms(8)), interval("White 2012 §3.2.2");
        // The mode has no effect on constant intervals, but an explicit one is printed.
        interval_mode: IntervalMode = IntervalMode::JitterGrid, INTERVAL_MODE,
            if |it| matches!(it.interval, Distribution::Random(..)) || it.interval_mode != Self::BASE.interval_mode;
        /// number of streams, each to a server of its own
        lanes: u32 = 1, origin("White 2012 §3.3: one").least("1").most("10000");
        /// whether a call's score makes sense for it
        is_call: bool = false, origin("White 2012 §3.2.2: for voice; White 2013 §4.1 gives none for games");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::from_ms(8), START_JITTER;
        /// stop time; packets already sent still arrive
        stop: Option<Span> = None => stop;
        /// how the listener of a call plays it
        playout: Playout = Playout::Fixed => playout;
    }
    profiles {
        /// White 2012 §3.2.2: G.711, 218 B every 20 ms
        ///
        /// One direction of a call, 87.2 kb/s. The packet is 160 B of voice under 12 B RTP, 8 B UDP, 20 B IP and 18 B
        /// Ethernet (White 2013 3.6).
        VOICE "voice" {
            packet = Distribution::Constant(Bytes(218));
            interval = Distribution::Constant(Span::from_ms(20));
            is_call = true;
            start_jitter = Span::ZERO;
        }
        /// White 2012 §3.2.1: 1 Mb/s; 1000 B every 8 ms
        ONE_MEGABIT "one-megabit" {}
    }
}

words! {
    /// How the listener of a call plays it.
    pub enum Playout {
        /// a packet that comes 60 ms later than the fastest is late
        Fixed = "fixed",
        /// besides, a listener whose buffer follows the delay
        Adaptive = "adaptive",
    }
}

/// No lesson stops a stream or plays one adaptively, and the engine of browsers is small.
fn stop(stop: &mut Option<Span>, visitor: &mut dyn Visitor) {
    const STOP: Key = key("stop", "stop time; packets already sent still arrive", "chosen: with the run")
        .or("never")
        .least("1 ms")
        .most(LONGEST_PAUSE);
    let is_said = stop.is_some() || visitor.has(STOP.name) || visitor.is_exhaustive();
    if !IN_TAB && is_said {
        stop.show(STOP, visitor);
    }
}

fn playout(playout: &mut Playout, visitor: &mut dyn Visitor) {
    const PLAYOUT: Key =
        key("playout", "how the listener of a call plays it", "White 2012 §3.2.2: fixed; White 2013 §4.3 names others");
    let is_said = *playout != Playout::Fixed || visitor.has(PLAYOUT.name) || visitor.is_exhaustive();
    if !IN_TAB && is_said {
        playout.show(PLAYOUT, visitor);
    }
}

impl ConstantRateConfig {
    /// One direction of a game, which White 2013 3.6 reads from the packets of the call.
    pub const GAME: Self = Self { is_call: false, ..Self::VOICE };

    /// Length and interval of the packets.
    pub const fn stream(&self) -> StreamConfig {
        StreamConfig { packet: self.packet, interval: self.interval }
    }
}

impl ApplicationKind for ConstantRateConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(ConstantRate::new(self))
    }

    fn servers(&self) -> usize {
        self.lanes as usize
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.stream().longest()))
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

    fn problems(&self, _duration: Span) -> Vec<(&'static str, Mismatch)> {
        let mut problems = Vec::new();
        if IN_TAB {
            return problems; // there are no such keys
        }
        if let Some(stop) = self.stop.filter(|stop| *stop <= self.start) {
            let message = format!("{stop} is not after start ({})", self.start);
            problems.push(("stop", Mismatch::new(message, "a later time")));
        }
        if self.playout == Playout::Adaptive && !self.is_call {
            let message = "\"adaptive\" is how calls are played";
            problems.push(("playout", Mismatch::new(message, "is_call = true")));
        }
        // At 50 packets a second, the numbers of this many calls last two months.
        if self.playout == Playout::Adaptive && self.lanes > 16 {
            let message = format!("{} calls are too many to be played adaptively", self.lanes);
            problems.push(("lanes", Mismatch::new(message, "at most 16, and another entry")));
        }
        problems
    }
}

/// The call has a word of its own.
pub(crate) const VOICE: Kind<ApplicationConfig> = Kind {
    name: "voice",
    about: "one direction of a telephone call: constant-rate with the values of G.711",
    base: || ConstantRateConfig::VOICE.into(),
    profiles: &[],
    keys: |application, visitor| {
        if let Some(config) = application.get_mut::<ConstantRateConfig>() {
            config.keys(visitor);
        }
    },
};

/// And so has the game.
pub(crate) const GAME: Kind<ApplicationConfig> = Kind {
    name: "game",
    about: "one direction of a game: constant-rate with the packets of a call (White 2013 §3.6)",
    base: || ConstantRateConfig::GAME.into(),
    profiles: &[],
    keys: |application, visitor| {
        if let Some(config) = application.get_mut::<ConstantRateConfig>() {
            config.keys(visitor);
        }
    },
};

/// Constant-rate streams.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    config: ConstantRateConfig,
    streams: Streams,
    /// Of each call, if their playout adapts.
    listeners: Vec<Listener>,
}

impl ConstantRate {
    /// The streams of `config`, at rest until [`Application::start`].
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(config: &ConstantRateConfig) -> Self {
        assert!(config.interval != Distribution::Constant(Span::ZERO), "an interval of zero never ends sending");
        let streams = Streams::new(&config.stream(), config.direction, config.interval_mode, config.lanes);
        let listeners = match config.playout {
            Playout::Fixed => 0,
            Playout::Adaptive => config.lanes,
        };
        Self { config: *config, streams, listeners: vec![Listener::default(); listeners as usize] }
    }

    /// The listener of a call, if its playout adapts.
    fn listener(&mut self, lane: u32) -> Option<&mut Listener> {
        let listeners = (!IN_TAB).then_some(&mut self.listeners);
        listeners?.get_mut(lane as usize)
    }
}

impl Application for ConstantRate {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for lane in 0..self.config.lanes {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let at = self.streams.first(now + delay, lane as usize, context);
            context.arm(at, lane);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(lane) => {
                let stops = self.config.stop.map(|stop| Instant::ZERO + stop);
                if stops.is_some_and(|at| now >= at) {
                    return;
                }
                let lanes = self.config.lanes;
                // Tag of a packet: its call, and its number there.
                let tag = self.listener(lane);
                let tag = tag.map(|listener| listener.on_sent(now) * lanes + lane);
                let next = self.streams.send_tagged(now, lane as usize, tag, context);
                context.arm(next, lane);
            }
            Event::Datagram(_, tag, _) => {
                let (number, lane) = (tag / self.config.lanes, tag % self.config.lanes);
                if let Some(listener) = self.listener(lane) {
                    listener.on_arrival(now, number);
                }
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.listeners.iter().map(Listener::bytes).sum()
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for lane in 0..self.config.lanes {
            let direction = self.config.direction;
            if let Some(listener) = self.listener(lane) {
                context.record(&listener.played(lane, direction));
            }
        }
    }
}

#[cfg(test)]
mod tests;
