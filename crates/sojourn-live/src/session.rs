//! A watched run.

use crate::facts::facts;
use crate::frame::{Frame, Kind};
use crate::packets::Became;
use crate::tap::{self, Bins, Tap};
use core::fmt::Write as _;
use sojourn_apps::ConstantRateConfig;
use sojourn_base::{Instant, Reason, Seed, Span};
use sojourn_engine::{Interrupt, Reached, Simulation, column_recorder};
use sojourn_metrics::run::{Datagrams, MetricRow, metric_rows};
use sojourn_metrics::voice::is_late;
use sojourn_record::{RecordConfig, Table};
use sojourn_scenario::Scenario;

/// Records kept of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The series that a page draws, and what metrics need.
    Pictures,
    /// All series, and the records that the scenario asks for.
    Records,
}

/// How a session is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seed of the run.
    pub seed: Seed,
    /// No bin is narrower: a picture of a minute has no use for milliseconds, and a run is the faster without them.
    /// Zero for bins that suit the length of the run.
    pub least_bin: Span,
    /// Records to keep.
    pub watch: Watch,
}

/// Bins of a series at most. chosen: 4 MB a column.
const MOST_BINS: u64 = 1 << 20;

/// Width of the bins of delays by cause and of senders, relative to those of links.
const COARSE: u64 = 10;

/// Width of the bins for a run of this length: the finest of 0.1 ms up to 6 s, 1 ms up to 10 min, and then tenfold, of
/// which there are [`MOST_BINS`] at most (specification of the page, 5.2).
fn suitable_bin(duration: Span) -> Span {
    if duration <= Span::from_s(6) {
        return Span::from_us(100);
    }
    if duration <= Span::from_s(600) {
        return Span::from_ms(1);
    }
    let mut bin = Span::from_ms(10);
    while duration.as_ns() / bin.as_ns() >= MOST_BINS {
        bin = bin.saturating_mul(10);
    }
    bin
}

/// A watched run. Watching never changes its results.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    simulation: Option<Simulation<Tap>>,
    end: Instant,
    ended: Option<Ended>,
}

/// Remainder of a run that has ended.
#[derive(Debug)]
struct Ended {
    at: Instant,
    tap: Tap,
    packet_hops: u64,
}

impl Session {
    /// Builds the world of `scenario`.
    pub fn open(scenario: Scenario, options: Options) -> Self {
        let config = match options.watch {
            Watch::Records => scenario.record,
            // Loss, lateness and quality are known without rows, see `RecordConfig`; the tap has series of its own.
            Watch::Pictures => RecordConfig {
                datagrams: false,
                outcomes: false,
                objects: false,
                chunks: false,
                flows: false,
                series: None,
                connections: None,
                occupancy: false,
                ..scenario.record
            },
        };
        let facts = facts(&scenario);
        let topology = scenario.topology();
        let links = topology.links.iter().map(|link| tap::Watched {
            name: link.subject.clone(),
            is_stream: false,
            is_call: false,
            beyond: Span::ZERO,
        });
        let traffic = topology.traffic.iter().zip(&facts.datagrams);
        let traffic = traffic.map(|(placed, datagrams)| tap::Watched {
            name: placed.subject.clone(),
            is_stream: placed.entry.application.datagrams().is_some() && *datagrams != Datagrams::Messages,
            beyond: match placed.entry.servers.as_slice() {
                [server] if placed.entry.application.datagrams().is_some() => {
                    server.wire_delay(topology.propagation(placed))
                }
                _ => Span::ZERO,
            },
            is_call: placed.entry.application.get::<ConstantRateConfig>().is_some_and(|config| config.is_call),
        });
        let end = Instant::ZERO.saturating_add(scenario.duration);
        let fine = suitable_bin(scenario.duration);
        let bins =
            Bins { fine: fine.max(options.least_bin), coarse: fine.saturating_mul(COARSE).max(options.least_bin), end };
        let columns = column_recorder(&scenario, config);
        let has_details = options.watch == Watch::Records;
        let tap = Tap::new(columns, links.collect(), traffic.collect(), bins, has_details);
        let simulation =
            Simulation::open(&scenario, options.seed, tap, &Interrupt::default()).expect("it is never interrupted");
        Self { scenario, simulation: Some(simulation), end, ended: None }
    }

