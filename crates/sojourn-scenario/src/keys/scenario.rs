//! The outermost keys of a scenario file, and the form in which they are written.
//!
//! Source: the shape follows White 2012 §2.3 and §3: an access link with a queue in each direction,
//! and traffic with servers at fixed round-trip times. Deviations: none known.

use core::cmp::Ordering;

use sojourn_apps::ApplicationConfig;
use sojourn_base::{BitRate, Direction, Ecn, PerDirection, Seed, Span};
use sojourn_transport::StackConfig;

use crate::keys::load::{self, LoadDraft};
use crate::keys::network::{self, HomeDraft};
use crate::keys::{application, stack};
use crate::model::{
    DirectedLink, Home, Ports, RecordConfig, Scenario, Server, SharedLink, Stack, Traffic,
};
use crate::reader::join;
use crate::topology::{ACCESS, USUAL_PATH};
use sojourn_keys::Content;
use sojourn_keys::value::{Mismatch, OneOrMany, Or, Shape, Value, Word, Words};
use sojourn_keys::{ItemsOf, Key, Visitor, key};

/// Version of the file format that is read and written.
pub(crate) const SCHEMA: u32 = 1;

/// A scenario as a file spells it: servers are lists of round-trip times.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    name: String,
    pub(crate) duration: Span,
    seed: Seed,
    seed_count: u32,
    pub(crate) access: PerDirection<DirectedLink>,
    pub(crate) links: Vec<SharedLink>,
    pub(crate) path: Option<Vec<String>>,
    pub(crate) traffic: Vec<TrafficDraft>,
    pub(crate) loads: Vec<LoadDraft>,
    pub(crate) homes: Vec<HomeDraft>,
    pub(crate) record: RecordConfig,
}

/// The place of a direction of something in a list.
fn below(list: &str, name: &str, direction: Direction) -> String {
    join(&join(list, name), direction.as_str())
}

/// A traffic entry as a file spells it.
#[derive(Clone, Debug)]
pub(crate) struct TrafficDraft {
    pub(crate) name: String,
    pub(crate) application: ApplicationConfig,
    pub(crate) stack: Stack,
    /// The file names a stack.
    pub(crate) has_stack: bool,
    pub(crate) path: Option<Vec<String>>,
    /// One for all servers, or one for each; empty for the shortest that the access link allows.
    pub(crate) round_trips: Vec<Span>,
    /// One for all servers, or one for each.
    pub(crate) line_rates: Vec<BitRate>,
    pub(crate) dscp: u8,
    pub(crate) ecn: Ecn,
    pub(crate) ports: Ports,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            name: String::new(),
            duration: Span::ZERO,
            seed: Seed(1),
            seed_count: 1,
            access: network::blank_access(),
            links: Vec::new(),
            path: None,
            traffic: Vec::new(),
            loads: Vec::new(),
            homes: Vec::new(),
            record: RecordConfig::default(),
        }
    }
}

impl TrafficDraft {
    pub(crate) fn blank() -> Self {
        Self {
            name: String::new(),
            application: application::blank(),
            stack: Stack {
                name: "ns2-linux-cubic".to_owned(),
                config: StackConfig::NS2_LINUX_CUBIC,
            },
            has_stack: false,
            path: None,
            round_trips: Vec::new(),
            line_rates: vec![Server::LINE_RATE],
            dscp: 0,
            ecn: Ecn::NotEct,
            ports: Ports::Fresh,
        }
    }

    pub(crate) fn of(traffic: &Traffic) -> Self {
        Self {
            name: traffic.name.clone(),
            application: traffic.application.clone(),
            stack: traffic.stack.clone().unwrap_or_else(|| Self::blank().stack),
            has_stack: traffic.stack.is_some(),
            path: traffic.path.clone(),
            round_trips: one_if_equal(traffic.servers.iter().map(|server| server.rtt)),
            line_rates: one_if_equal(traffic.servers.iter().map(|server| server.line_rate)),
            dscp: traffic.dscp,
            ecn: traffic.ecn,
            ports: traffic.ports,
        }
    }

