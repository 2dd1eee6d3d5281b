//! Links as data: one value per kind of link with its queue manager, from which a running one is built.
//!
//! Source: White 2012 §2 and §3.1, White 2013 §3.1 to §3.4; parameters that neither paper prints are
//! marked `[asm]` (assumed) or `[inf]` (inferred from printed numbers) at their field.
//! Deviations: none known.

pub mod keys;

use crate::docsis::congestion::{CONGESTION, CongestionConfig};
use crate::docsis30::channel;
use crate::problems::problem;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Packets, Span};
use sojourn_keys::{Key, key, origin, parameters, rate_or, words};
use sojourn_queue::ConfigProblem;

parameters! {
    /// A line of constant rate.
    #[derive(Copy, Eq)]
    pub struct SerialConfig: "serial", "a line of constant rate, for instance DSL or the bottleneck of a dumbbell" {
        rate: BitRate = BitRate::ZERO, keys::RATE;
        delay: Span = Span::ZERO, keys::delay("chosen: no delay unless it is said");
        /// what interleaver and deinterleaver of a DSL line hold every packet for, one way
        // Chosen bound: twice the largest delay_max of ITU-T G.993.2, 63 ms, rounded down.
        interleaving: Span = Span::ZERO,
            origin("chosen: none unless it is said; lines are often provisioned with 8 or 16 ms (ITU-T G.993.2, delay_max)")
                .most("120 ms");
        /// noise whose hits are sent again
        impulses: ImpulseConfig = ImpulseConfig::NONE;
    }
}

impl SerialConfig {
    /// A line without interleaver and noise.
    pub const fn plain(rate: BitRate, delay: Span) -> Self {
        Self { rate, delay, interleaving: Span::ZERO, impulses: ImpulseConfig::NONE }
    }
}

parameters! {
    /// Impulse noise on a line that sends corrupted data again.
    #[derive(Copy, Eq)]
    pub struct ImpulseConfig {
        /// mean time between impulses of noise on a line that repeats what they hit, exponential; "none" is a quiet line
        // Chosen bound: ten times what the mains give; a line that is hit more often carries nothing.
        gap as "impulse_gap": Option<Span> = None, origin("chosen: a quiet line").or("none").least("1 ms");
        /// length of an impulse
        // chosen: about what fluorescent lamps and switches give. Bound: beyond it a modem loses its synchronisation and
        // trains anew, which is not modelled.
        length as "impulse_length": Span = Span::from_us(500),
            origin("chosen: the order of the bursts of ITU-T G.996.1").least("1 us").most("100 ms");
        /// from the end of a packet that was hit until its repetition arrives
        // Within the delay_max of some ms of ITU-T G.998.4. Bound as for interleaving.
        retransmission: Span = Span::from_ms(4),
            origin("chosen: a few data units each way and both ends' processing (ITU-T G.998.4)").most("120 ms");
    }
    profiles {
        /// No impulses.
        NONE {}
    }
}

/// A line fast enough that nothing is ever refused: an Ethernet, a path through the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireConfig {
    /// Bits per second; zero means that serialisation takes no time.
    pub rate: BitRate,
    /// Propagation after the last bit.
    pub delay: Span,
}

impl WireConfig {
    /// White 2012 §2.3: servers sit on gigabit Ethernet; the delay differs from server to server.
    pub const fn gigabit(delay: Span) -> Self {
        Self { rate: BitRate::from_mbps(1_000), delay }
    }
}

