//! The times and channels of each form of plant.
//!
//! Source: docs/models/service-group.md, "The grid"; [`crate::docsis31::timeline`] for DOCSIS 3.1. Deviations: none known.

use super::{Channel, Grid};
use crate::docsis31::timeline::Timeline;
use crate::group::channels::{Form, PON_FRAME};
use crate::group::config::GroupConfig;
use alloc::vec::Vec;
use sojourn_base::Span;

/// Times of DOCSIS 3.0: chosen, so that the loop is that of White 2013, where a request at the start of an interval is
/// granted in the second one after it.
const DOCSIS30_LEAD: Span = Span::from_ms(2);
const DOCSIS30_HEARD: Span = Span::from_us(600);
const DOCSIS30_REQUEST: Span = Span::from_us(500);
/// From the end of a minislot until its data leave the CMTS. Source: White 2012 §2.3.
const DOCSIS30_BEHIND: Span = Span::from_ms(1);
/// Frames in an interval. chosen: 125 us each in an interval of 2 ms.
const DOCSIS30_FRAMES: u64 = 16;

/// Minislots in a frame of a SC-QAM channel beside an OFDMA channel. chosen: 112.5 us, of which six are as long as five
/// OFDMA frames. The delay behind its minislots is that behind an OFDMA frame, see [`crate::docsis31::timeline`].
const SCQAM_MINISLOTS: u64 = 9;
const SCQAM_BEHIND: Span = Span::from_us(175);

/// Minislots that an opportunity takes on a SC-QAM channel. chosen: the 7 bytes of a request are 28 symbols of QPSK, and with preamble
/// and guard time more than the 64 of one.
const SCQAM_COST: u64 = 2;

/// A report counts for the fourth frame after its own, and modems hear of a grant a frame ahead. chosen: four
/// frames hold 200 us for 20 km of fibre both ways, and as much for the reckoning.
const PON_LEAD: Span = Span::from_us(250);
const PON_REQUEST: Span = Span::from_us(250);
const PON_BEHIND: Span = Span::from_us(100);

/// Symbols of a minislot that a request takes, by the distance of subcarriers in kHz: 28 symbols of QPSK hold its 7 bytes `[R]`.
const fn symbols_per_request(spacing_khz: u32) -> u32 {
    if spacing_khz >= 50 { 4 } else { 2 }
}

/// Why channels have no grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrepeatable {
    /// The interval is shorter than a frame.
    TooShort {
        /// The frame.
        frame: Span,
    },
    /// Frames of two kinds of channel begin together too seldom.
    NoCommonFrame {
        /// Time from one to the next.
        step: Span,
    },
}

/// The least time that frames of both lengths divide.
fn common(a: Span, b: Span) -> Span {
    let (mut x, mut y) = (a.as_ps(), b.as_ps());
    while y > 0 {
        (x, y) = (y, x % y);
    }
    Span::from_ps((a.as_ps() / x.max(1)).saturating_mul(b.as_ps()))
}

impl GroupConfig {
    /// The grid of its channels, if it has no [`GroupConfig::problems`].
    pub fn grid(&self) -> Grid {
        let most = self.requests.minimum.max(self.requests.fill);
        match self.form {
            Form::Docsis31 => Grid::docsis31(self, most),
            Form::Docsis30 => Grid::docsis30(self, most),
            Form::Pon => Grid::pon(self, most),
        }
    }
}

impl Grid {
    /// Checks that the interval of a group fits its channels.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(config: &GroupConfig) -> Result<(), Unrepeatable> {
        if config.form != Form::Docsis31 {
            return Ok(());
        }
        let frame = config.channel.frame();
        if config.map_interval < frame {
            return Err(Unrepeatable::TooShort { frame });
        }
        if config.scqam.count > 0 {
            let step = common(frame, config.scqam.minislot * SCQAM_MINISLOTS);
            if step > config.map_interval * 2 {
                return Err(Unrepeatable::NoCommonFrame { step });
            }
        }
        Ok(())
    }

    fn docsis31(config: &GroupConfig, most: u32) -> Self {
        let channel = &config.channel;
        let scqam_frame = config.scqam.minislot * SCQAM_MINISLOTS;
        let wished = if config.scqam.count == 0 {
            config.map_interval
        } else {
            let step = common(channel.frame(), scqam_frame);
            let steps = (config.map_interval.as_ps() + step.as_ps() / 2) / step.as_ps().max(1);
            step * steps.max(1)
        };
        let times = Timeline::new(channel, &config.downstream, wished, config.map_processing, config.plant_km);
        let symbols = symbols_per_request(channel.spacing.khz());
        let per = u64::from((channel.symbols_per_frame / symbols).max(1));
        let scqam = Channel {
            frame: scqam_frame,
            frames: times.interval.as_ps() / scqam_frame.as_ps().max(1),
            minislots_per_frame: SCQAM_MINISLOTS,
            minislot: Some(config.scqam.minislot),
            behind: SCQAM_BEHIND,
            opportunities_for: (1, SCQAM_COST),
            layouts: Vec::new(),
        }
        .laid_out(most);
        let mut channels = alloc::vec![scqam; config.scqam.count as usize];
        let ofdma = Channel {
            frame: times.frame,
            frames: times.frames,
            minislots_per_frame: times.minislots_per_frame,
            minislot: None,
            behind: times.completion() - times.frame,
            opportunities_for: (per, 1),
            layouts: Vec::new(),
        };
        channels.push(ofdma.laid_out(most));
        Self {
            interval: times.interval,
            lead: times.lead,
            heard: times.heard,
            request: times.request,
            preparation: times.preparation,
            loop_delay: times.loop_delay(),
            ..Self::over(channels)
        }
    }

    fn docsis30(config: &GroupConfig, most: u32) -> Self {
        let minislot = config.scqam.minislot;
        let whole = minislot * DOCSIS30_FRAMES;
        let minislots = ((config.map_interval.as_ps() + whole.as_ps() / 2) / whole.as_ps().max(1)).max(1);
        let frame = minislot * minislots;
        let channel = Channel {
            frame,
            frames: DOCSIS30_FRAMES,
            minislots_per_frame: minislots,
            minislot: Some(minislot),
            behind: DOCSIS30_BEHIND,
            opportunities_for: (1, SCQAM_COST),
            layouts: Vec::new(),
        }
        .laid_out(most);
        let interval = frame * DOCSIS30_FRAMES;
        Self {
            interval,
            lead: DOCSIS30_LEAD,
            heard: DOCSIS30_HEARD,
            request: DOCSIS30_REQUEST,
            preparation: frame,
            // Half an interval until the request leaves, half until the grant begins, as of the one modem of White 2013.
            loop_delay: interval * 3,
            ..Self::over(alloc::vec![channel; config.scqam.count as usize])
        }
    }

    fn pon(config: &GroupConfig, most: u32) -> Self {
        let words = config.pon.words();
        let word = Span::from_ps(PON_FRAME.as_ps() / words.max(1));
        // Without contention, opportunities cost nothing and are not used.
        let channel = Channel {
            frame: PON_FRAME,
            frames: 1,
            minislots_per_frame: words,
            minislot: Some(word),
            behind: PON_BEHIND,
            opportunities_for: (1, 0),
            layouts: Vec::new(),
        }
        .laid_out(most);
        Self {
            interval: PON_FRAME,
            lead: PON_LEAD,
            heard: PON_FRAME,
            request: PON_REQUEST,
            preparation: Span::ZERO,
            loop_delay: PON_FRAME * 5,
            ..Self::over(alloc::vec![channel])
        }
    }
}
