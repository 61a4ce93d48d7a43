//! The tool `grep`: lists the lines that match an expression.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::{ControlFlow, Range};

use airlock_tool::{Call, Error, Output};

use crate::diff::cut;
use crate::params::{Grep, OutputMode};
use crate::path::shown;
use crate::regex::{Options, Regex};
use crate::text::Text;
use crate::walk::{Scope, walk};
use crate::workspace::{Kind, MAX_BYTES, Workspace};

pub(crate) fn grep(params: Grep, _call: &Call) -> Result<Output, Error> {
    search(&Workspace::of_session()?, &params).map(Output::text)
}

fn search(workspace: &Workspace, params: &Grep) -> Result<String, Error> {
    let options = Options {
        literal: false,
        ignore_case: params.ignore_case,
        multiline: params.multiline,
    };
    let regex = Regex::new(&params.pattern, options)?;
    let scope = Scope {
        path: &params.path,
        glob: params.glob.as_deref(),
        include_ignored: params.include_ignored,
    };
    let mut found = Found {
        limit: params.limit,
        ..Found::default()
    };
    let mut skipped = 0;
    let note = walk(workspace, &scope, |path, kind| {
        if kind != Kind::File {
            return Ok(ControlFlow::Continue(()));
        }
        if workspace.size(path).is_some_and(|size| size > MAX_BYTES) {
            skipped += 1;
            return Ok(ControlFlow::Continue(()));
        }
        let bytes = workspace.read(path, MAX_BYTES).unwrap_or_default();
        if let Ok(text) = Text::decode(bytes) {
            found.search(&regex, path, text.body(), params);
        }
        Ok(if found.is_full {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    let mut text = found.text(params.output_mode);
    if skipped > 0 {
        let _ = write!(
            text,
            "\n\nFiles larger than {} MiB, not searched: {skipped}.",
            MAX_BYTES >> 20
        );
    }
    if let Some(note) = note {
        let _ = write!(text, "\n\n{note}");
    }
    Ok(text)
}

#[derive(Default)]
struct Found {
    rows: Vec<String>,
    files: usize,
    matches: usize,
    limit: usize,
    is_full: bool,
}

impl Found {
    fn search(&mut self, regex: &Regex, path: &str, body: &str, params: &Grep) {
        let multiline = params.multiline || params.pattern.contains("\\n");
        if !regex.is_match(body) {
            return;
        }
        let lines: Vec<&str> = body.lines().collect();
        let ranges = if multiline {
            spans(regex, body)
        } else {
            singles(regex, &lines)
        };
        let Some(first) = ranges.first() else {
            return;
        };
        self.files += 1;
        self.matches += ranges.len();
        let path = shown(path);
        match params.output_mode {
            OutputMode::FilesWithMatches => self.add(path),
            OutputMode::Count => self.add(format!("{path}:{}", ranges.len())),
            OutputMode::Content => {
                let mut last = first.start;
                let matching: BTreeSet<usize> = ranges.iter().cloned().flatten().collect();
                let around = ranges.iter().flat_map(|range| {
                    let end = (range.end + params.context).min(lines.len());
                    range.start.saturating_sub(params.context)..end
                });
                if params.context > 0 && !self.rows.is_empty() {
                    self.rows.push("--".to_owned());
                }
                for line in around.collect::<BTreeSet<_>>() {
                    if params.context > 0 && line > last + 1 {
                        self.rows.push("--".to_owned());
                    }
                    let sign = if matching.contains(&line) { ':' } else { '-' };
                    let text = lines.get(line).copied().unwrap_or_default();
                    self.add(format!("{path}{sign}{}{sign}{}", line + 1, cut(text)));
                    last = line;
                }
            }
        }
    }

    fn add(&mut self, row: String) {
        if self.rows.len() < self.limit {
            self.rows.push(row);
        } else {
            self.is_full = true;
        }
    }

    fn text(&self, mode: OutputMode) -> String {
        if self.rows.is_empty() {
            return "No matches.".to_owned();
        }
        let mut text = self.rows.join("\n");
        if self.is_full {
            let _ = write!(
                text,
                "\n\nThere are more than {}: narrow the search, or set a higher `limit`.",
                self.limit
            );
        } else if mode == OutputMode::Count {
            let _ = write!(
                text,
                "\n\nIn all: {} matches in {} files.",
                self.matches, self.files
            );
        }
        text
    }
}

/// Returns the indexes of the lines that match, each as a range.
fn singles(regex: &Regex, lines: &[&str]) -> Vec<Range<usize>> {
    let matching = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| regex.is_match(line));
    matching.map(|(at, _)| at..at + 1).collect()
}

/// Returns the lines of each match.
fn spans(regex: &Regex, body: &str) -> Vec<Range<usize>> {
    let newlines: Vec<usize> = body.match_indices('\n').map(|(at, _)| at).collect();
    let line = |offset: usize| newlines.partition_point(|at| *at < offset);
    let spans = regex.matches(body).map(|range| {
        let end = range.end.saturating_sub(1).max(range.start);
        line(range.start)..line(end) + 1
    });
    spans.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Sandbox;

    fn params(pattern: &str) -> Grep {
        serde_json::from_value(serde_json::json!({ "pattern": pattern })).unwrap()
    }

    fn sandbox() -> Sandbox {
        Sandbox::with(&[
            ("a.rs", "fn a() {\r\n    b\r\n}\r\n"),
            ("b.md", "B\nb\nb b\n"),
        ])
    }

    fn check(params: &Grep, expected: &str) {
        assert_eq!(search(&sandbox().workspace(), params).unwrap(), expected);
    }

    #[test]
    fn matching_lines_are_listed_with_their_numbers() {
        check(&params("^b"), "b.md:2:b\nb.md:3:b b");
        check(&params("b$"), "a.rs:2:    b\nb.md:2:b\nb.md:3:b b");
        check(&params("x"), "No matches.");
        check(
            &Grep {
                glob: Some("*.rs".into()),
                ..params("b")
            },
            "a.rs:2:    b",
        );
        check(
            &Grep {
                path: "b.md".into(),
                ignore_case: true,
                ..params("^b$")
            },
            "b.md:1:B\nb.md:2:b",
        );
    }

    #[test]
    fn files_and_numbers_of_matches_are_listed_if_asked_for() {
        let files = Grep {
            output_mode: OutputMode::FilesWithMatches,
            ..params("b")
        };
        check(&files, "a.rs\nb.md");
        let count = Grep {
            output_mode: OutputMode::Count,
            ..params("b")
        };
        check(&count, "a.rs:1\nb.md:2\n\nIn all: 3 matches in 2 files.");
    }

    #[test]
    fn lines_around_a_match_are_shown_if_asked_for() {
        let around = Grep {
            context: 1,
            path: "a.rs".into(),
            ..params("b")
        };
        check(&around, "a.rs-1-fn a() {\na.rs:2:    b\na.rs-3-}");
    }

    #[test]
    fn a_match_may_go_over_several_lines() {
        let over = Grep {
            multiline: true,
            ..params("\\{.*\\}")
        };
        check(&over, "a.rs:1:fn a() {\na.rs:2:    b\na.rs:3:}");
        check(&params("B\\nb"), "b.md:1:B\nb.md:2:b");
    }

    #[test]
    fn a_long_list_is_cut_with_a_note() {
        let one = Grep {
            limit: 1,
            ..params("b")
        };
        check(
            &one,
            "a.rs:2:    b\n\nThere are more than 1: narrow the search, or set a higher `limit`.",
        );
    }

    #[test]
    fn binary_files_are_left_out() {
        let sandbox = sandbox();
        sandbox.workspace().write("c.bin", b"b\0").unwrap();
        let files = Grep {
            output_mode: OutputMode::FilesWithMatches,
            ..params("b")
        };
        assert_eq!(search(&sandbox.workspace(), &files).unwrap(), "a.rs\nb.md");
    }
}
