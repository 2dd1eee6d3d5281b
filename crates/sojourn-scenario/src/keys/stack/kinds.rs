//! The parts of a stack that come in kinds and have no file of their own: slow start, idle restart, pacing.
//!
//! Source: RFC 5681, RFC 3465, RFC 2861; Linux. Deviations: none known.

use sojourn_transport::config::{IdleRestart, Pacing, SlowStart};

use super::{LARGEST_WINDOW, window};
use sojourn_keys::{Kind, key};

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
        base: || Some(Pacing::LINUX),
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
