use super::*;
use crate::testing::{Collector, drive};
use crate::{LinkConfig, Serial, SerialConfig};
use proptest::prelude::*;
use sojourn_keys::Value as _;
use sojourn_queue::{CodelConfig, DropTailConfig, DropTailQueue, ManagerConfig};
use std::string::ToString as _;

fn trace(text: &str) -> TraceConfig {
    TraceConfig::of(Opportunities::parse(text).expect("a trace"))
}

fn sized(text: &str, opportunity: u64) -> TraceConfig {
    TraceConfig { opportunity: Bytes(opportunity), ..trace(text) }
}

fn link(config: &TraceConfig) -> Trace<DropTailQueue> {
    Trace::new(config, Box::new(DropTailQueue::new(DropTailConfig::bytes(10_000_000))))
}

/// Returns the arrivals at the far end, in ms, of packets that come at these times in µs, of these lengths.
fn arrivals(config: &TraceConfig, packets: &[(u64, u32)]) -> Vec<f64> {
    passages(config, packets).iter().map(|passage| passage.arrives_at.as_ns() as f64 / 1e6).collect()
}

fn passages(config: &TraceConfig, packets: &[(u64, u32)]) -> Vec<Passage> {
    let mut context = Collector::default();
    let packets = packets.iter().map(|(at, length)| (Instant::from_us(*at), *length));
    drive(&mut link(config), packets, Instant::NEVER, &mut context);
    for (_, _, passage) in &context.delivered {
        let whole = passage.entered_at + passage.delay.total();
        assert_eq!(whole, passage.arrives_at, "{passage:?}");
    }
    context.delivered.iter().map(|one| one.2).collect()
}

#[test]
fn packets_share_opportunities_and_take_several() {
    // Vector B1: 4 B of the second leave at 1 ms and 8 B of the third at 2 ms, which changes no arrival.
    let packets = [(200, 1500), (200, 1500), (500, 100)];
    for opportunity in [1500, 1504] {
        let found = arrivals(&sized("1", opportunity), &packets);
        assert_eq!(found, [1.0, 2.0, 3.0]);
    }
    // Vector B2.
    let packets = [(1000, 1000), (2000, 800), (3000, 100), (4000, 1500)];
    let bytes = sized("5 5 8 12", 1500);
    assert_eq!(arrivals(&bytes, &packets), [5.0, 5.0, 5.0, 8.0]);
    // Vector B3.
    let each = TraceConfig { share: Share::Packets, ..bytes };
    assert_eq!(arrivals(&each, &packets), [5.0, 5.0, 8.0, 12.0]);
}

#[test]
fn a_trace_begins_again_after_its_last_opportunity() {
    // Vector B4: a period of 10 ms.
    let packets = [(9500, 1500), (11_000, 1500), (12_000, 1500)];
    assert_eq!(arrivals(&trace("3 7 10"), &packets), [10.0, 13.0, 17.0]);
    let once = TraceConfig { repeat: false, ..trace("3 7 10") };
    assert_eq!(arrivals(&once, &packets), [10.0]);
    assert_eq!(once.ends_after(), Some(Span::from_ms(10)));
    assert_eq!(once.offered(Span::from_ms(7)), Some(Bytes(2 * 1504)));
    assert_eq!(once.offered(Span::from_s(7)), Some(Bytes(3 * 1504)));
    assert_eq!(trace("3 7 10").offered(Span::from_ms(13)), Some(Bytes(4 * 1504)));
}

#[test]
fn a_packet_at_the_instant_of_an_opportunity_has_missed_it() {
    // Vector B5.
    let found = passages(&trace("3 7 10"), &[(7000, 1500)]);
    assert_eq!(found[0].arrives_at, Instant::from_ms(10));
    assert_eq!(found[0].delay.grant_wait, Span::from_ms(3));
    assert_eq!(found[0].delay.queue, Span::ZERO);
    // One that finds another before it waits in the queue until it is pulled, into the 4 B that the first left over.
    let found = passages(&trace("3 7 10"), &[(7000, 1500), (7000, 1500)]);
    assert_eq!(found[1].delay.queue, Span::from_ms(3));
    assert_eq!(found[1].delay.grant_wait, Span::ZERO);
    assert_eq!(found[1].delay.serialisation, Span::from_ms(3));
}

