//! How a cloud game plays: round trips against the budget of a game, and a score.
//!
//! Source: White 2013 section 4.1.3 for the budget (after Choy et al. 2012) and for the score by round trips: 3.88 at
//! 120 ms, and "a fairly linear decline" (after Jarschel et al.); ITU-T G.1072 for the scale and for the impairment by
//! missing pictures, as the public program of one of its authors computes it (S. Zadtootaghaj, `ITU-G1072`, class
//! "high" for games that are sensitive to delay).
//! Units and ranges: delays there and back in ms, missing pictures in percent; scores from 1.3 to 4.64.
//! Deviations: the document prints no slope. chosen: the line from the best score of the scale without delay through
//! the printed point; at 200 to 350 ms it is within 0.3 of that program's own curve, which is flat up to 117 ms. The
//! impairment by compression is left out, because a model of the line does not know the picture: the score is that of a
//! game whose picture is perfect.

use sojourn_base::{Span, math};

/// Budget of a cloud game from a press to its answer, without the machines (Choy et al. 2012, in White 2013 4.1.3).
pub const BUDGET: Span = Span::from_ms(80);

/// Scores of a rating of nothing and of 100 (the public program of G.1072).
const WORST_SCORE: f64 = 1.3;
const BEST_SCORE: f64 = 4.64;

/// A printed score: 120 ms of round trip (White 2013 4.1.3).
const PRINTED: (f64, f64) = (120.0, 3.88);

/// Rating of a round trip in ms, if no picture is missing: that of its score, which falls on a line.
fn rating_of_delay(round_trip_ms: f64) -> f64 {
    let (ms, score) = PRINTED;
    let wanted = BEST_SCORE - (BEST_SCORE - score) * round_trip_ms / ms;
    let (mut low, mut high) = (0.0, 100.0);
    // The curve rises, and a bit of the answer comes with each half.
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = f64::midpoint(low, high);
        if mean_opinion_score(middle) < wanted { low = middle } else { high = middle }
    }
    high
}

/// Returns the impairments by rate and loss of pictures, in percent: of video, and of play.
fn picture_impairments(per_second: f64, missing: f64) -> (f64, f64) {
    let missing = math::ln_1p(missing);
    let squared = per_second * per_second;
    let seen = 47.03 + 0.017_47 * squared - 1.823 * per_second + 10.7 * missing;
    let played = 54.71 + 0.025_89 * squared - 2.485 * per_second + 9.306 * missing;
    (seen.clamp(0.0, 61.29), played.clamp(0.0, 68.98))
}

/// Returns the opinion score of a game with this round trip in ms, rate of pictures per second, and share of missing
/// ones in percent.
pub fn score(round_trip_ms: f64, per_second: f64, missing: f64) -> f64 {
    let (seen, played) = picture_impairments(per_second, missing);
    mean_opinion_score(rating_of_delay(round_trip_ms) - 0.227 * seen - 0.625 * played)
}

/// Mean opinion score of a rating (the public program of G.1072).
fn mean_opinion_score(rating: f64) -> f64 {
    let rating = rating.clamp(0.0, 100.0);
    let curved = rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
    (WORST_SCORE + (BEST_SCORE - WORST_SCORE) / 100.0 * rating + curved).clamp(WORST_SCORE, BEST_SCORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, within: f64) {
        assert!((ours - expected).abs() < within, "{ours}, not {expected}");
    }

    #[test]
    fn the_printed_point_and_the_line_through_it() {
        // 60 pictures a second cost 0.12 of 100, some 0.005.
        close(score(120.0, 60.0, 0.0), 3.88, 0.01);
        // 4.64 - 0.76 * 40/120, * 100/120, * 200/120, * 400/120.
        for (ms, expected) in [(0.0, 4.64), (40.0, 4.387), (100.0, 4.007), (200.0, 3.373), (400.0, 2.107)] {
            close(score(ms, 60.0, 0.0), expected, 0.01);
        }
        close(score(10_000.0, 60.0, 100.0), 1.3, 1e-9);
    }

    #[test]
    fn one_missing_picture_in_a_hundred_costs_what_is_printed() {
        // ln 2 = 0.6931: seen 0.542 + 7.417, played -1.186 + 6.451; 1.81 + 3.29 of 100. White 2013 4.1.3 prints 3.63, for 3.88.
        close(score(120.0, 60.0, 1.0), 3.63, 0.03);
    }

    #[test]
    fn the_curve_of_the_program_is_near_where_it_falls() {
        // 90/(1 + e^(1.191 - 0.009775 ms)) - 18.73, times 0.848, off 100; as a score 3.49 at 200 ms, 2.84 at 300.
        let program = |ms: f64| {
            let delay = 90.0 / (1.0 + math::exp(1.191 - 0.009_775 * ms)) - 18.73;
            mean_opinion_score(100.0 - 0.848 * delay)
        };
        for ms in [200.0, 250.0, 300.0, 350.0] {
            close(score(ms, 60.0, 0.0), program(ms), 0.3);
        }
    }

    #[test]
    fn more_delay_and_fewer_pictures_are_never_better() {
        let mut before = f64::INFINITY;
        for ms in 0..50 {
            let now = score(f64::from(ms) * 10.0, 60.0, 2.0);
            assert!(now <= before);
            before = now;
        }
        assert!(score(150.0, 30.0, 0.0) < score(150.0, 60.0, 0.0));
    }
}
