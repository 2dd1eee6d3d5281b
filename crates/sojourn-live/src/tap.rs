//! The recorder of a run that is watched: column records as always, and series for the screen.
//!
//! It only reads. A run with a tap has the records of the run without.

use crate::packets::Packets;
use crate::series::{Column, Fold, Series, Subject};
use sojourn_base::report::Report;
use sojourn_base::{Bytes, Cause, Direction, Instant, PerDirection, Reason, ServiceQueue, Span};
use sojourn_record::{
    ChannelCounters, ColumnRecorder, ConnectionSample, ConnectionTotals, Datagram, DelaySplit, FlowRow, JoinedPassage,
    LinkDrop, LinkId, LinkMark, LinkPassage, LinkScore, MacCounters, ModemCounters, Recorder, SegmentArrival,
    TrafficId, Waiting, WifiCounters,
};

/// Bytes that wait in a managed queue.
pub const BACKLOG: &[Column] = &[
    Column::lasting("least_bytes", Fold::Least),
    Column::lasting("most_bytes", Fold::Most),
    Column::lasting("last_bytes", Fold::Last),
];

/// Time that packets spent in a managed queue, by when they left it; and what they were.
pub const PASSAGES: &[Column] = &[
    Column::new("sojourn_least_ms", Fold::Least),
    Column::new("sojourn_most_ms", Fold::Most),
    Column::new("sojourn_sum_ms", Fold::Sum),
    Column::new("packets", Fold::Sum),
    Column::new("bytes", Fold::Sum),
];

/// Packets lost and marked on a link.
pub const SIGNALS: &[Column] = &[Column::new("drops", Fold::Sum), Column::new("marks", Fold::Sum)];

/// Bytes of an entry over a link.
pub const RATE: &[Column] = &[Column::new("bytes", Fold::Sum)];

/// Delay of the packets of an entry, summed by cause, and how many arrived.
pub const CAUSES: &[Column; Cause::ALL.len() + 1] = &{
    let mut columns = [Column::new("packets", Fold::Sum); Cause::ALL.len() + 1];
    let mut cause = 0;
    while cause < Cause::ALL.len() {
        columns[cause] = Column::new(Cause::ALL[cause].as_str(), Fold::Sum);
        cause += 1;
    }
    columns
};

/// Bytes of data that arrived, what came twice included. What a loss holds back counts when it arrives and not when the
/// application gets it: a second never has more than the line carries.
pub const RECEIVED: &[Column] = &[Column::new("bytes", Fold::Sum)];

/// The sender of a connection.
pub const SENDER: &[Column] = &[
    Column::lasting("window_segments", Fold::Last),
    Column::lasting("threshold_segments", Fold::Last),
    Column::lasting("flight_segments", Fold::Last),
    Column::lasting("round_trip_ms", Fold::Last),
];

/// Quality for a listener or player, from packets one by one.
pub const EXPERIENCE: &[Column] = &[
    Column::new("score", Fold::Last),
    Column::new("delay_mean_ms", Fold::Last),
    Column::new("delay_most_ms", Fold::Last),
];

/// Time between two values of what a listener or player has.
const EXPERIENCE_EVERY: Span = Span::from_ms(100);

/// Window of a listener's score (specification of the page, 5.2).
const SCORE_WINDOW: Span = Span::from_s(10);

/// Window of a player's lag (as above).
const LAG_WINDOW: Span = Span::from_s(1);

/// Connections that have a series at most. chosen: more curves than a picture can show.
const MOST_CONNECTIONS: usize = 64;

/// Drops and marks that are kept one by one; of more, only the counts of bins (specification of the page, 5.2).
pub const MOST_TICKS: usize = 20_000;

/// A drop or a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Time of the event.
    pub at: Instant,
    /// The link.
    pub link: u16,
    /// Traffic entry of the packet.
    pub traffic: u16,
    /// It was marked, not lost.
    pub is_mark: bool,
    /// Reason.
    pub reason: Reason,
}

/// A link or entry, as the tap has to know it.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Name in records.
    pub name: String,
    /// Of an entry: its packets are looked at one by one.
    pub is_stream: bool,
    /// Of an entry: it is a call, which has a score.
    pub is_call: bool,
    /// Of an entry of datagrams with one server: propagation between the line and that server, one way. Pictures and
    /// single packets are of the line, as the metrics are.
    pub beyond: Span,
}

/// Widths of bins.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    /// Of links.
    pub fine: Span,
    /// Of entries and senders.
    pub coarse: Span,
    /// End of the run.
    pub end: Instant,
}

