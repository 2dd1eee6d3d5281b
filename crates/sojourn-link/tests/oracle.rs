//! The two DOCSIS modems against slow, literal simulations that step every MAP.

use crate::support::{Manners, Recorder, drive, stream};
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Instant, Packets, Span};
use sojourn_link::{
    AnyLink, CascadeConfig, CongestionConfig, Draw, Forwarding, LinkConfig, Pull, ShaperConfig, SingleQueueConfig,
};
use sojourn_queue::{DropTailConfig, ManagerConfig};
use std::collections::VecDeque;

const MAP: u64 = 2_000_000_000; // 2 ms in picoseconds
const CHANNEL: BitRate = BitRate::from_bps(98_304_000);
const LIMIT: u64 = 20_000;
const SHAPER: ShaperConfig = ShaperConfig { burst: Bytes(15_000), ..ShaperConfig::WHITE2012_UPSTREAM };
const COST: i128 = 8_000_000_000_000;

/// A token bucket by its definition: a level in bit × 10^-12.
struct Bucket {
    rate: i128,
    depth: i128,
    level: i128,
    at: u64,
}

impl Bucket {
    fn new(rate: BitRate, depth: u64) -> Self {
        let depth = i128::from(depth) * COST;
        Self { rate: i128::from(rate.as_bps()), depth, level: depth, at: 0 }
    }

    fn accrue(&mut self, now: u64) {
        self.level = self.depth.min(self.level + self.rate * i128::from(now - self.at));
        self.at = now;
    }

    fn bytes(&self) -> u64 {
        u64::try_from(self.level / COST).expect("no debts here")
    }

    fn change(&mut self, bytes: i128) {
        self.level = self.depth.min(self.level + bytes * COST);
    }

    /// Returns the time at which the level first reaches `bytes`.
    fn earliest(&self, bytes: u64) -> u64 {
        let missing = (i128::from(bytes) * COST - self.level).max(0);
        let wait = (missing + self.rate - 1) / self.rate;
        self.at + u64::try_from(wait).expect("a wait of days")
    }
}

fn on_air(bytes: u64) -> u64 {
    CHANNEL.time_for(Bytes(bytes)).as_ps()
}