parameters! {
    /// The two token buckets of a DOCSIS service flow; both start full. The defaults without a peak rate are those of
    /// DOCSIS MULPI annex C for a sustained rate alone: a maximum traffic burst of 3044 B.
    #[derive(Copy, Eq)]
    pub struct ShaperConfig {
        /// maximum sustained traffic rate
        ///
        /// Zero means unlimited.
        sustained as "rate": BitRate = BitRate::ZERO,
            origin("no default: it is the tier").required("\"5 Mb/s\"").least("1 b/s").most(keys::HIGHEST_RATE);
        /// maximum traffic burst: depth of the bucket of the sustained rate; of docsis30-single, if neither file nor profile says it, 100 ms at the rate and at least 3044 B
        ///
        /// MB are 10^6 B `[inf]`: with that reading the volumes that White 2012 prints (Tables 4 and 8) close to within 0.1 %.
        burst: Bytes = Bytes(3044), origin("DOCSIS MULPI annex C").least("1 B").most("1000 GB");
        /// peak traffic rate
        ///
        /// Zero means unlimited.
        peak: BitRate = BitRate::ZERO,
            origin("DOCSIS MULPI annex C: none").or("unlimited").least("1 b/s").most(keys::HIGHEST_RATE) => rate_or;
        /// depth of the bucket of the peak rate
        peak_burst: Bytes = Bytes(1522), origin("White 2012 §3.1.1: one Ethernet frame").least("1 B").most("1000 GB");
    }
    profiles {
        /// White 2012 §3.1.1, upstream.
        WHITE2012_UPSTREAM {
            sustained = BitRate::from_mbps(5);
            burst = Bytes(10_000_000);
            peak = BitRate::from_mbps(20);
        }
        /// White 2012 §3.1.1, downstream.
        WHITE2012_DOWNSTREAM {
            sustained = BitRate::from_mbps(20);
            burst = Bytes(20_000_000);
            peak = BitRate::from_mbps(50);
        }
        /// White 2013 §3.4, upstream.
        WHITE2013_UPSTREAM from WHITE2012_UPSTREAM {}
        /// White 2013 §3.4, downstream: half the burst of White 2012.
        WHITE2013_DOWNSTREAM from WHITE2012_DOWNSTREAM { burst = Bytes(10_000_000); }
    }
}

impl ShaperConfig {
    /// The rate at which a standing queue drains: sustained, else peak, else none.
    pub const fn drain_rate(&self) -> BitRate {
        if self.sustained.as_bps() > 0 { self.sustained } else { self.peak }
    }

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        for (field, rate, depth) in [("burst", self.sustained, self.burst), ("peak_burst", self.peak, self.peak_burst)]
        {
            if rate.as_bps() > 0 && depth.0 == 0 {
                problems.push(problem(
                    field,
                    alloc::format!("a bucket of {rate} with a depth of {depth} passes nothing"),
                    "at least one full-size packet: \"1522 B\"",
                ));
            }
        }
        if self.peak.as_bps() > 0 && self.peak < self.sustained {
            problems.push(problem(
                "peak",
                alloc::format!("the peak rate ({}) is below the sustained rate ({})", self.peak, self.sustained),
                "a peak rate of at least the sustained rate, or \"unlimited\"",
            ));
        }
    }
}

words! {
    /// Time at which a rate shaper takes the next packet from its queue; the queue's manager judges it then.
    pub enum Pull {
        /// when the tokens for it are there
        ///
        /// A packet waits in the queue, where the manager sees it.
        WithTokens = "with-tokens",
        /// as soon as the packet before it has left; it waits for its tokens behind the queue
        ///
        /// As a packet that is being serialised does. So does the shaped link of ns-2 that the authors of White 2012 and
        /// 2013 published (`link/delaytb.cc`, 2012 to 2013).
        Ahead = "ahead",
    }
}

words! {
    /// Rule that holds a shaper's packets back.
    pub enum Rule {
        /// a packet leaves when the bucket holds it
        ///
        /// Unused tokens are saved up to the bucket's depth, and leave as a burst.
        Bucket = "bucket",
        /// a packet leaves when those before it are paid for, and is paid for afterwards
        ///
        /// As CAKE shapes: nothing is saved, so there is no burst, and `burst` does not count.
        Deficit = "deficit",
    }
}

