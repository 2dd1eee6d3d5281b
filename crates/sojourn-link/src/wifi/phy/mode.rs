//! Modes: combinations of format, band, width, MCS and streams that the standard has.

use core::fmt;
use sojourn_base::{BitRate, Span};

/// Most spatial streams of a mode. chosen: no device of a home has more, and the numbers of BCC encoders have further exceptions beyond.
pub const STREAMS: u8 = 4;

/// Format of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// 802.11b: DSSS and HR/DSSS. MCS 0 to 3 are 1, 2, 5.5 and 11 Mb/s.
    Dsss,
    /// 802.11a and g. MCS 0 to 7 are 6, 9, 12, 18, 24, 36, 48 and 54 Mb/s.
    Ofdm,
    /// 802.11n, mixed format.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax, one user.
    He,
}

impl Format {
    /// The name of the amendment that brought it, as products are called.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dsss => "802.11b",
            Self::Ofdm => "802.11a/g",
            Self::Ht => "802.11n",
            Self::Vht => "802.11ac",
            Self::He => "802.11ax",
        }
    }

    /// The highest MCS of one stream.
    pub const fn highest_mcs(self) -> u8 {
        match self {
            Self::Dsss => 3,
            Self::Ofdm | Self::Ht => 7,
            Self::Vht => 9,
            Self::He => 11,
        }
    }
}

/// Frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2_4,
    /// 5 GHz; 6 GHz has the same durations.
    Ghz5,
}

/// Width of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
}

impl Width {
    /// Width in MHz.
    pub const fn mhz(self) -> u16 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
        }
    }
}

/// A transmission mode of the PHY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// Format of the PPDU.
    pub format: Format,
    /// Frequency band.
    pub band: Band,
    /// Width of the channel.
    pub width: Width,
    /// Index of modulation and coding, counted for one stream: HT MCS 15 is 7 with two streams.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// HT and VHT: guard interval of 0.4 µs instead of 0.8 µs. HE is sent with 0.8 µs.
    pub short_guard: bool,
}

/// A combination that the standard does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// The format has no such MCS.
    Mcs(Format, u8),
    /// The format has fewer streams, or the mode has none.
    Streams(Format, u8),
    /// The format has no such width in this band.
    Width(Format, Band, Width),
    /// The format is not defined in this band.
    Band(Format, Band),
    /// The format has no short guard interval.
    Guard(Format),
    /// Tables 21-30 to 21-61 of 802.11-2020 leave this MCS out for this number of streams and width.
    Combination(Mode),
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let band = |band: Band| if band == Band::Ghz5 { "5 GHz" } else { "2.4 GHz" };
        match *self {
            Self::Mcs(format, mcs) => {
                write!(f, "{} has no MCS {mcs}; its highest is {}", format.as_str(), format.highest_mcs())
            }
            Self::Streams(format, streams) => write!(f, "{} is not sent with {streams} streams", format.as_str()),
            Self::Width(format, it, width) => {
                write!(f, "{} has no channels of {} MHz at {}", format.as_str(), width.mhz(), band(it))
            }
            Self::Band(format, it) => write!(f, "{} is not defined at {}", format.as_str(), band(it)),
            Self::Guard(format) => write!(f, "{} has no guard interval of 0.4 µs", format.as_str()),
            Self::Combination(mode) => write!(
                f,
                "{} leaves MCS {} out for {} streams at {} MHz",
                mode.format.as_str(),
                mode.mcs,
                mode.streams,
                mode.width.mhz()
            ),
        }
    }
}

/// Coded bits on a subcarrier, and the code rate as a fraction.
type Modulation = (u64, u64, u64);

/// 802.11-2020, Table 17-4.
const OFDM: [Modulation; 8] = [(1, 1, 2), (1, 3, 4), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4)];

