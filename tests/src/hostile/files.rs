//! Guests that change the workspace before somebody decided: past a grant that is for reading.

use serde_json::{Value, json};

use super::Ends::{Error, Result};
use super::{Attack, Row, call, calls};

pub fn rows() -> Vec<Row> {
    let refused = Result("error: Read-only file system");
    let raw_refused = Result("error: read-only");
    let fs = |name, does, step: Value| {
        let mut step = step;
        step["do"] = "fs".into();
        call(name, does, step, refused)
    };
    let raw = |name, does, step: Value| {
        let mut step = step;
        step["do"] = "raw".into();
        call(name, does, step, raw_refused)
    };
    let hold = |with: Value, then: Value| json!([{"do": "raw", "op": "hold", "path": "a.txt", "with": with}, then]);
    vec![
        fs(
            "write-a-new-file",
            "makes a file",
            json!({"op": "write", "path": "new.txt", "text": "x"}),
        ),
        fs(
            "overwrite-a-file",
            "empties a file and writes to it",
            json!({"op": "write", "path": "a.txt", "text": "x"}),
        ),
        fs(
            "append-to-a-file",
            "appends to a file",
            json!({"op": "append", "path": "a.txt", "text": "x"}),
        ),
        fs(
            "patch-a-file",
            "writes into the middle of a file",
            json!({"op": "patch", "path": "a.txt", "offset": 1, "text": "x"}),
        ),
        fs(
            "truncate-a-file",
            "shortens a file",
            json!({"op": "truncate", "path": "a.txt", "len": 1}),
        ),
        fs(
            "create-a-file",
            "makes a file with exclusive creation",
            json!({"op": "create-new", "path": "new.txt"}),
        ),
        fs(
            "rename-a-file",
            "renames a file",
            json!({"op": "rename", "path": "a.txt", "to": "b.txt"}),
        ),
        fs(
            "unlink-a-file",
            "removes a file",
            json!({"op": "unlink", "path": "a.txt"}),
        ),
        fs(
            "make-a-directory",
            "makes a directory",
            json!({"op": "mkdir", "path": "new"}),
        ),
        fs(
            "remove-a-directory",
            "removes an empty directory",
            json!({"op": "rmdir", "path": "empty"}),
        ),
        fs(
            "remove-a-tree",
            "removes a directory and its contents",
            json!({"op": "rmtree", "path": "dir"}),
        ),
        fs(
            "make-a-link",
            "makes a symbolic link",
            json!({"op": "symlink", "path": "new", "target": "a.txt"}),
        ),
        fs(
            "write-through-a-link",
            "writes to a file through a symbolic link",
            json!({"op": "write", "path": "link", "text": "x"}),
        ),
        fs(
            "set-the-times",
            "sets a file's times through a descriptor for reading",
            json!({"op": "settimes", "path": "a.txt"}),
        ),
        fs(
            "copy-a-file",
            "copies a file",
            json!({"op": "copy", "path": "a.txt", "to": "new.txt"}),
        ),
        fs(
            "write-by-the-absolute-name",
            "makes a file below `/workspace`",
            json!({"op": "write", "path": "/workspace/new.txt", "text": "x"}),
        ),
        fs(
            "hard-link-a-file",
            "makes a hard link",
            json!({"op": "link", "path": "a.txt", "to": "new.txt"}),
        ),
        raw(
            "open-to-truncate",
            "opens a file for reading with the flag to truncate it",
            json!({"op": "open", "path": "a.txt", "with": ["read", "truncate"]}),
        ),
        raw(
            "open-to-truncate-without-rights",
            "opens a file without rights, with the flag to truncate it",
            json!({"op": "open", "path": "a.txt", "with": ["truncate"]}),
        ),
        raw(
            "open-to-create",
            "opens a missing file for reading, with the flag to create it",
            json!({"op": "open", "path": "new.txt", "with": ["read", "create"]}),
        ),
        raw(
            "open-to-create-exclusively",
            "opens a missing file with the flag for exclusive creation",
            json!({"op": "open", "path": "new.txt", "with": ["create", "exclusive"]}),
        ),
        raw(
            "open-to-write",
            "opens a file for writing",
            json!({"op": "open", "path": "a.txt", "with": ["write"]}),
        ),
        calls(
            "open-to-mutate",
            "opens a directory with the right to change it, and makes a directory in it",
            json!([
                {"do": "raw", "op": "hold", "path": "dir", "with": ["directory", "read", "mutate-directory"]},
                {"do": "raw", "op": "mkdir", "path": "new"},
            ]),
            raw_refused,
        ),
        raw(
            "set-the-times-by-path",
            "sets a file's times by its path",
            json!({"op": "settimes-at", "path": "a.txt"}),
        ),
        raw(
            "rename-into-scratch",
            "moves a file into the scratch directory",
            json!({"op": "rename-at", "path": "a.txt", "to": "a.txt", "into_scratch": true}),
        ),
        raw(
            "link-into-scratch",
            "makes a hard link to a file in the scratch directory",
            json!({"op": "link-at", "path": "a.txt", "to": "a.txt", "into_scratch": true}),
        ),
        raw(
            "link-through-a-link",
            "makes a hard link to the target of a symbolic link",
            json!({"op": "link-at", "path": "link", "to": "new", "follow": true}),
        ),
        raw(
            "rename-over-itself",
            "renames a file to its own name",
            json!({"op": "rename-at", "path": "a.txt", "to": "a.txt"}),
        ),
        raw(
            "unlink-with-a-slash",
            "removes a file, with a slash after its name",
            json!({"op": "unlink", "path": "a.txt/"}),
        ),
        raw(
            "mkdir-with-a-slash",
            "makes a directory, with a slash after its name",
            json!({"op": "mkdir-at", "path": "new/"}),
        ),
        raw(
            "rmdir-with-a-slash",
            "removes a directory, with a slash after its name",
            json!({"op": "rmdir", "path": "empty/"}),
        ),
        raw(
            "rmdir-the-workspace",
            "removes the workspace itself",
            json!({"op": "rmdir", "path": "."}),
        ),
        raw(
            "symlink-with-a-slash",
            "makes a symbolic link, with a slash after its name",
            json!({"op": "symlink-at", "path": "new/", "target": "a.txt"}),
        ),
        calls(
            "write-through-a-reader",
            "writes through a descriptor for reading",
            hold(
                json!(["read"]),
                json!({"do": "raw", "op": "write", "text": "x"}),
            ),
            Result("error"),
        ),
        calls(
            "stream-through-a-reader",
            "writes to a stream of a descriptor for reading",
            hold(
                json!(["read"]),
                json!({"do": "raw", "op": "stream", "text": "x"}),
            ),
            Result("error"),
        ),
        calls(
            "append-through-a-reader",
            "appends through a descriptor for reading",
            hold(
                json!(["read"]),
                json!({"do": "raw", "op": "stream", "text": "x", "append": true}),
            ),
            Result("error"),
        ),
        calls(
            "set-the-size-of-a-reader",
            "shortens through a descriptor for reading",
            hold(
                json!(["read"]),
                json!({"do": "raw", "op": "setlen", "len": 0}),
            ),
            Result("error"),
        ),
        calls(
            "set-the-times-of-a-reader",
            "sets the times through a descriptor for reading",
            hold(json!(["read"]), json!({"do": "raw", "op": "settimes"})),
            Result("error"),
        ),
        calls(
            "set-the-size-without-rights",
            "shortens through a descriptor without rights",
            hold(json!([]), json!({"do": "raw", "op": "setlen", "len": 0})),
            Result("error"),
        ),
        Row::new(
            "write-in-reject",
            "makes a file while it is discarded",
            Attack::Discard(json!([{"do": "fs", "op": "write", "path": "new.txt", "text": "x"}])),
            refused,
        ),
        Row::new(
            "unlink-in-reject",
            "removes a file while it is discarded",
            Attack::Discard(json!([{"do": "fs", "op": "unlink", "path": "a.txt"}])),
            refused,
        ),
        Row::new(
            "write-and-trap-in-reject",
            "tries all of these, and traps",
            Attack::Discard(
                json!([{"do": "fs", "op": "write", "path": "new.txt", "text": "x"}, {"do": "trap"}]),
            ),
            Error("trap", ""),
        ),
        calls(
            "refused-many-times",
            "tries 1,000 times to make a file",
            json!(vec![
                json!({"do": "fs", "op": "create-new", "path": "new.txt"});
                1000
            ]),
            refused,
        ),
    ]
}
