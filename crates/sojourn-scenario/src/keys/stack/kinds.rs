//! The parts of a stack that come in kinds: controller, slow start, idle restart, pacing.
//!
//! Source: RFC 5681, RFC 9438, RFC 3465, RFC 2861; Linux. Deviations: none known.

use sojourn_base::Span;
use sojourn_transport::config::{
    Avoidance, ControllerConfig, CubicConfig, CubicV21Config, IdleRestart, LedbatConfig,
    LedbatNs2Config, Pacing, SlowStart,
};

use super::words::AVOIDANCES;
use super::{LARGEST_WINDOW, flag, window, word};
use sojourn_keys::{Kind, Visitor, key};

pub(super) const CONTROLLERS: [Kind<ControllerConfig>; 5] = [
    Kind {
        name: "reno",
        about: "additive increase, halving (RFC 5681)",
        base: || ControllerConfig::Reno(Avoidance::Bytes),
        profiles: &[],
        keys: |controller, visitor| {
            if let ControllerConfig::Reno(avoidance) = controller {
                word(
                    "avoidance",
                    "growth in congestion avoidance",
                    avoidance,
                    AVOIDANCES,
                    visitor,
                );
            }
        },
    },
    Kind {
        name: "cubic",
        about: "CUBIC (RFC 9438)",
        base: || ControllerConfig::Cubic(CubicConfig::RFC9438),
        profiles: &[],
        keys: |controller, visitor| {
            if let ControllerConfig::Cubic(cubic) = controller {
                cubic_keys(cubic, visitor);
            }
        },
    },
    Kind {
        name: "cubic-v21",
        about: "CUBIC v2.1 (Linux 2.6.22, ns-2.35)",
        base: || ControllerConfig::CubicV21(CubicV21Config { beta: 819 }),
        profiles: &[],
        keys: |controller, visitor| {
            if let ControllerConfig::CubicV21(cubic) = controller {
                visitor.value(
                    key(
                        "beta",
                        "multiplicative decrease in 1/1024",
                        "ns-2.35 tcp_cubic.c",
                    )
                    .least("1")
                    .most("1023"),
                    &mut cubic.beta,
                );
            }
        },
    },
    Kind {
        name: "ledbat",
        about: "LEDBAT (RFC 6817)",
        base: || ControllerConfig::Ledbat(LedbatConfig::RFC6817),
        profiles: &[],
        keys: |controller, visitor| {
            if let ControllerConfig::Ledbat(ledbat) = controller {
                visitor.value(
                    key(
                        "target",
                        "queueing delay that the flow steers to",
                        "RFC 6817 §2.5",
                    )
                    .least("1 us")
                    .most("100 ms"),
                    &mut ledbat.target,
                );
                visitor.value(
                    key(
                        "gain",
                        "segments of growth per round trip without queueing",
                        "RFC 6817 §2.5",
                    )
                    .least("0.000001")
                    .most("1"),
                    &mut ledbat.gain,
                );
            }
        },
    },
    Kind {
        name: "ledbat-ns2",
        about: "LEDBAT as in the draft-00 module for ns-2",
        base: || {
            ControllerConfig::LedbatNs2(LedbatNs2Config {
                target: Span::from_ms(100),
            })
        },
        profiles: &[],
        keys: |controller, visitor| {
            if let ControllerConfig::LedbatNs2(ledbat) = controller {
                visitor.value(
                    key(
                        "target",
                        "queueing delay that the flow steers to, in whole milliseconds",
                        "White 2013 §4.1.1: on the order of 100 ms",
                    )
                    .least("1 ms")
                    .most("10 s"),
                    &mut ledbat.target,
                );
            }
        },
    },
];

