//! Keys of probes.
//!
//! Source: Flent's tests and settings; draft-ietf-ippm-responsiveness. Deviations: none known.

use sojourn_base::{Bytes, Span};
use sojourn_keys::{Configured, Or, Profile, Visitor, Word, Words, key};

use super::{Probe, ProbeConfig, ProbeOver};
use crate::ApplicationKind;
use crate::keys::{LONGEST_PAUSE, start_keys};

const OVER: [Word<ProbeOver>; 2] = [
    Word {
        name: "datagrams",
        value: ProbeOver::Datagrams,
        about: "echoed datagrams, as of irtt and ping",
    },
    Word {
        name: "connections",
        value: ProbeOver::Connections,
        about: "a new connection for each question, and one that is kept",
    },
];

impl Configured for ProbeConfig {
    const KIND: &'static str = "probe";
    const ABOUT: &'static str =
        "small questions at a regular interval, and how long their answers take";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "flent",
            about: "Flent's pings: 64 B every 200 ms, the load from 5 s on",
            values: || Self::FLENT,
        },
        Profile {
            name: "responsiveness",
            about: "draft-ietf-ippm-responsiveness: foreign and self probes every 100 ms",
            values: || Self::RESPONSIVENESS,
        },
    ];

    fn base() -> Self {
        Self::FLENT
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("over", "what it asks over", "Flent: datagrams"),
            &mut Words {
                value: &mut self.over,
                words: &OVER,
            },
        );
        visitor.value(
            key(
                "packet",
                "length of an echoed datagram",
                "chosen: irtt's, 64 B",
            )
            .least("28 B")
            .most("64 KiB"),
            &mut self.packet,
        );
        visitor.value(
            key(
                "request",
                "application bytes of a question over connections, and of its answer",
                "chosen: the headers of an HTTP request",
            )
            .least("1 B")
            .most("1 MB"),
            &mut self.request,
        );
        visitor.value(
            key(
                "interval",
                "time from question to question",
                "Flent STEP_SIZE: 200 ms",
            )
            .least("1 ms")
            .most("1 h"),
            &mut self.interval,
        );
        start_keys(&mut self.start, &mut self.start_jitter, visitor);
        visitor.value(
            key(
                "loaded_from",
                "when the load begins that it watches; before that is idle",
                "Flent DELAY: 5 s",
            )
            .most(LONGEST_PAUSE)
            .unit("s"),
            &mut self.loaded_from,
        );
        visitor.value(
            key(
                "loaded_until",
                "when that load ends",
                "chosen: with the run",
            )
            .most(LONGEST_PAUSE),
            &mut Or {
                value: &mut self.loaded_until,
                word: "never",
                example: Span::from_s(65),
            },
        );
    }
}

impl ApplicationKind for ProbeConfig {
    type Application = Probe;

    fn build(&self) -> Probe {
        Probe::new(self)
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        (self.over == ProbeOver::Datagrams).then_some(("packet", self.packet))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}
