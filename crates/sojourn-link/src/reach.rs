//! Checks that a link reaches its rate, and derives parameters that the file does not set.
//!
//! A service flow spends its buckets at MAPs or at symbols and not when it likes: between two of them a bucket gains no
//! more than it is deep. A bucket of 3044 B, the least that DOCSIS MULPI annex C has for a maximum traffic burst, carries 12
//! Mb/s with MAPs 2 ms apart, whatever the rate is.
//!
//! Source: DOCSIS MULPI annex C; docsis-ns3 1.2 `residential-example.cc` (a burst of 100 ms at the rate); for requests in
//! random frames the mean of what a bucket gains between two of them, see [`scattered`].
//! Deviations: none known.

use crate::docsis30::channel::bonded_rate;
use crate::{
    CascadeConfig, DownstreamConfig, DownstreamMemberConfig, GroupConfig, LinkConfig, MemberConfig, SerialConfig,
    ShapedConfig, SingleQueueConfig, UpstreamConfig,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Packets, Span};

/// Duration of the rate that a bucket of default depth holds. chosen: as in docsis-ns3 `residential-example.cc`; far
/// above the interval of any MAP, so that tokens are not lost between two.
const USUAL_BURST: Span = Span::from_ms(100);

/// Least maximum traffic burst. Source: DOCSIS MULPI annex C.
const LEAST_BURST: Bytes = Bytes(3044);

/// The longest frame of an Ethernet with one tag, for what a queue of packets holds.
const FRAME: u64 = 1522;

/// Part of its rate that a link has to reach. chosen: what is lost beyond is no rounding.
const ENOUGH: f64 = 0.97;

/// A parameter keeps a link from its rate on an uncongested channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// Its key.
    pub field: &'static str,
    /// Highest rate of the link, approximately.
    pub reaches: BitRate,
    /// A sentence that says so.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

/// Shortfalls of one link.
struct Shortfalls(Vec<Shortfall>);

impl Shortfalls {
    /// `field` lets `reaches` through of what `key` asks for, because of `why`.
    fn judge(
        &mut self,
        (key, wanted): (&str, BitRate),
        field: &'static str,
        reaches: f64,
        why: &str,
        hint: impl FnOnce() -> String,
    ) {
        let asked = wanted.as_bps() as f64;
        if asked > 0.0 && reaches < ENOUGH * asked {
            let reaches = readable(reaches);
            self.0.push(Shortfall {
                field,
                reaches,
                message: format!("the link reaches {reaches} of its {key} of {wanted}: {why}"),
                hint: hint(),
            });
        }
    }

    /// A bucket that is spent every `interval` only; `per_interval` is the part of a bucket's depth that it carries then,
    /// in bits per second.
    fn bucket(&mut self, rate: BitRate, depth: Bytes, interval: Span, carried: fn(f64, f64) -> f64) {
        let gained = rate.as_bps() as f64 * interval.as_secs_f64() / 8.0;
        let reaches = rate.as_bps() as f64 * carried(depth.0 as f64, gained) / gained.max(1e-9);
        let why = format!("a bucket of {depth} is spent once in {interval}");
        self.judge(("rate", rate), "burst", reaches, &why, || {
            let usual = usual_burst(rate);
            format!("burst = \"{usual}\", which is 100 ms at the rate")
        });
    }

    fn channel(&mut self, key: (&str, BitRate), field: &'static str, channel: BitRate) {
        let reaches = channel.as_bps() as f64;
        let why = format!("the channel carries {channel}");
        self.judge(key, field, reaches, &why, || format!("a faster channel, or a {} of at most \"{channel}\"", key.0));
    }
}

/// The part of `gained` that fits into `depth`, if a bucket is always spent after the same time.
fn regular(depth: f64, gained: f64) -> f64 {
    depth.min(gained)
}

