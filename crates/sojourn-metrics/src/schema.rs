//! The metrics of a run, declared once: name, unit, which way is better, bounds, words, meaning and source.
//!
//! Whatever [`crate::run::metric_rows`] gives is declared here. The reference page of metrics, the headings of reports, intervals and
//! verdicts are made from these rows.

use sojourn_record::described;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Which way a metric is better for a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Delays, losses, stalls.
    Lower,
    /// Rates, scores, shares of what is wanted.
    Higher,
    /// Neither: packets sent, connections; volumes, which count acknowledgements and what was sent again as well.
    Neither,
}

impl Better {
    /// The word for it: `lower`, `higher`, or nothing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Neither => "",
        }
    }
}

/// A declared metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricSchema {
    /// Name, as in the table `metrics`.
    pub name: &'static str,
    /// Words for headings.
    pub words: &'static str,
}

/// Metrics that share a meaning.
#[derive(Clone, Copy, Debug)]
pub struct MetricGroup {
    /// The metrics.
    pub metrics: &'static [MetricSchema],
    /// Unit; empty for counts and fractions.
    pub unit: &'static str,
    /// Which way they are better. chosen: what a subscriber would say.
    pub better: Better,
    /// Bounds that no value can pass.
    pub bounds: (f64, f64),
    /// Meaning of the value, and when it is missing.
    pub meaning: &'static str,
    /// Document and section; empty if the definition is this project's own.
    pub source: &'static str,
}

macro_rules! metrics {
    ($($(#[native $only:tt])? $meaning:literal from $source:literal [$unit:literal] $better:ident $(within($low:expr, $high:expr))? {
        $($name:literal $words:literal)*
    })*) => {
        &[$($(#[cfg(all(not(target_family = "wasm"), all $only))])? MetricGroup {
            metrics: &[$(MetricSchema { name: $name, words: described($words) }),*],
            unit: $unit,
            better: better!($better),
            bounds: [$(($low, $high),)? usual_bounds($unit)][0],
            meaning: described($meaning),
            source: described($source),
        }),*]
    };
}

macro_rules! better {
    (lower) => {
        Better::Lower
    };
    (higher) => {
        Better::Higher
    };
    (neither) => {
        Better::Neither
    };
}

/// Bounds of what has no others: no metric is negative, no percentage above 100.
const fn usual_bounds(unit: &str) -> (f64, f64) {
    match unit.as_bytes() {
        b"%" => (0.0, 100.0),
        _ => (0.0, f64::INFINITY),
    }
}