/// Time at which a shaper takes the next packet.
const PULL: Key = key(
    "pull",
    "when the shaper takes the next packet, and the queue manager judges it",
    "chosen: a manager should see the wait for tokens",
);

parameters! {
    /// A token-bucket rate shaper.
    #[derive(Copy, Eq)]
    pub struct ShapedConfig: "shaped", "a token-bucket rate shaper: the downstream of a DOCSIS 3.0 CMTS" {
        /// the buckets
        shaper: ShaperConfig = ShaperConfig::BASE;
        /// what holds packets back
        rule: Rule = Rule::Bucket, origin("White 2012 §2.2.1; \"deficit\" is the shaper of Linux sch_cake");
        pull: Pull = Pull::WithTokens, PULL;
        delay: Span = FIXED_DELAY, keys::delay("White 2012 §2.3");
    }
    profiles {
        /// White 2012 §3.1.1: 20 Mb/s, burst 20 MB, peak 50 Mb/s
        WHITE2012_DOWNSTREAM "white2012-downstream" { shaper = ShaperConfig::WHITE2012_DOWNSTREAM; }
        /// White 2013 §3.4: 20 Mb/s, burst 10 MB, peak 50 Mb/s
        ///
        /// With the delay of White 2012 `[asm]`.
        WHITE2013_DOWNSTREAM "white2013-downstream" { shaper = ShaperConfig::WHITE2013_DOWNSTREAM; }
    }
}

/// White 2012 §2.3: the DOCSIS link has 1 ms of fixed latency in each direction.
pub const FIXED_DELAY: Span = Span::from_ms(1);
/// White 2012 §2.2.2: MAP interval of the study and of most plants.
pub const MAP_INTERVAL: Span = Span::from_ms(2);

words! {
    /// Coupling of the two queues of the 2012 modem (White 2012 §2.2.3).
    pub enum CascadeVariant {
        /// the transmit queue drops what does not fit (White 2012)
        ///
        /// The study's model: the queue manager sees the rate-shaping queue only.
        DropAtTransmitQueue = "drop-at-transmit-queue",
        /// the queue manager judges the time in both queues
        ///
        /// Alternative (a): at the time at which a packet is expected to leave the transmit queue.
        SojournOverBoth = "sojourn-over-both",
        /// packets stay in the managed queue while the transmit queue is full
        ///
        /// Alternative (b).
        BackPressure = "back-pressure",
    }
}

words! {
    /// Treatment of packets that reach a modem at the same instant, as the segments of one window do.
    pub enum Forwarding {
        /// the first may pass at once, the others are queued first and meet the queue's limit
        ///
        /// They are served a picosecond later, after the last of them has been offered. That is how ns-2 treats a link
        /// without transmission time, and it is the only way in which 24 SYNs sent back to back can lose some to an empty
        /// queue of 21 packets, which made the unloaded page take 4.026 s instead of 2.756 s (White 2012 Table 6 against
        /// Table 5, D01) `[inf]`.
        OneAtATime = "one-at-a-time",
        /// each may pass at once, as if it came alone
        AtOnce = "at-once",
    }
}

