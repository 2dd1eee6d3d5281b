mod cost;
mod records;

use super::*;
use crate::classify::{Entry, Rule};
use crate::clock::Wake;
use crate::plan::FarEnd;
use crate::segment::Offload;
use proptest::prelude::*;
use sojourn_base::{Bytes, Limit, Packets, Seed};
use sojourn_link::{Framing, LinkConfig, SerialConfig};
use sojourn_queue::{CodelConfig, CodelLaw, DropTailConfig, ManagerConfig};
use sojourn_record::RecordConfig;
use sojourn_scenario::DirectedLink;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

const MBPS: u64 = 10;

/// Units that come, with their times.
type Coming = VecDeque<(Instant, Vec<u8>)>;

/// Events of a test, and their results.
#[derive(Debug, Default)]
struct Script {
    now: Cell<Instant>,
    /// Units that come, with their times.
    comes: RefCell<PerDirection<Coming>>,
    /// Packets that were written, with their times.
    written: RefCell<Vec<(Instant, Direction, Vec<u8>)>>,
    /// By how much each wait is longer than it should be, one after the other.
    late: RefCell<VecDeque<Span>>,
    most_read_at_once: Cell<usize>,
    writes_fail: Cell<bool>,
    lost: Cell<u64>,
}

#[derive(Debug)]
struct FakePort {
    script: Rc<Script>,
    /// Of what is read here.
    direction: Direction,
}

impl Port for FakePort {
    fn read_batch(&mut self, most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize> {
        let script = &self.script;
        let mut count = 0;
        while count < most {
            let due = |comes: &Coming| comes.front().is_some_and(|(at, _)| *at <= script.now.get());
            let comes = &mut script.comes.borrow_mut()[self.direction];
            if !due(comes) {
                break;
            }
            let (_, unit) = comes.pop_front().unwrap();
            receive(Offload::default(), &unit);
            count += 1;
        }
        let most = script.most_read_at_once.get().max(count);
        script.most_read_at_once.set(most);
        Ok(count)
    }

    fn write(&mut self, _: Offload, parts: &[IoSlice<'_>]) -> io::Result<()> {
        if self.script.writes_fail.get() {
            return Err(io::Error::other("the device is full"));
        }
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let direction = self.direction.reversed();
        let mut written = self.script.written.borrow_mut();
        written.push((self.script.now.get(), direction, bytes));
        Ok(())
    }

    fn counters(&mut self) -> PortCounters {
        // Both ports tell the same; the inside's count.
        PortCounters { lost: if self.direction == Direction::Upstream { self.script.lost.get() } else { 0 }, tagged: 0 }
    }
}

struct FakeClock(Rc<Script>);

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        self.0.now.get()
    }

    fn wait(&mut self, until: Instant) -> io::Result<Wake> {
        let script = &self.0;
        let comes = script.comes.borrow();
        let next = |direction: Direction| comes[direction].front().map_or(Instant::NEVER, |(at, _)| *at);
        let first = next(Direction::Upstream).min(next(Direction::Downstream));
        let late = script.late.borrow_mut().pop_front().unwrap_or(Span::ZERO);
        let now = script.now.get().max(until.min(first)) + late;
        script.now.set(now);
        Ok(Wake {
            readable: PerDirection {
                upstream: next(Direction::Upstream) <= now,
                downstream: next(Direction::Downstream) <= now,
            },
            ended: now > Instant::from_s(3),
        })
    }

    fn rest(&mut self, until: Instant) {
        self.0.now.set(self.0.now.get().max(until));
    }
}

fn plan(queue: impl Into<ManagerConfig>) -> Plan {
    let queue = queue.into();
    let access = Direction::BOTH.map(|_| DirectedLink {
        flows: sojourn_link::FlowsConfig::NONE,
        link: LinkConfig {
            queue: queue.clone(),
            ..SerialConfig::plain(BitRate::from_mbps(MBPS), Span::from_ms(1)).into()
        },
        framing: Framing::Ip,
        latency_histogram: None,
        conditions: Vec::new(),
    });
    let [upstream, downstream] = access;
    let (v4, v6) = FarEnd::addresses(0);
    Plan {
        wifi: Vec::new(),
        access: PerDirection { upstream, downstream },
        far: vec![FarEnd { v4, v6, rtt: Span::from_ms(20), line_rate: BitRate::from_mbps(1000) }],
        mtu: Bytes(1500),
        overhead: Bytes::ZERO,
        seed: Seed(1),
        record: RecordConfig { datagrams: true, ..RecordConfig::BASE },
        entries: vec![Entry { name: "voice".to_owned(), rule: Rule { port: Some(5004), ..Rule::ANY }, via: None }],
        link_header: 0,
    }
}

