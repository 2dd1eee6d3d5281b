//! Takes packets from the head of a queue until CoDel lets one pass: the loop that every manager
//! with a CoDel inside shares.
//!
//! Source: RFC 8289 §5.5; `ce_threshold` and L4S handling after the ns-3 CoDel queue disc.
//! Deviations: an L4S packet behind a dropped one is looked at by CoDel (the schedule moves on) but
//! never signalled by it.

use crate::manager::mark;
use crate::policy::codel::{Codel, CodelLaw, Head, Judgement};
use crate::{Environment, Held, Reason};
use sojourn_base::{Ecn, Instant};

/// A queue that can be served from its head.
pub(crate) trait HeadSource<T> {
    /// Take the oldest packet, and say what CoDel needs to know of it.
    fn take(&mut self, now: Instant) -> Option<(Held<T>, Head)>;
}

/// The next packet to send, or `None` if the source is (or has run) empty.
pub(crate) fn serve<T>(
    codel: &mut Codel,
    law: &CodelLaw,
    source: &mut impl HeadSource<T>,
    now: Instant,
    environment: &mut dyn Environment<T>,
) -> Option<Held<T>> {
    let Some((mut packet, mut head)) = source.take(now) else {
        codel.on_empty();
        return None;
    };
    let mut fresh_mark = false;
    if !is_l4s(law, &packet) {
        let mut judgement = codel.on_head(law, head, now);
        while judgement == Judgement::Signal && !is_l4s(law, &packet) {
            if law.ecn && packet.meta.ecn.is_capable() {
                fresh_mark = packet.meta.ecn != Ecn::Ce;
                mark(&mut packet, Reason::Target, environment);
                codel.on_marked(law, now);
                break;
            }
            environment.dropped(packet, Reason::Target);
            let Some((next, next_head)) = source.take(now) else {
                let _ = codel.on_dropped(law, None, now);
                return None;
            };
            (packet, head) = (next, next_head);
            judgement = codel.on_dropped(law, Some(head), now);
        }
    }
    if let Some(threshold) = law.ce_threshold
        && law.ecn
        && !fresh_mark
        && head.sojourn > threshold
        && (!law.l4s || is_l4s(law, &packet))
    {
        mark(&mut packet, Reason::Target, environment);
    }
    Some(packet)
}

fn is_l4s<T>(law: &CodelLaw, packet: &Held<T>) -> bool {
    law.l4s && matches!(packet.meta.ecn, Ecn::Ect1 | Ecn::Ce)
}
