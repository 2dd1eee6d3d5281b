//! Keys of transport stacks.
//!
//! Source: the RFCs that define the mechanisms; a stack's name stands for the values of the study or
//! system that it is named after. Deviations: none known.

mod kinds;
mod words;

use sojourn_transport::StackConfig;
use sojourn_transport::config::{
    AckPolicy, ConnectPolicy, ControllerConfig, DelayedAck, IdleRestart, SlowStart, TimeoutPolicy,
    WireSizes,
};
use sojourn_transport::habits::Habits;

use kinds::{IDLE_RESTARTS, PACINGS, SLOW_STARTS};
use words::{
    ACK_TIMERS, ACK_UNITS, ECN_MODES, FORMULAS, GROWTH_GATES, HANDSHAKES, LOSS_DETECTIONS,
    RECOVERIES, REDUCTION_BASES, SAMPLINGS, SLOW_START_EXITS, THRESHOLDS, WINDOW_UNITS,
};

use crate::model::Stack;
use sojourn_keys::value::{Or, Value, Word, Words};
use sojourn_keys::{Choice, Key, KindInfo, OneOf, Visitor, bytes, key};

/// A stack as a choice among all named ones.
pub(crate) struct StackChoice<'a>(pub(crate) &'a mut Stack);

impl Choice for StackChoice<'_> {
    fn kinds(&self) -> Vec<KindInfo> {
        StackConfig::names()
            .map(|name| KindInfo {
                name,
                about: about(name),
                profiles: Vec::new(),
            })
            .collect()
    }

    fn selected(&self) -> &'static str {
        StackConfig::names()
            .find(|name| *name == self.0.name)
            .unwrap_or_default()
    }

    fn select(&mut self, kind: &str, _profile: Option<&str>) {
        if let Some(config) = StackConfig::by_name(kind) {
            *self.0 = Stack {
                name: kind.to_owned(),
                config,
            };
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        keys(&mut self.0.config, visitor);
    }
}

/// What a stack is, for the reference page.
fn about(name: &str) -> &'static str {
    match name {
        "ns2-linux-cubic" => "uploads of White 2012 and 2013: ns-2 TCP/Linux with CUBIC",
        "ns2-reno" => "bursty uploads of White 2012 and 2013: ns-2 TCP/Reno",
        "ns2-bsd-sack" => "web traffic of White 2012 and 2013: ns-2 FullTcp with SACK",
        "ns2-ledbat" => "BitTorrent of White 2013: ns-2 TCP/Linux with LEDBAT, target 100 ms",
        "ns2-ledbat-25ms" => "the same with the module's own target of 25 ms",
        "akhtar2013" => "all traffic of Akhtar 2013: ns-2 FullTcp, initial window 10",
        "ns3-2019" => "background traffic of White 2019: ns-3 NewReno of early 2020",
        "docsis-ns3-1.2" => {
            "the same in version 1.2 of the study's simulator: paced, first window of 10"
        }
        "linux-cubic" => "Linux of today with CUBIC",
        "linux-reno" => "Linux of today with Reno",
        "bsd-reno" => "a BSD of today, in outline",
        "windows-cubic" => "Windows of today, in outline",
        "linux-6" => "a server of today: Linux 6 with CUBIC and pacing",
        "bbr1" => "BBR, version 1, on a Linux of today",
        "bbr3" => "BBR, version 3, on a Linux of today",
        "prague" => "TCP Prague, the congestion control of L4S, on a Linux of today",
        "dctcp" => "DCTCP as in RFC 8257 on a Linux of today",
        "ledbat" => "LEDBAT as in RFC 6817 on a Linux of today",
        _ => "see the page of the transport models",
    }
}

/// Where the defaults of a stack's keys come from.
const ORIGIN: &str = "by the stack's name";
/// Largest window, in segments. chosen: the receive window that never limits a flow in any named stack.
const LARGEST_WINDOW: &str = "100000";
/// Largest packet.
const LARGEST_PACKET: &str = "65535 B";
/// Longest timer.
const LONGEST_TIMER: &str = "24 h";

fn window(name: &'static str, about: &'static str) -> Key {
    key(name, about, ORIGIN).least("1").most(LARGEST_WINDOW)
}

fn timer(name: &'static str, about: &'static str) -> Key {
    key(name, about, ORIGIN).most(LONGEST_TIMER)
}

