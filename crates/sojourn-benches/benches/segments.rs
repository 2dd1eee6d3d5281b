//! Cost of a segment: an acknowledgement at the sender of a bulk flow in steady state, a data segment at its receiver,
//! and an acknowledgement in recovery.
//!
//! Budgets (chosen): 80 ns per acknowledgement without losses, 40 ns per
//! data segment at the receiver, 150 ns per acknowledgement in recovery.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sojourn_base::{Instant, Span};
use sojourn_transport::{EndpointContext, Event, Segment, SendTimes, StackConfig, TcpEndpoint, Timer};
use std::collections::VecDeque;
use std::hint::black_box;

/// Keeps what an endpoint emits; timers and events cost a store.
#[derive(Clone, Default)]
struct Wire {
    segments: VecDeque<Segment>,
    deadline: Option<Instant>,
    last: Option<Event>,
}

impl EndpointContext for Wire {
    fn emit(&mut self, segment: &Segment, _: SendTimes) {
        self.segments.push_back(*segment);
    }

    fn arm(&mut self, _: Timer, at: Instant) {
        self.deadline = Some(at);
    }

    fn notify(&mut self, event: Event) {
        self.last = Some(event);
    }
}

/// Both ends of a bulk flow on an ideal path: 10 µs between segments, the window full.
#[derive(Clone)]
struct Flow {
    now: Instant,
    client: TcpEndpoint,
    server: TcpEndpoint,
    up: Wire,
    down: Wire,
}

const STEP: Span = Span::from_us(10);

impl Flow {
    /// A flow whose window has grown to 200 segments.
    fn settled(config: &StackConfig) -> Self {
        let config = StackConfig { receive_window: 200, ..*config }.into();
        let mut flow = Self {
            now: Instant::ZERO,
            client: TcpEndpoint::client(&config),
            server: TcpEndpoint::server(&config),
            up: Wire::default(),
            down: Wire::default(),
        };
        flow.client.open(flow.now, &mut flow.up);
        flow.client.write(flow.now, u64::MAX, &mut flow.up);
        for _ in 0..100_000 {
            flow.step();
        }
        flow
    }

    /// A segment reaches the server, and the answers reach the client.
    fn step(&mut self) {
        self.now += STEP;
        if let Some(segment) = self.up.segments.pop_front() {
            self.server.on_segment(self.now, &segment, &mut self.down);
        } else {
            // The flow waits for a delayed acknowledgement.
            self.now += Span::from_ms(500);
            self.server.on_timer(self.now, Timer::DelayedAck, &mut self.down);
        }
        while let Some(answer) = self.down.segments.pop_front() {
            self.client.on_segment(self.now, &answer, &mut self.up);
        }
    }
}

/// Segments per measured batch.
const BATCH: usize = 10_000;

fn round_trip(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("segment_and_acknowledgement");
    group.throughput(Throughput::Elements(BATCH as u64));
    for (name, config) in StackConfig::named() {
        let mut flow = Flow::settled(&config);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..BATCH {
                    flow.step();
                }
                flow.now
            });
        });
    }
    group.finish();
}

/// Acknowledgements for a whole number of windows, recorded from one run and replayed to a copy.
fn acknowledgements(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("acknowledgement");
    for (name, config) in StackConfig::named() {
        let start = Flow::settled(&config);
        let mut flow = start.clone();
        let mut recorded = Vec::new();
        for _ in 0..BATCH {
            flow.now += STEP;
            let Some(segment) = flow.up.segments.pop_front() else {
                break;
            };
            flow.server.on_segment(flow.now, &segment, &mut flow.down);
            while let Some(answer) = flow.down.segments.pop_front() {
                recorded.push((flow.now, answer));
                flow.client.on_segment(flow.now, &answer, &mut flow.up);
            }
        }
        group.throughput(Throughput::Elements(recorded.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || {
                    let mut client = start.clone();
                    client.up.segments = VecDeque::with_capacity(2 * BATCH);
                    client
                },
                |flow| {
                    for (now, answer) in &recorded {
                        flow.client.on_segment(*now, answer, &mut flow.up);
                        // The segments go; only their creation is measured.
                        flow.up.segments.clear();
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn data_segments(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("data_segment");
    for (name, config) in [("every", StackConfig::NS2_LINUX_CUBIC), ("second", StackConfig::LINUX_RENO)] {
        let start = Flow::settled(&config);
        let mut flow = start.clone();
        let mut recorded = Vec::new();
        for _ in 0..BATCH {
            if let Some(segment) = flow.up.segments.front() {
                recorded.push((flow.now + STEP, *segment));
            }
            flow.step();
        }
        group.throughput(Throughput::Elements(recorded.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || start.clone(),
                |flow| {
                    for (now, segment) in &recorded {
                        flow.server.on_segment(*now, segment, &mut flow.down);
                        black_box(flow.down.segments.pop_front());
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// Both ends while every 50th segment is lost: most acknowledgements arrive in recovery.
fn recovery(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("segment_and_acknowledgement_with_losses");
    group.throughput(Throughput::Elements(BATCH as u64));
    for name in ["ns2-linux-cubic", "ns2-bsd-sack", "ns3-2019", "linux-cubic"] {
        let config = StackConfig::by_name(name).expect("a known profile");
        let mut flow = Flow::settled(&config);
        let mut count = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..BATCH {
                    count += 1;
                    if count % 50 == 0 {
                        flow.up.segments.pop_front();
                    }
                    flow.step();
                    if let Some(due) = flow.up.deadline.filter(|due| *due <= flow.now) {
                        flow.up.deadline = None;
                        flow.client.on_timer(due.max(flow.now), Timer::Main, &mut flow.up);
                    }
                }
                flow.now
            });
        });
    }
    group.finish();
}

criterion_group!(benches, round_trip, acknowledgements, data_segments, recovery);
criterion_main!(benches);
