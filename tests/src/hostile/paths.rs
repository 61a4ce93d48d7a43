//! Guests that look for a way out of the workspace by its paths.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Ends::Result;
use super::{Attack, Row, call, calls};

pub fn rows() -> Vec<Row> {
    let read = |name, does, path: &str| {
        call(
            name,
            does,
            json!({"do": "fs", "op": "read", "path": path}),
            Result("error"),
        )
    };
    let exactly = |name, does, path: &str| {
        call(
            name,
            does,
            json!({"do": "raw", "op": "open-exactly", "path": path, "with": ["read"]}),
            Result("error"),
        )
    };
    let applied = |name, does, steps: Value, says| {
        let row = Row::new(name, does, Attack::Apply(steps), Result(says));
        row.filled(links)
    };
    let deep = format!("{}x", "d/".repeat(4000));
    vec![
        read("read-above", "reads `../secret.txt`", "../secret.txt"),
        read(
            "read-above-by-a-detour",
            "reads `dir/../../secret.txt`",
            "dir/../../secret.txt",
        ),
        read(
            "read-an-absolute-path",
            "reads `/etc/passwd`",
            "/etc/passwd",
        ),
        read(
            "read-beside-the-workspace",
            "reads `/workspace/../secret.txt`",
            "/workspace/../secret.txt",
        ),
        read(
            "read-from-scratch-upwards",
            "reads `/scratch/../../secret.txt`",
            "/scratch/../../secret.txt",
        ),
        read(
            "read-the-host-itself",
            "reads `/proc/self/environ`",
            "/proc/self/environ",
        ),
        read(
            "read-a-link-that-leads-out",
            "reads through a symbolic link to a file outside",
            "out",
        )
        .filled(links),
        read(
            "read-an-absolute-link",
            "reads through a symbolic link with an absolute target",
            "absolute",
        )
        .filled(links),
        read(
            "read-a-link-in-a-path",
            "reads a file below a symbolic link to a directory outside",
            "up/secret.txt",
        )
        .filled(links),
        read(
            "read-a-chain-of-links",
            "reads through a chain of 39 links that ends outside",
            "chain0",
        )
        .filled(links),
        read(
            "read-a-link-to-itself",
            "reads a symbolic link to itself",
            "loop",
        )
        .filled(links),
        read("read-a-pipe", "reads a named pipe without a writer", "pipe").filled(pipe),
        call(
            "open-a-pipe-for-both",
            "opens a named pipe for reading and writing",
            json!({"do": "raw", "op": "open", "path": "pipe", "with": ["read", "write"]}),
            Result("error"),
        )
        .filled(pipe),
        call(
            "stat-a-pipe",
            "stats a named pipe",
            json!({"do": "fs", "op": "stat", "path": "pipe"}),
            Result(""),
        )
        .filled(pipe),
        exactly("open-above", "opens `..`", ".."),
        exactly("open-above-with-a-slash", "opens `../`", "../"),
        exactly(
            "open-above-behind-dots",
            "opens `./.././secret.txt`",
            "./.././secret.txt",
        ),
        exactly(
            "open-an-absolute-path",
            "opens `/etc/passwd` in the workspace's directory",
            "/etc/passwd",
        ),
        exactly("open-many-slashes", "opens `//etc/passwd`", "//etc/passwd"),
        exactly("open-nothing", "opens an empty path", ""),
        exactly(
            "open-behind-a-nul",
            "opens a path with a NUL in it",
            "a.txt\0/../../secret.txt",
        ),
        exactly(
            "open-a-file-with-a-slash",
            "opens a file, with a slash after its name",
            "a.txt/",
        ),
        exactly("open-below-a-file", "opens a path below a file", "a.txt/x"),
        exactly(
            "open-a-long-name",
            "opens a name of 100,000 letters",
            &"x".repeat(100_000),
        ),
        exactly(
            "open-a-deep-path",
            "opens a path of 4,000 directories",
            &deep,
        ),
        exactly(
            "open-far-above",
            "opens a path with 4,000 `..`",
            &format!("{}etc/passwd", "../".repeat(4000)),
        ),
        call(
            "stat-above",
            "stats `..`",
            json!({"do": "raw", "op": "stat", "path": ".."}),
            Result("error"),
        ),
        call(
            "readlink-above",
            "reads the target of a link above the workspace",
            json!({"do": "raw", "op": "readlink", "path": "../link"}),
            Result("error"),
        ),
        call(
            "list-above",
            "lists `..`",
            json!({"do": "fs", "op": "ls", "path": ".."}),
            Result("error"),
        ),
        calls(
            "link-in-scratch-to-the-outside",
            "makes a link in the scratch directory to the outside, and reads through it",
            json!([
                {"do": "fs", "op": "symlink", "path": "/scratch/out", "target": "../../secret.txt"},
                {"do": "fs", "op": "read", "path": "/scratch/out"},
            ]),
            Result("error"),
        ),
        calls(
            "link-in-scratch-to-an-absolute-path",
            "makes a link in the scratch directory to `/etc/passwd`, and reads through it",
            json!([
                {"do": "fs", "op": "symlink", "path": "/scratch/out", "target": "/etc/passwd"},
                {"do": "fs", "op": "read", "path": "/scratch/out"},
            ]),
            Result("error"),
        ),
        calls(
            "links-in-scratch-in-a-ring",
            "makes two links to each other, and reads through them",
            json!([
                {"do": "fs", "op": "symlink", "path": "/scratch/a", "target": "b"},
                {"do": "fs", "op": "symlink", "path": "/scratch/b", "target": "a"},
                {"do": "fs", "op": "read", "path": "/scratch/a"},
            ]),
            Result("error"),
        ),
        applied(
            "write-above-while-applied",
            "writes to `../new.txt` while it is applied",
            json!([{"do": "fs", "op": "write", "path": "../new.txt", "text": "x"}]),
            "error",
        ),
        applied(
            "write-through-a-link-that-leads-out",
            "writes through a symbolic link to a file outside while it is applied",
            json!([{"do": "fs", "op": "write", "path": "out", "text": "x"}]),
            "error",
        ),
        applied(
            "make-below-a-link-that-leads-out",
            "makes a file below a symbolic link to a directory outside while it is applied",
            json!([{"do": "fs", "op": "write", "path": "up/new.txt", "text": "x"}]),
            "error",
        ),
        applied(
            "rename-to-the-outside",
            "renames a file to a path outside while it is applied",
            json!([{"do": "fs", "op": "rename", "path": "a.txt", "to": "../new.txt"}]),
            "error",
        ),
        applied(
            "rename-from-the-outside",
            "renames a file from outside while it is applied",
            json!([{"do": "fs", "op": "rename", "path": "../secret.txt", "to": "mine.txt"}]),
            "error",
        ),
        applied(
            "link-from-the-outside",
            "makes a hard link to a file outside while it is applied",
            json!([{"do": "fs", "op": "link", "path": "../secret.txt", "to": "mine.txt"}]),
            "error",
        ),
        applied(
            "link-through-a-link-while-applied",
            "makes a hard link to the target of a link outside while it is applied",
            json!([{"do": "raw", "op": "link-at", "path": "out", "to": "mine.txt", "follow": true}]),
            "error",
        ),
        applied(
            "unlink-on-the-outside",
            "removes a file outside while it is applied",
            json!([{"do": "fs", "op": "unlink", "path": "../secret.txt"}]),
            "error",
        ),
        applied(
            "remove-the-workspace",
            "removes the workspace while it is applied",
            json!([{"do": "raw", "op": "rmdir", "path": "../workspace"}]),
            "error",
        ),
        applied(
            "move-into-scratch-while-applied",
            "moves a file into the scratch directory while it is applied",
            json!([{"do": "raw", "op": "rename-at", "path": "a.txt", "to": "a.txt", "into_scratch": true}]),
            "error",
        ),
        applied(
            "move-out-of-scratch-while-applied",
            "moves a file from the scratch directory into the workspace while it is applied",
            json!([{"do": "fs", "op": "write", "path": "/scratch/s", "text": "x"}, {"do": "raw", "op": "rename-at", "path": "s", "to": "s", "from_scratch": true}]),
            "error",
        ),
        applied(
            "make-a-link-and-follow-it",
            "makes a link to the outside while it is applied, and reads through it",
            json!([
                {"do": "fs", "op": "symlink", "path": "mine", "target": "../secret.txt"},
                {"do": "fs", "op": "read", "path": "mine"},
            ]),
            "error",
        ),
    ]
}

/// Ways out that somebody else has left there.
fn links(workspace: &Path) {
    let link = |target: &str, name: &str| symlink(target, workspace.join(name)).expect("a link");
    link("../secret.txt", "out");
    link("/etc/passwd", "absolute");
    link("..", "up");
    link("loop", "loop");
    for number in 0..38 {
        link(&format!("chain{}", number + 1), &format!("chain{number}"));
    }
    link("../secret.txt", "chain38");
}

/// A named pipe `pipe`.
pub fn pipe(workspace: &Path) {
    let made = Command::new("mkfifo").arg(workspace.join("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    // Not to be looked into by the harness either.
    assert!(fs::symlink_metadata(workspace.join("pipe")).is_ok());
}
