//! What makes one TCP stack differ from another: every parameter of an endpoint.
//!
//! Source: the parameter names follow the RFCs that define the mechanisms (5681, 6298, 6582, 6675,
//! 8985, 9406, 9438, 9937); values live in the named profiles of [`crate::stacks`]. Windows count
//! segments of one maximum segment size unless a field says otherwise.
//! Deviations: receive-window auto-tuning, window scaling and zero windows are not modelled.

pub use crate::congestion::ControllerConfig;
pub use crate::congestion::bbr1::Bbr1Config;
pub use crate::congestion::bbr3::Bbr3Config;
pub use crate::congestion::cubic_rfc9438::CubicConfig;
pub use crate::congestion::cubic_v21::CubicV21Config;
pub use crate::congestion::dctcp::DctcpConfig;
pub use crate::congestion::ledbat::LedbatConfig;
pub use crate::congestion::ledbat_ns2::LedbatNs2Config;
pub use crate::congestion::prague::PragueConfig;
pub use crate::congestion::reno::{Avoidance, RenoConfig};
pub use crate::congestion::slow_start::SlowStartExit;
use crate::habits::Habits;
use sojourn_base::{BitRate, Ecn, Span};

/// Bytes of the IP packets that a stack sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSizes {
    /// IP and TCP header with options of a data segment.
    pub data_header: u32,
    /// Pure acknowledgement without SACK blocks.
    pub acknowledgement: u32,
    /// Added once if there is any SACK block.
    pub sack_base: u32,
    /// Added for each SACK block.
    pub sack_block: u32,
    /// SYN and SYN-ACK.
    pub syn: u32,
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK.
    ThreeWay,
    /// The SYN is data segment 0 without payload; everything else waits for its acknowledgement
    /// (ns-2 one-way agents).
    SynAsData,
    /// The SYN is data segment 0 without payload, and the first window leaves with it (ns-2
    /// `TCP/Linux`, which turns `delay_growth_` off).
    SynInFirstWindow,
}

/// Opening a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectPolicy {
    /// Form of the handshake.
    pub handshake: Handshake,
    /// Wait before the first repetition of the SYN; also the retransmission timeout until there is a
    /// round-trip sample.
    pub timeout: Span,
    /// Longest wait between two attempts; `None` lets it double for ever.
    pub maximum_timeout: Option<Span>,
    /// Attempts before [`crate::Event::ConnectFailed`]; `None` tries for ever.
    pub attempts: Option<u32>,
    /// The initial window is one segment once this many SYNs had to be repeated (RFC 5681 section
    /// 3.1 says 1); `None` never reduces it.
    pub single_segment_after: Option<u32>,
    /// The client acknowledges the SYN-ACK with a packet of its own even if it has data to send.
    pub separate_acknowledgement: bool,
}

/// The slow-start threshold of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialThreshold {
    /// The receive window (ns-2).
    ReceiveWindow,
    /// None (RFC 5681: arbitrarily high).
    Unlimited,
}

/// Growth of the window in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// One segment for each acknowledgement of new data.
    PerAck,
    /// One segment for each acknowledged segment, at most `limit` per acknowledgement (RFC 3465);
    /// 1 after a timeout.
    Bytes {
        /// `L` of RFC 3465.
        limit: u32,
    },
    /// One segment for each acknowledged segment up to the threshold; what is left over counts in
    /// congestion avoidance (Linux).
    Linux,
}

/// What the receiver counts before it acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckUnit {
    /// Segments of any size.
    Segments,
    /// Full segments' worth of bytes (ns-2 FullTcp).
    FullSegments,
}

/// How long an acknowledgement may wait for company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// A timer that starts with the first unacknowledged segment.
    OneShot(Span),
    /// At the next multiple of the interval in absolute time (the BSD fast timer, ns-2 FullTcp).
    Heartbeat(Span),
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPolicy {
    /// Acknowledge at once when so many units are pending.
    pub every: u32,
    /// The unit of `every`.
    pub unit: AckUnit,
    /// Otherwise after this delay.
    pub delay: DelayedAck,
    /// The first segments of a connection, and as many after an idle period, are not delayed (Linux).
    pub quick: u32,
}

