use super::*;
use crate::ApplicationKind;
use crate::desk::Desk;
use proptest::prelude::*;

fn watched(config: &PdConfig, desk: &mut Desk, seconds: u64) -> Vec<DownloadSession> {
    desk.run(&mut Pd::new(config), Instant::from_s(seconds));
    desk.downloads.clone()
}

/// One video of 1,410,000 B (10 s of media), asked for at once.
fn one_video() -> PdConfig {
    PdConfig {
        size: Distribution::Constant(Bytes(1_410_000)),
        gap: Distribution::Constant(Span::from_s(1_000_000)),
        start_jitter: Span::ZERO,
        ..PdConfig::AKHTAR2013
    }
}

/// Begins its first video with the run.
fn at_once(config: &PdConfig) -> Pd {
    let mut application = Pd::new(config);
    let stream = Seed(1).stream("test");
    application.sources.push(Source { sizes: stream.clone(), gaps: stream, next: 0 });
    application
}

/// The first video alone, without the wait for it.
fn first(config: &PdConfig, desk: &mut Desk, seconds: u64) -> DownloadSession {
    #[derive(Debug)]
    struct Alone(Pd);
    impl Application for Alone {
        fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
            self.0.begin(now, 0, context);
        }
        fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
            self.0.on_event(now, event, context);
        }
        fn bytes(&self) -> usize {
            self.0.bytes()
        }
        fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
            self.0.finish(now, context);
        }
    }
    desk.run(&mut Alone(at_once(config)), Instant::from_s(seconds));
    desk.downloads[0]
}

#[test]
fn sizes_and_pauses_are_those_of_the_distributions() {
    // Worked out by hand: Pareto with mean 38 MB and cv 1.5, mean 350 s and cv 2.
    let size = PdConfig::AKHTAR2013.size.sampler(Bytes(1), MOST);
    let gap = PdConfig::AKHTAR2013.gap.sampler(GAPS.0, GAPS.1);
    let (Sampler::Random(size), Sampler::Random(gap)) = (size, gap) else {
        panic!("both are random");
    };
    for (unit, bytes, seconds) in [
        (0.0, 20_741_789.0, 184.752),
        (0.25, 23_636_807.0, 211.630),
        (0.5, 28_416_005.0, 256.281),
        (0.9, 59_021_421.0, 547.931),
        (0.99, 167_947_335.0, 1625.032),
    ] {
        assert!((size.at(unit) - bytes).abs() < 1.0, "{unit}: {}", size.at(unit));
        assert!((gap.at(unit) - seconds).abs() < 5e-4, "{unit}: {}", gap.at(unit));
    }
}

#[test]
fn a_video_that_comes_faster_than_it_is_played_is_sustained() {
    // Ten pieces of a second of media, 0.9 s apart; the request goes the same way: 8.1 s and half a round trip.
    let mut desk = Desk::new(1);
    (desk.pieces, desk.pause) = (10, Span::from_ms(900));
    let session = first(&one_video(), &mut desk, 100);
    // Handshake, request, then the fifth piece.
    let playback = Span::from_ms(20 + 8100 + 10 + 3600 + 10);
    assert_eq!(session.playback_at, Some(Instant::ZERO + playback));
    assert_eq!(session.ended_at, Some(Instant::ZERO + playback + Span::from_ms(4500)));
    assert_eq!((session.underrun_at, session.is_sustained()), (None, Some(true)));
    assert_eq!(desk.transfers[0].ended_at, session.ended_at);
}

#[test]
fn a_video_that_comes_more_slowly_runs_dry_when_what_is_there_has_been_played() {
    // Pieces of a second of media, 3 s apart: after the fifth there are 5 s, then 6 s after 3 s, 7 s after 6 s.
    let mut desk = Desk::new(1);
    (desk.pieces, desk.pause) = (10, Span::from_s(3));
    let session = first(&one_video(), &mut desk, 100);
    let playback = session.playback_at.unwrap();
    assert_eq!(session.underrun_at, Some(playback + Span::from_s(7)));
    assert_eq!(session.is_sustained(), Some(false));
    assert_eq!(session.ended_at, Some(playback + Span::from_s(15)));
}

