//! All kinds of queue manager, and the one that stands in front of any other.
//!
//! To add a manager, add one line to the list: files, schema, reference page, properties and benchmarks follow.
//!
//! Source: White 2013 §1.3 (acknowledgements go first). Deviations: none known.

use crate::QueueManager;
use crate::config::{ConfigProblem, ManagerConfig, ManagerKind};
use crate::manager::ack_priority::{AckPriorityConfig, AckPriorityQueue};
use crate::manager::cake::CakeConfig;
use crate::manager::cobalt::CobaltConfig;
use crate::manager::codel::CodelConfig;
use crate::manager::docsis_dual_queue::DocsisDualQueueConfig;
use crate::manager::docsis_pie::DocsisPieConfig;
use crate::manager::drop_tail::DropTailConfig;
use crate::manager::dualpi2::DualPi2Config;
use crate::manager::fq_cobalt::FqCobaltConfig;
use crate::manager::fq_codel::FqCodelConfig;
use crate::manager::fq_pie::FqPieConfig;
use crate::manager::pie::PieConfig;
use crate::manager::red::RedConfig;
use crate::manager::sfq_codel::SfqCodelConfig;
use crate::manager::sfq_ns2::SfqNs2Config;
use crate::manager::sfq_pie::SfqPieConfig;
use crate::store::sub_flows::SfqConfig;
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::Limit;
use sojourn_keys::{AnyKind, Configured, Key, KindOf, Kinds, OneOf, Visitor, key, kinds};

/// All kinds, in the order of the reference page.
static KINDS: Kinds<ManagerConfig> = Kinds::new(kinds![
    &KindOf::<DropTailConfig>::KIND,
    &KindOf::<CodelConfig>::KIND,
    &KindOf::<SfqConfig>::KIND,
    &KindOf::<SfqNs2Config>::KIND => native,
    &KindOf::<SfqCodelConfig>::KIND,
    &KindOf::<FqCodelConfig>::KIND,
    &KindOf::<PieConfig>::KIND,
    &KindOf::<SfqPieConfig>::KIND => native,
    &KindOf::<FqPieConfig>::KIND => native,
    &KindOf::<DocsisPieConfig>::KIND,
    &KindOf::<DocsisDualQueueConfig>::KIND,
    &KindOf::<DualPi2Config>::KIND,
    &KindOf::<CobaltConfig>::KIND => native,
    &KindOf::<FqCobaltConfig>::KIND => native,
    &KindOf::<CakeConfig>::KIND => native,
    &KindOf::<RedConfig>::KIND => native,
    &KindOf::<PrioritisedConfig>::KIND,
]);

/// Makes a kind of manager known, before the first file that asks for it is read.
#[cfg(feature = "std")]
pub fn add_manager<C: Configured + ManagerKind>() -> Result<(), sojourn_keys::NameTaken> {
    KINDS.add(&KindOf::<C>::KIND)
}

impl ManagerConfig {
    /// Returns all kinds, those of other crates included.
    pub fn kinds() -> Vec<&'static dyn AnyKind<Self>> {
        KINDS.all()
    }
}

/// The lane, and the manager of everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct PrioritisedConfig {
    /// The lane.
    pub lane: AckPriorityConfig,
    /// The manager behind it: any but another such lane.
    pub manager: ManagerConfig,
}

impl PrioritisedConfig {
    /// `manager` behind a lane with the values of [`AckPriorityConfig::BASE`].
    pub fn before(manager: ManagerConfig) -> Self {
        Self { lane: AckPriorityConfig::BASE, manager }
    }
}

impl Configured for PrioritisedConfig {
    const KIND: &'static str = "ack-priority";
    const ABOUT: &'static str = "a fast lane for pure acknowledgements in front of another manager";

    fn base() -> Self {
        Self::before(DropTailConfig::bytes(0).into())
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.lane.keys(visitor);
        let mut kinds = ManagerConfig::kinds();
        kinds.retain(|kind| kind.info().name != Self::KIND);
        visitor.choice(INNER, &mut OneOf::among(&mut self.manager, kinds, |manager| manager.kind()));
    }
}

const INNER: Key = key(MANAGER, "the manager of everything else", "no default")
    .required("{ kind = \"codel\", profile = \"rfc8289\" }");

/// The key of the manager behind a lane.
const MANAGER: &str = "manager";

impl ManagerKind for PrioritisedConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(AckPriorityQueue::new(self.lane, self.manager.build()))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        self.manager.limit_mut()
    }

    fn behind(&self) -> Option<(&'static str, &ManagerConfig)> {
        Some((MANAGER, &self.manager))
    }

    fn has_service_queues(&self) -> bool {
        true
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        if self.lane.burst == 0 {
            problems.push(ConfigProblem {
                field: "burst",
                message: alloc::string::String::from("no acknowledgement would ever go first"),
                hint: "8",
            });
        }
    }
}
