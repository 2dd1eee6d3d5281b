use super::*;
use crate::desk::Desk;

/// Times in milliseconds and lengths of what was sent one way.
fn sent(desk: &Desk, direction: Direction) -> Vec<(f64, u32)> {
    let datagrams = desk.datagrams.iter();
    datagrams
        .filter(|(_, _, way, _)| *way == direction)
        .map(|(at, _, _, length)| (at.as_secs_f64() * 1e3, *length))
        .collect()
}

fn played(config: &GameConfig, seconds: u64) -> Desk {
    let mut desk = Desk::new(1);
    desk.run(&mut Game::new(config), Instant::from_s(seconds));
    desk
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    (mean, (squares.sum::<f64>() / count).sqrt())
}

/// Times between packets.
fn gaps(sent: &[(f64, u32)]) -> Vec<f64> {
    sent.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

fn lengths(sent: &[(f64, u32)]) -> Vec<f64> {
    sent.iter().map(|(_, length)| f64::from(*length)).collect()
}

#[test]
fn the_game_of_white_2019_has_its_printed_sizes_and_intervals() {
    let desk = played(&GameConfig::WHITE2019, 33_000);
    for (direction, mean, sd, jitter, least, most) in
        [(Direction::Upstream, 110.0, 19.98, 3.0, 32, 188), (Direction::Downstream, 432.0, 20.0, 5.0, 32, 832)]
    {
        let sent = sent(&desk, direction);
        assert!(sent.len().abs_diff(1_000_000) <= 2, "{}", sent.len());
        let (size, deviation) = mean_and_deviation(&lengths(&sent));
        assert!((size - mean).abs() < 0.1, "{size}");
        // Rounding to whole bytes adds a twelfth to the variance.
        assert!((deviation - sd).abs() < 0.05, "{deviation}");
        assert!(sent.iter().all(|(_, length)| (least..=most).contains(length)));
        // Two independent deviations lie between two packets of the grid: the variance is twice one's.
        let (gap, spread) = mean_and_deviation(&gaps(&sent));
        assert!((gap - 33.0).abs() < 1e-3, "{gap}");
        assert!((spread / (jitter * 2.0_f64.sqrt()) - 1.0).abs() < 0.01, "{spread}");
    }
}

#[test]
fn the_grid_does_not_wander_and_nothing_overtakes() {
    let desk = played(&GameConfig::WHITE2019, 3_300);
    for (direction, jitter) in [(Direction::Upstream, 3.0), (Direction::Downstream, 5.0)] {
        let sent = sent(&desk, direction);
        for (tick, (at, _)) in (0..).zip(&sent) {
            let off = at - f64::from(tick) * 33.0;
            assert!(off.abs() < 6.5 * jitter, "packet {tick}: {off} ms");
        }
        assert!(gaps(&sent).iter().all(|gap| *gap >= 0.0));
    }
}

#[test]
fn renewal_draws_each_interval_anew_and_wanders() {
    let config = GameConfig { interval_mode: IntervalMode::Renewal, ..GameConfig::WHITE2019 };
    let down = sent(&played(&config, 3_300), Direction::Downstream);
    let (gap, spread) = mean_and_deviation(&gaps(&down));
    assert!((gap - 33.0).abs() < 0.05, "{gap}");
    assert!((spread / 5.0 - 1.0).abs() < 0.01, "{spread}");
    // After n packets the phase is off by 5 ms sqrt(n): 1.6 s after 100,000, of which more than 35 ms in any run.
    let greatest = (0..).zip(&down).map(|(tick, (at, _))| (at - f64::from(tick) * 33.0).abs()).fold(0.0, f64::max);
    assert!(greatest > 35.0, "{greatest}");
}

#[test]
fn the_program_sends_regularly_upstream_and_has_no_greatest_size() {
    let desk = played(&GameConfig::DOCSIS_NS3, 3_300);
    let up = sent(&desk, Direction::Upstream);
    assert!(gaps(&up).iter().all(|gap| (gap - 33.0).abs() < 1e-6));
    let (size, deviation) = mean_and_deviation(&lengths(&sent(&desk, Direction::Downstream)));
    assert!((size - 432.0).abs() < 1.5, "{size}");
    assert!((deviation - 120.0).abs() < 1.0, "{deviation}");
    assert!(sent(&desk, Direction::Downstream).iter().any(|(_, length)| *length > 832));
    // W19 §4.4: about 30 kb/s upstream, with 18 B of Ethernet.
    let bits: f64 = lengths(&up).iter().map(|length| 8.0 * (length + 18.0)).sum();
    assert!((bits / 3_300.0 / 31_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_hundred_sessions_come_from_one_entry() {
    let config = GameConfig { lanes: 100, start_jitter: Span::from_ms(33), ..GameConfig::WHITE2019 };
    let desk = played(&config, 1);
    for server in 0..100 {
        for direction in Direction::BOTH {
            let packets = desk.datagrams.iter().filter(|(_, to, way, _)| (*to, *way) == (server, direction)).count();
            assert!((29..=31).contains(&packets), "session {server}: {packets}");
        }
    }
    assert_eq!(ApplicationKind::servers(&config), 100);
    assert_eq!(ApplicationKind::flows(&config), 200);
}

#[test]
fn the_longest_packet_is_what_is_never_exceeded() {
    // 432 B and 8.2 standard deviations of 20 B.
    assert_eq!(ApplicationKind::datagrams(&GameConfig::WHITE2019), Some(("down_packet", Bytes(596))));
    // 432 B and 8.2 standard deviations of 120 B.
    let (key, longest) = ApplicationKind::datagrams(&GameConfig::DOCSIS_NS3).expect("datagrams");
    assert_eq!(key, "down_packet");
    assert!((1400..1440).contains(&longest.0), "{longest}");
}