    fn into_traffic(self, nearest: Span) -> Traffic {
        let count = self.application.servers();
        let servers = (0..count)
            .map(|index| Server {
                rtt: *nth(&self.round_trips, index).unwrap_or(&nearest),
                line_rate: *nth(&self.line_rates, index).unwrap_or(&Server::LINE_RATE),
            })
            .collect();
        Traffic {
            stack: application::needs_stack(&self.application).then_some(self.stack),
            name: self.name,
            application: self.application,
            path: self.path,
            servers,
            dscp: self.dscp,
            ecn: self.ecn,
            ports: self.ports,
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

impl Draft {
    /// The file form of a scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self {
            name: scenario.name.clone(),
            duration: scenario.duration,
            seed: scenario.seed,
            seed_count: scenario.seed_count,
            access: scenario.access.clone(),
            links: scenario.links.clone(),
            path: scenario.path.clone(),
            traffic: scenario.traffic.iter().map(TrafficDraft::of).collect(),
            loads: Vec::new(),
            homes: scenario.homes.iter().map(HomeDraft::of).collect(),
            record: scenario.record,
        }
    }

    /// The complete scenario.
    pub(crate) fn into_scenario(self) -> Scenario {
        let nearest: Vec<Span> = self.entries().map(|entry| entry.propagation()).collect();
        let mut nearest = nearest.into_iter();
        let mut complete = |drafts: Vec<TrafficDraft>| {
            let traffic = drafts.into_iter().zip(nearest.by_ref());
            traffic
                .map(|(draft, nearest)| draft.into_traffic(nearest))
                .collect()
        };
        let traffic = complete(self.traffic);
        let homes = self.homes.into_iter().map(|home| Home {
            name: home.name,
            count: home.count,
            access: home.access,
            path: home.path,
            traffic: complete(home.traffic),
        });
        let homes = homes.collect();
        Scenario {
            name: self.name,
            duration: self.duration,
            seed: self.seed,
            seed_count: self.seed_count,
            access: self.access,
            links: self.links,
            path: self.path,
            traffic,
            homes,
            record: self.record,
        }
    }

    /// Puts the traffic entries that named loads stand for behind the others.
    pub(crate) fn expand_loads(&mut self) {
        let entries = |loads: &mut Vec<LoadDraft>| {
            let loads = core::mem::take(loads);
            loads.into_iter().flat_map(LoadDraft::into_traffic)
        };
        self.traffic.extend(entries(&mut self.loads));
        for home in &mut self.homes {
            home.traffic.extend(entries(&mut home.loads));
        }
    }

    /// All traffic entries, those of a lone subscriber first, with what surrounds them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let lone = self.traffic.iter().map(|traffic| Entry {
            draft: self,
            home: None,
            traffic,
        });
        let homes = self.homes.iter().flat_map(|home| {
            home.traffic.iter().map(|traffic| Entry {
                draft: self,
                home: Some(home),
                traffic,
            })
        });
        lone.chain(homes)
    }

    /// All links with their places in the file.
    pub(crate) fn links(&self, mut look: impl FnMut(&str, &DirectedLink)) {
        for direction in Direction::BOTH {
            look(&join(ACCESS, direction.as_str()), &self.access[direction]);
            for shared in &self.links {
                if let Some(link) = &shared.directions[direction] {
                    look(&below("link", &shared.name, direction), link);
                }
            }
            for home in &self.homes {
                if let Some(access) = &home.access {
                    let place = join(&join("home", &home.name), ACCESS);
                    look(&join(&place, direction.as_str()), &access[direction]);
                }
            }
        }
    }

    /// The same, to change them.
    pub(crate) fn links_mut(&mut self, mut change: impl FnMut(&str, &mut DirectedLink)) {
        for direction in Direction::BOTH {
            let place = join(ACCESS, direction.as_str());
            change(&place, &mut self.access[direction]);
            for shared in &mut self.links {
                if let Some(link) = &mut shared.directions[direction] {
                    change(&below("link", &shared.name, direction), link);
                }
            }
            for home in &mut self.homes {
                if let Some(access) = &mut home.access {
                    let place = join(&join("home", &home.name), ACCESS);
                    change(&join(&place, direction.as_str()), &mut access[direction]);
                }
            }
        }
    }

    /// Shows all keys of the file. `with_seeds` is false for the part that results depend on apart
    /// from the seed of their own run.
    pub(crate) fn keys(&mut self, visitor: &mut dyn Visitor, with_seeds: bool) {
        visitor.value(
            key("schema", "version of the file format", "this page").required("1"),
            &mut Schema,
        );
        visitor.value(
            key("name", "what people call it", "no default").required("\"my-question\""),
            &mut self.name,
        );
        visitor.value(
            key("duration", "simulated time", "no default")
                .required("\"600 s\"")
                .least("1 us")
                .most(LONGEST_RUN)
                .unit("s"),
            &mut self.duration,
        );
        if with_seeds {
            self.seed_keys(visitor);
        }
        network::path_key(
            &mut self.path,
            key(
                "path",
                "links that packets pass upstream, in order, the access link among them; downstream the other \
                 way round",
                "White 2012 §2.3: the access link alone",
            ),
            visitor,
        );
        visitor.table(
            key("access", "the access link", "White 2012 §2.3"),
            &mut |visitor| network::access_keys(&mut self.access, visitor),
        );
        network::links_keys(&mut self.links, visitor);
        let has_homes = !self.homes.is_empty() || visitor.has("home");
        let has_others = has_homes || visitor.has("load");
        if !has_others || !self.traffic.is_empty() || visitor.has("traffic") {
            visitor.items(
                key("traffic", "who uses the link", "no default")
                    .required("[[traffic]] with name = \"call\" and app = \"voice\"")
                    .most(MOST_TRAFFIC),
                &mut ItemsOf {
                    items: &mut self.traffic,
                    base: TrafficDraft::blank,
                    keys: traffic_keys,
                },
            );
        }
        load::loads_keys(&mut self.loads, visitor);
        if has_homes || visitor.is_exhaustive() {
            network::homes_keys(&mut self.homes, visitor);
        }
        visitor.table(
            key("record", "what is written down", "chosen"),
            &mut |visitor| {
                record_keys(&mut self.record, visitor);
            },
        );
    }

    fn seed_keys(&mut self, visitor: &mut dyn Visitor) {
        let several = self.seed_count != 1 || visitor.has("seeds");
        if !several || visitor.is_exhaustive() {
            visitor.value(
                key("seed", "seed of the only run", "chosen: 1").most(LARGEST_SEED),
                &mut self.seed.0,
            );
        }
        if several || visitor.is_exhaustive() {
            let about = "several runs with consecutive seeds, instead of seed";
            visitor.table(key("seeds", about, "chosen: one run"), &mut |visitor| {
                visitor.value(
                    key("first", "seed of the first run", "chosen: 1").most(LARGEST_SEED),
                    &mut self.seed.0,
                );
                visitor.value(
                    key("count", "number of runs", "chosen: 1")
                        .least("1")
                        .most("100000"),
                    &mut self.seed_count,
                );
            });
        }
    }
}

