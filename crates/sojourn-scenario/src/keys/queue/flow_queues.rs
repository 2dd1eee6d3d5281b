//! Keys of queues that keep flows apart.
//!
//! Source: White 2013 §2.2 and §3.2; RFC 8290 §4 and §5.2; ns-2 `sfq.cc` and `sfqcodel.cc`.
//! Deviations: none known.

use sojourn_base::Bytes;
use sojourn_queue::{FatMetric, FlowListsConfig, SfqConfig, SfqNs2Config, Victim};

use super::LIMIT;
use sojourn_keys::bytes;
use sojourn_keys::value::{Or, Word, Words};
use sojourn_keys::{Key, Visitor, key};

/// Largest quantum. chosen: the largest packet.
const LARGEST_QUANTUM: &str = "64 KiB";

const fn quantum(about: &'static str, origin: &'static str) -> Key {
    key("quantum", about, origin).most(LARGEST_QUANTUM)
}

const VICTIMS: [Word<Victim>; 2] = [
    Word {
        name: "tail",
        value: Victim::Tail,
        about: "the newest packet",
    },
    Word {
        name: "head",
        value: Victim::Head,
        about: "the oldest packet",
    },
];

const FAT_METRICS: [Word<FatMetric>; 2] = [
    Word {
        name: "packets",
        value: FatMetric::Packets,
        about: "most packets",
    },
    Word {
        name: "bytes",
        value: FatMetric::Bytes,
        about: "most bytes",
    },
];

/// Keys of sub-flows in a ring.
pub(super) fn sub_flow_keys(config: &mut SfqConfig, visitor: &mut dyn Visitor) {
    visitor.value(LIMIT, &mut config.limit);
    visitor.value(
        key(
            "bins",
            "number of sub-flows that flows are hashed into",
            "White 2013 §3.2",
        )
        .least("1")
        // Source: ns-2 sfqcodel.cc.
        .most("1024"),
        &mut config.bins,
    );
    bytes(
        quantum(
            "what each sub-flow may send per round; \"0 B\" serves one packet each",
            "White 2013 §3.2",
        ),
        &mut config.quantum,
        visitor,
    );
    visitor.value(
        key(
            "victim",
            "which end of the largest sub-flow gives up a packet if an arrival does not fit",
            "ns-2 sfqcodel.cc",
        ),
        &mut Words {
            value: &mut config.victim,
            words: &VICTIMS,
        },
    );
    visitor.value(
        key(
            "fat_metric",
            "what the largest sub-flow has most of",
            "ns-2 sfqcodel.cc",
        ),
        &mut Words {
            value: &mut config.fat_metric,
            words: &FAT_METRICS,
        },
    );
    visitor.value(
        key(
            "background",
            "packets marked CS1 (dscp = 8) share one sub-flow more, whatever their flow",
            "White 2013 §4.1.1: proposed, not used",
        ),
        &mut config.background,
    );
}

/// Keys of the buckets of ns-2.
pub(super) fn bucket_keys(config: &mut SfqNs2Config, visitor: &mut dyn Visitor) {
    visitor.value(
        key("limit", "packets in all buckets together", "ns-2 sfq.cc").least("1 packets"),
        &mut config.limit,
    );
    visitor.value(
        key(
            "buckets",
            "buckets that flows are hashed into",
            "ns-2 sfq.cc",
        )
        .least("1")
        .most("65536"),
        &mut config.buckets,
    );
}

/// Keys of flow queues in two lists.
pub(super) fn flow_list_keys(config: &mut FlowListsConfig, visitor: &mut dyn Visitor) {
    visitor.value(LIMIT, &mut config.limit);
    visitor.value(
        key(
            "queues",
            "number of queues that flows are hashed into",
            "RFC 8290 §5.2",
        )
        .least("1")
        // Source: Linux sch_fq_codel: 65536.
        .most("65536"),
        &mut config.queues,
    );
    visitor.value(
        key(
            "ways",
            "queues per set of a set-associative hash; 1 is a plain hash",
            "RFC 8290 §5.2",
        )
        .least("1")
        .most("65536"),
        &mut config.ways,
    );
    bytes(
        quantum(
            "what a queue may send before the next one's turn",
            "RFC 8290 §5.2",
        )
        .least("1 B"),
        &mut config.quantum,
        visitor,
    );
    visitor.value(
        key(
            "memory",
            "bytes that may wait in all queues together, besides limit",
            "Linux",
        )
        .least("1500 B"),
        &mut Or {
            value: &mut config.memory,
            word: "unlimited",
            example: Bytes(32 << 20),
        },
    );
    visitor.value(
        key(
            "drop_batch",
            "most packets dropped from the fattest queue at once",
            "Linux",
        )
        .least("1")
        .most("65536"),
        &mut config.drop_batch,
    );
}
