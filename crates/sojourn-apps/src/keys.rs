//! Keys that several applications have.
//!
//! Source: White 2012 §3.2 and §4.3.2. Deviations: none known.

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::{Visitor, Word, Words, key};

/// Most parallel flows of an application, and of a scenario. chosen: about a kilobyte of state each
/// stays within a gigabyte.
pub const MOST_FLOWS: &str = "1000000";

/// Longest pause. chosen: longer than any run.
pub const LONGEST_PAUSE: &str = "5000 h";

const DIRECTIONS: [Word<Direction>; 2] = [
    Word {
        name: Direction::Upstream.as_str(),
        value: Direction::Upstream,
        about: "from the subscriber",
    },
    Word {
        name: Direction::Downstream.as_str(),
        value: Direction::Downstream,
        about: "to the subscriber",
    },
];

/// Shows the way that the data go.
pub fn direction_key(value: &mut Direction, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "direction",
            "which way the data go",
            "White 2012 §3.2: uploads",
        ),
        &mut Words {
            value,
            words: &DIRECTIONS,
        },
    );
}

/// Shows the size of a request for a piece of a page or a video.
pub fn request_key(value: &mut Bytes, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "request",
            "size of a request",
            "chosen: the headers of an HTTP request",
        )
        .least("1 B")
        .most("1 MB"),
        value,
    );
}

/// Shows when an application starts.
pub fn start_keys(start: &mut Span, jitter: &mut Span, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "start",
            "when it starts",
            "White 2012: with the run; pages at 1 s (§4.3.2)",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        start,
    );
    visitor.value(
        key(
            "start_jitter",
            "each part starts later by a time drawn uniformly from zero to this",
            "chosen: the studies mention no jitter",
        )
        .most(LONGEST_PAUSE)
        .unit("s"),
        jitter,
    );
}
