//! A smoltcp device that sends through a line with a queue manager: transmitted packets wait there, and leave to the
//! device behind it at the rate of the line. Received packets come at once.
//!
//! Poll the interface, then [`Shaped::serve`], and again at the earlier of `poll_delay` and [`Shaped::next_due`].
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use smoltcp::phy::{Device, DeviceCapabilities, TxToken};
use smoltcp::time::Instant;
use sojourn_base::{BitRate, Bytes, Ecn, Meta, PacketHandle};
use sojourn_queue::{Held, ManagerConfig, QueueContext, QueueManager, Reason};

/// The frames that wait, and random numbers for managers that draw.
struct Host {
    frames: BTreeMap<u64, Vec<u8>>,
    dropped: u64,
    random: u32,
}

impl QueueContext for Host {
    fn dropped(&mut self, packet: Held, _: Reason) {
        self.frames.remove(&packet.item.0);
        self.dropped += 1;
    }

    fn marked(&mut self, packet: &Held, _: Reason) {
        if let Some(frame) = self.frames.get_mut(&packet.item.0) {
            congestion_experienced(frame);
        }
    }

    fn unit(&mut self) -> f64 {
        // Xorshift of 32 bits.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        f64::from(self.random) / 4_294_967_296.0
    }
}

/// A device with a line and a queue in front of it.
pub struct Shaped<D> {
    device: D,
    queue: Box<dyn QueueManager>,
    host: Host,
    rate: BitRate,
    busy_until: sojourn_base::Instant,
    arrivals: u64,
}

impl<D: Device> Shaped<D> {
    /// `device` behind a line of `rate` with this manager.
    pub fn new(device: D, rate: BitRate, manager: &ManagerConfig) -> Self {
        Self {
            device,
            queue: manager.clone().at(rate).build(),
            host: Host {
                frames: BTreeMap::new(),
                dropped: 0,
                random: 1,
            },
            rate,
            busy_until: sojourn_base::Instant::ZERO,
            arrivals: 0,
        }
    }

    /// Packets that the manager has dropped.
    pub fn dropped(&self) -> u64 {
        self.host.dropped
    }

    /// Sends what the line has time for until now.
    pub fn serve(&mut self, timestamp: Instant) {
        let now = ours(timestamp);
        self.update(now);
        while self.busy_until <= now && self.queue.backlog().packets.0 > 0 {
            // The line was free at that time; a late poll sends each packet as of its own time.
            let at = self.busy_until;
            let Some(next) = self.queue.dequeue(at, &mut self.host) else {
                break;
            };
            let frame = self.host.frames.remove(&next.item.0).unwrap_or_default();
            self.busy_until = at + self.rate.time_for(Bytes(next.meta.length.into()));
            if let Some(token) = self.device.transmit(timestamp) {
                token.consume(frame.len(), |room| room.copy_from_slice(&frame));
            }
        }
    }

    /// Returns the time of the next call of [`Shaped::serve`]: a packet waits for the line, or the manager has an
    /// update.
    pub fn next_due(&self) -> Option<Instant> {
        let waits = self.queue.backlog().packets.0 > 0;
        let line = waits.then_some(self.busy_until);
        let due = line.into_iter().chain(self.queue.next_timer()).min()?;
        let microseconds = i64::try_from(due.as_ps().div_ceil(1_000_000)).ok()?;
        Some(Instant::from_micros(microseconds))
    }

    /// Updates of the manager that were due, each at its own time.
    fn update(&mut self, now: sojourn_base::Instant) {
        while let Some(due) = self.queue.next_timer().filter(|due| *due <= now) {
            self.queue.on_timer(due, &mut self.host);
        }
    }

    fn offer(&mut self, timestamp: Instant, frame: Vec<u8>) {
        let now = ours(timestamp);
        self.update(now);
        if self.queue.backlog().packets.0 == 0 {
            self.busy_until = self.busy_until.max(now); // an idle line begins when something comes
        }
        let item = self.arrivals;
        self.arrivals += 1;
        let meta = meta_of(&frame);
        self.host.frames.insert(item, frame);
        let _ = self.queue.enqueue(now, meta, PacketHandle(item), &mut self.host);
    }
}

fn ours(timestamp: Instant) -> sojourn_base::Instant {
    sojourn_base::Instant::from_us(u64::try_from(timestamp.total_micros()).unwrap_or_default())
}

/// Returns the properties of an IPv4 packet that a manager may read.
fn meta_of(packet: &[u8]) -> Meta {
    let traffic_class = packet.get(1).copied().unwrap_or_default();
    let flow = packet.get(12..24).unwrap_or_default(); // addresses and ports, if there are no options
    let hash = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619);
    Meta {
        length: u32::try_from(packet.len()).unwrap_or(u32::MAX),
        flow_hash: flow.iter().fold(2_166_136_261, hash),
        dscp: traffic_class >> 2,
        ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(traffic_class & 3)],
        ..Meta::default()
    }
}

/// Writes CE into an IPv4 header, with its checksum.
fn congestion_experienced(packet: &mut [u8]) {
    let mut header = smoltcp::wire::Ipv4Packet::new_unchecked(packet);
    header.set_ecn(3);
    header.fill_checksum();
}

/// Sends into the queue.
pub struct ToQueue<'a, D> {
    shaped: &'a mut Shaped<D>,
    timestamp: Instant,
}

impl<D: Device> TxToken for ToQueue<'_, D> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = vec![0; length];
        let filled = fill(&mut frame);
        self.shaped.offer(self.timestamp, frame);
        filled
    }
}

/// A packet that the device has received.
pub struct Received(Vec<u8>);

impl smoltcp::phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl<D: Device> Device for Shaped<D> {
    type RxToken<'a>
        = Received
    where
        D: 'a;
    type TxToken<'a>
        = ToQueue<'a, D>
    where
        D: 'a;

    fn receive(&mut self, timestamp: Instant) -> Option<(Received, ToQueue<'_, D>)> {
        use smoltcp::phy::RxToken;
        let (packet, _) = self.device.receive(timestamp)?;
        let received = Received(packet.consume(<[u8]>::to_vec));
        let shaped = self;
        Some((received, ToQueue { shaped, timestamp }))
    }

    fn transmit(&mut self, timestamp: Instant) -> Option<ToQueue<'_, D>> {
        let shaped = self;
        Some(ToQueue { shaped, timestamp })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        self.device.capabilities()
    }
}

#[cfg(test)]
mod tests;
