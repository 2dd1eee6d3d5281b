//! How a distribution is spelt: a quantity, or an inline table of a law with its parameters and bounds.
//!
//! Source: none; the spelling is the project's own. Deviations: `{ mu = …, sigma = … }` needs no `kind`, because files
//! had it before there were others.

use core::cmp::Ordering;

use sojourn_keys::content::Table;
use sojourn_keys::key::DESCRIBES;
use sojourn_keys::value::{Field, quoted, unknown_word};
use sojourn_keys::{Content, Key, Mismatch, Shape, Value, Word, Words, key};

use super::{Bounds, Distribution, Inverse, Law, Measured, Outside};

/// Section of the reference page that explains distributions.
const EXPLAINED: &str = "distribution";

/// How a law is written.
struct Form {
    kind: &'static str,
    about: &'static str,
    /// Names of its parameters.
    parameters: &'static [&'static str],
}

const FORMS: [Form; 7] = [
    Form { kind: "normal", about: "normal", parameters: &["mean", "sd"] },
    Form { kind: LOG_NORMAL, about: "its logarithm is normal", parameters: &["mean", "sd"] },
    Form { kind: LOG_NORMAL, about: "its logarithm is normal", parameters: &["mu", "sigma"] },
    Form { kind: "exponential", about: "exponential", parameters: &["mean"] },
    Form { kind: "pareto", about: "Pareto", parameters: &["mean", "cv"] },
    Form { kind: "pareto", about: "Pareto", parameters: &["scale", "shape"] },
    Form { kind: "uniform", about: "uniform between least and most", parameters: &[] },
];

const LOG_NORMAL: &str = "log-normal";

/// Keys that every law has.
const COMMON: [&str; 4] = ["kind", "least", "most", "outside"];

const OUTSIDE: [Word<Outside>; 2] = [
    Word { name: "redraw", value: Outside::Redraw, about: "it is drawn anew until it lies between them" },
    Word { name: "clamp", value: Outside::Clamp, about: "it becomes the bound" },
];

/// Bounds and meaning of a numeric parameter. chosen: beyond them no model is known, and e^40 B are 235 PB.
const NUMBERS: [(&str, f64, f64, &str); 4] = [
    ("mu", -40.0, 40.0, "mean of the natural logarithm of bytes or seconds"),
    ("sigma", 0.0, 5.0, "standard deviation of the natural logarithm"),
    ("cv", 0.01, 100.0, "standard deviation over mean"),
    ("shape", 0.1, 100.0, "exponent of the tail"),
];

/// The least share of a distribution that its bounds must leave. chosen: who throws away more means another one.
const LEAST_SHARE: f64 = 0.001;

impl Form {
    /// The law with these parameters, which `quantity` and `number` look up.
    fn law<Q>(&self, quantity: impl Fn(&str) -> Q, number: impl Fn(&str) -> f64) -> Law<Q> {
        match (self.kind, self.parameters) {
            ("normal", _) => Law::Normal { mean: quantity("mean"), sd: quantity("sd") },
            (LOG_NORMAL, ["mean", ..]) => Law::LogNormal { mean: quantity("mean"), sd: quantity("sd") },
            (LOG_NORMAL, _) => Law::LogNormalOf { mu: number("mu"), sigma: number("sigma") },
            ("exponential", _) => Law::Exponential { mean: quantity("mean") },
            ("pareto", ["mean", ..]) => Law::Pareto { mean: quantity("mean"), cv: number("cv") },
            ("pareto", _) => Law::ParetoOf { scale: quantity("scale"), shape: number("shape") },
            _ => Law::Uniform,
        }
    }
}

/// The form that a table is written in.
fn form_of(table: &Table) -> Result<&'static Form, Mismatch> {
    let kind = match table.get("kind").map(|node| &node.content) {
        Some(Content::Text(kind)) => kind.as_str(),
        None if table.get("mu").is_some() || table.get("sigma").is_some() => LOG_NORMAL,
        _ => {
            return Err(Mismatch::new(
                "a distribution without kind",
                "for instance { kind = \"exponential\", mean = … }",
            ));
        }
    };
    let of_kind = || FORMS.iter().filter(|form| form.kind == kind);
    let fits = |form: &&Form| {
        let mut parameters = form.parameters.iter();
        parameters.any(|name| table.get(name).is_some() && form.tells(name))
    };
    of_kind().find(fits).or(of_kind().next()).ok_or_else(|| {
        let mut kinds: Vec<&str> = FORMS.iter().map(|form| form.kind).collect();
        kinds.dedup();
        unknown_word(kind, kinds.into_iter())
    })
}

