//! How large the chunks of a clip are, at each level of quality.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions": Big Buck Bunny in chunks of 2 s from a commercial
//! encoder, whose sizes are not published; [`film`] has those of another one.
//! Deviations: by default a clip with a first-order autoregressive complexity takes its place (chosen, see [`VbrContent`]).

use super::film;
use crate::whole;
use sojourn_base::{BitRate, Bytes, Seed, Span, dist, math};
use sojourn_keys::{Key, choices, key, origin, parameters};

choices! {
    /// Source of the sizes of chunks.
    pub enum Content {
        /// a clip of varying complexity, the same in every run, again and again
        SyntheticVbr(clip: VbrContent = VbrContent::BASE) = "synthetic-vbr",
        /// measured sizes of Big Buck Bunny, in proportion to the rate of each level
        #[native()]
        BigBuckBunny = "big-buck-bunny",
        /// every chunk has the nominal rate of its level
        ConstantRate = "constant-rate",
        /// measured sizes
        Listed(sizes: Vec<Bytes> = Vec::new(), SIZES) = "listed",
    }
}

const SIZES: Key = key("sizes", "chunk after chunk, of each one size for every level", "no default")
    .required("[\"180 kB\", \"250 kB\"]")
    .least("1 B")
    .most("1 GB");

parameters! {
    /// A clip that is not there: its chunks have a complexity that changes slowly, the same for all levels.
    ///
    /// Chosen: a correlation of 0.85 from chunk to chunk and a standard deviation of 0.25 of the logarithm, as scenes of
    /// some ten seconds have in films; what a level adds of its own varies by 5 %.
    #[derive(Copy, Eq)]
    pub struct VbrContent {
        /// chunks until the clip begins again
        chunks: u32 = 298, origin("Akhtar 2013: Big Buck Bunny, 596 s in chunks of 2 s").least("1").most("100000");
        /// number of the clip; the seed of a run does not enter it
        clip: u64 = 20_130_001, origin("chosen: any number");
    }
}

impl VbrContent {
    /// How complex each chunk is: 1 on average.
    fn complexities(&self) -> Vec<f64> {
        let mut random = Seed(self.clip).stream("content/complexity");
        let mut draw = || dist::standard_normal(random.unit());
        let innovation = math::sqrt(1.0 - CORRELATION * CORRELATION);
        let mut state = draw();
        let mut complexities: Vec<f64> = (0..self.chunks.max(1))
            .map(|index| {
                if index > 0 {
                    state = CORRELATION * state + innovation * draw();
                }
                math::exp(SPREAD * state - SPREAD * SPREAD / 2.0).clamp(0.4, 2.0)
            })
            .collect();
        let mean = complexities.iter().sum::<f64>() / complexities.len() as f64;
        for complexity in &mut complexities {
            *complexity /= mean;
        }
        complexities
    }
}

/// Correlation of the complexity of neighbouring chunks; see [`VbrContent`].
const CORRELATION: f64 = 0.85;

/// Standard deviation of the logarithm of the complexity; see [`VbrContent`].
const SPREAD: f64 = 0.25;

/// Standard deviation of what one level adds; see [`VbrContent`].
const LEVEL_SPREAD: f64 = 0.05;

/// The sizes of a clip.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    levels: usize,
    /// Chunk after chunk, of each all levels.
    bytes: Vec<u64>,
}

impl Sizes {
    /// Bytes that the sizes of `content` at `levels` levels take.
    pub(crate) fn bytes(content: &Content, levels: u64) -> u64 {
        let sizes = match content {
            Content::ConstantRate => levels,
            Content::BigBuckBunny => film::MOST_CHUNKS * levels,
            Content::Listed(sizes) => sizes.len() as u64,
            Content::SyntheticVbr(clip) => u64::from(clip.chunks) * levels,
        };
        sizes * size_of::<u64>() as u64
    }

    /// The sizes of `content` in chunks of `chunk`.
    pub(crate) fn new(content: &Content, ladder: &[BitRate], chunk: Span) -> Self {
        let nominal = |rate: &BitRate| rate.as_bps() as f64 * chunk.as_secs_f64() / 8.0;
        let bytes = match content {
            Content::ConstantRate => ladder.iter().map(|rate| whole(nominal(rate))).collect(),
            Content::Listed(sizes) => sizes.iter().map(|size| size.0.max(1)).collect(),
            Content::BigBuckBunny => film::sizes(ladder, chunk),
            Content::SyntheticVbr(clip) => {
                let mut random = Seed(clip.clip).stream("content/levels");
                let mut bytes = Vec::new();
                for complexity in clip.complexities() {
                    for rate in ladder {
                        let own = 1.0 + LEVEL_SPREAD * dist::standard_normal(random.unit());
                        bytes.push(whole(nominal(rate) * complexity * own));
                    }
                }
                bytes
            }
        };
        Self { levels: ladder.len(), bytes }
    }

