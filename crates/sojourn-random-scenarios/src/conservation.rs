//! A recorder that counts every packet and doubts every time and every rate, beside the tables that a run keeps.
//!
//! Source: DOCSIS MULPI annex C for what a rate and a burst allow in any time. Deviations: none known.

use sojourn_base::report::Report;
use sojourn_base::{BitRate, Bytes, Direction, Instant, Span};
use sojourn_link::{ConditionConfig, LinkConfig};
use sojourn_record::{
    ColumnRecorder, ConnectionTotals, Datagram, Fate, FlowRow, LinkDrop, LinkId, LinkMark, LinkPassage, Recorder,
    SegmentArrival, TrafficId, Waiting,
};
use sojourn_testkit::departures::Departures;
use std::collections::BTreeMap;

/// Bytes that a link may let through in any time `T`: those of its rate in `T`, and a burst.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    rate: BitRate,
    at_once: Bytes,
    departures: Departures,
    longest: u64,
}

impl Allowed {
    /// On this link; `None` if others or conditions decide about it, or nothing does.
    pub fn on(link: &LinkConfig, conditions: &[ConditionConfig]) -> Option<Self> {
        if !conditions.is_empty() {
            return None;
        }
        let rate = link.drain_rate();
        let burst = link.allowance(Span::ZERO).filter(|_| link.is_steady())?;
        // Requests of one interval and of the next may come with one grant after the other; the guarantee of a MAP is
        // paid back by the next. So is the rounding of a grant, which the last one of a time may keep.
        let at_once = burst + rate.bytes_in(link.grant_interval() * 2) + link.grant_unit();
        Some(Self { rate, at_once, ..Self::default() })
    }

    fn add(&mut self, passage: &LinkPassage) {
        let length = passage.charged.0;
        self.longest = self.longest.max(length);
        self.departures.add(passage.arrives_at, length);
    }

    /// By how many bytes a window had too much.
    fn excess(&mut self) -> Option<f64> {
        let at_once = self.at_once.0 + self.longest;
        let excess = self.departures.burst_needed(self.rate) - at_once as f64;
        // Times are whole picoseconds, which are less than a byte.
        (excess >= 1.0).then_some(excess)
    }
}

/// Packets by fate, and violations.
#[derive(Debug)]
pub struct Conservation {
    /// Of each link, by its number.
    allowed: Vec<Option<Allowed>>,
    /// Directions of Wi-Fi stations, by the number of the link.
    stations: Vec<bool>,
    /// Traffic entries whose packets have one code point.
    one_category: Vec<bool>,
    /// Time at which the last packet of a traffic entry and server left the managed queue of a station.
    left: BTreeMap<(LinkId, TrafficId, u32), Instant>,
    columns: ColumnRecorder,
    sent: u64,
    arrived: u64,
    dropped: u64,
    datagrams_lost: u64,
    problems: Vec<String>,
}

impl Conservation {
    /// Beside `columns`, for links that may let so much through, of which some are Wi-Fi stations, and entries of which some have one
    /// category.
    pub fn new(
        columns: ColumnRecorder,
        allowed: Vec<Option<Allowed>>,
        stations: Vec<bool>,
        one_category: Vec<bool>,
    ) -> Self {
        Self {
            allowed,
            stations,
            one_category,
            left: BTreeMap::new(),
            columns,
            sent: 0,
            arrived: 0,
            dropped: 0,
            datagrams_lost: 0,
            problems: Vec::new(),
        }
    }

    /// Packets sent, arrived and dropped.
    pub const fn packets(&self) -> [u64; 3] {
        [self.sent, self.arrived, self.dropped]
    }

    /// The tables, and everything that does not hold: each packet that was sent has arrived, was dropped, or
    /// is one of those `in_flight`.
    pub fn finish(mut self, in_flight: usize) -> (ColumnRecorder, Vec<String>) {
        let found = self.arrived + self.dropped + in_flight as u64;
        if self.sent != found {
            self.problems.push(format!(
                "{} packets were sent; {} arrived, {} were dropped, {in_flight} are in flight",
                self.sent, self.arrived, self.dropped
            ));
        }
        if self.datagrams_lost > self.dropped {
            self.problems
                .push(format!("{} datagrams were lost and {} packets dropped", self.datagrams_lost, self.dropped));
        }
        for (link, allowed) in (0..).zip(&mut self.allowed) {
            if let Some(excess) = allowed.as_mut().and_then(Allowed::excess) {
                self.problems.push(format!(
                    "link {link} let {excess:.0} B more through than its rate and burst allow in some time"
                ));
            }
        }
        (self.columns, self.problems)
    }

    fn doubt(&mut self, holds: bool, what: &dyn Fn() -> String) {
        // One of each run is enough to begin with.
        if !holds && self.problems.len() < 8 {
            self.problems.push(what());
        }
    }
}

impl Recorder for Conservation {
    /// Arriving segments are reported only with their delays.
    fn wants_delays(&self) -> bool {
        true
    }

    fn wants_waiting(&self) -> bool {
        self.columns.wants_waiting()
    }

