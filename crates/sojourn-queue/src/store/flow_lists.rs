//! Flow queues served by deficit round robin with a list of new and a list of old ones: a flow that
//! has just become active is served before those that have had their quantum.
//!
//! Source: RFC 8290 §4.1 and §4.2; the set-associative hash and the overflow batch after the ns-3
//! FQ-CoDel queue disc.
//! Deviations: if one overflow batch is not enough (a limit in bytes and a very large arrival), the
//! next fattest queue is dropped from as well, so that the limit always holds.

use crate::config::{ConfigProblem, LIMIT, quantum, require_room};
use crate::store::bins::{Bins, LINE_BYTES};
use crate::store::fields::{FlowFields, show_fields};
use crate::store::lines::{Lines, StoreConfig};
use crate::store::room::Room;
use crate::store::waiting::Waiting as _;
use crate::{Held, QueueContext, Reason, Verdict};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Debug;
use sojourn_base::{Bytes, Limit, Meta, Packets};
use sojourn_keys::{bytes, origin, parameters};

parameters! {
    /// Parameters of the flow queues: memory limit and batch are those of the Linux implementation.
    #[derive(Copy, Eq)]
    pub struct FlowListsConfig {
        limit: Limit = Limit::Packets(Packets(10_240)), LIMIT;
        /// number of queues that flows are hashed into
        // Source of the bound: Linux sch_fq_codel.
        queues: u32 = 1024, origin("RFC 8290 §5.2").least("1").most("65536");
        /// queues per set of a set-associative hash; 1 is a plain hash
        ways: u32 = 1, origin("RFC 8290 §5.2").least("1").most("65536");
        quantum: u32 = 1514, quantum("what a queue may send before the next one's turn", "RFC 8290 §5.2").least("1 B") => bytes;
        /// bytes that may wait in all queues together, besides limit
        memory: Option<Bytes> = Some(Bytes(32 << 20)), origin("Linux").or("unlimited").least("1500 B");
        /// most packets dropped from the fattest queue at once
        drop_batch: u32 = 64, origin("Linux").least("1").most("65536");
        /// fields of a header that make a flow
        fields: FlowFields = FlowFields::BASE => show_fields;
    }
}

/// State of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Inactive,
    New,
    Old,
    /// Empty, but its policy has not forgotten its flow.
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    deficit: i64,
    status: Status,
    /// Counted among the busy queues of its host.
    is_busy: bool,
    /// Host of the packet that made it a new flow.
    host: u16,
    /// Hash of the flow that owns this way of its set.
    owner: u32,
}

/// Number of distinct hosts. Source: Linux `sch_cake`, as many as queues.
const HOSTS: usize = 1024;

impl FlowListsConfig {
    /// The most that may wait in all queues together.
    fn room(&self) -> Room {
        Room::new(self.limit).within_bytes(self.memory.unwrap_or(Bytes::MAX).0)
    }
}

impl StoreConfig for FlowListsConfig {
    type Lines = FlowLists;

    fn lines(&self) -> FlowLists {
        FlowLists::new(self)
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn bytes_with(&self, state: usize) -> u64 {
        let lists = 3 * size_of::<usize>();
        u64::from(self.queues) * (LINE_BYTES + size_of::<Place>() + lists + state) as u64
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(self.fields)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        for (field, value) in
            [("queues", self.queues), ("ways", self.ways), ("quantum", self.quantum), ("drop_batch", self.drop_batch)]
        {
            if value == 0 {
                problems.push(ConfigProblem { field, message: alloc::format!("{field} is zero"), hint: "at least 1" });
            }
        }
        if self.ways > 0 && !self.queues.is_multiple_of(self.ways) {
            problems.push(ConfigProblem {
                field: "ways",
                message: alloc::format!("{} queues do not split into sets of {}", self.queues, self.ways),
                hint: "a divisor of queues, for instance 8",
            });
        }
    }
}

/// Packets in flow queues, and whose turn it is.
#[derive(Clone, Debug)]
pub struct FlowLists {
    pub(crate) bins: Bins,
    places: Vec<Place>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    quantum: i64,
    ways: usize,
    drop_batch: u32,
    room: Room,
    /// Fixed in a run: it decides which queue a flow has.
    fields: FlowFields,
    /// Number of queues.
    count: u32,
    /// The queue that paid for the last overflow, and with how many packets.
    payer: Option<(usize, u32)>,
    /// How many queues of each host have had a turn and still have packets; empty if hosts do not matter.
    busy: Vec<u16>,
    /// A new queue that runs empty is forgotten at once, not at the end of the old ones.
    forgets_at_once: bool,
}

impl FlowLists {
    /// No packets.
    pub(crate) fn new(config: &FlowListsConfig) -> Self {
        let queues = config.queues.max(1);
        let place = Place { deficit: 0, status: Status::Inactive, is_busy: false, host: 0, owner: 0 };
        Self {
            bins: Bins::new(queues),
            places: alloc::vec![place; queues as usize],
            new: VecDeque::with_capacity(queues as usize),
            old: VecDeque::with_capacity(queues as usize),
            decaying: VecDeque::new(),
            quantum: i64::from(config.quantum.max(1)),
            ways: config.ways.max(1) as usize,
            drop_batch: config.drop_batch.max(1),
            room: config.room(),
            fields: config.fields,
            count: queues,
            payer: None,
            busy: Vec::new(),
            forgets_at_once: false,
        }
    }

