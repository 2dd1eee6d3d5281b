//! Keys of access links.
//!
//! Source: White 2012 §2.2, §2.3 and §3.1; White 2013 §3.1 to §3.4. Deviations: none known.

use sojourn_base::{BitRate, Bytes, Span};
use sojourn_link::{
    CascadeConfig, CascadeVariant, CongestionConfig, LinkConfig, Pull, RateCycle, SerialConfig,
    ShapedConfig, ShaperConfig, SingleQueueConfig,
};
use sojourn_queue::{DropTailConfig, ManagerConfig};

use sojourn_keys::value::{ListOf, Mismatch, Or, Word, Words};
use sojourn_keys::{Key, Kind, OneOf, Profile, Visitor, key};

/// A link as a choice among all kinds. Its queue manager has a table of its own.
pub(crate) fn choice(value: &mut LinkConfig) -> OneOf<'_, LinkConfig> {
    OneOf::new(value, &KINDS, LinkConfig::kind)
}

/// A link without a rate, and a queue without a limit: what a reader starts from.
pub(crate) fn blank() -> LinkConfig {
    serial(SerialConfig {
        rate: BitRate::ZERO,
        delay: Span::ZERO,
    })
}

const fn blank_queue() -> ManagerConfig {
    ManagerConfig::DropTail(DropTailConfig::bytes(0))
}

fn serial(link: SerialConfig) -> LinkConfig {
    LinkConfig::Serial {
        link,
        queue: blank_queue(),
    }
}

fn shaped(link: ShapedConfig) -> LinkConfig {
    LinkConfig::Shaped {
        link,
        queue: blank_queue(),
    }
}

fn cascade(link: CascadeConfig) -> LinkConfig {
    LinkConfig::Docsis30Cascade {
        link,
        queue: blank_queue(),
    }
}

fn single(link: SingleQueueConfig) -> LinkConfig {
    LinkConfig::Docsis30Single {
        link,
        queue: blank_queue(),
    }
}

/// Buckets of a service flow about which only the sustained rate is said. Source: DOCSIS MULPI, annex
/// C: a maximum traffic burst of 3044 B and no peak rate.
const PLAIN_SHAPER: ShaperConfig = ShaperConfig {
    sustained: BitRate::ZERO,
    burst: Bytes(3044),
    peak: BitRate::ZERO,
    peak_burst: Bytes(1522),
};

