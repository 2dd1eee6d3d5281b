//! Managers: order of service and limits, with a policy applied to them.

pub mod ack_priority;
pub mod any;
pub mod buffer_control;
pub mod codel;
mod codel_service;
pub mod docsis_pie;
pub mod drop_tail;
pub mod fq_codel;
pub mod fq_pie;
mod period;
pub mod pie;
pub mod sfq;
pub mod sfq_codel;
pub mod sfq_ns2;
pub mod sfq_pie;

use crate::{Held, QueueContext, Reason, Verdict};
use sojourn_base::Ecn;

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