#[test]
fn a_paced_server_sends_a_burst_and_then_a_little_more_than_is_played() {
    // 141,000 B are a second of media: four at once, then six in blocks of 88,125 B each half second.
    let paced = ServerPacing::Paced { burst: Span::from_s(4), factor: 1.25 };
    let config = PdConfig { server_pacing: paced, resume: Span::from_s(2), ..one_video() };
    let whole = first(&one_video(), &mut Desk::new(1), 100);
    let mut desk = Desk::new(1);
    let session = first(&config, &mut desk, 100);
    assert_eq!(session.is_sustained(), Some(true));
    // 846,000 B are 9.6 blocks: the last one leaves five seconds after the burst.
    let later = session.ended_at.unwrap().saturating_since(whole.ended_at.unwrap());
    assert_eq!(later, Span::from_s(5));
    // Half as fast as it is played it runs dry.
    let slow = PdConfig { server_pacing: ServerPacing::Paced { burst: Span::from_s(2), factor: 0.5 }, ..config };
    let session = first(&slow, &mut Desk::new(1), 100);
    assert_eq!(session.is_sustained(), Some(false));
}

#[test]
fn an_unfinished_video_is_judged_only_if_it_has_failed() {
    for (seconds, judged) in [(45, None), (50, Some(false))] {
        let mut desk = Desk::new(1);
        (desk.pieces, desk.pause) = (10, Span::from_s(3));
        let session = first(&one_video(), &mut desk, seconds);
        assert_eq!((session.ended_at, session.is_sustained()), (None, judged), "{seconds}");
    }
}

#[test]
fn runs_of_one_schedule_ask_for_the_same_videos_at_the_same_distances() {
    let config = PdConfig { sources: 3, ..PdConfig::AKHTAR2013 };
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..24 {
        let mut desk = Desk::new(seed);
        let mut videos = watched(&config, &mut desk, 6000);
        videos.sort_by_key(|video| (video.source, video.index));
        assert!(videos.len() > 30);
        assert_eq!(desk.draws, [Draw::Start, Draw::Choice]);
        let first = videos.iter().map(|video| video.started_at).min().unwrap();
        let shape: Vec<(u32, u64, u64)> = videos
            .iter()
            .filter(|video| video.index < 5)
            .map(|video| {
                let later = video.started_at.saturating_since(first);
                (video.source, video.bytes, later.as_ns())
            })
            .collect();
        seen.entry(shape[0].1).or_insert_with(|| shape.clone());
        // Times are kept in picoseconds from another start: the same to the nanosecond.
        for (one, other) in seen[&shape[0].1].iter().zip(&shape) {
            assert_eq!((one.0, one.1), (other.0, other.1));
            assert!(one.2.abs_diff(other.2) <= 1);
        }
    }
    assert_eq!(seen.len(), 6, "24 runs see all six schedules");
}

#[test]
fn schedules_have_the_load_that_their_means_say() {
    let mut videos = 0;
    for seed in 0..20 {
        let config = PdConfig { sources: 5, library: seed, ..PdConfig::AKHTAR2013 };
        videos += watched(&config, &mut Desk::new(seed), 6000).len();
    }
    // Five every 350 s: 86 in 6000 s, less what the start takes; the tail of the pauses makes the number vary.
    let each = videos as f64 / 20.0;
    assert!((75.0..95.0).contains(&each), "{each}");
}

#[test]
fn a_schedule_that_ends_before_the_run_is_named() {
    let config = PdConfig { schedule_length: Some(Span::from_s(600)), ..PdConfig::AKHTAR2013 };
    assert!(config.problems(Span::from_s(600)).is_empty());
    assert_eq!(config.problems(Span::from_s(601))[0].0, "schedule_length");
    let last = watched(&config, &mut Desk::new(1), 6000);
    assert!(last.iter().all(|video| video.started_at < Instant::from_s(775)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_byte_comes_once_whatever_happens_to_connections(
        pieces in 1_u64..30,
        pause in 0_u64..2_000,
        failures in 0_u32..3,
        resets in 0_u32..3,
        is_paced in any::<bool>(),
    ) {
        let mut desk = Desk::new(5);
        (desk.pieces, desk.pause) = (pieces, Span::from_ms(pause));
        (desk.failures, desk.resets) = (failures, resets);
        let paced = ServerPacing::Paced { burst: Span::from_s(3), factor: 2.0 };
        let server_pacing = if is_paced { paced } else { ServerPacing::Off };
        let config = PdConfig { server_pacing, ..one_video() };
        let session = first(&config, &mut desk, 2_000);
        prop_assert_eq!(desk.downloads.len(), 1);
        prop_assert_eq!(session.bytes, 1_410_000);
        prop_assert!(session.playback_at.unwrap() <= session.ended_at.unwrap());
        if let Some(dry) = session.underrun_at {
            prop_assert!(dry < session.ended_at.unwrap());
        }
    }
}
