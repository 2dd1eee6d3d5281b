//! Differential tests: each manager against a slow, literal version of its document, on random input.

use proptest::prelude::*;
use sojourn_base::{Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{
    CodelConfig, CodelLaw, CodelQueue, CodelVariant, DelaySource, DepartureRateConfig, FlowListsConfig, FqCodelConfig,
    FqCodelQueue, PieConfig, PieGains, PieLaw, PieQueue, QueueManager, Reason, SfqCodelConfig, SfqCodelQueue,
    SfqConfig, Verdict,
};
use sojourn_testkit::context::{TestContext, number_of};
use sojourn_testkit::oracle;
use sojourn_testkit::oracle::codel::CodelOracle;
use sojourn_testkit::oracle::flow_queues::FlowQueuesOracle;

/// A packet arrives, or one is served, after a pause in microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { length: u32, ecn_capable: bool, flow: u32, unit: f64 },
    Serve { after_us: u64 },
}

impl Step {
    fn meta(self) -> Option<Meta> {
        let Self::Arrive { length, ecn_capable, flow, .. } = self else {
            return None;
        };
        Some(Meta {
            length,
            flow_hash: flow,
            ecn: if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct },
            ..Meta::default()
        })
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (
            prop_oneof![Just(1500_u32), 40..1500_u32],
            prop::bool::weighted(0.3),
            0..5_u32,
            0.0..1.0,
        )
            .prop_map(|(length, ecn_capable, flow, unit)| Step::Arrive {
                length,
                ecn_capable,
                flow,
                unit,
            }),
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

/// The packet of an arrival as the oracles see it.
fn oracle_packet(number: u32, meta: &Meta, now: Instant) -> oracle::codel::Packet {
    oracle::codel::Packet {
        number,
        length: i128::from(meta.length),
        enqueued_at: i128::from(now.as_ps()),
        ecn_capable: meta.ecn.is_capable(),
    }
}

/// Serve one packet from the manager under test.
fn serve(manager: &mut impl QueueManager, now: Instant, context: &mut TestContext) -> oracle::codel::Outcome {
    let sent = manager.dequeue(now, context);
    let drops = context.dropped.drain(..).map(|(packet, reason)| {
        assert_eq!(reason, Reason::Target);
        number_of(packet.item)
    });
    oracle::codel::Outcome {
        dropped: drops.collect(),
        marked: context.marked.drain(..).count() == 1,
        sent_length: sent.as_ref().map(|packet| i128::from(packet.meta.length)),
        sent: sent.map(|packet| number_of(packet.item)),
    }
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
        let mut oracle = CodelOracle::new(
            variant,
            i128::from(target.as_ps()),
            i128::from(interval.as_ps()),
            ecn,
        );
        let mut context = TestContext::without_draws();
        let mut now = Instant::from_ms(1);
        for (number, step) in (0..).zip(steps) {
            if let Some(meta) = step.meta() {
                let _ = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context);
                oracle.enqueue(oracle_packet(number, &meta, now));
            } else if let Step::Serve { after_us } = step {
                now += Span::from_us(after_us);
                let expected = oracle.dequeue(i128::from(now.as_ps()));
                prop_assert_eq!(serve(&mut queue, now, &mut context), expected);
            }
        }
    }

    #[test]
    fn fq_codel_serves_and_drops_what_its_document_says(
        ecn in any::<bool>(),
        target_us in 100..8_000_u64,
        interval_us in 8_000..40_000_u64,
        quantum in 100..2000_u32,
        limit in prop_oneof![Just(10_000_u32), 10..200_u32],
        steps in steps(),
    ) {
        let (target, interval) = (Span::from_us(target_us), Span::from_us(interval_us));
        let law = CodelLaw { target, interval, ecn, ..CodelLaw::RFC8289 };
        let flows = FlowListsConfig {
            queues: 4,
            quantum,
            limit: Limit::Packets(Packets(limit)),
            memory: None,
            ..FlowListsConfig::BASE
        };
        let mut queue = FqCodelQueue::new(FqCodelConfig { flows, law });
        let [target, interval] = [target, interval].map(|span| i128::from(span.as_ps()));
        let empty = CodelOracle::new(CodelVariant::Rfc8289, target, interval, ecn);
        let mut oracle = FlowQueuesOracle::new(4, i128::from(quantum), limit as usize, &empty);
        let mut context = TestContext::without_draws();
        let mut now = Instant::from_ms(1);
        for (number, step) in (0..).zip(steps) {
            if let Some(meta) = step.meta() {
                let _ = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context);
                let victims = context.dropped.drain(..).map(|(packet, _)| number_of(packet.item));
                let victims: Vec<u32> = victims.collect();
                let packet = oracle_packet(number, &meta, now);
                let expected = oracle.enqueue(meta.flow_hash as usize, packet, i128::from(now.as_ps()));
                prop_assert_eq!(victims, expected);
            } else if let Step::Serve { after_us } = step {
                now += Span::from_us(after_us);
                let expected = oracle.dequeue(i128::from(now.as_ps()), 1.0);
                prop_assert_eq!(serve(&mut queue, now, &mut context), expected);
            }
        }
    }

    #[test]
    fn pie_drops_and_marks_what_its_document_says(
        is_draft in any::<bool>(),
        ecn in any::<bool>(),
        measures_rate in any::<bool>(),
        gain in 0.1..200.0,
        steps in steps(),
    ) {
        let rate = DepartureRateConfig { threshold: Bytes(6_000), ..DepartureRateConfig::NS2 };
        let law = PieLaw {
            reference: Span::from_ms(2),
            update_interval: Span::from_ms(5),
            alpha: gain,
            beta: 10.0 * gain,
            gains: if is_draft { PieGains::Draft00 } else { PieGains::Rfc8033 },
            delay_source: if measures_rate {
                DelaySource::DepartureRate(rate)
            } else {
                DelaySource::LastSojourn
            },
            maximum_burst: Span::from_ms(20),
            ecn,
            ..PieLaw::RFC8033
        };
        let mut queue = PieQueue::new(PieConfig { law, limit: Limit::Packets(Packets::MAX) });
        let mut oracle = oracle::pie::PieOracle::new(oracle::pie::Parameters {
            is_draft,
            reference: 0.002,
            period: 0.005,
            alpha: gain,
            beta: 10.0 * gain,
            max_burst: 0.02,
            mean_packet: 1024.0,
            ecn,
            rate: measures_rate.then_some((6_000.0, 0.5)),
        });
        let mut now = Instant::ZERO;
        for (number, step) in (0..).zip(steps) {
            match step {
                Step::Arrive { length, ecn_capable, unit, .. } => {
                    let mut context = TestContext::always(unit);
                    let meta = step.meta().expect("an arrival");
                    let verdict = queue.enqueue(now, meta, PacketHandle(number), &mut context);
                    let outcome = match verdict {
                        Verdict::Dropped(_) => oracle::pie::Outcome::Drop,
                        Verdict::Accepted if context.marked.is_empty() => {
                            oracle::pie::Outcome::Accept
                        }
                        Verdict::Accepted | Verdict::Placed(_) => oracle::pie::Outcome::Mark,
                    };
                    let at = i128::from(now.as_ps());
                    let expected = oracle.enqueue(f64::from(length), at, ecn_capable, unit);
                    // A draw within rounding of the probability may go either way, so skip the rest.
                    if (oracle.drop_prob() - unit).abs() < 1e-9 {
                        return Ok(());
                    }
                    prop_assert_eq!(outcome, expected);
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let mut context = TestContext::without_draws();
                    while let Some(due) = queue.next_timer() && due <= now {
                        queue.on_timer(due, &mut context);
                        oracle.update();
                        let (ours, theirs) = (queue.state(0).probability(), oracle.drop_prob());
                        prop_assert!((ours - theirs).abs() <= 1e-12, "{} is not {}", ours, theirs);
                    }
                    let _ = queue.dequeue(now, &mut context);
                    oracle.dequeue(i128::from(now.as_ps()));
                }
            }
        }
    }
}

