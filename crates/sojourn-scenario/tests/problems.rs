//! Messages for scenarios that are wrong: the texts, as people read them. Each `tests/problems/NAME.toml` has a
//! `NAME.txt` with all its problems. `ACCEPT=1 cargo test -p sojourn-scenario --test main problems` writes them anew;
//! read the difference before you keep it.

use crate::common;
use std::fs;

use sojourn_scenario::{Scenario, ScenarioFile, problems};

#[test]
fn wrong_scenarios_are_told_everything_that_is_wrong_with_them() {
    let accept = std::env::var_os("ACCEPT").is_some();
    let mut different = Vec::new();
    for (name, text) in common::files("tests/problems", "toml") {
        let said = match Scenario::parse(&text) {
            Ok(_) => panic!("{name} is valid"),
            Err(problems) => format!("{problems}\n"),
        };
        let path = common::folder("tests/problems").join(format!("{name}.txt"));
        if accept {
            fs::write(&path, &said).expect("the folder can be written");
        } else if fs::read_to_string(&path).ok().as_ref() != Some(&said) {
            different.push(format!("--- {name}\n{said}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn each_problem_has_a_place_in_the_text_if_the_text_is_to_blame() {
    let text = "schema = 1\nname = \"x\"\nduration = 60\n";
    let all = problems(text);
    let duration = all.iter().find(|problem| problem.path == "duration").expect("a problem");
    assert_eq!((duration.line, duration.column), (3, 12));
    assert_eq!(duration.message, "60 has no unit");
    assert_eq!(duration.hint, "write \"60 s\"");
    assert!(all.iter().any(|problem| problem.path == "traffic" && problem.line == 0));
}

#[test]
fn bytes_that_are_no_text_are_told_the_line() {
    let problems = ScenarioFile::parse_bytes(b"schema = 1\nname = \"\xff\"\n").unwrap_err();
    let problem = &problems.as_slice()[0];
    assert_eq!((problem.message.as_str(), problem.line), ("not UTF-8 text", 2));
    assert!(ScenarioFile::parse_bytes(b"\x00\x01\x02").is_err());
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    let text = format!("\u{feff}{}", common::examples()[0].1);
    assert!(Scenario::parse(&text).is_ok());
}

#[test]
fn settings_are_checked_like_the_file_and_say_where_they_cannot_go() {
    let text =
        common::examples().into_iter().find(|(name, _)| name == "dumbbell-codel").expect("the example is there").1;
    for (path, value, told_path, told) in [
        ("access.upstream.queue.limit", "21", "access.upstream.queue.limit", "21 has no unit"),
        ("access.upstream.queue.limt", "21 packets", "access.upstream.queue.limt", "unknown key"),
        ("traffic.bulc.stack", "linux-reno", "traffic.bulc.stack", "no entry \"bulc\""),
        ("traffic.bulk", "5", "traffic.bulk", "a whole number where a table belongs"),
        ("duration.x", "5", "duration", "a table where a length of time belongs"),
        ("schema.x", "5", "schema", "a table where"),
        ("a b", "5", "a b", "not a key path"),
        ("access.upstream.link", "=", "access.upstream.link.kind", "\"=\" is not known here"),
        ("", "5", "", "not a key path"),
    ] {
        let problems = Scenario::parse_with(&text, &[(path, value)]).unwrap_err();
        let problem = &problems.as_slice()[0];
        assert_eq!(problem.path, told_path, "{path}: {problems}");
        assert!(problem.message.contains(told), "{path}: {problems}");
    }
}
