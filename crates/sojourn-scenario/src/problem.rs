//! Problems of a scenario, each with its place and remedy.
//!
//! Source: none; the shape (path, message, hint, position) is what the command line, the editor and
//! the Python package show. Deviations: none known.

use core::fmt;
use std::collections::BTreeSet;

/// Largest number of problems reported for one text. chosen: the first ones are mended before the others are read.
const MOST_PROBLEMS: usize = 100;

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Key path such as `access.upstream.queue.target`; empty if the file as a whole is meant.
    pub path: String,
    /// The error.
    pub message: String,
    /// The remedy; may be empty.
    pub hint: String,
    /// Line of the text, from 1; 0 if the problem has no place in the text.
    pub line: u32,
    /// Column in characters, from 1; 0 if the problem has no place in the text.
    pub column: u32,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: ")?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.message)?;
        if self.line > 0 {
            write!(f, " (line {}, column {})", self.line, self.column)?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Problems of a scenario, in the order of the text; never empty. The last of very many problems gives the number of
/// the others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", join(.0))]
pub struct ScenarioProblems(Vec<Problem>);

impl ScenarioProblems {
    /// `problems` in the order of the text, each once.
    ///
    /// # Panics
    /// If there are none: a scenario without problems is not an error.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        assert!(!problems.is_empty(), "a scenario without problems is no error");
        // Problems without a place in the text (a missing key, a setting) come last.
        problems.sort_by_key(|p| (p.line == 0, p.line, p.column));
        let mut met = BTreeSet::new();
        problems.retain(|problem| met.insert(problem.clone()));
        if problems.len() > MOST_PROBLEMS {
            let more = problems.len() - MOST_PROBLEMS;
            problems.truncate(MOST_PROBLEMS);
            problems.push(Problem {
                path: String::new(),
                message: format!("{more} more problems"),
                hint: "mend those above first".to_owned(),
                line: 0,
                column: 0,
            });
        }
        Self(problems)
    }

    /// The problems.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// The problems, owned.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}

fn join(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str, line: u32) -> Problem {
        Problem { path: path.to_owned(), message: "is missing".to_owned(), hint: String::new(), line, column: line }
    }

    #[test]
    fn problems_come_in_the_order_of_the_text_and_once() {
        let all = vec![problem("c", 0), problem("b", 7), problem("a", 2), problem("b", 7)];
        let paths: Vec<String> = ScenarioProblems::new(all).into_vec().into_iter().map(|p| p.path).collect();
        assert_eq!(paths, ["a", "b", "c"]);
    }

    #[test]
    fn of_very_many_problems_the_first_hundred_are_told_and_the_rest_counted() {
        let all = (1..=100_000).map(|line| problem("a", line)).collect();
        let told = ScenarioProblems::new(all).into_vec();
        assert_eq!(told.len(), 101);
        assert_eq!(told[99].line, 100);
        assert_eq!(told[100].message, "99900 more problems");
    }

    #[test]
    fn a_problem_reads_like_a_sentence_with_its_place() {
        let mut one = problem("access.upstream.queue.limit", 12);
        one.hint = "write \"417 packets\"".to_owned();
        assert_eq!(
            ScenarioProblems::new(vec![one]).to_string(),
            "error: access.upstream.queue.limit: is missing (line 12, column 12)\n  \
             hint: write \"417 packets\""
        );
    }
}
