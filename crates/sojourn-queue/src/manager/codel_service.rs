//! Takes packets from the head of a queue until CoDel lets one pass: the loop that every manager
//! with a CoDel inside shares.
//!
//! Source: RFC 8289 §5.5; `ce_threshold` and L4S handling after the ns-3 CoDel queue disc.
//! Deviations: an L4S packet behind a dropped one is looked at by CoDel (the schedule moves on) but
//! never signalled by it.

use crate::manager::mark;
use crate::policy::codel::{Codel, CodelLaw, Head, Judgement};
use crate::{Held, QueueContext, Reason};
use sojourn_base::{Ecn, Instant};

/// A queue that can be served from its head.
pub(crate) trait HeadSource {
    /// Returns the properties of the oldest packet. Called once for each packet.
    fn look(&mut self, now: Instant) -> Option<Look>;
    /// Take that packet.
    fn take(&mut self) -> Option<Held>;
}

/// The oldest packet of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) head: Head,
    pub(crate) ecn: Ecn,
}

/// The next packet to send, or `None` if the source is (or has run) empty.
#[inline]
pub(crate) fn serve(
    codel: &mut Codel,
    law: &CodelLaw,
    source: &mut impl HeadSource,
    now: Instant,
    context: &mut dyn QueueContext,
) -> Option<Held> {
    let Some(mut seen) = source.look(now) else {
        codel.on_empty();
        return None;
    };
    let mut signals = false;
    if !is_l4s(law, seen.ecn) {
        let mut judgement = codel.on_head(law, seen.head, now);
        while judgement == Judgement::Signal && !is_l4s(law, seen.ecn) {
            if law.ecn && seen.ecn.is_capable() {
                codel.on_marked(law, now);
                signals = true;
                break;
            }
            if let Some(packet) = source.take() {
                context.dropped(packet, Reason::Target);
            }
            let Some(next) = source.look(now) else {
                let _ = codel.on_dropped(law, None, now);
                return None;
            };
            seen = next;
            judgement = codel.on_dropped(law, Some(seen.head), now);
        }
    }
    let mut packet = source.take()?;
    if signals || is_above_threshold(law, seen) {
        mark(&mut packet, Reason::Target, context);
    }
    Some(packet)
}

/// Returns true if a packet that CoDel lets pass is late enough to be marked all the same.
fn is_above_threshold(law: &CodelLaw, seen: Look) -> bool {
    law.ecn
        && law.ce_threshold.is_some_and(|threshold| seen.head.sojourn > threshold)
        && (!law.l4s || is_l4s(law, seen.ecn))
}

fn is_l4s(law: &CodelLaw, ecn: Ecn) -> bool {
    law.l4s && matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}
