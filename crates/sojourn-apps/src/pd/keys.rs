//! Keys of progressive downloads.
//!
//! Source: Akhtar 2013, "HAS and PD Traffic Modeling Assumptions". Deviations: none known.

use sojourn_base::{Direction, Span};
use sojourn_keys::{Configured, Kind, Mismatch, OneOf, Or, Profile, Visitor, key};

use super::{Pd, PdConfig, SOURCE_BYTES, ServerPacing};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, request_key, start_keys};

const SLIDES: &str = "Akhtar 2013, HAS and PD Traffic Modeling Assumptions";
const RANDOM: &str = "Akhtar 2013, Simulations - Randomization";

impl Configured for PdConfig {
    const KIND: &'static str = "pd";
    const ABOUT: &'static str = "progressive downloads: whole videos that are played as they come";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "akhtar2013",
        about: "Akhtar 2013: videos of 38 MB, played at 1.128 Mb/s, one every 350 s",
        values: || Self::AKHTAR2013,
    }];

    fn base() -> Self {
        Self::AKHTAR2013
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "sources",
                "number of independent sources of requests",
                "chosen: one; Akhtar 2013, Traffic Loads: two to five",
            )
            .least("1")
            .most("10000"),
            &mut self.sources,
        );
        visitor.value(key("size", "size of a video", SLIDES), &mut self.size);
        visitor.value(
            key(
                "gap",
                "time from request to request of a source, whether or not the video before it has come",
                "Akhtar 2013, Traffic Loads",
            ),
            &mut self.gap,
        );
        visitor.value(
            key("rate", "rate at which a video is played", SLIDES)
                .least("1 kb/s")
                .most("1 Gb/s")
                .unit("Mb/s"),
            &mut self.rate,
        );
        visitor.value(
            key(
                "resume",
                "playback begins with so much of it",
                "chosen: 5 s",
            )
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.resume,
        );
        visitor.choice(
            key(
                "server_pacing",
                "how fast the server sends",
                "chosen: Akhtar 2013 does not say; as fast as the connection lets it",
            ),
            &mut OneOf::new(&mut self.server_pacing, &PACINGS, |pacing| match pacing {
                ServerPacing::Off => "off",
                ServerPacing::Paced { .. } => "paced",
            }),
        );
        visitor.value(
            key(
                "schedules",
                "schedules that were computed beforehand; a run draws one of them",
                RANDOM,
            )
            .least("1")
            .most("1000000"),
            &mut self.schedules,
        );
        visitor.value(
            key(
                "library",
                "number that the schedules follow from; the seed of a run does not enter them",
                "chosen: any number",
            ),
            &mut self.library,
        );
        visitor.value(
            key(
                "schedule_length",
                "a schedule has no requests after this",
                "chosen: schedules outlast every run",
            )
            .least("1 s")
            .most(LONGEST_PAUSE),
            &mut Or {
                value: &mut self.schedule_length,
                word: "endless",
                example: Span::from_s(6000),
            },
        );
        request_key(&mut self.request, visitor);
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

const PACINGS: [Kind<ServerPacing>; 2] = [
    Kind {
        name: "off",
        about: "as fast as the connection lets it",
        base: || ServerPacing::Off,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "paced",
        about: "a burst, then a little faster than the video is played",
        base: || ServerPacing::PACED,
        profiles: &[],
        keys: |pacing, visitor| {
            if let ServerPacing::Paced { burst, factor } = pacing {
                visitor.value(
                    key("burst", "media that are sent at once", "chosen: 40 s")
                        .most(LONGEST_PAUSE)
                        .unit("s"),
                    burst,
                );
                visitor.value(
                    key(
                        "factor",
                        "rate of the rest, as a multiple of the rate at which the video is played",
                        "chosen: 1.25",
                    )
                    .least("0.1")
                    .most("100"),
                    factor,
                );
            }
        },
    },
];

impl ApplicationKind for PdConfig {
    type Application = Pd;

    fn build(&self) -> Pd {
        Pd::new(self)
    }

    fn flows(&self) -> u64 {
        // A request comes whether or not the one before it is done. chosen: four of a source at a time.
        4 * u64::from(self.sources)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.sources) * SOURCE_BYTES
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)> {
        match self.schedule_length {
            Some(length) if self.start.saturating_add(length) < duration => vec![(
                "schedule_length",
                Mismatch::new(
                    format!("a schedule of {length} ends before the run ({duration})"),
                    format!("at least \"{duration}\", \"endless\", or a shorter run"),
                ),
            )],
            _ => Vec::new(),
        }
    }
}