/// The recorder of a session.
#[derive(Debug)]
pub struct Tap {
    columns: ColumnRecorder,
    now: Instant,
    bins: Bins,
    sample_interval: Span,
    links: Vec<Watched>,
    traffic: Vec<Watched>,
    series: Vec<Series>,
    /// Detailed view: passages and per-link rates (optional).
    details: Option<Details>,
    /// Queue of each link, in the present bin.
    backlogs: Vec<Backlog>,
    /// Delays of each entry, in the present bin.
    causes: Vec<PerDirection<Delays>>,
    /// Places in `series` of those of an entry; `NONE` if there is none yet.
    received: Vec<PerDirection<usize>>,
    /// Connection and series.
    senders: Vec<(u32, Direction, usize)>,
    packets: Vec<Packets>,
    ticks: Vec<Tick>,
    ticks_left_out: u64,
}

/// No series yet.
const NONE: usize = usize::MAX;

/// Most packets whose delays are added up in whole numbers: 64 bits of picoseconds hold as many of an hour.
const MOST_ADDED: u32 = 4096;

/// Delays of an entry's packets that are not in its series yet. Whole numbers are added sooner than the series', and most
/// packets come in the bin of the one before.
#[derive(Clone, Copy, Debug)]
struct Delays {
    series: usize,
    /// A time in their bin, and its end.
    at: Instant,
    until: Instant,
    sums: [u64; Cause::ALL.len()],
    packets: u32,
    /// The row before these packets, once they have been put into it.
    before: Option<[f32; Cause::ALL.len() + 1]>,
}

impl Delays {
    const NONE: Self = Self {
        series: NONE,
        at: Instant::ZERO,
        until: Instant::ZERO,
        sums: [0; Cause::ALL.len()],
        packets: 0,
        before: None,
    };

    /// Brings the row of its bin up to its packets: the same row, however often it is looked at before the bin ends.
    fn put_into(&mut self, series: &mut [Series], beyond: Span) {
        if self.packets == 0 {
            return;
        }
        let Some(row) = series[self.series].at(self.at) else { return };
        let before = self.before.get_or_insert_with(|| core::array::from_fn(|column| row[column]));
        let mut sums = self.sums;
        let wire = &mut sums[Cause::Wire as usize];
        *wire = wire.saturating_sub(beyond.saturating_mul(u64::from(self.packets)).as_ps());
        for ((cell, before), sum) in row.iter_mut().zip(&*before).zip(sums) {
            *cell = before + milliseconds(Span::from_ps(sum));
        }
        row[Cause::ALL.len()] = before[Cause::ALL.len()] + self.packets as f32;
    }

    /// Ends a bin, or a part of one whose sums are full.
    fn end(&mut self) {
        (self.sums, self.packets, self.before) = ([0; Cause::ALL.len()], 0, None);
    }
}

/// Last report of a queue that is not in its series yet.
#[derive(Clone, Copy, Debug)]
struct Backlog {
    at: Instant,
    until: Instant,
    least: u64,
    most: u64,
    last: u64,
}

impl Backlog {
    const NONE: Self = Self { at: Instant::ZERO, until: Instant::ZERO, least: u64::MAX, most: 0, last: 0 };

    fn put_into(&mut self, series: &mut Series) {
        if self.least <= self.most {
            let values = [self.least, self.most, self.last];
            series.put(self.at, &values.map(|bytes| bytes as f32));
        }
        (self.least, self.most) = (u64::MAX, 0);
    }
}

/// Series of a link, in the order in which they are made: backlog and signals.
const PER_LINK: usize = 2;

/// Places in the series of passages, and of rates by entry and link; `NONE` if there is none yet.
#[derive(Debug)]
struct Details {
    passages: usize,
    rates: Vec<Vec<usize>>,
}

impl Tap {
    /// A tap before `columns`, for a run until `end` with these links and entries.
    pub fn new(
        columns: ColumnRecorder,
        links: Vec<Watched>,
        traffic: Vec<Watched>,
        bins: Bins,
        has_details: bool,
    ) -> Self {
        let of_link = |kind, link: &Watched, columns| {
            let subject = Subject::Link(link.name.clone());
            Series::new(kind, subject, columns, bins.fine, bins.end)
        };
        let mut series = Vec::new();
        for link in &links {
            let mut backlog = of_link("backlog", link, BACKLOG);
            // Empty until the first report.
            backlog.put(Instant::ZERO, &[0.0; 3]);
            series.extend([backlog, of_link("signals", link, SIGNALS)]);
        }
        let details = has_details
            .then(|| Details { passages: series.len(), rates: vec![vec![NONE; links.len()]; traffic.len()] });
        if has_details {
            let passages = links.iter().map(|link| of_link("passages", link, PASSAGES));
            series.extend(passages);
        }
        let sample_interval = columns.sample_interval().unwrap_or(bins.coarse);
        Self {
            details,
            backlogs: vec![Backlog::NONE; links.len()],
            causes: vec![PerDirection { upstream: Delays::NONE, downstream: Delays::NONE }; traffic.len()],
            received: vec![PerDirection { upstream: NONE, downstream: NONE }; traffic.len()],
            senders: Vec::new(),
            packets: Vec::new(),
            ticks: Vec::new(),
            ticks_left_out: 0,
            now: Instant::ZERO,
            columns,
            bins,
            sample_interval,
            links,
            traffic,
            series,
        }
    }

