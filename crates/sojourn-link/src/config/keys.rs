//! Keys that several links have, and what else makes a kind of link of their parameters.
//!
//! Source: White 2012 §2.2, §2.3 and §3.1; White 2013 §3.1 to §3.4. Deviations: none known.

use super::{CascadeConfig, SerialConfig, ShapedConfig, ShaperConfig, SingleQueueConfig};
use crate::any::AnyLink;
use crate::docsis30::cascade::Cascade;
use crate::docsis30::single_queue::SingleQueue;
use crate::kind::LinkKind;
use crate::problems::{problem, require_maps, require_rate};
use crate::serial::Serial;
use crate::shaped::Shaped;
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Packets, Span};
use sojourn_keys::{Key, key};
use sojourn_queue::{ConfigProblem, QueueManager};

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

impl LinkKind for SerialConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Serial::new(*self, manager).into()
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

impl LinkKind for ShapedConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Shaped::new(*self, manager).into()
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

impl LinkKind for CascadeConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Cascade::new(self, manager).into()
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

impl LinkKind for SingleQueueConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        SingleQueue::new(self, manager).into()
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
