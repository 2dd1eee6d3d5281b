use super::*;
use crate::desk::{Desk, TokenBucket};
use proptest::prelude::*;
use sojourn_base::BitRate;

#[test]
fn an_endless_upload_is_one_open_transfer() {
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&BulkConfig::CONTINUOUS), Instant::from_s(600));
    assert_eq!(desk.opened, [(Instant::ZERO, 0)]);
    assert_eq!(
        desk.transfers,
        [Transfer { lane: 0, index: 0, started_at: Instant::ZERO, ended_at: None, bytes: u64::MAX }]
    );
    assert!(desk.draws.is_empty());
}

/// The repeating upload with a connection for each file.
const RECONNECTING: BulkConfig = BulkConfig { gap: Span::ZERO, reuse_connection: false, ..BulkConfig::REPEATING };

#[test]
fn a_repeating_upload_goes_on_over_its_connection_after_a_pause() {
    // 20 ms for the handshake, 20 ms until the file is acknowledged, 300 ms of pause.
    for (profile, lanes) in [(BulkConfig::REPEATING, 5), (BulkConfig::SMALL_FILES, 10)] {
        let mut desk = Desk::new(1);
        desk.run(&mut Bulk::new(&profile), Instant::from_ms(500));
        assert_eq!(desk.opened.len(), lanes);
        let second: Vec<_> = desk.transfers.iter().filter(|t| t.index == 1).collect();
        assert_eq!(second.len(), lanes);
        for transfer in second {
            assert_eq!(transfer.started_at, Instant::from_ms(340));
            assert_eq!(transfer.ended_at, Some(Instant::from_ms(360)));
        }
    }
}

#[test]
fn a_loop_without_a_kept_connection_opens_the_next_one_at_the_last_acknowledgement() {
    // 20 ms for the handshake, 20 ms until the file (in one piece) is acknowledged: 40 ms a file.
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&RECONNECTING), Instant::from_ms(100));
    let starts: Vec<u64> = desk.opened.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    assert_eq!(starts, [[0; 5], [40; 5], [80; 5]].concat());
    let first: Vec<_> = desk.transfers.iter().filter(|t| t.index == 0).collect();
    assert_eq!(first.len(), 5);
    for (lane, transfer) in (0..).zip(first) {
        assert_eq!(transfer.lane, lane);
        assert_eq!(transfer.bytes, 5_000_000);
        assert_eq!(transfer.ended_at, Some(Instant::from_ms(40)));
    }
    let open = desk.transfers.iter().filter(|t| t.ended_at.is_none());
    assert_eq!(open.map(|t| t.index).collect::<Vec<_>>(), [2; 5]);
}

/// The bursty upload as White 2012 3.2.1 words it: 16 s after each file.
const PAUSING: BulkConfig = BulkConfig { gap: Span::from_s(16), period: None, ..BulkConfig::BURSTY };

#[test]
fn a_file_of_a_period_waits_behind_the_one_before_it() {
    // 18.75 MB in 30 s are 5 Mb/s: at 4 Mb/s each file takes 37.5 s and ends so long after the last.
    let mut desk = Desk::new(1);
    desk.shaper = Some(TokenBucket::new(BitRate::from_mbps(4), BitRate::from_mbps(4), Bytes(1500)));
    desk.pieces = 1;
    desk.run(&mut Bulk::new(&BulkConfig::BURSTY), Instant::from_s(100));
    let starts: Vec<Instant> = desk.transfers.iter().map(|t| t.started_at).collect();
    assert_eq!(starts, [0, 30, 60, 90].map(Instant::from_s));
    let ends: Vec<f64> = desk.transfers.iter().filter_map(|t| Some(t.ended_at?.as_secs_f64())).collect();
    assert_eq!(ends.len(), 2, "37.5 and 75 s; the third is unfinished: {ends:?}");
    assert!((ends[0] - 37.5).abs() < 0.1 && (ends[1] - 75.0).abs() < 0.1, "{ends:?}");
    assert_eq!(desk.opened.len(), 1);
}

