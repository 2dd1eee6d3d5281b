//! Equal streams of datagrams in one direction: when each packet leaves, and how long it is.
//!
//! Source: White 2019 Appendix B (packets of a game: normal sizes and times between them), and the public program that the
//! paper describes (docsis-ns3), which moves each packet off a regular grid.
//! Deviations: none known.

use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::words;

use crate::{ApplicationContext, Distribution, Draw, Sampler};

/// Shortest and longest packet. Source: RFC 791: a header alone, and what its length field can say.
pub const PACKETS: (Bytes, Bytes) = (Bytes(20), Bytes(65_536));

/// Shortest and longest interval. chosen: a million packets a second, and one in an hour.
pub const INTERVALS: (Span, Span) = (Span::from_us(1), Span::from_s(3600));

words! {
    /// How a drawn interval sets packet times.
    pub enum IntervalMode {
        /// regular ticks, and each packet off its own by as much as its draw differs from the median
        ///
        /// Ticks come at the median of the interval; no packet leaves before the one ahead of it. The phase does not wander.
        JitterGrid = "jitter-grid",
        /// each interval drawn anew
        Renewal = "renewal",
    }
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamConfig {
    /// Length of a packet as the network counts it.
    pub packet: Distribution<Bytes>,
    /// Time from packet to packet, longer than zero.
    pub interval: Distribution<Span>,
}

impl StreamConfig {
    /// The longest packet that there will be.
    pub fn longest(&self) -> Bytes {
        self.packet.greatest().min(PACKETS.1)
    }
}

/// Streams of one direction, each with its own server.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    direction: Direction,
    packet: Sampler<Bytes>,
    interval: Sampler<Span>,
    mode: IntervalMode,
    /// The time from tick to tick.
    median: Span,
    /// The present or last tick of each stream.
    ticks: Vec<Instant>,
}

impl Streams {
    /// Streams of this number, at rest.
    pub(crate) fn new(config: &StreamConfig, direction: Direction, mode: IntervalMode, count: u32) -> Self {
        Self {
            direction,
            packet: config.packet.sampler(PACKETS.0, PACKETS.1),
            interval: config.interval.sampler(INTERVALS.0, INTERVALS.1),
            mode,
            median: config.interval.median().clamp(INTERVALS.0, INTERVALS.1),
            ticks: vec![Instant::ZERO; count as usize],
        }
    }

    /// Returns the time of the first packet of `stream`, whose first tick is at `at`.
    pub(crate) fn first(&mut self, at: Instant, stream: usize, context: &mut dyn ApplicationContext) -> Instant {
        self.ticks[stream] = at;
        match (self.mode, self.interval) {
            (IntervalMode::Renewal, _) | (_, Sampler::Constant(_)) => at,
            (IntervalMode::JitterGrid, _) => self.near_tick(stream, context).max(at),
        }
    }

    /// Sends a packet of `stream`; when the next one leaves.
    pub(crate) fn send(&mut self, now: Instant, stream: usize, context: &mut dyn ApplicationContext) -> Instant {
        self.send_tagged(now, stream, None, context)
    }

    /// As `send`, with a tag that the far end receives.
    pub(crate) fn send_tagged(
        &mut self,
        now: Instant,
        stream: usize,
        tag: Option<u32>,
        context: &mut dyn ApplicationContext,
    ) -> Instant {
        let packet = self.packet.draw(Draw::Size, context);
        let length = u32::try_from(packet.0).unwrap_or(u32::MAX);
        match tag {
            None => context.send_datagram(stream, self.direction, length),
            Some(tag) => context.send_tagged_datagram(stream, self.direction, length, tag),
        }
        match (self.mode, self.interval) {
            (_, Sampler::Constant(interval)) => now + interval,
            (IntervalMode::Renewal, _) => now + self.interval.draw(Draw::Gap, context),
            (IntervalMode::JitterGrid, _) => {
                self.ticks[stream] += self.median;
                self.near_tick(stream, context).max(now)
            }
        }
    }

    /// The tick of `stream`, moved by a draw; as late as the run's begin if that lies before it.
    fn near_tick(&self, stream: usize, context: &mut dyn ApplicationContext) -> Instant {
        let later = self.ticks[stream] + self.interval.draw(Draw::Gap, context);
        let ps = later.as_ps().saturating_sub(self.median.as_ps());
        Instant::from_ps(ps)
    }
}
