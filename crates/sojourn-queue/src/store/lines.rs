//! Lines of packets under one limit, as a law serves them: one queue, flow queues, or sub-flows.
//!
//! Source: those of the stores. Deviations: none known.

use crate::config::{ConfigProblem, require_room};
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::store::waiting::Waiting;
use crate::{FlowFields, Held, QueueContext, Verdict};
use alloc::vec::Vec;
use core::fmt::Debug;
use sojourn_base::{Limit, Meta};

/// Parameters of a store.
pub trait StoreConfig {
    /// The store at work.
    type Lines: Lines<Config = Self>;

    /// The store without packets.
    ///
    /// # Panics
    /// If the limit is a time.
    fn lines(&self) -> Self::Lines;

    /// How much may wait in all lines.
    fn limit_mut(&mut self) -> &mut Limit;

    /// Bytes of the lines before a packet waits, if a law takes `state` bytes for each.
    fn bytes_with(&self, state: usize) -> u64;

    /// Header fields that define a flow; `None` if the store has one line for all.
    fn flow_fields(&self) -> Option<FlowFields>;

    /// Adds what is wrong with these parameters.
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>);
}

/// A store at work.
pub trait Lines: Clone + Debug + Send + 'static {
    /// Its parameters.
    type Config;
    /// Its packets.
    type Packets: Waiting;
    /// Something for each line.
    type Each<T: Clone + Debug + Send + 'static>: AsRef<[T]> + AsMut<[T]> + Clone + Debug + Send + 'static;

    /// There is one line.
    const IS_SINGLE: bool = false;

    /// Its packets.
    fn packets(&self) -> &Self::Packets;
    /// Its packets, to take some.
    fn packets_mut(&mut self) -> &mut Self::Packets;
    /// One for each line, or one for all.
    fn each<T: Clone + Debug + Send + 'static>(&self, one: T, is_shared: bool) -> Self::Each<T>;
    /// Goes on with these parameters. False if there would be other lines.
    fn retune(&mut self, to: &Self::Config) -> bool;

    /// The line of an arrival.
    fn line_of(&mut self, meta: &Meta) -> usize;
    /// The line of a flow; `None` if the store has one line for all, or binds no flow to a line.
    fn sub_flow(&self, meta: &Meta) -> Option<u32>;
    /// The arrival as a packet of its line.
    #[inline]
    fn held(&self, line: usize, packet: Held) -> Held {
        packet.in_sub_flow(line)
    }
    /// Returns true if an arrival is to be judged at all.
    #[inline]
    fn has_room(&self, _length: u32) -> bool {
        true
    }
    /// Puts an arrival into its line, perhaps at the cost of others.
    fn enqueue(&mut self, line: usize, packet: Held, context: &mut dyn QueueContext) -> Verdict;
    /// The line that has paid for an overflow since the last call.
    #[inline]
    fn take_payer(&mut self) -> Option<(usize, u32)> {
        None
    }

    /// The line whose turn it is; lines that lose their place in the round go to `retire`.
    fn ready(&mut self, retire: impl FnMut(usize)) -> Option<usize>;
    /// The line that was ready has sent `length` bytes.
    fn on_sent(&mut self, line: usize, length: u32);
    /// The line that was ready had nothing to send.
    fn on_empty(&mut self, _line: usize) {}
    /// The state of an empty line is not at rest: [`Lines::decaying`] names it in turn with others.
    fn let_decay(&mut self, _line: usize) {}
    /// The line whose state is to come a step nearer to rest.
    #[inline]
    fn decaying(&self) -> Option<usize> {
        None
    }
    /// It has, and rests or goes on later.
    #[inline]
    fn on_decayed(&mut self, _line: usize, _is_at_rest: bool) {}
    /// Length of the packet that a law looks at first, if there is one line.
    #[inline]
    fn head_length(&self) -> Option<u32> {
        None
    }
}

/// One queue.
#[derive(Clone, Debug)]
pub struct Single {
    fifo: Fifo,
    room: Room,
}

impl StoreConfig for Limit {
    type Lines = Single;

    fn lines(&self) -> Single {
        Single { fifo: Fifo::new(), room: Room::new(*self) }
    }

    fn limit_mut(&mut self) -> &mut Limit {
        self
    }

    fn bytes_with(&self, _state: usize) -> u64 {
        0
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        None
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(*self, problems);
    }
}

impl Lines for Single {
    type Config = Limit;
    type Packets = Fifo;
    type Each<T: Clone + Debug + Send + 'static> = [T; 1];

    const IS_SINGLE: bool = true;

    #[inline]
    fn packets(&self) -> &Fifo {
        &self.fifo
    }

    #[inline]
    fn packets_mut(&mut self) -> &mut Fifo {
        &mut self.fifo
    }

    fn each<T: Clone + Debug + Send + 'static>(&self, one: T, _is_shared: bool) -> [T; 1] {
        [one]
    }

    fn retune(&mut self, to: &Limit) -> bool {
        self.room = Room::new(*to);
        true
    }

    #[inline]
    fn line_of(&mut self, _meta: &Meta) -> usize {
        0
    }

    fn sub_flow(&self, _meta: &Meta) -> Option<u32> {
        None
    }

    #[inline]
    fn held(&self, _line: usize, packet: Held) -> Held {
        packet
    }

    #[inline]
    fn has_room(&self, length: u32) -> bool {
        self.room.fits(self.fifo.backlog(), length)
    }

    #[inline]
    fn enqueue(&mut self, _line: usize, packet: Held, _context: &mut dyn QueueContext) -> Verdict {
        self.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline]
    fn ready(&mut self, _retire: impl FnMut(usize)) -> Option<usize> {
        Some(0)
    }

    #[inline]
    fn on_sent(&mut self, _line: usize, _length: u32) {}

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }
}