    /// Handles all events before `until`, but comes back after `steps`, see [`Simulation::advance`].
    pub fn advance(&mut self, until: Instant, steps: u64) -> Reached {
        let Some(simulation) = &mut self.simulation else {
            return Reached::End;
        };
        let reached = simulation.advance(until, steps);
        if reached == Reached::End
            && let Some(simulation) = self.simulation.take()
        {
            let at = simulation.now();
            let outcome = simulation.finish();
            self.ended = Some(Ended { at, tap: outcome.recorder, packet_hops: outcome.statistics.packet_hops });
        }
        reached
    }

    /// The time that the run has reached.
    pub fn now(&self) -> Instant {
        let ended = self.ended.as_ref().map(|ended| ended.at);
        ended.or(self.simulation.as_ref().map(Simulation::now)).unwrap_or(self.end)
    }

    /// Returns the end of the run.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Bytes that the run takes.
    pub fn bytes(&self) -> usize {
        self.simulation
            .as_ref()
            .map_or_else(|| self.tap().map_or(0, sojourn_record::Recorder::bytes), Simulation::bytes)
    }

    /// Packets that links have delivered, when the run is over.
    pub fn packet_hops(&self) -> Option<u64> {
        self.ended.as_ref().map(|ended| ended.packet_hops)
    }

    /// Brings the series up to now.
    pub fn look(&mut self) -> Option<&Tap> {
        if let Some(simulation) = &mut self.simulation {
            let now = simulation.now();
            simulation.recorder_mut().build(now);
        }
        self.tap()
    }

    /// The tap as it was brought up to date.
    pub fn tap(&self) -> Option<&Tap> {
        let ended = self.ended.as_ref().map(|ended| &ended.tap);
        ended.or(self.simulation.as_ref().map(Simulation::recorder))
    }

    fn frame(&self, kind: Kind, series: u32, rows: usize, values: Vec<f32>) -> Frame {
        Frame {
            kind,
            rewound: false,
            generation: 0,
            side: 0,
            reached_ns: self.now().as_ns(),
            series,
            level: 0,
            first: 0,
            rows: u32::try_from(rows).expect("fewer rows than bins"),
            values,
        }
    }

    /// Returns the rows of a series between two times, from the level that suits a picture of this width in pixels.
    /// `None` if there is no such series.
    pub fn view(&self, series: usize, span: (Instant, Instant), pixels: usize) -> Option<Frame> {
        let number = u32::try_from(series).ok()?;
        let series = self.tap()?.series().get(series)?;
        let (level, rows) = series.view(span.0, span.1, pixels);
        let columns = 0..series.columns().len();
        let values = columns.flat_map(|column| rows.clone().map(move |row| series.row(level, row)[column]));
        let values = values.collect();
        let mut frame = self.frame(Kind::Series, number, rows.len(), values);
        frame.level = u8::try_from(level).expect("few levels");
        frame.first = rows.start as u64;
        Some(frame)
    }

    /// Drops and marks from number `first` on: time in ms, link, entry, 1 for a mark, number of the reason.
    pub fn ticks(&self, first: usize) -> Option<Frame> {
        let (ticks, _) = self.tap()?.ticks();
        let ticks = ticks.get(first..)?;
        let reason = |reason: Reason| Reason::ALL.iter().position(|known| *known == reason).unwrap_or_default() as f32;
        let column = |value: &dyn Fn(&tap::Tick) -> f32| ticks.iter().map(value).collect::<Vec<_>>();
        let values = [
            column(&|tick| milliseconds(tick.at.as_ns())),
            column(&|tick| f32::from(tick.link)),
            column(&|tick| f32::from(tick.traffic)),
            column(&|tick| f32::from(u8::from(tick.is_mark))),
            column(&|tick| reason(tick.reason)),
        ];
        let mut frame = self.frame(Kind::Ticks, 0, ticks.len(), values.concat());
        frame.first = first as u64;
        Some(frame)
    }

