//! A group at work: MAPs and grants of all modems, in the order of time.
//!
//! At one instant timers of queue managers come first, then the MAP that is heard, opportunities, grants to be filled, and
//! last packets that arrive.
//!
//! | module | content |
//! |---|---|
//! | `requests` | modems ask |
//! | `maps` | the CMTS makes MAPs, and modems hear them |
//! | `bursts` | grants are filled |
//!
//! Source: docs/models/service-group.md.
//! Deviations: packets of one home are announced in the order of their arrival, those of several homes as their grants are
//! filled: each home has a line of its own.

mod bursts;
mod maps;
#[cfg(test)]
mod one_home;
#[cfg(test)]
mod oracle;
mod requests;
#[cfg(test)]
mod saturation;
#[cfg(test)]
mod sharing;

use super::channels::Form;
use super::config::{Contending, GroupConfig, MemberConfig, Placement, RequestConfig};
use super::layout::{Layout, Provision};
use super::members::{Members, Shared};
use super::modem::Modem;
use super::scheduler::{Scheduler, Segment};
use super::timers::Timers;
use crate::Link;
use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::{ChannelCounters, Instant, Meta, ModemCounters, PacketHandle};
use sojourn_queue::{ProactiveGrants, QueueManager};

/// Use of an opportunity by a service flow, in order of time, channel, number and home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    at: Instant,
    channel: usize,
    opportunity: u32,
    port: usize,
    flow: usize,
}

/// A request on its way to the CMTS.
#[derive(Clone, Copy, Debug)]
struct Request {
    received_at: Instant,
    port: usize,
    flow: usize,
    bytes: u64,
    first: Instant,
    sent: Instant,
}

/// A grant that is known and not filled.
#[derive(Clone, Copy, Debug)]
struct Fill {
    at: Instant,
    map: u64,
    opportunities: u32,
    segment: Segment,
}

/// See the module.
#[derive(Debug)]
pub struct Group {
    form: Form,
    layout: Layout,
    requests: RequestConfig,
    placement: Placement,
    modems: Vec<Modem>,
    homes: Vec<Provision>,
    scheduler: Scheduler,
    /// The next MAP to be heard, and the opportunities of each channel in those before it, the oldest first.
    next_map: u64,
    known: VecDeque<u32>,
    uses: VecDeque<Use>,
    inbox: VecDeque<Request>,
    /// Modems that wait to hear whether a request was heard, with the MAP that tells.
    sent: VecDeque<(u64, usize, usize)>,
    /// Flows whose opportunity no MAP has announced yet.
    undecided: Vec<(usize, usize)>,
    fills: VecDeque<Fill>,
    /// Times of the next grants without request of low-latency flows that hold packets.
    unasked: BinaryHeap<Reverse<(Instant, usize)>>,
    is_unasked: Vec<bool>,
    /// Of managers whose queues are not empty.
    timers: Timers,
    segments: Vec<Segment>,
    free: Vec<u64>,
    counters: ChannelCounters,
    /// MAPs that are counted.
    counted: u64,
}

