//! Visible quality of a video: quality of the picture, its changes, and stalls.
//!
//! Source: Akhtar 2013, "Predicting HAS QoE (MOS)" (after De Vriendt 2013), "HAS QoE - P-MOS and Underflow Time".
//! Units and ranges: rates in Mb/s, times in seconds, not negative; shares in percent.
//! Deviations: none known. The predicted score has no offset and is not clamped, as in the source: with the ladder of
//! Akhtar 2013 it lies between 0.43 and 3.54, not between 1 and 5.

use crate::throughput::jain_index;
use sojourn_base::Span;
use sojourn_base::report::{LiveSession, StreamingSession};

/// Predicted mean opinion score of a session, from mean and standard deviation of its rate in Mb/s; for rates below
/// 6 Mb/s.
pub fn predicted_mos(mean_mbps: f64, sd_mbps: f64) -> f64 {
    0.6 * mean_mbps - 0.32 * sd_mbps
}

/// Share of the time since the first picture in which it stood still; `None` if there was no such time.
pub fn underflow(stalled_s: f64, played_s: f64) -> Option<f64> {
    let all = stalled_s + played_s;
    (all > 0.0).then(|| 100.0 * stalled_s / all)
}

/// Share of the videos whose playback never had to wait, in percent; `None` without videos.
pub fn sustained_share(sustained: &[bool]) -> Option<f64> {
    let kept = sustained.iter().filter(|kept| **kept).count();
    crate::loss::share(kept as u64, sustained.len() as u64).map(|share| 100.0 * share)
}

/// The sessions of an application, together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewing {
    /// Mean over the sessions of the predicted score.
    pub predicted_mos: Option<f64>,
    /// That of the worst session.
    pub predicted_mos_min: Option<f64>,
    /// Mean over the sessions of the underflow in percent.
    pub underflow: Option<f64>,
    /// That of the worst session.
    pub underflow_max: Option<f64>,
    /// How often a picture stood still, over all sessions.
    pub stalls: u64,
    /// Mean time from the start of a session to its first picture, in seconds.
    pub startup: Option<f64>,
    /// Mean over the sessions of their mean rate in Mb/s.
    pub rate_mean: Option<f64>,
    /// Mean over the sessions of the standard deviation of their rates in Mb/s.
    pub rate_sd: Option<f64>,
    /// Jain's index of the mean rates, with two sessions or more.
    pub rate_fairness: Option<f64>,
    /// Changes of the level in a minute of media, over all sessions.
    pub switches: Option<f64>,
    /// Share of the time since the first picture with less than 10 s in the buffer, in percent.
    pub low_buffer: Option<f64>,
    /// Time since the first picture in seconds, over all sessions.
    pub watched: f64,
}

impl Viewing {
    /// Returns the summary of `sessions`.
    pub fn of(sessions: &[&StreamingSession]) -> Self {
        let each = |value: &dyn Fn(&StreamingSession) -> Option<f64>| -> Vec<f64> {
            sessions.iter().filter_map(|session| value(session)).collect()
        };
        let scores = each(&|session| Some(predicted_mos(session.mean_mbps?, session.sd_mbps?)));
        let underflows = each(&|session| underflow(session.stalled.as_secs_f64(), session.played.as_secs_f64()));
        let means = each(&|session| session.mean_mbps);
        let sum = |value: &dyn Fn(&StreamingSession) -> f64| sessions.iter().map(|session| value(session)).sum::<f64>();
        let played = sum(&|session| session.played.as_secs_f64());
        let watched = played + sum(&|session| session.stalled.as_secs_f64());
        let switches = sum(&|session| f64::from(session.switches));
        let low = sum(&|session| session.low_buffer.as_secs_f64());
        Self {
            predicted_mos: crate::quantile::mean(&scores),
            predicted_mos_min: scores.into_iter().reduce(f64::min),
            underflow: crate::quantile::mean(&underflows),
            underflow_max: underflows.into_iter().reduce(f64::max),
            stalls: sessions.iter().map(|session| u64::from(session.stalls)).sum(),
            startup: crate::quantile::mean(&each(&|session| Some(session.startup?.as_secs_f64()))),
            rate_mean: crate::quantile::mean(&means),
            rate_sd: crate::quantile::mean(&each(&|session| session.sd_mbps)),
            rate_fairness: (means.len() > 1).then(|| jain_index(&means)).flatten(),
            switches: (played > 0.0).then(|| 60.0 * switches / played),
            low_buffer: (watched > 0.0).then(|| 100.0 * low / watched),
            watched,
        }
    }
}

/// The players of a live stream, together: what [`Viewing`] does not say of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveViewing {
    /// How far the picture was behind what happens, in seconds: mean over the sessions of their means.
    pub latency: Option<f64>,
    /// 95th percentile over the seconds of the worst session.
    pub latency_p95: Option<f64>,
    /// Share of the time since the first picture in which media were played faster than they were taken, in percent.
    pub fast: Option<f64>,
    /// The same, slower.
    pub slow: Option<f64>,
    /// How often media were left out, over all sessions.
    pub skips: u64,
    /// How much, in seconds.
    pub skipped: f64,
}