/// What round-trip samples are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTripSampling {
    /// The time stamp echoed by each acknowledgement of something new (RFC 7323).
    Timestamps,
    /// One timed segment per window, cancelled by a retransmission (Karn's algorithm).
    OncePerWindow,
    /// The newest segment that an acknowledgement covers, if it was sent once only.
    NewestAcknowledged,
}

/// How the sender concludes that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Three duplicate acknowledgements; the peer sends no SACK (RFC 5681, RFC 6582).
    ThreeDuplicates,
    /// Three SACKed segments above it (RFC 6675).
    Sack6675,
    /// More than three below the highest SACKed one; retransmissions, too, when five later ones or the
    /// segments sent after them have arrived (ns-2 `TCP/Linux`).
    ForwardAck,
    /// Any hole below a SACKed segment once three duplicates have started recovery (ns-2 FullTcp).
    FullTcpSack,
    /// A later transmission was delivered, and the reordering window has passed (RFC 8985).
    Rack,
}

impl LossDetection {
    /// Whether the receiver reports SACK blocks.
    pub const fn uses_sack(self) -> bool {
        !matches!(self, Self::ThreeDuplicates)
    }
}

/// How many segments recovery may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryMode {
    /// Window inflation by duplicates; any new acknowledgement ends recovery (Reno).
    Reno,
    /// Window inflation, partial acknowledgements retransmit (RFC 6582).
    NewReno,
    /// As long as `pipe` is below the reduced window (RFC 6675).
    Pipe,
    /// One segment per two acknowledgements until `pipe` is at the threshold (ns-2 `TCP/Linux`).
    RateHalving,
    /// Proportional rate reduction (RFC 9937).
    Proportional,
}

/// The quantity that a congestion event multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionBase {
    /// min(floor(cwnd), outstanding segments).
    Minimum,
    /// cwnd, at most the receive window (ns-2, Linux).
    Window,
    /// Outstanding segments without those of limited transmit (RFC 5681, RFC 6675).
    Flight,
    /// Segments in the network after loss marking (ns-3).
    Pipe,
}

/// The retransmission timeout from srtt and rttvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutFormula {
    /// max(minimum, srtt + max(granularity, 4 rttvar)) (RFC 6298).
    Rfc6298,
    /// srtt + max(minimum, 4 rttvar) (Linux).
    Linux,
}

/// Retransmission timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutPolicy {
    /// The formula.
    pub formula: TimeoutFormula,
    /// Lower bound, applied before back-off.
    pub minimum: Span,
    /// Upper bound, applied after back-off.
    pub maximum: Span,
    /// Clock granularity `G`.
    pub granularity: Span,
    /// A sample below srtt raises rttvar at an eighth of the normal gain (Linux).
    pub gentle_on_falling_samples: bool,
    /// Expiries in a row before the connection is given up.
    pub retries: u32,
    /// The SACK scoreboard is forgotten at a timeout (ns-2 FullTcp).
    pub clears_scoreboard: bool,
}

/// What an idle sender does to its window before it sends again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// Nothing.
    None,
    /// The window becomes so many segments (ns-2: the initial window, or 1).
    Reset {
        /// Segments.
        window: u32,
    },
    /// min(initial window, cwnd) (RFC 5681 section 4.1).
    Rfc5681,
    /// Halved for each timeout of idleness, not below `floor` (RFC 2861).
    Rfc2861 {
        /// Segments; a smaller window is kept.
        floor: u32,
    },
}

/// When the window may grow (congestion window validation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthGate {
    /// Only if the window was full before the acknowledgement.
    Strict,
    /// Only if at most one segment was missing to a full window.
    Near,
    /// Slow start: below twice the largest recent flight; otherwise only if the window held data back.
    Linux,
    /// Always.
    None,
}

