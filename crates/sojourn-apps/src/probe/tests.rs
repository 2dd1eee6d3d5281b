use super::*;
use crate::desk::Desk;

/// A probe that starts with the run.
fn at_once(config: ProbeConfig) -> ProbeConfig {
    ProbeConfig { start_jitter: Span::ZERO, ..config }
}

#[test]
fn an_echo_takes_one_round_trip_and_comes_five_times_a_second() {
    let mut desk = Desk::new(1);
    desk.round_trips = vec![Span::from_ms(30)];
    let mut probe = Probe::new(&at_once(ProbeConfig::FLENT));
    desk.run(&mut probe, Instant::from_ms(999));
    let samples: Vec<(u64, Option<Instant>)> =
        desk.transfers.iter().map(|sample| (sample.started_at.as_ns() / 1_000_000, sample.ended_at)).collect();
    let expected = [0, 200, 400, 600, 800].map(|at| (at, Some(Instant::from_ms(at + 30))));
    assert_eq!(samples, expected);
    assert!(desk.datagrams.iter().all(|(.., length)| *length == 64));
    assert_eq!(desk.datagrams.len(), 10);
}

#[test]
fn a_lost_echo_is_a_sample_without_an_end() {
    let mut desk = Desk::new(1);
    desk.lost_datagrams = 1;
    let mut probe = Probe::new(&at_once(ProbeConfig::FLENT));
    desk.run(&mut probe, Instant::from_ms(399));
    let ends: Vec<(u32, bool)> =
        desk.transfers.iter().map(|sample| (sample.index, sample.ended_at.is_some())).collect();
    assert_eq!(ends, [(1, true), (0, false)]);
}

#[test]
fn over_connections_a_question_takes_a_handshake_and_a_round_trip() {
    // 20 ms for the handshake, then 20 ms for question and answer; the kept connection is there from the second
    // question on.
    let mut desk = Desk::new(1);
    let mut probe = Probe::new(&at_once(ProbeConfig::RESPONSIVENESS));
    desk.run(&mut probe, Instant::from_ms(299));
    let times = |lane: u32| -> Vec<(u32, u64)> {
        let samples = desk.transfers.iter().filter(|sample| sample.lane == lane);
        samples
            .map(|sample| {
                let ended = sample.ended_at.expect("all are answered");
                let took = ended.saturating_since(sample.started_at);
                (sample.index, took.as_ns() / 1_000_000)
            })
            .collect()
    };
    assert_eq!(times(ProbeConfig::ROUND_TRIP), [(0, 20), (1, 20), (2, 20)]);
    assert_eq!(times(ProbeConfig::FOREIGN), [(0, 20), (1, 20), (2, 20)]);
    assert_eq!(times(ProbeConfig::OWN), [(1, 20), (2, 20)]);
    assert_eq!(desk.opened.len(), 4);
}

#[test]
fn a_connection_that_fails_is_a_question_without_an_answer() {
    let mut desk = Desk::new(1);
    desk.failures = 2;
    let mut probe = Probe::new(&at_once(ProbeConfig::RESPONSIVENESS));
    desk.run(&mut probe, Instant::from_s(80));
    let lost: Vec<u32> =
        desk.transfers.iter().filter(|sample| sample.ended_at.is_none()).map(|sample| sample.index).collect();
    assert_eq!(lost.first(), Some(&0));
    // The kept connection failed as well, and came with the next question after that.
    let own = |sample: &&Transfer| sample.lane == ProbeConfig::OWN;
    assert!(desk.transfers.iter().any(|sample| own(&sample)));
}
