//! Guests that take as much as they can of what all sessions share: descriptors, memory of the
//! host, space on the disk.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Ends::{Error, Result, ResultOrTime};
use super::holding::many_files;
use super::{Attack, Row, call, calls};

const MIB: u64 = 1 << 20;

pub fn rows() -> Vec<Row> {
    let mut rows = directories();
    rows.extend(listings());
    rows.extend(scratch());
    rows.extend(output());
    rows
}

fn greedy(op: &str, fields: Value) -> Value {
    let mut step = fields;
    step["do"] = "greedy".into();
    step["op"] = op.into();
    step
}

fn directories() -> Vec<Row> {
    let ask = |count: u64| greedy("directories", json!({ "count": count }));
    vec![
        call(
            "ask-for-the-directories",
            "asks for its directories 362 times, and keeps them all",
            ask(362),
            Error("limit", "more than 64 files and directories open"),
        ),
        Row::new(
            "ask-for-the-directories-in-many-calls",
            "asks for its directories 20 times in each of thirty calls, and keeps them all",
            Attack::Calls(vec![json!([ask(20)]); 30]),
            Error("limit", "more than 64 files and directories open"),
        ),
        Row::new(
            "ask-for-the-directories-and-trap",
            "asks for them 20 times and traps, in each of thirty calls",
            Attack::Calls(vec![json!([ask(20), {"do": "trap"}]); 30]),
            Error("trap", "crashed"),
        ),
        call(
            "streams-of-closed-files",
            "opens a file for each of 10,000 streams, and closes the file",
            greedy("streams", json!({"path": "/workspace/f", "count": 10_000})),
            Result("error: quota"),
        ),
    ]
}

fn listings() -> Vec<Row> {
    let list = |path: &str, count: u64| greedy("listings", json!({"path": path, "count": count}));
    vec![
        call(
            "listings-of-long-names",
            "lists a directory of 20,000 names of 200 letters 32 times at once",
            list("/workspace/names", 32),
            Result("error: quota"),
        )
        .filled(long_names),
        Row::new(
            "listings-of-long-names-again-and-again",
            "lists a directory of 5,000 such names 20 times at once, and traps, in each of five calls",
            Attack::Calls(vec![json!([list("/workspace/many", 20), {"do": "trap"}]); 5]),
            Error("trap", "crashed"),
        )
        .filled(many_files),
        call(
            "a-listing-of-long-names",
            "lists it, and returns all the names",
            json!({"do": "fs", "op": "ls", "path": "many"}),
            Result("ok"),
        )
        .filled(many_files),
    ]
}

fn scratch() -> Vec<Row> {
    let write =
        |path: &str, text: String| json!({"do": "fs", "op": "write", "path": path, "text": text});
    let again = (0..10).map(|turn| {
        let files =
            (0..10).map(|file| write(&format!("/scratch/{turn}-{file}"), "x".repeat(1 << 20)));
        files.chain([json!({"do": "trap"})]).collect::<Value>()
    });
    let patch = |offset: u64| {
        json!([
            write("/scratch/sparse", "x".to_owned()),
            {"do": "fs", "op": "patch", "path": "/scratch/sparse", "offset": offset, "text": "x"},
        ])
    };
    vec![
        Row::new(
            "fill-the-scratch-directory-after-each-trap",
            "writes 10 MiB to the scratch directory and traps, in each of ten calls",
            Attack::Calls(again.collect()),
            Error("trap", "crashed"),
        ),
        calls(
            "a-byte-far-away",
            "writes a byte at an offset of 8 TiB",
            patch(8 << 40),
            Result("ok\nerror"),
        ),
        calls(
            "a-byte-just-too-far-away",
            "writes a byte just beyond the size limit of the scratch directory",
            patch(16 * MIB),
            Result("ok\nerror"),
        ),
        calls(
            "many-sparse-files",
            "makes 100 sparse files of 10 MiB",
            (0..100)
                .flat_map(|file| {
                    [
                        json!({"do": "hold", "path": format!("/scratch/{file}")}),
                        json!({"do": "hold-setlen", "len": 10 * MIB}),
                    ]
                })
                .collect(),
            Result("error"),
        ),
        call(
            "removed-files",
            "makes files of 1 MiB and removes them, but keeps 1,000 open",
            greedy("removed", json!({"bytes": MIB, "count": 1000})),
            Result("error: quota"),
        ),
        Row::new(
            "removed-files-after-each-trap",
            "does so and traps, in each of ten calls",
            Attack::Calls(vec![
                json!([greedy("removed", json!({"bytes": MIB, "count": 1000})), {"do": "trap"}]);
                10
            ]),
            Error("trap", "crashed"),
        ),
        Row::new(
            "names-after-each-trap",
            "makes 3,000 empty files and traps, in each of ten calls",
            Attack::Calls(vec![
                json!([{"do": "make-many", "path": "/scratch", "count": 3000}, {"do": "trap"}]);
                10
            ]),
            Error("trap", "crashed"),
        ),
    ]
}

fn output() -> Vec<Row> {
    vec![
        call(
            "thirty-two-megabytes-of-lines",
            "writes 16 million lines of a letter to standard error at once",
            greedy("lines", json!({"count": 16_000_000, "at_once": true})),
            Error("trap", "than `check-write` permitted"),
        )
        .seconds(6),
        call(
            "lines-bit-by-bit",
            "writes as many lines, in the largest allowed parts",
            greedy("lines", json!({"count": 16_000_000, "at_once": false})),
            ResultOrTime("kept 16000000"),
        )
        .seconds(6),
        Row::new(
            "large-results-again-and-again",
            "returns a text of 12 MiB in each of thirty calls",
            Attack::Calls(vec![json!([{"do": "result-bytes", "bytes": 12 * MIB}]); 30]),
            Result("xx"),
        )
        .seconds(30),
    ]
}

fn long_names(workspace: &Path) {
    let names = workspace.join("names");
    fs::create_dir(&names).expect("a folder");
    for number in 0..20_000 {
        fs::File::create(names.join(format!("{number:0>200}"))).expect("a file");
    }
}
