//! The words of a stack's enumerations.
//!
//! Source: the RFCs that define the mechanisms, as the configuration names them.
//! Deviations: none known.

use sojourn_transport::config::{
    AckUnit, EcnMode, GrowthGate, Handshake, InitialThreshold, LossDetection, RecoveryMode,
    ReductionBase, RoundTripSampling, SlowStartExit, TimeoutFormula, WindowUnit,
};

use sojourn_keys::value::Word;

macro_rules! words {
    ($name:ident: $type:ty = $($word:literal $value:expr, $about:literal;)*) => {
        pub(super) const $name: &[Word<$type>] = &[$(Word { name: $word, value: $value, about: $about },)*];
    };
}

words! { THRESHOLDS: InitialThreshold =
    "receive-window" InitialThreshold::ReceiveWindow, "the receive window (ns-2)";
    "unlimited" InitialThreshold::Unlimited, "none (RFC 5681)";
}
words! { SAMPLINGS: RoundTripSampling =
    "timestamps" RoundTripSampling::Timestamps, "the echoed time stamp (RFC 7323)";
    "once-per-window" RoundTripSampling::OncePerWindow, "one timed segment per window (Karn)";
    "newest-acknowledged" RoundTripSampling::NewestAcknowledged,
        "the newest segment that an acknowledgement covers, if it was sent once only";
}
words! { LOSS_DETECTIONS: LossDetection =
    "three-duplicates" LossDetection::ThreeDuplicates, "three duplicates, no SACK (RFC 5681)";
    "sack6675" LossDetection::Sack6675, "three SACKed segments above it (RFC 6675)";
    "forward-ack" LossDetection::ForwardAck, "more than three below the highest SACKed (ns-2 TCP/Linux)";
    "full-tcp-sack" LossDetection::FullTcpSack, "any hole once recovery has begun (ns-2 FullTcp)";
    "rack" LossDetection::Rack, "a later transmission was delivered (RFC 8985)";
}
words! { RECOVERIES: RecoveryMode =
    "reno" RecoveryMode::Reno, "window inflation; any new acknowledgement ends recovery";
    "new-reno" RecoveryMode::NewReno, "window inflation; partial acknowledgements retransmit (RFC 6582)";
    "pipe" RecoveryMode::Pipe, "while the pipe is below the reduced window (RFC 6675)";
    "rate-halving" RecoveryMode::RateHalving, "one segment per two acknowledgements (ns-2 TCP/Linux)";
    "proportional" RecoveryMode::Proportional, "proportional rate reduction (RFC 9937)";
}
words! { REDUCTION_BASES: ReductionBase =
    "minimum" ReductionBase::Minimum, "the smaller of window and outstanding segments";
    "window" ReductionBase::Window, "the window (ns-2, Linux)";
    "flight" ReductionBase::Flight, "outstanding segments (RFC 5681)";
    "pipe" ReductionBase::Pipe, "segments in the network after loss marking (ns-3)";
}
words! { GROWTH_GATES: GrowthGate =
    "strict" GrowthGate::Strict, "only if the window was full";
    "near" GrowthGate::Near, "only if at most one segment was missing to a full window";
    "linux" GrowthGate::Linux, "as Linux: by the largest recent flight";
    "none" GrowthGate::None, "always";
}
words! { WINDOW_UNITS: WindowUnit =
    "segments" WindowUnit::Segments, "whole segments";
    "bytes" WindowUnit::Bytes, "bytes";
}
words! { ECN_MODES: EcnMode =
    "off" EcnMode::Off, "packets are not ECN-capable";
    "classic" EcnMode::Classic, "a mark is echoed until it is confirmed (RFC 3168)";
    "dctcp" EcnMode::Dctcp, "each segment's mark is echoed (RFC 8257)";
    "dctcp-l4s" EcnMode::DctcpL4s, "the same with packets ECT(1)";
    "accecn" EcnMode::Accurate, "marks are counted, and the count comes back (AccECN, RFC 9768)";
    "accecn-l4s" EcnMode::AccurateL4s, "the same with all packets ECT(1) (RFC 9331)";
}
words! { SLOW_START_EXITS: SlowStartExit =
    "none" SlowStartExit::None, "the threshold, or a loss";
    "hystart" SlowStartExit::HyStart, "rising delay or a long train of acknowledgements (Linux)";
    "hystart++" SlowStartExit::HyStartPlusPlus, "rising delay, confirmed by slower growth (RFC 9406)";
}
words! { HANDSHAKES: Handshake =
    "three-way" Handshake::ThreeWay, "SYN, SYN-ACK, ACK";
    "syn-as-data" Handshake::SynAsData, "the SYN is data segment 0 (ns-2 one-way agents)";
    "syn-in-first-window" Handshake::SynInFirstWindow, "the first window leaves with the SYN (ns-2 TCP/Linux)";
}
words! { ACK_UNITS: AckUnit =
    "segments" AckUnit::Segments, "segments of any size";
    "full-segments" AckUnit::FullSegments, "full segments' worth of bytes (ns-2 FullTcp)";
}
words! { FORMULAS: TimeoutFormula =
    "rfc6298" TimeoutFormula::Rfc6298, "RFC 6298";
    "linux" TimeoutFormula::Linux, "Linux: the minimum applies to the variance term";
}
words! { ACK_TIMERS: bool =
    "one-shot" false, "a timer that starts with the first unacknowledged segment";
    "heartbeat" true, "the next multiple of the delay (BSD, ns-2 FullTcp)";
}
