//! All metrics of one run, from its records: what each traffic entry experienced, and what the access
//! links did.
//!
//! The reference page of metrics lists names, units, definitions and their sources.
//! A metric that has no value (no packet arrived, no page completed) has no row.

mod calls;
mod device;
mod group;
mod outcomes;
mod probes;
mod protection;
mod signals;
mod videos;
mod wifi;

use crate::loss::share;
use crate::quantile;
use crate::schema;
use crate::throughput::utilisation;
use crate::voice::{Call, DelayTerm};
use crate::web::LoadTimes;
use sojourn_base::report::Page;
use sojourn_base::{BitRate, Bytes, Direction, Instant, PerDirection, Span};
use sojourn_record::{
    ColumnData, DelayHistogram, LinkId, MacCounters, Records, Table, TrafficCounters, TrafficId, TransferTally,
};

/// Facts about a run that its records do not have.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// How long the run was.
    pub duration: Span,
    /// Start of measuring.
    pub from: Span,
    /// Bytes that each link would have let through from then on at most, in the order of their numbers.
    pub allowance: Vec<Option<Bytes>>,
    /// Kind of each traffic entry's datagrams, in the order of the scenario.
    pub datagrams: Vec<Datagrams>,
    /// Of each traffic entry, how long it lasted while it was measured, if it ended before the run.
    pub lasted: Vec<Option<Span>>,
    /// Of each traffic entry that is a probe, the period that it watched.
    pub probes: Vec<Option<Watched>>,
    /// Upstream channels that homes share, if they share any.
    pub shared: Option<Shared>,
    /// Of each traffic entry that is a cloud game, what its score needs.
    pub games: Vec<Option<CloudGame>>,
}

/// The upstream channels of a service group.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Their rate, without opportunities to request.
    pub capacity: BitRate,
    /// The highest sustained rate of a home.
    pub fastest: BitRate,
}

/// A cloud game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudGame {
    /// Part of a round trip beyond the access line.
    pub beyond: Span,
    /// Pictures that are sent in a second.
    pub frames_per_second: u32,
    /// How much later than the fastest a picture may be.
    pub deadline: Span,
}

impl RunFacts {
    /// How long was measured.
    fn measured(&self) -> Span {
        self.duration.saturating_sub(self.from)
    }
}

/// The load that a probe watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Start.
    pub from: Span,
    /// End.
    pub until: Span,
}

/// Kind of a traffic entry's datagrams; it decides which metrics apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagrams {
    /// One direction of a call, which has a score.
    Call,
    /// A stream, for which late packets are as good as lost ones.
    Stream,
    /// A stream at a constant rate: its receiver has no deadline, so no packet is late.
    Paced,
    /// Questions and answers beside connections, such as look-ups of names.
    Messages,
}

impl Datagrams {
    /// Returns true if a packet can come too late to be of use.
    fn has_deadline(self) -> bool {
        matches!(self, Self::Call | Self::Stream)
    }
}

/// True if metrics exist that no lesson shows; the engine of browsers is small.
const KNOWN: bool = !sojourn_base::native::IN_TAB;

/// Subject, metric, value, unit.
pub type MetricRow = (String, &'static str, f64, &'static str);

/// Metrics as rows.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<MetricRow>,
}

impl Rows {
    fn add(&mut self, subject: &str, metric: &'static str, value: f64) {
        let unit = schema::group_of(metric).expect("declared in METRICS").unit;
        self.rows.push((subject.to_owned(), metric, value, unit));
    }

    fn add_some(&mut self, subject: &str, metric: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.add(subject, metric, value);
        }
    }
}

/// All metrics of a run, one after the other.
pub fn metric_rows(facts: &RunFacts, records: &Records) -> Vec<MetricRow> {
    let mut rows = Rows::default();
    for (id, name) in (0..).zip(records.traffic_names()) {
        traffic_metrics(&mut rows, facts, records, TrafficId(id), name);
    }
    for (id, link) in records.links() {
        link_metrics(&mut rows, facts, records, id, &link.name);
    }
    for direction in Direction::BOTH {
        if let Some(channel) = records.channel(direction).filter(|_| group::KNOWN) {
            group::channel_metrics(&mut rows, facts, (direction, &channel), records);
        }
    }
    rows.rows
}

