//! Minstrel: the sender learns from acknowledgements which mode carries most, and tries others now and then.
//!
//! Source: Linux, `net/mac80211/rc80211_minstrel_ht.c` and its documentation (wireless.wiki.kernel.org, "minstrel"), both as
//! recalled: statistics each 50 ms with an EWMA of 75 % old and 25 % new, throughput of a mode as its success over its air
//! time, no throughput below 10 % of success and success above 90 % counted as 90 %, a chain of the best, the second best, the
//! surest and the slowest mode.
//! Deviations: chosen: one transmission in ten tries another mode, in turns, as in `minstrel` (kernels since 5.11 spread
//! samples over intervals); a mode of the chain is left after two transmissions of which nothing was acknowledged; air time is that
//! of a frame of 1,200 B with an eighth of the preamble, as an aggregate of eight has.

use crate::wifi::phy::Mode;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Span};
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of Minstrel.
    #[derive(Copy)]
    pub struct MinstrelConfig {
        /// time between updates of a mode's statistics
        interval: Span = Span::from_ms(50), origin("Linux rc80211_minstrel_ht.c: HZ / 20 [as recalled]").least("1 ms").most("10 s");
        /// weight of the past in an update, in percent
        past: u32 = 75, origin("Linux rc80211_minstrel.h: EWMA_LEVEL 96 of 128 [as recalled]").most("99");
        /// percent of the transmissions that try another mode
        probing: u32 = 10, origin("Linux minstrel: lookaround_rate 10 %").most("50");
    }
}

/// Success is counted in this unit: integers decide, so that no rounding does.
const ONE: u64 = 1 << 16;

/// A mode with its statistics.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mode: Mode,
    /// Air time of a frame in an aggregate.
    frame: Span,
    sent: u64,
    delivered: u64,
    /// Chance of success, in units of [`ONE`]; `None` if it was never tried.
    success: Option<u64>,
}

impl Rate {
    /// Expected throughput in frames a second, in units of [`ONE`].
    fn throughput(&self) -> u64 {
        match self.success {
            None => 0,
            Some(success) if success < ONE / 10 => 0,
            Some(success) => success.min(ONE * 9 / 10) * 1_000_000 / self.frame.as_ns().max(1),
        }
    }
}

/// State of Minstrel towards one station.
#[derive(Clone, Debug)]
pub struct Minstrel {
    config: MinstrelConfig,
    rates: Vec<Rate>,
    /// Indices of the best, the second, the surest and the slowest mode.
    chain: [usize; 4],
    next_update: Instant,
    /// Transmissions in a row of which nothing was acknowledged.
    failures: u32,
    /// Hundredths of a try that are due.
    due: u32,
    /// The next mode to try.
    turn: usize,
    /// The mode that is being tried.
    trying: Option<Mode>,
}

/// Transmissions without an acknowledgement after which the next mode of the chain is taken. chosen: two.
const FAILURES: u32 = 2;

impl Minstrel {
    /// Knows nothing of `modes`, which go from the slowest to the fastest: it begins with the slowest.
    pub fn new(modes: Vec<Mode>, config: MinstrelConfig) -> Self {
        let rate = |mode: Mode| {
            let preamble = mode.preamble();
            let data = mode.data_duration(Bytes(1_200)).saturating_sub(preamble);
            Rate { mode, frame: data + preamble / 8, sent: 0, delivered: 0, success: None }
        };
        let rates = modes.into_iter().map(rate).collect();
        Self {
            config,
            rates,
            chain: [0; 4],
            next_update: Instant::ZERO + config.interval,
            failures: 0,
            due: 0,
            turn: 0,
            trying: None,
        }
    }

    /// The mode of the next transmission.
    pub fn select(&mut self, now: Instant, random: &mut dyn FnMut() -> f64) -> Mode {
        if now >= self.next_update {
            self.update();
            self.next_update = now + self.config.interval;
        }
        self.trying = None;
        if self.failures == 0 {
            self.due += self.config.probing;
            if self.due >= 100 {
                self.due -= 100;
                self.trying = self.candidate(random);
            }
        }
        let place = (self.failures / FAILURES).min(3) as usize;
        self.trying.unwrap_or(self.rates[self.chain[place]].mode)
    }

    /// A mode in turn, from a place that is drawn when a round begins; `None` if it cannot carry more than the best does, or
    /// is hopeless.
    fn candidate(&mut self, random: &mut dyn FnMut() -> f64) -> Option<Mode> {
        let count = self.rates.len();
        if self.turn == 0 {
            self.turn = draw(random(), count);
        } else {
            self.turn = (self.turn + 1) % count;
        }
        let rate = &self.rates[self.turn];
        let best = &self.rates[self.chain[0]];
        let slower = rate.frame > best.frame && rate.success.is_some();
        (rate.mode != best.mode && !slower).then_some(rate.mode)
    }

    /// Reports a transmission by `mode`.
    pub fn report(&mut self, mode: Mode, sent: u32, delivered: u32) {
        if let Some(rate) = self.rates.iter_mut().find(|rate| rate.mode == mode) {
            rate.sent += u64::from(sent);
            rate.delivered += u64::from(delivered);
        }
        if self.trying.take().is_none() {
            self.failures = if delivered == 0 { self.failures + 1 } else { 0 };
        }
    }

    fn update(&mut self) {
        let past = u64::from(self.config.past);
        for rate in &mut self.rates {
            if let Some(fresh) = (rate.delivered * ONE).checked_div(rate.sent) {
                rate.success = Some(rate.success.map_or(fresh, |old| (old * past + fresh * (100 - past)) / 100));
                (rate.sent, rate.delivered) = (0, 0);
            }
        }
        // Of equals the slower one: it is surer.
        let fastest = |but: Option<usize>| {
            (0..self.rates.len())
                .filter(|index| Some(*index) != but)
                .rev()
                .max_by_key(|index| self.rates[*index].throughput())
        };
        let best = fastest(None).unwrap_or(0);
        let second = fastest(Some(best)).unwrap_or(best);
        // Above 95 % all are sure, and the fastest of them is taken.
        let sure = |index: &usize| {
            let success = self.rates[*index].success.unwrap_or(0);
            (success.min(ONE * 95 / 100), self.rates[*index].throughput())
        };
        let surest = (0..self.rates.len()).max_by_key(sure).unwrap_or(0);
        self.chain = [best, second, surest, 0];
        self.failures = 0;
    }
}

/// An index below `count` from a draw in [0, 1).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a draw in [0, 1), and few modes")]
fn draw(unit: f64, count: usize) -> usize {
    ((unit * count as f64) as usize).min(count - 1)
}
