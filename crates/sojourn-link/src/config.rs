//! Links as data: one value per kind of link with its queue manager, from which a running one is built.
//!
//! Source: White 2012 §2 and §3.1, White 2013 §3.1 to §3.4; parameters that neither paper prints are
//! marked `[asm]` (assumed) or `[inf]` (inferred from printed numbers) at their field.
//! Deviations: none known.

pub mod keys;

use crate::docsis::channel;
use crate::docsis::congestion::CongestionConfig;
use crate::framing::Framing;
use crate::{KINDS, Link, LinkConfig, each_config};
use alloc::vec::Vec;
use core::fmt;
use sojourn_base::{BitRate, Bytes, Packets, Span};
use sojourn_keys::{AnyKind, Configured};
use sojourn_queue::{AnyManager, ConfigProblem};

/// A line of constant rate, for instance DSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialConfig {
    /// Bits per second on the wire.
    pub rate: BitRate,
    /// Propagation and fixed processing after the last bit.
    pub delay: Span,
    /// What interleaver and deinterleaver hold every packet for, together.
    pub interleaving: Span,
    /// Noise whose hits are sent again.
    pub impulses: ImpulseConfig,
}

impl SerialConfig {
    /// A line without interleaver and noise.
    pub const fn plain(rate: BitRate, delay: Span) -> Self {
        Self {
            rate,
            delay,
            interleaving: Span::ZERO,
            impulses: ImpulseConfig::NONE,
        }
    }
}

/// Impulse noise on a line that repeats what it hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpulseConfig {
    /// Mean time from one impulse to the next; `None`: a line without noise.
    pub gap: Option<Span>,
    /// Length of an impulse.
    pub length: Span,
    /// From the end of a hit packet until its repetition begins at the receiver.
    pub retransmission: Span,
}

impl ImpulseConfig {
    /// No impulses.
    pub const NONE: Self = Self {
        gap: None,
        // chosen: about what fluorescent lamps and switches give; ITU-T G.996.1 has bursts of that order.
        length: Span::from_us(500),
        // chosen: a few data units of ITU-T G.998.4 each way and both ends' processing, within its delay_max of some ms.
        retransmission: Span::from_ms(4),
    };
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
        Self {
            rate: BitRate::from_mbps(1_000),
            delay,
        }
    }
}

/// The two token buckets of a DOCSIS service flow; both start full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Maximum sustained traffic rate; zero means unlimited.
    pub sustained: BitRate,
    /// Maximum traffic burst: depth of the sustained-rate bucket. MB are 10^6 B `[inf]`: with that
    /// reading the volumes that White 2012 prints (Tables 4 and 8) close to within 0.1 %.
    pub burst: Bytes,
    /// Peak traffic rate; zero means unlimited.
    pub peak: BitRate,
    /// Depth of the peak-rate bucket.
    pub peak_burst: Bytes,
}

impl ShaperConfig {
    /// White 2012 §3.1.1, upstream.
    pub const WHITE2012_UPSTREAM: Self = Self {
        sustained: BitRate::from_mbps(5),
        burst: Bytes(10_000_000),
        peak: BitRate::from_mbps(20),
        peak_burst: Bytes(1522),
    };
    /// White 2012 §3.1.1, downstream.
    pub const WHITE2012_DOWNSTREAM: Self = Self {
        sustained: BitRate::from_mbps(20),
        burst: Bytes(20_000_000),
        peak: BitRate::from_mbps(50),
        peak_burst: Bytes(1522),
    };
    /// White 2013 §3.4, upstream.
    pub const WHITE2013_UPSTREAM: Self = Self::WHITE2012_UPSTREAM;
    /// White 2013 §3.4, downstream: half the burst of White 2012.
    pub const WHITE2013_DOWNSTREAM: Self = Self {
        burst: Bytes(10_000_000),
        ..Self::WHITE2012_DOWNSTREAM
    };

    /// The rate at which a standing queue drains: sustained, else peak, else none.
    pub const fn drain_rate(&self) -> BitRate {
        if self.sustained.as_bps() > 0 {
            self.sustained
        } else {
            self.peak
        }
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        for (field, rate, depth) in [
            ("burst", self.sustained, self.burst),
            ("peak_burst", self.peak, self.peak_burst),
        ] {
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
                alloc::format!(
                    "the peak rate ({}) is below the sustained rate ({})",
                    self.peak,
                    self.sustained
                ),
                "a peak rate of at least the sustained rate, or \"unlimited\"",
            ));
        }
    }
}