#[test]
fn an_opportunity_a_millisecond_is_twelve_megabits() {
    // Vector B6: 60,000 packets of 1500 B in 60 s.
    let config = sized("1", 1500);
    assert_eq!(config.drain_rate(), BitRate::from_mbps(12));
    let packets: Vec<(u64, u32)> = (0..61_000).map(|n| (n * 900, 1500)).collect();
    let before = passages(&config, &packets).iter().filter(|passage| passage.arrives_at <= Instant::from_s(60)).count();
    // The first packet comes at 0 and leaves at 1 ms.
    assert_eq!(before, 60_000);
}

#[test]
fn a_scale_leaves_opportunities_out_or_doubles_them() {
    // Vector B7: at 2, 4, 6 ms.
    let half = TraceConfig { scale: 0.5, ..sized("1", 1500) };
    assert_eq!(half.drain_rate(), BitRate::from_mbps(6));
    let packets = [(0, 1500); 4];
    assert_eq!(arrivals(&half, &packets), [2.0, 4.0, 6.0, 8.0]);
    let twice = TraceConfig { scale: 2.0, ..sized("1", 1500) };
    assert_eq!(arrivals(&twice, &packets), [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn a_run_begins_where_it_is_told() {
    let later = TraceConfig { start: Some(Span::from_ms(6)), ..trace("3 7 10") };
    // 7, 10, 13, 17 of the trace are 1, 4, 7, 11 of the run.
    let packets = [(0, 1500); 4];
    assert_eq!(arrivals(&later, &packets), [1.0, 4.0, 7.0, 11.0]);
    let anywhere = TraceConfig { start: None, ..trace("3 7 10") };
    let firsts: Vec<u64> = (1..40)
        .map(|seed| {
            let mut context = Collector::seeded(seed);
            let first = [(Instant::ZERO, 1500), (Instant::from_us(1), 1500)];
            drive(&mut link(&anywhere), first, Instant::NEVER, &mut context);
            assert_eq!(context.draws[Draw::TraceStart as usize], 1);
            context.delivered[0].2.arrives_at.as_ns() / 1_000_000
        })
        .collect();
    // From 3 ms the next is 4 later, from 7 ms 3 later, from the end 3.
    assert!(firsts.iter().all(|first| [3, 4].contains(first)), "{firsts:?}");
    assert!(firsts.contains(&3) && firsts.contains(&4));
}

/// A trace with an opportunity each millisecond, and lines of light use.
fn light(lines: &str) -> TraceConfig {
    TraceConfig { light: Trains::parse(lines).expect("trains"), ..trace("1") }
}

const LINES: &str = "0 20 0 2 4; 1000 30 0 2 4";

#[test]
fn a_lone_packet_comes_after_the_base_delay_between_two_lines() {
    // Vector B11.
    let found = passages(&light(LINES), &[(500_000, 1504)]);
    assert_eq!(found[0].arrives_at, Instant::from_ms(525));
    assert_eq!(found[0].delay.wire, Span::from_ms(25));
    // Behind the last line its delay stays.
    assert_eq!(arrivals(&light(LINES), &[(4_000_000, 1504)]), [4030.0]);
}

#[test]
fn a_short_train_comes_as_it_was_measured_and_the_rest_waits_for_opportunities() {
    // Vector B12: the fourth goes to the opportunities at 20 ms, and takes that of 21 ms.
    let mut context = Collector::default();
    let packets = [(Instant::ZERO, 1504); 4];
    drive(&mut link(&light(LINES)), packets, Instant::NEVER, &mut context);
    let mut found: Vec<(u32, u64)> = context
        .delivered
        .iter()
        .map(|(number, _, passage)| (*number, passage.arrives_at.as_ns() / 1_000_000))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 20), (1, 22), (2, 24), (3, 21)]);
    for (_, _, passage) in &context.delivered {
        assert_eq!(passage.entered_at + passage.delay.total(), passage.arrives_at);
    }
    // Small packets share a chance: 1000 and 500 B of the first, 1000 of the second.
    let small = [(0, 1000), (0, 500), (0, 1000)];
    assert_eq!(arrivals(&light(LINES), &small), [20.0, 20.0, 22.0]);
    // A packet that comes when the train is long over begins another.
    assert_eq!(arrivals(&light("0 20 0 2 4"), &[(0, 1504), (30_000, 1504)]), [20.0, 50.0]);
    let wide = TraceConfig { train_gap: Span::from_ms(50), ..light("0 20 0 2 40") };
    assert_eq!(arrivals(&wide, &[(0, 1504), (30_000, 1504)]), [20.0, 60.0]);
}

