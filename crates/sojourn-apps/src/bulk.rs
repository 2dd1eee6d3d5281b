//! Bulk transfer: parallel loops that send file after file as fast as the network takes them.
//!
//! One model covers the endless upload, the repeating and the bursty file upload, BitTorrent pieces
//! on kept connections, files of random size, segments of a video at regular times, and speed tests.
//!
//! Source: White 2012 3.2.1 (scenarios 2, 3 and 5), White 2013 3.6 and Table 2 (repeating files,
//! BitTorrent), White 2019 Appendix B (log-normal file sizes, a video, speed tests) and the public program that it
//! describes (docsis-ns3: cut-offs, send buffer, starts one after the other).
//! Deviations: a downstream file is sent as soon as the server sees the connection, without a request;
//! a random size is drawn when the transfer begins, not when its handshake ends; what is cut off without a send buffer
//! vanishes without a FIN, because the connection has all of the file already; so does what a loop sends that is given up.

mod config;

pub use config::{BulkConfig, FileSize};

use crate::connections::Connections;
use crate::{Application, ApplicationContext, ConnectionId, Draw, End, Event, Interest, Transfer};
use core::any::Any;
use sojourn_base::{Bytes, Direction, Instant, Span};
use std::collections::VecDeque;

/// Parallel transfer loops.
#[derive(Clone, Debug)]
pub struct Bulk {
    config: BulkConfig,
    lanes: Vec<Lane>,
    /// Live connections and the lane each belongs to.
    connections: Connections<usize>,
    /// Its time is over.
    is_stopped: bool,
    /// Files that would begin now wait for a timer.
    is_paused: bool,
}

/// One loop.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Number of the oldest transfer in progress or, in a pause, of the next one.
    index: u32,
    connection: Option<ConnectionId>,
    established: bool,
    /// Bytes of all transfers that were begun on the connection, and how many of them it has.
    promised: u64,
    handed: u64,
    /// Bytes that the peer has acknowledged.
    acknowledged: u64,
    /// Transfers in progress, oldest first: one, or several where files come at regular times.
    current: VecDeque<Current>,
    /// It begins nothing any more.
    is_over: bool,
}

/// A transfer in progress.
#[derive(Clone, Copy, Debug)]
struct Current {
    started_at: Instant,
    bytes: u64,
    /// Bytes of the connection up to its end; `None` until it is handed over.
    ends_at: Option<u64>,
}

/// Bytes of a lane with a transfer in progress.
const LANE_BYTES: u64 = (size_of::<Lane>() + 4 * size_of::<Current>()) as u64;

impl Bulk {
    /// The loops of `config`, at rest until [`Application::start`].
    pub fn new(config: &BulkConfig) -> Self {
        Self {
            config: *config,
            lanes: vec![Lane::default(); config.lanes as usize],
            connections: Connections::default(),
            is_stopped: false,
            is_paused: false,
        }
    }

    fn is_endless(&self) -> bool {
        self.config.file == FileSize::Endless
    }

    fn sender(&self) -> End {
        match self.config.direction {
            Direction::Upstream => End::Client,
            Direction::Downstream => End::Server,
        }
    }

    /// Start the lane's next transfer, on the kept connection or a new one.
    fn begin(&mut self, now: Instant, lane: usize, context: &mut dyn ApplicationContext) {
        let bytes = self.draw_size(context);
        let state = &mut self.lanes[lane];
        state.current.push_back(Current { started_at: now, bytes, ends_at: None });
        if let Some(cutoff) = self.config.cutoff {
            context.arm(now + cutoff, CUTOFF | token(lane));
        }
        if state.connection.is_none() {
            self.connect(lane, context);
        } else if self.config.reuse_connection {
            self.write(lane, context);
        }
    }

    /// A new connection for the lane's oldest transfer, and for all of them if it is kept.
    fn connect(&mut self, lane: usize, context: &mut dyn ApplicationContext) {
        let connection = context.open(0);
        let state = &mut self.lanes[lane];
        state.connection = Some(connection);
        state.established = false;
        (state.promised, state.handed, state.acknowledged) = (0, 0, 0);
        self.connections.insert(connection, lane);
    }

    fn draw_size(&self, context: &mut dyn ApplicationContext) -> u64 {
        match self.config.file {
            FileSize::Endless => u64::MAX,
            FileSize::Of(size) => size.sampler(Bytes(1), MOST).draw(Draw::Size, context).0.max(1),
        }
    }

    /// Writes the lane's remaining bytes to its established connection: one transfer, if each has its own connection.
    fn write(&mut self, lane: usize, context: &mut dyn ApplicationContext) {
        if !self.lanes[lane].established {
            return;
        }
        let transfers = if self.config.reuse_connection { self.lanes[lane].current.len() } else { 1 };
        for at in 0..transfers {
            let state = &mut self.lanes[lane];
            if let Some(current) = state.current.get_mut(at)
                && current.ends_at.is_none()
            {
                state.promised = state.promised.saturating_add(current.bytes);
                current.ends_at = Some(state.promised);
                self.hand_over(lane, context);
            }
        }
        self.await_next(lane, context);
    }

