//! Metrics of a direction of a Wi-Fi station.
//!
//! Source: none; the definitions are the project's own. A share of nothing has no row.

use super::{Rows, RunFacts};
use sojourn_base::Span;
use sojourn_record::WifiCounters;

/// Adds the rows of a direction of a station.
pub(super) fn wifi_metrics(rows: &mut Rows, facts: &RunFacts, subject: &str, counters: &WifiCounters) {
    let share = |part: f64, whole: u64| (whole > 0).then(|| 100.0 * part / whole as f64);
    let airtime = counters.airtime.as_secs_f64() / facts.measured().as_secs_f64();
    rows.add(subject, "wifi_airtime", 100.0 * airtime);
    rows.add_some(subject, "wifi_collided", share(counters.collided as f64, counters.exchanges));
    rows.add_some(subject, "wifi_failed", share(counters.failed as f64, counters.frames));
    let answered = counters.exchanges.saturating_sub(counters.collided + counters.unanswered);
    let aggregate = (answered > 0).then(|| counters.frames as f64 / answered as f64);
    rows.add_some(subject, "wifi_aggregate", aggregate);
    rows.add(subject, "wifi_given_up", counters.given_up as f64);
    let mean = |sum: Span| (counters.packets > 0).then(|| sum.as_secs_f64() * 1e3 / counters.packets as f64);
    for (metric, sum) in [
        ("wifi_queue", counters.queue),
        ("wifi_firmware", counters.firmware),
        ("wifi_contention", counters.contention),
        ("wifi_retries", counters.retries),
        ("wifi_aggregation", counters.aggregation),
        ("wifi_reordering", counters.reordering),
        ("wifi_air", counters.air),
    ] {
        rows.add_some(subject, metric, mean(sum));
    }
}
