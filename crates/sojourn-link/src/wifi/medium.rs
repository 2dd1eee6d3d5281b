//! The medium that all devices of a channel share: who transmits next, and what becomes of it.
//!
//! A contender is the queue of one access category in one device. It counts its backoff down while its device hears
//! nothing, and transmits when the count ends: the time of that follows from the count, so nothing happens slot by slot.
//! Those whose counts end at one time collide. A device that is out of a sender's reach goes on counting until it hears the
//! answer. A receiver that hears both stays with the frame that began first: the later one is lost, and of the first one the
//! part that both were on the air.
//!
//! Source: IEEE 802.11-2020, 10.22.2 (EDCA) and 10.3.2.3.7 (EIFS); docs/models/wifi.md.
//! Deviations: a collision is heard as long as its longest frame; its senders wait for the answer as long as EIFS is longer than
//! DIFS, so that all begin to count again at one time; propagation takes no time; nothing is received beside something
//! stronger (no capture).

use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// Number of a contender.
pub type Contender = usize;

/// Number of a device.
pub type Device = usize;

/// Parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// Idle time before its backoff counts: SIFS and AIFSN slots.
    pub aifs: Span,
    /// The first contention window, in slots: the backoff is at most this.
    pub first_window: u32,
    /// The longest contention window.
    pub longest_window: u32,
    /// How long it may go on without contending again; zero for one exchange.
    pub opportunity: Span,
}

/// Times that all devices share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A slot of the backoff.
    pub slot: Span,
    /// Between the frames of an exchange.
    pub sifs: Span,
    /// Idle time beyond AIFS after a frame that could not be decoded: EIFS less DIFS.
    pub recovery: Span,
    /// Tries until the contention window is the first one again; 0 for no limit.
    pub tries: u32,
    /// EDCA (10.22.2.4): the slot in which another begins counts, too. DCF (10.3.4.3) counts idle slots only.
    pub counts_busy: bool,
}

/// One exchange: a frame, or RTS with what follows, and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// From its start until the receiver answers, less SIFS: the data, or the RTS before it.
    pub first: Span,
    /// The rest of the exchange.
    pub rest: Span,
    /// The device that answers.
    pub receiver: Device,
    /// True if the receiver can decode something of the data where nothing else is on the air.
    pub answered: bool,
}

/// End of an exchange, for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered.
    Answered,
    /// Noise left nothing of it.
    Unanswered,
    /// Another frame was on the air.
    Collided,
    /// Another category of the same device was first: nothing was sent.
    Internal,
}

/// The surroundings of the medium.
pub trait Air {
    /// Returns a uniform draw of 0 to `window` slots.
    fn backoff(&mut self, contender: Contender, window: u32) -> u32;

    /// The contender transmits at `now`; `left` is what remains of its opportunity if it has one already. `None` if it has
    /// nothing that fits.
    fn frame(&mut self, now: Instant, contender: Contender, left: Option<Span>) -> Option<Frame>;

    /// Another frame was on the air at its receiver, too, `from` a time after its own began. Returns true if the receiver can
    /// decode something of it still.
    fn overlapped(&mut self, contender: Contender, from: Instant, until: Instant) -> bool;

    /// Its exchange has ended, the `tries`-th since the last one that was answered. Returns true if it has more to send.
    fn ended(&mut self, now: Instant, contender: Contender, outcome: Outcome, tries: u32) -> bool;
}

#[derive(Clone, Copy, Debug)]
struct State {
    device: Device,
    category: Category,
    window: u32,
    /// Slots to count from `counts_from` on.
    backoff: u32,
    tries: u32,
    counts_from: Instant,
    wants: bool,
    is_sending: bool,
    /// Among those that have wanted to send; `None` before it has.
    place: Option<usize>,
}

impl State {
    /// Returns when it transmits if nothing else does; [`Instant::NEVER`] if it does not want to.
    fn starts_at(&self, slot: Span) -> Instant {
        if self.wants && !self.is_sending { self.counts_from + slot * u64::from(self.backoff) } else { Instant::NEVER }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The frame that others may spoil.
    First,
    /// Spoiled: its sender waits for the answer.
    Spoiled,
    /// The rest.
    Rest,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    contender: Contender,
    frame: Frame,
    phase: Phase,
    is_spoiled: bool,
    /// From when to when a later frame was on the air, too.
    overlap: Option<(Instant, Instant)>,
    /// End of the phase.
    until: Instant,
    /// End of the opportunity.
    opportunity_ends: Instant,
}

/// Use of the medium since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumCounters {
    /// Exchanges that began.
    pub exchanges: u64,
    /// Those that met another frame.
    pub collided: u64,
    /// Time in which something was on the air or in an exchange.
    pub busy: Span,
}