impl Group {
    /// Idle modems, in the order of their ports.
    ///
    /// # Panics
    /// If [`GroupConfig::problems`] would list something.
    pub fn new(config: &GroupConfig, homes: Vec<(MemberConfig, Box<dyn QueueManager>)>) -> Self {
        let (members, managers): (Vec<_>, Vec<_>) = homes.into_iter().unzip();
        let (layout, homes) = Layout::new(config, &members);
        let modems = managers.into_iter().zip(&members).zip(&homes);
        let modems = modems.map(|((manager, member), home)| {
            let guarantee = member.proactive.guarantee();
            let grants = home.unasked.zip(guarantee).map(|(unasked, guarantee)| {
                let frame = layout.grid.channels[home.first].frame;
                ProactiveGrants { rate: guarantee.rate, interval: frame * unasked.grants.period }
            });
            let times = (layout.grid.loop_delay, grants.unwrap_or_default());
            Modem::new(manager, member, config.requests.unit, times)
        });
        Self {
            modems: modems.collect(),
            scheduler: Scheduler::new(config, &members, &layout.grid),
            is_unasked: alloc::vec![false; homes.len()],
            timers: Timers::new(homes.len()),
            homes,
            form: config.form,
            layout,
            requests: RequestConfig {
                contention: match config.form {
                    Form::Pon => Contending::Ideal, // reports are never lost
                    Form::Docsis30 | Form::Docsis31 => config.requests.contention,
                },
                ..config.requests
            },
            placement: config.scheduler.placement,
            next_map: 0,
            known: VecDeque::new(),
            uses: VecDeque::new(),
            inbox: VecDeque::new(),
            sent: VecDeque::new(),
            undecided: Vec::new(),
            fills: VecDeque::new(),
            unasked: BinaryHeap::new(),
            segments: Vec::new(),
            free: Vec::new(),
            counters: ChannelCounters::default(),
            counted: 0,
        }
    }

    /// The modem at `port`, as a link.
    pub fn member(&self, port: usize) -> &dyn Link {
        &self.modems[port]
    }

    /// Returns the counters of the modem at `port`.
    pub fn member_counters(&self, port: usize) -> ModemCounters {
        self.modems[port].counters
    }

    fn next_use(&self) -> Instant {
        self.uses.front().map_or(Instant::NEVER, |first| first.at)
    }

    fn next_fill(&self) -> Instant {
        self.fills.front().map_or(Instant::NEVER, |first| first.at)
    }

    fn next_unasked(&self) -> Instant {
        let first = self.unasked.peek();
        first.map_or(Instant::NEVER, |first| first.0.0)
    }

    /// A packet reaches the modem at `port`.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        port: usize,
        meta: Meta,
        item: PacketHandle,
        members: &mut impl Members,
    ) {
        self.on_wakeup(now, members);
        self.skip_idle(now);
        let (modem, scheduler) = (&mut self.modems[port], &self.scheduler);
        let mut placed = None;
        members.at(port, &mut |context| {
            modem.run_timers(now, scheduler, port, context);
            placed = modem.enqueue(now, (meta, item), scheduler, port, context);
        });
        modem.note(now, 0);
        self.follow_timer(port);
        if let Some(flow) = placed {
            self.expect_unasked(now, port);
            members.at(port, &mut |context| self.enter(now, (port, flow), context));
        }
    }

    fn follow_timer(&mut self, port: usize) {
        let modem = &self.modems[port];
        if modem.has_packets() {
            self.timers.follow(port, modem.timer);
        }
    }

    fn run_timers(&mut self, now: Instant, members: &mut impl Members) {
        while let Some(port) = self.timers.take(now) {
            let (modem, scheduler) = (&mut self.modems[port], &self.scheduler);
            if modem.has_packets() {
                members.at(port, &mut |context| {
                    modem.run_timers(now, scheduler, port, context);
                });
                self.follow_timer(port);
            }
        }
    }
}

impl Shared for Group {
    fn next_wakeup(&self) -> Instant {
        let map = if self.is_idle() { Instant::NEVER } else { self.layout.grid.heard_at(self.next_map) };
        let fill = self.next_fill().min(self.next_unasked());
        let timer = self.timers.next();
        timer.min(map).min(self.next_use()).min(fill)
    }

    fn on_due(&mut self, now: Instant, members: &mut impl Members) {
        self.run_timers(now, members);
        if !self.is_idle() && self.layout.grid.heard_at(self.next_map) <= now {
            self.on_map(now, members);
        }
        if self.next_use() <= now {
            self.on_opportunities(now);
        }
        while self.next_fill() <= now {
            self.on_fill(now, members);
        }
        while self.next_unasked() <= now {
            self.on_unasked(now, members);
        }
    }
}

#[cfg(test)]
mod tests;
