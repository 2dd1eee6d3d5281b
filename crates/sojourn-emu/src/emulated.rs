//! State around the links of an emulation: frames in flight, records, and packets due for writing.

use crate::flows::Flows;
use crate::frame::{Carries, Frames};
use crate::witness::Times;
use sojourn_base::{
    Bytes, Direction, Ecn, Instant, LinkId, Meta, Packets, PerDirection, ServiceQueue, Span, TrafficId,
};
use sojourn_link::network::{Arrival, Place};
use sojourn_link::path::{Agenda, PathContext};
use sojourn_link::{DelayParts, Loss, Mark, NetworkContext, PacketId, Passage, Stage};
use sojourn_queue::{Backlog, Score};
use sojourn_record::{
    ColumnRecorder, Datagram, DelaySplit, Fate, LinkDrop, LinkMark, LinkPassage, LinkScore, Recorder, SegmentArrival,
    Waiting,
};
use std::collections::VecDeque;

/// Counters of one direction.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) entered: (Packets, Bytes),
    pub(crate) delivered: (Packets, Bytes),
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Delay on the access link: of the last packet, and of those within this second.
    pub(crate) delay: Span,
    pub(crate) delays: Times,
    /// Median and P99 of the last second.
    pub(crate) last_second: (Span, Span),
}

/// A packet that has arrived and is not written yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) slot: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Emulated {
    pub(crate) agenda: Agenda,
    pub(crate) frames: Frames,
    pub(crate) flows: Flows,
    pub(crate) recorder: ColumnRecorder,
    pub(crate) records_delays: bool,
    /// In the order of their times.
    pub(crate) due: VecDeque<Due>,
    pub(crate) counted: PerDirection<Counted>,
    /// Copies that found no room.
    pub(crate) refused: u64,
}

impl Emulated {
    fn split(&self, slot: u32) -> DelaySplit {
        if self.records_delays { self.frames.get(slot).split } else { DelaySplit::default() }
    }

    /// Records a packet that has entered, before it meets a link.
    pub(crate) fn on_entered(&mut self, traffic: TrafficId, direction: Direction, length: u32) {
        let length = Bytes(length.into());
        self.recorder.on_sent(traffic, direction, length);
        let (packets, bytes) = &mut self.counted[direction].entered;
        *packets += Packets(1);
        *bytes += length;
    }

    /// The fate of what is no segment.
    fn on_datagram(&mut self, slot: u32, fate: Fate, loss: Option<&Loss>) {
        let frame = *self.frames.get(slot);
        if let Carries::Datagram { flow, sequence } = frame.carries {
            self.recorder.on_datagram(&Datagram {
                traffic: frame.traffic,
                flow,
                sequence,
                direction: frame.direction,
                length: Bytes(frame.meta.length.into()),
                sent_at: frame.entered_at,
                fate,
                marked: loss.is_none() && frame.meta.ecn == Ecn::Ce,
                lost_for: loss.map(|loss| loss.reason),
                split: self.split(slot),
            });
        }
    }
}

impl NetworkContext for Emulated {
    type Calendar = Agenda;

    fn calendar(&mut self) -> &mut Agenda {
        &mut self.agenda
    }

    fn meta(&self, id: PacketId) -> Meta {
        self.frames.get(id.index).meta
    }

    fn wants_delays(&self) -> bool {
        self.records_delays
    }

    fn delayed(&mut self, id: PacketId, delay: &DelayParts) {
        let split = &mut self.frames.get_mut(id.index).split;
        for (cause, span) in delay.parts() {
            split.add(cause, span);
        }
    }

