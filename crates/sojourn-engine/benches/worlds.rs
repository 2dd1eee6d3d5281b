//! Simulated seconds per second for fixed worlds, without records.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sojourn_base::{Seed, Span};
use sojourn_engine::run;
use sojourn_record::NoRecords;
use sojourn_scenario::Scenario;

const WORLDS: [(&str, &str); 3] = [
    (
        "dumbbell",
        include_str!("../../../scenarios/dumbbell-codel.toml"),
    ),
    (
        "white2012-c04",
        include_str!("../../../scenarios/white2012-c04.toml"),
    ),
    (
        "white2012-d02",
        include_str!("../../../scenarios/white2012-d02-bufferbloat.toml"),
    ),
];

fn worlds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("world");
    group.sample_size(10);
    for (name, text) in WORLDS {
        let mut scenario = Scenario::parse(text).expect("the examples are valid");
        scenario.duration = Span::from_s(60);
        let simulate = || run(&scenario, Seed(1), NoRecords, &|| false).expect("not cancelled");
        group.throughput(Throughput::Elements(simulate().statistics.packet_hops));
        group.bench_function(name, |bencher| bencher.iter(simulate));
    }
    group.finish();
}

criterion_group!(benches, worlds);
criterion_main!(benches);
