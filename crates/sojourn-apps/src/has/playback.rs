//! What a player does with the media that it has: it waits, plays, or stands still because there is nothing left.
//!
//! Source: Akhtar 2013, "HAS QoE" and "Details: Client Buffer" (underflow, a buffer below ten seconds).
//! Deviations: none known. Media that arrive in the instant in which the last of the buffer has been played arrive in
//! time.

use sojourn_base::{Instant, Span};

/// A player and its buffer.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    /// Playback begins, and goes on after a stall, with so much in the buffer.
    threshold: Span,
    /// Media played in a thousand seconds: more or less than that many while catching up.
    per_mille: u64,
    buffer: Span,
    /// Up to when everything here is known.
    at: Instant,
    is_playing: bool,
    /// When the first picture came.
    pub(crate) first_picture_at: Option<Instant>,
    pub(crate) stalls: u32,
    pub(crate) stalled: Span,
    /// Media played.
    pub(crate) played: Span,
    /// Time since the first picture with less than [`LOW`] in the buffer.
    pub(crate) low: Span,
}

/// A buffer below this is low (Akhtar 2013, "Details: Client Buffer": "drops below 10").
const LOW: Span = Span::from_s(10);

impl Playback {
    /// A player with an empty buffer.
    pub(crate) const fn new(threshold: Span) -> Self {
        Self {
            threshold,
            per_mille: 1000,
            buffer: Span::ZERO,
            at: Instant::ZERO,
            is_playing: false,
            first_picture_at: None,
            stalls: 0,
            stalled: Span::ZERO,
            played: Span::ZERO,
            low: Span::ZERO,
        }
    }

    /// Media that have arrived and were not played.
    pub(crate) const fn buffer(&self) -> Span {
        self.buffer
    }

    /// Plays on to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        let elapsed = now.saturating_since(self.at);
        self.at = now;
        if self.is_playing {
            let lasts = scaled(self.buffer, 1000, self.per_mille);
            let playing = elapsed.min(lasts);
            let media = scaled(playing, self.per_mille, 1000).min(self.buffer);
            let until_low = scaled(self.buffer.saturating_sub(LOW), 1000, self.per_mille);
            self.low += elapsed.saturating_sub(until_low);
            self.played += media;
            self.buffer = self.buffer.saturating_sub(media);
            if elapsed > lasts {
                self.is_playing = false;
                self.buffer = Span::ZERO;
                self.stalls += 1;
                self.stalled += elapsed.saturating_sub(lasts);
            }
        } else if self.first_picture_at.is_some() {
            self.stalled += elapsed;
            self.low += elapsed;
        }
    }

    /// Media arrive now; [`Self::advance`] has been called for it.
    pub(crate) fn add(&mut self, media: Span) {
        self.buffer += media;
        if !self.is_playing && self.buffer >= self.threshold {
            self.is_playing = true;
            self.first_picture_at.get_or_insert(self.at);
        }
    }
}

/// `span` times `factor` over `over`.
fn scaled(span: Span, factor: u64, over: u64) -> Span {
    if factor == over {
        return span;
    }
    let scaled = u128::from(span.as_ps()) * u128::from(factor) / u128::from(over);
    Span::from_ps(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stall_lasts_from_the_empty_buffer_until_there_is_enough_to_go_on() {
        let mut player = Playback::new(Span::from_s(4));
        for at in [1, 3] {
            player.advance(Instant::from_s(at));
            player.add(Span::from_s(2));
        }
        // Plays from 3 s to 7 s, stands until 4 s of media are there again at 12 s.
        assert_eq!(player.first_picture_at, Some(Instant::from_s(3)));
        for at in [9, 12] {
            player.advance(Instant::from_s(at));
            player.add(Span::from_s(2));
        }
        player.advance(Instant::from_s(13));
        assert_eq!((player.stalls, player.stalled), (1, Span::from_s(5)));
        assert_eq!(player.played, Span::from_s(5));
        assert_eq!(player.buffer(), Span::from_s(3));
        assert_eq!(player.low, Span::from_s(10));
    }

    #[test]
    fn media_that_arrive_with_the_last_picture_are_in_time() {
        let mut player = Playback::new(Span::from_s(2));
        for at in [0, 2, 4] {
            player.advance(Instant::from_s(at));
            player.add(Span::from_s(2));
        }
        assert_eq!((player.stalls, player.played), (0, Span::from_s(4)));
    }

    #[test]
    fn a_buffer_is_low_from_the_moment_in_which_ten_seconds_are_left() {
        let mut player = Playback::new(Span::from_s(2));
        player.advance(Instant::ZERO);
        player.add(Span::from_s(30));
        player.advance(Instant::from_s(20));
        assert_eq!(player.low, Span::ZERO);
        player.advance(Instant::from_s(25));
        assert_eq!(player.low, Span::from_s(5));
    }

    proptest! {
        #[test]
        fn media_are_played_or_in_the_buffer_and_time_is_played_or_stalled(
            steps in prop::collection::vec((0_u64..20_000, 0_u64..5_000), 1..80),
            threshold in 0_u64..6_000,
        ) {
            let mut player = Playback::new(Span::from_ms(threshold));
            let (mut now, mut added) = (Instant::ZERO, Span::ZERO);
            for (pause, media) in steps {
                now += Span::from_ms(pause);
                player.advance(now);
                player.add(Span::from_ms(media));
                added += Span::from_ms(media);
                prop_assert_eq!(player.played + player.buffer(), added);
                if let Some(first) = player.first_picture_at {
                    prop_assert_eq!(player.played + player.stalled, now.saturating_since(first));
                    prop_assert!(player.stalled <= player.low);
                }
            }
        }
    }
}
