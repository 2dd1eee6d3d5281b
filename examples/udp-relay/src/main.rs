//! A line of a rate in Mb/s with any queue manager, between the senders to one UDP port and another port.
//!
//!     cargo run --release -- 127.0.0.1:9000 127.0.0.1:9001 5 "fq-codel target=5ms"
//!
//! Datagrams to the first address wait in the queue and leave to the second at the rate of the line; answers go
//! straight back to the last sender. Sockets of `std` neither read nor write ECN, so managers drop here and do not
//! mark.

use sojourn_base::{BitRate, Bytes, Instant, Meta, PacketHandle};
use sojourn_queue::{Held, ManagerConfig, QueueContext, QueueManager, Reason};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// IP and UDP headers, which the line carries as well.
const HEADERS: u32 = 28;

/// The datagrams that wait, by their handles, and random numbers for managers that draw.
struct Host {
    waiting: BTreeMap<u64, Vec<u8>>,
    dropped: u64,
    random: u64,
}

impl QueueContext for Host {
    fn dropped(&mut self, packet: Held, _: Reason) {
        self.waiting.remove(&packet.item.0);
        self.dropped += 1;
    }

    fn marked(&mut self, _: &Held, _: Reason) {}

    fn unit(&mut self) -> f64 {
        // SplitMix64: 53 bits of it are a number below 1.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

struct Relay {
    near: UdpSocket,
    far: UdpSocket,
    sender: Option<SocketAddr>,
    queue: Box<dyn QueueManager>,
    host: Host,
    rate: BitRate,
    /// End of the present transmission; `None` while the line is idle.
    busy_until: Option<Instant>,
    arrivals: u64,
    begun: std::time::Instant,
}

impl Relay {
    fn new(near: UdpSocket, far: UdpSocket, rate: BitRate, line: &str) -> Result<Self, String> {
        let config = ManagerConfig::from_line(line, rate).map_err(|problem| problem.to_string())?;
        for socket in [&near, &far] {
            let quiet = socket.set_nonblocking(true);
            quiet.map_err(|error| error.to_string())?;
        }
        Ok(Self {
            near,
            far,
            sender: None,
            queue: config.build(),
            host: Host {
                waiting: BTreeMap::new(),
                dropped: 0,
                random: 1,
            },
            rate,
            busy_until: None,
            arrivals: 0,
            begun: std::time::Instant::now(),
        })
    }

    fn now(&self) -> Instant {
        let passed = self.begun.elapsed().as_nanos();
        Instant::from_ns(u64::try_from(passed).unwrap_or(u64::MAX / 1000))
    }

    /// Does what is due; `false` if nothing was.
    fn step(&mut self) -> std::io::Result<bool> {
        let mut buffer = [0; 65_535];
        let now = self.now();
        let mut did = false;
        while let Some(due) = self.queue.next_timer().filter(|due| *due <= now) {
            self.queue.on_timer(due, &mut self.host); // each at its own time
        }
        if self.busy_until.is_some_and(|until| until <= now) {
            self.busy_until = None;
            did = true;
        }
        match self.near.recv_from(&mut buffer) {
            Ok((length, from)) => {
                self.sender = Some(from);
                self.offer(now, &buffer[..length], from);
                did = true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if self.busy_until.is_none()
            && let Some(next) = self.queue.dequeue(now, &mut self.host)
        {
            let datagram = self.host.waiting.remove(&next.item.0).unwrap_or_default();
            let time = self.rate.time_for(Bytes(next.meta.length.into()));
            self.busy_until = Some(now + time);
            let _ = self.far.send(&datagram); // a far end that is not there is a loss like any other
            did = true;
        }
        if let (Ok(length), Some(sender)) = (self.far.recv(&mut buffer), self.sender) {
            let _ = self.near.send_to(&buffer[..length], sender);
            did = true;
        }
        Ok(did)
    }

    fn offer(&mut self, now: Instant, datagram: &[u8], from: SocketAddr) {
        let item = self.arrivals;
        self.arrivals += 1;
        self.host.waiting.insert(item, datagram.to_vec());
        let length = u32::try_from(datagram.len()).unwrap_or(u32::MAX - HEADERS);
        let meta = Meta {
            length: length + HEADERS,
            flow_hash: u32::from(from.port()).wrapping_mul(2_654_435_761),
            ..Meta::default()
        };
        let _ = self.queue.enqueue(now, meta, PacketHandle(item), &mut self.host);
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [near, far, rate, line] = arguments.as_slice() else {
        return Err("usage: udp-relay LISTEN TARGET MBPS \"MANAGER LINE\"".into());
    };
    let told = |error: std::io::Error| error.to_string();
    let listening = UdpSocket::bind(near).map_err(told)?;
    let speaking = UdpSocket::bind("0.0.0.0:0").map_err(told)?;
    speaking.connect(far).map_err(told)?;
    let rate = rate.parse().map_err(|_| format!("{rate} is no number of Mb/s"))?;
    let mut relay = Relay::new(listening, speaking, BitRate::from_mbps(rate), line)?;
    loop {
        if !relay.step().map_err(told)? {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").expect("a port")
    }

    #[test]
    fn a_burst_leaves_in_order_and_what_does_not_fit_is_dropped() {
        let (sender, receiver, near, far) = (socket(), socket(), socket(), socket());
        far.connect(receiver.local_addr().expect("bound")).expect("connects");
        let target = near.local_addr().expect("bound");
        let rate = BitRate::from_mbps(8);
        let line = "drop-tail limit=\"10 packets\"";
        let mut relay = Relay::new(near, far, rate, line).expect("a line");
        for number in 0_u8..40 {
            sender.send_to(&[number; 972], target).expect("sent");
        }
        // One is on the line, ten wait; the line frees no place before all have come, or some more fit.
        while relay.arrivals < 40 || relay.queue.backlog().packets.0 > 0 {
            if !relay.step().expect("sockets work") {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        receiver.set_nonblocking(true).expect("a socket");
        let mut buffer = [0; 2000];
        let mut got = Vec::new();
        while let Ok(length) = receiver.recv(&mut buffer) {
            assert_eq!(length, 972);
            got.push(buffer[0]);
        }
        assert!(got.is_sorted() && got.len() >= 11);
        assert_eq!(got.len() as u64 + relay.host.dropped, 40);
        assert!(relay.host.waiting.is_empty());
    }

    #[test]
    fn answers_come_back_and_a_wrong_line_is_told() {
        let (sender, receiver, near, far) = (socket(), socket(), socket(), socket());
        far.connect(receiver.local_addr().expect("bound")).expect("connects");
        receiver.connect(far.local_addr().expect("bound")).expect("connects");
        let target = near.local_addr().expect("bound");
        let mut relay = Relay::new(near, far, BitRate::from_mbps(100), "pie").expect("a line");
        sender.send_to(b"question", target).expect("sent");
        receiver.send(b"answer").expect("sent");
        sender.set_nonblocking(true).expect("a socket");
        let mut buffer = [0; 100];
        let length = loop {
            relay.step().expect("sockets work");
            if let Ok(length) = sender.recv(&mut buffer) {
                break length;
            }
            if relay.sender.is_some() {
                let _ = receiver.send(b"answer"); // the first may have come before the relay had a sender
            }
        };
        assert_eq!(&buffer[..length], b"answer");
        let wrong = Relay::new(socket(), socket(), BitRate::ZERO, "codle").err();
        assert_eq!(wrong.as_deref(), Some("\"codle\" is no queue manager (did you mean codel?)"));
    }
}
