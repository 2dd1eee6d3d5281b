//! The rate of a bonded DOCSIS 3.0 upstream.
//!
//! Source: White 2012 §2.2.2: 0.8 × modulation rate × number of channels. The fifth that is missing
//! stands for forward error correction, preambles and guard times.
//! Deviations: none known.

use sojourn_base::BitRate;

/// Raw bit rate of one 6.4 MHz channel with 64-QAM: 5.12 Msym/s × 6 bit. chosen `[asm]`: White 2012
/// prints no modulation; this is the widest SC-QAM channel with its highest common profile.
pub const RATE_64QAM: BitRate = BitRate::from_kbps(30_720);

/// Four bonded channels of [`RATE_64QAM`]: 98.304 Mb/s. chosen `[asm]`: the common bonding of DOCSIS
/// 3.0 modems; the study's peak rate of 20 Mb/s is a fifth of it.
pub const FOUR_64QAM_CHANNELS: BitRate = bonded_rate(RATE_64QAM, 4);

/// Rate that `channels` bonded channels offer to packets, each with a raw bit rate of `modulation`;
/// rounded down to 1 bit/s.
///
/// # Panics
/// If the result does not fit 64 bits.
pub const fn bonded_rate(modulation: BitRate, channels: u32) -> BitRate {
    // 0.8 = 4/5 (White 2012 §2.2.2).
    BitRate::from_bps(modulation.as_bps() * channels as u64 * 4 / 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bonded_upstream_offers_four_fifths_of_its_channels() {
        // W12-93: 30.72 Mb/s × 4 × 0.8.
        assert_eq!(FOUR_64QAM_CHANNELS, BitRate::from_bps(98_304_000));
        // 1.6 MHz QPSK: 1.28 Msym/s × 2 bit, one channel.
        assert_eq!(bonded_rate(BitRate::from_kbps(2_560), 1), BitRate::from_kbps(2_048));
        assert_eq!(bonded_rate(RATE_64QAM, 0), BitRate::ZERO);
    }
}