/// See the module.
#[derive(Debug)]
pub struct Medium {
    timing: Timing,
    contenders: Vec<State>,
    /// Contenders that have wanted to send; others have no backoff to count.
    active: Vec<Contender>,
    /// Times at which these transmit if nothing else does.
    starts: Vec<Instant>,
    /// Times from which each device has heard nothing for long enough, but for AIFS; of all devices together if all hear all.
    free_at: Vec<Instant>,
    /// Time of the next call.
    due: Instant,
    exchanges: Vec<Exchange>,
    /// For each device those that it does not hear; empty if all hear all.
    deaf_to: Vec<Vec<Device>>,
    /// Until when something was on the air, for the count.
    busy_until: Instant,
    counters: MediumCounters,
    starting: Vec<Contender>,
}

impl Medium {
    /// An idle medium with these contenders: each its device and category. Those of one device come in a row, the most
    /// urgent one first. `hidden` are pairs of devices that do not hear each other.
    pub fn new(timing: Timing, contenders: &[(Device, Category)], hidden: &[(Device, Device)]) -> Self {
        let devices = contenders.iter().map(|(device, _)| device + 1).max().unwrap_or(0);
        let mut deaf_to = if hidden.is_empty() { Vec::new() } else { vec![Vec::new(); devices] };
        for &(one, other) in hidden {
            deaf_to[one].push(other);
            deaf_to[other].push(one);
        }
        let contenders = contenders.iter().map(|&(device, category)| State {
            device,
            category,
            window: category.first_window,
            backoff: 0,
            tries: 0,
            counts_from: Instant::ZERO + category.aifs,
            wants: false,
            is_sending: false,
            place: None,
        });
        let apart = if hidden.is_empty() { 1 } else { devices };
        Self {
            timing,
            contenders: contenders.collect(),
            active: Vec::new(),
            starts: Vec::new(),
            free_at: vec![Instant::ZERO; apart],
            due: Instant::NEVER,
            exchanges: Vec::new(),
            deaf_to,
            busy_until: Instant::ZERO,
            counters: MediumCounters::default(),
            starting: Vec::new(),
        }
    }

    fn hears(&self, device: Device, sender: Device) -> bool {
        self.deaf_to.get(device).is_none_or(|deaf| !deaf.contains(&sender))
    }

    /// Returns its use by now.
    pub const fn counters(&self) -> MediumCounters {
        self.counters
    }

    /// Returns the time of the next call; [`Instant::NEVER`] if nothing is pending.
    pub const fn next(&self) -> Instant {
        self.due
    }

    fn find_due(&self) -> Instant {
        let first_end = self.exchanges.iter().map(|exchange| exchange.until).fold(Instant::NEVER, Instant::min);
        self.starts.iter().copied().fold(first_end, Instant::min)
    }

    /// Writes down when a contender transmits, after a change of its state.
    fn write_down(&mut self, contender: Contender) {
        let state = &self.contenders[contender];
        if let Some(place) = state.place {
            self.starts[place] = state.starts_at(self.timing.slot);
        }
    }

    /// The contender has something to send from `now` on.
    pub fn want(&mut self, now: Instant, contender: Contender, air: &mut impl Air) {
        let slot = self.timing.slot;
        let state = &mut self.contenders[contender];
        if state.wants || state.is_sending {
            return;
        }
        state.wants = true;
        if state.place.is_none() {
            let place = self.active.partition_point(|other| *other < contender);
            self.active.insert(place, contender);
            self.starts.insert(place, Instant::NEVER);
            for (place, number) in self.active.iter().enumerate().skip(place) {
                self.contenders[*number].place = Some(place);
            }
            let state = &mut self.contenders[contender];
            let device = if self.deaf_to.is_empty() { 0 } else { state.device };
            state.counts_from = state.counts_from.max(self.free_at[device] + state.category.aifs);
        }
        let state = &mut self.contenders[contender];
        if now + state.category.aifs < state.counts_from {
            // 10.22.2.2: the medium is busy.
            if state.backoff == 0 {
                state.backoff = air.backoff(contender, state.window);
            }
        } else if now > state.counts_from && slots(now.saturating_since(state.counts_from), slot) >= state.backoff {
            (state.backoff, state.counts_from) = (0, now);
        }
        self.due = self.due.min(state.starts_at(slot));
        self.write_down(contender);
    }

