//! Named stacks: which combination of mechanisms each study ran, and what runs today.
//!
//! Source: White 2012 Table 1 and White 2013 Table 2 name the stacks of the ns-2 studies, whose
//! defaults are those of ns-2.35 and its script `codel.tcl`; Akhtar 2013, section "TCP Modeling";
//! the simulator published with White 2019 (`residential-example.cc` and ns-3 defaults of early
//! 2020); RFCs and Linux for the stacks of today.
//! Deviations: ns-2 packets are 1500 B as White 2012 (3.1.2) says, where the script read literally
//! gives 1510 B; a last, partial segment of an ns-2 one-way agent has its true size.

use crate::config::{
    AMPLE, AckPolicy, AckTimer, AckUnit, Avoidance, Bbr1Config, Bbr3Config, ControllerConfig, CubicConfig,
    CubicV21Config, DctcpConfig, EcnMode, GrowthGate, Handshake, IdleRestart, InitialThreshold, LedbatConfig,
    LossDetection, Pace, Pacing, PragueConfig, RecoveryMode, ReductionBase, RenoConfig, RoundTripSampling, SlowStart,
    SlowStartExit, StackConfig, TimeoutFormula, WindowUnit, WireSizes,
};
use crate::habits::Habits;
use sojourn_base::Span;
use sojourn_keys::parameters;

