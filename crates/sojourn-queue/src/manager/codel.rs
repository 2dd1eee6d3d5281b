//! CoDel over one first-in, first-out queue.
//!
//! Source: RFC 8289; limits from White 2012 §3.1.2, White 2013 §3.2, Akhtar 2013.
//! Deviations: those of [`crate::policy::codel`]; bytes that the link has staged count as waiting, so
//! that CoDel can act on the sojourn over a cascade (White 2012 §2.2).

use crate::config::{ConfigProblem, LIMIT, require_shorter};
use crate::manager::codel_service::{HeadSource, Look, serve};
use crate::manager::law::{Law, LawQueue, law_config};
use crate::policy::codel::{Codel, CodelLaw, CodelVariant, Floor, Head};
use crate::store::waiting::Waiting;
use crate::{Held, QueueContext};
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Limit, Packets, ServiceQueue};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of a CoDel queue.
    #[derive(Copy, Eq)]
    pub struct CodelConfig: "codel", "CoDel: drops at the head while the delay stays above a target" {
        limit: Limit = Limit::Packets(Packets(1000)), LIMIT;
        /// when to signal
        law: CodelLaw = CodelLaw::RFC8289;
    }
    profiles {
        /// RFC 8289: 5 ms in 100 ms, 1000 packets
        ///
        /// chosen: 1000 packets, the default of the Linux queue discipline.
        RFC8289 "rfc8289" {}
        /// White 2012 §1.1, §3.1.2: 5 ms in 100 ms, the code of 2012, 417 packets
        WHITE2012 "white2012" { law = CodelLaw::WHITE2012; limit = Limit::Packets(Packets(417)); }
        /// White 2013 §3.2: 10 ms in 150 ms, the code of 2013, 625,000 B
        WHITE2013 "white2013" { law = CodelLaw::WHITE2013; limit = Limit::Bytes(Bytes(625_000)); }
        /// Akhtar 2013: 5 ms in 100 ms, the code of 2013, 120 packets
        ///
        /// The buffer of the other managers at 8 Mb/s.
        AKHTAR2013 "akhtar2013" { law = CodelLaw::AKHTAR2013; limit = Limit::Packets(Packets(120)); }
    }
}

law_config!(CodelConfig, limit: Limit, CodelOver<true> = |it| it.law.into());

impl CodelLaw {
    /// Returns true if the parameters that are fixed while CoDel works are equal.
    pub(crate) fn has_fixed_of(&self, other: &Self) -> bool {
        (self.variant, self.floor) == (other.variant, other.floor)
    }

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_shorter(
            ("target", self.target),
            ("interval", self.interval),
            "CoDel expects a target well below the interval, for instance 5 ms in 100 ms",
            problems,
        );
        if self.ce_threshold.is_some() && !self.ecn {
            problems.push(ConfigProblem {
                field: "ce_threshold",
                message: String::from("marks need ecn, which is off"),
                hint: "ecn = true",
            });
        }
        if self.l4s && self.ce_threshold.is_none() {
            problems.push(ConfigProblem {
                field: "l4s",
                message: String::from("L4S packets are marked by ce_threshold, which is off"),
                hint: "ce_threshold = \"1 ms\"",
            });
        }
    }
}

/// A first-in, first-out queue that CoDel drops from at the head.
pub type CodelQueue = LawQueue<CodelConfig>;

/// CoDel, and its floor on the backlog of each line; with `STAGED` bytes that the link has staged count as waiting.
#[derive(Clone, Debug)]
pub struct CodelOver<const STAGED: bool> {
    law: CodelLaw,
    staged: u64,
}

impl<const STAGED: bool> From<CodelLaw> for CodelOver<STAGED> {
    fn from(law: CodelLaw) -> Self {
        Self { law, staged: 0 }
    }
}

impl<const STAGED: bool> Law for CodelOver<STAGED> {
    type State = (Codel, Floor);

    fn state(&self) -> Self::State {
        (Codel::default(), Floor::new(self.law.floor))
    }

    fn retune(&mut self, to: Self) -> bool {
        let is_same = self.law.has_fixed_of(&to.law);
        self.law = to.law;
        is_same
    }

    #[inline]
    fn look(&mut self, context: &mut dyn QueueContext) {
        if STAGED {
            self.staged = context.staged(ServiceQueue::Classic).0;
        }
    }

    fn on_paid(&self, (codel, _): &mut Self::State, _now: Instant, packets: u32) {
        codel.on_paid(&self.law, packets);
    }

    #[inline]
    fn take(
        &mut self,
        (codel, floor): &mut Self::State,
        (packets, line): (&mut impl Waiting, usize),
        now: Instant,
        context: &mut dyn QueueContext,
    ) -> Option<Held> {
        let staged = self.staged;
        // Linux `fq_codel_dequeue` compares the backlog of all flows.
        let of_all = self.law.variant == CodelVariant::Linux;
        let is_above = |packets: &_, length| {
            floor.on_leaving(length, Waiting::bytes_for(packets, line, of_all) - u64::from(length) + staged)
        };
        serve(codel, &self.law, &mut Watched { packets, line, is_above }, now, context)
    }
}

/// A line whose packets a floor watches leave: whether more than that waits behind one of a length.
pub(crate) struct Watched<'a, P, F> {
    pub(crate) packets: &'a mut P,
    pub(crate) line: usize,
    pub(crate) is_above: F,
}

impl<P: Waiting, F: FnMut(&P, u32) -> bool> HeadSource for Watched<'_, P, F> {
    #[inline]
    fn look(&mut self, now: Instant) -> Option<Look> {
        let (meta, enqueued_at) = self.packets.head(self.line)?;
        let above_floor = (self.is_above)(self.packets, meta.length);
        Some(Look { head: Head { sojourn: now.saturating_since(enqueued_at), above_floor }, ecn: meta.ecn })
    }

    #[inline]
    fn take(&mut self) -> Option<Held> {
        self.packets.pop(self.line)
    }
}
