//! All tests of this crate's public interface, in one program: it is linked once.

mod corpus;
mod expansion;
mod from_service;
mod properties;
mod samples;
mod vectors;
