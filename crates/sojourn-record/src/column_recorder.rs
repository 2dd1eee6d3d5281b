//! The recorder that keeps column tables.

mod passages;
mod records;

pub use records::Records;

use self::passages::{COUNTED_TOGETHER, Passed};
use crate::accumulate::{DelayHistogram, HISTOGRAM_BYTES, TrafficCounters};
use crate::latency_histogram::{DeviceHistograms, HistogramValue, LatencyHistogramConfig};
use crate::losses::Losses;
use crate::protection::{FlowProtection, ProtectionTally};
use crate::round_trips::RoundTrips;
use crate::series::{Bins, LinkBin, QueueClock, ServiceBin, TrafficBin};
use crate::signals::{PacketCount, SignalCounts};
use crate::tally::{FlowTallies, FrameTally, ObjectTally, TransferTally};
use crate::{
    Cause, ChannelCounters, ConnectionOpened, ConnectionSample, ConnectionTotals, Datagram, DelaySplit, Fate, FlowRow,
    JoinedPassage, LinkDrop, LinkId, LinkMark, LinkPassage, LinkScore, LostPacket, MacCounters, ModemCounters,
    RecordConfig, Recorder, SegmentArrival, TrafficId, Waiting, WifiCounters,
};
use sojourn_base::report::{
    Chunk, DownloadSession, LiveSecond, LiveSession, Object, Page, PlayedCall, Report, StreamingSession, Transfer,
};
use sojourn_base::{Bytes, Direction, Instant, PerDirection, ServiceQueue, Span};

/// Sums of one cause of delay over the packets of one traffic entry and direction.
#[derive(Clone, Copy, Debug, Default)]
struct DelaySums {
    packets: u64,
    total_ns: [u64; Cause::ALL.len()],
}

impl DelaySums {
    #[inline(never)] // its callers are short without it
    fn add(&mut self, split: &DelaySplit) {
        self.packets += 1;
        for cause in Cause::ALL {
            self.total_ns[cause as usize] += split.get(cause).as_ns();
        }
    }
}

/// A link that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLink {
    /// The subject of its records.
    pub name: String,
    /// True for a subscriber's access link: it counts an entry's forwarded packets and access delay.
    pub is_access: bool,
    /// It has several service queues.
    pub has_service_queues: bool,
    /// The latency histogram that its device keeps of each queue.
    pub latency_histogram: Option<LatencyHistogramConfig>,
}

/// Packets that a link has forwarded and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Forwarded packets of each of [`ServiceQueue::ALL`], with the bytes that the link charged.
    pub forwarded: [PacketCount; ServiceQueue::ALL.len()],
    /// Packets that it lost.
    pub dropped_packets: u64,
}

impl LinkTotals {
    /// Returns the charged bytes of the forwarded packets.
    pub fn forwarded_bytes(&self) -> Bytes {
        self.forwarded.iter().fold(Bytes::ZERO, |sum, queue| sum + queue.bytes)
    }
}

/// Records of one link.
#[derive(Debug)]
struct LinkRecords {
    link: RecordedLink,
    /// Packets that have left the link and are not counted yet.
    passed: Vec<Passed>,
    totals: LinkTotals,
    sojourn: Option<DelayHistogram>,
    clock: QueueClock,
    bins: Option<Bins<LinkBin>>,
    /// Of each service queue, if there are several.
    service_bins: Option<Box<[Bins<ServiceBin>; ServiceQueue::ALL.len()]>>,
    /// Counters of its MAC.
    mac: Option<MacCounters>,
    /// And of each of its service flows.
    service_flows: Vec<(ServiceQueue, MacCounters)>,
    /// Both, when measuring began.
    warm_up: (Option<MacCounters>, Vec<(ServiceQueue, MacCounters)>),
    /// Counters of a modem of a group, in its direction.
    modem: Option<(Direction, ModemCounters)>,
    modem_warm_up: Option<(Direction, ModemCounters)>,
    /// Counters of a direction of a Wi-Fi station, and those of the warm-up.
    wifi: Option<Box<[WifiCounters; 2]>>,
    /// Tally of its Queue Protection.
    protection: ProtectionTally,
    /// Delays that its device reports.
    device: Option<Box<DeviceHistograms>>,
}

/// Bytes of a histogram of delays.
#[expect(clippy::cast_possible_truncation, reason = "some hundred thousand bytes")]
const HISTOGRAM: usize = HISTOGRAM_BYTES as usize;

