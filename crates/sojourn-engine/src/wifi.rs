//! Wi-Fi channels of a scenario, as their parts are numbered.

use crate::network::Network;
use sojourn_base::Seed;
use sojourn_link::wifi::channel::PortSpec;
use sojourn_record::{LinkId, Recorder};
use sojourn_scenario::{Scenario, Topology};

/// Adds the channels whose stations traffic passes.
pub(crate) fn add_channels<R: Recorder>(
    scenario: &Scenario,
    topology: &Topology<'_>,
    links: &[LinkId],
    seed: Seed,
    network: &mut Network<R>,
) {
    for (number, channel) in scenario.wifi.iter().enumerate() {
        let (mut ports, mut members) = (Vec::new(), Vec::new());
        for (placed, link) in topology.links.iter().zip(links) {
            if let Some((_, station)) = placed.station.filter(|it| it.0 == number) {
                let queue = &placed.config.link.queue;
                ports.push(PortSpec { station, direction: placed.direction, queue });
                members.push(*link);
            }
        }
        if !members.is_empty() {
            network.add_wifi(&channel.name, &channel.spec(ports), &members, seed);
        }
    }
}
