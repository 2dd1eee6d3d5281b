//! The send loop: which segment leaves next, and whether the window, the peer, Nagle or the pacer
//! hold it back.
//!
//! Source: RFC 6675 section 4 (`NextSeg`), RFC 3042 (limited transmit), RFC 896.
//! Deviations: none known.

use super::Sender;
use crate::common::restart::restart;
use crate::common::stream::Piece;
use crate::config::{GrowthGate, LossDetection, Pace, RoundTripSampling, StackConfig, WindowUnit};
use crate::congestion::whole;
use crate::tcp::Outlet;
use crate::tcp::nagle::{Candidate, holds_back};
use crate::tcp::scoreboard::Sent;
use crate::tcp::superpacket::{Leaving, Moment};
use crate::{CongestionState, EndpointContext, Flags};
use sojourn_base::Instant;

/// Room in the window, in its unit.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// In the network.
    used: u32,
    limit: u32,
    /// Nothing is in the network: one segment may leave, whatever its size.
    first: bool,
}

/// Result of a run of full segments of new data.
#[derive(Clone, Copy, Debug)]
struct Run {
    sent: bool,
    /// Segments of new data that may still leave; the others wait for a superpacket.
    quota: u32,
    /// Window or peer hold back what is left, or nothing is; the send loop would find nothing more to do.
    exhausted: bool,
    /// It is the window.
    limited: bool,
}

impl Run {
    const NOTHING: Self = Self { sent: false, quota: 0, exhausted: true, limited: false };
}

