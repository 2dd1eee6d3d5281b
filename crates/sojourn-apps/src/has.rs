//! Adaptive streaming over HTTP: a player fetches a video chunk by chunk over one connection, and chooses the quality
//! of each by its measurements.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions" (levels, chunks of 2 s, sessions 10 s apart), "PMOS and
//! Underflow" (a buffer of 30 s). Rules: see `rate`. Content: see `content`.
//! Deviations: the clip is played again and again until the run ends; the request size and the buffer at which playback
//! begins are chosen, because the slides do not say.

mod client;
pub(crate) mod content;
mod film;
pub(crate) mod levels;
mod pipe;
pub(crate) mod playback;
pub(crate) mod player;
pub(crate) mod rate;

pub use client::Has;
pub use content::{Content, VbrContent};
pub use rate::{Bba0Config, BolaConfig, RateRule, ThroughputBufferConfig};

use crate::keys::{LONGEST_PAUSE, REQUEST, START, START_JITTER};
use crate::{Application, ApplicationKind};
use sojourn_base::{BitRate, Bytes, Direction, Span};
use sojourn_keys::{Key, Mismatch, key, origin, parameters};
use std::borrow::Cow;

const SLIDES: &str = "Akhtar 2013, HAS and PD Traffic Modeling Assumptions";

parameters! {
    /// Parameters of [`Has`]; start from a named profile and change what differs.
    pub struct HasConfig: "has", "adaptive streaming over HTTP: videos whose quality follows the network" {
        ladder: Cow<'static, [BitRate]> = Cow::Borrowed(&LEVELS), LADDER.origin(SLIDES);
        /// media in a chunk
        chunk: Span = Span::from_s(2), origin(SLIDES).least("1 ms").most("1 h").unit("s");
        /// media that the client holds at most
        buffer: Span = Span::from_s(30),
            origin("Akhtar 2013, PMOS and Underflow: 30 s").least("1 ms").most(LONGEST_PAUSE).unit("s");
        /// playback begins, and resumes after a stall, at this buffer level
        resume: Span = Span::from_s(4), origin("chosen: two chunks").most(LONGEST_PAUSE).unit("s");
        /// how the client chooses the level of a chunk
        rule: RateRule = RateRule::BASE,
            origin("chosen: that of Akhtar 2013 is not published");
        /// sizes of the chunks
        content: Content = Content::BASE,
            origin("chosen: the sizes of Akhtar 2013 are not published");
        request: Bytes = Bytes(350), REQUEST;
        sessions: u32 = 1, SESSIONS.origin("chosen: one; Akhtar 2013, Traffic Loads: two to five");
        stagger: Span = Span::from_s(10), STAGGER.origin("Akhtar 2013, Simulations - Randomization");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
    profiles {
        /// Akhtar 2013: seven levels from 0.72 to 5.9 Mb/s, chunks of 2 s, a buffer of 30 s
        AKHTAR2013 "akhtar2013" {}
    }
}

/// Akhtar 2013.
static LEVELS: [BitRate; 7] = [
    BitRate::from_kbps(720),
    BitRate::from_kbps(1000),
    BitRate::from_kbps(1500),
    BitRate::from_kbps(2000),
    BitRate::from_kbps(2900),
    BitRate::from_kbps(3900),
    BitRate::from_kbps(5900),
];

/// The levels of quality.
pub(crate) const LADDER: Key = key("ladder", "rates of the levels of quality, rising", "")
    .one_or_many()
    .least("1 kb/s")
    .most("1 Gb/s")
    .unit("Mb/s");

/// How many players there are, all with server 0.
pub(crate) const SESSIONS: Key =
    key("sessions", "number of players, each with a connection of its own", "").least("1").most("10000");

/// How players join.
pub(crate) const STAGGER: Key =
    key("stagger", "time from each session's start to the next", "").most(LONGEST_PAUSE).unit("s");

impl ApplicationKind for HasConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Has::new(self))
    }

    fn flows(&self) -> u64 {
        u64::from(self.sessions)
    }

    fn bytes(&self) -> u64 {
        Has::bytes(self)
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

impl HasConfig {
    /// The client asks for the next chunk when it holds at most this.
    fn asks_at(&self) -> Span {
        self.buffer.saturating_sub(self.chunk)
    }

    /// Media in as many whole chunks as the buffer holds.
    fn most_before_playback(&self) -> Span {
        let chunks = self.buffer.as_ps() / self.chunk.as_ps().max(1);
        self.chunk.saturating_mul(chunks)
    }

    /// Returns contradictions between keys: the key and the remedy.
    fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        found.extend(not_rising(&self.ladder));
        if self.chunk > self.buffer {
            found.push((
                "chunk",
                Mismatch::new(
                    format!("{} is longer than the buffer ({})", self.chunk, self.buffer),
                    format!("chunks of at most \"{}\", or a larger buffer", self.buffer),
                ),
            ));
        } else if self.resume > self.most_before_playback() {
            let most = self.most_before_playback();
            found.push((
                "resume",
                Mismatch::new(
                    format!("{} is more than the whole chunks that fit the buffer ({most})", self.resume),
                    format!("at most \"{most}\", or a larger buffer"),
                ),
            ));
        }
        found.extend(not_of_all_levels(&self.content, &self.ladder));
        if let RateRule::Bola(bola) = &self.rule
            && bola.target <= bola.minimum
        {
            found.push((
                "rule.target",
                Mismatch::new(
                    format!("{} is not above minimum ({})", bola.target, bola.minimum),
                    "a target above the minimum, for instance 2.6 times that",
                ),
            ));
        }
        found
    }
}

/// A problem of a key.
pub(crate) type Problem = (&'static str, Mismatch);

/// A ladder whose rates do not rise.
pub(crate) fn not_rising(ladder: &[BitRate]) -> Option<Problem> {
    let mut steps = ladder.iter().zip(ladder.iter().skip(1));
    let (lower, upper) = steps.find(|(lower, upper)| lower >= upper)?;
    let mismatch = Mismatch::new(format!("{upper} comes after {lower}"), "rates that rise from level to level");
    Some(("ladder", mismatch))
}

/// Sizes that do not make whole rows of a ladder.
pub(crate) fn not_of_all_levels(content: &Content, ladder: &[BitRate]) -> Option<Problem> {
    let Content::Listed(sizes) = content else {
        return None;
    };
    let fits = !sizes.is_empty() && sizes.len() % ladder.len() == 0;
    let mismatch = || {
        Mismatch::new(
            format!("{} sizes for {} levels", sizes.len(), ladder.len()),
            "chunk after chunk, of each one size for every level",
        )
    };
    (!fits).then(|| ("content.sizes", mismatch()))
}

#[cfg(test)]
mod tests;
