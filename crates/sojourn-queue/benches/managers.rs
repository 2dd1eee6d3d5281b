//! Nanoseconds per enqueue + dequeue, for each manager, at a backlog of 10 and of 400 packets.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Meta, Span};
use sojourn_queue::{
    CodelConfig, DropTailConfig, Environment, Held, ManagerConfig, QueueManager, Reason, Shaper,
    Verdict,
};
use std::hint::black_box;

/// Counts drops; draws from a cheap generator that is good enough for a benchmark.
struct Surroundings {
    drops: u64,
    state: u64,
}

impl Environment<u32> for Surroundings {
    fn dropped(&mut self, packet: Held<u32>, _reason: Reason) {
        black_box(packet.item);
        self.drops += 1;
    }

    fn unit(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn shaper(&self) -> Shaper {
        Shaper {
            tokens: Bytes(3000),
            sustained: BitRate::from_mbps(100),
            peak: BitRate::from_mbps(200),
        }
    }
}

fn managers() -> Vec<ManagerConfig> {
    vec![
        ManagerConfig::DropTail(DropTailConfig::bytes(1_000_000)),
        ManagerConfig::Codel(CodelConfig {
            limit: DropTailConfig::bytes(1_000_000).limit,
            ..CodelConfig::RFC8289
        }),
    ]
}

fn enqueue_and_dequeue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("enqueue+dequeue");
    for config in managers() {
        for backlog in [10_u32, 400] {
            let id = BenchmarkId::new(config.kind(), backlog);
            group.bench_with_input(id, &backlog, |bencher, &backlog| {
                let mut manager = config.build::<u32>();
                let mut surroundings = Surroundings {
                    drops: 0,
                    state: 0x9E37_79B9_7F4A_7C15,
                };
                let mut now = Instant::ZERO;
                let mut number = 0_u32;
                let mut arrive =
                    |manager: &mut sojourn_queue::AnyManager<u32>,
                     now: Instant,
                     surroundings: &mut Surroundings| {
                        number = number.wrapping_add(1);
                        let meta = Meta {
                            length: 1500,
                            flow_hash: number % 4,
                            ecn: Ecn::NotEct,
                            ..Meta::default()
                        };
                        manager.enqueue(now, meta, number, surroundings) == Verdict::Accepted
                    };
                for _ in 0..backlog {
                    let _ = arrive(&mut manager, now, &mut surroundings);
                }
                bencher.iter(|| {
                    // 10 us per packet: 400 packets wait 4 ms, which is below every target.
                    now += Span::from_us(10);
                    while let Some(due) = manager.next_timer()
                        && due <= now
                    {
                        manager.on_timer(due, &mut surroundings);
                    }
                    black_box(arrive(&mut manager, now, &mut surroundings));
                    black_box(manager.dequeue(now, &mut surroundings))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, enqueue_and_dequeue);
criterion_main!(benches);
