//! Each habit of an implementation does something by itself, with one exception that these paths do not show:
//! growth before the change of state.
//!
//! Source: the habits are those of ns-2.35; `ns2.rs` compares all of them together with measurements.

use crate::path::{End, Fate, Path, Shape};
use sojourn_base::{Ecn, Instant, Span};
use sojourn_transport::habits::Habits;
use sojourn_transport::{Flags, SackBlocks, Segment, StackConfig};
use std::cell::RefCell;
use std::rc::Rc;

/// Returns the client's segments in a minute over a path that loses, repeats, delays and at times is gone.
fn sent(config: &StackConfig, lost_of_200: u64, seed: u64) -> Vec<Segment> {
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = Rc::clone(&log);
    let mut draws = seed;
    let judge = move |end, segment: &Segment| {
        draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if end == End::Client {
            writer.borrow_mut().push(*segment);
        }
        let at = segment.sent_at.as_ps() / 1_000_000_000 % 7000;
        let outage = at > 6500;
        // More holes than an acknowledgement has blocks for.
        let comb = (3000..3050).contains(&at) && segment.payload > 0 && segment.sequence % 2 == 1;
        match (draws >> 33) % 200 {
            _ if outage || comb => Fate::Drop,
            0..2 => Fate::Repeat,
            2..6 => Fate::Late(Span::from_ms(3)),
            6 => Fate::Late(Span::from_ms(700)),
            draw if draw >= 200 - lost_of_200 => Fate::Drop,
            7..26 if end == End::Server => Fate::Late(Span::from_ms(120)),
            _ => Fate::Pass,
        }
    };
    let mut path = Path::new(config, Shape::P1, Box::new(judge));
    path.keep_rows = false;
    path.run(u64::MAX, Instant::from_s(60));
    drop(path);
    Rc::into_inner(log).expect("the path is gone").into_inner()
}

/// A habit of the base is changed, and what is sent changes from some moment on.
fn assert_matters(base: &StackConfig, name: &str, change: impl Fn(&mut Habits)) {
    let mut config = StackConfig { receive_window: 30, ..*base };
    let with = config;
    change(&mut config.habits);
    assert_ne!(config.habits, base.habits, "{name} is a habit of this stack");
    let matters =
        (1..=8).any(|seed| [0, 4, 10, 30].iter().any(|&lost| sent(&with, lost, seed) != sent(&config, lost, seed)));
    assert!(matters, "{name} changes nothing");
}

macro_rules! each {
    ($base:expr, $($habit:ident)*) => {
        $(assert_matters(&$base, stringify!($habit), |habits| habits.$habit = false);)*
    };
}

#[test]
fn an_old_acknowledgement_says_nothing_to_ns2_linux() {
    for (habit, sacked) in [(true, 0), (false, 1)] {
        let mut config = StackConfig::NS2_LINUX_CUBIC;
        assert!(config.habits.ignores_old_acknowledgements);
        config.habits.ignores_old_acknowledgements = habit;
        let mut path = Path::new(&config, Shape::P1, Box::new(|_, _| Fate::Pass));
        path.run(u64::MAX, Instant::from_ms(250));
        let mut sack = SackBlocks::NONE;
        let first = path.client().snapshot().acknowledged / 1460;
        let block = u32::try_from(first).expect("a few segments") + 4;
        sack.push(block, block + 1);
        let old = Segment {
            marks: 5,
            sequence: 0,
            acknowledgement: 1,
            payload: 0,
            length: 40,
            sent_at: path.now,
            echo: Instant::NEVER,
            one_way_delay_ps: 0,
            flags: Flags::ACK,
            ecn: Ecn::NotEct,
            sack,
        };
        assert!(first > 1, "{first}");
        path.call(End::Client, None, &mut |endpoint, now, context| {
            endpoint.on_segment(now, &old, context);
        });
        assert_eq!(path.client().snapshot().sacked, sacked);
    }
}

#[test]
fn each_other_habit_changes_what_is_sent() {
    each!(StackConfig::NS2_LINUX_CUBIC,
        duplicates_restart_timeout
        samples_duplicates
        grows_by_all_covered
        recovers_during_timeout_repair
        forgets_scoreboard_after_episode
        sends_beyond_receive_window
        every_expiry_reduces
    );
    each!(StackConfig::LINUX_6_RENO, old_data_restart_timeout recovers_while_repairs_are_out acknowledges_what_opens_the_window);
    each!(StackConfig::NS2_RENO, grows_when_recovery_ends every_expiry_reduces);
}

#[test]
fn linux_reduces_once_more_if_a_recovery_ends_before_its_last_repair_is_acknowledged() {
    // Segment 40 is lost twice, so that its recovery lasts; meanwhile the third new segment is lost, found and sent again.
    let reductions = [true, false].map(|habit| {
        let mut config = StackConfig::LINUX_6_RENO;
        assert!(config.habits.recovers_while_repairs_are_out);
        config.habits.recovers_while_repairs_are_out = habit;
        let (mut copies, mut highest, mut new) = (0, 0, 0);
        let judge = move |end, segment: &Segment| {
            if end == End::Server || segment.payload == 0 {
                return Fate::Pass;
            }
            if segment.sequence == 40 {
                copies += 1;
                return if copies <= 2 { Fate::Drop } else { Fate::Pass };
            }
            let is_new = segment.sequence > highest;
            highest = highest.max(segment.sequence);
            new += u32::from(is_new && copies >= 2);
            if is_new && new == 3 { Fate::Drop } else { Fate::Pass }
        };
        let mut path = Path::new(&config, Shape::P1, Box::new(judge));
        path.run(u64::MAX, Instant::from_s(10));
        path.client().statistics().loss_reductions
    });
    assert_eq!(reductions, [2, 1]);
}

#[test]
fn linux_does_not_time_out_while_data_older_than_a_repair_arrive() {
    // Segment 40 is lost; what was sent after it waits longer and longer, and its repair arrives last.
    let timeouts = [true, false].map(|habit| {
        let mut config = StackConfig::LINUX_6_RENO;
        assert!(config.habits.old_data_restart_timeout);
        config.habits.old_data_restart_timeout = habit;
        let (mut copies, mut wait) = (0, 0);
        let judge = move |end, segment: &Segment| {
            if end == End::Server || segment.payload == 0 {
                return Fate::Pass;
            }
            if segment.sequence == 40 {
                copies += 1;
                return if copies == 1 { Fate::Drop } else { Fate::Late(Span::from_ms(800)) };
            }
            if copies == 1 {
                wait += 30;
            }
            Fate::Late(Span::from_ms(wait))
        };
        let mut path = Path::new(&config, Shape::P1, Box::new(judge));
        path.run(300 * 1460, Instant::from_s(10));
        path.client().statistics().timeouts
    });
    assert_eq!(timeouts, [0, 1]);
}