/// 802.11-2020, Tables 19-27 and 21-30; 802.11ax-2021, Table 27-55: one list, of which HT has the first 8, VHT 10, HE 12.
const MCS: [Modulation; 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// 802.11-2020, 15.4.4.3 and 16.3.3: rates of DSSS in kb/s.
const DSSS_KBPS: [u64; 4] = [1_000, 2_000, 5_500, 11_000];

impl Mode {
    /// OFDM at 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s (MCS 0 to 7).
    pub const fn ofdm(band: Band, mcs: u8) -> Self {
        Self { format: Format::Ofdm, band, width: Width::Mhz20, mcs, streams: 1, short_guard: false }
    }

    /// DSSS at 1, 2, 5.5 or 11 Mb/s (MCS 0 to 3).
    pub const fn dsss(mcs: u8) -> Self {
        Self { format: Format::Dsss, band: Band::Ghz2_4, width: Width::Mhz20, mcs, streams: 1, short_guard: false }
    }

    /// HT by its index of 0 to 31, which counts the streams, too.
    pub const fn ht(band: Band, width: Width, index: u8, short_guard: bool) -> Self {
        Self { format: Format::Ht, band, width, mcs: index % 8, streams: index / 8 + 1, short_guard }
    }

    /// VHT at 5 GHz.
    pub const fn vht(width: Width, mcs: u8, streams: u8, short_guard: bool) -> Self {
        Self { format: Format::Vht, band: Band::Ghz5, width, mcs, streams, short_guard }
    }

    /// HE, one user.
    pub const fn he(band: Band, width: Width, mcs: u8, streams: u8) -> Self {
        Self { format: Format::He, band, width, mcs, streams, short_guard: false }
    }

    /// Returns why the standard has no such mode; `None` if it has.
    pub fn illegal(self) -> Option<Illegal> {
        let Self { format, band, width, mcs, streams, short_guard } = self;
        if mcs > format.highest_mcs() {
            return Some(Illegal::Mcs(format, mcs));
        }
        let streams_most = if format <= Format::Ofdm { 1 } else { STREAMS };
        if streams == 0 || streams > streams_most {
            return Some(Illegal::Streams(format, streams));
        }
        if matches!((format, band), (Format::Dsss, Band::Ghz5) | (Format::Vht, Band::Ghz2_4)) {
            return Some(Illegal::Band(format, band));
        }
        let width_most = match (format, band) {
            (Format::Dsss | Format::Ofdm, _) => Width::Mhz20,
            (Format::Ht, _) | (_, Band::Ghz2_4) => Width::Mhz40,
            _ => Width::Mhz160,
        };
        if width > width_most {
            return Some(Illegal::Width(format, band, width));
        }
        if short_guard && !matches!(format, Format::Ht | Format::Vht) {
            return Some(Illegal::Guard(format));
        }
        // 802.11-2020, 21.5: "not valid" rows of its tables, up to four streams.
        let left_out = match (width, mcs) {
            (Width::Mhz20, 9) => streams != 3,
            (Width::Mhz80, 6) | (Width::Mhz160, 9) => streams == 3,
            _ => false,
        };
        (format == Format::Vht && left_out).then_some(Illegal::Combination(self))
    }

    const fn modulation(self) -> Modulation {
        if matches!(self.format, Format::Ofdm) { OFDM[self.mcs as usize] } else { MCS[self.mcs as usize] }
    }

    /// Coded bits of a symbol (N_CBPS) times the numerator of the code rate, and the denominator.
    const fn coded(self) -> (u64, u64) {
        let (bits, numerator, denominator) = self.modulation();
        (self.data_subcarriers() * bits * self.streams as u64 * numerator, denominator)
    }

    /// N_SD: 802.11-2020, Tables 17-5, 19-6 and 21-5; 802.11ax-2021, Table 27-14.
    const fn data_subcarriers(self) -> u64 {
        let by_width = match self.format {
            Format::Dsss => [0; 4],
            Format::Ofdm => [48; 4],
            Format::Ht | Format::Vht => [52, 108, 234, 468],
            Format::He => [234, 468, 980, 1960],
        };
        by_width[self.width as usize]
    }

    /// Data bits of a symbol, N_DBPS; rounded down, as in the tables of HE.
    pub(super) const fn bits_per_symbol(self) -> u64 {
        let (bits, denominator) = self.coded();
        bits / denominator
    }

    /// Duration of a symbol with its guard interval: 802.11-2020, Tables 17-5, 19-6, 21-5; 802.11ax-2021, Table 27-12.
    pub(super) const fn symbol(self) -> Span {
        match self.format {
            Format::He => Span::from_ns(13_600),
            _ if self.short_guard => Span::from_ns(3_600),
            _ => Span::from_ns(4_000),
        }
    }

    /// The rate of the PHY, rounded down to a bit/s.
    pub const fn rate(self) -> BitRate {
        if matches!(self.format, Format::Dsss) {
            return BitRate::from_kbps(DSSS_KBPS[self.mcs as usize]);
        }
        let (bits, denominator) = self.coded();
        BitRate::from_bps(bits * 1_000_000_000 / (denominator * self.symbol().as_ns()))
    }

    /// BCC encoders, N_ES; 0 if the code is LDPC, which has no tail. 802.11-2020, Tables 19-30 to 19-37 (two above 300 Mb/s)
    /// and 21-30 to 21-61 (one for each begun 600 Mb/s at the short guard interval, and 6 instead of 5);
    /// 802.11ax-2021, 27.3.12.5.1.
    pub(super) const fn encoders(self) -> u64 {
        let short = Self { short_guard: true, ..self };
        match self.format {
            Format::Dsss | Format::Ofdm => 1,
            Format::Ht => 1 + (short.rate().as_bps() > 300_000_000) as u64,
            Format::Vht => match short.rate().as_bps().div_ceil(600_000_000) {
                5 => 6,
                encoders => encoders,
            },
            Format::He => (matches!(self.width, Width::Mhz20) && self.mcs <= 9) as u64,
        }
    }

    /// The mandatory rate at which a receiver answers this mode: the highest of 6, 12 and 24 Mb/s (DSSS: 1 and 2) not above
    /// its non-HT reference rate. 802.11-2020, 10.6.6.5.2 and Table 10-10.
    #[must_use]
    pub const fn answer(self) -> Self {
        if matches!(self.format, Format::Dsss) {
            return Self::dsss(if self.mcs == 0 { 0 } else { 1 });
        }
        let (bits, ..) = self.modulation();
        Self::ofdm(
            self.band,
            match bits {
                1 => 0,
                2 => 2,
                _ => 4,
            },
        )
    }
}
