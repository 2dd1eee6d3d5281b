//! Low Latency DOCSIS in whole runs: Queue Protection, service flows, pipelines, histograms of devices, grants.

use crate::support::{flow_table, optional, records, scenario};
use sojourn_base::{Bytes, Direction, PerDirection, ServiceQueue, Span};
use sojourn_record::{Cause, ColumnData, Fate, LinkId, Records, Table, TrafficId};

/// A file and a game go up over a dual queue, and both say that they build no queue.
const LIAR: &str = r#"
schema = 1
name = "a bulk flow that marks itself"
duration = "20 s"
record = { flows = true }

[access.upstream]
link = { kind = "docsis31-upstream", profile = "white2019-lld" }
queue = { kind = "docsis-dual-queue", limit = "250 ms" }

[access.downstream]
link = { kind = "docsis31-downstream", profile = "white2019" }
queue = { kind = "docsis-dual-queue", limit = "250 ms" }

[[traffic]]
name = "game"
app = { kind = "constant-rate", packet = "110 B", interval = "33 ms" }
rtt = "5 ms"
dscp = 45

[[traffic]]
name = "liar"
app = { kind = "bulk", start = "1 s" }
stack = "linux-cubic"
rtt = "20 ms"
dscp = 45
"#;

#[test]
fn queue_protection_tells_the_flow_that_builds_the_queue_from_the_one_that_does_not() {
    let (records, table) = flow_table(LIAR);
    let (game, liar) = (TrafficId(0), TrafficId(1));
    let up = |traffic| records.protection(traffic).upstream;
    // Every packet that entered the queue was judged: 607 of the game, and those of the file.
    let sent = |traffic| records.counters(traffic).upstream.sent_packets;
    assert_eq!([up(game).judged, up(liar).judged], [sent(game), sent(liar)]);
    // White 2019 §2.4, claim W19-18: nearly all packets of the one, none of the other.
    let share = up(liar).sanctioned_share().expect("it sent packets");
    assert!(share > 0.5, "{share}");
    assert_eq!(up(game).sanctioned, 0);
    assert!(up(liar).highest_score > Span::from_ms(4), "{:?}", up(liar));
    // RFC 9957 §4.1: without an end of their own, scores end at five seconds.
    assert!(up(liar).highest_score <= Span::from_s(5));
    // Flows, entries and links count the same packets.
    let sum = |name: &str| optional(&table, name).iter().flatten().sum::<u64>();
    let both =
        Direction::BOTH.map(|direction| [game, liar].map(|traffic| records.protection(traffic)[direction].judged));
    let links = [0, 1].map(|number| records.link_protection(LinkId(number)).judged);
    assert_eq!(both.map(|counts| counts.iter().sum::<u64>()), links);
    assert_eq!(sum("judged_packets"), links.iter().sum::<u64>());
    assert_eq!(sum("sanctioned_packets"), up(liar).sanctioned);
    assert_eq!(sum("sanctioned_bytes"), up(liar).sanctioned_bytes.0);
    let scores = optional(&table, "highest_score_ns");
    let highest = scores.iter().flatten().max().copied();
    assert_eq!(highest, Some(up(liar).highest_score.as_ns()));
    assert_eq!(records.flow_protection().len(), records.flows().len());
}

#[test]
fn each_second_tells_what_queue_protection_moved_and_how_much_came_late() {
    let text = LIAR.replace("flows = true", "flows = true, series = \"1 s\"");
    let records = records(&scenario(&text), 1);
    let tables = records.tables();
    let table = tables.iter().find(|table| table.name == "traffic_series").expect("a recorded table");
    let numbers = |name: &str| {
        let Some(ColumnData::U64(values)) = table.column(name) else {
            panic!("{name} is a column of numbers");
        };
        values
    };
    let (late, moved) = (numbers("late_packets"), numbers("sanctioned_packets"));
    let everyone = [0, 1].map(|number| records.protection(TrafficId(number)));
    let whole: u64 = Direction::BOTH.iter().flat_map(|direction| everyone.map(|of| of[*direction].sanctioned)).sum();
    assert!(whole > 0);
    assert_eq!(moved.iter().sum::<u64>(), whole);
    // RFC 9957 §5.2: a packet is moved at a delay above the critical one and no other.
    assert!(std::iter::zip(late, moved).all(|(late, moved)| late >= moved));
}

