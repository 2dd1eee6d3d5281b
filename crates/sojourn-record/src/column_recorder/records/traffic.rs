//! Tables of what traffic entries sent and how long it took: datagrams, connections, time series, delays.

use super::{MISSING, Records, directions, words};
use crate::accumulate::{DelayHistogram, TrafficCounters};
use crate::protection::ProtectionTally;
use crate::series::TrafficBin;
use crate::table::{ColumnData, Table};
use crate::tally::DatagramTally;
use crate::{Cause, ConnectionSample, Datagram, Fate, FlowConnection, FlowRow, LostPacket, TrafficId};
use sojourn_base::{BitRate, Direction, Instant, Reason, Span};

impl Records {
    pub(super) fn datagram_table(&self) -> Table {
        let kept = self.recorder.config.datagrams; // outcomes alone have no table
        let rows: &[Datagram] = if kept { self.datagrams() } else { &[] };
        let u32s = |value: fn(&Datagram) -> u32| ColumnData::U32(rows.iter().map(value).collect());
        let parts = Cause::ON_LINKS.map(|(cause, column, _)| {
            let part = |row: &Datagram| row.split.get(cause).as_ns();
            (column, ColumnData::U64(rows.iter().map(part).collect()))
        });
        let lost_at = rows.iter().map(|row| match row.fate {
            Fate::Arrived(_) => MISSING,
            Fate::LostInQueue => 0,
            Fate::LostBehindQueue => 1,
            Fate::LostOnLine => 2,
        });
        let reasons = rows.iter().map(|row| row.lost_for.map_or(MISSING, |reason| reason as i32));
        let all_reasons = Reason::ALL.map(|reason| reason.as_str().to_owned());
        let places = ["queue", "transmit_queue", "line"].map(str::to_owned);
        Table::new(
            "datagrams",
            [
                ("traffic", self.traffic_words(rows.iter().map(|row| row.traffic))),
                ("flow", u32s(|row| row.flow)),
                ("sequence", u32s(|row| row.sequence)),
                ("direction", directions(rows.iter().map(|row| row.direction))),
                ("length_bytes", ColumnData::U64(rows.iter().map(|row| row.length.0).collect())),
                ("sent_ns", ColumnData::U64(rows.iter().map(|row| row.sent_at.as_ns()).collect())),
                (
                    "arrived_ns",
                    ColumnData::optional_u64(rows.iter().map(|row| match row.fate {
                        Fate::Arrived(at) => Some(at.as_ns()),
                        _ => None,
                    })),
                ),
                ("lost_at", ColumnData::words(lost_at.collect(), &places)),
                ("marked", u32s(|row| u32::from(row.marked))),
                ("lost_for", ColumnData::words(reasons.collect(), &all_reasons)),
            ]
            .into_iter()
            .chain(parts),
        )
    }

