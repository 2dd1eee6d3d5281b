//! Keys of PIE's decisions.
//!
//! Source: RFC 8033, White 2013 §2.3 and §3.2. Deviations: none known.

use super::{Activation, BurstRule, DelaySource, PieGains, PieLaw};
use crate::policy::departure_rate::DepartureRateConfig;
use sojourn_base::{Bytes, Span};
use sojourn_keys::{Key, Kind, OneOf, Or, Visitor, Word, Words, bytes, key};

/// Longest delay of a control law. chosen: beyond ten minutes no run would ever see a signal.
const LONGEST: &str = "600 s";

pub(in crate::policy) const fn span(
    name: &'static str,
    about: &'static str,
    origin: &'static str,
) -> Key {
    key(name, about, origin).least("1 us").most(LONGEST)
}

const GAINS: [Word<PieGains>; 2] = [
    Word {
        name: "draft00",
        value: PieGains::Draft00,
        about: "three operating points (White 2013 §2.3)",
    },
    Word {
        name: "rfc8033",
        value: PieGains::Rfc8033,
        about: "seven operating points (RFC 8033 §4.2)",
    },
];

impl PieLaw {
    /// Shows the keys of the law.
    pub fn keys(&mut self, visitor: &mut dyn Visitor) {
        let law = self;
        visitor.value(
            span("reference", "wanted delay", "RFC 8033 §5.1"),
            &mut law.reference,
        );
        visitor.value(
            span(
                "update_interval",
                "time between updates of the probability",
                "RFC 8033 §4.2",
            ),
            &mut law.update_interval,
        );
        for (name, about, gain) in [
            (
                "alpha",
                "gain of the distance from the reference, in 1/s",
                &mut law.alpha,
            ),
            (
                "beta",
                "gain of the change since the last update, in 1/s",
                &mut law.beta,
            ),
        ] {
            visitor.value(
                key(name, about, "RFC 8033 §4.2").least("0").most("1000"),
                gain,
            );
        }
        visitor.value(
            key(
                "gains",
                "how fast the probability may move while it is small",
                "RFC 8033 §4.2",
            ),
            &mut Words {
                value: &mut law.gains,
                words: &GAINS,
            },
        );
        visitor.value(
            key(
                "maximum_burst",
                "how long a first burst is left alone",
                "RFC 8033 §4.4",
            )
            .most(LONGEST),
            &mut law.maximum_burst,
        );
        bytes(
            key(
                "mean_packet",
                "assumed mean packet length",
                "RFC 8033 appendix A",
            )
            .least("1 B")
            .most("64 KiB"),
            &mut law.mean_packet,
            visitor,
        );
        switches(law, visitor);
        parts(law, visitor);
    }
}

/// Shows the keys of marks in place of drops.
pub(crate) fn marking_keys(
    origin: &'static str,
    ecn: &mut bool,
    mark_threshold: &mut f64,
    visitor: &mut dyn Visitor,
) {
    visitor.value(
        key(
            "ecn",
            "mark ECN-capable packets instead of dropping them while the probability is low",
            origin,
        ),
        ecn,
    );
    visitor.value(
        key(
            "mark_threshold",
            "probability from which ECN-capable packets are dropped as well",
            "RFC 8033 §5.1",
        )
        .least("0")
        .most("1"),
        mark_threshold,
    );
}

fn switches(law: &mut PieLaw, visitor: &mut dyn Visitor) {
    for (name, about, origin, value) in [
        (
            "scale_by_size",
            "small packets are dropped less often, by their length over mean_packet",
            "RFC 8033 §4.1: off",
            &mut law.scale_by_size,
        ),
        (
            "safeguard",
            "nothing is signalled while the delay is low or hardly more than two packets wait",
            "RFC 8033 §4.1",
            &mut law.safeguard,
        ),
        (
            "derandomise",
            "spread drops evenly instead of by independent draws",
            "RFC 8033 §5.4: off",
            &mut law.derandomise,
        ),
    ] {
        visitor.value(key(name, about, origin), value);
    }
    marking_keys(
        "RFC 8033 §5.1: off",
        &mut law.ecn,
        &mut law.mark_threshold,
        visitor,
    );
    visitor.value(
        span(
            "high_delay",
            "add 2 % per update while the delay is above this",
            "RFC 8033: off; Linux 250 ms, ns-2 200 ms",
        ),
        &mut Or {
            value: &mut law.high_delay,
            word: "off",
        },
    );
}

