//! The numbers of videos: of adaptive streams, and of those that are played while they are downloaded.
//!
//! Source: as of [`crate::streaming`]. Deviations: none known.

use super::Rows;
use crate::streaming::{Viewing, sustained_share};
use sojourn_base::report::DownloadSession;
use sojourn_record::{Records, TrafficId};

/// The rows of one traffic entry; none if nobody watched.
pub(super) fn video_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str) {
    let downloads = records.download_sessions().iter();
    let downloads = downloads.filter_map(|(traffic, video)| (*traffic == id).then_some(video));
    let judged: Vec<bool> = downloads
        .filter_map(DownloadSession::is_sustained)
        .collect();
    rows.add_some(name, "sustained_share", sustained_share(&judged), "%");
    let sessions: Vec<_> = records
        .streaming_sessions()
        .iter()
        .filter_map(|(traffic, session)| (*traffic == id).then_some(session))
        .collect();
    if sessions.is_empty() {
        return;
    }
    let viewing = Viewing::of(&sessions);
    for (metric, value, unit) in [
        ("predicted_mos", viewing.predicted_mos, ""),
        ("predicted_mos_min", viewing.predicted_mos_min, ""),
        ("underflow", viewing.underflow, "%"),
        ("underflow_max", viewing.underflow_max, "%"),
        ("stalls", Some(viewing.stalls as f64), ""),
        ("startup_time", viewing.startup, "s"),
        ("video_rate_mean", viewing.rate_mean, "Mb/s"),
        ("video_rate_sd", viewing.rate_sd, "Mb/s"),
        ("video_rate_fairness", viewing.rate_fairness, ""),
        ("switches_per_minute", viewing.switches, "1/min"),
        ("low_buffer", viewing.low_buffer, "%"),
    ] {
        rows.add_some(name, metric, value, unit);
    }
}