parameters! {
    /// The DOCSIS 3.0 upstream of White 2012 (§2.2) on an uncongested channel.
    pub struct CascadeConfig: "docsis30-cascade", "the DOCSIS 3.0 upstream of White 2012: a rate-shaping queue, then a transmit queue with the request-grant loop" {
        /// token buckets at the head of the rate-shaping queue
        shaper: ShaperConfig = ShaperConfig::BASE;
        pull: Pull = Pull::Ahead,
            PULL.origin("inferred: so does the shaper that the authors of White 2012 published (ns-2 link/delaytb.cc)");
        map_interval: Span = MAP_INTERVAL, keys::MAP_INTERVAL;
        modulation: BitRate = channel::RATE_64QAM, keys::MODULATION, if |it| it.modulation != channel::RATE_64QAM;
        channels: u32 = 4, keys::CHANNELS, if |it| it.channels != 4;
        channel_rate: BitRate = channel::FOUR_64QAM_CHANNELS, keys::CHANNEL_RATE;
        // White 2012 §2.2.2 says two: 4 to 6 ms from the arrival to the grant with MAPs of 2 ms. One `[inf]` if REQ(1)
        // "tracks the occupancy of the queue" as packets arrive, and not once per MAP: 2 to 4 ms, which is what the printed
        // load times need (D01: 2.756 s are 25 round trips of 104 ms to the farthest server and 156 ms for the index).
        grant_delay: u32 = 2, keys::grant_delay("White 2012 §2.2.2: two; the printed load times need one [inf]");
        /// packets that the transmit queue holds; if neither file nor profile says it, 32 and what the rate sends in the longest request-grant loop
        transmit_queue: Packets = Packets(32), origin("White 2012 §2.2.3").least("1 packets").most("1000000 packets");
        /// what the two queues know of each other
        variant: CascadeVariant = CascadeVariant::DropAtTransmitQueue, origin("White 2012 §2.2.3");
        /// treatment of packets that arrive at the same instant
        forwarding: Forwarding = Forwarding::OneAtATime,
            origin("inferred: as ns-2 treats a link without transmission time; White 2012 Table 6 against Table 5, D01, needs it");
        // After the last bit.
        delay: Span = FIXED_DELAY, keys::delay("White 2012 §2.3");
        congestion: CongestionConfig = CongestionConfig::None, CONGESTION;
    }
    profiles {
        /// White 2012 §3.1.1: 5 Mb/s, burst 10 MB, peak 20 Mb/s
        WHITE2012 "white2012" { shaper = ShaperConfig::WHITE2012_UPSTREAM; }
    }
}

parameters! {
    /// The DOCSIS 3.0 upstream of White 2013 (§3.1) on an uncongested channel. Buckets are charged when bytes are requested;
    /// the peak bucket is as deep as [`SingleQueueConfig::peak_depth`].
    pub struct SingleQueueConfig: "docsis30-single", "the DOCSIS 3.0 upstream of White 2013: one queue that shapes, requests and is granted" {
        /// token buckets
        shaper: ShaperConfig = ShaperConfig::BASE;
        /// MAP intervals' worth of the peak rate that deepen its bucket
        // Chosen bound: as the longest request-grant loop.
        peak_burst_maps: u32 = 1,
            origin("assumed: 1, so that a request can stand for what a whole interval may send").most("250");
        map_interval: Span = MAP_INTERVAL, keys::MAP_INTERVAL;
        grant_delay: u32 = 2, keys::grant_delay("White 2013 §3.1, by White 2012 §2.2.2: two");
        modulation: BitRate = channel::RATE_64QAM, keys::MODULATION, if |it| it.modulation != channel::RATE_64QAM;
        channels: u32 = 4, keys::CHANNELS, if |it| it.channels != 4;
        channel_rate: BitRate = channel::FOUR_64QAM_CHANNELS, keys::CHANNEL_RATE;
        // The printed latency floors of 5 to 6 ms and 1 to 2 ms need it.
        delay: Span = FIXED_DELAY, keys::delay("White 2012 §2.3, inferred for White 2013");
        congestion: CongestionConfig = CongestionConfig::None, CONGESTION;
    }
    profiles {
        /// White 2013 §3.4: 5 Mb/s, burst 10 MB, peak 20 Mb/s
        WHITE2013 "white2013" { shaper = ShaperConfig::WHITE2013_UPSTREAM; }
    }
}

impl SingleQueueConfig {
    /// How deep the peak bucket is.
    pub fn peak_depth(&self) -> Bytes {
        let deepened = self.map_interval * u64::from(self.peak_burst_maps);
        self.shaper.peak_burst + self.shaper.peak.bytes_in(deepened)
    }
}
