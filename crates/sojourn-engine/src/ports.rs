//! Which port a client's new connection has: a fresh one, or one that was given back.
//!
//! Source: RFC 6056 for hosts; the agents of ns-2 keep their port for a whole run, whatever number of
//! connections they make one after another, which the sub-flows of White 2013 hash.
//! Deviations: a kept port is the lowest one that is free, not that of the same browser slot; with as many
//! slots as ports that is the same set of flows.

use sojourn_scenario::Ports;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The ports of the connections from the client to one server.
#[derive(Clone, Debug)]
pub(crate) struct PortPool {
    policy: Ports,
    /// Ports taken so far, and the next fresh one.
    taken: u32,
    free: BinaryHeap<Reverse<u32>>,
}

impl PortPool {
    pub(crate) const fn new(policy: Ports) -> Self {
        Self { policy, taken: 0, free: BinaryHeap::new() }
    }

    /// A port for a new connection, counted from 0.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(Reverse(port)) = self.free.pop() {
            return port;
        }
        self.taken += 1;
        self.taken - 1
    }

    /// A connection has ended.
    pub(crate) fn give_back(&mut self, port: u32) {
        if self.policy == Ports::Kept {
            self.free.push(Reverse(port));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ports_count_up() {
        let mut pool = PortPool::new(Ports::Fresh);
        assert_eq!(pool.take(), 0);
        pool.give_back(0);
        assert_eq!(pool.take(), 1);
    }

    #[test]
    fn kept_ports_come_back_lowest_first() {
        let mut pool = PortPool::new(Ports::Kept);
        assert_eq!([pool.take(), pool.take(), pool.take()], [0, 1, 2]);
        pool.give_back(2);
        pool.give_back(0);
        assert_eq!([pool.take(), pool.take(), pool.take()], [0, 2, 3]);
    }
}
