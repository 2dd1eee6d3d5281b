//! Voice quality: packets that come too late, the rating R of a call, and its mean opinion score.
//!
//! Source: White 2012 3.2.2 (late packets, R after Cole and Rosenbluth); ITU-T G.107 for impairments by delay and by
//! loss, its Annex B for the score from a rating.
//! Units and ranges: delays in nanoseconds, in the rating in milliseconds; loss is a share of the packets sent; ratings
//! run to 94.2, scores from 1 to 4.5.
//! Deviations: the delays of a run are those of a histogram, right to 0.1 %, and so is the limit of lateness. The cubic
//! of G.107 falls below 1 for small ratings; the score stays at 1 there. The printed scores of White 2012 contain no
//! delay: [`DelayTerm::Absent`] repeats them.

use crate::loss::share;
use sojourn_base::{Span, math};
use sojourn_record::DatagramTally;

/// A packet is late if its delay exceeds the shortest one of the call by more: 60 ms (White 2012 3.2.2).
pub const LATE_AFTER: Span = Span::from_ms(60);

/// Delay between the access network and the listener, added to what is measured (White 2012 3.2.2).
pub const LISTENER_DELAY: Span = Span::from_ms(20);

/// Rating without delay and loss (White 2012 3.2.2).
const BEST_RATING: f64 = 94.2;
/// Impairment per millisecond (White 2012 3.2.2).
const PER_MS: f64 = 0.024;
/// Additional impairment per millisecond beyond [`CONVERSATION_LIMIT_MS`] (White 2012 3.2.2).
const PER_MS_BEYOND: f64 = 0.11;
/// Delay from which people begin to interrupt each other (White 2012 3.2.2).
const CONVERSATION_LIMIT_MS: f64 = 177.3;
/// Weight of the loss term (White 2012 3.2.2).
const LOSS_WEIGHT: f64 = 30.0;
/// How fast loss hurts (White 2012 3.2.2).
const LOSS_SLOPE: f64 = 15.0;
/// Rating with all defaults of ITU-T G.107, without delay and loss.
const DEFAULT_RATING: f64 = 93.2;
/// Impairment that loss alone comes to in the end (ITU-T G.107, Ie-eff).
const HEAVIEST_IMPAIRMENT: f64 = 95.0;
/// Rating from which the cubic of G.107 is above 1 for good (its root, ITU-T G.107 Annex B).
const LOWEST_RATING: f64 = 6.5;
/// Score of a rating of 100 and more (ITU-T G.107 Annex B).
const BEST_SCORE: f64 = 4.5;

/// Treatment of delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayTerm {
    /// As the formula says, in milliseconds.
    Counted,
    /// Left out: all 36 scores printed by White 2012 in Tables 7 and 8 follow from loss alone.
    Absent,
}

/// Packets of a call by their fate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Packets sent.
    pub sent: u64,
    /// Packets that never came.
    pub lost: u64,
    /// Packets that came too late to be played.
    pub late: u64,
    /// Mean delay in ms of the packets that were played; `None` if none was.
    pub mean_delay_ms: Option<f64>,
}

impl Call {
    /// The call whose packets had these one-way delays, `None` for a lost one: the definition, to the
    /// nanosecond.
    pub fn new(delays: &[Option<u64>]) -> Self {
        let received = || delays.iter().copied().flatten().map(Span::from_ns);
        let shortest = received().min().unwrap_or_default();
        let played = received().filter(|delay| !is_late(*delay, shortest));
        let (count, sum) = played.fold((0_u64, 0_u64), |(n, sum), delay| (n + 1, sum + delay.as_ns()));
        let arrived = received().count() as u64;
        let sent = delays.len() as u64;
        Self {
            sent,
            lost: sent - arrived,
            late: arrived - count,
            mean_delay_ms: (count > 0).then(|| sum as f64 / count as f64 / 1e6),
        }
    }

