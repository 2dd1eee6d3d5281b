//! Differential tests of managers with two queues against slow, literal versions of their documents.

use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, ServiceQueue, Span};
use sojourn_queue::{
    DelayEstimate, DelayEstimateLaw, DocsisDualQueue, DocsisDualQueueConfig, DocsisPieLaw, DualPi2Config, DualPi2Queue,
    DualPi2Scheduler, Held, ImmediateAqmLaw, Pi2Law, QueueContext, QueueManager, QueueProtectionLaw, Reason, Score,
    Shaper, Verdict,
};
use sojourn_testkit::context::{TestContext, number_of};
use sojourn_testkit::oracle::docsis_dual_queue::{DualQueueOracle, Outcome, Packet, Parameters, Place};
use sojourn_testkit::oracle::dualpi2::{self, DualPi2Oracle};

/// Something that happens, after a pause in microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { meta: Meta, unit: f64 },
    Serve { after_us: u64, from: Option<ServiceQueue> },
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![3 => Just(Ecn::NotEct), 2 => Just(Ecn::Ect0), 4 => Just(Ecn::Ect1), 1 => Just(Ecn::Ce)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let from = prop_oneof![
        4 => Just(None),
        1 => Just(Some(ServiceQueue::LowLatency)),
        1 => Just(Some(ServiceQueue::Classic)),
    ];
    let length = prop_oneof![Just(1500_u32), 40..1500_u32];
    let step = prop_oneof![
        5 => (length, ecn(), any::<u32>(), 0..5_u32, 0.0..1.0).prop_map(|(length, ecn, high, flow, unit)| {
            // Flows whose candidate buckets overlap.
            let flow_hash = flow | ((high & 3) << 3);
            Step::Arrive { meta: Meta { length, ecn, flow_hash, ..Meta::default() }, unit }
        }),
        3 => (0..800_u64, from.clone()).prop_map(|(after_us, from)| Step::Serve { after_us, from }),
        1 => (0..20_000_u64, from).prop_map(|(after_us, from)| Step::Serve { after_us, from }),
    ];
    prop::collection::vec(step, 200..1200)
}

/// A context whose service flows have rates of their own.
struct Rates {
    inner: TestContext,
    low_latency: BitRate,
    classic: BitRate,
}

