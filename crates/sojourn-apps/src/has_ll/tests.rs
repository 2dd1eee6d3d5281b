use super::*;
use crate::Chunk;
use crate::desk::Desk;
use proptest::prelude::*;
use sojourn_base::Instant;

fn watched(config: &HasLlConfig, desk: &mut Desk, seconds: u64) {
    desk.run(&mut HasLl::new(config), Instant::from_s(seconds));
}

#[test]
fn a_player_slows_down_until_its_buffer_is_as_large_as_it_wants() {
    let mut desk = Desk::new(1);
    watched(&HasLlConfig::LOW_LATENCY, &mut desk, 60);
    let (session, live) = (desk.sessions[0], desk.live_sessions[0]);
    // Connected after 20 ms, 3.02 s of the stream ago nearest to the segment of 4 to 6 s (6 s before the run): all of it
    // is encoded, and there with the answer at 40 ms.
    assert_eq!(session.startup, Some(Span::from_ms(40)));
    assert_eq!((session.stalls, session.stalled), (0, Span::ZERO));
    // After 0.96 s at 0.95 the picture is at 4.912 s, what happens at 7 s.
    let first = desk.live_seconds[0];
    assert_eq!((first.at, first.latency), (Instant::from_s(1), Span::from_ms(2088)));
    assert!((first.speed - 0.95).abs() < 1e-12);
    // Part k is there at 0.21 + 0.2 k s, and 2.0385 + 0.01 k s are in the buffer with it: 3 s with k = 97, at 19.61 s.
    assert_eq!((live.slow, live.fast), (Span::from_ms(19_570), Span::ZERO));
    let last = desk.live_seconds.last().unwrap();
    assert_eq!(last.latency, Span::from_us(3_018_500));
    assert!((last.speed - 1.0).abs() < 1e-12);
    assert_eq!(live.latency_max, Some(last.latency));
    assert_eq!((live.skips, live.skipped), (0, Span::ZERO));
    // Segments end at even seconds, and the next one is asked for 10 ms later; 2.2 s are in the buffer from 4.01 s on.
    let levels: Vec<u32> = desk.chunks.iter().map(|chunk| chunk.level).collect();
    assert_eq!(levels[..9], [0, 0, 0, 0, 1, 2, 3, 4, 4]);
    let asked: Vec<Instant> = desk.chunks[2..5].iter().map(|c| c.requested_at).collect();
    assert_eq!(asked, [2010, 4010, 6010].map(|ms| Instant::ZERO + Span::from_ms(ms)));
    assert!(desk.draws.is_empty());
}

#[test]
fn a_player_with_too_much_plays_faster() {
    let mut desk = Desk::new(1);
    let config = HasLlConfig { start: Span::from_ms(1880), ..HasLlConfig::LOW_LATENCY };
    watched(&config, &mut desk, 60);
    // Connected at 1.9 s, 4.9 s are wanted and 4 s nearest. 2 s are there at 1.92 s and 1.8 s more at 1.94 s: 3.781 s in
    // the buffer, and 0.02 s were played at 0.95. From then on 1.05: with part k, at 2.01 + 0.2 k s, 3.9075 - 0.01 k s.
    // Seconds end 70 ms after a part, when the buffer is smaller by 73.5 ms; 3 s with k = 84, at 18.88 s.
    let live = desk.live_sessions[0];
    assert_eq!((live.fast, live.slow), (Span::from_ms(16_940), Span::from_ms(20)));
    let last = desk.live_seconds.last().unwrap();
    // 24.88 - (4.019 + 1.05 * 16.94).
    assert_eq!(last.latency, Span::from_ms(3074));
    assert_eq!(desk.sessions[0].stalls, 0);
}

