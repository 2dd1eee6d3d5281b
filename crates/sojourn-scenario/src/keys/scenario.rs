//! The outermost keys of a scenario file, and the form in which they are written.
//!
//! Source: the shape follows White 2012 §2.3 and §3: an access link with a queue in each direction,
//! and traffic with servers at fixed round-trip times. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::{BitRate, Direction, PerDirection, Seed, Span};

use crate::emulate::EmulateConfig;
use crate::keys::change::{ChangeDraft, MOST_CHANGES};
use crate::keys::load::{self, LoadDraft};
use crate::keys::network::{self, HomeDraft};
use crate::keys::traffic::{self, MOST_TRAFFIC, TrafficDraft};
use crate::keys::wifi;
use crate::model::WifiChannel;
use crate::model::{Change, DirectedLink, Home, RecordConfig, Scenario, SharedLink};
use crate::reader::join;
use crate::topology::{ACCESS, USUAL_PATH};
use sojourn_keys::value::{Mismatch, Shape, Value};
use sojourn_keys::{Content, ItemsOf, Key, Parameter, Visitor, key};
use sojourn_link::GroupConfig;

/// Version of the file format that is read and written.
pub(crate) const SCHEMA: u32 = 1;

/// A scenario as a file spells it: servers are lists of round-trip times.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    name: String,
    pub(crate) duration: Span,
    pub(crate) measured_from: Span,
    seed: Seed,
    seed_count: u32,
    pub(crate) access: PerDirection<DirectedLink>,
    pub(crate) group: GroupConfig,
    pub(crate) links: Vec<SharedLink>,
    pub(crate) wifi: Vec<WifiChannel>,
    pub(crate) path: Option<Vec<String>>,
    pub(crate) traffic: Vec<TrafficDraft>,
    pub(crate) loads: Vec<LoadDraft>,
    pub(crate) homes: Vec<HomeDraft>,
    pub(crate) changes: Vec<ChangeDraft>,
    pub(crate) record: RecordConfig,
    pub(crate) emulate: EmulateConfig,
    /// It is read for an emulation, which needs no traffic.
    pub(crate) is_emulated: bool,
}

/// The place of a direction of something in a list.
fn below(list: &str, name: &str, direction: Direction) -> String {
    join(&join(list, name), direction.as_str())
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            name: String::new(),
            duration: Span::ZERO,
            measured_from: Span::ZERO,
            seed: Seed(1),
            seed_count: 1,
            access: network::blank_access(),
            group: GroupConfig::BASE,
            links: Vec::new(),
            wifi: Vec::new(),
            path: None,
            traffic: Vec::new(),
            loads: Vec::new(),
            homes: Vec::new(),
            changes: Vec::new(),
            record: RecordConfig::BASE,
            emulate: EmulateConfig::BASE,
            is_emulated: false,
        }
    }
}

