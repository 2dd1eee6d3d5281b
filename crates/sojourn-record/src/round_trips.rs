//! Round trips over the access line, put together from packets that crossed it one way.
//!
//! Source: White 2019 4.2 (round trips between modem and CMTS). Each packet upstream is answered by the first one downstream of the same
//! session that reached the line's far end at or after the packet's arrival, so that the directions stay correlated, which a
//! convolution of their distributions loses.
//! Units and ranges: access delay up plus access delay down; the path beyond the line takes no time.
//! Deviations: "the first" is that which left the line first, should answers overtake one another. Packets without an answer have
//! no round trip. Of connections one packet of a session is followed at a time, as TCP times its round trips (RFC 6298 3),
//! since all of them would cost a tenth of a run; of datagrams all, while fewer than [`WAITING_AT_MOST`] wait.

use crate::accumulate::DelayHistogram;
use sojourn_base::{Instant, Span};
use std::collections::VecDeque;

/// Datagrams of a session that wait for an answer. chosen: far more than a game or a call sends while its answers are
/// late; a stream without answers takes 64 KiB.
const WAITING_AT_MOST: usize = 4096;

/// A packet that has crossed the line upstream.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    arrives_at: Instant,
    delay: Span,
}

/// Packets of one session that wait for an answer, in the order of arrival.
#[derive(Clone, Debug)]
struct Session {
    /// The first; it arrives never if none waits.
    first: Crossed,
    others: VecDeque<Crossed>,
}

const NOTHING: Crossed = Crossed { arrives_at: Instant::NEVER, delay: Span::ZERO };

impl Session {
    const fn new() -> Self {
        Self { first: NOTHING, others: VecDeque::new() }
    }

    #[cold] // few connections have two packets of a session followed
    fn add(&mut self, crossed: Crossed, at_most: usize) {
        if self.others.len() + 1 >= at_most {
            return;
        }
        if crossed.arrives_at < self.first.arrives_at {
            let later = core::mem::replace(&mut self.first, crossed);
            self.others.push_front(later);
        } else {
            let place = (self.others).partition_point(|one| one.arrives_at <= crossed.arrives_at);
            self.others.insert(place, crossed);
        }
    }
}

/// Round trips of one traffic entry, all its sessions together.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrips {
    at_most: usize,
    /// A session is a server of the entry.
    sessions: Vec<Session>,
    delays: Option<DelayHistogram>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { at_most: WAITING_AT_MOST, sessions: Vec::new(), delays: None }
    }
}

impl RoundTrips {
    /// One packet of a session is followed at a time.
    pub(crate) fn one_at_a_time() -> Self {
        Self { at_most: 1, ..Self::default() }
    }

    /// A packet leaves the line upstream; its last bit arrives then.
    #[inline]
    pub(crate) fn on_upstream(&mut self, session: u32, arrives_at: Instant, delay: Span) {
        let crossed = Crossed { arrives_at, delay };
        match self.sessions.get_mut(session as usize) {
            Some(session) if session.first.arrives_at == Instant::NEVER => session.first = crossed,
            Some(_) if self.at_most == 1 => {}
            Some(session) => session.add(crossed, self.at_most),
            None => self.begin(session, crossed),
        }
    }

    #[cold] // once in each session
    fn begin(&mut self, session: u32, crossed: Crossed) {
        self.sessions.resize_with(session as usize + 1, Session::new);
        self.sessions[session as usize].first = crossed;
    }

    /// A packet leaves the line downstream that reached it then.
    #[inline]
    pub(crate) fn on_downstream(&mut self, session: u32, entered_at: Instant, delay: Span) {
        if let Some(waiting) = self.sessions.get_mut(session as usize)
            && waiting.first.arrives_at <= entered_at
        {
            self.answer(session, entered_at, delay);
        }
    }

    #[inline(never)]
    fn answer(&mut self, session: u32, entered_at: Instant, delay: Span) {
        let session = &mut self.sessions[session as usize];
        let delays = self.delays.get_or_insert_default();
        while session.first.arrives_at <= entered_at {
            delays.record(session.first.delay + delay);
            session.first = session.others.pop_front().unwrap_or(NOTHING);
        }
    }