/// The draws of the first MAPs of a purpose.
fn draws(purpose: Draw, maps: usize) -> Vec<f64> {
    let mut stream = stream(purpose);
    (0..maps).map(|_| stream.unit()).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn largest_grant(mean: u64, variation: f64, unit: f64) -> u64 {
    let low = (mean as f64 * (1.0 - variation)).round();
    let high = (mean as f64 * (1.0 + variation)).round();
    (low + ((high - low + 1.0) * unit).floor()) as u64
}

type Packet = (u32, u64); // number, bytes left

/// The modem of White 2012 behind a drop-tail queue: `(number, arrival in ps)` of what is delivered.
fn literal_cascade(
    arrivals: &[(Instant, u32)],
    places: usize,
    mean: u64,
    pull: Pull,
    forwarding: Forwarding,
    grant_delay: usize,
) -> Vec<(u32, u64)> {
    let mut sustained = Bucket::new(SHAPER.sustained, SHAPER.burst.0);
    let mut peak = Bucket::new(SHAPER.peak, SHAPER.peak_burst.0);
    let sizes = draws(Draw::GrantSize, 100_000);
    let mut arrivals = arrivals.iter().zip(0..).peekable();
    let (mut shaping, mut transmit) = (VecDeque::<Packet>::new(), VecDeque::<Packet>::new());
    // The packet that the shaper took from the queue before its tokens were there.
    let mut taken: Option<Packet> = None;
    // Requested bytes, by the MAP that can grant them first; for a delay of two MAPs the paper's REQ(0) and REQ(1).
    let mut requests = vec![0_u64; grant_delay];
    let mut delivered = Vec::new();
    let mut map = 0;
    // One packet is forwarded at a time: behind the first of a burst nothing moves before this.
    let (mut last_arrival, mut forwards_at) = (u64::MAX, 0);
    loop {
        let due = |p: &Packet| sustained.earliest(p.1).max(peak.earliest(p.1));
        let release = taken.as_ref().or(shaping.front()).map_or(u64::MAX, |p| due(p).max(forwards_at));
        let arrival = arrivals.peek().map_or(u64::MAX, |((at, _), _)| at.as_ps());
        let map_at = map as u64 * MAP;
        if release.min(arrival) == u64::MAX && transmit.is_empty() {
            return delivered;
        }
        let untaken = pull == Pull::Ahead && taken.is_none() && !shaping.is_empty();
        let take = if untaken { forwards_at } else { u64::MAX };
        let now = map_at.min(release).min(arrival).min(take);
        if map_at == now {
            let grant = largest_grant(mean, 0.2, sizes[map]).min(requests[0]);
            let rest = requests.remove(0) - grant;
            if let Some(next) = requests.first_mut() {
                *next += rest;
            }
            let mut offset = 0;
            while offset < grant {
                let head = transmit.front_mut().expect("granted bytes are queued");
                let sent = head.1.min(grant - offset);
                head.1 -= sent;
                offset += sent;
                if head.1 == 0 {
                    delivered.push((head.0, now + on_air(offset) + 1_000_000_000));
                    transmit.pop_front();
                }
            }
        }
        // Packets that move at this very instant are in time for the MAP's request.
        loop {
            sustained.accrue(now);
            peak.accrue(now);
            if pull == Pull::Ahead && taken.is_none() && forwards_at <= now {
                taken = shaping.pop_front();
            }
            if let Some((number, bytes)) = taken.or(shaping.front().copied())
                && sustained.earliest(bytes).max(peak.earliest(bytes)) <= now
                && forwards_at <= now
            {
                if taken.take().is_none() {
                    shaping.pop_front();
                }
                sustained.change(-i128::from(bytes));
                peak.change(-i128::from(bytes));
                if transmit.len() < places {
                    transmit.push_back((number, bytes));
                }
            } else if let Some(((_, length), number)) = arrivals.next_if(|((at, _), _)| at.as_ps() == now) {
                let held: u64 = shaping.iter().map(|p| p.1).sum();
                if held + u64::from(*length) <= LIMIT {
                    shaping.push_back((number, u64::from(*length)));
                }
                if last_arrival == now && forwarding == Forwarding::OneAtATime {
                    forwards_at = now + 1;
                }
                last_arrival = now;
            } else {
                break;
            }
        }
        if map_at == now {
            let requested = requests.iter().sum::<u64>();
            requests.push(transmit.iter().map(|p| p.1).sum::<u64>() - requested);
            map += 1;
        }
    }
}

/// The modem of White 2013 behind a drop-tail queue: `(number, arrival in ps)` of what is delivered.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn literal_single(arrivals: &[(Instant, u32)], mean: u64, peak_burst_maps: u64, grant_delay: usize) -> Vec<(u32, u64)> {
    let mut sustained = Bucket::new(SHAPER.sustained, SHAPER.burst.0);
    // 1522 B, and 5000 B for each 2 ms at 20 Mb/s.
    let mut peak = Bucket::new(SHAPER.peak, 1522 + 5000 * peak_burst_maps);
    let sizes = draws(Draw::GrantSize, 100_000);
    let places = draws(Draw::GrantOffset, 100_000);
    let mut arrivals = arrivals.iter().zip(0..).peekable();
    let mut queue = VecDeque::<Packet>::new();
    let mut fragment: Option<Packet> = None;
    let mut out = VecDeque::<(u64, usize)>::new();
    let mut delivered = Vec::new();
    for map in 0.. {
        let map_at = map as u64 * MAP;
        sustained.accrue(map_at);
        peak.accrue(map_at);
        // Grant.
        let eligible: u64 = out.iter().filter(|(_, m)| m + grant_delay <= map).map(|(b, _)| b).sum();
        let grant = eligible.min(largest_grant(mean, 0.2, sizes[map]));
        let mut rest = grant;
        while rest > 0 {
            let taken = out[0].0.min(rest);
            out[0].0 -= taken;
            rest -= taken;
            if out[0].0 == 0 {
                out.pop_front();
            }
        }
        let begins = map_at + ((MAP - on_air(grant)) as f64 * places[map]) as u64;
        // Request.
        let held = queue.iter().map(|p| p.1).sum::<u64>() + fragment.map_or(0, |p| p.1);
        let known = out.iter().map(|(bytes, _)| bytes).sum::<u64>() + grant;
        let request = held.saturating_sub(known).min(sustained.bytes()).min(peak.bytes());
        if request > 0 {
            out.push_back((request, map));
            sustained.change(-i128::from(request));
            peak.change(-i128::from(request));
        }
        // The interval.
        let mut granted = grant == 0;
        let mut next_arrival = || arrivals.next_if(|((at, _), _)| at.as_ps() < map_at + MAP);
        let mut arrival = next_arrival();
        while arrival.is_some() || !granted {
            let due = arrival.map_or(u64::MAX, |((at, _), _)| at.as_ps());
            if !granted && begins <= due {
                granted = true;
                let mut offset = 0;
                while offset < grant
                    && let Some((number, bytes)) = fragment.take().or_else(|| queue.pop_front())
                {
                    let sent = bytes.min(grant - offset);
                    offset += sent;
                    if sent == bytes {
                        delivered.push((number, begins + on_air(offset) + 1_000_000_000));
                    } else {
                        fragment = Some((number, bytes - sent));
                    }
                }
                sustained.accrue(begins);
                peak.accrue(begins);
                sustained.change(i128::from(grant - offset));
                peak.change(i128::from(grant - offset));
            } else if let Some(((_, length), number)) = arrival {
                let held: u64 = queue.iter().map(|p| p.1).sum();
                if held + u64::from(*length) <= LIMIT {
                    queue.push_back((number, u64::from(*length)));
                }
                arrival = next_arrival();
            }
        }
        if queue.is_empty() && fragment.is_none() && out.is_empty() && arrivals.peek().is_none() {
            break;
        }
    }
    delivered
}