    pub(super) fn flow_table(&self) -> Table {
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
                ("traffic", self.traffic_words(rows.iter().map(|row| row.traffic))),
                ("server", ColumnData::U32(rows.iter().map(|row| row.server).collect())),
                ("direction", directions(rows.iter().map(|row| row.direction))),
                ("connection", numbers(|row| row.connection.map(|connection| connection.number))),
                ("sub_flow", numbers(|row| row.sub_flow)),
                ("opened_ns", of_connections(|connection| Some(connection.opened_at.as_ns()))),
                ("ended_ns", of_connections(|connection| connection.ended_at.map(Instant::as_ns))),
                ("goodput_bytes", of_connections(|connection| Some(connection.goodput.0))),
                ("retransmissions", of_connections(|connection| Some(connection.retransmissions))),
                ("datagrams", of_datagrams(DatagramTally::sent)),
                ("lost_datagrams", of_datagrams(DatagramTally::lost)),
                ("marks_received", marks),
                ("judged_packets", judged(|tally| Some(tally.judged))),
                ("sanctioned_packets", judged(|tally| Some(tally.sanctioned))),
                ("sanctioned_bytes", judged(|tally| Some(tally.sanctioned_bytes.0))),
                ("highest_score_ns", judged(|tally| (tally.judged > 0).then_some(tally.highest_score.as_ns()))),
            ],
        )
    }

    pub(super) fn loss_table(&self) -> Table {
        let rows = self.recorder.losses.rows();
        let u32s = |value: fn(&LostPacket) -> u32| ColumnData::U32(rows.iter().map(|(lost, _)| value(lost)).collect());
        Table::new(
            "losses",
            [
                ("at_ns", ColumnData::U64(rows.iter().map(|(lost, _)| lost.at.as_ns()).collect())),
                ("link", self.link_words(rows.iter().map(|(lost, _)| lost.link))),
                ("traffic", self.traffic_words(rows.iter().map(|(lost, _)| lost.traffic))),
                ("server", u32s(|lost| lost.server)),
                ("direction", directions(rows.iter().map(|(lost, _)| lost.direction))),
                ("connection", ColumnData::optional_u64(rows.iter().map(|(_, number)| number.map(u64::from)))),
                ("sequence", u32s(|lost| lost.sequence)),
                ("data_bytes", u32s(|lost| lost.data)),
                ("reason", words(rows.iter().map(|(lost, _)| lost.reason as usize), &Reason::ALL.map(Reason::as_str))),
            ],
        )
    }

    pub(super) fn connection_table(&self) -> Table {
        let rows = &self.recorder.samples;
        let mut phases: Vec<&str> = rows.iter().filter_map(|row| row.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        let code = |phase| phases.binary_search(&phase).ok();
        let codes = rows.iter().map(|row| {
            let code = row.phase.and_then(code);
            code.map_or(-1, |code| i32::try_from(code).expect("few words"))
        });
        let words: Vec<String> = phases.iter().map(|&word| word.to_owned()).collect();
        let u32s = |value: fn(&ConnectionSample) -> u32| ColumnData::U32(rows.iter().map(value).collect());
        Table::new(
            "connection_series",
            [
                ("traffic", self.traffic_words(rows.iter().map(|row| row.traffic))),
                ("server", u32s(|row| row.server)),
                ("direction", directions(rows.iter().map(|row| row.direction))),
                ("connection", u32s(|row| row.connection)),
                ("at_ns", ColumnData::U64(rows.iter().map(|row| row.at.as_ns()).collect())),
                ("window_segments", ColumnData::F64(rows.iter().map(|row| row.window).collect())),
                ("threshold_segments", ColumnData::optional_f64(rows.iter().map(|row| row.threshold))),
                ("round_trip_ns", ColumnData::optional_u64(rows.iter().map(|row| row.round_trip.map(Span::as_ns)))),
                ("flight_segments", u32s(|row| row.flight)),
                ("acknowledged_bytes", ColumnData::U64(rows.iter().map(|row| row.acknowledged.0).collect())),
                ("phase", ColumnData::words(codes.collect(), &words)),
                ("bandwidth_bps", ColumnData::optional_u64(rows.iter().map(|row| row.bandwidth.map(BitRate::as_bps)))),
                ("bound_segments", ColumnData::optional_f64(rows.iter().map(|row| row.bound))),
            ],
        )
    }

    pub(super) fn traffic_series_table(&self) -> Table {
        let mut rows = Vec::new();
        for (link, _) in self.numbered() {
            for (id, bins) in (0..).zip(&self.recorder.traffic_bins) {
                for (_, bins) in bins.iter().filter(|(known, _)| *known == link) {
                    let width = bins.width_ns();
                    rows.extend(bins.iter().map(|(start, bin)| (link, TrafficId(id), start, width, bin)));
                }
            }
        }
        let u64s = |value: fn(&TrafficBin) -> u64| ColumnData::U64(rows.iter().map(|row| value(row.4)).collect());
        Table::new(
            "traffic_series",
            [
                ("link", self.link_words(rows.iter().map(|row| row.0))),
                ("traffic", self.traffic_words(rows.iter().map(|row| row.1))),
                ("start_ns", ColumnData::U64(rows.iter().map(|row| row.2).collect())),
                ("width_ns", ColumnData::U64(rows.iter().map(|row| row.3).collect())),
                ("forwarded_bytes", u64s(|bin| bin.forwarded_bytes)),
                ("forwarded_packets", u64s(|bin| bin.forwarded_packets)),
                ("dropped_packets", u64s(|bin| bin.dropped_packets)),
                ("marked_packets", u64s(|bin| bin.marked_packets)),
                ("late_packets", u64s(|bin| bin.late_packets)),
                ("sanctioned_packets", u64s(|bin| bin.sanctioned_packets)),
            ],
        )
    }

    pub(super) fn delay_table(&self) -> Table {
        let mut rows = Vec::new();
        for (id, delays) in self.recorder.delays.iter().enumerate() {
            for direction in Direction::BOTH {
                let sums = &delays[direction];
                if sums.packets > 0 {
                    // Few links have pipelines, slots or switching.
                    let is_there = |cause: &Cause| {
                        let is_rare = matches!(*cause, Cause::Pipeline | Cause::Hold | Cause::Switching);
                        !is_rare || sums.total_ns[*cause as usize] > 0
                    };
                    for cause in Cause::ALL.into_iter().filter(is_there) {
                        rows.push((id, direction, cause, sums));
                    }
                }
            }
        }
        let causes: Vec<String> = Cause::ALL.iter().map(|cause| cause.as_str().to_owned()).collect();
        let ids = rows.iter().map(|row| TrafficId(u16::try_from(row.0).expect("16 bits")));
        let codes = rows.iter().map(|row| i32::from(row.2 as u8)).collect();
        Table::new(
            "delays",
            [
                ("traffic", self.traffic_words(ids)),
                ("direction", directions(rows.iter().map(|row| row.1))),
                ("cause", ColumnData::words(codes, &causes)),
                ("packets", ColumnData::U64(rows.iter().map(|row| row.3.packets).collect())),
                ("total_ns", ColumnData::U64(rows.iter().map(|row| row.3.total_ns[row.2 as usize]).collect())),
            ],
        )
    }

    pub(super) fn traffic_table(&self) -> Table {
        let rows: Vec<(TrafficId, Direction, &TrafficCounters)> = (0..)
            .zip(&self.recorder.counters)
            .flat_map(|(id, counters)| {
                Direction::BOTH.into_iter().map(move |direction| (TrafficId(id), direction, &counters[direction]))
            })
            .collect();
        let u64s = |value: fn(&TrafficCounters) -> u64| ColumnData::U64(rows.iter().map(|row| value(row.2)).collect());
        // If timers are unobserved there is no number, not even zero.
        let timeouts = if rows.iter().any(|row| row.2.hides_timeouts) {
            let known = |counters: &TrafficCounters| (!counters.hides_timeouts).then_some(counters.timeouts);
            ColumnData::optional_u64(rows.iter().map(|row| known(row.2)))
        } else {
            u64s(|counters| counters.timeouts)
        };
        Table::new(
            "traffic",
            [
                ("traffic", self.traffic_words(rows.iter().map(|row| row.0))),
                ("direction", directions(rows.iter().map(|row| row.1))),
                ("sent_packets", u64s(|counters| counters.sent_packets)),
                ("sent_bytes", u64s(|counters| counters.sent_bytes)),
                ("forwarded_packets", u64s(|counters| counters.forwarded_packets)),
                ("forwarded_bytes", u64s(|counters| counters.forwarded_bytes)),
                ("dropped_queue_packets", u64s(|counters| counters.dropped_queue)),
                ("dropped_transmit_queue_packets", u64s(|counters| counters.dropped_behind)),
                ("goodput_bytes", u64s(|counters| counters.goodput_bytes)),
                ("connections", u64s(|counters| counters.connections)),
                ("retransmissions", u64s(|counters| counters.retransmissions)),
                ("timeouts", timeouts),
                ("connect_retries", u64s(|counters| counters.connect_retries)),
                ("marked_packets", u64s(|counters| counters.marked)),
                ("marks_received", u64s(|counters| counters.marks_received)),
            ],
        )
    }

    pub(super) fn delay_histogram_table(&self) -> Table {
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
                ("delay_ns", ColumnData::U64(rows.iter().map(|row| row.2).collect())),
                ("packets", ColumnData::U64(rows.iter().map(|row| row.3).collect())),
            ],
        )
    }
}
