use super::*;
use crate::desk::Desk;
use proptest::prelude::*;
use sojourn_keys::content::{Node, Position, Table};
use sojourn_keys::{Content, key};

const MEGABYTES: f64 = 1e6;

fn inverse<Q: Measured>(distribution: Distribution<Q>, unit: f64) -> f64 {
    match distribution.sampler(Q::of_number(0.0), Q::of_number(1e15)) {
        Sampler::Constant(value) => value.number(),
        Sampler::Random(inverse) => inverse.at(unit),
    }
}

/// Returns true if two numbers agree in four significant digits.
fn agree(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 1e-4
}

#[test]
fn pareto_draws_are_those_of_the_progressive_downloads_of_akhtar_2013() {
    // Mean 38 MB, cv 1.5: shape 2.201850, scale 20,741,789 B. Mean 350 s, cv 2: shape 2.118034, scale 184.752 s.
    let size = Distribution::of(Law::Pareto { mean: Bytes(38_000_000), cv: 1.5 });
    let gap = Distribution::of(Law::Pareto { mean: Span::from_s(350), cv: 2.0 });
    for (unit, bytes, seconds) in [
        (0.0, 20_741_789.0, 184.752),
        (0.25, 23_636_807.0, 211.630),
        (0.5, 28_416_005.0, 256.281),
        (0.9, 59_021_421.0, 547.931),
        (0.99, 167_947_335.0, 1625.032),
    ] {
        assert!(agree(inverse(size, unit), bytes), "{unit}");
        assert!(agree(inverse(gap, unit), seconds), "{unit}");
    }
}

#[test]
fn log_normal_sizes_have_the_quantiles_of_white_2019() {
    // exp(14.8 + 2 z) at the standard normal quantiles.
    let size: Distribution<Bytes> = Distribution::of(Law::LogNormalOf { mu: 14.8, sigma: 2.0 });
    for (unit, megabytes) in [
        (0.01, 0.0255),
        (0.05, 0.0997),
        (0.10, 0.206),
        (0.25, 0.695),
        (0.50, 2.676),
        (0.75, 10.3),
        (0.90, 34.7),
        (0.95, 71.8),
        (0.99, 281.0),
        (0.999, 1290.0),
    ] {
        let value = inverse(size, unit) / MEGABYTES;
        assert!((value / megabytes - 1.0).abs() < 5e-3, "{unit}: {value}");
    }
    // 64 bits: a size beyond 2^32 is not truncated.
    let large = Bytes::of_number(inverse(size, 0.9999));
    assert!(large.0 > u64::from(u32::MAX), "{large}");
}

/// Returns mean and standard deviation of 1,000,000 draws, and the number outside the bounds.
fn moments<Q: Measured>(distribution: Distribution<Q>, least: f64, most: f64) -> (f64, f64, f64) {
    const DRAWS: u32 = 1_000_000;
    let sampler = distribution.sampler(Q::of_number(0.0), Q::of_number(1e15));
    let mut desk = Desk::new(1);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let value = sampler.draw_number(Draw::Size, &mut desk);
        assert!((least..=most).contains(&value), "{value}");
        sum += value;
        squares += value * value;
    }
    assert_eq!(desk.draws.len(), DRAWS as usize, "one uniform number each");
    let mean = sum / f64::from(DRAWS);
    let variance = squares / f64::from(DRAWS) - mean * mean;
    let share = match sampler {
        Sampler::Constant(_) => 1.0,
        Sampler::Random(inverse) => inverse.share_within().unwrap_or(1.0),
    };
    (mean, math::sqrt(variance), share)
}

#[test]
fn a_truncated_normal_has_the_moments_of_the_game_of_white_2019() {
    let law = Law::Normal { mean: Bytes(110), sd: Bytes(20) };
    let (mean, sd, share) = moments(Distribution::between(law, Bytes(32), Bytes(188)), 32.0, 188.0);
    assert!((mean - 110.0).abs() < 0.1, "{mean}");
    assert!((sd - 19.98).abs() < 0.05, "{sd}");
    assert!(((1.0 - share) / 9.6e-5 - 1.0).abs() < 0.01, "{share}");
}