/// The unit in which the window is compared with what is in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUnit {
    /// Whole segments: a short segment counts like a full one; thresholds are whole segments.
    Segments,
    /// Bytes; one segment may always be in flight.
    Bytes,
}

/// Spreading of transmissions over the round trip (Linux).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    /// Multiple of window/srtt while the window is below half the threshold.
    pub slow_start_gain: f64,
    /// Multiple of window/srtt otherwise.
    pub avoidance_gain: f64,
    /// Segments released at once.
    pub quantum: u32,
    /// Segments at the start of a connection that are not paced.
    pub unpaced: u32,
}

impl Pacing {
    /// Linux: twice the rate in slow start, 1.2 times after it, two segments at once, ten unpaced.
    /// Source: Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`, `sk_pacing` defaults.
    pub const LINUX: Self = Self {
        slow_start_gain: 2.0,
        avoidance_gain: 1.2,
        quantum: 2,
        unpaced: 10,
    };

    /// ns-3: Linux's rates, one segment at once; the initial window of 10 is not paced.
    /// Source: ns-3.35 `TcpSocketState` (`PacingSsRatio`, `PacingCaRatio`, `PaceInitialWindow`).
    pub const NS3: Self = Self {
        quantum: 1,
        ..Self::LINUX
    };

    /// Of a controller that paces in a stack that does not: one segment at a time, at window/srtt while it has no
    /// rate.
    pub const BY_CONTROLLER: Self = Self {
        slow_start_gain: 1.0,
        avoidance_gain: 1.0,
        quantum: 1,
        unpaced: 0,
    };
}

/// Use of explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    Off,
    /// The receiver echoes a mark until the sender confirms that it has reduced (RFC 3168).
    Classic,
    /// The receiver echoes for each data segment whether it was marked (RFC 8257 section 3.2).
    Dctcp,
    /// The same with packets that ask for low latency: ECT(1) (RFC 9331).
    DctcpL4s,
    /// The receiver counts marked segments, and each acknowledgement carries the count (AccECN, RFC 9768).
    Accurate,
    /// The same with packets that ask for low latency: ECT(1), control packets and retransmissions as well.
    AccurateL4s,
}

impl EcnMode {
    /// Whether the echo says of each segment whether it was marked.
    pub const fn echoes_each(self) -> bool {
        matches!(self, Self::Dctcp | Self::DctcpL4s)
    }

    /// Whether acknowledgements carry a count of marked segments.
    pub const fn counts_marks(self) -> bool {
        matches!(self, Self::Accurate | Self::AccurateL4s)
    }

    /// The ECN field of data that are sent for the first time.
    pub const fn codepoint(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Dctcp | Self::Accurate => Ecn::Ect0,
            Self::DctcpL4s | Self::AccurateL4s => Ecn::Ect1,
        }
    }

    /// The ECN field of SYNs, pure acknowledgements and retransmissions.
    pub const fn codepoint_of_control(self) -> Ecn {
        match self {
            Self::AccurateL4s => Ecn::Ect1,
            _ => Ecn::NotEct,
        }
    }
}