impl LinkRecords {
    /// Bytes that grow with the run, and histograms.
    fn bytes(&self) -> usize {
        let bins = self.bins.as_ref().map_or(0, Bins::bytes);
        let service_bins = self.service_bins.iter().flat_map(|bins| bins.iter());
        let device = self.device.as_ref();
        let histograms = usize::from(self.sojourn.is_some()) + device.map_or(0, |device| device.counted().count());
        bins + service_bins.map(Bins::bytes).sum::<usize>() + histograms * HISTOGRAM
    }
}

/// Keeps the tables that its configuration asks for.
#[derive(Debug)]
pub struct ColumnRecorder {
    config: RecordConfig,
    /// Packets sent earlier are not counted.
    measured_from: Instant,
    /// Counters of the service group's CMTS in each direction, at the end and at the start of measuring.
    channel: PerDirection<Option<ChannelCounters>>,
    channel_warm_up: PerDirection<Option<ChannelCounters>>,
    /// Of each traffic entry, what the connections that were open then had counted.
    open_at_warm_up: Vec<ConnectionTotals>,
    traffic_names: Vec<String>,
    counters: Vec<PerDirection<TrafficCounters>>,
    delays: Vec<PerDirection<DelaySums>>,
    access_delay: Vec<PerDirection<Option<DelayHistogram>>>,
    round_trips: Vec<RoundTrips>,
    links: Vec<LinkRecords>,
    traffic_bins: Vec<Vec<(LinkId, Bins<TrafficBin>)>>,
    datagram_tallies: Vec<FlowTallies>,
    transfer_tallies: Vec<TransferTally>,
    frame_tallies: Vec<PerDirection<Option<Box<FrameTally>>>>,
    object_tallies: Vec<ObjectTally>,
    datagrams: Vec<Datagram>,
    /// Rows of datagrams beyond this are not kept.
    most_datagrams: usize,
    pages: Vec<(TrafficId, Page)>,
    objects: Vec<(TrafficId, Object)>,
    chunks: Vec<(TrafficId, Chunk)>,
    streaming_sessions: Vec<(TrafficId, StreamingSession)>,
    live_seconds: Vec<(TrafficId, LiveSecond)>,
    live_sessions: Vec<(TrafficId, LiveSession)>,
    download_sessions: Vec<(TrafficId, DownloadSession)>,
    played_calls: Vec<(TrafficId, PlayedCall)>,
    transfers: Vec<(TrafficId, Transfer)>,
    /// Entries whose delays come from [`Recorder::on_joined`], and whether there are any.
    joins: Vec<bool>,
    any_joins: bool,
    /// Entries whose transfers are samples, in the order of their numbers.
    samplers: Vec<bool>,
    flows: Vec<FlowRow>,
    /// Queue Protection's tally of each of these.
    judged_flows: Vec<ProtectionTally>,
    protection: Vec<PerDirection<ProtectionTally>>,
    open_flows: FlowProtection,
    samples: Vec<ConnectionSample>,
    signals: SignalCounts,
    losses: Losses,
}

impl ColumnRecorder {
    /// A recorder for the traffic entries with these names over one access link.
    pub fn new(config: RecordConfig, traffic_names: Vec<String>) -> Self {
        let access = Direction::BOTH.map(|direction| RecordedLink {
            name: direction.as_str().to_owned(),
            is_access: true,
            has_service_queues: false,
            latency_histogram: None,
        });
        Self::over(config, access.to_vec(), traffic_names)
    }

