//! A simulated access line for the tests of a transport.
//!
//! Two ends of a transport ([`Endpoint`]) send over a line: a queue of any manager of `sojourn-queue`, a serial line behind it,
//! and a way back that only takes time. The client uploads without end.
//!
//! | module | content |
//! |---|---|
//! | this | [`Testbed`], [`Line`] |
//! | `network` | packets on the line |
//! | [`report`] | results, expectations, and the picture of the queue |
//!
//! Source: none. Deviations: packets of the server wait for nothing; a real access line has a rate in both directions.

mod network;
pub mod report;

pub use report::Report;
pub use sojourn_stack::{Endpoint, Options, Read, Stack, State, Then};

use core::time::Duration;
use network::{Network, To};
use sojourn_base::{BitRate, Span};
use sojourn_queue::ManagerConfig;
use sojourn_stack::checked::{Checked, Fault};

/// Bytes that are offered or read at once. chosen: some ten packets.
const PIECE: usize = 16_384;

/// Bytes of an IP packet at most.
const LARGEST_PACKET: usize = 1500;

/// Headers of IPv4 and UDP.
const UDP: usize = 28;

/// An upstream line.
#[derive(Clone, Debug)]
pub struct Line {
    rate: BitRate,
    round_trip: Span,
    manager: String,
    headers: usize,
}

impl Line {
    /// A line with a rate such as `20 Mb/s` and a round trip such as `20 ms`, behind 250 packets of first in, first out.
    ///
    /// # Panics
    /// If one of them cannot be read.
    #[track_caller]
    pub fn new(rate: &str, round_trip: &str) -> Self {
        Self {
            rate: rate.parse().unwrap_or_else(|error| panic!("the rate {rate:?}: {error}")),
            round_trip: round_trip.parse().unwrap_or_else(|error| panic!("the round trip {round_trip:?}: {error}")),
            manager: "drop-tail limit=\"250 packets\"".to_owned(),
            headers: UDP,
        }
    }

    /// The same line with a queue manager in one line, such as `fq-codel` or `codel target=10ms`.
    #[must_use]
    pub fn queue(mut self, manager: &str) -> Self {
        manager.clone_into(&mut self.manager);
        self
    }

    /// The same line for ends whose datagrams are IP packets, and no payloads of UDP.
    #[must_use]
    pub const fn of_ip(mut self) -> Self {
        self.headers = 0;
        self
    }
}

/// A line with two ends at it.
#[derive(Clone, Debug)]
pub struct Testbed {
    line: Line,
    seed: u64,
}

impl Testbed {
    /// A testbed over `line`.
    pub const fn new(line: Line) -> Self {
        Self { line, seed: 1 }
    }

    /// The same with another origin of random numbers, for queue managers that draw.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lets `client` upload to `server` for a time.
    ///
    /// # Panics
    /// With a picture of the queue, if an end breaks a rule of [`sojourn_stack::checked`], or delivers nothing in the second half.
    #[track_caller]
    pub fn run(&self, client: impl Endpoint + 'static, server: impl Endpoint + 'static, duration: Duration) -> Report {
        let manager = ManagerConfig::from_line(&self.line.manager, self.line.rate)
            .unwrap_or_else(|problem| panic!("the queue {:?}: {problem}", self.line.manager));
        let until = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let line = (self.line.rate, self.line.round_trip.as_ps() / 2000);
        let network = Network::new(manager.build(), line, self.seed, until);
        let mut world = World { ends: [end(client, false), end(server, true)], network, headers: self.line.headers };
        let outcome = world.run(until);
        let report = world.network.report();
        if let Err(fault) = outcome {
            panic!("{fault}\n{}", report.picture());
        }
        assert!(report.late > 0, "nothing was delivered in the second half\n{}", report.picture());
        report
    }
}

fn end(endpoint: impl Endpoint + 'static, is_server: bool) -> Checked {
    let options = Options { is_server, seed: 0, controller: String::new(), ecn: true };
    Checked::new(Box::new(endpoint), &options)
}

struct World {
    /// Client and server.
    ends: [Checked; 2],
    network: Network,
    headers: usize,
}

impl World {
    fn run(&mut self, until: u64) -> Result<(), Fault> {
        let mut due = [self.exchange(0, To::Server)?, u64::MAX];
        loop {
            let now = due[0].min(due[1]).min(self.network.next_due());
            if now >= until {
                return Ok(());
            }
            let mut called = [due[0] <= now, due[1] <= now];
            while let Some((to, bytes, ecn)) = self.network.take(now) {
                self.ends[to as usize].datagram(now, &bytes, ecn);
                called[to as usize] = true;
            }
            for (place, sends_to) in [(0, To::Server), (1, To::Client)] {
                if called[place] {
                    due[place] = self.exchange(now, sends_to)?;
                }
            }
        }
    }

    /// One end reads, writes and sends; returns the time at which it wants to be called.
    fn exchange(&mut self, now: u64, to: To) -> Result<u64, Fault> {
        let end = &mut self.ends[1 - to as usize];
        let mut buffer = [0; PIECE];
        if to == To::Server {
            while end.write(now, 0, &buffer, false)? == PIECE {}
        } else {
            loop {
                let read = end.read(now, 0, &mut buffer)?.bytes;
                if read == 0 {
                    break;
                }
                self.network.delivered(now, read);
            }
        }
        let room = LARGEST_PACKET - self.headers;
        while let Some((bytes, ecn)) = end.transmit(now, &mut buffer[..room])? {
            self.network.send(now, to, &buffer[..bytes], ecn, self.headers);
        }
        Ok(end.timeout(now)?.unwrap_or(u64::MAX))
    }
}
