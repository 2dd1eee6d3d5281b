//! Single links against queueing theory: M/D/1 and M/M/1 waiting times, the token-bucket arrival
//! curve.
//!
//! Waits of one long run are correlated, so the confidence bounds come from batch means.

use sojourn_base::{BitRate, Bytes, Instant, Limit, Meta, PacketHandle, Seed, Span, dist};
use sojourn_link::{
    Draw, LinkConfig, LinkContext, Loss, Mark, Passage, Pull, Rule, SerialConfig, ShapedConfig, ShaperConfig,
};
use sojourn_queue::{Admission, DropTailConfig, ManagerConfig};

/// Collects passages; nothing may be lost.
#[derive(Default)]
struct Collector {
    passages: Vec<(u32, Passage)>,
}

impl LinkContext for Collector {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, _: PacketHandle, meta: &Meta, passage: &Passage) {
        self.passages.push((meta.length, *passage));
    }
    fn dropped(&mut self, _: PacketHandle, _: &Meta, loss: &Loss) {
        panic!("an unlimited queue lost a packet: {loss:?}");
    }
    fn marked(&mut self, _: PacketHandle, _: &Meta, mark: &Mark) {
        panic!("a drop-tail queue marked a packet: {mark:?}");
    }
    fn unit(&mut self, purpose: Draw) -> f64 {
        panic!("a drop-tail queue on a line needs no chance: {purpose:?}");
    }
}

fn unlimited() -> ManagerConfig {
    ManagerConfig::from(DropTailConfig {
        limit: Limit::Bytes(Bytes(u64::MAX)),
        admission: Admission::Fit,
        head_drop: false,
    })
}

/// Sends packets of `length(u)` bytes with exponential gaps of `mean_gap` through `link`.
fn drive(link: &LinkConfig, mean_gap: Span, packets: u32, length: impl Fn(f64) -> u32) -> Vec<(u32, Passage)> {
    let mut link = link.build();
    let mut context = Collector::default();
    let (mut gaps, mut lengths) = (Seed(1).stream("gaps"), Seed(1).stream("lengths"));
    let mut now = Instant::ZERO;
    for _ in 0..packets {
        let arrival = now + Span::from_secs_f64(dist::exponential(gaps.unit(), mean_gap.as_secs_f64()));
        while link.next_wakeup() <= arrival {
            let at = link.next_wakeup();
            link.wake(at, &mut context);
        }
        now = arrival;
        let meta = Meta { length: length(lengths.unit()), ..Meta::default() };
        link.arrive(now, meta, PacketHandle::default(), &mut context);
    }
    while link.next_wakeup() < Instant::NEVER {
        let at = link.next_wakeup();
        link.wake(at, &mut context);
    }
    assert_eq!(context.passages.len(), packets as usize, "every packet arrives");
    context.passages
}

/// Mean of `values` and four standard errors from 20 batch means.
fn mean_and_bound(values: &[f64]) -> (f64, f64) {
    let batches: Vec<f64> =
        values.chunks_exact(values.len() / 20).map(|batch| batch.iter().sum::<f64>() / batch.len() as f64).collect();
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let variance = batches.iter().map(|batch| (batch - mean) * (batch - mean)).sum::<f64>();
    (mean, 4.0 * (variance / (count - 1.0) / count).sqrt())
}

fn waits_ms(passages: &[(u32, Passage)]) -> Vec<f64> {
    // The first tenth is the way into steady state.
    let steady = &passages[passages.len() / 10..];
    steady.iter().map(|(_, passage)| passage.delay.queue.as_ms_f64()).collect()
}

fn line_at_12_mbps() -> LinkConfig {
    let rate = BitRate::from_mbps(12); // 1500 B take 1 ms
    LinkConfig { link: SerialConfig::plain(rate, Span::ZERO).into(), queue: unlimited() }
}

#[test]
fn waiting_with_constant_service_follows_m_d_1() {
    for load in [0.5, 0.8] {
        let gap = Span::from_secs_f64(0.001 / load);
        let waits = waits_ms(&drive(&line_at_12_mbps(), gap, 200_000, |_| 1500));
        let (mean, bound) = mean_and_bound(&waits);
        let theory = load / (2.0 * (1.0 - load)); // ρ D / (2 (1 - ρ)) with D = 1 ms
        assert!((mean - theory).abs() < bound, "load {load}: {mean} ± {bound}, theory {theory}");
        assert!(bound < 0.1 * theory, "load {load}: the bound {bound} says nothing");
    }
}

#[test]
fn waiting_with_exponential_service_follows_m_m_1() {
    let load = 0.7;
    let gap = Span::from_secs_f64(0.01 / load);
    // Mean 15,000 B = 10 ms; whole bytes are fine enough not to matter.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths")]
    let length = |unit| (dist::exponential(unit, 15_000.0) + 0.5) as u32;
    let waits = waits_ms(&drive(&line_at_12_mbps(), gap, 300_000, length));
    let (mean, bound) = mean_and_bound(&waits);
    let theory = 10.0 * load / (1.0 - load); // ρ / (μ - λ)
    assert!((mean - theory).abs() < bound, "{mean} ± {bound}, theory {theory}");
    assert!(bound < 0.15 * theory, "the bound {bound} says nothing");
}

#[test]
fn a_token_bucket_keeps_its_arrival_curve_in_every_interval() {
    let shaper = ShaperConfig {
        sustained: BitRate::from_mbps(5),
        burst: Bytes(100_000),
        peak: BitRate::from_mbps(20),
        peak_burst: Bytes(1522),
    };
    let link = LinkConfig {
        link: ShapedConfig { shaper, rule: Rule::Bucket, pull: Pull::Ahead, delay: Span::ZERO }.into(),
        queue: unlimited(),
    };
    // Offered: 1500 B each 2 ms on average, 6 Mb/s, more than the sustained rate.
    let passages = drive(&link, Span::from_ms(2), 5_000, |_| 1500);
    let departures: Vec<(Instant, u64)> =
        passages.iter().map(|(length, p)| (p.dequeued_at, u64::from(*length))).collect();
    let mut tightest = u64::MAX;
    for first in 0..departures.len() {
        let mut sent = 0;
        for &(at, length) in &departures[first..(first + 600).min(departures.len())] {
            sent += length;
            let span = at.saturating_since(departures[first].0);
            let sustained = shaper.sustained.bytes_in(span).0 + shaper.burst.0;
            let peak = shaper.peak.bytes_in(span).0 + shaper.peak_burst.0;
            assert!(sent <= sustained.min(peak) + 1, "{sent} B in {span}");
            tightest = tightest.min(sustained - sent);
        }
    }
    assert!(tightest < 1500, "the shaper was never at its limit: {tightest} B short");
}
