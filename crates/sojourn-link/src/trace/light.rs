//! Measurements of light use beside a trace of heavy use: a packet on an idle link arrives after a base delay, and the
//! few behind it at the times of a measured train. Only further packets go to the opportunities of heavy use.
//!
//! Source: CellReplay (Sentosa and others, NSDI 2025), `src/frontend/cellular_queue.cc` and README: lines of a time, a base delay and when
//! the packets of a train came after the first.
//! Deviations: a base delay between two lines lies on the straight line between them, before the first and behind the last it is theirs.
//! Lines do not begin again with the trace. As there, a packet that goes to the opportunities may come before one of its train.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::Write as _;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Packets, Span};
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Shape, Value};
use sojourn_queue::Backlog;

/// Longest base delay and longest train, ms. chosen: beyond any radio network.
const LONGEST_MS: u32 = 60_000;

/// A train that was measured; times in ms.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Train {
    /// Time of the measurement.
    at: u32,
    /// Delay of its first packet.
    base: u32,
    /// Arrivals of packets after the first, in rising order.
    chances: Vec<u32>,
}

/// Trains in order of time; none if only heavy use was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trains(Option<Arc<[Train]>>);

const EXAMPLE: &str =
    "time, base delay and arrivals in ms, a train a line or before a `;`: \"0 20 0 2 4; 1000 30 0 2 4\"";

impl Trains {
    /// None.
    pub(super) const NONE: Self = Self(None);

    fn trains(&self) -> &[Train] {
        self.0.as_deref().unwrap_or(&[])
    }

    pub(super) fn parse(text: &str) -> Result<Self, Mismatch> {
        if text.trim() == "none" {
            return Ok(Self::NONE);
        }
        let mut found: Vec<Train> = Vec::new();
        for line in text.split([';', '\n']) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let train = Self::train(line)?;
            if found.last().is_some_and(|before| before.at >= train.at) {
                return Err(Mismatch::new(alloc::format!("time does not rise to {} ms", train.at), EXAMPLE));
            }
            found.push(train);
        }
        if found.is_empty() {
            return Err(Mismatch::new("there is no train", EXAMPLE));
        }
        Ok(Self(Some(found.into())))
    }

    fn train(line: &str) -> Result<Train, Mismatch> {
        let number = |word: &str| -> Result<u32, Mismatch> {
            let digits = word.bytes().all(|byte| byte.is_ascii_digit());
            word.parse().ok().filter(|_| digits).ok_or_else(|| {
                let shown: String = word.chars().take(20).collect();
                Mismatch::new(alloc::format!("{shown:?} is no whole number of ms"), EXAMPLE)
            })
        };
        let numbers: Vec<u32> = line.split_ascii_whitespace().map(number).collect::<Result<_, _>>()?;
        let [at, base, chances @ ..] = &numbers[..] else {
            return Err(Mismatch::new("a train has three numbers at least", EXAMPLE));
        };
        let last = chances.last().copied();
        if last.is_none() || !chances.is_sorted() {
            return Err(Mismatch::new(alloc::format!("the train at {at} ms has no arrivals in rising order"), EXAMPLE));
        }
        if *at > super::opportunities::LATEST_MS || *base > LONGEST_MS || last > Some(LONGEST_MS) {
            return Err(Mismatch::new(
                alloc::format!("the train at {at} ms is too late, or takes more than {LONGEST_MS} ms"),
                EXAMPLE,
            ));
        }
        Ok(Train { at: *at, base: *base, chances: chances.to_vec() })
    }
}

/// A text of trains; see [`Trains`].
impl Value for Trains {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let Content::Text(text) = content else {
            return Err(Mismatch::new("trains are a text", EXAMPLE));
        };
        *self = Self::parse(text)?;
        Ok(())
    }

    fn print(&self) -> String {
        let mut text = String::new();
        for train in self.trains() {
            let between = if text.is_empty() { "" } else { "; " };
            // Writing to a text cannot fail.
            let _ = write!(text, "{between}{} {}", train.at, train.base);
            for chance in &train.chances {
                let _ = write!(text, " {chance}");
            }
        }
        quoted(if text.is_empty() { "none" } else { &text })
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// A packet on its way to the far end or to the opportunities of heavy use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    /// Arrival at the far end.
    pub(super) at: Instant,
    pub(super) entered_at: Instant,
    /// Delay as the first of a train.
    pub(super) base: Span,
    pub(super) meta: Meta,
    pub(super) item: PacketHandle,
    /// True if it takes a chance of its train.
    pub(super) is_light: bool,
}

