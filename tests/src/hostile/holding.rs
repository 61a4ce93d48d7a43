//! Guests that keep what the host holds for them: handles, descriptors, listings, space on the
//! disk.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Ends::{Error, Result, ResultOrTime};
use super::{Attack, Row, call, calls};

pub fn rows() -> Vec<Row> {
    let keep = |name, does, what: &str, ends| {
        call(
            name,
            does,
            json!({"do": "keep", "what": what, "count": 100_000}),
            ends,
        )
    };
    let handles = Error("limit", "");
    let setlen = |len: u64| {
        json!([
            {"do": "hold", "path": "/scratch/sparse"},
            {"do": "hold-setlen", "len": len},
        ])
    };
    vec![
        call(
            "open-many",
            "opens a file 1,000 times",
            json!({"do": "open-many", "path": "f", "count": 1000}),
            Result("uota"),
        ),
        Row::new(
            "open-many-and-keep-them",
            "opens a file 1,000 times in each of three calls, and keeps it open",
            Attack::Calls(vec![
                json!([{"do": "open-many-kept", "path": "f", "count": 1000}]);
                3
            ]),
            Result("uota"),
        ),
        Row::new(
            "open-many-while-applied",
            "opens a file 1,000 times while it is applied",
            Attack::Apply(json!([{"do": "open-many-kept", "path": "f", "count": 1000}])),
            Result("uota"),
        ),
        keep(
            "keep-pollables",
            "keeps 100,000 timers",
            "pollables",
            handles,
        ),
        keep(
            "keep-readers",
            "keeps 100,000 streams of one file",
            "readers",
            Error("trap", "handle limit"),
        ),
        keep(
            "keep-standard-inputs",
            "takes standard input 100,000 times",
            "stdin",
            handles,
        ),
        keep(
            "keep-standard-outputs",
            "takes standard output 100,000 times",
            "stdout",
            handles,
        ),
        keep(
            "keep-networks",
            "takes the network 100,000 times",
            "networks",
            handles,
        ),
        keep(
            "keep-tcp-sockets",
            "makes 100,000 TCP sockets",
            "tcp-sockets",
            Result("kept 0; error"),
        ),
        keep(
            "keep-udp-sockets",
            "makes 100,000 UDP sockets",
            "udp-sockets",
            Result("kept 0; error"),
        ),
        keep(
            "keep-listings",
            "keeps 100,000 listings of the workspace",
            "listings",
            Error("limit", "files and directories open at one time"),
        ),
        call(
            "list-many",
            "lists a directory of 5,000 files 1,000 times at once",
            json!({"do": "list-many", "path": "/workspace/many", "count": 1000}),
            Result("error"),
        )
        .filled(many_files),
        call(
            "reach-by-tcp",
            "connects to a port of this machine",
            json!({"do": "reach", "how": "connect"}),
            Result("error: access-denied"),
        ),
        call(
            "listen-by-tcp",
            "listens on a port",
            json!({"do": "reach", "how": "listen"}),
            Result("error: access-denied"),
        ),
        call(
            "reach-by-udp",
            "binds a port for datagrams",
            json!({"do": "reach", "how": "datagram"}),
            Result("error: access-denied"),
        ),
        call(
            "look-up-a-name",
            "looks up a host's name",
            json!({"do": "reach", "how": "lookup"}),
            Result("error"),
        ),
        calls(
            "fill-the-scratch-directory",
            "writes 20 MiB to the scratch directory, in copies of a file",
            copies(20),
            Result("error"),
        ),
        calls(
            "a-sparse-file",
            "makes a file of 8 TiB in the scratch directory",
            setlen(8 << 40),
            Result("error"),
        ),
        calls(
            "the-largest-file",
            "makes a file of the largest possible length",
            setlen(u64::MAX),
            Result("error"),
        ),
        calls(
            "just-too-sparse",
            "makes a file one byte larger than allowed",
            setlen((16 << 20) + 1),
            Result("error"),
        ),
        calls(
            "zeroes-without-an-end",
            "asks for the largest possible number of zeroes in a file",
            json!([{"do": "hold-stream", "path": "/scratch/zeroes"}, {"do": "hold-stream-zeroes", "bytes": u64::MAX}]),
            Error("trap", ""),
        ),
        calls(
            "read-all-at-once",
            "reads a file with a length of 2^62 bytes",
            json!([{"do": "raw", "op": "hold", "path": "f", "with": ["read"]}, {"do": "raw", "op": "read", "len": 1u64 << 62}]),
            Result("ok\nok"),
        ),
        calls(
            "read-from-far-away",
            "reads at an offset beyond any file",
            json!([{"do": "raw", "op": "hold", "path": "f", "with": ["read"]}, {"do": "raw", "op": "read", "len": 10, "offset": u64::MAX}]),
            Result("error"),
        ),
        call(
            "many-empty-files",
            "makes 100,000 empty files in the scratch directory",
            json!({"do": "make-many", "path": "/scratch", "count": 100_000}),
            ResultOrTime("error"),
        ),
        call(
            "nested-directories",
            "makes 100,000 nested directories",
            json!({"do": "make-many", "path": "/scratch", "count": 100_000, "nested": true}),
            ResultOrTime("error"),
        ),
        Row::new(
            "read-what-an-apply-opened",
            "keeps a file open that it opened while it was applied, and writes to it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "hold", "path": "a.txt"}]),
                json!([{"do": "hold-write", "text": "later"}]),
            ),
            Result("error: Read-only file system"),
        ),
        Row::new(
            "truncate-what-an-apply-opened",
            "keeps such a file open, and empties it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "hold", "path": "a.txt"}]),
                json!([{"do": "hold-setlen", "len": 0}]),
            ),
            Result("error: Read-only file system"),
        ),
        Row::new(
            "stream-to-what-an-apply-opened",
            "keeps a stream open that it opened while it was applied, and writes to it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "hold-stream", "path": "a.txt"}]),
                json!([{"do": "hold-stream-write", "text": "later"}]),
            ),
            Result("error"),
        ),
        Row::new(
            "append-to-what-an-apply-opened",
            "keeps a stream that appends, and writes to it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "hold-stream", "path": "a.txt", "append": true}]),
                json!([{"do": "hold-stream-write", "text": "later"}]),
            ),
            Result("error"),
        ),
        Row::new(
            "zero-what-an-apply-opened",
            "keeps a stream, and writes zeroes to it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "hold-stream", "path": "a.txt"}]),
                json!([{"do": "hold-stream-zeroes", "bytes": 100}]),
            ),
            Result("error"),
        ),
        Row::new(
            "directory-that-an-apply-opened",
            "keeps a directory open that it opened while it was applied, and makes a directory in it in a preview",
            Attack::ApplyThenCall(
                json!([{"do": "raw", "op": "hold", "path": "dir", "with": ["directory", "read", "mutate-directory"]}]),
                json!([{"do": "raw", "op": "mkdir", "path": "later"}]),
            ),
            Result("error: read-only"),
        ),
    ]
}

/// A file of 1 MiB in the scratch directory, and so many copies of it.
fn copies(count: usize) -> Value {
    let write =
        json!({"do": "fs", "op": "write", "path": "/scratch/0", "text": "x".repeat(1 << 20)});
    let copy = |number| json!({"do": "fs", "op": "copy", "path": "/scratch/0", "to": format!("/scratch/{number}")});
    std::iter::once(write)
        .chain((1..=count).map(copy))
        .collect()
}

/// A directory `many` of 5,000 files, whose names have 200 letters.
pub fn many_files(workspace: &Path) {
    let many = workspace.join("many");
    fs::create_dir(&many).expect("a folder");
    for number in 0..5000 {
        fs::write(many.join(format!("{number:0>200}")), "").expect("a file");
    }
}
