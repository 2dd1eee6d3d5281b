//! A player of adaptive streams, live or not: its content, rate choice, connection and results.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions". Deviations: none known.

use super::content::{Content, Sizes};
use super::levels::Levels;
use super::pipe::Pipe;
use super::playback::Playback;
use super::rate::{Choice, Chooser, RateRule};
use crate::{ApplicationContext, Chunk, number};
use sojourn_base::{BitRate, Instant, Span};

/// Returns the bytes of `sessions` sessions of type `S`, each with a player, and of their chunk sizes.
pub(crate) fn bytes_of<S>(sessions: u32, ladder: &[BitRate], content: &Content) -> u64 {
    let levels = ladder.len() as u64;
    let session = size_of::<S>() as u64 + levels * size_of::<u32>() as u64;
    u64::from(sessions) * session + Sizes::bytes(content, levels)
}

/// One player, from before it joins.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    pub(crate) playback: Playback,
    pub(crate) chooser: Chooser,
    pub(crate) pipe: Pipe,
    pub(crate) levels: Levels,
    pub(crate) started_at: Option<Instant>,
}

impl Player {
    /// A player that chooses among the levels of a ladder, and begins at this buffer level.
    pub(crate) fn new(resume: Span, rule: RateRule, ladder: &[BitRate]) -> Self {
        Self {
            playback: Playback::new(resume),
            chooser: Chooser::new(rule),
            pipe: Pipe::default(),
            levels: Levels::new(ladder),
            started_at: None,
        }
    }

    /// The chunk of number `index` that is asked for now, at the level of `choice`, with its size in bytes.
    pub(crate) fn asks(
        &self,
        now: Instant,
        (session, index): (usize, u32),
        choice: &Choice,
        ladder: &[BitRate],
        bytes: u64,
    ) -> Chunk {
        Chunk {
            session: number(session),
            index,
            level: number(choice.level),
            nominal: ladder[choice.level],
            bytes,
            requested_at: now,
            ended_at: None,
            buffer_before: self.playback.buffer(),
            buffer_after: None,
            estimate: choice.estimate,
            reason: choice.reason,
        }
    }

    /// A chunk is complete; its media are in the buffer.
    pub(crate) fn has(&mut self, now: Instant, chunk: &Chunk, context: &mut dyn ApplicationContext) {
        self.levels.add(chunk.level);
        context.record(&Chunk { ended_at: Some(now), buffer_after: Some(self.playback.buffer()), ..*chunk });
    }

    /// The run is over; `unfinished` is on its way. False if the player never joined.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        session: usize,
        ladder: &[BitRate],
        unfinished: Option<&Chunk>,
        context: &mut dyn ApplicationContext,
    ) -> bool {
        let Some(started_at) = self.started_at else {
            return false;
        };
        self.playback.advance(now);
        if let Some(chunk) = unfinished {
            context.record(chunk);
        }
        let summary = self.levels.summary(number(session), started_at, &self.playback, ladder);
        context.record(&summary);
        true
    }
}
