//! A context for queue managers that plays back draws and writes down what happens.

use sojourn_base::{Bytes, PacketHandle, RandomStream, Seed, ServiceQueue, Span};
use sojourn_queue::{Held, QueueContext, Reason, Score, Shaper};
use std::collections::VecDeque;

/// The number of a packet whose handle is its number.
///
/// # Panics
/// If that has more than 32 bits.
pub fn number_of(PacketHandle(number): PacketHandle) -> u32 {
    u32::try_from(number).expect("a short test")
}

/// Source of uniform draws.
#[derive(Clone, Debug)]
enum Draws {
    /// These, in order; then the test has a mistake.
    Script(VecDeque<f64>),
    /// This one, always.
    Constant(f64),
    /// A named random stream.
    Stream(Box<RandomStream>),
}

/// A queue manager's call under a test's control.
#[derive(Clone, Debug)]
pub struct TestContext {
    draws: Draws,
    /// Draws taken so far.
    pub drawn: usize,
    /// Everything given up, in order.
    pub dropped: Vec<(Held, Reason)>,
    /// Everything marked, in order.
    pub marked: Vec<(Held, Reason)>,
    /// Everything that Queue Protection has a score against, in order.
    pub scored: Vec<(Held, Score)>,
    /// Packets that were accepted with an estimate of their delay.
    pub estimated: Vec<(Held, Span)>,
    /// State of the shaper.
    pub shaper: Shaper,
    /// Bytes pulled and not sent yet.
    pub staged: Bytes,
    /// The estimate of the request-grant loop.
    pub loop_delay: Span,
}

impl TestContext {
    /// For managers that must not draw: the first draw panics.
    pub fn without_draws() -> Self {
        Self::with_draws(&[])
    }

    /// The draws are `script`, and one more panics.
    pub fn with_draws(script: &[f64]) -> Self {
        Self::with(Draws::Script(script.iter().copied().collect()))
    }

    /// Every draw is `unit`.
    pub fn always(unit: f64) -> Self {
        Self::with(Draws::Constant(unit))
    }

    /// Draws from the stream `test/queue` of `seed`.
    pub fn random(seed: u64) -> Self {
        Self::with(Draws::Stream(Box::new(Seed(seed).stream("test/queue"))))
    }

    fn with(draws: Draws) -> Self {
        Self {
            draws,
            drawn: 0,
            dropped: Vec::new(),
            marked: Vec::new(),
            scored: Vec::new(),
            estimated: Vec::new(),
            shaper: Shaper::default(),
            staged: Bytes::ZERO,
            loop_delay: Span::ZERO,
        }
    }

    /// The items dropped so far with their reasons.
    pub fn drops(&self) -> impl Iterator<Item = (PacketHandle, Reason)> {
        self.dropped.iter().map(|(packet, reason)| (packet.item, *reason))
    }
}

impl QueueContext for TestContext {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        self.dropped.push((packet, reason));
    }

    fn marked(&mut self, packet: &Held, reason: Reason) {
        self.marked.push((*packet, reason));
    }

    fn unit(&mut self) -> f64 {
        self.drawn += 1;
        match &mut self.draws {
            Draws::Script(script) => script.pop_front().expect("a draw beyond the script"),
            Draws::Constant(unit) => *unit,
            Draws::Stream(stream) => stream.unit(),
        }
    }

    fn shaper(&self) -> Shaper {
        self.shaper
    }

    fn staged(&self, _queue: ServiceQueue) -> Bytes {
        self.staged
    }

    fn loop_delay(&self) -> Span {
        self.loop_delay
    }

    fn scored(&mut self, packet: &Held, score: &Score) {
        self.scored.push((*packet, *score));
    }

    fn estimated(&mut self, packet: &Held, delay: Span) {
        self.estimated.push((*packet, delay));
    }
}
