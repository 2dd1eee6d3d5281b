//! The packets of a run on its links and wires.

use crate::arena::{Arena, Packet};
use crate::calendar::Calendar;
use crate::paths::Paths;
use crate::paths::SeenFlows;
use crate::work::{Interrupt, Work};
use sojourn_base::native::native;
use sojourn_base::{Bytes, Direction, Instant, Seed};
use sojourn_link::network::{Arrival, GroupModem, HopId};
use sojourn_link::wifi::channel::ChannelSpec;
use sojourn_link::{ConditionConfig, Framing, LinkConfig, LinkCounters, WireConfig};
use sojourn_record::{COUNTED_AND_TABLE, DelaySplit, LinkId, MacCounters, Moment, Recorder, TrafficId};
use sojourn_scenario::DirectedLink;
use sojourn_scenario::Scenario;
use sojourn_transport::SackBlocks;

/// All links and wires of a run, with what is on them.
#[derive(Debug)]
pub(crate) struct Network<R> {
    links: sojourn_link::Network,
    pub(crate) paths: Paths<R>,
}

impl<R: Recorder> Network<R> {
    pub(crate) fn new(recorder: R, interrupt: Interrupt) -> Self {
        Self {
            links: sojourn_link::Network::new(recorder.wants_waiting()),
            paths: Paths {
                packets: Arena::default(),
                calendar: Calendar::new(),
                record_delays: recorder.wants_delays(),
                recorder,
                work: Work::watched(interrupt),
                joining: Vec::new(),
                flows: None,
            },
        }
    }

    /// See [`sojourn_link::Network::add_link`].
    pub(crate) fn add_link(
        &mut self,
        name: &str,
        direction: Direction,
        config: (&LinkConfig, &[ConditionConfig], Framing),
        seed: Seed,
    ) -> LinkId {
        self.links.add_link(name, direction, config, seed)
    }

    /// See [`sojourn_link::Network::add_flows`]; of a link without rules and further service flows nothing.
    pub(crate) fn add_flows(&mut self, link: LinkId, config: &DirectedLink, scenario: &Scenario) {
        if config.flows.is_empty() {
            return;
        }
        let own = (&config.link, &config.conditions[..]);
        self.links.add_flows(link, own, &config.flows);
        self.see_flows(scenario);
    }

    /// Links ask for addresses and ports from now on.
    fn see_flows(&mut self, scenario: &Scenario) {
        if self.paths.flows.is_none() {
            self.paths.flows = native(|| SeenFlows::of(scenario));
        }
    }

    /// See [`sojourn_link::Network::add_modem`].
    pub(crate) fn add_modem(&mut self, name: &str, direction: Direction, framing: Framing, seed: Seed) -> LinkId {
        self.links.add_modem(name, direction, framing, seed)
    }

