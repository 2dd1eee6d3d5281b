//! The finished records of one run, and the tables that they make.

use super::{ColumnRecorder, LinkRecords, LinkTotals, RecordConfig, RecordedLink};
use crate::accumulate::{DelayHistogram, TrafficCounters};
use crate::latency_histogram::{DeviceDelays, LatencyBin};
use crate::protection::ProtectionTally;
use crate::series::{Bins, LinkBin, ServiceBin, TrafficBin};
use crate::table::{ColumnData, Table};
use crate::tally::{DatagramTally, FrameTally, ObjectTally, TransferTally};
use crate::{
    Cause, ConnectionSample, Datagram, Fate, FlowConnection, FlowRow, LinkId, MacCounters,
    PacketCount, Signal, SignalKind, TrafficId,
};
use sojourn_base::report::{
    Chunk, DownloadSession, LevelReason, LiveSecond, LiveSession, Object, Page, StreamingSession,
    Transfer,
};
use sojourn_base::{Direction, Instant, PerDirection, Reason, ServiceQueue, Span};

/// The finished records of one run.
#[derive(Debug)]
pub struct Records {
    pub(super) recorder: ColumnRecorder,
}

impl Records {
    /// What was recorded.
    pub const fn config(&self) -> &RecordConfig {
        &self.recorder.config
    }

    /// Names of the traffic entries; a [`TrafficId`] is an index into them.
    pub fn traffic_names(&self) -> &[String] {
        &self.recorder.traffic_names
    }

    /// Counters of a traffic entry.
    pub fn counters(&self, traffic: TrafficId) -> &PerDirection<TrafficCounters> {
        &self.recorder.counters[usize::from(traffic.0)]
    }

    /// Access delays of a traffic entry in one direction; `None` if nothing was recorded.
    pub fn access_delay(
        &self,
        traffic: TrafficId,
        direction: Direction,
    ) -> Option<&DelayHistogram> {
        self.recorder.access_delay[usize::from(traffic.0)][direction].as_ref()
    }