fn word<T: Copy + PartialEq>(
    name: &'static str,
    about: &'static str,
    value: &mut T,
    words: &'static [Word<T>],
    visitor: &mut dyn Visitor,
) {
    visitor.value(key(name, about, ORIGIN), &mut Words { value, words });
}

fn flag(name: &'static str, about: &'static str, value: &mut bool, visitor: &mut dyn Visitor) {
    visitor.value(key(name, about, ORIGIN), value);
}

fn optional<T: Value + Default>(
    key: Key,
    word: &'static str,
    value: &mut Option<T>,
    visitor: &mut dyn Visitor,
) {
    visitor.value(key, &mut Or { value, word });
}

fn keys(config: &mut StackConfig, visitor: &mut dyn Visitor) {
    bytes(
        key("maximum_segment_size", "payload of a full segment", ORIGIN)
            .least("1 B")
            .most(LARGEST_PACKET),
        &mut config.maximum_segment_size,
        visitor,
    );
    visitor.value(
        window("initial_window", "initial window in segments"),
        &mut config.initial_window,
    );
    word(
        "initial_threshold",
        "initial slow-start threshold",
        &mut config.initial_threshold,
        THRESHOLDS,
        visitor,
    );
    visitor.value(
        window(
            "receive_window",
            "what the peer is willing to receive, in segments; for ns-2 stacks the default is 16 \
             times what the access link carries in 100 ms",
        ),
        &mut config.receive_window,
    );
    flag(
        "nagle",
        "hold back a short segment while data are unacknowledged (RFC 896)",
        &mut config.nagle,
        visitor,
    );
    flag(
        "nagle_fin_flush",
        "a short segment that carries the FIN is not held back",
        &mut config.nagle_fin_flush,
        visitor,
    );
    word(
        "sampling",
        "what round-trip samples are taken from",
        &mut config.sampling,
        SAMPLINGS,
        visitor,
    );
    word(
        "loss_detection",
        "how the sender concludes that a segment is lost",
        &mut config.loss_detection,
        LOSS_DETECTIONS,
        visitor,
    );
    flag(
        "tail_loss_probe",
        "probe for a lost tail before the retransmission timeout (RFC 8985 §7)",
        &mut config.tail_loss_probe,
        visitor,
    );
    flag(
        "limited_transmit",
        "send a new segment on each of the first two duplicates (RFC 3042)",
        &mut config.limited_transmit,
        visitor,
    );
    word(
        "recovery",
        "sending during recovery",
        &mut config.recovery,
        RECOVERIES,
        visitor,
    );
    word(
        "reduction_base",
        "the quantity that a congestion event multiplies",
        &mut config.reduction_base,
        REDUCTION_BASES,
        visitor,
    );
    window_keys(config, visitor);
    sub_tables(config, visitor);
}

fn window_keys(config: &mut StackConfig, visitor: &mut dyn Visitor) {
    word(
        "growth_gate",
        "when the window may grow",
        &mut config.growth_gate,
        GROWTH_GATES,
        visitor,
    );
    word(
        "window_unit",
        "unit of the window",
        &mut config.window_unit,
        WINDOW_UNITS,
        visitor,
    );
    word(
        "slow_start_exit",
        "what ends the first slow start before a loss does",
        &mut config.slow_start_exit,
        SLOW_START_EXITS,
        visitor,
    );
    word(
        "ecn",
        "explicit congestion notification",
        &mut config.ecn,
        ECN_MODES,
        visitor,
    );
    flag(
        "accecn_option",
        "the count of marks comes back in full, not modulo 8 (RFC 9768 §3.2.3)",
        &mut config.accecn_option,
        visitor,
    );
}

