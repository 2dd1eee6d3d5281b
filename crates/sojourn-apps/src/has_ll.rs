//! Low-latency live streaming: a player a few seconds behind what happens, to whom the server pushes small parts of a
//! segment as soon as they are encoded.
//!
//! Source: the delivery is that of LL-DASH and LL-HLS (RFC 8216bis, 4.4.4.9 and 6.2.6: parts of segments; DASH-IF,
//! "Low-latency Modes for DASH": segments sent while they are made, catch-up by the playback rate). Rule, playback and
//! content are those of [`crate::has`].
//! Deviations: all numbers are chosen, because no seed study has this service. A player asks for whole segments and the
//! server pushes their parts; there are no playlists. A part of a lost connection that was not complete is sent anew.

mod client;

pub use client::HasLl;

use crate::has::{
    Content, LADDER, Problem, RateRule, SESSIONS, STAGGER, ThroughputBufferConfig, not_of_all_levels, not_rising,
};
use crate::keys::{LONGEST_PAUSE, REQUEST, START, START_JITTER};
use crate::{Application, ApplicationKind};
use sojourn_base::{BitRate, Bytes, Direction, Span};
use sojourn_keys::{Key, Mismatch, choices, origin, parameters};
use std::borrow::Cow;

const fn media(from: &'static str) -> Key {
    origin(from).least("1 ms").most("1 h").unit("s")
}

parameters! {
    /// Parameters of [`HasLl`]; all are chosen, within what dash.js and hls.js have as defaults for low latency.
    pub struct HasLlConfig: "has-ll", "low-latency live streaming: parts of segments pushed as they are encoded, seconds behind" {
        ladder: Cow<'static, [BitRate]> = Cow::Borrowed(&LEVELS), LADDER.origin("chosen: a ladder of live sport up to 1080p");
        /// media in a segment, with each of which the level is chosen anew
        segment: Span = Span::from_s(2), media("chosen: 2 s");
        /// media in a part, which is sent as soon as it is encoded
        part: Span = Span::from_ms(200), media("chosen: a tenth of a segment");
        /// media that the player wants in its buffer when a part has come
        target: Span = Span::from_s(3), media("chosen: 3 s, as dash.js for low latency");
        /// distance of the buffer from its target beyond which it plays faster or slower
        tolerance: Span = Span::from_ms(400), origin("chosen: two parts").most("1 h").unit("s");
        /// by this share of the speed
        catch_up: f64 = 0.05, origin("chosen: 5 %, which viewers hardly notice").least("0").most("0.5");
        /// playback begins, and resumes after a stall, at this buffer level
        resume: Span = Span::from_s(1), origin("chosen: five parts").most("1 h").unit("s");
        /// latency beyond which the player skips media
        skip_from: Option<Span> = Some(Span::from_s(10)),
            origin("chosen: three times the target, and a second").or("never").least("1 ms").most(LONGEST_PAUSE).unit("s");
        /// how the player chooses the level of a segment
        rule: LiveRule = LiveRule::BASE, origin("chosen: as of players with a long buffer");
        /// the throughput is measured in windows of this length
        window: Span = Span::from_s(1), media("chosen: five parts");
        /// sizes of the segments
        content: Content = Content::ConstantRate, origin("chosen: encoders of live streams hold their rate");
        request: Bytes = Bytes(350), REQUEST;
        sessions: u32 = 1, SESSIONS.origin("chosen: one");
        stagger: Span = Span::from_s(10), STAGGER.origin("chosen: as of players with a long buffer");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
    profiles {
        /// five levels from 0.8 to 8 Mb/s, segments of 2 s in parts of 200 ms, a target of 3 s
        LOW_LATENCY "low-latency" {}
    }
}

/// chosen: see their row.
static LEVELS: [BitRate; 5] = [
    BitRate::from_kbps(800),
    BitRate::from_kbps(1600),
    BitRate::from_kbps(3000),
    BitRate::from_kbps(5000),
    BitRate::from_kbps(8000),
];

choices! {
    /// How the player of a live stream chooses the level of a segment: as of [`RateRule`], with three seconds in the buffer.
    #[derive(Copy)]
    pub enum LiveRule {
        /// as much as the throughput of the last windows allows, downwards late, upwards step by step
        ThroughputBuffer(rule: ThroughputBufferConfig = ThroughputBufferConfig::LIVE) = "throughput-buffer",
    }
}

impl From<LiveRule> for RateRule {
    fn from(rule: LiveRule) -> Self {
        let LiveRule::ThroughputBuffer(config) = rule;
        Self::ThroughputBuffer(config)
    }
}

impl ApplicationKind for HasLlConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(HasLl::new(self))
    }

    fn flows(&self) -> u64 {
        u64::from(self.sessions)
    }

    fn bytes(&self) -> u64 {
        HasLl::bytes(self)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, _duration: Span) -> Vec<Problem> {
        Self::problems(self)
    }
}

impl HasLlConfig {
    /// Parts of a segment.
    fn parts(&self) -> u64 {
        (self.segment.as_ps() / self.part.as_ps().max(1)).max(1)
    }

    /// Returns contradictions between keys: the key and the remedy.
    fn problems(&self) -> Vec<Problem> {
        let mut found: Vec<Problem> = not_rising(&self.ladder).into_iter().collect();
        if self.part > self.segment || !self.segment.as_ps().is_multiple_of(self.part.as_ps()) {
            found.push((
                "part",
                Mismatch::new(
                    format!("{} does not divide a segment of {}", self.part, self.segment),
                    format!("\"{}\", a tenth of the segment, for instance", self.segment / 10),
                ),
            ));
        }
        if self.target < self.part {
            found.push((
                "target",
                Mismatch::new(
                    format!("{} is less than a part ({})", self.target, self.part),
                    format!("at least \"{}\", or shorter parts", self.part),
                ),
            ));
        }
        if self.tolerance < self.part {
            found.push((
                "tolerance",
                Mismatch::new(
                    format!("{} is less than a part ({}), the normal swing of the buffer", self.tolerance, self.part),
                    format!("at least \"{}\"", self.part),
                ),
            ));
        }
        if self.resume > self.target {
            found.push((
                "resume",
                Mismatch::new(
                    format!("{} is more than the target ({})", self.resume, self.target),
                    format!("at most \"{}\", or a larger target", self.target),
                ),
            ));
        }
        let least = self.target.saturating_add(self.segment.saturating_mul(2));
        if let Some(skip) = self.skip_from
            && skip < least
        {
            found.push((
                "skip_from",
                Mismatch::new(
                    format!("{skip} is reached in ordinary playback"),
                    format!("at least \"{least}\" (the target and two segments), or \"never\""),
                ),
            ));
        }
        found.extend(not_of_all_levels(&self.content, &self.ladder));
        found
    }
}

#[cfg(test)]
mod tests;
