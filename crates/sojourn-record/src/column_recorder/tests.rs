use super::*;

#[test]
fn the_rows_of_live_sessions_count() {
    let config = RecordConfig { chunks: true, ..RecordConfig::BASE };
    let mut recorder = ColumnRecorder::new(config, vec!["live".to_owned()]);
    let empty = recorder.bytes();
    let (second, session) = (
        LiveSecond { session: 0, at: Instant::ZERO, latency: Span::ZERO, buffer: Span::ZERO, speed: 1.0, level: None },
        LiveSession {
            session: 0,
            latency_mean: None,
            latency_p95: None,
            latency_max: None,
            fast: Span::ZERO,
            slow: Span::ZERO,
            skips: 0,
            skipped: Span::ZERO,
        },
    );
    for _ in 0..1000 {
        recorder.on_report(TrafficId(0), Report::LiveSecond(&second));
    }
    let seconds = recorder.bytes() - empty;
    assert!(seconds >= 1000 * size_of::<LiveSecond>(), "{seconds} B");
    for _ in 0..1000 {
        recorder.on_report(TrafficId(0), Report::LiveSession(&session));
    }
    let sessions = recorder.bytes() - empty - seconds;
    assert!(sessions >= 1000 * size_of::<LiveSession>(), "{sessions} B");
}

#[test]
fn what_is_known_of_open_flows_and_of_signals_counts() {
    let config = RecordConfig { flows: true, ..RecordConfig::BASE };
    let mut recorder = ColumnRecorder::new(config, vec!["game".to_owned()]);
    let empty = recorder.bytes();
    for flow_hash in 0..1000 {
        recorder.on_score(&LinkScore {
            at: Instant::ZERO,
            link: LinkId(0),
            traffic: TrafficId(0),
            direction: Direction::Upstream,
            flow_hash,
            length: Bytes(100),
            score: Span::ZERO,
            late: false,
            sanctioned: false,
        });
    }
    let flows = recorder.bytes() - empty;
    assert!(flows >= 1000 * size_of::<ProtectionTally>(), "{flows} B");
    for sub_flow in 0..1000 {
        recorder.on_mark(&LinkMark {
            at: Instant::ZERO,
            link: LinkId(0),
            traffic: TrafficId(0),
            direction: Direction::Upstream,
            length: Bytes(1500),
            queue: ServiceQueue::Classic,
            sub_flow: Some(sub_flow),
            reason: sojourn_base::Reason::Target,
        });
    }
    let signals = recorder.bytes() - empty - flows;
    assert!(signals >= 1000 * size_of::<PacketCount>(), "{signals} B");
}
