//! Keys of Wi-Fi channels: the radio, the access point, stations and neighbours.
//!
//! Source: docs/models/wifi.md. Deviations: none known.

use sojourn_base::{BitRate, Direction, PerDirection};
use sojourn_keys::{ItemsOf, Key, Parameter as _, Visitor, key};
use sojourn_link::LinkConfig;
use sojourn_link::wifi::config::{DeviceProfile, RadioConfig, SnrChange, StationRate, WifiMemberConfig};

use crate::keys::network::blank_link;
use crate::keys::queue;
use crate::model::{WifiChannel, WifiDevice, WifiNeighbour, WifiStation};

/// Most channels of a scenario. chosen: more than a home and its neighbours have.
const MOST_CHANNELS: &str = "16";

/// Most stations of a channel, and most neighbours. chosen: above what an access point has.
const MOST_STATIONS: &str = "256";

impl WifiDevice {
    fn like(profile: DeviceProfile) -> Self {
        let (config, queue) = profile.parts();
        Self { profile, config, queue }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let about = "a device as it is sold, whose queues these are where other keys do not say";
        visitor.value(key("profile", about, "chosen: what is sold"), &mut self.profile);
        if visitor.has("profile") {
            *self = Self::like(self.profile);
        }
        let about = "the manager of each of its queues";
        visitor.choice(key("queue", about, "that of the profile"), &mut queue::choice(&mut self.queue));
        self.config.keys(visitor);
    }
}

impl WifiStation {
    fn blank() -> Self {
        Self {
            name: String::new(),
            rate: StationRate::default(),
            upstream_rate: None,
            standard: None,
            snr: None,
            snr_walk: None,
            conditions: Vec::new(),
            device: WifiDevice::like(DeviceProfile::LinuxStation),
            links: PerDirection { upstream: blank_link(), downstream: blank_link() },
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(name("laptop"), &mut self.name);
        rate(&mut self.rate, visitor);
        let about = "mode of the frames that it sends, where only those to it have `rate`";
        let upstream = key("upstream_rate", about, "chosen: as rate").or("as rate");
        if self.upstream_rate.is_some() || visitor.has("upstream_rate") || visitor.is_exhaustive() {
            self.upstream_rate.show(upstream, visitor);
        }
        let about = "standard of its frames both ways, where it is older than its channel's";
        let standard = key("standard", about, "chosen: that of its channel").or("as the channel");
        if self.standard.is_some() || visitor.has("standard") || visitor.is_exhaustive() {
            self.standard.show(standard, visitor);
        }
        let about = "signal over noise at both ends, for rate = \"ideal\" or \"minstrel\"";
        let snr = key("snr", about, "chosen: no frame is lost to noise").or("none");
        if self.snr.is_some() || visitor.has("snr") || visitor.is_exhaustive() {
            self.snr.show(snr, visitor);
        }
        let about = "it walks slowly, and stays within this of its mean";
        let walk = key("snr_walk", about, "chosen: it stays").or("none");
        if self.snr_walk.is_some() || visitor.has("snr_walk") || visitor.is_exhaustive() {
            self.snr_walk.show(walk, visitor);
        }
        if !self.conditions.is_empty() || visitor.has("conditions") || visitor.is_exhaustive() {
            visitor.items(
                key("conditions", "changes of its signal over noise: a door, another room", "chosen: none")
                    .most("1000"),
                &mut ItemsOf { items: &mut self.conditions, base: || SnrChange::BASE, keys: SnrChange::keys },
            );
        }
        self.device.keys(visitor);
    }
}

impl WifiNeighbour {
    const fn blank() -> Self {
        Self { name: String::new(), load: BitRate::ZERO, rate: StationRate::Mcs(4), stations: 1 }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(name("upstairs"), &mut self.name);
        let load = key("load", "what its stations send together", "no default");
        visitor.value(load.required("\"30 Mb/s\"").most("100 Gb/s"), &mut self.load);
        rate(&mut self.rate, visitor);
        let stations = key("stations", "how many of its devices send", "chosen: its access point");
        visitor.value(stations.least("1").most("64"), &mut self.stations);
    }
}

fn name(example: &'static str) -> Key {
    let key = key("name", "name; unique on its channel", "no default");
    key.required(if example == "laptop" { "\"laptop\"" } else { "\"upstairs\"" })
}

fn rate(rate: &mut StationRate, visitor: &mut dyn Visitor) {
    let about =
        "mode of its frames both ways: an MCS (\"mcs9\"), the best for its SNR (\"ideal\"), or that of minstrel";
    visitor.value(key("rate", about, "chosen: 64-QAM, some rooms away"), rate);
}

impl WifiChannel {
    fn blank() -> Self {
        Self {
            name: String::new(),
            radio: RadioConfig::BASE,
            access_point: WifiDevice::like(DeviceProfile::OpenWrt2024),
            stations: Vec::new(),
            neighbours: Vec::new(),
            hidden: Vec::new(),
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let about = "name in paths, where its station laptop is wifi.home.laptop; unique";
        visitor.value(key("name", about, "no default").required("\"home\""), &mut self.name);
        self.radio.keys(visitor);
        let hidden = key(
            "hidden",
            "pairs of devices that do not hear each other, as \"laptop attic\"; the access point is ap",
            "chosen: all hear all",
        );
        if !self.hidden.is_empty() || visitor.has("hidden") || visitor.is_exhaustive() {
            self.hidden.show(hidden, visitor);
        }
        visitor.table(key("ap", "queues of the access point", "docs/models/wifi.md"), &mut |visitor| {
            self.access_point.keys(visitor);
        });
        let stations = key("station", "stations of the access point", "no default");
        visitor.items(
            stations.required("[wifi.home.station.laptop]").most(MOST_STATIONS).named(),
            &mut ItemsOf { items: &mut self.stations, base: WifiStation::blank, keys: WifiStation::keys },
        );
        if !self.neighbours.is_empty() || visitor.has("neighbour") || visitor.is_exhaustive() {
            let neighbours =
                key("neighbour", "other homes on the channel, with an access point of their own", "chosen: none");
            visitor.items(
                neighbours.most(MOST_STATIONS).named(),
                &mut ItemsOf { items: &mut self.neighbours, base: WifiNeighbour::blank, keys: WifiNeighbour::keys },
            );
        }
        self.complete();
    }

    /// Makes the links of its stations.
    fn complete(&mut self) {
        for station in &mut self.stations {
            for direction in Direction::BOTH {
                let rate = self.radio.of(station.standard).capacity(station.rate_of(direction));
                let device = match direction {
                    Direction::Upstream => &station.device,
                    Direction::Downstream => &self.access_point,
                };
                station.links[direction].link =
                    LinkConfig { link: WifiMemberConfig { rate }.into(), queue: device.queue.clone() };
            }
        }
    }
}

/// The list of channels.
pub(crate) fn channels(channels: &mut Vec<WifiChannel>, visitor: &mut dyn Visitor) {
    if channels.is_empty() && !visitor.has("wifi") && !visitor.is_exhaustive() {
        return;
    }
    visitor.items(
        key("wifi", "Wi-Fi channels; packets of traffic entries with via pass them", "chosen: none")
            .most(MOST_CHANNELS)
            .named(),
        &mut ItemsOf { items: channels, base: WifiChannel::blank, keys: WifiChannel::keys },
    );
}
