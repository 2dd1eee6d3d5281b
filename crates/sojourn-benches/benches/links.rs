//! Cost of a packet's passage through each link: arrival, wake-ups, delivery.
//!
//! Each iteration offers one packet at a steady pace to a link that has reached its steady state, runs
//! the wake-ups that are due before it, and counts what comes out.

use criterion::{Criterion, criterion_group, criterion_main};
use sojourn_base::{BitRate, Instant, Meta, PacketHandle, Span};
use sojourn_link::{
    AnyLink, CascadeConfig, Draw, LinkConfig, LinkContext, Loss, Mark, Passage, Pull, Rule, SerialConfig, ShapedConfig,
    SingleQueueConfig,
};
use sojourn_queue::{CodelConfig, DropTailConfig, ManagerConfig};
use std::hint::black_box;

#[derive(Default)]
struct Counter {
    delivered: u64,
    dropped: u64,
    state: u64,
}

impl LinkContext for Counter {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, item: PacketHandle, _: &Meta, passage: &Passage) {
        self.delivered += u64::from(black_box(item).0 > 0) + (black_box(passage).arrives_at.as_ps() & 1);
    }

    fn dropped(&mut self, item: PacketHandle, _: &Meta, _: &Loss) {
        self.dropped += u64::from(black_box(item).0 > 0);
    }

    fn marked(&mut self, item: PacketHandle, _: &Meta, _: &Mark) {
        black_box(item);
    }

    fn unit(&mut self, _: Draw) -> f64 {
        // Weyl sequence: cheap and even, so that the generator is not what is measured.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (self.state >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

/// A link, and a source that offers 1500 B packets every `gap`.
struct World {
    link: AnyLink,
    context: Counter,
    now: Instant,
    gap: Span,
}

impl World {
    fn new(config: &LinkConfig, gap: Span) -> Self {
        let mut world = Self { link: config.build(), context: Counter::default(), now: Instant::ZERO, gap };
        for _ in 0..30_000 {
            world.offer();
        }
        world
    }

    fn offer(&mut self) {
        self.now += self.gap;
        loop {
            let due = self.link.next_wakeup();
            if due > self.now {
                break;
            }
            self.link.wake(due, &mut self.context);
        }
        let meta = Meta { length: 1500, ..Meta::default() };
        self.link.arrive(self.now, meta, PacketHandle(1), &mut self.context);
    }
}

fn links(criterion: &mut Criterion) {
    let tail = ManagerConfig::from(DropTailConfig::WHITE2012_BUFFERBLOAT);
    let codel = ManagerConfig::from(CodelConfig::WHITE2012);
    // 4.9 Mb/s for the links of 5 Mb/s: nearly always a backlog, no drops. Bursts are spent in the
    // first seconds.
    let gap = Span::from_us(2_449);
    let worlds = [
        (
            "serial/drop-tail",
            LinkConfig {
                link: SerialConfig::plain(BitRate::from_mbps(5), Span::from_ms(1)).into(),
                queue: tail.clone(),
            },
        ),
        (
            "shaped/drop-tail",
            LinkConfig {
                link: ShapedConfig {
                    shaper: CascadeConfig::WHITE2012.shaper,
                    rule: Rule::Bucket,
                    pull: Pull::WithTokens,
                    delay: Span::from_ms(1),
                }
                .into(),
                queue: tail.clone(),
            },
        ),
        ("docsis30-cascade/drop-tail", LinkConfig { link: CascadeConfig::WHITE2012.into(), queue: tail.clone() }),
        ("docsis30-cascade/codel", LinkConfig { link: CascadeConfig::WHITE2012.into(), queue: codel.clone() }),
        ("docsis30-single/codel", LinkConfig { link: SingleQueueConfig::WHITE2013.into(), queue: codel }),
    ];
    let mut group = criterion.benchmark_group("packet passage");
    for (name, config) in worlds {
        let mut world = World::new(&config, gap);
        group.bench_function(name, |bencher| bencher.iter(|| world.offer()));
    }
    // Twice the rate: every second packet is refused.
    let config = LinkConfig { link: CascadeConfig::WHITE2012.into(), queue: tail };
    let mut world = World::new(&config, Span::from_us(1_200));
    group.bench_function("docsis30-cascade/drop-tail overloaded", |bencher| {
        bencher.iter(|| world.offer());
    });
    group.finish();
}

criterion_group!(benches, links);
criterion_main!(benches);
