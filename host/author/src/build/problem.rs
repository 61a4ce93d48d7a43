//! Problems that a build tool found in a project: the message, the position and advice.

use anyhow::anyhow;
use serde::Deserialize;

use super::toolchain::{ProgramOutput, Toolchain, failed};
use crate::error::Error;

/// A problem in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// The message in one line.
    pub message: String,
    /// `FILE:LINE:COLUMN` relative to the project's folder, as far as known.
    pub place: Option<String>,
    /// Advice on how to fix it.
    pub help: Option<String>,
    /// An excerpt of the tool's output: source lines, or more of its message.
    pub excerpt: Option<String>,
}

impl Problem {
    /// Returns the position and the message in one line.
    fn in_one_line(&self) -> String {
        match &self.place {
            Some(place) => format!("{place}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the text to show above the error: the tool's excerpt, if there is one.
    fn in_full(&self) -> String {
        let said = self.excerpt.clone().unwrap_or_else(|| self.in_one_line());
        match &self.help {
            Some(help) => format!("{}\n  help: {help}", said.trim_end()),
            None => said,
        }
    }
}

/// Advice for a value whose type does not match.
pub const OF_ANOTHER_TYPE: &str =
    "convert the value, or change the type that is declared where it goes to";

const VERBOSE: &str = "`-v` shows all that was printed";

/// Creates the error of a build that failed with these problems. `trace` is the rest of the tool's
/// output, such as stack traces and linker command lines. It is reported only if the user requests
/// traces, or if no problem was recognized.
pub fn tell(problems: &[Problem], trace: &str, ended: &ProgramOutput, on: &Toolchain<'_>) -> Error {
    let trace = trace.trim_end();
    let [first, others @ ..] = problems else {
        on.pass_on(trace);
        return ended.error(!trace.is_empty());
    };
    let is_one_line = others.is_empty() && first.excerpt.is_none();
    let all: Vec<_> = problems.iter().map(Problem::in_full).collect();
    let all = all.join("\n");
    let is_traced = on.wants_traces() && !trace.is_empty();
    match is_traced {
        true => on.pass_on(trace),
        false if is_one_line => {}
        false => on.pass_on(&all),
    }
    let message = match others.len() {
        0 => first.in_one_line(),
        more => format!("{} (and {more} more, above)", first.in_one_line()),
    };
    let error = failed(anyhow!(message));
    // If there is no advice, the message explains the problem well enough, or the author knows
    // best.
    let verbose = (!is_traced && hides_much(&all, trace)).then_some(VERBOSE);
    let advice: Vec<&str> = first.help.as_deref().into_iter().chain(verbose).collect();
    if advice.is_empty() {
        error
    } else {
        error.with_advice(advice.join("; "))
    }
}

/// Returns whether the hidden part of a trace is worth a look: more than a heading and a summary.
fn hides_much(shown: &str, trace: &str) -> bool {
    let lines = trace.lines().map(str::trim);
    let hidden = lines.filter(|line| !line.is_empty() && !shown.contains(line));
    hidden.count() > 2
}

/// The output of an SDK's own builder when it fails.
#[derive(Deserialize)]
pub struct BuilderFailure {
    errors: Vec<BuilderError>,
    /// The other output.
    #[serde(default)]
    pub trace: String,
}

#[derive(Deserialize)]
struct BuilderError {
    message: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    help: Option<String>,
}

impl BuilderFailure {
    /// Parses the builder's output. Returns `None` if it has another format.
    pub fn read(written: &[u8]) -> Option<Self> {
        serde_json::from_slice(written).ok()
    }

    pub fn problems(&self) -> Vec<Problem> {
        self.errors.iter().map(BuilderError::problem).collect()
    }
}

impl BuilderError {
    fn problem(&self) -> Problem {
        let numbers = [self.line, self.column].into_iter().flatten();
        let place = self.file.clone().into_iter();
        let place: Vec<_> = place.chain(numbers.map(|n| n.to_string())).collect();
        let place = Some(place.join(":")).filter(|place| !place.is_empty());
        let (first, rest) = match self.message.split_once('\n') {
            Some((first, rest)) => (first, Some(rest)),
            None => (self.message.as_str(), None),
        };
        let mut problem = Problem {
            message: first.to_owned(),
            place,
            help: self.help.clone(),
            excerpt: None,
        };
        problem.excerpt = rest.map(|rest| format!("{}\n{rest}", problem.in_one_line()));
        problem
    }
}

/// Parses a compiler's line `FILE:LINE:COLUMN: MESSAGE`; the column is optional.
pub fn placed(line: &str) -> Option<(&str, &str)> {
    let (place, message) = line.split_once(": ")?;
    let (file, numbers) = place.split_once(':')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_place = !file.is_empty() && numbers.split(':').all(is_number);
    is_place.then_some((place, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_builders_problems_are_told_with_place_and_help() {
        let check = |json: &str, message: &str, line: &str, full: &str| {
            let read = BuilderFailure::read(json.as_bytes()).unwrap();
            let [problem] = &read.problems()[..] else {
                panic!("{json}");
            };
            assert_eq!(problem.message, message);
            assert_eq!(problem.in_one_line(), line);
            assert_eq!(problem.in_full(), full);
        };
        check(
            r#"{"errors": [{"message": "it broke", "stage": "bundle"}]}"#,
            "it broke",
            "it broke",
            "it broke",
        );
        check(
            r#"{"errors": [{"message": "no zod", "file": "src/tool.ts", "line": 3, "column": 4, "help": "npm install zod"}]}"#,
            "no zod",
            "src/tool.ts:3:4: no zod",
            "src/tool.ts:3:4: no zod\n  help: npm install zod",
        );
        check(
            r#"{"errors": [{"message": "it is no tool\n  for a reason", "file": "src/tool.ts", "line": 3}], "trace": "stack"}"#,
            "it is no tool",
            "src/tool.ts:3: it is no tool",
            "src/tool.ts:3: it is no tool\n  for a reason",
        );
        assert!(BuilderFailure::read(br#"{"name": "a"}"#).is_none());
    }

    #[test]
    fn a_place_stands_before_its_message() {
        let check = |line, expected| assert_eq!(placed(line), expected, "{line}");
        check(
            "src/tool.c:3:10: fatal error: 'zlib.h' file not found",
            Some(("src/tool.c:3:10", "fatal error: 'zlib.h' file not found")),
        );
        check("tool.go:3: missing", Some(("tool.go:3", "missing")));
        check("wasm-ld: error: undefined", None);
        check("# example.com/mistake", None);
        check("a:b: c", None);
        check("", None);
    }
}
