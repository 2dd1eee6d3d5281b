//! Reports of a receiver on the packets of one stream.
//!
//! Source: RFC 8888 section 3.1 (the report: which packets of a range have arrived, when, and with which ECN field; a time
//! in 1/1024 s) and RFC 8298 section 4.2.2 (how often).
//! Deviations: chosen, as both documents leave it open: a report repeats the range of the one before, so that the loss of
//! one loses nothing; one leaves after [`MOST_NEW`] packets, too, because a window of a fast stream would stand still for
//! 20 ms. There are no sender and receiver reports beside, and no packet of another stream in a report.

use std::collections::VecDeque;

use sojourn_base::{Ecn, Instant, Span};

use super::place;

/// Headers of IP and UDP, and what a report is made of beside a list of packets: RTCP header and SSRC of its sender, SSRC
/// and range of the stream, time stamp (RFC 8888 section 3.1).
const HEADERS: u64 = 28 + 8 + 8 + 4;
/// An offset of arrival in units of 1/1024 s has 13 bits, two values of which say that it is not known.
const LONGEST_OFFSET: u64 = 0x1ffd;
/// chosen, as draft-ietf-ccwg-rfc8298bis-screamv2 says that it was tested; RFC 8298 section 4.2.2 permits shorter intervals
/// than 20 ms at very high rates.
const MOST_NEW: u64 = 16;
/// chosen: reports on their way, at most; more than a second of the fastest streams.
const MOST_REPORTS: usize = 1_024;

/// Report on one packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Arrival time; `None` if that is too long ago.
    pub(crate) arrived_at: Option<Instant>,
    /// With a congestion mark.
    pub(crate) is_marked: bool,
}

/// A report on its way.
#[derive(Clone, Copy, Debug)]
struct Report {
    sent_at: Instant,
    begin: u64,
    end: u64,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Instant,
    is_marked: bool,
}

/// The receiver of one stream, and its reports until they arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reporter {
    /// Packets from number `first` on.
    log: VecDeque<Option<Arrival>>,
    first: u64,
    /// Reports from number `first_report` on.
    reports: VecDeque<Report>,
    first_report: u64,
    /// Ends of the ranges of the last two reports.
    ends: [u64; 2],
    new: u64,
    /// Bits since the last report.
    bits: f64,
    reported_at: Instant,
}

impl Reporter {
    /// Bytes of its log of packets, and of its reports.
    pub(crate) fn bytes(&self) -> usize {
        crate::ring_bytes(&self.log) + crate::ring_bytes(&self.reports)
    }

    /// A packet of the stream has arrived: whether a report is due.
    pub(crate) fn on_packet(&mut self, now: Instant, number: u64, bytes: u64, ecn: Ecn) -> bool {
        self.bits += bytes as f64 * 8.0;
        let Some(distance) = number.checked_sub(self.first) else {
            return false; // no report comes back to it
        };
        let at = place(distance);
        if at >= self.log.len() {
            self.log.resize(at + 1, None);
        }
        self.log[at] = Some(Arrival { at: now, is_marked: ecn == Ecn::Ce });
        self.new += 1;
        self.new >= MOST_NEW
    }

    /// The oldest report on its way.
    pub(crate) const fn first_report(&self) -> u64 {
        self.first_report
    }

    /// Returns the longest time to the next report, after that of `now` (RFC 8298 section 4.2.2).
    pub(crate) fn interval(&self, now: Instant) -> Span {
        let passed = now.saturating_since(self.reported_at).as_secs_f64();
        let rate = if passed > 0.0 { self.bits / passed } else { 0.0 };
        Span::from_secs_f64(1.0 / (rate / 10_000.0).clamp(2.5, 50.0))
    }

    /// Sends a report: its number and its length as the network counts it. None if nothing has arrived since the last one.
    pub(crate) fn report(&mut self, now: Instant) -> Option<(u64, u64)> {
        if self.new == 0 {
            return None;
        }
        let end = self.first + self.log.len() as u64;
        let begin = self.ends[0].max(self.first);
        self.ends = [self.ends[1], end];
        self.reports.push_back(Report { sent_at: now, begin, end });
        if self.reports.len() > MOST_REPORTS {
            self.drop_reports(1);
        }
        self.new = 0;
        self.bits = 0.0;
        self.reported_at = now;
        let number = self.first_report + self.reports.len() as u64 - 1;
        Some((number, HEADERS + (2 * (end - begin)).next_multiple_of(4)))
    }

    /// Takes report `number` at the sender, and returns its first packet and the reports from there on. Older reports
    /// are ignored.
    pub(crate) fn deliver(&mut self, number: u64) -> Option<(u64, impl Iterator<Item = Option<Received>> + '_)> {
        let older = place(number.checked_sub(self.first_report)?);
        let report = *self.reports.get(older)?;
        self.drop_reports(older);
        let range = place(report.begin - self.first)..place(report.end - self.first);
        let packets = self.log.range(range).map(move |arrival| {
            let arrival = arrival.filter(|arrival| arrival.at <= report.sent_at)?;
            let offset = u128::from(report.sent_at.saturating_since(arrival.at).as_ps()) * 1_024;
            let offset = u64::try_from(offset / 1_000_000_000_000).unwrap_or(u64::MAX);
            let arrived_at = (offset <= LONGEST_OFFSET).then(|| {
                let ps = u128::from(offset) * 1_000_000_000_000 / 1_024;
                let ago = Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
                Instant::from_ps(report.sent_at.as_ps() - ago.as_ps())
            });
            Some(Received { arrived_at, is_marked: arrival.is_marked })
        });
        Some((report.begin, packets))
    }

