//! Paths over several links: nothing is lost between them, delays add up, and each link charges for itself.

use proptest::prelude::*;
use sojourn_base::{Bytes, Direction, Instant, PerDirection, Seed, Span};
use sojourn_engine::{Outcome, column_recorder, run};
use sojourn_record::{Cause, Datagram, Fate, LinkDrop, LinkId, LinkPassage, Recorder, SegmentArrival, TrafficId};
use sojourn_scenario::Scenario;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Counts packets and delays, apart from the column recorder.
#[derive(Default)]
struct Census {
    sent: Vec<PerDirection<u64>>,
    arrived: Vec<PerDirection<u64>>,
    lost: Vec<PerDirection<u64>>,
    /// Packets through each link, of each entry.
    passed: Vec<Vec<u64>>,
    lost_on: Vec<Vec<u64>>,
    /// End of the passage that each link announced last.
    last_arrival: Vec<Instant>,
}

fn count(counts: &mut Vec<u64>, index: u16) {
    let index = usize::from(index);
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}

fn of<T: Default + Clone>(rows: &mut Vec<T>, index: u16) -> &mut T {
    let index = usize::from(index);
    if rows.len() <= index {
        rows.resize(index + 1, T::default());
    }
    &mut rows[index]
}

fn total(counts: &[PerDirection<u64>]) -> u64 {
    counts.iter().map(|both| both.upstream + both.downstream).sum()
}

impl Recorder for Census {
    fn wants_delays(&self) -> bool {
        true
    }
    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, _: Bytes) {
        of(&mut self.sent, traffic.0)[direction] += 1;
    }
    fn on_drop(&mut self, drop: &LinkDrop) {
        of(&mut self.lost, drop.traffic.0)[drop.direction] += 1;
        count(of(&mut self.lost_on, drop.link.0), drop.traffic.0);
    }
    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {
        // The engine itself asserts that the parts sum to the whole: it knows when the segment was sent.
        of(&mut self.arrived, arrival.traffic.0)[arrival.direction] += 1;
    }
    fn on_datagram(&mut self, datagram: &Datagram) {
        if let Fate::Arrived(at) = datagram.fate {
            of(&mut self.arrived, datagram.traffic.0)[datagram.direction] += 1;
            assert_eq!(
                datagram.split.total(),
                at.saturating_since(datagram.sent_at),
                "the parts of the delay sum to the whole"
            );
        }
    }
    fn on_passage(&mut self, _: Direction, passage: &LinkPassage) {
        assert!(passage.entered_at <= passage.dequeued_at, "causality");
        assert!(passage.dequeued_at <= passage.arrives_at, "causality");
        assert!(passage.charged >= passage.length, "framing adds");
        let last = of(&mut self.last_arrival, passage.link.0);
        assert!(*last <= passage.arrives_at, "a link with one queue keeps order");
        *last = passage.arrives_at;
        count(of(&mut self.passed, passage.link.0), passage.traffic.0);
    }
}

fn get(rows: &[Vec<u64>], link: usize, traffic: usize) -> u64 {
    rows.get(link).and_then(|row| row.get(traffic)).copied().unwrap_or(0)
}

/// Conservation: in = out + lost + queued, per link of a path; the sum of queued packets is the engine's count of
/// packets in flight.
fn check_conservation(scenario: &Scenario, outcome: &Outcome<Census>) {
    let census = &outcome.recorder;
    let topology = scenario.topology();
    let mut under_way = 0;
    for (number, placed) in topology.traffic.iter().enumerate() {
        for direction in Direction::BOTH {
            let counted = |rows: &[PerDirection<u64>]| rows.get(number).map_or(0, |row| row[direction]);
            let mut before = counted(&census.sent);
            for link in &placed.path[direction] {
                let out = get(&census.passed, *link, number);
                let lost = get(&census.lost_on, *link, number);
                let inside = before.checked_sub(out + lost);
                under_way += inside.expect("no link makes packets");
                before = out;
            }
            let behind = before.checked_sub(counted(&census.arrived));
            under_way += behind.expect("nothing arrives that has not passed its links");
        }
    }
    assert_eq!(under_way, outcome.statistics.in_flight as u64, "packets under way");
    assert_eq!(total(&census.sent), total(&census.arrived) + total(&census.lost) + under_way);
}

fn census(scenario: &Scenario) -> Outcome<Census> {
    run(scenario, Seed(1), Census::default(), &|| false).expect("not cancelled")
}

