//! Context of an endpoint's call.

use crate::arena::{Body, Header, Packet};
use crate::connections::{Attachment, EndState, direction_from};
use crate::event::Event;
use crate::network::Network;
use sojourn_apps::End;
use sojourn_base::{Bytes, Direction, Instant, Meta, ServiceQueue, Span};
use sojourn_record::{Cause, DelaySplit, Recorder, TrafficId};
use sojourn_transport::{Segment, SendTimes, Timer};
use std::collections::VecDeque;

/// The context of an endpoint during one call.
#[derive(Debug)]
pub(crate) struct EndpointCall<'a, R> {
    now: Instant,
    attachment: &'a mut Attachment,
    network: &'a mut Network<R>,
    events: &'a mut VecDeque<(u32, u8, End, sojourn_transport::Event)>,
}

/// One end of a connection, and its context.
pub(crate) fn surround<'a, R>(
    now: Instant,
    end: &'a mut EndState,
    network: &'a mut Network<R>,
    events: &'a mut VecDeque<(u32, u8, End, sojourn_transport::Event)>,
) -> (&'a mut sojourn_transport::Endpoint, EndpointCall<'a, R>) {
    let call = EndpointCall { now, attachment: &mut end.attachment, network, events };
    (&mut end.endpoint, call)
}

impl<R> EndpointCall<'_, R> {
    /// The direction of what this end sends.
    const fn sends(&self) -> Direction {
        direction_from(self.attachment.end)
    }
}

impl<R: Recorder> sojourn_transport::EndpointContext for EndpointCall<'_, R> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `Arena::insert`")]
    fn emit(&mut self, segment: &Segment, times: SendTimes) {
        let split = self.network.records_delays().then(|| {
            let mut split = DelaySplit::default();
            split.add(Cause::Sender, elapsed(times.first_sent_at, times.written_at));
            split.add(Cause::Recovery, elapsed(self.now, times.first_sent_at));
            split
        });
        let packet = Packet {
            meta: Meta {
                length: segment.length,
                flow_hash: self.attachment.flow_hash,
                mac_overhead: 0,
                host: self.attachment.host,
                dscp: self.attachment.dscp,
                ecn: segment.ecn,
                pure_ack: segment.is_pure_ack(),
                queue: ServiceQueue::Classic,
            },
            body: Body::Segment {
                slot: self.attachment.slot,
                generation: self.attachment.generation,
                header: Header::of(segment),
            },
        };
        self.network.send(self.now, self.attachment.first_hop, packet, &segment.sack, split);
    }

    fn emit_datagram(&mut self, segment: &Segment, bytes: &[u8]) {
        self.network.paths.packets.put_datagram(bytes);
        self.emit(segment, SendTimes::all_at(segment.sent_at));
    }

    fn arm(&mut self, timer: Timer, at: Instant) {
        let event = Event::EndpointTimer {
            end: self.attachment.end == End::Server,
            timer,
            generation: self.attachment.generation,
            slot: self.attachment.slot,
        };
        self.attachment.timers.arm(timer, at, event, &mut self.network.paths.calendar);
    }

    fn notify(&mut self, event: sojourn_transport::Event) {
        let is_wanted = match event {
            sojourn_transport::Event::Delivered(total) => {
                let bytes = Bytes(total - self.attachment.delivered);
                self.attachment.delivered = total;
                let direction = self.sends().reversed();
                self.network.paths.recorder.on_goodput(TrafficId(self.attachment.traffic), direction, bytes);
                total >= self.attachment.awaited.delivered
            }
            sojourn_transport::Event::Acknowledged(total) => total >= self.attachment.awaited.acknowledged,
            _ => true,
        };
        if !is_wanted {
            return;
        }
        self.events.push_back((self.attachment.slot, self.attachment.generation, self.attachment.end, event));
    }
}

fn elapsed(later: Instant, earlier: Instant) -> Span {
    later.since(earlier).expect("a segment is written before it is sent, and sent before it is repeated")
}
