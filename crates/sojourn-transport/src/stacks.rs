//! Named stacks: which combination of mechanisms each study ran, and what runs today.
//!
//! Source: White 2012 Table 1 and White 2013 Table 2 name the stacks of the ns-2 studies, whose
//! defaults are those of ns-2.35 and its script `codel.tcl`; Akhtar 2013, section "TCP Modeling";
//! the simulator published with White 2019 (`residential-example.cc` and ns-3 defaults of early
//! 2020); RFCs and Linux for the stacks of today.
//! Deviations: ns-2 packets are 1500 B as White 2012 (3.1.2) says, where the script read literally
//! gives 1510 B; a last, partial segment of an ns-2 one-way agent has its true size.

use crate::config::{
    AMPLE, AckPolicy, AckUnit, Avoidance, Bbr1Config, Bbr3Config, ConnectPolicy, ControllerConfig,
    CubicConfig, CubicV21Config, DctcpConfig, DelayedAck, EcnMode, GrowthGate, Handshake,
    IdleRestart, InitialThreshold, LedbatConfig, LedbatNs2Config, LossDetection, Pacing,
    PragueConfig, RecoveryMode, ReductionBase, RenoConfig, RoundTripSampling, SlowStart,
    SlowStartExit, StackConfig, TimeoutFormula, TimeoutPolicy, WindowUnit, WireSizes,
};
use crate::habits::Habits;
use sojourn_base::Span;

/// Every profile under its name in scenario files.
pub const PROFILES: [(&str, StackConfig); 18] = [
    ("ns2-linux-cubic", NS2_LINUX_CUBIC),
    ("ns2-reno", NS2_RENO),
    ("ns2-bsd-sack", NS2_BSD_SACK),
    ("akhtar2013", AKHTAR2013),
    ("ns3-2019", NS3_2019),
    ("docsis-ns3-1.2", DOCSIS_NS3_1_2),
    ("linux-cubic", LINUX_CUBIC),
    ("linux-reno", LINUX_RENO),
    ("bsd-reno", BSD_RENO),
    ("windows-cubic", WINDOWS_CUBIC),
    ("ns2-ledbat", NS2_LEDBAT),
    ("ns2-ledbat-25ms", NS2_LEDBAT_25MS),
    ("ledbat", LEDBAT),
    ("dctcp", DCTCP),
    ("linux-6", LINUX_6),
    ("prague", PRAGUE),
    ("bbr1", BBR1),
    ("bbr3", BBR3),
];

/// Bulk transfers of White 2012 and 2013: ns-2 `TCP/Linux` with CUBIC, receiver `TCPSink/Sack1`.
pub const NS2_LINUX_CUBIC: StackConfig = StackConfig {
    maximum_segment_size: 1460,
    wire: WireSizes {
        data_header: 40,
        // The time stamp has no bytes of its own here; a block has 8 (ns-2.35 tcp-sink.cc).
        acknowledgement: 40,
        sack_base: 0,
        sack_block: 8,
        syn: 40,
    },
    connect: ConnectPolicy {
        handshake: Handshake::SynInFirstWindow,
        // White 2012 (4.3.2): attempts at 1, 4, 10, 22, 46, 94, 154 s.
        timeout: Span::from_s(3),
        maximum_timeout: Some(Span::from_s(60)),
        attempts: None,
        single_segment_after: Some(1),
        separate_acknowledgement: false,
    },
    // codel.tcl: windowInit_ 4.
    initial_window: 4,
    initial_threshold: InitialThreshold::ReceiveWindow,
    receive_window: NS2_DEFAULT_WINDOW,
    // ns-2.35 tcp/linux/src/tcp_cubic.c: beta 819/1024.
    controller: ControllerConfig::CubicV21(CubicV21Config { beta: 819 }),
    slow_start: SlowStart::PerAck,
    slow_start_exit: SlowStartExit::None,
    acknowledge: EVERY_SEGMENT,
    nagle: false,
    nagle_fin_flush: false,
    sampling: RoundTripSampling::Timestamps,
    loss_detection: LossDetection::ForwardAck,
    tail_loss_probe: false,
    limited_transmit: true,
    recovery: RecoveryMode::RateHalving,
    reduction_base: ReductionBase::Window,
    timeout: TimeoutPolicy {
        formula: TimeoutFormula::Rfc6298,
        minimum: Span::from_ms(200),
        maximum: Span::from_s(120),
        granularity: Span::from_ms(1),
        gentle_on_falling_samples: true,
        retries: RETRIES,
        clears_scoreboard: false,
    },
    idle_restart: IdleRestart::Reset { window: 4 },
    growth_gate: GrowthGate::Strict,
    window_unit: WindowUnit::Segments,
    ecn: EcnMode::Off,
    accecn_option: true,
    pacing: None,
    habits: Habits::NS2_LINUX,
};

