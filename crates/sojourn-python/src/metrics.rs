//! Metric definitions, so that Python never has a second one.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sojourn_base::Span;
use sojourn_metrics::outcome::{Judged, QualityOfOutcome};
use sojourn_metrics::responsiveness::{self, Responsiveness};
use sojourn_metrics::{outcome, quantile, schema, throughput, voice};
use sojourn_record::{Cause, Interpolation, LatencyHistogram};

/// R of White 2012 section 3.2.2; `loss` is a fraction.
#[pyfunction]
fn voice_rating(delay_ms: f64, loss: f64) -> f64 {
    voice::rating(delay_ms, loss)
}

/// MOS of an R value, ITU-T G.107 Annex B.
#[pyfunction]
fn mean_opinion_score(rating: f64) -> f64 {
    voice::mean_opinion_score(rating)
}

/// R of ITU-T G.107 for G.711; `loss` is a fraction of packets, lost or late, `telr` the talker echo loudness rating in dB.
#[pyfunction]
#[pyo3(signature = (delay_ms, loss, conceals, telr))]
fn rating_g107(delay_ms: f64, loss: f64, conceals: bool, telr: Option<f64>) -> f64 {
    let codec = if conceals { voice::Codec::G711_CONCEALED } else { voice::Codec::G711 };
    voice::rating_g107(delay_ms, loss, codec, telr)
}

/// A measured value, and up to where it is perfect and from where on useless.
type JudgedTriple = (f64, f64, f64);

/// Quality of Outcome by latency, loss and throughput, and the least of them; what was not measured is nothing.
#[pyfunction]
#[pyo3(signature = (latency, loss, rates))]
fn quality_of_outcome(
    latency: Vec<JudgedTriple>,
    loss: Option<JudgedTriple>,
    rates: Vec<(f64, f64)>,
) -> (f64, Option<f64>, Option<f64>, f64) {
    let judged = |(measured, perfect, useless): JudgedTriple| Judged { measured, perfect, useless };
    let latency: Vec<Judged> = latency.into_iter().map(judged).collect();
    let found = QualityOfOutcome::of(&latency, loss.map(judged), &rates);
    (found.latency, found.loss, found.throughput, found.overall())
}

/// A use, its bounds of latency by percentile and of loss, its rates up and down, and where they come from.
type RequirementTuple = (&'static str, Vec<(f64, f64, f64)>, (f64, f64), (f64, f64), &'static str);

/// Returns the requirements of the built-in uses.
#[pyfunction]
fn requirements() -> Vec<RequirementTuple> {
    let told = |one: &outcome::Requirement| {
        let rates = (one.rates.upstream, one.rates.downstream);
        (one.name, one.latency.to_vec(), one.loss, rates, one.origin)
    };
    outcome::USES.iter().map(told).collect()
}

/// Apdex of samples for what satisfies; samples that never came are infinite.
#[pyfunction]
fn apdex(samples: Vec<f64>, satisfied: f64) -> Option<f64> {
    outcome::apdex(&samples, satisfied)
}

/// Round trips per minute of draft-ietf-ippm-responsiveness: of new connections, of kept ones, and together. Samples are in ms;
/// TLS may have none.
#[pyfunction]
fn round_trips_per_minute(
    mut handshakes: Vec<f64>,
    mut tls: Vec<f64>,
    mut requests: Vec<f64>,
    mut own: Vec<f64>,
) -> Option<(f64, f64, f64)> {
    let mean = |samples: &mut Vec<f64>| responsiveness::trimmed_mean(samples);
    let found = Responsiveness::of(mean(&mut handshakes)?, mean(&mut tls), mean(&mut requests)?, mean(&mut own)?);
    Some((found.foreign, found.loaded, found.combined()))
}

/// Returns true if the last four moving averages differ by little, as the same draft says.
#[pyfunction]
fn is_stable(averages: Vec<f64>) -> bool {
    responsiveness::is_stable(&averages)
}

/// Returns true if ten of `count` samples lie beyond a quantile.
#[pyfunction]
fn is_supported(count: usize, share: f64) -> bool {
    quantile::is_supported(count, share)
}

/// A quantile in ms: its estimate, and the bounds that it lies between.
type Bracketed = (Option<f64>, f64, Option<f64>);

/// Quantiles of a latency histogram, one for each share; none without packets. Without a longest delay those in the last bin
/// have neither an estimate nor an upper bound.
#[pyfunction]
fn histogram_quantiles(
    edges_ns: Vec<u64>,
    counts: Vec<u64>,
    longest_ns: Option<u64>,
    shares: Vec<f64>,
    logarithmic: bool,
) -> PyResult<Vec<Bracketed>> {
    let edges = edges_ns.into_iter().map(Span::from_ns).collect();
    let longest = longest_ns.map(Span::from_ns);
    let histogram = LatencyHistogram::reported(edges, counts, longest).map_err(PyValueError::new_err)?;
    let interpolation = if logarithmic { Interpolation::Logarithmic } else { Interpolation::Linear };
    let of = |share: f64| {
        let (low, high) = histogram.bracket(share)?;
        let ends = high < Span::MAX;
        let estimate = histogram.quantile_ns(share, interpolation).filter(|_| ends);
        Some((estimate.map(|ns| ns / 1e6), low.as_ns() as f64 / 1e6, ends.then_some(high.as_ns() as f64 / 1e6)))
    };
    Ok(shares.into_iter().filter_map(of).collect())
}

/// Jain's fairness index; nothing without values.
#[pyfunction]
fn jain_index(values: Vec<f64>) -> Option<f64> {
    throughput::jain_index(&values)
}

/// Declarations of all metrics: of each its name, words, unit, bounds, meaning, source and which way is better.
#[pyfunction]
fn metric_schemas(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let metrics = PyList::empty(py);
    for group in schema::METRICS {
        for metric in group.metrics {
            let entry = PyDict::new(py);
            entry.set_item("name", metric.name)?;
            entry.set_item("words", metric.words)?;
            entry.set_item("unit", group.unit)?;
            entry.set_item("better", group.better.as_str())?;
            entry.set_item("low", group.bounds.0)?;
            entry.set_item("high", group.bounds.1)?;
            entry.set_item("meaning", group.meaning)?;
            entry.set_item("source", group.source)?;
            metrics.append(entry)?;
        }
    }
    Ok(metrics)
}

/// Causes of delay in the order in which a packet meets them: name, words and meaning.
#[pyfunction]
fn delay_causes() -> Vec<(&'static str, &'static str, &'static str)> {
    let told = |cause: Cause| (cause.as_str(), cause.words(), cause.meaning());
    Cause::ALL.into_iter().map(told).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(voice_rating, module)?)?;
    module.add_function(wrap_pyfunction!(mean_opinion_score, module)?)?;
    module.add_function(wrap_pyfunction!(rating_g107, module)?)?;
    module.add("DEFAULT_TELR", voice::DEFAULT_TELR)?;
    module.add_function(wrap_pyfunction!(quality_of_outcome, module)?)?;
    module.add_function(wrap_pyfunction!(requirements, module)?)?;
    module.add_function(wrap_pyfunction!(apdex, module)?)?;
    module.add_function(wrap_pyfunction!(round_trips_per_minute, module)?)?;
    module.add_function(wrap_pyfunction!(is_stable, module)?)?;
    module.add_function(wrap_pyfunction!(is_supported, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(jain_index, module)?)?;
    module.add_function(wrap_pyfunction!(metric_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(delay_causes, module)?)
}