#[test]
fn a_bursty_upload_waits_sixteen_seconds_after_completion_on_one_connection() {
    // 40 ms with the handshake, later 20 ms without it, then 16 s each.
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&PAUSING), Instant::from_s(33));
    assert_eq!(desk.opened.len(), 1);
    let times: Vec<_> = desk.transfers.iter().map(|t| (t.started_at, t.ended_at)).collect();
    assert_eq!(
        times,
        [
            (Instant::ZERO, Some(Instant::from_ms(40))),
            (Instant::from_ms(16_040), Some(Instant::from_ms(16_060))),
            (Instant::from_ms(32_060), Some(Instant::from_ms(32_080))),
        ]
    );
}

#[test]
fn a_bursty_upload_on_the_access_shaper_has_a_period_of_thirty_seconds() {
    // W12-26: 13.33 MB at 20 Mb/s and 5.42 MB at 5 Mb/s are 14.0 s; 16 s refill 10 MB exactly. The
    // round trip of 20 ms adds one round per period for the last acknowledgement.
    let mut desk = Desk::new(1);
    desk.shaper = Some(TokenBucket::new(BitRate::from_mbps(5), BitRate::from_mbps(20), Bytes(10_000_000)));
    desk.run(&mut Bulk::new(&PAUSING), Instant::from_s(100));
    let starts: Vec<f64> = desk.transfers.iter().map(|t| t.started_at.as_secs_f64()).collect();
    assert_eq!(starts.len(), 4);
    for pair in starts[1..].windows(2) {
        assert!((pair[1] - pair[0] - 30.02).abs() < 1e-3, "{starts:?}");
    }
    let busy = desk.transfers[1].ended_at.unwrap().saturating_since(desk.transfers[1].started_at);
    assert!((busy.as_secs_f64() - 14.02).abs() < 1e-3);
    assert!((busy.as_secs_f64() / 30.02 - 0.467).abs() < 1e-3);
}

#[test]
fn bittorrent_uploads_piece_after_piece_on_thirty_two_connections() {
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&BulkConfig::BITTORRENT), Instant::from_ms(110));
    assert_eq!(desk.opened.len(), 32);
    // Handshake until 20 ms, then a piece every 20 ms: ends at 40, 60, 80, 100 ms.
    let ended = desk.transfers.iter().filter(|t| t.ended_at.is_some());
    assert_eq!(ended.count(), 4 * 32);
    assert!(desk.transfers.iter().all(|t| t.bytes == 256_000));
}

#[test]
fn a_downstream_file_is_written_by_the_server() {
    // The server sees the connection after 30 ms; its last acknowledgement comes 20 ms later.
    let mut desk = Desk::new(1);
    let config = BulkConfig { direction: Direction::Downstream, lanes: 1, ..RECONNECTING };
    desk.run(&mut Bulk::new(&config), Instant::from_ms(60));
    assert_eq!(desk.transfers[0].ended_at, Some(Instant::from_ms(50)));
    assert_eq!(desk.opened[1].0, Instant::from_ms(50));
}

#[test]
fn a_failed_connection_is_recorded_and_the_loop_goes_on() {
    let mut desk = Desk::new(1);
    desk.failures = 1;
    let config = BulkConfig { lanes: 1, ..RECONNECTING };
    desk.run(&mut Bulk::new(&config), Instant::from_ms(76_050));
    let rows: Vec<_> = desk.transfers.iter().map(|t| (t.index, t.ended_at)).collect();
    // The desk gives up after 75 s; the loop tries again a second later.
    assert_eq!(rows, [(0, None), (1, Some(Instant::from_ms(76_040))), (2, None)]);
}

