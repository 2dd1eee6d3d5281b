use super::*;
use crate::desk::Desk;

#[test]
fn a_voice_call_sends_87200_bits_in_every_second() {
    // W12-27: 50 packets of 218 B a second.
    let mut desk = Desk::new(1);
    let mut call = ConstantRate::new(&ConstantRateConfig::VOICE);
    desk.run(&mut call, Instant::from_ms(9_999));
    assert!(desk.draws.is_empty());
    for second in 0..10 {
        let window = Instant::from_s(second)..Instant::from_s(second + 1);
        let sent = desk.datagrams.iter().filter(|(at, ..)| window.contains(at));
        let bits: u32 = sent.map(|(.., length)| length * 8).sum();
        assert_eq!(bits, 87_200, "second {second}");
    }
    let upstream = |(_, server, direction, _): &(_, usize, _, _)| *server == 0 && *direction == Direction::Upstream;
    assert!(desk.datagrams.iter().all(upstream));
}

#[test]
fn the_unresponsive_flow_has_one_megabit_per_second_and_a_random_phase() {
    let config = ConstantRateConfig::ONE_MEGABIT;
    assert_eq!(config.packet, Distribution::Constant(Bytes(1000)));
    let interval = Distribution::Constant(Span::from_s(1) / 125);
    assert_eq!(config.interval, interval);
    let starts: Vec<Instant> = [1, 2]
        .map(|seed| {
            let mut desk = Desk::new(seed);
            desk.run(&mut ConstantRate::new(&config), Instant::from_ms(15));
            desk.datagrams[0].0
        })
        .to_vec();
    assert_ne!(starts[0], starts[1]);
    assert!(starts.iter().all(|at| *at < Instant::from_ms(8)));
}

#[test]
fn each_stream_talks_to_a_server_of_its_own() {
    let config = ConstantRateConfig { lanes: 4, start: Span::from_ms(5), ..ConstantRateConfig::VOICE };
    let mut desk = Desk::new(1);
    desk.run(&mut ConstantRate::new(&config), Instant::from_ms(25));
    let sent: Vec<(u64, usize)> =
        desk.datagrams.iter().map(|(at, server, ..)| (at.as_ns() / 1_000_000, *server)).collect();
    let expected = [5, 25].map(|at| [(at, 0), (at, 1), (at, 2), (at, 3)]);
    assert_eq!(sent, expected.concat());
}
