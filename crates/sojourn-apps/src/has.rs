//! Adaptive streaming over HTTP: a player fetches a video chunk by chunk, over one connection, and chooses the quality of
//! each by what it has seen.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions" (levels, chunks of 2 s, sessions 10 s apart), "PMOS and
//! Underflow" (a buffer of 30 s). Rules: see `rate`. Content: see `content`.
//! Deviations: the clip is played again and again until the run ends; the request size and the buffer at which playback
//! begins are chosen, because the slides do not say.

mod client;
pub(crate) mod content;
pub(crate) mod keys;
pub(crate) mod levels;
mod pipe;
pub(crate) mod playback;
pub(crate) mod player;
pub(crate) mod rate;

pub use client::Has;
pub(crate) use client::number;
pub use content::{Content, VbrContent};
pub use rate::{Bba0Config, BolaConfig, RateRule, ThroughputBufferConfig};

use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::Mismatch;

/// Parameters of [`Has`]; start from a named profile and change what differs.
#[derive(Clone, Debug, PartialEq)]
pub struct HasConfig {
    /// Rates of the levels of quality, rising.
    pub ladder: Vec<BitRate>,
    /// Media in a chunk.
    pub chunk: Span,
    /// Media that the client holds at most.
    pub buffer: Span,
    /// Playback begins, and goes on after a stall, with so much in the buffer.
    pub resume: Span,
    /// How a level is chosen.
    pub rule: RateRule,
    /// How large the chunks are.
    pub content: Content,
    /// Size of a request in application bytes.
    pub request: Bytes,
    /// Number of sessions, all with server 0.
    pub sessions: u32,
    /// Each session begins so long after the one before it.
    pub stagger: Span,
    /// When the first session begins.
    pub start: Span,
    /// Each session begins later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
}

impl HasConfig {
    /// The client of Akhtar 2013. Chosen: requests of 350 B, the headers of an HTTP request; playback from two chunks on.
    pub fn akhtar2013() -> Self {
        Self {
            ladder: [720, 1000, 1500, 2000, 2900, 3900, 5900]
                .map(BitRate::from_kbps)
                .to_vec(),
            chunk: Span::from_s(2),
            buffer: Span::from_s(30),
            resume: Span::from_s(4),
            rule: RateRule::ThroughputBuffer(ThroughputBufferConfig::AKHTAR2013),
            content: Content::SyntheticVbr(VbrContent::AKHTAR2013),
            request: Bytes(350),
            sessions: 1,
            stagger: Span::from_s(10),
            start: Span::ZERO,
            start_jitter: Span::ZERO,
        }
    }

    /// The client asks for the next chunk when it holds at most this.
    fn asks_at(&self) -> Span {
        self.buffer.saturating_sub(self.chunk)
    }

    /// Media in as many whole chunks as the buffer holds.
    fn most_before_playback(&self) -> Span {
        let chunks = self.buffer.as_ps() / self.chunk.as_ps().max(1);
        self.chunk.saturating_mul(chunks)
    }

    /// What does not fit together: the key, and what would be right.
    fn problems(&self) -> Vec<(&'static str, Mismatch)> {
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
                    format!(
                        "{} is more than whole chunks in the buffer make ({most})",
                        self.resume
                    ),
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
    let mismatch = Mismatch::new(
        format!("{upper} comes after {lower}"),
        "rates that rise from level to level",
    );
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
