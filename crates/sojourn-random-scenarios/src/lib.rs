//! Random valid scenarios, and what has to hold in each of their runs.
//!
//! | module | content |
//! |---|---|
//! | [`generator`] | scenarios drawn from the JSON schema of scenario files |
//! | [`conservation`] | a recorder that counts every packet and doubts every time |
//! | [`examine`] | one scenario: drawn, read back, run, checked |
//!
//! The schema is made from the declared keys, so a new link, queue manager, application, stack or key takes
//! part without a line here.
#![forbid(unsafe_code)]

pub mod conservation;
pub mod examine;
pub mod generator;

pub use examine::{Examined, Trial, examine, examine_trial};
pub use generator::Generator;
