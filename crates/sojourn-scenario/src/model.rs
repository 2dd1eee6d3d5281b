//! A scenario as the engine runs it: typed, complete, every default filled in.
//!
//! Source: White 2012 §2.3 and §3.1 (one access link, servers behind it), White 2013 §3.5 and §3.6
//! (the same, with more traffic); homes as in docs/guides/write-a-scenario.md.
//! Units and ranges: what validation accepts; a [`Scenario`] made by hand is not checked.
//! Deviations: none known.

pub use crate::emulate::{EmulateConfig, MatchConfig, MatchedProtocol};
use sojourn_apps::ApplicationConfig;
use sojourn_base::native::{Native, native};
use sojourn_base::{BitRate, Direction, Ecn, PerDirection, Seed, Span};
use sojourn_keys::words;
use sojourn_link::wifi::channel::{ChannelSpec, DeviceSpec, PortSpec};
use sojourn_link::wifi::config::{
    Decibels, DeviceConfig, DeviceProfile, Neighbour, RadioConfig, SnrChange, Standard, StationRate, signal,
};
use sojourn_link::{ConditionConfig, DownstreamMemberConfig, Framing, GroupConfig, LinkConfig, MemberConfig};
use sojourn_queue::ManagerConfig;
pub use sojourn_record::{LatencyHistogramConfig, RecordConfig};
use sojourn_transport::StackConfig;
use sojourn_transport::library::{LibraryStack, known_libraries};

/// A run, apart from its seed. Two scenarios are equal exactly if their canonical prints are.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name, for people; it enters the canonical print like everything else.
    pub name: String,
    /// How much time is simulated.
    pub duration: Span,
    /// Start of measuring: metrics describe the time from then on.
    pub measured_from: Span,
    /// Seed of the first run.
    pub seed: Seed,
    /// Number of runs that the file asks for, with consecutive seeds.
    pub seed_count: u32,
    /// The access link, in each direction with its own queue: that of the lone subscriber, or of each home
    /// that has no other.
    pub access: PerDirection<DirectedLink>,
    /// The channels that homes share whose access links are those of modems of a service group.
    pub group: GroupConfig,
    /// Links beside the access link, which subscribers share.
    pub links: Vec<SharedLink>,
    /// Wi-Fi channels.
    pub wifi: Vec<WifiChannel>,
    /// Links that packets pass, from the subscriber to the network; `None` for the access link alone.
    pub path: Option<Vec<String>>,
    /// Traffic of a lone subscriber; empty if there are homes.
    pub traffic: Vec<Traffic>,
    /// Several subscribers.
    pub homes: Vec<Home>,
    /// Changes during the run, in the order of time.
    pub changes: Vec<Change>,
    /// Records to keep.
    pub record: RecordConfig,
    /// The far side of an emulation.
    pub emulate: EmulateConfig,
}

/// Keys that get other values at one time of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time of the change.
    pub at: Span,
    /// Key paths with their new values as TOML.
    pub set: Vec<(String, String)>,
    /// The scenario from then on, without changes.
    pub then: Scenario,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectedLink {
    /// The link, which contains its queue's manager.
    pub link: LinkConfig,
    /// Overhead of a packet on it.
    pub framing: Framing,
    /// The latency histogram that its device keeps of each queue.
    pub latency_histogram: Option<LatencyHistogramConfig>,
    /// Conditions of the link during a run.
    pub conditions: Vec<ConditionConfig>,
    /// Service flows of its modem beside the first, and rules that say which packets go where.
    pub flows: sojourn_link::FlowsConfig,
}

/// A link that several subscribers may share.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLink {
    /// Name, unique in the scenario; paths name it.
    pub name: String,
    /// Its directions; packets of a direction that it does not have pass it by.
    pub directions: PerDirection<Option<DirectedLink>>,
}

/// The name of a channel's access point beside those of its stations.
pub const ACCESS_POINT: &str = "ap";

/// A Wi-Fi channel.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiChannel {
    /// Name, unique in the scenario.
    pub name: String,
    /// The radio of all devices.
    pub radio: RadioConfig,
    /// Pairs of devices that do not hear each other.
    pub hidden: Vec<String>,
    /// Queues of the access point.
    pub access_point: WifiDevice,
    /// Its stations.
    pub stations: Vec<WifiStation>,
    /// Other homes on the channel.
    pub neighbours: Vec<WifiNeighbour>,
}

/// Queues of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiDevice {
    /// The device whose queues these are where keys do not say otherwise.
    pub profile: DeviceProfile,
    /// The queues.
    pub config: DeviceConfig,
    /// The manager of each.
    pub queue: ManagerConfig,
}

