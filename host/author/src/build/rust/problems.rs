//! The compiler's errors, from cargo's output for programs.

use serde::Deserialize;

use super::super::problem::{OF_ANOTHER_TYPE, Problem};

/// The advice for a package that contains sources of another language, or links a library of the
/// system.
const NATIVE: &str = "native code can't go into a component, unless it is compiled for wasm32-wasip2: take a package that is Rust all through";

/// The advice for a function of a tool that ends without a result.
const NO_RESULT: &str = "end each path with what the function promises: Ok(Output::text(…))";

/// A line of cargo's output, if it is a message of the compiler.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        message: Diagnostic,
    },
    #[serde(other)]
    Other,
}

/// A message in the compiler's own format: <https://doc.rust-lang.org/rustc/json.html>.
#[derive(Deserialize)]
pub struct Diagnostic {
    message: String,
    level: String,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Diagnostic>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
    label: Option<String>,
}

/// Returns the messages of the compiler.
pub fn diagnostics(written: &[u8]) -> Vec<Diagnostic> {
    let lines = written.split(|byte| *byte == b'\n');
    let message = |line: &[u8]| match serde_json::from_slice(line) {
        Ok(Line::CompilerMessage { message }) => Some(message),
        _ => None,
    };
    lines.filter_map(message).collect()
}

/// Returns the messages as the compiler shows them to people.
pub fn rendered(diagnostics: &[Diagnostic]) -> String {
    let texts = diagnostics.iter().filter_map(|it| it.rendered.as_deref());
    let texts: Vec<_> = texts.map(str::trim_end).collect();
    texts.join("\n")
}

/// Returns the errors among these messages. If there are none, returns the problem that cargo
/// itself reported.
pub fn of(diagnostics: &[Diagnostic], said: &str) -> Vec<Problem> {
    let errors = diagnostics.iter().filter(|it| it.level == "error");
    // This one only counts the errors before it.
    let errors = errors.filter(|it| !it.message.starts_with("aborting due to "));
    let problems: Vec<_> = errors.map(Diagnostic::problem).collect();
    if problems.is_empty() {
        of_cargo(said).into_iter().collect()
    } else {
        problems
    }
}

impl Diagnostic {
    fn problem(&self) -> Problem {
        if let Some(said) = self.said_by_the_linker() {
            return Problem {
                message: format!("can't link the component: {said}"),
                help: Some(NATIVE.to_owned()),
                ..Problem::default()
            };
        }
        let span = self.spans.iter().find(|span| span.is_primary);
        let label = span.and_then(|span| span.label.as_deref());
        let help = self.children.iter().find(|child| child.level == "help");
        // A help with spans refers to the excerpt, and may be half a sentence without it.
        let whole = help
            .filter(|help| help.spans.is_empty())
            .map(|help| help.message.replace('\n', " "));
        Problem {
            message: match label {
                Some(label) => format!("{}: {label}", self.message),
                None => self.message.clone(),
            }
            .replace('\n', " "),
            place: span.map(Span::place),
            help: match help {
                Some(_) => whole,
                None => self.help().map(str::to_owned),
            },
            excerpt: self.rendered.clone(),
        }
    }

    /// Returns advice for an error if the compiler has none.
    fn help(&self) -> Option<&'static str> {
        if self.message != "mismatched types" {
            return None;
        }
        let mut labels = self.spans.iter().filter_map(|span| span.label.as_deref());
        // As in "implicitly returns `()` as its body has no tail or `return` expression".
        if labels.any(|label| label.starts_with("implicitly returns ")) {
            Some(NO_RESULT)
        } else {
            Some(OF_ANOTHER_TYPE)
        }
    }

    /// Returns the linker's error. It is in a note, below a command line that fills a screen.
    fn said_by_the_linker(&self) -> Option<String> {
        if !self.message.starts_with("linking with ") {
            return None;
        }
        let notes = self.children.iter().flat_map(|it| it.message.lines());
        let errors = notes.filter_map(|line| line.split_once("error: "));
        let mut errors = errors.map(|(_, said)| said.trim().to_owned());
        Some(errors.next().unwrap_or_else(|| self.message.clone()))
    }
}

