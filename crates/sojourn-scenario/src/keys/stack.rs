//! The stack of a traffic entry; its keys stand beside the parameters of transports.

use sojourn_base::native::{IN_TAB, native};
use sojourn_keys::{Choice, Key, KindInfo, Profile, Visitor, key};
use sojourn_transport::StackConfig;
use sojourn_transport::config::RenoConfig;
use sojourn_transport::habits::Habits;

use sojourn_keys::value::Mismatch;
use sojourn_transport::library::{Known, find_kernels, known_libraries};

use crate::model::{GIVEN, LibraryEcn, NEWEST, OWN};
use crate::model::{KERNEL, LibraryConfig, Stack};

/// The stack of a traffic entry as a file spells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StackDraft {
    /// The file names it.
    pub(crate) is_said: bool,
    pub(crate) stack: Stack,
}

impl StackDraft {
    pub(crate) fn blank() -> Self {
        Self { is_said: false, stack: blank() }
    }
}

/// Initial value of a reader.
pub(crate) fn blank() -> Stack {
    Stack { name: "ns2-linux-cubic".to_owned(), config: StackConfig::NS2_LINUX_CUBIC, library: None }
}

/// Shows the stack of a traffic entry: where it has a meaning it must be there.
pub(crate) fn show(key: Key, stack: &mut StackDraft, visitor: &mut dyn Visitor) {
    stack.is_said |= visitor.has("stack");
    let key = if visitor.is_exhaustive() { key } else { key.required("\"linux-cubic\"") };
    choice(key, &mut stack.stack, visitor);
}

/// Shows a stack as a choice among all named ones.
pub(crate) fn choice(key: Key, stack: &mut Stack, visitor: &mut dyn Visitor) {
    visitor.choice(key, &mut StackChoice(stack));
}

struct StackChoice<'a>(&'a mut Stack);

impl Choice for StackChoice<'_> {
    fn kinds(&self) -> Vec<KindInfo> {
        let info = |profile: &Profile<StackConfig>| KindInfo {
            name: profile.name,
            about: profile.about,
            profiles: Vec::new(),
        };
        let profiles = StackConfig::PROFILES.iter().map(info);
        let library = KindInfo {
            name: LIBRARY,
            about: "a transport library of others, given by `--plugin FILE`",
            profiles: Vec::new(),
        };
        let linux = KindInfo {
            name: LINUX,
            about: "the TCP of a Linux kernel that `sojourn linux build` has built, in virtual time",
            profiles: Vec::new(),
        };
        profiles.chain((!IN_TAB).then_some([library, linux]).into_iter().flatten()).collect()
    }

    fn selected(&self) -> &'static str {
        if let Some(library) = &self.0.library {
            return if library.kernel().is_some() { LINUX } else { LIBRARY };
        }
        let mut known = StackConfig::PROFILES.iter();
        known.find(|profile| profile.name == self.0.name).map_or("", |profile| profile.name)
    }

    fn select(&mut self, kind: &str, _profile: Option<&str>) {
        if let Some(config) = StackConfig::by_name(kind) {
            *self.0 = Stack { name: kind.to_owned(), config, library: None };
        } else if IN_TAB {
            // there is no other
        } else if kind == LIBRARY {
            *self.0 = of_library();
        } else if kind == LINUX {
            *self.0 = of_linux();
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        match &mut self.0.library {
            Some(library) if library.kernel().is_some() => kernel_keys(library, visitor),
            Some(library) => library_keys(library, visitor),
            None => self.0.config.keys(visitor),
        }
    }
}

/// The kind of a stack that is a library.
const LIBRARY: &str = "library";

/// The kind of a stack that is a kernel.
const LINUX: &str = "linux";

fn of_library() -> Stack {
    let library = native(|| LibraryConfig {
        name: String::new(),
        digest: GIVEN.to_owned(),
        controller: OWN.to_owned(),
        ecn: LibraryEcn::Off,
    });
    Stack { name: LIBRARY.to_owned(), config: StackConfig::QUIC, library }
}

fn of_linux() -> Stack {
    let Stack { mut library, .. } = of_library();
    if let Some(library) = &mut library {
        library.name = format!("{KERNEL}{NEWEST}");
    }
    Stack { name: LINUX.to_owned(), config: StackConfig::LINUX_6_CUBIC, library }
}

fn kernel_keys(library: &mut LibraryConfig, visitor: &mut dyn Visitor) {
    let mut name = library.kernel().unwrap_or_default().to_owned();
    visitor.value(
        key(
            "kernel",
            "name of the kernel, as `sojourn linux list` has it; `newest` is the one that was built last",
            "\"newest\"",
        ),
        &mut name,
    );
    library.name = format!("{KERNEL}{name}");
    if library.digest == GIVEN
        && let Some(known) = kernel(&library.name)
    {
        library.digest = known.digest;
        if name == NEWEST
            && let Some(called) = called(&library.digest)
        {
            library.name = called;
        }
    }
    visitor.value(
        key(
            "digest",
            "digest of the kernel's source and configuration; `given` stands for that of the kernel",
            "\"given\"",
        ),
        &mut library.digest,
    );
    let controller = key("controller", "the kernel's word for its congestion controller", "\"default\"");
    visitor.value(controller, &mut library.controller);
    visitor.value(key("ecn", "explicit congestion notification", "\"off\""), &mut library.ecn);
}