#[test]
fn truncated_log_normals_have_the_moments_of_the_objects_of_the_3gpp_page() {
    // Embedded objects: mean 8212 after truncation, 83 % accepted, median 790. Main objects: mean 10,734.
    let embedded =
        Distribution::between(Law::LogNormal { mean: Bytes(7758), sd: Bytes(126_168) }, Bytes(50), Bytes(2_000_000));
    let (mean, _, share) = moments(embedded, 50.0, 2e6);
    assert!((mean - 8212.0).abs() < 250.0, "{mean}");
    assert!((share - 0.83).abs() < 0.005, "{share}");
    assert!((embedded.median().number() - 790.0).abs() < 2.0);
    let main =
        Distribution::between(Law::LogNormal { mean: Bytes(10_710), sd: Bytes(25_032) }, Bytes(100), Bytes(2_000_000));
    let (mean, ..) = moments(main, 100.0, 2e6);
    assert!((mean - 10_734.0).abs() < 120.0, "{mean}");
}

#[test]
fn clamped_draws_pile_up_at_the_bound() {
    // A tenth of an exponential of mean 1 s lies below 105.36 ms.
    let law = Law::Exponential { mean: Span::from_s(1) };
    let clamped = Distribution::at_least(law, Span::from_ms(105));
    assert!((inverse(clamped, 0.0) - 0.105).abs() < 1e-12);
    assert!((inverse(clamped, 0.099) - 0.105).abs() < 1e-12);
    let free = Distribution::of(law);
    assert!((inverse(clamped, 0.2) - inverse(free, 0.2)).abs() < 1e-12);
}

#[test]
fn a_constant_takes_no_draw() {
    let mut desk = Desk::new(1);
    let sampler = Distribution::Constant(Bytes(110)).sampler(Bytes(20), Bytes(65_536));
    assert_eq!(sampler.draw(Draw::Size, &mut desk), Bytes(110));
    assert!(desk.draws.is_empty());
}

/// An inline table as a reader brings it.
fn table(parts: &[(&str, Content)]) -> Content {
    let node =
        |content: &Content| Node { content: content.clone(), key_at: Position::default(), at: Position::default() };
    let parts = parts.iter();
    Content::Table(parts.map(|(name, content)| ((*name).to_owned(), node(content))).collect::<Table>())
}

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

fn problem(parts: &[(&str, Content)]) -> String {
    let key = key("interval", "", "").least("1 us").most("1 h");
    let mut value = Distribution::Constant(Span::from_ms(33));
    let result = value.read(&table(parts), &key).and_then(|()| value.check(&key));
    let mismatch = result.expect_err("it is wrong");
    format!("{}; {}", mismatch.message, mismatch.hint)
}

#[test]
fn what_is_wrong_with_a_distribution_is_named_with_its_parameter_and_limit() {
    for (parts, message) in [
        (
            vec![("mean", text("33 ms"))],
            "a distribution without kind; for instance { kind = \"exponential\", mean = … }",
        ),
        (
            vec![("kind", text("gauss")), ("mean", text("33 ms"))],
            "\"gauss\" is not known here; known are \"normal\", \"log-normal\", \"exponential\", \"pareto\", \"uniform\"",
        ),
        (
            vec![("kind", text("normal")), ("mean", text("33 ms"))],
            "a distribution of kind normal without sd; it needs mean and sd",
        ),
        (
            vec![("kind", text("exponential")), ("mean", text("33 ms")), ("sd", text("3 ms"))],
            "a distribution of kind exponential with \"sd\"; it has mean, kind, least, most, outside",
        ),
        (vec![("kind", text("exponential")), ("mean", text("33"))], "mean: \"33\" has no unit; write \"33 ms\""),
        (
            vec![("kind", text("normal")), ("mean", text("33 ms")), ("sd", text("0 s"))],
            "sd: \"0 s\" is not above zero; a quantity without spread is written alone, without a table",
        ),
        (
            vec![("kind", text("normal")), ("mean", text("33 ms")), ("sd", text("3 ms")), ("most", text("2 h"))],
            "most: 7200 s is out of range; allowed are 1 us to 1 h",
        ),
        (
            // 9 h times ln 2.
            vec![("kind", text("exponential")), ("mean", text("9 h"))],
            "half of the draws: 22457.968650142224 s is out of range; allowed are 1 us to 1 h",
        ),
        (
            vec![("kind", text("normal")), ("mean", text("33 ms")), ("sd", text("3 ms")), ("least", text("60 ms"))],
            "less than a thousandth of this distribution lies between its bounds; wider bounds, or another distribution",
        ),
        (
            vec![("kind", text("uniform")), ("least", text("60 ms"))],
            "a distribution of kind uniform without least and most; it has no other parameters",
        ),
        (
            vec![("mu", Content::Float("1.5".to_owned(), 1.5)), ("sigma", Content::Float("9.0".to_owned(), 9.0))],
            "sigma = 9 is out of range; allowed are 0 to 5",
        ),
    ] {
        assert_eq!(problem(&parts), message);
    }
}