impl Form {
    /// Returns true if no other form of its kind has a parameter of this name.
    fn tells(&self, name: &str) -> bool {
        let others = FORMS.iter().filter(|form| form.kind == self.kind && form.parameters != self.parameters);
        !others.into_iter().any(|form| form.parameters.contains(&name))
    }
}

/// Reads what `name` holds, if the table has it.
fn take<V: Value>(table: &Table, name: &'static str, mut value: V) -> Result<Option<V>, Mismatch> {
    let Some(node) = table.get(name) else {
        return Ok(None);
    };
    match value.read(&node.content, &key(name, "", "")) {
        Ok(()) => Ok(Some(value)),
        Err(mismatch) => Err(Mismatch::new(format!("{name}: {}", mismatch.message), mismatch.hint)),
    }
}

fn read_table<Q: Measured>(table: &Table) -> Result<Distribution<Q>, Mismatch> {
    let form = form_of(table)?;
    let known = || form.parameters.iter().chain(&COMMON);
    if let Some((other, _)) = table.iter().find(|(name, _)| !known().any(|known| known == name)) {
        let names: Vec<&str> = known().copied().collect();
        return Err(Mismatch::new(
            format!("a distribution of kind {} with {}", form.kind, quoted(other)),
            format!("it has {}", names.join(", ")),
        ));
    }
    let mut quantities = Vec::new();
    let mut numbers = Vec::new();
    for name in form.parameters {
        let missing = || {
            Mismatch::new(
                format!("a distribution of kind {} without {name}", form.kind),
                format!("it needs {}", form.parameters.join(" and ")),
            )
        };
        if NUMBERS.iter().any(|(number, ..)| number == name) {
            numbers.push((*name, take(table, name, 0.0)?.ok_or_else(missing)?));
        } else {
            quantities.push((*name, take(table, name, Q::EXAMPLE)?.ok_or_else(missing)?));
        }
    }
    let law = form.law(|name| found(&quantities, name, Q::EXAMPLE), |name| found(&numbers, name, f64::NAN));
    let mut outside = Outside::Redraw;
    take(table, "outside", Words { value: &mut outside, words: &OUTSIDE })?;
    let bounds = Bounds { least: take(table, "least", Q::EXAMPLE)?, most: take(table, "most", Q::EXAMPLE)?, outside };
    Ok(Distribution::Random(law, bounds))
}

/// Returns the value of `name`; `otherwise` if it is absent. Each name of a form is present once it has been read.
fn found<T: Copy>(values: &[(&str, T)], name: &str, otherwise: T) -> T {
    let value = values.iter().find(|(known, _)| *known == name);
    value.map_or(otherwise, |(_, value)| *value)
}

