//! Properties of every manager, over random operation lists.
//!
//! A new manager joins by one line in `cases.rs`.

mod cases;

pub(crate) use cases::managers;
use proptest::prelude::*;
use sojourn_base::{Bytes, Ecn, Instant, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{Backlog, ManagerConfig};
use sojourn_testkit::context::TestContext;
use sojourn_testkit::operations::{Effect, Log, Operation, operations, run};

fn log_of(config: &ManagerConfig, operations: &[Operation], start: Instant) -> Log {
    run(&mut *config.build(), operations, start, 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_packet_is_delivered_dropped_or_waiting(operations in operations(300)) {
        for case in managers() {
            let log = log_of(&case.config, &operations, Instant::ZERO);
            let mut waiting = Backlog::default();
            let mut gone = vec![false; log.arrivals.len()];
            for line in &log.lines {
                // Victims may have been accepted by the same operation, so arrivals count first.
                for effect in &line.effects {
                    if let Effect::Accepted(n) = *effect {
                        waiting.bytes += Bytes(u64::from(log.arrival(n).length));
                        waiting.packets += Packets(1);
                    }
                }
                for effect in &line.effects {
                    match *effect {
                        Effect::Delivered(n, ..) | Effect::Dropped(n, _) => {
                            waiting.bytes -= Bytes(u64::from(log.arrival(n).length));
                            waiting.packets -= Packets(1);
                            prop_assert!(!gone[n as usize], "{} twice, {:?}", n, case.config);
                            gone[n as usize] = true;
                        }
                        Effect::Refused(n, _) => {
                            prop_assert!(!gone[n as usize], "{} twice, {:?}", n, case.config);
                            gone[n as usize] = true;
                        }
                        Effect::Accepted(_) | Effect::Marked(_) | Effect::Nothing => {}
                    }
                }
                prop_assert_eq!(line.backlog, waiting, "{:?}", case.config);
            }
        }
    }

    #[test]
    fn packets_of_a_flow_keep_their_order(operations in operations(300)) {
        for case in managers() {
            // In a manager with several queues: the packets of a flow within each of them.
            let log = log_of(&case.config, &operations, Instant::ZERO);
            let mut last = std::collections::BTreeMap::new();
            for effect in log.effects() {
                if let Effect::Delivered(n, _, queue) = effect {
                    let flow = log.arrival(n).flow_hash;
                    let before = last.insert((flow, queue as usize), n);
                    prop_assert!(before.is_none_or(|before| before < n), "{:?}", case.config);
                }
            }
        }
    }

    #[test]
    fn limits_hold_after_every_operation(operations in operations(300)) {
        for case in managers() {
            for line in log_of(&case.config, &operations, Instant::ZERO).lines {
                prop_assert!(line.backlog.bytes <= case.most.bytes, "{:?}", case.config);
                prop_assert!(line.backlog.packets <= case.most.packets, "{:?}", case.config);
            }
        }
    }

    #[test]
    fn only_capable_packets_are_marked_and_only_if_marks_are_wanted(operations in operations(300)) {
        for case in managers() {
            let log = log_of(&case.config, &operations, Instant::ZERO);
            let mut marked = vec![false; log.arrivals.len()];
            for effect in log.effects() {
                match effect {
                    Effect::Marked(n) => {
                        prop_assert!(case.marks != Some(false), "{:?} must not mark", case.config);
                        let ecn = log.arrival(n).ecn;
                        prop_assert!(matches!(ecn, Ecn::Ect0 | Ecn::Ect1));
                        prop_assert!(!marked[n as usize], "marked twice");
                        marked[n as usize] = true;
                    }
                    Effect::Delivered(n, ecn, _) => {
                        let expected = if marked[n as usize] { Ecn::Ce } else { log.arrival(n).ecn };
                        prop_assert_eq!(ecn, expected);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn an_opportunity_is_wasted_only_if_nothing_is_left(operations in operations(300)) {
        for case in managers() {
            for line in log_of(&case.config, &operations, Instant::ZERO).lines {
                if line.effects.contains(&Effect::Nothing) {
                    prop_assert_eq!(line.backlog, Backlog::default(), "{:?}", case.config);
                }
            }
        }
    }

    #[test]
    fn the_same_input_gives_the_same_output(operations in operations(300)) {
        for case in managers() {
            let [one, other] = [(); 2].map(|()| log_of(&case.config, &operations, Instant::ZERO));
            prop_assert_eq!(one, other, "{:?}", case.config);
        }
    }

    #[test]
    fn a_later_start_changes_nothing(operations in operations(300), periods in 1..40_u64) {
        for case in managers() {
            // The shift is a multiple of every timer's period (15, 16 and 30 ms), because
            // timers count from the start of the run.
            let shifted = Instant::ZERO + Span::from_ms(240) * periods;
            prop_assert_eq!(
                log_of(&case.config, &operations, Instant::ZERO),
                log_of(&case.config, &operations, shifted),
                "{:?}",
                case.config
            );
        }
    }

    #[test]
    fn an_empty_queue_is_passed_as_if_offered_and_asked(
        arrivals in prop::collection::vec((0..200_000_u64, 40..1515_u32, 0..4_usize), 1..40),
    ) {
        for case in managers() {
            // Literally: offered, asked, and asked again in vain when the line is free.
            let (mut literal, mut short) = (case.config.build(), case.config.build());
            let (mut asked, mut passed) = (TestContext::random(1), TestContext::random(1));
            let mut now = Instant::ZERO;
            for (number, (gap, length, ecn)) in (0..).zip(&arrivals) {
                now += Span::from_us(1000 + gap);
                let meta = Meta {
                    length: *length,
                    flow_hash: number % 3,
                    ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][*ecn],
                    ..Meta::default()
                };
                let verdict = literal.enqueue(now, meta, PacketHandle(number.into()), &mut asked);
                let expected = verdict
                    .is_accepted()
                    .then(|| literal.dequeue(now, &mut asked))
                    .flatten();
                let through = short.pass(now, meta, PacketHandle(number.into()), &mut passed);
                prop_assert_eq!(through, expected, "{:?}", case.config);
                let free_at = now + Span::from_us(500);
                prop_assert_eq!(literal.dequeue(free_at, &mut asked), None);
                if short.notices_idling() {
                    prop_assert_eq!(short.dequeue(free_at, &mut passed), None);
                }
                prop_assert_eq!(&asked.dropped, &passed.dropped, "{:?}", case.config);
            }
        }
    }
}

#[test]
fn an_empty_manager_has_nothing_to_send_and_no_head() {
    for case in managers() {
        let mut manager = case.config.build();
        let mut context = TestContext::without_draws();
        assert_eq!(manager.dequeue(Instant::from_s(1), &mut context), None);
        assert_eq!(manager.head_length(), None);
        assert_eq!(manager.backlog(), Backlog::default());
    }
}

#[test]
fn the_cases_drop_and_mark_often_enough_to_mean_something() {
    // A fixed list as the strategy would make it: three packets in, two out, all flows, all fields.
    let operations: Vec<Operation> = (0..3000_u32)
        .map(|n| match n % 6 {
            0 | 2 | 3 => Operation::Arrive(Meta {
                length: [1500, 40, 700][(n % 3) as usize],
                flow_hash: n % 5,
                ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][(n % 4) as usize],
                ..Meta::default()
            }),
            1 | 4 => Operation::Serve,
            _ => Operation::Wait(Span::from_us(900)),
        })
        .collect();
    for case in managers() {
        let log = log_of(&case.config, &operations, Instant::ZERO);
        let count = |wanted: fn(&Effect) -> bool| log.effects().filter(wanted).count();
        let lost = count(|effect| matches!(effect, Effect::Dropped(..) | Effect::Refused(..)));
        let marked = count(|effect| matches!(effect, Effect::Marked(_)));
        assert!(lost + marked > 5, "{:?}: {lost} and {marked}", case.config);
        if let Some(marks) = case.marks {
            assert_eq!(marks, marked > 0, "{:?}", case.config);
        }
    }
}
