//! Elementary functions with the same bits on every platform (`libm`, pinned).
//!
//! The standard library leaves the precision of these open; `+ - * /` and `sqrt` are exact
//! everywhere and need no wrapper.

/// e^x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x).
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// 1 - erf(x).
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// x^y.
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Square root, correctly rounded, also without the standard library.
pub fn sqrt(x: f64) -> f64 {
    libm::sqrt(x)
}

/// Largest whole number not above x.
pub fn floor(x: f64) -> f64 {
    libm::floor(x)
}

/// Smallest whole number not below x.
pub fn ceil(x: f64) -> f64 {
    libm::ceil(x)
}

/// x^n by squaring.
#[must_use]
pub fn powi(x: f64, n: u32) -> f64 {
    let (mut base, mut left, mut result) = (x, n, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    result
}