fn sub_tables(config: &mut StackConfig, visitor: &mut dyn Visitor) {
    visitor.choice(
        key("controller", "congestion controller", ORIGIN),
        &mut OneOf::among(
            &mut config.controller,
            ControllerConfig::kinds(),
            ControllerConfig::kind,
        ),
    );
    visitor.choice(
        key("slow_start", "growth in slow start", ORIGIN),
        &mut OneOf::new(
            &mut config.slow_start,
            &SLOW_STARTS,
            |slow_start| match slow_start {
                SlowStart::PerAck => "per-ack",
                SlowStart::Bytes { .. } => "bytes",
                SlowStart::Linux => "linux",
            },
        ),
    );
    visitor.choice(
        key("idle_restart", "what idleness does to the window", ORIGIN),
        &mut OneOf::new(
            &mut config.idle_restart,
            &IDLE_RESTARTS,
            |restart| match restart {
                IdleRestart::None => "none",
                IdleRestart::Reset { .. } => "reset",
                IdleRestart::Rfc5681 => "rfc5681",
                IdleRestart::Rfc2861 { .. } => "rfc2861",
            },
        ),
    );
    visitor.choice(
        key("pacing", "spreading over the round trip", ORIGIN),
        &mut OneOf::new(&mut config.pacing, &PACINGS, |pacing| {
            if pacing.is_some() { "on" } else { "off" }
        }),
    );
    visitor.table(key("wire", "sizes of packets", ORIGIN), &mut |visitor| {
        wire_keys(&mut config.wire, visitor);
    });
    visitor.table(
        key("connect", "opening a connection", ORIGIN),
        &mut |visitor| {
            connect_keys(&mut config.connect, visitor);
        },
    );
    visitor.table(
        key("acknowledge", "when acknowledgements are sent", ORIGIN),
        &mut |visitor| {
            acknowledge_keys(&mut config.acknowledge, visitor);
        },
    );
    visitor.table(
        key("timeout", "retransmission timeouts", ORIGIN),
        &mut |visitor| {
            timeout_keys(&mut config.timeout, visitor);
        },
    );
    visitor.table(
        key(
            "habits",
            "where the implementation departs from the documents",
            ORIGIN,
        ),
        &mut |visitor| {
            habit_keys(&mut config.habits, visitor);
        },
    );
}

fn wire_keys(wire: &mut WireSizes, visitor: &mut dyn Visitor) {
    let size = |name, about| key(name, about, ORIGIN).most("1000 B");
    for (key, value) in [
        (
            size("data_header", "headers of a data segment").least("20 B"),
            &mut wire.data_header,
        ),
        (
            size(
                "acknowledgement",
                "pure acknowledgement without SACK blocks",
            )
            .least("20 B"),
            &mut wire.acknowledgement,
        ),
        (
            size("sack_base", "added once if there is any SACK block"),
            &mut wire.sack_base,
        ),
        (
            size("sack_block", "added for each SACK block"),
            &mut wire.sack_block,
        ),
        (size("syn", "SYN and SYN-ACK").least("20 B"), &mut wire.syn),
    ] {
        bytes(key, value, visitor);
    }
}

fn connect_keys(connect: &mut ConnectPolicy, visitor: &mut dyn Visitor) {
    word(
        "handshake",
        "how a connection begins",
        &mut connect.handshake,
        HANDSHAKES,
        visitor,
    );
    visitor.value(
        timer("timeout", "wait before the first repetition of the SYN")
            .least("1 ms")
            .unit("s"),
        &mut connect.timeout,
    );
    optional(
        timer("maximum_timeout", "longest wait between two attempts")
            .least("1 ms")
            .unit("s"),
        "unlimited",
        &mut connect.maximum_timeout,
        visitor,
    );
    optional(
        key("attempts", "attempts before the connection fails", ORIGIN).least("1"),
        "unlimited",
        &mut connect.attempts,
        visitor,
    );
    optional(
        key(
            "single_segment_after",
            "the initial window is one segment once so many SYNs had to be repeated",
            ORIGIN,
        )
        .least("1"),
        "never",
        &mut connect.single_segment_after,
        visitor,
    );
    flag(
        "separate_acknowledgement",
        "the SYN-ACK is acknowledged with a packet of its own even if there are data to send",
        &mut connect.separate_acknowledgement,
        visitor,
    );
}

