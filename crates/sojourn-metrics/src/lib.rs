//! What was measured, defined once: pure functions from columns of records to numbers.
#![forbid(unsafe_code)]
