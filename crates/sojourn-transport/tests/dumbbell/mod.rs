//! Several flows through one tail-drop queue, for tests of how they share it. All packets of clients
//! pass it; what servers answer comes back without queueing.

use sojourn_base::{BitRate, Bytes, Instant, Span};
use sojourn_transport::{Endpoint, EndpointContext, Event, Segment, SendTimes, StackConfig, Timer};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Ends of flow `n`: client 2n, server 2n + 1.
type EndId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Start,
    Arrival,
    Timer(usize),
}

#[derive(Default)]
struct Wishes {
    segments: Vec<Segment>,
    timers: Vec<(Timer, Instant)>,
}

impl EndpointContext for Wishes {
    fn emit(&mut self, segment: &Segment, _: SendTimes) {
        self.segments.push(*segment);
    }

    fn arm(&mut self, timer: Timer, at: Instant) {
        self.timers.push((timer, at));
    }

    fn notify(&mut self, _: Event) {}
}

/// A flow that sends without end from `start` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) config: StackConfig,
    pub(crate) start: Instant,
    /// Round trip without queueing.
    pub(crate) round_trip: Span,
}

/// The bottleneck and its flows.
pub(crate) struct Dumbbell {
    rate: BitRate,
    buffer: usize,
    flows: Vec<Flow>,
    ends: Vec<Endpoint>,
    deadlines: Vec<[Instant; 3]>,
    /// Segments in flight towards each end, in order of arrival.
    wires: Vec<VecDeque<Segment>>,
    agenda: BinaryHeap<Reverse<(Instant, u64, EndId, Kind)>>,
    order: u64,
    queue: VecDeque<Instant>,
    free_at: Instant,
    wishes: Wishes,
    /// Waiting and service of each packet that was accepted, in seconds: sum and number.
    delay: (f64, u64),
}

impl Dumbbell {
    /// A link of `rate` that holds `buffer` packets, the one in service included.
    pub(crate) fn new(rate: BitRate, buffer: usize, flows: &[Flow]) -> Self {
        let ends: Vec<Endpoint> = flows
            .iter()
            .flat_map(|flow| {
                let config = flow.config.into();
                [Endpoint::client(&config), Endpoint::server(&config)]
            })
            .collect();
        let mut world = Self {
            rate,
            buffer,
            flows: flows.to_vec(),
            deadlines: vec![[Instant::NEVER; 3]; ends.len()],
            wires: vec![VecDeque::new(); ends.len()],
            ends,
            agenda: BinaryHeap::new(),
            order: 0,
            queue: VecDeque::new(),
            free_at: Instant::ZERO,
            wishes: Wishes::default(),
            delay: (0.0, 0),
        };
        for (number, flow) in flows.iter().enumerate() {
            world.schedule(flow.start, 2 * number, Kind::Start);
        }
        world
    }

    /// Let things happen until `limit`.
    pub(crate) fn run(&mut self, limit: Instant) {
        while let Some(&Reverse((at, _, end, kind))) = self.agenda.peek() {
            if at > limit {
                return;
            }
            self.agenda.pop();
            let mut wishes = std::mem::take(&mut self.wishes);
            match kind {
                Kind::Start => {
                    self.ends[end].open(at, &mut wishes);
                    self.ends[end].write(at, u64::MAX, &mut wishes);
                }
                Kind::Arrival => {
                    let segment = self.wires[end].pop_front().expect("it was sent");
                    self.ends[end].on_segment(at, &segment, &mut wishes);
                }
                Kind::Timer(timer) => {
                    if self.deadlines[end][timer] == at {
                        let which = [Timer::Main, Timer::DelayedAck, Timer::Pacing][timer];
                        self.ends[end].on_timer(at, which, &mut wishes);
                    }
                }
            }
            for segment in wishes.segments.drain(..) {
                self.send(at, end, segment);
            }
            for (timer, due) in wishes.timers.drain(..) {
                self.deadlines[end][timer as usize] = due;
                if due != Instant::NEVER {
                    self.schedule(due, end, Kind::Timer(timer as usize));
                }
            }
            self.wishes = wishes;
        }
    }

    /// Bytes delivered by each flow.
    pub(crate) fn delivered(&self) -> Vec<u64> {
        let servers = self.ends.iter().skip(1).step_by(2);
        servers.map(|end| end.snapshot().delivered).collect()
    }

    /// Mean waiting and service time in seconds of the packets since the last call.
    pub(crate) fn take_mean_delay(&mut self) -> f64 {
        let (sum, count) = std::mem::take(&mut self.delay);
        sum / count as f64
    }

    fn send(&mut self, now: Instant, from: EndId, segment: Segment) {
        let one_way = self.flows[from / 2].round_trip / 2;
        let mut leaves = now;
        if from.is_multiple_of(2) {
            while self.queue.front().is_some_and(|&left| left <= now) {
                self.queue.pop_front();
            }
            if self.queue.len() >= self.buffer {
                return;
            }
            let begins = self.free_at.max(now);
            leaves = begins + self.rate.time_for(Bytes(u64::from(segment.length)));
            self.delay.0 += leaves.saturating_since(now).as_secs_f64();
            self.delay.1 += 1;
            self.free_at = leaves;
            self.queue.push_back(leaves);
        }
        let peer = from ^ 1;
        self.wires[peer].push_back(segment);
        self.schedule(leaves + one_way, peer, Kind::Arrival);
    }

    fn schedule(&mut self, at: Instant, end: EndId, kind: Kind) {
        self.order += 1;
        self.agenda.push(Reverse((at, self.order, end, kind)));
    }
}