impl Span {
    fn place(&self) -> String {
        let Self {
            file_name,
            line_start,
            column_start,
            ..
        } = self;
        format!("{file_name}:{line_start}:{column_start}")
    }
}

/// Returns the problem of a package whose build script failed, usually because it compiles
/// something other than Rust.
fn of_cargo(said: &str) -> Option<Problem> {
    let mut lines = said.lines();
    let message = lines.find_map(|line| line.strip_prefix("error: failed to run custom build "))?;
    Some(Problem {
        message: format!("failed to run custom build {message}"),
        help: Some(NATIVE.to_owned()),
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, said: &str, expected: &[(&str, Option<&str>)]) {
        let found = of(&diagnostics(line.as_bytes()), said);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.message.as_str(), it.place.as_deref()))
            .collect();
        assert_eq!(found, expected, "{line}{said}");
    }

    #[test]
    fn an_error_of_the_compiler_has_its_place_and_its_label() {
        check(
            r#"{"reason": "compiler-message", "message": {"message": "mismatched types", "level": "error", "children": [], "rendered": "error[E0308]…",
            "spans": [{"file_name": "src/lib.rs", "line_start": 17, "column_start": 25, "is_primary": true, "label": "expected `usize`"}]}}"#
                .replace('\n', " ")
                .as_str(),
            "error: could not compile `a` (lib) due to 1 previous error",
            &[("mismatched types: expected `usize`", Some("src/lib.rs:17:25"))],
        );
        check(
            r#"{"reason": "compiler-message", "message": {"message": "unused", "level": "warning"}}"#,
            "",
            &[],
        );
        check("no object", "", &[]);
    }

    #[test]
    fn what_to_do_is_told_where_the_compiler_has_no_help_of_its_own() {
        let check = |spans: &str, children: &str, expected: Option<&str>| {
            let line = format!(
                r#"{{"reason": "compiler-message", "message": {{"message": "mismatched types", "level": "error", "spans": [{spans}], "children": [{children}]}}}}"#
            );
            let found = of(&diagnostics(line.as_bytes()), "");
            assert_eq!(found[0].help.as_deref(), expected, "{line}");
        };
        let span = |label: &str| {
            format!(
                r#"{{"file_name": "src/lib.rs", "line_start": 1, "column_start": 1, "is_primary": true, "label": "{label}"}}"#
            )
        };
        let returns = "implicitly returns `()` as its body has no tail or `return` expression";
        check(&span(returns), "", Some(NO_RESULT));
        let other = span("expected `usize`, found `String`");
        check(&other, "", Some(OF_ANOTHER_TYPE));
        let help = r#"{"message": "take a borrow", "level": "help"}"#;
        check(&other, help, Some("take a borrow"));
        let half = format!(r#"{{"message": "try", "level": "help", "spans": [{other}]}}"#);
        check(&other, &half, None);
    }

    #[test]
    fn of_the_linker_only_what_it_says_is_told() {
        check(
            r#"{"reason": "compiler-message", "message": {"message": "linking with `wasm-component-ld` failed: exit status: 1", "level": "error",
            "children": [{"message": "\"wasm-component-ld\" \"-flavor\"", "level": "note"}, {"message": "rust-lld: error: unable to find library -lz\nerror: failed to invoke LLD", "level": "note"}]}}"#
                .replace('\n', " ")
                .as_str(),
            "",
            &[("can't link the component: unable to find library -lz", None)],
        );
    }

    #[test]
    fn a_script_that_fails_is_native_code() {
        check(
            "",
            "error: failed to run custom build command for `libz-sys v1.1.0`\n\nCaused by:\n  …",
            &[(
                "failed to run custom build command for `libz-sys v1.1.0`",
                None,
            )],
        );
    }
}
