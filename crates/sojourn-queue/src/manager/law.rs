//! A law over a line of packets, and the manager that puts a law over a store.
//!
//! | store | lines | managers |
//! |---|---|---|
//! | a limit | one queue | `codel`, `pie`, `docsis-pie`, `cobalt` |
//! | [`FlowListsConfig`](crate::FlowListsConfig) | flow queues | `fq-codel`, `fq-pie`, `fq-cobalt` |
//! | [`SfqConfig`](crate::SfqConfig) | hashed sub-flows | `sfq`, `sfq-codel`, `sfq-pie` |
//!
//! Source: those of the laws and of the stores. Deviations: none known.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::period::Period;
use crate::manager::refuse;
use crate::store::lines::{Lines, StoreConfig};
use crate::store::waiting::Waiting;
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;
use core::marker::PhantomData;
use sojourn_base::{Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_keys::Configured;

/// A control law: what all lines of a manager have in common. Each line has a [`Law::State`] of its own.
pub trait Law: Clone + Debug + Send + 'static {
    /// The decision state of one line.
    type State: Clone + Debug + Send + 'static;

    /// See [`ManagerKind::estimates_delay`].
    const ESTIMATES_DELAY: bool = false;

    /// A line's state at rest.
    fn state(&self) -> Self::State;

    /// Becomes `to`. False if that differs in what is fixed while the law works.
    fn retune(&mut self, to: Self) -> bool;

    /// Time between two updates, if the law has any.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// All lines have one state, which is for their common backlog.
    #[inline]
    fn is_shared(&self) -> bool {
        false
    }

    /// The link asks for a packet.
    #[inline]
    fn look(&mut self, _context: &mut dyn QueueContext) {}

    /// A packet arrives at a line, whether it fits or not.
    #[inline]
    fn on_arrival(&self, _state: &mut Self::State, _now: Instant) {}

    /// Judges an arrival before it joins `waiting` bytes, and may mark it. Returns why it is refused.
    #[inline]
    fn judge_arrival(
        &self,
        _state: &mut Self::State,
        _packet: &mut Held,
        _waiting: u64,
        _context: &mut dyn QueueContext,
    ) -> Option<Reason> {
        None
    }

    /// A single queue had no room for an arrival.
    fn on_overflow(&self, _state: &mut Self::State, _now: Instant) {}

    /// The line has paid for an overflow of all flow queues together.
    #[inline]
    fn on_paid(&self, _state: &mut Self::State, _now: Instant, _packets: u32) {}

    /// Takes the next packet to send, after drops if the law drops at the head; `None` if the line is, or has run, empty.
    #[inline]
    fn take(
        &mut self,
        _state: &mut Self::State,
        (packets, line): (&mut impl Waiting, usize),
        _now: Instant,
        _context: &mut dyn QueueContext,
    ) -> Option<Held> {
        packets.pop(line)
    }

    /// The line was found empty, in its turn or while it decays.
    #[inline]
    fn on_empty(&self, _state: &mut Self::State, _now: Instant) {}

    /// Returns true if an empty line's state changes no more.
    #[inline]
    fn is_at_rest(&self, _state: &Self::State, _now: Instant) -> bool {
        true
    }

    /// The line has lost its place in the round.
    #[inline]
    fn on_retired(&self, _state: &mut Self::State) {}

    /// Another [`Law::update_interval`] has passed, and `waiting` bytes wait.
    fn on_update(&self, _state: &mut Self::State, _waiting: u64, _context: &mut dyn QueueContext) {}
}

/// No law: packets leave as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLaw;

impl Law for NoLaw {
    type State = ();

    fn state(&self) {}

    fn retune(&mut self, _to: Self) -> bool {
        true
    }
}

/// Parameters of a law over a store.
pub trait LawConfig: Configured + Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Parameters of the store.
    type Store: StoreConfig;
    /// The law.
    type Law: Law;

    /// Parameters of the store.
    fn store(&self) -> &Self::Store;

    /// The same, to change them.
    fn store_mut(&mut self) -> &mut Self::Store;

    /// The law.
    fn law(&self) -> Self::Law;

    /// Adds what is wrong with the law over this store.
    fn collect_law_problems(&self, problems: &mut Vec<ConfigProblem>);
}

/// Parameters with one field for the store, whose law says by itself what is wrong with it.
macro_rules! law_config {
    ($config:ident, $store:ident: $of_store:ty, $law:ty = |$this:ident| $make:expr) => {
        impl $crate::manager::law::LawConfig for $config {
            type Store = $of_store;
            type Law = $law;

            fn store(&self) -> &Self::Store {
                &self.$store
            }

            fn store_mut(&mut self) -> &mut Self::Store {
                &mut self.$store
            }

            fn law(&self) -> Self::Law {
                let $this = self;
                $make
            }

            fn collect_law_problems(&self, problems: &mut alloc::vec::Vec<$crate::config::ConfigProblem>) {
                self.law.collect_problems(problems);
            }
        }
    };
}
pub(crate) use law_config;

