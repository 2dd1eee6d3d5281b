//! All tests of this crate's public interface, in one program: it is linked once.

mod bbr;
mod dumbbell;
mod ecn;
mod habits;
mod ns2;
mod own_controller;
mod path;
mod properties;
mod rate_based;
mod sharing;
mod stacks;
mod theory;
mod vectors;
