//! Parameters of a Wi-Fi channel, of the devices on it, and of neighbours.
//!
//! Source: named at the rows; docs/models/wifi.md. Deviations: those of [`super`].

use super::phy::{Band, Format, Mode, Width};
use super::rates::{MinstrelConfig, RateControl, Signal, Snr};
use crate::SerialConfig;
use crate::any::AnyLink;
use crate::kind::LinkKind;
use crate::problems::problem;
use crate::serial::Serial;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use sojourn_base::{BitRate, Bytes, Instant, Limit, Packets, Span};
use sojourn_keys::value::{Mismatch, Shape, Value, quoted};
use sojourn_keys::{Content, Key, origin, parameters, words};
use sojourn_queue::{
    CodelFloor, CodelLaw, CodelVariant, ConfigProblem, DropTailConfig, FqCodelConfig, ManagerConfig, QueueManager,
};

/// 802.11-2020, 19.3.23 and 21.3.24 (`aPPDUMaxTime`): 5.484 ms.
pub(super) const LONGEST_PPDU: Span = Span::from_us(5_484);

/// Length that a packet is taken to have where its manager does not say. chosen: a full one of Ethernet.
pub(super) const USUAL_LENGTH: u32 = 1500;

words! {
    /// Frequency band of a channel.
    pub enum BandWord {
        /// 2.4 GHz
        Ghz2_4 = "2.4 GHz",
        /// 5 GHz; 6 GHz has the same times
        Ghz5 = "5 GHz",
    }
}

words! {
    /// Width of a channel.
    pub enum WidthWord {
        /// one channel
        Mhz20 = "20 MHz",
        /// two
        Mhz40 = "40 MHz",
        /// four
        Mhz80 = "80 MHz",
        /// eight
        Mhz160 = "160 MHz",
    }
}

words! {
    /// Standard of a channel's frames.
    pub enum Standard {
        /// 802.11b: DSSS
        B = "b",
        /// 802.11a and g: OFDM
        G = "g",
        /// 802.11n: HT, Wi-Fi 4
        N = "n",
        /// 802.11ac: VHT, Wi-Fi 5
        Ac = "ac",
        /// 802.11ax: HE for one user, Wi-Fi 6
        Ax = "ax",
    }
}

impl Default for Standard {
    fn default() -> Self {
        RadioConfig::BASE.standard
    }
}

words! {
    /// Place of the managed queues of a device.
    pub enum Queues {
        /// one for each station and category, in front of which stations take turns
        Stations = "stations",
        /// one for the whole device
        Device = "device",
    }
}

words! {
    /// Order in which a device serves its stations.
    pub enum Scheduler {
        /// equal time on the air
        Airtime = "airtime",
        /// an aggregate each
        RoundRobin = "round-robin",
    }
}

parameters! {
    /// The radio that all devices of a channel have.
    #[derive(Copy, Eq)]
    pub struct RadioConfig {
        /// frequency band
        band: BandWord = BandWord::Ghz5, origin("chosen: where new devices are");
        /// width of the channel
        width: WidthWord = WidthWord::Mhz80, origin("chosen: the usual one at 5 GHz");
        /// standard of its frames
        standard: Standard = Standard::Ax, origin("chosen: what is sold");
        /// spatial streams
        streams: u32 = 2, origin("chosen: antennas of a laptop").least("1").most("4");
        /// the guard interval of 802.11n and ac is 0.4 us
        short_guard: bool = false, origin("IEEE 802.11-2020, 19.3.6: 0.8 us");
        /// stations of 802.11b are on the channel: long slots, and CTS in front of each frame
        protection: bool = false, origin("chosen: none are");
        /// exchanges longer than this begin with RTS and CTS
        rts: Option<Bytes> = None, origin("Linux: off").or("off").most("1 MB");
        /// frames in flight to one receiver, which BlockAck tells apart; "auto" is what the standard has
        block_ack: Option<u32> = None, origin("IEEE 802.11-2020, 9.3.1.8: 64; 802.11ax-2021: 256").or("auto").least("1").most("256");
        /// frames have access categories (EDCA); without, 802.11a, b and g have one (DCF), which waits for DIFS
        qos: bool = true, origin("IEEE 802.11-2020, 4.3.18: of all stations since 802.11n");
        /// frames are encrypted with CCMP, 16 B each
        encryption: bool = true, origin("IEEE 802.11-2020, 12.5.3: CCMP");
    }
}

