//! The loop that moves packets: out of the ports into the model, and out of the model when they are due.
//!
//! One pass: everything that is due happens in the model and is written; then at most [`READ_AT_MOST`] units are read from
//! each port, each stamped with the time after its read; then the loop waits for what is due next, or for the first byte.
//!
//! Nothing is written before it is due. Events keep their planned times, even if the loop handles them late, so the
//! rate over any long time is exact and lateness does not add up. If two readings of the clock are more than [`STALL`]
//! apart, the program was stopped or starved: model time stands still meanwhile, and packets keep their spacing.

mod finished;
mod intake;
mod model_time;

use crate::capture::{Captures, Side};
use crate::clock::Clock;
use crate::emulated::{Counted, Due};
use crate::plan::{Plan, Refusal};
use crate::port::{Ends, Port, PortCounters};
use crate::segment::join::{Group, Joiner};
use crate::snapshot::{DirectionView, Snapshot};
use intake::Intake;
use model_time::ModelTime;
use sojourn_base::{BitRate, Direction, Instant, LinkId, PerDirection, Span};
use std::fmt;
use std::io::{self, IoSlice};

pub use finished::Finished;
pub use model_time::STALL;

/// Most units that are read from a port in one pass, so that deliveries do not wait behind a flood of arrivals
/// (specification of the emulator, section 5).
pub const READ_AT_MOST: usize = 64;

/// Above this sum of both rates, segments that are due together are written together from the start (specification of the
/// emulator, section 6.3).
const JOINED_ABOVE: BitRate = BitRate::from_mbps(300);

/// Least time between two passes while writes are joined (specification, section 6.3).
const JOINED_EVERY: Span = Span::from_us(50);

/// Share of a core that the loop may need, and for how many seconds it may need more (specification, section 8): the kernel
/// takes real-time threads off their core at 95 %, for 50 ms.
const MOST_BUSY: f64 = 0.8;
/// See [`MOST_BUSY`].
const BUSY_SECONDS: u32 = 2;

/// Time between two snapshots, and so the longest wait: a longer one would look like a stall.
pub const LOOK_EVERY: Span = Span::from_ms(50);

/// The run ends if more writes than this fail in a second (specification of the emulator, section 13).
const MOST_FAILED_WRITES: u64 = 100;

/// Model time at which an emulation ends: days, before the 213 that an [`Instant`] counts are over.
const LONGEST: Span = Span::from_s(200 * 86_400);

/// Why an emulation could not go on.
#[derive(Debug)]
pub struct Failure {
    /// The operation that failed.
    pub doing: &'static str,
    /// The operating system's error.
    pub source: io::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.source)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// An emulation between two ports.
#[derive(Debug)]
pub struct Pump<P> {
    ports: Ends<P>,
    intake: Intake,
    time: ModelTime,
    next_look: Instant,
    next_second: Instant,
    /// Last readings of the counters of ports and processors.
    counted: Ends<PortCounters>,
    busy: Option<Span>,
    stolen: Option<Span>,
    failed_writes: u64,
    /// Joins writes, once they are joined.
    joiner: Option<Joiner>,
    /// False if each packet is written by itself, whatever the rate and the load are.
    may_join: bool,
    /// Seconds in a row in which the loop needed too much of its core.
    busy_seconds: u32,
    gave_priority_up: bool,
    /// Readable sources, by the last wait.
    readable: PerDirection<bool>,
}

impl<P: Port> Pump<P> {
    /// An idle emulation.
    ///
    /// # Errors
    /// The plan cannot be emulated; see [`Plan::check`].
    pub fn new(plan: &Plan, ports: Ends<P>) -> Result<Self, Refusal> {
        Ok(Self {
            ports,
            intake: Intake::new(plan)?,
            time: ModelTime::default(),
            next_look: Instant::ZERO + LOOK_EVERY,
            next_second: Instant::from_s(1),
            counted: Ends::default(),
            busy: None,
            stolen: None,
            failed_writes: 0,
            joiner: (plan.rate() > JOINED_ABOVE).then(|| Joiner::new(plan.link_header)),
            may_join: true,
            busy_seconds: 0,
            gave_priority_up: false,
            readable: PerDirection { upstream: true, downstream: true },
        })
    }