    /// From now on a new queue that runs empty is forgotten at once. RFC 8290 4.2 moves it behind the old ones, so that it is not new
    /// again before they have had their turn; Linux `cake_dequeue` does not.
    pub(crate) fn forget_at_once(&mut self) {
        self.forgets_at_once = true;
    }

    /// From now on a queue's quantum is divided by the number of busy queues of its host, so that hosts get equal shares.
    pub(crate) fn share_by_host(&mut self) {
        self.busy = alloc::vec![0; HOSTS];
    }

    /// Returns true if a queue is in the list of new or of old ones, with packets or not.
    pub(crate) fn has_turns(&self) -> bool {
        !(self.new.is_empty() && self.old.is_empty())
    }

    /// Linux `cake_hash`: the way that has the flow's tag, else the first idle one, both from the flow's own way on, else that. A tag
    /// outlives the flow, so that a flow that comes back finds the state of its queue.
    fn way_of_cake(&mut self, hash: u32, place: usize) -> usize {
        let (first, inner) = (place - place % self.ways, place % self.ways);
        let ways = || (0..self.ways).map(|step| first + (inner + step) % self.ways);
        let tagged = ways().find(|&way| self.places[way].owner == hash);
        let way = tagged.or_else(|| ways().find(|&way| self.places[way].status == Status::Inactive)).unwrap_or(place);
        self.places[way].owner = hash;
        way
    }

    /// Sets the bytes that a queue may send before the next one's turn, if it is its host's only one.
    pub(crate) fn set_quantum(&mut self, bytes: u32) {
        self.quantum = i64::from(bytes.max(1));
    }

    /// The queue with the most bytes.
    pub(crate) fn fattest(&self) -> usize {
        let mut fattest = 0;
        for queue in 1..self.bins.lines() {
            if self.bins.bytes_in(queue) > self.bins.bytes_in(fattest) {
                fattest = queue;
            }
        }
        fattest
    }

    /// A turn of a queue in bytes.
    #[inline]
    fn quantum_of(&self, queue: usize) -> i64 {
        match self.busy.get(usize::from(self.places[queue].host) % HOSTS) {
            Some(load) => (self.quantum / i64::from((*load).max(1))).max(1),
            None => self.quantum,
        }
    }

    /// A queue is busy from now on, or no more.
    #[inline]
    fn set_busy(&mut self, queue: usize, is_busy: bool) {
        let place = &mut self.places[queue];
        let host = usize::from(place.host) % HOSTS;
        if let Some(load) = self.busy.get_mut(host)
            && place.is_busy != is_busy
        {
            place.is_busy = is_busy;
            *load = if is_busy { *load + 1 } else { *load - 1 };
        }
    }

    /// Put a packet into `queue` without looking at the limit.
    #[inline]
    fn push(&mut self, queue: usize, packet: Held) {
        let host = packet.meta.host;
        self.bins.push(queue, packet);
        let place = &mut self.places[queue];
        match place.status {
            Status::Inactive | Status::Decaying => {
                if place.status == Status::Decaying {
                    self.decaying.retain(|&other| other != queue);
                }
                place.status = Status::New;
                place.host = host;
                self.places[queue].deficit = self.quantum_of(queue);
                self.new.push_back(queue);
            }
            // It was empty and waited for its turn.
            Status::Old if !self.busy.is_empty() => self.set_busy(queue, true),
            Status::New | Status::Old => {}
        }
    }

