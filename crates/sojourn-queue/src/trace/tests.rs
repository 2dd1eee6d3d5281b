//! Vectors by hand, and what any trace must do.

use super::*;
use crate::{CodelConfig, Held, ManagerConfig, PieConfig, QueueContext};
use alloc::format;
use alloc::string::ToString;
use sojourn_base::{Ecn, Span};
use std::collections::VecDeque;

/// Two packets fit: of three within 200 ns, the third is refused.
const THREE: &str = "\
sojourn-trace 1
= manager drop-tail limit=\"2 packets\"
> a 0 1 1500 1f 0 0 - 0
< e 1
> a 100 2 1500 1f 0 0 - 0
< e 2
> a 200 3 1500 1f 0 0 - 0
< d 3 overlimit
> o 1000000
< s 1
> o 2000000
< s 2
> o 3000000
< s -
< q 0 0
";

fn read(text: &str) -> Trace {
    Trace::read(text).expect("a trace")
}

fn difference(text: &str) -> Option<String> {
    let trace = read(text);
    let found = trace.difference(&trace.replay().expect("a manager"));
    found.map(|found| format!("{}: {}", found.line, found.message))
}

#[test]
fn three_packets_at_a_buffer_of_two() {
    assert_eq!(difference(THREE), None);
}

#[test]
fn comments_and_inner_values_are_passed_over() {
    let text = THREE.replace("< e 2", "# by hand\n< e 2\n< p drop_prob 0.5");
    assert_eq!(difference(&text), None);
}

#[test]
fn another_word_in_any_line_is_found_and_named() {
    for (line, old, new, told) in [
        (4, "< e 1", "< e 9", "4: the trace says \"< e 9\", and it is \"< e 1\""),
        (8, "< d 3 overlimit", "< d 3 early", "8: the trace says \"< d 3 early\", and it is \"< d 3 overlimit\""),
        (8, "< d 3 overlimit", "< e 3", "8: the trace says \"< e 3\", and it is \"< d 3 overlimit\""),
        (10, "< s 1", "< s 2", "10: the trace says \"< s 2\", and it is \"< s 1\""),
        (14, "< s -", "< s 3", "14: the trace says \"< s 3\", and it is \"< s -\""),
        (15, "< q 0 0", "< q 0 1", "15: the trace says \"< q 0 1\", and it is \"< q 0 0\""),
        (7, "< d 3 overlimit\n", "", "7: \"< d 3 overlimit\" came of it, which is not in the trace"),
        (9, "< e 2", "< e 2\n< m 2 early", "7: the trace says \"< m 2 early\", and nothing came"),
        (15, "< q 0 0", "< n -\n< q 0 0", "15: the trace says \"< n -\", and it is \"< q 0 0\""),
    ] {
        let text = THREE.replacen(old, new, 1);
        assert_eq!(difference(&text).as_deref(), Some(told), "line {line}");
    }
}

#[test]
fn a_text_that_is_no_trace_is_refused_with_its_line() {
    for (old, new, told) in [
        ("sojourn-trace 1", "sojourn-trace 2", "line 1: a trace begins with \"sojourn-trace 1\""),
        ("= manager", "= manger", "line 2: no key \"manger\"; known are manager, rfc, rate, unit, draws, made-by"),
        ("> o 1000000", "= rate 5\n> o 1000000", "line 9: the header stands before all inputs and outputs"),
        ("> a 100 2", "> a 1e2 2", "line 5: \"1e2\" is not a time in ns"),
        ("> o 2000000", "> o 2", "line 11: time goes back from 1000000 to 2"),
        ("> o 1000000", "> o 18446744073709552", "line 9: 18446744073709552 ns are later than 18446744073709551"),
        ("3 1500", "3 0", "line 7: a packet of 0 B"),
        ("3 1500 1f 0 0", "3 1500 1f 64 0", "line 7: code point 64 has more than 6 bits"),
        ("3 1500 1f 0 0", "3 1500 1f 0 4", "line 7: ECN field 4: 0 to 3"),
        ("3 1500 1f", "3 1500 x", "line 7: \"x\" is no flow"),
        ("< d 3 overlimit", "< d 3 bored", "line 8: \"bored\" is no reason"),
        ("< d 3 overlimit", "> u 0x1p+0", "line 8: \"0x1p+0\" is no number such as 0x1.8p-1"),
        ("< d 3 overlimit", "? d", "line 8: a line begins with \"= \", \"> \", \"< \" or \"#\""),
        ("< d 3 overlimit", "< d 3 overlimit 4 5 6 7 8 9 0 1", "line 8: too many fields"),
        ("= manager drop-tail limit=\"2 packets\"\n", "", "the header names no manager"),
    ] {
        let text = THREE.replacen(old, new, 1);
        let refused = Trace::read(&text).expect_err(new).to_string();
        assert_eq!(refused, told);
    }
    let text = THREE.replace("drop-tail", "drop-tial");
    assert_eq!(
        read(&text).replay().expect_err("no manager").to_string(),
        "the manager: \"drop-tial\" is no queue manager (did you mean drop-tail?)"
    );
}

