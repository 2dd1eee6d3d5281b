//! Keys of links, beside what else makes a kind of link of their parameters.
//!
//! Source: White 2012 §2.2, §2.3 and §3.1; White 2013 §3.1 to §3.4. Deviations: none known.

use super::{
    CascadeConfig, CascadeVariant, FIXED_DELAY, Forwarding, ImpulseConfig, LinkKind, Pull,
    SerialConfig, ShapedConfig, ShaperConfig, SingleQueueConfig, problem, require_maps,
    require_rate,
};
use crate::docsis::cascade::Cascade;
use crate::docsis::single_queue::SingleQueue;
use crate::serial::Serial;
use crate::shaped::Shaped;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Packets, Span};
use sojourn_keys::{Configured, Key, Or, Profile, Visitor, Word, Words, key};
use sojourn_queue::{AnyManager, ConfigProblem};

/// Buckets of a service flow about which only the sustained rate is said. Source: DOCSIS MULPI, annex
/// C: a maximum traffic burst of 3044 B and no peak rate.
const PLAIN_SHAPER: ShaperConfig = ShaperConfig {
    sustained: BitRate::ZERO,
    burst: Bytes(3044),
    peak: BitRate::ZERO,
    peak_burst: Bytes(1522),
};

/// Highest rate of a link. chosen: above every access network, and low enough that products of rate
/// and time stay within 128 bits.
pub const HIGHEST_RATE: &str = "1 Tb/s";

/// Rate of a line.
pub const RATE: Key = key("rate", "rate of the line", "no default: it is the tier")
    .required("\"5 Mb/s\"")
    .least("1 b/s")
    .most(HIGHEST_RATE);

/// Fixed delay of a link.
pub const fn delay(origin: &'static str) -> Key {
    key(
        "delay",
        "propagation and fixed processing after the last bit, one way",
        origin,
    )
    // chosen: ten seconds, forty geostationary hops.
    .most("10 s")
}

/// Time between MAPs.
pub const MAP_INTERVAL: Key = key(
    "map_interval",
    "time from one MAP to the next",
    "White 2012 §2.2.2",
)
.least("1 us")
// chosen: a thousand times the usual.
.most("2 s");

/// Rate of the upstream channel.
pub const CHANNEL_RATE: Key = key(
    "channel_rate",
    "rate at which a grant is serialised",
    "assumed: four 6.4 MHz channels with 64-QAM at 0.8 (White 2012 §2.2.2 prints the formula only)",
)
.least("1 b/s")
.most(HIGHEST_RATE);

/// Length of the request-grant loop.
pub const fn grant_delay(origin: &'static str) -> Key {
    key(
        "grant_delay_maps",
        "MAPs from a request to its grant",
        origin,
    )
    .least("1")
    // chosen: half a second with MAPs of 2 ms, as over a geostationary satellite.
    .most("250")
}

impl Configured for SerialConfig {
    const KIND: &'static str = "serial";
    const ABOUT: &'static str =
        "a line of constant rate, for instance DSL or the bottleneck of a dumbbell";

    fn base() -> Self {
        Self::plain(BitRate::ZERO, Span::ZERO)
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;
        visitor.value(RATE, &mut link.rate);
        visitor.value(delay("chosen: no delay unless it is said"), &mut link.delay);
        visitor.value(
            key(
                "interleaving",
                "what interleaver and deinterleaver of a DSL line hold every packet for, one way",
                "chosen: none unless it is said; lines are often provisioned with 8 or 16 ms (ITU-T G.993.2, delay_max)",
            )
            // chosen: twice the largest delay_max of ITU-T G.993.2, 63 ms, rounded down.
            .most("120 ms"),
            &mut link.interleaving,
        );
        link.impulses.keys(visitor);
    }
}

impl LinkKind for SerialConfig {
    type Link<T> = Serial<AnyManager<T>>;