    /// A recorder for these links and for the traffic entries with these names.
    pub fn over(config: RecordConfig, links: Vec<RecordedLink>, traffic_names: Vec<String>) -> Self {
        let entries = traffic_names.len();
        let links = links.into_iter().map(|link| LinkRecords {
            device: link.latency_histogram.clone().map(DeviceHistograms::boxed),
            service_bins: config
                .series
                .filter(|_| link.has_service_queues)
                .map(|width| Box::new(ServiceQueue::ALL.map(|_| Bins::new(width)))),
            link,
            passed: Vec::new(),
            totals: LinkTotals::default(),
            sojourn: None,
            clock: QueueClock::default(),
            bins: config.series.map(Bins::new),
            mac: None,
            modem: None,
            modem_warm_up: None,
            wifi: None,
            service_flows: Vec::new(),
            warm_up: (None, Vec::new()),
            protection: ProtectionTally::default(),
        });
        Self {
            config,
            measured_from: Instant::ZERO,
            channel: PerDirection::default(),
            channel_warm_up: PerDirection::default(),
            open_at_warm_up: vec![ConnectionTotals::default(); entries],
            counters: vec![PerDirection::default(); entries],
            delays: vec![PerDirection::default(); entries],
            access_delay: vec![PerDirection::default(); entries],
            round_trips: vec![RoundTrips::default(); entries],
            links: links.collect(),
            traffic_bins: vec![Vec::new(); entries],
            datagram_tallies: vec![FlowTallies::default(); entries],
            transfer_tallies: vec![TransferTally::default(); entries],
            frame_tallies: vec![PerDirection::default(); entries],
            object_tallies: vec![ObjectTally::default(); entries],
            datagrams: Vec::new(),
            most_datagrams: usize::MAX,
            pages: Vec::new(),
            objects: Vec::new(),
            chunks: Vec::new(),
            streaming_sessions: Vec::new(),
            live_seconds: Vec::new(),
            live_sessions: Vec::new(),
            download_sessions: Vec::new(),
            played_calls: Vec::new(),
            transfers: Vec::new(),
            samplers: vec![false; entries],
            joins: vec![false; entries],
            any_joins: false,
            flows: Vec::new(),
            judged_flows: Vec::new(),
            protection: vec![PerDirection::default(); entries],
            open_flows: FlowProtection::default(),
            samples: Vec::new(),
            signals: SignalCounts::default(),
            losses: Losses::default(),
            traffic_names,
        }
    }

    /// Keeps the transfers of these entries whatever tables are asked for: they are samples, and metrics need them.
    #[must_use]
    pub fn with_samples_of(mut self, samplers: Vec<bool>) -> Self {
        self.samplers = samplers;
        self
    }

    /// Delays of these entries are those over two links, of [`Recorder::on_joined`].
    #[must_use]
    pub fn joining(mut self, entries: Vec<bool>) -> Self {
        self.any_joins = entries.contains(&true);
        self.joins = entries;
        self
    }

    /// Limits the rows of datagrams: a run of unknown length must not fill the memory. Tallies count all datagrams.
    #[must_use]
    pub const fn with_most_datagrams(mut self, most: usize) -> Self {
        self.most_datagrams = most;
        self
    }

    /// Follows one packet of each session at a time for round trips, where this says so of an entry; all packets otherwise.
    #[must_use]
    pub fn following_one_packet_of(mut self, entries: &[bool]) -> Self {
        for (round_trips, one) in self.round_trips.iter_mut().zip(entries) {
            if *one {
                *round_trips = RoundTrips::one_at_a_time();
            }
        }
        self
    }

    /// The finished records.
    pub fn into_records(mut self) -> Records {
        self.count_all_passed();
        Records { recorder: self }
    }

    /// Takes off what connections and MACs, which tell of all their time, had counted when measuring began.
    fn take_off_warm_up(&mut self) {
        for (counters, open) in self.counters.iter_mut().zip(&self.open_at_warm_up) {
            let all = &mut counters.upstream;
            all.retransmissions -= open.retransmissions;
            all.timeouts -= open.timeouts.unwrap_or(0);
            all.connect_retries -= open.connect_retries;
            for direction in Direction::BOTH {
                counters[direction].marks_received -= open.marks_received[direction];
            }
        }
        for link in &mut self.links {
            let (mac, flows) = &link.warm_up;
            if let (Some(counted), Some(earlier)) = (&mut link.mac, mac) {
                *counted = counted.since(earlier);
            }
            for ((_, counted), (_, earlier)) in link.service_flows.iter_mut().zip(flows) {
                *counted = counted.since(earlier);
            }
        }
    }

    fn counters(&mut self, traffic: TrafficId, direction: Direction) -> &mut TrafficCounters {
        &mut self.counters[usize::from(traffic.0)][direction]
    }
}

/// Overhead of a datagram: IPv4 and UDP headers (RFC 791, RFC 768).
const DATAGRAM_HEADERS: Bytes = Bytes(28);

/// The bins of one traffic entry on one link.
fn bins_on(bins: &mut Vec<(LinkId, Bins<TrafficBin>)>, link: LinkId, width: Span) -> &mut Bins<TrafficBin> {
    let place = bins.iter().position(|(known, _)| *known == link);
    let place = place.unwrap_or_else(|| {
        bins.push((link, Bins::new(width)));
        bins.len() - 1
    });
    &mut bins[place].1
}