    /// Everything that is due by `now`.
    pub fn advance(&mut self, now: Instant, air: &mut impl Air) {
        loop {
            let at = self.due;
            if at > now || at == Instant::NEVER {
                return;
            }
            if let Some(number) = self.exchanges.iter().position(|exchange| exchange.until == at) {
                self.go_on(at, number, air);
            } else {
                self.start(at, air);
            }
            self.due = self.find_due();
        }
    }

    /// Backoffs end at `now`.
    fn start(&mut self, now: Instant, air: &mut impl Air) {
        let mut starting = core::mem::take(&mut self.starting);
        let due = self.active.iter().zip(&self.starts).filter(|(_, starts_at)| **starts_at == now);
        starting.extend(due.map(|(number, _)| *number));
        let mut last = None;
        let first_new = self.exchanges.len();
        for contender in starting.drain(..) {
            let device = self.contenders[contender].device;
            if last == Some(device) {
                // 10.22.2.4: as a collision on the air.
                self.after(now, contender, Outcome::Internal, air);
                continue;
            }
            if let Some(frame) = air.frame(now, contender, None) {
                last = Some(device);
                let opportunity_ends = now + self.contenders[contender].category.opportunity;
                self.begin((now, now), contender, frame, opportunity_ends);
            } else {
                self.contenders[contender].wants = false;
                self.write_down(contender);
            }
        }
        self.starting = starting;
        // Overlaps are found before any of the new ones is heard.
        for new in first_new..self.exchanges.len() {
            let (before, rest) = self.exchanges.split_at(new);
            let (sender, receiver) = (self.contenders[rest[0].contender].device, rest[0].frame.receiver);
            let mut met = Vec::new();
            let mut is_spoiled = false;
            for (number, other) in before.iter().enumerate() {
                let (its_sender, its_receiver) = (self.contenders[other.contender].device, other.frame.receiver);
                if other.phase == Phase::First && (its_receiver == sender || self.hears(its_receiver, sender)) {
                    met.push((number, number < first_new && its_receiver != sender));
                }
                is_spoiled |= other.phase != Phase::Spoiled
                    && (receiver == its_sender || receiver == its_receiver || self.hears(receiver, its_sender));
            }
            let frame = rest[0].frame;
            let until = now + frame.first + if is_spoiled { Span::ZERO } else { frame.rest };
            self.exchanges[new].is_spoiled |= is_spoiled;
            for (number, began_first) in met {
                let other = &mut self.exchanges[number];
                if began_first {
                    let (from, before) = other.overlap.unwrap_or((now, now));
                    other.overlap = Some((from, until.max(before)));
                } else {
                    other.is_spoiled = true;
                }
            }
        }
        for new in first_new..self.exchanges.len() {
            let exchange = self.exchanges[new];
            let sender = self.contenders[exchange.contender].device;
            self.freeze(now, exchange.until, Span::ZERO, |medium, device| {
                device == sender || medium.hears(device, sender)
            });
        }
    }

    /// An exchange is under way from `from` on, within what its contender has since `now`.
    fn begin(
        &mut self,
        (now, from): (Instant, Instant),
        contender: Contender,
        frame: Frame,
        opportunity_ends: Instant,
    ) {
        self.contenders[contender].is_sending = true;
        self.write_down(contender);
        self.counters.exchanges += 1;
        let until = from + frame.first;
        self.count_busy(now, until);
        self.exchanges.push(Exchange {
            contender,
            frame,
            phase: Phase::First,
            is_spoiled: false,
            overlap: None,
            until,
            opportunity_ends,
        });
    }

    fn count_busy(&mut self, from: Instant, until: Instant) {
        self.counters.busy += until.saturating_since(from.max(self.busy_until));
        self.busy_until = self.busy_until.max(until);
    }

