//! What a link may ask and tell during one call.

use crate::arena::{Body, PacketId};
use crate::event::Event;
use crate::event_line::EventLine;
use crate::paths::{Hop, Over, Paths, add_delay};
use sojourn_base::{Bytes, Direction, Ecn, Instant, Meta, PacketHandle, RandomStream, Span};
use sojourn_link::{Draw, Framing, LinkContext, Loss, Mark, Passage, Stage};
use sojourn_queue::Score;
use sojourn_record::{
    Datagram, Fate, LinkDrop, LinkId, LinkMark, LinkPassage, LinkScore, Recorder,
};

/// What stands around the model of a link.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) link: LinkId,
    pub(crate) direction: Direction,
    pub(crate) framing: Framing,
    /// One for each purpose.
    pub(crate) streams: [RandomStream; Draw::ALL.len()],
    /// What the link has announced, unless that is on a wire already.
    pub(crate) line: EventLine,
}

/// The context of a link during one call.
pub(crate) struct LinkCall<'a, R> {
    pub(crate) now: Instant,
    pub(crate) port: &'a mut Port,
    pub(crate) paths: &'a mut Paths<R>,
}

impl<R: Recorder> LinkContext for LinkCall<'_, R> {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a passage that nobody records need not be put together"
    )]
    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let id = PacketId::from(item);
        let paths = &mut *self.paths;
        let at = passage.arrives_at;
        let length = match self.port.framing {
            Framing::Ip => meta.length,
            _ => paths.packets.get(id).meta.length,
        };
        if paths.record_delays {
            add_delay(paths.packets.split_mut(id), &passage.delay);
        }
        let behind = id.one_hop_on();
        let Hop { over, traffic, .. } = *paths.hops.of(behind);
        match over {
            Over::Wire {
                wire,
                at_once: true,
            } => paths.carry(wire, at, behind, length),
            Over::Link(_) | Over::Wire { .. } | Over::End => {
                let event = Event::LinkDelivery {
                    link: self.port.link,
                };
                self.port.line.announce(at, id, event, &mut paths.calendar);
            }
        }
        paths.recorder.on_passage(
            self.port.direction,
            &LinkPassage {
                link: self.port.link,
                traffic,
                length: Bytes(u64::from(length)),
                charged: Bytes(u64::from(meta.length)),
                entered_at: passage.entered_at,
                dequeued_at: passage.dequeued_at,
                arrives_at: passage.arrives_at,
                queue: meta.queue,
                sub_flow: passage.sub_flow.get(),
            },
        );
    }

    #[cold]
    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.paths.packets.get_mut(item.into()).meta.ecn = Ecn::Ce;
        self.paths.recorder.on_mark(&LinkMark {
            at: self.now,
            link: self.port.link,
            traffic: self.paths.hops.of(item.into()).traffic,
            direction: self.port.direction,
            length: Bytes(u64::from(meta.length)),
            reason: mark.reason,
            queue: meta.queue,
            sub_flow: mark.sub_flow.get(),
        });
    }

    fn scored(&mut self, item: PacketHandle, meta: &Meta, score: &Score) {
        self.paths.recorder.on_score(&LinkScore {
            at: self.now,
            link: self.port.link,
            traffic: self.paths.hops.of(item.into()).traffic,
            direction: self.port.direction,
            flow_hash: meta.flow_hash,
            length: Bytes(u64::from(meta.length)),
            score: score.score,
            late: score.late,
            sanctioned: score.sanctioned,
        });
    }

    fn estimated(&mut self, meta: &Meta, delay: Span) {
        let link = self.port.link;
        self.paths.recorder.on_estimate(link, meta.queue, delay);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        let (paths, direction) = (&mut *self.paths, self.port.direction);
        let id = PacketId::from(item);
        let packet = paths.packets.get(id);
        let traffic = paths.hops.of(id).traffic;
        let behind_queue = loss.stage != Stage::Queue;
        paths.recorder.on_drop(&LinkDrop {
            at: self.now,
            link: self.port.link,
            traffic,
            direction,
            length: Bytes(u64::from(meta.length)),
            behind_queue,
            reason: loss.reason,
            queue: meta.queue,
            sub_flow: loss.sub_flow.get(),
        });
        if let Body::Datagram {
            flow,
            sequence,
            sent_at,
            ..
        } = packet.body
        {
            paths.recorder.on_datagram(&Datagram {
                traffic,
                flow,
                sequence,
                direction,
                length: Bytes(u64::from(packet.meta.length)),
                sent_at,
                fate: match loss.stage {
                    Stage::Queue => Fate::LostInQueue,
                    Stage::TransmitQueue => Fate::LostBehindQueue,
                    Stage::Line => Fate::LostOnLine,
                },
                marked: false,
                lost_for: Some(loss.reason),
                split: paths.recorded_split(id),
            });
        }
        paths.packets.free(id);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.port.streams[purpose as usize].unit()
    }

    fn luck(&mut self, flow: u32, number: u64, lot: u32) -> f64 {
        let stream = u64::from(lot) << 32 | u64::from(flow);
        self.port.streams[Draw::Conditions as usize].unit_at((stream, number))
    }

    fn copy(&mut self, item: PacketHandle) -> Option<PacketHandle> {
        let paths = &mut *self.paths;
        let id = PacketId::from(item);
        let Hop {
            traffic, direction, ..
        } = *paths.hops.of(id);
        let length = Bytes(u64::from(paths.packets.get(id).meta.length));
        paths.recorder.on_sent(traffic, direction, length);
        Some(paths.packets.copy(id).into())
    }

    fn wants_delay(&self) -> bool {
        self.paths.record_delays
    }

    #[inline]
    fn work(&mut self, units: u64) -> bool {
        self.paths.work.spend(units)
    }
}
