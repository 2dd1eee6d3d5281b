//! Holds back short segments.
//!
//! Source: RFC 896; RFC 1122 section 4.2.3.4; ns-2.35 FullTcp (`nodelay_` off by default), whose last
//! partial segment waits until everything before it is acknowledged.
//! Deviations: none known.

/// Properties of a segment that is ready to leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// It is shorter than the maximum segment size.
    pub(crate) short: bool,
    /// Some data are unacknowledged.
    pub(crate) outstanding: bool,
    /// It carries the FIN.
    pub(crate) last: bool,
}

/// True if the segment has to wait. `fin_flush`: the last segment of a stream never does.
pub(crate) const fn holds_back(candidate: Candidate, nagle: bool, fin_flush: bool) -> bool {
    nagle && candidate.short && candidate.outstanding && !(candidate.last && fin_flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_segment_behind_unacknowledged_data_waits() {
        for short in [false, true] {
            for outstanding in [false, true] {
                let candidate = Candidate { short, outstanding, last: false };
                assert_eq!(holds_back(candidate, true, false), short && outstanding);
                assert!(!holds_back(candidate, false, false));
            }
        }
    }

    #[test]
    fn the_end_of_a_stream_waits_unless_the_stack_flushes_it() {
        let candidate = Candidate { short: true, outstanding: true, last: true };
        assert!(holds_back(candidate, true, false));
        assert!(!holds_back(candidate, true, true));
    }
}
