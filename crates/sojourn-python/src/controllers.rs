//! Congestion controllers that are plugins: a file of somebody's answers to the events of [`CongestionControl`].
//!
//! A stack asks for one by `controller = { kind = "plugin", name = "NAME" }`, after `add_plugin` has made the file known, as for
//! queue managers. Window and threshold stay here; Python says what becomes of them. After its first mistake a controller is
//! Reno until the run ends.
//!
//! Source: none; see `docs/decisions/0012-plugins.md`. Deviations: none known.

use crate::managers::{PluginConfig, factory_of, remember, returned};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_base::{BitRate, Instant, Span};
use sojourn_transport::congestion::{
    Ack, AnyController, Cause, Congestion, CongestionControl, Connection, ControllerKind, Requests,
    Window,
};
use std::sync::Once;

/// Segments of a window at most. chosen: more than any receive window.
const LARGEST: f64 = 1e9;

impl ControllerKind for PluginConfig {
    fn build(&self, connection: &Connection) -> AnyController {
        AnyController::other(PythonController::new(self.name(), connection))
    }
}

/// What a controller learns from an acknowledgement; times in seconds, windows in segments.
#[pyclass(frozen, get_all, module = "sojourn._engine")]
pub struct Acknowledgement {
    /// When it arrived.
    now: f64,
    /// Segments that it acknowledges for the first time.
    acked: u32,
    /// Those of them that were marked, if the peer counts marks.
    marks: u32,
    /// Whether it echoes a mark.
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
    /// Whether new data are acknowledged, and the sender does not repair losses.
    may_change: bool,
    /// Whether the window was used, too.
    may_grow: bool,
}

/// What a controller says of itself, and which of the calls that it may leave out it has.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a class"
)]
struct Has {
    on_ack: bool,
    on_restart: bool,
    pacing_rate: bool,
    /// Below the threshold the stack's slow start grows the window.
    slow_start: bool,
    /// Windows are finer than segments, and acknowledgements with marks may grow them.
    scalable: bool,
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
        let mut made = Self {
            name: name.into(),
            object: None,
            has: Has::default(),
            rate: None,
        };
        let found = Python::attach(|py| {
            let factory = factory_of(py, name)
                .ok_or_else(|| PyValueError::new_err("it was not given to this run"))?;
            let object = factory.call1(
                py,
                (connection.maximum_segment_size, connection.initial_window),
            )?;
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
                slow_start: said("slow_start", true)?,
                scalable: said("scalable", false)?,
            };
            Ok((object, has))
        });
        returned();
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
        let answer = Python::attach(|py| {
            let answer = call(object.bind(py))?;
            if answer.is_none() {
                return Ok(None);
            }
            let number: f64 = answer.extract()?;
            if number.is_finite() && number >= 0.0 {
                return Ok(Some(number));
            }
            Err(PyValueError::new_err(format!(
                "{method} returned {number}, which is no window and no rate"
            )))
        });
        returned();
        answer.unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }
}

impl Clone for PythonController {
    fn clone(&self) -> Self {
        let mut copy = Self {
            name: self.name.clone(),
            object: None,
            ..*self
        };
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
            ..Requests::NONE
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
            let rate = self.ask("pacing_rate", |it| it.call_method0("pacing_rate"));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` clamps, and the rate is not negative"
            )]
            let rate = rate.map(|bps| BitRate::from_bps((bps as u64).max(1)));
            self.rate = rate;
        }
    }

    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
        let told = told(ack, window);
        let grown = self.ask("on_congestion_avoidance", |it| {
            it.call_method1("on_congestion_avoidance", (acked, told))
        });
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
        let threshold = self.ask("on_congestion", |it| {
            it.call_method1("on_congestion", (cause, base, size, now))
        });
        threshold.map_or(base / 2.0, |threshold| threshold.min(LARGEST))
    }

    fn on_restart(&mut self, idle: Span, window: &mut Window) {
        if !self.has.on_restart {
            return;
        }
        let (idle, size) = (idle.as_secs_f64(), window.size);
        let restarted = self.ask("on_restart", |it| {
            it.call_method1("on_restart", (idle, size))
        });
        if let Some(size) = restarted {
            window.size = size.clamp(1.0, LARGEST);
        }
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.rate
    }
}

fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::ZERO).as_secs_f64()
}

fn told(ack: &Ack, window: &Window) -> Acknowledgement {
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
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static KIND: Once = Once::new();
    KIND.call_once(|| {
        sojourn_transport::congestion::add_controller::<PluginConfig>()
            .expect("nobody else adds kinds to this module");
    });
    module.add_class::<Acknowledgement>()
}
