//! Numbers of frames to one receiver: the sender's window, and the receiver's order.
//!
//! The window of a BlockAck agreement begins with the lowest number that is neither acknowledged nor given up, so a frame that fails
//! again and again holds back new ones. The receiver hands frames up in the order of their numbers: a frame that has come
//! waits for a missing one until that comes, is given up, or is late.
//!
//! Source: IEEE 802.11-2020, 10.25 (block acknowledgment); Linux mac80211 for the timeout.
//! Deviations: numbers do not wrap; a receiver learns at once that a frame is given up, without a BlockAckReq on the air.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// How long a receiver waits for a missing frame. Source: `HT_RX_REORDER_BUF_TIMEOUT` of Linux, a tenth of a second.
pub const REORDER_TIMEOUT: Span = Span::from_ms(100);

/// The sender's side.
#[derive(Clone, Debug, Default)]
pub struct SendWindow {
    /// The lowest number that is not settled.
    first: u64,
    /// Of it and those after it.
    is_settled: VecDeque<bool>,
}

impl SendWindow {
    /// Returns true if the next number lies within a window of this many.
    pub fn is_open(&self, window: u64) -> bool {
        (self.is_settled.len() as u64) < window
    }

    /// Takes the next number.
    pub fn take(&mut self) -> u64 {
        self.is_settled.push_back(false);
        self.first + self.is_settled.len() as u64 - 1
    }

    /// The frame is acknowledged or given up, or a further packet of it is.
    pub fn settle(&mut self, number: u64) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let place = usize::try_from(place).expect("numbers in flight fit a window");
        self.is_settled[place] = true;
        while self.is_settled.front() == Some(&true) {
            self.is_settled.pop_front();
            self.first += 1;
        }
    }
}

/// The state of a sequence number.
#[derive(Clone, Debug)]
enum Place<T> {
    Missing,
    Received(Instant, T),
    GivenUp,
}

/// The receiver's side.
#[derive(Clone, Debug)]
pub struct ReceiveOrder<T> {
    /// The number that is handed up next.
    next: u64,
    /// Of it and those after it.
    places: VecDeque<Place<T>>,
}

impl<T> Default for ReceiveOrder<T> {
    fn default() -> Self {
        Self { next: 0, places: VecDeque::new() }
    }
}

impl<T> ReceiveOrder<T> {
    /// The frame has come at `now`. Returns it if it is too late.
    pub fn receive(&mut self, now: Instant, number: u64, frame: T) -> Option<T> {
        if number < self.next {
            return Some(frame);
        }
        *self.place(number) = Place::Received(now, frame);
        None
    }

    /// The frame will not come.
    pub fn give_up(&mut self, number: u64) {
        if number >= self.next {
            *self.place(number) = Place::GivenUp;
        }
    }

    fn place(&mut self, number: u64) -> &mut Place<T> {
        let index = usize::try_from(number - self.next).expect("numbers in flight fit a window");
        while self.places.len() <= index {
            self.places.push_back(Place::Missing);
        }
        &mut self.places[index]
    }

    /// Returns the time at which frames are handed up without those that are missing; [`Instant::NEVER`] if none wait.
    pub fn deadline(&self) -> Instant {
        let received = self.places.iter().find_map(|place| match place {
            Place::Received(at, _) => Some(*at + REORDER_TIMEOUT),
            Place::Missing | Place::GivenUp => None,
        });
        received.unwrap_or(Instant::NEVER)
    }

    /// Adds to `out` what is handed up at `now`, each frame with the time of its coming.
    pub fn release(&mut self, now: Instant, out: &mut Vec<(Instant, T)>) {
        loop {
            let is_late = self.deadline() <= now;
            match self.places.front() {
                None => return,
                Some(Place::Missing) if !is_late => return,
                Some(_) => {}
            }
            if let Some(Place::Received(at, frame)) = self.places.pop_front() {
                out.push((at, frame));
            }
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn released(order: &mut ReceiveOrder<u64>, now: Instant) -> Vec<u64> {
        let mut out = Vec::new();
        order.release(now, &mut out);
        out.into_iter().map(|(_, frame)| frame).collect()
    }

    #[test]
    fn a_window_moves_with_the_lowest_number_that_is_not_settled() {
        let mut window = SendWindow::default();
        let taken: Vec<u64> = core::iter::from_fn(|| window.is_open(4).then(|| window.take())).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        for number in [3, 1, 2] {
            window.settle(number);
            assert!(!window.is_open(4), "number 0 is missing");
        }
        window.settle(0);
        let taken: Vec<u64> = core::iter::from_fn(|| window.is_open(4).then(|| window.take())).collect();
        assert_eq!(taken, [4, 5, 6, 7]);
    }

    #[test]
    fn frames_are_handed_up_in_order_of_their_numbers() {
        let mut order = ReceiveOrder::default();
        for number in [1, 3, 2] {
            assert_eq!(order.receive(Instant::from_ms(1), number, number), None);
            assert!(released(&mut order, Instant::from_ms(1)).is_empty());
        }
        let _ = order.receive(Instant::from_ms(2), 0, 0);
        assert_eq!(released(&mut order, Instant::from_ms(2)), [0, 1, 2, 3]);
        assert_eq!(order.deadline(), Instant::NEVER);
    }

    #[test]
    fn a_frame_that_is_given_up_holds_nothing_back() {
        let mut order = ReceiveOrder::default();
        let _ = order.receive(Instant::ZERO, 1, 1);
        order.give_up(0);
        assert_eq!(released(&mut order, Instant::ZERO), [1]);
    }

    #[test]
    fn a_missing_frame_holds_others_back_until_the_timeout_and_is_then_too_late() {
        let mut order = ReceiveOrder::default();
        let _ = order.receive(Instant::from_ms(5), 2, 2);
        let _ = order.receive(Instant::from_ms(7), 1, 1);
        // The oldest in order of number, as Linux' timer.
        assert_eq!(order.deadline(), Instant::from_ms(107));
        assert!(released(&mut order, Instant::from_ms(106)).is_empty());
        assert_eq!(released(&mut order, Instant::from_ms(107)), [1, 2]);
        assert_eq!(order.receive(Instant::from_ms(108), 0, 0), Some(0));
    }
}
