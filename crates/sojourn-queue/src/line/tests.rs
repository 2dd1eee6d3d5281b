use super::*;
use crate::{CodelConfig, DropTailConfig, PrioritisedConfig, RedConfig};
use alloc::string::ToString;
use sojourn_base::{Packets, Span};

const RATE: BitRate = BitRate::from_mbps(10);

fn problem(line: &str) -> String {
    ManagerConfig::from_line(line, RATE).expect_err(line).to_string()
}

#[test]
fn a_line_has_a_kind_and_keys() {
    let found = ManagerConfig::from_line("codel target=10ms limit=\"84 packets\"", BitRate::ZERO);
    let mut expected = CodelConfig::BASE;
    expected.law.target = Span::from_ms(10);
    expected.limit = Limit::Packets(Packets(84));
    assert_eq!(found, Ok(expected.into()));
    let found = ManagerConfig::from_line("codel profile=white2012 ", BitRate::ZERO);
    assert_eq!(found, Ok(CodelConfig::WHITE2012.into()));
}

#[test]
fn limits_in_time_need_a_rate() {
    let found = ManagerConfig::from_line("drop-tail limit=\"100 ms\"", RATE);
    assert_eq!(found, Ok(DropTailConfig::bytes(125_000).into()));
    let refused = ManagerConfig::from_line("drop-tail limit=100ms", BitRate::ZERO);
    assert_eq!(
        refused.expect_err("no rate").to_string(),
        "limit: 100 ms are a number of bytes only at a rate, and none is known (a limit in bytes or packets, or a rate)"
    );
}

#[test]
fn a_manager_behind_another_has_its_keys_behind_dots() {
    let line = "ack-priority burst=4 manager=codel manager.target=7ms";
    let found = ManagerConfig::from_line(line, RATE).expect("a line");
    let prioritised: &PrioritisedConfig = found.get().expect("of that kind");
    let inner: &CodelConfig = prioritised.manager.get().expect("of that kind");
    assert_eq!((prioritised.lane.burst, inner.law.target), (4, Span::from_ms(7)));
}

#[test]
fn entries_have_numbers() {
    let line = "red classes.0.dscp=[10,12] classes.1.dscp=[8] classes.1.max_probability=0.5";
    let found = ManagerConfig::from_line(line, RATE).expect("a line");
    let red: &RedConfig = found.get().expect("of that kind");
    assert_eq!(red.classes.len(), 2);
    assert!(red.classes[0].dscp.contains(12) && red.classes[1].dscp.contains(8));
}

#[test]
fn every_kind_and_profile_reads_back_from_its_line() {
    for kind in ManagerConfig::kinds() {
        let info = kind.info();
        if matches!(info.name, "drop-tail" | "ack-priority") {
            continue; // have no defaults
        }
        let profiles = info.profiles.iter().map(|(name, _)| Some(*name));
        for profile in profiles.chain([None]) {
            let config = kind.values(profile).at(RATE);
            let line = config.to_line();
            assert!(line.len() < LONGEST_LINE);
            assert_eq!(ManagerConfig::from_line(&line, RATE), Ok(config), "{line}");
        }
    }
    let behind = ManagerConfig::from(PrioritisedConfig::before(CodelConfig::BASE.into()));
    assert_eq!(ManagerConfig::from_line(&behind.to_line(), RATE), Ok(behind));
}

#[test]
fn what_is_wrong_is_told() {
    for (line, told) in [
        ("", "no queue manager is named (for instance codel target=10ms)"),
        ("codle", "\"codle\" is no queue manager (did you mean codel?)"),
        ("codel traget=10ms", "traget: unknown key (did you mean target?)"),
        ("codel target", "target: has no value (target=VALUE, without spaces)"),
        ("codel target=\"10 ms", "target: a quote is never closed (quotes around a text with spaces)"),
        ("codel target=5ms target=6ms", "target: stands twice (a name, or names with dots between them)"),
        (
            "codel target=200ms",
            "target: 200 ms is not shorter than interval (100 ms) (CoDel expects a target well below the interval, for instance 5 ms in 100 ms)",
        ),
        ("drop-tail", "limit: is missing (for instance limit=\"1 s\")"),
        ("ack-priority", "manager: is missing (for instance manager={ kind = \"codel\", profile = \"rfc8289\" })"),
        ("ack-priority manager=codle", "manager: is none of the known words (did you mean codel?)"),
        (
            "codel profile=elsewhere",
            "profile: no profile \"elsewhere\" (one of rfc8289, white2012, white2013, akhtar2013)",
        ),
        ("red classes.1.dscp=[8]", "classes: entry 0 is missing (classes.0.KEY=VALUE)"),
        ("codel a.b.c.d.e.f.g=1", "a.b.c.d.e.f.g: is nested too deep (a name, or names with dots between them)"),
    ] {
        assert_eq!(problem(line), told);
    }
    assert!(ManagerConfig::from_line(&"x".repeat(LONGEST_LINE + 1), RATE).is_err());
}

#[test]
fn millions_of_queues_are_refused_before_they_are_made() {
    let told = problem("fq-codel queues=4000000000");
    assert!(told.contains("queues"), "{told}");
}

/// RFC 2474 section 3: a code point has six bits.
#[test]
fn the_last_code_point_is_63() {
    for (dscp, is_read) in [(63, true), (64, false)] {
        let line = std::format!("dualpi2 low_latency_dscp=[{dscp}]");
        assert_eq!(ManagerConfig::from_line(&line, RATE).is_ok(), is_read, "{line}");
    }
}
