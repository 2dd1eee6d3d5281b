//! Keys of queue managers.
//!
//! Source: the parameter tables of each manager's config. Deviations: none known.

mod codel;
mod flow_queues;

use sojourn_base::{BitRate, Bytes, Limit, Packets};
use sojourn_queue::{
    Admission, CodelConfig, DropTailConfig, FqCodelConfig, ManagerConfig, SfqCodelConfig,
    SfqConfig, SfqNs2Config,
};

use codel::codel_keys;

use crate::form::{Key, Kind, OneOf, Profile, Visitor, key};
use crate::value::{Mismatch, Word, Words};

/// A queue manager as a choice among all kinds.
pub(crate) fn choice(value: &mut ManagerConfig) -> OneOf<'_, ManagerConfig> {
    OneOf {
        value,
        kinds: &KINDS,
        selected: ManagerConfig::kind,
    }
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

const KINDS: [Kind<ManagerConfig>; 6] = [
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

/// The full-size packet of the ns-2 studies (White 2012 §3.1.2): a buffer must hold one.
const FULL_SIZE: Bytes = Bytes(1500);

/// How much may wait, for the kinds whose limit may be anything but packets.
fn limit(config: &ManagerConfig) -> Option<Limit> {
    match config {
        ManagerConfig::DropTail(config) => Some(config.limit),
        ManagerConfig::Codel(config) => Some(config.limit),
        ManagerConfig::Sfq(config) => Some(config.limit),
        ManagerConfig::SfqNs2(_) => None,
        ManagerConfig::SfqCodel(config) => Some(config.sub_flows.limit),
        ManagerConfig::FqCodel(config) => Some(config.flows.limit),
    }
}

/// What is wrong with a manager on a link that drains at `rate` (if that is known): path below the
/// queue's table, and why.
pub(crate) fn problems(
    config: &ManagerConfig,
    rate: Option<BitRate>,
) -> Vec<(&'static str, Mismatch)> {
    let mut problems: Vec<(&'static str, Mismatch)> = config
        .problems()
        .into_iter()
        .map(|problem| (problem.field, Mismatch::new(problem.message, problem.hint)))
        .collect();
    let Some(limit) = limit(config) else {
        return problems;
    };
    let least = match config {
        ManagerConfig::DropTail(DropTailConfig {
            admission: Admission::Ns2Packets,
            ..
        }) => Packets(2),
        _ => Packets(1),
    };
    let hint = format!("at least \"{FULL_SIZE}\", one full-size packet");
    match (limit, rate) {
        (Limit::Packets(packets), _) if packets < least => {
            problems.push((
                "limit",
                Mismatch::new(
                    format!("{packets} hold nothing under this admission rule"),
                    format!("at least \"{least}\""),
                ),
            ));
        }
        (Limit::Time(span), Some(rate)) if rate.bytes_in(span) < FULL_SIZE => {
            let bytes = rate.bytes_in(span);
            problems.push((
                "limit",
                Mismatch::new(
                    format!("{span} at {rate} are {bytes}, less than one full-size packet"),
                    hint,
                ),
            ));
        }
        (Limit::Bytes(bytes), _) if bytes < FULL_SIZE => {
            problems.push((
                "limit",
                Mismatch::new(format!("{bytes} are less than one full-size packet"), hint),
            ));
        }
        _ => {}
    }
    problems
}
