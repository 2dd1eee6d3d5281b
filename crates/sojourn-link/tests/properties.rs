//! Properties of every link, for any arrivals.

use crate::support::{FLOWS, Manners, Outcome, Recorder, drive};
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Packets, Span};
use sojourn_link::{
    AnyLink, CascadeConfig, CascadeVariant, CongestionConfig, ImpulseConfig, LinkConfig, Loss, Pull, RateCycle, Rule,
    SerialConfig, ShapedConfig, ShaperConfig, SingleQueueConfig,
};
use sojourn_queue::{
    CodelConfig, CodelLaw, DocsisPieConfig, DropTailConfig, FqCodelConfig, ManagerConfig, PieConfig, PrioritisedConfig,
    SfqCodelConfig,
};

/// 5 Mb/s with a burst that is spent within a test, so that both rates matter.
const SHAPER: ShaperConfig = ShaperConfig { burst: Bytes(30_000), ..ShaperConfig::WHITE2012_UPSTREAM };

fn managers() -> impl Strategy<Value = ManagerConfig> {
    let quick_codel = CodelConfig {
        law: CodelLaw { target: Span::from_ms(2), interval: Span::from_ms(10), ..CodelLaw::WHITE2012 },
        limit: Limit::Packets(Packets(200)),
    };
    prop_oneof![
        Just(ManagerConfig::from(DropTailConfig::bytes(12_000))),
        Just(ManagerConfig::from(DropTailConfig::bytes(1_000_000))),
        Just(ManagerConfig::from(DropTailConfig { head_drop: true, ..DropTailConfig::bytes(20_000) })),
        Just(ManagerConfig::from(DropTailConfig { limit: Limit::Time(Span::from_ms(40)), ..DropTailConfig::bytes(0) })),
        Just(ManagerConfig::from(quick_codel)),
        Just(ManagerConfig::from(SfqCodelConfig::WHITE2013)),
        Just(ManagerConfig::from(FqCodelConfig::RFC8290)),
        Just(ManagerConfig::from(PieConfig::WHITE2013)),
        Just(ManagerConfig::from(DocsisPieConfig::RFC8034).at(SHAPER.sustained)),
        Just(ManagerConfig::from(PrioritisedConfig::before(ManagerConfig::from(DropTailConfig::bytes(12_000))))),
    ]
}

fn congestions() -> impl Strategy<Value = CongestionConfig> {
    let cycle = RateCycle {
        levels: vec![BitRate::from_kbps(900), BitRate::ZERO, BitRate::from_mbps(12)],
        order: vec![0, 1, 2],
        dwell: Span::from_ms(9),
        phase: 2,
        variation: 0.3,
        exhaustive: false,
    };
    prop_oneof![
        Just(CongestionConfig::None),
        Just(CongestionConfig::WHITE2012_BORDERLINE),
        Just(CongestionConfig::GrantSize { mean: Bytes(300), variation: 1.0 }),
        Just(CongestionConfig::Schedule(cycle)),
    ]
}

fn links() -> impl Strategy<Value = LinkConfig> {
    let serial =
        (managers(), 0..20_u64, prop::option::of(2..2_000_u64)).prop_map(|(queue, interleaving, gap)| LinkConfig {
            link: SerialConfig {
                interleaving: Span::from_ms(interleaving),
                impulses: ImpulseConfig { gap: gap.map(Span::from_ms), ..ImpulseConfig::NONE },
                ..SerialConfig::plain(BitRate::from_bps(7_654_321), Span::from_ms(3))
            }
            .into(),
            queue,
        });
    let shaped = (managers(), 0..2_usize, 0..2_usize).prop_map(|(queue, pull, rule)| LinkConfig {
        link: ShapedConfig {
            shaper: ShaperConfig {
                peak: match Rule::ALL[rule] {
                    Rule::Bucket => SHAPER.peak,
                    Rule::Deficit => BitRate::ZERO,
                },
                ..SHAPER
            },
            rule: Rule::ALL[rule],
            pull: Pull::ALL[pull],
            delay: Span::from_ms(1),
        }
        .into(),
        queue,
    });
    let cascade = (managers(), congestions(), 0..3_usize, 2..40_u32, 0..2_usize).prop_map(
        |(queue, congestion, variant, places, pull)| LinkConfig {
            link: CascadeConfig {
                shaper: SHAPER,
                pull: Pull::ALL[pull],
                congestion,
                variant: CascadeVariant::ALL[variant],
                transmit_queue: Packets(places),
                ..CascadeConfig::WHITE2012
            }
            .into(),
            queue,
        },
    );
    let single = (managers(), congestions()).prop_map(|(queue, congestion)| LinkConfig {
        link: SingleQueueConfig { shaper: SHAPER, congestion, ..SingleQueueConfig::WHITE2013 }.into(),
        queue,
    });
    prop_oneof![serial, shaped, cascade, single]
}

