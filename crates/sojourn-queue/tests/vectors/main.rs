//! The published vectors that need a whole manager; those of a formula alone sit beside it.

mod ack_priority;
mod codel;
mod docsis_dual_queue;
mod drop_tail;
mod dualpi2;
mod flow_queueing;
mod pie;

use sojourn_base::{Instant, Meta};
use sojourn_queue::{ManagerConfig, QueueManager, Verdict};
use sojourn_testkit::context::TestContext;

/// A packet of `length` bytes of flow `flow`.
fn packet(length: u32, flow: u32) -> Meta {
    Meta {
        length,
        flow_hash: flow,
        ..Meta::default()
    }
}

/// Offers packets of these lengths at time 0 and spells what became of them: `A` accepted, `D` not.
fn verdicts(config: &ManagerConfig, lengths: &[u32]) -> String {
    let mut manager = config.build();
    let mut context = TestContext::without_draws();
    lengths
        .iter()
        .enumerate()
        .map(|(item, &length)| {
            match manager.enqueue(Instant::ZERO, packet(length, 0), item, &mut context) {
                Verdict::Accepted | Verdict::Placed(_) => 'A',
                Verdict::Dropped(_) => 'D',
            }
        })
        .collect()
}
