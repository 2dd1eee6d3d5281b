//! The engine as a module of WebAssembly.
//!
//! Fourteen functions of numbers and byte ranges, and nothing that they need from outside: no clock, no randomness, no
//! file. Texts go in as a range that the caller got from [`alloc`]; what comes out lies in one place that [`result`] and
//! [`length`] tell and the next call overwrites. Sessions have numbers; one that does not exist does nothing and gives 0.
//!
//! A panic is a trap, and its message is the result.
//!
//! Functions are safe for callers in a tab: a wrong range reads wrong bytes of this module's memory, which holds only
//! data of the tab.

#![expect(unsafe_code, reason = "the boundary of the module: exported names, and ranges that the caller fills")]

mod digest;

use core::fmt::Write as _;
use core::slice;
use sojourn_base::{Instant, Seed, Span};
use sojourn_engine::{Reached, memory};
use sojourn_live::session::quoted;
use sojourn_live::{Frame, MetricRow, Options, Session, Watch};
use sojourn_record::Table;
use sojourn_scenario::{Problem, Scenario, ScenarioFile};
use std::cell::RefCell;

/// State of the module between calls.
#[derive(Default)]
struct Module {
    sessions: Vec<Option<Session>>,
    result: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

fn with<T>(action: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with_borrow_mut(action)
}

impl Module {
    fn say(&mut self, text: &str) {
        self.result.clear();
        self.result.extend_from_slice(text.as_bytes());
    }

    fn show(&mut self, frame: Option<Frame>) -> u32 {
        self.result.clear();
        frame.map_or(0, |frame| {
            frame.write(&mut self.result);
            1
        })
    }

    fn session(&mut self, number: u32) -> Option<&mut Session> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        self.sessions.get_mut(place)?.as_mut()
    }
}

/// The text in a range that the caller has filled; what is no UTF-8 is replaced.
fn text(at: *const u8, length: usize) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller passes a range that it got from `alloc` and has not freed.
    let bytes = unsafe { slice::from_raw_parts(at, length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a range of `length` bytes that the caller may fill and has to [`free`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Gives back a range.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn free(at: *mut u8, length: usize) {
    // SAFETY: the caller got the range from `alloc` with this length and gives it back once.
    drop(unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(at, length)) });
}

/// Returns the place of the last call's result.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn result() -> *const u8 {
    with(|module| module.result.as_ptr())
}

/// How many bytes it has.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn length() -> usize {
    with(|module| module.result.len())
}

/// The version of the engine.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn version() {
    std::panic::set_hook(Box::new(|panic| {
        // The module may be borrowed by the call that panics: then the message is lost, and the trap is not.
        let _ = MODULE.try_with(|module| {
            if let Ok(mut module) = module.try_borrow_mut() {
                module.say(&panic.to_string());
            }
        });
    }));
    with(|module| module.say(env!("CARGO_PKG_VERSION")));
}

/// Reads a scenario with settings: lines of path, tab, value.
fn read(text: &str, settings: &str) -> (ScenarioFile, Result<Scenario, Vec<Problem>>) {
    match ScenarioFile::parse(text) {
        Err(problems) => {
            let nothing = ScenarioFile::parse("").expect("an empty text is TOML");
            (nothing, Err(problems.into_vec()))
        }
        Ok(mut file) => {
            for line in settings.lines() {
                if let Some((path, value)) = line.split_once('\t') {
                    file.set(path, value);
                }
            }
            let read = file.validate().map_err(sojourn_scenario::ScenarioProblems::into_vec);
            (file, read)
        }
    }
}

fn problems_as_json(problems: &[Problem]) -> String {
    let problems = problems.iter().map(|problem| {
        format!(
            "{{\"path\":{},\"message\":{},\"hint\":{},\"line\":{},\"column\":{}}}",
            quoted(&problem.path),
            quoted(&problem.message),
            quoted(&problem.hint),
            problem.line,
            problem.column
        )
    });
    format!("[{}]", problems.collect::<Vec<_>>().join(","))
}

/// Checks a scenario with settings. The result is JSON: problems, or name, duration, seed and how much memory it will take.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn check(at: *const u8, length: usize, settings: *const u8, settings_length: usize) -> u32 {
    let (_, scenario) = read(&text(at, length), &text(settings, settings_length));
    with(|module| match scenario {
        Ok(scenario) => {
            let needs: u64 = memory::needs(&scenario).iter().map(|need| need.bytes).sum();
            module.say(&format!(
                "{{\"name\":{},\"duration_s\":{},\"seed\":{},\"bytes\":{needs}}}",
                quoted(&scenario.name),
                scenario.duration.as_secs_f64(),
                scenario.seed.0
            ));
            1
        }
        Err(problems) => {
            module.say(&format!("{{\"problems\":{}}}", problems_as_json(&problems)));
            0
        }
    })
}

/// The text of a scenario with settings made in it, and every value that is in force if `explained`.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn set(
    at: *const u8,
    length: usize,
    settings: *const u8,
    settings_length: usize,
    explained: u32,
) -> u32 {
    let (file, scenario) = read(&text(at, length), &text(settings, settings_length));
    with(|module| match scenario {
        Ok(scenario) if explained != 0 => {
            module.say(&scenario.canonical());
            1
        }
        Ok(_) => {
            module.say(&file.text());
            1
        }
        Err(problems) => {
            module.say(&format!("{{\"problems\":{}}}", problems_as_json(&problems)));
            0
        }
    })
}

