//! How a cloud game plays: round trips against the budget of a game, and a score.
//!
//! Source: White 2013 section 4.1.3 for the budget (after Choy et al. 2012); ITU-T G.1072 for the score, as the public program of one
//! of its authors computes it (S. Zadtootaghaj, `ITU-G1072`, class "high" for games that are sensitive to delay).
//! Units and ranges: delays there and back in ms, what pictures are missing in percent; ratings from 0 to 78.49, scores to 4.14.
//! Deviations: what compression costs is left out, because a model of the line does not know the picture: the score is that of a
//! game whose picture is perfect. The program, and so this, rates nothing above 78.49; without a missing picture that is reached up
//! to 117 ms.

use sojourn_base::{Span, math};

/// What a cloud game may take from a press to its answer, without the machines (Choy et al. 2012, in White 2013 4.1.3).
pub const BUDGET: Span = Span::from_ms(80);

/// What the best game is rated (the public program of G.1072).
const BEST_RATING: f64 = 78.49;

/// Impairment by delay, of a round trip in ms: logistic.
fn delay_impairment(round_trip_ms: f64) -> f64 {
    let rising = 90.0 / (1.0 + math::exp(1.191 - 0.009_775 * round_trip_ms));
    (rising - 18.73).clamp(0.0, 68.98)
}

/// What the pace of pictures and those missing, in percent, cost: of what is seen, and of what is played.
fn picture_impairments(per_second: f64, missing: f64) -> (f64, f64) {
    let missing = math::ln_1p(missing);
    let squared = per_second * per_second;
    let seen = 47.03 + 0.017_47 * squared - 1.823 * per_second + 10.7 * missing;
    let played = 54.71 + 0.025_89 * squared - 2.485 * per_second + 9.306 * missing;
    (seen.clamp(0.0, 61.29), played.clamp(0.0, 68.98))
}

/// Rating of a game with this round trip in ms, so many pictures a second, and so many of them missing, in percent.
pub fn rating(round_trip_ms: f64, per_second: f64, missing: f64) -> f64 {
    let (seen, played) = picture_impairments(per_second, missing);
    let rating = 100.0 - 0.227 * seen - 0.625 * played - 0.848 * delay_impairment(round_trip_ms);
    rating.clamp(0.0, BEST_RATING)
}

/// Mean opinion score of a rating.
pub fn mean_opinion_score(rating: f64) -> f64 {
    const LEAST: f64 = 1.3;
    const MOST: f64 = 4.64;
    let curved = rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
    (LEAST + (MOST - LEAST) / 100.0 * rating + curved).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(round_trip_ms: f64, per_second: f64, missing: f64) -> f64 {
        mean_opinion_score(rating(round_trip_ms, per_second, missing))
    }

    fn close(ours: f64, expected: f64, within: f64) {
        assert!((ours - expected).abs() < within, "{ours}, not {expected}");
    }

    #[test]
    fn ratings_worked_out_by_hand() {
        // 200 ms: 90/(1 + e^(1.191 - 1.955)) = 90/1.4658 = 61.40; less 18.73: 42.67; times 0.848: 36.19. 60 pictures: 0.542 seen,
        // none played; times 0.227: 0.12. 100 - 36.19 - 0.12 = 63.69.
        close(delay_impairment(200.0), 42.67, 0.01);
        close(rating(200.0, 60.0, 0.0), 63.69, 0.01);
        // 63.69: 1.3 + 0.0334 * 63.69 + 63.69 * 3.69 * 36.31 * 7e-6 = 1.3 + 2.127 + 0.060.
        close(score(200.0, 60.0, 0.0), 3.487, 0.001);
        // 5 % missing at 200 ms: ln 6 = 1.7918; seen 0.542 + 19.172, played -1.186 + 16.674: 4.48 + 9.68 more.
        close(rating(200.0, 60.0, 5.0), 63.69 + 0.12 - 4.475 - 9.68, 0.02);
        // 400 ms, the largest of the model: 90/(1 + e^-2.719) - 18.73 = 65.70.
        close(delay_impairment(400.0), 65.70, 0.01);
    }

    #[test]
    fn nothing_is_rated_above_the_best_or_below_nothing() {
        close(rating(0.0, 60.0, 0.0), 78.49, 1e-9);
        close(score(80.0, 60.0, 0.0), 4.14, 0.005);
        close(rating(117.0, 60.0, 0.0), 78.49, 1e-9);
        assert!(rating(118.0, 60.0, 0.0) < 78.49);
        close(score(10_000.0, 60.0, 100.0), 1.3, 1e-9);
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
