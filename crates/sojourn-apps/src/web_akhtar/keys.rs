//! Keys of web pages by statistics.
//!
//! Source: Akhtar 2013, "Web Traffic Model". Deviations: none known.

use sojourn_base::{Bytes, Direction};
use sojourn_keys::{Configured, Or, Profile, Visitor, Word, Words, key};

use super::{BYTES_OF_HOST, Lookup, Requests, WebAkhtar, WebAkhtarConfig};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, request_key, start_keys};

const MODEL: &str = "Akhtar 2013, Web Traffic Model";
const TABLE: &str = "Akhtar 2013, Google Stats for Web Traffic";

const REQUESTS: [Word<Requests>; 3] = [
    Word {
        name: "one-by-one",
        value: Requests::OneByOne,
        about: "the next request to a host leaves when the answer to the last one is complete",
    },
    Word {
        name: "pipelined",
        value: Requests::Pipelined,
        about: "one answer of each host, of the sizes of all answers of a host",
    },
    Word {
        name: "multiplexed",
        value: Requests::Multiplexed,
        about: "all requests to a host at once, the objects of one-by-one",
    },
];

const LOOKUPS: [Word<Lookup>; 2] = [
    Word {
        name: "interpolated",
        value: Lookup::Interpolated,
        about: "on the lines between the deciles, from zero on",
    },
    Word {
        name: "step",
        value: Lookup::Step,
        about: "one of the ten columns",
    },
];

impl Configured for WebAkhtarConfig {
    const KIND: &'static str = "web-akhtar";
    const ABOUT: &'static str = "people who load web pages by the statistics of Akhtar 2013";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "akhtar2013",
        about: "Akhtar 2013: a page of 650 kB from seven hosts every 8.5 s",
        values: || Self::AKHTAR2013,
    }];

    fn base() -> Self {
        Self::AKHTAR2013
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "users",
                "number of people, each with a browser",
                "Akhtar 2013, Traffic Loads: one to three",
            )
            .least("1")
            .most("10000"),
            &mut self.users,
        );
        visitor.value(
            key("hosts", "hosts of a page, each a server", TABLE)
                .least("1")
                .most("100"),
            &mut self.hosts,
        );
        visitor.value(
            key("requests", "how the objects of a host are asked for", MODEL),
            &mut Words {
                value: &mut self.requests,
                words: &REQUESTS,
            },
        );
        visitor.value(
            key(
                "lookup",
                "how a uniform draw becomes a value of the table",
                "chosen: the lines give the printed 650 kB",
            ),
            &mut Words {
                value: &mut self.lookup,
                words: &LOOKUPS,
            },
        );
        visitor.value(
            key("growth", "sizes of the table are multiplied by this", TABLE)
                .least("0.01")
                .most("1000"),
            &mut self.growth,
        );
        visitor.value(
            key(
                "gap",
                "time from the start of a page to that of the next, of one user",
                "Akhtar 2013, Traffic Loads; chosen: a coefficient of variation of 2",
            ),
            &mut self.gap,
        );
        visitor.value(
            key("page_bytes", "pauses are scaled as if a page had so many bytes on average, so that the load is the same however pages are drawn", "Akhtar 2013, Traffic Loads: 650 kB")
                .least("1 B")
                .most("1 GB"),
            &mut Or { value: &mut self.page_bytes, word: "as-drawn", example: Bytes(650_000) },
        );
        visitor.value(
            key(
                "keep_alive",
                "an idle connection is closed after this",
                MODEL,
            )
            .least("1 ms")
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.keep_alive,
        );
        request_key(&mut self.request, visitor);
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

impl ApplicationKind for WebAkhtarConfig {
    type Application = WebAkhtar;

    fn build(&self) -> WebAkhtar {
        WebAkhtar::new(self)
    }

    fn servers(&self) -> usize {
        self.hosts as usize
    }

    fn flows(&self) -> u64 {
        u64::from(self.users).saturating_mul(u64::from(self.hosts))
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users)
            .saturating_mul(u64::from(self.hosts))
            .saturating_mul(BYTES_OF_HOST)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}
