use super::*;
use std::vec::Vec;

const FULL: u32 = 1000;

fn sent(offset: u32, length: u16) -> Sent {
    Sent { offset, length, transmissions: 1, ..Sent::NONE }
}

/// `count` full segments in flight, the first numbered 0.
fn board(count: u32) -> Scoreboard {
    let mut board = Scoreboard::new(FULL);
    for number in 0..count {
        board.push(sent(number * FULL, 1000));
    }
    board
}

fn sack(board: &mut Scoreboard, first: u32, end: u32) -> Vec<u32> {
    let mut new = Vec::new();
    let count = board.sack(first, end, |number, _| new.push(number));
    assert_eq!(count as usize, new.len());
    assert!(board.is_consistent());
    new
}

#[test]
fn pipe_follows_the_marks() {
    let mut board = board(10);
    assert_eq!(board.pipe(), 10);
    assert_eq!(sack(&mut board, 3, 7), [3, 4, 5, 6]);
    assert_eq!(board.pipe(), 6);
    assert_eq!(board.mark_lost_below(4), 3);
    assert_eq!(board.pipe(), 3);
    board.retransmit(0, Instant::ZERO);
    assert_eq!((board.pipe(), board.next_lost()), (4, Some(1)));
    // The retransmission is acknowledged together with nothing else.
    let covered = board.acknowledge(1);
    assert_eq!((covered.segments, covered.sacked_before), (1, 0));
    assert_eq!(board.pipe(), 3);
    assert!(board.is_consistent());
}

#[test]
fn bytes_of_short_segments_are_exact() {
    let mut board = board(2);
    board.push(sent(2000, 180));
    board.push(sent(2180, 0));
    assert_eq!((board.flight_bytes(), board.pipe_bytes()), (2180, 2180));
    sack(&mut board, 2, 3);
    assert_eq!(board.pipe_bytes(), 2000);
    board.mark_lost_below(2);
    assert_eq!(board.pipe_bytes(), 0);
    board.retransmit(0, Instant::ZERO);
    assert_eq!(board.pipe_bytes(), 1000);
    assert_eq!(board.acknowledge(3).bytes, 2180);
    assert_eq!((board.pipe_bytes(), board.pipe()), (0, 1));
    assert!(board.is_consistent());
}

#[test]
fn a_block_reported_again_costs_only_its_new_part() {
    let mut board = board(200);
    sack(&mut board, 5, 150);
    board.remember_blocks([(5, 150), (0, 0), (0, 0)]);
    assert_eq!(sack(&mut board, 4, 152), [4, 150, 151]);
}

#[test]
fn a_lost_retransmission_is_pending_again() {
    let mut board = board(5);
    assert!(board.mark_lost(1));
    assert!(!board.mark_lost(1), "it already waits");
    board.retransmit(1, Instant::from_ms(1));
    assert_eq!((board.next_lost(), board.pipe()), (None, 5));
    assert!(board.mark_lost(1));
    assert_eq!((board.next_lost(), board.pipe()), (Some(1), 4));
    assert!(board.is_consistent());
}

#[test]
fn the_three_highest_sacked_segments_are_known_in_any_order_of_arrival() {
    let mut board = board(20);
    for number in [9, 4, 12, 7] {
        sack(&mut board, number, number + 1);
    }
    assert_eq!(board.highest_sacked(), Some(12));
    assert_eq!(board.third_highest_sacked(), Some(7));
    board.acknowledge(8);
    assert_eq!(board.third_highest_sacked(), None, "only two are left");
}

#[test]
fn a_timeout_loses_everything_but_what_the_peer_has() {
    let mut board = board(130);
    sack(&mut board, 70, 128);
    board.mark_lost_below(3);
    board.retransmit(0, Instant::ZERO);
    board.mark_all_lost();
    assert_eq!((board.pipe(), board.pending()), (0, 72));
    board.forget_sacks();
    board.mark_all_lost();
    assert_eq!(board.pending(), 130);
    assert!(board.is_consistent());
}

#[test]
fn the_ring_grows_across_its_seam_and_keeps_its_marks() {
    let mut board = board(40);
    board.acknowledge(40);
    for number in 40..100 {
        board.push(sent(number * FULL, 1000));
    }
    sack(&mut board, 60, 70);
    for number in 100..300 {
        board.push(sent(number * FULL, 1000));
    }
    assert!(board.is_consistent());
    assert_eq!((board.flight(), board.sacked()), (260, 10));
    assert_eq!(board.segment(299).offset, 299_000);
    assert_eq!(board.highest_unsacked(), Some(299));
    assert_eq!(board.next_untouched(60, 300), Some(70));
}