fn traffic_metrics(rows: &mut Rows, facts: &RunFacts, records: &Records, id: TrafficId, name: &str) {
    let counters = records.counters(id);
    for (direction, metrics) in [
        (Direction::Upstream, ["forwarded_volume", "goodput", "marks_received"]),
        (Direction::Downstream, ["forwarded_volume_downstream", "goodput_downstream", "marks_received_downstream"]),
    ] {
        let counters = &counters[direction];
        rows.add(name, metrics[0], counters.forwarded_bytes as f64 / 1e3);
        let bits = counters.goodput_bytes as f64 * 8.0;
        rows.add(name, metrics[1], bits / 1e6 / facts.measured().as_secs_f64());
        rows.add(name, metrics[2], counters.marks_received as f64);
    }
    for (direction, names) in
        [(Direction::Upstream, &protection::NAMES), (Direction::Downstream, &protection::NAMES_DOWN)]
    {
        let tally = &records.protection(id)[direction];
        protection::protection_metrics(rows, name, tally, names);
    }
    if let Some(lasted) = facts.lasted[usize::from(id.0)] {
        rows.add(name, "goodput_loaded", loaded_rate(counters, lasted));
    }
    if let Some(watched) = facts.probes[usize::from(id.0)] {
        probes::probe_metrics(rows, records, id, name, watched);
    }
    if outcomes::KNOWN && records.wants_outcomes() {
        outcomes::outcome_metrics(rows, facts, records, id, name);
    }
    let calls: Vec<(Direction, Call)> =
        records.datagram_tallies(id).map(|(_, direction, tally)| (direction, Call::from_tally(tally))).collect();
    if !calls.is_empty() {
        datagram_metrics(rows, name, &calls, facts.datagrams[usize::from(id.0)]);
    }
    if let Some(histogram) = records.access_delay(id, data_direction(counters)) {
        delay_metrics(rows, name, histogram);
    }
    for (histogram, delays, variation) in [
        (records.access_delay(id, Direction::Upstream), &DELAY_UP, &VARIATION_UP),
        (records.access_delay(id, Direction::Downstream), &DELAY_DOWN, &VARIATION_DOWN),
        (records.round_trips(id), &DELAY_ROUND_TRIP, &VARIATION_ROUND_TRIP),
    ] {
        if let Some(histogram) = histogram {
            let quantiles = histogram_metrics(rows, name, histogram, delays);
            variation_metrics(rows, name, histogram, quantiles, variation);
        }
    }
    let pages: Vec<&Page> = records
        .pages()
        .iter()
        .filter_map(|(traffic, page)| (*traffic == id).then_some(page))
        .filter(|page| page.started_at >= Instant::ZERO.saturating_add(facts.from))
        .collect();
    if !pages.is_empty() {
        page_metrics(rows, facts, name, &pages);
        let object = records.object_tally(id).mean_s();
        rows.add_some(name, "object_time_mean", object);
    }
    videos::video_metrics(rows, records, id, name);
    videos::frame_metrics(rows, records, id, name);
    document_metrics(rows, facts, records, id, name);
    if facts.probes[usize::from(id.0)].is_none() {
        transfer_metrics(rows, name, records.transfer_tally(id));
    }
    if counters.upstream.connections > 0 {
        let counters = &counters.upstream;
        rows.add(name, "connections", counters.connections as f64);
        rows.add(name, "retransmissions", counters.retransmissions as f64);
        if !counters.hides_timeouts {
            rows.add(name, "timeouts", counters.timeouts as f64);
        }
        rows.add(name, "connect_retries", counters.connect_retries as f64);
    }
}

/// Application bytes both ways over the time of a load, in Mb/s.
fn loaded_rate(counters: &PerDirection<TrafficCounters>, lasted: Span) -> f64 {
    let bytes = counters.upstream.goodput_bytes + counters.downstream.goodput_bytes;
    bytes as f64 * 8.0 / 1e6 / lasted.as_secs_f64()
}

/// Adds metrics of games, calls and buffers that White 2013 judges by, beside its own measurements.
fn document_metrics(rows: &mut Rows, facts: &RunFacts, records: &Records, id: TrafficId, name: &str) {
    if !KNOWN {
        return;
    }
    if let Some(game) = facts.games[usize::from(id.0)] {
        videos::game_metrics(rows, records, id, name, game);
    }
    calls::played_metrics(rows, records, id, name);
    if let Some(lasted) = facts.lasted[usize::from(id.0)] {
        calls::buffer_metrics(rows, records, id, name, lasted);
    }
}

