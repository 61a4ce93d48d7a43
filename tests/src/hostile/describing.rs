//! The corpus as a table, for people.

use std::fmt::Write;

use super::{Bounds, Ends, GROUPS, OF_FILES, compile_limits, group, limits, tried};

/// The titles of the groups about files.
fn of_files() -> String {
    let titles = OF_FILES.map(|name| format!("\"{}\"", group(name).title));
    titles.join(", ")
}

/// The file `tests/hostile/README.md`.
pub fn table() -> String {
    let limits = limits();
    let usual = Bounds::default();
    let count: usize = GROUPS.iter().map(|name| group(name).rows.len()).sum();
    let mut text = format!(
        "# Hostile plugins and their outcomes\n\n\
         The test `hostile` runs each of {count} behaviours in a separate process, together with an honest session that must keep answering.\n\
         The harness measures the process from outside: its memory, its descriptors, its disk space and its time.\n\
         The test writes this file, with `UPDATE_EXPECT=1`.\n\n\
         A session's limits are low here: {} s per call, {} MiB of memory, {} open files, {} MiB of scratch space.\n\
         Unless a row says otherwise, the process may take {} MiB of memory, {} descriptors and {} MiB on the disk \
         more than before, and {} s.\n\
         A component is compiled by another process, which may take {} MiB and {} s.\n\n\
         The rows about {} run twice.\n\
         The second time the plugin is granted only a directory that no attack is about: then an apply must not change the workspace either, and no file of it may be read.\n",
        limits.call_time.as_secs(),
        limits.memory >> 20,
        limits.open_files,
        limits.scratch_bytes >> 20,
        usual.memory_mib,
        usual.descriptors,
        usual.disk_mib,
        usual.seconds,
        compile_limits().memory >> 20,
        compile_limits().time.as_secs(),
        of_files(),
    );
    for name in GROUPS {
        let group = group(name);
        let _ = write!(
            text,
            "\n## {}\n\n| name | the plugin | outcome |\n| --- | --- | --- |\n",
            group.title
        );
        for row in group.rows {
            let ends = match row.ends {
                Ends::Result("") => "a result".to_owned(),
                Ends::Result(says) => format!("`{says}`"),
                Ends::ResultOrError(kinds) => format!("a result, or `{}`", kinds.join("` or `")),
                Ends::ResultOrTime(says) => format!("`{says}`, or a timeout"),
                Ends::Error(kind, "") => format!("error {kind}"),
                Ends::Error(kind, says) => format!("error {kind}: `{says}`"),
                Ends::ErrorOf(kinds, "") => format!("error {}", kinds.join(" or ")),
                Ends::ErrorOf(kinds, says) => format!("error {}: `{says}`", kinds.join(" or ")),
            };
            let mut bounds = bounds(row.bounds, usual);
            if row.call_time != limits.call_time {
                let _ = write!(bounds, "; {} s per call", row.call_time.as_secs());
            }
            let _ = writeln!(
                text,
                "| `{}` | {} | {}{bounds} |",
                row.name,
                row.does,
                ends.replace('|', "\\|")
            );
        }
    }
    text.push_str(
        "\n## The program `airlock`\n\nThese are the program's tests in `host/cli/tests/cli`, by file and name.\n\n\
         | test | input | outcome |\n| --- | --- | --- |\n",
    );
    for tried in tried() {
        let super::program::Tried {
            file,
            test,
            does,
            ends,
        } = tried;
        let _ = writeln!(text, "| `{file}::{test}` | {does} | {ends} |");
    }
    text
}

/// Those that are not the usual ones.
fn bounds(bounds: Bounds, usual: Bounds) -> String {
    let mut text = String::new();
    if bounds.memory_mib != usual.memory_mib {
        let _ = write!(text, "; {} MiB of memory", bounds.memory_mib);
    }
    if bounds.seconds != usual.seconds {
        let _ = write!(text, "; {} s", bounds.seconds);
    }
    if bounds.descriptors != usual.descriptors {
        let _ = write!(text, "; {} descriptors", bounds.descriptors);
    }
    if bounds.disk_mib != usual.disk_mib {
        let _ = write!(text, "; {} MiB on the disk", bounds.disk_mib);
    }
    text
}