    /// The links, in the order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, &RecordedLink)> {
        self.numbered().map(|(id, link)| (id, &link.link))
    }

    fn numbered(&self) -> impl Iterator<Item = (LinkId, &LinkRecords)> {
        (0..).map(LinkId).zip(&self.recorder.links)
    }

    fn link(&self, link: LinkId) -> &LinkRecords {
        &self.recorder.links[usize::from(link.0)]
    }

    /// What a link has forwarded and lost.
    pub fn link_totals(&self, link: LinkId) -> &LinkTotals {
        &self.link(link).totals
    }

    /// Time spent in the managed queue of a link; `None` if nothing was recorded.
    pub fn sojourn(&self, link: LinkId) -> Option<&DelayHistogram> {
        self.link(link).sojourn.as_ref()
    }

    /// Time-weighted mean number of packets in the managed queue of a link; `None` if it was not recorded.
    pub fn mean_backlog_packets(&self, link: LinkId) -> Option<f64> {
        let occupancy = self.link(link).clock.occupancy_ns();
        let total: u64 = occupancy.iter().sum();
        let weighted: f64 = occupancy
            .iter()
            .enumerate()
            .map(|(packets, ns)| packets as f64 * *ns as f64)
            .sum();
        (total > 0).then(|| weighted / total as f64)
    }

    /// What became of the datagrams of a traffic entry: flow, direction and tally, in this order, of every
    /// flow that had one. Always there, whatever rows were kept.
    pub fn datagram_tallies(
        &self,
        traffic: TrafficId,
    ) -> impl Iterator<Item = (u32, Direction, &DatagramTally)> {
        self.recorder.datagram_tallies[usize::from(traffic.0)].iter()
    }

    /// All datagrams in the order of their fates; none if no rows were asked for.
    pub fn datagrams(&self) -> &[Datagram] {
        &self.recorder.datagrams
    }

    /// All pages, and whose they are, in the order of their ends.
    pub fn pages(&self) -> &[(TrafficId, Page)] {
        &self.recorder.pages
    }

    /// What became of the objects of a traffic entry's pages. Always there, whatever rows were kept.
    pub fn object_tally(&self, traffic: TrafficId) -> &ObjectTally {
        &self.recorder.object_tallies[usize::from(traffic.0)]
    }

    /// What became of the transfers of a traffic entry. Always there, whatever rows were kept.
    pub fn transfer_tally(&self, traffic: TrafficId) -> &TransferTally {
        &self.recorder.transfer_tallies[usize::from(traffic.0)]
    }

    /// What became of the frames of video of a traffic entry in one direction; `None` if it sent none.
    pub fn frame_tally(&self, traffic: TrafficId, direction: Direction) -> Option<&FrameTally> {
        self.recorder.frame_tallies[usize::from(traffic.0)][direction].as_deref()
    }

    /// All transfers, and whose they are, in the order of their ends; if no rows were asked for, samples only.
    pub fn transfers(&self) -> &[(TrafficId, Transfer)] {
        &self.recorder.transfers
    }

    /// All sessions of adaptive streams, and whose they are.
    pub fn streaming_sessions(&self) -> &[(TrafficId, StreamingSession)] {
        &self.recorder.streaming_sessions
    }

    /// How near each player of a live stream was, in the order of entries.
    pub fn live_sessions(&self) -> &[(TrafficId, LiveSession)] {
        &self.recorder.live_sessions
    }

    /// All videos that were played while they were downloaded, and whose they are, in the order of their ends.
    pub fn download_sessions(&self) -> &[(TrafficId, DownloadSession)] {
        &self.recorder.download_sessions
    }

    /// All flows: those of connections in the order of their ends, then datagrams; none if no rows were asked for.
    pub fn flows(&self) -> &[FlowRow] {
        &self.recorder.flows
    }

    /// What Queue Protection did to the packets of a traffic entry, in all links of a direction together.
    pub fn protection(&self, traffic: TrafficId) -> &PerDirection<ProtectionTally> {
        &self.recorder.protection[usize::from(traffic.0)]
    }

    /// What the Queue Protection of a link did.
    pub fn link_protection(&self, link: LinkId) -> &ProtectionTally {
        &self.link(link).protection
    }

    /// What Queue Protection did to each of [`Records::flows`].
    pub fn flow_protection(&self) -> &[ProtectionTally] {
        &self.recorder.judged_flows
    }

    /// What the device of a link counted of each queue from which it counted something.
    pub fn device_delays(
        &self,
        link: LinkId,
    ) -> impl Iterator<Item = (ServiceQueue, &DeviceDelays)> {
        let device = self.link(link).device.iter();
        device.flat_map(|device| device.counted())
    }

    /// What the MAC of a link counted; `None` without one.
    pub fn mac(&self, link: LinkId) -> Option<MacCounters> {
        self.link(link).mac
    }

    /// What the MAC of a link counted of each of its service flows; nothing of a link with one.
    pub fn service_flows(&self, link: LinkId) -> &[(ServiceQueue, MacCounters)] {
        &self.link(link).service_flows
    }

    /// The connections that were looked at, in order of time; none if no interval was asked for.
    pub fn connection_samples(&self) -> &[ConnectionSample] {
        &self.recorder.samples
    }

    /// Drops and marks by everything that is known of them, in the order of [`SignalKind`].
    pub fn signals(&self) -> impl Iterator<Item = (&SignalKind, &PacketCount)> {
        self.recorder.signals.iter()
    }

    /// Every recorded table, in the order of the schema.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.datagram_table(), self.page_table()];
        if self.recorder.config.objects {
            tables.push(self.object_table());
        }
        if self.recorder.config.chunks {
            tables.push(self.chunk_table());
        }
        tables.push(self.streaming_session_table());
        tables.push(self.live_second_table());
        tables.push(self.live_session_table());
        tables.push(self.download_session_table());
        if self.recorder.config.transfers {
            tables.push(self.transfer_table());
        }
        if self.recorder.config.flows {
            tables.push(self.flow_table());
        }
        if self.recorder.config.connections.is_some() {
            tables.push(self.connection_table());
        }
        if let Some(width) = self.recorder.config.series {
            tables.push(self.series_table(width));
            tables.push(self.traffic_series_table());
            tables.push(self.service_series_table());
        }
        if self.recorder.config.occupancy {
            tables.push(self.occupancy_table());
        }
        if self.recorder.config.delays {
            tables.push(self.delay_table());
        }
        tables.push(self.traffic_table());
        tables.push(self.signal_table());
        if self.recorder.config.histograms {
            tables.push(self.delay_histogram_table());
            tables.push(self.sojourn_histogram_table());
        }
        tables.push(self.latency_histogram_table());
        tables.retain(|table| table.rows() > 0 || !LEFT_OUT.contains(&table.name));
        tables
    }

    fn link_words(&self, ids: impl Iterator<Item = LinkId>) -> ColumnData {
        let names: Vec<String> = self.links().map(|(_, link)| link.name.clone()).collect();
        ColumnData::words(ids.map(|id| i32::from(id.0)).collect(), &names)
    }

    fn traffic_words(&self, ids: impl Iterator<Item = TrafficId>) -> ColumnData {
        ColumnData::words(
            ids.map(|id| i32::from(id.0)).collect(),
            &self.recorder.traffic_names,
        )
    }

    fn traffic_of<T>(&self, rows: &[(TrafficId, T)]) -> ColumnData {
        self.traffic_words(rows.iter().map(|(traffic, _)| *traffic))
    }

    fn datagram_table(&self) -> Table {
        let rows = &self.recorder.datagrams;
        let u32s = |value: fn(&Datagram) -> u32| ColumnData::U32(rows.iter().map(value).collect());
        let part = |cause: Cause| {
            ColumnData::U64(
                rows.iter()
                    .map(|row| row.split.get(cause).as_ns())
                    .collect(),
            )
        };
        let lost_at = rows.iter().map(|row| match row.fate {
            Fate::Arrived(_) => MISSING,
            Fate::LostInQueue => 0,
            Fate::LostBehindQueue => 1,
        });
        let reasons = rows
            .iter()
            .map(|row| row.lost_for.map_or(MISSING, |reason| reason as i32));
        let all_reasons = Reason::ALL.map(|reason| reason.as_str().to_owned());
        let places = ["queue".to_owned(), "transmit_queue".to_owned()];
        Table::new(
            "datagrams",
            [
                (
                    "traffic",
                    self.traffic_words(rows.iter().map(|row| row.traffic)),
                ),
                ("flow", u32s(|row| row.flow)),
                ("sequence", u32s(|row| row.sequence)),
                (
                    "direction",
                    directions(rows.iter().map(|row| row.direction)),
                ),
                (
                    "length_bytes",
                    ColumnData::U64(rows.iter().map(|row| row.length.0).collect()),
                ),
                (
                    "sent_ns",
                    ColumnData::U64(rows.iter().map(|row| row.sent_at.as_ns()).collect()),
                ),
                (
                    "arrived_ns",
                    ColumnData::optional_u64(rows.iter().map(|row| match row.fate {
                        Fate::Arrived(at) => Some(at.as_ns()),
                        _ => None,
                    })),
                ),
                ("lost_at", ColumnData::words(lost_at.collect(), &places)),
                ("queue_ns", part(Cause::Queue)),
                ("request_wait_ns", part(Cause::RequestWait)),
                ("grant_wait_ns", part(Cause::GrantWait)),
                ("framing_ns", part(Cause::Framing)),
                ("pipeline_ns", part(Cause::Pipeline)),
                ("serialisation_ns", part(Cause::Serialisation)),
                ("wire_ns", part(Cause::Wire)),
                ("marked", u32s(|row| u32::from(row.marked))),
                (
                    "lost_for",
                    ColumnData::words(reasons.collect(), &all_reasons),
                ),
            ],
        )
    }

    fn page_table(&self) -> Table {
        let rows = &self.recorder.pages;
        let u32s = |value: fn(&Page) -> u32| ColumnData::U32(values(rows, value).collect());
        let times = |value: fn(&Page) -> Option<Instant>| optional_times(rows, value);
        Table::new(
            "pages",
            [
                ("traffic", self.traffic_of(rows)),
                ("client", u32s(|page| page.user)),
                ("page", u32s(|page| page.index)),
                (
                    "started_ns",
                    ColumnData::U64(values(rows, |page| page.started_at.as_ns()).collect()),
                ),
                ("index_loaded_ns", times(|page| page.index_loaded_at)),
                ("ended_ns", times(|page| page.ended_at)),
                ("objects", u32s(|page| page.objects)),
                (
                    "bytes",
                    ColumnData::U64(values(rows, |page| page.bytes).collect()),
                ),
            ],
        )
    }

    fn object_table(&self) -> Table {
        let rows = &self.recorder.objects;
        let u32s = |value: fn(&Object) -> u32| ColumnData::U32(values(rows, value).collect());
        let times = |value: fn(&Object) -> Option<Instant>| optional_times(rows, value);
        Table::new(
            "objects",
            [
                ("traffic", self.traffic_of(rows)),
                ("client", u32s(|object| object.user)),
                ("page", u32s(|object| object.page)),
                ("server", u32s(|object| object.server)),
                ("index", u32s(|object| object.index)),
                (
                    "started_ns",
                    ColumnData::U64(values(rows, |object| object.started_at.as_ns()).collect()),
                ),
                ("first_byte_ns", times(|object| object.first_byte_at)),
                ("ended_ns", times(|object| object.ended_at)),
                (
                    "bytes",
                    ColumnData::U64(values(rows, |object| object.bytes).collect()),
                ),
            ],
        )
    }

    fn chunk_table(&self) -> Table {
        let rows = &self.recorder.chunks;
        let u32s = |value: fn(&Chunk) -> u32| ColumnData::U32(values(rows, value).collect());
        let u64s = |value: fn(&Chunk) -> u64| ColumnData::U64(values(rows, value).collect());
        let reasons = LevelReason::ALL.map(LevelReason::as_str);
        Table::new(
            "has_chunks",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|chunk| chunk.session)),
                ("chunk", u32s(|chunk| chunk.index)),
                ("level", u32s(|chunk| chunk.level)),
                (
                    "nominal_mbps",
                    ColumnData::F64(
                        values(rows, |chunk| chunk.nominal.as_bps() as f64 / 1e6).collect(),
                    ),
                ),
                ("bytes", u64s(|chunk| chunk.bytes)),
                ("requested_ns", u64s(|chunk| chunk.requested_at.as_ns())),
                ("ended_ns", optional_times(rows, |chunk| chunk.ended_at)),
                (
                    "buffer_before_ns",
                    u64s(|chunk| chunk.buffer_before.as_ns()),
                ),
                (
                    "buffer_after_ns",
                    ColumnData::optional_u64(values(rows, |chunk| {
                        chunk.buffer_after.map(Span::as_ns)
                    })),
                ),
                (
                    "estimate_mbps",
                    ColumnData::optional_f64(values(rows, |chunk| {
                        chunk.estimate.map(|estimate| estimate / 1e6)
                    })),
                ),
                (
                    "reason",
                    words(values(rows, |chunk| chunk.reason as usize), &reasons),
                ),
            ],
        )
    }

    fn streaming_session_table(&self) -> Table {
        let rows = &self.recorder.streaming_sessions;
        let u32s =
            |value: fn(&StreamingSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let spans = |value: fn(&StreamingSession) -> Span| {
            ColumnData::U64(values(rows, |session| value(session).as_ns()).collect())
        };
        let rates = |value: fn(&StreamingSession) -> Option<f64>| {
            ColumnData::optional_f64(values(rows, value))
        };
        Table::new(
            "has_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|session| session.session)),
                (
                    "started_ns",
                    ColumnData::U64(values(rows, |session| session.started_at.as_ns()).collect()),
                ),
                (
                    "startup_ns",
                    ColumnData::optional_u64(values(rows, |session| {
                        session.startup.map(Span::as_ns)
                    })),
                ),
                ("stalls", u32s(|session| session.stalls)),
                ("stalled_ns", spans(|session| session.stalled)),
                ("played_ns", spans(|session| session.played)),
                ("low_buffer_ns", spans(|session| session.low_buffer)),
                ("chunks", u32s(|session| session.chunks)),
                ("mean_mbps", rates(|session| session.mean_mbps)),
                ("sd_mbps", rates(|session| session.sd_mbps)),
                ("switches", u32s(|session| session.switches)),
            ],
        )
    }

    fn live_second_table(&self) -> Table {
        let rows = &self.recorder.live_seconds;
        let u64s = |value: fn(&LiveSecond) -> u64| ColumnData::U64(values(rows, value).collect());
        Table::new(
            "live_seconds",
            [
                ("traffic", self.traffic_of(rows)),
                (
                    "session",
                    ColumnData::U32(values(rows, |second| second.session).collect()),
                ),
                ("at_ns", u64s(|second| second.at.as_ns())),
                ("latency_ns", u64s(|second| second.latency.as_ns())),
                ("buffer_ns", u64s(|second| second.buffer.as_ns())),
                (
                    "speed",
                    ColumnData::F64(values(rows, |second| second.speed).collect()),
                ),
                (
                    "level",
                    ColumnData::optional_u64(values(rows, |second| second.level.map(u64::from))),
                ),
            ],
        )
    }

    fn live_session_table(&self) -> Table {
        let rows = &self.recorder.live_sessions;
        let u32s = |value: fn(&LiveSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let spans = |value: fn(&LiveSession) -> Span| {
            ColumnData::U64(values(rows, |session| value(session).as_ns()).collect())
        };
        let latencies = |value: fn(&LiveSession) -> Option<Span>| {
            ColumnData::optional_u64(values(rows, |session| value(session).map(Span::as_ns)))
        };
        Table::new(
            "live_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|session| session.session)),
                ("latency_mean_ns", latencies(|session| session.latency_mean)),
                ("latency_p95_ns", latencies(|session| session.latency_p95)),
                ("latency_max_ns", latencies(|session| session.latency_max)),
                ("fast_ns", spans(|session| session.fast)),
                ("slow_ns", spans(|session| session.slow)),
                ("skips", u32s(|session| session.skips)),
                ("skipped_ns", spans(|session| session.skipped)),
            ],
        )
    }

    fn download_session_table(&self) -> Table {
        let rows = &self.recorder.download_sessions;
        let u32s =
            |value: fn(&DownloadSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let u64s =
            |value: fn(&DownloadSession) -> u64| ColumnData::U64(values(rows, value).collect());
        Table::new(
            "pd_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("source", u32s(|session| session.source)),
                ("session", u32s(|session| session.index)),
                ("started_ns", u64s(|session| session.started_at.as_ns())),
                ("bytes", u64s(|session| session.bytes)),
                (
                    "playback_ns",
                    optional_times(rows, |session| session.playback_at),
                ),
                ("ended_ns", optional_times(rows, |session| session.ended_at)),
                (
                    "underrun_ns",
                    optional_times(rows, |session| session.underrun_at),
                ),
                (
                    "sustained",
                    ColumnData::optional_u64(values(rows, |session| {
                        session.is_sustained().map(u64::from)
                    })),
                ),
            ],
        )
    }

    fn transfer_table(&self) -> Table {
        let rows = &self.recorder.transfers;
        let u32s = |value: fn(&Transfer) -> u32| ColumnData::U32(values(rows, value).collect());
        let size = |transfer: &Transfer| (transfer.bytes != u64::MAX).then_some(transfer.bytes);
        Table::new(
            "transfers",
            [
                ("traffic", self.traffic_of(rows)),
                ("lane", u32s(|transfer| transfer.lane)),
                ("index", u32s(|transfer| transfer.index)),
                (
                    "started_ns",
                    ColumnData::U64(values(rows, |transfer| transfer.started_at.as_ns()).collect()),
                ),
                (
                    "ended_ns",
                    optional_times(rows, |transfer| transfer.ended_at),
                ),
                ("bytes", ColumnData::optional_u64(values(rows, size))),
            ],
        )
    }

    fn flow_table(&self) -> Table {
        let rows = &self.recorder.flows;
        let numbers = |value: fn(&FlowRow) -> Option<u32>| {
            ColumnData::optional_u64(rows.iter().map(|row| value(row).map(u64::from)))
        };
        let of_connections = |value: fn(&FlowConnection) -> Option<u64>| {
            ColumnData::optional_u64(rows.iter().map(|row| value(&row.connection?)))
        };
        let of_datagrams = |value: fn(&DatagramTally) -> u64| {
            ColumnData::optional_u64(rows.iter().map(|row| {
                let tallies = &self.recorder.datagram_tallies[usize::from(row.traffic.0)];
                let is_datagrams = row.connection.is_none();
                is_datagrams.then(|| tallies.of(row.server, row.direction).map_or(0, value))
            }))
        };
        let marks = ColumnData::U64(
            rows.iter()
                .map(|row| match row.connection {
                    Some(connection) => connection.marks_received,
                    None => self.recorder.datagram_tallies[usize::from(row.traffic.0)]
                        .of(row.server, row.direction)
                        .map_or(0, DatagramTally::marked),
                })
                .collect(),
        );
        let judged = |value: fn(&ProtectionTally) -> Option<u64>| {
            ColumnData::optional_u64(self.recorder.judged_flows.iter().map(value))
        };
        Table::new(
            "flows",
            [
                (
                    "traffic",
                    self.traffic_words(rows.iter().map(|row| row.traffic)),
                ),
                (
                    "server",
                    ColumnData::U32(rows.iter().map(|row| row.server).collect()),
                ),
                (
                    "direction",
                    directions(rows.iter().map(|row| row.direction)),
                ),
                (
                    "connection",
                    numbers(|row| row.connection.map(|connection| connection.number)),
                ),
                ("sub_flow", numbers(|row| row.sub_flow)),
                (
                    "opened_ns",
                    of_connections(|connection| Some(connection.opened_at.as_ns())),
                ),
                (
                    "ended_ns",
                    of_connections(|connection| connection.ended_at.map(Instant::as_ns)),
                ),
                (
                    "goodput_bytes",
                    of_connections(|connection| Some(connection.goodput.0)),
                ),
                (
                    "retransmissions",
                    of_connections(|connection| Some(connection.retransmissions)),
                ),
                ("datagrams", of_datagrams(DatagramTally::sent)),
                ("lost_datagrams", of_datagrams(DatagramTally::lost)),
                ("marks_received", marks),
                ("judged_packets", judged(|tally| Some(tally.judged))),
                ("sanctioned_packets", judged(|tally| Some(tally.sanctioned))),
                (
                    "sanctioned_bytes",
                    judged(|tally| Some(tally.sanctioned_bytes.0)),
                ),
                (
                    "highest_score_ns",
                    judged(|tally| (tally.judged > 0).then_some(tally.highest_score.as_ns())),
                ),
            ],
        )
    }

    fn connection_table(&self) -> Table {
        let rows = &self.recorder.samples;
        let u32s =
            |value: fn(&ConnectionSample) -> u32| ColumnData::U32(rows.iter().map(value).collect());
        Table::new(
            "connection_series",
            [
                (
                    "traffic",
                    self.traffic_words(rows.iter().map(|row| row.traffic)),
                ),
                ("server", u32s(|row| row.server)),
                (
                    "direction",
                    directions(rows.iter().map(|row| row.direction)),
                ),
                ("connection", u32s(|row| row.connection)),
                (
                    "at_ns",
                    ColumnData::U64(rows.iter().map(|row| row.at.as_ns()).collect()),
                ),
                (
                    "window_segments",
                    ColumnData::F64(rows.iter().map(|row| row.window).collect()),
                ),
                (
                    "threshold_segments",
                    ColumnData::optional_f64(rows.iter().map(|row| row.threshold)),
                ),
                (
                    "round_trip_ns",
                    ColumnData::optional_u64(
                        rows.iter().map(|row| row.round_trip.map(Span::as_ns)),
                    ),
                ),
                ("flight_segments", u32s(|row| row.flight)),
                (
                    "acknowledged_bytes",
                    ColumnData::U64(rows.iter().map(|row| row.acknowledged.0).collect()),
                ),
            ],
        )
    }

    fn signal_table(&self) -> Table {
        let rows: Vec<(&SignalKind, &PacketCount)> = self.signals().collect();
        let u64s = |value: fn(&PacketCount) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(row.1)).collect())
        };
        Table::new(
            "signals",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0.link))),
                (
                    "traffic",
                    self.traffic_words(rows.iter().map(|row| row.0.traffic)),
                ),
                (
                    "queue",
                    words(
                        rows.iter().map(|row| row.0.queue as usize),
                        &ServiceQueue::ALL.map(ServiceQueue::as_str),
                    ),
                ),
                (
                    "sub_flow",
                    ColumnData::optional_u64(rows.iter().map(|row| row.0.sub_flow.map(u64::from))),
                ),
                (
                    "signal",
                    words(
                        rows.iter().map(|row| row.0.signal as usize),
                        &Signal::ALL.map(Signal::as_str),
                    ),
                ),
                (
                    "reason",
                    words(
                        rows.iter().map(|row| row.0.reason as usize),
                        &Reason::ALL.map(Reason::as_str),
                    ),
                ),
                ("packets", u64s(|count| count.packets)),
                ("bytes", u64s(|count| count.bytes.0)),
            ],
        )
    }

    fn traffic_series_table(&self) -> Table {
        let mut rows = Vec::new();
        for (link, _) in self.numbered() {
            for (id, bins) in (0..).zip(&self.recorder.traffic_bins) {
                for (_, bins) in bins.iter().filter(|(known, _)| *known == link) {
                    let width = bins.width_ns();
                    rows.extend(
                        bins.iter()
                            .map(|(start, bin)| (link, TrafficId(id), start, width, bin)),
                    );
                }
            }
        }
        let u64s = |value: fn(&TrafficBin) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(row.4)).collect())
        };
        Table::new(
            "traffic_series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("traffic", self.traffic_words(rows.iter().map(|row| row.1))),
                (
                    "start_ns",
                    ColumnData::U64(rows.iter().map(|row| row.2).collect()),
                ),
                (
                    "width_ns",
                    ColumnData::U64(rows.iter().map(|row| row.3).collect()),
                ),
                ("forwarded_bytes", u64s(|bin| bin.forwarded_bytes)),
                ("forwarded_packets", u64s(|bin| bin.forwarded_packets)),
                ("dropped_packets", u64s(|bin| bin.dropped_packets)),
                ("marked_packets", u64s(|bin| bin.marked_packets)),
            ],
        )
    }

    fn occupancy_table(&self) -> Table {
        let rows: Vec<(LinkId, u32, u64)> = self
            .numbered()
            .flat_map(|(id, link)| {
                (0..)
                    .zip(link.clock.occupancy_ns())
                    .map(move |(packets, ns)| (id, packets, *ns))
            })
            .collect();
        Table::new(
            "occupancy",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                (
                    "packets",
                    ColumnData::U32(rows.iter().map(|row| row.1).collect()),
                ),
                (
                    "time_ns",
                    ColumnData::U64(rows.iter().map(|row| row.2).collect()),
                ),
            ],
        )
    }

    fn delay_table(&self) -> Table {
        let mut rows = Vec::new();
        for (id, delays) in self.recorder.delays.iter().enumerate() {
            for direction in Direction::BOTH {
                let sums = &delays[direction];
                if sums.packets > 0 {
                    // Few links have pipelines.
                    let is_there = |cause: &Cause| {
                        *cause != Cause::Pipeline || sums.total_ns[Cause::Pipeline as usize] > 0
                    };
                    for cause in Cause::ALL.into_iter().filter(is_there) {
                        rows.push((id, direction, cause, sums));
                    }
                }
            }
        }
        let causes: Vec<String> = Cause::ALL
            .iter()
            .map(|cause| cause.as_str().to_owned())
            .collect();
        let ids = rows
            .iter()
            .map(|row| TrafficId(u16::try_from(row.0).expect("16 bits")));
        let codes = rows.iter().map(|row| i32::from(row.2 as u8)).collect();
        Table::new(
            "delays",
            [
                ("traffic", self.traffic_words(ids)),
                ("direction", directions(rows.iter().map(|row| row.1))),
                ("cause", ColumnData::words(codes, &causes)),
                (
                    "packets",
                    ColumnData::U64(rows.iter().map(|row| row.3.packets).collect()),
                ),
                (
                    "total_ns",
                    ColumnData::U64(
                        rows.iter()
                            .map(|row| row.3.total_ns[row.2 as usize])
                            .collect(),
                    ),
                ),
            ],
        )
    }

    fn traffic_table(&self) -> Table {
        let rows: Vec<(TrafficId, Direction, &TrafficCounters)> = (0..)
            .zip(&self.recorder.counters)
            .flat_map(|(id, counters)| {
                Direction::BOTH
                    .into_iter()
                    .map(move |direction| (TrafficId(id), direction, &counters[direction]))
            })
            .collect();
        let u64s = |value: fn(&TrafficCounters) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(row.2)).collect())
        };
        Table::new(
            "traffic",
            [
                ("traffic", self.traffic_words(rows.iter().map(|row| row.0))),
                ("direction", directions(rows.iter().map(|row| row.1))),
                ("sent_packets", u64s(|counters| counters.sent_packets)),
                ("sent_bytes", u64s(|counters| counters.sent_bytes)),
                (
                    "forwarded_packets",
                    u64s(|counters| counters.forwarded_packets),
                ),
                ("forwarded_bytes", u64s(|counters| counters.forwarded_bytes)),
                (
                    "dropped_queue_packets",
                    u64s(|counters| counters.dropped_queue),
                ),
                (
                    "dropped_transmit_queue_packets",
                    u64s(|counters| counters.dropped_behind),
                ),
                ("goodput_bytes", u64s(|counters| counters.goodput_bytes)),
                ("connections", u64s(|counters| counters.connections)),
                ("retransmissions", u64s(|counters| counters.retransmissions)),
                ("timeouts", u64s(|counters| counters.timeouts)),
                ("connect_retries", u64s(|counters| counters.connect_retries)),
                ("marked_packets", u64s(|counters| counters.marked)),
                ("marks_received", u64s(|counters| counters.marks_received)),
            ],
        )
    }

    fn delay_histogram_table(&self) -> Table {
        let mut rows = Vec::new();
        for (id, histograms) in (0..).zip(&self.recorder.access_delay) {
            for direction in Direction::BOTH {
                for (ns, count) in histograms[direction].iter().flat_map(DelayHistogram::bins) {
                    rows.push((TrafficId(id), direction, ns, count));
                }
            }
        }
        Table::new(
            "delay_histogram",
            [
                ("traffic", self.traffic_words(rows.iter().map(|row| row.0))),
                ("direction", directions(rows.iter().map(|row| row.1))),
                (
                    "delay_ns",
                    ColumnData::U64(rows.iter().map(|row| row.2).collect()),
                ),
                (
                    "packets",
                    ColumnData::U64(rows.iter().map(|row| row.3).collect()),
                ),
            ],
        )
    }

    /// Service queues that had no packet have no rows.
    fn service_series_table(&self) -> Table {
        let mut rows: Vec<(LinkId, ServiceQueue, u64, u64, ServiceBin)> = Vec::new();
        for (id, link) in self.numbered() {
            let queues = link.service_bins.iter().flat_map(|bins| bins.iter());
            for (queue, bins) in ServiceQueue::ALL.into_iter().zip(queues) {
                if bins.iter().any(|(_, bin)| bin.offered > 0) {
                    let width = bins.width_ns();
                    rows.extend(
                        bins.iter()
                            .map(|(start, bin)| (id, queue, start, width, *bin)),
                    );
                }
            }
        }
        let u64s = |value: fn(&ServiceBin) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(&row.4)).collect())
        };
        Table::new(
            "service_series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                (
                    "queue",
                    words(
                        rows.iter().map(|row| row.1 as usize),
                        &ServiceQueue::ALL.map(ServiceQueue::as_str),
                    ),
                ),
                (
                    "start_ns",
                    ColumnData::U64(rows.iter().map(|row| row.2).collect()),
                ),
                (
                    "width_ns",
                    ColumnData::U64(rows.iter().map(|row| row.3).collect()),
                ),
                ("offered_bytes", u64s(|bin| bin.offered)),
                ("served_bytes", u64s(|bin| bin.served)),
                ("dropped_bytes", u64s(|bin| bin.dropped)),
            ],
        )
    }

    fn series_table(&self, width: Span) -> Table {
        let rows: Vec<(LinkId, u64, &LinkBin)> = self
            .numbered()
            .flat_map(|(id, link)| {
                let bins = link.bins.iter().flat_map(Bins::iter);
                bins.map(move |(start, bin)| (id, start, bin))
            })
            .collect();
        let width = width.as_ns().max(1);
        let u64s = |value: fn(&LinkBin) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(row.2)).collect())
        };
        let mean = |value: fn(&LinkBin) -> u64| {
            ColumnData::F64(
                rows.iter()
                    .map(|row| value(row.2) as f64 / width as f64)
                    .collect(),
            )
        };
        let some = |bin: &LinkBin| bin.forwarded_packets > 0;
        Table::new(
            "series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                (
                    "start_ns",
                    ColumnData::U64(rows.iter().map(|row| row.1).collect()),
                ),
                (
                    "width_ns",
                    ColumnData::U64(rows.iter().map(|_| width).collect()),
                ),
                ("forwarded_bytes", u64s(|bin| bin.forwarded_bytes)),
                ("forwarded_packets", u64s(|bin| bin.forwarded_packets)),
                ("dropped_packets", u64s(|bin| bin.dropped_packets)),
                (
                    "sojourn_mean_ns",
                    ColumnData::optional_f64(rows.iter().map(|row| {
                        some(row.2)
                            .then(|| row.2.sojourn_ns as f64 / row.2.forwarded_packets as f64)
                    })),
                ),
                (
                    "sojourn_max_ns",
                    ColumnData::optional_u64(
                        rows.iter()
                            .map(|row| some(row.2).then_some(row.2.sojourn_max_ns)),
                    ),
                ),
                ("backlog_bytes_mean", mean(|bin| bin.byte_ns)),
                ("backlog_packets_mean", mean(|bin| bin.packet_ns)),
                (
                    "backlog_packets_max",
                    ColumnData::U32(rows.iter().map(|row| row.2.packets_max).collect()),
                ),
                ("staged_packets_mean", mean(|bin| bin.staged_ns)),
                ("marked_packets", u64s(|bin| bin.marked_packets)),
            ],
        )
    }

    fn sojourn_histogram_table(&self) -> Table {
        let rows: Vec<(LinkId, u64, u64)> = self
            .numbered()
            .flat_map(|(id, link)| {
                let bins = link.sojourn.iter().flat_map(DelayHistogram::bins);
                bins.map(move |(ns, n)| (id, ns, n))
            })
            .collect();
        Table::new(
            "sojourn_histogram",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                (
                    "sojourn_ns",
                    ColumnData::U64(rows.iter().map(|row| row.1).collect()),
                ),
                (
                    "packets",
                    ColumnData::U64(rows.iter().map(|row| row.2).collect()),
                ),
            ],
        )
    }

    fn latency_histogram_table(&self) -> Table {
        let mut rows: Vec<(LinkId, ServiceQueue, LatencyBin, Span)> = Vec::new();
        for (link, _) in self.numbered() {
            for (queue, delays) in self.device_delays(link) {
                let bins = delays.bins.bins();
                rows.extend(bins.map(|bin| (link, queue, bin, delays.bins.longest())));
            }
        }
        let u64s = |value: fn(&LatencyBin) -> u64| {
            ColumnData::U64(rows.iter().map(|row| value(&row.2)).collect())
        };
        Table::new(
            "latency_histogram",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                (
                    "queue",
                    words(
                        rows.iter().map(|row| row.1 as usize),
                        &ServiceQueue::ALL.map(ServiceQueue::as_str),
                    ),
                ),
                ("from_ns", u64s(|bin| bin.from.as_ns())),
                (
                    "to_ns",
                    ColumnData::optional_u64(rows.iter().map(|row| row.2.to.map(Span::as_ns))),
                ),
                ("packets", u64s(|bin| bin.packets)),
                (
                    "longest_ns",
                    ColumnData::U64(rows.iter().map(|row| row.3.as_ns()).collect()),
                ),
            ],
        )
    }
}

