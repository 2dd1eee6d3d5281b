//! Issues of a file, each with its octet.
//!
//! Source: none; codes are stable names for programs. Deviations: none known.

use core::fmt;

use serde::Serialize;

/// Issues of one file that are listed; a sentence stands for the others.
///
/// chosen: more would not be read, and a megabyte of unknown TLVs has half a million.
const LISTED: usize = 500;

/// How bad an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Warning,
    /// The file, or the service, cannot be what was meant.
    Error,
}

/// One thing wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Stable name, such as `E-TRUNCATED`; the letter is the severity outside strict mode.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Octet of the file at fault.
    pub offset: Option<usize>,
    /// Path of TLV types, such as `24.8`, or of keys; empty if the file as a whole is meant.
    pub path: String,
    /// The error.
    pub message: String,
    /// The remedy; may be empty.
    pub hint: String,
    /// Line of a text, from 1; 0 if it is not about a text.
    pub line: usize,
    /// Column of a text in characters, from 1.
    pub column: usize,
}

impl Issue {
    /// An issue by its code, whose first letter says how bad it is.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let severity = if code.starts_with('E') { Severity::Error } else { Severity::Warning };
        Self {
            code,
            severity,
            offset: None,
            path: String::new(),
            message: message.into(),
            hint: String::new(),
            line: 0,
            column: 0,
        }
    }

    /// The same, about an octet and a path.
    #[must_use]
    pub fn at(mut self, offset: usize, path: impl Into<String>) -> Self {
        self.offset = Some(offset);
        self.path = path.into();
        self
    }

    /// The same, about a path.
    #[must_use]
    pub fn about(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The same, with what would be right.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Returns true if it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if self.line > 0 {
            write!(f, " line {}, column {}", self.line, self.column)?;
        }
        if let Some(offset) = self.offset {
            write!(f, " octet {offset}")?;
        }
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Issues in the order they were found, up to the limit.
#[derive(Clone, Debug, Default)]
pub struct Issues {
    listed: Vec<Issue>,
    others: usize,
    errors: usize,
}

impl Issues {
    /// Adds one.
    pub fn add(&mut self, issue: Issue) {
        if self.listed.len() < LISTED {
            self.listed.push(issue);
            return;
        }
        self.others += 1;
        self.errors += usize::from(issue.is_error());
    }

    /// All of them, and a sentence for those that are not listed. In strict mode the warnings of
    /// `strict` are errors.
    #[must_use]
    pub fn finish(mut self, strict: &[&str]) -> Vec<Issue> {
        if self.others > 0 {
            let code = if self.errors > 0 { "E-MANY" } else { "W-MANY" };
            self.listed.push(Issue::new(code, format!("and {} issues more", self.others)));
        }
        for issue in &mut self.listed {
            if strict.contains(&issue.code) {
                issue.severity = Severity::Error;
            }
        }
        self.listed
    }
}
