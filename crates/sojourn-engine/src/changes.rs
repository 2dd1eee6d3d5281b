//! Changes of a scenario during a run, as commands to the parts of the world that change.

use core::any::Any;
use sojourn_apps::{Application, ApplicationConfig, ApplicationContext, Event, Interest};
use sojourn_base::Instant;
use sojourn_link::LinkConfig;
use sojourn_record::LinkId;
use sojourn_scenario::{DirectedLink, Scenario};
use std::collections::VecDeque;

/// Everything that becomes different at one time.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) commands: Vec<Command>,
}

/// A change.
#[derive(Debug)]
pub(crate) enum Command {
    /// A link goes on with other parameters, in place of the first ones.
    Link(LinkId, LinkConfig, LinkConfig),
    /// The device of a link begins or ends the count of its latency histogram.
    Count(LinkId, bool),
    /// An application goes on with other parameters.
    Application(usize, ApplicationConfig),
    /// An application stands still, or goes on.
    Pause(usize, bool),
}

/// The changes of a scenario whose links have these numbers.
pub(crate) fn due(scenario: &Scenario, links: &[LinkId]) -> VecDeque<Due> {
    let mut before = scenario;
    let changes = scenario.changes.iter();
    let due = changes.map(|change| {
        let (was, is) = (before.topology(), change.then.topology());
        before = &change.then;
        let mut commands = Vec::new();
        for ((was, is), id) in was.links.iter().zip(&is.links).zip(links) {
            let counting =
                |config: &DirectedLink| config.latency_histogram.as_ref().map(|histogram| histogram.counting);
            if let Some(is) = counting(is.config).filter(|_| counting(is.config) != counting(was.config)) {
                commands.push(Command::Count(*id, is));
            }
            let (was, is) = (&was.config.link, &is.config.link);
            if was != is {
                commands.push(Command::Link(*id, was.clone(), is.clone()));
            }
        }
        for (number, (was, is)) in was.traffic.iter().zip(&is.traffic).enumerate() {
            if was.entry.application != is.entry.application {
                let application = is.entry.application.clone();
                commands.push(Command::Application(number, application));
            }
            if was.entry.paused != is.entry.paused {
                commands.push(Command::Pause(number, is.entry.paused));
            }
        }
        let at = Instant::ZERO.saturating_add(change.at);
        Due { at, commands }
    });
    due.collect()
}

/// An application that can be made to stand still: its timers then wait, and are due when it goes on.
#[derive(Debug)]
pub(crate) struct Pausable {
    pub(crate) application: Box<dyn Application>,
    pub(crate) is_paused: bool,
    pub(crate) waiting: Vec<u32>,
}

impl Application for Pausable {
    fn interest(&self) -> Interest {
        self.application.interest()
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.application.pause(now, self.is_paused, context);
        self.application.start(now, context);
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(token) if self.is_paused => self.waiting.push(token),
            event => self.application.on_event(now, event, context),
        }
    }

    fn retune(&mut self, now: Instant, to: &dyn Any, context: &mut dyn ApplicationContext) {
        self.application.retune(now, to, context);
    }

    fn pause(&mut self, now: Instant, is_paused: bool, context: &mut dyn ApplicationContext) {
        self.is_paused = is_paused;
        self.application.pause(now, is_paused, context);
        if !is_paused {
            for token in self.waiting.drain(..) {
                context.arm(now, token);
            }
        }
    }

    fn bytes(&self) -> usize {
        self.application.bytes() + self.waiting.capacity() * size_of::<u32>()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.application.finish(now, context);
    }
}
