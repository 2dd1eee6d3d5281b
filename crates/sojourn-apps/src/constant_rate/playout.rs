//! Adaptive playout of a call: when the listener's buffer plays a packet follows the delays of those before it.
//!
//! Source: Ramjee, Kurose, Towsley and Schulzrinne 1994, algorithm 1 (means of delay and of its deviation with a weight of
//! 0.998002; a talk spurt is played at mean plus four deviations).
//! Deviations: a call without pauses has no talk spurts. chosen: one a second, as long as those of ITU-T P.59 (1.004 s) are on
//! average, at whose beginning the buffer may move.

use sojourn_base::report::PlayedCall;
use sojourn_base::{Direction, Instant, Span};
use std::collections::VecDeque;

/// Weight of what was known before.
const KEPT: f64 = 0.998_002;
/// Deviations beyond the mean.
const DEVIATIONS: f64 = 4.0;
/// See the deviations of this module.
const SPURT: Span = Span::from_s(1);

/// The listener of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listener {
    /// When the packets from number `first` on were sent, whose fate is not known.
    sent: VecDeque<Instant>,
    first: u32,
    /// Means of delay and of its deviation in seconds, once a packet has come.
    estimate: Option<(f64, f64)>,
    /// Delay at which the present spurt is played, and when that began.
    spurt: Option<(f64, Instant)>,
    arrived: u32,
    late: u32,
    /// Sum of the delays at which packets in time were played.
    played_s: f64,
}

impl Listener {
    /// Bytes of the packets whose fate is not known.
    pub(crate) fn bytes(&self) -> usize {
        crate::ring_bytes(&self.sent)
    }

    /// A packet leaves: its number.
    pub(crate) fn on_sent(&mut self, now: Instant) -> u32 {
        self.sent.push_back(now);
        self.first + u32::try_from(self.sent.len() - 1).unwrap_or(u32::MAX)
    }

    /// A packet arrives; those before it that did not are lost.
    pub(crate) fn on_arrival(&mut self, now: Instant, number: u32) {
        let Some(place) = number.checked_sub(self.first) else {
            return;
        };
        let Some(&sent_at) = self.sent.get(place as usize) else {
            return;
        };
        self.sent.drain(..=place as usize);
        self.first = number + 1;
        let delay = now.saturating_since(sent_at).as_secs_f64();
        let (mean, deviation) = match self.estimate {
            None => (delay, 0.0),
            Some((mean, deviation)) => {
                let mean = KEPT * mean + (1.0 - KEPT) * delay;
                let off = (mean - delay).abs();
                (mean, KEPT * deviation + (1.0 - KEPT) * off)
            }
        };
        self.estimate = Some((mean, deviation));
        let playout = match self.spurt {
            Some((playout, since)) if sent_at.saturating_since(since) < SPURT => playout,
            _ => {
                let playout = mean + DEVIATIONS * deviation;
                self.spurt = Some((playout, sent_at));
                playout
            }
        };
        self.arrived += 1;
        if delay > playout {
            self.late += 1;
        } else {
            self.played_s += playout;
        }
    }

    /// What became of the call.
    pub(crate) fn played(&self, lane: u32, direction: Direction) -> PlayedCall {
        let played = self.arrived - self.late;
        PlayedCall {
            lane,
            direction,
            sent: self.first,
            arrived: self.arrived,
            late: self.late,
            playout: (played > 0).then(|| Span::from_secs_f64(self.played_s / f64::from(played))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The call whose packets, 20 ms apart, took so many milliseconds; `None` for a lost one.
    fn call(delays: &[Option<u64>]) -> PlayedCall {
        let mut listener = Listener::default();
        for (number, delay) in (0..).zip(delays) {
            let at = Instant::from_ms(20 * number);
            let sent = listener.on_sent(at);
            if let Some(ms) = delay {
                listener.on_arrival(at + Span::from_ms(*ms), sent);
            }
        }
        listener.played(0, Direction::Upstream)
    }

    #[test]
    fn within_a_spurt_the_delay_of_its_first_packet_is_kept() {
        // 50 packets of a second are played at 30 ms; the one that took 31 ms is late, the lost one is lost.
        let mut delays = [Some(30); 50];
        (delays[10], delays[20], delays[30]) = (Some(31), None, Some(10));
        let found = call(&delays);
        assert_eq!((found.sent, found.arrived, found.late), (50, 49, 1));
        assert_eq!(found.playout, Some(Span::from_ms(30)));
    }

    #[test]
    fn the_next_spurt_allows_for_what_has_varied() {
        // From 20 ms on, one of 120 ms: mean 20 + 0.1998 = 20.1998 ms, deviation 0.001998 * 99.8002 = 0.1994 ms. 48 more of
        // 20 ms hardly move that; the second spurt is played at mean plus four deviations, about 21.0 ms.
        let mut delays = vec![Some(20); 60];
        delays[1] = Some(120);
        let mut listener = Listener::default();
        for (number, delay) in (0..).zip(&delays) {
            let at = Instant::from_ms(20 * number);
            let sent = listener.on_sent(at);
            listener.on_arrival(at + Span::from_ms(delay.unwrap_or(0)), sent);
        }
        let (mut mean, mut deviation) = (20.0_f64, 0.0_f64);
        for delay in delays.iter().take(51).skip(1).map(|it: &Option<u64>| it.unwrap_or(0) as f64) {
            mean = 0.998_002 * mean + 0.001_998 * delay;
            deviation = 0.998_002 * deviation + 0.001_998 * (mean - delay).abs();
        }
        let (playout, _) = listener.spurt.expect("it has begun");
        assert!((1e3 * playout - (mean + 4.0 * deviation)).abs() < 1e-9);
        assert!((1e3 * playout - 21.0).abs() < 0.1, "{playout}");
        assert_eq!(listener.late, 1);
    }

    #[test]
    fn nothing_is_played_of_a_call_that_never_comes() {
        let found = call(&[None; 5]);
        assert_eq!((found.sent, found.arrived, found.playout), (0, 0, None));
    }
}