impl Sender {
    /// Send what may be sent.
    pub(crate) fn transmit<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) {
        if self.send_what_may_be_sent(now, out) {
            self.arm_probe(now, out.config, true);
        }
    }

    /// Send what may be sent, and leave the probe timer to the caller; returns whether there were new data.
    pub(super) fn send_what_may_be_sent<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) -> bool {
        if self.waiting {
            return false;
        }
        if self.board.flight() == 0 && self.stream.has_more() {
            self.restart_after_idle(now, out.config);
        }
        if self.state == CongestionState::Recovery {
            self.recovery.before_sending(self.board.pipe());
        }
        let mut run = if self.has_nothing_to_send() { Run::NOTHING } else { self.send_run(now, out) };
        if !run.exhausted {
            self.send_one_by_one(now, out, &mut run);
        }
        let Run { sent, limited, .. } = run;
        if out.config.growth_gate == GrowthGate::Linux || self.delivery_rate.is_some() {
            self.note_usage(limited);
        }
        if let Some(rate) = &mut self.delivery_rate
            && !limited
            && !self.stream.has_more()
            && self.board.pending() == 0
        {
            rate.on_application_limited(self.board.pipe_bytes());
        }
        if self.timeout_at == Instant::NEVER && self.board.pipe() > 0 {
            self.restart_timeout(now);
        }
        sent
    }

    /// Returns true if the send loop would find nothing, whatever the window: only recovery sends more than waiting
    /// data.
    const fn has_nothing_to_send(&self) -> bool {
        self.board.pending() == 0
            && !self.stream.has_more()
            && !matches!(self.state, CongestionState::Recovery)
            && self.takes_shortcuts
    }

    /// The send loop: whatever may leave next, as long as something may.
    fn send_one_by_one<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>, run: &mut Run) {
        loop {
            if let Some(pacing) = self.control.pacing(out.config)
                && self.is_paced(now, pacing)
            {
                // Slow start asks for the flight.
                let has_room = self.has_room(out.config.maximum_segment_size, true, out.config);
                run.limited = !self.control.in_slow_start() && self.control.limits_what_is_paced(has_room);
                break;
            }
            if let Some(number) = self.board.next_lost() {
                let length = u32::from(self.board.segment(number).length);
                if !self.has_room(length, false, out.config) {
                    run.limited = true;
                    break;
                }
                self.retransmit(now, number, out);
            } else if self.stream.has_more() && run.quota == 0 {
                run.limited = !self.exceeds_receive_window(out.config);
                break;
            } else if self.stream.has_more()
                && let Some(piece) = self.next_new(now, out.config, &mut run.limited)
            {
                self.send_in_run(now, &piece, run, out);
            } else if run.limited || !self.send_speculatively(now, out) {
                break;
            }
        }
    }

    /// Send the full segments of new data that may leave, if nothing but the window and the peer can hold them back:
    /// what the send loop does, without asking again what sending them does not change.
    #[inline]
    fn send_run<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) -> Run {
        let config = out.config;
        let quota = if config.superpackets { self.quota(now, config) } else { u32::MAX };
        let mut run = Run { sent: false, quota, exhausted: false, limited: false };
        let applies = self.board.pending() == 0
            && self.state != CongestionState::Recovery
            && !self.control.paces()
            && self.takes_shortcuts;
        let size = config.maximum_segment_size;
        if !applies || !self.stream.holds_more_than(size) {
            return run;
        }
        let room = self.room(true, config);
        let step = match config.window_unit {
            WindowUnit::Segments => 1,
            WindowUnit::Bytes => size,
        };
        let mut used = room.used;
        let mut fits = room.first || used + step <= room.limit;
        while self.stream.holds_more_than(size) {
            let accepted = !self.exceeds_receive_window(config);
            if !accepted || !fits || run.quota == 0 {
                run.limited = accepted;
                run.exhausted = true;
                break;
            }
            let piece = self.stream.full_piece(now, size);
            self.send_in_run(now, &piece, &mut run, out);
            used += step;
            fits = used + step <= room.limit;
        }
        run
    }

    /// Segments of new data that leave in superpackets now.
    fn quota(&mut self, now: Instant, config: &StackConfig) -> u32 {
        let Room { used, limit, .. } = self.room(true, config);
        let (room, first) = (limit.saturating_sub(used), self.board.first());
        let leaves = matches!(self.state, CongestionState::Recovery | CongestionState::Loss)
            || self.control.paces()
            || config.window_unit == WindowUnit::Bytes
            || !self.stream.holds_more_than(room.saturating_mul(config.maximum_segment_size));
        self.leaving = match self.round_trip.smoothed() {
            Some(smoothed) if !leaves => Moment {
                now,
                window: self.control.window(),
                flight: self.board.flight(),
                room,
                smoothed,
                last_sent_at: self.last_sent_at,
                first_sent_at: (self.board.flight() > 0).then(|| self.board.segment(first).sent_at),
            }
            .leaving(),
            _ => Leaving::SINGLE,
        };
        self.leaving.segments()
    }

    /// Returns true if the pacer holds data back.
    #[inline(never)] // few stacks pace, and all send
    fn is_paced(&mut self, now: Instant, pacing: &Pace) -> bool {
        self.round_trip.smoothed().is_some()
            && (self.stream.has_more() || self.board.pending() > 0)
            && self.pacer.held_until(now, pacing, &self.control).is_some()
    }

    /// Returns the time at which paced data may leave, `now` at the earliest; [`Instant::NEVER`] if none waits.
    #[inline]
    pub(crate) fn paced_until(&mut self, now: Instant, config: &StackConfig) -> Instant {
        match self.control.pacing(config) {
            Some(pacing) => self.end_of_pause(now, pacing, config),
            None => Instant::NEVER,
        }
    }

    #[inline(never)] // few stacks pace, and all ask
    fn end_of_pause(&mut self, now: Instant, pacing: &Pace, config: &StackConfig) -> Instant {
        let mut limited = false;
        let ready = !self.waiting
            && self.round_trip.smoothed().is_some()
            && ((self.board.pending() > 0 && self.has_room(0, false, config))
                || (self.stream.has_more() && self.next_new(now, config, &mut limited).is_some()));
        if !ready {
            return Instant::NEVER;
        }
        self.pacer.held_until(now, pacing, &self.control).unwrap_or(now)
    }

    /// Send new data if there are any, without asking the window. Returns whether something was sent.
    pub(super) fn send_new<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) -> bool {
        if self.exceeds_receive_window(out.config) {
            return false;
        }
        let Some(piece) = self.stream.peek(now, out.config.maximum_segment_size) else {
            return false;
        };
        self.send_piece(now, &piece, out);
        true
    }

    /// Send `piece` as the next segment of a run.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most segments leave in runs")]
    fn send_in_run<C: EndpointContext>(&mut self, now: Instant, piece: &Piece, run: &mut Run, out: &mut Outlet<'_, C>) {
        let number = self.take_piece(now, piece, out.config);
        if out.config.superpackets {
            run.quota -= 1;
            if self.leaving.ends_superpacket() {
                self.board.add_flags(number, Flags::PSH);
            }
        }
        run.sent = true;
        self.emit(now, number, out);
    }

    fn send_piece<C: EndpointContext>(&mut self, now: Instant, piece: &Piece, out: &mut Outlet<'_, C>) {
        let number = self.take_piece(now, piece, out.config);
        self.emit(now, number, out);
    }

    /// Make `piece` the next segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each segment is one, in a run or alone")]
    fn take_piece(&mut self, now: Instant, piece: &Piece, config: &StackConfig) -> u32 {
        let number = self.board.push(Sent {
            sent_at: now,
            first_sent_at: now,
            written_at: piece.written_at,
            offset: low_half(piece.offset),
            length: u16::try_from(piece.length).expect("a segment is at most 65,535 bytes"),
            transmissions: 1,
            flags: if piece.last { Flags::FIN } else { Flags::NONE },
        });
        self.stream.take(piece, number);
        if config.sampling == RoundTripSampling::OncePerWindow && self.timed.is_none() {
            self.timed = Some((number, now));
        }
        number
    }

    /// The peer has no room.
    fn exceeds_receive_window(&self, config: &StackConfig) -> bool {
        self.board.flight() >= config.receive_window && !config.habits.sends_beyond_receive_window
    }

    /// The new data that may leave next: window, peer, Nagle. Sets `limited` if it is the window that holds them.
    #[inline]
    fn next_new(&self, now: Instant, config: &StackConfig, limited: &mut bool) -> Option<Piece> {
        let piece = self.stream.peek(now, config.maximum_segment_size)?;
        if self.exceeds_receive_window(config) {
            return None;
        }
        let candidate = Candidate {
            short: piece.length > 0 && piece.length < config.maximum_segment_size,
            outstanding: self.board.flight() > 0,
            last: piece.last,
        };
        if holds_back(candidate, config.nagle, config.nagle_fin_flush) {
            return None;
        }
        let room = self.has_room(piece.length, true, config);
        *limited |= !room;
        room.then_some(piece)
    }

    /// Returns true if the window has room for a segment of `length` bytes.
    fn has_room(&self, length: u32, new: bool, config: &StackConfig) -> bool {
        let room = self.room(new, config);
        let step = match config.window_unit {
            WindowUnit::Segments => 1,
            WindowUnit::Bytes => length,
        };
        room.first || room.used + step <= room.limit
    }

    /// The room of the window.
    #[inline]
    fn room(&self, new: bool, config: &StackConfig) -> Room {
        let board = &self.board;
        let recovering = self.state == CongestionState::Recovery;
        let selective = config.loss_detection.uses_sack();
        // Without limited transmit nothing leaves on the first duplicates.
        let hold = selective && !config.limited_transmit && self.state == CongestionState::Open;
        let window = self.control.window();
        match config.window_unit {
            WindowUnit::Segments => {
                let limit = if recovering {
                    self.recovery.limit(&self.control)
                } else if new && !selective && config.limited_transmit {
                    window.whole() + self.duplicates.min(2)
                } else {
                    window.whole()
                };
                Room { used: if hold { board.flight() } else { board.pipe() }, limit, first: false }
            }
            WindowUnit::Bytes => {
                // A thousandth of a byte makes up for the rounding of segments to bytes and back.
                let full = f64::from(config.maximum_segment_size);
                Room {
                    used: if hold { board.flight_bytes() } else { board.pipe_bytes() },
                    limit: whole(window.size * full + 0.001),
                    first: board.pipe() == 0,
                }
            }
        }
    }

    /// RFC 6675 rules 3 and 4: in recovery, with nothing else to send, repeat a segment that is not
    /// known to be lost.
    fn send_speculatively<C: EndpointContext>(&mut self, now: Instant, out: &mut Outlet<'_, C>) -> bool {
        let applies = self.state == CongestionState::Recovery
            && out.config.loss_detection == LossDetection::Sack6675
            && self.has_room(out.config.maximum_segment_size, false, out.config);
        if !applies {
            return false;
        }
        let from = self.recovery.retransmitted_below.max(self.board.lost_below());
        let hole = self.board.highest_sacked().and_then(|highest| self.board.next_untouched(from, highest));
        let number = match hole {
            Some(number) => number,
            None if !self.recovery.rescued => {
                self.recovery.rescued = true;
                match self.board.highest_unsacked() {
                    Some(number) if !self.board.is_retransmitted(number) => number,
                    _ => return false,
                }
            }
            None => return false,
        };
        out.statistics.speculative_retransmissions += 1;
        self.repeat(now, number, out);
        true
    }

    /// New data leave with nothing outstanding: perhaps after a pause.
    #[cold]
    fn restart_after_idle(&mut self, now: Instant, config: &StackConfig) {
        if self.last_sent_at == Instant::NEVER {
            return;
        }
        let idle = now.saturating_since(self.last_sent_at);
        let timeout = self.timeout_without_backoff();
        if idle > timeout {
            let rule = config.idle_restart;
            let window = self.control.window_mut();
            restart(rule, config.initial_window, idle, timeout, window);
            self.control.on_restart(idle);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
const fn low_half(offset: u64) -> u32 {
    offset as u32
}