#[test]
fn two_bottlenecks_in_a_row_lose_and_delay_packets_each_on_its_own() {
    let mut scenario = scenario(include_str!("../../../scenarios/two-bottlenecks.toml"));
    scenario.duration = Span::from_s(10);
    let outcome = census(&scenario);
    check_conservation(&scenario, &outcome);
    let names: Vec<String> = scenario.topology().links.iter().map(|link| link.subject.clone()).collect();
    assert_eq!(names, ["upstream", "downstream", "wifi/upstream", "wifi/downstream"]);
    // The printer's packets stay in the house.
    assert_eq!(get(&outcome.recorder.passed, 0, 3), 0);
    assert!(get(&outcome.recorder.passed, 2, 3) > 2_000);
    assert!(get(&outcome.recorder.passed, 0, 0) > 1_000);
    assert!(outcome.recorder.lost_on.iter().flatten().sum::<u64>() > 0, "both fill");
}

#[test]
fn three_homes_share_one_link_and_nothing_else() {
    let mut scenario = scenario(include_str!("../../../scenarios/three-homes.toml"));
    scenario.duration = Span::from_s(10);
    let outcome = census(&scenario);
    check_conservation(&scenario, &outcome);
    let recorder = column_recorder(&scenario, scenario.record);
    let records = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled").recorder.into_records();
    assert_eq!(
        records.traffic_names(),
        [
            "family/1/backup",
            "family/1/call",
            "family/2/backup",
            "family/2/call",
            "family/3/backup",
            "family/3/call",
            "others/1/stream"
        ]
    );
    let names: Vec<&str> = records.links().map(|(_, link)| link.name.as_str()).collect();
    assert_eq!(names[0..2], ["family/1/upstream", "family/1/downstream"]);
    assert_eq!(names[6..], ["aggregation/upstream", "aggregation/downstream"]);
    let volume = |link| records.link_totals(LinkId(link)).forwarded_bytes().0;
    let families = volume(0) + volume(2) + volume(4);
    // 20 Mb/s for 10 s, of which others have 2 Mb/s.
    assert!((22_000_000..=25_000_000).contains(&volume(6)), "{}", volume(6));
    assert!(families > 19_000_000 && families < volume(6), "{families}");
    for home in [0, 2, 4] {
        assert!(volume(home) > families / 6, "home {home}: {}", volume(home));
    }
}

#[test]
fn a_home_more_draws_nothing_from_the_others() {
    let text = include_str!("../../../scenarios/three-homes.toml");
    let starts = |count: &str| {
        let mut scenario =
            Scenario::parse_with(text, &[("home.family.count", count)]).unwrap_or_else(|problems| panic!("{problems}"));
        scenario.duration = Span::from_ms(1500);
        let recorder = column_recorder(&scenario, scenario.record);
        let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
        let records = outcome.recorder.into_records();
        let transfers = records.transfers().iter().take(3);
        let mut starts: Vec<Instant> = transfers.map(|(_, row)| row.started_at).collect();
        starts.sort_unstable();
        starts
    };
    let (two, three) = (starts("2"), starts("3"));
    assert_eq!((two.len(), three.len()), (2, 3));
    assert!(two.iter().all(|start| three.contains(start)), "{two:?} {three:?}");
}

/// One datagram of 1000 B over two lines of 1 Mb/s and 2 Mb/s, the first of which carries ATM cells.
const FRAMED: &str = r#"
schema = 1
name = "framed"
duration = "1 s"
path = ["access", "core"]

[access.upstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }
framing = { kind = "atm", profile = "pppoe-llcsnap" }

[access.downstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }

[[link]]
name = "core"

