//! Differential tests: each manager against a slow, literal version of its document, on random input.

use proptest::prelude::*;
use sojourn_base::{Ecn, Instant, Limit, Meta, Packets, Span};
use sojourn_queue::{CodelConfig, CodelLaw, CodelQueue, CodelVariant, QueueManager, Reason};
use sojourn_testkit::environment::TestEnvironment;
use sojourn_testkit::oracle;

/// A packet arrives, or one is served, after a pause in microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { length: u32, ecn_capable: bool },
    Serve { after_us: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (prop_oneof![Just(1500_u32), 40..1500_u32], prop::bool::weighted(0.3))
            .prop_map(|(length, ecn_capable)| Step::Arrive { length, ecn_capable }),
        3 => (0..3_000_u64).prop_map(|after_us| Step::Serve { after_us }),
        1 => (0..30_000_u64).prop_map(|after_us| Step::Serve { after_us }),
    ];
    prop::collection::vec(step, 200..1500)
}

fn variant() -> impl Strategy<Value = CodelVariant> {
    prop_oneof![
        Just(CodelVariant::Original2012),
        Just(CodelVariant::Nichols2013),
        Just(CodelVariant::Sfq2013),
        Just(CodelVariant::Rfc8289),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn codel_drops_and_marks_what_its_document_says(
        variant in variant(),
        ecn in any::<bool>(),
        target_us in 100..8_000_u64,
        interval_us in 8_000..40_000_u64,
        steps in steps(),
    ) {
        let (target, interval) = (Span::from_us(target_us), Span::from_us(interval_us));
        let law = CodelLaw { target, interval, variant, ecn, ..CodelLaw::RFC8289 };
        let mut queue = CodelQueue::new(CodelConfig { law, limit: Limit::Packets(Packets::MAX) });
        let mut oracle = oracle::codel::CodelOracle::new(
            variant,
            i128::from(target.as_ps()),
            i128::from(interval.as_ps()),
            ecn,
        );
        let mut environment = TestEnvironment::without_draws();
        let mut now = Instant::from_ms(1);
        for (number, step) in (0..).zip(steps) {
            match step {
                Step::Arrive { length, ecn_capable } => {
                    let ecn = if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
                    let meta = Meta { length, ecn, ..Meta::default() };
                    let _ = queue.enqueue(now, meta, number, &mut environment);
                    oracle.enqueue(oracle::codel::Packet {
                        number,
                        length: i128::from(length),
                        enqueued_at: i128::from(now.as_ps()),
                        ecn_capable,
                    });
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let sent = queue.dequeue(now, &mut environment);
                    let expected = oracle.dequeue(i128::from(now.as_ps()));
                    let outcome = oracle::codel::Outcome {
                        dropped: environment
                            .dropped
                            .drain(..)
                            .map(|(packet, reason)| {
                                assert_eq!(reason, Reason::Target);
                                packet.item
                            })
                            .collect(),
                        marked: sent.as_ref().is_some_and(|packet| packet.marked),
                        sent: sent.map(|packet| packet.item),
                    };
                    prop_assert_eq!(outcome, expected, "at step {}", number);
                }
            }
        }
    }
}
