//! CM configuration files of DOCSIS, and the service that a modem gets from one.
//!
//! A file is octets ([`File`]), a text ([`text`]) and a list of what is wrong with it ([`examine`]); with the
//! tables of a CMTS ([`Tables`]) it is a service ([`expand`]), and a service is a file again ([`from_service`]). Nothing here reads a disk or panics on any input.
//!
//! Source: DOCSIS MULPI annexes C and D as public tools and documents give them; each TLV of the table
//! (`tlv.toml`) names where it is from. White 2019 §5.3 for Aggregate QoS Profiles and migration.
//! Deviations: MULPI itself was not at hand, so what only one secondary source says carries a mark.
#![forbid(unsafe_code)]

mod check;
mod classifier;
mod diff;
mod docsis_text;
mod expand;
mod file;
mod flow_queue;
mod from_service;
mod hex;
mod integrity;
mod issue;
mod listing;
mod parameter;
mod role;
mod service;
mod tables;
pub mod text;
pub mod tlv;

pub use check::{Examination, examine};
pub use classifier::{Classifier, Criteria};
pub use diff::{Difference, diff};
pub use expand::{Choices, Expansion, expand};
pub use file::{File, Format, Tlv, TooLong, Value};
pub use from_service::{Style, from_service};
pub use integrity::{Digest, Integrity, Secret, check_integrity, seal};
pub use issue::{Issue, Issues, Severity};
pub use listing::{Line, list};
pub use parameter::{Leaf, Origin, Parameter, Parameters, Setting};
pub use role::Role;
pub use service::{AggregateServiceFlow, Beside, FurtherAggregate, FurtherFlow, Service, ServiceConfig, ServiceFlow};
pub use tables::{Docsis, Tables};