#[test]
fn random_file_sizes_have_the_median_of_the_distribution() {
    // Log-normal with mu 14.8: the median is e^14.8 = 2.6764 MB.
    let mut desk = Desk::new(3);
    desk.round_trips = vec![Span::from_us(2)];
    let config = BulkConfig { lanes: 1, file: FileSize::WHITE2019, ..BulkConfig::CONTINUOUS };
    desk.run(&mut Bulk::new(&config), Instant::from_ms(200));
    let mut sizes: Vec<u64> = desk.transfers.iter().map(|t| t.bytes).collect();
    assert!(sizes.len() > 40_000);
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2] as f64;
    // Standard error of the median: 2.0 * 1.2533 / sqrt(50,000) = 1.1 %; three of them.
    assert!((median / 2.6764e6 - 1.0).abs() < 0.034, "{median}");
    assert!(desk.draws.iter().all(|draw| *draw == Draw::Size));
}

proptest! {
    #[test]
    fn lanes_start_within_the_jitter_and_never_overlap_themselves(
        seed: u64,
        lanes in 1_u32..8,
        pieces in 1_u64..20,
        gap in 0_u64..50,
        reuse_connection: bool,
    ) {
        let mut desk = Desk::new(seed);
        desk.pieces = pieces;
        desk.pause = Span::from_us(300);
        let config = BulkConfig {
            lanes,
            gap: Span::from_ms(gap),
            reuse_connection,
            start: Span::from_ms(10),
            start_jitter: Span::from_ms(100),
            ..BulkConfig::REPEATING
        };
        desk.run(&mut Bulk::new(&config), Instant::from_s(1));
        for lane in 0..lanes {
            let rows: Vec<_> = desk.transfers.iter().filter(|t| t.lane == lane).collect();
            let first = rows[0].started_at;
            prop_assert!(first >= Instant::from_ms(10) && first <= Instant::from_ms(110));
            for (index, pair) in (1_u32..).zip(rows.windows(2)) {
                prop_assert_eq!(pair[1].index, index);
                let ended = pair[0].ended_at.unwrap();
                prop_assert_eq!(pair[1].started_at, ended + Span::from_ms(gap));
            }
        }
        let connections = if reuse_connection { lanes as usize } else { desk.transfers.len() };
        prop_assert_eq!(desk.opened.len(), connections);
    }
}

#[test]
fn a_load_that_stops_forgets_its_connections_and_starts_nothing_again() {
    let mut desk = Desk::new(1);
    let config = BulkConfig {
        start: Span::from_s(5),
        stop: Some(Span::from_s(65)),
        gap: Span::from_ms(700),
        ..BulkConfig::REPEATING
    };
    desk.run(&mut Bulk::new(&config), Instant::from_s(90));
    assert_eq!(desk.opened.len(), 5);
    let abandoned: Vec<Instant> = desk.abandoned.iter().map(|(at, _)| *at).collect();
    assert_eq!(abandoned, [Instant::from_s(65); 5]);
    let last = desk.transfers.iter().map(|transfer| transfer.started_at).max();
    assert!(last.is_some_and(|at| at <= Instant::from_s(65)), "{last:?}");

    let mut desk = Desk::new(1);
    let endless = BulkConfig { stop: Some(Span::from_s(65)), ..BulkConfig::CONTINUOUS };
    desk.run(&mut Bulk::new(&endless), Instant::from_s(90));
    assert_eq!(desk.transfers.len(), 1);
    assert_eq!(desk.transfers[0].ended_at, None);
}

/// Starts and ends of transfers in milliseconds.
fn times(desk: &Desk) -> Vec<(u64, Option<u64>)> {
    let ms = |at: Instant| at.as_ns() / 1_000_000;
    let transfers = desk.transfers.iter();
    transfers.map(|transfer| (ms(transfer.started_at), transfer.ended_at.map(ms))).collect()
}