parameters! {
    /// Queues of a device below its queue manager.
    #[derive(Copy, Eq)]
    pub struct DeviceConfig {
        /// where the managed queues are
        queues: Queues = Queues::Stations, origin("Linux since 4.9, net/mac80211/tx.c");
        /// depth of the firmware's queue: packets of the device, or airtime of a station; "none": aggregates take packets from the managed queue
        firmware: Option<Limit> = Some(Limit::Time(Span::from_ms(5))),
            origin("Linux, IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L: 5 ms").or("none");
        /// airtime that a station may have in the firmware while the device has less than `firmware_all`
        firmware_most: Span = Span::from_ms(12), origin("Linux, IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H: 12 ms").most("10 s");
        /// airtime in the firmware beyond which `firmware` is a station's limit
        firmware_all: Span = Span::from_ms(24), origin("Linux, IEEE80211_AQL_THRESHOLD: 24 ms").most("10 s");
        /// how stations take turns
        scheduler: Scheduler = Scheduler::Airtime, origin("Linux since 4.11 for ath9k, 5.1 for others");
        /// airtime that a station gets in a round
        quantum: Span = Span::from_us(300), origin("Høiland-Jørgensen et al. 2017, 3.2: 300 us").least("1 us").most("100 ms");
        /// stations slower than this times the number of stations get CoDel with 50 ms in 300 ms, without marks; of FQ-CoDel
        slow_below: Option<BitRate> = Some(BitRate::from_mbps(6)), origin("Linux, STA_SLOW_THRESHOLD: 6 Mb/s").or("off");
        /// packets are put together in one frame of an aggregate while it has at most this many bytes
        amsdu: Option<Bytes> = None, origin("chosen: none; 3839 B, 7935 B or 11454 B in 802.11-2020, 9.4.2.157").or("none").least("500 B").most("11454 B");
        /// after an aggregate without an answer it asks with a BlockAckReq which frames have come, and sends them again then; ns-3's way
        asks: bool = false, origin("ath9k, ath_tx_complete_aggr: all frames are sent again at once");
        /// aggregates that are ready before the air is won; 0 where the chip builds each when it is
        ahead: u32 = 2, origin("ath9k, ATH_AGGR_MIN_QDEPTH: 2").most("16");
        /// frames of an aggregate at most
        frames: u32 = 256, origin("IEEE 802.11ax-2021, 9.3.1.8: 256").least("1").most("256");
        /// bytes of an aggregate at most; "format": those that its format has
        aggregate: Option<Bytes> = None,
            origin("IEEE 802.11-2020, 9.4.2.55.3 and 9.4.2.157.2: 65,535 B and 1,048,575 B at the longest exponent").or("format").least("8 kB").most("6500631 B");
        /// longest aggregate on the air
        longest: Span = LONGEST_PPDU, origin("IEEE 802.11-2020, table 19-25: 5.484 ms").least("100 us").most("5.484 ms");
    }
}

words! {
    /// Devices as they are sold.
    pub enum DeviceProfile {
        /// an access point with OpenWrt of 2024: FQ-CoDel by station, 2 ms of airtime below it
        OpenWrt2024 = "openwrt-2024",
        /// a station with Linux of today: FQ-CoDel, 5 ms of airtime below it
        LinuxStation = "linux-station",
        /// ath9k with the queues and the airtime scheduler of 2016
        Ath9k2016 = "ath9k-2016",
        /// ath9k with Linux 4.4: FQ-CoDel above the queue of the driver
        Stock4_4 = "stock-4.4",
        /// ath9k with Linux 4.4 and a queue of 1000 packets above that of the driver
        Pfifo4_4 = "pfifo-4.4",
        /// ath10k in 2016: FQ-CoDel by station above a deep firmware
        Ath10k2016Normal = "ath10k-2016-normal",
        /// ath10k in 2016 with dynamic limits on what the firmware holds
        Ath10k2016Dql = "ath10k-2016-dql",
    }
}

/// Packets that the driver ath9k holds for a category. Source: Linux 4.4, `ATH_MAX_QDEPTH`: 512 / 4 - 5.
const ATH9K_DRIVER: Packets = Packets(123);

/// Packets that the firmware of ath10k holds.
// fitted: to the means of 1,616 and 1,710 ms that were measured at 6 Mb/s.
const ATH10K_FIRMWARE: Packets = Packets(850);

/// Airtime of a station in the firmware of ath10k under dynamic limits: a packet at 6 Mb/s.
// fitted: to the mean of 12 ms that was measured there.
const ATH10K_LIMITED: Span = Span::from_ms(1);

