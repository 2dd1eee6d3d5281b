//! Stochastic fair queueing alone: hashed sub-flows take turns, and nothing signals a standing queue.
//!
//! Source: White 2013 §5.1 asks for the benefit of it; the ring is that of [`crate::store::sub_flows`].
//! Deviations: none known.

use crate::config::ConfigProblem;
use crate::manager::law::{LawConfig, LawQueue, NoLaw};
use crate::store::sub_flows::SfqConfig;
use alloc::vec::Vec;

/// Sub-flows in a ring, without a law.
pub type SfqQueue = LawQueue<SfqConfig>;

impl LawConfig for SfqConfig {
    type Store = Self;
    type Law = NoLaw;

    fn store(&self) -> &Self {
        self
    }

    fn law(&self) -> NoLaw {
        NoLaw
    }

    fn store_mut(&mut self) -> &mut Self {
        self
    }

    fn collect_law_problems(&self, _problems: &mut Vec<ConfigProblem>) {}
}