/// A datagram of this length between the two ends, with this source port and ECN field.
fn datagram(direction: Direction, length: u16, port: u16, ecn: u8) -> Vec<u8> {
    let mut packet = vec![0x45, ecn];
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    let (inside, far) = (FarEnd::INSIDE.0.octets(), FarEnd::addresses(0).0.octets());
    match direction {
        Direction::Upstream => packet.extend([inside, far].concat()),
        Direction::Downstream => packet.extend([far, inside].concat()),
    }
    packet.extend(port.to_be_bytes());
    packet.extend([0x13, 0x89]);
    packet.extend((length - 20).to_be_bytes());
    packet.resize(usize::from(length), 0);
    packet
}

/// An emulation of these units, each with its time and direction.
fn emulation(
    plan: &Plan,
    units: impl IntoIterator<Item = (Instant, Direction, Vec<u8>)>,
) -> (Rc<Script>, Pump<FakePort>) {
    let script = Rc::new(Script::default());
    for (at, direction, unit) in units {
        script.comes.borrow_mut()[direction].push_back((at, unit));
    }
    let port = |direction| FakePort { script: Rc::clone(&script), direction };
    let ends = Ends { inside: port(Direction::Upstream), far: port(Direction::Downstream) };
    let pump = Pump::new(plan, ends).unwrap();
    (script, pump)
}

fn run(script: &Rc<Script>, pump: &mut Pump<FakePort>) {
    pump.run(&mut FakeClock(Rc::clone(script)), &mut |_| {}).unwrap();
}

/// 1250 B at 10 Mb/s take 1 ms, on a gigabit 10 µs; 1 ms of access link and 9 ms of wire to the far end.
#[test]
fn a_packet_over_an_idle_link_is_written_when_the_model_says() {
    for direction in Direction::BOTH {
        let unit = datagram(direction, 1250, 1, 0);
        let (script, mut pump) =
            emulation(&plan(DropTailConfig::bytes(100_000)), [(Instant::from_ms(7), direction, unit.clone())]);
        run(&script, &mut pump);
        let expected = Instant::from_us(7_000 + 1_000 + 1_000 + 9_000 + 10);
        assert_eq!(*script.written.borrow(), [(expected, direction, unit)]);
    }
}

/// Packets of the entry that has `via` pass the station's Wi-Fi as well, both ways; others do not.
#[test]
fn packets_of_an_entry_with_via_pass_the_wifi() {
    let file = r#"
        schema = 1
        name = "wifi"
        duration = "3 s"
        [access.upstream]
        link = { kind = "serial", rate = "10 Mb/s" }
        queue = { kind = "drop-tail", limit = "100 kB" }
        [access.downstream]
        link = { kind = "serial", rate = "10 Mb/s" }
        queue = { kind = "drop-tail", limit = "100 kB" }
        [emulate]
        rtt = "20 ms"
        [wifi.home]
        standard = "n"
        width = "20 MHz"
        streams = 1
        [wifi.home.ap]
        [wifi.home.station.attic]
        rate = "mcs0"
        [[traffic]]
        name = "voice"
        app = "voice"
        match = { port = 5004 }
        via = "wifi.home.attic"
    "#;
    let scenario = sojourn_scenario::ScenarioFile::parse(file).unwrap().validate_for_emulation().unwrap();
    let (plan, told) = Plan::of(&scenario, &crate::plan::Options::default()).unwrap();
    assert_eq!(told, Vec::<String>::new());
    for direction in Direction::BOTH {
        let written = |port: u16| {
            let unit = datagram(direction, 1250, port, 0);
            let (script, mut pump) = emulation(&plan, [(Instant::from_ms(7), direction, unit)]);
            run(&script, &mut pump);
            let found = script.written.borrow();
            assert_eq!(found.len(), 1);
            found[0].0
        };
        let through = written(5004).saturating_since(written(9));
        // A frame of 1304 B at 6.5 Mb/s takes 1.648 ms with its preamble; SIFS, ACK and the first wait are 0.1 ms.
        assert!((Span::from_us(1_690)..Span::from_us(1_900)).contains(&through), "{direction:?}: {through}");
    }
}

