//! All tests of this crate's public interface, in one program: it is linked once.

mod frames;
mod pyramids;
mod sessions;