/// A quantity, or a table such as `{ kind = "normal", mean = "33 ms", sd = "3 ms" }`.
impl<Q: Measured> Value for Distribution<Q> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if let Content::Table(table) = content {
            *self = read_table(table)?;
        } else {
            let mut value = Q::EXAMPLE;
            value.read(content, key)?;
            *self = Self::Constant(value);
        }
        Ok(())
    }

    fn print(&self) -> String {
        let (law, bounds) = match self {
            Self::Constant(value) => return value.print(),
            Self::Random(law, bounds) => (law, bounds),
        };
        let mut parts = Vec::new();
        let mut part = |name: &str, value: String| parts.push(format!("{name} = {value}"));
        let kind = match law {
            Law::LogNormalOf { .. } => None,
            Law::Uniform => Some("uniform"),
            Law::Exponential { .. } => Some("exponential"),
            Law::Normal { .. } => Some("normal"),
            Law::LogNormal { .. } => Some(LOG_NORMAL),
            Law::Pareto { .. } | Law::ParetoOf { .. } => Some("pareto"),
        };
        if let Some(kind) = kind {
            part("kind", quoted(kind));
        }
        for (name, value) in quantities(law) {
            part(name, value.print());
        }
        for (name, value) in numbers(law) {
            part(name, value.print());
        }
        for (name, bound) in [("least", bounds.least), ("most", bounds.most)] {
            if let Some(bound) = bound {
                part(name, bound.print());
            }
        }
        if bounds.outside == Outside::Clamp {
            part("outside", quoted("clamp"));
        }
        format!("{{ {} }}", parts.join(", "))
    }

    fn shape(&self) -> Shape {
        if !DESCRIBES {
            return Shape::Text;
        }
        let tables = FORMS.iter().map(table_of::<Q>).collect();
        Shape::Either(Box::new(Q::EXAMPLE.shape()), Box::new(Shape::Explained(EXPLAINED, tables)))
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        match self {
            Self::Constant(value) => value.compare(bound),
            Self::Random(..) => None,
        }
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        let (law, bounds) = match self {
            Self::Constant(value) => return value.check(key),
            Self::Random(law, bounds) => (law, bounds),
        };
        let named =
            |name: &str, mismatch: Mismatch| Mismatch::new(format!("{name}: {}", mismatch.message), mismatch.hint);
        for (name, value) in numbers(law) {
            check_number(name, value)?;
        }
        for (name, value) in quantities(law) {
            if value.number() <= 0.0 {
                return Err(Mismatch::new(
                    format!("{name}: {} is not above zero", value.print()),
                    "a quantity without spread is written alone, without a table",
                ));
            }
        }
        for (name, bound) in [("least", bounds.least), ("most", bounds.most)] {
            if let Some(bound) = bound {
                bound.check(key).map_err(|mismatch| named(name, mismatch))?;
            }
        }
        if let (Some(least), Some(most)) = (bounds.least, bounds.most)
            && least >= most
        {
            return Err(Mismatch::new(
                format!("least {} is not below most {}", least.print(), most.print()),
                "least below most",
            ));
        }
        if *law == Law::Uniform && (bounds.least.is_none() || bounds.most.is_none()) {
            return Err(Mismatch::new(
                "a distribution of kind uniform without least and most",
                "it has no other parameters",
            ));
        }
        let inverse = Inverse::new(*law, *bounds, f64::NEG_INFINITY, f64::INFINITY);
        if inverse.share_within().is_some_and(|share| share.is_nan() || share < LEAST_SHARE) {
            return Err(Mismatch::new(
                "less than a thousandth of this distribution lies between its bounds",
                "wider bounds, or another distribution",
            ));
        }
        let median = self.median();
        median.check(key).map_err(|mismatch| named("half of the draws", mismatch))
    }
}

fn check_number(name: &str, value: f64) -> Result<(), Mismatch> {
    match NUMBERS.iter().find(|(number, ..)| *number == name) {
        Some((_, least, most, _)) if !(*least..=*most).contains(&value) => {
            Err(Mismatch::new(format!("{name} = {value} is out of range"), format!("allowed are {least} to {most}")))
        }
        _ => Ok(()),
    }
}

/// The parameters of `law` that are quantities.
fn quantities<Q: Copy>(law: &Law<Q>) -> Vec<(&'static str, Q)> {
    match *law {
        Law::Uniform | Law::LogNormalOf { .. } => Vec::new(),
        Law::Exponential { mean } | Law::Pareto { mean, .. } => vec![("mean", mean)],
        Law::Normal { mean, sd } | Law::LogNormal { mean, sd } => vec![("mean", mean), ("sd", sd)],
        Law::ParetoOf { scale, .. } => vec![("scale", scale)],
    }
}

/// Those that are numbers.
fn numbers<Q>(law: &Law<Q>) -> Vec<(&'static str, f64)> {
    match *law {
        Law::LogNormalOf { mu, sigma } => vec![("mu", mu), ("sigma", sigma)],
        Law::Pareto { cv, .. } => vec![("cv", cv)],
        Law::ParetoOf { shape, .. } => vec![("shape", shape)],
        _ => Vec::new(),
    }
}

/// Returns the table of a form.
fn table_of<Q: Measured>(form: &Form) -> Shape {
    let quantity = || Q::EXAMPLE.shape();
    let field = |name, about, shape, required| Field { name, about, shape, required };
    let needs_kind = form.parameters != ["mu", "sigma"];
    let is_uniform = form.parameters.is_empty();
    let mut fields = vec![field("kind", form.about, Shape::Words(vec![(form.kind, form.about)]), needs_kind)];
    for &name in form.parameters {
        let number = NUMBERS.iter().find(|(number, ..)| *number == name);
        fields.push(if let Some((.., about)) = number {
            field(name, about, Shape::Number, true)
        } else {
            let about = match name {
                "mean" => "mean",
                "sd" => "standard deviation",
                _ => "the least value",
            };
            field(name, about, quantity(), true)
        });
    }
    fields.push(field("least", "the least draw", quantity(), is_uniform));
    fields.push(field("most", "the greatest draw", quantity(), is_uniform));
    let words = OUTSIDE.iter().map(|word| (word.name, word.about)).collect();
    fields.push(field("outside", "treatment of a draw beyond the bounds", Shape::Words(words), false));
    Shape::Table(fields)
}
