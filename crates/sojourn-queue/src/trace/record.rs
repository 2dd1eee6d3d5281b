//! A manager that is called by hand, and the trace of it.

use super::play::{Facts, Player};
use super::{BACKLOG_EVERY, Header, Input, Output, Record, Trace};
use crate::{ManagerConfig, QueueContext};
use alloc::vec::Vec;
use core::cell::RefCell;
use sojourn_base::BitRate;

/// Calls a manager and records its questions and outputs. Times are in whole nanoseconds.
#[derive(Debug)]
pub struct Recorder {
    player: Player,
    trace: Trace,
    facts: Facts,
    calls: u64,
    asked: RefCell<Vec<Input>>,
    outputs: Vec<Output>,
}

impl Recorder {
    /// A manager of these parameters, empty, on a link of `rate` if there is one.
    ///
    /// # Panics
    /// If a limit is a time and there is no rate.
    pub fn new(config: &ManagerConfig, rate: Option<BitRate>) -> Self {
        let config = match rate {
            Some(rate) => config.clone().at(rate),
            None => config.clone(),
        };
        let player = Player::new(config.build(), config.has_service_queues());
        let first = Output::NextTimer(player.next_timer());
        Self {
            trace: Trace {
                header: Header { manager: config.to_line(), rate, ..Header::default() },
                records: [Record::Output(first)].into(),
                ..Trace::default()
            },
            player,
            facts: Facts::default(),
            calls: 0,
            asked: RefCell::default(),
            outputs: Vec::new(),
        }
    }

    /// Returns the time of the manager's next timer, in ns.
    pub fn next_timer(&self) -> Option<u64> {
        self.player.next_timer()
    }

    /// Calls the manager; returns the number of the packet that it sends, if it is asked for one and has one. The
    /// manager's questions to `host` are recorded before the call, so neither [`Input::Told`] nor [`Input::Draw`] need
    /// be given.
    pub fn call(&mut self, input: Input, host: &mut dyn QueueContext) -> Option<u64> {
        self.player.play(input, host, &self.asked, &mut self.outputs);
        for asked in self.asked.get_mut().drain(..) {
            let is_new = match asked {
                Input::Told { fact, value, .. } => self.facts.set(fact, value),
                _ => true,
            };
            if is_new {
                self.trace.header.draws |= matches!(asked, Input::Draw(_));
                self.trace.records.push(Record::Input(asked));
            }
        }
        self.trace.records.push(Record::Input(input));
        let sent = match self.outputs.last() {
            Some(Output::Sent(sent)) => *sent,
            _ => None,
        };
        let outputs = self.outputs.drain(..).map(Record::Output);
        self.trace.records.extend(outputs);
        self.calls += 1;
        if self.calls.is_multiple_of(BACKLOG_EVERY) {
            self.tell_backlog();
        }
        sent
    }

    fn tell_backlog(&mut self) {
        let waiting = self.player.waiting();
        self.trace.records.push(Record::Output(waiting));
    }

    /// The trace so far.
    pub fn finish(mut self) -> Trace {
        if !self.calls.is_multiple_of(BACKLOG_EVERY) {
            self.tell_backlog();
        }
        self.trace
    }
}
