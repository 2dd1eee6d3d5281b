//! Keys of the congestion model.
//!
//! Source: White 2012 §3.1.3, White 2013 §3.3. Deviations: none known.

use super::{CongestionConfig, RateCycle};
use crate::config::keys::HIGHEST_RATE;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Span};
use sojourn_keys::value::ListOf;
use sojourn_keys::{Key, Kind, OneOf, Profile, Visitor, key};

const CONGESTION: Key = key(
    "congestion",
    "how much of the channel others leave",
    "White 2012 §3.1.3, White 2013 §3.3",
);

impl CongestionConfig {
    /// Shows the table of the model.
    pub fn key(&mut self, visitor: &mut dyn Visitor) {
        visitor.choice(
            CONGESTION,
            &mut OneOf::new(self, &CONGESTION_KINDS, Self::kind),
        );
    }
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
            Profile {
                name: "ns3-1",
                about: "docsis-ns3 simple-docsislink.cc: 8.25, 10, 11.25 and 12.5 Mb/s, 5 s each",
                values: CongestionConfig::ns3_1,
            },
            Profile {
                name: "ns3-2",
                about: "the same: 9.25, 9.5, 10 and 11.25 Mb/s",
                values: CongestionConfig::ns3_2,
            },
            Profile {
                name: "ns3-3",
                about: "the same: 5, 6, 9 and 10 Mb/s",
                values: CongestionConfig::ns3_3,
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
