//! Keys of links beside the access link, of homes, and of the paths between them.
//!
//! Source: homes as in the specification of service groups, section 2. Deviations: a home may have an access link
//! of its own instead of a port of a shared medium, of which there is none yet.

use sojourn_base::{Direction, PerDirection};
use sojourn_keys::value::{ListOf, OneOrMany, Word, Words};
use sojourn_keys::{ItemsOf, Key, Parameter, Visitor, key};
use sojourn_link::Framing;
use sojourn_link::framing::FRAMING;
use sojourn_record::HistogramValue;

use crate::keys::load::{LoadDraft, loads_keys};
use crate::keys::scenario::{TrafficDraft, traffic_keys};
use crate::keys::{link, queue};
use crate::model::{DirectedLink, Home, LatencyHistogramConfig, SharedLink};
use crate::topology::USUAL_PATH;

/// Most homes of a scenario, all counts together. Source: specification of service groups, section 2.
pub(crate) const MOST_HOMES: &str = "4096";

/// Most links beside access links. chosen: more than a person describes.
const MOST_LINKS: &str = "256";

const LINK: Key = key("link", "the line and its MAC", "no default")
    .required("{ kind = \"serial\", rate = \"5 Mb/s\" }");

const QUEUE: Key = key(
    "queue",
    "the manager of the queue in front of the link",
    "no default",
)
.required("{ kind = \"codel\", profile = \"rfc8289\" }");

/// A home as a file spells it.
#[derive(Clone, Debug)]
pub(crate) struct HomeDraft {
    pub(crate) name: String,
    pub(crate) count: u32,
    pub(crate) access: Option<PerDirection<DirectedLink>>,
    pub(crate) path: Option<Vec<String>>,
    pub(crate) traffic: Vec<TrafficDraft>,
    pub(crate) loads: Vec<LoadDraft>,
}

impl HomeDraft {
    fn blank() -> Self {
        Self {
            name: String::new(),
            count: 1,
            access: None,
            path: None,
            traffic: Vec::new(),
            loads: Vec::new(),
        }
    }

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

/// A link without a rate: what a reader starts from.
pub(crate) fn blank_link() -> DirectedLink {
    DirectedLink {
        link: link::blank(),
        framing: Framing::BASE,
        latency_histogram: None,
    }
}

pub(crate) fn blank_access() -> PerDirection<DirectedLink> {
    PerDirection {
        upstream: blank_link(),
        downstream: blank_link(),
    }
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
        *histogram = Some(LatencyHistogramConfig::default());
    }
    if let Some(histogram) = histogram {
        visitor.table(
            key(
                "latency_histogram",
                "the latency histogram that modem or CMTS keeps of each service flow's queue",
                "White 2019 §5.4: none unless it is configured",
            )
            .conditional(),
            &mut |visitor| histogram_keys(histogram, visitor),
        );
    }
}

const HISTOGRAM_VALUES: [Word<HistogramValue>; 2] = [
    Word {
        name: "estimate",
        value: HistogramValue::Estimate,
        about: "the queue manager's own estimate when it accepted the packet, as a modem has it",
    },
    Word {
        name: "sojourn",
        value: HistogramValue::Sojourn,
        about: "the time that the packet waited in the managed queue",
    },
];

fn histogram_keys(histogram: &mut LatencyHistogramConfig, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "edges",
            "delays between its bins, rising: one or a list of up to 15",
            "chosen: fifteen from 0.25 ms to 1 s, steps of 1, 2 and 5 and more below 3 ms",
        )
        // The step of edges in configuration files.
        .least("10 us"),
        &mut OneOrMany {
            values: &mut histogram.edges,
        },
    );
    visitor.value(
        key("value", "the delay that is counted", "White 2019 §5.4"),
        &mut Words {
            value: &mut histogram.value,
            words: &HISTOGRAM_VALUES,
        },
    );
}

const fn direction_key(direction: Direction) -> Key {
    let about = match direction {
        Direction::Upstream => "from the subscriber into the network",
        Direction::Downstream => "from the network to the subscriber",
    };
    key(direction.as_str(), about, "White 2012 §2.3")
}

/// Both directions of an access link.
pub(crate) fn access_keys(access: &mut PerDirection<DirectedLink>, visitor: &mut dyn Visitor) {
    for direction in Direction::BOTH {
        let config = &mut access[direction];
        visitor.table(direction_key(direction), &mut |visitor| {
            directed_link_keys(config, visitor);
        });
    }
}

/// A path that is said, or may be.
pub(crate) fn path_key(path: &mut Option<Vec<String>>, whose: Key, visitor: &mut dyn Visitor) {
    if path.is_some() || visitor.has("path") || visitor.is_exhaustive() {
        visitor.value(
            whose.example("[\"access\"]"),
            &mut ListOf {
                values: path.get_or_insert_with(|| USUAL_PATH.map(str::to_owned).to_vec()),
            },
        );
    }
}

/// The list of links beside the access link.
pub(crate) fn links_keys(links: &mut Vec<SharedLink>, visitor: &mut dyn Visitor) {
    if links.is_empty() && !visitor.has("link") && !visitor.is_exhaustive() {
        return;
    }
    visitor.items(
        key(
            "link",
            "links beside the access link, which subscribers share if their paths name them",
            "chosen: none",
        )
        .most(MOST_LINKS),
        &mut ItemsOf {
            items: links,
            base: || SharedLink {
                name: String::new(),
                directions: PerDirection::default(),
            },
            keys: shared_link_keys,
        },
    );
}

fn shared_link_keys(shared: &mut SharedLink, visitor: &mut dyn Visitor) {
    visitor.value(
        key("name", "what paths call it; unique", "no default").required("\"aggregation\""),
        &mut shared.name,
    );
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
        key(
            "home",
            "several subscribers, instead of the traffic of one",
            "chosen: one subscriber without a name",
        )
        .most(MOST_HOMES),
        &mut ItemsOf {
            items: homes,
            base: HomeDraft::blank,
            keys: home_keys,
        },
    );
}

fn home_keys(home: &mut HomeDraft, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "name",
            "what people call it; unique; its seventeenth copy has the name family/17",
            "no default",
        )
        .required("\"family\""),
        &mut home.name,
    );
    visitor.value(
        key("count", "how many of them there are", "chosen: 1")
            .least("1")
            .most(MOST_HOMES),
        &mut home.count,
    );
    path_key(
        &mut home.path,
        key(
            "path",
            "links that its packets pass upstream, in order; downstream the other way round",
            "that of the file",
        ),
        visitor,
    );
    if home.access.is_none() && (visitor.has("access") || visitor.is_exhaustive()) {
        home.access = Some(blank_access());
    }
    if let Some(access) = &mut home.access {
        visitor.table(
            key(
                "access",
                "the access link of each of them, if it is not that of the file",
                "White 2012 §2.3",
            )
            .conditional(),
            &mut |visitor| access_keys(access, visitor),
        );
    }
    if !visitor.has("load") || !home.traffic.is_empty() || visitor.has("traffic") {
        visitor.items(
            key("traffic", "what each of them does", "no default")
                .required("[[home.traffic]] with name = \"call\" and app = \"voice\"")
                .most("10000"),
            &mut ItemsOf {
                items: &mut home.traffic,
                base: TrafficDraft::blank,
                keys: traffic_keys,
            },
        );
    }
    loads_keys(&mut home.loads, visitor);
}