    /// Hand over as much of what was promised as the send buffer has room for.
    fn hand_over(&mut self, lane: usize, context: &mut dyn ApplicationContext) {
        let (sender, rests) = (self.sender(), self.is_paused && self.is_endless());
        let state = &mut self.lanes[lane];
        let Some(connection) = state.connection else {
            return;
        };
        let missing = state.promised - state.handed;
        if missing == 0 || rests {
            return;
        }
        let bytes = match self.config.send_buffer {
            None => missing,
            Some(buffer) => {
                let unacknowledged = state.handed.saturating_sub(state.acknowledged);
                missing.min(buffer.0.saturating_sub(unacknowledged))
            }
        };
        if bytes == 0 {
            return;
        }
        state.handed += bytes;
        context.write(connection, sender, bytes);
        if !self.config.reuse_connection && state.handed == state.promised && state.promised != u64::MAX {
            context.close(connection, sender);
        }
    }

    /// Nothing is to be done before the oldest transfer of the lane is acknowledged, or the send buffer has room.
    fn await_next(&self, lane: usize, context: &mut dyn ApplicationContext) {
        let state = &self.lanes[lane];
        let oldest = state.current.front().and_then(|current| current.ends_at);
        if let (Some(connection), Some(total)) = (state.connection, oldest) {
            let total = if state.handed < state.promised { state.acknowledged.saturating_add(1) } else { total };
            context.await_acknowledged(connection, self.sender(), total);
        }
    }

    fn on_acknowledged(&mut self, now: Instant, lane: usize, total: u64, context: &mut dyn ApplicationContext) {
        self.lanes[lane].acknowledged = total;
        self.hand_over(lane, context);
        let is_complete = |current: &Current| current.ends_at.is_some_and(|end| end <= total);
        while self.lanes[lane].current.front().is_some_and(is_complete) {
            if !self.config.reuse_connection
                && let Some(connection) = self.lanes[lane].connection.take()
            {
                self.connections.remove(connection);
            }
            self.end_transfer(lane, Some(now), context);
            self.go_on(now, lane, context);
        }
        self.await_next(lane, context);
    }

    /// A transfer has ended: the next one, at once or after the pause, or what waits already.
    fn go_on(&mut self, now: Instant, lane: usize, context: &mut dyn ApplicationContext) {
        let state = &self.lanes[lane];
        if self.config.period.is_some() {
            if state.connection.is_none() && !state.current.is_empty() {
                self.connect(lane, context);
            }
        } else if self.config.gap.is_zero() && !self.is_paused {
            self.begin(now, lane, context);
        } else {
            context.arm(now + self.config.gap, token(lane));
        }
    }

    /// The time of a transfer may be over; timers of ended ones are history.
    fn on_cutoff(&mut self, now: Instant, lane: usize, context: &mut dyn ApplicationContext) {
        let (Some(cutoff), Some(current)) = (self.config.cutoff, self.lanes[lane].current.front()) else {
            return;
        };
        if now < current.started_at + cutoff {
            return;
        }
        let state = &mut self.lanes[lane];
        if let Some(connection) = state.connection.take() {
            self.connections.remove(connection);
            // The send buffer is still sent, with a FIN behind it.
            if state.established && self.config.send_buffer.is_some() {
                let sender = self.sender();
                context.close(connection, sender);
            } else {
                context.abandon(connection);
            }
        }
        self.end_transfer(lane, None, context);
        self.go_on(now, lane, context);
    }

    /// The connection is gone, whatever it was doing.
    fn on_lost(&mut self, now: Instant, connection: ConnectionId, context: &mut dyn ApplicationContext) {
        let Some(lane) = self.connections.remove(connection) else {
            return;
        };
        self.lanes[lane].connection = None;
        let was_busy = !self.lanes[lane].current.is_empty();
        while !self.lanes[lane].current.is_empty() {
            self.end_transfer(lane, None, context);
        }
        if was_busy && self.config.period.is_none() {
            context.arm(now + self.config.gap.max(RETRY), token(lane));
        }
    }

    /// Leaves everything where it is.
    fn stop(&mut self, context: &mut dyn ApplicationContext) {
        self.is_stopped = true;
        for lane in 0..self.lanes.len() {
            self.give_up(lane, context);
        }
    }

    /// Leaves a lane where it is.
    fn give_up(&mut self, lane: usize, context: &mut dyn ApplicationContext) {
        self.lanes[lane].is_over = true;
        if let Some(connection) = self.lanes[lane].connection.take() {
            self.connections.remove(connection);
            context.abandon(connection);
        }
        while !self.lanes[lane].current.is_empty() {
            self.end_transfer(lane, None, context);
        }
    }

