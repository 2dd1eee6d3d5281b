//! Keys of web pages.
//!
//! Source: White 2012 §3.2.3 and Appendix A, White 2013 §3.6. Deviations: none known.

use sojourn_base::Direction;
use sojourn_keys::{Configured, Kind, OneOf, Profile, Visitor, bytes, key};

use super::{
    Closing, EqualPage, GeneratedPage, ListedPage, NameLookupConfig, PageModel, Web, WebConfig,
};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, start_keys};

impl Configured for WebConfig {
    const KIND: &'static str = "web";
    const ABOUT: &'static str = "people who load web pages";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2012",
            about: "White 2012 §3.2.3: 100 kB, then 100 objects of 25 kB",
            values: || Self::WHITE2012,
        },
        Profile {
            name: "white2013",
            about: "White 2013 §3.6: the files of White 2012 Appendix A, 716,802 B",
            values: || Self::WHITE2013,
        },
    ];

    fn base() -> Self {
        Self::WHITE2012
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.choice(
            key(
                "page",
                "what a page consists of beside its index object",
                "White 2012 §3.2.3",
            ),
            &mut OneOf::new(&mut self.page, &PAGES, |page| match page {
                PageModel::Equal(_) => "white2012",
                PageModel::Listed(_) => "white2012-appendix-a",
                PageModel::Generated(_) => "generated",
            }),
        );
        visitor.value(
            key("index", "size of the index object", "White 2012 §3.2.3")
                .least("1 B")
                .most("1 GB"),
            &mut self.index,
        );
        visitor.value(
            key(
                "connections_per_server",
                "connections that a browser keeps open to one server at a time",
                "White 2012 §3.2.3",
            )
            .least("1")
            .most("1000"),
            &mut self.connections_per_server,
        );
        visitor.value(
            key(
                "request",
                "size of a request",
                "fitted: the upstream bytes per page that the totals of White 2012 Tables 7 and 8 leave",
            )
            .least("1 B")
            .most("1 MB"),
            &mut self.request,
        );
        visitor.value(
            key(
                "think",
                "pause from the end of a page to the start of the next",
                "White 2012 §3.2.3",
            )
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.think,
        );
        visitor.value(
            key(
                "users",
                "number of people, each with a browser",
                "White 2012 §3.2.3",
            )
            .least("1")
            .most("10000"),
            &mut self.users,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
        visitor.choice(
            key(
                "closing",
                "who closes a connection whose object is complete",
                "White 2013 §1.1: the browser closes it and opens a new one",
            ),
            &mut OneOf::new(&mut self.closing, &CLOSINGS, |closing| match closing {
                Closing::Browser => "browser",
                Closing::Server { .. } => "server",
            }),
        );
        visitor.choice(
            key(
                "name_lookup",
                "look up each server's name before its first connection of a page",
                "White 2013 §3.6: none",
            ),
            &mut OneOf::new(&mut self.name_lookup, &NAME_LOOKUPS, |lookup| {
                if lookup.is_some() { "datagram" } else { "off" }
            }),
        );
    }
}

impl ApplicationKind for WebConfig {
    type Application = Web;

    fn build(&self) -> Web {
        Web::new(self)
    }

    fn servers(&self) -> usize {
        Self::servers(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.users)
            .saturating_mul(u64::from(self.connections_per_server))
            .saturating_mul(self.servers() as u64)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users).saturating_mul(self.bytes_of_user())
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

const PAGES: [Kind<PageModel>; 3] = [
    Kind {
        name: "white2012",
        about: "25 objects of 25,000 B on each of four servers (White 2012 §3.2.3)",
        base: || PageModel::Equal(EqualPage::WHITE2012),
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "white2012-appendix-a",
        about: "the 100 files of White 2012 Appendix A on four servers, 614,402 B together",
        base: || PageModel::Listed(ListedPage::WHITE2012_APPENDIX_A),
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

const CLOSINGS: [Kind<Closing>; 2] = [
    Kind {
        name: "browser",
        about: "the browser, with the last byte: its FIN acknowledges it; the server in answer",
        base: || Closing::Browser,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "server",
        about: "the server, with its response; the browser never",
        base: || Closing::SERVER,
        profiles: &[],
        keys: |closing, visitor| {
            if let Closing::Server { forget_after } = closing {
                visitor.value(
                    key(
                        "forget_after",
                        "how long after its object both ends forget the connection",
                        "chosen: longer than anything that is still to come",
                    )
                    .least("1 ms")
                    .most(LONGEST_PAUSE),
                    forget_after,
                );
            }
        },
    },
];

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
