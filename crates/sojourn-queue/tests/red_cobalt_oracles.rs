//! Differential tests of RED and COBALT against slow, literal versions of the code that they follow.

use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, Packets, Span};
use sojourn_queue::{
    CobaltConfig, CobaltLaw, CobaltQueue, QueueManager, Reason, RedClassConfig, RedConfig,
    RedQueue, Verdict,
};
use sojourn_testkit::context::TestContext;
use sojourn_testkit::oracle::{cobalt, codel, red};

/// A packet arrives, or one is served, after a pause in microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { meta: Meta, unit: f64 },
    Serve { after_us: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![Just(1500_u32), 40..1500_u32];
    let step = prop_oneof![
        4 => (length, any::<bool>(), 0.0..1.0).prop_map(|(length, capable, unit)| {
            let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
            Step::Arrive { meta: Meta { length, ecn, ..Meta::default() }, unit }
        }),
        3 => (0..3_000_u64).prop_map(|after_us| Step::Serve { after_us }),
        1 => (0..30_000_u64).prop_map(|after_us| Step::Serve { after_us }),
    ];
    prop::collection::vec(step, 200..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn red_does_what_the_code_of_ns_2_does(
        in_bytes in any::<bool>(),
        minimum in 1..20_u32,
        width in 1..40_u32,
        most in 0.01..1.0_f64,
        weight in 0.002..0.9_f64,
        gentle in any::<bool>(),
        wait in any::<bool>(),
        scale_by_size in any::<bool>(),
        ecn in any::<bool>(),
        mark_limit in prop_oneof![Just(None), (0.01..1.0).prop_map(Some)],
        steps in steps(),
    ) {
        let threshold = |packets: u32| Some(if in_bytes {
            Limit::Bytes(Bytes(u64::from(packets) * 1000))
        } else {
            Limit::Packets(Packets(packets))
        });
        let limit = threshold(60).expect("a limit");
        let mut queue = RedQueue::new(RedConfig {
            limit,
            curve: RedClassConfig {
                minimum: threshold(minimum),
                maximum: threshold(minimum + width),
                most,
                ..RedConfig::AKHTAR2013.curve
            },
            weight: Some(weight),
            mean_packet: 1000,
            gentle,
            wait,
            scale_by_size,
            ecn,
            mark_limit,
            ..RedConfig::AKHTAR2013
        });
        let unit = if in_bytes { 1000.0 } else { 1.0 };
        let mut oracle = red::RedOracle::new(red::Parameters {
            th_min: f64::from(minimum) * unit,
            th_max: f64::from(minimum + width) * unit,
            max_p: most,
            q_w: weight,
            limit: 60.0 * unit,
            gentle,
            wait,
            bytes: scale_by_size,
            queue_in_bytes: in_bytes,
            mean_pkt: 1000.0,
            // 8 Mb/s, 1000 B.
            ptc: 1000.0,
            setbit: ecn,
            mark_p: mark_limit,
        });
        let mut now = Instant::ZERO;
        let seconds = |now: Instant| now.as_ps() as f64 / 1e12;
        for step in steps {
            match step {
                Step::Arrive { meta, unit } => {
                    let mut context = TestContext::always(unit);
                    context.shaper.sustained = BitRate::from_mbps(8);
                    let verdict = queue.enqueue(now, meta, (), &mut context);
                    let found = match verdict {
                        Verdict::Dropped(Reason::Early) => red::Outcome::Early,
                        Verdict::Dropped(Reason::Forced) => red::Outcome::Forced,
                        Verdict::Dropped(_) => red::Outcome::Overlimit,
                        _ if context.marked.is_empty() => red::Outcome::Accept,
                        _ => red::Outcome::Mark,
                    };
                    let expected = oracle.enqueue(seconds(now), f64::from(meta.length), meta.ecn.is_capable(), unit);
                    if oracle.margin < 1e-9 {
                        return Ok(());
                    }
                    prop_assert_eq!(found, expected);
                    let (ours, theirs) = (queue.red().average(), oracle.average());
                    prop_assert!((ours - theirs).abs() <= 1e-9 * theirs.max(1.0), "{} is not {}", ours, theirs);
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let mut context = TestContext::without_draws();
                    let _ = queue.dequeue(now, &mut context);
                    oracle.dequeue(seconds(now));
                }
            }
        }
    }

    #[test]
    fn cobalt_does_what_the_code_of_ns_3_does(
        target_us in 100..8_000_u64,
        interval_us in 8_000..40_000_u64,
        limit in prop_oneof![Just(30_u32), Just(10_000)],
        ecn in any::<bool>(),
        step_of_blue in 0.01..0.5_f64,
        blue_threshold_us in 5_000..60_000_u64,
        unit in 0.0..1.0_f64,
        steps in steps(),
    ) {
        let law = CobaltLaw {
            target: Span::from_us(target_us),
            interval: Span::from_us(interval_us),
            ecn,
            increment: step_of_blue,
            decrement: step_of_blue / 16.0,
            blue_threshold: Span::from_us(blue_threshold_us),
            ..CobaltLaw::LINUX
        };
        let mut queue = CobaltQueue::new(CobaltConfig { law, limit: Limit::Packets(Packets(limit)) });
        let mut now = Instant::from_ms(1);
        let ps = |now: Instant| i128::from(now.as_ps());
        let mut oracle = cobalt::CobaltOracle::new(cobalt::Parameters {
            target: i128::from(law.target.as_ps()),
            interval: i128::from(law.interval.as_ps()),
            limit: limit as usize,
            ecn,
            increment: law.increment,
            decrement: law.decrement,
            blue_threshold: i128::from(law.blue_threshold.as_ps()),
        }, ps(now));
        let mut context = TestContext::always(unit);
        // The first packet starts the clock of BLUE.
        let first = Step::Arrive { meta: Meta { length: 100, ..Meta::default() }, unit };
        for (number, step) in (0..).zip(core::iter::once(first).chain(steps)) {
            match step {
                Step::Arrive { meta, .. } => {
                    let kept = queue.enqueue(now, meta, number, &mut context).is_accepted();
                    let packet = codel::Packet {
                        number,
                        length: i128::from(meta.length),
                        enqueued_at: ps(now),
                        ecn_capable: meta.ecn.is_capable(),
                    };
                    prop_assert_eq!(kept, oracle.enqueue(packet, ps(now)));
                    context.dropped.clear();
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let sent = queue.dequeue(now, &mut context);
                    let found = cobalt::Outcome {
                        dropped: context.dropped.drain(..).map(|drop| drop.0.item).collect(),
                        marked: sent.as_ref().is_some_and(|sent| sent.marked),
                        sent: sent.map(|sent| sent.item),
                    };
                    prop_assert_eq!(found, oracle.dequeue(ps(now), unit));
                    prop_assert!((queue.cobalt().blue() - oracle.p_drop()).abs() < 1e-12);
                }
            }
        }
    }
}
