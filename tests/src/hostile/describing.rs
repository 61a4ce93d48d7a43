//! The corpus as a table, for people.

use std::fmt::Write;

use super::{Bounds, Ends, GROUPS, compile_limits, group, limits, tried};

/// The file `tests/hostile/README.md`.
pub fn table() -> String {
    let limits = limits();
    let usual = Bounds::default();
    let count: usize = GROUPS.iter().map(|name| group(name).rows.len()).sum();
    let mut text = format!(
        "# What plugins do to their host, and what comes of it\n\n\
         {count} behaviours, each run by the test `hostile` in a process of its own, beside an honest session in that process, which must answer \
         all the while.\n\
         The harness looks from outside at the process's memory, its descriptors, the space on the disk and the clock.\n\
         This file is written by the test, with `UPDATE_EXPECT=1`.\n\n\
         A session's limits are low here: {} s a call, {} MiB of memory, {} open files, {} MiB of scratch space.\n\
         Where a row says nothing else, the \
         process may take {} MiB of memory, {} descriptors and {} MiB on the disk more than before, and {} s.\n\
         A component is compiled by another process, which may take {} MiB and {} s.\n",
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
    );
    for name in GROUPS {
        let group = group(name);
        let _ = write!(
            text,
            "\n## {}\n\n| name | what the plugin does | what comes of it |\n| --- | --- | --- |\n",
            group.title
        );
        for row in group.rows {
            let ends = match row.ends {
                Ends::Result("") => "a result".to_owned(),
                Ends::Result(says) => format!("`{says}`"),
                Ends::ResultOrError(kinds) => format!("a result, or `{}`", kinds.join("` or `")),
                Ends::ResultOrTime(says) => format!("`{says}`, or the end of its time"),
                Ends::Error(kind, "") => format!("error {kind}"),
                Ends::Error(kind, says) => format!("error {kind}: `{says}`"),
                Ends::ErrorOf(kinds, "") => format!("error {}", kinds.join(" or ")),
                Ends::ErrorOf(kinds, says) => format!("error {}: `{says}`", kinds.join(" or ")),
            };
            let mut bounds = bounds(row.bounds, usual);
            if row.call_time != limits.call_time {
                let _ = write!(bounds, "; {} s a call", row.call_time.as_secs());
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
        "\n## Seen by the program `airlock`\n\nThese are tests of the program, in `host/cli/tests/cli`, by file and name.\n\n\
         | test | what is done | what comes of it |\n| --- | --- | --- |\n",
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