/// A traffic entry and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    draft: &'a Draft,
    pub(crate) home: Option<&'a HomeDraft>,
    pub(crate) traffic: &'a TrafficDraft,
}

impl<'a> Entry<'a> {
    /// Where it stands in the file.
    pub(crate) fn place(&self) -> String {
        let list = match self.home {
            Some(home) => join(&join("home", &home.name), "traffic"),
            None => "traffic".to_owned(),
        };
        join(&list, &self.traffic.name)
    }

    /// How many subscribers have it.
    pub(crate) fn copies(&self) -> u32 {
        self.home.map_or(1, |home| home.count)
    }

    /// Names of the links that its packets pass, from the subscriber to the network.
    pub(crate) fn path(&self) -> Vec<&'a str> {
        let of_home = self.home.and_then(|home| home.path.as_ref());
        let said = self.traffic.path.as_ref().or(of_home);
        match said.or(self.draft.path.as_ref()) {
            Some(path) => path.iter().map(String::as_str).collect(),
            None => USUAL_PATH.to_vec(),
        }
    }

    /// The links that its packets pass, with their places in the file; names of no link are left out.
    pub(crate) fn links(&self) -> Vec<(String, Direction, &'a DirectedLink)> {
        let own = self.home.and_then(|home| {
            Some((
                join(&join("home", &home.name), ACCESS),
                home.access.as_ref()?,
            ))
        });
        let (own_place, own) = own.unwrap_or((ACCESS.to_owned(), &self.draft.access));
        let mut links = Vec::new();
        for name in self.path() {
            for direction in Direction::BOTH {
                let (place, link) = if name == ACCESS {
                    (own_place.clone(), Some(&own[direction]))
                } else {
                    let known = self.draft.links.iter().find(|known| known.name == name);
                    let link = known.and_then(|known| known.directions[direction].as_ref());
                    (join("link", name), link)
                };
                if let Some(link) = link {
                    links.push((join(&place, direction.as_str()), direction, link));
                }
            }
        }
        links
    }

    /// Fixed delay of these links, both ways: the shortest round-trip time that a server can have.
    pub(crate) fn propagation(&self) -> Span {
        self.links()
            .into_iter()
            .fold(Span::ZERO, |sum, (_, _, link)| {
                sum.saturating_add(link.propagation())
            })
    }

    /// Rate of the slowest of these links in a direction; none without links.
    pub(crate) fn slowest(&self, direction: Direction) -> Option<BitRate> {
        let links = self.links().into_iter();
        links
            .filter(|(_, way, _)| *way == direction)
            .map(|(_, _, link)| link.link.drain_rate())
            .min()
    }
}

