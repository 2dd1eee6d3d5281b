//! Results of a run, expectations, and the picture of the queue.

use core::fmt::Write as _;
use sojourn_base::{BitRate, Span};

/// Columns and rows of a picture. chosen: a terminal has 80 columns.
const COLUMNS: usize = 64;
const ROWS: u64 = 8;

/// Results of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// ns.
    duration: u64,
    /// Bytes that the server's application has read, in total and in the second half.
    total: u64,
    pub(crate) late: u64,
    /// Packets that the queue dropped, and marked.
    pub drops: u64,
    /// See [`Self::drops`].
    pub marks: u64,
    /// Waits of the packets in ns; in the end in order of length.
    waits: Vec<u64>,
    /// Longest wait and drops in each column of the picture.
    columns: Vec<(u64, u64)>,
}

impl Report {
    pub(crate) fn new(duration: u64) -> Self {
        Self { duration, total: 0, late: 0, drops: 0, marks: 0, waits: Vec::new(), columns: vec![(0, 0); COLUMNS] }
    }

    fn column(&mut self, now: u64) -> &mut (u64, u64) {
        let place = u128::from(now) * COLUMNS as u128 / u128::from(self.duration.max(1));
        &mut self.columns[usize::try_from(place).unwrap_or(usize::MAX).min(COLUMNS - 1)]
    }

    pub(crate) fn waited(&mut self, now: u64, wait: u64) {
        self.waits.push(wait);
        let column = self.column(now);
        column.0 = column.0.max(wait);
    }

    pub(crate) fn dropped(&mut self, now: u64) {
        self.drops += 1;
        self.column(now).1 += 1;
    }

    pub(crate) const fn delivered(&mut self, now: u64, bytes: u64) {
        self.total += bytes;
        if now >= self.duration / 2 {
            self.late += bytes;
        }
    }

    pub(crate) fn finish(&mut self) {
        self.waits.sort_unstable();
    }

    /// Returns the goodput over the whole run.
    pub fn goodput(&self) -> BitRate {
        let bits = u128::from(self.total) * 8 * 1_000_000_000 / u128::from(self.duration.max(1));
        BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// Returns a quantile of the wait in the queue: of all packets, from 0 to 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
    pub fn queue(&self, quantile: f64) -> Span {
        let last = self.waits.len().saturating_sub(1);
        let place = (last as f64 * quantile.clamp(0.0, 1.0)) as usize;
        Span::from_ns(self.waits.get(place).copied().unwrap_or(0))
    }

    /// Fails with a picture if the goodput is below a rate such as `15 Mb/s`.
    ///
    /// # Panics
    /// Then, or if the rate cannot be read.
    #[track_caller]
    pub fn expect_goodput(&self, least: &str) -> &Self {
        let wanted: BitRate = least.parse().unwrap_or_else(|error| panic!("the rate {least:?}: {error}"));
        assert!(
            self.goodput().as_bps() >= wanted.as_bps(),
            "goodput of {}, at least {wanted} expected\n{}",
            self.goodput(),
            self.picture()
        );
        self
    }

    /// Fails with a picture if more than 1 % of the packets wait longer than a time such as `25 ms`.
    ///
    /// # Panics
    /// Then, or if the time cannot be read.
    #[track_caller]
    pub fn expect_queue(&self, most: &str) -> &Self {
        let wanted: Span = most.parse().unwrap_or_else(|error| panic!("the time {most:?}: {error}"));
        let found = self.queue(0.99);
        assert!(found <= wanted, "the queue has a P99 of {found}, at most {wanted} expected\n{}", self.picture());
        self
    }

    /// Returns the longest waits over time as text, with the results below.
    pub fn picture(&self) -> String {
        let highest = self.columns.iter().map(|(wait, _)| *wait).max().unwrap_or(0).max(1);
        let mut text = String::new();
        for row in (1..=ROWS).rev() {
            let label = if row == ROWS { format!("{:>8.1} ms", highest as f64 / 1e6) } else { " ".repeat(11) };
            let bars = self.columns.iter().map(|(wait, _)| if wait * ROWS >= highest * row { '#' } else { ' ' });
            let _ = writeln!(text, "{label} |{}", bars.collect::<String>());
        }
        let drops = self.columns.iter().map(|(_, drops)| if *drops > 0 { 'x' } else { '-' });
        let _ = writeln!(text, "      drops +{}", drops.collect::<String>());
        let end = format!("{:.3} s", self.duration as f64 / 1e9);
        let _ = writeln!(text, "            0 s{end:>61}");
        let _ = write!(
            text,
            "goodput {}, queue P50 {} P99 {}, {} drops, {} marks",
            self.goodput(),
            self.queue(0.5),
            self.queue(0.99),
            self.drops,
            self.marks
        );
        text
    }
}
