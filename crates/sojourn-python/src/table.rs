//! Record tables as Arrow streams, handed over without copying a column.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use sojourn_record::{Column, ColumnData, Table};
use std::sync::Arc;

/// A table that any Arrow consumer reads through `__arrow_c_stream__`.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct ArrowTable {
    batch: RecordBatch,
}

impl ArrowTable {
    pub fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl ArrowTable {
    /// The Arrow PyCapsule interface; the requested schema is only a wish and is not granted.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema = self.batch.schema();
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }
}

/// The columns of `table` as Arrow arrays; the vectors move, nothing is copied.
pub fn record_batch(table: Table) -> PyResult<RecordBatch> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = table.columns.into_iter().map(array).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| PyRuntimeError::new_err(format!("table {}: {error}", table.name)))
}

fn array(column: Column) -> (Field, ArrayRef) {
    let array: ArrayRef = match column.data {
        ColumnData::U32(values) => Arc::new(UInt32Array::from(values)),
        ColumnData::U64(values) => Arc::new(UInt64Array::from(values)),
        ColumnData::F64(values) => Arc::new(Float64Array::from(values)),
        ColumnData::OptionalU64 { values, valid } => {
            Arc::new(UInt64Array::new(values.into(), Some(NullBuffer::from(valid))))
        }
        ColumnData::OptionalF64 { values, valid } => {
            Arc::new(Float64Array::new(values.into(), Some(NullBuffer::from(valid))))
        }
        ColumnData::Words { codes, dictionary } => {
            let valid = codes.iter().map(|code| *code >= 0).collect::<Vec<bool>>();
            let keys = Int32Array::new(codes.into(), Some(NullBuffer::from(valid)));
            let words = Arc::new(StringArray::from(dictionary));
            Arc::new(DictionaryArray::<Int32Type>::new(keys, words))
        }
    };
    (Field::new(column.name, array.data_type().clone(), true), array)
}

/// Declarations of all record tables.
#[pyfunction]
fn table_schemas(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let tables = PyList::empty(py);
    for table in sojourn_record::schema::TABLES {
        let columns = PyList::empty(py);
        for column in table.columns {
            let entry = PyDict::new(py);
            entry.set_item("name", column.name)?;
            entry.set_item("unit", column.unit)?;
            entry.set_item("meaning", column.meaning)?;
            columns.append(entry)?;
        }
        let entry = PyDict::new(py);
        entry.set_item("name", table.name)?;
        entry.set_item("meaning", table.meaning)?;
        entry.set_item("columns", columns)?;
        tables.append(entry)?;
    }
    Ok(tables)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowTable>()?;
    module.add_function(wrap_pyfunction!(table_schemas, module)?)
}