    fn passed(&mut self, id: PacketId, place: Place, length: u32, meta: &Meta, passage: &Passage) {
        if place.link.0 < 2 {
            let counted = &mut self.counted[place.direction];
            let delay = passage.arrives_at.saturating_since(passage.entered_at);
            counted.delay = delay;
            counted.delays.record(delay);
        }
        self.recorder.on_passage(
            place.direction,
            &LinkPassage {
                link: place.link,
                traffic: self.frames.get(id.index).traffic,
                server: place.server,
                length: Bytes(length.into()),
                charged: Bytes(meta.length.into()),
                entered_at: passage.entered_at,
                dequeued_at: passage.dequeued_at,
                arrives_at: passage.arrives_at,
                queue: meta.queue,
                sub_flow: passage.sub_flow.get(),
            },
        );
    }

    fn marked(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, mark: &Mark) {
        self.frames.mark(id.index);
        self.counted[place.direction].marked += 1;
        self.recorder.on_mark(&LinkMark {
            at: now,
            link: place.link,
            traffic: self.frames.get(id.index).traffic,
            direction: place.direction,
            length: Bytes(meta.length.into()),
            reason: mark.reason,
            queue: meta.queue,
            sub_flow: mark.sub_flow.get(),
        });
    }

    fn dropped(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, loss: &Loss) {
        self.counted[place.direction].dropped += 1;
        self.recorder.on_drop(&LinkDrop {
            at: now,
            link: place.link,
            traffic: self.frames.get(id.index).traffic,
            direction: place.direction,
            length: Bytes(meta.length.into()),
            behind_queue: loss.stage != Stage::Queue,
            reason: loss.reason,
            queue: meta.queue,
            sub_flow: loss.sub_flow.get(),
        });
        let fate = match loss.stage {
            Stage::Queue => Fate::LostInQueue,
            Stage::TransmitQueue => Fate::LostBehindQueue,
            Stage::Line => Fate::LostOnLine,
        };
        self.on_datagram(id.index, fate, Some(loss));
        self.frames.free(id.index);
    }

    fn scored(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, score: &Score) {
        self.recorder.on_score(&LinkScore {
            at: now,
            link: place.link,
            traffic: self.frames.get(id.index).traffic,
            direction: place.direction,
            flow_hash: meta.flow_hash,
            length: Bytes(meta.length.into()),
            score: score.score,
            late: score.late,
            sanctioned: score.sanctioned,
        });
    }

    fn estimated(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {
        self.recorder.on_estimate(link, queue, delay);
    }

    fn waiting(&mut self, now: Instant, link: LinkId, backlog: Backlog, staged: Packets) {
        let waiting = Waiting { packets: backlog.packets, bytes: backlog.bytes, staged };
        self.recorder.on_waiting(now, link, waiting);
    }

    fn copy(&mut self, id: PacketId, place: Place) -> Option<PacketId> {
        let Some(index) = self.frames.copy(id.index) else {
            self.refused += 1;
            return None;
        };
        let frame = self.frames.get(index);
        let (traffic, length) = (frame.traffic, frame.meta.length);
        self.recorder.on_sent(traffic, place.direction, Bytes(length.into()));
        Some(PacketId { index, ..id })
    }
}

impl PathContext for Emulated {
    fn arrived(&mut self, due: Instant, arrival: &Arrival) {
        let slot = arrival.id.index;
        let frame = *self.frames.get(slot);
        let length = Bytes(frame.meta.length.into());
        let (packets, bytes) = &mut self.counted[frame.direction].delivered;
        *packets += Packets(1);
        *bytes += length;
        match frame.carries {
            Carries::Segment { payload, flow } => {
                if let Some(flow) = flow {
                    self.flows.seen[flow as usize].marks += u64::from(frame.meta.ecn == Ecn::Ce);
                }
                if self.records_delays {
                    self.recorder.on_segment(&SegmentArrival {
                        traffic: frame.traffic,
                        direction: frame.direction,
                        payload: Bytes(payload as u64),
                        split: &frame.split,
                    });
                }
            }
            Carries::Datagram { .. } => self.on_datagram(slot, Fate::Arrived(due), None),
        }
        self.due.push_back(Due { at: due, slot });
    }
}
