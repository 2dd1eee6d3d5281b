//! A client, a server, and the path between them, for tests: FIFO service in each direction, a fixed
//! propagation delay, and a judge that may drop, repeat or delay each packet.

use sojourn_base::{Ecn, Instant, Span};
use sojourn_transport::{ConnectionSnapshot, Endpoint, EndpointContext, Event, Segment, SendTimes, StackConfig, Timer};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    fn index(self) -> usize {
        self as usize
    }

    fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Fate of a packet before it reaches the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    /// Two copies reach the far end.
    Repeat,
    /// It arrives so much later, out of order.
    Late(Span),
    /// It is marked.
    Mark,
}

/// Decides the fate of each packet: who sent it, and which it is.
pub(crate) type Judge = Box<dyn FnMut(End, &Segment) -> Fate>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happening {
    Arrival(End, Segment),
    Due(End, Timer),
}

/// One call of the client and its result.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) at: Instant,
    /// Cumulative acknowledgement, if an acknowledgement caused it.
    pub(crate) ack: Option<u32>,
    /// Numbers of the segments that left with a place in the sequence.
    pub(crate) sends: Vec<u32>,
    pub(crate) before: ConnectionSnapshot,
    pub(crate) after: ConnectionSnapshot,
}

/// Requests of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wishes {
    pub(crate) segments: Vec<Segment>,
    /// How long the data of each segment with payload had waited when it was first sent.
    pub(crate) waits: Vec<Span>,
    pub(crate) timers: Vec<(Timer, Instant)>,
    pub(crate) events: Vec<Event>,
}

impl EndpointContext for Wishes {
    fn emit(&mut self, segment: &Segment, times: SendTimes) {
        assert!(times.written_at <= times.first_sent_at);
        assert!(times.first_sent_at <= segment.sent_at);
        if segment.payload > 0 {
            let wait = times.first_sent_at.saturating_since(times.written_at);
            self.waits.push(wait);
        }
        self.segments.push(*segment);
    }

    fn arm(&mut self, timer: Timer, at: Instant) {
        self.timers.push((timer, at));
    }

    fn notify(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// Form of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Service time of a packet with payload; packets without take none.
    pub(crate) service: Span,
    /// Propagation each way.
    pub(crate) propagation: Span,
}

impl Shape {
    /// Test path P1 of the specification: 1 ms of service (12 Mb/s for 1500 B), 50 ms each way.
    pub(crate) const P1: Self = Self { service: Span::from_ms(1), propagation: Span::from_ms(50) };
}

/// The two ends and what is under way.
pub(crate) struct Path {
    pub(crate) now: Instant,
    pub(crate) ends: [Endpoint; 2],
    pub(crate) rows: Vec<Row>,
    /// Arrival time and number of every data segment at the server.
    pub(crate) arrivals: Vec<(Instant, u32)>,
    /// Events of each end with their times.
    pub(crate) events: [Vec<(Instant, Event)>; 2],
    pub(crate) dropped: u64,
    pub(crate) sent: [u64; 2],
    /// Bytes that the client writes when it is connected, and whether both close in the end.
    pub(crate) to_send: u64,
    pub(crate) to_answer: u64,
    /// The server answers once it has this number of bytes; 0: when it is connected.
    pub(crate) answer_after: u64,
    pub(crate) close: bool,
    pub(crate) keep_rows: bool,
    pub(crate) keep_events: bool,
    /// Everything that each call wanted to happen, and the state of the end that was called, if kept.
    pub(crate) trace: Option<Vec<(Instant, Wishes, ConnectionSnapshot)>>,
    /// Places in the queue of each direction, the packet in service included.
    pub(crate) buffer: usize,
    shape: Shape,
    judge: Judge,
    free_at: [Instant; 2],
    /// Departures of each direction's packets with payload from the queue.
    queues: [VecDeque<Instant>; 2],
    deadlines: [[Instant; 3]; 2],
    agenda: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    happenings: Vec<Option<Happening>>,
    vacant: Vec<usize>,
    order: u64,
    pub(crate) wishes: Wishes,
}

impl Path {
    pub(crate) fn new(config: &StackConfig, shape: Shape, judge: Judge) -> Self {
        let shared = (*config).into();
        Self {
            now: Instant::ZERO,
            ends: [Endpoint::client(&shared), Endpoint::server(&shared)],
            rows: Vec::new(),
            arrivals: Vec::new(),
            events: [Vec::new(), Vec::new()],
            dropped: 0,
            sent: [0; 2],
            to_send: 0,
            to_answer: 0,
            answer_after: 0,
            close: false,
            keep_rows: true,
            keep_events: true,
            trace: None,
            buffer: usize::MAX,
            queues: [VecDeque::new(), VecDeque::new()],
            shape,
            judge,
            free_at: [Instant::ZERO; 2],
            deadlines: [[Instant::NEVER; 3]; 2],
            agenda: BinaryHeap::new(),
            happenings: Vec::new(),
            vacant: Vec::new(),
            order: 0,
            wishes: Wishes::default(),
        }
    }

