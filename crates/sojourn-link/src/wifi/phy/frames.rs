//! Duration of frames on the air.

use super::{Band, Format, Mode};
use sojourn_base::{Bytes, Span};

/// Longest PSDU. 802.11-2020, Tables 17-21 and 16-4: 4095 B.
pub const PSDU_MOST_OFDM: Bytes = Bytes(4_095);
/// Longest PSDU of HT. 802.11-2020, Table 19-25: 65,535 B.
pub const PSDU_MOST_HT: Bytes = Bytes(65_535);
/// Longest A-MPDU of VHT. 802.11-2020, Table 9-272: 2^20 - 1 B.
pub const PSDU_MOST_VHT: Bytes = Bytes(1_048_575);
/// Longest PSDU of HE. 802.11ax-2021, Table 27-54: 6,500,631 B.
pub const PSDU_MOST_HE: Bytes = Bytes(6_500_631);

/// Bits of the SERVICE field, and tail bits of one BCC encoder. 802.11-2020, 17.3.5.2 and 17.3.5.3.
const SERVICE: u64 = 16;
const TAIL: u64 = 6;

/// Legacy short and long training and L-SIG. 802.11-2020, Table 17-5.
const LEGACY: Span = Span::from_us(8 + 8 + 4);

/// PLCP preamble and header of DSSS, long. 802.11-2020, 16.2.2.2.
const DSSS_LONG: Span = Span::from_us(192);

/// aSignalExtension of OFDM formats at 2.4 GHz. 802.11-2020, Tables 18-5 and 19-25.
const EXTENSION: Span = Span::from_us(6);

impl Mode {
    /// Duration of a data frame of `psdu` bytes, an A-MPDU's delimiters and padding included. 802.11-2020, 16.3.4, 17.4.3,
    /// 18.5.3.2, 19.4.3 and 21.4.3; 802.11ax-2021, 27.4.3.
    pub const fn data_duration(self, psdu: Bytes) -> Span {
        if matches!(self.format, Format::Dsss) {
            let us = (psdu.0 * 8 * 1_000_000).div_ceil(self.rate().as_bps());
            return Span::from_us(DSSS_LONG.as_ns() / 1_000 + us);
        }
        let bits = SERVICE + 8 * psdu.0 + TAIL * self.encoders();
        let symbols = bits.div_ceil(self.bits_per_symbol());
        let mut data = symbols * self.symbol().as_ns();
        if self.short_guard {
            // 19.4.3 and 21.4.3: the end of a PPDU lies on the grid of 4 µs.
            data = data.next_multiple_of(4_000);
        }
        Span::from_ns(self.preamble().as_ns() + data + self.extension().as_ns())
    }

    /// The largest PSDU that lasts at most `limit`, and that the format has; zero if there is none.
    pub const fn most_bytes(self, limit: Span) -> Bytes {
        let most = match self.format {
            Format::Dsss | Format::Ofdm => PSDU_MOST_OFDM.0,
            Format::Ht => PSDU_MOST_HT.0,
            Format::Vht => PSDU_MOST_VHT.0,
            Format::He => PSDU_MOST_HE.0,
        };
        let around = self.preamble().as_ns() + self.extension().as_ns();
        let Some(mut left) = limit.as_ns().checked_sub(around) else { return Bytes::ZERO };
        let bytes = if matches!(self.format, Format::Dsss) {
            (left / 1_000) * self.rate().as_bps() / 8_000_000
        } else {
            if self.short_guard {
                left -= left % 4_000;
            }
            let bits = left / self.symbol().as_ns() * self.bits_per_symbol();
            bits.saturating_sub(SERVICE + TAIL * self.encoders()) / 8
        };
        Bytes(if bytes < most { bytes } else { most })
    }

    const fn extension(self) -> Span {
        match (self.format, self.band) {
            (Format::Dsss, _) | (_, Band::Ghz5) => Span::ZERO,
            _ => EXTENSION,
        }
    }

    /// Duration before the data. 802.11-2020, 16.2.2.2, 17.3.2.1, 19.3.4 and 21.3.4; 802.11ax-2021, 27.3.4.
    pub const fn preamble(self) -> Span {
        // Tables 19-13 and 21-13; 802.11ax-2021, 27.3.11.10.
        let training_fields = match self.streams {
            streams @ (0..=2) => streams as u64,
            _ => 4,
        };
        let (fields, training) = match self.format {
            Format::Dsss => return DSSS_LONG,
            Format::Ofdm => return LEGACY,
            // HT-SIG 8 µs, HT-STF 4 µs.
            Format::Ht => (12_000, 4_000),
            // VHT-SIG-A 8 µs, VHT-STF 4 µs, VHT-SIG-B 4 µs.
            Format::Vht => (16_000, 4_000),
            // RL-SIG 4 µs, HE-SIG-A 8 µs, HE-STF 4 µs; 2x HE-LTF of 6.4 µs with its guard interval.
            Format::He => (16_000, 7_200),
        };
        Span::from_ns(LEGACY.as_ns() + fields + training_fields * training)
    }
}

/// Durations of control frames, at a basic rate: a mode of OFDM or DSSS.
#[derive(Clone, Copy, Debug)]
pub struct Control;

impl Control {
    /// ACK: 14 B. 802.11-2020, 9.3.1.4.
    pub const fn ack_duration(basic: Mode) -> Span {
        basic.data_duration(Bytes(14))
    }

    /// Compressed Block Ack with a bitmap for `window` MPDUs, at least 64: 32 B, with 256 MPDUs 56 B. 802.11-2020, 9.3.1.8.2;
    /// 802.11ax-2021, Table 9-28a.
    pub const fn block_ack_duration(basic: Mode, window: u16) -> Span {
        let bitmap = if window > 64 { 32 } else { 8 };
        basic.data_duration(Bytes(24 + bitmap))
    }

    /// Block Ack request: 24 B. 802.11-2020, 9.3.1.7.
    pub const fn block_ack_request_duration(basic: Mode) -> Span {
        basic.data_duration(Bytes(24))
    }

    /// RTS: 20 B. 802.11-2020, 9.3.1.2.
    pub const fn rts_duration(basic: Mode) -> Span {
        basic.data_duration(Bytes(20))
    }

    /// CTS: 14 B. 802.11-2020, 9.3.1.3.
    pub const fn cts_duration(basic: Mode) -> Span {
        basic.data_duration(Bytes(14))
    }
}

#[cfg(test)]
mod tests;
