//! Wi-Fi channels of a scenario, as their parts are numbered.

use crate::network::Network;
use sojourn_base::Seed;
use sojourn_link::wifi::channel::{ChannelSpec, DeviceSpec, PortSpec};
use sojourn_link::wifi::config::Neighbour;
use sojourn_record::{LinkId, Recorder};
use sojourn_scenario::{Scenario, Topology, WifiChannel, WifiDevice};

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
            network.add_wifi(&channel.name, &spec(channel, ports), &members, seed);
        }
    }
}

fn spec<'a>(channel: &'a WifiChannel, ports: Vec<PortSpec<'a>>) -> ChannelSpec<'a> {
    let radio = &channel.radio;
    let device = |device: &WifiDevice| DeviceSpec { config: device.config, queue: device.queue.clone() };
    let stations = channel.stations.iter().map(|it| (device(&it.device), it.rate.control(radio, it.snr)));
    let neighbours = channel.neighbours.iter();
    let neighbours =
        neighbours.map(|it| Neighbour { load: it.load, mode: it.rate.usual(radio), stations: it.stations });
    ChannelSpec {
        radio,
        access_point: device(&channel.access_point),
        stations: stations.collect(),
        neighbours: neighbours.collect(),
        hidden: channel.hidden_pairs().into_iter().flatten().collect(),
        ports,
    }
}
