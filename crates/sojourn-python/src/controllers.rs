//! Congestion controllers that are plugins: a user's file answers the events of [`CongestionControl`].
//!
//! A stack asks for one by `controller = { kind = "plugin", name = "NAME" }`, after `add_plugin` has made the file
//! known, as for queue managers. Window and threshold stay here; Python decides their changes. After its first mistake
//! a controller is Reno until the run ends.
//!
//! Source: none; see `docs/decisions/0012-plugins.md`. Deviations: none known.

use crate::managers::{PluginConfig, calling, factory_of, remember};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_base::{BitRate, Instant, Span};
use sojourn_transport::congestion::{
    Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, ControllerState, Requests,
    Window,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, Once, PoisonError};

/// Segments of a window at most. chosen: more than any receive window.
const LARGEST: f64 = 1e9;

impl ControllerKind for PluginConfig {
    fn build(&self, connection: &Connection) -> AnyController {
        AnyController::other(PythonController::new(self.name(), connection))
    }
}

/// Arguments of an acknowledgement for a controller; times in seconds, windows in segments.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one acknowledgement")]
#[pyclass(frozen, get_all, module = "sojourn._engine")]
pub struct Acknowledgement {
    /// Time of its arrival.
    now: f64,
    /// Segments that it acknowledges for the first time.
    acked: u32,
    /// Those of them that were marked, if the peer counts marks.
    marks: u32,
    /// True if it echoes a mark.
    marked: bool,
    /// Its round trip, if it gives one.
    round_trip: Option<f64>,
    /// The smoothed round trip.
    smoothed: f64,
    /// Segments outstanding before it.
    flight: u32,
    /// Lowest unacknowledged segment, and next new one: a round trip ends when the one passes what the other was.
    first: u32,
    next: u32,
    window: f64,
    threshold: f64,
    /// True if new data are acknowledged, and the sender does not repair losses.
    may_change: bool,
    /// True if the window was fully used, too.
    may_grow: bool,
    /// How fast the network delivered, b/s of data, if the controller asks for samples of the rate and there is one.
    rate: Option<f64>,
    /// True if the application had nothing to send then: the network may be faster.
    application_limited: bool,
    /// Segments found lost since the sample before, and segments in the network now.
    newly_lost: u32,
    in_flight: u32,
    /// Bytes delivered in total, and those when the newest segment of the acknowledgement was sent: a round ends when the one
    /// passes what the other was.
    delivered: u64,
    delivered_before: u64,
}

/// Properties of a controller's class, and its optional methods.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a class")]
struct Has {
    on_ack: bool,
    on_restart: bool,
    pacing_rate: bool,
    state: bool,
    /// Below the threshold the stack's slow start grows the window.
    slow_start: bool,
    /// Windows are finer than segments, and acknowledgements with marks may grow them.
    scalable: bool,
    /// Acknowledgements come with samples of the rate of delivery.
    rate_samples: bool,
}

/// One controller of a connection.
#[derive(Debug)]
struct PythonController {
    name: String,
    /// Nothing after a mistake.
    object: Option<Py<PyAny>>,
    has: Has,
    rate: Option<BitRate>,
}

impl PythonController {
    fn new(name: &str, connection: &Connection) -> Self {
        let mut made = Self { name: name.into(), object: None, has: Has::default(), rate: None };
        let found = calling(|| {
            Python::attach(|py| {
                let factory =
                    factory_of(py, name).ok_or_else(|| PyValueError::new_err("it was not given to this run"))?;
                let object = factory.call1(py, (connection.maximum_segment_size, connection.initial_window))?;
                let bound = object.bind(py);
                let has = |method: &str| bound.hasattr(method);
                let said = |word: &str, default: bool| match bound.getattr_opt(word)? {
                    Some(own) => own.is_truthy(),
                    None => Ok(default),
                };
                let has = Has {
                    on_ack: has("on_ack")?,
                    on_restart: has("on_restart")?,
                    pacing_rate: has("pacing_rate")?,
                    state: has("state")?,
                    slow_start: said("slow_start", true)?,
                    scalable: said("scalable", false)?,
                    rate_samples: said("rate_samples", false)?,
                };
                Ok((object, has))
            })
        });
        match found {
            Ok((object, has)) => {
                made.object = Some(object);
                made.has = has;
            }
            Err(error) => made.fail(error),
        }
        made
    }

    /// Remembers the first mistake of the run, which ends it.
    fn fail(&mut self, error: PyErr) {
        self.object = None;
        remember("congestion controller", &self.name, error);
    }

    /// Calls a method for a number; nothing if it returns none, or was a mistake.
    fn ask<F>(&mut self, method: &str, call: F) -> Option<f64>
    where
        F: for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    {
        let object = self.object.as_ref()?;
        let answer = calling(|| {
            Python::attach(|py| {
                let answer = call(object.bind(py))?;
                if answer.is_none() {
                    return Ok(None);
                }
                let number: f64 = answer.extract()?;
                if number.is_finite() && number >= 0.0 {
                    return Ok(Some(number));
                }
                Err(PyValueError::new_err(format!("{method} returned {number}, which is no window and no rate")))
            })
        });
        answer.unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }
}

