//! The opportunities of a trace: when something may leave, and how often.
//!
//! Source: Mahimahi, `traces/README`: a line for each opportunity, in whole milliseconds.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::Write as _;
use sojourn_base::Span;
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Shape, Value};

/// Opportunities of a trace at most. chosen: four hours of a thousand a second.
const MOST: u32 = 16_000_000;

/// Latest time of a trace, ms. chosen: twenty days, far beyond any drive.
pub(super) const LATEST_MS: u32 = 1_728_000_000;

/// Instants with opportunities, in order of time: the time in milliseconds, and how many there were up to then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opportunities(Option<Arc<[(u32, u32)]>>);

impl Opportunities {
    /// None, which no link can be built of.
    pub(super) const NONE: Self = Self(None);

    /// Each instant, and how many there were up to then.
    pub(super) fn instants(&self) -> &[(u32, u32)] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Those at these times in milliseconds, each with how many there are.
    ///
    /// # Errors An invalid opportunity, and the remedy.
    pub fn new(runs: impl IntoIterator<Item = (u32, u32)>) -> Result<Self, Mismatch> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut total = 0_u32;
        for (at, count) in runs {
            if let Some((before, _)) = found.last()
                && at < *before
            {
                return Err(Mismatch::new(
                    alloc::format!("time runs back, from {before} ms to {at} ms"),
                    "times in rising order, each as often as there are opportunities",
                ));
            }
            total = total.saturating_add(count);
            if total > MOST || at > LATEST_MS {
                return Err(Mismatch::new(
                    alloc::format!("there are more than {MOST} opportunities, or one after {LATEST_MS} ms"),
                    "a part of the trace: `sojourn trace cut`",
                ));
            }
            match found.last_mut() {
                Some((before, so_far)) if *before == at => *so_far = total,
                _ if count == 0 => {}
                _ => found.push((at, total)),
            }
        }
        match found.last() {
            None => Err(Mismatch::new("there is no opportunity", EXAMPLE)),
            Some((0, _)) => Err(Mismatch::new("all opportunities are at 0 ms, so the trace has no length", EXAMPLE)),
            Some(_) => Ok(Self(Some(found.into()))),
        }
    }

    /// The text of a key or of a file: times in whole milliseconds, `+3` for three later than the one before, `5*2` for two at
    /// once.
    pub(super) fn parse(text: &str) -> Result<Self, Mismatch> {
        let mut before = 0_u32;
        let mut wrong = None;
        let tokens = text.split_ascii_whitespace();
        let runs = tokens.map_while(|token| {
            let run = Self::run(token, before);
            if run.is_none() {
                wrong = Some(token);
            }
            before = run?.0;
            run
        });
        let found = Self::new(runs);
        match wrong {
            None => found,
            Some(token) => Err(Mismatch::new(
                alloc::format!("{:?} is no time of an opportunity", token.chars().take(20).collect::<String>()),
                EXAMPLE,
            )),
        }
    }

    pub(super) fn run(token: &str, before: u32) -> Option<(u32, u32)> {
        let (at, count) = token.split_once('*').unwrap_or((token, "1"));
        let digits = |text: &str| -> Option<u32> {
            (text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
        };
        let at = match at.strip_prefix('+') {
            Some(gap) => before.checked_add(digits(gap)?)?,
            None => digits(at)?,
        };
        Some((at, digits(count)?))
    }

    /// How many there are.
    pub(super) fn total(&self) -> u32 {
        self.instants().last().map_or(0, |(_, total)| *total)
    }

    /// After how long it begins again: the time of the last one.
    pub(super) fn period(&self) -> Span {
        Span::from_ms(self.instants().last().map_or(0, |(at, _)| u64::from(*at)))
    }

    /// How many there are before those at a place.
    pub(super) fn before(&self, place: usize) -> u32 {
        place.checked_sub(1).map_or(0, |place| self.instants()[place].1)
    }
}

pub(super) const EXAMPLE: &str = "whole milliseconds in rising order, for instance \"5 5 8 12\"";

/// A text of times; see [`Opportunities`].
impl Value for Opportunities {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let Content::Text(text) = content else {
            return Err(Mismatch::new("times of opportunities are a text", EXAMPLE));
        };
        *self = Self::parse(text)?;
        Ok(())
    }

    fn print(&self) -> String {
        let (mut text, mut before) = (String::new(), (0, 0));
        for (at, total) in self.instants() {
            let sign = if text.is_empty() { "" } else { " +" };
            // Writing to a text cannot fail.
            let _ = write!(text, "{sign}{}", at - before.0);
            if total - before.1 > 1 {
                let _ = write!(text, "*{}", total - before.1);
            }
            before = (*at, *total);
        }
        quoted(&text)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}
