//! The plan of an emulation.

use crate::classify::{Entry, REST, Rule};
use crate::frame::MOST_FRAME_BYTES;
use sojourn_base::{BitRate, Bytes, Direction, Limit, PerDirection, Seed, Span};
use sojourn_record::RecordConfig;
use sojourn_scenario::{DirectedLink, Scenario, WifiChannel};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// One emulation, with every default filled in.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The access link.
    pub access: PerDirection<DirectedLink>,
    /// Wi-Fi channels in front of the access link.
    pub wifi: Vec<WifiChannel>,
    /// Hosts behind the link: one for each address of the far end, at least one. Packets of unknown addresses belong to
    /// the first.
    pub far: Vec<FarEnd>,
    /// Longest IP packet.
    pub mtu: Bytes,
    /// Overhead per packet beyond its IP packet.
    pub overhead: Bytes,
    /// Of the draws of the link and its managers, and of the hashes of flows.
    pub seed: Seed,
    /// Records to keep.
    pub record: RecordConfig,
    /// Entries that say which real packets are theirs; `tcp`, `udp` and `other` are added behind them.
    pub entries: Vec<Entry>,
    /// Bytes of the link-layer header before each IP packet: 0 between TUN devices, 14 between interfaces.
    pub link_header: usize,
}

/// An unsupported request: message and hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Bytes of an Ethernet header (IEEE 802.3).
pub const ETHERNET_HEADER: usize = 14;

/// Both rates together may not be more than this (specification of the emulator, section 10).
const MOST_RATE: BitRate = BitRate::from_mbps(2_000);

/// Longest base round trip (specification of the emulator, section 10).
const LONGEST_ROUND_TRIP: Span = Span::from_s(2);

/// Frames that are always there. chosen: a window of 64 KiB for each of a hundred connections.
const LEAST_FRAMES: u64 = 4_096;

/// Packets below the managed queue of a Wi-Fi station. chosen: more than the firmware of any profile and three aggregates hold.
const MOST_BELOW: u64 = 2_048;

/// Ratio of frames held to those that full-size packets need, because most packets are shorter. chosen: a mean of 375
/// B, that of a game or a call.
const ROOM_FOR_SHORT_ONES: u64 = 4;

impl Plan {
    /// Both rates together.
    pub fn rate(&self) -> BitRate {
        let bps = Direction::BOTH.map(|direction| self.access[direction].link.drain_rate().as_bps());
        BitRate::from_bps(bps[0].saturating_add(bps[1]))
    }

    /// Checks that the plan can be emulated, and returns the number of frames that may be in flight at a time.
    ///
    /// # Errors
    /// Rates above 2 Gb/s in sum; rules of service flows; packets that do not fit through a token bucket; more on its way than fits into the
    /// memory of frames.
    pub fn check(&self) -> Result<usize, Refusal> {
        if self.rate() > MOST_RATE {
            return Err(Refusal {
                message: format!(
                    "both rates together are {}, and more than {MOST_RATE} cannot be emulated",
                    self.rate()
                ),
                hint: "lower the rates of the access link".to_owned(),
            });
        }
        let longest = self.mtu + self.overhead;
        for direction in Direction::BOTH {
            let link = &self.access[direction];
            if !link.flows.is_empty() {
                let direction = direction.as_str();
                return Err(Refusal {
                    message: format!(
                        "access.{direction} has classifiers, markings or service flows, which only simulations have"
                    ),
                    hint: "leave them out: the queue manager sorts by ECN field and code point".to_owned(),
                });
            }
            let charged = u32::try_from(longest.0).unwrap_or(u32::MAX);
            let charged = Bytes(link.framing.charged(charged).into());
            if let Some((key, depth)) = link.link.bucket()
                && charged > depth
            {
                let direction = direction.as_str();
                return Err(Refusal {
                    message: format!(
                        "packets of {} are charged {charged}, and never fit into access.{direction}.{key}, which holds {depth}",
                        self.mtu
                    ),
                    hint: "lower emulate.mtu, or make the bucket deeper".to_owned(),
                });
            }
        }
        let frame = self.mtu.0 + self.link_header as u64;
        let needed = Direction::BOTH
            .iter()
            .fold(0_u64, |sum, direction| sum.saturating_add(self.frames_on_their_way(*direction)));
        let most = MOST_FRAME_BYTES as u64 / frame;
        if needed > most {
            return Err(Refusal {
                message: format!(
                    "queues and round trips hold up to {needed} packets of {}, and there is room for {most}",
                    self.mtu
                ),
                hint: "lower queue limits, round-trip times or rates".to_owned(),
            });
        }
        let frames = needed.saturating_mul(ROOM_FOR_SHORT_ONES);
        let frames = frames.clamp(LEAST_FRAMES.min(most), most);
        Ok(usize::try_from(frames).unwrap_or(usize::MAX))
    }