    /// See [`sojourn_link::Network::add_group`].
    pub(crate) fn add_group(&mut self, direction: Direction, scenario: &Scenario, modems: &[GroupModem<'_>]) {
        self.links.add_group(direction, &scenario.group, modems);
        if modems.iter().any(|modem| !modem.flows.is_empty()) {
            self.see_flows(scenario);
        }
    }

    /// See [`sojourn_link::Network::add_wifi`].
    pub(crate) fn add_wifi(&mut self, name: &str, spec: &ChannelSpec<'_>, members: &[LinkId], seed: Seed) {
        self.links.add_wifi(name, spec, members, seed);
    }

    /// See [`sojourn_link::Network::add_route`].
    pub(crate) fn add_route(
        &mut self,
        entry_and_server: (TrafficId, u32),
        direction: Direction,
        links: &[LinkId],
        wire: WireConfig,
    ) -> HopId {
        self.links.add_route(entry_and_server, direction, links, wire)
    }

    /// Tells the recorder what the MACs have counted by `end`.
    pub(crate) fn record_macs(&mut self, end: Instant) {
        self.links.settle(end, &mut self.paths);
        let recorder = &mut self.paths.recorder;
        for (link, counters, flows) in self.links.counters() {
            if let Some(counters) = counters {
                recorder.on_mac(link, &mac_counters(&counters));
            }
            for (queue, counters) in flows {
                recorder.on_service_flow(link, queue, &mac_counters(&counters));
            }
        }
        for (link, counters) in self.links.wifi_counters() {
            recorder.on_wifi(link, &counters);
        }
        if !sojourn_link::group::KNOWN {
            return;
        }
        for (direction, channel, modems) in self.links.group_counters() {
            recorder.on_group(direction, &channel, &modems.collect::<Vec<_>>());
        }
    }

    /// See [`sojourn_link::Network::retune_link`].
    pub(crate) fn retune_link(&mut self, now: Instant, link: LinkId, from_and_to: (&LinkConfig, &LinkConfig)) {
        self.links.retune_link(now, link, from_and_to, &mut self.paths);
    }

    /// A wake-up event of a service group is due.
    pub(crate) fn on_group_wakeup(&mut self, now: Instant, group: u16) {
        self.links.on_group_wakeup(now, group, &mut self.paths);
    }

    /// Packets delivered by links so far.
    pub(crate) const fn packet_hops(&self) -> u64 {
        self.links.packet_hops()
    }

    /// Bytes that records, packets in flight and pending events take.
    pub(crate) fn bytes(&self) -> usize {
        COUNTED_AND_TABLE * self.paths.recorder.bytes() + self.paths.packets.bytes() + self.paths.calendar.bytes()
    }

    /// Returns the work done within events: steps of links and applications, and packets that found no free place.
    #[inline]
    pub(crate) fn work(&self) -> u64 {
        self.paths.work.done() + self.paths.packets.most() as u64
    }

    /// Packets in queues and on wires.
    pub(crate) fn in_flight(&self) -> usize {
        self.paths.packets.in_flight()
    }

    /// A packet enters a route by its first hop, with the SACK blocks of its segment. `split` is the delay
    /// that it brings along, if delays are recorded.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `Arena::insert`")]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        first: HopId,
        packet: Packet,
        blocks: &SackBlocks,
        split: Option<DelaySplit>,
    ) {
        let meta = packet.meta;
        let paths = &mut self.paths;
        let hop = self.links.hop(first);
        let length = Bytes(u64::from(meta.length));
        paths.recorder.on_sent(hop.traffic, hop.direction, length);
        let id = paths.packets.insert(first, packet, blocks, split);
        if R::WANTS_PACKETS {
            let whose = (hop.traffic, hop.server, hop.direction);
            paths.see(now, id, whose, Moment::Sent);
        }
        self.links.enter(now, id, meta, paths);
    }

    /// A wake-up event of a link is due.
    pub(crate) fn on_wakeup(&mut self, now: Instant, link: LinkId) {
        self.links.on_wakeup(now, link, &mut self.paths);
    }

    /// A delivery event of a wire is due: returns a packet at the end of its route; the caller asks again
    /// until there is none.
    pub(crate) fn take_from_wire(&mut self, now: Instant, wire: u32) -> Option<Arrival> {
        self.links.take_from_wire(now, wire, &mut self.paths)
    }

    /// A delivery event of a link is due: as [`Network::take_from_wire`].
    pub(crate) fn take_from_link(&mut self, now: Instant, link: LinkId) -> Option<Arrival> {
        self.links.take_from_link(now, link, &mut self.paths)
    }

    /// Tells the recorder what arrived, and takes it out of the network; shows it with the SACK blocks of its segment
    /// if that has some.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, arrival: &Arrival) -> (&Packet, &SackBlocks) {
        if R::WANTS_PACKETS {
            let hop = *self.links.hop(arrival.id.hop);
            let whose = (hop.traffic, hop.server, hop.direction);
            self.paths.see(now, arrival.id, whose, Moment::Arrived);
        }
        self.paths.record_arrival(now, arrival);
        self.paths.packets.remove(arrival.id)
    }

    /// See [`sojourn_link::Network::sub_flow`].
    pub(crate) fn sub_flow(&self, first: HopId, flow_hash: u32, dscp: u8) -> Option<u32> {
        self.links.sub_flow(first, flow_hash, dscp)
    }

    /// Returns true if packets carry their delay by cause.
    pub(crate) const fn records_delays(&self) -> bool {
        self.paths.record_delays
    }
}

fn mac_counters(counters: &LinkCounters) -> MacCounters {
    MacCounters { requested: counters.requested, granted: counters.granted, unused: counters.unused_grant }
}

#[cfg(test)]
mod tests;
