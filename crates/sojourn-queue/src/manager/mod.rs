//! Managers: order of service and limits, with a policy applied to them; and the registry of all kinds.
//!
//! Who adds a manager declares its module and adds one line to the registry: files, schema, reference page,
//! properties and benchmarks know it by that.

pub mod ack_priority;
mod any;
pub mod buffer_control;
pub mod cobalt;
pub mod codel;
mod codel_service;
pub mod docsis_dual_queue;
pub mod docsis_pie;
pub mod drop_tail;
pub mod dualpi2;
pub mod fq_cobalt;
pub mod fq_codel;
pub mod fq_pie;
pub mod own;
mod period;
pub mod pie;
pub mod red;
mod registry;
pub mod sfq;
pub mod sfq_codel;
pub mod sfq_ns2;
pub mod sfq_pie;

use crate::{Held, QueueContext, Reason, Verdict};
use sojourn_base::Ecn;

use crate::store::sub_flows::SfqConfig;
use ack_priority::PrioritisedConfig;
use cobalt::CobaltConfig;
use codel::CodelConfig;
use docsis_dual_queue::DocsisDualQueueConfig;
use docsis_pie::DocsisPieConfig;
use drop_tail::DropTailConfig;
use dualpi2::DualPi2Config;
use fq_cobalt::FqCobaltConfig;
use fq_codel::FqCodelConfig;
use fq_pie::FqPieConfig;
use pie::PieConfig;
use red::RedConfig;
use sfq_codel::SfqCodelConfig;
use sfq_ns2::SfqNs2Config;
use sfq_pie::SfqPieConfig;

registry::managers! { $
    DropTail(DropTailConfig),
    Codel(CodelConfig),
    Sfq(SfqConfig),
    SfqNs2(SfqNs2Config),
    SfqCodel(SfqCodelConfig),
    FqCodel(FqCodelConfig),
    Pie(PieConfig),
    SfqPie(SfqPieConfig),
    FqPie(FqPieConfig),
    DocsisPie(DocsisPieConfig),
    DocsisDualQueue(DocsisDualQueueConfig),
    DualPi2(DualPi2Config),
    Cobalt(CobaltConfig),
    FqCobalt(FqCobaltConfig),
    Red(RedConfig),
    AckPriority(PrioritisedConfig),
}

/// Marks `packet` if it is ECN-capable; one that carries a mark already is left as it is. Returns
/// whether the packet now carries a mark.
pub(crate) fn mark<T>(
    packet: &mut Held<T>,
    reason: Reason,
    context: &mut dyn QueueContext<T>,
) -> bool {
    match packet.meta.ecn {
        Ecn::NotEct => false,
        Ecn::Ce => true,
        Ecn::Ect0 | Ecn::Ect1 => {
            packet.meta.ecn = Ecn::Ce;
            packet.marked = true;
            context.marked(packet, reason);
            true
        }
    }
}

/// Turns an arrival away.
pub(crate) fn refuse<T>(
    packet: Held<T>,
    reason: Reason,
    context: &mut dyn QueueContext<T>,
) -> Verdict {
    context.dropped(packet, reason);
    Verdict::Dropped(reason)
}
