//! All kinds of application.
//!
//! To add an application, add one line to the list: files, schema and reference page follow.

use sojourn_keys::{AnyKind, Configured, KindOf, Kinds, NameTaken, kinds};

use crate::adaptive_video::AdaptiveVideoConfig;
use crate::bulk::BulkConfig;
use crate::capture::CaptureConfig;
use crate::cloud_game::CloudGameConfig;
use crate::constant_rate::{ConstantRateConfig, GAME, VOICE};
use crate::game::GameConfig;
use crate::has::HasConfig;
use crate::has_ll::HasLlConfig;
use crate::kind::{ApplicationConfig, ApplicationKind};
use crate::pd::PdConfig;
use crate::probe::ProbeConfig;
use crate::video_call::VideoCallConfig;
use crate::web::WebConfig;
use crate::web_3gpp::Web3gppConfig;
use crate::web_akhtar::WebAkhtarConfig;

/// All kinds, in the order of the reference page.
static KINDS: Kinds<ApplicationConfig> = Kinds::new(kinds![
    &KindOf::<BulkConfig>::KIND,
    &KindOf::<ConstantRateConfig>::KIND,
    &VOICE,
    &GAME,
    &KindOf::<GameConfig>::KIND,
    &KindOf::<ProbeConfig>::KIND,
    &KindOf::<WebConfig>::KIND,
    &KindOf::<HasConfig>::KIND,
    &KindOf::<HasLlConfig>::KIND => native,
    &KindOf::<Web3gppConfig>::KIND => native,
    &KindOf::<PdConfig>::KIND,
    &KindOf::<WebAkhtarConfig>::KIND,
    &KindOf::<CloudGameConfig>::KIND,
    &KindOf::<VideoCallConfig>::KIND,
    &KindOf::<AdaptiveVideoConfig>::KIND => native,
    &KindOf::<CaptureConfig>::KIND => native,
]);

/// Makes a kind of application known, before the first file that asks for it is read.
pub fn add_application<C: Configured + ApplicationKind>() -> Result<(), NameTaken> {
    KINDS.add(&KindOf::<C>::KIND)
}

impl ApplicationConfig {
    /// Returns all kinds, those of other crates included.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }
}