fn acknowledge_keys(acknowledge: &mut AckPolicy, visitor: &mut dyn Visitor) {
    visitor.value(
        window(
            "every",
            "acknowledge at once when so many units are pending",
        ),
        &mut acknowledge.every,
    );
    word(
        "unit",
        "the unit of every",
        &mut acknowledge.unit,
        ACK_UNITS,
        visitor,
    );
    let (mut delay, mut heartbeat) = match acknowledge.delay {
        DelayedAck::OneShot(delay) => (delay, false),
        DelayedAck::Heartbeat(delay) => (delay, true),
    };
    visitor.value(
        timer("delay", "otherwise after this time").least("1 us"),
        &mut delay,
    );
    word(
        "timer",
        "what the delay is counted from",
        &mut heartbeat,
        ACK_TIMERS,
        visitor,
    );
    acknowledge.delay = if heartbeat {
        DelayedAck::Heartbeat(delay)
    } else {
        DelayedAck::OneShot(delay)
    };
    visitor.value(
        key(
            "quick",
            "segments at the start, and after idleness, that are not delayed",
            ORIGIN,
        )
        .most(LARGEST_WINDOW),
        &mut acknowledge.quick,
    );
}

fn timeout_keys(timeout: &mut TimeoutPolicy, visitor: &mut dyn Visitor) {
    word(
        "formula",
        "timeout from round-trip estimates",
        &mut timeout.formula,
        FORMULAS,
        visitor,
    );
    visitor.value(
        timer("minimum", "lower bound, applied before back-off").least("1 ms"),
        &mut timeout.minimum,
    );
    visitor.value(
        timer("maximum", "upper bound, applied after back-off")
            .least("1 ms")
            .unit("s"),
        &mut timeout.maximum,
    );
    visitor.value(
        timer("granularity", "clock granularity"),
        &mut timeout.granularity,
    );
    flag(
        "gentle_on_falling_samples",
        "a sample below the mean raises the variance at an eighth of the normal gain (Linux)",
        &mut timeout.gentle_on_falling_samples,
        visitor,
    );
    visitor.value(
        key(
            "retries",
            "expiries in a row before the connection is given up",
            ORIGIN,
        ),
        &mut timeout.retries,
    );
    flag(
        "clears_scoreboard",
        "the SACK scoreboard is forgotten at a timeout (ns-2 FullTcp)",
        &mut timeout.clears_scoreboard,
        visitor,
    );
}

fn habit_keys(habits: &mut Habits, visitor: &mut dyn Visitor) {
    for (name, about, value) in [
        (
            "ignores_old_acknowledgements",
            "an acknowledgement below the first outstanding segment says nothing (ns-2 TCP/Linux)",
            &mut habits.ignores_old_acknowledgements,
        ),
        (
            "duplicates_restart_timeout",
            "an acknowledgement of nothing new restarts the timer, too (ns-2 TCP/Linux)",
            &mut habits.duplicates_restart_timeout,
        ),
        (
            "samples_duplicates",
            "duplicates that say nothing new are round-trip samples, too (ns-2 TCP/Linux)",
            &mut habits.samples_duplicates,
        ),
        (
            "grows_by_all_covered",
            "the window grows by all that is covered, SACKed before or not (ns-2 TCP/Linux)",
            &mut habits.grows_by_all_covered,
        ),
        (
            "grows_before_state_changes",
            "the window grows before the state changes (ns-2 TCP/Linux)",
            &mut habits.grows_before_state_changes,
        ),
        (
            "recovers_during_timeout_repair",
            "a loss found while a timeout is repaired begins a recovery (ns-2 TCP/Linux)",
            &mut habits.recovers_during_timeout_repair,
        ),
        (
            "forgets_scoreboard_after_episode",
            "the scoreboard is forgotten when an episode ends (ns-2 TCP/Linux)",
            &mut habits.forgets_scoreboard_after_episode,
        ),
        (
            "sends_beyond_receive_window",
            "the receive window limits the congestion window only (ns-2 TCP/Linux)",
            &mut habits.sends_beyond_receive_window,
        ),
        (
            "grows_when_recovery_ends",
            "the acknowledgement that ends a recovery opens the window, too (ns-2 TCP/Reno)",
            &mut habits.grows_when_recovery_ends,
        ),
        (
            "every_expiry_reduces",
            "each expiry of the timer reduces from the window, not one per episode (ns-2)",
            &mut habits.every_expiry_reduces,
        ),
    ] {
        flag(name, about, value, visitor);
    }
}

/// The receive window that a stack of ns-2 gets from the rate of the access link; others keep theirs.
pub(crate) fn fit_receive_window(stack: &mut Stack, rate: sojourn_base::BitRate) {
    let fitted = stack.config.with_access_rate(rate);
    stack.config.receive_window = fitted.receive_window;
}
