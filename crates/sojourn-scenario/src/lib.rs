//! Scenarios: what one run is, from the text of a file to the complete, typed description that the
//! engine runs.
//!
//! | module | content |
//! |---|---|
//! | [`file`] | [`ScenarioFile`]: text, settings on top of it, validation |
//! | [`overlay`] | [`Overlay`]: a piece of scenario that is laid over others |
//! | [`problem`] | [`ScenarioProblems`]: everything that is wrong, with path, hint and position |
//! | [`model`] | [`Scenario`]: typed, complete, every default filled in |
//! | [`topology`] | [`Topology`]: homes one by one, their links and paths, subjects of records |
//!
//! Each configuration declares its keys once; reading, printing, the JSON schema and the reference
//! page all walk that declaration. Nothing here reads a file, a clock or an environment variable.
#![forbid(unsafe_code)]

mod change;
mod check;
pub mod describe;
pub mod emulate;
pub mod file;
mod keys;
pub mod model;
pub mod overlay;
mod printer;
pub mod problem;
mod reader;
pub mod topology;
mod tree;
mod writer;

pub use describe::json_schema;
pub use file::{ScenarioFile, problems};
pub use model::{
    Change, DirectedLink, EmulateConfig, Home, LibraryConfig, LibraryEcn, MatchConfig, MatchedProtocol, Ports,
    RecordConfig, Scenario, Server, SharedLink, Stack, Traffic,
};
pub use model::{WifiChannel, WifiDevice, WifiNeighbour, WifiStation};
pub use overlay::Overlay;
pub use problem::{Problem, ScenarioProblems};
pub use reader::Origin;
pub use topology::{PlacedLink, PlacedTraffic, Topology};
