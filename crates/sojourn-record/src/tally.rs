//! Tallies of datagrams and file transfers for metrics, in memory that does not grow with the run.
//!
//! Source: White 2012 3.2.2 (lost packets, late packets, mean delay of the others, per call).
//! Units and ranges: delays from sending to arrival, to three significant digits up to 1000 s; times of
//! transfers to three digits, however long.
//! Deviations: a packet's lateness is only known when the shortest delay of the whole call is, so delays
//! are kept as a histogram and judged by the middle of their bin: the resolution is 0.1 % of the delay.

use crate::accumulate::DelayHistogram;
use crate::{Datagram, Fate};
use sojourn_base::report::{Frame, Object, Transfer};
use sojourn_base::{Direction, PerDirection, Span};

/// Tally of the datagrams of one flow in one direction.
#[derive(Clone, Debug, Default)]
pub struct DatagramTally {
    lost: u64,
    marked: u64,
    delays: DelayHistogram,
}

impl DatagramTally {
    /// Counts a datagram that arrived after `delay`.
    pub fn on_arrival(&mut self, delay: Span) {
        self.delays.record(delay);
    }

    /// One of those that arrived had a congestion mark.
    pub const fn on_mark(&mut self) {
        self.marked += 1;
    }

    /// Counts a datagram that was lost.
    pub const fn on_loss(&mut self) {
        self.lost += 1;
    }

    /// Datagrams that met their fate.
    pub fn sent(&self) -> u64 {
        self.lost + self.delays.packets()
    }

    /// Datagrams that never arrived.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Datagrams that arrived with a congestion mark.
    pub const fn marked(&self) -> u64 {
        self.marked
    }

    /// Delays of those that arrived.
    pub const fn delays(&self) -> &DelayHistogram {
        &self.delays
    }
}

/// Tally of the video frames that a traffic entry sent in one direction.
#[derive(Clone, Debug, Default)]
pub struct FrameTally {
    lost: u64,
    late: u64,
    delays: DelayHistogram,
}

impl FrameTally {
    /// Counts a frame that is complete or lost.
    pub fn add(&mut self, frame: &Frame) {
        match frame.complete_at {
            Some(at) => self.delays.record(at.saturating_since(frame.captured_at)),
            None => self.lost += 1,
        }
        self.late += u64::from(frame.is_late());
    }

    /// Frames, those that were lost included.
    pub fn frames(&self) -> u64 {
        self.lost + self.delays.packets()
    }

    /// Frames of which a packet never arrived.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Frames that were not complete by their deadline, those that were lost included.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Times from capture to the last packet of those that were complete.
    pub const fn delays(&self) -> &DelayHistogram {
        &self.delays
    }
}

/// The tallies of one traffic entry: a place per flow, because its flows are numbered from 0 without
/// gaps (the engine numbers them as its servers).
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowTallies {
    flows: Vec<PerDirection<Option<DatagramTally>>>,
}

impl FlowTallies {
    /// Counts a datagram that has met its fate; allocates with the first one of a flow only.
    #[inline]
    pub(crate) fn add(&mut self, datagram: &Datagram) {
        let flow = datagram.flow as usize;
        if flow >= self.flows.len() {
            self.flows.resize_with(flow + 1, PerDirection::default);
        }
        let tally = self.flows[flow][datagram.direction].get_or_insert_default();
        match datagram.fate {
            Fate::Arrived(at) => tally.on_arrival(at.saturating_since(datagram.sent_at)),
            Fate::LostInQueue | Fate::LostBehindQueue | Fate::LostOnLine => tally.on_loss(),
        }
        if datagram.marked {
            tally.on_mark();
        }
    }

    /// Flows that had a datagram at least, whatever their direction.
    pub(crate) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The tally of one flow and direction, if it had a datagram.
    pub(crate) fn of(&self, flow: u32, direction: Direction) -> Option<&DatagramTally> {
        self.flows.get(flow as usize)?[direction].as_ref()
    }

    /// Flow, direction and tally, in this order, of all flows that had a datagram.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Direction, &DatagramTally)> {
        (0..).zip(&self.flows).flat_map(|(flow, tallies)| {
            Direction::BOTH
                .into_iter()
                .filter_map(move |direction| Some((flow, direction, tallies[direction].as_ref()?)))
        })
    }
}

/// Tally of the transfers of one traffic entry.
#[derive(Clone, Debug, Default)]
pub struct TransferTally {
    recorded: u64,
    /// Made with the first transfer that is completed: many are without end.
    times: Option<DelayHistogram>,
}

