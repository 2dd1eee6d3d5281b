//! Equal flows share a bottleneck equally (Jain's index), and none of them starves it.

use sojourn_base::Seed;
use sojourn_engine::{column_recorder, run};
use sojourn_record::RecordConfig;
use sojourn_scenario::Scenario;
use std::fmt::Write as _;

const LINK: &str = r#"
schema = 1
name = "equal flows"
duration = "120 s"
access.upstream.link = { kind = "serial", rate = "12 Mb/s" }
access.upstream.queue = { kind = "drop-tail", limit = "100 packets" }
access.downstream.link = { kind = "serial", rate = "1 Gb/s" }
access.downstream.queue = { kind = "drop-tail", limit = "1000 packets" }
"#;

/// Goodput of `flows` uploads with the same stack and a round trip of 100 ms, in Mb/s.
fn goodputs(stack: &str, flows: usize, seed: u64) -> Vec<f64> {
    let mut text = LINK.to_owned();
    for flow in 0..flows {
        write!(
            text,
            "[[traffic]]\nname = \"flow {flow}\"\nstack = \"{stack}\"\nrtt = \"100 ms\"\n\
             app = {{ kind = \"bulk\", start_jitter = \"2 s\" }}\n"
        )
        .expect("a string takes everything");
    }
    let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let recorder = column_recorder(&scenario, RecordConfig::BASE);
    let outcome = run(&scenario, Seed(seed), recorder, &|| false).expect("not cancelled");
    let records = outcome.recorder.into_records();
    (0..)
        .take(flows)
        .map(|id| {
            let bytes = records.counters(sojourn_record::TrafficId(id)).upstream.goodput_bytes;
            bytes as f64 * 8.0 / 120.0 / 1e6
        })
        .collect()
}

fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn equal_flows_get_equal_shares_and_fill_the_link() {
    // An index >= 0.99 is expected over 900 s with a buffer of one bandwidth-delay product; two
    // minutes of five flows leave some of the start, so 0.95 bounds the mean over three seeds here.
    for stack in ["linux-reno", "linux-cubic"] {
        let runs: Vec<Vec<f64>> = (1..=3).map(|seed| goodputs(stack, 5, seed)).collect();
        let index = runs.iter().map(|rates| jain(rates)).sum::<f64>() / 3.0;
        let total = runs.iter().flatten().sum::<f64>() / 3.0;
        assert!(index >= 0.95, "{stack}: Jain {index}, {runs:?}");
        // Headers take 3 to 4 % of 12 Mb/s.
        assert!((11.0..11.75).contains(&total), "{stack}: {total} Mb/s");
    }
}
