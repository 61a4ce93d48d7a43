//! The expected and the actual result, for people.

use std::fmt::Write;

use airlock_test_kit::{Breach, Entry, Example, Files, short};
use similar::{ChangeTag, TextDiff};

/// Returns both results, one per line if they are short, or else their difference.
pub fn lines(breach: &Breach) -> Vec<String> {
    let (expected, came) = (breach.expected.trim_end(), breach.came.trim_end());
    if !expected.contains('\n') && !came.contains('\n') {
        return vec![format!("expected  {expected}"), format!("came      {came}")];
    }
    let (expected, came) = (format!("{expected}\n"), format!("{came}\n"));
    let diff = TextDiff::from_lines(&expected, &came);
    let mut lines = vec!["- expected, + came:".to_owned()];
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let text = change.value().trim_end_matches(['\n', '\r']);
        lines.push(format!("{sign} {text}").trim_end().to_owned());
    }
    lines
}

/// Returns the lines of the call that shows the breach.
pub fn example(example: &Example) -> Vec<String> {
    let call = format!("{} {}", example.tool, short(&example.params));
    vec![
        format!("call       {call}"),
        format!("workspace  {}", files(&example.files)),
    ]
}

fn files(files: &Files) -> String {
    if files.is_empty() {
        return "empty".to_owned();
    }
    let mut text = String::new();
    for (index, (path, entry)) in files.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // Writing to a string never fails.
        let _ = match entry {
            Entry::Folder => write!(text, "{separator}{path}/"),
            Entry::Link(target) => write!(text, "{separator}{path} -> {}", target.display()),
            Entry::File(contents) => {
                write!(text, "{separator}{path} ({} bytes)", contents.len())
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_told_by_their_difference() {
        let breach = |expected: &str, came: &str| {
            lines(&Breach {
                expected: expected.to_owned(),
                came: came.to_owned(),
            })
        };
        assert_eq!(
            breach("nothing", "\u{1b}[2J"),
            ["expected  nothing", "came      \u{1b}[2J"]
        );
        assert_eq!(
            breach("one\ntwo\nthree", "one\n2\nthree\n"),
            ["- expected, + came:", "  one", "- two", "+ 2", "  three"]
        );
    }
}
