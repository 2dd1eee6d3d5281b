//! Nanoseconds per enqueue + dequeue, for each manager, at a backlog of 10 and of 400 packets.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_queue::{Held, ManagerConfig, QueueContext, QueueManager, Reason, SfqNs2Config, Shaper, Verdict};
use std::hint::black_box;

/// Counts drops; draws from a cheap generator that is good enough for a benchmark.
struct QueueCall {
    drops: u64,
    state: u64,
}

impl QueueContext for QueueCall {
    fn dropped(&mut self, packet: Held, _reason: Reason) {
        black_box(packet.item);
        self.drops += 1;
    }

    fn marked(&mut self, packet: &Held, _reason: Reason) {
        black_box(packet.item);
    }

    fn unit(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn shaper(&self) -> Shaper {
        Shaper { tokens: Bytes(3000), sustained: BitRate::from_mbps(100), peak: BitRate::from_mbps(200) }
    }
}

/// Every kind, with a buffer that 400 packets of 1500 bytes fit into and time enough to stay quiet.
fn managers() -> Vec<ManagerConfig> {
    let roomy = |mut config: ManagerConfig| {
        if let Some(limit) = config.limit_mut() {
            *limit = Limit::Bytes(Bytes(1_000_000));
        }
        // Its limit is a number of packets, a tenth of which fits into a bucket.
        if let Some(config) = config.get_mut::<SfqNs2Config>() {
            config.limit = Packets(4000);
        }
        config
    };
    let kinds = ManagerConfig::kinds().into_iter();
    kinds.map(|kind| roomy(kind.values(None))).collect()
}

/// Full-size packets of four flows.
const FLOWS: [Meta; 4] = [packet(0), packet(1), packet(2), packet(3)];

const fn packet(flow_hash: u32) -> Meta {
    Meta {
        length: 1500,
        flow_hash,
        mac_overhead: 0,
        dscp: 0,
        ecn: Ecn::NotEct,
        pure_ack: false,
        host: 0,
        queue: ServiceQueue::Classic,
    }
}

fn enqueue_and_dequeue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("enqueue+dequeue");
    for config in managers() {
        for backlog in [10_u32, 400] {
            let id = BenchmarkId::new(config.kind(), backlog);
            group.bench_with_input(id, &backlog, |bencher, &backlog| {
                let mut manager = config.build();
                let mut call = QueueCall { drops: 0, state: 0x9E37_79B9_7F4A_7C15 };
                let mut now = Instant::ZERO;
                let mut number = 0_u32;
                let mut arrive = |manager: &mut dyn QueueManager, now: Instant, call: &mut QueueCall| {
                    number = number.wrapping_add(1);
                    let meta = FLOWS[(number % 4) as usize];
                    manager.enqueue(now, meta, PacketHandle(number.into()), call) == Verdict::Accepted
                };
                for _ in 0..backlog {
                    let _ = arrive(&mut *manager, now, &mut call);
                }
                bencher.iter(|| {
                    // 10 us per packet: 400 packets wait 4 ms, which is below every target.
                    now += Span::from_us(10);
                    while let Some(due) = manager.next_timer()
                        && due <= now
                    {
                        manager.on_timer(due, &mut call);
                    }
                    black_box(arrive(&mut *manager, now, &mut call));
                    black_box(manager.dequeue(now, &mut call))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, enqueue_and_dequeue);
criterion_main!(benches);
