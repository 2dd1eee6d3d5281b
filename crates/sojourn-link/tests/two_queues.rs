//! A manager with two queues over links: what a dual queue of Low Latency DOCSIS asks of the seam.
//!
//! The manager is the smallest one that uses all of it: arrivals marked ECT(1) go to a short low-latency
//! queue, which marks from a length on and hands what does not fit to the classic queue, as queue
//! protection does.

use crate::support::{Manners, Outcome, Recorder, drive};
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Meta, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_link::{AnyLink, Serial, SerialConfig};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use sojourn_testkit::context::TestContext;
use std::collections::VecDeque;

/// Packets that the low-latency queue holds, from how many on it marks, and what the classic one holds.
const ROOM: usize = 4;
const MARKS_FROM: usize = 2;
const CLASSIC_ROOM: usize = 10;

#[derive(Debug, Default)]
struct TwoQueues {
    low_latency: VecDeque<Held>,
    classic: VecDeque<Held>,
}

fn backlog(packets: &VecDeque<Held>) -> Backlog {
    Backlog {
        bytes: Bytes(packets.iter().map(|held| u64::from(held.meta.length)).sum()),
        packets: Packets(u32::try_from(packets.len()).expect("a short queue")),
    }
}

impl QueueManager for TwoQueues {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        // The test's packets are ECT(0) or nothing; what is capable counts as low-latency traffic.
        let chosen = meta.ecn.is_capable();
        let queue =
            if chosen && self.low_latency.len() < ROOM { ServiceQueue::LowLatency } else { ServiceQueue::Classic };
        let mut held = Held::new(now, Meta { queue, ..meta }, item);
        if queue == ServiceQueue::Classic && self.classic.len() >= CLASSIC_ROOM {
            context.dropped(held, Reason::Overlimit);
            return Verdict::Dropped(Reason::Overlimit);
        }
        let marked = queue == ServiceQueue::LowLatency && self.low_latency.len() >= MARKS_FROM;
        if marked {
            held.meta.ecn = Ecn::Ce;
            context.marked(&held, Reason::Early);
        }
        match queue {
            ServiceQueue::LowLatency => self.low_latency.push_back(held),
            _ => self.classic.push_back(held),
        }
        Verdict::Placed(queue)
    }

    fn dequeue(&mut self, _: Instant, _: &mut dyn QueueContext) -> Option<Held> {
        let first = self.low_latency.pop_front();
        first.or_else(|| self.classic.pop_front())
    }

    fn dequeue_from(&mut self, _: Instant, queue: ServiceQueue, _: &mut dyn QueueContext) -> Option<Held> {
        match queue {
            ServiceQueue::LowLatency => self.low_latency.pop_front(),
            ServiceQueue::Classic => self.classic.pop_front(),
            ServiceQueue::AckPriority => None,
        }
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        match queue {
            ServiceQueue::LowLatency => backlog(&self.low_latency),
            ServiceQueue::Classic => backlog(&self.classic),
            ServiceQueue::AckPriority => Backlog::default(),
        }
    }

    fn backlog(&self) -> Backlog {
        let (one, other) = (backlog(&self.low_latency), backlog(&self.classic));
        Backlog { bytes: one.bytes + other.bytes, packets: one.packets + other.packets }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_line_conserves_the_packets_of_two_queues_and_says_which_they_were_in(
        gaps in prop::collection::vec((0_u64..4_000, 40_u32..1500), 1..120),
    ) {
        let mut now = Instant::ZERO;
        let arrivals: Vec<(Instant, u32)> = gaps.into_iter().map(|(gap, length)| {
            now += Span::from_us(gap);
            (now, length)
        }).collect();
        let rate = BitRate::from_mbps(4);
        let config = SerialConfig::plain(rate, Span::from_ms(1));
        let mut line = AnyLink::from(Serial::new(config, Box::new(TwoQueues::default()) as Box<dyn QueueManager>));
        let mut recorder = Recorder::new();
        drive(&mut line, &arrivals, Manners::Plain, &mut recorder, |_, line, _| {
            let AnyLink::Serial(line) = line else { unreachable!("it is a line") };
            let manager = line.manager();
            let parts = ServiceQueue::ALL.map(|queue| manager.backlog_of(queue));
            let bytes: u64 = parts.iter().map(|part| part.bytes.0).sum();
            assert_eq!(Bytes(bytes), manager.backlog().bytes);
        });
        prop_assert_eq!(line.backlog().packets, Packets::ZERO);
        let mut seen = vec![0; arrivals.len()];
        let mut last = [None; 3];
        for (_, outcome) in &recorder.outcomes {
            match outcome {
                Outcome::Delivered(item, meta, _) => {
                    seen[*item as usize] += 1;
                    prop_assert!(meta.ecn != Ecn::Ce || meta.queue == ServiceQueue::LowLatency);
                    let last = &mut last[meta.queue as usize];
                    prop_assert!(*last < Some(*item), "order within a queue");
                    *last = Some(*item);
                }
                Outcome::Dropped(item, meta, loss) => {
                    seen[*item as usize] += 1;
                    prop_assert_eq!((meta.queue, loss.reason), (ServiceQueue::Classic, Reason::Overlimit));
                }
            }
        }
        prop_assert!(seen.iter().all(|times| *times == 1), "{:?}", seen);
        let marked = recorder.delivered().iter().filter(|(_, meta, _)| meta.ecn == Ecn::Ce).count();
        prop_assert_eq!(marked, recorder.marks.len());
    }

    #[test]
    fn grants_for_one_queue_take_from_that_queue_only(
        steps in prop::collection::vec((0_usize..4, any::<bool>()), 1..200),
    ) {
        let (mut manager, mut context) = (TwoQueues::default(), TestContext::without_draws());
        let (mut accepted, mut sent) = ([0; 3], [0; 3]);
        for (number, (step, capable)) in (0..).zip(steps) {
            let now = Instant::from_ms(number);
            if let Some(queue) = [ServiceQueue::Classic, ServiceQueue::LowLatency].get(step) {
                if let Some(held) = manager.dequeue_from(now, *queue, &mut context) {
                    prop_assert_eq!(held.meta.queue, *queue);
                    sent[*queue as usize] += 1;
                }
            } else {
                let ecn = if capable { Ecn::Ect1 } else { Ecn::NotEct };
                let meta = Meta { length: 100, ecn, ..Meta::default() };
                let before = context.marked.len();
                match manager.enqueue(now, meta, PacketHandle(number), &mut context) {
                    Verdict::Placed(queue) => {
                        accepted[queue as usize] += 1;
                        let is_marked = context.marked.len() > before;
                        prop_assert!(!is_marked || queue == ServiceQueue::LowLatency);
                    }
                    Verdict::Dropped(_) => {}
                    Verdict::Accepted => prop_assert!(false, "it has two queues"),
                }
            }
            for queue in ServiceQueue::ALL {
                let waiting = manager.backlog_of(queue).packets.0;
                prop_assert_eq!(accepted[queue as usize], sent[queue as usize] + waiting);
            }
        }
    }
}