/// When a rate shaper takes the next packet from its queue, which is when the queue's manager judges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pull {
    /// When the tokens for it are there: a packet waits in the queue, where the manager sees it.
    #[default]
    WithTokens,
    /// As soon as the packet before it has left: it waits for its tokens behind the queue, as a packet
    /// that is being serialised does. So does the shaped link of ns-2 that the authors of White 2012 and
    /// 2013 published (`link/delaytb.cc`, 2012 to 2013).
    Ahead,
}

impl Pull {
    /// Both.
    pub const ALL: [Self; 2] = [Self::WithTokens, Self::Ahead];

    /// The word used in files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WithTokens => "with-tokens",
            Self::Ahead => "ahead",
        }
    }
}

/// A token-bucket rate shaper: the downstream of a DOCSIS 3.0 CMTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapedConfig {
    /// The buckets.
    pub shaper: ShaperConfig,
    /// When the shaper takes the next packet.
    pub pull: Pull,
    /// Fixed delay after the shaper.
    pub delay: Span,
}

impl ShapedConfig {
    /// White 2012 §2.3 and §3.1.1, downstream.
    pub const WHITE2012_DOWNSTREAM: Self = Self {
        shaper: ShaperConfig::WHITE2012_DOWNSTREAM,
        pull: Pull::WithTokens,
        delay: FIXED_DELAY,
    };
    /// White 2013 §3.4, downstream; the delay of White 2012 `[asm]`.
    pub const WHITE2013_DOWNSTREAM: Self = Self {
        shaper: ShaperConfig::WHITE2013_DOWNSTREAM,
        pull: Pull::WithTokens,
        delay: FIXED_DELAY,
    };
}

/// White 2012 §2.3: the DOCSIS link has 1 ms of fixed latency in each direction.
pub const FIXED_DELAY: Span = Span::from_ms(1);
/// White 2012 §2.2.2: MAP interval of the study and of most plants.
pub const MAP_INTERVAL: Span = Span::from_ms(2);

/// What the two queues of the 2012 modem know of each other (White 2012 §2.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CascadeVariant {
    /// The study's model: the transmit queue drops what does not fit, and the queue manager sees the
    /// rate-shaping queue only.
    #[default]
    DropAtTransmitQueue,
    /// Alternative (a): the queue manager judges a packet at the time it is expected to leave the
    /// transmit queue, so that its sojourn time covers both.
    SojournOverBoth,
    /// Alternative (b): packets stay in the rate-shaping queue while the transmit queue is full.
    BackPressure,
}

impl CascadeVariant {
    /// All variants.
    pub const ALL: [Self; 3] = [
        Self::DropAtTransmitQueue,
        Self::SojournOverBoth,
        Self::BackPressure,
    ];

    /// The word used in files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DropAtTransmitQueue => "drop-at-transmit-queue",
            Self::SojournOverBoth => "sojourn-over-both",
            Self::BackPressure => "back-pressure",
        }
    }
}

/// What becomes of packets that reach a modem at the same instant, as the segments of one window do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Forwarding {
    /// The first may pass at once; the others are queued first, meet the queue's limit, and are served a picosecond
    /// later, after the last of them has been offered. That is how ns-2 treats a link without transmission time, and
    /// it is the only way in which 24 SYNs sent back to back can lose some to an empty queue of 21 packets, which
    /// made the unloaded page take 4.026 s instead of 2.756 s (White 2012 Table 6 against Table 5, D01) `[inf]`.
    #[default]
    OneAtATime,
    /// Each may pass at once, as if it came alone.
    AtOnce,
}

impl Forwarding {
    /// Both.
    pub const ALL: [Self; 2] = [Self::OneAtATime, Self::AtOnce];

    /// The word used in files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneAtATime => "one-at-a-time",
            Self::AtOnce => "at-once",
        }
    }
}