[link.upstream]
link = { kind = "serial", rate = "2 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }
framing = "ethernet"

[[traffic]]
name = "probe"
app = { kind = "constant-rate", packet = "1000 B", interval = "600 ms" }
"#;

#[test]
fn each_link_charges_its_own_framing_and_the_packet_stays_what_it_is() {
    struct One(Vec<LinkPassage>, Vec<Datagram>);
    impl Recorder for One {
        fn wants_delays(&self) -> bool {
            true
        }
        fn on_passage(&mut self, _: Direction, passage: &LinkPassage) {
            self.0.push(*passage);
        }
        fn on_datagram(&mut self, datagram: &Datagram) {
            self.1.push(*datagram);
        }
    }
    let outcome = run(&scenario(FRAMED), Seed(1), One(Vec::new(), Vec::new()), &|| false);
    let One(passages, datagrams) = outcome.expect("not cancelled").recorder;
    let charged: Vec<u64> = passages.iter().map(|passage| passage.charged.0).collect();
    // 1040 B in 22 cells of 53 B; a frame of 1018 B; twice.
    assert_eq!(charged, [1166, 1018, 1166, 1018]);
    assert!(passages.iter().all(|passage| passage.length == Bytes(1000)));
    assert_eq!(datagrams[0].length, Bytes(1000));
    // 1166 B at 1 Mb/s, 1018 B at 2 Mb/s, 1000 B at 1 Gb/s.
    let serialisation = Span::from_us(9328) + Span::from_us(4072) + Span::from_us(8);
    assert_eq!(datagrams[0].split.get(Cause::Serialisation), serialisation);
}

/// A link of a random path.
fn link(name: &str, (rate, delay, queue, framing): (u32, u32, usize, usize)) -> String {
    const QUEUES: [&str; 4] = [
        "{ kind = \"drop-tail\", limit = \"20 packets\" }",
        "{ kind = \"codel\", profile = \"rfc8289\" }",
        "{ kind = \"fq-codel\", profile = \"rfc8290\" }",
        "{ kind = \"pie\", profile = \"white2013\" }",
    ];
    const FRAMINGS: [&str; 4] = [
        "\"ip\"",
        "\"ethernet\"",
        "{ kind = \"atm\", profile = \"pppoa-vcmux\" }",
        "{ kind = \"ptm\", overhead = 22 }",
    ];
    let (queue, framing) = (QUEUES[queue], FRAMINGS[framing]);
    format!(
        "[{name}]\nlink = {{ kind = \"serial\", rate = \"{rate} kb/s\", delay = \"{delay} us\" }}\n\
         queue = {queue}\nframing = {framing}\n"
    )
}

fn any_link() -> impl Strategy<Value = (u32, u32, usize, usize)> {
    (500_u32..20_000, 0_u32..3_000, 0_usize..4, 0_usize..4)
}

/// Several homes over a path of the access link and up to three others, in any order; some links have one
/// direction only, and the stream takes the path backwards.
fn any_scenario() -> impl Strategy<Value = String> {
    let shared = prop::collection::vec((any_link(), any_link(), 0_u8..4), 0..4);
    (any_link(), any_link(), shared, 0_usize..4, 1_u32..4).prop_map(|(up, down, shared, place, homes)| {
        let mut text = String::from("schema = 1\nname = \"random\"\nduration = \"1 s\"\n");
        let mut path: Vec<String> = (0..shared.len()).map(|n| format!("\"l{n}\"")).collect();
        path.insert(place.min(path.len()), "\"access\"".to_owned());
        text += &["path = [", &path.join(", "), "]\n"].concat();
        text += &link("access.upstream", up);
        text += &link("access.downstream", down);
        for (number, (up, down, which)) in shared.into_iter().enumerate() {
            text += &["[[link]]\nname = \"l", &number.to_string(), "\"\n"].concat();
            if which != 1 {
                text += &link("link.upstream", up);
            }
            if which != 2 {
                text += &link("link.downstream", down);
            }
        }
        path.reverse();
        let homes = format!(
            "[[home]]\nname = \"h\"\ncount = {homes}\n\
                 [[home.traffic]]\nname = \"files\"\n\
                 app = {{ kind = \"bulk\", file = \"30 kB\", lanes = 2, start_jitter = \"100 ms\" }}\n\
                 stack = \"linux-cubic\"\nrtt = \"40 ms\"\n\
                 [[home.traffic]]\nname = \"stream\"\npath = [{}]\n\
                 app = {{ kind = \"constant-rate\", packet = \"700 B\", interval = \"7 ms\", \
                 start_jitter = \"10 ms\", direction = \"downstream\" }}\n\
                 rtt = \"40 ms\"\n",
            path.join(", ")
        );
        text += &homes;
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_between_links_and_delays_add_up(text in any_scenario()) {
        let scenario = scenario(&text);
        let outcome = census(&scenario);
        prop_assert!(total(&outcome.recorder.sent) > 100);
        check_conservation(&scenario, &outcome);
        let print = scenario.canonical();
        prop_assert_eq!(Scenario::parse(&print).expect("a print is valid").canonical(), print);
    }
}
