use super::*;
use crate::desk::Desk;
use proptest::prelude::*;

fn called(config: &VideoCallConfig, lost: u32, end: Instant) -> Desk {
    let mut desk = Desk::new(1);
    desk.lost_datagrams = lost;
    desk.run(&mut VideoCall::new(config), end);
    desk
}

fn even() -> VideoCallConfig {
    VideoCallConfig {
        video: VideoConfig { frame_cv: 0.0, ..VideoCallConfig::USUAL.video },
        start_jitter: Span::ZERO,
        ..VideoCallConfig::USUAL
    }
}

#[test]
fn both_sides_send_picture_and_sound_and_a_large_frame_first() {
    let desk = called(&even(), 0, Instant::from_ms(990));
    for direction in Direction::BOTH {
        let frames: Vec<_> = desk.frames.iter().filter(|frame| frame.direction == direction).collect();
        // 2.5 Mb/s over 30 are 10,416 B; the first frame is three of them.
        assert_eq!(frames[0].bytes, 31_248);
        assert!(frames[1..].iter().all(|frame| frame.bytes == 10_416));
        assert!((28..=30).contains(&frames.len()), "{}", frames.len());
        let sound = desk.datagrams.iter().filter(|(_, _, way, length)| (*way, *length) == (direction, 120));
        assert_eq!(sound.count(), 50);
    }
}

#[test]
fn the_pacer_spreads_a_key_frame_over_the_frames_behind_it() {
    let desk = called(&even(), 0, Instant::from_ms(990));
    let up: Vec<f64> = desk
        .datagrams
        .iter()
        .filter(|(_, _, way, length)| *way == Direction::Upstream && *length != 120)
        .map(|(at, ..)| at.as_secs_f64())
        .collect();
    // 1200 B at 6.25 Mb/s.
    assert!((up[1] - up[0] - 1.536e-3).abs() < 1e-9);
    let took = desk.frames.iter().map(|frame| {
        let complete_at = frame.complete_at.expect("nothing is lost");
        complete_at.saturating_since(frame.captured_at).as_secs_f64()
    });
    // 31,248 B take 40 ms less their last packet, and 10 ms to the other end; alone, 10,416 B take 13.3 ms.
    let took: Vec<f64> = took.collect();
    assert!((took[0] - (31_200.0 * 8.0 / 6.25e6 + 0.010)).abs() < 1e-6, "{}", took[0]);
    let last = took.last().expect("frames");
    assert!((last - (9_600.0 * 8.0 / 6.25e6 + 0.010)).abs() < 1e-6, "{last}");
}

proptest! {
    #[test]
    fn every_frame_is_told_of_once(
        lost in 0..400_u32,
        ms in 100..6_000_u64,
        rate_kbps in 50..5_000_u64,
    ) {
        let config = VideoCallConfig {
            video: VideoConfig { rate: BitRate::from_kbps(rate_kbps), ..VideoCallConfig::USUAL.video },
            ..VideoCallConfig::USUAL
        };
        let desk = called(&config, lost, Instant::from_ms(ms));
        for direction in Direction::BOTH {
            let mut numbers: Vec<u32> = desk
                .frames
                .iter()
                .filter(|frame| frame.direction == direction)
                .map(|frame| frame.index)
                .collect();
            let told = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert_eq!(numbers.len(), told);
            // Frames whose deadline is over have been reported: all but a quarter of a second.
            let due = (ms * 30 / 1000).saturating_sub(10);
            prop_assert!(told as u64 >= due.saturating_sub(1), "{} of {}", told, due);
            for frame in &desk.frames {
                prop_assert!(frame.complete_at.is_none_or(|at| at > frame.captured_at));
                prop_assert!(frame.is_late() || frame.complete_at.is_some());
            }
        }
    }
}
