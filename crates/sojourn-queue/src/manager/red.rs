//! RED and WRED over one first-in, first-out queue.
//!
//! Source: Floyd and Jacobson 1993; ns-2.35 `queue/red.cc`; Akhtar 2013, slide "RED configuration"; Floyd, Gummadi and
//! Shenker 2001 for thresholds and weight from delay and round trip.
//! Deviations: those of [`crate::policy::red`]; a limit in bytes may be overshot by the last packet, as in ns-2.

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::{mark, refuse};
use crate::policy::classifier::CodePoints;
use crate::policy::red::{Red, RedCurve, RedLaw, RedSignal};
use crate::store::fifo::Fifo;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Instant, Limit, Meta, PacketHandle, Packets, Span, math};
use sojourn_keys::{ItemsOf, Key, Visitor, bytes, origin, parameters};

const AKHTAR: &str = "Akhtar 2013, RED configuration";

parameters! {
    /// Thresholds of all packets: a sixth of the buffer, the buffer, 4 %.
    #[derive(Copy)]
    pub struct RedThresholds {
        /// average below which nothing is signalled, in packets or bytes; "auto" is a sixth of the limit
        minimum: Option<Limit> = None, origin(AKHTAR).or("auto");
        /// average at which the likelihood is max_probability; "auto" is the limit
        maximum: Option<Limit> = None, origin(AKHTAR).or("auto");
        /// likelihood of a signal at the upper threshold
        most as "max_probability": f64 = 0.04, origin(AKHTAR).least("0").most("1");
    }
}

parameters! {
    /// Floyd's rules: thresholds that are not said follow from a delay, a weight that is not said from a round trip, both at the
    /// rate of the link.
    #[derive(Copy, Eq)]
    pub struct FloydRules {
        /// mean delay to aim at: the minimum is half of what leaves in it, at least 5 packets, the maximum three times that
        target: Option<Span> = None,
            origin("Floyd, Gummadi and Shenker 2001, automatic settings: 5 ms").or("off").least("1 us").most("10 s");
        /// round trip of most flows: the average follows within ten of them
        round_trip: Option<Span> = None,
            origin("Floyd, Gummadi and Shenker 2001, automatic settings: 100 ms").or("off").least("1 us").most("10 s");
    }
}

/// True if Floyd's rules are included: no lesson has them, and the engine of browsers is small.
const KNOWN: bool = !sojourn_base::native::IN_TAB;

fn rules(rules: &mut FloydRules, visitor: &mut dyn Visitor) {
    let is_said = *rules != FloydRules::BASE || visitor.has("target") || visitor.has("round_trip");
    if KNOWN && (is_said || visitor.is_exhaustive()) {
        rules.keys(visitor);
    }
}

parameters! {
    /// Thresholds of packets with some code points.
    #[derive(Copy)]
    pub struct RedClassConfig {
        /// code points of the packets of this class
        dscp: CodePoints = CodePoints::of(&[]), origin("no default").required("[10]");
        /// their thresholds
        curve: RedThresholds = RedThresholds::BASE;
    }
}

fn classes(key: Key, items: &mut Vec<RedClassConfig>, visitor: &mut dyn Visitor) {
    visitor.items(key, &mut ItemsOf { items, base: || RedClassConfig::BASE, keys: RedClassConfig::keys });
}