/// The same if it is spent at a random place of each interval: the time between two of them has a triangular
/// distribution from nothing to two intervals, and what the bucket gains in it is at most its depth.
fn scattered(depth: f64, gained: f64) -> f64 {
    let x = depth / gained.max(1e-9);
    let part = if x <= 1.0 {
        x - x * x * x / 6.0
    } else if x < 2.0 {
        1.0 - (2.0 - x) * (2.0 - x) * (2.0 - x) / 6.0
    } else {
        1.0
    };
    gained * part
}

/// To three digits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive rate")]
fn readable(bps: f64) -> BitRate {
    let whole = bps as u64;
    let step = 10_u64.pow(whole.max(1).ilog10().saturating_sub(2));
    BitRate::from_bps(whole / step * step)
}

/// The burst of a service flow of which only the rate is given.
fn usual_burst(rate: BitRate) -> Bytes {
    rate.bytes_in(USUAL_BURST).max(LEAST_BURST)
}

impl LinkConfig {
    /// Derives parameters not set in the file from the rate; `said` returns true for keys of the file.
    pub fn fit(&mut self, said: impl Fn(&str) -> bool) {
        if !said("channel_rate") && (said("modulation") || said("channels")) {
            if let Some(link) = self.link.get_mut::<CascadeConfig>() {
                link.channel_rate = bonded_rate(link.modulation, link.channels);
            } else if let Some(link) = self.link.get_mut::<SingleQueueConfig>() {
                link.channel_rate = bonded_rate(link.modulation, link.channels);
            }
        }
        if let Some(link) = self.link.get_mut::<CascadeConfig>()
            && !said("transmit_queue")
        {
            let rate = link.shaper.sustained.max(link.shaper.peak);
            let held = rate.min(link.channel_rate).bytes_in(link.longest_loop()).0;
            let packets = u32::try_from(held.div_ceil(FRAME)).unwrap_or(u32::MAX);
            link.transmit_queue = link.transmit_queue.max(Packets(packets));
        }
        if said("burst") {
            return;
        }
        if let Some(link) = self.link.get_mut::<SingleQueueConfig>() {
            link.shaper.burst = usual_burst(link.shaper.sustained);
        } else if let Some(link) = self.link.get_mut::<MemberConfig>() {
            link.shaper.burst = usual_burst(link.shaper.sustained);
        } else if let Some(link) = self.link.get_mut::<DownstreamMemberConfig>() {
            link.shaper.burst = usual_burst(link.shaper.sustained);
        } else if let Some(link) = self.link.get_mut::<UpstreamConfig>() {
            link.burst = usual_burst(link.rate);
        } else if let Some(link) = self.link.get_mut::<DownstreamConfig>() {
            link.burst = usual_burst(link.rate);
        }
    }

