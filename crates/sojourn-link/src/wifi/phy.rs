//! PHY of 802.11: modes, their rates, and how long a frame lasts on the air.
//!
//! All arithmetic is in whole bits, symbols and picoseconds.
//!
//! | module | content |
//! |---|---|
//! | `mode` | [`Mode`]: format, band, width, MCS, streams; its legality and rate |
//! | `frames` | duration of data and control frames |
//! | `timing` | slot, SIFS, DIFS, AIFS, EIFS |
//!
//! Source: IEEE Std 802.11-2020, clauses 15 and 16 (DSSS, HR/DSSS), 17 (OFDM), 18 (ERP), 19 (HT), 21 (VHT); IEEE Std
//! 802.11ax-2021, clause 27 (HE).
//! Deviations: chosen: at most [`STREAMS`] spatial streams; DSSS with the long preamble; HT with the mixed preamble; HE SU with
//! a guard interval of 0.8 µs, 2x HE-LTF and no packet extension; LDPC (HE above 20 MHz or MCS 9) without its extra symbol;
//! no STBC.

mod frames;
mod mode;
mod timing;

pub use self::frames::{Control, PSDU_MOST_HE, PSDU_MOST_HT, PSDU_MOST_OFDM, PSDU_MOST_VHT};
pub use self::mode::{Band, Format, Illegal, Mode, STREAMS, Width};
pub use self::timing::{aifs, cts_to_self, difs, eifs, sifs, slot};
