//! Columns of bins of equal width, and the pyramid of coarser bins over them.
//!
//! A bin may be written in any order: packets are reported when they leave a link, which may be after, or before, the
//! time that they count for. Each read rebuilds the pyramid from the first changed bin. Eight bins of one level are one
//! of the next.

use core::ops::Range;
use sojourn_base::{Instant, Span};

/// Bins of a level that make one of the next. chosen: a level in between costs an eighth of the memory, and a picture
/// reads at most eight cells a pixel.
pub const FOLD: usize = 8;

/// Levels, the bins themselves included. chosen: bins of 1 ms end at 4.096 s, of which a run of an hour has fewer than a
/// picture has pixels.
pub const LEVELS: usize = 5;

/// Folds cells of a level into one of the next, and defines the effect of a missing value on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The minimum; missing without values.
    Least,
    /// The maximum; missing without values.
    Most,
    /// The sum; 0 without values.
    Sum,
    /// The last value; unchanged without values.
    Last,
}

impl Fold {
    const fn nothing(self) -> f32 {
        match self {
            Self::Sum => 0.0,
            Self::Least | Self::Most | Self::Last => f32::NAN,
        }
    }

    fn put(self, cell: &mut f32, value: f32) {
        match self {
            Self::Sum => *cell += value,
            // A missing cell takes every value, a missing value changes nothing.
            Self::Least => *cell = cell.min(value),
            Self::Most => *cell = cell.max(value),
            Self::Last => {
                if !value.is_nan() {
                    *cell = value;
                }
            }
        }
    }
}

/// A column of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name; its ending is the unit.
    pub name: &'static str,
    /// How it folds.
    pub fold: Fold,
    /// A bin without a value of its own has that of the bin before: the length of a queue, a window.
    pub lasts: bool,
}

impl Column {
    /// A column whose bins stand for themselves.
    pub const fn new(name: &'static str, fold: Fold) -> Self {
        Self { name, fold, lasts: false }
    }

    /// A column of what lasts until it changes.
    pub const fn lasting(name: &'static str, fold: Fold) -> Self {
        Self { name, fold, lasts: true }
    }
}

/// Whom a series tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A link, by name.
    Link(String),
    /// A traffic entry, by name.
    Traffic(String),
    /// Packets of a traffic entry over a link.
    TrafficOnLink(String, String),
    /// A connection of a traffic entry, by its number.
    Connection(String, u32),
}

/// A series of bins.
#[derive(Clone, Debug)]
pub struct Series {
    /// Kind of the series.
    pub kind: &'static str,
    /// Subject of the series.
    pub subject: Subject,
    columns: &'static [Column],
    width_ns: u64,
    /// Bins that may be made: those that begin before the end of the run.
    most: usize,
    /// Of each level, row by row.
    levels: [Vec<f32>; LEVELS],
    /// The first bin that changed since the pyramid was built.
    changed_from: usize,
    /// The bin that was asked for last, and the time it covers.
    last: usize,
    last_covers: Range<Instant>,
}

impl Series {
    /// Bins of `width` up to `end`.
    pub fn new(kind: &'static str, subject: Subject, columns: &'static [Column], width: Span, end: Instant) -> Self {
        let width_ns = width.as_ns().max(1);
        Self {
            kind,
            subject,
            columns,
            width_ns,
            most: usize::try_from(end.as_ns().div_ceil(width_ns)).expect("bins fit into memory"),
            levels: Default::default(),
            changed_from: usize::MAX,
            last: 0,
            last_covers: Instant::ZERO..Instant::ZERO,
        }
    }

    /// The columns.
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Width of the bins of a level in ns: [`FOLD`] to the power of the level times that of the bins.
    pub const fn width_ns(&self, level: usize) -> u64 {
        self.width_ns << (FOLD.ilog2() as usize * level)
    }

    /// The values of the bin at `at`, one for each column, to be changed; `None` beyond the end of the run.
    #[inline]
    pub fn at(&mut self, at: Instant) -> Option<&mut [f32]> {
        if !self.last_covers.contains(&at) {
            self.find(at)?;
        }
        let columns = self.columns.len();
        self.changed_from = self.changed_from.min(self.last);
        self.levels[0].get_mut(self.last * columns..(self.last + 1) * columns)
    }

