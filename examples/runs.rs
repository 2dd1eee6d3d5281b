//! Test of each example: its scenario runs, and the key of its own kind counts.

use std::path::Path;
use std::process::Command;

/// A text of each example's scenario, and its replacement that lets more packets through.
const CHANGES: [(&str, &str, &str); 4] = [
    ("own-application", "burst = 20", "burst = 40"),
    ("own-controller", "decrease = 0.5", "decrease = 0.9"),
    ("own-link", "noon = \"5 s\"", "noon = \"20 s\""),
    ("own-queue-manager", "every = 50", "every = 1000000"),
];

/// How many packets links carry when the program runs a scenario file.
fn packet_hops(scenario: &Path) -> u64 {
    let program = env!(concat!("CARGO_BIN_EXE_", env!("CARGO_PKG_NAME")));
    let done = Command::new(program).arg(scenario).output().expect("runs");
    let printed = String::from_utf8_lossy(&done.stdout);
    printed
        .lines()
        .find_map(|line| line.strip_prefix("packet-hops: "))
        .and_then(|hops| hops.parse().ok())
        .unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&done.stderr)))
}

#[test]
fn a_kind_from_outside_runs_and_its_key_counts() {
    let name = env!("CARGO_PKG_NAME");
    let &(_, before, after) = CHANGES.iter().find(|(example, ..)| *example == name).expect("a line for each example");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenario.toml");
    let text = std::fs::read_to_string(&scenario).expect("readable");
    assert!(text.contains(before));
    let changed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&changed, text.replace(before, after)).expect("writable");

    let hops = packet_hops(&scenario);
    assert!(hops > 1000);
    assert!(packet_hops(&changed) > hops);
}
