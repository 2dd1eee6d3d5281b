//! The Internet behind the link: what the inside sends to other addresses than the far end's goes on by sockets of the host.
//!
//! TCP: when a SYN has come through the link, the relay connects from outside; when that has succeeded, the far end's kernel
//! is given a listener at the address, and the SYN. So the link lies between two kernels, and a host that refuses or is silent
//! does so inside, too. UDP: one socket of the host for each flow. It opens connections outward only, as the
//! calling user, and none to loopback or link-local addresses.
//!
//! # Deviations
//! ICMP is not relayed. A SYN waits for the outside, so connecting takes the real round trip beside the emulated one.

mod dns;
mod packet;
mod tcp;
mod udp;

use self::packet::{Kind, Packet};
use self::tcp::Relayed;
use self::udp::Flow;
use super::holder::Holder;
use super::unit;
use crate::plan::FarEnd;
use crate::segment::Offload;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};
use nix::unistd::write;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Flows of UDP at a time. chosen: what a host of many tabs has, well below the usual limit of descriptors.
const MOST_FLOWS: usize = 256;
/// Connections of TCP at a time, for the same reason.
const MOST_CONNECTIONS: usize = 256;
/// Seconds after which a flow without datagrams is forgotten (RFC 4787, REQ-5).
const FLOW_LASTS_S: u64 = 120;

/// Returns true for an address that the relay must not reach: the host's own, link-local, unspecified, broadcast.
fn is_refused(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(four) => {
            four.is_loopback()
                || four.is_link_local()
                || four.is_unspecified()
                || four.is_broadcast()
                || four.is_multicast()
        }
        IpAddr::V6(six) => {
            six.is_loopback() || six.is_unspecified() || six.is_multicast() || six.is_unicast_link_local()
        }
    }
}

/// Returns true if the relay answers an address, rather than the far end itself.
pub fn is_relayed(packet: &[u8], far: &[FarEnd]) -> bool {
    let Some(Packet { to, kind, .. }) = packet::read(packet) else {
        return false;
    };
    let is_far = far.iter().any(|end| to.ip() == end.v4 || to.ip() == end.v6);
    match kind {
        Kind::Segment => false,
        Kind::Syn(_) | Kind::Datagram(_) => !is_far || to.port() == dns::PORT,
    }
}

/// Source and destination of a connection.
type Pair = (SocketAddr, SocketAddr);

/// A connection whose outside is being made, with the SYN that asked for it.
#[derive(Debug)]
struct Pending {
    away: TcpStream,
    syn: Vec<u8>,
    sequence: u32,
    is_connected: bool,
}

/// The relay of one emulation, on a thread of its own.
#[derive(Debug)]
pub struct Relay<'a> {
    holder: &'a Holder,
    /// Packets of the model's far side: its units with their headers.
    model: OwnedFd,
    /// The far device, for SYNs that may go on.
    far_device: OwnedFd,
    far: Vec<FarEnd>,
    resolvers: Vec<SocketAddr>,
    mtu: usize,
    pending: BTreeMap<Pair, Pending>,
    listeners: BTreeMap<SocketAddr, TcpListener>,
    connections: Vec<Relayed>,
    flows: Vec<Flow>,
    now_s: u64,
}

impl<'a> Relay<'a> {
    /// A relay between the model and the host's network.
    pub fn new(holder: &'a Holder, model: OwnedFd, far_device: OwnedFd, far: Vec<FarEnd>, mtu: usize) -> Self {
        let resolvers = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        Self {
            holder,
            model,
            far_device,
            far,
            resolvers: dns::resolvers(&resolvers),
            mtu,
            pending: BTreeMap::new(),
            listeners: BTreeMap::new(),
            connections: Vec::new(),
            flows: Vec::new(),
            now_s: 0,
        }
    }

