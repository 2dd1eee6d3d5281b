//! All tests of this crate's public interface, in one program: it is linked once.

mod cases;
mod common;
mod described;
mod emulated;
mod examples;
mod loads;
mod overlays;
mod problems;
mod properties;
mod warnings;