/// Packets of a run that is called too late, and of one that is not.
fn written_late(queue: &ManagerConfig, units: &[(Instant, Direction, Vec<u8>)], late: &[u64]) -> [Rc<Script>; 2] {
    [&[], late].map(|late| {
        let (script, mut pump) = emulation(&plan(queue.clone()), units.to_vec());
        script.late.borrow_mut().extend(late.iter().map(|us| Span::from_us(*us)));
        run(&script, &mut pump);
        script
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Packets come when they come: only deliveries are late here, as reads are stamped when they are made.
    #[test]
    fn nothing_is_written_early_or_out_of_order(
        gaps in prop::collection::vec((0_u64..3_000, any::<bool>(), 100_u16..1500), 1..80),
        late in prop::collection::vec(0_u64..20_000, 100),
    ) {
        // All packets come before the first wait that is too long.
        let mut units = Vec::new();
        for (number, (gap, up, length)) in (0_u16..).zip(&gaps) {
            let direction = if *up { Direction::Upstream } else { Direction::Downstream };
            units.push((Instant::from_us(*gap / 1000), direction, datagram(direction, *length, 100 + number, 0)));
        }
        units.sort_by_key(|(at, ..)| *at);
        let queue = ManagerConfig::from(DropTailConfig::bytes(1_000_000));
        let late: Vec<u64> = [0; 4].into_iter().chain(late).collect();
        let [exact, late] = written_late(&queue, &units, &late);
        let (exact, late) = (exact.written.borrow(), late.written.borrow());
        prop_assert_eq!(exact.len(), units.len());
        prop_assert_eq!(late.len(), units.len());
        for (exact, late) in exact.iter().zip(late.iter()) {
            prop_assert!(late.0 >= exact.0, "{:?} before {:?}", late.0, exact.0);
            prop_assert_eq!(&late.2, &exact.2);
        }
    }
}

#[test]
fn no_more_than_64_units_are_read_before_what_is_due_is_written() {
    let unit = datagram(Direction::Upstream, 100, 1, 0);
    let units = (0..300).map(|_| (Instant::ZERO, Direction::Upstream, unit.clone()));
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    run(&script, &mut pump);
    assert_eq!(script.most_read_at_once.get(), 64);
    assert_eq!(script.written.borrow().len(), 300);
}

/// Two packets come at 0; both are due at 11 and 12 ms. The program stops for this long at 11 ms.
fn stop_for(stop: Span) -> (Vec<Instant>, Snapshot) {
    let unit = datagram(Direction::Upstream, 1250, 1, 0);
    let units = [(Instant::ZERO, Direction::Upstream, unit.clone()), (Instant::ZERO, Direction::Upstream, unit)];
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    let mut clock = FakeClock(Rc::clone(&script));
    pump.pass(&mut clock).unwrap();
    script.now.set(Instant::from_us(5_000));
    pump.pass(&mut clock).unwrap();
    script.now.set(Instant::from_us(5_000) + stop);
    pump.pass(&mut clock).unwrap();
    for ms in 1..=20 {
        script.now.set(Instant::from_us(5_000 + 1_000 * ms) + stop);
        pump.pass(&mut clock).unwrap();
    }
    let written = script.written.borrow();
    (written.iter().map(|(at, ..)| *at).collect(), pump.snapshot())
}

#[test]
fn a_gap_of_99_ms_is_caught_up() {
    let (written, seen) = stop_for(Span::from_ms(99));
    assert_eq!(written, [Instant::from_ms(104); 2], "both at once");
    assert_eq!(seen.stalls, 0);
    assert_eq!(seen.at, Instant::from_ms(124));
}

#[test]
fn model_time_stands_still_in_a_gap_of_101_ms() {
    let (written, seen) = stop_for(Span::from_ms(101));
    // 6 and 7 ms after the stop: due at 11.01 and 12.01 ms of the model, which was at 5 ms.
    assert_eq!(written, [Instant::from_ms(113), Instant::from_ms(114)]);
    assert_eq!(seen.stalls, 1);
    assert_eq!(seen.at, Instant::from_ms(25));
}

#[test]
fn what_is_lost_outside_the_model_is_counted_and_makes_the_run_poor() {
    let too_long = datagram(Direction::Upstream, 1501, 1, 0);
    let fits = datagram(Direction::Upstream, 1500, 1, 0);
    let units = [(Instant::ZERO, Direction::Upstream, too_long), (Instant::ZERO, Direction::Upstream, fits)];
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    script.lost.set(5);
    script.writes_fail.set(true);
    run(&script, &mut pump);
    let finished = pump.finish();
    assert_eq!(finished.summary.hidden_losses, 1 + 1 + 5);
    assert_eq!(finished.summary.grade, crate::Grade::Poor);
}

#[test]
fn a_device_that_takes_nothing_any_more_ends_the_run() {
    let unit = datagram(Direction::Upstream, 100, 1, 0);
    let units = (0..200).map(|_| (Instant::ZERO, Direction::Upstream, unit.clone()));
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    script.writes_fail.set(true);
    let failure = pump.run(&mut FakeClock(script), &mut |_| {}).unwrap_err();
    assert_eq!(failure.to_string(), "cannot write to the far end: the device is full");
}

#[test]
fn frames_without_room_are_refused_and_counted() {
    let unit = datagram(Direction::Downstream, 28, 1, 0);
    let units = (0..6000).map(|_| (Instant::ZERO, Direction::Downstream, unit.clone()));
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    run(&script, &mut pump);
    let delivered = script.written.borrow().len() as u64;
    let seen = pump.snapshot();
    let dropped = seen.directions.downstream.dropped;
    assert_eq!(delivered + dropped + seen.hidden_losses, 6000);
    assert_eq!(seen.hidden_losses, 6000 - 4096, "the frames there are");
}

/// A queue that grows is marked, and the mark stands in the header that is written: `meta.ecn` is already `Ce` when the
/// packet is delivered, so a header that was rewritten only then would never be.
#[test]
fn marks_of_the_manager_are_in_the_headers_that_are_written() {
    let law = CodelLaw { ecn: true, ..CodelLaw::RFC8289 };
    let queue = CodelConfig { law, limit: Limit::Packets(Packets(10_000)) };
    let unit = datagram(Direction::Upstream, 1500, 1, 2);
    // Twice the rate for a second.
    let units = (0..1600_u64).map(|number| {
        let at = Instant::from_us(number * 600);
        (at, Direction::Upstream, unit.clone())
    });
    let (script, mut pump) = emulation(&plan(queue), units);
    run(&script, &mut pump);
    let written = script.written.borrow();
    let marked = written.iter().filter(|(_, _, packet)| packet[1] & 3 == 3);
    let seen = pump.snapshot().directions.upstream;
    assert!(seen.marked > 5, "{}", seen.marked);
    // Marked packets that are still in flight are not written.
    assert_eq!(marked.count() as u64, seen.marked);
}

#[test]
fn what_cannot_be_emulated_is_refused_with_a_sentence() {
    let ends = || {
        let script = Rc::new(Script::default());
        let port = |direction| FakePort { script: Rc::clone(&script), direction };
        Ends { inside: port(Direction::Upstream), far: port(Direction::Downstream) }
    };
    let mut fast = plan(DropTailConfig::bytes(100_000));
    fast.access.upstream.link = SerialConfig::plain(BitRate::from_mbps(1995), Span::ZERO).into();
    let refusal = Pump::new(&fast, ends()).unwrap_err();
    assert!(refusal.message.starts_with("both rates together are"), "{refusal}");
    let mut far = plan(DropTailConfig::bytes(400 << 20));
    far.mtu = Bytes(1500);
    let refusal = Pump::new(&far, ends()).unwrap_err();
    assert!(refusal.message.contains("there is room for"), "{refusal}");
}
