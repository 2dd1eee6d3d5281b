//! Values derived from the parameters of an OFDMA upstream and of an OFDM downstream channel.
//!
//! Source: docsis-ns3 1.2 `model/docsis-net-device.cc` and `doc/source/system-configuration.rst`, whose attributes the
//! fields are named after; DOCSIS 3.1 PHY for the ranges.
//! Units and ranges: times in whole picoseconds, which they are for all cyclic prefixes; rates in bit/s.
//! Deviations: the spectral efficiency counts in thousandths of a bit.

use sojourn_base::{BitRate, Span, math};
use sojourn_keys::{origin, parameters, words};

/// Origin of ranges of the channels' parameters, and of most defaults.
pub(super) const PHY: &str = "docsis-ns3 1.2; range of DOCSIS 3.1 PHY";
/// Origin of the other defaults.
pub(super) const NS3: &str = "docsis-ns3 1.2";

words! {
    /// Distance between subcarriers.
    pub enum Spacing {
        /// symbols of 20 us
        Khz50 = "50 kHz",
        /// symbols of 40 us
        Khz25 = "25 kHz",
    }
}

impl Spacing {
    /// In kHz.
    pub const fn khz(self) -> u32 {
        match self {
            Self::Khz25 => 25,
            Self::Khz50 => 50,
        }
    }

    /// Length of a symbol without its cyclic prefix.
    pub const fn useful_symbol(self) -> Span {
        Span::from_us(1_000 / self.khz() as u64)
    }
}

/// Width of a minislot. Source: DOCSIS 3.1 PHY.
const MINISLOT_KHZ: u32 = 400;

/// Processing time of a MAP in the modem, without some symbols. Source: DOCSIS 3.1 MULPI, relative processing delays.
const MODEM_MAP_PROCESSING: Span = Span::from_us(600);

parameters! {
    /// An OFDMA channel upstream; the defaults are those of docsis-ns3.
    #[derive(Copy)]
    pub struct OfdmaChannel {
        /// distance between subcarriers
        ///
        /// `UsScSpacing`.
        spacing: Spacing = Spacing::Khz50, origin(PHY);
        /// active subcarriers
        ///
        /// `NumUsSc`.
        subcarriers: u32 = 1_880, origin(PHY).least("1").most("3800");
        /// symbols in an OFDMA frame
        ///
        /// `SymbolsPerFrame`.
        symbols_per_frame: u32 = 6, origin(PHY).least("6").most("36");
        /// bits per second and hertz, mean over all subcarriers
        ///
        /// `UsSpectralEfficiency`.
        efficiency: f64 = 10.0, origin(PHY).least("1").most("12");
        /// cyclic prefix in samples at 102.4 MHz
        ///
        /// `UsCpLen`.
        cyclic_prefix: u32 = 256, origin(PHY);
        /// frames that the modem works ahead
        ///
        /// `CmUsPipelineFactor`.
        modem_pipeline: u32 = 1, origin(NS3).most("32");
        /// frames that the CMTS works behind
        ///
        /// `CmtsUsPipelineFactor`.
        cmts_pipeline: u32 = 1, origin(NS3).most("32");
    }
}

impl OfdmaChannel {
    /// Cyclic prefixes that DOCSIS 3.1 knows, in samples at 102.4 MHz.
    pub const CYCLIC_PREFIXES: [u32; 11] = [96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 640];

    /// Most active subcarriers.
    pub const fn most_subcarriers(&self) -> u32 {
        95_000 / self.spacing.khz()
    }

    /// A symbol with its cyclic prefix; 32 samples at 102.4 MHz take 312.5 ns.
    pub fn symbol(&self) -> Span {
        self.spacing.useful_symbol() + Span::from_ps(u64::from(self.cyclic_prefix) * 312_500 / 32)
    }

    /// A frame.
    pub fn frame(&self) -> Span {
        self.symbol() * u64::from(self.symbols_per_frame)
    }

    /// Minislots in a frame.
    pub const fn minislots_per_frame(&self) -> u64 {
        (self.subcarriers as u64 * self.spacing.khz() as u64) / MINISLOT_KHZ as u64
    }

    /// Bytes in a minislot: its bits at a code rate of 0.8.
    pub fn minislot_bytes(&self) -> u64 {
        let subcarriers = u64::from(MINISLOT_KHZ / self.spacing.khz());
        subcarriers * u64::from(self.symbols_per_frame) * thousandths(self.efficiency) / 10_000
    }