/// Longest run. Source: simulated time is 64 bits of picoseconds, 213 days; 5000 h leave room for
/// timers that reach beyond the end.
const LONGEST_RUN: &str = "5000 h";

/// Most traffic entries of a scenario. chosen: above any household or node that a person describes.
pub(crate) const MOST_TRAFFIC: &str = "10000";

/// Largest seed. Source: whole numbers of TOML have 64 bits with a sign.
const LARGEST_SEED: &str = "9223372036854775807";

const PORT_POLICIES: [Word<Ports>; 2] = [
    Word {
        name: "fresh",
        value: Ports::Fresh,
        about: "one that was not used before, as of a host",
    },
    Word {
        name: "kept",
        value: Ports::Kept,
        about: "one that an ended connection to the same server gave back, as of an agent of ns-2",
    },
];

const ECN_FIELDS: [Word<Ecn>; 4] = [
    Word {
        name: "not-ect",
        value: Ecn::NotEct,
        about: "not ECN-capable",
    },
    Word {
        name: "ect0",
        value: Ecn::Ect0,
        about: "ECN-capable, classic",
    },
    Word {
        name: "ect1",
        value: Ecn::Ect1,
        about: "ECN-capable, L4S (RFC 9331)",
    },
    Word {
        name: "ce",
        value: Ecn::Ce,
        about: "marked before it enters the access link",
    },
];

