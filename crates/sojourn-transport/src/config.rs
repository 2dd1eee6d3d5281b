//! Parameters of an endpoint, in which TCP stacks differ.
//!
//! Source: the parameter names follow the RFCs that define the mechanisms (5681, 6298, 6582, 6675,
//! 8985, 9406, 9438, 9937); values live in [`StackConfig::PROFILES`]. Windows count
//! segments of one maximum segment size unless a field says otherwise.
//! Deviations: receive-window auto-tuning, window scaling and zero windows are not modelled.

pub use crate::congestion::ControllerConfig;
pub use crate::congestion::bbr1::Bbr1Config;
pub use crate::congestion::bbr2::Bbr2Config;
pub use crate::congestion::bbr3::Bbr3Config;
pub use crate::congestion::compound::CompoundConfig;
pub use crate::congestion::cubic_linux::CubicLinuxConfig;
pub use crate::congestion::cubic_rfc9438::CubicConfig;
pub use crate::congestion::cubic_v21::CubicV21Config;
pub use crate::congestion::dctcp::DctcpConfig;
pub use crate::congestion::ledbat::LedbatConfig;
pub use crate::congestion::ledbat_ns2::LedbatNs2Config;
pub use crate::congestion::prague::PragueConfig;
pub use crate::congestion::reno::{Avoidance, RenoConfig};
pub use crate::congestion::slow_start::SlowStartExit;
use crate::habits::Habits;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Bytes, Ecn, Span};
use sojourn_keys::{
    Content, Key, Mismatch, OneOf, Shape, Value, Visitor, Word, Words, bytes, choices, origin, parameters, words,
};

/// Key of a default that the stack's name decides.
const fn by_name() -> Key {
    origin("by the stack's name")
}

/// A window in segments.
const fn segments() -> Key {
    // chosen: the receive window that never limits a flow in any named stack.
    by_name().least("1").most("100000")
}

const fn timer() -> Key {
    by_name().most("24 h")
}

const fn header() -> Key {
    by_name().most("1000 B")
}

parameters! {
    /// Everything that distinguishes a TCP stack: a profile, and what differs. Rows have the values of a Linux of today
    /// with CUBIC.
    #[derive(Copy)]
    pub struct StackConfig {
        /// payload of a full segment
        maximum_segment_size: u32 = 1448, by_name().least("1 B").most("65535 B") => bytes;
        /// initial window in segments
        initial_window: u32 = 10, segments();
        /// initial slow-start threshold: a size, or one of two words
        initial_threshold: InitialThreshold = InitialThreshold::Unlimited, by_name().least("1 B").most("1 GB");
        /// what the peer is willing to receive, in segments; for ns-2 stacks the default is 16 times what the access link carries in 100 ms
        receive_window: u32 = AMPLE, segments();
        /// hold back a short segment while data are unacknowledged (RFC 896)
        nagle: bool = false, by_name();
        /// new data leave in superpackets: what a millisecond carries, and two segments at least, wait for room together (Linux)
        ///
        /// As Linux hands them to a network card that cuts them (`tcp_tso_autosize`, `tcp_tso_should_defer`).
        superpackets: bool = false, by_name();
        /// a short segment that carries the FIN is not held back
        nagle_fin_flush: bool = true, by_name();
        /// what round-trip samples are taken from
        sampling: RoundTripSampling = RoundTripSampling::Timestamps, by_name();
        /// how the sender concludes that a segment is lost
        loss_detection: LossDetection = LossDetection::Rack, by_name();
        /// probe for a lost tail before the retransmission timeout (RFC 8985 §7)
        tail_loss_probe: bool = true, by_name();
        /// send a new segment on each of the first two duplicates (RFC 3042)
        limited_transmit: bool = true, by_name();
        /// sending during recovery
        recovery: RecoveryMode = RecoveryMode::Proportional, by_name();
        /// the quantity that a congestion event multiplies
        reduction_base: ReductionBase = ReductionBase::Minimum, by_name();
        /// when the window may grow
        growth_gate: GrowthGate = GrowthGate::Linux, by_name();
        /// unit of the window
        window_unit: WindowUnit = WindowUnit::Segments, by_name();
        /// what ends the first slow start before a loss does
        slow_start_exit: SlowStartExit = SlowStartExit::HyStart, by_name();
        /// explicit congestion notification
        ecn: EcnMode = EcnMode::Off, by_name();
        /// the count of marks comes back in full, not modulo 8 (RFC 9768 §3.2.3)
        ///
        /// As the AccECN option has it, in the place of one SACK block, and not in the ACE field alone.
        accecn_option: bool = true, by_name();
        /// congestion controller
        controller: ControllerConfig = ControllerConfig::of(&CubicConfig::BASE), by_name() => controller;
        /// growth in slow start
        slow_start: SlowStart = SlowStart::Linux, by_name();
        /// what idleness does to the window
        idle_restart: IdleRestart = IdleRestart::Rfc2861 { floor: 10 }, by_name();
        /// spreading over the round trip
        pacing: Pacing = Pacing::Off, by_name();
        /// sizes of packets
        wire: WireSizes = WireSizes::BASE, by_name();
        /// opening a connection
        connect: ConnectPolicy = ConnectPolicy::BASE, by_name();
        /// when acknowledgements are sent
        acknowledge: AckPolicy = AckPolicy::BASE, by_name();
        /// retransmission timeouts
        timeout: TimeoutPolicy = TimeoutPolicy::BASE, by_name();
        /// where the implementation departs from the documents
        habits: Habits = Habits::BASE, by_name();
    }
}