#[test]
fn a_queue_without_protection_judges_nothing() {
    let text = LIAR.replace("limit = \"250 ms\" }", "limit = \"250 ms\", queue_protection = false }");
    let (records, table) = flow_table(&text);
    assert_eq!(records.link_protection(LinkId(0)).judged, 0);
    let scores = optional(&table, "highest_score_ns");
    assert_eq!(scores, vec![None; table.rows()]);
    assert!(records.counters(TrafficId(1)).upstream.dropped_queue > 100);
}

#[test]
fn pipelines_take_what_the_channel_says_and_the_parts_of_a_delay_sum_to_the_whole() {
    let stream = "app = { kind = \"constant-rate\", packet = \"110 B\", interval = \"33 ms\"";
    let text = LIAR.to_owned()
        + "\n[[traffic]]\nname = \"down\"\nrtt = \"5 ms\"\ndscp = 45\n"
        + stream
        + ", direction = \"downstream\" }\n";
    let records = records(&scenario(&text), 2);
    let mut directions = PerDirection::<u64>::default();
    for datagram in records.datagrams() {
        let Fate::Arrived(at) = datagram.fate else {
            continue;
        };
        directions[datagram.direction] += 1;
        assert_eq!(datagram.split.total(), at.saturating_since(datagram.sent_at));
        let (pipeline, serialisation) = match datagram.direction {
            // A burst is prepared a frame ahead, and a frame decoded in another one (vector C2).
            Direction::Upstream => (Span::from_us(270), Span::from_us(135)),
            // A symbol in each pipeline, and two in the interleaver (vector C3).
            Direction::Downstream => (Span::from_us(90), Span::from_ns(22_500)),
        };
        assert_eq!(datagram.split.get(Cause::Pipeline), pipeline);
        // A wire of 1 Gb/s takes 0.88 us for 110 B.
        let sent = serialisation + Span::from_ns(880);
        assert_eq!(datagram.split.get(Cause::Serialisation), sent);
        // The round trip of 5 ms without queues and MAC: half of it one way, 40 us of these over the plant.
        assert_eq!(datagram.split.get(Cause::Wire), Span::from_us(2_500));
    }
    assert!(directions.upstream > 600, "{directions:?}");
    let table = |text: &str| {
        let mut tables = crate::support::records(&scenario(text), 1).tables();
        let place = tables.iter().position(|table| table.name == "delays");
        tables.swap_remove(place.expect("a recorded table"))
    };
    let words = |table: &Table| match table.column("cause") {
        Some(ColumnData::Words { codes, dictionary }) => codes
            .iter()
            .filter_map(|code| dictionary.get(usize::try_from(*code).ok()?).cloned())
            .filter(|word| word == "pipeline")
            .count(),
        _ => panic!("causes are words"),
    };
    // The game up, and the liar both ways; no link of the other scenario has a pipeline.
    assert_eq!(words(&table(LIAR)), 2);
    assert_eq!(words(&table(crate::runs::MODEM)), 0);
}

#[test]
fn devices_count_the_delays_of_each_service_flow() {
    let kept = "duration = \"20 s\"\nrecord = { flows = true }\n";
    let with = |what: &str| {
        let text = LIAR
            .replace(kept, "duration = \"20 s\"\n")
            .replace("limit = \"250 ms\" }", &format!("limit = \"250 ms\" }}\nlatency_histogram = {{ {what} }}"));
        records(&scenario(&text), 1)
    };
    let up = LinkId(0);
    let forwarded = |records: &Records| records.link_totals(up).forwarded.map(|count| count.packets);
    let counted = |records: &Records| {
        let mut counts = [0; ServiceQueue::ALL.len()];
        for (queue, delays) in records.device_delays(up) {
            counts[queue as usize] = delays.bins.packets();
            assert_eq!(delays.exact.packets(), delays.bins.packets());
            assert_eq!(delays.exact.max_ns(), Some(delays.bins.longest().as_ns()));
        }
        counts
    };
    // Measured delay exists for forwarded packets only.
    let measured = with("value = \"sojourn\"");
    assert_eq!(counted(&measured), forwarded(&measured));
    // Estimates exist for every accepted packet, including queued ones.
    let estimated = with("edges = [\"1 ms\", \"10 ms\"]");
    assert_eq!(forwarded(&estimated), forwarded(&measured), "who counts does not disturb");
    let pairs = std::iter::zip(counted(&estimated), forwarded(&estimated));
    for (counted, forwarded) in pairs.clone() {
        assert!(counted >= forwarded, "{counted} of {forwarded}");
    }
    assert!(pairs.filter(|(counted, _)| *counted > 600).count() == 2);
    let table = estimated.tables().pop().expect("a table");
    assert_eq!((table.name, table.rows()), ("latency_histogram", 3 * 4 - 3));
    assert_eq!(optional(&table, "to_ns")[..3], [Some(1_000_000), Some(10_000_000), None]);
    let none = records(&scenario(LIAR), 1);
    assert_eq!(none.device_delays(up).count(), 0);
    assert!(none.tables().iter().all(|table| table.name != "latency_histogram"));
}

