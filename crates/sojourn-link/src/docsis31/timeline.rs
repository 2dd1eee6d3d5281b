//! Times at which MAPs are made and heard, requests received, bursts prepared and sent.
//!
//! Interval `k` starts at `k` times the MAP interval. Its MAP is made early enough to pass the downstream and to be
//! worked on by the modem; a request counts for it if it has reached the scheduler by then.
//!
//! Source: docsis-ns3 1.2 `model/docsis-net-device.cc`, `model/cm-net-device.cc`; White 2019 §3.1.
//! Units and ranges: picoseconds from the start of the run.
//! Deviations: bursts are prepared a pipeline of frames ahead, where docsis-ns3 has 135 us for any frame; the least
//! delay from request to grant counts whole downstream symbols.

use super::channel::{OfdmSymbols, OfdmaChannel, plant_round_trip};
use sojourn_base::{Instant, Span};

/// The grid of an OFDMA upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Length of a frame.
    pub frame: Span,
    /// Frames in a MAP interval.
    pub frames: u64,
    /// Length of a MAP interval.
    pub interval: Span,
    /// Minislots in a frame.
    pub minislots_per_frame: u64,
    /// Bytes in a minislot.
    pub minislot_bytes: u64,
    /// A MAP is made so long before its interval.
    pub lead: Span,
    /// The modem hears it so long before its interval.
    pub heard: Span,
    /// From a request to its arrival at the scheduler.
    pub request: Span,
    /// A burst is prepared so long before its first frame.
    pub preparation: Span,
    /// One way over the plant.
    pub plant: Span,
    /// Time of the CMTS to decode a frame.
    pub decoding: Span,
    /// Least frames from a request to its grant, in the arithmetic of MAP messages.
    pub least_request_to_grant: u64,
}

impl Timeline {
    /// Of a channel whose MAPs come by `downstream`, over a plant of this length in kilometres.
    pub fn new(
        channel: &OfdmaChannel,
        downstream: &OfdmSymbols,
        map_interval: Span,
        cmts_processing: Span,
        kilometres: f64,
    ) -> Self {
        let frame = channel.frame();
        let frames = channel.frames_per_map(map_interval);
        let round_trip = plant_round_trip(kilometres);
        let plant = round_trip / 2;
        let heard = channel.modem_map_processing();
        let (ahead, behind) = (u64::from(channel.modem_pipeline), u64::from(channel.cmts_pipeline));
        let pipelines = ahead + behind + 1;
        let loop_without_frames = heard + round_trip + cmts_processing + downstream.processing();
        Self {
            frame,
            frames,
            interval: frame * frames,
            minislots_per_frame: channel.minislots_per_frame(),
            minislot_bytes: channel.minislot_bytes(),
            lead: heard + downstream.processing() + plant + cmts_processing,
            heard,
            request: plant + frame * pipelines,
            preparation: frame * ahead,
            plant,
            decoding: frame * behind,
            least_request_to_grant: loop_without_frames.as_ps().div_ceil(frame.as_ps()) + pipelines,
        }
    }

    /// Minislots in a MAP interval.
    pub const fn minislots(&self) -> u64 {
        self.minislots_per_frame * self.frames
    }

    /// Start of interval `map`.
    pub fn starts_at(&self, map: u64) -> Instant {
        Instant::ZERO + self.interval * map
    }

