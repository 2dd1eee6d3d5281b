//! Parts of a packet's delay.
//!
//! Each cause is declared once: links fill [`DelayParts`], records keep a sum for each [`Cause`].

use crate::time::Span;

macro_rules! causes {
    (
        at the sender { $($early:ident $early_name:ident $early_words:literal: $early_meaning:literal)* }
        on links { $($cause:ident $name:ident $words:literal: $meaning:literal, $short:literal)* }
    ) => {
        /// Cause of a packet's delay, in the order in which a packet meets it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause {
            $(#[doc = $early_meaning] $early,)*
            $(#[doc = $meaning] $cause,)*
        }

        impl Cause {
            /// All causes in order.
            pub const ALL: [Self; [$($early_words,)* $($words),*].len()] =
                [$(Self::$early,)* $(Self::$cause),*];

            /// Those that links have, in order: name and meaning of the column for each.
            pub const ON_LINKS: [(Self, &'static str, &'static str); [$($words),*].len()] =
                [$((Self::$cause, concat!(stringify!($name), "_ns"), $short)),*];

            /// The word used in records.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$early => stringify!($early_name),)*
                    $(Self::$cause => stringify!($name),)*
                }
            }

            /// Returns the words for figures.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$early => $early_words,)*
                    $(Self::$cause => $words,)*
                }
            }

            /// Returns the meaning, in a line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$early => $early_meaning,)*
                    $(Self::$cause => $meaning,)*
                }
            }
        }

        /// The delay of one passage through a link, split by cause; the parts sum to arrival minus entry.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct DelayParts {
            $(#[doc = $meaning] pub $name: Span,)*
        }

        impl DelayParts {
            /// Returns each cause with its delay, in order.
            #[inline]
            pub fn parts(&self) -> [(Cause, Span); Cause::ON_LINKS.len()] {
                [$((Cause::$cause, self.$name)),*]
            }
        }
    };
}

causes! {
    at the sender {
        Sender sender "sender": "in the sender: from the application's write to the first transmission"
        Recovery recovery "loss recovery": "from the first transmission to the one that arrived"
    }
    on links {
        Queue queue "queue": "in the managed queue of the modem or CMTS", "delay in managed queues"
        RequestWait request_wait "wait for request": "from the head of that queue to the request for bandwidth",
            "delay until requests"
        GrantWait grant_wait "wait for grant": "from the request to the grant", "delay until grants"
        Framing framing "framing": "waiting for MAC framing, fragmentation included", "delay by MAC framing"
        Pipeline pipeline "pipelines":
            "in the pipelines of both ends: bursts prepared, symbols interleaved, frames decoded or sent again",
            "delay in the pipelines of both ends: bursts prepared, symbols interleaved, frames decoded or sent again"
        Serialisation serialisation "serialisation": "bits onto the wire", "delay by serialisation"
        Wire wire "propagation": "propagation and fixed processing", "delay by propagation"
        Hold hold "wait for a slot": "held for the next slot of a link with slots",
            "delay until the next slot of a link that holds packets"
        Switching switching "switching": "until modem or CMTS has decided where to forward a packet",
            "delay by switching and forwarding in modem and CMTS"
    }
}

impl DelayParts {
    /// The whole delay.
    pub fn total(&self) -> Span {
        let parts = self.parts();
        parts.iter().fold(Span::ZERO, |sum, part| sum + part.1)
    }
}