fn cubic_keys(cubic: &mut CubicConfig, visitor: &mut dyn Visitor) {
    visitor.value(
        key("beta", "multiplicative decrease factor", "RFC 9438 §4.6")
            .least("0.01")
            .most("0.99"),
        &mut cubic.beta,
    );
    visitor.value(
        key("scale", "scaling constant in segments/s³", "RFC 9438 §5.1")
            .least("0.000001")
            .most("1000"),
        &mut cubic.scale,
    );
    flag(
        "reno_friendly",
        "never slower than Reno (RFC 9438 §4.3)",
        &mut cubic.reno_friendly,
        visitor,
    );
    flag(
        "fast_convergence",
        "release bandwidth to newer flows (RFC 9438 §4.7)",
        &mut cubic.fast_convergence,
        visitor,
    );
    flag(
        "hystart",
        "leave slow start on rising delay (RFC 9406)",
        &mut cubic.hystart,
        visitor,
    );
}

pub(super) const SLOW_STARTS: [Kind<SlowStart>; 3] = [
    Kind {
        name: "per-ack",
        about: "one segment for each acknowledgement of new data",
        base: || SlowStart::PerAck,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "bytes",
        about: "one segment for each acknowledged segment, up to a limit (RFC 3465)",
        // RFC 3465 §2.2: L = 2.
        base: || SlowStart::Bytes { limit: 2 },
        profiles: &[],
        keys: |slow_start, visitor| {
            if let SlowStart::Bytes { limit } = slow_start {
                visitor.value(
                    key(
                        "limit",
                        "segments per acknowledgement, at most",
                        "RFC 3465 §2.2",
                    )
                    .least("1")
                    .most(LARGEST_WINDOW),
                    limit,
                );
            }
        },
    },
    Kind {
        name: "linux",
        about: "one segment for each acknowledged segment up to the threshold (Linux)",
        base: || SlowStart::Linux,
        profiles: &[],
        keys: |_, _| {},
    },
];

pub(super) const IDLE_RESTARTS: [Kind<IdleRestart>; 4] = [
    Kind {
        name: "none",
        about: "nothing",
        base: || IdleRestart::None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "reset",
        about: "the window becomes so many segments (ns-2)",
        base: || IdleRestart::Reset { window: 1 },
        profiles: &[],
        keys: |restart, visitor| {
            if let IdleRestart::Reset { window: segments } = restart {
                visitor.value(
                    window("window", "window after idleness, in segments"),
                    segments,
                );
            }
        },
    },
    Kind {
        name: "rfc5681",
        about: "at most the initial window (RFC 5681 §4.1)",
        base: || IdleRestart::Rfc5681,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "rfc2861",
        about: "halved for each timeout of idleness (RFC 2861)",
        base: || IdleRestart::Rfc2861 { floor: 10 },
        profiles: &[],
        keys: |restart, visitor| {
            if let IdleRestart::Rfc2861 { floor } = restart {
                visitor.value(window("floor", "least window, in segments"), floor);
            }
        },
    },
];

/// Linux: twice the rate in slow start, 1.2 times after it, two segments at once, ten unpaced.
/// Source: Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`, `sk_pacing` defaults.
const LINUX_PACING: Pacing = Pacing {
    slow_start_gain: 2.0,
    avoidance_gain: 1.2,
    quantum: 2,
    unpaced: 10,
};

pub(super) const PACINGS: [Kind<Option<Pacing>>; 2] = [
    Kind {
        name: "off",
        about: "segments leave as soon as the window allows",
        base: || None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "on",
        about: "at a multiple of window/round trip (Linux)",
        base: || Some(LINUX_PACING),
        profiles: &[],
        keys: |pacing, visitor| {
            if let Some(pacing) = pacing {
                let gain = |name, about| key(name, about, "Linux").least("0.1").most("100");
                visitor.value(
                    gain("slow_start_gain", "multiple in slow start"),
                    &mut pacing.slow_start_gain,
                );
                visitor.value(
                    gain("avoidance_gain", "multiple after it"),
                    &mut pacing.avoidance_gain,
                );
                visitor.value(
                    window("quantum", "segments released at once"),
                    &mut pacing.quantum,
                );
                visitor.value(
                    key(
                        "unpaced",
                        "segments at the start that are not paced",
                        "Linux",
                    )
                    .most(LARGEST_WINDOW),
                    &mut pacing.unpaced,
                );
            }
        },
    },
];
