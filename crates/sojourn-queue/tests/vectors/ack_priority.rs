//! AP-1 to AP-3, and what happens when the lane is full.

use super::{name, named, packet};
use sojourn_base::{Bytes, Instant, Meta};
use sojourn_queue::{AckPriorityConfig, AckPriorityQueue, DropTailConfig, ManagerConfig, QueueManager, Verdict};
use sojourn_testkit::context::TestContext;

type Lane = AckPriorityQueue;

fn lane(config: AckPriorityConfig) -> Lane {
    let data = ManagerConfig::from(DropTailConfig::bytes(1_000_000));
    AckPriorityQueue::new(config, data.build())
}

fn ack(length: u32) -> Meta {
    Meta { pure_ack: true, ..packet(length, 0) }
}

fn offer(queue: &mut Lane, meta: Meta, items: &[&str]) {
    let mut context = TestContext::without_draws();
    for item in items {
        let verdict = queue.enqueue(Instant::ZERO, meta, named(item), &mut context);
        assert_eq!(verdict, Verdict::Accepted);
    }
}

fn served(queue: &mut Lane) -> Vec<String> {
    let mut context = TestContext::without_draws();
    std::iter::from_fn(|| {
        let expected = queue.head_length();
        let packet = queue.dequeue(Instant::ZERO, &mut context)?;
        assert_eq!(expected, Some(packet.meta.length));
        Some(name(packet.item))
    })
    .collect()
}

#[test]
fn an_acknowledgement_passes_waiting_data() {
    let mut queue = lane(AckPriorityConfig::BASE);
    offer(&mut queue, packet(1500, 0), &["d1", "d2", "d3"]);
    offer(&mut queue, ack(40), &["ack"]);
    assert_eq!(served(&mut queue), ["ack", "d1", "d2", "d3"]);
}

#[test]
fn data_get_their_turn_after_a_burst() {
    let mut queue = lane(AckPriorityConfig { burst: 2, ..AckPriorityConfig::BASE });
    offer(&mut queue, ack(40), &["a1", "a2", "a3", "a4", "a5"]);
    offer(&mut queue, packet(1500, 0), &["d1", "d2"]);
    assert_eq!(served(&mut queue), ["a1", "a2", "d1", "a3", "a4", "d2", "a5"]);
}

#[test]
fn what_is_not_a_small_pure_acknowledgement_waits_with_the_data() {
    let mut queue = lane(AckPriorityConfig::BASE);
    offer(&mut queue, packet(1500, 0), &["data"]);
    // SYN+ACK of 60 bytes and an acknowledgement with a byte of payload: the caller does not call
    // these pure. An acknowledgement beyond the longest is not one for us.
    offer(&mut queue, packet(60, 0), &["syn-ack"]);
    offer(&mut queue, packet(41, 0), &["payload"]);
    offer(&mut queue, ack(129), &["long"]);
    offer(&mut queue, ack(128), &["ack"]);
    assert_eq!(served(&mut queue), ["ack", "data", "syn-ack", "payload", "long"]);
}

#[test]
fn a_full_lane_sends_acknowledgements_to_the_data() {
    let mut queue = lane(AckPriorityConfig { limit: Bytes(100), ..AckPriorityConfig::BASE });
    offer(&mut queue, packet(1500, 0), &["data"]);
    offer(&mut queue, ack(40), &["a1", "a2", "a3"]);
    assert_eq!(served(&mut queue), ["a1", "a2", "data", "a3"]);
}