    fn end_transfer(&mut self, lane: usize, ended_at: Option<Instant>, context: &mut dyn ApplicationContext) {
        let state = &mut self.lanes[lane];
        if let Some(current) = state.current.pop_front() {
            context.record(&Transfer {
                lane: token(lane),
                index: state.index,
                started_at: current.started_at,
                ended_at,
                bytes: current.bytes,
            });
            state.index += 1;
        }
    }
}

impl Application for Bulk {
    /// Transfers end with their last acknowledgement; those without end never do.
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: !self.is_endless() || self.config.send_buffer.is_some() }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for lane in 0..self.lanes.len() {
            let staggered = self.config.stagger.saturating_mul(lane as u64);
            let start = self.config.start.saturating_add(staggered);
            let delay = crate::jittered(start, self.config.start_jitter, context);
            context.arm(now + delay, token(lane));
        }
        if let Some(stop) = self.config.stop {
            context.arm(now + stop, STOP);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        let sender = self.sender();
        match event {
            _ if self.is_stopped => {}
            Event::Timer(STOP) => self.stop(context),
            // Of a lane that was given up. Lanes keep their numbers.
            Event::Timer(lane) if self.lanes[(lane & !CUTOFF) as usize].is_over => {}
            Event::Timer(lane) if lane & CUTOFF != 0 => {
                self.on_cutoff(now, (lane & !CUTOFF) as usize, context);
            }
            Event::Timer(lane) => {
                if let Some(period) = self.config.period {
                    context.arm(now + period, lane);
                }
                self.begin(now, lane as usize, context);
            }
            Event::Connected(connection, end) if end == sender => {
                if let Some(&mut lane) = self.connections.get_mut(connection) {
                    self.lanes[lane].established = true;
                    self.write(lane, context);
                }
            }
            Event::Acknowledged(connection, end, total) if end == sender => {
                if let Some(&mut lane) = self.connections.get_mut(connection) {
                    self.on_acknowledged(now, lane, total, context);
                }
            }
            // The receiver has nothing to say: it closes when the sender has.
            Event::PeerClosed(connection, end) if end != sender => context.close(connection, end),
            Event::ConnectFailed(connection) | Event::Closed(connection) => {
                self.on_lost(now, connection, context);
            }
            _ => {}
        }
    }

    /// More lanes begin at once; of fewer, those go that began last.
    fn retune(&mut self, now: Instant, to: &dyn Any, context: &mut dyn ApplicationContext) {
        let Some(to) = to.downcast_ref::<BulkConfig>() else {
            return;
        };
        self.config = *to;
        let mut open = self.lanes.iter().filter(|lane| !lane.is_over).count();
        for lane in (0..self.lanes.len()).rev() {
            if open > to.lanes as usize && !self.lanes[lane].is_over {
                self.give_up(lane, context);
                open -= 1;
            }
        }
        while open < to.lanes as usize && !self.is_stopped {
            context.arm(now, token(self.lanes.len()));
            self.lanes.push(Lane::default());
            open += 1;
        }
    }

    /// A transfer without end rests and goes on over the same connection; a file is sent to its end.
    fn pause(&mut self, _: Instant, is_paused: bool, context: &mut dyn ApplicationContext) {
        self.is_paused = is_paused;
        if !self.is_endless() {
            return;
        }
        for lane in 0..self.lanes.len() {
            let state = &mut self.lanes[lane];
            let (Some(connection), true) = (state.connection, state.established) else {
                continue;
            };
            if !is_paused {
                self.hand_over(lane, context);
                self.await_next(lane, context);
            } else if self.config.send_buffer.is_none() {
                state.handed = 0;
                context.hold(connection, self.sender());
            }
        }
    }

    fn bytes(&self) -> usize {
        let transfers = self.lanes.iter().map(|lane| crate::ring_bytes(&lane.current));
        self.lanes.capacity() * size_of::<Lane>() + transfers.sum::<usize>() + self.connections.bytes()
    }

    fn finish(&mut self, _now: Instant, context: &mut dyn ApplicationContext) {
        for lane in 0..self.lanes.len() {
            while !self.lanes[lane].current.is_empty() {
                self.end_transfer(lane, None, context);
            }
        }
    }
}

/// Token of the timer that ends it all; above any number of lanes.
const STOP: u32 = u32::MAX;

/// Distinguishes timers of cut-offs from those of starts; above any number of lanes.
const CUTOFF: u32 = 1 << 31;

/// Pause before a loop tries again after its connection was lost. Chosen: one second, long against any
/// round trip and short against the minutes that a stack spends before it gives up.
const RETRY: Span = Span::from_s(1);

/// Largest drawn file. chosen: a quarter of what 64 bits can count, so that the bytes of a connection can be added up.
const MOST: Bytes = Bytes(u64::MAX / 4);

/// Lanes are numbered in 32 bits.
fn token(lane: usize) -> u32 {
    u32::try_from(lane).expect("the number of lanes fits into 32 bits")
}

#[cfg(test)]
mod tests;