impl Recorder for ColumnRecorder {
    fn wants_delays(&self) -> bool {
        self.config.delays || self.config.datagrams
    }

    fn bytes(&self) -> usize {
        fn rows<T>(rows: &Vec<T>) -> usize {
            rows.capacity() * size_of::<T>()
        }
        // Named one by one, so that a list that is added is not forgotten here.
        let Self {
            config: _,
            measured_from: _,
            channel: _,
            channel_warm_up: _,
            // These have their size from the start on.
            open_at_warm_up: _,
            traffic_names: _,
            most_datagrams: _,
            counters: _,
            delays: _,
            object_tallies: _,
            samplers: _,
            joins: _,
            any_joins: _,
            protection: _,
            access_delay,
            round_trips,
            links,
            traffic_bins,
            datagram_tallies,
            transfer_tallies,
            frame_tallies,
            datagrams,
            pages,
            objects,
            chunks,
            streaming_sessions,
            live_seconds,
            live_sessions,
            download_sessions,
            played_calls,
            transfers,
            flows,
            judged_flows,
            open_flows,
            samples,
            signals,
            losses,
        } = self;
        let of_links: usize = links.iter().map(LinkRecords::bytes).sum();
        let traffic_bins = traffic_bins.iter().flatten().map(|(_, bins)| bins.bytes());
        let delays = access_delay.iter();
        let delays = delays.flat_map(|delays| [&delays.upstream, &delays.downstream]);
        let frames = frame_tallies.iter();
        let frames = frames.flat_map(|tallies| [&tallies.upstream, &tallies.downstream]);
        let transferred = transfer_tallies.iter().filter_map(TransferTally::times);
        let waiting = round_trips.iter().map(RoundTrips::waiting_bytes);
        let answered = round_trips.iter().filter_map(RoundTrips::delays);
        let histograms = delays.flatten().count()
            + answered.count()
            + frames.flatten().count()
            + transferred.count()
            + datagram_tallies.iter().map(FlowTallies::flows).sum::<usize>();
        rows(datagrams)
            + rows(pages)
            + rows(objects)
            + rows(chunks)
            + rows(streaming_sessions)
            + rows(live_seconds)
            + rows(live_sessions)
            + rows(download_sessions)
            + rows(played_calls)
            + rows(transfers)
            + rows(flows)
            + rows(judged_flows)
            + rows(samples)
            + open_flows.bytes()
            + signals.bytes()
            + losses.bytes()
            + of_links
            + traffic_bins.sum::<usize>()
            + waiting.sum::<usize>()
            + histograms * HISTOGRAM
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

    #[inline]
    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {
        let passed = &mut self.links[usize::from(passage.link.0)].passed;
        passed.push(Passed::new(direction, passage));
        if passed.len() >= COUNTED_TOGETHER {
            self.count_together(passage.link);
        }
    }

    fn on_mark(&mut self, mark: &LinkMark) {
        self.counters(mark.traffic, mark.direction).marked += 1;
        self.signals.on_mark(mark);
        if let Some(bins) = &mut self.links[usize::from(mark.link.0)].bins {
            bins.at(mark.at).marked_packets += 1;
            let width = Span::from_ns(bins.width_ns());
            let bins = &mut self.traffic_bins[usize::from(mark.traffic.0)];
            bins_on(bins, mark.link, width).at(mark.at).marked_packets += 1;
        }
    }

    fn on_drop(&mut self, drop: &LinkDrop) {
        let counters = self.counters(drop.traffic, drop.direction);
        if drop.behind_queue {
            counters.dropped_behind += 1;
        } else {
            counters.dropped_queue += 1;
        }
        self.signals.on_drop(drop);
        let link = &mut self.links[usize::from(drop.link.0)];
        link.totals.dropped_packets += 1;
        if let Some(bins) = &mut link.service_bins {
            let bin = bins[drop.queue as usize].at(drop.at);
            bin.offered += drop.length.0;
            bin.dropped += drop.length.0;
        }
        if let Some(bins) = &mut link.bins {
            bins.at(drop.at).dropped_packets += 1;
            let width = Span::from_ns(bins.width_ns());
            let bins = &mut self.traffic_bins[usize::from(drop.traffic.0)];
            bins_on(bins, drop.link, width).at(drop.at).dropped_packets += 1;
        }
    }

    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {
        if self.config.losses {
            self.losses.opened(opened);
        }
    }

    fn on_lost_packet(&mut self, lost: &LostPacket) {
        if self.config.losses {
            self.losses.add(lost);
        }
    }

    fn on_score(&mut self, score: &LinkScore) {
        self.links[usize::from(score.link.0)].protection.add(score);
        self.protection[usize::from(score.traffic.0)][score.direction].add(score);
        if let Some(bins) = &self.links[usize::from(score.link.0)].bins {
            let width = Span::from_ns(bins.width_ns());
            let bins = &mut self.traffic_bins[usize::from(score.traffic.0)];
            let bin = bins_on(bins, score.link, width).at(score.at);
            bin.late_packets += u64::from(score.late);
            bin.sanctioned_packets += u64::from(score.sanctioned);
        }
        if self.config.flows {
            self.open_flows.add(score);
        }
    }

    fn on_estimate(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {
        if let Some(device) = &mut self.links[usize::from(link.0)].device {
            device.count(HistogramValue::Estimate, queue, delay);
        }
    }

    #[inline]
    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        let link = &mut self.links[usize::from(link.0)];
        link.clock.change(now, waiting, &mut link.bins);
    }

    fn on_datagram(&mut self, datagram: &Datagram) {
        if matches!(datagram.fate, Fate::Arrived(_)) {
            let payload = datagram.length.0.saturating_sub(DATAGRAM_HEADERS.0);
            self.counters(datagram.traffic, datagram.direction).goodput_bytes += payload;
            if self.config.delays {
                let traffic = usize::from(datagram.traffic.0);
                self.delays[traffic][datagram.direction].add(&datagram.split);
            }
        }
        self.datagram_tallies[usize::from(datagram.traffic.0)].add(datagram);
        if datagram.marked {
            self.counters(datagram.traffic, datagram.direction).marks_received += 1;
        }
        if (self.config.datagrams || self.config.outcomes) && self.datagrams.len() < self.most_datagrams {
            self.datagrams.push(*datagram);
        }
    }

    #[inline]
    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {
        if self.config.delays && arrival.payload > Bytes::ZERO {
            self.delays[usize::from(arrival.traffic.0)][arrival.direction].add(arrival.split);
        }
    }

    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {
        self.counters(traffic, direction).goodput_bytes += bytes.0;
    }

    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        let counters = self.counters(traffic, Direction::Upstream);
        counters.connections += 1;
        counters.retransmissions += connection.retransmissions;
        counters.timeouts += connection.timeouts.unwrap_or(0);
        counters.hides_timeouts |= connection.timeouts.is_none();
        counters.connect_retries += connection.connect_retries;
        for direction in Direction::BOTH {
            self.counters(traffic, direction).marks_received += connection.marks_received[direction];
        }
    }