parameters! {
    /// Parameters of RED: twice the bandwidth-delay product of 8 Mb/s and 90 ms, and what follows from it.
    pub struct RedConfig: "red", "RED: signals an average queue between two thresholds; WRED with classes" {
        // Its unit is that of the average.
        limit: Limit = Limit::Packets(Packets(120)), LIMIT;
        /// thresholds of all packets without a class of their own
        curve: RedThresholds = RedThresholds::BASE;
        /// weight of a new length in the average; "auto" is the time of a mean packet over 250 ms
        weight: Option<f64> = None, origin("Akhtar 2013, RED configuration: 240/(5000 C)").or("auto").least("0.0000001").most("1");
        /// what thresholds and weight follow from, if not from the limit
        floyd: FloydRules = FloydRules::BASE => rules;
        /// mean packet: what idle time and sizes are counted in
        mean_packet: u32 = 1500, origin("Akhtar 2013; ns-2 and ns-3: 500 B").least("1 B").most("64 KiB") => bytes;
        /// beyond the maximum the likelihood rises to 1 at its double, instead of being 1 at once
        gentle: bool = false, origin("ns-2 and ns-3: on");
        /// at least 1/p packets between two signals
        wait: bool = true, origin("ns-2 and ns-3: on");
        /// packets are signalled in the ratio of their length to the mean
        scale_by_size: bool = false, origin("chosen: off, because Akhtar 2013 counts packets; ns-2: on");
        /// mark ECN-capable packets instead of dropping them
        ecn: bool = false, origin("ns-2: off");
        /// likelihood above which ECN-capable packets are dropped all the same; then nothing is forced
        mark_limit: Option<f64> = None, origin("chosen: off; ns-2: 0.1").or("off").least("0").most("1");
        /// the likelihood at the maximum moves so that the average stays between the thresholds
        adaptive: bool = false, origin("Floyd, Gummadi and Shenker 2001: off");
        /// packets with thresholds of their own, over the same average (WRED)
        classes: Vec<RedClassConfig> = Vec::new(), origin("none") => classes;
    }
    profiles {
        /// Akhtar 2013: 120 packets, thresholds of a sixth and the whole of it, 4 %, a packet's time over 250 ms
        AKHTAR2013 "akhtar2013" {}
        /// Floyd 2001: from the rate of the link, a round trip of 100 ms and 5 ms to aim at, whatever the number of flows
        ///
        /// The likelihood finds itself (`adaptive`), so the number of flows is no input. chosen: a quarter of a second of buffer,
        /// which leaves room for twice the maximum.
        FLOYD2001 "floyd2001" {
            limit = Limit::Time(Span::from_ms(250));
            floyd.target = Some(Span::from_ms(5));
            floyd.round_trip = Some(Span::from_ms(100));
            curve.most = 0.1;
            gentle = true;
            adaptive = true;
        }
        /// ns-3: 25 packets, thresholds of 5 and 15, 2 %, gentle
        ///
        /// And a weight of 0.002.
        NS3 "ns3" {
            limit = Limit::Packets(Packets(25));
            curve.minimum = Some(Limit::Packets(Packets(5)));
            curve.maximum = Some(Limit::Packets(Packets(15)));
            curve.most = 0.02;
            weight = Some(0.002);
            mean_packet = 500;
            gentle = true;
        }
    }
}

impl RedConfig {
    /// A length in the unit of the average; `None` for a time.
    fn in_unit(&self, length: Limit) -> Option<f64> {
        let mean = f64::from(self.mean_packet);
        match (length, self.counts_bytes()) {
            (Limit::Packets(packets), false) => Some(f64::from(packets.0)),
            (Limit::Packets(packets), true) => Some(f64::from(packets.0) * mean),
            (Limit::Bytes(bytes), true) => Some(bytes.0 as f64),
            (Limit::Bytes(bytes), false) => Some(bytes.0 as f64 / mean),
            (Limit::Time(_), _) => None,
        }
    }

    const fn counts_bytes(&self) -> bool {
        !matches!(self.limit, Limit::Packets(_))
    }

    /// Mean packets that a link of this rate sends in a second.
    fn packets_per_second(&self, rate: BitRate) -> f64 {
        rate.as_bps() as f64 / (8.0 * f64::from(self.mean_packet))
    }

    /// Thresholds in the unit of the average, on a link of this rate; of an unknown rate if it is zero.
    fn curve_at(&self, class: &RedThresholds, rate: BitRate) -> RedCurve {
        /// Akhtar 2013: the lower threshold is a sixth of the buffer.
        const SIXTH: f64 = 6.0;
        /// Floyd, Gummadi and Shenker 2001: the least lower threshold in packets, and how many times the upper one is that.
        const LEAST: f64 = 5.0;
        const TIMES: f64 = 3.0;
        let limit = self.in_unit(self.limit).unwrap_or_default();
        let set = |threshold: Option<Limit>| threshold.and_then(|threshold| self.in_unit(threshold));
        let packets = self.packets_per_second(rate);
        let (minimum, maximum) = match self.floyd.target.filter(|_| KNOWN && packets > 0.0) {
            Some(target) => {
                let packets = (packets * target.as_secs_f64() / 2.0).max(LEAST);
                let unit = if self.counts_bytes() { f64::from(self.mean_packet) } else { 1.0 };
                (packets * unit, TIMES * packets * unit)
            }
            None => (limit / SIXTH, limit),
        };
        RedCurve {
            minimum: set(class.minimum).unwrap_or(minimum),
            maximum: set(class.maximum).unwrap_or(maximum),
            most: class.most,
        }
    }

