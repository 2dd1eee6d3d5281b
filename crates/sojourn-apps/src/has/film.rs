//! Big Buck Bunny, as its chunks were measured.
//!
//! Source: `data/big-buck-bunny.csv`: bits of the 199 segments of 3 s of that film at 1.0, 2.5, 5.0 and 8.0 Mb/s, from
//! `example/mmsys18/bbb4k.json` of Sabre (Spiteri, Sitaraman, Sparacio: From Theory to Practice, `MMSys` 2018; BSD-2-Clause, copyright 2018
//! Kevin Spiteri).
//! Deviations: a level of another rate than the measured ones has the course of the nearest of them, and chunks of other lengths
//! have their part of each segment.

use crate::whole;
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Span};

/// Chunks of the measured film that are kept. chosen: ten a second.
pub(super) const MOST_CHUNKS: u64 = 5970;

/// Length of a measured segment in seconds.
const SEGMENT_S: f64 = 3.0;

/// The measured film: of each level its rate in b/s, and how complex each segment is, 1 on average.
struct Film(Vec<(f64, Vec<f64>)>);

impl Film {
    fn read() -> Self {
        let mut lines = include_str!("../../data/big-buck-bunny.csv").lines().map(|line| line.split(','));
        let numbers = |line: core::str::Split<'static, char>| line.map(|number| number.parse().unwrap_or(0.0));
        let mut levels: Vec<(f64, Vec<f64>)> =
            lines.next().into_iter().flat_map(numbers).map(|kbps: f64| (kbps * 1e3, Vec::new())).collect();
        for line in lines {
            for ((_, course), bits) in levels.iter_mut().zip(numbers(line)) {
                course.push(bits);
            }
        }
        for (_, course) in &mut levels {
            let mean = course.iter().sum::<f64>() / course.len() as f64;
            for bits in course {
                *bits /= mean;
            }
        }
        Self(levels)
    }

    fn seconds(&self) -> f64 {
        self.0.first().map_or(0.0, |(_, course)| course.len() as f64 * SEGMENT_S)
    }

    /// The course of the measured level whose rate is nearest by ratio.
    fn nearest(&self, rate: BitRate) -> &[f64] {
        let away = |measured: f64| {
            let ratio = measured / rate.as_bps() as f64;
            ratio.max(1.0 / ratio)
        };
        let nearest = self.0.iter().min_by(|a, b| away(a.0).total_cmp(&away(b.0)));
        nearest.map_or(&[], |(_, course)| course)
    }
}

/// Seconds of the mean rate that a film has between two times.
fn seconds_of(course: &[f64], from: f64, to: f64) -> f64 {
    let overlap = |k: usize| (to.min((k + 1) as f64 * SEGMENT_S) - from.max(k as f64 * SEGMENT_S)).max(0.0);
    course.iter().enumerate().map(|(k, complexity)| complexity * overlap(k)).sum()
}

/// Bytes of the whole chunks of the film, of each all levels.
pub(super) fn sizes(ladder: &[BitRate], chunk: Span) -> Vec<u64> {
    if IN_TAB {
        return Vec::new(); // no file there names it
    }
    let film = Film::read();
    let courses: Vec<&[f64]> = ladder.iter().map(|rate| film.nearest(*rate)).collect();
    let chunk_s = chunk.as_secs_f64();
    let chunks = whole(film.seconds() / chunk_s - 0.5).min(MOST_CHUNKS); // the whole ones
    let levels = || ladder.iter().zip(&courses);
    (0..chunks)
        .flat_map(|k| {
            let from = k as f64 * chunk_s;
            levels()
                .map(move |(rate, course)| whole(rate.as_bps() as f64 / 8.0 * seconds_of(course, from, from + chunk_s)))
        })
        .collect()
}