    fn on_flow(&mut self, row: &FlowRow) {
        self.flows.push(*row);
        let judged = self.open_flows.take(row.traffic, row.direction, row.flow_hash);
        self.judged_flows.push(judged);
    }

    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {
        let of = usize::from(traffic.0);
        match report {
            Report::Transfer(transfer) => {
                if transfer.started_at >= self.measured_from {
                    self.transfer_tallies[of].add(transfer);
                }
                if self.config.transfers || self.samplers[of] {
                    self.transfers.push((traffic, *transfer));
                }
            }
            Report::Page(page) => self.pages.push((traffic, *page)),
            Report::Object(object) => {
                if object.started_at >= self.measured_from {
                    self.object_tallies[of].add(object);
                }
                if self.config.objects {
                    self.objects.push((traffic, *object));
                }
            }
            Report::Chunk(chunk) if self.config.chunks => self.chunks.push((traffic, *chunk)),
            Report::LiveSecond(second) if self.config.chunks => {
                self.live_seconds.push((traffic, *second));
            }
            Report::Chunk(_) | Report::LiveSecond(_) => {}
            Report::Frame(frame) if frame.captured_at < self.measured_from => {}
            Report::Frame(frame) => self.frame_tallies[of][frame.direction].get_or_insert_default().add(frame),
            Report::StreamingSession(session) => self.streaming_sessions.push((traffic, *session)),
            Report::LiveSession(session) => self.live_sessions.push((traffic, *session)),
            Report::DownloadSession(session) => self.download_sessions.push((traffic, *session)),
            Report::PlayedCall(call) => self.played_calls.push((traffic, *call)),
        }
    }