/// A station.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiStation {
    /// Name, unique on the channel.
    pub name: String,
    /// Mode of the frames both ways, or of those to it.
    pub rate: StationRate,
    /// Mode of the frames that it sends, where that is another one.
    pub upstream_rate: Option<StationRate>,
    /// Its standard, where that is older than the channel's.
    pub standard: Option<Standard>,
    /// Signal over noise, if frames are lost to noise.
    pub snr: Option<Decibels>,
    /// It walks within this of its mean.
    pub snr_walk: Option<Decibels>,
    /// Changes of its mean.
    pub conditions: Vec<SnrChange>,
    /// Its own queues.
    pub device: WifiDevice,
    /// Its two directions as links: what the keys make of them.
    pub links: PerDirection<DirectedLink>,
}

/// Another home on a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiNeighbour {
    /// Name, unique on the channel.
    pub name: String,
    /// Rate that its stations send together.
    pub load: BitRate,
    /// Mode of its frames.
    pub rate: StationRate,
    /// Devices that send.
    pub stations: u32,
}

impl WifiStation {
    /// Returns its rate in this direction.
    pub fn rate_of(&self, direction: Direction) -> StationRate {
        match direction {
            Direction::Upstream => self.upstream_rate.unwrap_or(self.rate),
            Direction::Downstream => self.rate,
        }
    }
}

impl WifiChannel {
    /// Returns the channel as it is built, with these directions of its stations.
    pub fn spec<'a>(&'a self, ports: Vec<PortSpec<'a>>) -> ChannelSpec<'a> {
        let radio = &self.radio;
        let device = |device: &WifiDevice| DeviceSpec { config: device.config, queue: device.queue.clone() };
        let stations = self.stations.iter().map(|it| {
            let own = radio.of(it.standard);
            let rates = |direction| it.rate_of(direction).control(&own, signal(it.snr, it.snr_walk, &it.conditions));
            let (upstream, downstream) = (rates(Direction::Upstream), rates(Direction::Downstream));
            (device(&it.device), PerDirection { upstream, downstream })
        });
        let neighbours = self.neighbours.iter();
        let neighbours =
            neighbours.map(|it| Neighbour { load: it.load, mode: it.rate.usual(radio), stations: it.stations });
        ChannelSpec {
            radio,
            access_point: device(&self.access_point),
            stations: stations.collect(),
            neighbours: neighbours.collect(),
            hidden: self.hidden_pairs().into_iter().flatten().collect(),
            ports,
        }
    }

    /// Returns the pairs that do not hear each other, by number: the access point is 0, stations follow. `None` for a pair that
    /// is not two of them.
    pub fn hidden_pairs(&self) -> Vec<Option<(usize, usize)>> {
        let number = |name: &str| {
            let station = self.stations.iter().position(|station| station.name == name);
            if name == ACCESS_POINT { Some(0) } else { station.map(|place| place + 1) }
        };
        let pair = |pair: &String| {
            let (one, other) = pair.split_once(' ')?;
            let pair = (number(one)?, number(other.trim())?);
            (pair.0 != pair.1).then_some(pair)
        };
        self.hidden.iter().map(pair).collect()
    }

    /// The name of a station in paths.
    pub fn path_of(&self, station: &WifiStation) -> String {
        format!("wifi.{}.{}", self.name, station.name)
    }
}

/// Subscribers who are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Home {
    /// Name, unique in the scenario; the subjects of their records begin with it.
    pub name: String,
    /// How many they are.
    pub count: u32,
    /// The access link of each, if it is not that of the scenario.
    pub access: Option<PerDirection<DirectedLink>>,
    /// Links that their packets pass, from the home to the network; `None` for those of the scenario.
    pub path: Option<Vec<String>>,
    /// Traffic of each home.
    pub traffic: Vec<Traffic>,
}

/// An application and the ends of its connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Name, unique in the scenario; the subject of its records and the path of its random streams.
    pub name: String,
    /// Its application.
    pub application: ApplicationConfig,
    /// Transport protocol and its name; `None` for applications that send datagrams only.
    pub stack: Option<Stack>,
    /// The station of a Wi-Fi channel that its packets pass first.
    pub via: Option<String>,
    /// Links that its packets pass, from the subscriber to the network; `None` for those of the subscriber.
    pub path: Option<Vec<String>>,
    /// The far ends, as many as [`ApplicationConfig::servers`] says.
    pub servers: Vec<Server>,
    /// DSCP of its packets, 0 to 63.
    pub dscp: u8,
    /// ECN field of its datagrams; connections follow their stack.
    pub ecn: Ecn,
    /// Which port a new connection has at the subscriber's end.
    pub ports: Ports,
    /// The host at the subscriber's end; `None` for the one that all such entries of a home are of.
    pub host: Option<String>,
    /// The tunnel that hides its flows: all of one tunnel are one flow to queues.
    pub tunnel: Option<String>,
    /// Its timers stand still.
    pub paused: bool,
    /// The subject of the first sentence of an answer; simulations ignore it.
    pub about: bool,
    /// Which real packets are its own in an emulation.
    pub matching: Option<MatchConfig>,
}

