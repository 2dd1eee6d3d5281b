use super::*;
use crate::wifi::phy::{Band, Control, Format, Mode, Width};
use sojourn_base::Bytes;
use std::vec::Vec;

/// Stations that always have a frame of one duration for a receiver that never sends.
struct Saturated {
    first: Span,
    rest: Span,
    receiver: Device,
    /// The draws of each.
    drawn: Vec<u64>,
    seed: u64,
    delivered: u64,
    /// Starts of frames, and whose.
    log: Vec<(Instant, Contender)>,
    is_logged: bool,
}

impl Saturated {
    fn new(stations: usize, seed: u64, (first, rest): (Span, Span)) -> Self {
        let drawn = alloc::vec![0; stations];
        Self { first, rest, receiver: stations, drawn, seed, delivered: 0, log: Vec::new(), is_logged: false }
    }

    /// Uniform in 0 to `window`, for the `number`-th draw of a station.
    fn draw(seed: u64, contender: Contender, number: u64, window: u32) -> u32 {
        let mut z = seed ^ ((contender as u64) << 40 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..2 {
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
        }
        u32::try_from((u128::from(z) * (u128::from(window) + 1)) >> 64).expect("within the window")
    }
}

impl Air for Saturated {
    fn backoff(&mut self, contender: Contender, window: u32) -> u32 {
        self.drawn[contender] += 1;
        Self::draw(self.seed, contender, self.drawn[contender], window)
    }

    fn frame(&mut self, now: Instant, contender: Contender, _: Option<Span>) -> Option<Frame> {
        if self.is_logged {
            self.log.push((now, contender));
        }
        Some(Frame { first: self.first, rest: self.rest, receiver: self.receiver, answered: true })
    }

    fn overlapped(&mut self, _: Contender, _: Instant, _: Instant) -> bool {
        false
    }

