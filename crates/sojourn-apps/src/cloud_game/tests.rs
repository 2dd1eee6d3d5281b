use super::*;
use crate::desk::Desk;

fn played(config: &CloudGameConfig, lost: u32, end: Instant) -> Desk {
    let mut desk = Desk::new(1);
    desk.lost_datagrams = lost;
    desk.run(&mut CloudGame::new(config), end);
    desk
}

/// Frames of equal size: 93,750 B, 79 packets.
fn even() -> CloudGameConfig {
    CloudGameConfig { video: VideoConfig { frame_cv: 0.0, ..CloudGameConfig::USUAL.video }, ..CloudGameConfig::USUAL }
}

#[test]
fn a_frame_of_45_mbps_is_79_packets_within_60_percent_of_its_interval() {
    let config = even();
    assert_eq!(config.video.mean_frame(), Bytes(93_750));
    let desk = played(&config, 0, Instant::from_ms(16));
    let frame: Vec<_> =
        desk.datagrams.iter().filter(|(_, _, way, length)| *way == Direction::Downstream && *length != 200).collect();
    assert_eq!(frame.len(), 79);
    assert_eq!(frame[0].3, 1_240);
    // The rest of 93,750 B after 78 full packets of 1200 B.
    assert_eq!(frame[78].3, 150 + 40);
    // 78 full packets at 75 Mb/s: 9.984 ms, of 16.7 ms.
    let took = frame[78].0.saturating_since(frame[0].0).as_secs_f64();
    assert!((took - 9.984e-3).abs() < 1e-9, "{took}");
}

#[test]
fn sound_and_input_keep_their_own_time() {
    let desk = played(&even(), 0, Instant::from_ms(999));
    let count = |way: Direction, length: u32| {
        let sent = desk.datagrams.iter();
        sent.filter(|(_, _, to, bytes)| (*to, *bytes) == (way, length)).count()
    };
    assert_eq!(count(Direction::Downstream, 200), 200);
    assert_eq!(count(Direction::Upstream, 100), 125);
}

#[test]
fn frames_are_complete_when_their_last_packet_is_there() {
    let desk = played(&even(), 0, Instant::from_ms(1_000));
    // The last ones are under way.
    assert!((58..=60).contains(&desk.frames.len()), "{}", desk.frames.len());
    for (number, frame) in (0..).zip(&desk.frames) {
        assert_eq!(frame.index, number);
        let took = frame.complete_at.expect("nothing is lost").saturating_since(frame.captured_at);
        // Half a round trip of 20 ms behind the last packet.
        assert!((took.as_secs_f64() - 19.984e-3).abs() < 1e-6, "{took}");
        assert!(!frame.is_late());
    }
}

#[test]
fn a_frame_that_misses_a_packet_is_lost_and_holds_up_no_other() {
    let desk = played(&even(), 1, Instant::from_s(5));
    let lost: Vec<u32> =
        desk.frames.iter().filter(|frame| frame.complete_at.is_none()).map(|frame| frame.index).collect();
    assert_eq!(lost, [0]);
    let mut numbers: Vec<u32> = desk.frames.iter().map(|frame| frame.index).collect();
    numbers.sort_unstable();
    assert!(numbers.len() > 290);
    assert!((0..).zip(&numbers).all(|(expected, number)| expected == *number), "each once");
}

#[test]
fn sizes_have_the_mean_and_the_deviation_that_is_asked_for() {
    let desk = played(&CloudGameConfig::USUAL, 0, Instant::from_s(200));
    let sizes: Vec<f64> = desk.frames.iter().map(|frame| frame.bytes as f64).collect();
    let count = sizes.len() as f64;
    let mean = sizes.iter().sum::<f64>() / count;
    let variance = sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / count;
    // 12,000 frames: a standard error of 0.14 % of the mean, and 1 % of the deviation.
    assert!((mean / 93_750.0 - 1.0).abs() < 0.006, "{mean}");
    assert!((variance.sqrt() / mean / 0.15 - 1.0).abs() < 0.05, "{variance}");
}