    /// Returns the stations that real packets pass, each once: numbers of the channel and of the station.
    pub(crate) fn stations(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<_> = self.entries.iter().filter_map(|entry| entry.via).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Full-size packets that wait or are on a wire at most: the limits of queues, and what the rate carries within the link's
    /// delay and the longest round trip.
    fn frames_on_their_way(&self, direction: Direction) -> u64 {
        let link = &self.access[direction];
        let rate = link.link.drain_rate();
        let limit = |link: &DirectedLink| match link.link.queue.clone().at(link.link.drain_rate()).limit() {
            Some(Limit::Packets(packets)) => packets.0.into(),
            Some(Limit::Bytes(bytes)) => bytes.0 / self.mtu.0,
            Some(Limit::Time(_)) | None => 0,
        };
        let stations = self.stations().into_iter();
        let of_stations = stations
            .map(|(channel, station)| limit(&self.wifi[channel].stations[station].links[direction]) + MOST_BELOW);
        let in_queue = of_stations.fold(limit(link), u64::saturating_add);
        let rtt = self.far.iter().map(|far| far.rtt).max();
        let on_wires = rate.bytes_in(link.propagation() + rtt.unwrap_or(Span::ZERO));
        in_queue + on_wires.0 / self.mtu.0 + 1
    }
}

/// One address of the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address.
    pub v6: Ipv6Addr,
    /// Base round trip to it, the propagation of the access link included.
    pub rtt: Span,
    /// Line between the access network and it.
    pub line_rate: BitRate,
}

impl FarEnd {
    /// Most of them (specification of the emulator, section 10).
    pub const MOST: usize = 16;

    /// Addresses of the far end with this number, from 0: 100.64.0.1 and fd73:6f6a::1; of further ones 100.64.0.3 and
    /// fd73:6f6a::3 and so on, because 2 is the inside.
    ///
    /// chosen: shared address space (RFC 6598), which no host has of its own, and a random unique local prefix (RFC 4193).
    pub const fn addresses(number: u8) -> (Ipv4Addr, Ipv6Addr) {
        let last = if number == 0 { 1 } else { number + 2 };
        Self::addresses_ending_in(last)
    }

    /// Propagation between the access link and this address, one way: half of what the access link, with `propagation`
    /// both ways, leaves of the round trip.
    pub fn wire_delay(&self, propagation: Span) -> Span {
        self.rtt.saturating_sub(propagation) / 2
    }

    /// Addresses of the inside.
    pub const INSIDE: (Ipv4Addr, Ipv6Addr) = Self::addresses_ending_in(2);

    const fn addresses_ending_in(last: u8) -> (Ipv4Addr, Ipv6Addr) {
        (Ipv4Addr::new(100, 64, 0, last), Ipv6Addr::new(0xfd73, 0x6f6a, 0, 0, 0, 0, 0, last as u16))
    }
}

/// Settings that a scenario does not have.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Base round trips in place of those of the scenario; empty for these.
    pub round_trips: Vec<Span>,
    /// Seed in place of that of the scenario.
    pub seed: Option<Seed>,
    /// Bytes of the link-layer header before each IP packet.
    pub link_header: usize,
}

