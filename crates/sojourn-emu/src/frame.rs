//! Room for packets on their way: slots of one size, taken at the start, so that a packet costs no allocation.

use crate::headers::mark;
use crate::segment::Offload;
use sojourn_base::{Direction, Ecn, Instant, Meta, TrafficId};
use sojourn_record::DelaySplit;

/// Most memory that all packets on their way may take (specification of the emulator, section 3).
pub(crate) const MOST_FRAME_BYTES: usize = 256 << 20;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Properties of the packet that queues may read.
    pub(crate) meta: Meta,
    pub(crate) offload: Offload,
    /// Bytes in its slot, the link-layer header among them.
    pub(crate) length: usize,
    pub(crate) direction: Direction,
    pub(crate) traffic: TrafficId,
    pub(crate) entered_at: Instant,
    pub(crate) carries: Carries,
    /// Delay so far, if delays are recorded.
    pub(crate) split: DelaySplit,
}

/// Payload of a packet, as records name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// A TCP segment.
    Segment {
        /// Bytes of application data.
        payload: usize,
        /// Its flow, if it is followed.
        flow: Option<u32>,
    },
    /// Anything else.
    Datagram {
        /// Flow within the traffic entry.
        flow: u32,
        /// Number within the flow.
        sequence: u32,
    },
}

/// All packets on their way.
#[derive(Debug)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    slot_bytes: usize,
    link_header: usize,
    /// Those that were used before.
    used: Vec<Frame>,
    free: Vec<u32>,
    slots: usize,
}

impl Frames {
    /// Room for `slots` packets of at most `longest` bytes behind their link-layer header.
    pub(crate) fn new(slots: usize, longest: usize, link_header: usize) -> Self {
        let slot_bytes = longest + link_header;
        Self {
            bytes: vec![0; slots * slot_bytes],
            slot_bytes,
            link_header,
            used: Vec::with_capacity(slots),
            free: Vec::with_capacity(slots),
            slots,
        }
    }

    /// Stores a frame of these two parts; `None` if it is too long, or there is no room.
    pub(crate) fn insert(&mut self, frame: Frame, parts: [&[u8]; 2]) -> Option<u32> {
        let length = parts[0].len() + parts[1].len();
        if length > self.slot_bytes {
            return None;
        }
        let frame = Frame { length, ..frame };
        let slot = self.take(frame)?;
        let place = &mut self.bytes[slot as usize * self.slot_bytes..][..length];
        let (headers, payload) = place.split_at_mut(parts[0].len());
        headers.copy_from_slice(parts[0]);
        payload.copy_from_slice(parts[1]);
        Some(slot)
    }

    /// A second frame like this one; `None` if there is no room.
    pub(crate) fn copy(&mut self, slot: u32) -> Option<u32> {
        let frame = *self.get(slot);
        let copy = self.take(frame)?;
        let from = slot as usize * self.slot_bytes;
        let to = copy as usize * self.slot_bytes;
        self.bytes.copy_within(from..from + frame.length, to);
        Some(copy)
    }

    fn take(&mut self, frame: Frame) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            self.used[slot as usize] = frame;
            return Some(slot);
        }
        let slot = u32::try_from(self.used.len()).ok()?;
        (self.used.len() < self.slots).then(|| {
            self.used.push(frame);
            slot
        })
    }

    /// A frame has come to its end.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(crate) fn get(&self, slot: u32) -> &Frame {
        &self.used[slot as usize]
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Frame {
        &mut self.used[slot as usize]
    }

    /// Its bytes, the link-layer header first.
    pub(crate) fn bytes(&self, slot: u32) -> &[u8] {
        let length = self.get(slot).length;
        &self.bytes[slot as usize * self.slot_bytes..][..length]
    }

    /// Marks a frame: in its header, and in what queues know of it.
    pub(crate) fn mark(&mut self, slot: u32) {
        let length = self.get(slot).length;
        let bytes = &mut self.bytes[slot as usize * self.slot_bytes..][..length];
        mark(bytes.get_mut(self.link_header..).unwrap_or_default());
        self.get_mut(slot).meta.ecn = Ecn::Ce;
    }
}