/// Draws and facts that a test decides.
#[derive(Default)]
struct Host {
    draws: VecDeque<f64>,
    dropped: u32,
}

impl QueueContext for Host {
    fn dropped(&mut self, _: Held, _: Reason) {
        self.dropped += 1;
    }
    fn marked(&mut self, _: &Held, _: Reason) {}
    fn unit(&mut self) -> f64 {
        self.draws.pop_front().unwrap_or(0.999)
    }
}

/// A line of 10 Mb/s behind a queue that is offered twice as much for half a second, of two flows.
fn overload(config: &ManagerConfig, draws: &[f64]) -> Trace {
    let mut recorder = Recorder::new(config, Some(BitRate::from_mbps(10)));
    let mut host = Host { draws: draws.iter().copied().collect(), dropped: 0 };
    for step in 0..800_u64 {
        let at = step * 600_000;
        while let Some(due) = recorder.next_timer().filter(|due| *due <= at) {
            recorder.call(Input::Timer { at: due }, &mut host);
        }
        let meta = Meta {
            length: 1500,
            flow_hash: 0xabc + u32::from(step % 3 == 0),
            ecn: [Ecn::NotEct, Ecn::Ect0][usize::from(step % 5 == 0)],
            host: u16::from(step % 7 == 0),
            ..Meta::default()
        };
        recorder.call(Input::Arrival { at, item: step, meta }, &mut host);
        if step % 2 == 1 {
            recorder.call(Input::Opportunity { at, queue: None }, &mut host);
        }
    }
    recorder.finish()
}

fn again(trace: &Trace) -> Trace {
    read(&trace.to_string())
}

#[test]
fn a_recorded_trace_reads_back_and_replays() {
    for line in [
        "codel ecn=true",
        "pie ecn=true",
        "fq-codel",
        "docsis-pie",
        "docsis-dual-queue",
        "dualpi2",
        "cobalt",
        "red",
        "sfq-codel",
        "ack-priority manager=pie",
        "cake",
    ] {
        let rate = BitRate::from_mbps(10);
        let config = ManagerConfig::from_line(line, rate).expect("a line");
        let trace = overload(&config, &[]);
        let back = again(&trace);
        assert_eq!((&back.header, &back.records), (&trace.header, &trace.records), "{line}");
        let done = back.replay().expect("its manager");
        assert_eq!(back.difference(&done), None, "{line}");
    }
}

#[test]
fn draws_stand_before_the_call_that_takes_them() {
    let trace = overload(&PieConfig::BASE.into(), &[0.000_001; 40]);
    assert!(trace.header.draws);
    let text = trace.to_string();
    let place = text.find("> u ").expect("it draws");
    assert!(text[place..].lines().nth(1).is_some_and(|next| next.starts_with("> a ")));
    // One draw less, and the call that takes it is named.
    let text = text.replacen("> u ", "# u ", 1);
    let line = text[..place].lines().count() + 2;
    assert_eq!(difference(&text), Some(format!("{line}: the manager draws more numbers than the trace has")));
}

#[test]
fn every_bit_of_a_draw_is_kept() {
    for unit in [0.0, 0.1, 0.5, 1.0 - f64::EPSILON / 2.0, f64::MIN_POSITIVE, 1e-310, 0.733] {
        let text = Record::Input(Input::Draw(unit)).to_string();
        let number = text.strip_prefix("> u ").expect("a draw");
        assert_eq!(write::from_hexadecimal(number), Some(unit), "{text}");
    }
    assert_eq!(Input::Draw(0.1).to_string(), "u 0x1.999999999999ap-4");
    assert_eq!(Input::Draw(0.5).to_string(), "u 0x1p-1");
    assert_eq!(Input::Draw(0.0).to_string(), "u 0x0p+0");
    for text in ["0x1.8p+0", "0x2p-1", "0x1.8", "1.5", "0x1.12345678901234p-1", "0x-1p-1"] {
        assert_eq!(write::from_hexadecimal(text), None, "{text}");
    }
}

