//! Actions of Queue Protection on packets: of a link, of a traffic entry, and, if flows are recorded, of each flow.
//!
//! A flow is known by its hash, as Queue Protection knows it. Its tally is handed over when the flow ends, so memory
//! grows with the flows that are open.

use crate::{LinkScore, TrafficId};
use sojourn_base::{Bytes, Direction, Span};
use std::collections::BTreeMap;

/// Judgements of Queue Protection, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionTally {
    /// Packets that came to a low-latency queue and were judged.
    pub judged: u64,
    /// Those that were moved to the classic queue.
    pub sanctioned: u64,
    /// Charged bytes of these.
    pub sanctioned_bytes: Bytes,
    /// Highest queuing score that the flow of one of the packets had.
    pub highest_score: Span,
}

impl ProtectionTally {
    /// Counts one judgement.
    pub fn add(&mut self, score: &LinkScore) {
        self.judged += 1;
        self.highest_score = self.highest_score.max(score.score);
        if score.sanctioned {
            self.sanctioned += 1;
            self.sanctioned_bytes += score.length;
        }
    }

    /// Packets that were moved, of those that were judged; `None` without any.
    pub fn sanctioned_share(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.sanctioned as f64 / self.judged as f64)
    }
}

/// The tallies of the flows that have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowProtection(BTreeMap<(TrafficId, Direction, u32), ProtectionTally>);

impl FlowProtection {
    pub(crate) fn add(&mut self, score: &LinkScore) {
        let flow = (score.traffic, score.direction, score.flow_hash);
        self.0.entry(flow).or_default().add(score);
    }

    /// Bytes that they take, apart from the nodes of the tree.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * size_of::<((TrafficId, Direction, u32), ProtectionTally)>()
    }

    /// The tally of a flow that has ended; empty if no packet of it was judged.
    pub(crate) fn take(&mut self, traffic: TrafficId, direction: Direction, flow_hash: u32) -> ProtectionTally {
        self.0.remove(&(traffic, direction, flow_hash)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkId;
    use proptest::prelude::*;
    use sojourn_base::Instant;

    fn score(flow_hash: u32, length: u64, us: u64, sanctioned: bool) -> LinkScore {
        LinkScore {
            at: Instant::ZERO,
            link: LinkId(0),
            traffic: TrafficId(0),
            direction: Direction::Upstream,
            flow_hash,
            length: Bytes(length),
            score: Span::from_us(us),
            late: sanctioned,
            sanctioned,
        }
    }

    #[test]
    fn the_nine_packets_of_ll_4_are_two_sanctions_and_a_score_of_8_46_ms() {
        let mut tally = ProtectionTally::default();
        assert_eq!(tally.sanctioned_share(), None);
        for (n, ns) in [0, 0, 0, 71_960, 804_410, 2_197_350, 4_250_780, 6_356_124, 8_461_468].into_iter().enumerate() {
            tally.add(&LinkScore { score: Span::from_ns(ns), ..score(5, 1028, 0, n >= 7) });
        }
        assert_eq!(
            tally,
            ProtectionTally {
                judged: 9,
                sanctioned: 2,
                sanctioned_bytes: Bytes(2056),
                highest_score: Span::from_ns(8_461_468),
            }
        );
        assert_eq!(tally.sanctioned_share(), Some(2.0 / 9.0));
    }

    #[test]
    fn a_flow_that_begins_again_begins_at_nothing() {
        let mut flows = FlowProtection::default();
        flows.add(&score(7, 100, 3, true));
        let take = |flows: &mut FlowProtection| flows.take(TrafficId(0), Direction::Upstream, 7).judged;
        assert_eq!(take(&mut flows), 1);
        assert_eq!(take(&mut flows), 0);
        flows.add(&score(7, 100, 3, false));
        assert_eq!(take(&mut flows), 1);
    }

    proptest! {
        #[test]
        fn flows_sum_to_the_whole(
            packets in prop::collection::vec((0..5_u32, 40..1500_u64, 0..9000_u64, any::<bool>()), 0..200),
        ) {
            let (mut whole, mut flows) = (ProtectionTally::default(), FlowProtection::default());
            for (flow, length, us, sanctioned) in packets {
                let score = score(flow, length, us, sanctioned);
                whole.add(&score);
                flows.add(&score);
            }
            let parts = [0, 1, 2, 3, 4].map(|flow| flows.take(TrafficId(0), Direction::Upstream, flow));
            prop_assert_eq!(parts.iter().map(|part| part.judged).sum::<u64>(), whole.judged);
            prop_assert_eq!(parts.iter().map(|part| part.sanctioned).sum::<u64>(), whole.sanctioned);
            prop_assert_eq!(parts.iter().map(|part| part.sanctioned_bytes.0).sum::<u64>(), whole.sanctioned_bytes.0);
            prop_assert_eq!(parts.iter().map(|part| part.highest_score).max(), Some(whole.highest_score));
        }
    }
}
