//! Every kind, judged as itself with its defaults.

use sojourn_check::{Verdict, judge};
use sojourn_queue::{DropTailConfig, ManagerConfig, PrioritisedConfig};

#[test]
fn every_kind_keeps_the_contract_and_the_laws_of_its_document() {
    let mut faults = Vec::new();
    for kind in ManagerConfig::kinds() {
        let name = kind.info().name;
        let config = if name == "ack-priority" {
            PrioritisedConfig::before(DropTailConfig::bytes(100_000).into()).into()
        } else {
            kind.values(None)
        };
        for (row, finding) in judge(&config, name) {
            if finding.verdict == Verdict::Fail {
                faults.push(format!("{name} {}: {finding:?}", row.id));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}