/// All metrics. The engine of browsers is small, and leaves out those that no lesson shows.
pub const METRICS: &[MetricGroup] = metrics! {
    "bytes of the entry's packets that the access link forwarded, headers included; 1 kB = 1000 B"
        from "White 2012 Tables 7 and 8" ["kB"] neither {
        "forwarded_volume" "forwarded volume"
        "forwarded_volume_downstream" "forwarded volume downstream"
    }
    "application bytes delivered over the duration of the run: of TCP in order, of datagrams the arrived ones without IP and UDP headers (28 B)"
        from "White 2013 4.4" ["Mb/s"] higher {
        "goodput" "goodput upstream"
        "goodput_downstream" "goodput downstream"
    }
    "packets of the entry that arrived with a congestion mark (CE), from any link: those of connections that ended or were open at the end, and datagrams"
        from "RFC 3168" [""] neither {
        "marks_received" "marks received"
        "marks_received_downstream" "marks received downstream"
    }
    "datagrams sent"
        from "" [""] neither {
        "sent" "datagrams sent"
    }
    "datagrams that never arrived, of those sent"
        from "White 2012 Table 3" ["%"] lower {
        "lost" "packets lost"
    }
    "of streams with a deadline (calls, games, video calls): datagrams that came more than 60 ms after the shortest delay of their flow, of those sent"
        from "White 2012 3.2.2" ["%"] lower {
        "late" "packets late"
    }
    "lost or late"
        from "White 2012 Table 3" ["%"] lower {
        "loss_total" "packets lost or late"
    }
    "of entries with datagrams both ways (games, video calls): the same of those sent up, and of those sent down; the three above are of all"
        from "" ["%"] lower {
        "lost_up" "packets lost upstream"
        "late_up" "packets late upstream"
        "loss_total_up" "packets lost or late upstream"
        "lost_down" "packets lost downstream"
        "late_down" "packets late downstream"
        "loss_total_down" "packets lost or late downstream"
    }
    "mean delay of the datagrams that were neither"
        from "White 2012 3.2.2" ["ms"] lower {
        "delay_in_time_mean" "mean delay of packets in time"
    }
    "of calls (`is_call`): R with that delay plus 20 ms and that loss, mean over the flows"
        from "White 2012 3.2.2" [""] higher within(0.0, 100.0) {
        "rating" "rating of the call (R)"
    }
    "of calls: score of R, mean and least over the flows"
        from "ITU-T G.107 Annex B" [""] higher within(1.0, 4.5) {
        "mos" "score of the call (MOS)"
        "mos_min" "least score of a call (MOS)"
    }
    #[native()]
    "of calls with `playout = \"adaptive\"`: packets that came after the listener's buffer had to play them, of those sent, mean over the flows"
        from "Ramjee et al. 1994, algorithm 1" ["%"] lower {
        "late_adaptive" "packets late for an adaptive playout"
    }
    #[native()]
    "of these calls: mean time from sending to playing of the others"
        from "Ramjee et al. 1994, algorithm 1" ["ms"] lower {
        "playout_delay" "delay of an adaptive playout"
    }
    #[native()]
    "of these calls: score of R with that delay plus 20 ms, and with lost and late packets"
        from "White 2012 3.2.2, ITU-T G.107 Annex B" [""] higher within(1.0, 4.5) {
        "mos_adaptive" "score of the call with an adaptive playout (MOS)"
    }
    "the same without delay, as White 2012 printed it"
        from "see [voice](../models/voice.md)" [""] higher within(1.0, 4.5) {
        "mos_loss_only" "score of the call without delay (MOS)"
    }
    "access delay one way, in the direction in which most of the entry's data flow: from the queue to the far end of the access link"
        from "White 2013 4.1, White 2019 5" ["ms"] lower {
        "delay_mean" "mean delay (busier direction)"
        "delay_min" "shortest delay (busier direction)"
        "delay_p01" "1st percentile of delay (busier direction)"
        "delay_p50" "median delay (busier direction)"
        "delay_p90" "90th percentile of delay (busier direction)"
        "delay_p95" "95th percentile of delay (busier direction)"
        "delay_p99" "99th percentile of delay (busier direction)"
        "delay_p999" "99.9th percentile of delay (busier direction)"
        "delay_max" "longest delay (busier direction)"
    }
    "the same, of the entry's packets upstream and downstream: of a download, `delay_down_…` is that of its data and `delay_up_…` that of its acknowledgements"
        from "" ["ms"] lower {
        "delay_up_mean" "mean delay upstream"
        "delay_up_min" "shortest delay upstream"
        "delay_up_p50" "median delay upstream"
        "delay_up_p95" "95th percentile of delay upstream"
        "delay_up_p99" "99th percentile of delay upstream"
        "delay_up_p999" "99.9th percentile of delay upstream"
        "delay_up_max" "longest delay upstream"
        "delay_down_mean" "mean delay downstream"
        "delay_down_min" "shortest delay downstream"
        "delay_down_p50" "median delay downstream"
        "delay_down_p95" "95th percentile of delay downstream"
        "delay_down_p99" "99th percentile of delay downstream"
        "delay_down_p999" "99.9th percentile of delay downstream"
        "delay_down_max" "longest delay downstream"
    }
    "access delay there and back: of each packet upstream with the first one downstream of the same session (server) that came to the line at or after its arrival; the path beyond the line takes no time. Of connections one packet of a session is followed at a time, of datagrams all; those without an answer do not count"
        from "White 2019 4.2" ["ms"] lower {
        "delay_round_trip_mean" "mean round trip over the access line"
        "delay_round_trip_min" "shortest round trip over the access line"
        "delay_round_trip_p50" "median round trip over the access line"
        "delay_round_trip_p95" "95th percentile of round trips over the access line"
        "delay_round_trip_p99" "99th percentile of round trips over the access line"
        "delay_round_trip_p999" "99.9th percentile of round trips over the access line"
        "delay_round_trip_max" "longest round trip over the access line"
    }
    "packet delay variation: excess of these delays over the shortest one, upstream, downstream, and there and back; over all packets of the entry"
        from "RFC 5481 4.2, White 2019 4.3" ["ms"] lower {
        "delay_variation_up_p50" "median delay variation upstream"
        "delay_variation_up_p99" "99th percentile of delay variation upstream"
        "delay_variation_up_p999" "99.9th percentile of delay variation upstream"
        "delay_variation_down_p50" "median delay variation downstream"
        "delay_variation_down_p99" "99th percentile of delay variation downstream"
        "delay_variation_down_p999" "99.9th percentile of delay variation downstream"
        "delay_variation_round_trip_p50" "median delay variation of round trips"
        "delay_variation_round_trip_p99" "99th percentile of delay variation of round trips"
        "delay_variation_round_trip_p999" "99.9th percentile of delay variation of round trips"
    }
    #[native()]
    "Quality of Outcome for a use, of entries whose packets or questions are answered, if `record.outcomes` asks for it: the least of the scores of round trips, their loss, and the throughput that others leave, against [the use's requirements](../guides/score-a-line.md); of probes from 2 s of load on. A line that is full is not judged by throughput"
        from "draft-ietf-ippm-qoo" [""] higher within(0.0, 100.0) {
        "qoo_call" "Quality of Outcome, call"
        "qoo_video_call" "Quality of Outcome, video call"
        "qoo_game" "Quality of Outcome, game"
        "qoo_cloud_game" "Quality of Outcome, cloud game"
        "qoo_web" "Quality of Outcome, web"
    }
    "packets with an access delay below that, of the entry's packets that were forwarded in the direction of the data"
        from "chosen: CoDel's target (RFC 8289 4.4), and the interval of voice packets" ["%"] higher {
        "delay_share_under_5ms" "packets with a delay under 5 ms"
        "delay_share_under_20ms" "packets with a delay under 20 ms"
    }
    "pages that ended, and pages under way when the run ended"
        from "White 2012 Tables 5 and 6" [""] higher {
        "pages_completed" "pages completed"
    }
    "pages that ended, and pages under way when the run ended"
        from "White 2012 Tables 5 and 6" [""] lower {
        "pages_unfinished" "pages unfinished"
    }
    "median over the completed pages (type 7)"
        from "White 2012 Tables 5 and 6" ["s"] lower {
        "page_load_time_median" "median page load time"
    }
    "median absolute deviation from it, unscaled"
        from "White 2012 Tables 5 and 6" ["s"] lower {
        "page_load_time_mad" "median deviation of page load time"
    }
    "over the completed pages"
        from "White 2013 4.2" ["s"] lower {
        "page_load_time_mean" "mean page load time"
        "page_load_time_p95" "95th percentile of page load time"
        "page_load_time_max" "longest page load time"
    }
    "Kaplan–Meier median: an unfinished page took at least as long as it was seen"
        from "Kaplan and Meier 1958" ["s"] lower {
        "page_load_time_median_censored" "median page load time, unfinished pages counted"
    }
    "from asking for an object of a page, or for its connection if it is the first over it, to its last byte; over the objects that were completed"
        from "Akhtar 2013, PLT and PD QoE: a page is 14 of these" ["s"] lower {
        "object_time_mean" "mean time of an object"
    }
    "of adaptive streams: 0.6 × mean − 0.32 × standard deviation of the nominal rate in Mb/s over the chunks that arrived, mean over the sessions and worst of them; no offset, no clamp: 0.432 to 3.540 with the ladder of Akhtar 2013"
        from "Akhtar 2013, Predicting HAS QoE (after De Vriendt 2013)" [""] higher within(f64::NEG_INFINITY, f64::INFINITY) {
        "predicted_mos" "predicted score of videos (P-MOS)"
        "predicted_mos_min" "predicted score of the worst video (P-MOS)"
    }
    "of adaptive streams: time in which the picture stood still, of the time since the first picture; mean over the sessions and worst of them"
        from "Akhtar 2013, HAS QoE" ["%"] lower {
        "underflow" "time in which videos stand still"
        "underflow_max" "time in which the worst video stands still"
    }
    "how often it did, all sessions together"
        from "" [""] lower {
        "stalls" "how often videos stand still"
    }
    "from the start of a session to its first picture, mean over the sessions"
        from "" ["s"] lower {
        "startup_time" "time to the first picture"
    }
    "mean and standard deviation of the nominal rate of the chunks of a session, mean over the sessions"
        from "Akhtar 2013, Predicting HAS QoE" ["Mb/s"] higher {
        "video_rate_mean" "mean rate of videos"
    }
    "mean and standard deviation of the nominal rate of the chunks of a session, mean over the sessions"
        from "Akhtar 2013, Predicting HAS QoE" ["Mb/s"] neither {
        "video_rate_sd" "deviation of the rate of videos"
    }
    "Jain's index of the mean rates of the sessions, if there are two or more"
        from "Akhtar 2013, Details: VQ Levels" [""] higher within(0.0, 1.0) {
        "video_rate_fairness" "fairness of the rates of videos"
    }
    "chunks of another level than the one before them, in a minute of played media"
        from "" ["1/min"] lower {
        "switches_per_minute" "changes of quality in a minute of video"
    }
    "time since the first picture with less than 10 s of media in the buffer, all sessions together; not of live streams"
        from "Akhtar 2013, Details: Client Buffer" ["%"] lower {
        "low_buffer" "time with less than 10 s of video in the buffer"
    }
    "of low-latency live streams: delay of the picture behind the live event, mean over the seconds since the first picture, then over the sessions"
        from "chosen: what a viewer calls delay" ["s"] lower {
        "live_latency" "how far live video is behind"
    }
    "95th percentile of these seconds, to 10 ms, of the worst session"
        from "" ["s"] lower {
        "live_latency_p95" "how far live video is behind, 95 %"
    }
    "time in which media were played faster or slower than they were taken, of the time since the first picture, all sessions together"
        from "" ["%"] lower {
        "played_fast" "live video played faster to catch up"
        "played_slow" "live video played slower to last"
    }
    "how often media were left out to be near again, and how much, all sessions together"
        from "" [""] lower {
        "skips" "how often live video leaves something out"
    }
    "how often media were left out to be near again, and how much, all sessions together"
        from "" ["s"] lower {
        "skipped_media" "live video left out"
    }
    "of progressive downloads: videos whose playback never had to wait for data, of those that arrived whole or had to wait; unfinished ones that did not wait do not count"
        from "Akhtar 2013, PLT and PD QoE (480p)" ["%"] higher {
        "sustained_share" "downloaded videos that never wait"
    }
    "of video calls and cloud games: frames of video sent up and down that are complete or lost"
        from "" [""] neither {
        "frames" "frames upstream"
        "frames_downstream" "frames downstream"
    }
    "of these, not complete by their deadline, those that were lost included"
        from "" ["%"] lower {
        "frames_late" "frames late upstream"
        "frames_late_downstream" "frames late downstream"
    }
    "of these, a packet never came"
        from "" ["%"] lower {
        "frames_lost" "frames lost upstream"
        "frames_lost_downstream" "frames lost downstream"
    }
    "time from the capture of a frame to its last packet, of those that were complete"
        from "" ["ms"] lower {
        "frame_delay_p50" "median frame delay upstream"
        "frame_delay_p95" "95th percentile of frame delay upstream"
        "frame_delay_p99" "99th percentile of frame delay upstream"
    }
    "the same, downstream"
        from "" ["ms"] lower {
        "frame_delay_p50_downstream" "median frame delay downstream"
        "frame_delay_p95_downstream" "95th percentile of frame delay downstream"
        "frame_delay_p99_downstream" "99th percentile of frame delay downstream"
    }
    #[native()]
    "of cloud games: round trips longer than 80 ms, from the home to the server and back, of those of its packets that were answered"
        from "White 2013 4.1.3 (Choy et al. 2012)" ["%"] lower {
        "game_over_budget" "round trips of a cloud game over 80 ms"
    }
    #[native()]
    "of cloud games: opinion score of the mean round trip, of pictures that are lost or later than the fastest by more than their deadline, and of presses that are lost; of a perfect picture"
        from "White 2013 4.1.3; ITU-T G.1072, public program; see [cloud game](../models/interactive-video.md)" [""] higher within(1.3, 4.64) {
        "game_mos" "score of the cloud game (MOS)"
    }
    "files that were acknowledged completely"
        from "" [""] higher {
        "transfers_completed" "transfers completed"
    }
    "their median time (type 7), right to 0.1 %"
        from "" ["s"] lower {
        "transfer_time_median" "median transfer time"
    }
    "of transfers with a `stop`: application bytes delivered, both ways, over the time from `start` to `stop`"
        from "Flent: mean of a stream over its load" ["Mb/s"] higher {
        "goodput_loaded" "goodput under load"
    }
    #[native()]
    "of streams of datagrams with a `stop`, as of the load `netalyzr`: bytes forwarded over the time that the line was busy with them"
        from "White 2013 Table 1" ["Mb/s"] neither {
        "speed_estimate" "speed as a stream without control sees it"
    }
    #[native()]
    "of these, in place of the three others, if nothing waited: the speed at which they were sent, which the line exceeds"
        from "White 2013 Table 1: >20000 kb/s" ["Mb/s"] neither {
        "speed_above" "speed that the line exceeds, more than a stream can see"
    }
    #[native()]
    "of these: median delay less the shortest one"
        from "White 2013 Table 1" ["ms"] lower {
        "buffer_delay_estimate" "latency that a stream without control adds"
    }
    #[native()]
    "of these: the product of both, which is the buffer's size if the stream has filled it"
        from "White 2013 1.4" ["kB"] neither {
        "buffer_estimate" "buffer as a stream without control sees it"
    }
    "of probes: mean round trip over the whole run; over connections, of handshakes"
        from "Klatsky 2016, What metrics did we look at?" ["ms"] lower {
        "rtt_mean" "mean round trip"
    }
    "of probes: median in the last 5 s before `loaded_from`; mean and 95th percentile from 2 s after it to `loaded_until`"
        from "Flent's DELAY; chosen: two seconds until queues have filled" ["ms"] lower {
        "rtt_idle" "round trip without load"
        "rtt_loaded_mean" "mean round trip under load"
        "rtt_loaded_p95" "95 % of round trips under load"
    }
    "`rtt_loaded_mean` less, and over, `rtt_idle`: effect of a load on latency (working latency)"
        from "White 2013 1.4" ["ms"] lower {
        "rtt_induced" "round trip that the load adds"
    }
    "`rtt_loaded_mean` less, and over, `rtt_idle`: effect of a load on latency (working latency)"
        from "White 2013 1.4" [""] lower {
        "rtt_ratio" "round trip under load over without"
    }
    "of probes over connections, in the last 4 s of the load: 60 s over the mean of handshakes and of questions over new connections; 60 s over that of questions over a kept one; the mean of both. Means leave out the largest 5 %"
        from "draft-ietf-ippm-responsiveness, working copy; earlier revisions aggregate differently" ["1/min"] higher {
        "rpm" "round trips per minute"
        "rpm_foreign" "round trips per minute, new connections"
        "rpm_loaded" "round trips per minute, kept connection"
    }
    "connections that ended, segments sent again, timer expiries, SYNs sent again"
        from "White 2012 4.3.2" [""] neither {
        "connections" "connections"
    }
    "connections that ended, segments sent again, timer expiries, SYNs sent again"
        from "White 2012 4.3.2" [""] lower {
        "retransmissions" "retransmissions"
        "timeouts" "timeouts"
        "connect_retries" "connection attempts repeated"
    }
    "packets lost in the link"
        from "White 2012 4.2" [""] lower {
        "dropped_packets" "packets dropped"
    }
    "of links: packets lost, of those lost or forwarded"
        from "Akhtar 2013, Packet Loss Rate and CODEL" ["%"] lower {
        "loss_rate" "packets lost"
    }
    "packets that the link's queue manager marked; one may still be lost there"
        from "RFC 3168" [""] neither {
        "marked_packets" "packets marked"
    }
    "of those dropped: did not fit; victims of another arrival, because their flow was the largest; drawn at the tail (PIE); average above a hard threshold; head of a queue whose delay stayed above target (CoDel); in place of a mark; drawn by BLUE (COBALT); lost on the line by a condition; beyond a policer's rate"
        from "" [""] neither {
        "dropped_overlimit" "packets dropped: overlimit"
        "dropped_fat_flow" "packets dropped: fat flow"
        "dropped_early" "packets dropped: early"
        "dropped_forced" "packets dropped: forced"
        "dropped_target" "packets dropped: target"
        "dropped_overload" "packets dropped: overload"
        "dropped_blue" "packets dropped: blue"
        "dropped_disturbed" "packets dropped: lost on the line"
        "dropped_policed" "packets dropped: policed"
        "dropped_unheard" "packets dropped: no request heard"
    }
    "of those marked, by the same reasons"
        from "" [""] neither {
        "marked_early" "packets marked: early"
        "marked_forced" "packets marked: forced"
        "marked_target" "packets marked: target"
    }
    "of links with a `latency_histogram`, for each queue if there are several: quantiles of the delay as its bins tell them, linear between edges, up to the longest delay"
        from "White 2019 5.4" ["ms"] lower {
        "device_delay_p50" "median delay, by the modem's histogram"
        "device_delay_p95" "95th percentile of delay, by the modem's histogram"
        "device_delay_p99" "99th percentile of delay, by the modem's histogram"
        "device_delay_p999" "99.9th percentile of delay, by the modem's histogram"
    }
    "the same quantiles of the same delays without bins, right to 0.1 %"
        from "" ["ms"] lower {
        "device_delay_p50_exact" "median delay, exact"
        "device_delay_p95_exact" "95th percentile of delay, exact"
        "device_delay_p99_exact" "99th percentile of delay, exact"
        "device_delay_p999_exact" "99.9th percentile of delay, exact"
    }
    "edges of the bin that holds the 99th percentile: all that is certain"
        from "" ["ms"] lower {
        "device_delay_p99_low" "99th percentile of delay, lower edge of its bin"
        "device_delay_p99_high" "99th percentile of delay, upper edge of its bin"
    }
    "mean and longest of these delays"
        from "White 2019 5.4" ["ms"] lower {
        "device_delay_mean" "mean delay, by the modem's histogram"
        "device_delay_max" "longest delay, by the modem's histogram"
    }
    "of entries and of links with Queue Protection (links have the first name): packets that came to a low-latency queue and were judged there; without any, the next three have no row"
        from "RFC 9957 5" [""] neither {
        "judged_packets" "packets judged"
        "judged_packets_downstream" "packets judged downstream"
    }
    "those that Queue Protection moved to the classic queue, whether or not they were lost there"
        from "RFC 9957 5.4" [""] neither {
        "sanctioned_packets" "packets sanctioned"
        "sanctioned_packets_downstream" "packets sanctioned downstream"
    }
    "of those judged, how many were moved"
        from "White 2019 2.4" ["%"] neither {
        "sanctioned_share" "sanctioned share"
        "sanctioned_share_downstream" "sanctioned share downstream"
    }
    "highest queuing score that one of its flows had, at most 5 s"
        from "RFC 9957 4.2" ["ms"] neither {
        "queuing_score_max" "queuing score max"
        "queuing_score_max_downstream" "queuing score max downstream"
    }
    "bytes that the MAC requested, was granted (a grant that is known and has not begun included), and did not use; only of links with a MAC, and of each service flow (`upstream/low_latency`) where there are two"
        from "White 2012 2.2.2" ["kB"] neither {
        "requested_volume" "requested volume"
        "granted_volume" "granted volume"
        "unused_grants" "unused grants"
    }
    #[native()]
    "of the channels of a service group: minislots that were granted, over all, upstream (`group`); time in which they were busy, downstream (`group/downstream`)"
        from "DOCS-IF-MIB docsIfCmtsUpChannelCounter" ["%"] neither within(0.0, 100.0) {
        "channel_use" "channel use"
    }
    #[native()]
    "MAPs of the channel without a minislot left"
        from "" ["%"] lower within(0.0, 100.0) {
        "full_maps" "full MAPs"
    }
    #[native()]
    "opportunities to request that modems used, and that collided, over all"
        from "DOCS-IF-MIB docsIfCmtsUpChannelCounter" ["%"] neither within(0.0, 100.0) {
        "opportunity_use" "opportunity use"
        "opportunity_collided" "opportunities collided"
    }
    #[native()]
    "requests by contention of a modem of a service group, or of all (`group`); repetitions count"
        from "" [""] neither {
        "request_attempts" "requests by contention"
    }
    #[native()]
    "of these, how many were lost because others requested at the same opportunity"
        from "Kwak et al. 2005" ["%"] lower within(0.0, 100.0) {
        "collision_rate" "collision rate"
    }
    #[native()]
    "packets dropped because no request for them was heard, as often as the modem tried"
        from "DOCSIS MULPI 3.1 7.2" [""] lower {
        "requests_given_up" "packets never asked for"
    }
    #[native()]
    "from the moment at which a modem may contend to the reception of its request, mean over those that were heard"
        from "" ["ms"] lower {
        "request_delay_mean" "mean request delay"
    }
    #[native()]
    "spare rate of the channels of a service group (`group`) beside the mean load upstream, in tiers of its fastest home: the K of Cloonan's rule, which wants 1.0 to 1.2"
        from "Cloonan et al. 2014" [""] higher {
        "quality_k" "tiers that the mean load leaves"
    }
    #[native()]
    "of the seconds in which a home of a service group held packets for nine tenths of the time, those in which it sent at four fifths of its sustained rate; of all homes: `group` and `group/downstream`. Missing if there were none, or nothing limits the home"
        from "FCC DA 18-710, II.B for four fifths" ["%"] higher within(0.0, 100.0) {
        "tier_seconds" "seconds with the tier"
    }
    #[native()]
    "where the delay of a packet over the channels of a service group came from, mean over packets: the home's own rate, collisions of requests, capacity that went to neighbours, the loop of request and grant, and the line; they sum to the mean access delay. Downstream there are no requests"
        from "" ["ms"] lower {
        "wait_own_rate" "wait for its own rate"
        "wait_contention" "wait by collisions"
        "wait_neighbours" "wait for neighbours"
        "wait_request_loop" "wait for request and grant"
        "wait_line" "time on the line"
    }
    "where the delay of a packet over a Wi-Fi channel came from, mean over packets: the managed queue, the firmware, waiting for the air, tries that failed, the end of its aggregate, frames before it, and the air; they sum to the mean delay of the hop"
        from "" ["ms"] lower {
        "wifi_queue" "in the managed queue"
        "wifi_firmware" "in the firmware"
        "wifi_contention" "wait for the air"
        "wifi_retries" "tries that failed"
        "wifi_aggregation" "wait for its aggregate"
        "wifi_reordering" "wait for frames before it"
        "wifi_air" "on the air"
    }
    "share of the time in which a direction of a Wi-Fi station had an exchange on the air"
        from "" ["%"] neither {
        "wifi_airtime" "airtime"
    }
    "share of a direction's exchanges that met another frame, and share of its frames that noise destroyed"
        from "" ["%"] lower {
        "wifi_collided" "exchanges that collided"
        "wifi_failed" "frames that failed"
    }
    "frames of an aggregate, mean over exchanges that were answered"
        from "" [""] neither {
        "wifi_aggregate" "frames of an aggregate"
    }
    "packets dropped because their frames were tried too often, or came too late"
        from "" [""] lower {
        "wifi_given_up" "packets that were given up"
    }
    #[native()]
    "of the homes of a service group that are in a call: each call's 99th percentile of access delay upstream (`group`) or downstream (`group/downstream`), and of these the median, the 90th percentile and the longest"
        from "" ["ms"] lower {
        "calls_p99_median" "P99 of the median call"
        "calls_p99_worst_decile" "P99 that one call in ten exceeds"
        "calls_p99_worst" "P99 of the worst call"
    }
    #[native()]
    "how many of these calls have a 99th percentile above 10, 20, 50 and 100 ms"
        from "" ["%"] lower {
        "calls_over_10ms" "calls over 10 ms"
        "calls_over_20ms" "calls over 20 ms"
        "calls_over_50ms" "calls over 50 ms"
        "calls_over_100ms" "calls over 100 ms"
    }
    "bytes forwarded, over the most that rate and a full bucket allow; never cut, so a link that exceeds its rate has more than one"
        from "White 2012 4.1" [""] neither {
        "utilisation" "utilisation"
    }
    "time-weighted mean of the managed queue"
        from "White 2012 Figure 9" ["packets"] lower {
        "backlog_mean" "mean backlog"
    }
    "waiting time in the managed queue"
        from "White 2012 4.1" ["ms"] lower {
        "queue_delay_mean" "mean queuing delay"
        "queue_delay_min" "shortest queuing delay"
        "queue_delay_p50" "median queuing delay"
        "queue_delay_p95" "95th percentile of queuing delay"
        "queue_delay_p99" "99th percentile of queuing delay"
        "queue_delay_p999" "99.9th percentile of queuing delay"
        "queue_delay_max" "longest queuing delay"
    }
    "the same, under the name that the published studies use"
        from "White 2012 4.1" ["ms"] lower {
        "sojourn_mean" "mean queuing delay"
        "sojourn_p50" "median queuing delay"
        "sojourn_p95" "95th percentile of queuing delay"
        "sojourn_p99" "99th percentile of queuing delay"
        "sojourn_max" "longest queuing delay"
    }

};

