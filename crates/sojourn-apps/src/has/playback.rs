//! Playback of a player's buffer: waiting, playing, or stalled because the buffer is empty.
//!
//! Source: Akhtar 2013, "HAS QoE" and "Details: Client Buffer" (underflow, a buffer below ten seconds).
//! Deviations: none known. Media that arrive in the instant in which the last of the buffer has been played arrive in
//! time.

use sojourn_base::{Instant, Span};

/// A player and its buffer.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    /// Playback begins, and resumes after a stall, at this buffer level.
    threshold: Span,
    /// Media played in a thousand seconds: more or less than that many while catching up.
    per_mille: u64,
    buffer: Span,
    /// Up to when everything here is known.
    at: Instant,
    is_playing: bool,
    /// Time of the first picture.
    pub(crate) first_picture_at: Option<Instant>,
    pub(crate) stalls: u32,
    pub(crate) stalled: Span,
    /// Media played.
    pub(crate) played: Span,
    /// Time since the first picture with less than [`LOW`] in the buffer.
    pub(crate) low: Span,
    /// Time in which media were played faster, and slower, than they were taken.
    pub(crate) fast: Span,
    pub(crate) slow: Span,
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
            fast: Span::ZERO,
            slow: Span::ZERO,
        }
    }

    /// Returns true while the picture moves.
    pub(crate) const fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// From now on a second plays `per_mille` thousandths of a second of media; [`Self::advance`] has been called.
    pub(crate) const fn set_speed(&mut self, per_mille: u64) {
        self.per_mille = per_mille;
    }

    /// Media played in a thousand seconds.
    pub(crate) const fn speed(&self) -> u64 {
        self.per_mille
    }

    /// Throws away what is in the buffer; the picture stands still until there is enough again. [`Self::advance`] has
    /// been called.
    pub(crate) fn discard(&mut self) {
        self.stalls += u32::from(self.is_playing);
        self.is_playing = false;
        self.buffer = Span::ZERO;
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
            let media =
                if elapsed > lasts { self.buffer } else { scaled(playing, self.per_mille, 1000).min(self.buffer) };
            if self.per_mille > 1000 {
                self.fast += playing;
            } else if self.per_mille < 1000 {
                self.slow += playing;
            }
            let until_low = scaled(self.buffer.saturating_sub(LOW), 1000, self.per_mille);
            self.low += elapsed.saturating_sub(until_low);
            self.played += media;
            self.buffer = self.buffer.saturating_sub(media);
            if elapsed > lasts {
                self.is_playing = false;
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

    #[test]
    fn a_faster_player_uses_its_media_up_earlier_and_a_slower_one_later() {
        let mut player = Playback::new(Span::ZERO);
        player.advance(Instant::ZERO);
        player.add(Span::from_ms(4200));
        player.set_speed(1050);
        player.advance(Instant::from_s(2));
        // 2 s at 1.05 are 2.1 s of media; the other 2.1 s last 2 s. Then a second of nothing.
        assert_eq!(player.buffer(), Span::from_ms(2100));
        player.advance(Instant::from_s(5));
        assert_eq!((player.stalls, player.stalled), (1, Span::from_s(1)));
        assert_eq!((player.fast, player.slow), (Span::from_s(4), Span::ZERO));
        player.add(Span::from_ms(950));
        player.set_speed(950);
        player.advance(Instant::from_s(6));
        assert_eq!((player.buffer(), player.slow), (Span::ZERO, Span::from_s(1)));
        assert_eq!(player.stalls, 1, "the last picture is just over");
    }

    #[test]
    fn what_is_thrown_away_is_not_played_and_the_picture_stands_still() {
        let mut player = Playback::new(Span::from_s(1));
        player.advance(Instant::ZERO);
        player.add(Span::from_s(5));
        player.advance(Instant::from_s(2));
        player.discard();
        assert_eq!((player.buffer(), player.played), (Span::ZERO, Span::from_s(2)));
        assert!(!player.is_playing());
        player.advance(Instant::from_s(3));
        player.discard();
        assert_eq!((player.stalls, player.stalled), (1, Span::from_s(1)));
    }

    proptest! {
        #[test]
        fn media_are_played_or_in_the_buffer_and_time_is_played_or_stalled(
            steps in prop::collection::vec((0_u64..20_000, 0_u64..5_000, 900_u64..1100), 1..80),
            threshold in 0_u64..6_000,
            is_steady: bool,
        ) {
            let mut player = Playback::new(Span::from_ms(threshold));
            let (mut now, mut added) = (Instant::ZERO, Span::ZERO);
            for (pause, media, speed) in steps {
                now += Span::from_ms(pause);
                player.advance(now);
                player.set_speed(if is_steady { 1000 } else { speed });
                player.add(Span::from_ms(media));
                added += Span::from_ms(media);
                prop_assert_eq!(player.played + player.buffer(), added);
                if let Some(first) = player.first_picture_at {
                    let all = now.saturating_since(first);
                    if is_steady {
                        prop_assert_eq!(player.played + player.stalled, all);
                        prop_assert_eq!(player.fast + player.slow, Span::ZERO);
                    }
                    prop_assert!(player.fast + player.slow + player.stalled <= all);
                    prop_assert!(player.stalled <= player.low);
                }
            }
        }
    }
}