    /// Returns the end of the bin at `at`.
    pub fn end_of(&self, at: Instant) -> Instant {
        let bin = at.as_ns() / self.width_ns;
        Instant::from_ns((bin + 1).saturating_mul(self.width_ns))
    }

    /// Puts a row of values into the bin at `at`, each as its column folds.
    #[inline]
    pub fn put(&mut self, at: Instant, values: &[f32]) {
        let columns = self.columns;
        if let Some(row) = self.at(at) {
            for ((cell, value), column) in row.iter_mut().zip(values).zip(columns) {
                column.fold.put(cell, *value);
            }
        }
    }

    #[cold]
    fn find(&mut self, at: Instant) -> Option<()> {
        let index = at.as_ns() / self.width_ns;
        let bin = usize::try_from(index).ok().filter(|bin| *bin < self.most)?;
        self.make(bin + 1);
        let start = Instant::from_ns(index * self.width_ns);
        self.last_covers = start..start.saturating_add(Span::from_ns(self.width_ns));
        self.last = bin;
        Some(())
    }

    /// Makes the first `bins` bins. Lasting values continue in them.
    fn make(&mut self, bins: usize) {
        let columns = self.columns.len();
        let made = self.levels[0].len() / columns;
        if bins <= made {
            return;
        }
        self.changed_from = self.changed_from.min(made);
        let mut new: Vec<f32> = self.columns.iter().map(|column| column.fold.nothing()).collect();
        if let Some(before) = self.levels[0].rchunks_exact(columns).next() {
            // Minimum and maximum of lasting values begin with the last value, which is reported last.
            let last = self.columns.iter().position(|column| column.fold == Fold::Last);
            for (cell, column) in new.iter_mut().zip(self.columns) {
                if let (true, Some(last)) = (column.lasts, last) {
                    *cell = before[last];
                }
            }
        }
        self.levels[0].reserve((bins - made) * columns);
        for _ in made..bins {
            self.levels[0].extend_from_slice(&new);
        }
    }

    /// Makes all bins up to `now`, and the pyramid over those that changed.
    pub fn build(&mut self, now: Instant) {
        let bins = usize::try_from(now.as_ns() / self.width_ns).map_or(self.most, |bins| bins + 1);
        self.make(bins.min(self.most));
        let columns = self.columns.len();
        let mut from = self.changed_from;
        self.changed_from = usize::MAX;
        for level in 1..LEVELS {
            let (below, above) = self.levels.split_at_mut(level);
            let (below, above) = (&below[level - 1], &mut above[0]);
            if from == usize::MAX {
                return;
            }
            from /= FOLD;
            above.truncate(from * columns);
            for group in below[(from * FOLD * columns).min(below.len())..].chunks(FOLD * columns) {
                let start = above.len();
                above.extend(self.columns.iter().map(|column| column.fold.nothing()));
                for row in group.chunks_exact(columns) {
                    for ((cell, value), column) in above[start..].iter_mut().zip(row).zip(self.columns) {
                        column.fold.put(cell, *value);
                    }
                }
            }
        }
    }

    /// Rows of a level, as far as it is built.
    pub fn rows(&self, level: usize) -> usize {
        self.levels[level].len() / self.columns.len()
    }

    /// A row of a level.
    pub fn row(&self, level: usize, row: usize) -> &[f32] {
        let columns = self.columns.len();
        &self.levels[level][row * columns..(row + 1) * columns]
    }

    /// The finest level that shows `from..until` in at most [`FOLD`] cells for each of `pixels`, and its rows there.
    pub fn view(&self, from: Instant, until: Instant, pixels: usize) -> (usize, Range<usize>) {
        let most = (pixels.max(1) * FOLD) as u64;
        let rows = |level: usize| {
            let width = self.width_ns(level);
            from.as_ns() / width..until.as_ns().div_ceil(width)
        };
        let level = (0..LEVELS - 1)
            .find(|level| {
                let rows = rows(*level);
                rows.end.saturating_sub(rows.start) <= most
            })
            .unwrap_or(LEVELS - 1);
        let (rows, made) = (rows(level), self.rows(level));
        let row = |number: u64| usize::try_from(number).map_or(made, |number| number.min(made));
        (level, row(rows.start)..row(rows.end))
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.capacity() * size_of::<f32>()).sum()
    }
}
