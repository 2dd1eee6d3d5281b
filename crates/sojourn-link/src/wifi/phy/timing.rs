//! Spaces between frames.
//!
//! `protection` says that stations of 802.11b are on the channel: slots are long, and others' acknowledgements may come at
//! 1 Mb/s. At 5 GHz there are none.

use super::{Band, Control, Mode};
use sojourn_base::Span;

/// aSlotTime. 802.11-2020, Tables 17-21, 18-5 (9 µs, or 20 µs beside 802.11b), 16-4 (20 µs).
pub const fn slot(band: Band, protection: bool) -> Span {
    match band {
        Band::Ghz2_4 if protection => Span::from_us(20),
        _ => Span::from_us(9),
    }
}

/// aSIFSTime. 802.11-2020, Tables 17-21 (16 µs) and 18-5 (10 µs).
pub const fn sifs(band: Band) -> Span {
    match band {
        Band::Ghz2_4 => Span::from_us(10),
        Band::Ghz5 => Span::from_us(16),
    }
}

/// 802.11-2020, 10.3.7: SIFS and two slots.
pub fn difs(band: Band, protection: bool) -> Span {
    aifs(band, protection, 2)
}

/// 802.11-2020, 10.22.2.4: SIFS and `aifsn` slots.
pub fn aifs(band: Band, protection: bool, aifsn: u8) -> Span {
    sifs(band) + slot(band, protection) * u64::from(aifsn)
}

/// 802.11-2020, 10.3.7: SIFS, DIFS, and an acknowledgement at the lowest mandatory rate. A category waits for this less DIFS plus
/// its AIFS.
pub fn eifs(band: Band, protection: bool) -> Span {
    let dsss = protection && band == Band::Ghz2_4;
    let lowest = if dsss { Mode::dsss(0) } else { Mode::ofdm(band, 0) };
    sifs(band) + Control::ack_duration(lowest) + difs(band, protection)
}

/// Time that a frame of OFDM costs beside 802.11b: a CTS-to-self at the DSSS rate `basic`, and SIFS. 802.11-2020, 10.3.2.13.
pub fn cts_to_self(basic: Mode) -> Span {
    Control::cts_duration(basic) + sifs(Band::Ghz2_4)
}