    /// The call of which a run kept this tally: as [`Call::new`], but a delay is the middle of its bin.
    pub fn from_tally(tally: &DatagramTally) -> Self {
        let delays = tally.delays();
        let shortest = Span::from_ns(delays.min_ns().unwrap_or_default());
        let played = delays.middles().filter(|(delay, _)| !is_late(Span::from_ns(*delay), shortest));
        let (count, sum) =
            played.fold((0_u64, 0.0), |(n, sum), (delay, count)| (n + count, sum + delay as f64 * count as f64));
        Self {
            sent: tally.sent(),
            lost: tally.lost(),
            late: delays.packets() - count,
            mean_delay_ms: (count > 0).then(|| sum / count as f64 / 1e6),
        }
    }

    /// Share of packets lost.
    pub fn lost_share(&self) -> Option<f64> {
        share(self.lost, self.sent)
    }

    /// Share of packets late.
    pub fn late_share(&self) -> Option<f64> {
        share(self.late, self.sent)
    }

    /// Share of packets that were not played: lost or late.
    pub fn total_loss(&self) -> Option<f64> {
        share(self.lost + self.late, self.sent)
    }

    /// Rating of the call with the delay to the listener added; `None` if nothing was sent. Without a
    /// single played packet the added delay alone counts.
    pub fn rating(&self, delay: DelayTerm) -> Option<f64> {
        let delay_ms = match delay {
            DelayTerm::Counted => self.mean_delay_ms.unwrap_or(0.0) + LISTENER_DELAY.as_ms_f64(),
            DelayTerm::Absent => 0.0,
        };
        Some(rating(delay_ms, self.total_loss()?))
    }

    /// Mean opinion score of the call.
    pub fn score(&self, delay: DelayTerm) -> Option<f64> {
        Some(mean_opinion_score(self.rating(delay)?))
    }
}

/// Returns true if a packet with this delay is too late to be played in a call whose fastest took `shortest`.
pub fn is_late(delay: Span, shortest: Span) -> bool {
    delay.saturating_sub(shortest) > LATE_AFTER
}

/// R of a G.711 call with a mean one-way delay of `delay_ms` and the share `loss` of packets lost or
/// late. The logarithm is the natural one: only it agrees with the printed scores.
pub fn rating(delay_ms: f64, loss: f64) -> f64 {
    BEST_RATING
        - PER_MS * delay_ms
        - PER_MS_BEYOND * (delay_ms - CONVERSATION_LIMIT_MS).max(0.0)
        - LOSS_WEIGHT * math::ln_1p(LOSS_SLOPE * loss)
}

/// How a codec bears loss, ITU-T G.107.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Impairment without loss (Ie).
    pub impairment: f64,
    /// Robustness against loss (Bpl).
    pub robustness: f64,
}

impl Codec {
    /// G.711 that plays nothing for what is lost. Source: ITU-T G.113 Appendix I.
    pub const G711: Self = Self { impairment: 0.0, robustness: 4.3 };
    /// G.711 with concealment of losses. Source: ITU-T G.113 Appendix I.
    pub const G711_CONCEALED: Self = Self { impairment: 0.0, robustness: 25.1 };

    /// Impairment with the share `loss` of packets lost or late (Ie-eff); `burst_ratio` is how much longer bursts of loss are
    /// than by chance (BurstR), 1 if losses are independent.
    pub fn impairment_with_loss(&self, loss: f64, burst_ratio: f64) -> f64 {
        let percent = 100.0 * loss;
        let lost = percent / (percent / burst_ratio + self.robustness);
        if percent > 0.0 { self.impairment + (HEAVIEST_IMPAIRMENT - self.impairment) * lost } else { self.impairment }
    }
}

