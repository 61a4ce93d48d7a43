//! Actions whose rehearsal and commit are a lot of work for the host.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Ends::{Result, ResultOrTime};
use super::{Attack, Ends, Row};

pub fn rows() -> Vec<Row> {
    let apply = |name, does, steps: Value, ends: Ends| {
        let row = Row::new(name, does, Attack::Apply(steps), ends);
        row.seconds(60)
    };
    vec![
        apply(
            "a-hundred-thousand-new-files",
            "makes 100,000 files in its apply",
            json!([{"do": "make-many", "path": "/workspace", "count": 100_000}]),
            ResultOrTime(""),
        )
        // The layer itself has a tenth of it: the rest is the list of what changes, for whoever
        // decides, and its record.
        .memory(640)
        // A block for each in the journal of the file system's own, and the directory itself.
        .disk(64),
        apply(
            "a-hundred-thousand-new-files-below-each-other",
            "makes as many nested directories as it may in its apply",
            json!([{"do": "make-many", "path": "/workspace", "count": 100_000, "nested": true}]),
            ResultOrTime(""),
        )
        .memory(320)
        .disk(512),
        apply(
            "many-long-links",
            "makes 200,000 links to targets of 4,000 letters in its apply",
            json!([{"do": "greedy", "op": "links", "path": "/workspace", "count": 200_000}]),
            ResultOrTime(""),
        )
        .memory(640)
        .disk(256),
        Row::new(
            "a-renamed-hole",
            "renames a sparse file of 8 TiB",
            Attack::Apply(json!([{"do": "fs", "op": "rename", "path": "hole", "to": "moved"}])),
            ResultOrTime("ok"),
        )
        .filled(hole),
        Row::new(
            "a-deleted-hole",
            "removes such a file",
            Attack::Apply(json!([{"do": "fs", "op": "unlink", "path": "hole"}])),
            ResultOrTime("ok"),
        )
        .filled(hole),
        Row::new(
            "a-copied-hole",
            "writes a byte at the end of such a file",
            Attack::Apply(
                json!([{"do": "fs", "op": "patch", "path": "hole", "offset": HOLE, "text": "x"}]),
            ),
            ResultOrTime(""),
        )
        .filled(hole),
        Row::new(
            "many-short-lines",
            "replaces a text of 128,000 short lines by another one, in each of forty files",
            Attack::Apply((0..SHORT_LINES).map(short_lines_to).collect()),
            Result("ok"),
        )
        .filled(short_lines)
        .disk(64),
    ]
}

const HOLE: u64 = 8 << 40;

fn hole(workspace: &Path) {
    let file = fs::File::create(workspace.join("hole")).expect("a file");
    file.set_len(HOLE).expect("a hole");
}

/// How many files have short lines, and get others.
const SHORT_LINES: usize = 40;

fn short_lines_to(file: usize) -> Value {
    json!({"do": "fs", "op": "copy", "path": "new", "to": file.to_string()})
}

/// Two letters in an order that has no pattern, so that no part of one is a part of the other.
fn short_lines(workspace: &Path) {
    let mut random = crate::Random::new(1);
    let mut text = || -> String {
        let lines = (0..128_000).map(|_| if random.percent(50) { "a\n" } else { "b\n" });
        lines.collect()
    };
    fs::write(workspace.join("new"), text()).expect("a file");
    let old = text();
    for file in 0..SHORT_LINES {
        fs::write(workspace.join(file.to_string()), &old).expect("a file");
    }
}