/// The group of a metric.
pub fn group_of(metric: &str) -> Option<&'static MetricGroup> {
    static GROUPS: LazyLock<BTreeMap<&str, &MetricGroup>> = LazyLock::new(|| {
        let of = |group: &'static MetricGroup| group.metrics.iter().map(move |it| (it.name, group));
        METRICS.iter().flat_map(of).collect()
    });
    GROUPS.get(metric).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_declared_once_and_with_words() {
        let mut names: Vec<&str> = Vec::new();
        for group in METRICS {
            assert!(!group.meaning.is_empty() && group.bounds.0 < group.bounds.1);
            for metric in group.metrics {
                assert!(!metric.words.is_empty(), "{}", metric.name);
                names.push(metric.name);
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn groups_say_which_way_is_better() {
        for (metric, unit, better) in [
            ("delay_p99", "ms", Better::Lower),
            ("mos", "", Better::Higher),
            ("sent", "", Better::Neither),
            ("frames_late_downstream", "%", Better::Lower),
            ("rpm", "1/min", Better::Higher),
        ] {
            let group = group_of(metric).unwrap();
            assert_eq!((group.unit, group.better), (unit, better), "{metric}");
        }
        assert_eq!(group_of("mos").unwrap().bounds, (1.0, 4.5));
        assert_eq!(group_of("lost").unwrap().bounds, (0.0, 100.0));
        assert!(group_of("delay_p98").is_none());
    }
}
