//! Wi-Fi: one medium that many stations share, and the queues in front of it.
//!
//! | module | content |
//! |---|---|
//! | [`phy`] | modes of the PHY, and durations of frames |
//! | [`rates`] | rate control, and errors by mode and SNR |
//!
//! Source: IEEE Std 802.11-2020 and 802.11ax-2021; each module names its sections.

pub mod phy;
pub mod rates;
