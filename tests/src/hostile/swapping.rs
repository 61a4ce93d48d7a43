//! Neighbours that swap what is at a path for a named pipe or a way out, over and over, so that it
//! is another thing between a look and an opening.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::Ends::{Error, Result, ResultOrError};
use super::{Attack, Ends, Row, call, calls};

pub fn rows() -> Vec<Row> {
    // What it comes upon is chance; that it comes to its end, and never upon what lies outside, is
    // not.
    let often = |step: Value| json!(vec![step; 3000]);
    let swapped = |name, does, steps, ends: Ends| {
        let row = calls(name, does, steps, ends);
        row.filled(fill).beside(swap_file)
    };
    let below = |name, does, steps, ends: Ends| {
        let row = calls(name, does, steps, ends);
        row.filled(fill).beside(swap_folder)
    };
    vec![
        call(
            "open-what-becomes-a-pipe",
            "opens a file forever, while it becomes a named pipe, or a link to the outside, and a file again",
            json!({"do": "ask", "what": "missing"}),
            Error("limit", "was stopped after 2 s"),
        )
        .filled(fill)
        .beside(swap_file),
        swapped(
            "read-what-becomes-a-pipe",
            "reads such a file 3,000 times",
            often(json!({"do": "fs", "op": "read", "path": "missing"})),
            Result(""),
        ),
        swapped(
            "stat-what-becomes-a-pipe",
            "stats such a file 3,000 times",
            often(json!({"do": "fs", "op": "stat", "path": "missing"})),
            Result(""),
        ),
        swapped(
            "copy-what-becomes-a-pipe",
            "copies such a file to its scratch directory 1,000 times, and reads the copies",
            {
                let copy = json!({"do": "fs", "op": "copy", "path": "missing", "to": "/scratch/copy"});
                let read = json!({"do": "fs", "op": "read", "path": "/scratch/copy"});
                json!(vec![[copy, read]; 1000].concat())
            },
            Result(""),
        ),
        below(
            "read-below-what-becomes-a-link",
            "reads a file 3,000 times, in a folder that becomes a link to the outside",
            often(json!({"do": "fs", "op": "read", "path": "folder/secret.txt"})),
            Result(""),
        ),
        below(
            "list-what-becomes-a-link",
            "lists such a folder 3,000 times",
            often(json!({"do": "fs", "op": "ls", "path": "folder"})),
            Result(""),
        ),
        Row::new(
            "write-below-what-becomes-a-link",
            "writes 1,000 times to such a folder while it is applied",
            Attack::Apply(json!(vec![
                json!({"do": "fs", "op": "write", "path": "folder/new.txt", "text": "x"});
                1000
            ])),
            ResultOrError(&["different", "not-committed", "stale"]),
        )
        .filled(fill)
        .beside(swap_folder),
        Row::new(
            "write-to-what-becomes-a-link",
            "writes 1,000 times, while it is applied, to a file that becomes a link to the outside",
            Attack::Apply(json!(vec![
                json!({"do": "fs", "op": "patch", "path": "missing", "offset": 0, "text": "x"});
                1000
            ])),
            ResultOrError(&["different", "not-committed", "stale"]),
        )
        .filled(fill)
        .beside(swap_file),
        Row::new(
            "search-what-becomes-a-pipe",
            "lets `ast_edit` search 2,000 files, while one becomes a named pipe or a link to the outside",
            Attack::Edit(|| json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]})),
            Result("2000 replacements"),
        )
        .filled(|workspace| {
            fill(workspace);
            for number in 0..2000 {
                fs::write(workspace.join(format!("{number}.js")), "old(1);\n").expect("a file");
            }
        })
        .beside(swap_file),
    ]
}

/// What is swapped, and what it is swapped for. The file has the name that the puppet opens without
/// an end.
fn fill(workspace: &Path) {
    let at = |name: &str| workspace.join(name);
    super::paths::pipe(workspace);
    fs::write(at("missing"), "inside").expect("a file");
    symlink("../secret.txt", at("leak")).expect("a link");
    fs::create_dir(at("folder")).expect("a folder");
    fs::write(at("folder/secret.txt"), "inside").expect("a file");
    symlink("..", at("way-out")).expect("a link");
}

fn swap_file(workspace: &Path) {
    for other in ["pipe", "leak", "folder"] {
        exchange(workspace, "missing", other);
        exchange(workspace, "missing", other);
    }
}

fn swap_folder(workspace: &Path) {
    for other in ["way-out", "pipe"] {
        exchange(workspace, "folder", other);
        exchange(workspace, "folder", other);
    }
}

/// At once, so that there is always something at both paths.
fn exchange(workspace: &Path, one: &str, other: &str) {
    let (one, other) = (workspace.join(one), workspace.join(other));
    let swapped = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
    swapped.expect("the file system can exchange two names");
}
