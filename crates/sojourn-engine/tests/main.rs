//! All tests of this crate's public interface, in one program: it is linked once.

mod allocations;
mod changes;
mod common_random_numbers;
mod cuttings;
mod fairness;
mod frames;
mod golden;
mod goodput;
mod low_latency;
mod measured;
mod paths;
mod queueing_theory;
mod rates;
mod runs;
mod support;
mod videos;