impl TransferTally {
    /// Counts a transfer that has ended, or was under way when the run ended.
    pub(crate) fn add(&mut self, transfer: &Transfer) {
        self.recorded += 1;
        if let Some(ended_at) = transfer.ended_at {
            self.times
                .get_or_insert_with(|| DelayHistogram::up_to(Span::MAX))
                .record(ended_at.saturating_since(transfer.started_at));
        }
    }

    /// Transfers that ended or were under way when the run ended.
    pub const fn recorded(&self) -> u64 {
        self.recorded
    }

    /// From start to last acknowledgement of those that were completed; `None` if none was.
    pub const fn times(&self) -> Option<&DelayHistogram> {
        self.times.as_ref()
    }
}

/// Tally of the objects of the pages of one traffic entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectTally {
    completed: u64,
    total_ns: u128,
}

impl ObjectTally {
    /// Counts an object that has ended, or was under way when the run ended.
    pub(crate) fn add(&mut self, object: &Object) {
        if let Some(ended_at) = object.ended_at {
            self.completed += 1;
            self.total_ns += u128::from(ended_at.saturating_since(object.started_at).as_ns());
        }
    }

    /// Mean time from asking for an object to its last byte, in s, of those that were completed; `None` without any.
    pub fn mean_s(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.total_ns as f64 / self.completed as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DelaySplit, TrafficId};
    use sojourn_base::{Bytes, Instant};

    fn datagram(flow: u32, direction: Direction, fate: Fate) -> Datagram {
        Datagram {
            traffic: TrafficId(0),
            flow,
            sequence: 0,
            direction,
            length: Bytes(200),
            sent_at: Instant::from_ms(100),
            fate,
            marked: false,
            lost_for: None,
            split: DelaySplit::default(),
        }
    }

    #[test]
    fn objects_count_when_they_are_complete() {
        let mut tally = ObjectTally::default();
        assert_eq!(tally.mean_s(), None);
        for ended_at in [Some(130), Some(170), None] {
            tally.add(&Object {
                user: 0,
                page: 0,
                server: 0,
                index: 0,
                started_at: Instant::from_ms(100),
                first_byte_at: None,
                ended_at: ended_at.map(Instant::from_ms),
                bytes: 1,
            });
        }
        assert_eq!(tally.mean_s(), Some(0.05));
    }

    #[test]
    fn every_flow_and_direction_is_counted_apart() {
        let mut tallies = FlowTallies::default();
        let (up, down) = (Direction::Upstream, Direction::Downstream);
        tallies.add(&datagram(2, down, Fate::LostInQueue));
        tallies.add(&datagram(2, down, Fate::LostBehindQueue));
        tallies.add(&datagram(0, up, Fate::Arrived(Instant::from_ms(107))));
        tallies.add(&datagram(2, up, Fate::Arrived(Instant::from_ms(130))));
        tallies.add(&datagram(2, up, Fate::Arrived(Instant::from_ms(121))));
        let found: Vec<_> = tallies
            .iter()
            .map(|(flow, direction, tally)| {
                let shortest = tally.delays().min_ns();
                (flow, direction, tally.sent(), tally.lost(), shortest)
            })
            .collect();
        assert_eq!(found, [(0, up, 1, 0, Some(7_000_000)), (2, up, 2, 0, Some(21_000_000)), (2, down, 2, 2, None),]);
    }

    #[test]
    fn transfers_of_hours_are_timed_and_unfinished_ones_counted() {
        let mut tally = TransferTally::default();
        let mut add = |ended_at| {
            tally.add(&Transfer { lane: 0, index: 0, started_at: Instant::from_ms(1000), ended_at, bytes: 1 });
            (tally.recorded(), tally.times().map(DelayHistogram::packets))
        };
        assert_eq!(add(None), (1, None));
        // 2 h: beyond the bins of packet delays.
        assert_eq!(add(Some(Instant::from_ms(7_201_000))), (2, Some(1)));
        assert_eq!(add(Some(Instant::from_ms(3_601_000))), (3, Some(2)));
        assert_eq!(add(Some(Instant::from_ms(1_801_000))), (4, Some(3)));
        let middles = tally.times().expect("three were completed").middles();
        for ((ns, count), hours) in middles.zip([0.5, 1.0, 2.0]) {
            assert_eq!(count, 1);
            assert!((ns as f64 / (hours * 3.6e12) - 1.0).abs() <= 1.0 / 2048.0);
        }
    }
}
