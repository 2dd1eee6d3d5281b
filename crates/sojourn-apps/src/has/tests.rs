use super::*;
use crate::desk::Desk;
use crate::{Chunk, Draw};
use proptest::prelude::*;
use sojourn_base::Instant;
use sojourn_base::report::LevelReason;

/// Chunks that say nothing but the nominal rate.
fn plain() -> HasConfig {
    HasConfig { content: Content::ConstantRate, ..HasConfig::AKHTAR2013 }
}

fn watched(config: &HasConfig, desk: &mut Desk, seconds: u64) {
    desk.run(&mut Has::new(config), Instant::from_s(seconds));
}

#[test]
fn a_fast_network_fills_the_buffer_and_climbs_to_the_highest_level() {
    let mut desk = Desk::new(1);
    watched(&plain(), &mut desk, 600);
    let session = desk.sessions[0];
    // One round trip for the handshake and one for each of two chunks.
    assert_eq!(session.startup, Some(Span::from_ms(60)));
    assert_eq!((session.stalls, session.stalled), (0, Span::ZERO));
    assert_eq!(session.played, Span::from_secs_f64(599.94));
    let levels: Vec<u32> = desk.chunks.iter().map(|chunk| chunk.level).collect();
    // Buffers after the first five chunks are 2 to 10 s, nearly: up from the first choice with at least 10 s.
    assert_eq!(levels[..12], [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6]);
    assert!(levels[12..].iter().all(|level| *level == 6));
    assert_eq!(session.switches, 6);
    assert!(desk.chunks.iter().all(|chunk| chunk.buffer_before <= Span::from_s(28)));
    // From the full buffer on, a chunk every 2 s.
    let last: Vec<&Chunk> = desk.chunks.iter().rev().take(2).collect();
    let gap = last[0].requested_at.saturating_since(last[1].requested_at);
    assert_eq!(gap, Span::from_s(2));
    assert!(desk.draws.is_empty());
}

#[test]
fn a_session_has_the_moments_of_its_chunks() {
    // Worked out by hand: mean 1.724, deviation of all 0.7507.
    let levels = [0.72, 0.72, 1.0, 1.5, 2.0, 2.0, 2.9, 2.9, 2.0, 1.5];
    let (mean, deviation) = levels::moments(levels.iter().map(|mbps| (1.0, *mbps))).unwrap();
    assert!((mean - 1.724).abs() < 1e-9 && (deviation - 0.7507).abs() < 5e-5, "{deviation}");
    assert_eq!(levels::moments([(0.0, 1.0)].into_iter()), None);
}

#[test]
fn a_network_below_the_lowest_level_makes_the_picture_stand_still() {
    // Request and chunk come in nine pieces, 0.15 s apart: 2.4 s and a round trip, 2.42 s for 2 s of media.
    let mut desk = Desk::new(1);
    desk.pieces = 9;
    desk.pause = Span::from_ms(150);
    watched(&plain(), &mut desk, 100);
    let session = desk.sessions[0];
    assert!(desk.chunks.iter().all(|chunk| chunk.level == 0));
    // Chunk k (from 0) is there 0.02 + 2.42 (k + 1) s after the start: 41 within 100 s.
    assert_eq!(session.chunks, 41);
    assert_eq!(session.startup, Some(Span::from_ms(4860)));
    // After two chunks playback lasts 4 s, the third has come after 2.42 s, the fourth after 4.84 s; and so on.
    let all = Span::from_s(100).saturating_sub(Span::from_ms(4860));
    assert_eq!(session.played + session.stalled, all);
    assert!(session.stalls > 5, "{session:?}");
    assert_eq!(session.low_buffer, all);
    assert_eq!((session.mean_mbps, session.sd_mbps), (Some(0.72), Some(0.0)));
    let unfinished = desk.chunks.last().unwrap();
    assert_eq!((unfinished.ended_at, unfinished.buffer_after), (None, None));
}

#[test]
fn sessions_begin_ten_seconds_apart_over_connections_of_their_own() {
    let mut desk = Desk::new(1);
    let config = HasConfig { sessions: 3, ..plain() };
    watched(&config, &mut desk, 60);
    let opened: Vec<Instant> = desk.opened.iter().map(|(at, _)| *at).collect();
    assert_eq!(opened, [0, 10, 20].map(Instant::from_s));
    let starts: Vec<Instant> = desk.sessions.iter().map(|s| s.started_at).collect();
    assert_eq!(starts, opened);
}