fn parts(law: &mut PieLaw, visitor: &mut dyn Visitor) {
    visitor.choice(
        key(
            "delay_source",
            "where the current delay comes from",
            "RFC 8033 §5.2",
        ),
        &mut OneOf::new(
            &mut law.delay_source,
            &DELAY_SOURCES,
            |source| match source {
                DelaySource::LastSojourn => "last-sojourn",
                DelaySource::DepartureRate(_) => "departure-rate",
            },
        ),
    );
    visitor.choice(
        key(
            "burst_rule",
            "when the burst allowance is granted again",
            "RFC 8033 §4.4",
        ),
        &mut OneOf::new(&mut law.burst_rule, &BURST_RULES, |rule| match rule {
            BurstRule::WhenQuiet => "when-quiet",
            BurstRule::AfterQuiet(_) => "after-quiet",
        }),
    );
    visitor.choice(
        key(
            "activation",
            "sleep until there is a queue worth controlling",
            "RFC 8033 §5.3: off",
        ),
        &mut OneOf::new(
            &mut law.activation,
            &ACTIVATIONS,
            |activation| match activation {
                None => "off",
                Some(Activation::Delay(_)) => "delay",
                Some(Activation::Backlog(_)) => "backlog",
            },
        ),
    );
}

const DELAY_SOURCES: [Kind<DelaySource>; 2] = [
    Kind {
        name: "last-sojourn",
        about: "what the packet that left last had waited (RFC 8033 §5.2)",
        base: || DelaySource::LastSojourn,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "departure-rate",
        about: "backlog over the measured departure rate",
        base: || DelaySource::DepartureRate(DepartureRateConfig::RFC8033),
        profiles: &[],
        keys: |source, visitor| {
            if let DelaySource::DepartureRate(rate) = source {
                rate.keys(visitor);
            }
        },
    },
];

const BURST_RULES: [Kind<BurstRule>; 2] = [
    Kind {
        name: "when-quiet",
        about: "once the probability is 0 and the delay has twice been below half the reference",
        base: || BurstRule::WhenQuiet,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "after-quiet",
        about: "on the first arrival after the queue has been quiet for some time (ns-3)",
        base: || BurstRule::AfterQuiet(Span::from_ms(1_500)),
        profiles: &[],
        keys: |rule, visitor| {
            if let BurstRule::AfterQuiet(quiet) = rule {
                visitor.value(
                    span("quiet", "how long it must be quiet", "ns-3: 1.5 s"),
                    quiet,
                );
            }
        },
    },
];

const ACTIVATIONS: [Kind<Option<Activation>>; 3] = [
    Kind {
        name: "off",
        about: "always awake",
        base: || None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "delay",
        about: "awake once the delay reaches a value",
        base: || Some(Activation::Delay(Span::ZERO)),
        profiles: &[],
        keys: |activation, visitor| {
            if let Some(Activation::Delay(delay)) = activation {
                visitor.value(
                    span("delay", "this delay", "no default").required("\"10 ms\""),
                    delay,
                );
            }
        },
    },
    Kind {
        name: "backlog",
        about: "awake once the backlog reaches a value (RFC 8033 §5.3: a third of the buffer)",
        base: || Some(Activation::Backlog(Bytes::ZERO)),
        profiles: &[],
        keys: |activation, visitor| {
            if let Some(Activation::Backlog(backlog)) = activation {
                visitor.value(
                    key("backlog", "this backlog", "no default")
                        .required("\"100 kB\"")
                        .least("1 B"),
                    backlog,
                );
            }
        },
    },
];
