//! CoDel decides, packet by packet at the head of a queue, whether to signal a standing queue.
//!
//! Source: RFC 8289 §5.5 and §5.6; for the versions of 2012 and 2013 the ns-2 code of K. Nichols
//! (`queue/codel.cc`, `queue/sfqcodel.cc`).
//! Deviations: `first_above` starts unset (ns-2 starts it at −1, which lets a run's very first packet
//! count as late); no Newton iteration for the square root, no 32-bit clock.

use sojourn_base::Span;

/// Which published version of the control law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodelVariant {
    /// First public ns-2 code, May 2012: resumes at `count − 1` within 16 intervals.
    Original2012,
    /// ns-2 code of February 2013: resumes at `count − 2` within 8 intervals, and shortens the first
    /// wait of an episode that follows closely.
    Nichols2013,
    /// The same as used inside SFQ-CoDel, March 2013: without the shortened first wait.
    Sfq2013,
    /// RFC 8289 (and Linux): resumes at the signals of the last episode within 16 intervals.
    #[default]
    Rfc8289,
}

/// The backlog below which nothing is signalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodelFloor {
    /// The largest packet seen so far, 256 bytes to begin with (ns-2 `codel.cc`).
    #[default]
    LargestSeen,
    /// A fixed number of bytes, usually one full-size packet.
    Fixed(u32),
}

/// Parameters of CoDel's decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelLaw {
    /// Acceptable standing delay.
    pub target: Span,
    /// How long the delay may stay above `target` before the first signal.
    pub interval: Span,
    /// Which published version.
    pub variant: CodelVariant,
    /// Backlog below which nothing is signalled.
    pub floor: CodelFloor,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Also mark each ECN-capable packet whose delay is above this (RFC 8290 §4.2.3's practice).
    pub ce_threshold: Option<Span>,
    /// Packets with ECT(1) or CE see only `ce_threshold`, all others only CoDel.
    pub l4s: bool,
}

impl CodelLaw {
    /// RFC 8289 §5.3 and §5.5: 5 ms in 100 ms.
    pub const RFC8289: Self = Self {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        variant: CodelVariant::Rfc8289,
        floor: CodelFloor::LargestSeen,
        ecn: false,
        ce_threshold: None,
        l4s: false,
    };
    /// White 2012 §1.1: 5 ms in 100 ms, the code of that year.
    pub const WHITE2012: Self = Self {
        variant: CodelVariant::Original2012,
        ..Self::RFC8289
    };
    /// White 2013 §3.2: 10 ms in 150 ms, so that an idle request-grant loop stays below target
    /// (§2.1.1), the code of that year.
    pub const WHITE2013: Self = Self {
        target: Span::from_ms(10),
        interval: Span::from_ms(150),
        variant: CodelVariant::Nichols2013,
        ..Self::RFC8289
    };
    /// Akhtar 2013: 5 ms in 100 ms, "latest ns-2 code" of late 2013.
    pub const AKHTAR2013: Self = Self {
        variant: CodelVariant::Nichols2013,
        ..Self::RFC8289
    };
}
