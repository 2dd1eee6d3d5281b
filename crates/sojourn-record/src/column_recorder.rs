//! The recorder that keeps column tables.

mod records;

pub use records::Records;

use crate::accumulate::{DelayHistogram, TrafficCounters};
use crate::series::{Bins, LinkBin, QueueClock, TrafficBin};
use crate::signals::{PacketCount, SignalCounts};
use crate::tally::{FlowTallies, TransferTally};
use crate::{
    Cause, ConnectionSample, ConnectionTotals, Datagram, DelaySplit, Fate, FlowRow, LinkDrop,
    LinkId, LinkMark, LinkPassage, MacCounters, Recorder, SegmentArrival, TrafficId, Waiting,
};
use sojourn_base::report::{Object, Page, Transfer};
use sojourn_base::{Bytes, Direction, Instant, PerDirection, ServiceQueue, Span};

/// What to record.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, one per table"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordConfig {
    /// One row per datagram.
    pub datagrams: bool,
    /// One row per web object.
    pub objects: bool,
    /// One row per file transfer.
    pub transfers: bool,
    /// One row per flow.
    pub flows: bool,
    /// Time series of the access links in bins of this width.
    pub series: Option<Span>,
    /// Window and round-trip time of every connection at this interval.
    pub connections: Option<Span>,
    /// Time-weighted queue lengths of the access links.
    pub occupancy: bool,
    /// Delay of every packet split by cause.
    pub delays: bool,
    /// Histograms of access delay and of time in the managed queues.
    pub histograms: bool,
}

impl Default for RecordConfig {
    /// Everything but objects, flows and connections, series in bins of 100 ms (White 2013, 3.8).
    fn default() -> Self {
        Self {
            datagrams: true,
            objects: false,
            transfers: true,
            flows: false,
            series: Some(Span::from_ms(100)),
            connections: None,
            occupancy: true,
            delays: true,
            histograms: true,
        }
    }
}

/// Sums of one cause of delay over the packets of one traffic entry and direction.
#[derive(Clone, Copy, Debug, Default)]
struct DelaySums {
    packets: u64,
    total_ns: [u64; Cause::ALL.len()],
}

impl DelaySums {
    fn add(&mut self, split: &DelaySplit) {
        self.packets += 1;
        for cause in Cause::ALL {
            self.total_ns[cause as usize] += split.get(cause).as_ns();
        }
    }
}

/// Keeps the tables that its configuration asks for.
#[derive(Debug)]
pub struct ColumnRecorder {
    config: RecordConfig,
    traffic_names: Vec<String>,
    counters: Vec<PerDirection<TrafficCounters>>,
    delays: Vec<PerDirection<DelaySums>>,
    access_delay: Vec<PerDirection<Option<DelayHistogram>>>,
    sojourn: PerDirection<DelayHistogram>,
    clocks: PerDirection<QueueClock>,
    link_bins: Option<PerDirection<Bins<LinkBin>>>,
    traffic_bins: Vec<PerDirection<Option<Bins<TrafficBin>>>>,
    datagram_tallies: Vec<FlowTallies>,
    transfer_tallies: Vec<TransferTally>,
    datagrams: Vec<Datagram>,
    pages: Vec<(TrafficId, Page)>,
    objects: Vec<(TrafficId, Object)>,
    transfers: Vec<(TrafficId, Transfer)>,
    flows: Vec<FlowRow>,
    samples: Vec<ConnectionSample>,
    mac: PerDirection<Option<MacCounters>>,
    signals: SignalCounts,
    /// What each link forwarded from each service queue.
    forwarded: PerDirection<[PacketCount; ServiceQueue::ALL.len()]>,
}

