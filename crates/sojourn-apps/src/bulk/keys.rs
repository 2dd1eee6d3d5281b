//! Keys of bulk transfers, and how the size of a file is spelt.
//!
//! Source: White 2012 §3.2.1, White 2013 §3.6 and Table 2. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::value::quoted;
use sojourn_keys::{Configured, Content, Key, Mismatch, Or, Profile, Shape, Value, Visitor, key};

use super::{Bulk, BulkConfig, FileSize, LANE_BYTES};
use crate::keys::{LONGEST_PAUSE, MOST_FLOWS, direction_key, start_keys};
use crate::{ApplicationKind, Distribution};

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
        Profile {
            name: "white2019-files",
            about: "White 2019 Appendix B: uploads of log-normal size, 100 ms apart",
            values: || Self::WHITE2019_FILES,
        },
        Profile {
            name: "white2019-video",
            about: "White 2019 Appendix B: 3.75 MB every 5 s, with cut-off and send buffer of docsis-ns3",
            values: || Self::WHITE2019_VIDEO,
        },
        Profile {
            name: "white2019-speed-test",
            about: "White 2019 §4.1: sixteen downloads without end",
            values: || Self::WHITE2019_SPEED_TEST,
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
            )
            .least("1 B")
            .most(MOST_BYTES),
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
        self.limit_keys(visitor);
        visitor.value(
            key(
                "reuse_connection",
                "send all files of a loop over one connection",
                "chosen: a new connection for each file",
            ),
            &mut self.reuse_connection,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
        if !self.stagger.is_zero() || visitor.has("stagger") || visitor.is_exhaustive() {
            visitor.value(
                key(
                    "stagger",
                    "how much later than the one before it each loop starts",
                    "chosen: all together; docsis-ns3: 1 s",
                )
                .most(LONGEST_PAUSE)
                .unit("s"),
                &mut self.stagger,
            );
        }
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

impl BulkConfig {
    /// Keys of what only some transfers have.
    fn limit_keys(&mut self, visitor: &mut dyn Visitor) {
        if self.cutoff.is_some() || visitor.has("cutoff") || visitor.is_exhaustive() {
            visitor.value(
                key(
                    "cutoff",
                    "a transfer that has not ended so long after its start is cut off, and the loop goes on",
                    "White 2019: none; docsis-ns3: 2.5 s for video, 15 s for speed tests",
                )
                .least("1 ms")
                .most(LONGEST_PAUSE),
                &mut Or {
                    value: &mut self.cutoff,
                    word: "off",
                    example: Span::from_s(15),
                },
            );
        }
        if self.send_buffer.is_some() || visitor.has("send_buffer") || visitor.is_exhaustive() {
            visitor.value(
                key(
                    "send_buffer",
                    "most bytes that are with the connection and not acknowledged",
                    "White 2019: none; docsis-ns3: 32,000 B for video",
                )
                .least("1500 B")
                .most("1 GB"),
                &mut Or {
                    value: &mut self.send_buffer,
                    word: "off",
                    example: Bytes(32_000),
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

    fn bytes(&self) -> u64 {
        u64::from(self.lanes) * LANE_BYTES
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// Largest file. chosen: a petabyte; what is larger is endless.
const MOST_BYTES: &str = "1000000 GB";

/// The word for [`FileSize::Endless`].
const ENDLESS: &str = "endless";

/// `"endless"`, a size, or a distribution of sizes.
impl Value for FileSize {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let mut size = None;
        Or {
            value: &mut size,
            word: ENDLESS,
            example: Distribution::Constant(Bytes(5_000_000)),
        }
        .read(content, key)?;
        *self = size.map_or(Self::Endless, Self::Of);
        Ok(())
    }

    fn print(&self) -> String {
        match self {
            Self::Endless => quoted(ENDLESS),
            Self::Of(size) => size.print(),
        }
    }

    fn shape(&self) -> Shape {
        let size = Distribution::Constant(Bytes(0));
        Shape::WordOr(ENDLESS, Box::new(size.shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        match self {
            Self::Endless => Ok(()),
            Self::Of(size) => size.check(key).map_err(|mismatch| {
                let hint = format!("{}, or \"{ENDLESS}\"", mismatch.hint);
                Mismatch::new(mismatch.message, hint)
            }),
        }
    }
}