#[test]
fn grants_of_service_flows_sum_to_those_of_the_modem_and_proactive_ones_are_of_the_low_latency_flow() {
    let text = LIAR
        .replace("profile = \"white2019-lld\"", "profile = \"white2019-pgs\"")
        .replace("name = \"liar\"", "name = \"honest\"")
        .replace("rtt = \"20 ms\"\ndscp = 45", "rtt = \"20 ms\"");
    let records = records(&scenario(&text), 1);
    let mac = records.mac(LinkId(0)).expect("a modem");
    let flows = records.service_flows(LinkId(0));
    let [(ServiceQueue::Classic, classic), (ServiceQueue::LowLatency, low_latency)] = flows else {
        panic!("{flows:?}");
    };
    assert_eq!(mac.requested, classic.requested + low_latency.requested);
    assert_eq!(mac.granted, classic.granted + low_latency.granted);
    assert_eq!(mac.unused, classic.unused + low_latency.unused);
    // Vector: 5 Mb/s each 135 us are 96 B, 5.689 Mb/s, of which the game uses 110 + 28 B each 33 ms (claim W19-22).
    let mbps = |bytes: Bytes| bytes.0 as f64 * 8.0 / 20.0 / 1e6;
    assert!((mbps(low_latency.granted) - 5.689).abs() < 0.03, "{low_latency:?}");
    let used = mbps(low_latency.granted) - mbps(low_latency.unused);
    assert!((used - 138.0 * 8.0 / 0.033 / 1e6).abs() < 0.001, "{used}");
    assert!(mbps(classic.granted) > 30.0, "{classic:?}");
    // A CMTS downstream grants nothing.
    assert!(records.service_flows(LinkId(1)).is_empty());
}