impl ColumnRecorder {
    /// A recorder for the traffic entries with these names.
    pub fn new(config: RecordConfig, traffic_names: Vec<String>) -> Self {
        let entries = traffic_names.len();
        let bins = |width| PerDirection {
            upstream: Bins::new(width),
            downstream: Bins::new(width),
        };
        Self {
            config,
            counters: vec![PerDirection::default(); entries],
            delays: vec![PerDirection::default(); entries],
            access_delay: vec![PerDirection::default(); entries],
            sojourn: PerDirection::default(),
            clocks: PerDirection::default(),
            link_bins: config.series.map(bins),
            traffic_bins: vec![PerDirection::default(); entries],
            datagram_tallies: vec![FlowTallies::default(); entries],
            transfer_tallies: vec![TransferTally::default(); entries],
            datagrams: Vec::new(),
            pages: Vec::new(),
            objects: Vec::new(),
            transfers: Vec::new(),
            flows: Vec::new(),
            samples: Vec::new(),
            mac: PerDirection::default(),
            signals: SignalCounts::default(),
            forwarded: PerDirection::default(),
            traffic_names,
        }
    }

    /// The finished records.
    pub fn into_records(self) -> Records {
        Records { recorder: self }
    }

    fn counters(&mut self, traffic: TrafficId, direction: Direction) -> &mut TrafficCounters {
        &mut self.counters[usize::from(traffic.0)][direction]
    }
}

/// What a datagram carries beside the application's bytes: IPv4 and UDP headers (RFC 791, RFC 768).
const DATAGRAM_HEADERS: Bytes = Bytes(28);

/// The access link that carries a direction; other links are not recorded.
const fn access_link(link: LinkId) -> Option<Direction> {
    match link.0 {
        0 => Some(Direction::Upstream),
        1 => Some(Direction::Downstream),
        _ => None,
    }
}

impl Recorder for ColumnRecorder {
    fn wants_delays(&self) -> bool {
        self.config.delays || self.config.datagrams
    }

    fn wants_waiting(&self) -> bool {
        self.config.occupancy || self.config.series.is_some()
    }

