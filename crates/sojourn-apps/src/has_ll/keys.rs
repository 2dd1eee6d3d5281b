//! Keys of low-latency live streaming.
//!
//! Source: see [`crate::has_ll`]. Deviations: none known.

use sojourn_base::{Direction, Span};
use sojourn_keys::{Configured, Kind, Mismatch, OneOf, Or, Profile, Visitor, key};

use super::{HasLl, HasLlConfig};
use crate::ApplicationKind;
use crate::has::ThroughputBufferConfig;
use crate::has::keys::{content_key, ladder_key, session_keys, throughput_keys};
use crate::keys::{LONGEST_PAUSE, request_key, start_keys};

impl Configured for HasLlConfig {
    const KIND: &'static str = "has-ll";
    const ABOUT: &'static str =
        "low-latency live streaming: parts of segments pushed as they are encoded, seconds behind";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "low-latency",
        about: "five levels from 0.8 to 8 Mb/s, segments of 2 s in parts of 200 ms, a target of 3 s",
        values: Self::low_latency,
    }];

    fn base() -> Self {
        Self::low_latency()
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        ladder_key(
            &mut self.ladder,
            "chosen: a ladder of live sport up to 1080p",
            visitor,
        );
        self.time_keys(visitor);
        self.playback_keys(visitor);
        visitor.choice(
            key(
                "rule",
                "how the player chooses the level of a segment",
                "chosen: as of players with a long buffer",
            ),
            &mut OneOf::new(&mut self.rule, &RULES, |_| "throughput-buffer"),
        );
        visitor.value(
            key(
                "window",
                "the throughput is measured in windows of this length",
                "chosen: five parts",
            )
            .least("1 ms")
            .most("1 h")
            .unit("s"),
            &mut self.window,
        );
        content_key(
            &mut self.content,
            "how large the segments are",
            "chosen: encoders of live streams hold their rate",
            visitor,
        );
        request_key(&mut self.request, visitor);
        session_keys(
            (&mut self.sessions, "chosen: one"),
            (
                &mut self.stagger,
                "chosen: as of players with a long buffer",
            ),
            visitor,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
    }
}

impl HasLlConfig {
    fn time_keys(&mut self, visitor: &mut dyn Visitor) {
        let media =
            |name, about, origin| key(name, about, origin).least("1 ms").most("1 h").unit("s");
        visitor.value(
            media(
                "segment",
                "media in a segment, with each of which the level is chosen anew",
                "chosen: 2 s",
            ),
            &mut self.segment,
        );
        visitor.value(
            media(
                "part",
                "media in a part, which is sent as soon as it is encoded",
                "chosen: a tenth of a segment",
            ),
            &mut self.part,
        );
        visitor.value(
            media(
                "target",
                "media that the player wants in its buffer when a part has come",
                "chosen: 3 s, as dash.js for low latency",
            ),
            &mut self.target,
        );
    }

    fn playback_keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "tolerance",
                "it plays faster or slower when the buffer is so far from the target",
                "chosen: two parts",
            )
            .most("1 h")
            .unit("s"),
            &mut self.tolerance,
        );
        visitor.value(
            key(
                "catch_up",
                "by this share of the speed",
                "chosen: 5 %, which viewers hardly notice",
            )
            .least("0")
            .most("0.5"),
            &mut self.catch_up,
        );
        visitor.value(
            key(
                "resume",
                "playback begins, and goes on after a stall, with so much in the buffer",
                "chosen: five parts",
            )
            .most("1 h")
            .unit("s"),
            &mut self.resume,
        );
        visitor.value(
            key(
                "skip_from",
                "a player that is so far behind what happens leaves media out to be near again",
                "chosen: three times the target, and a second",
            )
            .least("1 ms")
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut Or {
                value: &mut self.skip_from,
                word: "never",
                example: Span::from_s(10),
            },
        );
    }
}

const RULES: [Kind<ThroughputBufferConfig>; 1] = [Kind {
    name: "throughput-buffer",
    about: "as much as the throughput of the last windows allows, downwards late, upwards step by step",
    base: || ThroughputBufferConfig::LOW_LATENCY,
    profiles: &[],
    keys: |rule, visitor| {
        throughput_keys(
            rule,
            "windows of throughput that make the estimate, by their harmonic mean",
            "chosen: three, seven and eight tenths of a buffer of 3 s",
            visitor,
        );
    },
}];

impl ApplicationKind for HasLlConfig {
    type Application = HasLl;

    fn build(&self) -> HasLl {
        HasLl::new(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.sessions)
    }

    fn bytes(&self) -> u64 {
        HasLl::bytes(self)
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, _duration: Span) -> Vec<(&'static str, Mismatch)> {
        Self::problems(self)
    }
}