    fn ended(&mut self, _: Instant, _: Contender, outcome: Outcome, _: u32) -> bool {
        self.delivered += u64::from(outcome == Outcome::Answered);
        true
    }
}

/// Runs saturated stations until `exchanges` exchanges have begun; returns what was delivered, and the time that it took.
fn saturate(timing: Timing, category: Category, air: &mut Saturated, exchanges: u64) -> (u64, Instant) {
    let contenders: Vec<(Device, Category)> = (0..air.drawn.len()).map(|device| (device, category)).collect();
    let mut medium = Medium::new(timing, &contenders, &[]);
    for contender in 0..contenders.len() {
        // The first backoff of each: as if the medium had been busy until now.
        medium.contenders[contender].backoff = air.backoff(contender, category.first_window);
        medium.want(Instant::ZERO, contender, air);
    }
    let mut now = Instant::ZERO;
    while medium.counters().exchanges < exchanges {
        now = medium.next();
        medium.advance(now, air);
    }
    (air.delivered, now)
}

const SLOT: Span = Span::from_us(9);
const SIFS: Span = Span::from_us(16);

fn timing(recovery: Span, counts_busy: bool) -> Timing {
    Timing { slot: SLOT, sifs: SIFS, recovery, tries: 0, counts_busy }
}

fn best_effort(first_window: u32) -> Category {
    Category { aifs: SIFS + SLOT * 2, first_window, longest_window: 1023, opportunity: Span::ZERO }
}

/// A DCF or EDCA slot by slot, literally: every station looks at every slot.
fn slotted(
    stations: usize,
    seed: u64,
    (first, rest): (Span, Span),
    timing: Timing,
    starts: usize,
) -> Vec<(Instant, Contender)> {
    let mut drawn = alloc::vec![0_u64; stations];
    let mut draw = |station: usize, window: u32| {
        drawn[station] += 1;
        Saturated::draw(seed, station, drawn[station], window)
    };
    let mut windows = alloc::vec![15_u32; stations];
    let mut counts: Vec<u32> = (0..stations).map(|station| draw(station, 15)).collect();
    let mut log = Vec::new();
    let mut now = Instant::ZERO + SIFS + SLOT * 2;
    while log.len() < starts {
        let due: Vec<usize> = (0..stations).filter(|station| counts[*station] == 0).collect();
        if due.is_empty() || timing.counts_busy {
            for count in &mut counts {
                *count = count.saturating_sub(1);
            }
        }
        if due.is_empty() {
            now += SLOT;
            continue;
        }
        log.extend(due.iter().map(|station| (now, *station)));
        let is_collision = due.len() > 1;
        for station in due {
            windows[station] = if is_collision { (2 * windows[station] + 1).min(1023) } else { 15 };
            counts[station] = draw(station, windows[station]);
        }
        now = now + first + if is_collision { timing.recovery } else { rest } + SIFS + SLOT * 2;
    }
    log
}

#[test]
fn the_medium_is_slotted_slot_by_slot() {
    let durations = (Span::from_us(248), SIFS + Span::from_us(28));
    for stations in [2, 3, 5, 10, 50] {
        for (recovery, counts_busy) in [(Span::ZERO, false), (Span::from_us(60), false), (Span::from_us(60), true)] {
            let timing = timing(recovery, counts_busy);
            let mut air = Saturated::new(stations, stations as u64, durations);
            air.is_logged = true;
            let _ = saturate(timing, best_effort(15), &mut air, 10_000);
            let expected = slotted(stations, stations as u64, durations, timing, 10_000);
            assert_eq!(&air.log[..10_000], &expected[..10_000], "{stations} stations, {timing:?}");
        }
    }
}

/// The mode that a row of the table calls so, and the first contention window of its stations.
fn mode_of(name: &str) -> (Mode, u32) {
    const OFDM: [&str; 8] = ["6", "9", "12", "18", "24", "36", "48", "54"];
    let rate = |prefix: &str| name.strip_prefix(prefix)?.strip_suffix("Mbps");
    if let Some(rate) = rate("DsssRate") {
        let mcs = ["1", "2", "5_5", "11"].iter().position(|known| *known == rate).expect("a rate of DSSS");
        return (Mode::dsss(u8::try_from(mcs).expect("four")), 31);
    }
    for prefix in ["OfdmRate", "ErpOfdmRate"] {
        if let Some(rate) = rate(prefix) {
            let mcs = OFDM.iter().position(|known| *known == rate).expect("a rate of OFDM");
            return (Mode::ofdm(Band::Ghz5, u8::try_from(mcs).expect("eight")), 15);
        }
    }
    let (mcs, width) = name.strip_prefix("HeMcs").and_then(|rest| rest.split_once('_')).expect("a mode of HE");
    let width = match width {
        "20MHz" => Width::Mhz20,
        "40MHz" => Width::Mhz40,
        "80MHz" => Width::Mhz80,
        _ => Width::Mhz160,
    };
    (Mode::he(Band::Ghz5, width, mcs.parse().expect("an MCS"), 1), 15)
}

/// A row of the table as stations with timing, category, and durations of an exchange.
///
/// Rows of HE are those of another model than the others: it counts the slot in which another begins, as EDCA does, and adds a
/// slot to each success, and 0.8 us to the preamble. Both wait for an ACK at the rate for the mode where they say EIFS; rows of ERP have the times of OFDM.
fn setting(name: &str, waits_eifs: bool) -> (Timing, Category, (Span, Span)) {
    use crate::wifi::phy::{difs, sifs, slot};
    let (mode, first_window) = mode_of(name);
    let (is_long, is_he) = (mode.format == Format::Dsss, mode.format == Format::He);
    let band = if is_long { Band::Ghz2_4 } else { Band::Ghz5 };
    // MAC header, LLC and FCS.
    let more = if is_he { Span::from_ns(800) } else { Span::ZERO };
    let data = mode.data_duration(Bytes(1500 + if is_he { 26 } else { 24 } + 8 + 4)) + more;
    let answer = sifs(band) + Control::ack_duration(mode.answer());
    let recovery = if waits_eifs { answer } else { Span::ZERO };
    let slot = slot(band, is_long);
    let timing = Timing { slot, sifs: sifs(band), recovery, tries: 0, counts_busy: is_he };
    let aifs = difs(band, is_long);
    let category = Category { aifs, first_window, longest_window: 1023, opportunity: Span::ZERO };
    (timing, category, (data, answer + if is_he { slot } else { Span::ZERO }))
}

/// Idle slots, successes and collisions of saturated stations.
fn count(stations: usize, timing: Timing, category: Category) -> (u64, u64, u64) {
    const LENGTH: Span = Span::from_us(1_000);
    let mut air = Saturated::new(stations, 1, (LENGTH, Span::ZERO));
    air.is_logged = true;
    let _ = saturate(Timing { recovery: Span::ZERO, ..timing }, category, &mut air, 60_000);
    air.log.dedup_by_key(|(at, _)| *at);
    let (last, _) = *air.log.last().expect("they send");
    let busy = air.log.len() as u64 - 1;
    let idle = last.saturating_since(Instant::ZERO + category.aifs).saturating_sub((LENGTH + category.aifs) * busy);
    assert_eq!(idle.as_ps() % timing.slot.as_ps(), 0, "whole slots");
    (idle.as_ps() / timing.slot.as_ps(), air.delivered, busy - air.delivered.min(busy))
}

/// Rows of the table.
fn rows() -> impl Iterator<Item = (bool, &'static str, usize, f64)> {
    let table = include_str!("../../../tests/data/wifi-bianchi.csv");
    table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| {
        let mut cells = line.split(',');
        let mut cell = || cells.next().expect("four cells");
        (cell() == "EIFS", cell(), cell().parse().expect("stations"), cell().parse().expect("Mb/s"))
    })
}