    /// Bytes of chunk `index`; the clip begins again when it is over.
    pub(crate) fn of(&self, index: u32, level: usize) -> u64 {
        let chunks = (self.bytes.len() / self.levels).max(1);
        self.bytes[index as usize % chunks * self.levels + level]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder() -> Vec<BitRate> {
        super::super::HasConfig::AKHTAR2013.ladder.into_owned()
    }

    #[test]
    fn chunks_of_a_constant_rate_are_rate_times_time() {
        let sizes = Sizes::new(&Content::ConstantRate, &ladder(), Span::from_s(2));
        // 0.72 Mb/s for 2 s are 180,000 B, 5.9 Mb/s 1,475,000 B.
        assert_eq!((sizes.of(0, 0), sizes.of(17, 6)), (180_000, 1_475_000));
    }

    #[test]
    fn the_clip_has_the_nominal_rates_on_average_and_neighbours_that_are_alike() {
        let clip = VbrContent::BASE;
        let complexities = clip.complexities();
        assert_eq!(complexities.len(), 298);
        let n = complexities.len() as f64;
        assert!((complexities.iter().sum::<f64>() / n - 1.0).abs() < 1e-12);
        let square = |lag: usize| -> f64 {
            let pairs = complexities.iter().zip(&complexities[lag..]);
            pairs.map(|(a, b)| (a - 1.0) * (b - 1.0)).sum()
        };
        // 298 values that resemble their neighbours say little: a correlation of 0.85 is seen as 0.7 to 0.95.
        let correlation = square(1) / square(0);
        assert!((0.7..0.95).contains(&correlation), "{correlation}");
        let deviation = (square(0) / n).sqrt();
        assert!((0.15..0.35).contains(&deviation), "{deviation}");
        let sizes = Sizes::new(&Content::SyntheticVbr(clip), &ladder(), Span::from_s(2));
        let mean = (0..298).map(|k| sizes.of(k, 3) as f64).sum::<f64>() / n;
        assert!((mean / 500_000.0 - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn the_clip_is_the_same_every_time_and_begins_again_when_it_is_over() {
        let make = || Sizes::new(&Content::SyntheticVbr(VbrContent::BASE), &ladder(), Span::from_s(2));
        let (one, other) = (make(), make());
        for k in 0..298 {
            assert_eq!(one.of(k, 2), other.of(k, 2));
            assert_eq!(one.of(k, 2), one.of(k + 298, 2));
        }
    }

    #[test]
    fn big_buck_bunny_has_its_measured_sizes_at_measured_levels_and_its_course_at_others() {
        let rates = [1_000, 2_500, 2_000].map(|kbps| BitRate::from_bps(kbps * 1000));
        let sizes = Sizes::new(&Content::BigBuckBunny, &rates, Span::from_s(3));
        // Segment 0: 3,547,744 and 9,006,136 bits; the list has 0.9954 and 0.9965 of the nominal rates on average.
        assert_eq!([sizes.of(0, 0), sizes.of(0, 1)], [445_497, 1_129_675]);
        assert!((sizes.of(0, 2) as f64 / sizes.of(0, 1) as f64 - 0.8).abs() < 1e-5);
        assert_eq!(sizes.of(199, 0), sizes.of(0, 0));
        let halves = Sizes::new(&Content::BigBuckBunny, &rates, Span::from_ms(1500));
        assert_eq!(halves.of(0, 0), halves.of(1, 0));
        assert!((halves.of(0, 0) * 2).abs_diff(445_497) < 2);
        // 298 chunks of 2 s; the second has a second of the first segment and one of the next.
        let twos = Sizes::new(&Content::BigBuckBunny, &rates, Span::from_s(2));
        assert_eq!(twos.of(298, 0), twos.of(0, 0));
        let own = (sizes.of(0, 0) + sizes.of(1, 0)) as f64 / 3.0;
        assert!((twos.of(1, 0) as f64 - own).abs() < 2.0);
        let mean = (0..298).map(|k| twos.of(k, 1) as f64).sum::<f64>() / 298.0;
        assert!((mean / 625_000.0 - 1.0).abs() < 0.005, "{mean}");
    }

    #[test]
    fn measured_sizes_are_read_chunk_by_chunk() {
        let sizes = [10, 20, 30, 40].map(Bytes).to_vec();
        let two = [BitRate::from_mbps(1), BitRate::from_mbps(2)];
        let sizes = Sizes::new(&Content::Listed(sizes), &two, Span::from_s(2));
        assert_eq!([sizes.of(0, 1), sizes.of(1, 0), sizes.of(2, 0)], [20, 30, 10]);
    }
}