pub(crate) fn traffic_keys(traffic: &mut TrafficDraft, visitor: &mut dyn Visitor) {
    visitor.value(
        key("name", "what people call it; unique", "no default").required("\"call\""),
        &mut traffic.name,
    );
    visitor.choice(
        key("app", "what it does", "no default").required("{ kind = \"voice\" }"),
        &mut application::choice(&mut traffic.application),
    );
    let needed = application::needs_stack(&traffic.application);
    traffic.has_stack |= visitor.has("stack");
    if needed || visitor.has("stack") || visitor.is_exhaustive() {
        let mut stack = key(
            "stack",
            "the implementation of TCP, for applications that open connections",
            "no default",
        )
        .conditional();
        if needed && !visitor.is_exhaustive() {
            stack = stack.required("\"linux-cubic\"");
        }
        visitor.choice(stack, &mut stack::StackChoice(&mut traffic.stack));
    }
    network::path_key(
        &mut traffic.path,
        key(
            "path",
            "links that its packets pass upstream, in order; downstream the other way round",
            "that of the subscriber",
        ),
        visitor,
    );
    visitor.value(
        key(
            "rtt",
            "fixed round-trip time to the server, or a list with one for each server; includes \
             the propagation of its links both ways, not their queues and their MAC",
            "White 2012 §2.3: the shortest that the access link allows",
        )
        // chosen: forty geostationary round trips.
        .most("20 s"),
        &mut OneOrMany {
            values: &mut traffic.round_trips,
        },
    );
    visitor.value(
        key(
            "line_rate",
            "rate of the line between access network and server, or a list with one for each",
            "assumed: gigabit lines (White 2012 §2.3)",
        )
        .least("1 b/s")
        .most("1 Tb/s"),
        &mut OneOrMany {
            values: &mut traffic.line_rates,
        },
    );
    visitor.value(
        key(
            "dscp",
            "differentiated-services code point of its packets",
            "RFC 2474: default",
        )
        .most("63"),
        &mut traffic.dscp,
    );
    visitor.value(
        key(
            "ecn",
            "ECN field of its datagrams; connections follow their stack",
            "RFC 3168: not capable",
        ),
        &mut Words {
            value: &mut traffic.ecn,
            words: &ECN_FIELDS,
        },
    );
    visitor.value(
        key(
            "ports",
            "which port a new connection has at the subscriber's end; flow queueing hashes it",
            "RFC 6056: fresh",
        ),
        &mut Words {
            value: &mut traffic.ports,
            words: &PORT_POLICIES,
        },
    );
}

fn record_keys(record: &mut RecordConfig, visitor: &mut dyn Visitor) {
    const RARE: &str = "chosen: off, because it grows with the run";
    const ALWAYS: &str = "chosen: on, because it answers the first questions";
    visitor.value(
        key(
            "datagrams",
            "one row per datagram; loss, lateness and voice quality are known without",
            ALWAYS,
        ),
        &mut record.datagrams,
    );
    visitor.value(
        key("objects", "one row per object of a web page", RARE),
        &mut record.objects,
    );
    // Only where it is asked for, so that scenarios without it are printed as ever.
    if record.chunks || visitor.has("chunks") || visitor.is_exhaustive() {
        visitor.value(
            key("chunks", "one row per chunk of an adaptive stream", RARE),
            &mut record.chunks,
        );
    }
    visitor.value(
        key(
            "transfers",
            "one row per file transfer; their number and their median time are known without; pages, \
             which are few and also count while unfinished, always have their rows",
            ALWAYS,
        ),
        &mut record.transfers,
    );
    visitor.value(
        key(
            "flows",
            "one row per flow: each direction of a connection, and each stream of datagrams, with its sub-flow \
             of the queue manager",
            RARE,
        ),
        &mut record.flows,
    );
    visitor.value(
        key(
            "series",
            "width of the bins of time series",
            "White 2012 §4.1: figures over time",
        )
        .least("1 ms")
        .most("1 h"),
        &mut Or {
            value: &mut record.series,
            word: "off",
        },
    );
    visitor.value(
        key(
            "connections",
            "interval at which window and round-trip time of every open connection are written down",
            RARE,
        )
        .least("1 ms")
        .most("1 h"),
        &mut Or {
            value: &mut record.connections,
            word: "off",
        },
    );
    visitor.value(
        key("occupancy", "time spent at each length of a queue", ALWAYS),
        &mut record.occupancy,
    );
    visitor.value(
        key("delays", "delay split by cause", ALWAYS),
        &mut record.delays,
    );
    visitor.value(
        key("histograms", "distributions of delay", ALWAYS),
        &mut record.histograms,
    );
}

/// The version of the file format: a constant that a file must state.
struct Schema;

impl Value for Schema {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        match content {
            Content::Integer(_, Some(version)) if *version == i128::from(SCHEMA) => Ok(()),
            Content::Integer(digits, _) => Err(Mismatch::new(
                format!("version {digits} of the file format is not supported"),
                format!("this program reads schema = {SCHEMA}"),
            )),
            other => Err(Mismatch::new(
                format!("{} where a whole number belongs", other.kind()),
                format!("write schema = {SCHEMA}"),
            )),
        }
    }

    fn print(&self) -> String {
        SCHEMA.to_string()
    }

    fn shape(&self) -> Shape {
        Shape::Exactly(SCHEMA)
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}
