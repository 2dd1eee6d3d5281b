//! Data that the application has written and the sender has not sent yet.
//!
//! Bytes are counted, not stored. Each write is remembered until its last byte is sent, so that a
//! segment knows since when its data have waited.

use alloc::collections::VecDeque;
use sojourn_base::Instant;

/// Outgoing bytes of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Bytes written in total; `u64::MAX` without end.
    written: u64,
    /// Bytes sent for the first time.
    sent: u64,
    /// End offset and time of each write that is not sent completely.
    writes: VecDeque<(u64, Instant)>,
    closed: bool,
    /// Number of the segment that carries the FIN.
    fin: Option<u32>,
}

/// Bytes that a segment takes from the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) written_at: Instant,
    /// Nothing follows, and the stream is closed.
    pub(crate) last: bool,
}

impl Stream {
    pub(crate) fn reset(&mut self) {
        self.writes.clear();
        *self = Self { writes: core::mem::take(&mut self.writes), ..Self::default() };
    }

    /// `bytes` more; `u64::MAX` means without end.
    pub(crate) fn write(&mut self, now: Instant, bytes: u64) {
        if self.closed || bytes == 0 {
            return;
        }
        self.written = self.written.saturating_add(bytes);
        if self.is_endless() {
            return;
        }
        match self.writes.back_mut() {
            Some(last) if last.1 == now => last.0 = self.written,
            _ => self.writes.push_back((self.written, now)),
        }
    }

    /// The application holds back what a stream without end has not sent yet; the next [`Self::write`] goes on there.
    pub(crate) fn hold(&mut self) {
        if self.is_endless() && !self.closed {
            self.written = self.sent;
        }
    }

    /// Nothing more will be written; a stream without end stops where it is.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        if self.is_endless() {
            self.written = self.sent;
            self.writes.clear();
        }
    }

    /// Returns the next segment of at most `size` bytes; `None` if there is nothing to send. A closed stream ends with
    /// a piece that may be empty.
    pub(crate) fn peek(&self, now: Instant, size: u32) -> Option<Piece> {
        let available = self.written - self.sent;
        let finish = self.closed && self.fin.is_none();
        if available == 0 && !finish {
            return None;
        }
        let length = u32::try_from(available).map_or(size, |bytes| bytes.min(size));
        let written_at = match self.writes.front() {
            Some(&(_, at)) if available > 0 && !self.is_endless() => at,
            _ => now,
        };
        Some(Piece { offset: self.sent, length, written_at, last: finish && u64::from(length) == available })
    }

    /// Returns true if more than `size` bytes wait to be sent for the first time.
    pub(crate) const fn holds_more_than(&self, size: u32) -> bool {
        self.written - self.sent > size as u64
    }

    /// Returns the piece of [`Self::peek`] if more than `size` bytes wait.
    #[inline]
    pub(crate) fn full_piece(&self, now: Instant, size: u32) -> Piece {
        Piece {
            offset: self.sent,
            length: size,
            written_at: match self.writes.front() {
                Some(&(_, at)) if !self.is_endless() => at,
                _ => now,
            },
            last: false,
        }
    }

    /// `piece` is sent as segment `number`.
    #[inline]
    pub(crate) fn take(&mut self, piece: &Piece, number: u32) {
        self.sent += u64::from(piece.length);
        while self.writes.front().is_some_and(|&(end, _)| end <= self.sent) {
            self.writes.pop_front();
        }
        if piece.last {
            self.fin = Some(number);
        }
    }

    /// Number of the segment that carries the FIN, once it is sent.
    pub(crate) const fn fin(&self) -> Option<u32> {
        self.fin
    }

    /// Returns true if anything waits to be sent for the first time.
    pub(crate) const fn has_more(&self) -> bool {
        self.written > self.sent || (self.closed && self.fin.is_none())
    }

    const fn is_endless(&self) -> bool {
        self.written == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_as_old_as_its_first_byte() {
        let mut stream = Stream::default();
        stream.write(Instant::from_ms(1), 1000);
        stream.write(Instant::from_ms(5), 2000);
        let mut starts = std::vec::Vec::new();
        for number in 0.. {
            let Some(piece) = stream.peek(Instant::from_ms(9), 800) else {
                break;
            };
            stream.take(&piece, number);
            starts.push((piece.offset, piece.length, piece.written_at.as_ns() / 1_000_000));
        }
        assert_eq!(starts, [(0, 800, 1), (800, 800, 1), (1600, 800, 5), (2400, 600, 5)]);
    }

    #[test]
    fn the_fin_rides_on_the_last_bytes_or_goes_alone() {
        let mut stream = Stream::default();
        stream.write(Instant::ZERO, 1000);
        stream.close();
        let piece = stream.peek(Instant::ZERO, 1460).unwrap();
        assert_eq!((piece.length, piece.last), (1000, true));
        stream.take(&piece, 7);
        assert_eq!((stream.fin(), stream.has_more()), (Some(7), false));

        let mut stream = Stream::default();
        stream.write(Instant::ZERO, 1000);
        stream.take(&stream.peek(Instant::ZERO, 1460).unwrap(), 0);
        stream.close();
        let piece = stream.peek(Instant::ZERO, 1460).unwrap();
        assert_eq!((piece.length, piece.last), (0, true));
    }

    #[test]
    fn an_endless_stream_rests_and_goes_on_where_it_was() {
        let mut stream = Stream::default();
        stream.write(Instant::ZERO, u64::MAX);
        stream.take(&stream.peek(Instant::ZERO, 1460).unwrap(), 0);
        stream.hold();
        assert_eq!((stream.peek(Instant::from_s(1), 1460), stream.has_more()), (None, false));
        stream.write(Instant::from_s(60), u64::MAX);
        let piece = stream.peek(Instant::from_s(60), 1460).unwrap();
        assert_eq!((piece.offset, piece.length, piece.written_at), (1460, 1460, Instant::from_s(60)));
        // A file has an end, and goes on to it.
        let mut file = Stream::default();
        file.write(Instant::ZERO, 3000);
        file.hold();
        assert!(file.has_more());
    }

    #[test]
    fn an_endless_stream_is_as_young_as_its_transmission_and_stops_when_closed() {
        let mut stream = Stream::default();
        stream.write(Instant::ZERO, u64::MAX);
        let piece = stream.peek(Instant::from_s(3), 1460).unwrap();
        assert_eq!(piece.written_at, Instant::from_s(3));
        stream.take(&piece, 0);
        stream.close();
        let piece = stream.peek(Instant::from_s(3), 1460).unwrap();
        assert_eq!((piece.offset, piece.length, piece.last), (1460, 0, true));
    }
}
