//! Named loads: measurements known by name, each of them several traffic entries.
//!
//! A load is read, taken apart into entries of traffic, and forgotten: what runs and what is printed are the entries.
//!
//! Source: Flent's `tests/*.conf` for streams, marks and pings, its settings LENGTH 60 s and DELAY 5 s;
//! draft-ietf-ippm-responsiveness for `rpm`; White 2013 section 1.4 for `netalyzr`.
//! Deviations: `rrul_down` is ours, the mirror of `rrul_up`. Connections of `rpm` are added each second up to sixteen,
//! whether or not goodput is stable before; its probes ask over a connection beside them, not over theirs.

use sojourn_apps::{ApplicationConfig, BulkConfig, ConstantRateConfig, Distribution, FileSize, ProbeConfig};
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Bytes, Direction, Span};
use sojourn_keys::value::{Word, Worded};
use sojourn_keys::{ItemsOf, Key, Visitor, key, origin, parameters};

use crate::keys::application::ApplicationDraft;
use crate::keys::stack::{self, StackDraft};
use crate::keys::traffic::TrafficDraft;
use crate::model::Stack;

/// Transfers in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Streams {
    /// Ending of the entry's name.
    name: &'static str,
    direction: Direction,
    /// Parallel connections; as many as the load says if `None`.
    lanes: Option<u32>,
    dscp: u8,
    /// How long after the others it begins.
    later: Span,
}

/// Echoes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ping {
    name: &'static str,
    packet: Bytes,
    dscp: u8,
}

/// Parts of a named load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parts {
    streams: &'static [Streams],
    pings: &'static [Ping],
    /// It asks over connections as well.
    is_responsiveness: bool,
    /// Its streams are datagrams at a rate that fills the line, and not transfers.
    fills: bool,
}

/// Differentiated-services code points of Flent's marks. Source: RFC 2474, RFC 3246.
const BACKGROUND: u8 = 8;
const VIDEO: u8 = 40;
const EXPEDITED: u8 = 46;

const fn streams(name: &'static str, direction: Direction, lanes: Option<u32>) -> Streams {
    Streams { name, direction, lanes, dscp: 0, later: Span::ZERO }
}

const fn marked(name: &'static str, direction: Direction, dscp: u8) -> Streams {
    Streams { dscp, ..streams(name, direction, Some(1)) }
}

const UP: Direction = Direction::Upstream;
const DOWN: Direction = Direction::Downstream;

const UP_MARKED: [Streams; 4] = [
    marked("upload-be", UP, 0),
    marked("upload-bk", UP, BACKGROUND),
    marked("upload-cs5", UP, VIDEO),
    marked("upload-ef", UP, EXPEDITED),
];
const DOWN_MARKED: [Streams; 4] = [
    marked("download-be", DOWN, 0),
    marked("download-bk", DOWN, BACKGROUND),
    marked("download-cs5", DOWN, VIDEO),
    marked("download-ef", DOWN, EXPEDITED),
];
const BOTH_MARKED: [Streams; 8] = [
    UP_MARKED[0],
    UP_MARKED[1],
    UP_MARKED[2],
    UP_MARKED[3],
    DOWN_MARKED[0],
    DOWN_MARKED[1],
    DOWN_MARKED[2],
    DOWN_MARKED[3],
];

/// An echo of `ping`: 56 B and 28 B of headers.
const ICMP: Ping = Ping { name: "ping", packet: Bytes(84), dscp: 0 };

const fn udp(name: &'static str, dscp: u8) -> Ping {
    Ping { name, packet: ProbeConfig::FLENT.packet, dscp }
}

const PINGS: [Ping; 4] = [ICMP, udp("ping-udp-be", 0), udp("ping-udp-bk", BACKGROUND), udp("ping-udp-ef", EXPEDITED)];
const PINGS_UNMARKED: [Ping; 4] = [ICMP, udp("ping-udp-be1", 0), udp("ping-udp-be2", 0), udp("ping-udp-be3", 0)];

