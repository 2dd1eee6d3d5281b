//! A scenario file: text whose spelling is right, and its values.
//!
//! Source: TOML 1.0 for the text; the keys are declared in `keys`. Deviations: none known.

use core::fmt;

use crate::change::follow;
use crate::check::{check, contradictions};
use crate::keys::scenario::Draft;
use crate::keys::stack;
use crate::model::Scenario;
use crate::overlay::{self, Overlay};
use crate::printer::Printer;
use crate::problem::{Problem, ScenarioProblems};
use crate::reader::{Notes, Origin, Reader, join};
use crate::{tree, writer};
use sojourn_base::BitRate;
use sojourn_keys::content::{Content, Table};
use sojourn_keys::nearest;
use sojourn_keys::value::{Mismatch, shown};

/// The text of a scenario, spelt as TOML, with the settings that were made on top of it.
#[derive(Clone)]
pub struct ScenarioFile {
    table: Table,
    /// Settings that have no place in the file, found out when they were made.
    misplaced: Vec<Problem>,
}

impl fmt::Debug for ScenarioFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScenarioFile")
            .field("keys", &self.table.iter().map(|(key, _)| key).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl ScenarioFile {
    /// Reads the text as TOML. Keys are not checked.
    pub fn parse(text: &str) -> Result<Self, ScenarioProblems> {
        // Editors of some systems put a byte-order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Self { table: tree::parse(text)?, misplaced: Vec::new() })
    }

    /// Reads the bytes of a file, which must be UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ScenarioProblems> {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let lines = before.split(|byte| *byte == b'\n').count();
                Err(ScenarioProblems::new(vec![Problem {
                    path: String::new(),
                    message: "not UTF-8 text".to_owned(),
                    hint: "a scenario is a text file; save it as UTF-8".to_owned(),
                    line: u32::try_from(lines).unwrap_or(u32::MAX),
                    column: 1,
                }]))
            }
        }
    }

    /// Lays `overlay` over the file; returns the entries that have no place in it, and lays the others.
    pub fn lay(&mut self, overlay: &Overlay) -> Vec<Problem> {
        overlay::lay(&mut self.table, overlay)
    }

    /// Puts `value` at the dotted key `path`, like an overlay with this value alone; only a table with a `kind` always
    /// replaces the file's table, even if its kind stays. The value is TOML, or else a text that needs no quotes.
    /// Traffic entries are addressed by their name: `traffic.bulk.stack`. Validation reports invalid settings.
    pub fn set(&mut self, path: &str, value: &str) {
        let Some(parts) = tree::parse_path(path.trim()) else {
            self.misplace(path, Mismatch::new("not a key path", "for instance access.upstream.queue.limit"));
            return;
        };
        if let [first, name, ..] = parts.as_slice()
            && first == "traffic"
        {
            let names = overlay::traffic_names(&self.table);
            if !names.contains(name) {
                let message = format!("traffic has no entry {}", shown(name));
                let near = nearest(name, names.iter().map(String::as_str));
                let hint = match near {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("entries of traffic are {}", names.join(", ")),
                };
                self.misplace(path, Mismatch::new(message, hint));
                return;
            }
        }
        let value = tree::parse_value(value);
        if let Content::Table(table) = &value.content
            && table.get("kind").is_some()
        {
            overlay::clear(&mut self.table, &parts);
        }
        let overlay = Overlay::at(&parts, value);
        for problem in self.lay(&overlay) {
            self.misplace(path, Mismatch::new(problem.message, problem.hint));
        }
    }

    /// Returns problems of settings that have no place in the file.
    pub fn misplaced(&self) -> &[Problem] {
        &self.misplaced
    }

    /// The file as TOML, with what was laid over it; comments are not kept.
    pub fn text(&self) -> String {
        writer::text(&self.table)
    }

    fn misplace(&mut self, path: &str, mismatch: Mismatch) {
        self.misplaced.push(Problem {
            path: path.trim().to_owned(),
            message: format!("cannot be set: {}", mismatch.message),
            hint: mismatch.hint,
            line: 0,
            column: 0,
        });
    }

    /// The complete scenario, or everything that is wrong with the file.
    pub fn validate(&self) -> Result<Scenario, ScenarioProblems> {
        self.read().map(|(draft, _)| draft.into_scenario())
    }

    /// The same for an emulation, whose traffic is that of real programs: it need not have any.
    pub fn validate_for_emulation(&self) -> Result<Scenario, ScenarioProblems> {
        self.read_as(true).map(|(draft, _)| draft.into_scenario())
    }

    /// The complete scenario as TOML, with a remark on each value that says where it comes from.
    pub fn explain(&self) -> Result<String, ScenarioProblems> {
        let (draft, notes) = self.read()?;
        // The servers' values are complete only in the scenario.
        let mut draft = Draft::of(&draft.into_scenario());
        let mut printer = Printer::explaining(notes.origins);
        draft.keys(&mut printer, true);
        Ok(printer.print())
    }

    /// Returns contradictions in a valid file, whose run differs from its keys. Empty if the file is not valid.
    pub fn warnings(&self) -> Vec<Problem> {
        self.read().map_or_else(|_| Vec::new(), |(draft, notes)| contradictions(&draft, &notes))
    }

    fn read(&self) -> Result<(Draft, Notes), ScenarioProblems> {
        self.read_as(false)
    }

    fn read_as(&self, is_emulated: bool) -> Result<(Draft, Notes), ScenarioProblems> {
        let mut notes = Notes::default();
        let mut draft = Draft::default();
        draft.is_emulated = is_emulated;
        let mut reader = Reader::new(&self.table, &mut notes);
        draft.keys(&mut reader, true);
        reader.finish();
        draft.expand_loads();
        draft.links_mut(|place, link| {
            let path = join(place, "link");
            let said = |key: &str| {
                let origin = notes.origins.get(&join(&path, key));
                !matches!(origin, None | Some(Origin::Default))
            };
            link.link.fit(said);
        });
        fit_stacks(&mut draft, &notes);
        if !is_emulated {
            refuse_real_packets(&draft, &mut notes);
        }
        check(&draft, &mut notes);
        if is_emulated && !draft.changes.is_empty() {
            let hint = "leave it out; conditions of a link change rates there";
            let mismatch = Mismatch::new("keys do not change during an emulation", hint);
            notes.problem("change", mismatch);
        } else if !draft.changes.is_empty() && notes.problems.is_empty() {
            let mut file = self.clone();
            file.table.remove("change");
            let mut read = |set: &[(String, String)], is_kept: bool| {
                let mut changed = file.clone();
                for (path, value) in set {
                    changed.set(path, value);
                }
                let scenario = changed.validate().map_err(ScenarioProblems::into_vec)?;
                if is_kept {
                    file = changed;
                }
                Ok(scenario)
            };
            follow(&mut read, &mut draft, &mut notes);
        }
        notes.problems.extend(self.misplaced.iter().cloned());
        if notes.problems.is_empty() { Ok((draft, notes)) } else { Err(ScenarioProblems::new(notes.problems)) }
    }
}