/// Bursty transfers of White 2012 and 2013: ns-2 `TCP/Reno`, without SACK and without `NewReno`.
pub const NS2_RENO: StackConfig = StackConfig {
    connect: ConnectPolicy {
        handshake: Handshake::SynAsData,
        ..NS2_LINUX_CUBIC.connect
    },
    controller: ControllerConfig::Reno(RenoConfig {
        avoidance: Avoidance::PerAck,
    }),
    loss_detection: LossDetection::ThreeDuplicates,
    recovery: RecoveryMode::Reno,
    timeout: TimeoutPolicy {
        maximum: Span::from_s(60),
        granularity: Span::from_ms(10),
        gentle_on_falling_samples: false,
        ..NS2_LINUX_CUBIC.timeout
    },
    // The agent leaves its timer running when idle and closes the window at its expiry.
    idle_restart: IdleRestart::Reset { window: 1 },
    growth_gate: GrowthGate::None,
    habits: Habits::NS2_RENO,
    ..NS2_LINUX_CUBIC
};

/// Web traffic of White 2012 and 2013: ns-2 `TCP/FullTcp/Sack`.
pub const NS2_BSD_SACK: StackConfig = StackConfig {
    // White 2012 (4.3.2): SYN of 50 B, hence time stamps of 10 B; packets stay 1500 B.
    maximum_segment_size: 1450,
    wire: WireSizes {
        data_header: 50,
        acknowledgement: 50,
        sack_base: 2,
        sack_block: 8,
        syn: 50,
    },
    connect: ConnectPolicy {
        handshake: Handshake::ThreeWay,
        single_segment_after: None,
        separate_acknowledgement: true,
        ..NS2_LINUX_CUBIC.connect
    },
    controller: ControllerConfig::Reno(RenoConfig {
        avoidance: Avoidance::PerAck,
    }),
    // codel.tcl: segsperack_ 1, interval_ 0.4.
    acknowledge: AckPolicy {
        every: 1,
        unit: AckUnit::FullSegments,
        delay: DelayedAck::Heartbeat(Span::from_ms(400)),
        quick: 0,
    },
    nagle: true,
    loss_detection: LossDetection::FullTcpSack,
    limited_transmit: false,
    recovery: RecoveryMode::Pipe,
    timeout: TimeoutPolicy {
        maximum: Span::from_s(60),
        granularity: Span::from_ms(10),
        gentle_on_falling_samples: false,
        clears_scoreboard: true,
        ..NS2_LINUX_CUBIC.timeout
    },
    growth_gate: GrowthGate::None,
    window_unit: WindowUnit::Bytes,
    habits: Habits::NS2_FULL_TCP,
    ..NS2_LINUX_CUBIC
};

/// All traffic of Akhtar 2013: ns-2 FullTcp with SACK and an initial window of 10.
pub const AKHTAR2013: StackConfig = StackConfig {
    // Packets of 1500 B at 8 Mb/s take 1.5 ms ("TCP Modeling"); no time stamps.
    maximum_segment_size: 1460,
    wire: WireSizes {
        data_header: 40,
        acknowledgement: 40,
        sack_base: 2,
        sack_block: 8,
        syn: 40,
    },
    initial_window: 10,
    receive_window: AMPLE,
    // ns-2.35 defaults: segsperack_ 1, interval_ 0.1.
    acknowledge: AckPolicy {
        every: 1,
        unit: AckUnit::FullSegments,
        delay: DelayedAck::Heartbeat(Span::from_ms(100)),
        quick: 0,
    },
    nagle: false,
    sampling: RoundTripSampling::OncePerWindow,
    idle_restart: IdleRestart::Rfc2861 { floor: 10 },
    ..NS2_BSD_SACK
};

