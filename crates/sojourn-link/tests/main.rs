//! All tests of this crate's public interface, in one program: it is linked once.

mod oracle;
mod properties;
mod support;
mod two_queues;
