//! A manager with a line behind it, and a log of its events.

use crate::row::Subject;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Meta, PacketHandle, RandomStream, ServiceQueue, Span};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager, Reason, Shaper, Verdict};

/// Something that a manager did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// This packet came, and waits unless it was refused.
    Offered(u64, bool),
    /// This packet left to be sent, with this ECN field, from this queue.
    Sent(u64, Ecn, ServiceQueue),
    /// This packet was dropped.
    Dropped(u64, Reason),
    /// This packet was marked.
    Marked(u64),
    /// Nothing was there to be sent.
    Nothing,
    /// Packets that wait after a call: of all queues, and of the classic one.
    Waits(Backlog, Backlog),
}

/// Source of draws.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// A named random stream.
    Stream(Box<RandomStream>),
    /// Always this.
    Constant(f64),
}

/// Context of the manager.
pub(crate) struct Host {
    draws: Draws,
    /// Of the line.
    pub(crate) rate: BitRate,
    now: Instant,
    log: Option<Vec<(Instant, Event)>>,
    signals: u64,
}

impl Host {
    /// Surroundings with a line of `rate`, and no log.
    pub(crate) fn new(draws: Draws, rate: BitRate) -> Self {
        Self { draws, rate, now: Instant::ZERO, log: None, signals: 0 }
    }

    fn write(&mut self, event: Event) {
        if let Some(log) = &mut self.log {
            log.push((self.now, event));
        }
    }
}

impl QueueContext for Host {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        self.signals += 1;
        self.write(Event::Dropped(packet.item.0, reason));
    }

    fn marked(&mut self, packet: &Held, _: Reason) {
        self.signals += 1;
        self.write(Event::Marked(packet.item.0));
    }

    fn unit(&mut self) -> f64 {
        match &mut self.draws {
            Draws::Stream(stream) => stream.unit(),
            Draws::Constant(unit) => *unit,
        }
    }

    fn shaper(&self) -> Shaper {
        Shaper::of(self.rate)
    }
}

/// A manager under test. Packets are numbered as they come.
pub(crate) struct Bench<'a> {
    queue: Box<dyn QueueManager>,
    host: Host,
    /// End of the present transmission; `None` while it waits for a packet.
    busy_until: Option<Instant>,
    timer: Option<Instant>,
    /// Calls of `dequeue` on an empty queue beyond the one that finds it so.
    pub(crate) vain_calls: u32,
    /// Time and properties of each arrival.
    pub(crate) arrivals: Vec<(Instant, Meta)>,
    number: u64,
    subject: &'a Subject<'a>,
}

impl<'a> Bench<'a> {
    /// An empty queue, a line of `rate`, and draws.
    pub(crate) fn new(subject: &'a Subject<'a>, rate: BitRate, draws: Draws) -> Self {
        subject.choose(match draws {
            Draws::Constant(unit) => Some(unit),
            Draws::Stream(_) => None,
        });
        let queue = (subject.make)();
        let timer = queue.next_timer();
        Self {
            queue,
            host: Host { log: Some(Vec::new()), ..Host::new(draws, rate) },
            busy_until: None,
            timer,
            vain_calls: 0,
            arrivals: Vec::new(),
            number: 0,
            subject,
        }
    }

    /// The same without a log, for rows about memory.
    pub(crate) fn without_log(mut self) -> Self {
        self.host.log = None;
        self
    }

    /// Returns the events so far.
    pub(crate) fn log(&self) -> &[(Instant, Event)] {
        self.host.log.as_deref().unwrap_or_default()
    }

    /// Drops and marks so far.
    pub(crate) fn signals(&self) -> u64 {
        self.host.signals
    }

    /// Returns the packets that wait.
    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// From now on each draw is this.
    pub(crate) fn draw(&mut self, unit: f64) {
        self.host.draws = Draws::Constant(unit);
        self.subject.choose(Some(unit));
    }

    /// Returns true if the manager has failed, which ends the judgement.
    pub(crate) fn is_over(&self) -> bool {
        (self.subject.has_failed)()
    }

    /// Time goes on; timers run when they are due.
    pub(crate) fn wait(&mut self, until: Instant) {
        while let Some(due) = self.timer.filter(|due| *due <= until) {
            self.host.now = due;
            self.queue.on_timer(due, &mut self.host);
            self.timer = self.queue.next_timer();
        }
        self.host.now = until;
    }

    /// Returns the time of the manager's next timer.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timer
    }

    /// A packet comes now; its number.
    pub(crate) fn offer(&mut self, meta: Meta) -> u64 {
        let (number, now) = (self.number, self.host.now);
        self.number += 1;
        if self.host.log.is_some() {
            self.arrivals.push((now, meta));
        }
        let verdict = self.queue.enqueue(now, meta, PacketHandle(number), &mut self.host);
        let kept = !matches!(verdict, Verdict::Dropped(_));
        self.host.write(Event::Offered(number, kept));
        self.count();
        number
    }

    /// The line asks for a packet now; its number and length.
    pub(crate) fn take(&mut self) -> Option<(u64, u32)> {
        let now = self.host.now;
        let sent = self.queue.dequeue(now, &mut self.host);
        let event = sent.map_or(Event::Nothing, |held| Event::Sent(held.item.0, held.meta.ecn, held.meta.queue));
        self.host.write(event);
        self.count();
        sent.map(|held| (held.item.0, held.meta.length))
    }

    /// Takes what is left, also from one that said that nothing was: then time goes on.
    pub(crate) fn drain(&mut self) {
        const TRIES: u32 = 8;
        /// chosen: longer than any interval of a law.
        const PAUSE: Span = Span::from_ms(200);
        let mut vain = 0;
        while self.backlog().packets.0 > 0 && vain < TRIES && !self.is_over() {
            if self.take().is_none() {
                vain += 1;
                self.wait(self.host.now + PAUSE);
            }
        }
    }

    fn count(&mut self) {
        let of_classic = self.queue.backlog_of(ServiceQueue::Classic);
        let event = Event::Waits(self.queue.backlog(), of_classic);
        self.host.write(event);
    }

    /// The line is free: it takes what waits, or begins to wait.
    fn serve(&mut self) {
        let sent = self.take();
        self.busy_until = sent.map(|(_, length)| self.host.now + time_of(self.host.rate, length));
        if sent.is_none() {
            for _ in 0..self.vain_calls {
                let _ = self.queue.dequeue(self.host.now, &mut self.host);
            }
        }
    }

    /// Packets come at their times, and the line sends until `until`.
    pub(crate) fn drive(&mut self, arrivals: &[(Instant, Meta)], until: Instant) {
        let mut coming = arrivals.iter().copied().peekable();
        loop {
            let arrival = coming.peek().map(|(at, _)| *at);
            let next = match (self.busy_until, arrival) {
                (Some(free), Some(at)) => free.min(at),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => break,
            };
            if next > until || self.is_over() {
                break;
            }
            self.wait(next);
            if self.busy_until == Some(next) {
                self.serve();
            } else if let Some((_, meta)) = coming.next() {
                self.offer(meta);
                if self.busy_until.is_none() {
                    self.serve();
                }
            }
        }
        if until > self.host.now && until < Instant::NEVER {
            self.wait(until);
        }
    }
}

/// How long a packet takes on a line.
pub(crate) fn time_of(rate: BitRate, length: u32) -> Span {
    rate.time_for(Bytes(length.into()))
}

/// A packet of a flow.
pub(crate) fn packet(length: u32, flow: u32, ecn: Ecn) -> Meta {
    Meta { length, flow_hash: flow, ecn, ..Meta::default() }
}
