//! Metric definitions, so that Python never has a second one.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sojourn_metrics::{schema, throughput, voice};
use sojourn_record::Cause;

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
    module.add_function(wrap_pyfunction!(jain_index, module)?)?;
    module.add_function(wrap_pyfunction!(metric_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(delay_causes, module)?)
}