const KINDS: [Kind<LinkConfig>; 4] = [
    Kind {
        name: "serial",
        about: "a line of constant rate, for instance DSL or the bottleneck of a dumbbell",
        base: blank,
        profiles: &[],
        keys: |config, visitor| {
            if let LinkConfig::Serial { link, .. } = config {
                visitor.value(RATE, &mut link.rate);
                visitor.value(delay("chosen: no delay unless it is said"), &mut link.delay);
            }
        },
    },
    Kind {
        name: "shaped",
        about: "a token-bucket rate shaper: the downstream of a DOCSIS 3.0 CMTS",
        base: || {
            shaped(ShapedConfig {
                shaper: PLAIN_SHAPER,
                pull: Pull::WithTokens,
                delay: sojourn_link::config::FIXED_DELAY,
            })
        },
        profiles: &[
            Profile {
                name: "white2012-downstream",
                about: "White 2012 §3.1.1: 20 Mb/s, burst 20 MB, peak 50 Mb/s",
                values: || shaped(ShapedConfig::WHITE2012_DOWNSTREAM),
            },
            Profile {
                name: "white2013-downstream",
                about: "White 2013 §3.4: 20 Mb/s, burst 10 MB, peak 50 Mb/s",
                values: || shaped(ShapedConfig::WHITE2013_DOWNSTREAM),
            },
        ],
        keys: |config, visitor| {
            if let LinkConfig::Shaped { link, .. } = config {
                shaper_keys(&mut link.shaper, visitor);
                pull_key(
                    &mut link.pull,
                    "chosen: a manager should see the wait for tokens",
                    visitor,
                );
                visitor.value(delay("White 2012 §2.3"), &mut link.delay);
            }
        },
    },
    Kind {
        name: "docsis30-cascade",
        about: "the DOCSIS 3.0 upstream of White 2012: a rate-shaping queue, then a transmit queue \
                with the request-grant loop",
        base: || {
            cascade(CascadeConfig {
                shaper: PLAIN_SHAPER,
                ..CascadeConfig::WHITE2012
            })
        },
        profiles: &[Profile {
            name: "white2012",
            about: "White 2012 §3.1.1: 5 Mb/s, burst 10 MB, peak 20 Mb/s",
            values: || cascade(CascadeConfig::WHITE2012),
        }],
        keys: |config, visitor| {
            if let LinkConfig::Docsis30Cascade { link, .. } = config {
                cascade_keys(link, visitor);
            }
        },
    },
    Kind {
        name: "docsis30-single",
        about: "the DOCSIS 3.0 upstream of White 2013: one queue that shapes, requests and is granted",
        base: || {
            single(SingleQueueConfig {
                shaper: PLAIN_SHAPER,
                ..SingleQueueConfig::WHITE2013
            })
        },
        profiles: &[Profile {
            name: "white2013",
            about: "White 2013 §3.4: 5 Mb/s, burst 10 MB, peak 20 Mb/s",
            values: || single(SingleQueueConfig::WHITE2013),
        }],
        keys: |config, visitor| {
            if let LinkConfig::Docsis30Single { link, .. } = config {
                shaper_keys(&mut link.shaper, visitor);
                visitor.value(MAP_INTERVAL, &mut link.map_interval);
                visitor.value(CHANNEL_RATE, &mut link.channel_rate);
                visitor.value(
                    delay("White 2012 §2.3, inferred for White 2013"),
                    &mut link.delay,
                );
                visitor.choice(CONGESTION, &mut congestion(&mut link.congestion));
            }
        },
    },
];

/// Highest rate of a link. chosen: above every access network, and low enough that products of rate
/// and time stay within 128 bits.
const HIGHEST_RATE: &str = "1 Tb/s";

const RATE: Key = key("rate", "rate of the line", "no default: it is the tier")
    .required("\"5 Mb/s\"")
    .least("1 b/s")
    .most(HIGHEST_RATE);

/// Fixed delay of a link.
const fn delay(origin: &'static str) -> Key {
    key(
        "delay",
        "propagation and fixed processing after the last bit, one way",
        origin,
    )
    // chosen: ten seconds, forty geostationary hops.
    .most("10 s")
}

const MAP_INTERVAL: Key = key(
    "map_interval",
    "time from one MAP to the next",
    "White 2012 §2.2.2",
)
.least("1 us")
// chosen: a thousand times the usual.
.most("2 s");

const CHANNEL_RATE: Key = key(
    "channel_rate",
    "rate at which a grant is serialised",
    "assumed: four 6.4 MHz channels with 64-QAM at 0.8 (White 2012 §2.2.2 prints the formula only)",
)
.least("1 b/s")
.most(HIGHEST_RATE);

const CONGESTION: Key = key(
    "congestion",
    "how much of the channel others leave",
    "White 2012 §3.1.3, White 2013 §3.3",
);