    fn wants_flows(&self) -> bool {
        self.config.flows
    }

    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, length: Bytes) {
        let counters = self.counters(traffic, direction);
        counters.sent_packets += 1;
        counters.sent_bytes += length.0;
    }

    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {
        let counters = self.counters(passage.traffic, direction);
        counters.forwarded_packets += 1;
        counters.forwarded_bytes += passage.length.0;
        let queue = &mut self.forwarded[direction][passage.queue as usize];
        queue.packets += 1;
        queue.bytes += passage.length;
        let sojourn = passage.dequeued_at.saturating_since(passage.entered_at);
        if self.config.histograms {
            self.sojourn[direction].record(sojourn);
            self.access_delay[usize::from(passage.traffic.0)][direction]
                .get_or_insert_default()
                .record(passage.arrives_at.saturating_since(passage.entered_at));
        }
        if let Some(bins) = &mut self.link_bins {
            let bin = bins[direction].at(passage.dequeued_at);
            bin.forwarded_bytes += passage.length.0;
            bin.forwarded_packets += 1;
            bin.sojourn_ns += sojourn.as_ns();
            bin.sojourn_max_ns = bin.sojourn_max_ns.max(sojourn.as_ns());
            let width = Span::from_ns(bins[direction].width_ns());
            let bin = self.traffic_bins[usize::from(passage.traffic.0)][direction]
                .get_or_insert_with(|| Bins::new(width))
                .at(passage.dequeued_at);
            bin.forwarded_bytes += passage.length.0;
            bin.forwarded_packets += 1;
        }
    }

    fn on_mark(&mut self, mark: &LinkMark) {
        self.counters(mark.traffic, mark.direction).marked += 1;
        let Some(direction) = access_link(mark.link) else {
            return;
        };
        self.signals.on_mark(mark);
        if let Some(bins) = &mut self.link_bins {
            bins[direction].at(mark.at).marked_packets += 1;
            let width = Span::from_ns(bins[direction].width_ns());
            self.traffic_bins[usize::from(mark.traffic.0)][direction]
                .get_or_insert_with(|| Bins::new(width))
                .at(mark.at)
                .marked_packets += 1;
        }
    }

    fn on_drop(&mut self, drop: &LinkDrop) {
        let counters = self.counters(drop.traffic, drop.direction);
        if drop.behind_queue {
            counters.dropped_behind += 1;
        } else {
            counters.dropped_queue += 1;
        }
        let Some(direction) = access_link(drop.link) else {
            return;
        };
        self.signals.on_drop(drop);
        if let Some(bins) = &mut self.link_bins {
            bins[direction].at(drop.at).dropped_packets += 1;
            let width = Span::from_ns(bins[direction].width_ns());
            self.traffic_bins[usize::from(drop.traffic.0)][direction]
                .get_or_insert_with(|| Bins::new(width))
                .at(drop.at)
                .dropped_packets += 1;
        }
    }

    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        if let Some(direction) = access_link(link) {
            let bins = self.link_bins.as_mut().map(|bins| &mut bins[direction]);
            self.clocks[direction].change(now, waiting, bins);
        }
    }

    fn on_datagram(&mut self, datagram: &Datagram) {
        if matches!(datagram.fate, Fate::Arrived(_)) {
            let payload = datagram.length.0.saturating_sub(DATAGRAM_HEADERS.0);
            self.counters(datagram.traffic, datagram.direction)
                .goodput_bytes += payload;
            if self.config.delays {
                let traffic = usize::from(datagram.traffic.0);
                self.delays[traffic][datagram.direction].add(&datagram.split);
            }
        }
        self.datagram_tallies[usize::from(datagram.traffic.0)].add(datagram);
        if datagram.marked {
            self.counters(datagram.traffic, datagram.direction)
                .marks_received += 1;
        }
        if self.config.datagrams {
            self.datagrams.push(*datagram);
        }
    }

    fn on_segment(&mut self, arrival: &SegmentArrival) {
        if self.config.delays && arrival.payload > Bytes::ZERO {
            self.delays[usize::from(arrival.traffic.0)][arrival.direction].add(&arrival.split);
        }
    }

    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {
        self.counters(traffic, direction).goodput_bytes += bytes.0;
    }

    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        let counters = self.counters(traffic, Direction::Upstream);
        counters.connections += 1;
        counters.retransmissions += connection.retransmissions;
        counters.timeouts += connection.timeouts;
        counters.connect_retries += connection.connect_retries;
        for direction in Direction::BOTH {
            self.counters(traffic, direction).marks_received +=
                connection.marks_received[direction];
        }
    }

    fn on_flow(&mut self, row: &FlowRow) {
        self.flows.push(*row);
    }

    fn on_transfer(&mut self, traffic: TrafficId, transfer: &Transfer) {
        self.transfer_tallies[usize::from(traffic.0)].add(transfer);
        if self.config.transfers {
            self.transfers.push((traffic, *transfer));
        }
    }

    fn on_page(&mut self, traffic: TrafficId, page: &Page) {
        self.pages.push((traffic, *page));
    }

    fn on_object(&mut self, traffic: TrafficId, object: &Object) {
        if self.config.objects {
            self.objects.push((traffic, *object));
        }
    }

    fn sample_interval(&self) -> Option<Span> {
        self.config.connections
    }

    fn on_sample(&mut self, sample: &ConnectionSample) {
        self.samples.push(*sample);
    }

    fn on_mac(&mut self, link: LinkId, counters: &MacCounters) {
        if let Some(direction) = access_link(link) {
            self.mac[direction] = Some(*counters);
        }
    }

    fn on_end(&mut self, now: Instant) {
        for direction in Direction::BOTH {
            let waiting = Waiting::default();
            let bins = self.link_bins.as_mut().map(|bins| &mut bins[direction]);
            if self.config.occupancy || bins.is_some() {
                self.clocks[direction].change(now, waiting, bins);
            }
            if let Some(bins) = &mut self.link_bins {
                bins[direction].finish(now);
            }
            for bins in &mut self.traffic_bins {
                if let Some(bins) = &mut bins[direction] {
                    bins.finish(now);
                }
            }
        }
    }
}