    fn sample_interval(&self) -> Option<Span> {
        self.config.connections
    }

    fn on_sample(&mut self, sample: &ConnectionSample) {
        self.samples.push(*sample);
    }

    fn on_mac(&mut self, link: LinkId, counters: &MacCounters) {
        self.links[usize::from(link.0)].mac = Some(*counters);
    }

    fn on_group(&mut self, direction: Direction, channel: &ChannelCounters, modems: &[(LinkId, ModemCounters)]) {
        self.channel[direction] = Some(*channel);
        for (link, counters) in modems {
            self.links[usize::from(link.0)].modem = Some((direction, *counters));
        }
    }

    fn on_joined(&mut self, direction: Direction, passage: &JoinedPassage) {
        if !self.config.histograms {
            return;
        }
        let JoinedPassage { traffic, server, entered_at, arrives_at } = *passage;
        let (traffic, delay) = (usize::from(traffic.0), arrives_at.saturating_since(entered_at));
        self.access_delay[traffic][direction].get_or_insert_default().record(delay);
        let round_trips = &mut self.round_trips[traffic];
        match direction {
            Direction::Upstream => round_trips.on_upstream(server, arrives_at, delay),
            Direction::Downstream => round_trips.on_downstream(server, entered_at, delay),
        }
    }

    fn on_wifi(&mut self, link: LinkId, counters: &WifiCounters) {
        self.links[usize::from(link.0)].wifi.get_or_insert_default()[0] = *counters;
    }

    fn on_counting(&mut self, link: LinkId, counting: bool) {
        self.count_all_passed();
        if let Some(device) = &mut self.links[usize::from(link.0)].device {
            device.set_counting(counting);
        }
    }

    fn on_service_flow(&mut self, link: LinkId, queue: ServiceQueue, counters: &MacCounters) {
        let flows = &mut self.links[usize::from(link.0)].service_flows;
        flows.push((queue, *counters));
    }

    fn on_open_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        let open = &mut self.open_at_warm_up[usize::from(traffic.0)];
        open.retransmissions += connection.retransmissions;
        *open.timeouts.get_or_insert(0) += connection.timeouts.unwrap_or(0);
        open.connect_retries += connection.connect_retries;
        for direction in Direction::BOTH {
            open.marks_received[direction] += connection.marks_received[direction];
        }
    }

    fn on_measure(&mut self, now: Instant) {
        self.count_all_passed();
        self.measured_from = now;
        // Rows and series keep the warm-up, which pictures show; so do the sessions of players, which are one each.
        self.counters.fill_with(PerDirection::default);
        self.delays.fill_with(PerDirection::default);
        self.access_delay.fill_with(PerDirection::default);
        self.round_trips.iter_mut().for_each(RoundTrips::forget);
        self.datagram_tallies.fill_with(FlowTallies::default);
        self.transfer_tallies.fill_with(TransferTally::default);
        self.frame_tallies.fill_with(PerDirection::default);
        self.object_tallies.fill_with(ObjectTally::default);
        self.protection.fill_with(PerDirection::default);
        self.signals = SignalCounts::default();
        self.channel_warm_up = core::mem::take(&mut self.channel);
        for link in &mut self.links {
            if self.config.occupancy || link.bins.is_some() {
                link.clock.forget(now, &mut link.bins);
            }
            link.totals = LinkTotals::default();
            link.sojourn = None;
            link.protection = ProtectionTally::default();
            if let Some(device) = &mut link.device {
                device.clear();
            }
            link.modem_warm_up = link.modem.take();
            if let Some(wifi) = &mut link.wifi {
                wifi[1] = wifi[0];
            }
            link.warm_up = (link.mac.take(), core::mem::take(&mut link.service_flows));
        }
    }

    fn on_end(&mut self, now: Instant) {
        self.count_all_passed();
        self.take_off_warm_up();
        for link in &mut self.links {
            if self.config.occupancy || link.bins.is_some() {
                link.clock.finish(now, &mut link.bins);
            }
            if let Some(bins) = &mut link.bins {
                bins.finish(now);
            }
            for bins in link.service_bins.iter_mut().flat_map(|bins| bins.iter_mut()) {
                bins.finish(now);
            }
        }
        for (_, bins) in self.traffic_bins.iter_mut().flatten() {
            bins.finish(now);
        }
    }
}

#[cfg(test)]
mod tests;