parameters! {
    profiles of StackConfig {
        /// uploads of White 2012 and 2013: ns-2 TCP/Linux with CUBIC
        ///
        /// Receiver `TCPSink/Sack1`.
        NS2_LINUX_CUBIC "ns2-linux-cubic" {
            maximum_segment_size = 1460;
            // The time stamp has no bytes of its own here; a block has 8 (ns-2.35 tcp-sink.cc).
            wire = WireSizes { data_header: 40, acknowledgement: 40, sack_base: 0, sack_block: 8, syn: 40 };
            connect.handshake = Handshake::SynInFirstWindow;
            // White 2012 (4.3.2): attempts at 1, 4, 10, 22, 46, 94, 154 s.
            connect.timeout = Span::from_s(3);
            connect.maximum_timeout = Some(Span::from_s(60));
            connect.attempts = None;
            connect.single_segment_after = Some(1);
            // codel.tcl: windowInit_ 4.
            initial_window = 4;
            initial_threshold = InitialThreshold::ReceiveWindow;
            receive_window = NS2_DEFAULT_WINDOW;
            // ns-2.35 tcp/linux/src/tcp_cubic.c: beta 819/1024.
            controller = ControllerConfig::of(&CubicV21Config { beta: 819 });
            slow_start = SlowStart::PerAck;
            slow_start_exit = SlowStartExit::None;
            // Every segment is acknowledged at once; the delay never applies (ns-2 `TCPSink`).
            acknowledge = AckPolicy { every: 1, delay: Span::from_ms(100), quick: 0, ..AckPolicy::BASE };
            nagle_fin_flush = false;
            loss_detection = LossDetection::ForwardAck;
            tail_loss_probe = false;
            recovery = RecoveryMode::RateHalving;
            reduction_base = ReductionBase::Window;
            timeout.formula = TimeoutFormula::Rfc6298;
            timeout.gentle_on_falling_samples = true;
            idle_restart = IdleRestart::Reset { window: 4 };
            growth_gate = GrowthGate::Strict;
            habits = Habits::NS2_LINUX;
        }
        /// ns-2 TCP/Linux with the Reno of its module: short-term dynamics and bursty uploads of White 2013
        NS2_LINUX_RENO "ns2-linux-reno" from NS2_LINUX_CUBIC {
            controller = ControllerConfig::of(&RenoConfig { avoidance: Avoidance::WholeSegments });
        }
        /// bursty uploads of White 2012 and 2013: ns-2 TCP/Reno
        ///
        /// Without SACK and without `NewReno`.
        NS2_RENO "ns2-reno" from NS2_LINUX_CUBIC {
            connect.handshake = Handshake::SynAsData;
            controller = ControllerConfig::of(&RenoConfig { avoidance: Avoidance::PerAck });
            loss_detection = LossDetection::ThreeDuplicates;
            recovery = RecoveryMode::Reno;
            timeout.maximum = Span::from_s(60);
            timeout.granularity = Span::from_ms(10);
            timeout.gentle_on_falling_samples = false;
            // The agent leaves its timer running when idle and closes the window at its expiry.
            idle_restart = IdleRestart::Reset { window: 1 };
            growth_gate = GrowthGate::None;
            habits = Habits::NS2_RENO;
        }
        /// web traffic of White 2012 and 2013: ns-2 FullTcp with SACK
        NS2_BSD_SACK "ns2-bsd-sack" from NS2_LINUX_CUBIC {
            // White 2012 (4.3.2): SYN of 50 B, hence time stamps of 10 B; packets stay 1500 B.
            maximum_segment_size = 1450;
            wire = WireSizes { data_header: 50, acknowledgement: 50, sack_base: 2, sack_block: 8, syn: 50 };
            connect.handshake = Handshake::ThreeWay;
            connect.single_segment_after = None;
            connect.separate_acknowledgement = true;
            controller = ControllerConfig::of(&RenoConfig { avoidance: Avoidance::PerAck });
            // codel.tcl: segsperack_ 1, interval_ 0.4.
            acknowledge = heartbeat(400);
            nagle = true;
            loss_detection = LossDetection::FullTcpSack;
            limited_transmit = false;
            recovery = RecoveryMode::Pipe;
            timeout.maximum = Span::from_s(60);
            timeout.granularity = Span::from_ms(10);
            timeout.gentle_on_falling_samples = false;
            timeout.clears_scoreboard = true;
            growth_gate = GrowthGate::None;
            window_unit = WindowUnit::Bytes;
            habits = Habits::NS2_FULL_TCP;
        }
        /// all traffic of Akhtar 2013: ns-2 FullTcp, initial window 10
        ///
        /// With SACK.
        AKHTAR2013 "akhtar2013" from NS2_BSD_SACK {
            // Packets of 1500 B at 8 Mb/s take 1.5 ms ("TCP Modeling"); no time stamps.
            maximum_segment_size = 1460;
            wire = WireSizes { data_header: 40, acknowledgement: 40, sack_base: 2, sack_block: 8, syn: 40 };
            initial_window = 10;
            receive_window = AMPLE;
            // ns-2.35 defaults: segsperack_ 1, interval_ 0.1.
            acknowledge = heartbeat(100);
            nagle = false;
            sampling = RoundTripSampling::OncePerWindow;
            idle_restart = IdleRestart::Rfc2861 { floor: 10 };
        }
        /// background traffic of White 2019: ns-3 NewReno of early 2020
        ///
        /// The defaults of its `tcp-socket.cc` and `tcp-socket-base.cc` where the simulator sets nothing. Its recovery is
        /// the classic one, without PRR: ssthresh is half of what is in the network after loss marking, and the window
        /// stays there.
        NS3_2019 "ns3-2019" {
            connect.timeout = Span::from_s(3);
            connect.maximum_timeout = None;
            connect.attempts = Some(6);
            connect.single_segment_after = None;
            initial_window = 1;
            // residential-example.cc: send and receive buffers of 2,048,000 B.
            receive_window = 2_048_000 / 1448;
            controller = ControllerConfig::of(&RenoConfig { avoidance: Avoidance::WholeBytes });
            slow_start = SlowStart::PerAck;
            slow_start_exit = SlowStartExit::None;
            acknowledge.delay = Span::from_ms(200);
            acknowledge.quick = 0;
            nagle_fin_flush = false;
            loss_detection = LossDetection::Sack6675;
            tail_loss_probe = false;
            recovery = RecoveryMode::Pipe;
            reduction_base = ReductionBase::Pipe;
            timeout.formula = TimeoutFormula::Rfc6298;
            timeout.minimum = Span::from_s(1);
            timeout.maximum = Span::from_s(60);
            timeout.retries = 6;
            idle_restart = IdleRestart::None;
            growth_gate = GrowthGate::None;
            window_unit = WindowUnit::Bytes;
        }
        /// the same in version 1.2 of the study's simulator: paced, first window of 10
        ///
        /// November 2021, on ns-3.35: it turns pacing on, keeps classic recovery by name, and gets ns-3's new initial
        /// window of 10.
        DOCSIS_NS3_1_2 "docsis-ns3-1.2" from NS3_2019 { initial_window = 10; pacing = Pacing::On(Pace::NS3); }
        /// Linux of today with CUBIC
        LINUX_CUBIC "linux-cubic" {}
        /// Linux 6 with CUBIC as its kernel has it, superpackets, recoveries that follow each other
        ///
        /// The rest is `linux-cubic`, which stays as it is because studies have used it.
        #[native()]
        LINUX_6_CUBIC "linux-6-cubic" {
            controller = ControllerConfig::of(&crate::config::CubicLinuxConfig::BASE);
            superpackets = true;
            habits = Habits::LINUX_6;
        }
        /// Linux of today with Reno
        LINUX_RENO "linux-reno" { controller = ControllerConfig::of(&RenoConfig { avoidance: Avoidance::Bytes }); slow_start_exit = SlowStartExit::None; }
        /// Linux 6 with Reno as its kernel has it: with superpackets, and recoveries that follow each other
        ///
        /// The rest is `linux-reno`, which stays as it is because studies have used it.
        LINUX_6_RENO "linux-6-reno" from LINUX_RENO { superpackets = true; habits = Habits::LINUX_6; }
        /// a BSD of today, in outline
        ///
        /// chosen: RFC 6298 with its minimum of 1 s, delayed ACK of 100 ms, RFC 6675 without RACK, RFC 3465 with L = 2
        /// (FreeBSD's `net.inet.tcp.abc_l_var`).
        BSD_RENO "bsd-reno" from LINUX_RENO {
            slow_start = SlowStart::Bytes { limit: 2 };
            acknowledge.delay = Span::from_ms(100);
            loss_detection = LossDetection::Sack6675;
            tail_loss_probe = false;
            recovery = RecoveryMode::Pipe;
            timeout.formula = TimeoutFormula::Rfc6298;
            timeout.minimum = Span::from_s(1);
            idle_restart = IdleRestart::Rfc5681;
        }
        /// Windows of today, in outline
        ///
        /// chosen: Linux CUBIC with delayed ACKs of 50 ms.
        WINDOWS_CUBIC "windows-cubic" { acknowledge.delay = Span::from_ms(50); }
        /// BitTorrent of White 2013: ns-2 TCP/Linux with LEDBAT, target 100 ms
        ///
        /// The draft-00 LEDBAT module, with the target that the text implies (4.1.1: "on the order of 100 ms").
        #[native()]
        NS2_LEDBAT "ns2-ledbat" from NS2_LINUX_CUBIC {
            controller = ControllerConfig::of(&crate::config::LedbatNs2Config::BASE);
        }
        /// the same with the module's own target of 25 ms
        #[native()]
        NS2_LEDBAT_25MS "ns2-ledbat-25ms" from NS2_LINUX_CUBIC {
            controller = ControllerConfig::of(&crate::config::LedbatNs2Config { target: Span::from_ms(25) });
        }
        /// LEDBAT as in RFC 6817 on a Linux of today
        ///
        /// The initial window is its `INIT_CWND`.
        LEDBAT "ledbat" from LINUX_RENO {
            controller = ControllerConfig::of(&LedbatConfig::BASE);
            initial_window = 2;
            idle_restart = IdleRestart::Rfc2861 { floor: 2 };
        }
        /// DCTCP as in RFC 8257 on a Linux of today
        DCTCP "dctcp" from LINUX_RENO {
            controller = ControllerConfig::of(&DctcpConfig::BASE);
            ecn = EcnMode::Dctcp;
        }
        /// a server of today: Linux 6 with CUBIC and pacing
        ///
        /// Behind the `fq` queue, which paces.
        LINUX_6 "linux-6" { pacing = Pacing::On(Pace::BASE); }
        /// QUIC (RFC 9000, 9002) with the controller of RFC 9002's appendix B
        ///
        /// Packets of 1500 B, as TCP's: 20 B of IPv4, 8 B of UDP, short header of 11 B with a connection ID of 8 B, 8 B for
        /// the head of a STREAM frame, 16 B of seal. chosen: such packets, which need path MTU discovery (RFC 9000 section
        /// 14.3), so that transports differ by what they do.
        #[native()]
        QUIC "quic" from LINUX_RENO {
            maximum_segment_size = 1437;
            // An ACK frame takes 8 B with one range, 3 B more with each other one. The first packets have 1200 B of UDP
            // payload (RFC 9000 section 14.1).
            wire = WireSizes { data_header: 63, acknowledgement: 55, sack_base: 5, sack_block: 3, syn: 1228 };
            sampling = RoundTripSampling::NewestAcknowledged;
            loss_detection = LossDetection::Quic;
            tail_loss_probe = false;
            recovery = RecoveryMode::Pipe;
            reduction_base = ReductionBase::Window;
            growth_gate = GrowthGate::Strict;
            window_unit = WindowUnit::Bytes;
            idle_restart = IdleRestart::None;
            // RFC 9002 section 7.7: N = 1.25. chosen: twice that rate while the window doubles, as Linux, and two packets at
            // once.
            pacing = Pacing::On(Pace { slow_start_gain: 2.5, avoidance_gain: 1.25, quantum: 2, unpaced: 10 });
            // RFC 9000 sections 13.2.2 and 18.2 (max_ack_delay).
            acknowledge = AckPolicy { every: 2, delay: Span::from_ms(25), quick: 0, ..AckPolicy::BASE };
            // RFC 9002 section 6.2.2: 333 ms + 4 x 166.5 ms until there is a sample.
            connect.timeout = Span::from_ms(999);
            timeout.formula = TimeoutFormula::Rfc6298;
            // chosen: ten probe timeouts in a row last longer than any idle timeout of RFC 9000 section 10.1 that is in use.
            timeout.retries = 10;
        }
        /// QUIC with CUBIC and HyStart, as `linux-6` has them: stacks that differ by their transport
        #[native()]
        QUIC_CUBIC "quic-cubic" from QUIC {
            controller = ControllerConfig::of(&CubicConfig::BASE);
            slow_start_exit = SlowStartExit::HyStart;
            growth_gate = GrowthGate::Linux;
        }
        /// TCP Prague, the congestion control of L4S, on a Linux of today
        PRAGUE "prague" from LINUX_RENO {
            controller = ControllerConfig::of(&PragueConfig::BASE);
            ecn = EcnMode::AccurateL4s;
            // The AccECN option with three counters: 2 + 9 B, padded to 12 (RFC 9768 section 3.2.3).
            wire.acknowledgement = 64;
            // The draft bounds bursts to 250 us, which is one segment up to 48 Mb/s. chosen: one at any rate.
            pacing = Pacing::On(Pace { slow_start_gain: 2.0, avoidance_gain: 1.0, quantum: 1, unpaced: 0 });
        }
        /// TCP Prague as the L4S team's kernel of August 2020 had it by default
        ///
        /// L4STeam/linux b256daed (module 0.5): round-trip independence is there and off, the first estimate of marking is
        /// one, classic queues are not looked for; version 0.7 has independence on.
        PRAGUE_2020 "prague-2020" from PRAGUE {
            controller = ControllerConfig::of(&PragueConfig::LINUX_2020);
        }
        /// BBR, version 1, on a Linux of today
        BBR1 "bbr1" from LINUX_RENO {
            controller = ControllerConfig::of(&Bbr1Config::BASE);
            idle_restart = IdleRestart::None;
            // Until there is a rate: 2/ln 2 windows per round trip (Linux bbr_high_gain).
            pacing = Pacing::On(Pace { slow_start_gain: 2.885, avoidance_gain: 2.885, quantum: 2, unpaced: 0 });
        }
        /// BBR, version 2, as the L4S team's kernel of 2020 had it: marks are counted and answered at any round trip
        #[native()]
        BBR2 "bbr2" from BBR1 {
            controller = ControllerConfig::of(&crate::config::Bbr2Config { marks_up_to: Span::ZERO });
            ecn = EcnMode::AccurateL4s;
            // The AccECN option, as with Prague.
            wire.acknowledgement = 64;
        }
        /// BBR, version 3, on a Linux of today
        BBR3 "bbr3" from BBR1 {
            controller = ControllerConfig::of(&Bbr3Config::BASE);
            // Until there is a rate (draft-ietf-ccwg-bbr, StartupPacingGain).
            pacing = Pacing::On(Pace { slow_start_gain: 2.77, avoidance_gain: 2.77, quantum: 2, unpaced: 0 });
        }
    }
}

/// ns-2 FullTcp: full segments' worth of bytes, or the next multiple of the given milliseconds.
const fn heartbeat(ms: u64) -> AckPolicy {
    AckPolicy { every: 1, unit: AckUnit::FullSegments, delay: Span::from_ms(ms), timer: AckTimer::Heartbeat, quick: 0 }
}

/// Receive window of ns-2 profiles until [`StackConfig::with_access_rate`] is called: the value for
/// the 5 Mb/s upstream of White 2012 (2.2.2).
const NS2_DEFAULT_WINDOW: u32 = 666;