/// Bursts and pauses; times in units of 100 µs, so that many fall on the start of a MAP or on other
/// arrivals.
fn arrivals() -> impl Strategy<Value = Vec<(Instant, u32)>> {
    let gap = prop_oneof![3 => Just(0_u64), 5 => 1..20_u64, 1 => 20..2_000_u64];
    let length = prop_oneof![Just(1500_u32), Just(40), 20..1600_u32];
    prop::collection::vec((gap, length), 1..150).prop_map(|steps| {
        let mut now = Instant::ZERO;
        let step = |(gap, length)| {
            now += Span::from_us(100) * gap;
            (now, length)
        };
        steps.into_iter().map(step).collect()
    })
}

fn run(config: &LinkConfig, arrivals: &[(Instant, u32)], manners: Manners) -> Recorder {
    let mut link: AnyLink = config.build();
    let mut recorder = Recorder::new();
    drive(&mut link, arrivals, manners, &mut recorder, |_, _, _| {});
    recorder
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn packets_and_bytes_are_conserved_at_every_moment(
        config in links(),
        arrivals in arrivals(),
    ) {
        let mut link: AnyLink = config.build();
        let mut recorder = Recorder::new();
        prop_assert_eq!(link.next_wakeup(), Instant::NEVER);
        let mut ok = Ok(());
        drive(&mut link, &arrivals, Manners::Plain, &mut recorder, |now, link, recorder| {
            let offered = arrivals.iter().filter(|(at, _)| *at < now).count();
            let at_most = arrivals.iter().filter(|(at, _)| *at <= now).count();
            let (waiting, staged) = (link.backlog(), link.staged());
            let gone = recorder.outcomes.len();
            let here = (waiting.packets.0 + staged.packets.0) as usize;
            let bytes_gone: u64 = recorder.outcomes.iter().map(|(_, outcome)| match outcome {
                Outcome::Delivered(_, meta, _) | Outcome::Dropped(_, meta, ..) => {
                    u64::from(meta.length)
                }
            }).sum();
            let bytes_here = waiting.bytes.0 + staged.bytes.0;
            let bytes_offered: u64 = arrivals[..gone + here].iter().map(|a| u64::from(a.1)).sum();
            // The sent part of a fragment is neither here nor gone.
            let in_between = bytes_offered.checked_sub(bytes_gone + bytes_here);
            if !(offered..=at_most).contains(&(gone + here)) || in_between.is_none_or(|b| b >= 1600) {
                ok = Err(TestCaseError::fail(format!(
                    "at {now:?}: {gone} gone, {here} here, {offered} offered, {in_between:?} B between"
                )));
            }
        });
        ok?;
        let mut items: Vec<u32> = recorder.outcomes.iter().map(|(_, outcome)| match outcome {
            Outcome::Delivered(item, ..) | Outcome::Dropped(item, ..) => *item,
        }).collect();
        items.sort_unstable();
        prop_assert_eq!(items, (0..u32::try_from(arrivals.len()).unwrap()).collect::<Vec<_>>());
        prop_assert_eq!(link.backlog().packets + link.staged().packets, Packets::ZERO);
        if let Some(counters) = link.counters() {
            prop_assert_eq!(counters.requested, counters.granted);
        }
    }

    #[test]
    fn deliveries_are_causal_ordered_and_explained(config in links(), arrivals in arrivals()) {
        let recorder = run(&config, &arrivals, Manners::Plain);
        let line = config.link.get::<SerialConfig>();
        let interleaving = line.map_or(Span::ZERO, |line| line.interleaving);
        let mut last_at = Instant::ZERO;
        let mut last_of_flow = [None; FLOWS as usize];
        for (announced_at, outcome) in &recorder.outcomes {
            match outcome {
                Outcome::Delivered(item, meta, passage) => {
                    let (entered_at, length) = arrivals[*item as usize];
                    prop_assert_eq!(passage.entered_at, entered_at);
                    prop_assert_eq!(meta.length, length);
                    prop_assert!(passage.dequeued_at >= entered_at);
                    prop_assert!(passage.dequeued_at <= *announced_at);
                    prop_assert!(*announced_at + config.delay() <= passage.arrives_at);
                    prop_assert_eq!(entered_at + passage.delay.total(), passage.arrives_at);
                    prop_assert_eq!(passage.delay.wire + interleaving, config.delay());
                    prop_assert!(passage.delay.pipeline >= interleaving);
                    prop_assert!(passage.arrives_at >= last_at);
                    last_at = passage.arrives_at;
                    let flow = &mut last_of_flow[meta.flow_hash as usize];
                    prop_assert!(*flow < Some(*item), "order within a flow");
                    *flow = Some(*item);
                }
                Outcome::Dropped(item, _, Loss { entered_at, .. }) => {
                    prop_assert_eq!(*entered_at, arrivals[*item as usize].0);
                    prop_assert!(*announced_at >= *entered_at);
                }
            }
        }
    }

    #[test]
    fn every_mark_is_announced_once_and_leaves_with_its_packet(
        config in links(),
        arrivals in arrivals(),
    ) {
        let recorder = run(&config, &arrivals, Manners::Plain);
        let mut announced: Vec<u32> = recorder.marks.iter().map(|(item, _)| *item).collect();
        for (item, mark) in &recorder.marks {
            prop_assert_eq!(item % 2, 0, "only these are ECN-capable");
            prop_assert_eq!(mark.entered_at, arrivals[*item as usize].0);
        }
        let mut carried: Vec<u32> = recorder.outcomes.iter().filter_map(|(_, outcome)| match outcome {
            Outcome::Delivered(item, meta, _) | Outcome::Dropped(item, meta, _) => {
                (meta.ecn == Ecn::Ce).then_some(*item)
            }
        }).collect();
        announced.sort_unstable();
        carried.sort_unstable();
        prop_assert_eq!(announced, carried);
    }

    #[test]
    fn neither_early_calls_nor_the_order_of_simultaneous_ones_matter(
        config in links(),
        arrivals in arrivals(),
    ) {
        let plain = run(&config, &arrivals, Manners::Plain);
        for manners in [Manners::ArrivalsFirst, Manners::Impatient] {
            let other = run(&config, &arrivals, manners);
            prop_assert_eq!(&plain.outcomes, &other.outcomes, "{:?}", manners);
        }
    }

    #[test]
    fn no_interval_from_the_start_carries_more_than_the_buckets_allow(
        config in links(),
        arrivals in arrivals(),
    ) {
        let line = config.link.get::<SerialConfig>();
        let (rate, burst) =
            line.map_or((SHAPER.sustained, SHAPER.burst.0), |line| (line.rate, 0));
        let recorder = run(&config, &arrivals, Manners::Plain);
        let mut sent = 0;
        for (_, meta, passage) in recorder.delivered() {
            sent += u128::from(meta.length);
            let ps = passage.arrives_at.as_ps() - config.delay().as_ps();
            let allowed = u128::from(rate.as_bps()) * u128::from(ps);
            prop_assert!((sent - u128::from(burst).min(sent)) * 8_000_000_000_000 <= allowed);
        }
    }

    #[test]
    fn the_shaper_of_a_cascade_keeps_the_peak_rate_over_any_interval(arrivals in arrivals()) {
        let config = LinkConfig {
            link: CascadeConfig::WHITE2012.into(),
            queue: ManagerConfig::from(DropTailConfig::bytes(1_000_000)),
        };
        let delivered = run(&config, &arrivals, Manners::Plain).delivered();
        let peak = ShaperConfig::WHITE2012_UPSTREAM;
        for (i, (_, _, from)) in delivered.iter().enumerate() {
            let mut sent = 0;
            for (_, meta, until) in &delivered[i..] {
                sent += u64::from(meta.length);
                let span = until.dequeued_at.saturating_since(from.dequeued_at);
                // One more than the bytes of the interval, because those are rounded down. A packet
                // of up to 1600 B may exceed the depth.
                let allowed = peak.peak.bytes_in(span).0 + 1 + peak.peak_burst.0.max(1600);
                prop_assert!(sent <= allowed, "{} in {}", sent, span);
            }
        }
    }
}