    /// The series so far; a new one joins at the end.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// The name of an entry and how it is watched.
    pub fn entry(&self, traffic: u16) -> &Watched {
        &self.traffic[usize::from(traffic)]
    }

    /// Names of the entries, in the order of their numbers.
    pub fn entry_names(&self) -> impl Iterator<Item = &String> {
        self.traffic.iter().map(|entry| &entry.name)
    }

    /// Names of the links, in the order of their numbers.
    pub fn link_names(&self) -> impl Iterator<Item = &String> {
        self.links.iter().map(|link| &link.name)
    }

    /// Brings all series up to `now`, with their pyramids.
    pub fn build(&mut self, now: Instant) {
        for (link, backlog) in self.backlogs.iter_mut().enumerate() {
            backlog.put_into(&mut self.series[link * PER_LINK]);
        }
        for (delays, entry) in self.causes.iter_mut().zip(&self.traffic) {
            for direction in Direction::BOTH {
                delays[direction].put_into(&mut self.series, entry.beyond);
            }
        }
        for series in &mut self.series {
            series.build(now);
        }
    }

    /// Drops and marks in the order of time, and how many were left out.
    pub fn ticks(&self) -> (&[Tick], u64) {
        (&self.ticks, self.ticks_left_out)
    }

    /// The flows whose packets are looked at one by one.
    pub fn packets(&self) -> &[Packets] {
        &self.packets
    }

    /// The records of the run.
    pub fn into_columns(self) -> ColumnRecorder {
        self.columns
    }

    /// Returns the quality for the listener or player of a flow in the window before each moment up to `now`, see
    /// [`EXPERIENCE`].
    pub fn experience(&self, flow: usize, now: Instant) -> Option<Series> {
        let packets = self.packets.get(flow)?;
        let entry = self.entry(packets.traffic);
        let subject = Subject::Traffic(entry.name.clone());
        let (every, end) = (EXPERIENCE_EVERY, self.bins.end);
        let mut series = Series::new("experience", subject, EXPERIENCE, every, end);
        let step = every.as_ns();
        for at_ns in (1..=now.as_ns() / step).map(|count| count * step) {
            let score = entry.is_call.then(|| packets.score(at_ns, SCORE_WINDOW));
            let lag = packets.lag(at_ns, LAG_WINDOW);
            let row = [score.flatten(), lag.map(|lag| lag.0), lag.map(|lag| lag.1)];
            // In the bin that ends then.
            let bin = Instant::from_ns(at_ns - step);
            series.put(bin, &row.map(|value| value.map_or(f32::NAN, narrow)));
        }
        series.build(now);
        Some(series)
    }

    fn join(&mut self, series: Series) -> usize {
        self.series.push(series);
        self.series.len() - 1
    }