fn controller(key: Key, value: &mut ControllerConfig, visitor: &mut dyn Visitor) {
    let kinds = ControllerConfig::kinds();
    visitor.choice(key, &mut OneOf::among(value, kinds, |controller| controller.kind()));
}

parameters! {
    /// Bytes of the IP packets that a stack sends: IPv4 (20 B), TCP (20 B), padded time-stamp option (12 B); SYN options
    /// 20 B; SACK in two NOPs (RFC 793, 7323, 2018).
    #[derive(Copy, Eq)]
    pub struct WireSizes {
        /// headers of a data segment
        data_header: u32 = 52, header().least("20 B") => bytes;
        /// pure acknowledgement without SACK blocks
        acknowledgement: u32 = 52, header().least("20 B") => bytes;
        /// added once if there is any SACK block
        sack_base: u32 = 4, header() => bytes;
        /// added for each SACK block
        sack_block: u32 = 8, header() => bytes;
        /// SYN and SYN-ACK
        syn: u32 = 60, by_name().least("20 B").most("1500 B") => bytes;
    }
}

parameters! {
    /// Opening a connection.
    #[derive(Copy, Eq)]
    pub struct ConnectPolicy {
        /// how a connection begins
        handshake: Handshake = Handshake::ThreeWay, by_name();
        /// wait before the first repetition of the SYN
        ///
        /// Also the retransmission timeout until there is a round-trip sample.
        timeout: Span = Span::from_s(1), timer().least("1 ms").unit("s");
        /// longest wait between two attempts
        maximum_timeout: Option<Span> = Some(Span::from_s(120)), timer().or("unlimited").least("1 ms").unit("s");
        /// attempts before the connection fails
        ///
        /// Which [`crate::Event::ConnectFailed`] tells.
        attempts: Option<u32> = Some(7), by_name().or("unlimited").least("1");
        /// the initial window is one segment after this many repeated SYNs
        ///
        /// RFC 5681 section 3.1 says 1.
        single_segment_after: Option<u32> = Some(2), by_name().or("never").least("1");
        /// the SYN-ACK is acknowledged with a packet of its own even if there are data to send
        separate_acknowledgement: bool = false, by_name();
    }
}

parameters! {
    /// Time of the receiver's acknowledgements.
    #[derive(Copy, Eq)]
    pub struct AckPolicy {
        /// acknowledge at once when this many units are pending
        every: u32 = 2, segments();
        /// the unit of every
        unit: AckUnit = AckUnit::Segments, by_name();
        /// otherwise after this time
        ///
        /// Linux adapts between 40 and 200 ms. chosen: the lower end.
        delay: Span = Span::from_ms(40), timer().least("1 us");
        /// what the delay is counted from
        timer: AckTimer = AckTimer::OneShot, by_name();
        /// segments at the start, and after idleness, that are not delayed
        quick: u32 = 16, by_name().most("100000");
    }
}

