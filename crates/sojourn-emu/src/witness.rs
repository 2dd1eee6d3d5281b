//! How well the emulation kept time: lateness, gaps, stalls, what was lost outside the model, and the grade.
//!
//! Source: specification of the emulator, sections 10 and 12.
//! Units and ranges: times are resolved to 3 % (32 bins per doubling), up to 18 minutes.

use crate::snapshot::{Grade, Lateness, Stall};
use histogram::Histogram;
use sojourn_base::{Direction, Instant, PerDirection, Span};
use sojourn_record::{ColumnData, Table};

/// Bins per doubling, as a power of two. chosen: 3 % tell any two grades apart.
const BINS_PER_DOUBLING: u8 = 5;
/// Doublings of a nanosecond: 2^40 ns are 18 minutes.
const DOUBLINGS: u8 = 40;

/// A good run is no later than this at P99 (specification, section 10).
pub(crate) const GOOD: Span = Span::from_us(250);
/// The same for joined writes.
pub(crate) const GOOD_IF_JOINED: Span = Span::from_us(400);
/// A fair run.
pub(crate) const FAIR: Span = Span::from_ms(1);

/// Times, counted.
#[derive(Debug)]
pub(crate) struct Times {
    counts: Histogram,
    packets: u64,
    most: Span,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            counts: Histogram::new(BINS_PER_DOUBLING, DOUBLINGS).expect("a doubling has bins"),
            packets: 0,
            most: Span::ZERO,
        }
    }
}

impl Times {
    pub(crate) fn record(&mut self, time: Span) {
        let longest = (1 << DOUBLINGS) - 1;
        let counted = self.counts.increment(time.as_ns().min(longest));
        debug_assert!(counted.is_ok(), "no time is above the longest");
        self.packets += 1;
        self.most = self.most.max(time);
    }

    /// Returns this quantile; zero without samples.
    pub(crate) fn quantile(&self, share: f64) -> Span {
        let bucket = self.counts.quantile_bucket(share).ok().flatten();
        let most = self.most;
        bucket.map_or(Span::ZERO, |bucket| Span::from_ns(bucket.end()).min(most))
    }

    pub(crate) fn summary(&self) -> Lateness {
        Lateness { packets: self.packets, p50: self.quantile(0.5), p99: self.quantile(0.99), most: self.most }
    }

    pub(crate) fn clear(&mut self) {
        self.counts.reset();
        self.packets = 0;
        self.most = Span::ZERO;
    }
}

/// One second of an emulation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    pub(crate) until: Instant,
    pub(crate) lateness: PerDirection<Lateness>,
    pub(crate) longest_gap: Span,
    pub(crate) hidden_losses: u64,
    pub(crate) stalls: u32,
    /// Share of a core that the loop used; `None` if unknown.
    pub(crate) busy: Option<f64>,
    /// Share of the time that other machines took from this one; `None` if unknown.
    pub(crate) stolen: Option<f64>,
}

/// Everything that is witnessed.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// Since the start.
    pub(crate) lateness: PerDirection<Times>,
    /// Within this second.
    second: PerDirection<Times>,
    longest_gap: Span,
    pub(crate) hidden_losses: u64,
    /// Of these, frames with a VLAN tag.
    pub(crate) tagged: u64,
    pub(crate) stalls: Vec<Stall>,
    /// How many of both there were when this second began.
    before: (u64, usize),
    pub(crate) seconds: Vec<Second>,
}

impl Witness {
    /// A packet of `direction` is written at `now`, and was due at `due`.
    pub(crate) fn on_written(&mut self, direction: Direction, due: Instant, now: Instant) {
        let late = now.saturating_since(due);
        self.lateness[direction].record(late);
        self.second[direction].record(late);
    }

    /// Two passes of the loop were so far apart.
    pub(crate) fn on_gap(&mut self, gap: Span) {
        self.longest_gap = self.longest_gap.max(gap);
    }

