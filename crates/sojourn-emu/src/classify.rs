//! Classification: the scenario's entries match their real packets, and three entries take the rest.
//!
//! The first entry that matches wins. Other packets belong to `tcp`, `udp` or `other`.

use crate::headers::{ICMP, ICMP_V6, Packet, TCP, Transport, UDP};
use sojourn_base::TrafficId;
use sojourn_scenario::{MatchConfig, MatchedProtocol};

/// The entries for what no other one matches.
pub const REST: [&str; 3] = ["tcp", "udp", "other"];

/// An entry, and which packets are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: the subject of its records.
    pub name: String,
    /// Which packets are its own.
    pub rule: Rule,
    /// Numbers of the Wi-Fi channel and of the station on it that its packets pass.
    pub via: Option<(usize, usize)>,
}

/// Fields that a packet of either direction must have; `None` and `Any` match every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its protocol.
    pub protocol: MatchedProtocol,
    /// One of its ports.
    pub port: Option<u16>,
    /// Its DSCP.
    pub dscp: Option<u8>,
    /// Number of the far address, from 0, that it goes to or comes from.
    pub far: Option<usize>,
}

impl Rule {
    /// Any packet.
    pub const ANY: Self = Self { protocol: MatchedProtocol::Any, port: None, dscp: None, far: None };

    /// As a file says it.
    pub fn of(said: &MatchConfig) -> Self {
        Self {
            protocol: said.protocol,
            port: said.port,
            dscp: said.dscp,
            far: said.far.map(|number| number as usize - 1),
        }
    }

    fn matches(&self, packet: &Packet, far: usize) -> bool {
        let flow = &packet.flow;
        let protocol = flow.protocol;
        let is_wanted = match self.protocol {
            MatchedProtocol::Any => true,
            MatchedProtocol::Tcp => protocol == TCP,
            MatchedProtocol::Udp => protocol == UDP,
            MatchedProtocol::Icmp => [ICMP, ICMP_V6].contains(&protocol),
        };
        is_wanted
            && self.port.is_none_or(|wanted| wanted == flow.source_port || wanted == flow.destination_port)
            && self.dscp.is_none_or(|wanted| wanted == packet.dscp)
            && self.far.is_none_or(|wanted| wanted == far)
    }
}

/// All entries.
#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    entries: Vec<Entry>,
}

impl Classifier {
    pub(crate) fn new(entries: &[Entry]) -> Self {
        Self { entries: entries.to_vec() }
    }

    /// Names of all entries, those for the rest last.
    pub(crate) fn names(&self) -> Vec<String> {
        let own = self.entries.iter().map(|entry| entry.name.clone());
        own.chain(REST.map(str::to_owned)).collect()
    }

    /// Returns the traffic entry of a packet to or from this far address; `None` is a packet that is not IP.
    pub(crate) fn traffic_of(&self, packet: Option<&Packet>, far: usize) -> TrafficId {
        let own = packet.and_then(|packet| {
            let entries = &mut self.entries.iter();
            entries.position(|entry| entry.rule.matches(packet, far))
        });
        let rest = || {
            let place = match packet.map(|packet| packet.transport) {
                Some(Transport::Tcp(_)) => 0,
                Some(Transport::Udp) => 1,
                Some(Transport::Icmp | Transport::Other) | None => 2,
            };
            self.entries.len() + place
        };
        let number = own.unwrap_or_else(rest);
        TrafficId(u16::try_from(number).expect("the scenario limits the traffic list"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Address, Ecn, FlowKey};

    fn packet(protocol: u8, ports: (u16, u16), dscp: u8) -> Packet {
        Packet {
            length: 100,
            flow: FlowKey {
                source: Address::V4(1),
                destination: Address::V4(2),
                protocol,
                source_port: ports.0,
                destination_port: ports.1,
            },
            dscp,
            ecn: Ecn::NotEct,
            transport_at: 20,
            transport: if protocol == 17 { Transport::Udp } else { Transport::Other },
        }
    }

    #[test]
    fn the_first_entry_that_matches_has_the_packet_in_both_directions() {
        let entry = |name: &str, rule| Entry { name: name.to_owned(), rule, via: None };
        let quic = Rule { protocol: MatchedProtocol::Udp, port: Some(443), ..Rule::ANY };
        let marked = Rule { dscp: Some(46), ..Rule::ANY };
        let second = Rule { far: Some(1), ..Rule::ANY };
        let entries = [entry("quic", quic), entry("voice", marked), entry("second", second)];
        let classifier = Classifier::new(&entries);
        assert_eq!(classifier.names(), ["quic", "voice", "second", "tcp", "udp", "other"]);
        let number = |packet: &Packet, far| classifier.traffic_of(Some(packet), far).0;
        assert_eq!(number(&packet(17, (443, 5), 46), 0), 0);
        assert_eq!(number(&packet(17, (5, 443), 0), 1), 0);
        assert_eq!(number(&packet(17, (5, 6), 46), 1), 1);
        assert_eq!(number(&packet(17, (5, 6), 0), 1), 2);
        assert_eq!(number(&packet(17, (5, 6), 0), 0), 4);
        assert_eq!(number(&packet(50, (0, 0), 0), 0), 5);
        assert_eq!(classifier.traffic_of(None, 0).0, 5);
    }
}
