//! The exits of slow start: what ends it before a loss does.
//!
//! Source: the exits name theirs. Deviations: an exit guards the first slow start of a connection only.

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, Window};
use sojourn_keys::words;

words! {
    /// End of a connection's first slow start, besides a congestion event.
    pub enum SlowStartExit {
        /// the threshold, or a loss
        None = "none",
        /// rising delay or a long train of acknowledgements (Linux)
        HyStart = "hystart",
        /// rising delay, confirmed by slower growth (RFC 9406)
        HyStartPlusPlus = "hystart++",
    }
}

/// State of an exit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    /// There is none, or it has been taken.
    Off,
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl Exit {
    /// `paced`: the stack spreads its segments; `superpackets`: it sends several at once.
    pub(crate) const fn new(exit: SlowStartExit, paced: bool, superpackets: bool) -> Self {
        match exit {
            SlowStartExit::None => Self::Off,
            SlowStartExit::HyStart => Self::HyStart(HyStart::new(paced, superpackets)),
            SlowStartExit::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::new(paced)),
        }
    }

    /// Follow an acknowledgement; true if slow start is over.
    pub(crate) fn on_ack(&mut self, ack: &Ack, window: &Window) -> bool {
        match self {
            Self::Off => false,
            Self::HyStart(hystart) => hystart.on_ack(ack, window),
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack),
        }
    }

    /// Segments by which slow start grows for `acked` ones, if the exit has a say in it.
    pub(crate) fn growth(&self, acked: u32) -> Option<f64> {
        match self {
            Self::HyStartPlusPlus(hystart) => Some(hystart.growth(acked)),
            Self::Off | Self::HyStart(_) => None,
        }
    }
}