    fn new_for_entry(
        &mut self,
        kinds: [&'static str; 2],
        traffic: TrafficId,
        direction: Direction,
        columns: &'static [Column],
    ) -> usize {
        let subject = Subject::Traffic(self.entry(traffic.0).name.clone());
        let kind = kinds[direction as usize];
        self.join(Series::new(kind, subject, columns, self.bins.coarse, self.bins.end))
    }

    #[inline]
    fn add_delay(&mut self, traffic: TrafficId, direction: Direction, split: &DelaySplit) {
        let delays = &self.causes[usize::from(traffic.0)][direction];
        if self.now >= delays.until || delays.packets == MOST_ADDED {
            self.begin_delays(traffic, direction);
        }
        let delays = &mut self.causes[usize::from(traffic.0)][direction];
        for (sum, part) in delays.sums.iter_mut().zip(split.parts()) {
            *sum = sum.wrapping_add(part.as_ps());
        }
        delays.packets += 1;
    }

    /// Starts the next bin of delays.
    #[cold]
    fn begin_delays(&mut self, traffic: TrafficId, direction: Direction) {
        let entry = usize::from(traffic.0);
        if self.causes[entry][direction].series == NONE {
            let kinds = ["causes_up", "causes_down"];
            let place = self.new_for_entry(kinds, traffic, direction, CAUSES);
            self.causes[entry][direction].series = place;
        }
        let delays = &mut self.causes[entry][direction];
        delays.put_into(&mut self.series, self.traffic[entry].beyond);
        delays.end();
        delays.at = self.now;
        delays.until = self.series[delays.series].end_of(self.now);
    }

    /// Starts the next bin of a queue.
    #[cold]
    fn begin_backlog(&mut self, now: Instant, link: usize) {
        let (backlog, series) = (&mut self.backlogs[link], &mut self.series[link * PER_LINK]);
        backlog.put_into(series);
        (backlog.at, backlog.until) = (now, series.end_of(now));
    }

    fn add_passage(&mut self, passage: &LinkPassage) {
        let Some(details) = &mut self.details else {
            return;
        };
        let (link, entry) = (usize::from(passage.link.0), usize::from(passage.traffic.0));
        let at = passage.dequeued_at;
        let sojourn = milliseconds(at.saturating_since(passage.entered_at));
        let bytes = passage.charged.0 as f32;
        if let Some([least, most, sum, packets, sent]) = self.series[details.passages + link].at(at) {
            *least = least.min(sojourn);
            *most = most.max(sojourn);
            *sum += sojourn;
            *packets += 1.0;
            *sent += bytes;
        }
        let place = &mut details.rates[entry][link];
        if *place == NONE {
            *place = self.series.len();
            let names = [&self.traffic[entry].name, &self.links[link].name];
            let [traffic, over] = names.map(Clone::clone);
            let subject = Subject::TrafficOnLink(traffic, over);
            let Bins { fine, end, .. } = self.bins;
            self.series.push(Series::new("rate", subject, RATE, fine, end));
        }
        if let Some([sum]) = self.series[*place].at(at) {
            *sum += bytes;
        }
    }

    fn add_received(&mut self, traffic: TrafficId, direction: Direction, bytes: u64) {
        let mut place = self.received[usize::from(traffic.0)][direction];
        if place == NONE {
            let kinds = ["received_up", "received_down"];
            place = self.new_for_entry(kinds, traffic, direction, RECEIVED);
            self.received[usize::from(traffic.0)][direction] = place;
        }
        if let Some([sum]) = self.series[place].at(self.now) {
            *sum += bytes as f32;
        }
    }

    fn tick(&mut self, tick: Tick) {
        let column = usize::from(tick.is_mark);
        if let Some(row) = self.series[usize::from(tick.link) * PER_LINK + 1].at(tick.at) {
            row[column] += 1.0;
        }
        if self.ticks.len() < MOST_TICKS {
            self.ticks.push(tick);
        } else {
            self.ticks_left_out += 1;
        }
    }

    /// Keeps a packet whose entry is looked at packet by packet.
    fn keep(&mut self, datagram: &Datagram) {
        let known = |flow: &Packets| {
            (flow.traffic, flow.flow, flow.direction) == (datagram.traffic.0, datagram.flow, datagram.direction)
        };
        let place = match self.packets.iter().position(known) {
            Some(place) => place,
            None if self.packets.len() < MOST_CONNECTIONS => {
                self.packets.push(Packets::of(datagram));
                self.packets.len() - 1
            }
            None => return,
        };
        self.packets[place].add(datagram);
    }
}

fn milliseconds(span: Span) -> f32 {
    span.as_ps() as f32 * 1e-9
}

#[expect(clippy::cast_possible_truncation, reason = "for a screen")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Overhead of a datagram: IPv4 and UDP headers (RFC 791, RFC 768).
const DATAGRAM_HEADERS: u64 = 28;

impl Recorder for Tap {
    fn wants_delays(&self) -> bool {
        true
    }

    fn bytes(&self) -> usize {
        let series: usize = self.series.iter().map(Series::bytes).sum();
        let packets = self.packets.iter();
        let packets: usize = packets.map(|flow| flow.sent.capacity() * size_of::<crate::packets::Packet>()).sum();
        self.columns.bytes() + series + packets + self.ticks.capacity() * size_of::<Tick>()
    }

    fn wants_waiting(&self) -> bool {
        true
    }

    fn wants_flows(&self) -> bool {
        self.columns.wants_flows()
    }

    #[inline]
    fn on_clock(&mut self, now: Instant) {
        self.now = now;
    }

    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, length: Bytes) {
        self.columns.on_sent(traffic, direction, length);
    }

    #[inline]
    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {
        self.columns.on_passage(direction, passage);
        if self.details.is_some() {
            self.add_passage(passage);
        }
    }

