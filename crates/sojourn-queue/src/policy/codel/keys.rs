//! Keys of CoDel's decisions, alone and inside flow queues.
//!
//! Source: RFC 8289. Deviations: none known.

use super::{CodelFloor, CodelLaw, CodelVariant};
use alloc::boxed::Box;
use alloc::string::String;
use core::cmp::Ordering;
use sojourn_base::Bytes;
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Or, Shape, Value, Visitor, Word, Words, key};

const VARIANTS: [Word<CodelVariant>; 4] = [
    Word {
        name: "original2012",
        value: CodelVariant::Original2012,
        about: "first public ns-2 code, May 2012",
    },
    Word {
        name: "nichols2013",
        value: CodelVariant::Nichols2013,
        about: "ns-2 code of February 2013",
    },
    Word {
        name: "sfq2013",
        value: CodelVariant::Sfq2013,
        about: "as inside SFQ-CoDel, March 2013",
    },
    Word {
        name: "rfc8289",
        value: CodelVariant::Rfc8289,
        about: "RFC 8289 and Linux",
    },
];

/// Longest target and interval. chosen: beyond ten minutes no run would ever see a signal.
const LONGEST_LAW: &str = "600 s";

impl CodelLaw {
    /// Shows the keys of the law.
    pub fn keys(&mut self, visitor: &mut dyn Visitor) {
        let law = self;
        visitor.value(
            key("target", "acceptable standing delay", "RFC 8289 §5.3")
                .least("1 us")
                .most(LONGEST_LAW),
            &mut law.target,
        );
        visitor.value(
            key(
                "interval",
                "how long the delay may stay above target before the first signal",
                "RFC 8289 §5.3",
            )
            .least("1 us")
            .most(LONGEST_LAW),
            &mut law.interval,
        );
        visitor.value(
            key(
                "variant",
                "which published version of the control law",
                "RFC 8289 §5.5",
            ),
            &mut Words {
                value: &mut law.variant,
                words: &VARIANTS,
            },
        );
        visitor.value(
            key(
                "floor",
                "backlog below which nothing is signalled",
                "ns-2 codel.cc; RFC 8289 §5.4",
            ),
            &mut law.floor,
        );
        visitor.value(
            key(
                "ecn",
                "mark ECN-capable packets instead of dropping them",
                "RFC 8289 §3.1",
            ),
            &mut law.ecn,
        );
        visitor.value(
            key(
                "ce_threshold",
                "also mark each ECN-capable packet whose delay is above this",
                "Linux: off",
            )
            .least("1 us"),
            &mut Or {
                value: &mut law.ce_threshold,
                word: "off",
            },
        );
        visitor.value(
            key(
                "l4s",
                "packets with ECT(1) or CE see only ce_threshold, all others only CoDel",
                "Linux: off",
            ),
            &mut law.l4s,
        );
    }
}

/// `"largest-seen"`, or a size.
impl Value for CodelFloor {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let mut size = match self {
            Self::Fixed(size) => Some(Bytes(u64::from(*size))),
            Self::LargestSeen => None,
        };
        Or {
            value: &mut size,
            word: LARGEST_SEEN,
        }
        .read(content, key)?;
        *self = match size {
            None => Self::LargestSeen,
            Some(Bytes(size)) => Self::Fixed(u32::try_from(size).map_err(|_| {
                Mismatch::new(
                    alloc::format!("{} is more than can be held", Bytes(size)),
                    "for instance \"1500 B\"",
                )
            })?),
        };
        Ok(())
    }

    fn print(&self) -> String {
        match self {
            Self::LargestSeen => quoted(LARGEST_SEEN),
            Self::Fixed(size) => Bytes(u64::from(*size)).print(),
        }
    }

    fn shape(&self) -> Shape {
        Shape::WordOr(LARGEST_SEEN, Box::new(Bytes(0).shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// The word for [`CodelFloor::LargestSeen`].
const LARGEST_SEEN: &str = "largest-seen";
