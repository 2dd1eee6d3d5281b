//! Two recorders that receive the same calls.

use crate::{
    ChannelCounters, ConnectionOpened, ConnectionSample, ConnectionTotals, Datagram, FlowRow, JoinedPassage, LinkDrop,
    LinkMark, LinkPassage, LinkScore, LostPacket, MacCounters, ModemCounters, PacketSeen, Recorder, SegmentArrival,
    SenderSeen, Waiting, WifiCounters,
};
use sojourn_base::report::Report;
use sojourn_base::{Bytes, Direction, Instant, LinkId, ServiceQueue, Span, TrafficId};

impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    const WANTS_PACKETS: bool = A::WANTS_PACKETS || B::WANTS_PACKETS;

    fn wants_delays(&self) -> bool {
        self.0.wants_delays() || self.1.wants_delays()
    }
    fn bytes(&self) -> usize {
        self.0.bytes() + self.1.bytes()
    }
    fn wants_waiting(&self) -> bool {
        self.0.wants_waiting() || self.1.wants_waiting()
    }
    fn wants_flows(&self) -> bool {
        self.0.wants_flows() || self.1.wants_flows()
    }
    fn on_clock(&mut self, now: Instant) {
        self.0.on_clock(now);
        self.1.on_clock(now);
    }
    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, length: Bytes) {
        self.0.on_sent(traffic, direction, length);
        self.1.on_sent(traffic, direction, length);
    }
    fn on_packet(&mut self, packet: &PacketSeen) {
        self.0.on_packet(packet);
        self.1.on_packet(packet);
    }
    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {
        self.0.on_connection_opened(opened);
        self.1.on_connection_opened(opened);
    }
    fn on_sender(&mut self, sender: &SenderSeen) {
        self.0.on_sender(sender);
        self.1.on_sender(sender);
    }
    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {
        self.0.on_passage(direction, passage);
        self.1.on_passage(direction, passage);
    }
    fn on_drop(&mut self, drop: &LinkDrop) {
        self.0.on_drop(drop);
        self.1.on_drop(drop);
    }
    fn on_lost_packet(&mut self, lost: &LostPacket) {
        self.0.on_lost_packet(lost);
        self.1.on_lost_packet(lost);
    }
    fn on_mark(&mut self, mark: &LinkMark) {
        self.0.on_mark(mark);
        self.1.on_mark(mark);
    }
    fn on_score(&mut self, score: &LinkScore) {
        self.0.on_score(score);
        self.1.on_score(score);
    }
    fn on_estimate(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {
        self.0.on_estimate(link, queue, delay);
        self.1.on_estimate(link, queue, delay);
    }
    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        self.0.on_waiting(now, link, waiting);
        self.1.on_waiting(now, link, waiting);
    }
    fn on_datagram(&mut self, datagram: &Datagram) {
        self.0.on_datagram(datagram);
        self.1.on_datagram(datagram);
    }
    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {
        self.0.on_segment(arrival);
        self.1.on_segment(arrival);
    }
    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {
        self.0.on_goodput(traffic, direction, bytes);
        self.1.on_goodput(traffic, direction, bytes);
    }
    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.0.on_connection(traffic, connection);
        self.1.on_connection(traffic, connection);
    }
    fn on_flow(&mut self, row: &FlowRow) {
        self.0.on_flow(row);
        self.1.on_flow(row);
    }
    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {
        self.0.on_report(traffic, report);
        self.1.on_report(traffic, report);
    }
    fn on_measure(&mut self, now: Instant) {
        self.0.on_measure(now);
        self.1.on_measure(now);
    }
    fn on_open_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {
        self.0.on_open_connection(traffic, connection);
        self.1.on_open_connection(traffic, connection);
    }
    fn sample_interval(&self) -> Option<Span> {
        self.0.sample_interval().or(self.1.sample_interval())
    }
    fn on_sample(&mut self, sample: &ConnectionSample) {
        self.0.on_sample(sample);
        self.1.on_sample(sample);
    }
    fn on_mac(&mut self, link: LinkId, counters: &MacCounters) {
        self.0.on_mac(link, counters);
        self.1.on_mac(link, counters);
    }
    fn on_service_flow(&mut self, link: LinkId, queue: ServiceQueue, counters: &MacCounters) {
        self.0.on_service_flow(link, queue, counters);
        self.1.on_service_flow(link, queue, counters);
    }
    fn on_counting(&mut self, link: LinkId, counting: bool) {
        self.0.on_counting(link, counting);
        self.1.on_counting(link, counting);
    }
    fn on_group(&mut self, direction: Direction, channel: &ChannelCounters, modems: &[(LinkId, ModemCounters)]) {
        self.0.on_group(direction, channel, modems);
        self.1.on_group(direction, channel, modems);
    }
    fn on_wifi(&mut self, link: LinkId, counters: &WifiCounters) {
        self.0.on_wifi(link, counters);
        self.1.on_wifi(link, counters);
    }
    fn on_joined(&mut self, direction: Direction, passage: &JoinedPassage) {
        self.0.on_joined(direction, passage);
        self.1.on_joined(direction, passage);
    }
    fn on_end(&mut self, now: Instant) {
        self.0.on_end(now);
        self.1.on_end(now);
    }
}