    /// Forgets what was and what waits.
    pub(crate) fn forget(&mut self) {
        self.sessions.clear();
        self.delays = None;
    }

    /// Round trips so far; `None` without any.
    pub(crate) const fn delays(&self) -> Option<&DelayHistogram> {
        self.delays.as_ref()
    }

    /// Bytes of what waits.
    pub(crate) fn waiting_bytes(&self) -> usize {
        let others = self.sessions.iter().map(|session| session.others.capacity());
        self.sessions.capacity() * size_of::<Session>() + others.sum::<usize>() * size_of::<Crossed>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sent at, and how long it took, in ms.
    fn up(trips: &mut RoundTrips, session: u32, sent_at: u64, delay: u64) {
        trips.on_upstream(session, Instant::from_ms(sent_at + delay), Span::from_ms(delay));
    }

    fn down(trips: &mut RoundTrips, session: u32, sent_at: u64, delay: u64) {
        trips.on_downstream(session, Instant::from_ms(sent_at), Span::from_ms(delay));
    }

    /// Round trips in ms, ascending; each is alone in its bin, whose middle is less than 0.1 % away.
    fn known(trips: &RoundTrips) -> Vec<u64> {
        let middles = trips.delays().into_iter().flat_map(DelayHistogram::middles);
        let ms = middles.flat_map(|(ns, count)| (0..count).map(move |_| (ns + 500_000) / 1_000_000));
        ms.collect()
    }

    #[test]
    fn a_round_trip_takes_the_first_answer_after_the_arrival() {
        // Arrivals at 5, 73, 76 and 149: answered by what was sent at 5, 73 and 77, and never.
        // 5 + 7, 40 + 20, 10 + 9.
        let mut trips = RoundTrips::default();
        up(&mut trips, 0, 0, 5);
        down(&mut trips, 0, 5, 7);
        up(&mut trips, 0, 33, 40);
        down(&mut trips, 0, 38, 8);
        up(&mut trips, 0, 66, 10);
        down(&mut trips, 0, 73, 20);
        down(&mut trips, 0, 77, 9);
        up(&mut trips, 0, 99, 50);
        assert_eq!(known(&trips), [12, 19, 60]);
    }

    #[test]
    fn one_answer_serves_all_that_wait_and_no_other_session() {
        let mut trips = RoundTrips::default();
        for sent_at in [0, 10, 20] {
            up(&mut trips, 1, sent_at, 5);
        }
        up(&mut trips, 2, 0, 100);
        down(&mut trips, 0, 30, 1);
        assert_eq!(known(&trips), []);
        // 5 + 300, and 5 + 400 for that which arrived at 25; session 2 has no answer.
        down(&mut trips, 1, 15, 300);
        down(&mut trips, 1, 25, 400);
        assert_eq!(known(&trips), [305, 305, 405]);
    }

    #[test]
    fn of_connections_one_packet_is_followed_at_a_time() {
        let mut trips = RoundTrips::one_at_a_time();
        for sent_at in [0, 10, 20] {
            up(&mut trips, 0, sent_at, 5);
        }
        up(&mut trips, 1, 12, 7);
        // 5 + 30 of the first, 7 + 40 of the other session; then that which comes after the answer: 6 + 50.
        down(&mut trips, 0, 30, 30);
        down(&mut trips, 1, 30, 40);
        up(&mut trips, 0, 31, 6);
        down(&mut trips, 0, 40, 50);
        assert_eq!(known(&trips), [35, 47, 56]);
    }

    #[test]
    fn packets_that_overtake_are_answered_in_the_order_of_their_arrival() {
        let mut trips = RoundTrips::default();
        up(&mut trips, 0, 0, 50);
        up(&mut trips, 0, 1, 9);
        down(&mut trips, 0, 20, 4);
        assert_eq!(known(&trips), [13]);
    }

    #[test]
    fn a_stream_that_nobody_answers_takes_little() {
        let mut trips = RoundTrips::default();
        for sent_at in 0..100_000 {
            up(&mut trips, 0, sent_at, 5);
        }
        let most = WAITING_AT_MOST * size_of::<Crossed>();
        assert!(trips.waiting_bytes() <= most + 8 * size_of::<Session>());
        assert!(trips.delays().is_none());
    }
}