impl QueueContext for Rates {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        self.inner.dropped(packet, reason);
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        self.inner.marked(packet, reason);
    }

    fn unit(&mut self) -> f64 {
        self.inner.unit()
    }

    fn scored(&mut self, packet: &Held, score: &Score) {
        self.inner.scored(packet, score);
    }

    fn shaper(&self) -> Shaper {
        self.inner.shaper
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        match queue {
            ServiceQueue::LowLatency => self.low_latency,
            _ => self.classic,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_docsis_dual_queue_does_what_its_annexes_say(
        kbps in 2_000..60_000_u64,
        own in prop_oneof![2 => Just((0, 0)), 1 => (1_000..40_000_u64, 1_000..40_000_u64)],
        target_us in 200..8_000_u64,
        coupling in prop_oneof![Just(2.0), 0.0..6.0],
        weight in 1..=255_u32,
        virtual_queue in any::<bool>(),
        queue_protection in any::<bool>(),
        critical_score_us in prop_oneof![Just(4000_u64), 10..2_000_u64],
        bucket_exponent in 0..6_u8,
        range_exponent in 15..22_u8,
        steps in steps(),
    ) {
        // Every length is a whole number of nanoseconds at these rates only by chance, so comparisons that rounding may
        // turn are left out below.
        let rate = BitRate::from_kbps(kbps);
        let config = DocsisDualQueueConfig {
            classic: DocsisPieLaw { target: Span::from_us(target_us), ..DocsisPieLaw::RFC8034 },
            limit: Limit::Bytes(Bytes(60_000)),
            low_latency_limit: Some(Bytes(30_000)),
            ramp: ImmediateAqmLaw { range_exponent, ..ImmediateAqmLaw::DOCSIS },
            coupling,
            delay: DelayEstimateLaw {
                estimate: if virtual_queue { DelayEstimate::VirtualQueue } else { DelayEstimate::Backlog },
                ..DelayEstimateLaw::WHITE2019
            },
            queue_protection,
            protection: QueueProtectionLaw {
                critical_score: Span::from_us(critical_score_us),
                bucket_exponent,
                ..QueueProtectionLaw::RFC9957
            },
            weight,
            ..DocsisDualQueueConfig::DOCSIS31
        };
        let mut queue = DocsisDualQueue::new(config);
        let mut oracle = DualQueueOracle::new(Parameters {
            amsr: rate.as_bps() as f64,
            msr_l: own.0 as f64 * 1e3,
            msr_c: own.1 as f64 * 1e3,
            buffer_c: 60_000,
            buffer_l: 30_000,
            latency_target: target_us as f64 / 1e6,
            maxth_us: 1000.0,
            lg_range: u32::from(range_exponent),
            max_frame_size: 2000.0,
            coupling,
            weight: f64::from(weight),
            virtual_queue,
            qprotect_on: queue_protection,
            critical_score_us: critical_score_us as f64,
            lg_aging: 19,
            bi_size: u32::from(bucket_exponent),
        });
        let mut context = Rates {
            inner: TestContext::without_draws(),
            low_latency: BitRate::from_kbps(own.0),
            classic: BitRate::from_kbps(own.1),
        };
        context.inner.shaper.sustained = rate;
        let mut now = Instant::ZERO;
        let nanoseconds = |now: Instant| now.as_ps() as f64 / 1e3;
        for (number, step) in (0..).zip(steps) {
            match step {
                Step::Arrive { meta, unit } => {
                    context.inner = TestContext::always(unit);
                    context.inner.shaper.sustained = rate;
                    let verdict = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context);
                    let packet = Packet {
                        number,
                        length: u64::from(meta.length),
                        flow: meta.flow_hash,
                        is_low_latency: matches!(meta.ecn, Ecn::Ect1 | Ecn::Ce),
                        is_ect1: meta.ecn == Ecn::Ect1,
                    };
                    if oracle.is_borderline(unit, u64::from(meta.length)) {
                        return Ok(());
                    }
                    let expected = oracle.enqueue(packet, nanoseconds(now), unit);
                    let marked = !context.inner.marked.is_empty();
                    let sanctioned = context.inner.scored.iter().any(|told| told.1.sanctioned);
                    let place = match verdict {
                        Verdict::Placed(ServiceQueue::LowLatency) => Place::LowLatency,
                        Verdict::Placed(_) => Place::Classic,
                        Verdict::Dropped(_) => Place::Lost,
                        Verdict::Accepted => return Err(TestCaseError::fail("it has two queues")),
                    };
                    let found = Outcome { place, marked, sanctioned };
                    prop_assert_eq!(found, expected, "packet {}", number);
                }
                Step::Serve { after_us, from } => {
                    now += Span::from_us(after_us);
                    while let Some(due) = queue.next_timer() && due <= now {
                        // The oracle's order: the 16-ms update first.
                        let both = due.as_ps() % Span::from_ms(16).as_ps() == 0;
                        queue.on_timer(due, &mut context);
                        if both {
                            oracle.update();
                        }
                        if virtual_queue && due.as_ps() % Span::from_us(500).as_ps() == 0 {
                            oracle.align(nanoseconds(due));
                        }
                        let (drop, mark) = oracle.likelihoods();
                        prop_assert!((queue.pie().probability() - drop).abs() <= 1e-9 * drop.max(1e-6));
                        prop_assert!((queue.coupled_likelihood() - mark).abs() <= 1e-9);
                    }
                    let (sent, expected) = match from {
                        None => (queue.dequeue(now, &mut context), oracle.dequeue()),
                        Some(from) => (
                            queue.dequeue_from(now, from, &mut context),
                            oracle.dequeue_from(from == ServiceQueue::LowLatency),
                        ),
                    };
                    prop_assert_eq!(sent.map(|sent| number_of(sent.item)), expected);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn dualpi2_does_what_its_pseudocode_says(
        target_us in 500..20_000_u64,
        gain in 0.05..30.0_f64,
        coupling in prop_oneof![Just(2.0), 0.2..6.0],
        threshold_us in 0..3_000_u64,
        range_us in 0..3_000_u64,
        least_packets in 0..3_u32,
        overload_aware in any::<bool>(),
        time_shift_us in prop_oneof![1 => Just(None), 1 => (0..20_000_u64).prop_map(Some)],
        weight in 1..=255_u32,
        steps in steps(),
    ) {
        let law = Pi2Law {
            target: Span::from_us(target_us),
            update_interval: Span::from_ms(5),
            alpha: gain,
            beta: 10.0 * gain,
        };
        let mut queue = DualPi2Queue::new(DualPi2Config {
            limit: Limit::Bytes(Bytes(60_000)),
            law,
            coupling,
            threshold: Span::from_us(threshold_us),
            range: Span::from_us(range_us),
            least_packets,
            overload_aware,
            scheduler: if time_shift_us.is_some() { DualPi2Scheduler::TimeShifted } else { DualPi2Scheduler::Weighted },
            weight,
            time_shift: Span::from_us(time_shift_us.unwrap_or(0)),
            ..DualPi2Config::RFC9332
        });
        let mut oracle = DualPi2Oracle::new(dualpi2::Parameters {
            limit: 60_000,
            target: target_us as f64 / 1e6,
            alpha: gain,
            beta: 10.0 * gain,
            k: coupling,
            min_th: threshold_us as f64 / 1e6,
            range: range_us as f64 / 1e6,
            th_len: least_packets as usize,
            overload_aware,
            weight: time_shift_us.is_none().then_some(f64::from(weight)),
            tshift: time_shift_us.unwrap_or(0) as f64 / 1e6,
        });
        let mut context = TestContext::without_draws();
        // Not on a whole microsecond, so that no delay is a threshold to the last bit.
        let mut now = Instant::from_ps(300_007);
        let seconds = |now: Instant| now.as_ps() as f64 / 1e12;
        for (number, step) in (0..).zip(steps) {
            if let Step::Serve { after_us, .. } = step {
                now += Span::from_us(after_us);
            }
            // Due updates come before arrivals: no packet is younger than an update.
            while let Some(due) = queue.next_timer() && due <= now {
                queue.on_timer(due, &mut context);
                oracle.update(seconds(due));
                prop_assert!((queue.pi().base() - oracle.base()).abs() < 1e-9);
            }
            match step {
                Step::Arrive { meta, .. } => {
                    let kept = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context).is_accepted();
                    let packet = dualpi2::Packet {
                        number,
                        length: u64::from(meta.length),
                        at: seconds(now),
                        is_low_latency: matches!(meta.ecn, Ecn::Ect1 | Ecn::Ce),
                        is_capable: meta.ecn.is_capable(),
                        is_marked: meta.ecn == Ecn::Ce,
                    };
                    prop_assert_eq!(kept, oracle.enqueue(packet));
                    context.dropped.clear();
                    now += Span::from_ps(1_000_003);
                }
                Step::Serve { .. } => {
                    // Full certainty on one side of rounding is overload on the other.
                    if (coupling * oracle.base() - 1.0).abs() < 1e-9 {
                        return Ok(());
                    }
                    let sent = queue.dequeue(now, &mut context);
                    let found = dualpi2::Outcome {
                        dropped: context.dropped.drain(..).map(|drop| number_of(drop.0.item)).collect(),
                        marked: context.marked.drain(..).count() == 1,
                        sent: sent.map(|sent| number_of(sent.item)),
                    };
                    prop_assert_eq!(found, oracle.dequeue(seconds(now)));
                }
            }
        }
    }
}
