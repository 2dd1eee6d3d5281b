//! The AQM of a dual queue's classic queue, and its coupling to the low-latency one.
//!
//! Source: White 2019 §2.3 (DOCSIS-PIE in modems, in a CMTS what its vendor likes); RFC 8034; RFC 8033; RFC 8289; RFC 9332
//! §2.4 and appendix A with the gains of Linux `sch_dualpi2`, whose updates are 16 ms apart as those of the dual queue.
//! Deviations: all of them have the target of the dual queue. CoDel's interval is 15 targets, as in White 2013 §3.2 (10 ms
//! in 150 ms). CoDel has no likelihood, so it couples nothing: low-latency packets are marked for their own queue alone.

use crate::policy::docsis_pie::{DocsisPie, DocsisPieLaw};
use crate::store::two_queues::TwoQueues;
use crate::{Held, QueueContext};
use core::fmt::Debug;
use sojourn_base::{Instant, ServiceQueue, Span, math};

/// See the module.
pub trait ClassicAqm: Clone + Debug + Send + 'static {
    /// True if it may drop all waiting packets when one is to be sent.
    const AT_HEAD: bool = false;

    /// At rest.
    fn new(law: &DocsisPieLaw) -> Self;

    /// A packet arrives and fits; see [`DocsisPie::on_arrival`]. Returns true if it is dropped.
    fn on_arrival(
        &mut self,
        law: &DocsisPieLaw,
        length: u32,
        backlog: u64,
        buffer: u64,
        draw: impl FnOnce() -> f64,
    ) -> bool;

    /// An arrival did not fit and was dropped.
    fn on_overflow(&mut self) {}

    /// Another 16 ms have passed; the queue's delay in seconds.
    fn on_update(&mut self, law: &DocsisPieLaw, delay: f64);

    /// Likelihood of a low-latency mark for the sake of the classic queue, with this coupling factor.
    fn coupled(&self, coupling: f64) -> f64;

    /// The delay of the queue at the last update.
    fn delay(&self) -> Span;

    /// Takes the next packet to send.
    #[inline]
    fn take(&mut self, queues: &mut Queues<'_>, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        let _ = (now, context);
        queues.0.pop(ServiceQueue::Classic)
    }
}

/// The queues that it takes from.
#[derive(Debug)]
pub struct Queues<'a>(pub(crate) &'a mut TwoQueues);

/// White 2019 appendix A: marks of a scalable control follow the square root of the drops of a classic one.
pub(crate) fn coupled(coupling: f64, probability: f64) -> f64 {
    (coupling * math::sqrt(probability)).min(1.0)
}

impl ClassicAqm for DocsisPie {
    fn new(_law: &DocsisPieLaw) -> Self {
        Self::default()
    }

    #[inline]
    fn on_arrival(
        &mut self,
        law: &DocsisPieLaw,
        length: u32,
        backlog: u64,
        buffer: u64,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        Self::on_arrival(self, law, length, backlog, buffer, draw)
    }

    #[inline]
    fn on_overflow(&mut self) {
        Self::on_overflow(self);
    }

    #[inline]
    fn on_update(&mut self, law: &DocsisPieLaw, delay: f64) {
        Self::on_update(self, law, delay);
    }

    #[inline]
    fn coupled(&self, coupling: f64) -> f64 {
        coupled(coupling, self.probability())
    }

    #[inline]
    fn delay(&self) -> Span {
        Self::delay(self)
    }
}

pub(crate) use others::{CodelBeside, Pi2Beside, PieBeside};

/// Those that only a choice of its user brings.
mod others {
    use super::{ClassicAqm, Queues, coupled};
    use crate::manager::codel_service::{HeadSource, Look, serve};
    use crate::policy::codel::{Codel, CodelLaw, Floor, Head};
    use crate::policy::docsis_pie::{DocsisPieLaw, UPDATE_INTERVAL};
    use crate::policy::pi2::{Pi2, Pi2Law};
    use crate::policy::pie::{Pie, PieLaw, PieVerdict};
    use crate::policy::recur::Recur;
    use crate::{Held, QueueContext};
    use sojourn_base::{Instant, ServiceQueue, Span};

    /// PIE of RFC 8033.
    #[derive(Clone, Debug)]
    pub(crate) struct PieBeside {
        law: PieLaw,
        pie: Pie,
        delay: f64,
    }

    impl ClassicAqm for PieBeside {
        fn new(law: &DocsisPieLaw) -> Self {
            let law = PieLaw { reference: law.target, update_interval: UPDATE_INTERVAL, ..PieLaw::RFC8033 };
            Self { pie: Pie::new(&law), law, delay: 0.0 }
        }

