//! A run that is watched while it goes on.
//!
//! A [`Session`] is a run in pieces whose recorder is a [`Tap`]: beside the records it keeps [`Series`] in narrow bins,
//! each with a pyramid of coarser ones above it, so that a picture of any span takes as many cells as it has pixels.
//! [`frame`] spells rows of a series as bytes.
//!
//! | module | content |
//! |---|---|
//! | [`session`] | [`Session`]: open, advance, look, sum up |
//! | [`tap`] | [`Tap`]: the recorder that fills the series |
//! | [`series`] | [`Series`]: columns of bins, and the pyramid over them |
//! | [`packets`] | packets of calls and games one by one, and their quality for a listener or player |
//! | [`frame`] | the bytes of a frame, and their reader |
//! | [`facts`] | facts of a scenario for metrics |
//!
//! Nothing here knows a clock or a file: the same scenario and seed give the same frames, however time is cut.
#![forbid(unsafe_code)]

pub mod facts;
pub mod frame;
pub mod packets;
pub mod series;
pub mod session;
pub mod tap;

pub use frame::Frame;
pub use series::{Column, Fold, Series, Subject};
pub use session::{Options, Session, Watch};
pub use sojourn_metrics::run::MetricRow;
pub use tap::{Tap, Tick};