impl Plan {
    /// Returns the plan of a scenario, and warnings about it.
    ///
    /// # Errors The first key that only simulations support, or that is missing.
    pub fn of(scenario: &Scenario, options: &Options) -> Result<(Self, Vec<String>), Refusal> {
        if !scenario.homes.is_empty() || !scenario.links.is_empty() {
            return Err(Refusal {
                message: "homes and links beside the access link are simulated, not emulated".to_owned(),
                hint: "leave out [[home]], [[link]] and path".to_owned(),
            });
        }
        let emulate = &scenario.emulate;
        let access = &scenario.access;
        let propagation = access.upstream.propagation() + access.downstream.propagation();
        let far = round_trips(scenario, &options.round_trips)?.into_iter().zip(0..).map(|(rtt, number)| {
            let (v4, v6) = FarEnd::addresses(number);
            FarEnd { v4, v6, rtt, line_rate: emulate.line_rate }
        });
        let far: Vec<FarEnd> = far.collect();
        if let Some(short) = far.iter().find(|far| far.rtt < propagation) {
            return Err(Refusal {
                message: format!(
                    "a round trip of {} is shorter than the access link's propagation of {propagation}",
                    short.rtt
                ),
                hint: format!("emulate.rtt = \"{propagation}\" at least"),
            });
        }
        let (own, simulated): (Vec<_>, Vec<_>) = scenario.traffic.iter().partition(|it| it.matching.is_some());
        let entries: Vec<Entry> = own
            .into_iter()
            .filter_map(|it| {
                let name = it.name.clone();
                let via = it.via.as_ref().and_then(|via| station_of(&scenario.wifi, via));
                Some(Entry { name, rule: Rule::of(&it.matching?), via })
            })
            .collect();
        if let Some(taken) = entries.iter().find(|it| REST.contains(&&*it.name)) {
            return Err(Refusal {
                message: format!(
                    "traffic.{}: an entry of this name is added for packets that match no other",
                    taken.name
                ),
                hint: "give it another name".to_owned(),
            });
        }
        if let Some(entry) = entries.iter().find(|it| it.rule.far >= Some(far.len())) {
            return Err(Refusal {
                message: format!("traffic.{}.match.far: there are {} far addresses", entry.name, far.len()),
                hint: "emulate.rtt has one round trip for each".to_owned(),
            });
        }
        let plan = Self {
            access: access.clone(),
            wifi: scenario.wifi.clone(),
            far,
            mtu: emulate.mtu,
            overhead: emulate.overhead,
            seed: options.seed.unwrap_or(scenario.seed),
            record: scenario.record,
            entries,
            link_header: options.link_header,
        };
        let mut told = Vec::new();
        if options.round_trips.is_empty() && scenario.emulate.round_trips.is_empty() {
            told.extend(
                plan.far.iter().map(|far| format!("round trip: {}, the longest of the traffic entries", far.rtt)),
            );
        }
        if !simulated.is_empty() {
            let names: Vec<&str> = simulated.iter().map(|it| &*it.name).collect();
            told.push(format!("simulated applications do not run here: {}", names.join(", ")));
        }
        if !plan.wifi.is_empty() && plan.stations().is_empty() {
            told.push("no real packets pass a Wi-Fi channel: no entry has match and via".to_owned());
        }
        if plan.rate() > BitRate::from_mbps(1_000) {
            told.push(format!("both rates together are {}: above 1 Gb/s nothing is promised", plan.rate()));
        }
        Ok((plan, told))
    }
}

/// Numbers of a channel and of the station on it that `via` names.
fn station_of(channels: &[WifiChannel], via: &str) -> Option<(usize, usize)> {
    channels.iter().enumerate().find_map(|(number, channel)| {
        let mut stations = channel.stations.iter();
        Some((number, stations.position(|station| channel.path_of(station) == via)?))
    })
}

/// Base round trips to the far addresses: as asked for, as the file says, or the longest of its entries.
fn round_trips(scenario: &Scenario, asked: &[Span]) -> Result<Vec<Span>, Refusal> {
    let said = if asked.is_empty() { &scenario.emulate.round_trips } else { asked };
    let mut found = said.to_vec();
    if found.is_empty() {
        found.extend(longest_of_entries(scenario));
    }
    if found.is_empty() {
        return Err(Refusal {
            message: "emulate.rtt is missing".to_owned(),
            hint: "for instance rtt = \"20 ms\" below [emulate], or --rtt 20ms".to_owned(),
        });
    }
    if let Some(long) = found.iter().find(|rtt| **rtt > LONGEST_ROUND_TRIP) {
        return Err(Refusal {
            message: format!("a base round trip of {long} cannot be emulated"),
            hint: format!("at most {LONGEST_ROUND_TRIP}"),
        });
    }
    if found.len() > FarEnd::MOST {
        return Err(Refusal {
            message: format!("{} round trips need as many far addresses", found.len()),
            hint: format!("at most {}", FarEnd::MOST),
        });
    }
    Ok(found)
}