/// The direction in which most data of a traffic entry flow; acknowledgements flow against it.
fn data_direction(counters: &PerDirection<TrafficCounters>) -> Direction {
    let data = |direction: Direction| {
        let counters = &counters[direction];
        (counters.goodput_bytes, counters.forwarded_bytes)
    };
    if data(Direction::Downstream) > data(Direction::Upstream) { Direction::Downstream } else { Direction::Upstream }
}

/// Names of shares of datagrams: lost, late, and both.
type LossNames = [&'static str; 3];

const LOSS: LossNames = ["lost", "late", "loss_total"];
const LOSS_UP: LossNames = ["lost_up", "late_up", "loss_total_up"];
const LOSS_DOWN: LossNames = ["lost_down", "late_down", "loss_total_down"];

/// Loss, lateness and voice quality of the datagrams that met their fate. Each flow is a call of its
/// own, with its own least delay; shares are over all packets, and over those of each direction if both have some;
/// scores are means over the calls.
fn datagram_metrics(rows: &mut Rows, name: &str, calls: &[(Direction, Call)], what: Datagrams) {
    let of = |wanted: Option<Direction>| -> Vec<&Call> {
        let calls = calls.iter().filter(|(way, _)| wanted.is_none_or(|one| one == *way));
        calls.map(|(_, call)| call).collect()
    };
    let all = of(None);
    rows.add(name, "sent", all.iter().map(|call| call.sent as f64).sum());
    loss_metrics(rows, name, &all, &LOSS, what);
    if !what.has_deadline() {
        return;
    }
    let ways = [(of(Some(Direction::Upstream)), &LOSS_UP), (of(Some(Direction::Downstream)), &LOSS_DOWN)];
    if ways.iter().all(|(calls, _)| !calls.is_empty()) {
        for (calls, names) in &ways {
            loss_metrics(rows, name, calls, names, what);
        }
    }
    let mut over_calls = |metric, value: &dyn Fn(&Call) -> Option<f64>| {
        let values: Vec<f64> = all.iter().filter_map(|call| value(call)).collect();
        rows.add_some(name, metric, quantile::mean(&values));
        values.into_iter().reduce(f64::min)
    };
    over_calls("delay_in_time_mean", &|call| call.mean_delay_ms);
    if what != Datagrams::Call {
        return;
    }
    over_calls("rating", &|call| call.rating(DelayTerm::Counted));
    over_calls("mos_loss_only", &|call| call.score(DelayTerm::Absent));
    let least = over_calls("mos", &|call| call.score(DelayTerm::Counted));
    rows.add_some(name, "mos_min", least);
}

fn loss_metrics(rows: &mut Rows, name: &str, calls: &[&Call], names: &LossNames, what: Datagrams) {
    let total = |count: fn(&Call) -> u64| calls.iter().map(|call| count(call)).sum::<u64>() as f64;
    let sent = total(|call| call.sent);
    let mut add = |metric, count: fn(&Call) -> u64| rows.add(name, metric, 100.0 * total(count) / sent);
    add(names[0], |call| call.lost);
    if what.has_deadline() {
        add(names[1], |call| call.late);
        add(names[2], |call| call.lost + call.late);
    }
}

/// Access delay in the direction of the data: from the queue to the far end of the access link.
fn delay_metrics(rows: &mut Rows, name: &str, histogram: &DelayHistogram) {
    let ms = |ns: u64| ns as f64 / 1e6;
    rows.add_some(name, "delay_mean", histogram.mean_ns().map(|ns| ns / 1e6));
    let quantiles = histogram.quantiles_ns([0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999]);
    for (place, metric) in ["delay_min", "delay_p01", "delay_p50", "delay_p90", "delay_p95", "delay_p99", "delay_p999"]
        .into_iter()
        .enumerate()
    {
        rows.add_some(name, metric, quantiles.map(|ns| ms(ns[place])));
    }
    rows.add_some(name, "delay_max", histogram.max_ns().map(ms));
    for (metric, limit) in SHARES_UNDER {
        let share = share_under(histogram, limit).map(|share| 100.0 * share);
        rows.add_some(name, metric, share);
    }
}

/// Delays of which the share below is shown. chosen: CoDel's target (RFC 8289 4.4), and the interval
/// of voice packets (White 2013 3.6).
const SHARES_UNDER: [(&str, Span); 2] =
    [("delay_share_under_5ms", Span::from_ms(5)), ("delay_share_under_20ms", Span::from_ms(20))];

/// Share of delays below `limit`, each taken as the middle of its bin.
fn share_under(histogram: &DelayHistogram, limit: Span) -> Option<f64> {
    let under = histogram.middles().take_while(|(delay, _)| *delay < limit.as_ns());
    share(under.map(|(_, packets)| packets).sum(), histogram.packets())
}

/// Names of the numbers that a histogram of delays gives: mean, least, four quantiles, largest.
type DelayNames = [&'static str; 7];

const DELAY_UP: DelayNames =
    ["delay_up_mean", "delay_up_min", "delay_up_p50", "delay_up_p95", "delay_up_p99", "delay_up_p999", "delay_up_max"];
const DELAY_DOWN: DelayNames = [
    "delay_down_mean",
    "delay_down_min",
    "delay_down_p50",
    "delay_down_p95",
    "delay_down_p99",
    "delay_down_p999",
    "delay_down_max",
];
const DELAY_ROUND_TRIP: DelayNames = [
    "delay_round_trip_mean",
    "delay_round_trip_min",
    "delay_round_trip_p50",
    "delay_round_trip_p95",
    "delay_round_trip_p99",
    "delay_round_trip_p999",
    "delay_round_trip_max",
];
const QUEUE_DELAY: DelayNames = [
    "queue_delay_mean",
    "queue_delay_min",
    "queue_delay_p50",
    "queue_delay_p95",
    "queue_delay_p99",
    "queue_delay_p999",
    "queue_delay_max",
];

/// Quantiles of a histogram in ns: of 50, 95, 99 and 99.9 %; `None` of an empty one.
type Quantiles = Option<[u64; 4]>;

fn histogram_metrics(rows: &mut Rows, subject: &str, histogram: &DelayHistogram, names: &DelayNames) -> Quantiles {
    let ms = |ns: u64| ns as f64 / 1e6;
    let quantiles = histogram.quantiles_ns([0.5, 0.95, 0.99, 0.999]);
    let quantile = |place: usize| quantiles.map(|ns| ms(ns[place]));
    let values = [
        histogram.mean_ns().map(|ns| ns / 1e6),
        histogram.min_ns().map(ms),
        quantile(0),
        quantile(1),
        quantile(2),
        quantile(3),
        histogram.max_ns().map(ms),
    ];
    for (metric, value) in names.iter().zip(values) {
        rows.add_some(subject, metric, value);
    }
    quantiles
}

/// Names of what quantiles of a histogram of delays exceed the least delay by.
type VariationNames = [&'static str; 3];

const VARIATION_UP: VariationNames = ["delay_variation_up_p50", "delay_variation_up_p99", "delay_variation_up_p999"];
const VARIATION_DOWN: VariationNames =
    ["delay_variation_down_p50", "delay_variation_down_p99", "delay_variation_down_p999"];
const VARIATION_ROUND_TRIP: VariationNames =
    ["delay_variation_round_trip_p50", "delay_variation_round_trip_p99", "delay_variation_round_trip_p999"];

/// Packet delay variation: what delays exceed the least one by.
fn variation_metrics(
    rows: &mut Rows,
    subject: &str,
    histogram: &DelayHistogram,
    quantiles: Quantiles,
    names: &VariationNames,
) {
    let (Some(least), Some([median, _, p99, p999])) = (histogram.min_ns(), quantiles) else {
        return;
    };
    for (metric, ns) in names.iter().zip([median, p99, p999]) {
        rows.add(subject, metric, ns.saturating_sub(least) as f64 / 1e6);
    }
}

fn transfer_metrics(rows: &mut Rows, name: &str, transfers: &TransferTally) {
    if transfers.recorded() == 0 {
        return;
    }
    let times: Vec<(f64, u64)> = transfers
        .times()
        .into_iter()
        .flat_map(DelayHistogram::middles)
        .map(|(ns, count)| (ns as f64 / 1e9, count))
        .collect();
    let completed: u64 = times.iter().map(|(_, count)| count).sum();
    rows.add(name, "transfers_completed", completed as f64);
    let median = quantile::linear_counted(&times, 0.5);
    rows.add_some(name, "transfer_time_median", median);
}

fn page_metrics(rows: &mut Rows, facts: &RunFacts, name: &str, pages: &[&Page]) {
    let end = Instant::ZERO.saturating_add(facts.duration);
    let (mut completed, mut unfinished) = (Vec::new(), Vec::new());
    for page in pages {
        let until = page.ended_at.unwrap_or(end).saturating_since(page.started_at).as_secs_f64();
        if page.ended_at.is_some() { &mut completed } else { &mut unfinished }.push(until);
    }
    let times = LoadTimes::new(&completed, &unfinished);
    rows.add(name, "pages_completed", times.completed as f64);
    rows.add(name, "pages_unfinished", times.unfinished as f64);
    rows.add_some(name, "page_load_time_median", times.median);
    rows.add_some(name, "page_load_time_mad", times.median_absolute_deviation);
    rows.add_some(name, "page_load_time_mean", times.mean);
    rows.add_some(name, "page_load_time_p95", times.p95);
    rows.add_some(name, "page_load_time_max", completed.into_iter().reduce(f64::max));
    rows.add_some(name, "page_load_time_median_censored", times.kaplan_meier_median);
}

fn link_metrics(rows: &mut Rows, facts: &RunFacts, records: &Records, id: LinkId, subject: &str) {
    let totals = records.link_totals(id);
    let bytes = totals.forwarded_bytes().0 as f64;
    rows.add(subject, "forwarded_volume", bytes / 1e3);
    let dropped = totals.dropped_packets as f64;
    rows.add(subject, "dropped_packets", dropped);
    let forwarded: u64 = totals.forwarded.iter().map(|queue| queue.packets).sum();
    let offered = dropped + forwarded as f64;
    let loss_rate = (offered > 0.0).then(|| 100.0 * dropped / offered);
    rows.add_some(subject, "loss_rate", loss_rate);
    signals::signal_metrics(rows, records, id, subject);
    device::device_metrics(rows, records, id, subject);
    let tally = records.link_protection(id);
    protection::protection_metrics(rows, subject, tally, &protection::NAMES);
    if let Some(mac) = records.mac(id) {
        mac_metrics(rows, subject, &mac);
    }
    if let Some((direction, modem)) = records.modem(id).filter(|_| group::KNOWN) {
        group::modem_metrics(rows, subject, direction, &modem);
    }
    if let Some(counters) = records.wifi(id) {
        wifi::wifi_metrics(rows, facts, subject, &counters);
    }
    for (queue, mac) in records.service_flows(id) {
        mac_metrics(rows, &format!("{subject}/{}", queue.as_str()), mac);
    }
    if let Some(allowance) = facts.allowance.get(usize::from(id.0)).copied().flatten() {
        let used = utilisation(totals.forwarded_bytes(), allowance);
        rows.add_some(subject, "utilisation", used);
    }
    let backlog = records.mean_backlog_packets(id);
    rows.add_some(subject, "backlog_mean", backlog);
    let Some(sojourn) = records.sojourn(id) else {
        return;
    };
    let quantiles = histogram_metrics(rows, subject, sojourn, &QUEUE_DELAY);
    // The same under the name of the published studies.
    let ms = |ns: u64| ns as f64 / 1e6;
    rows.add_some(subject, "sojourn_mean", sojourn.mean_ns().map(|ns| ns / 1e6));
    for (place, metric) in ["sojourn_p50", "sojourn_p95", "sojourn_p99"].into_iter().enumerate() {
        rows.add_some(subject, metric, quantiles.map(|ns| ms(ns[place])));
    }
    rows.add_some(subject, "sojourn_max", sojourn.max_ns().map(ms));
}

fn mac_metrics(rows: &mut Rows, subject: &str, mac: &MacCounters) {
    for (metric, bytes) in
        [("requested_volume", mac.requested), ("granted_volume", mac.granted), ("unused_grants", mac.unused)]
    {
        rows.add(subject, metric, bytes.0 as f64 / 1e3);
    }
}

/// The table `metrics` of a run.
pub fn metric_table(rows: &[MetricRow]) -> Table {
    let words = |word: &dyn Fn(&MetricRow) -> String| {
        let all: Vec<String> = rows.iter().map(word).collect();
        let mut dictionary = all.clone();
        dictionary.sort_unstable();
        dictionary.dedup();
        let code = |word: &String| {
            let at = dictionary.binary_search(word).expect("every word is in the dictionary");
            i32::try_from(at).expect("fewer than 2^31 words")
        };
        ColumnData::words(all.iter().map(code).collect(), &dictionary)
    };
    Table::new(
        "metrics",
        [
            ("subject", words(&|row| row.0.clone())),
            ("metric", words(&|row| row.1.to_owned())),
            ("value", ColumnData::F64(rows.iter().map(|row| row.2).collect())),
            ("unit", words(&|row| row.3.to_owned())),
        ],
    )
}
