//! The numbers of a probe: working latency of its round trips, or round trips per minute.
//!
//! Source: as of [`crate::responsiveness`]. Deviations: none known.

use super::{Rows, Watched};
use crate::quantile;
use crate::responsiveness::{Responsiveness, WorkingLatency};
use sojourn_record::{Records, TrafficId};

/// Lanes of a probe's samples: round trips of datagrams or handshakes, questions over new connections, and over a kept
/// one.
const LANES: u32 = 3;

pub(super) fn probe_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str, watched: Watched) {
    let mut samples: [Vec<(u64, u64)>; LANES as usize] = Default::default();
    for (_, sample) in records.transfers().iter().filter(|(whose, _)| *whose == id) {
        if let (Some(ended_at), 0..LANES) = (sample.ended_at, sample.lane) {
            let took = ended_at.saturating_since(sample.started_at).as_ns();
            samples[sample.lane as usize].push((sample.started_at.as_ns(), took));
        }
    }
    let [round_trips, foreign, own] = &samples;
    let (from, until) = (watched.from.as_ns(), watched.until.as_ns());
    let latency = WorkingLatency::of(round_trips, from, until);
    let all: Vec<f64> = round_trips.iter().map(|(_, took)| *took as f64 / 1e6).collect();
    for (metric, value) in [
        ("rtt_mean", quantile::mean(&all)),
        ("rtt_idle", latency.idle),
        ("rtt_loaded_mean", latency.loaded_mean),
        ("rtt_loaded_p95", latency.loaded_p95),
        ("rtt_induced", latency.induced()),
        ("rtt_ratio", latency.ratio()),
    ] {
        rows.add_some(name, metric, value);
    }
    if let Some(found) = Responsiveness::at_end([round_trips, foreign, own], until) {
        rows.add(name, "rpm", found.combined());
        rows.add(name, "rpm_foreign", found.foreign);
        rows.add(name, "rpm_loaded", found.loaded);
    }
}
