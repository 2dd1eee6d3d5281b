//! Keys of bulk transfers, and how the size of a file is spelt.
//!
//! Source: White 2012 §3.2.1, White 2013 §3.6 and Table 2. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::value::quoted;
use sojourn_keys::{Configured, Content, Key, Mismatch, Or, Profile, Shape, Value, Visitor, key};

use super::{Bulk, BulkConfig, FileSize};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, MOST_FLOWS, direction_key, start_keys};

impl Configured for BulkConfig {
    const KIND: &'static str = "bulk";
    const ABOUT: &'static str = "file transfers in parallel loops";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "continuous",
            about: "White 2012 §3.2.1: one upload without end",
            values: || Self::CONTINUOUS,
        },
        Profile {
            name: "repeating",
            about: "White 2013 Table 2: five loops of 5 MB uploads",
            values: || Self::REPEATING,
        },
        Profile {
            name: "bursty",
            about: "White 2012 §3.2.1: 18.75 MB every 30 s over one connection",
            values: || Self::BURSTY,
        },
        Profile {
            name: "small-files",
            about: "White 2013 Table 2: ten loops of 256,000 B uploads",
            values: || Self::SMALL_FILES,
        },
        Profile {
            name: "bittorrent",
            about: "White 2013 §3.6: 32 uploads of 256,000 B pieces",
            values: || Self::BITTORRENT,
        },
    ];

    fn base() -> Self {
        Self::CONTINUOUS
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        direction_key(&mut self.direction, visitor);
        visitor.value(
            key(
                "lanes",
                "number of parallel loops",
                "White 2012 §3.2.1: one",
            )
            .least("1")
            .most(MOST_FLOWS),
            &mut self.lanes,
        );
        visitor.value(
            key(
                "file",
                "what a loop sends before it pauses",
                "White 2012 §3.2.1",
            ),
            &mut self.file,
        );
        visitor.value(
            key(
                "gap",
                "pause from the last acknowledgement of a file to the start of the next",
                "White 2012 §3.2.1: none",
            )
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.gap,
        );
        visitor.value(
        key(
            "period",
            "a file at these regular intervals instead, behind the one before it if that has not gone",
            "White 2012 §3.2.1: none but for the bursty upload",
        )
        .least("1 ms")
        .most(LONGEST_PAUSE),
        &mut Or {
            value: &mut self.period,
            word: "off",
            example: Span::from_s(30),
        },
    );
        visitor.value(
            key(
                "reuse_connection",
                "send all files of a loop over one connection",
                "chosen: a new connection for each file",
            ),
            &mut self.reuse_connection,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
        if self.stop.is_some() || visitor.has("stop") || visitor.is_exhaustive() {
            visitor.value(
                key(
                    "stop",
                    "when all loops end, whatever they are doing, as a measurement does",
                    "chosen: with the run",
                )
                .least("1 ms")
                .most(LONGEST_PAUSE),
                &mut Or {
                    value: &mut self.stop,
                    word: "never",
                    example: Span::from_s(65),
                },
            );
        }
    }
}

impl ApplicationKind for BulkConfig {
    type Application = Bulk;

    fn build(&self) -> Bulk {
        Bulk::new(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.lanes)
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

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