impl Clone for PythonController {
    fn clone(&self) -> Self {
        let mut copy = Self { name: self.name.clone(), object: None, ..*self };
        if let Some(object) = &self.object {
            let copied = Python::attach(|py| {
                let copied = py.import("copy")?.call_method1("deepcopy", (object,))?;
                Ok(copied.unbind())
            });
            match copied {
                Ok(object) => copy.object = Some(object),
                Err(error) => copy.fail(error),
            }
        }
        copy
    }
}

impl CongestionControl for PythonController {
    fn requests(&self) -> Requests {
        Requests {
            fractions: self.has.scalable,
            growth_with_marks: self.has.scalable,
            pacing: self.has.pacing_rate,
            rate_samples: self.has.rate_samples,
            own_window: false,
        }
    }

    fn in_slow_start(&self, window: &Window) -> bool {
        self.has.slow_start && window.size < window.threshold
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.has.on_ack {
            let told = told(ack, window);
            if let Some(size) = self.ask("on_ack", |it| it.call_method1("on_ack", (told,))) {
                window.size = size.clamp(1.0, LARGEST);
            }
        }
        if self.has.pacing_rate {
            let wanted = self.ask("pacing_rate", |it| it.call_method0("pacing_rate"));
            self.rate = wanted.map(rate);
        }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        let told = told(ack, window);
        let grown = self.ask("on_congestion_avoidance", |it| it.call_method1("on_congestion_avoidance", (acked, told)));
        if let Some(size) = grown {
            window.size = size.clamp(1.0, LARGEST);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
        let cause = match event.cause {
            Cause::Loss => "loss",
            Cause::Mark => "mark",
            Cause::Timeout => "timeout",
        };
        let (now, base, size) = (seconds(event.now), event.base, window.size);
        let threshold = self.ask("on_congestion", |it| it.call_method1("on_congestion", (cause, base, size, now)));
        threshold.map_or(base / 2.0, |threshold| threshold.min(LARGEST))
    }

    fn on_restart(&mut self, idle: Span, window: &mut Window) {
        if !self.has.on_restart {
            return;
        }
        let (idle, size) = (idle.as_secs_f64(), window.size);
        let restarted = self.ask("on_restart", |it| it.call_method1("on_restart", (idle, size)));
        if let Some(size) = restarted {
            window.size = size.clamp(1.0, LARGEST);
        }
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.rate
    }

    fn state(&self) -> ControllerState {
        let Some(object) = self.object.as_ref().filter(|_| self.has.state) else {
            return ControllerState::default();
        };
        let told = calling(|| {
            Python::attach(|py| {
                let (word, bandwidth, bound): (String, Option<f64>, Option<f64>) =
                    object.call_method0(py, "state")?.extract(py)?;
                Ok(ControllerState { phase: Some(kept(&word)?), bandwidth: bandwidth.map(rate), bound })
            })
        });
        told.unwrap_or_else(|error| {
            remember("congestion controller", &self.name, error);
            ControllerState::default()
        })
    }
}

/// A word that stays for the process: controllers have few.
fn kept(word: &str) -> PyResult<&'static str> {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(word) {
        return Ok(known);
    }
    if word.is_empty() || word.len() > LONGEST_WORD || words.len() == MOST_WORDS {
        return Err(PyValueError::new_err(format!(
            "state returned a word of {} bytes after {} others; there may be {MOST_WORDS} of up to {LONGEST_WORD}",
            word.len(),
            words.len()
        )));
    }
    let word: &'static str = String::leak(word.to_owned());
    words.insert(word);
    Ok(word)
}

/// Words for states, and bytes of one. chosen: BBR has seven of up to 14; a number in a word would make one for each row.
const MOST_WORDS: usize = 64;
const LONGEST_WORD: usize = 32;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` clamps")]
fn rate(bps: f64) -> BitRate {
    BitRate::from_bps((bps as u64).max(1))
}

fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::ZERO).as_secs_f64()
}

fn told(ack: &Ack, window: &Window) -> Acknowledgement {
    let sample = ack.rate.as_ref();
    Acknowledgement {
        now: seconds(ack.now),
        acked: ack.acked,
        marks: ack.marks,
        marked: ack.marked,
        round_trip: ack.round_trip.map(Span::as_secs_f64),
        smoothed: ack.smoothed.as_secs_f64(),
        flight: ack.flight_before,
        first: ack.first,
        next: ack.next,
        window: window.size,
        threshold: window.threshold,
        may_change: ack.may_change,
        may_grow: ack.may_grow,
        rate: sample.map(|sample| sample.rate().as_bps() as f64),
        application_limited: sample.is_some_and(|sample| sample.application_limited),
        newly_lost: sample.map_or(0, |sample| sample.newly_lost),
        in_flight: sample.map_or(ack.flight_before, |sample| sample.in_flight),
        delivered: sample.map_or(0, |sample| sample.delivered_in_total.0),
        delivered_before: sample.map_or(0, |sample| sample.delivered_before.0),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static KIND: Once = Once::new();
    KIND.call_once(|| {
        sojourn_transport::congestion::add_controller::<PluginConfig>().expect("only this module adds this kind");
    });
    module.add_class::<Acknowledgement>()
}
