//! Distributions by inversion: one uniform draw per variate, so that streams of compared runs stay
//! aligned.

use crate::math;

/// Uniform on [low, high).
pub fn uniform(unit: f64, low: f64, high: f64) -> f64 {
    low + (high - low) * unit
}

/// Exponential with the given mean.
pub fn exponential(unit: f64, mean: f64) -> f64 {
    -mean * math::ln_1p(-unit)
}

/// Pareto with the given mean and coefficient of variation (shape 1 + sqrt(1 + 1/cv²)).
pub fn pareto(unit: f64, mean: f64, coefficient_of_variation: f64) -> f64 {
    let shape = 1.0 + math::sqrt(1.0 + 1.0 / (coefficient_of_variation * coefficient_of_variation));
    let scale = mean * (shape - 1.0) / shape;
    scale * math::powf(1.0 - unit, -1.0 / shape)
}

/// Standard normal by inversion (Wichura, algorithm AS 241, about 16 digits).
pub fn standard_normal(unit: f64) -> f64 {
    // The draw lies in [0, 1); the half step keeps the argument inside (0, 1), where it does not round to one.
    normal_quantile((unit + 0.5 / 9_007_199_254_740_992.0).min(1.0 - f64::EPSILON / 2.0))
}

/// Share of the standard normal distribution below `z`.
pub fn normal_share_below(z: f64) -> f64 {
    0.5 * math::erfc(-z * core::f64::consts::FRAC_1_SQRT_2)
}

/// Log-normal: exp(mu + sigma Z).
pub fn log_normal(unit: f64, mu: f64, sigma: f64) -> f64 {
    math::exp(mu + sigma * standard_normal(unit))
}

/// Quantile of the standard normal distribution for 0 < p < 1.
#[expect(clippy::excessive_precision, reason = "digits as published in AS 241")]
#[expect(clippy::unreadable_literal, reason = "digits as published in AS 241")]
pub fn normal_quantile(p: f64) -> f64 {
    fn ratio(x: f64, numerator: &[f64; 8], denominator: &[f64; 8]) -> f64 {
        let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, a| sum * x + a);
        horner(numerator) / horner(denominator)
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(
            r,
            &[
                3.3871328727963666080,
                133.14166789178437745,
                1971.5909503065514427,
                13731.693765509461125,
                45921.953931549871457,
                67265.770927008700853,
                33430.575583588128105,
                2509.0809287301226727,
            ],
            &[
                1.0,
                42.313330701600911252,
                687.18700749205790830,
                5394.1960214247511077,
                21213.794301586595867,
                39307.895800092710610,
                28729.085735721942674,
                5226.4952788528545610,
            ],
        );
    }
    let tail = math::sqrt(-math::ln(if q < 0.0 { p } else { 1.0 - p }));
    let value = if tail <= 5.0 {
        ratio(
            tail - 1.6,
            &[
                1.42343711074968357734,
                4.63033784615654529590,
                5.76949722146069140550,
                3.64784832476320460504,
                1.27045825245236838258,
                0.241780725177450611770,
                0.0227238449892691845833,
                7.74545014278341407640e-4,
            ],
            &[
                1.0,
                2.05319162663775882187,
                1.67638483018380384940,
                0.689767334985100004550,
                0.148103976427480074590,
                0.0151986665636164571966,
                5.47593808499534494600e-4,
                1.05075007164441684324e-9,
            ],
        )
    } else {
        ratio(
            tail - 5.0,
            &[
                6.65790464350110377720,
                5.46378491116411436990,
                1.78482653991729133580,
                0.296560571828504891230,
                0.0265321895265761230930,
                1.24266094738807843860e-3,
                2.71155556874348757815e-5,
                2.01033439929228813265e-7,
            ],
            &[
                1.0,
                0.599832206555887937690,
                0.136929880922735805310,
                0.0148753612908506148525,
                7.86869131145613259100e-4,
                1.84631831751005468180e-5,
                1.42151175831644588870e-7,
                2.04426310338993978564e-15,
            ],
        )
    };
    if q < 0.0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_match_published_values() {
        // AS 241 itself lists 0.25, 0.001 and 1e-20.
        for (p, z) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_814),
            (1e-20, -9.262_340_089_798_409),
            (0.975, 1.959_963_984_540_054),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-13, "{p}: {}", normal_quantile(p));
        }
    }

    #[test]
    fn shares_below_are_the_inverse_of_quantiles() {
        for p in [1e-20, 0.001, 0.25, 0.5, 0.75, 0.975] {
            let share = normal_share_below(normal_quantile(p));
            assert!((share / p - 1.0).abs() < 1e-12, "{p}: {share}");
        }
    }

    #[test]
    fn the_least_and_the_greatest_draw_are_finite() {
        let greatest = 1.0 - f64::EPSILON / 2.0;
        assert!((8.2..8.4).contains(&standard_normal(greatest)));
        assert!((-8.4..-8.2).contains(&standard_normal(0.0)));
    }

    #[test]
    fn pareto_of_traffic_spec_has_the_stated_median() {
        // Mean 270, cv 1.5: shape 2.2019, scale 147.38; the median is scale * 2^(1/shape).
        let median = pareto(0.5, 270.0, 1.5);
        let shape = 1.0 + (1.0 + 1.0 / 2.25_f64).sqrt();
        let expected = 270.0 * (shape - 1.0) / shape * math::powf(2.0, 1.0 / shape);
        assert!((median - expected).abs() < 1e-9 * expected);
    }
}
