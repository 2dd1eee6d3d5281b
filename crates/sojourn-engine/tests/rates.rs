//! Every kind of link carries its rate and never more: in any time `T` at most `T · R` and the burst, and at least 0.97 of
//! `R` while packets always wait.
//!
//! Source: DOCSIS MULPI annex C, maximum sustained traffic rate. Bytes that a link may place freely within an interval
//! of MAPs or a symbol count as sent in it, and a packet counts when its last byte arrives.

use sojourn_base::{BitRate, Bytes, Ecn, Instant, Meta, PacketHandle, RandomStream, Seed, Span};
use sojourn_link::{AnyLink, Draw, LinkConfig, LinkContext, Loss, Mark, Passage, TraceConfig};
use sojourn_scenario::Scenario;
use sojourn_testkit::departures::Departures;

/// In kb/s.
const RATES: [u64; 13] =
    [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 97_000, 200_000, 500_000, 1_000_000];
/// Frames of full size, of a voice call, and the shortest.
const LENGTHS: [u32; 3] = [1518, 300, 64];

/// Bytes, as docsis-ns3 has them.
const MAC_HEADER: f64 = 10.0;

/// The far end of a link.
struct Far {
    departures: Departures,
    streams: [RandomStream; Draw::ALL.len()],
}

impl LinkContext for Far {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, _: PacketHandle, meta: &Meta, passage: &Passage) {
        self.departures.add(passage.arrives_at, meta.length.into());
    }

    fn dropped(&mut self, _: PacketHandle, _: &Meta, _: &Loss) {}

    fn marked(&mut self, _: PacketHandle, _: &Meta, _: &Mark) {}

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.streams[purpose as usize].unit()
    }
}

/// The link that a file asks for, with defaults as they are for its rate.
fn link(kind: &str, keys: &str, queue: &str) -> LinkConfig {
    let text = format!(
        r#"
schema = 1
name = "case"
duration = "1 s"
access.upstream.link = {{ kind = "{kind}", {keys} }}
access.upstream.queue = {queue}
access.downstream.link = {{ kind = "serial", rate = "1 Gb/s" }}
access.downstream.queue = {{ kind = "drop-tail", limit = "10 packets" }}
[[traffic]]
name = "call"
app = "voice"
"#
    );
    let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.access.upstream.link
}

/// Returns the departures from the link by `end` while a tenth of a second at its rate always waits; every other packet
/// is for a low-latency queue, if there is one.
fn backlogged(config: &LinkConfig, length: u32, end: Instant) -> Departures {
    let mut link: AnyLink = config.build();
    let standing = config.drain_rate().bytes_in(Span::from_ms(100)).0;
    let standing = standing.max(50_000);
    let mut far =
        Far { departures: Departures::default(), streams: Draw::ALL.map(|purpose| Seed(1).stream(purpose.as_str())) };
    let mut now = Instant::ZERO;
    for number in 0_u32.. {
        while link.backlog().bytes.0 >= standing {
            now = link.next_wakeup();
            if now >= end {
                return far.departures;
            }
            link.wake(now, &mut far);
        }
        let meta = Meta {
            length,
            flow_hash: number % 3,
            ecn: [Ecn::NotEct, Ecn::Ect1][number as usize % 2],
            ..Meta::default()
        };
        link.arrive(now, meta, PacketHandle(0), &mut far);
    }
    unreachable!("the run ends before packets do")
}

const DEEP: &str = r#"{ kind = "drop-tail", limit = "1000000 packets" }"#;
const TWO_QUEUES: &str = r#"{ kind = "docsis-dual-queue", limit = "100 MB", low_latency_limit = "100 MB", immediate_aqm = false, queue_protection = false }"#;

/// A kind of link as it is asked for at a rate.
struct Case {
    kind: &'static str,
    /// Returns the keys for a rate in kb/s.
    keys: fn(u64) -> String,
    queue: &'static str,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in LinkConfig::kinds() {
        let kind = kind.info().name;
        let mut case = |keys, queue| cases.push(Case { kind, keys, queue });
        if kind == "trace" {
            case(opportunities, DEEP);
            continue;
        }
        case(rate, DEEP);
        if kind != "serial" {
            case(|kbps| format!("{}, peak = \"{} kb/s\"", rate(kbps), 2 * kbps), DEEP);
        }
        if kind.starts_with("docsis30") {
            case(|kbps| format!("{}, channel_rate = \"{} kb/s\"", rate(kbps), 2 * kbps), DEEP);
        }
        if kind == "docsis31-upstream" {
            case(|kbps| format!("{}, service = \"low-latency\"", rate(kbps)), TWO_QUEUES);
        }
    }
    cases
}

