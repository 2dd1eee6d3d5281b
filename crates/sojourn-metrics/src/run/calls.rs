//! Calls as a listener with an adaptive playout hears them, and what a stream that fills a line tells of its buffer.
//!
//! Source: White 2012 3.2.2 for the rating, with the delay that a deeper buffer than its own adds; White 2013 1.4 for the buffer: the latency that a
//! load adds, times the speed; Table 1 for a speed that is too high to be seen. Deviations: a played call counts from its begin, also if the run is measured later.

use super::Rows;
use crate::quantile;
use crate::voice::{LISTENER_DELAY, mean_opinion_score, rating};
use sojourn_base::Span;
use sojourn_record::{Records, TrafficId};

/// The rows of the calls of a traffic entry; none if no listener adapts.
pub(super) fn played_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str) {
    let calls = records.played_calls().iter();
    let calls = calls.filter_map(|(traffic, call)| (*traffic == id).then_some(call));
    let calls: Vec<_> = calls.filter(|call| call.sent > 0).collect();
    let mean = |values: Vec<f64>| quantile::mean(&values);
    let late = |call: &&sojourn_base::report::PlayedCall| 100.0 * f64::from(call.late) / f64::from(call.sent);
    rows.add_some(name, "late_adaptive", mean(calls.iter().map(late).collect()));
    let playout = calls.iter().filter_map(|call| call.playout);
    let playout = playout.map(Span::as_ms_f64).collect();
    rows.add_some(name, "playout_delay", mean(playout));
    let score = |call: &&sojourn_base::report::PlayedCall| {
        let played = f64::from(call.arrived - call.late);
        let delay = call.counted.unwrap_or_default() + LISTENER_DELAY;
        mean_opinion_score(rating(delay.as_ms_f64(), 1.0 - played / f64::from(call.sent)))
    };
    rows.add_some(name, "mos_adaptive", mean(calls.iter().map(score).collect()));
}

/// Adds the rows of a stream of datagrams that lasted for `lasted`; none for connections. Packets that wait at its end
/// still leave at the line's rate, so the line was busy for the delay longer. If no packet waits for its own
/// transmission time, the line is faster than the stream, which then measures neither its speed nor its buffer.
pub(super) fn buffer_metrics(rows: &mut Rows, records: &Records, id: TrafficId, name: &str, lasted: Span) {
    let Some((_, direction, tally)) = records.datagram_tallies(id).next() else {
        return;
    };
    let delays = tally.delays();
    let Some((least, median)) = delays.min_ns().zip(delays.quantile_ns(0.5)) else {
        return;
    };
    let added = Span::from_ns(median.saturating_sub(least));
    let busy = (lasted + added).as_secs_f64();
    let bytes = records.counters(id)[direction].forwarded_bytes as f64;
    let speed = bytes / busy;
    let packet = bytes / delays.packets().max(1) as f64;
    if speed * added.as_secs_f64() < packet && tally.lost() == 0 {
        // The time from the first to the last packet is one packet short.
        rows.add(name, "speed_above", 8.0 * (bytes - packet) / lasted.as_secs_f64() / 1e6);
        return;
    }
    rows.add(name, "speed_estimate", 8.0 * speed / 1e6);
    rows.add(name, "buffer_delay_estimate", added.as_ms_f64());
    let bytes = speed * added.as_secs_f64();
    rows.add(name, "buffer_estimate", bytes / 1e3);
}
