//! The numbers of videos: of adaptive streams, of those that are played while they are downloaded, and of frames that must
//! arrive while they are new.
//!
//! Source: as of [`crate::streaming`]; of frames, their own deadline. Deviations: none known.

use super::{CloudGame, Rows, share_under};
use crate::game;
use crate::loss::share;
use crate::streaming::{LiveViewing, Viewing, sustained_share};
use sojourn_base::report::DownloadSession;
use sojourn_base::{Direction, Span};
use sojourn_record::{Records, TrafficId};

/// Names of the numbers of frames: how many, shares, quantiles of their delay.
const FRAMES_UP: [&str; 6] =
    ["frames", "frames_late", "frames_lost", "frame_delay_p50", "frame_delay_p95", "frame_delay_p99"];
const FRAMES_DOWN: [&str; 6] = [
    "frames_downstream",
    "frames_late_downstream",
    "frames_lost_downstream",
    "frame_delay_p50_downstream",
    "frame_delay_p95_downstream",
    "frame_delay_p99_downstream",
];

/// The rows of the frames that one traffic entry sent; none if it sent none.
pub(super) fn frame_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str) {
    for (direction, names) in [(Direction::Upstream, &FRAMES_UP), (Direction::Downstream, &FRAMES_DOWN)] {
        let Some(tally) = records.frame_tally(id, direction) else {
            continue;
        };
        let frames = tally.frames() as f64;
        rows.add(name, names[0], frames);
        rows.add(name, names[1], 100.0 * tally.late() as f64 / frames);
        rows.add(name, names[2], 100.0 * tally.lost() as f64 / frames);
        for (metric, p) in names[3..].iter().zip([0.5, 0.95, 0.99]) {
            let delay = tally.delays().quantile_ns(p);
            rows.add_some(name, metric, delay.map(|ns| ns as f64 / 1e6));
        }
    }
}

/// The rows of a cloud game, if an answer came to what was played.
pub(super) fn game_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str, game: CloudGame) {
    let Some(round_trips) = records.round_trips(id) else {
        return;
    };
    let left = game::BUDGET.saturating_sub(game.beyond);
    let within = share_under(round_trips, left);
    let over = within.map(|within| 100.0 * (1.0 - within));
    rows.add_some(name, "game_over_budget", over);
    let frames = records.frame_tally(id, Direction::Downstream);
    let Some((mean_ns, frames)) = round_trips.mean_ns().zip(frames) else {
        return;
    };
    let round_trip_ms = mean_ns / 1e6 + game.beyond.as_ms_f64();
    // The round trip says how late all pictures are; those that are later than the others by more are missing.
    let latest = Span::from_ns(frames.delays().min_ns().unwrap_or_default()) + game.deadline;
    let late = frames.delays().middles().filter(|(delay, _)| Span::from_ns(*delay) > latest);
    let unseen = (frames.lost() + late.map(|(_, count)| count).sum::<u64>()) as f64 / frames.frames() as f64;
    // A press that never came is a picture without its answer.
    let presses = records.datagram_tallies(id).filter(|(_, way, _)| *way == Direction::Upstream);
    let (sent, lost) = presses.fold((0, 0), |(sent, lost), (.., it)| (sent + it.sent(), lost + it.lost()));
    let unanswered = share(lost, sent).unwrap_or_default();
    let missing = 100.0 * (1.0 - (1.0 - unseen) * (1.0 - unanswered));
    rows.add(name, "game_mos", game::score(round_trip_ms, f64::from(game.frames_per_second), missing));
}

/// Adds the rows of one traffic entry; none without sessions.
pub(super) fn video_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str) {
    let downloads = records.download_sessions().iter();
    let downloads = downloads.filter_map(|(traffic, video)| (*traffic == id).then_some(video));
    let judged: Vec<bool> = downloads.filter_map(DownloadSession::is_sustained).collect();
    rows.add_some(name, "sustained_share", sustained_share(&judged));
    let sessions: Vec<_> = records
        .streaming_sessions()
        .iter()
        .filter_map(|(traffic, session)| (*traffic == id).then_some(session))
        .collect();
    if sessions.is_empty() {
        return;
    }
    let viewing = Viewing::of(&sessions);
    let live: Vec<_> =
        records.live_sessions().iter().filter_map(|(traffic, session)| (*traffic == id).then_some(session)).collect();
    // A live player never has 10 s.
    let low_buffer = viewing.low_buffer.filter(|_| live.is_empty());
    for (metric, value) in [
        ("predicted_mos", viewing.predicted_mos),
        ("predicted_mos_min", viewing.predicted_mos_min),
        ("underflow", viewing.underflow),
        ("underflow_max", viewing.underflow_max),
        ("stalls", Some(viewing.stalls as f64)),
        ("startup_time", viewing.startup),
        ("video_rate_mean", viewing.rate_mean),
        ("video_rate_sd", viewing.rate_sd),
        ("video_rate_fairness", viewing.rate_fairness),
        ("switches_per_minute", viewing.switches),
        ("low_buffer", low_buffer),
    ] {
        rows.add_some(name, metric, value);
    }
    if live.is_empty() {
        return;
    }
    let viewing = LiveViewing::of(&live, viewing.watched);
    for (metric, value) in [
        ("live_latency", viewing.latency),
        ("live_latency_p95", viewing.latency_p95),
        ("played_fast", viewing.fast),
        ("played_slow", viewing.slow),
        ("skips", Some(viewing.skips as f64)),
        ("skipped_media", Some(viewing.skipped)),
    ] {
        rows.add_some(name, metric, value);
    }
}