/// Impairment by an absolute one-way delay, mouth to ear, in ms (Idd of ITU-T G.107): nothing up to 100 ms.
pub fn delay_impairment(delay_ms: f64) -> f64 {
    const FREE_MS: f64 = 100.0;
    if delay_ms <= FREE_MS {
        return 0.0;
    }
    let x = math::ln(delay_ms / FREE_MS) / core::f64::consts::LN_2;
    let sixth_root = |x: f64| math::cbrt(math::sqrt(1.0 + x * x * x * x * x * x));
    25.0 * (sixth_root(x) - 3.0 * sixth_root(x / 3.0) + 2.0)
}

/// Talker echo loudness rating of a telephone, in dB. Source: ITU-T G.107, default.
pub const DEFAULT_TELR: f64 = 65.0;

/// Signal to noise at the default loudness and noise, 15 - 1.5 (SLR + No) with SLR = 8 dB and No = -61.18 dBm0p, and the same for
/// echo, -1.5 (No - RLR) with RLR = 2 dB: both come to 94.77 (ITU-T G.107, Ro and Roe).
const SIGNAL_TO_NOISE: f64 = 94.77;

/// Impairment by echo, with an absolute one-way delay in ms and this talker echo loudness rating: Idte and what Idle grows by, of
/// the default weighted echo path loss of 110 dB (ITU-T G.107).
///
/// Below some 5 ms the formula gives up to -0.2, which is nothing here.
pub fn echo_impairment(delay_ms: f64, telr: f64) -> f64 {
    let squared = delay_ms * delay_ms;
    let heard =
        telr - 40.0 * log10((1.0 + delay_ms / 10.0) / (1.0 + delay_ms / 150.0)) + 6.0 * math::exp(-0.3 * squared);
    let of_talker = 80.0 + 2.5 * (heard - 14.0);
    let talker = (hinge(of_talker, 100.0) - 1.0) * (1.0 - math::exp(-delay_ms));
    let of_listener = |round_trip_ms: f64| 10.5 * (110.0 + 7.0) / math::sqrt(math::sqrt(1.0 + round_trip_ms));
    let listener = hinge(of_listener(2.0 * delay_ms), 169.0) - hinge(of_listener(0.0), 169.0);
    talker.max(0.0) + listener
}

/// Returns the smoothed loss of a ratio near to that of signal to noise.
fn hinge(ratio: f64, softness: f64) -> f64 {
    let half = (SIGNAL_TO_NOISE - ratio) / 2.0;
    half + math::sqrt(half * half + softness)
}

fn log10(x: f64) -> f64 {
    math::ln(x) / core::f64::consts::LN_10
}

/// Rating of ITU-T G.107 with its defaults for all that the network does not change; `telr` is the talker echo loudness rating in
/// dB, `None` of telephones without echo.
pub fn rating_g107(delay_ms: f64, loss: f64, codec: Codec, telr: Option<f64>) -> f64 {
    let lost = codec.impairment_with_loss(loss, 1.0);
    let echo = telr.map_or(0.0, |telr| echo_impairment(delay_ms, telr));
    DEFAULT_RATING - delay_impairment(delay_ms) - echo - lost
}

/// Mean opinion score of a rating, 1 to 4.5.
pub fn mean_opinion_score(rating: f64) -> f64 {
    if rating <= 0.0 {
        1.0
    } else if rating >= 100.0 {
        BEST_SCORE
    } else {
        cubic(rating).max(1.0)
    }
}

/// The rating of a mean opinion score; `None` outside 1 to 4.5. The cubic rises between 6.5 and 100, so
/// the answer is found by bisection to the last bit, which needs no trigonometry.
pub fn rating_of_score(score: f64) -> Option<f64> {
    if !(1.0..=BEST_SCORE).contains(&score) {
        return None;
    }
    let (mut low, mut high) = (LOWEST_RATING, 100.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if cubic(middle) < score {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// ITU-T G.107 Annex B for ratings between 0 and 100.
fn cubic(r: f64) -> f64 {
    1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)
}

#[cfg(test)]
mod tests;
