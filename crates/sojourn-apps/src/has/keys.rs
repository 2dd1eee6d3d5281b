//! Keys of adaptive streaming.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions". Deviations: none known.

use sojourn_base::{BitRate, Bytes, Direction, Span};
use sojourn_keys::value::{ListOf, OneOrMany};
use sojourn_keys::{Configured, Kind, Mismatch, OneOf, Profile, Visitor, key};

use super::{
    Bba0Config, BolaConfig, Content, Has, HasConfig, RateRule, ThroughputBufferConfig, VbrContent,
};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, request_key, start_keys};

const SLIDES: &str = "Akhtar 2013, HAS and PD Traffic Modeling Assumptions";

impl Configured for HasConfig {
    const KIND: &'static str = "has";
    const ABOUT: &'static str =
        "adaptive streaming over HTTP: videos whose quality follows the network";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "akhtar2013",
        about: "Akhtar 2013: seven levels from 0.72 to 5.9 Mb/s, chunks of 2 s, a buffer of 30 s",
        values: Self::akhtar2013,
    }];

    fn base() -> Self {
        Self::akhtar2013()
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        ladder_key(&mut self.ladder, SLIDES, visitor);
        self.time_keys(visitor);
        visitor.choice(
            key(
                "rule",
                "how the client chooses the level of a chunk",
                "chosen: that of Akhtar 2013 is not published",
            ),
            &mut OneOf::new(&mut self.rule, &RULES, |rule| match rule {
                RateRule::ThroughputBuffer(_) => "throughput-buffer",
                RateRule::Bola(_) => "bola",
                RateRule::Bba0(_) => "bba-0",
            }),
        );
        content_key(
            &mut self.content,
            "how large the chunks are",
            "chosen: the sizes of Akhtar 2013 are not published",
            visitor,
        );
        request_key(&mut self.request, visitor);
        session_keys(
            (
                &mut self.sessions,
                "chosen: one; Akhtar 2013, Traffic Loads: two to five",
            ),
            (
                &mut self.stagger,
                "Akhtar 2013, Simulations - Randomization",
            ),
            visitor,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

/// Shows the levels of quality.
pub(crate) fn ladder_key(
    ladder: &mut Vec<BitRate>,
    origin: &'static str,
    visitor: &mut dyn Visitor,
) {
    visitor.value(
        key("ladder", "rates of the levels of quality, rising", origin)
            .least("1 kb/s")
            .most("1 Gb/s")
            .unit("Mb/s"),
        &mut OneOrMany {
            values: ladder,
            example: BitRate::from_mbps(1),
        },
    );
}

/// Shows where the sizes come from.
pub(crate) fn content_key(
    content: &mut Content,
    about: &'static str,
    origin: &'static str,
    visitor: &mut dyn Visitor,
) {
    visitor.choice(
        key("content", about, origin),
        &mut OneOf::new(content, &CONTENTS, |content| match content {
            Content::ConstantRate => "constant-rate",
            Content::SyntheticVbr(_) => "synthetic-vbr",
            Content::Listed(_) => "listed",
        }),
    );
}

/// Shows how many players there are and when they join, each with its origin.
pub(crate) fn session_keys(
    (sessions, of_sessions): (&mut u32, &'static str),
    (stagger, of_stagger): (&mut Span, &'static str),
    visitor: &mut dyn Visitor,
) {
    visitor.value(
        key(
            "sessions",
            "number of players, each with a connection of its own",
            of_sessions,
        )
        .least("1")
        .most("10000"),
        sessions,
    );
    visitor.value(
        key(
            "stagger",
            "each session begins so long after the one before it",
            of_stagger,
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        stagger,
    );
}

impl HasConfig {
    fn time_keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("chunk", "media in a chunk", SLIDES)
                .least("1 ms")
                .most("1 h")
                .unit("s"),
            &mut self.chunk,
        );
        visitor.value(
            key(
                "buffer",
                "media that the client holds at most",
                "Akhtar 2013, PMOS and Underflow: 30 s",
            )
            .least("1 ms")
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.buffer,
        );
        visitor.value(
            key(
                "resume",
                "playback begins, and goes on after a stall, with so much in the buffer",
                "chosen: two chunks",
            )
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.resume,
        );
    }
}

impl ApplicationKind for HasConfig {
    type Application = Has;

    fn build(&self) -> Has {
        Has::new(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.sessions)
    }

    fn bytes(&self) -> u64 {
        Has::bytes(self)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, _duration: Span) -> Vec<(&'static str, Mismatch)> {
        Self::problems(self)
    }
}

const RULES: [Kind<RateRule>; 3] = [
    Kind {
        name: "throughput-buffer",
        about: "as much as the throughput of the last chunks allows, downwards late, upwards step by step",
        base: || RateRule::ThroughputBuffer(ThroughputBufferConfig::AKHTAR2013),
        profiles: &[],
        keys: |rule, visitor| {
            if let RateRule::ThroughputBuffer(rule) = rule {
                throughput_keys(
                    rule,
                    "chunks whose throughputs make the estimate, by their harmonic mean",
                    "chosen: about an eighth, a third and two thirds of a buffer of 30 s",
                    visitor,
                );
            }
        },
    },
    Kind {
        name: "bola",
        about: "BOLA: by the buffer, so that the mean logarithm of the rates is largest",
        base: || RateRule::Bola(BolaConfig::AKHTAR2013),
        profiles: &[],
        keys: |rule, visitor| {
            if let RateRule::Bola(rule) = rule {
                let span = |name, about, origin| {
                    key(name, about, origin)
                        .least("1 ms")
                        .most(LONGEST_PAUSE)
                        .unit("s")
                };
                visitor.value(
                    span(
                        "minimum",
                        "buffer up to which the lowest level is right",
                        "dash.js BolaRule: 10 s",
                    ),
                    &mut rule.minimum,
                );
                visitor.value(
                    span(
                        "target",
                        "buffer about which the highest level is right",
                        "chosen: 26 s, reachable below the 28 s at which a client with 30 s asks again",
                    ),
                    &mut rule.target,
                );
            }
        },
    },
    Kind {
        name: "bba-0",
        about: "BBA-0: by the buffer, on a line from the lowest to the highest rate",
        base: || RateRule::Bba0(Bba0Config::AKHTAR2013),
        profiles: &[],
        keys: |rule, visitor| {
            if let RateRule::Bba0(rule) = rule {
                const ORIGIN: &str = "chosen: Huang 2014 has 90 s and 126 s of a buffer of 240 s";
                let span = |name, about| key(name, about, ORIGIN).most(LONGEST_PAUSE).unit("s");
                visitor.value(
                    span("reservoir", "buffer up to which the lowest level is right"),
                    &mut rule.reservoir,
                );
                visitor.value(
                    span(
                        "cushion",
                        "from there, buffer in which the rate rises to the highest",
                    )
                    .least("1 ms"),
                    &mut rule.cushion,
                );
            }
        },
    },
];

/// Shows the rule by throughput and buffer; `samples` says what makes the estimate, `shares` where the buffers come
/// from.
pub(crate) fn throughput_keys(
    rule: &mut ThroughputBufferConfig,
    samples: &'static str,
    shares: &'static str,
    visitor: &mut dyn Visitor,
) {
    visitor.value(
        key(
            "safety",
            "share of the estimated throughput that a level may need",
            "chosen: room for the variation from chunk to chunk",
        )
        .least("0.01")
        .most("1"),
        &mut rule.safety,
    );
    visitor.value(
        key("samples", samples, "chosen: ten seconds of media")
            .least("1")
            .most("1000"),
        &mut rule.samples,
    );
    let span = |name, about| key(name, about, shares).most(LONGEST_PAUSE).unit("s");
    visitor.value(
        span("panic_below", "with less in the buffer, the lowest level"),
        &mut rule.panic_below,
    );
    visitor.value(
        span("up_from", "a higher level only with so much in the buffer"),
        &mut rule.up_from,
    );
    visitor.value(
        key(
            "up_after",
            "chunks in a row for which a higher level must have been possible",
            "chosen: three",
        )
        .least("1")
        .most("1000"),
        &mut rule.up_after,
    );
    visitor.value(
        span(
            "hold_from",
            "with so much in the buffer a level that is too high is kept",
        ),
        &mut rule.hold_from,
    );
    visitor.value(
        key(
            "hold_up_to",
            "but not if the next chunk would take so many times its own length",
            "chosen: 1.25",
        )
        .least("1")
        .most("100"),
        &mut rule.hold_up_to,
    );
}

const CONTENTS: [Kind<Content>; 3] = [
    Kind {
        name: "synthetic-vbr",
        about: "a clip of varying complexity, the same in every run, again and again",
        base: || Content::SyntheticVbr(VbrContent::AKHTAR2013),
        profiles: &[],
        keys: |content, visitor| {
            if let Content::SyntheticVbr(clip) = content {
                visitor.value(
                    key(
                        "chunks",
                        "chunks until the clip begins again",
                        "Akhtar 2013: Big Buck Bunny, 596 s in chunks of 2 s",
                    )
                    .least("1")
                    .most("100000"),
                    &mut clip.chunks,
                );
                visitor.value(
                    key(
                        "clip",
                        "number of the clip; the seed of a run does not enter it",
                        "chosen: any number",
                    ),
                    &mut clip.clip,
                );
            }
        },
    },
    Kind {
        name: "constant-rate",
        about: "every chunk has the nominal rate of its level",
        base: || Content::ConstantRate,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "listed",
        about: "measured sizes",
        base: || Content::Listed(Vec::new()),
        profiles: &[],
        keys: |content, visitor| {
            if let Content::Listed(sizes) = content {
                visitor.value(
                    key(
                        "sizes",
                        "chunk after chunk, of each one size for every level",
                        "no default",
                    )
                    .required("[\"180 kB\", \"250 kB\"]")
                    .least("1 B")
                    .most("1 GB"),
                    &mut ListOf {
                        values: sizes,
                        example: Bytes(180_000),
                    },
                );
            }
        },
    },
];
