//! Frame errors by mode, SNR and length.
//!
//! Source: IEEE Std 802.11-2020, 17.3.10.2, 19.3.19.1, 21.3.18.1, and 802.11ax-2021, 27.3.20.2: minimum sensitivity at which a
//! frame of 1,000 B (OFDM) or 4,096 B (HT and later) is lost with 10 %. They assume a noise figure of 10 dB and 5 dB for the
//! implementation; thermal noise in 20 MHz is -101 dBm. So the SNR is the sensitivity + 101 - 10 - 5 dB: 4 dB at MCS 0.
//! Deviations: chosen: errors are independent, their hazard is proportional to the length and falls tenfold for each dB,
//! as a BCC at high SNR does in white noise; several streams and wide channels need the SNR of one stream at 20 MHz.

use crate::wifi::phy::{Format, Mode};
use sojourn_base::{Bytes, Probability, math};

/// Signal over noise at the receiver, in hundredths of a dB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Snr(pub i32);

impl Snr {
    /// `db` whole decibels.
    pub const fn from_db(db: i32) -> Self {
        Self(db * 100)
    }
}

/// SNR in dB at which one frame in ten is lost, by MCS of HT, VHT and HE: sensitivities of -82, -79, -77, -74, -70, -66, -65,
/// -64, -59, -57, -54 and -52 dBm (802.11ax-2021, Table 27-51, which has the rows of HT and VHT), + 86 dB.
const REQUIRED: [i32; 12] = [4, 7, 9, 12, 16, 20, 21, 22, 27, 29, 32, 34];

/// The same of OFDM: -82, -81, -79, -77, -74, -70, -66 and -65 dBm. 802.11-2020, Table 17-18.
const REQUIRED_OFDM: [i32; 8] = [4, 5, 7, 9, 12, 16, 20, 21];

/// The same of DSSS. 802.11-2020, 15.4.8.2 and 16.3.8.2: -80 dBm at 2 Mb/s and -76 dBm at 11 Mb/s, of 1,024 B with 8 %; 1 and
/// 5.5 Mb/s are chosen: 3 dB less for half the rate.
const REQUIRED_DSSS: [i32; 4] = [3, 6, 7, 10];

/// The SNR at which one frame in ten of the standard's length is lost.
pub const fn required_snr(mode: Mode) -> Snr {
    Snr::from_db(match mode.format {
        Format::Dsss => REQUIRED_DSSS[mode.mcs as usize],
        Format::Ofdm => REQUIRED_OFDM[mode.mcs as usize],
        _ => REQUIRED[mode.mcs as usize],
    })
}

/// The chance that a frame of `bytes` is lost by `mode` at this `snr`.
pub fn frame_error(mode: Mode, snr: Snr, bytes: Bytes) -> Probability {
    let length = if mode.format <= Format::Ofdm { 1_000.0 } else { 4_096.0 };
    let below = f64::from(required_snr(mode).0 - snr.0) / 100.0;
    // -ln(1 - 0.1) at the required SNR.
    let hazard = 0.105_360_515_657_826_3 * math::powf(10.0, below) * bytes.0 as f64 / length;
    Probability::clamped(1.0 - math::exp(-hazard))
}