fn shaper_keys(shaper: &mut ShaperConfig, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "rate",
            "maximum sustained traffic rate",
            "no default: it is the tier",
        )
        .required("\"5 Mb/s\"")
        .least("1 b/s")
        .most(HIGHEST_RATE),
        &mut shaper.sustained,
    );
    visitor.value(
        key(
            "burst",
            "maximum traffic burst: depth of the bucket of the sustained rate",
            "DOCSIS MULPI annex C",
        )
        .least("1 B")
        .most("1000 GB"),
        &mut shaper.burst,
    );
    let mut peak = (shaper.peak > BitRate::ZERO).then_some(shaper.peak);
    visitor.value(
        key("peak", "peak traffic rate", "DOCSIS MULPI annex C: none")
            .least("1 b/s")
            .most(HIGHEST_RATE),
        &mut Or {
            value: &mut peak,
            word: "unlimited",
            example: BitRate::from_mbps(20),
        },
    );
    shaper.peak = peak.unwrap_or(BitRate::ZERO);
    visitor.value(
        key(
            "peak_burst",
            "depth of the bucket of the peak rate",
            "White 2012 §3.1.1: one Ethernet frame",
        )
        .least("1 B")
        .most("1000 GB"),
        &mut shaper.peak_burst,
    );
}

const PULLS: [Word<Pull>; 2] = [
    Word {
        name: Pull::WithTokens.as_str(),
        value: Pull::WithTokens,
        about: "when the tokens for it are there",
    },
    Word {
        name: Pull::Ahead.as_str(),
        value: Pull::Ahead,
        about: "as soon as the packet before it has left; it waits for its tokens behind the queue",
    },
];

fn pull_key(pull: &mut Pull, origin: &'static str, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "pull",
            "when the shaper takes the next packet, and the queue manager judges it",
            origin,
        ),
        &mut Words {
            value: pull,
            words: &PULLS,
        },
    );
}

const VARIANTS: [Word<CascadeVariant>; 3] = [
    Word {
        name: CascadeVariant::DropAtTransmitQueue.as_str(),
        value: CascadeVariant::DropAtTransmitQueue,
        about: "the transmit queue drops what does not fit (White 2012)",
    },
    Word {
        name: CascadeVariant::SojournOverBoth.as_str(),
        value: CascadeVariant::SojournOverBoth,
        about: "the queue manager judges the time in both queues",
    },
    Word {
        name: CascadeVariant::BackPressure.as_str(),
        value: CascadeVariant::BackPressure,
        about: "packets stay in the managed queue while the transmit queue is full",
    },
];

fn cascade_keys(link: &mut CascadeConfig, visitor: &mut dyn Visitor) {
    shaper_keys(&mut link.shaper, visitor);
    pull_key(
        &mut link.pull,
        "inferred: so does the shaper that the authors of White 2012 published (ns-2 link/delaytb.cc)",
        visitor,
    );
    visitor.value(MAP_INTERVAL, &mut link.map_interval);
    visitor.value(CHANNEL_RATE, &mut link.channel_rate);
    visitor.value(
        key(
            "grant_delay_maps",
            "MAPs from a request to its grant, 1 or 2",
            "White 2012 §2.2.2: two; the printed load times need one [inf]",
        )
        .least("1")
        .most("2"),
        &mut link.grant_delay,
    );
    visitor.value(
        key(
            "transmit_queue",
            "packets that the transmit queue holds",
            "White 2012 §2.2.3",
        )
        .least("1 packets")
        .most("1000000 packets"),
        &mut link.transmit_queue,
    );
    visitor.value(
        key(
            "variant",
            "what the two queues know of each other",
            "White 2012 §2.2.3",
        ),
        &mut Words {
            value: &mut link.variant,
            words: &VARIANTS,
        },
    );
    visitor.value(delay("White 2012 §2.3"), &mut link.delay);
    visitor.choice(CONGESTION, &mut congestion(&mut link.congestion));
}

fn congestion(value: &mut CongestionConfig) -> OneOf<'_, CongestionConfig> {
    OneOf::new(value, &CONGESTION_KINDS, CongestionConfig::kind)
}