/// Rows whose error must be within a hundredth: those of `wifi-targets.csv`.
fn is_chosen(name: &str, stations: usize) -> bool {
    const CHOSEN: [&str; 7] = [
        "DsssRate11Mbps",
        "OfdmRate6Mbps",
        "OfdmRate24Mbps",
        "OfdmRate54Mbps",
        "HeMcs0_20MHz",
        "HeMcs7_20MHz",
        "HeMcs11_80MHz",
    ];
    CHOSEN.contains(&name) && [5, 10, 20, 50].contains(&stations)
}

/// Whose turn it is does not depend on durations, so idle slots, successes and collisions are counted once for each number of
/// stations and kind of backoff.
#[test]
fn saturation_is_that_of_bianchi() {
    let mut counted = std::collections::BTreeMap::new();
    let (mut rows_seen, mut chosen_seen) = (0, 0);
    let mut far = Vec::new();
    for (waits_eifs, name, stations, expected) in rows() {
        let (timing, category, (data, answer)) = setting(name, waits_eifs);
        let kind = (stations, category.first_window, timing.counts_busy);
        let (idle, successes, collisions) = *counted.entry(kind).or_insert_with(|| count(stations, timing, category));
        let busy = data + category.aifs;
        let whole = timing.slot * idle + (busy + answer) * successes + (busy + timing.recovery) * collisions;
        let found = successes as f64 * 12_000.0 / (whole.as_ps() as f64 / 1e6);
        let error = found / expected - 1.0;
        let is_chosen = is_chosen(name, stations);
        rows_seen += 1;
        chosen_seen += usize::from(is_chosen);
        if error.abs() > if is_chosen { 0.01 } else { 0.015 } {
            far.push(std::format!(
                "{name}, {stations} stations, EIFS {waits_eifs}: {found:.3} instead of {expected}, {:.2} %",
                100.0 * error
            ));
        }
    }
    assert_eq!((rows_seen, chosen_seen), (1360, 56));
    assert!(far.is_empty(), "{} of {rows_seen}: {far:#?}", far.len());
}

/// The throughput that the test above computes from counts equals that of a run with the row's own durations.
#[test]
fn throughput_of_a_run_is_that_of_its_counts() {
    for (name, waits_eifs) in [("OfdmRate54Mbps", true), ("HeMcs11_80MHz", false), ("DsssRate11Mbps", true)] {
        let (timing, category, (data, answer)) = setting(name, waits_eifs);
        let (idle, successes, collisions) = count(10, timing, category);
        let mut air = Saturated::new(10, 1, (data, answer));
        air.is_logged = true;
        let _ = saturate(timing, category, &mut air, 60_000);
        let busy = data + category.aifs;
        let whole = timing.slot * idle + (busy + answer) * successes + (busy + timing.recovery) * collisions;
        air.log.dedup_by_key(|(at, _)| *at);
        let (last, _) = *air.log.last().expect("they send");
        assert_eq!(last, Instant::ZERO + category.aifs + whole, "{name}");
    }
}

/// A device that was silent since the start has heard what was on the air, and draws a backoff while it is.
#[test]
fn a_first_frame_waits_for_what_is_on_the_air() {
    let (timing, category) = (timing(Span::from_us(60), true), best_effort(15));
    let mut air = Saturated::new(2, 1, (Span::from_us(248), SIFS + Span::from_us(28)));
    air.is_logged = true;
    let mut medium = Medium::new(timing, &[(0, category), (1, category)], &[]);
    medium.want(Instant::ZERO, 0, &mut air);
    let began_at = medium.next();
    assert_eq!(began_at, Instant::ZERO + category.aifs, "nothing was on the air: no backoff");
    medium.advance(began_at, &mut air);
    let during = began_at + Span::from_us(100);
    medium.want(during, 1, &mut air);
    let backoff = Saturated::draw(1, 1, 1, 15);
    let ends_at = began_at + air.first + air.rest;
    let expected = ends_at + category.aifs + SLOT * u64::from(backoff);
    while air.log.iter().all(|(_, contender)| *contender == 0) {
        medium.advance(medium.next(), &mut air);
    }
    let (at, _) = *air.log.iter().find(|(_, contender)| *contender == 1).expect("it sends");
    let between =
        air.log.iter().filter(|(start, contender)| *contender == 0 && *start > began_at && *start < at).count() as u64;
    // Each exchange of the other takes its time, less the slot that counts while it begins.
    let other = (air.first + air.rest + category.aifs) * between;
    assert_eq!(at, expected + other.saturating_sub(SLOT * between));
}