    fn wants_flows(&self) -> bool {
        self.columns.wants_flows()
    }

    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, length: Bytes) {
        self.sent += 1;
        self.columns.on_sent(traffic, direction, length);
    }

    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {
        let in_order = passage.entered_at <= passage.dequeued_at && passage.dequeued_at <= passage.arrives_at;
        self.doubt(in_order, &|| format!("a passage runs backwards: {passage:?}"));
        if let Some(Some(allowed)) = self.allowed.get_mut(usize::from(passage.link.0)) {
            allowed.add(passage);
        }
        let is_ordered = self.one_category.get(usize::from(passage.traffic.0)) == Some(&true);
        if is_ordered && self.stations.get(usize::from(passage.link.0)) == Some(&true) {
            // 802.11-2020, 10.25.2: packets of one category are handed up in order.
            let whose = (passage.link, passage.traffic, passage.server);
            let before = self.left.insert(whose, passage.dequeued_at);
            self.doubt(before.is_none_or(|before| before <= passage.dequeued_at), &|| {
                format!("a packet arrives over Wi-Fi before one that left the queue before it: {passage:?}")
            });
        }
        self.columns.on_passage(direction, passage);
    }

    fn on_drop(&mut self, drop: &LinkDrop) {
        self.dropped += 1;
        self.columns.on_drop(drop);
    }

    fn on_mark(&mut self, mark: &LinkMark) {
        self.columns.on_mark(mark);
    }

    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        self.columns.on_waiting(now, link, waiting);
    }

    fn on_datagram(&mut self, datagram: &Datagram) {
        if let Fate::Arrived(at) = datagram.fate {
            self.arrived += 1;
            let took = at.saturating_since(datagram.sent_at);
            self.doubt(datagram.sent_at <= at && datagram.split.total() == took, &|| {
                format!("the parts of a delay are not the whole: {datagram:?}")
            });
        } else {
            self.datagrams_lost += 1;
        }
        self.columns.on_datagram(datagram);
    }

    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {
        self.arrived += 1;
        self.columns.on_segment(arrival);
    }

    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {
        self.columns.on_goodput(traffic, direction, bytes);
    }

    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.columns.on_connection(traffic, connection);
    }

    fn on_flow(&mut self, row: &FlowRow) {
        self.columns.on_flow(row);
    }

    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {
        match report {
            Report::Transfer(transfer) => {
                let in_order = transfer.ended_at.is_none_or(|at| at >= transfer.started_at);
                self.doubt(in_order, &|| format!("a transfer runs backwards: {transfer:?}"));
            }
            Report::Page(page) => {
                let in_order = page.ended_at.is_none_or(|at| at >= page.started_at);
                self.doubt(in_order, &|| format!("a page runs backwards: {page:?}"));
            }
            _ => {}
        }
        self.columns.on_report(traffic, report);
    }

    fn on_open_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.columns.on_open_connection(traffic, connection);
    }

    fn on_measure(&mut self, now: Instant) {
        self.columns.on_measure(now);
    }

    fn on_end(&mut self, now: Instant) {
        self.columns.on_end(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::ServiceQueue;
    use sojourn_base::report::Transfer;
    use sojourn_link::UpstreamConfig;
    use sojourn_record::RecordConfig;

    fn recorder() -> Conservation {
        let names = vec!["call".to_owned()];
        let columns = ColumnRecorder::new(RecordConfig::BASE, names);
        Conservation::new(columns, Vec::new(), vec![true], vec![true])
    }

    #[test]
    fn a_packet_that_vanishes_is_told() {
        let mut recorder = recorder();
        recorder.on_sent(TrafficId(0), Direction::Upstream, Bytes(200));
        recorder.on_sent(TrafficId(0), Direction::Upstream, Bytes(200));
        assert_eq!(recorder.finish(1).1, ["2 packets were sent; 0 arrived, 0 were dropped, 1 are in flight"]);
    }

    #[test]
    fn packets_that_change_places_over_wifi_are_told() {
        let mut recorder = recorder();
        let at = Instant::from_ms;
        for (dequeued_at, arrives_at) in [(at(2), at(3)), (at(1), at(4))] {
            let passage = LinkPassage {
                link: LinkId(0),
                traffic: TrafficId(0),
                server: 0,
                length: Bytes(200),
                charged: Bytes(200),
                entered_at: Instant::ZERO,
                dequeued_at,
                arrives_at,
                queue: ServiceQueue::Classic,
                sub_flow: None,
            };
            recorder.on_passage(Direction::Upstream, &passage);
        }
        let problems = recorder.finish(0).1;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("a packet arrives over Wi-Fi before"), "{problems:?}");
    }

    #[test]
    fn a_link_that_exceeds_its_rate_is_told() {
        // 8 kb/s carry a byte in a millisecond; 100 B at once, and the packet that was under way.
        let mut allowed =
            Allowed { rate: BitRate::from_kbps(8), at_once: Bytes(100), longest: 200, ..Allowed::default() };
        for ms in [0, 100, 200] {
            allowed.departures.add(Instant::from_ms(ms), 150);
        }
        assert_eq!(allowed.excess(), None);
        allowed.departures.add(Instant::from_ms(201), 151);
        // 601 B in 201 ms, of which 501 are allowed.
        let excess = allowed.excess().expect("too much");
        assert!((excess - 100.0).abs() < 1e-9, "{excess}");
    }

    #[test]
    fn a_grant_may_be_rounded_up_to_a_minislot() {
        // 125 B/s and MAPs of 1 ms: bytes of two MAPs are none, and a minislot has 48 at the usual frame of six symbols.
        let link = UpstreamConfig { rate: BitRate::from_kbps(1), burst: Bytes(3044), ..UpstreamConfig::BASE };
        let allowed = Allowed::on(&link.into(), &[]).expect("it has a rate");
        assert_eq!(allowed.at_once, Bytes(3044 + 48));
    }

    #[test]
    fn a_transfer_that_ends_before_it_begins_is_told() {
        let mut recorder = recorder();
        recorder.on_report(
            TrafficId(0),
            Report::Transfer(&Transfer {
                lane: 0,
                index: 0,
                started_at: Instant::from_ms(2),
                ended_at: Some(Instant::from_ms(1)),
                bytes: 1,
            }),
        );
        let problems = recorder.finish(0).1;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("a transfer runs"), "{problems:?}");
    }
}