    /// Returns the time at which the MAP of interval `map` is made; the start of the run at the earliest.
    pub fn made_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.lead)
    }

    /// Returns the time at which the modem hears the MAP of interval `map`; the start of the run at the earliest.
    pub fn heard_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.heard)
    }

    /// Start of `frame` of interval `map`.
    pub fn frame_at(&self, map: u64, frame: u64) -> Instant {
        self.starts_at(map) + self.frame * frame
    }

    /// Returns the time at which a burst that starts at `frame_at` is prepared.
    pub fn prepared_at(&self, frame_at: Instant) -> Instant {
        before(frame_at, self.preparation)
    }

    /// From the start of the frame that carries a packet's last byte to the packet's leaving the CMTS.
    pub fn completion(&self) -> Span {
        self.frame + self.plant + self.decoding
    }

    /// The first interval that can carry grants.
    pub const fn first_map(&self) -> u64 {
        let first = self.least_request_to_grant.div_ceil(self.frames);
        if first == 0 { 1 } else { first }
    }

    /// The interval for which a request counts that is sent at `at`.
    pub fn map_for_request(&self, at: Instant) -> u64 {
        let counted = at + self.request + self.lead;
        counted.as_ps().div_ceil(self.interval.as_ps()).max(self.first_map())
    }

    /// Returns the modem's estimate of the request-grant loop: start of the interval less the time that its MAP
    /// acknowledges, and an interval more.
    pub fn loop_delay(&self) -> Span {
        self.frame * self.least_request_to_grant + self.interval
    }

    /// Whole minislots in `span`.
    pub fn minislots_in(&self, span: Span) -> u64 {
        span.as_ps() / self.frame.as_ps() * self.minislots_per_frame
    }
}

fn before(at: Instant, span: Span) -> Instant {
    Instant::from_ps(at.as_ps().saturating_sub(span.as_ps()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(map_interval: Span) -> Timeline {
        Timeline::new(&OfdmaChannel::BASE, &OfdmSymbols::BASE, map_interval, Span::from_us(200), 8.0)
    }

    #[test]
    fn the_default_times_are_those_of_the_notes() {
        let grid = timeline(Span::from_ms(1));
        assert_eq!(grid.interval, Span::from_us(945));
        assert_eq!(grid.lead, Span::from_us(1_110));
        assert_eq!(grid.heard, Span::from_ns(757_500));
        assert_eq!(grid.request, Span::from_us(445));
        assert_eq!(grid.preparation, Span::from_us(135));
        assert_eq!(grid.completion(), Span::from_us(310));
        assert_eq!(grid.least_request_to_grant, 12);
        assert_eq!(grid.loop_delay(), Span::from_us(1_620 + 945));
        assert_eq!(grid.first_map(), 2);
        assert_eq!(timeline(Span::from_ms(2)).interval, Span::from_us(2_025));
        assert_eq!(timeline(Span::from_ms(2)).first_map(), 1);
        assert_eq!(timeline(Span::from_ms(2)).minislots(), 3_525);
    }

    #[test]
    fn a_request_counts_if_it_is_twelve_frames_ahead() {
        // Vectors C4 and C5, and the rule of the timeline for every frame.
        let grid = timeline(Span::from_ms(2));
        assert_eq!(grid.map_for_request(grid.frame_at(49, 11)), 51);
        assert_eq!(grid.frame_at(49, 11), Instant::from_us(100_710));
        let grid = timeline(Span::from_ms(1));
        assert_eq!(grid.map_for_request(grid.frame_at(106, 4)), 109);
        assert_eq!(grid.frame_at(106, 4), Instant::from_us(100_710));
        for frame in 0..7 {
            let expected = 10 + (12_u64 + frame).div_ceil(7);
            assert_eq!(grid.map_for_request(grid.frame_at(10, frame)), expected);
        }
    }

    #[test]
    fn part_of_a_frame_has_no_minislots() {
        // Vector C10.
        let grid = timeline(Span::from_ms(1));
        let found = [134, 135, 136].map(|us| grid.minislots_in(Span::from_us(us)));
        assert_eq!(found, [0, 235, 235]);
    }

    #[test]
    fn a_longer_plant_adds_five_microseconds_per_kilometre_and_direction() {
        let grid = |kilometres| {
            Timeline::new(&OfdmaChannel::BASE, &OfdmSymbols::BASE, Span::from_ms(1), Span::from_us(200), kilometres)
        };
        let (near, far) = (grid(8.0), grid(16.0));
        assert_eq!(far.completion(), near.completion() + Span::from_us(40));
        assert_eq!(far.lead, near.lead + Span::from_us(40));
        assert_eq!(far.request, near.request + Span::from_us(40));
    }
}
