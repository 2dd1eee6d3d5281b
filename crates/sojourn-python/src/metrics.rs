//! Metric definitions, so that Python never has a second one.

use pyo3::prelude::*;
use sojourn_metrics::{throughput, voice};

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

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(voice_rating, module)?)?;
    module.add_function(wrap_pyfunction!(mean_opinion_score, module)?)?;
    module.add_function(wrap_pyfunction!(jain_index, module)?)
}
