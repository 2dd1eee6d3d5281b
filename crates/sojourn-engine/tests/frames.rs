//! Frames of cloud games and video calls: how long they take, and how many come late.

use crate::support::{records, scenario};
use sojourn_base::Direction;
use sojourn_record::TrafficId;

/// A cloud game and a call over two lines; an upload that fills the first queue of the way up.
pub(crate) const PICTURES: &str = r#"
schema = 1
name = "pictures"
duration = "20 s"

[access.upstream]
link = { kind = "serial", rate = "10 Mb/s" }
queue = { kind = "drop-tail", limit = "1 s" }

[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "drop-tail", limit = "1 s" }

[[traffic]]
name = "game"
app = { kind = "cloud-game", profile = "1080p", frame_cv = 0.0 }
rtt = "20 ms"

[[traffic]]
name = "call"
app = { kind = "video-call", frame_cv = 0.0, key_frame = 1.0, start = "1 s" }
rtt = "40 ms"
"#;

#[test]
fn a_frame_takes_its_own_packets_and_half_a_round_trip_over_a_line_at_rest() {
    let records = records(&scenario(PICTURES), 1);
    let frames = |traffic, direction| {
        let tally = records.frame_tally(TrafficId(traffic), direction);
        tally.expect("it sends frames")
    };
    let p50_ms = |traffic, direction| {
        let p50 = frames(traffic, direction).delays().quantile_ns(0.5);
        p50.expect("frames arrive") as f64 / 1e6
    };
    let (up, down) = (Direction::Upstream, Direction::Downstream);
    // Vectors. The game: 62,500 B are 53 packets, the last of them 0.6/60 s · 62,400/62,500 = 9.984 ms behind the first; half
    // of 20 ms; 100 + 40 B at 100 Mb/s. The call: 10,416 B are 9 packets, 0.4/30 s · 9600/10,416.67 = 12.288 ms; half of 40 ms;
    // 816 + 40 B at 10 Mb/s upstream. Sound in between costs less than a packet; bins have 0.1 %.
    assert!((p50_ms(0, down) - 19.995).abs() < 0.05, "{}", p50_ms(0, down));
    assert!((p50_ms(1, up) - 32.97).abs() < 0.15, "{}", p50_ms(1, up));
    assert!((p50_ms(1, down) - 32.36).abs() < 0.15, "{}", p50_ms(1, down));
    for (traffic, direction, sent) in [(0, down, 1200), (1, up, 570), (1, down, 570)] {
        let tally = frames(traffic, direction);
        assert!(tally.frames().abs_diff(sent) <= 3, "{}", tally.frames());
        assert_eq!((tally.lost(), tally.late()), (0, 0));
    }
    assert!(records.frame_tally(TrafficId(0), up).is_none());
}

#[test]
fn packets_of_frames_that_arrive_twice_count_once() {
    let twice = "[access.upstream]\nconditions = [{ at = \"1 s\", duplicate = 0.5 }]";
    let text = PICTURES.replace("[access.upstream]", twice);
    let text = text.replace("[access.downstream]", &twice.replace("upstream", "downstream"));
    let records = records(&scenario(&text), 1);
    for (traffic, direction) in [(0, Direction::Downstream), (1, Direction::Upstream)] {
        let tally = records.frame_tally(TrafficId(traffic), direction);
        let tally = tally.expect("it sends frames");
        assert!(tally.frames() > 500, "{}", tally.frames());
        assert_eq!((tally.lost(), tally.late()), (0, 0));
    }
}

/// A game that follows the network beside a download with Prague, on a line of 20 Mb/s.
const BESIDE_PRAGUE: &str = r#"
schema = 1
name = "game beside prague"
duration = "30 s"

[access.upstream]
link = { kind = "serial", rate = "10 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }

[access.downstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "dualpi2" }

[[traffic]]
name = "game"
app = { kind = "adaptive-video", least_rate = "1 Mb/s" }
rtt = "20 ms"
ecn = "ect1"

[[traffic]]
name = "download"
app = { kind = "bulk", direction = "downstream" }
stack = "prague"
rtt = "20 ms"
"#;

#[test]
fn a_game_that_follows_marks_shares_a_line_with_prague_and_its_frames_stay_in_time() {
    let records = records(&scenario(BESIDE_PRAGUE), 1);
    let tally = records.frame_tally(TrafficId(0), Direction::Downstream);
    let tally = tally.expect("it sends frames");
    let late = tally.late() as f64 / tally.frames() as f64;
    let rate = |traffic| {
        let counters = &records.counters(TrafficId(traffic)).downstream;
        counters.forwarded_bytes as f64 * 8.0 / 30.0 / 1e6
    };
    let (game, download) = (rate(0), rate(1));
    assert!(game > 2.0 && game + download > 15.0, "{game} {download}");
    assert!(late < 0.05, "{late}");
}

#[test]
fn a_full_queue_makes_frames_late_in_its_direction_only() {
    let text = [
        PICTURES,
        "[[traffic]]\nname = \"upload\"\napp = { kind = \"bulk\" }\nstack = \"linux-cubic\"\nrtt = \"20 ms\"\n",
    ]
    .concat();
    let records = records(&scenario(&text), 1);
    let late = |direction| {
        let tally = records.frame_tally(TrafficId(1), direction);
        let tally = tally.expect("it sends frames");
        tally.late() as f64 / tally.frames() as f64
    };
    // A buffer of a second that one upload keeps more than a quarter full; acknowledgements are all that comes down.
    assert!(late(Direction::Upstream) > 0.5, "{}", late(Direction::Upstream));
    assert!(late(Direction::Downstream) < 0.01, "{}", late(Direction::Downstream));
}