    fn build<T: Send + 'static>(&self, manager: AnyManager<T>) -> Self::Link<T> {
        Serial::new(*self, manager)
    }

    fn drain_rate(&self) -> BitRate {
        self.rate
    }

    fn delay(&self) -> Span {
        self.delay + self.interleaving
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_rate("rate", self.rate, problems);
        if let Some(gap) = self.impulses.gap
            && gap <= self.impulses.length
        {
            problems.push(problem(
                "impulse_gap",
                alloc::format!(
                    "impulses of {} every {gap} leave no time to send",
                    self.impulses.length
                ),
                "a gap well above impulse_length: \"10 s\"",
            ));
        }
    }
}

impl ImpulseConfig {
    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "impulse_gap",
                "mean time between impulses of noise on a line that repeats what they hit, exponential; \"none\" is a quiet line",
                "chosen: a quiet line",
            )
            // chosen: ten times what the mains give; a line that is hit more often carries nothing.
            .least("1 ms"),
            &mut Or {
                value: &mut self.gap,
                word: "none",
            },
        );
        visitor.value(
            key(
                "impulse_length",
                "length of an impulse",
                "chosen: the order of the bursts of ITU-T G.996.1",
            )
            .least("1 us")
            // chosen: beyond this a modem loses its synchronisation and trains anew, which is not modelled.
            .most("100 ms"),
            &mut self.length,
        );
        visitor.value(
            key(
                "retransmission",
                "from the end of a packet that was hit until its repetition arrives",
                "chosen: a few data units each way and both ends' processing (ITU-T G.998.4)",
            )
            // chosen: as for interleaving.
            .most("120 ms"),
            &mut self.retransmission,
        );
    }
}

impl Configured for ShapedConfig {
    const KIND: &'static str = "shaped";
    const ABOUT: &'static str = "a token-bucket rate shaper: the downstream of a DOCSIS 3.0 CMTS";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2012-downstream",
            about: "White 2012 §3.1.1: 20 Mb/s, burst 20 MB, peak 50 Mb/s",
            values: || Self::WHITE2012_DOWNSTREAM,
        },
        Profile {
            name: "white2013-downstream",
            about: "White 2013 §3.4: 20 Mb/s, burst 10 MB, peak 50 Mb/s",
            values: || Self::WHITE2013_DOWNSTREAM,
        },
    ];

    fn base() -> Self {
        Self {
            shaper: PLAIN_SHAPER,
            pull: Pull::WithTokens,
            delay: FIXED_DELAY,
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;
        link.shaper.keys(visitor);
        pull_key(
            &mut link.pull,
            "chosen: a manager should see the wait for tokens",
            visitor,
        );
        visitor.value(delay("White 2012 §2.3"), &mut link.delay);
    }
}

impl LinkKind for ShapedConfig {
    type Link<T> = Shaped<T, AnyManager<T>>;

    fn build<T: Send + 'static>(&self, manager: AnyManager<T>) -> Self::Link<T> {
        Shaped::new(*self, manager)
    }

    fn drain_rate(&self) -> BitRate {
        self.shaper.drain_rate()
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn burst(&self) -> Bytes {
        self.shaper.burst
    }

    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        Some(self.shaper.shallowest())
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
    }
}