parameters! {
    /// Retransmission timeouts.
    #[derive(Copy, Eq)]
    pub struct TimeoutPolicy {
        /// timeout from round-trip estimates
        formula: TimeoutFormula = TimeoutFormula::Linux, by_name();
        /// lower bound, applied before back-off
        minimum: Span = Span::from_ms(200), timer().least("1 ms");
        /// upper bound, applied after back-off
        maximum: Span = Span::from_s(120), timer().least("1 ms").unit("s");
        /// clock granularity
        granularity: Span = Span::from_ms(1), timer();
        /// a sample below the mean raises the variance at an eighth of the normal gain (Linux)
        gentle_on_falling_samples: bool = false, by_name();
        /// expiries in a row before the connection is given up
        retries: u32 = 15, by_name();
        /// the SACK scoreboard is forgotten at a timeout (ns-2 FullTcp)
        clears_scoreboard: bool = false, by_name();
    }
}

parameters! {
    /// Spreading of transmissions over the round trip: Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`, `sk_pacing`
    /// defaults.
    #[derive(Copy)]
    pub struct Pace {
        /// multiple in slow start
        ///
        /// Of window/srtt, while the window is below half the threshold.
        slow_start_gain: f64 = 2.0, origin("Linux").least("0.1").most("100");
        /// multiple after it
        avoidance_gain: f64 = 1.2, origin("Linux").least("0.1").most("100");
        /// segments released at once
        quantum: u32 = 2, segments();
        /// segments at the start that are not paced
        unpaced: u32 = 10, origin("Linux").most("100000");
    }
    profiles {
        /// ns-3: Linux's rates, one segment at once; the initial window of 10 is not paced (ns-3.35 `TcpSocketState`).
        NS3 { quantum = 1; }
        /// Of a controller that paces in a stack that does not: one segment at a time, at window/srtt while it has no rate.
        BY_CONTROLLER { slow_start_gain = 1.0; avoidance_gain = 1.0; quantum = 1; unpaced = 0; }
    }
}

choices! {
    /// Spread of transmissions over the round trip.
    #[derive(Copy)]
    pub enum Pacing {
        /// segments leave as soon as the window allows
        Off = "off",
        /// at a multiple of window/round trip (Linux)
        On(pace: Pace = Pace::BASE) = "on",
    }
}

choices! {
    /// Growth of the window in slow start.
    #[derive(Copy, Eq)]
    pub enum SlowStart {
        /// one segment for each acknowledgement of new data
        PerAck = "per-ack",
        /// one segment for each acknowledged segment, up to a limit (RFC 3465)
        ///
        /// 1 after a timeout.
        Bytes {
            /// segments per acknowledgement, at most
            limit: u32 = 2, origin("RFC 3465 §2.2").least("1").most("100000");
        } = "bytes",
        /// one segment for each acknowledged segment up to the threshold (Linux)
        ///
        /// The remainder counts in congestion avoidance.
        Linux = "linux",
    }
}

choices! {
    /// Change of an idle sender's window before it sends again.
    #[derive(Copy, Eq)]
    pub enum IdleRestart {
        /// nothing
        None = "none",
        /// the window becomes this many segments (ns-2)
        ///
        /// The initial window, or 1.
        Reset {
            /// window after idleness, in segments
            window: u32 = 1, segments();
        } = "reset",
        /// at most the initial window (RFC 5681 §4.1)
        Rfc5681 = "rfc5681",
        /// halved for each timeout of idleness (RFC 2861)
        ///
        /// A smaller window is kept.
        Rfc2861 {
            /// least window, in segments
            floor: u32 = 10, segments();
        } = "rfc2861",
    }
}

words! {
    /// How a connection begins.
    pub enum Handshake {
        /// SYN, SYN-ACK, ACK
        ThreeWay = "three-way",
        /// the SYN is data segment 0 (ns-2 one-way agents)
        ///
        /// Without payload; everything else waits for its acknowledgement.
        SynAsData = "syn-as-data",
        /// the first window leaves with the SYN (ns-2 TCP/Linux)
        ///
        /// Which is data segment 0 without payload; ns-2 `TCP/Linux` turns `delay_growth_` off.
        SynInFirstWindow = "syn-in-first-window",
    }
}

/// The slow-start threshold of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialThreshold {
    /// The receive window (ns-2).
    ReceiveWindow,
    /// None (RFC 5681).
    Unlimited,
    /// This number of bytes, as 65,535 in ns-3 before 3.25.
    Of(Bytes),
}

/// The words that an initial threshold may be instead of a size.
const THRESHOLDS: &[Word<InitialThreshold>] = &[
    Word { name: "receive-window", value: InitialThreshold::ReceiveWindow, about: "the receive window (ns-2)" },
    Word { name: "unlimited", value: InitialThreshold::Unlimited, about: "none (RFC 5681)" },
];