#[test]
fn a_timer_that_is_not_due_ends_the_replay() {
    let text = overload(&PieConfig::BASE.into(), &[]).to_string();
    let text = text.replacen("> t 15000000", "> t 14999999", 1);
    let line = text.lines().position(|line| line == "> t 14999999").expect("a timer") + 1;
    assert_eq!(difference(&text), Some(format!("{line}: no timer of the manager is due")));
}

fn replayed(trace: &Trace, line: &str) -> Done {
    let config = ManagerConfig::from_line(line, BitRate::from_mbps(10)).expect("a line");
    trace.replay_into(Replay {
        manager: config.build(),
        has_service_queues: false,
        own_timers: true,
        draws_elsewhere: false,
        own_draws: Some(&mut || 0.001),
        draw: &mut |_| {},
        has_failed: &|| false,
    })
}

#[test]
fn a_manager_of_the_same_law_passes_and_one_of_another_does_not() {
    let trace = again(&overload(&CodelConfig::BASE.into(), &[]));
    assert_eq!(trace.difference_by_law(&replayed(&trace, "codel")), None);
    let hard = trace.difference_by_law(&replayed(&trace, "drop-tail limit=\"15000 B\""));
    let message = hard.expect("drops half of all").message;
    assert!(message.starts_with("from 0 s on the trace has"), "{message}");
}

#[test]
fn a_manager_with_timers_of_its_own_is_updated_when_they_are_due() {
    let trace = again(&overload(&CodelConfig::BASE.into(), &[]));
    // PIE of 3 ms has an overload to drop, too, and does so at its own updates.
    let done = replayed(&trace, "pie reference=3ms");
    let dropped = |done: &Done| {
        let outputs = done.outputs.iter();
        outputs.filter(|(_, output)| matches!(output, Output::Dropped { .. })).count()
    };
    assert!(dropped(&done) > 20, "{}", dropped(&done));
    assert_eq!(trace.unlawful(&done), None);
}

#[test]
fn chance_decides_between_counts() {
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-12;
    // Of 10 coins none or all show heads twice in 1024; of two, one each is what is expected.
    assert!(near(compare::two_sided(0, 10), 2.0 / 1024.0));
    assert!(near(compare::two_sided(1, 1), 1.0));
    // C(20,0) + … + C(20,5) = 21,700.
    assert!(near(compare::two_sided(15, 5), 2.0 * 21_700.0 / 1_048_576.0));
    assert!(compare::two_sided(0, 5000) < 1e-300);
}

#[test]
fn drops_may_move_by_a_service_time_with_slack() {
    let trace = again(&overload(&CodelConfig::BASE.into(), &[]));
    let slack = Span::from_us(1);
    assert_eq!(trace.difference_with_slack(&replayed(&trace, "codel"), slack), None);
    // A service time is three calls long here: two arrivals, and what is sent.
    let moved = |calls| {
        let mut done = replayed(&trace, "codel");
        for (call, output) in &mut done.outputs {
            if matches!(output, Output::Dropped { .. }) {
                *call += calls;
            }
        }
        done
    };
    assert!(trace.difference(&moved(3)).is_some());
    assert_eq!(trace.difference_with_slack(&moved(3), slack), None);
    let far = trace.difference_with_slack(&moved(6), slack);
    let message = far.expect("two service times").message;
    assert!(message.starts_with("drop 1 is at"), "{message}");
    let longer = Span::from_us(1300);
    assert_eq!(trace.difference_with_slack(&moved(6), longer), None);
}

#[test]
fn packets_that_are_lost_or_overtake_break_every_law() {
    let trace = read(THREE);
    let done = |outputs: &[(u64, Output)]| Done { outputs: outputs.to_vec(), calls: 6, ..Done::default() };
    let kept = |item| Output::Kept { item, queue: None, sanctioned: false };
    let nothing = Output::Waiting(Backlog::default(), None);
    let lost = done(&[(1, kept(1)), (2, kept(2)), (3, kept(3)), (4, Output::Sent(Some(1))), (6, nothing)]);
    let told = |done: &Done| trace.difference_by_law(done).map(|found| found.message);
    assert_eq!(told(&lost).as_deref(), Some("of 3 packets 1 left and 0 wait"));
    let overtaken = done(&[(4, Output::Sent(Some(2))), (5, Output::Sent(Some(1)))]);
    assert_eq!(told(&overtaken).as_deref(), Some("packet 1 left after 2, which came later"));
    let doubled = done(&[(4, Output::Sent(Some(1))), (5, Output::Sent(Some(1)))]);
    assert_eq!(told(&doubled).as_deref(), Some("packet 1 left twice"));
    let invented = done(&[(4, Output::Sent(Some(7)))]);
    assert_eq!(told(&invented).as_deref(), Some("packet 7 never came"));
}
