//! All tests of this crate's public interface, in one program: it is linked once.

mod dual_oracles;
mod oracles;
mod properties;
mod red_cobalt_oracles;
mod retuned;
mod vectors;
