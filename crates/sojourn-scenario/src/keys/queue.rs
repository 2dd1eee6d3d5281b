//! Keys of queue managers.
//!
//! Source: the parameter tables of each manager's config. Deviations: none known.

mod codel;
mod flow_queues;
mod pie;

use sojourn_base::{BitRate, Bytes, Limit, Packets};
use sojourn_queue::{
    AckPriorityConfig, Admission, CodelConfig, DocsisPieConfig, DropTailConfig, FqCodelConfig,
    FqPieConfig, ManagerConfig, PieConfig, SfqCodelConfig, SfqConfig, SfqNs2Config, SfqPieConfig,
};

use codel::codel_keys;

use sojourn_keys::value::{Mismatch, Word, Words};
use sojourn_keys::{Key, Kind, OneOf, Profile, Visitor, bytes, key};

/// A queue manager as a choice among all kinds.
pub(crate) fn choice(value: &mut ManagerConfig) -> OneOf<'_, ManagerConfig> {
    OneOf::new(value, &KINDS, ManagerConfig::kind)
}

/// A queue manager behind a lane for acknowledgements: any kind but another such lane.
fn inner_choice(value: &mut ManagerConfig) -> OneOf<'_, ManagerConfig> {
    let (_, kinds) = KINDS.split_last().expect("there are kinds");
    OneOf::new(value, kinds, ManagerConfig::kind)
}

macro_rules! drop_tail {
    ($name:literal, $about:literal, $constant:ident) => {
        Profile {
            name: $name,
            about: $about,
            values: || ManagerConfig::DropTail(DropTailConfig::$constant),
        }
    };
}

macro_rules! codel {
    ($name:literal, $about:literal, $constant:ident) => {
        Profile {
            name: $name,
            about: $about,
            values: || ManagerConfig::Codel(CodelConfig::$constant),
        }
    };
}