/// Opens a session and returns its number, or 0 with problems as result. `seconds` shortens the run, if it is not 0; no bin of
/// its series is narrower than `bin_ns`; `records` keeps all tables that the scenario asks for.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn open(
    at: *const u8,
    length: usize,
    settings: *const u8,
    settings_length: usize,
    seed: u32,
    seconds: f64,
    bin_ns: f64,
    records: u32,
) -> u32 {
    let (_, scenario) = read(&text(at, length), &text(settings, settings_length));
    let mut scenario = match scenario {
        Ok(scenario) => scenario,
        Err(problems) => {
            let problems = format!("{{\"problems\":{}}}", problems_as_json(&problems));
            with(|module| module.say(&problems));
            return 0;
        }
    };
    if seconds > 0.0 {
        scenario.duration = scenario.duration.min(Span::from_secs_f64(seconds));
    }
    let watch = if records == 0 { Watch::Pictures } else { Watch::Records };
    let session = Session::open(
        scenario,
        Options { seed: Seed(seed.into()), least_bin: instant(bin_ns).saturating_since(Instant::ZERO), watch },
    );
    with(|module| {
        module.result.clear();
        let free = module.sessions.iter().position(Option::is_none);
        let place = free.unwrap_or(module.sessions.len());
        if place == module.sessions.len() {
            module.sessions.push(None);
        }
        module.sessions[place] = Some(session);
        u32::try_from(place + 1).expect("few sessions")
    })
}

/// Handles the events before `until_ns`, but comes back after `steps`. 1: all of them; 2: steps; 3: the run is over.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn advance(session: u32, until_ns: f64, steps: u32) -> u32 {
    let until = instant(until_ns);
    with(|module| {
        module.session(session).map_or(0, |session| match session.advance(until, steps.into()) {
            Reached::Until => 1,
            Reached::Steps => 2,
            Reached::End => 3,
        })
    })
}

/// The time that a session has reached, in ns.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn now_ns(session: u32) -> f64 {
    with(|module| module.session(session).map_or(0.0, |session| session.now().as_ns() as f64))
}

/// Brings the series of a session up to now. The result is JSON that says what the numbers in frames mean.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn look(session: u32) -> u32 {
    with(|module| {
        let Some(session) = module.session(session) else {
            return 0;
        };
        session.look();
        let catalogue = session.catalogue();
        module.say(&catalogue);
        1
    })
}

/// Makes a frame: of `kind` 1 the rows of series `number` between two times for a picture of this width in pixels, of 2
/// the drops and marks from number `first` on, of 3 the packets of flow `number` from number `first` on.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn frame(
    session: u32,
    kind: u32,
    number: u32,
    first: u32,
    from_ns: f64,
    until_ns: f64,
    pixels: u32,
) -> u32 {
    with(|module| {
        let frame = module.session(session).and_then(|session| match kind {
            1 => {
                let span = (instant(from_ns), instant(until_ns));
                session.view(number as usize, span, pixels as usize)
            }
            2 => session.ticks(first as usize),
            3 => session.packets(number as usize, first as usize),
            _ => None,
        });
        module.show(frame)
    })
}

/// Bytes that the run of a session takes.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn bytes(session: u32) -> f64 {
    with(|module| module.session(session).map_or(0.0, |session| session.bytes() as f64))
}

/// Ends a session. If its run was over, the result is JSON with all metrics: rows of subject, name, value, unit; with
/// `columns`, a line for each column of its tables instead, with its hash.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn close(session: u32, columns: u32) -> u32 {
    with(|module| {
        module.result.clear();
        let place = session.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        let slot = place.and_then(|place| module.sessions.get_mut(place));
        let Some(session) = slot.and_then(Option::take) else {
            return 0;
        };
        let text = if columns == 0 {
            session.metrics().map(|metrics| metrics_as_json(&metrics))
        } else {
            session.tables().map(|tables| hashes(&tables))
        };
        let Some(text) = text else {
            return 0;
        };
        module.say(&text);
        1
    })
}

fn metrics_as_json(metrics: &[MetricRow]) -> String {
    let rows = metrics.iter().map(|(subject, name, value, unit)| {
        // JSON has no number that is none.
        let value = if value.is_finite() { value.to_string() } else { "null".to_owned() };
        let [subject, name, unit] = [subject.as_str(), name, unit].map(quoted);
        format!("[{subject},{name},{value},{unit}]")
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// A line for each column, with its hash.
fn hashes(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        for column in &table.columns {
            let (hash, rows) = (digest::hash_column(&column.data), column.data.len());
            writeln!(text, "{hash} {rows:5} {}.{}", table.name, column.name).expect("a string takes everything");
        }
    }
    text
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates: what is no time is the beginning, what is too late the end"
)]
fn instant(ns: f64) -> Instant {
    Instant::from_ns((ns as u64).min(u64::MAX / 1000))
}