/// The queue by station of mac80211. Source: Linux net/mac80211/tx.c, `ieee80211_txq_setup_flows`: 8192 packets, target 20 ms and
/// interval 100 ms, memory of 16 MB (4 MB before 802.11ac); its CoDel has no `mtu`, so one packet that is left is enough; net/fq_impl.h,
/// `fq_init`: quantum 300 B.
fn mac80211() -> ManagerConfig {
    let mut config = FqCodelConfig::BASE;
    config.flows.limit = Limit::Packets(Packets(8192));
    config.flows.memory = Some(Bytes(16 << 20));
    config.flows.quantum = 300;
    config.law = CodelLaw {
        target: Span::from_ms(20),
        interval: Span::from_ms(100),
        variant: CodelVariant::Linux,
        floor: CodelFloor::Fixed(0),
        ecn: true,
        ..CodelLaw::RFC8289
    };
    config.into()
}

impl DeviceProfile {
    /// Returns its queues and the manager of each.
    pub fn parts(self) -> (DeviceConfig, ManagerConfig) {
        // ATH_AMPDU_SUBFRAME_DEFAULT and ath_max_4ms_framelen of ath9k.
        let longest = Span::from_ms(4);
        let ath9k = DeviceConfig { firmware: None, frames: 32, longest, slow_below: None, ..DeviceConfig::BASE };
        let driver = DeviceConfig {
            queues: Queues::Device,
            firmware: Some(Limit::Packets(ATH9K_DRIVER)),
            scheduler: Scheduler::RoundRobin,
            ..ath9k
        };
        match self {
            Self::OpenWrt2024 => {
                let (most, all) = (Span::from_ms(4), Span::from_ms(8));
                let limits = DeviceConfig { firmware_most: most, firmware_all: all, ..DeviceConfig::BASE };
                (DeviceConfig { firmware: Some(Limit::Time(Span::from_ms(2))), ..limits }, mac80211())
            }
            // Chips with limits of airtime (ath10k, mt76) and those of iwlwifi build aggregates themselves.
            Self::LinuxStation => (DeviceConfig { ahead: 0, ..DeviceConfig::BASE }, mac80211()),
            Self::Ath9k2016 => (ath9k, mac80211()),
            Self::Stock4_4 => (driver, FqCodelConfig::BASE.into()),
            Self::Pfifo4_4 => {
                (driver, DropTailConfig { limit: Limit::Packets(Packets(1000)), ..DropTailConfig::BASE }.into())
            }
            Self::Ath10k2016Normal => {
                let firmware = Some(Limit::Packets(ATH10K_FIRMWARE));
                let slow_below = None;
                (
                    DeviceConfig { firmware, slow_below, scheduler: Scheduler::RoundRobin, ..DeviceConfig::BASE },
                    mac80211(),
                )
            }
            Self::Ath10k2016Dql => {
                let firmware = Some(Limit::Time(ATH10K_LIMITED));
                let limits =
                    DeviceConfig { firmware, firmware_most: ATH10K_LIMITED, slow_below: None, ..DeviceConfig::BASE };
                (DeviceConfig { scheduler: Scheduler::RoundRobin, ..limits }, mac80211())
            }
        }
    }
}

/// Depth of a firmware's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    None,
    Packets(u64),
    Airtime { low: Span, high: Span, all: Span },
}

impl DeviceConfig {
    /// Returns the queue manager of a station that reaches `rate` alone, one of `stations`.
    ///
    /// Source: Linux `sta_update_codel_params`. Deviations: it looks at the rate when the channel is built, not at each change.
    pub(super) fn queue_of(&self, queue: &ManagerConfig, rate: BitRate, stations: u64) -> ManagerConfig {
        let mut queue = queue.clone();
        if let Some(slow) = self.slow_below
            && rate.as_bps() < slow.as_bps().saturating_mul(stations)
            && let Some(FqCodelConfig { law, .. }) = queue.get_mut()
        {
            *law = CodelLaw { target: Span::from_ms(50), interval: Span::from_ms(300), ecn: false, ..*law };
        }
        queue.at(rate) // a limit in time is one at the rate that the station reaches alone
    }

    pub(super) fn depth(&self) -> Depth {
        match self.firmware {
            None => Depth::None,
            Some(Limit::Packets(packets)) => Depth::Packets(packets.0.into()),
            Some(Limit::Bytes(bytes)) => Depth::Packets(bytes.0 / u64::from(USUAL_LENGTH)),
            Some(Limit::Time(low)) => Depth::Airtime { low, high: self.firmware_most.max(low), all: self.firmware_all },
        }
    }

