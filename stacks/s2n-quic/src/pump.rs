//! Input and output of s2n-quic: its endpoint stays here, and is called with the caller's datagrams and times.

use core::convert::Infallible;
use core::time::Duration;
use s2n_quic::provider::io::Provider;
use s2n_quic_core::endpoint::Endpoint;
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress};
use s2n_quic_core::io::tx::{Error, Message, Outcome, PayloadBuffer};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::RemoteAddress;
use s2n_quic_core::path::mtu::Config;
use s2n_quic_core::time::Timestamp;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

/// Bytes of a packet of IPv4: s2n-quic's upper bound of path MTU discovery, and that of Ethernet.
const PACKET: u16 = 1500;

/// Bytes of UDP payload of such a packet.
const PAYLOAD: usize = PACKET as usize - 28;

/// Datagrams that wait for the caller. chosen: more than a burst has, which is ten packets in s2n-quic.
const ROOM: usize = 64;

/// The endpoint of a client or a server, whose type has a dozen providers.
pub trait Pump: Send {
    fn receive(&mut self, now: u64, from: SocketAddress, bytes: &mut [u8], ecn: u8);
    /// Does what is due: wake-ups of the application, timers, datagrams.
    fn transmit(&mut self, now: u64, out: &mut Outbox);
    /// The next time to call [`Self::transmit`], in ns.
    fn timeout(&self) -> Option<u64>;
}

/// s2n-quic counts us, and rounds zero up to one.
fn timestamp(now: u64) -> Timestamp {
    // SAFETY: times of one clock, that of the run.
    unsafe { Timestamp::from_duration(Duration::from_nanos(now)) }
}

impl<E: Endpoint<PathHandle = RemoteAddress>> Pump for E {
    fn receive(&mut self, now: u64, from: SocketAddress, bytes: &mut [u8], ecn: u8) {
        let header = Header { path: from.into(), ecn: ExplicitCongestionNotification::new(ecn) };
        Endpoint::receive(self, &mut Arrived(Some((header, bytes))), &timestamp(now));
    }

    fn transmit(&mut self, now: u64, out: &mut Outbox) {
        let clock = timestamp(now);
        // It is called at each time that it asks for, and needs no waker. A closed endpoint returns that it is closed, and sends nothing.
        let _ = self.poll_wakeups(&mut Context::from_waker(Waker::noop()), &clock);
        Endpoint::transmit(self, out, &clock);
    }

    fn timeout(&self) -> Option<u64> {
        // SAFETY: as in `timestamp`.
        let due = unsafe { Endpoint::timeout(self)?.as_duration() };
        u64::try_from(due.as_nanos()).ok()
    }
}

/// Takes the endpoint that s2n-quic starts.
#[derive(Clone, Default)]
pub struct Taker(Arc<Mutex<Option<Box<dyn Pump>>>>);

impl Taker {
    /// The endpoint, after the start.
    pub fn take(&self) -> Option<Box<dyn Pump>> {
        self.0.lock().ok()?.take()
    }
}

impl Provider for Taker {
    type PathHandle = RemoteAddress;
    type Error = Infallible;

    fn start<E: Endpoint<PathHandle = RemoteAddress>>(self, mut endpoint: E) -> Result<SocketAddress, Infallible> {
        let config = Config::builder().with_max_mtu(PACKET).and_then(|all| all.with_initial_mtu(PACKET));
        let config = config.and_then(|all| all.with_base_mtu(PACKET)).and_then(|all| all.build());
        endpoint.set_mtu_config(config.expect("three equal sizes"));
        if let Ok(mut place) = self.0.lock() {
            *place = Some(Box::new(endpoint));
        }
        Ok(SocketAddress::default())
    }
}

/// A datagram that arrives.
struct Arrived<'a>(Option<(Header<RemoteAddress>, &'a mut [u8])>);

impl rx::Queue for Arrived<'_> {
    type Handle = RemoteAddress;

    fn for_each<F: FnMut(Header<RemoteAddress>, &mut [u8])>(&mut self, mut on_packet: F) {
        if let Some((header, bytes)) = self.0.take() {
            on_packet(header, bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Datagrams that s2n-quic sends at one time.
pub struct Outbox {
    /// Bytes, their number, and the ECN field.
    datagrams: Vec<([u8; PAYLOAD], usize, u8)>,
    /// Those that the caller has taken.
    taken: usize,
}

impl Outbox {
    pub fn new() -> Self {
        Self { datagrams: Vec::with_capacity(ROOM), taken: 0 }
    }

    /// True if the caller has taken all; room for others is made then.
    pub fn is_empty(&mut self) -> bool {
        if self.taken == self.datagrams.len() {
            self.datagrams.clear();
            self.taken = 0;
        }
        self.datagrams.is_empty()
    }

    pub fn next(&mut self) -> Option<(&[u8], u8)> {
        let (bytes, length, ecn) = self.datagrams.get(self.taken)?;
        self.taken += 1;
        Some((&bytes[..*length], *ecn))
    }
}

impl tx::Queue for Outbox {
    type Handle = RemoteAddress;

    const SUPPORTS_ECN: bool = true;

    fn push<M: Message<Handle = RemoteAddress>>(&mut self, mut message: M) -> Result<Outcome, Error> {
        if self.capacity() == 0 {
            return Err(Error::AtCapacity);
        }
        let mut bytes = [0; PAYLOAD];
        let length = message.write_payload(PayloadBuffer::new(&mut bytes), 0)?;
        self.datagrams.push((bytes, length, message.ecn() as u8));
        Ok(Outcome { len: length, index: self.datagrams.len() - 1 })
    }

    fn capacity(&self) -> usize {
        ROOM - self.datagrams.len()
    }
}
