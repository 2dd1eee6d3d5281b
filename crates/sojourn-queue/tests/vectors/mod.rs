//! The published vectors that need a whole manager; those of a formula alone sit beside it.

mod ack_priority;
mod codel;
mod docsis_dual_queue;
mod drop_tail;
mod dualpi2;
mod flow_queueing;
mod pie;

use sojourn_base::{Instant, Meta, PacketHandle};
use sojourn_queue::{ManagerConfig, Verdict};
use sojourn_testkit::context::TestContext;

/// A packet of `length` bytes of flow `flow`.
fn packet(length: u32, flow: u32) -> Meta {
    Meta { length, flow_hash: flow, ..Meta::default() }
}

/// The handle of a packet that is called by its flow and its place in it.
fn handle(flow: u32, place: u32) -> PacketHandle {
    PacketHandle(u64::from(flow) << 32 | u64::from(place))
}

/// The flow and the place of such a handle.
fn flow_and_place(PacketHandle(both): PacketHandle) -> (u32, u32) {
    let half = |half| u32::try_from(half).expect("a half");
    (half(both >> 32), half(both & u64::from(u32::MAX)))
}

/// The handle of a packet that is called by a name of up to eight letters.
fn named(name: &str) -> PacketHandle {
    let mut letters = [0; 8];
    letters[..name.len()].copy_from_slice(name.as_bytes());
    PacketHandle(u64::from_le_bytes(letters))
}

/// The name of such a handle.
fn name(PacketHandle(letters): PacketHandle) -> String {
    let letters = letters.to_le_bytes().into_iter().filter(|letter| *letter > 0);
    letters.map(char::from).collect()
}

/// Offers packets of these lengths at time 0 and returns their fates: `A` accepted, `D` not.
fn verdicts(config: &ManagerConfig, lengths: &[u32]) -> String {
    let mut manager = config.build();
    let mut context = TestContext::without_draws();
    lengths
        .iter()
        .enumerate()
        .map(|(item, &length)| {
            match manager.enqueue(Instant::ZERO, packet(length, 0), PacketHandle(item as u64), &mut context) {
                Verdict::Accepted | Verdict::Placed(_) => 'A',
                Verdict::Dropped(_) => 'D',
            }
        })
        .collect()
}