/// Background traffic of White 2019's published simulator: ns-3 NewReno of early 2020, the defaults of its
/// `tcp-socket.cc` and `tcp-socket-base.cc` where the simulator sets nothing. Its recovery is the classic one, without
/// PRR: ssthresh is half of what is in the network after loss marking, and the window stays there.
pub const NS3_2019: StackConfig = StackConfig {
    maximum_segment_size: 1448,
    wire: TODAY_WIRE,
    connect: ConnectPolicy {
        handshake: Handshake::ThreeWay,
        timeout: Span::from_s(3),
        maximum_timeout: None,
        attempts: Some(6),
        single_segment_after: None,
        separate_acknowledgement: false,
    },
    initial_window: 1,
    initial_threshold: InitialThreshold::Unlimited,
    // residential-example.cc: send and receive buffers of 2,048,000 B.
    receive_window: 2_048_000 / 1448,
    controller: ControllerConfig::Reno(RenoConfig {
        avoidance: Avoidance::WholeBytes,
    }),
    slow_start: SlowStart::PerAck,
    slow_start_exit: SlowStartExit::None,
    acknowledge: AckPolicy {
        every: 2,
        unit: AckUnit::Segments,
        delay: DelayedAck::OneShot(Span::from_ms(200)),
        quick: 0,
    },
    nagle: false,
    nagle_fin_flush: false,
    sampling: RoundTripSampling::Timestamps,
    loss_detection: LossDetection::Sack6675,
    tail_loss_probe: false,
    limited_transmit: true,
    recovery: RecoveryMode::Pipe,
    reduction_base: ReductionBase::Pipe,
    timeout: TimeoutPolicy {
        formula: TimeoutFormula::Rfc6298,
        minimum: Span::from_s(1),
        maximum: Span::from_s(60),
        granularity: Span::from_ms(1),
        gentle_on_falling_samples: false,
        retries: 6,
        clears_scoreboard: false,
    },
    idle_restart: IdleRestart::None,
    growth_gate: GrowthGate::None,
    window_unit: WindowUnit::Bytes,
    ecn: EcnMode::Off,
    accecn_option: true,
    pacing: None,
    habits: Habits::NONE,
};

/// The same in version 1.2 of that simulator (November 2021, on ns-3.35): it turns pacing on, keeps classic recovery by
/// name, and gets ns-3's new initial window of 10.
pub const DOCSIS_NS3_1_2: StackConfig = StackConfig {
    initial_window: 10,
    pacing: Some(Pacing::NS3),
    ..NS3_2019
};

/// Linux of today with CUBIC.
pub const LINUX_CUBIC: StackConfig = StackConfig {
    maximum_segment_size: 1448,
    wire: TODAY_WIRE,
    connect: ConnectPolicy {
        handshake: Handshake::ThreeWay,
        timeout: Span::from_s(1),
        maximum_timeout: Some(Span::from_s(120)),
        attempts: Some(7),
        single_segment_after: Some(2),
        separate_acknowledgement: false,
    },
    initial_window: 10,
    initial_threshold: InitialThreshold::Unlimited,
    receive_window: AMPLE,
    controller: ControllerConfig::Cubic(CubicConfig::RFC9438),
    slow_start: SlowStart::Linux,
    slow_start_exit: SlowStartExit::HyStart,
    acknowledge: AckPolicy {
        every: 2,
        unit: AckUnit::Segments,
        // Linux adapts between 40 and 200 ms. chosen: the lower end.
        delay: DelayedAck::OneShot(Span::from_ms(40)),
        quick: 16,
    },
    nagle: false,
    nagle_fin_flush: true,
    sampling: RoundTripSampling::Timestamps,
    loss_detection: LossDetection::Rack,
    tail_loss_probe: true,
    limited_transmit: true,
    recovery: RecoveryMode::Proportional,
    reduction_base: ReductionBase::Minimum,
    timeout: TimeoutPolicy {
        formula: TimeoutFormula::Linux,
        minimum: Span::from_ms(200),
        maximum: Span::from_s(120),
        granularity: Span::from_ms(1),
        gentle_on_falling_samples: false,
        retries: RETRIES,
        clears_scoreboard: false,
    },
    idle_restart: IdleRestart::Rfc2861 { floor: 10 },
    growth_gate: GrowthGate::Linux,
    window_unit: WindowUnit::Segments,
    ecn: EcnMode::Off,
    accecn_option: true,
    pacing: None,
    habits: Habits::NONE,
};

/// Linux of today with Reno.
pub const LINUX_RENO: StackConfig = StackConfig {
    controller: ControllerConfig::Reno(RenoConfig {
        avoidance: Avoidance::Bytes,
    }),
    slow_start_exit: SlowStartExit::None,
    ..LINUX_CUBIC
};

/// A BSD of today, in outline. chosen: RFC 6298 with its minimum of 1 s, delayed ACK of 100 ms,
/// RFC 6675 without RACK, RFC 3465 with L = 2 (FreeBSD's `net.inet.tcp.abc_l_var`).
pub const BSD_RENO: StackConfig = StackConfig {
    slow_start: SlowStart::Bytes { limit: 2 },
    acknowledge: AckPolicy {
        every: 2,
        unit: AckUnit::Segments,
        delay: DelayedAck::OneShot(Span::from_ms(100)),
        quick: 16,
    },
    loss_detection: LossDetection::Sack6675,
    tail_loss_probe: false,
    recovery: RecoveryMode::Pipe,
    timeout: TimeoutPolicy {
        formula: TimeoutFormula::Rfc6298,
        minimum: Span::from_s(1),
        ..LINUX_RENO.timeout
    },
    idle_restart: IdleRestart::Rfc5681,
    ..LINUX_RENO
};