/// One value of each row.
fn values<T, V>(rows: &[(TrafficId, T)], value: impl Fn(&T) -> V) -> impl Iterator<Item = V> {
    rows.iter().map(move |(_, row)| value(row))
}

/// Times that need not have come.
fn optional_times<T>(rows: &[(TrafficId, T)], value: impl Fn(&T) -> Option<Instant>) -> ColumnData {
    ColumnData::optional_u64(values(rows, |row| value(row).map(Instant::as_ns)))
}

/// Tables that are not there without rows.
const LEFT_OUT: [&str; 7] = [
    "datagrams",
    "has_sessions",
    "live_seconds",
    "live_sessions",
    "pd_sessions",
    "latency_histogram",
    "service_series",
];

/// Code of a missing word.
const MISSING: i32 = -1;

/// A column of words given as places in a list of them.
fn words(values: impl Iterator<Item = usize>, words: &[&str]) -> ColumnData {
    let dictionary: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let codes = values.map(|place| i32::try_from(place).expect("few words"));
    ColumnData::words(codes.collect(), &dictionary)
}

fn directions(values: impl Iterator<Item = Direction>) -> ColumnData {
    let dictionary: Vec<String> = Direction::BOTH
        .iter()
        .map(|direction| direction.as_str().to_owned())
        .collect();
    ColumnData::words(
        values.map(|direction| i32::from(direction as u8)).collect(),
        &dictionary,
    )
}