#[test]
fn a_send_buffer_holds_a_video_to_its_size_per_round_trip() {
    // 3,750,000 B are 117.19 times 32,000 B: 118 round trips of 20 ms after 30 ms of handshake, 12.8 Mb/s meanwhile.
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&BulkConfig::WHITE2019_VIDEO), Instant::from_ms(12_000));
    assert_eq!(times(&desk), [(200, Some(200 + 30 + 118 * 20)), (5200, Some(5200 + 30 + 118 * 20)), (10_200, None),]);
    // Without it the ideal network takes one round trip.
    let mut desk = Desk::new(1);
    let unlimited = BulkConfig { send_buffer: None, cutoff: None, ..BulkConfig::WHITE2019_VIDEO };
    desk.run(&mut Bulk::new(&unlimited), Instant::from_ms(4_000));
    assert_eq!(times(&desk), [(200, Some(250))]);
}

#[test]
fn a_video_that_has_not_come_in_time_is_cut_off_and_the_next_one_is_on_time() {
    // At 40 ms a segment would take 4.7 s; it is cut off after 2.5 s, and its server closes after the bytes already
    // written.
    let mut desk = Desk::new(1);
    desk.round_trips = vec![Span::from_ms(40)];
    desk.run(&mut Bulk::new(&BulkConfig::WHITE2019_VIDEO), Instant::from_ms(9_000));
    assert_eq!(times(&desk), [(200, None), (5200, None)]);
    assert_eq!(desk.opened.len(), 2);
    assert_eq!(desk.closed_ends(ConnectionId(0)), [true, true]);
    assert!(desk.abandoned.is_empty());
}

#[test]
fn without_a_cutoff_a_late_file_delays_the_next_one_which_has_a_connection_of_its_own() {
    // At 40 ms and 32,000 B per round trip a file of 6 MB takes 60 ms and 188 times 40 ms: 7.58 s.
    let mut desk = Desk::new(1);
    desk.round_trips = vec![Span::from_ms(40)];
    let config =
        BulkConfig { file: FileSize::bytes(6_000_000), cutoff: None, start: Span::ZERO, ..BulkConfig::WHITE2019_VIDEO };
    desk.run(&mut Bulk::new(&config), Instant::from_ms(16_000));
    assert_eq!(times(&desk), [(0, Some(7_580)), (5_000, Some(15_160)), (10_000, None), (15_000, None)]);
    let opened: Vec<Instant> = desk.opened.iter().map(|(at, _)| *at).collect();
    assert_eq!(opened, [0, 7_580, 15_160].map(Instant::from_ms));
}

#[test]
fn a_speed_test_starts_again_after_its_cutoff_and_a_pause() {
    let mut desk = Desk::new(1);
    let config = BulkConfig { cutoff: Some(Span::from_s(15)), ..BulkConfig::WHITE2019_SPEED_TEST };
    desk.run(&mut Bulk::new(&config), Instant::from_s(31));
    let opened: Vec<u64> = desk.opened.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    assert_eq!(opened, [[100; 16], [15_200; 16], [30_300; 16]].concat());
    let abandoned: Vec<u64> = desk.abandoned.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    assert_eq!(abandoned, [[15_100; 16], [30_200; 16]].concat());
    // As printed it goes on without end.
    let mut desk = Desk::new(1);
    desk.run(&mut Bulk::new(&BulkConfig::WHITE2019_SPEED_TEST), Instant::from_s(31));
    assert_eq!(desk.opened.len(), 16);
}

#[test]
fn files_of_white_2019_start_one_after_the_other_and_pause_for_a_tenth_of_a_second() {
    let mut desk = Desk::new(1);
    let config = BulkConfig { lanes: 3, ..BulkConfig::WHITE2019_FILES };
    desk.run(&mut Bulk::new(&config), Instant::from_ms(2_150));
    let starts = |lane| -> Vec<u64> {
        let transfers = desk.transfers.iter().filter(|transfer| transfer.lane == lane);
        transfers.map(|transfer| transfer.started_at.as_ns() / 1_000_000).take(2).collect()
    };
    // 20 ms of handshake, 20 ms until all is acknowledged, 100 ms of pause.
    assert_eq!(starts(0), [100, 240]);
    assert_eq!(starts(1), [1_100, 1_240]);
    assert_eq!(starts(2), [2_100]);
    assert_eq!(desk.opened.len(), desk.transfers.len());
}
