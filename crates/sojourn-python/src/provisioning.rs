//! CM configuration files: octets, text, issues, services. Structures are handed over as JSON texts.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use sojourn_provisioning::{
    Choices, Docsis, Expansion, File, Format, Issue, Secret, Style, Tables, TooLong, from_service,
};

pyo3::create_exception!(
    _engine,
    ProvisioningProblems,
    PyValueError,
    "The text is no configuration file or no table; the message is a JSON list of issues."
);

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn refusal(issues: &[Issue]) -> PyErr {
    match json(&issues) {
        Ok(text) => ProvisioningProblems::new_err(text),
        Err(error) => error,
    }
}

fn too_long(error: TooLong) -> PyErr {
    refusal(&[Issue::new("E-TOO-LONG", error.to_string())])
}

fn read(octets: &[u8], docsis40: bool) -> File {
    let format = if docsis40 { Format::Docsis40 } else { Format::Docsis31 };
    File::read(octets, format)
}

/// All TLVs of a file, its issues and what its digests are, as JSON.
#[pyfunction]
#[pyo3(signature = (octets, secret=None, strict=false, docsis40=false))]
fn provisioning_examine(octets: &[u8], secret: Option<&[u8]>, strict: bool, docsis40: bool) -> PyResult<String> {
    let file = read(octets, docsis40);
    let examination = sojourn_provisioning::examine(&file, secret.map(Secret::new).as_ref(), strict);
    json(&serde_json::json!({
        "octets": octets.len(),
        "tlvs": sojourn_provisioning::list(&file),
        "integrity": examination.integrity,
        "issues": examination.issues,
    }))
}

/// The text form of a file.
#[pyfunction]
#[pyo3(signature = (octets, docsis40=false))]
fn provisioning_decode(octets: &[u8], docsis40: bool) -> String {
    sojourn_provisioning::text::write(&read(octets, docsis40))
}

/// The octets of a text. With `seal` the MICs are made anew, the CMTS MIC if there is a secret. Raises
/// `ProvisioningProblems`.
#[pyfunction]
#[pyo3(signature = (text, secret=None, seal=false))]
fn provisioning_encode(text: &str, secret: Option<&[u8]>, seal: bool) -> PyResult<Vec<u8>> {
    let mut file = sojourn_provisioning::text::read(text).map_err(|issues| refusal(&issues))?;
    if seal {
        let secret = secret.map(Secret::new);
        sojourn_provisioning::seal(&mut file, secret.as_ref()).map_err(too_long)?;
    }
    file.octets().map_err(too_long)
}

/// Returns the differences between two files, as JSON.
#[pyfunction]
fn provisioning_diff(before: &[u8], after: &[u8]) -> PyResult<String> {
    json(&sojourn_provisioning::diff(&read(before, false), &read(after, false)))
}

/// Choices of an expansion beside the file and the tables; a mapping in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices of an expansion")]
struct Asked {
    /// Generation of the modem, in place of the tables.
    docsis: Option<String>,
    /// True if the modem supports low-latency DOCSIS, in place of the tables.
    lld: Option<bool>,
    profiles: bool,
    allow_bad_mic: bool,
    downstream_without_modem: bool,
    strict: bool,
}

/// Expands a file; the tables come back as they were asked for.
fn expanded(octets: &[u8], tables: &str, secret: Option<&Secret>, asked: &Asked) -> PyResult<(Tables, Expansion)> {
    let mut tables = Tables::read(tables).map_err(|issues| refusal(&issues))?;
    if !asked.profiles {
        tables = tables.without_profiles();
    }
    match asked.docsis.as_deref() {
        Some("3.0") => tables.cm_docsis = Docsis::D30,
        Some("3.1") => tables.cm_docsis = Docsis::D31,
        Some(other) => return Err(PyValueError::new_err(format!("no such modem: {other}"))),
        None => {}
    }
    tables.cm_lld = asked.lld.unwrap_or(tables.cm_lld) && tables.cm_docsis == Docsis::D31;
    let choices = Choices {
        allow_bad_mic: asked.allow_bad_mic,
        downstream_without_modem: asked.downstream_without_modem,
        strict: asked.strict,
    };
    let expansion = sojourn_provisioning::expand(&read(octets, false), &tables, secret, choices);
    Ok((tables, expansion))
}

/// The service of a file, the words for both directions, and issues, as JSON. Raises `ProvisioningProblems` about
/// the tables.
#[pyfunction]
fn provisioning_expand(octets: &[u8], tables: &str, secret: Option<&[u8]>, asked: Asked) -> PyResult<String> {
    let secret = secret.map(Secret::new);
    let (tables, expansion) = expanded(octets, tables, secret.as_ref(), &asked)?;
    let summary = expansion.service.as_ref().map(|service| {
        [
            service.upstream.summary() + &service.beside_upstream.summary(),
            service.downstream.summary() + &service.beside_downstream.summary(),
        ]
    });
    json(&serde_json::json!({
        "service": expansion.service,
        "summary": summary,
        "issues": expansion.issues,
        "map_interval_us": tables.map_interval_us,
        "docsis": if tables.cm_docsis == Docsis::D30 { "3.0" } else { "3.1" },
    }))
}

/// The octets of a sealed file that stands for the service of another, in a style. Raises `ProvisioningProblems`
/// about the tables, the file, and what the style cannot say.
#[pyfunction]
fn provisioning_restate(
    octets: &[u8],
    tables: &str,
    secret: Option<&[u8]>,
    asked: Asked,
    style: &str,
) -> PyResult<Vec<u8>> {
    let style: Style = style.parse().map_err(PyValueError::new_err)?;
    let secret = secret.map(Secret::new);
    let (_, expansion) = expanded(octets, tables, secret.as_ref(), &asked)?;
    let Some(service) = expansion.service else {
        return Err(refusal(&expansion.issues));
    };
    let mut file = from_service(&service, style).map_err(|issues| refusal(&issues))?;
    sojourn_provisioning::seal(&mut file, secret.as_ref()).map_err(too_long)?;
    file.octets().map_err(too_long)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ProvisioningProblems", module.py().get_type::<ProvisioningProblems>())?;
    module.add_function(wrap_pyfunction!(provisioning_examine, module)?)?;
    module.add_function(wrap_pyfunction!(provisioning_decode, module)?)?;
    module.add_function(wrap_pyfunction!(provisioning_encode, module)?)?;
    module.add_function(wrap_pyfunction!(provisioning_diff, module)?)?;
    module.add_function(wrap_pyfunction!(provisioning_expand, module)?)?;
    module.add_function(wrap_pyfunction!(provisioning_restate, module)?)
}