#[test]
fn what_service_flows_are_offered_and_served_over_time_sums_to_what_their_link_forwarded_and_lost() {
    let records = records(&scenario(LIAR), 1);
    let tables = records.tables();
    let table = tables.iter().find(|table| table.name == "service_series").expect("a link with two queues");
    let column = |name: &str| match table.column(name) {
        Some(ColumnData::U64(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let words = |name: &str| match table.column(name) {
        Some(ColumnData::Words { codes, dictionary }) => codes
            .iter()
            .map(|code| dictionary[usize::try_from(*code).expect("no word is missing")].clone())
            .collect::<Vec<_>>(),
        other => panic!("{name}: {other:?}"),
    };
    let (links, queues) = (words("link"), words("queue"));
    let sum = |name: &str, queue: &str| -> u64 {
        let rows = column(name).into_iter().zip(links.iter().zip(&queues));
        rows.filter(|(_, (link, of))| *link == "upstream" && *of == queue).map(|(value, _)| value).sum()
    };
    let totals = records.link_totals(LinkId(0));
    for queue in [ServiceQueue::Classic, ServiceQueue::LowLatency] {
        let word = queue.as_str();
        let served = sum("served_bytes", word);
        assert!(served > 0);
        // Packets announced to leave after the end are in the totals only: less than 10 ms at 50 Mb/s.
        let forwarded = totals.forwarded[queue as usize].bytes.0;
        assert!((served..served + 62_500).contains(&forwarded), "{word}: {served}, {forwarded}");
        let offered = sum("offered_bytes", word);
        assert_eq!(offered, forwarded + sum("dropped_bytes", word), "{word}");
    }
    // 20 s in bins of 100 ms, for each queue that had packets.
    assert_eq!(links.iter().filter(|link| *link == "upstream").count(), 400);
    let starts = column("start_ns");
    assert_eq!((starts[0], starts[1]), (0, 100_000_000));
    // A link with one queue has none.
    let plain = crate::support::records(&scenario(crate::frames::PICTURES), 1).tables();
    assert!(plain.iter().all(|table| table.name != "service_series"));
}

/// Two homes on one channel, whose subscribers have voice in a service flow of its own each way.
const SEVERAL_FLOWS: &str = r#"
schema = 1
name = "service flows of homes"
duration = "6 s"
measure = { from = "2 s" }

[group]

[access.upstream]
link = { kind = "docsis31-group", rate = "5 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
service_flow = [{ name = "voice", member = false, rate = "2 Mb/s", queue = { kind = "drop-tail", limit = "100 ms" } }]
classifier = [{ to = "voice", dscp = 46 }]

[access.downstream]
link = { kind = "docsis31-group-downstream", rate = "9 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
service_flow = [{ name = "voice", member = false, rate = "3 Mb/s", queue = { kind = "drop-tail", limit = "100 ms" } }]
classifier = [{ to = "voice", dscp = 46 }]

[[home]]
name = "home"
count = 2
traffic = [
    { name = "up", app = { kind = "constant-rate", packet = "1 kB", interval = "500 us" } },
    { name = "voice-up", dscp = 46, app = { kind = "constant-rate", packet = "1 kB", interval = "500 us" } },
    { name = "down", app = { kind = "constant-rate", direction = "downstream", packet = "1 kB", interval = "500 us" } },
    { name = "voice-down", dscp = 46, app = { kind = "constant-rate", direction = "downstream", packet = "1 kB", interval = "500 us" } },
]
"#;

#[test]
fn service_flows_of_homes_of_a_group_have_their_rates_beside_each_other() {
    let records = records(&scenario(SEVERAL_FLOWS), 1);
    for (number, name) in records.traffic_names().iter().enumerate() {
        let direction = if name.contains("up") { Direction::Upstream } else { Direction::Downstream };
        let wanted = match (name.contains("voice"), direction) {
            (false, Direction::Upstream) => 5.0,
            (true, Direction::Upstream) => 2.0,
            (false, Direction::Downstream) => 9.0,
            (true, Direction::Downstream) => 3.0,
        };
        let traffic = TrafficId(u16::try_from(number).unwrap());
        // Rates count Ethernet frames, of which 18 B are no part of the packet.
        let forwarded = records.counters(traffic)[direction].forwarded_packets as f64 * 1018.0;
        let mbps = forwarded * 8.0 / 4e6;
        assert!((mbps - wanted).abs() < 0.03 * wanted, "{name}: {mbps}");
    }
    let requests: Vec<_> = records.links().filter_map(|(link, _)| records.modem(link)).collect();
    assert!(!requests.is_empty(), "each home's counters are one row");
}

#[test]
fn a_count_of_a_histogram_begins_and_ends_by_a_change() {
    // A packet every 10 ms for 8 s, counted from the first change to the second, and anew from the third to the fourth.
    let count = |changes: &[(u32, bool)]| {
        let mut text = String::from(
            r#"
schema = 1
name = "a count"
duration = "8 s"
access.upstream.link = { kind = "docsis31-upstream", profile = "white2019" }
access.upstream.queue = "docsis-pie"
access.upstream.latency_histogram = { value = "sojourn", counting = false }
access.downstream.link = { kind = "docsis31-downstream", profile = "white2019" }
access.downstream.queue = "docsis-pie"
traffic = [{ name = "stream", app = { kind = "constant-rate", packet = "200 B", interval = "10 ms" } }]
"#,
        );
        for (at, counting) in changes {
            let set = format!("set.\"access.upstream.latency_histogram.counting\" = {counting}");
            text += &["[[change]]\nat = \"", &at.to_string(), " s\"\n", &set, "\n"].concat();
        }
        let records = records(&scenario(&text), 1);
        let delays = records.device_delays(LinkId(0));
        delays.map(|(_, delays)| delays.bins.bins().map(|bin| bin.packets).sum::<u64>()).sum::<u64>()
    };
    assert_eq!(count(&[]), 0);
    let first = count(&[(2, true), (4, false)]);
    assert!((199..=201).contains(&first), "{first}");
    // A count that begins is empty.
    let second = count(&[(2, true), (4, false), (5, true), (6, false)]);
    assert!((99..=101).contains(&second), "{second}");
}
