//! Conditions of a link as files spell them, and what is wrong with them.

use crate::config::keys::HIGHEST_RATE;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, Span};
use sojourn_keys::{Key, key, origin, parameters};

/// Most conditions of a link. chosen: a trace of three hours, second by second.
pub const MOST_CONDITIONS: &str = "10000";

/// The list of conditions of a link.
pub const CONDITIONS: Key = key(
    "conditions",
    "what changes on this link in the course of a run, in order of time: rate, delay, loss, jitter, slots and more",
    "chosen: none",
)
.most(MOST_CONDITIONS);

parameters! {
    /// One condition: from when, for how long, and what is different then. Several effects may stand in one.
    pub struct ConditionConfig {
        /// from then on, until the next of the same effect
        at: Option<Span> = None, origin("no default: it is this, or from and for").or("none"), if |it| it.at.is_some();
        /// begin of a condition that ends; what was before holds again then
        from: Option<Span> = None, origin("no default: it is this, or at").or("none"), if |it| it.from.is_some();
        /// how long it holds, after from
        length as "for": Option<Span> = None, origin("no default: needed beside from").or("none").least("1 us"),
            if |it| it.length.is_some();
        /// time from one begin to the next, if it comes again and again
        every: Option<Span> = None, origin("chosen: it comes once").or("none").least("1 us"), if |it| it.every.is_some();
        /// rate of the line, also "0 b/s"; a packet under way goes on at the new rate; of kind serial only
        rate: Option<BitRate> = None, origin("chosen: that of the link").or("none").most(HIGHEST_RATE),
            if |it| it.rate.is_some();
        /// delay beside that of the link, one way
        delay: Option<Span> = None, origin("chosen: none").or("none").most("10 s"), if |it| it.delay.is_some();
        /// share of packets that are lost, each by a draw of its own
        loss: Option<f64> = None, origin("chosen: none").or("none").least("0").most("1"), if |it| it.loss.is_some();
        /// each packet with a number divisible by this is lost, counted from 1 when the run begins
        loss_every: Option<u32> = None, origin("chosen: none").or("none").least("1"), if |it| it.loss_every.is_some();
        /// standard deviation of a Gaussian delay, which is cut off at three of them either way and shifted by three, so that none is negative
        // RFC 8868 4.5.2 and 4.5.3 cut off at three standard deviations.
        jitter: Option<Span> = None, origin("chosen: none; cut off as in RFC 8868, 4.5.2").or("none").most("1 s"),
            if |it| it.jitter.is_some();
        /// with jitter: packets may overtake those with a longer delay
        overtake: bool = false, origin("chosen: order is kept, as in RFC 8868, 4.5.2"), if |it| it.overtake;
        /// share of packets that wait for reorder_by while others overtake them
        reorder: Option<f64> = None, origin("chosen: none").or("none").least("0").most("1"), if |it| it.reorder.is_some();
        /// how long these wait
        reorder_by: Span = Span::from_ms(5), origin("chosen: some packets' time at usual rates").least("1 us").most("10 s"),
            if |it| it.reorder.is_some();
        /// share of packets that arrive twice
        duplicate: Option<f64> = None, origin("chosen: none").or("none").least("0").most("1"),
            if |it| it.duplicate.is_some();
        /// time between slots, or the shortest and the longest of a uniform draw: what arrives leaves together at the next slot
        hold: Vec<Span> = Vec::new(), origin("chosen: none").one_or_many().least("1 us").most("10 s"),
            if |it| !it.hold.is_empty();
        /// most packets that leave in a slot; the others wait for the next
        hold_packets: Option<u32> = None, origin("chosen: as many as have come").or("unlimited").least("1"),
            if |it| it.hold_packets.is_some();
        /// rate of a policer: what exceeds its bucket is lost, and nothing waits
        police: Option<BitRate> = None, origin("chosen: none").or("none").least("1 b/s").most(HIGHEST_RATE),
            if |it| it.police.is_some();
        /// depth of the policer's bucket, which is full when the condition begins
        police_burst: Bytes = Bytes(30_000), origin("chosen: twenty full packets").least("1 B").most("1000 GB"),
            if |it| it.police.is_some();
    }
}