    /// Those of all packets without a class, and of each class.
    fn curves_at(&self, rate: BitRate) -> impl Iterator<Item = RedCurve> {
        let classes = self.classes.iter().map(|class| &class.curve);
        let classes = core::iter::once(&self.curve).chain(classes);
        classes.map(move |class| self.curve_at(class, rate))
    }

    /// The law on a link of this rate.
    fn law_at(&self, rate: BitRate) -> RedLaw {
        /// Akhtar 2013: w = 240/(5000 C) with C in Mb/s, which is the time of a packet of 1500 bytes over this, in seconds.
        const HORIZON: f64 = 0.25;
        /// Floyd, Gummadi and Shenker 2001: the average follows within this number of round trips.
        const ROUND_TRIPS: f64 = 10.0;
        let mean = f64::from(self.mean_packet);
        let packets_per_second = self.packets_per_second(rate);
        let automatic = match self.floyd.round_trip {
            _ if packets_per_second <= 0.0 => 1.0,
            Some(round_trip) if KNOWN => {
                let packets = packets_per_second * ROUND_TRIPS * round_trip.as_secs_f64();
                1.0 - math::exp(-1.0 / packets)
            }
            _ => (1.0 / (packets_per_second * HORIZON)).min(1.0),
        };
        RedLaw {
            weight: self.weight.unwrap_or(automatic),
            gentle: self.gentle,
            wait: self.wait,
            scale_by: self.scale_by_size.then_some(mean),
            packets_per_second,
            mark_limit: self.mark_limit,
            adaptive: self.adaptive,
        }
    }

    fn curve_problem(&self, class: &RedThresholds) -> Option<ConfigProblem> {
        for (field, threshold) in [("minimum", class.minimum), ("maximum", class.maximum)] {
            if let Some(time @ Limit::Time(_)) = threshold {
                return Some(ConfigProblem {
                    field,
                    message: format!("a threshold of {time} is a time"),
                    hint: "packets or bytes, for instance \"20 packets\", or \"auto\"",
                });
            }
        }
        if matches!(self.limit, Limit::Time(_)) {
            return None;
        }
        let curve = self.curve_at(class, BitRate::ZERO);
        let spell = |set: Option<Limit>, automatic| match set {
            Some(set) => format!("{set}"),
            None => String::from(automatic),
        };
        (curve.minimum > curve.maximum).then(|| ConfigProblem {
            field: "minimum",
            message: format!(
                "{} is more than maximum ({})",
                spell(class.minimum, "a sixth of the limit"),
                spell(class.maximum, "the limit")
            ),
            hint: "a minimum below the maximum, for instance a third of it",
        })
    }
}

impl ManagerKind for RedConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(RedQueue::new(self.clone()))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn least_packets(&self) -> Packets {
        Packets(2)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        problems.extend(self.curve_problem(&self.curve));
        problems.extend(self.classes.iter().filter_map(|class| {
            let mut problem = self.curve_problem(&class.curve)?;
            problem.field = "classes";
            Some(problem)
        }));
        let mut seen = CodePoints::default();
        for class in &self.classes {
            if let Some(twice) = seen.add(class.dscp) {
                problems.push(ConfigProblem {
                    field: "classes",
                    message: format!("code point {twice} belongs to two classes"),
                    hint: "each code point in one class",
                });
            }
        }
    }
}

/// A first-in, first-out queue with a RED.
#[derive(Clone, Debug)]
pub struct RedQueue {
    config: RedConfig,
    law: RedLaw,
    /// The rate that the law is for.
    rate: BitRate,
    red: Red,
    fifo: Fifo,
}

impl RedQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: RedConfig) -> Self {
        assert!(
            !matches!(config.limit, Limit::Time(_)),
            "a limit of {} needs a rate: call ManagerConfig::at before building",
            config.limit
        );
        Self {
            law: config.law_at(BitRate::ZERO),
            rate: BitRate::ZERO,
            red: Red::new(config.curves_at(BitRate::ZERO)),
            fifo: Fifo::new(),
            config,
        }
    }

    /// The decision state, for records and tests.
    pub const fn red(&self) -> &Red {
        &self.red
    }

    /// The class of a packet; the first one is that of all others.
    fn class_of(&self, meta: &Meta) -> usize {
        let place = self.config.classes.iter();
        let mut place = place.map(|class| class.dscp);
        place.position(|dscp| dscp.contains(meta.dscp)).map_or(0, |place| place + 1)
    }

    fn has_room(&self) -> bool {
        let waiting = self.fifo.backlog();
        match self.config.limit {
            Limit::Packets(packets) => waiting.packets < packets,
            Limit::Bytes(bytes) => waiting.bytes < bytes,
            Limit::Time(_) => false,
        }
    }
}

