//! The course that golden traces are recorded on, and what replays of them find.

use sojourn_check::golden::{COURSE_RATE, Load, record};
use sojourn_queue::ManagerConfig;
use sojourn_queue::trace::{Output, Record, Trace};

fn course(line: &str) -> Trace {
    let config = ManagerConfig::from_line(line, COURSE_RATE).expect(line);
    record(&config, &Load::course())
}

fn signals(trace: &Trace) -> (usize, usize) {
    let count = |wanted: fn(&Record) -> bool| trace.records.iter().filter(|r| wanted(r)).count();
    (
        count(|record| matches!(record, Record::Output(Output::Dropped { .. }))),
        count(|record| matches!(record, Record::Output(Output::Marked { .. }))),
    )
}

#[test]
fn the_course_makes_every_law_signal() {
    for (line, drops, marks) in [
        ("codel", true, false),
        ("codel ecn=true", true, true),
        ("pie ecn=true", true, true),
        ("fq-codel", true, true),
        ("docsis-pie", true, false),
        ("dualpi2", true, true),
        ("docsis-dual-queue", true, true),
        ("red", true, false),
        ("cobalt ecn=true", true, true),
    ] {
        let (dropped, marked) = signals(&course(line));
        assert_eq!((dropped > 0, marked > 0), (drops, marks), "{line}: {dropped} {marked}");
    }
}

#[test]
fn a_manager_of_another_law_is_found_on_the_course() {
    for (line, other) in [
        ("codel", "codel interval=99ms"),
        ("pie", "pie alpha=0.13"),
        ("fq-codel", "fq-codel quantum=\"1500 B\""),
        ("dualpi2", "dualpi2 coupling=2.1"),
        ("drop-tail limit=\"100 packets\"", "drop-tail limit=\"101 packets\""),
    ] {
        let text = course(line).to_string();
        let trace = Trace::read(&text).expect("a trace");
        let done = trace.replay().expect("its manager");
        assert_eq!(trace.difference(&done), None, "{line}");
        let config = ManagerConfig::from_line(other, COURSE_RATE).expect(other);
        let mut changed = trace.clone();
        changed.header.manager = config.to_line();
        let done = changed.replay().expect("another");
        assert!(trace.difference(&done).is_some(), "{other}");
    }
}