    /// P1 without losses but the given ones: `(number, copy)` of client segments, copies from 1.
    pub(crate) fn with_drops(config: &StackConfig, drops: &'static [(u32, u32)]) -> Self {
        let mut copies = std::collections::BTreeMap::<u32, u32>::new();
        let judge = move |end, segment: &Segment| {
            if end == End::Server || segment.payload == 0 {
                return Fate::Pass;
            }
            let copy = copies.entry(segment.sequence).or_default();
            *copy += 1;
            if drops.contains(&(segment.sequence, *copy)) { Fate::Drop } else { Fate::Pass }
        };
        Self::new(config, Shape::P1, Box::new(judge))
    }

    pub(crate) fn client(&self) -> &Endpoint {
        &self.ends[0]
    }

    pub(crate) fn server(&self) -> &Endpoint {
        &self.ends[1]
    }

    /// Open, let the client write `bytes` when connected, and go on until nothing happens any more
    /// or `limit` is reached.
    pub(crate) fn run(&mut self, bytes: u64, limit: Instant) {
        self.to_send = bytes;
        self.call(End::Client, None, &mut |end, now, context| {
            end.open(now, context);
        });
        self.go_on(limit);
    }

    /// Packets of the client that wait at `now`, without the one in service; 0 with a buffer without limit.
    pub(crate) fn waiting(&self, now: Instant) -> usize {
        self.queues[0].iter().filter(|&&leaves| leaves > now).count().saturating_sub(1)
    }

    /// Let things happen until `limit`; false if nothing is left to happen.
    pub(crate) fn go_on(&mut self, limit: Instant) -> bool {
        while let Some(&Reverse((at, _, slot))) = self.agenda.peek() {
            if at > limit {
                return true;
            }
            self.agenda.pop();
            let happening = self.happenings[slot].take().expect("scheduled once");
            self.vacant.push(slot);
            self.now = at;
            match happening {
                Happening::Arrival(end, segment) => {
                    if self.keep_events && end == End::Server && segment.payload > 0 {
                        self.arrivals.push((at, segment.sequence));
                    }
                    self.call(end, Some(&segment), &mut |endpoint, now, context| {
                        endpoint.on_segment(now, &segment, context);
                    });
                }
                Happening::Due(end, timer) => {
                    if self.deadlines[end.index()][timer as usize] == at {
                        self.call(end, None, &mut |endpoint, now, context| {
                            endpoint.on_timer(now, timer, context);
                        });
                    }
                }
            }
        }
        false
    }

