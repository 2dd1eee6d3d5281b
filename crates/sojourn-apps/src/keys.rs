//! Keys that several applications have.
//!
//! Source: White 2012 §3.2 and §4.3.2. Deviations: none known.

use sojourn_keys::{Key, key};

/// Most parallel flows of an application, and of a scenario. chosen: about a kilobyte of state each
/// stays within a gigabyte.
pub const MOST_FLOWS: &str = "1000000";

/// Longest pause. chosen: longer than any run.
pub const LONGEST_PAUSE: &str = "5000 h";

/// The way that the data go.
pub const DIRECTION: Key = key("direction", "direction of the data", "White 2012 §3.2: uploads");

/// Size of a request for a piece of a page or a video, in application bytes.
pub const REQUEST: Key =
    key("request", "size of a request", "chosen: the headers of an HTTP request").least("1 B").most("1 MB");

/// How connections are secured.
pub(crate) const TLS: Key =
    key("tls", "how a connection is secured before its first request", "the studies: not at all");

/// Start time of an application.
pub const START: Key =
    key("start", "start time", "White 2012: with the run; pages at 1 s (§4.3.2)").most(LONGEST_PAUSE).unit("s");

/// Spreads the start of an application's parts.
pub const START_JITTER: Key = key(
    "start_jitter",
    "each part starts later by a time drawn uniformly from zero to this",
    "chosen: the studies mention no jitter",
)
.most(LONGEST_PAUSE)
.unit("s");
