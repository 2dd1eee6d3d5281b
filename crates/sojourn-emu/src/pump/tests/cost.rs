//! Costs of the loop: when it joins writes and gives up its priority, and that packets cause no allocation.

use super::*;
use std::alloc::{GlobalAlloc, Layout, System};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what each thread allocates.
struct Counting;

// SAFETY: hands its arguments unchanged to the system's allocator.
#[expect(unsafe_code, reason = "an allocator is an unsafe trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Gives the same unit with every read while there is time, and throws away what is written.
#[derive(Debug)]
struct Source {
    unit: Vec<u8>,
    written: Rc<Cell<u64>>,
}

impl Port for Source {
    fn read_batch(&mut self, _most: usize, receive: &mut dyn FnMut(Offload, &[u8])) -> io::Result<usize> {
        receive(Offload::default(), &self.unit);
        Ok(1)
    }

    fn write(&mut self, _: Offload, _: &[IoSlice<'_>]) -> io::Result<()> {
        self.written.set(self.written.get() + 1);
        Ok(())
    }
}

/// A clock that moves on by a millisecond with every wait.
#[derive(Default)]
struct Ticks {
    now: Instant,
    until: Instant,
    /// Share of its core that the loop takes.
    busy_percent: u64,
    has_given_priority_up: bool,
}

impl Clock for Ticks {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(&mut self, _until: Instant) -> io::Result<Wake> {
        self.now += Span::from_ms(1);
        let both = PerDirection { upstream: true, downstream: true };
        Ok(Wake { readable: both, ended: self.now >= self.until })
    }

    fn rest(&mut self, until: Instant) {
        self.now = self.now.max(until);
    }

    fn give_priority_up(&mut self) {
        self.has_given_priority_up = true;
    }

    fn busy(&mut self) -> Option<Span> {
        let since = self.now.saturating_since(Instant::ZERO);
        Some(Span::from_ns(since.as_ns() * self.busy_percent / 100))
    }
}

/// An emulation that is idle but for its processor.
fn idle_until(until: Instant, busy_percent: u64) -> (Pump<FakePort>, Ticks) {
    let (_, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), []);
    let mut clock = Ticks { until, busy_percent, ..Ticks::default() };
    pump.run(&mut clock, &mut |_| {}).unwrap();
    (pump, clock)
}

/// The load of the first second is unknown: the loop is judged from the second one on.
#[test]
fn a_loop_that_needs_its_core_joins_writes_and_then_gives_its_priority_up() {
    let (pump, clock) = idle_until(Instant::from_ms(2_900), 85);
    assert!(!pump.snapshot().joins && !clock.has_given_priority_up);
    let (pump, clock) = idle_until(Instant::from_ms(3_100), 85);
    assert!(pump.snapshot().joins && !clock.has_given_priority_up);
    let (pump, clock) = idle_until(Instant::from_ms(5_100), 85);
    assert!(clock.has_given_priority_up);
    let summary = pump.finish().summary;
    assert!(summary.joined && summary.gave_priority_up);
    let (pump, clock) = idle_until(Instant::from_s(20), 75);
    assert!(!pump.snapshot().joins && !clock.has_given_priority_up);
}

/// Writes of 20 packets that enter a link of 1 Gb/s at 7 ms: 1250 B take 10 µs, so five are due within 50 µs.
fn written_at_a_gigabit(is_virtual: bool) -> (Vec<Instant>, bool) {
    let fast = |link: &mut DirectedLink| {
        link.link = LinkConfig {
            queue: link.link.queue.clone(),
            ..SerialConfig::plain(BitRate::from_mbps(1_000), Span::from_ms(1)).into()
        };
    };
    let mut plan = plan(DropTailConfig::bytes(1_000_000));
    fast(&mut plan.access.upstream);
    let unit = datagram(Direction::Upstream, 1250, 1, 0);
    let units = vec![(Instant::from_ms(7), Direction::Upstream, unit); 20];
    let (script, mut pump) = emulation(&plan, units);
    if is_virtual {
        pump.write_singly();
    }
    run(&script, &mut pump);
    let written = script.written.borrow();
    assert_eq!(written.len(), 20);
    (written.iter().map(|(at, ..)| *at).collect(), pump.snapshot().joins)
}

#[test]
fn a_virtual_clock_has_each_packet_written_when_it_is_due() {
    let (times, joins) = written_at_a_gigabit(true);
    let due = (0..20).map(|packet| Instant::from_us(7_000 + 10_000 + 20 + 10 * packet));
    assert_eq!(times, due.collect::<Vec<_>>());
    assert!(!joins);
    let (_, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), []);
    pump.write_singly();
    pump.run(&mut Ticks { until: Instant::from_s(4), busy_percent: 85, ..Ticks::default() }, &mut |_| {}).unwrap();
    assert!(!pump.snapshot().joins);
}

#[test]
fn joined_writes_are_at_least_50_us_apart_and_never_early() {
    let (mut times, joins) = written_at_a_gigabit(false);
    // 10 µs on the link, 10 µs on the gigabit behind it, 10 ms of propagation.
    assert!(times[0] >= Instant::from_us(7_000 + 10_000 + 20));
    assert!(times[19] >= Instant::from_us(7_000 + 10_000 + 210));
    times.dedup();
    assert!(times.len() <= 5, "{times:?}");
    for pair in times.windows(2) {
        assert!(pair[1].saturating_since(pair[0]) >= Span::from_us(50), "{times:?}");
    }
    assert!(joins);
}

#[test]
fn packets_cost_no_allocation() {
    for joined in [false, true] {
        no_allocation_per_packet(joined);
    }
}

fn no_allocation_per_packet(joined: bool) {
    let mut plan = plan(CodelConfig::RFC8289);
    plan.record = RecordConfig::NOTHING;
    let written = Rc::new(Cell::new(0));
    let port = |direction| Source { unit: datagram(direction, 1400, 1, 2), written: Rc::clone(&written) };
    let ends = Ends { inside: port(Direction::Upstream), far: port(Direction::Downstream) };
    let mut pump = Pump::new(&plan, ends).unwrap();
    if joined {
        pump.joiner = Some(Joiner::new(0));
    }
    let mut clock = Ticks { until: Instant::from_s(3), ..Ticks::default() };
    pump.run(&mut clock, &mut |_| {}).unwrap();
    let before = (ALLOCATIONS.get(), written.get());
    clock.until = Instant::from_s(13);
    pump.run(&mut clock, &mut |_| {}).unwrap();
    let (allocated, packets) = (ALLOCATIONS.get() - before.0, written.get() - before.1);
    assert!(packets > 15_000, "{packets}");
    // A list with a row for each second grows.
    assert!(allocated <= 4, "{allocated} allocations for {packets} packets");
}