/// Windows of today, in outline. chosen: Linux CUBIC with delayed ACKs of 50 ms.
pub const WINDOWS_CUBIC: StackConfig = StackConfig {
    acknowledge: AckPolicy {
        delay: DelayedAck::OneShot(Span::from_ms(50)),
        ..LINUX_CUBIC.acknowledge
    },
    ..LINUX_CUBIC
};

/// Background uploads of White 2013: the draft-00 LEDBAT module in ns-2 `TCP/Linux`, with the target
/// that the text implies (4.1.1: "on the order of 100 ms").
pub const NS2_LEDBAT: StackConfig = StackConfig {
    controller: ControllerConfig::LedbatNs2(LedbatNs2Config {
        target: Span::from_ms(100),
    }),
    ..NS2_LINUX_CUBIC
};

/// The same with the module's own default target.
pub const NS2_LEDBAT_25MS: StackConfig = StackConfig {
    controller: ControllerConfig::LedbatNs2(LedbatNs2Config {
        target: Span::from_ms(25),
    }),
    ..NS2_LINUX_CUBIC
};

/// LEDBAT of RFC 6817 on the Linux of today; the initial window is its `INIT_CWND`.
pub const LEDBAT: StackConfig = StackConfig {
    controller: ControllerConfig::Ledbat(LedbatConfig::RFC6817),
    initial_window: 2,
    idle_restart: IdleRestart::Rfc2861 { floor: 2 },
    ..LINUX_RENO
};

/// DCTCP of RFC 8257 on the Linux of today.
pub const DCTCP: StackConfig = StackConfig {
    controller: ControllerConfig::Dctcp(DctcpConfig::RFC8257),
    ecn: EcnMode::Dctcp,
    ..LINUX_RENO
};

/// A server of today: Linux 6 with CUBIC behind the `fq` queue, which paces.
pub const LINUX_6: StackConfig = StackConfig {
    pacing: Some(Pacing::LINUX),
    ..LINUX_CUBIC
};

/// TCP Prague, the congestion control of L4S services, on the Linux of today.
pub const PRAGUE: StackConfig = StackConfig {
    controller: ControllerConfig::Prague(PragueConfig::DRAFT),
    ecn: EcnMode::AccurateL4s,
    wire: WireSizes {
        // The AccECN option with three counters: 2 + 9 B, padded to 12 (RFC 9768 section 3.2.3).
        acknowledgement: 64,
        ..TODAY_WIRE
    },
    pacing: Some(Pacing {
        slow_start_gain: 2.0,
        // The draft bounds bursts to 250 us, which is one segment up to 48 Mb/s. chosen: one at any rate.
        avoidance_gain: 1.0,
        quantum: 1,
        unpaced: 0,
    }),
    ..LINUX_RENO
};

/// BBR, version 1, on the Linux of today.
pub const BBR1: StackConfig = StackConfig {
    controller: ControllerConfig::Bbr1(Bbr1Config::LINUX),
    idle_restart: IdleRestart::None,
    pacing: Some(Pacing {
        // Until there is a rate: 2/ln 2 windows per round trip (Linux bbr_high_gain).
        slow_start_gain: 2.885,
        avoidance_gain: 2.885,
        quantum: 2,
        unpaced: 0,
    }),
    ..LINUX_RENO
};

/// BBR, version 3, on the Linux of today.
pub const BBR3: StackConfig = StackConfig {
    controller: ControllerConfig::Bbr3(Bbr3Config::DRAFT),
    pacing: Some(Pacing {
        // Until there is a rate (draft-ietf-ccwg-bbr, StartupPacingGain).
        slow_start_gain: 2.77,
        avoidance_gain: 2.77,
        quantum: 2,
        unpaced: 0,
    }),
    ..BBR1
};

/// IPv4 (20 B), TCP (20 B), padded time-stamp option (12 B); SYN options 20 B; SACK in two NOPs
/// (RFC 793, 7323, 2018).
const TODAY_WIRE: WireSizes = WireSizes {
    data_header: 52,
    acknowledgement: 52,
    sack_base: 4,
    sack_block: 8,
    syn: 60,
};

/// Every segment is acknowledged at once; the delay never applies (ns-2 `TCPSink`).
const EVERY_SEGMENT: AckPolicy = AckPolicy {
    every: 1,
    unit: AckUnit::Segments,
    delay: DelayedAck::OneShot(Span::from_ms(100)),
    quick: 0,
};

/// Receive window of ns-2 profiles until [`StackConfig::with_access_rate`] is called: the value for
/// the 5 Mb/s upstream of White 2012 (2.2.2).
const NS2_DEFAULT_WINDOW: u32 = 666;

/// Expiries in a row before a connection is given up (Linux `tcp_retries2`).
const RETRIES: u32 = 15;
