//! All kinds of link, and what makes a kind of link of the parameters of each.
//!
//! To add a link, add one line to the list: files, schema and reference page follow.

use crate::any::AnyLink;
use crate::config::{CascadeConfig, Rule, SerialConfig, ShapedConfig, ShaperConfig, SingleQueueConfig};
use crate::docsis30::cascade::Cascade;
use crate::docsis30::single_queue::SingleQueue;
use crate::docsis31::config::{DownstreamConfig, UpstreamConfig};
use crate::docsis31::downstream::Downstream;
use crate::docsis31::upstream::Upstream;
use crate::framing::Framing;
use crate::group::alone::Alone;
use crate::group::medium::Medium;
use crate::group::{DownstreamMemberConfig, Group, GroupConfig, MemberConfig, SharedDownstream};
use crate::kind::{LinkConfig, LinkKind};
use crate::problems::{problem, require_maps, require_rate};
use crate::serial::Serial;
use crate::shaped::Shaped;
use crate::trace::TraceConfig;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Packets, Span};
use sojourn_keys::{AnyKind, KindOf, Kinds, kinds};
use sojourn_queue::{ConfigProblem, QueueManager};

/// All kinds, in the order of the reference page.
static KINDS: Kinds<LinkConfig> = Kinds::new(kinds![
    &KindOf::<SerialConfig>::KIND,
    &KindOf::<ShapedConfig>::KIND,
    &KindOf::<CascadeConfig>::KIND,
    &KindOf::<SingleQueueConfig>::KIND,
    &KindOf::<UpstreamConfig>::KIND,
    &KindOf::<DownstreamConfig>::KIND,
    &KindOf::<MemberConfig>::KIND => native,
    &KindOf::<DownstreamMemberConfig>::KIND => native,
    &KindOf::<TraceConfig>::KIND => native,
]);

/// Makes a kind of link known, before the first file that asks for it is read.
#[cfg(feature = "std")]
pub fn add_link<C: sojourn_keys::Configured + LinkKind>() -> Result<(), sojourn_keys::NameTaken> {
    KINDS.add(&KindOf::<C>::KIND)
}

impl LinkConfig {
    /// Returns all kinds, those of other crates included.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }
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
                alloc::format!("impulses of {} every {gap} leave no time to send", self.impulses.length),
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
        match self.rule {
            Rule::Bucket => self.shaper.burst,
            // One packet, which is paid for afterwards.
            Rule::Deficit => LONGEST_PACKET,
        }
    }

    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        (self.rule == Rule::Bucket).then(|| self.shaper.shallowest())
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
        if self.rule == Rule::Deficit && self.shaper.peak > BitRate::ZERO {
            problems.push(problem(
                "peak",
                alloc::format!("a shaper that saves nothing has no peak rate ({})", self.shaper.peak),
                "peak = \"unlimited\", or rule = \"bucket\"",
            ));
        }
    }
}

/// The longest packet of IP.
const LONGEST_PACKET: Bytes = Bytes(65_535);

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
        peak.filter(|peak| peak.1 < sustained.1).unwrap_or(sustained)
    }
}

/// The rate of buckets in front of a channel.
fn on_channel(shaper: &ShaperConfig, channel: BitRate) -> BitRate {
    match shaper.drain_rate() {
        BitRate::ZERO => channel,
        rate => rate.min(channel),
    }
}

impl LinkKind for UpstreamConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Upstream::new(self, manager).into()
    }

    fn drain_rate(&self) -> BitRate {
        drain_rate(self.rate, self.peak, self.channel.capacity())
    }

    fn delay(&self) -> Span {
        self.plant()
    }

    fn burst(&self) -> Bytes {
        self.burst
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}

/// The rate of buckets in front of a channel.
fn drain_rate(sustained: BitRate, peak: BitRate, channel: BitRate) -> BitRate {
    let rates = [sustained, peak, channel];
    let said = rates.into_iter().filter(|rate| *rate > BitRate::ZERO);
    said.min().unwrap_or(BitRate::ZERO)
}

impl LinkKind for DownstreamConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Downstream::new(self, manager).into()
    }

    fn drain_rate(&self) -> BitRate {
        drain_rate(self.rate, self.peak, self.capacity())
    }

    fn delay(&self) -> Span {
        self.plant()
    }

    fn burst(&self) -> Bytes {
        self.burst
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}

impl LinkKind for MemberConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        let group = Group::new(&GroupConfig::BASE, vec![(*self, manager)]);
        AnyLink::other(Alone(Medium::Upstream(Box::new(group))))
    }

    /// At most what a channel with the default keys carries.
    fn drain_rate(&self) -> BitRate {
        let channel = GroupConfig::BASE.capacity(self.modulation);
        match self.shaper.drain_rate() {
            BitRate::ZERO => channel,
            rate => rate.min(channel),
        }
    }

    /// The plant is the group's, and comes on top of what a server is away.
    fn delay(&self) -> Span {
        Span::ZERO
    }

    fn burst(&self) -> Bytes {
        self.shaper.burst
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}

impl LinkKind for DownstreamMemberConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        let group = SharedDownstream::new(&GroupConfig::BASE, vec![(*self, manager)]);
        AnyLink::other(Alone(Medium::Downstream(Box::new(group))))
    }

    /// At most what channels with the default keys carry.
    fn drain_rate(&self) -> BitRate {
        on_channel(&self.shaper, GroupConfig::BASE.bonded.rate)
    }

    /// The plant is the group's, and comes on top of what a server is away.
    fn delay(&self) -> Span {
        Span::ZERO
    }

    fn burst(&self) -> Bytes {
        self.shaper.burst
    }

    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        Some(self.shaper.shallowest())
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}