    /// Writes each packet by itself, whatever the rate is: a clock that stands while the loop computes gains nothing by fewer
    /// writes, and the rest between them would make packets late.
    pub fn write_singly(&mut self) {
        (self.joiner, self.may_join) = (None, false);
    }

    /// Keeps captures of what the model sees from now on.
    pub fn capture(&mut self, captures: Captures) {
        self.intake.captures = Some(captures);
    }

    /// Moves packets until the clock says that the emulation shall end. `watch` is called with a snapshot every
    /// [`LOOK_EVERY`], on this thread: it must not wait.
    ///
    /// # Errors
    /// If a device is gone or takes nothing any more, or the operating system cannot wait.
    pub fn run<C: Clock>(&mut self, clock: &mut C, watch: &mut dyn FnMut(&Snapshot)) -> Result<(), Failure> {
        loop {
            let now = self.pass(clock)?;
            if now >= self.next_look {
                self.next_look = now + LOOK_EVERY;
                watch(&self.snapshot());
            }
            if now.saturating_since(Instant::ZERO) > LONGEST {
                return Ok(());
            }
            if self.joiner.is_some() {
                clock.rest(self.time.last_pass.saturating_add(JOINED_EVERY));
            }
            let until = self.intake.path.next_due().min(self.next_look);
            let wake = clock.wait(self.time.of_clock(until)).map_err(|source| Failure { doing: "wait", source })?;
            self.readable = wake.readable;
            if wake.ended {
                return Ok(());
            }
        }
    }

    /// One pass; returns the model time at which it began.
    ///
    /// # Errors
    /// As [`Pump::run`].
    pub fn pass<C: Clock>(&mut self, clock: &mut C) -> Result<Instant, Failure> {
        let now = self.time.begin_pass(clock);
        self.intake.path.advance(now);
        self.write_due(clock)?;
        for direction in Direction::BOTH {
            if !self.readable[direction] {
                continue;
            }
            let (time, intake) = (&mut self.time, &mut self.intake);
            let read = self.ports.source(direction).read_batch(READ_AT_MOST, &mut |offload, unit| {
                let now = time.look(clock);
                time.witness.hidden_losses += intake.take_in(now, direction, offload, unit);
            });
            read.map_err(|source| Failure {
                doing: match direction {
                    Direction::Upstream => "read from the inside",
                    Direction::Downstream => "read from the far end",
                },
                source,
            })?;
        }
        self.write_due(clock)?;
        if now >= self.next_second {
            self.end_second(now, clock);
        }
        Ok(now)
    }

    /// Writes what is due.
    fn write_due(&mut self, clock: &impl Clock) -> Result<(), Failure> {
        while let Some(due) = self.intake.path.context.due.pop_front() {
            self.intake.capture(due.at, Side::Left, due.slot);
            let Some(mut joiner) = self.joiner.take() else {
                let context = &self.intake.path.context;
                let frame = context.frames.get(due.slot);
                let bytes = IoSlice::new(context.frames.bytes(due.slot));
                let (direction, offload) = (frame.direction, frame.offload);
                let now = self.time.on_written(clock, direction, &[due]);
                debug_assert!(due.at <= now, "nothing is written early");
                let written = self.ports.sink(direction).write(offload, &[bytes]);
                self.after_write(direction, &[due], written)?;
                continue;
            };
            let mut done = Ok(());
            while let Some(group) = joiner.offer(&self.intake.path.context.frames, due) {
                done = done.and(self.write_group(clock, &mut joiner, group));
            }
            self.joiner = Some(joiner);
            done?;
        }
        if let Some(mut joiner) = self.joiner.take() {
            let mut done = Ok(());
            while let Some(group) = joiner.next() {
                done = done.and(self.write_group(clock, &mut joiner, group));
            }
            self.joiner = Some(joiner);
            done?;
        }
        let refused = core::mem::take(&mut self.intake.path.context.refused);
        self.time.witness.hidden_losses += refused;
        Ok(())
    }

    /// Writes segments that are due together.
    fn write_group(&mut self, clock: &impl Clock, joiner: &mut Joiner, group: Group) -> Result<(), Failure> {
        let frames = &self.intake.path.context.frames;
        let direction = frames.get(group.members[0].slot).direction;
        self.time.on_written(clock, direction, &group.members);
        let sink = self.ports.sink(direction);
        let written = joiner.write(frames, &group, |offload, parts| sink.write(offload, parts));
        let done = self.after_write(direction, &group.members, written);
        joiner.give_back(group);
        done
    }

