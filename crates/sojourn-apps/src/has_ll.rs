//! Low-latency live streaming: a player a few seconds behind what happens, to whom the server pushes small parts of a
//! segment as soon as they are encoded.
//!
//! Source: the delivery is that of LL-DASH and LL-HLS (RFC 8216bis, 4.4.4.9 and 6.2.6: parts of segments; DASH-IF,
//! "Low-latency Modes for DASH": segments sent while they are made, catch-up by the playback rate). Rule, playback and
//! content are those of [`crate::has`].
//! Deviations: all numbers are chosen, because no seed study has this service. A player asks for whole segments and the
//! server pushes their parts; there are no playlists. A part of a lost connection that was not complete is sent anew.

mod client;
mod keys;

pub use client::HasLl;

use crate::has::{Content, Problem, ThroughputBufferConfig, not_of_all_levels, not_rising};
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::Mismatch;

/// Parameters of [`HasLl`]; start from a named profile and change what differs.
#[derive(Clone, Debug, PartialEq)]
pub struct HasLlConfig {
    /// Rates of the levels of quality, rising.
    pub ladder: Vec<BitRate>,
    /// Media in a segment; the level is chosen anew with each.
    pub segment: Span,
    /// Media in a part: what the server sends as soon as it is encoded.
    pub part: Span,
    /// Media that the player wants in its buffer when a part has come.
    pub target: Span,
    /// It plays faster or slower when the buffer is so far from that.
    pub tolerance: Span,
    /// So much, as a share of the speed.
    pub catch_up: f64,
    /// Playback begins, and goes on after a stall, with so much in the buffer.
    pub resume: Span,
    /// A player that is so far behind leaves media out to be near again; never if `None`.
    pub skip_from: Option<Span>,
    /// How a level is chosen.
    pub rule: ThroughputBufferConfig,
    /// The throughput is measured in windows of this length.
    pub window: Span,
    /// How large the segments are.
    pub content: Content,
    /// Size of a request in application bytes.
    pub request: Bytes,
    /// Number of players, all with server 0.
    pub sessions: u32,
    /// Each player joins so long after the one before it.
    pub stagger: Span,
    /// When the first player joins.
    pub start: Span,
    /// Each player joins later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
}

impl HasLlConfig {
    /// A stream of today: parts of 200 ms, three seconds in the buffer. Chosen: all of it, within what dash.js and
    /// hls.js have as defaults for low latency.
    pub fn low_latency() -> Self {
        Self {
            ladder: [800, 1600, 3000, 5000, 8000]
                .map(BitRate::from_kbps)
                .to_vec(),
            segment: Span::from_s(2),
            part: Span::from_ms(200),
            target: Span::from_s(3),
            tolerance: Span::from_ms(400),
            catch_up: 0.05,
            resume: Span::from_s(1),
            skip_from: Some(Span::from_s(10)),
            rule: ThroughputBufferConfig::LOW_LATENCY,
            window: Span::from_s(1),
            content: Content::ConstantRate,
            request: Bytes(350),
            sessions: 1,
            stagger: Span::from_s(10),
            start: Span::ZERO,
            start_jitter: Span::ZERO,
        }
    }

    /// Parts of a segment.
    fn parts(&self) -> u64 {
        (self.segment.as_ps() / self.part.as_ps().max(1)).max(1)
    }

    /// What does not fit together: the key, and what would be right.
    fn problems(&self) -> Vec<Problem> {
        let mut found: Vec<Problem> = not_rising(&self.ladder).into_iter().collect();
        if self.part > self.segment || !self.segment.as_ps().is_multiple_of(self.part.as_ps()) {
            found.push((
                "part",
                Mismatch::new(
                    format!(
                        "{} does not divide a segment of {}",
                        self.part, self.segment
                    ),
                    format!(
                        "\"{}\", a tenth of the segment, for instance",
                        self.segment / 10
                    ),
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
                    format!(
                        "{} is less than a part ({}), by which a buffer rises and falls anyway",
                        self.tolerance, self.part
                    ),
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
                    format!("{skip} is reached without any trouble"),
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
