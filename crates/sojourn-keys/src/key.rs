//! A key: name of a parameter in a file, its meaning, and its allowed values.

/// True if meanings and origins are kept. The engine for browser tabs drops them: its page has the table of keys as a
/// file of its own.
pub const DESCRIBES: bool = !sojourn_base::native::IN_TAB;

/// `text`, where it is kept.
pub const fn described(text: &'static str) -> &'static str {
    if DESCRIBES { text } else { "" }
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "rows of a declaration: each says one thing of its key")]
pub struct Key {
    /// As it is written in a file.
    pub name: &'static str,
    /// Meaning, in a line.
    pub about: &'static str,
    /// Origin of its default or its meaning.
    pub origin: &'static str,
    /// It has no default: a table without a profile must have it.
    pub required: bool,
    /// True if other keys decide that it is required.
    pub conditional: bool,
    /// The least allowed value as written in a file; empty for none.
    pub least: &'static str,
    /// The greatest allowed value as written in a file; empty for none.
    pub most: &'static str,
    /// The unit that hints suggest; empty for the usual one of the type.
    pub unit: &'static str,
    /// An example for hints, as TOML.
    pub example: &'static str,
    /// The word that stands for the absence of a value that may be absent.
    pub absence: &'static str,
    /// Of a list: a single value may stand for a list of one.
    pub one_or_many: bool,
    /// Of a list of tables: a table of tables may stand for it, whose keys are their names.
    pub named: bool,
}

/// A key with a default.
pub const fn key(name: &'static str, about: &'static str, origin: &'static str) -> Key {
    Key {
        name,
        about,
        origin: described(origin),
        required: false,
        conditional: false,
        least: "",
        most: "",
        unit: "",
        example: "",
        absence: "",
        one_or_many: false,
        named: false,
    }
}

impl Key {
    /// It must be written; `example` is a value as TOML.
    pub const fn required(mut self, example: &'static str) -> Self {
        self.required = true;
        self.example = example;
        self
    }

    /// A table of tables may stand for the list, its keys for their names.
    pub const fn named(mut self) -> Self {
        self.named = true;
        self
    }

    /// Hints give this example, as TOML.
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// It must be written in some cases, which its meaning names, and makes no sense in others.
    pub const fn conditional(mut self) -> Self {
        self.conditional = true;
        self
    }

    /// Its value must not be below `least`.
    pub const fn least(mut self, least: &'static str) -> Self {
        self.least = least;
        self
    }

    /// Its value must not be above `most`.
    pub const fn most(mut self, most: &'static str) -> Self {
        self.most = most;
        self
    }

    /// Hints suggest this unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The value may be absent, which is written as this `word`.
    pub const fn or(mut self, word: &'static str) -> Self {
        self.absence = word;
        self
    }

    /// A single value may stand for a list of one, and the list is never empty.
    pub const fn one_or_many(mut self) -> Self {
        self.one_or_many = true;
        self
    }

    /// The same with another origin.
    pub const fn origin(mut self, origin: &'static str) -> Self {
        self.origin = described(origin);
        self
    }

    /// Names a key of a declaration's row that has no name yet.
    pub const fn called(mut self, name: &'static str, about: &'static str) -> Self {
        if self.name.is_empty() {
            self.name = name;
            // Hints about a missing key give its meaning.
            self.about = if self.required { about } else { described(about) };
        }
        self
    }
}
