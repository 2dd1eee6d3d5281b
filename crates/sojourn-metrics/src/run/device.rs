//! Delay of a queue by the latency histogram of a modem or CMTS, and the exact values of the same delays.
//!
//! Source: White 2019 §5.4 and Figure 14. Without a histogram, or a delay in it, there are no rows.

use super::Rows;
use sojourn_record::{DeviceDelays, Interpolation, LinkId, Records};

/// Quantiles: name of the estimate from bins, of the exact value, and which it is.
const QUANTILES: [(&str, &str, f64); 4] = [
    ("device_delay_p50", "device_delay_p50_exact", 0.5),
    ("device_delay_p95", "device_delay_p95_exact", 0.95),
    ("device_delay_p99", "device_delay_p99_exact", 0.99),
    ("device_delay_p999", "device_delay_p999_exact", 0.999),
];

/// The rows of one link: of its queues if it counted the delays of several.
pub(super) fn device_metrics(rows: &mut Rows, records: &Records, id: LinkId, subject: &str) {
    let several = records.device_delays(id).count() > 1;
    for (queue, delays) in records.device_delays(id) {
        if several {
            let subject = format!("{subject}/{}", queue.as_str());
            queue_metrics(rows, &subject, delays);
        } else {
            queue_metrics(rows, subject, delays);
        }
    }
}

fn queue_metrics(rows: &mut Rows, subject: &str, delays: &DeviceDelays) {
    let ms = |ns: f64| ns / 1e6;
    for (estimated, exact, p) in QUANTILES {
        let estimate = delays.bins.quantile_ns(p, Interpolation::Linear).map(ms);
        rows.add_some(subject, estimated, estimate);
        let value = delays.exact.quantile_ns(p).map(|ns| ms(ns as f64));
        rows.add_some(subject, exact, value);
    }
    if let Some((low, high)) = delays.bins.bracket(0.99) {
        rows.add(subject, "device_delay_p99_low", ms(low.as_ns() as f64));
        rows.add(subject, "device_delay_p99_high", ms(high.as_ns() as f64));
    }
    rows.add_some(subject, "device_delay_mean", delays.bins.mean_ns().map(ms));
    let longest = delays.bins.longest().as_ns() as f64;
    rows.add(subject, "device_delay_max", ms(longest));
}
