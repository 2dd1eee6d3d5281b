//! Signals of a link's queue manager: drops and marks by reason, and by queue if it has several.
//!
//! Source: reasons are those of [`sojourn_base::Reason`]. A reason that did not occur is a zero, so that
//! means over runs are means; queues without a packet have no rows.

use super::Rows;
use sojourn_base::{Reason, ServiceQueue};
use sojourn_record::{LinkId, Records, Signal};

/// Names of the metrics of a reason: packets dropped, and packets marked if it can be a reason to mark.
const fn metrics_of(reason: Reason) -> (&'static str, Option<&'static str>) {
    match reason {
        Reason::Overlimit => ("dropped_overlimit", None),
        Reason::FatFlow => ("dropped_fat_flow", None),
        Reason::Early => ("dropped_early", Some("marked_early")),
        Reason::Forced => ("dropped_forced", Some("marked_forced")),
        Reason::Target => ("dropped_target", Some("marked_target")),
        Reason::Overload => ("dropped_overload", None),
        Reason::Blue => ("dropped_blue", None),
        Reason::Disturbed => ("dropped_disturbed", None),
        Reason::Policed => ("dropped_policed", None),
        Reason::Unheard => ("dropped_unheard", None),
    }
}

/// The rows of one link.
pub(super) fn signal_metrics(rows: &mut Rows, records: &Records, id: LinkId, subject: &str) {
    let packets = |wanted: &dyn Fn(Signal, Reason, ServiceQueue) -> bool| {
        let of_link = records.signals().filter(|(kind, _)| kind.link == id);
        let wanted = of_link.filter(|(kind, _)| wanted(kind.signal, kind.reason, kind.queue));
        wanted.map(|(_, count)| count.packets).sum::<u64>() as f64
    };
    let marked = packets(&|signal, _, _| signal == Signal::Mark);
    rows.add(subject, "marked_packets", marked);
    for reason in Reason::ALL {
        let (dropped, marked) = metrics_of(reason);
        let of_reason = |wanted: bool| packets(&|signal, why, _| (signal == Signal::Mark) == wanted && why == reason);
        let count = of_reason(false);
        // Few links have conditions or neighbours.
        let is_rare = matches!(reason, Reason::Disturbed | Reason::Policed | Reason::Unheard);
        if count > 0.0 || !is_rare {
            rows.add(subject, dropped, count);
        }
        if let Some(marked) = marked {
            rows.add(subject, marked, of_reason(true));
        }
    }
    let queues = records.link_totals(id).forwarded;
    if queues.iter().filter(|count| count.packets > 0).count() < 2 {
        return;
    }
    for (queue, forwarded) in ServiceQueue::ALL.into_iter().zip(queues) {
        if forwarded.packets == 0 {
            continue;
        }
        let subject = format!("{subject}/{}", queue.as_str());
        let of_queue = |wanted: bool| packets(&|signal, _, of| (signal == Signal::Mark) == wanted && of == queue);
        rows.add(&subject, "forwarded_volume", forwarded.bytes.0 as f64 / 1e3);
        rows.add(&subject, "dropped_packets", of_queue(false));
        rows.add(&subject, "marked_packets", of_queue(true));
    }
}
