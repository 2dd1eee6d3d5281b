//! Connections: pairs of transport endpoints in reusable slots, with their lazily rescheduled timers.

use crate::calendar::Calendar;
use crate::event::Event;
use sojourn_apps::{ConnectionId, End, Interest};
use sojourn_base::native::Native;
use sojourn_base::{Direction, Instant};
use sojourn_link::network::HopId;
use sojourn_transport::library::LibraryStack;
use sojourn_transport::{Endpoint, Timer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a new connection.
pub(crate) const CONNECTION_BYTES: usize = size_of::<Connection>() + 2 * Endpoint::INITIAL_BYTES;

/// Number of timers of an endpoint.
const TIMERS: usize = 3;

/// Deadlines of one endpoint's timers, and the times of the events that will look at them.
///
/// A deadline moves with nearly every packet, so an event is scheduled only if none is pending that
/// comes early enough; an event that finds its deadline moved goes there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    deadline: [Instant; TIMERS],
    pending: [Instant; TIMERS],
}

impl Timers {
    const IDLE: Self = Self { deadline: [Instant::NEVER; TIMERS], pending: [Instant::NEVER; TIMERS] };

    /// Moves the deadline of `timer` to `at`; `event` is what to schedule if an event is needed.
    pub(crate) fn arm(&mut self, timer: Timer, at: Instant, event: Event, calendar: &mut Calendar<Event>) {
        let index = timer as usize;
        self.deadline[index] = at;
        if at < self.pending[index] {
            self.pending[index] = at;
            calendar.schedule(at, event);
        }
    }

    /// An event for `timer` is due at `now`: whether the deadline is, too.
    pub(crate) fn is_due(&mut self, now: Instant, timer: Timer, event: Event, calendar: &mut Calendar<Event>) -> bool {
        let index = timer as usize;
        if self.pending[index] != now {
            return false; // a later event took over
        }
        self.pending[index] = Instant::NEVER;
        let deadline = self.deadline[index];
        if deadline <= now {
            self.deadline[index] = Instant::NEVER;
            return true;
        }
        if deadline < Instant::NEVER {
            self.pending[index] = deadline;
            calendar.schedule(deadline, event);
        }
        false
    }
}

/// Totals of bytes below which an application has nothing to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) delivered: u64,
    pub(crate) acknowledged: u64,
}

impl Awaited {
    /// Everything that an application listens to, and nothing else.
    const fn by(interest: Interest) -> Self {
        Self {
            delivered: if interest.delivered { 0 } else { u64::MAX },
            acknowledged: if interest.acknowledged { 0 } else { u64::MAX },
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct EndState {
    pub(crate) endpoint: Endpoint,
    pub(crate) attachment: Attachment,
}

/// How an endpoint is attached to the rest of the world.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) slot: u32,
    pub(crate) generation: u8,
    pub(crate) end: End,
    pub(crate) traffic: u16,
    pub(crate) dscp: u8,
    /// Number of the host at the subscriber's end.
    pub(crate) host: u16,
    pub(crate) timers: Timers,
    /// First hop of the packets that this end sends.
    pub(crate) first_hop: HopId,
    /// Hash of the flow that this end sends.
    pub(crate) flow_hash: u32,
    /// Bytes delivered in order to this end.
    pub(crate) delivered: u64,
    /// From which totals on the application listens to this end.
    pub(crate) awaited: Awaited,
    /// This end is finished.
    pub(crate) is_closed: bool,
}

/// A connection, or a slot that waits for the next one.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    /// Neither finished nor given up.
    is_open: bool,
    pub(crate) generation: u8,
    pub(crate) traffic: u16,
    /// The server's number and the client's port.
    pub(crate) place: (usize, u32),
    pub(crate) opened_at: Instant,
    pub(crate) dscp: u8,
    pub(crate) ends: [EndState; 2],
}

impl Connection {
    pub(crate) const fn end(&mut self, end: End) -> &mut EndState {
        &mut self.ends[end as usize]
    }
}

/// Arguments of a new connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewConnection<'a> {
    pub(crate) stack: &'a Arc<sojourn_transport::StackConfig>,
    /// A library in its place, and the seeds of both ends.
    pub(crate) library: Option<(&'a Native<LibraryStack>, [u64; 2])>,
    pub(crate) traffic: u16,
    /// The server's number and the client's port.
    pub(crate) place: (usize, u32),
    pub(crate) opened_at: Instant,
    pub(crate) dscp: u8,
    /// Number of the host at the subscriber's end.
    pub(crate) host: u16,
    /// Events that the application receives.
    pub(crate) interest: Interest,
    /// First hops from client and from server.
    pub(crate) first_hops: [HopId; 2],
    /// Flow hashes from client and from server.
    pub(crate) flow_hashes: [u32; 2],
}

impl NewConnection<'_> {
    const fn attachment(&self, slot: u32, generation: u8, end: End) -> Attachment {
        Attachment {
            slot,
            generation,
            end,
            traffic: self.traffic,
            dscp: self.dscp,
            host: self.host,
            timers: Timers::IDLE,
            first_hop: self.first_hops[end as usize],
            flow_hash: self.flow_hashes[end as usize],
            delivered: 0,
            awaited: Awaited::by(self.interest),
            is_closed: false,
        }
    }
}

