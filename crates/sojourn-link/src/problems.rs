//! Errors of a link's parameters.

use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_queue::ConfigProblem;

pub(crate) fn problem(field: &'static str, message: alloc::string::String, hint: &'static str) -> ConfigProblem {
    ConfigProblem { field, message, hint }
}

pub(crate) fn require_rate(field: &'static str, rate: BitRate, problems: &mut Vec<ConfigProblem>) {
    if rate == BitRate::ZERO {
        problems.push(problem(
            field,
            alloc::string::String::from("a rate of zero never sends anything"),
            "a positive rate such as \"5 Mb/s\"",
        ));
    }
}

pub(crate) fn require_maps(interval: Span, rate: BitRate, problems: &mut Vec<ConfigProblem>) {
    require_rate("channel_rate", rate, problems);
    if interval.is_zero() {
        problems.push(problem(
            "map_interval",
            alloc::format!("a MAP interval of {interval} has no room for a grant"),
            "\"2 ms\"",
        ));
    } else if rate > BitRate::ZERO && rate.bytes_in(interval) == Bytes::ZERO {
        problems.push(problem(
            "map_interval",
            alloc::format!("not one byte passes at {rate} in {interval}"),
            "a longer MAP interval or a faster channel",
        ));
    }
}