        fn on_arrival(
            &mut self,
            _law: &DocsisPieLaw,
            length: u32,
            backlog: u64,
            _buffer: u64,
            draw: impl FnOnce() -> f64,
        ) -> bool {
            self.pie.on_arrival(&self.law, length, backlog, draw) != PieVerdict::Pass
        }

        fn on_overflow(&mut self) {
            self.pie.on_overflow();
        }

        fn on_update(&mut self, _law: &DocsisPieLaw, delay: f64) {
            self.delay = delay;
            self.pie.update(&self.law, delay);
        }

        fn coupled(&self, coupling: f64) -> f64 {
            coupled(coupling, self.pie.probability())
        }

        fn delay(&self) -> Span {
            Span::from_secs_f64(self.delay)
        }
    }

    /// PI2: drops follow the square of a base likelihood, marks the likelihood itself.
    #[derive(Clone, Debug)]
    pub(crate) struct Pi2Beside {
        law: Pi2Law,
        pi: Pi2,
        signals: Recur,
        delay: f64,
    }

    impl ClassicAqm for Pi2Beside {
        fn new(law: &DocsisPieLaw) -> Self {
            Self {
                law: Pi2Law { target: law.target, ..Pi2Law::LINUX },
                pi: Pi2::default(),
                signals: Recur::default(),
                delay: 0.0,
            }
        }

        fn on_arrival(
            &mut self,
            _law: &DocsisPieLaw,
            _length: u32,
            _backlog: u64,
            _buffer: u64,
            _draw: impl FnOnce() -> f64,
        ) -> bool {
            let base = self.pi.base();
            self.signals.advance(base * base)
        }

        fn on_update(&mut self, _law: &DocsisPieLaw, delay: f64) {
            self.delay = delay;
            self.pi.on_update(&self.law, delay);
        }

        fn coupled(&self, coupling: f64) -> f64 {
            (coupling * self.pi.base()).min(1.0)
        }

        fn delay(&self) -> Span {
            Span::from_secs_f64(self.delay)
        }
    }

    /// CoDel.
    #[derive(Clone, Debug)]
    pub(crate) struct CodelBeside {
        law: CodelLaw,
        codel: Codel,
        floor: Floor,
        delay: f64,
    }

    /// White 2013 §3.2: 10 ms in 150 ms.
    const TARGETS_IN_AN_INTERVAL: u64 = 15;

    impl ClassicAqm for CodelBeside {
        const AT_HEAD: bool = true;

        fn new(law: &DocsisPieLaw) -> Self {
            let law = CodelLaw {
                target: law.target,
                interval: law.target.saturating_mul(TARGETS_IN_AN_INTERVAL),
                ..CodelLaw::RFC8289
            };
            Self { floor: Floor::new(law.floor), law, codel: Codel::default(), delay: 0.0 }
        }

        fn on_arrival(
            &mut self,
            _law: &DocsisPieLaw,
            _length: u32,
            _backlog: u64,
            _buffer: u64,
            _draw: impl FnOnce() -> f64,
        ) -> bool {
            false
        }

        fn on_update(&mut self, _law: &DocsisPieLaw, delay: f64) {
            self.delay = delay;
        }

        fn coupled(&self, _coupling: f64) -> f64 {
            0.0
        }

        fn delay(&self) -> Span {
            Span::from_secs_f64(self.delay)
        }

        fn take(&mut self, queues: &mut Queues<'_>, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
            let mut source =
                Classic { queues, floor: &mut self.floor, staged: context.staged(ServiceQueue::Classic).0 };
            serve(&mut self.codel, &self.law, &mut source, now, context)
        }
    }

    /// The classic queue as CoDel sees it.
    struct Classic<'a, 'b> {
        queues: &'a mut Queues<'b>,
        floor: &'a mut Floor,
        staged: u64,
    }

    impl HeadSource for Classic<'_, '_> {
        fn look(&mut self, now: Instant) -> Option<Look> {
            let packet = self.queues.0.head(ServiceQueue::Classic)?;
            let length = packet.meta.length;
            let waiting = self.queues.0.bytes_in(ServiceQueue::Classic);
            let left = waiting - u64::from(length) + self.staged;
            Some(Look {
                head: Head {
                    sojourn: now.saturating_since(packet.enqueued_at),
                    above_floor: self.floor.on_leaving(length, left),
                },
                ecn: packet.meta.ecn,
            })
        }

        fn take(&mut self) -> Option<Held> {
            self.queues.0.pop(ServiceQueue::Classic)
        }
    }
}