/// Everything that distinguishes a TCP stack. Start from a profile of [`crate::stacks`] and change
/// what differs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named after the mechanism it turns on"
)]
pub struct StackConfig {
    /// Payload of a full segment in bytes, at most 65,535.
    pub maximum_segment_size: u32,
    /// Sizes of packets.
    pub wire: WireSizes,
    /// Opening a connection.
    pub connect: ConnectPolicy,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold.
    pub initial_threshold: InitialThreshold,
    /// What the peer is willing to receive, in segments.
    pub receive_window: u32,
    /// Congestion controller.
    pub controller: ControllerConfig,
    /// Growth in slow start.
    pub slow_start: SlowStart,
    /// What ends the first slow start before a loss does.
    pub slow_start_exit: SlowStartExit,
    /// When acknowledgements are sent.
    pub acknowledge: AckPolicy,
    /// Hold back a short segment while data are unacknowledged (RFC 896).
    pub nagle: bool,
    /// A short segment that carries the FIN is not held back.
    pub nagle_fin_flush: bool,
    /// Round-trip samples.
    pub sampling: RoundTripSampling,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Probe for a lost tail before the retransmission timeout (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Send a new segment on each of the first two duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// Sending during recovery.
    pub recovery: RecoveryMode,
    /// What a reduction multiplies.
    pub reduction_base: ReductionBase,
    /// Retransmission timeouts.
    pub timeout: TimeoutPolicy,
    /// What idleness does to the window.
    pub idle_restart: IdleRestart,
    /// When the window may grow.
    pub growth_gate: GrowthGate,
    /// Unit of the window.
    pub window_unit: WindowUnit,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// With a count of marks: it comes back in full, as the AccECN option has it, and not modulo 8 in the ACE field
    /// alone (RFC 9768 section 3.2.3). The option takes the place of one SACK block.
    pub accecn_option: bool,
    /// Pacing; `None` sends at once what the window allows.
    pub pacing: Option<Pacing>,
    /// Where the implementation departs from the documents.
    pub habits: Habits,
}

impl StackConfig {
    /// Most SACK blocks of an acknowledgement: three beside a time stamp, two beside the AccECN option, none without
    /// SACK.
    pub const fn sack_blocks(&self) -> u8 {
        if !self.loss_detection.uses_sack() {
            0
        } else if self.ecn.counts_marks() && self.accecn_option {
            2
        } else {
            3
        }
    }

    /// The profile called `name`; see [`Self::names`].
    pub fn by_name(name: &str) -> Option<Self> {
        crate::stacks::PROFILES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, config)| *config)
    }

    /// The names that [`Self::by_name`] knows, in the order of the documentation.
    pub fn names() -> impl Iterator<Item = &'static str> {
        crate::stacks::PROFILES.iter().map(|(name, _)| *name)
    }

    /// For profiles of ns-2, whose receive window depends on the scenario: 16 times what the access
    /// link carries in 100 ms, in packets of 1500 B. Other profiles are returned unchanged.
    ///
    /// Source: ns-2.35 `codel.tcl` (window of its agents).
    #[must_use]
    pub fn with_access_rate(self, rate: BitRate) -> Self {
        if self.initial_threshold == InitialThreshold::Unlimited || self.receive_window == AMPLE {
            return self;
        }
        let bytes = rate.bytes_in(Span::from_ms(100)).0.saturating_mul(16);
        let segments =
            (bytes / FULL_PACKET).clamp(u64::from(self.initial_window), u64::from(AMPLE));
        Self {
            receive_window: u32::try_from(segments).unwrap_or(AMPLE),
            ..self
        }
    }
}

/// A receive window that never limits a flow, in segments. chosen: 150 MB, ten times the
/// bandwidth-delay product of 1 Gb/s and 120 ms.
pub(crate) const AMPLE: u32 = 100_000;

/// Maximum packet of White 2012 (3.1.2), bytes.
const FULL_PACKET: u64 = 1500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    #[test]
    fn the_ns2_window_is_sixteen_times_a_hundred_milliseconds_of_the_access_rate() {
        // 16 x 5 Mb/s x 0.1 s = 8 Mb = 666.7 packets of 1500 B.
        let config = stacks::NS2_LINUX_CUBIC.with_access_rate(BitRate::from_mbps(5));
        assert_eq!(config.receive_window, 666);
    }

    #[test]
    fn an_ample_window_does_not_depend_on_the_access_rate() {
        for config in [stacks::AKHTAR2013, stacks::LINUX_CUBIC] {
            assert_eq!(config.with_access_rate(BitRate::from_mbps(5)), config);
        }
    }

    #[test]
    fn every_name_leads_to_a_profile_and_no_other_does() {
        for name in StackConfig::names() {
            assert!(StackConfig::by_name(name).is_some(), "{name}");
        }
        assert_eq!(StackConfig::by_name("cubic"), None);
    }
}
