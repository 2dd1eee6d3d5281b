//! SFQ-CoDel as White 2013 used it: hashed sub-flows take turns, and each has a CoDel of its own.
//!
//! Source: White 2013 §2.2 and §3.2; ns-2 `queue/sfqcodel.cc`, March 2013.
//! Deviations: those of [`crate::policy::codel`] and [`crate::store::sub_flows`].

use crate::manager::codel::Watched;
use crate::manager::codel_service::serve;
use crate::manager::law::{Law, LawQueue, law_config};
use crate::policy::codel::{Codel, CodelLaw, CodelVariant, Floor};
use crate::store::sub_flows::SfqConfig;
use crate::store::waiting::Waiting;
use crate::{Held, QueueContext};
use sojourn_base::Instant;
use sojourn_keys::parameters;

parameters! {
    /// Parameters of SFQ-CoDel.
    #[derive(Copy, Eq)]
    pub struct SfqCodelConfig: "sfq-codel", "SFQ-CoDel of 2013: sub-flows that take turns, each with a CoDel" {
        /// the sub-flows, their round and their common limit
        sub_flows: SfqConfig = SfqConfig::WHITE2013;
        /// when a sub-flow is signalled
        law: CodelLaw = CodelLaw { variant: CodelVariant::Sfq2013, ..CodelLaw::WHITE2013 };
    }
    profiles {
        /// White 2013 §2.2, §3.2: 32 sub-flows, 300 B a round, 10 ms in 150 ms, 625,000 B
        WHITE2013 "white2013" {}
    }
}

law_config!(SfqCodelConfig, sub_flows: SfqConfig, OneFloor = |it| OneFloor { floor: Floor::new(it.law.floor), law: it.law });

/// Sub-flows in a ring, each with a CoDel.
pub type SfqCodelQueue = LawQueue<SfqCodelConfig>;

/// CoDel for each sub-flow, with one floor for all of them.
#[derive(Clone, Debug)]
pub struct OneFloor {
    law: CodelLaw,
    floor: Floor,
}

impl Law for OneFloor {
    type State = Codel;

    fn state(&self) -> Codel {
        Codel::default()
    }

    fn retune(&mut self, to: Self) -> bool {
        let is_same = self.law.has_fixed_of(&to.law);
        self.law = to.law;
        is_same
    }

    #[inline]
    fn take(
        &mut self,
        codel: &mut Codel,
        (packets, line): (&mut impl Waiting, usize),
        now: Instant,
        context: &mut dyn QueueContext,
    ) -> Option<Held> {
        // The floor is compared with the backlog of all sub-flows, but none is emptied.
        let is_above = |packets: &_, length| {
            let left = Waiting::backlog(packets).bytes.0 - u64::from(length);
            self.floor.on_leaving(length, left) && !Waiting::has_one(packets, line)
        };
        serve(codel, &self.law, &mut Watched { packets, line, is_above }, now, context)
    }

    #[inline]
    fn on_retired(&self, codel: &mut Codel) {
        codel.leave();
    }
}