/// Longest round trip of the traffic entries.
fn longest_of_entries(scenario: &Scenario) -> Option<Span> {
    scenario.traffic.iter().flat_map(|it| &it.servers).map(|server| server.rtt).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::ScenarioFile;

    const LINK: &str = r#"
schema = 1
name = "line"
duration = "10 s"
[access.upstream]
link = { kind = "serial", rate = "10 Mb/s", delay = "3 ms" }
queue = { kind = "fq-codel" }
[access.downstream]
link = { kind = "serial", rate = "50 Mb/s", delay = "3 ms" }
queue = { kind = "pie" }
"#;

    fn plan(more: &str, options: &Options) -> Result<(Plan, Vec<String>), Refusal> {
        let file = ScenarioFile::parse(&format!("{LINK}{more}")).unwrap();
        let scenario = file.validate_for_emulation().unwrap();
        Plan::of(&scenario, options)
    }

    fn refused(more: &str) -> String {
        plan(more, &Options::default()).unwrap_err().message
    }

    #[test]
    fn round_trips_are_those_asked_for_or_said_or_the_longest_of_the_entries() {
        let said = "[emulate]\nrtt = [\"20 ms\", \"80 ms\"]\n";
        let ms = |options: &Options, more: &str| -> Vec<u64> {
            let (plan, _) = plan(more, options).unwrap();
            plan.far.iter().map(|far| far.rtt.as_ns() / 1_000_000).collect()
        };
        let none = Options::default();
        assert_eq!(ms(&none, said), [20, 80]);
        let asked = Options { round_trips: vec![Span::from_ms(300)], ..Options::default() };
        assert_eq!(ms(&asked, said), [300]);
        let call = "[[traffic]]\nname = \"a\"\napp = \"voice\"\nrtt = \"40 ms\"\n";
        assert_eq!(ms(&none, call), [40]);
        let other = call.replace("\"a\"", "\"b\"").replace("40", "50");
        let both = format!("{call}{other}");
        assert_eq!(ms(&none, &both), [50]);
        let (_, told) = plan(&both, &none).unwrap();
        assert_eq!(told[0], "round trip: 50 ms, the longest of the traffic entries");
        assert_eq!(refused(""), "emulate.rtt is missing");
        let long = Options { round_trips: vec![Span::from_ms(2001)], ..Options::default() };
        let refused_long = plan(said, &long).unwrap_err().message;
        assert_eq!(refused_long, "a base round trip of 2.001 s cannot be emulated");
        let short = "[emulate]\nrtt = \"5 ms\"\n";
        assert_eq!(refused(short), "a round trip of 5 ms is shorter than the access link's propagation of 6 ms");
    }

    #[test]
    fn entries_without_a_rule_are_told_and_left_out() {
        let more = "[emulate]\nrtt = \"20 ms\"\n\
            [[traffic]]\nname = \"call\"\napp = \"voice\"\nmatch = { protocol = \"udp\", port = 5004 }\n\
            [[traffic]]\nname = \"other\"\napp = \"voice\"\n";
        let (plan, told) = plan(more, &Options::default()).unwrap();
        let names: Vec<&str> = plan.entries.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["call"]);
        assert_eq!(told, ["simulated applications do not run here: other"]);
        let far = more.replace("port = 5004", "far = 2");
        assert_eq!(refused(&far), "traffic.call.match.far: there are 1 far addresses");
        let taken = more.replace("\"call\"", "\"tcp\"");
        assert!(refused(&taken).starts_with("traffic.tcp: an entry of this name"));
    }

    #[test]
    fn packets_that_never_fit_into_a_bucket_are_refused() {
        let shaped = LINK.replace(
            "kind = \"serial\", rate = \"10 Mb/s\", delay = \"3 ms\"",
            "kind = \"shaped\", rate = \"10 Mb/s\", burst = \"3044 B\"",
        );
        let file = format!("{shaped}[emulate]\nrtt = \"20 ms\"\nmtu = \"9000 B\"\n");
        let file = ScenarioFile::parse(&file).unwrap();
        let scenario = file.validate_for_emulation().unwrap();
        let (plan, _) = Plan::of(&scenario, &Options::default()).unwrap();
        let refusal = plan.check().unwrap_err();
        assert!(refusal.message.contains("never fit into access.upstream."), "{refusal}");
    }
}
