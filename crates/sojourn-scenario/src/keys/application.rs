//! Keys of applications.
//!
//! Source: White 2012 §3.2, White 2013 §3.6 and Table 2, White 2019 Appendix B.
//! Deviations: none known.

use sojourn_apps::{
    ApplicationConfig, BulkConfig, ConstantRateConfig, GeneratedPage, NameLookupConfig, PageModel,
    WebConfig,
};
use sojourn_base::{Direction, Span};

use sojourn_keys::value::{Or, Word, Words};
use sojourn_keys::{Kind, OneOf, Profile, Visitor, bytes, key};

/// An application as a choice among all kinds.
pub(crate) fn choice(value: &mut ApplicationConfig) -> OneOf<'_, ApplicationConfig> {
    OneOf::new(value, &KINDS, |config| match config {
        ApplicationConfig::Bulk(_) => "bulk",
        ApplicationConfig::ConstantRate(_) => "constant-rate",
        ApplicationConfig::Web(_) => "web",
    })
}

/// Whether the application opens connections, and so needs a stack.
pub(crate) const fn needs_stack(config: &ApplicationConfig) -> bool {
    match config {
        ApplicationConfig::Bulk(_) | ApplicationConfig::Web(_) => true,
        ApplicationConfig::ConstantRate(_) => false,
    }
}

/// Connections or streams that the application keeps open at the same time, at most.
pub(crate) fn flows(config: &ApplicationConfig) -> u64 {
    match config {
        ApplicationConfig::Bulk(config) => u64::from(config.lanes),
        ApplicationConfig::ConstantRate(config) => u64::from(config.lanes),
        ApplicationConfig::Web(config) => u64::from(config.users)
            .saturating_mul(u64::from(config.connections_per_server))
            .saturating_mul(config.servers() as u64),
    }
}

/// The way that most of its data go.
pub(crate) const fn direction(config: &ApplicationConfig) -> Direction {
    match config {
        ApplicationConfig::Bulk(config) => config.direction,
        ApplicationConfig::ConstantRate(config) => config.direction,
        ApplicationConfig::Web(_) => Direction::Downstream,
    }
}

/// What a reader starts from.
pub(crate) const fn blank() -> ApplicationConfig {
    ApplicationConfig::Bulk(BulkConfig::CONTINUOUS)
}

macro_rules! profile {
    ($kind:ident, $config:ident :: $constant:ident, $name:literal, $about:literal) => {
        Profile {
            name: $name,
            about: $about,
            values: || ApplicationConfig::$kind($config::$constant),
        }
    };
}

const KINDS: [Kind<ApplicationConfig>; 4] = [
    Kind {
        name: "bulk",
        about: "file transfers in parallel loops",
        base: blank,
        profiles: &[
            profile!(
                Bulk,
                BulkConfig::CONTINUOUS,
                "continuous",
                "White 2012 §3.2.1: one upload without end"
            ),
            profile!(
                Bulk,
                BulkConfig::REPEATING,
                "repeating",
                "White 2013 Table 2: five loops of 5 MB uploads"
            ),
            profile!(
                Bulk,
                BulkConfig::BURSTY,
                "bursty",
                "White 2012 §3.2.1: 18.75 MB every 30 s over one connection"
            ),
            profile!(
                Bulk,
                BulkConfig::SMALL_FILES,
                "small-files",
                "White 2013 Table 2: ten loops of 256,000 B uploads"
            ),
            profile!(
                Bulk,
                BulkConfig::BITTORRENT,
                "bittorrent",
                "White 2013 §3.6: 32 uploads of 256,000 B pieces"
            ),
        ],
        keys: |config, visitor| {
            if let ApplicationConfig::Bulk(config) = config {
                bulk_keys(config, visitor);
            }
        },
    },
    Kind {
        name: "constant-rate",
        about: "datagrams of one size at one interval",
        base: || ApplicationConfig::ConstantRate(ConstantRateConfig::ONE_MEGABIT),
        profiles: &[
            profile!(
                ConstantRate,
                ConstantRateConfig::VOICE,
                "voice",
                "White 2012 §3.2.2: G.711, 218 B every 20 ms"
            ),
            profile!(
                ConstantRate,
                ConstantRateConfig::ONE_MEGABIT,
                "one-megabit",
                "White 2012 §3.2.1: 1 Mb/s; 1000 B every 8 ms"
            ),
        ],
        keys: constant_rate_keys,
    },
    Kind {
        name: "voice",
        about: "one direction of a telephone call: constant-rate with the values of G.711",
        base: || ApplicationConfig::ConstantRate(ConstantRateConfig::VOICE),
        profiles: &[],
        keys: constant_rate_keys,
    },
    Kind {
        name: "web",
        about: "people who load web pages",
        base: || ApplicationConfig::Web(WebConfig::WHITE2012),
        profiles: &[
            profile!(
                Web,
                WebConfig::WHITE2012,
                "white2012",
                "White 2012 §3.2.3: 100 kB, then 100 objects of 25 kB"
            ),
            profile!(
                Web,
                WebConfig::WHITE2013,
                "white2013",
                "White 2013 §3.6: the files of White 2012 Appendix A, 716,802 B"
            ),
        ],
        keys: |config, visitor| {
            if let ApplicationConfig::Web(config) = config {
                web_keys(config, visitor);
            }
        },
    },
];

