//! Which runs a scenario asks for.
//!
//! Source: none. Deviations: none known.

use sojourn_base::Seed;

use crate::model::Scenario;

/// One run: what, and with which seed.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// What is simulated.
    pub scenario: Scenario,
    /// The seed of all its random streams.
    pub seed: Seed,
}

/// The runs of a scenario, in the order of their seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan(pub Vec<RunSpec>);

impl Plan {
    /// One run for each seed that the scenario asks for.
    pub fn expand(scenario: &Scenario) -> Self {
        let runs = (0..u64::from(scenario.seed_count)).map(|offset| RunSpec {
            scenario: scenario.clone(),
            seed: Seed(scenario.seed.0.saturating_add(offset)),
        });
        Self(runs.collect())
    }
}