const fn parts(streams: &'static [Streams], pings: &'static [Ping]) -> Parts {
    Parts { streams, pings, is_responsiveness: false, fills: false }
}

/// One connection more each second, up to sixteen (draft-ietf-ippm-responsiveness).
const fn rising(name: &'static str, direction: Direction) -> [Streams; 16] {
    let mut all = [streams(name, direction, Some(1)); 16];
    let mut at = 0;
    while at < all.len() {
        all[at].later = Span::from_s(at as u64);
        at += 1;
    }
    all
}

const fn word(name: &'static str, about: &'static str, value: Parts) -> Word<Parts> {
    Word { name, value, about }
}

const RPM_DOWN: [Streams; 16] = rising("download", DOWN);
const RPM_UP: [Streams; 16] = rising("upload", UP);

const fn rpm(streams: &'static [Streams]) -> Parts {
    Parts { is_responsiveness: true, ..parts(streams, &[ICMP]) }
}

/// One way after the other, with a pause in which queues drain. Source: White 2013 1.4 (Netalyzr measures both ways up to 20 Mb/s);
/// chosen: datagrams of 1000 B at that rate for 10 s, and 5 s of pause.
const FILLING: [Streams; 2] =
    [streams("download", DOWN, None), Streams { later: Span::from_s(15), ..streams("upload", UP, None) }];
const FILLS_FOR: Span = Span::from_s(10);
/// With headers of IP and UDP.
const FILLER: Bytes = Bytes(1_028);
const FILLS_AT: BitRate = BitRate::from_mbps(20);

const TESTS: &[Word<Parts>] = &[
    word(
        "rrul",
        "four uploads and four downloads, marked CS0, CS1, CS5 and EF; UDP and ICMP pings",
        parts(&BOTH_MARKED, &PINGS),
    ),
    word(
        "rrul_be",
        "four uploads and four downloads; UDP and ICMP pings",
        parts(&[streams("upload", UP, Some(4)), streams("download", DOWN, Some(4))], &PINGS_UNMARKED),
    ),
    word("rrul_up", "the uploads of rrul, and its pings", parts(&UP_MARKED, &PINGS)),
    word("rrul_down", "the downloads of rrul, and its pings", parts(&DOWN_MARKED, &PINGS)),
    word("tcp_upload", "one upload; ICMP pings", parts(&[streams("upload", UP, Some(1))], &[ICMP])),
    word("tcp_download", "one download; ICMP pings", parts(&[streams("download", DOWN, Some(1))], &[ICMP])),
    word("tcp_nup", "N uploads; ICMP pings", parts(&[streams("upload", UP, None)], &[ICMP])),
    word("tcp_ndown", "N downloads; ICMP pings", parts(&[streams("download", DOWN, None)], &[ICMP])),
    word(
        "tcp_bidirectional",
        "one upload and one download; ICMP pings",
        parts(&[streams("upload", UP, Some(1)), streams("download", DOWN, Some(1))], &[ICMP]),
    ),
    word(
        "rpm",
        "a download more each second, up to sixteen; probes over connections: round trips per minute",
        rpm(&RPM_DOWN),
    ),
    word("rpm_up", "the same with uploads", rpm(&RPM_UP)),
    #[cfg(not(target_family = "wasm"))] // no lesson has it, and the engine of browsers is small
    word(
        "netalyzr",
        "datagrams at 20 Mb/s, 10 s down and then 10 s up: they measure speed and buffer",
        Parts { fills: true, ..parts(&FILLING, &[]) },
    ),
    word("ping", "UDP and ICMP pings alone", parts(&[], &PINGS)),
];

/// Longest delay of a stream's start after the others. chosen: the time to start a handful of programs.
const STARTING: Span = Span::from_ms(100);

impl Worded for Parts {
    const WORDS: &'static [Word<Self>] = TESTS;
}