#[test]
fn a_player_far_behind_leaves_media_out() {
    // A round trip of 6 s: asked at 6 s, the segment of 10 to 12 s (12 - 3 s, rounded up) is there at 12 s, when 18 s
    // have happened: 8 s behind. The one from 16 s on is asked for, and 6 s are left out; and so every 6 s.
    let mut desk = Desk::new(1);
    desk.round_trips = vec![Span::from_s(6)];
    let config = HasLlConfig { skip_from: Some(Span::from_s(7)), ..HasLlConfig::LOW_LATENCY };
    watched(&config, &mut desk, 60);
    let (session, live) = (desk.sessions[0], desk.live_sessions[0]);
    assert_eq!((live.skips, live.skipped), (9, Span::from_s(54)));
    assert_eq!((session.stalls, session.played), (9, Span::ZERO));
    // A player that may not skip falls back, stall by stall.
    let mut desk = Desk::new(1);
    desk.round_trips = vec![Span::from_s(6)];
    let skip_from = None;
    watched(&HasLlConfig { skip_from, ..config }, &mut desk, 60);
    let live = desk.live_sessions[0];
    assert_eq!((live.skips, live.skipped), (0, Span::ZERO));
    assert!(live.latency_max.unwrap() > Span::from_s(20), "{live:?}");
}

#[test]
fn parts_without_a_byte_of_their_own_are_no_end_of_the_stream() {
    let mut desk = Desk::new(1);
    let config =
        HasLlConfig { ladder: vec![BitRate::from_kbps(1)].into(), part: Span::from_ms(1), ..HasLlConfig::LOW_LATENCY };
    watched(&config, &mut desk, 60);
    assert_eq!(desk.sessions[0].stalls, 0);
    assert!(desk.sessions[0].chunks >= 29);
}

#[test]
fn a_lost_connection_costs_time_but_no_media() {
    let mut desk = Desk::new(1);
    (desk.failures, desk.resets) = (1, 1);
    watched(&HasLlConfig::LOW_LATENCY, &mut desk, 200);
    assert_eq!(desk.opened.len(), 3);
    let indices: Vec<u32> = desk.chunks.iter().map(|chunk| chunk.index).collect();
    let all: Vec<u32> = (0..u32::try_from(indices.len()).unwrap()).collect();
    assert_eq!(indices, all);
    assert!(desk.sessions[0].startup.unwrap() > Span::from_s(75));
    assert_eq!(desk.live_sessions[0].skips, 0, "it joined after the trouble");
}

#[test]
fn players_join_one_after_the_other_and_see_the_same_stream() {
    let mut desk = Desk::new(1);
    let config = HasLlConfig {
        sessions: 3,
        content: Content::SyntheticVbr(crate::has::VbrContent::BASE),
        ..HasLlConfig::LOW_LATENCY
    };
    watched(&config, &mut desk, 60);
    let starts: Vec<Instant> = desk.sessions.iter().map(|s| s.started_at).collect();
    assert_eq!(starts, [0, 10, 20].map(Instant::from_s));
    let last = |session: u32| -> Vec<(u32, u64)> {
        let chunks = desk.chunks.iter().filter(|chunk| chunk.session == session);
        let done = chunks.filter(|chunk| chunk.ended_at >= Some(Instant::from_s(50)));
        done.map(|chunk| (chunk.level, chunk.bytes)).collect()
    };
    assert!(last(0).len() > 4);
    assert_eq!(last(0), last(2));
}

#[test]
fn throughput_is_seen_only_while_a_part_is_coming() {
    let at = |ms| Instant::ZERO + Span::from_ms(ms);
    let mut seen = client::Throughput::default();
    // The first byte, the last of the part with 1000 B of the next, and its last: 48,500 B in 150 ms.
    seen.on_delivered(at(0), 1500, 0, 0);
    seen.on_delivered(at(100), 26_000, 0, 25_000);
    seen.on_delivered(at(150), 50_000, 25_000, 50_000);
    // An idle time, and a part that comes at once: nothing to measure.
    seen.on_delivered(at(900), 75_000, 50_000, 75_000);
    let rate = seen.take().unwrap();
    assert!((rate - 48_500.0 * 8.0 / 0.15).abs() < 1e-6, "{rate}");
    assert_eq!(seen.take(), None);
    // If all parts come at once, the measured throughput has no bound.
    seen.on_delivered(at(1000), 100_000, 75_000, 100_000);
    assert!(seen.take().unwrap() > 1e11);
}