    /// Lists what is wrong with it, apart from the bounds of single keys.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        match self.firmware {
            Some(Limit::Bytes(bytes)) => problems.push(problem(
                "firmware",
                format!("a firmware is not limited in bytes ({bytes})"),
                "packets of the device, or airtime of a station: \"5 ms\"",
            )),
            Some(Limit::Packets(Packets(0)) | Limit::Time(Span::ZERO)) => problems.push(problem(
                "firmware",
                String::from("a firmware that holds nothing passes nothing"),
                "\"none\", if aggregates take packets from the managed queue",
            )),
            _ => {}
        }
        problems
    }
}

impl From<BandWord> for Band {
    fn from(word: BandWord) -> Self {
        match word {
            BandWord::Ghz2_4 => Self::Ghz2_4,
            BandWord::Ghz5 => Self::Ghz5,
        }
    }
}

impl RadioConfig {
    /// The radio of a station of another standard on this channel: as wide as both have.
    #[must_use]
    pub fn of(&self, standard: Option<Standard>) -> Self {
        let own = Self { standard: standard.unwrap_or(self.standard), ..*self };
        let widths = [self.width, WidthWord::Mhz40, WidthWord::Mhz20].into_iter();
        let narrower = widths.filter(|width| *width as u8 <= self.width as u8);
        let mut radios = narrower.map(|width| Self { width, ..own });
        radios.find(|radio| radio.problem().is_none()).unwrap_or(own)
    }

    /// Returns why a station of this standard cannot be on the channel.
    pub fn refuses(&self, standard: Option<Standard>) -> Option<String> {
        let own = self.of(standard);
        if let Some(illegal) = own.mode(0).illegal() {
            return Some(illegal.to_string());
        }
        let (format, newest) = (own.mode(0).format, self.mode(0).format);
        let (own, channel) = (format.as_str(), newest.as_str());
        (format > newest).then(|| format!("a station of {own} is newer than its channel of {channel}"))
    }

    /// Returns the mode of this MCS. 802.11n counts streams in it.
    pub fn mode(&self, mcs: u8) -> Mode {
        let format = match self.standard {
            Standard::B => Format::Dsss,
            Standard::G => Format::Ofdm,
            Standard::N => Format::Ht,
            Standard::Ac => Format::Vht,
            Standard::Ax => Format::He,
        };
        let width = match self.width {
            WidthWord::Mhz20 => Width::Mhz20,
            WidthWord::Mhz40 => Width::Mhz40,
            WidthWord::Mhz80 => Width::Mhz80,
            WidthWord::Mhz160 => Width::Mhz160,
        };
        let streams = u8::try_from(self.streams).unwrap_or(u8::MAX);
        let (width, streams, short_guard) = match format {
            Format::Dsss | Format::Ofdm => (Width::Mhz20, 1, false),
            Format::He => (width, streams, false),
            Format::Ht | Format::Vht => (width, streams, self.short_guard),
        };
        let (mcs, streams) = if format == Format::Ht { (mcs % 8, mcs / 8 + 1) } else { (mcs, streams) };
        Mode { format, band: self.band.into(), width, mcs, streams, short_guard }
    }

    /// Returns the fastest mode.
    pub fn fastest(&self) -> Mode {
        let highest = self.mode(0).format.highest_mcs();
        let streams = u8::try_from(self.streams).unwrap_or(1);
        // An MCS of 802.11n counts streams.
        let more = if self.standard == Standard::N { 8 * (streams - 1) } else { 0 };
        let mut modes = (0..=highest).rev().map(|mcs| self.mode(mcs + more));
        modes.find(|mode| mode.illegal().is_none()).unwrap_or(self.mode(0))
    }

    /// Returns why the standard has no such channel.
    pub fn problem(&self) -> Option<ConfigProblem> {
        if let Some(illegal) = self.mode(0).illegal() {
            return Some(problem("standard", illegal.to_string(), "another width, band or standard"));
        }
        let format = self.mode(0).format;
        (!self.qos && format >= Format::Ht).then(|| {
            let message = format!("{} has no frames without QoS", format.as_str());
            problem("qos", message, "standard = \"g\", or qos = true")
        })
    }
}

/// How a station's rate comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StationRate {
    /// Always this MCS.
    Mcs(u8),
    /// The best for the SNR.
    Ideal,
    /// Minstrel's.
    Minstrel,
}

impl Default for StationRate {
    fn default() -> Self {
        Self::Mcs(7)
    }
}

