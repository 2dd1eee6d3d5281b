//! A trace into a manager, its own or another.

use super::play::{Facts, Player};
use super::{BACKLOG_EVERY, Fact, Input, Output, Record, Trace, TraceProblem};
use crate::{Held, ManagerConfig, ProactiveGrants, QueueContext, QueueManager, Reason, Shaper};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::RefCell;
use sojourn_base::{BitRate, Bytes, ServiceQueue, Span};

/// A manager that a trace is replayed into.
pub struct Replay<'a> {
    /// The manager, empty.
    pub manager: Box<dyn QueueManager>,
    /// True if it has several queues, so that its backlog has parts.
    pub has_service_queues: bool,
    /// It is updated when its own timers are due: lines `t` are passed over, and `n` is not compared.
    pub own_timers: bool,
    /// Its first draw seeds a generator of its own and takes no number of the trace; those come to it by `draw`.
    pub draws_elsewhere: bool,
    /// Numbers of its own, in place of those of the trace.
    pub own_draws: Option<&'a mut dyn FnMut() -> f64>,
    /// Told each number of the trace before the call that takes it, and `None` after that call.
    pub draw: &'a mut dyn FnMut(Option<f64>),
    /// Returns true if it has failed, which ends the replay.
    pub has_failed: &'a dyn Fn() -> bool,
}

impl core::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Replay").field("manager", &self.manager).finish_non_exhaustive()
    }
}

/// Outputs of a manager in a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Each output, with the number of its call; 0 is before the first.
    pub(super) outputs: Vec<(u64, Output)>,
    /// The record of the first call that drew more than the trace has, or that came at a time when no timer was due.
    pub(super) astray: Option<(usize, &'static str)>,
    /// True if timers of the trace were passed over.
    pub(super) own_timers: bool,
    /// Calls of the manager.
    pub calls: u64,
}

/// The surroundings of which the trace tells.
#[derive(Default)]
struct Script<'a> {
    facts: Facts,
    draws: VecDeque<f64>,
    seeds: bool,
    own: Option<&'a mut dyn FnMut() -> f64>,
    overdrawn: bool,
}

impl Script<'_> {
    fn rate(&self, fact: Fact) -> BitRate {
        BitRate::from_bps(self.facts.get(fact))
    }

    fn span(&self, fact: Fact) -> Span {
        Span::from_ns(self.facts.get(fact))
    }
}

impl QueueContext for Script<'_> {
    fn dropped(&mut self, _: Held, _: Reason) {}

    fn marked(&mut self, _: &Held, _: Reason) {}

    fn unit(&mut self) -> f64 {
        /// chosen: what is drawn when there is nothing to draw from; the replay is over then.
        const NOTHING: f64 = 0.5;
        if core::mem::take(&mut self.seeds) {
            return NOTHING;
        }
        if let Some(own) = &mut self.own {
            return own();
        }
        let unit = self.draws.pop_front();
        self.overdrawn |= unit.is_none();
        unit.unwrap_or(NOTHING)
    }

    fn shaper(&self) -> Shaper {
        Shaper {
            tokens: Bytes(self.facts.get(Fact::Tokens)),
            sustained: self.rate(Fact::Sustained),
            peak: self.rate(Fact::Peak),
        }
    }

    fn staged(&self, queue: ServiceQueue) -> Bytes {
        Bytes(self.facts.get(Fact::Staged(queue)))
    }

    fn loop_delay(&self) -> Span {
        self.span(Fact::Loop)
    }

    fn loop_delay_of(&self, queue: ServiceQueue) -> Span {
        self.span(Fact::LoopOf(queue))
    }

    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        self.rate(Fact::RateOf(queue))
    }

    fn proactive_grants(&self) -> ProactiveGrants {
        ProactiveGrants { rate: self.rate(Fact::GrantRate), interval: self.span(Fact::GrantInterval) }
    }
}

impl Trace {
    /// The parameters of the trace's manager.
    ///
    /// # Errors
    /// If its line is none.
    pub fn config(&self) -> Result<ManagerConfig, TraceProblem> {
        let rate = self.header.rate.unwrap_or_default();
        Ok(ManagerConfig::from_line(&self.header.manager, rate)?)
    }

    /// Replays the trace into its own manager.
    ///
    /// # Errors
    /// If its manager line is none.
    pub fn replay(&self) -> Result<Done, TraceProblem> {
        let config = self.config()?;
        Ok(self.replay_into(Replay {
            manager: config.build(),
            has_service_queues: config.has_service_queues(),
            own_timers: false,
            draws_elsewhere: false,
            own_draws: None,
            draw: &mut |_| {},
            has_failed: &|| false,
        }))
    }

    /// Replays the trace into a manager.
    pub fn replay_into(&self, replay: Replay<'_>) -> Done {
        let mut player = Player::new(replay.manager, replay.has_service_queues);
        let mut script = Script { seeds: replay.draws_elsewhere, own: replay.own_draws, ..Script::default() };
        let mut done = Done { own_timers: replay.own_timers, ..Done::default() };
        if !replay.own_timers {
            done.outputs.push((0, Output::NextTimer(player.next_timer())));
        }
        let (asked, mut outputs) = (RefCell::default(), Vec::new());
        // A trace without lines `n` has times of updates that the manager cannot know: those of a kernel's timer.
        let tells_timers = self.records.iter().any(|record| matches!(record, Record::Output(Output::NextTimer(_))));
        for (place, record) in self.records.iter().enumerate() {
            let Record::Input(input) = *record else {
                continue;
            };
            match input {
                Input::Told { fact, value, .. } => {
                    script.facts.set(fact, value);
                    continue;
                }
                Input::Draw(unit) => {
                    script.draws.push_back(unit);
                    (replay.draw)(Some(unit));
                    continue;
                }
                Input::Timer { .. } if replay.own_timers => {}
                Input::Timer { at } if tells_timers && player.next_timer() != Some(at) => {
                    done.astray = Some((place, "no timer of the manager is due"));
                    break;
                }
                _ => {
                    while replay.own_timers
                        && let Some(at) = player.next_timer().filter(|due| input.is_at_or_after(*due))
                    {
                        player.play(Input::Timer { at }, &mut script, &asked, &mut outputs);
                        outputs.retain(|output| !matches!(output, Output::NextTimer(_)));
                    }
                    player.play(input, &mut script, &asked, &mut outputs);
                }
            }
            asked.borrow_mut().clear();
            done.calls += 1;
            let call = done.calls;
            done.outputs.extend(outputs.drain(..).map(|output| (call, output)));
            if done.calls.is_multiple_of(BACKLOG_EVERY) {
                done.outputs.push((done.calls, player.waiting()));
            }
            if script.overdrawn {
                done.astray = Some((place, "the manager draws more numbers than the trace has"));
                break;
            }
            if (replay.has_failed)() {
                break;
            }
            script.draws.clear();
            (replay.draw)(None);
        }
        if !done.calls.is_multiple_of(BACKLOG_EVERY) {
            done.outputs.push((done.calls, player.waiting()));
        }
        done
    }
}
