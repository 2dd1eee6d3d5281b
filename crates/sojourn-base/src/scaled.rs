//! Exact decimal print of whole numbers of small steps.

use core::fmt;

/// Writes `value / scale` exactly, without trailing zeros; `scale` is a power of ten.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, scale: u64) -> fmt::Result {
    write!(f, "{}", value / scale)?;
    let mut rest = value % scale;
    if rest > 0 {
        write!(f, ".")?;
    }
    let mut digit = scale / 10;
    while rest > 0 {
        write!(f, "{}", rest / digit)?;
        rest %= digit;
        digit /= 10;
    }
    Ok(())
}