fn rate(kbps: u64) -> String {
    format!("rate = \"{kbps} kb/s\"")
}

/// One each two milliseconds, of as many bytes as the rate carries in them.
fn opportunities(kbps: u64) -> String {
    format!("opportunities = \"2\", opportunity = \"{} B\"", kbps / 4)
}

/// Worst of the runs of one kind.
#[derive(Debug)]
struct Worst {
    /// Most of what rate and burst allow in a window.
    most: f64,
    /// Least of the rate.
    least: f64,
}

/// Returns the bytes that a link may send at once: its burst, its freely placed grants, and a packet in progress.
fn slack(config: &LinkConfig, rate: BitRate, length: u32) -> Bytes {
    let burst = match config.link.get::<TraceConfig>() {
        Some(trace) => trace.opportunity,
        None => config.allowance(Span::ZERO).expect("it has a rate"),
    };
    burst + rate.bytes_in(config.grant_interval()) + Bytes(length.into())
}

#[test]
fn every_kind_of_link_carries_its_rate_and_never_more() {
    let (mut faults, mut worsts) = (Vec::new(), Vec::new());
    for case in cases() {
        let mut worst = Worst { most: 0.0, least: f64::MAX };
        for (kbps, length) in RATES.iter().flat_map(|rate| LENGTHS.map(|length| (*rate, length))) {
            let keys = (case.keys)(kbps);
            let config = link(case.kind, &keys, case.queue);
            let rate = config.drain_rate();
            let packets = rate.time_for(Bytes(u64::from(length) * 6_000));
            let lasts = packets.clamp(Span::from_ms(300), Span::from_s(100));
            let (from, end) = (Instant::ZERO + lasts / 3, Instant::ZERO + lasts);
            let mut departures = backlogged(&config, length, end);
            let due = rate.bytes_in(end.saturating_since(from)).0;
            // Rates count frames; a channel that is slower carries their MAC headers, too.
            let is_channel = rate < BitRate::from_kbps(kbps) && case.kind.starts_with("docsis31");
            let header = if is_channel { MAC_HEADER } else { 0.0 };
            let whole = (f64::from(length) + header) / f64::from(length);
            let share = departures.between(from, end) as f64 * whole / due as f64;
            let allowed = slack(&config, rate, length);
            // Times are whole picoseconds, which are less than a byte.
            let exceeds = departures.burst_needed(rate) >= (allowed.0 + 1) as f64;
            let ratio = departures.worst_ratio(rate, allowed);
            // The transmit queue of the 2012 modem counts packets (White 2012 section 2.2.3): short ones do not fill it.
            let is_short_of = case.kind == "docsis30-cascade" && length < 1518;
            worst.most = worst.most.max(ratio);
            if !is_short_of {
                worst.least = worst.least.min(share);
            }
            if exceeds || share < 0.97 && !is_short_of {
                faults.push(format!(
                    "{} with {keys}, {length} B: {share:.4} of the rate, {ratio:.4} of what a window may have",
                    case.kind
                ));
            }
        }
        worsts.push(format!("{}, {}: {worst:?}", case.kind, (case.keys)(100)));
    }
    faults.extend((!faults.is_empty()).then(|| worsts.join("\n")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_rate_that_a_warning_tells_is_the_one_that_is_reached() {
    for (kind, keys) in [
        ("docsis30-single", r#"rate = "20 Mb/s", burst = "3044 B""#),
        ("docsis30-single", r#"rate = "50 Mb/s", burst = "3044 B""#),
        ("docsis30-cascade", r#"rate = "97 Mb/s", transmit_queue = "32 packets""#),
        ("docsis31-upstream", r#"rate = "20 Mb/s", burst = "3044 B""#),
        ("docsis31-upstream", r#"rate = "20 Mb/s", burst = "5 kB""#),
        ("docsis31-upstream", r#"rate = "50 Mb/s", burst = "3044 B""#),
    ] {
        let config = link(kind, keys, DEEP);
        let told = config.shortfalls();
        assert_eq!(told.len(), 1, "{kind} with {keys}: {told:?}");
        let (from, end) = (Instant::from_s(1), Instant::from_s(5));
        let bytes = backlogged(&config, 1518, end).between(from, end);
        let ratio = bytes as f64 * 8.0 / 4.0 / told[0].reaches.as_bps() as f64;
        assert!((0.95..1.03).contains(&ratio), "{kind} with {keys}: {ratio:.3} of the reported rate");
    }
}
