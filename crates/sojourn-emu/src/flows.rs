//! The flows that were seen: whose their packets are, and what is counted of each.

use crate::headers::{Packet, TcpFlags, TcpHeader, Transport};
use crate::tcp_seen::TcpSeen;
use sojourn_base::{Bytes, Direction, FlowHash, FlowKey, Instant, TrafficId};

/// Most flows that are followed; packets of others are counted with their entry alone (specification of the emulator,
/// section 10).
pub(crate) const MOST_FLOWS: usize = 65_536;

/// Places of the table: half of them stay empty, so that a look ends soon.
const PLACES: usize = 2 * MOST_FLOWS;

/// Marks an empty place.
const EMPTY: u32 = u32::MAX;

/// One direction of a connection, or a stream of datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) key: FlowKey,
    pub(crate) direction: Direction,
    pub(crate) traffic: TrafficId,
    /// Number among the flows of datagrams of its entry.
    pub(crate) number: u32,
    /// Packets so far: the sequence of the next one.
    pub(crate) packets: u32,
    /// Bytes of IP packets so far.
    pub(crate) bytes: Bytes,
    /// Packets that arrived with a mark.
    pub(crate) marks: u64,
    pub(crate) hash: u32,
    pub(crate) dscp: u8,
    pub(crate) far: usize,
    pub(crate) connection: Option<u32>,
}

/// A connection that was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub(crate) traffic: TrafficId,
    pub(crate) opened_at: Instant,
    pub(crate) ended_at: Option<Instant>,
    pub(crate) seen: TcpSeen,
}

/// All flows, in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct Flows {
    /// Perturbation of this run's flow hashes.
    perturbation: u32,
    places: Vec<u32>,
    pub(crate) seen: Vec<Flow>,
    pub(crate) connections: Vec<Connection>,
    /// Flows of datagrams of each entry so far.
    numbers: Vec<u32>,
}

/// Properties of an arriving packet, beside its headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) now: Instant,
    pub(crate) direction: Direction,
    pub(crate) traffic: TrafficId,
    pub(crate) far: usize,
}

impl Flows {
    pub(crate) fn new(entries: usize, perturbation: u32) -> Self {
        Self {
            perturbation,
            places: vec![EMPTY; PLACES],
            seen: Vec::with_capacity(MOST_FLOWS),
            connections: Vec::with_capacity(MOST_FLOWS),
            numbers: vec![0; entries],
        }
    }

    /// The hash of a packet's flow.
    pub(crate) fn hash(&self, key: &FlowKey) -> u32 {
        FlowHash::Murmur3.hash(key, self.perturbation)
    }

    /// The number of a packet's flow, which is new if it was not seen before; `None` if no more are followed.
    pub(crate) fn of(&mut self, packet: &Packet, hash: u32, newcomer: Newcomer) -> Option<u32> {
        let place = self.place_of(&packet.flow, hash);
        let known = self.places[place];
        if known == EMPTY {
            return self.add(place, packet, hash, newcomer);
        }
        if let Transport::Tcp(header) = packet.transport
            && header.flags.any(TcpFlags::SYN)
            && !header.flags.any(TcpFlags::ACK)
            && let Some(connection) = self.seen[known as usize].connection
            && self.connections[connection as usize].seen.is_over()
        {
            // The same ports again.
            let connection = self.open(newcomer);
            let back = self.place_back(&packet.flow);
            for flow in [known, self.places[back]] {
                if let Some(flow) = self.seen.get_mut(flow as usize) {
                    flow.connection = Some(connection);
                }
            }
        }
        Some(known)
    }

    /// Returns the place of a flow in the table, or the free place for it.
    fn place_of(&self, key: &FlowKey, hash: u32) -> usize {
        let mut place = hash as usize % PLACES;
        loop {
            let flow = self.places[place];
            if flow == EMPTY || self.seen[flow as usize].key == *key {
                return place;
            }
            place = (place + 1) % PLACES;
        }
    }

    /// Returns the place of the reverse flow, or the free place for it.
    fn place_back(&self, key: &FlowKey) -> usize {
        let back = key.reversed();
        self.place_of(&back, self.hash(&back))
    }

    fn add(&mut self, place: usize, packet: &Packet, hash: u32, newcomer: Newcomer) -> Option<u32> {
        if self.seen.len() == MOST_FLOWS {
            return None;
        }
        let index = u32::try_from(self.seen.len()).ok()?;
        let is_tcp = matches!(packet.transport, Transport::Tcp(_));
        let connection = is_tcp.then(|| {
            let back = self.places[self.place_back(&packet.flow)];
            let back = self.seen.get(back as usize);
            let known = back.and_then(|flow| flow.connection);
            known.unwrap_or_else(|| self.open(newcomer))
        });
        let number = &mut self.numbers[usize::from(newcomer.traffic.0)];
        let flow = Flow {
            key: packet.flow,
            direction: newcomer.direction,
            traffic: newcomer.traffic,
            number: *number,
            packets: 0,
            bytes: Bytes::ZERO,
            marks: 0,
            hash,
            dscp: packet.dscp,
            far: newcomer.far,
            connection,
        };
        *number += u32::from(!is_tcp);
        self.seen.push(flow);
        self.places[place] = index;
        Some(index)
    }

    /// One more connection.
    fn open(&mut self, newcomer: Newcomer) -> u32 {
        self.connections.push(Connection {
            traffic: newcomer.traffic,
            opened_at: newcomer.now,
            ended_at: None,
            seen: TcpSeen::default(),
        });
        u32::try_from(self.connections.len() - 1).expect("fewer than 2^32 connections")
    }

    /// A segment of a flow comes: bytes that go the other way and are acknowledged by it for the first time, and whose
    /// they are.
    pub(crate) fn on_segment(&mut self, flow: u32, now: Instant, header: &TcpHeader) -> Option<(TrafficId, u64)> {
        let flow = &self.seen[flow as usize];
        let connection = &mut self.connections[flow.connection? as usize];
        let bytes = connection.seen.on_segment(flow.direction, header);
        if connection.ended_at.is_none() && connection.seen.is_over() {
            connection.ended_at = Some(now);
        }
        Some((connection.traffic, bytes))
    }
}