    /// A unit of these packets was written, or not.
    fn after_write(&mut self, direction: Direction, members: &[Due], written: io::Result<()>) -> Result<(), Failure> {
        for member in members {
            self.intake.path.context.frames.free(member.slot);
        }
        let Err(source) = written else {
            return Ok(());
        };
        self.time.witness.hidden_losses += members.len() as u64;
        self.failed_writes += 1;
        if self.failed_writes > MOST_FAILED_WRITES {
            return Err(Failure {
                doing: match direction {
                    Direction::Upstream => "write to the far end",
                    Direction::Downstream => "write to the inside",
                },
                source,
            });
        }
        Ok(())
    }

    /// A second of model time is over.
    fn end_second(&mut self, now: Instant, clock: &mut impl Clock) {
        self.count_lost();
        let second = now.saturating_since(self.next_second) + Span::from_s(1);
        let share = |before: &mut Option<Span>, after: Option<Span>| {
            let before = core::mem::replace(before, after);
            Some(after?.saturating_sub(before?).as_secs_f64() / second.as_secs_f64())
        };
        let busy = share(&mut self.busy, clock.busy());
        self.guard(busy, clock);
        let stolen = share(&mut self.stolen, clock.stolen());
        self.time.witness.end_second(now, busy, stolen);
        for direction in Direction::BOTH {
            let counted = &mut self.intake.path.context.counted[direction];
            let delays = &mut counted.delays;
            counted.last_second = (delays.quantile(0.5), delays.quantile(0.99));
            delays.clear();
        }
        self.failed_writes = 0;
        self.next_second = now + Span::from_s(1);
    }

    /// A loop that needs too much of its core joins writes; one that still does gives up its priority.
    fn guard(&mut self, busy: Option<f64>, clock: &mut impl Clock) {
        if !self.may_join || busy.is_none_or(|busy| busy <= MOST_BUSY) {
            self.busy_seconds = 0;
            return;
        }
        self.busy_seconds += 1;
        if self.busy_seconds < BUSY_SECONDS {
            return;
        }
        self.busy_seconds = 0;
        if self.joiner.is_none() {
            self.joiner = Some(Joiner::new(self.intake.link_header));
        } else if !self.gave_priority_up {
            self.gave_priority_up = true;
            clock.give_priority_up();
        }
    }

    /// Reads the devices' counts of dropped packets.
    fn count_lost(&mut self) {
        for direction in Direction::BOTH {
            let now = self.ports.source(direction).counters();
            let before = core::mem::replace(self.counted.source(direction), now);
            let tagged = now.tagged.saturating_sub(before.tagged);
            self.time.witness.hidden_losses += now.lost.saturating_sub(before.lost) + tagged;
            self.time.witness.tagged += tagged;
        }
    }

    /// Returns the present state.
    pub fn snapshot(&self) -> Snapshot {
        let witness = &self.time.witness;
        let last = witness.seconds.last().copied().unwrap_or_default();
        let origin = self.time.origin.unwrap_or(self.time.last);
        let view = |direction: Direction| {
            let link = self.intake.path.network.link(LinkId(direction as u16));
            let counted: &Counted = &self.intake.path.context.counted[direction];
            DirectionView {
                entered: counted.entered,
                delivered: counted.delivered,
                dropped: counted.dropped,
                marked: counted.marked,
                backlog: (link.backlog().packets, link.backlog().bytes),
                staged: link.staged().packets,
                delay: counted.delay,
                delay_p50: counted.last_second.0,
                delay_p99: counted.last_second.1,
                lateness: last.lateness[direction],
            }
        };
        Snapshot {
            at: Instant::ZERO + self.time.last.saturating_since(origin),
            directions: PerDirection { upstream: view(Direction::Upstream), downstream: view(Direction::Downstream) },
            hidden_losses: witness.hidden_losses,
            stalls: u32::try_from(witness.stalls.len()).unwrap_or(u32::MAX),
            longest_gap: last.longest_gap,
            joins: self.joiner.is_some(),
            busy: witness.seconds.last().and_then(|second| second.busy),
        }
    }
}

#[cfg(test)]
mod tests;