    /// A second is over.
    pub(crate) fn end_second(&mut self, until: Instant, busy: Option<f64>, stolen: Option<f64>) {
        let (hidden, stalls) = self.before;
        self.seconds.push(Second {
            until,
            lateness: self.last_second(),
            longest_gap: self.longest_gap,
            hidden_losses: self.hidden_losses - hidden,
            stalls: u32::try_from(self.stalls.len() - stalls).unwrap_or(u32::MAX),
            busy,
            stolen,
        });
        self.before = (self.hidden_losses, self.stalls.len());
        self.second.upstream.clear();
        self.second.downstream.clear();
        self.longest_gap = Span::ZERO;
    }

    fn last_second(&self) -> PerDirection<Lateness> {
        PerDirection { upstream: self.second.upstream.summary(), downstream: self.second.downstream.summary() }
    }

    /// Lateness since the start.
    pub(crate) fn summary(&self) -> PerDirection<Lateness> {
        PerDirection { upstream: self.lateness.upstream.summary(), downstream: self.lateness.downstream.summary() }
    }

    /// How far the emulation can be trusted; `joined`: writes were joined.
    pub(crate) fn grade(&self, joined: bool) -> Grade {
        let lateness = self.summary();
        let p99 = lateness.upstream.p99.max(lateness.downstream.p99);
        let good = if joined { GOOD_IF_JOINED } else { GOOD };
        if self.hidden_losses > 0 || p99 > FAIR {
            Grade::Poor
        } else if p99 > good {
            Grade::Fair
        } else {
            Grade::Good
        }
    }

    /// The tables `emulation` and `emulation_lateness`.
    pub(crate) fn tables(&self) -> Vec<Table> {
        vec![self.seconds_table(), self.lateness_table()]
    }

    fn seconds_table(&self) -> Table {
        let rows = &self.seconds;
        let numbers = |of: &dyn Fn(&Second) -> u64| ColumnData::U64(rows.iter().map(of).collect());
        let late = |direction: Direction, of: fn(&Lateness) -> Span| {
            ColumnData::optional_u64(rows.iter().map(|row| {
                let lateness = &row.lateness[direction];
                (lateness.packets > 0).then(|| of(lateness).as_ns())
            }))
        };
        let (up, down) = (Direction::Upstream, Direction::Downstream);
        Table::new(
            "emulation",
            [
                ("until_ns", numbers(&|row| row.until.as_ns())),
                ("upstream_late_p50_ns", late(up, |it| it.p50)),
                ("upstream_late_p99_ns", late(up, |it| it.p99)),
                ("upstream_late_max_ns", late(up, |it| it.most)),
                ("downstream_late_p50_ns", late(down, |it| it.p50)),
                ("downstream_late_p99_ns", late(down, |it| it.p99)),
                ("downstream_late_max_ns", late(down, |it| it.most)),
                ("longest_gap_ns", numbers(&|row| row.longest_gap.as_ns())),
                ("hidden_losses", numbers(&|row| row.hidden_losses)),
                ("stalls", numbers(&|row| row.stalls.into())),
                ("busy", ColumnData::optional_f64(rows.iter().map(|row| row.busy))),
                ("stolen", ColumnData::optional_f64(rows.iter().map(|row| row.stolen))),
            ],
        )
    }

    fn lateness_table(&self) -> Table {
        let words = Direction::BOTH.map(|direction| direction.as_str().to_owned());
        let (mut codes, mut from, mut to, mut packets) = (vec![], vec![], vec![], vec![]);
        for (code, direction) in (0..).zip(Direction::BOTH) {
            for bucket in &self.lateness[direction].counts {
                if bucket.count() > 0 {
                    codes.push(code);
                    from.push(bucket.start());
                    to.push(bucket.end());
                    packets.push(bucket.count());
                }
            }
        }
        Table::new(
            "emulation_lateness",
            [
                ("direction", ColumnData::words(codes, &words)),
                ("from_ns", ColumnData::U64(from)),
                ("to_ns", ColumnData::U64(to)),
                ("packets", ColumnData::U64(packets)),
            ],
        )
    }
}
