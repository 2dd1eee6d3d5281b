//! The airtime scheduler: stations take turns by the air that they use.
//!
//! A deficit round robin whose unit is time on the air. A station whose deficit is spent gets a quantum and goes to the end
//! of the ring; one that still has some stays at its head.
//!
//! Source: Linux mac80211, `ieee80211_next_txq`, `ieee80211_return_txq` and `ieee80211_sta_register_airtime`; quantum of 300 µs
//! (`IEEE80211_DEFAULT_AIRTIME_WEIGHT` of 256 in units of about a microsecond; Høiland-Jørgensen et al. 2017: 300 µs).
//! Deviations: all stations have one weight.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::Span;

/// See the module.
#[derive(Clone, Debug)]
pub struct Arbiter {
    /// `None` for a round robin by aggregates, whatever they take.
    quantum: Option<i64>,
    /// See [`Self::listed`].
    ring: VecDeque<usize>,
    is_listed: Vec<bool>,
    /// Picoseconds.
    deficits: Vec<i64>,
}

impl Arbiter {
    /// An empty ring for this many stations.
    pub fn new(stations: usize, quantum: Option<Span>) -> Self {
        Self {
            quantum: quantum.map(|quantum| signed(quantum).max(1)),
            ring: VecDeque::new(),
            is_listed: vec![false; stations],
            deficits: vec![0; stations],
        }
    }

    /// The station has something.
    pub fn list(&mut self, station: usize) {
        if !self.is_listed[station] {
            self.is_listed[station] = true;
            self.ring.push_back(station);
        }
    }

    /// Returns the stations that have something, or had when they were last asked.
    pub fn listed(&self) -> impl Iterator<Item = usize> {
        self.ring.iter().copied()
    }

    /// The station has used the air for so long, in either direction.
    pub fn charge(&mut self, station: usize, airtime: Span) {
        self.deficits[station] = self.deficits[station].saturating_sub(signed(airtime));
    }

    /// Returns the station whose turn it is: of those that `state` does not hold back.
    pub fn next(&mut self, mut state: impl FnMut(usize) -> Turn) -> Option<usize> {
        let mut held_back = 0;
        while held_back < self.ring.len() {
            let station = *self.ring.front()?;
            match state(station) {
                Turn::Empty => {
                    self.ring.pop_front();
                    self.is_listed[station] = false;
                }
                Turn::HeldBack => {
                    self.ring.rotate_left(1);
                    held_back += 1;
                }
                Turn::Ready => match self.quantum {
                    Some(quantum) if self.deficits[station] < 0 => {
                        self.deficits[station] += quantum;
                        self.ring.rotate_left(1);
                        held_back = 0;
                    }
                    Some(_) => return Some(station),
                    None => {
                        self.ring.rotate_left(1);
                        return Some(station);
                    }
                },
            }
        }
        None
    }
}

/// State of a station when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It has nothing, and leaves the ring.
    Empty,
    /// It has something and may not send now.
    HeldBack,
    /// It may send.
    Ready,
}

fn signed(span: Span) -> i64 {
    i64::try_from(span.as_ps()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `turns` turns of stations that take these times; returns the air that each has used.
    fn shares(arbiter: &mut Arbiter, turns: u32, takes: &[Span]) -> Vec<Span> {
        let mut used = vec![Span::ZERO; takes.len()];
        for station in 0..takes.len() {
            arbiter.list(station);
        }
        for _ in 0..turns {
            let station = arbiter.next(|_| Turn::Ready).expect("all have something");
            arbiter.charge(station, takes[station]);
            used[station] += takes[station];
        }
        used
    }

    #[test]
    fn stations_share_the_air_however_long_their_aggregates_take() {
        let takes = [Span::from_us(4000), Span::from_us(300), Span::from_us(170)];
        let used = shares(&mut Arbiter::new(3, Some(Span::from_us(300))), 20_000, &takes);
        let least = used.iter().min().expect("three").as_ps() as f64;
        let most = used.iter().max().expect("three").as_ps() as f64;
        assert!(most / least < 1.01, "{used:?}");
    }

    #[test]
    fn without_a_quantum_they_share_turns() {
        let takes = [Span::from_us(4000), Span::from_us(300)];
        let used = shares(&mut Arbiter::new(2, None), 1000, &takes);
        assert_eq!(used, [Span::from_us(4000) * 500, Span::from_us(300) * 500]);
    }

    #[test]
    fn one_that_is_held_back_does_not_hold_back_others() {
        let mut arbiter = Arbiter::new(3, Some(Span::from_us(300)));
        (0..3).for_each(|station| arbiter.list(station));
        let turn = |station: usize| [Turn::HeldBack, Turn::Empty, Turn::Ready][station];
        assert_eq!(arbiter.next(turn), Some(2));
        assert_eq!(arbiter.next(|_| Turn::HeldBack), None);
        // The one that was empty has left the ring until it is listed again.
        assert_eq!(arbiter.next(|station| if station == 1 { Turn::Ready } else { Turn::HeldBack }), None);
        arbiter.list(1);
        assert_eq!(arbiter.next(|station| if station == 1 { Turn::Ready } else { Turn::HeldBack }), Some(1));
    }
}
