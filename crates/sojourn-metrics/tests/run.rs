//! The metrics of a run do not depend on which rows it kept.

#![expect(clippy::unwrap_used, reason = "a missing metric fails the test")]

use sojourn_base::{Bytes, Direction, Instant, PerDirection, Span};
use sojourn_metrics::run::{RunFacts, metric_table};
use sojourn_record::{
    ColumnData, ColumnRecorder, Datagram, DelaySplit, Fate, RecordConfig, Recorder, Table,
    TrafficId,
};

/// No rows at all, of anything.
const WITHOUT_ROWS: RecordConfig = RecordConfig {
    datagrams: false,
    objects: false,
    series: None,
    occupancy: false,
    delays: false,
    histograms: false,
};

fn metrics(config: RecordConfig, events: &dyn Fn(&mut ColumnRecorder)) -> Table {
    let mut recorder = ColumnRecorder::new(config, vec!["quiet".into(), "calls".into()]);
    events(&mut recorder);
    recorder.on_end(Instant::from_ms(10_000));
    let facts = RunFacts {
        duration: Span::from_ms(10_000),
        allowance: PerDirection::default(),
    };
    metric_table(&facts, &recorder.into_records())
}

fn words(table: &Table, column: &str) -> Vec<String> {
    let Some(ColumnData::Words { codes, dictionary }) = table.column(column) else {
        panic!("{column} holds words");
    };
    let word = |code: &i32| dictionary[usize::try_from(*code).unwrap()].clone();
    codes.iter().map(word).collect()
}

fn metric(table: &Table, subject: &str, metric: &str) -> Option<f64> {
    let Some(ColumnData::F64(values)) = table.column("value") else {
        panic!("values are numbers");
    };
    let (subjects, metrics) = (words(table, "subject"), words(table, "metric"));
    let row = (0..table.rows()).find(|row| subjects[*row] == subject && metrics[*row] == metric);
    row.map(|row| values[row])
}

/// Two calls both ways. Upstream, the first one loses 1 of 100 packets and the second has 4 late ones;
/// downstream all goes well.
fn two_calls(recorder: &mut ColumnRecorder) {
    for sequence in 0..100_u32 {
        for (flow, direction) in [
            (0, Direction::Upstream),
            (0, Direction::Downstream),
            (1, Direction::Upstream),
            (1, Direction::Downstream),
        ] {
            let sent_at = Instant::from_ms(20 * u64::from(sequence));
            let delay = match (flow, direction) {
                (0, Direction::Upstream) => 5,
                (1, Direction::Upstream) if sequence % 25 == 7 => 150,
                _ => 10,
            };
            let fate = if (flow, direction, sequence) == (0, Direction::Upstream, 50) {
                Fate::LostInQueue
            } else {
                Fate::Arrived(sent_at.saturating_add(Span::from_ms(delay)))
            };
            recorder.on_datagram(&Datagram {
                traffic: TrafficId(1),
                flow,
                sequence,
                direction,
                length: Bytes(200),
                sent_at,
                fate,
                split: DelaySplit::default(),
            });
        }
    }
}

#[test]
fn voice_metrics_do_not_need_rows() {
    let with_rows = metrics(RecordConfig::default(), &two_calls);
    let without = metrics(WITHOUT_ROWS, &two_calls);
    for (name, expected, tolerance) in [
        ("sent", 400.0, 0.0),
        ("lost", 0.25, 1e-12),
        ("late", 1.0, 1e-12),
        ("loss_total", 1.25, 1e-12),
        // 5, 10, 10 and 10 ms.
        ("delay_in_time_mean", 8.75, 8.75e-3),
        // 25 ms and 1 %: 89.4071; twice 30 ms: 93.48; 30 ms and 4 %: 93.48 - 30 ln 1.6 = 79.3799.
        ("rating", 88.9368, 1e-3),
        // The least of the four: 1 + 0.035 R + 7e-6 R (R - 60) (100 - R) at 79.3799.
        ("mos_min", 4.000_3, 1e-3),
    ] {
        let rows = metric(&with_rows, "calls", name);
        assert_eq!(
            rows,
            metric(&without, "calls", name),
            "{name} with and without rows"
        );
        let ours = rows.unwrap();
        assert!((ours - expected).abs() <= tolerance, "{name}: {ours}");
    }
    assert_eq!(
        metric(&without, "quiet", "sent"),
        None,
        "no datagram, no call"
    );
}