    fn on_drop(&mut self, drop: &LinkDrop) {
        self.columns.on_drop(drop);
        self.tick(Tick {
            at: drop.at,
            link: drop.link.0,
            traffic: drop.traffic.0,
            is_mark: false,
            reason: drop.reason,
        });
    }

    fn on_mark(&mut self, mark: &LinkMark) {
        self.columns.on_mark(mark);
        self.tick(Tick { at: mark.at, link: mark.link.0, traffic: mark.traffic.0, is_mark: true, reason: mark.reason });
    }

    fn on_score(&mut self, score: &LinkScore) {
        self.columns.on_score(score);
    }

    fn on_estimate(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {
        self.columns.on_estimate(link, queue, delay);
    }

    #[inline]
    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        self.columns.on_waiting(now, link, waiting);
        let link = usize::from(link.0);
        if now >= self.backlogs[link].until {
            self.begin_backlog(now, link);
        }
        let (backlog, bytes) = (&mut self.backlogs[link], waiting.bytes.0);
        backlog.least = backlog.least.min(bytes);
        backlog.most = backlog.most.max(bytes);
        backlog.last = bytes;
    }

    fn on_datagram(&mut self, datagram: &Datagram) {
        self.columns.on_datagram(datagram);
        if matches!(datagram.fate, sojourn_record::Fate::Arrived(_)) {
            let (traffic, direction) = (datagram.traffic, datagram.direction);
            self.add_delay(traffic, direction, &datagram.split);
            let payload = datagram.length.0.saturating_sub(DATAGRAM_HEADERS);
            self.add_received(traffic, direction, payload);
        }
        if self.traffic[usize::from(datagram.traffic.0)].is_stream {
            self.keep(datagram);
        }
    }

    #[inline]
    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {
        self.columns.on_segment(arrival);
        if arrival.payload > Bytes::ZERO {
            self.add_delay(arrival.traffic, arrival.direction, arrival.split);
            self.add_received(arrival.traffic, arrival.direction, arrival.payload.0);
        }
    }

    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {
        self.columns.on_goodput(traffic, direction, bytes);
    }

    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.columns.on_connection(traffic, connection);
    }

    fn on_flow(&mut self, row: &FlowRow) {
        self.columns.on_flow(row);
    }

    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {
        self.columns.on_report(traffic, report);
    }

    fn sample_interval(&self) -> Option<Span> {
        Some(self.sample_interval)
    }

    fn on_sample(&mut self, sample: &ConnectionSample) {
        if self.columns.sample_interval().is_some() {
            self.columns.on_sample(sample);
        }
        let who = (sample.connection, sample.direction);
        let known = self.senders.iter().find(|sender| (sender.0, sender.1) == who);
        let place = match known {
            Some(sender) => sender.2,
            None if self.senders.len() < MOST_CONNECTIONS => {
                let name = self.traffic[usize::from(sample.traffic.0)].name.clone();
                let subject = Subject::Connection(name, sample.connection);
                let width = self.sample_interval;
                let place = self.join(Series::new("sender", subject, SENDER, width, self.bins.end));
                self.senders.push((who.0, who.1, place));
                place
            }
            None => return,
        };
        let milliseconds = sample.round_trip.map_or(f32::NAN, milliseconds);
        self.series[place].put(
            sample.at,
            &[narrow(sample.window), sample.threshold.map_or(f32::NAN, narrow), sample.flight as f32, milliseconds],
        );
    }

    fn on_mac(&mut self, link: LinkId, counters: &MacCounters) {
        self.columns.on_mac(link, counters);
    }

    fn on_counting(&mut self, link: LinkId, counting: bool) {
        self.columns.on_counting(link, counting);
    }

    fn on_group(&mut self, direction: Direction, channel: &ChannelCounters, modems: &[(LinkId, ModemCounters)]) {
        self.columns.on_group(direction, channel, modems);
    }

    fn on_joined(&mut self, direction: Direction, passage: &JoinedPassage) {
        self.columns.on_joined(direction, passage);
    }

    fn on_wifi(&mut self, link: LinkId, counters: &WifiCounters) {
        self.columns.on_wifi(link, counters);
    }

    fn on_service_flow(&mut self, link: LinkId, queue: ServiceQueue, counters: &MacCounters) {
        self.columns.on_service_flow(link, queue, counters);
    }

    fn on_open_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.columns.on_open_connection(traffic, connection);
    }

    fn on_measure(&mut self, now: Instant) {
        self.columns.on_measure(now);
    }

    fn on_end(&mut self, now: Instant) {
        self.columns.on_end(now);
        self.build(now);
    }
}
