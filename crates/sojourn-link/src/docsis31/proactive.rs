//! Proactive Grant Service: grants that a service flow has not asked for: the low-latency one, or the only one of a modem that
//! knows nothing of low latency (White 2019 §5.1: only the CMTS need support it). Beside it the older schedulers that §3.2
//! compares it with: unsolicited grants, the same with activity detection, and polls.
//!
//! The basic form grants the guaranteed rate for ever. The adaptive form learns how long a flow is quiet at least
//! between two bursts, and grants nothing for most of that time after each; White 2019 §4.4 calls the basic form a
//! worst case and leaves the better ones to vendors.
//!
//! An unsolicited grant carries one packet, and its flow requests nothing; with activity detection, and of a flow that is polled,
//! the flow requests where it is polled, and in no frame for all.
//!
//! Source: White 2019 §3.2 and §4.4; docsis-ns3 1.2 `model/cmts-upstream-scheduler.cc`; service-group notes 4.4 for
//! `idle_after` and `request_interval`; DOCSIS MULPI 7.2.3 for UGS, UGS/AD and rtPS.
//! Deviations: a guaranteed rate without an interval has grants a MAP interval apart, as in docsis-ns3. The rule of the
//! adaptive form is ours. Polls take no minislots. A packet longer than an unsolicited grant goes on in the next, where MULPI
//! has no fragments. Grants of UGS/AD begin again when a request arrives.

use super::timeline::Timeline;
use crate::config::keys::HIGHEST_RATE;
use alloc::collections::VecDeque;
use sojourn_base::{BitRate, Instant, Span, math};
use sojourn_keys::{Key, choices, key, origin, parameters};

pub(crate) const PROACTIVE: Key =
    key("proactive", "grants that the low-latency flow, or the only one, has not asked for", "White 2019 §3.2");

choices! {
    /// Grants without a request.
    #[derive(Copy)]
    pub enum ProactiveConfig {
        /// every grant is asked for
        None = "none",
        /// the guaranteed rate for ever, used or not
        Basic(guarantee: Guarantee = Guarantee::BASE) = "basic",
        /// the guaranteed rate while the flow is likely to send: less is wasted
        Adaptive {
            /// Bytes granted then.
            guarantee: Guarantee = Guarantee::BASE;
            /// part of the shortest gap between bursts in which nothing is granted after a burst
            quiet: f64 = 0.8,
                origin("chosen: games send every 33 ms give or take a few; 0.8 leaves grants for all of them")
                    .least("0").most("1");
            /// without a byte for so long, the flow is only asked now and then
            idle_after: Option<Span> = None,
                origin("White 2019 §3.2; never, as in its study").or("never").least("1 us").most("1 h");
            /// how often an idle flow is asked (GRI)
            request_interval: Span = Span::from_ms(1),
                origin("White 2019 §3.2; chosen: 1 ms").least("1 us").most("1 s");
        } = "adaptive",
        /// Unsolicited Grant Service: the guaranteed rate in grants of one packet each, and no requests
        Unsolicited(guarantee: Guarantee = Guarantee::BASE) = "ugs",
        /// Unsolicited Grant Service with activity detection: grants of one packet each while the flow sends, and polls while not
        Detected {
            /// Bytes granted while the flow sends.
            guarantee: Guarantee = Guarantee::BASE;
            /// without a byte for so long, the flow is polled
            idle_after: Span = Span::from_ms(20),
                origin("chosen: two packets of a call; MULPI leaves it to the CMTS").least("1 us").most("1 h");
            /// how often an idle flow is polled (nominal polling interval)
            request_interval: Span = Span::from_ms(1),
                origin("chosen: 1 ms, as for proactive grants").least("1 us").most("1 s");
        } = "ugs-ad",
        /// Real-Time Polling Service: no grants without request, and a chance to request at each interval, and in no other frame
        Polled {
            /// how often the flow is polled (nominal polling interval)
            request_interval: Span = Span::from_ms(1),
                origin("chosen: 1 ms, as for proactive grants").least("1 us").most("1 s");
        } = "rtps",
    }
}

parameters! {
    /// Guaranteed grant rate and interval.
    #[derive(Copy, Eq)]
    pub struct Guarantee {
        /// guaranteed grant rate (GGR), MAC headers not counted
        rate: BitRate = BitRate::ZERO,
            origin("no default").required("\"5 Mb/s\"").least("1 b/s").most(HIGHEST_RATE);
        /// guaranteed grant interval (GGI), rounded down to whole frames
        interval: Option<Span> = None,
            origin("docsis-ns3 1.2: one MAP interval").or("map").least("1 us").most("1 s");
    }
}

impl ProactiveConfig {
    /// The guarantee, if there is one.
    pub const fn guarantee(&self) -> Option<&Guarantee> {
        match self {
            Self::None | Self::Polled { .. } => None,
            Self::Basic(guarantee)
            | Self::Adaptive { guarantee, .. }
            | Self::Unsolicited(guarantee)
            | Self::Detected { guarantee, .. } => Some(guarantee),
        }
    }