    /// Returns the bytes that a queue may still send before the next one's turn.
    #[cfg(test)]
    pub(crate) fn deficit(&self, queue: usize) -> i64 {
        self.places[queue].deficit
    }

    fn leave_front(&mut self, queue: usize) {
        match self.places[queue].status {
            Status::New => self.new.pop_front(),
            Status::Old => self.old.pop_front(),
            Status::Inactive | Status::Decaying => None,
        };
    }

    /// Drops from the head of the queue with the most bytes, until at least half of them are gone or
    /// a batch is full; again while it is still too much.
    #[cold]
    fn make_room(&mut self, context: &mut dyn QueueContext) {
        while self.room.is_exceeded_by(self.bins.backlog()) {
            let fattest = self.fattest();
            let mut paid = 0;
            let whole = self.bins.bytes_in(fattest);
            for _ in 0..self.drop_batch {
                let Some(victim) = self.bins.pop(fattest) else {
                    break;
                };
                paid += 1;
                context.dropped(victim, Reason::FatFlow);
                if (whole - self.bins.bytes_in(fattest)) * 2 >= whole {
                    break;
                }
            }
            self.payer = Some((fattest, paid));
        }
    }
}

impl Lines for FlowLists {
    type Config = FlowListsConfig;
    type Packets = Bins;
    type Each<T: Clone + Debug + Send + 'static> = Vec<T>;

    #[inline]
    fn packets(&self) -> &Bins {
        &self.bins
    }

    #[inline]
    fn packets_mut(&mut self) -> &mut Bins {
        &mut self.bins
    }

    fn each<T: Clone + Debug + Send + 'static>(&self, one: T, is_shared: bool) -> Vec<T> {
        alloc::vec![one; if is_shared { 1 } else { self.bins.lines() }]
    }

    fn retune(&mut self, to: &FlowListsConfig) -> bool {
        self.quantum = i64::from(to.quantum.max(1));
        self.drop_batch = to.drop_batch.max(1);
        self.room = to.room();
        let queues = (to.queues.max(1), to.ways.max(1) as usize);
        (self.count, self.ways) == queues && self.fields == to.fields
    }

    #[inline]
    fn take_payer(&mut self) -> Option<(usize, u32)> {
        self.payer.take()
    }

    /// The queue of a packet: its own way of its set, else an idle way, else the first way.
    #[inline]
    fn line_of(&mut self, meta: &Meta) -> usize {
        // In 32 bits, because a 64-bit division takes twice as long.
        let place = (meta.flow_hash % self.count) as usize;
        if self.ways == 1 {
            return place;
        }
        let first = place - place % self.ways;
        if self.forgets_at_once {
            return self.way_of_cake(meta.flow_hash, place);
        }
        let set = first..(first + self.ways).min(self.places.len());
        let owned = set
            .clone()
            .find(|&way| self.places[way].status != Status::Inactive && self.places[way].owner == meta.flow_hash);
        let way =
            owned.or_else(|| set.clone().find(|&way| self.places[way].status == Status::Inactive)).unwrap_or(first);
        self.places[way].owner = meta.flow_hash;
        way
    }

