//! Built-in managers keep their rows, and mutants of them fail exactly theirs.

mod built_in;
mod golden;
mod later;
mod mutants;