    /// Each grant carries one packet, and no request.
    pub(crate) const fn is_unsolicited(&self) -> bool {
        matches!(self, Self::Unsolicited(_) | Self::Detected { .. })
    }

    /// The flow may request in frames for all.
    pub(crate) const fn contends(&self) -> bool {
        !self.is_unsolicited() && !matches!(self, Self::Polled { .. })
    }

    /// Without a byte for how long the flow is polled, and how often.
    const fn polls(&self) -> Option<(Option<Span>, Span)> {
        match self {
            Self::Adaptive { idle_after, request_interval, .. } => Some((*idle_after, *request_interval)),
            Self::Detected { idle_after, request_interval, .. } => Some((Some(*idle_after), *request_interval)),
            Self::Polled { request_interval } => Some((Some(Span::ZERO), *request_interval)),
            Self::None | Self::Basic(_) | Self::Unsolicited(_) => None,
        }
    }
}

/// Gaps between bursts that the adaptive form remembers. chosen: two seconds of a game with 30 packets per second,
/// in which the shortest gap is seen, and a flow that changes is soon believed.
const REMEMBERED: usize = 64;

/// Proactive grants of one service flow.
#[derive(Clone, Debug)]
pub(crate) struct Proactive {
    config: ProactiveConfig,
    /// Frames from one grant to the next.
    period: u64,
    /// Minislots of each.
    minislots: u64,
    /// Number of the frame, from the start of the run, in which the next one begins.
    next: u64,
    /// Time of the next poll, in the adaptive form.
    next_poll: Instant,
    last_use: Instant,
    gaps: VecDeque<Span>,
}

impl Proactive {
    /// `header` is what a rate grows by to pay for MAC headers. `None` if the flow asks for all.
    pub(crate) fn new(
        config: ProactiveConfig,
        timeline: &Timeline,
        header: impl Fn(BitRate) -> BitRate,
    ) -> Option<Self> {
        if config == ProactiveConfig::None {
            return None;
        }
        let guarantee = config.guarantee();
        let period = guarantee.map_or(1, |guarantee| period(guarantee, timeline));
        Some(Self {
            config,
            period,
            minislots: guarantee.map_or(0, |guarantee| minislots(header(guarantee.rate), period, timeline)),
            next: timeline.first_map() * timeline.frames,
            next_poll: Instant::ZERO,
            last_use: Instant::ZERO,
            gaps: VecDeque::new(),
        })
    }

    /// The CMTS knows by `now` that a burst arrived in a frame that began at `frame_at`.
    pub(crate) fn on_use(&mut self, frame_at: Instant, frame: Span) {
        if self.config.polls().is_none() {
            return;
        }
        let gap = frame_at.saturating_since(self.last_use);
        // A packet over neighbouring grants is one burst.
        if gap > frame * (2 * self.period) {
            if self.gaps.len() == REMEMBERED {
                self.gaps.pop_front();
            }
            self.gaps.push_back(gap);
        }
        self.last_use = self.last_use.max(frame_at);
    }

    /// First minislots and lengths of the grants of MAP `map`, and times of its polls; `wanted` if requests wait, which
    /// ends every pause.
    pub(crate) fn grants(
        &mut self,
        map: u64,
        wanted: bool,
        timeline: &Timeline,
        grants: &mut VecDeque<(u64, u64)>,
        polls: &mut VecDeque<Instant>,
    ) {
        let first = map * timeline.frames;
        let is_polled = matches!(self.config, ProactiveConfig::Polled { .. });
        let (quiet_until, idle_from) =
            if wanted && !is_polled { (Instant::ZERO, Instant::NEVER) } else { self.pause() };
        while self.next < first + timeline.frames {
            let frame = self.next - first;
            self.next += self.period;
            let at = timeline.frame_at(map, frame);
            if at >= idle_from {
                self.poll(at, polls);
            } else if at >= quiet_until {
                let start = frame * timeline.minislots_per_frame;
                let length = self.minislots.min(timeline.minislots() - start);
                grants.push_back((start, length));
            }
        }
    }

    fn poll(&mut self, at: Instant, polls: &mut VecDeque<Instant>) {
        if let Some((_, interval)) = self.config.polls()
            && at >= self.next_poll
        {
            self.next_poll = at + interval;
            polls.push_back(at);
        }
    }

