//! Any queue manager as a queue of rattan's bandwidth cells.
//!
//! A packet comes without a time, so its own stamp is its arrival. rattan calls no timers: before each call, the missed
//! updates run, each at its own time.

pub mod seam;

use seam::{Packet, PacketQueue};
use sojourn_base::{Ecn, Instant, Meta, PacketHandle};
use sojourn_queue::{Held, ManagerConfig, QueueContext, QueueManager, Reason};
use std::collections::BTreeMap;
use std::time::Duration;

struct Host<P> {
    waiting: BTreeMap<u64, P>,
    random: Box<dyn FnMut() -> f64 + Send>,
}

impl<P: Packet> QueueContext for Host<P> {
    fn dropped(&mut self, packet: Held, _: Reason) {
        self.waiting.remove(&packet.item.0);
    }

    fn marked(&mut self, packet: &Held, _: Reason) {
        if let Some(packet) = self.waiting.get_mut(&packet.item.0) {
            congestion_experienced(packet.header());
        }
    }

    fn unit(&mut self) -> f64 {
        (self.random)()
    }
}

/// A queue manager behind rattan's seam.
pub struct RattanQueue<P> {
    queue: Box<dyn QueueManager>,
    host: Host<P>,
    arrivals: u64,
    now: Instant,
    extra: usize,
}

impl<P: Packet> RattanQueue<P> {
    /// An empty queue; `random` gives numbers in [0, 1), and `extra` is 0 or 14, as the cell counts.
    pub fn new(
        manager: &ManagerConfig,
        extra: usize,
        random: impl FnMut() -> f64 + Send + 'static,
    ) -> Self {
        Self {
            queue: manager.build(),
            host: Host {
                waiting: BTreeMap::new(),
                random: Box::new(random),
            },
            arrivals: 0,
            now: Instant::ZERO,
            extra,
        }
    }

    /// Time goes on to `stamp`, never back: a packet that was stamped before the last call comes now.
    fn advance(&mut self, stamp: Duration) -> Instant {
        let nanoseconds = u64::try_from(stamp.as_nanos()).unwrap_or(u64::MAX / 1000);
        self.now = self.now.max(Instant::from_ns(nanoseconds));
        while let Some(due) = self.queue.next_timer().filter(|due| *due <= self.now) {
            self.queue.on_timer(due, &mut self.host);
        }
        self.now
    }
}

impl<P: Packet> PacketQueue<P> for RattanQueue<P> {
    fn enqueue(&mut self, mut packet: P) {
        let now = self.advance(packet.timestamp());
        let length = packet.l3_length() + self.extra;
        let meta = meta_of(packet.header(), length);
        let item = self.arrivals;
        self.arrivals += 1;
        self.host.waiting.insert(item, packet);
        let _ = self.queue.enqueue(now, meta, PacketHandle(item), &mut self.host);
    }

    fn dequeue_at(&mut self, timestamp: Duration) -> Option<P> {
        let now = self.advance(timestamp);
        let next = self.queue.dequeue(now, &mut self.host)?;
        self.host.waiting.remove(&next.item.0)
    }

    fn is_empty(&self) -> bool {
        self.queue.backlog().packets.0 == 0
    }

    fn get_extra_length(&self) -> usize {
        self.extra
    }
}

/// Returns the properties of an IPv4 packet that a manager may read.
fn meta_of(header: &[u8], length: usize) -> Meta {
    let traffic_class = header.get(1).copied().unwrap_or_default();
    let flow = header.get(12..24).unwrap_or_default(); // addresses and ports, if there are no options
    let hash = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619);
    Meta {
        length: u32::try_from(length).unwrap_or(u32::MAX),
        flow_hash: flow.iter().fold(2_166_136_261, hash),
        dscp: traffic_class >> 2,
        ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(traffic_class & 3)],
        ..Meta::default()
    }
}

/// Writes CE into an IPv4 header, and changes its checksum by as much (RFC 1624).
fn congestion_experienced(header: &mut [u8]) {
    let [_, traffic_class, ..] = header else {
        return;
    };
    let added = u16::from(3 - (*traffic_class & 3));
    *traffic_class |= 3;
    if let Some(sum) = header.get_mut(10..12) {
        let before = u16::from_be_bytes([sum[0], sum[1]]);
        // The checksum is the complement of a sum in ones' complement: what is added there is taken off here.
        let (less, borrows) = before.overflowing_sub(added);
        sum.copy_from_slice(&less.wrapping_sub(u16::from(borrows)).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Frame(Vec<u8>, Duration);

    impl Packet for Frame {
        fn l3_length(&self) -> usize {
            1500
        }
        fn timestamp(&self) -> Duration {
            self.1
        }
        fn header(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    fn frame(number: u8, ecn: u8, ms: u64) -> Frame {
        let mut header = vec![0; 24];
        header[0] = 0x45;
        header[1] = ecn;
        header[20] = number;
        let sum = !sum_of(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        Frame(header, Duration::from_millis(ms))
    }

    fn sum_of(header: &[u8]) -> u16 {
        header[..20].chunks(2).fold(0, |sum: u16, pair| {
            let (sum, carry) = sum.overflowing_add(u16::from_be_bytes([pair[0], pair[1]]));
            sum + u16::from(carry)
        })
    }

    fn queue(line: &str) -> RattanQueue<Frame> {
        let rate = sojourn_base::BitRate::from_mbps(10);
        let config = ManagerConfig::from_line(line, rate).expect("a line");
        RattanQueue::new(&config, 0, || 0.0)
    }

    #[test]
    fn packets_leave_in_order_and_what_does_not_fit_is_gone() {
        let mut queue = queue("drop-tail limit=\"2 packets\"");
        for number in 0..3 {
            queue.enqueue(frame(number, 0, 1));
        }
        let next = |queue: &mut RattanQueue<Frame>| {
            queue.dequeue_at(Duration::from_millis(5)).map(|frame| frame.0[20])
        };
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)], [Some(0), Some(1), None]);
        assert!(queue.is_empty() && queue.host.waiting.is_empty());
    }

    #[test]
    fn a_marked_packet_carries_ce_and_a_sum_that_fits() {
        let mut queue = queue("codel ecn=true");
        let mut marked = 0;
        for ms in 0..400 {
            queue.enqueue(frame(1, 2, ms));
            if ms % 2 == 1
                && let Some(sent) = queue.dequeue_at(Duration::from_millis(ms))
            {
                assert_eq!(sum_of(&sent.0), 0xffff);
                marked += u32::from(sent.0[1] & 3 == 3);
            }
        }
        assert!(marked > 0);
    }

    #[test]
    fn missed_updates_are_made_up_for_each_at_its_own_time() {
        let mut queue = queue("pie");
        queue.enqueue(frame(1, 0, 1000));
        // 66 periods of 15 ms have passed.
        let next = queue.queue.next_timer().expect("it has one");
        assert_eq!(next.as_ns(), 1_005_000_000);
    }

    #[test]
    fn a_stamp_before_the_last_call_comes_now() {
        let mut queue = queue("codel");
        queue.enqueue(frame(1, 0, 50));
        queue.enqueue(frame(2, 0, 40));
        assert_eq!(queue.now.as_ns(), 50_000_000);
    }
}