impl<C: LawConfig> ManagerKind for C {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(LawQueue::new(self.clone()))
    }

    fn bytes(&self) -> u64 {
        self.store().bytes_with(size_of::<<C::Law as Law>::State>())
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(self.store_mut().limit_mut())
    }

    fn retunes(&self) -> bool {
        true
    }

    fn estimates_delay(&self) -> bool {
        C::Law::ESTIMATES_DELAY
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        self.store().flow_fields()
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.store().collect_problems(problems);
        self.collect_law_problems(problems);
    }
}

/// The store at work.
type Stored<C> = <<C as LawConfig>::Store as StoreConfig>::Lines;

/// Decision states of all lines.
type States<C> = <Stored<C> as Lines>::Each<<<C as LawConfig>::Law as Law>::State>;

/// A store under a law.
#[derive(Clone, Debug)]
pub struct LawQueue<C: LawConfig> {
    law: C::Law,
    lines: Stored<C>,
    states: States<C>,
    period: Option<Period>,
    config: PhantomData<C>,
}

impl<C: LawConfig> LawQueue<C> {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    #[expect(clippy::needless_pass_by_value, reason = "as every manager is made")]
    pub fn new(config: C) -> Self {
        let (lines, law) = (config.store().lines(), config.law());
        Self {
            states: lines.each(law.state(), law.is_shared()),
            lines,
            period: law.update_interval().map(Period::new),
            law,
            config: PhantomData,
        }
    }

    /// The decision state of a line, for records and tests.
    ///
    /// # Panics
    /// If there is no such line.
    pub fn state(&self, line: usize) -> &<C::Law as Law>::State {
        &self.states.as_ref()[line]
    }

    /// The same, to set it.
    #[cfg(test)]
    pub(crate) fn state_mut(&mut self, line: usize) -> &mut <C::Law as Law>::State {
        &mut self.states.as_mut()[line]
    }

    /// The packets.
    #[cfg(test)]
    pub(crate) fn packets(&self) -> &impl Waiting {
        self.lines.packets()
    }

    /// The state that a line is governed by, and how many bytes that is for.
    #[inline]
    fn governed(&self, line: usize) -> (usize, u64) {
        let is_shared = self.law.is_shared();
        (if is_shared { 0 } else { line }, self.lines.packets().bytes_for(line, is_shared))
    }

    /// One of the lines that ran empty and are not at rest comes a step nearer to it, if packets wait in any.
    #[inline]
    fn decay(&mut self, now: Instant) {
        if let Some(line) = self.lines.decaying()
            && self.lines.packets().backlog().packets > Packets(0)
        {
            let state = &mut self.states.as_mut()[line];
            self.law.on_empty(state, now);
            self.lines.on_decayed(line, self.law.is_at_rest(state, now));
        }
    }
}

impl<C: LawConfig> QueueManager for LawQueue<C> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let line = self.lines.line_of(&meta);
        let (governed, waiting) = self.governed(line);
        let state = &mut self.states.as_mut()[governed];
        let mut packet = self.lines.held(line, Held::new(now, meta, item));
        self.law.on_arrival(state, now);
        if !self.lines.has_room(meta.length) {
            self.law.on_overflow(state, now);
            return refuse(packet, Reason::Overlimit, context);
        }
        if let Some(reason) = self.law.judge_arrival(state, &mut packet, waiting, context) {
            return refuse(packet, reason, context);
        }
        let verdict = self.lines.enqueue(line, packet, context);
        if let Some((payer, packets)) = self.lines.take_payer() {
            self.law.on_paid(&mut self.states.as_mut()[payer], now, packets);
        }
        verdict
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.law.look(context);
        self.decay(now);
        let is_shared = self.law.is_shared();
        let (law, states) = (&mut self.law, self.states.as_mut());
        loop {
            let line = self.lines.ready(|emptied| law.on_retired(&mut states[if is_shared { 0 } else { emptied }]))?;
            let state = &mut states[if is_shared { 0 } else { line }];
            if let Some(packet) = law.take(state, (self.lines.packets_mut(), line), now, context) {
                self.lines.on_sent(line, packet.meta.length);
                return Some(packet);
            }
            if Stored::<C>::IS_SINGLE {
                return None;
            }
            self.lines.on_empty(line);
            if !law.is_at_rest(state, now) {
                self.lines.let_decay(line);
            }
        }
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.lines.head_length()
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let to = to.downcast_ref::<C>();
        to.is_some_and(|to| self.lines.retune(to.store()) && self.law.retune(to.law()))
    }

    fn backlog(&self) -> Backlog {
        self.lines.packets().backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.lines.sub_flow(meta)
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.period.map(Period::next)
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        if !self.period.as_mut().is_some_and(|period| period.is_due(now)) {
            return;
        }
        let states = self.states.as_ref().len();
        if !Stored::<C>::IS_SINGLE {
            context.worked(states as u64);
        }
        for line in 0..states {
            let (governed, waiting) = self.governed(line);
            self.law.on_update(&mut self.states.as_mut()[governed], waiting, context);
        }
    }
}