    /// Call one end and carry out its wishes.
    pub(crate) fn call(
        &mut self,
        end: End,
        cause: Option<&Segment>,
        act: &mut dyn FnMut(&mut Endpoint, Instant, &mut Wishes),
    ) {
        let now = self.now;
        let before = self.keep_rows.then(|| self.ends[0].snapshot());
        let mut wishes = std::mem::take(&mut self.wishes);
        act(&mut self.ends[end.index()], now, &mut wishes);
        assert!(self.ends[end.index()].is_consistent());
        if let Some(trace) = &mut self.trace {
            trace.push((now, wishes.clone(), self.ends[end.index()].snapshot()));
            wishes.waits.clear();
        }
        let connected = wishes.events.contains(&Event::Connected);
        let answers =
            end == End::Server && self.answer_after > 0 && wishes.events.contains(&Event::Delivered(self.answer_after));
        let closed = wishes.events.contains(&Event::PeerClosed);
        if let Some(before) = before
            && end == End::Client
        {
            let sends = wishes
                .segments
                .iter()
                .filter(|segment| !segment.is_pure_ack() && segment.length > 60)
                .map(|segment| segment.sequence)
                .collect();
            self.rows.push(Row {
                at: now,
                ack: cause.map(|segment| segment.acknowledgement),
                sends,
                before,
                after: self.ends[0].snapshot(),
            });
        }
        for segment in wishes.segments.drain(..) {
            self.send(end, segment);
        }
        for (timer, at) in wishes.timers.drain(..) {
            assert!(at >= now, "{timer:?} is armed for {at:?}, and it is {now:?}");
            self.deadlines[end.index()][timer as usize] = at;
            if at != Instant::NEVER {
                self.schedule(at, Happening::Due(end, timer));
            }
        }
        for event in wishes.events.drain(..) {
            if self.keep_events {
                self.events[end.index()].push((now, event));
            }
        }
        self.wishes = wishes;
        if connected {
            let bytes = match end {
                End::Client => self.to_send,
                End::Server if self.answer_after > 0 => 0,
                End::Server => self.to_answer,
            };
            self.call(end, None, &mut |endpoint, now, context| {
                endpoint.write(now, bytes, context);
            });
            if self.close && end == End::Client {
                self.call(end, None, &mut |endpoint, now, context| {
                    endpoint.close(now, context);
                });
            }
        }
        if answers {
            let bytes = self.to_answer;
            self.call(end, None, &mut |endpoint, now, context| {
                endpoint.write(now, bytes, context);
            });
        }
        if closed && self.close && end == End::Server {
            self.call(end, None, &mut |endpoint, now, context| {
                endpoint.close(now, context);
            });
        }
    }

    fn send(&mut self, from: End, mut segment: Segment) {
        self.sent[from.index()] += 1;
        let fate = (self.judge)(from, &segment);
        if fate == Fate::Drop {
            self.dropped += 1;
            return;
        }
        let link = &mut self.free_at[from.index()];
        let mut leaves = self.now;
        if segment.payload > 0 {
            let queue = &mut self.queues[from.index()];
            while queue.front().is_some_and(|&left| left <= self.now) {
                queue.pop_front();
            }
            if queue.len() >= self.buffer {
                self.dropped += 1;
                return;
            }
            leaves = (*link).max(self.now) + self.shape.service;
            *link = leaves;
            if self.buffer < usize::MAX {
                queue.push_back(leaves);
            }
        }
        let mut arrives = leaves + self.shape.propagation;
        if let Fate::Late(extra) = fate {
            arrives += extra;
        }
        if fate == Fate::Mark {
            segment.ecn = Ecn::Ce;
        }
        let arrival = Happening::Arrival(from.peer(), segment);
        self.schedule(arrives, arrival);
        if fate == Fate::Repeat {
            self.schedule(arrives, arrival);
        }
    }

    fn schedule(&mut self, at: Instant, happening: Happening) {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.happenings.push(None);
            self.happenings.len() - 1
        });
        self.happenings[slot] = Some(happening);
        self.order += 1;
        self.agenda.push(Reverse((at, self.order, slot)));
    }

    /// The row in which an acknowledgement up to `ack` arrived first.
    pub(crate) fn row_of_ack(&self, ack: u32) -> &Row {
        self.rows.iter().find(|row| row.ack == Some(ack)).unwrap_or_else(|| panic!("no acknowledgement {ack}"))
    }

    /// Time in ms and numbers of all rows that sent something.
    pub(crate) fn sends(&self) -> Vec<(f64, Vec<u32>)> {
        self.rows.iter().filter(|row| !row.sends.is_empty()).map(|row| (ms(row.at), row.sends.clone())).collect()
    }

    /// Time in ms of the last arrival of new data in order, and of the last acknowledgement.
    pub(crate) fn ends_at(&self) -> (f64, f64) {
        let delivered = |(_, event): &&(Instant, Event)| matches!(event, Event::Delivered(_));
        let acknowledged = |(_, event): &&(Instant, Event)| matches!(event, Event::Acknowledged(_));
        let last = |at: Option<&(Instant, Event)>| ms(at.expect("something happened").0);
        (last(self.events[1].iter().rfind(delivered)), last(self.events[0].iter().rfind(acknowledged)))
    }
}

/// Milliseconds since the start.
pub(crate) fn ms(at: Instant) -> f64 {
    at.as_secs_f64() * 1000.0
}