fn arrivals() -> impl Strategy<Value = Vec<(Instant, u32)>> {
    let gap = prop_oneof![3 => Just(0_u64), 5 => 1..30_u64, 1 => 30..3_000_u64];
    let length = prop_oneof![Just(1500_u32), Just(40), 20..1522_u32];
    prop::collection::vec((gap, length), 1..200).prop_map(|steps| {
        let mut now = Instant::ZERO;
        let step = |(gap, length)| {
            now += Span::from_us(100) * gap;
            (now, length)
        };
        steps.into_iter().map(step).collect()
    })
}

fn ours(link: &LinkConfig, arrivals: &[(Instant, u32)]) -> Vec<(u32, u64)> {
    let mut recorder = Recorder::new();
    let mut link: AnyLink = link.build();
    drive(&mut link, arrivals, Manners::Plain, &mut recorder, |_, _, _| {});
    let arrival = |(item, _, passage): &(u32, _, sojourn_link::Passage)| (*item, passage.arrives_at.as_ps());
    recorder.delivered().iter().map(arrival).collect()
}

fn queue() -> ManagerConfig {
    ManagerConfig::from(DropTailConfig::bytes(LIMIT))
}

fn congestion(mean: u64) -> CongestionConfig {
    CongestionConfig::GrantSize { mean: Bytes(mean), variation: 0.2 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_cascade_delivers_as_the_literal_model(
        arrivals in arrivals(),
        places in 1..40_u32,
        mean in prop_oneof![Just(1250_u64), Just(5000), 100..3000_u64],
        pull in 0..2_usize,
        forwarding in 0..2_usize,
        grant_delay in 1..7_u32,
    ) {
        let pull = Pull::ALL[pull];
        let forwarding = Forwarding::ALL[forwarding];
        let link = LinkConfig {
            link: CascadeConfig {
                shaper: SHAPER,
                pull,
                transmit_queue: Packets(places),
                forwarding,
                grant_delay,
                congestion: congestion(mean),
                ..CascadeConfig::WHITE2012
            }.into(),
            queue: queue(),
        };
        prop_assert_eq!(
            ours(&link, &arrivals),
            literal_cascade(
                &arrivals, places as usize, mean, pull, forwarding, grant_delay as usize
            )
        );
    }

    #[test]
    fn the_single_queue_delivers_as_the_literal_model(
        arrivals in arrivals(),
        mean in prop_oneof![Just(1250_u64), Just(5000), 100..3000_u64],
        peak_burst_maps in 0..4_u32,
        grant_delay in 1..7_u32,
    ) {
        let link = LinkConfig {
            link: SingleQueueConfig {
                shaper: SHAPER,
                peak_burst_maps,
                grant_delay,
                congestion: congestion(mean),
                ..SingleQueueConfig::WHITE2013
            }.into(),
            queue: queue(),
        };
        prop_assert_eq!(
            ours(&link, &arrivals),
            literal_single(&arrivals, mean, u64::from(peak_burst_maps), grant_delay as usize)
        );
    }
}
