//! Panics, reported in one line that names the tool.
//!
//! A panic aborts, so the plugin can't return anything. The line goes to the standard error; the
//! host adds the end of the standard error to its own report and to its log.

use std::any::Any;
use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::running;

/// Makes sure that later panics are reported. Call it first in each export.
pub(crate) fn report() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| panic::set_hook(Box::new(tell)));
    running::nothing();
}

fn tell(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|at| {
        format!(
            "{}:{}:{}",
            without_machine(at.file()),
            at.line(),
            at.column()
        )
    });
    let mut line = line(
        running::tool().as_deref(),
        place.as_deref(),
        message(info.payload()),
    );
    line.push('\n');
    // A failure can't be reported any more.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn message(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

fn line(tool: Option<&str>, place: Option<&str>, message: &str) -> String {
    let mut line = String::new();
    match tool {
        None => line.push_str("plugin"),
        Some(tool) => line.extend(["tool `", tool, "`"]),
    }
    line.extend([" panicked at ", place.unwrap_or("an unknown place"), ":"]);
    // `assert_eq!` and others write several lines.
    for word in message.split_whitespace() {
        line.extend([" ", word]);
    }
    // The location is in the standard library and doesn't show the cause.
    if message.starts_with("failed to spawn thread: ") {
        line.push_str(": a tool has no threads here, and does one thing after another");
    }
    line
}

/// Shortens a source file's path to start with the folder of its crate, so that it reveals nothing
/// about the machine it was built on.
///
/// `/home/me/.cargo/registry/src/index-1949/regex-1.13.1/src/lib.rs` becomes
/// `regex-1.13.1/src/lib.rs`, and `/rustc/59807616e/library/core/src/option.rs` becomes
/// `core/src/option.rs`. A relative path already starts in the crate.
pub(crate) fn without_machine(file: &str) -> &str {
    let separators = ['/', '\\'];
    let is_absolute = file.starts_with(separators) || file.get(1..3) == Some(":\\");
    if !is_absolute {
        return file;
    }
    // This compares only characters: searching for strings would add much code to each component.
    let cuts: Vec<usize> = file.match_indices(separators).map(|(at, _)| at).collect();
    let is_source = |between: &&[usize]| &file[between[0] + 1..between[1]] == "src";
    let source = cuts.windows(2).rev().find(is_source);
    let end = source.map(|between| between[0]).or(cuts.last().copied());
    let before = |cut: &&usize| Some(**cut) < end;
    let start = cuts.iter().rev().find(before).map_or(0, |cut| cut + 1);
    &file[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line_that_names_the_tool() {
        let check = |tool, message, expected: &str| {
            assert_eq!(line(tool, Some("src/lib.rs:12:5"), message), expected);
        };
        check(
            Some("greet"),
            "index out of bounds",
            "tool `greet` panicked at src/lib.rs:12:5: index out of bounds",
        );
        check(
            Some("greet"),
            "left: 1\n right: 2",
            "tool `greet` panicked at src/lib.rs:12:5: left: 1 right: 2",
        );
        check(None, "no", "plugin panicked at src/lib.rs:12:5: no");
    }

    #[test]
    fn a_place_names_the_crate_but_not_the_machine() {
        let check = |file, expected| assert_eq!(without_machine(file), expected);
        check("src/lib.rs", "src/lib.rs");
        check("batch-rename/src/plan.rs", "batch-rename/src/plan.rs");
        check(
            "/home/me/.cargo/registry/src/index-1949/regex-1.13.1/src/lib.rs",
            "regex-1.13.1/src/lib.rs",
        );
        check(
            "/rustc/59807616e/library/core/src/option.rs",
            "core/src/option.rs",
        );
        check(
            r"C:\Users\me\.cargo\registry\src\index\regex-1.13.1\src\re.rs",
            r"regex-1.13.1\src\re.rs",
        );
        check("/home/me/plugin/main.rs", "plugin/main.rs");
        check("/main.rs", "/main.rs");
        check("", "");
    }
}
