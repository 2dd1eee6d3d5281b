//! All kinds of link.
//!
//! Whoever adds a link adds one line to the list: files, schema and reference page know it by that.

use crate::config::{CascadeConfig, SerialConfig, ShapedConfig, SingleQueueConfig};
use crate::docsis31::config::{DownstreamConfig, UpstreamConfig};
use crate::kind::{LinkConfig, LinkKind};
use alloc::vec::Vec;
use sojourn_keys::{AnyKind, Configured, KindOf, Kinds, NameTaken};

/// All kinds, in the order of the reference page.
static KINDS: Kinds<LinkConfig> = Kinds::new(&[
    &KindOf::<SerialConfig>::KIND,
    &KindOf::<ShapedConfig>::KIND,
    &KindOf::<CascadeConfig>::KIND,
    &KindOf::<SingleQueueConfig>::KIND,
    &KindOf::<UpstreamConfig>::KIND,
    &KindOf::<DownstreamConfig>::KIND,
]);

/// Makes a kind of link known, before the first file that asks for it is read.
pub fn add_link<C: Configured + LinkKind>() -> Result<(), NameTaken> {
    KINDS.add(&KindOf::<C>::KIND)
}

impl LinkConfig {
    /// All kinds, somebody's own among them.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }
}