/// A word or a size.
impl Value for InitialThreshold {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let words = || THRESHOLDS.iter().map(|word| word.name);
        if let Content::Text(text) = content
            && words().any(|word| word == text)
        {
            let words = THRESHOLDS;
            return Words { value: self, words }.read(content, key);
        }
        let mut size = Bytes::ZERO;
        size.read(content, key).map_err(|mut mismatch| {
            mismatch.hint = format!("{}, or {}", mismatch.hint, list(words()));
            mismatch
        })?;
        *self = Self::Of(size);
        Ok(())
    }

    fn print(&self) -> String {
        let mut value = *self;
        match self {
            Self::Of(size) => size.print(),
            _ => Words { value: &mut value, words: THRESHOLDS }.print(),
        }
    }

    fn shape(&self) -> Shape {
        let words = THRESHOLDS.iter().rev();
        words.fold(Bytes::ZERO.shape(), |shape, word| Shape::WordOr(word.name, Box::new(shape)))
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        match self {
            Self::Of(size) => size.compare(bound),
            _ => None,
        }
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    words.join(" or ")
}

words! {
    /// Unit that the receiver counts before it acknowledges.
    pub enum AckUnit {
        /// segments of any size
        Segments = "segments",
        /// full segments' worth of bytes (ns-2 FullTcp)
        FullSegments = "full-segments",
    }
}

words! {
    /// How long an acknowledgement may wait for company.
    pub enum AckTimer {
        /// a timer that starts with the first unacknowledged segment
        OneShot = "one-shot",
        /// the next multiple of the delay (BSD, ns-2 FullTcp)
        ///
        /// In absolute time.
        Heartbeat = "heartbeat",
    }
}

words! {
    /// Source of round-trip samples.
    pub enum RoundTripSampling {
        /// the echoed time stamp (RFC 7323)
        Timestamps = "timestamps",
        /// one timed segment per window (Karn)
        ///
        /// A retransmission cancels it.
        OncePerWindow = "once-per-window",
        /// the newest segment that an acknowledgement covers, if it was sent once only
        NewestAcknowledged = "newest-acknowledged",
    }
}

words! {
    /// How the sender concludes that a segment is lost.
    pub enum LossDetection {
        /// three duplicates, no SACK (RFC 5681)
        ThreeDuplicates = "three-duplicates",
        /// three SACKed segments above it (RFC 6675)
        Sack6675 = "sack6675",
        /// more than three below the highest SACKed (ns-2 TCP/Linux)
        ///
        /// Retransmissions, too, when five later ones or the segments sent after them have arrived.
        ForwardAck = "forward-ack",
        /// any hole once recovery has begun (ns-2 FullTcp)
        ///
        /// After three duplicates, and below a SACKed segment.
        FullTcpSack = "full-tcp-sack",
        /// a later transmission was delivered (RFC 8985)
        ///
        /// And the reordering window has passed.
        Rack = "rack",
        /// QUIC instead of TCP: by packet number and time, over numbers that are never used twice (RFC 9002)
        #[native()]
        Quic = "quic",
    }
}

impl LossDetection {
    /// Returns true if the transport is QUIC.
    pub const fn is_quic(self) -> bool {
        !IN_TAB && matches!(self, Self::Quic)
    }

    /// Returns true if the receiver reports SACK blocks.
    pub const fn uses_sack(self) -> bool {
        !matches!(self, Self::ThreeDuplicates)
    }
}

words! {
    /// How many segments recovery may send.
    pub enum RecoveryMode {
        /// window inflation; any new acknowledgement ends recovery
        Reno = "reno",
        /// window inflation; partial acknowledgements retransmit (RFC 6582)
        NewReno = "new-reno",
        /// while the pipe is below the reduced window (RFC 6675)
        Pipe = "pipe",
        /// one segment per two acknowledgements (ns-2 TCP/Linux)
        ///
        /// Until the pipe is at the threshold.
        RateHalving = "rate-halving",
        /// proportional rate reduction (RFC 9937)
        Proportional = "proportional",
    }
}

words! {
    /// The quantity that a congestion event multiplies.
    pub enum ReductionBase {
        /// the smaller of window and outstanding segments
        ///
        /// Whole segments of the window.
        Minimum = "minimum",
        /// the window (ns-2, Linux)
        ///
        /// At most the receive window.
        Window = "window",
        /// outstanding segments (RFC 5681)
        ///
        /// Without those of limited transmit (RFC 6675).
        Flight = "flight",
        /// segments in the network after loss marking (ns-3)
        Pipe = "pipe",
    }
}

