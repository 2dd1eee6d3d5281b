//! How much memory a run needs: what is known before it begins, and what it has taken so far.
//!
//! Units and ranges: bytes. Source: sizes of what is kept. Deviations: what grows with what happens (packets of a
//! queue without limit, rows of transfers) is not foreseen; the run is measured while it goes on.

use sojourn_apps::{ApplicationConfig, Distribution};
use sojourn_record::{Datagram, HISTOGRAM_BYTES, LINK_BIN_BYTES, TRAFFIC_BIN_BYTES};
use sojourn_scenario::Scenario;

use crate::connections::Connection;

/// Records exist twice for a moment: as they were counted, and as columns of tables.
const COUNTED_AND_TABLE: u64 = 2;

/// One thing that a run keeps, and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is, in words.
    pub what: &'static str,
    /// Bytes.
    pub bytes: u64,
    /// What would be less.
    pub hint: &'static str,
}

/// What a run of `scenario` is known to need before it begins; the largest first.
pub fn needs(scenario: &Scenario) -> Vec<Need> {
    let record = scenario.record;
    let topology = scenario.topology();
    let duration = scenario.duration.as_ps();
    let bins = record
        .series
        .filter(|width| !width.is_zero())
        .map_or(0, |width| duration.div_ceil(width.as_ps()));
    let pairs: usize = topology
        .traffic
        .iter()
        .map(|placed| placed.path.upstream.len() + placed.path.downstream.len())
        .sum();
    let series = (topology.links.len() as u64)
        .saturating_mul(LINK_BIN_BYTES)
        .saturating_add((pairs as u64).saturating_mul(TRAFFIC_BIN_BYTES))
        .saturating_mul(bins)
        .saturating_mul(COUNTED_AND_TABLE);
    let (mut rows, mut tallies, mut connections) = (0_u64, 0_u64, 0_u64);
    for placed in &topology.traffic {
        let application = &placed.entry.application;
        let flows = application.flows();
        if application.datagrams().is_none() {
            connections = connections.saturating_add(flows);
            continue;
        }
        tallies = tallies.saturating_add(flows);
        if let ApplicationConfig::ConstantRate(config) = application
            && record.datagrams
            && let Distribution::Constant(interval) = &config.stream.interval
        {
            let sending = duration.saturating_sub(config.start.as_ps());
            let each = sending / interval.as_ps().max(1);
            rows = rows.saturating_add(each.saturating_mul(flows));
        }
    }
    let row = size_of::<Datagram>() as u64 * COUNTED_AND_TABLE;
    let mut needs = vec![
        Need {
            what: "time series",
            bytes: series,
            hint: "record.series: wider bins, or \"off\"",
        },
        Need {
            what: "a row per datagram",
            bytes: rows.saturating_mul(row),
            hint: "record.datagrams = false: metrics need no rows",
        },
        Need {
            what: "delays of each stream of datagrams",
            bytes: tallies.saturating_mul(HISTOGRAM_BYTES),
            hint: "fewer lanes",
        },
        Need {
            what: "connections",
            bytes: connections.saturating_mul(size_of::<Connection>() as u64),
            hint: "fewer lanes, users or connections",
        },
    ];
    needs.sort_by_key(|need| core::cmp::Reverse(need.bytes));
    needs
}