#[test]
fn what_does_not_fit_together_is_named() {
    let said = |change: fn(&mut HasLlConfig)| -> Vec<&'static str> {
        let mut config = HasLlConfig::LOW_LATENCY;
        change(&mut config);
        config.problems().into_iter().map(|(key, _)| key).collect()
    };
    assert_eq!(said(|_| ()), [""; 0]);
    assert_eq!(said(|config| config.ladder.to_mut().swap(1, 2)), ["ladder"]);
    assert_eq!(said(|config| config.part = Span::from_ms(300)), ["part"]);
    assert_eq!(said(|config| config.segment = Span::from_ms(100)), ["part"]);
    assert_eq!(said(|config| config.tolerance = Span::from_ms(100)), ["tolerance"]);
    assert_eq!(said(|config| config.resume = Span::from_s(4)), ["resume"]);
    assert_eq!(said(|config| config.skip_from = Some(Span::from_s(6))), ["skip_from"]);
    assert_eq!(said(|config| config.skip_from = None), [""; 0]);
    let short = |config: &mut HasLlConfig| {
        (config.target, config.resume) = (Span::from_ms(100), Span::ZERO);
    };
    assert_eq!(said(short), ["target"]);
    let listed = |config: &mut HasLlConfig| config.content = Content::Listed(vec![Bytes(1); 7]);
    assert_eq!(said(listed), ["content.sizes"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_network_nobody_sees_the_future_and_time_and_media_add_up(
        round_trip in 1_u64..9_000,
        pieces in 1_u64..20,
        pause in 0_u64..300,
        resets in 0_u32..3,
        failures in 0_u32..2,
        sessions in 1_u32..4,
        parts in 1_u64..12,
        target in 1_u64..6,
        may_skip: bool,
        start in 0_u64..5_000,
    ) {
        let mut desk = Desk::new(3);
        desk.round_trips = vec![Span::from_ms(round_trip)];
        (desk.pieces, desk.pause) = (pieces, Span::from_ms(pause));
        (desk.resets, desk.failures) = (resets, failures);
        let part = Span::from_ms(200);
        let segment = part.saturating_mul(parts);
        let config = HasLlConfig {
            sessions,
            segment,
            part,
            target: Span::from_s(target),
            start: Span::from_ms(start),
            skip_from: may_skip.then_some(Span::from_s(target + 5)),
            ..HasLlConfig::LOW_LATENCY
        };
        prop_assert!(config.problems().is_empty());
        watched(&config, &mut desk, 240);
        for second in &desk.live_seconds {
            prop_assert!(second.latency >= second.buffer, "{second:?}");
            prop_assert!([0.0, 0.95, 1.0, 1.05].contains(&second.speed));
        }
        for (session, live) in desk.sessions.iter().zip(&desk.live_sessions) {
            let chunks: Vec<&Chunk> =
                desk.chunks.iter().filter(|chunk| chunk.session == session.session).collect();
            let arrived = chunks.iter().filter(|chunk| chunk.ended_at.is_some()).count();
            prop_assert_eq!(arrived, session.chunks as usize);
            prop_assert!(chunks.windows(2).all(|pair| pair[0].index + 1 == pair[1].index));
            prop_assert!(chunks.windows(2).all(|pair| pair[0].ended_at.unwrap() <= pair[1].requested_at));
            let media = segment.saturating_mul(u64::from(session.chunks) + 1);
            prop_assert!(session.played <= media);
            if let Some(startup) = session.startup {
                let from = session.started_at + startup;
                let since = Instant::from_s(240).saturating_since(from);
                prop_assert!(live.fast + live.slow + session.stalled <= since);
                // All that was played or left out lies between where the player joined and what happens at the end.
                let behind = config.target + segment;
                prop_assert!(session.played + live.skipped <= startup + since + behind);
            }
            prop_assert!(may_skip || live.skips == 0);
            prop_assert!(live.latency_mean <= live.latency_max);
        }
        prop_assert!(desk.draws.is_empty());
    }
}
