//! Addresses and ports of simulated flows: flow queueing hashes the same fields as in a modem.
//!
//! A lone subscriber is 192.168.0.2, the one in home `h` of several 10.h.h.2; server `s` of traffic entry `t` is 203.0.t.s; a client's ports count
//! up from 49152 (start of the dynamic range, RFC 6335), a server listens on 443 for connections, and a
//! datagram flow runs from port 5000 + t to 6000 + s. chosen: any plan with one 5-tuple per flow would do.
//! Each run has a perturbation of its own (RFC 8290 5.3), so that which flows share a sub-flow is drawn
//! anew with each seed.

use sojourn_apps::End;
use sojourn_base::Direction;
use sojourn_base::Seed;
use sojourn_base::flow_hash::{Address, FlowHash, FlowKey};
use sojourn_queue::FlowFields;
use sojourn_scenario::Scenario;

/// Address of a subscriber: of home `home`, or of the only one.
pub(crate) fn client_address(home: Option<usize>) -> u32 {
    match home {
        None => u32::from_be_bytes([192, 168, 0, 2]),
        Some(home) => {
            let home = u16::try_from(home).expect("the scenario limits homes");
            let [high, low] = home.to_be_bytes();
            u32::from_be_bytes([10, high, low, 2])
        }
    }
}

/// Addresses and ports of all flows of a scenario: by traffic entry, server, and the client's port of a connection, counted from
/// 0; without one, of datagrams. Seen from the client.
pub fn flow_keys(scenario: &Scenario) -> impl Fn(u16, u32, Option<u32>) -> FlowKey + Send + use<> {
    let topology = scenario.topology();
    let clients: Vec<u32> = topology.traffic.iter().map(|placed| client_address(placed.home)).collect();
    move |traffic, server, port| {
        let client = clients.get(usize::from(traffic)).copied().unwrap_or(0);
        let server = usize::try_from(server).unwrap_or(usize::MAX);
        flow_key((client, traffic), server, port)
    }
}

/// The same as a link sees it in a direction: of what goes through a tunnel, the tunnel.
pub(crate) fn seen_keys(scenario: &Scenario) -> impl Fn(u16, u32, Option<u32>, Direction) -> FlowKey + Send + use<> {
    let keys = flow_keys(scenario);
    let topology = scenario.topology();
    let tunnels: Vec<Option<FlowKey>> = topology
        .traffic
        .iter()
        .map(|placed| {
            let tunnel = placed.entry.tunnel.as_deref()?;
            Some(tunnel_key(client_address(placed.home), tunnel))
        })
        .collect();
    move |traffic, server, port, direction| {
        let tunnel = tunnels.get(usize::from(traffic)).copied().flatten();
        let key = tunnel.unwrap_or_else(|| keys(traffic, server, port));
        match direction {
            Direction::Upstream => key,
            Direction::Downstream => key.reversed(),
        }
    }
}

/// 32-bit hash of what `end` sends through the subscriber's tunnel of this name: the tunnel's outer header.
pub(crate) fn tunnel_hash(client: u32, name: &str, end: End, perturbation: u32) -> u32 {
    let from_client = tunnel_key(client, name);
    let key = match end {
        End::Client => from_client,
        End::Server => from_client.reversed(),
    };
    FlowHash::Murmur3.hash(&key, perturbation)
}

/// The outer header of what the client sends through the tunnel of this name.
fn tunnel_key(client: u32, name: &str) -> FlowKey {
    // A peer of its own for each name; WireGuard's port at both ends.
    const PORT: u16 = 51_820;
    let [.., a, b, c, d] = Seed(0).stream(&format!("tunnel/{name}")).bits().to_be_bytes();
    FlowKey {
        source: Address::V4(client),
        destination: Address::V4(u32::from_be_bytes([a, b, c, d])),
        protocol: 17,
        source_port: PORT,
        destination_port: PORT,
    }
}

/// 32-bit hash of the flow that `end` sends: over a connection with the client's `port`, or the
/// datagrams between the client and one server; of those fields that the queues on its way tell flows apart by.
pub(crate) fn flow_hash(
    (client, traffic): (u32, u16),
    server: usize,
    port: u32,
    end: End,
    is_connection: bool,
    (fields, perturbation): (FlowFields, u32),
) -> u32 {
    let from_client = flow_key((client, traffic), server, is_connection.then_some(port));
    let key = match end {
        End::Client => from_client,
        End::Server => from_client.reversed(),
    };
    FlowHash::Murmur3.hash(&fields.of(key), perturbation)
}

/// Addresses and ports of what the client sends to a server: over a connection with its port of this number, or as
/// datagrams.
pub(crate) fn flow_key((client, traffic): (u32, u16), server: usize, port: Option<u32>) -> FlowKey {
    let [t_high, t_low] = traffic.to_be_bytes();
    let server = u16::try_from(server).expect("servers are numbered in 16 bits");
    let (client_port, server_port) = match port {
        // Ports wrap after 16384 connections to one server, long after the first one's end.
        Some(port) => (49_152 + u16::try_from(port % 16_384).expect("less than 2^14"), 443),
        None => (5_000 + traffic, 6_000 + server),
    };
    FlowKey {
        source: Address::V4(client),
        destination: Address::V4(u32::from_be_bytes([203, t_high, t_low, server.to_be_bytes()[1]])),
        protocol: if port.is_some() { 6 } else { 17 },
        source_port: client_port,
        destination_port: server_port,
    }
}