/// Most parallel flows of an application, and of a scenario. chosen: about a kilobyte of state each
/// stays within a gigabyte.
pub(crate) const MOST_FLOWS: &str = "1000000";

/// Longest pause. chosen: longer than any run.
const LONGEST_PAUSE: &str = "5000 h";

const DIRECTIONS: [Word<Direction>; 2] = [
    Word {
        name: Direction::Upstream.as_str(),
        value: Direction::Upstream,
        about: "from the subscriber",
    },
    Word {
        name: Direction::Downstream.as_str(),
        value: Direction::Downstream,
        about: "to the subscriber",
    },
];

fn direction_key(value: &mut Direction, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "direction",
            "which way the data go",
            "White 2012 §3.2: uploads",
        ),
        &mut Words {
            value,
            words: &DIRECTIONS,
        },
    );
}

fn start_keys(start: &mut Span, jitter: &mut Span, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "start",
            "when it starts",
            "White 2012: with the run; pages at 1 s (§4.3.2)",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        start,
    );
    visitor.value(
        key(
            "start_jitter",
            "each part starts later by a time drawn uniformly from zero to this",
            "chosen: the studies mention no jitter",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        jitter,
    );
}

fn bulk_keys(config: &mut BulkConfig, visitor: &mut dyn Visitor) {
    direction_key(&mut config.direction, visitor);
    visitor.value(
        key(
            "lanes",
            "number of parallel loops",
            "White 2012 §3.2.1: one",
        )
        .least("1")
        .most(MOST_FLOWS),
        &mut config.lanes,
    );
    visitor.value(
        key(
            "file",
            "what a loop sends before it pauses",
            "White 2012 §3.2.1",
        ),
        &mut config.file,
    );
    visitor.value(
        key(
            "gap",
            "pause from the last acknowledgement of a file to the start of the next",
            "White 2012 §3.2.1: none",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        &mut config.gap,
    );
    visitor.value(
        key(
            "period",
            "a file at these regular intervals instead, behind the one before it if that has not gone",
            "White 2012 §3.2.1: none but for the bursty upload",
        )
        .least("1 ms")
        .most(LONGEST_PAUSE),
        &mut Or {
            value: &mut config.period,
            word: "off",
            example: Span::from_s(30),
        },
    );
    visitor.value(
        key(
            "reuse_connection",
            "send all files of a loop over one connection",
            "chosen: a new connection for each file",
        ),
        &mut config.reuse_connection,
    );
    start_keys(&mut config.start, &mut config.start_jitter, visitor);
}

fn constant_rate_keys(config: &mut ApplicationConfig, visitor: &mut dyn Visitor) {
    let ApplicationConfig::ConstantRate(config) = config else {
        return;
    };
    direction_key(&mut config.direction, visitor);
    visitor.value(
        key(
            "packet",
            "length of a packet as the access link counts it",
            "White 2012 §3.2.2; chosen for 1 Mb/s: 1000 B",
        )
        .least("20 B")
        .most("64 KiB"),
        &mut config.packet,
    );
    visitor.value(
        key(
            "interval",
            "time from packet to packet",
            "White 2012 §3.2.2",
        )
        .least("1 us")
        .most("1 h"),
        &mut config.interval,
    );
    visitor.value(
        key(
            "lanes",
            "number of streams, each to a server of its own",
            "White 2012 §3.3: one",
        )
        .least("1")
        .most("10000"),
        &mut config.lanes,
    );
    start_keys(&mut config.start, &mut config.start_jitter, visitor);
}

fn web_keys(config: &mut WebConfig, visitor: &mut dyn Visitor) {
    visitor.choice(
        key(
            "page",
            "what a page consists of beside its index object",
            "White 2012 §3.2.3",
        ),
        &mut OneOf::new(&mut config.page, &PAGES, |page| match page {
            PageModel::White2012Fixed => "white2012",
            PageModel::White2012AppendixA => "white2012-appendix-a",
            PageModel::Generated(_) => "generated",
        }),
    );
    visitor.value(
        key("index", "size of the index object", "White 2012 §3.2.3")
            .least("1 B")
            .most("1 GB"),
        &mut config.index,
    );
    visitor.value(
        key(
            "connections_per_server",
            "connections that a browser keeps open to one server at a time",
            "White 2012 §3.2.3",
        )
        .least("1")
        .most("1000"),
        &mut config.connections_per_server,
    );
    visitor.value(
        key(
            "request",
            "size of a request",
            "chosen: fits the printed upstream bytes per page",
        )
        .least("1 B")
        .most("1 MB"),
        &mut config.request,
    );
    visitor.value(
        key(
            "think",
            "pause from the end of a page to the start of the next",
            "White 2012 §3.2.3",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        &mut config.think,
    );
    visitor.value(
        key(
            "users",
            "number of people, each with a browser",
            "White 2012 §3.2.3",
        )
        .least("1")
        .most("10000"),
        &mut config.users,
    );
    start_keys(&mut config.start, &mut config.start_jitter, visitor);
    visitor.value(
        key(
            "abandon_after",
            "the server closes with its response, the browser does not, and both forget the connection \
             so long after its object; off: the browser closes, and the server in answer",
            "White 2012 Tables 7 and 8 [inf]: no FIN of the browser in the bytes per page",
        )
        .least("1 ms")
        .most(LONGEST_PAUSE),
        &mut Or {
            value: &mut config.abandon_after,
            word: "off",
            example: Span::from_s(10),
        },
    );
    visitor.choice(
        key(
            "name_lookup",
            "look up each server's name before its first connection of a page",
            "White 2013 §3.6: none",
        ),
        &mut OneOf::new(&mut config.name_lookup, &NAME_LOOKUPS, |lookup| {
            if lookup.is_some() { "datagram" } else { "off" }
        }),
    );
}

const PAGES: [Kind<PageModel>; 3] = [
    Kind {
        name: "white2012",
        about: "25 objects of 25,000 B on each of four servers (White 2012 §3.2.3)",
        base: || PageModel::White2012Fixed,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "white2012-appendix-a",
        about: "the 100 files of White 2012 Appendix A on four servers, 614,402 B together",
        base: || PageModel::White2012AppendixA,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "generated",
        about: "another draw from a distribution like that of Appendix A for each page",
        base: || PageModel::Generated(GeneratedPage::WHITE2012),
        profiles: &[],
        keys: |page, visitor| {
            if let PageModel::Generated(page) = page {
                generated_keys(page, visitor);
            }
        },
    },
];

fn generated_keys(page: &mut GeneratedPage, visitor: &mut dyn Visitor) {
    const ORIGIN: &str = "White 2012 Appendix A";
    visitor.value(
        key("servers", "number of servers", ORIGIN)
            .least("1")
            .most("100"),
        &mut page.servers,
    );
    visitor.value(
        key("objects_per_server", "objects on each server", ORIGIN)
            .least("1")
            .most("10000"),
        &mut page.objects_per_server,
    );
    visitor.value(
        key(
            "log10_mean",
            "mean of the decimal logarithm of the unscaled size",
            ORIGIN,
        )
        .least("0")
        .most("9"),
        &mut page.log10_mean,
    );
    visitor.value(
        key(
            "log10_sd",
            "standard deviation of the decimal logarithm of the size",
            ORIGIN,
        )
        .least("0")
        .most("3"),
        &mut page.log10_sd,
    );
    visitor.value(
        key("total", "sum of the sizes after scaling", ORIGIN)
            .least("1 B")
            .most("1000 GB"),
        &mut page.total,
    );
}

const NAME_LOOKUPS: [Kind<Option<NameLookupConfig>>; 2] = [
    Kind {
        name: "off",
        about: "names are known",
        base: || None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "datagram",
        about: "one datagram to a resolver, one back; the resolver is one server more",
        base: || Some(NameLookupConfig::WHITE2013),
        profiles: &[],
        keys: |lookup, visitor| {
            if let Some(lookup) = lookup {
                const SIZES: &str = "chosen: a short name and a few addresses";
                let size = |name, about| key(name, about, SIZES).least("20 B").most("64 KiB");
                bytes(
                    size("query", "IP length of the query"),
                    &mut lookup.query,
                    visitor,
                );
                bytes(
                    size("answer", "IP length of the answer"),
                    &mut lookup.answer,
                    visitor,
                );
                visitor.value(
                    key(
                        "timeout",
                        "wait for the answer before asking again",
                        "White 2013 §3.6",
                    )
                    .least("1 ms")
                    .most("1 h")
                    .unit("s"),
                    &mut lookup.timeout,
                );
            }
        },
    },
];