    /// Relays until `end` can be read or is closed.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn run(&mut self, end: BorrowedFd<'_>) -> io::Result<()> {
        let clock = super::monotonic::seconds;
        let began = clock();
        let mut room = vec![0_u8; 65_536 + 128];
        loop {
            self.now_s = clock() - began;
            let ready = self.wait(end)?;
            let [ended, model, rest @ ..] = &ready[..] else {
                return Ok(());
            };
            if *ended {
                return Ok(());
            }
            let mut rest = rest.iter().copied();
            let mut next = || rest.next().unwrap_or(false);
            let connected: Vec<Pair> = self
                .pending
                .iter()
                .filter(|(_, pending)| !pending.is_connected)
                .filter_map(|(pair, _)| next().then_some(*pair))
                .collect();
            let accepting: Vec<SocketAddr> = self.listeners.keys().filter_map(|at| next().then_some(*at)).collect();
            self.connections.retain_mut(|connection| {
                let (near, away) = connection.interests();
                let near = !near.is_empty() && next();
                let away = !away.is_empty() && next();
                !(near || away) || connection.pump()
            });
            self.answer(&mut room, &mut next);
            for at in accepting {
                self.accept(at);
            }
            for pair in connected {
                self.connected(pair);
            }
            if *model {
                self.take_packets(&mut room);
            }
        }
    }

    /// Waits; returns what is ready, in the order of the sets.
    fn wait(&self, end: BorrowedFd<'_>) -> io::Result<Vec<bool>> {
        let read = PollFlags::POLLIN;
        let mut polled = vec![PollFd::new(end, read), PollFd::new(self.model.as_fd(), read)];
        let connecting = self.pending.values().filter(|pending| !pending.is_connected);
        polled.extend(connecting.map(|one| PollFd::new(one.away.as_fd(), PollFlags::POLLOUT)));
        polled.extend(self.listeners.values().map(|one| PollFd::new(one.as_fd(), read)));
        for connection in &self.connections {
            // One that nothing is wanted of would be ready for ever once its peer is gone.
            let (near, away) = connection.interests();
            let both = [(&connection.near, near), (&connection.away, away)];
            let wanted = both.into_iter().filter(|(_, flags)| !flags.is_empty());
            polled.extend(wanted.map(|(stream, flags)| PollFd::new(stream.as_fd(), flags)));
        }
        polled.extend(self.flows.iter().map(|one| PollFd::new(one.socket.as_fd(), read)));
        // chosen: a second, for what is forgotten when it is old.
        match poll(&mut polled, PollTimeout::from(1000_u16)) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled.iter().map(|one| one.any() == Some(true)).collect())
    }

    /// Takes what the model delivers to the Internet.
    fn take_packets(&mut self, room: &mut [u8]) {
        while let Ok(length) = recv(self.model.as_raw_fd(), room, MsgFlags::MSG_DONTWAIT) {
            let unit = &room[..length];
            let Some(packet) = unit.get(Offload::BYTES..).and_then(packet::read) else {
                if length == 0 {
                    return;
                }
                continue;
            };
            let pair = (packet.from, packet.to);
            match (packet.kind, self.peer(packet.to)) {
                (Kind::Datagram(payload), Some(peer)) => {
                    self.send(pair, peer, payload, packet.class);
                }
                (Kind::Syn(sequence), Some(peer)) => self.connect(pair, peer, sequence, unit),
                (Kind::Syn(sequence), None) => self.refuse(pair, sequence),
                (Kind::Datagram(_), None) | (Kind::Segment, _) => {}
            }
        }
    }

    /// Returns the peer outside: the resolver for the far end's own addresses, `to` otherwise; `None` if that is refused.
    fn peer(&self, to: SocketAddr) -> Option<SocketAddr> {
        let is_far = self.far.iter().any(|end| to.ip() == end.v4 || to.ip() == end.v6);
        if is_far {
            return self.resolvers.first().copied();
        }
        (!is_refused(to.ip())).then_some(to)
    }

    fn connect(&mut self, pair: Pair, peer: SocketAddr, sequence: u32, syn: &[u8]) {
        if let Some(pending) = self.pending.get(&pair) {
            if pending.is_connected {
                let _ = write(&self.far_device, syn); // sent again: its answer was lost
            }
            return;
        }
        let has_room = self.pending.len() + self.connections.len() < MOST_CONNECTIONS;
        match tcp::begin(peer) {
            Ok(away) if has_room => {
                let pending = Pending { away, syn: syn.to_vec(), sequence, is_connected: false };
                self.pending.insert(pair, pending);
            }
            _ => self.refuse(pair, sequence),
        }
    }

    /// Says no to a connection, as its host would.
    fn refuse(&self, (from, to): Pair, sequence: u32) {
        if let Some((offload, packet)) = packet::reset(to, from, sequence) {
            self.enter(offload, &packet);
        }
    }

    /// Lets a packet enter the link; without room, it is lost, as in any network.
    fn enter(&self, offload: Offload, packet: &[u8]) {
        let _ = unit::send(&self.model, offload, &[IoSlice::new(packet)]);
    }

    /// The outside has answered.
    fn connected(&mut self, pair: Pair) {
        let Some(pending) = self.pending.get_mut(&pair) else {
            return;
        };
        let at = pair.1;
        let is_there = tcp::is_connected(&pending.away);
        if is_there
            && !self.listeners.contains_key(&at)
            && let Ok(socket) = self.holder.listen(at)
        {
            self.listeners.insert(at, TcpListener::from(socket));
        }
        if is_there {
            pending.is_connected = true;
            let _ = write(&self.far_device, &pending.syn);
        } else {
            let sequence = pending.sequence;
            self.pending.remove(&pair);
            self.refuse(pair, sequence);
        }
    }

    /// Closes a listener without pending connections: later ones are refused until the outside has agreed.
    fn forget(&mut self, at: SocketAddr) {
        if !self.pending.keys().any(|(_, to)| *to == at) {
            self.listeners.remove(&at);
        }
    }

    fn accept(&mut self, at: SocketAddr) {
        while let Some(Ok((near, from))) = self.listeners.get(&at).map(TcpListener::accept) {
            if let Some(pending) = self.pending.remove(&(from, at)) {
                self.connections.push(Relayed::new(near, pending.away));
            }
        }
        self.forget(at);
    }

    fn send(&mut self, pair: Pair, peer: SocketAddr, payload: &[u8], class: u8) {
        let now = self.now_s;
        let known = self.flows.iter().position(|flow| (flow.from, flow.to) == pair);
        if known.is_none() {
            self.flows.retain(|flow| flow.used_at + FLOW_LASTS_S > now);
            if self.flows.len() >= MOST_FLOWS {
                let oldest = self.flows.iter().enumerate().min_by_key(|(_, flow)| flow.used_at);
                if let Some((at, _)) = oldest {
                    self.flows.swap_remove(at);
                }
            }
            let Ok(flow) = Flow::open(pair.0, pair.1, peer, now) else {
                return;
            };
            self.flows.push(flow);
        }
        let at = known.unwrap_or(self.flows.len() - 1);
        self.flows[at].send(payload, class, now);
    }

    /// Sends what has come for flows into the link.
    fn answer(&mut self, room: &mut [u8], ready: &mut dyn FnMut() -> bool) {
        for at in 0..self.flows.len() {
            if !ready() {
                continue;
            }
            // chosen: at most 64 of one flow before others have their turn.
            for _ in 0..64 {
                let flow = &mut self.flows[at];
                let (from, to) = (flow.to, flow.from);
                let Some((payload, class)) = flow.receive(room, self.now_s) else {
                    break;
                };
                let written = packet::datagram(from, to, payload, class, self.mtu);
                if let Some((offload, packet)) = written {
                    self.enter(offload, &packet);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_and_its_link_are_out_of_reach() {
        for address in ["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "::ffff:127.0.0.1", "0.0.0.0"] {
            assert!(is_refused(address.parse().unwrap()), "{address}");
        }
        for address in ["192.0.2.1", "10.0.0.1", "2001:db8::1"] {
            assert!(!is_refused(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn the_far_ends_own_traffic_is_not_relayed_but_its_names_are() {
        let (v4, v6) = FarEnd::addresses(0);
        let far = [FarEnd { v4, v6, rtt: sojourn_base::Span::ZERO, line_rate: sojourn_base::BitRate::from_mbps(1000) }];
        let inside: SocketAddr = "100.64.0.2:4000".parse().unwrap();
        for (to, is_ours) in [("100.64.0.1:53", true), ("100.64.0.1:5201", false), ("192.0.2.1:5201", true)] {
            let to = to.parse().unwrap();
            let (_, packet) = packet::datagram(inside, to, b"x", 0, 1500).unwrap();
            assert_eq!(is_relayed(&packet, &far), is_ours, "{to}");
        }
    }
}
