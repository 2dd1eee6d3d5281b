//! Numerical laws of managers' documents, which a manager of that kind must keep.

mod codel;
mod docsis_pie;
mod dualpi2;
mod flow_queueing;
mod pie;
mod queue_protection;
mod red;

use crate::row::Row;

/// Kinds that have laws.
pub(crate) const KINDS: [&str; 13] = [
    "codel",
    "sfq",
    "sfq-codel",
    "fq-codel",
    "pie",
    "sfq-pie",
    "fq-pie",
    "docsis-pie",
    "docsis-dual-queue",
    "dualpi2",
    "cobalt",
    "fq-cobalt",
    "red",
];

/// The rows of a kind; none for one without laws.
pub(crate) fn of(kind: &str) -> Vec<Row> {
    use codel::{CD1, CD2, CD3};
    use dualpi2::{DQ1, DQ2, DQ3};
    use flow_queueing::{FQ1, FQ2, FQ3, FQ4};
    use pie::{PI1, PI2};
    match kind {
        "codel" => vec![CD1, CD2, CD3],
        // Its values are those of White 2013: 10 ms in 150 ms.
        "sfq-codel" => vec![CD1, FQ2],
        "fq-codel" => vec![CD1, CD2, CD3, FQ1, FQ2, FQ3, FQ4],
        "cobalt" => vec![CD1],
        "fq-cobalt" => vec![CD1, FQ1, FQ2, FQ4],
        "pie" => vec![PI1, PI2],
        "fq-pie" => vec![FQ1, FQ2, FQ4],
        "sfq" | "sfq-pie" => vec![FQ2],
        "docsis-pie" => vec![docsis_pie::DP1],
        "dualpi2" => vec![DQ1, DQ2, DQ3],
        "docsis-dual-queue" => vec![DQ3, queue_protection::QP1, queue_protection::QP2],
        "red" => vec![red::RD1],
        _ => Vec::new(),
    }
}
