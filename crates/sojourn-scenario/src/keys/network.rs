//! Keys of links beside the access link, of homes, and of the paths between them.
//!
//! Source: chosen: a home is described once, with its number; docs/guides/write-a-scenario.md. Deviations: none known.

use sojourn_base::{Direction, PerDirection};
use sojourn_keys::{ItemsOf, Key, Parameter, Visitor, key, origin, parameters};
use sojourn_link::conditions::config::CONDITIONS;
use sojourn_link::framing::FRAMING;
use sojourn_link::{ConditionConfig, Framing};

use crate::keys::load::{self, LOADS, LoadDraft};
use crate::keys::traffic::{self, MOST_TRAFFIC, TrafficDraft};
use crate::keys::{link, queue};
use crate::model::{DirectedLink, Home, LatencyHistogramConfig, SharedLink};

/// Most homes of a scenario, all counts together. chosen: four nodes of a thousand.
pub(crate) const MOST_HOMES: &str = "4096";

/// Most links beside access links. chosen: more than a person describes.
const MOST_LINKS: &str = "256";

const LINK: Key =
    key("link", "the line and its MAC", "no default").required("{ kind = \"serial\", rate = \"5 Mb/s\" }");

const QUEUE: Key = key("queue", "the manager of the queue in front of the link", "no default")
    .required("{ kind = \"codel\", profile = \"rfc8289\" }");

parameters! {
    /// A home as a file spells it.
    pub(crate) struct HomeDraft by blank {
        /// name; unique; its seventeenth copy has the name family/17
        name: String = String::new(), origin("no default").required("\"family\"");
        /// number of them
        count: u32 = 1, origin("chosen: 1").least("1").most(MOST_HOMES);
        /// links that its packets pass upstream, in order; downstream the other way round
        path: Option<Vec<String>> = None, origin("that of the file"), if |it| it.path.is_some() => traffic::path;
        /// the access link of each of them, if it is not that of the file
        access: Option<PerDirection<DirectedLink>> = None,
            origin("White 2012 §2.3").conditional(), if |it| it.access.is_some() => own_access;
        /// traffic of each of them
        traffic: Vec<TrafficDraft> = Vec::new(),
            origin("no default").required("[[home.traffic]] with name = \"call\" and app = \"voice\"").most(MOST_TRAFFIC)
            => traffic::show;
        loads: Vec<LoadDraft> = Vec::new(), LOADS => load::show;
    }
}

impl HomeDraft {
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            name: home.name.clone(),
            count: home.count,
            access: home.access.clone(),
            path: home.path.clone(),
            traffic: home.traffic.iter().map(TrafficDraft::of).collect(),
            loads: Vec::new(),
        }
    }
}

const HISTOGRAM: Key = key(
    "latency_histogram",
    "the latency histogram that modem or CMTS keeps of each service flow's queue",
    "White 2019 §5.4: none unless it is configured",
)
.conditional();

/// A link without a rate: what a reader starts from.
pub(crate) fn blank_link() -> DirectedLink {
    DirectedLink {
        link: link::blank(),
        framing: Framing::BASE,
        latency_histogram: None,
        conditions: Vec::new(),
        flows: sojourn_link::FlowsConfig::NONE,
    }
}

pub(crate) fn blank_access() -> PerDirection<DirectedLink> {
    PerDirection { upstream: blank_link(), downstream: blank_link() }
}

fn directed_link_keys(config: &mut DirectedLink, visitor: &mut dyn Visitor) {
    visitor.choice(LINK, &mut link::choice(&mut config.link));
    visitor.choice(QUEUE, &mut queue::choice(&mut config.link.queue));
    let usual = config.link.framing();
    if visitor.has("link") && !visitor.has("framing") {
        config.framing = usual;
    }
    if config.framing != usual || visitor.has("framing") || visitor.is_exhaustive() {
        config.framing.show(FRAMING, visitor);
    }
    let histogram = &mut config.latency_histogram;
    if histogram.is_none() && (visitor.has("latency_histogram") || visitor.is_exhaustive()) {
        *histogram = Some(LatencyHistogramConfig::BASE);
    }
    if let Some(histogram) = histogram {
        histogram.show(HISTOGRAM, visitor);
    }
    if !config.conditions.is_empty() || visitor.has("conditions") || visitor.is_exhaustive() {
        visitor.items(
            CONDITIONS,
            &mut ItemsOf { items: &mut config.conditions, base: || ConditionConfig::BASE, keys: ConditionConfig::keys },
        );
    }
    config.flows.keys(visitor);
}

const fn direction_key(direction: Direction) -> Key {
    let about = match direction {
        Direction::Upstream => "from the subscriber into the network",
        Direction::Downstream => "from the network to the subscriber",
    };
    key(direction.as_str(), about, "White 2012 §2.3")
}

/// Shows both directions of an access link.
pub(crate) fn access(key: Key, access: &mut PerDirection<DirectedLink>, visitor: &mut dyn Visitor) {
    visitor.table(key, &mut |visitor| {
        for direction in Direction::BOTH {
            let config = &mut access[direction];
            visitor.table(direction_key(direction), &mut |visitor| {
                directed_link_keys(config, visitor);
            });
        }
    });
}

fn own_access(key: Key, own: &mut Option<PerDirection<DirectedLink>>, visitor: &mut dyn Visitor) {
    access(key, own.get_or_insert_with(blank_access), visitor);
}

/// The list of links beside the access link.
pub(crate) fn links_keys(links: &mut Vec<SharedLink>, visitor: &mut dyn Visitor) {
    if links.is_empty() && !visitor.has("link") && !visitor.is_exhaustive() {
        return;
    }
    visitor.items(
        key("link", "links beside the access link, which subscribers share if their paths name them", "chosen: none")
            .most(MOST_LINKS),
        &mut ItemsOf {
            items: links,
            base: || SharedLink { name: String::new(), directions: PerDirection::default() },
            keys: shared_link_keys,
        },
    );
}

fn shared_link_keys(shared: &mut SharedLink, visitor: &mut dyn Visitor) {
    visitor.value(key("name", "name in paths; unique", "no default").required("\"aggregation\""), &mut shared.name);
    for direction in Direction::BOTH {
        let slot = &mut shared.directions[direction];
        if slot.is_none() && (visitor.has(direction.as_str()) || visitor.is_exhaustive()) {
            *slot = Some(blank_link());
        }
        if let Some(config) = slot {
            visitor.table(direction_key(direction).conditional(), &mut |visitor| {
                directed_link_keys(config, visitor);
            });
        }
    }
}

/// The list of homes.
pub(crate) fn homes_keys(homes: &mut Vec<HomeDraft>, visitor: &mut dyn Visitor) {
    visitor.items(
        key("home", "several subscribers, instead of the traffic of one", "chosen: one subscriber without a name")
            .most(MOST_HOMES),
        &mut ItemsOf { items: homes, base: HomeDraft::blank, keys: HomeDraft::keys },
    );
}