#[test]
fn a_lost_connection_costs_time_but_no_chunk() {
    let mut desk = Desk::new(1);
    desk.failures = 1;
    desk.resets = 1;
    watched(&plain(), &mut desk, 200);
    assert_eq!(desk.opened.len(), 3);
    let indices: Vec<u32> = desk.chunks.iter().map(|chunk| chunk.index).collect();
    assert_eq!(indices, (0..u32::try_from(indices.len()).unwrap()).collect::<Vec<_>>());
    assert!(desk.sessions[0].startup.unwrap() > Span::from_s(75));
}

#[test]
fn a_buffer_rule_without_throughput_begins_at_the_bottom() {
    for rule in [RateRule::Bola(BolaConfig::BASE), RateRule::Bba0(Bba0Config::BASE)] {
        let mut desk = Desk::new(1);
        watched(&HasConfig { rule, ..plain() }, &mut desk, 300);
        assert_eq!(desk.chunks[0].level, 0, "{rule:?}");
        assert_eq!(desk.chunks.last().unwrap().level, 6, "{rule:?}");
        assert_eq!(desk.sessions[0].stalls, 0);
    }
}

#[test]
fn what_does_not_fit_together_is_named() {
    let said = |config: HasConfig| -> Vec<&'static str> { config.problems().into_iter().map(|(key, _)| key).collect() };
    assert_eq!(said(plain()), [""; 0]);
    let mut falling = plain();
    falling.ladder.to_mut().swap(2, 3);
    assert_eq!(said(falling), ["ladder"]);
    let chunk = Span::from_s(31);
    assert_eq!(said(HasConfig { chunk, ..plain() }), ["chunk"]);
    let (chunk, resume) = (Span::from_s(4), Span::from_s(30));
    assert_eq!(said(HasConfig { chunk, resume, ..plain() }), ["resume"]);
    let content = Content::Listed(vec![Bytes(1); 8]);
    assert_eq!(said(HasConfig { content, ..plain() }), ["content.sizes"]);
    let rule = RateRule::Bola(BolaConfig { target: Span::from_s(10), ..BolaConfig::BASE });
    assert_eq!(said(HasConfig { rule, ..plain() }), ["rule.target"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_network_chunks_come_in_order_and_media_are_not_lost(
        round_trip in 1_u64..2_000,
        pieces in 1_u64..20,
        pause in 0_u64..800,
        resets in 0_u32..3,
        failures in 0_u32..2,
        which in 0_u8..3,
        sessions in 1_u32..4,
        chunk in 1_u64..6,
    ) {
        let mut desk = Desk::new(3);
        desk.round_trips = vec![Span::from_ms(round_trip)];
        (desk.pieces, desk.pause) = (pieces, Span::from_ms(pause));
        (desk.resets, desk.failures) = (resets, failures);
        let config = HasConfig {
            sessions,
            chunk: Span::from_s(chunk),
            rule: match which {
                0 => RateRule::ThroughputBuffer(ThroughputBufferConfig::BASE),
                1 => RateRule::Bola(BolaConfig::BASE),
                _ => RateRule::Bba0(Bba0Config::BASE),
            },
            ..HasConfig::AKHTAR2013
        };
        prop_assert!(config.problems().is_empty());
        watched(&config, &mut desk, 240);
        for session in &desk.sessions {
            let chunks: Vec<&Chunk> =
                desk.chunks.iter().filter(|chunk| chunk.session == session.session).collect();
            let arrived = chunks.iter().filter(|chunk| chunk.ended_at.is_some()).count();
            prop_assert_eq!(arrived, session.chunks as usize);
            prop_assert!(arrived + 1 >= chunks.len());
            for (index, chunk) in chunks.iter().enumerate() {
                prop_assert_eq!(chunk.index as usize, index);
                prop_assert!(chunk.buffer_before <= config.asks_at());
                prop_assert!(chunk.buffer_after.is_none_or(|after| after <= config.buffer));
            }
            let media = config.chunk.saturating_mul(u64::from(session.chunks));
            prop_assert!(session.played <= media);
            if let Some(startup) = session.startup {
                let since = Span::from_s(240)
                    .saturating_sub(session.started_at.saturating_since(Instant::ZERO))
                    .saturating_sub(startup);
                prop_assert_eq!(session.played + session.stalled, since);
            }
            let ups = chunks.windows(2).filter(|pair| pair[0].level != pair[1].level);
            prop_assert!(ups.count() >= session.switches as usize);
        }
        prop_assert!(desk.draws.iter().all(|draw| *draw == Draw::Start));
        prop_assert!(desk.chunks.iter().all(|chunk| which == 0 || chunk.reason != LevelReason::Panic));
    }
}
