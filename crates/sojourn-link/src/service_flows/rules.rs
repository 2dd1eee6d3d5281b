//! Which packet matches which rule.
//!
//! Source: DOCS-IETF-QOS-MIB, `docsIetfQosPktClassTable` (RFC 4323): a rule matches if all that it says does; of those that
//! match the one with the highest priority counts.
//! Deviations: among equal priorities the first rule counts, where the MIB leaves it open.

use super::config::{FlowsConfig, LOW_LATENCY, PacketMatch, Protocol};
use super::placed::decided;
use crate::LinkContext;
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{FlowKey, Meta, PacketHandle, ServiceQueue};

/// Target of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Number of the service flow.
    pub(crate) flow: usize,
    /// Which of its two queues; `None` leaves that to its manager.
    pub(crate) queue: Option<ServiceQueue>,
}

/// The rules of a link, in the order in which they are tried.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    classifiers: Vec<(PacketMatch, Target)>,
    markings: Vec<(PacketMatch, u8)>,
}

impl Rules {
    /// # Panics
    /// If a classifier names no service flow.
    pub(crate) fn new(config: &FlowsConfig) -> Self {
        let mut classifiers: Vec<(PacketMatch, Target)> = config
            .classifiers
            .iter()
            .map(|rule| {
                let (flow, queue) = config.target(&rule.to).expect("problems names what is unknown");
                let queue = queue.map(|word| match word {
                    LOW_LATENCY => ServiceQueue::LowLatency,
                    _ => ServiceQueue::Classic,
                });
                (rule.packets.clone(), Target { flow, queue })
            })
            .collect();
        classifiers.sort_by_key(|(packets, _)| Reverse(packets.priority));
        let mut markings: Vec<(PacketMatch, u8)> =
            config.markings.iter().map(|rule| (rule.packets.clone(), rule.set_dscp)).collect();
        markings.sort_by_key(|(packets, _)| Reverse(packets.priority));
        Self { classifiers, markings }
    }

    /// Marks and sorts an arrival: returns the number of its service flow. Of one for which `is_pair`, its manager obeys the
    /// [`Meta::queue`].
    pub(crate) fn sort(
        &self,
        meta: &mut Meta,
        item: PacketHandle,
        is_pair: impl Fn(usize) -> bool,
        context: &mut (impl LinkContext + ?Sized),
    ) -> usize {
        let key = context.flow(item);
        if let Some(dscp) = self.marking(key.as_ref(), meta) {
            meta.dscp = dscp;
            context.remark(item, dscp);
        }
        let target = self.target(key.as_ref(), meta);
        if is_pair(target.flow) {
            meta.queue = decided(target.queue);
        }
        target.flow
    }

    /// The code point that a packet gets, if a marking matches.
    fn marking(&self, key: Option<&FlowKey>, meta: &Meta) -> Option<u8> {
        let rule = self.markings.iter().find(|(packets, _)| packets.matches(key, meta))?;
        Some(rule.1)
    }

    /// Returns the target of a packet; without a match the first service flow, with its manager's choice of queue.
    fn target(&self, key: Option<&FlowKey>, meta: &Meta) -> Target {
        let rule = self.classifiers.iter().find(|(packets, _)| packets.matches(key, meta));
        let first = Target { flow: 0, queue: None };
        rule.map_or(first, |(_, target)| *target)
    }
}

impl PacketMatch {
    /// Returns true if a packet matches the rule; `key` is `None` if addresses and ports are unknown.
    pub(crate) fn matches(&self, key: Option<&FlowKey>, meta: &Meta) -> bool {
        self.matches_marks(meta) && self.matches_flow(key)
    }

    fn matches_marks(&self, meta: &Meta) -> bool {
        let tos = meta.dscp << 2 | meta.ecn.bits();
        (self.dscp.is_empty() || self.dscp.contains(&meta.dscp))
            && (self.ecn.is_empty() || self.ecn.contains(&meta.ecn))
            && match self.tos[..] {
                [low, high, mask] => (low..=high).contains(&(tos & mask)),
                _ => true,
            }
    }

