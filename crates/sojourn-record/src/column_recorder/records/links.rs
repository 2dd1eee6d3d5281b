//! Tables of links and their queues: signals, lengths, time series, times in the queue.

use super::{Records, words};
use crate::accumulate::DelayHistogram;
use crate::latency_histogram::LatencyBin;
use crate::series::{Bins, LinkBin, ServiceBin};
use crate::table::{ColumnData, Table};
use crate::{LinkId, PacketCount, Signal, SignalKind};
use sojourn_base::{Reason, ServiceQueue, Span};

impl Records {
    pub(super) fn signal_table(&self) -> Table {
        let rows: Vec<(&SignalKind, &PacketCount)> = self.signals().collect();
        let u64s = |value: fn(&PacketCount) -> u64| ColumnData::U64(rows.iter().map(|row| value(row.1)).collect());
        Table::new(
            "signals",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0.link))),
                ("traffic", self.traffic_words(rows.iter().map(|row| row.0.traffic))),
                (
                    "queue",
                    words(rows.iter().map(|row| row.0.queue as usize), &ServiceQueue::ALL.map(ServiceQueue::as_str)),
                ),
                ("sub_flow", ColumnData::optional_u64(rows.iter().map(|row| row.0.sub_flow.map(u64::from)))),
                ("signal", words(rows.iter().map(|row| row.0.signal as usize), &Signal::ALL.map(Signal::as_str))),
                ("reason", words(rows.iter().map(|row| row.0.reason as usize), &Reason::ALL.map(Reason::as_str))),
                ("packets", u64s(|count| count.packets)),
                ("bytes", u64s(|count| count.bytes.0)),
            ],
        )
    }

    pub(super) fn occupancy_table(&self) -> Table {
        let rows: Vec<(LinkId, u32, u64)> = self
            .numbered()
            .flat_map(|(id, link)| (0..).zip(link.clock.occupancy_ns()).map(move |(packets, ns)| (id, packets, *ns)))
            .collect();
        Table::new(
            "occupancy",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("packets", ColumnData::U32(rows.iter().map(|row| row.1).collect())),
                ("time_ns", ColumnData::U64(rows.iter().map(|row| row.2).collect())),
            ],
        )
    }

    /// Service queues that had no packet have no rows.
    pub(super) fn service_series_table(&self) -> Table {
        let mut rows: Vec<(LinkId, ServiceQueue, u64, u64, ServiceBin)> = Vec::new();
        for (id, link) in self.numbered() {
            let queues = link.service_bins.iter().flat_map(|bins| bins.iter());
            for (queue, bins) in ServiceQueue::ALL.into_iter().zip(queues) {
                if bins.iter().any(|(_, bin)| bin.offered > 0) {
                    let width = bins.width_ns();
                    rows.extend(bins.iter().map(|(start, bin)| (id, queue, start, width, *bin)));
                }
            }
        }
        let u64s = |value: fn(&ServiceBin) -> u64| ColumnData::U64(rows.iter().map(|row| value(&row.4)).collect());
        Table::new(
            "service_series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("queue", words(rows.iter().map(|row| row.1 as usize), &ServiceQueue::ALL.map(ServiceQueue::as_str))),
                ("start_ns", ColumnData::U64(rows.iter().map(|row| row.2).collect())),
                ("width_ns", ColumnData::U64(rows.iter().map(|row| row.3).collect())),
                ("offered_bytes", u64s(|bin| bin.offered)),
                ("served_bytes", u64s(|bin| bin.served)),
                ("dropped_bytes", u64s(|bin| bin.dropped)),
            ],
        )
    }

    pub(super) fn series_table(&self, width: Span) -> Table {
        let rows: Vec<(LinkId, u64, &LinkBin)> = self
            .numbered()
            .flat_map(|(id, link)| {
                let bins = link.bins.iter().flat_map(Bins::iter);
                bins.map(move |(start, bin)| (id, start, bin))
            })
            .collect();
        let width = width.as_ns().max(1);
        let u64s = |value: fn(&LinkBin) -> u64| ColumnData::U64(rows.iter().map(|row| value(row.2)).collect());
        let mean = |value: fn(&LinkBin) -> u64| {
            ColumnData::F64(rows.iter().map(|row| value(row.2) as f64 / width as f64).collect())
        };
        let some = |bin: &LinkBin| bin.forwarded_packets > 0;
        Table::new(
            "series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("start_ns", ColumnData::U64(rows.iter().map(|row| row.1).collect())),
                ("width_ns", ColumnData::U64(rows.iter().map(|_| width).collect())),
                ("forwarded_bytes", u64s(|bin| bin.forwarded_bytes)),
                ("forwarded_packets", u64s(|bin| bin.forwarded_packets)),
                ("dropped_packets", u64s(|bin| bin.dropped_packets)),
                (
                    "sojourn_mean_ns",
                    ColumnData::optional_f64(
                        rows.iter()
                            .map(|row| some(row.2).then(|| row.2.sojourn_ns as f64 / row.2.forwarded_packets as f64)),
                    ),
                ),
                (
                    "sojourn_max_ns",
                    ColumnData::optional_u64(rows.iter().map(|row| some(row.2).then_some(row.2.sojourn_max_ns))),
                ),
                ("backlog_bytes_mean", mean(|bin| bin.byte_ns)),
                ("backlog_packets_mean", mean(|bin| bin.packet_ns)),
                ("backlog_packets_max", ColumnData::U32(rows.iter().map(|row| row.2.packets_max).collect())),
                ("staged_packets_mean", mean(|bin| bin.staged_ns)),
                ("marked_packets", u64s(|bin| bin.marked_packets)),
            ],
        )
    }

    pub(super) fn sojourn_histogram_table(&self) -> Table {
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
                ("sojourn_ns", ColumnData::U64(rows.iter().map(|row| row.1).collect())),
                ("packets", ColumnData::U64(rows.iter().map(|row| row.2).collect())),
            ],
        )
    }

    pub(super) fn latency_histogram_table(&self) -> Table {
        let mut rows: Vec<(LinkId, ServiceQueue, LatencyBin, Span)> = Vec::new();
        for (link, _) in self.numbered() {
            for (queue, delays) in self.device_delays(link) {
                let bins = delays.bins.bins();
                rows.extend(bins.map(|bin| (link, queue, bin, delays.bins.longest())));
            }
        }
        let u64s = |value: fn(&LatencyBin) -> u64| ColumnData::U64(rows.iter().map(|row| value(&row.2)).collect());
        Table::new(
            "latency_histogram",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("queue", words(rows.iter().map(|row| row.1 as usize), &ServiceQueue::ALL.map(ServiceQueue::as_str))),
                ("from_ns", u64s(|bin| bin.from.as_ns())),
                ("to_ns", ColumnData::optional_u64(rows.iter().map(|row| row.2.to.map(Span::as_ns)))),
                ("packets", u64s(|bin| bin.packets)),
                ("longest_ns", ColumnData::U64(rows.iter().map(|row| row.3.as_ns()).collect())),
            ],
        )
    }
}