    /// Returns limits that keep the link from its rates, without other users of its channel.
    pub fn shortfalls(&self) -> Vec<Shortfall> {
        let mut found = Shortfalls(Vec::new());
        if !self.problems().is_empty() {
            return found.0;
        }
        if let Some(link) = self.link.get::<SingleQueueConfig>() {
            let (rate, peak) = (link.shaper.sustained, link.shaper.peak);
            let interval = link.map_interval;
            found.bucket(rate, link.shaper.burst, interval, regular);
            for key in [("rate", rate), ("peak", peak)] {
                found.channel(key, "channel_rate", link.channel_rate);
            }
            if peak > BitRate::ZERO {
                let depth = link.peak_depth();
                let reaches = depth.0 as f64 * 8.0 / interval.as_secs_f64();
                let why = format!("the bucket of the peak rate, {depth}, is spent once in {interval}");
                found.judge(("peak", peak), "peak_burst", reaches, &why, || String::from("peak_burst_maps = 1"));
            }
        }
        if let Some(link) = self.link.get::<CascadeConfig>() {
            let (rate, peak) = (link.shaper.sustained, link.shaper.peak);
            for key in [("rate", rate), ("peak", peak)] {
                found.channel(key, "channel_rate", link.channel_rate);
            }
            // A packet is in the transmit queue from its request to its grant.
            let loop_ = link.map_interval * (u64::from(link.grant_delay) + 1);
            let held = u64::from(link.transmit_queue.0) * FRAME;
            let reaches = held as f64 * 8.0 / loop_.as_secs_f64();
            let why = format!("{} of full size wait {loop_} for their grant", link.transmit_queue);
            found.judge(("rate", rate), "transmit_queue", reaches, &why, || {
                let needed = rate.bytes_in(link.longest_loop()).0.div_ceil(FRAME);
                format!("transmit_queue = \"{needed} packets\"")
            });
        }
        if let Some(link) = self.link.get::<UpstreamConfig>() {
            let interval = link.timeline().interval;
            let carried = match link.service {
                crate::docsis31::config::Service::Single => scattered,
                crate::docsis31::config::Service::LowLatency => regular,
            };
            found.bucket(link.rate, link.burst, interval, carried);
            for key in [("rate", link.rate), ("peak", link.peak)] {
                found.channel(key, "subcarriers", link.channel.capacity());
            }
            if link.peak > BitRate::ZERO {
                let part = link.peak_interval.as_secs_f64() / interval.as_secs_f64();
                let reaches = link.peak.as_bps() as f64 * part.min(1.0);
                let why = format!("its bucket lasts for {}, and MAPs are {interval} apart", link.peak_interval);
                found.judge(("peak", link.peak), "peak_interval", reaches, &why, || {
                    format!("peak_interval = \"{interval}\"")
                });
            }
        }
        if let Some(link) = self.link.get::<DownstreamConfig>() {
            found.bucket(link.rate, link.burst, link.channel.symbols.length(), regular);
            for key in [("rate", link.rate), ("peak", link.peak)] {
                found.channel(key, "subcarriers", link.capacity());
            }
        }
        // The buckets of a shaper are spent at any time, and a line has none.
        found.0
    }

    /// Returns true if nothing but its own rate holds packets back, to be sent together later: its channel has no other
    /// users, and no noise.
    pub fn is_steady(&self) -> bool {
        let congestion = if let Some(link) = self.link.get::<SingleQueueConfig>() {
            &link.congestion
        } else if let Some(link) = self.link.get::<CascadeConfig>() {
            &link.congestion
        } else if let Some(link) = self.link.get::<UpstreamConfig>() {
            &link.congestion
        } else if let Some(link) = self.link.get::<DownstreamConfig>() {
            &link.congestion
        } else if let Some(link) = self.link.get::<SerialConfig>() {
            return link.impulses.gap.is_none();
        } else if self.link.get::<MemberConfig>().is_some() {
            return false; // neighbours
        } else {
            return self.link.get::<ShapedConfig>().is_some();
        };
        matches!(congestion, crate::CongestionConfig::None)
    }

    /// Returns the time within which it may place allowed bytes freely: an interval of MAPs, a symbol.
    pub fn grant_interval(&self) -> Span {
        if let Some(link) = self.link.get::<SingleQueueConfig>() {
            link.map_interval
        } else if let Some(link) = self.link.get::<CascadeConfig>() {
            link.map_interval
        } else if let Some(link) = self.link.get::<UpstreamConfig>() {
            link.timeline().interval
        } else if let Some(link) = self.link.get::<DownstreamConfig>() {
            link.channel.symbols.length()
        } else if self.link.get::<MemberConfig>().is_some() {
            GroupConfig::BASE.grid().interval
        } else if self.link.get::<DownstreamMemberConfig>().is_some() {
            GroupConfig::BASE.downstream.length()
        } else {
            Span::ZERO
        }
    }

    /// Returns the unit of grants: the bytes of a minislot. Later grants pay back the rounding.
    pub fn grant_unit(&self) -> Bytes {
        let link = self.link.get::<UpstreamConfig>();
        link.map_or(Bytes::ZERO, |link| Bytes(link.timeline().minislot_bytes))
    }
}