    /// Returns the rate of the whole channel.
    pub fn capacity(&self) -> BitRate {
        let bits = 8 * self.minislot_bytes() * self.minislots_per_frame();
        let rate = u128::from(bits) * 1_000_000_000_000 / u128::from(self.frame().as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Returns the processing time of a MAP in the modem.
    pub fn modem_map_processing(&self) -> Span {
        MODEM_MAP_PROCESSING + self.symbol() * u64::from(self.symbols_per_frame + 1)
    }

    /// Frames in a MAP interval of about `target`; at least one.
    pub fn frames_per_map(&self, target: Span) -> u64 {
        let frame = self.frame().as_ps().max(1);
        ((target.as_ps() + frame / 2) / frame).max(1)
    }
}

parameters! {
    /// The symbols of an OFDM channel downstream, which decide when something arrives; the defaults are those of docsis-ns3.
    #[derive(Copy)]
    pub struct OfdmSymbols {
        /// distance between subcarriers
        ///
        /// `DsScSpacing`.
        spacing: Spacing = Spacing::Khz50, origin(PHY);
        /// depth of the time interleaver in symbols; 1 is none
        ///
        /// `DsIntlvM`.
        interleaver: u32 = 3, origin(PHY).least("1").most("32");
        /// cyclic prefix in samples at 204.8 MHz
        ///
        /// `DsCpLen`.
        cyclic_prefix: u32 = 512, origin(PHY);
        /// symbols that the CMTS works ahead
        ///
        /// `CmtsDsPipelineFactor`.
        cmts_pipeline: u32 = 1, origin(NS3).most("256");
        /// symbols that the modem works behind
        ///
        /// `CmDsPipelineFactor`.
        modem_pipeline: u32 = 1, origin(NS3).most("256");
    }
}

parameters! {
    /// An OFDM channel downstream; the defaults are those of docsis-ns3.
    #[derive(Copy)]
    pub struct OfdmChannel {
        /// its symbols
        symbols: OfdmSymbols = OfdmSymbols::BASE;
        /// active subcarriers
        ///
        /// `NumDsSc`.
        subcarriers: u32 = 3_745, origin(PHY).least("1").most("7537");
        /// bits per second and hertz, mean over all subcarriers
        ///
        /// `DsSpectralEfficiency`.
        efficiency: f64 = 12.0, origin(PHY).least("4").most("14");
        /// how full codewords are
        ///
        /// `AverageCodewordFill`.
        codeword_fill: f64 = 0.99, origin(NS3).least("0").most("1");
        /// bits per subcarrier of the pointer to the next codeword: 2, 4 or 6
        ///
        /// `NcpModulation`.
        pointer_bits: u32 = 4, origin(PHY).least("2").most("6");
    }
}

/// Bytes of a codeword of 16 200 bits, and those that carry data. Source: DOCSIS 3.1 PHY.
const CODEWORD: (u32, u32) = (2_025, 1_777);

/// Bits of a next-codeword pointer. Source: DOCSIS 3.1 PHY.
const POINTER_BITS: u32 = 48;

impl OfdmSymbols {
    /// Cyclic prefixes that DOCSIS 3.1 knows, in samples at 204.8 MHz.
    pub const CYCLIC_PREFIXES: [u32; 5] = [192, 256, 512, 768, 1_024];

    /// Deepest interleaver.
    pub const fn deepest_interleaver(&self) -> u32 {
        match self.spacing {
            Spacing::Khz25 => 16,
            Spacing::Khz50 => 32,
        }
    }

    /// A symbol with its cyclic prefix; 64 samples at 204.8 MHz take 312.5 ns.
    pub fn length(&self) -> Span {
        self.spacing.useful_symbol() + Span::from_ps(u64::from(self.cyclic_prefix) * 312_500 / 64)
    }

    /// Returns the delay of the interleaver.
    pub fn interleaving(&self) -> Span {
        self.length() * u64::from(self.interleaver.saturating_sub(1))
    }

    /// Time from the symbol for which the CMTS prepares data to the modem's having it, without the plant: both
    /// pipelines, the symbol, the interleaver.
    pub fn processing(&self) -> Span {
        self.length() * u64::from(self.cmts_pipeline + self.modem_pipeline + 1) + self.interleaving()
    }
}

impl OfdmChannel {
    /// Most active subcarriers.
    pub const fn most_subcarriers(&self) -> u32 {
        match self.symbols.spacing {
            Spacing::Khz25 => 7_537,
            Spacing::Khz50 => 3_745,
        }
    }

    /// Codewords in a symbol, a fraction.
    pub fn codewords(&self) -> f64 {
        let pointer = f64::from(POINTER_BITS / self.pointer_bits.max(1));
        let codeword = f64::from(CODEWORD.0 * 8) / self.efficiency;
        (f64::from(self.subcarriers) - pointer) / (codeword + pointer)
    }

    /// Bytes of data in a symbol of which MAPs take `maps` bytes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and some thousand")]
    pub fn symbol_bytes(&self, maps: f64) -> u64 {
        let data = self.codewords() * self.codeword_fill * f64::from(CODEWORD.1) - maps;
        math::floor(data.max(0.0) + 0.5) as u64
    }
}

parameters! {
    /// Overhead of MAPs on the downstream channel; the defaults are those of docsis-ns3.
    #[derive(Copy)]
    pub struct MapOverhead {
        /// upstream channels whose MAPs the channel carries
        ///
        /// `NumUsChannels`.
        channels as "upstream_channels": u32 = 1, origin(NS3).most("64");
        /// bytes of a mean burst upstream, for the size of MAPs
        ///
        /// `AverageUsBurst`.
        burst as "upstream_burst": u32 = 150, origin(NS3).least("1").most("1000000");
        /// mean utilisation upstream, for the size of MAPs
        ///
        /// `AverageUsUtilization`.
        utilisation as "upstream_utilisation": f64 = 0.1, origin(NS3).least("0").most("1");
    }
}

/// Bytes of a MAP without grants, and of each grant. Source: docsis-ns3 `model/docsis-net-device.cc`.
const MAP_BYTES: (f64, f64) = (46.0, 4.0);

impl MapOverhead {
    /// Grants in each second.
    pub fn grants(&self, upstream: &OfdmaChannel) -> f64 {
        let bits = upstream.minislot_bytes() * 8 * upstream.minislots_per_frame();
        let capacity = bits as f64 / upstream.frame().as_secs_f64();
        capacity * self.utilisation / (8.0 * f64::from(self.burst))
    }

    /// Mean size of a MAP in bytes, if an interval takes `interval`.
    pub fn map_bytes(&self, upstream: &OfdmaChannel, interval: Span) -> f64 {
        MAP_BYTES.0 + MAP_BYTES.1 * self.grants(upstream) * interval.as_secs_f64()
    }

    /// Bytes that MAPs take of each symbol.
    pub fn per_symbol(&self, upstream: &OfdmaChannel, interval: Span, symbol: Span) -> f64 {
        f64::from(self.channels) * self.map_bytes(upstream, interval) * (symbol.as_secs_f64() / interval.as_secs_f64())
    }
}

/// Round trip over `kilometres` of plant: 10 us for each.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and at most some milliseconds"
)]
pub fn plant_round_trip(kilometres: f64) -> Span {
    Span::from_ps(math::floor(kilometres * 1e7 + 0.5) as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and at most some thousand")]
pub(crate) fn thousandths(value: f64) -> u64 {
    math::floor(value * 1_000.0 + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_upstream_is_as_the_notes_work_out() {
        // Vector C1: the last column of the table of derived quantities.
        let channel = OfdmaChannel::BASE;
        assert_eq!(channel.frame(), Span::from_us(135));
        assert_eq!(channel.minislots_per_frame(), 235);
        assert_eq!(channel.minislot_bytes(), 48);
        assert_eq!(channel.modem_map_processing(), Span::from_ns(757_500));
        assert_eq!(channel.capacity().as_bps() / 10_000, 66_844);
        for (target, frames, minislots) in [(2, 15, 3_525), (1, 7, 1_645)] {
            let found = channel.frames_per_map(Span::from_ms(target));
            assert_eq!(found, frames);
            assert_eq!(found * channel.minislots_per_frame(), minislots);
        }
    }

    #[test]
    fn other_frames_are_as_long_as_the_notes_say() {
        for (symbols, spacing, prefix, frame_ns, bytes) in [
            (6, Spacing::Khz50, 96, 125_625, 48),
            (6, Spacing::Khz25, 96, 245_625, 96),
            (9, Spacing::Khz25, 256, 382_500, 144),
            (36, Spacing::Khz50, 640, 945_000, 288),
        ] {
            let channel =
                OfdmaChannel { spacing, symbols_per_frame: symbols, cyclic_prefix: prefix, ..OfdmaChannel::BASE };
            assert_eq!(channel.frame(), Span::from_ns(frame_ns));
            assert_eq!(channel.minislot_bytes(), bytes);
        }
    }

    #[test]
    fn the_default_downstream_is_as_the_notes_work_out() {
        let channel = OfdmChannel::BASE;
        assert_eq!(channel.symbols.length(), Span::from_ns(22_500));
        assert_eq!(channel.symbols.interleaving(), Span::from_us(45));
        assert!((channel.codewords() - 2.740_82).abs() < 5e-6);
        let (maps, upstream) = (MapOverhead::BASE, OfdmaChannel::BASE);
        assert!((maps.grants(&upstream) - 55_703.7).abs() < 0.05);
        for (interval_us, size, per_symbol) in [(945, 256.56, 6.11), (2_025, 497.2, 5.52)] {
            let interval = Span::from_us(interval_us);
            assert!((maps.map_bytes(&upstream, interval) - size).abs() < 0.006);
            let found = maps.per_symbol(&upstream, interval, channel.symbols.length());
            assert!((found - per_symbol).abs() < 0.006, "{found}");
            assert_eq!(channel.symbol_bytes(found), 4_816);
        }
        let with_prefix = |cyclic_prefix| OfdmSymbols { cyclic_prefix, ..channel.symbols };
        // 20 us and 937.5 ns: nanoseconds would round it.
        assert_eq!(with_prefix(192).length(), Span::from_ps(20_937_500));
    }

    #[test]
    fn a_kilometre_of_plant_takes_ten_microseconds_there_and_back() {
        assert_eq!(plant_round_trip(8.0), Span::from_us(80));
        assert_eq!(plant_round_trip(0.5), Span::from_us(5));
    }
}
