//! Column tables without a data-frame library: plain vectors with a name, a unit and a meaning.

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// 32-bit counts and indices.
    U32(Vec<u32>),
    /// 64-bit counts and times in ns.
    U64(Vec<u64>),
    /// 64-bit counts and times in ns where some are missing; `valid` has one entry per value.
    OptionalU64 {
        /// Values; 0 where missing.
        values: Vec<u64>,
        /// Whether the value is there.
        valid: Vec<bool>,
    },
    /// Real numbers.
    F64(Vec<f64>),
    /// Real numbers where some are missing.
    OptionalF64 {
        /// Values; 0 where missing.
        values: Vec<f64>,
        /// Whether the value is there.
        valid: Vec<bool>,
    },
    /// Words from a small dictionary; a code outside the dictionary means "missing".
    Words {
        /// Index into `dictionary` per row.
        codes: Vec<i32>,
        /// The words.
        dictionary: Vec<String>,
    },
}

impl ColumnData {
    /// Number of rows.
    pub const fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) | Self::OptionalU64 { values, .. } => values.len(),
            Self::F64(values) | Self::OptionalF64 { values, .. } => values.len(),
            Self::Words { codes, .. } => codes.len(),
        }
    }

    /// True without rows.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of optional times or counts.
    pub fn optional_u64(values: impl IntoIterator<Item = Option<u64>>) -> Self {
        let (values, valid) = values
            .into_iter()
            .map(|value| (value.unwrap_or(0), value.is_some()))
            .unzip();
        Self::OptionalU64 { values, valid }
    }

    /// A column of optional numbers.
    pub fn optional_f64(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (values, valid) = values
            .into_iter()
            .map(|value| (value.unwrap_or(0.0), value.is_some()))
            .unzip();
        Self::OptionalF64 { values, valid }
    }

    /// A column of words given as codes.
    pub fn words(codes: Vec<i32>, dictionary: &[String]) -> Self {
        Self::Words {
            codes,
            dictionary: dictionary.to_vec(),
        }
    }
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, with the unit as its ending where it has one (`sent_ns`).
    pub name: &'static str,
    /// Values.
    pub data: ColumnData,
}

/// A named table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name as in [`crate::schema`].
    pub name: &'static str,
    /// Columns in the order of the schema, all of one length.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table of the schema called `name` with columns in the schema's order.
    ///
    /// # Panics
    /// If the schema has no such table, or another number of columns, or lengths differ.
    pub fn new(name: &'static str, data: Vec<ColumnData>) -> Self {
        let schema = crate::schema::table(name).expect("a table is declared before it is filled");
        assert_eq!(schema.columns.len(), data.len(), "columns of table {name}");
        let rows = data.first().map_or(0, ColumnData::len);
        let columns = schema
            .columns
            .iter()
            .zip(data)
            .map(|(column, data)| {
                assert_eq!(data.len(), rows, "rows of {name}.{}", column.name);
                Column {
                    name: column.name,
                    data,
                }
            })
            .collect();
        Self { name, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .map(|column| &column.data)
    }
}