/// Effects of a condition; conditions with the same effect must not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The rate of the line.
    Rate,
    /// A further delay.
    Delay,
    /// Random loss.
    Loss,
    /// Loss of each n-th packet.
    LossEvery,
    /// A random delay.
    Jitter,
    /// Some packets come late.
    Reorder,
    /// Some packets come twice.
    Duplicate,
    /// Packets leave in slots.
    Hold,
    /// A token bucket without a queue.
    Police,
}

impl Effect {
    /// All of them, in the order in which a packet meets them.
    pub const ALL: [Self; 9] = [
        Self::Rate,
        Self::Police,
        Self::LossEvery,
        Self::Loss,
        Self::Duplicate,
        Self::Delay,
        Self::Jitter,
        Self::Reorder,
        Self::Hold,
    ];

    /// Its key.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::LossEvery => "loss_every",
            Self::Jitter => "jitter",
            Self::Reorder => "reorder",
            Self::Duplicate => "duplicate",
            Self::Hold => "hold",
            Self::Police => "police",
        }
    }
}

/// Something wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionProblem {
    /// Number of the condition, from 0.
    pub index: usize,
    /// Its key.
    pub field: &'static str,
    /// A sentence.
    pub message: String,
    /// The remedy.
    pub hint: &'static str,
}

impl ConditionConfig {
    /// Returns true if it has this effect.
    pub const fn has(&self, effect: Effect) -> bool {
        match effect {
            Effect::Rate => self.rate.is_some(),
            Effect::Delay => self.delay.is_some(),
            Effect::Loss => self.loss.is_some(),
            Effect::LossEvery => self.loss_every.is_some(),
            Effect::Jitter => self.jitter.is_some(),
            Effect::Reorder => self.reorder.is_some(),
            Effect::Duplicate => self.duplicate.is_some(),
            Effect::Hold => !self.hold.is_empty(),
            Effect::Police => self.police.is_some(),
        }
    }

    /// Returns its first start.
    pub fn begin(&self) -> Instant {
        Instant::ZERO.saturating_add(self.at.or(self.from).unwrap_or(Span::ZERO))
    }

    /// Returns its first end; [`Instant::NEVER`] if it has none.
    pub fn end(&self) -> Instant {
        self.length.map_or(Instant::NEVER, |length| self.begin().saturating_add(length))
    }

    fn own_problems(&self, mut tell: impl FnMut(&'static str, String, &'static str)) {
        if !Effect::ALL.into_iter().any(|effect| self.has(effect)) {
            tell(
                "at",
                String::from("changes nothing"),
                "rate, delay, loss, loss_every, jitter, reorder, duplicate, hold or police beside it",
            );
        }
        match (self.at, self.from, self.length) {
            (None, None, _) => tell(
                "at",
                String::from("does not say when"),
                "at = \"30 s\" for what stays, or from = \"30 s\" and for = \"2 s\" for what ends",
            ),
            (Some(_), Some(_), _) => {
                tell("from", String::from("has at and from"), "at for what stays, or from and for for what ends");
            }
            (Some(_), None, Some(_)) => {
                tell("for", String::from("what begins with at does not end"), "from instead of at");
            }
            (None, Some(_), None) => tell(
                "from",
                String::from("does not say for how long"),
                "for = \"2 s\" beside from, or at instead of it",
            ),
            _ => {}
        }
        if let Some(every) = self.every {
            match self.length {
                None => tell("every", String::from("what comes again has to end"), "from and for beside every"),
                Some(length) if length > every => tell(
                    "every",
                    format!("comes again after {every} and lasts {length}: it overlaps with itself"),
                    "a shorter for, or a longer every",
                ),
                Some(_) => {}
            }
        }
        if self.overtake && self.jitter.is_none() {
            tell(
                "overtake",
                String::from("there is no jitter that would let packets overtake"),
                "jitter = \"5 ms\" beside it, or reorder",
            );
        }
        if self.reorder.is_none() && self.reorder_by != Self::BASE.reorder_by {
            tell(
                "reorder_by",
                String::from("there are no late packets whose delay it would be"),
                "reorder = 0.01 beside it",
            );
        }
        if self.police.is_none() && self.police_burst != Self::BASE.police_burst {
            tell(
                "police_burst",
                String::from("there is no policer whose bucket it would be"),
                "police = \"10 Mb/s\" beside it",
            );
        }
        if self.hold.len() > 2 {
            tell(
                "hold",
                format!("{} times between slots", self.hold.len()),
                "one, or the shortest and the longest: [\"0.8 ms\", \"5 ms\"]",
            );
        } else if let [shortest, longest] = self.hold[..]
            && shortest >= longest
        {
            tell(
                "hold",
                format!("the shortest time between slots, {shortest}, is not below the longest, {longest}"),
                "the shortest first: [\"0.8 ms\", \"5 ms\"]",
            );
        } else if self.hold_packets.is_some() && self.hold.is_empty() {
            tell(
                "hold_packets",
                String::from("there are no slots whose packets could be counted"),
                "hold = \"5 ms\" beside it",
            );
        }
    }

