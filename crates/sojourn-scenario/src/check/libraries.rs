//! Checks of transport libraries and kernels that carry traffic.
//!
//! Source: docs/decisions/0013-libraries-as-stacks.md, 0014-a-kernel-as-a-stack.md. Deviations: none.

use sojourn_base::native::IN_TAB;
use sojourn_keys::value::Mismatch;

use super::note;
use crate::keys::scenario::Draft;
use crate::keys::traffic::TrafficDraft;
use crate::keys::{application, stack};
use crate::reader::Notes;

/// A library is there, and can carry the application.
pub(super) fn check_library(traffic: &TrafficDraft, path: &str, notes: &mut Notes) {
    let Some(library) = traffic.stack.stack.library.as_ref().filter(|_| application::needs_stack(&traffic.application))
    else {
        return;
    };
    if let Some((key, mismatch)) = stack::library_problem(library) {
        note(notes, &format!("{path}.stack.{key}"), mismatch);
    }
    if notes.is_doubtful(&format!("{path}.app")) {
        return;
    }
    let kind = traffic.application.kind();
    let carrier = if library.kernel().is_some() { "a kernel" } else { "a library" };
    let refused = if kind != "bulk" {
        Some(format!("{carrier} carries transfers of kind bulk, and not {kind}"))
    } else if traffic.paused {
        Some(format!("{carrier} sends all that it has taken, and cannot pause"))
    } else {
        None
    };
    if let Some(sentence) = refused {
        note(notes, &format!("{path}.stack"), Mismatch::new(sentence, "a stack of the engine's own, such as \"quic\""));
    }
}

/// A run has one kernel, in whose guest it is made, and no library beside it.
pub(super) fn check_one_kernel(draft: &Draft, notes: &mut Notes) {
    if IN_TAB {
        return;
    }
    let mut libraries =
        draft.entries().filter_map(|entry| Some((entry.place(), entry.traffic.stack.stack.library.as_ref()?)));
    let Some((_, first)) = libraries.next() else {
        return;
    };
    let other = libraries.find(|(_, other)| {
        (first.kernel().is_some() || other.kernel().is_some())
            && (&first.name, &first.digest) != (&other.name, &other.digest)
    });
    if let Some((path, _)) = other {
        let sentence = "a run has one kernel, and no library beside it";
        note(
            notes,
            &format!("{path}.stack"),
            Mismatch::new(sentence, "the same kernel, or a stack of the engine's own"),
        );
    }
}
