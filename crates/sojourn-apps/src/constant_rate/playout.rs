//! Adaptive playout of a call: a deep and variable buffer, whose listener stretches and shortens what is played.
//!
//! The buffer is never shallower than that of a listener who does not adapt, so what that one plays is played here as well.
//!
//! Source: White 2013 4.3 ("deep and variable dejitter buffers along with sophisticated playback rate modulation techniques"), White
//! 2012 3.2.2 for the least buffer; Ramjee, Kurose, Towsley and Schulzrinne 1994, algorithm 1, for the depth that is aimed at (means
//! of delay and of its deviation with a weight of 0.998002; mean plus four deviations).
//! Deviations: that document waits for pauses between talk spurts; here each packet is played up to a quarter longer or shorter instead,
//! and none is hidden by repeating what was heard.

use sojourn_base::report::PlayedCall;
use sojourn_base::{Direction, Instant, Span};
use std::collections::VecDeque;

/// Weight of what was known before.
const KEPT: f64 = 0.998_002;
/// Deviations beyond the mean.
const DEVIATIONS: f64 = 4.0;
/// Seconds behind the fastest packet at which a listener who does not adapt plays (White 2012 3.2.2).
const LEAST: f64 = 0.060;
/// The deepest buffer, seconds behind the fastest packet. chosen: half a second, beyond which people talk into each other.
const MOST: f64 = 0.500;
/// How much longer or shorter a packet may be played, of its time. chosen: a quarter, which listeners hardly notice.
const STRETCH: f64 = 0.25;

/// The listener of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listener {
    /// Send times of the packets from number `first` on, until each has arrived or is lost.
    sent: VecDeque<Instant>,
    first: u32,
    /// The last packet that was sent before these.
    sent_before: Option<Instant>,
    /// Means of delay and of its deviation in seconds, once a packet has come.
    estimate: Option<(f64, f64)>,
    /// Least delay so far, and the delay at which packets are played now, in seconds.
    fastest: f64,
    playout: f64,
    arrived: u32,
    late: u32,
    /// Sums over packets that were played: of the delays at which they were, and of what a rating counts of these.
    played_s: f64,
    counted_s: f64,
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
        // So much was played since the packet before.
        let played = self.sent_before.replace(sent_at).map_or(0.0, |it| sent_at.saturating_since(it).as_secs_f64());
        let (mean, deviation) = match self.estimate {
            None => {
                (self.fastest, self.playout) = (delay, delay + LEAST);
                (delay, 0.0)
            }
            Some((mean, deviation)) => {
                let mean = KEPT * mean + (1.0 - KEPT) * delay;
                let off = (mean - delay).abs();
                (mean, KEPT * deviation + (1.0 - KEPT) * off)
            }
        };
        self.estimate = Some((mean, deviation));
        self.fastest = self.fastest.min(delay);
        // A listener who waits for a packet stretches the sound that has arrived.
        let wanted = delay.max(mean + DEVIATIONS * deviation);
        let wanted = wanted.clamp(self.fastest + LEAST, self.fastest + MOST);
        let step = STRETCH * played;
        self.playout = wanted.clamp(self.playout - step, self.playout + step).max(self.fastest + LEAST);
        self.arrived += 1;
        if delay > self.playout {
            self.late += 1;
        } else {
            self.played_s += self.playout;
            self.counted_s += delay.max(self.playout - LEAST);
        }
    }

    /// Returns the result of the call.
    pub(crate) fn played(&self, lane: u32, direction: Direction) -> PlayedCall {
        let played = self.arrived - self.late;
        let mean = |sum: f64| (played > 0).then(|| Span::from_secs_f64(sum / f64::from(played)));
        PlayedCall {
            lane,
            direction,
            sent: self.first,
            arrived: self.arrived,
            late: self.late,
            playout: mean(self.played_s),
            counted: mean(self.counted_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A call whose packets, 20 ms apart, have these delays in ms; `None` for a lost one.
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
    fn where_nothing_varies_the_buffer_is_the_least_and_counts_for_nothing() {
        let mut delays = [Some(30); 50];
        delays[20] = None;
        let found = call(&delays);
        assert_eq!((found.sent, found.arrived, found.late), (50, 49, 0));
        assert_eq!((found.playout, found.counted), (Some(Span::from_ms(90)), Some(Span::from_ms(30))));
    }

    #[test]
    fn a_listener_who_waits_stretches_a_quarter_of_each_packet() {
        // Played at 30 + 60 ms. From 50 packets on all take 130 ms: 5 ms more for each, so seven are late, and at 125 + 5 ms
        // one is played.
        let delays: Vec<_> = [30; 50].into_iter().chain([130; 50]).map(Some).collect();
        let found = call(&delays);
        assert_eq!((found.arrived, found.late), (100, 7));
    }

    #[test]
    fn the_depth_follows_mean_and_deviation_and_goes_back() {
        // One in ten takes 150 ms longer for a minute: mean 15 and deviation 27 ms in the end, so 123 ms, and no less for long.
        let varied = (0..3000).map(|number| Some(if number % 10 == 5 { 180 } else { 30 }));
        let delays: Vec<_> = varied.chain(core::iter::repeat_n(Some(30), 3000)).collect();
        let mut listener = Listener::default();
        let mut deepest = 0.0_f64;
        for (number, delay) in (0..).zip(&delays) {
            let at = Instant::from_ms(20 * number);
            let sent = listener.on_sent(at);
            listener.on_arrival(at + Span::from_ms(delay.unwrap_or(0)), sent);
            deepest = deepest.max(listener.playout);
        }
        assert!((0.150..0.185).contains(&deepest), "{deepest}");
        assert!((listener.playout - 0.090).abs() < 1e-6, "{}", listener.playout);
    }

    #[test]
    fn nothing_is_played_of_a_call_that_never_comes() {
        let found = call(&[None; 5]);
        assert_eq!((found.sent, found.arrived, found.playout), (0, 0, None));
    }

    proptest! {
        #[test]
        fn what_a_fixed_listener_plays_is_played(delays in proptest::collection::vec(proptest::option::of(1_u64..400), 1..400)) {
            let found = call(&delays);
            let came = || delays.iter().flatten();
            let fastest = came().min().copied().unwrap_or(0);
            let late = came().filter(|&&ms| ms > fastest + 60).count();
            prop_assert!(found.late as usize <= late, "{} late, {late} of a fixed listener", found.late);
            if let Some(counted) = found.counted {
                prop_assert!(counted <= found.playout.unwrap());
                prop_assert!(counted >= Span::from_ms(fastest));
            }
        }
    }
}