/// A kernel of this machine, or one that this process was given.
fn kernel(name: &str) -> Option<Known> {
    known_libraries().remove(name).or_else(|| {
        find_kernels();
        known_libraries().remove(name)
    })
}

/// The name of a kernel by its digest.
fn called(digest: &str) -> Option<String> {
    let known = known_libraries().into_iter();
    let mut kernels = known.filter(|(name, _)| name.strip_prefix(KERNEL).is_some_and(|kernel| kernel != NEWEST));
    kernels.find(|(_, known)| known.digest == digest).map(|(name, _)| name)
}

fn library_keys(library: &mut LibraryConfig, visitor: &mut dyn Visitor) {
    let name = key("name", "name of the library, which follows from that of its file", "no default");
    visitor.value(name.required("\"quinn\""), &mut library.name);
    if library.digest == GIVEN
        && let Some(known) = known_libraries().remove(&library.name)
    {
        library.digest = known.digest;
    }
    visitor.value(
        key("digest", "digest of its file; `given` stands for that of the file that is given", "\"given\""),
        &mut library.digest,
    );
    let controller = key("controller", "the library's word for its congestion controller", "\"default\"");
    visitor.value(controller, &mut library.controller);
    visitor.value(key("ecn", "explicit congestion notification", "\"off\""), &mut library.ecn);
}

/// Returns what is wrong with a library: the key, and a sentence with a hint.
pub(crate) fn library_problem(library: &LibraryConfig) -> Option<(&'static str, Mismatch)> {
    if let Some(name) = library.kernel() {
        return kernel_problem(library, name);
    }
    let known = known_libraries();
    let Some(given) = known.get(&library.name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let more = if names.is_empty() { String::new() } else { format!("; there is: {}", names.join(", ")) };
        let sentence = format!("no library \"{}\" was given{more}", library.name);
        let hint = "--plugin FILE, whose name is that of the file: libsojourn_stack_quinn.so is quinn";
        return (library.digest == GIVEN).then(|| ("name", Mismatch::new(sentence, hint)));
    };
    if given.digest != library.digest {
        let sentence = format!("the library \"{}\" that was given is another file", library.name);
        return Some(("digest", Mismatch::new(sentence, "leave the key out, or give the file that it stands for")));
    }
    let controllers = &given.controllers;
    let is_known = library.controller == OWN || controllers.contains(&library.controller);
    (given.library.is_some() && !is_known).then(|| {
        let sentence = format!("the library \"{}\" has no controller \"{}\"", library.name, library.controller);
        ("controller", Mismatch::new(sentence, format!("one of {}", controllers.join(", "))))
    })
}

/// As [`library_problem`], of a kernel.
fn kernel_problem(library: &LibraryConfig, name: &str) -> Option<(&'static str, Mismatch)> {
    let Some(given) = kernel(&library.name) else {
        let known = known_libraries().into_keys();
        let kernels = known.filter_map(|name| name.strip_prefix(KERNEL).map(str::to_owned));
        let names: Vec<String> = kernels.filter(|kernel| kernel != NEWEST).collect();
        let mismatch = if names.is_empty() {
            let hint = "sojourn linux build    (once, 5 to 15 minutes, without root)";
            Mismatch::new("there is no kernel for virtual time yet", hint)
        } else {
            let hint = format!("built are {}; others: sojourn linux build", names.join(", "));
            Mismatch::new(format!("there is no kernel \"{name}\""), hint)
        };
        return (library.digest == GIVEN).then_some(("kernel", mismatch));
    };
    if given.digest != library.digest {
        let sentence = format!("the kernel \"{name}\" of this machine is another one");
        return Some(("digest", Mismatch::new(sentence, "leave the key out, or build the kernel that it stands for")));
    }
    let is_known = library.controller == OWN || given.controllers.contains(&library.controller);
    (!is_known).then(|| {
        let sentence = format!("the kernel \"{name}\" has no controller \"{}\"", library.controller);
        ("controller", Mismatch::new(sentence, format!("one of {}", given.controllers.join(", "))))
    })
}

/// The receive window that a stack of ns-2 gets from the rate of the access link; others keep theirs.
pub(crate) fn fit_receive_window(stack: &mut Stack, rate: sojourn_base::BitRate) {
    let fitted = stack.config.with_access_rate(rate);
    stack.config.receive_window = fitted.receive_window;
}

/// Reno in a stack of ns-2's `TCP/Linux` is that of its module; elsewhere it stays as it is.
pub(crate) fn fit_reno(stack: &mut Stack) {
    let profile = StackConfig::by_name(&stack.name);
    let is_ns2_linux = profile.is_some_and(|profile| profile.habits == Habits::NS2_LINUX);
    if is_ns2_linux && stack.config.controller.get::<RenoConfig>().is_some() {
        stack.config.controller = StackConfig::NS2_LINUX_RENO.controller;
    }
}