/// Packets of light use; see the module.
#[derive(Clone, Debug)]
pub(super) struct Light {
    trains: Trains,
    gap: Span,
    opportunity: u64,
    coming: VecDeque<Coming>,
    /// The train under way: when it began, which was measured so, and its base delay.
    began: Instant,
    train: usize,
    base: Span,
    /// The chance that is next, and what is left of it.
    place: usize,
    left: u64,
    /// Arrival of the packet before.
    before: Option<Instant>,
    /// Arrivals at the link of packets that wait for opportunities.
    entered: BTreeMap<PacketHandle, Instant>,
}

impl Light {
    /// Of a link; `None` if nothing of light use was measured.
    pub(super) fn of(trains: &Trains, gap: Span, opportunity: u64) -> Option<Self> {
        (!trains.trains().is_empty()).then(|| Self {
            trains: trains.clone(),
            gap,
            opportunity,
            coming: VecDeque::new(),
            began: Instant::ZERO,
            train: 0,
            base: Span::ZERO,
            place: 0,
            left: 0,
            before: None,
            entered: BTreeMap::new(),
        })
    }

    /// A packet comes to the link; `start` is the time of the trace when the run began.
    pub(super) fn arrive(&mut self, now: Instant, start: Span, meta: Meta, item: PacketHandle) {
        let time = now.saturating_since(Instant::ZERO) + start;
        let base = self.base_at(time);
        let size = u64::from(meta.length).max(1);
        let begins = self.before.is_none_or(|before| now + base > before.saturating_add(self.gap));
        let mut is_light = true;
        let at = if begins {
            let trains = self.trains.trains();
            let behind = trains.partition_point(|train| Span::from_ms(u64::from(train.at)) <= time);
            (self.began, self.base) = (now, base);
            (self.train, self.place) = (behind.saturating_sub(1), 0);
            self.left = self.opportunity.saturating_sub(size);
            now + base
        } else {
            let chances = &self.trains.trains()[self.train].chances;
            let chance = |place: usize| chances.get(place).map(|ms| Span::from_ms(u64::from(*ms)));
            // One that is larger than a chance takes a whole one.
            let has_room = |left| left >= size.min(self.opportunity);
            while let Some(due) = chance(self.place)
                && !(has_room(self.left) && self.began + due >= now)
            {
                self.place += 1;
                self.left = self.opportunity;
            }
            if let Some(due) = chance(self.place) {
                self.left = self.left.saturating_sub(size);
                self.began + self.base + due
            } else {
                is_light = false;
                let last = chances.last().map_or(0, |ms| u64::from(*ms));
                now + base.max(Span::from_ms(last))
            }
        };
        self.before = Some(at);
        let coming = Coming { at, entered_at: now, base: base.min(at.saturating_since(now)), meta, item, is_light };
        let place = self.coming.partition_point(|one| one.at <= at);
        self.coming.insert(place, coming);
    }

    /// The base delay at a time of the trace.
    fn base_at(&self, time: Span) -> Span {
        let trains = self.trains.trains();
        let base = |train: &Train| Span::from_ms(u64::from(train.base));
        let behind = trains.partition_point(|train| Span::from_ms(u64::from(train.at)) <= time);
        let (Some(before), Some(after)) = (behind.checked_sub(1), trains.get(behind)) else {
            let nearest = trains.get(behind).or_else(|| trains.last());
            return nearest.map_or(Span::ZERO, base);
        };
        let before = &trains[before];
        let since = time - Span::from_ms(u64::from(before.at));
        let apart = u128::from(after.at - before.at) * u128::from(super::MILLISECOND_PS);
        let part = |ms: u32| u128::from(ms) * u128::from(super::MILLISECOND_PS);
        let (one, other) = (part(before.base), part(after.base));
        let done = u128::from(since.as_ps());
        let between = (one * (apart - done) + other * done) / apart;
        Span::from_ps(u64::try_from(between).unwrap_or(u64::MAX))
    }

    /// Returns the arrival of the next packet; [`Instant::NEVER`] if none is in flight.
    pub(super) fn next(&self) -> Instant {
        self.coming.front().map_or(Instant::NEVER, |one| one.at)
    }

    /// The packet that is there next.
    pub(super) fn pop(&mut self) -> Option<Coming> {
        self.coming.pop_front()
    }

    /// Notes when a packet came to the link that now waits for opportunities.
    pub(super) fn waits(&mut self, coming: &Coming) {
        self.entered.insert(coming.item, coming.entered_at);
    }

    /// Takes the arrival time at the link of a packet that has left.
    pub(super) fn came(&mut self, item: PacketHandle) -> Option<Instant> {
        self.entered.remove(&item)
    }

    /// Returns the packets in flight.
    pub(super) fn backlog(&self) -> Backlog {
        Backlog {
            bytes: Bytes(self.coming.iter().map(|one| u64::from(one.meta.length)).sum()),
            packets: Packets(u32::try_from(self.coming.len()).unwrap_or(u32::MAX)),
        }
    }
}