    /// Until when the flow is taken for quiet, and from when on for idle.
    fn pause(&self) -> (Instant, Instant) {
        match self.config {
            ProactiveConfig::Adaptive { quiet, idle_after, .. } => {
                let known = self.gaps.len() == REMEMBERED;
                let shortest = self.gaps.iter().min().filter(|_| known);
                let pause = shortest.map_or(Span::ZERO, |gap| share(*gap, quiet));
                let idle = idle_after.map_or(Instant::NEVER, |span| self.last_use + span);
                (self.last_use + pause, idle)
            }
            ProactiveConfig::Polled { .. } => (Instant::ZERO, Instant::ZERO),
            _ => {
                let idle = self.config.polls().and_then(|(idle_after, _)| idle_after);
                (Instant::ZERO, idle.map_or(Instant::NEVER, |span| self.last_use + span))
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a span, not negative")]
fn share(span: Span, part: f64) -> Span {
    Span::from_ps(math::floor(span.as_ps() as f64 * part) as u64)
}

/// Frames from one grant to the next.
pub(crate) fn period(guarantee: &Guarantee, timeline: &Timeline) -> u64 {
    let frames = |span: Span| span.as_ps() / timeline.frame.as_ps();
    guarantee.interval.map_or(timeline.frames, frames).max(1)
}

/// Minislots of each grant of `rate`, with headers, every `period` frames.
pub(crate) fn minislots(rate: BitRate, period: u64, timeline: &Timeline) -> u64 {
    let bytes_per_second = u128::from(rate.as_bps() / 8);
    let span = u128::from(timeline.frame.as_ps()) * u128::from(period);
    let bytes = (bytes_per_second * span).div_ceil(1_000_000_000_000);
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(timeline.minislot_bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docsis31::channel::{OfdmSymbols, OfdmaChannel};
    use crate::docsis31::scheduler::with_headers;
    use sojourn_base::Bytes;
    use std::vec::Vec;

    fn timeline() -> Timeline {
        Timeline::new(&OfdmaChannel::BASE, &OfdmSymbols::BASE, Span::from_ms(1), Span::from_us(200), 8.0)
    }

    #[test]
    fn grants_have_the_sizes_of_the_notes() {
        // docsis-mac notes 4.6, W19-23.
        let grid = timeline();
        for (kbps, interval_us, frames, slots) in
            [(5_000, Some(135), 1, 2), (5_000, Some(270), 2, 4), (5_000, None, 7, 13), (5_680, Some(135), 1, 3)]
        {
            let guarantee = Guarantee { rate: BitRate::from_kbps(kbps), interval: interval_us.map(Span::from_us) };
            let found = period(&guarantee, &grid);
            assert_eq!(found, frames);
            let rate = with_headers(guarantee.rate, Bytes(200), 10);
            assert_eq!(minislots(rate, found, &grid), slots);
        }
    }

    fn adaptive() -> Proactive {
        let config = ProactiveConfig::Adaptive {
            guarantee: Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(135)) },
            quiet: 0.9,
            idle_after: Some(Span::from_ms(100)),
            request_interval: Span::from_ms(1),
        };
        let header = |rate| with_headers(rate, Bytes(200), 10);
        Proactive::new(config, &timeline(), header).expect("a guarantee")
    }

    /// Starts of the grants, and number of the polls, of MAPs before `until`.
    fn run(proactive: &mut Proactive, maps: core::ops::Range<u64>) -> (Vec<Instant>, usize) {
        let (grid, mut starts, mut polled) = (timeline(), Vec::new(), 0);
        for map in maps {
            let (mut grants, mut polls) = (VecDeque::new(), VecDeque::new());
            proactive.grants(map, false, &grid, &mut grants, &mut polls);
            let at = |(start, _): &(u64, u64)| grid.frame_at(map, start / grid.minislots_per_frame);
            starts.extend(grants.iter().map(at));
            polled += polls.len();
        }
        (starts, polled)
    }

    #[test]
    fn the_adaptive_form_pauses_for_most_of_the_shortest_gap_and_polls_when_idle() {
        let mut proactive = adaptive();
        let frame = timeline().frame;
        // Bursts every 33 ms: known after 64 gaps.
        for burst in 1..=65 {
            proactive.on_use(Instant::from_ms(33 * burst), frame);
        }
        let last = Instant::from_ms(33 * 65);
        let map = 2_145_000 / 945 - 1;
        proactive.next = map * 7;
        let (starts, polls) = run(&mut proactive, map..map + 105);
        let next = starts.iter().find(|at| **at >= last).expect("a grant after the pause");
        // 0.9 of 33 ms, and the next frame.
        let paused = next.saturating_since(last);
        assert!(paused >= Span::from_us(29_700) && paused < Span::from_us(29_835));
        assert_eq!(polls, 0);
        let (starts, polls) = run(&mut proactive, map + 105..map + 120);
        let idle = last + Span::from_ms(100);
        assert!(starts.iter().all(|at| *at < idle), "idle after 100 ms");
        assert!((9..=12).contains(&polls), "about one each millisecond: {polls}");
    }

    #[test]
    fn a_flow_with_short_gaps_is_hardly_paused() {
        let mut proactive = adaptive();
        let frame = timeline().frame;
        for burst in 1..=100 {
            proactive.on_use(Instant::from_ms(33 * burst), frame);
            // The same burst, and another one soon after.
            proactive.on_use(Instant::from_ms(33 * burst) + frame, frame);
            proactive.on_use(Instant::from_ms(33 * burst) + frame * 4, frame);
        }
        let pause = proactive.pause().0.saturating_since(proactive.last_use);
        assert_eq!(pause, Span::from_ps(frame.as_ps() * 27 / 10));
    }
}