parameters! {
    /// A load as a file spells it.
    pub(crate) struct LoadDraft by blank {
        /// name; unique; the names of its traffic entries begin with it
        name: String = String::new(), origin("no default").required("\"test\"");
        /// the measurement, by Flent's name for it
        parts as "test": Parts = TESTS[0].value, origin("no default").required("\"rrul\"");
        /// parallel connections of tcp_nup and tcp_ndown
        connections: u32 = 4, origin("chosen: four, as of rrul").least("1").most("1000");
        /// how long the load lasts
        length: Span = Span::from_s(60), origin("Flent LENGTH: 60 s").least("1 s").most("5000 h").unit("s");
        /// start; pings start with the run
        delay: Span = Span::from_s(5), origin("Flent DELAY: 5 s").most("5000 h").unit("s");
        /// fixed round-trip time to the server
        round_trips as "rtt": Vec<Span> = Vec::new(),
            origin("White 2012 §2.3: the shortest that the access link allows").one_or_many().most("20 s");
        /// the implementation of TCP on both ends
        stack: Stack = stack::blank(), origin("no default").required("\"linux-cubic\"") => stack::choice;
    }
}

impl LoadDraft {
    /// The entries that it stands for.
    pub(crate) fn into_traffic(self) -> Vec<TrafficDraft> {
        let until = self.delay.saturating_add(self.length);
        let several = |name: &str| self.parts.streams.iter().filter(|s| s.name == name).count() > 1;
        let mut numbers = 1..;
        let mut entries = Vec::new();
        for stream in self.parts.streams {
            let number = several(stream.name)
                .then(|| numbers.next())
                .flatten()
                .map_or(String::new(), |number: u32| format!("-{number}"));
            let start = self.delay.saturating_add(stream.later);
            if start >= until {
                continue;
            }
            if self.parts.fills && !IN_TAB {
                let app = ApplicationConfig::from(ConstantRateConfig {
                    direction: stream.direction,
                    packet: Distribution::Constant(FILLER),
                    interval: Distribution::Constant(FILLS_AT.time_for(FILLER)),
                    start,
                    start_jitter: Span::ZERO,
                    stop: Some(start.saturating_add(FILLS_FOR)),
                    ..ConstantRateConfig::BASE
                });
                entries.push(self.entry(stream.name, app, stream.dscp));
                continue;
            }
            let app = ApplicationConfig::from(BulkConfig {
                direction: stream.direction,
                lanes: stream.lanes.unwrap_or(self.connections),
                file: FileSize::Endless,
                start,
                start_jitter: STARTING,
                stop: Some(until),
                ..BulkConfig::CONTINUOUS
            });
            entries.push(self.entry(&format!("{}{number}", stream.name), app, stream.dscp));
        }
        for ping in self.parts.pings {
            let app = ApplicationConfig::from(ProbeConfig {
                packet: ping.packet,
                loaded_from: self.delay,
                loaded_until: Some(until),
                ..ProbeConfig::FLENT
            });
            entries.push(self.entry(ping.name, app, ping.dscp));
        }
        if self.parts.is_responsiveness {
            let app = ApplicationConfig::from(ProbeConfig {
                loaded_from: self.delay,
                loaded_until: Some(until),
                ..ProbeConfig::RESPONSIVENESS
            });
            entries.push(self.entry("responsiveness", app, 0));
        }
        entries
    }

    fn entry(&self, ending: &str, app: ApplicationConfig, dscp: u8) -> TrafficDraft {
        TrafficDraft {
            name: format!("{}-{ending}", self.name),
            application: ApplicationDraft { is_absent: false, application: app },
            stack: StackDraft { is_said: false, stack: self.stack.clone() },
            round_trips: self.round_trips.clone(),
            dscp,
            ..TrafficDraft::blank()
        }
    }
}

/// The list of named loads.
pub(crate) const LOADS: Key =
    key("load", "measurements known by name, each of them several traffic entries", "chosen: none").most("100");

/// Shows a list of named loads, if there may be one.
pub(crate) fn show(key: Key, loads: &mut Vec<LoadDraft>, visitor: &mut dyn Visitor) {
    if visitor.has("load") || visitor.is_exhaustive() {
        let mut items = ItemsOf { items: loads, base: LoadDraft::blank, keys: LoadDraft::keys };
        visitor.items(key, &mut items);
    }
}
