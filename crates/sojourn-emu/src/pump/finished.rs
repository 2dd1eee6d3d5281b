//! Result of an emulation: the records of a run, and a summary.

use super::{Intake, Pump};
use crate::capture::Captures;
use crate::emulated::Emulated;
use crate::flows::Flow;
use crate::port::Port;
use crate::snapshot::Summary;
use sojourn_base::{Bytes, Direction, Instant, PerDirection};
use sojourn_link::network::HopId;
use sojourn_link::path::Path;
use sojourn_link::{LinkCounters, Network};
use sojourn_record::{ConnectionTotals, FlowConnection, FlowRow, MacCounters, Recorder, Records, Table};
use std::io;

/// Result of an emulation.
#[derive(Debug)]
pub struct Finished {
    /// The records of a run, for [`Records::tables`] and metrics.
    pub records: Records,
    /// The tables `emulation` and `emulation_lateness`.
    pub tables: Vec<Table>,
    /// Why captures are not whole, if they could not be written.
    pub capture_failed: Option<io::Error>,
    /// The summary.
    pub summary: Summary,
}

impl<P: Port> Pump<P> {
    /// The emulation has ended: its records. Packets still on their way are neither delivered nor lost, as at the end of a
    /// simulation.
    pub fn finish(mut self) -> Finished {
        self.count_lost();
        let end = self.snapshot().at;
        let Intake { path, routes, ways, .. } = &mut self.intake;
        path.advance(end);
        let Path { network, context } = path;
        network.settle(end, context);
        for (link, counters, flows) in network.counters() {
            if let Some(counters) = counters {
                context.recorder.on_mac(link, &mac_counters(&counters));
            }
            for (queue, counters) in flows {
                let counters = mac_counters(&counters);
                context.recorder.on_service_flow(link, queue, &counters);
            }
        }
        for (link, counters) in network.wifi_counters() {
            context.recorder.on_wifi(link, &counters);
        }
        record_connections(context, network, |flow| {
            routes[flow.far][ways[usize::from(flow.traffic.0)]][flow.direction]
        });
        context.recorder.on_end(end);
        let witness = self.time.witness;
        let summary = Summary {
            grade: witness.grade(self.joiner.is_some()),
            duration: end.saturating_since(Instant::ZERO),
            lateness: witness.summary(),
            hidden_losses: witness.hidden_losses,
            tagged: witness.tagged,
            stalls: witness.stalls.clone(),
            joined: self.joiner.is_some(),
            gave_priority_up: self.gave_priority_up,
        };
        let captured = self.intake.captures.map_or(Ok(()), Captures::finish);
        Finished {
            capture_failed: self.intake.capture_failed.or(captured.err()),
            tables: witness.tables(),
            records: self.intake.path.context.recorder.into_records(),
            summary,
        }
    }
}

/// Tells the recorder of all connections and flows.
fn record_connections(context: &mut Emulated, network: &Network, first_of: impl Fn(&Flow) -> HopId) {
    let Emulated { flows, recorder, .. } = context;
    let mut marks = vec![PerDirection::<u64>::default(); flows.connections.len()];
    for flow in &flows.seen {
        if let Some(connection) = flow.connection {
            marks[connection as usize][flow.direction] += flow.marks;
        }
    }
    for (connection, marks_received) in flows.connections.iter().zip(&marks) {
        let seen = &connection.seen;
        let repeated = Direction::BOTH.map(|direction| seen.retransmissions(direction));
        let totals = ConnectionTotals {
            retransmissions: repeated.iter().sum(),
            timeouts: None,
            connect_retries: seen.syn_retries(),
            marks_received: *marks_received,
        };
        recorder.on_connection(connection.traffic, &totals);
    }
    if !recorder.wants_flows() {
        return;
    }
    for flow in &flows.seen {
        let first = first_of(flow);
        recorder.on_flow(&FlowRow {
            traffic: flow.traffic,
            server: flow.connection.map_or(flow.number, |_| far_number(flow.far)),
            direction: flow.direction,
            sub_flow: network.sub_flow(first, flow.hash, flow.dscp),
            flow_hash: flow.hash,
            connection: flow.connection.map(|number| {
                let connection = &flows.connections[number as usize];
                FlowConnection {
                    number,
                    opened_at: connection.opened_at,
                    ended_at: connection.ended_at,
                    goodput: Bytes(connection.seen.goodput(flow.direction)),
                    retransmissions: connection.seen.retransmissions(flow.direction),
                    marks_received: flow.marks,
                }
            }),
        });
    }
}

fn far_number(far: usize) -> u32 {
    u32::try_from(far).expect("there are at most sixteen far addresses")
}

fn mac_counters(counters: &LinkCounters) -> MacCounters {
    MacCounters { requested: counters.requested, granted: counters.granted, unused: counters.unused_grant }
}