impl QueueManager for RedQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let rate = context.shaper().sustained;
        if rate != self.rate {
            (self.rate, self.law) = (rate, self.config.law_at(rate));
            self.red.set_thresholds(self.config.curves_at(rate));
        }
        let mut packet = Held::new(now, meta, item);
        let class = self.class_of(&meta);
        let waiting = self.fifo.backlog();
        let queue = if self.config.counts_bytes() { waiting.bytes.0 as f64 } else { f64::from(waiting.packets.0) };
        let draw = || context.unit();
        let signal = self.red.on_arrival(&self.law, now, class, queue, meta.length, draw);
        if !self.has_room() {
            self.red.on_overflow(class);
            return refuse(packet, Reason::Overlimit, context);
        }
        match signal {
            RedSignal::Keep => {}
            RedSignal::Mark if self.config.ecn && mark(&mut packet, Reason::Early, context) => {}
            RedSignal::Mark | RedSignal::Drop => return refuse(packet, Reason::Early, context),
            RedSignal::Force => return refuse(packet, Reason::Forced, context),
        }
        self.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, _context: &mut dyn QueueContext) -> Option<Held> {
        let packet = self.fifo.pop();
        if packet.is_none() {
            self.red.on_empty(now);
        }
        packet
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Bytes;

    #[test]
    fn the_rule_of_akhtar_2013_gives_the_printed_values() {
        // Claims A13-07 and A13-08: 8 Mb/s, 120 packets.
        let config = RedConfig::AKHTAR2013;
        let law = config.law_at(BitRate::from_mbps(8));
        assert!((law.weight - 0.006).abs() < 1e-12);
        assert!((law.weight - 240.0 / (5000.0 * 8.0)).abs() < 1e-12);
        let curve = config.curve_at(&config.curve, BitRate::from_mbps(8));
        assert!((curve.minimum - 20.0).abs() < 1e-12);
        assert!((curve.maximum - 120.0).abs() < 1e-12);
        // 20 packets of 1500 B are 30 ms, 60 are 90 ms.
        let time = |packets: u64| BitRate::from_mbps(8).time_for(Bytes(packets * 1500));
        assert_eq!(time(20), Span::from_ms(30));
        assert_eq!(time(60), Span::from_ms(90));
    }

    #[test]
    fn the_rules_of_floyd_2001_follow_rate_and_round_trip() {
        // 100 Mb/s: 8333.3 packets/s; half of 5 ms are 20.83, three times that 62.5; 1 - exp(-1/8333.3).
        // 8 Mb/s: 666.7 packets/s; half of 5 ms are 1.67, so 5 and 15.
        let config = RedConfig { limit: Limit::Packets(Packets(500)), ..RedConfig::FLOYD2001 };
        for (rate, minimum, maximum, weight) in [(100, 20.833_333, 62.5, 1.199_928e-4), (8, 5.0, 15.0, 1.498_876e-3)] {
            let rate = BitRate::from_mbps(rate);
            let curve = config.curve_at(&config.curve, rate);
            assert!((curve.minimum - minimum).abs() < 1e-6);
            assert!((curve.maximum - maximum).abs() < 1e-6);
            assert!((config.law_at(rate).weight - weight).abs() < 1e-9);
        }
        // A round trip of 20 ms: 10 of them are 133.3 packets at 8 Mb/s.
        let near = RedConfig { floyd: FloydRules { round_trip: Some(Span::from_ms(20)), ..config.floyd }, ..config };
        let weight = near.law_at(BitRate::from_mbps(8)).weight;
        assert!((weight - 7.471_945e-3).abs() < 1e-8, "{weight}");
    }

    #[test]
    fn thresholds_are_counted_in_the_unit_of_the_limit() {
        let config = RedConfig {
            limit: Limit::Bytes(Bytes(180_000)),
            curve: RedThresholds { minimum: Some(Limit::Packets(Packets(20))), ..RedThresholds::BASE },
            ..RedConfig::AKHTAR2013
        };
        let curve = config.curve_at(&config.curve, BitRate::from_mbps(8));
        assert!((curve.minimum - 30_000.0).abs() < 1e-9);
        assert!((curve.maximum - 180_000.0).abs() < 1e-9);
    }
}
