//! Applications as data: one value per kind of application, from which a running one is built.

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::{Mismatch, Values, family};

use crate::Application;

family! {
    /// Parameters of any application, as a scenario names it.
    pub struct ApplicationConfig(dyn ApplicationKind);
}

/// A kind of application: parameters, and how a running one is built from them. A line in `kinds.rs` adds a built-in
/// one, [`add_application`](crate::add_application) one of another crate.
pub trait ApplicationKind: Values<ApplicationConfig> {
    /// The application, at rest until [`Application::start`].
    fn build(&self) -> Box<dyn Application>;

    /// How many servers it talks to: it names them `0..servers()` to its context.
    fn servers(&self) -> usize {
        1
    }

    /// For an application that sends datagrams and opens no connection: the key and the length of the longest.
    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        None
    }

    /// Returns true if it waits for something to be complete: a file, a page, a piece of a video.
    fn must_end(&self) -> bool {
        self.datagrams().is_none()
    }

    /// Connections or streams that it keeps open at the same time, at most.
    fn flows(&self) -> u64 {
        1
    }

    /// Bytes of its users, hosts, pages and the like from the beginning, without connections; what is less than a page
    /// of memory does not count.
    fn bytes(&self) -> u64 {
        0
    }

    /// The way that most of its data go.
    fn direction(&self) -> Direction {
        Direction::Upstream
    }

    /// Returns true if two of them start at the same instant, so that equal subscribers stay in step.
    fn is_in_step(&self) -> bool {
        false
    }

    /// Returns true if a running one with these parameters can change to `to`, by [`Application::retune`].
    fn may_become(&self, to: &ApplicationConfig) -> bool {
        self.equals(to.as_any())
    }

    /// Returns a key that is refused over QUIC, and the remedy.
    fn problem_over_quic(&self) -> Option<(&'static str, Mismatch)> {
        None
    }

    /// Returns contradictions between keys, or with a run of this `duration`: the key, below the application's table,
    /// and the remedy.
    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)> {
        let _ = duration;
        Vec::new()
    }
}
