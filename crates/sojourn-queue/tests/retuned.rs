//! Managers that go on with other parameters while packets wait.

use crate::properties::managers;
use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle, Span};
use sojourn_queue::{DropTailConfig, ManagerConfig, PieConfig, PieLaw, PieQueue, QueueManager};
use sojourn_testkit::context::TestContext;

fn packet(number: u64) -> Meta {
    Meta {
        length: 1000,
        flow_hash: u32::try_from(number % 7).expect("small").wrapping_mul(0x9e37_79b9),
        ..Meta::default()
    }
}

/// Returns the departures from a manager that gets a packet each 0.1 ms and may send one each 0.13 ms, and its drops.
fn served(config: &ManagerConfig, is_retuned: bool) -> (Vec<(u64, Instant)>, usize, bool) {
    let (mut manager, mut context) = (config.build(), TestContext::random(1));
    let mut keeps_on = true;
    let mut sent = Vec::new();
    for step in 0..4000_u64 {
        let now = Instant::from_us(100 * step);
        while let Some(due) = manager.next_timer().filter(|due| *due <= now) {
            manager.on_timer(due, &mut context);
        }
        if is_retuned && step % 500 == 250 {
            keeps_on &= manager.retune(config.as_any());
        }
        let _ = manager.enqueue(now, packet(step), PacketHandle(step), &mut context);
        if step % 13 < 10
            && let Some(packet) = manager.dequeue(now, &mut context)
        {
            sent.push((packet.item.0, packet.enqueued_at));
        }
    }
    (sent, context.dropped.len(), keeps_on)
}

#[test]
fn a_manager_that_goes_on_with_its_own_parameters_does_as_before() {
    for case in managers() {
        let (sent, dropped, keeps_on) = served(&case.config, true);
        assert_eq!(keeps_on, case.config.retunes(), "{:?}", case.config);
        if keeps_on {
            let (sent_alone, dropped_alone, _) = served(&case.config, false);
            assert_eq!((sent, dropped), (sent_alone, dropped_alone), "{:?}", case.config);
        }
    }
}

#[test]
fn a_manager_refuses_to_become_another_kind() {
    for case in managers() {
        let other = match case.config.kind() {
            "pie" => DropTailConfig::bytes(3000).into(),
            _ => ManagerConfig::from(PieConfig::RFC8033),
        };
        assert!(!case.config.build().retune(other.as_any()), "{:?}", case.config);
    }
}

#[test]
fn a_shorter_limit_drops_nothing_that_waits_and_refuses_arrivals_until_it_holds() {
    let limit = |bytes| ManagerConfig::from(DropTailConfig::bytes(bytes));
    let (mut queue, mut context) = (limit(64_000).build(), TestContext::without_draws());
    for number in 0..64 {
        let _ = queue.enqueue(Instant::ZERO, packet(number), PacketHandle(number), &mut context);
    }
    assert!(queue.retune(limit(8_000).as_any()));
    assert_eq!((queue.backlog().bytes, context.dropped.len()), (Bytes(64_000), 0));
    let mut refused_at = Vec::new();
    for number in 64..128 {
        let verdict = queue.enqueue(Instant::ZERO, packet(number), PacketHandle(number), &mut context);
        if !verdict.is_accepted() {
            refused_at.push(queue.backlog().bytes.0);
        }
        let _ = queue.dequeue(Instant::ZERO, &mut context);
    }
    // From 64 kB down to 8 kB, and not below.
    assert_eq!((refused_at.first(), refused_at.last()), (Some(&64_000), Some(&8_000)));
    assert_eq!(refused_at.len(), 57);
}

#[test]
fn pie_keeps_its_probability_and_not_its_period() {
    let config = PieConfig { limit: Limit::Bytes(Bytes(1_000_000)), ..PieConfig::RFC8033 };
    let (mut queue, mut context) = (PieQueue::new(config), TestContext::always(0.999));
    for number in 0..600 {
        let now = Instant::from_ms(number);
        if queue.next_timer().is_some_and(|due| due <= now) {
            queue.on_timer(now, &mut context);
        }
        let _ = queue.enqueue(now, packet(number), PacketHandle(number), &mut context);
        if number % 2 == 0 {
            let _ = queue.dequeue(now, &mut context);
        }
    }
    let before = queue.state(0).probability();
    assert!(before > 0.01, "{before}");
    let with = |law| PieConfig { law, ..config };
    let reference = Span::from_ms(5);
    assert!(queue.retune(&with(PieLaw { reference, ..config.law })));
    assert_eq!(queue.state(0).probability().to_bits(), before.to_bits());
    let update_interval = Span::from_ms(30);
    assert!(!queue.retune(&with(PieLaw { update_interval, ..config.law })));
}
