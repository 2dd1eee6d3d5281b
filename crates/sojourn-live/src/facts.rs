//! Facts of a scenario that metrics need beside its records.

use sojourn_apps::{
    AdaptiveVideoConfig, ApplicationConfig, BulkConfig, CloudGameConfig, ConstantRateConfig, ProbeConfig, Session,
};
use sojourn_base::native::IN_TAB;
use sojourn_base::{Direction, Span};
use sojourn_metrics::run::{CloudGame, Datagrams, RunFacts, Shared, Watched};
use sojourn_scenario::{PlacedLink, Scenario, Topology};

/// Returns the facts of `scenario` that metrics need.
pub fn facts(scenario: &Scenario) -> RunFacts {
    let topology = scenario.topology();
    let links = topology.links.iter();
    let from = scenario.measured_from;
    let measured = scenario.duration.saturating_sub(from);
    RunFacts {
        duration: scenario.duration,
        from,
        allowance: links.map(|link| link.config.link.allowance(measured)).collect(),
        datagrams: topology
            .traffic
            .iter()
            .map(|placed| {
                let application = &placed.entry.application;
                if let Some(config) = application.get::<ConstantRateConfig>() {
                    if config.is_call { Datagrams::Call } else { Datagrams::Paced }
                } else if application.get::<ProbeConfig>().is_some() || application.datagrams().is_none() {
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
                let application = &placed.entry.application;
                let (start, stop) = match application.get::<BulkConfig>() {
                    Some(config) => (config.start, config.stop?),
                    None => {
                        application.get::<ConstantRateConfig>().and_then(|config| Some((config.start, config.stop?)))?
                    }
                };
                let start = start.max(from);
                (start < stop && stop <= scenario.duration).then(|| stop.saturating_sub(start))
            })
            .collect(),
        probes: topology
            .traffic
            .iter()
            .map(|placed| {
                let config = placed.entry.application.get::<ProbeConfig>()?;
                Some(Watched { from: config.loaded_from, until: config.loaded_until.unwrap_or(scenario.duration) })
            })
            .collect(),
        // A browser tab has no service groups, see `sojourn_link::group::KNOWN`.
        shared: (!IN_TAB).then(|| shared(scenario, &topology)).flatten(),
        games: topology
            .traffic
            .iter()
            .map(|placed| {
                let (frames_per_second, deadline) = game_pace(&placed.entry.application)?;
                let server = placed.entry.servers.first()?;
                let line = topology.propagation(placed);
                Some(CloudGame { beyond: server.rtt.saturating_sub(line), frames_per_second, deadline })
            })
            .collect(),
    }
}

/// The upstream channels that homes share, if some do.
fn shared(scenario: &Scenario, topology: &Topology<'_>) -> Option<Shared> {
    let upstream = |link: &&PlacedLink<'_>| link.is_modem && link.direction == Direction::Upstream;
    let modems = topology.links.iter().filter(upstream);
    let rates = modems.filter_map(|link| Some(link.config.modem()?.shaper.sustained));
    Some(Shared { fastest: rates.max()?, capacity: scenario.group.capacity(None) })
}

/// Pictures in a second of a cloud game, and their deadline. No lesson shows its score, and the engine of browsers is small.
fn game_pace(application: &ApplicationConfig) -> Option<(u32, Span)> {
    if IN_TAB {
        return None;
    }
    if let Some(config) = application.get::<CloudGameConfig>() {
        return Some((config.video.frames_per_second, config.video.deadline));
    }
    let config = application.get::<AdaptiveVideoConfig>()?;
    (config.session == Session::Game).then_some((config.frames_per_second, config.deadline))
}