#[test]
fn lines_of_light_use_are_printed_and_read_back_or_refused() {
    assert_eq!(Trains::parse(LINES).expect("trains").print(), alloc::format!("{LINES:?}"));
    assert_eq!(Trains::NONE.print(), "\"none\"");
    for (text, said) in [
        ("", "there is no train"),
        ("0 20", "no arrivals"),
        ("0", "three numbers"),
        ("0 20 4 2", "no arrivals in rising order"),
        ("5 20 0; 5 20 0", "time does not rise to 5 ms"),
        ("0 2x 0", "\"2x\" is no whole number"),
        ("0 60001 0", "more than 60000 ms"),
        ("-1 20 0", "\"-1\" is no whole number"),
    ] {
        let found = Trains::parse(text).expect_err(text);
        assert!(found.message.contains(said), "{text}: {}", found.message);
    }
}

#[test]
fn a_trace_that_cannot_be_is_refused_in_a_sentence() {
    for (text, said) in [
        ("", "there is no opportunity"),
        ("0 0 0", "all opportunities are at 0 ms"),
        ("5 3", "time runs back, from 5 ms to 3 ms"),
        ("5 x", "\"x\" is no time"),
        ("5 7.5", "\"7.5\" is no time"),
        ("-1", "\"-1\" is no time"),
        ("5*", "\"5*\" is no time"),
        ("1*16000001", "more than 16000000"),
        ("4294967296", "is no time"),
        ("1728000001", "one after 1728000000 ms"),
    ] {
        let found = Opportunities::parse(text).expect_err(text);
        assert!(found.message.contains(said), "{text}: {}", found.message);
    }
    // A profile alone has no trace.
    let without = LinkConfig::from(TraceConfig::SATURATOR);
    assert_eq!(without.problems()[0].field, "opportunities");
    let late = TraceConfig { start: Some(Span::from_ms(12)), ..trace("5 12") };
    assert_eq!(LinkConfig::from(late).problems()[0].field, "start");
}

#[test]
fn a_trace_is_printed_as_gaps_and_read_back() {
    let found = Opportunities::parse("5 5 8\n12").expect("a trace");
    assert_eq!(found.print(), "\"5*2 +3 +4\"");
    assert_eq!(Opportunities::parse("5*2 +3 +4").expect("a trace"), found);
    assert_eq!(Opportunities::parse("0 5").expect("a trace").print(), "\"0 +5\"");
}