    fn matches_flow(&self, key: Option<&FlowKey>) -> bool {
        let wants_nothing = self.protocol == Protocol::Any
            && self.source.is_none()
            && self.destination.is_none()
            && self.source_port.is_empty()
            && self.destination_port.is_empty();
        let Some(key) = key.filter(|_| !wants_nothing) else {
            return wants_nothing;
        };
        let in_range = |ports: &[u16], port: u16| match *ports {
            [only] => port == only,
            [first, last] => (first..=last).contains(&port),
            _ => true,
        };
        self.protocol.is(key.protocol)
            && self.source.is_none_or(|prefix| prefix.contains(key.source))
            && self.destination.is_none_or(|prefix| prefix.contains(key.destination))
            && in_range(&self.source_port, key.source_port)
            && in_range(&self.destination_port, key.destination_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service_flows::config::Prefix;
    use sojourn_base::{Address, Ecn};
    use sojourn_keys::{Content, Value, key};
    use std::string::ToString;
    use std::vec;

    const KEY: FlowKey = FlowKey {
        source: Address::V4(0xc0a8_0002),
        destination: Address::V4(0xcb00_7107),
        protocol: 17,
        source_port: 5_000,
        destination_port: 6_000,
    };

    fn prefix(text: &str) -> Option<Prefix> {
        let mut prefix = Prefix::default();
        let content = Content::Text(text.to_string());
        prefix.read(&content, &key("source", "", "")).ok()?;
        Some(prefix)
    }

    type Change = fn(&mut PacketMatch);

    #[test]
    fn a_packet_matches_if_all_that_is_said_does() {
        let meta = Meta { dscp: 45, ecn: Ecn::Ect1, ..Meta::default() };
        assert!(PacketMatch::BASE.matches(Some(&KEY), &meta));
        assert!(PacketMatch::BASE.matches(None, &meta), "nothing is asked of the flow");
        let rows: [(Change, bool); 20] = [
            (|it| it.protocol = Protocol::Udp, true),
            (|it| it.protocol = Protocol::TcpOrUdp, true),
            (|it| it.protocol = Protocol::Tcp, false),
            (|it| it.protocol = Protocol::Icmp, false),
            (|it| it.source = prefix("192.168.0.0/16"), true),
            (|it| it.source = prefix("192.168.0.0/31"), false),
            (|it| it.source = prefix("0.0.0.0/0"), true),
            (|it| it.destination = prefix("203.0.113.7"), true),
            (|it| it.destination = prefix("2001:db8::/32"), false),
            (|it| it.source_port = vec![5_000], true),
            (|it| it.destination_port = vec![6_001, 6_010], false),
            (|it| it.destination_port = vec![5_990, 6_000], true),
            (|it| it.dscp = vec![42, 45], true),
            (|it| it.dscp = vec![42], false),
            (|it| it.ecn = vec![Ecn::Ce, Ecn::Ect1], true),
            (|it| it.ecn = vec![Ecn::Ect0], false),
            // ECT(1) and CE; the code points 45 and 42.
            (|it| it.tos = vec![1, 1, 1], true),
            (|it| it.tos = vec![0xb4, 0xb4, 0xfc], true),
            (|it| it.tos = vec![0xa8, 0xa8, 0xfc], false),
            (|it| (it.protocol, it.dscp) = (Protocol::Udp, vec![0]), false),
        ];
        for (number, (change, is_match)) in rows.into_iter().enumerate() {
            let mut wanted = PacketMatch::BASE;
            change(&mut wanted);
            assert_eq!(wanted.matches(Some(&KEY), &meta), is_match, "{number}");
            let asks = number < 12;
            assert_eq!(wanted.matches(None, &meta), !asks && is_match, "{number}");
        }
    }

    #[test]
    fn beginnings_of_addresses_are_read_and_printed() {
        for (text, print) in [
            ("203.0.113.0/24", "\"203.0.113.0/24\""),
            ("203.0.113.7", "\"203.0.113.7/32\""),
            ("2001:db8::/32", "\"2001:db8::/32\""),
        ] {
            assert_eq!(prefix(text).map(|prefix| prefix.print()), Some(print.to_string()));
        }
        for wrong in ["", "203.0.113", "203.0.113.0/33", "2001:db8::/129", "a/b"] {
            assert_eq!(prefix(wrong), None, "{wrong}");
        }
    }
}