/// Runs the same steps through two managers; both must do the same at each of them.
fn assert_alike(mut one: impl QueueManager, mut other: impl QueueManager, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut environments = (TestContext::without_draws(), TestContext::without_draws());
    let mut now = Instant::from_ms(1);
    for (number, step) in (0..).zip(steps) {
        if let Some(meta) = step.meta() {
            prop_assert_eq!(
                one.enqueue(now, meta, PacketHandle(number), &mut environments.0),
                other.enqueue(now, meta, PacketHandle(number), &mut environments.1)
            );
        } else if let Step::Serve { after_us } = step {
            now += Span::from_us(*after_us);
            prop_assert_eq!(serve(&mut one, now, &mut environments.0), serve(&mut other, now, &mut environments.1));
        }
        prop_assert_eq!(one.backlog(), other.backlog());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn with_one_queue_flow_queueing_is_its_codel(
        ecn in any::<bool>(),
        target_us in 100..8_000_u64,
        interval_us in 8_000..40_000_u64,
        quantum in 1..2000_u32,
        steps in steps(),
    ) {
        let law = |variant| CodelLaw {
            target: Span::from_us(target_us),
            interval: Span::from_us(interval_us),
            variant,
            ecn,
            ..CodelLaw::RFC8289
        };
        let limit = Limit::Packets(Packets(100_000));
        let codel = |variant| CodelQueue::new(CodelConfig { law: law(variant), limit });
        let sub_flows = SfqConfig { bins: 1, quantum, limit, ..SfqConfig::WHITE2013 };
        let law_2013 = law(CodelVariant::Sfq2013);
        let sfq = SfqCodelQueue::new(SfqCodelConfig { sub_flows, law: law_2013 });
        assert_alike(sfq, codel(CodelVariant::Sfq2013), &steps)?;
        let flows = FlowListsConfig { queues: 1, quantum, limit, ..FlowListsConfig::BASE };
        let fq = FqCodelQueue::new(FqCodelConfig { flows, law: law(CodelVariant::Rfc8289) });
        assert_alike(fq, codel(CodelVariant::Rfc8289), &steps)?;
    }
}
