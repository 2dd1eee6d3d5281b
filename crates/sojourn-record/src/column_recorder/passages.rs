//! Packets that have left a link, which are counted many at a time.

use super::{ColumnRecorder, LinkRecords, bins_on};
use crate::latency_histogram::HistogramValue;
use crate::round_trips::RoundTrips;
use crate::{LinkId, LinkPassage, TrafficId};
use sojourn_base::{Bytes, Direction, Instant, ServiceQueue, Span};

/// Packets of one link that are counted together. chosen: the bins of the histograms are not in a near cache, and the
/// processor fetches those of neighbouring packets at the same time. 32 packets take 1.5 kB, and those of both links of a line.
pub(super) const COUNTED_TOGETHER: usize = 32;

/// A packet that has left a link, with the values that are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    entered_at: Instant,
    dequeued_at: Instant,
    arrives_at: Instant,
    length: Bytes,
    charged: Bytes,
    traffic: TrafficId,
    server: u32,
    direction: Direction,
    queue: ServiceQueue,
}

impl Passed {
    #[inline]
    pub(super) const fn new(direction: Direction, passage: &LinkPassage) -> Self {
        Self {
            entered_at: passage.entered_at,
            dequeued_at: passage.dequeued_at,
            arrives_at: passage.arrives_at,
            length: passage.length,
            charged: passage.charged,
            traffic: passage.traffic,
            server: passage.server,
            direction,
            queue: passage.queue,
        }
    }

    /// In the managed queue.
    fn sojourn(&self) -> Span {
        self.dequeued_at.saturating_since(self.entered_at)
    }

    /// From one end of the link to the other.
    fn delay(&self) -> Span {
        self.arrives_at.saturating_since(self.entered_at)
    }
}

impl ColumnRecorder {
    /// Counts what has left all links.
    pub(super) fn count_all_passed(&mut self) {
        for (link, _) in (0..).map(LinkId).zip(0..self.links.len()) {
            self.count_together(link);
        }
    }

    /// Counts what has left a link since the last time.
    #[inline(never)]
    pub(super) fn count_passed(&mut self, id: LinkId) {
        let link = &mut self.links[usize::from(id.0)];
        link.count_totals();
        if self.config.histograms && !link.passed.is_empty() {
            let sojourns = link.passed.iter().map(Passed::sojourn);
            link.sojourn.get_or_insert_default().record_all(sojourns);
        }
        // Packets of one entry come one after the other: its counters are looked up once for all of them.
        let whose = |packet: &Passed| (packet.traffic, packet.direction);
        for packets in link.passed.chunk_by(|one, next| whose(one) == whose(next)) {
            let (traffic, direction) = whose(&packets[0]);
            let traffic = usize::from(traffic.0);
            if link.link.is_access {
                let counters = &mut self.counters[traffic][direction];
                counters.forwarded_packets += packets.len() as u64;
                counters.forwarded_bytes += packets.iter().map(|packet| packet.length.0).sum::<u64>();
                if self.config.histograms && !self.joins[traffic] {
                    self.access_delay[traffic][direction]
                        .get_or_insert_default()
                        .record_all(packets.iter().map(Passed::delay));
                }
            }
            if let Some(width) = self.config.series {
                let bins = bins_on(&mut self.traffic_bins[traffic], id, width);
                for packet in packets {
                    let bin = bins.at(packet.dequeued_at);
                    bin.forwarded_bytes += packet.length.0;
                    bin.forwarded_packets += 1;
                }
            }
        }
        link.passed.clear();
    }

    /// Counts the packets that have left a link, and its round trips. A packet that left an access link downstream may
    /// answer one that left it upstream, which is counted before; the directions of an access link have neighbouring
    /// numbers.
    #[inline(never)]
    pub(super) fn count_together(&mut self, id: LinkId) {
        let link = &self.links[usize::from(id.0)];
        if link.link.is_access && self.config.histograms {
            let first = link.passed.first();
            if first.is_some_and(|packet| packet.direction == Direction::Downstream)
                && let Some(upstream) = id.0.checked_sub(1)
            {
                self.count_together(LinkId(upstream));
            }
            for packet in &self.links[usize::from(id.0)].passed {
                if self.any_joins && self.joins[usize::from(packet.traffic.0)] {
                    continue;
                }
                self.round_trips[usize::from(packet.traffic.0)].count(packet);
            }
        }
        self.count_passed(id);
    }
}

impl RoundTrips {
    /// Counts a packet that has left an access link.
    fn count(&mut self, packet: &Passed) {
        let (server, delay) = (packet.server, packet.delay());
        match packet.direction {
            Direction::Upstream => self.on_upstream(server, packet.arrives_at, delay),
            Direction::Downstream => self.on_downstream(server, packet.entered_at, delay),
        }
    }
}

impl LinkRecords {
    /// Counts the packets that have left, and their delays as the link's device reports them.
    fn count_totals(&mut self) {
        for packet in &self.passed {
            let queue = &mut self.totals.forwarded[packet.queue as usize];
            queue.packets += 1;
            queue.bytes += packet.charged;
        }
        if let Some(bins) = &mut self.bins {
            for packet in &self.passed {
                let sojourn_ns = packet.sojourn().as_ns();
                let bin = bins.at(packet.dequeued_at);
                bin.forwarded_bytes += packet.charged.0;
                bin.forwarded_packets += 1;
                bin.sojourn_ns += sojourn_ns;
                bin.sojourn_max_ns = bin.sojourn_max_ns.max(sojourn_ns);
            }
        }
        if let Some(device) = &mut self.device {
            for packet in &self.passed {
                device.count(HistogramValue::Sojourn, packet.queue, packet.sojourn());
            }
        }
        if let Some(bins) = &mut self.service_bins {
            for packet in &self.passed {
                let bins = &mut bins[packet.queue as usize];
                bins.at(packet.entered_at).offered += packet.charged.0;
                bins.at(packet.dequeued_at).served += packet.charged.0;
            }
        }
    }
}
