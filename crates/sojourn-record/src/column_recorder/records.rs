//! The finished records of one run, and which tables they make.

mod applications;
mod links;
mod traffic;

use super::{ColumnRecorder, LinkRecords, LinkTotals, RecordConfig, RecordedLink};
use crate::accumulate::{DelayHistogram, TrafficCounters};
use crate::latency_histogram::DeviceDelays;
use crate::protection::ProtectionTally;
use crate::table::{ColumnData, Table};
use crate::tally::{DatagramTally, FrameTally, ObjectTally, TransferTally};
use crate::{
    ChannelCounters, ConnectionSample, Datagram, FlowRow, LinkId, MacCounters, ModemCounters, PacketCount, SignalKind,
    TrafficId, WifiCounters,
};
use sojourn_base::native::IN_TAB;
use sojourn_base::report::{DownloadSession, LiveSession, Page, PlayedCall, StreamingSession, Transfer};
use sojourn_base::{Direction, Instant, PerDirection, ServiceQueue};

/// The finished records of one run.
#[derive(Debug)]
pub struct Records {
    pub(super) recorder: ColumnRecorder,
}

impl Records {
    /// Returns what is recorded.
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
    pub fn access_delay(&self, traffic: TrafficId, direction: Direction) -> Option<&DelayHistogram> {
        self.recorder.access_delay[usize::from(traffic.0)][direction].as_ref()
    }

    /// Round trips over the access line of a traffic entry, each from two packets of one session; `None` if there was none.
    pub fn round_trips(&self, traffic: TrafficId) -> Option<&DelayHistogram> {
        self.recorder.round_trips[usize::from(traffic.0)].delays()
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

    /// Returns the packets that a link has forwarded and lost.
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
        let weighted: f64 = occupancy.iter().enumerate().map(|(packets, ns)| packets as f64 * *ns as f64).sum();
        (total > 0).then(|| weighted / total as f64)
    }

    /// Returns the datagrams of a traffic entry: flow, direction and tally, in this order, of every flow that had one.
    /// Kept with any configuration.
    pub fn datagram_tallies(&self, traffic: TrafficId) -> impl Iterator<Item = (u32, Direction, &DatagramTally)> {
        self.recorder.datagram_tallies[usize::from(traffic.0)].iter()
    }

    /// Returns true if Quality of Outcome is recorded.
    pub const fn wants_outcomes(&self) -> bool {
        self.recorder.config.outcomes
    }

    /// All datagrams in the order of their fates; none if neither rows nor outcomes were asked for.
    pub fn datagrams(&self) -> &[Datagram] {
        &self.recorder.datagrams
    }

    /// All pages, and whose they are, in the order of their ends.
    pub fn pages(&self) -> &[(TrafficId, Page)] {
        &self.recorder.pages
    }

    /// Returns the tally of the objects of a traffic entry's pages. Kept with any configuration.
    pub fn object_tally(&self, traffic: TrafficId) -> &ObjectTally {
        &self.recorder.object_tallies[usize::from(traffic.0)]
    }

    /// Returns the tally of a traffic entry's transfers. Kept with any configuration.
    pub fn transfer_tally(&self, traffic: TrafficId) -> &TransferTally {
        &self.recorder.transfer_tallies[usize::from(traffic.0)]
    }

    /// Returns the tally of a traffic entry's video frames in one direction; `None` if it sent none.
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

    /// Calls as listeners with an adaptive playout have played them, whole runs, in the order of entries.
    pub fn played_calls(&self) -> &[(TrafficId, PlayedCall)] {
        &self.recorder.played_calls
    }

    /// All flows: those of connections in the order of their ends, then datagrams; none if no rows were asked for.
    pub fn flows(&self) -> &[FlowRow] {
        &self.recorder.flows
    }

    /// Returns Queue Protection's tally of the packets of a traffic entry, in all links of a direction together.
    pub fn protection(&self, traffic: TrafficId) -> &PerDirection<ProtectionTally> {
        &self.recorder.protection[usize::from(traffic.0)]
    }

    /// Returns the tally of a link's Queue Protection.
    pub fn link_protection(&self, link: LinkId) -> &ProtectionTally {
        &self.link(link).protection
    }

    /// Returns Queue Protection's tally of each of [`Records::flows`].
    pub fn flow_protection(&self) -> &[ProtectionTally] {
        &self.recorder.judged_flows
    }

    /// Returns the delays that the device of a link has reported, for each queue with packets.
    pub fn device_delays(&self, link: LinkId) -> impl Iterator<Item = (ServiceQueue, &DeviceDelays)> {
        let device = self.link(link).device.iter();
        device.flat_map(|device| device.counted())
    }

    /// Returns the counters of a link's MAC; `None` without one.
    pub fn mac(&self, link: LinkId) -> Option<MacCounters> {
        self.link(link).mac
    }

    /// Returns the counters of the service group's CMTS in a direction; `None` without one.
    pub fn channel(&self, direction: Direction) -> Option<ChannelCounters> {
        let counted = self.recorder.channel[direction]?;
        Some(counted - self.recorder.channel_warm_up[direction].unwrap_or_default())
    }

    /// Returns direction and counters of a link that is a modem of the service group; `None` for other links.
    pub fn modem(&self, link: LinkId) -> Option<(Direction, ModemCounters)> {
        let link = self.link(link);
        let (direction, counted) = link.modem?;
        let before = link.modem_warm_up.map(|it| it.1).unwrap_or_default();
        Some((direction, counted - before))
    }

    /// Returns the counters of a direction of a Wi-Fi station; `None` for other links.
    pub fn wifi(&self, link: LinkId) -> Option<WifiCounters> {
        let [counted, before] = **self.link(link).wifi.as_ref()?;
        Some(counted - before)
    }

    /// Returns the counters of each service flow of a link's MAC; empty if it has one flow.
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
        if !IN_TAB && self.recorder.config.losses {
            tables.push(self.loss_table());
        }
        if !IN_TAB && self.recorder.config.connections.is_some() {
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
        ColumnData::words(ids.map(|id| i32::from(id.0)).collect(), &self.recorder.traffic_names)
    }

    fn traffic_of<T>(&self, rows: &[(TrafficId, T)]) -> ColumnData {
        self.traffic_words(rows.iter().map(|(traffic, _)| *traffic))
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
    let dictionary: Vec<String> = Direction::BOTH.iter().map(|direction| direction.as_str().to_owned()).collect();
    ColumnData::words(values.map(|direction| i32::from(direction as u8)).collect(), &dictionary)
}
