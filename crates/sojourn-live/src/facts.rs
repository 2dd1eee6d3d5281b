//! What metrics need to know of a scenario beside its records.

use sojourn_apps::{BulkConfig, ConstantRateConfig, ProbeConfig};
use sojourn_base::Direction;
use sojourn_metrics::run::{Datagrams, RunFacts, Shared, Watched};
use sojourn_scenario::{PlacedLink, Scenario, Topology};

/// What the metrics need to know of `scenario`.
pub fn facts(scenario: &Scenario) -> RunFacts {
    let topology = scenario.topology();
    let links = topology.links.iter();
    let from = scenario.measured_from;
    let measured = scenario.duration.saturating_sub(from);
    RunFacts {
        duration: scenario.duration,
        from,
        allowance: links
            .map(|link| link.config.link.allowance(measured))
            .collect(),
        datagrams: topology
            .traffic
            .iter()
            .map(|placed| {
                let application = &placed.entry.application;
                let constant_rate = application.get::<ConstantRateConfig>();
                if constant_rate.is_some_and(|config| config.is_call) {
                    Datagrams::Call
                } else if application.get::<ProbeConfig>().is_some()
                    || application.datagrams().is_none()
                {
                    Datagrams::Messages
                } else {
                    Datagrams::Stream
                }
            })
            .collect(),
        lasted: topology
            .traffic
            .iter()
            .map(|placed| {
                let config = placed.entry.application.get::<BulkConfig>()?;
                let stop = config.stop?;
                let start = config.start.max(from);
                (start < stop && stop <= scenario.duration).then(|| stop.saturating_sub(start))
            })
            .collect(),
        probes: topology
            .traffic
            .iter()
            .map(|placed| {
                let config = placed.entry.application.get::<ProbeConfig>()?;
                Some(Watched {
                    from: config.loaded_from,
                    until: config.loaded_until.unwrap_or(scenario.duration),
                })
            })
            .collect(),
        // A browser tab has no service groups, see `sojourn_link::group::KNOWN`.
        shared: cfg!(not(target_family = "wasm"))
            .then(|| shared(scenario, &topology))
            .flatten(),
    }
}

/// The upstream channels that homes share, if some do.
fn shared(scenario: &Scenario, topology: &Topology<'_>) -> Option<Shared> {
    let upstream = |link: &&PlacedLink<'_>| link.is_modem && link.direction == Direction::Upstream;
    let modems = topology.links.iter().filter(upstream);
    let rates = modems.filter_map(|link| Some(link.config.modem()?.shaper.sustained));
    Some(Shared {
        fastest: rates.max()?,
        capacity: scenario.group.capacity(None),
    })
}
