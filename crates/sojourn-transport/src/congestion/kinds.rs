//! All kinds of congestion controller, and how those that stand in their connection are built.
//!
//! To add a controller, add one line to the list: files, schema and reference page follow.

use super::bbr1::Bbr1Config;
use super::bbr2::Bbr2Config;
use super::bbr3::Bbr3Config;
use super::compound::CompoundConfig;
use super::cubic_linux::{CubicLinux, CubicLinuxConfig};
use super::cubic_rfc9438::{Cubic, CubicConfig};
use super::cubic_v21::{CubicV21, CubicV21Config};
use super::dctcp::{Dctcp, DctcpConfig};
use super::kind::{ControllerConfig, ControllerKind};
use super::ledbat::LedbatConfig;
use super::ledbat_ns2::LedbatNs2Config;
use super::prague::PragueConfig;
use super::reno::{Reno, RenoConfig};
use super::{AnyController, Connection};
use alloc::vec::Vec;
use sojourn_base::native::native;
use sojourn_keys::{AnyKind, KindOf, Kinds, kinds};

/// All kinds, in the order of the reference page.
static KINDS: Kinds<ControllerConfig> = Kinds::new(kinds![
    &KindOf::<RenoConfig>::KIND,
    &KindOf::<CubicConfig>::KIND,
    &KindOf::<CubicLinuxConfig>::KIND => native,
    &KindOf::<CubicV21Config>::KIND,
    &KindOf::<LedbatConfig>::KIND,
    &KindOf::<LedbatNs2Config>::KIND => native,
    &KindOf::<CompoundConfig>::KIND => native,
    &KindOf::<DctcpConfig>::KIND,
    &KindOf::<PragueConfig>::KIND,
    &KindOf::<Bbr1Config>::KIND,
    &KindOf::<Bbr2Config>::KIND => native,
    &KindOf::<Bbr3Config>::KIND,
]);

/// Makes a kind of controller known, before the first file that asks for it is read.
#[cfg(feature = "std")]
pub fn add_controller<C: sojourn_keys::Configured + ControllerKind>() -> Result<(), sojourn_keys::NameTaken> {
    KINDS.add(&KindOf::<C>::KIND)
}

impl ControllerConfig {
    /// Returns all kinds, those of other crates included.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }
}

impl ControllerKind for RenoConfig {
    fn build(&self, connection: &Connection) -> AnyController {
        Reno::new(self.avoidance, connection.maximum_segment_size).into()
    }
}

impl ControllerKind for CubicConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        Cubic::new(*self).into()
    }
}

impl ControllerKind for CubicLinuxConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        native(|| CubicLinux::new(*self)).map_or_else(|| Cubic::new(CubicConfig::BASE).into(), Into::into)
    }
}

impl ControllerKind for CubicV21Config {
    fn build(&self, _connection: &Connection) -> AnyController {
        CubicV21::new(*self).into()
    }
}

impl ControllerKind for DctcpConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        Dctcp::new(*self).into()
    }
}