impl Draft {
    /// The file form of a scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self {
            name: scenario.name.clone(),
            duration: scenario.duration,
            measured_from: scenario.measured_from,
            seed: scenario.seed,
            seed_count: scenario.seed_count,
            access: scenario.access.clone(),
            group: scenario.group,
            links: scenario.links.clone(),
            wifi: scenario.wifi.clone(),
            path: scenario.path.clone(),
            traffic: scenario.traffic.iter().map(TrafficDraft::of).collect(),
            loads: Vec::new(),
            homes: scenario.homes.iter().map(HomeDraft::of).collect(),
            changes: scenario.changes.iter().map(ChangeDraft::of).collect(),
            record: scenario.record,
            emulate: scenario.emulate.clone(),
            // One without traffic was read for an emulation, or is printed for one.
            is_emulated: scenario.traffic.is_empty() && scenario.homes.is_empty(),
        }
    }

    /// The complete scenario.
    pub(crate) fn into_scenario(self) -> Scenario {
        let nearest: Vec<Span> = self.entries().map(|entry| entry.propagation()).collect();
        let mut nearest = nearest.into_iter();
        let mut complete = |drafts: Vec<TrafficDraft>| {
            let traffic = drafts.into_iter().zip(nearest.by_ref());
            traffic.map(|(draft, nearest)| draft.into_traffic(nearest)).collect()
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
        let changes = self
            .changes
            .into_iter()
            .filter_map(|change| Some(Change { at: change.at, set: change.set.0, then: change.then? }));
        Scenario {
            name: self.name,
            duration: self.duration,
            measured_from: self.measured_from,
            seed: self.seed,
            seed_count: self.seed_count,
            access: self.access,
            group: self.group,
            links: self.links,
            wifi: self.wifi,
            path: self.path,
            traffic,
            homes,
            changes: changes.collect(),
            record: self.record,
            emulate: self.emulate,
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
        let lone = self.traffic.iter().map(|traffic| Entry { draft: self, home: None, traffic });
        let homes = self
            .homes
            .iter()
            .flat_map(|home| home.traffic.iter().map(|traffic| Entry { draft: self, home: Some(home), traffic }));
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
        visitor.value(key("schema", "version of the file format", "this page").required("1"), &mut Schema);
        visitor.value(key("name", "name of the scenario", "no default").required("\"my-question\""), &mut self.name);
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
        // Only where it is asked for, so that scenarios without it are printed as ever.
        if self.measured_from > Span::ZERO || visitor.has("measure") || visitor.is_exhaustive() {
            visitor.table(
                key("measure", "part of the run that metrics measure", "chosen: all of it"),
                &mut |visitor| {
                    visitor.value(
                        key(
                            "from",
                            "end of the warm-up: metrics count from then on; rows and series keep all",
                            "chosen: the start of the run",
                        )
                        .least("0 s")
                        .most(LONGEST_RUN)
                        .unit("s"),
                        &mut self.measured_from,
                    );
                },
            );
        }
        let path = key(
            "path",
            "links that packets pass upstream, in order, the access link among them; downstream the other way round",
            "White 2012 §2.3: the access link alone",
        );
        if self.path.is_some() || visitor.has("path") || visitor.is_exhaustive() {
            traffic::path(path, &mut self.path, visitor);
        }
        let access = key("access", "the access link", "White 2012 §2.3");
        network::access(access, &mut self.access, visitor);
        let is_said = self.group != GroupConfig::BASE || visitor.has("group");
        if sojourn_link::group::KNOWN && (is_said || visitor.is_exhaustive()) {
            let about =
                "the channels of the homes whose access links are of kind docsis31-group and docsis31-group-downstream";
            self.group.show(key("group", about, "docsis-ns3 1.2"), visitor);
        }
        network::links_keys(&mut self.links, visitor);
        wifi::channels(&mut self.wifi, visitor);
        let has_homes = !self.homes.is_empty() || visitor.has("home");
        let needs_traffic = !has_homes && !self.is_emulated;
        if needs_traffic || !self.traffic.is_empty() || visitor.has("traffic") {
            let key = key("traffic", "traffic over the link", "no default").most(MOST_TRAFFIC);
            let key = if self.is_emulated {
                key
            } else {
                key.required("[[traffic]] with name = \"call\" and app = \"voice\"")
            };
            traffic::show(key, &mut self.traffic, visitor);
        }
        load::show(load::LOADS, &mut self.loads, visitor);
        if has_homes || visitor.is_exhaustive() {
            network::homes_keys(&mut self.homes, visitor);
        }
        if !self.changes.is_empty() || visitor.has("change") || visitor.is_exhaustive() {
            visitor.items(
                key("change", "keys that get other values in the course of a run", "chosen: none").most(MOST_CHANGES),
                &mut ItemsOf { items: &mut self.changes, base: ChangeDraft::default, keys: ChangeDraft::keys },
            );
        }
        let record = key("record", "records to keep", "chosen");
        self.record.show(record, visitor);
        // No result depends on it.
        let is_said = self.emulate != EmulateConfig::BASE || visitor.has("emulate");
        if with_seeds && is_said || visitor.is_exhaustive() {
            let about = "the far side of an emulation; simulations do not look at it";
            self.emulate.show(key("emulate", about, "chosen"), visitor);
        }
    }

    fn seed_keys(&mut self, visitor: &mut dyn Visitor) {
        let several = self.seed_count != 1 || visitor.has("seeds");
        if !several || visitor.is_exhaustive() {
            visitor.value(key("seed", "seed of the only run", "chosen: 1").most(LARGEST_SEED), &mut self.seed.0);
        }
        if several || visitor.is_exhaustive() {
            let about = "several runs with consecutive seeds, instead of seed";
            visitor.table(key("seeds", about, "chosen: one run"), &mut |visitor| {
                visitor.value(key("first", "seed of the first run", "chosen: 1").most(LARGEST_SEED), &mut self.seed.0);
                visitor
                    .value(key("count", "number of runs", "chosen: 1").least("1").most("100000"), &mut self.seed_count);
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
    /// Returns its place in the file.
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

    /// The directions of the Wi-Fi station that its packets pass first.
    fn station(&self) -> Option<(String, &'a PerDirection<DirectedLink>)> {
        let via = self.traffic.via.as_ref()?;
        let channels = self.draft.wifi.iter();
        let mut stations =
            channels.flat_map(|channel| channel.stations.iter().map(move |it| (channel.path_of(it), it)));
        stations.find(|(name, _)| name == via).map(|(name, station)| (name, &station.links))
    }

    /// The links that its packets pass, with their places in the file; names of no link are left out.
    pub(crate) fn links(&self) -> Vec<(String, Direction, &'a DirectedLink)> {
        let own = self.home.and_then(|home| Some((join(&join("home", &home.name), ACCESS), home.access.as_ref()?)));
        let (own_place, own) = own.unwrap_or((ACCESS.to_owned(), &self.draft.access));
        let mut links = Vec::new();
        if let Some((name, station)) = self.station() {
            let both =
                Direction::BOTH.map(|direction| (join(&name, direction.as_str()), direction, &station[direction]));
            links.extend(both);
        }
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
        self.links().into_iter().fold(Span::ZERO, |sum, (_, _, link)| sum.saturating_add(link.propagation()))
    }

    /// Rate of the slowest of these links in a direction; none without links.
    pub(crate) fn slowest(&self, direction: Direction) -> Option<BitRate> {
        let links = self.links().into_iter();
        links.filter(|(_, way, _)| *way == direction).map(|(_, _, link)| link.link.drain_rate()).min()
    }
}

/// Longest run. Source: simulated time is 64 bits of picoseconds, 213 days; 5000 h leave room for
/// timers that reach beyond the end.
const LONGEST_RUN: &str = "5000 h";

/// Largest seed. Source: whole numbers of TOML have 64 bits with a sign.
const LARGEST_SEED: &str = "9223372036854775807";

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
