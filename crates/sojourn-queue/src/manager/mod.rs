//! Managers: order of service and limits, with a policy applied to them.

pub mod ack_priority;
pub mod buffer_control;
pub mod cake;
pub mod classic_aqm;
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
pub mod law;
mod period;
pub mod pie;
pub mod red;
pub mod sfq;
pub mod sfq_codel;
pub mod sfq_ns2;
pub mod sfq_pie;

use crate::{Held, QueueContext, Reason, Verdict};
use sojourn_base::Ecn;

/// Marks `packet` if it is ECN-capable; one that carries a mark already is left as it is. Returns
/// whether the packet now carries a mark.
pub(crate) fn mark(packet: &mut Held, reason: Reason, context: &mut dyn QueueContext) -> bool {
    match packet.meta.ecn {
        Ecn::NotEct => false,
        Ecn::Ce => true,
        Ecn::Ect0 | Ecn::Ect1 => {
            packet.meta.ecn = Ecn::Ce;
            context.marked(packet, reason);
            true
        }
    }
}

/// Turns an arrival away.
pub(crate) fn refuse(packet: Held, reason: Reason, context: &mut dyn QueueContext) -> Verdict {
    context.dropped(packet, reason);
    Verdict::Dropped(reason)
}