words! {
    /// The retransmission timeout from srtt and rttvar.
    pub enum TimeoutFormula {
        /// RFC 6298
        ///
        /// max(minimum, srtt + max(granularity, 4 rttvar)).
        Rfc6298 = "rfc6298",
        /// Linux: the minimum applies to the variance term
        ///
        /// srtt + max(minimum, 4 rttvar).
        Linux = "linux",
    }
}

words! {
    /// Condition for growth of the window (congestion window validation).
    pub enum GrowthGate {
        /// only if the window was full
        ///
        /// Before the acknowledgement.
        Strict = "strict",
        /// only if at most one segment was missing to a full window
        Near = "near",
        /// as Linux: by the largest recent flight
        ///
        /// Slow start: below twice that; otherwise only if the window held data back.
        Linux = "linux",
        /// always
        None = "none",
    }
}

words! {
    /// The unit in which the window is compared with what is in the network.
    pub enum WindowUnit {
        /// whole segments
        ///
        /// A short segment counts like a full one; thresholds are whole segments.
        Segments = "segments",
        /// bytes
        ///
        /// One segment may always be in flight.
        Bytes = "bytes",
    }
}

words! {
    /// Use of explicit congestion notification.
    pub enum EcnMode {
        /// packets are not ECN-capable
        Off = "off",
        /// a mark is echoed until it is confirmed (RFC 3168)
        Classic = "classic",
        /// each segment's mark is echoed (RFC 8257)
        Dctcp = "dctcp",
        /// the same with packets ECT(1)
        DctcpL4s = "dctcp-l4s",
        /// marks are counted, and the count comes back (AccECN, RFC 9768)
        Accurate = "accecn",
        /// the same with all packets ECT(1) (RFC 9331)
        ///
        /// Control packets and retransmissions as well.
        AccurateL4s = "accecn-l4s",
    }
}

impl EcnMode {
    /// Returns true if the echo tells for each segment if it was marked.
    pub const fn echoes_each(self) -> bool {
        matches!(self, Self::Dctcp | Self::DctcpL4s)
    }

    /// Returns true if acknowledgements carry a count of marked segments.
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

    /// The profiles with their names.
    pub fn named() -> impl Iterator<Item = (&'static str, Self)> {
        Self::PROFILES.iter().map(|profile| (profile.name, (profile.values)()))
    }

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::named().find_map(|(known, config)| (known == name).then_some(config))
    }

    /// For profiles of ns-2, whose receive window depends on the scenario: 16 times what the access
    /// link carries in 100 ms, in packets of 1500 B. Other profiles are returned unchanged.
    ///
    /// Source: ns-2.35 `codel.tcl` (window of its agents).
    #[must_use]
    pub fn with_access_rate(self, rate: BitRate) -> Self {
        if self.initial_threshold != InitialThreshold::ReceiveWindow || self.receive_window == AMPLE {
            return self;
        }
        let bytes = rate.bytes_in(Span::from_ms(100)).0.saturating_mul(16);
        let segments = (bytes / FULL_PACKET).clamp(u64::from(self.initial_window), u64::from(AMPLE));
        Self { receive_window: u32::try_from(segments).unwrap_or(AMPLE), ..self }
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

    #[test]
    fn the_ns2_window_is_sixteen_times_a_hundred_milliseconds_of_the_access_rate() {
        // 16 x 5 Mb/s x 0.1 s = 8 Mb = 666.7 packets of 1500 B.
        let config = StackConfig::NS2_LINUX_CUBIC.with_access_rate(BitRate::from_mbps(5));
        assert_eq!(config.receive_window, 666);
    }

    #[test]
    fn an_ample_window_does_not_depend_on_the_access_rate() {
        for config in [StackConfig::AKHTAR2013, StackConfig::LINUX_CUBIC] {
            assert_eq!(config.with_access_rate(BitRate::from_mbps(5)), config);
        }
    }

    #[test]
    fn every_name_leads_to_a_profile_and_no_other_does() {
        for (name, config) in StackConfig::named() {
            assert_eq!(StackConfig::by_name(name), Some(config), "{name}");
        }
        assert_eq!(StackConfig::by_name("cubic"), None);
    }
}
