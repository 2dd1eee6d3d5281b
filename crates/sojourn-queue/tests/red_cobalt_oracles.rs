//! Differential tests of RED and COBALT against slow, literal versions of the code that they follow.

use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{
    CobaltConfig, CobaltLaw, CobaltQueue, FlowListsConfig, FqCobaltConfig, FqCobaltQueue, QueueManager, Reason,
    RedConfig, RedQueue, RedThresholds, Verdict,
};
use sojourn_testkit::context::{TestContext, number_of};
use sojourn_testkit::oracle::cobalt::{self, CobaltOracle};
use sojourn_testkit::oracle::flow_queues::FlowQueuesOracle;
use sojourn_testkit::oracle::{codel, red};

/// A packet arrives, or one is served, after a pause in microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { meta: Meta, unit: f64 },
    Serve { after_us: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![Just(1500_u32), 40..1500_u32];
    let step = prop_oneof![
        4 => (length, any::<bool>(), 0..5_u32, 0.0..1.0).prop_map(|(length, capable, flow_hash, unit)| {
            let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
            Step::Arrive { meta: Meta { length, flow_hash, ecn, ..Meta::default() }, unit }
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
            curve: RedThresholds {
                minimum: threshold(minimum),
                maximum: threshold(minimum + width),
                most,
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
                    let verdict = queue.enqueue(now, meta, PacketHandle::default(), &mut context);
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
    fn cobalt_does_what_the_code_of_ns_3_and_linux_does(
        cobalt in cobalts(),
        limit in prop_oneof![Just(30_u32), Just(10_000)],
        unit in 0.0..1.0_f64,
        steps in steps(),
    ) {
        let limit_in_packets = Limit::Packets(Packets(limit));
        let mut queue = CobaltQueue::new(CobaltConfig { law: cobalt.law, limit: limit_in_packets });
        let mut now = Instant::from_ms(1);
        let mut oracle = cobalt.oracle(limit as usize, now);
        let mut context = cobalt.context(unit);
        for (number, step) in (0..).zip(firsts(1).chain(steps)) {
            match step {
                Step::Arrive { meta, .. } => {
                    let kept = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context).is_accepted();
                    prop_assert_eq!(kept, oracle.enqueue(oracle_packet(number, &meta, now), ps(now)));
                    context.dropped.clear();
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let found = serve(&mut queue, now, &mut context);
                    prop_assert_eq!(found, oracle.dequeue(ps(now), unit));
                    prop_assert!((queue.state(0).blue() - oracle.p_drop()).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn fq_cobalt_gives_each_flow_the_cobalt_of_ns_3_or_linux(
        cobalt in cobalts(),
        quantum in 100..2000_u32,
        limit in prop_oneof![Just(10_000_u32), 10..200_u32],
        unit in 0.0..1.0_f64,
        steps in steps(),
    ) {
        let mut queue = FqCobaltQueue::new(FqCobaltConfig {
            flows: FlowListsConfig {
                queues: 4,
                quantum,
                limit: Limit::Packets(Packets(limit)),
                memory: None,
                ..FlowListsConfig::BASE
            },
            law: cobalt.law,
            decays: false,
        });
        let mut now = Instant::from_ms(1);
        let empty = cobalt.oracle(usize::MAX, now);
        let mut oracle = FlowQueuesOracle::new(4, i128::from(quantum), limit as usize, &empty);
        let mut context = cobalt.context(unit);
        for (number, step) in (0..).zip(firsts(4).chain(steps)) {
            match step {
                Step::Arrive { meta, .. } => {
                    let _ = queue.enqueue(now, meta, PacketHandle(number.into()), &mut context);
                    let victims: Vec<u32> = context.dropped.drain(..).map(|drop| number_of(drop.0.item)).collect();
                    let packet = oracle_packet(number, &meta, now);
                    prop_assert_eq!(victims, oracle.enqueue(meta.flow_hash as usize, packet, ps(now)));
                }
                Step::Serve { after_us } => {
                    now += Span::from_us(after_us);
                    let found = serve(&mut queue, now, &mut context);
                    prop_assert_eq!(found, oracle.dequeue(ps(now), unit));
                }
            }
        }
    }
}

/// A law, and the link that it stands at.
#[derive(Clone, Copy, Debug)]
struct Placed {
    law: CobaltLaw,
    kbps: u64,
    request_grant: Span,
}

fn cobalts() -> impl Strategy<Value = Placed> {
    let times = (100..8_000_u64, 8_000..40_000_u64, 5_000..60_000_u64);
    let habits = (any::<bool>(), any::<bool>(), any::<bool>());
    // A packet takes from 0.12 ms to 12 ms.
    let link = (1_000..100_000_u64, 0..3_000_u64);
    (times, habits, 0.01..0.5_f64, link).prop_map(|(times, habits, step_of_blue, link)| Placed {
        law: CobaltLaw {
            target: Span::from_us(times.0),
            interval: Span::from_us(times.1),
            blue_threshold: Span::from_us(times.2),
            ecn: habits.0,
            keeps_last: habits.1,
            allows_link_time: habits.2,
            increment: step_of_blue,
            decrement: step_of_blue / 16.0,
            ..CobaltLaw::LINUX
        },
        kbps: link.0,
        request_grant: Span::from_us(link.1),
    })
}

impl Placed {
    fn oracle(&self, limit: usize, start: Instant) -> CobaltOracle {
        let span = |span: Span| i128::from(span.as_ps());
        let (mtu_time, allowed) = if self.law.allows_link_time {
            // 1514 B, rounded up to a picosecond.
            let bits = 1514 * 8 * 1_000_000_000;
            (i128::from(u64::div_ceil(bits, self.kbps)), span(self.request_grant))
        } else {
            (0, 0)
        };
        let parameters = cobalt::Parameters {
            target: span(self.law.target),
            interval: span(self.law.interval),
            limit,
            ecn: self.law.ecn,
            increment: self.law.increment,
            decrement: self.law.decrement,
            blue_threshold: span(self.law.blue_threshold),
            keeps_last: self.law.keeps_last,
            mtu_time,
            allowed,
        };
        CobaltOracle::new(parameters, ps(start))
    }

    fn context(&self, unit: f64) -> TestContext {
        let mut context = TestContext::always(unit);
        context.shaper.sustained = BitRate::from_kbps(self.kbps);
        context.loop_delay = self.request_grant;
        context
    }
}

/// The first packet of each flow starts the clock of its BLUE, and the first that is asked for shows the link.
fn firsts(flows: u32) -> impl Iterator<Item = Step> {
    let arrivals = (0..flows)
        .map(|flow_hash| Step::Arrive { meta: Meta { length: 100, flow_hash, ..Meta::default() }, unit: 0.0 });
    arrivals.chain([Step::Serve { after_us: 0 }])
}

fn ps(now: Instant) -> i128 {
    i128::from(now.as_ps())
}

/// The packet of an arrival as the oracles see it.
fn oracle_packet(number: u32, meta: &Meta, now: Instant) -> codel::Packet {
    codel::Packet { number, length: i128::from(meta.length), enqueued_at: ps(now), ecn_capable: meta.ecn.is_capable() }
}

/// Serve one packet from the manager under test.
fn serve(manager: &mut impl QueueManager, now: Instant, context: &mut TestContext) -> codel::Outcome {
    let sent = manager.dequeue(now, context);
    codel::Outcome {
        dropped: context.dropped.drain(..).map(|drop| number_of(drop.0.item)).collect(),
        marked: context.marked.drain(..).count() == 1,
        sent_length: sent.as_ref().map(|sent| i128::from(sent.meta.length)),
        sent: sent.map(|sent| number_of(sent.item)),
    }
}
