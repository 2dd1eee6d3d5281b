//! Values of conditions over time, and transmission times on a line of changing rate.

use crate::LinkContext;
use crate::conditions::config::{ConditionConfig, Effect};
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, Span};

/// Picoseconds times bits per byte: the cost of a byte at 1 bit/s.
const BYTE_COST: u128 = 8_000_000_000_000;

/// The values of one effect over time.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<T> {
    /// From when on which value holds; `None` is what the link has by itself.
    steps: Vec<(Instant, Option<T>)>,
    /// Periodic conditions take precedence over steps.
    rhythms: Vec<Rhythm<T>>,
}

#[derive(Clone, Debug)]
struct Rhythm<T> {
    from: Instant,
    length: Span,
    every: Span,
    value: T,
}

impl<T> Rhythm<T> {
    /// How far the present round is at `now`; `None` before the first.
    fn into(&self, now: Instant) -> Option<Span> {
        let since = now.since(self.from)?;
        Some(Span::from_ps(since.as_ps() % self.every.as_ps()))
    }
}

impl<T: Clone> Timeline<T> {
    /// Returns the values of `conditions` with `effect`, in the order in which they are valid; `value` takes one out of
    /// a condition.
    pub(crate) fn of(
        conditions: &[ConditionConfig],
        effect: Effect,
        value: impl Fn(&ConditionConfig) -> Option<T>,
    ) -> Self {
        let (mut steps, mut rhythms) = (Vec::new(), Vec::new());
        let mut stays: Option<T> = None;
        for condition in conditions.iter().filter(|it| it.has(effect)) {
            let Some(value) = value(condition) else {
                continue;
            };
            let from = condition.begin();
            match (condition.length, condition.every) {
                (None, _) => {
                    stays = Some(value.clone());
                    steps.push((from, Some(value)));
                }
                (Some(_), None) => {
                    steps.push((from, Some(value)));
                    steps.push((condition.end(), stays.clone()));
                }
                (Some(length), Some(every)) => rhythms.push(Rhythm { from, length, every, value }),
            }
        }
        Self { steps, rhythms }
    }

    /// Returns true if the value never changes.
    pub(crate) const fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.rhythms.is_empty()
    }

    /// All values that it ever has.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        let steps = self.steps.iter().filter_map(|(_, value)| value.as_ref());
        steps.chain(self.rhythms.iter().map(|rhythm| &rhythm.value))
    }

    /// The value at `now` with the time since when it holds; `None` if the link's own holds.
    pub(crate) fn at(&self, now: Instant) -> Option<(Instant, &T)> {
        for rhythm in &self.rhythms {
            if let Some(into) = rhythm.into(now)
                && into < rhythm.length
            {
                let since = Instant::from_ps(now.as_ps() - into.as_ps());
                return Some((since, &rhythm.value));
            }
        }
        let (since, value) = self.steps.get(self.steps_by(now).checked_sub(1)?)?;
        value.as_ref().map(|value| (*since, value))
    }

    /// The first time after `now` at which it may be another value.
    fn next_change(&self, now: Instant) -> Instant {
        let step = self.steps.get(self.steps_by(now));
        let step = step.map_or(Instant::NEVER, |(at, _)| *at);
        self.rhythms.iter().fold(step, |next, rhythm| {
            let change = match rhythm.into(now) {
                None => rhythm.from,
                Some(into) if into < rhythm.length => now.saturating_add(rhythm.length - into),
                Some(into) => now.saturating_add(rhythm.every - into),
            };
            next.min(change)
        })
    }

    fn steps_by(&self, now: Instant) -> usize {
        self.steps.partition_point(|(at, _)| *at <= now)
    }
}

/// The rates of a line over time.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    own: BitRate,
    timeline: Timeline<BitRate>,
}

impl Rates {
    /// Those of a line with `own` rate; `None` if it never changes.
    pub(crate) fn of(own: BitRate, conditions: &[ConditionConfig]) -> Option<Self> {
        let timeline = Timeline::of(conditions, Effect::Rate, |it| it.rate);
        (!timeline.is_empty()).then_some(Self { own, timeline })
    }

    /// The rate at `now`.
    pub(crate) fn at(&self, now: Instant) -> BitRate {
        self.timeline.at(now).map_or(self.own, |(_, rate)| *rate)
    }

    /// Returns the time at which the last bit of `bytes` leaves a line that begins with them at `start`: the first
    /// picosecond by which the rate has carried them. [`Instant::NEVER`] if it never does.
    pub(crate) fn end(&self, start: Instant, bytes: Bytes, context: &mut (impl LinkContext + ?Sized)) -> Instant {
        let mut left = u128::from(bytes.0) * BYTE_COST;
        let mut at = start;
        while context.work(1) {
            let rate = u128::from(self.at(at).as_bps());
            let until = self.timeline.next_change(at);
            let carried = rate * u128::from(until.saturating_since(at).as_ps());
            if carried >= left {
                let span = left.div_ceil(rate.max(1));
                return at.saturating_add(Span::from_ps(u64::try_from(span).unwrap_or(u64::MAX)));
            }
            if until == Instant::NEVER {
                break;
            }
            left -= carried;
            at = until;
        }
        Instant::NEVER
    }
}

/// Returns the time from which the rate of `conditions` is zero for ever, if there is one.
pub fn stalls(conditions: &[ConditionConfig]) -> Option<Instant> {
    let timeline = Timeline::of(conditions, Effect::Rate, |it| it.rate);
    if !timeline.rhythms.is_empty() {
        return None;
    }
    let (at, last) = timeline.steps.last()?;
    (*last == Some(BitRate::ZERO) && *at < Instant::NEVER).then_some(*at)
}