    /// The packets of a flow from number `first` on: when sent in ms, delay on the line in ms (missing while unknown,
    /// infinite if lost), 1 if it came later than a listener waits.
    pub fn packets(&self, flow: usize, first: usize) -> Option<Frame> {
        let number = u32::try_from(flow).ok()?;
        let tap = self.tap()?;
        let flow = tap.packets().get(flow)?;
        let (sent, beyond) = (flow.sent.as_slice(), tap.entry(flow.traffic).beyond.as_ns());
        let mut shortest = Span::MAX;
        let (mut times, mut delays, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for (place, packet) in sent.iter().enumerate() {
            let mut is_behind = false;
            let delay = match packet.became {
                Became::Unknown => f32::NAN,
                Became::Lost => f32::INFINITY,
                Became::Arrived(ns) => {
                    let delay = Span::from_ns(ns);
                    shortest = shortest.min(delay);
                    is_behind = is_late(delay, shortest);
                    milliseconds(ns.saturating_sub(beyond))
                }
            };
            if place >= first {
                times.push(milliseconds(packet.sent_ns));
                delays.push(delay);
                late.push(f32::from(u8::from(is_behind)));
            }
        }
        let rows = times.len();
        let mut frame = self.frame(Kind::Packets, number, rows, [times, delays, late].concat());
        frame.first = first as u64;
        Some(frame)
    }

    /// Returns the meaning of the numbers in frames, as JSON: series, links, entries, flows of packets, reasons.
    pub fn catalogue(&self) -> String {
        let mut text = String::from("{\"series\":[");
        let Some(tap) = self.tap() else {
            return "{}".to_owned();
        };
        for (number, series) in tap.series().iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let (of, second) = match &series.subject {
                crate::Subject::Link(name) => (("link", name), String::new()),
                crate::Subject::Traffic(name) => (("traffic", name), String::new()),
                crate::Subject::TrafficOnLink(name, link) => (("traffic", name), format!(",\"link\":{}", quoted(link))),
                crate::Subject::Connection(name, number) => (("traffic", name), format!(",\"connection\":{number}")),
            };
            let columns: Vec<String> = series.columns().iter().map(|column| quoted(column.name)).collect();
            let widths: Vec<String> =
                (0..crate::series::LEVELS).map(|level| series.width_ns(level).to_string()).collect();
            write!(
                text,
                "{comma}{{\"kind\":{},\"{}\":{}{second},\"columns\":[{}],\"widths_ns\":[{}]}}",
                quoted(series.kind),
                of.0,
                quoted(of.1),
                columns.join(","),
                widths.join(",")
            )
            .expect("a string takes everything");
        }
        let flows = tap.packets().iter().map(|flow| {
            let name = &tap.entry(flow.traffic).name;
            let direction = quoted(flow.direction.as_str());
            format!("{{\"traffic\":{},\"direction\":{direction}}}", quoted(name))
        });
        let flows: Vec<String> = flows.collect();
        let reasons: Vec<String> = Reason::ALL.iter().map(|reason| quoted(reason.as_str())).collect();
        let names =
            |names: &mut dyn Iterator<Item = &String>| names.map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        write!(
            text,
            "],\"flows\":[{}],\"reasons\":[{}],\"links\":[{}],\"traffic\":[{}],\"ticks_left_out\":{}}}",
            flows.join(","),
            reasons.join(","),
            names(&mut tap.link_names()),
            names(&mut tap.entry_names()),
            tap.ticks().1,
        )
        .expect("a string takes everything");
        text
    }

    /// All metrics of the run, when it is over.
    pub fn metrics(self) -> Option<Vec<MetricRow>> {
        let records = self.ended?.tap.into_columns().into_records();
        Some(metric_rows(&facts(&self.scenario), &records))
    }

    /// All tables of the run, when it is over, if the session keeps records.
    pub fn tables(self) -> Option<Vec<Table>> {
        Some(self.ended?.tap.into_columns().into_records().tables())
    }
}

fn milliseconds(ns: u64) -> f32 {
    ns as f32 * 1e-6
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                write!(quoted, "\\u{:04x}", u32::from(letter)).expect("a string takes everything");
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
