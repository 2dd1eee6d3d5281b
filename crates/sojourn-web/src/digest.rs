//! A hash of what a column of a table says, by which two builds of the engine are compared.

use sojourn_record::ColumnData;

/// Hash of what a column says, row by row: integers as 64 bits, words as they are spelled, each with
/// whether it is there. A wider type, a larger dictionary or a column that need not be there any
/// more are no other results.
pub(crate) fn hash_column(data: &ColumnData) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut put = |value: Option<&[u8]>| {
        let length = value.map_or(u64::MAX, |bytes| bytes.len() as u64);
        hasher.update(&length.to_le_bytes());
        hasher.update(value.unwrap_or_default());
    };
    match data {
        ColumnData::U32(values) => {
            for value in values {
                put(Some(&u64::from(*value).to_le_bytes()));
            }
        }
        ColumnData::U64(values) => {
            for value in values {
                put(Some(&value.to_le_bytes()));
            }
        }
        ColumnData::F64(values) => {
            for value in values {
                put(Some(&value.to_le_bytes()));
            }
        }
        ColumnData::OptionalU64 { values, valid } => {
            for (value, valid) in values.iter().zip(valid) {
                put(valid.then_some(&value.to_le_bytes()));
            }
        }
        ColumnData::OptionalF64 { values, valid } => {
            for (value, valid) in values.iter().zip(valid) {
                put(valid.then_some(&value.to_le_bytes()));
            }
        }
        ColumnData::Words { codes, dictionary } => {
            for code in codes {
                let word = usize::try_from(*code).ok().and_then(|at| dictionary.get(at));
                put(word.map(String::as_bytes));
            }
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