const CONGESTION_KINDS: [Kind<CongestionConfig>; 3] = [
    Kind {
        name: "none",
        about: "grants are limited by the channel rate only",
        base: || CongestionConfig::None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "grant-size",
        about: "each MAP grants at most a random number of bytes",
        base: || CongestionConfig::GrantSize {
            mean: Bytes::ZERO,
            variation: 0.0,
        },
        profiles: &[Profile {
            name: "white2012-borderline",
            about: "White 2012 §3.1.3: 1250 B ± 20 % in each 2 ms, 5 Mb/s on average",
            values: || CongestionConfig::WHITE2012_BORDERLINE,
        }],
        keys: |config, visitor| {
            if let CongestionConfig::GrantSize { mean, variation } = config {
                visitor.value(
                    key("mean", "mean of the largest grant of a MAP", "no default")
                        .required("\"1250 B\"")
                        .least("1 B")
                        .most("1 GB"),
                    mean,
                );
                visitor.value(VARIATION, variation);
            }
        },
    },
    Kind {
        name: "schedule",
        about: "the rate that others leave follows a cycle of levels",
        base: || {
            CongestionConfig::Schedule(RateCycle {
                levels: Vec::new(),
                order: Vec::new(),
                dwell: Span::from_s(10),
                phase: 0,
                variation: 0.0,
                exhaustive: false,
            })
        },
        profiles: &[
            Profile {
                name: "white2013-light",
                about: "White 2013 §3.3: 2.5, 5, 12.5 and 20 Mb/s",
                values: CongestionConfig::white2013_light,
            },
            Profile {
                name: "white2013-moderate",
                about: "White 2013 §3.3: 1.7, 3.3, 5 and 12.5 Mb/s",
                values: CongestionConfig::white2013_moderate,
            },
        ],
        keys: |config, visitor| {
            if let CongestionConfig::Schedule(cycle) = config {
                cycle_keys(cycle, visitor);
            }
        },
    },
];

const VARIATION: Key = key(
    "variation",
    "half width of the random range of a grant, relative to its mean",
    "assumed: 0 where a source does not mention it",
)
.least("0")
.most("1");

fn cycle_keys(cycle: &mut RateCycle, visitor: &mut dyn Visitor) {
    visitor.value(
        key("levels", "the available rates", "no default")
            .required("[\"2.5 Mb/s\", \"5 Mb/s\"]")
            .most(HIGHEST_RATE),
        &mut ListOf {
            values: &mut cycle.levels,
            example: BitRate::from_mbps(5),
        },
    );
    visitor.value(
        key(
            "order",
            "which level each dwell has, as numbers into levels, from 0; then it repeats",
            "no default",
        )
        .required("[0, 1]"),
        &mut ListOf {
            values: &mut cycle.order,
            example: 0,
        },
    );
    visitor.value(
        key("dwell", "how long each level holds", "White 2013 §3.3")
            .least("1 us")
            .unit("s"),
        &mut cycle.dwell,
    );
    visitor.value(
        key(
            "phase",
            "number of the dwell that the run starts with",
            "chosen: the first",
        ),
        &mut cycle.phase,
    );
    visitor.value(VARIATION, &mut cycle.variation);
    visitor.value(
        key(
            "exhaustive",
            "hold the cycle to visiting each ordered pair of distinct levels exactly once",
            "chosen: off unless claimed",
        ),
        &mut cycle.exhaustive,
    );
}

/// Keys that belong to the table of the congestion model.
const CONGESTION_FIELDS: [&str; 6] = [
    "mean",
    "variation",
    "dwell",
    "order",
    "levels",
    "exhaustive",
];

/// What is wrong with a link: path below the link's table, and why.
pub(crate) fn problems(config: &LinkConfig) -> Vec<(String, Mismatch)> {
    config
        .problems()
        .into_iter()
        .map(|problem| {
            let path = if CONGESTION_FIELDS.contains(&problem.field) {
                format!("congestion.{}", problem.field)
            } else {
                problem.field.to_owned()
            };
            // A file spells the absence of a peak rate as a word.
            let hint = match problem.field {
                "peak" => "a peak rate of at least the sustained rate, or \"unlimited\"",
                _ => problem.hint,
            };
            (path, Mismatch::new(problem.message, hint))
        })
        .collect()
}
