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
        /// True where a value is present.
        valid: Vec<bool>,
    },
    /// Real numbers.
    F64(Vec<f64>),
    /// Real numbers where some are missing.
    OptionalF64 {
        /// Values; 0 where missing.
        values: Vec<f64>,
        /// True where a value is present.
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
        let (values, valid) = values.into_iter().map(|value| (value.unwrap_or(0), value.is_some())).unzip();
        Self::OptionalU64 { values, valid }
    }

    /// A column of optional numbers.
    pub fn optional_f64(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (values, valid) = values.into_iter().map(|value| (value.unwrap_or(0.0), value.is_some())).unzip();
        Self::OptionalF64 { values, valid }
    }

    /// A column of words given as codes.
    pub fn words(codes: Vec<i32>, dictionary: &[String]) -> Self {
        Self::Words { codes, dictionary: dictionary.to_vec() }
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
    /// The table that the schema declares as `name`; `columns` are matched by their names and put into the schema's
    /// order.
    ///
    /// # Panics
    /// If the schema has no such table, if a declared column is missing, one is given twice or one is not declared,
    /// or if lengths differ.
    pub fn new(name: &'static str, columns: impl IntoIterator<Item = (&'static str, ColumnData)>) -> Self {
        let schema = crate::schema::table(name).expect("a table is declared before it is filled");
        let mut given: Vec<(&str, ColumnData)> = columns.into_iter().collect();
        let rows = given.first().map_or(0, |(_, data)| data.len());
        let columns = schema
            .columns
            .iter()
            .map(|declared| {
                let at = given
                    .iter()
                    .position(|(column, _)| *column == declared.name)
                    .unwrap_or_else(|| panic!("column {name}.{} is not filled", declared.name));
                let (_, data) = given.swap_remove(at);
                assert_eq!(data.len(), rows, "rows of {name}.{}", declared.name);
                Column { name: declared.name, data }
            })
            .collect();
        if let Some((column, _)) = given.first() {
            panic!("column {name}.{column} is given twice or not declared");
        }
        Self { name, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(value: u64) -> ColumnData {
        ColumnData::U64(vec![value])
    }

    fn links() -> ColumnData {
        ColumnData::words(vec![0], &["upstream".to_owned()])
    }

    #[test]
    fn columns_go_by_their_names_whatever_order_they_are_given_in() {
        let table = Table::new(
            "sojourn_histogram",
            [("packets", numbers(3)), ("link", links()), ("sojourn_ns", numbers(1000))],
        );
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(names, ["link", "sojourn_ns", "packets"]);
        assert_eq!(table.column("packets"), Some(&numbers(3)));
        assert_eq!(table.column("sojourn_ns"), Some(&numbers(1000)));
    }

    #[test]
    #[should_panic(expected = "column sojourn_histogram.packets is not filled")]
    fn a_declared_column_that_nobody_fills_is_named() {
        let _ = Table::new("sojourn_histogram", [("link", links()), ("sojourn_ns", numbers(1000))]);
    }

    #[test]
    #[should_panic(expected = "column sojourn_histogram.bytes is given twice or not declared")]
    fn a_column_that_is_not_declared_is_named() {
        let _ = Table::new(
            "sojourn_histogram",
            [("link", links()), ("sojourn_ns", numbers(1000)), ("packets", numbers(3)), ("bytes", numbers(3))],
        );
    }

    #[test]
    #[should_panic(expected = "rows of sojourn_histogram.packets")]
    fn columns_of_different_lengths_make_no_table() {
        let _ = Table::new(
            "sojourn_histogram",
            [("link", links()), ("sojourn_ns", numbers(1000)), ("packets", ColumnData::U64(vec![1, 2]))],
        );
    }
}
