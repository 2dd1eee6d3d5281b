//! Links as data: one value per kind of link with its queue manager, from which a running one is built.

use crate::any::AnyLink;
use crate::framing::Framing;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Deref;
use sojourn_base::{BitRate, Bytes, Instant, Span};
use sojourn_keys::{Family, Values, Visitor, family};
use sojourn_queue::{ConfigProblem, DropTailConfig, ManagerConfig, QueueManager};

family! {
    /// Any link's parameters.
    pub struct LinkParameters(dyn LinkKind);
}

/// A kind of link: parameters, and how a running one is built from them. A line in `kinds.rs` adds a built-in one,
/// [`add_link`](crate::add_link) one of another crate.
pub trait LinkKind: Values<LinkParameters> {
    /// An idle link with these parameters, and `manager` for its queue.
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink;

    /// The rate at which a standing queue drains on an uncongested channel: what a buffer limit in
    /// time refers to. Zero if the link has no rate at all.
    fn drain_rate(&self) -> BitRate;

    /// Fixed delay of the link, the least that any packet takes.
    fn delay(&self) -> Span;

    /// Returns the bytes that it lets through at once besides those of its rate.
    fn burst(&self) -> Bytes {
        Bytes::ZERO
    }

    /// Returns the bytes that it offers in a run of this length, if they are not those of its rate.
    fn offered(&self, span: Span) -> Option<Bytes> {
        let _ = span;
        None
    }

    /// After how long it carries nothing any more.
    fn ends_after(&self) -> Option<Span> {
        None
    }

    /// The bucket that the longest packet must fit into whole, if there is one: its key, and how deep it is.
    fn bucket(&self) -> Option<(&'static str, Bytes)> {
        None
    }

    /// Returns the overhead of packets on it unless a file gives another.
    fn framing(&self) -> Framing {
        Framing::Ip
    }

    /// Adds what is wrong with these parameters, apart from the bounds of single keys.
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        let _ = problems;
    }
}

/// A link in one direction, with the manager of its queue. A [`sojourn_base::Limit`] in time means time at the rate of
/// [`LinkKind::drain_rate`].
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// The link.
    pub link: LinkParameters,
    /// The manager of its queue.
    pub queue: ManagerConfig,
}

/// The link, with a queue that has no limit yet.
impl<C: LinkKind> From<C> for LinkConfig {
    fn from(link: C) -> Self {
        Self { link: link.into(), queue: DropTailConfig::bytes(0).into() }
    }
}

/// The link's kind.
impl Deref for LinkConfig {
    type Target = dyn LinkKind;

    fn deref(&self) -> &Self::Target {
        &*self.link
    }
}

impl Family for LinkConfig {
    fn show(&mut self, visitor: &mut dyn Visitor) {
        self.link.show(visitor);
    }

    fn holds<C: 'static>(&self) -> bool {
        self.link.holds::<C>()
    }
}

impl LinkConfig {
    /// An idle link with these parameters. Limits in time become bytes at [`LinkKind::drain_rate`].
    ///
    /// # Panics
    /// If [`LinkConfig::problems`] or the manager's problems list something.
    pub fn build(&self) -> AnyLink {
        self.link.build(self.managed().build())
    }

    /// The manager's parameters, with limits in time as bytes at [`LinkKind::drain_rate`].
    pub(crate) fn managed(&self) -> ManagerConfig {
        self.queue.clone().at(self.drain_rate())
    }

    /// `link`, which was built from these parameters, goes on with those of `to`; see [`crate::Link::retune`].
    pub(crate) fn retune(&self, link: &mut AnyLink, now: Instant, to: &Self) -> bool {
        let (was, is) = (self.managed(), to.managed());
        (self.link == to.link || link.retune(now, self.link.as_any(), to.link.as_any()))
            && (was == is || link.retune_queue(is.as_any()))
    }

    /// The most that the link lets through in `span` on an uncongested channel: what its rate carries,
    /// and a full bucket. `None` without any rate.
    pub fn allowance(&self, span: Span) -> Option<Bytes> {
        let rate = self.drain_rate();
        let by_rate = || (rate > BitRate::ZERO).then(|| rate.bytes_in(span) + self.burst());
        self.offered(span).or_else(by_rate)
    }

    /// Everything that is wrong with the link's own parameters; empty if it can be built. The queue
    /// manager lists its problems itself ([`sojourn_queue::ManagerConfig::problems`]).
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        self.collect_problems(&mut problems);
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CascadeConfig, ShapedConfig, ShaperConfig, SingleQueueConfig};
    use sojourn_base::Packets;

    #[test]
    fn profiles_have_nothing_wrong_with_them() {
        let queue = ManagerConfig::from(DropTailConfig::WHITE2012_BUFFERBLOAT);
        for link in [
            LinkConfig { link: ShapedConfig::WHITE2012_DOWNSTREAM.into(), queue: queue.clone() },
            LinkConfig { link: CascadeConfig::WHITE2012.into(), queue: queue.clone() },
            LinkConfig { link: SingleQueueConfig::WHITE2013.into(), queue },
        ] {
            assert_eq!(link.problems(), [], "{}", link.kind());
            assert!(link.drain_rate() > BitRate::ZERO);
        }
    }

    #[test]
    fn every_problem_of_a_link_is_listed() {
        let shaper = ShaperConfig {
            sustained: BitRate::from_mbps(5),
            burst: Bytes::ZERO,
            peak: BitRate::from_mbps(1),
            peak_burst: Bytes::ZERO,
        };
        let link = LinkConfig {
            link: CascadeConfig {
                shaper,
                map_interval: Span::ZERO,
                channel_rate: BitRate::ZERO,
                transmit_queue: Packets::ZERO,
                ..CascadeConfig::WHITE2012
            }
            .into(),
            queue: ManagerConfig::from(DropTailConfig::WHITE2012_BUFFERBLOAT),
        };
        let fields: Vec<&str> = link.problems().iter().map(|p| p.field).collect();
        assert_eq!(fields, ["burst", "peak_burst", "peak", "channel_rate", "map_interval", "transmit_queue"]);
    }
}