/// All connections of a run.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    slots: Vec<Connection>,
    free: Vec<u32>,
    /// Slots of open connections.
    open: BTreeMap<ConnectionId, u32>,
    opened: u32,
}

impl Connections {
    /// Sets up both ends of a connection; nothing is sent yet.
    pub(crate) fn open(&mut self, new: &NewConnection<'_>) -> (ConnectionId, u32) {
        let id = ConnectionId(self.opened);
        self.opened += 1;
        let slot = if let Some(slot) = self.free.pop() {
            let connection = &mut self.slots[slot as usize];
            connection.ends[End::Client as usize].endpoint.reset(new.stack);
            connection.ends[End::Server as usize].endpoint.reset(new.stack);
            slot
        } else {
            let slot = u32::try_from(self.slots.len()).expect("the scenario limits connections");
            let end = |endpoint, end| EndState { endpoint, attachment: new.attachment(slot, 0, end) };
            self.slots.push(Connection {
                id,
                is_open: true,
                generation: 0,
                traffic: new.traffic,
                place: new.place,
                opened_at: new.opened_at,
                dscp: new.dscp,
                ends: [end(Endpoint::client(new.stack), End::Client), end(Endpoint::server(new.stack), End::Server)],
            });
            slot
        };
        let connection = &mut self.slots[slot as usize];
        connection.id = id;
        connection.is_open = true;
        connection.generation = connection.generation.wrapping_add(1);
        connection.traffic = new.traffic;
        connection.place = new.place;
        connection.opened_at = new.opened_at;
        connection.dscp = new.dscp;
        for end in [End::Client, End::Server] {
            connection.end(end).attachment = new.attachment(slot, connection.generation, end);
        }
        if let Some((library, seeds)) = new.library {
            let ends = Endpoint::of_library(library, seeds, new.stack);
            for (end, endpoint) in connection.ends.iter_mut().zip(ends) {
                end.endpoint = endpoint;
            }
        }
        self.open.insert(id, slot);
        (id, slot)
    }

    /// The slot of an open connection.
    pub(crate) fn slot_of(&self, id: ConnectionId) -> Option<u32> {
        self.open.get(&id).copied()
    }

    /// The connection in `slot` if it is still the one of `generation`.
    pub(crate) fn get(&mut self, slot: u32, generation: u8) -> Option<&mut Connection> {
        let connection = &mut self.slots[slot as usize];
        (connection.generation == generation && connection.is_open).then_some(connection)
    }

    /// The connection in `slot`, which is open.
    pub(crate) fn in_slot(&mut self, slot: u32) -> &mut Connection {
        &mut self.slots[slot as usize]
    }

    /// Ends the connection in `slot`; whether it was open.
    pub(crate) fn release(&mut self, slot: u32) -> bool {
        let connection = &mut self.slots[slot as usize];
        let was_open = std::mem::replace(&mut connection.is_open, false);
        if was_open {
            self.open.remove(&connection.id);
            self.free.push(slot);
        }
        was_open
    }

    /// Bytes that the slots take, with what their endpoints remember of segments.
    pub(crate) fn bytes(&self) -> usize {
        let ends = self.slots.iter().flat_map(|connection| &connection.ends);
        self.slots.capacity() * size_of::<Connection>() + ends.map(|end| end.endpoint.bytes()).sum::<usize>()
    }

    /// Slots of the connections that are open, oldest first.
    pub(crate) fn open_slots(&self) -> Vec<u32> {
        self.open.values().copied().collect()
    }
}

/// The direction of what an end sends.
pub(crate) const fn direction_from(end: End) -> Direction {
    match end {
        End::Client => Direction::Upstream,
        End::Server => Direction::Downstream,
    }
}