/// The DOCSIS 3.0 upstream of White 2012: a rate-shaping queue, then a transmit queue with the
/// request-grant loop.
#[derive(Clone, Debug, PartialEq)]
pub struct CascadeConfig {
    /// Token buckets at the head of the rate-shaping queue.
    pub shaper: ShaperConfig,
    /// When the shaper takes the next packet from the rate-shaping queue.
    pub pull: Pull,
    /// Time from one MAP to the next (White 2012 §2.2.2).
    pub map_interval: Span,
    /// Rate at which a grant is serialised. The paper prints the formula only; four 6.4 MHz channels
    /// with 64-QAM `[asm]`.
    pub channel_rate: BitRate,
    /// MAPs from a request to its grant, at least one. White 2012 §2.2.2 says two: 4 to 6 ms from the
    /// arrival to the grant with MAPs of 2 ms. One `[inf]` if REQ(1) "tracks the occupancy of the queue" as
    /// packets arrive, and not once per MAP: 2 to 4 ms, which is what the printed load times need (D01:
    /// 2.756 s are 25 round trips of 104 ms to the farthest server and 156 ms for the index).
    pub grant_delay: u32,
    /// Packets that the transmit queue holds (White 2012 §2.2.3).
    pub transmit_queue: Packets,
    /// What the two queues know of each other.
    pub variant: CascadeVariant,
    /// What becomes of packets that arrive at the same instant.
    pub forwarding: Forwarding,
    /// How much of the channel others leave.
    pub congestion: CongestionConfig,
    /// Fixed delay after the last bit (White 2012 §2.3).
    pub delay: Span,
}

impl CascadeConfig {
    /// White 2012 §2.2 and §3.1.1 on an uncongested channel.
    pub const WHITE2012: Self = Self {
        shaper: ShaperConfig::WHITE2012_UPSTREAM,
        pull: Pull::Ahead,
        map_interval: MAP_INTERVAL,
        channel_rate: channel::FOUR_64QAM_CHANNELS,
        grant_delay: 2,
        transmit_queue: Packets(32),
        variant: CascadeVariant::DropAtTransmitQueue,
        forwarding: Forwarding::OneAtATime,
        congestion: CongestionConfig::None,
        delay: FIXED_DELAY,
    };
}

/// The DOCSIS 3.0 upstream of White 2013: one queue that shapes, requests and is granted.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleQueueConfig {
    /// Token buckets charged when bytes are requested; the peak bucket is as deep as
    /// [`SingleQueueConfig::peak_depth`].
    pub shaper: ShaperConfig,
    /// So many MAP intervals' worth of the peak rate deepen the peak bucket. One `[asm]`: a request stands for what
    /// a whole interval may send, and that must be requestable at once.
    pub peak_burst_maps: u32,
    /// Time from one MAP to the next (White 2013 §3.1).
    pub map_interval: Span,
    /// MAPs from a request to its grant, at least one (White 2013 §3.1: the loop of White 2012, two).
    pub grant_delay: u32,
    /// Rate at which a grant is serialised `[asm]`, as in [`CascadeConfig`].
    pub channel_rate: BitRate,
    /// How much of the channel others leave (White 2013 §3.3).
    pub congestion: CongestionConfig,
    /// Fixed delay after the last bit; that of White 2012 `[inf]`: the printed latency floors of 5 to
    /// 6 ms and 1 to 2 ms need it.
    pub delay: Span,
}

impl SingleQueueConfig {
    /// White 2013 §3.1 and §3.4 on an uncongested channel.
    pub const WHITE2013: Self = Self {
        shaper: ShaperConfig::WHITE2013_UPSTREAM,
        peak_burst_maps: 1,
        map_interval: MAP_INTERVAL,
        grant_delay: 2,
        channel_rate: channel::FOUR_64QAM_CHANNELS,
        congestion: CongestionConfig::None,
        delay: FIXED_DELAY,
    };

    /// How deep the peak bucket is.
    pub fn peak_depth(&self) -> Bytes {
        let deepened = self.map_interval * u64::from(self.peak_burst_maps);
        self.shaper.peak_burst + self.shaper.peak.bytes_in(deepened)
    }
}

/// A kind of link: parameters, and how a running one is built from them. A line in `lib.rs` makes it one of ours,
/// [`add_link`](crate::add_link) somebody's own.
pub trait LinkKind: Configured + Clone + PartialEq + fmt::Debug + Send + Sync {
    /// The running link.
    type Link<T>: Link<T>;

    /// An idle link with these parameters, and `manager` for its queue.
    fn build<T: Send + 'static>(&self, manager: AnyManager<T>) -> Self::Link<T>;

    /// The rate at which a standing queue drains on an uncongested channel: what a buffer limit in
    /// time refers to. Zero if the link has no rate at all.
    fn drain_rate(&self) -> BitRate;

    /// Fixed delay of the link, the least that any packet takes.
    fn delay(&self) -> Span;

    /// What it lets through at once besides what its rate carries.
    fn burst(&self) -> Bytes {
        Bytes::ZERO
    }

    /// The bucket that the longest packet must fit into whole, if there is one: its key, and how deep it is.
    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        None
    }

    /// What packets cost on it unless a file says otherwise.
    fn framing(&self) -> Framing {
        Framing::Ip
    }

    /// Adds what is wrong with these parameters, apart from the bounds of single keys.
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        let _ = problems;
    }
}