    /// Returns true if it overlaps `other`, which does not begin before it.
    fn overlaps(&self, other: &Self) -> bool {
        let (begin, end) = (other.begin(), other.end());
        match (self.every, other.every) {
            // A lasting condition is replaced by a later one.
            _ if self.at.is_some() && other.every.is_none() => false,
            (None, None) => begin < self.end(),
            (None, Some(_)) => self.at.is_none() && begin < self.end(),
            (Some(every), None) => {
                let length = self.length.unwrap_or(every);
                if every.is_zero() {
                    return false;
                }
                let into = Span::from_ps(begin.saturating_since(self.begin()).as_ps() % every.as_ps());
                // A step beside something that comes again is fine outside of it; a window must fit between two.
                into < length || (other.length.is_some() && into.saturating_add(end.saturating_since(begin)) > every)
            }
            (Some(every), Some(rhythm)) => {
                let (length, other) = (self.length.unwrap_or(every), other.length.unwrap_or(rhythm));
                if every != rhythm || every.is_zero() {
                    return true;
                }
                let into = Span::from_ps(begin.saturating_since(self.begin()).as_ps() % every.as_ps());
                into < length || into.saturating_add(other) > every
            }
        }
    }
}

/// Everything that is wrong with the conditions of a link, whose rate may change if `rate_may_change`.
pub fn condition_problems(conditions: &[ConditionConfig], rate_may_change: bool) -> Vec<ConditionProblem> {
    let mut problems = Vec::new();
    for (index, condition) in conditions.iter().enumerate() {
        condition.own_problems(|field, message, hint| {
            problems.push(ConditionProblem { index, field, message, hint });
        });
        if condition.rate.is_some() && !rate_may_change {
            problems.push(ConditionProblem {
                index,
                field: "rate",
                message: String::from("the rate of this kind of link is that of its service flow and stays"),
                hint: "a link of kind serial; of a channel that others use, congestion says what they leave",
            });
        }
    }
    for effect in Effect::ALL {
        let alike = || {
            let all = conditions.iter().enumerate();
            all.filter(move |(_, condition)| condition.has(effect))
        };
        for (pair, (index, later)) in alike().enumerate().skip(1) {
            // A repeated condition reaches far; of the others the one before is enough.
            let back = alike().take(pair).filter(|(_, one)| one.every.is_some());
            let before = alike().nth(pair - 1);
            let mut told = false;
            for (_, earlier) in before.into_iter().chain(back) {
                if told {
                    break;
                }
                let (message, hint) = if later.begin() < earlier.begin() {
                    (
                        format!("goes back in time: {} comes after {}", when(later), when(earlier)),
                        "conditions with the same effect in order of time",
                    )
                } else if earlier.at.is_some() && later.at == earlier.at {
                    (format!("two conditions say what {} is at {}", effect.key(), when(later)), "one of them")
                } else if earlier.overlaps(later) {
                    (
                        format!(
                            "overlaps with another {}: the one that begins at {} is not over",
                            effect.key(),
                            when(earlier)
                        ),
                        "a shorter for, or a later begin; effects of another kind may overlap",
                    )
                } else {
                    continue;
                };
                told = true;
                problems.push(ConditionProblem { index, field: effect.key(), message, hint });
            }
        }
    }
    problems.sort_by_key(|problem| problem.index);
    problems
}

fn when(condition: &ConditionConfig) -> Span {
    condition.at.or(condition.from).unwrap_or(Span::ZERO)
}