fn laws() -> impl Strategy<Value = Law<Span>> {
    let span = || (1_u64..100_000).prop_map(Span::from_us);
    prop_oneof![
        Just(Law::Uniform),
        span().prop_map(|mean| Law::Exponential { mean }),
        (span(), span()).prop_map(|(mean, sd)| Law::Normal { mean, sd }),
        (span(), span()).prop_map(|(mean, sd)| Law::LogNormal { mean, sd }),
        (-9.0..2.0_f64, 0.1..3.0_f64).prop_map(|(mu, sigma)| Law::LogNormalOf { mu, sigma }),
        (span(), 0.5..5.0_f64).prop_map(|(mean, cv)| Law::Pareto { mean, cv }),
        (span(), 0.5..5.0_f64).prop_map(|(scale, shape)| Law::ParetoOf { scale, shape }),
    ]
}

proptest! {
    #[test]
    fn draws_lie_between_the_bounds_and_rise_with_the_uniform_number(
        law in laws(),
        least in 1_u64..100_000,
        width in 1_u64..1_000_000,
        clamps: bool,
        units in (0.0..1.0_f64, 0.0..1.0_f64),
    ) {
        let (least, most) = (Span::from_us(least), Span::from_us(least + width));
        let outside = if clamps { Outside::Clamp } else { Outside::Redraw };
        let bounds = Bounds { least: Some(least), most: Some(most), outside };
        let distribution = Distribution::Random(law, bounds);
        let (low, high) = (units.0.min(units.1), units.0.max(units.1));
        let (low, high) = (inverse(distribution, low), inverse(distribution, high));
        prop_assert!(low <= high);
        prop_assert!(low >= least.number() && high <= most.number());
    }

    #[test]
    fn drawing_within_the_bounds_is_drawing_until_one_fits(
        seed: u64,
        mean in 20_u64..80,
        sd in 5_u64..40,
    ) {
        // Oracle: literal rejection. The two samples of 2000 agree in distribution: the greatest distance of their
        // distribution functions stays below that which one in a million exceeds (Kolmogorov and Smirnov: 0.085).
        let law = Law::Normal { mean: Bytes(mean), sd: Bytes(sd) };
        let bounded = Distribution::between(law, Bytes(30), Bytes(90)).sampler(Bytes(0), Bytes(1000));
        let free = Distribution::of(law).sampler(Bytes(0), Bytes(1000));
        let mut desk = Desk::new(seed);
        let mut inverted: Vec<f64> = (0..2000).map(|_| bounded.draw_number(Draw::Size, &mut desk)).collect();
        let mut rejected = Vec::new();
        while rejected.len() < 2000 {
            let value = free.draw_number(Draw::Size, &mut desk);
            if (30.0..=90.0).contains(&value) {
                rejected.push(value);
            }
        }
        inverted.sort_by(f64::total_cmp);
        rejected.sort_by(f64::total_cmp);
        let distance = inverted.iter().enumerate().map(|(index, value)| {
            let below = rejected.partition_point(|other| other <= value);
            (below.abs_diff(index)) as f64 / 2000.0
        }).fold(0.0, f64::max);
        prop_assert!(distance < 0.085, "{distance}");
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same(law in laws(), bounded: bool, clamps: bool) {
        let bounds = Bounds {
            least: (bounded || law == Law::Uniform).then_some(Span::from_us(10)),
            most: (law == Law::Uniform).then_some(Span::from_s(10)),
            outside: if clamps { Outside::Clamp } else { Outside::Redraw },
        };
        let before = Distribution::Random(law, bounds);
        let print = before.print();
        let inner = print.trim_matches(|c| "{} ".contains(c));
        let parts: Vec<(&str, Content)> = inner
            .split(", ")
            .map(|part| {
                let (name, value) = part.split_once(" = ").expect("a key and a value");
                let number = || Content::Float(value.to_owned(), value.parse().expect("a number"));
                let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                (name, quoted.map_or_else(number, text))
            })
            .collect();
        let mut after = Distribution::Constant(Span::ZERO);
        prop_assert!(after.read(&table(&parts), &key("x", "", "")).is_ok());
        prop_assert_eq!(before, after);
    }
}