/// A simulation has nothing to do for an entry of real packets alone.
fn refuse_real_packets(draft: &Draft, notes: &mut Notes) {
    let absent = draft.entries().filter(|it| it.traffic.application.is_absent);
    let places: Vec<String> = absent.map(|it| join(&it.place(), "app")).collect();
    for place in places {
        let hint = "an application, for instance \"voice\"; without it the entry is for sojourn emulate alone";
        notes.problem(&place, Mismatch::new("is missing", hint));
    }
}

/// Parameters of ns-2 stacks that follow from others, unless the file gives them: the receive window from the slowest link,
/// and the growth of Reno from the agent.
fn fit_stacks(draft: &mut Draft, notes: &Notes) {
    let fitting: Vec<(Option<BitRate>, bool)> = draft
        .entries()
        .map(|entry| {
            let is_said = |key: &str| {
                let path = format!("{}.stack.{key}", entry.place());
                matches!(notes.origins.get(&path), Some(Origin::File(_) | Origin::Setting))
            };
            let direction = entry.traffic.application.direction();
            let rate = entry.slowest(direction).filter(|_| !is_said("receive_window"));
            (rate, !is_said("controller.avoidance"))
        })
        .collect();
    let homes = draft.homes.iter_mut().flat_map(|home| &mut home.traffic);
    for (traffic, (rate, fits_reno)) in draft.traffic.iter_mut().chain(homes).zip(fitting) {
        if let Some(rate) = rate {
            stack::fit_receive_window(&mut traffic.stack.stack, rate);
        }
        if fits_reno {
            stack::fit_reno(&mut traffic.stack.stack);
        }
    }
}

impl Scenario {
    /// Reads and validates the text of a scenario file.
    pub fn parse(text: &str) -> Result<Self, ScenarioProblems> {
        Self::parse_with(text, &[])
    }

    /// Reads the text of a scenario file and replaces values by `settings`: pairs of a dotted key and a value, as
    /// [`ScenarioFile::set`] takes them.
    pub fn parse_with(text: &str, settings: &[(&str, &str)]) -> Result<Self, ScenarioProblems> {
        let mut file = ScenarioFile::parse(text)?;
        for (path, value) in settings {
            file.set(path, value);
        }
        file.validate()
    }

    /// Returns contradictions of the scenario, whose run differs from its keys. No problem has a place in a text.
    pub fn warnings(&self) -> Vec<Problem> {
        contradictions(&Draft::of(self), &Notes::default())
    }

    /// The complete scenario as TOML, every value in force. Two scenarios are equal exactly if these
    /// texts are, and the text reads back as an equal scenario.
    pub fn canonical(&self) -> String {
        self.print(true)
    }

    /// Content hash of what decides a run's results: the scenario without its list of seeds, the
    /// run's `seed`, and the version of the engine. 64 hexadecimal digits.
    pub fn key(&self, seed: sojourn_base::Seed, engine_version: &str) -> String {
        Self::key_of(self.key_start(engine_version), seed)
    }

    /// The keys of the runs with `seeds`, as [`Self::key`] gives them one by one; the scenario is printed once.
    pub fn keys(&self, seeds: impl IntoIterator<Item = sojourn_base::Seed>, engine_version: &str) -> Vec<String> {
        let start = self.key_start(engine_version);
        seeds.into_iter().map(|seed| Self::key_of(start.clone(), seed)).collect()
    }

    /// Returns the common start of a scenario's run keys: all but the seed.
    fn key_start(&self, engine_version: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_derive_key("sojourn run key v1");
        let content = self.print(false);
        for part in [content.as_bytes(), engine_version.as_bytes()] {
            // Lengths keep parts apart.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher
    }

    fn key_of(mut start: blake3::Hasher, seed: sojourn_base::Seed) -> String {
        start.update(&seed.0.to_le_bytes());
        start.finalize().to_hex().to_string()
    }

    fn print(&self, with_seeds: bool) -> String {
        let mut printer = Printer::default();
        Draft::of(self).keys(&mut printer, with_seeds);
        printer.print()
    }
}

/// All problems of a scenario's text; empty if it is valid.
pub fn problems(text: &str) -> Vec<Problem> {
    match Scenario::parse(text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_vec(),
    }
}