impl CascadeConfig {
    /// From the arrival of a packet in the transmit queue to the end of its grant, at most.
    fn longest_loop(&self) -> Span {
        self.map_interval * (u64::from(self.grant_delay) + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShaperConfig;
    use sojourn_keys::Configured;

    fn single(rate: BitRate) -> LinkConfig {
        let mut link = SingleQueueConfig::base();
        link.shaper.sustained = rate;
        link.into()
    }

    #[test]
    fn channels_of_a_modem_make_the_rate_of_its_channel() {
        // White 2012 §2.2.2: 0.8 × modulation × channels. Two channels of 3.2 MHz with 16-QAM: 2.56 Msym/s × 4 bit each.
        let fitted = |mut link: LinkConfig, keys: &[&str]| {
            link.fit(|key| keys.contains(&key));
            link.link.drain_rate()
        };
        let (modulation, channels) = (BitRate::from_kbps(10_240), 2);
        let fast = ShaperConfig { sustained: BitRate::from_mbps(200), ..ShaperConfig::BASE };
        let cascade = CascadeConfig { modulation, channels, shaper: fast, ..CascadeConfig::BASE };
        let single = SingleQueueConfig { modulation, channels, shaper: fast, ..SingleQueueConfig::BASE };
        let queue = sojourn_queue::DropTailConfig::bytes(100_000);
        for link in [cascade.into(), single.into()] {
            let link = LinkConfig { link, queue: queue.into() };
            assert_eq!(fitted(link.clone(), &["modulation", "channels"]), BitRate::from_kbps(16_384));
            assert_eq!(fitted(link.clone(), &["channels"]), BitRate::from_kbps(16_384));
            // A rate that is said counts.
            assert_eq!(fitted(link, &["channels", "channel_rate"]), BitRate::from_bps(98_304_000));
        }
    }

    #[test]
    fn a_bucket_of_the_least_depth_carries_twelve_megabits_at_most() {
        // 3044 B in 2 ms.
        let found = single(BitRate::from_mbps(50)).shortfalls();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].field, found[0].reaches), ("burst", BitRate::from_kbps(12_100)));
        assert_eq!(
            found[0].message,
            "the link reaches 12.1 Mb/s of its rate of 50 Mb/s: a bucket of 3044 B is spent once in 2 ms"
        );
        assert_eq!(found[0].hint, "burst = \"625000 B\", which is 100 ms at the rate");
        assert_eq!(single(BitRate::from_mbps(10)).shortfalls(), []);
    }

    #[test]
    fn what_nobody_has_said_is_fitted_and_what_was_said_stays() {
        let mut link = single(BitRate::from_mbps(50));
        link.fit(|key| key == "burst");
        assert_eq!(link.shortfalls().len(), 1);
        link.fit(|_| false);
        assert_eq!(link.shortfalls(), []);
        let link = link.link.get::<SingleQueueConfig>().expect("the same kind");
        assert_eq!(link.shaper.burst, Bytes(625_000));
        assert_eq!(usual_burst(BitRate::from_kbps(100)), Bytes(3044));
    }

    #[test]
    fn every_part_that_contradicts_a_rate_is_told() {
        let mut link = SingleQueueConfig::base();
        link.shaper.sustained = BitRate::from_mbps(200);
        link.shaper.peak = BitRate::from_mbps(400);
        link.peak_burst_maps = 0;
        let fields: Vec<&str> = LinkConfig::from(link).shortfalls().iter().map(|found| found.field).collect();
        assert_eq!(fields, ["burst", "channel_rate", "channel_rate", "peak_burst"]);
        let slow_maps = UpstreamConfig { map_interval: Span::from_ms(10), ..UpstreamConfig::WHITE2019 };
        let found = LinkConfig::from(slow_maps).shortfalls();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].field, found[0].reaches), ("peak_interval", BitRate::from_mbps(20)));
    }
}
