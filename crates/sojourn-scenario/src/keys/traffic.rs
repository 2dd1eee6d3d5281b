//! Traffic entries.
//!
//! Source: White 2012 §2.3 and §3: servers at fixed round-trip times behind the access link. Deviations: none known.

use sojourn_base::{BitRate, Ecn, Span};
use sojourn_keys::{Items, ItemsOf, Key, Parameter as _, Visitor, origin, parameters};

use crate::emulate::MatchConfig;
use crate::keys::application::ApplicationDraft;
use crate::keys::stack::StackDraft;
use crate::keys::{application, stack};
use crate::model::{Ports, Server, Traffic};
use crate::topology::USUAL_PATH;

/// Most traffic entries of a scenario. chosen: above any household or node that a person describes.
pub(crate) const MOST_TRAFFIC: &str = "10000";

parameters! {
    /// A traffic entry as a file spells it: servers are lists of round-trip times.
    pub(crate) struct TrafficDraft by blank {
        /// name; unique
        name: String = String::new(), origin("no default").required("\"call\"");
        /// the application; an entry with `match` may do without, and is then for emulations only
        application as "app": ApplicationDraft = application::blank(),
            origin("no default").conditional() => application::show;
        /// the implementation of TCP, for applications that open connections
        stack: StackDraft = StackDraft::blank(),
            origin("no default").conditional(), if |it| application::needs_stack(&it.application) => stack::show;
        /// the Wi-Fi station at the subscriber's end, as "wifi.home.laptop"; its packets pass its channel first
        via: Option<String> = None, origin("chosen: a wire").or("none"), if |it| it.via.is_some();
        /// links that its packets pass upstream, in order; downstream the other way round
        path: Option<Vec<String>> = None, origin("that of the subscriber"), if |it| it.path.is_some() => path;
        /// fixed round-trip time to the server, or a list with one for each server; includes the propagation of its links both ways, not their queues and their MAC
        // One for all servers, or one for each; empty for the shortest that the access link allows.
        // Chosen bound: forty geostationary round trips.
        round_trips as "rtt": Vec<Span> = Vec::new(),
            origin("White 2012 §2.3: the shortest that the access link allows").one_or_many().most("20 s"),
            if |it| !it.application.is_absent;
        /// rate of the line between access network and server, or a list with one for each
        line_rates as "line_rate": Vec<BitRate> = vec![Server::LINE_RATE],
            origin("assumed: gigabit lines (White 2012 §2.3)").one_or_many().least("1 b/s").most("1 Tb/s");
        /// differentiated-services code point of its packets
        dscp: u8 = 0, origin("RFC 2474: default").most("63");
        /// ECN field of its datagrams; connections follow their stack
        ecn: Ecn = Ecn::NotEct, origin("RFC 3168: not capable");
        /// client port of a new connection; flow queueing hashes it
        ports: Ports = Ports::Fresh, origin("RFC 6056: fresh");
        /// name of the host at the subscriber's end that it runs on; managers that share by host tell them apart
        host: Option<String> = None, origin("chosen: one host").or("one"), if |it| it.host.is_some();
        /// name of the tunnel that its packets take: flow queueing sees all packets of a tunnel as one flow
        tunnel: Option<String> = None, origin("chosen: none").or("none"), if |it| it.tunnel.is_some();
        /// whether it is paused, until a change resumes it: no packet is sent and no transfer begun that waits for a timer; transfers under way go on
        paused: bool = false, origin("chosen: it runs"), if |it| it.paused;
        /// the first sentence of an answer has it as its subject; simulations ignore it
        about: bool = false, origin("chosen: none is"), if |it| it.about;
        /// which real packets are its own in an emulation; simulations do not look at it
        matching as "match": MatchConfig = MatchConfig::BASE, origin("chosen: none"), if |it| it.matching != MatchConfig::BASE;
    }
}

/// Shows a list of traffic entries, unless something else stands in its place.
pub(crate) fn show(key: Key, traffic: &mut Vec<TrafficDraft>, visitor: &mut dyn Visitor) {
    let others = ["home", "load"].iter().any(|name| visitor.has(name));
    if !others || !traffic.is_empty() || visitor.has("traffic") {
        let list: &mut dyn Items = &mut ItemsOf { items: traffic, base: TrafficDraft::blank, keys: TrafficDraft::keys };
        visitor.items(key, list);
    }
}

impl TrafficDraft {
    pub(crate) fn of(traffic: &Traffic) -> Self {
        Self {
            name: traffic.name.clone(),
            application: ApplicationDraft {
                is_absent: traffic.servers.is_empty(),
                application: traffic.application.clone(),
            },
            stack: StackDraft {
                is_said: traffic.stack.is_some(),
                stack: traffic.stack.clone().unwrap_or_else(stack::blank),
            },
            via: traffic.via.clone(),
            path: traffic.path.clone(),
            round_trips: one_if_equal(traffic.servers.iter().map(|server| server.rtt)),
            line_rates: if traffic.servers.is_empty() {
                vec![Server::LINE_RATE]
            } else {
                one_if_equal(traffic.servers.iter().map(|server| server.line_rate))
            },
            dscp: traffic.dscp,
            ecn: traffic.ecn,
            ports: traffic.ports,
            host: traffic.host.clone(),
            tunnel: traffic.tunnel.clone(),
            paused: traffic.paused,
            about: traffic.about,
            matching: traffic.matching.unwrap_or(MatchConfig::BASE),
        }
    }

    pub(crate) fn into_traffic(self, nearest: Span) -> Traffic {
        let count = if self.application.is_absent { 0 } else { self.application.servers() };
        let servers = (0..count)
            .map(|index| Server {
                rtt: *nth(&self.round_trips, index).unwrap_or(&nearest),
                line_rate: *nth(&self.line_rates, index).unwrap_or(&Server::LINE_RATE),
            })
            .collect();
        Traffic {
            stack: application::needs_stack(&self.application).then_some(self.stack.stack),
            name: self.name,
            application: self.application.application,
            via: self.via,
            path: self.path,
            servers,
            dscp: self.dscp,
            ecn: self.ecn,
            ports: self.ports,
            host: self.host,
            tunnel: self.tunnel,
            paused: self.paused,
            about: self.about,
            matching: (self.matching != MatchConfig::BASE).then_some(self.matching),
        }
    }
}

/// The value of server `index` in a list of one for all, or one for each.
fn nth<T>(values: &[T], index: usize) -> Option<&T> {
    match values {
        [one] => Some(one),
        many => many.get(index),
    }
}

/// The list, or its first value if all are the same.
fn one_if_equal<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        values.truncate(1);
    }
    values
}

/// Shows a path that is given, or may be.
pub(crate) fn path(key: Key, path: &mut Option<Vec<String>>, visitor: &mut dyn Visitor) {
    let links = path.get_or_insert_with(|| USUAL_PATH.map(str::to_owned).to_vec());
    links.show(key.example("[\"access\"]"), visitor);
}
