//! One input into one manager, and what comes of it.

use super::{Fact, Input, Output};
use crate::{Held, ProactiveGrants, QueueContext, QueueManager, Reason, Score, Shaper, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use sojourn_base::{Bytes, Instant, PacketHandle, ServiceQueue, Span};

/// A manager that is called by inputs.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) manager: Box<dyn QueueManager>,
    /// True if it has several queues, so that its backlog has parts.
    has_service_queues: bool,
}

impl Player {
    pub(super) fn new(manager: Box<dyn QueueManager>, has_service_queues: bool) -> Self {
        Self { manager, has_service_queues }
    }

    /// Returns the time of the next timer.
    pub(super) fn next_timer(&self) -> Option<u64> {
        let next = self.manager.next_timer();
        next.map(Instant::as_ns)
    }

    /// Returns the packets that wait.
    pub(super) fn waiting(&self) -> Output {
        let part = self.has_service_queues.then(|| self.manager.backlog_of(ServiceQueue::LowLatency));
        Output::Waiting(self.manager.backlog(), part)
    }

    /// Calls the manager and records its outputs; `asked` are its questions to `host`, in order.
    pub(super) fn play(
        &mut self,
        input: Input,
        host: &mut dyn QueueContext,
        asked: &RefCell<Vec<Input>>,
        outputs: &mut Vec<Output>,
    ) {
        let at = input.at().unwrap_or_default();
        let now = Instant::from_ns(at);
        let mut call = Call { host, at, asked, outputs, sanctioned: false };
        match input {
            Input::Arrival { item, meta, .. } => {
                let verdict = self.manager.enqueue(now, meta, PacketHandle(item), &mut call);
                let sanctioned = call.sanctioned;
                let queue = match verdict {
                    Verdict::Accepted => None,
                    Verdict::Placed(queue) => Some(queue),
                    Verdict::Dropped(_) => return,
                };
                outputs.push(Output::Kept { item, queue, sanctioned });
            }
            Input::Opportunity { queue, .. } => {
                let sent = match queue {
                    None => self.manager.dequeue(now, &mut call),
                    Some(queue) => self.manager.dequeue_from(now, queue, &mut call),
                };
                outputs.push(Output::Sent(sent.map(|held| held.item.0)));
            }
            Input::Timer { .. } => {
                self.manager.on_timer(now, &mut call);
                outputs.push(Output::NextTimer(self.next_timer()));
            }
            Input::Told { .. } | Input::Draw(_) => {}
        }
    }
}

/// The context of one call: passes everything on, and writes it down.
struct Call<'a> {
    host: &'a mut dyn QueueContext,
    at: u64,
    asked: &'a RefCell<Vec<Input>>,
    outputs: &'a mut Vec<Output>,
    sanctioned: bool,
}

impl Call<'_> {
    fn ask(&self, fact: Fact, value: u64) {
        let at = self.at;
        let told = Input::Told { at, fact, value };
        self.asked.borrow_mut().push(told);
    }
}

impl QueueContext for Call<'_> {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        let item = packet.item.0;
        self.outputs.push(Output::Dropped { item, reason });
        self.host.dropped(packet, reason);
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        let item = packet.item.0;
        self.outputs.push(Output::Marked { item, reason });
        self.host.marked(packet, reason);
    }

    fn unit(&mut self) -> f64 {
        let unit = self.host.unit();
        self.asked.borrow_mut().push(Input::Draw(unit));
        unit
    }

    fn shaper(&self) -> Shaper {
        let shaper = self.host.shaper();
        self.ask(Fact::Tokens, shaper.tokens.0);
        self.ask(Fact::Sustained, shaper.sustained.as_bps());
        self.ask(Fact::Peak, shaper.peak.as_bps());
        shaper
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        let staged = self.host.staged(queue);
        self.ask(Fact::Staged(queue), staged.0);
        staged
    }

    fn loop_delay(&self) -> Span {
        let delay = self.host.loop_delay();
        self.ask(Fact::Loop, delay.as_ns());
        delay
    }

    fn loop_delay_of(&self, queue: ServiceQueue) -> Span {
        let delay = self.host.loop_delay_of(queue);
        self.ask(Fact::LoopOf(queue), delay.as_ns());
        delay
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> sojourn_base::BitRate {
        let rate = self.host.service_flow_rate(queue);
        self.ask(Fact::RateOf(queue), rate.as_bps());
        rate
    }

    fn proactive_grants(&self) -> ProactiveGrants {
        let grants = self.host.proactive_grants();
        self.ask(Fact::GrantRate, grants.rate.as_bps());
        self.ask(Fact::GrantInterval, grants.interval.as_ns());
        grants
    }

    fn scored(&mut self, packet: &Held, score: &Score) {
        self.sanctioned |= score.sanctioned;
        self.host.scored(packet, score);
    }

    fn estimated(&mut self, packet: &Held, delay: Span) {
        self.host.estimated(packet, delay);
    }

    fn worked(&mut self, units: u64) {
        self.host.worked(units);
    }
}

/// Answers of the surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts([u64; Fact::ALL.len()]);

impl Facts {
    pub(super) fn get(&self, fact: Fact) -> u64 {
        self.0[fact.place()]
    }

    /// Sets an answer; returns true if it changed.
    pub(super) fn set(&mut self, fact: Fact, value: u64) -> bool {
        core::mem::replace(&mut self.0[fact.place()], value) != value
    }
}