impl Configured for CascadeConfig {
    const KIND: &'static str = "docsis30-cascade";
    const ABOUT: &'static str = "the DOCSIS 3.0 upstream of White 2012: a rate-shaping queue, then a transmit queue \
                with the request-grant loop";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "white2012",
        about: "White 2012 §3.1.1: 5 Mb/s, burst 10 MB, peak 20 Mb/s",
        values: || Self::WHITE2012,
    }];

    fn base() -> Self {
        Self {
            shaper: PLAIN_SHAPER,
            ..Self::WHITE2012
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;

        link.shaper.keys(visitor);
        pull_key(
            &mut link.pull,
            "inferred: so does the shaper that the authors of White 2012 published (ns-2 link/delaytb.cc)",
            visitor,
        );
        visitor.value(MAP_INTERVAL, &mut link.map_interval);
        visitor.value(CHANNEL_RATE, &mut link.channel_rate);
        visitor.value(
            grant_delay("White 2012 §2.2.2: two; the printed load times need one [inf]"),
            &mut link.grant_delay,
        );
        visitor.value(
            key(
                "transmit_queue",
                "packets that the transmit queue holds",
                "White 2012 §2.2.3",
            )
            .least("1 packets")
            .most("1000000 packets"),
            &mut link.transmit_queue,
        );
        visitor.value(
            key(
                "variant",
                "what the two queues know of each other",
                "White 2012 §2.2.3",
            ),
            &mut Words {
                value: &mut link.variant,
                words: &VARIANTS,
            },
        );
        visitor.value(
            key(
                "forwarding",
                "what becomes of packets that arrive at the same instant",
                "inferred: as ns-2 treats a link without transmission time; White 2012 Table 6 against Table 5, D01, \
                 needs it",
            ),
            &mut Words {
                value: &mut link.forwarding,
                words: &FORWARDINGS,
            },
        );
        visitor.value(delay("White 2012 §2.3"), &mut link.delay);
        link.congestion.key(visitor);
    }
}

impl LinkKind for CascadeConfig {
    type Link<T> = Cascade<T, AnyManager<T>>;

    fn build<T: Send + 'static>(&self, manager: AnyManager<T>) -> Self::Link<T> {
        Cascade::new(self, manager)
    }

    fn drain_rate(&self) -> BitRate {
        on_channel(&self.shaper, self.channel_rate)
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn burst(&self) -> Bytes {
        self.shaper.burst
    }

    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        Some(self.shaper.shallowest())
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
        require_maps(self.map_interval, self.channel_rate, problems);
        self.congestion.collect_problems(problems);
        if self.transmit_queue == Packets::ZERO {
            problems.push(problem(
                "transmit_queue",
                alloc::format!("a transmit queue of {} passes nothing", Packets::ZERO),
                "\"32 packets\"",
            ));
        }
    }
}

impl Configured for SingleQueueConfig {
    const KIND: &'static str = "docsis30-single";
    const ABOUT: &'static str =
        "the DOCSIS 3.0 upstream of White 2013: one queue that shapes, requests and is granted";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "white2013",
        about: "White 2013 §3.4: 5 Mb/s, burst 10 MB, peak 20 Mb/s",
        values: || Self::WHITE2013,
    }];

    fn base() -> Self {
        Self {
            shaper: PLAIN_SHAPER,
            ..Self::WHITE2013
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;
        link.shaper.keys(visitor);
        visitor.value(
            key(
                "peak_burst_maps",
                "so many MAP intervals' worth of the peak rate deepen the bucket of the peak rate",
                "assumed: 1, so that a request can stand for what a whole interval may send",
            )
            // chosen: as the longest request-grant loop.
            .most("250"),
            &mut link.peak_burst_maps,
        );
        visitor.value(MAP_INTERVAL, &mut link.map_interval);
        visitor.value(
            grant_delay("White 2013 §3.1, by White 2012 §2.2.2: two"),
            &mut link.grant_delay,
        );
        visitor.value(CHANNEL_RATE, &mut link.channel_rate);
        visitor.value(
            delay("White 2012 §2.3, inferred for White 2013"),
            &mut link.delay,
        );
        link.congestion.key(visitor);
    }
}

impl LinkKind for SingleQueueConfig {
    type Link<T> = SingleQueue<T, AnyManager<T>>;

    fn build<T: Send + 'static>(&self, manager: AnyManager<T>) -> Self::Link<T> {
        SingleQueue::new(self, manager)
    }

    fn drain_rate(&self) -> BitRate {
        on_channel(&self.shaper, self.channel_rate)
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn burst(&self) -> Bytes {
        self.shaper.burst
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
        require_maps(self.map_interval, self.channel_rate, problems);
        self.congestion.collect_problems(problems);
    }
}

