//! In which order homes of one priority are served.
//!
//! Source: docs/models/service-group.md, "The scheduler"; deficit round robin of Shreedhar and Varghese 1996. Deviations: a home that
//! the MAP interrupts stays in front.

use super::{Scheduler, Share};
use alloc::vec::Vec;

impl Scheduler {
    /// Deficit round robin: each home in front may have a quantum, and goes on where it was interrupted.
    pub(super) fn give_in_turn(&mut self, priority: usize) {
        let mut without_room = 0;
        while self.free.iter().any(|free| *free > 0) {
            let Some(&port) = self.rings[priority].front() else {
                return;
            };
            let state = &mut self.ports[port];
            if state.want > 0 {
                let Some(channel) = state.channel(&self.free) else {
                    // None of its channels has room; others may have.
                    without_room += 1;
                    if without_room > self.rings[priority].len() {
                        return;
                    }
                    self.rings[priority].rotate_left(1);
                    continue;
                };
                without_room = 0;
                if !state.visited {
                    state.deficit += self.quantum;
                    state.visited = true;
                }
                state.begin(channel, self.header);
                let cap = state.caps[channel];
                let unit = match self.share {
                    Share::Bytes => cap,
                    Share::Minislots => 1,
                };
                let wanted = state.want.div_ceil(cap);
                let turn = state.deficit / unit;
                let minislots = wanted.min(self.free[channel]).min(turn);
                state.deficit -= minislots * unit;
                self.give(port, channel, minislots);
            }
            let state = &mut self.ports[port];
            let ring = &mut self.rings[priority];
            if state.want == 0 {
                ring.pop_front();
                (state.in_ring, state.visited, state.deficit) = (false, false, 0);
            } else if state.channel(&self.free).is_some() {
                ring.rotate_left(1);
                state.visited = false;
            } else if self.free.iter().all(|free| *free == 0) {
                return; // it stays in front, with its deficit
            }
        }
    }

    /// Requests in the order of their arrival; the first may stay partly granted.
    pub(super) fn give_by_arrival(&mut self, priority: usize) {
        let mut arrived = core::mem::take(&mut self.arrived);
        for (port, bytes) in &mut arrived {
            if self.ports[*port].priority != priority {
                continue;
            }
            while *bytes > 0 && self.ports[*port].want > 0 {
                let state = &mut self.ports[*port];
                let Some(channel) = state.channel(&self.free) else {
                    break;
                };
                let before = state.want;
                state.begin(channel, self.header);
                let header = state.want - before;
                let cap = state.caps[channel];
                let wanted = (*bytes + header).min(state.want).div_ceil(cap);
                let minislots = wanted.min(self.free[channel]);
                *bytes = bytes.saturating_sub((minislots * cap).saturating_sub(header));
                self.give(*port, channel, minislots);
            }
        }
        // The rounding of earlier requests is not requested again.
        arrived.retain(|(port, bytes)| {
            let port = &self.ports[*port];
            *bytes > 0 && (port.priority != priority || port.want > 0 || port.backlog() > 0)
        });
        self.arrived = arrived;
    }

    /// Grants to each home in proportion to its request, and the remainder by single minislots.
    pub(super) fn give_in_proportion(&mut self, priority: usize) {
        let homes: Vec<usize> = self.rings[priority].iter().copied().collect();
        let free: u64 = self.free.iter().sum();
        let wanted = |scheduler: &Self, port: usize| {
            let state = &scheduler.ports[port];
            let cap = state.channel(&scheduler.free).map(|channel| state.caps[channel]);
            cap.map_or(0, |cap| (state.want + scheduler.header).div_ceil(cap))
        };
        let wants: Vec<u64> = homes.iter().map(|port| wanted(self, *port)).collect();
        let all: u64 = wants.iter().sum();
        for (port, want) in homes.iter().zip(wants) {
            let share = u128::from(free.min(all)) * u128::from(want) / u128::from(all.max(1));
            self.give_up_to(*port, u64::try_from(share).unwrap_or(0));
        }
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            for port in &homes {
                is_moving |= self.give_up_to(*port, 1);
            }
        }
    }

    /// Grants up to `minislots`, as far as the home requests them and there are some.
    fn give_up_to(&mut self, port: usize, minislots: u64) -> bool {
        let mut left = minislots;
        while left > 0 && self.ports[port].want > 0 {
            let state = &mut self.ports[port];
            let Some(channel) = state.channel(&self.free) else {
                break;
            };
            state.begin(channel, self.header);
            let wanted = state.want.div_ceil(state.caps[channel]);
            let given = left.min(wanted).min(self.free[channel]);
            self.give(port, channel, given);
            left -= given;
        }
        left < minislots
    }
}