impl LiveViewing {
    /// Returns the summary of `sessions`; `watched_s`: time since the first picture, of all.
    pub fn of(sessions: &[&LiveSession], watched_s: f64) -> Self {
        let seconds = |value: &dyn Fn(&LiveSession) -> Option<Span>| -> Vec<f64> {
            let known = sessions.iter().filter_map(|session| value(session));
            known.map(Span::as_secs_f64).collect()
        };
        let share = |value: &dyn Fn(&LiveSession) -> Span| {
            let sum: f64 = seconds(&|session| Some(value(session))).iter().sum();
            (watched_s > 0.0).then(|| 100.0 * sum / watched_s)
        };
        Self {
            latency: crate::quantile::mean(&seconds(&|session| session.latency_mean)),
            latency_p95: seconds(&|session| session.latency_p95).into_iter().reduce(f64::max),
            fast: share(&|session| session.fast),
            slow: share(&|session| session.slow),
            skips: sessions.iter().map(|session| u64::from(session.skips)).sum(),
            skipped: seconds(&|session| Some(session.skipped)).iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sojourn_base::Instant;

    fn session(played: u64, stalled: u64, mean: f64, sd: f64) -> StreamingSession {
        StreamingSession {
            session: 0,
            started_at: Instant::ZERO,
            startup: Some(Span::from_s(1)),
            stalls: u32::from(stalled > 0),
            stalled: Span::from_s(stalled),
            played: Span::from_s(played),
            low_buffer: Span::from_s(stalled),
            chunks: 10,
            mean_mbps: Some(mean),
            sd_mbps: Some(sd),
            switches: 3,
        }
    }

    #[test]
    fn the_predicted_score_is_that_of_the_slides() {
        // Ten chunks of 0.72 0.72 1 1.5 2 2 2.9 2.9 2 1.5 Mb/s: mean 1.724, deviation 0.7507 (of a sample 0.7913).
        assert!((predicted_mos(1.724, 0.7507) - 0.7942).abs() < 5e-5);
        assert!((predicted_mos(1.724, 0.7913) - 0.7812).abs() < 5e-5);
        assert!((predicted_mos(0.72, 0.0) - 0.432).abs() < 1e-12);
        assert!((predicted_mos(5.9, 0.0) - 3.540).abs() < 1e-12);
    }

    #[test]
    fn underflow_leaves_the_time_before_the_first_picture_out() {
        assert_eq!(underflow(25.0, 75.0), Some(25.0));
        assert_eq!(underflow(0.0, 0.0), None);
    }

    #[test]
    fn the_share_of_sustained_videos_is_of_those_that_were_judged() {
        assert_eq!(sustained_share(&[true, false, true, true]), Some(75.0));
        assert_eq!(sustained_share(&[]), None);
    }

    #[test]
    fn the_worst_session_stands_beside_the_mean() {
        let (good, bad) = (session(600, 0, 2.0, 0.0), session(450, 150, 1.0, 0.5));
        let viewing = Viewing::of(&[&good, &bad]);
        // 1.2 and 0.6 - 0.16; 0 % and 25 %; 6 changes in 1050 s of media; (2 + 1)^2 / (2 (4 + 1)).
        assert!((viewing.predicted_mos_min.unwrap() - 0.44).abs() < 1e-12);
        assert!((viewing.predicted_mos.unwrap() - 0.82).abs() < 1e-12);
        assert_eq!((viewing.underflow, viewing.underflow_max), (Some(12.5), Some(25.0)));
        assert_eq!((viewing.stalls, viewing.startup), (1, Some(1.0)));
        assert!((viewing.rate_fairness.unwrap() - 0.9).abs() < 1e-12);
        assert!((viewing.switches.unwrap() - 360.0 / 1050.0).abs() < 1e-12);
        assert_eq!(viewing.low_buffer, Some(12.5));
        assert_eq!(Viewing::of(&[&good]).rate_fairness, None);
    }

    #[test]
    fn live_players_are_as_far_behind_as_their_mean_and_their_worst_second() {
        let player = |mean: u64, p95: u64, fast: u64, skips: u32| LiveSession {
            session: 0,
            latency_mean: Some(Span::from_ms(mean)),
            latency_p95: Some(Span::from_ms(p95)),
            latency_max: None,
            fast: Span::from_s(fast),
            slow: Span::from_s(2 * fast),
            skips,
            skipped: Span::from_s(u64::from(skips)),
        };
        let never = LiveSession { latency_mean: None, latency_p95: None, ..player(0, 0, 0, 0) };
        let viewing = LiveViewing::of(&[&player(3000, 4000, 10, 0), &player(5000, 9000, 20, 2), &never], 600.0);
        assert_eq!((viewing.latency, viewing.latency_p95), (Some(4.0), Some(9.0)));
        assert_eq!((viewing.fast, viewing.slow), (Some(5.0), Some(10.0)));
        assert_eq!((viewing.skips, viewing.skipped), (2, 2.0));
        assert_eq!(LiveViewing::of(&[&never], 0.0), LiveViewing::default());
    }

    #[test]
    fn a_session_that_never_began_has_no_numbers() {
        let nothing =
            StreamingSession { startup: None, mean_mbps: None, sd_mbps: None, switches: 0, ..session(0, 0, 0.0, 0.0) };
        assert_eq!(Viewing::of(&[&nothing]), Viewing::default());
    }

    proptest! {
        #[test]
        fn the_worst_session_is_never_better_than_the_mean(
            sessions in prop::collection::vec((1_u64..9_000, 0_u64..9_000, 0.1_f64..6.0, 0.0_f64..3.0), 1..6),
        ) {
            let sessions: Vec<StreamingSession> =
                sessions.into_iter().map(|(a, b, c, d)| session(a, b, c, d)).collect();
            let viewing = Viewing::of(&sessions.iter().collect::<Vec<_>>());
            prop_assert!(viewing.predicted_mos_min.unwrap() <= viewing.predicted_mos.unwrap() + 1e-9);
            prop_assert!(viewing.underflow_max.unwrap() + 1e-9 >= viewing.underflow.unwrap());
            prop_assert!((0.0..=100.0).contains(&viewing.underflow_max.unwrap()));
        }
    }
}
