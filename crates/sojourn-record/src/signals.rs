//! Counts of drops and marks by everything that is known of them.
//!
//! They grow with the number of different signals, not with the run: a link has few reasons, and the
//! sub-flows of a queue are numbered.

use crate::{LinkDrop, LinkId, LinkMark, TrafficId};
use sojourn_base::{Bytes, Reason, ServiceQueue};
use std::collections::BTreeMap;

/// A queue manager's signal on a packet: congestion, or no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// It was lost in the managed queue.
    Drop,
    /// It was lost behind the managed queue (2012 modem: the transmit queue).
    DropBehind,
    /// It was marked (CE).
    Mark,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Drop, Self::DropBehind, Self::Mark];

    /// The word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::DropBehind => "drop_in_transmit_queue",
            Self::Mark => "mark",
        }
    }
}

/// All that tells one count from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalKind {
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packets.
    pub traffic: TrafficId,
    /// The service queue that they were in.
    pub queue: ServiceQueue,
    /// The sub-flow that they were in, if the queue has any.
    pub sub_flow: Option<u32>,
    /// The signal.
    pub signal: Signal,
    /// Reason.
    pub reason: Reason,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// Packets.
    pub packets: u64,
    /// Charged bytes.
    pub bytes: Bytes,
}

/// Counts of all kinds that occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignalCounts {
    /// In the order in which they occurred first.
    counts: Vec<PacketCount>,
    /// Place of the count of each kind.
    places: BTreeMap<SignalKind, usize>,
    /// The last kind: most often it is also the next.
    last: Option<(SignalKind, usize)>,
}

impl SignalCounts {
    pub(crate) fn on_drop(&mut self, drop: &LinkDrop) {
        let kind = SignalKind {
            link: drop.link,
            traffic: drop.traffic,
            queue: drop.queue,
            sub_flow: drop.sub_flow,
            signal: if drop.behind_queue { Signal::DropBehind } else { Signal::Drop },
            reason: drop.reason,
        };
        self.add(kind, drop.length);
    }

    pub(crate) fn on_mark(&mut self, mark: &LinkMark) {
        let kind = SignalKind {
            link: mark.link,
            traffic: mark.traffic,
            queue: mark.queue,
            sub_flow: mark.sub_flow,
            signal: Signal::Mark,
            reason: mark.reason,
        };
        self.add(kind, mark.length);
    }

    /// Bytes that they take, apart from the nodes of the tree.
    pub(crate) fn bytes(&self) -> usize {
        self.counts.len() * size_of::<(PacketCount, SignalKind, usize)>()
    }

    fn add(&mut self, kind: SignalKind, length: Bytes) {
        let place = match self.last {
            Some((last, place)) if last == kind => place,
            _ => self.find(kind),
        };
        let count = &mut self.counts[place];
        count.packets += 1;
        count.bytes += length;
    }

    #[inline(never)]
    fn find(&mut self, kind: SignalKind) -> usize {
        let place = *self.places.entry(kind).or_insert(self.counts.len());
        if place == self.counts.len() {
            self.counts.push(PacketCount::default());
        }
        self.last = Some((kind, place));
        place
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SignalKind, &PacketCount)> {
        self.places.iter().map(|(kind, place)| (kind, &self.counts[*place]))
    }
}
