//! How the size of a file is spelt.
//!
//! Source: none; the spelling is the project's own. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::Bytes;
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Or, Shape, Value};

use super::FileSize;

/// The word for [`FileSize::Endless`].
const ENDLESS: &str = "endless";

/// `"endless"`, a size, or a log-normal distribution `{ mu = …, sigma = … }`.
impl Value for FileSize {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if let Content::Table(table) = content {
            let number = |name: &str| {
                let mut value = f64::NAN;
                let node = table.get(name).ok_or_else(|| {
                    Mismatch::new(
                        format!("a distribution without {name}"),
                        "for instance { mu = 14.8, sigma = 2.0 }",
                    )
                })?;
                value.read(&node.content, key)?;
                Ok(value)
            };
            let (mu, sigma) = (number("mu")?, number("sigma")?);
            if let Some((other, _)) = table
                .iter()
                .find(|(name, _)| !matches!(*name, "mu" | "sigma"))
            {
                return Err(Mismatch::new(
                    format!("a distribution with {}", quoted(other)),
                    "mu and sigma are all it has",
                ));
            }
            *self = Self::LogNormal { mu, sigma };
            return Ok(());
        }
        let mut size = None;
        Or {
            value: &mut size,
            word: ENDLESS,
            example: Bytes(5_000_000),
        }
        .read(content, key)?;
        *self = size.map_or(Self::Endless, Self::Bytes);
        Ok(())
    }

    fn print(&self) -> String {
        match self {
            Self::Endless => quoted(ENDLESS),
            Self::Bytes(size) => size.print(),
            Self::LogNormal { mu, sigma } => format!("{{ mu = {mu:?}, sigma = {sigma:?} }}"),
        }
    }

    fn shape(&self) -> Shape {
        let sizes = Shape::Either(
            Box::new(Bytes(0).shape()),
            Box::new(Shape::Numbers(&LOG_NORMAL)),
        );
        Shape::WordOr(ENDLESS, Box::new(sizes))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, _key: &Key) -> Result<(), Mismatch> {
        match self {
            Self::Bytes(size) if size.0 == 0 || size.0 > MOST_BYTES => Err(Mismatch::new(
                format!("{size} is out of range"),
                format!("allowed are 1 B to {}, or \"{ENDLESS}\"", Bytes(MOST_BYTES)),
            )),
            // e^40 B are 235 PB; four standard deviations of 5 span nine decades each way.
            Self::LogNormal { mu, sigma }
                if !(0.0..=40.0).contains(mu) || !(0.0..=5.0).contains(sigma) =>
            {
                Err(Mismatch::new(
                    format!("mu = {mu}, sigma = {sigma} are out of range"),
                    "allowed are mu from 0 to 40 and sigma from 0 to 5",
                ))
            }
            _ => Ok(()),
        }
    }
}

const LOG_NORMAL: [(&str, &str); 2] = [
    ("mu", "mean of the natural logarithm of the bytes"),
    ("sigma", "standard deviation of the natural logarithm"),
];

/// Largest file. chosen: a petabyte; what is larger is endless.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