impl ShaperConfig {
    /// Shows the keys of the buckets.
    pub fn keys(&mut self, visitor: &mut dyn Visitor) {
        let shaper = self;

        visitor.value(
            key(
                "rate",
                "maximum sustained traffic rate",
                "no default: it is the tier",
            )
            .required("\"5 Mb/s\"")
            .least("1 b/s")
            .most(HIGHEST_RATE),
            &mut shaper.sustained,
        );
        visitor.value(
            key(
                "burst",
                "maximum traffic burst: depth of the bucket of the sustained rate",
                "DOCSIS MULPI annex C",
            )
            .least("1 B")
            .most("1000 GB"),
            &mut shaper.burst,
        );
        let mut peak = (shaper.peak > BitRate::ZERO).then_some(shaper.peak);
        visitor.value(
            key("peak", "peak traffic rate", "DOCSIS MULPI annex C: none")
                .least("1 b/s")
                .most(HIGHEST_RATE),
            &mut Or {
                value: &mut peak,
                word: "unlimited",
            },
        );
        shaper.peak = peak.unwrap_or(BitRate::ZERO);
        visitor.value(
            key(
                "peak_burst",
                "depth of the bucket of the peak rate",
                "White 2012 §3.1.1: one Ethernet frame",
            )
            .least("1 B")
            .most("1000 GB"),
            &mut shaper.peak_burst,
        );
    }

    /// The bucket that the longest packet must fit into whole: its key, and how deep it is.
    fn shallowest(&self) -> (&'static str, Bytes) {
        let peak = (self.peak.as_bps() > 0).then_some(("peak_burst", self.peak_burst));
        let sustained = ("burst", self.burst);
        peak.filter(|peak| peak.1 < sustained.1)
            .unwrap_or(sustained)
    }
}

/// The rate of buckets in front of a channel.
fn on_channel(shaper: &ShaperConfig, channel: BitRate) -> BitRate {
    match shaper.drain_rate() {
        BitRate::ZERO => channel,
        rate => rate.min(channel),
    }
}

const PULLS: [Word<Pull>; 2] = [
    Word {
        name: Pull::WithTokens.as_str(),
        value: Pull::WithTokens,
        about: "when the tokens for it are there",
    },
    Word {
        name: Pull::Ahead.as_str(),
        value: Pull::Ahead,
        about: "as soon as the packet before it has left; it waits for its tokens behind the queue",
    },
];

fn pull_key(pull: &mut Pull, origin: &'static str, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "pull",
            "when the shaper takes the next packet, and the queue manager judges it",
            origin,
        ),
        &mut Words {
            value: pull,
            words: &PULLS,
        },
    );
}

const FORWARDINGS: [Word<Forwarding>; 2] = [
    Word {
        name: Forwarding::OneAtATime.as_str(),
        value: Forwarding::OneAtATime,
        about: "the first may pass at once, the others are queued first and meet the queue's limit",
    },
    Word {
        name: Forwarding::AtOnce.as_str(),
        value: Forwarding::AtOnce,
        about: "each may pass at once, as if it came alone",
    },
];

const VARIANTS: [Word<CascadeVariant>; 3] = [
    Word {
        name: CascadeVariant::DropAtTransmitQueue.as_str(),
        value: CascadeVariant::DropAtTransmitQueue,
        about: "the transmit queue drops what does not fit (White 2012)",
    },
    Word {
        name: CascadeVariant::SojournOverBoth.as_str(),
        value: CascadeVariant::SojournOverBoth,
        about: "the queue manager judges the time in both queues",
    },
    Word {
        name: CascadeVariant::BackPressure.as_str(),
        value: CascadeVariant::BackPressure,
        about: "packets stay in the managed queue while the transmit queue is full",
    },
];