    /// The queue that a flow always goes to; none if sets leave it a choice.
    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        (self.ways == 1).then(|| meta.flow_hash % self.count)
    }

    /// Put an arrival into `queue`; if that is too much, the fattest queue pays from its head. The
    /// arrival may be among the victims.
    #[inline]
    fn enqueue(&mut self, queue: usize, packet: Held, context: &mut dyn QueueContext) -> Verdict {
        self.push(queue, packet);
        if self.room.is_exceeded_by(self.bins.backlog()) {
            self.make_room(context);
            // Victims leave from the head, so the arrival is gone only if all in front of it are.
            if self.bins.is_empty(queue) {
                return Verdict::Dropped(Reason::FatFlow);
            }
        }
        Verdict::Accepted
    }

    /// The queue to look at now.
    #[inline]
    fn ready(&mut self, _retire: impl FnMut(usize)) -> Option<usize> {
        loop {
            let queue = *self.new.front().or_else(|| self.old.front())?;
            if self.places[queue].deficit > 0 {
                return Some(queue);
            }
            if !self.busy.is_empty() && !self.bins.is_empty(queue) {
                self.set_busy(queue, true);
            }
            self.places[queue].deficit += self.quantum_of(queue);
            self.leave_front(queue);
            self.places[queue].status = Status::Old;
            self.old.push_back(queue);
        }
    }

    #[inline]
    fn on_sent(&mut self, queue: usize, length: u32) {
        self.places[queue].deficit -= i64::from(length);
    }

    fn on_empty(&mut self, queue: usize) {
        let was_new = self.places[queue].status == Status::New;
        self.set_busy(queue, false);
        self.leave_front(queue);
        if was_new && !self.old.is_empty() && !self.forgets_at_once {
            self.places[queue].status = Status::Old;
            self.old.push_back(queue);
        } else {
            self.places[queue].status = Status::Inactive;
        }
    }

    /// The policy of an empty queue has not forgotten its flow: its way stays taken if it is in no list any more, and
    /// [`Lines::decaying`] names it in turn with others of its kind.
    fn let_decay(&mut self, queue: usize) {
        let status = &mut self.places[queue].status;
        if *status == Status::Inactive {
            *status = Status::Decaying;
            self.decaying.push_back(queue);
        }
    }

    /// Returns the empty queue whose policy decays now; [`Lines::on_decayed`] must follow.
    #[inline]
    fn decaying(&self) -> Option<usize> {
        self.decaying.front().copied()
    }

    /// The decaying queue whose turn it was has forgotten everything, or goes on with it later.
    fn on_decayed(&mut self, queue: usize, is_at_rest: bool) {
        self.decaying.pop_front();
        if is_at_rest {
            self.places[queue].status = Status::Inactive;
        } else {
            self.decaying.push_back(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Instant, PacketHandle};

    fn packet(length: u32) -> Held {
        Held::new(Instant::ZERO, Meta { length, ..Meta::default() }, PacketHandle::default())
    }

    /// The next packet's queue, and that queue's deficit after it.
    fn serve(flows: &mut FlowLists) -> Option<(usize, i64)> {
        loop {
            let queue = flows.ready(|_| ())?;
            if let Some(packet) = flows.bins.pop(queue) {
                flows.on_sent(queue, packet.meta.length);
                return Some((queue, flows.deficit(queue)));
            }
            flows.on_empty(queue);
        }
    }

    fn serve_all(flows: &mut FlowLists, most: usize) -> Vec<(usize, i64)> {
        core::iter::from_fn(|| serve(flows)).take(most).collect()
    }

    #[test]
    fn new_flows_first_and_deficits_in_bytes() {
        let mut flows = FlowLists::new(&FlowListsConfig::BASE);
        for _ in 0..4 {
            flows.push(0, packet(1514));
        }
        for _ in 0..8 {
            flows.push(1, packet(500));
        }
        assert_eq!(serve_all(&mut flows, 6), [(0, 0), (1, 1014), (1, 514), (1, 14), (1, -486), (0, 0)]);
        flows.push(2, packet(100));
        assert_eq!(serve_all(&mut flows, 5), [(2, 1414), (1, 528), (1, 28), (1, -472), (0, 0)]);
        flows.push(2, packet(100));
        assert_eq!(serve_all(&mut flows, 9), [(2, 1414), (1, 542), (0, 0)]);
    }

    #[test]
    fn a_set_gives_colliding_flows_queues_of_their_own() {
        let config = FlowListsConfig { queues: 16, ways: 4, ..FlowListsConfig::BASE };
        let mut flows = FlowLists::new(&config);
        let meta = |flow_hash| Meta { flow_hash, ..Meta::default() };
        // All of these hash to queue 5, which is in the set of queues 4 to 7.
        let mut ways = std::vec![];
        for flow in [5, 21, 37, 53] {
            let queue = flows.line_of(&meta(flow));
            flows.push(queue, packet(100));
            ways.push(queue);
        }
        assert_eq!(ways, [4, 5, 6, 7]);
        // Each keeps its way; a fifth one shares the first, and owns it from now on.
        assert_eq!(flows.line_of(&meta(37)), 6);
        assert_eq!(flows.line_of(&meta(69)), 4);
        assert_eq!(flows.line_of(&meta(69)), 4);
        // With a plain hash they all collide.
        let mut plain = FlowLists::new(&FlowListsConfig { ways: 1, ..config });
        assert!([5, 21, 37, 53].iter().all(|flow| plain.line_of(&meta(*flow)) == 5));
    }
}