    /// Devices that hear something from `now` to `until` stop counting, and go on AIFS and `longer` after it.
    fn freeze(&mut self, now: Instant, until: Instant, longer: Span, hears: impl Fn(&Self, Device) -> bool) {
        let all_hear = self.deaf_to.is_empty();
        for device in 0..self.free_at.len() {
            if all_hear || hears(self, device) {
                self.free_at[device] = self.free_at[device].max(until + longer);
            }
        }
        let Timing { slot, counts_busy, .. } = self.timing;
        // Most have counted since the same time.
        let (mut since, mut counted) = (Instant::NEVER, 0);
        for place in 0..self.active.len() {
            let number = self.active[place];
            if !all_hear && !hears(self, self.contenders[number].device) {
                continue;
            }
            let state = &mut self.contenders[number];
            if now >= state.counts_from && !state.is_sending {
                if state.counts_from != since {
                    since = state.counts_from;
                    counted = slots(now.saturating_since(since), slot) + u32::from(counts_busy);
                }
                state.backoff = state.backoff.saturating_sub(counted);
            }
            state.counts_from = state.counts_from.max(until + state.category.aifs + longer);
            self.starts[place] = state.starts_at(slot);
        }
    }

    /// A phase of an exchange ends.
    fn go_on(&mut self, now: Instant, number: usize, air: &mut impl Air) {
        let mut exchange = self.exchanges[number];
        let contender = exchange.contender;
        let sender = self.contenders[contender].device;
        let receiver = exchange.frame.receiver;
        if exchange.phase == Phase::First
            && let Some((from, until)) = exchange.overlap
            && !exchange.is_spoiled
        {
            exchange.is_spoiled = !air.overlapped(contender, from, until.min(now));
        }
        match exchange.phase {
            Phase::First if exchange.is_spoiled => {
                self.counters.collided += 1;
                let recovery = self.timing.recovery;
                self.freeze(now, now, recovery, |medium, device| device == sender || medium.hears(device, sender));
                (self.exchanges[number].phase, self.exchanges[number].until) = (Phase::Spoiled, now + recovery);
            }
            Phase::First => {
                let until = now + exchange.frame.rest;
                self.count_busy(now, until);
                // The answer tells those who have not heard the question.
                self.freeze(now, until, Span::ZERO, |medium, device| {
                    device == sender || medium.hears(device, sender) || medium.hears(device, receiver)
                });
                (self.exchanges[number].phase, self.exchanges[number].until) = (Phase::Rest, until);
            }
            Phase::Spoiled => {
                self.exchanges.swap_remove(number);
                self.after(now, contender, Outcome::Collided, air);
            }
            Phase::Rest => {
                self.exchanges.swap_remove(number);
                let outcome = if exchange.frame.answered { Outcome::Answered } else { Outcome::Unanswered };
                self.after(now, contender, outcome, air);
                let from = now + self.timing.sifs;
                let left = exchange.opportunity_ends.saturating_since(from);
                if outcome == Outcome::Answered
                    && left > Span::ZERO
                    && self.contenders[contender].wants
                    && let Some(frame) = air.frame(from, contender, Some(left))
                {
                    self.begin((now, from), contender, frame, exchange.opportunity_ends);
                    self.freeze(now, from + frame.first, Span::ZERO, |medium, device| {
                        device == sender || medium.hears(device, sender) || medium.hears(device, receiver)
                    });
                }
            }
        }
    }

    /// A contender's try is over: the next backoff is drawn.
    fn after(&mut self, now: Instant, contender: Contender, outcome: Outcome, air: &mut impl Air) {
        let limit = self.timing.tries;
        let state = &mut self.contenders[contender];
        state.is_sending = false;
        state.tries += 1;
        let tries = state.tries;
        if outcome == Outcome::Answered || state.tries == limit {
            (state.window, state.tries) = (state.category.first_window, 0);
        } else {
            state.window = (2 * state.window + 1).min(state.category.longest_window);
        }
        state.backoff = air.backoff(contender, state.window);
        state.counts_from = state.counts_from.max(now + state.category.aifs);
        state.wants = air.ended(now, contender, outcome, tries);
        self.write_down(contender);
    }
}

/// Whole slots in `span`.
fn slots(span: Span, slot: Span) -> u32 {
    u32::try_from(span.as_ps() / slot.as_ps()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