impl StationRate {
    /// The mode that it has, or would have at best.
    pub fn usual(self, radio: &RadioConfig) -> Mode {
        match self {
            Self::Mcs(mcs) => radio.mode(mcs),
            Self::Ideal | Self::Minstrel => radio.fastest(),
        }
    }

    /// Returns rate control by it.
    pub fn control(self, radio: &RadioConfig, signal: Signal) -> RateControl {
        match self {
            Self::Mcs(mcs) => RateControl::Fixed(radio.mode(mcs)),
            Self::Ideal => RateControl::snr(signal, radio.fastest()),
            Self::Minstrel => RateControl::minstrel(signal, radio.fastest(), MinstrelConfig::BASE),
        }
    }

    /// Returns true if it never changes.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Mcs(_))
    }

    /// Why the channel has no such rate.
    pub fn problem(self, radio: &RadioConfig) -> Option<String> {
        let illegal = self.usual(radio).illegal()?;
        Some(illegal.to_string())
    }
}

/// A rate as files write it.
impl Value for StationRate {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let text = match content {
            Content::Text(text) => text.as_str(),
            other => return Err(Mismatch::new(format!("{} where a rate belongs", other.kind()), RATES)),
        };
        *self = match text {
            "ideal" => Self::Ideal,
            "minstrel" => Self::Minstrel,
            _ => match text.strip_prefix("mcs").and_then(|mcs| mcs.parse().ok()) {
                Some(mcs) => Self::Mcs(mcs),
                None => return Err(Mismatch::new(format!("{} is no rate of Wi-Fi", quoted(text)), RATES)),
            },
        };
        Ok(())
    }

    fn print(&self) -> String {
        quoted(&match self {
            Self::Mcs(mcs) => format!("mcs{mcs}"),
            Self::Ideal => String::from("ideal"),
            Self::Minstrel => String::from("minstrel"),
        })
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// SNR at which no mode loses frames.
const PERFECT: i32 = 80;

const RATES: &str = "\"mcs9\", \"ideal\" or \"minstrel\"";

/// Returns the signal over noise of a station: by default none is lost to noise.
pub fn signal(snr: Option<Decibels>, walk: Option<Decibels>, changes: &[SnrChange]) -> Signal {
    let snr_of = |snr: Decibels| Snr::from_db(snr.0);
    let moves = changes.iter().map(|it| (Instant::ZERO + it.at, snr_of(it.snr)));
    let mean = snr.map_or(Snr::from_db(PERFECT), snr_of);
    Signal::fixed(mean).walking(walk.map_or(0, |range| range.0 * 100)).moving(moves.collect())
}

parameters! {
    /// A change of a station's signal over noise.
    #[derive(Copy, Eq)]
    pub struct SnrChange {
        /// from then on
        at: Span = Span::ZERO, origin("chosen: from the start");
        /// signal over noise at both ends
        snr: Decibels = Decibels(20), origin("chosen: some rooms away");
    }
}

/// Signal over noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decibels(pub i32);

/// A ratio as files write it.
impl Value for Decibels {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let number = match content {
            Content::Text(text) => text.strip_suffix("dB").and_then(|number| number.trim().parse().ok()),
            _ => None,
        };
        match number {
            Some(number @ -20..=80) => self.0 = number,
            Some(_) => return Err(Mismatch::new("is no ratio that a receiver has", "\"-20 dB\" to \"80 dB\"")),
            None => {
                let message = match content {
                    Content::Text(text) => format!("{} is no whole number of decibels", quoted(text)),
                    _ => format!("{} where decibels belong", content.kind()),
                };
                return Err(Mismatch::new(message, "\"28 dB\""));
            }
        }
        Ok(())
    }

    fn print(&self) -> String {
        quoted(&format!("{} dB", self.0))
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

parameters! {
    /// One direction of a station, for what asks a link.
    #[derive(Copy, Eq)]
    pub struct WifiMemberConfig: "wifi", "one direction of a station on a Wi-Fi channel" {
        /// rate of the station alone on the channel
        rate: BitRate = BitRate::ZERO, origin("of its mode, in full aggregates");
    }
}

/// Stands for the station alone on its channel; on one, [`super::channel::Channel`] takes its place.
impl LinkKind for WifiMemberConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Serial::new(SerialConfig::plain(self.rate, Span::ZERO), manager).into()
    }

    fn drain_rate(&self) -> BitRate {
        self.rate
    }

    fn delay(&self) -> Span {
        Span::ZERO
    }
}

/// A neighbour's home on the same channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its load, of all its stations together.
    pub load: BitRate,
    /// The mode of its frames.
    pub mode: Mode,
    /// Stations that send it.
    pub stations: u32,
}
