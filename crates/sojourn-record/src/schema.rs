//! The record tables, declared once: name, meaning, and per column name, unit and meaning.
//!
//! Times are whole nanoseconds since the start of the run; sizes are bytes of IP packets.

use sojourn_base::Cause;
use sojourn_keys::key::described;

/// A declared column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSchema {
    /// Name; ends in the unit where it has one.
    pub name: &'static str,
    /// Unit, or empty.
    pub unit: &'static str,
    /// Meaning of a value, and when it is missing.
    pub meaning: &'static str,
}

/// A declared table.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub meaning: &'static str,
    /// Columns in order.
    pub columns: &'static [ColumnSchema],
}

/// The columns of a table: those before the causes of delay on links, a column for each of these, and those behind.
const fn around_causes<const COUNT: usize>(before: &[ColumnSchema], behind: &[ColumnSchema]) -> [ColumnSchema; COUNT] {
    let mut columns = [before[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        columns[at] = if at < before.len() {
            before[at]
        } else if at < COUNT - behind.len() {
            let (_, name, meaning) = Cause::ON_LINKS[at - before.len()];
            let unit = "ns";
            ColumnSchema { name, unit, meaning }
        } else {
            behind[at + behind.len() - COUNT]
        };
        at += 1;
    }
    columns
}

macro_rules! columns {
    ($($column:literal [$unit:literal] $text:literal)*) => {
        &[$(ColumnSchema { name: $column, unit: $unit, meaning: described($text) }),*]
    };
    ($($column:literal [$unit:literal] $text:literal)* causes $($behind:tt)*) => {{
        const BEFORE: &[ColumnSchema] = columns!($($column [$unit] $text)*);
        const BEHIND: &[ColumnSchema] = columns!($($behind)*);
        &around_causes::<{ BEFORE.len() + Cause::ON_LINKS.len() + BEHIND.len() }>(BEFORE, BEHIND)
    }};
}

macro_rules! tables {
    ($($table:literal: $meaning:literal { $($columns:tt)* })*) => {
        &[$(TableSchema { name: $table, meaning: described($meaning), columns: columns!($($columns)*) }),*]
    };
}

/// All tables.
pub const TABLES: &[TableSchema] = tables! {
    "metrics": "one number that says what the run means" {
        "subject" [""] "traffic entry of the scenario, or a link: upstream or downstream for the access link, else with its name or home"
        "metric" [""] "name of the metric"
        "value" [""] "its value in `unit`"
        "unit" [""] "its unit; empty for counts and fractions"
    }
    "datagrams": "one UDP datagram" {
        "traffic" [""] "traffic entry of the scenario"
        "flow" [""] "flow within the traffic entry"
        "sequence" [""] "number within the flow, from 0"
        "direction" [""] "upstream or downstream"
        "length_bytes" ["B"] "IP packet"
        "sent_ns" ["ns"] "when it was sent"
        "arrived_ns" ["ns"] "when it arrived; missing if it was lost"
        "lost_at" [""] "queue, transmit_queue, or the line behind them; missing if it arrived"
        causes
        "marked" [""] "1 if it arrived with a congestion mark, otherwise 0"
        "lost_for" [""] "reason of its loss, as in the table of signals; missing if it arrived"
    }
    "pages": "one web page" {
        "traffic" [""] "traffic entry of the scenario"
        "client" [""] "user within the traffic entry"
        "page" [""] "number of the page, from 0"
        "started_ns" ["ns"] "first SYN asked for"
        "index_loaded_ns" ["ns"] "index object complete; missing if it never was"
        "ended_ns" ["ns"] "last byte of the last object; missing if unfinished when the run ended"
        "objects" [""] "objects completed, index included"
        "bytes" ["B"] "application bytes of completed objects"
    }
    "objects": "one object of a web page" {
        "traffic" [""] "traffic entry of the scenario"
        "client" [""] "user within the traffic entry"
        "page" [""] "number of its page"
        "server" [""] "its server, from 0"
        "index" [""] "number at its server, from 0"
        "started_ns" ["ns"] "connection asked for"
        "first_byte_ns" ["ns"] "first byte; missing if none came"
        "ended_ns" ["ns"] "last byte; missing if unfinished"
        "bytes" ["B"] "application bytes"
    }
    "has_chunks": "one chunk of an adaptive stream" {
        "traffic" [""] "traffic entry of the scenario"
        "session" [""] "session within the traffic entry, from 0"
        "chunk" [""] "number within the session, from 0"
        "level" [""] "its quality level, from 0"
        "nominal_mbps" ["Mb/s"] "nominal rate of that level"
        "bytes" ["B"] "its size"
        "requested_ns" ["ns"] "when it was asked for"
        "ended_ns" ["ns"] "last byte; missing if unfinished"
        "buffer_before_ns" ["ns"] "media in the client's buffer when it was asked for"
        "buffer_after_ns" ["ns"] "media in the buffer with it, when it had arrived; missing if unfinished"
        "estimate_mbps" ["Mb/s"] "throughput that the client expected when it chose the level; missing before there was any"
        "reason" [""] "why this level: start, panic, down, hold_buffer, up or stay"
    }
    "has_sessions": "one session of an adaptive stream" {
        "traffic" [""] "traffic entry of the scenario"
        "session" [""] "session within the traffic entry, from 0"
        "started_ns" ["ns"] "connection asked for"
        "startup_ns" ["ns"] "from there to the first picture; missing if it never came"
        "stalls" [""] "how often the picture stood still after that"
        "stalled_ns" ["ns"] "for how long"
        "played_ns" ["ns"] "media that were played"
        "low_buffer_ns" ["ns"] "time since the first picture with less than 10 s of media in the buffer"
        "chunks" [""] "chunks that arrived"
        "mean_mbps" ["Mb/s"] "mean nominal rate of these; missing without any"
        "sd_mbps" ["Mb/s"] "standard deviation of their nominal rates, of all and not of a sample; missing without any"
        "switches" [""] "how often a chunk was of another level than the one before it"
    }
    "live_seconds": "one second of a live stream at a player, from its first picture on" {
        "traffic" [""] "traffic entry of the scenario"
        "session" [""] "session within the traffic entry, from 0"
        "at_ns" ["ns"] "end of the second"
        "latency_ns" ["ns"] "delay of the picture behind the live event, also during a stall"
        "buffer_ns" ["ns"] "media in the buffer"
        "speed" [""] "seconds of media that are played in a second; 0 if the picture stands still"
        "level" [""] "level of the last segment that is complete, from 0; missing before there was any"
    }
    "live_sessions": "one player of a live stream; the quality of its picture is a row of `has_sessions`" {
        "traffic" [""] "traffic entry of the scenario"
        "session" [""] "session within the traffic entry, from 0"
        "latency_mean_ns" ["ns"] "delay of the picture behind the live event, mean over the seconds since the first picture; missing without any"
        "latency_p95_ns" ["ns"] "95th percentile of these seconds, to 10 ms; missing without any"
        "latency_max_ns" ["ns"] "the longest of them; missing without any"
        "fast_ns" ["ns"] "time in which media were played faster than they were taken"
        "slow_ns" ["ns"] "time in which they were played slower"
        "skips" [""] "how often media were left out to be near again"
        "skipped_ns" ["ns"] "how much"
    }
    "pd_sessions": "one video that is played while it is downloaded" {
        "traffic" [""] "traffic entry of the scenario"
        "source" [""] "source of requests within the traffic entry, from 0"
        "session" [""] "number of the video of its source, from 0"
        "started_ns" ["ns"] "connection asked for"
        "bytes" ["B"] "its size"
        "playback_ns" ["ns"] "when playback began; missing if it did not"
        "ended_ns" ["ns"] "last byte; missing if unfinished"
        "underrun_ns" ["ns"] "time at which playback first ran out of data; missing if it never did"
        "sustained" [""] "1 if playback never had to wait, 0 if it had to; missing if unfinished without having failed"
    }
    "transfers": "one file transfer" {
        "traffic" [""] "traffic entry of the scenario"
        "lane" [""] "parallel loop, from 0"
        "index" [""] "number within the loop, from 0"
        "started_ns" ["ns"] "connection asked for, or first byte written on a kept one"
        "ended_ns" ["ns"] "last byte acknowledged; missing if unfinished"
        "bytes" ["B"] "size of the file; missing without end"
    }
    "flows": "one flow: data of one end of a connection, or datagrams between the client and a server" {
        "traffic" [""] "traffic entry of the scenario"
        "server" [""] "server within the traffic entry, from 0; the `flow` of datagrams"
        "direction" [""] "upstream or downstream"
        "connection" [""] "number of the connection, from 0 in each run; missing for datagrams"
        "sub_flow" [""] "sub-flow of the access link's queue manager that it is hashed into; missing without such, or if it varies"
        "opened_ns" ["ns"] "connection asked for; missing for datagrams"
        "ended_ns" ["ns"] "connection over; missing for datagrams, or if open when the run ended"
        "goodput_bytes" ["B"] "application bytes delivered in order; missing for datagrams"
        "retransmissions" [""] "segments sent again; missing for datagrams"
        "datagrams" [""] "datagrams that arrived or were lost; missing for connections"
        "lost_datagrams" [""] "those that were lost; missing for connections"
        "marks_received" [""] "packets that arrived with a congestion mark"
        "judged_packets" [""] "packets that Queue Protection judged: those that came to a low-latency queue that has it, in any link"
        "sanctioned_packets" [""] "those that it moved to the classic queue"
        "sanctioned_bytes" ["B"] "their bytes, as the framing of the link charges them"
        "highest_score_ns" ["ns"] "highest queuing score of the flow; missing if no packet of it was judged"
    }
    "losses": "one lost packet" {
        "at_ns" ["ns"] "when it was lost"
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "traffic" [""] "traffic entry of the scenario"
        "server" [""] "server within the traffic entry, from 0; the `flow` of datagrams"
        "direction" [""] "upstream or downstream"
        "connection" [""] "number of the connection, from 0 in each run; missing for datagrams, and for packets of a connection that had ended"
        "sequence" [""] "number of the segment or datagram in its flow; a segment that is sent again keeps it, an acknowledgement has that of the next segment"
        "data_bytes" ["B"] "application data of a segment, none of an acknowledgement; the IP packet of a datagram"
        "reason" [""] "why, as in the table of signals"
    }
    "connection_series": "the sender of one end of an open connection at one moment" {
        "traffic" [""] "traffic entry of the scenario"
        "server" [""] "server within the traffic entry, from 0"
        "direction" [""] "where it sends to: upstream or downstream"
        "connection" [""] "number of the connection, from 0 in each run"
        "at_ns" ["ns"] "when it was looked at"
        "window_segments" [""] "congestion window in segments"
        "threshold_segments" [""] "slow-start threshold in segments; missing before there is one"
        "round_trip_ns" ["ns"] "smoothed round-trip time; missing before the first sample"
        "flight_segments" [""] "segments outstanding"
        "acknowledged_bytes" ["B"] "application bytes acknowledged so far"
        "phase" [""] "state of the congestion controller, in the word of its document, such as ProbeBW_UP of BBR; missing if it has no states"
        "bandwidth_bps" ["b/s"] "rate of IP packets that it takes the path to have; missing if it has none"
        "bound_segments" [""] "segments that may be in the network, as losses or marks have taught it; missing without such a bound"
    }
    "series": "one link in one bin of time" {
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "start_ns" ["ns"] "start of the bin"
        "width_ns" ["ns"] "width of the bin"
        "forwarded_bytes" ["B"] "bytes that left the managed queue towards the wire, as the framing of the link charges them"
        "forwarded_packets" [""] "packets that did"
        "dropped_packets" [""] "packets lost in the link"
        "sojourn_mean_ns" ["ns"] "mean time in the managed queue of those packets; missing without any"
        "sojourn_max_ns" ["ns"] "longest; missing without any"
        "backlog_bytes_mean" ["B"] "time-weighted mean length of the managed queue"
        "backlog_packets_mean" [""] "the same in packets"
        "backlog_packets_max" [""] "longest managed queue in the bin"
        "staged_packets_mean" [""] "time-weighted mean number of packets behind the managed queue"
        "marked_packets" [""] "packets that the queue manager marked"
    }
    "traffic_series": "one traffic entry on one link in one bin of time" {
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "traffic" [""] "traffic entry of the scenario"
        "start_ns" ["ns"] "start of the bin"
        "width_ns" ["ns"] "width of the bin"
        "forwarded_bytes" ["B"] "bytes of its IP packets that left the managed queue towards the wire"
        "forwarded_packets" [""] "packets that did"
        "dropped_packets" [""] "packets lost in the link"
        "marked_packets" [""] "packets that its queue manager marked"
        "late_packets" [""] "packets that came to Queue Protection at a delay above that up to which nothing is moved"
        "sanctioned_packets" [""] "those that it moved to the classic queue"
    }
    "service_series": "one service queue of a link with several, in one bin of time" {
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "queue" [""] "service queue of the manager: classic, low_latency or ack_priority"
        "start_ns" ["ns"] "start of the bin"
        "width_ns" ["ns"] "width of the bin"
        "offered_bytes" ["B"] "bytes that came to the queue, as the framing of the link charges them: of packets that left it, when they came; of lost ones, when they were lost; without packets that wait when the run ends"
        "served_bytes" ["B"] "bytes that left it towards the wire"
        "dropped_bytes" ["B"] "bytes that were lost"
    }
    "occupancy": "one length of the managed queue of a link" {
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "packets" [""] "length"
        "time_ns" ["ns"] "time spent at this length"
    }
    "delays": "one cause of delay of one traffic entry and direction" {
        "traffic" [""] "traffic entry of the scenario"
        "direction" [""] "upstream or downstream"
        "cause" [""] "sender, recovery, or one of those that datagrams have a column for; pipeline is left out where no link has one"
        "packets" [""] "packets that arrived (TCP: segments with data)"
        "total_ns" ["ns"] "sum over these packets"
    }
    "traffic": "one traffic entry and direction" {
        "traffic" [""] "traffic entry of the scenario"
        "direction" [""] "upstream or downstream"
        "sent_packets" [""] "packets handed to their first link"
        "sent_bytes" ["B"] "their bytes"
        "forwarded_packets" [""] "packets forwarded by the access link; none if they do not pass it"
        "forwarded_bytes" ["B"] "their bytes"
        "dropped_queue_packets" [""] "packets lost in a managed queue, of any link"
        "dropped_transmit_queue_packets" [""] "packets lost behind it"
        "goodput_bytes" ["B"] "application bytes delivered in order"
        "connections" [""] "connections that ended or were open at the end (upstream row)"
        "retransmissions" [""] "segments sent again (upstream row)"
        "timeouts" [""] "expiries of retransmission timers (upstream row); missing for connections of an emulation, whose timers are unobserved"
        "connect_retries" [""] "SYNs sent again (upstream row)"
        "marked_packets" [""] "packets marked by the queue manager of the access link"
        "marks_received" [""] "packets that arrived with a congestion mark: datagrams, and those of connections that ended or were open at the end"
    }
    "signals": "one kind of drop or mark by an access link" {
        "link" [""] "upstream or downstream"
        "traffic" [""] "traffic entry of the scenario"
        "queue" [""] "service queue of the manager: classic, low_latency or ack_priority"
        "sub_flow" [""] "sub-flow of that queue; missing without such"
        "signal" [""] "drop, drop_in_transmit_queue or mark"
        "reason" [""] "overlimit, fat_flow, early, forced, target, overload or blue"
        "packets" [""] "packets that it happened to"
        "bytes" ["B"] "their bytes"
    }
    "delay_histogram": "one bin of access delay of one traffic entry and direction" {
        "traffic" [""] "traffic entry of the scenario"
        "direction" [""] "upstream or downstream"
        "delay_ns" ["ns"] "largest delay that falls into the bin (3 significant digits)"
        "packets" [""] "packets in the bin"
    }
    "sojourn_histogram": "one bin of time in the managed queue of a link" {
        "link" [""] "upstream or downstream; with the name of the home or of the link before it if there are several"
        "sojourn_ns" ["ns"] "largest time that falls into the bin (3 significant digits)"
        "packets" [""] "packets in the bin"
    }
    "latency_histogram": "one bin of the latency histogram that the device of a link keeps of a queue" {
        "link" [""] "upstream (modem) or downstream (CMTS); with the name of the home or of the link before it if there are several"
        "queue" [""] "service queue: classic, low_latency or ack_priority"
        "from_ns" ["ns"] "least delay that falls into the bin"
        "to_ns" ["ns"] "from here on delays fall into the next bin; missing of the last"
        "packets" [""] "packets in the bin"
        "longest_ns" ["ns"] "longest delay of the queue, the same in all its rows"
    }
    "emulation": "one second of an emulation: how well it kept time; no table of simulations" {
        "until_ns" ["ns"] "end of the second, in model time"
        "upstream_late_p50_ns" ["ns"] "how late upstream packets were written: the median; missing without packets"
        "upstream_late_p99_ns" ["ns"] "99th percentile; missing without packets"
        "upstream_late_max_ns" ["ns"] "the largest; missing without packets"
        "downstream_late_p50_ns" ["ns"] "how late downstream packets were written: the median; missing without packets"
        "downstream_late_p99_ns" ["ns"] "99th percentile; missing without packets"
        "downstream_late_max_ns" ["ns"] "the largest; missing without packets"
        "longest_gap_ns" ["ns"] "longest time between two passes of the loop"
        "hidden_losses" [""] "packets lost outside the model"
        "stalls" [""] "times that model time stood still, because the program did"
        "busy" [""] "share of a core that the loop took; missing if unknown"
        "stolen" [""] "share of the time that other machines took from this one; missing if unknown"
    }
    "emulation_lateness": "one bin of how late packets of an emulation were written" {
        "direction" [""] "upstream or downstream"
        "from_ns" ["ns"] "least lateness that falls into the bin"
        "to_ns" ["ns"] "largest lateness that falls into the bin (3 %)"
        "packets" [""] "packets in the bin"
    }
};

/// The declaration of the table called `name`.
pub fn table(name: &str) -> Option<&'static TableSchema> {
    TABLES.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_in_nanoseconds_or_bytes_says_so_in_its_name() {
        for table in TABLES {
            for column in table.columns {
                let name = column.name;
                assert_eq!(name.ends_with("_ns"), column.unit == "ns", "{}.{name}", table.name);
                if name.ends_with("bytes") {
                    assert_eq!(column.unit, "B", "{}.{name}", table.name);
                }
            }
        }
    }
}
