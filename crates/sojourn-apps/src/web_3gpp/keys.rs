//! Keys of pages of random size.
//!
//! Source: 3GPP2 C.R1002 through ns-3; docsis-ns3. Deviations: none known.

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::{Configured, Key, Profile, Visitor, Word, Words, key};

use super::{CountMode, FETCH_BYTES, USER_BYTES, Web3gpp, Web3gppConfig};
use crate::keys::{LONGEST_PAUSE, start_keys};
use crate::{ApplicationKind, Distribution};

const COUNT_MODES: [Word<CountMode>; 2] = [
    Word {
        name: "ns3",
        value: CountMode::Ns3,
        about: "it is drawn anew, and fractions are cut off: 3.9 objects on average",
    },
    Word {
        name: "3gpp-clamped",
        value: CountMode::Clamped,
        about: "it becomes the bound, and fractions are rounded: 5.6 objects on average",
    },
];

const NS3: &str = "ns-3 (3GPP2)";

impl Configured for Web3gppConfig {
    const KIND: &'static str = "web-3gpp";
    const ABOUT: &'static str = "pages of random size, object after object over one connection";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2019",
            about: "White 2019 as docsis-ns3 runs it: main objects of 100 kB, 3 s of reading",
            values: || Self::WHITE2019,
        },
        Profile {
            name: "ns3",
            about: "the variables of ns-3: main objects of 10.7 kB, 30 s of reading",
            values: || Self::NS3,
        },
    ];

    fn base() -> Self {
        Self::WHITE2019
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("request", "size of a request", NS3)
                .least("1 B")
                .most("1 MB"),
            &mut self.request,
        );
        object(
            key("main", "size of the main object", "docsis-ns3"),
            &mut self.main,
            visitor,
        );
        object(
            key("embedded", "size of an embedded object", NS3),
            &mut self.embedded,
            visitor,
        );
        self.count_keys(visitor);
        let mut pause = |key: Key, value: &mut Distribution<Span>| {
            visitor.value(key.most(LONGEST_PAUSE).unit("s"), value);
        };
        pause(
            key(
                "main_delay",
                "how long the server takes over a main object",
                NS3,
            ),
            &mut self.main_delay,
        );
        pause(
            key(
                "embedded_delay",
                "how long the server takes over an embedded object",
                NS3,
            ),
            &mut self.embedded_delay,
        );
        pause(
            key(
                "parsing",
                "how long the browser takes over the main object before it asks for more",
                NS3,
            ),
            &mut self.parsing,
        );
        pause(
            key(
                "reading",
                "pause from the end of a page to the start of the next",
                "docsis-ns3",
            ),
            &mut self.reading,
        );
        visitor.value(
            key(
                "parallel",
                "1: one connection is kept from page to page; more: so many at a time, each for one object",
                "ns-3: 1; 3GPP2 allows 4 (HTTP/1.0)",
            )
            .least("1")
            .most("64"),
            &mut self.parallel,
        );
        visitor.value(
            key(
                "users",
                "number of people, each with a browser of their own",
                "White 2019 §4.1: one or five",
            )
            .least("1")
            .most("10000"),
            &mut self.users,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

fn object(key: Key, value: &mut Distribution<Bytes>, visitor: &mut dyn Visitor) {
    visitor.value(key.least("1 B").most("1 GB"), value);
}

impl Web3gppConfig {
    /// Keys of the number of embedded objects.
    fn count_keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "count_shape",
                "the number of embedded objects is a Pareto draw in whole numbers, less its scale: its exponent",
                NS3,
            )
            .least("0.1")
            .most("100"),
            &mut self.count_shape,
        );
        visitor.value(
            key("count_scale", "the least value of this draw", NS3)
                .least("1")
                .most("10000"),
            &mut self.count_scale,
        );
        visitor.value(
            key("count_most", "the bound of this draw", NS3)
                .least("1")
                .most("10000"),
            &mut self.count_most,
        );
        visitor.value(
            key(
                "count_mode",
                "what becomes of a draw beyond its bound",
                "ns-3",
            ),
            &mut Words {
                value: &mut self.count_mode,
                words: &COUNT_MODES,
            },
        );
    }
}

impl ApplicationKind for Web3gppConfig {
    type Application = Web3gpp;

    fn build(&self) -> Web3gpp {
        Web3gpp::new(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.users) * u64::from(self.parallel)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users) * (USER_BYTES + u64::from(self.parallel) * FETCH_BYTES)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}