impl LinkConfig {
    /// All kinds, somebody's own among them.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }

    /// The word for this kind of link in files and records.
    pub fn kind(&self) -> &'static str {
        each_config!(self, link => link.kind())
    }

    /// The rate at which a standing queue drains on an uncongested channel: what a buffer limit in
    /// time refers to. Zero if the link has no rate at all.
    pub fn drain_rate(&self) -> BitRate {
        each_config!(self, link => link.drain_rate())
    }

    /// The most that the link lets through in `span` on an uncongested channel: what its rate carries,
    /// and a full bucket. `None` without any rate.
    pub fn allowance(&self, span: Span) -> Option<Bytes> {
        let burst = each_config!(self, link => link.burst());
        let rate = self.drain_rate();
        (rate > BitRate::ZERO).then(|| rate.bytes_in(span) + burst)
    }

    /// Fixed delay of the link, the least that any packet takes.
    pub fn delay(&self) -> Span {
        each_config!(self, link => link.delay())
    }

    /// The bucket that the longest packet must fit into whole, if there is one: its key, and how deep it is.
    pub fn bucket(&self) -> Option<(&'static str, Bytes)> {
        each_config!(self, link => link.bucket())
    }

    /// What packets cost on it unless a file says otherwise.
    pub fn framing(&self) -> Framing {
        each_config!(self, link => link.framing())
    }

    /// Everything that is wrong with the link's own parameters; empty if it can be built. The queue
    /// manager lists its problems itself ([`sojourn_queue::ManagerConfig::problems`]).
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        each_config!(self, link => link.collect_problems(&mut problems));
        problems
    }
}

pub(crate) fn problem(
    field: &'static str,
    message: alloc::string::String,
    hint: &'static str,
) -> ConfigProblem {
    ConfigProblem {
        field,
        message,
        hint,
    }
}

fn require_rate(field: &'static str, rate: BitRate, problems: &mut Vec<ConfigProblem>) {
    if rate == BitRate::ZERO {
        problems.push(problem(
            field,
            alloc::string::String::from("a rate of zero never sends anything"),
            "a positive rate such as \"5 Mb/s\"",
        ));
    }
}

fn require_maps(interval: Span, rate: BitRate, problems: &mut Vec<ConfigProblem>) {
    require_rate("channel_rate", rate, problems);
    if interval.is_zero() {
        problems.push(problem(
            "map_interval",
            alloc::format!("a MAP interval of {interval} has no room for a grant"),
            "\"2 ms\"",
        ));
    } else if rate > BitRate::ZERO && rate.bytes_in(interval) == Bytes::ZERO {
        problems.push(problem(
            "map_interval",
            alloc::format!("not one byte passes at {rate} in {interval}"),
            "a longer MAP interval or a faster channel",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_queue::{DropTailConfig, ManagerConfig};

    #[test]
    fn profiles_have_nothing_wrong_with_them() {
        let queue = ManagerConfig::DropTail(DropTailConfig::WHITE2012_BUFFERBLOAT);
        for link in [
            LinkConfig::Shaped {
                link: ShapedConfig::WHITE2012_DOWNSTREAM,
                queue: queue.clone(),
            },
            LinkConfig::Docsis30Cascade {
                link: CascadeConfig::WHITE2012,
                queue: queue.clone(),
            },
            LinkConfig::Docsis30Single {
                link: SingleQueueConfig::WHITE2013,
                queue,
            },
        ] {
            assert_eq!(link.problems(), [], "{}", link.kind());
            assert!(link.drain_rate() > BitRate::ZERO);
        }
    }

    #[test]
    fn every_problem_of_a_link_is_listed() {
        let shaper = ShaperConfig {
            sustained: BitRate::from_mbps(5),
            burst: Bytes::ZERO,
            peak: BitRate::from_mbps(1),
            peak_burst: Bytes::ZERO,
        };
        let link = LinkConfig::Docsis30Cascade {
            link: CascadeConfig {
                shaper,
                map_interval: Span::ZERO,
                channel_rate: BitRate::ZERO,
                transmit_queue: Packets::ZERO,
                ..CascadeConfig::WHITE2012
            },
            queue: ManagerConfig::DropTail(DropTailConfig::WHITE2012_BUFFERBLOAT),
        };
        let fields: Vec<&str> = link.problems().iter().map(|p| p.field).collect();
        assert_eq!(
            fields,
            [
                "burst",
                "peak_burst",
                "peak",
                "channel_rate",
                "map_interval",
                "transmit_queue"
            ]
        );
    }
}
