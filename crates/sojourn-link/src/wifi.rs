//! Wi-Fi: one medium that many stations share, and the queues in front of it.
//!
//! | module | content |
//! |---|---|
//! | [`phy`] | modes of the PHY, and durations of frames |
//! | [`rates`] | rate control, and errors by mode and SNR |
//! | [`medium`] | who transmits next, and what becomes of it |
//! | [`aggregate`] | the sender's window and the receiver's order |
//! | [`arbiter`] | stations take turns by airtime |
//! | `exchange` | durations of exchanges on a channel |
//! | `device` | queues of one device |
//! | [`channel`] | all of it at work |
//! | [`config`] | parameters |
//!
//! Source: IEEE Std 802.11-2020 and 802.11ax-2021; each module names its sections.

pub mod aggregate;
pub mod arbiter;
pub mod channel;
pub mod config;
mod exchange;
pub mod medium;
pub mod phy;
pub mod rates;