    /// Drops the oldest reports, and packets that no report covers any more.
    fn drop_reports(&mut self, count: usize) {
        self.reports.drain(..count);
        self.first_report += count as u64;
        if let Some(oldest) = self.reports.front() {
            self.log.drain(..place(oldest.begin - self.first));
            self.first = oldest.begin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_as_long_as_the_document_draws_it() {
        let mut reporter = Reporter::default();
        for number in 0..3 {
            reporter.on_packet(Instant::from_ms(number), number, 1_212, Ecn::NotEct);
        }
        // Three entries of two octets and two of padding.
        assert_eq!(reporter.report(Instant::from_ms(9)), Some((0, 48 + 8)));
        assert_eq!(reporter.report(Instant::from_ms(19)), None);
    }

    #[test]
    fn reports_overlap_and_say_what_was_there_when_they_left() {
        let mut reporter = Reporter::default();
        let arrive = |reporter: &mut Reporter, ms, number, ecn| {
            reporter.on_packet(Instant::from_ms(ms), number, 1_212, ecn);
        };
        arrive(&mut reporter, 1, 0, Ecn::Ect1);
        arrive(&mut reporter, 2, 2, Ecn::Ce);
        assert!(reporter.report(Instant::from_ms(5)).is_some());
        arrive(&mut reporter, 6, 1, Ecn::Ect1);
        arrive(&mut reporter, 7, 3, Ecn::Ect1);
        // Four entries: three of the first report again, and one more.
        assert_eq!(reporter.report(Instant::from_ms(8)), Some((1, 48 + 8)));
        let seen = |reporter: &mut Reporter, number| -> (u64, Vec<Option<bool>>) {
            let (begin, packets) = reporter.deliver(number).expect("it is on its way");
            let marks = packets.map(|packet| Some(packet?.is_marked));
            (begin, marks.collect())
        };
        assert_eq!(seen(&mut reporter, 0), (0, vec![Some(false), None, Some(true)]));
        assert_eq!(seen(&mut reporter, 1), (0, vec![Some(false), Some(false), Some(true), Some(false)]));
        assert!(reporter.deliver(0).is_none());
        arrive(&mut reporter, 9, 4, Ecn::Ect1);
        assert_eq!(reporter.report(Instant::from_ms(10)), Some((2, 48 + 4)));
        assert_eq!(seen(&mut reporter, 2), (3, vec![Some(false), Some(false)]));
    }

    #[test]
    fn times_of_arrival_have_steps_of_a_1024th_of_a_second() {
        let mut reporter = Reporter::default();
        reporter.on_packet(Instant::from_ms(10), 0, 1_212, Ecn::NotEct);
        reporter.report(Instant::from_ms(15));
        let (_, mut packets) = reporter.deliver(0).expect("it is on its way");
        let packet = packets.next().flatten().expect("it has arrived");
        // 5 ms are 5.12 units: five of them, 4.8828125 ms.
        assert_eq!(packet.arrived_at, Some(Instant::from_ns(10_117_187) + Span::from_ps(500)));
        drop(packets);
        reporter.on_packet(Instant::from_ms(20), 1, 1_212, Ecn::NotEct);
        reporter.report(Instant::from_s(9));
        let (_, mut packets) = reporter.deliver(1).expect("it is on its way");
        assert!(packets.all(|packet| packet.expect("it has arrived").arrived_at.is_none()));
    }

    #[test]
    fn the_interval_follows_the_rate() {
        // 100 kb/s: 10 a second; below 25 kb/s 400 ms, above 500 kb/s 20 ms.
        for (bytes, ms) in [(1_250, 100), (100, 400), (12_500, 20)] {
            let mut reporter = Reporter::default();
            reporter.on_packet(Instant::from_ms(50), 0, bytes, Ecn::NotEct);
            assert_eq!(reporter.interval(Instant::from_ms(100)), Span::from_ms(ms));
        }
    }

    #[test]
    fn sixteen_packets_are_reported_at_once() {
        let mut reporter = Reporter::default();
        let due: Vec<bool> =
            (0..16).map(|number| reporter.on_packet(Instant::ZERO, number, 1_212, Ecn::NotEct)).collect();
        assert_eq!(due.iter().position(|is_due| *is_due), Some(15));
    }

    #[test]
    fn reports_that_never_arrive_are_forgotten() {
        let mut reporter = Reporter::default();
        for number in 0..5_000 {
            let now = Instant::from_ms(number);
            reporter.on_packet(now, number, 1_212, Ecn::NotEct);
            reporter.report(now);
        }
        assert_eq!(reporter.reports.len(), MOST_REPORTS);
        assert!(reporter.log.len() < MOST_REPORTS + 4);
        assert!(reporter.deliver(4_999).is_some());
    }
}
