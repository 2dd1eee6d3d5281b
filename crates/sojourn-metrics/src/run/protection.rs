//! Actions of Queue Protection on the packets of a traffic entry, or of a link.
//!
//! Source: RFC 9957 section 5; White 2019 section 2.4. Without a judged packet there are no rows.

use super::Rows;
use sojourn_record::ProtectionTally;

/// Names of the numbers of one direction: packets judged, packets and share moved, highest score.
type ProtectionNames = [&'static str; 4];

/// Those of what goes upstream, and of links.
pub(super) const NAMES: ProtectionNames =
    ["judged_packets", "sanctioned_packets", "sanctioned_share", "queuing_score_max"];

/// Those of what goes downstream.
pub(super) const NAMES_DOWN: ProtectionNames = [
    "judged_packets_downstream",
    "sanctioned_packets_downstream",
    "sanctioned_share_downstream",
    "queuing_score_max_downstream",
];

/// The rows of one subject.
pub(super) fn protection_metrics(rows: &mut Rows, subject: &str, tally: &ProtectionTally, names: &ProtectionNames) {
    let Some(share) = tally.sanctioned_share() else {
        return;
    };
    let score = tally.highest_score.as_ns() as f64 / 1e6;
    rows.add(subject, names[0], tally.judged as f64);
    rows.add(subject, names[1], tally.sanctioned as f64);
    rows.add(subject, names[2], 100.0 * share);
    rows.add(subject, names[3], score);
}
