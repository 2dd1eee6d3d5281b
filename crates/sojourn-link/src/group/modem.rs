//! A modem of a group: its queue, what it has asked for and was granted, and where the delay of its packets comes from.
//!
//! Source: specification of service groups, sections 4.1, 4.7 and 4.8. Deviations: in a passage, the wait by collisions is
//! part of the wait for a request, and the wait for capacity that went to neighbours part of the wait for a grant; the
//! counters of the modem keep them apart.

use super::config::MAC_HEADER;
use super::contention::Contention;
use super::grid::Grid;
use super::scheduler::{SEGMENT_HEADER, Scheduler, Segment};
use crate::queue_call::{Drain, QueueCall, next_timer, run_timers};
use crate::{DelayParts, Link, LinkContext, LinkCounters, Passage};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use sojourn_base::{Bytes, Instant, Meta, ModemCounters, PacketHandle, Packets, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

/// Bytes of a MAC header.
const HEADER: u64 = MAC_HEADER as u64;

/// A request as the modem's packets remember it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Position of its end among all requested bytes.
    end: u64,
    /// When it was made first, when it was heard, and the start of the interval that acknowledged it.
    first: Instant,
    sent: Instant,
    interval: Instant,
}

/// A packet that is sent in part.
#[derive(Clone, Debug)]
struct Fragment {
    packet: Held,
    dequeued_at: Instant,
    /// Bytes that are sent; the frame of the first of them, and how many frames they took.
    sent: u64,
    started_at: Instant,
    frames: u64,
    last_frame: Option<Instant>,
}

impl Fragment {
    /// Bytes that are not sent, with the MAC header.
    fn rest(&self) -> u64 {
        u64::from(self.packet.meta.length) + HEADER - self.sent
    }

