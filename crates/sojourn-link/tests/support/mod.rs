//! A context that keeps everything, and a driver that may call a link in awkward ways.

use sojourn_base::{Ecn, Instant, Meta, PacketHandle, RandomStream, Seed, Span};
use sojourn_link::{AnyLink, Draw, LinkContext, Loss, Mark, Passage};

/// An event of a link, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Delivered(u32, Meta, Passage),
    Dropped(u32, Meta, Loss),
}

/// Keeps what a link puts out, with the time at which it did. Draws come from a stream per purpose.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) now: Instant,
    pub(crate) outcomes: Vec<(Instant, Outcome)>,
    pub(crate) marks: Vec<(u32, Mark)>,
    streams: [RandomStream; Draw::ALL.len()],
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self { now: Instant::ZERO, outcomes: Vec::new(), marks: Vec::new(), streams: Draw::ALL.map(stream) }
    }

    pub(crate) fn delivered(&self) -> Vec<(u32, Meta, Passage)> {
        let delivered = |(_, outcome): &(Instant, Outcome)| match outcome {
            Outcome::Delivered(item, meta, passage) => Some((*item, *meta, *passage)),
            Outcome::Dropped(..) => None,
        };
        self.outcomes.iter().filter_map(delivered).collect()
    }
}

/// The number of a packet.
fn number(PacketHandle(number): PacketHandle) -> u32 {
    u32::try_from(number).expect("a short test")
}

/// The random stream of a purpose; the same in every run.
pub(crate) fn stream(purpose: Draw) -> RandomStream {
    Seed(42).stream(purpose.as_str())
}

impl LinkContext for Recorder {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        let outcome = Outcome::Delivered(number(item), *meta, *passage);
        self.outcomes.push((self.now, outcome));
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        let outcome = Outcome::Dropped(number(item), *meta, *loss);
        self.outcomes.push((self.now, outcome));
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        assert_eq!(meta.ecn, Ecn::Ce);
        self.marks.push((number(item), *mark));
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.streams[purpose as usize].unit()
    }
}

/// How the driver calls a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manners {
    /// Wake-ups when they are due; before an arrival at the same time.
    Plain,
    /// The arrival first when both are due at the same time.
    ArrivalsFirst,
    /// As plain, with a needless wake-up at each arrival and halfway to each due time.
    Impatient,
}

/// Packets belong to this number of flows in turn.
pub(crate) const FLOWS: u32 = 3;

/// Runs a link over arrivals `(time, length)` in order of time, numbered from 0, until it wants nothing
/// more. `look` sees the link after each call.
pub(crate) fn drive(
    link: &mut AnyLink,
    arrivals: &[(Instant, u32)],
    manners: Manners,
    recorder: &mut Recorder,
    mut look: impl FnMut(Instant, &AnyLink, &Recorder),
) {
    let mut arrivals = arrivals.iter().zip(0..).peekable();
    loop {
        let wakeup = link.next_wakeup();
        let arrival = arrivals.peek().map_or(Instant::NEVER, |((at, _), _)| *at);
        let next = wakeup.min(arrival);
        if next == Instant::NEVER {
            return;
        }
        if manners == Manners::Impatient {
            let early = recorder.now + Span::from_ps(next.saturating_since(recorder.now).as_ps() / 2);
            recorder.now = early;
            link.wake(early, recorder);
            assert_eq!(link.next_wakeup(), wakeup, "an early call changes nothing");
        }
        recorder.now = next;
        let arrival_first = manners == Manners::ArrivalsFirst && arrival == next;
        if wakeup == next && !arrival_first {
            link.wake(next, recorder);
            assert!(link.next_wakeup() > next, "time goes on");
        } else {
            let ((_, length), item) = arrivals.next().expect("it was peeked at");
            let meta = Meta {
                length: *length,
                flow_hash: item % FLOWS,
                ecn: if item % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct },
                ..Meta::default()
            };
            link.arrive(next, meta, PacketHandle(item.into()), recorder);
        }
        look(next, link, recorder);
    }
}