/// All kinds; the lane for acknowledgements, which holds one of the others, is the last.
static KINDS: [Kind<ManagerConfig>; 11] = [
    Kind {
        name: "drop-tail",
        about: "first in, first out; what does not fit is refused",
        base: || ManagerConfig::DropTail(DropTailConfig::bytes(0)),
        profiles: &[
            drop_tail!(
                "white2012-bufferbloat",
                "White 2012 §3.1.2: 417 packets, one second at 5 Mb/s",
                WHITE2012_BUFFERBLOAT
            ),
            drop_tail!(
                "white2012-buffer-control",
                "White 2012 §3.1.2: 21 packets, 50 ms at 5 Mb/s",
                WHITE2012_BUFFER_CONTROL
            ),
            drop_tail!(
                "white2013-bufferbloat",
                "White 2013 §3.2: 625,000 B",
                WHITE2013_BUFFERBLOAT
            ),
            drop_tail!(
                "white2013-buffer-control",
                "White 2013 §3.2: 31,250 B",
                WHITE2013_BUFFER_CONTROL
            ),
            drop_tail!(
                "akhtar2013",
                "Akhtar 2013: twice the bandwidth-delay product, 120 packets",
                AKHTAR2013
            ),
            drop_tail!(
                "white2019-upstream",
                "White 2019, no AQM: 250 ms at 50 Mb/s",
                WHITE2019_CLASSIC_UPSTREAM
            ),
            drop_tail!(
                "white2019-downstream",
                "White 2019, no AQM: 250 ms at 200 Mb/s",
                WHITE2019_CLASSIC_DOWNSTREAM
            ),
            drop_tail!(
                "klatsky2016-8kb",
                "Klatsky 2016: 8 KB, read as 8192 B",
                KLATSKY2016_8KB
            ),
            drop_tail!(
                "klatsky2016-48kb",
                "Klatsky 2016: 48 KB, read as 49,152 B",
                KLATSKY2016_48KB
            ),
            drop_tail!(
                "klatsky2016-96kb",
                "Klatsky 2016: 96 KB, read as 98,304 B, the modem's default",
                KLATSKY2016_96KB
            ),
        ],
        keys: |config, visitor| {
            if let ManagerConfig::DropTail(config) = config {
                drop_tail_keys(config, visitor);
            }
        },
    },
    Kind {
        name: "codel",
        about: "CoDel: drops at the head while the delay stays above a target",
        base: || ManagerConfig::Codel(CodelConfig::RFC8289),
        profiles: &[
            codel!("rfc8289", "RFC 8289: 5 ms in 100 ms, 1000 packets", RFC8289),
            codel!(
                "white2012",
                "White 2012 §1.1, §3.1.2: 5 ms in 100 ms, the code of 2012, 417 packets",
                WHITE2012
            ),
            codel!(
                "white2013",
                "White 2013 §3.2: 10 ms in 150 ms, the code of 2013, 625,000 B",
                WHITE2013
            ),
            codel!(
                "akhtar2013",
                "Akhtar 2013: 5 ms in 100 ms, the code of 2013, 120 packets",
                AKHTAR2013
            ),
        ],
        keys: |config, visitor| {
            if let ManagerConfig::Codel(config) = config {
                visitor.value(LIMIT, &mut config.limit);
                codel_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "sfq",
        about: "flows hashed into sub-flows that take turns; no policy",
        base: || ManagerConfig::Sfq(SfqConfig::WHITE2013),
        profiles: &[Profile {
            name: "white2013",
            about: "White 2013 §2.2, §3.2: 32 sub-flows, 300 B a round, 625,000 B",
            values: || ManagerConfig::Sfq(SfqConfig::WHITE2013),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::Sfq(config) = config {
                flow_queues::sub_flow_keys(config, visitor);
            }
        },
    },
    Kind {
        name: "sfq-ns2",
        about: "stochastic fair queueing of ns-2",
        base: || ManagerConfig::SfqNs2(SfqNs2Config::NS2),
        profiles: &[Profile {
            name: "ns2",
            about: "ns-2 sfq.cc: 16 buckets, 40 packets",
            values: || ManagerConfig::SfqNs2(SfqNs2Config::NS2),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::SfqNs2(config) = config {
                flow_queues::bucket_keys(config, visitor);
            }
        },
    },
    Kind {
        name: "sfq-codel",
        about: "SFQ-CoDel of 2013: sub-flows that take turns, each with a CoDel",
        base: || ManagerConfig::SfqCodel(SfqCodelConfig::WHITE2013),
        profiles: &[Profile {
            name: "white2013",
            about: "White 2013 §2.2, §3.2: 32 sub-flows, 300 B a round, 10 ms in 150 ms, 625,000 B",
            values: || ManagerConfig::SfqCodel(SfqCodelConfig::WHITE2013),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::SfqCodel(config) = config {
                flow_queues::sub_flow_keys(&mut config.sub_flows, visitor);
                codel_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "fq-codel",
        about: "FQ-CoDel: flow queues, new ones first, each with a CoDel",
        base: || ManagerConfig::FqCodel(FqCodelConfig::RFC8290),
        profiles: &[Profile {
            name: "rfc8290",
            about: "RFC 8290 §5.2: 1024 queues, 5 ms in 100 ms, ECN, 10,240 packets",
            values: || ManagerConfig::FqCodel(FqCodelConfig::RFC8290),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::FqCodel(config) = config {
                flow_queues::flow_list_keys(&mut config.flows, visitor);
                codel_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "pie",
        about: "PIE: drops at the tail with a probability that follows the delay",
        base: || ManagerConfig::Pie(PieConfig::RFC8033),
        profiles: &[
            Profile {
                name: "rfc8033",
                about: "RFC 8033: 15 ms, 1000 packets",
                values: || ManagerConfig::Pie(PieConfig::RFC8033),
            },
            Profile {
                name: "draft00",
                about: "draft-pan-tsvwg-pie-00: 20 ms, 1000 packets",
                values: || ManagerConfig::Pie(PieConfig::DRAFT00),
            },
            Profile {
                name: "white2013",
                about: "White 2013 §2.3, §3.2: 5 ms, 300,000 B",
                values: || ManagerConfig::Pie(PieConfig::WHITE2013),
            },
        ],
        keys: |config, visitor| {
            if let ManagerConfig::Pie(config) = config {
                visitor.value(LIMIT, &mut config.limit);
                pie::pie_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "sfq-pie",
        about: "sub-flows that take turns, with PIE",
        base: || ManagerConfig::SfqPie(SfqPieConfig::WHITE2013),
        profiles: &[Profile {
            name: "white2013",
            about: "White 2013: sub-flows of its SFQ-CoDel, values of its PIE",
            values: || ManagerConfig::SfqPie(SfqPieConfig::WHITE2013),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::SfqPie(config) = config {
                flow_queues::sub_flow_keys(&mut config.sub_flows, visitor);
                pie::scope_key(&mut config.scope, visitor);
                pie::pie_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "fq-pie",
        about: "FQ-PIE: flow queues, new ones first, each with a PIE",
        base: || ManagerConfig::FqPie(FqPieConfig::NS3),
        profiles: &[Profile {
            name: "ns3",
            about: "defaults of ns-3: RFC 8033 with ECN over 1024 queues",
            values: || ManagerConfig::FqPie(FqPieConfig::NS3),
        }],
        keys: |config, visitor| {
            if let ManagerConfig::FqPie(config) = config {
                flow_queues::flow_list_keys(&mut config.flows, visitor);
                pie::pie_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "docsis-pie",
        about: "DOCSIS-PIE over one service flow's queue",
        base: || ManagerConfig::DocsisPie(DocsisPieConfig::RFC8034),
        profiles: &[
            Profile {
                name: "rfc8034",
                about: "RFC 8034: 10 ms, a buffer of 100 ms",
                values: || ManagerConfig::DocsisPie(DocsisPieConfig::RFC8034),
            },
            Profile {
                name: "white2019-upstream",
                about: "White 2019: 10 ms, a buffer of 250 ms at 50 Mb/s",
                values: || ManagerConfig::DocsisPie(DocsisPieConfig::WHITE2019_UPSTREAM),
            },
        ],
        keys: |config, visitor| {
            if let ManagerConfig::DocsisPie(config) = config {
                visitor.value(LIMIT, &mut config.limit);
                pie::docsis_pie_keys(&mut config.law, visitor);
            }
        },
    },
    Kind {
        name: "ack-priority",
        about: "a fast lane for pure acknowledgements in front of another manager",
        base: || {
            let inner = ManagerConfig::DropTail(DropTailConfig::bytes(0));
            ManagerConfig::AckPriority(AckPriorityConfig::DEFAULT, Box::new(inner))
        },
        profiles: &[],
        keys: |config, visitor| {
            if let ManagerConfig::AckPriority(lane, inner) = config {
                lane_keys(lane, visitor);
                visitor.choice(INNER, &mut inner_choice(inner));
            }
        },
    },
];

const LIMIT: Key = key(
    "limit",
    "how much may wait: packets, bytes, or the time it takes to drain at the link's rate",
    "White 2012 §3.1.2 counts packets, White 2013 §3.2 bytes",
);

fn drop_tail_keys(config: &mut DropTailConfig, visitor: &mut dyn Visitor) {
    visitor.value(LIMIT.required("\"1 s\""), &mut config.limit);
    admission_keys(&mut config.admission, visitor);
    visitor.value(
        key(
            "head_drop",
            "make room by dropping the oldest packets instead of refusing the arrival",
            "chosen: no study drops at the head",
        ),
        &mut config.head_drop,
    );
}

/// Mean packet that `ns2-bytes` assumes. Source: the full-size packet of White 2012 §3.1.2.
const MEAN_PACKET: u32 = 1500;

const ADMISSIONS: [Word<Admission>; 4] = [
    Word {
        name: "fit",
        value: Admission::Fit,
        about: "the queue never exceeds its limit",
    },
    Word {
        name: "ns2-packets",
        value: Admission::Ns2Packets,
        about: "as ns-2: a limit in packets, one of which is never used",
    },
    Word {
        name: "ns2-bytes",
        value: Admission::Ns2Bytes {
            mean_packet: MEAN_PACKET,
        },
        about: "as ns-2 in byte mode: a limit in packets, counted as bytes of mean_packet each",
    },
    Word {
        name: "threshold",
        value: Admission::Threshold,
        about: "the last packet may overshoot a limit in bytes",
    },
];

fn admission_keys(admission: &mut Admission, visitor: &mut dyn Visitor) {
    // A word stands for the rule with any mean packet.
    let mut mean = MEAN_PACKET;
    if let Admission::Ns2Bytes { mean_packet } = admission {
        mean = *mean_packet;
        *mean_packet = MEAN_PACKET;
    }
    visitor.value(
        key(
            "admission",
            "when an arrival does not fit",
            "ns-3 FIFO queue; the profiles of White 2012 count as ns-2 does",
        ),
        &mut Words {
            value: admission,
            words: &ADMISSIONS,
        },
    );
    if matches!(admission, Admission::Ns2Bytes { .. }) || visitor.is_exhaustive() {
        let mut size = Bytes(u64::from(mean));
        visitor.value(
            key(
                "mean_packet",
                "packet length that a limit in packets stands for (only with admission = \
                 \"ns2-bytes\")",
                "White 2012 §3.1.2: the full-size packet",
            )
            .least("1 B")
            .most("64 KiB"),
            &mut size,
        );
        mean = u32::try_from(size.0).unwrap_or(mean);
    }
    if let Admission::Ns2Bytes { mean_packet } = admission {
        *mean_packet = mean;
    }
}

const INNER: Key = key(MANAGER, "the manager of everything else", "no default")
    .required("{ kind = \"codel\", profile = \"rfc8289\" }");

/// The key of the manager behind a lane.
const MANAGER: &str = "manager";

fn lane_keys(lane: &mut AckPriorityConfig, visitor: &mut dyn Visitor) {
    bytes(
        key(
            "longest",
            "longest packet that counts as an acknowledgement",
            "chosen: headers with time stamps and three SACK blocks fit",
        )
        .least("20 B")
        .most("64 KiB"),
        &mut lane.longest,
        visitor,
    );
    visitor.value(
        key(
            "limit",
            "how much may wait in the lane; more goes to the manager behind it",
            "chosen: some 600 acknowledgements",
        )
        .most("1 GB"),
        &mut lane.limit,
    );
    visitor.value(
        key(
            "burst",
            "acknowledgements served in a row while data wait",
            "chosen: every ninth opportunity is for data",
        )
        .least("1")
        .most("1000000"),
        &mut lane.burst,
    );
}

/// The full-size packet of the ns-2 studies (White 2012 §3.1.2): a buffer must hold one.
const FULL_SIZE: Bytes = Bytes(1500);

/// What is wrong with a manager on a link that drains at `rate` (if that is known): path below the
/// queue's table, and why.
pub(crate) fn problems(config: &ManagerConfig, rate: Option<BitRate>) -> Vec<(String, Mismatch)> {
    let mut all = config.problems();
    let mut problems = Vec::new();
    if let ManagerConfig::AckPriority(_, inner) = config {
        // The list ends with what the inner manager says of itself.
        all.truncate(all.len() - inner.problems().len());
        problems.extend(
            self::problems(inner, rate)
                .into_iter()
                .map(|(key, mismatch)| (format!("{MANAGER}.{key}"), mismatch)),
        );
    } else if let Some(mismatch) = limit_problem(config, rate) {
        problems.push(("limit".to_owned(), mismatch));
    }
    problems.extend(all.into_iter().map(|problem| {
        (
            problem.field.to_owned(),
            Mismatch::new(problem.message, problem.hint),
        )
    }));
    problems
}

/// What is wrong with a limit that holds hardly anything.
fn limit_problem(config: &ManagerConfig, rate: Option<BitRate>) -> Option<Mismatch> {
    let least = match config {
        ManagerConfig::DropTail(DropTailConfig {
            admission: Admission::Ns2Packets,
            ..
        }) => Packets(2),
        _ => Packets(1),
    };
    let hint = format!("at least \"{FULL_SIZE}\", one full-size packet");
    match (config.limit()?, rate) {
        (Limit::Packets(packets), _) if packets < least => Some(Mismatch::new(
            format!("{packets} hold nothing under this admission rule"),
            format!("at least \"{least}\""),
        )),
        (Limit::Time(span), Some(rate)) if rate.bytes_in(span) < FULL_SIZE => {
            let bytes = rate.bytes_in(span);
            Some(Mismatch::new(
                format!("{span} at {rate} are {bytes}, less than one full-size packet"),
                hint,
            ))
        }
        (Limit::Bytes(bytes), _) if bytes < FULL_SIZE => Some(Mismatch::new(
            format!("{bytes} are less than one full-size packet"),
            hint,
        )),
        _ => None,
    }
}