    /// Those of the Ethernet frame, which queue managers count.
    fn frame_rest(&self) -> Bytes {
        Bytes(self.rest().min(self.packet.meta.length.into()))
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Modem {
    manager: Box<dyn QueueManager>,
    /// When the manager wants a timer run; [`Instant::NEVER`] if it has no timer.
    pub(super) timer: Instant,
    /// For when its group has written that down.
    pub(super) followed: Instant,
    fragment: Option<Fragment>,
    /// Bytes requested and not granted, as far as it knows; bytes of grants that are not filled.
    pub(super) outstanding: u64,
    pub(super) due: u64,
    pub(super) contention: Contention,
    /// It waits for a MAP that has its opportunity.
    pub(super) is_undecided: bool,
    /// The interval of the last draw, and how many there were in it.
    drawn: (u64, u64),
    asked: VecDeque<Asked>,
    loop_delay: Span,
    /// Bytes requested, granted, and granted for nothing.
    pub(super) mac: LinkCounters,
    pub(super) counters: ModemCounters,
}

impl Modem {
    pub(super) fn new(manager: Box<dyn QueueManager>, loop_delay: Span) -> Self {
        Self {
            timer: next_timer(&*manager),
            followed: Instant::NEVER,
            manager,
            fragment: None,
            outstanding: 0,
            due: 0,
            contention: Contention::Idle,
            is_undecided: false,
            drawn: (0, 0),
            asked: VecDeque::new(),
            loop_delay,
            mac: LinkCounters::default(),
            counters: ModemCounters::default(),
        }
    }

    /// Bytes that it holds and has not asked for.
    pub(super) fn need(&self) -> u64 {
        let staged = self.fragment.as_ref().map_or(0, Fragment::rest);
        let waiting = self.manager.backlog();
        let held = waiting.bytes.0 + u64::from(waiting.packets.0) * HEADER + staged;
        held.saturating_sub(self.outstanding + self.due)
    }

    /// Whether a packet waits for its manager's decision.
    pub(super) fn has_packets(&self) -> bool {
        self.manager.backlog().packets.0 > 0
    }

    /// The address of the next draw in interval `map`.
    pub(super) const fn draw(&mut self, map: u64) -> u64 {
        let number = if self.drawn.0 == map { self.drawn.1 } else { 0 };
        self.drawn = (map, number + 1);
        16 * map + number
    }

    /// A request was heard that ends at `end` among all requested bytes.
    pub(super) fn heard(&mut self, end: u64, (first, sent): (Instant, Instant), interval: Instant) {
        self.asked.push_back(Asked {
            end,
            first,
            sent,
            interval,
        });
    }

    pub(super) fn split<'a>(
        &'a mut self,
        now: Instant,
        scheduler: &'a Scheduler,
        port: usize,
        context: &'a mut dyn LinkContext,
    ) -> (
        &'a mut dyn QueueManager,
        QueueCall<'a, dyn LinkContext + 'a>,
    ) {
        let call = QueueCall {
            now,
            drain: Drain::Buckets(scheduler.buckets(port)),
            staged: self
                .fragment
                .as_ref()
                .map_or(Bytes::ZERO, Fragment::frame_rest),
            loop_delay: self.loop_delay,
            context,
        };
        (&mut *self.manager, call)
    }

    /// Runs the manager's timers that are due.
    pub(super) fn run_timers(
        &mut self,
        now: Instant,
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) {
        if self.timer <= now {
            let (manager, mut call) = self.split(now, scheduler, port, context);
            self.timer = run_timers(manager, now, &mut call);
        }
    }

    pub(super) fn enqueue(
        &mut self,
        now: Instant,
        (meta, item): (Meta, PacketHandle),
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) {
        let (manager, mut call) = self.split(now, scheduler, port, context);
        let meta = Meta {
            mac_overhead: MAC_HEADER,
            ..meta
        };
        let _ = manager.enqueue(now, meta, item, &mut call);
    }

    /// Takes the packet at the head out, if there is one.
    pub(super) fn take(
        &mut self,
        now: Instant,
        scheduler: &Scheduler,
        port: usize,
        context: &mut dyn LinkContext,
    ) -> Option<Held> {
        let (manager, mut call) = self.split(now, scheduler, port, context);
        manager.dequeue(now, &mut call)
    }

    /// Fills a grant of interval `map` in which `opportunities` lie.
    pub(super) fn fill(
        &mut self,
        now: Instant,
        (segment, map, opportunities): (&Segment, u64, u32),
        grid: &Grid,
        scheduler: &mut Scheduler,
        context: &mut dyn LinkContext,
    ) {
        let port = segment.port;
        let starts_at = grid.timeline.starts_at(map);
        let cap = scheduler.cap(port);
        let frame_of = |byte: u64| {
            let minislot = segment.first + (SEGMENT_HEADER + byte) / cap;
            let frame = grid.frame_of_data(opportunities, minislot);
            starts_at + grid.timeline.frame * frame
        };
        self.due = self.due.saturating_sub(segment.payload);
        while self.asked.len() > 1 && self.asked[0].end <= segment.base {
            self.asked.pop_front();
        }
        let _ = scheduler.eligible_at(port, segment.base + 1); // forgets what is over
        let (mut used, mut headers) = (0, 0);
        while used < segment.payload {
            let mut fragment = match self.fragment.take() {
                Some(fragment) => fragment,
                None => match self.take(now, scheduler, port, context) {
                    None => break,
                    Some(packet) => Fragment {
                        packet,
                        dequeued_at: now,
                        sent: 0,
                        started_at: frame_of(used),
                        frames: 0,
                        last_frame: None,
                    },
                },
            };
            let bytes = fragment.rest().min(segment.payload - used);
            let (from, to) = (frame_of(used), frame_of(used + bytes.max(1) - 1));
            let frames = to.saturating_since(from).as_ps() / grid.timeline.frame.as_ps();
            fragment.frames += frames + u64::from(fragment.last_frame != Some(from));
            fragment.last_frame = Some(to);
            fragment.sent += bytes;
            used += bytes;
            if fragment.rest() > 0 {
                self.fragment = Some(fragment);
                break;
            }
            headers += HEADER;
            let position = segment.base + used.min(segment.requested);
            self.deliver(
                &fragment,
                to,
                (starts_at, position, port),
                grid,
                scheduler,
                context,
            );
        }
        scheduler.pay_back(now, port, segment.payload - used + headers);
        self.mac.unused_grant += Bytes(segment.payload - used);
    }

    /// The last byte of a packet leaves in the frame at `last`, in a grant of the interval that starts at `starts_at`.
    fn deliver(
        &mut self,
        fragment: &Fragment,
        last: Instant,
        (starts_at, position, port): (Instant, u64, usize),
        grid: &Grid,
        scheduler: &mut Scheduler,
        context: &mut dyn LinkContext,
    ) {
        while self.asked.len() > 1 && self.asked[0].end < position {
            self.asked.pop_front();
        }
        let entry = fragment.packet.enqueued_at;
        let asked = self.asked.front().copied();
        let asked = asked.map_or([entry; 3], |asked| {
            [asked.first, asked.sent, asked.interval]
        });
        let eligible = scheduler.eligible_at(port, position).unwrap_or(starts_at);
        // Each moment is not before the one in front of it, and not behind the first byte's frame.
        let mut before = entry;
        let mut wait = |until: Instant| {
            let until = until.min(fragment.started_at).max(before);
            let span = until.saturating_since(before);
            before = until;
            span
        };
        let request = wait(asked[0]);
        let contention = wait(asked[1]);
        let grant = wait(asked[2]);
        let own_rate = wait(eligible);
        let neighbours = wait(starts_at);
        let on_air = grid.timeline.frame * fragment.frames;
        let whole = (last + grid.timeline.frame).saturating_since(before);
        let framing = whole.saturating_sub(on_air);
        let wire = grid.behind_frame();
        let delay = DelayParts {
            queue: own_rate,
            request_wait: request + contention,
            grant_wait: grant + neighbours,
            framing,
            serialisation: whole.saturating_sub(framing),
            wire,
            ..DelayParts::default()
        };
        let counters = &mut self.counters;
        counters.packets += 1;
        counters.own_rate += own_rate;
        counters.contention += contention;
        counters.neighbours += neighbours;
        counters.request_loop += request + grant;
        counters.line += whole + wire;
        let packet = &fragment.packet;
        let arrives_at = last + grid.timeline.frame + wire;
        let passage = Passage::of(packet, fragment.dequeued_at, arrives_at, delay);
        context.deliver(packet.item, &packet.meta, &passage);
    }
}

/// What can be asked of a modem; its group has its wake-ups.
impl Link for Modem {
    fn next_wakeup(&self) -> Instant {
        Instant::NEVER
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn staged(&self) -> Backlog {
        self.fragment
            .as_ref()
            .map_or_else(Backlog::default, |fragment| Backlog {
                bytes: fragment.frame_rest(),
                packets: Packets(1),
            })
    }

    fn counters(&self) -> Option<LinkCounters> {
        Some(self.mac)
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }
}