#[test]
fn codel_behind_a_trace_keeps_what_a_drop_tail_queue_does_not() {
    // 6 Mb/s offered to 3: an opportunity of 1500 B each 4 ms.
    let longest = |queue: ManagerConfig| {
        let config = LinkConfig { link: sized("4", 1500).into(), queue };
        let mut context = Collector::default();
        let mut link = Trace::new(&sized("4", 1500), config.queue.build());
        let packets = (0..5000).map(|n| (Instant::from_ms(2 * n), 1500));
        drive(&mut link, packets, Instant::from_s(10), &mut context);
        let last = context.delivered.last().expect("something arrives").2;
        (last.delay.total(), context.dropped.len())
    };
    let (plain, _) = longest(DropTailConfig::bytes(10_000_000).into());
    let (managed, dropped) = longest(CodelConfig::RFC8289.into());
    assert!(plain > Span::from_s(4), "{plain}");
    assert!(managed < plain, "{managed}");
    assert!(dropped > 50, "{dropped}");
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        runs in prop::collection::vec((0_u32..50, 1_u32..4), 1..40),
    ) {
        let mut at = 1;
        let runs: Vec<(u32, u32)> = runs.into_iter().map(|(gap, count)| { at += gap; (at, count) }).collect();
        let made = Opportunities::new(runs).expect("in order");
        let text = made.print();
        prop_assert_eq!(Opportunities::parse(text.trim_matches('"')).expect("printed"), made);
    }

    /// Nothing is lost or overtakes, wherever wake-ups are left out, and no more leaves than there is room for.
    #[test]
    fn packets_keep_their_order_and_opportunities_their_room(
        gaps in prop::collection::vec((0_u32..9, 1_u32..4), 1..20),
        packets in prop::collection::vec((0_u64..3000, 40_u32..3000), 1..60),
        share_bytes: bool,
        start_ms in 0_u64..4,
        scale in prop_oneof![Just(1.0), Just(0.5), Just(2.0), Just(0.7)],
    ) {
        let mut at = 4;
        let runs: Vec<(u32, u32)> = gaps.into_iter().map(|(gap, count)| { at += gap; (at, count) }).collect();
        let config = TraceConfig {
            share: if share_bytes { Share::Bytes } else { Share::Packets },
            start: Some(Span::from_ms(start_ms)),
            scale,
            ..TraceConfig::of(Opportunities::new(runs).expect("in order"))
        };
        let mut now = 0;
        let packets: Vec<(u64, u32)> = packets.into_iter().map(|(gap, length)| { now += gap; (now, length) }).collect();
        let found = passages(&config, &packets);
        prop_assert_eq!(found.len(), packets.len());
        prop_assert!(found.is_sorted_by_key(|passage| passage.arrives_at));
        prop_assert!(found.is_sorted_by_key(|passage| passage.entered_at));

        let mut left = 0;
        for passage in found.iter().zip(&packets) {
            left += u64::from(passage.1.1);
            let room = config.offered(passage.0.arrives_at.saturating_since(Instant::ZERO));
            prop_assert!(Some(Bytes(left)) <= room);
        }

        // The same without a single wake-up until the end.
        let mut late = link(&config);
        let mut context = Collector::default();
        for (number, (at, length)) in (0..).zip(&packets) {
            late.on_arrival(Instant::from_us(*at), crate::testing::packet(*length), PacketHandle(number), &mut context);
        }
        late.on_wakeup(Instant::from_s(100_000), &mut context);
        let again: Vec<Passage> = context.delivered.iter().map(|one| one.2).collect();
        prop_assert_eq!(again, found);
    }

    /// A constant trace is the serial line of its rate, within one opportunity.
    #[test]
    fn a_constant_trace_is_the_line_of_its_rate(
        packets in prop::collection::vec((0_u64..3000, 40_u32..1501), 1..200),
    ) {
        let mut now = 0;
        let packets: Vec<(Instant, u32)> = packets.into_iter().map(|(gap, length)| { now += gap; (Instant::from_us(now), length) }).collect();
        let queue = || Box::new(DropTailQueue::new(DropTailConfig::bytes(10_000_000)));
        let serial = SerialConfig::plain(BitRate::from_mbps(12), Span::ZERO);
        let (mut line, mut trace) = (Serial::new(serial, queue()), Trace::new(&sized("1", 1500), queue()));
        let (mut of_line, mut of_trace) = (Collector::default(), Collector::default());
        drive(&mut line, packets.iter().copied(), Instant::NEVER, &mut of_line);
        drive(&mut trace, packets.iter().copied(), Instant::NEVER, &mut of_trace);
        for (one, other) in of_line.delivered.iter().zip(&of_trace.delivered) {
            prop_assert_eq!(one.0, other.0);
            // Work lies behind by a millisecond at most in either, since whole opportunities are spent at their end.
            let apart = other.2.arrives_at.saturating_since(one.2.arrives_at)
                .max(one.2.arrives_at.saturating_since(other.2.arrives_at));
            prop_assert!(apart <= Span::from_ms(1), "{}", apart.to_string());
        }
    }
}
