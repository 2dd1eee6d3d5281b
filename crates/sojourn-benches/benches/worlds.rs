//! Simulated seconds per second for fixed worlds, without records.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sojourn_base::{Seed, Span};
use sojourn_engine::{run, worlds};
use sojourn_record::NoRecords;
use sojourn_scenario::Scenario;

/// Households of White 2012, beside the worlds of `sojourn bench`.
const EXAMPLES: [(&str, &str); 2] = [
    ("white2012-c04", include_str!("../../../scenarios/white2012-c04.toml")),
    ("white2012-d02", include_str!("../../../scenarios/white2012-d02-bufferbloat.toml")),
];

fn simulated(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("world");
    group.sample_size(10);
    let examples = EXAMPLES.map(|(name, text)| {
        let scenario = Scenario::parse(text).expect("the examples are valid");
        (name, scenario)
    });
    let fixed = worlds::NAMES.map(|name| (name, worlds::world(name).expect("a name of the list")));
    for (name, mut scenario) in fixed.into_iter().chain(examples) {
        scenario.duration = Span::from_s(60);
        let simulate = || run(&scenario, Seed(1), NoRecords, &|| false).expect("not cancelled");
        group.throughput(Throughput::Elements(simulate().statistics.packet_hops));
        group.bench_function(name, |bencher| bencher.iter(simulate));
    }
    group.finish();
}

criterion_group!(benches, simulated);
criterion_main!(benches);