words! {
    /// Which port a new connection has at the subscriber's end; flow queueing hashes it.
    pub enum Ports {
        /// one that was not used before, as of a host
        ///
        /// RFC 6056.
        Fresh = "fresh",
        /// one that an ended connection to the same server gave back, as of an agent of ns-2
        Kept = "kept",
    }
}

words! {
    /// Marking of a library's packets.
    pub enum LibraryEcn {
        /// packets are not ECN-capable, whatever the library asks for
        Off = "off",
        /// the library decides
        Library = "classic",
    }
}

/// A transport library of others, by the name of its plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryConfig {
    /// The name that the plugin's file has.
    pub name: String,
    /// Digest of that file; `given` until it is known.
    pub digest: String,
    /// The library's word for its congestion controller; `default` for its own choice.
    pub controller: String,
    /// Marking of its packets.
    pub ecn: LibraryEcn,
}

/// The digest of the file that is given, before it is known.
pub(crate) const GIVEN: &str = "given";

/// The controller that a library chooses itself.
pub(crate) const OWN: &str = "default";

/// Before the name of a kernel that is a library: `linux@6.12`. No file of a plugin has such a name.
pub(crate) const KERNEL: &str = "linux@";

/// The kernel that was built last.
pub(crate) const NEWEST: &str = "newest";

impl LibraryConfig {
    /// The name of the kernel, if it is one.
    pub fn kernel(&self) -> Option<&str> {
        self.name.strip_prefix(KERNEL)
    }

    /// The library, ready to open connections; nothing in a process that has not loaded it.
    pub fn build(&self) -> Option<Native<LibraryStack>> {
        let library = known_libraries().remove(&self.name)?.library?;
        native(|| LibraryStack {
            library,
            controller: if self.controller == OWN { String::new() } else { self.controller.clone() },
            ecn: self.ecn == LibraryEcn::Library,
        })
    }
}

/// A named set of transport parameters, or a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The name under which the parameters are known, for instance `linux-cubic`.
    pub name: String,
    /// The parameters; of a library, sizes of packets alone count.
    pub config: StackConfig,
    /// The library, if it is one.
    pub library: Option<Native<LibraryConfig>>,
}

/// A far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Fixed round-trip time between the subscriber and this server: the propagation of the links between
    /// them in both directions is part of it, queueing and the access network's MAC are not.
    pub rtt: Span,
    /// Rate of the line between the last link and this server.
    pub line_rate: BitRate,
}

impl Scenario {
    /// Rate of the access link in `direction` in the long run, on an uncongested channel.
    pub fn access_rate(&self, direction: Direction) -> BitRate {
        self.access[direction].link.drain_rate()
    }
}

impl Change {
    /// Returns true if it pauses or resumes an entry.
    pub fn pauses(&self) -> bool {
        let mut paths = self.set.iter();
        paths.any(|(path, _)| path.ends_with("paused"))
    }
}

impl DirectedLink {
    /// Returns its service, if it is a modem of a service group where it is a subscriber's access link upstream.
    pub fn modem(&self) -> Option<&MemberConfig> {
        self.link.link.get()
    }

    /// Returns true if it is a modem of a service group where it is a subscriber's access link in this direction.
    pub fn is_modem(&self, direction: Direction) -> bool {
        match direction {
            Direction::Upstream => self.link.link.get::<MemberConfig>().is_some(),
            Direction::Downstream => self.link.link.get::<DownstreamMemberConfig>().is_some(),
        }
    }

    /// Propagation of this direction.
    pub fn propagation(&self) -> Span {
        self.link.delay()
    }
}

impl Server {
    /// Rate of a server's line. Source: docsis-mac notes on White 2012 §2.3, [asm]: 1 Gb/s, never the
    /// bottleneck.
    pub const LINE_RATE: BitRate = BitRate::from_mbps(1_000);

    /// Propagation between the last link and this server, one way: half of what the links, with
    /// `propagation` both ways, leave of the round-trip time.
    pub fn wire_delay(&self, propagation: Span) -> Span {
        self.rtt.saturating_sub(propagation) / 2
    }
}
